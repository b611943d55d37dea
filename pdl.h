/* pdl.h - v0.2.0 - CUDA Programmatic Dependent Launch for C and C++, host side - MIT, licence text at the end
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
 * It does NOT promise overlap (nobody can), check that a kernel really waits, print, allocate, keep state, or touch
 * CUDA's last error.
 *
 * Needs     CUDA Toolkit 11.8 or newer, C99 or C++11. Any GPU; overlap needs compute capability 9.0 and a kernel built
 *           for compute_90 or newer. C99 with -Wpedantic wants the toolkit as system headers (-isystem).
 * Macros    PDL_API        linkage of every function; default: static inline
 *           PDL_NODISCARD  marks results that must not be ignored; default: whatever the compiler offers
 *           PDL_DEBUG      1: launches also check the current device and the number of arguments, for one more CUDA
 *                          call each; default 0
 *           PDL_HAS_*      set to 0 to build as if the toolkit lacked that feature; always 0 or 1
 * Settings  The environment variable PDL_DISABLE, set to anything but nothing or 0, makes every kernel prepared from
 *           then on an ordinary one. It wins over PDL_OVERLAP_REQUIRED and is no error.
 * Errors    cudaError_t. Bad input is found before any CUDA call: nothing is launched, CUDA's last error stays. The
 *           error of a CUDA call is handed on. One error comes with a running kernel: see pdl_launch, Events.
 * Threads   Everything may be called from any thread, but for one graph by one at a time. A pdl_kernel is never written
 *           after it was prepared. Preparing and estimating read the environment: no other thread may change it then.
 * Capture   Everything may be called while a stream is captured, but prepare kernels before: that loads code.
 * Versions  Patch: no change of names. Minor: additions. Major: a break; two majors in one file are refused. Two minors
 *           in two files of one program live side by side, because nothing here has a linker symbol.
 * Names     prepare: pdl_kernel_init, pdl_kernel_init_driver, pdl_reason_string; launch: pdl_launch (typed in C++),
 *           PDL_LAUNCH (C), pdl_event_create; other launchers: pdl_attributes_fill, pdl_events_record_behind; why not:
 *           pdl_overlap_estimate; graphs: pdl_graph_add_kernel, pdl_graph_connect, pdl_graph_change, pdl_graph_remove,
 *           pdl_graph_edges, pdl_graph_edges_to, pdl_graph_edges_from, pdl_graph_edges_of_capture,
 *           pdl_graph_connect_capture, pdl_graph_count_programmatic, pdl_graph_edge_judge, pdl_graph_check.
 */
#if defined(PDL_H_INCLUDED) && PDL_VERSION_MAJOR != 0
#error "two pdl.h of different major version in one file: include one of them only, or put them in different files"
#endif

#ifndef PDL_H_INCLUDED
#define PDL_H_INCLUDED

#define PDL_VERSION_MAJOR 0
#define PDL_VERSION_MINOR 2
#define PDL_VERSION_PATCH 0
#define PDL_VERSION_NUMBER (PDL_VERSION_MAJOR * 10000 + PDL_VERSION_MINOR * 100 + PDL_VERSION_PATCH)

#include <cuda_runtime_api.h>
#include <stddef.h>
#if !defined(__cplusplus) || !defined(__GLIBC__)
#include <stdlib.h>
#elif !defined(_STDLIB_H) /* in C++, <stdlib.h> takes longer to compile than this file; all of it that is needed here: */
extern "C" char *getenv(const char *name) noexcept;
#endif

/* ---- toolkit differences: the only lines that test CUDART_VERSION ------------------------------------------------ */

#if CUDART_VERSION < 11080
#error "pdl.h needs CUDA Toolkit 11.8 or newer (cudaLaunchKernelExC)"
#endif

#ifndef PDL_HAS_OVERLAP /* programmatic stream serialization and events */
#define PDL_HAS_OVERLAP (CUDART_VERSION >= 11080)
#endif
#ifndef PDL_HAS_MEM_SYNC_DOMAIN
#define PDL_HAS_MEM_SYNC_DOMAIN (CUDART_VERSION >= 12000)
#endif
#ifndef PDL_HAS_LAUNCH_COMPLETION_EVENT
#define PDL_HAS_LAUNCH_COMPLETION_EVENT (CUDART_VERSION >= 12030)
#endif
#ifndef PDL_HAS_GRAPH_EDGES /* cudaGraphEdgeData */
#define PDL_HAS_GRAPH_EDGES (CUDART_VERSION >= 12030)
#endif
#ifndef PDL_HAS_PARAM_INFO /* cudaFuncGetParamInfo */
#define PDL_HAS_PARAM_INFO (CUDART_VERSION >= 12040)
#endif
#ifndef PDL_HAS_CARVEOUT /* shared-memory carve-out of a single launch */
#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 12050)
#endif

/* Edge data: in functions of their own until 13.0, which gave it to the plain ones. */
#if CUDART_VERSION >= 13000
#define PDL_IMPL_EDGES(name, version) name
#define PDL_IMPL_EDGE_DATA(data) PDL_HAS_GRAPH_EDGES ? (data) : NULL,
#elif PDL_HAS_GRAPH_EDGES
#define PDL_IMPL_EDGES(name, version) name##version
#define PDL_IMPL_EDGE_DATA(data) (data),
#else
#define PDL_IMPL_EDGES(name, version) name
#define PDL_IMPL_EDGE_DATA(data)
#endif
#if CUDART_VERSION >= 12030
typedef cudaGraphEdgeData pdl_impl_edge_data;
#else
typedef struct pdl_impl_edge_data {
    unsigned char from_port, to_port, type, reserved[5];
} pdl_impl_edge_data;
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

/* Ends the function with the call's error, if there is one. */
#define PDL_IMPL_TRY(call)                                                                                             \
    do {                                                                                                               \
        const cudaError_t pdl_impl_error = (call);                                                                     \
        if (pdl_impl_error) {                                                                                          \
            return pdl_impl_error;                                                                                     \
        }                                                                                                              \
    } while (0)

/* PDL_ZERO initialises any struct of this header; in both languages, without a warning. PDL_IMPL_IS compares enumerators:
 * as numbers, because a compiler of C++ looks through hundreds of operators for each comparison of enumerators and for each
 * assignment to one. So an error is tested as a condition, because cudaSuccess is 0, and initialised, not assigned. */
#define PDL_IMPL_IS(value, name) (PDL_IMPL_CAST(unsigned, value) == PDL_IMPL_CAST(unsigned, name))
#ifdef __cplusplus
#define PDL_ZERO {}
#define PDL_IMPL_CAST(type, value) static_cast<type>(value)
#define PDL_IMPL_MUTABLE(pointer) const_cast<void *>(pointer)
#define PDL_IMPL_ADDRESS(pointer) reinterpret_cast<size_t>(pointer)
#else
#define PDL_ZERO {0}
#define PDL_IMPL_CAST(type, value) ((type)(value))
#define PDL_IMPL_MUTABLE(pointer) ((void *)(size_t)(pointer))
#define PDL_IMPL_ADDRESS(pointer) ((size_t)(pointer))
#endif

/* ---- reasons --------------------------------------------------------------------------------------------------- */

/* Why a kernel does not overlap; from NOT_ASKED on, why a pair does not; from EDGE_TOOLKIT on, what is wrong with an edge
 * of a graph. PDL_REASON_NONE is 0, and so on. No code ever changes its meaning; new ones are added behind. */
#define PDL_IMPL_REASONS(X)                                                                                            \
    X(NONE, "nothing known stands in the way of overlap")                                                              \
    X(DISABLED, "the environment variable PDL_DISABLE is set")                                                         \
    X(TOOLKIT, "built without programmatic launches (PDL_HAS_OVERLAP is 0)")                                           \
    X(DEVICE, "the device has a compute capability below 9.0")                                                         \
    X(TARGET, "the kernel was compiled for less than compute_90, so it contains no wait")                              \
    X(NOT_ASKED, "the dependent is not launched with overlap")                                                         \
    X(DEVICES, "the two kernels were prepared for different devices")                                                  \
    X(NO_TRIGGER, "the primary was compiled for less than compute_90, so it contains no trigger")                      \
    X(BLOCKING, "the environment variable CUDA_LAUNCH_BLOCKING is set")                                                \
    X(COOPERATIVE, "a cooperative dependent starts only when the primary has left")                                    \
    X(BLOCK_SLOTS, "the primary leaves no block slot on a multiprocessor")                                             \
    X(THREADS, "the primary leaves too few threads on a multiprocessor")                                               \
    X(REGISTERS, "the primary leaves too few registers on a multiprocessor")                                           \
    X(SHARED, "the primary leaves too little shared memory on a multiprocessor")                                       \
    X(CARVEOUT, "the split of L1 and shared memory would have to change: try the carve-out PDL_CARVEOUT_MAX for both") \
    X(EDGE_TOOLKIT, "built without edge data in graphs (PDL_HAS_GRAPH_EDGES is 0)")                                    \
    X(EDGE_KIND, "not a kind of edge that can be asked for")                                                           \
    X(EDGE_NODES, "an edge needs two nodes, and two different ones")                                                   \
    X(EDGE_RESERVED, "the reserved bytes of edge data have to be 0")                                                   \
    X(EDGE_TO_PORT, "no node has an incoming port other than 0")                                                       \
    X(EDGE_TYPE, "there is no such type of edge")                                                                      \
    X(EDGE_FROM_PORT, "no node has an outgoing port above 2")                                                          \
    X(EDGE_PRODUCER, "only a kernel has outgoing ports other than 0, and this edge does not leave a kernel")           \
    X(EDGE_CONSUMER, "a programmatic edge has to end at a kernel")                                                     \
    X(EDGE_PORT_0, "a programmatic edge leaves port 1 or port 2, not port 0")                                          \
    X(EDGE_PORT_1, "port 1 is for programmatic edges only")
#define PDL_IMPL_REASON_CODE(name, text) PDL_REASON_##name,
#define PDL_IMPL_REASON_TEXT(name, text) text,

enum { PDL_IMPL_REASONS(PDL_IMPL_REASON_CODE) PDL_IMPL_REASON_COUNT };

