/* The few functions of the driver that a program may ask the runtime for: pdl.h launches and describes CUfunctions by them, and
 * drawn programs are launched and given edges by them. A CUfunction of the model is its struct function. */
#include "api.h"
#include "api_driver.h"

#include <string.h>

enum { MAX_THREADS = 0, SHARED_BYTES = 1, REGISTERS = 4, PTX_VERSION = 5, BINARY_VERSION = 6 }; /* CU_FUNC_ATTRIBUTE_* */

/* CUlaunchConfig */
struct driver_config {
    unsigned grid[3], block[3], shared_bytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned num_attrs;
};

static unsigned function_attribute(int *value, int attribute, cudaFunction_t function)
{
    const struct function *f = (const struct function *)function;
    if (!function_exists(f))
        return cudaErrorInvalidResourceHandle;
    if (device.faults.driver_tells_ptx_as_binary && attribute == PTX_VERSION)
        attribute = BINARY_VERSION;
    const bool as_device = device.faults.driver_tells_devices_threads;
    switch (attribute) {
    case MAX_THREADS: *value = f->kernel->max_threads > 0 && !as_device ? f->kernel->max_threads : MODEL_MAX_THREADS; break;
    case SHARED_BYTES: *value = device.faults.driver_tells_no_static_shared ? 0 : (int)f->kernel->static_shared_bytes; break;
    case REGISTERS: *value = device.faults.driver_tells_no_registers ? 0 : f->kernel->registers; break;
    case PTX_VERSION: *value = function_ptx(f); break;
    case BINARY_VERSION: *value = f->kernel->binary_version; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* What the devices do to a launch that take it for another one. */
static void change_launch(cudaLaunchConfig_t *config)
{
    if (device.faults.driver_keeps_eight && config->numAttrs > 8)
        config->numAttrs = 8;
    if (device.faults.driver_rounds_shared)
        config->dynamicSmemBytes &= ~(size_t)255;
}

static cudaError_t launch_as_driver(const cudaLaunchConfig_t *config, const struct function *f, void **args)
{
    device.by_driver = true;
    cudaError_t error = cudaLaunchKernelExC(config, f->kernel->func, args);
    device.by_driver = device.in_piece = false;
    device.queued_by = BY_ANY_CALL;
    return device.faults.driver_drops_misfits && error == cudaErrorInvalidConfiguration ? cudaSuccess : error;
}

/* Whether of arguments in one piece the first 256 bytes arrive only. */
static bool piece_ends(const struct driver_config *c, bool plain)
{
    const struct faults *f = &device.faults;
    const struct stream *s = stream_of(c->stream);
    return f->piece_ends_at_256 || (f->plain_piece_ends_at_256 && plain) || (f->captured_piece_ends_at_256 && s != NULL && s->capture != NULL);
}

/* plain: by a call that takes no attributes */
static unsigned launch(const struct driver_config *c, bool plain, cudaFunction_t function, void **args, void **extra)
{
    const struct function *f = (const struct function *)((uintptr_t)function & ~(uintptr_t)1);
    bool by_handle = ((uintptr_t)function & 1) != 0;
    unsigned char bytes[MODEL_ARGS_MAX];
    void *piece[1] = {bytes};
    cudaLaunchConfig_t config;
    if (extra != NULL && (args != NULL || !read_piece(f->kernel, extra, bytes)))
        return cudaErrorInvalidValue;
    if (extra != NULL && piece_ends(c, plain) && f->kernel->args_bytes > 256)
        memset(bytes + 256, 0, f->kernel->args_bytes - 256);
    args = extra != NULL ? piece : args;
    memset(&config, 0, sizeof config);
    config.gridDim.x = c->grid[0], config.gridDim.y = c->grid[1], config.gridDim.z = c->grid[2];
    config.blockDim.x = c->block[0], config.blockDim.y = c->block[1], config.blockDim.z = c->block[2];
    if (device.faults.driver_launch_swaps_threads)
        config.blockDim.y = c->block[2], config.blockDim.z = c->block[1];
    config.dynamicSmemBytes = device.faults.driver_launch_loses_shared ? 0 : c->shared_bytes;
    config.stream = device.faults.driver_launch_in_legacy ? cudaStreamLegacy : c->stream;
    config.attrs = c->attrs;
    config.numAttrs = device.faults.driver_launch_loses_attributes ? 0
                      : device.faults.driver_launch_keeps_one_attribute && c->num_attrs > 1 ? 1 : c->num_attrs;
    config.numAttrs = by_handle && device.faults.handle_loses_attributes ? 0 : config.numAttrs;
    if (by_handle && device.faults.handle_loses_shared)
        config.dynamicSmemBytes = 0;
    if (by_handle && device.faults.handle_in_legacy)
        config.stream = cudaStreamLegacy;
    if (device.faults.driver_config_in_zero_elsewhere && config.stream == NULL)
        config.stream = cudaStreamPerThread;
    change_launch(&config);
    device.in_piece = extra != NULL;
    device.queued_by = plain ? BY_DRIVERS_PLAIN_CALL : BY_ANY_CALL;
    BY_DRIVER(launch_as_driver(&config, f, args));
}

static unsigned launch_ex(const struct driver_config *c, cudaFunction_t function, void **args, void **extra)
{
    return launch(c, false, function, args, extra);
}

static unsigned launch_one(cudaFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared_bytes, cudaStream_t stream, void **args, void **extra, cudaLaunchAttribute *attribute)
{
    struct driver_config c = {{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, attribute, attribute != NULL};
    return launch(&c, true, function, args, extra);
}

static unsigned launch_plain(cudaFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared_bytes, cudaStream_t stream, void **args, void **extra)
{
    cudaLaunchAttribute overlap;
    memset(&overlap, 0, sizeof overlap);
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    return launch_one(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, args, extra,
                      device.faults.driver_launch_overlaps ? &overlap : NULL);
}

static unsigned launch_cooperative(cudaFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                   unsigned shared_bytes, cudaStream_t stream, void **args)
{
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = !device.faults.driver_cooperative_is_plain;
    if (device.faults.driver_cooperative_loses_shared)
        shared_bytes = 0;
    return launch_one(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, args, NULL, &attribute);
}

static unsigned add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    if (device.faults.driver_adds_eight_edges && count > 8)
        count = 8;
    if (device.faults.driver_adds_one_edge && count > 1)
        count = 1;
    BY_DRIVER(graph_add_dependencies(graph, from, to, device.faults.driver_edges_full ? NULL : data, count));
}

static unsigned remove_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const edge_data *data, size_t count)
{
    if (device.faults.driver_removes_full_only)
        data = NULL;
    BY_DRIVER(device.faults.driver_removes_nothing ? cudaSuccess : graph_remove_dependencies(graph, from, to, data, count));
}

cudaError_t CUDARTAPI cudaGetFuncBySymbol(cudaFunction_t *function, const void *func)
{
    CALL_QUERY(cudaGetFuncBySymbol);
    FAIL_IF(function == NULL, cudaErrorInvalidValue);
    struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    *function = (cudaFunction_t)f;
    return cudaSuccess;
}

/* A kernel's handle is its function's, with the lowest bit set. */
cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
    CALL_QUERY(cudaGetKernel);
    FAIL_IF(kernel == NULL, cudaErrorInvalidValue);
    struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    *kernel = (cudaKernel_t)((uintptr_t)f | 1);
    return cudaSuccess;
}

