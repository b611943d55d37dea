/* loops_made.h - the loops of loops.cu, and the two kernels in their bodies with what stands between them: as nodes, or captured. */
#ifndef LOOPS_MADE_H_INCLUDED
#define LOOPS_MADE_H_INCLUDED

enum made { MADE_OF_NODES, MADE_BY_CAPTURE, MADE_IN_CHILD, MADE_IN_BODY, MADE_BY_UPDATE, MADE_IN_LOOP, MADE_TWICE, MADE_IN_LATER_BODY, MADES };
static const char *const made_name[MADES] = { "a loop", "a loop whose body was captured", "a loop with a child graph", "a loop in a body",
                                              "an updated loop", "a loop in a loop", "two loops in a row", "a loop in a later body" };

/* From the first kernel's words or to the second one's. */
static uint32_t *copies_to(const struct loops *l) { return l->way == AROUND_COPY ? l->args.seen : l->args.data + SECOND_AT; }
static uint32_t *copies_from(const struct loops *l) { return l->way == AROUND_COPY ? l->args.data : l->args.seen; }

static cudaError_t add_copy(struct loops *l, cudaGraph_t body, cudaGraphNode_t *node, const cudaGraphNode_t *after)
{
    return cudaGraphAddMemcpyNode1D(node, body, after, 1, copies_to(l), copies_from(l), THREADS * sizeof(uint32_t), cudaMemcpyDefault);
}

static cudaError_t add_set(struct loops *l, cudaGraph_t body, cudaGraphNode_t *node, const cudaGraphNode_t *after)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = l->args.seen;
    set.value = SET_BYTE;
    set.elementSize = set.height = 1;
    set.width = THREADS * sizeof(uint32_t);
    return cudaGraphAddMemsetNode(node, body, after, 1, &set);
}

/* A child graph of one kernel. */
static cudaError_t add_child(cudaGraphNode_t *node, cudaGraph_t body, const cudaGraphNode_t *after, size_t count, const void *function,
                             struct kernel_args *args, unsigned threads)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t kernel;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = ask_add_kernel(&kernel, child, function, args, threads);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, body, after, count, child);
    if (child)
        (void)cudaGraphDestroy(child);
    return error;
}

/* By turns of the questions. */
static int inner_starts(unsigned turn) { return turn / 2 % 2 != 0; }

static cudaError_t add_inner_pair(struct loops *l, cudaGraph_t inside)
{
    cudaGraphEdgeData data = inner_starts(l->turn) ? edges_data(2, 0, 1) : edges_data(1, 0, 1);
    cudaGraphNode_t first, second;
    cudaError_t error = ask_add_kernel(&first, inside, (const void *)SYMBOL(loops_inner_first), &l->args, THREADS);

    if (error == cudaSuccess)
        error = ask_add_kernel(&second, inside, (const void *)SYMBOL(loops_inner_second), &l->args, THREADS);
    return error == cudaSuccess ? edges_add(inside, &first, &second, &data, 1) : error;
}

/* A conditional node after a node of the body: the kernel before it decides about it in each round. */
static cudaError_t add_between(struct loops *l, cudaGraph_t body, cudaGraphNode_t *node, const cudaGraphNode_t *after)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    struct kernel_args args = l->args;
    cudaGraphNode_t kernel;
    cudaGraph_t inside;
    cudaError_t error = ask_add_chosen(node, l->graph, body, &l->inner, cudaGraphCondTypeIf, 1, &inside);

    if (l->way == BEFORE_BODY) {
        args.data = l->args.seen;
        args.seen = l->args.data + SECOND_AT;
    }
    if (error == cudaSuccess && l->way == AROUND_PAIR)
        error = add_inner_pair(l, inside);
    else if (error == cudaSuccess)
        error = ask_add_kernel(&kernel, inside, (const void *)SYMBOL(loops_between), &args, THREADS);
    return error == cudaSuccess ? edges_add(body, after, node, &full, 1) : error;
}

static int is_by_trigger(enum way way) { return way == BY_TRIGGER || way == BEFORE_COPY || way == BEFORE_SET || way == BEFORE_BODY; }