/* The sentence for a PDL_REASON_* code. Never NULL; constant text that nobody frees. */
PDL_API const char *pdl_reason_string(unsigned reason)
{
    const char *const texts[] = {PDL_IMPL_REASONS(PDL_IMPL_REASON_TEXT)};

    return reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "unknown reason";
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

/* 1 if an environment variable is set, not empty and not "0". */
PDL_API int pdl_impl_switched_on(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' && !(value[0] == '0' && value[1] == '\0');
}

/* Number of parameters, or -1. The query past the last one fails by design; so it is made only while CUDA's last error
 * is clean, and cleans up behind itself. */
PDL_API int pdl_impl_count_params(const void *func)
{
    int count = -1;
#if PDL_DEBUG && PDL_HAS_PARAM_INFO
    if (!cudaPeekAtLastError()) {
        size_t offset, size;

        for (count = 0; !cudaFuncGetParamInfo(func, PDL_IMPL_CAST(size_t, count), &offset, &size);) {
            count++;
        }
        count = PDL_IMPL_IS(cudaGetLastError(), cudaErrorInvalidValue) ? count : -1; /* else this runtime cannot tell */
    }
#else
    (void)func;
#endif
    return count;
}

/* Describes a function on the current device. func NULL: only the driver knows the function, of this ptx_version. */
PDL_API cudaError_t pdl_impl_prepare(pdl_kernel *kernel, const void *func, int ptx_version)
{
    const enum cudaDeviceAttr ids[8] = {
        cudaDevAttrMaxGridDimX,  cudaDevAttrMaxGridDimY,  cudaDevAttrMaxGridDimZ,
        cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
        cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
    };
    struct cudaFuncAttributes attributes;
    pdl_kernel filled = PDL_ZERO;
    int values[8], i;

    if (kernel == NULL) {
        return cudaErrorInvalidValue;
    }
    *kernel = filled;
    PDL_IMPL_TRY(func != NULL || ptx_version > 0 ? cudaGetDevice(&filled.device) : cudaErrorInvalidValue);
    for (i = 0; i < 8; i++) {
        PDL_IMPL_TRY(cudaDeviceGetAttribute(&values[i], ids[i], filled.device));
    }
    for (i = 0; i < 3; i++) {
        filled.max_grid[i] = PDL_IMPL_CAST(unsigned, values[i]);
        filled.max_block[i] = PDL_IMPL_CAST(unsigned, values[3 + i]);
    }
    filled.cc = 10 * values[6] + values[7];
    filled.ptx_version = ptx_version;
    filled.num_params = -1;
    if (func != NULL) {
        PDL_IMPL_TRY(cudaFuncGetAttributes(&attributes, func));
        filled.func = func;
        filled.ptx_version = attributes.ptxVersion;
        filled.binary_version = attributes.binaryVersion;
        filled.regs_per_thread = attributes.numRegs;
        filled.max_threads_per_block = attributes.maxThreadsPerBlock;
        filled.preferred_carveout = attributes.preferredShmemCarveout;
        filled.static_shared_bytes = attributes.sharedSizeBytes;
        filled.num_params = pdl_impl_count_params(func);
    }
    filled.reason = PDL_IMPL_CAST(unsigned, pdl_impl_switched_on("PDL_DISABLE") ? PDL_REASON_DISABLED /* it wins */
                                            : !PDL_HAS_OVERLAP                  ? PDL_REASON_TOOLKIT
                                            : filled.cc < 90                    ? PDL_REASON_DEVICE
                                            : filled.ptx_version < 90           ? PDL_REASON_TARGET
                                                                                : PDL_REASON_NONE);
    filled.can_overlap = filled.reason == 0;
    *kernel = filled;
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
 * device. A pdl_kernel holds for its device only. If another one is current at launch, the answer whether overlap is
 * sound may be wrong, because that device may run another image of the same kernel; PDL_DEBUG finds this.
 *
 * Capture  not while any stream is captured: loading code may be refused then, or break the capture.
 * Source   cudaFuncGetAttributes, ptxVersion; PTX ISA griddepcontrol (needs sm_90)
 * Checked  FB-04
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init(pdl_kernel *kernel, const void *func)
{
    return pdl_impl_prepare(kernel, func, 0);
}

/* Prepare a kernel that only the driver knows (CUfunction), for pdl_attributes_fill and pdl_events_record_behind.
 *
 * kernel       receives the description; func stays NULL, so pdl_launch refuses it; all zero after an error
 * ptx_version  what cuFuncGetAttribute says for CU_FUNC_ATTRIBUTE_PTX_VERSION, for example 90
 *
 * Returns cudaSuccess, cudaErrorInvalidValue if kernel is NULL or ptx_version is not positive, or any error of
 * cudaGetDevice and cudaDeviceGetAttribute. Otherwise as pdl_kernel_init, but loads nothing.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init_driver(pdl_kernel *kernel, int ptx_version)
{
    return pdl_impl_prepare(kernel, NULL, ptx_version);
}

/* ---- options --------------------------------------------------------------------------------------------------- */

enum { PDL_OVERLAP_NONE = 0, PDL_OVERLAP_IF_POSSIBLE = 1, PDL_OVERLAP_REQUIRED = 2 };
enum { PDL_EVENT_AT_TRIGGER = 0, PDL_EVENT_AT_BLOCK_START = 1 };
enum { PDL_DOMAIN_OF_STREAM = 0, PDL_DOMAIN_DEFAULT = 1, PDL_DOMAIN_REMOTE = 2 };
enum { PDL_CARVEOUT_UNCHANGED = 0, PDL_CARVEOUT_MAX = 100, PDL_CARVEOUT_NO_SHARED = 101 };
enum { PDL_MAX_ATTRIBUTES = 24 };

/* How to launch. All zero is an ordinary launch; each field says what zero means. The same on every toolkit: a field
 * that this toolkit cannot honour is refused with cudaErrorNotSupported. */
typedef struct pdl_options {
    unsigned overlap;                       /* PDL_OVERLAP_*; 0: start when the work before has finished */
    unsigned event_trigger;                 /* PDL_EVENT_*: when the blocks release event; 0: at their trigger */
    cudaEvent_t event;                      /* programmatic event, from pdl_event_create; NULL: none */
    cudaEvent_t launch_completion_event;    /* released when all blocks have begun (12.3); NULL: none */
    unsigned event_only;                    /* 1: overlap concerns the events only; this kernel itself starts in order,
                                             * for a kernel that does not wait. 0: this kernel starts early, too */
    unsigned cluster_x;                     /* blocks per cluster; all three 0: no cluster, or the kernel's own */
    unsigned cluster_y, cluster_z;          /* 0 beside an axis that is not 0: 1 */
    unsigned cooperative;                   /* 1: all blocks at once, for grid-wide barriers; 0: ordinary */
    unsigned has_priority;                  /* 1: priority counts; 0: the stream's priority */
    int priority;                           /* as cudaStreamCreateWithPriority; must be 0 unless has_priority */
    unsigned mem_sync_domain;               /* PDL_DOMAIN_* (12.0); 0: the stream's domain */
    unsigned carveout;                      /* shared memory in percent of the most there is, 1 to 100, or
                                             * PDL_CARVEOUT_NO_SHARED (12.5); 0: the function's own setting */
    unsigned num_attrs;                     /* entries in attrs; 0: attrs is not looked at */
    const cudaLaunchAttribute *attrs;       /* further launch attributes, copied behind the ones above */
} pdl_options;

/* 1 if nothing but overlap is asked for: the most frequent launch, so pdl_launch has a short way for it, which compilers
 * put into the caller. conformance/bench/count_instructions.c counts it. */
PDL_API int pdl_impl_only_overlap(const pdl_options *o)
{
    return (o->event_trigger | o->event_only | o->cluster_x | o->cluster_y | o->cluster_z | o->cooperative |
            o->has_priority | PDL_IMPL_CAST(unsigned, o->priority) | o->mem_sync_domain | o->carveout | o->num_attrs) ==
               0 && o->event == NULL && o->launch_completion_event == NULL;
}

/* What is wrong with the options alone, whatever the kernel. Not a further attribute can be what the helper itself sets: 2
 * cooperative, 4 cluster, 6 stream serialization, 7 programmatic event, 8 priority, 10 domain, 12 launch-completion event,
 * 14 carve-out; nor 13, device-updatable node, which returns a handle through its entry, and a launch from a copy would
 * lose that. Numbers, because older toolkits lack names. */
PDL_API cudaError_t pdl_impl_check_options(const pdl_options *o, int launching)
{
    const unsigned values[8] = {o->overlap,      o->event_trigger,   o->event_only, o->cooperative,
                                o->has_priority, o->mem_sync_domain, o->carveout,   o->num_attrs};
    const unsigned char most[8] = {
        PDL_OVERLAP_REQUIRED, PDL_EVENT_AT_BLOCK_START, 1, 1, 1, PDL_DOMAIN_REMOTE, PDL_CARVEOUT_NO_SHARED, 16,
    };
    const unsigned refused = launching ? 0x75d4 : 0x55d4; /* bits 2, 4, 6, 7, 8, 10, 12, 14, and 13 */
    unsigned i;

    for (i = 0; i < 8; i++) {
        if (values[i] > most[i]) {
            return cudaErrorInvalidValue;
        }
    }
    if ((o->event_trigger != 0 && o->event == NULL) || (o->priority != 0 && o->has_priority == 0) ||
        (o->event_only != 0 && o->event == NULL && o->launch_completion_event == NULL) ||
        (o->event != NULL && o->event == o->launch_completion_event) || (o->num_attrs != 0 && o->attrs == NULL)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < o->num_attrs; i++) {
        const unsigned id = PDL_IMPL_CAST(unsigned, o->attrs[i].id);

        if (id < 16 && (refused >> id & 1) != 0) {
            return cudaErrorInvalidValue;
        }
    }
    if (!PDL_HAS_MEM_SYNC_DOMAIN && o->mem_sync_domain != 0) {
        return cudaErrorNotSupported;
    }
    return !PDL_HAS_CARVEOUT && o->carveout != 0 ? cudaErrorNotSupported : cudaSuccess;
}

/* What is wrong with options for this kernel: all own checks but those of the shape. */
PDL_API cudaError_t pdl_impl_check(const pdl_kernel *kernel, const pdl_options *o, int launching)
{
    PDL_IMPL_TRY(pdl_impl_check_options(o, launching));
    if (kernel == NULL || (!kernel->can_overlap && kernel->reason == 0) || (kernel->func == NULL && launching)) {
        return cudaErrorInvalidValue; /* never prepared, or not for the runtime */
    }
    return PDL_IMPL_IS(o->overlap, PDL_OVERLAP_REQUIRED) && !PDL_IMPL_IS(kernel->reason, PDL_REASON_DISABLED) &&
                   (kernel->can_overlap ? !PDL_HAS_LAUNCH_COMPLETION_EVENT && o->launch_completion_event != NULL : 1)
               ? cudaErrorNotSupported
               : cudaSuccess;
}

/* What is wrong with grid, block and cluster. */
PDL_API cudaError_t pdl_impl_check_shape(const pdl_kernel *k, dim3 grid, dim3 block, const pdl_options *o)
{
    const unsigned threads = PDL_IMPL_CAST(unsigned, k->max_threads_per_block);

    if (grid.x - 1 >= k->max_grid[0] || grid.y - 1 >= k->max_grid[1] || grid.z - 1 >= k->max_grid[2] ||
        block.x - 1 >= k->max_block[0] || block.y - 1 >= k->max_block[1] || block.z - 1 >= k->max_block[2]) {
        return cudaErrorInvalidConfiguration; /* 0 - 1 is more than any limit */
    }
    if ((o->cluster_x != 0 && grid.x % o->cluster_x != 0) || (o->cluster_y != 0 && grid.y % o->cluster_y != 0) ||
        (o->cluster_z != 0 && grid.z % o->cluster_z != 0)) {
        return cudaErrorInvalidConfiguration;
    }
    return 1ull * block.x * block.y * block.z > threads ? cudaErrorInvalidConfiguration : cudaSuccess;
}

/* 1 if this launch is to carry programmatic attributes. */
PDL_API int pdl_impl_overlaps(const pdl_kernel *kernel, const pdl_options *options)
{
    return kernel->can_overlap && options->overlap != 0;
}

/* The next free entry, zeroed, with its id set. */
PDL_API cudaLaunchAttributeValue *pdl_impl_add(cudaLaunchAttribute *attrs, unsigned *count, cudaLaunchAttributeID id)
{
    const cudaLaunchAttribute empty = PDL_ZERO;

    attrs[*count] = empty;
    attrs[*count].id = id;
    return &attrs[(*count)++].val;
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
        value->programmaticEvent.triggerAtBlockStart = PDL_IMPL_IS(o->event_trigger, PDL_EVENT_AT_BLOCK_START);
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
    if (o->mem_sync_domain != 0) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributeMemSyncDomain)->memSyncDomain =
            PDL_IMPL_IS(o->mem_sync_domain, PDL_DOMAIN_REMOTE) ? cudaLaunchMemSyncDomainRemote
                                                               : cudaLaunchMemSyncDomainDefault;
    }
#endif
#if PDL_HAS_CARVEOUT
    if (o->carveout != 0) {
        pdl_impl_add(attrs, &count, cudaLaunchAttributePreferredSharedMemoryCarveout)->sharedMemCarveout =
            PDL_IMPL_IS(o->carveout, PDL_CARVEOUT_NO_SHARED) ? 0 : o->carveout;
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
    const int carried = pdl_impl_overlaps(kernel, o);

    if (o->event != NULL && !carried) {
        PDL_IMPL_TRY(cudaEventRecord(o->event, stream));
    }
    return o->launch_completion_event != NULL && !(carried && PDL_HAS_LAUNCH_COMPLETION_EVENT)
               ? cudaEventRecord(o->launch_completion_event, stream)
               : cudaSuccess;
}

/* The checks of PDL_DEBUG: a kernel with parameters got some, and the device is the one it was prepared for. */
PDL_API cudaError_t pdl_impl_check_debug(const pdl_kernel *kernel, void **args)
{
    int device = kernel->device;

    if (PDL_DEBUG) {
        PDL_IMPL_TRY(args == NULL && kernel->num_params > 0 ? cudaErrorInvalidValue : cudaGetDevice(&device));
    }
    return device != kernel->device ? cudaErrorInvalidDevice : cudaSuccess;
}

/* ---- launch ---------------------------------------------------------------------------------------------------- */

PDL_API cudaError_t pdl_impl_launch_with(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                         size_t shared_bytes, cudaStream_t stream, cudaLaunchAttribute *attrs,
                                         unsigned count)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = count != 0 ? attrs : NULL;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, kernel->func, args);
}

