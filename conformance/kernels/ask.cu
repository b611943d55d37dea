/* ask.cu - host calls whose answers are compared, or noted where no document promises one.
 *
 * pair        rules    what is asked
 * layout      ATTR-01  ids and sizes of the attributes
 * elsewhere   ATTR-06  attributes 6, 7 and 12 on a graph's kernel node and on a stream
 * refused     ATTR-12  codes of attributes that do not belong into a launch
 * odd         ATTR-09a codes of doubled attributes and odd values (AMB-23)
 * idle        COMP-07  the attribute in a stream that has nothing to overlap
 * host_end    MEM-09   is the first kernel complete when the host learns, by waiting or by asking, that a second, which never
 *                      waited, is? (AMB-02)
 * crew        WAIT-01a what dependents saw after their wait while four host threads launch pairs at once (B15), and where they are launched
 *                      when one of two blocks has triggered, when the primary has stored all its words and ends, or when it is in its
 *                      own wait; primary and dependent are launched in each manner. What an ordinary kernel saw of one that two
 *                      dependents before it had overlapped, the second of them launched when the first had ended
 *
 * Mutants: `nowait`, the reader does not wait; `nosync`, the host looks without waiting for the end.
 */
#include <pthread.h>

#include "host_room.h"

#ifdef MUTANT_nosync
#define SYNCHRONIZES 0
#else
#define SYNCHRONIZES 1
#endif

/* ---- kernels: data, plan and state lie in pinned host memory ---- */

KERNEL(ask_slow) { slow_stores(&args); }

#define HALF_BOUND_NS 2000000u  /* of the wait for the host, which launches a kernel meanwhile */

/* The first block triggers and tells the host. Then the host launches the dependent; after that the second block triggers and stores. A third
 * one, if there is one, ends without a trigger before the host is told. */
