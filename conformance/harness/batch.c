/* batch.c - lays out, plans and queues batches of trials. */
#include "batch.h"

#include <string.h>

#include "batch_kernels.h"
#include "crew.h"

#define GROUP_PAIRS 8u      /* of a short part; each costs two captures, or nothing on the stream path */
#define BATCHES_PER_PAIR 128u /* of a long part: shapes grow with the profile, and captures stay a hundredth of the time */
#define STREAM_BATCHES_PER_PAIR 8u
#define STREAM_SLOTS 128u   /* pairs queued after one gate: well below the launch queue's depth (about 1,024) */
#define GATE_BOUND_NS 50000000u
#define REPEATED_KEYS (1ull << 40) /* draws of keys for repeated trials: beyond any number of batches */

static uint64_t divided_up(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

/* Pairs of groups, each with shapes of its own, and how often each is replayed: together `batches` or a few more. */
static void divide_batches(struct part *part, uint64_t batches, int graphed)
{
    uint64_t few = batches / 16 < GROUP_PAIRS ? batches / 16 : GROUP_PAIRS;
    uint64_t many = batches / (graphed ? BATCHES_PER_PAIR : STREAM_BATCHES_PER_PAIR);
    uint64_t most = many > few ? many : few, pairs = most ? most : 1;
    uint64_t replays = divided_up(batches, 2 * pairs);
    uint64_t more_pairs = replays > 1 ? divided_up(batches, 2 * (replays - 1)) : pairs;

    if (replays > 1 && more_pairs * (replays - 1) < pairs * replays) {
        pairs = more_pairs;
        replays--;
    }
    part->pairs = (unsigned)pairs;
    part->replays = (unsigned)replays;
}

uint64_t part_divide(struct part *part, uint64_t trials, int graphed)
{
    unsigned most = graphed ? PLAN_MAX_SLOTS : STREAM_SLOTS, base_per_batch;

    part->slots = most;
    while (part->slots > 16 && part->slots / 2 * 2 >= trials)
        part->slots /= 2;
    base_per_batch = part->interleave == CONTROL_NONE ? part->slots : part->slots - part->slots / PLAN_CONTROL_EVERY;
    divide_batches(part, divided_up(trials, base_per_batch), graphed);
    return part_batches(part) * base_per_batch;
}

int part_pin(struct part *part, uint64_t batch, unsigned slot, uint64_t repeats, int graphed)
{
    struct layout layout;

    if (batch >= part_batches(part) || slot >= part->slots)
        return 0;
    part->pin.group = part_group(part, batch);
    part->pin.trial = batch * part->slots + slot;
    part->pin.slot = slot;
    batch_layout(&layout, part, part->pin.group);
    if (layout.slot[slot].shape.control != CONTROL_NONE)
        return 0; /* it shows that the window is open, and cannot fail */
    part_divide(part, repeats, graphed);
    while (part->slots > 16 && (size_t)part->slots * layout.slot[slot].shape.words > part->words_capacity)
        part->slots /= 2;
    part->pinned = 1;
    return 1;
}

uint64_t part_batches(const struct part *part) { return (uint64_t)2 * part->pairs * part->replays; }

/* Batches alternate between the two groups of a pair, and so between the two sets of buffers. */
uint64_t part_group(const struct part *part, uint64_t batch)
{
    return batch / (2 * (uint64_t)part->replays) * 2 + batch % 2;
}

void batch_layout(struct layout *layout, const struct part *part, uint64_t group)
{
    unsigned i, per_block = part->size.warp;

    memset(layout, 0, sizeof(*layout));
    layout->slots = part->slots;
    layout->group = (unsigned)(part->pinned ? part->pin.group : group);
    for (i = 0; i < part->slots; i++) {
        struct slot *slot = &layout->slot[i];
        plan_shape(&slot->shape, part->info, part->pair, &part->size, part->source, layout->group,
                   part->pinned ? part->pin.slot : i, part->interleave);
        if (part->variation.control != CONTROL_NONE)
            slot->shape.control = part->variation.control;
        slot->shape.dependent_blocks += part->variation.skip;
        if (layout->words + slot->shape.words + (size_t)(part->slots - i) * part->size.words_max > part->words_capacity)
            slot->shape.words = part->size.words_max;
        slot->first_word = layout->words;
        slot->first_block = layout->blocks;
        layout->words += (slot->shape.words + per_block - 1) / per_block * per_block;
        layout->blocks += slot->shape.primary_blocks + slot->shape.dependent_blocks;
    }
}

void batch_plan(struct trial_plan *plans, const struct part *part, const struct layout *layout, uint64_t batch)
{
    struct trial_plan *poison = &plans[BATCH_POISON];
    unsigned i;

    for (i = 0; i < layout->slots; i++) {
        uint64_t trial = batch * layout->slots + i;
        plan_trial(&plans[i], part->info, part->pair, &part->size, part->source, part->pinned ? part->pin.trial : trial,
                   &layout->slot[i].shape);
        if (part->pinned) /* fresh expected words, or the last repetition's would pass for this one's */
            plans[i].key = plan_batch_key(part->source, REPEATED_KEYS + trial);
        plans[i].flags |= part->variation.set_flags;
        plans[i].broken_wait = part->variation.broken_wait;
        plans[i].x_ns = part->variation.x_ns;
        plans[i].skip = part->variation.skip;
        plans[i].offset = (uint32_t)layout->slot[i].first_word;
        plans[i].batch_key = plan_batch_key(part->source, batch);
    }
    memset(poison, 0, sizeof(*poison));
    poison->key = plan_batch_key(part->source, batch);
    poison->words = (uint32_t)layout->words;
    poison->residents = layout->slots;
}

static int launch_plain(const pdl_kernel *kernel, struct kernel_args *args, unsigned blocks, unsigned threads, cudaStream_t stream,
                        struct fault *fault)
{
    void *params[1];
    dim3 grid, block;

    params[0] = args;
    grid.x = blocks;
    block.x = threads;
    grid.y = grid.z = block.y = block.z = 1;
    FAULT_TRY(fault, pdl_launch(kernel, grid, block, params, 0, stream, NULL));
    return 1;
}

static int queue_poison(struct device *device, struct buffers *b, const struct part *part, const struct queue *queue,
                        struct fault *fault)
{
    struct kernel_args args = PDL_ZERO;

    args.plan = b->plan + BATCH_POISON;
    args.state = b->state;
    args.data = (part->pair->flags & PAIR_HOST) ? b->host_data : b->data;
    args.seen = b->seen;
    args.input = (part->pair->flags & (PAIR_OVERWRITE | PAIR_COPY)) ? b->input : NULL;
    if (queue->nodes) {
        struct node poison = PDL_ZERO;
        cudaGraphNode_t node;
        poison.kernel = &device->poison;
        poison.args = args;
        poison.blocks = device->size.sms * 2;
        poison.threads = device->size.max_threads / 4;
        FAULT_TRY(fault, nodes_add(queue, &poison, NULL, 0, &node));
        nodes_next(queue->nodes, 0);
        return 1;
    }
    return launch_plain(&device->poison, &args, device->size.sms * 2, device->size.max_threads / 4, device->stream, fault);
}

static void fill_trial(struct trial_launch *trial, const struct pair *pair, struct buffers *b, const struct slot *slot,
                       unsigned index)
{
    memset(trial, 0, sizeof(*trial));
    trial->args.plan = b->plan + index;
    trial->args.state = b->state + index;
    trial->args.data = ((pair->flags & PAIR_HOST) ? b->host_data : b->data) + slot->first_word;
    trial->args.seen = b->seen + slot->first_word;
    trial->args.input = b->input + slot->first_word;
    trial->args.primary_sm = b->sm + slot->first_block;
    trial->args.dependent_sm = b->sm + slot->first_block + slot->shape.primary_blocks;
    trial->control = slot->shape.control;
    trial->primary_blocks = slot->shape.primary_blocks;
    trial->dependent_blocks = slot->shape.dependent_blocks;
    trial->threads = slot->shape.threads;
    trial->primary_shared_bytes = slot->shape.primary_shared_bytes;
    trial->words = slot->shape.words;
    trial->urgent_dependent = (pair->flags & PAIR_URGENT) != 0;
    trial->programmatic_primary = slot->shape.programmatic_primary;
}

/* A trial is a chain of latencies in which most of a GPU is idle. So trials that need nothing but two kernels and their words run
 * side by side, and the GPU gives three times as much evidence; those that need the GPU's room, or streams of the process's, run alone. */
static unsigned lanes_of(const struct device *device, const struct part *part, const struct queue *queue)
{
    int unordered = part->interleave == CONTROL_UNORDERED || part->variation.control == CONTROL_UNORDERED;
    /* A graph has room for any number of branches. Streams have not: with a second stream for each of four lanes a third of the
     * controls found the GPU free on an H100, with two lanes three quarters, and more queues of the device changed nothing. */
    int crowded = (unordered || part->pair->flags & PAIR_SIDE) && strcmp(part->info->path, "stream") == 0;
    int beside = part->pair->queue == queue_pair || part->pair->flags & PAIR_BESIDE;
    int alone = !beside || part->pair->shape != SHAPE_WORDS || strcmp(part->info->window, "contended") == 0 ||
                part->variation.broken_wait || crowded; /* how early a broken wait is, is measured */

    return queue->nodes || alone ? 0 : device->lanes;
}

static int enter_lanes(const struct device *device, unsigned lanes, struct fault *fault)
{
    unsigned i;
    if (lanes)
        FAULT_TRY(fault, cudaEventRecord(device->fork, device->stream));
    for (i = 0; i < lanes; i++)
        FAULT_TRY(fault, cudaStreamWaitEvent(device->lane[i].stream, device->fork, 0));
    return 1;
}

static int leave_lanes(const struct device *device, unsigned lanes, struct fault *fault)
{
    unsigned i;
    for (i = 0; i < lanes; i++) {
        FAULT_TRY(fault, cudaEventRecord(device->lane[i].join, device->lane[i].stream));
        FAULT_TRY(fault, cudaStreamWaitEvent(device->stream, device->lane[i].join, 0));
    }
    return 1;
}

static struct queue queue_of_lane(const struct queue *queue, const struct lane *lane)
{
    struct queue own = *queue;

    own.stream = lane->stream;
    own.side = lane->side;
    own.fork = lane->fork;
    own.join = lane->join;
    return own;
}

#define EVERY_LANE DEVICE_LANES

struct dealing {                 /* of a batch's trials to the lanes */
    struct device *device;
    struct buffers *b;
    const struct part *part;
    const struct layout *layout;
    const struct queue *queue;
    unsigned lanes;              /* 0: all trials run in the queue itself */
    struct fault fault[DEVICE_LANES];
};

/* The trials of one lane, or of each. */
static int queue_slots(const struct dealing *d, unsigned only, struct fault *fault)
{
    const struct pair *pair = d->part->pair;
    unsigned i;

    for (i = 0; i < d->layout->slots; i++) {
        /* a control runs where the trials it speaks for do */
        unsigned lane = d->lanes ? i / PLAN_CONTROL_EVERY % d->lanes : 0;
        struct trial_launch trial;
        struct queue own;
        if (only != EVERY_LANE && lane != only)
            continue;
        own = d->lanes ? queue_of_lane(d->queue, &d->device->lane[lane]) : *d->queue;
        fill_trial(&trial, pair, d->b, &d->layout->slot[i], i);
        FAULT_TRY(fault, pair->queue(&own, &trial));
        if (own.nodes)
            nodes_next(own.nodes, (pair->flags & PAIR_LINE) && trial.control == CONTROL_NONE);
    }
    return 1;
}

static int queue_lane_here(const struct dealing *d, unsigned lane, struct fault *fault)
{
    FAULT_TRY(fault, cudaSetDevice(d->device->ordinal)); /* this thread may be new */
    return queue_slots(d, lane, fault);
}

static void queue_lane(void *context, unsigned lane, unsigned member)
{
    struct dealing *d = context;

    (void)member;
    (void)queue_lane_here(d, lane, &d->fault[lane]);
}

/* A host of one thread launches slower than the lanes run. */
static int queue_lanes_at_once(struct dealing *d, struct fault *fault)
{
    unsigned lane;

    crew_work(d->device->crew, d->lanes, 1, queue_lane, d);
    for (lane = 0; lane < d->lanes; lane++)
        if (d->fault[lane].error != cudaSuccess) {
            *fault = d->fault[lane];
            return 0;
        }
    return 1;
}

int batch_queue_trials(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                       const struct queue *queue, int captured, struct fault *fault)
{
    struct dealing d = PDL_ZERO;
    int at_once;

    d.device = device;
    d.b = b;
    d.part = part;
    d.layout = layout;
    d.queue = queue;
    d.lanes = lanes_of(device, part, queue);
    at_once = d.lanes && !captured; /* a graph has one order of nodes */
    if (!queue_poison(device, b, part, queue, fault) || !enter_lanes(device, d.lanes, fault))
        return 0;
    if (!(at_once ? queue_lanes_at_once(&d, fault) : queue_slots(&d, EVERY_LANE, fault)))
        return 0;
    return leave_lanes(device, d.lanes, fault);
}

static int open_wrap(const struct wrap *wrap, cudaGraph_t *outer, cudaGraph_t *inner, struct fault *fault)
{
    *outer = NULL;
    if (wrap)
        FAULT_TRY(fault, wrap->open(outer, inner));
    else
        FAULT_TRY(fault, cudaGraphCreate(inner, 0));
    return 1;
}

/* outer: the graph to instantiate. */
static int build(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                 const struct queue *queue, cudaGraph_t *outer, struct fault *fault)
{
    cudaGraph_t inner = NULL;

    memset(queue->nodes, 0, sizeof(*queue->nodes));
    if (!open_wrap(part->pair->wrap, outer, &inner, fault))
        return 0;
    queue->nodes->graph = inner;
    if (!batch_queue_trials(device, b, part, layout, queue, 1, fault))
        return 0;
    if (part->pair->wrap)
        FAULT_TRY(fault, part->pair->wrap->close(outer, inner, layout->group));
    else
        *outer = inner;
    return 1;
}

static int capture(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                   const struct queue *queue, cudaGraph_t *graph, struct fault *fault)
{
    FAULT_TRY(fault, cudaStreamBeginCapture(device->stream, cudaStreamCaptureModeThreadLocal));
    if (!batch_queue_trials(device, b, part, layout, queue, 1, fault)) {
        (void)cudaStreamEndCapture(device->stream, graph);
        return 0;
    }
    FAULT_TRY(fault, cudaStreamEndCapture(device->stream, graph));
    return 1;
}

/* The same graph with every pointer to words shifted: what it stores is wrong until the update. */
static int instantiate_decoy(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                             const struct queue *queue, cudaGraphExec_t *exec, struct fault *fault)
{
    struct buffers decoy = *b;
    struct layout retyped = *layout;
    cudaGraph_t graph = NULL;
    unsigned i;

    decoy.data = decoy.seen = b->input;
    for (i = 0; (part->pair->flags & PAIR_RETYPED) && i < retyped.slots; i++)
        retyped.slot[i].shape.control = CONTROL_ATTRON;
    if (!build(device, &decoy, part, &retyped, queue, &graph, fault))
        return 0;
    FAULT_TRY(fault, cudaGraphInstantiate(exec, graph, cudaGraphInstantiateFlagUseNodePriority));
    FAULT_TRY(fault, cudaGraphDestroy(graph));
    return 1;
}

/* retyped: nobody promises that such an update is taken; if it is not, there has to be a new executable graph. */
static int update(cudaGraphExec_t *exec, cudaGraph_t graph, int retyped, unsigned long long flags, struct fault *fault)
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error = cudaGraphExecUpdate(*exec, graph, &info);

    if (error == cudaErrorGraphExecUpdateFailure && retyped) {
        (void)cudaGetLastError();
        FAULT_TRY(fault, cudaGraphExecDestroy(*exec));
        error = cudaGraphInstantiate(exec, graph, flags);
    }
    FAULT_TRY(fault, error);
    return 1;
}

