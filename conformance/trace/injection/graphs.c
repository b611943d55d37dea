/* graphs.c - writes down the nodes and edges of a graph when it is instantiated or updated, however the program made it */
#define _GNU_SOURCE
#include "trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EXECS = 65536, MOST_DEPTH = 16 };
enum { KERNEL_NODE, COPY_NODE, MEMSET_NODE, HOST_NODE, CHILD_NODE, EMPTY_NODE, WAIT_NODE, RECORD_NODE, KNOWN_NODES = 14 };
static const char *const node_names[KNOWN_NODES] = {"kernel", "copy", "memset", "host", "graph", "empty", "wait_event", "event",
                                                    "semaphore_signal", "semaphore_wait", "allocate", "free", "memory_value",
                                                    "conditional"};

static struct { const void *handle; uint32_t number; } execs[MOST_EXECS];
static uint32_t exec_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int node_attribute(const void *node, int id, union attribute_value *value)
{
    DRIVER(cuGraphKernelNodeGetAttribute, const void *, int, union attribute_value *);
    memset(value, 0, sizeof *value);
    return cuGraphKernelNodeGetAttribute && cuGraphKernelNodeGetAttribute(node, id, value) == 0;
}

static unsigned node_flags(const void *node, int *carveout)
{
    union attribute_value value;
    unsigned flags = 0;
    flags |= node_attribute(node, COOPERATIVE, &value) && value.number ? ASKED_COOPERATIVE : 0;
    flags |= node_attribute(node, CLUSTER, &value) && value.cluster[0] * value.cluster[1] * value.cluster[2] > 1 ? ASKED_CLUSTER : 0;
    flags |= node_attribute(node, UPDATABLE, &value) && value.number ? ASKED_UPDATABLE : 0;
    *carveout = node_attribute(node, CARVEOUT, &value) ? value.number : -2;
    return flags;
}

static void write_kernel_node(uint32_t exec, unsigned index, long parent, const void *node)
{
    DRIVER(cuGraphKernelNodeGetParams_v2, const void *, struct node_parameters *);
    struct node_parameters p;
    int carveout = -2, first;
    memset(&p, 0, sizeof p);
    if (!cuGraphKernelNodeGetParams_v2 || cuGraphKernelNodeGetParams_v2(node, &p) != 0) {
        record("[\"node\",%u,%u,%ld,\"kernel\",%lld]", exec, index, parent, (long long)activity_node_id(node));
        return;
    }
    unsigned flags = node_flags(node, &carveout);
    uint32_t kernel = kernel_number(p.function ? p.function : p.kernel, &first);
    record("[\"node\",%u,%u,%ld,\"kernel\",%lld,%u,[%u,%u,%u],[%u,%u,%u],%u,%u,%d]", exec, index, parent,
               (long long)activity_node_id(node), kernel, p.grid[0], p.grid[1], p.grid[2], p.block[0], p.block[1], p.block[2],
               p.shared, flags, carveout);
}

static const char *name_of_node(const void *node, int type)
{
    DRIVER(cuGraphEventRecordNodeGetEvent, const void *, void **);
    void *event = NULL;
    if (type == RECORD_NODE && cuGraphEventRecordNodeGetEvent && cuGraphEventRecordNodeGetEvent(node, &event) == 0
        && event_is_timed(event)) {
        return "timed_event";
    }
    return type >= 0 && type < KNOWN_NODES ? node_names[type] : "other";
}

static size_t index_of(void *const *nodes, size_t count, const void *node)
{
    size_t i = 0;
    while (i < count && nodes[i] != node) {
        i++;
    }
    return i;
}

/* Edges mostly come in the order of their nodes, so each search starts where the last one ended. */
static size_t index_near(void *const *nodes, size_t count, const void *node, size_t near)
{
    for (size_t d = 0; d < count; d++) {
        size_t i = (near + d) % count;
        if (nodes[i] == node) {
            return i;
        }
    }
    return index_of(nodes, count, node);
}

