/* pdl_launch: what reaches CUDA for each option, and that nothing else does. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased, disabled;
static cudaStream_t stream;
static const dim3 grid = {4, 2, 1}, block = {8, 2, 1};

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    setenv("PDL_DISABLE", "1", 1);
    EXPECT_IS(pdl_kernel_init(&disabled, (const void *)plain_kernel), cudaSuccess);
    unsetenv("PDL_DISABLE");
}

/* Launches, and expects it to have been one call that was accepted, with that many attributes. */
static void launches(const pdl_kernel *kernel, const pdl_options *options, unsigned attributes)
{
    struct number number = {1};
    void *args[] = {&number};
    const unsigned calls = calls_made();
    const unsigned count = model_launch_count();

    EXPECT_IS(pdl_launch(kernel, grid, block, args, 64, stream, options), cudaSuccess);
    EXPECT_IS(calls_made() - calls, 1);
    EXPECT_IS(model_launch_count() - count, 1);
    EXPECT_IS(attributes_of_last(), attributes);
}

static void passes_the_shape(void)
{
    launches(&plain, NULL, 0);
    EXPECT(last_launch()->func == (const void *)plain_kernel);
    EXPECT(last_launch()->stream == stream);
    EXPECT_IS(last_launch()->grid[0], 4);
    EXPECT_IS(last_launch()->grid[1], 2);
    EXPECT_IS(last_launch()->block[0], 8);
    EXPECT_IS(last_launch()->block[1], 2);
    EXPECT_IS(last_launch()->shared_bytes, 64);
}

/* Stream 0 is the one of this file's compilation, and is passed on as it is. */
static void passes_the_default_stream(void)
{
    struct number number = {1};
    void *args[] = {&number};

    EXPECT_IS(pdl_launch(&plain, grid, block, args, 0, 0, NULL), cudaSuccess);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    EXPECT(last_launch() != NULL && last_launch()->stream == cudaStreamPerThread);
#else
    EXPECT(last_launch() != NULL && last_launch()->stream == NULL);
#endif
}

static void overlaps_only_where_sound(void)
{
    const unsigned both[] = {PDL_OVERLAP_IF_POSSIBLE, PDL_OVERLAP_REQUIRED};
    pdl_options options = PDL_ZERO;

    launches(&plain, &options, 0);
    for (int i = 0; i < 2; i++) {
        options.overlap = both[i];
        launches(&plain, &options, 1);
        EXPECT(last_attribute(6) != NULL && last_attribute(6)->programmaticStreamSerializationAllowed == 1);
        launches(&disabled, &options, 0); /* the kill switch wins over both */
    }
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    launches(&erased, &options, 0);
}

/* 1 if the last launch carried this carve-out, or none where the toolkit has none (off_path.c shows the refusal). */
static int carveout_given(unsigned percent)
{
#if PDL_HAS_CARVEOUT
    return last_attribute(14) != NULL && last_attribute(14)->sharedMemCarveout == percent;
#else
    (void)percent;
    return last_attribute(14) == NULL;
#endif
}

static void passes_each_option(void)
{
    pdl_options options = PDL_ZERO;

    options.cluster_x = 2;
    options.cooperative = 1;
    options.has_priority = 1;
    options.priority = -3;
    options.mem_sync_domain = PDL_DOMAIN_REMOTE;
    options.carveout = PDL_HAS_CARVEOUT ? 25 : 0;
    launches(&plain, &options, 4 + PDL_HAS_CARVEOUT);
    EXPECT(last_attribute(4) != NULL && last_attribute(4)->clusterDim.x == 2 && last_attribute(4)->clusterDim.y == 1 &&
           last_attribute(4)->clusterDim.z == 1);
    EXPECT(last_attribute(2) != NULL && last_attribute(2)->cooperative == 1);
    EXPECT(last_attribute(8) != NULL && last_attribute(8)->priority == -3);
    EXPECT(last_attribute(10) != NULL && last_attribute(10)->memSyncDomain == cudaLaunchMemSyncDomainRemote);
    EXPECT(carveout_given(25));
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    launches(&plain, &options, 5 + PDL_HAS_CARVEOUT);
    EXPECT_IS(last_launch()->attrs[0].id, 6);
    EXPECT_IS(last_attribute(6)->programmaticStreamSerializationAllowed, 1);
}

static void tells_zero_from_nothing(void)
{
    pdl_options options = PDL_ZERO;

    options.has_priority = 1;
    options.mem_sync_domain = PDL_DOMAIN_DEFAULT;
    options.carveout = PDL_HAS_CARVEOUT ? PDL_CARVEOUT_NO_SHARED : 0;
    options.cluster_y = 2;
    launches(&plain, &options, 3 + PDL_HAS_CARVEOUT);
    EXPECT(last_attribute(8) != NULL && last_attribute(8)->priority == 0);
    EXPECT(last_attribute(10) != NULL && last_attribute(10)->memSyncDomain == cudaLaunchMemSyncDomainDefault);
    EXPECT(carveout_given(0));
    EXPECT(last_attribute(4) != NULL && last_attribute(4)->clusterDim.x == 1 && last_attribute(4)->clusterDim.y == 2);
    options.carveout = PDL_HAS_CARVEOUT ? PDL_CARVEOUT_MAX : 0;
    launches(&plain, &options, 3 + PDL_HAS_CARVEOUT);
    EXPECT(carveout_given(100));
}

