/* host_room.h - pairs of one block that host code launches by itself and looks at in pinned memory: for cases of kind api. */
#ifndef HOST_ROOM_H_INCLUDED
#define HOST_ROOM_H_INCLUDED

#include <time.h>

#include "launch_attributes.h"
#include "one_block.h"
#include "other_thread.h"
#include "pair.h"
#include "visibility.h"

#define ASK_TRIALS 200u
#define ASK_WORDS 64u
#define QUEUED_HOLD_NS 4000000u /* so long a slow kernel runs, while the host queues items after it */

/* For kernels with long arguments, and for those of kernel_args, which take the first ones only. */
struct long_args {
    struct kernel_args args;
    uint32_t more[500];
};

/* ---- the kernels' bodies; data, plan and state lie in pinned host memory ---- */

/* Triggers, waits, bounded, until the kernel after it runs, holds and stores the first half of the words. */
DEVICE_FN void slow_stores(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    if (k_thread() == 0) {
        k_trigger();
        if (k_poll(args->state, &args->state->alive, 1, plan.bound_ns))
            k_store_relaxed(&args->state->witnessed, 1);
        k_delay(args->state, plan.hold_ns);
    }
    k_barrier();
    k_store(args->data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Copies the first half of the words to the second; after its wait, or without one. */
DEVICE_FN void reader_copies(const struct kernel_args *args, uint32_t waits)
{
    if (k_thread() == 0)
        k_store_relaxed(&args->state->alive, 1);
    if (waits)
        k_wait_device();
    k_store(args->data + ASK_WORDS / 2 + k_thread(), k_load(args->data + k_thread()));
}

/* Copies plan.words words to `seen`, as it finds them; after its wait, or without one. */
DEVICE_FN void follower_copies(const struct kernel_args *args, uint32_t waits)
{
    struct trial_plan plan = k_plan(args);
    uint32_t i;

    if (k_thread() == 0)
        k_store_relaxed(&args->state->alive, 1);
    if (waits)
        k_wait_device();
    for (i = k_thread(); i < plan.words; i += k_threads())
        k_store(args->seen + i, k_load(args->data + i));
}

/* The step of the clock that the kernels read, in target_ns. */
DEVICE_FN void tells_tick(const struct kernel_args *args)
{
    uint64_t begin = k_now(), first, next;

    k_delay_until(args->state, begin + 1);
    first = k_now();
    k_delay_until(args->state, first + 1);
    next = k_now();
    k_store64_relaxed(&args->state->target_ns, next - first);
}

/* ---- host ---- */

static inline void host_pauses(uint32_t ns)
{
    struct timespec pause = { 0, 0 };

    pause.tv_nsec = (long)ns;
    (void)nanosleep(&pause, NULL);
}

static inline cudaLaunchConfig_t sized_config(unsigned blocks, unsigned threads, size_t shared_bytes, cudaStream_t stream,
                                               cudaLaunchAttribute *attrs, unsigned count)
{
    cudaLaunchConfig_t config = one_block(threads, stream);

    config.gridDim.x = blocks;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = attrs;
    config.numAttrs = count;
    return config;
}

/* Parts of devices may be too small for the largest clusters. */
static inline int clusters_fit(const void *function, unsigned blocks, unsigned threads)
{
    cudaLaunchAttribute attribute = in_clusters(blocks);
    cudaLaunchConfig_t config = sized_config(blocks, threads, 0, NULL, &attribute, 1);
    int fit = 0;

    if (cudaOccupancyMaxActiveClusters(&fit, function, &config) != cudaSuccess)
        (void)cudaGetLastError();
    return fit > 0;
}

static inline int clusters_of_eight_fit(const void *function, unsigned threads) { return clusters_fit(function, 8, threads); }

/* Clusters of more than eight blocks, of which not every device has any, have to be allowed. */
static inline int clusters_of_sixteen_fit(const void *function, unsigned threads)
{
    if (cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return clusters_fit(function, 16, threads);
}

/* args: what the kernel's only parameter is, of any length. */
static inline cudaError_t launch_given(const void *function, void *args, unsigned blocks, unsigned threads, size_t shared_bytes, cudaStream_t stream,
                                      cudaLaunchAttribute *attrs, unsigned count)
{
    cudaLaunchConfig_t config = sized_config(blocks, threads, shared_bytes, stream, attrs, count);

    return cudaLaunchKernelExC(&config, function, &args);
}

/* With so many bytes of dynamic shared memory per block. */
static inline cudaError_t launch_sized(const void *function, const struct kernel_args *args, unsigned blocks, unsigned threads,
                                       size_t shared_bytes, cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    struct kernel_args copy = *args;

    return launch_given(function, &copy, blocks, threads, shared_bytes, stream, attrs, count);
}

/* A kernel that takes long arguments, or the first ones only. */
static inline cudaError_t launch_with_long_args(const void *function, const struct kernel_args *args, unsigned blocks, unsigned threads,
                                                size_t shared_bytes, cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    struct long_args copy = PDL_ZERO;

    copy.args = *args;
    return launch_given(function, &copy, blocks, threads, shared_bytes, stream, attrs, count);
}

static inline cudaError_t launch_blocks(const void *function, const struct kernel_args *args, unsigned blocks, unsigned threads,
                                        cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    return launch_sized(function, args, blocks, threads, 0, stream, attrs, count);
}

/* One block; `threads` of it. */
static inline cudaError_t launch_one(const void *function, const struct kernel_args *args, unsigned threads, cudaStream_t stream,
                                     cudaLaunchAttribute *attrs, unsigned count)
{
    return launch_blocks(function, args, 1, threads, stream, attrs, count);
}

/* How a launch may be made beside attribute 6, of one block or of a few that do the same: what it waits for and is given stays the same. */
enum manner { MANNER_PLAIN, MANNER_COOPERATIVE, MANNER_CLUSTER, MANNER_URGENT, MANNER_DOMAIN, MANNER_LAYERS, MANNER_SHARED, MANNER_ROWS,
              MANNERS };

static inline cudaError_t manner_attribute(enum manner manner, cudaLaunchAttribute *attribute, unsigned *count)
{
    int least = 0, greatest = 0;
    cudaError_t error = manner == MANNER_URGENT ? cudaDeviceGetStreamPriorityRange(&least, &greatest) : cudaSuccess;

    if (manner == MANNER_PLAIN || manner >= MANNER_LAYERS)
        return error;
    *attribute = manner == MANNER_COOPERATIVE ? cooperatively() : manner == MANNER_CLUSTER ? in_clusters(2)
               : manner == MANNER_URGENT ? of_priority(greatest) : in_remote_domain();
    ++*count;
    return error;
}

/* attrs: room for one more. */
static inline cudaError_t add_manner(cudaLaunchConfig_t *config, cudaLaunchAttribute *attrs, enum manner manner)
{
    config->gridDim.x = manner == MANNER_CLUSTER ? 2 : config->gridDim.x;
    config->gridDim.y = manner == MANNER_ROWS ? 2 : config->gridDim.y;
    config->gridDim.z = manner == MANNER_LAYERS ? 2 : config->gridDim.z;
    config->dynamicSmemBytes = manner == MANNER_SHARED ? 4096 : config->dynamicSmemBytes;
    return manner_attribute(manner, &attrs[config->numAttrs], &config->numAttrs);
}

/* In two manners at once, or twice the same. attrs: room for three. */
static inline cudaError_t config_in_manners(cudaLaunchConfig_t *config, cudaLaunchAttribute *attrs, unsigned threads, cudaStream_t stream,
                                            enum manner manner, enum manner other, int overlaps)
{
    cudaError_t error;

    *config = one_block(threads, stream);
    attrs[0] = serialization(1);
    config->attrs = attrs;
    config->numAttrs = overlaps ? 1 : 0;
    error = add_manner(config, attrs, manner);
    return error == cudaSuccess && other != manner ? add_manner(config, attrs, other) : error;
}

/* args: what the kernel's only parameter is. */
static inline cudaError_t launch_in_manners(const void *function, void *args, unsigned threads, cudaStream_t stream, enum manner manner,
                                            enum manner other, int overlaps)
{
    cudaLaunchAttribute attrs[3];
    cudaLaunchConfig_t config;
    cudaError_t error = config_in_manners(&config, attrs, threads, stream, manner, other, overlaps);

    return error == cudaSuccess ? cudaLaunchKernelExC(&config, function, &args) : error;
}

static inline cudaError_t launch_in_manner(const void *function, void *args, unsigned threads, cudaStream_t stream, enum manner manner, int overlaps)
{
    return launch_in_manners(function, args, threads, stream, manner, manner, overlaps);
}

struct made_event {
    cudaEvent_t event;
    unsigned flags;
    cudaError_t error;
};

static inline void make_event_there(void *of)
{
    struct made_event *made = (struct made_event *)of;

    made->error = cudaEventCreateWithFlags(&made->event, made->flags);
}

/* An event that another host thread makes; this one, if none can be had. */
static inline cudaError_t event_of_other(unsigned flags, cudaEvent_t *event)
{
    struct made_event made = { NULL, flags, cudaErrorUnknown };

    if (!run_in_thread(make_event_there, &made))
        make_event_there(&made);
    *event = made.event;
    return made.error;
}

struct made_stream {
    cudaStream_t stream;
    unsigned flags;
    cudaError_t error;
};

static inline void make_stream_there(void *of)
{
    struct made_stream *made = (struct made_stream *)of;

    made->error = cudaStreamCreateWithFlags(&made->stream, made->flags);
}

/* A stream that another host thread makes; this one, if none can be had. */
static inline cudaError_t stream_of_other(unsigned flags, cudaStream_t *stream)
{
    struct made_stream made = { NULL, flags, cudaErrorUnknown };

    if (!run_in_thread(make_stream_there, &made))
        make_stream_there(&made);
    *stream = made.stream;
    return made.error;
}

static inline void destroy_stream_there(void *of)
{
    struct made_stream *made = (struct made_stream *)of;

    made->error = cudaStreamDestroy(made->stream);
}

/* Another host thread destroys it; this one, if none can be had. */
static inline cudaError_t destroy_stream_by_other(cudaStream_t stream)
{
    struct made_stream made = { stream, 0, cudaErrorUnknown };

    if (!run_in_thread(destroy_stream_there, &made))
        destroy_stream_there(&made);
    return made.error;
}

struct host_room {               /* pinned host memory of the two kernels, and what the host saw */
    struct trial_plan plan;
    struct trial_state state;
    uint32_t data[ASK_WORDS];
    uint32_t beside[ASK_WORDS];  /* for work that has no part in what is asked */
    unsigned stale, looks;       /* how often the host looked, and found old words */
};

static inline void prepare_trial(struct host_room *room, unsigned trial)
{
    struct trial_state empty = PDL_ZERO;
    uint32_t i;

    room->plan.key = 0x5EEDull * (trial + 1);
    room->plan.bound_ns = 50000;
    room->plan.hold_ns = 5000 + trial % 8 * 1000;
    room->state = empty;
    for (i = 0; i < ASK_WORDS; i++)
        room->data[i] = ~words_fresh(room->plan.key, i);
}

/* Plans of several works that store slowly, one of `works` longest, and after them the followers', who read `each` words of all works. */
static inline void plan_works(struct trial_plan *plan, unsigned places, uint64_t key, unsigned trial, unsigned works, unsigned each)
{
    unsigned i;

    for (i = 0; i < places; i++) {
        plan[i].key = key * (trial + 1) + i;
        plan[i].bound_ns = 30000;
        plan[i].hold_ns = i == trial % works ? 15000 : 2000;
    }
    plan[places].words = works * each;
}

static inline int open_room(struct host_room **room, struct kernel_args *args)
{
    char *device = NULL;

    if (cudaHostAlloc((void **)room, sizeof(**room), cudaHostAllocMapped) != cudaSuccess ||
        cudaHostGetDevicePointer((void **)&device, *room, 0) != cudaSuccess)
        return 0;
    args->plan = (const struct trial_plan *)device;
    args->state = (struct trial_state *)(device + offsetof(struct host_room, state));
    args->data = (uint32_t *)(device + offsetof(struct host_room, data));
    return 1;
}

static inline unsigned half_is_stale(const struct host_room *room, uint32_t first)
{
    volatile const uint32_t *words = room->data + first;
    uint32_t i;

    for (i = 0; i < ASK_WORDS / 2; i++)
        if (words[i] != words_fresh(room->plan.key, i))
            return 1;
    return 0;
}

/* 1 if the first half of the words, slow_stores()'s, is not what it should be; the second half, reader_copies()'s. */
static inline unsigned work_is_stale(const struct host_room *room) { return half_is_stale(room, 0); }
static inline unsigned copy_is_stale(const struct host_room *room) { return half_is_stale(room, ASK_WORDS / 2); }

#endif
