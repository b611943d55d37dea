/* kept_orders.h - the pairs of kept.cu with calls for an executable graph in every order, and with changes that are refused. */
#ifndef KEPT_ORDERS_H_INCLUDED
#define KEPT_ORDERS_H_INCLUDED

/* ---- orders ---- */

/* A graph of one node that sets one word: one of the items, a host function, or a child graph of a kernel. */
enum single { SINGLE_HOST = ITEMS, SINGLE_CHILD, SINGLES };
static const char *single_name(unsigned single)
{
    return single < ITEMS ? item_name[single] : single == SINGLE_HOST ? "a host function" : "a child graph";
}

enum call { CALL_UPLOAD, CALL_PARAMS, CALL_UPDATE, CALL_LAUNCH, CALL_OUT_AND_IN, CALL_SIBLING, CALL_GENERAL, CALLS };

static cudaError_t make_single(struct kept *kept, unsigned single, unsigned word, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraph_t child = NULL;
    cudaGraphNode_t inside = NULL;
    size_t one = 1;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error != cudaSuccess)
        return error;
    fill_host(kept, word, &host);
    if (single == SINGLE_HOST)
        return cudaGraphAddHostNode(node, *graph, NULL, 0, &host);
    if (single < ITEMS) {
        error = add_item(kept, *graph, (enum item)single, word);
        return error == cudaSuccess ? cudaGraphGetNodes(*graph, node, &one) : error;
    }
    error = make_set(kept, word, &child, &inside);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, *graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

static cudaError_t give_single(struct kept *kept, unsigned single, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned word)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraph_t other = NULL;
    cudaGraphNode_t inside = NULL;
    cudaError_t error;

    fill_host(kept, word, &host);
    if (single < ITEMS)
        return give_item(kept, exec, node, (enum item)single, word);
    if (single == SINGLE_HOST)
        return cudaGraphExecHostNodeSetParams(exec, node, &host);
    error = make_set(kept, word, &other, &inside);
    if (error == cudaSuccess)
        error = cudaGraphExecChildGraphNodeSetParams(exec, node, other);
    (void)cudaGraphDestroy(other);
    return error;
}

/* ... by the call for nodes of every kind, where it takes this kind. */
static cudaError_t give_single_generally(struct kept *kept, unsigned single, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned word)
{
#if CUDART_VERSION >= 12040
    struct cudaGraphNodeParams params = PDL_ZERO;
    struct cudaHostNodeParams host = PDL_ZERO;

    fill_host(kept, word, &host);
    params.type = cudaGraphNodeTypeHost;
    params.host.fn = host.fn;
    params.host.userData = host.userData;
    if (single == SINGLE_HOST)
        return cudaGraphExecNodeSetParams(exec, node, &params);
#endif
    return single < ITEMS ? give_item_generally(kept, exec, node, (enum item)single, word) : give_single(kept, single, exec, node, word);
}

struct ordered {
    struct kept *kept;
    unsigned single, word, launched; /* the word that it sets now; those that launches so far have to set, a bit each */
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
};

static cudaError_t update_single(struct ordered *o)
{
    cudaGraph_t other = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = make_single(o->kept, o->single, o->word, &other, &node);

    if (error == cudaSuccess)
        error = update_from(o->exec, other);
    (void)cudaGraphDestroy(other);
    return error;
}

static cudaError_t leave_out_and_in(struct ordered *o)
{
    cudaError_t error;

    if (o->single >= ITEMS)
        return cudaSuccess; /* only the items may be left out */
    error = cudaGraphNodeSetEnabled(o->exec, o->node, 0);
    return error == cudaSuccess ? cudaGraphNodeSetEnabled(o->exec, o->node, 1) : error;
}

