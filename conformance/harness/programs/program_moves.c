/* program_moves.c - a memset or a copy of a program in a stream, by any call that moves the same bytes. Of a captured one the call may say what
 * its node can become: those go by few calls. */
#include "program.h"

#include <cuda.h>
#include <string.h>

#include "try.h"

void program_open_driver_moves(struct program_room *room)
{
    static const struct driver_call calls[DRIVER_MOVES] = {
        [MOVE_ANY] = { "cuMemcpyAsync", 4000 }, [MOVE_DOWN] = { "cuMemcpyHtoDAsync", 3020 }, [MOVE_UP] = { "cuMemcpyDtoHAsync", 3020 },
        [MOVE_INSIDE] = { "cuMemcpyDtoDAsync", 3020 }, [SET_BYTES] = { "cuMemsetD8Async", 3020 }, [SET_HALVES] = { "cuMemsetD16Async", 3020 },
        [SET_WORDS] = { "cuMemsetD32Async", 3020 }, [SET_ROWS] = { "cuMemsetD2D8Async", 3020 }, [SET_VALUE] = { "cuStreamWriteValue32", 11070 }
    };
    unsigned i;

    for (i = 0; i < DRIVER_MOVES; i++)
        room->driver.move[i] = program_driver_call(&calls[i]);
}

static CUdeviceptr at_device(const void *at) { return (CUdeviceptr)(uintptr_t)at; }

/* Into how many rows without gaps so many bytes may be taken apart. */
static unsigned rows_of(size_t bytes)
{
    unsigned rows = 8;

    while (bytes % rows != 0)
        rows--;
    return rows;
}

/* ---- memsets ---- */

static cudaError_t set_bytes(void *function, const struct cudaMemsetParams *set, size_t bytes, CUstream stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, unsigned char, size_t, CUstream);

    return (cudaError_t)((set_fn)function)(at_device(set->dst), (unsigned char)set->value, bytes, stream);
}

static cudaError_t set_halves(void *function, const struct cudaMemsetParams *set, size_t bytes, CUstream stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, unsigned short, size_t, CUstream);

    return (cudaError_t)((set_fn)function)(at_device(set->dst), (unsigned short)((set->value & 255) * 0x0101u), bytes / 2, stream);
}

static cudaError_t set_words(void *function, const struct cudaMemsetParams *set, size_t bytes, CUstream stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, unsigned, size_t, CUstream);

    return (cudaError_t)((set_fn)function)(at_device(set->dst), (set->value & 255) * 0x01010101u, bytes / 4, stream);
}

static cudaError_t set_rows(void *function, const struct cudaMemsetParams *set, size_t bytes, CUstream stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
    unsigned rows = rows_of(bytes);

    return (cudaError_t)((set_fn)function)(at_device(set->dst), bytes / rows, (unsigned char)set->value, bytes / rows, rows, stream);
}

