/* batch_test.c - what batches plan, and what makes a trial count: without a device, on buffers filled by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "batch_kernels.h"
#include "check.h"
#include "tally.h"
#include "words.h"

static const char *const nobody[] = { NULL };
static struct case_info info = { "TEST-01.pair.widened.captured", "TEST-01", "documented", "visibility", "test", "pair", "widened",
                                 "captured", 0, 1, 0, 0, 90, 12030, { 64, 64, 64, 64 }, nobody, nobody, 0 };
static struct pair pair;
static struct layout layout;
static struct trial_plan first[BATCH_PLANS], second[BATCH_PLANS];

static void open_part(struct part *part, unsigned sms, uint64_t trials)
{
    memset(part, 0, sizeof(*part));
    part->info = &info;
    part->pair = &pair;
    plan_size_fill(&part->size, sms, sms < 16);
    part->source = plan_source_make(7, info.name, "base");
    part->words_capacity = (size_t)PLAN_MAX_SLOTS * part->size.words_max + (size_t)(PLAN_MAX_SLOTS / 16) * part->size.words_big;
    (void)part_divide(part, trials, 1);
}

/* Every batch has keys of its own, or the words of the replay before would pass for this one's. */
static void check_keys(unsigned sms)
{
    struct part part;
    unsigned i, j, same = 0, alike = 0;

    open_part(&part, sms, 100000);
    check(part.replays > 1, "a group of the test is replayed");
    check(part_group(&part, 0) == part_group(&part, 2), "batches 0 and 2 are of one group");
    batch_layout(&layout, &part, part_group(&part, 0));
    batch_plan(first, &part, &layout, 0);
    batch_plan(second, &part, &layout, 2);
    for (i = 0; i < layout.slots; i++) {
        same += first[i].key == second[i].key;
        for (j = 0; j < i; j++)
            alike += first[i].key == first[j].key;
    }
    check(same == 0, "no trial of a batch has the key of the one before it at the same place");
    check(alike == 0, "no two trials of a batch have one key");
    check(first[BATCH_POISON].key != second[BATCH_POISON].key, "each batch has poison of its own");
    check(first[0].batch_key == first[BATCH_POISON].key, "trials know their batch's poison");
}

/* Readers take the words of other blocks, by a shift that changes. */
static void check_rotation(unsigned sms)
{
    struct part part;
    unsigned i, wide = 0, turned = 0, outside = 0;

    open_part(&part, sms, 100000);
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (i = 0; i < layout.slots; i++) {
        unsigned readers = layout.slot[i].shape.dependent_blocks;
        wide += readers > 2;
        turned += readers > 2 && first[i].rotate != 0;
        outside += first[i].rotate >= readers;
    }
    check(wide > layout.slots / 4, "many trials of the test have several readers");
    check(turned * 2 > wide, "most of them rotate");
    check(outside == 0, "none further than there are readers");
}

/* What a variation says holds for each trial of the batch. */
static void check_variation(void)
{
    struct part part;
    unsigned i, other = 0, flags = 0;

    open_part(&part, 132, 256);
    part.variation.broken_wait = BROKEN_EARLY;
    part.variation.x_ns = 125;
    part.variation.set_flags = PLAN_WITNESS;
    part.variation.skip = 3;
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (i = 0; i < layout.slots; i++) {
        other += first[i].broken_wait != BROKEN_EARLY || first[i].x_ns != 125 || first[i].skip != 3;
        flags += (first[i].flags & PLAN_WITNESS) != 0;
    }
    check(other == 0, "each trial of a broken wait has the variation's wait, time and blocks to skip");
    check(flags == layout.slots, "and the flags that it sets");
}

