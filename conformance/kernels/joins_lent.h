/* joins_lent.h - the pair of joins.cu with streams and nodes that are given the attributes of another one, with streams that have an attribute, and
 * with graphs that cudaGraphInstantiateWithParams makes executable. */
#ifndef JOINS_LENT_H_INCLUDED
#define JOINS_LENT_H_INCLUDED

#ifdef MUTANT_otherstream
#define LENT_EDGE 0            /* nothing lies between the two nodes */
#else
#define LENT_EDGE 1
#endif

struct lent {                  /* a graph of work and what follows it */
    cudaGraph_t graph;
    cudaGraphNode_t node[2];
};

#if CUDART_VERSION >= 13000
#define LENT_WAYS 7u
#else
#define LENT_WAYS 6u
#endif

static cudaGraphEdgeData lent_edge(unsigned port) { return edges_data((unsigned char)port, 0, port != 0); }

/* By a full edge, or by a programmatic one from port 1 or 2, whose follower waits. */
static cudaError_t make_lent(struct joins *joins, unsigned port, struct lent *lent)
{
    const void *then = port ? (const void *)SYMBOL(AWAITING_FOLLOWER) : (const void *)SYMBOL(joins_follower);
    cudaGraphEdgeData data = lent_edge(port);
    cudaError_t error = cudaGraphCreate(&lent->graph, 0);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&lent->node[0], lent->graph, (const void *)SYMBOL(joins_work), &joins->work[0], PLACE_WORDS);
    if (error == cudaSuccess)
        error = ask_add_kernel(&lent->node[1], lent->graph, then, &joins->follower[0], PLACE_WORDS);
    if (error == cudaSuccess && LENT_EDGE)
        error = edges_add(lent->graph, &lent->node[0], &lent->node[1], &data, 1);
    return error;
}

/* ---- made with parameters ---- */

/* "If instantiation is successful, result_out will be set to cudaGraphInstantiateSuccess, and hErrNode_out will be set to NULL." */
static cudaError_t instantiate_with(struct joins *joins, const struct lent *lent, unsigned long long flags, cudaStream_t stream,
                                    cudaGraphExec_t *exec)
{
    cudaGraphInstantiateParams params = PDL_ZERO;
    cudaError_t error;

    params.flags = flags;
    params.uploadStream = stream;
    params.errNode_out = lent->node[0];
    params.result_out = cudaGraphInstantiateError;
    error = cudaGraphInstantiateWithParams(exec, lent->graph, &params);
    joins->pinned->host_is_stale |= error == cudaSuccess && (params.result_out != cudaGraphInstantiateSuccess || params.errNode_out);
    return error;
}

static cudaError_t end_lent(struct lent *lent, cudaGraphExec_t exec, cudaError_t error)
{
    cudaError_t end = cudaDeviceSynchronize();

    if (exec)
        (void)cudaGraphExecDestroy(exec);
    if (lent->graph)
        (void)cudaGraphDestroy(lent->graph);
    return error == cudaSuccess ? end : error;
}

static cudaError_t graph_with_params(struct joins *joins)
{
    static const unsigned long long flags[] = { 0, cudaGraphInstantiateFlagUpload, cudaGraphInstantiateFlagUseNodePriority };
    unsigned turn = joins->round;
    struct lent lent = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = make_lent(joins, turn % 3, &lent);

    if (error == cudaSuccess)
        error = instantiate_with(joins, &lent, flags[turn / 3 % 3], joins->stream[0], &exec);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, joins->stream[0]);
    return end_lent(&lent, exec, error);
}

/* "will perform an upload of the graph into uploadStream", in which it executes nothing and what comes later stays where it was. */
static cudaError_t upload_with_params(struct joins *joins)
{
    cudaStream_t stream = joins->stream[0];
    struct lent lent = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = make_lent(joins, 0, &lent);

    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = instantiate_with(joins, &lent, cudaGraphInstantiateFlagUpload, stream, &exec);
    if (error == cudaSuccess)
        error = follow_or_depend(joins, stream, joins->round % 2 != 0);
    return end_lent(&lent, exec, error);
}

/* ---- attributes of another one ---- */

static cudaError_t give_synchronization(cudaStream_t stream, enum cudaSynchronizationPolicy policy, cudaLaunchMemSyncDomain domain)
{
    cudaLaunchAttributeValue value = PDL_ZERO, other = PDL_ZERO;
    cudaError_t error;

    value.syncPolicy = policy;
    other.memSyncDomain = domain;
    error = cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);
    return error == cudaSuccess ? cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &other) : error;
}

