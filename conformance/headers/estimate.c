/* pdl_overlap_estimate on the model's multiprocessors: 4 of them, each with 4 block slots, 128 threads, 65,536 registers and
 * 64 KiB of shared memory. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, fixed, greedy, erased;
static pdl_options asks, asks_not;
static pdl_shape primary, dependent;

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&fixed, (const void *)static_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&greedy, (const void *)greedy_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    memset(&asks, 0, sizeof asks);
    memset(&asks_not, 0, sizeof asks_not);
    memset(&primary, 0, sizeof primary);
    asks.overlap = PDL_OVERLAP_IF_POSSIBLE;
    primary.kernel = &plain;
    primary.grid.x = primary.block.x = 8;
    primary.grid.y = primary.grid.z = primary.block.y = primary.block.z = 1;
    dependent = primary;
    dependent.options = &asks;
}

static pdl_estimate ask(void)
{
    pdl_estimate estimate = PDL_ZERO;

    EXPECT_IS(pdl_overlap_estimate(&estimate, &primary, &dependent), cudaSuccess);
    EXPECT_IS(estimate.may_overlap, estimate.reason == PDL_REASON_NONE);
    return estimate;
}

static void counts_what_fits(void)
{
    pdl_estimate estimate = ask();

    EXPECT_IS(estimate.reason, PDL_REASON_NONE);
    EXPECT_IS(estimate.primary_blocks_per_sm, 2); /* 8 blocks on 4 */
    EXPECT_IS(estimate.dependent_blocks_per_sm, 2);
    EXPECT_IS(estimate.primary_waves, 1);
    primary.grid.x = 33;
    EXPECT_IS(ask().primary_waves, 3);
    primary.grid.x = 32;
    EXPECT_IS(ask().primary_waves, 2);
}

static void names_the_resource(void)
{
    primary.grid.x = 16;
    EXPECT_IS(ask().reason, PDL_REASON_BLOCK_SLOTS);
    EXPECT_IS(ask().dependent_blocks_per_sm, 0);
    primary.grid.x = 15; /* one multiprocessor keeps a slot */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);

    primary.grid.x = 16; /* slots and threads are both used up: the first is named */
    primary.block.x = dependent.block.x = 32;
    EXPECT_IS(ask().reason, PDL_REASON_BLOCK_SLOTS);

    set_up();
    primary.grid.x = 12;
    primary.block.x = 32; /* 3 * 32 of 128 threads, one slot left */
    dependent.block.x = 32;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    primary.shared_bytes = 16 * 1024; /* 3 * 16 of 64 KiB */
    dependent.shared_bytes = 17 * 1024;
    EXPECT_IS(ask().reason, PDL_REASON_SHARED);
    dependent.shared_bytes = 16 * 1024;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
}

/* The model's blocks cannot use up threads or registers while slots are left, so these two have a made-up kernel. */
static void names_threads_and_registers(void)
{
    pdl_kernel wide = plain;

    wide.max_threads_per_block = 128;
    wide.max_block[0] = 128;
    primary.kernel = dependent.kernel = &wide;
    primary.block.x = 97; /* 25 warps of 4: 28 threads are left */
    primary.grid.x = 4;
    dependent.block.x = 30;
    EXPECT_IS(ask().reason, PDL_REASON_THREADS);
    dependent.block.x = 27;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    primary.block.x = dependent.block.x = 60;
    wide.regs_per_thread = 544; /* 65,280 for both */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    wide.regs_per_thread = 545; /* counted as 552 */
    EXPECT_IS(ask().reason, PDL_REASON_REGISTERS);
}

/* The trap of a dependent with shared memory behind a primary without any: it wants 32 KiB, for four blocks of 8, and the
 * primary's four blocks run with 16. */