KERNEL(ask_half)
{
    struct trial_plan plan = k_plan(&args);

    if (k_block() == 2) {
        if (k_thread() == 0)
            k_store_relaxed(&args.state->left, 1);
        return;
    }
    if (k_block() == 0) {
        k_trigger();
        k_barrier();
        if (k_thread() == 0 && k_blocks() == 3 && k_poll(args.state, &args.state->left, 1, HALF_BOUND_NS))
            k_delay(args.state, 2000);
        if (k_thread() == 0)
            k_store_relaxed(&args.state->began, 1);
        return;
    }
    if (k_thread() == 0) {
        (void)k_poll(args.state, &args.state->finished, 1, HALF_BOUND_NS);
        k_trigger();
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Stores, tells the host, and ends. */
KERNEL(ask_ending)
{
    struct trial_plan plan = k_plan(&args);

    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
    k_barrier();
    if (k_thread() == 0)
        k_store_relaxed(&args.state->began, 1);
}

/* Keeps the GPU busy until the host has launched the dependent. */
KERNEL(ask_busy)
{
    k_trigger();
    (void)k_poll(args.state, &args.state->finished, 1, HALF_BOUND_NS);
}

/* Tells the host, waits for that one, and stores late. */
KERNEL(ask_in_wait)
{
    struct trial_plan plan = k_plan(&args);

    if (k_thread() == 0 && plan.repeats)
        k_trigger();
    if (k_thread() == 0)
        k_store_relaxed(&args.state->began, 1);
    k_wait_device();
    if (k_thread() == 0)
        k_delay(args.state, plan.hold_ns);
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Lets the next one begin, and stores once the host has launched all. */
KERNEL(ask_held)
{
    struct trial_plan plan = k_plan(&args);

    k_trigger();
    if (k_thread() == 0) {
        (void)k_poll(args.state, &args.state->finished, 1, HALF_BOUND_NS);
        k_delay(args.state, plan.hold_ns);
    }
    k_barrier();
    k_store(args.data + k_thread(), words_fresh(plan.key, k_thread()));
}

/* Tells the host, and ends. */
KERNEL(ask_passing)
{
    k_trigger();
    if (k_thread() == 0)
        k_store_relaxed(&args.state->began, 1);
}

KERNEL(ask_silent)
{
    if (k_thread() == 0) {
        k_trigger();
        k_store_relaxed(&args.state->alive, 1);
    }
}

KERNEL(ask_reader) { reader_copies(&args, WAITS); }

DEVICE_FN void counts_itself(const struct kernel_args *args)
{
    if (args->state)
        k_add(&args->state->finished, 1);
}

KERNEL(ask_nothing) { counts_itself(&args); }

KERNEL(ask_waiting)
{
    k_wait_device();
    k_wait_device();
    counts_itself(&args);
}

/* Launches a kernel with these attributes, and ends what it began. */
static cudaError_t try_kernel(struct ask *ask, const void *function, const struct kernel_args *args, cudaLaunchAttribute *attrs, unsigned count)
{
    cudaError_t error = launch_one(function, args, 1, ask->stream, attrs, count);
    cudaError_t end = cudaStreamSynchronize(ask->stream);

    return error == cudaSuccess ? end : error;
}

static cudaError_t try_attrs(struct ask *ask, cudaLaunchAttribute *attrs, unsigned count)
{
    static const struct kernel_args none = PDL_ZERO;

    return try_kernel(ask, (const void *)SYMBOL(ask_nothing), &none, attrs, count);
}

/* ---- the questions ---- */

static void ask_layout(struct ask *ask)
{
    ask_expect_number(ask, "id of stream serialization", cudaLaunchAttributeProgrammaticStreamSerialization, 6);
    ask_expect_number(ask, "id of programmatic event", cudaLaunchAttributeProgrammaticEvent, 7);
    ask_expect_number(ask, "id of launch-completion event", cudaLaunchAttributeLaunchCompletionEvent, 12);
    ask_expect_number(ask, "id of ignore", cudaLaunchAttributeIgnore, 0);
    ask_expect_number(ask, "bytes of an attribute", (long)sizeof(cudaLaunchAttribute), 72);
    ask_expect_number(ask, "bytes of a value", (long)sizeof(cudaLaunchAttributeValue), 64);
    ask_expect_number(ask, "place of the value", (long)offsetof(cudaLaunchAttribute, val), 8);
}

static void ask_elsewhere(struct ask *ask)
{
    static const cudaLaunchAttributeID ids[3] = { cudaLaunchAttributeProgrammaticStreamSerialization, cudaLaunchAttributeProgrammaticEvent,
                                                  cudaLaunchAttributeLaunchCompletionEvent };
    static const char *const on_node[3] = { "6 on a node", "7 on a node", "12 on a node" };
    static const char *const on_stream[3] = { "6 on a stream", "7 on a stream", "12 on a stream" };
    struct kernel_args args = PDL_ZERO;
    void *params[1];
    struct cudaKernelNodeParams node_params = one_block_node((const void *)SYMBOL(ask_nothing), 1, params);
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    unsigned i;

    params[0] = &args;
    if (cudaGraphCreate(&graph, 0) != cudaSuccess || cudaGraphAddKernelNode(&node, graph, NULL, 0, &node_params) != cudaSuccess) {
        ask_skip(ask, "a node", "none was made");
        return;
    }
    value.programmaticStreamSerializationAllowed = 1;
    for (i = 0; i < 3; i++) {
        if (i > 0)
            value.programmaticEvent.event = NULL;
        ask_note(ask, on_node[i], cudaGraphKernelNodeSetAttribute(node, ids[i], &value));
        ask_note(ask, on_stream[i], cudaStreamSetAttribute(ask->side, ids[i], &value));
    }
    (void)cudaGraphDestroy(graph);
}

static void ask_refused(struct ask *ask)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeSynchronizationPolicy;
    ask_note(ask, "3, of streams only", try_attrs(ask, &attribute, 1));
    attribute.id = (cudaLaunchAttributeID)63;
    ask_note(ask, "63, of nobody", try_attrs(ask, &attribute, 1));
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    ask_note(ask, "7 without an event", try_attrs(ask, &attribute, 1));
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    ask_note(ask, "12 without an event", try_attrs(ask, &attribute, 1));
}

static void ask_odd(struct ask *ask)
{
    cudaLaunchAttribute attrs[2] = PDL_ZERO;
    cudaEvent_t one, two;

    attrs[0] = serialization(1);
    attrs[1] = serialization(0);
    ask_note(ask, "6 = 1, 6 = 0", try_attrs(ask, attrs, 2));
    attrs[0] = serialization(0);
    attrs[1] = serialization(1);
    ask_note(ask, "6 = 0, 6 = 1", try_attrs(ask, attrs, 2));
    attrs[0] = serialization(2);
    ask_note(ask, "6 = 2", try_attrs(ask, attrs, 1));
    attrs[0] = serialization(-1);
    ask_note(ask, "6 = -1", try_attrs(ask, attrs, 1));
    if (cudaEventCreateWithFlags(&one, cudaEventDisableTiming) != cudaSuccess ||
        cudaEventCreateWithFlags(&two, cudaEventDisableTiming) != cudaSuccess)
        return;
    attrs[0] = serialization(1);
    attrs[1] = recording(one);
    ask_note(ask, "6 with 7", try_attrs(ask, attrs, 2));
    attrs[0] = attrs[1];
    attrs[1] = recording_begin(two);
    ask_note(ask, "7 with 12", try_attrs(ask, attrs, 2));
    (void)cudaEventDestroy(one);
    (void)cudaEventDestroy(two);
}

static void ask_idle(struct ask *ask)
{
    const void *plain = (const void *)SYMBOL(ask_nothing), *waiting = (const void *)SYMBOL(ask_waiting);
    cudaLaunchAttribute attribute = serialization(1);
    struct kernel_args args = PDL_ZERO;
    struct host_room *room = NULL;

    if (!open_room(&room, &args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    prepare_trial(room, 0);
    (void)cudaStreamSynchronize(ask->stream);
    ask_expect(ask, "in a stream that has ended", try_kernel(ask, plain, &args, &attribute, 1), cudaSuccess);
    ask_expect(ask, "once more", try_kernel(ask, plain, &args, &attribute, 1), cudaSuccess);
    ask_expect(ask, "with a wait", try_kernel(ask, waiting, &args, &attribute, 1), cudaSuccess);
    ask_expect(ask, "a wait without the attribute", try_kernel(ask, waiting, &args, NULL, 0), cudaSuccess);
    ask_expect_number(ask, "kernels that ran", (long)room->state.finished, 4);
    (void)cudaFreeHost(room);
}

/* ---- host_end ---- */

static void look(void *opaque)
{
    struct host_room *room = (struct host_room *)opaque;

    room->stale += work_is_stale(room);
    room->looks++;
}

static void CUDART_CB look_from_stream(void *opaque) { look(opaque); }

enum host_end { END_STREAM, END_EVENT, END_HOST_FUNCTION, END_DEVICE, END_POLLED_STREAM, END_POLLED_EVENT, ENDS };

/* Asks until the answer is another one than "not ready". */
static cudaError_t poll_end(struct ask *ask, cudaEvent_t event, enum host_end end)
{
    cudaError_t error;

    do
        error = end == END_POLLED_EVENT ? cudaEventQuery(event) : cudaStreamQuery(ask->stream);
    while (error == cudaErrorNotReady);
    return error;
}

static cudaError_t learn_end(struct ask *ask, cudaEvent_t event, enum host_end end)
{
    switch (end) {
    case END_EVENT: return cudaEventSynchronize(event);
    case END_DEVICE: return cudaDeviceSynchronize();
    case END_POLLED_STREAM:
    case END_POLLED_EVENT: return poll_end(ask, event, end);
    default: return cudaStreamSynchronize(ask->stream);
    }
}

static cudaError_t run_to_end(struct ask *ask, struct host_room *room, const struct kernel_args *args, cudaEvent_t event, enum host_end end)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaError_t error = launch_one((const void *)SYMBOL(ask_slow), args, ASK_WORDS / 2, ask->stream, NULL, 0);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(ask_silent), args, 1, ask->stream, &attribute, 1);
    if (error == cudaSuccess && !SYNCHRONIZES)
        look(room);
    if (error == cudaSuccess && SYNCHRONIZES && end == END_HOST_FUNCTION)
        error = cudaLaunchHostFunc(ask->stream, look_from_stream, room);
    if (error == cudaSuccess && (end == END_EVENT || end == END_POLLED_EVENT))
        error = cudaEventRecord(event, ask->stream);
    if (error == cudaSuccess)
        error = learn_end(ask, event, end);
    if (error == cudaSuccess && SYNCHRONIZES && end != END_HOST_FUNCTION)
        look(room);
    return error == cudaSuccess ? cudaStreamSynchronize(ask->stream) : error;
}

#define EVENT_KINDS 3u         /* without timing, with it, and one that puts the waiting thread to sleep */

static void ask_end(struct ask *ask, struct host_room *room, const struct kernel_args *args, const cudaEvent_t *event, enum host_end end)
{
    static const char *const names[ENDS] = { "stale after a stream's end", "stale after an event", "stale in a host function",
                                             "stale after the device's end", "stale after a polled stream", "stale after a polled event" };
    unsigned trial, witnessed = 0;
    cudaError_t error = cudaSuccess;

    room->stale = room->looks = 0;
    for (trial = 0; trial < ASK_TRIALS && error == cudaSuccess; trial++) {
        prepare_trial(room, trial);
        error = run_to_end(ask, room, args, event[trial % EVENT_KINDS], end);
        witnessed += room->state.witnessed;
    }
    if (error != cudaSuccess)
        ask_expect(ask, names[end], error, cudaSuccess);
    else if (witnessed < ASK_TRIALS / 2)
        ask_skip(ask, names[end], "not asked, the two kernels hardly overlapped");
    else
        ask_expect_none(ask, names[end], room->stale, ASK_TRIALS);
    if (error == cudaSuccess)
        ask_expect_number(ask, "looks of the host", (long)room->looks, (long)ASK_TRIALS);
}

static void ask_host_end(struct ask *ask)
{
    static const unsigned flags[EVENT_KINDS] = { cudaEventDisableTiming, cudaEventDefault, cudaEventBlockingSync };
    struct host_room *room = NULL;
    struct kernel_args args = PDL_ZERO;
    cudaEvent_t event[EVENT_KINDS];
    unsigned i;
    int end;

    for (i = 0; i < EVENT_KINDS; i++)
        if (cudaEventCreateWithFlags(&event[i], flags[i]) != cudaSuccess) {
            ask_skip(ask, "an event", "none was made");
            return;
        }
    if (!open_room(&room, &args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    for (end = END_STREAM; end < ENDS; end++)
        ask_end(ask, room, &args, event, (enum host_end)end);
    (void)cudaFreeHost(room);
    for (i = 0; i < EVENT_KINDS; i++)
        (void)cudaEventDestroy(event[i]);
}

/* ---- crew ---- */

#define CREW 4u

struct hand {                    /* one host thread with its own stream and memory */
    pthread_t thread;
    int device;
    cudaStream_t stream;
    struct host_room *room;
    struct kernel_args args;
    cudaError_t error;
    unsigned witnessed;
};

static void *launch_pairs(void *opaque)
{
    struct hand *hand = (struct hand *)opaque;
    cudaLaunchAttribute attribute = serialization(1);
    unsigned trial;

    hand->error = cudaSetDevice(hand->device);
    for (trial = 0; trial < ASK_TRIALS && hand->error == cudaSuccess; trial++) {
        prepare_trial(hand->room, trial);
        hand->error = launch_one((const void *)SYMBOL(ask_slow), &hand->args, ASK_WORDS / 2, hand->stream, NULL, 0);
        if (hand->error == cudaSuccess)
            hand->error = launch_one((const void *)SYMBOL(ask_reader), &hand->args, ASK_WORDS / 2, hand->stream, &attribute, 1);
        if (hand->error == cudaSuccess)
            hand->error = cudaStreamSynchronize(hand->stream);
        hand->witnessed += hand->room->state.witnessed;
        hand->room->stale += copy_is_stale(hand->room);
    }
    return NULL;
}

static int open_hand(struct hand *hand)
{
    if (cudaGetDevice(&hand->device) != cudaSuccess ||
        cudaStreamCreateWithFlags(&hand->stream, cudaStreamNonBlocking) != cudaSuccess || !open_room(&hand->room, &hand->args))
        return 0;
    hand->room->stale = 0;
    return 1;
}

#define FAR_LOOKS 20000u

/* How far the primary is when its dependent is launched. */
enum far { FAR_HALF_TRIGGERED, FAR_MIXED, FAR_ENDING, FAR_WAITING, FAR_PASSED, FARS };
static const char *const far_text[FARS] = { "stale after the wait for a primary that had triggered in part",
                                            "stale after the wait for a primary of which one block had triggered, one had ended, and one had not",
                                            "stale after the wait for a primary that was about to end",
                                            "stale after the wait for a primary that was in its own wait",
                                            "stale in an ordinary kernel after two that had overlapped the one before them" };
static const char *const far_call[FARS] = { "launches after a primary that has triggered in part",
                                            "launches after a primary that has triggered, and ended, in part",
                                            "launches after a primary that is about to end",
                                            "launches after a primary that is in its own wait",
                                            "launches after a primary that has ended before the one before it" };
static const unsigned far_trials[FARS] = { 24, 24, 96, 2 * MANNERS * MANNERS, 96 };

/* 1 once the kernel has told so; its stream is asked all the while, which makes no difference. */
static int is_so_far(struct host_room *room, cudaStream_t stream)
{
    unsigned i;

    for (i = 0; i < FAR_LOOKS; i++) {
        if (*(volatile uint32_t *)&room->state.began)
            return 1;
        if (cudaStreamQuery(stream) != cudaErrorNotReady)
            return 0;
        (void)cudaGetLastError();
    }
    return 0;
}

static cudaError_t launch_primary(struct ask *ask, struct kernel_args *args, enum far far, unsigned trial)
{
    cudaError_t error;

    if (far == FAR_HALF_TRIGGERED || far == FAR_MIXED)
        return launch_blocks((const void *)SYMBOL(ask_half), args, far == FAR_MIXED ? 3 : 2, ASK_WORDS / 2, ask->stream, NULL, 0);
    if (far == FAR_PASSED) {
        error = launch_one((const void *)SYMBOL(ask_held), args, ASK_WORDS / 2, ask->stream, NULL, 0);
        return error == cudaSuccess ? launch_in_manner((const void *)SYMBOL(ask_passing), args, 1, ask->stream, MANNER_PLAIN, 1) : error;
    }
    error = launch_one((const void *)SYMBOL(ask_busy), args, 1, far == FAR_WAITING ? ask->stream : ask->side, NULL, 0);
    if (error == cudaSuccess && far == FAR_WAITING)
        return launch_in_manner((const void *)SYMBOL(ask_in_wait), args, ASK_WORDS / 2, ask->stream, (enum manner)(trial % MANNERS), 1);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(ask_ending), args, ASK_WORDS / 2, ask->stream, NULL, 0) : error;
}

/* The dependent; or a silent one, and then an ordinary kernel. */
static cudaError_t launch_dependent(struct ask *ask, struct kernel_args *args, enum far far, unsigned trial)
{
    enum manner manner = (enum manner)((far == FAR_WAITING ? trial / MANNERS : trial) % MANNERS);
    const void *reader = (const void *)SYMBOL(ask_reader);
    cudaError_t error;

    if (far != FAR_PASSED)
        return launch_in_manner(reader, args, ASK_WORDS / 2, ask->stream, manner, 1);
    error = launch_in_manner((const void *)SYMBOL(ask_silent), args, 1, ask->stream, manner, 1);
    return error == cudaSuccess ? launch_in_manner(reader, args, ASK_WORDS / 2, ask->stream, MANNER_PLAIN, 0) : error;
}

static cudaError_t try_far(struct ask *ask, struct host_room *room, struct kernel_args *args, enum far far, unsigned trial, unsigned *asked)
{
    cudaError_t error = launch_primary(ask, args, far, trial), end;
    int so_far = error == cudaSuccess && is_so_far(room, ask->stream);

    if (error == cudaSuccess)
        error = launch_dependent(ask, args, far, trial);
    *(volatile uint32_t *)&room->state.finished = 1;
    end = cudaDeviceSynchronize();
    *asked += (unsigned)so_far;
    return error == cudaSuccess ? end : error;
}

static void ask_far(struct ask *ask, enum far far)
{
    struct kernel_args args = PDL_ZERO;
    struct host_room *room = NULL;
    cudaError_t error = cudaSuccess;
    unsigned trial, asked = 0, stale = 0;

    if (!open_room(&room, &args)) {
        ask_skip(ask, "pinned host memory", "none was given");
        return;
    }
    for (trial = 0; trial < far_trials[far] && error == cudaSuccess; trial++) {
        prepare_trial(room, trial);
        room->plan.repeats = trial / MANNERS / MANNERS;
        error = try_far(ask, room, &args, far, trial, &asked);
        stale += copy_is_stale(room);
    }
    ask_expect(ask, far_call[far], error, cudaSuccess);
    if (asked == 0)
        ask_skip(ask, far_text[far], "not asked, no primary was found so far");
    else
        ask_expect_none(ask, far_text[far], stale, asked);
    (void)cudaFreeHost(room);
}

static void ask_crew(struct ask *ask)
{
    struct hand hands[CREW] = PDL_ZERO;
    unsigned i, started = 0, witnessed = 0, stale = 0;
    cudaError_t error = cudaSuccess;

    while (started < CREW && open_hand(&hands[started]) && !pthread_create(&hands[started].thread, NULL, launch_pairs, &hands[started]))
        started++;
    for (i = 0; i < started; i++) {
        (void)pthread_join(hands[i].thread, NULL);
        error = hands[i].error != cudaSuccess ? hands[i].error : error;
        witnessed += hands[i].witnessed;
        stale += hands[i].room->stale;
        (void)cudaStreamDestroy(hands[i].stream);
        (void)cudaFreeHost(hands[i].room);
    }
    ask_expect(ask, "launches of four threads", error, cudaSuccess);
    if (started < CREW || witnessed < CREW * ASK_TRIALS / 4)
        ask_skip(ask, "stale after the wait", "not asked, the pairs hardly overlapped");
    else
        ask_expect_none(ask, "stale after the wait", stale, CREW * ASK_TRIALS);
    for (i = 0; i < FARS; i++)
        ask_far(ask, (enum far)i);
}

static const struct pair ask_pairs[] = {
    PAIR_ASK("layout", ask_layout),
    PAIR_ASK("elsewhere", ask_elsewhere),
    PAIR_ASK("refused", ask_refused),
    PAIR_ASK("odd", ask_odd),
    PAIR_ASK("idle", ask_idle),
    PAIR_ASK("host_end", ask_host_end),
    PAIR_ASK("crew", ask_crew),
};
IMAGE(ask, ask_pairs)
