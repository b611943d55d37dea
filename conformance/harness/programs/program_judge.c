/* program_judge.c - runs programs made in different ways, compares them, and makes a failing one small. */
#include "program.h"
#include "axes.h"
#include "try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHRINK_TRIES 3u        /* a wrong word may need several runs to show */
#define TOLD 4u                /* differences that are told one by one */

/* ---- the room ---- */

static cudaError_t open_memory(struct program_room *room)
{
    size_t plans = 2 * PROGRAM_STEPS * sizeof(struct step_plan), words = (2 + PROGRAM_SEEN) * PROGRAM_STEPS * STEP_BYTES;
    size_t began = (PROGRAM_STEPS + 4) * 4;
    char *memory;

    TRY(cudaHostAlloc((void **)&room->staging, sizeof(*room->staging), cudaHostAllocMapped));
    memset(room->staging, 0, sizeof(*room->staging));
    TRY(cudaHostGetDevicePointer((void **)&room->mapped, room->staging, 0));
    TRY(cudaMalloc((void **)&memory, plans + words + began + sizeof(struct trial_state)));
    TRY(cudaMemset(memory, 0, plans + words + began + sizeof(struct trial_state)));
    TRY(cudaDeviceSynchronize()); /* the streams of a program do not wait for the default one */
    room->plan = (struct step_plan *)(void *)memory;
    room->data = (uint32_t *)(void *)(memory + plans);
    room->seen = room->data + 2 * PROGRAM_STEPS * PROGRAM_WORDS;
    room->began = (uint32_t *)(void *)(memory + plans + words);
    room->state = (struct trial_state *)(void *)(memory + plans + words + began);
    return cudaSuccess;
}

static cudaError_t open_streams(struct program_room *room)
{
    int least;
    unsigned i;

    TRY(cudaDeviceGetStreamPriorityRange(&least, &room->high_priority));
    TRY(cudaStreamCreateWithFlags(&room->blocking, cudaStreamDefault));
    TRY(cudaStreamCreateWithFlags(&room->relay, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithPriority(&room->urgent, cudaStreamNonBlocking, room->high_priority));
    for (i = 0; i < PROGRAM_LINKS; i++)
        TRY(cudaEventCreateWithFlags(&room->event[i], cudaEventDisableTiming));
    for (i = 0; i < 2 * PROGRAM_STEPS; i++)
        TRY(cudaEventCreateWithFlags(&room->node_event[i], cudaEventDisableTiming));
    return cudaSuccess;
}

/* What programs may ask of this device and this kernel. */
static cudaError_t measure(struct program_room *room)
{
    int device, sms, shared, threads, fit, version, i;

    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device));
    for (i = 0; i < 2; i++)
        TRY(cudaFuncSetAttribute(room->kernel[i], cudaFuncAttributeMaxDynamicSharedMemorySize, shared - 1024));
    room->size.threads = threads > 256 ? 256 : (unsigned)threads;
    room->size.shared_bytes = (unsigned)shared - 1024;
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, room->kernel[0], (int)room->size.threads, 0));
    TRY(cudaDriverGetVersion(&version));
    room->size.other_bodies = version >= 12080;
    room->size.blocks = (unsigned)sms;
    room->size.many_blocks = (unsigned)(sms * fit);
    room->size.most_blocks = sms < 16 ? 0 : 66000; /* the model has time for fewer */
    room->size.hold_ns = 2000;
    room->size.clusters = 8;
    return cudaSuccess;
}

static void close_room(struct program_room *room)
{
    unsigned i;

    for (i = 0; i < PROGRAM_LINKS; i++)
        if (room->event[i])
            (void)cudaEventDestroy(room->event[i]);
    for (i = 0; i < 2 * PROGRAM_STEPS; i++)
        if (room->node_event[i])
            (void)cudaEventDestroy(room->node_event[i]);
    if (room->blocking)
        (void)cudaStreamDestroy(room->blocking);
    if (room->urgent)
        (void)cudaStreamDestroy(room->urgent);
    if (room->relay)
        (void)cudaStreamDestroy(room->relay);
    (void)cudaFree(room->plan);
    (void)cudaFreeHost(room->staging);
}

