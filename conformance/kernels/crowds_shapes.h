/* crowds_shapes.h - what crowds.cu asks of grids whose shape, launch, trigger, wait and stores are drawn: three in a row with the
 * attribute, then one without it. None begins before all blocks of the one before have triggered or exited, whichever block comes last;
 * each thread finds after its wait what every thread before it stored, in the ordinary kernel without one, and its block's shared memory is
 * its own. What it stores before its wait stays (crowds_marks.h); what else it does before that is nothing to the wait (crowds_before.h);
 * it stores and loads by accesses of each width (crowds_widths.h). */
#ifndef CROWDS_SHAPES_H_INCLUDED
#define CROWDS_SHAPES_H_INCLUDED

#define SHAPED 4u              /* kernels; the last one is ordinary */
#define DRAWN_MOST 640u        /* threads of a grid whose size is drawn */
#ifdef PDL_MODEL
#define WIDE_THREADS 32u       /* of a block: all that it may have */
#else
#define WIDE_THREADS 1024u
#endif
#define WIDE_BLOCKS 2u
#define SHAPED_MOST (WIDE_BLOCKS * WIDE_THREADS > DRAWN_MOST ? WIDE_BLOCKS * WIDE_THREADS : DRAWN_MOST)
#define SHAPED_EACH 4u         /* words of a thread */
#define SHAPED_WORDS (SHAPED_MOST * SHAPED_EACH)
#define SHAPED_APART (FAR_BYTES / sizeof(uint32_t) / (SHAPED - 1))
#define SHAPED_TRIALS 184u
#define WIDE_TRIALS (5 * SHAPED_DRESSES) /* after those */
#define SHAPED_ROUNDS 2u
#define SHAPED_MUCH 28672u     /* bytes of shared memory of a block: not many fit at once */
#define SHAPED_RESIDENT 32u    /* blocks: of larger grids some may come late */
#define DRESS_COOPERATIVE CROWD_DRESSES
#define SHAPED_DRESSES (CROWD_DRESSES + 1u)

enum shaped_trigger { TRIGGERS_FIRST, TRIGGERS_EACH, TRIGGERS_LAST, TRIGGERS_SOME_BLOCKS, TRIGGERS_AFTER_WAIT, TRIGGERS_NEVER, SHAPED_TRIGGERS };
enum shaped_wait { WAITS_EACH, WAITS_FIRST, WAITS_LAST, WAITS_HALF, WAITS_MET, WAITS_LATE, WAITS_TWICE, WAITS_FENCED, WAITS_NOT,
                   SHAPED_WAITS };
enum shaped_store { STORES_WORDS, STORES_FOUR, STORES_RELAXED, STORES_WIDE, STORES_BY_EXCHANGE, SHAPED_STORES };

struct shaped_args {
    const struct trial_plan *plan;
    struct trial_state *state;   /* one for each kernel; in one more, `began` counts the rounds of a loop */
    uint32_t *data;              /* SHAPED_WORDS of the last kernel; those of the others come after them, far apart */
    uint32_t *marks;             /* MARKS_BYTES that all kernels store to; NULL: none does */
    uint32_t place, trigger, wait, store, width, before;
    uint32_t meets;              /* whether all its blocks meet at once, in a barrier of the grid */
    uint32_t more;               /* waits or triggers of a thread that does so several times, after the first one */
    uint32_t last;               /* the block that triggers last, and stores last */
    uint32_t first;              /* block that waits; those before it neither wait nor read */
    uint32_t slow;               /* so long the last block keeps its words back, in hold_ns */
    uint32_t threads[SHAPED];    /* of each kernel's grid */
    uint32_t found;              /* a bit for each kernel whose words it is to find */
};

#include "crowds_widths.h"
#include "crowds_marks.h"
#include "crowds_before.h"
#include "crowds_own.h"

/* Threads side by side share each eight bytes, unless they store them at once. */
DEVICE_FN uint32_t shaped_at(uint32_t thread, uint32_t j, uint32_t store)
{
    return store == STORES_FOUR || store == STORES_WIDE ? SHAPED_EACH * thread + j : thread / 2 * 2 * SHAPED_EACH + 2 * j + thread % 2;
}

DEVICE_FN uint32_t *shaped_words(const struct shaped_args *args, uint32_t place) { return args->data + (SHAPED - 1 - place) * SHAPED_APART; }

