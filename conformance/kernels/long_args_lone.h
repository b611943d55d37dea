/* long_args_lone.h - kernels with long arguments that get those which they had, but for one word. What looks at some of them, to see whether they
 * are the same, lets that word be. */
#ifndef LONG_ARGS_LONE_H_INCLUDED
#define LONG_ARGS_LONE_H_INCLUDED

/* The first words, those around the ends of 64, 256 and 1,024 bytes, or of those with the first arguments, and the last one. */
static const unsigned lone_places[] = { 0, 1, 14, 15, 63, 64, 255, 256, MOST_WORDS };
#define LONE_PLACES (sizeof(lone_places) / sizeof(lone_places[0]))

static unsigned lone_place(const struct long_ask *l, unsigned nth)
{
    unsigned last = l->taker->words - 1;

    return lone_places[nth] < last ? lone_places[nth] : last;
}

/* Launches the kernel twice, the second time with another word there, and looks at what that one tells. */
static cudaError_t launch_lone(struct long_ask *l, const struct way *way, unsigned place)
{
    cudaError_t error = launch_long(l, way);

    l->args.more[place] ^= 1u << place % 32;
    if (error == cudaSuccess)
        error = launch_long(l, way);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->stream);
    l->wrong += error == cudaSuccess && args_differ(l);
    l->trial++;
    return error;
}

/* By each call, with attribute 6 and without it, of 1,024 bytes, 4,000 bytes and the greatest length. */
static void ask_lone_launches(struct long_ask *l)
{
    static const unsigned lengths[] = { 8, 10, 13 };
    cudaError_t error = cudaSuccess;
    unsigned which, nth;

    l->stream = l->ask->stream;
    for (which = 0; which < 8u * sizeof(lengths) / sizeof(lengths[0]); which++) {
        struct way way = { MANNER_PLAIN, CATCHING_NOTHING, (int)(which % 2), 0, 0, (int)(which / 2 % 2), (int)(which / 4 % 2) };
        l->taker = &takers[lengths[which / 8]];
        if (lengths[which / 8] >= l->takers)
            break;
        next_args(l);
        for (nth = 0; nth < LONE_PLACES && error == cudaSuccess; nth++)
            error = launch_lone(l, &way, lone_place(l, nth));
    }
    ask_expect(l->ask, "launches with one word of long arguments changed", error, cudaSuccess);
}

/* Each way that gives a node other arguments, of 4,104 bytes where that many are taken. */
static void ask_lone_nodes(struct long_ask *l)
{
    unsigned way, nth, which = l->takers > 12 ? 12 : 10;
    cudaError_t error = cudaSuccess;

    l->taker = &takers[which];
    for (way = 0; way < (unsigned)WAYS_ASKED; way++)
        for (nth = way % 2; nth < LONE_PLACES && gives_others((enum long_way)way) && error == cudaSuccess; nth += 2) {
            l->lone = lone_place(l, nth) + 1;
            error = run_node(l, (enum long_way)way, which);
        }
    l->lone = 0;
    ask_expect(l->ask, "nodes with one word of long arguments changed", error, cudaSuccess);
}

#endif
