/* tampered_calls.h - the calls whose answers tampered_test.c falsifies; CMakeLists.txt reads their names here, too.
 *
 * MAKE  its code can be another one
 * DO    the same, and it can do nothing and say that it did
 * COUNT how often it is called is pinned, and nothing else
 * TELL  the same as MAKE, and what it tells can be something else; the last part says where that stands
 */
#define AS_NUMBER(pointer) (told.value = (pointer), told.size = sizeof(*(pointer)))
#define AS_WORDS(first, bytes) (told.value = (first), told.size = (bytes))
#define AS_LIST(first, second, edges, number) (told.node = (first), told.to = (second), told.data = (edges), told.count = (number))
#define NAMED_NODES const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count
#define AFTER_NODES const cudaGraphNode_t *after, size_t count

/* ---- what is asked ---- */
TELL(EDGES_NAME(cudaGraphGetEdges, _v2),
     (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count),
     (graph, from, to, data, count), AS_LIST(from, to, data, count))
TELL(EDGES_NAME(cudaGraphNodeGetDependencies, _v2), (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
     (node, nodes, data, count), AS_LIST(nodes, NULL, data, count))
TELL(EDGES_NAME(cudaGraphNodeGetDependentNodes, _v2), (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
     (node, nodes, data, count), AS_LIST(nodes, NULL, data, count))
TELL(EDGES_NAME(cudaStreamGetCaptureInfo, _v3),
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes,
      const cudaGraphEdgeData **data, size_t *count),
     (stream, status, id, graph, nodes, data, count),
     (id ? AS_NUMBER(id) : (size_t)0, told.status = status, told.captured = graph, told.borrowed_node = nodes, told.borrowed_data = data,
      told.count = count))
TELL(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count), (graph, nodes, count), AS_LIST(nodes, NULL, NULL, count))
TELL(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count), (graph, nodes, count), AS_LIST(nodes, NULL, NULL, count))
TELL(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type), (node, type), AS_NUMBER(type))
TELL(cudaGraphNodeFindInClone, (cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone), (node, original, clone),
     (told.node = node))
TELL(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, struct cudaKernelNodeParams *params), (node, params),
     AS_WORDS(&params->gridDim, 2 * sizeof(dim3) + sizeof(unsigned)))
TELL(cudaGraphKernelNodeGetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value), (node, id, value),
     AS_WORDS(value, bytes_of_attribute(id)))
TELL(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info), (exec, graph, info),
     info ? (AS_NUMBER(&info->result), told.node = &info->errorNode, told.to = &info->errorFromNode) : NULL)
TELL(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status), AS_NUMBER(status))
TELL(cudaStreamGetPriority, (cudaStream_t stream, int *priority), (stream, priority), AS_NUMBER(priority))
TELL(cudaStreamGetAttribute, (cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value), (stream, id, value),
     AS_WORDS(value, bytes_of_attribute(id)))
TELL(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode *mode), (mode), AS_NUMBER(mode))
TELL(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device), (value, attribute, device), AS_NUMBER(value))
TELL(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest), AS_NUMBER(least))
TELL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *function, int threads, size_t shared),
     (blocks, function, threads, shared), AS_NUMBER(blocks))
TELL(cudaOccupancyMaxActiveClusters, (int *clusters, const void *function, const cudaLaunchConfig_t *config), (clusters, function, config),
     AS_NUMBER(clusters))
TELL(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph), (node, graph), (told.graph = graph))
TELL(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *params), (node, params), AS_NUMBER(params))
TELL(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, struct cudaMemcpy3DParms *params), (node, params), AS_NUMBER(params))
TELL(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *params), (node, params), AS_NUMBER(params))
TELL(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event), (node, event), AS_NUMBER(event))
TELL(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event), (node, event), AS_NUMBER(event))
TELL(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled), (exec, node, enabled), AS_NUMBER(enabled))
TELL(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags), (exec, flags), AS_NUMBER(flags))
TELL(cudaGraphInstantiateWithParams, (cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params), (exec, graph, params),
     (AS_NUMBER(&params->result_out), told.node = &params->errNode_out))
TELL(cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags), (stream, flags), AS_NUMBER(flags))
TELL(cudaFuncGetAttributes, (struct cudaFuncAttributes *attributes, const void *function), (attributes, function),
     AS_WORDS(attributes, offsetof(struct cudaFuncAttributes, preferredShmemCarveout) + sizeof(int)))
TELL(cudaEventElapsedTime, (float *ms, cudaEvent_t from, cudaEvent_t to), (ms, from, to), (told.ms = ms))
TELL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph), (told.graph = graph))
TELL(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), (to, from, bytes, kind),
     (kind == cudaMemcpyDeviceToHost ? (told.words = (unsigned *)to, told.size = bytes) : (size_t)0))