DEVICE_FN void shaped_stores(const struct shaped_args *args, uint64_t key, uint32_t thread)
{
    uint32_t *own = shaped_words(args, args->place), group[SHAPED_EACH], j, at;

    for (j = 0; j < SHAPED_EACH; j++)
        group[j] = words_fresh(key + args->place, shaped_at(thread, j, args->store));
    if (args->store == STORES_FOUR)
        k_store4(own + SHAPED_EACH * thread, group);
    for (j = 0; j < SHAPED_EACH && args->store != STORES_FOUR; j++) {
        at = shaped_at(thread, j, args->store);
        if (args->store == STORES_WORDS)
            shaped_store(own + at, group[j], args->width);
        else if (args->store == STORES_RELAXED)
            k_store_relaxed(own + at, group[j]);
        else if (args->store == STORES_BY_EXCHANGE)
            (void)k_exchange(own + at, group[j]);
        else if (j % 2)
            shaped_store_eight(own + at - 1, (uint64_t)group[j] << 32 | group[j - 1], args->width);
    }
}

/* How many of the words of kernels before it are not what was stored last; `ordinary` kernels may read through the read-only path. */
DEVICE_FN uint32_t shaped_reads(const struct shaped_args *args, uint64_t key, uint32_t found)
{
    uint32_t first = args->first * k_threads(), thread = CROWD_BLOCK * k_threads() + k_thread() - first, readers = args->threads[args->place] - first;
    const uint32_t *words;
    uint32_t place, i, j, wrong = 0, group[SHAPED_EACH];

    for (place = 0; place < args->place; place++) {
        words = shaped_words(args, place);
        for (i = thread; i < args->threads[place] / 2 * 2 && (found >> place & 1); i += readers) {
            if (i % 2)
                k_load4(words + SHAPED_EACH * i, group);
            for (j = 0; j < SHAPED_EACH; j++) {
                uint32_t at = SHAPED_EACH * i + j;
                uint32_t word = i % 2 ? group[j] : args->place + 1 == SHAPED ? k_load_read_only(words + at) :
                                shaped_load(words, at, args->width);

                wrong += word != words_fresh(key + place, at);
            }
            wrong += marks_lost(args, key, place, i, 1);
        }
    }
    return wrong;
}

/* The thread that speaks for its block. Before the last block does so, it watches for the next kernel, which nothing lets begin yet. */
DEVICE_FN void shaped_triggers(const struct shaped_args *args, const struct trial_plan *plan, uint32_t speaks)
{
    struct trial_state *own = args->state + args->place;
    uint32_t i;

    if (CROWD_BLOCK == args->last) {
        if (k_thread() == 0 && k_poll(own, &own[1].alive, 1, plan->hold_ns))
            k_add(&own->early, 1);
        k_barrier();
    }
    if (args->trigger == TRIGGERS_NEVER || (args->trigger == TRIGGERS_SOME_BLOCKS && CROWD_BLOCK % 2))
        return;
    if (args->trigger == TRIGGERS_EACH || k_thread() == speaks)
        k_trigger();
    for (i = 0; i < args->more && args->trigger == TRIGGERS_EACH && args->store % 2; i++)
        k_trigger();
}

/* Whoever does not wait meets in a barrier those that do. */
DEVICE_FN void shaped_waits(const struct shaped_args *args, const struct trial_plan *plan)
{
    uint32_t wait = args->wait, last = k_threads() - 1, i;

    if (wait == WAITS_MET || (args->first && args->store % 2))
        k_barrier();
    if (wait == WAITS_FENCED)
        k_fence();
    if (wait == WAITS_LATE)
        k_delay(args->state + args->place, (CROWD_BLOCK % 4) * plan->hold_ns);
    if (WAITS && (wait == WAITS_FIRST ? k_thread() == 0 : wait == WAITS_LAST ? k_thread() == last : wait == WAITS_HALF ? k_thread() <= last / 2 : 1))
        k_wait_device();
    for (i = 0; i < args->more && WAITS && wait == WAITS_TWICE; i++)
        k_wait_device();
    k_barrier();
}

