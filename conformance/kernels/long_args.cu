/* long_args.cu - kernels with arguments of 64 to 32,760 bytes: every byte reaches the kernel, and its wait covers what it would with few.
 *
 * pair      rules     what is asked
 * launches  ATTR-15f  launched after a kernel that triggers early, in streams of three kinds, also after its event in another stream: by
 *                     cudaLaunchKernel, by cuLaunchKernel and cuLaunchKernelEx with all arguments in one piece, cooperative, by
 *                     cudaLaunchCooperativeKernel, in clusters, with a priority or a domain of its own, of two layers, each with attribute 6
 *                     or without; the same captured, also in a stream that joined the capture; and with a programmatic event, which comes
 *                     after the launch has triggered; also by another host thread; and many of one kernel behind a slow one, each with
 *                     arguments of its own (long_args_queued.h), or behind a grid that has blocks to come (long_args_late.h); and with those of
 *                     the launch before but for one word (long_args_lone.h)
 * nodes     ATTR-15f  long_args_nodes.h: the second of two nodes with a programmatic edge between them: added; given parameters in the graph,
 *                     in a clone, in a child graph, in the executable graph, and there while it is disabled, or if it was captured; cloned,
 *                     updated, in a child graph, a child of a child, a body or a loop, disabled and enabled; each also with all arguments in
 *                     one piece; one word of them alone (long_args_lone.h); and many launches of one graph behind a slow kernel, with
 *                     other arguments each (long_args_queued.h)
 *
 * "the parameters must be less than 4096 bytes" was the limit before toolkit 12.1; now it is 32,764 bytes, for drivers of 12.1 or later.
 */
#include <string.h>

#include "driver_launch.h"
#include "graph_ask.h"
#include "host_room.h"

#if CUDART_VERSION >= 12010
#define MOST_BYTES 32760u      /* of all arguments */
#else
#define MOST_BYTES 4096u
#endif
#define MOST_WORDS ((unsigned)((MOST_BYTES - sizeof(struct kernel_args)) / 4)) /* beside the first ones */
#define TOLD_WORDS 1024u
#define TOLD_ELSEWHERE (2 * TOLD_WORDS)
#define QUEUED 1100u           /* launches that stand behind a slow kernel */

KERNEL(long_args_work) { slow_stores(&args); }

/* A kernel of so many bytes of arguments copies the first half of the words after its wait, and tells all its words of arguments:
 * those of one place and of each TOLD_WORDS after it in one word. */
