/* matrix.cu - which edges a graph takes, and what it says of those it has.
 *
 * pair       rules     what is asked
 * ports      EDGE-02   ports 1 and 2 of anything but a kernel, port 3 of anything, higher ports of kernels
 * to_port    EDGE-03   edges into a port that is not 0
 * reserved   EDGE-04   reserved bytes that are not 0
 * types      EDGE-05   the programmatic type: taken between kernels from ports 1 and 2, refused elsewhere
 * port_one   EDGE-06   port 1 without the programmatic type
 * codes      EDGE-08   the code of every combination between every two kinds of nodes (AMB-11, AMB-12)
 * lossy      EDGE-14   queries without edge data
 * counting   EDGE-15   data without nodes, and counting (AMB-13)
 * twice      EDGE-16   the same edge twice
 * other_data EDGE-16a  the same nodes with other data
 * remove     EDGE-17   removing an edge by its data, and one that is not there
 * remove_other EDGE-17a removing an edge by other data
 * typed      EDGE-22   the functions without edge data
 * clone      EDGE-24a  the edges of a clone
 * list       EDGE-31   a node twice in the list of a new node
 * retyped    EDGE-23   updating an executable graph with a graph of other edge data (AMB-14)
 * domain     COMP-13   the memory-sync domain of a captured launch
 * special    EDGE-26a  device-launchable, device-updatable and disabled nodes with programmatic edges (GPU only; AMB-14)
 * copied     ATTR-06a  which way cudaGraphKernelNodeCopyAttributes copies (GPU only; AMB-15)
 */
#include "graph_ask.h"
#include "kernel.h"

KERNEL(matrix_nothing) { (void)args; }

#include "combinations.h"

/* ---- a graph of two kernels and one edge ---- */

struct two {
    cudaGraph_t graph;
    cudaGraphNode_t from, to;
};

static int open_edge(struct ask *ask, struct two *two, cudaGraphEdgeData data)
{
    struct kernel_args args = PDL_ZERO;
    const void *function = (const void *)SYMBOL(matrix_nothing);

    memset(two, 0, sizeof(*two));
    if (cudaGraphCreate(&two->graph, 0) == cudaSuccess &&
        ask_add_kernel(&two->from, two->graph, function, &args, 1) == cudaSuccess &&
        ask_add_kernel(&two->to, two->graph, function, &args, 1) == cudaSuccess &&
        edges_add(two->graph, &two->from, &two->to, &data, 1) == cudaSuccess)
        return 1;
    ask_expect_text(ask, "a graph of two kernels and a legal edge", "not made", "made");
    (void)cudaGetLastError();
    return 0;
}

/* The only edge, with a word where it is not between the two nodes. */
static void edge_of(const struct two *two, char *text, size_t room)
{
    cudaGraphNode_t from[2], to[2];
    cudaGraphEdgeData data[2];
    size_t count = 2;

    text[0] = '\0';
    if (edges_of_graph(two->graph, from, to, data, &count) != cudaSuccess || count > 1) {
        ask_append(text, room, "unreadable");
        return;
    }
    if (count)
        ask_append_edge(text, room, data[0]);
    if (count && (from[0] != two->from || to[0] != two->to))
        ask_append(text, room, " elsewhere");
    if (!count)
        ask_append(text, room, "no edge");
}

static void expect_edge(struct ask *ask, const struct two *two, const char *what, const char *want)
{
    char text[64];

    edge_of(two, text, sizeof(text));
    ask_expect_text(ask, what, text, want);
}

#include "matrix_lossy.h"

static void ask_counting(struct ask *ask)
{
    cudaGraphEdgeData data[2];
    struct two two;
    size_t count = 2;

    if (!open_edge(ask, &two, edges_data(1, 0, 1)))
        return;
    ask_note(ask, "data without nodes", edges_of_graph(two.graph, NULL, NULL, data, &count));
    count = 2;
    ask_note(ask, "data without nodes, into a node", edges_into_node(two.to, NULL, data, &count));
    count = 0;
    ask_note(ask, "counting the graph's edges", edges_of_graph(two.graph, NULL, NULL, NULL, &count));
    ask_note_number(ask, "count", (long)count);
    count = 0;
    ask_note(ask, "counting the edges into the node", edges_into_node(two.to, NULL, NULL, &count));
    ask_note_number(ask, "count into", (long)count);
    (void)cudaGraphDestroy(two.graph);
}

