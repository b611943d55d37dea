/* edge.cu - EDGE rules: graphs built by hand, node by node, with the edges written out.
 *
 * P is the primary, M a kernel in the middle, D the dependent; "full", "prog" and so on are edges.
 *
 * pair        rules     the graph
 * full        EDGE-01   P -full-> D, D does not wait
 * relay       EDGE-01a  P -prog-> M -full-> D, M waits, D does not; the graph is one line
 * bridged     EDGE-01a  P -prog-> M -full-> D and P -full-> D, neither M nor D waits
 * hidden      EDGE-01b  P -prog-> M -full-> D, neither M nor D waits (F13)
 * hidden_line EDGE-01b  the same, and each trial comes after the last node of the trial before alone: the graph is one line
 * reaching    EDGE-01b  P -prog-> M -prog-> D, only D waits (F14)
 * chained     EDGE-09   P -prog-> M -prog-> D, both wait
 * trigger     EDGE-09   P -prog-> D, D waits
 * fan_out     EDGE-09   P -prog-> D and P -prog-> M, both wait; each reads every other group of words
 * withhold    EDGE-09a  P -prog-> D, one block of P withholds its trigger and watches
 * begun       EDGE-10   P -block start-> D, D waits; P never triggers
 * launched    EDGE-07   P -launch completion-> D, D waits (AMB-11)
 * cloned      EDGE-24   trigger, in a clone of the graph
 * updated     EDGE-24   trigger, the executable graph having been updated
 * retyped     EDGE-23a  full, updated from a graph whose edge is programmatic; made anew where that update is refused; half in a child graph
 * child       EDGE-25   trigger, in a child graph
 * body        EDGE-26   trigger, in the body of a conditional node
 * fan_in      COMP-04   P -prog-> D and M -prog-> D, D waits; P and M store every other group of words
 * mixed       COMP-04   P -full-> D and M -prog-> D, D does not wait
 * together    EDGE-33a  P -prog-> M and P -full-> D, both edges added in one call, D does not wait
 * together_line EDGE-33a P -prog-> M -full-> D, both edges added in one call, M waits, D does not
 *
 * Controls: `attron`, a programmatic edge instead of the full one; `unordered`, no edge. Mutants: `nowait`; `eager`: the
 * withholding block triggers before its work; `chain`: D relies on M's wait; `graphedge`: a full edge is programmatic, or an edge is
 * missing; `lce`: a launch-completion edge instead of a programmatic one; `hidden`: D relies on a full edge from M, which did not
 * wait (F13).
 */
#include "graph_ask.h"
#include "pair.h"
#include "start.h"

#ifdef MUTANT_graphedge
#define GRAPHEDGE 1
#else
#define GRAPHEDGE 0
#endif
#ifdef MUTANT_hidden
#define HIDDEN 1
#else
#define HIDDEN 0
#endif
#ifdef MUTANT_lce
#define COVERED_EDGE(edge) PDL_EDGE_LAUNCH_COMPLETION
#else
#define COVERED_EDGE(edge) edge
#endif

/* ---- kernels ---- */

KERNEL(edge_primary) { visibility_primary(&args, FORM_PLAIN); }
KERNEL(edge_held_primary) { held_primary(&args); }
KERNEL(edge_withhold_primary) { withholding_primary(&args, EAGER); }
KERNEL(edge_late_dependent) { reading_dependent(&args, 0); }
KERNEL(edge_waiting_dependent) { reading_dependent(&args, 1); }

KERNEL(edge_dependent) { reading_dependent(&args, WAITS); }
KERNEL(edge_mute_primary) { mute_primary(&args); }

KERNEL(edge_silent)
{
    (void)args;
    k_trigger();
}

KERNEL(edge_relay)
{
    (void)args;
    k_trigger();
#ifndef MUTANT_hidden
    k_wait_device();
#endif
}

/* One of two: `share` 0 has the even groups of four words, 1 the odd ones. */
DEVICE_FN void reads_share(const struct kernel_args *args, const struct trial_plan *plan, uint32_t share)
{
    uint32_t first, last, i, j;

    dependent_range(plan, &first, &last);
    for (i = first + k_group() * 4; i < last; i += k_threads() * 4)
        for (j = 0; j < 4 && i / 4 % 2 == share; j++)
            k_store(args->seen + i + j, k_load(args->data + i + j));
}

KERNEL(edge_first_of_two) { first_of_two(&args); }
KERNEL(edge_second_of_two) { second_of_two(&args); }

KERNEL(edge_even_reader)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins_and_waits(&args, &plan);
    reads_share(&args, &plan, 0);
    dependent_finishes(&args);
}

KERNEL(edge_odd_reader)
{
    struct trial_plan plan = k_plan(&args);

    if (WAITS)
        k_wait(&args, &plan);
    reads_share(&args, &plan, 1);
}

/* ---- graphs ---- */

static cudaError_t queue_full(const struct queue *queue, const struct trial_launch *trial)
{
    return node_pair(queue, trial, GRAPHEDGE || trial->control == CONTROL_ATTRON ? PDL_EDGE_PROGRAMMATIC : PDL_EDGE_FULL);
}