static unsigned copy_async(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    size_t most = device.faults.driver_copies_4096 ? 4096 : device.faults.driver_copies_65536 ? 65536 : bytes;
    if (device.faults.driver_copy_not_captured && stream_of(stream) != NULL && stream_of(stream)->capture != NULL)
        return cudaSuccess;
    if (device.faults.driver_leaves_pageable && !memory_contains(to, 1))
        return cudaSuccess;
    if (bytes > most)
        bytes = most;
    BY_DRIVER(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, device.faults.driver_moves_in_legacy ? cudaStreamLegacy : stream));
}

static unsigned set_bytes(void *to, unsigned char value, size_t bytes, cudaStream_t stream)
{
    if (device.faults.driver_sets_per_thread_in_legacy && stream == cudaStreamPerThread)
        stream = cudaStreamLegacy;
    BY_DRIVER(cudaMemsetAsync(to, value, bytes, device.faults.driver_moves_in_legacy ? cudaStreamLegacy : stream));
}

static unsigned set_halves(void *to, unsigned short value, size_t halves, cudaStream_t stream)
{
    uint32_t as_bytes = (value & 255u) * 0x101u;
    BY_DRIVER(stream_set(to, device.faults.driver_sets_halves_as_bytes ? as_bytes : value, 2, halves * 2, stream));
}

static unsigned set_words(void *to, unsigned value, size_t words, cudaStream_t stream)
{
    if (device.faults.driver_sets_64_words && words > 64)
        words = 64;
    BY_DRIVER(stream_set(to, device.faults.driver_sets_low_byte ? value & 255 : value, 4, words * 4, stream));
}

static unsigned record(cudaEvent_t event, cudaStream_t stream)
{
    BY_DRIVER(device.faults.driver_records_nothing ? cudaSuccess : cudaEventRecord(event, stream));
}