static void ask_twice(struct ask *ask)
{
    static const unsigned rows[3][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 } };
    static const char *const texts[3] = { "0,0,0", "1,0,1", "2,0,1" };
    struct two two;
    unsigned i;

    for (i = 0; i < 3; i++) {
        cudaGraphEdgeData data = edges_data(rows[i][0], rows[i][1], rows[i][2]);
        if (!open_edge(ask, &two, data))
            return;
        ask_expect_refusal(ask, "the same edge again", edges_add(two.graph, &two.from, &two.to, &data, 1));
        expect_edge(ask, &two, "the edge then", texts[i]);
        (void)cudaGraphDestroy(two.graph);
    }
}

static void ask_other_data(struct ask *ask)
{
    static const unsigned rows[4][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 }, { 2, 0, 0 } };
    unsigned i, j;

    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            cudaGraphEdgeData data = edges_data(rows[j][0], rows[j][1], rows[j][2]);
            cudaGraphNode_t from[4], to[4];
            cudaGraphEdgeData both[4];
            struct two two;
            size_t count = 4;
            char what[48];
            if (i == j || !open_edge(ask, &two, edges_data(rows[i][0], rows[i][1], rows[i][2])))
                continue;
            snprintf(what, sizeof(what), "%u,%u,%u beside %u,%u,%u", rows[j][0], rows[j][1], rows[j][2], rows[i][0], rows[i][1],
                     rows[i][2]);
            ask_note(ask, what, edges_add(two.graph, &two.from, &two.to, &data, 1));
            if (edges_of_graph(two.graph, from, to, both, &count) == cudaSuccess && count != 1)
                ask_note_number(ask, "edges then", (long)count);
            (void)cudaGraphDestroy(two.graph);
        }
}

/* Removes the edge of a fresh graph by this data, NULL for none; then: what the graph's edge is afterwards, removed or refused. */
static cudaError_t remove_from(struct ask *ask, cudaGraphEdgeData edge, const cudaGraphEdgeData *by, const char *what, const char *then)
{
    struct two two;
    char text[32];
    cudaError_t error;

    if (!open_edge(ask, &two, edge))
        return cudaErrorNotSupported;
    error = edges_remove(two.graph, &two.from, &two.to, by, 1);
    (void)cudaGetLastError();
    edge_of(&two, text, sizeof(text));
    ask_expect_text(ask, what, text, then);
    (void)cudaGraphDestroy(two.graph);
    return error;
}

/* Of two edges out of one node the later one goes, and the other stays. */
static void ask_remove_one(struct ask *ask)
{
    cudaGraphEdgeData trigger = edges_data(1, 0, 1), data[2];
    struct kernel_args args = PDL_ZERO;
    cudaGraphNode_t third, from[2];
    size_t count = 2;
    struct two two;

    if (!open_edge(ask, &two, trigger))
        return;
    ask_expect(ask, "a third kernel", ask_add_kernel(&third, two.graph, (const void *)SYMBOL(matrix_nothing), &args, 1), cudaSuccess);
    ask_expect(ask, "a second edge", edges_add(two.graph, &two.from, &third, &trigger, 1), cudaSuccess);
    ask_expect(ask, "removing it", edges_remove(two.graph, &two.from, &third, &trigger, 1), cudaSuccess);
    expect_edge(ask, &two, "the edge beside it", "1,0,1");
    ask_expect(ask, "edges into its node", edges_into_node(two.to, from, data, &count), cudaSuccess);
    ask_expect_number(ask, "their number", (long)count, 1);
    ask_expect_number(ask, "it is the first edge", count == 1 && from[0] == two.from && memcmp(&data[0], &trigger, sizeof(trigger)) == 0, 1);
    (void)cudaGraphDestroy(two.graph);
}