/* A stream that is given its own has them already, whether the call is taken or not. */
static cudaError_t lend_own_attributes(cudaStream_t stream) { return whatever(cudaStreamCopyAttributes(stream, stream)); }

static cudaError_t lend_attributes(struct joins *joins, cudaStream_t stream, cudaEvent_t event)
{
    cudaError_t error = give_synchronization(joins->stream[2], cudaSyncPolicyAuto, cudaLaunchMemSyncDomainDefault);

    (void)event;
    if (joins->round / 4 % 2)
        return lend_own_attributes(stream);
    return error == cudaSuccess ? cudaStreamCopyAttributes(stream, joins->stream[2]) : error;
}

static cudaError_t lent_to_stream(struct joins *joins) { return call_between(joins, lend_attributes); }

static unsigned has_synchronization(cudaStream_t stream, enum cudaSynchronizationPolicy policy, cudaLaunchMemSyncDomain domain)
{
    cudaLaunchAttributeValue value = PDL_ZERO, other = PDL_ZERO;

    return cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value) == cudaSuccess && value.syncPolicy == policy &&
           cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &other) == cudaSuccess && other.memSyncDomain == domain;
}

/* "Copies attributes from source stream src to destination stream dst." */
static cudaError_t told_of_streams(struct joins *joins)
{
    enum cudaSynchronizationPolicy policy = joins->round % 2 ? cudaSyncPolicySpin : cudaSyncPolicyYield;
    cudaStream_t from = NULL, to = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&from, cudaStreamNonBlocking);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&to, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = give_synchronization(from, policy, cudaLaunchMemSyncDomainRemote);
    if (error == cudaSuccess)
        error = cudaStreamCopyAttributes(to, from);
    if (error == cudaSuccess && joins->round / 2 % 2)
        error = lend_own_attributes(to);
    joins->pinned->host_is_stale = !has_synchronization(to, policy, cudaLaunchMemSyncDomainRemote) ||
                                   !has_synchronization(from, policy, cudaLaunchMemSyncDomainRemote);
    if (from)
        (void)cudaStreamDestroy(from);
    if (to)
        (void)cudaStreamDestroy(to);
    return error;
}

struct told_attributes {
    cudaLaunchAttributeValue domain, urgent, hint;
    cudaLaunchAttributeID hinted; /* which attribute the hint is, that the node got by a call; 0: none */
};

/* The node of a launch with attribute 6 that was captured, of the remote domain and the highest priority. */
static cudaError_t capture_lender(struct joins *joins, int priority, struct lent *lender)
{
    cudaLaunchAttribute attrs[3] = { serialization(1), in_remote_domain(), of_priority(priority) };
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;
    size_t one = 1;

    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, stream, attrs, 3);
    end = cudaStreamEndCapture(stream, &lender->graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? cudaGraphGetNodes(lender->graph, lender->node, &one) : error;
}

static cudaError_t told_of_node(cudaGraphNode_t node, struct told_attributes *told)
{
    cudaError_t error = cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeMemSyncDomain, &told->domain);

    return error == cudaSuccess ? cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &told->urgent) : error;
}

static int keeps_edge(const struct lent *lent, unsigned port)
{
    cudaGraphNode_t from[2], to[2];
    cudaGraphEdgeData data[2], wanted = lent_edge(port);
    size_t count = 2;

    return edges_of_graph(lent->graph, from, to, data, &count) == cudaSuccess && count == LENT_EDGE &&
           (!count || (from[0] == lent->node[0] && to[0] == lent->node[1] && !memcmp(data, &wanted, sizeof(wanted))));
}

/* By the driver's call in every other round, if it has one. */
static cudaError_t copy_node_attributes(const struct joins *joins, cudaGraphNode_t to, cudaGraphNode_t from)
{
    typedef CUresult(CUDAAPI *copy_fn)(CUgraphNode, CUgraphNode);
    void *function = joins->round % 2 ? driver_function_if_any("cuGraphKernelNodeCopyAttributes", 11000) : NULL;

    return function ? (cudaError_t)((copy_fn)function)(to, from) : cudaGraphKernelNodeCopyAttributes(to, from);
}

static cudaError_t told_of_hint(cudaGraphNode_t node, struct told_attributes *told)
{
    return told->hinted ? cudaGraphKernelNodeGetAttribute(node, told->hinted, &told->hint) : cudaSuccess;
}

/* A hint that says how, by turns: devices may refuse it. */
static cudaError_t give_hint(unsigned kind, cudaGraphNode_t node, struct told_attributes *told)
{
    cudaLaunchAttribute hint = kind % 3 == 0 ? whole_carveout() : nth_hint(kind % 3);
    cudaError_t error = cudaGraphKernelNodeSetAttribute(node, hint.id, &hint.val);

    if (is_unoffered(error)) {
        (void)cudaGetLastError();
        return cudaSuccess;
    }
    told->hinted = hint.id;
    return error == cudaSuccess ? told_of_hint(node, told) : error;
}

