/* program_judge.c - runs programs made in different ways, compares them, and makes a failing one small. */
#include "program.h"
#include "../other_thread.h"
#include "program_rows.h"
#include "try.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHRINK_TRIES 3u        /* a wrong word may need several runs to show */
#define TOLD 4u                /* differences that are told one by one */

void program_differs(struct difference *found, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    if (!found->count++)
        vsnprintf(found->text, sizeof(found->text), format, values);
    va_end(values);
}

/* ---- one run ---- */

/* Every block of a kernel runs once, and so does a host step; what was left out does not. */
static void compare_runs(const struct made *made, struct difference *found)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    uint32_t got[PROGRAM_EARLY + PROGRAM_STEPS];
    unsigned i;

    if (cudaMemcpy(got, room->began + PROGRAM_STEPS, sizeof(got), cudaMemcpyDeviceToHost) != cudaSuccess || got[0] + got[1]) {
        program_differs(found, got[1] ? "a body ran that was not to run" : "a step began before one that it follows had ended");
        return;
    }
    for (i = 0; i < p->steps; i++) {
        const struct step *step = &p->step[i];
        uint32_t runs = step->kind == STEP_HOST ? room->staging->host_runs[i] : got[PROGRAM_EARLY + i];
        uint32_t blocks = step->kind == STEP_HOST ? 1 : program_product(step->grid);
        if (made->left_out >> i & 1 || (step->kind != STEP_HOST && step->kind != STEP_KERNEL && step->kind != STEP_AWAIT))
            blocks = 0;
        if (runs != blocks)
            program_differs(found, "of step %u, %u of %u blocks ran", i, (unsigned)runs, (unsigned)blocks);
    }
}

static int may_be_seen(const struct program *p, unsigned step)
{
    return (p->step[step].kind <= STEP_COPY || p->step[step].kind == STEP_AWAIT) && !program_is_on_host(&p->step[step]);
}

/* The words after a run. */
static void compare_words(const struct made *made, struct difference *found)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i, w;

    program_expect(p, room->key, made->left_out, want);
    if (cudaMemcpy(got, room->data, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        program_differs(found, "its words cannot be read");
        return;
    }
    for (i = 0; i < p->steps; i++)
        for (w = 0; w < PROGRAM_WORDS && (may_be_seen(p, i) || program_is_on_host(&p->step[i])); w++) {
            uint32_t word = program_is_on_host(&p->step[i]) ? room->staging->on_host[i][w] : got[i][w];
            if (word != want[i][w])
                program_differs(found, "step %u has a wrong word", i);
        }
    if (room->host_wrong)
        program_differs(found, "a host step ran before a kernel that it follows had ended");
    compare_runs(made, found);
}

