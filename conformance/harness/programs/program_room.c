/* program_room.c - what all programs of one question share: memory, streams and events, and what they may ask of the device. */
#include "program.h"

#include <string.h>

#include "../cleared.h"
#include "try.h"

#define PLACE_BYTES ((3 + PROGRAM_COPIES) * PROGRAM_STEPS * STEP_BYTES)
#define POOLED_AT 32u          /* bytes: there the words of a step lie in two lines */

/* The words of every other program lie in memory of a pool, if the device has one. */
static cudaError_t open_pooled(struct program_room *room)
{
    int device, pools;

    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device));
    if (!pools)
        return cudaSuccess;
    TRY(cudaMallocAsync(&room->pooled, POOLED_AT + PLACE_BYTES, room->stream));
    TRY(cudaStreamSynchronize(room->stream));
    room->place[1] = (uint32_t *)(void *)((char *)room->pooled + POOLED_AT);
    return clear_memory(room->pooled, POOLED_AT + PLACE_BYTES);
}

void program_use_place(struct program_room *room, unsigned number)
{
    room->data = room->place[number % 2 && room->pooled ? 1 : 0];
    room->seen = room->data + 2 * PROGRAM_STEPS * PROGRAM_WORDS;
    room->kept = room->seen + PROGRAM_COPIES * PROGRAM_STEPS * PROGRAM_WORDS;
}

static cudaError_t open_memory(struct program_room *room)
{
    size_t plans = 2 * PROGRAM_STEPS * sizeof(struct step_plan), words = PLACE_BYTES;
    size_t began = 2 * PROGRAM_BEGAN * 4, ahead = 2 * AHEAD_WORDS * 4, ahead_plans = sizeof(room->staging->ahead);
    size_t all = plans + ahead_plans + words + began + ahead + sizeof(struct trial_state);
    char *memory;

    TRY(cudaHostAlloc((void **)&room->staging, sizeof(*room->staging), cudaHostAllocMapped));
    memset(room->staging, 0, sizeof(*room->staging));
    TRY(cudaHostGetDevicePointer((void **)&room->mapped, room->staging, 0));
    TRY(cleared_alloc((void **)&memory, all));
    room->plan = (struct step_plan *)(void *)memory;
    room->ahead_plan = (struct step_plan *)(void *)(memory + plans);
    memory += plans + ahead_plans;
    room->place[0] = (uint32_t *)(void *)memory;
    room->began = (uint32_t *)(void *)(memory + words);
    room->ahead = (uint32_t *)(void *)(memory + words + began);
    room->state = (struct trial_state *)(void *)(memory + words + began + ahead);
    TRY(open_pooled(room));
    program_use_place(room, 0);
    return cudaSuccess;
}

/* Where events for other processes cannot be had, without that flag. */
static cudaError_t open_events(struct program_room *room)
{
    static const unsigned flags[] = { cudaEventDefault, cudaEventBlockingSync | cudaEventDisableTiming, cudaEventInterprocess | cudaEventDisableTiming };
    unsigned i;

    for (i = 0; i < PROGRAM_OTHER_EVENTS; i++)
        if ((flags[i % 3] ? cudaEventCreateWithFlags(&room->other_event[i], flags[i % 3]) : cudaEventCreate(&room->other_event[i])) != cudaSuccess) {
            (void)cudaGetLastError();
            TRY(cudaEventCreateWithFlags(&room->other_event[i], cudaEventDisableTiming));
        }
    TRY(cudaEventCreateWithFlags(&room->prepared, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room->never, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room->passed, cudaEventDisableTiming));
    TRY(cudaEventCreateWithFlags(&room->captured, cudaEventDisableTiming));
    TRY(cudaEventRecord(room->passed, room->stream));
    return cudaStreamSynchronize(room->stream);
}

