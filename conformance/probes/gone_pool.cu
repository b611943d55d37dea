/* gone_pool.cu - destroys a memory pool after its memory was freed in a stream, and counts the processes that die.
 *
 *     nvcc -arch=sm_90 -o gone_pool gone_pool.cu && ./gone_pool [PROCESSES]
 *
 * Stand-alone. Again and again each process makes a pool, allocates from it in a stream, launches a kernel there, frees, does what its row says,
 * and waits for the device. A row says how many processes ended well, died of a signal, or had a call refused. A process that hangs is ended
 * after 20 seconds.
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

enum { BYTES = 4096, ALLOCATIONS = 64 };
enum held { IDLE, BUSY };      /* the stream's work has ended when the memory is freed, or still runs */
enum streams { ONE, STAY, GO };
static const char *const streams_name[] = { "one for all", "one each, which stay", "one each, destroyed at once" };
enum end { KEPT, TRIMMED, DESTROYED, WAITED };
static const char *const held_name[] = { "ended", "running" };
static const char *const end_name[] = { "kept", "trimmed", "destroyed", "destroyed after the stream was waited for" };

struct row {
    enum held held;
    enum end end;
    int keeps;                 /* the pool's release threshold is at its highest; else it is 0 */
    enum streams streams;
};
static const struct row rows[] = {
    { BUSY, DESTROYED, 1, STAY }, { BUSY, DESTROYED, 0, STAY }, { IDLE, DESTROYED, 1, STAY }, { BUSY, WAITED, 1, STAY },
    { BUSY, TRIMMED, 1, STAY },   { BUSY, KEPT, 1, STAY },      { BUSY, DESTROYED, 1, GO },   { BUSY, DESTROYED, 0, GO },
    { BUSY, DESTROYED, 1, ONE },  { BUSY, DESTROYED, 0, ONE },  { IDLE, DESTROYED, 1, ONE },  { BUSY, WAITED, 1, ONE },
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
    cudaStream_t stream = NULL;
    cudaMemPool_t pool;
    unsigned *words;

    for (int i = 0; i < ALLOCATIONS; i++) {
        if (i == 0 || row->streams != ONE)
            TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        pool = make_pool(row->keeps);
        TRY(cudaMallocFromPoolAsync((void **)&words, BYTES, pool, stream));
        TRY(cudaStreamSynchronize(stream));
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
        if (row->streams == GO)
            TRY(cudaStreamDestroy(stream));
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
            alarm(20);
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
    int processes = argc > 1 ? atoi(argv[1]) : 4, all_fine = 0, all_died = 0;

    if (processes < 1 || processes > 10000) {
        fprintf(stderr, "usage: gone_pool [PROCESSES], from 1 to 10000\n");
        return 64;
    }
    printf("| the streams | their work | the pool | its release threshold | ended well | died | refused |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int fine = 0, died = 0, refused = 0, wrong = run_row(&rows[i], processes, &fine, &died, &refused);
        if (wrong)
            return wrong;
        printf("| %s | %s | %s | %s | %d | %d | %d |\n", streams_name[rows[i].streams], held_name[rows[i].held], end_name[rows[i].end],
               rows[i].keeps ? "highest" : "0", fine, died, refused);
        all_fine += fine;
        all_died += died;
    }
    return all_died ? 1 : all_fine ? 0 : 69;
}
