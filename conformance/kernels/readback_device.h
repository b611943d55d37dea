/* readback_device.h - what the pair functions of readback.cu asks about the device itself: its numbers, which two calls tell. */
#ifndef READBACK_DEVICE_H_INCLUDED
#define READBACK_DEVICE_H_INCLUDED

/* A number of the device by its attribute, and by its field among the properties. */
static void ask_numbers(struct ask *ask, int device)
{
    struct cudaDeviceProp p = PDL_ZERO;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    unsigned i;
    const struct {
        const char *what;
        enum cudaDeviceAttr id;
        long want;
    } rows[] = {
        { "the threads of a block", cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock },
        { "a block along x", cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0] },
        { "a block along y", cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1] },
        { "a block along z", cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2] },
        { "a grid along x", cudaDevAttrMaxGridDimX, p.maxGridSize[0] },
        { "a grid along y", cudaDevAttrMaxGridDimY, p.maxGridSize[1] },
        { "a grid along z", cudaDevAttrMaxGridDimZ, p.maxGridSize[2] },
        { "the shared memory of a block", cudaDevAttrMaxSharedMemoryPerBlock, (long)p.sharedMemPerBlock },
        { "the shared memory that a block may have", cudaDevAttrMaxSharedMemoryPerBlockOptin, (long)p.sharedMemPerBlockOptin },
        { "the shared memory of a multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor, (long)p.sharedMemPerMultiprocessor },
        { "the threads of a warp", cudaDevAttrWarpSize, p.warpSize },
        { "the registers of a block", cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock },
        { "the registers of a multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor },
        { "the multiprocessors", cudaDevAttrMultiProcessorCount, p.multiProcessorCount },
        { "the threads of a multiprocessor", cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor },
        { "the blocks of a multiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor },
        { "the compute capability", cudaDevAttrComputeCapabilityMajor, p.major },
        { "the compute capability after the dot", cudaDevAttrComputeCapabilityMinor, p.minor },
        { "whether kernels run beside each other", cudaDevAttrConcurrentKernels, p.concurrentKernels },
        { "whether host memory can be mapped", cudaDevAttrCanMapHostMemory, p.canMapHostMemory },
        { "whether there is one address space", cudaDevAttrUnifiedAddressing, p.unifiedAddressing },
        { "the engines that copy", cudaDevAttrAsyncEngineCount, p.asyncEngineCount },
        { "whether streams have priorities", cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported },
        { "whether grids cooperate", cudaDevAttrCooperativeLaunch, p.cooperativeLaunch },
    };

    ask_expect(ask, "the properties of the device", error, cudaSuccess);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && error == cudaSuccess; i++) {
        int is = -1;
        ask_expect(ask, rows[i].what, cudaDeviceGetAttribute(&is, rows[i].id, device), cudaSuccess);
        ask_expect_number(ask, rows[i].what, is, rows[i].want);
    }
}

/* What each device has from compute capability 9.0 on: questions are left out where one is told not to have it. */
static void ask_abilities(struct ask *ask, int device)
{
    static const struct {
        const char *what;
        enum cudaDeviceAttr id;
    } rows[] = { { "clusters of blocks", cudaDevAttrClusterLaunch },
                 { "cooperative launches", cudaDevAttrCooperativeLaunch },
                 { "kernels beside each other", cudaDevAttrConcurrentKernels },
                 { "priorities of streams", cudaDevAttrStreamPrioritiesSupported } };
    unsigned i;
    int is, major = -1, minor = -1;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is = -1;
        ask_expect(ask, rows[i].what, cudaDeviceGetAttribute(&is, rows[i].id, device), cudaSuccess);
        ask_expect_number(ask, rows[i].what, is, 1);
    }
    is = -1;
    ask_expect(ask, "the compute capability", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), cudaSuccess);
    ask_expect(ask, "the compute capability", cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), cudaSuccess);
    ask_expect_number(ask, "parts of the compute capability that are not told", (major < 0) + (minor < 0), 0);
    ask_expect(ask, "memory-sync domains", cudaDeviceGetAttribute(&is, cudaDevAttrMemSyncDomainCount, device), cudaSuccess);
    if (major == 9 && minor == 0) /* "Hopper has 4 domains." */
        ask_expect_number(ask, "memory-sync domains", is, 4);
}

/* How much memory there is, and how much of it nobody has. */
static void ask_memory(struct ask *ask)
{
    size_t left = ~(size_t)0, total = 0;

    ask_expect(ask, "the memory of the device", cudaMemGetInfo(&left, &total), cudaSuccess);
    ask_expect_number(ask, "whether more of it is left than there is", total == 0 || left > total, 0);
}

/* Devices are numbered from 0 to one less than there are. */
static void ask_no_device(struct ask *ask)
{
    struct cudaDeviceProp properties;
    int devices = 0, none[2] = { -1, 0 }, is;
    unsigned i;

    ask_expect(ask, "how many devices there are", cudaGetDeviceCount(&devices), cudaSuccess);
    none[1] = devices;
    for (i = 0; i < 2; i++) {
        ask_expect_refusal(ask, i ? "an attribute of one device more than there are" : "an attribute of device -1",
                           cudaDeviceGetAttribute(&is, cudaDevAttrWarpSize, none[i]));
        ask_expect_refusal(ask, i ? "the properties of one device more than there are" : "the properties of device -1",
                           cudaGetDeviceProperties(&properties, none[i]));
    }
    (void)cudaGetLastError();
}

#endif
