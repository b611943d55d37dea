/* cooperative.cu - cooperative grids beside each other: each has all its blocks on the device at once.
 *
 * pair     rules     what is launched
 * at_once  COMP-02c  two cooperative grids in each of two streams, the second with the attribute; each fills the device, or more than half
 *                    of it: by its blocks, of many threads or of one, in two layers or rows, by its clusters, or by its shared memory,
 *                    dynamic or static; with attributes of each kind, or one that records an event, after a memset, in streams of high
 *                    priority, by another host thread, or with many arguments. Every block waits, for a bounded time, until all blocks
 *                    of its grid have begun. So do the grids of two streams that joined a capture, of a graph, of a conditional node's
 *                    body, which always runs or which a kernel lets run, or of a loop of two rounds; also in a clone of that
 *                    graph, in its second executable graph, and in one that was updated from another such capture; and once their
 *                    nodes were left out, taken in again and given parameters, or were given attributes that they have. Then all
 *                    blocks go through grid barriers, each of which keeps what threads stored before it for the next block; so
 *                    they do in grids of a quarter of the size, of which four have room at once, through many barriers there, and
 *                    through hundreds of them in grids of a few blocks. After the barriers each dependent waits, and finds what its
 *                    primary stored last.
 *
 * Mutant `crowded`: a plain kernel of one block more than fit. Its first blocks wait in vain.
 */
#include "cleared.h"
#include "graph_ask.h"
#include "grid_barrier.h"
#include "host_room.h"

#define GRIDS 4u               /* of a round, one after the other in two streams */
#define GRID_THREADS 32u

#ifdef MUTANT_crowded
#define CROWDED 1
#define GRIDS_MADE 1u
#define ROUNDS 4u              /* each waits in vain for the whole time */
#define MEETING_BOUND_NS 20000000u
#else
#define CROWDED 0
#define GRIDS_MADE GRIDS
#define ROUNDS (unsigned)ask->trials
#define MEETING_BOUND_NS 4000000000u /* others may be using the GPU; a grid that waits in vain is the last one */
#endif

#define BARRIERS 3u
#define MANY_BARRIERS 20u
#define MOST_BARRIERS 300u     /* in a few grids of few blocks */
#define FEW_BLOCKS 4u
#define BLOCK_WORDS 5u         /* two words of its first thread, two of its last one, and one that a primary stores last */
#define LATE_NS 1000u
#define LAST_NS 2000u          /* the primary's last word comes so late */

/* Where many barriers are asked for, the primary's last word comes later, too: such grids have room beside each other. */
DEVICE_FN uint32_t passes_many(const struct kernel_args *args) { return args->seen != NULL; }

/* The first thread of each block and the last one count, each in one of two words of its own by turns. After the barrier each of them
 * finds that the other one of the next block has counted as far, which cannot count there again before the barrier after this. It may
 * have cached that line after the barrier before. Of many barriers each has another block that comes late. Returns how many words were
 * wrong. */
DEVICE_FN uint32_t passes_barriers(const struct kernel_args *args, uint32_t blocks, uint32_t block, uint32_t begin)
{
    uint32_t last = k_threads() - 1, who = last && k_thread() == last, counts = who || k_thread() == 0, wrong = 0, i;
    uint32_t barriers = !passes_many(args) ? BARRIERS : blocks > FEW_BLOCKS ? MANY_BARRIERS : MOST_BARRIERS;
    uint32_t *own = args->data + 4 * block + 2 * who, *next = args->data + 4 * ((block + 1) % blocks) + 2 * (last && !who);

    for (i = 0; i < barriers; i++) {
        if (passes_many(args) && i % blocks == block && k_thread() == 0)
            k_delay(args->state, LATE_NS);
        if (counts)
            k_store(own + i % 2, begin + i + 1);
        k_grid_barrier();
        wrong += counts && k_load(next + i % 2) != begin + i + 1;
    }
    return wrong;
}

/* After its barriers each block of a primary stores one more word, late. The dependent has as many blocks. After their barriers they wait, and
 * then each block finds that word. Returns how many words were wrong. */
