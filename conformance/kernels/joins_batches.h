/* joins_batches.h - the pair of joins.cu with copies that one call queues, each with its own source, target and size, also of rows and layers:
 * "the batch as a whole executes in stream order"; and each reads its source when its own attribute says. */
#ifndef JOINS_BATCHES_H_INCLUDED
#define JOINS_BATCHES_H_INCLUDED

#define PIECES_WAYS 6u
#define PIECES_MOST 24u         /* copies */
#define COLUMNS_ROW 16u         /* bytes */

#if CUDART_VERSION >= 12080

struct pieces {                /* copies; first: of the copies, the one from which on each of the attributes counts */
    void *to[PIECES_MOST];
    const void *from[PIECES_MOST];
    size_t bytes[PIECES_MOST], first[2];
    struct cudaMemcpyAttributes attribute[2];
    unsigned count;
};

static cudaError_t queue_layers(struct cudaMemcpy3DBatchOp *copies, size_t count, unsigned long long flags, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    return cudaMemcpy3DBatchAsync(count, copies, flags, stream);
#else
    size_t failed = 0;

    return cudaMemcpy3DBatchAsync(count, copies, &failed, flags, stream);
#endif
}

static struct cudaExtent extent_of(size_t width, size_t height, size_t depth)
{
    struct cudaExtent extent;

    extent.width = width;
    extent.height = height;
    extent.depth = depth;
    return extent;
}

/* row, height: 0 where rows, or layers, follow each other without a gap. */
static struct cudaMemcpy3DOperand layers_at(const void *at, size_t row, size_t height)
{
    struct cudaMemcpy3DOperand operand = PDL_ZERO;

    operand.type = cudaMemcpyOperandTypePointer;
    operand.op.ptr.ptr = (void *)(uintptr_t)at;
    operand.op.ptr.rowLength = row;
    operand.op.ptr.layerHeight = height;
    return operand;
}

/* What the piece is told by its attribute: the second one counts from some piece on. */
static enum cudaMemcpySrcAccessOrder order_of_piece(const struct pieces *b, unsigned i)
{
    return (enum cudaMemcpySrcAccessOrder)b->attribute[b->count > 1 && i >= b->first[1]].srcAccessOrder;
}

/* Each piece as the rows and layers that its size can be cut into. */
static cudaError_t queue_in_layers(const struct pieces *b, cudaStream_t stream)
{
    struct cudaMemcpy3DBatchOp copies[PIECES_MOST];
    unsigned i;

    memset(copies, 0, sizeof(copies));
    for (i = 0; i < b->count; i++) {
        size_t bytes = b->bytes[i], layers = bytes % 2 == 0 ? 2 : 1, rows = bytes / layers % 3 == 0 ? 3 : 1;
        copies[i].extent = extent_of(bytes / layers / rows, rows, layers);
        copies[i].src = i % 2 ? layers_at(b->from[i], copies[i].extent.width, rows) : layers_at(b->from[i], 0, 0);
        copies[i].dst = i / 2 % 2 ? layers_at(b->to[i], copies[i].extent.width, rows) : layers_at(b->to[i], 0, 0);
        copies[i].srcAccessOrder = order_of_piece(b, i);
        copies[i].flags = b->count > 1 && i >= b->first[1] ? b->attribute[1].flags : 0;
    }
    return queue_layers(copies, b->count, 0, stream);
}

/* The words of a work as two layers of rows, in columns of different widths. */
static cudaError_t move_in_columns(const struct joins *joins, unsigned cut, uint32_t *to, const uint32_t *from, enum cudaMemcpySrcAccessOrder order,
                                   cudaStream_t stream)
{
    size_t rows = PLACE_WORDS * sizeof(uint32_t) / COLUMNS_ROW / 2, at, width;
    struct cudaMemcpy3DBatchOp copies[COLUMNS_ROW];
    unsigned count = 0;

    memset(copies, 0, sizeof(copies));
    for (at = 0; at < COLUMNS_ROW; at += width, count++) {
        width = 1 + drawn(joins, 100 * cut + 21 + count, 6);
        width = width < COLUMNS_ROW - at ? width : COLUMNS_ROW - at;
        copies[count].extent = extent_of(width, rows, 2);
        copies[count].src = layers_at((const char *)from + at, COLUMNS_ROW, count % 2 ? rows : 0);
        copies[count].dst = layers_at((char *)to + at, COLUMNS_ROW, count % 2 ? 0 : rows);
        copies[count].srcAccessOrder = order;
    }
    return queue_layers(copies, count, 0, stream);
}

