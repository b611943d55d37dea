/* pageable_calls.h - the pair of pageable.cu with the calls that are seldom used to copy: those that name both devices, a direction,
 * memory that has a name, or several copies at once, of many bytes; and those of rows and layers by the driver, or that wait, with gaps
 * on either side and with the row and byte where they begin. All bytes are looked at, those between the rows, too. */
#ifndef PAGEABLE_CALLS_H_INCLUDED
#define PAGEABLE_CALLS_H_INCLUDED

#include "stream_calls.h"

#define NAMED_BYTES (16u << 10)
DEVICE_WORDS(pageable_named, NAMED_BYTES / sizeof(uint32_t));

/* ---- bytes in line ---- */

/* NAMED: the device's memory is one that has a name. */
enum line_call { LINE_PEER, LINE_TO_DEVICE, LINE_TO_HOST, LINE_IN_DEVICE, LINE_TO_NAMED, LINE_FROM_NAMED, LINE_NODE_TO_NAMED,
                 LINE_NODE_FROM_NAMED, LINE_BATCH, LINE_CALLS };

static const size_t line_sizes[] = { 1, 1023, 1025, 4096, 4099, 8195, 14001 };
#define LINE_SIZES (sizeof(line_sizes) / sizeof(line_sizes[0]))

struct line {
    enum line_call call;
    enum place from, to;
    size_t bytes, offset;      /* offset: of its first byte in the memory that has a name */
    enum cudaMemcpyKind kind;
};

static cudaError_t copy_by_peers(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    return error == cudaSuccess ? cudaMemcpyPeerAsync(to, device, from, device, bytes, stream) : error;
}

static cudaError_t copy_by_direction(enum line_call call, void *to, const void *from, size_t bytes, CUstream stream)
{
    typedef CUresult(CUDAAPI *down_fn)(CUdeviceptr, const void *, size_t, CUstream);
    typedef CUresult(CUDAAPI *up_fn)(void *, CUdeviceptr, size_t, CUstream);
    typedef CUresult(CUDAAPI *inside_fn)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    static const char *const name[] = { "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync" };
    CUdeviceptr there = (CUdeviceptr)(uintptr_t)to, here = (CUdeviceptr)(uintptr_t)from;
    void *function = NULL;
    cudaError_t error = driver_function(name[call - LINE_TO_DEVICE], 3020, &function);

    if (error != cudaSuccess)
        return error;
    switch (call) {
    case LINE_TO_DEVICE: return (cudaError_t)((down_fn)function)(there, from, bytes, stream);
    case LINE_TO_HOST: return (cudaError_t)((up_fn)function)(to, here, bytes, stream);
    default: return (cudaError_t)((inside_fn)function)(there, here, bytes, stream);
    }
}

