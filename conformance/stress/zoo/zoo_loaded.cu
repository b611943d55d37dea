/* zoo_loaded.cu - the same pair as text: compiled to PTX ahead, or by NVRTC in the running program, and loaded by the driver */
struct buffers {
    unsigned *in, *a, *b, *c, *out, *index, *scalar;
    unsigned n;
};

extern "C" __global__ void loaded_nowait(struct buffers p)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p.out[i] = p.a[i] + 41;
}
extern "C" __global__ void loaded_ok(struct buffers p)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" : : : "memory");
    p.out[i] = p.a[i] + 41;
}
