/* Allocation, copies and sets. Device memory, pinned host memory and managed memory are all the arena. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t allocate(void **out, size_t bytes, bool pinned)
{
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    *out = NULL;
    bool relaxed = capture_is_of_mode(cudaStreamCaptureModeRelaxed), others = device.other_thread && capture_is_of_mode(cudaStreamCaptureModeThreadLocal);
    FAIL_IF((device.faults.relaxed_forbids_memory && relaxed) || (device.faults.capture_forbids_others && others), cudaErrorStreamCaptureUnsupported);
    if (device.faults.memory_spoils_capture && relaxed)
        capture_invalidate_all();
    if (bytes == 0)
        return cudaSuccess;
    *out = memory_allocate(bytes, pinned);
    FAIL_IF(*out == NULL, cudaErrorMemoryAllocation);
    return cudaSuccess;
}

static cudaError_t release(void *p)
{
    if (p == NULL)
        return device.faults.end_of_nothing_refused ? call_result(cudaErrorInvalidValue) : cudaSuccess;
    cudaError_t error = run_until_idle(); /* as the runtime does: nothing may still use it */
    FAIL_IF(error != cudaSuccess, error);
    if (!memory_free(p))
        return device.faults.freed_memory_freed ? cudaSuccess : call_result(cudaErrorInvalidValue);
    pool_forgets(p);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMalloc(void **out, size_t bytes)
{
    CALL(cudaMalloc);
    if (device.faults.allocation_frees_waits)
        blocks_let_go(true);
    if (device.faults.malloc_ends_frees)
        pools_end_frees(NULL);
    return allocate(out, bytes, false);
}

cudaError_t CUDARTAPI cudaFree(void *p)
{
    CALL(cudaFree);
    if (device.faults.free_triggers)
        blocks_let_go(false);
    size_t bytes;
    return graph_memory_freed(p, &bytes) ? run_until_idle() : release(p);
}

cudaError_t CUDARTAPI cudaMallocHost(void **out, size_t bytes)
{
    CALL(cudaMallocHost);
    return allocate(out, bytes, true);
}

cudaError_t CUDARTAPI cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    CALL(cudaHostAlloc);
    device.pinned_memory_at = device.serial;
    cudaError_t error = allocate(out, bytes, true);
    if (error == cudaSuccess && (flags & cudaHostAllocWriteCombined) != 0 && *out != NULL)
        memory_marks(MARK_COMBINED, *out, bytes);
    return error;
}

cudaError_t CUDARTAPI cudaFreeHost(void *p)
{
    CALL(cudaFreeHost);
    return release(p);
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    CALL(cudaHostGetDevicePointer);
    FAIL_IF(out == NULL || flags != 0 || !memory_contains(host, 1), cudaErrorInvalidValue);
    *out = host;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *left, size_t *total)
{
    CALL(cudaMemGetInfo);
    device.told_memory_at = device.serial;
    FAIL_IF(left == NULL || total == NULL, cudaErrorInvalidValue);
    if (!device.faults.memory_total_untold)
        *total = memory_total();
    *left = memory_total() - memory_in_use();
    return cudaSuccess;
}

/* ---- copies and sets ---- */

/* A side that the direction calls device memory must be ours and large enough. */
static bool copy_is_sound(const void *to, const void *from, size_t bytes_there, size_t bytes, enum cudaMemcpyKind kind)
{
    if (to == NULL || from == NULL || (unsigned)kind > cudaMemcpyDefault)
        return false;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return (!to_device || memory_contains(to, bytes_there)) && (!from_device || memory_contains(from, bytes));
}

/* Queues it; wait: the host may not go on before it happened. */
cudaError_t stream_move(struct stream *s, struct op *op, bool wait)
{
    stream_append(s, op, false);
    op_submit(op);
    if (!wait)
        return cudaSuccess;
    uint64_t serial = op->serial;
    cudaError_t error = run_until_retired(op);
    host_waited(serial);
    return error;
}