/* What stands between the two kernels, or else the first one. */
static cudaError_t add_middle(struct loops *l, cudaGraph_t body, cudaGraphNode_t *last, const cudaGraphNode_t *first)
{
    switch (l->way) {
    case AROUND_COPY: return add_copy(l, body, last, first);
    case AROUND_SET: return add_set(l, body, last, first);
    case AROUND_CHILD: return add_child(last, body, first, 1, (const void *)SYMBOL(loops_hands_on), &l->args, THREADS);
    case AROUND_BODY:
    case AROUND_PAIR: return add_between(l, body, last, first);
    default: *last = *first; return cudaSuccess;
    }
}

/* What comes after the second kernel. */
static cudaError_t add_last(struct loops *l, cudaGraph_t body, const cudaGraphNode_t *second)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t node, third;
    cudaError_t error;

    if (l->way == BEFORE_SET)
        return add_set(l, body, &node, second);
    if (l->way == BEFORE_COPY)
        return add_copy(l, body, &node, second);
    if (l->way != BEFORE_BODY)
        return cudaSuccess;
    error = add_between(l, body, &node, second);
    if (error == cudaSuccess)
        error = ask_add_kernel(&third, body, (const void *)SYMBOL(loops_third), &l->args, THREADS);
    return error == cudaSuccess ? edges_add(body, &node, &third, &full, 1) : error;
}

static cudaError_t add_pair(struct loops *l, cudaGraph_t body)
{
    cudaGraphEdgeData data = is_by_trigger(l->way) ? edges_data(1, 0, 1) : l->way == BY_STARTS ? edges_data(2, 0, 1) : edges_data(0, 0, 0);
    cudaGraphNode_t first, second, last = NULL;
    struct kernel_args args = l->args;
    cudaError_t error;

    if (l->updates)
        args.data = l->args_beside.data;
    error = ask_add_kernel_after(&first, body, NULL, 0, (const void *)SYMBOL(loops_first), &args, FIRST_BLOCKS, THREADS);
    l->first = first;
    if (error == cudaSuccess)
        error = add_middle(l, body, &last, &first);
    if (error == cudaSuccess)
        error = ask_add_kernel(&second, body, (const void *)SYMBOL(loops_second), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(body, &last, &second, &data, 1);
    return error == cudaSuccess ? add_last(l, body, &second) : error;
}

static cudaError_t capture_move(struct loops *l, enum way copy, enum way set)
{
    if (l->way == set)
        return cudaMemsetAsync(l->args.seen, SET_BYTE, THREADS * sizeof(uint32_t), l->ask->stream);
    if (l->way != copy)
        return cudaSuccess;
    return cudaMemcpyAsync(copies_to(l), copies_from(l), THREADS * sizeof(uint32_t), cudaMemcpyDefault, l->ask->stream);
}

static cudaError_t capture_pair(struct loops *l, cudaGraph_t body)
{
    cudaStream_t stream = l->ask->stream;
    cudaLaunchAttribute attribute = serialization(1);
    cudaGraph_t same = NULL;
    cudaError_t error = cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    error = launch_blocks((const void *)SYMBOL(loops_first), &l->args, FIRST_BLOCKS, THREADS, stream, NULL, 0);
    if (error == cudaSuccess)
        error = capture_move(l, AROUND_COPY, AROUND_SET);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(loops_second), &l->args, THREADS, stream, &attribute, is_by_trigger(l->way));
    if (error == cudaSuccess)
        error = capture_move(l, BEFORE_COPY, BEFORE_SET);
    end = cudaStreamEndCapture(stream, &same);
    return error == cudaSuccess ? end : error;
}

static cudaError_t nest_pair(struct loops *l, cudaGraph_t body)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error == cudaSuccess)
        error = add_pair(l, child);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, body, NULL, 0, child);
    if (child)
        (void)cudaGraphDestroy(child);
    return error;
}

