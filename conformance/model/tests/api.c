/* Errors, attributes, recording, streams and events of the model, call by call. */
#include "check.h"

struct arguments {
    uint32_t *p;
    uint32_t value;
};
MODEL_KERNEL_OF(test_store, struct arguments, 24, 1024, 90, 90)
{
    if (model_thread() == 0)
        model_store32(args.p + model_block(), args.value);
}
MODEL_KERNEL_OF(test_old, struct arguments, 24, 0, 80, 90)
{
    (void)args;
}
MODEL_KERNEL_OF(test_wild, struct arguments, 24, 0, 90, 90)
{
    model_store32((void *)((uintptr_t)args.p & ~(uintptr_t)3), 1);
}
MODEL_KERNEL_OF(test_hang, struct arguments, 24, 0, 90, 90)
{
    (void)args;
    model_wait();
    model_wait();
}

static void functions(void)
{
    struct cudaFuncAttributes a;
    int n, not_a_kernel;
    model_reset(NULL, 1);
    OK(cudaFuncGetAttributes(&a, (const void *)test_store));
    CHECK(a.numRegs == 24 && a.ptxVersion == 90 && a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 32);
    OK(cudaFuncGetAttributes(&a, (const void *)test_old));
    CHECK(a.ptxVersion == 80 && a.binaryVersion == 90);
    GIVES(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, &not_a_kernel));
    GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute((const void *)test_store, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)test_old, 32, 0));
    CHECK(n == 4);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)test_old, 32, 20 * 1024));
    CHECK(n == 3);
    model_set_cc(8, 6);
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(n == 8);
    model_set_cc(9, 0);
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(1));
    model_reset("no-such-device", 1);
    GIVES(cudaErrorNoDevice, cudaGetDeviceCount(&n));
}

static void launch_errors(void)
{
    uint32_t *p;
    struct arguments a;
    void *args[1] = {&a};
    model_reset(NULL, 1);
    OK(cudaMalloc((void **)&p, 64));
    a.p = p;
    a.value = 1;
    cudaLaunchConfig_t c = shape(1, 32, NULL);
    GIVES(cudaErrorInvalidValue, cudaLaunchKernelExC(NULL, (const void *)test_store, args));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernelExC(&c, NULL, args));
    for (int i = 0; i < 6; i++) {
        c = shape(1, 1, NULL);
        unsigned *axis[6] = {&c.gridDim.x, &c.gridDim.y, &c.gridDim.z, &c.blockDim.x, &c.blockDim.y, &c.blockDim.z};
        *axis[i] = 0;
        GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernelExC(&c, (const void *)test_store, args));
    }
    c = shape(1, 33, NULL);
    GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernelExC(&c, (const void *)test_store, args));
    c = shape(1, 32, NULL);
    c.dynamicSmemBytes = 48 * 1024;
    GIVES(cudaErrorInvalidValue, cudaLaunchKernelExC(&c, (const void *)test_store, args));
    c.dynamicSmemBytes = 0;
    c.attrs = (cudaLaunchAttribute *)(uintptr_t)16; /* ATTR-08: not looked at */
    OK(cudaLaunchKernelExC(&c, (const void *)test_store, args));
    CHECK(model_launch_count() == 1);
    GIVES(cudaErrorInvalidValue, cudaPeekAtLastError());
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    CHECK(p[0] == 1);
}

static cudaError_t try_attribute(int id, int value, unsigned blocks)
{
    uint32_t *p;
    OK(cudaMalloc((void **)&p, 64));
    struct arguments a = {p, 1};
    cudaLaunchAttribute attr = attribute(id, value);
    return launch_with((const void *)test_store, &a, blocks, 1, NULL, &attr, 1);
}

