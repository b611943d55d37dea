/* joins_readers.h - the pair of joins.cu with work that reads late, and stores nothing before: what comes after it stores over what it reads. Who
 * takes a work for ended once what it stored is there, or looks only for who stores to the same memory, begins too soon. */
#ifndef JOINS_READERS_H_INCLUDED
#define JOINS_READERS_H_INCLUDED

#define READER_HOLD 30000u     /* nanoseconds: as long as it takes to queue what comes next */
#define READER_BEFORE (LONG_BYTES - ROW_BYTES) /* what a long copy reads before it comes to the words */

KERNEL(joins_late_reader)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(args.seen + k_thread(), k_load(args.data + k_thread()));
}

KERNEL(joins_overwriter) { k_store(args.data + k_thread(), k_thread()); }

/* The long ones read memory of the device, the host's function pinned memory, the others either. */
enum reader { READ_BY_KERNEL, READ_BY_GRAPH, READ_BY_COPY_OUT, READ_BY_COPY_WITHIN, READ_BY_ROWS, READ_BY_LAYERS, READ_BY_LONG_OUT,
              READ_BY_LONG_WITHIN, READ_BY_HOST, READ_BY_CALLBACK, READERS };
/* Not every device has values that streams write, alone or in batches. */
enum over { OVER_BY_SET, OVER_BY_HALVES, OVER_BY_WORDS, OVER_BY_SET_ROWS, OVER_BY_COPY_IN, OVER_BY_COPY_WITHIN, OVER_BY_ROWS, OVER_BY_LAYERS,
            OVER_BY_KERNEL, OVER_BY_GRAPH, OVER_BY_HOST, OVER_BY_CALLBACK, OVER_BY_VALUE, OVER_BY_BATCH, OVERS };
enum over_manner { OVER_IN_LINE, OVER_CAPTURED, OVER_AFTER_EVENT, OVER_IN_FORK, OVER_MANNERS };

struct reading {
    struct joins *joins;
    enum reader reader;
    enum over over;
    enum over_manner manner;
    uint32_t *source, *target; /* as the device names them; of the reader, which copies to the device first if it has a target */
    struct kernel_args args, over_args;
    cudaGraphExec_t exec;      /* of the reader or of who stores, if one is a graph */
    int pinned;                /* the source is */
};

static int reads_long(const struct reading *r) { return r->reader == READ_BY_LONG_OUT || r->reader == READ_BY_LONG_WITHIN; }
static int over_captured(const struct reading *r) { return r->manner == OVER_CAPTURED || r->manner == OVER_IN_FORK; }
static int reads_in_host(enum reader reader) { return reader == READ_BY_HOST || reader == READ_BY_CALLBACK; }
static int stores_in_host(enum over over) { return over == OVER_BY_HOST || over == OVER_BY_CALLBACK; }

/* The first kinds, as many as the device offers. */
static unsigned count_overs(struct joins *joins)
{
    return count_released(joins) < PLACES - 1 ? OVER_BY_VALUE : offers_batches(joins) ? OVERS : OVER_BY_BATCH;
}

/* Graphs, values and callbacks, which no capture takes, or which are something else there. */
static int is_never_captured(enum over over) { return over == OVER_BY_GRAPH || over == OVER_BY_CALLBACK || over >= OVER_BY_VALUE; }

/* What does not go together is replaced: in a capture graphs are not launched, values not written and callbacks not added, and the host
 * cannot store to the device's memory. */
static void choose_reading(struct reading *r)
{
    unsigned round = r->joins->round, overs = count_overs(r->joins);

    r->reader = (enum reader)(r->joins->trial % READERS);
    r->over = (enum over)((round + r->reader) % overs);
    r->manner = (enum over_manner)((round + round / overs) % OVER_MANNERS);
    if (over_captured(r) && (r->reader == READ_BY_GRAPH || r->reader == READ_BY_CALLBACK))
        r->reader = r->reader == READ_BY_GRAPH ? READ_BY_KERNEL : READ_BY_HOST;
    if ((over_captured(r) && is_never_captured(r->over)) || (reads_long(r) && stores_in_host(r->over)) ||
        (r->reader == READ_BY_GRAPH && r->over == OVER_BY_GRAPH))
        r->over = OVER_BY_KERNEL;
    r->pinned = !reads_long(r) && round / 2 % 2;
}

