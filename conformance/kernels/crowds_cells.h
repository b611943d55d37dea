/* crowds_cells.h - what crowds.cu asks of every two shapes of kernels: as primary and dependent each two make a cell. Cells stand in rows of
 * one graph, which is launched, changed and nested in each way; or they are launched one after the other, or captured. With a programmatic
 * edge or attribute 6 the dependent begins after the last trigger and waits for the primary; without, it comes after the primary. */
#ifndef CROWDS_CELLS_H_INCLUDED
#define CROWDS_CELLS_H_INCLUDED

#ifdef PDL_MODEL
#define CELL_THREADS 9u        /* the model counts 8 as few */
#else
#define CELL_THREADS 96u
#endif
#define CELL_APART 32u         /* words from one cell to the next */
#define CELL_STORED 0u         /* the primary stores the number of the launch */
#define CELL_BEGUN 16u         /* the dependent does, as it begins; in another line */
#define CELL_HOLD_NS 5000u     /* of a primary before its trigger, and after it */
#define CELL_ROWS 4u           /* of a graph, side by side */

enum cell_shape {
    CELL_PLAIN, CELL_CLUSTERS, CELL_URGENT, CELL_DOMAIN, CELL_MANY, CELL_IN_ROWS, CELL_IN_LAYERS,
    CELL_WIDE, CELL_SMALL, CELL_SHARED, CELL_MUCH_SHARED, CELL_LONG_ARGS, CELL_RECORDS, CELL_COOPERATIVE, CELL_SHAPES
};

static const struct {
    unsigned x, y, z, threads;
    size_t bytes;              /* of dynamic shared memory */
} cell_shapes[CELL_SHAPES] = {
    { 2, 1, 1, CELL_THREADS, 0 },  { 4, 1, 1, CELL_THREADS, 0 }, { 2, 1, 1, CELL_THREADS, 0 },
    { 2, 1, 1, CELL_THREADS, 0 },  { 20, 1, 1, CELL_THREADS, 0 }, { 2, 2, 1, CELL_THREADS, 0 },
    { 2, 1, 2, CELL_THREADS, 0 },  { 2, 1, 1, WIDE_THREADS, 0 }, { 2, 1, 1, 1, 0 },
    { 2, 1, 1, CELL_THREADS, 1024 }, { 2, 1, 1, CELL_THREADS, SHAPED_MUCH }, { 2, 1, 1, CELL_THREADS, 0 },
    { 2, 1, 1, CELL_THREADS, 0 },  { 3, 1, 1, CELL_THREADS, 0 },
};

/* plan.words: the number of the launch; plan.reads_early: the dependent comes after the primary, and does not wait. */
DEVICE_FN void cell_primary(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);
    uint32_t is_last = CROWD_BLOCK + 1 == CROWD_BLOCKS && k_thread() == 0;

    if (plan.reads_early || EAGER)
        k_trigger();
    if (is_last && !plan.reads_early && k_poll(args->state, args->data + CELL_BEGUN, plan.words, plan.hold_ns))
        k_add(&args->state->early, 1);
    k_barrier();
    k_trigger();
    if (is_last) {
        k_delay(args->state, plan.hold_ns);
        k_store(args->data + CELL_STORED, plan.words);
    }
}

/* It reads before its wait, too, which caches the line. */
DEVICE_FN void cell_dependent(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    if (k_thread() == 0)
        k_store_relaxed(args->data + CELL_BEGUN, plan.words);
    if (!plan.reads_early) {
        (void)k_load(args->data + CELL_STORED);
        if (WAITS)
            k_wait_device();
    }
    if (k_load(args->data + CELL_STORED) != plan.words)
        k_add(&args->state->left, 1);
    if (CROWD_BLOCK == 0 && k_thread() == 0)
        k_add(&args->state->finished, 1);
}

KERNEL(crowds_cell_primary) { cell_primary(&args); }
KERNEL_OF(crowds_cell_primary_long, struct long_args) { cell_primary(&args.args); }
KERNEL(crowds_cell_dependent) { cell_dependent(&args); }
KERNEL_OF(crowds_cell_dependent_long, struct long_args) { cell_dependent(&args.args); }

