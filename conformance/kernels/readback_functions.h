/* readback_functions.h - the pair of readback.cu with what is set and told of functions. */
#ifndef READBACK_FUNCTIONS_H_INCLUDED
#define READBACK_FUNCTIONS_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

/* A kernel with static shared memory, and one of few threads; on the model the second is of older PTX as well. */
#define ROOM_BYTES 4096u
#ifdef PDL_MODEL
#define FEW_THREADS 16
#define MODEL_KERNEL_WITH_ROOM(NAME) MODEL_KERNEL_OF(NAME, struct kernel_args, 32, ROOM_BYTES, MODEL_KERNEL_PTX, 90)
MODEL_KERNEL_WITH_ROOM(SYMBOL(readback_room)) { (void)args; }
#define MODEL_KERNEL_OF_FEW(NAME)                                                      \
    MODEL_KERNEL_OF(NAME, struct kernel_args, 32, 0, 80, 90) { (void)args; }           \
    static void make_few(void) { NAME##_record.max_threads = FEW_THREADS; }
#define MODEL_KERNEL_OF_FEW_NAMED(NAME) MODEL_KERNEL_OF_FEW(NAME)
MODEL_KERNEL_OF_FEW_NAMED(SYMBOL(readback_few))
#else
#define FEW_THREADS 64
extern "C" __global__ void __launch_bounds__(FEW_THREADS) SYMBOL(readback_few)(struct kernel_args args) { (void)args; }
static void make_few(void) {} /* the compiler did */

KERNEL(readback_room)
{
    __shared__ uint32_t room[ROOM_BYTES / sizeof(uint32_t)];

    ((volatile uint32_t *)room)[k_thread()] = 0;
    k_barrier();
    if (((volatile uint32_t *)room)[k_thread()] != 0) /* never: keeps the room */
        k_store(args.seen, 1);
}
#endif

/* "The sum of this value and the function attribute sharedSizeBytes cannot exceed the device attribute." */
static void ask_limit(struct ask *ask, int bytes, int most)
{
    struct cudaFuncAttributes told = PDL_ZERO;
    const void *function = (const void *)SYMBOL(readback_nothing);
    cudaError_t error;
    int refused = bytes < 0 || bytes > most, before;

    ask_expect(ask, "the attributes of a function", cudaFuncGetAttributes(&told, function), cudaSuccess);
    before = told.maxDynamicSharedSizeBytes;
    error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (refused)
        ask_expect_refusal(ask, bytes < 0 ? "a limit below zero" : "a limit of dynamic shared memory beyond the device's", error);
    else
        ask_expect(ask, "a limit of dynamic shared memory", error, cudaSuccess);
    ask_expect(ask, "the attributes of a function", cudaFuncGetAttributes(&told, function), cudaSuccess);
    ask_expect_number(ask, "the limit of dynamic shared memory that was set", told.maxDynamicSharedSizeBytes, refused ? before : bytes);
}

static cudaError_t launch_with(struct ask *ask, const void *function, unsigned threads, int bytes)
{
    struct kernel_args args = PDL_ZERO;
    cudaError_t error = launch_sized(function, &args, 1, threads, (size_t)bytes, ask->stream, NULL, 0);

    return error == cudaSuccess ? cudaStreamSynchronize(ask->stream) : error;
}

static cudaError_t launch_shaped(struct ask *ask, const void *function, unsigned x, unsigned y, unsigned z)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(x, ask->stream);
    void *values[1];
    cudaError_t error;

    values[0] = &args;
    config.blockDim.y = y;
    config.blockDim.z = z;
    error = cudaLaunchKernelExC(&config, function, values);
    return error == cudaSuccess ? cudaStreamSynchronize(ask->stream) : error;
}

/* "the maximum number of threads per block, beyond which a launch of the function would fail", along whatever axes they are */
static void ask_bounds(struct ask *ask)
{
    static const unsigned many[][3] = { { FEW_THREADS + 1, 1, 1 }, { 1, FEW_THREADS + 1, 1 }, { FEW_THREADS / 2 + 1, 2, 1 },
                                        { 2, 2, FEW_THREADS / 4 + 1 }, { FEW_THREADS / 4 + 1, 1, 4 } };
    const void *function = (const void *)SYMBOL(readback_few);
    cudaError_t error, last;
    unsigned i;

    make_few();
    ask_expect(ask, "a launch of as many threads as a function may have", launch_with(ask, function, FEW_THREADS, 0), cudaSuccess);
    ask_expect(ask, "a launch of as many along all axes", launch_shaped(ask, function, 2, 2, FEW_THREADS / 4), cudaSuccess);
    for (i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        (void)cudaGetLastError();
        error = launch_shaped(ask, function, many[i][0], many[i][1], many[i][2]);
        last = cudaPeekAtLastError();
        ask_expect_refusal(ask, "a launch of more threads than a function may have", error);
        ask_expect(ask, "the last error after it", last, error);
        ask_expect(ask, "the stream after it", cudaStreamSynchronize(ask->stream), cudaSuccess);
    }
}

