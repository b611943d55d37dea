/* crowds_told.h - when the host is told of events that launches of crowds_begun.h record. */
#ifndef CROWDS_TOLD_H_INCLUDED
#define CROWDS_TOLD_H_INCLUDED

/* The host waits for the event, or asks until it is complete; then it looks at the words of the blocks that have left. */
static cudaError_t be_told(struct begun *b, unsigned blocks, int polls, unsigned *left)
{
    volatile const uint32_t *words = b->left;
    cudaError_t error;
    unsigned i;

    do
        error = polls ? cudaEventQuery(b->event) : cudaEventSynchronize(b->event);
    while (error == cudaErrorNotReady);
    for (i = *left = 0; i < blocks; i++)
        *left += words[i];
    b->told += error == cudaSuccess;
    return error;
}

/* When the last block has begun, no more than have room have not left. */
static cudaError_t tell_of_starts(struct begun *b, unsigned blocks, int polls, unsigned dress)
{
    static const void *const leavers[2] = { (const void *)SYMBOL(crowds_leaver), (const void *)SYMBOL(crowds_leaver_long) };
    struct kernel_args args = b->args;
    unsigned left = 0;
    cudaError_t error;

    memset(b->left, 0, blocks * sizeof(uint32_t));
    args.data = b->left;
    error = launch_recorder(b, leavers, &args, &blocks, dress, HINT_KINDS);
    if (error == cudaSuccess)
        error = be_told(b, blocks, polls, &left);
    b->told_early += error == cudaSuccess && left + b->crowd->room->plan.residents < blocks;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* A kernel, and one that comes after it in its stream, whose event the host is told of; again: the first one records the event, too. */
static cudaError_t tell_of_completion(struct begun *b, int polls, unsigned dress, int again)
{
    cudaStream_t stream = b->crowd->ask->stream;
    cudaLaunchAttribute attrs[3] = { recording_begin(b->event) };
    unsigned more = dress_crowd(dress, b->greatest, attrs + 1), left = 0;
    struct kernel_args args = b->args;
    cudaError_t error;

    b->left[0] = b->left[1] = 0;
    args.data = b->left;
    error = launch_one((const void *)SYMBOL(crowds_leaver), &args, 1, stream, attrs, again);
    args.data++;
    if (error == cudaSuccess)
        error = launch_sized((const void *)SYMBOL(crowds_leaver), &args, dress == DRESS_CLUSTERS ? 2 : 1, 1, dress_bytes(dress), stream, attrs,
                             1 + more);
    if (error == cudaSuccess)
        error = be_told(b, 1, polls, &left);
    b->told_early += error == cudaSuccess && left == 0;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The event of a launch comes once all its blocks have triggered or left, with the attribute and without. */
static cudaError_t tell_of_triggers(struct begun *b, int polls, int attributed)
{
    cudaLaunchAttribute attrs[2] = { recording_at(b->event, 0), serialization(1) };
    struct kernel_args args = b->args;
    unsigned blocks = 2, left = 0;
    cudaError_t error;

    memset(b->left, 0, blocks * sizeof(uint32_t));
    args.data = b->left;
    error = launch_sized((const void *)SYMBOL(crowds_first_triggers), &args, blocks, 1, 0, b->crowd->ask->stream, attrs, attributed ? 2 : 1);
    if (error == cudaSuccess)
        error = be_told(b, blocks, polls, &left);
    b->told_early += error == cudaSuccess && left + 1 < blocks;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void ask_told(struct begun *b, const unsigned *sizes, unsigned count)
{
    struct crowd *crowd = b->crowd;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < 2 * BEGUN_DRESSES * count && error == cudaSuccess; i++)
        if (sizes[i / 2 % count] > 2 * crowd->room->plan.residents)
            error = tell_of_starts(b, sizes[i / 2 % count], i % 2, i / 2 / count);
    crowd->room->plan.hold_ns = TOLD_HOLD_NS;
    for (i = 0; i < 4 * BEGUN_LAYERS && error == cudaSuccess; i++)
        error = tell_of_completion(b, i % 2, i / 2 % BEGUN_LAYERS, i / 2 / BEGUN_LAYERS);
    crowd->room->plan.hold_ns = TOLD_HOLD_NS / 2; /* of more trials: the host need not be told early by a device that may */
    for (i = 0; i < 16 && error == cudaSuccess; i++)
        error = tell_of_triggers(b, i % 2, i / 2 % 4 != 0);
    ask_expect(crowd->ask, "events of launches that the host is told of", error, cudaSuccess);
    ask_expect_none(crowd->ask, "events that the host was told of before the last block, or the kernel, had begun, or triggered",
                    b->told_early, b->told);
}

#endif
