/* long_args_late.h - the first blocks of a grid have triggered, others have not begun yet, and many launches of the same kernel are queued after
 * it. Each block finds the arguments of its own launch, whatever attributes that has. */
#ifndef LONG_ARGS_LATE_H_INCLUDED
#define LONG_ARGS_LATE_H_INCLUDED

#ifdef PDL_MODEL
#define LATE_BLOCKS 300u
#else
#define LATE_BLOCKS 12000u     /* more than have room: the first half of them hold their places */
#endif
#define LATE_BEHIND 40u        /* launches, of one block each */
#define LATE_HOLD_NS 60000u

/* The grid's attribute: none; an event for nobody, recorded at triggers, at block starts or at launch completion; attribute 6; clusters. */
enum late_way { LATE_PLAIN, LATE_TRIGGERS, LATE_STARTS, LATE_COMPLETION, LATE_DEPENDENT, LATE_CLUSTERED, LATE_WAYS };
#define LATE_TRIALS (LATE_WAYS + 1u) /* the first two are plain, with arguments of each length */

static int is_late_told(const struct long_ask *l, uint32_t at) { return ((volatile const uint32_t *)l->told)[at] == told_word(l, 0); }

/* They have the attribute by turns; all tell the first word of their arguments. */
static cudaError_t launch_behind_late(struct long_ask *l, uint32_t *told)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = cudaSuccess;
    unsigned nth;

    for (nth = 1; nth <= LATE_BEHIND && error == cudaSuccess; nth++) {
        queued_args(l, told, 0);
        l->args.more[0] += nth;
        l->args.head.seen = told + LATE_BLOCKS + nth;
        error = launch_given(l->taker->kernel, &l->args, 1, 1, 0, l->stream, &attribute, nth % 2);
    }
    return error;
}

static unsigned look_at_late(struct long_ask *l, uint32_t *told)
{
    unsigned i, differs = 0;

    queued_args(l, told, 0);
    for (i = 0; i < LATE_BLOCKS; i++)
        differs |= !is_late_told(l, i);
    for (i = 1; i <= LATE_BEHIND; i++) {
        l->args.more[0]++;
        differs |= !is_late_told(l, LATE_BLOCKS + i);
    }
    return differs;
}

/* The grid. A device that has no launch-completion events launches it without. */
static cudaError_t launch_late(struct long_ask *l, enum late_way way)
{
    cudaLaunchAttribute attribute = way == LATE_COMPLETION  ? recording_begin(l->event)
                                    : way == LATE_DEPENDENT ? serialization(1)
                                    : way == LATE_CLUSTERED ? in_clusters(2)
                                                            : recording_at(l->event, way == LATE_STARTS);
    cudaError_t error = launch_given(l->taker->kernel, &l->args, LATE_BLOCKS, 1, 0, l->stream, &attribute, way != LATE_PLAIN);

    if (way != LATE_COMPLETION || !is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    return launch_late(l, LATE_PLAIN);
}

/* What stands behind the grid is launched once its first block has triggered. */
static cudaError_t run_late(struct long_ask *l, enum late_way way, unsigned *wrong)
{
    volatile const uint32_t *alive = &l->room->state.alive;
    uint32_t *told = l->args.head.seen;
    cudaError_t error;

    next_args(l);
    l->room->plan.hold_ns = LATE_HOLD_NS;
    l->room->plan.residents = LATE_BLOCKS / 2;
    memset(l->told, 0, (LATE_BLOCKS + LATE_BEHIND + 1) * sizeof(uint32_t));
    queued_args(l, told, 0);
    error = launch_late(l, way);
    while (error == cudaSuccess && !*alive && cudaStreamQuery(l->stream) == cudaErrorNotReady) {
    }
    (void)cudaGetLastError();
    if (error == cudaSuccess)
        error = launch_behind_late(l, told);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(l->stream);
    *wrong += error == cudaSuccess && look_at_late(l, told);
    l->args.head.seen = told;
    l->trial++;
    return error;
}

static void ask_late(struct long_ask *l)
{
    static const struct taker late[] = {
        { (const void *)SYMBOL(long_args_late_of_104), (104 - sizeof(struct kernel_args)) / 4 },
        { (const void *)SYMBOL(long_args_late_of_1024), (1024 - sizeof(struct kernel_args)) / 4 },
    };
    unsigned i, wrong = 0;
    cudaError_t error;

    l->event = NULL;
    error = cudaEventCreateWithFlags(&l->event, cudaEventDisableTiming);
    for (i = 0; i < LATE_TRIALS && error == cudaSuccess; i++) {
        l->taker = &late[i % 2];
        error = run_late(l, i == 0 ? LATE_PLAIN : (enum late_way)(i - 1), &wrong);
    }
    if (l->event)
        (void)cudaEventDestroy(l->event);
    l->event = NULL;
    ask_expect(l->ask, "launches after a grid whose blocks have not all begun", error, cudaSuccess);
    ask_expect_none(l->ask, "grids in which blocks, or the launch after them, found the arguments of another launch", wrong, LATE_TRIALS);
}

#endif
