// casualties.cu - goes wrong on a GPU in a chosen way, and tells of it as the harness does; see casualties.py
//
// The case's name is the way. Each kernel that hangs ends by itself after a minute, should nobody kill the process.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../pdl_device.cuh"

enum { LIMIT_S = 2, DEVICE_FAILED = 70 + 1, BLOCKS = 256, LAST_S = 60 };

static const char *current;

#define CHECK(call)                                                                                                          \
    do {                                                                                                                     \
        cudaError_t error_ = (call);                                                                                         \
        if (error_ != cudaSuccess) {                                                                                         \
            std::printf("{\"record\":\"error\",\"case\":\"%s\",\"part\":\"fault\",\"call\":\"%s\",\"error\":\"%s\"}\n", current, #call, \
                        cudaGetErrorName(error_));                                                                           \
            std::fflush(stdout);                                                                                             \
            std::_Exit(DEVICE_FAILED);                                                                                       \
        }                                                                                                                    \
    } while (0)

__device__ bool over(unsigned long long begin)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now - begin > LAST_S * 1000000000ull;
}
__device__ unsigned long long begun()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void endless()
{
    for (unsigned long long begin = begun(); !over(begin);)
        ;
}
// Waits for what its dependent stores. That one waits for the end of this kernel.
__global__ void deadlocked(unsigned *flag)
{
    pdl_trigger();
    for (unsigned long long begin = begun(); atomicAdd(flag, 0) == 0 && !over(begin);)
        ;
}
// Its first block triggers only after the dependent has started, which starts only after every block has triggered.
__global__ void starving(unsigned *flag)
{
    if (blockIdx.x == 0) {
        for (unsigned long long begin = begun(); atomicAdd(flag, 0) == 0 && !over(begin);)
            ;
    }
    pdl_trigger();
}
__global__ void early(unsigned *flag)
{
    atomicExch(flag, 1);
    pdl_wait();
}
__global__ void late(unsigned *flag)
{
    pdl_wait();
    atomicExch(flag, 1);
}
__global__ void astray(unsigned *nowhere) { *nowhere = 1; }
__global__ void count(unsigned *words) { atomicAdd(words, 1); }

static void pair(void (*first)(unsigned *), unsigned blocks, void (*second)(unsigned *), unsigned *flag)
{
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t config = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = 1;
    config.blockDim = 1;
    config.attrs = &overlap;
    config.numAttrs = 1;
    first<<<blocks, 1>>>(flag);
    CHECK(cudaGetLastError());
    CHECK(cudaLaunchKernelEx(&config, second, flag));
    CHECK(cudaDeviceSynchronize());
}

static void healthy(unsigned *words)
{
    unsigned counted = 0;
    CHECK(cudaMemset(words, 0, sizeof *words));
    count<<<BLOCKS, 32>>>(words);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&counted, words, sizeof counted, cudaMemcpyDeviceToHost));
    if (counted != BLOCKS * 32)
        std::_Exit(DEVICE_FAILED);
}

static void fault(const char *name, unsigned *words)
{
    void *much;
    size_t left, all;
    if (std::strcmp(name, "endless") == 0) {
        endless<<<1, 1>>>();
        CHECK(cudaDeviceSynchronize());
    } else if (std::strcmp(name, "deadlock") == 0) {
        pair(deadlocked, 1, late, words);
    } else if (std::strcmp(name, "starved") == 0) {
        pair(starving, BLOCKS, early, words);
    } else if (std::strcmp(name, "sticky") == 0) {
        astray<<<1, 1>>>((unsigned *)16);
        CHECK(cudaDeviceSynchronize());
    } else if (std::strcmp(name, "memory") == 0) {
        CHECK(cudaMemGetInfo(&left, &all));
        CHECK(cudaMalloc(&much, all + 1));
    }
}

static void run(const char *name)
{
    unsigned *words;
    current = name;
    std::printf("{\"record\":\"begin\",\"case\":\"%s\",\"deadline_s\":%d}\n", name, (int)LIMIT_S);
    CHECK(cudaMalloc(&words, 64));
    CHECK(cudaMemset(words, 0, 64));
    std::printf("{\"record\":\"progress\",\"case\":\"%s\",\"part\":\"fault\",\"done\":1,\"planned\":2}\n", name);
    std::fflush(stdout);
    fault(name, words);
    healthy(words);
    std::printf("{\"record\":\"case\",\"case\":\"%s\",\"status\":\"PASS\",\"trials\":{\"planned\":1,\"run\":1,\"exercised\":1},\"outcomes\":{}}\n"
                "{\"record\":\"end\",\"case\":\"%s\"}\n", name, name);
    std::fflush(stdout);
}

int main(int argc, char **argv)
{
    unsigned *words;
    current = "";
    if (argc > 1 && std::strcmp(argv[1], "--probe") == 0) {
        CHECK(cudaMalloc(&words, 64));
        healthy(words);
        return 0;
    }
    std::printf("{\"record\":\"start\"}\n");
    std::fflush(stdout);
    for (int i = 1; i + 1 < argc; i++) {
        if (std::strcmp(argv[i], "--case") == 0)
            run(argv[i + 1]);
    }
    std::printf("{\"record\":\"done\"}\n");
    return 0;
}
