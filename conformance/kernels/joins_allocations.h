/* joins_allocations.h - the pair of joins.cu whose graphs allocate memory and free it, by nodes or captured. Such nodes stand between kernels, and
 * only full edges lead to them and away from them; memory that is given again is nobody else's by then. */
#ifndef JOINS_ALLOCATIONS_H_INCLUDED
#define JOINS_ALLOCATIONS_H_INCLUDED

#define ALLOCATION_WAYS 8u
#define LEFT_LAUNCHES 3u
#define SLOW_NS 8000u          /* of work that others must not disturb */

struct lending {               /* a graph that is made */
    struct joins *joins;
    int captured;
    cudaStream_t stream;       /* in which it is captured */
    cudaGraph_t graph;
    cudaGraphNode_t last;      /* the next node comes after it; NULL: after none */
    size_t bytes;              /* of each allocation */
    cudaGraphExec_t exec;
};

/* Its next node: a kernel; programmatic: it comes after a kernel, whose trigger lets it begin. */
static cudaError_t lend_kernel(struct lending *l, const void *function, struct kernel_args *args, int programmatic)
{
    cudaGraphEdgeData data = programmatic ? edges_data(1, 0, 1) : edges_data(0, 0, 0);
    cudaLaunchAttribute attribute = serialization(1);
    cudaGraphNode_t node;
    cudaError_t error;

    if (l->captured)
        return launch_one(function, args, PLACE_WORDS, l->stream, &attribute, programmatic);
    error = ask_add_kernel(&node, l->graph, function, args, PLACE_WORDS);
    if (error == cudaSuccess && l->last)
        error = edges_add(l->graph, &l->last, &node, &data, 1);
    l->last = node;
    return error;
}

/* A follower, which the mutant launches elsewhere. If it waits, it has read the words before, too. */
static cudaError_t lend_follower(struct lending *l, struct kernel_args *args, int waits)
{
    const void *function = waits ? (const void *)SYMBOL(joins_early_follower) : (const void *)SYMBOL(joins_follower);

    if (!FOLLOWS_IN_GRAPH)
        return launch_one(function, args, PLACE_WORDS, l->joins->loose, NULL, 0);
    return lend_kernel(l, function, args, waits);
}

/* All of the mutant's allocations are the same memory. */
#ifdef MUTANT_otherstream
static cudaError_t lend(struct lending *l, uint32_t **memory)
{
    *memory = l->joins->aside;
    return cudaSuccess;
}

static cudaError_t lend_no_more(struct lending *l, uint32_t *memory)
{
    (void)l, (void)memory;
    return cudaSuccess;
}
#else
static cudaError_t lend(struct lending *l, uint32_t **memory)
{
    struct cudaMemAllocNodeParams params = PDL_ZERO;
    cudaGraphNode_t node = NULL;
    cudaError_t error;

    if (l->captured)
        return cudaMallocAsync((void **)memory, l->bytes, l->stream);
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = l->bytes;
    error = cudaGetDevice(&params.poolProps.location.id);
    if (error == cudaSuccess)
        error = cudaGraphAddMemAllocNode(&node, l->graph, l->last ? &l->last : NULL, l->last != NULL, &params);
    l->last = node;
    *memory = (uint32_t *)params.dptr;
    return error;
}

static cudaError_t lend_no_more(struct lending *l, uint32_t *memory)
{
    cudaGraphNode_t node = NULL;
    cudaError_t error;

    if (l->captured)
        return cudaFreeAsync(memory, l->stream);
    error = cudaGraphAddMemFreeNode(&node, l->graph, l->last ? &l->last : NULL, l->last != NULL, memory);
    l->last = node;
    return error;
}
#endif

/* To the words that the host sees of this place. */
static cudaError_t lend_copy(struct lending *l, unsigned place, const uint32_t *from)
{
    uint32_t *to = l->joins->pinned->seen[place];
    cudaGraphNode_t node = NULL;
    cudaError_t error;

    if (l->captured)
        return cudaMemcpyAsync(to, from, POOL_BYTES, cudaMemcpyDeviceToHost, l->stream);
    error = cudaGraphAddMemcpyNode1D(&node, l->graph, &l->last, 1, to, from, POOL_BYTES, cudaMemcpyDeviceToHost);
    l->last = node;
    return error;
}

