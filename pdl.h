/* pdl.h - v0.3.0 - CUDA Programmatic Dependent Launch for C and C++, host side - MIT, licence text at the end
 *
 * Launches a kernel before its predecessor in the stream has finished, where that is sound, and as an ordinary launch
 * where it is not. The device side (wait and trigger) is pdl_device.cuh.
 *
 * C++, one line per launch site, for any __global__ function:
 *
 *     pdl::launch(scale<float>, grid, block, shared_bytes, stream, pdl::overlap, out, in, n);
 *
 * C, prepared once and launched many times:
 *
 *     pdl_kernel scale = PDL_ZERO;
 *     pdl_options options = PDL_ZERO;
 *     void *args[] = {&out, &in, &n};
 *
 *     CHECK(pdl_kernel_init(&scale, scale_address));      // once per kernel and device
 *     options.overlap = PDL_OVERLAP_IF_POSSIBLE;
 *     CHECK(pdl_launch(&scale, grid, block, args, shared_bytes, stream, &options));
 *     puts(pdl_reason_string(pdl_kernel_reason(&scale))); // why it does or does not overlap
 *
 * It does not promise overlap (nobody can), prove that a kernel waits, print, or allocate. It keeps state only in files
 * that use pdl::launch: one table of fixed size per file.
 *
 * Needs     CUDA Toolkit 11.8 or newer, C99 or C++11. Any GPU; overlap needs compute capability 9.0 and a kernel built
 *           for compute_90 or newer. C99 with -Wpedantic needs the toolkit as system headers (-isystem).
 * Macros    Define them before the first include, the same in all files of a program.
 *           PDL_API           linkage of the C functions: static inline if not defined, or static, or extern. With
 *                             extern, one C or C++ file defines them; all symbols are C symbols
 *           PDL_DECLARE_ONLY  declarations without bodies, for the other files of a program that uses PDL_API=extern;
 *                             leaves out the C++ templates
 *           PDL_NO_GRAPHS     leaves out the functions whose names begin with pdl_graph; saves compile time
 *           PDL_NO_ESTIMATE   leaves out pdl_overlap_estimate; saves compile time
 *           PDL_NODISCARD     marks results that must not be ignored; default: what the compiler offers
 *           PDL_DEBUG         1: launches also check the current device and the number of arguments, which costs one
 *                             more CUDA call each; default 0
 *           PDL_HAS_*         0: build as if the toolkit lacked that feature; always 0 or 1
 * Settings  PDL_DISABLE in the environment, set to any value other than empty or 0, turns overlap off in every kernel
 *           that is prepared from then on. It wins over PDL_OVERLAP_REQUIRED and is no error.
 * Errors    cudaError_t. Checks made here come before any CUDA call that could start work; they leave CUDA's last error
 *           alone, so macros that read it after a launch (PyTorch's launch check, for one) do not see these refusals.
 *           Use the returned value. Errors of CUDA calls are returned, and CUDA keeps them as its last error.
 * Threads   Every function may be called from any thread; changing one graph from two threads is not allowed. A prepared
 *           pdl_kernel is never written. Preparing and estimating read the environment, which must not change meanwhile.
 * Capture   All functions may be called while a stream is captured, except pdl_kernel_init, pdl_kernel_init_driver and
 *           pdl::explain: they load code, which the capture may refuse. pdl::launch prepares safely in every capture mode.
 * Versions  Patch: no change of names. Minor, before 1.0: names may go, after one version of deprecation where possible.
 *           Files with different minor versions link into one program; files with different major versions, too.
 * Rules     Where each sentence comes from and which test checks it: conformance/headers/README.md.
 */
#if defined(PDL_H_INCLUDED) && PDL_VERSION_MAJOR != 0
#error "two pdl.h of different major version in one file: include one of them only, or put them in different files"
#endif

#ifndef PDL_H_INCLUDED
#define PDL_H_INCLUDED

#define PDL_VERSION_MAJOR 0
#define PDL_VERSION_MINOR 3
#define PDL_VERSION_PATCH 0
#define PDL_VERSION_NUMBER (PDL_VERSION_MAJOR * 10000 + PDL_VERSION_MINOR * 100 + PDL_VERSION_PATCH)

#include <cuda_runtime_api.h>
#include <stddef.h>
#if !defined(__cplusplus) || !defined(__GLIBC__)
#include <stdlib.h>
#elif !defined(_STDLIB_H) /* all that is needed of it; in C++ it brings in <cstdlib>, which takes longer to compile */
extern "C" char *getenv(const char *name) noexcept;
#endif

/* ---- toolkit differences: the only lines that test CUDART_VERSION ------------------------------------------------ */

#if CUDART_VERSION < 11080
#error "pdl.h needs CUDA Toolkit 11.8 or newer (cudaLaunchKernelExC)"
#endif

/* The version of CUDA that brought a feature. The toolkit's is known here; the driver's is asked for at run time, because
 * a newer toolkit may run over an older driver (minor-version compatibility). */
#define PDL_IMPL_SINCE_OVERLAP 11080 /* programmatic stream serialization and events */
#define PDL_IMPL_SINCE_MEM_SYNC_DOMAIN 12000
#define PDL_IMPL_SINCE_LAUNCH_COMPLETION_EVENT 12030
#define PDL_IMPL_SINCE_GRAPH_EDGES 12030 /* cudaGraphEdgeData */
#define PDL_IMPL_SINCE_CARVEOUT 12050    /* shared-memory carve-out of a single launch */

#ifndef PDL_HAS_OVERLAP
#define PDL_HAS_OVERLAP (CUDART_VERSION >= 11080)
#endif
#ifndef PDL_HAS_MEM_SYNC_DOMAIN
#define PDL_HAS_MEM_SYNC_DOMAIN (CUDART_VERSION >= 12000)
#endif
#ifndef PDL_HAS_LAUNCH_COMPLETION_EVENT
#define PDL_HAS_LAUNCH_COMPLETION_EVENT (CUDART_VERSION >= 12030)
#endif
#ifndef PDL_HAS_GRAPH_EDGES
#define PDL_HAS_GRAPH_EDGES (CUDART_VERSION >= 12030)
#endif
#ifndef PDL_HAS_PARAM_INFO /* cudaFuncGetParamInfo */
#define PDL_HAS_PARAM_INFO (CUDART_VERSION >= 12040)
#endif
#ifndef PDL_HAS_CARVEOUT
#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 12050)
#endif

/* Functions with edge data have names of their own until 13.0, which gave it to the plain ones. */
#if CUDART_VERSION >= 13000
#define PDL_IMPL_EDGES(name, version) name
#define PDL_IMPL_FULL_EDGE_DATA NULL,
#elif CUDART_VERSION >= 12030
#define PDL_IMPL_EDGES(name, version) name##version
#define PDL_IMPL_FULL_EDGE_DATA
#else
#define PDL_IMPL_FULL_EDGE_DATA
#endif
#if CUDART_VERSION >= 12030
typedef cudaGraphEdgeData pdl_edge_data;
#else
typedef struct pdl_edge_data {
    unsigned char from_port, to_port, type, reserved[5];
} pdl_edge_data;
#endif
/* How the driver's functions are asked for, which changed twice. */
#if CUDART_VERSION >= 12050
#define PDL_IMPL_ASK_DRIVER(name, where, since) cudaGetDriverEntryPointByVersion(name, where, since, cudaEnableDefault, NULL)
#elif CUDART_VERSION >= 12000
#define PDL_IMPL_ASK_DRIVER(name, where, since) cudaGetDriverEntryPoint(name, where, cudaEnableDefault, NULL)
#else
#define PDL_IMPL_ASK_DRIVER(name, where, since) cudaGetDriverEntryPoint(name, where, cudaEnableDefault)
#endif

/* ---- language -------------------------------------------------------------------------------------------------- */

#if !defined(PDL_API) && defined(PDL_DECLARE_ONLY)
#define PDL_API extern
#elif !defined(PDL_API)
#define PDL_API static inline
#define PDL_IMPL_UNUSED
#elif defined(__GNUC__)
#define PDL_IMPL_UNUSED __attribute__((unused)) /* for PDL_API=static */
#else
#define PDL_IMPL_UNUSED
#endif
#define PDL_IMPL static inline

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

#if defined(__GNUC__)
#define PDL_IMPL_DEPRECATED(remedy) __attribute__((deprecated(remedy)))
#else
#define PDL_IMPL_DEPRECATED(remedy)
#endif

/* PDL_ZERO initialises any struct of this header, in both languages, without a warning. In C++ all names are in an inline
 * namespace per version, so that files with different versions of a struct obey the one-definition rule. */