/* ---- host ---- */

struct cells {
    struct ask *ask;
    struct host_room *room;
    struct kernel_args args;   /* whose data is the first cell */
    cudaStream_t blocking, urgent;
    cudaEvent_t event;         /* that those kernels record whose shape says so */
    int greatest;              /* priority */
    int ordered;               /* whether dependents come after primaries, and do not wait */
    cudaGraph_t graph;
    const char *made;          /* how */
    unsigned shapes;           /* that kernels have */
    int by_driver;             /* whether it launches them */
    cudaGraphNode_t node[2 * CELL_SHAPES * CELL_SHAPES];
    size_t nodes;
    cudaGraphExec_t exec;
    cudaStream_t stream;       /* of the next launch */
    cudaError_t error;         /* of another thread's launch */
};

static const void *cell_function(enum cell_shape shape, unsigned is_dependent)
{
    if (shape == CELL_LONG_ARGS)
        return is_dependent ? (const void *)SYMBOL(crowds_cell_dependent_long) : (const void *)SYMBOL(crowds_cell_primary_long);
    return is_dependent ? (const void *)SYMBOL(crowds_cell_dependent) : (const void *)SYMBOL(crowds_cell_primary);
}

static unsigned cell_attributes(const struct cells *m, enum cell_shape shape, cudaLaunchAttribute *attribute)
{
    switch (shape) {
    case CELL_CLUSTERS: *attribute = in_clusters(2); return 1;
    case CELL_URGENT: *attribute = of_priority(m->greatest); return 1;
    case CELL_DOMAIN: *attribute = in_remote_domain(); return 1;
    case CELL_COOPERATIVE: *attribute = cooperatively(); return 1;
    case CELL_RECORDS: *attribute = recording_at(m->event, 0); return 1;
    default: return 0;
    }
}

static struct long_args cell_args(const struct cells *m, unsigned cell)
{
    struct long_args all = PDL_ZERO; /* of which most kernels take the first ones only */

    all.args = m->args;
    all.args.data += (size_t)cell * CELL_APART;
    return all;
}

/* ---- launched, or captured ---- */

static cudaError_t launch_cell_kernel(const struct cells *m, unsigned cell, enum cell_shape shape, unsigned is_dependent, cudaStream_t stream)
{
    struct long_args all = cell_args(m, cell);
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = PDL_ZERO;
    void *values[1];

    values[0] = &all;
    config.gridDim.x = cell_shapes[shape].x;
    config.gridDim.y = cell_shapes[shape].y;
    config.gridDim.z = cell_shapes[shape].z;
    config.blockDim.x = cell_shapes[shape].threads;
    config.blockDim.y = config.blockDim.z = 1;
    config.dynamicSmemBytes = cell_shapes[shape].bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = cell_attributes(m, shape, attributes);
    if (is_dependent && !m->ordered)
        attributes[config.numAttrs++] = serialization(1);
    return m->by_driver ? launch_by_driver(&config, cell_function(shape, is_dependent), values)
                        : cudaLaunchKernelExC(&config, cell_function(shape, is_dependent), values);
}

static cudaError_t launch_cells(const struct cells *m, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    unsigned cell;

    for (cell = 0; cell < m->shapes * m->shapes && error == cudaSuccess; cell++) {
        error = launch_cell_kernel(m, cell, (enum cell_shape)(cell / m->shapes), 0, stream);
        if (error == cudaSuccess)
            error = launch_cell_kernel(m, cell, (enum cell_shape)(cell % m->shapes), 1, stream);
    }
    return error;
}

/* ---- as nodes ---- */

