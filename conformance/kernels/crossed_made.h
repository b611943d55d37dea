/* crossed_made.h - makes the graph that was drawn for a trial of crossed_graphs.cu: node by node, or by capturing. */
#ifndef CROSSED_MADE_H_INCLUDED
#define CROSSED_MADE_H_INCLUDED

#ifdef MUTANT_graphedge
#define EDGES_KEPT 0
#else
#define EDGES_KEPT 1
#endif

#define LASTS 12u              /* nodes that the next one of a row comes after, at most */

struct row {                   /* the graph that is made, and how far it is */
    cudaGraph_t graph;
    cudaGraphNode_t last[LASTS], beside;
    size_t lasts;
    cudaGraphNode_t from[2 * PARTS], to[2 * PARTS]; /* edges to add in the end */
    cudaGraphEdgeData data[2 * PARTS];
    unsigned edges;
};

/* ---- nodes ---- */

static void shape_of(enum part_kind kind, unsigned *blocks, unsigned *threads)
{
    *blocks = kind == PART_MANY ? MANY : kind == PART_CLUSTER || kind == PART_COOPERATIVE ? 2 : 1;
    *threads = kind == PART_MANY ? 1 : CELL / *blocks;
}

/* What a launch of this part has beside attribute 6; how many. */
static unsigned attributes_of(const struct crossed *c, const struct part *part, cudaLaunchAttribute attributes[2])
{
    unsigned count = 0;

    if (part->kind == PART_CLUSTER)
        attributes[count++] = in_clusters(2);
    if (part->kind == PART_COOPERATIVE)
        attributes[count++] = cooperatively();
    if (part->dress != DRESS_PLAIN)
        attributes[count++] = part->dress == DRESS_URGENT ? of_priority(c->greatest) : in_remote_domain();
    return count;
}

static cudaError_t add_kernel(const struct crossed *c, struct row *row, const struct part *part, struct kernel_args *args, unsigned count,
                              cudaGraphNode_t *node)
{
    cudaLaunchAttribute attributes[2] = PDL_ZERO;
    unsigned blocks, threads, given = attributes_of(c, part, attributes), i;
    cudaError_t error;

    shape_of(part->kind, &blocks, &threads);
    error = ask_add_kernel_after(node, row->graph, row->last, count, carrier_of(part), args, blocks, threads);
    for (i = 0; i < given && error == cudaSuccess; i++)
        error = cudaGraphKernelNodeSetAttribute(*node, attributes[i].id, &attributes[i].val);
    return error;
}

static cudaError_t add_set(struct crossed *c, struct row *row, const struct part *part, unsigned count, cudaGraphNode_t *node)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = cell_of_host(c, part, 0);
    set.elementSize = part->kind == PART_SET_HALVES ? 2 : 1;
    set.value = value_of(part);
    set.width = part->kind == PART_SET_ROWS ? ROW_BYTES : CELL_BYTES / set.elementSize;
    set.height = part->kind == PART_SET_ROWS ? ROWS : 1;
    set.pitch = part->kind == PART_SET_ROWS ? ROW_PITCH : 0;
    return cudaGraphAddMemsetNode(node, row->graph, row->last, count, &set);
}

static cudaError_t add_copy(struct crossed *c, struct row *row, const struct part *part, unsigned count, cudaGraphNode_t *node)
{
    void *to = cell_of_host(c, part, 1), *from = cell_of_host(c, part, 0);
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    if (part->kind == PART_COPY)
        return cudaGraphAddMemcpyNode1D(node, row->graph, row->last, count, to, from, CELL_BYTES, cudaMemcpyDefault);
    copy.srcPtr.ptr = from;
    copy.dstPtr.ptr = to;
    copy.srcPtr.pitch = copy.dstPtr.pitch = ROW_PITCH;
    copy.srcPtr.xsize = copy.dstPtr.xsize = copy.extent.width = ROW_BYTES;
    copy.srcPtr.ysize = copy.dstPtr.ysize = copy.extent.height = ROWS;
    copy.extent.depth = 1;
    copy.kind = cudaMemcpyDefault;
    return cudaGraphAddMemcpyNode(node, row->graph, row->last, count, &copy);
}

static cudaError_t make_row(struct crossed *c, cudaGraph_t graph, unsigned parent);

static cudaError_t add_child(struct crossed *c, struct row *row, unsigned part, unsigned count, cudaGraphNode_t *node)
{
    cudaGraph_t child;
    cudaError_t error = cudaGraphCreate(&child, 0);

    if (error != cudaSuccess)
        return error;
    error = make_row(c, child, part);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(node, row->graph, row->last, count, child); /* clones it */
    (void)cudaGraphDestroy(child);
    return error;
}

/* Of the three bodies of a switch only one holds anything; every other IF has two, of which the second one runs. Its edges come after the node
 * itself. */