#ifdef __cplusplus
#define PDL_ZERO {}
#define PDL_IMPL_CAST(type, value) static_cast<type>(value)
#define PDL_IMPL_FUNCTION(type, value) reinterpret_cast<type>(value)
#define PDL_IMPL_MUTABLE(pointer) const_cast<void *>(pointer)
#define PDL_IMPL_ADDRESS(pointer) reinterpret_cast<size_t>(pointer)
#define PDL_IMPL_UINT(value) unsigned(value)
#define PDL_IMPL_UNSIGNED : unsigned
extern "C++" { /* in case this file is included inside extern "C" */
#define PDL_IMPL_JOIN(first, major, minor) first##major##_##minor
#define PDL_IMPL_VERSIONED(first, major, minor) PDL_IMPL_JOIN(first, major, minor)
#define PDL_IMPL_NAMESPACE(first) PDL_IMPL_VERSIONED(first, PDL_VERSION_MAJOR, PDL_VERSION_MINOR)
inline namespace PDL_IMPL_NAMESPACE(pdl_v) {
extern "C" {
#else
#define PDL_ZERO {0}
#define PDL_IMPL_CAST(type, value) ((type)(value))
#define PDL_IMPL_FUNCTION(type, value) ((type)(value))
#define PDL_IMPL_MUTABLE(pointer) ((void *)(size_t)(pointer))
#define PDL_IMPL_ADDRESS(pointer) ((size_t)(pointer))
#define PDL_IMPL_UINT(value) ((unsigned)(value))
#define PDL_IMPL_UNSIGNED
#endif

/* ---- declarations: why something was refused -------------------------------------------------------------------- */

/* Why a kernel does not overlap; why two launches do not (NOT_ASKED to CARVEOUT); what is wrong with an edge of a graph
 * (EDGE_*); why a launch was refused (the rest). PDL_REASON_NONE is 0. No code changes its meaning; new ones come last.
 * No function writes NUM_ARGS, EVENT_IN_GRAPH and SHARED_SIZE: their sentences are what cudaErrorInvalidValue means after
 * pdl_launch_counted (the first) and pdl_graph_add_kernel. */
#define PDL_IMPL_REASONS(X)                                                                                            \
    X(NONE, "nothing known stands in the way of overlap")                                                              \
    X(DISABLED, "the environment variable PDL_DISABLE is set")                                                         \
    X(TOOLKIT, "built without programmatic launches (PDL_HAS_OVERLAP is 0)")                                           \
    X(DEVICE, "the device has a compute capability below 9.0")                                                         \
    X(TARGET, "the kernel was compiled for less than compute_90, so it has no code that can overlap: "                 \
              "add sm_90 (nvcc -arch=sm_90, or CMAKE_CUDA_ARCHITECTURES=90)")                                          \
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
    X(EDGE_PORT_1, "port 1 is for programmatic edges only")                                                            \
    X(DRIVER, "programmatic launches need a driver of CUDA 11.8 or newer")                                             \
    X(NOT_PREPARED, "the pdl_kernel was never prepared, or preparing it failed: call pdl_kernel_init first")           \
    X(NULL_POINTER, "this pointer must not be NULL")                                                                   \
    X(WRONG_FUNCTION, "the pdl_kernel was prepared from another function")                                             \
    X(FOR_DRIVER, "the pdl_kernel was prepared by pdl_kernel_init_driver: use pdl_launch_driver")                      \
    X(FOR_RUNTIME, "the pdl_kernel was prepared by pdl_kernel_init: use pdl_launch")                                   \
    X(OTHER_DEVICE, "another device is current than the one that the kernel was prepared for")                         \
    X(NUM_ARGS, "the kernel has another number of parameters")                                                         \
    X(UNKNOWN_VALUE, "this field has no such value")                                                                   \
    X(NO_EVENT, "event_trigger needs an event")                                                                        \
    X(SAME_EVENT, "one event cannot be both event and launch_completion_event")                                        \
    X(NO_PRIORITY, "a priority counts only with has_priority")                                                         \
    X(TOO_MANY_ATTRS, "more than 16 further launch attributes")                                                        \
    X(ATTR_OF_FIELD, "pdl_options has a field for one of the further launch attributes")                               \
    X(ATTR_RETURNS, "a device-updatable node returns a handle in its launch attribute: use pdl_attributes_fill")       \
    X(TOOLKIT_FIELD, "the toolkit of this build does not have what this field asks for (PDL_HAS_*)")                   \
    X(DRIVER_DOMAIN, "memory-sync domains need a driver of CUDA 12.0 or newer")                                        \
    X(DRIVER_COMPLETION, "launch-completion events need a driver of CUDA 12.3 or newer")                               \
    X(DRIVER_CARVEOUT, "a carve-out of a single launch needs a driver of CUDA 12.5 or newer")                          \
    X(EDGE_DRIVER, "edges other than full ones need a driver of CUDA 12.3 or newer")                                   \
    X(AXIS_ZERO, "an axis is 0")                                                                                       \
    X(AXIS_TOO_LONG, "an axis is longer than the device allows")                                                       \
    X(TOO_MANY_THREADS, "more threads per block than this kernel can have")                                            \
    X(CLUSTER_SIZE, "the cluster does not divide the grid")                                                            \
    X(EVENT_IN_GRAPH, "a node has no events: give an edge of the same kind")                                           \
    X(SHARED_SIZE, "a node takes less than 4 GiB of shared memory")
#define PDL_IMPL_REASON_CODE(name, text) PDL_REASON_##name,
typedef enum pdl_reason PDL_IMPL_UNSIGNED { PDL_IMPL_REASONS(PDL_IMPL_REASON_CODE) PDL_IMPL_REASON_COUNT } pdl_reason;

/* Which argument was refused: of the function, or a field of its options. */
#define PDL_IMPL_ARGUMENTS(X)                                                                                          \
    X(NONE, "none") X(KERNEL, "kernel") X(GRID, "grid") X(BLOCK, "block") X(ARGS, "args")                              \
    X(SHARED_BYTES, "shared_bytes") X(OVERLAP, "options.overlap") X(EVENT, "options.event")                            \
    X(EVENT_TRIGGER, "options.event_trigger") X(COMPLETION_EVENT, "options.launch_completion_event")                   \
    X(CLUSTER, "options.cluster_x, cluster_y, cluster_z") X(COOPERATIVE, "options.cooperative")                        \
    X(HAS_PRIORITY, "options.has_priority") X(PRIORITY, "options.priority")                                            \
    X(MEM_SYNC_DOMAIN, "options.mem_sync_domain") X(CARVEOUT, "options.carveout")                                      \
    X(NUM_ATTRS, "options.num_attrs") X(ATTRS, "options.attrs")
#define PDL_IMPL_ARGUMENT_CODE(name, text) PDL_ARGUMENT_##name,
typedef enum pdl_argument PDL_IMPL_UNSIGNED { PDL_IMPL_ARGUMENTS(PDL_IMPL_ARGUMENT_CODE) PDL_IMPL_ARGUMENT_COUNT } pdl_argument;

/* What was refused and why. All zero: nothing was. */
typedef struct pdl_refusal {
    pdl_argument argument;
    pdl_reason reason;
} pdl_refusal;

/* The sentence for a reason, and the name of an argument. Never NULL; constant text. */
PDL_API const char *pdl_reason_string(pdl_reason reason);
PDL_API const char *pdl_argument_string(pdl_argument argument);

/* ---- declarations: prepare -------------------------------------------------------------------------------------- */

/* What a launch needs to know about a kernel on one device. Filled by pdl_kernel_init, then read only. */
typedef struct pdl_kernel {
    const void *func;              /* of the runtime; NULL if prepared for the driver */
    cudaFunction_t function;       /* of the driver (CUfunction); NULL if prepared for the runtime */
    void (*launch_driver)(void);   /* the driver's cuLaunchKernelEx; NULL if prepared for the runtime */
    int device;                    /* ordinal of the device that was current */
    int cc;                        /* its compute capability, 10 * major + minor: 90 */
    int driver_version;            /* as cudaDriverGetVersion: 12040 for 12.4 */
    int ptx_version;               /* virtual architecture that the code was compiled for: 90 for compute_90 */
    int binary_version;            /* architecture of the machine code; says nothing about the wait (JIT) */
    int can_overlap;               /* 1: a launch with overlap is sound, if the kernel waits */
    pdl_reason reason;             /* why not; read it through pdl_kernel_reason */
    int regs_per_thread;           /* 32-bit registers */
    int max_threads_per_block;     /* of this function on this device */
    int num_params;                /* parameters of the function, -1: unknown (only PDL_DEBUG asks) */
    size_t static_shared_bytes;    /* per block */
    unsigned max_grid[3];          /* blocks along x, y, z */
    unsigned max_block[3];         /* threads along x, y, z */
} pdl_kernel;

/* Prepare a kernel for launches on the current device.
 *
 * kernel  receives the description; all zero after an error, which every other function refuses
 * func    host address of a __global__ function, or a cudaKernel_t cast to a pointer where the runtime takes one
 *
 * Returns cudaSuccess, also if the kernel cannot overlap (can_overlap is 0, pdl_kernel_reason says why), or
 *   cudaErrorInvalidValue   kernel or func is NULL
 *   any error of cudaGetDevice, cudaDriverGetVersion, cudaDeviceGetAttribute, cudaFuncGetAttributes
 *
 * Loads the function, so that its first launch does not have to. Call it once per kernel and device, and again when the
 * library that holds the kernel was unloaded and loaded. A pdl_kernel holds for its device only; PDL_DEBUG finds launches
 * on another one.
 * Device LTO  A kernel compiled to lto_80 and linked for sm_90 reports compute_90 and has no wait; so does a kernel that
 *             waits in a helper compiled for less. No query of CUDA shows this, so can_overlap is then wrong: compile every
 *             object for compute_90 or newer. pdl_device.cuh says how to find such images.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init(pdl_kernel *kernel, const void *func);

/* Prepare a kernel of the driver (CUfunction) for pdl_launch_driver, pdl_attributes_fill and the functions for edges.
 *
 * function  loaded in the current context
 *
 * Returns as pdl_kernel_init, with cuFuncGetAttribute in the place of cudaFuncGetAttributes; cudaErrorNotSupported if the
 * driver lacks that or cuLaunchKernelEx. Both are asked for here, so no program links libcuda for this. The default stream
 * of later launches is the one that the file calling this was compiled for.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_kernel_init_driver(pdl_kernel *kernel, cudaFunction_t function);

/* Why a kernel does not overlap: NULL_POINTER, NOT_PREPARED for one that is all zero, else kernel->reason. */
PDL_API pdl_reason pdl_kernel_reason(const pdl_kernel *kernel);

/* ---- declarations: options -------------------------------------------------------------------------------------- */

/* NONE: start when the work before has finished. IF_POSSIBLE: overlap, or an ordinary launch where the kernel cannot.
 * REQUIRED: an error where the kernel, or an event of the same launch, would have to fall back. */
typedef enum pdl_overlap PDL_IMPL_UNSIGNED {
    PDL_OVERLAP_NONE = 0,
    PDL_OVERLAP_IF_POSSIBLE = 1,
    PDL_OVERLAP_REQUIRED = 2
} pdl_overlap;
typedef enum pdl_event_trigger PDL_IMPL_UNSIGNED { PDL_EVENT_AT_TRIGGER = 0, PDL_EVENT_AT_BLOCK_START = 1 } pdl_event_trigger;
typedef enum pdl_domain PDL_IMPL_UNSIGNED { PDL_DOMAIN_OF_STREAM = 0, PDL_DOMAIN_DEFAULT = 1, PDL_DOMAIN_REMOTE = 2 } pdl_domain;
enum { PDL_CARVEOUT_UNCHANGED = 0, PDL_CARVEOUT_MAX = 100, PDL_CARVEOUT_NO_SHARED = 101 };
enum { PDL_MAX_ATTRIBUTES = 24, PDL_MAX_FURTHER_ATTRIBUTES = 16 };

/* How to launch. All zero is an ordinary launch; each field says what zero means. overlap, event and
 * launch_completion_event are independent of each other. The struct is the same on every toolkit; a field that toolkit or
 * driver cannot honour is refused with cudaErrorNotSupported. */
typedef struct pdl_options {
    pdl_overlap overlap;                    /* of this kernel with the work before it */
    pdl_event_trigger event_trigger;        /* when event is released: at the trigger of all blocks, or at their start */
    cudaEvent_t event;                      /* programmatic event, from pdl_event_create; NULL: none */
    cudaEvent_t launch_completion_event;    /* released when all blocks have begun (12.3); NULL: none */
    unsigned cluster_x;                     /* blocks per cluster; all three 0: no cluster, or the kernel's own */
    unsigned cluster_y, cluster_z;          /* 0 beside an axis that is not 0: 1 */
    unsigned cooperative;                   /* 1: all blocks at once, for grid-wide barriers; 0: ordinary */
    unsigned has_priority;                  /* 1: priority counts; 0: the stream's priority */
    int priority;                           /* as cudaStreamCreateWithPriority; must be 0 unless has_priority */
    pdl_domain mem_sync_domain;             /* (12.0) 0: the stream's domain */
    unsigned carveout;                      /* shared memory in percent of the most there is, 1 to 100, or
                                             * PDL_CARVEOUT_NO_SHARED (12.5); 0: the function's own setting */
    unsigned num_attrs;                     /* entries in attrs, at most 16; 0: attrs is not read */
    const cudaLaunchAttribute *attrs;       /* further launch attributes, copied after the ones above */
} pdl_options;

/* ---- declarations: launch --------------------------------------------------------------------------------------- */

/* Launch a prepared kernel; with overlap it may begin before the previous kernel in the stream has finished.
 *
 * kernel        prepared by pdl_kernel_init for the current device
 * grid, block   in blocks and in threads; at least 1 on every axis, in C too, where a zeroed dim3 is 0, 0, 0
 * args          one pointer per kernel parameter, in order; NULL only for a kernel without parameters
 * shared_bytes  dynamic shared memory per block
 * stream        0 is the default stream, legacy or per thread, as this file was compiled
 * options       NULL is all zero: an ordinary launch
 *
 * Returns cudaSuccess, or with nothing launched and CUDA's last error untouched (pdl_launch_check tells which argument)
 *   cudaErrorInvalidValue          a kernel that is NULL, not prepared or prepared for the driver; a field of options
 *                                  with an unknown value, or one that contradicts another; num_attrs above 16, or attrs
 *                                  NULL; an attribute for which options has a field, or a device-updatable node;
 *                                  PDL_DEBUG: args is NULL, and the kernel has parameters
 *   cudaErrorInvalidConfiguration  grid or block with 0 or too much on an axis, too many threads per block, a cluster
 *                                  that does not divide the grid
 *   cudaErrorNotSupported          overlap required where kernel, device, toolkit or driver cannot; a field that toolkit
 *                                  or driver does not have
 *   cudaErrorInvalidDevice         PDL_DEBUG: another device is current than the one that kernel was prepared for
 * or, with nothing launched, any error of cudaLaunchKernelExC, such as cudaErrorNotSupported (an event has timing).
 *
 * Calls    One CUDA call, one more per event that is recorded after the launch, and one more with PDL_DEBUG.
 * Events   An event is part of the launch, with or without overlap: event if the kernel can overlap,
 *          launch_completion_event if toolkit and driver have them. Where that is not so, or with PDL_DISABLE, it is
 *          recorded after the launch: later, but never lost. If that recording fails, its error is returned although the
 *          kernel runs; after any other error it does not run. An event that is part of a launch must be without timing;
 *          one that is recorded after it may have timing.
 * Memory   With overlap the kernel sees its predecessor's stores only after pdl_wait(). What event releases may run
 *          before this kernel's stores are visible: kernels need pdl_wait(), and copies and the host must not rely on
 *          it. In a stream, pdl_wait() in what launch_completion_event releases does not wait for this kernel.
 * Capture  Overlap becomes a programmatic edge (12.3 or newer). So does event, and launch_completion_event if what it
 *          releases is itself launched with overlap: that edge is programmatic, and pdl_wait() covers it. Such a fork has
 *          to be joined by other means before capture ends.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_launch(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                             size_t shared_bytes, cudaStream_t stream, const pdl_options *options);

/* Launch a kernel that pdl_kernel_init_driver prepared, by the driver's cuLaunchKernelEx. As pdl_launch, but shared_bytes of
 * 4 GiB or more is cudaErrorInvalidValue; the errors of the driver are returned under the number that they share with
 * cudaError_t, and CUDA's last error is not set. */
PDL_NODISCARD PDL_API cudaError_t pdl_launch_driver(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                                    size_t shared_bytes, cudaStream_t stream, const pdl_options *options);

/* Say whether pdl_launch or pdl_launch_driver would refuse these arguments, which one, and why. Launches nothing.
 *
 * refusal  receives the first refused argument and the reason, all zero if there is none; NULL: not wanted
 *
 * Returns the error that the launch would return by its own checks of these arguments, cudaSuccess if none. Makes no CUDA
 * call; with PDL_DEBUG one, whose error is returned, too.
 */
PDL_API cudaError_t pdl_launch_check(const pdl_kernel *kernel, dim3 grid, dim3 block, const pdl_options *options,
                                     pdl_refusal *refusal);

/* C: launch with the arguments' addresses as a list: PDL_LAUNCH(&kernel, grid, block, 0, stream, &options, &n, &out).
 * With PDL_DEBUG (also where the kernel is prepared) and toolkit 12.4 or newer, a wrong number of arguments is
 * cudaErrorInvalidValue. At least one: a kernel without parameters goes through pdl_launch. Otherwise as pdl_launch. */
PDL_NODISCARD PDL_API cudaError_t pdl_launch_counted(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                                     size_t num_args, size_t shared_bytes, cudaStream_t stream,
                                                     const pdl_options *options);
#ifndef __cplusplus
#define PDL_LAUNCH(kernel, grid, block, shared_bytes, stream, options, ...)                                            \
    pdl_launch_counted((kernel), (grid), (block), (void *[]){__VA_ARGS__},                                             \
                       sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (shared_bytes), (stream), (options))
#endif

/* Create an event for options.event and options.launch_completion_event: one without timing, on the current device.
 * Returns cudaSuccess, cudaErrorInvalidValue if event is NULL, or any error of cudaEventCreateWithFlags. */
PDL_NODISCARD PDL_API cudaError_t pdl_event_create(cudaEvent_t *event);

/* ---- declarations: for other launchers: CUTLASS, CUB ------------------------------------------------------------ */

/* Write the launch attributes that pdl_launch would use. Makes no CUDA call.
 *
 * kernel     prepared by pdl_kernel_init or pdl_kernel_init_driver
 * options    NULL is all zero; as for pdl_launch, but the further attributes may make the node device-updatable
 * attrs      receives the attributes; the driver's CUlaunchAttribute has the same layout. NULL only with capacity 0
 * capacity   entries in attrs; PDL_MAX_ATTRIBUTES is always enough
 * num_attrs  receives the number written, 0 after an error
 *
 * Returns cudaSuccess, or with nothing written
 *   cudaErrorInvalidValue   num_attrs is NULL, attrs is NULL or too small; otherwise as pdl_launch
 *   cudaErrorNotSupported   as pdl_launch
 *
 * Grid and cluster are for the other launcher to check. Call pdl_events_record_behind after the launch, or an event is
 * lost whenever the attributes could not carry it.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_attributes_fill(const pdl_kernel *kernel, const pdl_options *options,
                                                      cudaLaunchAttribute *attrs, unsigned capacity, unsigned *num_attrs);

/* Record, after a launch with attributes from pdl_attributes_fill, the events that those could not carry.
 *
 * kernel, options  the same as for pdl_attributes_fill
 * stream           the stream of the launch; no other work may come between launch and record
 *
 * Returns cudaSuccess, also if there is nothing to record; the errors of pdl_attributes_fill; any of cudaEventRecord.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_events_record_behind(const pdl_kernel *kernel, const pdl_options *options,
                                                           cudaStream_t stream);

#ifndef PDL_NO_ESTIMATE
/* ---- declarations: will two launches overlap? ------------------------------------------------------------------- */

/* One launch of a pair, with the meaning of pdl_launch's parameters. */
typedef struct pdl_shape {
    const pdl_kernel *kernel;
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    const pdl_options *options;
} pdl_shape;

typedef struct pdl_estimate {
    unsigned may_overlap;                 /* 1: nothing known stands in the way; no promise */
    pdl_reason reason;                    /* why not */
    unsigned primary_blocks_per_sm;       /* still there when its last block starts, where there are fewest */
    unsigned dependent_blocks_per_sm;     /* that find room beside them */
    unsigned long long primary_waves;     /* rounds of blocks; the dependent cannot start before the last one */
} pdl_estimate;

/* Estimate whether a dependent can start while its primary still runs, and if not, what stands in the way.
 *
 * estimate   receives the answer; all zero after an error
 * primary    the earlier launch
 * dependent  the next launch in the same stream, with the options it is launched with
 *
 * Returns cudaSuccess, or
 *   cudaErrorInvalidValue           a pointer is NULL; a kernel is not prepared by pdl_kernel_init; options as for pdl_launch
 *   cudaErrorInvalidConfiguration   a shape that pdl_launch refuses, or a block that no multiprocessor can hold
 *   cudaErrorNotSupported           a field of options that this toolkit or driver does not have
 *   any error of cudaDeviceGetAttribute, cudaFuncGetAttributes
 *
 * It compares block slots, threads, registers, shared memory and its split from L1 at the moment when the primary's last
 * block has started, on the least loaded multiprocessor, and assumes that the primary triggers before it ends. Which split
 * the driver chooses is not documented: the rules here agree with 99 of 100 mixes measured on an H200; other GPUs may
 * differ. It does not know of clusters, other work on the device, or what lies between the two launches: a memset, or an
 * event with timing, prevents overlap. Reads CUDA_LAUNCH_BLOCKING.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_overlap_estimate(pdl_estimate *estimate, const pdl_shape *primary,
                                                       const pdl_shape *dependent);
#endif /* PDL_NO_ESTIMATE */

#ifndef PDL_NO_GRAPHS
/* ---- declarations: edges of graphs ------------------------------------------------------------------------------ */

/* When an edge lets its consumer start; in CUDA's terms (from_port, to_port, type). */
typedef enum pdl_edge_kind PDL_IMPL_UNSIGNED {
    PDL_EDGE_FULL = 0,                 /* (0,0,0): the producer has completed, and its stores are visible */
    PDL_EDGE_PROGRAMMATIC = 1,         /* (1,0,1): all blocks of the producer have triggered or ended; pdl_wait() covers it */
    PDL_EDGE_BLOCK_START = 2,          /* (2,0,1): all of them have begun; pdl_wait() covers it */
    PDL_EDGE_LAUNCH_COMPLETION = 3,    /* (2,0,0): all of them have begun; no wait covers it */
    PDL_EDGE_UNKNOWN = 4               /* anything else; only ever read */
} pdl_edge_kind;

/* An edge. Nodes, graphs, streams and functions of the driver may be given, too: they are the same C types. */
typedef struct pdl_graph_edge {
    cudaGraphNode_t from;    /* the producer */
    cudaGraphNode_t to;      /* the consumer */
    pdl_edge_kind kind;      /* as asked for; after success, as it is in the graph */
    pdl_reason reason;       /* written: why it was refused, or why it became a full edge; else 0 */
} pdl_graph_edge;

/* Add a kernel node: pdl_launch for a graph that is built by hand.
 *
 * node              receives the node; without meaning after an error
 * edges             from and kind of each edge that leads to the new node; to, kind and reason are written
 * num_edges         0: the node depends on nothing
 * kernel to shared_bytes   as for pdl_launch; the arguments are copied
 * options           as for pdl_launch, without events; overlap has the meaning of pdl_graph_add_edges
 *
 * Returns as pdl_launch and pdl_graph_add_edges, with no node added after an error; also cudaErrorInvalidValue if node or
 * graph is NULL, options has an event, shared_bytes is 4 GiB or more, or two edges come from the same node.
 * A kernel of the driver is added by the driver's call, without edges; pdl_graph_add_edges adds them.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, pdl_graph_edge *edges,
                                                       size_t num_edges, const pdl_kernel *kernel, dim3 grid, dim3 block,
                                                       void **args, size_t shared_bytes, const pdl_options *options);

/* Add edges that lead to one kernel, or to other nodes.
 *
 * graph      of the runtime or the driver; one that is being captured, too
 * edges      from, to and kind of each; kind and reason are written, also if CUDA then refuses
 * consumer   the kernel of every node that an edge leads to, prepared; NULL if these are no kernels
 * overlap    PDL_OVERLAP_IF_POSSIBLE: where the consumer cannot overlap, or toolkit or driver have no edge data, the edge
 *            becomes a full one, which is always correct; kind and reason say so. PDL_OVERLAP_REQUIRED: an error there,
 *            unless PDL_DISABLE is the reason. PDL_OVERLAP_NONE: for full edges only
 *
 * Returns cudaSuccess, or with no edge added, and CUDA's last error untouched
 *   cudaErrorInvalidValue   graph, edges or a node is NULL; consumer was never prepared; an unknown overlap; an edge that
 *                           its reason explains
 *   cudaErrorNotSupported   overlap required, but not possible (reason)
 * or, with no edge added, any error of cudaGraphNodeGetType, cudaDriverGetVersion and cudaGraphAddDependencies, such
 * as cudaErrorInvalidValue (the two nodes already have an edge).
 *
 * Memory   After PDL_EDGE_PROGRAMMATIC and PDL_EDGE_BLOCK_START the consumer sees the producer's stores only after
 *          pdl_wait(), and a kernel that does not wait orders nothing for its own consumers: see pdl_graph_check.
 *          After PDL_EDGE_LAUNCH_COMPLETION nothing makes the stores visible.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_add_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                                      const pdl_kernel *consumer, pdl_overlap overlap);

/* Remove edges, all or none. from, to and kind of each are as they are in the graph; reason is written.
 *
 * Returns cudaSuccess, or with no edge removed
 *   cudaErrorInvalidValue   graph, edges or a node is NULL; an unknown kind (reason)
 *   cudaErrorNotSupported   a kind other than full, and toolkit or driver has no edge data (reason)
 * or any error of cudaDriverGetVersion and cudaGraphRemoveDependencies, such as cudaErrorInvalidValue (no such edge).
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_remove_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges);

/* Change the kind of an edge: edge is as it is in the graph, kind what it is to be; consumer and overlap as for
 * pdl_graph_add_edges. CUDA has no call for this: the edge is removed and added, so it comes last among the graph's edges.
 * Returns as pdl_graph_remove_edges and pdl_graph_add_edges; after an error the edge is what it was. */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_change_edge(cudaGraph_t graph, pdl_graph_edge *edge, pdl_edge_kind kind,
                                                        const pdl_kernel *consumer, pdl_overlap overlap);

/* Make the next work captured in a stream depend on these nodes, instead of on what came before it.
 *
 * edges      from and kind of each, at most 32; to is not read; kind and reason are written
 * consumer   the kernel that is launched next, NULL if that is no kernel; overlap as for pdl_graph_add_edges
 *
 * Returns as pdl_graph_add_edges, with nothing changed after an error; also cudaErrorInvalidValue for more than 32
 * edges, or any error of cudaStreamUpdateCaptureDependencies, such as cudaErrorIllegalState (the stream is not captured).
 * A launch with overlap makes full edges from kernels programmatic.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_set_capture_edges(cudaStream_t stream, pdl_graph_edge *edges, size_t num_edges,
                                                              const pdl_kernel *consumer, pdl_overlap overlap);

/* Read the edges of a graph, of those that lead to a node, or of those that leave it.
 *
 * edges      receives the edges, in CUDA's order; NULL only if *num_edges is 0
 * num_edges  in: entries in edges; out: how many edges there are, 0 after an error other than cudaErrorMemoryAllocation
 * nodes      scratch: 2 * *num_edges entries (as many as edges for one node); NULL only if *num_edges is 0
 * data       scratch: *num_edges entries; NULL only if *num_edges is 0
 *
 * Returns cudaSuccess, or
 *   cudaErrorInvalidValue       graph, node, num_edges, or an array that is needed is NULL
 *   cudaErrorMemoryAllocation   the arrays are too small; *num_edges says what is needed: exactly, or, where CUDA does not
 *                               tell, a guess that is larger than what was given
 *   cudaErrorNotSupported       toolkit or driver has no edge data
 * or any error of cudaDriverGetVersion and of CUDA's query.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t *num_edges,
                                                  cudaGraphNode_t *nodes, pdl_edge_data *data);
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_to(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges,
                                                     cudaGraphNode_t *nodes, pdl_edge_data *data);
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_from(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges,
                                                       cudaGraphNode_t *nodes, pdl_edge_data *data);

/* Read what the next work captured in a stream will depend on.
 *
 * graph             receives the graph that is being made; NULL: not wanted
 * edges, num_edges  as for pdl_graph_edges; to is NULL. kind is what CUDA holds now: a launch with overlap may still make
 *                   it programmatic
 *
 * Returns as pdl_graph_edges; cudaErrorIllegalState if the stream is not captured, cudaErrorStreamCaptureInvalidated if its
 * capture is broken; any error of cudaStreamGetCaptureInfo.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_edges_of_capture(cudaStream_t stream, cudaGraph_t *graph,
                                                             pdl_graph_edge *edges, size_t *num_edges);

/* Count the edges of a graph that let a kernel start early and wait: has the capture kept the overlap?
 * count receives the number of PDL_EDGE_PROGRAMMATIC and PDL_EDGE_BLOCK_START, 0 after an error; num_edges, nodes and data
 * as for pdl_graph_edges. Returns cudaErrorInvalidValue if count is NULL; otherwise as pdl_graph_edges. */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_count_programmatic(cudaGraph_t graph, size_t *num_edges, cudaGraphNode_t *nodes,
                                                               pdl_edge_data *data, size_t *count);

/* Whether an edge is legal: CUDA's table, without a CUDA call. reserved is not 0 if any of the reserved bytes is not; from
 * and to are the types of the nodes. Returns PDL_REASON_NONE or the first thing that is wrong, PDL_REASON_EDGE_*. */
PDL_API pdl_reason pdl_graph_edge_judge(unsigned from_port, unsigned to_port, unsigned type, unsigned reserved,
                                        enum cudaGraphNodeType from, enum cudaGraphNodeType to);

/* The names of 0.2; they go with 0.4. */
PDL_NODISCARD PDL_IMPL_DEPRECATED("use pdl_graph_add_edges")
PDL_API cudaError_t pdl_graph_connect(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                                    const pdl_kernel *consumer, pdl_overlap overlap);
PDL_NODISCARD PDL_IMPL_DEPRECATED("use pdl_graph_remove_edges")
PDL_API cudaError_t pdl_graph_remove(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges);
PDL_NODISCARD PDL_IMPL_DEPRECATED("use pdl_graph_change_edge")
PDL_API cudaError_t pdl_graph_change(cudaGraph_t graph, pdl_graph_edge *edge, pdl_edge_kind kind,
                                                   const pdl_kernel *consumer, pdl_overlap overlap);
PDL_NODISCARD PDL_IMPL_DEPRECATED("use pdl_graph_set_capture_edges")
PDL_API cudaError_t pdl_graph_connect_capture(cudaStream_t stream, pdl_graph_edge *edges, size_t num_edges,
                                                            const pdl_kernel *consumer, pdl_overlap overlap);

/* ---- declarations: does every kernel of a graph see what it depends on? ----------------------------------------- */

/* Whether a kernel node waits. YES: every thread that touches shared data executes pdl_wait() first. */
typedef enum pdl_waits PDL_IMPL_UNSIGNED { PDL_WAITS_UNKNOWN = 0, PDL_WAITS_YES = 1, PDL_WAITS_NO = 2 } pdl_waits;
typedef enum pdl_severity PDL_IMPL_UNSIGNED { PDL_SEVERITY_HINT = 0, PDL_SEVERITY_ERROR = 1 } pdl_severity;

/* What pdl_graph_check finds, with three sentences each: the error; the hint where it depends on a kernel of which it is
 * unknown whether it waits; the hint where all is well. New ones come last. */
#define PDL_IMPL_FINDINGS(X)                                                                                           \
    X(NO_WAIT, "the consumer does not wait, so nothing orders it after the producer of its programmatic edge",         \
      "the consumer is ordered after the producer of its programmatic edge only if a kernel waits that may not",       \
      "the consumer does not wait, and is ordered after the producer only by other edges")                             \
    X(FULL_EDGE, "a full edge covers its producer only: the consumer is not ordered after what that one overlaps",     \
      "a full edge covers its producer only: this is safe only if a kernel waits that may not", "")                    \
    X(LAUNCH_COMPLETION, "the consumer starts while the producer runs, and no wait covers a launch-completion edge",   \
      "no wait covers a launch-completion edge: this is safe only if a kernel waits that may not",                     \
      "no wait covers a launch-completion edge, and the consumer is ordered after the producer only by other edges")   \
    X(FAN_IN, "", "", "the consumer has several incoming edges, so its programmatic ones gain no overlap")             \
    X(NESTED, "", "", "a child graph or a conditional body, which was not looked into: check it by itself")            \
    X(UNKNOWN_EDGE, "", "", "edge data that this version of pdl.h does not know; taken for a full edge")
#define PDL_IMPL_FINDING_CODE(name, error, unsure, fine) PDL_FINDING_##name,
typedef enum pdl_finding PDL_IMPL_UNSIGNED { PDL_IMPL_FINDINGS(PDL_IMPL_FINDING_CODE) PDL_IMPL_FINDING_COUNT } pdl_finding;

typedef struct pdl_graph_finding {
    pdl_finding kind;
    pdl_severity severity;
    cudaGraphNode_t from;      /* the edge's producer; of FAN_IN, one of those with a programmatic edge; of NESTED NULL */
    cudaGraphNode_t to;        /* the edge's consumer, or the node itself */
    cudaGraphNode_t missed;    /* the kernel that may still run; NULL: none */
    const char *sentence;      /* constant text */
} pdl_graph_finding;

typedef pdl_waits (*pdl_graph_waits)(cudaGraphNode_t node, void *user);

/* Bytes of scratch that pdl_graph_check needs for this many nodes and edges; constant if they are. */
#define PDL_GRAPH_SCRATCH(nodes, edges) (8 + PDL_IMPL_CAST(size_t, nodes) * 88 + PDL_IMPL_CAST(size_t, edges) * 48)

/* Check a graph for kernels that may run before, or beside, what they depend on.
 *
 * graph          of the runtime or the driver, however it was made; not changed
 * waits, user    called once for each kernel node, with user; NULL: unknown for every kernel
 * scratch        PDL_GRAPH_SCRATCH(nodes, edges) bytes, of any alignment; NULL only if *scratch_bytes is 0
 * scratch_bytes  in: bytes in scratch; out: what is needed, exactly or as *num_edges of pdl_graph_edges
 * findings       receives the findings, the errors first; NULL only if *num_findings is 0
 * num_findings   in: entries in findings; out: total found, which may exceed the capacity; 0 if nothing was checked
 *
 * Returns cudaSuccess, whatever was found, or
 *   cudaErrorInvalidValue       a pointer is NULL; the graph has a cycle
 *   cudaErrorMemoryAllocation   scratch is too small (*scratch_bytes is now larger: nothing was checked), or findings is
 *                               (*num_findings is now larger: the first ones are there)
 *   cudaErrorNotSupported       toolkit or driver has no edge data
 * or any error of cudaDriverGetVersion, cudaGraphGetNodes, cudaGraphGetEdges, cudaGraphNodeGetType.
 *
 * Errors   A node depends on all nodes from which a path leads to it, and after its own wait, if it waits, all of them
 *          have to have completed. An error says that one of them (missed) may then still run, by the documented order
 *          and as measured: a full edge covers the kernel it leaves and what that one has waited for, no more; a wait
 *          covers the producers of programmatic edges, and what their waits cover, executed or not. It names the edge
 *          over which the order is lost; later nodes may miss the same. Whether they share data, it cannot know.
 * Hints    What would be an error if a kernel did not wait, where it is unknown whether it waits; a fan-in, which
 *          prevents overlap; early edges that are safe because of others only; child graphs and conditional bodies,
 *          which are not looked into; edge data of newer toolkits.
 * Time     Grows with nodes plus edges, once, and once more for every 64 producers of edges that could be unsafe.
 */
PDL_NODISCARD PDL_API cudaError_t pdl_graph_check(cudaGraph_t graph, pdl_graph_waits waits, void *user, void *scratch,
                                                  size_t *scratch_bytes, pdl_graph_finding *findings,
                                                  size_t *num_findings);
#endif /* PDL_NO_GRAPHS */

#ifdef __cplusplus
} /* extern "C" */
#ifndef PDL_DECLARE_ONLY

/* ---- declarations: C++ ------------------------------------------------------------------------------------------ */

/* A parameter type from which nothing is deduced, so that arguments convert as in a call. */
template <typename pdl_type> struct pdl_impl_same {
    typedef pdl_type type;
};

/* Prepare a kernel without a cast; as pdl_kernel_init. */
template <typename... pdl_params>
PDL_NODISCARD PDL_IMPL cudaError_t pdl_kernel_init(pdl_kernel *kernel, void (*func)(pdl_params...));

/* Launch a prepared kernel with typed arguments, converted to the kernel's parameters as in a call of a function.
 * func is the function that kernel was prepared from, else cudaErrorInvalidValue; otherwise as the other pdl_launch. The
 * pdl_launch_check below tells of this, too: PDL_REASON_WRONG_FUNCTION. */
template <typename... pdl_params>
PDL_NODISCARD PDL_IMPL cudaError_t pdl_launch(const pdl_kernel *kernel, void (*func)(pdl_params...), dim3 grid, dim3 block,
                                              size_t shared_bytes, cudaStream_t stream, const pdl_options *options,
                                              typename pdl_impl_same<pdl_params>::type... args);
template <typename... pdl_params>
PDL_IMPL cudaError_t pdl_launch_check(const pdl_kernel *kernel, void (*func)(pdl_params...), dim3 grid, dim3 block,
                                      const pdl_options *options, pdl_refusal *refusal);
#endif
} /* inline namespace */

#ifndef PDL_DECLARE_ONLY
namespace pdl {
inline namespace PDL_IMPL_NAMESPACE(v) {

enum overlap_wish : unsigned {
    overlap = 1,             /* PDL_OVERLAP_IF_POSSIBLE: an ordinary launch where the kernel cannot */
    overlap_required = 2     /* PDL_OVERLAP_REQUIRED: an error where the kernel cannot */
};

/* What may stand in the place of pdl::overlap: one of these, or options, which have to outlive the call. */
class wish {
public:
    wish(overlap_wish asked) : options_(nullptr), overlap_(static_cast<unsigned>(asked)) {}
    wish(pdl_overlap asked) : options_(nullptr), overlap_(static_cast<unsigned>(asked)) {}
    wish(const pdl_options &asked) : options_(&asked), overlap_(static_cast<unsigned>(asked.overlap)) {}
    wish(const pdl_options *asked) : options_(asked), overlap_(asked != nullptr ? static_cast<unsigned>(asked->overlap) : 0u) {}
    const pdl_options *options() const { return options_; }
    unsigned overlap() const { return overlap_; }

private:
    const pdl_options *options_;
    unsigned overlap_;
};

/* Launch any __global__ function in one line, without preparing it.
 *
 *     pdl::launch(scale<float>, grid, block, 0, stream, pdl::overlap, out, in, 2.0f);
 *     pdl::launch(static_cast<void (*)(float *, int)>(overloaded), grid, block, 0, stream, pdl::overlap, out, n);
 *     pdl::launch(scale<float>, grid, block, 0, stream, options, out, in, 2.0f);     // options.overlap, options.event ...
 *
 * kernel  a __global__ function; choose an overload by a cast, and write default arguments out
 * how     pdl::overlap, pdl::overlap_required, PDL_OVERLAP_*, or pdl_options by reference or pointer
 * args    as many as kernel has parameters, converted as in a call of a function: NULL, {2} and S::N work
 *
 * Returns as pdl_launch, except that CUDA checks grid and block, so such an error is CUDA's last error, too; any error of
 * preparing the kernel; cudaErrorInvalidDeviceFunction if kernel is NULL. PDL_DEBUG changes nothing: the
 * compiler checks the number of arguments.
 *
 * State    The first launch of a function on a device asks CUDA what pdl_kernel_init asks; each file that uses pdl::launch
 *          keeps the answers in a table of 8 KiB, for up to 512 functions, on devices 0 to 31. Later launches make one CUDA
 *          call, two (with cudaGetDevice) in a process that sees several devices, take no lock, and ask nothing. For
 *          functions of another library than the one that makes the call, which could be unloaded, every launch asks;
 *          prepare those with pdl_kernel_init.
 * Capture  The first launch may be captured, in every capture mode.
 */
template <typename... pdl_params>
PDL_NODISCARD PDL_IMPL cudaError_t launch(void (*kernel)(pdl_params...), dim3 grid, dim3 block, size_t shared_bytes,
                                          cudaStream_t stream, wish how, typename pdl_impl_same<pdl_params>::type... args);

/* The same in the place of cudaLaunchKernelEx: asks for overlap, and keeps all attributes of config (at most 23).
 *
 * An attribute programmaticStreamSerializationAllowed of config is taken as the wish: 0 means no overlap; 1 is dropped where
 * the kernel cannot overlap. Returns cudaErrorInvalidValue if config is NULL, has attributes without an array, or more than
 * 23; otherwise as launch.
 */
template <typename... pdl_params>
PDL_NODISCARD PDL_IMPL cudaError_t launch(const cudaLaunchConfig_t *config, void (*kernel)(pdl_params...),
                                          typename pdl_impl_same<pdl_params>::type... args);

/* Say whether, and why, a launch with these arguments is refused or cannot overlap. Prepares the kernel each time.
 * refusal receives the first refused argument and the reason, as pdl_launch_check; reason is the kernel's if nothing is
 * refused. Returns the error that stands for it, or one of pdl_kernel_init. */
template <typename... pdl_params>
PDL_NODISCARD PDL_IMPL cudaError_t explain(void (*kernel)(pdl_params...), dim3 grid, dim3 block, wish how, pdl_refusal *refusal);

} /* inline namespace */
} /* namespace pdl */
#endif

inline namespace PDL_IMPL_NAMESPACE(pdl_v) {
extern "C" {
#endif /* __cplusplus */

/* ==== implementation: a reader of the declarations needs nothing below =========================================== */

#ifndef PDL_DECLARE_ONLY

/* TRY ends the function with the call's error, if there is one; FAIL with this error, if the condition holds; REFUSE with a
 * refusal, if it holds. They stand where a statement does, inside braces. In C++ they are what compilers read fastest. */
#ifdef __cplusplus
#define PDL_IMPL_TRY(call)                                                                                             \
    if (const cudaError_t pdl_impl_error = (call))                                                                     \
    return pdl_impl_error
#define PDL_IMPL_REFUSAL(argument, reason) {argument, reason}
#else
#define PDL_IMPL_TRY(call)                                                                                             \
    do {                                                                                                               \
        const cudaError_t pdl_impl_error = (call);                                                                     \
        if (pdl_impl_error) {                                                                                          \
            return pdl_impl_error;                                                                                     \
        }                                                                                                              \
    } while (0)
#define PDL_IMPL_REFUSAL(argument, reason) (pdl_refusal){argument, reason}
#endif
#define PDL_IMPL_FAIL(condition, error)                                                                                \
    if (condition)                                                                                                     \
    return error
#define PDL_IMPL_REFUSE(condition, argument, reason)                                                                   \
    if (condition) {                                                                                                   \
        return PDL_IMPL_REFUSAL(PDL_ARGUMENT_##argument, PDL_REASON_##reason);                                         \
    }

/* Compares enumerators as numbers, and assigns none: for each comparison of enumerators, and each assignment to one, a
 * C++ compiler considers hundreds of built-in operators. Errors are tested as conditions: cudaSuccess is 0. */
#define PDL_IMPL_CODE(value) PDL_IMPL_UINT(value)
#define PDL_IMPL_IS(value, name) (PDL_IMPL_CODE(value) == PDL_IMPL_CODE(name))

/* ---- reasons ---- */

#define PDL_IMPL_TEXT(name, text) text,

PDL_IMPL_UNUSED PDL_API const char *pdl_reason_string(pdl_reason reason)
{
    static const char *const texts[] = {PDL_IMPL_REASONS(PDL_IMPL_TEXT)};
    const unsigned code = PDL_IMPL_CAST(unsigned, reason);

    return code < sizeof(texts) / sizeof(texts[0]) ? texts[code] : "unknown reason";
}

PDL_IMPL_UNUSED PDL_API const char *pdl_argument_string(pdl_argument argument)
{
    static const char *const texts[] = {PDL_IMPL_ARGUMENTS(PDL_IMPL_TEXT)};
    const unsigned code = PDL_IMPL_CAST(unsigned, argument);

    return code < sizeof(texts) / sizeof(texts[0]) ? texts[code] : "unknown argument";
}

/* ---- prepare ---- */

/* 1 if an environment variable is set, not empty and not "0". */
PDL_IMPL int pdl_impl_switched_on(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' && !(value[0] == '0' && value[1] == '\0');
}

typedef void (*pdl_impl_any_function)(void);

/* A function of the driver; NULL if the driver does not have it. */
PDL_IMPL pdl_impl_any_function pdl_impl_find_in_driver(const char *name, unsigned since)
{
    union pdl_impl_found {
        void *object;
        pdl_impl_any_function function;
    } found = PDL_ZERO;


    (void)since;
    return PDL_IMPL_ASK_DRIVER(name, &found.object, since) ? NULL : found.function;
}

/* Device, compute capability and driver. */
PDL_IMPL cudaError_t pdl_impl_read_device(pdl_kernel *k)
{
    int cc_major = 0, cc_minor = 0;

    PDL_IMPL_TRY(cudaGetDevice(&k->device));
    PDL_IMPL_TRY(cudaDriverGetVersion(&k->driver_version));
    PDL_IMPL_TRY(cudaDeviceGetAttribute(&cc_major, cudaDevAttrComputeCapabilityMajor, k->device));
    PDL_IMPL_TRY(cudaDeviceGetAttribute(&cc_minor, cudaDevAttrComputeCapabilityMinor, k->device));
    k->cc = 10 * cc_major + cc_minor;
    return cudaSuccess;
}

PDL_IMPL cudaError_t pdl_impl_read_limits(pdl_kernel *k)
{
    const enum cudaDeviceAttr grid[3] = {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ};
    const enum cudaDeviceAttr block[3] = {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ};
    int value = 0, i;

    for (i = 0; i < 3; i++) {
        PDL_IMPL_TRY(cudaDeviceGetAttribute(&value, grid[i], k->device));
        k->max_grid[i] = PDL_IMPL_CAST(unsigned, value);
        PDL_IMPL_TRY(cudaDeviceGetAttribute(&value, block[i], k->device));
        k->max_block[i] = PDL_IMPL_CAST(unsigned, value);
    }
    return cudaSuccess;
}

PDL_IMPL pdl_reason pdl_impl_why_not(const pdl_kernel *k)
{
    if (pdl_impl_switched_on("PDL_DISABLE")) {
        return PDL_REASON_DISABLED; /* first, because it makes required overlap no error */
    }
    if (!PDL_HAS_OVERLAP) {
        return PDL_REASON_TOOLKIT;
    }
    if (k->cc < 90) {
        return PDL_REASON_DEVICE;
    }
    if (k->driver_version < PDL_IMPL_SINCE_OVERLAP) {
        return PDL_REASON_DRIVER;
    }
    return k->ptx_version < 90 ? PDL_REASON_TARGET : PDL_REASON_NONE;
}

PDL_IMPL void pdl_impl_set_reason(pdl_kernel *k, pdl_reason reason)
{
    k->reason = reason;
    k->can_overlap = reason ? 0 : 1;
}

/* What decides about overlap, without the limits of the device. */
PDL_IMPL cudaError_t pdl_impl_describe(pdl_kernel *k, const void *func)
{
    struct cudaFuncAttributes attributes;

    PDL_IMPL_TRY(pdl_impl_read_device(k));
    PDL_IMPL_TRY(cudaFuncGetAttributes(&attributes, func));
    k->func = func;
    k->ptx_version = attributes.ptxVersion;
    k->binary_version = attributes.binaryVersion;
    k->regs_per_thread = attributes.numRegs;
    k->max_threads_per_block = attributes.maxThreadsPerBlock;
    k->static_shared_bytes = attributes.sharedSizeBytes;
    pdl_impl_set_reason(k, pdl_impl_why_not(k));
    return cudaSuccess;
}

/* Number of parameters, or -1. The query after the last one fails by design; so it is made only while CUDA's last error
 * is clean, and clears that error. */
PDL_IMPL int pdl_impl_count_params(const void *func)
{
    int count = -1;
#if PDL_DEBUG && PDL_HAS_PARAM_INFO
    if (!PDL_IMPL_CODE(cudaPeekAtLastError())) {
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

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_kernel_init(pdl_kernel *kernel, const void *func)
{
    const pdl_kernel empty = PDL_ZERO;
    pdl_kernel filled = PDL_ZERO;

    if (kernel == NULL) {
        return cudaErrorInvalidValue;
    }
    *kernel = empty;
    PDL_IMPL_FAIL(func == NULL, cudaErrorInvalidValue);
    PDL_IMPL_TRY(pdl_impl_describe(&filled, func));
    PDL_IMPL_TRY(pdl_impl_read_limits(&filled));
    filled.num_params = pdl_impl_count_params(func);
    *kernel = filled;
    return cudaSuccess;
}

/* Asks the driver for an attribute of a function: CU_FUNC_ATTRIBUTE_*. */
typedef unsigned (*pdl_impl_ask_function)(int *value, int attribute, cudaFunction_t function);
#define PDL_IMPL_MAX_THREADS_PER_BLOCK 0
#define PDL_IMPL_SHARED_SIZE_BYTES 1
#define PDL_IMPL_NUM_REGS 4
#define PDL_IMPL_PTX_VERSION 5
#define PDL_IMPL_BINARY_VERSION 6

PDL_IMPL cudaError_t pdl_impl_describe_driver(pdl_kernel *k, cudaFunction_t function)
{
    const pdl_impl_any_function found = pdl_impl_find_in_driver("cuFuncGetAttribute", 2020);
    const pdl_impl_ask_function ask = PDL_IMPL_FUNCTION(pdl_impl_ask_function, found);
    int shared = 0;
    unsigned error;

    k->launch_driver = pdl_impl_find_in_driver("cuLaunchKernelEx", 11060);
    if (found == NULL || k->launch_driver == NULL) {
        return cudaErrorNotSupported;
    }
    error = ask(&k->ptx_version, PDL_IMPL_PTX_VERSION, function);
    error = error == 0 ? ask(&k->binary_version, PDL_IMPL_BINARY_VERSION, function) : error;
    error = error == 0 ? ask(&k->regs_per_thread, PDL_IMPL_NUM_REGS, function) : error;
    error = error == 0 ? ask(&k->max_threads_per_block, PDL_IMPL_MAX_THREADS_PER_BLOCK, function) : error;
    error = error == 0 ? ask(&shared, PDL_IMPL_SHARED_SIZE_BYTES, function) : error;
    k->static_shared_bytes = PDL_IMPL_CAST(size_t, shared);
    k->num_params = -1;
    k->function = function;
    return PDL_IMPL_CAST(cudaError_t, error);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_kernel_init_driver(pdl_kernel *kernel, cudaFunction_t function)
{
    const pdl_kernel empty = PDL_ZERO;
    pdl_kernel filled = PDL_ZERO;

    if (kernel == NULL) {
        return cudaErrorInvalidValue;
    }
    *kernel = empty;
    PDL_IMPL_FAIL(function == NULL, cudaErrorInvalidValue);
    PDL_IMPL_TRY(pdl_impl_read_device(&filled));
    PDL_IMPL_TRY(pdl_impl_read_limits(&filled));
    PDL_IMPL_TRY(pdl_impl_describe_driver(&filled, function));
    pdl_impl_set_reason(&filled, pdl_impl_why_not(&filled));
    *kernel = filled;
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API pdl_reason pdl_kernel_reason(const pdl_kernel *kernel)
{
    if (kernel == NULL) {
        return PDL_REASON_NULL_POINTER;
    }
    return kernel->func == NULL && kernel->function == NULL ? PDL_REASON_NOT_PREPARED : kernel->reason;
}

/* ---- what is wrong with a launch ---- */

/* By which call a launch is made. */
#define PDL_IMPL_BY_RUNTIME 0
#define PDL_IMPL_BY_DRIVER 1
#define PDL_IMPL_BY_OTHERS 2 /* pdl_attributes_fill */

/* The launch attributes that come from fields of pdl_options, by number, because older toolkits lack some names. */
#define PDL_IMPL_ATTR_COOPERATIVE 2
#define PDL_IMPL_ATTR_CLUSTER 4
#define PDL_IMPL_ATTR_OVERLAP 6
#define PDL_IMPL_ATTR_EVENT 7
#define PDL_IMPL_ATTR_PRIORITY 8
#define PDL_IMPL_ATTR_MEM_SYNC_DOMAIN 10
#define PDL_IMPL_ATTR_COMPLETION_EVENT 12
#define PDL_IMPL_ATTR_UPDATABLE_NODE 13 /* has no field: CUDA returns a handle in it */
#define PDL_IMPL_ATTR_CARVEOUT 14

/* Rejects attributes that pdl.h sets itself, and one whose result would be lost in a copy. */
PDL_IMPL pdl_refusal pdl_impl_judge_attribute(unsigned id, int by)
{
    const pdl_refusal none = PDL_ZERO;

    switch (id) {
    case PDL_IMPL_ATTR_COOPERATIVE:
    case PDL_IMPL_ATTR_CLUSTER:
    case PDL_IMPL_ATTR_OVERLAP:
    case PDL_IMPL_ATTR_EVENT:
    case PDL_IMPL_ATTR_PRIORITY:
    case PDL_IMPL_ATTR_MEM_SYNC_DOMAIN:
    case PDL_IMPL_ATTR_COMPLETION_EVENT:
    case PDL_IMPL_ATTR_CARVEOUT: PDL_IMPL_REFUSE(1, ATTRS, ATTR_OF_FIELD) break;
    case PDL_IMPL_ATTR_UPDATABLE_NODE: PDL_IMPL_REFUSE(by != PDL_IMPL_BY_OTHERS, ATTRS, ATTR_RETURNS) break;
    default: break;
    }
    return none;
}

/* Options alone, whatever the kernel. */
PDL_IMPL pdl_refusal pdl_impl_judge_options(const pdl_options *o, int by)
{
    const unsigned trigger = PDL_IMPL_CAST(unsigned, o->event_trigger), domain = PDL_IMPL_CAST(unsigned, o->mem_sync_domain);
    pdl_refusal attribute = PDL_ZERO;
    unsigned i;

    PDL_IMPL_REFUSE(PDL_IMPL_CAST(unsigned, o->overlap) > PDL_IMPL_CODE(PDL_OVERLAP_REQUIRED), OVERLAP, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(trigger > PDL_IMPL_CODE(PDL_EVENT_AT_BLOCK_START), EVENT_TRIGGER, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(o->cooperative > 1, COOPERATIVE, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(o->has_priority > 1, HAS_PRIORITY, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(domain > PDL_IMPL_CODE(PDL_DOMAIN_REMOTE), MEM_SYNC_DOMAIN, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(o->carveout > PDL_IMPL_CODE(PDL_CARVEOUT_NO_SHARED), CARVEOUT, UNKNOWN_VALUE)
    PDL_IMPL_REFUSE(o->num_attrs > PDL_IMPL_CODE(PDL_MAX_FURTHER_ATTRIBUTES), NUM_ATTRS, TOO_MANY_ATTRS)
    PDL_IMPL_REFUSE(trigger != 0 && o->event == NULL, EVENT_TRIGGER, NO_EVENT)
    PDL_IMPL_REFUSE(o->priority != 0 && !o->has_priority, PRIORITY, NO_PRIORITY)
    PDL_IMPL_REFUSE(o->event != NULL && o->event == o->launch_completion_event, COMPLETION_EVENT, SAME_EVENT)
    PDL_IMPL_REFUSE(o->num_attrs != 0 && o->attrs == NULL, ATTRS, NULL_POINTER)
    for (i = 0; i < o->num_attrs && !PDL_IMPL_CODE(attribute.reason); i++) {
        attribute = pdl_impl_judge_attribute(PDL_IMPL_CAST(unsigned, o->attrs[i].id), by);
    }
    PDL_IMPL_REFUSE(!PDL_IMPL_CODE(attribute.reason) && !PDL_HAS_MEM_SYNC_DOMAIN && domain != 0, MEM_SYNC_DOMAIN, TOOLKIT_FIELD)
    PDL_IMPL_REFUSE(!PDL_IMPL_CODE(attribute.reason) && !PDL_HAS_CARVEOUT && o->carveout != 0, CARVEOUT, TOOLKIT_FIELD)
    return attribute;
}

/* Options together with the kernel. */
PDL_IMPL pdl_refusal pdl_impl_judge_kernel(const pdl_kernel *k, const pdl_options *o, int by)
{
    const int required = PDL_IMPL_IS(o->overlap, PDL_OVERLAP_REQUIRED), completion = o->launch_completion_event != NULL;
    pdl_refusal refusal = pdl_impl_judge_options(o, by);

    if (refusal.reason) {
        return refusal;
    }
    PDL_IMPL_REFUSE(k == NULL, KERNEL, NULL_POINTER)
    PDL_IMPL_REFUSE(k->func == NULL && k->function == NULL, KERNEL, NOT_PREPARED)
    PDL_IMPL_REFUSE(by == PDL_IMPL_BY_RUNTIME && k->func == NULL, KERNEL, FOR_DRIVER)
    PDL_IMPL_REFUSE(by == PDL_IMPL_BY_DRIVER && k->function == NULL, KERNEL, FOR_RUNTIME)
    PDL_IMPL_REFUSE(PDL_IMPL_CODE(o->mem_sync_domain) && k->driver_version < PDL_IMPL_SINCE_MEM_SYNC_DOMAIN, MEM_SYNC_DOMAIN, DRIVER_DOMAIN)
    PDL_IMPL_REFUSE(o->carveout && k->driver_version < PDL_IMPL_SINCE_CARVEOUT, CARVEOUT, DRIVER_CARVEOUT)
    if (!required || PDL_IMPL_IS(k->reason, PDL_REASON_DISABLED)) {
        return refusal;
    }
    if (!k->can_overlap) {
        const pdl_refusal cannot = {PDL_ARGUMENT_OVERLAP, k->reason};

        return cannot;
    }
    PDL_IMPL_REFUSE(completion && !PDL_HAS_LAUNCH_COMPLETION_EVENT, COMPLETION_EVENT, TOOLKIT_FIELD)
    PDL_IMPL_REFUSE(completion && k->driver_version < PDL_IMPL_SINCE_LAUNCH_COMPLETION_EVENT, COMPLETION_EVENT, DRIVER_COMPLETION)
    return refusal;
}

/* Grid, block and cluster. */
PDL_IMPL pdl_refusal pdl_impl_judge_shape(const pdl_kernel *k, dim3 grid, dim3 block, const pdl_options *o)
{
    const unsigned x = o->cluster_x, y = o->cluster_y, z = o->cluster_z;
    const pdl_refusal none = PDL_ZERO;

    PDL_IMPL_REFUSE(grid.x == 0 || grid.y == 0 || grid.z == 0, GRID, AXIS_ZERO)
    PDL_IMPL_REFUSE(block.x == 0 || block.y == 0 || block.z == 0, BLOCK, AXIS_ZERO)
    PDL_IMPL_REFUSE(grid.x > k->max_grid[0] || grid.y > k->max_grid[1] || grid.z > k->max_grid[2], GRID, AXIS_TOO_LONG)
    PDL_IMPL_REFUSE(block.x > k->max_block[0] || block.y > k->max_block[1] || block.z > k->max_block[2], BLOCK, AXIS_TOO_LONG)
    PDL_IMPL_REFUSE(1ull * block.x * block.y * block.z > PDL_IMPL_CAST(unsigned, k->max_threads_per_block), BLOCK, TOO_MANY_THREADS)
    PDL_IMPL_REFUSE((x != 0 && grid.x % x != 0) || (y != 0 && grid.y % y != 0) || (z != 0 && grid.z % z != 0), CLUSTER, CLUSTER_SIZE)
    return none;
}

PDL_IMPL pdl_refusal pdl_impl_judge(const pdl_kernel *k, dim3 grid, dim3 block, const pdl_options *o, int by)
{
    const pdl_refusal refusal = pdl_impl_judge_kernel(k, o, by);

    return refusal.reason ? refusal : pdl_impl_judge_shape(k, grid, block, o);
}

/* The error that stands for a refusal. */
PDL_IMPL cudaError_t pdl_impl_error_of(pdl_reason reason)
{
    switch (reason) {
    case PDL_REASON_NONE: return cudaSuccess;
    case PDL_REASON_AXIS_ZERO:
    case PDL_REASON_AXIS_TOO_LONG:
    case PDL_REASON_TOO_MANY_THREADS:
    case PDL_REASON_CLUSTER_SIZE: return cudaErrorInvalidConfiguration;
    case PDL_REASON_TOOLKIT:
    case PDL_REASON_DEVICE:
    case PDL_REASON_TARGET:
    case PDL_REASON_DRIVER:
    case PDL_REASON_TOOLKIT_FIELD:
    case PDL_REASON_DRIVER_DOMAIN:
    case PDL_REASON_DRIVER_COMPLETION:
    case PDL_REASON_DRIVER_CARVEOUT: return cudaErrorNotSupported;
    case PDL_REASON_OTHER_DEVICE: return cudaErrorInvalidDevice;
    default: return cudaErrorInvalidValue;
    }
}

/* ---- attributes ---- */

/* Which of overlap and the two events the launch itself carries. */
typedef struct pdl_impl_carried {
    int overlap, event, completion;
} pdl_impl_carried;

PDL_IMPL pdl_impl_carried pdl_impl_carry(const pdl_kernel *k, const pdl_options *o)
{
    const int has_completion = PDL_HAS_LAUNCH_COMPLETION_EVENT && k->driver_version >= PDL_IMPL_SINCE_LAUNCH_COMPLETION_EVENT &&
                               !PDL_IMPL_IS(k->reason, PDL_REASON_DISABLED);
    const pdl_impl_carried carried = {k->can_overlap && PDL_IMPL_CODE(o->overlap), k->can_overlap && o->event != NULL,
                                      has_completion && o->launch_completion_event != NULL};

    return carried;
}

/* The next free entry, zeroed, with its id set. */
PDL_IMPL cudaLaunchAttributeValue *pdl_impl_add(cudaLaunchAttribute *attrs, unsigned *count, int id)
{
    const cudaLaunchAttribute empty = PDL_ZERO;

    attrs[*count] = empty;
    attrs[*count].id = PDL_IMPL_CAST(cudaLaunchAttributeID, id);
    return &attrs[(*count)++].val;
}

/* Writes what lets this launch, and what waits for its events, start early. Returns how many attributes. */
PDL_IMPL unsigned pdl_impl_fill_early(const pdl_kernel *k, const pdl_options *o, cudaLaunchAttribute *attrs)
{
    const pdl_impl_carried carried = pdl_impl_carry(k, o);
    unsigned count = 0;

    if (carried.overlap) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_OVERLAP)->programmaticStreamSerializationAllowed = 1;
    }
    if (carried.event) {
        cudaLaunchAttributeValue *value = pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_EVENT);

        value->programmaticEvent.event = o->event;
        value->programmaticEvent.triggerAtBlockStart = PDL_IMPL_IS(o->event_trigger, PDL_EVENT_AT_BLOCK_START);
    }
#if PDL_HAS_LAUNCH_COMPLETION_EVENT
    if (carried.completion) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_COMPLETION_EVENT)->launchCompletionEvent.event = o->launch_completion_event;
    }
#endif
    return count;
}

/* Writes the other attributes after the first count. Returns how many there are, at most PDL_MAX_ATTRIBUTES. */
PDL_IMPL unsigned pdl_impl_fill_rest(const pdl_options *o, cudaLaunchAttribute *attrs, unsigned count)
{
    unsigned i;

    if (o->cluster_x != 0 || o->cluster_y != 0 || o->cluster_z != 0) {
        cudaLaunchAttributeValue *value = pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_CLUSTER);

        value->clusterDim.x = o->cluster_x != 0 ? o->cluster_x : 1;
        value->clusterDim.y = o->cluster_y != 0 ? o->cluster_y : 1;
        value->clusterDim.z = o->cluster_z != 0 ? o->cluster_z : 1;
    }
    if (o->cooperative) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_COOPERATIVE)->cooperative = 1;
    }
    if (o->has_priority) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_PRIORITY)->priority = o->priority;
    }
#if PDL_HAS_MEM_SYNC_DOMAIN
    if (o->mem_sync_domain) {
        const int remote = PDL_IMPL_IS(o->mem_sync_domain, PDL_DOMAIN_REMOTE);

        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_MEM_SYNC_DOMAIN)->memSyncDomain =
            remote ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault;
    }
#endif
#if PDL_HAS_CARVEOUT
    if (o->carveout != 0) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_CARVEOUT)->sharedMemCarveout =
            o->carveout == PDL_IMPL_CODE(PDL_CARVEOUT_NO_SHARED) ? 0 : o->carveout;
    }
#endif
    for (i = 0; i < o->num_attrs; i++) {
        attrs[count++] = o->attrs[i];
    }
    return count;
}