/* A loop around the loop, and in it two kernels before and after that one; in some turns all of that in a body, which makes three levels. */
static cudaError_t add_around(struct loops *l, cudaGraphNode_t *outermost)
{
    cudaGraphEdgeData full[2] = { edges_data(0, 0, 0), edges_data(0, 0, 0) };
    cudaGraphNode_t node[3], outer; /* kernel, loop, kernel */
    cudaGraph_t in = l->graph, around, body;
    int in_body = l->turn % 4 > 1;
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->outer, l->graph, 1, cudaGraphCondAssignDefault);

    if (error == cudaSuccess && in_body)
        error = ask_add_if(outermost, l->graph, l->graph, 1, &in);
    if (error == cudaSuccess)
        error = ask_add_conditional(in_body ? &outer : outermost, in, l->outer, cudaGraphCondTypeWhile, 1, &around);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], around, (const void *)SYMBOL(loops_begins), &l->args, THREADS);
    if (error == cudaSuccess)
        error = ask_add_chosen(&node[1], l->graph, around, &l->handle, cudaGraphCondTypeWhile, 1, &body);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[2], around, (const void *)SYMBOL(loops_ends), &l->args, THREADS);
    if (error == cudaSuccess)
        error = edges_add(around, node, node + 1, full, 2);
    return error == cudaSuccess ? add_pair(l, body) : error;
}

/* Two loops in a row, and before each of them a kernel that lets it run. */
static cudaError_t add_two(struct loops *l, cudaGraphNode_t *last)
{
    cudaGraphEdgeData full[3] = { edges_data(0, 0, 0), edges_data(0, 0, 0), edges_data(0, 0, 0) };
    cudaGraphConditionalHandle *const handle[2] = { &l->outer, &l->handle };
    cudaGraphNode_t node[4];
    cudaGraph_t body;
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = ask_add_kernel(&node[2 * i], l->graph, (const void *)SYMBOL(loops_next), &l->args, THREADS);
        if (error == cudaSuccess)
            error = ask_add_chosen(&node[2 * i + 1], l->graph, l->graph, handle[i], cudaGraphCondTypeWhile, 1, &body);
        if (error == cudaSuccess)
            error = add_pair(l, body);
    }
    *last = node[3];
    return error == cudaSuccess ? edges_add(l->graph, node, node + 1, full, 3) : error;
}

/* The second body of two, or in other turns the last one of three. */
static cudaError_t add_later_body(struct loops *l, cudaGraphNode_t *node, cudaGraph_t *around)
{
#if CUDART_VERSION >= 12080
    cudaGraph_t body[3];
    unsigned of_three = l->turn % 2;
    cudaGraphConditionalHandle handle;
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, l->graph, of_three ? 2 : 0, cudaGraphCondAssignDefault);

    if (error == cudaSuccess)
        error = ask_add_conditional(node, l->graph, handle, of_three ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf, 2 + of_three, body);
    *around = body[1 + of_three];
    return error;
#else
    return ask_add_if(node, l->graph, l->graph, 1, around);
#endif
}

/* outermost: the loop, or the body around it, as a node of the graph. */
static cudaError_t add_loop(struct loops *l, enum made made, cudaGraphNode_t *outermost)
{
    cudaGraphNode_t loop;
    cudaGraph_t around = l->graph, body;
    cudaError_t error = cudaGraphConditionalHandleCreate(&l->handle, l->graph, 1, cudaGraphCondAssignDefault);

    if (error == cudaSuccess && made == MADE_IN_BODY)
        error = ask_add_if(outermost, l->graph, l->graph, 1, &around);
    if (error == cudaSuccess && made == MADE_IN_LATER_BODY)
        error = add_later_body(l, outermost, &around);
    if (error == cudaSuccess)
        error = ask_add_conditional(&loop, around, l->handle, cudaGraphCondTypeWhile, 1, &body);
    if (made != MADE_IN_BODY && made != MADE_IN_LATER_BODY)
        *outermost = loop;
    if (error != cudaSuccess)
        return error;
    return made == MADE_BY_CAPTURE ? capture_pair(l, body) : made == MADE_IN_CHILD ? nest_pair(l, body) : add_pair(l, body);
}

static cudaError_t update_from_own(struct loops *l)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;

    return cudaGraphExecUpdate(l->exec, l->graph, &info);
}

/* Updates the executable graph by the graph that it was made from, whose first kernel stored elsewhere until now. */
static cudaError_t update_loop(struct loops *l)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(loops_first), THREADS, values);
    cudaError_t error;

    values[0] = &l->args;
    params.gridDim.x = FIRST_BLOCKS;
    error = cudaGraphKernelNodeSetParams(l->first, &params);
    return error == cudaSuccess ? update_from_own(l) : error;
}

