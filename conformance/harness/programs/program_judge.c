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
    size_t plans = 2 * PROGRAM_STEPS * sizeof(struct step_plan), words = (3 + PROGRAM_SEEN) * PROGRAM_STEPS * STEP_BYTES;
    size_t began = (PROGRAM_BEGAN + PROGRAM_STEPS + PROGRAM_EARLY) * 4, ahead = 64 * 4, ahead_plans = sizeof(room->staging->ahead);
    size_t all = plans + ahead_plans + words + began + ahead + sizeof(struct trial_state);
    char *memory;

    TRY(cudaHostAlloc((void **)&room->staging, sizeof(*room->staging), cudaHostAllocMapped));
    memset(room->staging, 0, sizeof(*room->staging));
    TRY(cudaHostGetDevicePointer((void **)&room->mapped, room->staging, 0));
    TRY(cudaMalloc((void **)&memory, all));
    TRY(cudaMemset(memory, 0, all));
    TRY(cudaDeviceSynchronize()); /* the streams of a program do not wait for the default one */
    room->plan = (struct step_plan *)(void *)memory;
    room->ahead_plan = (struct step_plan *)(void *)(memory + plans);
    memory += plans + ahead_plans;
    room->data = (uint32_t *)(void *)memory;
    room->seen = room->data + 2 * PROGRAM_STEPS * PROGRAM_WORDS;
    room->began = (uint32_t *)(void *)(memory + words);
    room->ahead = (uint32_t *)(void *)(memory + words + began);
    room->state = (struct trial_state *)(void *)(memory + words + began + ahead);
    return cudaSuccess;
}

/* Where events for other processes cannot be had, without that flag. */
static cudaError_t open_events(struct program_room *room)
{
    static const unsigned flags[] = { cudaEventDefault, cudaEventBlockingSync | cudaEventDisableTiming, cudaEventInterprocess | cudaEventDisableTiming };
    unsigned i;

    for (i = 0; i < PROGRAM_OTHER_EVENTS; i++)
        if (cudaEventCreateWithFlags(&room->other_event[i], flags[i % 3]) != cudaSuccess) {
            (void)cudaGetLastError();
            TRY(cudaEventCreateWithFlags(&room->other_event[i], cudaEventDisableTiming));
        }
    TRY(cudaEventCreateWithFlags(&room->prepared, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room->never, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room->passed, cudaEventDisableTiming));
    TRY(cudaEventRecord(room->passed, room->stream));
    return cudaStreamSynchronize(room->stream);
}

