/* replay.cu - executable graphs with programmatic edges, launched again and again: the kernels check each other's words.
 *
 * pair      rules     what is launched
 * million   EDGE-09b  one executable graph, a million times in the full profile
 * two       EDGE-09c  two executable graphs of one graph, each with memory of its own, in two streams
 * disabled  EDGE-27   graphs whose middle node, with a programmatic edge on either side or both, is disabled (GPU only; AMB-14)
 * boundary  COMP-12   a kernel that triggers, then a graph whose root does not wait; and a graph, then a kernel with the attribute
 *
 * Mutants: `nowait`, the reader does not wait; `otherstream`, the second of two launches goes to another stream.
 *
 * The writer counts its launches, triggers, and stores late; the reader, after a programmatic edge, waits and compares.
 */
#include <stddef.h>

#include "cleared.h"
#include "graph_ask.h"
#include "kernel.h"

#ifdef MUTANT_nowait
#define WAITS 0
#else
#define WAITS 1
#endif
#ifdef MUTANT_otherstream
#define SECOND_STREAM(ask) ((ask)->side)
#else
#define SECOND_STREAM(ask) ((ask)->stream)
#endif

#define REPLAY_WORDS 32u         /* one per thread */
#define REPLAY_BOUND_NS 20000u
#define REPLAY_KEY 0x9E3779B97F4A7C15ull

/* trial_state: began counts the writer's launches, finished the reader's, early the words that were wrong, witnessed is the last
 * launch whose reader ran, alive how many of them began before their writer had stored. */

KERNEL(replay_writer)
{
    uint32_t launch = k_load_relaxed(&args.state->began) + 1;

    k_trigger();
    if (k_thread() == 0) {
        (void)k_poll(args.state, &args.state->witnessed, launch, REPLAY_BOUND_NS);
        k_delay(args.state, launch % 8 * 100);
    }
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(REPLAY_KEY + launch, k_thread()));
    k_barrier();
    if (k_thread() == 0)
        k_store(&args.state->began, launch);
}

DEVICE_FN void compares(const struct kernel_args *args, uint32_t waits)
{
    uint32_t before = k_load_relaxed(&args->state->began), launch;

    if (k_thread() == 0)
        k_store_relaxed(&args->state->witnessed, before + 1);
    if (waits) {
        (void)k_load(args->data + k_thread()); /* what this leaves in the cache does not outlive the wait */
        k_wait_device();
    }
    launch = k_load(&args->state->began);
    if (k_load(args->data + k_thread()) != words_fresh(REPLAY_KEY + launch, k_thread()))
        k_add(&args->state->early, 1);
    if (k_thread() == 0) {
        uint32_t missed = launch != k_load_relaxed(&args->state->finished) + 1; /* its words are those of an earlier launch */

        if (missed)
            k_add(&args->state->early, 1);
        if (missed || before != launch)
            k_add(&args->state->alive, 1);
    }
    k_barrier();
    if (k_thread() == 0)
        k_add(&args->state->finished, 1);
}

KERNEL(replay_middle)
{
    (void)args;
    k_trigger();
    k_wait_device();
}

KERNEL(replay_reader) { compares(&args, WAITS); }
KERNEL(replay_bare_reader) { compares(&args, 0); }

/* ---- host ---- */

struct room {                    /* device memory of one writer and its reader */
    struct kernel_args args;
};

static cudaError_t open_room(struct room *room)
{
    char *memory = NULL;
    cudaError_t error = cleared_alloc((void **)&memory, sizeof(struct trial_state) + REPLAY_WORDS * sizeof(uint32_t));

    memset(room, 0, sizeof(*room));
    if (error != cudaSuccess)
        return error;
    room->args.state = (struct trial_state *)memory;
    room->args.data = (uint32_t *)(memory + sizeof(struct trial_state));
    return cudaSuccess;
}

static void close_room(struct room *room) { (void)cudaFree(room->args.state); }

static cudaError_t add_pair(cudaGraph_t graph, struct room *room, cudaGraphNode_t *writer, cudaGraphNode_t *reader)
{
    cudaGraphEdgeData data = edges_data(1, 0, 1);
    cudaError_t error = ask_add_kernel(writer, graph, (const void *)SYMBOL(replay_writer), &room->args, REPLAY_WORDS);

    if (error == cudaSuccess)
        error = ask_add_kernel(reader, graph, (const void *)SYMBOL(replay_reader), &room->args, REPLAY_WORDS);
    return error == cudaSuccess ? edges_add(graph, writer, reader, &data, 1) : error;
}