/* Another executable graph of the same graph comes, gets parameters that this one does not have, and goes. */
static cudaError_t sibling(struct ordered *o)
{
    cudaGraphExec_t other = NULL;
    cudaError_t error = cudaGraphInstantiate(&other, o->graph, 0);

    if (error == cudaSuccess)
        error = give_single(o->kept, o->single, other, o->node, (o->word + 2) % WORDS);
    if (error == cudaSuccess)
        error = cudaGraphExecDestroy(other);
    return error;
}

static cudaError_t call_once(struct ordered *o, enum call call)
{
    switch (call) {
    case CALL_UPLOAD: return cudaGraphUpload(o->exec, o->kept->ask->stream);
    case CALL_PARAMS: o->word = (o->word + 1) % WORDS; return give_single(o->kept, o->single, o->exec, o->node, o->word);
    case CALL_UPDATE: o->word = (o->word + 1) % WORDS; return update_single(o);
    case CALL_LAUNCH: o->launched |= 1u << o->word; return cudaGraphLaunch(o->exec, o->kept->ask->stream);
    case CALL_OUT_AND_IN: return leave_out_and_in(o);
    case CALL_GENERAL: o->word = (o->word + 1) % WORDS; return give_single_generally(o->kept, o->single, o->exec, o->node, o->word);
    default: return sibling(o);
    }
}

/* What the launches so far have set, or -1; all words are cleared then. */
static long words_then(struct kept *kept)
{
    long is;

    if (cudaStreamSynchronize(kept->ask->stream) != cudaSuccess)
        return -1;
    is = (long)which_are_set(kept->words, WORDS);
    memset(kept->words, 0, WORDS * WORD_BYTES);
    return is;
}

/* "The modifications only affect future launches": what was launched does what it was, and the last change counts. */
static cudaError_t run_order(struct kept *kept, unsigned single, unsigned order, unsigned *wrong)
{
    struct ordered o = PDL_ZERO;
    unsigned i;
    cudaError_t error;

    o.kept = kept;
    o.single = single;
    (void)words_then(kept);
    error = make_single(kept, single, 0, &o.graph, &o.node);
    if (error == cudaSuccess && order % 2)
        error = ask_clone_instead(&o.graph, &o.node);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&o.exec, o.graph, 0);
    for (i = 0; i < 3 && error == cudaSuccess; i++, order /= CALLS)
        error = call_once(&o, (enum call)(order % CALLS));
    *wrong += error == cudaSuccess && words_then(kept) != (long)o.launched;
    if (error == cudaSuccess)
        error = cudaGraphLaunch(o.exec, kept->ask->stream);
    *wrong += error == cudaSuccess && words_then(kept) != 1l << o.word;
    (void)cudaGraphExecDestroy(o.exec);
    (void)cudaGraphDestroy(o.graph);
    return error;
}