int batch_graph(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                const struct queue *queue, cudaGraphExec_t *exec, struct fault *fault)
{
    int updated = queue->nodes && (part->pair->flags & PAIR_UPDATED);
    int plain_line = (part->pair->flags & PAIR_LINE) && part->interleave == CONTROL_NONE; /* nothing urgent in it */
    unsigned long long flags = plain_line ? 0 : cudaGraphInstantiateFlagUseNodePriority;
    cudaGraph_t graph = NULL;

    if (updated && !instantiate_decoy(device, b, part, layout, queue, exec, fault))
        return 0;
    if (!(queue->nodes ? build : capture)(device, b, part, layout, queue, &graph, fault))
        return 0;
    if (updated) {
        if (!update(exec, graph, part->pair->flags & PAIR_RETYPED, flags, fault))
            return 0;
    } else {
        FAULT_TRY(fault, cudaGraphInstantiate(exec, graph, flags));
    }
    FAULT_TRY(fault, cudaGraphDestroy(graph));
    return 1;
}

/* Holds the stream until release_gate(). */
static int close_gate(struct device *device, struct buffers *b, struct fault *fault)
{
    struct trial_plan *plan = &b->plan_host[BATCH_GATE];
    struct kernel_args args = PDL_ZERO;

    memset(plan, 0, sizeof(*plan));
    plan->repeats = b->gate_epoch = ++device->gate_epoch;
    plan->bound_ns = GATE_BOUND_NS;
    args.plan = b->plan + BATCH_GATE;
    args.state = b->state;
    args.input = device->gate_flag;
    args.data = b->gate_late;
    FAULT_TRY(fault, cudaMemcpyAsync(b->plan, b->plan_host, BATCH_PLANS * sizeof(struct trial_plan), cudaMemcpyHostToDevice,
                                     device->stream));
    return launch_plain(&device->gate, &args, 1, 1, device->stream, fault);
}

