/* early_source.cu - counts copies from pinned memory that read it before what comes before the copy in stream order has written it.
 *
 *     nvcc -arch=sm_90 -o early_source early_source.cu && ./early_source
 *
 * Stand-alone. In one stream a kernel holds; after it a host function, or a copy to the host, writes pinned memory. A copy in the same or
 * another stream reads that memory. What orders the two is the legacy default stream, the stream itself, or an event. A line is printed
 * for each combination that was wrong at least once.
 * Exit code: 0 no copy was wrong; 1 one was; 69 the program could not run.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                        \
    do {                                                                                 \
        cudaError_t error_ = (call);                                                     \
        if (error_ != cudaSuccess) {                                                     \
            fprintf(stderr, "early_source: %s: %s\n", #call, cudaGetErrorName(error_));  \
            return 69;                                                                   \
        }                                                                                \
    } while (0)

enum { RUNS = 40, STREAMS = 5, MOST = 1 << 20, HOLD_NS = 30000 };
enum writer { HOST_FUNCTION, COPY_TO_HOST, WRITERS };

static const char *const stream_name[STREAMS] = { "legacy", "blocking", "per-thread", "non-blocking", "another blocking" };
static const size_t sizes[] = { 64, 65536, 65600, MOST };

struct memory {
    cudaStream_t stream[STREAMS];
    cudaEvent_t event;
    int *pinned, *target, *words, value;
};

struct combination {
    int writes, reads;         /* streams */
    enum writer writer;
    int sync, by_event;        /* sync: by cudaMemcpy; by_event: the reading stream waits for an event of the writing one */
    size_t bytes;
};

__global__ void hold(long long ns)
{
    long long begin, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

static void CUDART_CB write_pinned(void *opaque)
{
    struct memory *memory = (struct memory *)opaque;

    *(volatile int *)memory->pinned = memory->value;
}

static int open_memory(struct memory *memory)
{
    memset(memory, 0, sizeof(*memory));
    memory->stream[0] = cudaStreamLegacy;
    memory->stream[2] = cudaStreamPerThread;
    TRY(cudaStreamCreate(&memory->stream[1]));
    TRY(cudaStreamCreateWithFlags(&memory->stream[3], cudaStreamNonBlocking));
    TRY(cudaStreamCreate(&memory->stream[4]));
    TRY(cudaEventCreateWithFlags(&memory->event, cudaEventDisableTiming));
    TRY(cudaHostAlloc((void **)&memory->pinned, MOST, cudaHostAllocMapped));
    TRY(cudaMalloc((void **)&memory->target, MOST));
    TRY(cudaMalloc((void **)&memory->words, MOST));
    return 0;
}

/* The legacy stream waits for every blocking one, and they for it; and each stream is in order. */
static int is_ordered(const struct combination *c)
{
    return c->by_event || c->writes == c->reads || (c->writes == 0 && c->reads != 3) || (c->reads == 0 && c->writes != 3);
}

static int run(struct memory *memory, const struct combination *c, int *wrong)
{
    cudaStream_t writes = memory->stream[c->writes], reads = memory->stream[c->reads];
    int got = 0;

    memory->value++;
    memset(memory->pinned, 0xEE, MOST);
    TRY(cudaMemset(memory->target, 0, MOST));
    TRY(cudaMemcpy(memory->words, &memory->value, sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaDeviceSynchronize());
    hold<<<1, 1, 0, writes>>>(HOLD_NS);
    TRY(cudaGetLastError());
    if (c->writer == HOST_FUNCTION)
        TRY(cudaLaunchHostFunc(writes, write_pinned, memory));
    else
        TRY(cudaMemcpyAsync(memory->pinned, memory->words, 64, cudaMemcpyDeviceToHost, writes));
    if (c->by_event) {
        TRY(cudaEventRecord(memory->event, writes));
        TRY(cudaStreamWaitEvent(reads, memory->event, 0));
    }
    if (c->sync)
        TRY(cudaMemcpy(memory->target, memory->pinned, c->bytes, cudaMemcpyHostToDevice));
    else
        TRY(cudaMemcpyAsync(memory->target, memory->pinned, c->bytes, cudaMemcpyHostToDevice, reads));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&got, memory->target, sizeof(got), cudaMemcpyDeviceToHost));
    *wrong += got != memory->value;
    return 0;
}

static int ask(struct memory *memory, const struct combination *c, int *any)
{
    int i, wrong = 0;

    for (i = 0; i < RUNS; i++)
        if (run(memory, c, &wrong) != 0)
            return 69;
    if (wrong)
        printf("%s in %s, then %s of %zu bytes in %s, in order by %s: %d of %d wrong\n", c->writer ? "copy to the host" : "host function",
               stream_name[c->writes], c->sync ? "cudaMemcpy" : "cudaMemcpyAsync", c->bytes, stream_name[c->reads],
               c->by_event ? "an event" : "the streams themselves", wrong, RUNS);
    *any |= wrong != 0;
    return 0;
}

int main()
{
    struct memory memory;
    int i, any = 0;

    if (open_memory(&memory) != 0)
        return 69;
    for (i = 0; i < STREAMS * STREAMS * WRITERS * 2 * 2 * 4; i++) {
        struct combination c = { i % STREAMS, i / STREAMS % STREAMS, (enum writer)(i / 25 % 2), i / 50 % 2, i / 100 % 2, sizes[i / 200] };
        if (is_ordered(&c) && !(c.sync && c.reads != 0) && ask(&memory, &c, &any) != 0) /* cudaMemcpy has no stream */
            return 69;
    }
    printf("%s\n", any ? "copies read their source too early" : "no copy was wrong");
    return any;
}