static cudaError_t begin_lending(struct lending *l, struct joins *joins, cudaStream_t stream)
{
    static const size_t times[] = { 1, 64, 2048 }; /* up to 128 KiB */
    cudaError_t error = open_aside(joins);

    l->joins = joins;
    l->captured = drawn(joins, 6, 2) != 0;
    l->bytes = POOL_BYTES * times[drawn(joins, 7, 3)];
    l->stream = stream;
    if (error != cudaSuccess)
        return error;
    return l->captured ? cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) : cudaGraphCreate(&l->graph, 0);
}

/* What was captured begins with one node; any other comes after a node, those that allocate and free memory too. */
static cudaError_t end_captured_lending(struct lending *l)
{
    size_t roots = 0;
    cudaError_t error = cudaStreamEndCapture(l->stream, &l->graph);

    if (error == cudaSuccess)
        error = cudaGraphGetRootNodes(l->graph, NULL, &roots);
    l->joins->pinned->host_is_stale |= roots != 1;
    return error;
}

/* error: of what was put into it. */
static cudaError_t end_lending(struct lending *l, cudaError_t error, unsigned long long flags)
{
    cudaError_t end = l->captured ? end_captured_lending(l) : cudaSuccess;

    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? cudaGraphInstantiateWithFlags(&l->exec, l->graph, flags) : error;
}

static void drop_lending(struct lending *l)
{
    if (l->exec)
        (void)cudaGraphExecDestroy(l->exec);
    if (l->graph)
        (void)cudaGraphDestroy(l->graph);
}

/* The kernel with this plan stored these words, and nobody stored there after it. */
static void expect_words(struct joins *joins, unsigned place, unsigned plan)
{
    volatile const uint32_t *words = joins->pinned->seen[place];
    unsigned i;

    for (i = 0; i < PLACE_WORDS; i++)
        joins->pinned->host_is_stale |= words[i] != words_fresh(joins->pinned->plan[plan].key, i);
}

static struct kernel_args with_data(const struct kernel_args *args, uint32_t *data)
{
    struct kernel_args own = *args;

    own.data = data;
    return own;
}

/* Memory in which work stores late. */
static cudaError_t use_late(struct lending *l, uint32_t **memory)
{
    cudaError_t error = lend(l, memory);
    struct kernel_args args = with_data(&l->joins->work[0], *memory);

    return error == cudaSuccess ? lend_kernel(l, (const void *)SYMBOL(joins_work), &args, 0) : error;
}

/* Memory in which a kernel stores at once. */
static cudaError_t use_at_once(struct lending *l, uint32_t **memory)
{
    cudaError_t error = lend(l, memory);
    struct kernel_args args = with_data(&l->joins->work[1], *memory);

    return error == cudaSuccess ? lend_kernel(l, (const void *)SYMBOL(joins_fills), &args, 0) : error;
}

static cudaError_t copy_and_end(struct lending *l, unsigned place, uint32_t *memory)
{
    cudaError_t error = lend_copy(l, place, memory);

    return error == cudaSuccess ? lend_no_more(l, memory) : error;
}

