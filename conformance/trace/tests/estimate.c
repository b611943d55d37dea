/* estimate.c - pdl_overlap_estimate of pdl.h for shapes read from standard input, with the numbers of an H200
 *
 * One line per pair: registers, static shared memory, dynamic shared memory, blocks, threads, carve-out in percent (-1: none) of
 * the primary, then of the dependent. One line back: what limits (0: nothing), blocks of each, waves.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>

static cudaError_t h200(int *value, enum cudaDeviceAttr attribute, int device)
{
    switch (attribute) {
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 * 1024; break;
    case cudaDevAttrMultiProcessorCount: *value = 132; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
    default: return cudaErrorInvalidValue;
    }
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/* A kernel's address is that of its carve-out here. */
static cudaError_t carveout_of(struct cudaFuncAttributes *attributes, const void *function)
{
    const struct cudaFuncAttributes empty = {0};
    *attributes = empty;
    attributes->preferredShmemCarveout = *(const int *)function;
    return cudaSuccess;
}
#define cudaDeviceGetAttribute h200
#define cudaFuncGetAttributes carveout_of
#include "pdl.h"

static int read_shape(pdl_shape *shape, pdl_kernel *kernel, int *percent, const pdl_options *options)
{
    const pdl_kernel full = {.func = percent, .cc = 90, .ptx_version = 90, .binary_version = 90, .can_overlap = 1,
                             .max_threads_per_block = 1024, .max_grid = {1u << 31, 65535, 65535}, .max_block = {1024, 1024, 64}};
    int registers, fixed, dynamic, blocks, threads, carveout;

    if (scanf("%d %d %d %d %d %d", &registers, &fixed, &dynamic, &blocks, &threads, &carveout) != 6) {
        return 0;
    }
    *kernel = full;
    kernel->regs_per_thread = registers;
    kernel->static_shared_bytes = (size_t)fixed;
    *percent = carveout;
    *shape = (pdl_shape){kernel, {(unsigned)blocks, 1, 1}, {(unsigned)threads, 1, 1}, (size_t)dynamic, options};
    return 1;
}

int main(void)
{
    const pdl_options options = {.overlap = PDL_OVERLAP_REQUIRED};
    pdl_kernel kernels[2];
    pdl_shape primary, dependent;
    int percent[2];

    while (read_shape(&primary, &kernels[0], &percent[0], &options) && read_shape(&dependent, &kernels[1], &percent[1], &options)) {
        pdl_estimate estimate = PDL_ZERO;
        const cudaError_t error = pdl_overlap_estimate(&estimate, &primary, &dependent);
        const int limit = estimate.reason == PDL_REASON_CARVEOUT ? 5 : estimate.reason == 0 ? 0 : (int)(estimate.reason - PDL_REASON_BLOCK_SLOTS) + 1;
        printf("%d %d %u %u %llu\n", (int)error, limit, estimate.primary_blocks_per_sm, estimate.dependent_blocks_per_sm, estimate.primary_waves);
    }
    return 0;
}