static cudaError_t copy_by_named_node(const struct line *l, void *to, const void *from, cudaStream_t stream)
{
    cudaGraphNode_t node;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess && l->call == LINE_NODE_TO_NAMED)
        error = cudaGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, WORDS_OF(pageable_named), from, l->bytes, l->offset, l->kind);
    else if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, to, WORDS_OF(pageable_named), l->bytes, l->offset, l->kind);
    if (error == cudaSuccess)
        error = ask_run_once(graph, stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

/* A long piece between two short ones. Where there is no such call, a copy like others. */
static cudaError_t copy_in_batch(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
    struct cudaMemcpyAttributes attribute;
    size_t first = bytes < 3 ? 0 : 1, size[3], at[3], none = 0, i;
    const void *sources[3];
    void *targets[3];

    if (first == 0 || !has_version(12080))
        return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
    at[0] = 0, at[1] = first, at[2] = bytes - 1;
    size[0] = first, size[1] = bytes - 2, size[2] = 1;
    for (i = 0; i < 3; i++) {
        targets[i] = (char *)to + at[i];
        sources[i] = (const char *)from + at[i];
    }
    memset(&attribute, 0, sizeof(attribute));
    attribute.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(targets, sources, size, 3, &attribute, &none, 1, stream);
#else
    return cudaMemcpyBatchAsync(targets, (void **)sources, size, 3, &attribute, &none, 1, &first, stream);
#endif
#else
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
#endif
}

static cudaError_t copy_line(const struct places *p, const struct line *l)
{
    void *to = target_of(p, l->to);
    const void *from = source_of(p, l->from);
    cudaStream_t stream = p->ask->stream;

    switch (l->call) {
    case LINE_PEER: return copy_by_peers(to, from, l->bytes, stream);
    case LINE_TO_NAMED: return cudaMemcpyToSymbolAsync(WORDS_OF(pageable_named), from, l->bytes, l->offset, l->kind, stream);
    case LINE_FROM_NAMED: return cudaMemcpyFromSymbolAsync(to, WORDS_OF(pageable_named), l->bytes, l->offset, l->kind, stream);
    case LINE_NODE_TO_NAMED:
    case LINE_NODE_FROM_NAMED: return copy_by_named_node(l, to, from, stream);
    case LINE_BATCH: return copy_in_batch(to, from, l->bytes, stream);
    default: return copy_by_direction(l->call, to, from, l->bytes, (CUstream)stream);
    }
}

/* Between which memory the call copies. Peers are devices: they copy no memory of the host. Pageable memory is copied by the driver's
 * calls alone. */
static void choose_places(struct line *l, unsigned trial)
{
    enum place host = trial % 2 ? PLACE_PINNED : PLACE_PAGEABLE, pinned = trial % 2 ? PLACE_PINNED : PLACE_DEVICE;

    l->from = l->to = PLACE_DEVICE;
    switch (l->call) {
    case LINE_TO_DEVICE: l->from = host; break;
    case LINE_TO_HOST: l->to = host; break;
    case LINE_TO_NAMED:
    case LINE_NODE_TO_NAMED: l->from = pinned; break;
    case LINE_FROM_NAMED:
    case LINE_NODE_FROM_NAMED: l->to = pinned; break;
    case LINE_BATCH:
        l->from = trial % 3 == 1 ? PLACE_PINNED : PLACE_DEVICE;
        l->to = trial % 3 == 2 ? PLACE_PINNED : PLACE_DEVICE;
        break;
    default: break;
    }
    l->kind = kind_between(l->from, l->to, trial / 2);
}

/* Memory that has a name stands in for other memory of the device. */
static cudaError_t try_line(struct places *p, enum line_call call, unsigned trial)
{
    int to_named = call == LINE_TO_NAMED || call == LINE_NODE_TO_NAMED;
    int from_named = call == LINE_FROM_NAMED || call == LINE_NODE_FROM_NAMED;
    unsigned char **devices = &p->memory[to_named][PLACE_DEVICE], *other = *devices;
    struct line l = PDL_ZERO;
    struct rows r = PDL_ZERO;
    unsigned salt = p->trials;
    void *named = NULL;
    cudaError_t error = cudaGetSymbolAddress(&named, WORDS_OF(pageable_named));

    if (error != cudaSuccess)
        return error;
    move_places(p);
    l.call = call;
    l.bytes = line_sizes[trial % LINE_SIZES];
    l.offset = to_named ? p->moved : p->shift;
    choose_places(&l, trial);
    r.bytes = r.pitch = r.from_pitch = l.bytes;
    r.rows = 1;
    if (to_named || from_named)
        *devices = (unsigned char *)named;
    error = fill_places(p, &r, l.from, l.to, salt);
    if (error == cudaSuccess)
        error = copy_line(p, &l);
    if (error == cudaSuccess)
        error = look_at_rows(p, &r, l.to, salt, -1);
    *devices = other;
    return error;
}

static void ask_lines(struct places *p)
{
    cudaError_t error = cudaSuccess;
    unsigned call, trial;

    p->wrong = p->trials = 0;
    for (call = 0; call < LINE_CALLS; call++)
        for (trial = 0; trial < LINE_SIZES && error == cudaSuccess; trial++)
            error = try_line(p, (enum line_call)call, trial);
    ask_expect(p->ask, "copies by calls for one direction, both devices, memory with a name, or several at once", error, cudaSuccess);
    ask_expect_none(p->ask, "copies by these calls that left other bytes", p->wrong, p->trials);
}

/* ---- rows that the host waits for ---- */

static cudaError_t try_waiting_rows(struct places *p, const struct rows *r, enum place from, enum place to)
{
    enum cudaMemcpyKind kind = kind_between(from, to, p->trials);
    unsigned salt = p->trials;
    cudaError_t error;

    move_places(p);
    error = fill_places(p, r, from, to, salt);
    if (error == cudaSuccess)
        error = cudaMemcpy2D(target_of(p, to), r->pitch, source_of(p, from), r->from_pitch, r->bytes, r->rows, kind);
    return error == cudaSuccess ? look_at_rows(p, r, to, salt, -1) : error;
}

static void ask_waiting_rows(struct places *p)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    p->wrong = p->trials = 0;
    for (i = 0; i < 2 * ALL_ROWS && error == cudaSuccess; i++)
        error = try_waiting_rows(p, &all_rows[i % ALL_ROWS], (enum place)((i + i / ALL_ROWS) % PLACES),
                                 (enum place)(i / PLACES % PLACES));
    ask_expect(p->ask, "copies of rows by cudaMemcpy2D", error, cudaSuccess);
    ask_expect_none(p->ask, "copies by cudaMemcpy2D that left other bytes", p->wrong, p->trials);
}