static cudaError_t add_cell_kernel(struct cells *m, cudaGraph_t graph, unsigned cell, enum cell_shape shape, unsigned is_dependent)
{
    struct long_args all = cell_args(m, cell);
    cudaLaunchAttribute attribute;
    void *values[1];
    struct cudaKernelNodeParams params = one_block_node(cell_function(shape, is_dependent), cell_shapes[shape].threads, values);
    cudaError_t error;

    values[0] = &all;
    params.gridDim.x = cell_shapes[shape].x;
    params.gridDim.y = cell_shapes[shape].y;
    params.gridDim.z = cell_shapes[shape].z;
    params.sharedMemBytes = (unsigned)cell_shapes[shape].bytes;
    error = cudaGraphAddKernelNode(&m->node[m->nodes], graph, NULL, 0, &params);
    if (error == cudaSuccess && shape != CELL_RECORDS && cell_attributes(m, shape, &attribute)) /* only captured nodes have events */
        error = cudaGraphKernelNodeSetAttribute(m->node[m->nodes], attribute.id, &attribute.val);
    m->nodes++;
    return error;
}

/* In a row each primary comes after the dependent before it. */
static cudaError_t add_cells(struct cells *m, cudaGraph_t graph)
{
    cudaGraphEdgeData full = edges_data(0, 0, 0), early = edges_data(1, 0, 1);
    cudaError_t error = cudaSuccess;
    unsigned cell, last = 2 * CELL_ROWS - 1;

    m->nodes = 0;
    for (cell = 0; cell < m->shapes * m->shapes && error == cudaSuccess; cell++) {
        const cudaGraphNode_t *node = m->node + 2 * cell;
        error = add_cell_kernel(m, graph, cell, (enum cell_shape)(cell / m->shapes), 0);
        if (error == cudaSuccess)
            error = add_cell_kernel(m, graph, cell, (enum cell_shape)(cell % m->shapes), 1);
        if (error == cudaSuccess)
            error = edges_add(graph, node, node + 1, m->ordered ? &full : &early, 1);
        if (error == cudaSuccess && cell >= CELL_ROWS)
            error = edges_add(graph, node - last, node, &full, 1);
    }
    return error;
}

/* ---- the question ---- */

static cudaError_t open_cells(struct cells *m, struct ask *ask)
{
    size_t bytes = (size_t)CELL_SHAPES * CELL_SHAPES * CELL_APART * sizeof(uint32_t);
    int least = 0;
    cudaError_t error = open_room(&m->room, &m->args) ? cudaSuccess : cudaErrorMemoryAllocation;

    m->ask = ask;
    m->args.data = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&m->args.data, bytes);
    if (error == cudaSuccess)
        error = cudaMemset(m->args.data, 0, bytes);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(&least, &m->greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&m->blocking, cudaStreamDefault);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&m->urgent, cudaStreamNonBlocking, m->greatest);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&m->event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        prepare_trial(m->room, 0);
    if (error == cudaSuccess)
        m->room->plan.words = 0;
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void close_cells(struct cells *m)
{
    (void)cudaDeviceSynchronize();
    if (m->blocking)
        (void)cudaStreamDestroy(m->blocking);
    if (m->urgent)
        (void)cudaStreamDestroy(m->urgent);
    if (m->event)
        (void)cudaEventDestroy(m->event);
    (void)cudaFree(m->args.data);
    (void)cudaFreeHost(m->room);
}

/* All work has ended. */
static void prepare_cells(const struct cells *m)
{
    struct trial_state none = PDL_ZERO;

    m->room->state = none;
    m->room->plan.hold_ns = CELL_HOLD_NS;
    m->room->plan.reads_early = (uint32_t)m->ordered;
    m->room->plan.words++;
}

/* Of all dependents. */
static unsigned threads_of_cells(const struct cells *m)
{
    unsigned threads = 0, i;

    for (i = 0; i < m->shapes; i++)
        threads += m->shapes * cell_shapes[i].x * cell_shapes[i].y * cell_shapes[i].z * cell_shapes[i].threads;
    return threads;
}