static void ask_remove(struct ask *ask)
{
    cudaGraphEdgeData zero = edges_data(0, 0, 0), trigger = edges_data(1, 0, 1), start = edges_data(2, 0, 1);
    struct two two;

    ask_expect(ask, "a full edge by no data", remove_from(ask, zero, NULL, "the edge then", "no edge"), cudaSuccess);
    ask_expect(ask, "a full edge by zeros", remove_from(ask, zero, &zero, "the edge then", "no edge"), cudaSuccess);
    ask_expect(ask, "a programmatic edge by its data", remove_from(ask, trigger, &trigger, "the edge then", "no edge"), cudaSuccess);
    ask_expect(ask, "one from block starts by its data", remove_from(ask, start, &start, "the edge then", "no edge"), cudaSuccess);
    ask_remove_one(ask);
    if (!open_edge(ask, &two, zero))
        return;
    ask_expect_refusal(ask, "an edge that is not there, by no data", edges_remove(two.graph, &two.to, &two.from, NULL, 1));
    ask_expect_refusal(ask, "an edge that is not there, by data", edges_remove(two.graph, &two.to, &two.from, &trigger, 1));
    expect_edge(ask, &two, "the edge that is", "0,0,0");
    (void)cudaGraphDestroy(two.graph);
}

static void ask_remove_other(struct ask *ask)
{
    cudaGraphEdgeData zero = edges_data(0, 0, 0), trigger = edges_data(1, 0, 1), start = edges_data(2, 0, 1), completion;

    ask_expect_refusal(ask, "a programmatic edge by no data", remove_from(ask, trigger, NULL, "1,0,1 then", "1,0,1"));
    ask_expect_refusal(ask, "a programmatic edge by zeros", remove_from(ask, trigger, &zero, "1,0,1 then", "1,0,1"));
    ask_expect_refusal(ask, "a programmatic edge by another port", remove_from(ask, trigger, &start, "1,0,1 then", "1,0,1"));
    ask_expect_refusal(ask, "a full edge as a programmatic one", remove_from(ask, zero, &trigger, "0,0,0 then", "0,0,0"));
    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(matrix_nothing)), cudaSuccess);
    completion = edges_completion();
    if (completion.type != 0)
        return; /* launch-completion edges are not offered here */
    ask_expect_refusal(ask, "an edge from block starts as a launch-completion edge", remove_from(ask, start, &completion, "2,0,1 then", "2,0,1"));
    ask_expect_refusal(ask, "a launch-completion edge as one from block starts", remove_from(ask, completion, &start, "2,0,0 then", "2,0,0"));
    ask_expect_refusal(ask, "a launch-completion edge as a full one", remove_from(ask, completion, &zero, "2,0,0 then", "2,0,0"));
}

static void ask_typed(struct ask *ask)
{
    struct kernel_args args = PDL_ZERO;
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(matrix_nothing), 1, values);
    struct two two = PDL_ZERO;

    values[0] = &args;
    ask_expect(ask, "a graph", cudaGraphCreate(&two.graph, 0), cudaSuccess);
    ask_expect(ask, "a kernel", cudaGraphAddKernelNode(&two.from, two.graph, NULL, 0, &params), cudaSuccess);
    ask_expect(ask, "a kernel after it", cudaGraphAddKernelNode(&two.to, two.graph, &two.from, 1, &params), cudaSuccess);
    expect_edge(ask, &two, "its edge", "0,0,0");
    ask_expect(ask, "removing it", edges_remove(two.graph, &two.from, &two.to, NULL, 1), cudaSuccess);
    ask_expect(ask, "adding it without data", edges_add(two.graph, &two.from, &two.to, NULL, 1), cudaSuccess);
    expect_edge(ask, &two, "the edge without data", "0,0,0");
    (void)cudaGraphDestroy(two.graph);
}

/* The nodes of the clone tell the same edge. */
static void expect_edge_of_nodes(struct ask *ask, const struct two *clone, const struct two *two, cudaGraphEdgeData want)
{
    cudaGraphNode_t from, to, other[2];
    cudaGraphEdgeData data[2];
    size_t count = 2;

    memset(data, 0x5A, sizeof(data));
    ask_expect(ask, "the clone's first node", cudaGraphNodeFindInClone(&from, two->from, clone->graph), cudaSuccess);
    ask_expect(ask, "the clone's second node", cudaGraphNodeFindInClone(&to, two->to, clone->graph), cudaSuccess);
    ask_expect(ask, "edges out of the first node", edges_out_of_node(from, other, data, &count), cudaSuccess);
    ask_expect_number(ask, "it is the same edge", count == 1 && other[0] == to && memcmp(&data[0], &want, sizeof(want)) == 0, 1);
    count = 2;
    memset(data, 0x5A, sizeof(data));
    ask_expect(ask, "edges into the second node", edges_into_node(to, other, data, &count), cudaSuccess);
    ask_expect_number(ask, "it is the same edge", count == 1 && other[0] == from && memcmp(&data[0], &want, sizeof(want)) == 0, 1);
}

