/* joins_lanes.h - the pair of joins.cu with captures of one to three streams: a row of kernels that overlap in one of them, a node of each kind after
 * the row, also one that allocates memory, frees it, writes a value or waits for one, and a follower after that, which has one block or many; or
 * work in another stream, and a follower with the attribute after its event. */
#ifndef JOINS_LANES_H_INCLUDED
#define JOINS_LANES_H_INCLUDED

#define LANE_WAYS 11u
#define LANE_VALUE 160u        /* in the memory aside */

enum behind { BEHIND_NOTHING, BEHIND_SET, BEHIND_ROWS, BEHIND_COPY, BEHIND_LAYERS, BEHIND_HOST, BEHIND_RECORD, BEHIND_WAIT, BEHIND_ALLOC,
              BEHIND_FREE, BEHIND_VALUE, BEHIND_AWAITED };
/* Where row and follower stand: in the stream that captures, in one that joined it, or the follower in the first one after the other one, or what
 * overlaps the work as well. */
enum lane_place { LANE_FIRST, LANE_FORK, LANE_BACK, LANE_JOINED, LANE_PLACES };

struct crossing {
    cudaEvent_t fork, outside; /* the second one is recorded or awaited by a node */
    enum behind behind;
    enum lane_place place;
    unsigned kernels, lanes;   /* in the row after the work; streams */
    void *lent;                /* memory that was allocated before the work, and ends behind the row */
    int large;                 /* the follower has a place in each of many blocks */
};

/* Memory for nobody. */
static cudaError_t lend_and_end(cudaStream_t stream)
{
    void *memory = NULL;
    cudaError_t error = cudaMallocAsync(&memory, PLACE_WORDS, stream);

    return error == cudaSuccess ? cudaFreeAsync(memory, stream) : error;
}

static cudaError_t queue_behind(struct joins *joins, const struct crossing *c, cudaStream_t stream)
{
    struct cudaMemcpy3DParms layers = layers_of_words(joins->aside, joins->aside + 32);

    switch (c->behind) {
    case BEHIND_SET: return cudaMemsetAsync(joins->aside, 0, 16, stream);
    case BEHIND_ROWS: return cudaMemset2DAsync(joins->aside, 8, 0, 4, 3, stream);
    case BEHIND_COPY: return cudaMemcpyAsync(joins->aside, joins->aside + 32, 16, cudaMemcpyDeviceToDevice, stream);
    case BEHIND_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    case BEHIND_HOST: return cudaLaunchHostFunc(stream, ask_host_nothing, NULL);
    case BEHIND_RECORD: return record_outside_of(joins, c->outside, stream);
    case BEHIND_WAIT: return await_outside(joins, c->outside, stream);
    case BEHIND_ALLOC: return lend_and_end(stream);
    case BEHIND_FREE: return cudaFreeAsync(c->lent, stream);
    case BEHIND_VALUE: return queue_value("cuStreamWriteValue32", stream, joins->aside + LANE_VALUE, 0, CU_STREAM_WRITE_VALUE_DEFAULT);
    case BEHIND_AWAITED: return queue_value("cuStreamWaitValue32", stream, joins->aside + LANE_VALUE, 0, CU_STREAM_WAIT_VALUE_EQ);
    default: return cudaSuccess;
    }
}

static cudaError_t follow_crossing(struct joins *joins, const struct crossing *c, cudaStream_t stream)
{
    return c->large ? follow_in_blocks(joins, stream) : follow(joins, 0, stream);
}

/* The row; or the work, and after a join the kernels that may overlap it and what the first stream holds already. */
static cudaError_t row_of_crossing(struct joins *joins, const struct crossing *c, cudaStream_t stream)
{
    cudaStream_t first = joins->stream[0];
    cudaError_t error = row_alone(joins, 0, c->place == LANE_JOINED ? 0 : c->kernels, stream);
    unsigned i;

    if (c->place != LANE_JOINED)
        return error;
    if (error == cudaSuccess)
        error = record_and_await(c->fork, stream, first);
    for (i = 0; i <= c->kernels && error == cudaSuccess; i++)
        error = silent(joins, first);
    return error;
}