/* Everything that was launched ran, in order; how much of it overlapped is noted, and some has to have. */
static void judge_room(struct ask *ask, const struct room *room, unsigned long long launches, int overlaps, const char *what)
{
    struct trial_state state;
    char text[96];

    if (cudaMemcpy(&state, room->args.state, sizeof(state), cudaMemcpyDeviceToHost) != cudaSuccess) {
        ask_skip(ask, what, "its memory could not be read");
        return;
    }
    snprintf(text, sizeof(text), "%s: launches that ended", what);
    ask_expect_number(ask, text, (long)state.finished, (long)launches);
    snprintf(text, sizeof(text), "%s: wrong words", what);
    ask_expect_none(ask, text, state.early > launches ? launches : state.early, launches);
    snprintf(text, sizeof(text), "%llu launches, %u overlapped", launches, state.alive);
    ask_row(ask, what, text);
    if (overlaps && state.alive < launches / 2)
        ask_skip(ask, what, "too few launches overlapped");
}

static void ask_million(struct ask *ask)
{
    struct room room;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t writer, reader;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = open_room(&room);
    unsigned long long i;

    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = add_pair(graph, &room, &writer, &reader);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, graph, 0);
    for (i = 0; ask_goes_on(ask, i, ask->trials) && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(exec, ask->stream);
        if (error == cudaSuccess && i % 1024 == 1023)
            error = cudaStreamSynchronize(ask->stream);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(ask->stream);
    ask_expect(ask, "launching one executable graph", error, cudaSuccess);
    judge_room(ask, &room, ask->trials, 1, "one executable graph");
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    close_room(&room);
}

static cudaError_t give_room(cudaGraphExec_t exec, cudaGraphNode_t node, const void *function, struct room *room)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(function, REPLAY_WORDS, values);

    values[0] = &room->args;
    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
}

static void ask_two(struct ask *ask)
{
    unsigned long long launches = ask->trials, i;
    struct room room[2] = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t writer, reader;
    cudaGraphExec_t exec[2] = { NULL, NULL };
    cudaStream_t stream[2];
    cudaError_t error = open_room(&room[0]);

    stream[0] = ask->stream;
    stream[1] = ask->side;
    if (error == cudaSuccess)
        error = open_room(&room[1]);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess)
        error = add_pair(graph, &room[0], &writer, &reader);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaGraphInstantiate(&exec[i], graph, 0);
    if (error == cudaSuccess)
        error = give_room(exec[1], writer, (const void *)SYMBOL(replay_writer), &room[1]);
    if (error == cudaSuccess)
        error = give_room(exec[1], reader, (const void *)SYMBOL(replay_reader), &room[1]);
    for (i = 0; ask_goes_on(ask, i, 2 * launches) && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(exec[i % 2], stream[i % 2]);
        if (error == cudaSuccess && i % 1024 == 1023)
            error = cudaStreamSynchronize(stream[i % 2]);
    }
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaStreamSynchronize(stream[i]);
    ask_expect(ask, "launching two executable graphs", error, cudaSuccess);
    judge_room(ask, &room[0], launches, 1, "the first");
    judge_room(ask, &room[1], launches, 1, "the second");
    for (i = 0; i < 2; i++) {
        (void)cudaGraphExecDestroy(exec[i]);
        close_room(&room[i]);
    }
    (void)cudaGraphDestroy(graph);
}

/* ---- boundary ---- */

static cudaError_t launch(const void *function, struct room *room, cudaStream_t stream, int attribute)
{
    cudaLaunchAttribute attr = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(REPLAY_WORDS, stream);
    void *params[1];

    params[0] = &room->args;
    attr.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attr.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attr;
    config.numAttrs = attribute ? 1 : 0;
    return cudaLaunchKernelExC(&config, function, params);
}

/* A graph of one kernel. beside: and of a second one, which is added after it, stands beside it and ends at once. */
static cudaError_t instantiate_one(cudaGraphExec_t *exec, const void *function, struct room *room, int beside)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&node, graph, function, &room->args, REPLAY_WORDS);
    if (error == cudaSuccess && beside)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(replay_middle), &room->args, 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* graph_first: the writer lies in a graph and the reader follows with the attribute and waits; else the writer is launched and
 * the reader, which does not wait, lies in a graph. */