#define LONG_KERNEL(bytes)                                                                                     \
    struct long_args_##bytes {                                                                                 \
        struct kernel_args head;                                                                               \
        uint32_t more[((bytes) - sizeof(struct kernel_args)) / 4];                                             \
    };                                                                                                         \
    KERNEL_OF(long_args_of_##bytes, struct long_args_##bytes)                                                  \
    {                                                                                                          \
        uint32_t i, k, mixed;                                                                                  \
                                                                                                               \
        reader_copies(&args.head, 1);                                                                          \
        for (i = k_thread(); i < sizeof(args.more) / 4 && i < TOLD_WORDS; i += k_threads()) {                  \
            for (mixed = 0, k = i; k < sizeof(args.more) / 4; k += TOLD_WORDS)                                 \
                mixed = mixed * 31 + args.more[k];                                                             \
            k_store(args.head.seen + i, mixed);                                                                \
        }                                                                                                      \
    }
LONG_KERNEL(64)
LONG_KERNEL(72)
LONG_KERNEL(96)
LONG_KERNEL(104)
LONG_KERNEL(200)
LONG_KERNEL(208)
LONG_KERNEL(256)
LONG_KERNEL(264)
LONG_KERNEL(1024)
LONG_KERNEL(1032)
LONG_KERNEL(4000)
LONG_KERNEL(4096)
#if MOST_BYTES > 4096
LONG_KERNEL(4104)
LONG_KERNEL(32760)
#endif

/* Triggers at once. The first blocks hold their places, so that the others begin late. Each block tells the first word of its arguments. */
#define LATE_KERNEL(bytes)                                                                                     \
    KERNEL_OF(long_args_late_of_##bytes, struct long_args_##bytes)                                             \
    {                                                                                                          \
        struct trial_plan plan = k_plan(&args.head);                                                           \
        uint32_t k, mixed = 0;                                                                                 \
                                                                                                               \
        k_trigger();                                                                                           \
        if (k_block() == 0)                                                                                    \
            k_store_relaxed(&args.head.state->alive, 1);                                                       \
        if (k_blocks() > 1 && k_block() < plan.residents)                                                      \
            k_delay(args.head.state, plan.hold_ns);                                                            \
        for (k = 0; k < sizeof(args.more) / 4; k += TOLD_WORDS)                                                \
            mixed = mixed * 31 + args.more[k];                                                                 \
        k_store(args.head.seen + k_block(), mixed);                                                            \
    }
LATE_KERNEL(104)
LATE_KERNEL(1024)

/* Watches for what comes after its event while that must not begin, then triggers. */
KERNEL_OF(long_args_holds, struct long_args_4096)
{
    struct trial_plan plan = k_plan(&args.head);

    if (k_thread() == 0 && k_poll(args.head.state, &args.head.state->alive, 1, plan.hold_ns))
        k_add(&args.head.state->early, 1);
    k_barrier();
    k_trigger();
}

KERNEL(long_args_arrives) { k_store_relaxed(&args.state->alive, 1); }

struct taker {
    const void *kernel;
    unsigned words;            /* of its arguments, beside the first ones, which every kernel has */
};
#define TAKER(bytes) { (const void *)SYMBOL(long_args_of_##bytes), ((bytes) - sizeof(struct kernel_args)) / 4 }
static const struct taker takers[] = { TAKER(64),  TAKER(72),  TAKER(96),   TAKER(104),  TAKER(200),  TAKER(208),
                                       TAKER(256), TAKER(264), TAKER(1024), TAKER(1032), TAKER(4000), TAKER(4096),
#if MOST_BYTES > 4096
                                       TAKER(4104), TAKER(32760),
#endif
};

/* As many as the driver launches. */
static unsigned takers_launched(void)
{
    unsigned count = sizeof(takers) / sizeof(takers[0]);

    return MOST_BYTES <= 4096 || has_version(12010) ? count : count - 2;
}

struct all_args {
    struct kernel_args head;
    uint32_t more[MOST_WORDS];
};

struct long_ask {
    struct ask *ask;
    struct host_room *room;
    uint32_t *told;            /* what the kernel tells of its arguments, in pinned memory */
    const struct taker *taker;
    cudaStream_t stream;       /* of this trial's kernels */
    cudaEvent_t event, awaited; /* that a launch may be given; that the stream waits for */
    struct all_args args, other;
    unsigned trial, stale, wrong;
    unsigned takers;           /* that are launched */
    unsigned lone;             /* not 0: `other` differs in the word before that place alone */
};

static int open_long(struct long_ask *l)
{
    void *device = NULL;

    if (open_room(&l->room, &l->args.head) && cudaHostAlloc((void **)&l->told, QUEUED * TOLD_WORDS * 4, cudaHostAllocMapped) == cudaSuccess &&
        cudaHostGetDevicePointer(&device, l->told, 0) == cudaSuccess) {
        l->args.head.seen = (uint32_t *)device;
        return 1;
    }
    ask_skip(l->ask, "pinned host memory", "not given");
    return 0;
}

static void ask_long(struct ask *ask, void (*ask_all)(struct long_ask *))
{
    static struct long_ask asked;

    memset(&asked, 0, sizeof(asked));
    asked.ask = ask;
    asked.stream = ask->stream;
    asked.takers = takers_launched();
    if (!open_long(&asked))
        return;
    ask_all(&asked);
    ask_expect_none(ask, "kernels with long arguments whose wait did not cover the kernel before", asked.stale, asked.trial);
    ask_expect_none(ask, "kernels that found other arguments than they were last given", asked.wrong, asked.trial);
    (void)cudaFreeHost(asked.told);
    (void)cudaFreeHost(asked.room);
}

static size_t bytes_of(const struct long_ask *l) { return sizeof(l->args.head) + 4 * l->taker->words; }

static uint32_t word_of(unsigned trial, uint32_t i) { return words_fresh(0xA46ull * (trial + 1), i); }

/* The arguments of the next trial, and others that differ in every word but the first ones, and tell elsewhere; or that differ in one word. */
static void next_args(struct long_ask *l)
{
    uint32_t i, words = l->taker ? l->taker->words : TOLD_WORDS;

    prepare_trial(l->room, l->trial);
    memset(l->told, 0, TOLD_WORDS * 4);
    l->other.head = l->args.head;
    l->other.head.seen += TOLD_ELSEWHERE;
    for (i = 0; i < words; i++) {
        l->args.more[i] = word_of(l->trial, i);
        l->other.more[i] = ~l->args.more[i];
    }
    if (l->lone) {
        l->other = l->args;
        l->other.more[l->lone - 1] ^= 1;
    }
}

/* What the kernel has to tell there. */
static uint32_t told_word(const struct long_ask *l, uint32_t place)
{
    uint32_t i, mixed = 0;

    for (i = place; i < l->taker->words; i += TOLD_WORDS)
        mixed = mixed * 31 + l->args.more[i];
    return mixed;
}

static unsigned args_differ(const struct long_ask *l)
{
    volatile const uint32_t *told = l->told;
    unsigned differs = 0;
    uint32_t i;

    for (i = 0; i < TOLD_WORDS; i++)
        differs |= told[i] != told_word(l, i);
    return differs;
}

static cudaError_t look_at_args(struct long_ask *l)
{
    cudaError_t error = cudaStreamSynchronize(l->stream);

    l->wrong += error == cudaSuccess && args_differ(l);
    l->stale += error == cudaSuccess && (work_is_stale(l->room) || copy_is_stale(l->room));
    l->trial++;
    return error;
}

/* ---- launches ---- */

enum catching { CATCHING_NOTHING, CATCHING_ORIGIN, CATCHING_FORK, CATCHINGS }; /* the stream captures: it began, or it joined */
static const char *const catching_name[CATCHINGS] = { "", ", captured", ", captured in a fork" };
static const char *const manner_name[MANNERS] = { "a launch", "a cooperative launch", "a launch in clusters", "a launch of high priority",
                                                  "a launch in another memory-sync domain", "a launch of two layers",
                                                  "a launch with shared memory", "a launch of two rows" };

/* How the kernel with long arguments is launched. */
struct way {
    enum manner manner;
    enum catching catching;
    int overlaps, records;     /* with attribute 6; with a programmatic event, and nothing else */
    int awaits;                /* the kernel before it stands in another stream, for whose event it waits */
    int in_piece;              /* by the driver, with all arguments in one piece */
    int simply;                /* by a call that takes no attributes, if the launch needs none */
};

static cudaError_t launch_long_in_piece(struct long_ask *l, const struct way *way, struct all_args *copy)
{
    cudaLaunchAttribute attrs[3];
    cudaLaunchConfig_t config;
    cudaError_t error = config_in_manners(&config, attrs, ASK_WORDS / 2, l->stream, way->manner, way->manner, way->overlaps);

    if (error == cudaSuccess)
        error = launch_in_piece(&config, l->taker->kernel, copy, bytes_of(l), way->simply);
    memset(copy, 0xEE, sizeof(*copy));
    return error;
}

/* The kernel may look at its arguments after the caller has written over them: the launch has taken a copy. The blocks of a
 * cluster, or of two layers, tell the same words. */
static cudaError_t launch_long(struct long_ask *l, const struct way *way)
{
    cudaLaunchAttribute attribute = recording(l->event);
    cudaLaunchConfig_t config = one_block(ASK_WORDS / 2, l->stream);
    struct all_args copy = l->args;
    void *params[1];
    cudaError_t error;

    params[0] = &copy;
    if (way->in_piece)
        return launch_long_in_piece(l, way, &copy);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (way->records)
        error = cudaLaunchKernelExC(&config, l->taker->kernel, params);
    else if (way->manner == MANNER_PLAIN && !way->overlaps && way->simply)
        error = cudaLaunchKernel(l->taker->kernel, config.gridDim, config.blockDim, params, 0, l->stream);
    else if (way->manner == MANNER_COOPERATIVE && !way->overlaps && way->simply)
        error = cudaLaunchCooperativeKernel(l->taker->kernel, config.gridDim, config.blockDim, params, 0, l->stream);
    else
        error = launch_in_manner(l->taker->kernel, &copy, ASK_WORDS / 2, l->stream, way->manner, way->overlaps);
    memset(&copy, 0xEE, sizeof(copy));
    return error;
}

static cudaError_t launch_both(struct long_ask *l, const struct way *way)
{
    cudaStream_t before = way->awaits ? l->ask->side : l->stream;
    cudaError_t error = launch_one((const void *)SYMBOL(long_args_work), &l->args.head, ASK_WORDS / 2, before, NULL, 0);

    if (error == cudaSuccess && way->awaits)
        error = record_and_await(l->awaited, before, l->stream);
    return error == cudaSuccess ? launch_long(l, way) : error;
}

/* In streams of three kinds in turn, of which two can be captured. */
static cudaError_t run_launched(struct long_ask *l, const struct way *way)
{
    cudaStream_t streams[] = { l->ask->stream, cudaStreamPerThread, cudaStreamLegacy };
    cudaStream_t stream = streams[(l->trial + l->trial / l->takers) % (way->catching == CATCHING_NOTHING ? 3 : 2)];
    cudaStream_t origin = way->catching == CATCHING_FORK ? l->ask->side : stream;
    cudaError_t error = cudaSuccess;

    next_args(l);
    l->stream = stream;
    if (way->catching != CATCHING_NOTHING)
        error = cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess && way->catching == CATCHING_FORK)
        error = record_and_await(l->awaited, origin, stream);
    if (error == cudaSuccess)
        error = launch_both(l, way);
    if (error == cudaSuccess && way->catching == CATCHING_FORK)
        error = record_and_await(l->awaited, stream, origin);
    if (way->catching != CATCHING_NOTHING)
        error = ask_run_capture(origin, error);
    error = error == cudaSuccess ? look_at_args(l) : error;
    l->stream = l->ask->stream;
    return error;
}

/* Each launch has events of its own. */
static cudaError_t run_way(struct long_ask *l, const struct way *way)
{
    cudaError_t error = cudaEventCreateWithFlags(&l->event, cudaEventDisableTiming);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&l->awaited, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return error;
    error = run_launched(l, way);
    (void)cudaEventDestroy(l->event);
    (void)cudaEventDestroy(l->awaited);
    return error;
}

struct way_of_thread {
    struct long_ask *l;
    const struct way *way;
    cudaError_t error;
};

static void run_way_there(void *of)
{
    struct way_of_thread *w = (struct way_of_thread *)of;

    w->error = run_way(w->l, w->way);
}

/* Every other one in another host thread. */
static cudaError_t run_way_anywhere(struct long_ask *l, const struct way *way)
{
    struct way_of_thread w = { l, way, cudaSuccess };

    if (l->trial / 2 % 2 == 0 || !run_in_thread(run_way_there, &w))
        run_way_there(&w);
    return w.error;
}

/* What comes after the event of a launch with long arguments begins after the launch has triggered. */
static cudaError_t run_holding(struct long_ask *l, unsigned *early)
{
    cudaLaunchAttribute attribute;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    next_args(l);
    if (error != cudaSuccess)
        return error;
    attribute = recording(event);
    error = launch_given((const void *)SYMBOL(long_args_holds), &l->args, 1, 1, 0, l->ask->stream, &attribute, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(l->ask->side, event, 0);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(long_args_arrives), &l->args.head, 1, l->ask->side, NULL, 0);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    (void)cudaEventDestroy(event);
    *early += error == cudaSuccess && l->room->state.early != 0;
    return error;
}

static void ask_holding(struct long_ask *l)
{
    unsigned i, early = 0;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < l->takers && error == cudaSuccess; i++)
        error = run_holding(l, &early);
    ask_expect(l->ask, "a programmatic event of a launch with long arguments", error, cudaSuccess);
    ask_expect_none(l->ask, "kernels that came before the launch whose event they come after had triggered", early, l->takers);
}

