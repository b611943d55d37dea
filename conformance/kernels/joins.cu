/* joins.cu - streams that come after others in unusual ways: each follower has to see all the words of the work that it comes after.
 *
 * pair     rules     what is asked
 * events   COMP-04a  eight streams that wait for one record; an event that is destroyed once it is awaited; one of the stream's own
 *                    that is awaited as well; one that a refused launch was to record; a stream that is given an attribute; a capture
 *                    that leads through ten streams; copies, memsets, host functions, records, values and frees after a launch's event
 * learned  COMP-04a  work, a dependent or another stream behind a launch of whose event the host has learned; a stream that waits twice for
 *                    an event that two streams record; kernels in streams of each kind after an event of another one of each kind
 * fans     COMP-04b  a node with twelve programmatic edges, into it or out of it, whose nodes are given attributes late; a full edge in a child
 *                    graph up to 24 deep; large grids after several ones, or after a captured event, in a graph that is launched three times;
 *                    a dependent of several works that comes after a node of another kind as well, or whose works do
 * legacy   COMP-06d  twelve and forty blocking streams; one that is destroyed, or that another thread made; a host function; a wait in the
 *                    legacy stream for an event of another stream; stream 0, also after the legacy stream and before it; blocking streams that
 *                    wait for events; another thread, also in its own default stream; an event that the legacy stream records
 * default  COMP-06d  work of each kind in the legacy stream or a blocking one, followers of each kind in the other one, which had held nothing, a
 *                    kernel or a graph before, or is new
 * alone    COMP-06d  one work, of each kind that is no kernel, in a blocking stream that holds nothing else; one of each kind in the legacy stream
 * alone_sources COMP-06c the same first work, and always a copy from pinned memory in the legacy stream
 * flights  COMP-12b  one executable graph, launched three times in a row in three streams, one of which is destroyed meanwhile
 * sources  COMP-12b  so of one that another host thread made, and of one whose graph is destroyed before the launches or between them; nodes of
 *                    each kind, and a follower in the stream, that are still to come when the graph is destroyed
 * idle     COMP-04c  calls that have nothing to do, between work or a wait for its event and a follower or a dependent that waits: copies and
 *                    memsets of no bytes or no rows, an attribute of the stream; a record that is refused, an event that is destroyed
 * told     COMP-04c  questions, settings, what the host makes for nobody and what it queues elsewhere, at the same places and in a capture; all
 *                    these and refused calls while the host holds a primary, before its trigger and while its dependent waits; limits,
 *                    preferences of caches, memory that is registered, managed memory (joins_told_set.h); between primary and dependent
 *                    also by another host thread
 * told_rows COMP-04c several of these calls, and of the next ones, in rows wherever one can stand
 * refused  COMP-04c  calls that are refused, at the same places; a capture of the legacy stream between its work and its follower
 * hollow   COMP-12c  graphs in which nothing runs, between work and follower: without nodes, all of them disabled, with an empty child graph or
 *                    an empty body; after some of them, and a memset of no bytes, work of each kind
 * across   COMP-06e  graphs in the default streams and in blocking ones, as work or as followers of each other
 * kinds    COMP-12d  a graph between work of each kind: what is before it, and what comes after it
 * called   COMP-04d  followers that are queued by the other calls: copies by direction or of many rows, cudaLaunchKernel, cuLaunchKernel,
 *                    cudaLaunchCooperativeKernel; after work, an event, a silent kernel, and between blocking streams and the legacy one; what
 *                    another host thread queues
 * driver   COMP-04d  copies, memsets, host functions and waits by the driver's calls for each direction, width and shape; copies and memsets of rows
 *                    and layers that the host waits for
 * many     COMP-04e  the last of 136 streams, or all of them, an event among 4,160, those of 520 launches, one that is recorded 260 times or
 *                    by 24 launches in a row, one of 1,100 that a stream waits for, the last of 70 executable graphs, one of 260 launches, 1,100 host
 *                    functions, work of 20 milliseconds, 136 pairs of a primary and a dependent at once
 * renewed  COMP-04e  new streams where one was destroyed while its work goes on: after its event or its launch's, before the legacy stream, with
 *                    memory that it freed and an executable graph that runs in it
 * again    COMP-04e  six launches of one kernel with the same arguments, each with or without the attribute; memsets, copies, values, host functions,
 *                    graphs and events that are the same three times, between kernels that change what they move; up to 70 kernels that
 *                    wait, each of which overlaps the one before
 * wide     COMP-04b  144 works or primaries and 120 kernels that do nothing, before one reader; one work before 120 such kernels and 144
 *                    readers; 2,100 empty nodes between work and reader; 2,100 kernels, each after one up to 2,047 nodes before it, as
 *                    they were made, and after each of them was changed, updated or copied
 * captures COMP-04e  a capture of 1,100 nodes, one of 33 streams, and four captures at once
 * rows     MEM-06c   rows of kernels that trigger and neither wait nor store, launched and captured, with a join, in a fork or before one
 * large_rows MEM-06c rows whose silent kernels have 33 blocks or 4,096 bytes of arguments, or whose follower has 33 blocks
 * lanes    MEM-06c   such rows in captures of one to three streams, in each of them, and a memset, a copy, rows or layers, a host function, an
 *                    external record or wait, a value or a wait for one between the row and its follower
 * captured EDGE-41a  captures in which a launch or a second begin is refused; what streams are told that wait for the events of a captured launch;
 *                    what the streams of a capture come after once a call of any kind was refused in it
 * refused_records EDGE-41b an event that a refused launch was to record in a capture, and its next record
 * external EVT-18    a record and a wait with the flag "external", captured: they are event nodes of the graph
 * beside   ATTR-17   followers that wait, launched with other attributes beside attribute 6; an event that is the last of many attributes
 * awaiting ATTR-17a  followers with the attribute in a stream that still waits for an event, or was given an attribute; a launch after captured
 *                    ones, also if their capture failed, in a stream that began the capture or joined it; events and streams that were made while
 *                    another one captured; dependents after a row of host functions, copies or memsets, or a
 *                    long copy from pageable memory
 * row_manners MEM-06c such rows, eight manners of launching, each with each: of what comes after the row, of its silent kernel, of its work
 * row_streams MEM-06c such rows in a stream of each kind, launched and captured, and after them each kind of copy and memset, short or
 *                    long, a kernel, a graph, the host
 * await_manners ATTR-17a dependents in a stream that still waits for an event, or a launch's: they or their primary, in two manners at once
 * threads  ATTR-17a dependents in streams of each kind that another host thread launches than their primary, or the driver, in two
 *                    manners at once; with the words read before the wait; after a launch of another thread between them, in streams that
 *                    another thread made, and beside its capture
 * layers   COMP-04d copies of layers: after work, an event or a silent kernel, before a dependent, captured, to the device and back
 * short_moves COMP-04d copies and memsets of 1 to 300 bytes from and to any address, in memory of each kind
 * boxes    COMP-04d  copies of one layer, of boxes, of one row or column, and memsets of these
 * far_rows COMP-04d  copies and memsets of rows and layers that end 5 GiB behind their first byte, and a dependent that reads there
 * callbacks COMP-04d callbacks of streams: after work, an event or a silent kernel, before a dependent; what comes after one
 * items    COMP-04d  two works behind a kernel, of each kind that is no kernel each, or a kernel, dependent or graph behind one
 * awaited_items COMP-04a two such works, and between them a wait for the event of a kernel
 * recorders COMP-04a work of each such kind that waits for the event of a launch of each kind
 * readers  COMP-04d work of each kind that reads late, and stores nothing before; work of each kind that stores over what it reads
 * neighbours COMP-04d two works of each kind each, right behind each other, of which the second one reads what the first one stored, or stores there
 * symbols  COMP-04d copies to memory of the device that has a name, and from it: launched, captured and as nodes; after work, an event, a
 *                    silent kernel, and between blocking streams and the legacy one; dependents that read there
 * constants COMP-04d what kernels find in constant memory after a copy to it, whole or in parts, from the host or the device, or a
 *                    memset: launched, captured, as nodes, in a child graph, a second time
 * places   COMP-04d work whose words lie in memory that a stream allocated, in managed, write-combined, registered memory, or in
 *                    memory that is mapped anew; copies to a peer, which is the same device, after work wherever it stands
 * lent     ATTR-17b streams and nodes that are given the attributes of another one; streams with an attribute of each kind; graphs that
 *                    cudaGraphInstantiateWithParams makes executable
 * values   COMP-17b values that streams write and wait for: after work, an event or a silent kernel, before work of each kind and dependents;
 *                    alone or in batches, which also come after silent kernels, and between blocking streams and the legacy one
 * conditions COMP-17b waits for zero, for one of several bits, for a bit that is not set, for 64 bits, with a flush: a value that does not
 *                    end it, and one that does, written by a stream, a kernel or the host; batches of a wait and a write, and of two waits
 * value_nodes COMP-17b nodes that write values and wait for them, captured or built by the driver, with operations that they were given later
 * wide_values COMP-17b values of eight bytes of which one word is zero, over other words, at once and captured; graphs that wait for such values
 * batches  COMP-04h  copies that one call queues, of pieces or of rows and layers: out of work, after an event, before work of each kind
 * allocations COMP-17c nodes that allocate memory and free it, between kernels, after such rows, beside others, and for the stream that goes on
 * pools    COMP-17a memory that is freed in a stream and allocated again, in that stream or another one, of the device's pool or of one
 *                    that was made, which may be trimmed meanwhile; freed or allocated by another host thread, each in its own per-thread
 *                    stream too; up to 80 pieces at once, no two of which share memory
 * gone_pools COMP-17d the same of a pool that is destroyed once its memory is freed
 * ended    MEM-09b   what the host finds once it has waited for the device: work in streams of each kind, in a graph, the last work of each
 *                    kind in a stream that is destroyed, in one that another host thread destroyed
 *
 * Work is a kernel that triggers first thing and stores late; a follower is a kernel without the attribute that copies what it finds.
 * Mutant `otherstream`: the followers are launched in a stream that waits for nothing.
 */
