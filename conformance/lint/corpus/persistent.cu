/* Persistent kernels: tiles from a counter, a schedule or a loop over the grid; the first one is where waits get lost. */
#include "corpus.h"

struct schedule {
    int tile, last, step;
};

struct problem {
    int m, n, k;
};

/* A scheduler as GEMM libraries have it: the constructor asks for the problem's shape. */
struct tile_scheduler {
    int tiles, current;
    __device__ explicit tile_scheduler(const problem *shapes) : tiles(shapes[0].m * shapes[0].n), current((int)blockIdx.x) {}
    __device__ bool more() const { return current < tiles; }
    __device__ void next() { current += (int)gridDim.x; }
};

BUG(scheduler, "read-before-wait")(const problem *shapes, const float *a, float *o)
{
    tile_scheduler tiles(shapes);
    pdl_wait();
    for (; tiles.more(); tiles.next()) {
        o[tiles.current * 128 + threadIdx.x] = a[tiles.current * 128 + threadIdx.x];
    }
}
OK(scheduler)(const problem *shapes, const float *a, float *o)
{
    pdl_wait();
    tile_scheduler tiles(shapes);
    for (; tiles.more(); tiles.next()) {
        o[tiles.current * 128 + threadIdx.x] = a[tiles.current * 128 + threadIdx.x];
    }
}

BUG(work_counter, "atomic-before-wait|partial-wait")(int *counter, const float *a, float *o, int tiles)
{
    __shared__ int mine;
    for (bool first = true;; first = false) {
        if (threadIdx.x == 0) {
            mine = atomicAdd(counter, 1);
        }
        __syncthreads();
        int tile = mine;
        __syncthreads();
        if (tile >= tiles) {
            break;
        }
        if (first) {
            pdl_wait();
        }
        o[tile * 128 + threadIdx.x] = a[tile * 128 + threadIdx.x];
    }
}
OK(work_counter)(int *counter, const float *a, float *o, int tiles)
{
    __shared__ int mine;
    pdl_wait();
    for (;;) {
        if (threadIdx.x == 0) {
            mine = atomicAdd(counter, 1);
        }
        __syncthreads();
        int tile = mine;
        __syncthreads();
        if (tile >= tiles) {
            break;
        }
        o[tile * 128 + threadIdx.x] = a[tile * 128 + threadIdx.x];
    }
}

BUG(first_tile, "read-before-wait|path-without-wait")(const float *a, float *o, int tiles)
{
    bool waited = false;
    for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x) {
        float x = a[t * 128 + threadIdx.x]; /* the first tile is loaded above the wait */
        if (!waited) {
            pdl_wait();
            waited = true;
        }
        o[t * 128 + threadIdx.x] = x;
    }
}
OK(first_tile)(const float *a, float *o, int tiles)
{
    bool waited = false;
    for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x) {
        if (!waited) {
            pdl_wait();
            waited = true;
        }
        o[t * 128 + threadIdx.x] = pdl_fresh(a)[t * 128 + threadIdx.x];
    }
}

BUG(second_tile, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int tiles)
{
    int number = 0; /* waits with its second tile only */
    for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x, number++) {
        if (number == 1) {
            pdl_wait();
        }
        o[t * 128 + threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
    }
}
OK(second_tile)(const float *a, float *o, int tiles)
{
    int number = 0;
    for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x, number++) {
        if (number == 0) {
            pdl_wait();
        }
        o[t * 128 + threadIdx.x] = *(const volatile float *)(a + t * 128 + threadIdx.x);
    }
}

BUG(stored_schedule, "read-before-wait")(const schedule *table, const float *a, float *o)
{
    schedule s = table[blockIdx.x];
    pdl_wait();
    for (int t = s.tile; t < s.last; t += s.step) {
        o[t * 128 + threadIdx.x] = a[t * 128 + threadIdx.x];
    }
}
OK(stored_schedule)(const schedule table, const float *a, float *o)
{
    schedule s = table;
    pdl_wait();
    for (int t = s.tile; t < s.last; t += s.step) {
        o[t * 128 + threadIdx.x] = a[t * 128 + threadIdx.x];
    }
}

/* Double buffering in registers: the load of the next tile stands ahead of the work on this one. */
BUG(next_tile, "read-before-wait")(const float4 *a, float4 *o, int tiles)
{
    int t = (int)blockIdx.x;
    float4 next = a[t * 128 + threadIdx.x];
    pdl_wait();
    for (; t < tiles; t += (int)gridDim.x) {
        float4 now = next;
        if (t + (int)gridDim.x < tiles) {
            next = a[(t + (int)gridDim.x) * 128 + threadIdx.x];
        }
        o[t * 128 + threadIdx.x] = now;
    }
}
OK(next_tile)(const float4 *a, float4 *o, int tiles)
{
    int t = (int)blockIdx.x;
    pdl_wait();
    a = pdl_fresh(a);
    float4 next = a[t * 128 + threadIdx.x];
    for (; t < tiles; t += (int)gridDim.x) {
        float4 now = next;
        if (t + (int)gridDim.x < tiles) {
            next = a[(t + (int)gridDim.x) * 128 + threadIdx.x];
        }
        o[t * 128 + threadIdx.x] = now;
    }
}

/* The last block to finish sums up: a ticket counter as reductions have it. */
BUG(last_block, "atomic-before-wait|write-before-wait|path-without-wait")(float *partial, unsigned *ticket, float *o, int n)
{
    __shared__ bool last;
    partial[blockIdx.x] = (float)n;
    __threadfence();
    if (threadIdx.x == 0) {
        last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        pdl_wait();
        o[threadIdx.x] = partial[threadIdx.x];
    }
}
OK(last_block)(float *partial, unsigned *ticket, float *o, int n)
{
    __shared__ bool last;
    pdl_wait();
    partial[blockIdx.x] = (float)n;
    __threadfence();
    if (threadIdx.x == 0) {
        last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        o[threadIdx.x] = partial[threadIdx.x];
    }
}

/* Spins on a flag in global memory, which is an access like any other. */
BUG(spin, "read-before-wait")(const int *flag, const float *a, float *o)
{
    while (*(const volatile int *)flag == 0) {
    }
    pdl_wait();
    o[threadIdx.x] = a[threadIdx.x];
}
OK(spin)(const int *flag, const float *a, float *o)
{
    pdl_wait();
    while (*(const volatile int *)flag == 0) {
    }
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}
