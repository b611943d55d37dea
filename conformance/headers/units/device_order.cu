// What the compiler must not do across wait and trigger, shown in the PTX: merge two reads or two stores, or promise the GPU that
// nobody else writes.
#include "pdl_device.cuh"

__global__ void reads_on_both_sides(int *out, const int *in)
{
    const int before = in[0];

    pdl_wait();
    out[0] = before + in[0];
}

__global__ void stores_on_both_sides(int *out)
{
    out[0] = 1;
    pdl_trigger();
    out[0] = 2;
}

__global__ void shares_code_with_old_targets(int *PDL_RESTRICT out, const int *PDL_RESTRICT in)
{
    pdl_wait();
    out[0] = in[0];
}

__global__ void is_fresh_twice(int *__restrict__ out, const int *__restrict__ in)
{
    const int before = *pdl_fresh(in);

    pdl_wait();
    *pdl_fresh(out) = before + *pdl_fresh(in);
}

__global__ void one_thread_of_a_block(int *out)
{
    *pdl_wait_block(out) = 1;
}
