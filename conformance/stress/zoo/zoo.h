/* zoo.h - what the planted bugs share: buffers, sizes, and the macros that give each kernel its readable name */
#ifndef PDL_STRESS_ZOO_H
#define PDL_STRESS_ZOO_H

struct buffers {
    unsigned *in, *a, *b, *c, *out, *index, *scalar;
    unsigned n;
};

enum { BLOCKS = 16, THREADS = 128, WORDS = BLOCKS * THREADS };

#define ZOO(name) extern "C" __global__ void name(struct buffers p)
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

#endif
