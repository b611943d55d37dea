/* Every cuda* symbol the model offers, once: the list behind call counts and planted failures. */
#ifndef PDL_MODEL_SYMBOLS_H
#define PDL_MODEL_SYMBOLS_H

#define MODEL_SYMBOLS(X)                                                                                             \
    X(cudaGetDeviceCount) X(cudaSetDevice) X(cudaGetDevice) X(cudaGetDeviceProperties) X(cudaDeviceGetAttribute)     \
    X(cudaRuntimeGetVersion) X(cudaDriverGetVersion) X(cudaDeviceSynchronize) X(cudaDeviceReset)                     \
    X(cudaDeviceGetStreamPriorityRange) X(cudaDeviceGetPCIBusId) X(cudaSetDeviceFlags) X(cudaFree) X(cudaMalloc)     \
    X(cudaMallocHost) X(cudaHostAlloc) X(cudaFreeHost) X(cudaHostGetDevicePointer) X(cudaMemGetInfo) X(cudaMemcpy)   \
    X(cudaMemcpyAsync) X(cudaMemset) X(cudaMemsetAsync) X(cudaMemset2DAsync) X(cudaMemcpy2DAsync) X(cudaStreamCreate) \
    X(cudaStreamCreateWithFlags) X(cudaMemcpy2D) X(cudaMemcpy3D) X(cudaMemset2D)                                     \
    X(cudaStreamCreateWithPriority) X(cudaStreamDestroy) X(cudaStreamSynchronize) X(cudaStreamQuery)                 \
    X(cudaStreamWaitEvent) X(cudaStreamGetFlags) X(cudaStreamGetPriority) X(cudaStreamSetAttribute)                  \
    X(cudaStreamGetAttribute) X(cudaLaunchHostFunc) X(cudaEventCreate) X(cudaEventCreateWithFlags) X(cudaEventRecord) \
    X(cudaEventRecordWithFlags) X(cudaEventSynchronize) X(cudaEventQuery) X(cudaEventDestroy) X(cudaEventElapsedTime) \
    X(cudaStreamBeginCapture) X(cudaStreamBeginCaptureToGraph) X(cudaStreamEndCapture) X(cudaStreamIsCapturing)      \
    X(cudaStreamGetCaptureInfo) X(cudaStreamUpdateCaptureDependencies) X(cudaThreadExchangeStreamCaptureMode)        \
    X(cudaGraphCreate) X(cudaGraphDestroy) X(cudaGraphClone) X(cudaGraphAddNode) X(cudaGraphAddKernelNode)           \
    X(cudaGraphAddEmptyNode) X(cudaGraphAddMemsetNode) X(cudaGraphAddMemcpyNode) X(cudaGraphAddMemcpyNode1D)         \
    X(cudaGraphAddHostNode)                                                                                          \
    X(cudaGraphDestroyNode) X(cudaGraphAddDependencies) X(cudaGraphRemoveDependencies) X(cudaGraphGetEdges)          \
    X(cudaGraphGetNodes) X(cudaGraphGetRootNodes) X(cudaGraphNodeGetDependencies) X(cudaGraphNodeGetDependentNodes)  \
    X(cudaGraphNodeGetType) X(cudaGraphKernelNodeGetParams) X(cudaGraphKernelNodeSetParams)                          \
    X(cudaGraphKernelNodeGetAttribute) X(cudaGraphKernelNodeSetAttribute) X(cudaGraphInstantiate)                    \
    X(cudaGraphInstantiateWithFlags) X(cudaGraphUpload) X(cudaGraphLaunch) X(cudaGraphExecDestroy)                   \
    X(cudaGraphExecUpdate) X(cudaGraphExecKernelNodeSetParams) X(cudaGraphAddChildGraphNode)                         \
    X(cudaGraphExecMemsetNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D) X(cudaGraphExecHostNodeSetParams)      \
    X(cudaGraphExecChildGraphNodeSetParams) X(cudaGraphMemsetNodeSetParams) X(cudaGraphMemcpyNodeSetParams1D)         \
    X(cudaGraphMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams)                                               \
    X(cudaGraphHostNodeSetParams) X(cudaGraphAddEventRecordNode) X(cudaGraphAddEventWaitNode)                          \
    X(cudaGraphEventRecordNodeSetEvent) X(cudaGraphEventWaitNodeSetEvent) X(cudaGraphExecEventRecordNodeSetEvent)      \
    X(cudaGraphExecEventWaitNodeSetEvent) X(cudaGraphEventRecordNodeGetEvent) X(cudaGraphEventWaitNodeGetEvent)        \
    X(cudaGraphNodeSetParams) X(cudaGraphExecNodeSetParams)                                                          \
    X(cudaGraphChildGraphNodeGetGraph) X(cudaGraphNodeFindInClone) X(cudaGraphNodeSetEnabled)                        \
    X(cudaGraphNodeGetEnabled) X(cudaGraphConditionalHandleCreate) X(cudaFuncGetAttributes) X(cudaFuncSetAttribute)      \
    X(cudaFuncGetName) X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)                                              \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cudaOccupancyMaxActiveClusters) X(cudaLaunchKernel) X(cudaLaunchKernelExC) \
    X(cudaLaunchCooperativeKernel) X(cudaGetLastError) X(cudaPeekAtLastError)                                     \
    X(cudaGraphMemsetNodeGetParams) X(cudaGraphMemcpyNodeGetParams) X(cudaGraphHostNodeGetParams) X(cudaGraphExecGetFlags)        \
    X(cudaGetFuncBySymbol) X(cudaGetKernel) X(cudaGetDriverEntryPoint) X(cudaMemcpy3DAsync) X(cudaStreamAddCallback) X(cudaStreamCopyAttributes)   \
    X(cudaGraphKernelNodeCopyAttributes) X(cudaGraphInstantiateWithParams) X(cudaMallocAsync) X(cudaFreeAsync)        \
    X(cudaGraphAddMemAllocNode) X(cudaGraphAddMemFreeNode) X(cudaGraphMemAllocNodeGetParams) X(cudaGraphMemFreeNodeGetParams) \
    X(cudaStreamGetId) X(cudaGraphDebugDotPrint) X(cudaDeviceGetDefaultMemPool) X(cudaMemPoolGetAttribute) X(cudaDeviceGetGraphMemAttribute) \
    X(cudaDeviceGraphMemTrim) X(cudaMemPoolCreate) X(cudaMemPoolDestroy) X(cudaDeviceSetMemPool) X(cudaMemPoolTrimTo) X(cudaMemPoolSetAttribute) X(cudaMallocFromPoolAsync) \
    X(cudaMemcpy3DBatchAsync) X(cudaMemcpyBatchAsync) X(cudaGetSymbolAddress) X(cudaGetSymbolSize) X(cudaMemcpyToSymbolAsync) \
    X(cudaMemcpyFromSymbolAsync) X(cudaGraphAddMemcpyNodeToSymbol) X(cudaGraphAddMemcpyNodeFromSymbol) \
    X(cudaUserObjectCreate) X(cudaUserObjectRetain) X(cudaUserObjectRelease) X(cudaGraphRetainUserObject) X(cudaGraphReleaseUserObject) \
    X(cudaDeviceSetLimit) X(cudaDeviceGetLimit) X(cudaFuncSetCacheConfig) X(cudaDeviceSetCacheConfig) X(cudaCtxResetPersistingL2Cache) \
    X(cudaHostRegister) X(cudaHostUnregister) X(cudaMallocManaged) \
    X(cudaMemcpyPeerAsync)

#define MODEL_SYMBOL_ID(name) SYMBOL_##name,
enum symbol { MODEL_SYMBOLS(MODEL_SYMBOL_ID) SYMBOL_COUNT };
#undef MODEL_SYMBOL_ID

#endif
