/* joins_items.h - the pairs of joins.cu with two works behind a kernel, of each kind each: the second one does not begin before the kernel has
 * ended, whatever the first one is. Nor does one with attribute 6: behind such a kernel this one does not trigger. In a trial each stream has a
 * kernel and two works of its own; or every other stream has the kernel, and an event of it is awaited between the two works, which the next
 * stream has. */
#ifndef JOINS_ITEMS_H_INCLUDED
#define JOINS_ITEMS_H_INCLUDED

#define ITEM_HOLD 60000u       /* nanoseconds: as long as it takes to queue both works */
#define ITEM_WORDS 32u         /* of `aside`: where what the first works store lies */
#define ITEM_PLACES (ALL_WORDS / 2) /* ... and a word of each place that the device's memory has */

/* Tells that it has looked, and whether its word was stored to by then. */
DEVICE_FN void looks_at_word(const struct kernel_args *args)
{
    if (k_load_relaxed(args->seen) != 0)
        k_store_relaxed(args->data, 1);
    k_store_relaxed(args->data + 1, 1);
}

/* Looks before it ends. */
KERNEL(joins_looks_last)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    k_delay(args.state, plan.hold_ns);
    looks_at_word(&args);
}

/* The same without a trigger: no kernel with attribute 6 may begin before this one ends, whatever stands between the two. */
KERNEL(joins_looks_untriggered)
{
    struct trial_plan plan = k_plan(&args);

    k_delay(args.state, plan.hold_ns);
    looks_at_word(&args);
}

KERNEL(joins_stores_one) { k_store_relaxed(args.seen, RELEASED_BYTE); }

/* ---- what comes first, and changes nothing that anybody looks at ---- */

static cudaError_t item_copy_in(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return cudaMemcpyAsync(joins->aside + ITEM_WORDS, joins->pinned->plan, 4, cudaMemcpyHostToDevice, stream);
}

static cudaError_t item_copy_out(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemcpyAsync(joins->pinned->seen[place] + PLACE_WORDS, joins->aside, 4, cudaMemcpyDeviceToHost, stream);
}

static cudaError_t item_copy(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return cudaMemcpyAsync(joins->aside + ITEM_WORDS, joins->aside, 4, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t item_rows(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return cudaMemcpy2DAsync(joins->aside + ITEM_WORDS, 8, joins->aside, 8, 4, 2, cudaMemcpyDefault, stream);
}

static cudaError_t item_layers(struct joins *joins, unsigned place, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy = layers_of_words(joins->aside + ITEM_WORDS, joins->aside);

    (void)place;
    return cudaMemcpy3DAsync(&copy, stream);
}

static cudaError_t item_set(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return cudaMemsetAsync(joins->aside + ITEM_WORDS, 0, 4, stream);
}

static cudaError_t item_set_rows(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return cudaMemset2DAsync(joins->aside + ITEM_WORDS, 8, 0, 4, 2, stream);
}

static cudaError_t item_host(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)joins, (void)place;
    return cudaLaunchHostFunc(stream, ask_host_nothing, NULL);
}

static cudaError_t item_callback(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)joins, (void)place;
    return cudaStreamAddCallback(stream, told_nothing, NULL, 0);
}

/* What was launched goes on. */
static cudaError_t launch_once(const void *function, struct kernel_args *args, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error = ask_graph_of_kernel(&exec, function, args, 1);

    if (error == cudaSuccess)
        error = cudaGraphLaunch(exec, stream);
    if (exec)
        (void)cudaGraphExecDestroy(exec);
    return error;
}

static cudaError_t item_graph(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return launch_once((const void *)SYMBOL(joins_silent), &joins->work[place], stream);
}

/* Of an event for which nobody waits. */
static cudaError_t item_record(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaError_t error = joins->passed ? cudaSuccess : cudaEventCreateWithFlags(&joins->passed, cudaEventDisableTiming);

    (void)place;
    return error == cudaSuccess ? cudaEventRecord(joins->passed, stream) : error;
}

static cudaError_t item_free(struct joins *joins, unsigned place, cudaStream_t stream)
{
    void *memory = NULL;
    cudaError_t error = cudaMallocAsync(&memory, PLACE_WORDS, joins->loose);

    (void)place;
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(joins->loose);
    return error == cudaSuccess ? cudaFreeAsync(memory, stream) : error;
}

