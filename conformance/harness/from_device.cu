/* from_device.cu - what the device itself launches or updates: relocatable device code, so it stands beside the harness.
 *
 *     pdl-from-device [TRIALS]        one JSON line per question; 0 done, 69 no such device, 70 a CUDA call failed
 *
 * update    TRIG-12  the primary updates its dependent's node, fences and triggers: which value does the dependent get?
 * unfenced  TRIG-12  the same without the fence: a control that promises nothing
 * children  COMP-10  the primary launches a child that stores late, and triggers: does the dependent's wait cover the child?
 * inner     WAIT-12  a child waits: does its wait return?
 *
 * overlapped: trials in which the dependent ran while the primary was held; the others show nothing. Every spin is bounded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pdl.h"
#include "pdl_device.cuh"

#define EXIT_SETUP 69
#define EXIT_FAILED 70
#define BOUND_NS 50000u
#define HOLD_NS 5000u
#define WORDS 256u

struct shared {                  /* device memory of one trial */
    unsigned alive, met, returned, value_seen;
    unsigned token[WORDS], seen[WORDS];
};

#define TRY(call)                                                                                      \
    do {                                                                                               \
        cudaError_t try_error_ = (call);                                                               \
        if (try_error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "pdl-from-device: %s: %s\n", #call, cudaGetErrorName(try_error_));         \
            return try_error_;                                                                         \
        }                                                                                              \
    } while (0)

/* ---- device ---- */

__device__ static unsigned long long now(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
    return ns;
}

__device__ static void hold(unsigned ns)
{
    unsigned long long begin = now();
    while (now() - begin < ns)
        ;
}

/* Until the dependent runs, or the bound. */
__device__ static void meet(struct shared *s)
{
    unsigned long long begin = now();
    while (now() - begin < BOUND_NS)
        if (*(volatile unsigned *)&s->alive) {
            s->met = 1;
            break;
        }
}

#if CUDART_VERSION >= 12040 /* nodes that the device may update */
__global__ void updating_primary(struct shared *s, const cudaGraphDeviceNode_t *node, unsigned value, int fenced)
{
    (void)cudaGraphKernelNodeSetParam(*node, 0, &value, sizeof(value));
    if (fenced)
        __threadfence();
    pdl_trigger();
    meet(s);
}

__global__ void updated_dependent(unsigned value, struct shared *s)
{
    *(volatile unsigned *)&s->alive = 1;
    s->value_seen = value;
    pdl_wait();
}
#endif

__global__ void late_child(struct shared *s, unsigned key)
{
    hold(HOLD_NS);
    s->token[threadIdx.x] = key ^ threadIdx.x;
}

__global__ void parent(struct shared *s, unsigned key)
{
    if (threadIdx.x == 0) {
        pdl_trigger();
        meet(s);
        late_child<<<1, WORDS>>>(s, key);
    }
}

__global__ void reader(struct shared *s)
{
    if (threadIdx.x == 0)
        *(volatile unsigned *)&s->alive = 1;
    pdl_wait();
    s->seen[threadIdx.x] = *(volatile unsigned *)&s->token[threadIdx.x];
}

__global__ void waiting_child(struct shared *s)
{
    pdl_wait();
    s->returned = 1;
}

__global__ void waiting_parent(struct shared *s) { waiting_child<<<1, 1>>>(s); }

/* ---- host ---- */

struct counts {
    unsigned trials, overlapped, wrong;
};

static void tell(const char *question, const char *rule, const struct counts *c, const char *wrong)
{
    printf("{\"question\": \"%s\", \"rule\": \"%s\", \"trials\": %u, \"overlapped\": %u, \"%s\": %u}\n", question, rule, c->trials,
           c->overlapped, wrong, c->wrong);
    fflush(stdout);
}

static cudaError_t launch(const void *function, unsigned threads, void **params, cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = dim3(1);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = attrs;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, function, params);
}

static cudaLaunchAttribute overlapping(void)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