static size_t edges_of(void *graph, void ***from, void ***to, struct edge_data **data)
{
    DRIVER(cuGraphGetEdges_v2, void *, void **, void **, struct edge_data *, size_t *);
    DRIVER(cuGraphGetEdges, void *, void **, void **, size_t *);
    size_t count = 0;
    result code = cuGraphGetEdges_v2 ? cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count)
                  : cuGraphGetEdges  ? cuGraphGetEdges(graph, NULL, NULL, &count)
                                     : 1;
    *from = code == 0 && count ? malloc(count * sizeof(void *)) : NULL;
    *to = *from ? malloc(count * sizeof(void *)) : NULL;
    *data = *to ? calloc(count, sizeof **data) : NULL;
    if (!*data) {
        return 0;
    }
    code = cuGraphGetEdges_v2 ? cuGraphGetEdges_v2(graph, *from, *to, *data, &count) : cuGraphGetEdges(graph, *from, *to, &count);
    return code == 0 ? count : 0;
}

static void write_edges(uint32_t exec, void *graph, void *const *nodes, const unsigned *numbers, size_t count)
{
    void **from, **to;
    struct edge_data *data;
    size_t edges = edges_of(graph, &from, &to, &data), near = 0;
    for (size_t i = 0; i < edges; i++) {
        size_t a = index_near(nodes, count, from[i], near), b = a < count ? index_near(nodes, count, to[i], a) : count;
        if (a < count && b < count) {
            record("[\"edge\",%u,%u,%u,%u,%u,%u]", exec, numbers[a], numbers[b], data[i].from_port, data[i].to_port, data[i].type);
            near = a;
        }
    }
    free(from);
    free(to);
    free(data);
}

static unsigned write_nodes(uint32_t exec, void *graph, long parent, unsigned next, int depth)
{
    DRIVER(cuGraphGetNodes, void *, void **, size_t *);
    DRIVER(cuGraphNodeGetType, const void *, int *);
    DRIVER(cuGraphChildGraphNodeGetGraph, const void *, void **);
    size_t count = 0;
    if (!cuGraphGetNodes || !cuGraphNodeGetType || depth > MOST_DEPTH || cuGraphGetNodes(graph, NULL, &count) != 0 || !count) {
        return next;
    }
    void **nodes = malloc(count * sizeof *nodes);
    unsigned *numbers = malloc(count * sizeof *numbers);
    if (nodes && numbers && cuGraphGetNodes(graph, nodes, &count) == 0) {
        for (size_t i = 0; i < count; i++) {
            int type = -1;
            void *child = NULL;
            cuGraphNodeGetType(nodes[i], &type);
            numbers[i] = next++;
            if (type == KERNEL_NODE) {
                write_kernel_node(exec, numbers[i], parent, nodes[i]);
            } else {
                record("[\"node\",%u,%u,%ld,\"%s\",%lld]", exec, numbers[i], parent, name_of_node(nodes[i], type),
                           (long long)activity_node_id(nodes[i]));
            }
            if (type == CHILD_NODE && cuGraphChildGraphNodeGetGraph && cuGraphChildGraphNodeGetGraph(nodes[i], &child) == 0) {
                next = write_nodes(exec, child, (long)numbers[i], next, depth + 1);
            }
        }
        write_edges(exec, graph, nodes, numbers, count);
    }
    free(nodes);
    free(numbers);
    return next;
}

static void walk(uint32_t number, const void *exec, void *graph)
{
    record("{\"graph\":%u,\"id\":%lld}", number, (long long)activity_exec_id(exec));
    unsigned nodes = write_nodes(number, graph, -1, 0, 0);
    record("{\"graph_end\":%u,\"nodes\":%u}", number, nodes);
}

void graph_instantiated(const void *exec, void *graph)
{
    pthread_mutex_lock(&lock);
    uint32_t number = exec_count++;
    execs[number % MOST_EXECS].handle = exec;
    execs[number % MOST_EXECS].number = number;
    walk(number, exec, graph);
    pthread_mutex_unlock(&lock);
}

/* An updated graph gets a new number, because launches before the update ran other kernels. */
void graph_changed(const void *exec, void *graph)
{
    graph_destroyed(exec);
    graph_instantiated(exec, graph);
}

void graph_destroyed(const void *exec)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < MOST_EXECS && i < exec_count; i++) {
        if (execs[i].handle == exec) {
            execs[i].handle = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

uint32_t exec_number(const void *exec)
{
    uint32_t last = exec_count, found = UINT32_MAX;
    for (uint32_t n = 0; n < MOST_EXECS && n < last; n++) { /* newest first: most programs launch the graph that they made last */
        uint32_t i = (last - 1 - n) % MOST_EXECS;
        if (execs[i].handle == exec) {
            found = execs[i].number;
            break;
        }
    }
    return found;
}
