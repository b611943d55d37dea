/* asks.c - which launches get the attribute, and which edges of a graph become programmatic
 *
 * Only a kernel into which the plan put a wait, in every image of it that was loaded. Everything that kernel depends on is
 * then complete before its own first instruction, so order is kept by construction.
 */
#define _GNU_SOURCE
#include "loaded.h"
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int refusals;

void loading_begins(void)
{
    trace_start();
}

void image_refused(result code)
{
    __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
    record("{\"refused\":%d}", code);
}

enum { MOST_KERNELS = 65536, UNDECIDED = 0, LEAVE, ASK };
static unsigned char decisions[MOST_KERNELS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* After the driver refused an image no kernel is changed any more: it is not known which kernels that image held. */
static int decide(const char *name)
{
    const struct named *known = name && plan_is_on() ? named(name) : NULL;
    char text[8192];
    if (!known) {
        return LEAVE;
    }
    int rewritten = known->seen > 0 && known->rewritten == known->seen && !__atomic_load_n(&refusals, __ATOMIC_RELAXED);
    if (strlen(name) < sizeof text / 8) {
        json_text(text, sizeof text, name);
        record("{\"code\":%s,\"images\":%d,\"rewritten\":%d,\"waits\":%u,\"triggers\":%u,\"why\":\"%s\"}", text, known->seen,
                   known->rewritten, known->waits, known->triggers, known->refusal ? known->refusal : "");
    }
    return rewritten && (plan_of(name)->flags & PLAN_WAIT) ? ASK : LEAVE;
}

static int decision(uint32_t kernel, const void *function)
{
    if (kernel >= MOST_KERNELS) {
        return LEAVE;
    }
    if (decisions[kernel] == UNDECIDED) {
        pthread_mutex_lock(&lock);
        if (decisions[kernel] == UNDECIDED) {
            decisions[kernel] = (unsigned char)decide(kernel_name(function));
        }
        pthread_mutex_unlock(&lock);
    }
    return decisions[kernel];
}

int whatif_asks(uint32_t kernel, const void *function, unsigned flags)
{
    const unsigned excluded = ASKED_OVERLAP | ASKED_COOPERATIVE | ASKED_EVENT | ASKED_COMPLETION_EVENT | ASKED_UPDATABLE;
    return trace_is_on() && decision(kernel, function) == ASK && !(flags & excluded);
}

/* ---- graphs -------------------------------------------------------------------------------------------------------- */

enum { KERNEL_NODE = 0, MOST_CLONES = 4096 };

/* The clone that each instantiation was made from, so that nodes of the program's graph can be looked up in it. */
static struct { const void *exec; void *clone; } clones[MOST_CLONES];
static unsigned clone_count;

static int attribute_is_set(void *node, int id)
{
    DRIVER(cuGraphKernelNodeGetAttribute, void *, int, union attribute_value *);
    union attribute_value value;
    memset(&value, 0, sizeof value);
    return cuGraphKernelNodeGetAttribute && cuGraphKernelNodeGetAttribute(node, id, &value) == 0 && value.number;
}

static int may_ask(void *node)
{
    DRIVER(cuGraphNodeGetType, void *, int *);
    DRIVER(cuGraphKernelNodeGetParams_v2, void *, struct node_parameters *);
    struct node_parameters p;
    int type = -1, first;
    memset(&p, 0, sizeof p);
    if (!cuGraphNodeGetType || cuGraphNodeGetType(node, &type) != 0 || type != KERNEL_NODE || !cuGraphKernelNodeGetParams_v2
        || cuGraphKernelNodeGetParams_v2(node, &p) != 0 || attribute_is_set(node, COOPERATIVE) || attribute_is_set(node, UPDATABLE)) {
        return 0;
    }
    const void *function = p.function ? p.function : p.kernel;
    return function && decision(kernel_number(function, &first), function) == ASK;
}

static int is_kernel(void *node)
{
    DRIVER(cuGraphNodeGetType, void *, int *);
    int type = -1;
    return cuGraphNodeGetType && cuGraphNodeGetType(node, &type) == 0 && type == KERNEL_NODE;
}

/* The edges of a graph; the caller frees them. `ends` holds their targets, sorted, so that edges into one node are adjacent. */
struct edges { void **from, **to, **ends; struct edge_data *data; size_t count; };

static int by_address(const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)*(void *const *)a, second = (uintptr_t)*(void *const *)b;
    return (first > second) - (first < second);
}

static int is_only_edge(const struct edges *e, void *node)
{
    void **found = bsearch(&node, e->ends, e->count, sizeof node, by_address);
    return found && (found == e->ends || found[-1] != node) && (found + 1 == e->ends + e->count || found[1] != node);
}

static struct edges edges_of(void *graph)
{
    DRIVER(cuGraphGetEdges_v2, void *, void **, void **, struct edge_data *, size_t *);
    struct edges e = {NULL, NULL, NULL, NULL, 0};
    if (!cuGraphGetEdges_v2 || cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &e.count) != 0 || e.count == 0) {
        e.count = 0;
        return e;
    }
    e.from = malloc(e.count * sizeof *e.from);
    e.to = malloc(e.count * sizeof *e.to);
    e.ends = malloc(e.count * sizeof *e.ends);
    e.data = calloc(e.count, sizeof *e.data);
    if (!e.from || !e.to || !e.ends || !e.data || cuGraphGetEdges_v2(graph, e.from, e.to, e.data, &e.count) != 0) {
        e.count = 0;
        return e;
    }
    memcpy(e.ends, e.to, e.count * sizeof *e.ends);
    qsort(e.ends, e.count, sizeof *e.ends, by_address);
    return e;
}

