/* joins_threads.h - the pair of joins.cu whose dependents are launched by another host thread, or by another call, than their primary. */
#ifndef JOINS_THREADS_H_INCLUDED
#define JOINS_THREADS_H_INCLUDED

#define THREAD_BOUND_NS 200000u /* so long a primary waits for its dependent where another thread has to begin before that */

enum elsewhere { ELSEWHERE_NONE, ELSEWHERE_PRIMARY, ELSEWHERE_DEPENDENT, ELSEWHERES }; /* what another host thread launches */

struct launching {
    const void *kernel;
    void *args;
    cudaStream_t stream;
    enum manner manner[2];
    int overlaps, by_driver;
    cudaError_t error;
};

static void launch_now(void *of)
{
    struct launching *l = (struct launching *)of;
    cudaLaunchAttribute attrs[3];
    cudaLaunchConfig_t config;

    l->error = config_in_manners(&config, attrs, PLACE_WORDS, l->stream, l->manner[0], l->manner[1], l->overlaps);
    if (l->error == cudaSuccess)
        l->error = l->by_driver ? launch_by_driver(&config, l->kernel, &l->args) : cudaLaunchKernelExC(&config, l->kernel, &l->args);
}

static cudaError_t launch_here_or_there(struct launching *l, int there)
{
    if (!there || !run_in_thread(launch_now, l))
        launch_now(l);
    return l->error;
}

/* The stream is made by another host thread. */
struct opening {
    enum stream_kind kind;
    cudaStream_t stream;
    cudaError_t error;
};

static void open_now(void *of)
{
    struct opening *opening = (struct opening *)of;

    opening->error = open_kind(opening->kind, &opening->stream);
}

static cudaError_t open_here_or_there(enum stream_kind kind, cudaStream_t *stream, int there)
{
    struct opening opening = { kind, NULL, cudaSuccess };

    if (!there || !run_in_thread(open_now, &opening))
        open_now(&opening);
    *stream = opening.stream;
    return opening.error;
}

/* Another host thread launches a kernel that does nothing, in its own per-thread stream. */
static cudaError_t launch_between(struct joins *joins)
{
    struct launching l = { (const void *)SYMBOL(joins_silent), &joins->work[0], cudaStreamPerThread, { MANNER_PLAIN, MANNER_PLAIN }, 0, 0,
                           cudaSuccess };

    if (!run_in_thread(launch_now, &l))
        ask_skip(joins->ask, "a launch by another thread", "no thread could be had");
    return l.error;
}

/* The driver launches for the thread that has worked in its context before. Of four dependents two have read the words before they wait. In
 * one of three rounds another thread launches something between primary and dependent, in one it has made the stream. */
static cudaError_t depend_elsewhere(struct joins *joins, enum stream_kind kind, enum elsewhere there)
{
    unsigned turn = joins->round;
    const void *dependent = turn / 2 % 2 ? (const void *)SYMBOL(joins_early_follower) : (const void *)SYMBOL(AWAITING_FOLLOWER);
    struct launching first = { (const void *)SYMBOL(joins_work), &joins->work[0], NULL,
                               { (enum manner)drawn(joins, 5, MANNERS), (enum manner)drawn(joins, 50, MANNERS) }, (int)drawn(joins, 2, 2),
                               there != ELSEWHERE_PRIMARY && turn / 4 % 2, cudaSuccess };
    struct launching then = { dependent, &joins->follower[0], NULL,
                              { (enum manner)drawn(joins, 51, MANNERS), (enum manner)drawn(joins, 52, MANNERS) }, 1,
                              there != ELSEWHERE_DEPENDENT && turn % 2, cudaSuccess };
    cudaStream_t stream = NULL;
    cudaError_t error = open_here_or_there(kind, &stream, turn % 3 == 2);

    prepare(joins, 1, 1);
    if (turn % 3 == 1)
        joins->pinned->plan[0].bound_ns = THREAD_BOUND_NS;
    first.stream = stream;
    then.stream = FOLLOWS_IN(joins, stream);
    if (error == cudaSuccess)
        error = launch_here_or_there(&first, there == ELSEWHERE_PRIMARY);
    if (error == cudaSuccess && turn % 3 == 1)
        error = launch_between(joins);
    if (error == cudaSuccess)
        error = launch_here_or_there(&then, there == ELSEWHERE_DEPENDENT);
    close_kind(&stream);
    return error;
}