/* Edges of all kinds, more than a few: each has its data in a clone. */
static void clone_fan(struct ask *ask)
{
    cudaGraph_t graph = NULL, clone = NULL;
    cudaGraphNode_t node[FAN + 1], end = NULL, first, from[FAN];
    cudaGraphEdgeData data[FAN], told[FAN];
    size_t count = FAN;
    unsigned i, k, once, same = 0;

    memset(from, 0, sizeof(from));
    memset(told, 0, sizeof(told));
    for (i = 0; i < FAN; i++)
        data[i] = i % 4 == 3 ? edges_completion() : edges_data(i % 4, 0, i % 4 != 0);
    if (open_fan(ask, &graph, node, data)) {
        ask_expect(ask, "a clone of a fan", cudaGraphClone(&clone, graph), cudaSuccess);
        ask_expect(ask, "its end", cudaGraphNodeFindInClone(&end, node[FAN], clone), cudaSuccess);
        ask_expect(ask, "the edges into it", edges_into_node(end, from, told, &count), cudaSuccess);
        ask_expect_number(ask, "the edges into it", (long)count, FAN);
        for (i = 0; i < FAN && cudaGraphNodeFindInClone(&first, node[i], clone) == cudaSuccess; i++) {
            for (k = once = 0; k < FAN; k++)
                once += from[k] == first && memcmp(&told[k], &data[i], sizeof(data[i])) == 0;
            same += once == 1;
        }
        ask_expect_number(ask, "edges that have their data", (long)same, FAN);
    }
    if (clone)
        (void)cudaGraphDestroy(clone);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

static void ask_clone(struct ask *ask)
{
    static const unsigned rows[3][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 } };
    static const char *const texts[3] = { "0,0,0", "1,0,1", "2,0,1" };
    unsigned i;

    for (i = 0; i < 3; i++) {
        struct two two, clone;
        if (!open_edge(ask, &two, edges_data(rows[i][0], rows[i][1], rows[i][2])))
            return;
        clone = two;
        ask_expect(ask, "a clone", cudaGraphClone(&clone.graph, two.graph), cudaSuccess);
        ask_expect(ask, "its first node", cudaGraphNodeFindInClone(&clone.from, two.from, clone.graph), cudaSuccess);
        ask_expect(ask, "its second node", cudaGraphNodeFindInClone(&clone.to, two.to, clone.graph), cudaSuccess);
        expect_edge(ask, &clone, "its edge", texts[i]);
        expect_edge_of_nodes(ask, &clone, &two, edges_data(rows[i][0], rows[i][1], rows[i][2]));
        (void)cudaGraphDestroy(clone.graph);
        (void)cudaGraphDestroy(two.graph);
    }
    ask_expect(ask, "two kernels in a graph", ask_completion_edges((const void *)SYMBOL(matrix_nothing)), cudaSuccess);
    clone_fan(ask);
}

static void ask_list(struct ask *ask)
{
    struct kernel_args args = PDL_ZERO;
    struct cudaGraphNodeParams params = PDL_ZERO;
    void *values[1];
    cudaGraphNode_t twice[2], node;
    cudaGraphEdgeData data[2];
    cudaGraph_t graph;

    values[0] = &args;
    params = ask_general_kernel((const void *)SYMBOL(matrix_nothing), values);
    if (cudaGraphCreate(&graph, 0) != cudaSuccess ||
        ask_add_kernel(&twice[0], graph, (const void *)SYMBOL(matrix_nothing), &args, 1) != cudaSuccess) {
        ask_skip(ask, "a node", "none was made");
        return;
    }
    twice[1] = twice[0];
    data[0] = data[1] = edges_data(1, 0, 1);
    ask_expect_refusal(ask, "the same edge twice", edges_add_node(&node, graph, twice, data, 2, &params));
    data[1] = edges_data(0, 0, 0);
    ask_expect_refusal(ask, "two edges from one node", edges_add_node(&node, graph, twice, data, 2, &params));
    ask_expect_refusal(ask, "without data", edges_add_node(&node, graph, twice, NULL, 2, &params));
    ask_expect(ask, "one of them", edges_add_node(&node, graph, twice, data, 1, &params), cudaSuccess);
    (void)cudaGraphDestroy(graph);
}

