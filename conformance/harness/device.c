/* device.c - opens the device under test. Everything that allocates happens here, once per process. */
#include "device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch_kernels.h"
#include "check_words.h"
#include "oracle.h"

#define CREW 8                   /* threads that a GPU does not outrun */

static int attribute(int *value, enum cudaDeviceAttr name, int ordinal, struct fault *fault)
{
    FAULT_TRY(fault, cudaDeviceGetAttribute(value, name, ordinal));
    return 1;
}

static int fill_size(struct device *device, int ordinal, struct fault *fault)
{
    int sms, warp, max_threads, slots, threads, shared_sm, shared_block;

    if (!attribute(&sms, cudaDevAttrMultiProcessorCount, ordinal, fault) ||
        !attribute(&warp, cudaDevAttrWarpSize, ordinal, fault) ||
        !attribute(&max_threads, cudaDevAttrMaxThreadsPerBlock, ordinal, fault) ||
        !attribute(&slots, cudaDevAttrMaxBlocksPerMultiprocessor, ordinal, fault) ||
        !attribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, ordinal, fault) ||
        !attribute(&shared_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal, fault) ||
        !attribute(&shared_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal, fault))
        return 0;
    plan_size_fill(&device->size, (unsigned)sms, device->is_model);
    device->size.warp = (unsigned)warp;
    device->size.max_threads = (unsigned)max_threads;
    device->size.slots_per_sm = (unsigned)slots;
    device->size.threads_per_sm = (unsigned)threads;
    device->size.shared_per_sm = (size_t)shared_sm;
    device->size.shared_per_block = (size_t)shared_block;
    return 1;
}

int device_describe(struct device *device, int ordinal, struct fault *fault)
{
    static struct cudaDeviceProp properties;

    device->ordinal = ordinal;
    device->toolkit_version = CUDART_VERSION;
    FAULT_TRY(fault, cudaGetDeviceProperties(&properties, ordinal));
    FAULT_TRY(fault, cudaDriverGetVersion(&device->driver_version));
    FAULT_TRY(fault, cudaRuntimeGetVersion(&device->runtime_version));
    device->cc = properties.major * 10 + properties.minor;
    snprintf(device->name, sizeof(device->name), "%s", properties.name);
    snprintf(device->uuid_hash, sizeof(device->uuid_hash), "%016llx",
             (unsigned long long)oracle_hash(properties.uuid.bytes, sizeof(properties.uuid.bytes)));
    return fill_size(device, ordinal, fault);
}

/* Every slot may be as long as the longest ordinary one, and one in sixteen may be a big one. */
static void fill_capacity(struct device *device)
{
    const struct device_size *size = &device->size;
    size_t fill_blocks = (size_t)size->sms * size->slots_per_sm * 2;

    device->words_capacity = (size_t)PLAN_MAX_SLOTS * size->words_max + (size_t)(PLAN_MAX_SLOTS / 16) * size->words_big;
    device->blocks_capacity = (size_t)PLAN_MAX_SLOTS * (3 * size->sms + 2 * fill_blocks);
}

static int open_buffers(struct device *device, struct buffers *b, struct fault *fault)
{
    size_t words = device->words_capacity * sizeof(uint32_t), blocks = device->blocks_capacity * sizeof(uint32_t);
    uint32_t *host;

    FAULT_TRY(fault, cudaHostAlloc((void **)&b->plan_host, BATCH_PLANS * sizeof(struct trial_plan), cudaHostAllocDefault));
    FAULT_TRY(fault, cudaHostAlloc((void **)&b->state_host, PLAN_MAX_SLOTS * sizeof(struct trial_state), cudaHostAllocDefault));
    FAULT_TRY(fault, cudaHostAlloc((void **)&b->seen_host, words, cudaHostAllocDefault));
    FAULT_TRY(fault, cudaHostAlloc((void **)&host, words, cudaHostAllocMapped));
    FAULT_TRY(fault, cudaHostGetDevicePointer((void **)&b->host_data, host, 0));
    FAULT_TRY(fault, cudaHostAlloc((void **)&b->sm_host, blocks, cudaHostAllocDefault));
    FAULT_TRY(fault, cudaMalloc((void **)&b->plan, BATCH_PLANS * sizeof(struct trial_plan)));
    FAULT_TRY(fault, cudaMalloc((void **)&b->state, PLAN_MAX_SLOTS * sizeof(struct trial_state)));
    FAULT_TRY(fault, cudaMalloc((void **)&b->data, words));
    FAULT_TRY(fault, cudaMalloc((void **)&b->seen, words));
    FAULT_TRY(fault, cudaMalloc((void **)&b->input, words));
    FAULT_TRY(fault, cudaMalloc((void **)&b->sm, blocks));
    FAULT_TRY(fault, cudaHostAlloc((void **)&b->gate_late_host, sizeof(uint32_t), cudaHostAllocMapped));
    FAULT_TRY(fault, cudaHostGetDevicePointer((void **)&b->gate_late, b->gate_late_host, 0));
    *b->gate_late_host = 0;
    FAULT_TRY(fault, cudaEventCreateWithFlags(&b->done, cudaEventDisableTiming));
    return 1;
}

