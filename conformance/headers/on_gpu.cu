// What only a GPU can say about pdl.h: how the real runtime answers where elsewhere the model answers for it.
// nvcc -O2 -arch=native -DPDL_DEBUG=1 -I. conformance/headers/on_gpu.cu -o on_gpu && ./on_gpu
// pdl::launch and pdl_launch_driver, too: in a capture at first use, from 64 threads, in the place of cudaLaunchKernelEx.
// Exit codes: 0 as documented, 1 not so, 77 no GPU of compute capability 9.0 or newer.
#include <pthread.h>
#include <stdio.h>

#include "pdl.h"
#include "pdl_device.cuh"

static int failed;

#define EXPECT_IS(value, wanted)                                                                                       \
    do {                                                                                                               \
        const long long value_ = static_cast<long long>(value), wanted_ = static_cast<long long>(wanted);              \
        printf("%s %s is %lld, wanted %s\n", value_ == wanted_ ? "ok " : "NOT", #value, value_, #wanted);              \
        failed |= value_ != wanted_;                                                                                   \
    } while (0)

struct words {
    int started; // by the dependent, first thing
    int seen;    // by the primary: the dependent had started
    int stored;  // by the primary, last thing
    int read;    // by the dependent, after its wait
};

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// Triggers, then gives the dependent 200 us to start. One that starts in the last 20 us does not count: some blocks have
// left by then, and what they held is free.
__global__ void primary(words *w)
{
    const unsigned long long end = now() + 200000;

    pdl_trigger();
    while (atomicAdd(&w->started, 0) == 0 && now() < end) {
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        w->seen = now() + 20000 < end;
        w->stored = 1;
    }
}

template <int static_ints> __global__ void dependent(words *w)
{
    __shared__ int box[static_ints];

    box[threadIdx.x % static_ints] = 1;
    if (threadIdx.x == 0) {
        atomicExch(&w->started, box[0]);
    }
    pdl_wait();
    if (threadIdx.x == 0) {
        pdl_fresh(w)->read = pdl_fresh(w)->stored;
    }
}

__global__ void dynamic_dependent(words *w)
{
    if (threadIdx.x == 0) {
        atomicExch(&w->started, 1);
    }
    pdl_wait();
    if (threadIdx.x == 0) {
        pdl_fresh(w)->read = pdl_fresh(w)->stored;
    }
}

static cudaStream_t stream;
static words *device_words;

// Launches the pair, compares what the estimate says with what happened. An estimate may be too hopeful, never the reverse.
static void pair(const char *name, void (*second_func)(words *), pdl_shape first, pdl_shape second)
{
    pdl_kernel a = PDL_ZERO, b = PDL_ZERO;
    pdl_estimate estimate = PDL_ZERO;
    words w = {0, 0, 0, 0};
    int overlapped = 0;

    EXPECT_IS(pdl_kernel_init(&a, primary), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&b, second_func), cudaSuccess);
    first.kernel = &a;
    second.kernel = &b;
    EXPECT_IS(pdl_overlap_estimate(&estimate, &first, &second), cudaSuccess);
    for (int i = 0; i < 20 && !failed; i++) {
        failed |= cudaMemset(device_words, 0, sizeof w) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess ||
                  pdl_launch(&a, primary, first.grid, first.block, first.shared_bytes, stream, first.options,
                             device_words) != cudaSuccess ||
                  pdl_launch(&b, second_func, second.grid, second.block, second.shared_bytes, stream, second.options,
                             device_words) != cudaSuccess ||
                  cudaMemcpyAsync(&w, device_words, sizeof w, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
                  cudaStreamSynchronize(stream) != cudaSuccess || w.read != 1;
        overlapped += w.seen;
    }
    printf("%s %s: overlapped %d of 20, estimate: %s\n", overlapped && !estimate.may_overlap ? "NOT" : "ok ", name, overlapped,
           pdl_reason_string(estimate.reason));
    failed |= overlapped && !estimate.may_overlap;
}

static void pairs(const cudaDeviceProp &p)
{
    const unsigned sms = static_cast<unsigned>(p.multiProcessorCount);
    const int most = static_cast<int>(p.sharedMemPerBlockOptin);
    pdl_options asks = PDL_ZERO, carveout = PDL_ZERO, cooperative = PDL_ZERO;
    pdl_shape first = PDL_ZERO, second = PDL_ZERO;

    asks.overlap = cooperative.overlap = PDL_OVERLAP_IF_POSSIBLE;
    cooperative.cooperative = 1;
    carveout.carveout = 25;
    first.grid = second.grid = sms;
    first.block = second.block = 128;
    second.options = &asks;
    pair("small", dynamic_dependent, first, second);
    second.options = &cooperative;
    pair("cooperative dependent", dynamic_dependent, first, second);
    second.options = nullptr;
    pair("not asked", dynamic_dependent, first, second);
    second.options = &asks;
    pair("4 KiB static behind none", dependent<1024>, first, second);
    first.options = &carveout;
    pair("4 KiB static, primary's carve-out 25 %", dependent<1024>, first, second);
    first.options = nullptr;
    first.grid = sms * static_cast<unsigned>(p.maxThreadsPerMultiProcessor / 1024);
    first.block = 1024;
    pair("every thread taken", dynamic_dependent, first, second);
    first.grid = sms;
    first.block = 128;
    EXPECT_IS(cudaFuncSetAttribute(primary, cudaFuncAttributeMaxDynamicSharedMemorySize, most), cudaSuccess);
    EXPECT_IS(cudaFuncSetAttribute(dynamic_dependent, cudaFuncAttributeMaxDynamicSharedMemorySize, most), cudaSuccess);
    first.shared_bytes = second.shared_bytes = static_cast<size_t>(most);
    pair("all shared memory twice", dynamic_dependent, first, second);
}

// Errors: whose, and what they leave behind.
static void errors()
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    cudaEvent_t timing;

    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernel, primary), cudaSuccess);
    EXPECT_IS(cudaGetLastError(), cudaSuccess); // PDL_DEBUG counted the parameters and left no trace
    EXPECT_IS(kernel.num_params, PDL_DEBUG && PDL_HAS_PARAM_INFO ? 1 : -1);
    EXPECT_IS(kernel.can_overlap, 1);
    printf("    ptx_version %d, binary_version %d, driver_version %d\n", kernel.ptx_version, kernel.binary_version,
           kernel.driver_version);
    EXPECT_IS(cudaEventCreate(&timing), cudaSuccess);
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = timing;
    EXPECT_IS(cudaMemset(device_words, 0, sizeof(words)), cudaSuccess);
    EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_IS(pdl_launch(&kernel, primary, 1, 1, 0, stream, &options, device_words), cudaErrorNotSupported);
    EXPECT_IS(cudaStreamSynchronize(stream), cudaSuccess);
    words w = {0, 0, 0, 0};
    EXPECT_IS(cudaMemcpy(&w, device_words, sizeof w, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_IS(w.stored, 0); // nothing ran
    EXPECT_IS(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT_IS(cudaSetDevice(9999), cudaErrorInvalidDevice);
    options.event = nullptr;
    EXPECT_IS(pdl_launch(&kernel, primary, 0, 1, 0, stream, &options, device_words), cudaErrorInvalidConfiguration);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice); // the older one is still there
}

// ---- pdl::launch and pdl_launch_driver ----

template <int number> __global__ void count_up(int *counter)
{
    pdl_trigger();
    pdl_wait();
    atomicAdd(counter, number);
}

static int *counter;

static int counted()
{
    int value = -1;

    EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_IS(cudaMemcpy(&value, counter, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_IS(cudaMemset(counter, 0, sizeof value), cudaSuccess);
    EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess); // the stream does not wait for that memset
    return value;
}

// The dependent really starts early, and sees what the primary stored, when both are launched in one line.
static void one_line()
{
    words w = {0, 0, 0, 0};
    int seen = 0;

    for (int i = 0; i < 20; i++) {
        EXPECT_IS(cudaMemset(device_words, 0, sizeof w), cudaSuccess);
        EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_IS(pdl::launch(primary, 1, 32, 0, stream, pdl::overlap, device_words), cudaSuccess);
        EXPECT_IS(pdl::launch(dynamic_dependent, 1, 32, 0, stream, pdl::overlap_required, device_words), cudaSuccess);
        EXPECT_IS(cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_IS(cudaMemcpy(&w, device_words, sizeof w, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_IS(w.read, 1);
        seen += w.seen;
    }
    printf("%s pdl::launch: overlapped %d of 20\n", seen >= 10 ? "ok " : "NOT", seen);
    failed |= seen < 10; // the first launch of each loads it
    EXPECT_IS(pdl::launch(primary, 0, 32, 0, stream, pdl::overlap, device_words) != cudaSuccess, 1);
    EXPECT_IS(cudaGetLastError() != cudaSuccess, 1); // what a launch check that reads the last error sees
    unsigned answer = PDL_IMPL_UNKNOWN;
    EXPECT_IS(pdl_impl_answer(reinterpret_cast<const void *>(primary), &answer), cudaSuccess);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(primary), 0), PDL_IMPL_OVERLAPS); // not asked again
}

template <int number> static void captured_first_use(cudaStreamCaptureMode mode)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    EXPECT_IS(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    EXPECT_IS(pdl::launch(count_up<number>, 1, 1, 0, stream, pdl::overlap, counter), cudaSuccess);
    EXPECT_IS(pdl::launch(count_up<number>, 1, 1, 0, stream, pdl::overlap, counter), cudaSuccess);
    EXPECT_IS(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphNode_t nodes[8];
    pdl_edge_data data[4];
    size_t edges = 4, programmatic = 0;
    EXPECT_IS(pdl_graph_count_programmatic(graph, &edges, nodes, data, &programmatic), cudaSuccess);
    EXPECT_IS(programmatic, 1);
    EXPECT_IS(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_IS(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_IS(counted(), 2 * number);
    EXPECT_IS(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
}

static void in_the_place_of_the_template()
{
    cudaLaunchAttribute priority = {};
    cudaLaunchConfig_t config = {};

    priority.id = cudaLaunchAttributePriority;
    config.gridDim = config.blockDim = dim3(2);
    config.stream = stream;
    config.attrs = &priority;
    config.numAttrs = 1;
    EXPECT_IS(pdl::launch(&config, count_up<7>, counter), cudaSuccess);
    EXPECT_IS(counted(), 28);
}

static void by_the_driver()
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    cudaFunction_t function;
    void *args[] = {&counter};

    EXPECT_IS(cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(count_up<9>)), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function), cudaSuccess);
    EXPECT_IS(kernel.can_overlap, 1);
    EXPECT_IS(kernel.ptx_version, 90);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl_launch_driver(&kernel, dim3(3), dim3(1), args, 0, stream, &options), cudaSuccess);
    EXPECT_IS(pdl_launch_driver(&kernel, dim3(1), dim3(1), args, 1 << 30, stream, &options), cudaErrorInvalidValue);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_IS(counted(), 27);
}

// Events without overlap of the launch itself.
static void events_alone()
{
    pdl_options options = PDL_ZERO;
    cudaEvent_t event, completion;

    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    options.event = event;
    options.launch_completion_event = completion;
    EXPECT_IS(pdl::launch(count_up<11>, 1, 1, 0, stream, options, counter), cudaSuccess);
    EXPECT_IS(cudaEventSynchronize(event), cudaSuccess);
    EXPECT_IS(cudaEventSynchronize(completion), cudaSuccess);
    EXPECT_IS(counted(), 11);
}

enum { HOST_THREADS = 64, LAUNCHES = 200 };
static pthread_barrier_t begin;

static void *launches_many(void *)
{
    size_t wrong = 0;
    cudaStream_t own;

    wrong += cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < LAUNCHES; i++) {
        wrong += pdl::launch(count_up<13>, 1, 1, 0, own, pdl::overlap, counter) != cudaSuccess;
    }
    wrong += cudaStreamSynchronize(own) != cudaSuccess;
    return reinterpret_cast<void *>(wrong);
}

static void from_many_threads()
{
    pthread_t threads[HOST_THREADS];
    size_t wrong = 0;

    EXPECT_IS(pthread_barrier_init(&begin, nullptr, HOST_THREADS), 0);
    for (pthread_t &thread : threads) {
        EXPECT_IS(pthread_create(&thread, nullptr, launches_many, nullptr), 0);
    }
    for (pthread_t &thread : threads) {
        void *result = nullptr;

        EXPECT_IS(pthread_join(thread, &result), 0);
        wrong += reinterpret_cast<size_t>(result);
    }
    EXPECT_IS(wrong, 0);
    EXPECT_IS(counted(), 13 * HOST_THREADS * LAUNCHES);
}

int main()
{
    cudaDeviceProp properties;
    int device = 0;

    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
        properties.major < 9) {
        printf("skipped: no GPU of compute capability 9.0 or newer\n");
        return 77;
    }
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(cudaMalloc(&device_words, sizeof(words)), cudaSuccess);
    EXPECT_IS(cudaMalloc(&counter, sizeof(int)), cudaSuccess);
    EXPECT_IS(cudaMemset(counter, 0, sizeof(int)), cudaSuccess);
    EXPECT_IS(cudaDeviceSynchronize(), cudaSuccess);
    captured_first_use<1>(cudaStreamCaptureModeGlobal);
    captured_first_use<2>(cudaStreamCaptureModeThreadLocal);
    captured_first_use<3>(cudaStreamCaptureModeRelaxed);
    errors();
    one_line();
    in_the_place_of_the_template();
    by_the_driver();
    events_alone();
    from_many_threads();
    pairs(properties);
    return failed;
}
