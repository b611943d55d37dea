/* capture_spoiled.h - the pair of capture_calls.cu with what a capture refuses once it is invalid, and what its streams do when it has ended. */
#ifndef CAPTURE_SPOILED_H_INCLUDED
#define CAPTURE_SPOILED_H_INCLUDED

KERNEL(capture_calls_set) { k_store(args.data, 1); }

/* The writer watches, bounded, for a reader that comes too soon, and stores its words only then; a reader copies what it finds. */
KERNEL(capture_calls_writer) { slow_stores(&args); }
KERNEL(capture_calls_reader) { follower_copies(&args, 0); }

enum late_work {
    LATE_LAUNCH, LATE_ATTRIBUTE, LATE_EVENT, LATE_SET, LATE_SET_ROWS, LATE_COPY, LATE_COPY_ROWS, LATE_HOST, LATE_RECORD, LATE_WAIT, LATE_WORKS
};
static const char *const late_name[LATE_WORKS] = { "a launch", "a launch with the attribute", "a launch that records an event", "a memset",
                                                   "a memset of rows", "a copy", "a copy of rows", "a host function", "a record",
                                                   "a wait for a captured event" };
#define LATE_SETS ((1u << LATE_RECORD) - 1) /* all but the last two set the word of their number */

struct spoiled {
    struct capture c;
    uint32_t *words;           /* pinned; the last one is what copies read */
    struct kernel_args args[LATE_WORKS + 1];
    struct host_room *room;    /* of a writer and two readers */
    struct kernel_args order;
};
#define ORDER_WORDS 16u        /* of each of the three */

static void CUDART_CB late_host(void *word) { *(volatile uint32_t *)word = 1; }

static cudaError_t late_work(struct spoiled *s, enum late_work work, cudaStream_t stream)
{
    uint32_t *word = s->args[work].data, *source = s->args[LATE_WORKS].data;
    cudaLaunchAttribute attribute = work == LATE_EVENT ? recording(s->c.event) : serialization(1);

    switch (work) {
    case LATE_LAUNCH: return launch_one((const void *)SYMBOL(capture_calls_set), &s->args[work], 1, stream, NULL, 0);
    case LATE_ATTRIBUTE:
    case LATE_EVENT: return launch_one((const void *)SYMBOL(capture_calls_set), &s->args[work], 1, stream, &attribute, 1);
    case LATE_SET: return cudaMemsetAsync(word, 1, 4, stream);
    case LATE_SET_ROWS: return cudaMemset2DAsync(word, 4, 1, 4, 1, stream);
    case LATE_COPY: return cudaMemcpyAsync(word, source, 4, cudaMemcpyDefault, stream);
    case LATE_COPY_ROWS: return cudaMemcpy2DAsync(word, 4, source, 4, 4, 1, cudaMemcpyDefault, stream);
    case LATE_HOST: return cudaLaunchHostFunc(stream, late_host, s->words + work);
    case LATE_RECORD: return cudaEventRecord(s->c.event, stream);
    default: return cudaStreamWaitEvent(stream, s->c.event, 0);
    }
}

static void clear_words(struct spoiled *s)
{
    memset(s->words, 0, LATE_WORKS * sizeof(uint32_t));
    s->words[LATE_WORKS] = 1;
}

/* Which words were set, once both streams have ended. */
static void expect_set(struct spoiled *s, const char *what, unsigned want)
{
    volatile const uint32_t *words = s->words;
    unsigned is = 0, i;

    ask_expect(s->c.ask, what, cudaStreamSynchronize(s->c.stream), cudaSuccess);
    ask_expect(s->c.ask, what, cudaStreamSynchronize(s->c.side), cudaSuccess);
    for (i = 0; i < LATE_WORKS; i++)
        is |= (words[i] != 0) << i;
    ask_expect_number(s->c.ask, what, (long)is, (long)want);
}

/* How a capture of two streams is spoiled: by a look at one of them. */
static cudaError_t spoil(const struct capture *c, unsigned way)
{
    cudaStream_t stream = way & 1 ? c->side : c->stream;

    return way & 2 ? cudaStreamQuery(stream) : cudaStreamSynchronize(stream);
}

