/* moves_test.c - whichever call a memset or a copy of a program goes by: it moves the same bytes, in the same stream. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "programs/program_moves.c" /* whole: what chooses the call is static */

#define STREAM ((cudaStream_t)(uintptr_t)0x5100)

static struct program_room room;
static struct program program;
static struct made made;
static struct dice dice = { 1 };
static char from[64], to[64], want[64];

enum call { CALL_SET, CALL_SET_ROWS, CALL_COPY, CALL_COPY_ROWS, CALL_COPY_LAYERS, CALL_COPY_PIECES, CALL_COPY_NOW, CALL_SET_NOW, RUNTIME_CALLS };
static unsigned times[RUNTIME_CALLS + DRIVER_MOVES], elsewhere;

static cudaError_t went(unsigned call, const void *stream)
{
    times[call]++;
    elsewhere += stream != STREAM;
    return cudaSuccess;
}

static CUresult by_driver(enum driver_move call, const void *stream) { return (CUresult)went(RUNTIME_CALLS + call, stream); }

static void copy_rows(char *at, size_t to_pitch, const char *of, size_t from_pitch, size_t width, size_t rows)
{
    while (rows--)
        memcpy(at + rows * to_pitch, of + rows * from_pitch, width);
}

/* ---- the runtime's calls ---- */

