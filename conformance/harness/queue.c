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
                          cudaStream_t stream, unsigned overlap)
{
    struct kernel_args args = trial->args;
    void *params[1];
    pdl_options options = PDL_ZERO;

    params[0] = &args;
    options.overlap = overlap;
    return pdl_launch(kernel, blocks_of(blocks), blocks_of(trial->threads), params, shared_bytes, stream, &options);
}

cudaError_t queue_primary(const struct queue *queue, const struct trial_launch *trial, int programmatic)
{
    return launch(&queue->primary, trial, trial->primary_blocks, trial->primary_shared_bytes, queue->stream,
                  programmatic ? PDL_OVERLAP_REQUIRED : PDL_OVERLAP_NONE);
}

cudaError_t queue_dependent(const struct queue *queue, const struct trial_launch *trial)
{
    if (trial->control == CONTROL_ATTROFF)
        return queue_dependent_plain(queue, trial);
    if (queue->raw)
        return queue_dependent_raw(queue, trial, 1);
    return launch(&queue->dependent, trial, trial->dependent_blocks, 0, queue->stream, PDL_OVERLAP_REQUIRED);
}

cudaError_t queue_dependent_raw(const struct queue *queue, const struct trial_launch *trial, int value)
{
    struct kernel_args args = trial->args;
    void *params[1];
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = PDL_ZERO;

    params[0] = &args;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = value;
    config.gridDim = blocks_of(trial->dependent_blocks);
    config.blockDim = blocks_of(trial->threads);
    config.stream = queue->stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, queue->dependent.func, params);
}

cudaError_t queue_dependent_plain(const struct queue *queue, const struct trial_launch *trial)
{
    return launch(&queue->dependent, trial, trial->dependent_blocks, 0, queue->stream, PDL_OVERLAP_NONE);
}

/* The spacer holds the side stream until the primary's blocks have begun, so that the dependent starts while they are held. */
cudaError_t queue_unordered(const struct queue *queue, const struct trial_launch *trial)
{
    struct trial_launch one = *trial;
    cudaError_t error = cudaEventRecord(queue->fork, queue->stream);

    one.threads = 1;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->side, queue->fork, 0);
    if (error == cudaSuccess)
        error = queue_primary(queue, trial, 0);
    if (error == cudaSuccess)
        error = launch(&queue->spacer, &one, 1, 0, queue->side, PDL_OVERLAP_NONE);
    if (error == cudaSuccess)
        error = launch(&queue->dependent, trial, trial->dependent_blocks, 0, queue->side, PDL_OVERLAP_NONE);
    if (error == cudaSuccess)
        error = cudaEventRecord(queue->join, queue->side);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(queue->stream, queue->join, 0);
    return error;
}