static void attributes(void)
{
    model_reset(NULL, 1);
    const int fine[] = {0, 1, 2, 5, 6, 8, 9, 10, 14, 16};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        OK(try_attribute(fine[i], 1, 2));
    const int bad[] = {3, 13, 15, 17, 99, -1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        GIVES(cudaErrorInvalidValue, try_attribute(bad[i], 1, 2));
    GIVES(cudaErrorInvalidValue, try_attribute(14, 101, 2));
    GIVES(cudaErrorInvalidClusterSize, try_attribute(4, 2, 3));
    GIVES(cudaErrorCooperativeLaunchTooLarge, try_attribute(2, 1, 17));
    OK(try_attribute(2, 1, 16));
    CHECK(model_launch_at(4)->num_attrs == 1 && model_launch_at(4)->attrs[0].id == 6);
    CHECK(model_launch_at(4)->grid[0] == 2 && model_launch_at(4)->func == (const void *)test_store);
    CHECK(model_call_count("cudaLaunchKernelExC") == 10 + 6 + 4);
    model_fail_next("cudaLaunchKernelExC", cudaErrorUnknown);
    GIVES(cudaErrorUnknown, try_attribute(6, 1, 2));
    OK(try_attribute(6, 1, 2));
}

static cudaError_t try_event(int id, cudaEvent_t event, int flags)
{
    uint32_t *p;
    OK(cudaMalloc((void **)&p, 64));
    struct arguments a = {p, 1};
    cudaLaunchAttribute attr = attribute(id, 0);
    if (id == 7) {
        attr.val.programmaticEvent.event = event;
        attr.val.programmaticEvent.flags = flags;
    } else {
        attr.val.launchCompletionEvent.event = event;
        attr.val.launchCompletionEvent.flags = flags;
    }
    return launch_with((const void *)test_store, &a, 1, 1, NULL, &attr, 1);
}

static void launch_events(void) /* F19, F20 */
{
    cudaEvent_t timed, untimed, shared;
    model_reset(NULL, 1);
    OK(cudaEventCreate(&timed));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&shared, cudaEventDisableTiming | cudaEventInterprocess));
    for (int id = 7; id <= 12; id += 5) {
        OK(try_event(id, untimed, 0));
        GIVES(cudaErrorNotSupported, try_event(id, timed, 0));
        GIVES(cudaErrorNotSupported, try_event(id, shared, 0));
        GIVES(cudaErrorInvalidResourceHandle, try_event(id, NULL, 0));
        GIVES(cudaErrorIllegalState, try_event(id, untimed, cudaEventRecordExternal));
    }
    CHECK(model_launch_count() == 2);
    OK(cudaEventSynchronize(untimed));
    OK(cudaEventDestroy(untimed));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventQuery(untimed));
    model_set_cc(8, 0);
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    GIVES(cudaErrorNotSupported, try_event(7, untimed, 0));
    OK(try_event(12, untimed, 0)); /* EVT-10 */
    model_set_cc(9, 0);
}

static void streams_and_events(void)
{
    cudaStream_t s, t;
    cudaEvent_t a, b;
    uint32_t *p, host = 0;
    float ms = -1;
    model_reset(NULL, 3);
    OK(cudaMalloc((void **)&p, 1024));
    struct arguments args = {p, 7};
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaStreamQuery(s));
    OK(cudaEventQuery(a)); /* never recorded: empty */
    OK(cudaEventRecord(a, s));
    OK(launch((const void *)test_store, &args, 200, 32, s, 0));
    int queries = 0;
    while (cudaStreamQuery(s) == cudaErrorNotReady && queries < 10000) /* each lets the device go on a little */
        queries++;
    CHECK(queries > 0 && queries < 10000);
    OK(cudaEventRecord(b, s));
    OK(cudaStreamWaitEvent(t, b, 0));
    OK(cudaMemcpyAsync(&host, p + 3, 4, cudaMemcpyDeviceToHost, t));
    OK(cudaStreamSynchronize(t));
    CHECK(host == 7);
    OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms > 0);
    OK(cudaMemsetAsync(p, 0xff, 64, t));
    OK(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost)); /* the legacy stream waits for t */
    CHECK(host == 0xffffffffu);
    OK(cudaMemset2DAsync(p, 16, 0x11, 8, 2, t)); /* two rows of two words, and as many between them */
    GIVES(cudaErrorInvalidValue, cudaMemset2DAsync(p, 4, 0x11, 8, 2, t));
    for (int i = 0; i < 8; i++) {
        OK(cudaMemcpy(&host, p + i, 4, cudaMemcpyDeviceToHost));
        CHECK(host == (i % 4 < 2 ? 0x11111111u : 0xffffffffu));
    }
    OK(cudaStreamDestroy(s));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(&host, &host, 4, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidValue, cudaMemset(&host, 0, 4));
    OK(cudaFree(p));
    GIVES(cudaErrorInvalidValue, cudaFree(p));
}

static void failing_device(void)
{
    uint32_t *p;
    model_reset(NULL, 1);
    OK(cudaMalloc((void **)&p, 64));
    struct arguments args = {p + (1 << 20), 1};
    OK(launch((const void *)test_wild, &args, 1, 1, NULL, 0));
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    GIVES(cudaErrorIllegalAddress, cudaMalloc((void **)&p, 64)); /* sticks */
    CHECK(!model_deadlocked());
    model_reset("second-wait-hangs", 1);
    OK(launch((const void *)test_hang, &args, 2, 4, NULL, 0));
    GIVES(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    CHECK(model_deadlocked());
    model_reset(NULL, 1);
    CHECK(!model_deadlocked());
    OK(launch((const void *)test_hang, &args, 2, 4, NULL, 0));
    OK(cudaDeviceSynchronize());
}

static void CUDART_CB sets(void *done)
{
    *(int *)done += 1;
}

static void host_functions(void)
{
    int done = 0;
    model_reset(NULL, 1);
    OK(cudaLaunchHostFunc(NULL, sets, &done));
    CHECK(done == 0);
    OK(cudaDeviceSynchronize());
    CHECK(done == 1);
}

int main(void)
{
    functions();
    launch_errors();
    attributes();
    launch_events();
    streams_and_events();
    failing_device();
    host_functions();
    return failures != 0;
}