static void release_gate(struct device *device)
{
    *(volatile uint32_t *)device->gate_flag_host = device->gate_epoch;
}

static int fetch(struct device *device, struct buffers *b, const struct layout *layout, struct fault *fault)
{
    FAULT_TRY(fault, cudaMemcpyAsync(b->seen_host, b->seen, layout->words * 4, cudaMemcpyDeviceToHost, device->stream));
    FAULT_TRY(fault, cudaMemcpyAsync(b->state_host, b->state, layout->slots * sizeof(struct trial_state), cudaMemcpyDeviceToHost,
                                     device->stream));
    FAULT_TRY(fault, cudaMemcpyAsync(b->sm_host, b->sm, layout->blocks * 4, cudaMemcpyDeviceToHost, device->stream));
    FAULT_TRY(fault, cudaEventRecord(b->done, device->stream));
    return 1;
}

int batch_launch(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                 const struct queue *queue, cudaGraphExec_t exec, struct fault *fault)
{
    if (exec) {
        b->gate_epoch = 0;
        FAULT_TRY(fault, cudaMemcpyAsync(b->plan, b->plan_host, BATCH_PLANS * sizeof(struct trial_plan), cudaMemcpyHostToDevice,
                                         device->stream));
        FAULT_TRY(fault, cudaGraphLaunch(exec, device->stream));
        return fetch(device, b, layout, fault);
    }
    if (!close_gate(device, b, fault) || !batch_queue_trials(device, b, part, layout, queue, 0, fault) || !fetch(device, b, layout, fault))
        return 0;
    release_gate(device);
    return 1;
}

int batch_wait(struct buffers *b, struct fault *fault)
{
    FAULT_TRY(fault, cudaEventSynchronize(b->done));
    b->gate_late_now = b->gate_epoch && *(volatile uint32_t *)b->gate_late_host == b->gate_epoch;
    return 1;
}

int batch_hang(struct device *device, uint32_t seconds, struct fault *fault)
{
    struct buffers *b = &device->buffers[0];
    struct kernel_args args = PDL_ZERO;
    struct trial_plan plan = PDL_ZERO;
    pdl_kernel kernel;

    plan.repeats = seconds;
    *b->plan_host = plan;
    args.plan = b->plan;
    args.state = b->state;
    FAULT_TRY(fault, pdl_kernel_init(&kernel, batch_hang_kernel));
    FAULT_TRY(fault, cudaMemcpyAsync(b->plan, b->plan_host, sizeof(*b->plan), cudaMemcpyHostToDevice, device->stream));
    if (!launch_plain(&kernel, &args, 1, 1, device->stream, fault))
        return 0;
    FAULT_TRY(fault, cudaStreamSynchronize(device->stream));
    return 1;
}