static cudaError_t run_lending(struct lending *l, cudaError_t error)
{
    error = end_lending(l, error, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l->exec, l->joins->stream[0]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    drop_lending(l);
    return error;
}

/* Memory that late work used is freed; what is allocated after that may be the same. In some turns a dependent of the work reads the memory, which
 * is freed after the dependent; in some captured ones a dependent ends before the work, after which the memory ends all the same. */
static cudaError_t lend_again(struct joins *joins)
{
    struct lending l = PDL_ZERO;
    struct kernel_args reads;
    uint32_t *old = NULL, *fresh = NULL;
    int dependent = drawn(joins, 8, 2) != 0;
    cudaError_t error = begin_lending(&l, joins, joins->stream[0]);

    prepare(joins, 1, 0);
    if (error == cudaSuccess)
        error = use_late(&l, &old);
    reads = with_data(&joins->follower[1], old);
    if (error == cudaSuccess && dependent)
        error = lend_follower(&l, &reads, 1);
    else if (error == cudaSuccess && l.captured && drawn(joins, 9, 2))
        error = lend_kernel(&l, (const void *)SYMBOL(joins_silent), &joins->follower[1], 1);
    if (error == cudaSuccess)
        error = lend_no_more(&l, old);
    if (error == cudaSuccess)
        error = use_at_once(&l, &fresh);
    if (error == cudaSuccess)
        error = copy_and_end(&l, 0, fresh);
    error = run_lending(&l, error);
    if (joins->round == 0)
        ask_row(joins->ask, "what a graph allocated after it had freed", fresh == old ? "the same memory" : "other memory");
    expect_words(joins, 0, 1);
    if (dependent)
        expect_words(joins, 1, 0);
    return error;
}

/* In a second branch; what is read there in the end was stored long before that. */
static cudaError_t lend_beside(struct lending *l, uint32_t **memory)
{
    cudaError_t error = use_at_once(l, memory);

    if (error == cudaSuccess)
        error = lend_kernel(l, (const void *)SYMBOL(joins_work), &l->joins->work[2], 0);
    return error == cudaSuccess ? copy_and_end(l, 1, *memory) : error;
}

static void prepare_beside(struct joins *joins)
{
    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = SLOW_NS;
    joins->pinned->plan[2].hold_ns = 3 * SLOW_NS;
}

static int share(const struct lending *l, const uint32_t *a, const uint32_t *b)
{
    return (const char *)a < (const char *)b + l->bytes && (const char *)b < (const char *)a + l->bytes;
}

/* Two branches of one graph, each with memory of its own. A captured one is forked by an event. */
static cudaError_t lend_apart(struct joins *joins)
{
    struct lending l = PDL_ZERO;
    cudaStream_t stream = joins->stream[0], side = joins->stream[1];
    cudaEvent_t event = NULL;
    cudaGraphNode_t fork;
    uint32_t *one = NULL, *other = NULL;
    cudaError_t error = begin_lending(&l, joins, stream);

    prepare_beside(joins);
    if (error == cudaSuccess)
        error = lend_kernel(&l, (const void *)SYMBOL(joins_silent), &joins->work[0], 0);
    if (error == cudaSuccess && l.captured)
        error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess && l.captured)
        error = record_and_await(event, stream, side);
    fork = l.last;
    if (error == cudaSuccess)
        error = use_late(&l, &one);
    if (error == cudaSuccess)
        error = copy_and_end(&l, 0, one);
    l.last = fork;
    l.stream = side;
    if (error == cudaSuccess)
        error = lend_beside(&l, &other);
    l.stream = stream;
    if (error == cudaSuccess && l.captured)
        error = record_and_await(event, side, stream);
    error = run_lending(&l, error);
    if (event)
        (void)cudaEventDestroy(event);
    joins->pinned->host_is_stale |= share(&l, one, other);
    expect_words(joins, 0, 0);
    expect_words(joins, 1, 1);
    return error;
}

/* An allocation, or its end, between work on other memory and a follower. A captured follower may have attribute 6: then it waits. */
static cudaError_t lend_between(struct joins *joins)
{
    struct lending l = PDL_ZERO;
    uint32_t *memory = NULL;
    int ends = drawn(joins, 8, 2) != 0, waits = drawn(joins, 9, 2) != 0;
    cudaError_t error = begin_lending(&l, joins, joins->stream[0]);

    prepare(joins, 1, 1);
    if (error == cudaSuccess && ends)
        error = lend(&l, &memory);
    if (error == cudaSuccess)
        error = lend_kernel(&l, (const void *)SYMBOL(joins_work), &joins->work[0], 0);
    if (error == cudaSuccess)
        error = ends ? lend_no_more(&l, memory) : lend(&l, &memory);
    if (error == cudaSuccess)
        error = lend_follower(&l, &joins->follower[0], waits && l.captured);
    if (error == cudaSuccess && !ends)
        error = lend_no_more(&l, memory);
    return run_lending(&l, error);
}

#include "joins_left.h"

