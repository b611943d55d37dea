/* The kernel that plans FlashInfer's attention for Blackwell, so that it is compiled. It never runs. */
#include <flashinfer/attention/blackwell/plan.cuh>

cudaError_t use(int *words, cudaStream_t stream)
{
    return flashinfer::plan_kernel_wrapper(words, words, nullptr, nullptr, words, words, words, words, 128, 1, 1, 1, true, true, stream);
}