DEVICE_FN void stands_in_a_row(const struct shaped_args *args)
{
    struct kernel_args planned = PDL_ZERO;
    struct trial_plan plan;
    struct trial_state *own = args->state + args->place;
    uint32_t block = CROWD_BLOCK, thread = block * k_threads() + k_thread(), ordinary = args->place + 1 == SHAPED, waits, rounds;

    planned.plan = args->plan;
    plan = k_plan(&planned);
    rounds = k_load_relaxed(&args->state[SHAPED].began);
    plan.key += (uint64_t)rounds << 8; /* each round has words of its own */
    if (k_thread() == 0)
        k_store_relaxed(&own->alive, 1);
    k_add(&own->finished, 1);
    if (args->meets && k_has_grid_barrier()) /* before the triggers, which still count one by one */
        k_grid_barrier();
    (void)shaped_keeps(args, plan.key, 0);
    shaped_marks(args, plan.key, 0);
    if (block >= args->first && !ordinary)
        (void)shaped_reads(args, plan.key, args->found); /* the lines are cached before the wait */
    if (args->trigger != TRIGGERS_AFTER_WAIT)
        shaped_triggers(args, &plan, args->trigger == TRIGGERS_LAST ? k_threads() - 1 : 0);
    waits = args->place && !ordinary && args->wait != WAITS_NOT && block >= args->first;
    if (waits) {
        shaped_before(args);
        shaped_waits(args, &plan);
    }
    if (waits && own_marks_lost(args, plan.key, 0))
        k_add(&own->witnessed, 1);
    if ((waits || (ordinary && block >= args->first)) && shaped_reads(args, plan.key, args->found))
        k_add(&own->left, 1); /* not by a store of a kind that is asked about */
    if (ordinary && k_thread() == 0 && marks_miscounted(args, plan.residents, rounds))
        k_add(&own->began, 1);
    if (args->trigger == TRIGGERS_AFTER_WAIT)
        shaped_triggers(args, &plan, 0);
    if (block == args->last)
        k_delay(own, args->slow * plan.hold_ns);
    shaped_stores(args, plan.key, thread);
    shaped_marks(args, plan.key, 1);
    k_barrier();
    if (own_marks_lost(args, plan.key, 1))
        k_add(&own->witnessed, 1);
    if (shaped_keeps(args, plan.key, 1))
        k_add(&own->done, 1);
}

struct shaped_long_args {
    struct shaped_args args;
    uint32_t more[500];
};

KERNEL_OF(crowds_shaped, struct shaped_args) { stands_in_a_row(&args); }
KERNEL_OF(crowds_shaped_long, struct shaped_long_args) { stands_in_a_row(&args.args); }

/* With static shared memory, which the model does not fill, and local memory. */
KERNEL_WITH_FIXED(crowds_shaped_fixed, struct shaped_args)
{
    FIXED_MEMORY;

    fixed_keeps(&args, fixed, frame, 0);
    stands_in_a_row(&args);
    fixed_keeps(&args, fixed, frame, 1);
}

/* What the kernel is given that ends each round of a loop, or lets a body run: without states. */
struct shaped_turn {
    struct trial_state *state;
    uint64_t handle;
};

#if CUDART_VERSION >= 12040
KERNEL_OF(crowds_turns, struct shaped_turn)
{
    uint32_t rounds = 0, place;

    for (place = 0; place < SHAPED && args.state; place++)
        k_store_relaxed(&args.state[place].alive, 0);
    if (args.state) {
        rounds = k_load_relaxed(&args.state[SHAPED].began) + 1;
        k_store_relaxed(&args.state[SHAPED].began, rounds);
    }
    k_set_condition(args.handle, rounds < SHAPED_ROUNDS);
}
#endif

/* ---- host ---- */

struct shaped_room {             /* pinned */
    struct trial_plan plan, again; /* again: of the second grid that reads lines (crowds_lines.h) */
    uint32_t words[2][DRAWN_MOST * SHAPED_EACH]; /* that are copied, of either plan */
    struct trial_state state[SHAPED + 1]; /* nobody stands in the last one, which counts rounds */
};

struct shaped_launch {
    unsigned dress;
    dim3 grid;
    unsigned cluster;            /* blocks along x of one, if it is in clusters; along y and z all */
    unsigned threads;            /* of a block */
    const void *function;
    struct shaped_args args;
    const uint32_t *copied;      /* instead of a kernel: the first kernel's words come from there */
};

