/* crowds_begun.h - what crowds.cu asks of events at block starts: in grids of which a few blocks have room at a time, the waiter begins after
 * the last one has begun. */
#ifndef CROWDS_BEGUN_H_INCLUDED
#define CROWDS_BEGUN_H_INCLUDED

#include "start.h"

/* There is room for plan.residents blocks, so the last one cannot have begun before all but so many have left. */
KERNEL(crowds_busy)
{
    struct trial_plan plan = k_plan(&args);

    watches(&args, &plan, k_blocks() - plan.residents);
    k_add(&args.state->left, 1);
    k_fence();
}

KERNEL(crowds_waiter) { k_store_relaxed(&args.state->alive, 1); }

/* What comes after it begins while the grid runs. */
KERNEL(crowds_spacer)
{
    struct trial_plan plan = k_plan(&args);

    (void)k_poll(args.state, &args.state->left, 1, plan.bound_ns);
}

struct begun {
    struct crowd *crowd;
    struct kernel_args args;   /* its state lies in the device's memory: each block adds to it */
    size_t shared_bytes;       /* of which an SM has enough for one block, and for what needs none beside it */
    cudaEvent_t event;
    int greatest;              /* priority */
    unsigned early, trials, seen;
};

static cudaError_t open_begun(struct begun *b, struct crowd *crowd)
{
    const void *function = (const void *)SYMBOL(crowds_busy);
    const void *const all[] = { function, (const void *)SYMBOL(crowds_spacer), (const void *)SYMBOL(crowds_waiter) };
    unsigned i;
    int device = 0, sms = 0, per_sm = 0, fit = 0, least;
    cudaError_t error = cudaGetDevice(&device);

    b->crowd = crowd;
    b->args = crowd->args;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    b->shared_bytes = (size_t)per_sm / 2 + 1024;
    for (i = 0; i < 3 && error == cudaSuccess; i++) /* the same for all, so that no SM has to be idle between them */
        error = cudaFuncSetAttribute(all[i], cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)b->shared_bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, 1, b->shared_bytes);
    crowd->room->plan.residents = (uint32_t)(sms * fit);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &b->greatest);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&b->args.state, sizeof(*b->args.state));
    return error == cudaSuccess ? cudaEventCreateWithFlags(&b->event, cudaEventDisableTiming) : error;
}

static void close_begun(struct begun *b)
{
    (void)cudaDeviceSynchronize();
    if (b->event)
        (void)cudaEventDestroy(b->event);
    if (b->args.state != b->crowd->args.state)
        (void)cudaFree(b->args.state);
}

/* In the side stream, after the event of the grid's launch; as a control after a kernel that has seen that the grid runs. */
static cudaError_t launch_waiter(struct begun *b, int control)
{
    cudaStream_t side = b->crowd->ask->side;
    cudaLaunchAttribute urgent = of_priority(b->greatest); /* else it could queue after blocks that have not begun */
    cudaError_t error;

    error = control ? launch_one((const void *)SYMBOL(crowds_spacer), &b->args, 1, side, &urgent, 1) : cudaStreamWaitEvent(side, b->event, 0);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(crowds_waiter), &b->args, 1, side, &urgent, 1) : error;
}

static cudaError_t run_begun(struct begun *b, unsigned blocks, int control)
{
    cudaStream_t stream = b->crowd->ask->stream;
    cudaLaunchAttribute at_start = recording(b->event);
    struct trial_state state;
    cudaError_t error = cudaMemset(b->args.state, 0, sizeof(state));

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    at_start.val.programmaticEvent.triggerAtBlockStart = 1;
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_busy), &b->args, blocks, 1, b->shared_bytes, stream, &at_start, 1);
    if (error == cudaSuccess)
        error = launch_waiter(b, control);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(&state, b->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return error;
    b->trials += control ? 0 : 1;
    *(control ? &b->seen : &b->early) += state.early != 0;
    return cudaSuccess;
}

static void ask_begun(struct crowd *crowd)
{
    static const unsigned sizes[] = { 65, 257, 300,
#ifndef PDL_MODEL
                                      513, 1025, 65537
#endif
    };
    unsigned count = sizeof(sizes) / sizeof(sizes[0]), i;
    struct begun b = PDL_ZERO;
    cudaError_t error;

    prepare_trial(crowd->room, 0);
    crowd->room->plan.hold_ns = 1000 + 4 * (uint32_t)crowd->tick_ns;
    crowd->room->plan.bound_ns = CROWD_BOUND_NS;
    error = open_begun(&b, crowd);
    for (i = 0; i < 3 * count && error == cudaSuccess; i++)
        if (sizes[i % count] > 2 * crowd->room->plan.residents)
            error = run_begun(&b, sizes[i % count], i / count == 2);
    ask_expect(crowd->ask, "events at block starts", error, cudaSuccess);
    if (error == cudaSuccess && b.seen == 0)
        ask_skip(crowd->ask, "events at block starts", "no kernel without dependency had room beside the grid");
    ask_expect_none(crowd->ask, "waiters for an event at block starts that began before the last block", b.early, b.trials);
    close_begun(&b);
}

#endif