/* Records after the launch the events that its attributes did not carry. */
PDL_IMPL cudaError_t pdl_impl_record_after(const pdl_kernel *k, const pdl_options *o, cudaStream_t stream)
{
    const pdl_impl_carried carried = pdl_impl_carry(k, o);

    if (o->event != NULL && !carried.event) {
        PDL_IMPL_TRY(cudaEventRecord(o->event, stream));
    }
    if (o->launch_completion_event != NULL && !carried.completion) {
        PDL_IMPL_TRY(cudaEventRecord(o->launch_completion_event, stream));
    }
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_attributes_fill(const pdl_kernel *kernel, const pdl_options *options,
                                                        cudaLaunchAttribute *attrs, unsigned capacity, unsigned *num_attrs)
{
    const pdl_options zero = PDL_ZERO, *o = options != NULL ? options : &zero;
    cudaLaunchAttribute all[PDL_MAX_ATTRIBUTES];
    unsigned i, count;

    if (num_attrs == NULL) {
        return cudaErrorInvalidValue;
    }
    *num_attrs = 0;
    PDL_IMPL_TRY(pdl_impl_error_of(pdl_impl_judge_kernel(kernel, o, PDL_IMPL_BY_OTHERS).reason));
    count = pdl_impl_fill_rest(o, all, pdl_impl_fill_early(kernel, o, all));
    if (count > capacity || (count != 0 && attrs == NULL)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < count; i++) {
        attrs[i] = all[i];
    }
    *num_attrs = count;
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_events_record_behind(const pdl_kernel *kernel, const pdl_options *options,
                                                             cudaStream_t stream)
{
    const pdl_options zero = PDL_ZERO, *o = options != NULL ? options : &zero;

    PDL_IMPL_TRY(pdl_impl_error_of(pdl_impl_judge_kernel(kernel, o, PDL_IMPL_BY_OTHERS).reason));
    return pdl_impl_record_after(kernel, o, stream);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_event_create(cudaEvent_t *event)
{
    return event != NULL ? cudaEventCreateWithFlags(event, cudaEventDisableTiming) : cudaErrorInvalidValue;
}

/* ---- launch ---- */

PDL_IMPL cudaError_t pdl_impl_start(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                    cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = count != 0 ? attrs : NULL;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, func, args);
}

/* CUlaunchConfig, without cuda.h. */
typedef struct pdl_impl_driver_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned num_attrs;
} pdl_impl_driver_config;

PDL_IMPL cudaError_t pdl_impl_start_by_driver(const pdl_kernel *k, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                              cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    typedef unsigned (*pdl_impl_launch)(const pdl_impl_driver_config *config, cudaFunction_t function, void **args, void **extra);
    const pdl_impl_driver_config config = {grid.x,  grid.y,  grid.z, block.x, block.y, block.z, PDL_IMPL_CAST(unsigned, shared_bytes),
                                           stream, attrs, count};

    if (shared_bytes > 0xffffffffu) {
        return cudaErrorInvalidValue;
    }
    return PDL_IMPL_CAST(cudaError_t, (PDL_IMPL_FUNCTION(pdl_impl_launch, k->launch_driver))(&config, k->function, args, NULL));
}

/* The checks of PDL_DEBUG: a kernel with parameters got some, and the device is the one it was prepared for. */
PDL_IMPL cudaError_t pdl_impl_check_debug(const pdl_kernel *k, void **args)
{
    int device = k->device;

    if (PDL_DEBUG) {
        PDL_IMPL_FAIL(args == NULL && k->num_params > 0, cudaErrorInvalidValue);
        PDL_IMPL_TRY(cudaGetDevice(&device));
    }
    PDL_IMPL_FAIL(device != k->device, cudaErrorInvalidDevice);
    return cudaSuccess;
}

/* Launches what was checked. */
PDL_IMPL cudaError_t pdl_impl_launch_checked(const pdl_kernel *k, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                             cudaStream_t stream, const pdl_options *o)
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    const unsigned count = pdl_impl_fill_rest(o, attrs, pdl_impl_fill_early(k, o, attrs));

    PDL_IMPL_TRY(k->func != NULL ? pdl_impl_start(k->func, grid, block, args, shared_bytes, stream, attrs, count)
                                 : pdl_impl_start_by_driver(k, grid, block, args, shared_bytes, stream, attrs, count));
    return pdl_impl_record_after(k, o, stream);
}

