/* Names and sentences of the error codes that the model can return. */
#include "api.h"

#define ERRORS(X)                                                                                                    \
    X(cudaSuccess, "no error") X(cudaErrorInvalidValue, "invalid argument") X(cudaErrorMemoryAllocation, "out of memory") \
    X(cudaErrorInvalidConfiguration, "invalid configuration argument") X(cudaErrorInvalidDevice, "invalid device ordinal") \
    X(cudaErrorInvalidDeviceFunction, "invalid device function") X(cudaErrorNoDevice, "no CUDA-capable device is detected") \
    X(cudaErrorInvalidResourceHandle, "invalid resource handle") X(cudaErrorNotReady, "device not ready")             \
    X(cudaErrorNotSupported, "operation not supported") X(cudaErrorIllegalState, "the operation cannot be performed in the present state") \
    X(cudaErrorLossyQuery, "the query would drop edge data") X(cudaErrorIllegalAddress, "an illegal memory access was encountered") \
    X(cudaErrorMisalignedAddress, "misaligned address") X(cudaErrorLaunchTimeout, "the launch timed out and was terminated") \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                                                           \
    X(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                                       \
    X(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")                                    \
    X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")                          \
    X(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture")                   \
    X(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences")                 \
    X(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")                        \
    X(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                                           \
    X(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream")                     \
    X(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream") \
    X(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream")              \
    X(cudaErrorGraphExecUpdateFailure, "the graph update was not performed") X(cudaErrorUnknown, "unknown error")     \
    X(cudaErrorInvalidClusterSize, "invalid cluster size")                                                            \
    X(cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread")

#define NAME_CASE(code, text)                                                                                        \
    case code:                                                                                                       \
        return #code;
#define TEXT_CASE(code, text)                                                                                        \
    case code:                                                                                                       \
        return text;

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    if (device.faults.lossy_has_other_name && error == cudaErrorLossyQuery)
        error = cudaErrorInvalidValue;
    switch ((int)error) {
        ERRORS(NAME_CASE)
    }
    return device.faults.no_error_has_name ? "cudaErrorUnknown" : "unrecognized error code";
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    if (device.faults.lossy_has_no_text && error == cudaErrorLossyQuery)
        error = cudaSuccess;
    switch ((int)error) {
        ERRORS(TEXT_CASE)
    }
    return device.faults.no_error_has_text ? "no error" : "unrecognized error code";
}