cudaError_t stream_may_queue(struct stream *s)
{
    if (s == NULL)
        return cudaErrorInvalidResourceHandle;
    if (!device.faults.legacy_sets_beside && legacy_use_spoils(s))
        return cudaErrorStreamCaptureImplicit;
    return capture_broken(s) ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

struct node *copy_node(struct graph *g, struct move move)
{
    struct node *n = node_new(g, cudaGraphNodeTypeMemcpy);
    n->move = move;
    return n;
}

/* The model has no arrays. */
bool rows_sound(const struct cudaMemcpy3DParms *p)
{
    bool wide = p->extent.height > 1 && (p->srcPtr.pitch < p->extent.width || p->dstPtr.pitch < p->extent.width);
    bool high = p->extent.depth > 1 && (p->srcPtr.ysize < p->extent.height || p->dstPtr.ysize < p->extent.height);
    bool fits = (!wide || device.faults.short_copy_pitch_taken) && !high;
    return p->srcArray == NULL && p->dstArray == NULL && p->srcPtr.ptr != NULL && p->dstPtr.ptr != NULL && fits;
}

/* Of rows, or of layers of rows, as the general calls describe it. */
struct move copy_of(const struct cudaMemcpy3DParms *p)
{
    bool swaps = device.faults.rows_node_swaps_pitches;
    size_t to_pitch = swaps ? p->srcPtr.pitch : p->dstPtr.pitch, from_pitch = swaps ? p->dstPtr.pitch : p->srcPtr.pitch;
    struct move move = {.bytes = p->extent.width, .rows = p->extent.depth != 0 ? p->extent.height : 0, .pitch = to_pitch, .from_pitch = from_pitch};
    size_t to = p->dstPos.x + (device.faults.row_of_target_lost ? 0 : p->dstPos.y) * p->dstPtr.pitch;
    size_t from = p->srcPos.x + (device.faults.row_of_source_lost ? 0 : p->srcPos.y) * p->srcPtr.pitch;
    move.layers = p->extent.depth;
    move.layer = p->dstPtr.pitch * p->dstPtr.ysize;
    move.from_layer = p->srcPtr.pitch * p->srcPtr.ysize;
    bool first = device.faults.layer_of_source_lost || (device.faults.single_layer_takes_first && move.layers == 1);
    to += device.faults.single_layer_to_first && move.layers == 1 ? 0 : p->dstPos.z * move.layer;
    from += first ? 0 : p->srcPos.z * move.from_layer;
    move.to = p->dstPtr.ptr == NULL ? NULL : (char *)p->dstPtr.ptr + to;
    move.from = p->srcPtr.ptr == NULL ? NULL : (const char *)p->srcPtr.ptr + from;
    return move;
}

static cudaError_t capture_copy(struct stream *s, struct move move)
{
    struct node *n = copy_node(capture_graph(s), move);
    if (device.faults.captured_odd_source_rounded && ((uintptr_t)move.from & 1) != 0)
        n->move.from = (const char *)move.from - 1;
    if (device.faults.captured_rows_copied_once)
        n->move.rows = 1;
    if (device.faults.captured_layers_copied_once)
        n->move.layers = 1;
    return capture_node(s, n);
}

/* A copy of no bytes does nothing, but on the devices that let it take something away. */
static cudaError_t copy_nothing(struct stream *s)
{
    s->moved_nothing = true;
    if (device.faults.empty_copy_eats_waits)
        s->waits = 0;
    if (device.faults.empty_copy_cuts)
        stream_cuts(s);
    if (device.faults.empty_copy_cuts_capture && s->capture != NULL)
        capture_cuts(s);
    return cudaSuccess;
}

/* What a copy that is refused changes, on the devices that let one. */
static void refused_copy_acts(struct stream *s)
{
    if (device.faults.refused_copy_eats_waits)
        s->waits = 0;
    if (device.faults.refused_copy_cuts)
        stream_cuts(s);
}

/* On a device where what copies take lies in one of eight places until they begin: the ninth one gives the first one its bytes. */
static struct staged {
    char *bytes; /* NULL: its copy has taken them */
    size_t count;
} staged[8];

static void share_staging(char *bytes, size_t count)
{
    static unsigned next;
    struct staged *s = &staged[next++ % 8];
    if (!device.faults.staging_in_a_ring)
        return;
    if (s->bytes != NULL)
        memcpy(s->bytes, bytes, s->count < count ? s->count : count);
    s->bytes = bytes;
    s->count = count;
}

void staging_ends(char *bytes)
{
    for (unsigned i = 0; i < 8; i++)
        if (staged[i].bytes == bytes)
            staged[i].bytes = NULL;
    free(bytes);
}

/* The source is taken now, row after row. */
static void stage(struct move *move)
{
    size_t layers = move->layers != 0 ? move->layers : 1;
    bool far = device.faults.staged_layers_far;
    const size_t bytes = move->bytes * move->rows * layers;
    char *staging = far ? calloc(1, bytes + layers * move->from_layer) : malloc(bytes), *end = staging;
    if (staging == NULL)
        abort();
    const size_t from_layer = device.faults.staged_layers_close ? move->rows * move->from_pitch : move->from_layer;
    for (size_t layer = 0; layer < layers; layer++)
        for (size_t row = 0; row < move->rows; row++, end += move->bytes)
            memcpy(end, (const char *)move->from + layer * from_layer + row * move->from_pitch, move->bytes);
    share_staging(staging, bytes);
    move->from = move->staging = staging;
    move->from_pitch = move->bytes;
    if (!far)
        move->from_layer = move->bytes * move->rows;
}

/* Devices that take rows of whole words to lie in whole words */
static size_t rounded_pitch(const struct move *move)
{
    return device.faults.odd_pitch_rounded && move->rows > 1 && move->bytes % 4 == 0 && move->bytes < move->pitch ? move->pitch & ~(size_t)3 : move->pitch;
}

/* What some devices leave out of a copy, or take from elsewhere. */
static void cut_copy(struct move *move, enum cudaMemcpyKind kind)
{
    if (device.faults.odd_source_rounded && ((uintptr_t)move->from & 1) != 0)
        move->from = (const char *)move->from - 1;
    if (device.faults.odd_target_rounded && ((uintptr_t)move->to & 1) != 0)
        move->to = (char *)move->to - 1;
    bool crooked = (((uintptr_t)move->from ^ (uintptr_t)move->to) & 15) != 0;
    if (device.faults.crooked_copy_cut && crooked && move->rows == 1 && move->bytes > 64 && move->bytes < 512)
        move->bytes &= ~(size_t)15;
    if (device.faults.crooked_long_copy_cut && crooked && move->rows == 1 && move->bytes >= 512)
        move->bytes &= ~(size_t)15;
    move->pitch = rounded_pitch(move);
    if (device.faults.column_copied_once && move->bytes == 1)
        move->rows = 1;
    if (device.faults.large_copy_in_cut && kind == cudaMemcpyHostToDevice && move->bytes > 1048576)
        move->bytes = 1048576;
    if (device.faults.rows_copy_takes_one_pitch && move->rows > 1)
        move->from_pitch = move->pitch;
    if (device.faults.lone_row_copied_short && move->rows == 1 && move->pitch > move->bytes)
        move->bytes--;
    if (device.faults.long_rows_cut && move->rows > 1 && move->bytes > 1024)
        move->bytes = 1024;
}

/* The value from another byte on, as a device has it that fills 16 bytes from where they are aligned */
static uint32_t turned(const struct move *move)
{
    unsigned by = (unsigned)((uintptr_t)move->to % 16 / move->width * 8);
    uint32_t all = move->width == 2 ? (move->value & 0xFFFF) * 0x10001u : move->value;
    return all >> by % 32 | all << (32 - by % 32) % 32;
}

/* ... and of a memset. */
static void cut_set(struct move *move)
{
    if (device.faults.odd_set_leaves_tail && ((uintptr_t)move->to & 3) != 0 && move->rows == 1 && move->bytes > 4)
        move->bytes &= ~(size_t)3;
    if (device.faults.crooked_set_cut && ((uintptr_t)move->to & 15) != 0 && move->rows == 1 && move->bytes > 64 && move->bytes < 512)
        move->bytes &= ~(size_t)15;
    if (device.faults.crooked_long_set_cut && ((uintptr_t)move->to & 15) != 0 && move->bytes >= 512)
        move->bytes &= ~(size_t)15;
    if (device.faults.wide_set_turned && move->width > 1 && move->width <= 4 && ((uintptr_t)move->to & 15) != 0)
        move->value = turned(move);
    if (device.faults.column_set_once && move->bytes == 1)
        move->rows = 1;
    if (device.faults.lone_row_set_short && move->rows == 1 && move->pitch > move->bytes)
        move->bytes--;
    bool cut = (device.faults.driver_sets_64k_of_halves && move->width == 2) || (device.faults.driver_sets_64k_of_words && move->width == 4);
    if (cut && move->bytes > 65536)
        move->bytes = 65536;
}

static cudaError_t copy_rows(struct move move, enum cudaMemcpyKind kind, struct stream *s, bool wait)
{
    void *to = move.to;
    const void *from = move.from;
    if (s != NULL && capture_broken(s) && device.faults.spoiled_takes_copy)
        return cudaSuccess;
    size_t further = move.layers > 1 ? move.layers - 1 : 0;
    size_t bytes = further * move.from_layer + (move.rows - 1) * move.from_pitch + move.bytes;
    size_t bytes_there = further * move.layer + (move.rows - 1) * move.pitch + move.bytes;
    cudaError_t error = stream_may_queue(s);
    FAIL_IF(error != cudaSuccess, error);
    if (move.bytes == 0 || move.rows == 0)
        return copy_nothing(s);
    if (!copy_is_sound(to, from, bytes_there, bytes, kind)) {
        refused_copy_acts(s);
        return call_result(cudaErrorInvalidValue);
    }
    if (s->capture != NULL)
        return call_result(capture_copy(s, move));
    struct op *op = op_new(OP_COPY);
    op->move = move;
    if (device.faults.long_device_copy_cut && kind == cudaMemcpyDeviceToDevice && bytes > 65536)
        op->move.bytes = 65536;
    cut_copy(&op->move, kind);
    op->to_host = kind == cudaMemcpyDeviceToHost;
    op->from_host = kind == cudaMemcpyHostToDevice;
    op->in_host = kind == cudaMemcpyHostToHost;
    op->plain_copy = wait;
    if (device.faults.plain_copy_of_odd_rounded && wait && ((uintptr_t)from & 1) != 0)
        op->move.from = (const char *)from - 1;
    if (device.faults.odd_pageable_cut && op->in_host && !memory_contains(from, bytes) && ((uintptr_t)from & 1) != 0 && bytes > 4)
        op->move.bytes &= ~(size_t)3;
    bool long_copy = bytes > 65536;
    bool early = device.faults.idle_source_early && (s->tail == NULL || s->tail->retired) && s->waits == 0 && kind == cudaMemcpyHostToDevice;
    bool pageable_source = !memory_contains(from, bytes), pageable_target = !memory_contains(to, bytes_there);
    bool pinned_source = memory_is_pinned(from), pinned_target = memory_is_pinned(to);
    bool read_late = (wait && long_copy && device.faults.long_pageable_source_late) || (!wait && device.faults.pageable_later);
    if ((device.faults.late_copies || read_late) && kind == cudaMemcpyHostToDevice && pageable_source)
        wait = false; /* documented: such a call may return when the source is read */
    early |= device.faults.graph_source_taken_early && s->behind_graph && pinned_source;
    if (!wait && (device.source_during_call || ((early || pageable_source) && !read_late)))
        stage(&op->move);
    if ((device.faults.pinned_source_late && kind == cudaMemcpyHostToDevice && pinned_source) ||
        (device.faults.pinned_target_early && kind == cudaMemcpyDeviceToHost && pinned_target) ||
        (device.faults.default_to_pinned_early && kind == cudaMemcpyDefault && pinned_target) ||
        (device.faults.pinned_to_pinned_early && kind == cudaMemcpyHostToHost && pinned_source && pinned_target))
        wait = false;
    if (device.faults.other_thread_copy_early && device.other_thread)
        wait = false;
    if (device.faults.host_copy_runs_again && wait && kind == cudaMemcpyHostToHost) {
        memmove(to, from, bytes);
        wait = false;
    }
    if (device.faults.pageable_layers_close && pageable_target)
        op->move.layer = move.pitch * move.rows;
    if (pageable_target)
        wait = wait ? !(long_copy && device.faults.long_pageable_target_early) : !device.faults.pageable_later;
    if ((device.faults.rows_copy_unordered && move.rows > 1) || (device.faults.layers_copy_unordered && move.layers > 1))
        stream_cuts(s);
    if (device.faults.layers_copied_once)
        op->move.layers = 1;
    return call_result(stream_move(s, op, wait));
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct stream *s, bool wait)
{
    return copy_rows((struct move){.to = to, .from = from, .bytes = bytes, .rows = 1}, kind, s, wait);
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CALL(cudaMemcpy2DAsync);
    if (rows > 1 && ((pitch < bytes && device.faults.target_pitch_short_taken) || (from_pitch < bytes && device.faults.source_pitch_short_taken)))
        return cudaSuccess;
    if (device.faults.refused_rows_cut && rows > 1 && pitch < bytes && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    FAIL_IF(rows > 1 && (pitch < bytes || from_pitch < bytes), cudaErrorInvalidPitchValue);
    struct move move = {.to = to, .from = from, .bytes = bytes, .rows = rows, .pitch = pitch, .from_pitch = from_pitch};
    if (device.faults.rows_copy_stops && rows > 16)
        move.rows = 16;
    if (device.faults.rows_copy_packed)
        move.pitch = bytes;
    if (device.faults.rows_copy_takes_gaps && rows > 1)
        move.bytes = from_pitch < pitch ? from_pitch : pitch;
    return copy_rows(move, kind, stream_of(stream), false);
}

cudaError_t CUDARTAPI cudaMemcpy2D(void *to, size_t pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows, enum cudaMemcpyKind kind)
{
    CALL(cudaMemcpy2D);
    FAIL_IF(rows > 1 && (pitch < bytes || from_pitch < bytes), cudaErrorInvalidPitchValue);
    struct move move = {.to = to, .from = from, .bytes = bytes, .rows = rows, .pitch = pitch, .from_pitch = from_pitch};
    if (device.faults.waiting_rows_packed)
        move.pitch = bytes;
    if (device.faults.waiting_source_rows_packed)
        move.from_pitch = bytes;
    return copy_rows(move, kind, stream_legacy(), !device.faults.rows_copy_returns_early);
}

cudaError_t CUDARTAPI cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CALL(cudaMemcpy3D);
    FAIL_IF(p == NULL || !rows_sound(p), cudaErrorInvalidValue);
    struct move move = copy_of(p);
    if (device.faults.waiting_source_layers_packed && move.from_pitch != 0) {
        move.from_layer = move.from_layer / move.from_pitch * move.bytes;
        move.from_pitch = move.bytes;
    }
    return copy_rows(move, p->kind, device.faults.layers_copy_elsewhere ? stream_of(cudaStreamPerThread) : stream_legacy(), true);
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CALL(cudaMemcpy3DAsync);
    if (device.faults.refused_layers_eat_waits && p != NULL && !rows_sound(p) && stream_of(stream) != NULL)
        stream_of(stream)->waits = 0;
    FAIL_IF(p == NULL || !rows_sound(p), cudaErrorInvalidValue);
    return copy_rows(copy_of(p), p->kind, stream_of(stream), false);
}

cudaError_t CUDARTAPI cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CALL(cudaMemcpy);
    return copy(to, from, bytes, kind, stream_legacy(), true);
}

