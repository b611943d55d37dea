/* host_cost.c - what pdl_launch costs on the host beside cudaLaunchKernelExC with the same attributes.
 *
 * usage: pdl-host-cost [BLOCKS]
 * Interleaved ABBA blocks of 4 x 1,000 launches of an empty one-block kernel into one stream, timed on the host while the
 * device keeps up; per block the ratio of the two sums. Prints one JSON line: the mean ratio (of logarithms) with its 95 %
 * interval, and both costs in microseconds per launch. Exit 0, 69 without a usable device, 70 if a call failed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch_kernels.h"
#include "kernel_args.h"
#include "pdl.h"

#define LAUNCHES 1000
#define WARM_UP 10

struct bench {
    pdl_kernel kernel;
    cudaStream_t stream;
    struct trial_plan *plan;     /* residents 0: the spacer ends at once */
    struct trial_state *state;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static cudaError_t launch_ours(struct bench *b, void **params)
{
    pdl_options options = PDL_ZERO;
    dim3 one;
    one.x = one.y = one.z = 1;
    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch(&b->kernel, one, one, params, 0, b->stream, &options);
}

static cudaError_t launch_raw(struct bench *b, void **params)
{
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = PDL_ZERO;
    config.gridDim.x = config.gridDim.y = config.gridDim.z = 1;
    config.blockDim = config.gridDim;
    config.stream = b->stream;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, b->kernel.func, params);
}

/* Microseconds for LAUNCHES launches; negative if a call failed. */
static double run(struct bench *b, cudaError_t (*launch)(struct bench *, void **))
{
    struct kernel_args args;
    void *params[1];
    double begin, end;
    int i;

    memset(&args, 0, sizeof(args));
    args.plan = b->plan;
    args.state = b->state;
    params[0] = &args;
    if (cudaStreamSynchronize(b->stream) != cudaSuccess)
        return -1;
    begin = now_us();
    for (i = 0; i < LAUNCHES; i++)
        if (launch(b, params) != cudaSuccess)
            return -1;
    end = now_us();
    return cudaStreamSynchronize(b->stream) == cudaSuccess ? end - begin : -1;
}

static int open_bench(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    return cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking) == cudaSuccess &&
           cudaMalloc((void **)&b->plan, sizeof(*b->plan)) == cudaSuccess &&
           cudaMalloc((void **)&b->state, sizeof(*b->state)) == cudaSuccess &&
           cudaMemset(b->plan, 0, sizeof(*b->plan)) == cudaSuccess &&
           cudaMemset(b->state, 0, sizeof(*b->state)) == cudaSuccess &&
           pdl_kernel_init(&b->kernel, batch_spacer_kernel) == cudaSuccess && b->kernel.can_overlap;
}

int main(int argc, char **argv)
{
    static struct bench b;
    int blocks = argc > 1 ? atoi(argv[1]) : 240, i;
    double sum = 0, squares = 0, ours = 0, raw = 0, mean, error;

    unsetenv("PDL_DISABLE");
    if (blocks < 2) {
        fprintf(stderr, "pdl-host-cost: BLOCKS is a number of ABBA blocks, at least 2\n");
        return 64;
    }
    if (!open_bench(&b)) {
        fprintf(stderr, "pdl-host-cost: no device that can overlap kernels could be used\n");
        return 69;
    }
    for (i = -WARM_UP; i < blocks; i++) {
        double a1 = run(&b, launch_ours), b1 = run(&b, launch_raw), b2 = run(&b, launch_raw), a2 = run(&b, launch_ours), ratio;
        if (a1 < 0 || b1 < 0 || b2 < 0 || a2 < 0) {
            fprintf(stderr, "pdl-host-cost: a CUDA call failed: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
            return 70;
        }
        if (i < 0)
            continue;
        ratio = log((a1 + a2) / (b1 + b2));
        sum += ratio;
        squares += ratio * ratio;
        ours += a1 + a2;
        raw += b1 + b2;
    }
    mean = sum / blocks;
    error = 1.96 * sqrt((squares / blocks - mean * mean) / (blocks - 1));
    printf("{\"blocks\":%d,\"launches_per_side\":%d,\"ratio\":%.5f,\"ratio_low95\":%.5f,\"ratio_high95\":%.5f,"
           "\"pdl_launch_us\":%.4f,\"raw_us\":%.4f}\n",
           blocks, blocks * 2 * LAUNCHES, exp(mean), exp(mean - error), exp(mean + error), ours / blocks / 2 / LAUNCHES,
           raw / blocks / 2 / LAUNCHES);
    return 0;
}
