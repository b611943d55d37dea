// A foreign code base in the style of inference engines: templated kernels, and launchers in classes that forward them. This
// is what a port to pdl.h touches: each launch site is one line, with FOREIGN_PORTED and without.
#pragma once
#include <cuda_runtime_api.h>
#include <stdexcept>

#include "kernels_of_layers.h"
#ifdef FOREIGN_PORTED
#include "pdl.h"
#endif

namespace engine {

inline void check(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error("a launch failed");
}

struct context { // one per device, as in most engines
    int device;
    cudaStream_t stream;
};

template <typename T, int unroll> class scale_layer {
public:
    explicit scale_layer(T factor) : factor_(factor) {}
    void run(const context &at, T *out, const T *in, int count) const
    {
        const dim3 grid(static_cast<unsigned>(count + unroll * 8 - 1) / (unroll * 8));
#ifdef FOREIGN_PORTED
        check(pdl::launch(kernels::scale<T, unroll>, grid, 8, 0, at.stream, pdl::overlap, out, in, factor_, count));
#else
        check(kernels::launch(kernels::scale<T, unroll>, grid, 8, 0, at.stream, out, in, factor_, count));
#endif
    }

private:
    T factor_;
};

// A generic launcher: the kernel comes from the caller.
template <typename... params, typename... arguments>
void run_elementwise(const context &at, void (*kernel)(params...), int count, arguments... args)
{
    const dim3 grid(static_cast<unsigned>(count + 7) / 8);
#ifdef FOREIGN_PORTED
    check(pdl::launch(kernel, grid, 8, 0, at.stream, pdl::overlap, args..., count));
#else
    check(kernels::launch(kernel, grid, 8, 0, at.stream, args..., count));
#endif
}

// A site that used cudaLaunchKernelEx, with an attribute of its own.
template <typename T> void run_urgent(const context &at, T *out, int count)
{
    cudaLaunchAttribute priority = {};
    cudaLaunchConfig_t config = {};

    priority.id = cudaLaunchAttributePriority;
    priority.val.priority = -1;
    config.gridDim = dim3(1);
    config.blockDim = dim3(8);
    config.stream = at.stream;
    config.attrs = &priority;
    config.numAttrs = 1;
#ifdef FOREIGN_PORTED
    check(pdl::launch(&config, kernels::increment<T>, out, count));
#else
    check(kernels::launch_config(&config, kernels::increment<T>, out, count));
#endif
}

} // namespace engine
