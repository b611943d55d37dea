/* pageable_rows.h - the pairs of pageable.cu with copies and memsets of rows, and with copies of few bytes, of more than
 * 1 MiB and by the driver. */
#ifndef PAGEABLE_ROWS_H_INCLUDED
#define PAGEABLE_ROWS_H_INCLUDED

#define PLACE_BYTES ((1u << 20) + 80000u)
#define PLACE_MARGIN 256u      /* bytes after a copy that are looked at */
#define GAP_BYTE 0x5A          /* of what a copy leaves alone */

enum place { PLACE_PAGEABLE, PLACE_PINNED, PLACE_DEVICE, PLACES };

struct places {
    struct ask *ask;
    unsigned char *memory[2][PLACES]; /* to copy from, and to */
    unsigned char *seen;
    size_t shift, moved;       /* bytes from where it begins to where is copied from, and to */
    unsigned wrong, trials;
};

struct rows {
    size_t bytes, rows, from_pitch, pitch; /* of one row, in the source and in the target */
};
/* Pitches that are the same, that differ either way, and that are the row's length; one row of a wide pitch; short rows and long ones; rows of whole
 * words, of which each lies otherwise in its words than the one before. */
static const struct rows all_rows[] = {
    { 16, 5, 32, 32 },       { 16, 5, 25, 41 },       { 16, 5, 40, 24 },        { 100, 3, 100, 128 }, { 100, 3, 128, 100 },
    { 7, 1, 32, 64 },        { 250, 1, 250, 1024 },   { 250, 1, 1024, 250 },    { 3, 33, 5, 4 },      { 1025, 3, 1025, 1025 },
    { 1500, 4, 1536, 2048 }, { 2049, 3, 4096, 2052 }, { 4100, 17, 4201, 5003 }, { 70000, 2, 70016, 70400 }
};
#define ALL_ROWS (sizeof(all_rows) / sizeof(all_rows[0]))

static int open_places(struct places *p, struct ask *ask)
{
    unsigned i, given = 1;

    p->ask = ask;
    p->seen = (unsigned char *)malloc(PLACE_BYTES);
    for (i = 0; i < 2 && given; i++) {
        p->memory[i][PLACE_PAGEABLE] = (unsigned char *)malloc(PLACE_BYTES);
        given = p->seen && p->memory[i][PLACE_PAGEABLE] && cudaMallocHost((void **)&p->memory[i][PLACE_PINNED], PLACE_BYTES) == cudaSuccess &&
                cudaMalloc((void **)&p->memory[i][PLACE_DEVICE], PLACE_BYTES) == cudaSuccess;
    }
    if (!given)
        ask_skip(ask, "memory", "none was given");
    return (int)given;
}

static void close_places(struct places *p)
{
    unsigned i;

    (void)cudaDeviceSynchronize();
    for (i = 0; i < 2; i++) {
        (void)cudaFree(p->memory[i][PLACE_DEVICE]);
        (void)cudaFreeHost(p->memory[i][PLACE_PINNED]);
        free(p->memory[i][PLACE_PAGEABLE]);
    }
    free(p->seen);
}

static unsigned char *source_of(const struct places *p, enum place from) { return p->memory[0][from] + p->shift; }
static unsigned char *target_of(const struct places *p, enum place to) { return p->memory[1][to] + p->moved; }

/* In three of six trials a copy begins, and ends up, where memory begins, which is aligned; in the others up to 15 bytes after that. */
static void move_places(struct places *p)
{
    unsigned trial = p->trials, any = trial / 3 % 2;

    p->shift = any ? (trial * 5 + trial / 7 + 1) % 16 : 0;
    p->moved = any ? (trial * 7 + trial / 11 + 3) % 16 : 0;
}

static size_t span_of(const struct rows *r, size_t pitch) { return (r->rows - 1) * pitch + r->bytes; }

/* Every byte of the target is a gap; the source holds what is copied. */
static cudaError_t fill_places(struct places *p, const struct rows *r, enum place from, enum place to, unsigned salt)
{
    size_t target = span_of(r, r->pitch) + PLACE_MARGIN, source = span_of(r, r->from_pitch) + PLACE_MARGIN;
    cudaError_t error;

    memset(p->seen, GAP_BYTE, target);
    error = cudaMemcpy(target_of(p, to), p->seen, target, cudaMemcpyDefault);
    fill(p->seen, source, salt);
    if (error == cudaSuccess)
        error = cudaMemcpy(source_of(p, from), p->seen, source, cudaMemcpyDefault);
    return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error; /* a copy to the device may still be on its way */
}