/* A part runs at least as often as it was asked to; each of its groups as often as the others. */
static void check_groups(uint64_t trials, int graphed)
{
    static unsigned batches[1 << 17];
    struct part part;
    uint64_t planned, batch, group, groups;
    unsigned wrong = 0;

    open_part(&part, 132, trials);
    planned = part_divide(&part, trials, graphed);
    check(planned >= trials && planned <= trials + trials / 4 + 8 * 16 * part.slots, "a part is as long as it was asked to be, or little longer");
    groups = 2 * (uint64_t)part.pairs;
    memset(batches, 0, sizeof(batches));
    for (batch = 0; batch < part_batches(&part); batch++) {
        group = part_group(&part, batch);
        wrong += group >= groups || groups > sizeof(batches) / sizeof(batches[0]);
        if (!wrong)
            batches[group]++;
    }
    for (group = 0; group < groups && !wrong; group++)
        wrong += batches[group] != part.replays;
    check(wrong == 0, "each group of a part is replayed as often as the others");
    if (trials >= 100000)
        check(groups >= 16, "a part of some length has shapes of its own in sixteen groups");
    if (trials >= 1000000)
        check(groups > 16, "a long part has more shapes than a short one");
}

/* No batch of a long part has the trials of another one. */
static void check_far_keys(void)
{
    struct part part;
    uint64_t far;
    unsigned i, same;

    open_part(&part, 132, 40000000);
    check(part_batches(&part) > 65536, "the part of the test has many batches");
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (far = 64; far <= 65536; far *= 2) {
        batch_plan(second, &part, &layout, far);
        for (i = 0, same = 0; i < layout.slots; i++)
            same += first[i].key == second[i].key;
        check(same == 0 && first[0].batch_key != second[0].batch_key, "a batch far after another one has keys of its own");
    }
}

/* Buffers as a device would leave them on which everything went well: each word fresh, each primary witnessed. */
static void fill(struct buffers *b, const struct part *part, uint64_t batch)
{
    unsigned i;
    uint32_t w;

    batch_layout(&layout, part, part_group(part, batch));
    batch_plan(b->plan_host, part, &layout, batch);
    for (i = 0; i < layout.slots; i++) {
        struct trial_state *state = &b->state_host[i];
        memset(state, 0, sizeof(*state));
        state->alive = 1;
        state->witnessed = layout.slot[i].shape.primary_blocks;
        state->primary_begin_ns = 1000;
        state->dependent_begin_ns = 2000;
        state->primary_store_ns = 3000;
        for (w = 0; w < layout.slot[i].shape.words; w++)
            b->seen_host[layout.slot[i].first_word + w] = words_fresh(b->plan_host[i].key, w);
    }
}

static int open_buffers(struct buffers *b, const struct part *part)
{
    memset(b, 0, sizeof(*b));
    b->plan_host = calloc(BATCH_PLANS, sizeof(*b->plan_host));
    b->state_host = calloc(PLAN_MAX_SLOTS, sizeof(*b->state_host));
    b->seen_host = calloc(part->words_capacity, sizeof(*b->seen_host));
    return b->plan_host && b->state_host && b->seen_host;
}

static struct tally counted;     /* of the last batch */

static void count(const struct part *part, const struct buffers *b, uint64_t batch)
{
    struct crew *crew = crew_open(1);
    struct word_check *words = word_check_open(part->size.words_big, 1);

    if (!crew || !words || !tally_open(&counted))
        exit(1);
    check_words(words, crew, part, &layout, b);
    tally_batch(&counted, part, &layout, b, batch, 0, words->slot);
    tally_close(&counted);
    word_check_close(words);
    crew_close(crew);
}

static void check_tally(void)
{
    struct part part;
    struct buffers b;
    unsigned i;

    open_part(&part, 4, 256);
    if (!open_buffers(&b, &part))
        exit(1);
    fill(&b, &part, 0);
    count(&part, &b, 0);
    check(counted.run == layout.slots && counted.outcome[WORD_FRESH] == counted.run, "a batch of fresh words is counted fresh");
    check(counted.exercised == counted.run && counted.forbidden == 0, "and every trial exercised");
    check(counted.repeated == 0, "and none repeated");
    check(counted.shapes.count > 1 && counted.shapes.count <= counted.run, "and their shapes counted");

    b.gate_late_now = 1;
    count(&part, &b, 0);
    check(counted.exercised == 0 && counted.cut_short == counted.run, "after a gate that let go by itself nothing is exercised");
    b.gate_late_now = 0;

    for (i = 0; i < layout.slots; i++)
        b.state_host[i].dependent_begin_ns = 3001;
    count(&part, &b, 0);
    check(counted.exercised == 0, "a witness that the clock contradicts is none");

    fill(&b, &part, 0);
    for (i = 0; i < layout.slots; i++)
        b.state_host[i].witnessed = 0;
    count(&part, &b, 0);
    check(counted.exercised < counted.run / 2 && counted.witnessed == 0, "a trial with a planned witness is not exercised without");

    fill(&b, &part, 0);
    for (i = 0; i < layout.slots; i++)
        b.stale_key[i] = b.plan_host[i].key;
    count(&part, &b, 0);
    check(counted.repeated == counted.run, "a plan that repeats the one before it is noticed");
    memset(b.stale_key, 0, sizeof(b.stale_key));

    fill(&b, &part, 0);
    b.seen_host[layout.slot[3].first_word] ^= 1;
    count(&part, &b, 0);
    check(counted.forbidden == 1 && counted.details == 1 && counted.detail[0].slot == 3, "one wrong bit is found, and where");
}

