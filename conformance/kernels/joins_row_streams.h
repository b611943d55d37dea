/* joins_row_streams.h - the pair of joins.cu with work and silent kernels in a stream of each kind, launched and captured. What follows them has
 * to come after the work: a kernel, a copy or memset of each direction and shape, short or long, a graph, or the host. */
#ifndef JOINS_ROW_STREAMS_H_INCLUDED
#define JOINS_ROW_STREAMS_H_INCLUDED

#define ROW_BYTES (PLACE_WORDS * sizeof(uint32_t))
#define LONG_BYTES (131072 + ROW_BYTES) /* of a long copy or memset, which begins with the words */

/* The first ones read words of the device, the next ones store over them; the host comes last. */
enum row_end { ROW_COPY_OUT, ROW_COPY_WITHIN, ROW_COPY_ROWS, ROW_COPY_LAYERS, ROW_LONG_OUT, ROW_LONG_WITHIN, ROW_COPY_IN, ROW_SET, ROW_SET_ROWS,
               ROW_SET_HALVES, ROW_SET_WORDS, ROW_HALVES_IN_ROWS, ROW_WORDS_IN_ROWS, ROW_LONG_IN, ROW_LONG_SET, ROW_KERNEL, ROW_LONG_ARGS, ROW_HOST,
               ROW_GRAPH, ROW_CALLBACK, ROW_EVENT, ROW_WAIT, ROW_POLL, ROW_ENDS };
#define ROW_MOVES ROW_KERNEL      /* the first one that is none */
#define ROW_CAPTURED ROW_GRAPH    /* the first one that is not captured */
#define ROW_TURNS (ROW_ENDS + ROW_CAPTURED)

static struct cudaMemcpy3DParms row_in_layers(uint32_t *to, uint32_t *from)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.dstPtr.ptr = to;
    copy.srcPtr.ptr = from;
    copy.dstPtr.pitch = copy.srcPtr.pitch = copy.dstPtr.xsize = copy.srcPtr.xsize = copy.extent.width = 8;
    copy.dstPtr.ysize = copy.srcPtr.ysize = copy.extent.height = 2;
    copy.extent.depth = ROW_BYTES / 16;
    copy.kind = cudaMemcpyDeviceToDevice;
    return copy;
}

static int is_long(enum row_end end) { return end == ROW_LONG_OUT || end == ROW_LONG_WITHIN || end == ROW_LONG_IN || end == ROW_LONG_SET; }

/* The device's words that the work stores to, and those that they are copied to; the host's ones beside them. */
static uint32_t *row_words(const struct joins *joins, enum row_end end) { return is_long(end) ? joins->longer : joins->aside; }
static uint32_t *row_other(const struct joins *joins, enum row_end end)
{
    return is_long(end) ? joins->longer + LONG_BYTES / sizeof(uint32_t) : joins->aside + ALL_WORDS / 2;
}
static uint32_t *row_host(const struct joins *joins, enum row_end end)
{
    return is_long(end) ? joins->longer_host : end == ROW_COPY_OUT ? joins->pinned->seen[0] : joins->pinned->words;
}

static cudaError_t move_after_row(struct joins *joins, enum row_end end, cudaStream_t stream)
{
    uint32_t *words = row_words(joins, end), *other = row_other(joins, end), *host = row_host(joins, end);
    size_t bytes = is_long(end) ? LONG_BYTES : ROW_BYTES;
    struct cudaMemcpy3DParms layers = row_in_layers(other, words);

    switch (end) {
    case ROW_COPY_OUT:
    case ROW_LONG_OUT: return cudaMemcpyAsync(host, words, bytes, cudaMemcpyDeviceToHost, stream);
    case ROW_COPY_WITHIN:
    case ROW_LONG_WITHIN: return cudaMemcpyAsync(other, words, bytes, cudaMemcpyDeviceToDevice, stream);
    case ROW_COPY_ROWS: return cudaMemcpy2DAsync(other, 8, words, 8, 8, ROW_BYTES / 8, cudaMemcpyDeviceToDevice, stream);
    case ROW_COPY_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    case ROW_COPY_IN:
    case ROW_LONG_IN: return cudaMemcpyAsync(words, host, bytes, cudaMemcpyHostToDevice, stream);
    case ROW_SET:
    case ROW_LONG_SET: return cudaMemsetAsync(words, SET_BYTE, bytes, stream);
    case ROW_SET_ROWS: return cudaMemset2DAsync(words, 8, SET_BYTE, 8, ROW_BYTES / 8, stream);
    case ROW_SET_HALVES:
    case ROW_SET_WORDS: return set_in_line(end == ROW_SET_HALVES ? SET_HALVES : SET_WORDS, words, (CUstream)stream);
    default: return set_rows_by_driver(end == ROW_HALVES_IN_ROWS ? SET_HALVES : SET_WORDS, words, (CUstream)stream);
    }
}

