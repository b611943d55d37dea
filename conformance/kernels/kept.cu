/* kept.cu - what an executable graph keeps, and what a graph that was refused something keeps.
 *
 * pair      rules    what is asked
 * status    EDGE-42  a disabled kernel that is given new parameters, or whose graph is updated as a whole, stays disabled
 * uploaded  EDGE-42  so does one whose graph is uploaded
 * items     EDGE-42a each of a kernel, memsets and copies, one of rows and one of layers, that is disabled stays so: new parameters by either call, updates, uploads
 * left      EDGE-42b graphs of two nodes of each kind, of which one or two are left out and taken back: all others run, also when a node that may
 *                    not be left out is refused; nodes that are disabled or enabled several times in a row; changes while a node of a
 *                    programmatic edge is left out
 * edges     EDGE-44a an edge that is refused because there is one leaves that one's data; a node that is destroyed takes its edges along,
 *                    leaves no others, and nodes that are added then have theirs; programmatic edges into conditional nodes are refused
 * inside    EDGE-43a an update changes kernels, memsets and copies in child graphs and in bodies of conditional nodes
 * source    EDGE-43  after an update from another graph the nodes of the first one are still known, and kernels in children of children are
 *                    changed; what is added to a graph, or to the source of a child graph, later does not run
 * refused   EDGE-44  a graph that was no executable one because of a cycle becomes one without it; a node that is refused is not added; an
 *                    executable graph that was refused an update or new parameters, whatever its node, does what it did, and takes the next ones
 * handed    EDGE-43b a graph in a child graph node, or in a body, is changed where it is: nodes, parameters and edges
 * apart     EDGE-43c clones, and executable graphs of one graph, that are changed side by side with it and with each other; they go
 * orders    EDGE-43d uploads, parameters, updates, launches, a node left out and back, another executable graph: three of them in every order,
 *                    each other time for an executable graph that was made of a clone;
 *                    updates from one graph that is changed in between; changes that another host thread makes
 * declined  EDGE-44b an update from nodes of other kinds, or a longer graph for a child graph, changes nothing: parameters of nodes of each
 *                    kind, which of them are left out, events
 * named     EDGE-38a an update that is refused names the node that it is refused for, and changes nothing
 * copies    EDGE-43  nodes, edges and all that go from a graph stay in the clones, children and executable graphs that it was copied to
 * often     EDGE-43d parameters, updates and both of them in turn, twenty times, for a node of each kind, with a launch after each; parameters
 *                    and updates that give back what they gave before; captures of overlapping kernels, forty of them for one executable graph;
 *                    66 nodes of each kind that are all changed before one launch
 * caught    EDGE-43e a graph that came of a capture, of calls of the runtime or the driver: its nodes get parameters or go, its edges go and come,
 *                    others are added
 * made      EDGE-43  a row of nodes of each kind, made by hand, captured, cloned, or that lost a node or an edge, updates another one; is changed as
 *                    a child graph, a child of a child or a body; loses a node and edges there;
 *                    updates of nothing but what is copied, or of a memset's value, beside a programmatic edge
 * later     EDGE-43c edges that come between nodes of a graph, or are turned round, once an executable one was made of it; an executable
 *                    graph gets other kinds of edges, and those beside it, of clones and of graphs around its graph keep theirs
 * waiting   EDGE-43d calls while a dependent waits for a primary that the host holds: calls with their graph, and others
 * running   EDGE-43d while one launch is under way and another one is queued: each call of `orders`, for a node of each kind; an executable
 *                    graph is destroyed, and others are made; 40 launches in a row with a change before each; changes while an upload
 *                    waits behind work of its stream; an upload in another stream while a node of the launch waits for two others;
 *                    user objects live until the launch has ended, whichever copy of their graph it is of
 * children  EDGE-25c two child graphs in a row, with programmatic edges inside: of one graph, of two, and after each was given another one
 */
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

/* The items of a graph: a memset of rows and a copy of layers as well. */
enum item { ITEM_KERNEL, ITEM_SET, ITEM_COPY, ITEM_ROWS, ITEM_LAYERS, ITEMS };
static const char *const item_name[ITEMS] = { "a kernel", "a memset", "a copy", "a memset of rows", "a copy of layers" };

#define WORDS (ITEMS + 1u)
#define CELLS LAYERS_TO        /* of a word, which is set once all are: rows and layers leave some between them out */
#define WORD_BYTES (CELLS * sizeof(uint32_t))