/* ---- lanes: in what streams trials are queued, and that what comes before and after the batch stays there ---- */

static struct device device;
static struct buffers buffers;
static cudaStream_t used[PLAN_MAX_SLOTS];
static unsigned queued, outside_capture, strangers; /* strangers: side streams and events of another lane */

cudaError_t queue_pair(const struct queue *queue, const struct trial_launch *trial)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    struct kernel_args args = trial->args;
    void *params[1];
    unsigned i;
    dim3 one;

    params[0] = &args;
    one.x = one.y = one.z = 1;
    used[trial->args.plan - buffers.plan] = queue->stream;
    queued++;
    for (i = 0; i < device.lanes; i++)
        strangers += (queue->stream == device.lane[i].stream) != (queue->side == device.lane[i].side) ||
                     (queue->stream == device.lane[i].stream) != (queue->fork == device.lane[i].fork) ||
                     (queue->stream == device.lane[i].stream) != (queue->join == device.lane[i].join);
    outside_capture += cudaStreamIsCapturing(queue->stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusActive;
    return (cudaError_t)pdl_launch(&device.poison, one, one, params, 0, queue->stream, NULL); /* captured, never run */
}

static cudaError_t queue_of_its_own(const struct queue *queue, const struct trial_launch *trial) { return queue_pair(queue, trial); }

static unsigned failing;         /* the trial that cannot be launched */
static cudaError_t queue_failing_once(const struct queue *queue, const struct trial_launch *trial)
{
    return trial->args.plan - buffers.plan == failing ? cudaErrorLaunchFailure : queue_pair(queue, trial);
}

/* How many streams a batch of this part was queued in, under a capture that ends well; 0: that failed. at_once: lane by lane, as
 * threads would, and not trial by trial. */
static unsigned streams_of(const struct part *part, int at_once)
{
    struct queue queue;
    struct fault fault;
    cudaGraph_t graph = NULL;
    unsigned i, j, streams = 0;

    memset(&queue, 0, sizeof(queue));
    queue.stream = device.stream;
    queued = outside_capture = strangers = 0;
    batch_layout(&layout, part, 0);
    if (cudaStreamBeginCapture(device.stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess ||
        !batch_queue_trials(&device, &buffers, part, &layout, &queue, !at_once, &fault) ||
        cudaStreamEndCapture(device.stream, &graph) != cudaSuccess || queued != layout.slots)
        return 0;
    for (i = 0; i < layout.slots; i++) {
        for (j = 0; j < i && used[j] != used[i]; j++)
            ;
        streams += j == i;
    }
    return cudaGraphDestroy(graph) == cudaSuccess ? streams : 0;
}

static unsigned streams_used(const struct part *part) { return streams_of(part, 0); }

static cudaError_t open_lane(struct lane *lane)
{
    cudaError_t error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&lane->side, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&lane->fork, cudaEventDisableTiming);
    return error == cudaSuccess ? cudaEventCreateWithFlags(&lane->join, cudaEventDisableTiming) : error;
}

static int open_lanes(void)
{
    cudaError_t error = cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking);

    for (device.lanes = 0; device.lanes < DEVICE_LANES && error == cudaSuccess; device.lanes++)
        error = open_lane(&device.lane[device.lanes]);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&device.fork, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = (cudaError_t)pdl_kernel_init(&device.poison, batch_poison_kernel);
    plan_size_fill(&device.size, 4, 1);
    return error == cudaSuccess;
}

