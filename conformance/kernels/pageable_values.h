/* pageable_values.h - the pair of pageable.cu with memsets of values of 1, 2 and 4 bytes, by the driver's calls. */
#ifndef PAGEABLE_VALUES_H_INCLUDED
#define PAGEABLE_VALUES_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

#define VALUE_MARGIN 4096u      /* bytes after the memset that are looked at; they stay as they were */

static const char *const set_names[] = { "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async" };
static const unsigned char value_bytes[] = { 0xA1, 0xB2, 0xC3, 0xD4 };

struct values {
    struct pageable *pageable;
    void *set[3];               /* the driver's functions, by the logarithm of a value's bytes; NULL: it has none */
    size_t shift;               /* values before the first one */
    unsigned wrong, trials;
};

/* Its first value's place; no multiple of 16 bytes in three of four trials. */
static size_t first_byte(const struct values *v, unsigned width) { return v->shift << width; }

static cudaError_t set_by_driver(const struct values *v, unsigned width, size_t count, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *set_8)(CUdeviceptr, unsigned char, size_t, CUstream);
    typedef CUresult(CUDAAPI *set_16)(CUdeviceptr, unsigned short, size_t, CUstream);
    typedef CUresult(CUDAAPI *set_32)(CUdeviceptr, unsigned, size_t, CUstream);
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)(v->pageable->device + first_byte(v, width));
    unsigned short half;
    unsigned word;

    memcpy(&half, value_bytes, sizeof(half));
    memcpy(&word, value_bytes, sizeof(word));
    switch (width) {
    case 0: return (cudaError_t)((set_8)v->set[0])(at, value_bytes[0], count, stream);
    case 1: return (cudaError_t)((set_16)v->set[1])(at, half, count, stream);
    default: return (cudaError_t)((set_32)v->set[2])(at, word, count, stream);
    }
}

/* The same, captured, and launched as a graph. */
static cudaError_t set_by_graph(const struct values *v, unsigned width, size_t count, cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    return error == cudaSuccess ? ask_run_capture(stream, set_by_driver(v, width, count, stream)) : error;
}

static cudaError_t try_value(struct values *v, unsigned width, size_t count, int captured)
{
    struct pageable *p = v->pageable;
    cudaStream_t stream = p->ask->stream;
    size_t first = first_byte(v, width), bytes = count << width, room = first + bytes + VALUE_MARGIN, i;
    cudaError_t error = cudaMemsetAsync(p->device, 0x5A, room, stream);
    unsigned differs = 0;

    if (error == cudaSuccess)
        error = captured ? set_by_graph(v, width, count, stream) : set_by_driver(v, width, count, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(p->back, p->device, room, cudaMemcpyDeviceToHost);
    for (i = 0; i < room; i++)
        differs |= p->back[i] != (i >= first && i - first < bytes ? value_bytes[i % (1u << width)] : 0x5A);
    v->wrong += error == cudaSuccess && differs;
    v->trials++;
    return error;
}

static void ask_values(struct ask *ask)
{
    static const size_t counts[] = { 1, 2, 63, 64, 65, 257, 4096, 70001 }, shifts[4] = { 0, 1, 2, 5 };
    const unsigned each = sizeof(counts) / sizeof(counts[0]);
    struct pageable p = PDL_ZERO;
    struct values v = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned width, i;

    v.pageable = &p;
    if (!open_pageable(&p, ask)) {
        close_pageable(&p);
        return;
    }
    for (width = 0; width < 3; width++) {
        error = driver_function(set_names[width], 3020, &v.set[width]);
        ask_expect(ask, set_names[width], error, cudaSuccess);
        for (i = 0; i < 2 * each && error == cudaSuccess; i++) {
            v.shift = shifts[(i + i / each + width) % 4];
            error = try_value(&v, width, counts[i % each], i >= each);
        }
        ask_expect(ask, "its memsets", error, cudaSuccess);
    }
    ask_expect_none(ask, "memsets of values of 1, 2 and 4 bytes that left other bytes", v.wrong, v.trials);
    close_pageable(&p);
}

#endif