enum shaped_way { SHAPED_LAUNCHED, SHAPED_CAPTURED, SHAPED_IN_CHILD, SHAPED_IN_BODY, SHAPED_IN_LOOP }; /* IN_LOOP: as often as SHAPED_ROUNDS says */

struct shaped_row {
    struct shaped_launch launch[SHAPED];
    cudaStream_t stream;
    enum shaped_way way;
    unsigned asks;               /* how often the host asks the stream between two launches: the kernel before gets somewhere meanwhile */
    int by_thread;
    int reads_lines;             /* crowds_lines.h */
};

struct shapes {
    struct ask *ask;
    struct shaped_room *room;
    struct shaped_args args;     /* as the device has the room */
    cudaStream_t stream[4];      /* no capture takes place in the last one */
    int greatest;                /* priority */
    unsigned widest;             /* so many blocks of a cluster find room */
    int doubles;                 /* and twice as many */
    unsigned trial;
    struct shaped_row row;
    unsigned early, stale, late, lost, mixed; /* trials; stale: after a wait, late: in the ordinary kernel */
    unsigned unmarked, miscounted; /* trials in which words of crowds_marks.h were lost, or the sum was wrong */
    unsigned added;              /* the sum that is expected by now */
    unsigned kept;               /* trials in which lines were kept */
    cudaError_t error;           /* of launches by another thread */
};

static unsigned draws(uint64_t *state, unsigned of)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 33) % of;
}

/* Blocks lie along x, or in two rows, or in two layers. A cooperative grid has no more than fit anywhere; its clusters are of two, along the last
 * axis, those of others of two to eight; in every third trial of twice as many, if they find room. */
static void draw_shape(struct shaped_launch *launch, unsigned widest, unsigned times, uint64_t *state)
{
    static const unsigned sizes[] = { 1, 2, 3, 7, 16, 21, 40, 66, 130, 300 }, threads[] = { 1, 2, 3, 8, 24, 32 };
    unsigned blocks = sizes[draws(state, 10)], axis = draws(state, 4) % 3, whole; /* most often along x */

    if (launch->dress == DRESS_GROUPED || launch->dress == DRESS_COOPERATIVE)
        blocks = 4 + 4 * draws(state, 2);
    launch->cluster = axis ? 1 : 2;
    if (launch->dress == DRESS_CLUSTERS)
        launch->cluster = times * (axis ? 1 + draws(state, widest / 2) : 2 + draws(state, widest - 1));
    whole = launch->dress == DRESS_CLUSTERS ? launch->cluster * (axis ? 2 : 1) : axis ? 2 : 1;
    blocks = (blocks + whole - 1) / whole * whole;
    launch->grid.x = axis ? blocks / 2 : blocks;
    launch->grid.y = axis == 1 ? 2 : 1;
    launch->grid.z = axis == 2 ? 2 : 1;
    launch->threads = threads[draws(state, 6)];
    if (blocks * launch->threads > DRAWN_MOST)
        launch->threads = blocks > 100 ? 2 : 4;
}

static unsigned shaped_blocks(const struct shaped_launch *launch) { return launch->grid.x * launch->grid.y * launch->grid.z; }

static unsigned shaped_dresses(const struct shaped_row *row)
{
    return row->way >= SHAPED_IN_BODY ? DRESS_GROUPED : SHAPED_DRESSES; /* those before it are not cooperative */
}

static void draw_launch(const struct shapes *s, struct shaped_launch *launch, unsigned place, unsigned dress, uint64_t *state)
{
    unsigned blocks;

    launch->dress = dress;
    launch->copied = NULL;
    draw_shape(launch, s->widest, s->doubles && s->trial % 3 == 0 ? 2 : 1, state);
    blocks = shaped_blocks(launch);
    launch->function = draws(state, 4) == 0        ? (const void *)SYMBOL(crowds_shaped_long)
                       : (s->trial + place) % 5 == 0 ? (const void *)SYMBOL(crowds_shaped_fixed) : (const void *)SYMBOL(crowds_shaped);
    launch->args = s->args;
    launch->args.before = (s->trial + s->trial / SHAPED_BEFORES + 3 * place) % SHAPED_BEFORES;
    launch->args.more = s->trial / 2 % 2 ? 1 : REPEATS_MANY;
    launch->args.meets = (dress == DRESS_COOPERATIVE || dress == DRESS_GROUPED) && (s->trial + place) % 2;
    launch->args.place = place;
    launch->args.trigger = place + 1 < SHAPED ? draws(state, SHAPED_TRIGGERS) : TRIGGERS_NEVER;
    launch->args.wait = draws(state, SHAPED_WAITS);
    launch->args.store = draws(state, SHAPED_STORES);
    launch->args.width = (s->trial + place) % SHAPED_WIDTHS;
    launch->args.first = blocks > SHAPED_RESIDENT && draws(state, 3) ? blocks / 4 * 3 : 0;
    launch->args.last = place + 1 == SHAPED ? blocks : draws(state, 2) ? blocks - 1 : draws(state, blocks);
}

