/* joins_constants.h - the pair of joins.cu with constant memory: a kernel finds there what a copy before it left, on every SM, whose caches held what
 * a kernel before the copy had found. That one finds nothing else while it runs. Nobody promises anything of kernels that run beside such a copy. */
#ifndef JOINS_CONSTANTS_H_INCLUDED
#define JOINS_CONSTANTS_H_INCLUDED

#define CONSTANTS 64u
#define OTHER_CONSTANTS 16u
#define CONSTANTS_SET 0x5A5A5A5Au
#ifdef PDL_MODEL
#define CONSTANT_READERS 12u   /* blocks: each SM has some of them */
#else
#define CONSTANT_READERS 300u
#endif

CONSTANT_WORDS(joins_constants, CONSTANTS);
CONSTANT_WORDS(joins_other_constants, OTHER_CONSTANTS); /* all copies of a trial leave them as they are */

WORDS_FN uint32_t other_constant(uint32_t i) { return words_fresh(0x07E5ull, i); }

/* Words of both names by turns. plan->x_ns: what each word is; 0: what the key says. */
DEVICE_FN uint32_t constants_lost(const struct trial_plan *plan)
{
    uint32_t i, lost = 0;

    for (i = 0; i < CONSTANTS; i++) {
        lost += k_load_constant(joins_constants, i) != (plan->x_ns ? plan->x_ns : words_fresh(plan->key, i));
        if (i % 8 == 3)
            lost += k_load_constant(joins_other_constants, i % OTHER_CONSTANTS) != other_constant(i % OTHER_CONSTANTS);
    }
    return lost;
}

static void *constants_at;     /* as the device names them */

#define CONSTANT_GRIDS 2u      /* that read in a trial: before and after the copy, or in each of two launches */

/* At once, and later. */
DEVICE_FN void reads_constants(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t lost = constants_lost(&plan);

    k_delay(args->state, plan.hold_ns);
    lost += constants_lost(&plan);
    if (lost)
        k_add(&args->state->early, 1);
    if (k_block() == 0 && k_thread() == 0)
        k_add(&args->state->finished, 1);
}

KERNEL(joins_reads_constants) { reads_constants(&args); }
KERNEL(joins_waits_for_constants)
{
    k_wait_device();
    reads_constants(&args);
}

enum constant_way { CONSTANT_LAUNCHED, CONSTANT_CAPTURED, CONSTANT_NODES, CONSTANT_CHILD, CONSTANT_AGAIN, CONSTANT_WAYS };
/* How the last reader is launched. READER_BEHIND: as a dependent of a kernel that comes after the copy. */
/* What comes between the two readers: a copy from the host, two copies of a part each, one from the device's memory, or a memset by
 * address. */
enum constant_move { MOVED_WHOLE, MOVED_IN_PARTS, MOVED_IN_DEVICE, MOVED_BY_SET, CONSTANT_MOVES };
enum constant_reader { READER_PLAIN, READER_BEHIND, READER_CLUSTERED, READER_DOMAIN, CONSTANT_DRESSES };

static cudaError_t copy_constants(struct joins *joins, unsigned of, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(WORDS_OF(joins_constants), joins->pinned->seen[1 + of], CONSTANTS * sizeof(uint32_t), 0, cudaMemcpyHostToDevice,
                                   stream);
}

static cudaError_t copy_part(struct joins *joins, unsigned first, unsigned words, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(WORDS_OF(joins_constants), joins->pinned->seen[2] + first, words * sizeof(uint32_t),
                                   first * sizeof(uint32_t), cudaMemcpyHostToDevice, stream);
}

/* The second words; `aside` is there before. */
static cudaError_t move_constants(struct joins *joins, enum constant_move by, cudaStream_t stream)
{
    size_t bytes = CONSTANTS * sizeof(uint32_t);
    unsigned first = 4 * (1 + joins->round % 5);
    cudaError_t error;

    switch (by) {
    case MOVED_IN_PARTS:
        error = copy_part(joins, first, CONSTANTS - first, stream);
        return error == cudaSuccess ? copy_part(joins, 0, first, stream) : error;
    case MOVED_IN_DEVICE:
        error = cudaMemcpyAsync(joins->aside, joins->pinned->seen[2], bytes, cudaMemcpyHostToDevice, stream);
        if (error != cudaSuccess)
            return error;
        return cudaMemcpyToSymbolAsync(WORDS_OF(joins_constants), joins->aside, bytes, 0, cudaMemcpyDeviceToDevice, stream);
    case MOVED_BY_SET: return cudaMemsetAsync(constants_at, CONSTANTS_SET & 0xFF, bytes, stream);
    default: return copy_constants(joins, 1, stream);
    }
}