/* An option by itself keeps a launch from the short way, which carries overlap alone. */
static void sees_each_option_alone(void)
{
    enum { OPTIONS = 6 };

    for (int i = 0; i < OPTIONS; i++) {
        const int ids[OPTIONS] = {4, 4, 4, 2, 8, 10};
        pdl_options o = PDL_ZERO;

        o.cluster_x = i == 0;
        o.cluster_y = i == 1;
        o.cluster_z = i == 2;
        o.cooperative = i == 3;
        o.has_priority = i == 4;
        o.mem_sync_domain = i == 5 ? PDL_DOMAIN_REMOTE : PDL_DOMAIN_OF_STREAM;
        launches(&plain, &o, 1);
        EXPECT(last_attribute(ids[i]) != NULL);
    }
}

static void copies_further_attributes(void)
{
    cudaLaunchAttribute further[16];
    pdl_options options = PDL_ZERO;

    memset(further, 0, sizeof further); /* id 0, ignored: a legal entry */
    further[1].id = cudaLaunchAttributeMemSyncDomainMap;
    further[1].val.memSyncDomainMap.remote = 1;
    options.attrs = further;
    launches(&plain, &options, 0); /* num_attrs 0: not looked at */
    options.attrs = (const cudaLaunchAttribute *)8;
    launches(&plain, &options, 0);
    options.has_priority = 1; /* nor by a launch that does not go the short way */
    launches(&plain, &options, 1);
    options.has_priority = 0;
    options.attrs = further;
    options.num_attrs = 2;
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    launches(&plain, &options, 3);
    EXPECT(last_attribute(9) != NULL && last_attribute(9)->memSyncDomainMap.remote == 1);
    EXPECT_IS(last_launch()->attrs[2].id, 9);
    options.num_attrs = 16;
    options.cluster_x = options.cooperative = options.has_priority = options.mem_sync_domain = 1;
    options.carveout = PDL_HAS_CARVEOUT;
    launches(&plain, &options, 21 + PDL_HAS_CARVEOUT);
}

/* With all eight of its own, the array of the launch is full. */
static void fills_the_whole_array(void)
{
    cudaLaunchAttribute further[16];
    cudaEvent_t events[2];
    pdl_options options = PDL_ZERO;

    memset(further, 0, sizeof further);
    EXPECT_IS(pdl_event_create(&events[0]), cudaSuccess);
    EXPECT_IS(pdl_event_create(&events[1]), cudaSuccess);
    options.overlap = PDL_OVERLAP_REQUIRED;
    options.event = events[0];
    options.launch_completion_event = events[1];
    options.cluster_x = options.cooperative = options.has_priority = options.mem_sync_domain = 1;
    options.carveout = PDL_HAS_CARVEOUT;
    options.attrs = further;
    options.num_attrs = 16;
    launches(&plain, &options, PDL_MAX_ATTRIBUTES - !PDL_HAS_CARVEOUT);
}

static void hands_on_errors(void)
{
    struct number number = {1};
    void *args[] = {&number};
    cudaEvent_t event;
    pdl_options options = PDL_ZERO;

    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    options.event = event;
    model_fail_next("cudaLaunchKernelExC", cudaErrorLaunchOutOfResources);
    EXPECT_IS(pdl_launch(&plain, grid, block, args, 0, stream, &options), cudaErrorLaunchOutOfResources);
    EXPECT_IS(model_call_count("cudaEventRecord"), 0); /* nothing to record behind */
    EXPECT_IS(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    EXPECT_IS(pdl_launch(&plain, grid, block, args, (size_t)1 << 30, stream, NULL), cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidValue); /* CUDA's own: the limit can be raised after preparing */
}

static void captures(void)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_options options = PDL_ZERO;
    cudaGraph_t graph;
    size_t nodes = 0;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    EXPECT_IS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, grid, block, args, 0, stream, &options), cudaSuccess);
    EXPECT_IS(pdl_launch(&plain, grid, block, args, 0, stream, &options), cudaSuccess);
    EXPECT_IS(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_IS(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    EXPECT_IS(nodes, 2);
    EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
}

int main(void)
{
    void (*const tests[])(void) = {passes_the_shape,          passes_the_default_stream,
                                   overlaps_only_where_sound, passes_each_option,
                                   tells_zero_from_nothing,   sees_each_option_alone, copies_further_attributes, fills_the_whole_array,
                                   hands_on_errors,           captures};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
