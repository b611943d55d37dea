/* loop_bodies.cu - looks for bodies of a conditional node that never end.
 *
 *     nvcc -arch=sm_90 -o loop_bodies loop_bodies.cu && ./loop_bodies [SECONDS]
 *     ./loop_bodies SETTING [SECONDS]
 *
 * Stand-alone. The body of a while-node, or of an if-node for comparison, holds kernels (k), and if-nodes (i) whose condition holds, with
 * one kernel each. Full edges between them are written as `0>1`. A last kernel follows all of them; in a while-node it ends the loop in
 * its second round. Each shape is instantiated and launched once. One that has not ended after two seconds is told, with how often each
 * node ran. Without a setting all shapes of up to three nodes are tried, and those of four nodes for so many SECONDS (default 30); a fresh
 * process goes on after one that never ends.
 * With a setting, shapes of up to eight nodes after a memset and a copy are drawn, until one never ends or so many SECONDS (3) are over:
 *   conditional  if-nodes alone, in a while-node
 *   kernels      kernels, too
 *   children     if-nodes and child graphs (c) of one kernel each
 *   line         if-nodes, kernels and child graphs, each after the one before it
 *   graph        as `kernels`, but in the graph itself
 * Exit code: 0 all ended; 1 some did not, or a node ran more or less often than it should; 64 bad arguments; 69 a call of CUDA failed or a
 * process died.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRY(call)                                                                      \
    do {                                                                               \
        cudaError_t error_ = (call);                                                   \
        if (error_ != cudaSuccess) {                                                   \
            fprintf(stderr, "loop_bodies: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                 \
        }                                                                              \
    } while (0)

#if CUDART_VERSION >= 13000
#define ADD_EDGE(graph, from, to) cudaGraphAddDependencies(graph, from, to, NULL, 1)
#define ADD_NODE(node, graph, params) cudaGraphAddNode(node, graph, NULL, NULL, 0, params)
#else
#define ADD_EDGE(graph, from, to) cudaGraphAddDependencies(graph, from, to, 1)
#define ADD_NODE(node, graph, params) cudaGraphAddNode(node, graph, NULL, 0, params)
#endif

enum { NODES = 8, TRIED = 4, ROUNDS = 2, DEADLINE_S = 2, WORDS = 64 };
enum outer { OUTER_IF, OUTER_WHILE, OUTER_NONE };
static const char *const outer_name[] = { "if", "while", "graph" };

struct shape {
    enum outer outer;
    unsigned nodes, edges; /* edges: 0>1, 0>2, 1>2, 0>3, 1>3, 2>3, ..., one bit each */
    char kind[NODES];      /* k, i or c */
    int moves;             /* a memset and a copy come before all nodes */
};

struct setting {
    const char *name;
    unsigned kernels, children; /* one of so many nodes is a kernel, of the others one is a child graph; 0: none */
    int line;
    enum outer outer;
};
static const struct setting settings[] = {
    { "conditional", 0, 0, 0, OUTER_WHILE }, { "kernels", 3, 0, 0, OUTER_WHILE }, { "children", 0, 4, 0, OUTER_WHILE },
    { "line", 3, 4, 1, OUTER_WHILE },        { "graph", 3, 0, 0, OUTER_NONE },
};

/* What the device stores to, in pinned memory, and what a memset and a copy move. */
struct room {
    cudaStream_t stream;
    unsigned *runs; /* of each node, then of the last kernel */
    unsigned *words;
};

/* In memory that the processes share. */
struct progress {
    unsigned long next, tried, hung;
    time_t four_since; /* when shapes of four nodes began */
};

__global__ void counts(volatile unsigned *runs) { *runs += 1; }

__global__ void goes_on(volatile unsigned *rounds, cudaGraphConditionalHandle handle)
{
    unsigned round = *rounds + 1;

    *rounds = round;
    if (handle)
        cudaGraphSetConditional(handle, round % ROUNDS != 0);
}

/* The shape of this number: those of few nodes come first. 0: there is none. */
static int find_shape(unsigned long number, struct shape *shape)
{
    memset(shape, 0, sizeof(*shape));
    shape->outer = number % 2 == 0 ? OUTER_WHILE : OUTER_IF;
    number /= 2;
    for (shape->nodes = 1; shape->nodes <= TRIED; shape->nodes++) {
        unsigned pairs = shape->nodes * (shape->nodes - 1) / 2;
        unsigned long count = 1ul << (shape->nodes + pairs);
        if (number < count) {
            number = number * 677 % count; /* an odd factor: each shape comes once, and those that are tried in a short time differ */
            for (unsigned i = 0; i < shape->nodes; i++)
                shape->kind[i] = number >> i & 1 ? 'i' : 'k';
            shape->edges = (unsigned)(number >> shape->nodes);
            return 1;
        }
        number -= count;
    }
    return 0;
}

static unsigned below(unsigned limit)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % limit;
}