#if CUDART_VERSION >= 13000
static int same_hint(const struct told_attributes *a, const struct told_attributes *b)
{
    if (a->hinted == cudaLaunchAttributeMemSyncDomainMap)
        return memcmp(&a->hint.memSyncDomainMap, &b->hint.memSyncDomainMap, sizeof(a->hint.memSyncDomainMap)) == 0;
    if (a->hinted == cudaLaunchAttributeClusterSchedulingPolicyPreference)
        return a->hint.clusterSchedulingPolicyPreference == b->hint.clusterSchedulingPolicyPreference;
    return !a->hinted || a->hint.sharedMemCarveout == b->hint.sharedMemCarveout;
}
#endif

/* Edges are no attributes. wanted: what the lender tells of itself. */
static cudaError_t lend_to_node(struct joins *joins, unsigned port, struct lent *lent, struct told_attributes *wanted)
{
    struct lent lender = PDL_ZERO;
    int priority;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(NULL, &priority);

    if (error == cudaSuccess)
        error = make_lent(joins, port, lent);
    if (error == cudaSuccess)
        error = capture_lender(joins, priority, &lender);
    if (error == cudaSuccess)
        error = told_of_node(lender.node[0], wanted);
    if (error == cudaSuccess)
        error = give_hint(joins->round / 3, lender.node[0], wanted);
    if (error == cudaSuccess)
        error = copy_node_attributes(joins, lent->node[1], lender.node[0]);
    joins->pinned->host_is_stale |= error == cudaSuccess && !keeps_edge(lent, port);
    if (lender.graph)
        (void)cudaGraphDestroy(lender.graph);
    return error;
}

/* Attribute 6 is none that nodes have: a full edge stays one. A programmatic edge stays one, too, and the wait covers what it comes from. */
static cudaError_t lent_to_node(struct joins *joins)
{
    struct lent lent = PDL_ZERO;
    struct told_attributes wanted = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = lend_to_node(joins, joins->round % 3, &lent, &wanted);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&exec, lent.graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, joins->stream[0]);
    return end_lent(&lent, exec, error);
}

#if CUDART_VERSION >= 13000
/* The headers of older toolkits name the two nodes in the other order than the driver's do. */
static cudaError_t told_of_nodes(struct joins *joins)
{
    struct told_attributes wanted = PDL_ZERO, told = PDL_ZERO;
    struct lent lent = PDL_ZERO;
    cudaError_t error = lend_to_node(joins, joins->round % 3, &lent, &wanted);

    joins->followers = 0;
    if (error == cudaSuccess)
        error = told_of_node(lent.node[1], &told);
    told.hinted = wanted.hinted;
    if (error == cudaSuccess)
        error = told_of_hint(lent.node[1], &told);
    joins->pinned->host_is_stale |= error == cudaSuccess && !same_hint(&wanted, &told);
    joins->pinned->host_is_stale |= told.domain.memSyncDomain != wanted.domain.memSyncDomain || told.urgent.priority != wanted.urgent.priority;
    return end_lent(&lent, NULL, error);
}
#endif

/* ---- streams with an attribute of each kind ---- */

#define GIVEN_KINDS 5u
enum given_place { GIVEN_HOLDS_WORK, GIVEN_AWAITS_WORK, GIVEN_IS_CAPTURED, GIVEN_UNTIL_WORK, GIVEN_PLACES };

static cudaError_t given_attribute(unsigned kind, cudaLaunchAttribute *attribute)
{
    int priority;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(NULL, &priority);

    *attribute = hint_of(kind == 3 ? cudaLaunchAttributeMemSyncDomainMap : cudaLaunchAttributeAccessPolicyWindow);
    if (kind == 0) {
        attribute->id = cudaLaunchAttributeSynchronizationPolicy;
        attribute->val.syncPolicy = cudaSyncPolicySpin;
    } else if (kind < 3) {
        *attribute = kind == 1 ? in_remote_domain() : of_priority(priority);
    }
    return error;
}

