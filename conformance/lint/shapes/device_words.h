/* device_words.h - the few words of CUDA C++ that the shapes use, for compilers without CUDA's own headers: clang with
 * -nocudainc, and nothing for nvcc and NVRTC, which have them built in. */
#ifndef DEVICE_WORDS_H_INCLUDED
#define DEVICE_WORDS_H_INCLUDED

#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDACC_VER_MAJOR__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __grid_constant__ /* clang 19 does not have it; it copies the parameter where it has to */
#define __forceinline__ __inline__ __attribute__((always_inline))

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) double2 {
    double x, y;
};
struct device_index {
    static __device__ __forceinline__ unsigned tid_x(void) { return __nvvm_read_ptx_sreg_tid_x(); }
    static __device__ __forceinline__ unsigned tid_y(void) { return __nvvm_read_ptx_sreg_tid_y(); }
    static __device__ __forceinline__ unsigned tid_z(void) { return __nvvm_read_ptx_sreg_tid_z(); }
    __declspec(property(get = tid_x)) unsigned x;
    __declspec(property(get = tid_y)) unsigned y;
    __declspec(property(get = tid_z)) unsigned z;
};
extern const __device__ device_index threadIdx;

static __device__ __forceinline__ unsigned long __cvta_generic_to_global(const void *pointer)
{
    return (unsigned long)(void __attribute__((address_space(1))) *)const_cast<void *>(pointer);
}
static __device__ __forceinline__ void *__cvta_global_to_generic(unsigned long address)
{
    return (void *)(void __attribute__((address_space(1))) *)address;
}
struct dim3 { /* for the host pass, which does not run */
    unsigned x, y, z;
};
typedef struct CUstream_st *cudaStream_t;
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, unsigned long, cudaStream_t);
extern "C" int __cudaPopCallConfiguration(dim3 *, dim3 *, unsigned long *, void *);
static __device__ __forceinline__ void __threadfence(void) { __nvvm_membar_gl(); }
static __device__ __forceinline__ void __threadfence_block(void) { __nvvm_membar_cta(); }
static __device__ __forceinline__ int atomicAdd(int *pointer, int value) { return __nvvm_atom_add_gen_i(pointer, value); }
template <typename T> static __device__ __forceinline__ T __ldg(const T *pointer)
{
    return __nvvm_ldg_f(pointer); /* the shapes read floats this way */
}
#endif

#endif