static cudaError_t item_value(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return queue_value("cuStreamWriteValue32", stream, joins->aside + ITEM_WORDS, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
}

/* It is there already. */
static cudaError_t item_awaited(struct joins *joins, unsigned place, cudaStream_t stream)
{
    (void)place;
    return queue_value("cuStreamWaitValue32", stream, joins->aside, RELEASED_BYTE * 0x1010101u, CU_STREAM_WAIT_VALUE_EQ);
}

/* ---- what comes then, beside the works of joins_released.h ---- */

static uint32_t *item_word(const struct joins *joins, unsigned place) { return joins->aside + ITEM_PLACES + place; }

static cudaError_t then_copy_in(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemcpyAsync(item_word(joins, place), &joins->pinned->plan[0].hold_ns, 4, cudaMemcpyHostToDevice, stream);
}

static cudaError_t then_copy_out(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return cudaMemcpyAsync(joins->pinned->seen[place], joins->aside, 4, cudaMemcpyDeviceToHost, stream);
}

static cudaError_t then_layers(struct joins *joins, unsigned place, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy = layers_of_words(released_word(joins, place), joins->aside);

    return cudaMemcpy3DAsync(&copy, stream);
}

static cudaError_t then_kernel(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return launch_one((const void *)SYMBOL(joins_stores_one), &joins->follower[place], 1, stream, NULL, 0);
}

static cudaError_t then_cooperative(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = cooperatively();

    return launch_one((const void *)SYMBOL(joins_stores_one), &joins->follower[place], 1, stream, &attribute, 1);
}

/* With attribute 6, and it does not wait: it may begin when the kernel before both has triggered, and that does so only by its end. */
static cudaError_t then_dependent(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = serialization(1);

    return launch_one((const void *)SYMBOL(joins_stores_one), &joins->follower[place], 1, stream, &attribute, 1);
}

/* The same, and one more work that is no kernel before it. */
static cudaError_t then_host_and_dependent(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaError_t error = item_host(joins, place, stream);

    return error == cudaSuccess ? then_dependent(joins, place, stream) : error;
}

static cudaError_t then_graph(struct joins *joins, unsigned place, cudaStream_t stream)
{
    return launch_once((const void *)SYMBOL(joins_stores_one), &joins->follower[place], stream);
}

/* An event that keeps time, for which another stream waits that stores; the host waits for none of these. */
static cudaError_t then_timed(struct joins *joins, unsigned place, cudaStream_t stream)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreate(&event);

    if (error != cudaSuccess)
        return error;
    error = record_and_await(event, stream, joins->ask->stream);
    (void)cudaEventDestroy(event);
    return error == cudaSuccess ? then_kernel(joins, place, joins->ask->stream) : error;
}

/* ---- each with each ---- */

struct item {
    const char *name;
    released_call queue;
};

/* The last ones need pools, and values that streams write and wait for. */
static const struct item first_items[] = {
    { "a copy to the device", item_copy_in }, { "a copy to the host", item_copy_out }, { "a copy in the device", item_copy },
    { "a copy of rows", item_rows }, { "a copy of layers", item_layers }, { "a memset", item_set }, { "a memset of rows", item_set_rows },
    { "a host function", item_host }, { "a callback", item_callback }, { "a graph", item_graph }, { "a record", item_record },
    { "the end of an allocation", item_free }, { "a value that is written", item_value }, { "a value that is awaited", item_awaited },
};
static const struct item then_items[] = {
    { "a copy to the device", then_copy_in }, { "a memset", release_set }, { "a memset of rows", release_rows_set }, { "a copy", release_copy },
    { "a copy of rows", release_rows_copy }, { "a copy by the driver", release_driver_copy }, { "a host function", release_host },
    { "a callback", release_callback }, { "a record", release_record }, { "a copy to the host", then_copy_out },
    { "a copy of layers", then_layers }, { "a kernel", then_kernel }, { "a cooperative kernel", then_cooperative }, { "a graph", then_graph },
    { "a record that keeps time", then_timed }, { "the end of an allocation", release_freed }, { "a value that is written", release_value },
    { "a value that is awaited", release_awaited },
};
/* Only right behind a kernel that does not trigger. */
static const struct item dependent_items[] = {
    { "a dependent", then_dependent }, { "a host function and a dependent", then_host_and_dependent },
};
#define FIRSTS (sizeof(first_items) / sizeof(first_items[0]))
#define THENS_OF_ITEMS (sizeof(then_items) / sizeof(then_items[0]))
#define DEPENDENTS (sizeof(dependent_items) / sizeof(dependent_items[0]))
#define NEED_POOLS 1u          /* of the last kinds of each */
#define NEED_VALUES 2u

