/* nccl_symmetric.cu - does a symmetric collective of NCCL see what the kernel before it writes?
 *
 *     nvcc -std=c++17 -arch=sm_90 -o nccl_symmetric nccl_symmetric.cu -lnccl && ./nccl_symmetric
 *
 * Needs two GPUs with a direct connection, on which NCCL picks its symmetric kernels for this all-reduce (NCCL_DEBUG=INFO with
 * NCCL_DEBUG_SUBSYS=TUNING names the kernel). On each GPU a kernel triggers first, works for 0 or 1000 us and then
 * writes the input. The twin has a memset before the collective, which rules overlap out.
 * Exit code: 0 every sum is right; 1 one was wrong; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>

#define TRY(call)                                                                                   \
    do {                                                                                            \
        if ((call) != 0) {                                                                          \
            fprintf(stderr, "nccl_symmetric: %s failed (%s; %s)\n", #call, cudaGetErrorName(cudaGetLastError()), \
                    ncclGetLastError(NULL));                                                        \
            return 69;                                                                              \
        }                                                                                           \
    } while (0)

enum { GPUS = 2, RUNS = 50, WORDS = 4096, THREADS = 256, LATE_NS = 1000000 };

#define BYTES ((2 * WORDS + 1) * sizeof(float))

struct way {
    const char *name;
    unsigned late_ns;
    int apart; /* a memset between the two */
};

struct rank {
    ncclComm_t comm;
    cudaStream_t stream;
    ncclWindow_t window;
    float *words; /* input, then output, then one more */
};

/* Any kernel that triggers early and writes later: a trigger publishes nothing, so this is a right program. */
__global__ void write_input(float *words, float value, unsigned late_ns)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < late_ns);
    words[blockIdx.x * THREADS + threadIdx.x] = value;
}

static int all_reduce(struct rank *ranks, float value, const struct way *way)
{
    TRY(ncclGroupStart());
    for (int i = 0; i < GPUS; i++) {
        TRY(cudaSetDevice(i));
        write_input<<<WORDS / THREADS, THREADS, 0, ranks[i].stream>>>(ranks[i].words, value, way->late_ns);
        TRY(cudaGetLastError());
        if (way->apart)
            TRY(cudaMemsetAsync(ranks[i].words + 2 * WORDS, 0, sizeof(float), ranks[i].stream));
        TRY(ncclAllReduce(ranks[i].words, ranks[i].words + WORDS, WORDS, ncclFloat, ncclSum, ranks[i].comm, ranks[i].stream));
    }
    TRY(ncclGroupEnd());
    return 0;
}

/* 1 if a word of a sum is wrong, 0 if none is, -1 on an error. */
static int is_wrong(struct rank *ranks, float value, const struct way *way)
{
    static float sums[WORDS];
    int wrong = 0;

    if (all_reduce(ranks, value, way))
        return -1;
    for (int i = 0; i < GPUS; i++) {
        if (cudaSetDevice(i) != cudaSuccess || cudaStreamSynchronize(ranks[i].stream) != cudaSuccess ||
            cudaMemcpy(sums, ranks[i].words + WORDS, sizeof sums, cudaMemcpyDeviceToHost) != cudaSuccess)
            return -1;
        for (int word = 0; word < WORDS; word++)
            wrong |= sums[word] != GPUS * value;
    }
    return wrong;
}

int main(void)
{
    static const struct way ways[] = {
        { "natural", 0, 0 }, { "window of 1 ms", LATE_NS, 0 }, { "twin without overlap", LATE_NS, 1 } };
    struct rank ranks[GPUS];
    ncclComm_t comms[GPUS];
    int found, all = 0, turn = 0;

    TRY(cudaGetDeviceCount(&found));
    if (found < GPUS)
        return fprintf(stderr, "nccl_symmetric: needs two GPUs\n"), 69;
    TRY(ncclCommInitAll(comms, GPUS, NULL));
    for (int i = 0; i < GPUS; i++) {
        ranks[i].comm = comms[i];
        TRY(cudaSetDevice(i));
        TRY(cudaStreamCreateWithFlags(&ranks[i].stream, cudaStreamNonBlocking));
        TRY(ncclMemAlloc((void **)&ranks[i].words, BYTES));
    }
    TRY(ncclGroupStart());
    for (int i = 0; i < GPUS; i++)
        TRY(ncclCommWindowRegister(ranks[i].comm, ranks[i].words, BYTES, &ranks[i].window, NCCL_WIN_COLL_SYMMETRIC));
    TRY(ncclGroupEnd());
    if (is_wrong(ranks, 0, &ways[2]) < 0) /* loads the kernels */
        return fprintf(stderr, "nccl_symmetric: the first all-reduce failed: %s\n", ncclGetLastError(NULL)), 69;
    for (const struct way &way : ways) {
        int wrong = 0;

        for (int run = 0; run < RUNS; run++) {
            int found_wrong = is_wrong(ranks, (float)++turn, &way);

            if (found_wrong < 0)
                return fprintf(stderr, "nccl_symmetric: %s; %s\n", cudaGetErrorName(cudaGetLastError()), ncclGetLastError(NULL)), 69;
            wrong += found_wrong;
        }
        printf("%s: %d of %d all-reduces wrong\n", way.name, wrong, RUNS);
        all += wrong;
    }
    return all != 0;
}