static void release(struct edges *e)
{
    free(e->from);
    free(e->to);
    free(e->ends);
    free(e->data);
}

/* Only a full edge from a kernel, and only if it is its target's single edge: with several edges no overlap was ever seen. */
static int can_change(const struct edges *e, size_t i)
{
    return is_only_edge(e, e->to[i]) && e->data[i].from_port == 0 && e->data[i].type == 0 && is_kernel(e->from[i]) && may_ask(e->to[i]);
}

/* One edge per call, because of a driver that gives all edges of a call the data of the first. */
static int make_programmatic(void *graph, void *from, void *to)
{
    DRIVER(cuGraphRemoveDependencies_v2, void *, void **, void **, const struct edge_data *, size_t);
    DRIVER(cuGraphAddDependencies_v2, void *, void **, void **, const struct edge_data *, size_t);
    const struct edge_data full = {0, 0, 0, {0}}, programmatic = {1, 0, 1, {0}};
    if (!cuGraphRemoveDependencies_v2 || !cuGraphAddDependencies_v2
        || cuGraphRemoveDependencies_v2(graph, &from, &to, &full, 1) != 0) {
        return 0;
    }
    return cuGraphAddDependencies_v2(graph, &from, &to, &programmatic, 1) == 0
           || (cuGraphAddDependencies_v2(graph, &from, &to, &full, 1), 0);
}

void *whatif_graph(void *graph)
{
    DRIVER(cuGraphClone, void **, void *);
    struct edges e = plan_is_on() && graph ? edges_of(graph) : (struct edges){NULL, NULL, NULL, NULL, 0};
    void *clone = NULL;
    size_t wanted = 0, changed = 0;
    for (size_t i = 0; i < e.count; i++) {
        wanted += can_change(&e, i) != 0;
    }
    release(&e);
    if (wanted == 0 || !cuGraphClone || cuGraphClone(&clone, graph) != 0) {
        return graph;
    }
    e = edges_of(clone);
    for (size_t i = 0; i < e.count; i++) {
        changed += can_change(&e, i) && make_programmatic(clone, e.from[i], e.to[i]);
    }
    release(&e);
    record("{\"edges_changed\":%zu}", changed);
    return clone;
}

void whatif_instantiated(const void *exec, void *graph, void *instead)
{
    if (graph != instead) {
        pthread_mutex_lock(&lock);
        clones[clone_count % MOST_CLONES].exec = exec;
        clones[clone_count++ % MOST_CLONES].clone = instead;
        pthread_mutex_unlock(&lock);
    }
}

/* The program passes nodes of its own graph, but the instantiation was made from the clone. */
static void *node_in(const void *exec, void *node)
{
    DRIVER(cuGraphNodeFindInClone, void **, void *, void *);
    void *found = NULL;
    for (unsigned i = 0; i < MOST_CLONES && i < clone_count; i++) {
        if (clones[i].exec == exec && cuGraphNodeFindInClone && cuGraphNodeFindInClone(&found, node, clones[i].clone) == 0) {
            return found;
        }
    }
    return node;
}

#define ON_NODE(name, parameters, arguments)                                                                               \
    VISIBLE result name parameters;                                                                                        \
    VISIBLE result name parameters                                                                                         \
    {                                                                                                                      \
        REAL(name, result(*) parameters)                                                                                   \
        node = node_in(exec, node);                                                                                        \
        return real arguments;                                                                                             \
    }
ON_NODE(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node, const void *p), (exec, node, p))
ON_NODE(cuGraphExecMemcpyNodeSetParams, (void *exec, void *node, const void *p, void *context), (exec, node, p, context))
ON_NODE(cuGraphExecMemsetNodeSetParams, (void *exec, void *node, const void *p, void *context), (exec, node, p, context))
ON_NODE(cuGraphExecHostNodeSetParams, (void *exec, void *node, const void *p), (exec, node, p))
ON_NODE(cuGraphExecChildGraphNodeSetParams, (void *exec, void *node, void *child), (exec, node, child))
ON_NODE(cuGraphExecEventRecordNodeSetEvent, (void *exec, void *node, void *event), (exec, node, event))
ON_NODE(cuGraphExecEventWaitNodeSetEvent, (void *exec, void *node, void *event), (exec, node, event))
ON_NODE(cuGraphExecNodeSetParams, (void *exec, void *node, void *p), (exec, node, p))
ON_NODE(cuGraphNodeSetEnabled, (void *exec, void *node, unsigned on), (exec, node, on))
ON_NODE(cuGraphNodeGetEnabled, (void *exec, void *node, unsigned *on), (exec, node, on))

static struct hook node_hooks[] = {
    HOOK(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, 12000, NEVER, 0),
    ONE_HOOK(cuGraphExecMemcpyNodeSetParams),
    ONE_HOOK(cuGraphExecMemsetNodeSetParams),
    ONE_HOOK(cuGraphExecHostNodeSetParams),
    ONE_HOOK(cuGraphExecChildGraphNodeSetParams),
    ONE_HOOK(cuGraphExecEventRecordNodeSetEvent),
    ONE_HOOK(cuGraphExecEventWaitNodeSetEvent),
    ONE_HOOK(cuGraphExecNodeSetParams),
    ONE_HOOK(cuGraphNodeSetEnabled),
    ONE_HOOK(cuGraphNodeGetEnabled),
};
static const size_t node_hook_count = sizeof node_hooks / sizeof node_hooks[0];

const struct hook_table hook_tables[] = {
    {trace_hooks, &trace_hook_count}, {load_hooks, &load_hook_count}, {node_hooks, &node_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