struct items {
    struct joins joins;
    unsigned firsts, thens;    /* that the device offers */
    unsigned dependents;       /* that come then, too, and have the numbers after these */
    unsigned soon[THENS_OF_ITEMS + DEPENDENTS], trials[THENS_OF_ITEMS + DEPENDENTS], passed[FIRSTS], all;
    cudaEvent_t event[PLACES]; /* for who made them; every other one keeps time */
};

/* Of the pairs that stand in one trial no two have the same second work: some of these share a stream. */
static unsigned then_of_pair(unsigned pair, unsigned firsts, unsigned thens) { return (pair / firsts + pair % firsts) % thens; }

static unsigned first_of(const struct items *s, unsigned place) { return (s->joins.trial * PLACES + place) % s->firsts; }
static unsigned then_of(const struct items *s, unsigned place)
{
    return then_of_pair(s->joins.trial * PLACES + place, s->firsts, s->thens + s->dependents);
}
static const struct item *then_item(const struct items *s, unsigned then)
{
    return then < s->thens ? &then_items[then] : &dependent_items[then - s->thens];
}

/* The kernel of this place looks at the word that such work stores to; its own words, where it tells, are 0 so far. */
static void look_for_item(struct joins *joins, unsigned place, released_call queue)
{
    joins->work[place].seen = queue == then_copy_in ? item_word(joins, place) : released_word(joins, place);
    joins->pinned->plan[place].hold_ns = ITEM_HOLD;
    joins->pinned->words[place * PLACE_WORDS] = joins->pinned->words[place * PLACE_WORDS + 1] = 0;
}

static cudaError_t queue_items(struct items *s, unsigned place)
{
    struct joins *joins = &s->joins;
    released_call then = then_item(s, then_of(s, place))->queue;
    int dependent = then_of(s, place) >= s->thens;
    const void *looks = dependent ? (const void *)SYMBOL(joins_looks_untriggered) : (const void *)SYMBOL(joins_looks_last);
    cudaStream_t stream = joins->stream[place];
    cudaError_t error;

    look_for_item(joins, place, then);
    error = launch_one(looks, &joins->work[place], 1, stream, NULL, 0);
    if (error == cudaSuccess)
        error = first_items[first_of(s, place)].queue(joins, place, stream);
    return error == cudaSuccess ? then(joins, place, FOLLOWS_IN(joins, stream)) : error;
}

