/* kernels.cu - the kernels of the zoo of missing overlap. Compiled to machine code for compute_90 and, as `old`, for compute_80,
 * where triggers and waits compile to nothing. All spins are bounded. */
#include "../../../pdl_device.cuh"

static __device__ unsigned long long now(void)
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

static __device__ void hold(unsigned ns)
{
    const unsigned long long from = now();
    for (int i = 0; i < 1000000 && now() - from < ns; i++) {
    }
}

extern "C" __global__ void gate(unsigned before, unsigned after)
{
    hold(before);
    hold(after);
}

extern "C" __global__ void first(unsigned before, unsigned after)
{
    pdl_trigger();
    hold(before);
    hold(after);
}

extern "C" __global__ void first_silent(unsigned before, unsigned after)
{
    hold(before);
    hold(after);
}

extern "C" __global__ void second(unsigned before, unsigned after)
{
    hold(before);
    pdl_wait();
    hold(after);
}

extern "C" __global__ void second_waits_first(unsigned before, unsigned after)
{
    pdl_wait();
    hold(before);
    hold(after);
}

extern "C" __global__ void second_shared(unsigned before, unsigned after)
{
    __shared__ volatile unsigned room[1024];
    room[threadIdx.x] = before;
    hold(room[threadIdx.x]);
    pdl_wait();
    hold(after);
}

extern "C" __global__ void second_unloaded(unsigned before, unsigned after)
{
    hold(before);
    pdl_wait();
    hold(after);
}