static cudaError_t queue_trigger(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? node_unordered(queue, trial) : node_pair(queue, trial, COVERED_EDGE(PDL_EDGE_PROGRAMMATIC));
}

static cudaError_t queue_begun(const struct queue *queue, const struct trial_launch *trial)
{
    return node_pair(queue, trial, COVERED_EDGE(PDL_EDGE_BLOCK_START));
}

static cudaError_t queue_launched(const struct queue *queue, const struct trial_launch *trial)
{
    return node_pair(queue, trial, PDL_EDGE_LAUNCH_COMPLETION);
}

/* P -prog-> M -last-> D, and P -full-> D if bridged. */
static cudaError_t queue_chain(const struct queue *queue, const struct trial_launch *trial, pdl_edge_kind last, int bridged)
{
    pdl_graph_edge edges[2] = PDL_ZERO;
    cudaGraphNode_t node;
    cudaError_t error = node_primary(queue, trial, &edges[1].from);

    edges[1].kind = PDL_EDGE_PROGRAMMATIC;
    if (error == cudaSuccess)
        error = node_middle(queue, trial, 1, &edges[1], 1, &edges[0].from);
    edges[0].kind = last;
    edges[1].kind = PDL_EDGE_FULL;
    return error == cudaSuccess ? node_dependent(queue, trial, edges, bridged ? 2 : 1, &node) : error;
}

static cudaError_t queue_relay(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? node_unordered(queue, trial) : queue_chain(queue, trial, PDL_EDGE_FULL, 0);
}

static cudaError_t queue_bridged(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->control == CONTROL_UNORDERED ? node_unordered(queue, trial) : queue_chain(queue, trial, PDL_EDGE_FULL, !HIDDEN);
}

static cudaError_t queue_hidden(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_chain(queue, trial, PDL_EDGE_FULL, 0);
}

static cudaError_t queue_reaching(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_chain(queue, trial, PDL_EDGE_PROGRAMMATIC, 0);
}

static cudaError_t queue_fan_out(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_graph_edge edge = PDL_ZERO;
    cudaGraphNode_t node;
    cudaError_t error = node_primary(queue, trial, &edge.from);

    edge.kind = COVERED_EDGE(PDL_EDGE_PROGRAMMATIC);
    if (error == cudaSuccess)
        error = node_dependent(queue, trial, &edge, 1, &node);
    return error == cudaSuccess ? node_middle(queue, trial, trial->dependent_blocks, &edge, 1, &node) : error;
}

/* M begins with P, or P with M: neither has an edge from the other. graphedge: P's edge is missing. */
static cudaError_t queue_fan_in(const struct queue *queue, const struct trial_launch *trial, pdl_edge_kind of_primary, unsigned middle_blocks)
{
    pdl_graph_edge edges[2] = PDL_ZERO;
    cudaGraphNode_t node;
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return node_unordered(queue, trial);
    error = node_primary(queue, trial, &edges[1].from);
    if (error == cudaSuccess)
        error = node_middle(queue, trial, middle_blocks, NULL, 0, &edges[0].from);
    edges[0].kind = PDL_EDGE_PROGRAMMATIC;
    edges[1].kind = of_primary;
    return error == cudaSuccess ? node_dependent(queue, trial, edges, GRAPHEDGE ? 1 : 2, &node) : error;
}

static cudaError_t queue_two(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_fan_in(queue, trial, PDL_EDGE_PROGRAMMATIC, trial->primary_blocks);
}

static cudaError_t queue_mixed(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_fan_in(queue, trial, PDL_EDGE_FULL, 1);
}

/* Two edges of different data in one call. graphedge: the full one is programmatic. */
static cudaError_t add_together(const struct queue *queue, const struct trial_launch *trial, int line)
{
    int full = !GRAPHEDGE && trial->control != CONTROL_ATTRON, early = trial->control != CONTROL_ATTROFF;
    cudaGraphNode_t from[2], to[2];
    cudaGraphEdgeData data[2];
    cudaError_t error = node_primary(queue, trial, &from[0]);

    if (error == cudaSuccess)
        error = node_middle_alone(queue, trial, &to[0]);
    if (error == cudaSuccess)
        error = node_dependent_alone(queue, trial, &to[1]);
    from[1] = line ? to[0] : from[0];
    data[0] = edges_data(early, 0, early);
    data[1] = edges_data(!full, 0, !full);
    return error == cudaSuccess ? edges_add(queue->nodes->graph, from, to, data, 2) : error;
}

static cudaError_t queue_together(const struct queue *queue, const struct trial_launch *trial)
{
    return add_together(queue, trial, 0);
}

static cudaError_t queue_together_line(const struct queue *queue, const struct trial_launch *trial)
{
    return add_together(queue, trial, 1);
}

/* ---- graphs around graphs ---- */

static cudaError_t open_inner(cudaGraph_t *outer, cudaGraph_t *inner)
{
    (void)outer;
    return cudaGraphCreate(inner, 0);
}