/* Two graphs at once, in two streams, then in the other's. */
static cudaError_t lend_at_once(struct joins *joins)
{
    struct lending one = PDL_ZERO, other = PDL_ZERO;
    uint32_t *memory = NULL;
    unsigned i;
    cudaError_t error = begin_lending(&one, joins, joins->stream[0]);

    prepare_beside(joins);
    if (error == cudaSuccess)
        error = use_late(&one, &memory);
    if (error == cudaSuccess)
        error = copy_and_end(&one, 0, memory);
    error = end_lending(&one, error, 0);
    if (error == cudaSuccess)
        error = begin_lending(&other, joins, joins->stream[0]);
    error = end_lending(&other, error == cudaSuccess ? lend_beside(&other, &memory) : error, 0);
    for (i = 0; i < 4 && error == cudaSuccess; i++)
        error = cudaGraphLaunch(i % 2 ? other.exec : one.exec, joins->stream[(i + i / 2) % 2]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    drop_lending(&one);
    drop_lending(&other);
    expect_words(joins, 0, 0);
    expect_words(joins, 1, 1);
    return error;
}

/* A graph whose memory its next launch frees; work stores there late. */
static cudaError_t make_leaving(struct lending *l, struct joins *joins, unsigned which, uint32_t **memory)
{
    cudaError_t error = begin_lending(l, joins, joins->stream[which]);

    if (error == cudaSuccess)
        error = lend(l, memory);
    if (error == cudaSuccess) {
        struct kernel_args args = with_data(&joins->work[which], *memory);
        error = lend_kernel(l, (const void *)SYMBOL(joins_work), &args, 0);
    }
    return end_lending(l, error, cudaGraphInstantiateFlagAutoFreeOnLaunch);
}

/* "Allocations that have not been freed and graphs that are scheduled or running are considered to be actively using the physical memory": in some
 * turns the device is told to give back the others, while the graphs run or once they have ended. */
static cudaError_t trim_between(struct joins *joins)
{
    unsigned trims = drawn(joins, 8, 4);
    int device = 0;
    cudaError_t error = trims == 3 ? cudaDeviceSynchronize() : cudaSuccess;

    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    return error == cudaSuccess && trims >= 2 ? cudaDeviceGraphMemTrim(device) : error;
}

/* A launch, what follows it, and other words in the memory: the next launch has to store its own there. */
static cudaError_t launch_leaving(struct lending *l, unsigned which, unsigned launch, uint32_t *memory)
{
    struct joins *joins = l->joins;
    int dependent = drawn(joins, 10 + launch, 2) != 0;
    const void *function = dependent ? (const void *)SYMBOL(joins_waiting_follower) : (const void *)SYMBOL(joins_follower);
    struct kernel_args reads = with_data(&joins->follower[2 * launch + which], memory);
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = joins->stream[which];
    cudaError_t error = cudaGraphLaunch(l->exec, stream);

    if (error == cudaSuccess && launch == 1)
        error = trim_between(joins);
    if (error == cudaSuccess)
        error = launch_one(function, &reads, PLACE_WORDS, FOLLOWS_IN(joins, stream), &attribute, dependent);
    return error == cudaSuccess ? cudaMemsetAsync(memory, 0, POOL_BYTES, stream) : error;
}

/* Two such graphs in two streams, launched again and again; the host does not wait for them. */
static cudaError_t lend_and_leave(struct joins *joins)
{
    struct lending l[2] = PDL_ZERO;
    uint32_t *memory[2] = { NULL, NULL };
    cudaError_t error = cudaSuccess;
    unsigned i;

    prepare(joins, 1, 0);
    joins->pinned->plan[0].hold_ns = joins->pinned->plan[1].hold_ns = SLOW_NS;
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = make_leaving(&l[i], joins, i, &memory[i]);
    for (i = 0; i < 2 * LEFT_LAUNCHES && error == cudaSuccess; i++)
        error = launch_leaving(&l[i % 2], i % 2, i / 2, memory[i % 2]);
    for (i = 0; i < 2 && error == cudaSuccess && FOLLOWS_IN_GRAPH; i++) /* the mutant's is no pool's */
        error = cudaFreeAsync(memory[i], joins->stream[i]);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    for (i = 0; i < 2; i++)
        drop_lending(&l[i]);
    for (i = 0; i < 2 * LEFT_LAUNCHES; i++)
        expect_words(joins, i, i % 2);
    return error;
}

#include "joins_pieces.h"

#ifndef MUTANT_otherstream
/* What a graph with such nodes does not permit. */
static cudaError_t make_restricted(struct joins *joins, struct lending *l, uint32_t **memory, cudaGraphNode_t *node)
{
    cudaError_t error = open_aside(joins);

    l->joins = joins;
    l->bytes = POOL_BYTES;
    if (error == cudaSuccess)
        error = cudaGraphCreate(&l->graph, 0);
    if (error == cudaSuccess)
        error = lend(l, memory);
    node[0] = l->last;
    if (error == cudaSuccess)
        error = lend_no_more(l, *memory);
    node[1] = l->last;
    return error;
}

/* A graph that leaves memory allocated is launched again once that memory is freed, and no sooner. */
static void ask_held(struct ask *ask, struct joins *joins)
{
    struct lending l = PDL_ZERO;
    uint32_t *memory = NULL;
    cudaError_t error = cudaGraphCreate(&l.graph, 0);

    l.joins = joins;
    l.bytes = POOL_BYTES;
    if (error == cudaSuccess)
        error = lend(&l, &memory);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&l.exec, l.graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(l.exec, joins->ask->stream);
    ask_expect(ask, "a graph that leaves memory allocated is launched", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_expect_refusal(ask, "it is launched again before the memory is freed", cudaGraphLaunch(l.exec, joins->ask->stream));
    if (error == cudaSuccess)
        ask_expect(ask, "the memory is freed", cudaFree(memory), cudaSuccess);
    if (error == cudaSuccess)
        ask_expect(ask, "it is launched again after that", cudaGraphLaunch(l.exec, joins->ask->stream), cudaSuccess);
    ask_expect(ask, "the host waits for it", cudaStreamSynchronize(joins->ask->stream), cudaSuccess);
    if (error == cudaSuccess)
        ask_expect(ask, "the memory is freed", cudaFree(memory), cudaSuccess);
    drop_lending(&l);
}

static void ask_restrictions(struct ask *ask)
{
    struct joins joins = PDL_ZERO;
    struct lending l = PDL_ZERO;
    cudaGraphEdgeData full = edges_data(0, 0, 0);
    cudaGraphNode_t node[2], no_node;
    cudaGraphExec_t second = NULL;
    cudaGraph_t clone = NULL;
    uint32_t *memory = NULL, *told = NULL;
    struct cudaMemAllocNodeParams params = PDL_ZERO;

    joins.ask = ask;
    ask_held(ask, &joins);
    ask_expect(ask, "a graph that allocates and frees", make_restricted(&joins, &l, &memory, node), cudaSuccess);
    if (l.last) {
        ask_expect(ask, "a node that allocates is asked", cudaGraphMemAllocNodeGetParams(node[0], &params), cudaSuccess);
        ask_expect_number(ask, "what it tells of its memory", params.dptr == (void *)memory && params.bytesize == l.bytes, 1);
        ask_expect(ask, "a node that frees is asked", cudaGraphMemFreeNodeGetParams(node[1], &told), cudaSuccess);
        ask_expect_number(ask, "what it tells of its memory", told == memory, 1);
        ask_expect(ask, "memory is freed twice", cudaGraphAddMemFreeNode(&no_node, l.graph, node, 2, memory), cudaErrorInvalidValue);
        ask_expect(ask, "memory is freed that no node allocated", cudaGraphAddMemFreeNode(&no_node, l.graph, node, 2, joins.aside),
                   cudaErrorInvalidValue);
        ask_expect_refusal(ask, "a node that frees is destroyed", cudaGraphDestroyNode(node[1]));
        ask_expect_refusal(ask, "an edge between such nodes is removed", edges_remove(l.graph, &node[0], &node[1], &full, 1));
        ask_expect_refusal(ask, "a graph that allocates is cloned", cudaGraphClone(&clone, l.graph));
        ask_expect(ask, "a graph that allocates is made executable", cudaGraphInstantiate(&l.exec, l.graph, 0), cudaSuccess);
        ask_expect_refusal(ask, "a graph that allocates is made executable twice", cudaGraphInstantiate(&second, l.graph, 0));
    }
    drop_lending(&l);
    if (joins.aside)
        (void)cudaFree(joins.aside);
}
#endif

static void ask_allocations(struct ask *ask)
{
    static const struct join joins[ALLOCATION_WAYS] = {
        { "overwritten in memory that a graph allocates again", lend_again },
        { "overwritten in memory that a graph allocates beside other memory", lend_apart },
        { "stale after a node that allocates or frees", lend_between },
        { "stale in memory that a graph left to its stream", lend_on },
        { "overwritten in memory of one of two graphs at once", lend_at_once },
        { "stale or overwritten in memory that graphs in two streams leave and take again", lend_and_leave },
        { "stale after a row in captured streams and memory that begins and ends", lanes_alloc },
        { "stale after such a row and the end of memory", lanes_free },
    };
    const char *lack = pools_lack();

    if (lack) {
        ask_unsupported(ask, lack);
        return;
    }
#ifndef MUTANT_otherstream
    ask_restrictions(ask);
    ask_pieces(ask);
#if CUDART_VERSION >= 12090
    ask_moved(ask);
#endif
#endif
    ask_joins(ask, joins, ALLOCATION_WAYS, cudaStreamNonBlocking);
}

#endif