static cudaError_t add_conditional(struct crossed *c, struct row *row, unsigned part, cudaGraphNode_t *node)
{
#if CUDART_VERSION >= 12040
    const struct part *is = &c->drawn.part[part];
    enum cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
    cudaGraphConditionalHandle handle;
    cudaGraph_t body[3];
    int cases = is->kind == PART_SWITCH, otherwise = !cases && part % 2 && has_version(12080);
    cudaError_t error = cudaGraphConditionalHandleCreate(&handle, c->outermost, otherwise ? 0 : is->value, cudaGraphCondAssignDefault);

#if CUDART_VERSION >= 12080
    if (cases)
        type = cudaGraphCondTypeSwitch;
#endif
    if (error == cudaSuccess)
        error = ask_add_conditional(node, row->graph, handle, type, cases ? 3 : otherwise ? 2 : 1, body);
    return error == cudaSuccess ? make_row(c, body[cases ? is->value : (unsigned)otherwise], part) : error;
#else
    (void)c, (void)row, (void)part, (void)node;
    return cudaErrorNotSupported; /* none is drawn */
#endif
}

/* After the first `count` of the row's last nodes. */
static cudaError_t add_part(struct crossed *c, struct row *row, unsigned part, unsigned count, cudaGraphNode_t *node)
{
    const struct part *is = &c->drawn.part[part];
    struct cudaHostNodeParams host = PDL_ZERO;

    switch (is->kind) {
    case PART_SET:
    case PART_SET_HALVES:
    case PART_SET_ROWS: return add_set(c, row, is, count, node);
    case PART_COPY:
    case PART_COPY_ROWS: return add_copy(c, row, is, count, node);
    case PART_EMPTY: return cudaGraphAddEmptyNode(node, row->graph, row->last, count);
    case PART_HOST:
        host.fn = ask_hand_on;
        host.userData = hand_of(c, part);
        return cudaGraphAddHostNode(node, row->graph, row->last, count, &host);
    case PART_RECORD: return cudaGraphAddEventRecordNode(node, row->graph, row->last, count, event_of_trial(c, EVENT_RECORDED));
    case PART_WAIT: return cudaGraphAddEventWaitNode(node, row->graph, row->last, count, event_of_trial(c, EVENT_AWAITED));
    case PART_CHILD: return add_child(c, row, part, count, node);
    case PART_IF:
    case PART_SWITCH: return add_conditional(c, row, part, node);
    default: return add_kernel(c, row, is, args_of(c, part), count, node);
    }
}

/* ---- edges ---- */

static void note_edge(struct row *row, cudaGraphNode_t from, cudaGraphNode_t to, int programmatic)
{
    row->from[row->edges] = from;
    row->to[row->edges] = to;
    row->data[row->edges++] = edges_data(programmatic != 0, 0, programmatic != 0);
}

/* One edge each call. */
static cudaError_t add_noted(struct row *row, int backwards)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < row->edges && error == cudaSuccess; i++) {
        unsigned at = backwards ? row->edges - 1 - i : i;
        error = edges_add(row->graph, &row->from[at], &row->to[at], &row->data[at], 1);
    }
    row->edges = 0;
    return error;
}

/* Added with its edges, or the edges are noted and added after it, or in the end. */
static cudaError_t put_part(struct crossed *c, struct row *row, unsigned part)
{
    const struct drawn *d = &c->drawn;
    int late = d->made == MADE_EDGES_LATER, noted = late || d->part[part].programmatic || is_conditional(d->part[part].kind);
    cudaGraphNode_t node;
    unsigned i;
    cudaError_t error = add_part(c, row, part, noted ? 0 : (unsigned)row->lasts, &node);

    for (i = 0; i < row->lasts && noted && error == cudaSuccess; i++)
        note_edge(row, row->last[i], node, d->part[part].programmatic);
    if (error == cudaSuccess && !late)
        error = add_noted(row, 0);
    row->last[0] = node;
    row->lasts = EDGES_KEPT ? 1 : 0;
    return error;
}

/* ---- captured ---- */

static cudaError_t queue_kernel(struct crossed *c, unsigned part, cudaStream_t stream)
{
    const struct part *is = &c->drawn.part[part];
    cudaLaunchAttribute attrs[3] = PDL_ZERO;
    unsigned blocks, threads, count = attributes_of(c, is, attrs);

    shape_of(is->kind, &blocks, &threads);
    if (is->programmatic)
        attrs[count++] = serialization(1);
    return launch_blocks(carrier_of(is), args_of(c, part), blocks, threads, stream, attrs, count);
}