static void boundary(struct ask *ask, int graph_first, const char *what)
{
    struct room room;
    cudaGraphExec_t exec[2] = { NULL, NULL };
    cudaError_t error = open_room(&room);
    unsigned long long i;

    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = instantiate_one(&exec[i], graph_first ? (const void *)SYMBOL(replay_writer) : (const void *)SYMBOL(replay_bare_reader), &room,
                                i % 2 != 0);
    for (i = 0; ask_goes_on(ask, i, ask->trials) && error == cudaSuccess; i++) {
        error = graph_first ? cudaGraphLaunch(exec[i % 2], ask->stream) : launch((const void *)SYMBOL(replay_writer), &room, ask->stream, 0);
        if (error == cudaSuccess)
            error = graph_first ? launch((const void *)SYMBOL(replay_reader), &room, SECOND_STREAM(ask), 1)
                                : cudaGraphLaunch(exec[i % 2], SECOND_STREAM(ask));
        if (error == cudaSuccess && i % 256 == 255)
            error = cudaDeviceSynchronize();
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    ask_expect(ask, what, error, cudaSuccess);
    judge_room(ask, &room, ask->trials, 0, what);
    for (i = 0; i < 2; i++)
        if (exec[i])
            (void)cudaGraphExecDestroy(exec[i]);
    close_room(&room);
}

static void ask_boundary(struct ask *ask)
{
    boundary(ask, 0, "kernel, then graph");
    boundary(ask, 1, "graph, then kernel with the attribute");
}

/* ---- disabled ---- */

#ifndef PDL_MODEL
/* Writer, middle, reader, the middle disabled: does the reader overlap the writer, and does it see all of it? */
struct around {
    const char *what;
    cudaGraphEdgeData before, behind;
    const void *reader;          /* after a full edge it does not wait */
};

static cudaError_t make_around(const struct around *around, struct room *room, cudaGraphExec_t *exec)
{
    cudaGraphEdgeData data[2];
    cudaGraphNode_t from[2], to[2];
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    data[0] = around->before;
    data[1] = around->behind;
    if (error == cudaSuccess)
        error = ask_add_kernel(&from[0], graph, (const void *)SYMBOL(replay_writer), &room->args, REPLAY_WORDS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&to[0], graph, (const void *)SYMBOL(replay_middle), &room->args, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&to[1], graph, around->reader, &room->args, REPLAY_WORDS);
    from[1] = to[0];
    if (error == cudaSuccess)
        error = edges_add(graph, from, to, data, 2);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphNodeSetEnabled(*exec, to[0], 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static void ask_around(struct ask *ask, const struct around *around, unsigned launches)
{
    struct trial_state state = PDL_ZERO;
    struct room room;
    cudaGraphExec_t exec = NULL;
    char text[128];
    unsigned i;
    cudaError_t error = open_room(&room);

    if (error == cudaSuccess)
        error = make_around(around, &room, &exec);
    for (i = 0; ask_goes_on(ask, i, launches) && error == cudaSuccess; i++) {
        error = cudaGraphLaunch(exec, ask->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(ask->stream);
    }
    snprintf(text, sizeof(text), "%u launches with the middle node disabled, %s", launches, around->what);
    ask_note(ask, text, error);
    if (error == cudaSuccess)
        error = cudaMemcpy(&state, room.args.state, sizeof(state), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) {
        ask_note_number(ask, "readers that began before their writer had stored", (long)state.alive);
        ask_note_number(ask, "wrong words or launches that they read", (long)state.early);
    }
    (void)cudaGraphExecDestroy(exec);
    close_room(&room);
}

static void ask_disabled(struct ask *ask)
{
    struct around around[3] = PDL_ZERO;
    unsigned i;

    around[0].what = "programmatic edges on both sides";
    around[1].what = "a full edge before it, a programmatic one after it";
    around[2].what = "a programmatic edge before it, a full one after it";
    for (i = 0; i < 3; i++) {
        around[i].before = edges_data(i != 1, 0, i != 1);
        around[i].behind = edges_data(i != 2, 0, i != 2);
        around[i].reader = i == 2 ? (const void *)SYMBOL(replay_bare_reader) : (const void *)SYMBOL(replay_reader);
        ask_around(ask, &around[i], 200);
    }
}
#endif

static const struct pair replay_pairs[] = {
    PAIR_ASK("million", ask_million),
    PAIR_ASK("two", ask_two),
    PAIR_ASK("boundary", ask_boundary),
#ifndef PDL_MODEL
    PAIR_ASK("disabled", ask_disabled),
#endif
};
IMAGE(replay, replay_pairs)
