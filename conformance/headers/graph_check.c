/* pdl_graph_check against three judges: what was planted, the rule written out as sets, and execution on the model.
 * Usage: graph_check [GRAPHS [SEED]]; prints the time for a graph of 10,000 nodes. */
#include "pdl.h"

#include <string.h>
#include <time.h>

#include "expect.h"
#include "model_kernel.h"
#include "random_graph.h"

enum { FINDINGS = 4096, SCRATCH_NODES = 256, SCRATCH_EDGES = 2048 };

static unsigned char scratch[PDL_GRAPH_SCRATCH(SCRATCH_NODES, SCRATCH_EDGES)];
static pdl_graph_finding finding[FINDINGS];
static size_t findings;
static cudaGraphNode_t handle[MOST_NODES];

static unsigned node_number(cudaGraphNode_t node)
{
    for (unsigned i = 0; i < MOST_NODES; i++) {
        if (handle[i] == node) {
            return i;
        }
    }
    return MOST_NODES;
}

static unsigned answer(cudaGraphNode_t node, void *user)
{
    const struct random_graph *g = user;

    return g->node[node_number(node)].waits;
}

/* ---- a kernel that looks at everything before it, and stores late ---- */

struct looks {
    uint32_t *word, *seen; /* one per node; this node's row */
    unsigned self, nodes, waits, slow;
};

void looking_kernel(struct looks args);
MODEL_KERNEL_OF(looking_kernel, struct looks, 32, 0, 90, 90)
{
    model_trigger();
    if (args.waits) {
        model_wait();
    }
    for (unsigned i = 0; i < args.nodes; i++) {
        args.seen[i] = model_load32(&args.word[i], MODEL_LD_RELAXED);
    }
    if (args.slow) {
        model_pause(1000000);
    }
    model_store32(&args.word[args.self], 1);
}

/* ---- from the description to CUDA's graph ---- */

static void build_node(cudaGraph_t graph, const struct random_graph *g, unsigned i, const pdl_kernel *kernel, uint32_t *words,
                       unsigned slow)
{
    const dim3 one = {1, 1, 1};
    uint32_t *row = words + (size_t)(i + 1) * g->nodes;
    struct looks looks = {words, row, i, g->nodes, g->node[i].waits == PDL_WAITS_YES, i == slow};
    void *args[] = {&looks};

    if (g->node[i].what == A_KERNEL) {
        EXPECT_IS(pdl_graph_add_kernel(&handle[i], graph, NULL, 0, kernel, one, one, args, 0, NULL), cudaSuccess);
    } else if (g->node[i].what == A_COPY) {
        EXPECT_IS(cudaGraphAddMemcpyNode1D(&handle[i], graph, NULL, 0, row, words, 4 * (size_t)g->nodes,
                                           cudaMemcpyDeviceToDevice), cudaSuccess);
    } else {
        EXPECT_IS(cudaGraphAddEmptyNode(&handle[i], graph, NULL, 0), cudaSuccess);
    }
}

/* words: a row that the kernels store to, then a row per node of what it saw there. */
static cudaGraph_t build(const struct random_graph *g, uint32_t *words, unsigned slow)
{
    pdl_kernel kernel = PDL_ZERO;
    cudaGraph_t graph;

    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)looking_kernel), cudaSuccess);
    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    for (unsigned i = 0; i < g->nodes; i++) {
        build_node(graph, g, i, &kernel, words, slow);
    }
    for (unsigned i = 0; i < g->edges; i++) {
        const int to_kernel = g->node[g->edge[i].to].what == A_KERNEL;
        pdl_graph_edge edge = PDL_ZERO;

        edge.from = handle[g->edge[i].from];
        edge.to = handle[g->edge[i].to];
        edge.kind = g->edge[i].kind;
        EXPECT_IS(pdl_graph_add_edges(graph, &edge, 1, to_kernel ? &kernel : NULL, PDL_OVERLAP_REQUIRED), cudaSuccess);
    }
    return graph;
}

static void check(const struct random_graph *g, cudaGraph_t graph, int ask)
{
    size_t bytes = sizeof scratch;

    findings = FINDINGS;
    EXPECT_IS(pdl_graph_check(graph, ask ? answer : NULL, (void *)(size_t)g, scratch, &bytes, finding, &findings),
              cudaSuccess);
}

static int is_unsafe(const pdl_graph_finding *f)
{
    return f->severity == PDL_SEVERITY_ERROR || strstr(f->sentence, "only if a kernel waits") != NULL;
}

static void show(const struct random_graph *g)
{
    graph_print(g);
    for (size_t i = 0; i < findings; i++) {
        printf("  finding %u severity %u: %u to %u, missed %u: %s\n", finding[i].kind, finding[i].severity,
               node_number(finding[i].from), node_number(finding[i].to), node_number(finding[i].missed),
               finding[i].sentence);
    }
}