/* Any launch, the refused ones, too. */
PDL_API cudaError_t pdl_impl_launch_any(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                        size_t shared_bytes, cudaStream_t stream, const pdl_options *o)
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];

    PDL_IMPL_TRY(pdl_impl_check(kernel, o, 1));
    PDL_IMPL_TRY(pdl_impl_check_shape(kernel, grid, block, o));
    PDL_IMPL_TRY(pdl_impl_check_debug(kernel, args));
    PDL_IMPL_TRY(pdl_impl_launch_with(kernel, grid, block, args, shared_bytes, stream, attrs,
                                      pdl_impl_fill(kernel, o, attrs)));
    return pdl_impl_record_behind(kernel, o, stream);
}

/* Launch a kernel; with overlap it may begin before the previous kernel in the stream has finished.
 *
 * kernel        prepared by pdl_kernel_init for the current device
 * grid, block   in blocks and in threads; at least 1 on every axis, in C too, where a zeroed dim3 is 0, 0, 0
 * args          one pointer per kernel parameter, in order; NULL only for a kernel without parameters
 * shared_bytes  dynamic shared memory per block
 * stream        0 is the default stream, legacy or per thread, as this file was compiled
 * options       NULL is all zero: an ordinary launch
 *
 * Returns cudaSuccess, or with nothing launched and CUDA's last error untouched
 *   cudaErrorInvalidValue          kernel is NULL, never prepared, or prepared for the driver; an unknown value in
 *                                  options; event_trigger without event, event_only without any event, one event in
 *                                  both roles, priority without has_priority; attrs NULL with num_attrs, more than 16
 *                                  of them, one that options has a field for (2, 4, 6, 7, 8, 10, 12, 14), or one that
 *                                  returns a handle (13: fill the attributes and launch yourself)
 *   cudaErrorInvalidConfiguration  0 or too much on an axis of grid or block, more threads per block than the kernel
 *                                  can have, a cluster that does not divide the grid
 *   cudaErrorNotSupported          overlap required, but kernel, device or toolkit cannot (kernel->reason); a field
 *                                  that this toolkit does not have
 *   cudaErrorInvalidDevice         PDL_DEBUG: another device is current than kernel was prepared for
 * or, with nothing launched, any error of cudaLaunchKernelExC: cudaErrorNotSupported there is an event with timing.
 *
 * Overlap  If possible: an ordinary launch where the kernel cannot. Required: an error where it cannot. PDL_DISABLE
 *          makes both ordinary launches. One CUDA call in any case, and one more per event recorded behind.
 * Events   With overlap an event is part of the launch. Without (not asked, not possible, PDL_DISABLE, or a toolkit
 *          without launch-completion events) it is recorded behind the launch: never lost, and only ever later. Should
 *          that recording fail (a destroyed event, another device's), its error is returned although the kernel runs,
 *          the one such case. Overlap wants events without timing; recording behind takes any.
 * Memory   With overlap the kernel sees its predecessor's stores only after pdl_wait(). What event releases may run
 *          before this kernel's stores are visible: a kernel needs pdl_wait() (so compute_90), and neither a copy nor
 *          the host may read on its strength. What launch_completion_event releases has no way to wait for this kernel.
 * Capture  Allowed. Overlap becomes a programmatic edge (12.3 or newer). A kernel that event releases gets one, too,
 *          launched with overlap or not; such a fork has to be joined by other means before capture ends.
 * Source   cudaLaunchKernelExC; driver_types.h, launch attributes 6, 7 and 12
 * Checked  ATTR-03, ATTR-05, TRIG-01, TRIG-02, WAIT-01, MEM-01, FWD-03, EVT-01, FB-04
 */
PDL_NODISCARD PDL_API cudaError_t pdl_launch(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                             size_t shared_bytes, cudaStream_t stream, const pdl_options *options)
{
    static const pdl_options zero = PDL_ZERO; /* on the stack it would cost thirty instructions */
    const pdl_options *o = options != NULL ? options : &zero;
    cudaLaunchAttribute attr;
    unsigned count = 0;

    if (PDL_DEBUG || kernel == NULL || !kernel->can_overlap || !pdl_impl_only_overlap(o) ||
        o->overlap > 2 || pdl_impl_check_shape(kernel, grid, block, o)) {
        return pdl_impl_launch_any(kernel, grid, block, args, shared_bytes, stream, o);
    }
    if (o->overlap != 0) {
        pdl_impl_add(&attr, &count, cudaLaunchAttributeProgrammaticStreamSerialization)
            ->programmaticStreamSerializationAllowed = 1;
    }
    return pdl_impl_launch_with(kernel, grid, block, args, shared_bytes, stream, &attr, count);
}

#ifdef __cplusplus
extern "C++" { /* in case somebody includes this file inside extern "C" */

/* C++: pdl_kernel_init without a cast. */
template <typename... pdl_params>
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init(pdl_kernel *kernel, void (*func)(pdl_params...))
{
    return pdl_kernel_init(kernel, reinterpret_cast<const void *>(func));
}

/* C++: launch with typed arguments, converted to the kernel's parameter types as in an ordinary call.
 *
 * func  the function that kernel was prepared from
 * args  as many as func has parameters; else it does not compile
 *
 * Returns cudaErrorInvalidValue if kernel was prepared from another function; otherwise all as the other pdl_launch.
 */
template <typename... pdl_params, typename... pdl_args>
PDL_NODISCARD PDL_API cudaError_t pdl_launch(const pdl_kernel *kernel, void (*func)(pdl_params...), dim3 grid,
                                             dim3 block, size_t shared_bytes, cudaStream_t stream,
                                             const pdl_options *options, pdl_args &&...args)
{
    static_assert(sizeof...(pdl_params) == sizeof...(pdl_args), "the kernel has another number of parameters");
    if (kernel == nullptr || kernel->func != reinterpret_cast<const void *>(func)) {
        return cudaErrorInvalidValue;
    }
    return [&](pdl_params... converted) {
        void *list[] = {static_cast<void *>(&converted)..., nullptr};
        return pdl_launch(kernel, grid, block, list, shared_bytes, stream, options);
    }(static_cast<pdl_args &&>(args)...);
}

} /* extern "C++" */
#else

/* Behind PDL_LAUNCH: with PDL_DEBUG, num_args has to be the kernel's number of parameters. */
PDL_NODISCARD PDL_API cudaError_t pdl_impl_launch_counted(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                                          size_t num_args, size_t shared_bytes, cudaStream_t stream,
                                                          const pdl_options *options)
{
    if (PDL_DEBUG && kernel != NULL && kernel->num_params >= 0 && num_args != (size_t)kernel->num_params) {
        return cudaErrorInvalidValue;
    }
    return pdl_launch(kernel, grid, block, args, shared_bytes, stream, options);
}

/* C: launch with the arguments' addresses as a list: PDL_LAUNCH(&kernel, grid, block, 0, stream, &options, &n, &out).
 *
 * With PDL_DEBUG (also where the kernel is prepared) and toolkit 12.4 or newer, a wrong number of arguments is
 * cudaErrorInvalidValue. At least one: a kernel without parameters goes through pdl_launch. Otherwise as pdl_launch.
 */
#define PDL_LAUNCH(kernel, grid, block, shared_bytes, stream, options, ...)                                            \
    pdl_impl_launch_counted((kernel), (grid), (block), (void *[]){__VA_ARGS__},                                        \
                            sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (shared_bytes), (stream), (options))
#endif

/* Create an event for options.event and options.launch_completion_event: one without timing.
 *
 * event  receives the event, on the current device; cudaEventDestroy ends it
 *
 * Returns cudaSuccess, cudaErrorInvalidValue if event is NULL, or any error of cudaEventCreateWithFlags.
 *
 * Source   driver_types.h cudaLaunchAttributeProgrammaticEvent: timing must be disabled
 * Checked  EVT-01
 */
PDL_NODISCARD PDL_API cudaError_t pdl_event_create(cudaEvent_t *event)
{
    return event != NULL ? cudaEventCreateWithFlags(event, cudaEventDisableTiming) : cudaErrorInvalidValue;
}

/* ---- for other launchers: CUTLASS, CUB, cuLaunchKernelEx ------------------------------------------------------- */

/* Write the launch attributes that pdl_launch would use.
 *
 * kernel     prepared by pdl_kernel_init or pdl_kernel_init_driver
 * options    NULL is all zero; as for pdl_launch, except that attribute 13 may be among the further ones
 * attrs      receives the attributes; the driver's CUlaunchAttribute has the same layout. NULL only with capacity 0
 * capacity   entries in attrs; PDL_MAX_ATTRIBUTES is always enough
 * num_attrs  receives the number written, 0 after an error
 *
 * Returns cudaSuccess, or with nothing written
 *   cudaErrorInvalidValue   num_attrs is NULL, attrs is NULL or too small; otherwise as pdl_launch
 *   cudaErrorNotSupported   as pdl_launch
 *
 * Makes no CUDA call. Grid and cluster are the other launcher's to check. pdl_events_record_behind has to follow the
 * launch, or an event is lost whenever the kernel cannot overlap. Otherwise as pdl_launch.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_attributes_fill(const pdl_kernel *kernel, const pdl_options *options,
                                                      cudaLaunchAttribute *attrs, unsigned capacity,
                                                      unsigned *num_attrs)
{
    const pdl_options zero = PDL_ZERO;
    const pdl_options *o = options != NULL ? options : &zero;
    cudaLaunchAttribute all[PDL_MAX_ATTRIBUTES];
    unsigned i, count;

    PDL_IMPL_TRY(num_attrs == NULL ? cudaErrorInvalidValue : cudaSuccess);
    *num_attrs = 0;
    PDL_IMPL_TRY(pdl_impl_check(kernel, o, 0));
    count = pdl_impl_fill(kernel, o, all);
    PDL_IMPL_TRY(count > capacity || (count != 0 && attrs == NULL) ? cudaErrorInvalidValue : cudaSuccess);
    for (i = 0; i < count; i++) {
        attrs[i] = all[i];
    }
    *num_attrs = count;
    return cudaSuccess;
}

/* Record, behind a launch with attributes from pdl_attributes_fill, the events that those could not carry.
 *
 * kernel, options  the same as for pdl_attributes_fill
 * stream           the stream of the launch; nothing else may come between launch and record
 *
 * Returns cudaSuccess, also if there is nothing to record; cudaErrorInvalidValue and cudaErrorNotSupported as
 * pdl_attributes_fill; or any error of cudaEventRecord.
 *
 * Checked  EVT-01
 */
PDL_NODISCARD PDL_API cudaError_t pdl_events_record_behind(const pdl_kernel *kernel, const pdl_options *options,
                                                           cudaStream_t stream)
{
    const pdl_options zero = PDL_ZERO;
    const pdl_options *o = options != NULL ? options : &zero;

    PDL_IMPL_TRY(pdl_impl_check(kernel, o, 0));
    return pdl_impl_record_behind(kernel, o, stream);
}

/* ---- why no overlap? ------------------------------------------------------------------------------------------- */

/* One launch of a pair, with the meaning of pdl_launch's parameters. */
typedef struct pdl_shape {
    const pdl_kernel *kernel;
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    const pdl_options *options;
} pdl_shape;

/* What the numbers say about a pair. */
typedef struct pdl_estimate {
    unsigned may_overlap;                 /* 1: nothing known stands in the way; no promise */
    unsigned reason;                      /* PDL_REASON_* why not */
    unsigned primary_blocks_per_sm;       /* still there when its last block starts, where there are fewest */
    unsigned dependent_blocks_per_sm;     /* that find room beside them */
    unsigned long long primary_waves;     /* rounds of blocks; the dependent cannot start before the last one */
} pdl_estimate;

