/* joins_mixed.h - the part of joins.cu with works, programmatic edges from all of them to one follower, and one more node that is no kernel: the
 * follower comes after it as well, by a full edge; or the works do. Whatever it is, the follower's wait covers the works. */
#ifndef JOINS_MIXED_H_INCLUDED
#define JOINS_MIXED_H_INCLUDED

/* Values up to MIXED_BODY are the kinds of add_between(), which adds a body only where there are conditional nodes. */
enum mixed_kind { MIXED_BODY = BETWEEN_BODY, MIXED_RECORD, MIXED_WAIT, MIXED_ALLOC, MIXED_FREE, MIXED_VALUE, MIXED_KINDS };
#define MIXED_WORKS 3u
#define MIXED_ROUNDS 2u        /* of all kinds, beside the works and before them */

struct mixed {
    struct joins joins;
    cudaEvent_t event;         /* that one node records and another one waits for; its record before is complete */
    void *memory;              /* that a node allocates */
    unsigned stale[2], trials[2]; /* beside the works; before them */
};

static int mixed_offers(struct joins *joins, enum mixed_kind kind)
{
    switch (kind) {
    case MIXED_BODY: return has_conditions();
    case MIXED_ALLOC:
    case MIXED_FREE: return pools_lack() == NULL;
    case MIXED_VALUE: return values_lack(joins->stream[0]) == NULL && offers_batches(joins);
    default: return 1;
    }
}

static cudaError_t add_allocation(struct mixed *m, cudaGraph_t graph, cudaGraphNode_t *node)
{
    struct cudaMemAllocNodeParams params = PDL_ZERO;
    cudaError_t error;

    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 4096;
    error = cudaGetDevice(&params.poolProps.location.id);
    if (error == cudaSuccess)
        error = cudaGraphAddMemAllocNode(node, graph, NULL, 0, &params);
    m->memory = params.dptr;
    return error;
}

/* Memory that one node allocates and the next one frees; the second one is the node that the edges lead from. */
static cudaError_t add_ended_allocation(struct mixed *m, cudaGraph_t graph, cudaGraphNode_t *node)
{
    cudaGraphNode_t begin = NULL;
    cudaError_t error = add_allocation(m, graph, &begin);

    return error == cudaSuccess ? cudaGraphAddMemFreeNode(node, graph, &begin, 1, m->memory) : error;
}

static cudaError_t add_written_value(struct joins *joins, cudaGraph_t graph, cudaGraphNode_t *node)
{
    CUstreamBatchMemOpParams operation = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, joins->aside, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    cudaError_t error = batch_params(&operation, 1, &params);

    return error == cudaSuccess ? add_batch(graph, NULL, 0, &params, node) : error;
}

/* The node that is no kernel, after nothing. */
static cudaError_t add_mixed(struct mixed *m, cudaGraph_t graph, enum mixed_kind kind, cudaGraphNode_t *node)
{
    switch (kind) {
    case MIXED_RECORD: return cudaGraphAddEventRecordNode(node, graph, NULL, 0, m->event);
    case MIXED_WAIT: return cudaGraphAddEventWaitNode(node, graph, NULL, 0, m->event);
    case MIXED_ALLOC: return add_allocation(m, graph, node);
    case MIXED_FREE: return add_ended_allocation(m, graph, node);
    case MIXED_VALUE: return add_written_value(&m->joins, graph, node);
    default: return add_between(&m->joins, graph, graph, (unsigned)kind, NULL, 0, node);
    }
}

/* The works, after the node if that comes before them; the follower; and the end of the memory that the node allocates. */
static cudaError_t fill_mixed(struct mixed *m, cudaGraph_t graph, enum mixed_kind kind, int before)
{
    cudaGraphNode_t node[MIXED_WORKS], other = NULL, follower = NULL, end;
    cudaError_t error = add_mixed(m, graph, kind, &other);
    unsigned i;

    for (i = 0; i < MIXED_WORKS && error == cudaSuccess; i++) {
        error = add_work(&m->joins, graph, i, &node[i]);
        if (error == cudaSuccess && before)
            error = edges_add(graph, &other, &node[i], NULL, 1);
    }
    if (error == cudaSuccess)
        error = add_follower_node(&m->joins, graph, 0, node, MIXED_WORKS, 1, &follower);
    if (error == cudaSuccess && !before && follower)
        error = edges_add(graph, &other, &follower, NULL, 1);
    if (error != cudaSuccess || kind != MIXED_ALLOC)
        return error;
    return cudaGraphAddMemFreeNode(&end, graph, follower ? &follower : &other, 1, m->memory);
}

static cudaError_t run_mixed(struct mixed *m, enum mixed_kind kind, int before)
{
    struct joins *joins = &m->joins;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    prepare(joins, MIXED_WORKS, 1);
    if (error == cudaSuccess)
        error = fill_mixed(m, graph, kind, before);
    error = run_fan(joins, graph, error);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    m->stale[before] += error == cudaSuccess && is_stale(joins);
    m->trials[before]++;
    return error;
}

static cudaError_t open_mixed_joins(struct mixed *m, struct ask *ask)
{
    cudaError_t error = open_joins(&m->joins, ask, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = open_aside(&m->joins);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&m->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventRecord(m->event, m->joins.stream[1]);
    return error == cudaSuccess ? cudaStreamSynchronize(m->joins.stream[1]) : error;
}

static void ask_mixed(struct ask *ask)
{
    struct mixed m = PDL_ZERO;
    cudaError_t error = open_mixed_joins(&m, ask);

    for (; m.joins.trial < 2 * MIXED_KINDS * MIXED_ROUNDS && error == cudaSuccess; m.joins.trial++) {
        enum mixed_kind kind = (enum mixed_kind)(m.joins.trial / 2 % MIXED_KINDS);
        if (mixed_offers(&m.joins, kind))
            error = run_mixed(&m, kind, (int)(m.joins.trial % 2));
    }
    ask_expect(ask, "works, a follower and a node of another kind", error, cudaSuccess);
    ask_expect_none(ask, "stale in a dependent of several works that comes after a node of another kind as well", m.stale[0], m.trials[0]);
    ask_expect_none(ask, "stale in a dependent of several works that come after a node of another kind", m.stale[1], m.trials[1]);
    if (m.event)
        (void)cudaEventDestroy(m.event);
    close_joins(&m.joins);
}

static void ask_all_fans(struct ask *ask)
{
    ask_fans(ask);
    ask_mixed(ask);
}

#endif