/* ---- judge 1: the rule as sets ---- */

/* Every unsafe finding names something that is missed; every node that misses something has one at or before it. */
static int agrees_with_sets(const struct random_graph *g)
{
    static struct sets sure, unsure;
    struct node_set explained = {{0}}, maybe = {{0}};

    sets_compute(&sure, g, 1);
    sets_compute(&unsure, g, 0);
    for (size_t i = 0; i < findings; i++) {
        const unsigned to = node_number(finding[i].to), missed = node_number(finding[i].missed);
        const struct sets *s = finding[i].severity == PDL_SEVERITY_ERROR ? &sure : &unsure;

        if (is_unsafe(&finding[i]) && (missed >= g->nodes || !set_has(&s->missed[to], missed))) {
            return 0;
        }
        set_add(is_unsafe(&finding[i]) ? &maybe : NULL, to);
        set_add(finding[i].severity == PDL_SEVERITY_ERROR ? &explained : NULL, to);
    }
    for (unsigned i = 0; i < g->nodes; i++) {
        if (g->node[i].what != AN_EMPTY &&
            ((!set_is_empty(&sure.missed[i]) && !set_has(&explained, i) && !set_meets(&sure.before[i], &explained)) ||
             (!set_is_empty(&unsure.missed[i]) && !set_has(&maybe, i) && !set_meets(&unsure.before[i], &maybe)))) {
            return 0;
        }
    }
    return 1;
}

/* ---- judge 2: what was planted ---- */

static int found(unsigned kind, unsigned severity, unsigned from, unsigned to)
{
    for (size_t i = 0; i < findings; i++) {
        if (finding[i].kind == kind && finding[i].severity == severity && finding[i].from == handle[from] &&
            finding[i].to == handle[to]) {
            return 1;
        }
    }
    return 0;
}

static int planted_are_found(const struct random_graph *g)
{
    for (unsigned i = 0; i < g->planted; i++) {
        const struct planted *p = &g->plant[i];
        const unsigned severity = p->is_hint ? PDL_SEVERITY_HINT : PDL_SEVERITY_ERROR;

        if (!found(p->kind, severity, p->from, p->to)) {
            printf("planted and not found: finding %u from %u to %u\n", p->kind, p->from, p->to);
            return 0;
        }
    }
    return 1;
}

static size_t count_of(unsigned kind, unsigned severity)
{
    size_t count = 0;

    for (size_t i = 0; i < findings; i++) {
        count += finding[i].kind == kind && finding[i].severity == severity;
    }
    return count;
}

static size_t errors_found(void)
{
    size_t count = 0;

    for (size_t i = 0; i < findings; i++) {
        count += finding[i].severity == PDL_SEVERITY_ERROR;
    }
    return count;
}

/* Fan-in by construction: kernels with a programmatic edge among several. */
static size_t fan_ins(const struct random_graph *g)
{
    unsigned in[MOST_NODES] = {0}, programmatic[MOST_NODES] = {0};
    size_t count = 0;

    for (unsigned i = 0; i < g->edges; i++) {
        in[g->edge[i].to]++;
        programmatic[g->edge[i].to] |= g->edge[i].kind == PDL_EDGE_PROGRAMMATIC || g->edge[i].kind == PDL_EDGE_BLOCK_START;
    }
    for (unsigned i = 0; i < g->nodes; i++) {
        count += in[i] > 1 && programmatic[i];
    }
    return count;
}

static void random_graphs(unsigned graphs, uint64_t seed)
{
    static struct random_graph g;
    static uint32_t unused[1];
    size_t planted = 0, errors = 0, hints = 0, clean = 0;

    for (unsigned i = 0; i < graphs && !failed; i++) {
        const enum style style = (enum style)(i % STYLES);
        cudaGraph_t graph;

        graph_make(&g, seed + i, style, 2 + i % 199);
        graph = build(&g, unused, MOST_NODES);
        check(&g, graph, 1);
        EXPECT(agrees_with_sets(&g));
        EXPECT(planted_are_found(&g));
        EXPECT(style != CLEAN || errors_found() == 0);
        EXPECT_IS(count_of(PDL_FINDING_FAN_IN, PDL_SEVERITY_HINT), fan_ins(&g));
        EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
        planted += g.planted;
        errors += errors_found();
        hints += findings - errors_found();
        clean += style == CLEAN;
        if (failed) {
            show(&g);
        }
    }
    printf("%u graphs, %zu of them clean: %zu planted defects found; %zu errors and %zu hints in all\n", graphs, clean,
           planted, errors, hints);
}

/* ---- judge 3: execution. One kernel at a time is slow; whoever is not behind it sees its old word ---- */

