/* pdl_launch_driver: what reaches the driver's cuLaunchKernelEx, and what is refused before. */
#include "pdl.h"

#include <cuda.h>
#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased;
static cudaStream_t stream;
static cudaEvent_t event, completion;
static struct number number = {1};
static void *args[] = {&number};
static const dim3 grid = {4, 2, 3}, block = {8, 2, 1};

_Static_assert(sizeof(pdl_impl_driver_config) == sizeof(CUlaunchConfig), "the driver's configuration has another size");
_Static_assert(offsetof(pdl_impl_driver_config, block_z) == offsetof(CUlaunchConfig, blockDimZ), "block");
_Static_assert(offsetof(pdl_impl_driver_config, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes), "shared memory");
_Static_assert(offsetof(pdl_impl_driver_config, stream) == offsetof(CUlaunchConfig, hStream), "stream");
_Static_assert(offsetof(pdl_impl_driver_config, attrs) == offsetof(CUlaunchConfig, attrs), "attributes");
_Static_assert(offsetof(pdl_impl_driver_config, num_attrs) == offsetof(CUlaunchConfig, numAttrs), "count");
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "attributes have the driver's layout");
_Static_assert((int)CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK == PDL_IMPL_MAX_THREADS_PER_BLOCK &&
               (int)CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == PDL_IMPL_SHARED_SIZE_BYTES &&
               (int)CU_FUNC_ATTRIBUTE_NUM_REGS == PDL_IMPL_NUM_REGS && (int)CU_FUNC_ATTRIBUTE_PTX_VERSION == PDL_IMPL_PTX_VERSION &&
               (int)CU_FUNC_ATTRIBUTE_BINARY_VERSION == PDL_IMPL_BINARY_VERSION, "numbers of the driver");

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&plain, function_of((const void *)plain_kernel)), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&erased, function_of((const void *)erased_kernel)), cudaSuccess);
}

static void passes_everything(void)
{
    pdl_options options = PDL_ZERO;

    options.overlap = PDL_OVERLAP_REQUIRED;
    options.has_priority = 1;
    options.priority = -2;
    EXPECT_IS(pdl_launch_driver(&plain, grid, block, args, 64, stream, &options), cudaSuccess);
    EXPECT_IS(model_launch_count(), 1);
    EXPECT(last_launch()->func == (const void *)plain_kernel && last_launch()->stream == stream);
    EXPECT_IS(last_launch()->grid[0] + 10 * last_launch()->grid[1] + 100 * last_launch()->grid[2], 324);
    EXPECT_IS(last_launch()->block[0] + 10 * last_launch()->block[1] + 100 * last_launch()->block[2], 128);
    EXPECT_IS(last_launch()->shared_bytes, 64);
    EXPECT_IS(attributes_of_last(), 2);
    EXPECT(last_attribute(6) != NULL && last_attribute(6)->programmaticStreamSerializationAllowed == 1);
    EXPECT(last_attribute(8) != NULL && last_attribute(8)->priority == -2);
    EXPECT_IS(pdl_launch_driver(&plain, grid, block, args, 0, stream, NULL), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
}

static void falls_back(void)
{
    pdl_options options = PDL_ZERO;

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.event = event;
    EXPECT_IS(pdl_launch_driver(&erased, grid, block, args, 0, stream, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(model_call_count("cudaEventRecord"), 1);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl_launch_driver(&erased, grid, block, args, 0, stream, &options), cudaErrorNotSupported);
    EXPECT_IS(model_launch_count(), 1);
}

/* The driver's errors come under their number, and leave no last error. */
static void hands_on_errors(void)
{
    EXPECT_IS(pdl_launch_driver(&plain, grid, block, args, (size_t)1 << 30, stream, NULL), cudaErrorInvalidValue);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_IS(pdl_launch_driver(&plain, grid, block, args, ((size_t)1 << 32) + 64, stream, NULL), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init_driver(&erased, (cudaFunction_t)&number), cudaErrorInvalidResourceHandle);
    EXPECT_IS(pdl_kernel_reason(&erased), PDL_REASON_NOT_PREPARED);
    EXPECT_IS(pdl_launch_driver(NULL, grid, block, args, 0, stream, NULL), cudaErrorInvalidValue);
    EXPECT_IS(model_launch_count(), 0);
}

/* What a driver lacks is known when the kernel is prepared. */
static void needs_both_functions(void)
{
    const cudaFunction_t function = function_of((const void *)plain_kernel);
    pdl_kernel kernel = plain;

    EXPECT_IS(plain.num_params, -1);
    model_set_versions(0, 11070); /* no cuLaunchKernelEx */
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function), cudaErrorNotSupported);
    EXPECT_IS(pdl_kernel_reason(&kernel), PDL_REASON_NOT_PREPARED);
    model_set_versions(0, 11080);
    model_fail_next("cudaGetDriverEntryPoint", cudaErrorNotSupported); /* no cuFuncGetAttribute */
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function), cudaErrorNotSupported);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function), cudaSuccess);
}

int main(void)
{
    void (*const tests[])(void) = {passes_everything, falls_back, hands_on_errors, needs_both_functions};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