/* A device may refuse a hint. */
static cudaError_t or_refused(unsigned kind, cudaError_t error)
{
    if (kind < 3 || !is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    return cudaSuccess;
}

static cudaError_t give_in_stream(cudaStream_t stream, unsigned kind)
{
    cudaLaunchAttribute attribute;
    cudaError_t error = given_attribute(kind, &attribute);

    return error == cudaSuccess ? or_refused(kind, cudaStreamSetAttribute(stream, attribute.id, &attribute.val)) : error;
}

/* The stream gets the attribute as another one has it, which was given none. */
static cudaError_t take_back(cudaStream_t stream, cudaStream_t other, unsigned kind)
{
    cudaLaunchAttribute attribute;
    cudaError_t error = given_attribute(kind, &attribute);

    if (error == cudaSuccess)
        error = cudaStreamGetAttribute(other, attribute.id, &attribute.val);
    return or_refused(kind, error == cudaSuccess ? cudaStreamSetAttribute(stream, attribute.id, &attribute.val) : error);
}

/* What comes after the work and a silent kernel, or after the work and the end of the attribute: a dependent that waits, or a follower; another one
 * behind an event in another stream; and a graph, or in a capture a kernel. */
static cudaError_t follow_in_given(struct joins *joins, cudaStream_t stream, cudaEvent_t event, enum given_place place, cudaGraphExec_t follows)
{
    cudaStream_t other = joins->stream[1];
    cudaError_t error = place == GIVEN_UNTIL_WORK ? take_back(stream, joins->stream[2], joins->round % GIVEN_KINDS) : silent(joins, stream);

    if (error == cudaSuccess)
        error = follow_or_depend(joins, stream, joins->round / (GIVEN_KINDS * GIVEN_PLACES) % 2 == 0);
    if (error == cudaSuccess)
        error = record_and_await(event, stream, other);
    if (error == cudaSuccess)
        error = follow(joins, 1, other);
    if (error == cudaSuccess && follows)
        return cudaGraphLaunch(follows, FOLLOWS_IN(joins, stream));
    if (error == cudaSuccess)
        error = follow(joins, 2, stream);
    return error == cudaSuccess ? record_and_await(event, other, stream) : error;
}

static cudaError_t work_for_given(struct joins *joins, cudaStream_t stream, cudaEvent_t event, enum given_place place)
{
    cudaGraphExec_t follows = NULL;
    cudaError_t error = cudaSuccess;

    if (place == GIVEN_IS_CAPTURED)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    else
        error = ask_graph_of_kernel(&follows, (const void *)SYMBOL(joins_follower), &joins->follower[2], PLACE_WORDS);
    if (error == cudaSuccess)
        error = work(joins, 0, place == GIVEN_AWAITS_WORK ? joins->stream[2] : stream);
    if (error == cudaSuccess && place == GIVEN_AWAITS_WORK)
        error = record_and_await(event, joins->stream[2], stream);
    if (error == cudaSuccess)
        error = follow_in_given(joins, stream, event, place, follows);
    if (place == GIVEN_IS_CAPTURED)
        error = ask_run_capture(stream, error);
    if (follows)
        (void)cudaGraphExecDestroy(follows);
    return error;
}

/* A stream of its own, which is given one attribute and then holds the work, waits for its event, or captures it. */
static cudaError_t given_stream(struct joins *joins)
{
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    prepare(joins, 1, 3);
    if (error == cudaSuccess)
        error = give_in_stream(stream, joins->round % GIVEN_KINDS);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = work_for_given(joins, stream, event, (enum given_place)(joins->round / GIVEN_KINDS % GIVEN_PLACES));
    if (event)
        (void)cudaEventDestroy(event);
    if (stream)
        (void)cudaStreamDestroy(stream);
    return error;
}

/* cudaErrorNotSupported is one of the answers that the document names. */
static int lends_attributes(struct ask *ask)
{
    cudaStream_t other = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = cudaStreamCopyAttributes(other, ask->stream);
    if (other)
        (void)cudaStreamDestroy(other);
    (void)cudaGetLastError();
    return error != cudaErrorNotSupported;
}

static void ask_lent(struct ask *ask)
{
    static const struct join joins[LENT_WAYS] = {
        { "stale in a graph that was made executable with parameters", graph_with_params },
        { "stale after the upload of a graph that was made executable with parameters", upload_with_params },
        { "stale in a stream that was given the attributes of another one", lent_to_stream },
        { "streams without the attributes that they were given of another one", told_of_streams },
        { "stale in a node that was given the attributes of another one", lent_to_node },
        { "stale after work of a stream that was given an attribute", given_stream },
#if CUDART_VERSION >= 13000
        { "nodes without the attributes that they were given of another one", told_of_nodes },
#endif
    };

    if (!lends_attributes(ask)) {
        ask_skip(ask, "cudaStreamCopyAttributes", "not supported here");
        return;
    }
    ask_joins(ask, joins, LENT_WAYS, cudaStreamNonBlocking);
}

#endif