/* What a multiprocessor has or a block takes, in the order of PDL_REASON_BLOCK_SLOTS and the three behind it; then, for
 * a device, its multiprocessors, threads per warp, and CUDA's own shared memory per block. */
typedef struct pdl_impl_room {
    unsigned long long of[7];
} pdl_impl_room;

/* What one side of a pair takes. */
typedef struct pdl_impl_side {
    pdl_impl_room block;
    unsigned long long alone;             /* blocks on a multiprocessor without others */
    unsigned long long least, split, most; /* shared memory of a multiprocessor: it runs there; wanted; it runs there */
} pdl_impl_side;

PDL_API cudaError_t pdl_impl_read_room(int device, pdl_impl_room *room)
{
    const enum cudaDeviceAttr ids[7] = {
        cudaDevAttrMaxBlocksPerMultiprocessor,    cudaDevAttrMaxThreadsPerMultiProcessor,
        cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
        cudaDevAttrMultiProcessorCount,           cudaDevAttrWarpSize,
        cudaDevAttrReservedSharedMemoryPerBlock,
    };
    int value = 0, i;

    for (i = 0; i < 7; i++) {
        PDL_IMPL_TRY(cudaDeviceGetAttribute(&value, ids[i], device));
        room->of[i] = PDL_IMPL_CAST(unsigned long long, value);
    }
    return cudaSuccess;
}

/* How many blocks fit beside some others, and the PDL_REASON_* of what limits them. */
PDL_API unsigned long long pdl_impl_fit(const pdl_impl_room *sm, const pdl_impl_room *other, unsigned long long others,
                                        const pdl_impl_room *block, unsigned *reason)
{
    unsigned long long fit = ~0ull;
    unsigned i;

    for (i = 0; i < 4; i++) {
        const unsigned long long taken = others * other->of[i];
        const unsigned long long left = taken < sm->of[i] ? sm->of[i] - taken : 0;

        if (block->of[i] != 0 && left / block->of[i] < fit) {
            fit = left / block->of[i];
            *reason = PDL_IMPL_CAST(unsigned, PDL_REASON_BLOCK_SLOTS) + i;
        }
    }
    return fit;
}

/* The split that has this much shared memory: there are few, and the next larger one is taken. */
PDL_API unsigned long long pdl_impl_split(const pdl_impl_room *sm, unsigned long long bytes)
{
    const unsigned char splits[] = {8, 16, 32, 64, 100, 132, 164, 196, 228}; /* KiB */
    unsigned i;

    for (i = 0; i < sizeof(splits) && splits[i] * 1024ull < bytes; i++) {
    }
    return i < sizeof(splits) && splits[i] * 1024ull < sm->of[3] ? splits[i] * 1024ull : sm->of[3];
}

/* What one block takes: threads in whole warps, registers in steps of 8 per thread; absurd sizes of shared memory become
 * 4 GiB, so that no sum overflows. And the splits, by rules that explain what an H200 does. Without a carve-out, blocks run
 * where there is room for as many as anything else allows, but their own split is larger (how much is a guess). With one,
 * they run where there is room for as many as it has room for, up to that, but in no larger split; and it speaks of their
 * own shared memory, so CUDA's comes on top, in proportion. */
PDL_API cudaError_t pdl_impl_measure(const pdl_shape *s, const pdl_impl_room *sm, pdl_impl_side *side)
{
    const unsigned long long threads = 1ull * s->block.x * s->block.y * s->block.z, absurd = 1ull << 32;
    const unsigned long long dynamic = s->shared_bytes < absurd ? s->shared_bytes : absurd;
    const unsigned long long shared = s->kernel->static_shared_bytes + dynamic;
    const unsigned of_launch = s->options != NULL ? s->options->carveout : 0;
    const int percent = of_launch == 0 ? s->kernel->preferred_carveout : PDL_IMPL_CAST(int, of_launch % 101);
    unsigned long long one, all, asked;
    pdl_impl_room own = *sm;
    unsigned limit;

    side->block.of[0] = 1;
    side->block.of[1] = (threads + sm->of[5] - 1) / sm->of[5] * sm->of[5];
    side->block.of[2] = side->block.of[1] * ((PDL_IMPL_CAST(unsigned, s->kernel->regs_per_thread) + 7u) / 8u * 8u);
    side->block.of[3] = shared + sm->of[6];
    side->alone = pdl_impl_fit(sm, sm, 0, &side->block, &limit);
    one = pdl_impl_split(sm, side->block.of[3]);
    all = pdl_impl_split(sm, side->block.of[3] * side->alone);
    side->least = all;
    side->most = sm->of[3];
    side->split = pdl_impl_split(sm, shared != 0 ? all + 1 : 4096 * (side->alone < 8 ? side->alone : 8));
    if (percent >= 0) {
        asked = sm->of[3] * PDL_IMPL_CAST(unsigned, percent) / 100;
        side->least = pdl_impl_split(sm, asked) < all ? pdl_impl_split(sm, asked) : all;
        side->least = side->least > one ? side->least : one;
        asked = pdl_impl_split(sm, shared != 0 ? asked * side->block.of[3] / shared : asked);
        side->most = shared == 0 && asked < side->split ? side->split : asked > one ? asked : one;
        side->split = side->most;
    }
    own.of[3] = side->split;
    side->alone = pdl_impl_fit(&own, &own, 0, &side->block, &limit);
    return side->alone == 0 ? cudaErrorInvalidConfiguration : cudaSuccess;
}

/* What stands in the way whatever the sizes. */
PDL_API unsigned pdl_impl_pair_reason(const pdl_kernel *primary, const pdl_kernel *dependent, const pdl_options *o)
{
    return !dependent->can_overlap
               ? dependent->reason
               : PDL_IMPL_CAST(unsigned, o == NULL || o->overlap == 0 || o->event_only  ? PDL_REASON_NOT_ASKED
                                         : primary->device != dependent->device         ? PDL_REASON_DEVICES
                                         : primary->ptx_version < 90                    ? PDL_REASON_NO_TRIGGER
                                         : pdl_impl_switched_on("CUDA_LAUNCH_BLOCKING") ? PDL_REASON_BLOCKING
                                         : o->cooperative                               ? PDL_REASON_COOPERATIVE
                                                                                        : PDL_REASON_NONE);
}

/* The checks of pdl_launch for one of a pair. Required overlap that cannot be had is an answer here, not an error. */
PDL_API cudaError_t pdl_impl_check_pair(const pdl_shape *s)
{
    const pdl_options zero = PDL_ZERO;
    const pdl_options *o = s != NULL && s->options != NULL ? s->options : &zero;

    PDL_IMPL_TRY(s == NULL || s->kernel == NULL || s->kernel->func == NULL ? cudaErrorInvalidValue
                                                                           : pdl_impl_check_options(o, 1));
    return pdl_impl_check_shape(s->kernel, s->grid, s->block, o);
}

/* Estimate whether a dependent can start while its primary still runs, and if not, what to change.
 *
 * estimate   receives the answer; all zero after an error
 * primary    the earlier launch
 * dependent  the next launch in the same stream, with the options it is launched with
 *
 * Returns cudaSuccess, or
 *   cudaErrorInvalidValue           a pointer or a kernel is NULL; options as for pdl_launch
 *   cudaErrorInvalidConfiguration   a shape that pdl_launch refuses, or a block that no multiprocessor can hold
 *   cudaErrorNotSupported           a field of options that this toolkit does not have
 *   any error of cudaDeviceGetAttribute
 *
 * It compares block slots, threads, registers, shared memory and its split from L1 at the moment when the primary's last
 * block has started, on the least loaded multiprocessor, and takes the primary to trigger before it ends. Blocks of a
 * first wave are taken to spread evenly, those of later waves to go where places become free. Which split the driver sets
 * is documented nowhere: the rules here agree with 99 of 100 mixes measured on an H200, other GPUs may differ, and
 * PDL_CARVEOUT_MAX for both is the safe way. It knows nothing of clusters, of other work on the device, nor of what lies
 * between the two in the stream: a memset, or an event with timing, prevents overlap. Reads CUDA_LAUNCH_BLOCKING.
 *
 * Source   measurements; PTX ISA griddepcontrol.launch_dependents (all blocks have started)
 * Checked  TRIG-02
 */
PDL_NODISCARD PDL_API cudaError_t pdl_overlap_estimate(pdl_estimate *estimate, const pdl_shape *primary,
                                                       const pdl_shape *dependent)
{
    const pdl_estimate empty = PDL_ZERO;
    unsigned long long blocks, wave, last, there, fit;
    pdl_impl_side first = PDL_ZERO, second = PDL_ZERO;
    unsigned limit = PDL_REASON_NONE;
    pdl_impl_room sm = PDL_ZERO;

    if (estimate == NULL) {
        return cudaErrorInvalidValue;
    }
    *estimate = empty;
    PDL_IMPL_TRY(pdl_impl_check_pair(primary));
    PDL_IMPL_TRY(pdl_impl_check_pair(dependent));
    PDL_IMPL_TRY(pdl_impl_read_room(primary->kernel->device, &sm));
    PDL_IMPL_TRY(pdl_impl_measure(primary, &sm, &first));
    PDL_IMPL_TRY(pdl_impl_measure(dependent, &sm, &second));
    blocks = 1ull * primary->grid.x * primary->grid.y * primary->grid.z;
    wave = sm.of[4] * first.alone;
    last = (blocks - 1) % wave + 1;
    there = blocks <= wave ? last / sm.of[4] : first.alone - (wave - last < first.alone ? wave - last : first.alone);
    fit = pdl_impl_fit(&sm, &first.block, there, &second.block, &limit);
    if (fit != 0) {
        limit = PDL_REASON_NONE;
    }
    if (fit != 0 && there != 0) { /* an idle multiprocessor takes any split */
        sm.of[3] = first.split;
        fit = pdl_impl_fit(&sm, &first.block, there, &second.block, &limit);
        fit = first.split < second.least || first.split > second.most ? 0 : fit;
        limit = PDL_IMPL_CAST(unsigned, fit != 0 ? PDL_REASON_NONE : PDL_REASON_CARVEOUT);
    }
    estimate->primary_blocks_per_sm = PDL_IMPL_CAST(unsigned, there);
    estimate->dependent_blocks_per_sm = PDL_IMPL_CAST(unsigned, fit);
    estimate->primary_waves = (blocks - 1) / wave + 1;
    estimate->reason = pdl_impl_pair_reason(primary->kernel, dependent->kernel, dependent->options);
    estimate->reason = estimate->reason != 0 ? estimate->reason : limit;
    estimate->may_overlap = estimate->reason == 0;
    return cudaSuccess;
}

/* ---- graphs: edges by kind ------------------------------------------------------------------------------------- */

/* When an edge lets its consumer start; in CUDA's terms (from_port, to_port, type). */
enum {
    PDL_EDGE_FULL = 0,                 /* (0,0,0): the producer has completed, and its stores are visible */
    PDL_EDGE_PROGRAMMATIC = 1,         /* (1,0,1): all blocks of the producer have triggered; pdl_wait() covers it */
    PDL_EDGE_BLOCK_START = 2,          /* (2,0,1): all of them have begun; pdl_wait() covers it */
    PDL_EDGE_LAUNCH_COMPLETION = 3,    /* (2,0,0): all of them have begun; NO wait covers it */
    PDL_EDGE_UNKNOWN = 4               /* anything else; only ever read */
};

/* An edge. Nodes, graphs, streams and functions of the driver may be given, too: they are the same C types. */
typedef struct pdl_graph_edge {
    cudaGraphNode_t from;    /* the producer */
    cudaGraphNode_t to;      /* the consumer */
    unsigned kind;           /* PDL_EDGE_*: as asked for; after success, as it is in the graph */
    unsigned reason;         /* written: PDL_REASON_* why it was refused, or why it became a full edge; else 0 */
} pdl_graph_edge;

/* Whether an edge is legal: the whole table, without a CUDA call.
 *
 * from_port, to_port, type   as in cudaGraphEdgeData
 * reserved                   not 0 if any of its reserved bytes is not
 * from, to                   the types of the two nodes
 *
 * Returns PDL_REASON_NONE, or the PDL_REASON_EDGE_* of the first thing that is wrong.
 *
 * Source   driver_types.h, cudaGraphEdgeData, cudaGraphKernelNodePort*, cudaGraphDependencyType
 * Checked  EDGE-02 to EDGE-08
 */