static cudaError_t open_streams(struct program_room *room)
{
    int least, priority;
    unsigned i, flags;

    TRY(cudaDeviceGetStreamPriorityRange(&least, &room->high_priority));
    TRY(cudaStreamCreate(&room->blocking)); /* what becomes of a stream is nothing to those that are made after it */
    TRY(cudaStreamDestroy(room->blocking));
    TRY(cudaStreamCreateWithFlags(&room->blocking, cudaStreamDefault));
    TRY(cudaStreamCreateWithFlags(&room->relay, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithPriority(&room->urgent, cudaStreamNonBlocking, room->high_priority));
    TRY(cudaStreamGetPriority(room->urgent, &priority));
    TRY(cudaStreamGetFlags(room->urgent, &flags));
    if (priority != room->high_priority || flags != cudaStreamNonBlocking)
        return cudaErrorUnknown;
    TRY(cudaStreamCreateWithFlags(&room->apart, cudaStreamNonBlocking));
    TRY(open_events(room));
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
    cudaEvent_t events[] = { room->prepared, room->never, room->passed };

    for (i = 0; i < 3; i++)
        if (events[i])
            (void)cudaEventDestroy(events[i]);
    for (i = 0; i < PROGRAM_OTHER_EVENTS; i++)
        if (room->other_event[i])
            (void)cudaEventDestroy(room->other_event[i]);
    if (room->apart)
        (void)cudaStreamDestroy(room->apart);
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

/* Every block of a kernel runs once, and so does a host step; what was left out does not. */
static unsigned compare_runs(const struct made *made, char *text, size_t size)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    uint32_t got[PROGRAM_EARLY + PROGRAM_STEPS];
    unsigned i, wrong = 0;

    if (cudaMemcpy(got, room->began + PROGRAM_STEPS, sizeof(got), cudaMemcpyDeviceToHost) != cudaSuccess || got[0] + got[1]) {
        snprintf(text, size, got[1] ? "a body ran that was not to run" : "a step began before one that it follows had ended");
        return 1;
    }
    for (i = 0; i < p->steps; i++) {
        const struct step *step = &p->step[i];
        uint32_t runs = step->kind == STEP_HOST ? room->staging->host_runs[i] : got[PROGRAM_EARLY + i];
        uint32_t blocks = step->kind == STEP_HOST ? 1 : step->grid[0] * step->grid[1] * step->grid[2];
        if (made->left_out >> i & 1 || (step->kind != STEP_HOST && step->kind != STEP_KERNEL && step->kind != STEP_AWAIT))
            blocks = 0;
        if (runs != blocks && !wrong++)
            snprintf(text, size, "of step %u, %u of %u blocks ran", i, (unsigned)runs, (unsigned)blocks);
    }
    return wrong;
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
    if (room->host_wrong && !wrong++)
        snprintf(text, size, "a host step ran before a kernel that it follows had ended");
    return wrong ? wrong : compare_runs(made, text, size);
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

/* What the copy after the graph saw: all of it. */
static unsigned compare_behind(const struct made *made, char *text, size_t size)
{
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    const uint32_t *seen = program_seen_behind(made);
    unsigned i, wrong = 0;

    if (!seen)
        return 0;
    program_expect(made->program, made->room->key, made->left_out, want);
    if (cudaMemcpy(got, seen, made->program->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        snprintf(text, size, "what was seen behind the graph cannot be read");
        return 1;
    }
    for (i = 0; i < made->program->steps; i++)
        if (may_be_seen(made->program, i) && memcmp(got[i], want[i], sizeof(got[i])) != 0 && !wrong++)
            snprintf(text, size, "behind the graph step %u had not ended", i);
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

/* While the graph runs: its nodes change for the next launch only; and an executable graph that is destroyed still ends. One of several of
 * its graph is destroyed so by rule SAME-04 alone: a driver is known that ends the process then. */
static cudaError_t interfere(struct made *made, cudaGraphExec_t *exec, enum exec_way way, unsigned next)
{
    int changes = way == EXEC_UPDATED || way == EXEC_BY_NODE || way == EXEC_REENABLED;

    if (next < exec_launches(made, way)) {
        if (!changes || dice_below(&made->dice, 2))
            return cudaSuccess;
        made->changed = next;
        return exec_change(made, way, *exec, next);
    }
    if (made->bodies || (!made->room->destroys && (way == EXEC_SECOND || dice_below(&made->dice, 2))))
        return cudaSuccess;
    TRY(cudaGraphExecDestroy(*exec));
    *exec = NULL;
    return cudaSuccess;
}

/* One launch, with work before it and after it in its stream. */
static cudaError_t launch_once(struct made *made, cudaGraphExec_t *exec, enum exec_way way, unsigned time, unsigned *wrong, char *text, size_t size)
{
    static struct program with_behind;
    struct program_room *room = made->room;
    struct made now = *made;
    cudaStream_t stream = any_stream(room, &now.dice);
    int is_decoy = exec_is_decoy(made, time);
    uint64_t decoys = is_decoy ? made->decoy->decoys : 0;
    cudaError_t error;

    with_behind = *made->program;
    program_add_behind(&now, &with_behind, is_decoy);
    now.program = &with_behind;
    TRY(program_prepare_behind(&now, stream));
    made->dice = now.dice;
    TRY(program_before_launch(made, decoys));
    TRY(cudaGraphLaunch(*exec, stream));
    TRY(program_launch_behind(&now, stream));
    error = interfere(made, exec, way, time + 1);
    TRY(program_behind_launch(made, decoys));
    TRY(cudaStreamSynchronize(stream));
    TRY(error);
    *wrong = is_decoy ? compare_decoys(room, made->program, decoys, text, size) : compare_words(&now, text, size);
    if (!*wrong && !is_decoy)
        *wrong = compare_seen(&now, decoys, text, size);
    if (!*wrong && !is_decoy)
        *wrong = compare_behind(&now, text, size);
    return cudaSuccess;
}

static cudaError_t launch(struct made *made, cudaGraphExec_t *exec, enum exec_way way, unsigned *wrong, char *text, size_t size)
{
    unsigned time;

    for (time = 0; time < exec_launches(made, way) && !*wrong; time++) {
        if (time && made->changed != time)
            TRY(exec_change(made, way, *exec, time));
        TRY(launch_once(made, exec, way, time, wrong, text, size));
    }
    return cudaSuccess;
}

static cudaError_t run_graph(struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = exec_make(made, (enum exec_way)way->exec, &exec);

    made->changed = 0;
    if (error == cudaSuccess)
        error = launch(made, &exec, (enum exec_way)way->exec, wrong, text, size);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t try_graph(struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    TRY(graph_make(made, (enum graph_way)way->make));
    *wrong = made->room->blind ? 0 : graph_compare(made, text, size);
    return *wrong ? cudaSuccess : run_graph(made, way, wrong, text, size);
}

static cudaError_t try_stream(struct made *made, const struct way *way, unsigned *wrong, char *text, size_t size)
{
    if (stream_way_captures((enum stream_way)way->make) && !made->program->legacy) {
        TRY(stream_make(made, (enum stream_way)way->make));
        made->inner = made->graph;
        if (!made->room->blind && !program_captured_right(made, (enum stream_way)way->make)) {
            snprintf(text, size, "a captured launch has another edge than its attribute or its event says");
            *wrong = 1;
            return cudaSuccess;
        }
        return run_graph(made, way, wrong, text, size);
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
    error = (way->stream ? try_stream : try_graph)(&made, way, wrong, text, size);
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
    if (how->destroyed)
        way.exec = EXEC_SECOND;
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
    unsigned number, ways = how->only_one_call || how->uploaded || how->destroyed ? 1 : 3;
    unsigned long long programs = ask->trials / (how->blind ? 2 : 1) + 1;

    memset(&counts, 0, sizeof(counts));
    room->blind = room->size.programmatic = how->blind;
    room->destroys = how->destroyed;
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
