/* refused_flags.h - the part of refused_values.h with flags, modes, kinds, devices and attributes that there are not. */
#ifndef REFUSED_FLAGS_H_INCLUDED
#define REFUSED_FLAGS_H_INCLUDED

struct values {
    struct kernel_args args;
    cudaStream_t stream;
    cudaEvent_t event;         /* without timing */
    uint32_t *memory;          /* of the device, 64 words */
    cudaGraph_t graph, other;
    cudaGraphNode_t kernel, foreign, set, record, rows, host; /* foreign: a node of the other graph. rows: a copy of two rows */
    cudaGraphExec_t exec;
};

/* What a call says that should be refused could not be heard, as what it needs was not there: that, too, is no refusal. */
#define CALL_TAKEN cudaSuccess

/* ---- flags, modes and kinds ---- */

static cudaError_t wait_flags(struct values *v) { return cudaStreamWaitEvent(v->stream, v->event, 2); }
static cudaError_t record_flags(struct values *v) { return cudaEventRecordWithFlags(v->event, v->stream, 2); }
static cudaError_t copy_kind(struct values *v) { return cudaMemcpyAsync(v->memory, v->memory + 8, 4, (enum cudaMemcpyKind)5, v->stream); }

static cudaError_t event_of(unsigned flags)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, flags);

    if (error == cudaSuccess)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t event_flags(struct values *v) { (void)v; return event_of(8); }
/* "cudaEventInterprocess must be specified along with cudaEventDisableTiming." */
static cudaError_t timed_interprocess(struct values *v) { (void)v; return event_of(cudaEventInterprocess); }

static cudaError_t stream_flags(struct values *v)
{
    cudaStream_t stream = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, 2);

    (void)v;
    if (error == cudaSuccess)
        (void)cudaStreamDestroy(stream);
    return error;
}

/* "Graph creation flags, must be 0." */
static cudaError_t graph_flags(struct values *v)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 1);

    (void)v;
    if (error == cudaSuccess)
        (void)cudaGraphDestroy(graph);
    return error;
}

static void CUDART_CB no_callback(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    (void)status;
    (void)data;
}

/* "Reserved for future use, must be 0." */
static cudaError_t callback_flags(struct values *v) { return cudaStreamAddCallback(v->stream, no_callback, NULL, 1); }

/* "If cudaFree(devPtr) has already been called before, an error is returned." */
static cudaError_t free_again(struct values *v)
{
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, 4096);

    (void)v;
    if (error == cudaSuccess)
        error = cudaFree(memory);
    return error == cudaSuccess ? cudaFree(memory) : CALL_TAKEN;
}

static void CUDART_CB no_destructor(void *data) { (void)data; }

/* "Currently it is required to pass cudaUserObjectNoDestructorSync." */
static cudaError_t object_flags(struct values *v)
{
    cudaUserObject_t object = NULL;
    cudaError_t error = cudaUserObjectCreate(&object, NULL, no_destructor, 1, 0);

    (void)v;
    if (error == cudaSuccess)
        (void)cudaUserObjectRelease(object, 1);
    return error;
}

static cudaError_t begin_mode(struct values *v)
{
    cudaError_t error = cudaStreamBeginCapture(v->stream, (enum cudaStreamCaptureMode)3);

    if (error == cudaSuccess)
        ask_drop_capture(v->stream);
    return error;
}

/* Devices are numbered from 0 to one less than there are. */
static cudaError_t device_below(struct values *v) { (void)v; return cudaSetDevice(-1); }
static cudaError_t device_beyond(struct values *v)
{
    int devices;

    (void)v;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? cudaSetDevice(devices) : CALL_TAKEN;
}

static cudaError_t stream_attribute(const struct values *v, cudaLaunchAttribute attribute)
{
    return cudaStreamSetAttribute(v->stream, attribute.id, &attribute.val);
}

/* Neither is "valid for streams". */
static cudaError_t stream_overlaps(struct values *v) { return stream_attribute(v, serialization(1)); }
static cudaError_t stream_cooperates(struct values *v) { return stream_attribute(v, cooperatively()); }

/* "Does not accept cudaEventRecordExternal." */
static cudaError_t launch_flags(struct values *v)
{
    cudaLaunchAttribute attribute = recording(v->event);

    attribute.val.programmaticEvent.flags = cudaEventRecordExternal;
    return launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, &attribute, 1);
}

/* "The event must not be an interprocess or interop event." Where such an event cannot be made, its refusal counts. */
static cudaError_t launch_interprocess(struct values *v)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming);
    cudaLaunchAttribute attribute = recording(event);

    if (error != cudaSuccess)
        return error;
    error = launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, &attribute, 1);
    (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t launch_domain(struct values *v)
{
    cudaLaunchAttribute attribute = in_remote_domain();

    attribute.val.memSyncDomain = (cudaLaunchMemSyncDomain)2;
    return launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, &attribute, 1);
}

#if CUDART_VERSION >= 12050
static cudaError_t launch_carveout(const struct values *v, int percent)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attribute.val.sharedMemCarveout = (unsigned)percent;
    return launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, &attribute, 1);
}
static cudaError_t launch_carveout_high(struct values *v) { return launch_carveout(v, 101); }
static cudaError_t launch_carveout_low(struct values *v) { return launch_carveout(v, -2); }
#endif

/* "Must be a divisor of the grid ... dimension." */
static cudaError_t launch_cluster(const struct values *v, unsigned x, unsigned y, unsigned z)
{
    cudaLaunchAttribute attribute = in_clusters(x);

    attribute.val.clusterDim.y = y;
    attribute.val.clusterDim.z = z;
    return launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, &attribute, 1);
}
static cudaError_t launch_cluster_x(struct values *v) { return launch_cluster(v, 0, 1, 1); }
static cudaError_t launch_cluster_y(struct values *v) { return launch_cluster(v, 1, 0, 1); }
static cudaError_t launch_cluster_z(struct values *v) { return launch_cluster(v, 1, 1, 0); }

/* The list of attributes is "nullable if numAttrs == 0". */
static cudaError_t launch_no_list(struct values *v)
{
    return launch_one((const void *)SYMBOL(refused_count), &v->args, 1, v->stream, NULL, 1);
}

static cudaError_t launch_nothing(struct values *v) { return launch_one(NULL, &v->args, 1, v->stream, NULL, 0); }

#endif
