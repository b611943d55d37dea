/* stream_calls.h - values that a stream writes and waits for, whether a device has such calls and memory pools, and calls whose answer is asked
 * elsewhere. */
#ifndef STREAM_CALLS_H_INCLUDED
#define STREAM_CALLS_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

/* Whether such a call is taken is asked elsewhere, or promised nowhere; in a capture the answer may be that the capture is spoiled. */
static inline cudaError_t whatever(cudaError_t error)
{
    (void)error;
    (void)cudaGetLastError();
    return cudaSuccess;
}

typedef CUresult(CUDAAPI *value_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

static inline cudaError_t queue_value(const char *name, cudaStream_t stream, const uint32_t *at, uint32_t value, unsigned flags)
{
    void *function = NULL;
    cudaError_t error = driver_function(name, 11070, &function);

    return error == cudaSuccess ? (cudaError_t)((value_fn)function)((CUstream)stream, (CUdeviceptr)(uintptr_t)at, value, flags) : error;
}

/* ---- the driver's calls, by the stream's handle as it is ---- */

static inline cudaError_t record_by_driver(cudaEvent_t event, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * record_fn)(CUevent, CUstream);
    void *record = NULL;
    cudaError_t error = driver_function("cuEventRecord", 2000, &record);

    return error == cudaSuccess ? (cudaError_t)((record_fn)record)((CUevent)event, (CUstream)stream) : error;
}

static inline cudaError_t await_by_driver(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    typedef CUresult(CUDAAPI * wait_fn)(CUstream, CUevent, unsigned);
    void *await = NULL;
    cudaError_t error = driver_function("cuStreamWaitEvent", 3020, &await);

    return error == cudaSuccess ? (cudaError_t)((wait_fn)await)((CUstream)stream, (CUevent)event, flags) : error;
}

/* In no circumstance another capture than this one: what a graph is that was given to a capture that failed no document says. */
static inline cudaError_t begin_by_driver(cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * begin_fn)(CUstream, CUstreamCaptureMode);
    void *begin = NULL;
    cudaError_t error = driver_function("cuStreamBeginCapture", 10010, &begin);

    return error == cudaSuccess ? (cudaError_t)((begin_fn)begin)((CUstream)stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) : error;
}

/* The end of a capture that has failed, which gives no graph. */
static inline cudaError_t end_by_driver(cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * end_fn)(CUstream, CUgraph *);
    CUgraph graph = NULL;
    void *end = NULL;
    cudaError_t error = driver_function("cuStreamEndCapture", 10000, &end);

    if (error == cudaSuccess)
        (void)((end_fn)end)((CUstream)stream, &graph);
    if (graph)
        (void)cudaGraphDestroy((cudaGraph_t)graph);
    return error;
}

static inline cudaError_t upload_by_driver(cudaGraphExec_t exec, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * upload_fn)(CUgraphExec, CUstream);
    void *upload = NULL;
    cudaError_t error = driver_function("cuGraphUpload", 11010, &upload);

    return error == cudaSuccess ? (cudaError_t)((upload_fn)upload)((CUgraphExec)exec, (CUstream)stream) : error;
}

static inline cudaError_t graph_by_driver(cudaGraphExec_t exec, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * launch_fn)(CUgraphExec, CUstream);
    void *launch = NULL;
    cudaError_t error = driver_function("cuGraphLaunch", 10000, &launch);

    return error == cudaSuccess ? (cudaError_t)((launch_fn)launch)((CUgraphExec)exec, (CUstream)stream) : error;
}

static inline cudaError_t copy_by_driver(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI * copy_fn)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    void *copy = NULL;
    cudaError_t error = driver_function("cuMemcpyAsync", 4000, &copy);

    return error == cudaSuccess
               ? (cudaError_t)((copy_fn)copy)((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes, (CUstream)stream)
               : error;
}