#if CUDART_VERSION >= 12040
/* A graph of the primary and its updatable dependent; the dependent's handle goes to *node, which the primary reads. */
static cudaError_t capture_update(struct shared *s, cudaGraphDeviceNode_t *node, unsigned value, int fenced, cudaStream_t stream,
                                  cudaGraphExec_t *exec)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    unsigned old = ~value;
    void *first[] = { &s, &node, &value, &fenced }, *second[] = { &old, &s };
    cudaGraph_t graph;

    attrs[0] = overlapping();
    attrs[1].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    attrs[1].val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    TRY(launch((const void *)updating_primary, 1, first, stream, NULL, 0));
    TRY(launch((const void *)updated_dependent, 1, second, stream, attrs, 2));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(exec, graph, 0));
    TRY(cudaGraphUpload(*exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(node, &attrs[1].val.deviceUpdatableKernelNode.devNode, sizeof(*node), cudaMemcpyHostToDevice));
    return cudaGraphDestroy(graph);
}

/* A graph of such nodes is launched once: the value it then keeps would hide a missed update. */
static cudaError_t update_once(struct shared *s, cudaGraphDeviceNode_t *node, unsigned trial, int fenced, cudaStream_t stream,
                               struct counts *c)
{
    unsigned value = 0x5EED0000u + trial;
    struct shared host;
    cudaGraphExec_t exec;

    TRY(cudaMemset(s, 0, sizeof(*s)));
    TRY(capture_update(s, node, value, fenced, stream, &exec));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(&host, s, sizeof(host), cudaMemcpyDeviceToHost));
    TRY(cudaGraphExecDestroy(exec));
    c->trials++;
    c->overlapped += host.met;
    c->wrong += host.value_seen != value;
    return cudaSuccess;
}

static cudaError_t ask_update(unsigned trials, int fenced, cudaStream_t stream)
{
    struct shared *s;
    cudaGraphDeviceNode_t *node;
    struct counts c = { 0, 0, 0 };
    unsigned i;

    TRY(cudaMalloc((void **)&s, sizeof(*s)));
    TRY(cudaMalloc((void **)&node, sizeof(*node)));
    for (i = 0; i < trials; i++)
        TRY(update_once(s, node, i, fenced, stream, &c));
    tell(fenced ? "update" : "unfenced", "TRIG-12", &c, "old_value");
    TRY(cudaFree(node));
    return cudaFree(s);
}
#endif

static cudaError_t ask_children(unsigned trials, cudaStream_t stream)
{
    struct shared *s, host;
    cudaLaunchAttribute attribute = overlapping();
    struct counts c = { 0, 0, 0 };
    unsigned i, word, key, stale;
    void *first[] = { &s, &key }, *second[] = { &s };

    TRY(cudaMalloc((void **)&s, sizeof(*s)));
    for (i = 0; i < trials; i++) {
        key = 0xABCD0000u + i * WORDS;
        TRY(cudaMemset(s, 0, sizeof(*s)));
        TRY(launch((const void *)parent, 32, first, stream, NULL, 0));
        TRY(launch((const void *)reader, WORDS, second, stream, &attribute, 1));
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaMemcpy(&host, s, sizeof(host), cudaMemcpyDeviceToHost));
        for (word = stale = 0; word < WORDS; word++)
            stale += host.seen[word] != (key ^ word);
        c.trials++;
        c.overlapped += host.met;
        c.wrong += stale != 0;
    }
    tell("children", "COMP-10", &c, "stale");
    return cudaFree(s);
}

static cudaError_t ask_inner(unsigned trials, cudaStream_t stream)
{
    struct shared *s, host;
    struct counts c = { 0, 0, 0 };
    void *params[] = { &s };
    unsigned i;

    TRY(cudaMalloc((void **)&s, sizeof(*s)));
    for (i = 0; i < trials; i++) {
        TRY(cudaMemset(s, 0, sizeof(*s)));
        TRY(launch((const void *)waiting_parent, 1, params, stream, NULL, 0));
        TRY(cudaStreamSynchronize(stream));
        TRY(cudaMemcpy(&host, s, sizeof(host), cudaMemcpyDeviceToHost));
        c.trials++;
        c.wrong += !host.returned;
    }
    tell("inner", "WAIT-12", &c, "not_returned");
    return cudaFree(s);
}

int main(int argc, char **argv)
{
    unsigned trials = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200;
    cudaStream_t stream;
    int failed;

    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        fprintf(stderr, "pdl-from-device: there is no CUDA device that can be used\n");
        return EXIT_SETUP;
    }
    failed = ask_children(trials, stream) != cudaSuccess || ask_inner(trials, stream) != cudaSuccess;
#if CUDART_VERSION >= 12040
    failed = failed || ask_update(trials, 1, stream) != cudaSuccess || ask_update(trials, 0, stream) != cudaSuccess;
#endif
    return failed ? EXIT_FAILED : 0;
}
