/* launch_cost.cu - launchers side by side: pdl_launch, the calls it stands for, and the wrappers of others.
 *
 * A library (libpdl-launch-cost.so) for bench/launch_cost.py, which times them in one process, interleaved, beside
 * launchers that only Python reaches (Triton). Every launcher starts the same empty kernel, one block of one thread, in one
 * stream. Functions return 0, or an error that cost_error() puts into words.
 */
#include <cuda.h>
#include <stdio.h>
#include <time.h>

#include "pdl.h"
#include "pdl_device.cuh"

static pdl_kernel kernel, driver_kernel;
static cudaStream_t stream;
static CUfunction function;
static unsigned long long sink;
static CUresult (*launch_driver)(const CUlaunchConfig *, CUfunction, void **, void **);
static char error_text[200];

extern "C" __global__ void cost_empty(int *unused)
{
    pdl_trigger();
    pdl_wait();
    (void)unused;
}

static cudaLaunchConfig_t one_thread(void)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    return config;
}

static cudaLaunchAttribute early_start(void)
{
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

static cudaError_t by_raw(int *argument)
{
    cudaLaunchAttribute attribute = early_start();
    cudaLaunchConfig_t config = one_thread();
    void *args[] = {&argument};

    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, (const void *)cost_empty, args);
}

static cudaError_t by_raw_plain(int *argument)
{
    cudaLaunchConfig_t config = one_thread();
    void *args[] = {&argument};

    return cudaLaunchKernelExC(&config, (const void *)cost_empty, args);
}

static cudaError_t by_pdl(int *argument)
{
    pdl_options options = PDL_ZERO;
    void *args[] = {&argument};

    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch(&kernel, dim3(1), dim3(1), args, 0, stream, &options);
}

static cudaError_t by_pdl_typed(int *argument)
{
    pdl_options options = PDL_ZERO;

    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch(&kernel, cost_empty, dim3(1), dim3(1), 0, stream, &options, argument);
}

static cudaError_t by_one_line(int *argument)
{
    return pdl::launch(cost_empty, dim3(1), dim3(1), 0, stream, pdl::overlap, argument);
}

/* The second form: in the place of cudaLaunchKernelEx. */
static cudaError_t by_one_line_config(int *argument)
{
    cudaLaunchConfig_t config = one_thread();

    return pdl::launch(&config, cost_empty, argument);
}

/* What the one-line form costs besides in a process with several devices: there it asks for the current one. */
static cudaError_t by_one_line_and_device(int *argument)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    sink += (unsigned)device;
    return error == cudaSuccess ? pdl::launch(cost_empty, dim3(1), dim3(1), 0, stream, pdl::overlap, argument) : error;
}

/* What a launch of a function of another library costs: its answer is asked for each time. */
static cudaError_t by_one_line_asking(int *argument)
{
    unsigned answer = 0;
    cudaError_t error = pdl_impl_ask_answer((const void *)cost_empty, &answer);

    sink += answer;
    return error == cudaSuccess ? pdl::launch(cost_empty, dim3(1), dim3(1), 0, stream, pdl::overlap, argument) : error;
}

static cudaError_t by_pdl_driver(int *argument)
{
    pdl_options options = PDL_ZERO;
    void *args[] = {&argument};

    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch_driver(&driver_kernel, dim3(1), dim3(1), args, 0, stream, &options);
}

static cudaError_t by_pdl_plain(int *argument)
{
    void *args[] = {&argument};

    return pdl_launch(&kernel, dim3(1), dim3(1), args, 0, stream, NULL);
}

static cudaError_t by_chevrons(int *argument)
{
    cost_empty<<<1, 1, 0, stream>>>(argument);
    return cudaPeekAtLastError();
}

static cudaError_t by_driver(int *argument)
{
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};
    void *args[] = {&argument};

    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return launch_driver(&config, function, args, NULL) == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

#include "launch_peers.cuh" /* by_toolkit_template, and what the include path brings of CCCL and CUTLASS */