static void run_slow(const struct random_graph *g, unsigned slow, struct node_set *stale)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    uint32_t *words;

    model_reset("early", slow + 1);
    EXPECT_IS(cudaMalloc((void **)&words, (g->nodes + 1) * 4 * (size_t)g->nodes), cudaSuccess);
    EXPECT_IS(cudaMemset(words, 0, (g->nodes + 1) * 4 * (size_t)g->nodes), cudaSuccess);
    graph = build(g, words, slow);
    EXPECT_IS(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_IS(cudaGraphLaunch(exec, 0), cudaSuccess);
    EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess);
    for (unsigned i = 0; i < g->nodes; i++) {
        if (g->node[i].what != AN_EMPTY && words[(size_t)(i + 1) * g->nodes + slow] == 0) {
            set_add(&stale[i], slow);
        }
    }
}

/* What the sets call missed is what goes stale on the model, node by node; and so errors are found if something does. */
static void small_graphs_run(unsigned graphs, uint64_t seed)
{
    static struct random_graph g;
    static struct sets sure;
    static uint32_t unused[1];
    size_t stale_ones = 0, errors = 0;

    for (unsigned i = 0; i < graphs && !failed; i++) {
        struct node_set stale[MOST_NODES] = {{{0}}};
        int any = 0;

        graph_make(&g, seed + i, WILD, 2 + i % 7);
        for (unsigned n = 0; n < g.nodes; n++) { /* execution knows no unknown kernel */
            g.node[n].waits = g.node[n].waits == PDL_WAITS_UNKNOWN ? PDL_WAITS_YES : g.node[n].waits;
        }
        for (unsigned n = 0; n < g.nodes; n++) {
            if (g.node[n].what == A_KERNEL) {
                run_slow(&g, n, stale);
            }
        }
        fresh_device();
        sets_compute(&sure, &g, 1);
        for (unsigned n = 0; n < g.nodes; n++) {
            set_keep(&stale[n], &sure.before[n]);
            if (g.node[n].what != AN_EMPTY) {
                EXPECT(set_equal(&stale[n], &sure.missed[n]));
                any |= !set_is_empty(&stale[n]);
            }
        }
        check(&g, build(&g, unused, MOST_NODES), 1);
        EXPECT_IS(errors_found() != 0, any);
        stale_ones += (size_t)any;
        errors += errors_found();
        if (failed) {
            show(&g);
        }
    }
    EXPECT(graphs < 100 || (stale_ones > graphs / 10 && stale_ones < graphs));
    printf("%u small graphs run on the model: stale words in %zu, and errors (%zu) in the same\n", graphs, stale_ones, errors);
}

/* ---- time ---- */

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static unsigned all_wait(cudaGraphNode_t node, void *user)
{
    (void)node, (void)user;
    return PDL_WAITS_YES;
}

static void time_large(unsigned nodes)
{
    const size_t bytes = PDL_GRAPH_SCRATCH(nodes, 3 * nodes);
    const dim3 one = {1, 1, 1};
    struct looks looks = {NULL, NULL, 0, 0, 0, 0};
    void *args[] = {&looks}, *memory = malloc(bytes);
    cudaGraphNode_t *node = malloc(nodes * sizeof *node);
    pdl_kernel kernel = PDL_ZERO;
    cudaGraph_t graph;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)looking_kernel), cudaSuccess);
    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    for (unsigned i = 0; i < nodes; i++) {
        pdl_graph_edge edges[2] = {PDL_ZERO, PDL_ZERO};
        pdl_options options = PDL_ZERO;

        options.overlap = PDL_OVERLAP_REQUIRED;
        edges[0].from = i != 0 ? node[i - 1] : NULL;
        edges[1].from = i > 7 ? node[i - 7] : NULL;
        edges[0].kind = edges[1].kind = PDL_EDGE_PROGRAMMATIC;
        EXPECT_IS(pdl_graph_add_kernel(&node[i], graph, edges, i > 7 ? 2 : i != 0, &kernel, one, one, args, 0, &options),
                  cudaSuccess);
    }
    for (int known = 1; known >= 0; known--) {
        size_t count = 0, given = bytes;
        const double start = now_ms();
        const cudaError_t error = pdl_graph_check(graph, known ? all_wait : NULL, NULL, memory, &given, NULL, &count);

        EXPECT_IS(error, cudaErrorMemoryAllocation); /* the fan-ins at least */
        EXPECT_IS(count, known ? nodes - 8 : nodes - 8 + 2 * nodes - 9);
        printf("a graph of %u kernels and %u programmatic edges, %s: checked in %.1f ms\n", nodes, 2 * nodes - 9,
               known ? "all known to wait" : "nothing known of any", now_ms() - start);
    }
    EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
    free(memory);
    free(node);
}

int main(int argc, char **argv)
{
    const unsigned graphs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 10000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

    fresh_device();
    random_graphs(graphs, seed);
    small_graphs_run(graphs / 10, seed);
    time_large(10000);
    return failed;
}