/* One word, which the stream stores itself; not in memory of a pool: a driver is known that refuses to, and no document says that it must not. */
static cudaError_t set_value(void *function, const struct cudaMemsetParams *set, CUstream stream)
{
    typedef CUresult(CUDAAPI *write_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

    return (cudaError_t)((write_fn)function)(stream, at_device(set->dst), (set->value & 255) * 0x01010101u, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static cudaError_t set_by_driver(const struct program_room *room, const struct cudaMemsetParams *set, size_t bytes, cudaStream_t stream,
                                 struct dice *dice)
{
    static const unsigned char unit[] = { [SET_BYTES] = 1, [SET_HALVES] = 2, [SET_WORDS] = 4, [SET_ROWS] = 1 };
    enum driver_move how = (enum driver_move)(SET_BYTES + dice_below(dice, SET_VALUE - SET_BYTES));
    void *const *move = room->driver.move, *function;

    if (bytes == 4 && at_device(set->dst) % 4 == 0 && room->data == room->place[0] && move[SET_VALUE]) {
        cudaError_t error = set_value(move[SET_VALUE], set, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    if (bytes % unit[how] || at_device(set->dst) % unit[how])
        how = SET_BYTES;
    function = move[how];
    switch (function ? how : DRIVER_MOVES) {
    case SET_BYTES: return set_bytes(function, set, bytes, stream);
    case SET_HALVES: return set_halves(function, set, bytes, stream);
    case SET_WORDS: return set_words(function, set, bytes, stream);
    case SET_ROWS: return set_rows(function, set, bytes, stream);
    default: return cudaMemsetAsync(set->dst, (int)(set->value & 255), bytes, stream);
    }
}

cudaError_t program_launch_set(const struct made *made, unsigned index, const struct step_params *params, cudaStream_t stream, struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    const struct cudaMemsetParams *set = &params->as.set;
    int value = (int)(set->value & 255);

    if (step->rows > 1)
        return cudaMemset2DAsync(set->dst, set->pitch, value, step->bytes, set->height, stream);
    if (stream == cudaStreamLegacy && dice && dice_below(dice, 2))
        return cudaMemset(set->dst, value, step->bytes);
    if (made->eager && program_goes_by_driver(made, dice))
        return set_by_driver(made->room, set, step->bytes, stream, dice);
    return cudaMemsetAsync(set->dst, value, step->bytes, stream);
}

/* ---- copies ---- */

/* "For transfers between device memory and pageable host memory, the function might be synchronous": the buffer stays until it surely has been
 * read. */
static cudaError_t copy_from_pageable(const struct step_params *params, cudaStream_t stream)
{
    char pageable[STEP_BYTES];
    cudaError_t error, end;

    memcpy(pageable, params->as.copy.from, params->as.copy.bytes);
    error = cudaMemcpyAsync(params->as.copy.to, pageable, params->as.copy.bytes, cudaMemcpyHostToDevice, stream);
    end = cudaStreamSynchronize(stream);
    memset(pageable, 0xA5, sizeof(pageable));
    return error == cudaSuccess ? end : error;
}

/* It is complete when the stream is. */
static cudaError_t copy_to_pageable(const struct step_params *params, cudaStream_t stream)
{
    char pageable[STEP_BYTES];

    TRY(cudaMemcpyAsync(pageable, params->as.copy.from, params->as.copy.bytes, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    memcpy(params->as.copy.to, pageable, params->as.copy.bytes);
    return cudaSuccess;
}

static struct cudaPitchedPtr layers_at(void *at, size_t width)
{
    struct cudaPitchedPtr layers;

    layers.ptr = at;
    layers.pitch = layers.xsize = width;
    layers.ysize = 1;
    return layers;
}

static cudaError_t copy_layers(const struct step_params *params, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct cudaMemcpy3DParms layers = PDL_ZERO;
    unsigned rows = rows_of(params->as.copy.bytes);

    layers.extent.width = params->as.copy.bytes / rows;
    layers.extent.height = 1;
    layers.extent.depth = rows;
    layers.srcPtr = layers_at(params->as.copy.from, layers.extent.width);
    layers.dstPtr = layers_at(params->as.copy.to, layers.extent.width);
    layers.kind = kind;
    return cudaMemcpy3DAsync(&layers, stream);
}

/* Two copies, queued by one call. */
static cudaError_t copy_pieces(const struct step_params *params, cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
    size_t bytes[2] = { params->as.copy.bytes / 3 + 1, 0 }, first = 0;
    void *to[2] = { params->as.copy.to, params->as.copy.to + bytes[0] };
    void *from[2] = { params->as.copy.from, params->as.copy.from + bytes[0] };
    struct cudaMemcpyAttributes attributes = PDL_ZERO;
    size_t count = params->as.copy.bytes > bytes[0] ? 2 : 1;

    bytes[1] = params->as.copy.bytes - bytes[0];
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(to, (const void **)from, bytes, count, &attributes, &first, 1, stream);
#else
    size_t failed;
    return cudaMemcpyBatchAsync(to, from, bytes, count, &attributes, &first, 1, &failed, stream);
#endif
#else
    (void)params, (void)stream;
    return cudaErrorNotSupported;
#endif
}

/* By the call for this direction, or by the one for all. */
static cudaError_t copy_by_driver(const struct program_driver *driver, const struct step_params *params, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, struct dice *dice)
{
    typedef CUresult(CUDAAPI *down_fn)(CUdeviceptr, const void *, size_t, CUstream);
    typedef CUresult(CUDAAPI *up_fn)(void *, CUdeviceptr, size_t, CUstream);
    typedef CUresult(CUDAAPI *any_fn)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    enum driver_move how = kind == cudaMemcpyHostToDevice ? MOVE_DOWN : kind == cudaMemcpyDeviceToHost ? MOVE_UP
                           : kind == cudaMemcpyDeviceToDevice ? MOVE_INSIDE : MOVE_ANY;
    size_t bytes = params->as.copy.bytes;
    char *to = params->as.copy.to, *from = params->as.copy.from;

    if (!driver->move[how] || dice_below(dice, 2))
        how = MOVE_ANY;
    if (!driver->move[how])
        return cudaMemcpyAsync(to, from, bytes, kind, stream);
    switch (how) {
    case MOVE_DOWN: return (cudaError_t)((down_fn)driver->move[how])(at_device(to), from, bytes, stream);
    case MOVE_UP: return (cudaError_t)((up_fn)driver->move[how])(to, at_device(from), bytes, stream);
    default: return (cudaError_t)((any_fn)driver->move[how])(at_device(to), at_device(from), bytes, stream);
    }
}

/* As rows, as layers, or in pieces. */
static cudaError_t copy_otherwise(const struct made *made, const struct step_params *params, enum cudaMemcpyKind kind, cudaStream_t stream,
                                  struct dice *dice)
{
    size_t bytes = params->as.copy.bytes, width = bytes / rows_of(bytes);

    switch (dice_below(dice, 3)) {
    case 0: /* of a captured one "the original memory operands are multidimensional" */
        return cudaMemcpy2DAsync(params->as.copy.to, width, params->as.copy.from, width, width, bytes / width, kind, stream);
    case 1: return copy_layers(params, kind, stream);
    default:
        return made->room->size.batches && stream != cudaStreamLegacy && stream != cudaStreamPerThread
                   ? copy_pieces(params, stream) : cudaMemcpyAsync(params->as.copy.to, params->as.copy.from, bytes, kind, stream);
    }
}

/* dice: not captured by the caller, so that calls without a stream mean the legacy default stream, and the host may give other memory. */
cudaError_t program_launch_copy(const struct made *made, unsigned index, const struct step_params *params, cudaStream_t stream, struct dice *dice)
{
    enum cudaMemcpyKind kind = program_copy_kind(made->program, index);
    int otherwise = made->eager && dice && dice_below(dice, 2);

    if (otherwise && kind == cudaMemcpyHostToDevice && !made->program->step[index].reads)
        return copy_from_pageable(params, stream);
    if (otherwise && kind == cudaMemcpyDeviceToHost)
        return copy_to_pageable(params, stream);
    if (otherwise && stream == cudaStreamLegacy)
        return cudaMemcpy(params->as.copy.to, params->as.copy.from, params->as.copy.bytes, kind);
    if (made->eager && dice && dice_below(dice, 3) == 0)
        return copy_otherwise(made, params, kind, stream, dice);
    if (made->eager && program_goes_by_driver(made, dice))
        return copy_by_driver(&made->room->driver, params, kind, stream, dice);
    return cudaMemcpyAsync(params->as.copy.to, params->as.copy.from, params->as.copy.bytes, kind, stream);
}
