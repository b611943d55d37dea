/* pdl.h - v0.1.0 - CUDA Programmatic Dependent Launch for C and C++, host side - MIT, licence text at the end
 *
 * Starts a kernel before its predecessor in the stream has finished, where that is sound, and as an ordinary launch
 * where it is not. The device side (wait and trigger) is pdl_device.cuh.
 *
 *     pdl_kernel scale = PDL_ZERO;
 *     pdl_options options = PDL_ZERO;
 *     void *args[] = {&out, &in};
 *
 *     CHECK(pdl_kernel_init(&scale, scale_address));      // once per kernel and device
 *     options.overlap = PDL_OVERLAP_IF_POSSIBLE;
 *     CHECK(pdl_launch(&scale, grid, block, args, 0, stream, &options));
 *     if (!scale.can_overlap) {
 *         puts(pdl_reason_string(scale.reason));
 *     }
 *
 * It does NOT promise overlap (nobody can), check whether a kernel really waits, print, allocate, keep state, or take or
 * clear CUDA's last error (PDL_DEBUG, below, restores it).
 *
 * Needs     CUDA Toolkit 11.8 or newer, C99 or C++11. Any GPU; overlap needs compute capability 9.0 and kernels that were
 *           compiled for compute_90 or newer. C99 with -Wpedantic needs the toolkit as system headers (-isystem).
 * Macros    PDL_API        linkage of every function; default: static inline
 *           PDL_NODISCARD  marks results that must not be ignored; default: whatever the compiler offers
 *           PDL_DEBUG      1: pdl_launch also checks the current device, and the number of arguments where it is told;
 *                          default 0. Costs one CUDA call per launch
 *           PDL_HAS_*      set to 0 to build as if the toolkit lacked that feature; always 0 or 1
 * Settings  The environment variable PDL_DISABLE, if set to anything but nothing or 0, makes every kernel prepared from
 *           then on an ordinary one. It wins over PDL_OVERLAP_REQUIRED and is no error.
 * Errors    cudaError_t. Bad input is found before any CUDA call: nothing is launched, and CUDA's last error is left alone.
 *           The error of a CUDA call is handed on as it is. One case comes with a running kernel: see pdl_launch, events.
 * Threads   Everything may be called from any thread. A pdl_kernel is never written after it was prepared.
 * Capture   pdl_launch may be captured. Prepare kernels before capture begins: preparing loads code.
 * Versions  Patch: no change of names. Minor: additions. Major: a break; two majors in one file are refused. Two minors in
 *           two files of one program live side by side, because nothing here has a linker symbol.
 *
 * prepare   pdl_kernel_init  pdl_kernel_init_driver  pdl_reason_string
 * launch    pdl_launch  PDL_LAUNCH (C)  typed pdl_launch (C++)
 * events    pdl_event_create
 * others'   pdl_attributes_fill  pdl_events_record_behind
 * why not   pdl_overlap_estimate
 * graphs    not in this version
 */
#if defined(PDL_H_INCLUDED) && defined(PDL_VERSION_MAJOR)
#if PDL_VERSION_MAJOR != 0
#error "two pdl.h of different major version in one file: include one of them only, or put them in different files"
#endif
#endif

#ifndef PDL_H_INCLUDED
#define PDL_H_INCLUDED

#define PDL_VERSION_MAJOR 0
#define PDL_VERSION_MINOR 1
#define PDL_VERSION_PATCH 0
#define PDL_VERSION_NUMBER (PDL_VERSION_MAJOR * 10000 + PDL_VERSION_MINOR * 100 + PDL_VERSION_PATCH)

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- toolkit differences: the only lines that test CUDART_VERSION ------------------------------------------------ */

#if CUDART_VERSION < 11080
#error "pdl.h needs CUDA Toolkit 11.8 or newer (cudaLaunchKernelExC)"
#endif