static void check_lanes_at_once(const struct part *part)
{
    cudaStream_t by_trial[PLAN_MAX_SLOTS];
    struct queue queue;
    struct fault fault;
    cudaGraph_t graph = NULL;

    device.crew = crew_open(1);
    memcpy(by_trial, used, sizeof(used));
    check(device.crew && streams_of(part, 1) == DEVICE_LANES && strangers == 0 && memcmp(by_trial, used, sizeof(used)) == 0,
          "lanes that are filled at once hold the same trials");
    pair.queue = queue_failing_once;
    pair.flags |= PAIR_BESIDE; /* still in lanes */
    memset(&queue, 0, sizeof(queue));
    queue.stream = device.stream;
    for (failing = 1; failing < DEVICE_LANES * PLAN_CONTROL_EVERY; failing += PLAN_CONTROL_EVERY) {
        memset(&fault, 0, sizeof(fault));
        check(cudaStreamBeginCapture(device.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess &&
                  !batch_queue_trials(&device, &buffers, part, &layout, &queue, 0, &fault) && fault.error == cudaErrorLaunchFailure && fault.call,
              "what fails in one lane, whichever it is, fails the batch, and is told");
        (void)cudaStreamEndCapture(device.stream, &graph);
        (void)cudaGetLastError();
    }
    crew_close(device.crew);
    pair.queue = queue_pair;
    pair.flags &= ~(unsigned)PAIR_BESIDE;
}

static void check_lanes(void)
{
    struct part part;
    unsigned i, apart = 0;

    check(open_lanes(), "the model has streams");
    pair.queue = queue_pair;
    open_part(&part, 4, 256);
    check(streams_used(&part) == DEVICE_LANES, "trials of two kernels are dealt to all lanes, and the capture brings the lanes back");
    check(strangers == 0, "a lane has its own side stream and events");
    check(outside_capture == 0, "every lane comes after what stands before the batch");
    for (i = 0; i < layout.slots; i++)
        apart += used[i] == device.stream || used[i] != used[i - i % PLAN_CONTROL_EVERY];
    check(apart == 0, "a control is queued where the trials it speaks for are");
    check_lanes_at_once(&part);

    pair.queue = queue_of_its_own;
    check(streams_used(&part) == 1 && used[0] == device.stream, "trials that may use other streams run alone");
    pair.queue = queue_pair;
    pair.shape = SHAPE_RESOURCE;
    check(streams_used(&part) == 1, "trials that need room run alone");
    pair.shape = SHAPE_WORDS;
    info.window = "contended";
    check(streams_used(&part) == 1, "trials that fill the GPU run alone");
    info.window = "widened";
    part.interleave = CONTROL_UNORDERED;
    check(streams_used(&part) == DEVICE_LANES, "captured trials beside controls in side streams share the GPU");
    info.path = "stream";
    check(streams_used(&part) == 1, "launched ones run alone: streams share the device's queues");
    part.interleave = CONTROL_NONE;
    part.variation.control = CONTROL_UNORDERED;
    check(streams_used(&part) == 1, "so do launched controls");
    part.variation.control = CONTROL_NONE;
    check(streams_used(&part) == DEVICE_LANES, "launched trials without side streams share the GPU");
    info.path = "captured";
    part.variation.broken_wait = 1;
    check(streams_used(&part) == 1, "trials that measure time run alone");
}

/* ---- updates: what an executable graph does before it has been updated ---- */

static cudaError_t update_refused; /* cudaSuccess: none is */
cudaError_t __real_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
cudaError_t __wrap_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
cudaError_t __wrap_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result)
{
    return update_refused != cudaSuccess ? update_refused : __real_cudaGraphExecUpdate(exec, graph, result);
}

static uint32_t *data_of_first, *data_of_last;
static cudaError_t queue_noting(const struct queue *queue, const struct trial_launch *trial)
{
    (void)queue;
    data_of_first = queued++ ? data_of_first : trial->args.data;
    data_of_last = trial->args.data;
    return cudaSuccess;
}

