// clean_chain.cu - correct kernels only: a chain in a graph, run many times, its words copied to the host after each run
//
//     clean_chain [RUNS [DEVICES [race]]]      race: on the last device one kernel does not wait for the one before it
//
// With several devices all run at the same time, each copies its neighbour's words as well, and the odd ones use their default stream.
#include "clean_kernels.cuh"

enum { MOST_DEVICES = 8 };

struct place {
    words words_;
    unsigned *neighbours, *host, *neighbours_on_host;
    cudaStream_t stream;  // 0: the device's default stream
    cudaEvent_t done;
};

static void prepare(place *at, int device)
{
    const size_t bytes = WORDS * sizeof(unsigned);
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&at->words_.now, bytes));
    CHECK(cudaMalloc(&at->words_.next, bytes));
    CHECK(cudaMalloc(&at->neighbours, bytes));
    CHECK(cudaMallocHost(&at->host, bytes));
    CHECK(cudaMallocHost(&at->neighbours_on_host, bytes));
    CHECK(cudaEventCreateWithFlags(&at->done, cudaEventDisableTiming));
    if (device % 2 == 0) {
        CHECK(cudaStreamCreateWithFlags(&at->stream, cudaStreamNonBlocking));
    }
}

static cudaGraphExec_t chain(place *at, unsigned seed, bool race)
{
    cudaStream_t captured;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
    launch_fill(at->words_, seed, captured);
    launch_steps(at->words_, 5, race, captured);
    CHECK(cudaStreamEndCapture(captured, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(captured));
    return exec;
}

static void one_run(place *places, int devices, unsigned seed, bool race)
{
    const size_t bytes = WORDS * sizeof(unsigned);
    cudaGraphExec_t exec[MOST_DEVICES];
    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        exec[i] = chain(&places[i], seed + (unsigned)i, race && i + 1 == devices);
    }
    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaGraphLaunch(exec[i], places[i].stream));
        CHECK(cudaEventRecord(places[i].done, places[i].stream));
        CHECK(cudaMemcpyAsync(places[i].host, places[i].words_.now, bytes, cudaMemcpyDeviceToHost, places[i].stream));
    }
    for (int i = 0, next = 1 % devices; devices > 1 && i < devices; i++, next = (i + 1) % devices) {
        place *at = &places[i];
        CHECK(cudaSetDevice(i));
        CHECK(cudaStreamWaitEvent(at->stream, places[next].done, 0));
        CHECK(cudaMemcpyPeerAsync(at->neighbours, i, places[next].words_.now, next, bytes, at->stream));
        CHECK(cudaMemcpyAsync(at->neighbours_on_host, at->neighbours, bytes, cudaMemcpyDeviceToHost, at->stream));
    }
    for (int i = 0; i < devices; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaStreamSynchronize(places[i].stream));
        CHECK(cudaGraphExecDestroy(exec[i]));
    }
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)std::atoi(argv[1]) : 50;
    int devices = argc > 2 ? std::atoi(argv[2]) : 1;
    static place places[MOST_DEVICES];
    if (devices < 1 || devices > MOST_DEVICES) {
        std::fprintf(stderr, "clean_chain uses 1 to %d devices\n", (int)MOST_DEVICES);
        return 64;
    }
    for (int device = 0; device < devices; device++) {
        prepare(&places[device], device);
    }
    for (unsigned run = 0; run < runs; run++) {
        one_run(places, devices, run + 1, argc > 3);
    }
    return 0;
}
