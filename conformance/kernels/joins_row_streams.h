/* joins_row_streams.h - the pair of joins.cu with work and silent kernels in a stream of each kind, launched and captured. What follows them has
 * to come after the work: a kernel, a copy or memset of each direction and shape, a graph, or the host. */
#ifndef JOINS_ROW_STREAMS_H_INCLUDED
#define JOINS_ROW_STREAMS_H_INCLUDED

#define ROW_BYTES (PLACE_WORDS * sizeof(uint32_t))

/* The first ones read words of the device, the next ones store over them; the host comes last. */
enum row_end { ROW_COPY_OUT, ROW_COPY_WITHIN, ROW_COPY_ROWS, ROW_COPY_LAYERS, ROW_COPY_IN, ROW_SET, ROW_SET_ROWS, ROW_SET_HALVES, ROW_SET_WORDS,
               ROW_HALVES_IN_ROWS, ROW_WORDS_IN_ROWS, ROW_KERNEL, ROW_LONG_ARGS, ROW_HOST, ROW_GRAPH, ROW_CALLBACK, ROW_EVENT, ROW_WAIT, ROW_POLL,
               ROW_ENDS };
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

static cudaError_t move_after_row(struct joins *joins, enum row_end end, cudaStream_t stream)
{
    uint32_t *words = joins->aside, *other = joins->aside + ALL_WORDS / 2;
    struct cudaMemcpy3DParms layers = row_in_layers(other, words);

    switch (end) {
    case ROW_COPY_OUT: return cudaMemcpyAsync(joins->pinned->seen[0], words, ROW_BYTES, cudaMemcpyDeviceToHost, stream);
    case ROW_COPY_WITHIN: return cudaMemcpyAsync(other, words, ROW_BYTES, cudaMemcpyDeviceToDevice, stream);
    case ROW_COPY_ROWS: return cudaMemcpy2DAsync(other, 8, words, 8, 8, ROW_BYTES / 8, cudaMemcpyDeviceToDevice, stream);
    case ROW_COPY_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    case ROW_COPY_IN: return cudaMemcpyAsync(words, joins->pinned->words, ROW_BYTES, cudaMemcpyHostToDevice, stream);
    case ROW_SET: return cudaMemsetAsync(words, SET_BYTE, ROW_BYTES, stream);
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
    uint32_t *seen = joins->pinned->seen[0], *from = joins->aside + (end < ROW_COPY_IN ? ALL_WORDS / 2 : 0);
    cudaError_t error = cudaDeviceSynchronize();
    unsigned i;

    if (error == cudaSuccess && end != ROW_COPY_OUT)
        error = cudaMemcpy(seen, from, ROW_BYTES, cudaMemcpyDeviceToHost);
    joins->followers = end < ROW_COPY_IN ? 1 : 0;
    for (i = 0; i < PLACE_WORDS && end >= ROW_COPY_IN; i++)
        joins->pinned->host_is_stale |= seen[i] != SET_BYTE * 0x1010101u;
    return error;
}

/* A move finds the words in the device's memory, who else comes after the row in that of the host. */
static cudaError_t row_in(struct joins *joins, enum stream_kind kind)
{
    static const uint32_t nothing[ALL_WORDS] = { 0 };
    unsigned turn = joins->round % ROW_TURNS;
    enum row_end end = (enum row_end)(turn < ROW_ENDS ? turn : turn - ROW_ENDS);
    int captured = turn >= ROW_ENDS && kind != STREAM_LEGACY;
    uint32_t *words = joins->work[0].data;
    cudaStream_t stream = NULL;
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 1);
    if (end == ROW_COPY_IN)
        memset(joins->pinned->words, SET_BYTE, ROW_BYTES);
    if (error == cudaSuccess)
        error = open_kind(kind, &stream);
    if (error == cudaSuccess && end < ROW_MOVES)
        error = fill_aside(joins, nothing, ALL_WORDS); /* what an earlier trial left there is no answer */
    if (end < ROW_MOVES)
        joins->work[0].data = joins->aside;
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