static void ask_retyped(struct ask *ask)
{
    static const unsigned rows[4][3] = { { 0, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 }, { 2, 0, 0 } };
    unsigned i, j;

    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            cudaGraphExecUpdateResultInfo info = PDL_ZERO;
            struct two old_graph, new_graph;
            cudaGraphExec_t exec;
            char what[64], answer[64];
            if (!open_edge(ask, &old_graph, edges_data(rows[i][0], rows[i][1], rows[i][2])) ||
                !open_edge(ask, &new_graph, edges_data(rows[j][0], rows[j][1], rows[j][2])) ||
                cudaGraphInstantiate(&exec, old_graph.graph, 0) != cudaSuccess)
                continue;
            snprintf(what, sizeof(what), "%u,%u,%u to %u,%u,%u", rows[i][0], rows[i][1], rows[i][2], rows[j][0], rows[j][1],
                     rows[j][2]);
            ask_note(ask, what, cudaGraphExecUpdate(exec, new_graph.graph, &info));
            snprintf(answer, sizeof(answer), "%d", (int)info.result);
            ask_row(ask, "result of that update", answer);
            (void)cudaGraphExecDestroy(exec);
            (void)cudaGraphDestroy(old_graph.graph);
            (void)cudaGraphDestroy(new_graph.graph);
        }
}

static void ask_domain(struct ask *ask)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(1, ask->stream);
    cudaLaunchAttribute attribute;
    cudaLaunchAttributeValue value;
    cudaGraphNode_t node;
    cudaGraph_t graph = NULL;
    size_t count = 1;
    void *params[1];
    unsigned domain;

    params[0] = &args;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (domain = 0; domain < 2; domain++) {
        memset(&attribute, 0, sizeof(attribute));
        memset(&value, 0xFF, sizeof(value));
        attribute.id = cudaLaunchAttributeMemSyncDomain;
        attribute.val.memSyncDomain = domain ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault;
        ask_expect(ask, "beginning a capture", cudaStreamBeginCapture(ask->stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        ask_expect(ask, "a launch in a domain", cudaLaunchKernelExC(&config, (const void *)SYMBOL(matrix_nothing), params), cudaSuccess);
        ask_expect(ask, "ending the capture", cudaStreamEndCapture(ask->stream, &graph), cudaSuccess);
        ask_expect(ask, "its node", cudaGraphGetNodes(graph, &node, &count), cudaSuccess);
        ask_expect(ask, "the node's domain", cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeMemSyncDomain, &value),
                   cudaSuccess);
        ask_expect_number(ask, "the domain", (long)value.memSyncDomain, (long)attribute.val.memSyncDomain);
        (void)cudaGraphDestroy(graph);
    }
}

