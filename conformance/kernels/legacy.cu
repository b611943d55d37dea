/* legacy.cu - the legacy default stream and several blocking streams: each waits for the other without an event.
 *
 * pair     rules     what is asked
 * streams  COMP-06b  gather: work in every blocking stream, then one follower in the legacy stream; scatter: work in the legacy
 *                    stream, then a follower in every blocking stream; through: work in every blocking stream, one item in the
 *                    legacy stream, then a follower in every blocking stream. Who is slowest changes from trial to trial
 * sources  COMP-06c  a host function or a copy writes pinned memory in one of them, then a copy in the other one reads it
 *
 * A follower is a kernel that does not wait, one with the attribute that waits, a copy, a graph, or a memset of the words of the work.
 * Work is a kernel that triggers first thing, launched or in a graph. Mutant `otherstream`: what stands in the legacy stream goes to a
 * non-blocking one.
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"

#ifdef MUTANT_otherstream
#define LEGACY_STREAM(ask) ((ask)->side)
#else
#define LEGACY_STREAM(ask) cudaStreamLegacy
#endif

#define PLACES 4u              /* blocking streams; the last is the per-thread default stream */
#define PLACE_WORDS 16u
#define ALL_WORDS (PLACES * PLACE_WORDS)
#define SET_BYTE 0x3C

KERNEL(legacy_work) { slow_stores(&args); }
KERNEL(legacy_follower) { follower_copies(&args, 0); }
KERNEL(legacy_waiting_follower) { follower_copies(&args, 1); }
KERNEL(legacy_item) { (void)args; }

enum shape { SHAPE_GATHER, SHAPE_SCATTER, SHAPE_THROUGH, SHAPES };
enum follower { FOLLOWER_PLAIN, FOLLOWER_ATTRIBUTE, FOLLOWER_COPY, FOLLOWER_GRAPH, FOLLOWER_SET, FOLLOWERS };

struct pinned {                /* plans of the work, then the followers'; what the two sides tell each other; what a copy reads */
    struct trial_plan plan[PLACES + 1];
    struct trial_state state;
    uint32_t source[PLACE_WORDS];
};

struct streets {
    struct ask *ask;
    cudaStream_t stream[PLACES];
    struct pinned *pinned;
    uint32_t *data, *item;     /* device memory: the words of the work, then what each follower saw of them */
    struct kernel_args work[PLACES], follower[PLACES];
    cudaGraphExec_t work_graph[PLACES], follower_graph[PLACES];
    unsigned trial, works, followers;
};

/* The trial's nth choice of two: drawn, since shape, follower and the slowest work go by the trial's number. */
static int drawn(const struct streets *streets, unsigned n) { return (int)(words_fresh(0x57EE7, streets->trial) >> n & 1); }

static cudaError_t street_streams(struct streets *streets)
{
    int least, high;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &high);

    streets->stream[PLACES - 1] = cudaStreamPerThread;
    if (error == cudaSuccess)
        error = cudaStreamCreate(&streets->stream[0]);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&streets->stream[1], cudaStreamDefault);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&streets->stream[2], cudaStreamDefault, high) : error;
}

static cudaError_t open_streets(struct streets *streets)
{
    char *device = NULL;
    unsigned i;
    cudaError_t error = street_streams(streets);

    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&streets->pinned, sizeof(*streets->pinned), cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, streets->pinned, 0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&streets->data, ((PLACES + 1) * ALL_WORDS + 4) * sizeof(uint32_t));
    if (error == cudaSuccess)
        memset(streets->pinned, 0, sizeof(*streets->pinned));
    streets->item = streets->data + (PLACES + 1) * ALL_WORDS;
    for (i = 0; i < PLACES && error == cudaSuccess; i++) {
        struct kernel_args *work = &streets->work[i], *follower = &streets->follower[i];
        work->plan = (const struct trial_plan *)(device + offsetof(struct pinned, plan)) + i;
        work->state = follower->state = (struct trial_state *)(device + offsetof(struct pinned, state));
        work->data = streets->data + i * PLACE_WORDS;
        follower->plan = (const struct trial_plan *)(device + offsetof(struct pinned, plan)) + PLACES;
        follower->data = streets->data;
        follower->seen = streets->data + (i + 1) * ALL_WORDS;
        error = ask_graph_of_kernel(&streets->work_graph[i], (const void *)SYMBOL(legacy_work), work, PLACE_WORDS);
        if (error == cudaSuccess)
            error = ask_graph_of_kernel(&streets->follower_graph[i], (const void *)SYMBOL(legacy_follower), follower, PLACE_WORDS);
    }
    return error;
}