MAKE(cudaEventQuery, (cudaEvent_t event), (event))
MAKE(cudaStreamQuery, (cudaStream_t stream), (stream))
MAKE(cudaGetLastError, (void), ())
MAKE(cudaPeekAtLastError, (void), ())

TELL(cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params), (node, params), AS_NUMBER(&params->bytesize))
TELL(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *memory), (node, memory), AS_WORDS(memory, sizeof(void *)))

/* ---- what is done ---- */
DO(EDGES_NAME(cudaGraphAddDependencies, _v2), (cudaGraph_t graph, NAMED_NODES), (graph, from, to, data, count))
DO(EDGES_NAME(cudaGraphRemoveDependencies, _v2), (cudaGraph_t graph, NAMED_NODES), (graph, from, to, data, count))
DO(EDGES_NAME(cudaStreamUpdateCaptureDependencies, _v2),
   (cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count, unsigned flags),
   (stream, nodes, data, count, flags))
DO(cudaDeviceSynchronize, (void), ())
DO(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
DO(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))
DO(cudaEventSynchronize, (cudaEvent_t event), (event))
DO(cudaFuncSetAttribute, (const void *function, enum cudaFuncAttribute attribute, int value), (function, attribute, value))
DO(cudaGraphExecKernelNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params),
   (exec, node, params))
DO(cudaGraphKernelNodeSetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value),
   (node, id, value))
DO(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
DO(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled), (exec, node, enabled))
DO(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
DO(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data), (stream, function, data))
DO(cudaLaunchKernel, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
   (function, grid, block, args, shared, stream))
DO(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *function, void **args), (config, function, args))
DO(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream), (to, from, bytes, kind, stream))
#if CUDART_VERSION >= 13000
DO(cudaMemcpyBatchAsync,
   (void *const *to, const void *const *from, const size_t *bytes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *first,
    size_t number, cudaStream_t stream),
   (to, from, bytes, count, attributes, first, number, stream))
DO(cudaMemcpy3DBatchAsync, (size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags, cudaStream_t stream),
   (count, copies, flags, stream))
#elif CUDART_VERSION >= 12080
DO(cudaMemcpyBatchAsync,
   (void **to, void **from, size_t *bytes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *first, size_t number, size_t *failed,
    cudaStream_t stream),
   (to, from, bytes, count, attributes, first, number, failed, stream))
DO(cudaMemcpy3DBatchAsync, (size_t count, struct cudaMemcpy3DBatchOp *copies, size_t *failed, unsigned long long flags, cudaStream_t stream),
   (count, copies, failed, flags, stream))
#endif
DO(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream), (to, value, bytes, stream))
DO(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
DO(cudaStreamBeginCaptureToGraph,
   (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *data, size_t count,
    enum cudaStreamCaptureMode mode),
   (stream, graph, after, data, count, mode))
DO(cudaStreamSetAttribute, (cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value), (stream, id, value))
DO(cudaStreamSynchronize, (cudaStream_t stream), (stream))
DO(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
DO(cudaFreeAsync, (void *memory, cudaStream_t stream), (memory, stream))
DO(cudaGraphDestroyNode, (cudaGraphNode_t node), (node))
DO(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event))
DO(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event))
DO(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child), (exec, node, child))
DO(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), (exec, node, event))
DO(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), (exec, node, event))
DO(cudaGraphExecHostNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params), (exec, node, params))
DO(cudaGraphExecMemcpyNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *params), (exec, node, params))
DO(cudaGraphExecMemcpyNodeSetParams1D,
   (cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
   (exec, node, to, from, bytes, kind))
DO(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params), (exec, node, params))
DO(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params), (exec, node, params))
DO(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *params), (node, params))
DO(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from), (to, from))
DO(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const struct cudaKernelNodeParams *params), (node, params))
DO(cudaGraphMemcpyNodeSetParams, (cudaGraphNode_t node, const struct cudaMemcpy3DParms *params), (node, params))
DO(cudaGraphMemcpyNodeSetParams1D, (cudaGraphNode_t node, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
   (node, to, from, bytes, kind))
DO(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *params), (node, params))
DO(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *params), (node, params))
DO(cudaLaunchCooperativeKernel, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
   (function, grid, block, args, shared, stream))
DO(cudaMemcpy2DAsync,
   (void *to, size_t to_pitch, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
   (to, to_pitch, from, pitch, width, height, kind, stream))
DO(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *params, cudaStream_t stream), (params, stream))
DO(cudaMemset, (void *to, int value, size_t bytes), (to, value, bytes))
DO(cudaMemset2DAsync, (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
   (to, pitch, value, width, height, stream))
DO(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags), (stream, callback, data, flags))
DO(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))
DO(cudaMemcpy2D, (void *to, size_t to_pitch, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind),
   (to, to_pitch, from, pitch, width, height, kind))