/* The words of a work that has ended, where they are read; other ones where what is stored over them comes from. */
static cudaError_t open_reading(struct reading *r)
{
    struct joins *joins = r->joins;
    uint32_t *words = joins->pinned->words;
    cudaError_t error = open_aside(joins);

    r->pinned |= reads_in_host(r->reader) || stores_in_host(r->over);
    prepare(joins, 1, 1);
    store_work(joins->pinned, 0);
    joins->pinned->plan[0].hold_ns = READER_HOLD;
    if (error == cudaSuccess)
        error = open_longer(joins);
    if (error != cudaSuccess)
        return error;
    r->source = reads_long(r) ? joins->longer + READER_BEFORE / sizeof(uint32_t) : r->pinned ? joins->follower[0].data : joins->aside;
    r->target = r->reader == READ_BY_COPY_WITHIN    ? joins->aside + PLACE_WORDS
                : r->reader == READ_BY_LONG_WITHIN ? joins->longer + LONG_BYTES / sizeof(uint32_t)
                                                   : NULL;
    r->args = r->over_args = joins->work[0];
    r->over_args.data = r->args.data = r->source;
    r->args.seen = joins->follower[0].seen;
    if (!r->pinned)
        error = put_words(r->source, words, PLACE_WORDS);
    if (error == cudaSuccess && r->reader == READ_BY_GRAPH)
        error = ask_graph_of_kernel(&r->exec, (const void *)SYMBOL(joins_late_reader), &r->args, PLACE_WORDS);
    if (error == cudaSuccess && r->over == OVER_BY_GRAPH)
        error = ask_graph_of_kernel(&r->exec, (const void *)SYMBOL(joins_overwriter), &r->over_args, PLACE_WORDS);
    return error == cudaSuccess ? put_words(joins->aside + ALL_WORDS / 2, words + 3 * PLACE_WORDS, 2 * PLACE_WORDS) : error;
}

/* ---- who reads ---- */

static void CUDART_CB read_words(void *opaque)
{
    struct pinned *pinned = (struct pinned *)opaque;

    memcpy(pinned->seen[0], pinned->words, ROW_BYTES);
}

static void CUDART_CB read_in_callback(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    read_words(opaque);
}

/* Holds up what comes after it, and has nothing to do with that. */
static cudaError_t hold_up(struct joins *joins, cudaStream_t stream)
{
    struct kernel_args args = joins->work[0];

    args.data = joins->work[1].data;
    args.seen = joins->follower[1].seen;
    return launch_one((const void *)SYMBOL(joins_late_reader), &args, PLACE_WORDS, stream, NULL, 0);
}

static cudaError_t copy_by_reader(struct reading *r, cudaStream_t stream)
{
    struct joins *joins = r->joins;
    uint32_t *seen = joins->follower[0].seen;
    struct cudaMemcpy3DParms layers = row_in_layers(seen, r->source);

    layers.kind = cudaMemcpyDefault;
    switch (r->reader) {
    case READ_BY_COPY_OUT:
        return cudaMemcpyAsync(joins->pinned->seen[0], r->source, ROW_BYTES, r->pinned ? cudaMemcpyDefault : cudaMemcpyDeviceToHost, stream);
    case READ_BY_COPY_WITHIN: return cudaMemcpyAsync(r->target, r->source, ROW_BYTES, cudaMemcpyDefault, stream);
    case READ_BY_ROWS: return cudaMemcpy2DAsync(seen, 8, r->source, 8, 8, ROW_BYTES / 8, cudaMemcpyDefault, stream);
    case READ_BY_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    case READ_BY_LONG_OUT: return cudaMemcpyAsync(joins->longer_host, joins->longer, LONG_BYTES, cudaMemcpyDeviceToHost, stream);
    case READ_BY_LONG_WITHIN: return cudaMemcpyAsync(r->target, joins->longer, LONG_BYTES, cudaMemcpyDeviceToDevice, stream);
    case READ_BY_CALLBACK: return cudaStreamAddCallback(stream, read_in_callback, joins->pinned, 0);
    default: return cudaLaunchHostFunc(stream, read_words, joins->pinned);
    }
}

static cudaError_t read_now(struct reading *r, cudaStream_t stream)
{
    if (r->reader == READ_BY_KERNEL)
        return launch_one((const void *)SYMBOL(joins_late_reader), &r->args, PLACE_WORDS, stream, NULL, 0);
    return r->reader == READ_BY_GRAPH ? cudaGraphLaunch(r->exec, stream) : copy_by_reader(r, stream);
}

static cudaError_t read_late(struct reading *r, cudaStream_t stream)
{
    cudaError_t error = r->reader > READ_BY_GRAPH ? hold_up(r->joins, stream) : cudaSuccess;

    return error == cudaSuccess ? read_now(r, stream) : error;
}

/* ---- who stores over it ---- */

static void CUDART_CB overwrite_words(void *opaque) { memset(opaque, 0, ROW_BYTES); }

static void CUDART_CB overwrite_in_callback(cudaStream_t stream, cudaError_t status, void *opaque)
{
    (void)stream, (void)status;
    overwrite_words(opaque);
}

/* The first two words. */
static cudaError_t overwrite_in_batch(uint32_t *to, cudaStream_t stream)
{
    CUstreamBatchMemOpParams writes[2];
    unsigned i;

    for (i = 0; i < 2; i++)
        writes[i] = value_operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, to + i, RELEASED_BYTE, CU_STREAM_WRITE_VALUE_DEFAULT);
    return queue_batch(stream, writes, 2);
}

