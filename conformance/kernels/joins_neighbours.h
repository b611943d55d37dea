/* joins_neighbours.h - the pair of joins.cu with two works of each kind each, one right behind the other, of which the second one reads what the first
 * one stored, or stores over it. Before both a kernel holds them up, so that they begin as soon as each of them may. */
#ifndef JOINS_NEIGHBOURS_H_INCLUDED
#define JOINS_NEIGHBOURS_H_INCLUDED

#define NEIGHBOURS (OVERS + READ_BY_LONG_OUT + 2) /* the second work: each that stores, and each that reads as many words */

struct neighbours {
    struct reading r;          /* over: of the first work */
    enum over second;          /* OVERS: it reads */
    struct kernel_args reads;
    uint32_t words[PLACE_WORDS]; /* expected in the end */
};

/* Works of one kind store the same, but for copies. */
static void expect_over(struct neighbours *n, enum over over, unsigned turn)
{
    const uint32_t *host = n->r.joins->pinned->words + (3 + turn) * PLACE_WORDS;
    unsigned i;

    for (i = 0; i < (over == OVER_BY_VALUE ? 1 : over == OVER_BY_BATCH ? 2 : PLACE_WORDS); i++)
        switch (over) {
        case OVER_BY_SET:
        case OVER_BY_HALVES:
        case OVER_BY_WORDS:
        case OVER_BY_SET_ROWS: n->words[i] = SET_BYTE * 0x1010101u; break;
        case OVER_BY_KERNEL:
        case OVER_BY_GRAPH: n->words[i] = i; break;
        case OVER_BY_HOST:
        case OVER_BY_CALLBACK: n->words[i] = 0; break;
        case OVER_BY_VALUE:
        case OVER_BY_BATCH: n->words[i] = RELEASED_BYTE; break;
        default: n->words[i] = host[i]; break;
        }
}

/* What a capture does not take, or the device does not offer, is a kernel. */
static enum over or_kernel(const struct neighbours *n, enum over over)
{
    int captured = over_captured(&n->r);

    return (captured && is_never_captured(over)) || (unsigned)over >= count_overs(n->r.joins) ? OVER_BY_KERNEL : over;
}

/* Of those that read as many words as the first work may store. */
static enum reader reader_in_turn(unsigned turn)
{
    return turn < READ_BY_LONG_OUT ? (enum reader)turn : turn == READ_BY_LONG_OUT ? READ_BY_HOST : READ_BY_CALLBACK;
}

/* Each first work with each second one, in as many rounds as there are of these; the next time captured, then with pinned memory. Of two graphs one is
 * a kernel. */
static void choose_neighbours(struct neighbours *n)
{
    struct joins *joins = n->r.joins;
    unsigned second = (joins->round + joins->trial % OVERS) % NEIGHBOURS, turn = joins->round / NEIGHBOURS;

    n->r.manner = turn % 2 ? OVER_CAPTURED : OVER_IN_LINE;
    n->r.over = or_kernel(n, (enum over)(joins->trial % OVERS));
    n->second = second < OVERS ? or_kernel(n, (enum over)second) : OVERS;
    n->r.reader = second < OVERS ? READ_BY_COPY_OUT : reader_in_turn(second - OVERS);
    if (over_captured(&n->r) && (n->r.reader == READ_BY_GRAPH || n->r.reader == READ_BY_CALLBACK))
        n->r.reader = n->r.reader == READ_BY_GRAPH ? READ_BY_KERNEL : READ_BY_HOST;
    if (n->r.over == OVER_BY_GRAPH && (n->second == OVER_BY_GRAPH || n->r.reader == READ_BY_GRAPH))
        n->r.over = OVER_BY_KERNEL;
    n->r.pinned = stores_in_host(n->second) || turn / 2 % 2;
}

