/* The driver's functions for nodes that write values and wait for them: a batch of operations each. */
#include "api_driver.h"

struct batch_params {
    void *context;
    unsigned count;
    struct memory_operation *operations;
    unsigned flags;
};

static struct value value_of(const struct memory_operation *o)
{
    return (struct value){.at = (uint32_t *)(uintptr_t)o->address, .value = (uint32_t)o->value, .flags = o->flags, .awaited = o->type == OPERATION_WAIT};
}

static bool batch_fits(const struct batch_params *p)
{
    if (p == NULL || !driver_has_context(p->context) || p->count == 0 || p->count > VALUES_OF_NODE || p->flags != 0)
        return false;
    for (unsigned i = 0; i < p->count; i++)
        if (p->operations[i].type != OPERATION_WAIT && p->operations[i].type != OPERATION_WRITE)
            return false;
    return true;
}

static void give_values(struct node *n, const struct batch_params *p)
{
    const struct faults *f = &device.faults;
    n->value = value_of(&p->operations[f->built_values_turned ? p->count - 1 : 0]);
    n->values_more = f->built_batch_does_one ? 0 : p->count - 1;
    for (unsigned i = 1; i < p->count; i++)
        n->more[i - 1] = value_of(&p->operations[f->built_values_turned ? p->count - 1 - i : i]);
}

/* The context, the count and the kinds of operations have to stay what they are; nobody asks for others. */
static cudaError_t change_values(struct node *n, const struct batch_params *p)
{
    FAIL_IF(n == NULL || !batch_fits(p), cudaErrorInvalidValue);
    give_values(n, p);
    return cudaSuccess;
}

static cudaError_t add_values(cudaGraphNode_t *out, struct graph *g, const cudaGraphNode_t *after, size_t count, const struct batch_params *p)
{
    FAIL_IF(out == NULL || g == NULL || (count != 0 && after == NULL) || !batch_fits(p), cudaErrorInvalidValue);
    struct node *n = node_new(g, NODE_OF_VALUE);
    give_values(n, p);
    return node_finish(out, n, after, NULL, device.faults.built_values_first ? 0 : count);
}

static cudaError_t tell_values(const struct node *n, struct batch_params *p)
{
    static struct memory_operation told[VALUES_OF_NODE]; /* until the next such call */
    FAIL_IF(n == NULL || p == NULL, cudaErrorInvalidValue);
    for (unsigned i = 0; i <= n->values_more; i++) {
        const struct value *v = i == 0 || device.faults.first_value_told_for_all ? &n->value : &n->more[i - 1];
        told[i] = (struct memory_operation){.type = v->awaited ? OPERATION_WAIT : OPERATION_WRITE, .address = (uintptr_t)v->at, .value = v->value,
                                            .flags = v->flags};
    }
    p->count = n->values_more + 1;
    p->operations = told;
    p->flags = 0;
    return cudaSuccess;
}

/* ---- the calls ---- */

static unsigned add_batch(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct batch_params *p)
{
    BY_DRIVER(add_values(node, graph_of(graph), after, count, p));
}

static unsigned set_batch(cudaGraphNode_t node, const struct batch_params *p)
{
    BY_DRIVER(device.faults.batch_node_keeps_params ? cudaSuccess : change_values(node_of_type(node, NODE_OF_VALUE), p));
}

static unsigned set_exec_batch(cudaGraphExec_t exec, cudaGraphNode_t node, const struct batch_params *p)
{
    BY_DRIVER(device.faults.exec_batch_keeps_params ? cudaSuccess : change_values(exec_node(exec, node, NODE_OF_VALUE), p));
}

static unsigned tell_batch(cudaGraphNode_t node, struct batch_params *p)
{
    BY_DRIVER(tell_values(node_of_type(node, NODE_OF_VALUE), p));
}

static const struct driver_function calls[] = {
    { "cuGraphAddBatchMemOpNode", 11070, (any_function)add_batch },
    { "cuGraphBatchMemOpNodeSetParams", 11070, (any_function)set_batch },
    { "cuGraphExecBatchMemOpNodeSetParams", 11070, (any_function)set_exec_batch },
    { "cuGraphBatchMemOpNodeGetParams", 11070, (any_function)tell_batch },
};

any_function driver_value_node_call(const char *name, unsigned asked)
{
    return driver_named(calls, sizeof calls / sizeof calls[0], name, asked);
}
