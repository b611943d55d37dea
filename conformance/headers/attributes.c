/* pdl_attributes_fill and pdl_events_record_behind: the same attributes as pdl_launch, for launchers that are not ours. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased, driver;
static cudaStream_t stream;
static cudaEvent_t event;
static cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES + 1];

static void set_up(void)
{
    fresh_device();
    memset(attrs, 0x5a, sizeof attrs);
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&driver, function_of((const void *)plain_kernel)), cudaSuccess);
}

static int is_untouched(unsigned from)
{
    cudaLaunchAttribute pattern;

    memset(&pattern, 0x5a, sizeof pattern);
    for (unsigned i = from; i <= PDL_MAX_ATTRIBUTES; i++) {
        if (memcmp(&attrs[i], &pattern, sizeof pattern) != 0) {
            return 0;
        }
    }
    return 1;
}

static void are_those_of_the_launch(void)
{
    struct number number = {1};
    void *args[] = {&number};
    const dim3 grid = {2, 1, 1};
    pdl_options options = PDL_ZERO;
    unsigned count = 77, calls;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    options.cluster_x = 2;
    options.mem_sync_domain = PDL_DOMAIN_REMOTE;
    calls = calls_made();
    EXPECT_IS(pdl_attributes_fill(&plain, &options, attrs, PDL_MAX_ATTRIBUTES, &count), cudaSuccess);
    EXPECT_IS(calls_made(), calls);
    EXPECT_IS(count, 4);
    EXPECT(is_untouched(4));
    EXPECT_IS(pdl_launch(&plain, grid, grid, args, 0, stream, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 4);
    for (unsigned i = 0; i < 4 && last_launch() != NULL; i++) {
        EXPECT(memcmp(&attrs[i], &last_launch()->attrs[i], sizeof attrs[i]) == 0);
    }
    EXPECT_IS(pdl_attributes_fill(&driver, &options, attrs, 4, &count), cudaSuccess);
    EXPECT_IS(count, 4);
    EXPECT_IS(pdl_attributes_fill(&plain, NULL, NULL, 0, &count), cudaSuccess);
    EXPECT_IS(count, 0);
}

static void respect_the_capacity(void)
{
    cudaLaunchAttribute further;
    pdl_options options = PDL_ZERO;
    unsigned count = 77;

    memset(&further, 0, sizeof further);
    further.id = (cudaLaunchAttributeID)13; /* allowed here: the caller gets its own array back */
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.attrs = &further;
    options.num_attrs = 1;
    EXPECT_IS(pdl_attributes_fill(&plain, &options, attrs, 1, &count), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    EXPECT(is_untouched(0));
    EXPECT_IS(pdl_attributes_fill(&plain, &options, NULL, 2, &count), cudaErrorInvalidValue);
    EXPECT_IS(pdl_attributes_fill(&plain, &options, attrs, 2, NULL), cudaErrorInvalidValue);
    EXPECT(is_untouched(0));
    EXPECT_IS(pdl_attributes_fill(&plain, &options, attrs, 2, &count), cudaSuccess);
    EXPECT_IS(count, 2);
    EXPECT_IS(attrs[1].id, 13);
}

static void refuse_bad_input(void)
{
    pdl_kernel empty = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    unsigned count = 77, calls;

    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
    calls = calls_made();
    EXPECT_IS(pdl_attributes_fill(NULL, &options, attrs, 8, &count), cudaErrorInvalidValue);
    EXPECT_IS(count, 0);
    EXPECT_IS(pdl_attributes_fill(&empty, &options, attrs, 8, &count), cudaErrorInvalidValue);
    options.overlap = 3;
    EXPECT_IS(pdl_attributes_fill(&plain, &options, attrs, 8, &count), cudaErrorInvalidValue);
    EXPECT_IS(pdl_events_record_behind(&plain, &options, stream), cudaErrorInvalidValue);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl_attributes_fill(&erased, &options, attrs, 8, &count), cudaErrorNotSupported);
    options.event = event;
    EXPECT_IS(pdl_events_record_behind(&erased, &options, stream), cudaErrorNotSupported);
    EXPECT_IS(pdl_events_record_behind(NULL, &options, stream), cudaErrorInvalidValue);
    EXPECT_IS(calls_made(), calls);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT(is_untouched(0));
}

static void are_completed_by_records(void)
{
    pdl_options options = PDL_ZERO;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    EXPECT_IS(pdl_events_record_behind(&plain, &options, stream), cudaSuccess); /* the attributes carry it */
    EXPECT_IS(pdl_events_record_behind(&driver, &options, stream), cudaSuccess);
    EXPECT_IS(pdl_events_record_behind(&plain, NULL, stream), cudaSuccess);
    EXPECT_IS(model_call_count("cudaEventRecord"), 0);
    EXPECT_IS(pdl_events_record_behind(&erased, &options, stream), cudaSuccess);
    EXPECT_IS(model_call_count("cudaEventRecord"), 1);
    model_fail_next("cudaEventRecord", cudaErrorInvalidResourceHandle);
    EXPECT_IS(pdl_events_record_behind(&erased, &options, stream), cudaErrorInvalidResourceHandle);
}

int main(void)
{
    void (*const tests[])(void) = {are_those_of_the_launch, respect_the_capacity, refuse_bad_input,
                                   are_completed_by_records};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
