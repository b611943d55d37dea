/* graph_upload.cu - uploads graphs that mix programmatic edges with nodes that are not kernels, and counts the processes that die.
 *
 *     nvcc -arch=sm_90 -o graph_upload graph_upload.cu && ./graph_upload [SEEDS]
 *
 * Stand-alone. Each graph is drawn from its seed: kernels and nodes of one other kind, each node after one or two of the six nodes
 * before it. It is built, instantiated, uploaded, launched and waited for in a process of its own. A row says how many processes
 * ended well, died of a signal in cudaGraphUpload, died elsewhere, or had a call refused.
 * Exit code: 0 no process died; 1 one did; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY(call)                                                                         \
    do {                                                                                  \
        cudaError_t error_ = (call);                                                      \
        if (error_ != cudaSuccess) {                                                      \
            fprintf(stderr, "graph_upload: %s: %s\n", #call, cudaGetErrorName(error_));  \
            _exit(69);                                                                    \
        }                                                                                 \
    } while (0)

#if CUDART_VERSION >= 13000
#define ADD_DEPENDENCIES cudaGraphAddDependencies
#else
#define ADD_DEPENDENCIES cudaGraphAddDependencies_v2
#endif

enum { MOST_NODES = 64, AT_ONCE = 8, WORDS = 64, REACH = 6 };
enum other { NONE, MEMSET, COPY, HOST, ANY, OTHERS };
enum edges { FULL, AFTER_TRIGGER, AFTER_START, LAUNCH_COMPLETION, MIXED, EDGES };
enum step { BUILDING, INSTANTIATING, UPLOADING, LAUNCHING };

static const char *const other_name[OTHERS] = { "kernels only", "memsets", "copies", "host nodes", "all kinds" };
static const char *const edges_name[EDGES] = { "full", "programmatic, at the trigger", "programmatic, at block start", "launch-completion", "mixed" };

struct row {
    enum other other;
    enum edges edges;
    int nodes, upload;
};

static const struct row rows[] = {
    { ANY, MIXED, 48, 1 },          { ANY, MIXED, 48, 0 },       { NONE, MIXED, 48, 1 },  { ANY, FULL, 48, 1 },
    { ANY, AFTER_TRIGGER, 48, 1 },  { ANY, AFTER_START, 48, 1 }, { ANY, LAUNCH_COMPLETION, 48, 1 },
    { MEMSET, AFTER_TRIGGER, 48, 1 }, { COPY, AFTER_TRIGGER, 48, 1 }, { HOST, AFTER_TRIGGER, 48, 1 },
    { ANY, MIXED, 32, 1 },          { ANY, MIXED, 16, 1 },       { ANY, MIXED, 8, 1 },    { ANY, MIXED, 4, 1 },
};

__global__ void store(unsigned *words)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    words[threadIdx.x] = 1;
}

static void CUDART_CB on_host(void *) {}

static void add_node(cudaGraph_t graph, cudaGraphNode_t *node, enum other kind, unsigned *words)
{
    cudaMemsetParams memset_params = {};
    cudaKernelNodeParams kernel_params = {};
    cudaHostNodeParams host_params = { on_host, NULL };
    void *arguments[] = { &words };

    memset_params.dst = words;
    memset_params.elementSize = sizeof(*words);
    memset_params.width = WORDS;
    memset_params.height = 1;
    kernel_params.func = (void *)store;
    kernel_params.gridDim = dim3(1);
    kernel_params.blockDim = dim3(WORDS);
    kernel_params.kernelParams = arguments;
    if (kind == MEMSET)
        TRY(cudaGraphAddMemsetNode(node, graph, NULL, 0, &memset_params));
    else if (kind == COPY)
        TRY(cudaGraphAddMemcpyNode1D(node, graph, NULL, 0, words, words + WORDS, WORDS * sizeof(*words), cudaMemcpyDeviceToDevice));
    else if (kind == HOST)
        TRY(cudaGraphAddHostNode(node, graph, NULL, 0, &host_params));
    else
        TRY(cudaGraphAddKernelNode(node, graph, NULL, 0, &kernel_params));
}

/* Only a kernel has ports other than 0, and only a kernel can be at the end of a programmatic edge. */
static cudaGraphEdgeData edge_of(enum edges wanted, enum other from, enum other to)
{
    enum edges kind = wanted == MIXED ? (enum edges)(rand() % MIXED) : rand() % 2 ? wanted : FULL;
    cudaGraphEdgeData data = {};

    if (from != NONE || (to != NONE && kind != LAUNCH_COMPLETION))
        kind = FULL;
    data.from_port = kind == FULL ? 0 : kind == AFTER_TRIGGER ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortLaunchCompletion;
    data.type = kind == AFTER_TRIGGER || kind == AFTER_START ? cudaGraphDependencyTypeProgrammatic : 0;
    return data;
}

