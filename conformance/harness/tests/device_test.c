/* device_test.c - that what is opened is the device that was named, and what is said of it is its own: on a model of two devices. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "model.h"

static const int driver_version = 13050;

cudaError_t __real_cudaDriverGetVersion(int *version);
cudaError_t __wrap_cudaDriverGetVersion(int *version);
cudaError_t __wrap_cudaDriverGetVersion(int *version)
{
    *version = driver_version;
    return cudaSuccess;
}

/* The step of the clock that a kernel is to have measured; 0: what it did. */
static uint64_t step_ns;

cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = __real_cudaMemcpy(to, from, bytes, kind);

    if (step_ns)
        ((struct trial_state *)to)->target_ns = step_ns;
    return error;
}

static size_t told(enum cudaDeviceAttr name)
{
    int value = -1;

    return cudaDeviceGetAttribute(&value, name, 1) == cudaSuccess ? (size_t)value : 0;
}

static void check_second(void)
{
    static struct device device;
    struct fault fault;
    int current = -1;

    model_reset("", 1);
    model_set_devices(2);
    model_set_cc_of(1, 10, 0);
    check(device_open(&device, 1, 1, &fault), "the second device opens");
    check(cudaGetDevice(&current) == cudaSuccess && current == 1, "calls go to it from then on");
    check(device.ordinal == 1 && device.cc == 100, "and what is said is said of it");
    check(device.size.sms == told(cudaDevAttrMultiProcessorCount) && device.size.warp == told(cudaDevAttrWarpSize) &&
          device.size.max_threads == told(cudaDevAttrMaxThreadsPerBlock) &&
          device.size.slots_per_sm == told(cudaDevAttrMaxBlocksPerMultiprocessor) &&
          device.size.threads_per_sm == told(cudaDevAttrMaxThreadsPerMultiProcessor) &&
          device.size.shared_per_sm == told(cudaDevAttrMaxSharedMemoryPerMultiprocessor) &&
          device.size.shared_per_block == told(cudaDevAttrMaxSharedMemoryPerBlockOptin), "each size is the one that the device tells");
    check(device.driver_version == driver_version, "the driver's version is what the driver tells");
    check(device.toolkit_version == CUDART_VERSION, "the toolkit's that which the kit was built with");
    device_close(&device);
}

/* Clocks are compared with a slack of their own step, which a kernel measures; the model's is known. */
static void check_tick(void)
{
    static const uint64_t slow[] = { 1000001, 0x100000001u, UINT64_MAX }; /* the last is that of a clock that stands */
    static struct device device;
    struct fault fault;
    unsigned i;

    model_reset("", 1);
    check(device_open(&device, 0, 1, &fault), "the model opens");
    check(device_measure(&device, &fault) && device.size.tick_ns == 32, "the model's step is not measured");
    device.is_model = 0;
    check(device_measure(&device, &fault) && device.size.tick_ns - 1 < 1000000 && device.size.tick_ns != 32,
          "a GPU's step is the one that a kernel found");
    for (step_ns = 1; step_ns <= 1000000; step_ns *= 10)
        check(device_measure(&device, &fault) && device.size.tick_ns == step_ns, "whichever it is, up to a millisecond");
    for (i = 0; i < 3; i++) {
        step_ns = slow[i];
        memset(&fault, 0, sizeof(fault));
        check(!device_measure(&device, &fault) && fault.error == cudaErrorNotSupported && fault.call && device.size.tick_ns == 1000000,
              "a slower clock judges nothing");
    }
    device_close(&device);
}

int main(void)
{
    check_second();
    check_tick();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