PDL_API unsigned pdl_graph_edge_judge(unsigned from_port, unsigned to_port, unsigned type, unsigned reserved,
                                      enum cudaGraphNodeType from, enum cudaGraphNodeType to)
{
    const int from_kernel = PDL_IMPL_IS(from, cudaGraphNodeTypeKernel);
    const int to_kernel = PDL_IMPL_IS(to, cudaGraphNodeTypeKernel);

    return PDL_IMPL_CAST(unsigned, reserved != 0                    ? PDL_REASON_EDGE_RESERVED
                                   : to_port != 0                   ? PDL_REASON_EDGE_TO_PORT
                                   : type > 1                       ? PDL_REASON_EDGE_TYPE
                                   : from_port > 2                  ? PDL_REASON_EDGE_FROM_PORT
                                   : type == 1 && from_port == 0    ? PDL_REASON_EDGE_PORT_0
                                   : type == 0 && from_port == 1    ? PDL_REASON_EDGE_PORT_1
                                   : from_port != 0 && !from_kernel ? PDL_REASON_EDGE_PRODUCER
                                   : type == 1 && !to_kernel        ? PDL_REASON_EDGE_CONSUMER
                                                                    : PDL_REASON_NONE);
}

/* 1 for the two kinds that a wait covers. */
PDL_API int pdl_impl_is_programmatic(unsigned kind)
{
    return kind - 1 < 2;
}

/* 1 for the three kinds with which the consumer may start while the producer runs. */
PDL_API int pdl_impl_is_early(unsigned kind)
{
    return kind - 1 < 3;
}

/* Edge data of a kind. */
PDL_API pdl_impl_edge_data pdl_impl_data_of(unsigned kind)
{
    pdl_impl_edge_data data = PDL_ZERO;

    data.from_port = PDL_IMPL_CAST(unsigned char, kind < 2 ? kind : 2);
    data.type = pdl_impl_is_programmatic(kind) ? 1 : 0;
    return data;
}

/* What is wrong with an edge that nobody has looked up. to_exists 0: the consumer is still to be added. */
PDL_API unsigned pdl_impl_judge_ends(const pdl_graph_edge *edge, int to_exists)
{
    return PDL_IMPL_CAST(unsigned, edge->from == NULL || (to_exists && (edge->to == NULL || edge->to == edge->from))
                                       ? PDL_REASON_EDGE_NODES
                                   : edge->kind < PDL_IMPL_CAST(unsigned, PDL_EDGE_UNKNOWN) ? PDL_REASON_NONE
                                                                                            : PDL_REASON_EDGE_KIND);
}

/* All checks of edges into one kernel, or into other nodes (consumer NULL). Afterwards those that have to become full are,
 * and their reason says why. */
PDL_API cudaError_t pdl_impl_check_edges(pdl_graph_edge *edges, size_t num_edges, int to_exists,
                                         const pdl_kernel *consumer, unsigned overlap)
{
    const unsigned toolkit = PDL_HAS_GRAPH_EDGES ? 0 : PDL_IMPL_CAST(unsigned, PDL_REASON_EDGE_TOOLKIT);
    const unsigned cannot = consumer != NULL && !consumer->can_overlap ? consumer->reason : toolkit;
    unsigned any_wrong = 0;
    size_t i;

    if ((edges == NULL && num_edges != 0) || overlap > 2 ||
        (consumer != NULL && !consumer->can_overlap && consumer->reason == 0)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < num_edges; i++) {
        edges[i].reason = pdl_impl_judge_ends(&edges[i], to_exists);
        if (edges[i].reason == 0 && edges[i].kind != 0) {
            edges[i].reason = PDL_IMPL_CAST(unsigned, consumer == NULL && pdl_impl_is_programmatic(edges[i].kind)
                                                          ? PDL_REASON_EDGE_CONSUMER
                                                      : overlap == 0 ? PDL_REASON_NOT_ASKED
                                                                     : PDL_REASON_NONE);
        }
        any_wrong |= edges[i].reason;
    }
    for (i = 0; i < num_edges && !any_wrong; i++) {
        const pdl_impl_edge_data data = pdl_impl_data_of(edges[i].kind);
        enum cudaGraphNodeType from = cudaGraphNodeTypeKernel, to = cudaGraphNodeTypeKernel;

        if (edges[i].kind != 0) {
            PDL_IMPL_TRY(cudaGraphNodeGetType(edges[i].from, &from));
            PDL_IMPL_TRY(to_exists ? cudaGraphNodeGetType(edges[i].to, &to) : cudaSuccess);
            any_wrong = edges[i].reason = pdl_graph_edge_judge(data.from_port, 0, data.type, 0, from, to);
        }
    }
    for (i = 0; i < num_edges && !any_wrong && cannot != 0; i++) {
        edges[i].reason = edges[i].kind != 0 ? cannot : 0;
        if (edges[i].kind != 0 && overlap == 2 && !PDL_IMPL_IS(cannot, PDL_REASON_DISABLED)) {
            return cudaErrorNotSupported;
        }
        edges[i].kind = 0;
    }
    return any_wrong ? cudaErrorInvalidValue : cudaSuccess;
}

/* Adds or removes edges: all or none. */
PDL_API cudaError_t pdl_impl_set_edges(cudaGraph_t graph, const pdl_graph_edge *edges, size_t num_edges, int add)
{
    size_t i;

    for (i = 0; i < num_edges; i++) {
        const pdl_impl_edge_data data = pdl_impl_data_of(edges[i].kind);
        const cudaGraphNode_t from = edges[i].from, to = edges[i].to;
        const cudaError_t error =
            add ? PDL_IMPL_EDGES(cudaGraphAddDependencies, _v2)(graph, &from, &to, PDL_IMPL_EDGE_DATA(&data) 1)
                : PDL_IMPL_EDGES(cudaGraphRemoveDependencies, _v2)(graph, &from, &to, PDL_IMPL_EDGE_DATA(&data) 1);

        (void)data;
        if (error) {
            (void)!pdl_impl_set_edges(graph, edges, i, !add);
            return error;
        }
    }
    return cudaSuccess;
}

/* Connect nodes of a graph with one kernel, or with others, by edges that say their kinds.
 *
 * graph      of the runtime or the driver; one that is being captured, too
 * edges      from, to and kind of each; kind and reason are written, also if CUDA then refuses
 * num_edges  0 does nothing
 * consumer   the kernel of every node that an edge leads to, prepared by pdl_kernel_init or pdl_kernel_init_driver;
 *            NULL if these are no kernels
 * overlap    PDL_OVERLAP_IF_POSSIBLE: where the consumer cannot overlap (consumer->reason), or the toolkit has no edge
 *            data, the edge becomes a full one, which is always correct; kind and reason say so. PDL_OVERLAP_REQUIRED:
 *            an error there, unless PDL_DISABLE is the reason. PDL_OVERLAP_NONE: for full edges alone
 *
 * Returns cudaSuccess, or with no edge added, and CUDA's last error untouched
 *   cudaErrorInvalidValue   graph, edges or a node is NULL; consumer was never prepared; an unknown overlap; an edge that
 *                           its reason explains: an unknown kind, one node at both ends, a kind other than full with
 *                           PDL_OVERLAP_NONE or from a node that is no kernel, a programmatic kind to such a node or
 *                           without consumer. Of all these only the types of nodes are asked from CUDA
 *   cudaErrorNotSupported   overlap required, but not possible (reason)
 * or, with no edge added, any error of cudaGraphNodeGetType and cudaGraphAddDependencies: cudaErrorInvalidValue the two
 * nodes have an edge already.
 *
 * Memory   Behind PDL_EDGE_PROGRAMMATIC and PDL_EDGE_BLOCK_START the consumer sees the producer's stores only after
 *          pdl_wait(), and a kernel that does not wait orders nothing for those behind it: pdl_graph_check finds these.
 *          Behind PDL_EDGE_LAUNCH_COMPLETION it sees them never.
 * Source   cudaGraphAddDependencies; driver_types.h cudaGraphEdgeData; measurements
 * Checked  EDGE-01, EDGE-05, EDGE-09, EDGE-10, EDGE-16, COMP-04
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_connect(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                                    const pdl_kernel *consumer, unsigned overlap)
{
    PDL_IMPL_TRY(graph == NULL ? cudaErrorInvalidValue : pdl_impl_check_edges(edges, num_edges, 1, consumer, overlap));
    return pdl_impl_set_edges(graph, edges, num_edges, 1);
}

/* Remove edges, all or none.
 *
 * edges  from, to and kind as they are in the graph; reason is written
 *
 * Returns cudaSuccess, or with no edge removed, and CUDA's last error untouched
 *   cudaErrorInvalidValue   graph, edges or a node is NULL; an unknown kind (reason)
 *   cudaErrorNotSupported   a kind other than full, and the toolkit has no edge data (reason)
 * or, with no edge removed, any error of cudaGraphRemoveDependencies: cudaErrorInvalidValue there is no such edge, or it
 * is of another kind.
 *
 * Source   cudaGraphRemoveDependencies
 * Checked  EDGE-17
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_remove(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges)
{
    size_t i;

    if (graph == NULL || (edges == NULL && num_edges != 0)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < num_edges; i++) {
        edges[i].reason = pdl_impl_judge_ends(&edges[i], 1);
        if (edges[i].reason != 0) {
            return cudaErrorInvalidValue;
        }
        if (!PDL_HAS_GRAPH_EDGES && edges[i].kind != 0) {
            edges[i].reason = PDL_REASON_EDGE_TOOLKIT;
            return cudaErrorNotSupported;
        }
    }
    return pdl_impl_set_edges(graph, edges, num_edges, 0);
}

/* Change the kind of an edge.
 *
 * edge      from, to and kind as they are in the graph; kind and reason are written
 * kind      PDL_EDGE_*, what it is to be
 * consumer, overlap   as for pdl_graph_connect
 *
 * Returns as pdl_graph_remove and pdl_graph_connect; after an error the edge is what it was. CUDA has no call for this:
 * the edge is removed and added, and so comes last among the graph's edges.
 *
 * Checked  EDGE-17
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_change(cudaGraph_t graph, pdl_graph_edge *edge, unsigned kind,
                                                   const pdl_kernel *consumer, unsigned overlap)
{
    pdl_graph_edge now = PDL_ZERO, next = PDL_ZERO;

    PDL_IMPL_TRY(graph == NULL || edge == NULL ? cudaErrorInvalidValue : cudaSuccess);
    now = next = *edge;
    next.kind = kind;
    {
        const cudaError_t error = pdl_impl_check_edges(&next, 1, 1, consumer, overlap);

        edge->reason = next.reason;
        PDL_IMPL_TRY(error);
    }
    PDL_IMPL_TRY(pdl_graph_remove(graph, edge, 1));
    {
        const cudaError_t error = pdl_impl_set_edges(graph, &next, 1, 1);

        if (error) {
            (void)!pdl_impl_set_edges(graph, &now, 1, 1);
            return error;
        }
    }
    *edge = next;
    return cudaSuccess;
}

/* Gives a new node the attributes that pdl_launch would give a launch without overlap, and its edges; all is checked. */
PDL_API cudaError_t pdl_impl_furnish(cudaGraphNode_t node, cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                     const pdl_kernel *kernel, const pdl_options *o)
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    const unsigned count = pdl_impl_fill(kernel, o, attrs);
    size_t i;

    for (i = 0; i < count; i++) {
        PDL_IMPL_TRY(cudaGraphKernelNodeSetAttribute(node, attrs[i].id, &attrs[i].val));
    }
    for (i = 0; i < num_edges; i++) {
        edges[i].to = node;
    }
    return pdl_impl_set_edges(graph, edges, num_edges, 1);
}

