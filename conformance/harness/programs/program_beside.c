/* program_beside.c - more host calls that change nothing of what a stream does next: launches and other calls that are refused, settings that are
 * taken back, and work that has no part in the program, in a stream of its own. */
#include "program.h"

#include <string.h>

#include "try.h"

/* A launch that is refused leaves nothing behind: neither work nor its attributes. */
static cudaError_t launch_nothing(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    cudaLaunchAttribute attrs[3];
    cudaLaunchConfig_t config = PDL_ZERO;
    struct kernel_args args = PDL_ZERO;
    void *params[1];
    unsigned n = 0;

    params[0] = &args;
    config.gridDim.x = config.gridDim.y = config.gridDim.z = config.blockDim.x = config.blockDim.y = config.blockDim.z = 1;
    if (dice_below(dice, 3))
        program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticStreamSerialization)->programmaticStreamSerializationAllowed = 1;
    if (dice_below(dice, 2))
        program_add_event(attrs, &n, made->room->passed, dice_below(dice, 2) != 0);
    switch (dice_below(dice, 4)) {
    case 0: config.gridDim.x = 0; break;
    case 1: config.blockDim.x = 4096; break;
    case 2: config.dynamicSmemBytes = (size_t)1 << 30; break;
    default: /* clusters that the grid is no whole number of */
        config.gridDim.x = 3;
        program_add_attribute(attrs, &n, cudaLaunchAttributeClusterDimension)->clusterDim.x = 2;
        attrs[n - 1].val.clusterDim.y = attrs[n - 1].val.clusterDim.z = 1;
    }
    config.stream = stream;
    config.attrs = n ? attrs : NULL;
    config.numAttrs = n;
    return refused(cudaLaunchKernelExC(&config, made->room->kernel[0], params));
}

static cudaError_t refuse(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaGraph_t graph = NULL;

    switch (dice_below(dice, 8)) {
    case 0: return refused(cudaEventRecord(NULL, stream));
    case 1: return refused(cudaStreamWaitEvent(stream, NULL, 0));
    case 2: return refused(cudaLaunchHostFunc(stream, NULL, NULL));
    case 3: return refused(cudaGraphLaunch(NULL, stream));
    case 4: return refused(cudaStreamEndCapture(stream, &graph));
    case 5: return refused(cudaEventRecordWithFlags(made->room->passed, stream, cudaEventRecordExternal)); /* for captures only */
    case 6: return refused(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)77));
    default:
        value.programmaticStreamSerializationAllowed = 1;
        return refused(cudaStreamSetAttribute(stream, cudaLaunchAttributeProgrammaticStreamSerialization, &value));
    }
}

/* Another domain, then the old one again. Where a stream takes none, nothing is given. */
static cudaError_t take_back(cudaStream_t stream)
{
    cudaLaunchAttributeValue old = PDL_ZERO, other = PDL_ZERO;

    other.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    if (cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &old) != cudaSuccess ||
        cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &other) != cudaSuccess)
        return cudaSuccess;
    return cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &old);
}

static cudaError_t turn_mode_and_back(void)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

    TRY(cudaThreadExchangeStreamCaptureMode(&mode));
    return cudaThreadExchangeStreamCaptureMode(&mode);
}

/* Two kernels, of which the second one may overlap the first; then their stream is destroyed, which ends neither. In half of the cases they
 * first wait for `stream`. */
static cudaError_t launch_elsewhere(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    int urgent = dice_below(dice, 2) ? made->room->high_priority : 0, waits = dice_below(dice, 2) != 0;
    cudaStream_t other;
    cudaEvent_t event = NULL;
    cudaError_t error, end;

    TRY(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, urgent));
    error = waits ? cudaEventCreateWithFlags(&event, cudaEventDisableTiming) : cudaSuccess;
    if (error == cudaSuccess && waits)
        error = cudaEventRecord(event, stream);
    if (error == cudaSuccess && waits)
        error = cudaStreamWaitEvent(other, event, 0);
    if (error == cudaSuccess)
        error = program_launch_elsewhere(made, other);
    end = event ? cudaEventDestroy(event) : cudaSuccess;
    if (error == cudaSuccess)
        error = end;
    end = cudaStreamDestroy(other);
    return error == cudaSuccess ? end : error;
}

/* Memory that nobody uses, in a stream of its own. */
static cudaError_t allocate_elsewhere(const struct made *made)
{
    cudaStream_t other;
    cudaError_t error, end;
    void *memory;

    if (!made->room->pooled)
        return cudaSuccess;
    TRY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    error = cudaMallocAsync(&memory, 4096, other);
    if (error == cudaSuccess)
        error = cudaFreeAsync(memory, other);
    end = cudaStreamDestroy(other);
    return error == cudaSuccess ? end : error;
}

cudaError_t program_call_beside(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    switch (dice_below(dice, 6)) {
    case 0: return launch_nothing(made, stream, dice);
    case 1: return refuse(made, stream, dice);
    case 2: return take_back(stream);
    case 3: return turn_mode_and_back();
    case 4: return launch_elsewhere(made, stream, dice);
    default: return allocate_elsewhere(made);
    }
}