static cudaError_t queue_copies(struct pieces *b, unsigned attributes, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(b->to, b->from, b->bytes, b->count, b->attribute, b->first, attributes, stream);
#else
    size_t failed = 0;

    return cudaMemcpyBatchAsync(b->to, (void **)b->from, b->bytes, b->count, b->attribute, b->first, attributes, &failed, stream);
#endif
}

/* The words of a work in pieces of different sizes, in an order that is drawn; some with a hint. Another cut draws others. */
static void cut_words(const struct joins *joins, unsigned cut, uint32_t *to, const uint32_t *from, enum cudaMemcpySrcAccessOrder order,
                      struct pieces *b)
{
    size_t end = PLACE_WORDS * sizeof(uint32_t), at;
    unsigned longest = 3 + drawn(joins, 100 * cut + 20, 20), i, k;

    memset(b, 0, sizeof(*b));
    for (at = 0; at < end; at += b->bytes[b->count++]) {
        size_t bytes = b->count + 1 == PIECES_MOST ? end : 1 + drawn(joins, 100 * cut + 21 + b->count, longest);
        b->bytes[b->count] = bytes < end - at ? bytes : end - at;
        b->to[b->count] = (char *)to + at;
        b->from[b->count] = (const char *)from + at;
    }
    for (i = b->count; i > 1; i--) {
        struct pieces was = *b;
        k = drawn(joins, 100 * cut + 50 + i, i);
        b->to[k] = was.to[i - 1], b->to[i - 1] = was.to[k];
        b->from[k] = was.from[i - 1], b->from[i - 1] = was.from[k];
        b->bytes[k] = was.bytes[i - 1], b->bytes[i - 1] = was.bytes[k];
    }
    b->attribute[0].srcAccessOrder = b->attribute[1].srcAccessOrder = order;
    b->attribute[1].flags = cudaMemcpyFlagPreferOverlapWithCompute;
    b->first[1] = b->count > 1 ? 1 + drawn(joins, 100 * cut + 19, b->count - 1) : 1;
}

static cudaError_t move_in_pieces(struct joins *joins, unsigned cut, uint32_t *to, const uint32_t *from, enum cudaMemcpySrcAccessOrder order,
                                  cudaStream_t stream)
{
    struct pieces b;
    unsigned way = drawn(joins, 100 * cut + 18, 3);

    if (way == 2)
        return move_in_columns(joins, cut, to, from, order, FOLLOWS_IN(joins, stream));
    cut_words(joins, cut, to, from, order, &b);
    return way ? queue_in_layers(&b, FOLLOWS_IN(joins, stream)) : queue_copies(&b, b.count > 1 ? 2 : 1, FOLLOWS_IN(joins, stream));
}

/* In the device's memory, and late. */
static cudaError_t work_into_aside(struct joins *joins, unsigned place, cudaStream_t stream)
{
    struct kernel_args args = joins->work[place];

    args.data = joins->aside;
    return launch_one((const void *)SYMBOL(joins_work), &args, PLACE_WORDS, stream, NULL, 0);
}

static uint32_t *words_aside(const struct joins *joins, unsigned place) { return joins->aside + place * PLACE_WORDS; }

static cudaError_t prepare_pieces(struct joins *joins)
{
    prepare(joins, 1, 1);
    return open_aside(joins);
}

