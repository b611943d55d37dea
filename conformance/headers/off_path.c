/* As if the toolkit had nothing: every PDL_HAS_* is 0. Nothing is lost, and what cannot be honoured is refused. */
#define PDL_HAS_OVERLAP 0
#define PDL_HAS_MEM_SYNC_DOMAIN 0
#define PDL_HAS_LAUNCH_COMPLETION_EVENT 0
#define PDL_HAS_GRAPH_EDGES 0
#define PDL_HAS_PARAM_INFO 0
#define PDL_HAS_CARVEOUT 0
#include "pdl.h"

#include <string.h>

#include "expect.h"

static const dim3 one = {1, 1, 1};

static cudaError_t launch(const pdl_kernel *kernel, const pdl_options *options)
{
    struct number number = {1};
    void *args[] = {&number};

    return pdl_launch(kernel, one, one, args, 0, 0, options);
}

int main(void)
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    cudaEvent_t event, completion;

    fresh_device();
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.can_overlap, 0);
    EXPECT_IS(kernel.reason, PDL_REASON_TOOLKIT);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.overlap = PDL_OVERLAP_NONE;
    options.carveout = 10;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.carveout = 0;
    options.mem_sync_domain = PDL_DOMAIN_DEFAULT;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    options.mem_sync_domain = 0;
    EXPECT_IS(model_launch_count(), 0);

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    options.launch_completion_event = completion;
    EXPECT_IS(launch(&kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(model_call_count("cudaEventRecord"), 2);

    /* overlap without launch-completion events (toolkits before 12.3): that event alone goes behind */
    kernel.can_overlap = 1;
    kernel.reason = PDL_REASON_NONE;
    EXPECT_IS(launch(&kernel, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 2);
    EXPECT_IS(model_call_count("cudaEventRecord"), 3);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(launch(&kernel, &options), cudaErrorNotSupported);
    return failed;
}