static cudaError_t prepare_items(struct joins *joins)
{
    cudaError_t error;

    prepare(joins, 1, 0);
    error = cudaMemset(joins->aside, RELEASED_BYTE, ITEM_PLACES * sizeof(uint32_t));
    if (error == cudaSuccess)
        error = cudaMemset(item_word(joins, 0), 0, PLACES * sizeof(uint32_t));
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static cudaError_t end_items(struct joins *joins, uint32_t words[PLACES])
{
    cudaError_t error = cudaDeviceSynchronize();

    return error == cudaSuccess ? cudaMemcpy(words, item_word(joins, 0), PLACES * sizeof(uint32_t), cudaMemcpyDeviceToHost) : error;
}

/* Whether the kernel did not look, or found the word stored to, or that still is not once all has ended. */
static unsigned item_is_wrong(const struct joins *joins, unsigned place, released_call queue, const uint32_t *words_of_device)
{
    volatile const struct pinned *pinned = joins->pinned;
    volatile const uint32_t *told = pinned->words + place * PLACE_WORDS;
    unsigned stored = queue == then_copy_in ? words_of_device[place] == ITEM_HOLD : pinned->seen[place][0] != 0;

    return told[0] != 0 || told[1] != 1 || !stored;
}

/* With as many kinds of work as the device offers. */
static cudaError_t open_items(struct items *s, struct ask *ask)
{
    cudaError_t error = open_joins(&s->joins, ask, cudaStreamNonBlocking);
    unsigned lacks = pools_lack() ? NEED_POOLS + NEED_VALUES : 0;

    if (error == cudaSuccess)
        error = open_aside(&s->joins);
    if (error == cudaSuccess && !lacks && values_lack(s->joins.loose))
        lacks = NEED_VALUES;
    s->firsts = FIRSTS - lacks;
    s->thens = THENS_OF_ITEMS - lacks;
    return error;
}

static void judge_place(struct items *s, unsigned place, unsigned first, unsigned then, const uint32_t *words)
{
    unsigned wrong = item_is_wrong(&s->joins, place, then_item(s, then)->queue, words);

    s->soon[then] += wrong;
    s->passed[first] += wrong;
    s->trials[then]++;
    s->all++;
}

static cudaError_t run_items(struct items *s)
{
    uint32_t words[PLACES];
    unsigned place;
    cudaError_t error = prepare_items(&s->joins);

    for (place = 0; place < PLACES && error == cudaSuccess; place++)
        error = queue_items(s, place);
    if (error == cudaSuccess)
        error = end_items(&s->joins, words);
    for (place = 0; place < PLACES && error == cudaSuccess; place++)
        judge_place(s, place, first_of(s, place), then_of(s, place), words);
    return error;
}

/* ---- an event is awaited between the two ---- */

/* Half as many pairs in a trial. In the later trials the first work has ended when the stream is told to wait; in the earlier ones it stands behind
 * a shorter kernel. */
static unsigned awaited_pair(const struct items *s, unsigned place) { return s->joins.trial * (PLACES / 2) + place / 2; }
static unsigned awaited_first(const struct items *s, unsigned place) { return awaited_pair(s, place) % s->firsts; }
static unsigned awaited_then(const struct items *s, unsigned place) { return then_of_pair(awaited_pair(s, place), s->firsts, s->thens); }

static cudaError_t queue_awaited(struct items *s, unsigned place)
{
    struct joins *joins = &s->joins;
    const void *looks = (const void *)SYMBOL(joins_looks_last);
    cudaStream_t stream = joins->stream[place + 1], to = FOLLOWS_IN(joins, stream);
    int ended = awaited_pair(s, place) / (s->firsts * s->thens) % 2 != 0;
    cudaError_t error;

    look_for_item(joins, place, then_items[awaited_then(s, place)].queue);
    look_for_item(joins, place + 1, release_set); /* which nobody queues there */
    joins->pinned->plan[place + 1].hold_ns = ITEM_HOLD / 3;
    error = launch_one(looks, &joins->work[place], 1, joins->stream[place], NULL, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(s->event[place], joins->stream[place]);
    if (error == cudaSuccess && !ended)
        error = launch_one(looks, &joins->work[place + 1], 1, stream, NULL, 0);
    if (error == cudaSuccess)
        error = first_items[awaited_first(s, place)].queue(joins, place, stream);
    if (error == cudaSuccess && ended)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess && to == stream)
        error = cudaStreamWaitEvent(to, s->event[place], 0);
    return error == cudaSuccess ? then_items[awaited_then(s, place)].queue(joins, place, to) : error;
}

static cudaError_t run_awaited_items(struct items *s)
{
    uint32_t words[PLACES];
    unsigned place;
    cudaError_t error = prepare_items(&s->joins);

    for (place = 0; place < PLACES && error == cudaSuccess; place += 2)
        error = queue_awaited(s, place);
    if (error == cudaSuccess)
        error = end_items(&s->joins, words);
    for (place = 0; place < PLACES && error == cudaSuccess; place += 2)
        judge_place(s, place, awaited_first(s, place), awaited_then(s, place), words);
    return error;
}

/* ---- each with each ---- */

static void ask_each(struct ask *ask, const char *after, cudaError_t (*run)(struct items *s))
{
    struct items s = PDL_ZERO;
    cudaError_t error = open_items(&s, ask);
    unsigned i;
    char text[96];

    s.dependents = run == run_items ? DEPENDENTS : 0;
    for (i = 0; i < PLACES && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&s.event[i], i / 2 % 2 ? cudaEventDefault : cudaEventDisableTiming);
    for (; ask_goes_on(ask, s.joins.trial, ask->trials) && error == cudaSuccess; s.joins.trial++)
        error = run(&s);
    ask_expect(ask, "two works in a row", error, cudaSuccess);
    for (i = 0; i < s.thens + s.dependents; i++) {
        snprintf(text, sizeof(text), "too soon after %s and other work: %s", after, then_item(&s, i)->name);
        ask_expect_none(ask, text, s.soon[i], s.trials[i]);
    }
    for (i = 0; i < s.firsts; i++) {
        snprintf(text, sizeof(text), "too soon after %s and %s", after, first_items[i].name);
        ask_expect_none(ask, text, s.passed[i], s.all);
    }
    for (i = 0; i < PLACES; i++)
        if (s.event[i])
            (void)cudaEventDestroy(s.event[i]);
    close_joins(&s.joins);
}

static void ask_items(struct ask *ask) { ask_each(ask, "a kernel", run_items); }
static void ask_awaited_items(struct ask *ask) { ask_each(ask, "an awaited event", run_awaited_items); }

#endif
