/* capture_memory.h - the part of the pair told of capture_calls.cu with memory that is allocated while a stream captures. */
#ifndef CAPTURE_MEMORY_H_INCLUDED
#define CAPTURE_MEMORY_H_INCLUDED

struct allocation {
    void *memory;
    cudaError_t error;
};

static void allocate(void *of)
{
    struct allocation *allocation = (struct allocation *)of;

    allocation->error = cudaMalloc(&allocation->memory, 1 << 20);
}

/* Calls like cudaMalloc are prohibited while a capture goes on: to no thread if it is relaxed, and to the one that began it only if it is that
 * thread's. The capture takes no notice of them. */
static void ask_allocation(const struct capture *c, enum cudaStreamCaptureMode mode)
{
    struct allocation allocation = { NULL, cudaSuccess };
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    cudaError_t error = cudaStreamBeginCapture(c->stream, mode);

    if (error == cudaSuccess)
        error = launch_nothing(c->stream);
    ask_expect(c->ask, "a capture beside which memory is allocated", error, cudaSuccess);
    if (mode == cudaStreamCaptureModeRelaxed)
        allocate(&allocation);
    else if (!run_in_thread(allocate, &allocation))
        ask_skip(c->ask, "memory for another thread", "no thread could be had");
    ask_expect(c->ask, mode == cudaStreamCaptureModeRelaxed ? "memory beside a relaxed capture" : "memory for another thread than a capture's",
               allocation.error, cudaSuccess);
    ask_expect(c->ask, "the end of the capture", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    if (graph && cudaGraphGetNodes(graph, NULL, &nodes) != cudaSuccess)
        nodes = 0;
    ask_expect_number(c->ask, "nodes of the capture", (long)nodes, 1);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaFree(allocation.memory);
}

#endif