static int takes_cooperative(void)
{
    int device, takes = 0;

    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&takes, cudaDevAttrCooperativeLaunch, device) == cudaSuccess && takes;
}

/* A driver may refuse to capture a cooperative launch with its arguments in one piece: no document says that it takes them so, and one does not. */
static int takes_no_piece(const struct way *way) { return way->manner == MANNER_COOPERATIVE && way->catching != CATCHING_NOTHING; }

static void note_captured_piece(struct long_ask *l)
{
    struct way way = { MANNER_COOPERATIVE, CATCHING_ORIGIN, 0, 0, 0, 1, 0 };

    l->taker = &takers[0];
    ask_note(l->ask, "a cooperative launch with its arguments in one piece, captured", run_way(l, &way));
}

/* Kernels of each length of arguments; outside of captures every other one waits for an event. */
static void ask_way(struct long_ask *l, struct way *way)
{
    cudaError_t error = cudaSuccess;
    char text[96];
    unsigned i;

    for (i = 0; i < l->takers && error == cudaSuccess; i++) {
        l->taker = &takers[i];
        way->awaits = way->catching == CATCHING_NOTHING && (i + way->overlaps) % 2;
        way->in_piece = !way->records && i % 3 == 1 && !takes_no_piece(way);
        way->simply = (i / 3 + (unsigned)way->catching) % 2 == 0;
        error = run_way_anywhere(l, way);
    }
    snprintf(text, sizeof(text), "%s%s%s", manner_name[way->manner],
             way->records ? " with a programmatic event" : way->overlaps ? " with attribute 6" : "", catching_name[way->catching]);
    ask_expect(l->ask, text, error, cudaSuccess);
}