DEVICE_FN uint32_t waits_behind(const struct kernel_args *args, uint32_t blocks, uint32_t block, uint32_t word)
{
    if (!args->input) {
        if (k_thread() == 0) {
            k_delay(args->state, passes_many(args) ? 5 * LAST_NS : LAST_NS);
            k_store(args->data + 4 * blocks + block, word);
        }
        return 0;
    }
    k_wait_device();
    return k_thread() == 0 && k_load(args->input + 4 * blocks + block) != word;
}

/* Every grid counts on from what stands in its words: the same in all of them. In trial_state `witnessed` counts threads that found
 * wrong words, and blocks that have no barrier. */
DEVICE_FN void goes_through_barriers(const struct kernel_args *args, uint32_t blocks, uint32_t block)
{
    uint32_t *own = args->data + 4 * block, begin = 0, wrong;

    if (!k_has_grid_barrier()) {
        if (k_thread() == 0)
            k_add(&args->state->witnessed, 1);
        return;
    }
    if (k_thread() == 0 || k_thread() + 1 == k_threads())
        begin = k_load_relaxed(own) + k_load_relaxed(own + 1);
    k_barrier(); /* nobody counts before both have looked there */
    wrong = passes_barriers(args, blocks, block, begin);
    wrong += waits_behind(args, blocks, block, begin + 1);
    if (wrong)
        k_add(&args->state->witnessed, 1);
}

/* In trial_state `began` counts blocks, and `early` those that did not see all blocks of their grid begin. Only cooperative launches
 * have words; those that go through many barriers have `seen`, where nothing is stored. */
DEVICE_FN void meets(const struct kernel_args *args)
{
    uint32_t shape[9];

    if (k_thread() == 0) {
        k_shape(shape);
        k_trigger();
        k_add(&args->state->began, 1);
        if (!k_poll(args->state, &args->state->began, shape[0] * shape[1] * shape[2], MEETING_BOUND_NS))
            k_add(&args->state->early, 1);
        k_add(&args->state->finished, 1);
    }
    if (args->data) {
        k_shape(shape);
        goes_through_barriers(args, shape[0] * shape[1] * shape[2], k_grid_rank());
    }
}

KERNEL(cooperative_meeting) { meets(&args); }

KERNEL_OF(cooperative_long, struct long_args) { meets(&args.args); }

#define STATIC_BYTES 24576u
#ifdef PDL_MODEL
#define MODEL_KERNEL_WITH_STATIC(NAME) MODEL_KERNEL_OF(NAME, struct kernel_args, 32, STATIC_BYTES, MODEL_KERNEL_PTX, 90)
MODEL_KERNEL_WITH_STATIC(SYMBOL(cooperative_static)) { meets(&args); }
#else
KERNEL(cooperative_static)
{
    __shared__ volatile uint32_t room[STATIC_BYTES / 4];

    room[k_thread()] = k_block(); /* so that it is not left out */
    meets(&args);
}
#endif

#define LOOP_ROUNDS 2u

/* The arguments of the kernel that ends each round of a loop, or lets a body run. */
struct turn {
    struct trial_state *state;
    uint64_t handle;
};

#if CUDART_VERSION >= 12040
KERNEL_OF(cooperative_turns, struct turn)
{
    uint32_t grid, rounds = k_load_relaxed(&args.state->alive) + 1;

    for (grid = 0; grid < GRIDS; grid++)
        k_store_relaxed(&args.state[grid].began, 0);
    k_store_relaxed(&args.state->alive, rounds);
    k_set_condition(args.handle, rounds % LOOP_ROUNDS != 0);
}

KERNEL_OF(cooperative_chooses, struct turn) { k_set_condition(args.handle, 1); }
#endif

#define SHARED_BYTES 40960u    /* which any kernel may have */
/* LONE: one thread in each block; LONG: 2,000 more bytes of arguments */
enum kind { KIND_PLAIN, KIND_CLUSTERS, KIND_SHARED, KIND_STATIC, KIND_LONE, KIND_LAYERS, KIND_ROWS, KIND_LONG, KINDS };
/* How the launches of a round differ from plain ones: another attribute, a memset before them, other streams, or another thread. */
enum dress { DRESS_NONE, DRESS_DOMAIN, DRESS_URGENT, DRESS_AFTER_MEMSET, DRESS_URGENT_STREAMS, DRESS_BY_THREAD, DRESS_EVENT, DRESSES };
/* NESTED: a child graph of a child graph; SECOND: the second executable graph of one; UPDATED: one that was updated from another */
enum place { PLACE_STREAMS, PLACE_GRAPH, PLACE_BODY, PLACE_LOOP, PLACE_NESTED, PLACE_CLONE, PLACE_SECOND, PLACE_UPDATED };