#include <string.h>

#include "driver_launch.h"
#include "graph_ask.h"
#include "host_room.h"
#include "stream_calls.h"

#ifdef MUTANT_otherstream
#define FOLLOWS_IN(joins, stream) ((void)(stream), (joins)->loose)
#else
#define FOLLOWS_IN(joins, stream) (stream)
#endif

#define PLACES 12u             /* streams */
#define PLACE_WORDS 16u
#define ALL_WORDS (PLACES * PLACE_WORDS)
#define JOINS_MAX 44u          /* of a pair */

#include "joins_kernels.h"

struct pinned {                /* both sides see it; words of the work, then what each follower saw of them */
    struct trial_plan plan[PLACES + 1];
    struct trial_state state;
    uint32_t words[ALL_WORDS], seen[PLACES][ALL_WORDS];
    unsigned host_is_stale;
};

struct condition;

struct joins {
    struct ask *ask;
    cudaStream_t stream[PLACES], loose;
    struct pinned *pinned;
    struct kernel_args work[PLACES], follower[PLACES];
    uint32_t *aside;           /* ALL_WORDS of the device, for who opened them */
    uint32_t *far;             /* FAR_ROWS rows, far_pitch bytes apart, for who opened them */
    size_t far_pitch;
    uint32_t *longer, *longer_host; /* the same of the device and the host, for long copies */
    void *pooled;              /* of the device's memory pool, for who allocated it */
    cudaMemPool_t pool[4];     /* for who made them: one as it is made, and three of which one way to give memory again is switched off */
    cudaGraphExec_t follows;   /* a graph of the first follower, for who made it */
    cudaGraphExec_t nothing;   /* of a silent kernel, for who made it */
    cudaEvent_t passed;        /* of nothing that anybody waits for, for who made it */
    void *made, *made_pinned;  /* memory that a call in between allocated */
    void *registered;          /* memory of the host that one of them registered */
    const struct condition *condition; /* of a wait for a value, for who set it */
    unsigned trial, works, followers, unasked; /* unasked: this trial put no question */
    unsigned round;            /* of the questions that are asked in turn */
    uint32_t bound_ns;         /* so long work waits for who comes next, if not as ever */
    unsigned asks;             /* so often the host asks for a row's end before it goes on */
    cudaLaunchAttributeID hint; /* of a row's follower, for who set it */
};