static void knows_the_carveout(void)
{
    pdl_options sets = PDL_ZERO;

    dependent.kernel = &fixed;
    EXPECT_IS(ask().reason, PDL_REASON_NONE); /* four blocks of 4 */
    dependent.shared_bytes = 4096;
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    EXPECT_IS(ask().dependent_blocks_per_sm, 0);
    if (!PDL_HAS_CARVEOUT) {
        return; /* the rest asks for one */
    }
    primary.options = &sets;
    sets.carveout = 26; /* 17,039 bytes: 32 KiB */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    sets.carveout = 25; /* 16 KiB */
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    sets.carveout = PDL_CARVEOUT_NO_SHARED; /* changes nothing where there is none */
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    asks.carveout = 25; /* with one of its own, the dependent needs no more than that */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    EXPECT_IS(ask().dependent_blocks_per_sm, 2);
    asks.carveout = 12; /* 8 KiB */
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    asks.carveout = 0;
    primary.options = NULL;
    EXPECT_IS(cudaFuncSetAttribute(plain.func, cudaFuncAttributePreferredSharedMemoryCarveout, 50), cudaSuccess);
    EXPECT_IS(ask().reason, PDL_REASON_NONE); /* the function's own setting, made after it was prepared */
    EXPECT_IS(cudaFuncSetAttribute(plain.func, cudaFuncAttributePreferredSharedMemoryCarveout, -1), cudaSuccess);
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    primary.grid.x = 3; /* one multiprocessor is idle and takes any split */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    primary.grid.x = 8;
    primary.shared_bytes = 4096; /* four of these have a split of 32 KiB: the next above 16 */
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    EXPECT_IS(ask().dependent_blocks_per_sm, 2);
    dependent.shared_bytes = 5 * 1024; /* four of 9 KiB want 64 */
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
}

/* A carve-out of its own lets a dependent run in smaller splits, but in no larger one. */
static void knows_the_carveout_of_both(void)
{
    pdl_options sets = PDL_ZERO;

    if (!PDL_HAS_CARVEOUT) {
        return;
    }
    primary.options = &sets;
    sets.carveout = PDL_CARVEOUT_NO_SHARED;
    asks.carveout = PDL_CARVEOUT_MAX;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    sets.carveout = PDL_CARVEOUT_MAX;
    asks.carveout = PDL_CARVEOUT_NO_SHARED;
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    asks.carveout = PDL_CARVEOUT_MAX;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    asks.carveout = sets.carveout = 30; /* 19,660 bytes: 32 KiB */
    primary.shared_bytes = dependent.shared_bytes = 10 * 1024;
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    EXPECT_IS(ask().dependent_blocks_per_sm, 1);
    asks.carveout = sets.carveout = 1; /* less than one block takes: there is room for one, still */
    primary.grid.x = 4;
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    EXPECT_IS(ask().primary_blocks_per_sm, 1);
    primary.grid.x = 8;
    asks.carveout = sets.carveout = 30;
    primary.shared_bytes = 16 * 1024; /* two of them fill it */
    EXPECT_IS(ask().reason, PDL_REASON_CARVEOUT);
    primary.grid.x = 9; /* a second wave, of one block */
    EXPECT_IS(ask().primary_waves, 2);
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
}

/* In later waves blocks go where places become free, so that one multiprocessor may be left with few. */
static void knows_the_last_wave(void)
{
    primary.grid.x = 4 * 16;
    EXPECT_IS(ask().primary_waves, 4);
    EXPECT_IS(ask().reason, PDL_REASON_BLOCK_SLOTS);
    primary.grid.x = 4 * 16 - 1;
    EXPECT_IS(ask().primary_blocks_per_sm, 3);
    EXPECT_IS(ask().dependent_blocks_per_sm, 1);
    primary.grid.x = 3 * 16 + 12; /* four places free */
    EXPECT_IS(ask().primary_blocks_per_sm, 0);
    primary.grid.x = 12;
    EXPECT_IS(ask().primary_blocks_per_sm, 3);
    primary.grid.x = 0x7fffffff; /* more blocks than 32 bits can count */
    primary.grid.y = primary.grid.z = 65535;
    EXPECT(ask().primary_waves == (0x7fffffffull * 65535 * 65535 - 1) / 16 + 1);
    primary.grid.x = 16, primary.grid.y = 1, primary.grid.z = 2; /* z counts */
    EXPECT_IS(ask().primary_waves, 2);
    primary.grid.y = 3;
    EXPECT_IS(ask().primary_waves, 6);
}