DO(cudaMemcpy3D, (const struct cudaMemcpy3DParms *params), (params))
DO(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height), (to, pitch, value, width, height))

/* ---- the same for a thread's own default stream: the names that a compiler's option gives them ---- */
TELL(cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph), (told.graph = graph))
TELL(cudaStreamIsCapturing_ptsz, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status), AS_NUMBER(status))
MAKE(cudaStreamQuery_ptsz, (cudaStream_t stream), (stream))
DO(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream))
DO(cudaEventRecordWithFlags_ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))
DO(cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
DO(cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t function, void *data), (stream, function, data))
DO(cudaLaunchKernel_ptsz, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
   (function, grid, block, args, shared, stream))
DO(cudaLaunchKernelExC_ptsz, (const cudaLaunchConfig_t *config, const void *function, void **args), (config, function, args))
DO(cudaMemcpyAsync_ptsz, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
   (to, from, bytes, kind, stream))
DO(cudaMemcpy_ptds, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), (to, from, bytes, kind))
DO(cudaMemsetAsync_ptsz, (void *to, int value, size_t bytes, cudaStream_t stream), (to, value, bytes, stream))
DO(cudaMemset_ptds, (void *to, int value, size_t bytes), (to, value, bytes))
DO(cudaStreamBeginCapture_ptsz, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
DO(cudaStreamSynchronize_ptsz, (cudaStream_t stream), (stream))
DO(cudaStreamWaitEvent_ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))

/* ---- what is made ---- */
MAKE(EDGES_NAME(cudaGraphAddNode, _v2),
     (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *data, size_t count,
      struct cudaGraphNodeParams *params),
     (node, graph, after, data, count, params))
MAKE(cudaEventCreate, (cudaEvent_t *event), (event))
MAKE(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned flags), (event, flags))
MAKE(cudaGraphAddChildGraphNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, cudaGraph_t child),
     (node, graph, after, count, child))
MAKE(cudaGraphAddEmptyNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES), (node, graph, after, count))
MAKE(cudaGraphAddEventRecordNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, cudaEvent_t event),
     (node, graph, after, count, event))
MAKE(cudaGraphAddMemAllocNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, struct cudaMemAllocNodeParams *params),
     (node, graph, after, count, params))
MAKE(cudaGraphAddMemFreeNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, void *memory), (node, graph, after, count, memory))
MAKE(cudaGraphAddKernelNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, const struct cudaKernelNodeParams *params),
     (node, graph, after, count, params))
MAKE(cudaGraphAddMemsetNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, const struct cudaMemsetParams *params),
     (node, graph, after, count, params))
MAKE(cudaGraphClone, (cudaGraph_t *clone, cudaGraph_t graph), (clone, graph))
MAKE(cudaGraphConditionalHandleCreate, (cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value, unsigned flags),
     (handle, graph, value, flags))
MAKE(cudaGraphCreate, (cudaGraph_t *graph, unsigned flags), (graph, flags))
MAKE(cudaGraphInstantiate, (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))
MAKE(cudaGraphInstantiateWithFlags, (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))
MAKE(cudaHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
MAKE(cudaMalloc, (void **memory, size_t bytes), (memory, bytes))
MAKE(cudaStreamCreate, (cudaStream_t *stream), (stream))
MAKE(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags), (stream, flags))
MAKE(cudaStreamCreateWithPriority, (cudaStream_t *stream, unsigned flags, int priority), (stream, flags, priority))
MAKE(cudaGraphAddEventWaitNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, cudaEvent_t event), (node, graph, after, count, event))
MAKE(cudaGraphAddHostNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, const struct cudaHostNodeParams *params),
     (node, graph, after, count, params))
MAKE(cudaGraphAddMemcpyNode, (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, const struct cudaMemcpy3DParms *params),
     (node, graph, after, count, params))
MAKE(cudaGraphAddMemcpyNode1D,
     (cudaGraphNode_t *node, cudaGraph_t graph, AFTER_NODES, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
     (node, graph, after, count, to, from, bytes, kind))
MAKE(cudaHostGetDevicePointer, (void **device, void *host, unsigned flags), (device, host, flags))
MAKE(cudaMallocAsync, (void **memory, size_t bytes, cudaStream_t stream), (memory, bytes, stream))
MAKE(cudaMallocHost, (void **memory, size_t bytes), (memory, bytes))

/* ---- what ends ---- */
COUNT(cudaEventDestroy, (cudaEvent_t event), (event))
COUNT(cudaFree, (void *memory), (memory))
COUNT(cudaFreeHost, (void *memory), (memory))
COUNT(cudaGraphDestroy, (cudaGraph_t graph), (graph))
COUNT(cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))
COUNT(cudaStreamDestroy, (cudaStream_t stream), (stream))

#undef AS_NUMBER
#undef AS_WORDS
#undef AS_LIST
#undef NAMED_NODES
#undef AFTER_NODES