/* Out of the device, after work in the stream, or after an event of that. */
static cudaError_t pieces_out(struct joins *joins, cudaStream_t stream, int after_event)
{
    cudaEvent_t event = NULL;
    cudaError_t error = prepare_pieces(joins);

    if (error == cudaSuccess && after_event)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = work_into_aside(joins, 0, after_event ? joins->stream[1] : stream);
    if (error == cudaSuccess && after_event)
        error = record_and_await(event, joins->stream[1], stream);
    if (event)
        (void)cudaEventDestroy(event);
    return error == cudaSuccess ? move_in_pieces(joins, 0, joins->pinned->seen[0], joins->aside, cudaMemcpySrcAccessOrderStream, stream) : error;
}

static cudaError_t pieces_in_line(struct joins *joins, cudaStream_t stream) { return pieces_out(joins, stream, 0); }
static cudaError_t pieces_after_event(struct joins *joins, cudaStream_t stream) { return pieces_out(joins, stream, 1); }

/* Over late work's words; the follower finds those that came in. */
static cudaError_t pieces_in(struct joins *joins, cudaStream_t stream)
{
    struct kernel_args reads = joins->follower[0];
    uint32_t *words = joins->pinned->seen[1];
    cudaError_t error = prepare_pieces(joins);

    reads.data = joins->aside;
    store_fresh(joins->pinned, 0, words);
    if (error == cudaSuccess)
        error = work_into_aside(joins, 1, stream);
    if (error == cudaSuccess)
        error = move_in_pieces(joins, 0, joins->aside, words, cudaMemcpySrcAccessOrderAny, stream);
    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_follower), &reads, PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0);
}

/* Other words, between work and a dependent or plain follower. */
static cudaError_t pieces_between(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = prepare_pieces(joins);

    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = move_in_pieces(joins, 0, words_aside(joins, 1), words_aside(joins, 2), cudaMemcpySrcAccessOrderStream, stream);
    return error == cudaSuccess ? follow_or_depend(joins, stream, joins->round / 2 % 2) : error;
}

/* One batch after the other, in other pieces. */
static cudaError_t pieces_twice(struct joins *joins, cudaStream_t stream)
{
    cudaError_t error = prepare_pieces(joins);

    if (error == cudaSuccess)
        error = work_into_aside(joins, 0, stream);
    if (error == cudaSuccess)
        error = move_in_pieces(joins, 0, words_aside(joins, 1), joins->aside, cudaMemcpySrcAccessOrderStream, stream);
    if (error == cudaSuccess)
        error = move_in_pieces(joins, 1, joins->pinned->seen[0], words_aside(joins, 1), cudaMemcpySrcAccessOrderStream, stream);
    return error;
}

/* Pieces of a work's words are read in the order of the stream; the others come from pinned memory that rests, are read during the call, and what is
 * there afterwards is something else. Of the call's own arrays nothing is read once it has returned. */
static cudaError_t pieces_by_turns(struct joins *joins, cudaStream_t stream)
{
    uint32_t *rests = joins->pinned->seen[1], *to = words_aside(joins, 2);
    struct kernel_args reads = joins->follower[0];
    unsigned during = joins->round / STREAM_LEGACY % 2, i;
    struct pieces b;
    cudaError_t error = prepare_pieces(joins);

    reads.data = to;
    store_fresh(joins->pinned, 0, rests);
    cut_words(joins, 0, to, joins->aside, cudaMemcpySrcAccessOrderStream, &b);
    b.attribute[during].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    for (i = 0; i < b.count; i++)
        if (order_of_piece(&b, i) == cudaMemcpySrcAccessOrderDuringApiCall)
            b.from[i] = (const char *)rests + ((const char *)b.from[i] - (const char *)joins->aside);
    if (error == cudaSuccess)
        error = work_into_aside(joins, 0, stream);
    if (error == cudaSuccess)
        error = joins->round % 2 ? queue_in_layers(&b, stream) : queue_copies(&b, b.count > 1 ? 2 : 1, stream);
    for (i = 0; i < b.count; i++)
        b.to[i] = joins->aside + ALL_WORDS / 2, b.from[i] = joins->aside + ALL_WORDS / 2 + PLACE_WORDS;
    memset(rests, 0, PLACE_WORDS * sizeof(uint32_t));
    if (error != cudaSuccess)
        return error;
    return launch_one((const void *)SYMBOL(joins_follower), &reads, PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0);
}