#ifndef PDL_HAS_OVERLAP /* programmatic stream serialization and events, 11.8 */
#define PDL_HAS_OVERLAP 1
#endif
#ifndef PDL_HAS_MEM_SYNC_DOMAIN /* 12.0 */
#if CUDART_VERSION >= 12000
#define PDL_HAS_MEM_SYNC_DOMAIN 1
#else
#define PDL_HAS_MEM_SYNC_DOMAIN 0
#endif
#endif
#ifndef PDL_HAS_LAUNCH_COMPLETION_EVENT /* 12.3 */
#if CUDART_VERSION >= 12030
#define PDL_HAS_LAUNCH_COMPLETION_EVENT 1
#else
#define PDL_HAS_LAUNCH_COMPLETION_EVENT 0
#endif
#endif
#ifndef PDL_HAS_GRAPH_EDGES /* cudaGraphEdgeData, 12.3 */
#if CUDART_VERSION >= 12030
#define PDL_HAS_GRAPH_EDGES 1
#else
#define PDL_HAS_GRAPH_EDGES 0
#endif
#endif
#ifndef PDL_HAS_PARAM_INFO /* cudaFuncGetParamInfo, 12.4 */
#if CUDART_VERSION >= 12040
#define PDL_HAS_PARAM_INFO 1
#else
#define PDL_HAS_PARAM_INFO 0
#endif
#endif
#ifndef PDL_HAS_CARVEOUT /* shared-memory carve-out of one launch, 12.5 */
#if CUDART_VERSION >= 12050
#define PDL_HAS_CARVEOUT 1
#else
#define PDL_HAS_CARVEOUT 0
#endif
#endif

/* ---- language -------------------------------------------------------------------------------------------------- */

#ifndef PDL_API
#define PDL_API static inline
#endif

#ifndef PDL_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define PDL_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define PDL_NODISCARD __attribute__((warn_unused_result))
#else
#define PDL_NODISCARD
#endif
#endif

#ifndef PDL_DEBUG
#define PDL_DEBUG 0
#endif

/* Initialises any struct of this header; in both languages, without a warning. */
#ifdef __cplusplus
#define PDL_ZERO {}
#define PDL_IMPL_CAST(type, value) static_cast<type>(value)
#else
#define PDL_ZERO {0}
#define PDL_IMPL_CAST(type, value) ((type)(value))
#endif

/* ---- reasons --------------------------------------------------------------------------------------------------- */

/* Why a kernel, or a pair of kernels, does not overlap. Values never change their meaning; new ones are added behind. */
enum {
    PDL_REASON_NONE = 0,     /* nothing known stands in the way */
    PDL_REASON_DISABLED,     /* kernel: PDL_DISABLE is set */
    PDL_REASON_TOOLKIT,      /* kernel: built without PDL_HAS_OVERLAP */
    PDL_REASON_DEVICE,       /* kernel: compute capability below 9.0 */
    PDL_REASON_TARGET,       /* kernel: compiled for less than compute_90, so it contains no wait */
    PDL_REASON_NOT_ASKED,    /* pair: the dependent's options do not ask for overlap */
    PDL_REASON_BLOCKING,     /* pair: CUDA_LAUNCH_BLOCKING is set */
    PDL_REASON_DEVICES,      /* pair: prepared for two devices */
    PDL_REASON_COOPERATIVE,  /* pair: the dependent is a cooperative launch */
    PDL_REASON_NO_TRIGGER,   /* pair: the primary is compiled for less than compute_90, so it contains no trigger */
    PDL_REASON_BLOCK_SLOTS,  /* pair: the primary leaves no block slot */
    PDL_REASON_THREADS,      /* pair: the primary leaves too few threads */
    PDL_REASON_REGISTERS,    /* pair: the primary leaves too few registers */
    PDL_REASON_SHARED,       /* pair: the primary leaves too little shared memory */
    PDL_REASON_CARVEOUT      /* pair: enough shared memory, but not in the split of L1 and shared that the primary set */
};