static unsigned record_with_flags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    if (device.faults.driver_flags_record_in_legacy && stream == cudaStreamPerThread)
        stream = cudaStreamLegacy;
    if (device.faults.driver_records_only_flags && flags == 0)
        return cudaSuccess;
    BY_DRIVER(cudaEventRecordWithFlags(event, stream, device.faults.driver_record_loses_flags ? 0 : flags));
}

static unsigned wait_for(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    if (device.faults.driver_wait_in_zero_lost && stream == NULL)
        return cudaSuccess;
    if (device.faults.driver_wait_loses_flags)
        flags = 0;
    BY_DRIVER(device.faults.driver_awaits_nothing ? cudaSuccess : cudaStreamWaitEvent(stream, event, flags));
}

static unsigned launch_graph_as_told(cudaGraphExec_t exec, cudaStream_t stream)
{
    BY_DRIVER(cudaGraphLaunch(exec, device.faults.driver_graph_in_legacy ? cudaStreamLegacy : stream));
}

static unsigned launch_graph(cudaGraphExec_t exec, cudaStream_t stream)
{
    device.graph_by_driver = true;
    unsigned error = launch_graph_as_told(exec, stream);
    device.graph_by_driver = false;
    return error;
}

static unsigned write_value(cudaStream_t stream, uint32_t *to, uint32_t value, unsigned flags)
{
    (void)flags;
    if (device.faults.driver_value_in_zero_elsewhere && stream == NULL)
        stream = cudaStreamPerThread;
    BY_DRIVER(stream_write_value(stream, to, value, false));
}

static unsigned write_wide_value(cudaStream_t stream, uint32_t *to, uint64_t value, unsigned flags)
{
    (void)flags;
    if ((uintptr_t)to % sizeof value != 0)
        return cudaErrorInvalidValue;
    BY_DRIVER(stream_write_value(stream, to, value, true));
}

static unsigned wait_for_value(cudaStream_t stream, uint32_t *at, uint32_t value, unsigned flags)
{
    BY_DRIVER(stream_await_value(stream, at, value, flags, false));
}

static unsigned wait_for_wide_value(cudaStream_t stream, uint32_t *at, uint64_t value, unsigned flags)
{
    if ((uintptr_t)at % sizeof value != 0)
        return cudaErrorInvalidValue;
    BY_DRIVER(stream_await_value(stream, at, value, flags, true));
}

