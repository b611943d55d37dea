/* Memory of other kinds, and copies that name the devices. */
#include "api.h"

cudaError_t CUDARTAPI cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    CALL(cudaMallocManaged);
    FAIL_IF(out == NULL || bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost), cudaErrorInvalidValue);
    *out = memory_allocate(bytes, false);
    FAIL_IF(*out == NULL, cudaErrorMemoryAllocation);
    memory_marks(MARK_MANAGED, *out, bytes);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream)
{
    CALL(cudaMemcpyPeerAsync);
    struct stream *s = stream_of(stream);
    FAIL_IF(to_device != current_device() || from_device != current_device(), cudaErrorInvalidDevice);
    if (device.faults.peer_copy_early && s != NULL && s->capture == NULL)
        stream_cuts(s);
    if (device.faults.peer_copy_forgets_events && s != NULL && s->capture == NULL)
        s->waits = 0;
    bytes = cut_at(4096, device.faults.long_peer_copy_cut, bytes);
    device.queued_by = BY_PEERS;
    cudaError_t error = memory_copied(to, from, bytes, cudaMemcpyDefault, s);
    device.queued_by = BY_ANY_CALL;
    return error;
}