/* ---- rows and layers by the driver ---- */

/* One end: x bytes, y rows and z layers behind the place that the call is told. */
struct begin {
    size_t x, y, z;
};

/* "srcPitch must be greater than or equal to WidthInBytes + srcXInBytes", and so of the height of several layers. */
static struct begin draw_begin(size_t bytes, size_t pitch, size_t rows, size_t high, unsigned trial)
{
    struct begin b;

    b.x = (pitch - bytes) * (trial % 3) / 2;
    b.y = (high - rows) * (trial / 2 % 3) / 2;
    b.z = trial / 3 % 3;
    return b;
}

static size_t bytes_before(const struct begin *b, size_t pitch, size_t high) { return (b->z * high + b->y) * pitch + b->x; }

/* Between the device and the host: within the device, the driver "may fail for pitches not computed by cuMemAllocPitch()". */
static void choose_way(unsigned trial, enum place *from, enum place *to)
{
    enum place host = trial / 2 % 2 ? PLACE_PAGEABLE : PLACE_PINNED;

    *from = trial % 2 ? PLACE_DEVICE : host;
    *to = trial % 2 ? host : PLACE_DEVICE;
}

static cudaError_t copy_driver_layers(const struct places *p, const struct layers *l, enum place from, enum place to, const struct begin *at)
{
    typedef CUresult(CUDAAPI *copy_fn)(const CUDA_MEMCPY3D *, CUstream);
    unsigned char *target = target_of(p, to) - bytes_before(&at[1], l->of.pitch, l->high);
    unsigned char *source = source_of(p, from) - bytes_before(&at[0], l->of.from_pitch, l->from_high);
    CUDA_MEMCPY3D copy = PDL_ZERO;
    void *function = NULL;
    cudaError_t error = driver_function("cuMemcpy3DAsync", 3020, &function);

    copy.srcXInBytes = at[0].x, copy.srcY = at[0].y, copy.srcZ = at[0].z;
    copy.dstXInBytes = at[1].x, copy.dstY = at[1].y, copy.dstZ = at[1].z;
    copy.srcMemoryType = from == PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = to == PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcHost = source, copy.srcDevice = (CUdeviceptr)(uintptr_t)source;
    copy.dstHost = target, copy.dstDevice = (CUdeviceptr)(uintptr_t)target;
    copy.srcPitch = l->of.from_pitch, copy.srcHeight = l->from_high;
    copy.dstPitch = l->of.pitch, copy.dstHeight = l->high;
    copy.WidthInBytes = l->of.bytes, copy.Height = l->of.rows, copy.Depth = l->layers;
    return error == cudaSuccess ? (cudaError_t)((copy_fn)function)(&copy, (CUstream)p->ask->stream) : error;
}