static cudaError_t open_joins(struct joins *joins, struct ask *ask, unsigned flags)
{
    char *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)&joins->pinned, sizeof(*joins->pinned), cudaHostAllocMapped);
    unsigned i;

    joins->ask = ask;
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, joins->pinned, 0);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&joins->loose, cudaStreamNonBlocking);
    for (i = 0; i < PLACES && error == cudaSuccess; i++) {
        struct kernel_args *work = &joins->work[i], *follower = &joins->follower[i];
        work->plan = (const struct trial_plan *)(device + offsetof(struct pinned, plan)) + i;
        follower->plan = (const struct trial_plan *)(device + offsetof(struct pinned, plan)) + PLACES;
        work->state = follower->state = (struct trial_state *)(device + offsetof(struct pinned, state));
        follower->data = (uint32_t *)(device + offsetof(struct pinned, words));
        work->data = follower->data + i * PLACE_WORDS;
        follower->seen = (uint32_t *)(device + offsetof(struct pinned, seen)) + i * ALL_WORDS;
        error = cudaStreamCreateWithFlags(&joins->stream[i], flags);
    }
    return error;
}

static void close_joins(struct joins *joins)
{
    unsigned i;

    for (i = 0; i < PLACES; i++)
        if (joins->stream[i])
            (void)cudaStreamDestroy(joins->stream[i]);
    if (joins->loose)
        (void)cudaStreamDestroy(joins->loose);
    (void)cudaDeviceSynchronize();
    if (joins->follows)
        (void)cudaGraphExecDestroy(joins->follows);
    if (joins->nothing)
        (void)cudaGraphExecDestroy(joins->nothing);
    if (joins->passed)
        (void)cudaEventDestroy(joins->passed);
    if (joins->aside)
        (void)cudaFree(joins->aside);
    if (joins->far)
        (void)cudaFree(joins->far);
    if (joins->longer)
        (void)cudaFree(joins->longer);
    if (joins->longer_host)
        (void)cudaFreeHost(joins->longer_host);
    if (joins->pooled)
        (void)cudaFree(joins->pooled);
    for (i = 0; i < sizeof(joins->pool) / sizeof(joins->pool[0]); i++)
        if (joins->pool[i])
            (void)cudaMemPoolDestroy(joins->pool[i]);
    (void)cudaFreeHost(joins->pinned);
    (void)cudaGetLastError();
}

