/* joins_recorders.h - the pair of joins.cu with work of each kind that waits for the event of a launch of each kind: it does not begin before the
 * launch has triggered; or, where the event is one of block starts or of the launch's completion, before the launch's turn has come. In a trial every
 * other stream has a launch, and the one after it the work that waits. Before most of them stands a kernel that triggers at once, and the event is
 * recorded there before: what it stood for then is over sooner, and counts no more. */
#ifndef JOINS_RECORDERS_H_INCLUDED
#define JOINS_RECORDERS_H_INCLUDED

/* Looks before it triggers. */
DEVICE_FN void looks_first(const struct kernel_args *args)
{
    struct trial_plan plan = k_plan(args);

    k_delay(args->state, plan.hold_ns);
    looks_at_word(args);
    k_fence_system();
    k_trigger();
}

KERNEL(joins_looks_first) { looks_first(&args); }
KERNEL(joins_goes_before)
{
    k_trigger();
    k_delay(args.state, k_plan(&args).hold_ns);
}
KERNEL_OF(joins_long_looks_first, struct long_args) { looks_first(&args.args); }
KERNEL_OF(joins_long_recorder, struct long_args)
{
    (void)args;
    k_trigger();
}

/* How the launch differs from a plain one: the manners come first. */
enum recorder { RECORDER_DEPENDENT = MANNERS, RECORDER_DRIVER, RECORDER_LONG, RECORDER_LARGE, RECORDER_LEGACY, RECORDER_PER_THREAD, RECORDERS };
#define RECORDER_BLOCKS 40u    /* of a large one */
static const char *const recorder_name[RECORDERS] = { "a plain launch", "a cooperative launch", "a launch in clusters", "a launch of high priority",
                                                      "a launch in the remote domain", "a launch of layers", "a launch with shared memory",
                                                      "a launch of rows", "a launch with the attribute", "a launch by the driver",
                                                      "a launch with long arguments", "a launch of many blocks",
                                                      "a launch in the legacy stream", "a launch in the per-thread stream" };

/* Of what the event is: it is recorded by the kernel that looks, or by a silent one after that. */
enum recorded_at { AT_TRIGGER, AT_STARTS, AT_COMPLETION, RECORDED_AT };

/* What stands before the launch, and whether it recorded the event: nothing; a kernel that does not; a kernel that does, at its trigger or once its
 * blocks have begun; a kernel and then a record. Or the same launch once before, with an event that nobody waits for, at its trigger or once its blocks
 * have begun. */
enum older { OLDER_NOTHING, OLDER_KERNEL, OLDER_TRIGGER, OLDER_COMPLETION, OLDER_RECORD, OLDER_SAME_TRIGGER, OLDER_SAME_STARTS, OLDERS };

static cudaError_t launch_older(enum older older, struct kernel_args *args, cudaEvent_t event, cudaStream_t stream)
{
    cudaLaunchAttribute records = older == OLDER_COMPLETION ? recording_begin(event) : recording(event);
    unsigned by_launch = older == OLDER_TRIGGER || older == OLDER_COMPLETION;
    cudaError_t error;

    if (older == OLDER_NOTHING)
        return cudaSuccess;
    error = launch_one((const void *)SYMBOL(joins_goes_before), args, 1, stream, &records, by_launch);
    if (older == OLDER_COMPLETION && is_unoffered(error)) {
        (void)cudaGetLastError();
        return launch_older(OLDER_TRIGGER, args, event, stream);
    }
    return error == cudaSuccess && older == OLDER_RECORD ? cudaEventRecord(event, stream) : error;
}

static const void *recorder_kernel(unsigned recorder, enum recorded_at at)
{
    if (at == AT_TRIGGER)
        return recorder == RECORDER_LONG ? (const void *)SYMBOL(joins_long_looks_first) : (const void *)SYMBOL(joins_looks_first);
    return recorder == RECORDER_LONG ? (const void *)SYMBOL(joins_long_recorder) : (const void *)SYMBOL(joins_silent);
}

static cudaError_t launch_recorder_with(unsigned recorder, struct kernel_args *args, cudaLaunchAttribute records, enum recorded_at at,
                                        cudaStream_t stream)
{
    const void *function = recorder_kernel(recorder, at);
    enum manner manner = recorder < RECORDER_DEPENDENT ? (enum manner)recorder : MANNER_PLAIN;
    cudaLaunchAttribute attrs[4];
    cudaLaunchConfig_t config;
    void *values[1];
    cudaError_t error = config_in_manners(&config, attrs, 1, stream, manner, manner, recorder == RECORDER_DEPENDENT);

    if (error != cudaSuccess)
        return error;
    if (recorder == RECORDER_LARGE)
        config.gridDim.x = RECORDER_BLOCKS;
    attrs[config.numAttrs++] = records;
    values[0] = args;
    if (recorder == RECORDER_LONG)
        return launch_with_long_args(function, args, 1, 1, 0, stream, attrs, config.numAttrs);
    return recorder == RECORDER_DRIVER ? launch_by_driver(&config, function, values) : cudaLaunchKernelExC(&config, function, values);
}