static void draw_shape(const struct setting *setting, struct shape *shape)
{
    memset(shape, 0, sizeof(*shape));
    shape->outer = setting->outer;
    shape->moves = 1;
    shape->nodes = 1 + below(NODES);
    for (unsigned i = 0, bit = 0; i < shape->nodes; i++) {
        shape->kind[i] = 'i';
        if (setting->kernels && below(setting->kernels) == 0)
            shape->kind[i] = 'k';
        else if (setting->children && below(setting->children) == 0)
            shape->kind[i] = 'c';
        for (unsigned from = 0; from < i; from++, bit++)
            if (setting->line ? from + 1 == i : below(2))
                shape->edges |= 1u << bit;
    }
}

static void print_shape(const struct shape *shape)
{
    printf("%-5s", outer_name[shape->outer]);
    for (unsigned i = 0; i < shape->nodes; i++)
        printf(" %c", shape->kind[i]);
    for (unsigned to = 1, bit = 0; to < shape->nodes; to++)
        for (unsigned from = 0; from < to; from++, bit++)
            if (shape->edges >> bit & 1)
                printf(" %u>%u", from, to);
}

static int add_kernel(cudaGraph_t graph, unsigned *runs, cudaGraphNode_t *node)
{
    void *values[] = { &runs };
    cudaKernelNodeParams params = {};

    params.func = (void *)counts;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = values;
    TRY(cudaGraphAddKernelNode(node, graph, NULL, 0, &params));
    return 0;
}

/* A conditional node whose condition holds, of the graph `whole`. */
static int add_condition(cudaGraph_t whole, cudaGraph_t graph, int loops, cudaGraphConditionalHandle *handle, cudaGraphNode_t *node,
                         cudaGraph_t *body)
{
    cudaGraphNodeParams params = {};

    TRY(cudaGraphConditionalHandleCreate(handle, whole, 1, cudaGraphCondAssignDefault));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = *handle;
    params.conditional.type = loops ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    params.conditional.size = 1;
    TRY(ADD_NODE(node, graph, &params));
    *body = params.conditional.phGraph_out[0];
    return 0;
}

static int add_node(cudaGraph_t whole, cudaGraph_t body, char kind, unsigned *runs, cudaGraphNode_t *node)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t inside;
    cudaGraph_t in;

    if (kind == 'k')
        return add_kernel(body, runs, node);
    if (kind == 'i')
        return add_condition(whole, body, 0, &handle, node, &in) || add_kernel(in, runs, &inside) ? 69 : 0;
    TRY(cudaGraphCreate(&in, 0));
    if (add_kernel(in, runs, &inside))
        return 69;
    TRY(cudaGraphAddChildGraphNode(node, body, NULL, 0, in));
    TRY(cudaGraphDestroy(in));
    return 0;
}

static int add_moves(cudaGraph_t body, const struct room *room, cudaGraphNode_t *last)
{
    cudaMemsetParams set = {};
    cudaGraphNode_t first;

    set.dst = room->words;
    set.elementSize = sizeof(unsigned);
    set.width = WORDS;
    set.height = 1;
    TRY(cudaGraphAddMemsetNode(&first, body, NULL, 0, &set));
    TRY(cudaGraphAddMemcpyNode1D(last, body, &first, 1, room->words + WORDS, room->words, WORDS * sizeof(unsigned),
                                 cudaMemcpyDeviceToDevice));
    return 0;
}

static int add_last(cudaGraph_t body, const struct room *room, cudaGraphConditionalHandle handle, cudaGraphNode_t *last)
{
    unsigned *rounds = room->runs + NODES;
    void *values[] = { &rounds, &handle };
    cudaKernelNodeParams params = {};

    params.func = (void *)goes_on;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = values;
    TRY(cudaGraphAddKernelNode(last, body, NULL, 0, &params));
    return 0;
}

static int build(cudaGraph_t graph, const struct shape *shape, const struct room *room)
{
    cudaGraphConditionalHandle handle = 0;
    cudaGraphNode_t node[NODES], moved, last;
    cudaGraph_t body = graph;

    if (shape->outer != OUTER_NONE && add_condition(graph, graph, shape->outer == OUTER_WHILE, &handle, &last, &body))
        return 69;
    for (unsigned i = 0; i < shape->nodes; i++)
        if (add_node(graph, body, shape->kind[i], room->runs + i, &node[i]))
            return 69;
    if (add_last(body, room, shape->outer == OUTER_WHILE ? handle : 0, &last) || (shape->moves && add_moves(body, room, &moved)))
        return 69;
    for (unsigned to = 1, bit = 0; to < shape->nodes; to++)
        for (unsigned from = 0; from < to; from++, bit++)
            if (shape->edges >> bit & 1)
                TRY(ADD_EDGE(body, &node[from], &node[to]));
    for (unsigned i = 0; i < shape->nodes; i++) {
        if (shape->moves)
            TRY(ADD_EDGE(body, &moved, &node[i]));
        TRY(ADD_EDGE(body, &node[i], &last));
    }
    return 0;
}

