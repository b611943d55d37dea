/* Pointers that take detours: structs, tables, shared memory, the stack, module variables, tags, functions. */
#include "corpus.h"

struct tensor {
    float *data;
    int size;
    const float *scale;
};
struct tensors {
    tensor t[6];
};

BUG(struct_array, "read-before-wait")(const __grid_constant__ tensors all, float *o, int k)
{
    const tensor &t = all.t[k];
    float v = t.data[threadIdx.x % t.size];
    pdl_wait();
    o[threadIdx.x] = v * t.scale[0];
}
OK(struct_array)(const __grid_constant__ tensors all, float *o, int k)
{
    const tensor &t = all.t[k];
    int i = threadIdx.x % t.size;
    pdl_wait();
    o[threadIdx.x] = t.data[i] * t.scale[0];
}

BUG(local_copy, "read-before-wait")(tensors all, float *o, int k)
{
    tensors mine = all;
    mine.t[k].size++;
    float v = ((volatile float *)mine.t[k ^ 1].data)[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v + (float)mine.t[k].size;
}
OK(local_copy)(tensors all, float *o, int k)
{
    tensors mine = all;
    mine.t[k].size++;
    int n = mine.t[k ^ 1].size;
    pdl_wait();
    o[threadIdx.x] = ((volatile float *)mine.t[k ^ 1].data)[threadIdx.x] + (float)n;
}

/* A table of pointers in shared memory; those in the twin's early loop point to shared memory themselves. */
BUG(shared_table, "read-before-wait")(float *a, float *b, float *o, int k)
{
    __shared__ float *table[2];
    if (threadIdx.x == 0) {
        table[0] = a;
        table[1] = b;
    }
    __syncthreads();
    float v = *(volatile float *)(table[k & 1] + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(shared_table)(float *a, float *o, int k)
{
    __shared__ float *table[2];
    __shared__ float s[2][256];
    s[0][threadIdx.x] = (float)k;
    s[1][threadIdx.x] = (float)threadIdx.x;
    if (threadIdx.x == 0) {
        table[0] = s[0];
        table[1] = s[1];
    }
    __syncthreads();
    float v = *(volatile float *)(table[k & 1] + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}

__device__ float *module_pointer;
__constant__ float *constant_pointer;
__constant__ tensor constant_tensors[4];
__device__ float *module_pointers[4];

BUG(module_pointer, "read-before-wait")(float *o)
{
    float v = *(volatile float *)(module_pointer + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(module_pointer)(float *o)
{
    pdl_wait();
    o[threadIdx.x] = *(volatile float *)(module_pointer + threadIdx.x);
}

BUG(constant_pointer, "read-before-wait")(float *o)
{
    float v = *(volatile float *)(constant_pointer + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(constant_pointer)(float *o)
{
    int k = constant_tensors[1].size;
    pdl_wait();
    o[threadIdx.x] = *(volatile float *)(constant_pointer + threadIdx.x + k);
}

BUG(constant_struct, "read-before-wait")(float *o, int k)
{
    float v = *(const volatile float *)(constant_tensors[k].scale + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(constant_struct)(float *o, int k)
{
    const float *p = constant_tensors[k].scale;
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(p + threadIdx.x);
}

BUG(module_store, "write-before-wait")(float *a, int k)
{
    module_pointers[k] = a;
    pdl_wait();
    a[threadIdx.x] = 1.0f;
}
OK(module_store)(float *a, int k)
{
    pdl_wait();
    module_pointers[k] = a;
    a[threadIdx.x] = 1.0f;
}

/* A pointer with a tag in its low bits. */
BUG(tagged, "read-before-wait")(unsigned long long a, float *o)
{
    const float *p = (const float *)(a & ~15ull);
    float v = (a & 1) ? *(const volatile float *)(p + threadIdx.x) : 0.0f;
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(tagged)(unsigned long long a, float *o)
{
    const float *p = (const float *)(a & ~15ull);
    float scale = (a & 1) ? 2.0f : 0.0f;
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)(p + threadIdx.x) * scale;
}

/* An offset from a base that the whole grid shares, in units of 32 bits. */
BUG(offset, "read-before-wait")(const char *base, const unsigned offsets, float *o)
{
    float v = *(const volatile float *)(base + (unsigned long long)offsets * 4096u + threadIdx.x * 4u);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(offset)(const char *base, const unsigned offsets, float *o)
{
    const char *p = base + (unsigned long long)offsets * 4096u + threadIdx.x * 4u;
    pdl_wait();
    o[threadIdx.x] = *(const volatile float *)p;
}

/* More registers than there are: spilled words go to local memory, which belongs to the thread. */
template <int count> INLINED float mix(float seed)
{
    float x[count];
#pragma unroll
    for (int i = 0; i < count; i++) {
        x[i] = __sinf(seed * (float)(i + 1));
    }
    for (int round = 0; round < 3; round++) {
#pragma unroll
        for (int i = 0; i < count; i++) {
            x[i] = fmaf(x[i], x[(i * 7 + 3) % count], x[(i * 5 + 1) % count]);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < count; i++) {
        sum += x[i];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(1024, 2) bug_spilled(const float *a, float *o, float x);
BUG(spilled, "read-before-wait")(const float *a, float *o, float x)
{
    float v = mix<96>(x + (float)threadIdx.x) + a[threadIdx.x];
    pdl_wait();
    o[threadIdx.x] = v;
}
extern "C" __global__ void __launch_bounds__(1024, 2) ok_spilled(const float *a, float *o, float x);
OK(spilled)(const float *a, float *o, float x)
{
    float v = mix<96>(x + (float)threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}

BUG(local_array, "read-before-wait")(const float *a, float *o, int k)
{
    float x[32];
    for (int i = 0; i < 32; i++) {
        x[i] = a[i * k];
    }
    pdl_wait();
    o[threadIdx.x] = x[k & 31];
}
OK(local_array)(const float *a, float *o, int k)
{
    float x[32];
    for (int i = 0; i < 32; i++) {
        x[(i * k) & 31] = (float)i;
    }
    float early = x[k & 31];
    pdl_wait();
    o[threadIdx.x] = early + a[k];
}

/* alloca and a linked list on the stack */
struct link {
    const link *next;
    float x;
};
CALLED float walk(const link *l)
{
    float sum = 0.0f;
    for (; l; l = l->next) {
        sum += *(const volatile float *)&l->x;
    }
    return sum;
}
BUG(list, "read-before-wait")(const link *l, float *o)
{
    float v = walk(l);
    pdl_wait();
    o[threadIdx.x] = v;
}
OK(list)(const float *a, float *o, int n)
{
    link third = {nullptr, 3.0f}, second = {&third, 2.0f}, first = {n ? &second : &third, 1.0f};
    float v = walk(&first);
    pdl_wait();
    o[threadIdx.x] = v + a[threadIdx.x];
}