/* value: of every byte of a row that was set; negative: the rows were copied. */
static cudaError_t look_at_rows(struct places *p, const struct rows *r, enum place to, unsigned salt, int value)
{
    size_t target = span_of(r, r->pitch) + PLACE_MARGIN, i;
    unsigned differs = 0;
    cudaError_t error = cudaStreamSynchronize(p->ask->stream);

    if (error == cudaSuccess)
        error = cudaMemcpy(p->seen, target_of(p, to), target, cudaMemcpyDefault);
    for (i = 0; i < target && error == cudaSuccess; i++) {
        size_t row = r->rows > 1 ? i / r->pitch : 0, at = i - row * r->pitch, source = row * r->from_pitch + at;
        int inside = row < r->rows && at < r->bytes;
        unsigned char moved = value < 0 ? (unsigned char)(source * 7 + (source >> 8) + salt) : (unsigned char)value;
        differs |= p->seen[i] != (inside ? moved : GAP_BYTE);
    }
    p->wrong += error == cudaSuccess && differs;
    p->trials++;
    return error;
}

/* ---- rows ---- */

enum row_way { ROWS_LAUNCHED, ROWS_CAPTURED, ROWS_NODE, ROW_WAYS };

/* Every second copy leaves it to the driver to tell which memory is where. */
static enum cudaMemcpyKind kind_between(enum place from, enum place to, unsigned trial)
{
    static const enum cudaMemcpyKind kinds[2][2] = { { cudaMemcpyHostToHost, cudaMemcpyHostToDevice },
                                                     { cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice } };

    return direction(kinds[from == PLACE_DEVICE][to == PLACE_DEVICE], trial);
}

static cudaError_t copy_by_node(struct places *p, const struct rows *r, enum place from, enum place to, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error != cudaSuccess)
        return error;
    copy.srcPtr.ptr = source_of(p, from);
    copy.dstPtr.ptr = target_of(p, to);
    copy.srcPtr.pitch = r->from_pitch;
    copy.dstPtr.pitch = r->pitch;
    copy.srcPtr.xsize = copy.dstPtr.xsize = copy.extent.width = r->bytes;
    copy.srcPtr.ysize = copy.dstPtr.ysize = copy.extent.height = r->rows;
    copy.extent.depth = 1;
    copy.kind = kind;
    error = cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy);
    if (error == cudaSuccess)
        error = ask_run_once(graph, p->ask->stream);
    (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t try_rows(struct places *p, const struct rows *r, enum place from, enum place to, enum row_way way)
{
    cudaStream_t stream = p->ask->stream;
    enum cudaMemcpyKind kind = kind_between(from, to, p->trials);
    unsigned salt = p->trials;
    cudaError_t error;

    move_places(p);
    error = fill_places(p, r, from, to, salt);
    if (error == cudaSuccess && way == ROWS_NODE)
        error = copy_by_node(p, r, from, to, kind);
    if (error == cudaSuccess && way == ROWS_CAPTURED)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess && way != ROWS_NODE)
        error = cudaMemcpy2DAsync(target_of(p, to), r->pitch, source_of(p, from), r->from_pitch, r->bytes, r->rows, kind, stream);
    if (way == ROWS_CAPTURED)
        error = ask_run_capture(stream, error);
    return error == cudaSuccess ? look_at_rows(p, r, to, salt, -1) : error;
}

#include "pageable_layers.h"

/* Pageable memory is copied by launches alone. */
static void ask_rows(struct ask *ask)
{
    static const char *const names[ROW_WAYS] = { "copies of rows", "captured copies of rows", "nodes that copy rows" };
    struct places p = PDL_ZERO;
    unsigned way, between, i;

    if (!open_places(&p, ask)) {
        close_places(&p);
        return;
    }
    for (way = 0; way < ROW_WAYS; way++) {
        cudaError_t error = cudaSuccess;
        for (between = 0; between < PLACES * PLACES; between++) {
            enum place from = (enum place)(between % PLACES), to = (enum place)(between / PLACES);
            int pageable = from == PLACE_PAGEABLE || to == PLACE_PAGEABLE;
            for (i = 0; i < ALL_ROWS && (way == ROWS_LAUNCHED || !pageable) && error == cudaSuccess; i++)
                error = try_rows(&p, &all_rows[i], from, to, (enum row_way)way);
        }
        ask_expect(ask, names[way], error, cudaSuccess);
    }
    ask_expect_none(ask, "copies of rows that left other bytes", p.wrong, p.trials);
    ask_layers(&p);
    close_places(&p);
}

/* ---- few bytes from and to any address ---- */