/* Add a kernel node: pdl_launch for a graph that is built by hand.
 *
 * node              receives the node
 * graph             of the runtime or the driver
 * edges             from and kind of each edge that leads to the new node; to, kind and reason are written
 * num_edges         0: the node depends on nothing
 * kernel to shared_bytes   as for pdl_launch; the arguments are copied
 * options           as for pdl_launch; overlap says how edges are meant, as for pdl_graph_connect. Events belong to
 *                   streams: edges of the same kinds take their place
 *
 * Returns cudaSuccess, or with no node added, and CUDA's last error untouched
 *   cudaErrorInvalidValue           node or graph is NULL; an event in options; otherwise as pdl_launch and
 *                                   pdl_graph_connect
 *   cudaErrorInvalidConfiguration, cudaErrorNotSupported, cudaErrorInvalidDevice   as pdl_launch and pdl_graph_connect
 * or, with no node added, any error of cudaGraphNodeGetType, cudaGraphAddKernelNode, cudaGraphKernelNodeSetAttribute and
 * cudaGraphAddDependencies: cudaErrorInvalidValue two edges come from the same node.
 *
 * A kernel of the driver (CUfunction) is added by the driver's own call, without edges; pdl_graph_connect does the rest.
 *
 * Memory, Source and Checked  as pdl_graph_connect.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, pdl_graph_edge *edges,
                                                       size_t num_edges, const pdl_kernel *kernel, dim3 grid, dim3 block,
                                                       void **args, size_t shared_bytes, const pdl_options *options)
{
    const pdl_options zero = PDL_ZERO;
    pdl_options o = options != NULL ? *options : zero;
    struct cudaKernelNodeParams params = PDL_ZERO;
    const unsigned overlap = o.overlap;

    o.overlap = PDL_OVERLAP_NONE;
    if (node == NULL || graph == NULL || o.event != NULL || o.launch_completion_event != NULL ||
        shared_bytes > 0xffffffffu) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_check(kernel, &o, 1));
    PDL_IMPL_TRY(pdl_impl_check_shape(kernel, grid, block, &o));
    PDL_IMPL_TRY(pdl_impl_check_edges(edges, num_edges, 0, kernel, overlap));
    PDL_IMPL_TRY(pdl_impl_check_debug(kernel, args));
    params.func = PDL_IMPL_MUTABLE(kernel->func);
    params.gridDim = grid;
    params.blockDim = block;
    params.sharedMemBytes = PDL_IMPL_CAST(unsigned, shared_bytes);
    params.kernelParams = args;
    PDL_IMPL_TRY(cudaGraphAddKernelNode(node, graph, NULL, 0, &params));
    {
        const cudaError_t error = pdl_impl_furnish(*node, graph, edges, num_edges, kernel, &o);

        if (error) {
            (void)!cudaGraphDestroyNode(*node);
            *node = NULL;
        }
        return error;
    }
}

/* The kind of edge data, from its bytes: from_port, to_port, type, and five that are reserved. */
PDL_API unsigned pdl_impl_kind_of(const void *data)
{
    const unsigned char *byte = PDL_IMPL_CAST(const unsigned char *, data);
    const unsigned char kinds[6] = {PDL_EDGE_FULL,    PDL_EDGE_UNKNOWN,      PDL_EDGE_LAUNCH_COMPLETION,
                                    PDL_EDGE_UNKNOWN, PDL_EDGE_PROGRAMMATIC, PDL_EDGE_BLOCK_START};
    const int others = byte[1] | byte[3] | byte[4] | byte[5] | byte[6] | byte[7];

    return kinds[byte[0] < 3 && byte[2] < 2 && others == 0 ? 3 * byte[2] + byte[0] : 1];
}

/* Swaps two of the 8-byte words that an array of edges consists of, whatever type they have just now. */
PDL_API void pdl_impl_swap_words(unsigned char *words, size_t one, size_t other)
{
    unsigned i;

    for (i = 0; i < 8; i++) {
        const unsigned char held = words[8 * one + i];

        words[8 * one + i] = words[8 * other + i];
        words[8 * other + i] = held;
    }
}

/* What is read: the edges of a graph, or those of a node. */
typedef struct pdl_impl_query {
    cudaGraph_t graph;       /* NULL: of the node */
    cudaGraphNode_t node;
    int out;                 /* 1: those that leave the node; 0: those that lead to it */
} pdl_impl_query;

#if PDL_HAS_GRAPH_EDGES
PDL_API cudaError_t pdl_impl_ask_edges(const pdl_impl_query *query, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                       pdl_impl_edge_data *data, size_t *count)
{
    return query->graph != NULL ? PDL_IMPL_EDGES(cudaGraphGetEdges, _v2)(query->graph, from, to, data, count)
           : query->out         ? PDL_IMPL_EDGES(cudaGraphNodeGetDependentNodes, _v2)(query->node, to, data, count)
                                : PDL_IMPL_EDGES(cudaGraphNodeGetDependencies, _v2)(query->node, from, data, count);
}

/* How many edges there are if room of them filled their place. Without an array for edge data CUDA may refuse to tell;
 * so it is asked only while its last error is clean, which is cleaned again, and the answer is then a guess. */
PDL_API cudaError_t pdl_impl_count_edges(const pdl_impl_query *query, size_t room, size_t *count)
{
    if (!cudaPeekAtLastError()) {
        const cudaError_t error = pdl_impl_ask_edges(query, NULL, NULL, NULL, count);

        if (!PDL_IMPL_IS(error, cudaErrorLossyQuery)) {
            return error;
        }
        (void)cudaGetLastError();
    }
    *count = 2 * room + 16;
    return cudaSuccess;
}

/* Reads edges into three arrays of *count entries; *count becomes their number. */
PDL_API cudaError_t pdl_impl_read_edges(const pdl_impl_query *query, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                        pdl_impl_edge_data *data, size_t *count)
{
    const size_t room = *count;

    PDL_IMPL_TRY(room != 0 ? pdl_impl_ask_edges(query, from, to, data, count) : cudaSuccess);
    PDL_IMPL_TRY(*count == room ? pdl_impl_count_edges(query, room, count) : cudaSuccess);
    return *count > room ? cudaErrorMemoryAllocation : cudaSuccess;
}
#endif

/* Edges in place: an array of edges has just the room for the three arrays that CUDA writes. Three columns become rows by
 * swapping each place with the one whose content belongs there, or with where that has been swapped to meanwhile. */
PDL_API cudaError_t pdl_impl_list_edges(cudaGraph_t graph, cudaGraphNode_t node, int out, pdl_graph_edge *edges,
                                        size_t *num_edges)
{
#if PDL_HAS_GRAPH_EDGES
    const pdl_impl_query query = {graph, node, out};
    const size_t room = edges != NULL && num_edges != NULL ? *num_edges : 0;
    void *memory = edges;
    unsigned char *words = PDL_IMPL_CAST(unsigned char *, memory);
    cudaGraphNode_t *nodes = PDL_IMPL_CAST(cudaGraphNode_t *, memory);
    size_t i, place, count = room;

    PDL_IMPL_TRY(num_edges == NULL || (graph == NULL && node == NULL) ? cudaErrorInvalidValue : cudaSuccess);
    *num_edges = 0;
    for (i = 0; i < 2 * room; i++) {
        nodes[i] = node; /* one of the two arrays stays so */
    }
    memory = room != 0 ? words + 16 * room : NULL;
    {
        const cudaError_t error =
            pdl_impl_read_edges(&query, nodes, nodes + room, PDL_IMPL_CAST(pdl_impl_edge_data *, memory), &count);

        *num_edges = !error || PDL_IMPL_IS(error, cudaErrorMemoryAllocation) ? count : 0;
        PDL_IMPL_TRY(error);
    }
    for (i = 0; i < 2 * count; i++) { /* closes the gaps behind count */
        pdl_impl_swap_words(words, count + i, i < count ? room + i : 2 * room - count + i);
    }
    for (i = 0; i < 3 * count; i++) {
        for (place = i % 3 * count + i / 3; place < i;) {
            place = place % 3 * count + place / 3;
        }
        pdl_impl_swap_words(words, i, place);
    }
    for (i = 0; i < count; i++) {
        edges[i].kind = pdl_impl_kind_of(words + 24 * i + 16);
        edges[i].reason = 0;
    }
    return cudaSuccess;
#else
    (void)graph, (void)node, (void)out, (void)edges, (void)num_edges;
    return cudaErrorNotSupported;
#endif
}

/* Read the edges of a graph.
 *
 * graph      of the runtime or the driver; one that is being captured, too (see pdl_graph_edges_of_capture)
 * edges      receives the edges, in CUDA's order; NULL only if *num_edges is 0
 * num_edges  in: entries in edges; out: how many edges there are, 0 after an error other than the second
 *
 * Returns cudaSuccess, or
 *   cudaErrorInvalidValue       graph or num_edges is NULL
 *   cudaErrorMemoryAllocation   edges is too small; its contents are undefined; *num_edges says what is needed: exactly,
 *                               or, where CUDA does not tell, a guess that is larger than what was given
 *   cudaErrorNotSupported       the toolkit has no edge data
 * or any error of cudaGraphGetEdges.
 *
 * Never a lossy query.
 * Source   cudaGraphGetEdges
 * Checked  EDGE-11, EDGE-14
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t *num_edges)
{
    return pdl_impl_list_edges(graph, NULL, 0, edges, num_edges);
}

/* Read the edges that lead to a node. As pdl_graph_edges, with cudaGraphNodeGetDependencies. */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_to(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges)
{
    return pdl_impl_list_edges(NULL, node, 0, edges, num_edges);
}

/* Read the edges that leave a node. As pdl_graph_edges, with cudaGraphNodeGetDependentNodes. */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_from(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges)
{
    return pdl_impl_list_edges(NULL, node, 1, edges, num_edges);
}

/* Count the edges of a graph that let a kernel start early and wait: has the capture kept the overlap?
 *
 * edges, num_edges   scratch, as for pdl_graph_edges, which fills it
 * count              receives how many are PDL_EDGE_PROGRAMMATIC or PDL_EDGE_BLOCK_START; 0 after an error
 *
 * Returns cudaErrorInvalidValue if count is NULL; otherwise as pdl_graph_edges.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_count_programmatic(cudaGraph_t graph, pdl_graph_edge *edges,
                                                               size_t *num_edges, size_t *count)
{
    size_t i;

    PDL_IMPL_TRY(count == NULL ? cudaErrorInvalidValue : cudaSuccess);
    *count = 0;
    PDL_IMPL_TRY(pdl_graph_edges(graph, edges, num_edges));
    for (i = 0; i < *num_edges; i++) {
        *count += pdl_impl_is_programmatic(edges[i].kind) ? 1u : 0u;
    }
    return cudaSuccess;
}

/* Read what the next work captured in a stream will depend on.
 *
 * graph             receives the graph that is being made; NULL: not wanted. Its edges: pdl_graph_edges
 * edges, num_edges  as for pdl_graph_edges; to is NULL
 *
 * Returns cudaErrorIllegalState if the stream is not captured, cudaErrorStreamCaptureInvalidated if its capture is
 * broken, both with CUDA's last error untouched; any error of cudaStreamGetCaptureInfo; otherwise as pdl_graph_edges. The
 * kind is what CUDA holds now: a launch with overlap may still make it programmatic.
 *
 * Source   cudaStreamGetCaptureInfo
 * Checked  EDGE-18
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_of_capture(cudaStream_t stream, cudaGraph_t *graph,
                                                             pdl_graph_edge *edges, size_t *num_edges)
{
#if PDL_HAS_GRAPH_EDGES
    const size_t room = edges != NULL && num_edges != NULL ? *num_edges : 0;
    enum cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    const pdl_impl_edge_data full = PDL_ZERO, *data = NULL;
    const cudaGraphNode_t *nodes = NULL;
    pdl_graph_edge empty = PDL_ZERO;
    cudaGraph_t captured = NULL;
    size_t i, count = 0;

    if (num_edges == NULL) {
        return cudaErrorInvalidValue;
    }
    *num_edges = 0;
    PDL_IMPL_TRY(PDL_IMPL_EDGES(cudaStreamGetCaptureInfo, _v3)(stream, &state, NULL, &captured, &nodes, &data, &count));
    if (!PDL_IMPL_IS(state, cudaStreamCaptureStatusActive)) {
        return PDL_IMPL_IS(state, cudaStreamCaptureStatusNone) ? cudaErrorIllegalState
                                                               : cudaErrorStreamCaptureInvalidated;
    }
    *num_edges = count;
    if (graph != NULL) {
        *graph = captured;
    }
    for (i = 0; i < count && i < room; i++) {
        edges[i] = empty;
        edges[i].from = nodes[i];
        edges[i].kind = pdl_impl_kind_of(data != NULL ? &data[i] : &full);
    }
    return count > room ? cudaErrorMemoryAllocation : cudaSuccess;
#else
    (void)stream, (void)graph, (void)edges, (void)num_edges;
    return cudaErrorNotSupported;
#endif
}

/* Make the next work captured in a stream depend on these nodes, instead of on what came before it.
 *
 * stream            one that is being captured
 * edges, num_edges  from and kind of each; to is not looked at; kind and reason are written; at most 32
 * consumer, overlap as for pdl_graph_connect; consumer is the kernel that is launched next, NULL if that is no kernel
 *
 * Returns as pdl_graph_connect, with nothing changed after an error; cudaErrorInvalidValue more than 32 edges; any error
 * of cudaStreamUpdateCaptureDependencies: cudaErrorIllegalState the stream is not captured. A launch with overlap makes
 * full edges from kernels programmatic.
 *
 * Source   cudaStreamUpdateCaptureDependencies, cudaStreamSetCaptureDependencies
 * Checked  EDGE-18, EDGE-20
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_connect_capture(cudaStream_t stream, pdl_graph_edge *edges,
                                                            size_t num_edges, const pdl_kernel *consumer,
                                                            unsigned overlap)
{
    cudaGraphNode_t nodes[32];
    pdl_impl_edge_data data[32];
    size_t i;

    PDL_IMPL_TRY(num_edges > 32 ? cudaErrorInvalidValue
                                : pdl_impl_check_edges(edges, num_edges, 0, consumer, overlap));
    for (i = 0; i < num_edges; i++) {
        nodes[i] = edges[i].from;
        data[i] = pdl_impl_data_of(edges[i].kind);
    }
    (void)data;
    return PDL_IMPL_EDGES(cudaStreamUpdateCaptureDependencies, _v2)(
        stream, nodes, PDL_IMPL_EDGE_DATA(data) num_edges, cudaStreamSetCaptureDependencies);
}

/* ---- graphs: does every kernel see what it depends on? --------------------------------------------------------- */