/* A part whose graph is made executable for other words and then updated. */
static void open_updated(struct part *part, struct queue *queue, uint32_t *words, uint32_t *others)
{
    static struct nodes nodes;

    pair.queue = queue_noting;
    pair.flags |= PAIR_UPDATED;
    open_part(part, 4, 256);
    batch_layout(&layout, part, 0);
    memset(queue, 0, sizeof(*queue));
    queue->stream = device.stream;
    queue->nodes = &nodes;
    buffers.data = words;
    buffers.input = others;
}

static void close_updated(cudaGraphExec_t exec)
{
    (void)cudaGraphExecDestroy(exec);
    memset(&buffers, 0, sizeof(buffers));
    pair.flags &= ~(unsigned)(PAIR_UPDATED | PAIR_RETYPED);
    pair.queue = queue_pair;
}

static void check_update(void)
{
    static uint32_t words[1 << 16], others[1 << 16];
    struct part part;
    struct queue queue;
    struct fault fault;
    cudaGraphExec_t exec = NULL;

    open_updated(&part, &queue, words, others);
    queued = 0;
    check(batch_graph(&device, &buffers, &part, &layout, &queue, &exec, &fault) && queued == 2 * layout.slots, "an updated graph is built twice");
    check(data_of_first >= others && data_of_first < others + (1 << 16), "before its update it works on other words");
    check(data_of_last >= words && data_of_last < words + (1 << 16), "after it, on those that are judged");
    close_updated(exec);
}

/* A trial that is repeated expects other words each time. */
static void check_repeated(void)
{
    struct part part;
    unsigned i, same = 0;

    open_part(&part, 4, 100000);
    check(part_pin(&part, 3, 5, 1000, 1), "a trial of the test is repeated");
    batch_layout(&layout, &part, part_group(&part, 0));
    batch_plan(first, &part, &layout, 0);
    batch_plan(second, &part, &layout, 2);
    for (i = 0; i < layout.slots; i++)
        same += first[i].key == second[i].key || (i && first[i].key == first[i - 1].key);
    check(same == 0, "no repetition has the key of another one");
}

/* An update that may not be refused and is, is a fault; only other edges may be refused. */
static void check_refused_update(void)
{
    static uint32_t words[1 << 16], others[1 << 16];
    struct part part;
    struct queue queue;
    struct fault fault;
    cudaGraphExec_t exec = NULL;

    open_updated(&part, &queue, words, others);
    update_refused = cudaErrorGraphExecUpdateFailure;
    memset(&fault, 0, sizeof(fault));
    check(!batch_graph(&device, &buffers, &part, &layout, &queue, &exec, &fault) && fault.error == cudaErrorGraphExecUpdateFailure,
          "a refused update is a fault");
    pair.flags |= PAIR_RETYPED;
    exec = NULL;
    check(batch_graph(&device, &buffers, &part, &layout, &queue, &exec, &fault) && exec, "unless the edges are others");
    (void)cudaGraphExecDestroy(exec);
    update_refused = cudaErrorInvalidValue;
    exec = NULL;
    check(!batch_graph(&device, &buffers, &part, &layout, &queue, &exec, &fault) && fault.error == cudaErrorInvalidValue,
          "another error is a fault whatever the edges are");
    update_refused = cudaSuccess;
    close_updated(exec);
}

/* Whoever waits for a batch learns whether its own gate let go by itself, not an earlier one, and not one that it had none of. */
static void check_gate(void)
{
    struct buffers b;
    struct fault fault;
    uint32_t late = 7;

    memset(&b, 0, sizeof(b));
    memset(&fault, 0, sizeof(fault));
    b.gate_late_host = &late;
    check(cudaEventCreateWithFlags(&b.done, cudaEventDisableTiming) == cudaSuccess, "the model has events");
    b.gate_epoch = 7;
    check(batch_wait(&b, &fault) && b.gate_late_now, "a batch whose gate let go by itself is late");
    b.gate_epoch = 8;
    check(batch_wait(&b, &fault) && !b.gate_late_now, "one after it is not");
    b.gate_epoch = late = 0;
    check(batch_wait(&b, &fault) && !b.gate_late_now, "nor is one without a gate");
    (void)cudaEventDestroy(b.done);
}

