/* kept_children.h - the pair of kept.cu with two child graphs in a row, each of two kernels with an edge of its own, and a host function after
 * both. */
#ifndef KEPT_CHILDREN_H_INCLUDED
#define KEPT_CHILDREN_H_INCLUDED

/* Lets a dependent begin, and counts late. */
KERNEL(kept_count)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t count = k_load(args.seen);

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    k_store(args.seen, count + 1);
}

/* Waits, and sets the word that is so many behind its own as were counted. */
KERNEL(kept_set_counted)
{
    uint32_t count;

    k_wait_device();
    count = k_load(args.seen);
    set_word(args.data + (count < 2 ? count : 2) * CELLS);
}

/* One child graph: the word that it sets if nothing was counted, and whether it sets it before it counts. */
struct child {
    unsigned word;
    int sets_first;
};

static cudaError_t make_counting(struct kept *kept, const struct kernel_args *late, struct child child, cudaGraph_t *graph)
{
    cudaGraphEdgeData data = child.sets_first ? edges_data(0, 0, 0) : edges_data(1, 0, 1);
    struct kernel_args args = *late;
    cudaGraphNode_t node[2] = { NULL, NULL }; /* what counts, what sets */
    cudaError_t error = cudaGraphCreate(graph, 0);

    args.data = kept->args[child.word].data;
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[0], *graph, (const void *)SYMBOL(kept_count), &args, 1);
    if (error == cudaSuccess)
        error = ask_add_kernel(&node[1], *graph, (const void *)SYMBOL(kept_set_counted), &args, 1);
    return error == cudaSuccess ? edges_add(*graph, &node[child.sets_first], &node[!child.sets_first], &data, 1) : error;
}

struct children {
    struct kept *kept;
    struct host_room *room;
    struct kernel_args late;   /* seen: the count, which is the first word of the room */
    cudaGraph_t graph;
    cudaGraphNode_t node[2];
    cudaGraphExec_t exec;
    unsigned looked;           /* which words a host function saw set that comes after both */
};

static void CUDART_CB look_after_children(void *of)
{
    struct children *c = (struct children *)of;

    c->looked = which_are_set(c->kept->words, WORDS);
}

static cudaError_t make_children(struct children *c, const struct child *child, int of_one)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    struct cudaHostNodeParams look = { look_after_children, c };
    cudaGraph_t source[2] = { NULL, NULL };
    cudaGraphNode_t last = NULL;
    cudaError_t error = cudaGraphCreate(&c->graph, 0);
    unsigned i;

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        unsigned from = of_one ? 0 : i;
        if (!source[from])
            error = make_counting(c->kept, &c->late, child[from], &source[from]);
        if (error == cudaSuccess)
            error = cudaGraphAddChildGraphNode(&c->node[i], c->graph, NULL, 0, source[from]);
    }
    if (error == cudaSuccess)
        error = edges_add(c->graph, &c->node[0], &c->node[1], &full, 1);
    if (error == cudaSuccess)
        error = cudaGraphAddHostNode(&last, c->graph, &c->node[1], 1, &look);
    for (i = 0; i < 2; i++)
        if (source[i])
            (void)cudaGraphDestroy(source[i]);
    return error == cudaSuccess ? cudaGraphInstantiate(&c->exec, c->graph, 0) : error;
}

/* The words that two child graphs set, one after the other. */
static unsigned both_set(const struct child *child)
{
    return 1u << (child[0].word + !child[0].sets_first) | 1u << (child[1].word + 1 + !child[1].sets_first);
}

static void expect_children(struct children *c, const char *what, unsigned want)
{
    c->room->data[0] = 0;
    c->looked = 0;
    expect_words(c->kept, c->exec, what, want);
    ask_expect_number(c->kept->ask, what, (long)c->looked, (long)want);
}

static void end_children(struct children *c)
{
    (void)cudaGraphExecDestroy(c->exec);
    (void)cudaGraphDestroy(c->graph);
    c->exec = NULL;
    c->graph = NULL;
}

/* Another graph for one of them, unless the device refuses that. */
static void give_child(struct children *c, unsigned which, struct child *child, unsigned word, const char *what)
{
    struct child other = { word, child->sets_first };
    cudaGraph_t graph = NULL;
    cudaError_t error = make_counting(c->kept, &c->late, other, &graph);

    if (error == cudaSuccess)
        error = cudaGraphExecChildGraphNodeSetParams(c->exec, c->node[which], graph);
    if (error == cudaSuccess)
        child->word = word;
    ask_expect_update(c->kept->ask, what, error);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* Both set their words in the order of the edge between them, each by its own edge inside; then each is given another graph. */
static void ask_two_children(struct children *c, int first_sets, int second_sets, int of_one)
{
    struct ask *ask = c->kept->ask;
    struct child child[2];
    const char *what = of_one ? "two child graphs of one graph, in a row" : "two child graphs in a row";

    child[0].word = 0;
    child[1].word = of_one ? 0 : 2;
    child[0].sets_first = first_sets;
    child[1].sets_first = second_sets;
    ask_expect(ask, what, make_children(c, child, of_one), cudaSuccess);
    expect_children(c, what, both_set(child));
    give_child(c, 0, &child[0], 3, "another graph for the first one");
    expect_children(c, "a launch with another first child graph", both_set(child));
    give_child(c, 1, &child[1], of_one ? 1 : 0, "another graph for the second one");
    expect_children(c, "a launch with another second child graph", both_set(child));
    end_children(c);
}

static void ask_children(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    struct children children = PDL_ZERO;
    int i;

    if (!open_kept(&kept, ask))
        return;
    children.kept = &kept;
    if (open_late(&kept, &children.room, &children.late)) {
        children.late.seen = (uint32_t *)((uintptr_t)children.late.plan + offsetof(struct host_room, data));
        for (i = 0; i < 4; i++)
            ask_two_children(&children, i & 1, i >> 1, 0);
        ask_two_children(&children, 0, 0, 1);
        ask_two_children(&children, 1, 1, 1);
        (void)cudaFreeHost(children.room);
    }
    close_kept(&kept);
}

#endif
