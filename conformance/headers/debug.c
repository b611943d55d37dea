/* PDL_DEBUG: the current device and the number of arguments are checked, and CUDA's last error survives the counting. */
#include "pdl.h"

#include "expect.h"
#include "param_info.h"

static const dim3 one = {1, 1, 1};

static void checks_the_device(void)
{
    struct number number = {1};
    void *args[] = {&number};
    const dim3 zero_axis = {1, 0, 1};
    pdl_kernel kernel = PDL_ZERO;
    pdl_refusal refusal = PDL_ZERO;
    unsigned calls;

    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    calls = calls_made();
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, NULL), cudaSuccess);
    EXPECT_IS(calls_made() - calls, 2);
    kernel.device = 1;
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, NULL), cudaErrorInvalidDevice);
    EXPECT_IS(pdl_launch_check(&kernel, one, one, NULL, NULL), cudaErrorInvalidDevice);
    EXPECT_IS(pdl_launch_check(&kernel, one, one, NULL, &refusal), cudaErrorInvalidDevice);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_KERNEL);
    EXPECT_IS(refusal.reason, PDL_REASON_OTHER_DEVICE);
    EXPECT_IS(pdl_launch_check(&kernel, zero_axis, one, NULL, &refusal), cudaErrorInvalidConfiguration);
    EXPECT_IS(refusal.reason, PDL_REASON_AXIS_ZERO); /* what the arguments alone say comes first */
    model_fail_next("cudaGetDevice", cudaErrorNoDevice);
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, NULL), cudaErrorNoDevice);
    model_fail_next("cudaGetDevice", cudaErrorNoDevice);
    EXPECT_IS(pdl_launch_check(&kernel, one, one, NULL, &refusal), cudaErrorNoDevice);
    kernel.device = 0;
    EXPECT_IS(pdl_launch_check(&kernel, one, one, NULL, &refusal), cudaSuccess);
    EXPECT_IS(refusal.reason, PDL_REASON_NONE);
    model_set_devices(2);
    EXPECT_IS(cudaSetDevice(1), cudaSuccess); /* a later device is another one, too */
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, NULL), cudaErrorInvalidDevice);
    EXPECT_IS(model_launch_count(), 1);
}

static void counts_arguments(void)
{
    struct number number = {1};
    pdl_kernel kernel = PDL_ZERO;

    param_info_count = 1;
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.num_params, 1);
    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    EXPECT_IS(PDL_LAUNCH(&kernel, one, one, 0, 0, NULL, &number), cudaSuccess);
    EXPECT_IS(PDL_LAUNCH(&kernel, one, one, 0, 0, NULL, &number, &number), cudaErrorInvalidValue);
    EXPECT_IS(pdl_launch(&kernel, one, one, NULL, 0, 0, NULL), cudaErrorInvalidValue);
    EXPECT_IS(PDL_LAUNCH(NULL, one, one, 0, 0, NULL, &number), cudaErrorInvalidValue);
    EXPECT_IS(model_launch_count(), 1);
    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    param_info_count = 3;
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.num_params, 3);
    EXPECT_IS(PDL_LAUNCH(&kernel, one, one, 0, 0, NULL, &number), cudaErrorInvalidValue);
    param_info_count = -1; /* a driver that cannot tell: no check */
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.num_params, -1);
    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    EXPECT_IS(PDL_LAUNCH(&kernel, one, one, 0, 0, NULL, &number, &number), cudaSuccess);
}

/* The same checks where a node is added; a kernel without parameters needs no arguments. */
static void checks_nodes(void)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_kernel kernel = PDL_ZERO;
    cudaGraphNode_t node;
    cudaGraph_t graph;
    unsigned launches;

    EXPECT_IS(cudaGraphCreate(&graph, 0), cudaSuccess);
    param_info_count = 1;
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_graph_add_kernel(&node, graph, NULL, 0, &kernel, one, one, NULL, 0, NULL), cudaErrorInvalidValue);
    EXPECT_IS(model_call_count("cudaGraphAddKernelNode"), 0);
    kernel.device = 1;
    EXPECT_IS(pdl_graph_add_kernel(&node, graph, NULL, 0, &kernel, one, one, args, 0, NULL), cudaErrorInvalidDevice);
    kernel.device = 0;
    EXPECT_IS(pdl_graph_add_kernel(&node, graph, NULL, 0, &kernel, one, one, args, 0, NULL), cudaSuccess);
    param_info_count = 0;
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.num_params, 0);
    launches = model_call_count("cudaLaunchKernelExC");
    (void)!pdl_launch(&kernel, one, one, NULL, 0, 0, NULL);
    EXPECT_IS(model_call_count("cudaLaunchKernelExC") - launches, 1);
    (void)cudaGetLastError();
    EXPECT_IS(pdl_launch_counted(&kernel, one, one, args, 1, 0, 0, NULL), cudaErrorInvalidValue); /* one more than none */
    EXPECT_IS(model_call_count("cudaLaunchKernelExC") - launches, 1);
}

/* An error that is pending must not be lost to the counting, so nothing is counted. */
static void keeps_the_last_error(void)
{
    pdl_kernel kernel = PDL_ZERO;

    param_info_count = 1;
    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(kernel.num_params, -1);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
}

int main(void)
{
    void (*const tests[])(void) = {checks_the_device, counts_arguments, checks_nodes, keeps_the_last_error};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        fresh_device();
        tests[i]();
    }
    return failed;
}