/* Blocks of as many threads as one may have, so that late warps wait, trigger and find words, too: each thread reads those of one before it.
 * In every second trial the last thread alone waits for its block: where all wait, a barrier after it would hide that a late warp did not. */
static void widen(struct shaped_launch *launch, unsigned trial)
{
    static const enum shaped_wait waits[] = { WAITS_EACH, WAITS_LATE, WAITS_MET, WAITS_TWICE, WAITS_FENCED };
    struct shaped_args *args = &launch->args;

    launch->grid.x = WIDE_BLOCKS;
    launch->grid.y = launch->grid.z = 1;
    launch->cluster = WIDE_BLOCKS;
    launch->threads = WIDE_THREADS;
    args->first = 0;
    args->last = args->place + 1 == SHAPED ? WIDE_BLOCKS : trial / 2 % WIDE_BLOCKS;
    args->wait = trial % 2 ? WAITS_LAST : waits[trial / 2 % 5];
    args->trigger = args->place + 1 == SHAPED ? TRIGGERS_NEVER : trial % 3 ? TRIGGERS_FIRST : TRIGGERS_LAST;
}

/* A kernel finds what is before the one that it waits for if that one has waited, too; the ordinary one finds all. */
static void draw_row(struct shapes *s)
{
    struct shaped_row *row = &s->row;
    uint64_t state = s->ask->seed * 1000003 + s->trial;
    unsigned place, of, wide = s->trial >= SHAPED_TRIALS, turn = s->trial - SHAPED_TRIALS;

    (void)draws(&state, 2);
    row->way = draws(&state, 2) ? SHAPED_LAUNCHED : (enum shaped_way)(SHAPED_CAPTURED + draws(&state, has_conditions() ? 4 : 2));
    if (wide) /* each dress in each way */
        row->way = (enum shaped_way)(turn / SHAPED_DRESSES % (has_conditions() ? 5 : 3));
    for (place = 0; place < SHAPED; place++) {
        of = draws(&state, shaped_dresses(row));
        draw_launch(s, &row->launch[place], place, wide && place == 1 ? turn % shaped_dresses(row) : of, &state);
        if (wide)
            widen(&row->launch[place], turn);
    }
    for (place = 0; place < SHAPED; place++) {
        row->launch[place].args.slow = place + 1 < SHAPED && row->launch[place + 1].args.first ? 8 : 2;
        for (of = 0; of < SHAPED; of++)
            row->launch[place].args.threads[of] = shaped_blocks(&row->launch[of]) * row->launch[of].threads;
    }
    row->launch[0].args.found = 0;
    row->launch[1].args.found = row->launch[1].args.wait == WAITS_NOT ? 0 : 1;
    row->launch[2].args.found = row->launch[1].args.wait == WAITS_NOT ? 2 : 3;
    row->launch[3].args.found = 7;
    row->stream = s->stream[draws(&state, row->way == SHAPED_LAUNCHED ? 4 : 3)];
    row->by_thread = draws(&state, 4) == 0;
    row->asks = row->way == SHAPED_LAUNCHED && draws(&state, 2) ? 1u << draws(&state, 8) : 0;
}

static cudaLaunchAttribute in_drawn_clusters(const struct shaped_launch *launch)
{
    cudaLaunchAttribute attribute = in_clusters(launch->cluster);

    attribute.val.clusterDim.y = launch->grid.y;
    attribute.val.clusterDim.z = launch->grid.z;
    return attribute;
}