/* "If the specified attribute cannot be written": there is none of this number. */
static void ask_unknown_attribute(struct ask *ask, const void *function)
{
    int number = 9999;

    ask_expect_refusal(ask, "an attribute of functions that does not exist", cudaFuncSetAttribute(function, (enum cudaFuncAttribute)number, 1));
}

/* What makes no sense leaves what was set. */
static void refuse_attributes_of_function(struct ask *ask, const void *function, int most)
{
    static const int carveouts[] = { 101, 1000000, -2, -1000000 };
    unsigned i;

    for (i = 0; i < sizeof(carveouts) / sizeof(carveouts[0]); i++)
        ask_expect_refusal(ask, "a carve-out of more than all, or of less than none",
                           cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, carveouts[i]));
    ask_expect_refusal(ask, "a limit beyond the device's", cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    ask_unknown_attribute(ask, function);
}

/* What is set of one function is told of that one, and is nothing to another one. */
static void ask_other_function(struct ask *ask, int most)
{
    struct cudaFuncAttributes told = PDL_ZERO, before = PDL_ZERO, after = PDL_ZERO;
    const void *function = (const void *)SYMBOL(readback_nothing), *other = (const void *)SYMBOL(readback_other);
    static const int percents[] = { 50, cudaSharedmemCarveoutMaxL1, cudaSharedmemCarveoutMaxShared, cudaSharedmemCarveoutDefault };
    int percent, refused;
    unsigned i;

    ask_expect(ask, "the attributes of another function", cudaFuncGetAttributes(&before, other), cudaSuccess);
    ask_limit(ask, most, most);
    for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        percent = percents[i];
        ask_expect(ask, "a carve-out", cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, percent), cudaSuccess);
        for (refused = 0; refused < 2; refused++) {
            ask_expect(ask, "the attributes of a function", cudaFuncGetAttributes(&told, function), cudaSuccess);
            ask_expect_number(ask, refused ? "the carve-out before others were refused" : "the carve-out that was set",
                              told.preferredShmemCarveout, percent);
            ask_expect_number(ask, "the limit that was set before the carve-out", told.maxDynamicSharedSizeBytes, most);
            refuse_attributes_of_function(ask, function, most);
        }
        ask_expect(ask, "the attributes of another function", cudaFuncGetAttributes(&after, other), cudaSuccess);
        ask_expect_number(ask, "the carve-out of another function", after.preferredShmemCarveout, before.preferredShmemCarveout);
    }
    ask_expect_number(ask, "the limit of another function", after.maxDynamicSharedSizeBytes, before.maxDynamicSharedSizeBytes);
}

/* "If the user-specified dynamic shared memory size is larger than this value, the launch will fail." */
static void ask_launches(struct ask *ask, int limit)
{
    const void *function = (const void *)SYMBOL(readback_other);

    ask_expect(ask, "a limit", cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, limit), cudaSuccess);
    ask_expect(ask, "a launch up to the limit", launch_with(ask, function, 1, limit), cudaSuccess);
    ask_expect_refusal(ask, "a launch beyond the limit", launch_with(ask, function, 1, limit + 1024));
    ask_expect(ask, "another launch up to the limit", launch_with(ask, function, 1, limit), cudaSuccess);
}

static const unsigned cluster_shapes[][3] = { { 2, 1, 1 }, { 4, 1, 1 }, { 8, 1, 1 }, { 1, 2, 2 }, { 2, 1, 4 } };