static cudaError_t copy_driver_rows(const struct places *p, const struct rows *r, enum place from, enum place to, const struct begin *at)
{
    typedef CUresult(CUDAAPI *copy_fn)(const CUDA_MEMCPY2D *, CUstream);
    unsigned char *target = target_of(p, to) - bytes_before(&at[1], r->pitch, 0);
    unsigned char *source = source_of(p, from) - bytes_before(&at[0], r->from_pitch, 0);
    CUDA_MEMCPY2D copy = PDL_ZERO;
    void *function = NULL;
    cudaError_t error = driver_function("cuMemcpy2DAsync", 3020, &function);

    copy.srcXInBytes = at[0].x, copy.srcY = at[0].y;
    copy.dstXInBytes = at[1].x, copy.dstY = at[1].y;
    copy.srcMemoryType = from == PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = to == PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcHost = source, copy.srcDevice = (CUdeviceptr)(uintptr_t)source;
    copy.dstHost = target, copy.dstDevice = (CUdeviceptr)(uintptr_t)target;
    copy.srcPitch = r->from_pitch, copy.dstPitch = r->pitch;
    copy.WidthInBytes = r->bytes, copy.Height = r->rows;
    return error == cudaSuccess ? (cudaError_t)((copy_fn)function)(&copy, (CUstream)p->ask->stream) : error;
}

/* Rows may begin behind others, of which there is no end. */
static cudaError_t try_driver_rows(struct places *p, const struct rows *r, unsigned trial)
{
    struct begin at[2];
    enum place from, to;
    unsigned salt = p->trials;
    cudaError_t error;

    choose_way(trial / 2, &from, &to);
    at[0] = draw_begin(r->bytes, r->from_pitch, 0, 2, trial);
    at[1] = draw_begin(r->bytes, r->pitch, 0, 2, trial / 2 + 1);
    at[0].z = at[1].z = 0;
    move_places(p);
    p->shift += bytes_before(&at[0], r->from_pitch, 0);
    p->moved += bytes_before(&at[1], r->pitch, 0);
    error = fill_places(p, r, from, to, salt);
    if (error == cudaSuccess)
        error = copy_driver_rows(p, r, from, to, at);
    return error == cudaSuccess ? look_at_rows(p, r, to, salt, -1) : error;
}

static cudaError_t try_driver_layers(struct places *p, const struct layers *l, unsigned trial)
{
    struct rows all = rows_of_layers(l);
    struct begin at[2];
    enum place from, to;
    unsigned salt = p->trials;
    cudaError_t error;

    choose_way(trial / 2, &from, &to);
    at[0] = draw_begin(l->of.bytes, l->of.from_pitch, l->of.rows, l->from_high, trial);
    at[1] = draw_begin(l->of.bytes, l->of.pitch, l->of.rows, l->high, trial / 2 + 1);
    move_places(p);
    p->shift += bytes_before(&at[0], l->of.from_pitch, l->from_high);
    p->moved += bytes_before(&at[1], l->of.pitch, l->high);
    error = fill_places(p, &all, from, to, salt);
    if (error == cudaSuccess)
        error = copy_driver_layers(p, l, from, to, at);
    return error == cudaSuccess ? look_at_layers(p, l, to, salt) : error;
}

static void ask_driver_rows(struct places *p)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    p->wrong = p->trials = 0;
    for (i = 0; i < 2 * ALL_ROWS && error == cudaSuccess; i++)
        error = try_driver_rows(p, &all_rows[i % ALL_ROWS], i);
    ask_expect(p->ask, "copies of rows by cuMemcpy2DAsync", error, cudaSuccess);
    for (i = 0; i < 3 * ALL_LAYERS && error == cudaSuccess; i++)
        error = try_driver_layers(p, &all_layers[i % ALL_LAYERS], i);
    ask_expect(p->ask, "copies of layers by cuMemcpy3DAsync", error, cudaSuccess);
    ask_expect_none(p->ask, "copies of rows and layers by the driver that left other bytes", p->wrong, p->trials);
}

static void ask_calls(struct ask *ask)
{
    struct places p = PDL_ZERO;

    if (open_places(&p, ask)) {
        ask_lines(&p);
        ask_waiting_rows(&p);
        ask_driver_rows(&p);
    }
    close_places(&p);
}

#endif