cudaError_t memory_copied(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct stream *s)
{
    return copy(to, from, bytes, kind, s, false);
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    CALL(cudaMemcpyAsync);
    return memory_copied(to, from, bytes, kind, stream_of(stream));
}

/* wait: the host may not go on before it happened. */
static cudaError_t set_rows(struct move move, struct stream *s, bool wait)
{
    if (s != NULL && capture_broken(s) && device.faults.spoiled_takes_memset)
        return cudaSuccess;
    if (s != NULL && capture_broken(s) && device.faults.spoiled_memset_runs)
        memset(move.to, (int)move.value, move.bytes);
    cudaError_t error = stream_may_queue(s);
    FAIL_IF(error != cudaSuccess, error);
    bool empty = move.bytes == 0 || move.rows == 0;
    if (device.faults.empty_memset_eats_waits && empty)
        s->waits = 0;
    s->moved_nothing |= empty;
    if (device.faults.no_rows_set_cuts && move.rows == 0)
        stream_cuts(s);
    if (empty)
        return cudaSuccess;
    if (device.faults.refused_memset_cuts_capture && s->capture != NULL && !memory_contains(move.to, 1))
        capture_cuts(s);
    if (device.faults.refused_memset_cuts && !memory_contains(move.to, 1))
        stream_cuts(s);
    if (device.faults.short_stream_pitch_taken && move.rows > 1 && move.pitch < move.bytes)
        return cudaSuccess;
    FAIL_IF((move.rows > 1 && move.pitch < move.bytes) || !memory_contains(move.to, (move.rows - 1) * move.pitch + move.bytes),
            cudaErrorInvalidValue);
    if (s->capture != NULL) {
        struct node *n = node_new(capture_graph(s), cudaGraphNodeTypeMemset);
        n->move = move;
        if (device.faults.captured_odd_set_leaves_tail && ((uintptr_t)move.to & 3) != 0 && move.rows == 1 && move.bytes > 4)
            n->move.bytes &= ~(size_t)3;
        if (device.faults.captured_words_as_bytes && move.width > 1)
            n->move.value = (move.value & 255u) * 0x01010101u;
        return call_result(capture_node(s, n));
    }
    struct op *op = op_new(OP_SET);
    op->move = move;
    cut_set(&op->move);
    return call_result(stream_move(s, op, wait));
}

