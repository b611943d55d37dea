/* joins_kinds.h - the pair of joins.cu with a graph between work of every kind: words are handed on from cell to cell, and whoever goes too soon
 * hands on old ones. */
#ifndef JOINS_KINDS_H_INCLUDED
#define JOINS_KINDS_H_INCLUDED

#define CELL_BYTES (PLACE_WORDS * sizeof(uint32_t))
#define CELLS 5u               /* the work's, and one for each that hands on */

enum by {
    BY_KERNEL, BY_SET, BY_COPY, BY_COPY_IN, BY_COPY_OUT, BY_HOST, BY_RECORD, BY_WAIT, BY_GRAPH, BY_EMPTY_GRAPH, BYS
};
static const char *const by_name[BYS] = { "a kernel that triggers first", "a memset", "a copy", "a copy to the device", "a copy from the device",
                                          "a host function", "an event's record", "a wait for an event", "another graph", "a graph without nodes" };
static const enum by node_by[] = { BY_KERNEL, BY_SET, BY_COPY, BY_HOST }; /* what the node of a graph may be */
#define NODE_BYS (sizeof(node_by) / sizeof(node_by[0]))

/* Reads first, stores late. */
KERNEL(joins_carrier)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t word = k_load(args.data + k_thread());

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_store(args.seen + k_thread(), word);
}

struct chain {
    struct joins *joins;
    cudaStream_t stream, beside;
    cudaEvent_t event, back;
    cudaGraphExec_t empty, made[4]; /* made: of this trial */
    uint32_t *buffer;          /* of the device: two times the words of a cell */
    struct kernel_args args[CELLS];
    struct ask_hand hand[CELLS];
    unsigned cell, graphs;     /* the last cell that has words; graphs of this trial */
    uint32_t *there;           /* where in the buffer the words are by now, or NULL: they are in that cell */
    uint32_t value, set[CELLS]; /* what a memset made of the words, and of those in each cell; 0: nothing yet */
    unsigned step[CELLS];      /* who had it last: 0 the work, 1 before the graph, 2 the graph, 3 after it */
    unsigned soon, late[2][BYS], trials[2][BYS]; /* too soon after the work; graphs after it that were too soon; it after graphs */
};

static uint32_t *cell_of_host(struct chain *c, unsigned cell) { return c->joins->pinned->seen[cell]; }
static uint32_t *cell_of_device(struct chain *c, unsigned cell) { return c->joins->follower[cell].seen; }
static uint32_t *words_now(struct chain *c) { return c->there ? c->there : cell_of_device(c, c->cell); }

/* What carries the words from here to the next cell. */
static struct kernel_args *carry_on(struct chain *c, unsigned step)
{
    struct kernel_args *args = &c->args[c->cell];

    *args = c->joins->work[0];
    args->data = words_now(c);
    c->hand[c->cell].from = cell_of_host(c, c->cell);
    c->there = NULL;
    c->step[++c->cell] = step;
    c->set[c->cell] = c->value;
    args->seen = cell_of_device(c, c->cell);
    c->hand[c->cell - 1].to = cell_of_host(c, c->cell);
    c->hand[c->cell - 1].words = PLACE_WORDS;
    return args;
}

/* ... into the buffer. */
static struct kernel_args *carry_in(struct chain *c)
{
    struct kernel_args *args = &c->args[CELLS - 1];

    *args = c->joins->work[0];
    args->data = words_now(c);
    args->seen = c->there = c->there == c->buffer ? c->buffer + PLACE_WORDS : c->buffer;
    return args;
}

static int set_here(struct chain *c, unsigned step)
{
    int byte = 0x50 + (int)step;

    c->value = (uint32_t)byte * 0x01010101u;
    if (!c->there) {
        c->set[c->cell] = c->value;
        c->step[c->cell] = step;
    }
    return byte;
}

/* into: the words are to go into the buffer, if this kind of node can do so. */
static cudaError_t add_hand(struct chain *c, cudaGraph_t graph, enum by by, unsigned step, int into)
{
    struct cudaMemsetParams set = PDL_ZERO;
    struct cudaHostNodeParams host = PDL_ZERO;
    struct kernel_args *args;
    cudaGraphNode_t node;

    if (by == BY_SET) {
        set.dst = words_now(c);
        set.value = (unsigned)set_here(c, step);
        set.elementSize = 1;
        set.width = CELL_BYTES;
        set.height = 1;
        return cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set);
    }
    args = into && by != BY_HOST ? carry_in(c) : carry_on(c, step);
    if (by == BY_KERNEL)
        return ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_carrier), args, PLACE_WORDS);
    if (by == BY_COPY)
        return cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, args->seen, args->data, CELL_BYTES, cudaMemcpyDefault);
    host.fn = ask_hand_on;
    host.userData = &c->hand[c->cell - 1];
    return cudaGraphAddHostNode(&node, graph, NULL, 0, &host);
}

