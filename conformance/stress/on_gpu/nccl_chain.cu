// nccl_chain.cu - two processes, a GPU each: a chain of kernels with PDL before and after a collective of NCCL, in a graph
//
//     nccl_chain LIBRARY [RUNS [race]]      LIBRARY is libnccl.so.2; race: the second process has a kernel that does not wait
//
// NCCL is loaded by its name, because PyTorch brings it without its header. After each run the words are copied to the host.
#include "clean_kernels.cuh"

#include <cerrno>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, NCCL_UINT32 = 3, NCCL_SUM = 0 };
struct unique_id {
    char bytes[128];
};
typedef void *communicator;
static struct {
    int (*unique)(unique_id *);
    int (*begin)(communicator *, int, unique_id, int);
    int (*sum)(const void *, void *, size_t, int, int, communicator, cudaStream_t);
    int (*end)(communicator);
} nccl;

static void *found(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        std::fprintf(stderr, "the library has no %s\n", name);
        std::exit(69);
    }
    return function;
}

#define NCCL(call)                                                       \
    do {                                                                 \
        int code = (call);                                               \
        if (code != 0) {                                                 \
            std::fprintf(stderr, "%s: NCCL says %d\n", #call, code);     \
            std::exit(69);                                               \
        }                                                                \
    } while (0)

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(69);
    }
    *(void **)&nccl.unique = found(library, "ncclGetUniqueId");
    *(void **)&nccl.begin = found(library, "ncclCommInitRank");
    *(void **)&nccl.sum = found(library, "ncclAllReduce");
    *(void **)&nccl.end = found(library, "ncclCommDestroy");
}

static cudaGraphExec_t chain(words *place, unsigned seed, bool race, communicator all, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_fill(*place, seed, stream);
    launch_steps(*place, 3, race, stream);
    NCCL(nccl.sum(place->now, place->next, WORDS, NCCL_UINT32, NCCL_SUM, all, stream));
    unsigned *other = place->now;
    place->now = place->next;
    place->next = other;
    launch_steps(*place, 3, race, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static int work(int rank, const unique_id &id, unsigned runs, bool race)
{
    const size_t bytes = WORDS * sizeof(unsigned);
    words place;
    unsigned *host;
    cudaStream_t stream;
    communicator all;
    CHECK(cudaSetDevice(rank));
    CHECK(cudaMalloc(&place.now, bytes));
    CHECK(cudaMalloc(&place.next, bytes));
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    NCCL(nccl.begin(&all, RANKS, id, rank));
    for (unsigned run = 0; run < runs; run++) {
        cudaGraphExec_t exec = chain(&place, 2 * run + (unsigned)rank + 1, race, all, stream);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(host, place.now, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(exec));
    }
    NCCL(nccl.end(all));
    return 0;
}

// A process whose partner has failed would wait for it for ever.
static void partner_ended(int)
{
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) > 0 && status != 0) {
        _exit(69);
    }
}

// The first process makes the name by which both meet, after the fork: nothing of CUDA may be started before one.
int main(int argc, char **argv)
{
    int to_second[2];
    unsigned runs = argc > 2 ? (unsigned)std::atoi(argv[2]) : 20;
    bool race = argc > 3;
    unique_id id = {};
    if (argc < 2 || pipe(to_second) != 0) {
        std::fprintf(stderr, "nccl_chain LIBRARY [RUNS [race]]\n");
        return 64;
    }
    signal(SIGCHLD, partner_ended);
    pid_t second = fork();
    load(argv[1]);
    if (second == 0) {
        close(to_second[1]);
        return read(to_second[0], &id, sizeof id) == (ssize_t)sizeof id ? work(1, id, runs, race) : 69;
    }
    close(to_second[0]);
    NCCL(nccl.unique(&id));
    if (second < 0 || write(to_second[1], &id, sizeof id) != (ssize_t)sizeof id) {
        return 69;
    }
    int code = work(0, id, runs, false);
    int status = 0;
    pid_t ended;
    do {
        ended = waitpid(second, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended == second && status != 0 ? 69 : code;
}