static cudaError_t set(void *to, size_t pitch, int value, size_t bytes, size_t rows, struct stream *s, bool wait)
{
    struct move move = {.to = to, .bytes = bytes, .width = 1, .rows = rows, .pitch = pitch, .value = (unsigned char)value};
    if (device.faults.large_value_saturates && value > 255)
        move.value = 255;
    if (device.faults.negative_memset_zero && value < 0)
        move.value = 0;
    return set_rows(move, s, wait);
}

cudaError_t stream_set(void *to, uint32_t value, size_t width, size_t bytes, cudaStream_t stream)
{
    return set_rows((struct move){.to = to, .bytes = bytes, .width = width, .rows = 1, .value = value}, stream_of(stream), false);
}

/* ---- values: a word that is written in the order of a stream, and a wait for one ---- */

static cudaError_t value_fits(struct stream *s, const uint32_t *at)
{
    cudaError_t error = stream_may_queue(s);
    if (error != cudaSuccess)
        return error;
    if (memory_contains(at, sizeof *at) && (uintptr_t)at % sizeof *at == 0)
        return cudaSuccess;
    if (device.faults.refused_value_cuts)
        stream_cuts(s);
    return cudaErrorInvalidValue;
}

struct op *value_op(const struct value *v)
{
    struct op *op = op_new(v->awaited ? OP_AWAIT : OP_SET);
    if (!v->awaited) {
        op->of_value = true;
        bool eight = v->wide && !device.faults.wide_value_halved;
        op->move = (struct move){.to = v->at, .bytes = eight || device.faults.value_written_twice ? 8 : 4, .width = eight ? 8 : 4, .rows = 1,
                                 .value = (uint32_t)v->value, .upper = (uint32_t)(v->value >> 32)};
        if (v->wide && device.faults.wide_value_turned)
            op->move.value = (uint32_t)(v->value >> 32), op->move.upper = (uint32_t)v->value;
        return op;
    }
    op->await.flags = v->flags;
    op->await.wide = v->wide;
    op->await.wanted = v->value;
    memcpy(&op->await.before, v->at, sizeof op->await.before);
    op->move = (struct move){.from = v->at, .value = (uint32_t)v->value};
    return op;
}