#define SHIFTED_ROOM 400u      /* bytes that are looked at */
#define SHIFTED_TRIALS 21u     /* between two kinds of memory */

enum shifted_call { SHIFTED_PLAIN, SHIFTED_ASYNC, SHIFTED_ROW, SHIFTED_NODE, SHIFTED_CALLS };

static cudaError_t copy_by_short_node(struct places *p, unsigned char *to, const unsigned char *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaGraphNode_t node;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, to, from, bytes, kind);
    if (error == cudaSuccess)
        error = ask_run_once(graph, p->ask->stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* Pageable memory is copied by no node. */
static cudaError_t copy_shifted(struct places *p, unsigned char *to, const unsigned char *from, size_t bytes, enum cudaMemcpyKind kind, int pageable)
{
    cudaStream_t stream = p->ask->stream;

    switch (p->trials % SHIFTED_CALLS) {
    case SHIFTED_ASYNC: return cudaMemcpyAsync(to, from, bytes, kind, stream);
    case SHIFTED_ROW: return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
    case SHIFTED_NODE: return pageable ? cudaMemcpy(to, from, bytes, kind) : copy_by_short_node(p, to, from, bytes, kind);
    default: return cudaMemcpy(to, from, bytes, kind);
    }
}

static cudaError_t try_shifted(struct places *p, enum place from, enum place to, unsigned trial)
{
    static const struct rows room = { SHIFTED_ROOM, 1, SHIFTED_ROOM, SHIFTED_ROOM };
    size_t shift = (trial * 5 + 1) % 16, moved = (trial * 7 + 3) % 16, bytes = 1 + trial * 37 % (trial % 2 ? 20 : 300), i;
    int pageable = from == PLACE_PAGEABLE || to == PLACE_PAGEABLE;
    unsigned salt = p->trials, differs = 0;
    cudaError_t error = fill_places(p, &room, from, to, salt);

    if (error == cudaSuccess)
        error = copy_shifted(p, p->memory[1][to] + moved, p->memory[0][from] + shift, bytes, kind_between(from, to, trial / 2), pageable);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(p->ask->stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(p->seen, p->memory[1][to], SHIFTED_ROOM, cudaMemcpyDefault);
    for (i = 0; i < SHIFTED_ROOM && error == cudaSuccess; i++) {
        size_t source = i - moved + shift;
        unsigned char there = (unsigned char)(source * 7 + (source >> 8) + salt);
        differs |= p->seen[i] != (i >= moved && i - moved < bytes ? there : GAP_BYTE);
    }
    p->wrong += error == cudaSuccess && differs;
    p->trials++;
    return error;
}

static void ask_shifted(struct ask *ask)
{
    struct places p = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned between, i;

    if (!open_places(&p, ask)) {
        close_places(&p);
        return;
    }
    for (between = 0; between < PLACES * PLACES; between++)
        for (i = 0; i < SHIFTED_TRIALS && error == cudaSuccess; i++)
            error = try_shifted(&p, (enum place)(between % PLACES), (enum place)(between / PLACES), i);
    ask_expect(ask, "copies from and to any address", error, cudaSuccess);
    ask_expect_none(ask, "copies from and to any address that left other bytes", p.wrong, p.trials);
    close_places(&p);
}

/* ---- large ---- */

typedef CUresult(CUDAAPI *driver_copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream);

/* A copy is a row. By the driver's call, or else by the runtime's, every second one asynchronous. Its source stays as it is until it has ended. */
static cudaError_t try_long(struct places *p, driver_copy copy, size_t bytes, enum place from, enum place to)
{
    struct rows r = PDL_ZERO;
    enum cudaMemcpyKind kind = kind_between(from, to, p->trials / 2);
    void *target, *source;
    unsigned salt = p->trials;
    cudaStream_t stream = p->ask->stream;
    cudaError_t error;

    move_places(p);
    target = target_of(p, to);
    source = source_of(p, from);
    r.bytes = r.pitch = r.from_pitch = bytes;
    r.rows = 1;
    error = fill_places(p, &r, from, to, salt);
    if (error == cudaSuccess && copy)
        error = (cudaError_t)copy((CUdeviceptr)(uintptr_t)target, (CUdeviceptr)(uintptr_t)source, bytes, (CUstream)stream);
    else if (error == cudaSuccess)
        error = p->trials % 2 ? cudaMemcpyAsync(target, source, bytes, kind, stream) : cudaMemcpy(target, source, bytes, kind);
    return error == cudaSuccess ? look_at_rows(p, &r, to, salt, -1) : error;
}

/* Each is between the device and memory of any kind. */
static void ask_driver_copies(struct places *p)
{
    static const size_t sizes[] = { 1, 4096, 8192, 65537, 131072, (1u << 20) + 70000 };
    const unsigned ways = 2 * PLACES;
    void *copy = NULL;
    cudaError_t error = driver_function("cuMemcpyAsync", 4000, &copy);
    unsigned trial;

    for (trial = 0; trial < ways * sizeof(sizes) / sizeof(sizes[0]) && error == cudaSuccess; trial++) {
        enum place other = (enum place)(trial / 2 % PLACES);
        error = try_long(p, (driver_copy)copy, sizes[trial / ways], trial % 2 ? PLACE_DEVICE : other, trial % 2 ? other : PLACE_DEVICE);
    }
    ask_expect(p->ask, "copies by cuMemcpyAsync", error, cudaSuccess);
}

static void ask_large(struct ask *ask)
{
    static const size_t sizes[] = { (1u << 20) + 1, (1u << 20) + 70000 };
    struct places p = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned trial;

    if (!open_places(&p, ask)) {
        close_places(&p);
        return;
    }
    for (trial = 0; trial < 2 * PLACES * PLACES && error == cudaSuccess; trial++)
        error = try_long(&p, NULL, sizes[trial % 2], (enum place)(trial / 2 % PLACES), (enum place)(trial / 2 / PLACES));
    for (; trial < 4 * PLACES * PLACES && error == cudaSuccess; trial += 5) /* some of them the other way */
        error = try_long(&p, NULL, sizes[trial % 2], (enum place)(trial / 2 % PLACES), (enum place)(trial / 2 / PLACES % PLACES));
    ask_expect(ask, "copies of more than 1 MiB", error, cudaSuccess);
    ask_expect_none(ask, "copies of more than 1 MiB that left other bytes", p.wrong, p.trials);
    p.wrong = p.trials = 0;
    ask_driver_copies(&p);
    ask_expect_none(ask, "copies by cuMemcpyAsync that left other bytes", p.wrong, p.trials);
    close_places(&p);
    ask_huge(ask);
    ask_queued_copies(ask);
}

/* ---- memsets of rows ---- */

/* By the call of a stream, at once or captured; by the one that has no stream; by the driver's. */
enum set_way { SET_LAUNCHED, SET_CAPTURED, SET_WITHOUT_STREAM, SET_BY_DRIVER, SET_WAYS };

static cudaError_t set_rows_by_driver(unsigned char *to, size_t pitch, int value, size_t bytes, size_t rows, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *set_fn)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
    void *set = NULL;
    cudaError_t error = driver_function("cuMemsetD2D8Async", 3020, &set);

    if (error != cudaSuccess)
        return error;
    return (cudaError_t)((set_fn)set)((CUdeviceptr)(uintptr_t)to, pitch, (unsigned char)value, bytes, rows, (CUstream)stream);
}

static cudaError_t try_set_rows(struct places *p, const struct rows *r, enum place to, enum set_way way)
{
    cudaStream_t stream = p->ask->stream;
    int value = (int)(p->trials % 90 + 1), captured = way == SET_CAPTURED;
    cudaError_t error;

    move_places(p);
    error = fill_places(p, r, PLACE_PAGEABLE, to, p->trials);
    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess && way == SET_WITHOUT_STREAM)
        error = cudaMemset2D(target_of(p, to), r->pitch, value, r->bytes, r->rows);
    else if (error == cudaSuccess && way == SET_BY_DRIVER)
        error = set_rows_by_driver(target_of(p, to), r->pitch, value, r->bytes, r->rows, stream);
    else if (error == cudaSuccess)
        error = cudaMemset2DAsync(target_of(p, to), r->pitch, value, r->bytes, r->rows, stream);
    if (captured)
        error = ask_run_capture(stream, error);
    return error == cudaSuccess ? look_at_rows(p, r, to, p->trials, value) : error;
}

static void ask_set_rows(struct ask *ask)
{
    struct places p = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned i;

    if (!open_places(&p, ask)) {
        close_places(&p);
        return;
    }
    for (i = 0; i < 2 * SET_WAYS * ALL_ROWS && error == cudaSuccess; i++)
        error = try_set_rows(&p, &all_rows[i % ALL_ROWS], i / ALL_ROWS % 2 ? PLACE_PINNED : PLACE_DEVICE, (enum set_way)(i / ALL_ROWS / 2));
    ask_expect(ask, "memsets of rows", error, cudaSuccess);
    ask_expect_none(ask, "memsets of rows that left other bytes", p.wrong, p.trials);
    close_places(&p);
}

#endif