/* The sentence for a PDL_REASON_* code. Never NULL; the text is constant and belongs to nobody. */
PDL_API const char *pdl_reason_string(unsigned reason)
{
    switch (reason) {
    case PDL_REASON_NONE:
        return "nothing known stands in the way of overlap";
    case PDL_REASON_DISABLED:
        return "the environment variable PDL_DISABLE is set";
    case PDL_REASON_TOOLKIT:
        return "built without support for programmatic launches (PDL_HAS_OVERLAP is 0)";
    case PDL_REASON_DEVICE:
        return "the device has a compute capability below 9.0";
    case PDL_REASON_TARGET:
        return "the kernel was compiled for less than compute_90, so its wait is compiled out";
    case PDL_REASON_NOT_ASKED:
        return "the dependent is not launched with overlap";
    case PDL_REASON_BLOCKING:
        return "the environment variable CUDA_LAUNCH_BLOCKING is set";
    case PDL_REASON_DEVICES:
        return "the two kernels were prepared for different devices";
    case PDL_REASON_COOPERATIVE:
        return "a cooperative launch waits until the kernel before it has left";
    case PDL_REASON_NO_TRIGGER:
        return "the primary was compiled for less than compute_90, so its trigger is compiled out";
    case PDL_REASON_BLOCK_SLOTS:
        return "the primary's blocks leave no block slot on a multiprocessor";
    case PDL_REASON_THREADS:
        return "the primary's blocks leave too few threads on a multiprocessor";
    case PDL_REASON_REGISTERS:
        return "the primary's blocks leave too few registers on a multiprocessor";
    case PDL_REASON_SHARED:
        return "the primary's blocks leave too little shared memory on a multiprocessor";
    case PDL_REASON_CARVEOUT:
        return "the multiprocessor would have to change its split of L1 and shared memory: raise the primary's carve-out";
    default:
        return "unknown reason";
    }
}

/* ---- prepare --------------------------------------------------------------------------------------------------- */

/* What a launch needs to know about a kernel on one device. Filled by pdl_kernel_init, then read only. */
typedef struct pdl_kernel {
    const void *func;              /* as given; NULL if only the driver knows the function */
    int device;                    /* ordinal of the device that was current */
    int cc;                        /* its compute capability, 10 * major + minor: 90 */
    int ptx_version;               /* virtual architecture the code was compiled for: 90 for compute_90 */
    int binary_version;            /* architecture of the machine code; says nothing about the wait (JIT) */
    int can_overlap;               /* 1: a launch with overlap is sound, if the kernel waits */
    unsigned reason;               /* PDL_REASON_* why not */
    int regs_per_thread;           /* 32-bit registers */
    int max_threads_per_block;     /* of this function on this device */
    int preferred_carveout;        /* percent of shared memory, -1: the driver chooses */
    int num_params;                /* parameters of the function, -1: not known (only PDL_DEBUG asks) */
    size_t static_shared_bytes;    /* per block */
    unsigned max_grid[3];          /* blocks along x, y, z */
    unsigned max_block[3];         /* threads along x, y, z */
} pdl_kernel;

/* 1 if the kill switch is thrown: PDL_DISABLE is set, not empty and not "0". */
PDL_API int pdl_impl_disabled(void)
{
    const char *value = getenv("PDL_DISABLE");

    return value != NULL && value[0] != '\0' && !(value[0] == '0' && value[1] == '\0');
}

/* Sets can_overlap and reason from cc and ptx_version. The kill switch is named first, because it wins. */
PDL_API void pdl_impl_judge(pdl_kernel *kernel)
{
    kernel->reason = PDL_REASON_NONE;
    if (pdl_impl_disabled()) {
        kernel->reason = PDL_REASON_DISABLED;
    } else if (!PDL_HAS_OVERLAP) {
        kernel->reason = PDL_REASON_TOOLKIT;
    } else if (kernel->cc < 90) {
        kernel->reason = PDL_REASON_DEVICE;
    } else if (kernel->ptx_version < 90) {
        kernel->reason = PDL_REASON_TARGET;
    }
    kernel->can_overlap = kernel->reason == PDL_REASON_NONE;
}

/* Number of parameters, or -1. The query past the last one fails by design, so it is only made, and its error only
 * cleared, while CUDA's last error is clean. */
PDL_API int pdl_impl_count_params(const void *func)
{
    int count = -1;
#if PDL_DEBUG && PDL_HAS_PARAM_INFO
    if (cudaPeekAtLastError() == cudaSuccess) {
        size_t offset, size;

        count = 0;
        while (cudaFuncGetParamInfo(func, PDL_IMPL_CAST(size_t, count), &offset, &size) == cudaSuccess) {
            count++;
        }
        if (cudaGetLastError() != cudaErrorInvalidValue) {
            count = -1; /* this runtime cannot tell */
        }
    }
#else
    (void)func;
#endif
    return count;
}