/* A kernel before the loop or body that make_executable() disables. */
static cudaError_t add_idle(struct loops *l, const cudaGraphNode_t *node)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = ask_add_kernel(&l->idle, l->graph, (const void *)SYMBOL(loops_idle), &l->args, 1);

    return error == cudaSuccess ? edges_add(l->graph, &l->idle, node, &full, 1) : error;
}

/* After the loop or body comes one kernel more. */
static cudaError_t add_around_loop(struct loops *l, const cudaGraphNode_t *loop, const void *after)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaError_t error = ask_add_kernel(&l->after, l->graph, after, &l->args, THREADS);

    if (error == cudaSuccess)
        error = edges_add(l->graph, loop, &l->after, &full, 1);
    return error == cudaSuccess ? add_idle(l, loop) : error;
}

/* The executable graph's last kernel gets the parameters that it has. */
static cudaError_t give_same(struct loops *l)
{
    struct cudaKernelNodeParams params = PDL_ZERO;
    cudaError_t error = cudaGraphKernelNodeGetParams(l->after, &params);

    return error == cudaSuccess ? cudaGraphExecKernelNodeSetParams(l->exec, l->after, &params) : error;
}

/* In some turns again, by the call with parameters. */
static cudaError_t instantiate_loop(struct loops *l)
{
    cudaGraphInstantiateParams params = PDL_ZERO;
    cudaError_t error = cudaGraphInstantiate(&l->exec, l->graph, 0);

    if (error != cudaSuccess || l->turn / 2 % 2 == 0)
        return error;
    error = cudaGraphExecDestroy(l->exec); /* of a graph with a conditional node there is only one at a time */
    l->exec = NULL;
    return error == cudaSuccess ? cudaGraphInstantiateWithParams(&l->exec, l->graph, &params) : error;
}

/* Updates the executable graph where that is asked about, and disables what is not to run. In some turns its last kernel gets the
 * parameters that it has; in some it is uploaded. */
static cudaError_t make_executable(struct loops *l)
{
    cudaError_t error = instantiate_loop(l);

    if (error == cudaSuccess && l->updates)
        error = update_loop(l);
    if (error == cudaSuccess)
        error = cudaGraphNodeSetEnabled(l->exec, l->idle, 0);
    if (error == cudaSuccess && l->turn / 4 % 2)
        error = give_same(l);
    return error == cudaSuccess && l->turn % 2 ? cudaGraphUpload(l->exec, l->ask->stream) : error;
}

/* What changes nothing of an executable graph that has run: the next launch begins with the values that conditions have by default, whatever
 * kernels left in them. */
enum renewal { RENEW_NOTHING, RENEW_UPDATE, RENEW_PARAMS, RENEW_UPLOAD, RENEW_ENABLED, RENEWALS };

static cudaError_t renew(struct loops *l, enum renewal renewal)
{
    cudaError_t error = cudaSuccess;

    switch (renewal) {
    case RENEW_UPDATE:
        error = update_from_own(l);
        if (error == cudaErrorGraphExecUpdateFailure) { /* others ask whether it is taken */
            (void)cudaGetLastError();
            error = cudaSuccess;
        }
        return error;
    case RENEW_PARAMS: return give_same(l);
    case RENEW_UPLOAD: return cudaGraphUpload(l->exec, l->ask->stream);
    case RENEW_ENABLED:
        error = cudaGraphNodeSetEnabled(l->exec, l->idle, 1);
        return error == cudaSuccess ? cudaGraphNodeSetEnabled(l->exec, l->idle, 0) : error;
    default: return error;
    }
}

static cudaError_t make_loop(struct loops *l, enum made made)
{
    cudaGraphNode_t loop = NULL;
    cudaError_t error = cudaGraphCreate(&l->graph, 0);

    l->updates = made == MADE_BY_UPDATE;
    l->nested = made == MADE_IN_LOOP;
    l->times = made == MADE_IN_LOOP ? OUTER_ROUNDS : made == MADE_TWICE ? 2 : 1;
    if (error == cudaSuccess)
        error = made == MADE_IN_LOOP ? add_around(l, &loop) : made == MADE_TWICE ? add_two(l, &loop) : add_loop(l, made, &loop);
    return error == cudaSuccess ? add_around_loop(l, &loop, (const void *)SYMBOL(loops_after)) : error;
}

#endif