/* In a stream of each kind that such a batch may go to. */
static cudaError_t join_pieces(struct joins *joins)
{
    static cudaError_t (*const ways[PIECES_WAYS])(struct joins *, cudaStream_t) = { pieces_in_line, pieces_after_event, pieces_in, pieces_between,
                                                                                   pieces_twice, pieces_by_turns };
    cudaStream_t stream = NULL;
    cudaError_t error = open_kind((enum stream_kind)(joins->round % STREAM_LEGACY), &stream);

    if (error == cudaSuccess)
        error = ways[joins->trial % PIECES_WAYS](joins, stream);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    close_kind(&stream);
    return error;
}

/* Each copy of layers "must have a valid srcAccessOrder setting". */
static void ask_wrong_layers(struct ask *ask, uint32_t *memory)
{
    struct cudaMemcpy3DBatchOp copies[2];

    if (!memory)
        return;
    memset(copies, 0, sizeof(copies));
    copies[0].src = copies[1].src = layers_at(memory, 0, 0);
    copies[0].dst = copies[1].dst = layers_at(memory + 4, 0, 0);
    copies[0].extent = copies[1].extent = extent_of(4, 1, 1);
    copies[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    ask_expect(ask, "copies of layers of which one does not say when its source is read", queue_layers(copies, 2, 0, ask->stream),
               cudaErrorInvalidValue);
}

/* "Each entry must be greater than the previous entry", the first one 0, and there are no more of them than copies. */
static void ask_wrong_batches(struct ask *ask)
{
    static const struct {
        const char *what;
        size_t first[2];
        unsigned attributes;
    } rows[] = { { "copies of which the first has no attributes", { 1, 2 }, 2 },
                 { "copies with attributes in the wrong order", { 0, 0 }, 2 },
                 { "copies with attributes for one that is not there", { 0, 2 }, 2 },
                 { "copies without attributes", { 0, 0 }, 0 } };
    uint32_t *memory = NULL;
    struct pieces b;
    unsigned i;

    ask_expect(ask, "memory for copies", cudaMalloc((void **)&memory, 64), cudaSuccess);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && memory; i++) {
        memset(&b, 0, sizeof(b));
        b.count = 2;
        b.to[0] = memory, b.to[1] = memory + 1;
        b.from[0] = memory + 2, b.from[1] = memory + 3;
        b.bytes[0] = b.bytes[1] = 4;
        b.first[0] = rows[i].first[0], b.first[1] = rows[i].first[1];
        b.attribute[0].srcAccessOrder = b.attribute[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        ask_expect(ask, rows[i].what, queue_copies(&b, rows[i].attributes, ask->stream), cudaErrorInvalidValue);
    }
    ask_wrong_layers(ask, memory);
    ask_expect(ask, "the host waits", cudaStreamSynchronize(ask->stream), cudaSuccess);
    if (memory)
        (void)cudaFree(memory);
}

static void ask_batches(struct ask *ask)
{
    static const struct join joins[PIECES_WAYS] = {
        { "stale in copies at once, after work", join_pieces },
        { "stale in copies at once, after an event", join_pieces },
        { "stale after copies at once that store words", join_pieces },
        { "stale after copies at once of other words", join_pieces },
        { "stale in copies at once, after others", join_pieces },
        { "wrong in copies at once whose sources are read at different times", join_pieces },
    };

    if (!has_version(12080)) {
        ask_unsupported(ask, "the driver is older than cudaMemcpyBatchAsync");
        return;
    }
    ask_wrong_batches(ask);
    ask_joins(ask, joins, PIECES_WAYS, cudaStreamNonBlocking);
}

#else
static void ask_batches(struct ask *ask) { ask_unsupported(ask, "the toolkit is older than cudaMemcpyBatchAsync"); }
#endif

#endif