/* Each thread has a per-thread stream of its own. */
static cudaError_t depend_per_thread(struct joins *joins) { return depend_elsewhere(joins, STREAM_PER_THREAD, ELSEWHERE_NONE); }
static cudaError_t depend_here(struct joins *joins)
{
    return depend_elsewhere(joins, (enum stream_kind)(joins->round / 8 % STREAM_KINDS), ELSEWHERE_NONE);
}

#define DEPENDS_ELSEWHERE(NAME, KIND) \
    static cudaError_t NAME(struct joins *joins) \
    { \
        return depend_elsewhere(joins, KIND, joins->round / 2 % 2 ? ELSEWHERE_PRIMARY : ELSEWHERE_DEPENDENT); \
    }

DEPENDS_ELSEWHERE(depend_elsewhere_plainly, STREAM_PLAIN)
DEPENDS_ELSEWHERE(depend_elsewhere_urgently, STREAM_URGENT)
DEPENDS_ELSEWHERE(depend_elsewhere_in_blocking, STREAM_BLOCKING)
DEPENDS_ELSEWHERE(depend_elsewhere_in_legacy, STREAM_LEGACY)

/* ---- beside a capture of another host thread ---- */

struct beside {
    struct joins *joins;
    cudaEvent_t event;
    cudaError_t error;
};

/* By turns a dependent; a follower in another stream, which waits for an event; a follower in the same stream. */
static void queue_beside(void *of)
{
    struct beside *beside = (struct beside *)of;
    struct joins *joins = beside->joins;
    unsigned way = joins->round % 3;
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = work(joins, 0, joins->stream[0]);

    if (error == cudaSuccess && way == 0)
        error = launch_one((const void *)SYMBOL(AWAITING_FOLLOWER), &joins->follower[0], PLACE_WORDS,
                           FOLLOWS_IN(joins, joins->stream[0]), &attribute, 1);
    if (error == cudaSuccess && way == 1)
        error = record_and_await(beside->event, joins->stream[0], joins->stream[1]);
    if (error == cudaSuccess && way != 0)
        error = follow(joins, 0, joins->stream[way == 1]);
    beside->error = error;
}

/* One thread captures, in each mode in turn, while another one launches in streams that have no part in that. Nothing is made meanwhile, and
 * the first trials capture nothing: a kernel that is launched the first time may be loaded then. */
static cudaError_t launch_beside_capture(struct joins *joins)
{
    static const enum cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal,
                                                        cudaStreamCaptureModeRelaxed };
    cudaStream_t captures = joins->stream[2];
    unsigned turn = joins->round / 3;
    struct beside beside = { joins, NULL, cudaSuccess };
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&beside.event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess && turn != 0)
        error = cudaStreamBeginCapture(captures, modes[turn % 3]);
    if (error == cudaSuccess)
        error = silent(joins, captures);
    if (error == cudaSuccess && !run_in_thread(queue_beside, &beside))
        joins->unasked = 1;
    if (error == cudaSuccess && turn != 0)
        error = cudaStreamEndCapture(captures, &graph);
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (beside.event)
        (void)cudaEventDestroy(beside.event);
    return error == cudaSuccess ? beside.error : error;
}

static void ask_threads(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in a dependent, by the driver or the runtime", depend_here },
        { "stale in a dependent in the per-thread stream, by the driver or the runtime", depend_per_thread },
        { "stale in a dependent of another thread than its primary", depend_elsewhere_plainly },
        { "stale in a dependent of another thread than its primary, in a stream of high priority", depend_elsewhere_urgently },
        { "stale in a dependent of another thread than its primary, in a blocking stream", depend_elsewhere_in_blocking },
        { "stale in a dependent of another thread than its primary, in the legacy stream", depend_elsewhere_in_legacy },
        { "stale after work of the same thread, while another thread captures", launch_beside_capture },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
