/* launch_peers.cuh - the launch wrappers of others that this build's include path brings; part of launch_cost.cu. */
static cudaError_t by_toolkit_template(int *argument)
{
    cudaLaunchAttribute attribute = early_start();
    cudaLaunchConfig_t config = one_thread();

    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, cost_empty, argument);
}

/* The style of TensorRT-LLM: a function reads an environment variable once, and each site fills config and attribute. */
static bool environment_wants_overlap(void)
{
    static const bool wanted = [] {
        const char *text = getenv("LAUNCH_COST_OVERLAP");

        return text == NULL || text[0] != '0';
    }();

    return wanted;
}

static cudaError_t by_environment(int *argument)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = one_thread();

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = environment_wants_overlap();
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, cost_empty, argument);
}

/* What Thrust and CUB launch their kernels with. A version from before its option for PDL is not compared. */
#if __has_include(<thrust/system/cuda/detail/core/triple_chevron_launch.h>)
#define HAS_TRIPLE_CHEVRON 1
#define MISSING_TRIPLE_CHEVRON ""
#include <thrust/system/cuda/detail/core/triple_chevron_launch.h>

#include <type_traits>

template <class launcher> static cudaError_t by_triple_chevron_of(int *argument)
{
    if constexpr (std::is_constructible<launcher, dim3, dim3, size_t, cudaStream_t, bool>::value)
        return launcher(dim3(1), dim3(1), 0, stream, true).doit(cost_empty, argument);
    else
        return cudaErrorNotSupported;
}

static cudaError_t by_triple_chevron(int *argument)
{
    return by_triple_chevron_of<THRUST_NS_QUALIFIER::cuda_cub::detail::triple_chevron>(argument);
}
#else
#define HAS_TRIPLE_CHEVRON 0
#define MISSING_TRIPLE_CHEVRON "CCCL's triple_chevron: this toolkit's headers do not have it. "
#endif

/* CUTLASS 3.5 or newer, where its include folder is on the path. */
#if __has_include(<cutlass/kernel_launch.h>) && __has_include(<cutlass/cluster_launch.hpp>)
#define HAS_CUTLASS 1
#define MISSING_CUTLASS ""
#include <cutlass/arch/arch.h>
#include <cutlass/cluster_launch.hpp>
#include <cutlass/kernel_launch.h>

struct empty_operator { /* the part of a CUTLASS kernel that its launchers use */
    struct Params {
        int *unused;
    };
    using ArchTag = cutlass::arch::Sm90;
    static constexpr int MaxThreadsPerBlock = 1, MinBlocksPerMultiprocessor = 1;
    __device__ void operator()(const Params &, char *)
    {
        pdl_trigger();
        pdl_wait();
    }
};

static cudaError_t by_cutlass(int *argument)
{
    const empty_operator::Params params = {argument};

    return cutlass::kernel_launch<empty_operator>(dim3(1), dim3(1), 0, stream, params, true) ==
                   cutlass::Status::kSuccess ? cudaSuccess : cudaErrorUnknown;
}

static cudaError_t by_cutlass_cluster(int *argument)
{
    void *args[] = {&argument};

    return cutlass::ClusterLauncher::launch(dim3(1), dim3(1), dim3(1), 0, stream, (const void *)cost_empty, args, true) ==
                   cutlass::Status::kSuccess ? cudaSuccess : cudaErrorUnknown;
}
#else
#define HAS_CUTLASS 0
#define MISSING_CUTLASS "CUTLASS's kernel_launch and ClusterLauncher: its headers are not on the include path. "
#endif