/* turn: which of two contents a copy brings. */
static cudaError_t overwrite(struct reading *r, enum over over, unsigned turn, cudaStream_t stream)
{
    struct joins *joins = r->joins;
    uint32_t *to = r->source, *other = joins->aside + ALL_WORDS / 2 + turn * PLACE_WORDS, *host = joins->pinned->words + (3 + turn) * PLACE_WORDS;
    struct cudaMemcpy3DParms layers = row_in_layers(to, other);

    layers.kind = cudaMemcpyDefault;
    switch (over) {
    case OVER_BY_SET: return cudaMemsetAsync(to, SET_BYTE, ROW_BYTES, stream);
    case OVER_BY_HALVES:
    case OVER_BY_WORDS: return set_in_line(over == OVER_BY_HALVES ? SET_HALVES : SET_WORDS, to, (CUstream)stream);
    case OVER_BY_SET_ROWS: return cudaMemset2DAsync(to, 8, SET_BYTE, 8, ROW_BYTES / 8, stream);
    case OVER_BY_COPY_IN: return cudaMemcpyAsync(to, host, ROW_BYTES, r->pinned ? cudaMemcpyDefault : cudaMemcpyHostToDevice, stream);
    case OVER_BY_COPY_WITHIN: return cudaMemcpyAsync(to, other, ROW_BYTES, cudaMemcpyDefault, stream);
    case OVER_BY_ROWS: return cudaMemcpy2DAsync(to, 8, other, 8, 8, ROW_BYTES / 8, cudaMemcpyDefault, stream);
    case OVER_BY_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    case OVER_BY_GRAPH: return cudaGraphLaunch(r->exec, stream);
    case OVER_BY_HOST: return cudaLaunchHostFunc(stream, overwrite_words, joins->pinned->words);
    case OVER_BY_CALLBACK: return cudaStreamAddCallback(stream, overwrite_in_callback, joins->pinned->words, 0);
    case OVER_BY_BATCH: return overwrite_in_batch(to, stream);
    case OVER_BY_VALUE: return queue_value("cuStreamWriteValue32", stream, to, RELEASED_BYTE, CU_STREAM_WRITE_VALUE_DEFAULT);
    default: return launch_one((const void *)SYMBOL(joins_overwriter), &r->over_args, PLACE_WORDS, stream, NULL, 0);
    }
}

/* In the same stream, or in another one that waits for an event after the reader; a capture's streams are joined again. */
static cudaError_t read_and_overwrite(struct reading *r, cudaEvent_t event, cudaEvent_t back)
{
    cudaStream_t stream = r->joins->stream[0], last = r->manner < OVER_AFTER_EVENT ? stream : r->joins->stream[1];
    cudaError_t error = read_late(r, stream);

    if (error == cudaSuccess && last != stream)
        error = record_and_await(event, stream, last);
    if (error == cudaSuccess)
        error = overwrite(r, r->over, 0, FOLLOWS_IN(r->joins, last));
    return error == cudaSuccess && last != stream ? record_and_await(back, last, stream) : error;
}

/* Where the reader put what it read. */
static cudaError_t look_at_read(const struct reading *r)
{
    struct joins *joins = r->joins;
    cudaError_t error = cudaDeviceSynchronize();

    if (error == cudaSuccess && r->reader == READ_BY_LONG_OUT)
        memcpy(joins->pinned->seen[0], (char *)joins->longer_host + READER_BEFORE, ROW_BYTES);
    if (error == cudaSuccess && r->target)
        error = cudaMemcpy(joins->pinned->seen[0], (char *)r->target + (reads_long(r) ? READER_BEFORE : 0), ROW_BYTES, cudaMemcpyDeviceToHost);
    return error;
}

static cudaError_t read_before(struct joins *joins)
{
    struct reading r = PDL_ZERO;
    cudaEvent_t event = NULL, back = NULL;
    cudaError_t error;

    r.joins = joins;
    choose_reading(&r);
    error = open_reading(&r);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&back, cudaEventDisableTiming);
    if (error == cudaSuccess && over_captured(&r))
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = read_and_overwrite(&r, event, back);
        error = over_captured(&r) ? ask_run_capture(joins->stream[0], error) : error;
    }
    if (event)
        (void)cudaEventDestroy(event);
    if (back)
        (void)cudaEventDestroy(back);
    if (error == cudaSuccess)
        error = look_at_read(&r);
    if (r.exec)
        (void)cudaGraphExecDestroy(r.exec);
    return error;
}

static void ask_readers(struct ask *ask)
{
    static const struct join joins[READERS] = {
        { "overwritten before a kernel read it", read_before },
        { "overwritten before a graph read it", read_before },
        { "overwritten before a copy out read it", read_before },
        { "overwritten before a copy within read it", read_before },
        { "overwritten before a copy of rows read it", read_before },
        { "overwritten before a copy of layers read it", read_before },
        { "overwritten before a long copy out read it", read_before },
        { "overwritten before a long copy within read it", read_before },
        { "overwritten before a host function read it", read_before },
        { "overwritten before a callback read it", read_before },
    };

    ask_joins(ask, joins, READERS, cudaStreamNonBlocking);
}

#endif