static void names_what_is_not_a_size(void)
{
    pdl_kernel elsewhere = plain;

    dependent.options = NULL;
    EXPECT_IS(ask().reason, PDL_REASON_NOT_ASKED);
    dependent.options = &asks_not;
    EXPECT_IS(ask().reason, PDL_REASON_NOT_ASKED);
    dependent.options = &asks;
    dependent.kernel = &erased;
    EXPECT_IS(ask().reason, PDL_REASON_TARGET);
    dependent.kernel = &elsewhere;
    elsewhere.device = 1;
    EXPECT_IS(ask().reason, PDL_REASON_DEVICES);
    dependent.kernel = &plain;
    primary.kernel = &erased;
    EXPECT_IS(ask().reason, PDL_REASON_NO_TRIGGER);
    primary.kernel = &plain;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    EXPECT_IS(ask().reason, PDL_REASON_BLOCKING);
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    EXPECT_IS(ask().reason, PDL_REASON_NONE);
    asks.cooperative = 1;
    EXPECT_IS(ask().reason, PDL_REASON_COOPERATIVE);
}

static void refuses(cudaError_t wanted, pdl_estimate *estimate, const pdl_shape *first, const pdl_shape *second)
{
    const unsigned calls = calls_made();

    if (estimate != NULL) {
        estimate->may_overlap = 1;
    }
    EXPECT_IS(pdl_overlap_estimate(estimate, first, second), wanted);
    EXPECT(estimate == NULL || estimate->may_overlap == 0);
    EXPECT(wanted == cudaErrorInvalidDevice || calls_made() == calls);
}

static void refuses_bad_input(void)
{
    pdl_estimate estimate = PDL_ZERO;
    pdl_kernel driver;

    EXPECT_IS(pdl_kernel_init_driver(&driver, function_of((const void *)plain_kernel)), cudaSuccess);
    refuses(cudaErrorInvalidValue, NULL, &primary, &dependent);
    refuses(cudaErrorInvalidValue, &estimate, NULL, &dependent);
    refuses(cudaErrorInvalidValue, &estimate, &primary, NULL);
    primary.kernel = NULL;
    refuses(cudaErrorInvalidValue, &estimate, &primary, &dependent);
    primary.kernel = &driver;
    refuses(cudaErrorInvalidValue, &estimate, &primary, &dependent);
    primary.kernel = &plain;
    primary.grid.y = 0;
    refuses(cudaErrorInvalidConfiguration, &estimate, &primary, &dependent);
    primary.grid.y = 1;
    asks.overlap = 9;
    refuses(cudaErrorInvalidValue, &estimate, &primary, &dependent);
    asks.overlap = PDL_OVERLAP_REQUIRED;
    model_fail_next("cudaDeviceGetAttribute", cudaErrorInvalidDevice);
    refuses(cudaErrorInvalidDevice, &estimate, &primary, &dependent);
    dependent.shared_bytes = 65 * 1024;
    EXPECT_IS(pdl_overlap_estimate(&estimate, &primary, &dependent), cudaErrorInvalidConfiguration);
    dependent.shared_bytes = 0;
    primary.kernel = &fixed;
    primary.shared_bytes = (size_t)-1; /* and the static 4 KiB must not wrap around */
    EXPECT_IS(pdl_overlap_estimate(&estimate, &primary, &dependent), cudaErrorInvalidConfiguration);
}

/* Each split, and the first byte that needs the next one; a GPU with less takes what it has. */
static void knows_the_splits(void)
{
    static const unsigned kib[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};
    pdl_impl_gpu gpu = PDL_ZERO;

    gpu.sm.of[PDL_IMPL_SHARED] = 228 * 1024;
    for (unsigned i = 0; i < sizeof kib / sizeof kib[0]; i++) {
        EXPECT_IS(pdl_impl_split(&gpu, kib[i] * 1024ull), kib[i] * 1024ull);
        EXPECT_IS(pdl_impl_split(&gpu, kib[i] * 1024ull + 1), (i + 1 < sizeof kib / sizeof kib[0] ? kib[i + 1] : 228) * 1024ull);
    }
    gpu.sm.of[PDL_IMPL_SHARED] = 90 * 1024;
    EXPECT_IS(pdl_impl_split(&gpu, 64 * 1024 + 1), 90 * 1024);
    EXPECT_IS(pdl_impl_split(&gpu, 200 * 1024), 90 * 1024);
}

int main(void)
{
    void (*const tests[])(void) = {counts_what_fits,    names_the_resource,       names_threads_and_registers,
                                   knows_the_carveout,  knows_the_carveout_of_both, knows_the_last_wave,
                                   names_what_is_not_a_size, refuses_bad_input, knows_the_splits};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
