/* pdl_overlap_estimate beside what an H200 did: the mixes of rule FWD-06a (conformance/kernels/room.cu), with the numbers of
 * that GPU in place of the model's. Twenty launches of each overlapped all, or all but one did not. */
#include <cuda_runtime_api.h>
#include <stdio.h>

/* What the model is asked otherwise. */
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
#define cudaDeviceGetAttribute h200
#include "pdl.h"

enum { SMS = 132, MOST = 227 * 1024, LIGHT = 32, HEAVY = 168 /* registers */ };

struct side {
    unsigned threads, blocks;
    int regs;
    unsigned shared, carveout, cluster;
};

static const struct {
    const char *what;
    struct side primary, dependent;
    unsigned overlapped;
} mixes[] = {
    {"small beside small", {128, SMS, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, 0, 0, 0}, 20},
    {"threads: all taken", {1024, 2 * SMS, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 0},
    {"threads: half taken, half wanted", {1024, SMS, LIGHT, 0, 0, 0}, {1024, SMS, LIGHT, 0, 0, 0}, 20},
    {"threads: a warp too many wanted", {544, 2 * SMS, LIGHT, 0, 0, 0}, {992, SMS, LIGHT, 0, 0, 0}, 0},
    {"threads: all but two blocks taken", {1024, 2 * SMS - 2, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 0},
    {"threads: all but two blocks taken, one wanted", {1024, 2 * SMS - 2, LIGHT, 0, 0, 0}, {32, 1, LIGHT, 0, 0, 0}, 0},
    {"threads: all but 16 blocks taken", {1024, 2 * SMS - 16, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 0},
    {"threads: all but 66 blocks taken", {1024, 2 * SMS - 66, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 0},
    {"threads: dependent wants all", {128, SMS, LIGHT, 0, 0, 0}, {1024, 2 * SMS, LIGHT, 0, 0, 0}, 20},
    {"slots: all taken", {32, 32 * SMS, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 0},
    {"slots: one left", {32, 31 * SMS, LIGHT, 0, 0, 0}, {32, SMS, LIGHT, 0, 0, 0}, 20},
    {"slots: dependent wants all", {32, SMS, LIGHT, 0, 0, 0}, {32, 32 * SMS, LIGHT, 0, 0, 0}, 20},
    {"registers: all taken", {384, SMS, HEAVY, 0, 0, 0}, {64, SMS, HEAVY, 0, 0, 0}, 0},
    {"registers: half taken", {128, SMS, HEAVY, 0, 0, 0}, {128, SMS, HEAVY, 0, 0, 0}, 20},
    {"registers: dependent wants all", {64, SMS, HEAVY, 0, 0, 0}, {384, SMS, HEAVY, 0, 0, 0}, 0},
    {"shared: all taken, a little wanted", {128, SMS, LIGHT, MOST, 100, 0}, {128, SMS, LIGHT, MOST / 100, 100, 0}, 0},
    {"shared: all taken, none wanted", {128, SMS, LIGHT, MOST, 100, 0}, {128, SMS, LIGHT, 0, 100, 0}, 0},
    {"shared: half and a little less", {128, SMS, LIGHT, MOST / 100 * 49, 100, 0},
     {128, SMS, LIGHT, MOST / 100 * 49, 100, 0}, 20},
    {"shared: half and more", {128, SMS, LIGHT, MOST / 100 * 49, 100, 0}, {128, SMS, LIGHT, MOST / 100 * 55, 100, 0}, 0},
    {"shared: none taken, all wanted", {128, SMS, LIGHT, 0, 100, 0}, {128, SMS, LIGHT, MOST, 100, 0}, 0},
    {"split: default, static wanted (F29b)", {128, SMS, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, 4096, 0, 0}, 0},
    {"split: 16 percent, static wanted", {128, SMS, LIGHT, 0, 16, 0}, {128, SMS, LIGHT, 4096, 0, 0}, 0},
    {"split: 16 percent on both, static wanted", {128, SMS, LIGHT, 0, 16, 0}, {128, SMS, LIGHT, 4096, 16, 0}, 20},
    {"split: all shared, static wanted", {128, SMS, LIGHT, 0, 100, 0}, {128, SMS, LIGHT, 4096, 0, 0}, 20},
    {"split: static taken, none wanted", {128, SMS, LIGHT, 4096, 0, 0}, {128, SMS, LIGHT, 0, 0, 0}, 20},
    {"split: static both", {128, SMS, LIGHT, 4096, 0, 0}, {128, SMS, LIGHT, 4096, 0, 0}, 20},
    {"split: all L1, all shared", {128, SMS, LIGHT, 0, PDL_CARVEOUT_NO_SHARED, 0}, {128, SMS, LIGHT, 0, 100, 0}, 20},
    {"split: all shared, all L1", {128, SMS, LIGHT, 0, 100, 0}, {128, SMS, LIGHT, 0, PDL_CARVEOUT_NO_SHARED, 0}, 0},
    {"split: default, dynamic wanted", {128, SMS, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, MOST / 10, 0, 0}, 0},
    {"split: one SM idle, static wanted", {1024, SMS - 1, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, 4096, 0, 0}, 20},
    {"cluster of 2 beside small", {128, SMS, LIGHT, 0, 0, 0}, {128, 2 * SMS, LIGHT, 0, 0, 2}, 20},
    {"cluster of 8 beside small", {128, SMS, LIGHT, 0, 0, 0}, {128, 2 * SMS, LIGHT, 0, 0, 8}, 20},
    {"cluster of 8 beside clusters of 8", {128, 2 * SMS, LIGHT, 0, 0, 8}, {128, 2 * SMS, LIGHT, 0, 0, 8}, 20},
    {"cluster of 8, threads all but two blocks taken", {1024, 2 * SMS - 2, LIGHT, 0, 0, 0},
     {128, 2 * SMS, LIGHT, 0, 0, 8}, 0},
    {"cluster of 8, half of the threads taken", {1024, SMS, LIGHT, 0, 0, 0}, {1024, 2 * SMS, LIGHT, 0, 0, 8}, 20},
    {"two waves", {1024, 4 * SMS, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, 0, 0, 0}, 1},
    {"one wave and a half", {1024, 3 * SMS, LIGHT, 0, 0, 0}, {128, SMS, LIGHT, 0, 0, 0}, 20},
};

static pdl_shape shape_of(const struct side *side, pdl_kernel *kernel, pdl_options *options)
{
    const pdl_kernel full = {.func = mixes, .cc = 90, .ptx_version = 90, .binary_version = 90, .can_overlap = 1,
                             .regs_per_thread = side->regs, .max_threads_per_block = 1024, .preferred_carveout = -1,
                             .max_grid = {1u << 31, 65535, 65535}, .max_block = {1024, 1024, 64}};
    const pdl_options asks = {.overlap = PDL_OVERLAP_REQUIRED, .carveout = side->carveout, .cluster_x = side->cluster};
    const pdl_shape shape = {kernel, {side->blocks, 1, 1}, {side->threads, 1, 1}, side->shared, options};

    *kernel = full;
    *options = asks;
    return shape;
}

int main(void)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0] && PDL_HAS_CARVEOUT; i++) {
        pdl_kernel kernels[2];
        pdl_options options[2];
        pdl_shape primary = shape_of(&mixes[i].primary, &kernels[0], &options[0]);
        pdl_shape dependent = shape_of(&mixes[i].dependent, &kernels[1], &options[1]);
        pdl_estimate estimate = PDL_ZERO;
        const cudaError_t error = pdl_overlap_estimate(&estimate, &primary, &dependent);

        if (error != cudaSuccess || estimate.may_overlap != (mixes[i].overlapped > 10)) {
            fprintf(stderr, "%s: error %d, estimated %s; measured %u of 20\n", mixes[i].what, (int)error,
                    pdl_reason_string(estimate.reason), mixes[i].overlapped);
            failed = 1;
        }
    }
    return failed;
}