/* Not every launch may record its completion: then it records that its blocks have begun. events: its own, and one that nobody waits for. */
static cudaError_t launch_recording(unsigned recorder, struct kernel_args *args, const cudaEvent_t *events, enum recorded_at at, enum older older,
                                    cudaStream_t stream)
{
    cudaEvent_t event = events[0];
    cudaError_t error;

    if (recorder == RECORDER_LEGACY || recorder == RECORDER_PER_THREAD)
        stream = recorder == RECORDER_LEGACY ? cudaStreamLegacy : cudaStreamPerThread;
    if (older == OLDER_SAME_TRIGGER || older == OLDER_SAME_STARTS)
        error = launch_recorder_with(recorder, args, recording_at(events[1], older == OLDER_SAME_STARTS), at, stream);
    else
        error = launch_older(older, args, event, stream);
    if (error == cudaSuccess && at != AT_TRIGGER)
        error = launch_one((const void *)SYMBOL(joins_looks_first), args, 1, stream, NULL, 0);
    if (error != cudaSuccess)
        return error;
    error = launch_recorder_with(recorder, args, at == AT_COMPLETION ? recording_begin(event) : recording_at(event, at == AT_STARTS), at, stream);
    if (at != AT_COMPLETION || !is_unoffered(error))
        return error;
    (void)cudaGetLastError();
    return launch_recorder_with(recorder, args, recording_at(event, 1), AT_STARTS, stream);
}

struct recorders {
    struct items items;        /* with the events */
    unsigned soon[RECORDERS];
};

/* The pair of this trial whose launch is in the stream of this place. */
static unsigned recorded_pair(const struct recorders *r, unsigned place) { return r->items.joins.trial * (PLACES / 2) + place / 2; }
static unsigned recorder_of(const struct recorders *r, unsigned place) { return recorded_pair(r, place) % RECORDERS; }
static unsigned waiter_of(const struct recorders *r, unsigned place) { return then_of_pair(recorded_pair(r, place), RECORDERS, r->items.thens); }

static enum recorded_at recorded_at(const struct recorders *r, unsigned place)
{
    return (enum recorded_at)(recorded_pair(r, place) / (RECORDERS * r->items.thens) % RECORDED_AT);
}

static enum older older_of(const struct recorders *r, unsigned place) { return (enum older)(recorded_pair(r, place) / RECORDERS % OLDERS); }

static cudaError_t queue_recorded(struct recorders *r, unsigned place)
{
    struct joins *joins = &r->items.joins;
    cudaStream_t waits = FOLLOWS_IN(joins, joins->stream[place + 1]);
    cudaError_t error;

    look_for_item(joins, place, then_items[waiter_of(r, place)].queue);
    error = launch_recording(recorder_of(r, place), &joins->work[place], &r->items.event[place], recorded_at(r, place),
                             older_of(r, place), joins->stream[place]);
    if (error == cudaSuccess && waits == joins->stream[place + 1])
        error = cudaStreamWaitEvent(waits, r->items.event[place], 0);
    return error == cudaSuccess ? then_items[waiter_of(r, place)].queue(joins, place, waits) : error;
}

static cudaError_t run_recorded(struct recorders *r)
{
    struct joins *joins = &r->items.joins;
    uint32_t words[PLACES];
    unsigned place;
    cudaError_t error = prepare_items(joins);

    for (place = 0; place < PLACES && error == cudaSuccess; place += 2)
        error = queue_recorded(r, place);
    if (error == cudaSuccess)
        error = end_items(joins, words);
    for (place = 0; place < PLACES && error == cudaSuccess; place += 2) {
        unsigned then = waiter_of(r, place), wrong = item_is_wrong(joins, place, then_items[then].queue, words);
        r->soon[recorder_of(r, place)] += wrong;
        r->items.soon[then] += wrong;
        r->items.trials[then]++;
        r->items.all++;
    }
    return error;
}

static void ask_recorders(struct ask *ask)
{
    struct recorders r = PDL_ZERO;
    cudaError_t error = open_items(&r.items, ask);
    char text[96];
    unsigned i;

    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&r.items.event[i], cudaEventDisableTiming);
    for (; ask_goes_on(ask, r.items.joins.trial, ask->trials) && error == cudaSuccess; r.items.joins.trial++)
        error = run_recorded(&r);
    ask_expect(ask, "work that waits for the events of launches", error, cudaSuccess);
    for (i = 0; i < r.items.thens; i++) {
        snprintf(text, sizeof(text), "too soon after the event of a launch: %s", then_items[i].name);
        ask_expect_none(ask, text, r.items.soon[i], r.items.trials[i]);
    }
    for (i = 0; i < RECORDERS; i++) {
        snprintf(text, sizeof(text), "too soon after the event of %s", recorder_name[i]);
        ask_expect_none(ask, text, r.soon[i], r.items.all);
    }
    for (i = 0; i < PLACES; i++)
        if (r.items.event[i])
            (void)cudaEventDestroy(r.items.event[i]);
    close_joins(&r.items.joins);
}

#endif