static void close_streets(struct streets *streets)
{
    unsigned i;

    for (i = 0; i < PLACES; i++) {
        if (streets->work_graph[i])
            (void)cudaGraphExecDestroy(streets->work_graph[i]);
        if (streets->follower_graph[i])
            (void)cudaGraphExecDestroy(streets->follower_graph[i]);
        if (i < PLACES - 1 && streets->stream[i])
            (void)cudaStreamDestroy(streets->stream[i]);
    }
    (void)cudaFree(streets->data);
    (void)cudaFreeHost(streets->pinned);
}

/* One of the places holds longest; the poison is what no work stores. */
static cudaError_t prepare_streets(struct streets *streets, unsigned works, unsigned followers)
{
    static uint32_t poison[(PLACES + 1) * ALL_WORDS];
    struct pinned *pinned = streets->pinned;
    struct trial_state empty = PDL_ZERO;
    cudaError_t error;
    unsigned i;

    streets->works = works;
    streets->followers = followers;
    plan_works(pinned->plan, PLACES, 0x57EE7, streets->trial, works, PLACE_WORDS);
    pinned->state = empty;
    for (i = 0; i < (PLACES + 1) * ALL_WORDS; i++)
        poison[i] = ~words_fresh(pinned->plan[i % ALL_WORDS / PLACE_WORDS].key, i % PLACE_WORDS);
    error = cudaMemcpy(streets->data, poison, sizeof(poison), cudaMemcpyHostToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error; /* that copy may end after its call */
}

static cudaError_t queue_work(struct streets *streets, unsigned place, cudaStream_t stream, int graph)
{
    return graph ? cudaGraphLaunch(streets->work_graph[place], stream)
                 : launch_one((const void *)SYMBOL(legacy_work), &streets->work[place], PLACE_WORDS, stream, NULL, 0);
}

/* Each follower sets a share of the words that the work stores, of another stream's work where there are several: what comes too early,
 * the work stores over. */
static cudaError_t queue_set(const struct streets *streets, unsigned place, cudaStream_t stream)
{
    unsigned share = streets->works * PLACE_WORDS / streets->followers;

    return cudaMemsetAsync(streets->data + (place + 1) % streets->followers * share, SET_BYTE, share * sizeof(uint32_t), stream);
}

static cudaError_t queue_follower(struct streets *streets, unsigned place, cudaStream_t stream, enum follower kind)
{
    const struct kernel_args *args = &streets->follower[place];
    cudaLaunchAttribute attribute = serialization(1);

    switch (kind) {
    case FOLLOWER_ATTRIBUTE: return launch_one((const void *)SYMBOL(legacy_waiting_follower), args, PLACE_WORDS, stream, &attribute, 1);
    case FOLLOWER_COPY:
        if (stream == cudaStreamLegacy && drawn(streets, 2))
            return cudaMemcpy(args->seen, args->data, ALL_WORDS * sizeof(uint32_t), cudaMemcpyDeviceToDevice);
        return cudaMemcpyAsync(args->seen, args->data, ALL_WORDS * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream);
    case FOLLOWER_GRAPH: return cudaGraphLaunch(streets->follower_graph[place], stream);
    case FOLLOWER_SET: return queue_set(streets, place, stream);
    default: return launch_one((const void *)SYMBOL(legacy_follower), args, PLACE_WORDS, stream, NULL, 0);
    }
}

/* Whatever it is, work in the legacy stream stands between the blocking streams. */
static cudaError_t queue_item(struct streets *streets, cudaStream_t stream, int kernel)
{
    return kernel ? launch_one((const void *)SYMBOL(legacy_item), &streets->follower[0], 1, stream, NULL, 0)
                  : cudaMemsetAsync(streets->item, 0, 4 * sizeof(uint32_t), stream);
}

static cudaError_t queue_streets(struct streets *streets, enum shape shape, enum follower kind, unsigned works, unsigned followers)
{
    cudaStream_t legacy = LEGACY_STREAM(streets->ask);
    int graph = drawn(streets, 0);
    cudaError_t error = prepare_streets(streets, works, followers);
    unsigned i;

    for (i = 0; i < works && error == cudaSuccess; i++)
        error = queue_work(streets, i, shape == SHAPE_SCATTER ? legacy : streets->stream[i], graph);
    if (error == cudaSuccess && shape == SHAPE_THROUGH)
        error = queue_item(streets, legacy, drawn(streets, 1));
    for (i = 0; i < followers && error == cudaSuccess; i++)
        error = queue_follower(streets, i, shape == SHAPE_GATHER ? legacy : streets->stream[i], kind);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* seen: the words of the work, as one follower saw them, or as all left them. */
static unsigned follower_is_stale(const struct streets *streets, const uint32_t *seen, int set)
{
    unsigned i;

    for (i = 0; i < streets->works * PLACE_WORDS; i++)
        if (seen[i] != (set ? SET_BYTE * 0x01010101u : words_fresh(streets->pinned->plan[i / PLACE_WORDS].key, i % PLACE_WORDS)))
            return 1;
    return 0;
}

static unsigned streets_are_stale(const struct streets *streets, enum follower kind)
{
    static uint32_t words[PLACES + 1][ALL_WORDS]; /* of the work, then what each follower saw */
    unsigned f;

    if (cudaMemcpy(words, streets->data, sizeof(words), cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    if (kind == FOLLOWER_SET)
        return follower_is_stale(streets, words[0], 1);
    for (f = 1; f <= streets->followers; f++)
        if (follower_is_stale(streets, words[f], 0))
            return 1;
    return 0;
}

static void ask_streams(struct ask *ask)
{
    static const char *const names[SHAPES] = { "stale in the legacy stream, after four blocking ones",
                                               "stale in one of four blocking streams, after the legacy one",
                                               "stale in one of four blocking streams, after an item of the legacy one" };
    unsigned stale[SHAPES] = { 0, 0, 0 }, trials[SHAPES] = { 0, 0, 0 }, shape;
    struct streets streets = PDL_ZERO;
    cudaError_t error = open_streets(&streets);

    streets.ask = ask;
    for (; ask_goes_on(ask, streets.trial, ask->trials) && error == cudaSuccess; streets.trial++) {
        enum follower kind = (enum follower)(streets.trial / SHAPES % FOLLOWERS);
        shape = streets.trial % SHAPES;
        error = queue_streets(&streets, (enum shape)shape, kind, shape == SHAPE_SCATTER ? 1 : PLACES, shape == SHAPE_GATHER ? 1 : PLACES);
        trials[shape]++;
        if (error == cudaSuccess)
            stale[shape] += streets_are_stale(&streets, kind);
    }
    ask_expect(ask, "work in blocking streams and the legacy one", error, cudaSuccess);
    for (shape = 0; shape < SHAPES; shape++)
        ask_expect_none(ask, names[shape], stale[shape], trials[shape]);
    close_streets(&streets);
}

/* ---- what a copy reads ---- */

static void CUDART_CB write_source(void *opaque)
{
    struct pinned *pinned = (struct pinned *)opaque;
    uint32_t i;

    for (i = 0; i < PLACE_WORDS; i++)
        pinned->source[i] = words_fresh(pinned->plan[0].key, i);
}

/* Work that holds, what writes the source after it, and in the other stream a copy that reads the source. */
static cudaError_t queue_source(struct streets *streets, cudaStream_t writes, cudaStream_t reads, int by_host)
{
    struct pinned *pinned = streets->pinned;
    cudaError_t error = prepare_streets(streets, 1, 1);

    memset(pinned->source, 0, sizeof(pinned->source));
    if (error == cudaSuccess)
        error = queue_work(streets, 0, writes, 0);
    if (error == cudaSuccess)
        error = by_host ? cudaLaunchHostFunc(writes, write_source, pinned)
                        : cudaMemcpyAsync(pinned->source, streets->data, sizeof(pinned->source), cudaMemcpyDeviceToHost, writes);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(streets->data + ALL_WORDS, pinned->source, sizeof(pinned->source), cudaMemcpyHostToDevice, reads);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void ask_sources(struct ask *ask)
{
    static const char *const names[] = { "stale from a copy, in the legacy stream after a blocking one",
                                         "stale from a copy, in a blocking stream after the legacy one",
                                         "stale from a host function, in the legacy stream after a blocking one",
                                         "stale from a host function, in a blocking stream after the legacy one" };
    unsigned stale[4] = { 0, 0, 0, 0 }, trials[4] = { 0, 0, 0, 0 }, kind;
    struct streets streets = PDL_ZERO;
    cudaError_t error = open_streets(&streets);

    streets.ask = ask;
    for (; ask_goes_on(ask, streets.trial, ask->trials) && error == cudaSuccess; streets.trial++) {
        cudaStream_t legacy = LEGACY_STREAM(ask), blocking = streets.stream[streets.trial / 4 % PLACES];
        kind = streets.trial % 4;
        error = queue_source(&streets, kind % 2 ? legacy : blocking, kind % 2 ? blocking : legacy, kind >= 2);
        trials[kind]++;
        if (error == cudaSuccess)
            stale[kind] += streets_are_stale(&streets, FOLLOWER_COPY);
    }
    ask_expect(ask, "copies from pinned memory that a stream wrote", error, cudaSuccess);
    for (kind = 0; kind < 4; kind++)
        ask_expect_none(ask, names[kind], stale[kind], trials[kind]);
    close_streets(&streets);
}

static const struct pair legacy_pairs[] = {
    PAIR_ASK("sources", ask_sources),
    PAIR_ASK("streams", ask_streams),
};
IMAGE(legacy, legacy_pairs)