static cudaError_t capture_crossing(struct joins *joins, struct crossing *c)
{
    cudaStream_t first = joins->stream[0], stream = joins->stream[c->place != LANE_FIRST];
    cudaError_t error = c->behind == BEHIND_FREE ? cudaMallocAsync(&c->lent, PLACE_WORDS, first) : cudaSuccess;
    unsigned i;

    if (error == cudaSuccess)
        error = cudaEventRecord(c->fork, first);
    for (i = 1; i < c->lanes && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(joins->stream[i], c->fork, 0);
    for (i = 0; i < c->lanes && error == cudaSuccess; i++)
        if (joins->stream[i] != stream)
            error = launch_one((const void *)SYMBOL(joins_silent), &joins->work[0], 1, joins->stream[i], NULL, 0);
    if (error == cudaSuccess)
        error = row_of_crossing(joins, c, stream);
    stream = c->place == LANE_JOINED ? first : stream;
    if (error == cudaSuccess)
        error = queue_behind(joins, c, stream);
    if (error == cudaSuccess && c->place != LANE_BACK)
        error = follow_crossing(joins, c, stream);
    for (i = c->lanes - 1; i > 0 && error == cudaSuccess; i--) /* the row's stream may be joined by another one before it leads back */
        error = record_and_await(c->fork, joins->stream[i], c->place == LANE_BACK ? joins->stream[i - 1] : first);
    return error == cudaSuccess && c->place == LANE_BACK ? follow_crossing(joins, c, first) : error;
}

static cudaError_t cross_lanes(struct joins *joins, enum behind behind)
{
    unsigned turn = joins->round;
    uint32_t none = 0;
    struct crossing c = PDL_ZERO;
    cudaError_t error = open_aside(joins);

    c.behind = behind;
    c.place = (enum lane_place)(turn % LANE_PLACES);
    c.kernels = turn / LANE_PLACES % 3;
    c.kernels += c.kernels == 2; /* 0, 1, 3 */
    c.lanes = 1 + (turn / LANE_PLACES / 3 + 2) % 3;
    c.lanes += c.lanes == 1 && c.place != LANE_FIRST;
    c.large = (int)((turn + turn / LANE_PLACES) % 2);
    prepare(joins, 1, c.large ? 0 : 1);
    if (error == cudaSuccess && behind == BEHIND_AWAITED)
        error = put_words(joins->aside + LANE_VALUE, &none, 1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&c.fork, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&c.outside, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventRecord(c.outside, joins->loose);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = ask_run_capture(joins->stream[0], capture_crossing(joins, &c));
    if (error == cudaSuccess && c.large)
        joins->pinned->host_is_stale = readers_are_stale(joins, ROW_BLOCKS);
    if (c.fork)
        (void)cudaEventDestroy(c.fork);
    if (c.outside)
        (void)cudaEventDestroy(c.outside);
    return error;
}

/* Whatever edge the attribute makes of the order that the event gives, the follower's wait covers the work. */
static cudaError_t capture_attributed(struct joins *joins, cudaEvent_t event)
{
    cudaStream_t stream = joins->stream[0], fork = joins->stream[1];
    cudaLaunchAttribute early = serialization(1);
    cudaError_t error = record_and_await(event, stream, fork);

    if (error == cudaSuccess && joins->round % 2)
        error = silent(joins, stream);
    if (error == cudaSuccess)
        error = work(joins, 0, fork);
    if (error == cudaSuccess)
        error = record_and_await(event, fork, stream);
    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(joins_waiting_follower), &joins->follower[0], PLACE_WORDS, FOLLOWS_IN(joins, stream), &early, 1);
    return error;
}

static cudaError_t lanes_attributed(struct joins *joins)
{
    cudaEvent_t event = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(joins->stream[0], cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        error = ask_run_capture(joins->stream[0], capture_attributed(joins, event));
    if (event)
        (void)cudaEventDestroy(event);
    return error;
}

static cudaError_t lanes_bare(struct joins *joins) { return cross_lanes(joins, BEHIND_NOTHING); }
static cudaError_t lanes_set(struct joins *joins) { return cross_lanes(joins, BEHIND_SET); }
static cudaError_t lanes_rows(struct joins *joins) { return cross_lanes(joins, BEHIND_ROWS); }
static cudaError_t lanes_copy(struct joins *joins) { return cross_lanes(joins, BEHIND_COPY); }
static cudaError_t lanes_layers(struct joins *joins) { return cross_lanes(joins, BEHIND_LAYERS); }
static cudaError_t lanes_host(struct joins *joins) { return cross_lanes(joins, BEHIND_HOST); }
static cudaError_t lanes_record(struct joins *joins) { return cross_lanes(joins, BEHIND_RECORD); }
static cudaError_t lanes_wait(struct joins *joins) { return cross_lanes(joins, BEHIND_WAIT); }

/* For the pair that asks of memory. */
static cudaError_t lanes_alloc(struct joins *joins) { return cross_lanes(joins, BEHIND_ALLOC); }
static cudaError_t lanes_free(struct joins *joins) { return cross_lanes(joins, BEHIND_FREE); }
static cudaError_t lanes_value(struct joins *joins) { return cross_lanes(joins, BEHIND_VALUE); }
static cudaError_t lanes_awaited(struct joins *joins) { return cross_lanes(joins, BEHIND_AWAITED); }

static void ask_lanes_crossed(struct ask *ask)
{
    static const struct join joins[LANE_WAYS] = {
        { "stale after a row in captured streams", lanes_bare },
        { "stale after such a row and a memset", lanes_set },
        { "stale after such a row and a memset of rows", lanes_rows },
        { "stale after such a row and a copy", lanes_copy },
        { "stale after such a row and a copy of layers", lanes_layers },
        { "stale after such a row and a host function", lanes_host },
        { "stale after such a row and an external record", lanes_record },
        { "stale after such a row and an external wait", lanes_wait },
        { "stale in a captured launch with the attribute after an event", lanes_attributed },
        { "stale after such a row and a value", lanes_value },
        { "stale after such a row and a wait for a value that is there", lanes_awaited },
    };

    ask_joins(ask, joins, values_lack(ask->stream) ? LANE_WAYS - 2 : LANE_WAYS, cudaStreamNonBlocking);
}

#endif