/* error: of what was launched. */
static void expect_cells(const struct cells *m, const char *way, cudaError_t error)
{
    unsigned cells = m->shapes * m->shapes;
    volatile const struct trial_state *state = &m->room->state;
    const char *what = m->ordered ? "each after the one before" : "each pair overlapping";
    char text[128];

    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    snprintf(text, sizeof(text), "kernels of every two shapes %s, %s", way, what);
    ask_expect(m->ask, text, error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    snprintf(text, sizeof(text), "of these, threads that read before the primary had ended, %s, %s", way, what);
    ask_expect_none(m->ask, text, state->left, threads_of_cells(m));
    snprintf(text, sizeof(text), "of these, dependents that began before the last trigger, %s, %s", way, what);
    ask_expect_none(m->ask, text, state->early, cells);
    snprintf(text, sizeof(text), "of these, dependents that did not run, %s, %s", way, what);
    ask_expect_none(m->ask, text, cells - state->finished, cells);
}

static void ask_cells_launched(struct cells *m, const char *way, cudaStream_t stream, int by_driver)
{
    m->shapes = CELL_SHAPES;
    m->by_driver = by_driver;
    prepare_cells(m);
    expect_cells(m, way, launch_cells(m, stream));
    m->by_driver = 0;
}

static void launch_whole(void *opaque)
{
    struct cells *m = (struct cells *)opaque;

    m->error = cudaGraphLaunch(m->exec, m->stream);
}

static void launch_whole_by_driver(void *opaque)
{
    struct cells *m = (struct cells *)opaque;

    m->error = graph_by_driver(m->exec, m->stream);
}

static void launch_whole_by_thread(void *opaque)
{
    if (!run_in_thread(launch_whole, opaque))
        launch_whole(opaque);
}

/* Prepares a launch, makes it and looks at it. error: of what came before it. */
static void ask_graph_of_cells(struct cells *m, const char *way, cudaError_t error, cudaStream_t stream, void (*launch)(void *cells))
{
    char text[64];

    snprintf(text, sizeof(text), "%s, %s", m->made, way);
    prepare_cells(m);
    m->stream = stream;
    if (error == cudaSuccess)
        launch(m);
    expect_cells(m, text, error == cudaSuccess ? m->error : error);
}

static cudaError_t leave_cells_out(const struct cells *m)
{
    cudaError_t error = cudaSuccess;
    size_t i;

    for (i = 0; i < 2 * m->nodes && error == cudaSuccess; i++)
        error = cudaGraphNodeSetEnabled(m->exec, m->node[i % m->nodes], i >= m->nodes);
    return error;
}

/* The executable graph is changed and launched in each way; some drivers may refuse the update, which changes nothing. */
static void ask_cells_changed(struct cells *m)
{
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaError_t error = cudaGraphInstantiate(&m->exec, m->graph, 0);

    ask_graph_of_cells(m, "launched", error, m->ask->stream, launch_whole);
    ask_graph_of_cells(m, "launched again", error, cudaStreamPerThread, launch_whole);
    if (error == cudaSuccess)
        error = cudaGraphUpload(m->exec, m->ask->stream);
    ask_graph_of_cells(m, "after an upload", error, cudaStreamLegacy, launch_whole);
    if (error == cudaSuccess)
        error = leave_cells_out(m);
    ask_graph_of_cells(m, "disabled and enabled", error, m->urgent, launch_whole);
    if (error == cudaSuccess)
        (void)cudaGraphExecUpdate(m->exec, m->graph, &info);
    (void)cudaGetLastError();
    ask_graph_of_cells(m, "after an update", error, m->blocking, launch_whole);
    (void)cudaGraphExecDestroy(m->exec);
}

/* The first executable graph stays. */
static void ask_cells_again(struct cells *m)
{
    cudaStream_t stream = m->ask->stream;
    cudaGraphExec_t first = NULL;
    cudaError_t error = cudaGraphInstantiate(&first, m->graph, 0);

    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&m->exec, m->graph, 0);
    ask_graph_of_cells(m, "in a second executable graph", error, stream, launch_whole);
    ask_graph_of_cells(m, "launched by the driver", error, stream, launch_whole_by_driver);
    ask_graph_of_cells(m, "launched by another thread", error, stream, launch_whole_by_thread);
    (void)cudaGraphExecDestroy(m->exec);
    (void)cudaGraphExecDestroy(first);
}

