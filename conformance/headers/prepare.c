/* pdl_kernel_init, pdl_kernel_init_driver, pdl_reason_string: what a prepared kernel says, and what an error leaves. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static const void *const plain = (const void *)plain_kernel;
static const void *const erased = (const void *)erased_kernel;

static int is_zero(const pdl_kernel *kernel)
{
    pdl_kernel zero;

    memset(&zero, 0, sizeof zero);
    return kernel->func == zero.func && kernel->can_overlap == 0 && kernel->reason == 0 && kernel->cc == 0 &&
           kernel->max_grid[0] == 0 && kernel->max_threads_per_block == 0;
}

static void reads_the_kernel(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)static_kernel), cudaSuccess);
    EXPECT(kernel.func == (const void *)static_kernel);
    EXPECT_IS(kernel.device, 0);
    EXPECT_IS(kernel.cc, 90);
    EXPECT_IS(kernel.ptx_version, 90);
    EXPECT_IS(kernel.binary_version, 90);
    EXPECT_IS(kernel.can_overlap, 1);
    EXPECT_IS(kernel.reason, PDL_REASON_NONE);
    EXPECT_IS(kernel.regs_per_thread, 32);
    EXPECT_IS(kernel.static_shared_bytes, 4096);
    EXPECT_IS(kernel.max_threads_per_block, 32);
    EXPECT_IS(kernel.num_params, -1);
    EXPECT_IS(kernel.max_grid[0], 0x7fffffff);
    EXPECT_IS(kernel.max_grid[2], 65535);
    EXPECT_IS(kernel.max_block[2], 32);
    EXPECT_IS(model_call_count("cudaFuncGetAttributes"), 1); /* which is what loads the function */
}

static void says_why_not(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, erased), cudaSuccess); /* FB-04: the machine code is for sm_90, the wait is not there */
    EXPECT_IS(kernel.can_overlap, 0);
    EXPECT_IS(kernel.reason, PDL_REASON_TARGET);
    EXPECT_IS(kernel.ptx_version, 80);
    EXPECT_IS(kernel.binary_version, 90);
    model_set_cc(8, 9);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(kernel.cc, 89);
    EXPECT_IS(kernel.reason, PDL_REASON_DEVICE);
    EXPECT_IS(kernel.can_overlap, 0);
    model_set_cc(12, 0);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(kernel.cc, 120);
    EXPECT_IS(kernel.can_overlap, 1);
}

static unsigned reason_with(const char *value, const void *func)
{
    pdl_kernel kernel = PDL_ZERO;

    setenv("PDL_DISABLE", value, 1);
    EXPECT_IS(pdl_kernel_init(&kernel, func), cudaSuccess);
    EXPECT_IS(kernel.can_overlap, kernel.reason == PDL_REASON_NONE);
    return kernel.reason;
}

static void obeys_the_kill_switch(void)
{
    fresh_device();
    EXPECT_IS(reason_with("", plain), PDL_REASON_NONE);
    EXPECT_IS(reason_with("0", plain), PDL_REASON_NONE);
    EXPECT_IS(reason_with("1", plain), PDL_REASON_DISABLED);
    EXPECT_IS(reason_with("00", plain), PDL_REASON_DISABLED);
    EXPECT_IS(reason_with("no", plain), PDL_REASON_DISABLED);
    EXPECT_IS(reason_with("1", erased), PDL_REASON_DISABLED); /* named first: it is what makes required overlap no error */
    EXPECT_IS(reason_with("0", erased), PDL_REASON_TARGET);
}

static void refuses_nothing_to_prepare(void)
{
    pdl_kernel kernel = PDL_ZERO;
    cudaFunction_t function;
    unsigned before;

    fresh_device();
    function = function_of(plain);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    before = calls_made();
    EXPECT_IS(pdl_kernel_init(NULL, plain), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init(&kernel, NULL), cudaErrorInvalidValue);
    EXPECT(is_zero(&kernel));
    EXPECT_IS(pdl_kernel_init_driver(NULL, function), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    before = calls_made();
    EXPECT_IS(pdl_kernel_init_driver(&kernel, NULL), cudaErrorInvalidValue);
    EXPECT(is_zero(&kernel));
    EXPECT_IS(calls_made(), before);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
}

static void hands_on_errors(const char *symbol, cudaError_t error)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    model_fail_next(symbol, error);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), error);
    EXPECT(is_zero(&kernel));
    EXPECT_IS(cudaGetLastError(), error); /* left as CUDA leaves it */
}

static void prepares_for_the_driver(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of((const void *)static_kernel)), cudaSuccess);
    EXPECT(kernel.func == NULL && kernel.launch_driver != NULL);
    EXPECT(kernel.function == function_of((const void *)static_kernel));
    EXPECT_IS(kernel.can_overlap, 1);
    EXPECT_IS(kernel.cc, 90);
    EXPECT_IS(kernel.ptx_version, 90);
    EXPECT_IS(kernel.binary_version, 90);
    EXPECT_IS(kernel.regs_per_thread, 32);
    EXPECT_IS(kernel.static_shared_bytes, 4096);
    EXPECT_IS(kernel.max_threads_per_block, 32);
    EXPECT_IS(kernel.max_block[0], 32);
    EXPECT_IS(kernel.num_params, -1);
    EXPECT_IS(model_call_count("cudaFuncGetAttributes"), 0);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of(erased)), cudaSuccess);
    EXPECT_IS(kernel.reason, PDL_REASON_TARGET);
    EXPECT_IS(kernel.binary_version, 90);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of((const void *)narrow_kernel)), cudaSuccess);
    EXPECT_IS(kernel.max_threads_per_block, 16);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of((const void *)greedy_kernel)), cudaSuccess);
    EXPECT_IS(kernel.regs_per_thread, 255);
    model_set_cc(8, 0);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of(erased)), cudaSuccess);
    EXPECT_IS(kernel.reason, PDL_REASON_DEVICE);
    model_set_versions(0, 11070);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of(plain)), cudaErrorNotSupported); /* no cuLaunchKernelEx */
    EXPECT(is_zero(&kernel));
}