DEVICE_FN void set_word(uint32_t *word)
{
    uint32_t i;

    for (i = 0; i < CELLS; i++)
        k_store(word + i, 1);
}

/* Each kernel sets the word that it was made for. */
KERNEL(kept_set) { set_word(args.data); }

/* Sets its word late: what reads it and does not wait finds it as it was. */
KERNEL(kept_late)
{
    struct trial_plan plan = k_plan(&args);

    k_delay(args.state, plan.hold_ns);
    set_word(args.data);
}

KERNEL(kept_nothing) { (void)args; }

struct kept {
    struct ask *ask;
    uint32_t *words;           /* pinned: WORDS, then what copies read */
    const uint32_t *source;    /* that, as the device sees it: a word, then layers */
    struct kernel_args args[WORDS]; /* of a kernel that sets this word */
};

#define SOURCE_BYTES (WORD_BYTES + LAYERS_FROM * sizeof(uint32_t))

static void fill_source(uint32_t *source)
{
    unsigned i;

    for (i = 0; i < CELLS; i++)
        source[i] = 1;
    for (i = 0; i < LAYERS_FROM; i++) /* between rows and layers there is nothing that sets a word */
        source[CELLS + i] = i % 9 == 0 || i % 9 == 3;
}

static int open_kept(struct kept *kept, struct ask *ask)
{
    char *device = NULL;
    unsigned i;
    cudaError_t error = cudaHostAlloc((void **)&kept->words, WORDS * WORD_BYTES + SOURCE_BYTES, cudaHostAllocMapped);

    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, kept->words, 0);
    ask_expect(ask, "pinned memory", error, cudaSuccess);
    kept->ask = ask;
    for (i = 0; i < WORDS && error == cudaSuccess; i++)
        kept->args[i].data = (uint32_t *)(void *)device + i * CELLS;
    kept->source = (const uint32_t *)(void *)device + WORDS * CELLS;
    if (error == cudaSuccess)
        fill_source(kept->words + WORDS * CELLS);
    return error == cudaSuccess;
}

static void close_kept(struct kept *kept) { (void)cudaFreeHost(kept->words); }

/* The arguments of kept_late(), to set the first word; 0: there is no memory for them. */
static int open_late(struct kept *kept, struct host_room **room, struct kernel_args *late)
{
    if (!open_room(room, late)) {
        ask_skip(kept->ask, "pinned host memory", "none was given");
        return 0;
    }
    (*room)->plan.hold_ns = 20000;
    late->data = kept->args[0].data;
    return 1;
}

static cudaError_t add_set(struct kept *kept, cudaGraph_t graph, unsigned word, cudaGraphNode_t *node)
{
    return ask_add_kernel(node, graph, (const void *)SYMBOL(kept_set), &kept->args[word], 1);
}

/* A graph that sets this word. */
static cudaError_t make_set(struct kept *kept, unsigned word, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    return error == cudaSuccess ? add_set(kept, *graph, word, node) : error;
}

/* Which of so many words are set, one bit for each; one more if one of them is in part. */
static unsigned which_are_set(volatile const uint32_t *words, unsigned count)
{
    unsigned is = 0, i;

    for (i = 0; i < count; i++, words += CELLS) {
        unsigned cells = (words[0] != 0) + (words[2] != 0) + (words[6] != 0) + (words[8] != 0); /* of both layers, both rows */
        is |= cells == 4 ? 1u << i : cells ? 1u << count : 0;
    }
    return is;
}

/* Launches the graph; of the words these have to be set. */
static void expect_words(struct kept *kept, cudaGraphExec_t exec, const char *what, unsigned want)
{
    cudaStream_t stream = kept->ask->stream;

    memset(kept->words, 0, WORDS * WORD_BYTES);
    ask_expect(kept->ask, what, cudaGraphLaunch(exec, stream), cudaSuccess);
    ask_expect(kept->ask, what, cudaStreamSynchronize(stream), cudaSuccess);
    ask_expect_number(kept->ask, what, (long)which_are_set(kept->words, WORDS), (long)want);
}

/* A memset of a word, or of the cells of it that rows set. */
static struct cudaMemsetParams set_of(uint32_t *word, int rows)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = word;
    set.value = 1;
    set.elementSize = sizeof(uint32_t);
    set.width = rows ? 1 : CELLS;
    set.height = rows ? (CELLS + 1) / 2 : 1;
    set.pitch = rows ? 2 * sizeof(uint32_t) : 0;
    return set;
}