/* An update reaches every kernel of a child graph. */
static cudaError_t make_pair_inside(struct kept *kept, unsigned word, cudaGraph_t *graph)
{
    cudaGraph_t child = NULL;
    cudaGraphNode_t node = NULL;
    cudaError_t error = make_set(kept, word, &child, &node);

    if (error == cudaSuccess)
        error = add_set(kept, child, word + 1, &node);
    if (error == cudaSuccess)
        error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* The same with host functions. */
static cudaError_t make_hosts_inside(struct kept *kept, unsigned word, cudaGraph_t *graph)
{
    struct cudaHostNodeParams host = PDL_ZERO;
    cudaGraph_t child = NULL;
    cudaGraphNode_t node = NULL;
    unsigned i;
    cudaError_t error = cudaGraphCreate(&child, 0);

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        fill_host(kept, word + i, &host);
        error = cudaGraphAddHostNode(&node, child, NULL, 0, &host);
    }
    if (error == cudaSuccess)
        error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, *graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

/* An update reaches what is disabled, which shows once it is enabled. A copy reads a word before it that nothing has set. */
static void ask_updated_while_out(struct kept *kept, enum item item)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, others[ITEMS] = { NULL };

    ask_expect(ask, "a graph of all items", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "another one", make_items(kept, &other, others), cudaSuccess);
    ask_expect(ask, "one of its nodes that does something else", move_item(kept, others, item, LAST_WORD), cudaSuccess);
    if (item == ITEM_COPY)
        ask_expect(ask, "a copy of another word", cudaGraphMemcpyNodeSetParams1D(node[item], kept->args[item].data, kept->args[LAST_WORD].data,
                                                                                 WORD_BYTES, cudaMemcpyDefault), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "disabling that node", cudaGraphNodeSetEnabled(exec, node[item], 0), cudaSuccess);
    ask_expect_update(ask, "an update", update_from(exec, other));
    expect_words(kept, exec, "a launch without it", ALL_ITEMS & ~(1u << item));
    ask_expect(ask, "enabling it", cudaGraphNodeSetEnabled(exec, node[item], 1), cudaSuccess);
    expect_words(kept, exec, "a launch of what the update made of it", MOVED(item));
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

/* Updates from one and the same graph, which is changed in between: the one that it was made from, or another. */
static void ask_updated_again(struct kept *kept, enum item item, int from_own)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL, from;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node[ITEMS] = { NULL }, others[ITEMS] = { NULL };
    unsigned round;

    ask_expect(ask, "a graph of all items", make_items(kept, &graph, node), cudaSuccess);
    ask_expect(ask, "another one", make_items(kept, &other, others), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    from = from_own ? graph : other;
    ask_expect_update(ask, "an update", update_from(exec, from));
    for (round = 0; round < 3; round++) {
        unsigned word = round % 2 ? (unsigned)item : LAST_WORD;
        ask_expect(ask, "a change of the graph it is updated from", move_item(kept, from_own ? node : others, item, word), cudaSuccess);
        ask_expect_update(ask, "another update from that graph", update_from(exec, from));
        expect_words(kept, exec, "a launch of what that graph has become", round % 2 ? ALL_ITEMS : MOVED(item));
    }
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

/* A change that another host thread makes of what this thread made and launches. */
struct handed_over {
    struct ordered ordered;
    enum call call;
    unsigned enabled;          /* after it: the node runs */
    cudaError_t error;
};

static void call_elsewhere(void *opaque)
{
    struct handed_over *h = (struct handed_over *)opaque;

    h->error = h->call == CALL_OUT_AND_IN ? cudaGraphNodeSetEnabled(h->ordered.exec, h->ordered.node, h->enabled) : call_once(&h->ordered, h->call);
}

static void expect_elsewhere(struct handed_over *h, enum call call, unsigned enabled, const char *what)
{
    struct kept *kept = h->ordered.kept;

    h->call = call;
    h->enabled = enabled;
    if (!run_in_thread(call_elsewhere, h)) {
        ask_skip(kept->ask, what, "no other host thread was had");
        return;
    }
    ask_expect(kept->ask, what, h->error, cudaSuccess);
    expect_words(kept, h->ordered.exec, what, enabled ? 1u << h->ordered.word : 0);
}

/* "API calls accessing the same graph object must be serialized externally": then any thread may make them. */
static void ask_elsewhere(struct kept *kept, unsigned single)
{
    struct ask *ask = kept->ask;
    struct handed_over h = PDL_ZERO;
    struct ordered *o = &h.ordered;

    o->kept = kept;
    o->single = single;
    ask_expect(ask, "a graph of one node", make_single(kept, single, 0, &o->graph, &o->node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&o->exec, o->graph, 0), cudaSuccess);
    expect_elsewhere(&h, CALL_PARAMS, 1, "new parameters by another host thread");
    expect_elsewhere(&h, CALL_UPDATE, 1, "an update by another host thread");
    if (single < ITEMS) {
        expect_elsewhere(&h, CALL_OUT_AND_IN, 0, "disabling by another host thread");
        expect_elsewhere(&h, CALL_OUT_AND_IN, 1, "enabling by another host thread");
    }
    (void)cudaGraphExecDestroy(o->exec);
    (void)cudaGraphDestroy(o->graph);
}

static void ask_orders(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned single, order, wrong;
    cudaError_t error = cudaSuccess;

    if (!open_kept(&kept, ask))
        return;
    for (single = 0; single < SINGLES; single++) {
        if (!takes_changes(single))
            continue;
        wrong = 0;
        for (order = 0; order < CALLS * CALLS * CALLS && error == cudaSuccess; order++)
            error = run_order(&kept, single, order, &wrong);
        ask_expect(ask, single_name(single), error, cudaSuccess);
        ask_expect_none(ask, single_name(single), wrong, 2 * order);
        ask_elsewhere(&kept, single);
    }
    ask_remade(&kept, make_pair_inside, "a child graph of two kernels", 2, 3, 12);
    ask_remade(&kept, make_hosts_inside, "a child graph of two host functions", 2, 3, 12);
    for (single = 0; single < ITEMS && takes_changes(single); single++) {
        ask_updated_while_out(&kept, (enum item)single);
        ask_updated_again(&kept, (enum item)single, 0);
        ask_updated_again(&kept, (enum item)single, 1);
    }
    close_kept(&kept);
}

/* ---- refused, of other kinds than kernels ---- */

/* Parameters that make no sense: elements of three bytes, no target, no function. Of the first ones the documents say that they are refused. */
static cudaError_t give_unsound(struct kept *kept, unsigned single, cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct cudaMemsetParams set = set_of(kept->args[LAST_WORD].data, single == ITEM_ROWS);
    struct cudaHostNodeParams host = PDL_ZERO;

    set.elementSize = 3;
    host.userData = kept->words + LAST_WORD * CELLS;
    switch (single) {
    case ITEM_ROWS:
    case ITEM_SET: return cudaGraphExecMemsetNodeSetParams(exec, node, &set);
    case ITEM_COPY: return cudaGraphExecMemcpyNodeSetParams1D(exec, node, NULL, kept->source, WORD_BYTES, cudaMemcpyDefault);
    default: return cudaGraphExecHostNodeSetParams(exec, node, &host);
    }
}

static void ask_unsound(struct kept *kept, unsigned single)
{
    static const char *const names[SINGLES] = { "a kernel", "a memset of elements of three bytes", "a copy to nowhere",
                                                "rows of elements of three bytes", "another copy of layers", "no host function", "" };
    struct ask *ask = kept->ask;
    cudaError_t error;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "a graph of one node", make_single(kept, single, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    error = give_unsound(kept, single, exec, node);
    (void)cudaGetLastError();
    if (single == ITEM_SET || single == ITEM_ROWS)
        ask_expect_refusal(ask, names[single], error);
    if (error != cudaSuccess)
        expect_words(kept, exec, names[single], 1);
    ask_expect(ask, "new parameters", give_single(kept, single, exec, node, 1), cudaSuccess);
    expect_words(kept, exec, "a launch after them", 2);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* ---- declined ---- */

/* Two items and a third, which is of this kind. */
static cudaError_t make_three(struct kept *kept, enum item first, enum item second, enum item third, int elsewhere, cudaGraph_t *graph)
{
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = add_item(kept, *graph, first, elsewhere ? LAST_WORD : 0);
    if (error == cudaSuccess)
        error = add_item(kept, *graph, second, elsewhere ? LAST_WORD : 1);
    return error == cudaSuccess ? add_item(kept, *graph, third, elsewhere ? LAST_WORD : 2) : error;
}

/* "cudaErrorGraphExecUpdateFailure if the graph update was not performed" */
static void ask_other_kind(struct kept *kept, enum item kind)
{
    struct ask *ask = kept->ask;
    enum item second = (enum item)((kind + 1) % ITEMS), third = (enum item)((kind + 2) % ITEMS);
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;

    ask_expect(ask, "a graph of three kinds", make_three(kept, kind, second, third, 0, &graph), cudaSuccess);
    ask_expect(ask, "one of two kinds", make_three(kept, kind, second, second, 1, &other), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "an update from the graph of two kinds", update_from(exec, other), cudaErrorGraphExecUpdateFailure);
    expect_words(kept, exec, "a launch after an update that was not performed", 7);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

/* "The topology of childGraph ... must match that of the graph contained in node." */
static void ask_longer_child(struct kept *kept)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, longer = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, added = NULL;

    ask_expect(ask, "a child graph", make_single(kept, SINGLE_CHILD, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, "a longer graph", make_set(kept, 1, &longer, &added), cudaSuccess);
    ask_expect(ask, "its second kernel", add_set(kept, longer, 2, &added), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect_refusal(ask, "the longer graph as parameters of the child graph", cudaGraphExecChildGraphNodeSetParams(exec, node, longer));
    expect_words(kept, exec, "a launch after refused parameters of a child graph", 1);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(longer);
}

/* Two graphs of two kernels, of which the second one's come one after the other. */
static cudaError_t make_pairs(struct kept *kept, cudaGraph_t *pair)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t node[2];
    unsigned i;
    cudaError_t error = cudaSuccess;

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        error = make_set(kept, 2 * i, &pair[i], &node[0]);
        if (error == cudaSuccess)
            error = add_set(kept, pair[i], 2 * i + 1, &node[1]);
    }
    return error == cudaSuccess ? edges_add(pair[1], &node[0], &node[1], &full, 1) : error;
}

/* ... and so must its edges. */
static void ask_edged_child(struct kept *kept, unsigned of)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, pair[2] = { NULL, NULL };
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "two kernels, and two in a row", make_pairs(kept, pair), cudaSuccess);
    ask_expect(ask, "a graph around a child graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a child graph of two kernels", cudaGraphAddChildGraphNode(&node, graph, NULL, 0, pair[of]), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect_refusal(ask, of ? "parameters of the child graph with an edge less" : "parameters of the child graph with an edge more",
                       cudaGraphExecChildGraphNodeSetParams(exec, node, pair[!of]));
    expect_words(kept, exec, "a launch after other edges were refused to a child graph", 3u << 2 * of);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(pair[0]);
    (void)cudaGraphDestroy(pair[1]);
}

#if CUDART_VERSION >= 12040
/* "Changes to node parameters are not supported": its kind and the number of its bodies are. A driver that does take them over has to run them.
 * was, is: the words of the body that runs. */
static void ask_other_bodies(struct kept *kept, const struct bodies *from, const struct bodies *to, unsigned was, unsigned is)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    ask_expect(ask, "a conditional node", make_bodies(kept, from, 0, &graph), cudaSuccess);
    ask_expect(ask, "one with other bodies", make_bodies(kept, to, 2, &other), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    error = update_from(exec, other);
    if (error != cudaSuccess)
        ask_expect(ask, "an update from other bodies", error, cudaErrorGraphExecUpdateFailure);
    (void)cudaGetLastError();
    expect_words(kept, exec, error == cudaSuccess ? "a launch after an update from other bodies" : "a launch after such an update was refused",
                 error == cudaSuccess ? is : was);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

/* The condition is 1: the first body of two runs if it is an IF, and the second of a switch. */
static void ask_all_other_bodies(struct kept *kept)
{
#if CUDART_VERSION >= 12080
    static const struct bodies one = { cudaGraphCondTypeIf, 1, 1 }, two = { cudaGraphCondTypeIf, 2, 1 }, cases = { cudaGraphCondTypeSwitch, 2, 1 };

    ask_other_bodies(kept, &one, &two, 1, 4);
    ask_other_bodies(kept, &two, &one, 1, 4);
    ask_other_bodies(kept, &two, &cases, 1, 8);
    ask_other_bodies(kept, &cases, &two, 2, 4);
    ask_other_bodies(kept, &one, &one, 1, 4);
#else
    (void)kept;
#endif
}
#endif

/* A node that records an event, or one that waits for it and a copy of the first word to the second; and a node of this kind, which sets a word. */
static cudaError_t make_events(struct kept *kept, int waits, cudaEvent_t event, enum item kind, cudaGraph_t *graph)
{
    cudaGraphNode_t node = NULL, copy = NULL;
    cudaError_t error = cudaGraphCreate(graph, 0);

    if (error == cudaSuccess)
        error = waits ? cudaGraphAddEventWaitNode(&node, *graph, NULL, 0, event) : cudaGraphAddEventRecordNode(&node, *graph, NULL, 0, event);
    if (error == cudaSuccess && waits)
        error = cudaGraphAddMemcpyNode1D(&copy, *graph, &node, 1, kept->args[1].data, kept->args[0].data, WORD_BYTES, cudaMemcpyDefault);
    return error == cudaSuccess ? add_item(kept, *graph, kind, 2) : error;
}

/* The event of a node is the one that it had; the second one was never recorded. */
static void ask_declined_event(struct kept *kept, int waits, const cudaEvent_t *event, const struct kernel_args *late)
{
    struct ask *ask = kept->ask;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    float ms = 0.0f;

    ask_expect(ask, "a graph of an event node", make_events(kept, waits, event[0], ITEM_KERNEL, &graph), cudaSuccess);
    ask_expect(ask, "one of another event", make_events(kept, waits, event[1], ITEM_SET, &other), cudaSuccess);
    ask_expect(ask, "an executable one", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ask_expect(ask, "an update from a graph of another event and kind", update_from(exec, other), cudaErrorGraphExecUpdateFailure);
    (void)cudaGetLastError();
    (void)words_then(kept);
    if (waits) {
        ask_expect(ask, "a late kernel", launch_one((const void *)SYMBOL(kept_late), late, 1, ask->side, NULL, 0), cudaSuccess);
        ask_expect(ask, "a record after it", cudaEventRecord(event[0], ask->side), cudaSuccess);
    }
    ask_expect(ask, "a launch after an update that was not performed", cudaGraphLaunch(exec, ask->stream), cudaSuccess);
    ask_expect(ask, "the end of the late kernel", cudaStreamSynchronize(ask->side), cudaSuccess);
    ask_expect_number(ask, waits ? "what came after the event" : "what a graph that records sets", words_then(kept), waits ? 7 : 4);
    ask_expect(ask, "the time of the event", cudaEventElapsedTime(&ms, event[0], event[0]), cudaSuccess);
    ask_expect_refusal(ask, "the time of an event of an update that was not performed", cudaEventElapsedTime(&ms, event[1], event[1]));
    (void)cudaGetLastError();
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static void ask_declined_events(struct kept *kept)
{
    cudaEvent_t event[2] = { NULL, NULL };
    struct kernel_args late = PDL_ZERO;
    struct host_room *room = NULL;
    unsigned i;
    cudaError_t error = cudaEventCreate(&event[0]);

    if (error == cudaSuccess)
        error = cudaEventCreate(&event[1]);
    ask_expect(kept->ask, "two events", error, cudaSuccess);
    if (error == cudaSuccess && open_late(kept, &room, &late)) {
        for (i = 0; i < 8; i++)
            ask_declined_event(kept, i > 0, event, &late); /* the first time before any other record */
        (void)cudaFreeHost(room);
    }
    if (event[0])
        (void)cudaEventDestroy(event[0]);
    if (event[1])
        (void)cudaEventDestroy(event[1]);
}

static void ask_declined(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned kind;

    if (!open_kept(&kept, ask))
        return;
    for (kind = 0; kind < ITEMS; kind++)
        ask_other_kind(&kept, (enum item)kind);
    ask_longer_child(&kept);
    ask_edged_child(&kept, 0);
    ask_edged_child(&kept, 1);
    ask_declined_events(&kept);
    ask_all_left_declined(ask);
#if CUDART_VERSION >= 12040
    if (has_version(12080))
        ask_all_other_bodies(&kept);
#endif
    close_kept(&kept);
}

#endif