static const struct { const char *name; cudaError_t (*launch)(int *); int overlap, is_peer; } launchers[] = {
    {"cudaLaunchKernelExC", by_raw, 1, 0},
    {"pdl_launch", by_pdl, 1, 0},
    {"pdl_launch, typed", by_pdl_typed, 1, 0},
    {"pdl::launch", by_one_line, 1, 0},
    {"pdl::launch with a launch config", by_one_line_config, 1, 0},
    {"pdl::launch and cudaGetDevice", by_one_line_and_device, 1, 0},
    {"pdl::launch, asking each time", by_one_line_asking, 1, 0},
    {"pdl_launch_driver", by_pdl_driver, 1, 0},
    {"cuLaunchKernelEx", by_driver, 1, 0},
    {"cudaLaunchKernelEx, the toolkit's template", by_toolkit_template, 1, 1},
    {"a TensorRT-LLM style launcher", by_environment, 1, 1},
#if HAS_TRIPLE_CHEVRON
    {"CCCL thrust::triple_chevron", by_triple_chevron, 1, 1},
#endif
#if HAS_CUTLASS
    {"CUTLASS kernel_launch", by_cutlass, 1, 1},
    {"CUTLASS ClusterLauncher", by_cutlass_cluster, 1, 1},
#endif
    {"cudaLaunchKernelExC without overlap", by_raw_plain, 0, 0},
    {"pdl_launch without overlap", by_pdl_plain, 0, 0},
    {"<<<>>>", by_chevrons, 0, 0},
};

static int failed(cudaError_t error, const char *what)
{
    snprintf(error_text, sizeof(error_text), "%s: %s", what, cudaGetErrorString(error));
    return error == cudaSuccess ? 0 : 70;
}

static cudaError_t find_driver_call(void)
{
    cudaDriverEntryPointQueryResult found;
    void *address = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &address, 12000, cudaEnableDefault, &found);
#else
    cudaError_t error = cudaGetDriverEntryPoint("cuLaunchKernelEx", &address, cudaEnableDefault, &found);
#endif
    if (error == cudaSuccess && found != cudaDriverEntryPointSuccess)
        return cudaErrorNotSupported;
    launch_driver = (CUresult(*)(const CUlaunchConfig *, CUfunction, void **, void **))address;
    return error == cudaSuccess ? cudaGetFuncBySymbol((cudaFunction_t *)&function, (const void *)cost_empty) : error;
}

extern "C" const char *cost_error(void)
{
    return error_text;
}

/* What could not be compiled in, as sentences; empty if nothing is missing. */
extern "C" const char *cost_missing(void)
{
    return MISSING_TRIPLE_CHEVRON MISSING_CUTLASS;
}

/* 77: no GPU here that can overlap kernels. */
extern "C" int cost_begin(void)
{
    if (pdl_kernel_init(&kernel, cost_empty) != cudaSuccess || !kernel.can_overlap)
        return 77;
    if (failed(cudaGetFuncBySymbol((cudaFunction_t *)&function, (const void *)cost_empty), "cudaGetFuncBySymbol") ||
        failed(pdl_kernel_init_driver(&driver_kernel, function), "pdl_kernel_init_driver"))
        return 70;
    if (failed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"))
        return 70;
    return failed(find_driver_call(), "the driver's cuLaunchKernelEx");
}

extern "C" int cost_count(void)
{
    return (int)(sizeof(launchers) / sizeof(*launchers));
}

extern "C" const char *cost_name(int i)
{
    return launchers[i].name;
}

extern "C" int cost_overlaps(int i)
{
    return launchers[i].overlap;
}

extern "C" int cost_is_peer(int i)
{
    return launchers[i].is_peer;
}

/* Microseconds per launch, on average over some that the launch queue holds; the device is idle at the start. */
extern "C" int cost_time(int i, int launches, double *us)
{
    struct timespec from, to;
    cudaError_t error = cudaStreamSynchronize(stream);

    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int k = 0; k < launches && error == cudaSuccess; k++)
        error = launchers[i].launch(NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    *us = ((double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) * 1e-3) / launches;
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return failed(error, launchers[i].name);
}