static unsigned dress_shape(const struct shapes *s, const struct shaped_launch *launch, cudaLaunchAttribute *attributes)
{
    unsigned dress = launch->dress, count = 0;

    if (dress == DRESS_URGENT)
        attributes[count++] = of_priority(s->greatest);
    if (dress == DRESS_DOMAIN)
        attributes[count++] = in_remote_domain();
    if (dress == DRESS_CLUSTERS || dress == DRESS_GROUPED)
        attributes[count++] = in_drawn_clusters(launch);
    if (dress == DRESS_COOPERATIVE || dress == DRESS_GROUPED)
        attributes[count++] = cooperatively();
    return count;
}

static cudaError_t launch_shape(const struct shapes *s, struct shaped_launch *launch, cudaStream_t stream)
{
    cudaLaunchAttribute attributes[3] = { serialization(1), serialization(1), serialization(1) };
    unsigned overlaps = launch->args.place && launch->args.place + 1 < SHAPED;
    cudaLaunchConfig_t config = PDL_ZERO;
    struct shaped_long_args args = PDL_ZERO; /* of which most kernels take the first ones only */
    void *params[1];

    params[0] = &args;
    args.args = launch->args;
    config.gridDim = launch->grid;
    config.blockDim.x = launch->threads;
    config.blockDim.y = config.blockDim.z = 1;
    config.dynamicSmemBytes = launch->dress != DRESS_SHARED ? 0 : s->trial % 2 ? SHAPED_MUCH : dress_bytes(DRESS_SHARED);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = overlaps + dress_shape(s, launch, attributes + overlaps);
    return cudaLaunchKernelExC(&config, launch->function, params);
}

static cudaError_t copy_or_launch(const struct shapes *s, struct shaped_launch *launch, cudaStream_t stream)
{
    if (launch->copied)
        return cudaMemcpyAsync(s->args.data + (SHAPED - 1) * SHAPED_APART, launch->copied, sizeof(s->room->words[0]), cudaMemcpyDefault, stream);
    return launch_shape(s, launch, stream);
}

/* The legacy stream has two names: every second kernel is launched by the other one. */
static cudaStream_t name_of_row(const struct shapes *s, const struct shaped_row *row, unsigned place)
{
    return row->stream == cudaStreamLegacy && (place + s->trial) % 2 ? (cudaStream_t)NULL : row->stream;
}

static cudaError_t launch_shapes(const struct shapes *s, struct shaped_row *row)
{
    cudaError_t error = cudaSuccess;
    unsigned place, i;

    for (place = 0; place < SHAPED && error == cudaSuccess; place++) {
        for (i = 0; place && i < row->asks && (error == cudaSuccess || error == cudaErrorNotReady); i++)
            error = cudaStreamQuery(row->stream);
        if (error == cudaErrorNotReady)
            (void)cudaGetLastError();
        if (error == cudaSuccess || error == cudaErrorNotReady)
            error = copy_or_launch(s, &row->launch[place], name_of_row(s, row, place));
    }
    return error;
}

static void prepare_shapes(struct shapes *s, unsigned launch)
{
    struct trial_state empty = PDL_ZERO;
    unsigned i;

    s->room->plan.key = 0x5A4EDull * (2 * s->trial + launch + 1);
    s->room->plan.hold_ns = 3000 + s->trial % 8 * 500;
    s->room->plan.residents = s->added;
    for (i = 0; i + 1 < SHAPED && !s->row.reads_lines; i++)
        s->added += 2 * s->row.launch[0].args.threads[i] * (s->row.way == SHAPED_IN_LOOP ? SHAPED_ROUNDS : 1);
    for (i = 0; i <= SHAPED; i++)
        s->room->state[i] = empty;
    s->room->again = s->room->plan;
    s->room->again.key = ~s->room->plan.key;
    for (i = 0; s->row.reads_lines && i < DRAWN_MOST * SHAPED_EACH; i++) {
        s->room->words[0][i] = words_fresh(s->room->plan.key, i);
        s->room->words[1][i] = words_fresh(s->room->again.key, i);
    }
}

