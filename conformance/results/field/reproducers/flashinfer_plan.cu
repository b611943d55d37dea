/* flashinfer_plan.cu - does the plan for FlashInfer's Blackwell attention see the offsets that the kernel before it writes?
 *
 *     nvcc -std=c++17 -arch=sm_90 -I DATA/include -I DATA/cccl/cub -I DATA/cccl/thrust -I DATA/cccl/libcudacxx/include \
 *         -o flashinfer_plan flashinfer_plan.cu && ./flashinfer_plan
 *
 * DATA is flashinfer/data of the package flashinfer-python. The primary triggers first, works for 20 us and then writes the offsets;
 * then FlashInfer's own host function launches the plan, with overlap (as FlashInfer calls it) and without.
 * Exit code: 0 both plans are right every time; 1 one was wrong; 69 the program could not run.
 */
#include <flashinfer/attention/blackwell/plan.cuh>

#include <cstdio>

#define TRY(call)                                                                          \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            std::fprintf(stderr, "flashinfer_plan: %s: %s\n", #call, cudaGetErrorName(error_)); \
            return 69;                                                                     \
        }                                                                                  \
    } while (0)

enum { RUNS = 50, BATCH = 8, TILE = 128, BUCKETS = 4, WORK = BATCH * 64 };

struct plan {
    int *work, *tiles, *heads, *batches; /* on the device */
};

/* Any kernel that triggers early and writes the offsets later: a trigger publishes nothing, so this is a right program. */
__global__ void write_offsets(int *offsets, int length)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < 20000);
    if (threadIdx.x <= BATCH)
        offsets[threadIdx.x] = (int)threadIdx.x * length;
}

/* One primary and one plan; the number of work items that the plan counted, -1 on an error. */
static int planned(plan p, int *offsets, int length, bool overlap, cudaStream_t stream)
{
    int counted = -1;

    write_offsets<<<1, 32, 0, stream>>>(offsets, length);
    if (cudaGetLastError() != cudaSuccess ||
        flashinfer::plan_kernel_wrapper(offsets, offsets, nullptr, nullptr, p.work, p.tiles, p.heads, p.batches, TILE, BATCH, 1,
                                        BUCKETS, false, overlap, stream) != cudaSuccess ||
        cudaMemcpyAsync(&counted, p.work + BUCKETS, sizeof counted, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        return -1;
    return counted;
}

int main()
{
    int *words, *offsets, wrong[2] = { 0, 0 };
    cudaStream_t stream;
    plan p;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&words, 4 * WORK * sizeof *words));
    TRY(cudaMalloc(&offsets, (BATCH + 1) * sizeof *offsets));
    TRY(cudaMemset(offsets, 0, (BATCH + 1) * sizeof *offsets));
    p.work = words, p.tiles = words + WORK, p.heads = words + 2 * WORK, p.batches = words + 3 * WORK;
    if (planned(p, offsets, TILE, false, stream) < 0) /* both kernels are loaded now: the first launch never overlaps */
        return std::fprintf(stderr, "flashinfer_plan: the first launch failed\n"), 69;
    for (int run = 0; run < RUNS; run++)
        for (int overlap = 0; overlap < 2; overlap++) {
            int tiles_each = 1 + (2 * run + overlap) % 7; /* another length than before, so that old offsets give another plan */
            int counted = planned(p, offsets, tiles_each * TILE, overlap != 0, stream);

            if (counted < 0)
                return std::fprintf(stderr, "flashinfer_plan: %s\n", cudaGetErrorName(cudaGetLastError())), 69;
            wrong[overlap] += counted != tiles_each * BATCH;
        }
    std::printf("without overlap: %d of %d plans wrong; with overlap: %d of %d\n", wrong[0], RUNS, wrong[1], RUNS);
    return wrong[0] || wrong[1];
}
