/* from_device_child.cu - kernels that kernels launch.
 *
 * children  COMP-10  a primary launches a child that stores late, and triggers: does the wait of its dependent cover the child?
 * inner     WAIT-12  a child waits: does its wait return?
 *
 * Set-ups of `children`: eagerly or captured; into which of the parent's streams; before the trigger or after the watch;
 * and two that launch no child and store themselves, to see what keeps a dependent from beginning early: the same kernel,
 * and one without a launch in it.
 */
#include "from_device.h"

enum child { CHILD_LATE, CHILD_FIRST, CHILD_TAIL, CHILD_FREE, CHILD_NONE, CHILD_PLAIN };

static const char *const child_names[] = {
    "child behind the watch", "child before the trigger", "child in the tail stream", "child fired and forgotten",
    "no child, a kernel that could launch one", "no child, a kernel without a launch",
};

__global__ void late_child(struct shared *s) { store_late(s); }

__global__ void parent(struct shared *s, int child)
{
    if (threadIdx.x == 0) {
        if (child == CHILD_FIRST)
            late_child<<<1, WORDS>>>(s);
        pdl_trigger();
        meet(s);
        if (child == CHILD_LATE)
            late_child<<<1, WORDS>>>(s);
        else if (child == CHILD_TAIL)
            late_child<<<1, WORDS, 0, cudaStreamTailLaunch>>>(s);
        else if (child == CHILD_FREE)
            late_child<<<1, WORDS, 0, cudaStreamFireAndForget>>>(s);
    }
    __syncthreads();
    if (child == CHILD_NONE)
        store_late(s);
}

__global__ void childless(struct shared *s, int child)
{
    (void)child;
    if (threadIdx.x == 0) {
        pdl_trigger();
        meet(s);
    }
    __syncthreads();
    store_late(s);
}

__global__ void child_reader(struct shared *s)
{
    begin_early(s);
    pdl_wait();
    read_words(s);
}

/* The pair, launched into the stream or captured. */
static cudaError_t queue_family(struct shared *s, int child, cudaStream_t stream)
{
    const void *primary = child == CHILD_PLAIN ? (const void *)childless : (const void *)parent;
    void *params[] = { &s, &child };
    cudaLaunchAttribute attribute = overlapping();

    TRY(launch(primary, WORDS, params, stream, NULL, 0));
    return launch((const void *)child_reader, WORDS, params, stream, &attribute, 1);
}

static cudaError_t capture_family(struct shared *s, int child, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaGraph_t graph;

    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    TRY(queue_family(s, child, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(exec, graph, 0));
    return cudaGraphDestroy(graph);
}

static cudaError_t ask_family(struct shared *s, unsigned trials, int child, int captured, cudaStream_t stream)
{
    struct setup setup = { "children", "COMP-10", "stale", "" };
    struct counts c = PDL_ZERO;
    cudaGraphExec_t exec = NULL;
    unsigned i;

    if (!is_due())
        return cudaSuccess;
    snprintf(setup.text, sizeof(setup.text), "%s, %s", captured ? "captured" : "stream", child_names[child]);
    if (captured)
        TRY(capture_family(s, child, stream, &exec));
    for (i = 0; i < trials; i++) {
        TRY(empty(s, i, stream));
        TRY(captured ? cudaGraphLaunch(exec, stream) : queue_family(s, child, stream));
        TRY(count_words(&setup, s, stream, &c));
    }
    tell(&setup, &c, 0);
    return captured ? cudaGraphExecDestroy(exec) : cudaSuccess;
}

cudaError_t ask_children(struct shared *s, unsigned trials, cudaStream_t stream)
{
    int captured, child;

    for (captured = 0; captured < 2; captured++)
        for (child = CHILD_LATE; child <= CHILD_PLAIN; child++)
            TRY(ask_family(s, trials, child, captured, stream));
    return cudaSuccess;
}

__global__ void waiting_child(struct shared *s)
{
    pdl_wait();
    s->returned = 1;
}

__global__ void waiting_parent(struct shared *s) { waiting_child<<<1, 1>>>(s); }

cudaError_t ask_inner(struct shared *s, unsigned trials, cudaStream_t stream)
{
    struct setup setup = { "inner", "WAIT-12", "not_returned", "stream" };
    struct shared host;
    struct counts c = PDL_ZERO;
    void *params[] = { &s };
    unsigned i;

    if (!is_due())
        return cudaSuccess;
    for (i = 0; i < trials; i++) {
        TRY(empty(s, i, stream));
        TRY(launch((const void *)waiting_parent, 1, params, stream, NULL, 0));
        TRY(fetch(&setup, s, &host, stream, &c));
        c.wrong += !host.returned;
    }
    tell(&setup, &c, 0);
    return cudaSuccess;
}
