/* The device, its functions and the errors. */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 8192 };
static int device_count = 1, other_cc[MODEL_MAX_DEVICES];
static _Thread_local int chosen_device;
static struct function functions[FUNCTIONS];
static int function_count;

void model_register_kernel(const struct model_kernel *kernel)
{
    if (function_count == FUNCTIONS || kernel->args_bytes > MODEL_ARGS_MAX) {
        fprintf(stderr, "pdl model: kernel %s cannot be registered\n", kernel->name);
        abort();
    }
    functions[function_count++].kernel = kernel;
    functions_reset();
}

bool function_exists(const struct function *f)
{
    for (int i = 0; i < function_count; i++)
        if (f == &functions[i])
            return true;
    return false;
}

int current_device(void)
{
    return chosen_device < device_count ? chosen_device : 0;
}

int cc_of(int index)
{
    return other_cc[index] != 0 ? other_cc[index] : device.cc;
}

int function_ptx(const struct function *f)
{
    const int other = f->ptx_on[current_device()];
    return other != 0 ? other : f->kernel->ptx_version;
}

void devices_reset(void)
{
    device_count = 1;
    chosen_device = 0;
    memset(other_cc, 0, sizeof other_cc);
}

void model_set_devices(int count)
{
    device_count = count >= 1 && count <= MODEL_MAX_DEVICES ? count : 1;
}

void model_set_cc_of(int index, int major, int minor)
{
    other_cc[index] = 10 * major + minor;
}

void model_set_image(const void *func, int index, int ptx_version)
{
    struct function *f = function_find(func);
    if (f != NULL)
        f->ptx_on[index] = ptx_version;
}

void functions_reset(void)
{
    for (int i = 0; i < function_count; i++) {
        functions[i].max_dynamic_shared = MODEL_BLOCK_SHARED - (int)functions[i].kernel->static_shared_bytes;
        functions[i].carveout = -1;
        functions[i].recorded = 0;
        functions[i].wide_clusters = functions[i].has_waited = functions[i].has_triggered = false;
        memset(functions[i].ptx_on, 0, sizeof functions[i].ptx_on);
    }
}

/* Registered once, looked up at every launch: remember the last few by address. */
struct function *function_find(const void *func)
{
    static struct function *recent[256];
    uintptr_t key = (uintptr_t)func;
    struct function **slot = &recent[(key >> 4 ^ key >> 12) & 255];
    if (*slot != NULL && (*slot)->kernel->func == func)
        return *slot;
    for (int i = 0; i < function_count; i++)
        if (functions[i].kernel->func == func)
            return *slot = &functions[i];
    return NULL;
}

int blocks_per_sm(const struct function *f, unsigned threads, size_t dynamic_shared)
{
    size_t each = f->kernel->static_shared_bytes + dynamic_shared;
    if (threads == 0 || threads > MODEL_MAX_THREADS || each > MODEL_BLOCK_SHARED)
        return 0;
    size_t by_shared = each != 0 ? MODEL_SM_SHARED / each : device.slots;
    return by_shared < device.slots ? (int)by_shared : (int)device.slots;
}

