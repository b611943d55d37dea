// 19_pytorch_extension: an operator for PyTorch whose kernel overlaps with the one before it. Licence: 0BSD
// python3 run.py builds it with torch.utils.cpp_extension, runs it and compares.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <algorithm>
#include <torch/library.h>
#include "pdl.h"
#include "pdl_device.cuh"

__global__ void scale_shift_kernel(float *out, const float *in, float scale, float shift, int64_t count)
{
    pdl_trigger();
    pdl_wait(); // also before the first store: the allocator may hand out memory that the kernel before still reads
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x) {
        pdl_fresh(out)[i] = scale * pdl_fresh(in)[i] + shift;
    }
}

static at::Tensor scale_shift(const at::Tensor &in, double scale, double shift, bool overlap)
{
    TORCH_CHECK(in.is_cuda() && in.scalar_type() == at::kFloat && in.is_contiguous(),
                "wants a contiguous float tensor on a GPU");
    const c10::cuda::CUDAGuard guard(in.device());
    const at::Tensor out = at::empty_like(in);
    const int64_t count = in.numel(), blocks = std::min<int64_t>((count + 255) / 256, 1024);

    if (count != 0) {
        C10_CUDA_CHECK(pdl::launch(scale_shift_kernel, dim3(blocks), 256, 0, c10::cuda::getCurrentCUDAStream(),
                                   overlap ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_NONE, out.data_ptr<float>(),
                                   in.const_data_ptr<float>(), float(scale), float(shift), count));
    }
    return out;
}

TORCH_LIBRARY(pdl_example, library)
{
    library.def("scale_shift(Tensor x, float scale, float shift, bool overlap=True) -> Tensor");
}

TORCH_LIBRARY_IMPL(pdl_example, CUDA, library)
{
    library.impl("scale_shift", scale_shift);
}