static void build(cudaGraph_t graph, const struct row *row)
{
    cudaGraphNode_t node[MOST_NODES];
    enum other kind[MOST_NODES];
    unsigned *words;

    TRY(cudaMalloc((void **)&words, sizeof(*words) * 2 * WORDS * MOST_NODES));
    for (int i = 0; i < row->nodes; i++) {
        int last = -1;
        kind[i] = rand() % 3 ? NONE : row->other == ANY ? (enum other)(MEMSET + rand() % 3) : row->other;
        add_node(graph, &node[i], kind[i], words + 2 * WORDS * i);
        for (int edge = rand() % 2; i && edge < 2; edge++) {
            int from = i - 1 - rand() % (i < REACH ? i : REACH);
            cudaGraphEdgeData data = edge_of(row->edges, kind[from], kind[i]);
            if (from != last)
                TRY(ADD_DEPENDENCIES(graph, &node[from], &node[i], &data, 1));
            last = from;
        }
    }
}

static void tell(int pipe_end, enum step step)
{
    if (write(pipe_end, &step, sizeof(step)) != sizeof(step))
        _exit(69);
}

static void run(const struct row *row, unsigned seed, int pipe_end)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    srand(seed);
    tell(pipe_end, BUILDING);
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaGraphCreate(&graph, 0));
    build(graph, row);
    tell(pipe_end, INSTANTIATING);
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    tell(pipe_end, UPLOADING);
    if (row->upload)
        TRY(cudaGraphUpload(exec, stream));
    tell(pipe_end, LAUNCHING);
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
}

struct counts {
    int fine, uploading, elsewhere, refused;
};

/* AT_ONCE processes at a time; each tells through a pipe how far it came. */
static int run_row(const struct row *row, int seeds, struct counts *counts)
{
    for (int seed = 0; seed < seeds; seed += AT_ONCE) {
        int ends[AT_ONCE][2], count = seeds - seed < AT_ONCE ? seeds - seed : AT_ONCE;
        pid_t child[AT_ONCE];
        for (int i = 0; i < count; i++) {
            if (pipe(ends[i]) || (child[i] = fork()) < 0)
                return 69;
            if (child[i] == 0) {
                run(row, 1u + (unsigned)(seed + i), ends[i][1]);
                _exit(0);
            }
            close(ends[i][1]);
        }
        for (int i = 0; i < count; i++) {
            enum step step = BUILDING, next;
            int status;
            while (read(ends[i][0], &next, sizeof(next)) == sizeof(next))
                step = next;
            close(ends[i][0]);
            if (waitpid(child[i], &status, 0) != child[i])
                return 69;
            if (WIFSIGNALED(status))
                ++*(step == UPLOADING ? &counts->uploading : &counts->elsewhere);
            else
                ++*(WEXITSTATUS(status) ? &counts->refused : &counts->fine);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int seeds = argc > 1 ? atoi(argv[1]) : 16, fine = 0, died = 0;

    if (seeds < 1 || seeds > 10000) {
        fprintf(stderr, "usage: graph_upload [SEEDS], from 1 to 10000\n");
        return 64;
    }
    printf("| other nodes | edges | nodes | uploaded | ended well | died in cudaGraphUpload | died elsewhere | refused |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct counts counts = {};
        int wrong;
        fflush(stdout);
        wrong = run_row(&rows[i], seeds, &counts);
        if (wrong)
            return wrong;
        printf("| %s | %s | %d | %s | %d | %d | %d | %d |\n", other_name[rows[i].other], edges_name[rows[i].edges], rows[i].nodes,
               rows[i].upload ? "yes" : "no", counts.fine, counts.uploading, counts.elsewhere, counts.refused);
        fine += counts.fine;
        died += counts.uploading + counts.elsewhere;
    }
    return died ? 1 : fine ? 0 : 69;
}
