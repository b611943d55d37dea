/* The tables of estimate_measured.c, measured: which splits of L1 and shared memory overlap, and what pdl_overlap_estimate
 * says of them. On demand, about 5 s on a GPU of compute capability 9.0 or newer:
 *
 *     nvcc -O2 -std=c++17 -arch=sm_90 -I ../.. measure_splits.cu -o measure_splits && ./measure_splits
 *
 * Prints the tables as estimate_measured.c has them. One block per multiprocessor on both sides; a pair overlapped if a block
 * of the primary saw the dependent before any block of it gave up, after about 40 us. Exit 0, 1 a CUDA error, 77 no such GPU.
 */
#include <cstdio>

#include "pdl.h"
#include "pdl_device.cuh"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                       \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

struct meeting {
    unsigned alive, gave_up, met;
};

__device__ static unsigned look(const unsigned *word)
{
    return *(const volatile unsigned *)word;
}

__device__ static void meet(meeting *m, int primary)
{
    const long long until = clock64() + 70000;
    unsigned met = 0;

    if (threadIdx.x != 0) {
        return;
    }
    if (!primary) {
        *(volatile unsigned *)&m->alive = 1;
        return;
    }
    pdl_trigger();
    while (!met && clock64() < until) {
        met = look(&m->alive);
    }
    if (!met) {
        atomicAdd(&m->gave_up, 1);
        __threadfence();
    } else if (look(&m->gave_up) == 0) {
        atomicAdd(&m->met, 1);
    }
}

__global__ void without_shared(meeting *m, int primary)
{
    meet(m, primary);
    __syncthreads();
}

__global__ void with_shared(meeting *m, int primary)
{
    __shared__ unsigned room[1024];

    ((volatile unsigned *)room)[threadIdx.x] = 0;
    meet(m, primary);
    __syncthreads();
    if (((volatile unsigned *)room)[threadIdx.x] != 0) { /* never: keeps the room */
        m->met = 0;
    }
}

struct side {
    int shared;
    unsigned threads, carveout;
};

static pdl_kernel kernels[2];
static meeting *meetings;
static int sms;

/* 20 launches of a pair: O overlapped and estimated so, . neither, Y overlapped only, N estimated only. */
static int try_pair(side first, side second, char *answer)
{
    pdl_options options[2] = PDL_ZERO;
    pdl_estimate estimate = PDL_ZERO;
    int overlapped = 0;

    options[0].carveout = first.carveout;
    options[1].carveout = second.carveout;
    options[1].overlap = PDL_OVERLAP_REQUIRED;
    const dim3 grid((unsigned)sms);
    const pdl_shape primary = {&kernels[first.shared], grid, dim3(first.threads), 0, &options[0]};
    const pdl_shape dependent = {&kernels[second.shared], grid, dim3(second.threads), 0, &options[1]};
    TRY(pdl_overlap_estimate(&estimate, &primary, &dependent));
    for (int trial = 0; trial < 20; trial++) {
        int yes = 1, no = 0;
        void *of_primary[] = {&meetings, &yes}, *of_dependent[] = {&meetings, &no};
        meeting seen;

        TRY(cudaMemset(meetings, 0, sizeof(*meetings)));
        TRY(pdl_launch(primary.kernel, grid, primary.block, of_primary, 0, 0, primary.options));
        TRY(pdl_launch(dependent.kernel, grid, dependent.block, of_dependent, 0, 0, dependent.options));
        TRY(cudaMemcpy(&seen, meetings, sizeof(seen), cudaMemcpyDeviceToHost));
        overlapped += seen.met != 0;
    }
    *answer = overlapped > 10 ? (estimate.may_overlap ? 'O' : 'Y') : (estimate.may_overlap ? 'N' : '.');
    return 0;
}

/* threads 0: they are what differs, else the carve-out. */
static int print_tables(const char *what, const unsigned *values, int count, unsigned threads)
{
    std::printf("    {\"%s\", %d, %u,\n", what, count, threads);
    for (int shared = 0; shared < 4; shared++) {
        for (int row = 0; row < count; row++) {
            char answers[16] = "";

            for (int column = 0; column < count; column++) {
                const side first = {shared >> 1, threads ? threads : values[row], threads ? values[row] : 0};
                const side second = {shared & 1, threads ? threads : values[column], threads ? values[column] : 0};

                if (try_pair(first, second, &answers[column]) != 0) {
                    return 1;
                }
            }
            std::printf("%s\"%s\"%s", row == 0 ? "      {" : " ", answers, row + 1 < count ? "," : "},\n");
        }
    }
    std::printf("    },\n");
    return 0;
}

int main()
{
    const unsigned threads[] = {32, 64, 96, 128, 256, 384, 512, 768, 1024};
    const unsigned carveouts[] = {0, PDL_CARVEOUT_NO_SHARED, 1, 4, 8, 14, 16, 25, 29, 50, 75, 100};
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("skipped: no GPU");
        return 77;
    }
    TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    TRY(cudaMalloc(&meetings, sizeof(*meetings)));
    TRY(pdl_kernel_init(&kernels[0], without_shared));
    TRY(pdl_kernel_init(&kernels[1], with_shared));
    if (!kernels[0].can_overlap) {
        std::printf("skipped: %s\n", pdl_reason_string(kernels[0].reason));
        return 77;
    }
    return print_tables("by threads", threads, 9, 0) || print_tables("by carveout", carveouts, 12, 128) ||
           print_tables("by carveout of 1024", carveouts, 12, 1024);
}
