/* any_pointer.cu - what else people hand to pdl_fresh(): has to compile without a warning in every pass of every compiler.
 * Without a wait instruction below compute_90, with one from there on. test_any_pointer.py compiles it.
 */
#include "device_words.h"
#include "pdl_device.cuh"

struct incomplete;
template <typename T> struct view {
    T *PDL_RESTRICT data;
    int size;
};

template <typename T> __global__ void of_a_template(view<const T> a, view<T> o)
{
    const view<const T> &in = a;
    pdl_wait();
    auto *fresh = pdl_fresh(in.data);
    pdl_fresh(o.data)[threadIdx.x] = fresh[threadIdx.x];
}
template __global__ void of_a_template<float>(view<const float>, view<float>);
template __global__ void of_a_template<const volatile int *>(view<const volatile int *const>, view<const volatile int *>);

namespace somewhere {
namespace {
__device__ int hidden[4];
}
__global__ void hidden_ones(int *o)
{
    pdl_trigger();
    pdl_wait();
    *pdl_fresh(o) = pdl_fresh(hidden)[threadIdx.x] + *pdl_fresh(&hidden[2]);
}
} // namespace somewhere

__device__ void called(float *PDL_RESTRICT o) { pdl_fresh(o)[0] = 1.0f; }

__global__ void of_every_kind(void *any, const void *constant, volatile void *device, int (*rows)[7], const incomplete *opaque, float *o)
{
    struct here {
        int x;
    };
    float *mine = pdl_wait_block(o);
    const bool none = pdl_fresh(static_cast<int *>(nullptr)) == nullptr && pdl_fresh(any) == pdl_fresh(constant) &&
                      pdl_fresh(device) == nullptr && pdl_fresh(opaque) == nullptr;
    auto read = [=](int i) { return pdl_fresh(rows)[0][i]; };
    pdl_fresh(static_cast<here *>(any))->x = none ? read(2) : 0;
    called(mine);
}

/* older targets keep their restrict: a read-only load there, an ordinary one where kernels overlap */
extern "C" __global__ void shared_with_older_targets(const float *PDL_RESTRICT a, float *PDL_RESTRICT o)
{
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}

/* three reads of one address, with a barrier and a wait between them: all three are there */
extern "C" __global__ void read_three_times(const float *__restrict__ a, float *__restrict__ o)
{
    const float first = pdl_fresh(a)[threadIdx.x];
    __syncthreads();
    const float second = pdl_fresh(a)[threadIdx.x];
    pdl_wait();
    pdl_fresh(o)[threadIdx.x] = pdl_fresh(a)[threadIdx.x] - first * second;
}