/* graph: around the cells, and destroyed. */
static void ask_cells_inside(struct cells *m, const char *where, cudaError_t error, cudaGraph_t graph)
{
    m->made = where;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&m->exec, graph, 0);
    ask_graph_of_cells(m, "launched", error, m->ask->stream, launch_whole);
    ask_graph_of_cells(m, "launched again", error, m->ask->stream, launch_whole);
    (void)cudaGraphExecDestroy(m->exec);
    (void)cudaGraphDestroy(graph);
}

/* In every way; then in a child graph, which half of them become by being moved. */
static void ask_cells_of_graph(struct cells *m, const char *made, const char *made_inside)
{
    cudaGraph_t outer = NULL;
    cudaGraphNode_t child;
    cudaError_t error;

    m->made = made;
    ask_cells_changed(m);
    ask_cells_again(m);
    error = cudaGraphCreate(&outer, 0);
    if (error == cudaSuccess)
        error = ask_nest(&child, outer, m->graph, m->ordered);
    ask_cells_inside(m, made_inside, error, outer);
}

static void ask_cells_of_nodes(struct cells *m)
{
    cudaError_t error = cudaGraphCreate(&m->graph, 0);

    m->shapes = CELL_SHAPES;
    if (error == cudaSuccess)
        error = add_cells(m, m->graph);
    ask_expect(m->ask, "a graph of kernels of every two shapes", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_cells_of_graph(m, "of nodes", "in a child graph");
}

static cudaError_t capture_cells(struct cells *m)
{
    cudaStream_t stream = m->ask->stream;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    m->nodes = sizeof(m->node) / sizeof(m->node[0]);
    if (error != cudaSuccess)
        return error;
    error = launch_cells(m, stream);
    end = cudaStreamEndCapture(stream, &m->graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? cudaGraphGetNodes(m->graph, m->node, &m->nodes) : error;
}

static void ask_cells_captured(struct cells *m)
{
    cudaError_t error;

    m->shapes = CELL_SHAPES;
    error = capture_cells(m);
    ask_expect(m->ask, "kernels of every two shapes that are captured", error, cudaSuccess);
    if (error == cudaSuccess)
        ask_cells_of_graph(m, "captured", "captured, in a child graph");
}

/* Nodes of the body, or captured ones of a child graph there. */
static void ask_cells_in_body(struct cells *m, const char *where, int captured)
{
#if CUDART_VERSION >= 12040
    cudaGraph_t outer = NULL, body;
    cudaGraphNode_t node;
    cudaError_t error = has_conditions() ? cudaGraphCreate(&outer, 0) : cudaErrorNotSupported;

    if (!has_conditions())
        return;
    m->shapes = is_shared() ? CELL_COOPERATIVE : CELL_SHAPES; /* in bodies "Cooperative launches are permitted so long as MPS is not in use" */
    if (error == cudaSuccess)
        error = ask_add_if(&node, outer, outer, 1, &body);
    if (error == cudaSuccess)
        error = captured ? capture_cells(m) : add_cells(m, body);
    if (error == cudaSuccess && captured)
        error = ask_nest(&node, body, m->graph, 0);
    ask_cells_inside(m, where, error, outer);
#else
    (void)m, (void)where, (void)captured;
#endif
}

static void ask_cells(struct ask *ask)
{
    struct cells m = PDL_ZERO;
    cudaError_t error = open_cells(&m, ask);

    ask_expect(ask, "memory and streams of kernels of every two shapes", error, cudaSuccess);
    for (m.ordered = 0; m.ordered < 2 && error == cudaSuccess; m.ordered++) {
        ask_cells_launched(&m, "in a stream", ask->stream, 0);
        ask_cells_launched(&m, "launched by the driver", ask->stream, 1);
        ask_cells_launched(&m, "in the per-thread stream", cudaStreamPerThread, 0);
        ask_cells_launched(&m, "in the legacy stream", cudaStreamLegacy, 0);
        ask_cells_launched(&m, "in a blocking stream", m.blocking, 0);
        ask_cells_launched(&m, "in a stream of high priority", m.urgent, 0);
        ask_cells_captured(&m);
        ask_cells_of_nodes(&m);
        ask_cells_in_body(&m, "in a body", 0);
        ask_cells_in_body(&m, "captured, in a body", 1);
    }
    close_cells(&m);
}

#endif