enum { PDL_WAITS_UNKNOWN = 0, PDL_WAITS_YES = 1, PDL_WAITS_NO = 2 };
enum { PDL_SEVERITY_HINT = 0, PDL_SEVERITY_ERROR = 1 };

/* What pdl_graph_check finds: PDL_FINDING_NO_WAIT is 0, and so on; new ones are added behind. Three sentences each: the
 * error, the hint where it depends on a kernel of which it is not known whether it waits, the hint where all is well. */
#define PDL_IMPL_FINDINGS(X)                                                                                           \
    X(NO_WAIT, "the consumer does not wait, so nothing orders it behind the producer of its programmatic edge",        \
      "the consumer is behind the producer of its programmatic edge only if a kernel waits that may not",              \
      "the consumer does not wait, and is behind the producer only because of other edges")                            \
    X(FULL_EDGE, "a full edge covers its producer alone: the consumer is not behind what that one overlaps",           \
      "a full edge covers its producer alone: this is safe only if a kernel waits that may not", "")                    \
    X(LAUNCH_COMPLETION, "the consumer starts while the producer runs, and no wait covers a launch-completion edge",   \
      "no wait covers a launch-completion edge: this is safe only if a kernel waits that may not",                     \
      "no wait covers a launch-completion edge, and the consumer is behind the producer only because of other edges")  \
    X(FAN_IN, "", "", "the consumer has several incoming edges, so its programmatic ones gain no overlap")             \
    X(NESTED, "", "", "a child graph or a conditional body, which was not looked into: check it by itself")            \
    X(UNKNOWN_EDGE, "", "", "edge data that this version of pdl.h does not know; taken for a full edge")
#define PDL_IMPL_FINDING_CODE(name, error, unsure, fine) PDL_FINDING_##name,
#define PDL_IMPL_FINDING_TEXT(name, error, unsure, fine) {error, unsure, fine},

enum { PDL_IMPL_FINDINGS(PDL_IMPL_FINDING_CODE) PDL_IMPL_FINDING_COUNT };

typedef struct pdl_graph_finding {
    unsigned kind;             /* PDL_FINDING_* */
    unsigned severity;         /* PDL_SEVERITY_* */
    cudaGraphNode_t from;      /* the edge's producer; of FAN_IN, one of those with a programmatic edge; of NESTED NULL */
    cudaGraphNode_t to;        /* the edge's consumer, or the node itself */
    cudaGraphNode_t missed;    /* the kernel that may still run; NULL: none */
    const char *sentence;      /* constant text */
} pdl_graph_finding;

/* Whether a kernel node waits: PDL_WAITS_YES if every thread that touches shared data executes pdl_wait() first. */
typedef unsigned (*pdl_graph_waits)(cudaGraphNode_t node, void *user);

/* Bytes of scratch that pdl_graph_check needs for this many nodes and edges; constant if they are. */
#define PDL_GRAPH_SCRATCH(nodes, edges) (8 + PDL_IMPL_CAST(size_t, nodes) * 88 + PDL_IMPL_CAST(size_t, edges) * 48)

/* A node. The sets hold up to 64 producers at a time: those that have completed when ... */
typedef struct pdl_impl_node {
    cudaGraphNode_t handle;
    unsigned long long started;      /* ... this node starts */
    unsigned long long completed;    /* ... it has completed, with itself */
    unsigned long long retired;      /* ... the wait of a programmatic consumer returns, with itself */
    unsigned long long lost;         /* not a completed one: producers of early edges that may outlive this node */
    unsigned first_in, first_out;    /* arcs, by place + 1; 0: none */
    unsigned bucket, next;           /* hash table of handles: first of the bucket, next in it; by place + 1 */
    unsigned open, order;            /* arcs still to come; node at this place of the topological order */
    unsigned slot, source;           /* number of this producer + 1; producer of this number */
    unsigned type;                   /* cudaGraphNodeType */
    unsigned waits;                  /* PDL_WAITS_*; NO if this is no kernel */
} pdl_impl_node;

typedef struct pdl_impl_arc {
    unsigned from, to, next_in, next_out, missed;
    unsigned char kind, unsafe;    /* PDL_EDGE_*; 1: even if all unknown kernels wait, 2: if none does */
} pdl_impl_arc;

typedef struct pdl_impl_graph {
    pdl_impl_node *nodes;
    pdl_impl_arc *arcs;
    size_t num_nodes, num_arcs;
} pdl_impl_graph;

#if PDL_HAS_GRAPH_EDGES
PDL_API unsigned *pdl_impl_bucket(const pdl_impl_graph *graph, cudaGraphNode_t handle)
{
    const unsigned long long hash = (PDL_IMPL_ADDRESS(handle) >> 4) * 0x9e3779b97f4a7c15ull;

    return &graph->nodes[(hash >> 32) % graph->num_nodes].bucket;
}

/* Place + 1 of a node, 0 if it is not in the graph. */
PDL_API unsigned pdl_impl_find_node(const pdl_impl_graph *graph, cudaGraphNode_t handle)
{
    unsigned place = graph->num_nodes != 0 ? *pdl_impl_bucket(graph, handle) : 0;

    while (place != 0 && graph->nodes[place - 1].handle != handle) {
        place = graph->nodes[place - 1].next;
    }
    return place;
}

/* Enters the nodes: type, and whether they wait. */
PDL_API cudaError_t pdl_impl_enter_nodes(pdl_impl_graph *graph, const cudaGraphNode_t *handles, pdl_graph_waits waits,
                                         void *user)
{
    const pdl_impl_node empty = PDL_ZERO;
    size_t i;

    for (i = 0; i < graph->num_nodes; i++) {
        graph->nodes[i] = empty;
    }
    for (i = 0; i < graph->num_nodes; i++) {
        unsigned *bucket = pdl_impl_bucket(graph, handles[i]);
        enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        pdl_impl_node *node = &graph->nodes[i];

        node->handle = handles[i];
        node->next = *bucket;
        *bucket = PDL_IMPL_CAST(unsigned, i + 1);
        PDL_IMPL_TRY(cudaGraphNodeGetType(node->handle, &type));
        node->type = PDL_IMPL_CAST(unsigned, type);
        node->waits = PDL_WAITS_NO;
        if (PDL_IMPL_IS(type, cudaGraphNodeTypeKernel)) {
            node->waits = waits != NULL ? waits(node->handle, user) : 0;
            node->waits = node->waits <= 2 ? node->waits : 0;
        }
    }
    return cudaSuccess;
}

/* Enters the edges into the lists of their ends. */
PDL_API cudaError_t pdl_impl_enter_arcs(pdl_impl_graph *graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const pdl_impl_edge_data *data)
{
    size_t i;

    for (i = 0; i < graph->num_arcs; i++) {
        const unsigned first = pdl_impl_find_node(graph, from[i]), second = pdl_impl_find_node(graph, to[i]);
        pdl_impl_arc *arc = &graph->arcs[i];

        if (first == 0 || second == 0) {
            return cudaErrorInvalidValue;
        }
        arc->from = first - 1;
        arc->to = second - 1;
        arc->next_in = graph->nodes[arc->to].first_in;
        arc->next_out = graph->nodes[arc->from].first_out;
        arc->missed = arc->unsafe = 0;
        arc->kind = PDL_IMPL_CAST(unsigned char, pdl_impl_kind_of(&data[i]));
        graph->nodes[arc->to].first_in = graph->nodes[arc->from].first_out = PDL_IMPL_CAST(unsigned, i + 1);
        graph->nodes[arc->to].open++;
    }
    return cudaSuccess;
}

/* Reads a graph into scratch; *bytes becomes what that takes. */
PDL_API cudaError_t pdl_impl_read_graph(pdl_impl_graph *graph, cudaGraph_t handle, pdl_graph_waits waits, void *user,
                                        unsigned char *scratch, size_t *bytes)
{
    const size_t aside = (8 - PDL_IMPL_ADDRESS(scratch) % 8) % 8, given = *bytes;
    pdl_impl_query query = {NULL, NULL, 0};
    cudaGraphNode_t *handles;
    size_t room = 0;
    void *memory;

    query.graph = handle;
    PDL_IMPL_TRY(cudaGraphGetNodes(handle, NULL, &graph->num_nodes));
    if (given >= PDL_GRAPH_SCRATCH(graph->num_nodes, 0)) {
        room = (given - PDL_GRAPH_SCRATCH(graph->num_nodes, 0)) / 48;
    }
    graph->num_arcs = room;
    memory = scratch != NULL ? scratch + aside : NULL;
    graph->nodes = PDL_IMPL_CAST(pdl_impl_node *, memory);
    memory = graph->nodes + graph->num_nodes;
    graph->arcs = PDL_IMPL_CAST(pdl_impl_arc *, memory);
    memory = graph->arcs + room;
    handles = PDL_IMPL_CAST(cudaGraphNode_t *, memory);
    memory = handles + graph->num_nodes + 2 * room;
    {
        const cudaError_t error =
            pdl_impl_read_edges(&query, handles + graph->num_nodes, handles + graph->num_nodes + room,
                                PDL_IMPL_CAST(pdl_impl_edge_data *, memory), &graph->num_arcs);

        if (!error || PDL_IMPL_IS(error, cudaErrorMemoryAllocation)) {
            *bytes = PDL_GRAPH_SCRATCH(graph->num_nodes, graph->num_arcs);
        }
        PDL_IMPL_TRY(error);
    }
    PDL_IMPL_TRY(*bytes > given ? cudaErrorMemoryAllocation : cudaGraphGetNodes(handle, handles, &graph->num_nodes));
    PDL_IMPL_TRY(pdl_impl_enter_nodes(graph, handles, waits, user));
    handles += graph->num_nodes;
    return pdl_impl_enter_arcs(graph, handles, handles + room, PDL_IMPL_CAST(pdl_impl_edge_data *, memory));
}

