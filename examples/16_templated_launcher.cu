// 16_templated_launcher: a framework's launcher, for every instance of a kernel template. Licence: 0BSD
// nvcc -O3 -arch=sm_90 -I.. 16_templated_launcher.cu -o 16_templated_launcher
#include "pdl.h"
#include "pdl_device.cuh"
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256 };

// ---- in the framework: one launcher; every launch site gains overlap when this function does ----
struct launch_site {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    pdl_overlap overlap;
};

template <typename... params, typename... arguments>
static void launch_kernel(const launch_site &site, void (*kernel)(params...), arguments... args)
{
    CHECK(pdl::launch(kernel, site.grid, site.block, site.shared_bytes, site.stream, site.overlap, args...));
}

// ---- in an operator ----
struct add_one {
    __device__ unsigned operator()(unsigned x) const { return x + 1; }
};
struct scale {
    unsigned by;
    __device__ unsigned operator()(unsigned x) const { return x * by; }
};

template <typename operation, typename T> __global__ void elementwise(T *out, const T *in, int words, operation op)
{
    pdl_trigger();
    pdl_wait();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        pdl_fresh(out)[i] = op(pdl_fresh(in)[i]);
    }
}

static void launch(cudaStream_t stream, int step, pdl_overlap overlap, int words, int)
{
    const launch_site site = {BLOCKS, THREADS, 0, stream, overlap};

    if (step % 2 == 0) {
        launch_kernel(site, elementwise<add_one, unsigned>, buffer[1], buffer[0], words, add_one());
    } else {
        launch_kernel(site, elementwise<scale, unsigned>, buffer[0], buffer[1], words, scale{3});
    }
}

int main(void)
{
    measurement m = PDL_ZERO;

    m.name = "16_templated_launcher";
    m.launch = launch;
    m.words = WORDS;
    m.kernels = 2;
    return measure(&m);
}