static const void *meeting_of(enum kind kind)
{
    return kind == KIND_STATIC ? (const void *)SYMBOL(cooperative_static)
         : kind == KIND_LONG   ? (const void *)SYMBOL(cooperative_long) : (const void *)SYMBOL(cooperative_meeting);
}

/* Whether its blocks come in twos: clusters, layers, or rows. */
static int comes_in_twos(enum kind kind) { return kind == KIND_CLUSTERS || kind == KIND_LAYERS || kind == KIND_ROWS; }

struct meeting {
    struct kernel_args args;   /* of the first grid; `state` is an array, one for each grid */
    enum kind kind;            /* of the grids of this round */
    enum dress dress;          /* the same */
    enum place place;          /* the same */
    uint64_t handle;           /* of its loop */
    int again;                 /* its graph is launched a second time */
    int quarters;              /* its grids have a quarter of the blocks */
    int few;                   /* its grids have two to four blocks, of one thread, and many barriers */
    unsigned size[GRIDS];      /* its grids' blocks */
    cudaError_t error;         /* of its launches */
    cudaStream_t usual[2], urgent[2]; /* the streams of most rounds, and of some */
    int greatest;              /* priority */
    unsigned most[KINDS];      /* blocks that are on the device at once; where they come in twos, an even number */
    cudaStream_t stream[2], origin; /* origin: begins captures, which the others join */
    cudaEvent_t event, recorded; /* recorded: by launches */
    int records;               /* whether launches may record events here */
    int records_begin;         /* ... or when all blocks have begun */
    unsigned blocks, alone, missing, apart; /* of all rounds: launched, without all the others of their grid, never run, beside a barrier */
    int many;                  /* its grids go through many barriers */
    uint32_t *words;           /* BLOCK_WORDS for each block of each grid */
    size_t room;               /* of the words of a grid, in words */
};

static void fill_launch(cudaLaunchConfig_t *config, cudaLaunchAttribute *attrs, enum kind kind, unsigned blocks)
{
    config->gridDim.z = kind == KIND_LAYERS ? 2 : 1;
    config->gridDim.y = kind == KIND_ROWS ? 2 : 1;
    config->gridDim.x = blocks / config->gridDim.z / config->gridDim.y;
    config->blockDim.y = config->blockDim.z = 1;
    config->blockDim.x = kind == KIND_LONE ? 1 : GRID_THREADS;
    config->dynamicSmemBytes = kind == KIND_SHARED ? SHARED_BYTES : 0;
    config->attrs = attrs;
    if (kind == KIND_CLUSTERS)
        attrs[config->numAttrs++] = in_clusters(2);
}

static cudaError_t count_most(struct meeting *m, int processors)
{
    cudaError_t error = cudaSuccess;
    unsigned kind;

    for (kind = 0; kind < KINDS && error == cudaSuccess; kind++) {
        cudaLaunchAttribute attribute;
        cudaLaunchConfig_t config = PDL_ZERO;
        int fit = 0;
        fill_launch(&config, &attribute, (enum kind)kind, 2);
        error = kind == KIND_CLUSTERS ? cudaOccupancyMaxActiveClusters(&fit, meeting_of((enum kind)kind), &config)
                                      : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, meeting_of((enum kind)kind), (int)config.blockDim.x,
                                                                                      config.dynamicSmemBytes);
        m->most[kind] = (unsigned)(kind == KIND_CLUSTERS ? 2 * fit : comes_in_twos((enum kind)kind) ? processors * fit / 2 * 2 : processors * fit);
    }
    return error;
}

/* A lone block that records an event by this attribute. */
static cudaError_t try_recording(const struct meeting *m, cudaLaunchAttribute attribute, int *records)
{
    cudaError_t error = launch_blocks(meeting_of(KIND_PLAIN), &m->args, 1, GRID_THREADS, m->usual[0], &attribute, 1);

    *records = error == cudaSuccess;
    if (error != cudaSuccess && error != cudaErrorNotSupported && error != cudaErrorInvalidValue)
        return error;
    (void)cudaGetLastError();
    return cudaStreamSynchronize(m->usual[0]);
}