static cudaError_t open_neighbours(struct neighbours *n)
{
    struct joins *joins = n->r.joins;
    enum reader reader = n->r.reader;
    cudaError_t error;

    if (reader == READ_BY_GRAPH) /* not that of joins_readers.h, which reads late */
        n->r.reader = READ_BY_KERNEL;
    error = open_reading(&n->r);
    n->r.reader = reader;
    n->reads = joins->follower[0];
    n->reads.data = n->r.source;
    store_fresh(joins->pinned, 0, n->words);
    expect_over(n, n->r.over, 0);
    if (n->second < OVERS)
        expect_over(n, n->second, 1);
    if (error == cudaSuccess && reader == READ_BY_GRAPH)
        error = ask_graph_of_kernel(&n->r.exec, (const void *)SYMBOL(joins_follower), &n->reads, PLACE_WORDS);
    if (error == cudaSuccess && n->second == OVER_BY_GRAPH)
        error = ask_graph_of_kernel(&n->r.exec, (const void *)SYMBOL(joins_overwriter), &n->r.over_args, PLACE_WORDS);
    return error;
}

static cudaError_t queue_second(struct neighbours *n, cudaStream_t stream)
{
    if (n->second < OVERS)
        return overwrite(&n->r, n->second, 1, stream);
    if (n->r.reader == READ_BY_KERNEL)
        return launch_one((const void *)SYMBOL(joins_follower), &n->reads, PLACE_WORDS, stream, NULL, 0);
    return read_now(&n->r, stream);
}

static cudaError_t queue_neighbours(struct neighbours *n)
{
    struct joins *joins = n->r.joins;
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = over_captured(&n->r) ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : cudaSuccess;

    if (error != cudaSuccess)
        return error;
    error = hold_up(joins, stream);
    if (error == cudaSuccess)
        error = overwrite(&n->r, n->r.over, 0, stream);
    if (error == cudaSuccess)
        error = queue_second(n, FOLLOWS_IN(joins, stream));
    return over_captured(&n->r) ? ask_run_capture(stream, error) : error;
}

/* What was read, or what is there. */
static cudaError_t look_at_neighbours(struct neighbours *n)
{
    struct pinned *pinned = n->r.joins->pinned;
    cudaError_t error = look_at_read(&n->r);

    if (error == cudaSuccess && n->second < OVERS)
        error = cudaMemcpy(pinned->seen[0], n->r.source, ROW_BYTES, cudaMemcpyDefault);
    n->r.joins->followers = 0;
    pinned->host_is_stale = memcmp(pinned->seen[0], n->words, ROW_BYTES) != 0;
    return error;
}

static cudaError_t one_behind_other(struct joins *joins)
{
    struct neighbours n = PDL_ZERO;
    cudaError_t error;

    n.r.joins = joins;
    choose_neighbours(&n);
    error = open_neighbours(&n);
    if (error == cudaSuccess)
        error = queue_neighbours(&n);
    if (error == cudaSuccess)
        error = look_at_neighbours(&n);
    if (n.r.exec)
        (void)cudaGraphExecDestroy(n.r.exec);
    return error;
}

static void ask_neighbours(struct ask *ask)
{
    static const struct join joins[OVERS] = {
        { "wrong in the work right after a memset", one_behind_other },
        { "wrong in the work right after a memset of two bytes", one_behind_other },
        { "wrong in the work right after a memset of four bytes", one_behind_other },
        { "wrong in the work right after a memset of rows", one_behind_other },
        { "wrong in the work right after a copy from the host", one_behind_other },
        { "wrong in the work right after a copy within the device", one_behind_other },
        { "wrong in the work right after a copy of rows", one_behind_other },
        { "wrong in the work right after a copy of layers", one_behind_other },
        { "wrong in the work right after a kernel", one_behind_other },
        { "wrong in the work right after a graph", one_behind_other },
        { "wrong in the work right after a host function", one_behind_other },
        { "wrong in the work right after a callback", one_behind_other },
        { "wrong in the work right after a value write", one_behind_other },
        { "wrong in the work right after a batch of value writes", one_behind_other },
    };

    ask_joins(ask, joins, OVERS, cudaStreamNonBlocking);
}

#endif
