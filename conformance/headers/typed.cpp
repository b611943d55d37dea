// The C++ additions on the model: prepare without a cast, typed arguments, the wrong function refused.
#include "pdl.h"

#include "expect.h"

namespace {

struct convertible {
    int value;
    operator number() const { return number{value}; }
};

struct unaddressable { // as smart pointers of COM are
    int value;
    void operator&() const = delete;
};

const void *address(void (*func)(number))
{
    return reinterpret_cast<const void *>(func);
}

} // namespace

int main()
{
    pdl_kernel kernel = PDL_ZERO;
    pdl_options options = PDL_ZERO;
    const convertible seven = {7};

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, plain_kernel), cudaSuccess);
    EXPECT(kernel.func == address(plain_kernel));
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    EXPECT_IS(pdl_launch(&kernel, plain_kernel, 3, dim3(4, 2), 128, nullptr, &options, seven), cudaSuccess);
    EXPECT_IS(last_launch()->grid[0], 3);
    EXPECT_IS(last_launch()->block[1], 2);
    EXPECT_IS(last_launch()->shared_bytes, 128);
    EXPECT(last_attribute(6) != nullptr);

    const unsigned calls = calls_made();
    EXPECT_IS(pdl_launch(&kernel, static_kernel, 1, 1, 0, nullptr, &options, seven), cudaErrorInvalidValue);
    EXPECT_IS(pdl_launch(nullptr, plain_kernel, 1, 1, 0, nullptr, &options, seven), cudaErrorInvalidValue);
    EXPECT_IS(pdl_launch(&kernel, plain_kernel, 0, 1, 0, nullptr, &options, seven), cudaErrorInvalidConfiguration);
    EXPECT_IS(calls_made(), calls);

    // the check tells of the wrong function first, and of the rest as the check without a function
    pdl_refusal refusal = PDL_ZERO;
    EXPECT_IS(pdl_launch_check(&kernel, static_kernel, 0, 1, &options, &refusal), cudaErrorInvalidValue);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_KERNEL);
    EXPECT_IS(refusal.reason, PDL_REASON_WRONG_FUNCTION);
    EXPECT_IS(pdl_launch_check(&kernel, static_kernel, 1, 1, nullptr, nullptr), cudaErrorInvalidValue);
    EXPECT_IS(pdl_launch_check(&kernel, plain_kernel, 1, 0, &options, &refusal), cudaErrorInvalidConfiguration);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_BLOCK);
    EXPECT_IS(refusal.reason, PDL_REASON_AXIS_ZERO);
    EXPECT_IS(pdl_launch_check(nullptr, plain_kernel, 1, 1, nullptr, &refusal), cudaErrorInvalidValue);
    EXPECT_IS(refusal.reason, PDL_REASON_NULL_POINTER);
    kernel.func = nullptr;
    EXPECT_IS(pdl_launch_check(&kernel, plain_kernel, 1, 1, nullptr, &refusal), cudaErrorInvalidValue);
    EXPECT_IS(refusal.reason, PDL_REASON_NOT_PREPARED);
    EXPECT_IS(calls_made(), calls);

    // whatever its type makes of the & operator, and const or not
    unaddressable odd = {7};
    const volatile int fixed = 7;
    EXPECT(pdl_impl_address_of(odd) == &odd.value);
    EXPECT(pdl_impl_address_of(fixed) == &fixed);

    // a dim3 that nobody set is 1, 1, 1 in C++, and PDL_ZERO keeps it so
    pdl_shape shape = PDL_ZERO;
    EXPECT_IS(shape.grid.x + shape.grid.y + shape.grid.z, 3);
    return failed;
}
