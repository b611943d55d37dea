/* gone_pool.cu - destroys a memory pool after its memory was freed in a stream, and counts the processes that die.
 *
 *     nvcc -arch=sm_90 -o gone_pool gone_pool.cu && ./gone_pool [PROCESSES]
 *
 * Stand-alone. Each process makes a pool, allocates from it in a stream, launches a kernel there, frees, does what its row says, and waits for
 * the device. A row says how many processes ended well, died of a signal, or had a call refused.
 * Exit code: 0 no process died; 1 one did; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY(call)                                                                     \
    do {                                                                              \
        cudaError_t error_ = (call);                                                  \
        if (error_ != cudaSuccess) {                                                  \
            fprintf(stderr, "gone_pool: %s: %s\n", #call, cudaGetErrorName(error_)); \
            _exit(69);                                                                \
        }                                                                             \
    } while (0)

enum { BYTES = 4096, ALLOCATIONS = 8 };
enum held { IDLE, BUSY };      /* the stream's work has ended when the memory is freed, or still runs */
enum end { KEPT, TRIMMED, DESTROYED, WAITED };
static const char *const held_name[] = { "ended", "running" };
static const char *const end_name[] = { "kept", "trimmed", "destroyed", "destroyed after the stream was waited for" };

struct row {
    enum held held;
    enum end end;
    int keeps;                 /* the pool's release threshold is at its highest; else it is 0 */
};
static const struct row rows[] = {
    { BUSY, DESTROYED, 1 }, { BUSY, DESTROYED, 0 }, { IDLE, DESTROYED, 1 }, { IDLE, DESTROYED, 0 },
    { BUSY, WAITED, 1 },    { BUSY, WAITED, 0 },    { BUSY, TRIMMED, 1 },   { BUSY, KEPT, 1 },
};

__global__ void store_late(unsigned *words, unsigned ns)
{
    for (unsigned i = 0; i < ns / 1000; i++)
        __nanosleep(1000);
    words[threadIdx.x] = 1;
}

static cudaMemPool_t make_pool(int keeps)
{
    unsigned long long most = ~0ull;
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    TRY(cudaMemPoolCreate(&pool, &props));
    if (keeps)
        TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most));
    return pool;
}

static void run(const struct row *row)
{
    cudaStream_t stream;
    cudaMemPool_t pool;
    unsigned *words;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < ALLOCATIONS; i++) {
        pool = make_pool(row->keeps);
        TRY(cudaMallocFromPoolAsync((void **)&words, BYTES, pool, stream));
        store_late<<<1, 32, 0, stream>>>(words, row->held == BUSY ? 200000 : 0);
        TRY(cudaGetLastError());
        if (row->held == IDLE)
            TRY(cudaStreamSynchronize(stream));
        TRY(cudaFreeAsync(words, stream));
        if (row->end == WAITED)
            TRY(cudaStreamSynchronize(stream));
        if (row->end == TRIMMED)
            TRY(cudaMemPoolTrimTo(pool, 0));
        if (row->end == DESTROYED || row->end == WAITED)
            TRY(cudaMemPoolDestroy(pool));
        TRY(cudaDeviceSynchronize());
    }
}

static int run_row(const struct row *row, int processes, int *fine, int *died, int *refused)
{
    for (int i = 0; i < processes; i++) {
        pid_t child;
        int status;
        fflush(stdout);
        child = fork();
        if (child < 0)
            return 69;
        if (child == 0) {
            run(row);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child)
            return 69;
        ++*(WIFSIGNALED(status) ? died : WEXITSTATUS(status) ? refused : fine);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 8, all_fine = 0, all_died = 0;

    if (processes < 1 || processes > 10000) {
        fprintf(stderr, "usage: gone_pool [PROCESSES], from 1 to 10000\n");
        return 64;
    }
    printf("| the stream's work | the pool | its release threshold | ended well | died | refused |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int fine = 0, died = 0, refused = 0, wrong = run_row(&rows[i], processes, &fine, &died, &refused);
        if (wrong)
            return wrong;
        printf("| %s | %s | %s | %d | %d | %d |\n", held_name[rows[i].held], end_name[rows[i].end], rows[i].keeps ? "highest" : "0", fine, died, refused);
        all_fine += fine;
        all_died += died;
    }
    return all_died ? 1 : all_fine ? 0 : 69;
}