/* What the gate itself tells, on the model: nothing if it was opened, its epoch if it was not in time. */
static void check_gate_kernel(void)
{
    struct room {
        struct trial_plan plan;
        struct trial_state state;
        uint32_t opened, late;
    } *room, *there;
    struct kernel_args args;
    cudaLaunchConfig_t config;
    void *params[1] = { &args };
    unsigned i;

    check(cudaHostAlloc((void **)&room, sizeof(*room), cudaHostAllocMapped) == cudaSuccess &&
          cudaHostGetDevicePointer((void **)&there, room, 0) == cudaSuccess, "the model has pinned memory");
    memset(room, 0, sizeof(*room));
    memset(&args, 0, sizeof(args));
    memset(&config, 0, sizeof(config));
    room->plan.repeats = 3;
    room->plan.bound_ns = 2000;
    args.plan = &there->plan;
    args.state = &there->state;
    args.input = &there->opened;
    args.data = &there->late;
    config.gridDim.x = config.gridDim.y = config.gridDim.z = 1;
    config.blockDim = config.gridDim;
    for (i = 0; i < 2; i++) {
        room->opened = i ? 2 : 3;
        check(cudaLaunchKernelExC(&config, batch_gate_kernel, params) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
              "the gate runs on the model");
        check(room->late == (i ? 3 : 0), i ? "a gate that is opened too late says so" : "a gate that was opened says nothing");
    }
    (void)cudaFreeHost(room);
}

/* What the clock says, one reading after the other, and then the last one again; NULL: what the model's says. */
static const uint64_t *readings;
static unsigned reading, last_reading;

uint64_t __real_model_now(void);
uint64_t __wrap_model_now(void);
uint64_t __wrap_model_now(void)
{
    if (!readings)
        return __real_model_now();
    reading++;
    return readings[reading <= last_reading ? reading - 1 : last_reading];
}

static void run_with_clock(const void *kernel, struct kernel_args *args, const uint64_t *says, unsigned count)
{
    cudaLaunchConfig_t config;
    void *params[1] = { args };

    memset(&config, 0, sizeof(config));
    config.gridDim.x = config.gridDim.y = config.gridDim.z = 1;
    config.blockDim = config.gridDim;
    readings = says;
    reading = 0;
    last_reading = count - 1;
    check(cudaLaunchKernelExC(&config, kernel, params) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "it runs on the model");
    readings = NULL;
}

/* The step of a clock is the least one between two readings that differ. A planted hang lasts as many seconds as it was told. */
static void check_clock_kernels(void)
{
    static const uint64_t ticks[] = { 100, 100, 107, 112, 112, 121 }, stands[] = { 7 };
    static const uint64_t seconds[] = { 5, 6, 2000000004u, 2000000005u, 2000000006u };
    struct room {
        struct trial_plan plan;
        struct trial_state state;
    } *room, *there;
    struct kernel_args args;

    check(cudaHostAlloc((void **)&room, sizeof(*room), cudaHostAllocMapped) == cudaSuccess &&
          cudaHostGetDevicePointer((void **)&there, room, 0) == cudaSuccess, "the model has pinned memory");
    memset(room, 0, sizeof(*room));
    memset(&args, 0, sizeof(args));
    args.plan = &there->plan;
    args.state = &there->state;
    run_with_clock(batch_tick_kernel, &args, ticks, 6);
    check(room->state.target_ns == 5, "the step of a clock is the least one");
    run_with_clock(batch_tick_kernel, &args, stands, 1);
    check(room->state.target_ns == ~(uint64_t)0, "a clock that stands has none");
    room->plan.repeats = 2;
    run_with_clock(batch_hang_kernel, &args, seconds, 5);
    check(reading == 4, "a hang of two seconds ends after two seconds");
    (void)cudaFreeHost(room);
}

/* Both grids fill the GPU, whether its threads or its places for blocks are what there is less of. */
static void check_contended(void)
{
    static const struct { unsigned slots, blocks; } rows[] = { { 2, 8 }, { 8, 16 } }; /* places of each SM; blocks of a grid */
    struct device_size size;
    struct slot_shape shape;
    unsigned i;

    plan_size_fill(&size, 4, 1);
    size.threads_per_sm = 4 * size.max_threads;
    info.window = "contended";
    for (i = 0; i < 2; i++) {
        size.slots_per_sm = rows[i].slots;
        plan_shape(&shape, &info, &pair, &size, plan_source_make(1, info.name, "base"), 0, 0, CONTROL_NONE);
        check(shape.primary_blocks == rows[i].blocks && shape.dependent_blocks == rows[i].blocks && shape.threads == size.max_threads,
              "contended grids fill the GPU");
    }
    info.window = "widened";
}