/* Both calls once, or why they cannot be made. */
static inline const char *values_lack(cudaStream_t stream)
{
    uint32_t *at = NULL;
    cudaError_t error;

    if (!driver_function_if_any("cuStreamWriteValue32", 11070) || !driver_function_if_any("cuStreamWaitValue32", 11070))
        return "the driver has no cuStreamWriteValue32 and cuStreamWaitValue32";
    error = cudaMalloc((void **)&at, sizeof(*at));
    if (error == cudaSuccess)
        error = queue_value("cuStreamWriteValue32", stream, at, 7, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = queue_value("cuStreamWaitValue32", stream, at, 7, CU_STREAM_WAIT_VALUE_EQ);
    (void)cudaStreamSynchronize(stream);
    (void)cudaFree(at);
    (void)cudaGetLastError();
    return error == cudaErrorNotSupported ? "cuStreamWriteValue32 and cuStreamWaitValue32 are not supported here" : NULL;
}

static inline cudaError_t await_wide_value(cudaStream_t stream, const uint32_t *at, uint64_t value, unsigned flags)
{
    typedef CUresult(CUDAAPI * wide_fn)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
    void *wait = NULL;
    cudaError_t error = driver_function("cuStreamWaitValue64", 11070, &wait);

    return error == cudaSuccess ? (cudaError_t)((wide_fn)wait)((CUstream)stream, (CUdeviceptr)(uintptr_t)at, value, flags) : error;
}

/* Two words at once, of which the first one is at that address. */
static inline cudaError_t write_wide_value(cudaStream_t stream, const uint32_t *at, uint64_t value)
{
    typedef CUresult(CUDAAPI * wide_fn)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
    void *write = NULL;
    cudaError_t error = driver_function("cuStreamWriteValue64", 11070, &write);

    return error == cudaSuccess ? (cudaError_t)((wide_fn)write)((CUstream)stream, (CUdeviceptr)(uintptr_t)at, value, CU_STREAM_WRITE_VALUE_DEFAULT)
                                : error;
}

/* One operation of a batch: a wait for a value or the write of one. */
static inline CUstreamBatchMemOpParams value_operation(CUstreamBatchMemOpType type, const uint32_t *at, uint32_t value, unsigned flags)
{
    CUstreamBatchMemOpParams operation = PDL_ZERO;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)at;

    operation.operation = type;
    if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32) {
        operation.waitValue.address = address;
        operation.waitValue.value = value;
        operation.waitValue.flags = flags;
    } else {
        operation.writeValue.address = address;
        operation.writeValue.value = value;
        operation.writeValue.flags = flags;
    }
    return operation;
}

static inline cudaError_t queue_batch(cudaStream_t stream, CUstreamBatchMemOpParams *operations, unsigned count)
{
    typedef CUresult(CUDAAPI * batch_fn)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);
    void *batch = NULL;
    cudaError_t error = driver_function("cuStreamBatchMemOp", 11070, &batch);

    return error == cudaSuccess ? (cudaError_t)((batch_fn)batch)((CUstream)stream, count, operations, 0) : error;
}

/* Whether a batch of one write is taken. */
static inline int takes_batches(cudaStream_t stream)
{
    uint32_t *at = NULL;
    CUstreamBatchMemOpParams operation;
    cudaError_t error = cudaMalloc((void **)&at, sizeof(*at));

    if (error == cudaSuccess) {
        operation = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, at, 7, CU_STREAM_WRITE_VALUE_DEFAULT);
        error = queue_batch(stream, &operation, 1);
    }
    (void)cudaStreamSynchronize(stream);
    (void)cudaFree(at);
    (void)cudaGetLastError();
    return error != cudaErrorNotSupported && error != cudaErrorSymbolNotFound;
}

/* What the driver tells of this device that the runtime has no name for; 0 if it tells nothing. */
static inline int driver_tells(CUdevice_attribute attribute)
{
    typedef CUresult(CUDAAPI * get_fn)(CUdevice *, int);
    typedef CUresult(CUDAAPI * tell_fn)(int *, CUdevice_attribute, CUdevice);
    void *get = NULL, *tell = NULL;
    CUdevice device = 0;
    int ordinal = 0, told = 0;

    if (cudaGetDevice(&ordinal) != cudaSuccess || driver_function("cuDeviceGet", 2000, &get) != cudaSuccess ||
        driver_function("cuDeviceGetAttribute", 2000, &tell) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    if (((get_fn)get)(&device, ordinal) != CUDA_SUCCESS || ((tell_fn)tell)(&told, attribute, device) != CUDA_SUCCESS)
        return 0;
    return told;
}

static inline const char *pools_lack(void)
{
    int device, pools = 0;

    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device) != cudaSuccess)
        (void)cudaGetLastError();
    return pools ? NULL : "this device has no memory pools";
}

#endif
