/* loop_bodies.cu - looks for bodies of a conditional node that never end.
 *
 *     nvcc -arch=sm_90 -o loop_bodies loop_bodies.cu && ./loop_bodies [SECONDS]
 *
 * Stand-alone. The body of a while-node, or of an if-node for comparison, holds up to four nodes: kernels (k), and if-nodes (i) whose
 * condition holds, with one kernel each. Full edges between them are written as `0>1`. A last kernel follows all of them; in a while-node
 * it ends the loop in its second round. Each shape is instantiated and launched once. One that has not ended after two seconds is told,
 * with how often each node ran; a fresh process goes on with the next one. All shapes of up to three nodes are tried, and those of four
 * nodes for so many SECONDS (default 30).
 * Exit code: 0 all ended; 1 some did not; 64 bad arguments; 69 a call of CUDA failed or a process died.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
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

enum { NODES = 4, ROUNDS = 2, DEADLINE_S = 2 };

struct shape {
    int loops;
    unsigned nodes, inner, edges; /* inner: which are if-nodes; edges: 0>1, 0>2, 1>2, 0>3, 1>3, 2>3, one bit each */
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
    shape->loops = number % 2 == 0;
    number /= 2;
    for (shape->nodes = 1; shape->nodes <= NODES; shape->nodes++) {
        unsigned pairs = shape->nodes * (shape->nodes - 1) / 2;
        unsigned long count = 1ul << (shape->nodes + pairs);
        if (number < count) {
            number = number * 677 % count; /* an odd factor: each shape comes once, and those that are tried in a short time differ */
            shape->inner = (unsigned)number & ((1u << shape->nodes) - 1);
            shape->edges = (unsigned)(number >> shape->nodes);
            return 1;
        }
        number -= count;
    }
    return 0;
}

static void print_shape(const struct shape *shape)
{
    printf("%-5s", shape->loops ? "while" : "if");
    for (unsigned i = 0; i < shape->nodes; i++)
        printf(" %c", shape->inner >> i & 1 ? 'i' : 'k');
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

static int build(cudaGraph_t graph, const struct shape *shape, unsigned *runs)
{
    cudaGraphConditionalHandle handle, inner;
    cudaGraphNode_t node[NODES], last, inside;
    cudaKernelNodeParams params = {};
    cudaGraph_t body, in;
    unsigned *rounds = runs + NODES;
    void *values[] = { &rounds, &handle };

    if (add_condition(graph, graph, shape->loops, &handle, &last, &body))
        return 69;
    for (unsigned i = 0; i < shape->nodes; i++) {
        if (!(shape->inner >> i & 1) && add_kernel(body, runs + i, &node[i]))
            return 69;
        if ((shape->inner >> i & 1) && (add_condition(graph, body, 0, &inner, &node[i], &in) || add_kernel(in, runs + i, &inside)))
            return 69;
    }
    if (!shape->loops)
        handle = 0;
    params.func = (void *)goes_on;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = values;
    TRY(cudaGraphAddKernelNode(&last, body, NULL, 0, &params));
    for (unsigned to = 1, bit = 0; to < shape->nodes; to++)
        for (unsigned from = 0; from < to; from++, bit++)
            if (shape->edges >> bit & 1)
                TRY(ADD_EDGE(body, &node[from], &node[to]));
    for (unsigned i = 0; i < shape->nodes; i++)
        TRY(ADD_EDGE(body, &node[i], &last));
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

/* 0: it ended; 1: it did not, and this process can do no more; 69: a call failed. */
static int run(const struct shape *shape, cudaStream_t stream, unsigned *runs)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaError_t error;

    for (unsigned i = 0; i <= NODES; i++)
        runs[i] = 0;
    TRY(cudaGraphCreate(&graph, 0));
    if (build(graph, shape, runs))
        return 69;
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    if (!ends(stream, &error)) {
        print_shape(shape);
        printf("  never ended; its nodes ran");
        for (unsigned i = 0; i < shape->nodes; i++)
            printf(" %u", ((volatile unsigned *)runs)[i]);
        printf(" times, the last one %u\n", ((volatile unsigned *)runs)[NODES]);
        return 1;
    }
    TRY(error);
    for (unsigned i = 0; i < shape->nodes; i++)
        if (runs[i] != (shape->loops ? ROUNDS : 1)) {
            print_shape(shape);
            printf("  node %u ran %u times\n", i, runs[i]);
        }
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return 0;
}

/* Goes on where the last process stopped. The codes are those of run(). */
static int try_shapes(struct progress *progress, double seconds)
{
    struct shape shape;
    cudaStream_t stream;
    unsigned *runs;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaHostAlloc(&runs, (NODES + 1) * sizeof(unsigned), cudaHostAllocMapped));
    while (find_shape(progress->next, &shape)) {
        if (shape.nodes == NODES && !progress->four_since)
            progress->four_since = time(NULL);
        if (shape.nodes == NODES && (double)(time(NULL) - progress->four_since) > seconds)
            return 0;
        progress->next++;
        progress->tried++;
        if (int code = run(&shape, stream, runs))
            return code;
    }
    return 0;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 30;
    struct progress *progress = (struct progress *)mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 256;

    if (argc > 2 || seconds <= 0 || progress == MAP_FAILED) {
        fprintf(stderr, "loop_bodies: takes one number of seconds, as 30\n");
        return 64;
    }
    while (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int code = try_shapes(progress, seconds);
            fflush(stdout);
            _exit(code); /* an ordinary exit would wait for the device */
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return 69;
        progress->hung += WEXITSTATUS(status) == 1;
    }
    printf("%lu shapes tried, %lu never ended\n", progress->tried, progress->hung);
    return WEXITSTATUS(status) ? WEXITSTATUS(status) : progress->hung != 0;
}
