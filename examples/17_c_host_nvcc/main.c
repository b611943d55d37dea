/* 17_c_host_nvcc: a plain C program, linked with kernels that nvcc compiled. Licence: 0BSD
 * nvcc -O2 -arch=sm_90 -I../.. -I.. main.c kernels.cu -o 17_c_host_nvcc
 * A kernel that is declared extern "C" is an ordinary function name to C; its address is all that pdl.h needs.
 */
#include "pdl.h"
#include "measure.h"
#include "kernels.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000 };

static pdl_kernel blend_kernel;

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int taps)
{
    const dim3 grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1}; /* in C every axis has to be written */
    unsigned *out = buffer[(step + 1) % 2], *in = buffer[step % 2];
    pdl_options options = PDL_ZERO;

    options.overlap = overlap;
    CHECK(PDL_LAUNCH(&blend_kernel, grid, block, 0, stream, &options, &out, &in, &words, &taps));
}

int main(void)
{
    measurement m = PDL_ZERO;

    CHECK(pdl_kernel_init(&blend_kernel, (const void *)blend));
    m.name = "17_c_host_nvcc";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
