/* from_device_update.cu - TRIG-12: a primary updates its dependent's node, and triggers: which value does the dependent get?
 *
 * The document asks for a fence between the two. Set-ups:
 * fenced    with it: the old value is forbidden
 * unfenced  without it: the old value is permitted
 * crowded   without it, after stores of 1,024 threads that are not yet visible; crowded, fenced: with it
 * beside    one warp triggers for the block while another still updates
 * late      the update follows the trigger and the dependent's start: a control that must give the old value
 */
#include "from_device.h"

#if CUDART_VERSION >= 12040 /* nodes that the device may update */
enum update { UPDATE_FENCED, UPDATE_UNFENCED, UPDATE_CROWDED, UPDATE_CROWDED_FENCED, UPDATE_BESIDE, UPDATE_LATE };

static const char *const update_names[] = { "fenced", "unfenced", "crowded", "crowded, fenced", "beside", "late" };

#define CROWD_THREADS 1024u
#define CROWD_STORES 64u
#define CROWD_WORDS (CROWD_THREADS * CROWD_STORES * 32u)

struct update_args {
    struct shared *s;
    const cudaGraphDeviceNode_t *node;
    unsigned *crowd; /* CROWD_WORDS words that are never read */
    unsigned value;
    int how;
};

__device__ static void update_node(const struct update_args *a)
{
    unsigned answer = (unsigned)cudaGraphKernelNodeSetParam(*a->node, 0, &a->value, sizeof(a->value));

    if (answer)
        a->s->refused = answer;
}

__global__ void updating_primary(struct update_args a)
{
    unsigned i;

    if (a.how == UPDATE_CROWDED || a.how == UPDATE_CROWDED_FENCED)
        for (i = 0; i < CROWD_STORES; i++)
            ((volatile unsigned *)a.crowd)[(i * CROWD_THREADS + threadIdx.x) * 32u] = a.value;
    if (a.how == UPDATE_BESIDE) {
        if (threadIdx.x == 0)
            update_node(&a);
        else if (threadIdx.x == 32)
            pdl_trigger();
    } else if (threadIdx.x == 0) {
        if (a.how == UPDATE_LATE) {
            pdl_trigger();
            meet(a.s);
        }
        update_node(&a);
        if (a.how == UPDATE_FENCED || a.how == UPDATE_CROWDED_FENCED)
            __threadfence();
        pdl_trigger();
    }
    if (threadIdx.x == 0)
        meet(a.s);
}

__global__ void updated_dependent(unsigned value, struct shared *s)
{
    *(volatile unsigned *)&s->alive = 1;
    s->value_seen = value;
    pdl_wait();
}

/* A graph of the primary and its updatable dependent; the dependent's handle goes to *node, which the primary reads. */
static cudaError_t capture_update(struct update_args *a, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    unsigned old = ~a->value;
    void *first[] = { a }, *second[] = { &old, &a->s };
    cudaGraph_t graph;

    attrs[0] = overlapping();
    attrs[1].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    attrs[1].val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    TRY(launch((const void *)updating_primary, a->how == UPDATE_FENCED || a->how == UPDATE_UNFENCED ? 1 : CROWD_THREADS, first, stream,
               NULL, 0));
    TRY(launch((const void *)updated_dependent, 1, second, stream, attrs, 2));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(exec, graph, 0));
    TRY(cudaGraphUpload(*exec, stream));
    TRY(cudaMemcpyAsync((void *)a->node, &attrs[1].val.deviceUpdatableKernelNode.devNode, sizeof(*a->node), cudaMemcpyHostToDevice,
                        stream));
    TRY(cudaStreamSynchronize(stream));
    return cudaGraphDestroy(graph);
}

/* Each graph is launched once: the value that a node keeps afterwards would hide a missed update. */
static cudaError_t update_once(const struct setup *setup, struct update_args *a, cudaStream_t stream, struct counts *c)
{
    struct shared host;
    cudaGraphExec_t exec;

    TRY(empty(a->s, c->trials, stream));
    TRY(capture_update(a, stream, &exec));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(fetch(setup, a->s, &host, stream, c));
    c->wrong += host.value_seen != a->value;
    return cudaGraphExecDestroy(exec);
}

cudaError_t ask_updates(struct shared *s, unsigned trials, cudaStream_t stream)
{
    struct update_args a = PDL_ZERO;
    cudaGraphDeviceNode_t *node;
    unsigned i;

    a.s = s;
    TRY(cudaMalloc((void **)&a.crowd, CROWD_WORDS * sizeof(*a.crowd)));
    TRY(cudaMalloc((void **)&node, sizeof(*node)));
    a.node = node;
    for (a.how = UPDATE_FENCED; a.how <= UPDATE_LATE; a.how++) {
        struct setup setup = { "update", "TRIG-12", "old_value", "" };
        struct counts c = PDL_ZERO;

        if (!is_due())
            continue;
        snprintf(setup.text, sizeof(setup.text), "%s", update_names[a.how]);
        for (i = 0; i < trials; i++) {
            a.value = 0x5EED0000u + i;
            TRY(update_once(&setup, &a, stream, &c));
        }
        tell(&setup, &c, 0);
    }
    TRY(cudaFree(node));
    return cudaFree(a.crowd);
}
#else
cudaError_t ask_updates(struct shared *s, unsigned trials, cudaStream_t stream)
{
    (void)s, (void)trials, (void)stream;
    return cudaSuccess;
}
#endif