/* A third of the grids has more blocks than the GPU has SMs, on either side, and up to twice as many. */
static void check_many_blocks(void)
{
    struct part part;
    unsigned i, primary = 0, dependent = 0, most = 0;

    open_part(&part, 132, 100000);
    batch_layout(&layout, &part, 0);
    for (i = 0; i < layout.slots; i++) {
        const struct slot_shape *shape = &layout.slot[i].shape;
        primary += shape->primary_blocks > 132;
        dependent += shape->dependent_blocks > 132;
        most = shape->primary_blocks > most ? shape->primary_blocks : most;
    }
    check(primary * 5 > layout.slots && primary * 2 < layout.slots, "a third of the primaries has more blocks than there are SMs");
    check(dependent * 5 > layout.slots && dependent * 2 < layout.slots, "and so has a third of the dependents");
    check(most > 198 && most <= 264, "up to twice as many");
}

/* Any block of the primary may be the one that is held back: a device may wait for some only. */
static void check_withheld(void)
{
    struct part part;
    unsigned i, many = 0, first_block = 0, last_block = 0, outside = 0;

    info.kind = "start";
    open_part(&part, 4, 100000);
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (i = 0; i < layout.slots; i++) {
        unsigned blocks = layout.slot[i].shape.primary_blocks;
        many += blocks > 1;
        first_block += blocks > 1 && first[i].withhold == 0;
        last_block += blocks > 1 && first[i].withhold == blocks - 1;
        outside += first[i].withhold >= blocks;
    }
    info.kind = "visibility";
    check(many > layout.slots / 4, "many primaries of the test have several blocks");
    check(first_block * 16 > many && last_block * 16 > many && first_block + last_block < many,
          "now and then the first block is held back, now and then the last, or one between");
    check(outside == 0, "and always one that there is");
}

/* Where nothing widens the window, half of the triggers come late. */
static void check_natural(void)
{
    struct part part;
    unsigned i, late = 0;

    info.window = "natural";
    open_part(&part, 132, 100000);
    batch_layout(&layout, &part, 0);
    batch_plan(first, &part, &layout, 0);
    for (i = 0; i < layout.slots; i++)
        late += (first[i].flags & PLAN_TRIGGER_LATE) != 0;
    info.window = "widened";
    check(late * 4 > layout.slots && late * 4 < 3 * layout.slots, "half of the triggers of a natural window are late");
}

/* Some trials of a start rule have fewer threads than any other trial, and words for few. */
static void check_few_threads(void)
{
    struct part part;
    uint64_t group;
    unsigned i, few = 0, broken_warps = 0, words = 0, trials = 0;

    info.kind = "start";
    open_part(&part, 132, 100000);
    for (group = 0; group < 4; group++) {
        batch_layout(&layout, &part, group);
        for (i = 0; i < layout.slots; i++) {
            const struct slot_shape *shape = &layout.slot[i].shape;
            few += shape->threads < 2 * part.size.warp;
            broken_warps += shape->threads % part.size.warp != 0;
            words += shape->threads < 2 * part.size.warp && shape->words == part.size.words_min;
        }
        trials += layout.slots;
    }
    info.kind = "visibility";
    check(few * 64 > trials && few * 8 < trials && words == few, "now and then a start rule is asked with few threads and words");
    check(broken_warps * 128 > trials, "mostly not of whole warps");
}

int main(void)
{
    check_contended();
    check_many_blocks();
    check_withheld();
    check_natural();
    check_few_threads();
    check_gate();
    check_gate_kernel();
    check_clock_kernels();
    check_repeated();
    check_lanes();
    check_update();
    check_refused_update();
    check_variation();
    check_groups(64, 1);
    check_groups(100000, 1);
    check_groups(4000000, 1);
    check_groups(1000, 0);
    check_groups(4000000, 0);
    check_far_keys();
    check_keys(4);
    check_keys(132);
    check_rotation(4);
    check_rotation(132);
    check_tally();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
