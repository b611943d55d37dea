/* body_end.cu - looks whether what follows the body of a conditional node comes after all kernels of the body.
 *
 *     nvcc -arch=sm_90 -o body_end body_end.cu && ./body_end
 *
 * Stand-alone. The body holds a writer that works for a while, and a second kernel that does nothing; one edge leads from the first to the
 * second. Its kinds: full (0,0,0), programmatic (1,0,1), programmatic from block starts (2,0,1), launch completion (2,0,0), and what
 * capture makes of a launch-completion event. For comparison the same two kernels stand in a plain graph and in a child graph. A reader
 * follows in the stream and looks whether the writer has stored: a graph is complete when all of its nodes are.
 * Exit code: 0 always so; 1 not so; 69 a call of CUDA failed.
 */
#include <cuda_runtime.h>
#include <stdio.h>

#define TRY(call)                                                                   \
    do {                                                                            \
        cudaError_t error_ = (call);                                                \
        if (error_ != cudaSuccess) {                                                \
            fprintf(stderr, "body_end: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                              \
        }                                                                           \
    } while (0)

#if CUDART_VERSION >= 13000
#define ADD_EDGES cudaGraphAddDependencies
#define ADD_NODE(node, graph, params) cudaGraphAddNode(node, graph, NULL, NULL, 0, params)
#else
#define ADD_EDGES cudaGraphAddDependencies_v2
#define ADD_NODE(node, graph, params) cudaGraphAddNode(node, graph, NULL, 0, params)
#endif

enum { RUNS = 100, BLOCKS = 12, THREADS = 64 };
enum place { PLAIN, CHILD, BODY, PLACES };
static const char *const places[PLACES] = { "a plain graph", "a child graph", "a body" };
enum edge { FULL, TRIGGER, START, COMPLETION, CAPTURED, EDGES };
static const char *const edges[EDGES] = { "0,0,0", "1,0,1", "2,0,1", "2,0,0", "2,0,0 from capture" };
static const unsigned char ports[EDGES] = { 0, 1, 2, 2, 2 }, types[EDGES] = { 0, 1, 1, 0, 0 };

struct room {
    unsigned *word, *early; /* what the writer stores last; how many readers came before */
    cudaStream_t stream, side;
    cudaEvent_t begun, joined;
};

__global__ void writer(unsigned *word, unsigned value, unsigned ns)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < ns);
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x)
        *(volatile unsigned *)word = value;
}

__global__ void nothing(void) {}

__global__ void reader(const unsigned *word, unsigned value, unsigned *early)
{
    *early += *(const volatile unsigned *)word != value;
}

static int build(cudaGraph_t graph, const struct room *room, enum edge edge, unsigned value, unsigned ns)
{
    unsigned *word = room->word;
    void *values[] = { &word, &value, &ns };
    cudaKernelNodeParams params = {};
    cudaGraphEdgeData data = {};
    cudaGraphNode_t first, second;

    params.func = (void *)writer;
    params.gridDim = dim3(BLOCKS);
    params.blockDim = dim3(THREADS);
    params.kernelParams = values;
    TRY(cudaGraphAddKernelNode(&first, graph, NULL, 0, &params));
    params.func = (void *)nothing;
    params.kernelParams = NULL;
    TRY(cudaGraphAddKernelNode(&second, graph, NULL, 0, &params));
    data.from_port = ports[edge];
    data.type = types[edge];
    TRY(ADD_EDGES(graph, &first, &second, &data, 1));
    return 0;
}

/* The second kernel waits in another stream for the event that the first one's launch records; capture ends with it. */
static int capture(cudaGraph_t graph, const struct room *room, unsigned value, unsigned ns)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    cudaGraph_t same;

    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = room->begun;
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.stream = room->stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    TRY(cudaStreamBeginCaptureToGraph(room->stream, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal));
    TRY(cudaLaunchKernelEx(&config, writer, room->word, value, ns));
    TRY(cudaStreamWaitEvent(room->side, room->begun, 0));
    nothing<<<1, 1, 0, room->side>>>();
    TRY(cudaEventRecord(room->joined, room->side));
    TRY(cudaStreamWaitEvent(room->stream, room->joined, 0));
    TRY(cudaStreamEndCapture(room->stream, &same));
    return 0;
}

/* The graph to fill: `graph` itself, a child that is added to it later, or the body of a conditional node in it. */
static int open_place(cudaGraph_t graph, enum place place, cudaGraph_t *inside)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams params = {};
    cudaGraphNode_t node;

    *inside = graph;
    if (place == CHILD)
        TRY(cudaGraphCreate(inside, 0));
    if (place != BODY)
        return 0;
    TRY(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    TRY(ADD_NODE(&node, graph, &params));
    *inside = params.conditional.phGraph_out[0];
    return 0;
}

static int run(const struct room *room, enum place place, enum edge edge, unsigned value, unsigned ns)
{
    cudaGraph_t graph, inside;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;

    TRY(cudaGraphCreate(&graph, 0));
    if (open_place(graph, place, &inside) || (edge == CAPTURED ? capture(inside, room, value, ns) : build(inside, room, edge, value, ns)))
        return 69;
    if (place == CHILD) {
        TRY(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inside));
        TRY(cudaGraphDestroy(inside));
    }
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, room->stream));
    reader<<<1, 1, 0, room->stream>>>(room->word, value, room->early);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return 0;
}

int main(void)
{
    static const unsigned holds[] = { 1000, 10000, 100000 };
    struct room room = {};
    unsigned value = 0, early, all = 0;

    TRY(cudaStreamCreateWithFlags(&room.stream, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithFlags(&room.side, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&room.begun, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room.joined, cudaEventDisableTiming));
    TRY(cudaMalloc(&room.word, sizeof(unsigned)));
    TRY(cudaMalloc(&room.early, sizeof(unsigned)));
    for (int place = 0; place < PLACES; place++)
        for (int edge = 0; edge < EDGES; edge++)
            for (unsigned ns : holds) {
                TRY(cudaMemset(room.early, 0, sizeof(unsigned)));
                for (int i = 0; i < RUNS; i++)
                    if (run(&room, (enum place)place, (enum edge)edge, ++value, ns))
                        return 69;
                TRY(cudaMemcpy(&early, room.early, sizeof(early), cudaMemcpyDeviceToHost));
                printf("in %-13s edge %-18s a writer of %6u ns had not ended in %3u of %d\n", places[place], edges[edge], ns, early, RUNS);
                all += early;
            }
    return all != 0;
}