/* What an older driver lacks is decided at run time. */
static void asks_the_driver_for_its_version(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    model_set_versions(0, 11080);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(kernel.driver_version, 11080);
    EXPECT_IS(kernel.can_overlap, 1);
    model_set_versions(0, 11070);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(kernel.can_overlap, 0);
    EXPECT_IS(kernel.reason, PDL_REASON_DRIVER);
    EXPECT(strstr(pdl_reason_string(kernel.reason), "11.8") != NULL);
    model_set_cc(8, 0);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(kernel.reason, PDL_REASON_DEVICE); /* no driver would help */
    EXPECT_IS(reason_with("1", plain), PDL_REASON_DISABLED); /* on old devices, too */
}

/* Each device has its own answer. */
static void prepares_for_the_current_device(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    model_set_devices(3);
    model_set_cc_of(1, 8, 6);
    model_set_image(plain, 2, 80);
    for (int device = 0; device < 3; device++) {
        const pdl_reason reasons[] = {PDL_REASON_NONE, PDL_REASON_DEVICE, PDL_REASON_TARGET};

        EXPECT_IS(cudaSetDevice(device), cudaSuccess);
        EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
        EXPECT_IS(kernel.device, device);
        EXPECT_IS(kernel.reason, reasons[device]);
        EXPECT_IS(kernel.cc, device == 1 ? 86 : 90);
    }
}

static void explains_a_kernel(void)
{
    pdl_kernel kernel = PDL_ZERO;

    fresh_device();
    EXPECT_IS(pdl_kernel_reason(NULL), PDL_REASON_NULL_POINTER);
    EXPECT_IS(pdl_kernel_reason(&kernel), PDL_REASON_NOT_PREPARED);
    EXPECT(strstr(pdl_reason_string(pdl_kernel_reason(&kernel)), "prepared") != NULL);
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    EXPECT_IS(pdl_kernel_reason(&kernel), PDL_REASON_NONE);
    EXPECT_IS(pdl_kernel_init(&kernel, erased), cudaSuccess);
    EXPECT_IS(pdl_kernel_reason(&kernel), PDL_REASON_TARGET);
    EXPECT(strstr(pdl_reason_string(PDL_REASON_TARGET), "CMAKE_CUDA_ARCHITECTURES") != NULL);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, function_of(plain)), cudaSuccess);
    EXPECT_IS(pdl_kernel_reason(&kernel), PDL_REASON_NONE);
}

static void names_every_reason(void)
{
    const char *const unknown = pdl_reason_string(~0u);
    unsigned i, j;

    for (i = 0; i < PDL_IMPL_REASON_COUNT; i++) {
        EXPECT(pdl_reason_string(i) != NULL && pdl_reason_string(i)[0] != '\0');
        EXPECT(strcmp(pdl_reason_string(i), unknown) != 0);
        for (j = 0; j < i; j++) {
            EXPECT(strcmp(pdl_reason_string(i), pdl_reason_string(j)) != 0);
        }
    }
    EXPECT(strcmp(pdl_reason_string(PDL_IMPL_REASON_COUNT), unknown) == 0);
    EXPECT(strstr(pdl_reason_string(PDL_REASON_DISABLED), "PDL_DISABLE") != NULL);
    EXPECT(strstr(pdl_reason_string(PDL_REASON_TARGET), "compute_90") != NULL);
    EXPECT(strstr(pdl_reason_string(PDL_REASON_CARVEOUT), "carve-out") != NULL);
    EXPECT_IS(PDL_REASON_NONE, 0);
    for (i = 0; i < PDL_IMPL_ARGUMENT_COUNT; i++) {
        EXPECT(pdl_argument_string(i) != NULL && pdl_argument_string(i)[0] != '\0');
        EXPECT(strcmp(pdl_argument_string(i), pdl_argument_string(PDL_IMPL_ARGUMENT_COUNT)) != 0);
        for (j = 0; j < i; j++) {
            EXPECT(strcmp(pdl_argument_string(i), pdl_argument_string(j)) != 0);
        }
    }
    EXPECT(strcmp(pdl_argument_string(PDL_ARGUMENT_CARVEOUT), "options.carveout") == 0);
    EXPECT(strstr(pdl_argument_string(PDL_IMPL_ARGUMENT_COUNT), "unknown") != NULL);
}

int main(void)
{
    EXPECT_IS(PDL_VERSION_NUMBER, PDL_VERSION_MAJOR * 10000 + PDL_VERSION_MINOR * 100 + PDL_VERSION_PATCH);
    reads_the_kernel();
    says_why_not();
    obeys_the_kill_switch();
    refuses_nothing_to_prepare();
    hands_on_errors("cudaGetDevice", cudaErrorNoDevice);
    hands_on_errors("cudaDeviceGetAttribute", cudaErrorInvalidDevice);
    hands_on_errors("cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice);
    hands_on_errors("cudaDriverGetVersion", cudaErrorUnknown);
    prepares_for_the_driver();
    asks_the_driver_for_its_version();
    prepares_for_the_current_device();
    explains_a_kernel();
    names_every_reason();
    return failed;
}