/* Where the node lies that hands on: no host function in a body. */
static enum fan_place place_of_hand(const struct chain *c, enum by by)
{
    unsigned t = c->joins->trial, place = t / (BYS * NODE_BYS) % 2 ? t % (FAN_IN_BODY + 1u) : FAN_PLAIN;

    return place == FAN_IN_BODY && (by == BY_HOST || !has_conditions()) ? FAN_IN_CHILD : (enum fan_place)place;
}

/* A graph of one node that hands on: by itself, or with one that does nothing, made before it or after it; or of a child graph or body that holds
 * them. */
static cudaError_t launch_hand(struct chain *c, enum by by, unsigned step, int into)
{
    cudaGraphExec_t *exec = &c->made[c->graphs++];
    cudaGraph_t outer = NULL, graph = NULL;
    cudaGraphNode_t node;
    unsigned t = c->joins->trial, beside = t / (BYS * NODE_BYS) % 2 ? 1 + t % 2 : 0;
    cudaError_t error = open_fan(place_of_hand(c, by), &outer, &graph);

    if (error == cudaSuccess && beside == 1)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_silent), &c->joins->work[0], 1);
    if (error == cudaSuccess)
        error = add_hand(c, graph, by, step, into);
    if (error == cudaSuccess && beside == 2)
        error = ask_add_kernel(&node, graph, (const void *)SYMBOL(joins_silent), &c->joins->work[0], 1);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, outer, 0);
    if (outer)
        (void)cudaGraphDestroy(outer);
    return error == cudaSuccess ? cudaGraphLaunch(*exec, FOLLOWS_IN(c->joins, c->stream)) : error;
}

static cudaError_t carry_by_kernel(struct chain *c, cudaStream_t stream, unsigned step)
{
    return launch_one((const void *)SYMBOL(joins_carrier), carry_on(c, step), PLACE_WORDS, FOLLOWS_IN(c->joins, stream), NULL, 0);
}

/* Through the stream beside, which the stream waits for then. */
static cudaError_t carry_beside(struct chain *c, unsigned step)
{
    cudaError_t error = record_and_await(c->event, c->stream, c->beside);
    if (error == cudaSuccess)
        error = carry_by_kernel(c, c->beside, step);
    if (error == cudaSuccess)
        error = record_and_await(c->back, c->beside, c->stream);
    return error;
}

static cudaError_t copy_in(struct chain *c)
{
    struct kernel_args *args;

    if (c->there)
        return cudaSuccess; /* they are there */
    args = carry_in(c);
    return cudaMemcpyAsync(args->seen, cell_of_host(c, c->cell), CELL_BYTES, cudaMemcpyHostToDevice, FOLLOWS_IN(c->joins, c->stream));
}

static cudaError_t copy_out(struct chain *c, unsigned step)
{
    cudaError_t error = copy_in(c);
    struct kernel_args *args;

    if (error != cudaSuccess)
        return error;
    args = carry_on(c, step);
    return cudaMemcpyAsync(cell_of_host(c, c->cell), args->data, CELL_BYTES, cudaMemcpyDeviceToHost, FOLLOWS_IN(c->joins, c->stream));
}

static cudaError_t carry_by(struct chain *c, enum by by, unsigned step)
{
    cudaStream_t stream = FOLLOWS_IN(c->joins, c->stream);
    struct kernel_args *args;

    switch (by) {
    case BY_KERNEL: return carry_by_kernel(c, c->stream, step);
    case BY_SET: return cudaMemsetAsync(words_now(c), set_here(c, step), CELL_BYTES, stream);
    case BY_COPY: args = carry_on(c, step); return cudaMemcpyAsync(args->seen, args->data, CELL_BYTES, cudaMemcpyDefault, stream);
    case BY_COPY_IN: return copy_in(c);
    case BY_COPY_OUT: return copy_out(c, step);
    case BY_HOST: (void)carry_on(c, step); return cudaLaunchHostFunc(stream, ask_hand_on, &c->hand[c->cell - 1]);
    case BY_RECORD: return cudaEventRecord(c->event, stream);
    case BY_WAIT: return carry_beside(c, step);
    case BY_GRAPH: return launch_hand(c, BY_KERNEL, step, 0);
    default: return cudaGraphLaunch(c->empty, stream);
    }
}

static int cell_is_right(struct chain *c, unsigned cell)
{
    volatile const uint32_t *words = cell_of_host(c, cell);
    unsigned i;

    for (i = 0; i < PLACE_WORDS; i++)
        if (words[i] != (c->set[cell] ? c->set[cell] : words_fresh(c->joins->pinned->plan[0].key, i)))
            return 0;
    return 1;
}