static cudaError_t open_aside(struct joins *joins)
{
    return joins->aside ? cudaSuccess : cudaMalloc((void **)&joins->aside, ALL_WORDS * sizeof(uint32_t));
}

/* Words of the device, before anything else finds them. */
static cudaError_t put_words(uint32_t *to, const uint32_t *words, unsigned count)
{
    cudaError_t error = cudaMemcpy(to, words, count * sizeof(uint32_t), cudaMemcpyHostToDevice);

    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* Makes each of the works the slow one in turn. The turn also counts half the rounds of the question, a quarter of them and so on: whatever
 * else alternates from round to round does not keep step with it. */
static void slow_in_turn(struct joins *joins, unsigned works)
{
    struct trial_plan *plan = joins->pinned->plan;
    unsigned turn = joins->trial, round = joins->round, i, before = joins->trial % works;
    uint32_t quick = plan[works > 1 ? (before + 1) % works : before].hold_ns, slow = plan[before].hold_ns;

    for (; round; round /= 2)
        turn += round;
    for (i = 0; i < works; i++)
        plan[i].hold_ns = i == turn % works ? slow : quick;
}

/* Until it is stored to, a word is what no work stores. */
static void prepare(struct joins *joins, unsigned works, unsigned followers)
{
    struct pinned *pinned = joins->pinned;
    struct trial_state empty = PDL_ZERO;
    unsigned i;

    joins->works = works;
    joins->followers = followers;
    joins->unasked = joins->asks = 0;
    plan_works(pinned->plan, PLACES, 0x10125, joins->trial, works, PLACE_WORDS);
    slow_in_turn(joins, works);
    for (i = 0; i < works && joins->bound_ns; i++)
        pinned->plan[i].bound_ns = joins->bound_ns;
    pinned->state = empty;
    pinned->host_is_stale = 0;
    for (i = 0; i < ALL_WORDS; i++)
        pinned->words[i] = ~words_fresh(pinned->plan[i / PLACE_WORDS].key, i % PLACE_WORDS);
    memset(pinned->seen, 0, sizeof(pinned->seen));
}

static cudaError_t work(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(joins_work), &joins->work[place], PLACE_WORDS, stream, NULL, 0);
}

