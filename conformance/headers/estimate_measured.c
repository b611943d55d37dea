/* pdl_overlap_estimate beside what an H200 did (driver 580.159.04), with the numbers of that GPU in place of the model's: the
 * mixes of rule FWD-06a (conformance/kernels/room.cu), and the tables of measure_splits.cu. Twenty launches of each either
 * all overlapped, or at most one did. */
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

/* Functions without a carve-out of their own. */
static cudaError_t no_carveout(struct cudaFuncAttributes *attributes, const void *func)
{
    (void)func;
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}
#define cudaDeviceGetAttribute h200
#define cudaFuncGetAttributes no_carveout
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

/* One block per multiprocessor on both sides: a row for each primary, a column for each dependent. O: overlapped, and so it
 * is estimated; .: neither; Y: overlapped only; N: estimated only. Four tables: without shared memory on either side, with
 * 4 KiB in the dependent, in the primary, in both. */
static const unsigned by_threads[] = {32, 64, 96, 128, 256, 384, 512, 768, 1024};
static const unsigned by_carveout[] = {0, PDL_CARVEOUT_NO_SHARED, 1, 4, 8, 14, 16, 25, 29, 50, 75, 100};
static const struct {
    const char *what;
    unsigned count, threads; /* 0: threads are what differs */
    const char *overlapped[4][12];
} tables[] = {
    {"by threads", 9, 0,
     {{"OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "...OOOOOO", "....OOOOO", "....OOOOO"},
      {".....OOOO", ".....OOOO", ".....OOOO", ".....OOOO", ".....OOOO", ".....OOOO", ".......OO", ".........", "........."},
      {"OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "OOOOOOOOO", "NNNOOOOOO"},
      {"OOOOOOOOO", "OOOOOOOOO", "NNOOOOOOO", "..OOOOOOO", "...OOOOOO", "....OOOOO", "....OOOOO", ".....OOOO", ".....NNOO"}}},
    {"by carveout", 12, 128,
     {{"OOOOOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO",
       "O.....OOOOOO", "O.....OOOOOO", "O.......OOOO", "O........OOO", "O.........OO", "O..........O"},
      {"....OO......", "....OO......", "....OO......", "....OO......", "....OO......", "....OO......",
       ".....OOO....", ".....OOO....", "O......OOOOO", "O........OOO", "O.........OO", "O.........OO"},
      {"O........OOO", ".OO.........", ".OO.........", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "O.....OOOOOO",
       "O.....OOOOOO", "O.......OOOO", "O.......OOOO", "O.........OO", "O..........O", "O..........O"},
      {"O........OOO", "............", "............", "...O........", "....OO......", ".....OOO....",
       ".....OOO....", "O......OOOOO", "O......OOOOO", "O........OOO", "O.........OO", "O.........OO"}}},
    {"by carveout of 1024", 12, 1024,
     {{"OOOOOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "O..OOOOOOOOO", "O...OOOOOOOO", "O...OOOOOOOO",
       "O.....OOOOOO", "O.....OOOOOO", "O.......OOOO", "O........OOO", "O.........OO", "O..........O"},
      {".OO.........", ".OO.........", ".OO.........", "O..OOOOOOOOO", "O...OOOOOOOO", "O...OOOOOOOO",
       "O....OOOOOOO", "O....OOOOOOO", "O......OOOOO", "O........OOO", "O.........OO", "O.........OO"},
      {"O..YOOOOOOOO", "OOOOOOOOOOOO", "OOOOOOOOOOOO", "O..OOOOOOOOO", "O...OOOOOOOO", "O.....OOOOOO",
       "O.....OOOOOO", "O.......OOOO", "O.......OOOO", "O.........OO", "O..........O", "O..........O"},
      {"O..YOOOOOOOO", "............", "............", "O..OOOOOOOOO", "O...OOOOOOOO", "O....OOOOOOO",
       "O....OOOOOOO", "O......OOOOO", "O......OOOOO", "O........OOO", "O.........OO", "O.........OO"}}},
};

static pdl_shape shape_of(const struct side *side, pdl_kernel *kernel, pdl_options *options)
{
    const pdl_kernel full = {.func = mixes, .cc = 90, .ptx_version = 90, .binary_version = 90, .can_overlap = 1,
                             .regs_per_thread = side->regs, .max_threads_per_block = 1024,
                             .max_grid = {1u << 31, 65535, 65535}, .max_block = {1024, 1024, 64}};
    const pdl_options asks = {.overlap = PDL_OVERLAP_REQUIRED, .carveout = side->carveout, .cluster_x = side->cluster};
    const pdl_shape shape = {kernel, {side->blocks, 1, 1}, {side->threads, 1, 1}, side->shared, options};

    *kernel = full;
    *options = asks;
    return shape;
}

static int differs(const char *what, const struct side *first, const struct side *second, int wanted)
{
    pdl_kernel kernels[2];
    pdl_options options[2];
    const pdl_shape primary = shape_of(first, &kernels[0], &options[0]);
    const pdl_shape dependent = shape_of(second, &kernels[1], &options[1]);
    pdl_estimate estimate = PDL_ZERO;
    const cudaError_t error = pdl_overlap_estimate(&estimate, &primary, &dependent);

    if (error == cudaSuccess && estimate.may_overlap == (unsigned)wanted) {
        return 0;
    }
    fprintf(stderr, "%s, %u threads %u percent, then %u threads %u percent: error %d, estimated %s\n", what, first->threads,
            first->carveout, second->threads, second->carveout, (int)error, pdl_reason_string(estimate.reason));
    return 1;
}

static int table_differs(size_t t)
{
    int failed = 0;

    for (unsigned shared = 0; shared < 4; shared++) {
        for (unsigned cell = 0; cell < tables[t].count * tables[t].count; cell++) {
            const unsigned row = cell / tables[t].count, column = cell % tables[t].count;
            const char measured = tables[t].overlapped[shared][row][column];
            struct side first = {tables[t].threads, SMS, LIGHT, shared & 2 ? 4096 : 0, 0, 0}, second = first;

            second.shared = shared & 1 ? 4096 : 0;
            if (tables[t].threads == 0) {
                first.threads = by_threads[row];
                second.threads = by_threads[column];
            } else {
                first.carveout = by_carveout[row];
                second.carveout = by_carveout[column];
            }
            failed |= differs(tables[t].what, &first, &second, measured == 'O' || measured == 'N');
        }
    }
    return failed;
}

int main(void)
{
    int failed = 0;

    if (!PDL_HAS_CARVEOUT) {
        return 0; /* most rows ask for one */
    }
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        failed |= differs(mixes[i].what, &mixes[i].primary, &mixes[i].dependent, mixes[i].overlapped > 10);
    }
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        failed |= table_differs(t);
    }
    return failed;
}