/* The step that went wrong first, or 0. */
static unsigned step_too_soon(struct chain *c)
{
    unsigned cell;

    for (cell = 0; cell <= c->cell; cell++)
        if (!cell_is_right(c, cell))
            return c->step[cell] ? c->step[cell] : 1;
    return 0;
}

/* What follows a record, a copy to the device or a graph without nodes tells whether that came after the graph. */
static cudaError_t finish(struct chain *c, enum by after, unsigned *step)
{
    cudaError_t error = cudaSuccess;

    if (after == BY_RECORD && !c->there) {
        error = cudaEventSynchronize(c->event);
        *step = error == cudaSuccess && !cell_is_right(c, c->cell) ? 3 : 0;
    }
    return error == cudaSuccess && (c->there || after == BY_EMPTY_GRAPH) ? carry_by_kernel(c, c->stream, 3) : error;
}

static void judge_chain(struct chain *c, enum by before, enum by after, unsigned step)
{
    c->soon += step == 1;
    c->late[0][before] += step == 2;
    c->late[1][after] += step == 3;
    c->trials[0][before]++;
    c->trials[1][after]++;
}

/* The work, one that hands on, a graph that does, one that does. */
static cudaError_t run_chain(struct chain *c, enum by before, enum by node, enum by after)
{
    struct kernel_args work = c->joins->work[0];
    unsigned step = 0, i;
    cudaError_t error, end;

    prepare(c->joins, 1, 0);
    memset(c->set, 0, sizeof(c->set));
    memset(c->step, 0, sizeof(c->step));
    c->cell = c->graphs = c->value = 0;
    c->there = NULL;
    work.data = cell_of_device(c, 0);
    error = launch_one((const void *)SYMBOL(joins_work), &work, PLACE_WORDS, c->stream, NULL, 0);
    if (error == cudaSuccess)
        error = carry_by(c, before, 1);
    if (error == cudaSuccess && c->there && node == BY_HOST)
        error = copy_out(c, 1); /* the host does not see the buffer */
    if (error == cudaSuccess)
        error = launch_hand(c, node, 2, after == BY_COPY_OUT);
    if (error == cudaSuccess && c->there && after != BY_COPY_OUT)
        error = copy_out(c, 3); /* what a memset made of the buffer */
    if (error == cudaSuccess)
        error = carry_by(c, after, 3);
    if (error == cudaSuccess)
        error = finish(c, after, &step);
    end = cudaDeviceSynchronize();
    for (i = 0; i < c->graphs; i++)
        (void)cudaGraphExecDestroy(c->made[i]);
    if (error == cudaSuccess && end == cudaSuccess)
        judge_chain(c, before, after, step ? step : step_too_soon(c));
    return error == cudaSuccess ? end : error;
}

static cudaError_t open_chain(struct chain *c, struct joins *joins)
{
    cudaGraph_t graph;
    cudaError_t error = cudaMalloc((void **)&c->buffer, 2 * CELL_BYTES);

    c->joins = joins;
    c->stream = joins->stream[0];
    c->beside = joins->stream[1];
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&c->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&c->back, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaGraphCreate(&graph, 0);
    if (error != cudaSuccess)
        return error;
    error = cudaGraphInstantiate(&c->empty, graph, 0);
    (void)cudaGraphDestroy(graph);
    return error;
}

static void close_chain(struct chain *c)
{
    (void)cudaDeviceSynchronize();
    if (c->empty)
        (void)cudaGraphExecDestroy(c->empty);
    if (c->event)
        (void)cudaEventDestroy(c->event);
    if (c->back)
        (void)cudaEventDestroy(c->back);
    (void)cudaFree(c->buffer);
}

/* "Each launch is ordered behind both any previous work in the stream and any previous launches of the graph" */
static void ask_kinds(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    struct chain c = PDL_ZERO;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);
    char text[96];
    unsigned i;

    if (error == cudaSuccess)
        error = open_chain(&c, &joins);
    for (; ask_goes_on(ask, joins.trial, ask->trials) && error == cudaSuccess; joins.trial++) {
        unsigned t = joins.trial, round = t / BYS;
        error = run_chain(&c, (enum by)(t % BYS), node_by[round % NODE_BYS], (enum by)((t + round) % BYS));
    }
    ask_expect(ask, "graphs between work of every kind", error, cudaSuccess);
    ask_expect_none(ask, "work too soon after a kernel that triggers first", c.soon, joins.trial);
    for (i = 0; i < BYS; i++) {
        snprintf(text, sizeof(text), "graphs too soon after %s", by_name[i]);
        ask_expect_none(ask, text, c.late[0][i], c.trials[0][i]);
        snprintf(text, sizeof(text), "too soon after a graph: %s", by_name[i]);
        ask_expect_none(ask, text, c.late[1][i], c.trials[1][i]);
    }
    close_chain(&c);
    close_joins(&joins);
}

#endif