/* The clusters' attribute stands before attribute 6 or after it. */
static cudaError_t count_clusters(int *clusters, const unsigned *shape, int bytes, int after)
{
    cudaLaunchAttribute attributes[2], *clustered = &attributes[after ? 1 : 0];
    cudaLaunchConfig_t config = PDL_ZERO;

    *clustered = in_clusters(shape[0]);
    clustered->val.clusterDim.y = shape[1];
    clustered->val.clusterDim.z = shape[2];
    attributes[after ? 0 : 1] = serialization(1);
    config.gridDim.x = shape[0];
    config.gridDim.y = shape[1];
    config.gridDim.z = shape[2];
    config.blockDim.y = config.blockDim.z = 1;
    config.blockDim.x = 32;
    config.dynamicSmemBytes = (size_t)bytes;
    config.attrs = attributes;
    config.numAttrs = 2;
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)SYMBOL(readback_nothing), &config);
}

/* Flags 0 keep "the default behavior as cudaOccupancyMaxActiveBlocksPerMultiprocessor"; clusters "that could co-exist" are made of blocks that
 * could. */
static void ask_fit(struct ask *ask, int bytes, int sms)
{
    const void *function = (const void *)SYMBOL(readback_nothing);
    static const unsigned flags[] = { cudaOccupancyDefault, cudaOccupancyDisableCachingOverride }; /* no caches take room here */
    int blocks = 0, flagged = 0, clusters = 0, again = -1;
    unsigned i;

    ask_expect(ask, "how many blocks fit", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, (size_t)bytes), cudaSuccess);
    for (i = 0; i < 2; i++) {
        flagged = -1;
        ask_expect(ask, "how many blocks fit, with flags",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&flagged, function, 32, (size_t)bytes, flags[i]), cudaSuccess);
        ask_expect_number(ask, "blocks that fit by the call with flags", flagged, blocks);
    }
    for (i = 0; i < sizeof(cluster_shapes) / sizeof(cluster_shapes[0]); i++) {
        const unsigned *shape = cluster_shapes[i];
        long size = (long)shape[0] * shape[1] * shape[2];
        cudaError_t error = count_clusters(&clusters, shape, bytes, 0);
        if (error == cudaErrorInvalidClusterSize) { /* a part of a device may be too small for it */
            (void)cudaGetLastError();
            continue;
        }
        ask_expect(ask, "how many clusters fit", error, cudaSuccess);
        ask_expect_number(ask, "blocks of all clusters that fit, beyond all blocks that fit", clusters * size > (long)blocks * sms, 0);
        ask_expect(ask, "how many clusters fit, by the second attribute", count_clusters(&again, shape, bytes, 1), cudaSuccess);
        ask_expect_number(ask, "clusters that fit by the second attribute", again, clusters);
    }
}

/* How many blocks fit depends on the sum of a function's static shared memory and the dynamic one. */
static void ask_static_fit(struct ask *ask, int dynamic)
{
    int with = -1, without = -2;

    ask_expect(ask, "how many blocks with static shared memory fit",
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with, (const void *)SYMBOL(readback_room), 32, (size_t)dynamic), cudaSuccess);
    ask_expect(ask, "how many blocks with as much dynamic shared memory fit",
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&without, (const void *)SYMBOL(readback_nothing), 32, (size_t)dynamic + ROOM_BYTES),
               cudaSuccess);
    ask_expect_number(ask, "blocks with static shared memory that fit", with, without);
}

/* "The size in bytes of statically-allocated shared memory per block": of the function's own. Together with the dynamic one it "cannot exceed
 * the device attribute". */
static void ask_static(struct ask *ask, int most)
{
    const void *function = (const void *)SYMBOL(readback_room);
    const void *without = (const void *)SYMBOL(readback_nothing);
    struct cudaFuncAttributes told = PDL_ZERO;
    int i;

    ask_expect(ask, "the attributes of a function without static shared memory", cudaFuncGetAttributes(&told, without), cudaSuccess);
    ask_expect_number(ask, "its static shared memory", (long)told.sharedSizeBytes, 0);
    ask_expect(ask, "the attributes of a function with static shared memory", cudaFuncGetAttributes(&told, function), cudaSuccess);
    ask_expect_number(ask, "its static shared memory", (long)told.sharedSizeBytes, (long)ROOM_BYTES);
    ask_expect_refusal(ask, "a limit that leaves no room for the static shared memory",
                       cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - (int)ROOM_BYTES + 1));
    ask_expect(ask, "a limit that leaves just the room for the static shared memory",
               cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - (int)ROOM_BYTES), cudaSuccess);
    ask_expect(ask, "the greatest limit", cudaFuncSetAttribute(without, cudaFuncAttributeMaxDynamicSharedMemorySize, most), cudaSuccess);
    for (i = 0; i <= 16; i++)
        ask_static_fit(ask, i * (most - (int)ROOM_BYTES) / 16);
}

