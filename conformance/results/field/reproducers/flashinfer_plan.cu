/* flashinfer_plan.cu - does the plan for FlashInfer's Blackwell attention see the offsets that the kernel before it writes?
 *
 *     nvcc -std=c++17 -arch=sm_90 -I DATA/include -I DATA/cccl/cub -I DATA/cccl/thrust -I DATA/cccl/libcudacxx/include \
 *         -o flashinfer_plan flashinfer_plan.cu && ./flashinfer_plan
 *
 * DATA is flashinfer/data of the package flashinfer-python. The primary triggers first, works for 0 or 200 us and then writes the
 * offsets; then FlashInfer's own host function launches the plan, with overlap (as FlashInfer calls it); the twin without.
 * Exit code: 0 every plan is right; 1 one was wrong; 69 the program could not run.
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

enum { RUNS = 50, BATCH = 8, TILE = 128, BUCKETS = 4, WORK = BATCH * 64, LATE_NS = 200000 };

struct plan {
    int *work, *tiles, *heads, *batches; /* on the device */
};

/* Any kernel that triggers early and writes the offsets later: a trigger publishes nothing, so this is a right program. */
__global__ void write_offsets(int *offsets, int length, unsigned late_ns)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < late_ns);
    if (threadIdx.x <= BATCH)
        offsets[threadIdx.x] = (int)threadIdx.x * length;
}

/* One primary and one plan; the number of work items that the plan counted, -1 on an error. */
static int planned(plan p, int *offsets, int length, unsigned late_ns, bool overlap, cudaStream_t stream)
{
    int counted = -1;

    write_offsets<<<1, 32, 0, stream>>>(offsets, length, late_ns);
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
    static const struct { const char *name; unsigned late_ns; bool overlap; } ways[] = {
        { "natural", 0, true }, { "window of 200 us", LATE_NS, true }, { "twin without overlap", LATE_NS, false } };
    int *words, *offsets, all = 0, turn = 0;
    cudaStream_t stream;
    plan p;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&words, 4 * WORK * sizeof *words));
    TRY(cudaMalloc(&offsets, (BATCH + 1) * sizeof *offsets));
    TRY(cudaMemset(offsets, 0, (BATCH + 1) * sizeof *offsets));
    p.work = words, p.tiles = words + WORK, p.heads = words + 2 * WORK, p.batches = words + 3 * WORK;
    if (planned(p, offsets, TILE, 0, false, stream) < 0) /* both kernels are loaded now: the first launch never overlaps */
        return std::fprintf(stderr, "flashinfer_plan: the first launch failed\n"), 69;
    for (const auto &way : ways) {
        int wrong = 0;

        for (int run = 0; run < RUNS; run++) {
            int tiles_each = 1 + ++turn % 7; /* another length than before, so that old offsets give another plan */
            int counted = planned(p, offsets, tiles_each * TILE, way.late_ns, way.overlap, stream);

            if (counted < 0)
                return std::fprintf(stderr, "flashinfer_plan: %s\n", cudaGetErrorName(cudaGetLastError())), 69;
            wrong += counted != tiles_each * BATCH;
        }
        std::printf("%s: %d of %d plans wrong\n", way.name, wrong, (int)RUNS);
        all += wrong;
    }
    return all != 0;
}
