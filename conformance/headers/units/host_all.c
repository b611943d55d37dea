/* Uses every host function once; compiled as C and as C++. Only compiled, never run. */
#include "pdl.h"

extern const void *const kernel_address;
cudaError_t use_launches(cudaStream_t stream, cudaEvent_t event);
cudaError_t use_others(cudaStream_t stream, cudaLaunchAttribute *attrs);
const char *use_estimate(const pdl_kernel *first, const pdl_kernel *second);

cudaError_t use_launches(cudaStream_t stream, cudaEvent_t event)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    dim3 grid = {1, 1, 1};
    int number = 1;
    void *args[1];
    cudaError_t error = pdl_kernel_init(&kernel, kernel_address);

    args[0] = &number;
    if (error != cudaSuccess || !kernel.can_overlap) {
        return error;
    }
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    error = pdl_launch(&kernel, grid, grid, args, 0, stream, &options);
#ifndef __cplusplus
    if (error == cudaSuccess) {
        error = PDL_LAUNCH(&kernel, grid, grid, 0, stream, NULL, &number, &grid);
    }
#endif
    return error == cudaSuccess ? pdl_event_create(&event) : error;
}

cudaError_t use_others(cudaStream_t stream, cudaLaunchAttribute *attrs)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    unsigned count = 0;
    cudaError_t error = pdl_kernel_init_driver(&kernel, 90);

    if (error == cudaSuccess) {
        error = pdl_attributes_fill(&kernel, &options, attrs, PDL_MAX_ATTRIBUTES, &count);
    }
    return error == cudaSuccess ? pdl_events_record_behind(&kernel, &options, stream) : error;
}

const char *use_estimate(const pdl_kernel *first, const pdl_kernel *second)
{
    pdl_shape primary = PDL_ZERO;
    pdl_shape dependent = PDL_ZERO;
    pdl_estimate estimate = PDL_ZERO;

    primary.kernel = first;
    dependent.kernel = second;
    if (pdl_overlap_estimate(&estimate, &primary, &dependent) != cudaSuccess) {
        return "no estimate";
    }
    return pdl_reason_string(estimate.reason);
}