/* Reads the current device's limits. */
PDL_API cudaError_t pdl_impl_read_device(pdl_kernel *kernel)
{
    const enum cudaDeviceAttr ids[8] = {
        cudaDevAttrMaxGridDimX,  cudaDevAttrMaxGridDimY,  cudaDevAttrMaxGridDimZ,
        cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
        cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
    };
    int values[8];
    int i;
    cudaError_t error = cudaGetDevice(&kernel->device);

    for (i = 0; i < 8 && error == cudaSuccess; i++) {
        error = cudaDeviceGetAttribute(&values[i], ids[i], kernel->device);
    }
    if (error != cudaSuccess) {
        return error;
    }
    for (i = 0; i < 3; i++) {
        kernel->max_grid[i] = PDL_IMPL_CAST(unsigned, values[i]);
        kernel->max_block[i] = PDL_IMPL_CAST(unsigned, values[3 + i]);
    }
    kernel->cc = 10 * values[6] + values[7];
    return cudaSuccess;
}

/* Prepare a kernel for launches on the current device.
 *
 * kernel  receives the description; all zero after an error, which every other function refuses
 * func    host address of a __global__ function, or a cudaKernel_t cast to a pointer where the runtime takes one
 *
 * Returns cudaSuccess, also if the kernel cannot overlap (see can_overlap and reason), or
 *   cudaErrorInvalidValue   kernel or func is NULL
 *   any error of cudaGetDevice, cudaDeviceGetAttribute, cudaFuncGetAttributes: no device, no image for this device
 *
 * Reads PDL_DISABLE, and loads the function, so that its first launch does not have to. Not cheap: once per kernel and
 * device. A pdl_kernel holds for its device only: if another one is current at launch, the answer whether overlap is
 * sound may be wrong, because the other device may run another image of the same kernel. PDL_DEBUG finds that.
 *
 * Capture  not while any stream is captured: loading code may be refused then, or break the capture.
 * Threads  any; not while another thread changes the environment.
 * Source   cudaFuncGetAttributes, ptxVersion; PTX ISA griddepcontrol (needs sm_90)
 * Checked  FB-04
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init(pdl_kernel *kernel, const void *func)
{
    const pdl_kernel empty = PDL_ZERO;
    struct cudaFuncAttributes attributes;
    pdl_kernel filled = PDL_ZERO;
    cudaError_t error;

    if (kernel == NULL) {
        return cudaErrorInvalidValue;
    }
    *kernel = empty;
    if (func == NULL) {
        return cudaErrorInvalidValue;
    }
    error = pdl_impl_read_device(&filled);
    if (error == cudaSuccess) {
        error = cudaFuncGetAttributes(&attributes, func);
    }
    if (error != cudaSuccess) {
        return error;
    }
    filled.func = func;
    filled.ptx_version = attributes.ptxVersion;
    filled.binary_version = attributes.binaryVersion;
    filled.regs_per_thread = attributes.numRegs;
    filled.max_threads_per_block = attributes.maxThreadsPerBlock;
    filled.preferred_carveout = attributes.preferredShmemCarveout;
    filled.static_shared_bytes = attributes.sharedSizeBytes;
    filled.num_params = pdl_impl_count_params(func);
    pdl_impl_judge(&filled);
    *kernel = filled;
    return cudaSuccess;
}

/* Prepare a kernel that only the driver API knows (CUfunction), for pdl_attributes_fill and pdl_events_record_behind.
 *
 * kernel       receives the description; func stays NULL, so pdl_launch refuses it
 * ptx_version  what cuFuncGetAttribute says for CU_FUNC_ATTRIBUTE_PTX_VERSION, for example 90
 *
 * Returns cudaSuccess, or
 *   cudaErrorInvalidValue   kernel is NULL, or ptx_version is not positive
 *   any error of cudaGetDevice, cudaDeviceGetAttribute
 *
 * Capture, Threads, Source, Checked: as pdl_kernel_init; loads nothing.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init_driver(pdl_kernel *kernel, int ptx_version)
{
    const pdl_kernel empty = PDL_ZERO;
    pdl_kernel filled = PDL_ZERO;
    cudaError_t error;

    if (kernel == NULL) {
        return cudaErrorInvalidValue;
    }
    *kernel = empty;
    if (ptx_version <= 0) {
        return cudaErrorInvalidValue;
    }
    error = pdl_impl_read_device(&filled);
    if (error != cudaSuccess) {
        return error;
    }
    filled.ptx_version = ptx_version;
    filled.preferred_carveout = -1;
    filled.num_params = -1;
    pdl_impl_judge(&filled);
    *kernel = filled;
    return cudaSuccess;
}

/* ---- options --------------------------------------------------------------------------------------------------- */

