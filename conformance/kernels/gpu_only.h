/* gpu_only.h - for families that only hardware has: kernels with a parameter of their own beside kernel_args, buffers
 * found from a trial's pointers, and driver functions.
 *
 * What a queueing function makes once (a texture, a tensor map, memory elsewhere) it makes between relax() and unrelax():
 * it may run inside a capture.
 */
#ifndef GPU_ONLY_H_INCLUDED
#define GPU_ONLY_H_INCLUDED

#include "driver_function.h"
#include "pair.h"
#include "visibility.h"

/* On the model such a family is empty; its cases are NOT_SUPPORTED there. */
#define IMAGE_WITHOUT_PAIRS(family)                                                              \
    PAIR_EXTERN_C_BEGIN                                                                          \
    extern const struct image SYMBOL(image_##family);                                            \
    const struct image SYMBOL(image_##family) = { #family, IMAGE_TAG, NULL, 0 };                 \
    PAIR_EXTERN_C_END

#ifndef PDL_MODEL
#include <cuda.h>

/* A kernel whose second parameter is `more`. */
#define KERNEL_WITH(name, more) extern "C" __global__ void SYMBOL(name)(struct kernel_args args, more)

#define GPU_TRY(call)                                 \
    do {                                              \
        cudaError_t gpu_error_ = (call);              \
        if (gpu_error_ != cudaSuccess)                \
            return gpu_error_;                        \
    } while (0)

static inline cudaStreamCaptureMode relax(void)
{
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static inline void unrelax(cudaStreamCaptureMode mode) { (void)cudaThreadExchangeStreamCaptureMode(&mode); }

struct whole {                   /* the allocation that a trial's pointer lies in */
    char *base;
    size_t bytes;
};

static inline cudaError_t whole_of(const void *pointer, struct whole *whole)
{
    typedef CUresult (CUDAAPI *range_fn)(CUdeviceptr *, size_t *, CUdeviceptr);
    static range_fn range;
    cudaStreamCaptureMode mode;
    CUdeviceptr base = 0;
    CUresult answer;

    if (!range) {
        void *function;
        GPU_TRY(driver_function("cuMemGetAddressRange", 3020, &function));
        range = (range_fn)function;
    }
    mode = relax();
    answer = range(&base, &whole->bytes, (CUdeviceptr)(uintptr_t)pointer);
    unrelax(mode);
    if (answer != CUDA_SUCCESS)
        return cudaErrorInvalidDevicePointer;
    whole->base = (char *)(uintptr_t)base;
    return cudaSuccess;
}

static inline cudaError_t launch_with(const struct queue *queue, const struct trial_launch *trial, const pdl_kernel *kernel,
                                      unsigned blocks, void *more, int programmatic, unsigned carveout)
{
    struct kernel_args args = trial->args;
    pdl_options options = PDL_ZERO;
    void *params[2];

    params[0] = &args;
    params[1] = more;
    if (programmatic && trial->control != CONTROL_ATTROFF)
        options.overlap = PDL_OVERLAP_REQUIRED;
    options.carveout = carveout;
    return pdl_launch(kernel, dim3(blocks), dim3(trial->threads), params, 0, queue->stream, &options);
}

static inline cudaError_t launch_primary_with(const struct queue *queue, const struct trial_launch *trial, void *more, unsigned carveout)
{
    return launch_with(queue, trial, &queue->primary, trial->primary_blocks, more, 0, carveout);
}

static inline cudaError_t launch_dependent_with(const struct queue *queue, const struct trial_launch *trial, void *more,
                                                unsigned carveout)
{
    return launch_with(queue, trial, &queue->dependent, trial->dependent_blocks, more, 1, carveout);
}
#endif
#endif
