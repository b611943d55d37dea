/* queue.c - the steps that the queueing functions of conformance/kernels are made of. */
#include "pair.h"

static dim3 blocks_of(unsigned blocks)
{
    dim3 d;
    d.x = blocks;
    d.y = 1;
    d.z = 1;
    return d;
}

static cudaError_t launch(const pdl_kernel *kernel, const struct trial_launch *trial, unsigned blocks, size_t shared_bytes,
                          cudaStream_t stream, const pdl_options *options)
{
    struct kernel_args args = trial->args;
    void *params[1];

    params[0] = &args;
    return pdl_launch(kernel, blocks_of(blocks), blocks_of(trial->threads), params, shared_bytes, stream, options);
}

static cudaError_t launch_primary(const struct queue *queue, const struct trial_launch *trial, const pdl_options *options)
{
    return launch(&queue->primary, trial, trial->primary_blocks, trial->primary_shared_bytes, queue->stream, options);
}

cudaError_t queue_primary(const struct queue *queue, const struct trial_launch *trial, int programmatic)
{
    pdl_options options = PDL_ZERO;

    options.overlap = programmatic ? PDL_OVERLAP_REQUIRED : PDL_OVERLAP_NONE;
    return launch_primary(queue, trial, &options);
}

cudaError_t queue_primary_with(const struct queue *queue, const struct trial_launch *trial, const pdl_options *options)
{
    return launch_primary(queue, trial, options);
}

cudaError_t queue_middle_of(const struct queue *queue, const struct trial_launch *trial, unsigned blocks, int programmatic)
{
    pdl_options options = PDL_ZERO;

    options.overlap = programmatic ? PDL_OVERLAP_REQUIRED : PDL_OVERLAP_NONE;
    return launch(&queue->middle, trial, blocks, 0, queue->stream, &options);
}

cudaError_t queue_middle(const struct queue *queue, const struct trial_launch *trial)
{
    return queue_middle_of(queue, trial, 1, 1);
}

cudaError_t queue_dependent_with(const struct queue *queue, const struct trial_launch *trial, cudaStream_t stream,
                                 const pdl_options *options)
{
    pdl_options off = *options;

    if (trial->control == CONTROL_ATTROFF)
        off.overlap = PDL_OVERLAP_NONE;
    return launch(&queue->dependent, trial, trial->dependent_blocks, 0, stream, &off);
}

static cudaError_t launch_dependent(const struct queue *queue, const struct trial_launch *trial, cudaStream_t stream, unsigned overlap)
{
    pdl_options options = PDL_ZERO;

    options.overlap = overlap;
    options.has_priority = (unsigned)trial->urgent_dependent;
    options.priority = trial->urgent_dependent ? queue->high_priority : 0;
    return launch(&queue->dependent, trial, trial->dependent_blocks, 0, stream, &options);
}

cudaError_t queue_dependent(const struct queue *queue, const struct trial_launch *trial)
{
    if (trial->control == CONTROL_ATTROFF)
        return queue_dependent_plain(queue, trial);
    if (queue->raw)
        return queue_dependent_raw(queue, trial, 1);
    return launch_dependent(queue, trial, queue->stream, PDL_OVERLAP_REQUIRED);
}

cudaError_t queue_dependent_plain(const struct queue *queue, const struct trial_launch *trial)
{
    return launch_dependent(queue, trial, queue->stream, PDL_OVERLAP_NONE);
}

cudaError_t queue_dependent_attrs(const struct queue *queue, const struct trial_launch *trial, cudaLaunchAttribute *attrs,
                                  unsigned count)
{
    struct kernel_args args = trial->args;
    void *params[1];
    cudaLaunchConfig_t config = PDL_ZERO;

    params[0] = &args;
    config.gridDim = blocks_of(trial->dependent_blocks);
    config.blockDim = blocks_of(trial->threads);
    config.stream = queue->stream;
    config.attrs = attrs;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, queue->dependent.func, params);
}

cudaError_t queue_dependent_raw(const struct queue *queue, const struct trial_launch *trial, int value)
{
    cudaLaunchAttribute attribute;

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = value;
    return queue_dependent_attrs(queue, trial, &attribute, 1);
}

/* The spacer holds the side stream until the primary's blocks have begun, so that the dependent starts while they are held. */
cudaError_t queue_spacer(const struct queue *queue, const struct trial_launch *trial)
{
    struct trial_launch one = *trial;
    pdl_options options = PDL_ZERO;

    one.threads = 1;
    options.has_priority = 1; /* not after primary blocks that have not begun */
    options.priority = queue->high_priority;
    return launch(&queue->spacer, &one, 1, 0, queue->side, &options);
}

cudaError_t record_and_await(cudaEvent_t event, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = cudaEventRecord(event, from);
    return error == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : error;
}

cudaError_t queue_enter_side(const struct queue *queue) { return record_and_await(queue->fork, queue->stream, queue->side); }

cudaError_t queue_leave_side(const struct queue *queue) { return record_and_await(queue->join, queue->side, queue->stream); }

cudaError_t queue_unordered(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_enter_side(queue);

    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = queue_spacer(queue, trial);
    if (error == cudaSuccess)
        error = launch_dependent(queue, trial, queue->side, PDL_OVERLAP_NONE);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

cudaError_t queue_pair(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error;

    if (trial->control == CONTROL_UNORDERED)
        return queue_unordered(queue, trial);
    error = queue_primary(queue, trial, trial->programmatic_primary);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

cudaError_t queue_domain(const struct queue *queue, const struct trial_launch *trial)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    options.mem_sync_domain = PDL_DOMAIN_REMOTE;
    error = queue_primary_with(queue, trial, &options);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

cudaError_t queue_behind_event(const struct queue *queue, const struct trial_launch *trial, int programmatic)
{
    pdl_options options = PDL_ZERO;
    cudaError_t error;

    if (programmatic) { /* the event alone lets go early: this launch does not overlap what stands before it */
        options.event = queue->fork;
        error = launch_primary(queue, trial, &options);
    } else {
        error = queue_primary(queue, trial, 0);
        if (error == cudaSuccess)
            error = cudaEventRecord(queue->fork, queue->stream);
    }
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    if (error == cudaSuccess)
        error = launch_dependent(queue, trial, queue->side, PDL_OVERLAP_NONE);
    return error == cudaSuccess ? queue_leave_side(queue) : error;
}

static cudaError_t copy_words(const struct trial_launch *trial, cudaStream_t stream)
{
    return cudaMemcpyAsync(trial->args.input, trial->args.data, trial->words * 4, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t queue_copy(const struct queue *queue, const struct trial_launch *trial)
{
    int unordered = trial->control == CONTROL_UNORDERED;
    cudaError_t error = unordered ? queue_enter_side(queue) : cudaSuccess;

    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess && unordered)
        error = queue_spacer(queue, trial);
    if (error == cudaSuccess)
        error = copy_words(trial, unordered ? queue->side : queue->stream);
    if (error == cudaSuccess && unordered)
        error = queue_leave_side(queue);
    return error == cudaSuccess ? queue_dependent_plain(queue, trial) : error;
}

unsigned queue_full_carveout(void)
{
    static int driver;

    if (!driver && cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    return PDL_HAS_CARVEOUT && driver >= 12050 ? 100 : 0;
}
