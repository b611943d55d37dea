/* Names that a unit compiled for the per-thread default stream calls instead: stream 0 then means that stream. */
#include "api.h"

/* On broken devices. in_legacy: stream 0 means the legacy stream all the same; never_legacy: that one means the per-thread stream. */
static cudaStream_t own_or_named(cudaStream_t stream, bool in_legacy, bool never_legacy)
{
    if (never_legacy && stream == cudaStreamLegacy)
        return cudaStreamPerThread;
    return stream != NULL || in_legacy ? stream : cudaStreamPerThread;
}

/* On devices that take whatever stream is named, but the legacy one, for the per-thread stream. */
static cudaStream_t named(cudaStream_t stream, bool ignored)
{
    return ignored && stream != cudaStreamLegacy ? cudaStreamPerThread : stream;
}

static cudaStream_t own(cudaStream_t stream, bool in_legacy)
{
    return own_or_named(stream, in_legacy, false);
}

cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args);
cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                            cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                           cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t CUDARTAPI cudaMemset_ptds(void *to, int value, size_t bytes);
cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t CUDARTAPI cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data);

cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    if (config == NULL)
        return cudaLaunchKernelExC(NULL, func, args);
    cudaLaunchConfig_t c = *config;
    if (device.faults.unit_launch_takes_one_attribute && c.numAttrs > 1)
        c.numAttrs = 1;
    if (device.faults.unit_config_loses_shared)
        c.dynamicSmemBytes = 0;
    if (device.faults.unit_config_is_flat)
        c.blockDim.z = 1;
    c.stream = own(named(c.stream, device.faults.unit_config_ignores_stream), device.faults.unit_config_launch_in_legacy);
    return cudaLaunchKernelExC(&c, func, args);
}

cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                            cudaStream_t stream)
{
    if (device.faults.unit_launch_loses_shared)
        shared = 0;
    if (device.faults.unit_launch_is_flat)
        grid.z = 1;
    stream = named(stream, device.faults.unit_launch_ignores_stream);
    stream = own_or_named(stream, device.faults.unit_launch_in_legacy, device.faults.unit_launch_not_in_legacy);
    return cudaLaunchKernel(func, grid, block, args, shared, stream);
}

cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, kind, own(named(stream, device.faults.unit_copy_ignores_stream), device.faults.unit_copy_in_legacy));
}

cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(to, value, bytes, own(named(stream, device.faults.unit_memset_ignores_stream), device.faults.unit_memset_in_legacy));
}

cudaError_t CUDARTAPI cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, cudaStreamPerThread);
    bool early = device.faults.unit_copy_does_not_wait || (device.faults.unit_copy_in_early && kind == cudaMemcpyHostToDevice) ||
                 (device.faults.unit_default_copy_early && kind == cudaMemcpyDefault);
    return error != cudaSuccess || early ? error : cudaStreamSynchronize(cudaStreamPerThread);
}

cudaError_t CUDARTAPI cudaMemset_ptds(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, device.faults.unit_sync_memset_in_legacy ? cudaStreamLegacy : cudaStreamPerThread);
}

cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    cudaStream_t meant = own(named(stream, device.faults.unit_synchronize_ignores_stream), false);
    return stream == NULL && device.faults.unit_waits_for_nothing ? cudaSuccess : cudaStreamSynchronize(meant);
}

cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream)
{
    cudaStream_t meant = own(named(stream, device.faults.unit_query_ignores_stream), false);
    return stream == NULL && device.faults.unit_query_succeeds ? cudaSuccess : cudaStreamQuery(meant);
}

cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return cudaStreamWaitEvent(own(named(stream, device.faults.unit_wait_ignores_stream), device.faults.unit_wait_in_legacy), event, flags);
}

cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    stream = named(stream, device.faults.unit_record_ignores_stream);
    return cudaEventRecord(event, own_or_named(stream, device.faults.unit_record_in_legacy, device.faults.unit_record_not_in_legacy));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    stream = named(stream, device.faults.unit_flags_record_ignores_stream);
    return cudaEventRecordWithFlags(event, own(stream, device.faults.unit_flags_record_in_legacy), flags);
}

cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if ((device.faults.unit_capture_is_relaxed && mode == cudaStreamCaptureModeThreadLocal) ||
        (device.faults.unit_global_capture_is_relaxed && mode == cudaStreamCaptureModeGlobal))
        mode = cudaStreamCaptureModeRelaxed;
    else if (device.faults.unit_capture_is_never_relaxed && mode == cudaStreamCaptureModeRelaxed)
        mode = cudaStreamCaptureModeThreadLocal;
    return cudaStreamBeginCapture(own(stream, false), mode);
}

cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph)
{
    return cudaStreamEndCapture(own(stream, false), graph);
}

cudaError_t CUDARTAPI cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    return cudaStreamIsCapturing(own(named(stream, device.faults.unit_status_ignores_stream), false), status);
}

cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return cudaGraphLaunch(exec, own(named(stream, device.faults.unit_graph_ignores_stream), device.faults.unit_graph_in_legacy));
}

cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data)
{
    return cudaLaunchHostFunc(own(named(stream, device.faults.unit_host_ignores_stream), device.faults.unit_host_in_legacy), call, data);
}

#if CUDART_VERSION >= 13000
#define WITH_DATA(name, version) name##_ptsz
#else
#define WITH_DATA(name, version) name##version##_ptsz
#endif

cudaError_t CUDARTAPI WITH_DATA(cudaStreamGetCaptureInfo, _v3)(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                               unsigned long long *id, cudaGraph_t *graph,
                                                               const cudaGraphNode_t **deps, const edge_data **data,
                                                               size_t *count);
cudaError_t CUDARTAPI WITH_DATA(cudaStreamUpdateCaptureDependencies, _v2)(cudaStream_t stream, cudaGraphNode_t *deps,
                                                                          const edge_data *data, size_t count,
                                                                          unsigned flags);

cudaError_t CUDARTAPI WITH_DATA(cudaStreamGetCaptureInfo, _v3)(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                               unsigned long long *id, cudaGraph_t *graph,
                                                               const cudaGraphNode_t **deps, const edge_data **data,
                                                               size_t *count)
{
    CALL(cudaStreamGetCaptureInfo);
    static const edge_data full[64];
    cudaError_t error = capture_info(own(stream, false), status, id, graph, deps, data, count);
    if (device.faults.unit_info_loses_id && error == cudaSuccess && id != NULL)
        *id = 0;
    if (device.faults.unit_info_loses_graph && error == cudaSuccess && graph != NULL)
        *graph = NULL;
    if (device.faults.unit_info_tells_one && error == cudaSuccess && count != NULL && *count > 1)
        *count = 1;
    if (device.faults.unit_info_loses_data && error == cudaSuccess && data != NULL)
        *data = full;
    return error;
}

cudaError_t CUDARTAPI WITH_DATA(cudaStreamUpdateCaptureDependencies, _v2)(cudaStream_t stream, cudaGraphNode_t *deps,
                                                                          const edge_data *data, size_t count,
                                                                          unsigned flags)
{
    CALL(cudaStreamUpdateCaptureDependencies);
    return capture_update(own(stream, false), deps, device.faults.unit_update_loses_data ? NULL : data, count, flags);
}