static cudaError_t close_clone(cudaGraph_t *outer, cudaGraph_t inner, unsigned group)
{
    cudaError_t error = cudaGraphClone(outer, inner);

    (void)group;
    return error == cudaSuccess ? cudaGraphDestroy(inner) : error;
}

static const struct wrap wrap_clone = { open_inner, close_clone };

/* The second and the third of four groups are moved, the others cloned. */
static cudaError_t close_child(cudaGraph_t *outer, cudaGraph_t inner, unsigned group)
{
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(outer, 0);

    return error == cudaSuccess ? ask_nest(&node, *outer, inner, (group + 1) / 2 % 2) : error;
}

static cudaError_t open_body(cudaGraph_t *outer, cudaGraph_t *inner)
{
#if CUDART_VERSION >= 12040
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(outer, 0);

    return error == cudaSuccess ? ask_add_if(&node, *outer, *outer, 1, inner) : error;
#else
    (void)outer;
    (void)inner;
    return cudaErrorNotSupported;
#endif
}

static cudaError_t close_body(cudaGraph_t *outer, cudaGraph_t inner, unsigned group)
{
    (void)outer;
    (void)inner;
    (void)group;
    return cudaSuccess;
}

/* The decoy's group is the one of the graph that updates it. */
static cudaError_t close_some_in_child(cudaGraph_t *outer, cudaGraph_t inner, unsigned group)
{
    if (group % 2 == 0)
        return close_child(outer, inner, group);
    *outer = inner;
    return cudaSuccess;
}

static const struct wrap wrap_child = { open_inner, close_child }, wrap_body = { open_body, close_body };
static const struct wrap wrap_some = { open_inner, close_some_in_child };

static const struct pair edge_pairs[] = {
    PAIR("full", SHAPE_WORDS, 0, edge_held_primary, edge_late_dependent, queue_full),
    PAIR_OF_THREE("relay", SHAPE_WORDS, PAIR_LINE, edge_held_primary, edge_relay, edge_late_dependent, queue_relay),
    PAIR_OF_THREE("bridged", SHAPE_WORDS, HIDDEN ? PAIR_LINE : 0, edge_held_primary, edge_silent, edge_late_dependent, queue_bridged),
    PAIR_OF_THREE("hidden", SHAPE_WORDS, 0, edge_primary, edge_silent, edge_late_dependent, queue_hidden),
    PAIR_OF_THREE("hidden_line", SHAPE_WORDS, PAIR_LINE, edge_primary, edge_silent, edge_late_dependent, queue_hidden),
    PAIR_OF_THREE("chained", SHAPE_WORDS, 0, edge_primary, edge_relay, edge_dependent, queue_reaching),
    PAIR_OF_THREE("reaching", SHAPE_WORDS, 0, edge_primary, edge_silent, edge_dependent, queue_reaching),
    PAIR("trigger", SHAPE_WORDS, 0, edge_primary, edge_dependent, queue_trigger),
    PAIR_OF_THREE("fan_out", SHAPE_WORDS, 0, edge_primary, edge_odd_reader, edge_even_reader, queue_fan_out),
    PAIR("withhold", SHAPE_WORDS, PAIR_TWO_BLOCKS, edge_withhold_primary, edge_waiting_dependent, queue_trigger),
    PAIR("begun", SHAPE_WORDS, 0, edge_mute_primary, edge_dependent, queue_begun),
    PAIR("launched", SHAPE_WORDS, 0, edge_primary, edge_dependent, queue_launched),
    PAIR_WRAPPED("cloned", SHAPE_WORDS, 0, edge_primary, edge_dependent, queue_trigger, &wrap_clone),
    PAIR("updated", SHAPE_WORDS, PAIR_UPDATED, edge_primary, edge_dependent, queue_trigger),
    PAIR_WRAPPED("retyped", SHAPE_WORDS, PAIR_UPDATED | PAIR_RETYPED, edge_held_primary, edge_late_dependent, queue_full, &wrap_some),
    PAIR_OF_THREE("fan_in", SHAPE_WORDS, PAIR_TWO_BLOCKS, edge_first_of_two, edge_second_of_two, edge_waiting_dependent, queue_two),
    PAIR_OF_THREE("mixed", SHAPE_WORDS, 0, edge_held_primary, edge_silent, edge_late_dependent, queue_mixed),
    PAIR_OF_THREE("together", SHAPE_WORDS, 0, edge_held_primary, edge_silent, edge_late_dependent, queue_together),
    PAIR_OF_THREE("together_line", SHAPE_WORDS, 0, edge_held_primary, edge_relay, edge_late_dependent, queue_together_line),
    PAIR_WRAPPED("child", SHAPE_WORDS, 0, edge_primary, edge_dependent, queue_trigger, &wrap_child),
    PAIR_WRAPPED("body", SHAPE_WORDS, 0, edge_primary, edge_dependent, queue_trigger, &wrap_body),
};
IMAGE(edge, edge_pairs)