/* Captured, each is a node. */
static cudaError_t value_queue(cudaStream_t stream, const struct value *v)
{
    struct stream *s = stream_of(stream);
    cudaError_t error = value_fits(s, v->at);
    FAIL_IF(error != cudaSuccess, error);
    if (s->capture != NULL) {
        struct node *n = node_new(capture_graph(s), NODE_OF_VALUE);
        n->value = *v;
        n->value.wide &= !(v->awaited ? device.faults.captured_wide_wait_by_low_word : device.faults.captured_wide_value_halved);
        return capture_node(s, n);
    }
    return stream_move(s, value_op(v), false);
}

cudaError_t stream_write_value(cudaStream_t stream, uint32_t *to, uint64_t value, bool wide)
{
    if (wide && device.faults.wide_value_cuts && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    if (device.faults.small_wide_value_halved)
        wide &= value >> 32 != 0;
    return value_queue(stream, &(struct value){.at = to, .value = value, .wide = wide});
}

cudaError_t stream_await_value(cudaStream_t stream, uint32_t *at, uint64_t value, unsigned flags, bool wide)
{
    return value_queue(stream, &(struct value){.at = at, .value = value, .flags = flags, .wide = wide, .awaited = true});
}

cudaError_t CUDARTAPI cudaMemset(void *to, int value, size_t bytes)
{
    CALL(cudaMemset);
    if (device.faults.pinned_memset_leaves_last && memory_is_pinned(to) && bytes > 1)
        bytes--;
    return set(to, bytes, value, bytes, 1, stream_legacy(), memory_is_pinned(to) && !device.faults.pinned_memset_early);
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    CALL(cudaMemsetAsync);
    return set(to, bytes, value, bytes, 1, stream_of(stream), false);
}

cudaError_t CUDARTAPI cudaMemset2D(void *to, size_t pitch, int value, size_t bytes, size_t rows)
{
    CALL(cudaMemset2D);
    struct stream *s = device.faults.waiting_rows_set_elsewhere ? stream_of(cudaStreamPerThread) : stream_legacy();
    return set(to, device.faults.waiting_set_packed ? bytes : pitch, value, bytes, rows, s, memory_is_pinned(to));
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *to, size_t pitch, int value, size_t bytes, size_t rows, cudaStream_t stream)
{
    CALL(cudaMemset2DAsync);
    return set(to, pitch, value, bytes, rows, stream_of(stream), false);
}