#ifndef PDL_MODEL
/* Makes it executable for launches from the device, and launches it from the host. */
static void ask_device_launch(struct ask *ask, cudaGraphEdgeData data, const char *what)
{
    struct two two;
    cudaGraphExec_t exec;
    cudaError_t error;

    if (!open_edge(ask, &two, data))
        return;
    error = cudaGraphInstantiate(&exec, two.graph, cudaGraphInstantiateFlagDeviceLaunch);
    ask_note(ask, what, error);
    if (error == cudaSuccess) {
        ask_note(ask, "its upload", cudaGraphUpload(exec, ask->stream));
        ask_note(ask, "its launch from the host", cudaGraphLaunch(exec, ask->stream));
        ask_note(ask, "its end", cudaStreamSynchronize(ask->stream));
        (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(two.graph);
}

static void ask_disabled(struct ask *ask, int upstream, const char *what)
{
    struct two two;
    cudaGraphExec_t exec;

    if (!open_edge(ask, &two, edges_data(1, 0, 1)))
        return;
    if (cudaGraphInstantiate(&exec, two.graph, 0) == cudaSuccess) {
        ask_note(ask, what, cudaGraphNodeSetEnabled(exec, upstream ? two.from : two.to, 0));
        ask_note(ask, "a launch of that", cudaGraphLaunch(exec, ask->stream));
        ask_note(ask, "the end of that", cudaStreamSynchronize(ask->stream));
        (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(two.graph);
}

/* A node that the device may update, with a programmatic edge into it. */
static void ask_updatable(struct ask *ask)
{
#if CUDART_VERSION >= 12040
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaGraphExec_t exec;
    struct two two;
    cudaError_t error;

    if (!open_edge(ask, &two, edges_data(1, 0, 1)))
        return;
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    error = cudaGraphKernelNodeSetAttribute(two.to, cudaLaunchAttributeDeviceUpdatableKernelNode, &value);
    ask_note(ask, "device-updatable after 1,0,1", error);
    if (error == cudaSuccess) {
        error = cudaGraphInstantiate(&exec, two.graph, 0);
        ask_note(ask, "instantiating that", error);
        if (error == cudaSuccess)
            (void)cudaGraphExecDestroy(exec);
    }
    (void)cudaGraphDestroy(two.graph);
#else
    ask_note(ask, "device-updatable after 1,0,1", cudaErrorNotSupported);
#endif
}

static void ask_special(struct ask *ask)
{
    ask_device_launch(ask, edges_data(0, 0, 0), "device launch, 0,0,0");
    ask_device_launch(ask, edges_data(1, 0, 1), "device launch, 1,0,1");
    ask_device_launch(ask, edges_data(2, 0, 1), "device launch, 2,0,1");
    ask_disabled(ask, 1, "disabling the node before a programmatic edge");
    ask_disabled(ask, 0, "disabling the node after it");
    ask_updatable(ask);
}

static void ask_copied(struct ask *ask)
{
    cudaLaunchAttributeValue value = PDL_ZERO, first = PDL_ZERO, second = PDL_ZERO;
    int least, greatest;
    struct two two;

    if (!open_edge(ask, &two, edges_data(0, 0, 0)) || cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess)
        return;
    value.priority = greatest;
    ask_note(ask, "a priority on the second node", cudaGraphKernelNodeSetAttribute(two.to, cudaLaunchAttributePriority, &value));
    ask_note(ask, "copying with the first node named first", cudaGraphKernelNodeCopyAttributes(two.from, two.to));
    (void)cudaGraphKernelNodeGetAttribute(two.from, cudaLaunchAttributePriority, &first);
    (void)cudaGraphKernelNodeGetAttribute(two.to, cudaLaunchAttributePriority, &second);
    ask_note_number(ask, "highest priority", greatest);
    ask_note_number(ask, "the first node's priority then", first.priority);
    ask_note_number(ask, "the second node's", second.priority);
    (void)cudaGraphDestroy(two.graph);
}
#endif

static const struct pair matrix_pairs[] = {
    PAIR_ASK("ports", ask_ports),
    PAIR_ASK("to_port", ask_to_port),
    PAIR_ASK("reserved", ask_reserved),
    PAIR_ASK("types", ask_types),
    PAIR_ASK("port_one", ask_port_one),
    PAIR_ASK("codes", ask_codes),
    PAIR_ASK("lossy", ask_lossy),
    PAIR_ASK("counting", ask_counting),
    PAIR_ASK("twice", ask_twice),
    PAIR_ASK("other_data", ask_other_data),
    PAIR_ASK("remove", ask_remove),
    PAIR_ASK("remove_other", ask_remove_other),
    PAIR_ASK("typed", ask_typed),
    PAIR_ASK("clone", ask_clone),
    PAIR_ASK("list", ask_list),
    PAIR_ASK("retyped", ask_retyped),
    PAIR_ASK("domain", ask_domain),
#ifndef PDL_MODEL
    PAIR_ASK("special", ask_special),
    PAIR_ASK("copied", ask_copied),
#endif
};
IMAGE(matrix, matrix_pairs)