static cudaError_t update_from(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;

    return cudaGraphExecUpdate(exec, graph, &info);
}

static struct cudaKernelNodeParams params_of_set(struct kernel_args *args, void **values)
{
    values[0] = args;
    return one_block_node((const void *)SYMBOL(kept_set), 1, values);
}

static cudaError_t give_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, struct kernel_args *args)
{
    void *values[1];
    struct cudaKernelNodeParams params = params_of_set(args, values);

    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
}

static cudaError_t give_word(struct kept *kept, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned word)
{
    return give_kernel(exec, node, &kept->args[word]);
}

static void expect_enabled(struct kept *kept, cudaGraphExec_t exec, cudaGraphNode_t node, const char *what, long want)
{
    unsigned enabled = 2;

    ask_expect(kept->ask, what, cudaGraphNodeGetEnabled(exec, node, &enabled), cudaSuccess);
    ask_expect_number(kept->ask, what, (long)enabled, want);
}

/* ---- status ---- */

/* "Enable state is unaffected by individual node update or whole graph update with cudaGraphExecUpdate()." */
static void ask_kept_status(struct ask *ask, int upload)
{
    struct kept kept = PDL_ZERO;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, second = NULL;

    if (!open_kept(&kept, ask))
        return;
    ask_expect(ask, "a graph", make_set(&kept, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "another one", make_set(&kept, 2, &other, &second), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(&kept, exec, "a launch", 1);
    ask_expect(ask, "disabling its kernel", cudaGraphNodeSetEnabled(exec, node, 0), cudaSuccess);
    expect_words(&kept, exec, "a launch while it is disabled", 0);
    if (upload) {
        ask_expect(ask, "an upload", cudaGraphUpload(exec, ask->stream), cudaSuccess);
        expect_words(&kept, exec, "a launch after an upload", 0);
    } else {
        ask_expect(ask, "new parameters", give_word(&kept, exec, node, 1), cudaSuccess);
        expect_words(&kept, exec, "a launch after new parameters", 0);
        ask_expect_update(ask, "an update", update_from(exec, other));
        expect_words(&kept, exec, "a launch after an update", 0);
    }
    expect_enabled(&kept, exec, node, "whether it is enabled then", 0);
    ask_expect(ask, "enabling it", cudaGraphNodeSetEnabled(exec, node, 1), cudaSuccess);
    expect_words(&kept, exec, "a launch when it is enabled again", upload ? 1 : 4);
    expect_enabled(&kept, exec, node, "whether it is enabled in the end", 1);
    ask_expect(ask, "disabling it again", cudaGraphNodeSetEnabled(exec, node, 0), cudaSuccess);
    expect_words(&kept, exec, "a launch when it is disabled again", 0);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
    close_kept(&kept);
}

static void ask_status(struct ask *ask) { ask_kept_status(ask, 0); }
static void ask_uploaded(struct ask *ask) { ask_kept_status(ask, 1); }

/* ---- source ---- */

static void ask_first_nodes(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, second = NULL;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "another one", make_set(kept, 1, &other, &second), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect_update(ask, "an update", update_from(exec, other));
    expect_words(kept, exec, "a launch after the update", 2);
    ask_expect(ask, "new parameters by the node of the first graph", give_word(kept, exec, node, 2), cudaSuccess);
    expect_words(kept, exec, "a launch after new parameters", 4);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

/* A kernel in a child of a child. */
static cudaError_t make_nested(struct kept *kept, unsigned word, cudaGraph_t *outer)
{
    cudaGraph_t inner = NULL, middle = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = make_set(kept, word, &inner, &node);

    if (error == cudaSuccess)
        error = cudaGraphCreate(&middle, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, middle, NULL, 0, inner);
    if (error == cudaSuccess)
        error = cudaGraphCreate(outer, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *outer, NULL, 0, middle);
    (void)cudaGraphDestroy(inner);
    (void)cudaGraphDestroy(middle);
    return error;
}

typedef cudaError_t (*graph_maker)(struct kept *kept, unsigned word, cudaGraph_t *graph);

/* Made twice, to set words from the first one on and from another one on, and updated from the one to the other. */
static void ask_remade(struct kept *kept, graph_maker make, const char *what, unsigned other_word, unsigned sets, unsigned sets_then)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;

    ask_expect(ask, what, make(kept, 0, &graph), cudaSuccess);
    ask_expect(ask, what, make(kept, other_word, &other), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, what, sets);
    ask_expect_update(ask, "an update", update_from(exec, other));
    expect_words(kept, exec, what, sets_then);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static cudaError_t add_late(struct kept *kept, cudaGraph_t graph)
{
    struct cudaMemsetParams set = set_of(kept->args[2].data, 0);
    cudaGraphNode_t node = NULL;
    cudaError_t error = add_set(kept, graph, 1, &node);

    return error == cudaSuccess ? cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set) : error;
}

/* Nodes that are added to a graph after it was made executable, or after it was made a child, run in neither. */
static void ask_late(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, outer = NULL;
    cudaGraphExec_t exec = NULL, around = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "a graph around it", cudaGraphCreate(&outer, 0), cudaSuccess);
    ask_expect(ask, "a child", cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "nodes that come later", add_late(kept, graph), cudaSuccess);
    ask_expect(ask, "an executable one of the graph around it", cudaGraphInstantiate(&around, outer, 0), cudaSuccess);
    expect_words(kept, exec, "a launch of what was made before them", 1);
    expect_words(kept, around, "a launch of the child that was made before them", 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphExecDestroy(around);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(outer);
}

/* A memset of one row that is given several, before its graph is made executable. */
static void ask_rows_of_source(struct kept *kept)
{
    struct ask *ask = kept->ask;
    struct cudaMemsetParams set = set_of(kept->args[1].data, 0), rows = set_of(kept->args[0].data, 1);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "a graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a memset", cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set), cudaSuccess);
    ask_expect(ask, "rows instead", cudaGraphMemsetNodeSetParams(node, &rows), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, "a launch of the memset of rows", 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

static void ask_source(struct ask *ask)
{
    struct kept kept = PDL_ZERO;

    if (!open_kept(&kept, ask))
        return;
    ask_first_nodes(&kept);
    ask_remade(&kept, make_nested, "a child of a child", 1, 1, 2);
    ask_late(&kept);
    ask_rows_of_source(&kept);
    close_kept(&kept);
}

/* ---- refused ---- */

/* Where a cycle is refused, when the edge is added or when the graph is made executable, is not promised. */
static void ask_without_cycle(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, second = NULL;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "a second kernel", add_set(kept, graph, 1, &second), cudaSuccess);
    ask_expect(ask, "an edge", edges_add(graph, &node, &second, &full, 1), cudaSuccess);
    if (edges_add(graph, &second, &node, &full, 1) == cudaSuccess) {
        ask_expect_refusal(ask, "an executable graph with a cycle", cudaGraphInstantiate(&exec, graph, 0));
        ask_expect(ask, "removing the edge back", edges_remove(graph, &second, &node, &full, 1), cudaSuccess);
    }
    (void)cudaGetLastError();
    ask_expect(ask, "an executable graph without the cycle", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, "its launch", 3);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* A kernel that would come by an edge from a port that there is not, to one, or of a type that its port has not. */
static void ask_not_added_by_edge(struct kept *kept)
{
    static const unsigned rows[][3] = { { 3, 0, 0 }, { 3, 0, 1 }, { 0, 1, 0 }, { 1, 1, 1 }, { 0, 0, 1 } };
    struct ask *ask = kept->ask;
    void *values[1];
    struct cudaGraphNodeParams params = ask_general_kernel((const void *)SYMBOL(kept_set), values);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, refused = NULL;
    size_t count = 0, i;

    values[0] = &kept->args[1];
    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cudaGraphEdgeData data = edges_data(rows[i][0], rows[i][1], rows[i][2]);
        ask_expect_refusal(ask, "a kernel that comes by an edge that there is not", edges_add_node(&refused, graph, &node, &data, 1, &params));
    }
    ask_expect(ask, "the nodes then", cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
    ask_expect_number(ask, "the nodes then", (long)count, 1);
    ask_expect(ask, "an executable graph", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_words(kept, exec, "its launch", 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* A node may appear only once among the dependencies of a new one, and is of the same graph. */
static void ask_not_added(struct kept *kept)
{
    struct ask *ask = kept->ask;
    struct cudaMemsetParams set = set_of(kept->args[1].data, 0);
    cudaGraph_t graph = NULL;
    cudaGraph_t other = NULL;
    cudaGraphNode_t node = NULL, twice[2], foreign = NULL;
    size_t count = 0;

    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    twice[0] = twice[1] = node;
    ask_expect_refusal(ask, "an empty node that depends on one twice", cudaGraphAddEmptyNode(&node, graph, twice, 2));
    ask_expect_refusal(ask, "a memset that does", cudaGraphAddMemsetNode(&node, graph, twice, 2, &set));
    ask_expect(ask, "another graph", make_set(kept, 0, &other, &foreign), cudaSuccess);
    ask_expect_refusal(ask, "an empty node that depends on one of another graph", cudaGraphAddEmptyNode(&node, graph, &foreign, 1));
    ask_expect_refusal(ask, "a memset that does", cudaGraphAddMemsetNode(&node, graph, &foreign, 1, &set));
    ask_expect(ask, "the nodes then", cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
    ask_expect_number(ask, "the nodes then", (long)count, 1);
    (void)cudaGraphDestroy(other);
    (void)cudaGraphDestroy(graph);
}

static void ask_refused_changes(struct kept *kept)
{
    struct ask *ask = kept->ask;
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node((const void *)SYMBOL(kept_set), 0, values);
    cudaGraph_t graph = NULL, longer = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, second = NULL;

    values[0] = &kept->args[1];
    ask_expect(ask, "a graph", make_set(kept, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "a longer one", make_set(kept, 2, &longer, &second), cudaSuccess);
    ask_expect(ask, "its second kernel", add_set(kept, longer, 3, &second), cudaSuccess);
    ask_expect(ask, "another one", make_set(kept, 2, &other, &second), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect_refusal(ask, "new parameters without threads", cudaGraphExecKernelNodeSetParams(exec, node, &params));
    expect_words(kept, exec, "a launch after refused parameters", 1);
    ask_expect_refusal(ask, "an update from the longer graph", update_from(exec, longer));
    expect_words(kept, exec, "a launch after a refused update", 1);
    ask_expect(ask, "new parameters", give_word(kept, exec, node, 1), cudaSuccess);
    expect_words(kept, exec, "a launch after them", 2);
    ask_expect_update(ask, "an update from a graph of the same shape", update_from(exec, other));
    expect_words(kept, exec, "a launch after that", 4);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(longer);
    (void)cudaGraphDestroy(other);
}

#include "kept_items.h"
#include "kept_apart.h"
#include "kept_enabled.h"
#include "kept_orders.h"
#include "kept_copies.h"
#include "kept_repeats.h"
#include "kept_many.h"
#include "kept_often.h"
#include "kept_captured.h"
#include "kept_named.h"
#include "kept_made.h"
#include "kept_later.h"
#include "kept_beside.h"
#include "kept_while_out.h"
#include "kept_gone.h"
#include "kept_queued.h"
#include "kept_waiting.h"
#include "kept_objects.h"
#include "kept_running.h"
#include "kept_children.h"

static void ask_refused(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned single;

    if (!open_kept(&kept, ask))
        return;
    ask_refused_changes(&kept);
    for (single = ITEM_SET; single <= SINGLE_HOST; single++)
        if (takes_changes(single))
            ask_unsound(&kept, single);
    ask_without_cycle(&kept);
    ask_not_added(&kept);
    ask_not_added_by_edge(&kept);
    close_kept(&kept);
}

static const struct pair kept_pairs[] = {
    PAIR_ASK("inside", ask_inside),
    PAIR_ASK("items", ask_items),
    PAIR_ASK("edges", ask_edges),
    PAIR_ASK("status", ask_status),
    PAIR_ASK("uploaded", ask_uploaded),
    PAIR_ASK("source", ask_source),
    PAIR_ASK("refused", ask_refused),
    PAIR_ASK("handed", ask_handed),
    PAIR_ASK("apart", ask_apart),
    PAIR_ASK("orders", ask_orders),
    PAIR_ASK("copies", ask_copies),
    PAIR_ASK("often", ask_often),
    PAIR_ASK("declined", ask_declined),
    PAIR_ASK("caught", ask_caught),
    PAIR_ASK("named", ask_named),
    PAIR_ASK("left", ask_left_and_back),
    PAIR_ASK("made", ask_made_and_beside),
    PAIR_ASK("later", ask_later),
    PAIR_ASK("running", ask_running),
    PAIR_ASK("waiting", ask_waiting),
    PAIR_ASK("children", ask_children),
};
IMAGE(kept, kept_pairs)