#include "long_args_nodes.h"
#include "long_args_queued.h"
#include "long_args_late.h"
#include "long_args_lone.h"

static void ask_all_launches(struct long_ask *l)
{
    struct way records = { MANNER_PLAIN, CATCHING_NOTHING, 0, 1, 0, 0, 0 }; /* a capture in which nobody waits for the event is not asked */
    unsigned which;

    for (which = 0; which < 2u * MANNERS * CATCHINGS; which++) {
        struct way way = { (enum manner)(which / CATCHINGS / 2), (enum catching)(which % CATCHINGS), (int)(which / CATCHINGS % 2),
                           0, 0, 0, 0 };
        if (way.manner != MANNER_COOPERATIVE || takes_cooperative())
            ask_way(l, &way);
    }
    ask_way(l, &records);
    ask_holding(l);
    ask_queued(l, 0);
    ask_late(l);
    ask_lone_launches(l);
    if (takes_cooperative())
        note_captured_piece(l);
}
static void ask_launches(struct ask *ask) { ask_long(ask, ask_all_launches); }

static void ask_all_nodes(struct long_ask *l)
{
    ask_each_node(l);
    ask_queued(l, 1);
    ask_lone_nodes(l);
}
static void ask_nodes(struct ask *ask) { ask_long(ask, ask_all_nodes); }

static const struct pair long_args_pairs[] = {
    PAIR_ASK("launches", ask_launches),
    PAIR_ASK("nodes", ask_nodes),
};
IMAGE(long_args, long_args_pairs)