enum { PDL_OVERLAP_NONE = 0, PDL_OVERLAP_IF_POSSIBLE = 1, PDL_OVERLAP_REQUIRED = 2 };
enum { PDL_EVENT_AT_TRIGGER = 0, PDL_EVENT_AT_BLOCK_START = 1 };
enum { PDL_DOMAIN_OF_STREAM = 0, PDL_DOMAIN_DEFAULT = 1, PDL_DOMAIN_REMOTE = 2 };
enum { PDL_CARVEOUT_UNCHANGED = 0, PDL_CARVEOUT_MAX = 100, PDL_CARVEOUT_NO_SHARED = 101 };
enum { PDL_MAX_ATTRIBUTES = 24 };

/* How to launch. All zero is an ordinary launch; each field says what zero means. The same on every toolkit: a field that
 * this toolkit cannot honour is refused with cudaErrorNotSupported. */
typedef struct pdl_options {
    unsigned overlap;                       /* PDL_OVERLAP_*; 0: start when the work before has finished */
    unsigned event_trigger;                 /* PDL_EVENT_*: when the blocks release event; 0: at their trigger */
    cudaEvent_t event;                      /* programmatic event, from pdl_event_create; NULL: none */
    cudaEvent_t launch_completion_event;    /* released when all blocks have begun (12.3); NULL: none */
    unsigned event_only;                    /* 1: overlap concerns the events only; this kernel itself starts in order,
                                             * for a kernel that does not wait. 0: this kernel starts early, too */
    unsigned cluster_x;                     /* blocks per cluster; all three 0: no cluster, or the kernel's own */
    unsigned cluster_y;                     /* 0 beside another non-zero axis: 1 */
    unsigned cluster_z;                     /* the same */
    unsigned cooperative;                   /* 1: all blocks at once, for grid-wide barriers; 0: ordinary */
    unsigned has_priority;                  /* 1: priority counts; 0: the stream's priority */
    int priority;                           /* as cudaStreamCreateWithPriority; must be 0 unless has_priority */
    unsigned mem_sync_domain;               /* PDL_DOMAIN_* (12.0); 0: the stream's domain */
    unsigned carveout;                      /* shared memory in percent of the most there is, 1 to 100, or
                                             * PDL_CARVEOUT_NO_SHARED (12.5); 0: the function's own setting */
    unsigned num_attrs;                     /* entries in attrs; 0: attrs is not looked at */
    const cudaLaunchAttribute *attrs;       /* further launch attributes, copied behind the ones above */
} pdl_options;

/* 1 if the helper itself sets this attribute from pdl_options: 2 cooperative, 4 cluster, 6 stream serialization,
 * 7 programmatic event, 8 priority, 10 domain, 12 launch-completion event, 14 carve-out. By number, because older
 * toolkits lack some of the names. */
PDL_API int pdl_impl_owns(unsigned id)
{
    return id == 2 || id == 4 || id == 6 || id == 7 || id == 8 || id == 10 || id == 12 || id == 14;
}