#if CUDART_VERSION >= 12030
/* "May return a mangled name": that holds its own. */
static void ask_name(struct ask *ask, const void *function, const char *own)
{
    const char *name = NULL;

    ask_expect(ask, "the name of a function", cudaFuncGetName(&name, function), cudaSuccess);
    ask_expect_number(ask, "the name of a function is its own", name && strstr(name, own), 1);
}

static void ask_names(struct ask *ask)
{
    ask_name(ask, (const void *)SYMBOL(readback_nothing), "readback_nothing");
    ask_name(ask, (const void *)SYMBOL(readback_other), "readback_other");
}
#else
static void ask_names(struct ask *ask) { ask_skip(ask, "names of functions", "the toolkit is older than 12.3"); }
#endif

/* The driver and the runtime tell the same of a function. */
static void expect_same(struct ask *ask, void *get, CUfunction function, const struct cudaFuncAttributes *told)
{
    typedef CUresult(CUDAAPI *get_attribute)(int *, CUfunction_attribute, CUfunction);
    const struct {
        const char *what;
        CUfunction_attribute id;
        int want;
    } rows[] = { { "the threads of a block by the driver", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, told->maxThreadsPerBlock },
                 { "the static shared memory by the driver", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, (int)told->sharedSizeBytes },
                 { "the registers by the driver", CU_FUNC_ATTRIBUTE_NUM_REGS, told->numRegs },
                 { "the version of the PTX by the driver", CU_FUNC_ATTRIBUTE_PTX_VERSION, told->ptxVersion },
                 { "the version of the binary by the driver", CU_FUNC_ATTRIBUTE_BINARY_VERSION, told->binaryVersion } };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int is = -1;
        ask_expect(ask, rows[i].what, (cudaError_t)((get_attribute)get)(&is, rows[i].id, function), cudaSuccess);
        ask_expect_number(ask, rows[i].what, is, rows[i].want);
    }
}

static void ask_driver(struct ask *ask, void *get, const void *function)
{
    struct cudaFuncAttributes told = PDL_ZERO;
    cudaFunction_t driver = NULL;

    ask_expect(ask, "the attributes of a function", cudaFuncGetAttributes(&told, function), cudaSuccess);
    ask_expect(ask, "a function of the driver", cudaGetFuncBySymbol(&driver, function), cudaSuccess);
    if (driver)
        expect_same(ask, get, (CUfunction)driver, &told);
}

/* "cudaDriverEntryPointSymbolNotFound: no matching symbol" */
static void ask_no_entry(struct ask *ask)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
    void *function = NULL;
    cudaError_t error = driver_entry("cuFunctionThatThereIsNot", 12030, &function, &found);

    (void)cudaGetLastError();
    ask_expect_number(ask, "a function of the driver that there is not is found", error == cudaSuccess && found == cudaDriverEntryPointSuccess, 0);
    ask_expect_number(ask, "a function of the driver that there is not has a place", function != NULL, 0);
}

static void ask_by_driver(struct ask *ask)
{
    void *get = NULL;
    cudaError_t error = driver_function("cuFuncGetAttribute", 2020, &get);

    ask_expect(ask, "cuFuncGetAttribute", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    make_few();
    ask_driver(ask, get, (const void *)SYMBOL(readback_nothing));
    ask_driver(ask, get, (const void *)SYMBOL(readback_room));
    ask_driver(ask, get, (const void *)SYMBOL(readback_few));
}

static void ask_functions(struct ask *ask)
{
    int device = 0, most = 0, sms = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    ask_expect(ask, "limits of the device", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    ask_numbers(ask, device);
    ask_abilities(ask, device);
    ask_memory(ask);
    ask_no_device(ask);
    ask_bounds(ask);
    ask_limit(ask, 4096, most);
    ask_limit(ask, most, most);
    ask_limit(ask, 1024, most);
    ask_limit(ask, 0, most);
    ask_limit(ask, most + 1, most);
    ask_limit(ask, -1, most);
    ask_limit(ask, most, most);
    ask_limit(ask, 2048, most);
    ask_other_function(ask, most);
    ask_static(ask, most);
    ask_launches(ask, most / 2);
    ask_launches(ask, most / 2 + 13);
    ask_names(ask);
    ask_by_driver(ask);
    ask_no_entry(ask);
    ask_fit(ask, 0, sms);
    ask_fit(ask, most / 2, sms);
    ask_fit(ask, most, sms);
}

#endif