cudaError_t __wrap_cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMemset(void *at, int value, size_t bytes);
cudaError_t __wrap_cudaMemset2DAsync(void *at, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyAsync(void *at, const void *of, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpy(void *at, const void *of, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy2DAsync(void *at, size_t to_pitch, const void *of, size_t from_pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);

cudaError_t __wrap_cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    memset(at, value, bytes);
    return went(CALL_SET, stream);
}

cudaError_t __wrap_cudaMemset(void *at, int value, size_t bytes)
{
    memset(at, value, bytes);
    return went(CALL_SET_NOW, STREAM);
}

cudaError_t __wrap_cudaMemset2DAsync(void *at, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    while (height--)
        memset((char *)at + height * pitch, value, width);
    return went(CALL_SET_ROWS, stream);
}

cudaError_t __wrap_cudaMemcpyAsync(void *at, const void *of, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    memcpy(at, of, bytes);
    return went(CALL_COPY, stream);
}

cudaError_t __wrap_cudaMemcpy(void *at, const void *of, size_t bytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(at, of, bytes);
    return went(CALL_COPY_NOW, STREAM);
}

cudaError_t __wrap_cudaMemcpy2DAsync(void *at, size_t to_pitch, const void *of, size_t from_pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    copy_rows(at, to_pitch, of, from_pitch, width, height);
    return went(CALL_COPY_ROWS, stream);
}

cudaError_t __wrap_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    check(p->extent.height == 1 && p->srcPtr.ysize == 1 && p->dstPtr.ysize == 1, "layers of one row");
    copy_rows(p->dstPtr.ptr, p->dstPtr.pitch, p->srcPtr.ptr, p->srcPtr.pitch, p->extent.width, p->extent.depth);
    return went(CALL_COPY_LAYERS, stream);
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    elsewhere += stream != STREAM;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t __wrap_cudaMemcpyBatchAsync(void *const *at, const void *const *of, const size_t *bytes, size_t count,
                                        struct cudaMemcpyAttributes *attributes, size_t *first, size_t number, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyBatchAsync(void *const *at, const void *const *of, const size_t *bytes, size_t count,
                                        struct cudaMemcpyAttributes *attributes, size_t *first, size_t number, cudaStream_t stream)
{
    check(number == 1 && *first == 0 && attributes->srcAccessOrder == cudaMemcpySrcAccessOrderStream, "pieces are read in the stream's order");
    while (count--)
        memcpy(at[count], of[count], bytes[count]);
    return went(CALL_COPY_PIECES, stream);
}
#endif

/* ---- the driver's ---- */

static void *host(CUdeviceptr at) { return (void *)(uintptr_t)at; }

static CUresult CUDAAPI copies(CUdeviceptr at, CUdeviceptr of, size_t bytes, CUstream stream)
{
    memcpy(host(at), host(of), bytes);
    return by_driver(MOVE_ANY, stream);
}

static CUresult CUDAAPI copies_down(CUdeviceptr at, const void *of, size_t bytes, CUstream stream)
{
    memcpy(host(at), of, bytes);
    return by_driver(MOVE_DOWN, stream);
}

static CUresult CUDAAPI copies_up(void *at, CUdeviceptr of, size_t bytes, CUstream stream)
{
    memcpy(at, host(of), bytes);
    return by_driver(MOVE_UP, stream);
}

static CUresult CUDAAPI copies_inside(CUdeviceptr at, CUdeviceptr of, size_t bytes, CUstream stream)
{
    memcpy(host(at), host(of), bytes);
    return by_driver(MOVE_INSIDE, stream);
}

static CUresult CUDAAPI sets_bytes(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
    memset(host(at), value, bytes);
    return by_driver(SET_BYTES, stream);
}

static void set_units(void *at, const void *unit, size_t size, size_t count)
{
    check((uintptr_t)at % size == 0, "units are aligned");
    while (count--)
        memcpy((char *)at + count * size, unit, size);
}

static CUresult CUDAAPI sets_halves(CUdeviceptr at, unsigned short value, size_t count, CUstream stream)
{
    set_units(host(at), &value, sizeof(value), count);
    return by_driver(SET_HALVES, stream);
}

static CUresult CUDAAPI sets_words(CUdeviceptr at, unsigned value, size_t count, CUstream stream)
{
    set_units(host(at), &value, sizeof(value), count);
    return by_driver(SET_WORDS, stream);
}

static CUresult CUDAAPI sets_rows(CUdeviceptr at, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream)
{
    while (height--)
        memset((char *)host(at) + height * pitch, value, width);
    return by_driver(SET_ROWS, stream);
}

static CUresult write_result = CUDA_SUCCESS;

static CUresult CUDAAPI writes(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
    if (write_result != CUDA_SUCCESS)
        return write_result;
    check(flags == CU_STREAM_WRITE_VALUE_DEFAULT, "a value is written without flags");
    set_units(host(at), &value, sizeof(value), 1);
    return by_driver(SET_VALUE, stream);
}

/* ---- what was moved ---- */

static void open_moves(void)
{
    void *const functions[DRIVER_MOVES] = {
        [MOVE_ANY] = (void *)(uintptr_t)copies, [MOVE_DOWN] = (void *)(uintptr_t)copies_down, [MOVE_UP] = (void *)(uintptr_t)copies_up,
        [MOVE_INSIDE] = (void *)(uintptr_t)copies_inside, [SET_BYTES] = (void *)(uintptr_t)sets_bytes,
        [SET_HALVES] = (void *)(uintptr_t)sets_halves, [SET_WORDS] = (void *)(uintptr_t)sets_words, [SET_ROWS] = (void *)(uintptr_t)sets_rows,
        [SET_VALUE] = (void *)(uintptr_t)writes
    };
    unsigned i;

    program_open_driver_moves(&room);
    for (i = 0; i < DRIVER_MOVES; i++)
        check(room.driver.move[i] != NULL, "each of the driver's calls is found");
    memcpy(room.driver.move, functions, sizeof(functions));
    room.size.batches = 1;
    made.room = &room;
    made.program = &program;
    made.eager = 1;
    program.steps = 1;
    program.streams = 1;
    for (i = 0; i < sizeof(from); i++)
        from[i] = (char)(i * 7 + 1);
}

/* Returns how often other bytes came of it. */
static unsigned set_often(size_t begin, size_t bytes, unsigned rows, unsigned often)
{
    struct step *step = &program.step[0];
    struct step_params params;
    unsigned wrong = 0, row;

    memset(&params, 0, sizeof(params));
    step->kind = STEP_SET;
    step->rows = rows;
    step->bytes = (unsigned)bytes;
    params.as.set.dst = to + begin;
    params.as.set.value = 0x1A5;
    params.as.set.height = rows;
    params.as.set.pitch = 2 * bytes;
    memset(want, 0, sizeof(want));
    for (row = 0; row < rows; row++)
        memset(want + begin + row * 2 * bytes, 0xA5, bytes);
    while (often--) {
        memset(to, 0, sizeof(to));
        wrong += program_launch_set(&made, 0, &params, STREAM, &dice) != cudaSuccess || memcmp(to, want, sizeof(to)) != 0;
    }
    return wrong;
}

/* index: each says another kind of copy. */
static unsigned copy_often(unsigned index, int to_host, int from_host, size_t bytes, unsigned often)
{
    struct step *step = &program.step[index];
    struct step_params params;
    unsigned wrong = 0;

    memset(&params, 0, sizeof(params));
    memset(step, 0, sizeof(*step));
    step->kind = STEP_COPY;
    step->to_host = to_host;
    step->reads = !from_host;
    step->read[0] = PROGRAM_STEPS - 1; /* a kernel */
    params.as.copy.to = to;
    params.as.copy.from = from;
    params.as.copy.bytes = bytes;
    memset(want, 0, sizeof(want));
    memcpy(want, from, bytes);
    while (often--) {
        memset(to, 0, sizeof(to));
        wrong += program_launch_copy(&made, index, &params, STREAM, &dice) != cudaSuccess || memcmp(to, want, sizeof(to)) != 0;
    }
    return wrong;
}

static void test_sets(void)
{
    static const size_t begins[] = { 0, 2, 3, 4 }, sizes[] = { 1, 2, 4, 6, 7, 12, 16, 37 };
    unsigned i, k, wrong = 0;

    room.place[0] = room.data = (uint32_t *)(void *)to;
    for (i = 0; i < 4; i++)
        for (k = 0; k < 8; k++)
            wrong += set_often(begins[i], sizes[k], 1, 100);
    wrong += set_often(4, 5, 3, 20);
    check(wrong == 0, "each memset sets the same bytes");
    check(times[CALL_SET] && times[CALL_SET_ROWS] == 20, "by the runtime");
    for (i = SET_BYTES; i <= SET_VALUE; i++)
        check(times[RUNTIME_CALLS + i] != 0, "and by each of the driver's calls");
    memset(times, 0, sizeof(times));
    write_result = CUDA_ERROR_NOT_SUPPORTED;
    check(set_often(0, 4, 1, 200) == 0 && times[RUNTIME_CALLS + SET_VALUE] == 0, "where there are no values, otherwise");
    write_result = CUDA_SUCCESS;
    room.place[1] = room.data;
    room.place[0] = NULL;
    check(set_often(0, 4, 1, 200) == 0 && times[RUNTIME_CALLS + SET_VALUE] == 0, "so in memory of a pool");
}

static void test_copies(void)
{
    static const size_t sizes[] = { 1, 2, 3, 12, 37, 64 };
    unsigned i, k, wrong = 0;

    memset(times, 0, sizeof(times));
    for (i = 0; i < 6; i++)
        for (k = 0; k < 4; k++)
            wrong += copy_often(1, k & 1, k >> 1, sizes[i], 100) + copy_often(3, k & 1, k >> 1, sizes[i], 20);
    check(wrong == 0, "each copy copies the same bytes");
    check(times[CALL_COPY] && times[CALL_COPY_ROWS] && times[CALL_COPY_LAYERS], "by the runtime");
#if CUDART_VERSION >= 13000
    check(times[CALL_COPY_PIECES] != 0, "in pieces, too");
#endif
    for (i = MOVE_ANY; i <= MOVE_INSIDE; i++)
        check(times[RUNTIME_CALLS + i] != 0, "and by each of the driver's calls");
    check(elsewhere == 0, "all in the stream that they are given");
}

/* The documents let an update of a captured copy or memset be refused, by how it was captured. */
static void test_captured(void)
{
    unsigned others;

    memset(times, 0, sizeof(times));
    made.eager = 0;
    check(set_often(0, 16, 1, 64) == 0 && copy_often(1, 0, 0, 12, 64) == 0, "captured ones move the same");
    others = times[CALL_SET] + times[CALL_COPY];
    check(others == 128, "by one call each");
}

int main(void)
{
    open_moves();
    test_sets();
    test_copies();
    test_captured();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