/* ---- one run ---- */

/* A kernel says itself that it has begun; of a memset or a copy the first word that it writes does. */
static uint32_t watched(const struct program *p, unsigned step)
{
    uint32_t word = (p->step[step].begin + 3) / 4 < PROGRAM_WORDS ? (p->step[step].begin + 3) / 4 : 0;

    return step | (p->step[step].kind == STEP_KERNEL ? 0 : STEP_OF_WORDS | word << STEP_WORD_SHIFT);
}

static void fill_plans(const struct made *made)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    struct program_staging *staging = room->staging;
    unsigned i, w, r;

    memset(staging->plan, 0, sizeof(staging->plan));
    for (i = 0; i < p->steps; i++) {
        struct step_plan *plan = &staging->plan[i];
        plan->key = room->key;
        plan->step = i;
        plan->flags = room->blind ? p->step[i].flags & ~STEP_WAITS : p->step[i].flags;
        plan->hold_ns = p->step[i].hold_ns;
        plan->reads = p->step[i].reads;
        for (r = 0; r < p->step[i].reads; r++)
            plan->read[r] = p->step[i].read[r] | (p->step[p->step[i].read[r]].kind == STEP_HOST ? STEP_OF_HOST : 0);
        plan->watches = p->step[i].watches;
        for (w = 0; w < plan->watches; w++)
            plan->watch[w] = watched(p, p->step[i].watch[w]);
        for (w = 0; w < PROGRAM_WORDS; w++) {
            staging->data[i][w] = program_poison(room->key, i);
            staging->from_host[i][w] = 0;
        }
        staging->mark[i] = made->left_out >> i & 1 ? (uint32_t)room->key + i : 0; /* no host step has to wait for it */
    }
}

cudaError_t program_prepare(struct made *made)
{
    struct program_room *room = made->room;
    size_t plans = made->program->steps * sizeof(struct step_plan), words = made->program->steps * PROGRAM_WORDS * 4;

    room->key = dice_roll(&made->dice);
    room->host_wrong = 0;
    fill_plans(made);
    TRY(cudaMemcpyAsync(room->plan, room->staging->plan, plans, cudaMemcpyHostToDevice, room->stream));
    TRY(cudaMemcpyAsync(room->plan + PROGRAM_STEPS, room->staging->plan, plans, cudaMemcpyHostToDevice, room->stream));
    TRY(cudaMemcpyAsync(room->began, room->staging->none, sizeof(room->staging->none), cudaMemcpyHostToDevice, room->stream));
    TRY(cudaMemcpyAsync(room->data, room->staging->data, words, cudaMemcpyHostToDevice, room->stream));
    return cudaStreamSynchronize(room->stream);
}

static int may_be_seen(const struct program *p, unsigned step)
{
    return p->step[step].kind <= STEP_COPY || p->step[step].kind == STEP_AWAIT;
}

/* Wrong words after a run; text: the first. */
static unsigned compare_words(const struct made *made, char *text, size_t size)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    uint32_t early = 0;
    unsigned i, w, wrong = 0;

    program_expect(p, room->key, made->left_out, want);
    if (cudaMemcpy(got, room->data, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        snprintf(text, size, "its words cannot be read");
        return 1;
    }
    for (i = 0; i < p->steps; i++)
        for (w = 0; w < PROGRAM_WORDS && (may_be_seen(p, i) || p->step[i].kind == STEP_HOST); w++) {
            uint32_t word = p->step[i].kind == STEP_HOST ? room->staging->from_host[i][w] : got[i][w];
            if (word != want[i][w] && !wrong++)
                snprintf(text, size, "step %u has a wrong word", i);
        }
    if (cudaMemcpy(&early, room->began + PROGRAM_STEPS, sizeof(early), cudaMemcpyDeviceToHost) != cudaSuccess || (early && !wrong++))
        snprintf(text, size, "a step began before one that it follows had ended");
    if (room->host_wrong && !wrong++)
        snprintf(text, size, "a host step ran before a kernel that it follows had ended");
    return wrong;
}

