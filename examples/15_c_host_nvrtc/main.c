/* 15_c_host_nvrtc: a plain C program; the kernel is compiled at run time and launched by driver handles. Licence: 0BSD
 * nvcc -O2 -I../.. -I.. main.c -o 15_c_host_nvrtc -lnvrtc -lcuda
 * (nvcc hands it to the C compiler, with the paths of the toolkit; gcc does as well, given these.)
 * Run it here, or give -DEXAMPLE_ROOT: the kernel includes pdl_device.cuh, which NVRTC has to find.
 */
#include <cuda.h>
#include <nvrtc.h>
#include "pdl.h"
#include "measure.h"

#ifndef EXAMPLE_ROOT /* the folder of pdl_device.cuh */
#define EXAMPLE_ROOT "../.."
#endif
enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000 };

static pdl_kernel blend;
static CUfunction blend_function;

static const char *const source =
    "#include \"pdl_device.cuh\"\n"
    "extern \"C\" __global__ void blend(unsigned *out, const unsigned *in, int words, int taps)\n"
    "{\n"
    "    unsigned w = 1;\n"
    "    pdl_trigger();\n"
    "    for (int k = 0; k < taps; k++) { w = w * 1664525u + 1013904223u; }\n"
    "    pdl_wait();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {\n"
    "        pdl_fresh(out)[i] = 3 * pdl_fresh(in)[i] + w;\n"
    "    }\n"
    "}\n";

static void check(int error, const char *call) /* CUDA_SUCCESS and NVRTC_SUCCESS are 0 */
{
    if (error != 0) {
        fprintf(stderr, "%s: error %d\n", call, error);
        exit(1);
    }
}
#define CHECK_CODE(call) check((int)(call), #call)

static CUmodule compile(int cc) /* the instructions of the header need compute_90 or newer */
{
    char arch[32];
    const char *options[] = {arch, "-I" EXAMPLE_ROOT};
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *image;

    snprintf(arch, sizeof(arch), "-arch=sm_%d", cc);
    CHECK_CODE(nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL));
    CHECK_CODE(nvrtcCompileProgram(program, 2, options));
    CHECK_CODE(nvrtcGetCUBINSize(program, &size));
    image = malloc(size);
    CHECK_CODE(image == NULL);
    CHECK_CODE(nvrtcGetCUBIN(program, image));
    CHECK_CODE(nvrtcDestroyProgram(&program));
    CHECK_CODE(cuModuleLoadData(&module, image));
    free(image);
    return module;
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    void *args[] = {&buffer[(step + 1) % 2], &buffer[step % 2], &words, &taps};
    const dim3 grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    pdl_options options = PDL_ZERO;

    options.overlap = overlap;
    CHECK(pdl_launch_driver(&blend, grid, block, args, 0, stream, &options)); /* streams have one type in both APIs */
}

int main(void)
{
    measurement m = PDL_ZERO;
    int major = 0, minor = 0;

    CHECK(cudaSetDevice(0)); /* makes the primary context current, in which runtime and driver handles are the same */
    CHECK(cudaFree(NULL));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    CHECK_CODE(cuModuleGetFunction(&blend_function, compile(10 * major + minor), "blend"));
    CHECK(pdl_kernel_init_driver(&blend, blend_function));
    m.name = "15_c_host_nvrtc";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
