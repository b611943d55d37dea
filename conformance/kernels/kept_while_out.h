/* kept_while_out.h - the part of kept.cu with changes of an executable graph while a node of it is left out: enabled again, the node has its edges as
 * before, programmatic ones included. */
#ifndef KEPT_WHILE_OUT_H_INCLUDED
#define KEPT_WHILE_OUT_H_INCLUDED

/* The first one sets the third word, the late one the first word, and the copy copies that to the second. */
enum out_node { OUT_FIRST, OUT_LATE, OUT_COPY, OUT_NODES };
static const char *const out_name[OUT_NODES] = { "a kernel before both", "the primary", "the dependent" };

enum out_change { OUT_NO_CHANGE, OUT_UPDATE, OUT_PARAMS, OUT_GENERAL, OUT_UPLOAD, OUT_CHANGES };
static const char *const out_change_name[OUT_CHANGES] = { "no change", "an update", "its own parameters", "its own parameters by the general call",
                                                          "an upload" };

struct while_out {
    struct kept *kept;
    const void *function[OUT_NODES];
    struct kernel_args args[OUT_NODES];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node[OUT_NODES];
};

/* The copy comes after the late kernel by an edge from this port: by a full one it does not wait. */
static cudaError_t make_while_out(struct while_out *w, struct kept *kept, const struct kernel_args *late, unsigned port)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0), data = edges_data(port, 0, port != 0);
    unsigned i;
    cudaError_t error = cudaGraphCreate(&w->graph, 0);

    w->kept = kept;
    w->function[OUT_FIRST] = (const void *)SYMBOL(kept_set);
    w->function[OUT_LATE] = (const void *)SYMBOL(kept_open);
    w->function[OUT_COPY] = port ? (const void *)SYMBOL(kept_waiting_copy) : (const void *)SYMBOL(kept_bare_copy);
    w->args[OUT_FIRST] = kept->args[2];
    w->args[OUT_LATE] = *late;
    w->args[OUT_COPY] = kept->args[0];
    w->args[OUT_COPY].seen = kept->args[1].data;
    for (i = 0; i < OUT_NODES && error == cudaSuccess; i++)
        error = ask_add_kernel(&w->node[i], w->graph, w->function[i], &w->args[i], 1);
    if (error == cudaSuccess)
        error = edges_add(w->graph, &w->node[OUT_FIRST], &w->node[OUT_LATE], &full, 1);
    if (error == cudaSuccess)
        error = edges_add(w->graph, &w->node[OUT_LATE], &w->node[OUT_COPY], &data, 1);
    return error == cudaSuccess ? cudaGraphInstantiate(&w->exec, w->graph, 0) : error;
}

static cudaError_t change_while_out(struct while_out *w, enum out_node out, enum out_change change)
{
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(w->function[out], 1, values);

    values[0] = &w->args[out];
    switch (change) {
    case OUT_NO_CHANGE: return cudaSuccess;
    case OUT_UPDATE: return update_from(w->exec, w->graph);
    case OUT_UPLOAD: return cudaGraphUpload(w->exec, w->kept->ask->stream);
    default: break;
    }
#if CUDART_VERSION >= 12040
    if (change == OUT_GENERAL) {
        struct cudaGraphNodeParams general = ask_generally(&params);
        return cudaGraphExecNodeSetParams(w->exec, w->node[out], &general);
    }
#endif
    return cudaGraphExecKernelNodeSetParams(w->exec, w->node[out], &params);
}

static cudaError_t launch_and_wait(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = cudaGraphLaunch(exec, stream);

    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

/* "Disabled nodes are functionally equivalent to empty nodes until they are reenabled": the same graph again, whether it was launched in between or
 * not. What that launch sets is asked of the first one alone: how far a disabled node orders by a programmatic edge is not promised. */
static void ask_enabled_again(struct while_out *w, enum out_node out, enum out_change change, int launches)
{
    struct ask *ask = w->kept->ask;
    cudaError_t error;
    char text[112];

    snprintf(text, sizeof(text), "%s while %s was left out", out_change_name[change], out_name[out]);
    ask_expect(ask, text, cudaGraphNodeSetEnabled(w->exec, w->node[out], 0), cudaSuccess);
    error = change_while_out(w, out, change);
    if (change == OUT_UPDATE)
        ask_expect_update(ask, text, error);
    else
        ask_expect(ask, text, error, cudaSuccess);
    if (launches && out == OUT_FIRST)
        expect_words(w->kept, w->exec, text, 3);
    else if (launches)
        ask_expect(ask, text, launch_and_wait(w->exec, ask->stream), cudaSuccess);
    ask_expect(ask, text, cudaGraphNodeSetEnabled(w->exec, w->node[out], 1), cudaSuccess);
    expect_words(w->kept, w->exec, text, 7);
}

static void ask_while_out(struct kept *kept, struct kernel_args *late, unsigned port)
{
    struct ask *ask = kept->ask;
    struct while_out w = PDL_ZERO;
    unsigned out, change;

    ask_expect(ask, "a graph of three kernels", make_while_out(&w, kept, late, port), cudaSuccess);
    expect_words(kept, w.exec, "a launch of all three", 7);
    for (out = 0; out < OUT_NODES; out++)
        for (change = 0; change < OUT_CHANGES; change++)
            ask_enabled_again(&w, (enum out_node)out, (enum out_change)change, (int)((port + out + change + ask->seed) % 2));
    (void)cudaGraphExecDestroy(w.exec);
    (void)cudaGraphDestroy(w.graph);
}

static void ask_left_and_back(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned port;

    ask_left(ask);
    if (!open_kept(&kept, ask))
        return;
    if (open_late(&kept, &room, &late)) {
        for (port = 0; port < 3; port++)
            ask_while_out(&kept, &late, port);
        (void)cudaFreeHost(room);
    }
    close_kept(&kept);
}

#endif