/* Waits for the stream no longer than the deadline. 1: it has ended. */
static int ends(cudaStream_t stream, cudaError_t *error)
{
    struct timespec since, now;

    clock_gettime(CLOCK_MONOTONIC, &since);
    do {
        *error = cudaStreamQuery(stream);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (*error == cudaErrorNotReady && now.tv_sec - since.tv_sec <= DEADLINE_S);
    return *error != cudaErrorNotReady;
}

/* 1: some node ran more or less often than it should. */
static int wrong_runs(const struct shape *shape, const volatile unsigned *runs)
{
    unsigned rounds = shape->outer == OUTER_WHILE ? ROUNDS : 1, wrong = runs[NODES] != rounds;

    for (unsigned i = 0; i < shape->nodes; i++)
        wrong |= runs[i] != rounds;
    return wrong != 0;
}

static void tell(const struct shape *shape, const volatile unsigned *runs, const char *what)
{
    print_shape(shape);
    printf("  %s; its nodes ran", what);
    for (unsigned i = 0; i < shape->nodes; i++)
        printf(" %u", runs[i]);
    printf(" times, the last one %u\n", runs[NODES]);
}

enum fate { ENDED, NEVER_ENDED, RAN_WRONGLY, FAILED = 69 }; /* a process in which a shape never ended can do no more */

static int run(const struct shape *shape, const struct room *room)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaError_t error;
    int wrong;

    for (unsigned i = 0; i <= NODES; i++)
        room->runs[i] = 0;
    TRY(cudaGraphCreate(&graph, 0));
    if (build(graph, shape, room))
        return FAILED;
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, room->stream));
    if (!ends(room->stream, &error)) {
        tell(shape, room->runs, "never ended");
        return NEVER_ENDED;
    }
    TRY(error);
    wrong = wrong_runs(shape, room->runs);
    if (wrong)
        tell(shape, room->runs, "ended");
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return wrong ? RAN_WRONGLY : ENDED;
}

static int open_room(struct room *room)
{
    TRY(cudaStreamCreateWithFlags(&room->stream, cudaStreamNonBlocking));
    TRY(cudaHostAlloc(&room->runs, (NODES + 1) * sizeof(unsigned), cudaHostAllocMapped));
    TRY(cudaMalloc(&room->words, 2 * WORDS * sizeof(unsigned)));
    return 0;
}

/* Goes on where the last process stopped. */
static int try_shapes(struct progress *progress, double seconds)
{
    struct shape shape;
    struct room room;

    if (open_room(&room))
        return FAILED;
    while (find_shape(progress->next, &shape)) {
        if (shape.nodes == TRIED && !progress->four_since)
            progress->four_since = time(NULL);
        if (shape.nodes == TRIED && (double)(time(NULL) - progress->four_since) > seconds)
            return ENDED;
        progress->next++;
        progress->tried++;
        if (int fate = run(&shape, &room))
            return fate;
    }
    return ENDED;
}

static int try_drawn(const struct setting *setting, double seconds)
{
    time_t since = time(NULL);
    unsigned long tried = 0, conditions = 0;
    struct shape shape;
    struct room room;
    int fate = open_room(&room);

    while (fate == ENDED && (double)(time(NULL) - since) < seconds) {
        draw_shape(setting, &shape);
        for (unsigned i = 0; i < shape.nodes; i++)
            conditions += shape.kind[i] == 'i';
        tried++;
        fate = run(&shape, &room);
    }
    printf("%lu shapes drawn with %lu conditional nodes, %d never ended\n", tried, conditions, fate == NEVER_ENDED);
    fflush(stdout);
    _exit(fate == NEVER_ENDED || fate == RAN_WRONGLY ? 1 : fate); /* an ordinary exit would wait for the device */
}

static int try_all(double seconds)
{
    struct progress *progress = (struct progress *)mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned long wrong = 0;
    int status, fate = NEVER_ENDED;

    if (progress == MAP_FAILED)
        return FAILED;
    while (fate == NEVER_ENDED || fate == RAN_WRONGLY) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            fate = try_shapes(progress, seconds);
            fflush(stdout);
            _exit(fate); /* as above */
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
            fprintf(stderr, "loop_bodies: a process could not be started, or died\n");
            return FAILED;
        }
        fate = WEXITSTATUS(status);
        progress->hung += fate == NEVER_ENDED;
        wrong += fate == RAN_WRONGLY;
    }
    printf("%lu shapes tried, %lu never ended, %lu ran wrongly\n", progress->tried, progress->hung, wrong);
    return fate != ENDED ? fate : progress->hung + wrong != 0;
}

int main(int argc, char **argv)
{
    const struct setting *setting = NULL;
    double seconds;

    for (const struct setting &one : settings)
        if (argc > 1 && strcmp(argv[1], one.name) == 0)
            setting = &one;
    argc -= setting != NULL;
    argv += setting != NULL;
    seconds = argc > 1 ? atof(argv[1]) : setting ? 3 : 30;
    if (argc > 2 || seconds <= 0) {
        fprintf(stderr, "loop_bodies: takes the name of a setting, as its first lines list them, and a number of seconds\n");
        return 64;
    }
    return setting ? try_drawn(setting, seconds) : try_all(seconds);
}