static cudaError_t queue_part(struct crossed *c, unsigned part, cudaStream_t stream)
{
    const struct part *is = &c->drawn.part[part];
    void *here = cell_of_host(c, is, 0), *next = cell_of_host(c, is, 1);

    switch (is->kind) {
    case PART_SET: return cudaMemsetAsync(here, (int)is->value, CELL_BYTES, stream);
    case PART_SET_ROWS: return cudaMemset2DAsync(here, ROW_PITCH, (int)is->value, ROW_BYTES, ROWS, stream);
    case PART_COPY: return cudaMemcpyAsync(next, here, CELL_BYTES, cudaMemcpyDefault, stream);
    case PART_COPY_ROWS: return cudaMemcpy2DAsync(next, ROW_PITCH, here, ROW_PITCH, ROW_BYTES, ROWS, cudaMemcpyDefault, stream);
    case PART_HOST: return cudaLaunchHostFunc(stream, ask_hand_on, hand_of(c, part));
    case PART_RECORD: return cudaEventRecordWithFlags(event_of_trial(c, EVENT_RECORDED), stream, cudaEventRecordExternal);
    case PART_WAIT: return cudaStreamWaitEvent(stream, event_of_trial(c, EVENT_AWAITED), cudaEventWaitExternal);
    default: return queue_kernel(c, part, stream);
    }
}

/* In another stream, to which an event leads, and another one back. */
static cudaError_t queue_beside(struct crossed *c, unsigned part, cudaStream_t origin, cudaStream_t fork)
{
    const cudaEvent_t *event = c->event[(c->trial + part) % EVENT_KINDS];
    cudaError_t error = record_and_await(event[EVENT_FORK], origin, fork);
    if (error == cudaSuccess)
        error = queue_part(c, part, fork);
    if (error == cudaSuccess)
        error = record_and_await(event[EVENT_JOIN], fork, origin);
    return error;
}

/* What the stream depends on becomes what the row's next node does. */
static cudaError_t take_lasts(struct row *row, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *data = NULL;
    size_t count = 0, i;
    cudaError_t error = edges_of_capture(stream, &status, NULL, NULL, &nodes, &data, &count);

    if (error == cudaSuccess && (count == 0 || count > LASTS - 1))
        error = cudaErrorUnknown;
    for (i = 0; i < count && error == cudaSuccess; i++)
        row->last[i] = nodes[i];
    row->lasts = EDGES_KEPT && error == cudaSuccess ? count : 0;
    return error;
}

/* From this part on, all that are captured; *part becomes the next one. */
static cudaError_t capture_parts(struct crossed *c, struct row *row, unsigned *part)
{
    const struct drawn *d = &c->drawn;
    cudaStream_t origin = c->street[d->origin];
    cudaGraph_t same = NULL;
    unsigned first = *part, i;
    cudaGraphEdgeData data[LASTS];
    cudaError_t error, end;

    for (i = 0; i < LASTS; i++)
        data[i] = edges_data(0, 0, 0);
    error = cudaStreamBeginCaptureToGraph(origin, row->graph, row->lasts ? row->last : NULL, row->lasts ? data : NULL, row->lasts, d->mode);
    if (error != cudaSuccess)
        return error;
    while (*part < d->parts && d->part[*part].captured && (*part == first || *part != d->beside) && error == cudaSuccess) {
        unsigned fork = d->part[*part].fork;
        error = fork == STREETS ? queue_part(c, *part, origin) : queue_beside(c, *part, origin, c->street[fork]);
        *part = after(d, *part);
    }
    if (error == cudaSuccess)
        error = take_lasts(row, origin);
    end = cudaStreamEndCapture(origin, &same);
    return error == cudaSuccess ? end : error;
}

/* ---- a row: one after the other ---- */

static cudaError_t add_beside(struct crossed *c, struct row *row)
{
    static const struct part kernel = PDL_ZERO;

    return add_kernel(c, row, &kernel, args_beside(c), 0, &row->beside);
}

static cudaError_t make_row(struct crossed *c, cudaGraph_t graph, unsigned parent)
{
    const struct drawn *d = &c->drawn;
    int here = d->beside != NOWHERE && d->part[d->beside].parent == parent;
    unsigned i = parent == NOWHERE ? 0 : parent + 1;
    cudaError_t error = cudaSuccess;
    struct row row = PDL_ZERO;

    row.graph = graph;
    if (here && d->beside_first)
        error = add_beside(c, &row);
    while (i < d->parts && error == cudaSuccess) {
        if (i == d->beside && !d->beside_first)
            error = add_beside(c, &row);
        if (i == d->beside && EDGES_KEPT)
            row.last[row.lasts++] = row.beside;
        if (error == cudaSuccess && d->part[i].captured) {
            error = capture_parts(c, &row, &i);
            continue;
        }
        if (error == cudaSuccess)
            error = put_part(c, &row, i);
        i = after(d, i);
    }
    return error == cudaSuccess ? add_noted(&row, d->backwards) : error;
}

#endif