static void look_at_shapes(struct shapes *s, const struct shaped_row *row)
{
    unsigned early = 0, stale = 0, lost = 0, mixed = 0, unmarked = 0, rounds = row->way == SHAPED_IN_LOOP ? SHAPED_ROUNDS : 1, place;

    if (row->reads_lines) {
        s->kept += s->room->state[SHAPED - 1].left != 0;
        return;
    }
    for (place = 0; place < SHAPED; place++) {
        const struct trial_state *state = &s->room->state[place];

        early += state->early;
        stale += place + 1 < SHAPED && state->left;
        lost += state->finished != rounds * row->launch[0].args.threads[place];
        mixed += state->done;
        unmarked += state->witnessed;
    }
    s->early += early != 0;
    s->stale += stale != 0;
    s->late += s->room->state[SHAPED - 1].left != 0;
    s->lost += lost != 0;
    s->mixed += mixed != 0;
    s->unmarked += unmarked != 0;
    s->miscounted += s->room->state[SHAPED - 1].began != 0;
}

#include "crowds_shaped_graphs.h"

/* Another thread has another per-thread stream: it also waits. */
static void run_shapes(void *of)
{
    struct shapes *s = (struct shapes *)of;
    struct shaped_row *row = &s->row;

    if (row->way != SHAPED_LAUNCHED) {
        s->error = run_captured_shapes(s, row);
        return;
    }
    prepare_shapes(s, 0);
    s->error = launch_shapes(s, row);
    if (s->error == cudaSuccess)
        s->error = cudaStreamSynchronize(row->stream);
    if (s->error == cudaSuccess)
        look_at_shapes(s, row);
}

static cudaError_t open_shapes(struct shapes *s, const struct crowd *crowd)
{
    char *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)&s->room, sizeof(*s->room), cudaHostAllocMapped);

    s->ask = crowd->ask;
    s->greatest = crowd->greatest;
    s->widest = clusters_of_eight_fit((const void *)SYMBOL(crowds_shaped), 32) ? 8 : 2;
    s->doubles = s->widest == 8 && clusters_of_sixteen_fit((const void *)SYMBOL(crowds_shaped), 32) &&
                 clusters_of_sixteen_fit((const void *)SYMBOL(crowds_shaped_long), 32) &&
                 clusters_of_sixteen_fit((const void *)SYMBOL(crowds_shaped_fixed), 32);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, s->room, 0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&s->args.data, FAR_BYTES + SHAPED_WORDS * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&s->stream[1], cudaStreamNonBlocking, s->greatest);
    if (error != cudaSuccess)
        return error;
    memset(s->room, 0, sizeof(*s->room));
    s->args.plan = (const struct trial_plan *)device;
    s->args.state = (struct trial_state *)(device + offsetof(struct shaped_room, state));
    s->args.marks = s->args.data + SHAPED_WORDS;
    error = cudaMemset(s->args.marks, 0, MARKS_BYTES);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    s->stream[0] = s->ask->stream;
    s->stream[2] = cudaStreamPerThread;
    s->stream[3] = cudaStreamLegacy;
    return error;
}

static void close_shapes(struct shapes *s)
{
    if (s->stream[1])
        (void)cudaStreamDestroy(s->stream[1]);
    (void)cudaFree(s->args.data);
    (void)cudaFreeHost(s->room);
}

#include "crowds_lines.h"

static void ask_shapes(struct crowd *crowd)
{
    struct shapes s = PDL_ZERO;
    struct ask *ask = crowd->ask;

    s.error = open_shapes(&s, crowd);
    for (; ask_goes_on(ask, s.trial, SHAPED_TRIALS + WIDE_TRIALS) && s.error == cudaSuccess; s.trial++) {
        draw_row(&s);
        if (!s.row.by_thread || !run_in_thread(run_shapes, &s))
            run_shapes(&s);
    }
    ask_expect(ask, "grids of drawn shapes", s.error, cudaSuccess);
    ask_expect_none(ask, "grids that began before the last block of the one before had triggered", s.early, s.trial);
    ask_expect_none(ask, "grids of which a thread did not find words after the wait", s.stale, s.trial);
    ask_expect_none(ask, "ordinary grids of which a thread did not find words", s.late, s.trial);
    ask_expect_none(ask, "grids of which a thread did not run", s.lost, s.trial);
    ask_expect_none(ask, "grids of which a block found another one's words in its shared memory", s.mixed, s.trial);
    ask_expect_none(ask, "grids of which a thread lost what it had stored before its wait, or last", s.unmarked, s.trial);
    ask_expect_none(ask, "rows of grids whose additions to one word were not all counted", s.miscounted, s.trial);
    if (s.error == cudaSuccess)
        ask_lines(&s);
    close_shapes(&s);
}

#endif
