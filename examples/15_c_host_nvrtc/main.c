/* 15_c_host_nvrtc: a plain C program; the kernel is compiled at run time and launched by driver handles. Licence: 0BSD
 * nvcc -O2 -I../.. main.c -o 15_c_host_nvrtc -lnvrtc -lcuda
 * (nvcc hands it to the C compiler, with the paths of the toolkit; gcc does as well, given these.)
 * Run it here, or give -DEXAMPLE_ROOT: the kernel includes pdl_device.cuh, which NVRTC has to find.
 */
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pdl.h"

#define CHECK(call) check((int)(call), #call, __LINE__)
#ifndef EXAMPLE_ROOT /* the folder of pdl_device.cuh */
#define EXAMPLE_ROOT "../.."
#endif
enum { N = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, CHAIN = 40, REPEATS = 101, VARIANTS = 5 };

static const struct { unsigned overlap; int to, n, taps; } v[VARIANTS] = {
    {PDL_OVERLAP_NONE, CHAIN, N, TAPS}, {PDL_OVERLAP_REQUIRED, CHAIN, N, TAPS}, {PDL_OVERLAP_REQUIRED, CHAIN, 0, 0},
    {PDL_OVERLAP_NONE, 1, N, 0}, {PDL_OVERLAP_NONE, 1, 0, 0}, /* as in 02_chain_with_prologue.cu */
};
static float us[VARIANTS][REPEATS];
static pdl_kernel blend;
static CUfunction blend_function, hold_function;
static CUstream stream;
static CUevent begin, end;
static CUdeviceptr buffer[2];
static unsigned host[N];

static void check(int error, const char *call, int line) /* CUDA_SUCCESS, cudaSuccess and NVRTC_SUCCESS are all 0 */
{
    if (error != 0) {
        fprintf(stderr, "line %d: %s: error %d\n", line, call, error);
        exit(1);
    }
}

static CUmodule compile(int cc) /* the header is found by its folder; its instructions need compute_90 or newer */
{
    char arch[32];
    const char *options[] = {arch, "-I" EXAMPLE_ROOT};
    const char *source = "#include \"pdl_device.cuh\"\n"
        "extern \"C\" __global__ void blend(unsigned *out, const unsigned *in, int n, int taps)\n"
        "{\n"
        "    unsigned w = 1;\n"
        "    pdl_trigger();\n"
        "    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; }\n"
        "    pdl_wait();\n"
        "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {\n"
        "        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;\n"
        "    }\n"
        "}\n"
        "extern \"C\" __global__ void hold(void)\n"
        "{\n"
        "    for (long long until = clock64() + 400000; clock64() < until;) {}\n"
        "}\n";
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *image;
    snprintf(arch, sizeof(arch), "-arch=sm_%d", cc);
    CHECK(nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL));
    CHECK(nvrtcCompileProgram(program, 2, options));
    CHECK(nvrtcGetCUBINSize(program, &size));
    image = malloc(size);
    CHECK(image == NULL);
    CHECK(nvrtcGetCUBIN(program, image));
    CHECK(nvrtcDestroyProgram(&program));
    CHECK(cuModuleLoadData(&module, image));
    free(image);
    return module;
}

static void launch(int i, unsigned overlap, int n, int taps)
{
    void *args[] = {&buffer[(i + 1) % 2], &buffer[i % 2], &n, &taps};
    const dim3 grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    pdl_options options = PDL_ZERO;
    options.overlap = overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE;
    CHECK(pdl_launch_driver(&blend, grid, block, args, 0, stream, &options));
}

static float time_us(int k)
{
    float ms;
    CHECK(cuLaunchKernel(hold_function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuEventRecord(begin, stream));
    for (int i = 0; i < v[k].to; i++) { launch(i, v[k].overlap, v[k].n, v[k].taps); }
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&ms, begin, end));
    return 1000 * ms;
}

static float median(float *t)
{
    for (int i = 1; i < REPEATS; i++) {
        for (int j = i; j > 0 && t[j - 1] > t[j]; j--) { float x = t[j]; t[j] = t[j - 1]; t[j - 1] = x; }
    }
    return t[REPEATS / 2];
}

int main(void)
{
    int major = 0, minor, wrong = 0;
    unsigned x = 0, w = 1;
    CUdevice device;
    CUmodule module;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
        major < 9) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr);
        return 77;
    }
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    CHECK(cudaSetDevice(0)); /* the primary context: driver and runtime handles are the same in it */
    CHECK(cudaFree(NULL));
    module = compile(10 * major + minor);
    CHECK(cuModuleGetFunction(&blend_function, module, "blend"));
    CHECK(cuModuleGetFunction(&hold_function, module, "hold"));
    CHECK(pdl_kernel_init_driver(&blend, blend_function));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    for (int i = 0; i < 2; i++) { CHECK(cuMemAlloc(&buffer[i], sizeof(host))); }
    CHECK(cuMemsetD32(buffer[0], 0, N));
    for (int i = 0; i < CHAIN; i++) { launch(i, PDL_OVERLAP_REQUIRED, N, TAPS); }
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(host, buffer[0], sizeof(host)));
    for (int k = 0; k < TAPS; k++) { w = w * 1664525u + 1013904223u; }
    for (int k = 0; k < CHAIN; k++) { x = 3 * x + w; }
    for (int i = 0; i < N; i++) { wrong += host[i] != x; }
    for (int i = 0; i < VARIANTS * REPEATS; i++) { us[i % VARIANTS][i / VARIANTS] = time_us(i % VARIANTS); }
    float plain = median(us[0]) / CHAIN, pdl = median(us[1]) / CHAIN;
    float limit = median(us[2]) / CHAIN + median(us[3]) - median(us[4]);
    printf("15_c_host_nvrtc: plain %.2f us, PDL %.2f us per kernel, gain %.2fx, %.0f %% of the limit, "
           "%d words wrong\n", plain, pdl, plain / pdl, 100 * limit / pdl, wrong);
    return wrong != 0;
}