static cudaError_t open_streams(struct program_room *room)
{
    int least, priority, domains = 0, current = 0;
    unsigned i, flags;

    TRY(cudaDeviceGetStreamPriorityRange(&least, &room->high_priority));
    TRY(cudaGetDevice(&current));
    if (cudaDeviceGetAttribute(&domains, cudaDevAttrMemSyncDomainCount, current) == cudaSuccess && domains > 1)
        room->domains = (unsigned)domains;
    TRY(cudaStreamCreate(&room->blocking)); /* what becomes of a stream is nothing to those that are made after it */
    TRY(cudaStreamDestroy(room->blocking));
    TRY(cudaStreamCreateWithFlags(&room->blocking, cudaStreamDefault));
    TRY(cudaStreamCreateWithFlags(&room->relay, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithPriority(&room->urgent, cudaStreamNonBlocking, room->high_priority));
    TRY(cudaStreamGetPriority(room->urgent, &priority));
    TRY(cudaStreamGetFlags(room->urgent, &flags));
    if (priority != room->high_priority || flags != cudaStreamNonBlocking)
        return cudaErrorUnknown;
    TRY(cudaStreamCreateWithFlags(&room->apart, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithFlags(&room->observer, cudaStreamNonBlocking));
    TRY(open_events(room));
    for (i = 0; i < PROGRAM_LINKS; i++)
        TRY(cudaEventCreateWithFlags(&room->event[i], cudaEventDisableTiming));
    for (i = 0; i < SPARE_EVENTS; i++)
        TRY(cudaEventCreateWithFlags(&room->spare_event[i], cudaEventDisableTiming));
    for (i = 0; i < 2 * PROGRAM_STEPS; i++)
        TRY(cudaEventCreateWithFlags(&room->node_event[i], cudaEventDisableTiming));
    return cudaSuccess;
}

/* Devices of few SMs, and parts of devices, have room for fewer blocks in a cluster. */
static unsigned largest_cluster(const struct program_room *room)
{
    cudaLaunchAttribute attribute = { 0 };
    cudaLaunchConfig_t config = { 0 };
    unsigned blocks;
    int fit;

    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
    config.blockDim.x = room->size.threads;
    config.dynamicSmemBytes = room->size.shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (blocks = 8; blocks > 1; blocks /= 2) {
        config.gridDim.x = attribute.val.clusterDim.x = blocks;
        if (cudaOccupancyMaxActiveClusters(&fit, room->kernel[0], &config) == cudaSuccess && fit > 0)
            break;
        (void)cudaGetLastError();
    }
    return blocks;
}

/* What programs may ask of this device and this kernel. */
static cudaError_t measure(struct program_room *room)
{
    int device, sms, shared, threads, fit, version, mps = 0, i;

    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device));
    for (i = 0; i < (int)PROGRAM_KERNELS; i++)
        TRY(cudaFuncSetAttribute(room->kernel[i], cudaFuncAttributeMaxDynamicSharedMemorySize, shared - 1024));
    room->size.threads = threads > 256 ? 256 : (unsigned)threads;
    room->size.shared_bytes = (unsigned)shared - 1024;
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, room->kernel[0], (int)room->size.threads, 0));
    TRY(cudaDriverGetVersion(&version));
    if (cudaDeviceGetAttribute(&mps, cudaDevAttrMpsEnabled, device) != cudaSuccess)
        (void)cudaGetLastError();
    room->size.cooperative_bodies = !mps; /* "Cooperative launches are permitted so long as MPS is not in use" */
    room->size.bodies = CUDART_VERSION >= 12040 && version >= 12040;
    room->size.other_bodies = version >= 12080;
    room->size.moves = version >= 12090;
    room->size.batches = CUDART_VERSION >= 12080 && version >= 12080;
    room->size.carveouts = CUDART_VERSION >= 12050 && version >= 12050;
    room->size.blocks = (unsigned)sms;
    room->size.many_blocks = (unsigned)(sms * fit);
    room->size.most_blocks = sms < 16 ? 0 : 66000; /* the model has time for fewer */
    room->size.hold_ns = 2000;
    room->size.clusters = largest_cluster(room);
    return cudaSuccess;
}

static void close_events(cudaEvent_t *events, unsigned count)
{
    while (count--)
        if (events[count])
            (void)cudaEventDestroy(events[count]);
}

void program_close_room(struct program_room *room)
{
    cudaStream_t streams[] = { room->apart, room->observer, room->blocking, room->urgent, room->relay };
    unsigned i;

    close_events(&room->prepared, 1);
    close_events(&room->never, 1);
    close_events(&room->passed, 1);
    close_events(&room->captured, 1);
    close_events(room->other_event, PROGRAM_OTHER_EVENTS);
    close_events(room->event, PROGRAM_LINKS);
    close_events(room->spare_event, SPARE_EVENTS);
    close_events(room->node_event, 2 * PROGRAM_STEPS);
    for (i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        if (streams[i])
            (void)cudaStreamDestroy(streams[i]);
    (void)cudaFree(room->pooled);
    (void)cudaFree(room->plan);
    (void)cudaFreeHost(room->staging);
}

cudaError_t program_open_room(struct program_room *room)
{
    unsigned i;

    for (i = 0; i < PROGRAM_MOST_ARGS; i++)
        room->args.more[i] = program_argument(i);
    TRY(open_memory(room));
    TRY(open_streams(room));
    TRY(program_open_driver(room));
    return measure(room);
}