static cudaError_t follow(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(joins_follower), &joins->follower[place], PLACE_WORDS, FOLLOWS_IN(joins, stream), NULL, 0);
}

/* What the work of this place stores. */
static void store_fresh(const struct pinned *pinned, unsigned place, volatile uint32_t *words)
{
    uint32_t i;

    for (i = 0; i < PLACE_WORDS; i++)
        words[i] = words_fresh(pinned->plan[place].key, i);
}

/* The host is the work. */
static void store_work(struct pinned *pinned, unsigned place) { store_fresh(pinned, place, pinned->words + place * PLACE_WORDS); }

static unsigned differs(const struct pinned *pinned, const uint32_t *words, unsigned count)
{
    volatile const uint32_t *now = words;
    unsigned i;

    for (i = 0; i < count; i++)
        if (now[i] != words_fresh(pinned->plan[i / PLACE_WORDS].key, i % PLACE_WORDS))
            return 1;
    return 0;
}

static unsigned is_stale(const struct joins *joins)
{
    unsigned i;

    for (i = 0; i < joins->followers; i++)
        if (differs(joins->pinned, joins->pinned->seen[i], joins->works * PLACE_WORDS))
            return 1;
    return joins->pinned->host_is_stale;
}

typedef cudaError_t (*join_maker)(struct joins *joins);
struct join {
    const char *name;
    join_maker make;
};

/* Each of them in turn. */
static void ask_joins(struct ask *ask, const struct join *join, unsigned count, unsigned flags)
{
    struct joins joins = PDL_ZERO;
    unsigned stale[JOINS_MAX] = { 0 }, trials[JOINS_MAX] = { 0 }, i = 0;
    cudaError_t error = open_joins(&joins, ask, flags);

    for (; ask_goes_on(ask, joins.trial, ask->trials) && error == cudaSuccess; joins.trial++) {
        i = joins.trial % count;
        joins.round = joins.trial / count;
        error = join[i].make(&joins);
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        trials[i] += !joins.unasked;
        if (error == cudaSuccess && !joins.unasked)
            stale[i] += is_stale(&joins);
    }
    ask_expect(ask, error == cudaSuccess ? "work and followers" : join[i].name, error, cudaSuccess);
    for (i = 0; i < count; i++)
        ask_expect_none(ask, join[i].name, stale[i], trials[i]);
    close_joins(&joins);
}

#include "joins_released.h"
#include "joins_events.h"
#include "joins_in_graphs.h"
#include "joins_sources.h"
#include "joins_idle.h"
#include "joins_graphs.h"
#include "joins_pairs.h"
#include "joins_long.h"
#include "joins_waiters.h"
#include "joins_many.h"
#include "joins_large_graphs.h"
#include "joins_wide.h"
#include "joins_rows.h"
#include "joins_large_rows.h"
#include "joins_awaiting.h"
#include "joins_manners.h"
#include "joins_refused.h"
#include "joins_captured.h"
#include "joins_lanes.h"
#include "joins_kinds.h"

/* ---- by the legacy stream ---- */

static cudaError_t join_twelve(struct joins *joins)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare(joins, PLACES, 1);
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = work(joins, i, joins->stream[i]);
    return error == cudaSuccess ? follow(joins, 0, cudaStreamLegacy) : error;
}

