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
    EXPECT_IS(kernel.preferred_carveout, -1);
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
    unsigned before;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, plain), cudaSuccess);
    before = calls_made();
    EXPECT_IS(pdl_kernel_init(NULL, plain), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init(&kernel, NULL), cudaErrorInvalidValue);
    EXPECT(is_zero(&kernel));
    EXPECT_IS(pdl_kernel_init_driver(NULL, 90), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, 0), cudaErrorInvalidValue);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, -90), cudaErrorInvalidValue);
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
    EXPECT_IS(pdl_kernel_init_driver(&kernel, 90), cudaSuccess);
    EXPECT(kernel.func == NULL);
    EXPECT_IS(kernel.can_overlap, 1);
    EXPECT_IS(kernel.cc, 90);
    EXPECT_IS(model_call_count("cudaFuncGetAttributes"), 0);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, 80), cudaSuccess);
    EXPECT_IS(kernel.reason, PDL_REASON_TARGET);
    model_set_cc(8, 0);
    EXPECT_IS(pdl_kernel_init_driver(&kernel, 80), cudaSuccess);
    EXPECT_IS(kernel.reason, PDL_REASON_DEVICE);
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
    prepares_for_the_driver();
    names_every_reason();
    return failed;
}