/* Puts the nodes in an order in which every edge leads onwards; an error if there is none. */
PDL_API cudaError_t pdl_impl_order(const pdl_impl_graph *graph)
{
    pdl_impl_node *nodes = graph->nodes;
    size_t i, found = 0;
    unsigned at;

    for (i = 0; i < graph->num_nodes; i++) {
        if (nodes[i].open == 0) {
            nodes[found++].order = PDL_IMPL_CAST(unsigned, i);
        }
    }
    for (i = 0; i < found; i++) {
        for (at = nodes[nodes[i].order].first_out; at != 0; at = graph->arcs[at - 1].next_out) {
            const unsigned to = graph->arcs[at - 1].to;

            if (--nodes[to].open == 0) {
                nodes[found++].order = to;
            }
        }
    }
    return found == graph->num_nodes ? cudaSuccess : cudaErrorInvalidValue;
}

/* Whether a node counts as one that waits: in the first round every unknown kernel does, in the second none. */
PDL_API int pdl_impl_waits(const pdl_impl_node *node, unsigned round)
{
    return PDL_IMPL_IS(node->waits, PDL_WAITS_YES) || (node->waits == 0 && round == 1);
}

/* This producer's bit in the sets, 0 if it is none of these 64. */
PDL_API unsigned long long pdl_impl_bit(const pdl_impl_node *node, unsigned first_slot)
{
    return node->slot > first_slot && node->slot <= first_slot + 64 ? 1ull << (node->slot - first_slot - 1) : 0;
}

/* Notes that an edge is unsafe, and one of the producers that are missed through it. */
PDL_API void pdl_impl_note(const pdl_impl_graph *graph, pdl_impl_arc *arc, unsigned long long missed,
                           unsigned first_slot, unsigned round)
{
    unsigned number = first_slot;

    if (missed != 0 && arc->unsafe == 0) {
        for (; (missed & 1) == 0; missed >>= 1) {
            number++;
        }
        arc->missed = graph->nodes[number].source;
    }
    if (missed != 0) {
        arc->unsafe = PDL_IMPL_CAST(unsigned char, arc->unsafe | round);
    }
}

/* Computes a node's sets from those before it. A full edge brings what had completed when its producer had; an early edge
 * what had when its producer started; the wait adds what the producers of programmatic edges stand for, and theirs in
 * turn. What comes over an edge and is then in neither is missed. */
PDL_API void pdl_impl_visit(const pdl_impl_graph *graph, pdl_impl_node *node, unsigned first_slot, unsigned round)
{
    const unsigned long long own = pdl_impl_bit(node, first_slot);
    const int empty = PDL_IMPL_IS(node->type, cudaGraphNodeTypeEmpty);
    unsigned long long started = 0, waited = 0, seen;
    unsigned at;

    for (at = node->first_in; at != 0; at = graph->arcs[at - 1].next_in) {
        const pdl_impl_arc *arc = &graph->arcs[at - 1];
        const pdl_impl_node *from = &graph->nodes[arc->from];

        started |= pdl_impl_is_early(arc->kind) ? from->started : from->completed;
        waited |= pdl_impl_is_programmatic(arc->kind) ? from->retired : 0;
    }
    seen = pdl_impl_waits(node, round) ? started | waited : started;
    node->started = started;
    node->retired = started | waited | own;
    node->completed = seen | own;
    node->lost = 0;
    for (at = node->first_in; at != 0; at = graph->arcs[at - 1].next_in) {
        pdl_impl_arc *arc = &graph->arcs[at - 1];
        const pdl_impl_node *from = &graph->nodes[arc->from];
        const int early = pdl_impl_is_early(arc->kind);
        const unsigned long long missed = (early ? pdl_impl_bit(from, first_slot) : from->lost) & ~seen;

        if (!empty) {
            pdl_impl_note(graph, arc, missed, first_slot, round);
        }
        node->lost |= early || empty ? missed : 0;
    }
}

/* Finds the unsafe edges: 64 producers at a time of edges that could be, one walk over the graph for each 64. */
PDL_API void pdl_impl_find_unsafe(const pdl_impl_graph *graph, unsigned round)
{
    unsigned slots = 0, first;
    size_t i;

    for (i = 0; i < graph->num_nodes; i++) {
        graph->nodes[i].slot = 0;
    }
    for (i = 0; i < graph->num_arcs; i++) {
        const pdl_impl_arc *arc = &graph->arcs[i];
        const int waits = pdl_impl_is_programmatic(arc->kind) && pdl_impl_waits(&graph->nodes[arc->to], round);

        if (pdl_impl_is_early(arc->kind) && !waits && graph->nodes[arc->from].slot == 0) {
            graph->nodes[slots].source = arc->from;
            graph->nodes[arc->from].slot = ++slots;
        }
    }
    for (first = 0; first < slots; first += 64) {
        for (i = 0; i < graph->num_nodes; i++) {
            pdl_impl_visit(graph, &graph->nodes[graph->nodes[i].order], first, round);
        }
    }
}

/* Findings on their way to the caller. */
typedef struct pdl_impl_list {
    pdl_graph_finding *findings;
    size_t capacity, count;
} pdl_impl_list;

/* degree 0: error, 1: safe only if a kernel waits, 2: all is well. */
PDL_API void pdl_impl_find(pdl_impl_list *list, int kind, unsigned degree, const pdl_impl_node *from,
                           const pdl_impl_node *to, const pdl_impl_node *missed)
{
    const char *const sentences[][3] = {PDL_IMPL_FINDINGS(PDL_IMPL_FINDING_TEXT)};

    if (list->count < list->capacity) {
        pdl_graph_finding *finding = &list->findings[list->count];

        finding->kind = PDL_IMPL_CAST(unsigned, kind);
        finding->severity = PDL_IMPL_CAST(unsigned, degree == 0 ? PDL_SEVERITY_ERROR : PDL_SEVERITY_HINT);
        finding->from = from != NULL ? from->handle : NULL;
        finding->to = to->handle;
        finding->missed = missed != NULL ? missed->handle : NULL;
        finding->sentence = sentences[kind][degree];
    }
    list->count++;
}

/* What there is to say about an edge: the errors in one call, the hints in another. */
PDL_API void pdl_impl_report_arc(const pdl_impl_graph *graph, const pdl_impl_arc *arc, int errors, pdl_impl_list *list)
{
    const pdl_impl_node *from = &graph->nodes[arc->from], *to = &graph->nodes[arc->to];
    const unsigned degree = arc->unsafe & 1u ? 0 : arc->unsafe != 0 ? 1 : 2;
    const int programmatic = pdl_impl_is_programmatic(arc->kind), early = pdl_impl_is_early(arc->kind);
    const int always = programmatic ? PDL_IMPL_IS(to->waits, PDL_WAITS_NO) : early;

    if ((degree == 0) == errors && (degree != 2 || always)) {
        pdl_impl_find(list,
                      programmatic ? PDL_FINDING_NO_WAIT
                      : early      ? PDL_FINDING_LAUNCH_COMPLETION
                                   : PDL_FINDING_FULL_EDGE,
                      degree, from, to, degree != 2 ? &graph->nodes[arc->missed] : NULL);
    }
    if (PDL_IMPL_IS(arc->kind, PDL_EDGE_UNKNOWN) && !errors) {
        pdl_impl_find(list, PDL_FINDING_UNKNOWN_EDGE, 2, from, to, NULL);
    }
}

/* What there is to say about a node. */
PDL_API void pdl_impl_report_node(const pdl_impl_graph *graph, const pdl_impl_node *node, pdl_impl_list *list)
{
    const pdl_impl_node *from = NULL;
    unsigned at, edges = 0;

    for (at = node->first_in; at != 0; at = graph->arcs[at - 1].next_in) {
        edges++;
        from = pdl_impl_is_programmatic(graph->arcs[at - 1].kind) ? &graph->nodes[graph->arcs[at - 1].from] : from;
    }
    if (edges > 1 && from != NULL) {
        pdl_impl_find(list, PDL_FINDING_FAN_IN, 2, from, node, NULL);
    }
    if (PDL_IMPL_IS(node->type, cudaGraphNodeTypeGraph) || node->type == 13) { /* conditional: a name since 12.3 */
        pdl_impl_find(list, PDL_FINDING_NESTED, 2, NULL, node, NULL);
    }
}
#endif

/* Check a graph for kernels that may run before, or beside, what they depend on.
 *
 * graph          of the runtime or the driver, however it was made; not changed
 * waits, user    called once for each kernel node, with user; NULL: it is not known of any kernel whether it waits
 * scratch        PDL_GRAPH_SCRATCH(nodes, edges) bytes, of any alignment; NULL only if *scratch_bytes is 0
 * scratch_bytes  in: bytes in scratch; out: what is needed, exactly or as *num_edges of pdl_graph_edges
 * findings       receives the findings, the errors first; NULL only if *num_findings is 0
 * num_findings   in: entries in findings; out: how many there are, also if that is more; 0 after another error
 *
 * Returns cudaSuccess, whatever was found, or
 *   cudaErrorInvalidValue       a pointer is NULL; the graph has a cycle
 *   cudaErrorMemoryAllocation   scratch is too small (*scratch_bytes is now larger: nothing was checked), or findings is
 *                               (*num_findings is now larger: the first ones are there)
 *   cudaErrorNotSupported       the toolkit has no edge data
 * or any error of cudaGraphGetNodes, cudaGraphGetEdges, cudaGraphNodeGetType.
 *
 * Errors   A node depends on all nodes from which a path leads to it, and behind its own wait, if it waits, all of them
 *          have to have completed. An error says that one of them (missed) may then still run, by the documented order and
 *          as measured: a full edge covers the kernel it leaves and what that one has waited for, no more; a wait covers
 *          the producers of programmatic edges, and what their waits cover, executed or not. It names the edge over which
 *          the order is lost; nodes further on may miss the same. Whether they share data, it cannot know.
 * Hints    What is an error only if a kernel does not wait of which waits does not know it; a fan-in, which prevents
 *          overlap; early edges that are safe because of others only; child graphs and conditional bodies (their nodes are
 *          not looked into: cudaGraphChildGraphNodeGetGraph, and check that one); edge data of newer toolkits.
 * Time     Grows with nodes plus edges, once, and once more for every 64 producers of edges that could be unsafe.
 *
 * Source   PTX ISA griddepcontrol.wait; driver_types.h, cudaGraphKernelNodePort*; measurements
 * Checked  EDGE-01, EDGE-09, EDGE-10, COMP-04, MEM-06
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_check(cudaGraph_t graph, pdl_graph_waits waits, void *user, void *scratch,
                                                  size_t *scratch_bytes, pdl_graph_finding *findings,
                                                  size_t *num_findings)
{
#if PDL_HAS_GRAPH_EDGES
    pdl_impl_graph all = PDL_ZERO;
    pdl_impl_list list = PDL_ZERO;
    int errors;
    size_t i;

    if (graph == NULL || scratch_bytes == NULL || num_findings == NULL || (scratch == NULL && *scratch_bytes != 0) ||
        (findings == NULL && *num_findings != 0)) {
        return cudaErrorInvalidValue;
    }
    list.findings = findings;
    list.capacity = *num_findings;
    *num_findings = 0;
    PDL_IMPL_TRY(pdl_impl_read_graph(&all, graph, waits, user, PDL_IMPL_CAST(unsigned char *, scratch),
                                     scratch_bytes));
    PDL_IMPL_TRY(pdl_impl_order(&all));
    pdl_impl_find_unsafe(&all, 1);
    pdl_impl_find_unsafe(&all, 2);
    for (errors = 1; errors >= 0; errors--) {
        for (i = 0; i < all.num_arcs; i++) {
            pdl_impl_report_arc(&all, &all.arcs[i], errors, &list);
        }
    }
    for (i = 0; i < all.num_nodes; i++) {
        pdl_impl_report_node(&all, &all.nodes[i], &list);
    }
    *num_findings = list.count;
    return list.count > list.capacity ? cudaErrorMemoryAllocation : cudaSuccess;
#else
    (void)graph, (void)waits, (void)user, (void)scratch, (void)scratch_bytes, (void)findings, (void)num_findings;
    return cudaErrorNotSupported;
#endif
}

#endif /* PDL_H_INCLUDED */

/* MIT License
 *
 * Copyright (c) 2026 the pdl authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
 * permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of
 * the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