/* "any associated streams which are being captured into ... are invalid, and further use ... will return an error" */
static void ask_late_works(struct spoiled *s, const char *spoiler, int in_fork)
{
    cudaStream_t stream = in_fork ? s->c.side : s->c.stream;
    char text[128];
    unsigned work;

    for (work = 0; work < LATE_WORKS; work++) {
        snprintf(text, sizeof(text), "%s in %s of a capture that was spoiled by %s", late_name[work], in_fork ? "another stream" : "the first stream",
                 spoiler);
        ask_expect_refusal(s->c.ask, text, late_work(s, (enum late_work)work, stream));
    }
    ask_expect_refusal(s->c.ask, "dependencies that are set in a capture that was spoiled",
                       edges_update_capture(stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
}

/* Each kind of work in this stream, which captures nothing. */
static void ask_works_again(struct spoiled *s, cudaStream_t stream, const char *what)
{
    unsigned work;

    clear_words(s);
    for (work = 0; work < LATE_WORKS; work++)
        ask_expect(s->c.ask, what, late_work(s, (enum late_work)work, stream), cudaSuccess);
    expect_set(s, what, LATE_SETS);
}

/* A reader whose words are those of this place; 0: the writer's. */
static cudaError_t launch_late_reader(struct spoiled *s, unsigned place, cudaStream_t stream)
{
    struct kernel_args args = s->order;

    args.seen = args.data + place * ORDER_WORDS;
    return launch_one((const void *)SYMBOL(capture_calls_reader), &args, ORDER_WORDS, stream, NULL, 0);
}

/* In a stream of a capture that has ended the second kernel comes after the first one; and the event of the capture, recorded there, stands for what
 * is before it: a kernel of the other stream comes after that. */
static void ask_in_order(struct spoiled *s, unsigned turn, const char *what)
{
    const struct capture *c = &s->c;
    cudaStream_t first = turn % 2 ? c->side : c->stream, other = turn % 2 ? c->stream : c->side;
    unsigned stale = 0, i;
    cudaError_t error;

    prepare_trial(s->room, turn);
    s->room->plan.words = ORDER_WORDS;
    error = launch_one((const void *)SYMBOL(capture_calls_writer), &s->order, ORDER_WORDS, first, NULL, 0);
    if (error == cudaSuccess)
        error = launch_late_reader(s, 1, first);
    if (error == cudaSuccess)
        error = record_and_await(c->event, first, other);
    if (error == cudaSuccess)
        error = launch_late_reader(s, 2, other);
    ask_expect(c->ask, what, error, cudaSuccess);
    ask_expect(c->ask, what, cudaStreamSynchronize(first), cudaSuccess);
    ask_expect(c->ask, what, cudaStreamSynchronize(other), cudaSuccess);
    for (i = 0; i < 3 * ORDER_WORDS; i++)
        stale += ((volatile const uint32_t *)s->room->data)[i] != words_fresh(s->room->plan.key, i % ORDER_WORDS);
    ask_expect_number(c->ask, what, (long)stale, 0);
}

/* The event that a launch of the spoiled capture may have recorded is one of a launch again: who waits for it comes after that launch alone. */
static void ask_event_captured_again(const struct capture *c)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attribute = recording(c->event);
    struct depends launched = PDL_ZERO, awaits = PDL_ZERO;
    cudaError_t error = begin(c->stream);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(capture_calls_nothing), &args, 1, c->stream, &attribute, 1);
    if (error == cudaSuccess)
        error = read_depends(c->stream, &launched);
    launched.data[0] = edges_data(1, 0, 1);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(c->side, c->event, 0);
    if (error == cudaSuccess)
        error = read_depends(c->side, &awaits);
    ask_expect(c->ask, "a launch that records the event of a spoiled capture, captured", error, cudaSuccess);
    ask_expect_number(c->ask, "who waits for it comes after the launch", same_depends(&awaits, &launched), 1);
    end_two(c, "the end of that capture", c->event);
}