static cudaError_t operate(cudaStream_t stream, const struct memory_operation *o)
{
    uint32_t *at = (uint32_t *)(uintptr_t)o->address;
    switch (o->type) {
    case OPERATION_WAIT: return stream_await_value(stream, at, (uint32_t)o->value, o->flags, false);
    case OPERATION_WRITE: return stream_write_value(stream, at, (uint32_t)o->value, false);
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t operate_all(cudaStream_t stream, unsigned count, const struct memory_operation *o)
{
    const struct faults *f = &device.faults;
    cudaError_t error = cudaSuccess;
    device.queued_by = BY_BATCH;
    for (unsigned i = 0; f->batch_writes_first && i < count; i++)
        if (o[i].type == OPERATION_WRITE)
            error = operate(stream, &o[i]);
    for (unsigned i = f->batch_does_last_only ? count - 1 : 0; i < count && error == cudaSuccess; i++) {
        bool done = f->batch_writes_first && o[i].type == OPERATION_WRITE;
        bool lost = f->batch_waits_once && i > 0 && o[i].type == OPERATION_WAIT;
        if (!done && !lost)
            error = operate(stream, &o[i]);
    }
    device.queued_by = BY_ANY_CALL;
    return error;
}

static unsigned operate_batch(cudaStream_t stream, unsigned count, const struct memory_operation *operations, unsigned flags)
{
    if (flags != 0 || count == 0)
        return cudaErrorInvalidValue;
    if (device.faults.batch_per_thread_in_legacy && stream == cudaStreamPerThread)
        stream = cudaStreamLegacy;
    if (device.faults.captured_batch_does_one && stream_of(stream) != NULL && stream_of(stream)->capture != NULL)
        count = 1;
    if (device.faults.batch_does_three && count > 3)
        count = 3;
    if (device.faults.batch_does_eight && count > 8)
        count = 8;
    if (device.faults.batch_does_thirty_two && count > 32)
        count = 32;
    if (device.faults.batch_does_sixty_four && count > 64)
        count = 64;
    if (device.faults.batch_does_two_hundred && count > 200)
        count = 200;
    BY_DRIVER(operate_all(stream, count, operations));
}

/* As the driver numbers them. */
enum { CAN_FLUSH_REMOTE_WRITES = 98, CAN_USE_64_BITS = 122, CAN_WAIT_NOR = 123 };

static unsigned device_get(int *out, int ordinal)
{
    *out = ordinal;
    return cudaSuccess;
}

static unsigned device_attribute(int *value, int attribute, int of)
{
    (void)of;
    *value = attribute == CAN_FLUSH_REMOTE_WRITES || attribute == CAN_USE_64_BITS || attribute == CAN_WAIT_NOR;
    return *value ? cudaSuccess : cudaErrorInvalidValue; /* the others the runtime tells */
}

/* Since: the version of CUDA that brought it, and that the driver has to have. */
static const struct { const char *name; unsigned since; int driver; any_function function; } offered[] = {
    { "cuDeviceGet", 2000, 0, (any_function)device_get },
    { "cuDeviceGetAttribute", 2000, 0, (any_function)device_attribute },
    { "cuFuncGetAttribute", 2020, 0, (any_function)function_attribute },
    { "cuLaunchKernel", 4000, 0, (any_function)launch_plain },
    { "cuLaunchCooperativeKernel", 9000, 0, (any_function)launch_cooperative },
    { "cuLaunchKernelEx", 11060, 11080, (any_function)launch_ex },
    { "cuMemcpyAsync", 4000, 0, (any_function)copy_async },
    { "cuMemsetD8Async", 3020, 0, (any_function)set_bytes },
    { "cuMemsetD16Async", 3020, 0, (any_function)set_halves },
    { "cuMemsetD32Async", 3020, 0, (any_function)set_words },
    { "cuEventRecord", 2000, 0, (any_function)record },
    { "cuEventRecordWithFlags", 11010, 0, (any_function)record_with_flags },
    { "cuStreamWaitEvent", 3020, 0, (any_function)wait_for },
    { "cuGraphLaunch", 10000, 0, (any_function)launch_graph },
    { "cuStreamWriteValue32", 11070, 0, (any_function)write_value },
    { "cuStreamWriteValue64", 11070, 0, (any_function)write_wide_value },
    { "cuStreamWaitValue32", 11070, 0, (any_function)wait_for_value },
    { "cuStreamWaitValue64", 11070, 0, (any_function)wait_for_wide_value },
    { "cuStreamBatchMemOp", 11070, 0, (any_function)operate_batch },
    { "cuGraphAddDependencies", 12030, 12030, (any_function)add_edges },
    { "cuGraphRemoveDependencies", 12030, 12030, (any_function)remove_edges },
};

/* asked: the version of the function that is wanted; nothing is found below the one that brought it. */
static void entry_point(const char *name, unsigned asked, void **address, enum cudaDriverEntryPointQueryResult *status)
{
    static any_function (*const elsewhere[])(const char *, unsigned) = {driver_move, driver_graph_call, driver_node_call, driver_older_call,
                                                                    driver_value_node_call};
    union {
        void *object;
        any_function function;
    } found = {NULL};
    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(name, offered[i].name) == 0 && asked >= offered[i].since && device.driver_version >= offered[i].driver)
            found.function = offered[i].function;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0] && found.function == NULL; i++)
        found.function = elsewhere[i](name, asked);
    *address = found.object;
    if (status != NULL)
        *status = found.object != NULL || device.faults.no_function_told_found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
}

#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion
#if CUDART_VERSION >= 12050
#define ENTRY_POINT(suffix)                                                                                          \
    cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion##suffix(const char *name, void **address, unsigned version, \
                                                                   unsigned long long flags,                        \
                                                                   enum cudaDriverEntryPointQueryResult *status);   \
    cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion##suffix(const char *name, void **address, unsigned version, \
                                                                   unsigned long long flags,                        \
                                                                   enum cudaDriverEntryPointQueryResult *status)
#else
#define ENTRY_POINT(suffix)                                                                                          \
    cudaError_t CUDARTAPI cudaGetDriverEntryPoint##suffix(const char *name, void **address, unsigned long long flags, \
                                                          enum cudaDriverEntryPointQueryResult *status);            \
    cudaError_t CUDARTAPI cudaGetDriverEntryPoint##suffix(const char *name, void **address, unsigned long long flags, \
                                                          enum cudaDriverEntryPointQueryResult *status)
#define version UINT32_MAX
#endif

ENTRY_POINT()
{
    CALL_QUERY(cudaGetDriverEntryPoint);
    FAIL_IF(name == NULL || address == NULL, cudaErrorInvalidValue);
    (void)flags;
    entry_point(name, version, address, status);
    return cudaSuccess;
}

/* What a unit compiled for the per-thread default stream calls. */
ENTRY_POINT(_ptsz)
{
    CALL_QUERY(cudaGetDriverEntryPoint);
    FAIL_IF(name == NULL || address == NULL, cudaErrorInvalidValue);
    (void)flags;
    entry_point(name, version, address, status);
    return cudaSuccess;
}