/* A copy of all words, made when these steps had to be complete. when: after what the copy was made. */
static void compare_copy(const struct made *made, const uint32_t *copy, uint64_t complete, const char *when, struct difference *found)
{
    static uint32_t want[PROGRAM_STEPS][PROGRAM_WORDS], got[PROGRAM_STEPS][PROGRAM_WORDS];
    const struct program *p = made->program;
    unsigned i;

    program_expect(p, made->room->key, made->left_out, want);
    if (cudaMemcpy(got, copy, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        program_differs(found, "what was seen %s cannot be read", when);
        return;
    }
    for (i = 0; i < p->steps; i++)
        if ((complete >> i & 1) && may_be_seen(p, i) && memcmp(got[i], want[i], sizeof(got[i])) != 0)
            program_differs(found, "%s step %u had not ended", when, i);
}

/* What another stream saw after the event of a step that records: all that is complete when the step begins. */
static void compare_seen(const struct made *made, uint64_t decoys, struct difference *found)
{
    const struct program *p = made->program;
    unsigned i;
    char when[48];

    for (i = 0; i < p->steps; i++) {
        const uint32_t *seen = program_seen_by(made, decoys, i);
        if (!seen)
            continue;
        snprintf(when, sizeof(when), "after the event of step %u", i);
        compare_copy(made, seen, p->step[i].before, when, found);
    }
}

/* What the copy after the graph saw: all of it. */
static void compare_behind(const struct made *made, struct difference *found)
{
    const uint32_t *seen = program_seen_behind(made);

    if (seen)
        compare_copy(made, seen, ~(uint64_t)0, "after the graph", found);
}

/* What another stream saw after events that were recorded between the launches. */
static void compare_observed(const struct made *made, struct difference *found)
{
    unsigned n;
    char when[80];

    if (made->observed && cudaStreamSynchronize(made->room->observer) != cudaSuccess) {
        program_differs(found, "a stream that waits for events does not end");
        return;
    }
    for (n = 0; n < made->observed; n++) {
        const struct step *step = &made->program->step[made->observed_after[n]];
        uint64_t complete = step->after[made->observed_lane[n]];
        snprintf(when, sizeof(when), "once an event was complete that was recorded after step %u", made->observed_after[n]);
        compare_copy(made, program_seen(made->room, n), complete, when, found);
    }
}

/* Steps of the decoy leave the program's words alone. */
static void compare_decoys(struct program_room *room, const struct program *p, uint64_t decoys, struct difference *found)
{
    static uint32_t got[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i, w;

    if (cudaMemcpy(got, room->data, p->steps * sizeof(got[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        program_differs(found, "its words cannot be read");
        return;
    }
    for (i = 0; i < p->steps; i++)
        for (w = 0; w < PROGRAM_WORDS && decoys >> i & 1; w++)
            if (got[i][w] != room->staging->data[i][w] || room->staging->on_host[i][w] != room->staging->data[i][w])
                program_differs(found, "step %u was to work on other memory", i);
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

struct part {                  /* of the making or launching of an executable graph; another thread may do it */
    struct made *made;
    enum exec_way way;
    cudaGraphExec_t *exec;
    cudaStream_t stream;
    cudaError_t error;
};

static void make_exec(void *of)
{
    struct part *part = (struct part *)of;

    part->error = exec_make(part->made, part->way, part->exec);
}

static void launch_exec(void *of)
{
    struct part *part = (struct part *)of;

    part->error = program_launch_exec(part->made, *part->exec, part->stream, &part->made->dice);
}

static cudaError_t by_any_thread(struct part *part, void (*run)(void *of))
{
    if (part->stream == cudaStreamPerThread || dice_below(&part->made->dice, 24) || !run_in_thread(run, part))
        run(part);
    return part->error;
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
        if (!changes)
            return exec_replace(made, way, exec);
        if (dice_below(&made->dice, 2))
            return cudaSuccess;
        made->changed = next;
        return exec_change(made, way, *exec, next);
    }
    if (made->bodies || (!made->room->destroys && (way == EXEC_SECOND || made->former || dice_below(&made->dice, 2))))
        return cudaSuccess;
    TRY(program_destroy_exec(made, *exec, &made->dice));
    *exec = NULL;
    return cudaSuccess;
}

/* One executable graph never runs beside itself, whatever it was changed to meanwhile: the copy after the second launch finds the words of the
 * first one, which begins late in another stream. */
static void compare_earlier(const struct program_room *room, const struct program *p, struct difference *found)
{
    static uint32_t was[PROGRAM_STEPS][PROGRAM_WORDS], is[PROGRAM_STEPS][PROGRAM_WORDS];

    if (cudaStreamSynchronize(room->apart) != cudaSuccess ||
        cudaMemcpy(was, program_seen(room, COPY_OF_DECOY), p->steps * sizeof(was[0]), cudaMemcpyDeviceToHost) != cudaSuccess ||
        cudaMemcpy(is, program_decoy_words(room), p->steps * sizeof(is[0]), cudaMemcpyDeviceToHost) != cudaSuccess) {
        program_differs(found, "the words of an earlier launch cannot be read");
        return;
    }
    if (memcmp(was, is, p->steps * sizeof(was[0])) != 0)
        program_differs(found, "the graph ran beside an earlier launch of itself");
}

/* What happens between the two launches has no part in their order: a change, an upload, the end of another executable graph, a host
 * call that changes nothing. */
static cudaError_t launch_earlier(struct made *made, cudaGraphExec_t exec, enum exec_way way, unsigned time, cudaStream_t stream)
{
    cudaGraphExec_t other = NULL;

    if (!made->bodies && dice_below(&made->dice, 2))
        TRY(exec_make_sibling(made, &other));
    TRY(program_launch_earlier(made, exec));
    TRY(exec_change(made, way, exec, time));
    if (made->room->uploads)
        TRY(program_upload(made, exec, stream, &made->dice));
    if (dice_below(&made->dice, 2))
        TRY(program_change_nothing(made, stream, &made->dice));
    return other ? program_destroy_exec(made, other, &made->dice) : cudaSuccess;
}

/* One launch, with work before it and after it in its stream; twice: the one before it still runs, or has not begun. */
static cudaError_t launch_once(struct made *made, cudaGraphExec_t *exec, enum exec_way way, unsigned time, int twice,
                               struct difference *found)
{
    static struct program with_around;
    struct program_room *room = made->room;
    struct made now = *made;
    cudaStream_t stream = any_stream(room, &now.dice), prepared_in = dice_below(&now.dice, 2) ? stream : any_stream(room, &now.dice);
    struct part part = { made, way, exec, stream, cudaErrorUnknown };
    int is_decoy = exec_is_decoy(made, time);
    uint64_t decoys = is_decoy ? made->decoy->decoys : 0;
    cudaError_t error;

    with_around = *made->program;
    program_add_around(&now, &with_around, is_decoy, stream != cudaStreamLegacy);
    now.program = &with_around;
    program_text_around(&now, found->around, sizeof(found->around));
    TRY(program_prepare_behind(&now, prepared_in));
    if (prepared_in != stream)
        TRY(cudaStreamWaitEvent(stream, room->prepared, 0));
    made->dice = now.dice;
    TRY(program_detour_of_exec(made, *exec));
    if (twice)
        TRY(launch_earlier(made, *exec, way, time, stream));
    TRY(program_before_launch(made, decoys));
    TRY(program_launch_before(&now, stream, &made->dice));
    if (dice_below(&made->dice, 8) == 0)
        TRY(program_change_nothing(made, stream, &made->dice));
    TRY(by_any_thread(&part, launch_exec));
    if (dice_below(&made->dice, 8) == 0)
        TRY(program_change_nothing(made, stream, &made->dice));
    if (twice)
        TRY(program_see_earlier(made, stream));
    TRY(program_launch_behind(&now, stream, &made->dice));
    error = interfere(made, exec, way, time + 1);
    TRY(program_behind_launch(made, decoys));
    TRY(cudaStreamSynchronize(stream));
    if (is_decoy) {
        compare_decoys(room, made->program, decoys, found);
    } else {
        compare_words(&now, found);
        compare_seen(&now, decoys, found);
        compare_behind(&now, found);
    }
    if (twice)
        compare_earlier(room, made->program, found);
    return error; /* of what was done while it ran: this launch was to be right all the same */
}

static cudaError_t launch(struct made *made, cudaGraphExec_t *exec, enum exec_way way, struct difference *found)
{
    unsigned time;
    int twice;

    for (time = 0; time < exec_launches(made, way) && !found->count; time++) {
        if (time && made->changed != time)
            TRY(exec_change(made, way, *exec, time));
        twice = exec_may_run_twice(made, time) && dice_below(&made->dice, 2);
        time += twice;
        TRY(launch_once(made, exec, way, time, twice, found));
    }
    return cudaSuccess;
}

static cudaError_t run_graph(struct made *made, const struct way *way, struct difference *found)
{
    cudaGraphExec_t exec = NULL;
    struct part part = { made, (enum exec_way)way->exec, &exec, made->room->stream, cudaErrorUnknown };
    cudaError_t error = program_detour(made);

    if (error == cudaSuccess)
        error = by_any_thread(&part, make_exec);
    made->changed = 0;
    if (error == cudaSuccess && made->room->uploads && way->exec == EXEC_REENABLED)
        error = program_upload(made, exec, made->room->stream, &made->dice);
    if (error == cudaSuccess)
        error = launch(made, &exec, (enum exec_way)way->exec, found);
    if (error != cudaSuccess)
        (void)cudaDeviceSynchronize(); /* what was launched before the error, or before the way was declined, touches no other program */
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (made->former)
        (void)cudaGraphExecDestroy(made->former);
    made->former = NULL;
    return error;
}

static cudaError_t try_graph(struct made *made, const struct way *way, struct difference *found)
{
    TRY(graph_make(made, (enum graph_way)way->make));
    if (!made->room->blind)
        graph_compare(made, found);
    if (made->loops)
        TRY(program_close_loop(made));
    return found->count ? cudaSuccess : run_graph(made, way, found);
}

static cudaError_t try_stream(struct made *made, const struct way *way, struct difference *found)
{
    if (stream_way_captures((enum stream_way)way->make) && !made->program->legacy) {
        TRY(stream_make(made, (enum stream_way)way->make));
        made->inner = made->graph;
        if (!made->room->blind && !program_captured_right(made, (enum stream_way)way->make)) {
            program_differs(found, "a captured launch has another edge than its attribute or its event says, or another attribute");
            return cudaSuccess;
        }
        return run_graph(made, way, found);
    }
    TRY(program_prepare(made));
    TRY(stream_make(made, (enum stream_way)way->make));
    compare_words(made, found);
    compare_observed(made, found);
    return cudaSuccess;
}

enum tried { TRIED_MADE, TRIED_DECLINED, TRIED_REFUSED }; /* refused: by the device, which may */

/* found: what is wrong with this program made in this way. */
static enum tried try_way(struct program_room *room, const struct program *p, const struct way *way, uint64_t seed, struct difference *found)
{
    struct made made = PDL_ZERO;
    cudaError_t error;

    memset(found, 0, sizeof(*found));
    made.program = p;
    made.room = room;
    made.dice.state = seed;
    made.detours = way->exec != EXEC_UPDATED; /* which pairs nodes by the order in which they and their edges came and went */
    error = (way->stream ? try_stream : try_graph)(&made, way, found);
    if (ask_lacks_means(error) && !made.declined) {
        made.declined = made.refused = 1;
        (void)cudaDeviceSynchronize(); /* what was launched touches no other program */
    }
    if (error != cudaSuccess && !made.declined) {
        found->error = found->count ? cudaSuccess : error;
        program_differs(found, "a call gave %s", cudaGetErrorName(error));
    }
    (void)cudaGetLastError();
    graph_unmake(&made);
    if (!made.declined || found->count)
        return TRIED_MADE;
    return made.refused ? TRIED_REFUSED : TRIED_DECLINED;
}

/* ---- the smallest program that still differs, without kernels around its graph if they need not be ---- */

/* A call that fails where none did is a misuse that the smaller program makes, or another difference. */
static int still_differs(struct program_room *room, const struct program *p, const struct way *way, uint64_t seed, struct difference *found)
{
    struct difference now = { 0 };
    unsigned i;

    for (i = 0; i < SHRINK_TRIES && !now.count; i++)
        if (try_way(room, p, way, seed + i, &now) != TRIED_MADE)
            return 0;
    if (!now.count || now.error != found->error)
        return 0;
    *found = now;
    return 1;
}

static void shrink(struct program_room *room, struct program *p, const struct way *way, uint64_t seed, struct difference *found)
{
    static struct program smaller;
    struct dice dice = { seed };
    int moved = 1;
    unsigned i;

    room->alone = 1;
    room->alone = still_differs(room, p, way, seed, found);
    while (moved) {
        moved = 0;
        for (i = p->steps; i-- > 0 && p->steps > 1;) {
            smaller = *p;
            program_without_step(&smaller, i);
            program_entitle(&smaller, &dice);
            if (still_differs(room, &smaller, way, seed, found)) {
                *p = smaller;
                moved = 1;
            }
        }
        for (i = p->links; i-- > 0;) {
            smaller = *p;
            program_without_link(&smaller, i);
            program_entitle(&smaller, &dice);
            if (still_differs(room, &smaller, way, seed, found)) {
                *p = smaller;
                moved = 1;
            }
        }
    }
}

/* ---- the questions ---- */

struct counts {
    unsigned long long made, wrong, declined, refused;
    unsigned char row[KIT_AXIS_ROWS]; /* of the covering array: ran as a kernel step */
};

/* No device can pass by refusing: most programs have to be made. */
static void tell_unmade(struct ask *ask, const struct counts *counts)
{
    char text[96];

    snprintf(text, sizeof(text), "%llu of %llu, and %llu that the device refused", counts->declined,
             counts->made + counts->declined + counts->refused, counts->refused);
    ask_row(ask, "programs that a way cannot make", text);
    if (counts->made <= counts->declined + counts->refused)
        ask_skip(ask, "programs that a way cannot make", text);
}

static struct way way_of(enum program_subject subject, unsigned number, unsigned k)
{
    struct way way;
    unsigned ways;

    way.stream = subject == PROGRAM_STREAMS;
    ways = way.stream ? STREAM_WAYS : WAY_ONE_CALL;
    way.make = subject == PROGRAM_TOGETHER ? WAY_ONE_CALL : (number + k * 5) % ways;
    way.exec = (number / ways + k) % EXEC_WAYS;
    if (subject == PROGRAM_DESTROYED)
        way.exec = EXEC_SECOND;
    else if (subject == PROGRAM_UPLOADED)
        way.exec = number % 3 == 0 ? EXEC_BY_NODE : number % 3 == 1 ? EXEC_REENABLED : EXEC_UPLOADED;
    else if (way.exec == EXEC_UPLOADED)
        way.exec = EXEC_PLAIN;
    if (way.stream && way.make != WAY_CAPTURED && way.make != WAY_CAPTURED_TO_GRAPH && way.exec != EXEC_SECOND && way.exec != EXEC_AGAIN &&
        way.exec != EXEC_ORPHAN)
        way.exec = EXEC_PLAIN; /* the others have to know the nodes */
    return way;
}

static void tell_difference(struct ask *ask, struct program_room *room, struct program *p, const struct way *way, uint64_t seed,
                            struct difference *found)
{
    static char row[3200], program[2048];
    char name[128];

    shrink(room, p, way, seed, found);
    room->alone = 0;
    way_text(way, name, sizeof(name));
    program_text(p, program, sizeof(program));
    snprintf(row, sizeof(row), "%s: %s: %s%s", name, found->text, program, found->around);
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

    program_use_place(room, number / 2);
    (how->subject == PROGRAM_STREAMS ? program_draw_stream : program_draw_graph)(&p, &dice, &room->size, number);
    for (k = 0; k < ways; k++) {
        struct way way = way_of(how->subject, number, k);
        uint64_t seed = dice_roll(&dice);
        struct difference found;
        enum tried tried;
        say_way(ask, &way, number);
        tried = try_way(room, &p, &way, seed, &found);
        counts->declined += tried == TRIED_DECLINED;
        counts->refused += tried == TRIED_REFUSED;
        if (tried != TRIED_MADE)
            continue;
        counts->made++;
        program_count_rows(counts->row, &p, way.stream && !stream_way_captures((enum stream_way)way.make));
        counts->wrong += found.count != 0;
        if (found.count)
            ask_accuse(ask, "a program that differs", found.text);
        if (found.count && counts->wrong <= TOLD && !how->blind)
            tell_difference(ask, room, &p, &way, seed, &found);
        if (found.count && cudaDeviceSynchronize() != cudaSuccess)
            return 0; /* the device is lost */
        if (found.count && !how->blind)
            return 1; /* the program may have been made smaller */
    }
    return 1;
}

static void ask_programs(struct ask *ask, struct program_room *room, const struct program_ask *how)
{
    struct counts counts = PDL_ZERO;
    unsigned number, ways = how->subject == PROGRAM_GRAPHS || how->subject == PROGRAM_STREAMS ? 3 : 1;
    unsigned long long programs = ask->trials + 1;

    room->blind = room->size.programmatic = how->blind;
    room->destroys = how->subject == PROGRAM_DESTROYED;
    room->uploads = how->subject == PROGRAM_UPLOADED;
    for (number = 0; number < programs && !(how->blind && counts.wrong >= ASK_WRONG_ENOUGH); number++)
        if (!ask_program(ask, room, how, number, ways, &counts))
            break;
    ask->asked += (unsigned)counts.made;
    program_tell_rows(ask, counts.row);
    tell_unmade(ask, &counts);
    ask_expect_none(ask, how->subject == PROGRAM_STREAMS ? "programs for streams that differ" : "programs for graphs that differ",
                    counts.wrong, counts.made);
}

void program_ask(struct ask *ask, const struct program_ask *how)
{
    static struct program_room room;
    cudaError_t error;

    memset(&room, 0, sizeof(room));
    room.kernel = how->kernel;
    memcpy(room.size.more, how->more, sizeof(how->more));
    room.goes_on = how->goes_on;
    room.stream = ask->stream;
    room.side = ask->side;
    error = program_open_room(&room);
    if (error == cudaSuccess && how->subject == PROGRAM_STREAMS && !how->blind)
        program_ask_depth(ask, &room);
    if (error == cudaSuccess)
        ask_programs(ask, &room, how);
    else
        ask_expect(ask, "memory and streams for programs", error, cudaSuccess);
    program_close_room(&room);
}
