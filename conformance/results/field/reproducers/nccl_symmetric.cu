/* nccl_symmetric.cu - does a symmetric collective of NCCL see what the kernel before it writes?
 *
 *     nvcc -std=c++17 -arch=sm_90 -o nccl_symmetric nccl_symmetric.cu -lnccl && ./nccl_symmetric
 *
 * Needs two GPUs with a direct connection, on which NCCL picks its symmetric kernels for this all-reduce (NCCL_DEBUG=INFO with
 * NCCL_DEBUG_SUBSYS=TUNING names the kernel). On each GPU a kernel triggers first, works for 20 us and then writes the input.
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

enum { GPUS = 2, RUNS = 50, WORDS = 4096, THREADS = 256 };

struct rank {
    ncclComm_t comm;
    cudaStream_t stream;
    ncclWindow_t window;
    float *words; /* input, then output */
};

/* Any kernel that triggers early and writes later: a trigger publishes nothing, so this is a right program. */
__global__ void write_input(float *words, float value)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < 20000);
    words[blockIdx.x * THREADS + threadIdx.x] = value;
}

static int all_reduce(struct rank *ranks, float value)
{
    TRY(ncclGroupStart());
    for (int i = 0; i < GPUS; i++) {
        TRY(cudaSetDevice(i));
        write_input<<<WORDS / THREADS, THREADS, 0, ranks[i].stream>>>(ranks[i].words, value);
        TRY(cudaGetLastError());
        TRY(ncclAllReduce(ranks[i].words, ranks[i].words + WORDS, WORDS, ncclFloat, ncclSum, ranks[i].comm, ranks[i].stream));
    }
    TRY(ncclGroupEnd());
    return 0;
}

int main(void)
{
    static float sums[WORDS];
    struct rank ranks[GPUS];
    ncclComm_t comms[GPUS];
    int found, wrong = 0;

    TRY(cudaGetDeviceCount(&found));
    if (found < GPUS)
        return fprintf(stderr, "nccl_symmetric: needs two GPUs\n"), 69;
    TRY(ncclCommInitAll(comms, GPUS, NULL));
    for (int i = 0; i < GPUS; i++) {
        ranks[i].comm = comms[i];
        TRY(cudaSetDevice(i));
        TRY(cudaStreamCreateWithFlags(&ranks[i].stream, cudaStreamNonBlocking));
        TRY(ncclMemAlloc((void **)&ranks[i].words, 2 * WORDS * sizeof(float)));
    }
    TRY(ncclGroupStart());
    for (int i = 0; i < GPUS; i++)
        TRY(ncclCommWindowRegister(ranks[i].comm, ranks[i].words, 2 * WORDS * sizeof(float), &ranks[i].window, NCCL_WIN_COLL_SYMMETRIC));
    TRY(ncclGroupEnd());
    for (int run = -1; run < RUNS; run++) { /* the first one loads the kernels */
        int stale = 0;

        if (all_reduce(ranks, (float)(run + 2)))
            return 69;
        for (int i = 0; i < GPUS; i++) {
            TRY(cudaSetDevice(i));
            TRY(cudaStreamSynchronize(ranks[i].stream));
            TRY(cudaMemcpy(sums, ranks[i].words + WORDS, sizeof sums, cudaMemcpyDeviceToHost));
            for (int word = 0; word < WORDS; word++)
                stale += sums[word] != (float)(GPUS * (run + 2));
        }
        wrong += run >= 0 && stale != 0;
    }
    printf("%d of %d all-reduces wrong\n", wrong, RUNS);
    return wrong != 0;
}