/* In every other round another host thread has made the stream, which stays until the follower is queued. */
static cudaError_t join_gone(struct joins *joins)
{
    int elsewhere = joins->round % 2 != 0;
    cudaStream_t gone = NULL;
    cudaError_t error = elsewhere ? stream_of_other(cudaStreamDefault, &gone) : cudaStreamCreate(&gone);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, gone);
    if (error == cudaSuccess && !elsewhere)
        error = cudaStreamDestroy(gone); /* its work goes on */
    if (error == cudaSuccess)
        error = follow(joins, 0, cudaStreamLegacy);
    if (elsewhere)
        (void)cudaStreamDestroy(gone);
    return error;
}

static void CUDART_CB look(void *opaque)
{
    struct pinned *pinned = (struct pinned *)opaque;

    pinned->host_is_stale = differs(pinned, pinned->words, pinned->plan[PLACES].words);
}

static cudaError_t join_host(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 0);
    joins->pinned->host_is_stale = 1; /* until it looked */
    error = work(joins, 0, joins->trial / 16 % 2 ? cudaStreamPerThread : joins->stream[joins->trial % PLACES]);
    return error == cudaSuccess ? cudaLaunchHostFunc(FOLLOWS_IN(joins, cudaStreamLegacy), look, joins->pinned) : error;
}

/* "When an action is taken in the legacy stream such as a kernel launch or cudaStreamWaitEvent()" */
static cudaError_t join_action(struct joins *joins)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = work(joins, 0, joins->ask->side);
    if (error == cudaSuccess)
        error = record_and_await(event, joins->ask->side, cudaStreamLegacy);
    if (error == cudaSuccess)
        error = follow(joins, 0, joins->stream[joins->trial % PLACES]);
    (void)cudaEventDestroy(event);
    return error;
}

/* Code that is not compiled for per-thread default streams means the legacy one by 0. */
static cudaError_t join_zero(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 2, 1);
    error = work(joins, 0, joins->stream[0]);
    if (error == cudaSuccess)
        error = work(joins, 1, joins->stream[1]);
    return error == cudaSuccess ? follow(joins, 0, 0) : error;
}

#include "joins_drawn.h"
#include "joins_before.h"
#include "joins_hollow.h"
#include "joins_learned.h"
#include "joins_ends.h"
#include "joins_told.h"
#include "joins_told_rows.h"
#include "joins_legacy.h"
#include "joins_default.h"
#include "joins_thread_streams.h"
#include "joins_driver.h"
#include "joins_row_streams.h"
#include "joins_layers.h"
#include "joins_moves.h"
#include "joins_lent.h"
#include "joins_values.h"
#include "joins_value_nodes.h"
#include "joins_conditions.h"
#include "joins_wide_values.h"
#include "joins_pools.h"
#include "joins_allocations.h"
#include "joins_mixed.h"
#include "joins_renewed.h"
#include "joins_batches.h"
#include "joins_threads.h"
#include "joins_items.h"
#include "joins_recorders.h"
#include "joins_again.h"
#include "joins_far.h"
#include "joins_readers.h"
#include "joins_neighbours.h"
#include "joins_alone.h"
#include "joins_symbols.h"
#include "joins_constants.h"
#include "joins_places.h"

static void ask_legacy(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in the legacy stream, after twelve blocking ones", join_twelve },
        { "stale in the legacy stream, after a blocking one that was destroyed, or that another host thread made", join_gone },
        { "stale in a host function of the legacy stream, after a blocking one", join_host },
        { "stale in a blocking stream, after the legacy one waited for an event", join_action },
        { "stale in stream 0, after two blocking ones", join_zero },
        { "stale in the legacy stream, after a blocking one that waits for an event", join_waiting },
        { "stale in a new blocking stream that waits for an event, after the legacy one", join_first },
        { "stale in the legacy stream, of another thread", join_legacy_by_thread },
        { "stale in a blocking stream, of another thread", join_blocking_by_thread },
        { "stale in a blocking stream, after a row of the legacy one", join_legacy_row },
        { "stale in a copy to the host in the legacy stream, after a blocking one", join_copy_in_legacy },
        { "stale in a copy to the host in a blocking stream, after the legacy one", join_copy_after_legacy },
        { "stale after an event that the legacy stream recorded after a blocking one", join_recorded },
        { "stale in the legacy stream, after forty blocking ones", join_forty },
        { "stale after an event that the driver records or awaits in stream 0", join_zero_by_driver },
        { "stale after a launch by the driver in stream 0, or in it", join_launched_by_driver },
        { "stale in stream 0 after the legacy stream, or the other way round", join_other_name },
        { "stale in a dependent in the one after the other", join_dependent_by_name },
        { "stale after an event that the one recorded after the other", join_recorded_by_name },
        { "stale for the host that waits for the one after the other", join_host_by_name },
        { "stale in another thread's own default stream, after the legacy one", own_after_legacy },
        { "stale in the legacy stream or for the host, after the own default stream of another thread", legacy_after_own },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamDefault);
}