static cudaError_t open_words(struct meeting *m)
{
    unsigned kind;

    for (kind = 0; kind < KINDS; kind++)
        m->room = BLOCK_WORDS * m->most[kind] > m->room ? BLOCK_WORDS * m->most[kind] : m->room;
    return cudaMalloc((void **)&m->words, GRIDS * m->room * sizeof(uint32_t));
}

static cudaError_t open_meeting(struct meeting *m, const struct ask *ask)
{
    int device, processors = 0, least = 0;
    cudaError_t error = cudaGetDevice(&device);

    m->usual[0] = ask->stream;
    m->usual[1] = ask->side;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&m->origin, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &m->greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&m->urgent[0], cudaStreamNonBlocking, m->greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&m->urgent[1], cudaStreamNonBlocking, m->greatest);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&m->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&m->recorded, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&m->args.state, (GRIDS + 1) * sizeof(struct trial_state));
    if (error == cudaSuccess)
        error = clear_memory(m->args.state, GRIDS * sizeof(struct trial_state));
    if (error == cudaSuccess)
        error = try_recording(m, recording(m->recorded), &m->records);
    if (error == cudaSuccess)
        error = try_recording(m, recording_begin(m->recorded), &m->records_begin);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = count_most(m, processors);
    return error == cudaSuccess ? open_words(m) : error;
}

static cudaError_t launch_grid(const struct meeting *m, unsigned grid, unsigned blocks)
{
    cudaLaunchAttribute attrs[4] = PDL_ZERO;
    cudaLaunchConfig_t config = PDL_ZERO;
    struct long_args args = PDL_ZERO; /* of which most kernels take the first ones only */
    void *params[1];

    params[0] = &args;
    args.args = m->args;
    args.args.state += grid;
    args.args.data = CROWDED ? NULL : m->words + grid * m->room;
    args.args.input = grid >= 2 && m->size[grid] == m->size[grid - 2] ? args.args.data - 2 * m->room : NULL;
    args.args.seen = m->many ? m->words : NULL; /* no words: it says so */
    fill_launch(&config, attrs, m->kind, blocks);
    config.stream = m->stream[grid % 2];
    if (!CROWDED)
        attrs[config.numAttrs++] = cooperatively();
    if (grid >= 2)
        attrs[config.numAttrs++] = serialization(1);
    if (m->dress == DRESS_DOMAIN)
        attrs[config.numAttrs++] = in_remote_domain();
    if (m->dress == DRESS_URGENT)
        attrs[config.numAttrs++] = of_priority(m->greatest);
    if (m->dress == DRESS_EVENT && m->records)
        attrs[config.numAttrs++] = m->again && m->records_begin ? recording_begin(m->recorded) : recording(m->recorded);
    return cudaLaunchKernelExC(&config, meeting_of(m->kind), params);
}

static cudaError_t launch_grids(const struct meeting *m)
{
    cudaError_t error = cudaSuccess;
    unsigned grid;

    for (grid = 0; grid < GRIDS_MADE && error == cudaSuccess; grid++) {
        if (m->dress == DRESS_AFTER_MEMSET)
            error = cudaMemsetAsync(m->args.state + GRIDS, 0, sizeof(uint32_t), m->stream[grid % 2]);
        if (error == cudaSuccess)
            error = launch_grid(m, grid, m->size[grid]);
    }
    return error;
}

#include "cooperative_graphs.h"

static void run_grids_there(void *of)
{
    struct meeting *m = (struct meeting *)of;

    m->error = run_grids(m);
}

/* All blocks, or more than half of them: two such grids do not fit beside each other. */
static void plan_round(struct meeting *m, unsigned round, enum place place)
{
    unsigned grid, most, half;

    m->kind = CROWDED ? KIND_PLAIN : m->few ? KIND_LONE : (enum kind)((round + round / KINDS) % KINDS);
    m->dress = CROWDED ? DRESS_NONE : (enum dress)((round + round / KINDS) % DRESSES);
    m->place = place;
    m->again = (int)(round / DRESSES % 2);
    for (grid = 0; grid < 2; grid++)
        m->stream[grid] = m->dress == DRESS_URGENT_STREAMS ? m->urgent[grid] : m->usual[grid];
    most = m->most[m->kind];
    half = comes_in_twos(m->kind) ? most / 4 * 2 + 2 : most / 2 + 1;
    if (m->quarters)
        most = half = comes_in_twos(m->kind) ? (most + 7) / 8 * 2 : (most + 3) / 4;
    for (grid = 0; grid < GRIDS_MADE; grid++)
        m->size[grid] = CROWDED ? most + 1 : m->few ? 2 + grid % 3 : round / KINDS >> grid & 1 && half <= most ? half : most;
}

