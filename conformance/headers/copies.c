/* Two minor versions of pdl.h, with other layouts, in one program: this file has the one under test. */
#include "pdl.h"

#include "expect.h"

int other_version(void);
cudaError_t other_launch(unsigned overlap);

int main(void)
{
    struct number number = {1};
    void *args[] = {&number};
    const dim3 one = {1, 1, 1};
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;

    fresh_device();
    EXPECT_IS(other_version() / 100 % 100, 99);
    EXPECT(PDL_VERSION_NUMBER != other_version());
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, &options), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT_IS(other_launch(0), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(other_launch(2), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    return failed;
}