static const struct pair joins_pairs[] = {
    PAIR_ASK("events", ask_events),
    PAIR_ASK("learned", ask_learned),
    PAIR_ASK("external", ask_external),
    PAIR_ASK("fans", ask_all_fans),
    PAIR_ASK("legacy", ask_legacy),
    PAIR_ASK("default", ask_default),
    PAIR_ASK("alone", ask_alone),
    PAIR_ASK("alone_sources", ask_alone_sources),
    PAIR_ASK("flights", ask_flights),
    PAIR_ASK("sources", ask_sources),
    PAIR_ASK("idle", ask_idle),
    PAIR_ASK("refused", ask_refused),
    PAIR_ASK("told", ask_told),
    PAIR_ASK("told_rows", ask_told_rows),
    PAIR_ASK("hollow", ask_hollow),
    PAIR_ASK("across", ask_across),
    PAIR_ASK("kinds", ask_kinds),
    PAIR_ASK("called", ask_called),
    PAIR_ASK("driver", ask_by_driver),
    PAIR_ASK("ended", ask_ended),
    PAIR_ASK("many", ask_many),
    PAIR_ASK("renewed", ask_renewed),
    PAIR_ASK("again", ask_again),
    PAIR_ASK("wide", ask_wide),
    PAIR_ASK("captures", ask_captures),
    PAIR_ASK("rows", ask_rows),
    PAIR_ASK("large_rows", ask_large_rows),
    PAIR_ASK("lanes", ask_lanes_crossed),
    PAIR_ASK("captured", ask_captured),
    PAIR_ASK("refused_records", ask_refused_records),
    PAIR_ASK("beside", ask_beside),
    PAIR_ASK("awaiting", ask_awaiting),
    PAIR_ASK("row_manners", ask_row_manners),
    PAIR_ASK("row_streams", ask_row_streams),
    PAIR_ASK("await_manners", ask_await_manners),
    PAIR_ASK("threads", ask_threads),
    PAIR_ASK("layers", ask_layers),
    PAIR_ASK("short_moves", ask_short_moves),
    PAIR_ASK("boxes", ask_boxes),
    PAIR_ASK("far_rows", ask_far_rows),
    PAIR_ASK("callbacks", ask_callbacks),
    PAIR_ASK("items", ask_items),
    PAIR_ASK("awaited_items", ask_awaited_items),
    PAIR_ASK("recorders", ask_recorders),
    PAIR_ASK("readers", ask_readers),
    PAIR_ASK("neighbours", ask_neighbours),
    PAIR_ASK("symbols", ask_symbols),
    PAIR_ASK("constants", ask_constants),
    PAIR_ASK("places", ask_places),
    PAIR_ASK("lent", ask_lent),
    PAIR_ASK("values", ask_values),
    PAIR_ASK("value_nodes", ask_value_nodes),
    PAIR_ASK("wide_values", ask_wide_values),
    PAIR_ASK("conditions", ask_conditions),
    PAIR_ASK("pools", ask_pools),
    PAIR_ASK("gone_pools", ask_gone_pools),
    PAIR_ASK("allocations", ask_allocations),
    PAIR_ASK("batches", ask_batches),
};
IMAGE(joins, joins_pairs)