static cudaError_t run_round(struct meeting *m, unsigned round, enum place place)
{
    struct trial_state state[GRIDS];
    unsigned grid;
    cudaError_t error = clear_memory(m->args.state, sizeof(state));

    if (error == cudaSuccess)
        error = clear_memory(m->words, GRIDS * m->room * sizeof(uint32_t));
    plan_round(m, round, place);
    if (error == cudaSuccess) {
        if (m->dress != DRESS_BY_THREAD || !run_in_thread(run_grids_there, m))
            run_grids_there(m);
        error = m->error;
    }
    for (grid = 0; grid < 2 && error == cudaSuccess; grid++)
        error = cudaStreamSynchronize(m->stream[grid]);
    if (error == cudaSuccess)
        error = cudaMemcpy(state, m->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    for (grid = 0; grid < GRIDS_MADE && error == cudaSuccess; grid++) {
        m->blocks += m->size[grid];
        m->alone += state[grid].early;
        m->apart += state[grid].witnessed;
        m->missing += (place == PLACE_LOOP ? LOOP_ROUNDS : 1) * m->size[grid] - state[grid].finished;
    }
    return error;
}

/* Where the grids of a round run after they ran in streams: in one round of four in streams only. */
static enum place place_of(unsigned round)
{
    static const enum place copies[3] = { PLACE_CLONE, PLACE_SECOND, PLACE_UPDATED };

    switch (round % 4) {
    case 1: return round % 8 == 1 ? PLACE_GRAPH : PLACE_NESTED;
    case 2: return copies[round / 4 % 3];
    case 3: return !has_conditions() ? PLACE_STREAMS : round % 8 == 3 ? PLACE_LOOP : PLACE_BODY;
    default: return PLACE_STREAMS;
    }
}

static void ask_at_once(struct ask *ask)
{
    struct meeting m = PDL_ZERO;
    cudaError_t error = open_meeting(&m, ask);
    unsigned round;

    for (round = 0; ask_goes_on(ask, round, ROUNDS) && error == cudaSuccess && (CROWDED || !m.alone); round++) {
        error = run_round(&m, round, PLACE_STREAMS);
        if (error == cudaSuccess && !CROWDED && !m.alone && place_of(round) != PLACE_STREAMS)
            error = run_round(&m, round, place_of(round));
        m.quarters = 1;
        m.many = round % 16 == 0;
        if (error == cudaSuccess && !CROWDED && !m.alone && round % 4 == 0)
            error = run_round(&m, round, round % 8 ? PLACE_GRAPH : PLACE_STREAMS);
        m.quarters = 0;
        m.few = m.many = 1;
        if (error == cudaSuccess && !CROWDED && !m.alone && round % 48 == 5)
            error = run_round(&m, round, PLACE_STREAMS);
        m.few = m.many = 0;
    }
    ask_expect(ask, "cooperative grids in two streams", error, cudaSuccess);
    ask_expect_none(ask, "blocks that waited in vain for the others of their grid", m.alone, m.blocks);
    ask_expect_none(ask, "blocks that did not run", m.missing, m.blocks);
    ask_expect_none(ask, "stale after a barrier of the grid", m.apart, m.blocks);
    if (m.event)
        (void)cudaEventDestroy(m.event);
    if (m.recorded)
        (void)cudaEventDestroy(m.recorded);
    if (m.origin)
        (void)cudaStreamDestroy(m.origin);
    for (round = 0; round < 2; round++)
        if (m.urgent[round])
            (void)cudaStreamDestroy(m.urgent[round]);
    (void)cudaFree(m.args.state);
    (void)cudaFree(m.words);
}

static const struct pair cooperative_pairs[] = { PAIR_ASK("at_once", ask_at_once) };
IMAGE(cooperative, cooperative_pairs)