/* Slow path: checks everything. */
PDL_IMPL cudaError_t pdl_impl_launch_any(const pdl_kernel *k, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                         cudaStream_t stream, const pdl_options *o, int by)
{
    PDL_IMPL_TRY(pdl_impl_error_of(pdl_impl_judge(k, grid, block, o, by).reason));
    PDL_IMPL_TRY(pdl_impl_check_debug(k, args));
    return pdl_impl_launch_checked(k, grid, block, args, shared_bytes, stream, o);
}

/* 1 if options ask for overlap only, or for nothing: the most frequent launch. */
PDL_IMPL int pdl_impl_only_overlap(const pdl_options *o)
{
    return (PDL_IMPL_CAST(unsigned, o->event_trigger) | PDL_IMPL_CAST(unsigned, o->mem_sync_domain) | o->cluster_x | o->cluster_y |
            o->cluster_z | o->cooperative | o->has_priority | PDL_IMPL_CAST(unsigned, o->priority) | o->carveout | o->num_attrs) == 0 &&
           o->event == NULL && o->launch_completion_event == NULL;
}

/* Fast path for these, small enough for compilers to inline; conformance/bench/count_instructions.c counts it. */
PDL_IMPL_UNUSED PDL_API cudaError_t pdl_launch(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                               cudaStream_t stream, const pdl_options *options)
{
    static const pdl_options zero = PDL_ZERO; /* on the stack it would cost thirty instructions */
    const pdl_options *o = options != NULL ? options : &zero;
    cudaLaunchAttribute attr;
    unsigned count = 0;

    if (PDL_DEBUG || kernel == NULL || kernel->func == NULL || !kernel->can_overlap || !pdl_impl_only_overlap(o) ||
        PDL_IMPL_CAST(unsigned, o->overlap) > PDL_IMPL_CODE(PDL_OVERLAP_REQUIRED) || PDL_IMPL_CODE(pdl_impl_judge_shape(kernel, grid, block, o).reason)) {
        return pdl_impl_launch_any(kernel, grid, block, args, shared_bytes, stream, o, PDL_IMPL_BY_RUNTIME);
    }
    if (o->overlap) {
        pdl_impl_add(&attr, &count, PDL_IMPL_ATTR_OVERLAP)->programmaticStreamSerializationAllowed = 1;
    }
    return pdl_impl_start(kernel->func, grid, block, args, shared_bytes, stream, &attr, count);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_launch_driver(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                                      size_t shared_bytes, cudaStream_t stream, const pdl_options *options)
{
    static const pdl_options zero = PDL_ZERO;

    return pdl_impl_launch_any(kernel, grid, block, args, shared_bytes, stream, options != NULL ? options : &zero,
                               PDL_IMPL_BY_DRIVER);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_launch_check(const pdl_kernel *kernel, dim3 grid, dim3 block, const pdl_options *options,
                                                     pdl_refusal *refusal)
{
    const pdl_options zero = PDL_ZERO, *o = options != NULL ? options : &zero;
    const int by = kernel != NULL && kernel->func == NULL && kernel->function != NULL ? PDL_IMPL_BY_DRIVER : PDL_IMPL_BY_RUNTIME;
    pdl_refusal found = pdl_impl_judge(kernel, grid, block, o, by);
    int device = 0;

    if (PDL_DEBUG && !PDL_IMPL_CODE(found.reason)) {
        PDL_IMPL_TRY(cudaGetDevice(&device));
        if (device != kernel->device) {
            const pdl_refusal other = {PDL_ARGUMENT_KERNEL, PDL_REASON_OTHER_DEVICE};

            found = other;
        }
    }
    if (refusal != NULL) {
        *refusal = found;
    }
    return pdl_impl_error_of(found.reason);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_launch_counted(const pdl_kernel *kernel, dim3 grid, dim3 block, void **args,
                                                       size_t num_args, size_t shared_bytes, cudaStream_t stream,
                                                       const pdl_options *options)
{
    if (PDL_DEBUG && kernel != NULL && kernel->num_params >= 0 && num_args != PDL_IMPL_CAST(size_t, kernel->num_params)) {
        return cudaErrorInvalidValue;
    }
    return pdl_launch(kernel, grid, block, args, shared_bytes, stream, options);
}

#ifndef PDL_NO_ESTIMATE
/* ---- estimate ---- */

/* What a multiprocessor has or a block takes, in the order of PDL_REASON_BLOCK_SLOTS and the three after it. */
#define PDL_IMPL_SLOTS 0
#define PDL_IMPL_THREADS 1
#define PDL_IMPL_REGISTERS 2
#define PDL_IMPL_SHARED 3
#define PDL_IMPL_RESOURCES 4
typedef struct pdl_impl_room {
    unsigned long long of[PDL_IMPL_RESOURCES];
} pdl_impl_room;

typedef struct pdl_impl_gpu {
    pdl_impl_room sm;
    unsigned long long sms, warp, reserved; /* multiprocessors; threads per warp; CUDA's own shared memory per block */
} pdl_impl_gpu;

/* What one side of a pair takes. */
typedef struct pdl_impl_side {
    pdl_impl_room block;
    unsigned long long alone;              /* blocks on a multiprocessor without others */
    unsigned long long least, split, most; /* shared memory of a multiprocessor: it runs there; wanted; it runs there */
} pdl_impl_side;

PDL_IMPL cudaError_t pdl_impl_ask(unsigned long long *value, enum cudaDeviceAttr id, int device)
{
    int answer = 0;

    PDL_IMPL_TRY(cudaDeviceGetAttribute(&answer, id, device));
    *value = PDL_IMPL_CAST(unsigned long long, answer);
    return cudaSuccess;
}

PDL_IMPL cudaError_t pdl_impl_read_gpu(int device, pdl_impl_gpu *gpu)
{
    unsigned long long *of = gpu->sm.of;

    PDL_IMPL_TRY(pdl_impl_ask(&of[PDL_IMPL_SLOTS], cudaDevAttrMaxBlocksPerMultiprocessor, device));
    PDL_IMPL_TRY(pdl_impl_ask(&of[PDL_IMPL_THREADS], cudaDevAttrMaxThreadsPerMultiProcessor, device));
    PDL_IMPL_TRY(pdl_impl_ask(&of[PDL_IMPL_REGISTERS], cudaDevAttrMaxRegistersPerMultiprocessor, device));
    PDL_IMPL_TRY(pdl_impl_ask(&of[PDL_IMPL_SHARED], cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    PDL_IMPL_TRY(pdl_impl_ask(&gpu->sms, cudaDevAttrMultiProcessorCount, device));
    PDL_IMPL_TRY(pdl_impl_ask(&gpu->warp, cudaDevAttrWarpSize, device));
    return pdl_impl_ask(&gpu->reserved, cudaDevAttrReservedSharedMemoryPerBlock, device);
}

/* How many blocks fit beside some others; limit becomes the scarcest resource. */
PDL_IMPL unsigned long long pdl_impl_fit(const pdl_impl_room *sm, const pdl_impl_room *other, unsigned long long others,
                                         const pdl_impl_room *block, unsigned *limit)
{
    unsigned long long fit = ~0ull;
    unsigned i;

    for (i = 0; i < PDL_IMPL_RESOURCES; i++) {
        const unsigned long long taken = others * other->of[i], left = taken < sm->of[i] ? sm->of[i] - taken : 0;

        if (block->of[i] != 0 && left / block->of[i] < fit) {
            fit = left / block->of[i];
            *limit = i;
        }
    }
    return fit;
}

/* The smallest split with this much shared memory. Splits in KiB: CUDA Programming Guide, compute capabilities 9.0 and 10;
 * others have those up to their own maximum. */
PDL_IMPL unsigned long long pdl_impl_split(const pdl_impl_gpu *gpu, unsigned long long bytes)
{
    static const unsigned char splits[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};
    const unsigned long long most = gpu->sm.of[PDL_IMPL_SHARED];
    unsigned i;

    for (i = 0; i < sizeof(splits); i++) {
        if (splits[i] * 1024ull >= bytes) {
            return splits[i] * 1024ull < most ? splits[i] * 1024ull : most;
        }
    }
    return most;
}

/* The carve-out of a launch in percent: its own, else that of its function now; -1: the driver chooses. */
PDL_IMPL cudaError_t pdl_impl_read_carveout(const pdl_shape *s, int *percent)
{
    const unsigned own = s->options != NULL ? s->options->carveout : 0;
    struct cudaFuncAttributes attributes;

    if (own != 0) {
        *percent = own == PDL_IMPL_CODE(PDL_CARVEOUT_NO_SHARED) ? 0 : PDL_IMPL_CAST(int, own);
        return cudaSuccess;
    }
    PDL_IMPL_TRY(cudaFuncGetAttributes(&attributes, s->kernel->func));
    *percent = attributes.preferredShmemCarveout;
    return cudaSuccess;
}

/* The splits in which a side runs, by rules that explain what an H200 does (conformance/headers/measure_splits.cu).
 * Without a carve-out, blocks run where there is room for as many as anything else allows, but their own split is larger:
 * by how much is a guess. With one, they run where there is room for as many as it has room for, up to that, but in no
 * larger split; it counts their own shared memory, so CUDA's is added in proportion. */
PDL_IMPL void pdl_impl_choose_splits(const pdl_impl_gpu *gpu, unsigned long long shared, int percent, pdl_impl_side *side)
{
    const unsigned long long block = side->block.of[PDL_IMPL_SHARED], one = pdl_impl_split(gpu, block);
    const unsigned long long all = pdl_impl_split(gpu, block * side->alone), few = side->alone < 8 ? side->alone : 8;
    unsigned long long asked, wanted;

    side->split = pdl_impl_split(gpu, shared != 0 ? all + 1 : 4096 * few);
    side->least = all;
    side->most = gpu->sm.of[PDL_IMPL_SHARED];
    if (percent < 0) {
        return;
    }
    asked = gpu->sm.of[PDL_IMPL_SHARED] * PDL_IMPL_CAST(unsigned, percent) / 100;
    wanted = pdl_impl_split(gpu, asked);
    if (wanted < all) {
        side->least = wanted > one ? wanted : one;
    }
    if (shared == 0) {
        side->split = wanted > side->split ? wanted : side->split;
    } else {
        wanted = pdl_impl_split(gpu, asked * block / shared);
        side->split = wanted > one ? wanted : one;
    }
    side->most = side->split;
}

/* What one block takes: threads in whole warps, registers in steps of 8 per thread; absurd sizes of shared memory become
 * 4 GiB, so that no sum overflows. */
PDL_IMPL cudaError_t pdl_impl_measure(const pdl_shape *s, const pdl_impl_gpu *gpu, pdl_impl_side *side)
{
    const unsigned long long threads = 1ull * s->block.x * s->block.y * s->block.z, absurd = 1ull << 32;
    const unsigned long long shared = s->kernel->static_shared_bytes + (s->shared_bytes < absurd ? s->shared_bytes : absurd);
    unsigned long long *of = side->block.of;
    pdl_impl_room own = gpu->sm;
    int percent = -1;
    unsigned limit;

    PDL_IMPL_TRY(pdl_impl_read_carveout(s, &percent));
    of[PDL_IMPL_SLOTS] = 1;
    of[PDL_IMPL_THREADS] = (threads + gpu->warp - 1) / gpu->warp * gpu->warp;
    of[PDL_IMPL_REGISTERS] = of[PDL_IMPL_THREADS] * ((PDL_IMPL_CAST(unsigned, s->kernel->regs_per_thread) + 7u) / 8u * 8u);
    of[PDL_IMPL_SHARED] = shared + gpu->reserved;
    side->alone = pdl_impl_fit(&gpu->sm, &own, 0, &side->block, &limit);
    pdl_impl_choose_splits(gpu, shared, percent, side);
    own.of[PDL_IMPL_SHARED] = side->split;
    side->alone = pdl_impl_fit(&own, &own, 0, &side->block, &limit);
    PDL_IMPL_FAIL(side->alone == 0, cudaErrorInvalidConfiguration);
    return cudaSuccess;
}

/* What stands in the way whatever the sizes. */
PDL_IMPL pdl_reason pdl_impl_pair_reason(const pdl_kernel *primary, const pdl_kernel *dependent, const pdl_options *o)
{
    if (!dependent->can_overlap) {
        return dependent->reason;
    }
    if (o == NULL || !PDL_IMPL_CODE(o->overlap)) {
        return PDL_REASON_NOT_ASKED;
    }
    if (primary->device != dependent->device) {
        return PDL_REASON_DEVICES;
    }
    if (primary->ptx_version < 90) {
        return PDL_REASON_NO_TRIGGER;
    }
    if (pdl_impl_switched_on("CUDA_LAUNCH_BLOCKING")) {
        return PDL_REASON_BLOCKING;
    }
    return o->cooperative ? PDL_REASON_COOPERATIVE : PDL_REASON_NONE;
}

/* The checks of pdl_launch for one of a pair. Required overlap that cannot be had is an answer here, not an error. */
PDL_IMPL cudaError_t pdl_impl_check_pair(const pdl_shape *s)
{
    const pdl_options zero = PDL_ZERO, *o = s != NULL && s->options != NULL ? s->options : &zero;

    if (s == NULL || s->kernel == NULL || s->kernel->func == NULL) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_error_of(pdl_impl_judge_options(o, PDL_IMPL_BY_RUNTIME).reason));
    return pdl_impl_error_of(pdl_impl_judge_shape(s->kernel, s->grid, s->block, o).reason);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_overlap_estimate(pdl_estimate *estimate, const pdl_shape *primary,
                                                         const pdl_shape *dependent)
{
    const pdl_estimate empty = PDL_ZERO;
    pdl_impl_side first = PDL_ZERO, second = PDL_ZERO;
    unsigned long long blocks, wave, last, there, fit;
    unsigned limit = PDL_IMPL_SLOTS, reason;
    pdl_impl_gpu gpu = PDL_ZERO;

    if (estimate == NULL) {
        return cudaErrorInvalidValue;
    }
    *estimate = empty;
    PDL_IMPL_TRY(pdl_impl_check_pair(primary));
    PDL_IMPL_TRY(pdl_impl_check_pair(dependent));
    PDL_IMPL_TRY(pdl_impl_read_gpu(primary->kernel->device, &gpu));
    PDL_IMPL_TRY(pdl_impl_measure(primary, &gpu, &first));
    PDL_IMPL_TRY(pdl_impl_measure(dependent, &gpu, &second));
    blocks = 1ull * primary->grid.x * primary->grid.y * primary->grid.z;
    wave = gpu.sms * first.alone;
    last = (blocks - 1) % wave + 1;
    if (blocks <= wave) { /* a first wave is spread evenly */
        there = last / gpu.sms;
    } else { /* blocks of a later wave go where places become free */
        there = wave - last < first.alone ? first.alone - (wave - last) : 0;
    }
    fit = pdl_impl_fit(&gpu.sm, &first.block, there, &second.block, &limit);
    reason = PDL_IMPL_CAST(unsigned, PDL_REASON_BLOCK_SLOTS) + limit;
    if (fit != 0 && there != 0) { /* an idle multiprocessor takes any split */
        gpu.sm.of[PDL_IMPL_SHARED] = first.split;
        fit = pdl_impl_fit(&gpu.sm, &first.block, there, &second.block, &limit);
        fit = first.split < second.least || first.split > second.most ? 0 : fit;
        reason = PDL_IMPL_CODE(PDL_REASON_CARVEOUT);
    }
    {
        const pdl_reason pair = pdl_impl_pair_reason(primary->kernel, dependent->kernel, dependent->options);
        const pdl_reason size = PDL_IMPL_CAST(pdl_reason, fit != 0 ? 0 : reason);
        const pdl_estimate filled = {!PDL_IMPL_CODE(pair) && !PDL_IMPL_CODE(size), pair ? pair : size, PDL_IMPL_CAST(unsigned, there),
                                     PDL_IMPL_CAST(unsigned, fit), (blocks - 1) / wave + 1};

        *estimate = filled;
    }
    return cudaSuccess;
}
#endif /* PDL_NO_ESTIMATE */

#ifndef PDL_NO_GRAPHS
/* ---- edges of graphs ---- */

PDL_IMPL_UNUSED PDL_API pdl_reason pdl_graph_edge_judge(unsigned from_port, unsigned to_port, unsigned type, unsigned reserved,
                                                        enum cudaGraphNodeType from, enum cudaGraphNodeType to)
{
    if (reserved != 0) {
        return PDL_REASON_EDGE_RESERVED;
    }
    if (to_port != 0) {
        return PDL_REASON_EDGE_TO_PORT;
    }
    if (type > 1) {
        return PDL_REASON_EDGE_TYPE;
    }
    if (from_port > 2) {
        return PDL_REASON_EDGE_FROM_PORT;
    }
    if (type == 1 && from_port == 0) {
        return PDL_REASON_EDGE_PORT_0;
    }
    if (type == 0 && from_port == 1) {
        return PDL_REASON_EDGE_PORT_1;
    }
    if (from_port != 0 && !PDL_IMPL_IS(from, cudaGraphNodeTypeKernel)) {
        return PDL_REASON_EDGE_PRODUCER;
    }
    return type == 1 && !PDL_IMPL_IS(to, cudaGraphNodeTypeKernel) ? PDL_REASON_EDGE_CONSUMER : PDL_REASON_NONE;
}

/* 1 for the two kinds that a wait covers. */
PDL_IMPL int pdl_impl_is_programmatic(unsigned kind)
{
    return kind == PDL_IMPL_CODE(PDL_EDGE_PROGRAMMATIC) || kind == PDL_IMPL_CODE(PDL_EDGE_BLOCK_START);
}

/* 1 for the three kinds with which the consumer may start while the producer runs. */
PDL_IMPL int pdl_impl_is_early(unsigned kind)
{
    return pdl_impl_is_programmatic(kind) || kind == PDL_IMPL_CODE(PDL_EDGE_LAUNCH_COMPLETION);
}

PDL_IMPL pdl_edge_data pdl_impl_data_of(unsigned kind)
{
    pdl_edge_data data = PDL_ZERO;

    if (kind == PDL_IMPL_CODE(PDL_EDGE_PROGRAMMATIC)) {
        data.from_port = 1;
    } else if (kind) {
        data.from_port = 2;
    }
    data.type = pdl_impl_is_programmatic(kind) ? 1 : 0;
    return data;
}

PDL_IMPL unsigned pdl_impl_kind_of(const pdl_edge_data *data)
{
    const unsigned char *rest = data->reserved;
    const int port = data->from_port, type = data->type;

    if (data->to_port || rest[0] || rest[1] || rest[2] || rest[3] || rest[4]) {
        return PDL_EDGE_UNKNOWN;
    }
    if (type == 0 && port == 0) {
        return PDL_EDGE_FULL;
    }
    if (type == 1 && port == 1) {
        return PDL_EDGE_PROGRAMMATIC;
    }
    if (type == 1 && port == 2) {
        return PDL_EDGE_BLOCK_START;
    }
    return type == 0 && port == 2 ? PDL_EDGE_LAUNCH_COMPLETION : PDL_EDGE_UNKNOWN;
}

PDL_IMPL void pdl_impl_write_edge(pdl_graph_edge *edge, unsigned kind, pdl_reason reason)
{
    const pdl_graph_edge written = {edge->from, edge->to, PDL_IMPL_CAST(pdl_edge_kind, kind), reason};

    *edge = written;
}

/* cudaSuccess if toolkit and driver know edges other than full ones. */
PDL_IMPL cudaError_t pdl_impl_need_edge_data(void)
{
    int version = 0;

    PDL_IMPL_TRY(PDL_HAS_GRAPH_EDGES ? cudaDriverGetVersion(&version) : cudaErrorNotSupported);
    PDL_IMPL_FAIL(version < PDL_IMPL_SINCE_GRAPH_EDGES, cudaErrorNotSupported);
    return cudaSuccess;
}

/* Why edges into this kernel have to be full; NONE: they do not. */
PDL_IMPL pdl_reason pdl_impl_why_full(const pdl_kernel *consumer)
{
    if (consumer != NULL && !consumer->can_overlap) {
        return consumer->reason;
    }
    if (!PDL_HAS_GRAPH_EDGES) {
        return PDL_REASON_EDGE_TOOLKIT;
    }
    return pdl_impl_need_edge_data() ? PDL_REASON_EDGE_DRIVER : PDL_REASON_NONE;
}

/* What is wrong with an edge, as far as this can be said without asking CUDA. to_exists 0: the consumer is not added yet. */
PDL_IMPL pdl_reason pdl_impl_judge_ends(const pdl_graph_edge *edge, int to_exists)
{
    if (edge->from == NULL || (to_exists && (edge->to == NULL || edge->to == edge->from))) {
        return PDL_REASON_EDGE_NODES;
    }
    return PDL_IMPL_CODE(edge->kind) < PDL_IMPL_CODE(PDL_EDGE_UNKNOWN) ? PDL_REASON_NONE : PDL_REASON_EDGE_KIND;
}

PDL_IMPL pdl_reason pdl_impl_judge_wish(const pdl_graph_edge *edge, int to_exists, const pdl_kernel *consumer, pdl_overlap overlap)
{
    const pdl_reason ends = pdl_impl_judge_ends(edge, to_exists);

    if (PDL_IMPL_CODE(ends) || !PDL_IMPL_CODE(edge->kind)) {
        return ends;
    }
    if (consumer == NULL && pdl_impl_is_programmatic(PDL_IMPL_CODE(edge->kind))) {
        return PDL_REASON_EDGE_CONSUMER;
    }
    return overlap ? PDL_REASON_NONE : PDL_REASON_NOT_ASKED;
}

/* Asks CUDA for the types of the two nodes. */
PDL_IMPL cudaError_t pdl_impl_judge_types(pdl_graph_edge *edge, int to_exists)
{
    const pdl_edge_data data = pdl_impl_data_of(PDL_IMPL_CODE(edge->kind));
    enum cudaGraphNodeType from = cudaGraphNodeTypeKernel, to = cudaGraphNodeTypeKernel;

    PDL_IMPL_TRY(cudaGraphNodeGetType(edge->from, &from));
    PDL_IMPL_TRY(to_exists ? cudaGraphNodeGetType(edge->to, &to) : cudaSuccess);
    pdl_impl_write_edge(edge, PDL_IMPL_CODE(edge->kind), pdl_graph_edge_judge(data.from_port, 0, data.type, 0, from, to));
    PDL_IMPL_FAIL(edge->reason, cudaErrorInvalidValue);
    return cudaSuccess;
}

/* Makes edges full where they have to be, and says why; an error where that is not wanted. */
PDL_IMPL cudaError_t pdl_impl_fall_back(pdl_graph_edge *edges, size_t num_edges, const pdl_kernel *consumer, pdl_overlap overlap)
{
    const pdl_reason why = pdl_impl_why_full(consumer);
    const int refused = PDL_IMPL_IS(overlap, PDL_OVERLAP_REQUIRED) && !PDL_IMPL_IS(why, PDL_REASON_DISABLED);
    size_t i;

    for (i = 0; PDL_IMPL_CODE(why) && i < num_edges; i++) {
        if (edges[i].kind) {
            pdl_impl_write_edge(&edges[i], refused ? PDL_IMPL_CODE(edges[i].kind) : PDL_EDGE_FULL, why);
            PDL_IMPL_FAIL(refused, cudaErrorNotSupported);
        }
    }
    return cudaSuccess;
}

/* All checks of edges into one kernel, or into other nodes (consumer NULL). */
PDL_IMPL cudaError_t pdl_impl_check_edges(pdl_graph_edge *edges, size_t num_edges, int to_exists, const pdl_kernel *consumer,
                                          pdl_overlap overlap)
{
    int wrong = 0, early = 0;
    size_t i;

    if ((edges == NULL && num_edges != 0) || PDL_IMPL_CODE(overlap) > PDL_IMPL_CODE(PDL_OVERLAP_REQUIRED) ||
        (consumer != NULL && consumer->func == NULL && consumer->function == NULL)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < num_edges; i++) {
        pdl_impl_write_edge(&edges[i], PDL_IMPL_CODE(edges[i].kind), pdl_impl_judge_wish(&edges[i], to_exists, consumer, overlap));
        wrong |= edges[i].reason ? 1 : 0;
    }
    PDL_IMPL_FAIL(wrong, cudaErrorInvalidValue);
    for (i = 0; i < num_edges; i++) {
        if (edges[i].kind) {
            PDL_IMPL_TRY(pdl_impl_judge_types(&edges[i], to_exists));
            early = 1;
        }
    }
    return early ? pdl_impl_fall_back(edges, num_edges, consumer, overlap) : cudaSuccess;
}

/* Adds or removes one edge. Edges are set one by one: a driver gave all edges of one call the data of the first. */
PDL_IMPL cudaError_t pdl_impl_set_edge(cudaGraph_t graph, const pdl_graph_edge *edge, int add)
{
    const cudaGraphNode_t from = edge->from, to = edge->to;
#if PDL_HAS_GRAPH_EDGES
    if (edge->kind) {
        const pdl_edge_data data = pdl_impl_data_of(PDL_IMPL_CODE(edge->kind));

        return add ? PDL_IMPL_EDGES(cudaGraphAddDependencies, _v2)(graph, &from, &to, &data, 1)
                   : PDL_IMPL_EDGES(cudaGraphRemoveDependencies, _v2)(graph, &from, &to, &data, 1);
    }
#endif
    return add ? cudaGraphAddDependencies(graph, &from, &to, PDL_IMPL_FULL_EDGE_DATA 1)
               : cudaGraphRemoveDependencies(graph, &from, &to, PDL_IMPL_FULL_EDGE_DATA 1);
}

/* Adds or removes edges: all or none. */
PDL_IMPL cudaError_t pdl_impl_set_edges(cudaGraph_t graph, const pdl_graph_edge *edges, size_t num_edges, int add)
{
    size_t i;

    for (i = 0; i < num_edges; i++) {
        const cudaError_t error = pdl_impl_set_edge(graph, &edges[i], add);

        if (error) {
            while (i-- > 0) {
                (void)pdl_impl_set_edge(graph, &edges[i], !add);
            }
            return error;
        }
    }
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_add_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                                        const pdl_kernel *consumer, pdl_overlap overlap)
{
    PDL_IMPL_FAIL(graph == NULL, cudaErrorInvalidValue);
    PDL_IMPL_TRY(pdl_impl_check_edges(edges, num_edges, 1, consumer, overlap));
    return pdl_impl_set_edges(graph, edges, num_edges, 1);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_remove_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges)
{
    size_t i;

    if (graph == NULL || (edges == NULL && num_edges != 0)) {
        return cudaErrorInvalidValue;
    }
    for (i = 0; i < num_edges; i++) {
        pdl_impl_write_edge(&edges[i], PDL_IMPL_CODE(edges[i].kind), pdl_impl_judge_ends(&edges[i], 1));
        PDL_IMPL_FAIL(edges[i].reason, cudaErrorInvalidValue);
        PDL_IMPL_TRY(edges[i].kind ? pdl_impl_fall_back(&edges[i], 1, NULL, PDL_OVERLAP_REQUIRED) : cudaSuccess);
    }
    return pdl_impl_set_edges(graph, edges, num_edges, 0);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_change_edge(cudaGraph_t graph, pdl_graph_edge *edge, pdl_edge_kind kind,
                                                          const pdl_kernel *consumer, pdl_overlap overlap)
{
    pdl_graph_edge now = PDL_ZERO, next = PDL_ZERO;

    if (graph == NULL || edge == NULL) {
        return cudaErrorInvalidValue;
    }
    now = next = *edge;
    pdl_impl_write_edge(&next, PDL_IMPL_CODE(kind), PDL_REASON_NONE);
    {
        const cudaError_t error = pdl_impl_check_edges(&next, 1, 1, consumer, overlap);

        pdl_impl_write_edge(edge, PDL_IMPL_CODE(edge->kind), next.reason);
        PDL_IMPL_TRY(error);
    }
    PDL_IMPL_TRY(pdl_graph_remove_edges(graph, edge, 1));
    {
        const cudaError_t error = pdl_impl_set_edges(graph, &next, 1, 1);

        if (error) {
            (void)pdl_impl_set_edges(graph, &now, 1, 1);
            return error;
        }
    }
    *edge = next;
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_set_capture_edges(cudaStream_t stream, pdl_graph_edge *edges, size_t num_edges,
                                                                const pdl_kernel *consumer, pdl_overlap overlap)
{
    cudaGraphNode_t nodes[32];
    pdl_edge_data data[32];
    int early = 0;
    size_t i;

    PDL_IMPL_FAIL(num_edges > 32, cudaErrorInvalidValue);
    PDL_IMPL_TRY(pdl_impl_check_edges(edges, num_edges, 0, consumer, overlap));
    for (i = 0; i < num_edges; i++) {
        nodes[i] = edges[i].from;
        data[i] = pdl_impl_data_of(PDL_IMPL_CODE(edges[i].kind));
        early |= edges[i].kind ? 1 : 0;
    }
    (void)data;
#if PDL_HAS_GRAPH_EDGES
    if (early) {
        return PDL_IMPL_EDGES(cudaStreamUpdateCaptureDependencies, _v2)(stream, nodes, data, num_edges,
                                                                        cudaStreamSetCaptureDependencies);
    }
#endif
    (void)early;
    return cudaStreamUpdateCaptureDependencies(stream, nodes, PDL_IMPL_FULL_EDGE_DATA num_edges, cudaStreamSetCaptureDependencies);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_connect(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                                      const pdl_kernel *consumer, pdl_overlap overlap)
{
    return pdl_graph_add_edges(graph, edges, num_edges, consumer, overlap);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_remove(cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges)
{
    return pdl_graph_remove_edges(graph, edges, num_edges);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_change(cudaGraph_t graph, pdl_graph_edge *edge, pdl_edge_kind kind,
                                                     const pdl_kernel *consumer, pdl_overlap overlap)
{
    return pdl_graph_change_edge(graph, edge, kind, consumer, overlap);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_connect_capture(cudaStream_t stream, pdl_graph_edge *edges, size_t num_edges,
                                                              const pdl_kernel *consumer, pdl_overlap overlap)
{
    return pdl_graph_set_capture_edges(stream, edges, num_edges, consumer, overlap);
}

/* ---- kernel nodes ---- */

/* Gives a new node the attributes that pdl_launch would give a launch without overlap, and its edges; all is checked. */
PDL_IMPL cudaError_t pdl_impl_furnish(cudaGraphNode_t node, cudaGraph_t graph, pdl_graph_edge *edges, size_t num_edges,
                                      const pdl_options *o)
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    const unsigned count = pdl_impl_fill_rest(o, attrs, 0);
    size_t i;

    for (i = 0; i < count; i++) {
        PDL_IMPL_TRY(cudaGraphKernelNodeSetAttribute(node, attrs[i].id, &attrs[i].val));
    }
    for (i = 0; i < num_edges; i++) {
        edges[i].to = node;
    }
    return pdl_impl_set_edges(graph, edges, num_edges, 1);
}

/* What is wrong with a node apart from its edges. Overlap is a wish of the edges here, so it is not judged. */
PDL_IMPL cudaError_t pdl_impl_check_node(const pdl_kernel *kernel, dim3 grid, dim3 block, size_t shared_bytes, const pdl_options *o)
{
    const pdl_refusal alone = pdl_impl_judge_options(o, PDL_IMPL_BY_RUNTIME);
    pdl_refusal rest;

    if (o->event != NULL || o->launch_completion_event != NULL || shared_bytes > 0xffffffffu || PDL_IMPL_CODE(alone.reason)) {
        return alone.reason ? pdl_impl_error_of(alone.reason) : cudaErrorInvalidValue;
    }
    rest = pdl_impl_judge(kernel, grid, block, o, PDL_IMPL_BY_RUNTIME);
    return PDL_IMPL_IS(rest.argument, PDL_ARGUMENT_OVERLAP) ? pdl_impl_error_of(pdl_impl_judge_shape(kernel, grid, block, o).reason)
                                                            : pdl_impl_error_of(rest.reason);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, pdl_graph_edge *edges,
                                                         size_t num_edges, const pdl_kernel *kernel, dim3 grid, dim3 block,
                                                         void **args, size_t shared_bytes, const pdl_options *options)
{
    const pdl_options zero = PDL_ZERO, *o = options != NULL ? options : &zero;
    struct cudaKernelNodeParams params = PDL_ZERO;

    if (node == NULL || graph == NULL) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_check_node(kernel, grid, block, shared_bytes, o));
    PDL_IMPL_TRY(pdl_impl_check_edges(edges, num_edges, 0, kernel, o->overlap));
    PDL_IMPL_TRY(pdl_impl_check_debug(kernel, args));
    params.func = PDL_IMPL_MUTABLE(kernel->func);
    params.gridDim = grid;
    params.blockDim = block;
    params.sharedMemBytes = PDL_IMPL_CAST(unsigned, shared_bytes);
    params.kernelParams = args;
    PDL_IMPL_TRY(cudaGraphAddKernelNode(node, graph, NULL, 0, &params));
    {
        const cudaError_t error = pdl_impl_furnish(*node, graph, edges, num_edges, o);

        if (error) {
            (void)cudaGraphDestroyNode(*node);
            *node = NULL;
        }
        return error;
    }
}

/* ---- reading edges ---- */

/* What is read: the edges of a graph, or those of a node. */
typedef struct pdl_impl_query {
    cudaGraph_t graph;       /* NULL: of the node */
    cudaGraphNode_t node;
    int out;                 /* 1: those that leave the node; 0: those that lead to it */
} pdl_impl_query;

#if PDL_HAS_GRAPH_EDGES
PDL_IMPL cudaError_t pdl_impl_ask_edges(const pdl_impl_query *query, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                        pdl_edge_data *data, size_t *count)
{
    if (query->graph != NULL) {
        return PDL_IMPL_EDGES(cudaGraphGetEdges, _v2)(query->graph, from, to, data, count);
    }
    return query->out ? PDL_IMPL_EDGES(cudaGraphNodeGetDependentNodes, _v2)(query->node, from, data, count)
                      : PDL_IMPL_EDGES(cudaGraphNodeGetDependencies, _v2)(query->node, from, data, count);
}

/* How many edges there are if room of them filled their arrays. Without an array for edge data CUDA may refuse to tell; so
 * it is asked only while its last error is clean, which is then cleared, and the answer is a guess. */
PDL_IMPL cudaError_t pdl_impl_count_edges(const pdl_impl_query *query, size_t room, size_t *count)
{
    if (!PDL_IMPL_CODE(cudaPeekAtLastError())) {
        const cudaError_t error = pdl_impl_ask_edges(query, NULL, NULL, NULL, count);

        if (!PDL_IMPL_IS(error, cudaErrorLossyQuery)) {
            return error;
        }
        (void)cudaGetLastError();
    }
    *count = 2 * room + 16;
    return cudaSuccess;
}

/* Reads *count edges; *count becomes their number. nodes: those of a node, or producers and then consumers of a graph. */
PDL_IMPL cudaError_t pdl_impl_read_edges(const pdl_impl_query *query, cudaGraphNode_t *nodes, pdl_edge_data *data, size_t *count)
{
    const size_t room = *count;

    if (room != 0) {
        PDL_IMPL_TRY(pdl_impl_ask_edges(query, nodes, nodes + room, data, count));
    }
    if (*count == room) {
        PDL_IMPL_TRY(pdl_impl_count_edges(query, room, count));
    }
    PDL_IMPL_FAIL(*count > room, cudaErrorMemoryAllocation);
    return cudaSuccess;
}
#endif

PDL_IMPL cudaError_t pdl_impl_list_edges(const pdl_impl_query *query, pdl_graph_edge *edges, size_t *num_edges,
                                         cudaGraphNode_t *nodes, pdl_edge_data *data)
{
    const size_t room = num_edges != NULL ? *num_edges : 0;

    if (num_edges == NULL) {
        return cudaErrorInvalidValue;
    }
    *num_edges = 0;
    if ((query->graph == NULL && query->node == NULL) || (room != 0 && (edges == NULL || nodes == NULL || data == NULL))) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_need_edge_data());
#if PDL_HAS_GRAPH_EDGES
    {
        size_t count = room, i;
        const cudaError_t error = pdl_impl_read_edges(query, nodes, data, &count);

        *num_edges = !PDL_IMPL_CODE(error) || PDL_IMPL_IS(error, cudaErrorMemoryAllocation) ? count : 0;
        PDL_IMPL_TRY(error);
        for (i = 0; i < count; i++) {
            const cudaGraphNode_t other = query->graph != NULL ? nodes[room + i] : query->node;
            const pdl_graph_edge edge = {query->out ? other : nodes[i], query->out ? nodes[i] : other,
                                         PDL_IMPL_CAST(pdl_edge_kind, pdl_impl_kind_of(&data[i])), PDL_REASON_NONE};

            edges[i] = edge;
        }
    }
#endif
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_edges(cudaGraph_t graph, pdl_graph_edge *edges, size_t *num_edges,
                                                    cudaGraphNode_t *nodes, pdl_edge_data *data)
{
    const pdl_impl_query query = {graph, NULL, 0};

    return pdl_impl_list_edges(&query, edges, num_edges, nodes, data);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_edges_to(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges,
                                                       cudaGraphNode_t *nodes, pdl_edge_data *data)
{
    const pdl_impl_query query = {NULL, node, 0};

    return pdl_impl_list_edges(&query, edges, num_edges, nodes, data);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_edges_from(cudaGraphNode_t node, pdl_graph_edge *edges, size_t *num_edges,
                                                         cudaGraphNode_t *nodes, pdl_edge_data *data)
{
    const pdl_impl_query query = {NULL, node, 1};

    return pdl_impl_list_edges(&query, edges, num_edges, nodes, data);
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_count_programmatic(cudaGraph_t graph, size_t *num_edges, cudaGraphNode_t *nodes,
                                                                 pdl_edge_data *data, size_t *count)
{
    const size_t room = num_edges != NULL ? *num_edges : 0;

    if (count != NULL) {
        *count = 0;
    }
    if (num_edges != NULL) {
        *num_edges = 0;
    }
    if (graph == NULL || count == NULL || num_edges == NULL || (room != 0 && (nodes == NULL || data == NULL))) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_need_edge_data());
#if PDL_HAS_GRAPH_EDGES
    {
        const pdl_impl_query query = {graph, NULL, 0};
        size_t found = room, i;
        const cudaError_t error = pdl_impl_read_edges(&query, nodes, data, &found);

        *num_edges = !PDL_IMPL_CODE(error) || PDL_IMPL_IS(error, cudaErrorMemoryAllocation) ? found : 0;
        PDL_IMPL_TRY(error);
        for (i = 0; i < found; i++) {
            *count += pdl_impl_is_programmatic(pdl_impl_kind_of(&data[i])) ? 1u : 0u;
        }
    }
#endif
    return cudaSuccess;
}

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_edges_of_capture(cudaStream_t stream, cudaGraph_t *graph, pdl_graph_edge *edges,
                                                               size_t *num_edges)
{
    const size_t room = num_edges != NULL ? *num_edges : 0;

    if (num_edges == NULL) {
        return cudaErrorInvalidValue;
    }
    *num_edges = 0;
    PDL_IMPL_FAIL(room != 0 && edges == NULL, cudaErrorInvalidValue);
    PDL_IMPL_TRY(pdl_impl_need_edge_data());
#if PDL_HAS_GRAPH_EDGES
    {
        enum cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
        const pdl_edge_data *data = NULL;
        const cudaGraphNode_t *nodes = NULL;
        cudaGraph_t captured = NULL;
        size_t i, count = 0;

        PDL_IMPL_TRY(PDL_IMPL_EDGES(cudaStreamGetCaptureInfo, _v3)(stream, &state, NULL, &captured, &nodes, &data, &count));
        if (!PDL_IMPL_IS(state, cudaStreamCaptureStatusActive)) {
            return PDL_IMPL_IS(state, cudaStreamCaptureStatusNone) ? cudaErrorIllegalState : cudaErrorStreamCaptureInvalidated;
        }
        *num_edges = count;
        if (graph != NULL) {
            *graph = captured;
        }
        for (i = 0; i < count && i < room; i++) {
            const unsigned kind = data != NULL ? pdl_impl_kind_of(&data[i]) : 0;
            const pdl_graph_edge edge = {nodes[i], NULL, PDL_IMPL_CAST(pdl_edge_kind, kind), PDL_REASON_NONE};

            edges[i] = edge;
        }
        PDL_IMPL_FAIL(count > room, cudaErrorMemoryAllocation);
        return cudaSuccess;
    }
#else
    (void)stream, (void)graph;
    return cudaSuccess;
#endif
}

/* ---- pdl_graph_check ---- */

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
    unsigned char kind;            /* PDL_EDGE_* */
    unsigned char unsafe[2];       /* if all unknown kernels wait; if none does */
} pdl_impl_arc;

typedef struct pdl_impl_graph {
    pdl_impl_node *nodes;
    pdl_impl_arc *arcs;
    cudaGraphNode_t *handles;      /* of all nodes, then of producers, then of consumers */
    pdl_edge_data *data;
    size_t num_nodes, num_arcs;
} pdl_impl_graph;

#if PDL_HAS_GRAPH_EDGES
PDL_IMPL unsigned *pdl_impl_bucket(const pdl_impl_graph *graph, cudaGraphNode_t handle)
{
    const unsigned long long hash = (PDL_IMPL_ADDRESS(handle) >> 4) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */

    return &graph->nodes[(hash >> 32) % graph->num_nodes].bucket;
}

/* Place + 1 of a node, 0 if it is not in the graph. */
PDL_IMPL unsigned pdl_impl_find_node(const pdl_impl_graph *graph, cudaGraphNode_t handle)
{
    unsigned place = graph->num_nodes != 0 ? *pdl_impl_bucket(graph, handle) : 0;

    while (place != 0 && graph->nodes[place - 1].handle != handle) {
        place = graph->nodes[place - 1].next;
    }
    return place;
}

/* Enters the nodes: type, and whether they wait. */
PDL_IMPL cudaError_t pdl_impl_enter_nodes(pdl_impl_graph *graph, pdl_graph_waits waits, void *user)
{
    const pdl_impl_node empty = PDL_ZERO;
    size_t i;

    for (i = 0; i < graph->num_nodes; i++) {
        graph->nodes[i] = empty;
    }
    for (i = 0; i < graph->num_nodes; i++) {
        unsigned *bucket = pdl_impl_bucket(graph, graph->handles[i]);
        enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        pdl_impl_node *node = &graph->nodes[i];

        node->handle = graph->handles[i];
        node->next = *bucket;
        *bucket = PDL_IMPL_CAST(unsigned, i + 1);
        PDL_IMPL_TRY(cudaGraphNodeGetType(node->handle, &type));
        node->type = PDL_IMPL_CODE(type);
        node->waits = PDL_IMPL_CODE(PDL_WAITS_NO);
        if (PDL_IMPL_IS(type, cudaGraphNodeTypeKernel)) {
            node->waits = waits != NULL ? PDL_IMPL_CODE(waits(node->handle, user)) : 0;
            node->waits = node->waits <= 2 ? node->waits : 0;
        }
    }
    return cudaSuccess;
}

/* Enters the edges into the lists of their ends. */
PDL_IMPL cudaError_t pdl_impl_enter_arcs(pdl_impl_graph *graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to)
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
        arc->missed = arc->unsafe[0] = arc->unsafe[1] = 0;
        arc->kind = PDL_IMPL_CAST(unsigned char, pdl_impl_kind_of(&graph->data[i]));
        graph->nodes[arc->to].first_in = graph->nodes[arc->from].first_out = PDL_IMPL_CAST(unsigned, i + 1);
        graph->nodes[arc->to].open++;
    }
    return cudaSuccess;
}

/* Divides scratch among the arrays: room for all nodes, and for as many edges as then fit. Returns how many. */
PDL_IMPL size_t pdl_impl_divide_scratch(pdl_impl_graph *graph, void *scratch, size_t bytes)
{
    const size_t for_nodes = PDL_GRAPH_SCRATCH(graph->num_nodes, 0), room = bytes < for_nodes ? 0 : (bytes - for_nodes) / 48;
    unsigned char *bytes_of = PDL_IMPL_CAST(unsigned char *, scratch);
    void *memory;

    if (scratch == NULL || bytes < for_nodes) {
        return 0;
    }
    memory = bytes_of + (8 - PDL_IMPL_ADDRESS(scratch) % 8) % 8;
    graph->nodes = PDL_IMPL_CAST(pdl_impl_node *, memory);
    memory = graph->nodes + graph->num_nodes;
    graph->arcs = PDL_IMPL_CAST(pdl_impl_arc *, memory);
    memory = graph->arcs + room;
    graph->handles = PDL_IMPL_CAST(cudaGraphNode_t *, memory);
    memory = graph->handles + graph->num_nodes + 2 * room;
    graph->data = PDL_IMPL_CAST(pdl_edge_data *, memory);
    return room;
}

/* Reads a graph into scratch; *bytes becomes what that takes. */
PDL_IMPL cudaError_t pdl_impl_read_graph(pdl_impl_graph *graph, cudaGraph_t handle, pdl_graph_waits waits, void *user,
                                         void *scratch, size_t *bytes)
{
    const pdl_impl_query query = {handle, NULL, 0};
    const size_t given = *bytes;
    cudaGraphNode_t *from = NULL;
    size_t room;

    PDL_IMPL_TRY(cudaGraphGetNodes(handle, NULL, &graph->num_nodes));
    room = graph->num_arcs = pdl_impl_divide_scratch(graph, scratch, given);
    if (graph->handles != NULL) {
        from = graph->handles + graph->num_nodes;
    }
    {
        const cudaError_t error = pdl_impl_read_edges(&query, from, graph->data, &graph->num_arcs);

        if (!PDL_IMPL_CODE(error) || PDL_IMPL_IS(error, cudaErrorMemoryAllocation)) {
            *bytes = PDL_GRAPH_SCRATCH(graph->num_nodes, graph->num_arcs);
        }
        PDL_IMPL_TRY(error);
    }
    PDL_IMPL_FAIL(*bytes > given, cudaErrorMemoryAllocation);
    PDL_IMPL_TRY(cudaGraphGetNodes(handle, graph->handles, &graph->num_nodes));
    PDL_IMPL_TRY(pdl_impl_enter_nodes(graph, waits, user));
    return pdl_impl_enter_arcs(graph, from, from + room);
}

/* Puts the nodes in an order in which every edge leads onwards; an error if there is none. */
PDL_IMPL cudaError_t pdl_impl_order(const pdl_impl_graph *graph)
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

/* Whether a node counts as one that waits: in round 0 every unknown kernel does, in round 1 none. */
PDL_IMPL int pdl_impl_waits(const pdl_impl_node *node, unsigned round)
{
    return node->waits == PDL_IMPL_CODE(PDL_WAITS_YES) || (node->waits == 0 && round == 0);
}

/* This producer's bit in the sets, 0 if it is none of these 64. */
PDL_IMPL unsigned long long pdl_impl_bit(const pdl_impl_node *node, unsigned first_slot)
{
    return node->slot > first_slot && node->slot <= first_slot + 64 ? 1ull << (node->slot - first_slot - 1) : 0;
}

/* Notes that an edge is unsafe, and one of the producers that are missed through it. */
PDL_IMPL void pdl_impl_note(const pdl_impl_graph *graph, pdl_impl_arc *arc, unsigned long long missed, unsigned first_slot,
                            unsigned round)
{
    unsigned number = first_slot;

    if (missed == 0) {
        return;
    }
    if (!arc->unsafe[0] && !arc->unsafe[1]) {
        while ((missed & 1) == 0) {
            missed >>= 1;
            number++;
        }
        arc->missed = graph->nodes[number].source;
    }
    arc->unsafe[round] = 1;
}

/* Computes a node's sets from those before it. A full edge brings what had completed when its producer had; an early edge
 * what had when its producer started; the wait adds what the producers of programmatic edges stand for, and theirs in
 * turn. What comes over an edge and is then in neither is missed. */
PDL_IMPL void pdl_impl_visit(const pdl_impl_graph *graph, pdl_impl_node *node, unsigned first_slot, unsigned round)
{
    const unsigned long long own = pdl_impl_bit(node, first_slot);
    const int empty = node->type == PDL_IMPL_CODE(cudaGraphNodeTypeEmpty);
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
PDL_IMPL void pdl_impl_find_unsafe(const pdl_impl_graph *graph, unsigned round)
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

#define PDL_IMPL_FINDING_TEXT(name, error, unsure, fine) {error, unsure, fine},
#define PDL_IMPL_ERROR 0  /* the sentences of a finding: an error, */
#define PDL_IMPL_UNSURE 1 /* safe only if a kernel waits, */
#define PDL_IMPL_FINE 2   /* all is well */

PDL_IMPL void pdl_impl_find(pdl_impl_list *list, unsigned kind, unsigned sentence, const pdl_impl_node *from,
                            const pdl_impl_node *to, const pdl_impl_node *missed)
{
    static const char *const sentences[][3] = {PDL_IMPL_FINDINGS(PDL_IMPL_FINDING_TEXT)};

    if (list->count < list->capacity) {
        const pdl_graph_finding finding = {
            PDL_IMPL_CAST(pdl_finding, kind), sentence == PDL_IMPL_ERROR ? PDL_SEVERITY_ERROR : PDL_SEVERITY_HINT,
            from != NULL ? from->handle : NULL, to->handle, missed != NULL ? missed->handle : NULL, sentences[kind][sentence]};

        list->findings[list->count] = finding;
    }
    list->count++;
}

/* What there is to say about an edge: the errors in one call, the hints in another. */
PDL_IMPL void pdl_impl_report_arc(const pdl_impl_graph *graph, const pdl_impl_arc *arc, int errors, pdl_impl_list *list)
{
    const pdl_impl_node *from = &graph->nodes[arc->from], *to = &graph->nodes[arc->to];
    const int programmatic = pdl_impl_is_programmatic(arc->kind), early = pdl_impl_is_early(arc->kind);
    const int waits_not = to->waits == PDL_IMPL_CODE(PDL_WAITS_NO), always = programmatic ? waits_not : early;
    unsigned kind = PDL_FINDING_FULL_EDGE;

    if (programmatic) {
        kind = PDL_IMPL_CODE(PDL_FINDING_NO_WAIT);
    } else if (early) {
        kind = PDL_IMPL_CODE(PDL_FINDING_LAUNCH_COMPLETION);
    }
    if (arc->unsafe[0]) {
        if (errors) {
            pdl_impl_find(list, kind, PDL_IMPL_ERROR, from, to, &graph->nodes[arc->missed]);
        }
    } else if (!errors && arc->unsafe[1]) {
        pdl_impl_find(list, kind, PDL_IMPL_UNSURE, from, to, &graph->nodes[arc->missed]);
    } else if (!errors && always) {
        pdl_impl_find(list, kind, PDL_IMPL_FINE, from, to, NULL);
    }
    if (!errors && arc->kind == PDL_IMPL_CODE(PDL_EDGE_UNKNOWN)) {
        pdl_impl_find(list, PDL_FINDING_UNKNOWN_EDGE, PDL_IMPL_FINE, from, to, NULL);
    }
}

/* What there is to say about a node. */
PDL_IMPL void pdl_impl_report_node(const pdl_impl_graph *graph, const pdl_impl_node *node, pdl_impl_list *list)
{
    const unsigned conditional = 13; /* cudaGraphNodeTypeConditional, a name since 12.3 */
    const pdl_impl_node *from = NULL;
    unsigned at, edges = 0;

    for (at = node->first_in; at != 0; at = graph->arcs[at - 1].next_in) {
        edges++;
        if (pdl_impl_is_programmatic(graph->arcs[at - 1].kind)) {
            from = &graph->nodes[graph->arcs[at - 1].from];
        }
    }
    if (edges > 1 && from != NULL) {
        pdl_impl_find(list, PDL_FINDING_FAN_IN, PDL_IMPL_FINE, from, node, NULL);
    }
    if (node->type == PDL_IMPL_CODE(cudaGraphNodeTypeGraph) || node->type == conditional) {
        pdl_impl_find(list, PDL_FINDING_NESTED, PDL_IMPL_FINE, NULL, node, NULL);
    }
}

PDL_IMPL void pdl_impl_report(const pdl_impl_graph *graph, pdl_impl_list *list)
{
    size_t i;

    for (i = 0; i < graph->num_arcs; i++) {
        pdl_impl_report_arc(graph, &graph->arcs[i], 1, list);
    }
    for (i = 0; i < graph->num_arcs; i++) {
        pdl_impl_report_arc(graph, &graph->arcs[i], 0, list);
    }
    for (i = 0; i < graph->num_nodes; i++) {
        pdl_impl_report_node(graph, &graph->nodes[i], list);
    }
}
#endif

PDL_IMPL_UNUSED PDL_API cudaError_t pdl_graph_check(cudaGraph_t graph, pdl_graph_waits waits, void *user, void *scratch,
                                                    size_t *scratch_bytes, pdl_graph_finding *findings, size_t *num_findings)
{
    const size_t capacity = num_findings != NULL ? *num_findings : 0;

    if (num_findings == NULL) {
        return cudaErrorInvalidValue;
    }
    *num_findings = 0;
    if (graph == NULL || scratch_bytes == NULL || (scratch == NULL && *scratch_bytes != 0) || (findings == NULL && capacity != 0)) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_need_edge_data());
#if PDL_HAS_GRAPH_EDGES
    {
        pdl_impl_list list = PDL_ZERO;
        pdl_impl_graph all = PDL_ZERO;

        list.findings = findings;
        list.capacity = capacity;
        PDL_IMPL_TRY(pdl_impl_read_graph(&all, graph, waits, user, scratch, scratch_bytes));
        PDL_IMPL_TRY(pdl_impl_order(&all));
        pdl_impl_find_unsafe(&all, 0);
        pdl_impl_find_unsafe(&all, 1);
        pdl_impl_report(&all, &list);
        *num_findings = list.count;
        PDL_IMPL_FAIL(list.count > capacity, cudaErrorMemoryAllocation);
        return cudaSuccess;
    }
#else
    (void)waits, (void)user;
    return cudaSuccess;
#endif
}
#endif /* PDL_NO_GRAPHS */
#endif /* PDL_DECLARE_ONLY */

#ifdef __cplusplus
} /* extern "C" */
#ifndef PDL_DECLARE_ONLY
/* ---- C++ ---- */

template <typename... pdl_params>
PDL_IMPL cudaError_t pdl_kernel_init(pdl_kernel *kernel, void (*func)(pdl_params...))
{
    return pdl_kernel_init(kernel, reinterpret_cast<const void *>(func));
}

/* The address of an argument, whatever its type makes of the & operator. */
template <typename pdl_type> PDL_IMPL void *pdl_impl_address_of(pdl_type &value)
{
    return const_cast<char *>(&reinterpret_cast<const volatile char &>(value));
}

template <typename... pdl_params>
PDL_IMPL cudaError_t pdl_launch(const pdl_kernel *kernel, void (*func)(pdl_params...), dim3 grid, dim3 block,
                                              size_t shared_bytes, cudaStream_t stream, const pdl_options *options,
                                              typename pdl_impl_same<pdl_params>::type... args)
{
    void *list[] = {pdl_impl_address_of(args)..., nullptr};

    if (kernel != nullptr && kernel->func != nullptr && kernel->func != reinterpret_cast<const void *>(func)) {
        return cudaErrorInvalidValue;
    }
    return pdl_launch(kernel, grid, block, list, shared_bytes, stream, options);
}

template <typename... pdl_params>
PDL_IMPL cudaError_t pdl_launch_check(const pdl_kernel *kernel, void (*func)(pdl_params...), dim3 grid, dim3 block,
                                      const pdl_options *options, pdl_refusal *refusal)
{
    if (kernel != nullptr && kernel->func != nullptr && kernel->func != reinterpret_cast<const void *>(func)) {
        if (refusal != nullptr) {
            const pdl_refusal wrong = {PDL_ARGUMENT_KERNEL, PDL_REASON_WRONG_FUNCTION};

            *refusal = wrong;
        }
        return cudaErrorInvalidValue;
    }
    return pdl_launch_check(kernel, grid, block, options, refusal);
}

/* ---- what pdl::launch remembers ---- */

/* The answer for a function on a device. UNKNOWN is 0, so an empty table knows nothing. */
#define PDL_IMPL_UNKNOWN 0u
#define PDL_IMPL_ORDINARY 1u
#define PDL_IMPL_OVERLAPS 2u
#define PDL_IMPL_DISABLED 3u

#if defined(__GNUC__) && defined(__ELF__)
/* Where the program or library that holds this code begins; from the linker. */
extern "C" {
extern const char pdl_impl_first_address[] __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));
}

/* One function: two bits per device. It is entered once and only gains bits, so readers need no lock. */
typedef struct pdl_impl_entry {
    const void *func;
    unsigned long long answers;
} pdl_impl_entry;

#define PDL_IMPL_ENTRIES 512 /* functions per file; what finds no place is asked for at each launch */
#define PDL_IMPL_PROBES 8
#define PDL_IMPL_DEVICES 32  /* devices above these are asked for at each launch */

/* The place of a function in this file's table; NULL: it has none. With enter, it gets one if there is room.
 *
 * Only functions of the same program or library are entered: the table goes when that is unloaded, so the address of an
 * unloaded function cannot be found here when it is used again. Code lies between the beginning and the table, because
 * linkers put variables that begin as 0 last. */
PDL_IMPL pdl_impl_entry *pdl_impl_find_entry(const void *func, bool enter)
{
    static pdl_impl_entry table[PDL_IMPL_ENTRIES];
    const size_t address = reinterpret_cast<size_t>(func), first = address / 16 + address / 4096;
    const char *code = static_cast<const char *>(func), *const begin = pdl_impl_first_address;

    if (begin == nullptr || code < begin || static_cast<const void *>(code) >= static_cast<const void *>(table)) {
        return nullptr;
    }
    for (size_t i = 0; i < PDL_IMPL_PROBES; i++) {
        pdl_impl_entry *entry = &table[(first + i) % PDL_IMPL_ENTRIES];
        const void *there = __atomic_load_n(&entry->func, __ATOMIC_ACQUIRE);

        if (there == nullptr && enter &&
            __atomic_compare_exchange_n(&entry->func, &there, func, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return entry;
        }
        if (there == func || there == nullptr) {
            return there == func ? entry : nullptr;
        }
    }
    return nullptr;
}

PDL_IMPL unsigned pdl_impl_recall(const void *func, int device)
{
    const pdl_impl_entry *entry = device < PDL_IMPL_DEVICES ? pdl_impl_find_entry(func, false) : nullptr;

    return entry == nullptr ? PDL_IMPL_UNKNOWN
                            : static_cast<unsigned>(__atomic_load_n(&entry->answers, __ATOMIC_ACQUIRE) >> (2 * device)) & 3u;
}

PDL_IMPL void pdl_impl_remember(const void *func, int device, unsigned answer)
{
    pdl_impl_entry *entry = device < PDL_IMPL_DEVICES ? pdl_impl_find_entry(func, true) : nullptr;

    if (entry != nullptr) {
        __atomic_fetch_or(&entry->answers, static_cast<unsigned long long>(answer) << (2 * device), __ATOMIC_ACQ_REL);
    }
}

/* The current device, without a CUDA call if there is only one. */
PDL_IMPL cudaError_t pdl_impl_current_device(int *device)
{
    static int devices;
    int count = __atomic_load_n(&devices, __ATOMIC_RELAXED);

    if (count == 0) {
        PDL_IMPL_TRY(cudaGetDeviceCount(&count));
        __atomic_store_n(&devices, count, __ATOMIC_RELAXED);
    }
    *device = 0;
    return count == 1 ? cudaSuccess : cudaGetDevice(device);
}
#else /* no table: every launch asks */
PDL_IMPL unsigned pdl_impl_recall(const void *, int)
{
    return PDL_IMPL_UNKNOWN;
}

PDL_IMPL void pdl_impl_remember(const void *, int, unsigned)
{
}

PDL_IMPL cudaError_t pdl_impl_current_device(int *device)
{
    return cudaGetDevice(device);
}
#endif

/* Asks CUDA, in a way that is allowed while a stream is captured. */
PDL_IMPL cudaError_t pdl_impl_ask_answer(const void *func, unsigned *answer)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    pdl_kernel kernel = PDL_ZERO;

    PDL_IMPL_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
    const cudaError_t error = pdl_impl_describe(&kernel, func);
    PDL_IMPL_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
    PDL_IMPL_TRY(error);
    *answer = kernel.can_overlap ? PDL_IMPL_OVERLAPS : PDL_IMPL_ORDINARY;
    if (PDL_IMPL_IS(kernel.reason, PDL_REASON_DISABLED)) {
        *answer = PDL_IMPL_DISABLED;
    }
    pdl_impl_remember(func, kernel.device, *answer);
    return cudaSuccess;
}

PDL_IMPL cudaError_t pdl_impl_answer(const void *func, unsigned *answer)
{
    int device = 0;

    PDL_IMPL_FAIL(func == nullptr, cudaErrorInvalidDeviceFunction);
    PDL_IMPL_TRY(pdl_impl_current_device(&device));
    *answer = pdl_impl_recall(func, device);
    return *answer != PDL_IMPL_UNKNOWN ? cudaSuccess : pdl_impl_ask_answer(func, answer);
}

/* A launch whose options ask for more than overlap. CUDA checks the shape. */
PDL_IMPL cudaError_t pdl_impl_launch_with(const void *func, unsigned answer, dim3 grid, dim3 block, void **args,
                                          size_t shared_bytes, cudaStream_t stream, const pdl_options *options)
{
    pdl_kernel kernel = PDL_ZERO;

    kernel.func = func;
    if (answer == PDL_IMPL_ORDINARY) {
        pdl_impl_set_reason(&kernel, PDL_REASON_TARGET); /* or another: it only matters that it is not DISABLED */
    } else {
        pdl_impl_set_reason(&kernel, answer == PDL_IMPL_DISABLED ? PDL_REASON_DISABLED : PDL_REASON_NONE);
    }
    PDL_IMPL_TRY(cudaDriverGetVersion(&kernel.driver_version));
    PDL_IMPL_TRY(pdl_impl_error_of(pdl_impl_judge_kernel(&kernel, options, PDL_IMPL_BY_RUNTIME).reason));
    return pdl_impl_launch_checked(&kernel, grid, block, args, shared_bytes, stream, options);
}

PDL_IMPL cudaError_t pdl_impl_launch_function(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                              cudaStream_t stream, const pdl_options *options, unsigned overlap)
{
    cudaLaunchAttribute attr;
    unsigned answer = PDL_IMPL_UNKNOWN, count = 0;

    PDL_IMPL_TRY(pdl_impl_answer(func, &answer));
    if (options != nullptr && !pdl_impl_only_overlap(options)) {
        return pdl_impl_launch_with(func, answer, grid, block, args, shared_bytes, stream, options);
    }
    if (overlap > PDL_IMPL_CODE(PDL_OVERLAP_REQUIRED)) {
        return cudaErrorInvalidValue;
    }
    if (overlap == PDL_IMPL_CODE(PDL_OVERLAP_REQUIRED) && answer == PDL_IMPL_ORDINARY) {
        return cudaErrorNotSupported;
    }
    if (overlap != 0 && answer == PDL_IMPL_OVERLAPS) {
        pdl_impl_add(&attr, &count, PDL_IMPL_ATTR_OVERLAP)->programmaticStreamSerializationAllowed = 1;
    }
    return pdl_impl_start(func, grid, block, args, shared_bytes, stream, &attr, count);
}

/* A launch with the attributes of config: they stay as they are, but for the one for overlap. */
PDL_IMPL cudaError_t pdl_impl_launch_config(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    unsigned answer = PDL_IMPL_UNKNOWN, count = 0;
    bool wanted = true;

    if (config == nullptr || config->numAttrs >= PDL_IMPL_CODE(PDL_MAX_ATTRIBUTES) || (config->numAttrs != 0 && config->attrs == nullptr)) {
        return cudaErrorInvalidValue;
    }
    PDL_IMPL_TRY(pdl_impl_answer(func, &answer));
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (PDL_IMPL_CODE(config->attrs[i].id) == PDL_IMPL_ATTR_OVERLAP) {
            wanted = config->attrs[i].val.programmaticStreamSerializationAllowed != 0;
        } else {
            attrs[count++] = config->attrs[i];
        }
    }
    if (wanted && answer == PDL_IMPL_OVERLAPS) {
        pdl_impl_add(attrs, &count, PDL_IMPL_ATTR_OVERLAP)->programmaticStreamSerializationAllowed = 1;
    }
    const cudaError_t error = pdl_impl_start(func, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
                                             attrs, count);

    for (unsigned i = 0, copy = 0; i < config->numAttrs; i++) { /* a device-updatable node returns its handle here */
        if (PDL_IMPL_CODE(config->attrs[i].id) != PDL_IMPL_ATTR_OVERLAP) {
            config->attrs[i].val = attrs[copy++].val;
        }
    }
    return error;
}
#endif /* PDL_DECLARE_ONLY */

} /* inline namespace */

#ifndef PDL_DECLARE_ONLY
namespace pdl {
inline namespace PDL_IMPL_NAMESPACE(v) {

template <typename... pdl_params>
PDL_IMPL cudaError_t launch(void (*kernel)(pdl_params...), dim3 grid, dim3 block, size_t shared_bytes,
                                          cudaStream_t stream, wish how, typename pdl_impl_same<pdl_params>::type... args)
{
    void *list[] = {pdl_impl_address_of(args)..., nullptr};

    return pdl_impl_launch_function(reinterpret_cast<const void *>(kernel), grid, block, list, shared_bytes, stream, how.options(),
                                    how.overlap());
}

template <typename... pdl_params>
PDL_IMPL cudaError_t launch(const cudaLaunchConfig_t *config, void (*kernel)(pdl_params...),
                                          typename pdl_impl_same<pdl_params>::type... args)
{
    void *list[] = {pdl_impl_address_of(args)..., nullptr};

    return pdl_impl_launch_config(config, reinterpret_cast<const void *>(kernel), list);
}

template <typename... pdl_params>
PDL_IMPL cudaError_t explain(void (*kernel)(pdl_params...), dim3 grid, dim3 block, wish how, pdl_refusal *refusal)
{
    pdl_options options = PDL_ZERO;
    pdl_kernel prepared = PDL_ZERO;

    if (how.options() == nullptr) {
        options.overlap = static_cast<pdl_overlap>(how.overlap());
    }
    PDL_IMPL_TRY(pdl_kernel_init(&prepared, kernel));
    PDL_IMPL_TRY(pdl_launch_check(&prepared, grid, block, how.options() != nullptr ? how.options() : &options, refusal));
    if (refusal != nullptr) {
        const pdl_refusal none_but = {PDL_ARGUMENT_NONE, prepared.reason};

        *refusal = none_but;
    }
    return cudaSuccess;
}

} /* inline namespace */
} /* namespace pdl */
#endif /* PDL_DECLARE_ONLY */
} /* extern "C++" */
#endif /* __cplusplus */

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