/* The two streams are captured anew. */
static void ask_captured_again(struct spoiled *s)
{
    const struct capture *c = &s->c;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = begin(c->stream);

    clear_words(s);
    if (error == cudaSuccess)
        error = record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = late_work(s, LATE_SET, c->side);
    if (error == cudaSuccess)
        error = record_and_await(c->event, c->side, c->stream);
    if (error == cudaSuccess)
        error = late_work(s, LATE_LAUNCH, c->stream);
    ask_expect(c->ask, "another capture of the streams of a spoiled one", error, cudaSuccess);
    ask_expect(c->ask, "its end", cudaStreamEndCapture(c->stream, &graph), cudaSuccess);
    ask_expect(c->ask, "an executable graph of it", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_set(s, "the words before its launch", 0);
    ask_expect(c->ask, "its launch", cudaGraphLaunch(exec, c->stream), cudaSuccess);
    expect_set(s, "its launch", 1u << LATE_SET | 1u << LATE_LAUNCH);
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
}

/* Before the capture is spoiled one of its two streams gets a dependency of the other one's kernel, by its trigger or its start. */
static cudaError_t leave_half(const struct capture *c, unsigned turn)
{
    cudaStream_t stream[2] = { c->stream, c->side };
    struct depends half = PDL_ZERO;
    cudaError_t error = read_depends(stream[turn % 2 == 0], &half);

    half.data[0] = edges_data(1 + turn / 3 % 2, 0, 1);
    if (error != cudaSuccess)
        return error;
    return edges_update_capture(stream[turn % 2], half.node, half.data, half.count,
                                turn / 2 % 2 ? cudaStreamAddCaptureDependencies : cudaStreamSetCaptureDependencies);
}

/* Nothing of that is left in the streams: launches in a new capture come after each other as ever, with attribute 6 or without. */
static void ask_halves_gone(const struct capture *c)
{
    static const char *const what = "launches in a capture after a spoiled one in which dependencies were set";
    struct depends none = PDL_ZERO, first = PDL_ZERO;
    cudaEvent_t event = NULL; /* that of the spoiled capture is asked about by itself */

    ask_expect(c->ask, what, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    ask_expect(c->ask, what, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    expect_launch_after(c->ask, what, c->stream, &none);
    ask_expect(c->ask, what, record_and_await(event, c->stream, c->side), cudaSuccess);
    ask_expect(c->ask, what, read_depends(c->stream, &first), cudaSuccess);
    expect_launch_after(c->ask, what, c->side, &first);
    expect_launch_after(c->ask, what, c->stream, &first);
    expect_overlap_after(c->ask, what, c->side);
    expect_overlap_after(c->ask, what, c->stream);
    end_two(c, what, event);
    (void)cudaEventDestroy(event);
}

/* "This call will take the associated streams out of capture mode, but will also return an error value and a NULL graph." */
static void ask_spoiled_by(struct spoiled *s, unsigned way, enum cudaStreamCaptureMode mode)
{
    static const char *const ways[] = { "waiting for its first stream", "waiting for its other stream", "asking its first stream",
                                         "asking its other stream" };
    const struct capture *c = &s->c;
    cudaGraph_t graph = NULL;
    cudaError_t error = begin_in_mode(c->stream, mode);
    unsigned turn = 4 * (unsigned)mode + way;
    int by_launch = (way + (unsigned)mode) % 2 != 0, sets = turn % 4 != 3;

    clear_words(s);
    if (error == cudaSuccess && by_launch)
        error = late_work(s, LATE_EVENT, c->stream);
    if (error == cudaSuccess)
        error = by_launch ? cudaStreamWaitEvent(c->side, c->event, 0) : record_and_await(c->event, c->stream, c->side);
    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    ask_expect(c->ask, "a capture of two streams", error, cudaSuccess);
    if (sets)
        ask_expect(c->ask, "dependencies in a capture that is then spoiled", leave_half(c, turn), cudaSuccess);
    ask_expect_refusal(c->ask, ways[way], spoil(c, way));
    ask_late_works(s, ways[way], 0);
    ask_late_works(s, ways[way], 1);
    ask_expect(c->ask, "the end of a spoiled capture", cudaStreamEndCapture(c->stream, &graph), cudaErrorStreamCaptureInvalidated);
    ask_expect_number(c->ask, "a graph came of a spoiled capture", graph != NULL, 0);
    expect_set(s, "the words that refused work sets", 0);
    if (turn % 4 / 2) /* else the event is captured first */
        ask_in_order(s, turn, "order of work in streams of a spoiled capture, after its end");
    ask_halves_gone(c);
    ask_event_captured_again(c);
    ask_works_again(s, c->stream, "work in the first stream of a spoiled capture, after its end");
    ask_works_again(s, c->side, "work in the other stream of a spoiled capture, after its end");
    ask_captured_again(s);
    ask_in_order(s, turn, "order of work in streams of a capture whose graph was destroyed");
}

static void ask_spoiled(struct ask *ask)
{
    struct spoiled s = PDL_ZERO;
    char *device = NULL;
    unsigned i;
    cudaError_t error = open_capture(&s.c, ask);

    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&s.words, (LATE_WORKS + 1) * sizeof(uint32_t), cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer((void **)&device, s.words, 0);
    if (error == cudaSuccess && !open_room(&s.room, &s.order))
        error = cudaErrorMemoryAllocation;
    ask_expect(ask, "streams, an event and pinned memory", error, cudaSuccess);
    if (error != cudaSuccess)
        return;
    for (i = 0; i <= LATE_WORKS; i++)
        s.args[i].data = (uint32_t *)(void *)device + i;
    for (i = 0; i < 4 * MODES; i++)
        ask_spoiled_by(&s, i % 4, (enum cudaStreamCaptureMode)(i / 4));
    (void)cudaDeviceSynchronize();
    (void)cudaFreeHost(s.words);
    (void)cudaFreeHost(s.room);
    close_capture(&s.c);
}

#endif