/* What is wrong with the options alone, whatever the kernel. */
PDL_API cudaError_t pdl_impl_check_options(const pdl_options *o)
{
    unsigned i;

    if (o->overlap > PDL_OVERLAP_REQUIRED || o->event_trigger > PDL_EVENT_AT_BLOCK_START || o->event_only > 1 ||
        o->cooperative > 1 || o->has_priority > 1 || o->mem_sync_domain > PDL_DOMAIN_REMOTE ||
        o->carveout > PDL_CARVEOUT_NO_SHARED || o->num_attrs > PDL_MAX_ATTRIBUTES - 8) {
        return cudaErrorInvalidValue;
    }
    if ((o->event_trigger != 0 && o->event == NULL) || (o->priority != 0 && o->has_priority == 0) ||
        (o->event_only != 0 && o->event == NULL && o->launch_completion_event == NULL) ||
        (o->event != NULL && o->event == o->launch_completion_event) || (o->num_attrs != 0 && o->attrs == NULL)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < o->num_attrs; i++) {
        if (pdl_impl_owns(PDL_IMPL_CAST(unsigned, o->attrs[i].id))) {
            return cudaErrorInvalidValue;
        }
    }
    if ((o->mem_sync_domain != 0 && !PDL_HAS_MEM_SYNC_DOMAIN) || (o->carveout != 0 && !PDL_HAS_CARVEOUT)) {
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

/* What is wrong with options for this kernel: the own checks that need no grid. */
PDL_API cudaError_t pdl_impl_check(const pdl_kernel *kernel, const pdl_options *options)
{
    cudaError_t error;

    if (kernel == NULL || (!kernel->can_overlap && kernel->reason == PDL_REASON_NONE)) {
        return cudaErrorInvalidValue; /* never prepared */
    }
    error = pdl_impl_check_options(options);
    if (error != cudaSuccess || options->overlap != PDL_OVERLAP_REQUIRED || kernel->reason == PDL_REASON_DISABLED) {
        return error;
    }
    if (!kernel->can_overlap || (options->launch_completion_event != NULL && !PDL_HAS_LAUNCH_COMPLETION_EVENT)) {
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

/* One axis: from 1 to most, and divisible into clusters (0: no cluster on this axis). */
PDL_API int pdl_impl_axis_fits(unsigned size, unsigned most, unsigned cluster)
{
    return size != 0 && size <= most && (cluster == 0 || size % cluster == 0);
}

/* What is wrong with grid, block and cluster. */
PDL_API cudaError_t pdl_impl_check_shape(const pdl_kernel *k, dim3 grid, dim3 block, const pdl_options *o)
{
    const unsigned most = PDL_IMPL_CAST(unsigned, k->max_threads_per_block);

    if (!pdl_impl_axis_fits(grid.x, k->max_grid[0], o->cluster_x) ||
        !pdl_impl_axis_fits(grid.y, k->max_grid[1], o->cluster_y) ||
        !pdl_impl_axis_fits(grid.z, k->max_grid[2], o->cluster_z) ||
        !pdl_impl_axis_fits(block.x, k->max_block[0], 0) || !pdl_impl_axis_fits(block.y, k->max_block[1], 0) ||
        !pdl_impl_axis_fits(block.z, k->max_block[2], 0)) {
        return cudaErrorInvalidConfiguration;
    }
    /* by division, because the product of three axes may not fit */
    if (block.y > most / block.x || block.z > most / (block.x * block.y)) {
        return cudaErrorInvalidConfiguration;
    }
    return cudaSuccess;
}

/* 1 if this launch is to carry programmatic attributes. */
PDL_API int pdl_impl_overlaps(const pdl_kernel *kernel, const pdl_options *options)
{
    return kernel->can_overlap && options->overlap != PDL_OVERLAP_NONE;
}

/* The next free entry, zeroed, with its id set. */
PDL_API cudaLaunchAttributeValue *pdl_impl_add(cudaLaunchAttribute *attrs, unsigned *count, cudaLaunchAttributeID id)
{
    const cudaLaunchAttribute empty = PDL_ZERO;
    cudaLaunchAttribute *attr = &attrs[*count];

    *attr = empty;
    attr->id = id;
    *count += 1;
    return &attr->val;
}

/* The attributes that let this launch, and what waits for its events, start early. */
PDL_API unsigned pdl_impl_fill_overlap(const pdl_options *o, cudaLaunchAttribute *attrs)
{
    unsigned count = 0;

    if (!o->event_only) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributeProgrammaticStreamSerialization)
            ->programmaticStreamSerializationAllowed = 1;
    }
    if (o->event != NULL) {
        cudaLaunchAttributeValue *value = pdl_impl_add(attrs, &count, cudaLaunchAttributeProgrammaticEvent);

        value->programmaticEvent.event = o->event;
        value->programmaticEvent.triggerAtBlockStart = o->event_trigger == PDL_EVENT_AT_BLOCK_START;
    }
#if PDL_HAS_LAUNCH_COMPLETION_EVENT
    if (o->launch_completion_event != NULL) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributeLaunchCompletionEvent)->launchCompletionEvent.event =
            o->launch_completion_event;
    }
#endif
    return count;
}