static cudaError_t follow_after_row(struct joins *joins, enum row_end end, cudaStream_t stream)
{
    static const enum follow_by by[] = { FOLLOW_KERNEL, FOLLOW_LONG_ARGS, FOLLOW_HOST, FOLLOW_GRAPH, FOLLOW_CALLBACK, FOLLOW_EVENT, FOLLOW_WAIT,
                                         FOLLOW_POLL };

    return end < ROW_MOVES ? move_after_row(joins, end, FOLLOWS_IN(joins, stream)) : follow_by(joins, by[end - ROW_MOVES], stream);
}

/* Work, one or two silent kernels, and what comes after them. */
static cudaError_t row_and_end(struct joins *joins, enum row_end end, cudaStream_t stream)
{
    cudaError_t error = row_alone(joins, joins->round % 2, 1 + joins->round / 2 % 2, stream);

    return error == cudaSuccess ? follow_after_row(joins, end, stream) : error;
}

static cudaError_t capture_row_and_end(struct joins *joins, enum row_end end, cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    return error == cudaSuccess ? ask_run_capture(stream, row_and_end(joins, end, stream)) : error;
}

/* What the move read, or left; the words of whoever stored over them are all the same. */
static cudaError_t look_at_move(struct joins *joins, enum row_end end)
{
    uint32_t *seen = joins->pinned->seen[0], *from = end < ROW_COPY_IN ? row_other(joins, end) : row_words(joins, end);
    cudaError_t error = cudaDeviceSynchronize();
    unsigned i;

    if (end == ROW_LONG_OUT)
        memcpy(seen, joins->longer_host, ROW_BYTES);
    else if (error == cudaSuccess && end != ROW_COPY_OUT)
        error = cudaMemcpy(seen, from, ROW_BYTES, cudaMemcpyDeviceToHost);
    joins->followers = end < ROW_COPY_IN ? 1 : 0;
    for (i = 0; i < PLACE_WORDS && end >= ROW_COPY_IN; i++)
        joins->pinned->host_is_stale |= seen[i] != SET_BYTE * 0x1010101u;
    return error;
}

static cudaError_t open_longer(struct joins *joins)
{
    cudaError_t error = joins->longer ? cudaSuccess : cudaMalloc((void **)&joins->longer, 2 * LONG_BYTES);

    if (error == cudaSuccess && !joins->longer_host)
        error = cudaHostAlloc((void **)&joins->longer_host, LONG_BYTES, cudaHostAllocDefault);
    return error == cudaSuccess ? open_aside(joins) : error;
}

/* A move finds the words in the device's memory, who else comes after the row in that of the host. */
static cudaError_t row_in(struct joins *joins, enum stream_kind kind)
{
    static const uint32_t nothing[PLACE_WORDS] = { 0 };
    unsigned turn = joins->round % ROW_TURNS;
    enum row_end end = (enum row_end)(turn < ROW_ENDS ? turn : turn - ROW_ENDS);
    int captured = turn >= ROW_ENDS && kind != STREAM_LEGACY;
    uint32_t *words = joins->work[0].data;
    cudaStream_t stream = NULL;
    cudaError_t error = open_longer(joins);

    prepare(joins, 1, 1);
    if (error == cudaSuccess && (end == ROW_COPY_IN || is_long(end)))
        memset(row_host(joins, end), SET_BYTE, is_long(end) ? LONG_BYTES : ROW_BYTES);
    if (error == cudaSuccess)
        error = open_kind(kind, &stream);
    if (error == cudaSuccess && end < ROW_MOVES)
        error = put_words(row_words(joins, end), nothing, PLACE_WORDS); /* what an earlier trial left there is no answer */
    if (end < ROW_MOVES)
        joins->work[0].data = row_words(joins, end);
    if (error == cudaSuccess)
        error = captured ? capture_row_and_end(joins, end, stream) : row_and_end(joins, end, stream);
    joins->work[0].data = words;
    close_kind(&stream);
    return error == cudaSuccess && end < ROW_MOVES ? look_at_move(joins, end) : error;
}

/* The kinds are asked in turn. */
static cudaError_t row_in_turn(struct joins *joins) { return row_in(joins, (enum stream_kind)(joins->trial % STREAM_KINDS)); }

static void ask_row_streams(struct ask *ask)
{
    static const struct join joins[STREAM_KINDS] = {
        { "stale after silent kernels in a non-blocking stream", row_in_turn },
        { "stale after silent kernels in a stream of the highest priority", row_in_turn },
        { "stale after silent kernels in the per-thread stream", row_in_turn },
        { "stale after silent kernels in a blocking stream", row_in_turn },
        { "stale after silent kernels in the legacy stream", row_in_turn },
    };

    ask_joins(ask, joins, STREAM_KINDS, cudaStreamNonBlocking);
}

#endif