/* The model is slower than one thread. */
static int open_crew(struct device *device, struct fault *fault)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = device->is_model || processors < 2 ? 1 : processors < CREW ? (unsigned)processors : CREW;

    device->crew = crew_open(threads);
    device->word_check = word_check_open(device->size.words_big, threads);
    FAULT_TRY(fault, device->crew && device->word_check ? cudaSuccess : cudaErrorMemoryAllocation);
    return 1;
}

/* What may stand between the kernels of a pair. */
static int open_between(struct device *device, struct fault *fault)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    unsigned i;

    FAULT_TRY(fault, cudaEventCreateWithFlags(&device->timed, cudaEventDefault));
    FAULT_TRY(fault, cudaEventCreateWithFlags(&device->old, cudaEventDisableTiming));
    FAULT_TRY(fault, cudaEventRecord(device->old, device->side));
    FAULT_TRY(fault, cudaGraphCreate(&graph, 0));
    for (i = 0; i < 2; i++) {
        FAULT_TRY(fault, cudaGraphInstantiate(&device->nothing[i], graph, 0));
        FAULT_TRY(fault, cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    }
    FAULT_TRY(fault, cudaGraphDestroy(graph));
    return 1;
}

static int open_lane(struct lane *lane, struct fault *fault)
{
    FAULT_TRY(fault, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    FAULT_TRY(fault, cudaStreamCreateWithFlags(&lane->side, cudaStreamNonBlocking));
    FAULT_TRY(fault, cudaEventCreateWithFlags(&lane->fork, cudaEventDisableTiming));
    FAULT_TRY(fault, cudaEventCreateWithFlags(&lane->join, cudaEventDisableTiming));
    return 1;
}

static int open_streams(struct device *device, struct fault *fault)
{
    int least;

    for (; !device->is_model && device->lanes < DEVICE_LANES; device->lanes++)
        if (!open_lane(&device->lane[device->lanes], fault))
            return 0;
    FAULT_TRY(fault, cudaDeviceGetStreamPriorityRange(&least, &device->high_priority));
    FAULT_TRY(fault, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
    FAULT_TRY(fault, cudaStreamCreateWithFlags(&device->side, cudaStreamNonBlocking));
    FAULT_TRY(fault, cudaEventCreateWithFlags(&device->fork, cudaEventDisableTiming));
    FAULT_TRY(fault, cudaEventCreateWithFlags(&device->join, cudaEventDisableTiming));
    FAULT_TRY(fault, cudaHostAlloc((void **)&device->gate_flag_host, sizeof(uint32_t), cudaHostAllocMapped));
    FAULT_TRY(fault, cudaHostGetDevicePointer((void **)&device->gate_flag, device->gate_flag_host, 0));
    *device->gate_flag_host = 0;
    return 1;
}

/* Readings are compared across SMs: how far they may be off is a matter of the clock's step, which differs between GPUs. */
int device_measure(struct device *device, struct fault *fault)
{
    struct trial_state state;
    struct kernel_args args = PDL_ZERO;
    pdl_kernel kernel;
    void *params[1];
    dim3 one;

    if (device->is_model)
        return 1;
    one.x = one.y = one.z = 1;
    params[0] = &args;
    args.state = device->buffers[0].state;
    FAULT_TRY(fault, pdl_kernel_init(&kernel, batch_tick_kernel));
    FAULT_TRY(fault, pdl_launch(&kernel, one, one, params, 0, device->stream, NULL));
    FAULT_TRY(fault, cudaStreamSynchronize(device->stream));
    FAULT_TRY(fault, cudaMemcpy(&state, args.state, sizeof(state), cudaMemcpyDeviceToHost));
    if (state.target_ns > 1000000) {
        fault->error = cudaErrorNotSupported;
        fault->call = "%globaltimer, which does not tick";
        return 0;
    }
    device->size.tick_ns = (unsigned)state.target_ns;
    return 1;
}

int device_open(struct device *device, int ordinal, int is_model, struct fault *fault)
{
    memset(device, 0, sizeof(*device));
    device->is_model = is_model;
    FAULT_TRY(fault, cudaSetDevice(ordinal));
    if (!device_describe(device, ordinal, fault))
        return 0;
    fill_capacity(device);
    FAULT_TRY(fault, pdl_kernel_init(&device->poison, batch_poison_kernel));
    FAULT_TRY(fault, pdl_kernel_init(&device->gate, batch_gate_kernel));
    return open_streams(device, fault) && open_between(device, fault) && open_buffers(device, &device->buffers[0], fault) &&
           open_buffers(device, &device->buffers[1], fault) && open_crew(device, fault);
}

/* The process ends right after; only what would keep a device busy is released. */
void device_close(struct device *device)
{
    if (device->stream)
        (void)cudaStreamDestroy(device->stream);
    if (device->side)
        (void)cudaStreamDestroy(device->side);
}