cudaError_t CUDARTAPI cudaGetDeviceCount(int *n)
{
    CALL_QUERY(cudaGetDeviceCount);
    FAIL_IF(n == NULL, cudaErrorInvalidValue);
    *n = device_count;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaSetDevice(int index)
{
    CALL(cudaSetDevice);
    if ((device.faults.negative_device_taken && index < 0) || (device.faults.device_beyond_taken && index == device_count))
        return cudaSuccess;
    FAIL_IF(index < 0 || index >= device_count, cudaErrorInvalidDevice);
    chosen_device = index;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDevice(int *index)
{
    CALL_QUERY(cudaGetDevice);
    FAIL_IF(index == NULL, cudaErrorInvalidValue);
    *index = current_device();
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned flags)
{
    CALL(cudaSetDeviceFlags);
    (void)flags;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *p, int index)
{
    CALL_QUERY(cudaGetDeviceProperties);
    device.told_properties_at = device.serial;
    FAIL_IF(p == NULL, cudaErrorInvalidValue);
    if (index < 0 && device.faults.properties_of_no_device_told)
        return cudaSuccess;
    FAIL_IF(index < 0 || index >= device_count, cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    strcpy(p->name, "PDL model");
    p->major = cc_of(index) / 10;
    p->minor = cc_of(index) % 10;
    p->totalGlobalMem = memory_total();
    p->sharedMemPerBlock = MODEL_BLOCK_SHARED;
    p->sharedMemPerBlockOptin = MODEL_BLOCK_SHARED;
    p->sharedMemPerMultiprocessor = MODEL_SM_SHARED;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = MODEL_WARP;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsDim[2] = MODEL_MAX_THREADS;
    p->maxThreadsPerMultiProcessor = (int)device.slots * MODEL_MAX_THREADS;
    p->maxBlocksPerMultiProcessor = (int)device.slots;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->multiProcessorCount = (int)device.sms;
    p->concurrentKernels = 1;
    p->canMapHostMemory = p->unifiedAddressing = 1;
    p->asyncEngineCount = 1;
    p->streamPrioritiesSupported = p->cooperativeLaunch = 1;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int index)
{
    CALL_QUERY(cudaDeviceGetAttribute);
    FAIL_IF(value == NULL, cudaErrorInvalidValue);
    if (index == device_count && device.faults.attribute_of_no_device_told)
        return cudaSuccess;
    FAIL_IF(index < 0 || index >= device_count, cudaErrorInvalidDevice);
    switch ((int)attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ: *value = MODEL_MAX_THREADS; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = MODEL_BLOCK_SHARED; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = MODEL_SM_SHARED; break;
    case cudaDevAttrWarpSize: *value = device.faults.warp_told_double ? 2 * MODEL_WARP : MODEL_WARP; break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
    case cudaDevAttrMultiProcessorCount: *value = (int)device.sms; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = (int)device.slots * MODEL_MAX_THREADS; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = (int)device.slots; break;
    case cudaDevAttrComputeCapabilityMajor: *value = cc_of(index) / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = cc_of(index) % 10; break;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrStreamPrioritiesSupported: *value = 1; break;
    case cudaDevAttrCooperativeLaunch: *value = !device.faults.cooperation_not_told; break;
#if CUDART_VERSION >= 11080
    case cudaDevAttrMemSyncDomainCount: *value = cc_of(index) >= 90 && !device.faults.one_domain_told ? 4 : 1; break;
    case cudaDevAttrClusterLaunch: *value = cc_of(index) >= 90; break;
#endif
    case cudaDevAttrClockRate: *value = 1000000; break;
    default: *value = 0; break;
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version)
{
    CALL_QUERY(cudaRuntimeGetVersion);
    FAIL_IF(version == NULL, cudaErrorInvalidValue);
    *version = device.runtime_version;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDriverGetVersion(int *version)
{
    CALL_QUERY(cudaDriverGetVersion);
    FAIL_IF(version == NULL, cudaErrorInvalidValue);
    *version = device.driver_version;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL_QUERY(cudaDeviceGetStreamPriorityRange);
    if (device.faults.priority_alone_not_told && least == NULL)
        return cudaSuccess;
    if (least != NULL && (greatest != NULL || !device.faults.least_priority_not_told))
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *text, int length, int index)
{
    CALL_QUERY(cudaDeviceGetPCIBusId);
    FAIL_IF(text == NULL || length < 1, cudaErrorInvalidValue);
    FAIL_IF(index < 0 || index >= device_count, cudaErrorInvalidDevice);
    snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)index);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
    CALL(cudaDeviceSynchronize);
    if (capture_is_active() && !device.faults.device_sync_beside_capture) {
        capture_invalidate_all();
        return call_result(cudaErrorStreamCaptureUnsupported);
    }
    if (device.faults.device_sync_skips_per_thread || device.faults.device_sync_skips_other_threads)
        return call_result(streams_run_but_per_thread(device.faults.device_sync_skips_other_threads));
    if (device.faults.other_thread_device_sync_early && device.other_thread)
        return call_result(run_a_little());
    cudaError_t error = run_until_idle();
    if (device.faults.device_sync_clears_error && error == cudaSuccess)
        (void)cudaGetLastError();
    return call_result(error);
}

cudaError_t CUDARTAPI cudaDeviceReset(void)
{
    CALL_QUERY(cudaDeviceReset);
    model_reset(device.variant->name, device.random[0]);
    return cudaSuccess;
}

/* ---- functions ---- */

cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *func)
{
    CALL_QUERY(cudaFuncGetAttributes);
    device.told_function_at = device.serial;
    FAIL_IF(a == NULL, cudaErrorInvalidValue);
    const struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = device.faults.static_shared_told_0 ? 0 : f->kernel->static_shared_bytes;
    a->maxThreadsPerBlock = f->kernel->max_threads > 0 ? f->kernel->max_threads : MODEL_MAX_THREADS;
    a->numRegs = f->kernel->registers;
    a->ptxVersion = function_ptx(f);
    a->binaryVersion = f->kernel->binary_version;
    a->maxDynamicSharedSizeBytes = device.faults.shared_limit_not_told ? MODEL_BLOCK_SHARED : f->max_dynamic_shared;
    bool untold = (device.faults.no_carveout_told_as_default && f->carveout == 0) ||
                  (device.faults.full_carveout_told_as_default && f->carveout == 100);
    a->preferredShmemCarveout = untold ? -1 : f->carveout;
    return cudaSuccess;
}

unsigned most_in_cluster(const void *func)
{
    const struct function *f = function_find(func);
    return f != NULL && f->wide_clusters ? 16 : 8;
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
    CALL(cudaFuncSetAttribute);
    struct function *f = function_find(func);
    if (f == NULL && device.faults.attribute_of_no_kernel_taken)
        return cudaSuccess;
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        long most = MODEL_BLOCK_SHARED - (long)f->kernel->static_shared_bytes;
        if (value > most && device.faults.refused_limit_stays)
            f->max_dynamic_shared = (int)most;
        if ((value < 0 && device.faults.negative_limit_taken) || (value == 0 && device.faults.limit_of_none_ignored))
            return cudaSuccess;
        FAIL_IF(value < 0 || (value > most && !device.faults.shared_limit_clamped), cudaErrorInvalidValue);
        if (value >= f->max_dynamic_shared || !device.faults.shared_limit_only_grows)
            f->max_dynamic_shared = value < most ? value : (int)most;
        if (device.faults.limit_rounded_down)
            f->max_dynamic_shared &= ~15;
        for (int i = 0; device.faults.shared_limit_of_all && i < function_count; i++)
            functions[i].max_dynamic_shared = f->max_dynamic_shared;
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
        if ((value > 100 && device.faults.large_carveout_taken) || (value == -1 && device.faults.default_carveout_ignored))
            return cudaSuccess;
        if ((value < -1 || value > 100) && device.faults.refused_carveout_resets)
            f->carveout = -1;
        FAIL_IF(value < -1 || value > 100, cudaErrorInvalidValue);
        f->carveout = device.faults.carveout_not_kept ? -1 : value;
        if (device.faults.carveout_resets_limit)
            f->max_dynamic_shared = 4096;
        for (int i = 0; device.faults.carveout_of_all && i < function_count; i++)
            functions[i].carveout = value;
    } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
        f->wide_clusters = value != 0;
    } else {
        bool known = (int)attribute >= 0 && attribute < cudaFuncAttributeMax;
        FAIL_IF(!known && !device.faults.unknown_attribute_taken, cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

#if CUDART_VERSION >= 12030
cudaError_t CUDARTAPI cudaFuncGetName(const char **name, const void *func)
{
    CALL_QUERY(cudaFuncGetName);
    FAIL_IF(name == NULL, cudaErrorInvalidValue);
    const struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    *name = device.faults.name_of_first_told ? functions[0].kernel->name : f->kernel->name;
    return cudaSuccess;
}
#endif

static cudaError_t occupancy(int *blocks, const void *func, int threads, size_t dynamic_shared)
{
    bool taken = (threads == 0 && device.faults.blocks_of_no_threads_told) || (func == NULL && device.faults.blocks_of_no_kernel_told);
    if (taken)
        return cudaSuccess;
    FAIL_IF(blocks == NULL || threads <= 0, cudaErrorInvalidValue);
    const struct function *f = function_find(func);
    FAIL_IF(f == NULL, cudaErrorInvalidDeviceFunction);
    *blocks = blocks_per_sm(f, (unsigned)threads, device.faults.occupancy_ignores_shared ? 0 : dynamic_shared);
    if (device.faults.static_room_ignored)
        *blocks = blocks_per_sm(f, (unsigned)threads, dynamic_shared - f->kernel->static_shared_bytes);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads,
                                                                    size_t dynamic_shared)
{
    CALL_QUERY(cudaOccupancyMaxActiveBlocksPerMultiprocessor);
    return occupancy(blocks, func, threads, dynamic_shared);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int *clusters, const void *func, const cudaLaunchConfig_t *config)
{
    CALL_QUERY(cudaOccupancyMaxActiveClusters);
    FAIL_IF(clusters == NULL || config == NULL, cudaErrorInvalidValue);
    int blocks = 0;
    unsigned size = 1;
    cudaError_t error = occupancy(&blocks, func, (int)config->blockDim.x, config->dynamicSmemBytes);
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension && (i == 0 || !device.faults.clusters_of_first_attribute)) {
            unsigned yz = config->attrs[i].val.clusterDim.y * config->attrs[i].val.clusterDim.z;
            size = config->attrs[i].val.clusterDim.x * (device.faults.clusters_counted_along_x ? 1 : yz);
        }
    unsigned most = most_in_cluster(func);
    if (device.faults.clusters_told_as_blocks && size != 0 && size <= 8)
        size = 1;
    *clusters = size == 0 || size > most ? 0 : (int)(device.sms * (unsigned)blocks / size);
    return call_result(error);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int threads,
                                                                             size_t dynamic_shared, unsigned flags)
{
    CALL_QUERY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
    if (flags != 0 && device.faults.flagged_fit_is_none) {
        *blocks = 0;
        return cudaSuccess;
    }
    return occupancy(blocks, func, threads, device.faults.flagged_occupancy_ignores_shared ? 0 : dynamic_shared);
}