/* What another stream saw after the event of a step that records: all that is complete when the step begins. */
static unsigned compare_seen(const struct made *made, uint64_t decoys, char *text, size_t size)
{
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    const struct program *p = made->program;
    unsigned i, k, wrong = 0;

    program_expect(p, made->room->key, made->left_out, want);
    for (i = 0; i < p->steps; i++) {
        const uint32_t *seen = program_seen_by(made, decoys, i);
        if (seen && cudaMemcpy(got, seen, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
            snprintf(text, size, "what was seen after step %u cannot be read", i);
            return 1;
        }
        for (k = 0; seen && k < i; k++)
            if ((p->step[i].before >> k & 1) && may_be_seen(p, k) && memcmp(got[k], want[k], sizeof(got[k])) != 0 && !wrong++)
                snprintf(text, size, "after the event of step %u step %u had not ended", i, k);
    }
    return wrong;
}

/* Steps of the decoy leave the program's words alone. */
static unsigned compare_decoys(struct program_room *room, const struct program *p, uint64_t decoys, char *text, size_t size)
{
    static uint32_t got[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i, w, wrong = 0;

    if (cudaMemcpy(got, room->data, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        snprintf(text, size, "its words cannot be read");
        return 1;
    }
    for (i = 0; i < p->steps; i++)
        for (w = 0; w < PROGRAM_WORDS && decoys >> i & 1; w++)
            if ((got[i][w] != room->staging->data[i][w] || room->staging->from_host[i][w] != 0) && !wrong++)
                snprintf(text, size, "step %u was to work on other memory", i);
    return wrong;
}

/* ---- one program in one way ---- */

struct way {
    int stream;
    unsigned make, exec;
};

static void way_text(const struct way *way, char *text, size_t room)
{
    if (!way->stream)
        snprintf(text, room, "%s; %s", graph_way_name[way->make], exec_way_name[way->exec]);
    else if (stream_way_captures((enum stream_way)way->make))
        snprintf(text, room, "%s; %s", stream_way_name[way->make], exec_way_name[way->exec]);
    else
        snprintf(text, room, "%s", stream_way_name[way->make]);
}

/* The stream that a graph is launched in has no part in what it computes. */
static cudaStream_t any_stream(const struct program_room *room, struct dice *dice)
{
    cudaStream_t streams[5];

    streams[0] = room->stream;
    streams[1] = room->blocking;
    streams[2] = room->urgent;
    streams[3] = cudaStreamPerThread;
    streams[4] = cudaStreamLegacy;
    return streams[dice_below(dice, 5)];
}

static cudaError_t launch(struct program_room *room, struct made *made, cudaGraphExec_t exec, enum exec_way way, unsigned *wrong, char *text,
                          size_t size)
{
    unsigned time;

    for (time = 0; time < exec_launches(made, way) && !*wrong; time++) {
        cudaStream_t stream = any_stream(room, &made->dice);
        uint64_t decoys = exec_is_decoy(made, time) ? made->decoy->decoys : 0;
        if (time)
            TRY(exec_change(made, way, exec, time));
        TRY(program_prepare(made));
        TRY(program_before_launch(made, decoys));
        TRY(cudaGraphLaunch(exec, stream));
        TRY(program_behind_launch(made, decoys));
        TRY(cudaStreamSynchronize(stream));
        *wrong = exec_is_decoy(made, time) ? compare_decoys(room, made->program, decoys, text, size) : compare_words(made, text, size);
        if (!*wrong && !exec_is_decoy(made, time))
            *wrong = compare_seen(made, decoys, text, size);
    }
    return cudaSuccess;
}

static cudaError_t run_graph(struct program_room *room, struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = exec_make(made, (enum exec_way)way->exec, &exec);

    if (error == cudaSuccess)
        error = launch(room, made, exec, (enum exec_way)way->exec, wrong, text, size);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t try_graph(struct program_room *room, struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    TRY(graph_make(made, (enum graph_way)way->make));
    *wrong = room->blind ? 0 : graph_compare(made, text, size);
    return *wrong ? cudaSuccess : run_graph(room, made, way, wrong, text, size);
}

static cudaError_t try_stream(struct program_room *room, struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    if (stream_way_captures((enum stream_way)way->make) && !made->program->legacy) {
        TRY(stream_make(made, (enum stream_way)way->make));
        made->inner = made->graph;
        return run_graph(room, made, way, wrong, text, size);
    }
    TRY(program_prepare(made));
    TRY(stream_make(made, (enum stream_way)way->make));
    *wrong = compare_words(made, text, size);
    return cudaSuccess;
}

/* What is wrong with this program made in this way; 0: nothing. Returns 0 if this way declines the program. */
static int try_way(struct program_room *room, const struct program *p, const struct way *way, uint64_t seed, unsigned *wrong, char *text,
                           size_t size)
{
    struct made made;
    cudaError_t error;

    memset(&made, 0, sizeof(made));
    made.program = p;
    made.room = room;
    made.dice.state = seed;
    *wrong = 0;
    error = (way->stream ? try_stream : try_graph)(room, &made, way, wrong, text, size);
    if (error != cudaSuccess && !made.declined) {
        snprintf(text, size, "a call gave %s", cudaGetErrorName(error));
        *wrong = 1;
    }
    (void)cudaGetLastError();
    graph_unmake(&made);
    return !made.declined;
}

/* ---- the smallest program that still differs ---- */

static int still_wrong(struct program_room *room, const struct program *p, const struct way *way, uint64_t seed, char *text, size_t size)
{
    char now[128] = "";
    unsigned wrong = 0, i;

    for (i = 0; i < SHRINK_TRIES && !wrong; i++)
        if (!try_way(room, p, way, seed + i, &wrong, now, sizeof(now)))
            return 0;
    if (wrong)
        snprintf(text, size, "%s", now);
    return wrong != 0;
}

static void shrink(struct program_room *room, struct program *p, const struct way *way, uint64_t seed, char *text, size_t size)
{
    static struct program smaller;
    struct dice dice = { seed };
    int moved = 1;
    unsigned i;

    while (moved) {
        moved = 0;
        for (i = p->steps; i-- > 0 && p->steps > 1;) {
            smaller = *p;
            program_without_step(&smaller, i);
            program_entitle(&smaller, &dice);
            if (still_wrong(room, &smaller, way, seed, text, size)) {
                *p = smaller;
                moved = 1;
            }
        }
        for (i = p->links; i-- > 0;) {
            smaller = *p;
            program_without_link(&smaller, i);
            program_entitle(&smaller, &dice);
            if (still_wrong(room, &smaller, way, seed, text, size)) {
                *p = smaller;
                moved = 1;
            }
        }
    }
}

/* ---- the questions ---- */

struct counts {
    unsigned long long made, wrong, unmade;
    unsigned char row[KIT_AXIS_ROWS]; /* of the covering array: ran as a kernel step */
};

static void count_rows(struct counts *counts, const struct program *p)
{
    unsigned i;

    for (i = 0; i < p->steps; i++)
        if (p->step[i].kind == STEP_KERNEL)
            counts->row[p->step[i].row] = 1;
}

/* Which rows ran: "all of 30", or those that did not. */
static void tell_rows(struct ask *ask, const struct counts *counts)
{
    char text[512] = "";
    unsigned i, missing = 0;

    for (i = 0; i < KIT_AXIS_ROWS; i++)
        if (!counts->row[i]) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof(text) - used, "%s %u", missing++ ? "" : "all but", i);
        }
    if (!missing)
        snprintf(text, sizeof(text), "all of %u", KIT_AXIS_ROWS);
    ask_row(ask, "rows of the covering array that ran", text);
}

static struct way way_of(const struct program_ask *how, unsigned number, unsigned k)
{
    unsigned ways = how->streams ? STREAM_WAYS : WAY_ONE_CALL;
    struct way way;

    way.stream = how->streams;
    way.make = how->only_one_call ? WAY_ONE_CALL : (number + k * 5) % ways;
    way.exec = (number / ways + k) % EXEC_WAYS;
    if (how->uploaded || way.exec == EXEC_UPLOADED)
        way.exec = how->uploaded ? EXEC_UPLOADED : EXEC_PLAIN;
    if (how->streams && way.make != WAY_CAPTURED && way.make != WAY_CAPTURED_TO_GRAPH && way.exec != EXEC_SECOND && way.exec != EXEC_AGAIN &&
        way.exec != EXEC_ORPHAN)
        way.exec = EXEC_PLAIN; /* the others have to know the nodes */
    return way;
}

static void tell_difference(struct ask *ask, struct program_room *room, struct program *p, const struct way *way, uint64_t seed, char *text,
                            size_t size)
{
    static char row[1024], program[768];
    char name[128];

    shrink(room, p, way, seed, text, size);
    way_text(way, name, sizeof(name));
    program_text(p, program, sizeof(program));
    snprintf(row, sizeof(row), "%s: %s: %s", name, text, program);
    ask_row(ask, "smallest program that differs", row);
}

static void say_way(const struct ask *ask, const struct way *way, unsigned number)
{
    char name[128];

    way_text(way, name, sizeof(name));
    ask_says(ask, name, number, ask->trials);
}

static int ask_program(struct ask *ask, struct program_room *room, const struct program_ask *how, unsigned number, unsigned ways,
                       struct counts *counts)
{
    static struct program p;
    struct dice dice = { ask->seed ^ (uint64_t)number * 0xD1342543DE82EF95ull };
    unsigned k;

    (how->streams ? program_draw_stream : program_draw_graph)(&p, &dice, &room->size, number);
    for (k = 0; k < ways; k++) {
        struct way way = way_of(how, number, k);
        uint64_t seed = dice_roll(&dice);
        char text[128] = "";
        unsigned wrong;
        say_way(ask, &way, number);
        if (!try_way(room, &p, &way, seed, &wrong, text, sizeof(text))) {
            counts->unmade++;
            continue;
        }
        counts->made++;
        count_rows(counts, &p);
        counts->wrong += wrong != 0;
        if (wrong && counts->wrong <= TOLD && !how->blind)
            tell_difference(ask, room, &p, &way, seed, text, sizeof(text));
        if (wrong && cudaDeviceSynchronize() != cudaSuccess)
            return 0; /* the device is lost */
        if (wrong && !how->blind)
            return 1; /* the program may have been made smaller */
    }
    return 1;
}

static void ask_programs(struct ask *ask, struct program_room *room, const struct program_ask *how)
{
    struct counts counts;
    unsigned number, ways = how->only_one_call || how->uploaded ? 1 : 3;
    unsigned long long programs = ask->trials / (how->blind ? 2 : 1) + 1;

    memset(&counts, 0, sizeof(counts));
    room->blind = room->size.programmatic = how->blind;
    for (number = 0; number < programs; number++)
        if (!ask_program(ask, room, how, number, ways, &counts))
            break;
    ask->asked += (unsigned)counts.made;
    tell_rows(ask, &counts);
    ask_expect_none(ask, how->streams ? "programs for streams that differ" : "programs for graphs that differ", counts.wrong, counts.made);
}

void program_ask(struct ask *ask, const struct program_ask *how)
{
    static struct program_room room;
    cudaError_t error;

    memset(&room, 0, sizeof(room));
    room.kernel = how->kernel;
    room.stream = ask->stream;
    room.side = ask->side;
    error = open_memory(&room);
    if (error == cudaSuccess)
        error = open_streams(&room);
    if (error == cudaSuccess)
        error = measure(&room);
    if (error == cudaSuccess && how->streams && !how->blind)
        program_ask_depth(ask, &room);
    if (error == cudaSuccess)
        ask_programs(ask, &room, how);
    else
        ask_expect(ask, "memory and streams for programs", error, cudaSuccess);
    close_room(&room);
}
