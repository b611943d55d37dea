/* launch_cost.cu - what one launch costs on the host: pdl_launch beside the calls it stands for.
 *
 * usage: pdl-launch-cost [ROUNDS]
 * Each round times 500 launches of an empty kernel by every launcher, forwards and then backwards, in one process and one
 * stream; the device keeps up. Per launcher: the median cost, and the mean ratio to the raw call with its 95 % interval
 * (logarithms of each round's ratio). Prints JSON lines. Exit 0, 64 bad arguments, 70 a call failed, 77 no usable GPU.
 */
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pdl.h"
#include "pdl_device.cuh"

#define CHECK(call) check((call), __LINE__)
enum { LAUNCHES = 500, MOST_ROUNDS = 2000, LAUNCHERS = 5, RAW = 0 };

static pdl_kernel kernel;
static cudaStream_t stream;
static CUfunction function;
static CUresult (*launch_driver)(const CUlaunchConfig *, CUfunction, void **, void **);
static double us[LAUNCHERS][MOST_ROUNDS];

static void check(cudaError_t error, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "pdl-launch-cost: line %d: %s\n", line, cudaGetErrorString(error));
        exit(70);
    }
}

extern "C" __global__ void cost_empty(int *unused)
{
    pdl_trigger();
    pdl_wait();
    (void)unused;
}

static cudaError_t by_raw(void **args)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};

    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, (const void *)cost_empty, args);
}

static cudaError_t by_pdl(void **args)
{
    pdl_options options = PDL_ZERO;

    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch(&kernel, dim3(1), dim3(1), args, 0, stream, &options);
}

static cudaError_t by_pdl_plain(void **args)
{
    return pdl_launch(&kernel, dim3(1), dim3(1), args, 0, stream, NULL);
}

static cudaError_t by_chevrons(void **args)
{
    cost_empty<<<1, 1, 0, stream>>>(*(int **)args[0]);
    return cudaPeekAtLastError();
}

static cudaError_t by_driver(void **args)
{
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};

    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return launch_driver(&config, function, args, NULL) == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

static const struct { const char *name; cudaError_t (*launch)(void **); int overlap; } launchers[LAUNCHERS] = {
    {"cudaLaunchKernelExC", by_raw, 1}, {"pdl_launch", by_pdl, 1}, {"pdl_launch without overlap", by_pdl_plain, 0},
    {"<<<>>>", by_chevrons, 0}, {"cuLaunchKernelEx", by_driver, 1},
};

static double time_us(int l)
{
    struct timespec from, to;
    int *unused = NULL;
    void *args[] = {&unused};

    CHECK(cudaStreamSynchronize(stream));
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(launchers[l].launch(args));
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) * 1e-3) / LAUNCHES;
}

static int ascending(const void *x, const void *y)
{
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static void find_driver_call(void)
{
    cudaDriverEntryPointQueryResult found;
    void *address = NULL;

#if CUDART_VERSION >= 12050
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &address, 12000, cudaEnableDefault, &found));
#else
    CHECK(cudaGetDriverEntryPoint("cuLaunchKernelEx", &address, cudaEnableDefault, &found));
#endif
    if (found != cudaDriverEntryPointSuccess)
        check(cudaErrorNotSupported, __LINE__);
    launch_driver = (CUresult(*)(const CUlaunchConfig *, CUfunction, void **, void **))address;
    CHECK(cudaGetFuncBySymbol((cudaFunction_t *)&function, (const void *)cost_empty));
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;

    if (rounds < 2 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "pdl-launch-cost: ROUNDS is from 2 to %d\n", MOST_ROUNDS);
        return 64;
    }
    if (pdl_kernel_init(&kernel, cost_empty) != cudaSuccess || !kernel.can_overlap) {
        fprintf(stderr, "pdl-launch-cost: no GPU here that can overlap kernels\n");
        return 77;
    }
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    find_driver_call();
    for (int r = -3; r < rounds; r++) {
        double sum[LAUNCHERS] = {0};
        for (int k = 0; k < 2 * LAUNCHERS; k++) {
            const int l = k < LAUNCHERS ? (r + 3 + k) % LAUNCHERS : (r + 3 + 2 * LAUNCHERS - 1 - k) % LAUNCHERS;
            sum[l] += time_us(l);
        }
        for (int l = 0; l < LAUNCHERS && r >= 0; l++)
            us[l][r] = sum[l] / 2;
    }
    CHECK(cudaStreamSynchronize(stream));
    double mean[LAUNCHERS], error[LAUNCHERS];
    for (int l = 0; l < LAUNCHERS; l++) {
        double total = 0, squares = 0;
        for (int r = 0; r < rounds; r++) {
            const double ratio = log(us[l][r] / us[RAW][r]);
            total += ratio;
            squares += ratio * ratio;
        }
        mean[l] = total / rounds;
        error[l] = 1.96 * sqrt(fmax(0, squares / rounds - mean[l] * mean[l]) / (rounds - 1));
    }
    for (int l = 0; l < LAUNCHERS; l++) {
        qsort(us[l], (size_t)rounds, sizeof(double), ascending);
        printf("{\"launcher\":\"%s\",\"overlap\":%d,\"rounds\":%d,\"us\":%.4f,\"ratio\":%.5f,\"ratio_low95\":%.5f,"
               "\"ratio_high95\":%.5f}\n", launchers[l].name, launchers[l].overlap, rounds, us[l][rounds / 2], exp(mean[l]),
               exp(mean[l] - error[l]), exp(mean[l] + error[l]));
    }
    return 0;
}
