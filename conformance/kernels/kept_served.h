/* kept_served.h - the question of kept.cu with the loop of a server: what a step launches is captured, the one executable graph is updated from
 * that, and launched. */
#ifndef KEPT_SERVED_H_INCLUDED
#define KEPT_SERVED_H_INCLUDED

#define SERVED 40u             /* steps */
#define SERVED_AT_ONCE 8u      /* of them under way */
#define SERVED_WORDS 3u        /* of each step: one of each kernel */
#define SERVED_HOLD 8000u      /* nanoseconds */

/* Triggers, and stores late. */
KERNEL(kept_serves)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_store(args.data, 1);
}

KERNEL(kept_hands_on)
{
    k_trigger();
    k_wait_device();
    k_store(args.seen, k_load(args.data));
}

struct served {
    struct kept *kept;
    struct host_room *room;    /* of the plan */
    struct kernel_args args;
    uint32_t *words, *on_device; /* pinned */
    cudaEvent_t event, joins;
    cudaGraphExec_t exec;
    unsigned forks;            /* the second dependent comes after the launch's event, in another stream; else after the first one */
};

/* From the one word of this step to the other one. */
static cudaError_t hand_on(const struct served *s, unsigned step, unsigned from, unsigned to, cudaStream_t stream, unsigned overlaps)
{
    struct kernel_args args = s->args;
    cudaLaunchAttribute six = serialization(1);

    args.data = s->on_device + step * SERVED_WORDS + from;
    args.seen = s->on_device + step * SERVED_WORDS + to;
    return launch_one((const void *)SYMBOL(kept_hands_on), &args, 1, stream, &six, overlaps);
}

static cudaError_t fork_served(const struct served *s, unsigned step)
{
    cudaStream_t side = s->kept->ask->side;
    cudaError_t error = cudaStreamWaitEvent(side, s->event, 0);

    if (error == cudaSuccess)
        error = hand_on(s, step, 0, 2, side, 0);
    return error == cudaSuccess ? cudaEventRecord(s->joins, side) : error;
}

static cudaError_t launch_served(const struct served *s, unsigned step)
{
    cudaStream_t stream = s->kept->ask->stream;
    cudaLaunchAttribute records = recording(s->event);
    struct kernel_args args = s->args;
    cudaError_t error;

    args.data = s->on_device + step * SERVED_WORDS;
    error = launch_one((const void *)SYMBOL(kept_serves), &args, 1, stream, &records, s->forks);
    if (error == cudaSuccess && s->forks)
        error = fork_served(s, step);
    if (error == cudaSuccess)
        error = hand_on(s, step, 0, 1, stream, 1);
    if (error != cudaSuccess)
        return error;
    return s->forks ? cudaStreamWaitEvent(stream, s->joins, 0) : hand_on(s, step, 1, 2, stream, 1);
}

static cudaError_t capture_served(const struct served *s, unsigned step, cudaGraph_t *graph)
{
    cudaStream_t stream = s->kept->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_served(s, step);
    end = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? end : error;
}

static cudaError_t serve(struct served *s, unsigned step)
{
    cudaStream_t stream = s->kept->ask->stream;
    cudaGraph_t graph = NULL;
    cudaError_t error = capture_served(s, step, &graph);

    if (error == cudaSuccess)
        error = s->exec ? update_from(s->exec, graph) : cudaGraphInstantiate(&s->exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(s->exec, stream);
    return error == cudaSuccess && (step + 1) % SERVED_AT_ONCE == 0 ? cudaStreamSynchronize(stream) : error;
}

static cudaError_t open_served(struct served *s)
{
    size_t bytes = SERVED * SERVED_WORDS * sizeof(uint32_t);
    cudaError_t error = cudaHostAlloc((void **)&s->words, bytes, cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&s->on_device, s->words, 0);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&s->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&s->joins, cudaEventDisableTiming);
    if (error == cudaSuccess)
        memset(s->words, 0, bytes);
    s->room->plan.hold_ns = SERVED_HOLD;
    return error;
}

static void close_served(struct served *s)
{
    (void)cudaDeviceSynchronize();
    if (s->exec)
        (void)cudaGraphExecDestroy(s->exec);
    if (s->event)
        (void)cudaEventDestroy(s->event);
    if (s->joins)
        (void)cudaEventDestroy(s->joins);
    (void)cudaFreeHost(s->words);
    (void)cudaFreeHost(s->room);
}

static void ask_served(struct kept *kept, unsigned forks)
{
    const char *name = forks ? "a fork, captured, updated and launched many times" : "a row, captured, updated and launched many times";
    struct served s = PDL_ZERO;
    volatile const uint32_t *words;
    unsigned wrong = 0, i;
    cudaError_t error;

    s.kept = kept;
    s.forks = forks;
    if (!open_room(&s.room, &s.args)) {
        ask_skip(kept->ask, "pinned host memory", "none was given");
        return;
    }
    error = open_served(&s);
    for (i = 0; i < SERVED && error == cudaSuccess; i++)
        error = serve(&s, i);
    words = s.words;
    for (i = 0; i < SERVED * SERVED_WORDS && error == cudaSuccess; i++)
        wrong += words[i] != 1;
    ask_expect(kept->ask, name, error, cudaSuccess);
    ask_expect_none(kept->ask, forks ? "stale words of a fork that is updated many times" : "stale words of a row that is updated many times", wrong,
                    SERVED * SERVED_WORDS);
    close_served(&s);
}

#endif