/* Before all that is asked. */
static cudaError_t copy_other_constants(cudaStream_t stream)
{
    static uint32_t words[OTHER_CONSTANTS];
    uint32_t i;
    cudaError_t error;

    for (i = 0; i < OTHER_CONSTANTS; i++)
        words[i] = other_constant(i);
    error = cudaMemcpyToSymbolAsync(WORDS_OF(joins_other_constants), words, sizeof(words), 0, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

static cudaError_t read_constants(struct joins *joins, enum constant_reader reader, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = reader == READER_BEHIND ? serialization(1) : reader == READER_CLUSTERED ? in_clusters(2) : in_remote_domain();
    cudaError_t error = reader == READER_BEHIND ? launch_one((const void *)SYMBOL(joins_silent), &joins->work[2], 1, stream, NULL, 0) : cudaSuccess;

    if (error != cudaSuccess)
        return error;
    return launch_blocks(reader == READER_BEHIND ? (const void *)SYMBOL(joins_waits_for_constants) : (const void *)SYMBOL(joins_reads_constants),
                         &joins->work[1], CONSTANT_READERS, 4, stream, &attribute, reader == READER_PLAIN ? 0 : 1);
}

static cudaError_t queue_constants(struct joins *joins, enum constant_move by, cudaStream_t stream)
{
    cudaError_t error = launch_blocks((const void *)SYMBOL(joins_reads_constants), &joins->work[0], CONSTANT_READERS, 4, stream, NULL, 0);

    if (error == cudaSuccess)
        error = move_constants(joins, by, stream);
    if (error != cudaSuccess)
        return error;
    return read_constants(joins, (enum constant_reader)(joins->round % CONSTANT_DRESSES), FOLLOWS_IN(joins, stream));
}

#ifdef MUTANT_otherstream
#define AFTER_COPY 0u          /* edges */
#else
#define AFTER_COPY 1u
#endif

/* The copy of the second words and its reader; in some trials they come after the reader of the first words. */
static cudaError_t add_constants(struct joins *joins, cudaGraph_t graph, int both)
{
    cudaGraphNode_t first, copy, last;
    cudaError_t error = cudaSuccess;

    if (both)
        error = ask_add_kernel_after(&first, graph, NULL, 0, (const void *)SYMBOL(joins_reads_constants), &joins->work[0], CONSTANT_READERS, 4);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNodeToSymbol(&copy, graph, both ? &first : NULL, both ? 1 : 0, WORDS_OF(joins_constants), joins->pinned->seen[2],
                                               CONSTANTS * sizeof(uint32_t), 0, cudaMemcpyHostToDevice);
    if (error != cudaSuccess)
        return error;
    return ask_add_kernel_after(&last, graph, &copy, AFTER_COPY, (const void *)SYMBOL(joins_reads_constants), &joins->work[1], CONSTANT_READERS, 4);
}

static void renew_constants(struct joins *joins, unsigned of)
{
    unsigned i;

    for (i = 0; i < CONSTANTS; i++)
        joins->pinned->seen[1 + of][i] = words_fresh(joins->pinned->plan[of].key, i);
}

/* The graph's copy finds other words the second time, and so does its reader. */
static cudaError_t run_constants_twice(struct joins *joins, cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    unsigned i;
    cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);

    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        joins->pinned->plan[1].key += i;
        renew_constants(joins, 1);
        error = cudaGraphLaunch(exec, stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
    }
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t run_constant_nodes(struct joins *joins, enum constant_way way, cudaStream_t stream)
{
    cudaGraph_t graph = NULL, outer = NULL;
    cudaGraphNode_t node;
    cudaError_t error = cudaGraphCreate(&graph, 0);

    if (error == cudaSuccess)
        error = add_constants(joins, graph, way != CONSTANT_AGAIN);
    if (error == cudaSuccess && way == CONSTANT_CHILD)
        error = cudaGraphCreate(&outer, 0);
    if (error == cudaSuccess && way == CONSTANT_CHILD)
        error = cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph);
    if (error == cudaSuccess)
        error = way == CONSTANT_AGAIN ? run_constants_twice(joins, graph, stream) : ask_run_once(outer ? outer : graph, stream);
    if (outer)
        (void)cudaGraphDestroy(outer);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t find_constants(struct joins *joins, enum constant_way way)
{
    cudaStream_t stream = joins->stream[0];
    unsigned turn = joins->round + joins->round / CONSTANT_MOVES + (way == CONSTANT_CAPTURED ? 2 : 0);
    enum constant_move by = (enum constant_move)(turn % CONSTANT_MOVES);
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 0);
    joins->pinned->plan[0].x_ns = 0;
    joins->pinned->plan[1].x_ns = way <= CONSTANT_CAPTURED && by == MOVED_BY_SET ? CONSTANTS_SET : 0;
    joins->pinned->plan[1].hold_ns = 0;
    renew_constants(joins, 0);
    renew_constants(joins, 1);
    if (error == cudaSuccess)
        error = copy_constants(joins, 0, stream);
    if (error == cudaSuccess)
        error = copy_other_constants(stream);
    if (error == cudaSuccess)
        error = cudaGetSymbolAddress(&constants_at, WORDS_OF(joins_constants));
    if (way == CONSTANT_CAPTURED && error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess && way <= CONSTANT_CAPTURED) {
        error = queue_constants(joins, by, stream);
        error = way == CONSTANT_CAPTURED ? ask_run_capture(stream, error) : error;
    } else if (error == cudaSuccess) {
        error = run_constant_nodes(joins, way, stream);
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = joins->pinned->state.early != 0 || joins->pinned->state.finished != CONSTANT_GRIDS;
    return error;
}

static cudaError_t constants_launched(struct joins *joins) { return find_constants(joins, CONSTANT_LAUNCHED); }
static cudaError_t constants_captured(struct joins *joins) { return find_constants(joins, CONSTANT_CAPTURED); }
static cudaError_t constants_of_nodes(struct joins *joins) { return find_constants(joins, CONSTANT_NODES); }
static cudaError_t constants_of_child(struct joins *joins) { return find_constants(joins, CONSTANT_CHILD); }
static cudaError_t constants_again(struct joins *joins) { return find_constants(joins, CONSTANT_AGAIN); }

static void ask_constants(struct ask *ask)
{
    static const struct join joins[] = {
        { "stale in constant memory, after a copy", constants_launched },
        { "stale in constant memory, after a captured copy", constants_captured },
        { "stale in constant memory, after a node that copies", constants_of_nodes },
        { "stale in constant memory, after such a node of a child graph", constants_of_child },
        { "stale in constant memory, in the second launch of a graph", constants_again },
    };

    ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