/* Writes all attributes, at most PDL_MAX_ATTRIBUTES; options are checked. Returns how many. */
PDL_API unsigned pdl_impl_fill(const pdl_kernel *kernel, const pdl_options *o, cudaLaunchAttribute *attrs)
{
    unsigned count = pdl_impl_overlaps(kernel, o) ? pdl_impl_fill_overlap(o, attrs) : 0;
    unsigned i;

    if (o->cluster_x != 0 || o->cluster_y != 0 || o->cluster_z != 0) {
        cudaLaunchAttributeValue *value = pdl_impl_add(attrs, &count, cudaLaunchAttributeClusterDimension);

        value->clusterDim.x = o->cluster_x != 0 ? o->cluster_x : 1;
        value->clusterDim.y = o->cluster_y != 0 ? o->cluster_y : 1;
        value->clusterDim.z = o->cluster_z != 0 ? o->cluster_z : 1;
    }
    if (o->cooperative) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributeCooperative)->cooperative = 1;
    }
    if (o->has_priority) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributePriority)->priority = o->priority;
    }
#if PDL_HAS_MEM_SYNC_DOMAIN
    if (o->mem_sync_domain != PDL_DOMAIN_OF_STREAM) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributeMemSyncDomain)->memSyncDomain =
            o->mem_sync_domain == PDL_DOMAIN_REMOTE ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault;
    }
#endif
#if PDL_HAS_CARVEOUT
    if (o->carveout != PDL_CARVEOUT_UNCHANGED) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributePreferredSharedMemoryCarveout)->sharedMemCarveout =
            o->carveout == PDL_CARVEOUT_NO_SHARED ? 0 : o->carveout;
    }
#endif
    for (i = 0; i < o->num_attrs; i++) {
        attrs[count++] = o->attrs[i];
    }
    return count;
}

/* Records behind the launch the events that its attributes did not carry. */
PDL_API cudaError_t pdl_impl_record_behind(const pdl_kernel *kernel, const pdl_options *o, cudaStream_t stream)
{
    const int overlaps = pdl_impl_overlaps(kernel, o);
    cudaError_t error = cudaSuccess;

    if (o->event != NULL && !overlaps) {
        error = cudaEventRecord(o->event, stream);
    }
    if (error == cudaSuccess && o->launch_completion_event != NULL &&
        !(overlaps && PDL_HAS_LAUNCH_COMPLETION_EVENT)) {
        error = cudaEventRecord(o->launch_completion_event, stream);
    }
    return error;
}

/* The checks that cost a CUDA call and are therefore made with PDL_DEBUG only: is the device the one prepared for? */
PDL_API cudaError_t pdl_impl_check_device(const pdl_kernel *kernel)
{
#if PDL_DEBUG
    int device = -1;
    cudaError_t error = cudaGetDevice(&device);

    if (error != cudaSuccess) {
        return error;
    }
    return device == kernel->device ? cudaSuccess : cudaErrorInvalidDevice;
#else
    (void)kernel;
    return cudaSuccess;
#endif
}

PDL_NODISCARD PDL_API cudaError_t pdl_launch(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                             size_t shared_bytes, cudaStream_t stream, const pdl_options *options)
{
    const pdl_options zero = PDL_ZERO;
    const pdl_options *o = options != NULL ? options : &zero;
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    cudaLaunchConfig_t config = PDL_ZERO;
    cudaError_t error = pdl_impl_check(kernel, o);
    if (error == cudaSuccess) {
        error = kernel->func != NULL ? pdl_impl_check_shape(kernel, grid, block, o) : cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        error = pdl_impl_check_device(kernel);
    }
    if (error != cudaSuccess) {
        return error;
    }
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.numAttrs = pdl_impl_fill(kernel, o, attrs);
    config.attrs = config.numAttrs != 0 ? attrs : NULL;
    error = cudaLaunchKernelExC(&config, kernel->func, args);
    return error == cudaSuccess ? pdl_impl_record_behind(kernel, o, stream) : error;
}

PDL_NODISCARD PDL_API cudaError_t pdl_event_create(cudaEvent_t *event)
{
    return event != NULL ? cudaEventCreateWithFlags(event, cudaEventDisableTiming) : cudaErrorInvalidValue;
}

#endif /* PDL_H_INCLUDED */
