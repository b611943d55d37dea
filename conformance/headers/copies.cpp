// As copies.c, with the templates: had they linker symbols, one copy would run with the other's layout.
#include "pdl.h"

#include "expect.h"

int other_version();
cudaError_t other_launch(unsigned overlap);

int main()
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;

    fresh_device();
    EXPECT_IS(other_version() / 100 % 100, 99);
    EXPECT(PDL_VERSION_NUMBER != other_version());
    EXPECT_IS(pdl_kernel_init(&kernel, plain_kernel), cudaSuccess);
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl_launch(&kernel, plain_kernel, 1, 1, 0, nullptr, &options, number{1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT_IS(other_launch(0), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(other_launch(2), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    return failed;
}
