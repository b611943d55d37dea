/* capture_settings.h - the part of the pair depends of capture_calls.cu with launches that record an event: captured in each mode, in streams of
 * several kinds, into a graph, a child graph, a body or none, with other attributes before the event or after it. */
#ifndef CAPTURE_SETTINGS_H_INCLUDED
#define CAPTURE_SETTINGS_H_INCLUDED

#define SETTING_STREAMS 3u     /* one of the case's, the per-thread default stream, one of the greatest priority */
#define DRESSES (7u + HINT_KINDS)   /* what a launch carries beside its event; prime to the other numbers, so that all meet */
#define AGAIN_EACH 5u          /* in which a second stream waits, too; prime to the other numbers as well */
#define SETTINGS (SETTING_STREAMS * MODES * DRESSES * 4)

struct settings {
    const struct capture *capture;
    cudaStream_t stream[SETTING_STREAMS], third;
    cudaEvent_t event[2];      /* the second one for hosts that sleep */
    unsigned wrong;
};

/* Devices may refuse it. */
static int is_hint(unsigned dress) { return dress >= DRESSES - HINT_KINDS; }

/* The attributes beside the event's. */
static unsigned dress_launch(unsigned dress, int priority, cudaLaunchAttribute *attrs)
{
    unsigned count = 0;

    if (dress == 1 || dress == 6)
        attrs[count++] = serialization(1);
    if (dress == 2 || dress == 6)
        attrs[count++] = cooperatively();
    if (dress == 3)
        attrs[count++] = in_clusters(2);
    if (dress == 4 || dress == 6)
        attrs[count++] = in_remote_domain();
    if (dress == 5)
        attrs[count++] = of_priority(priority);
    if (dress == 6)
        memset(&attrs[count++], 0, sizeof(*attrs)); /* is ignored */
    if (is_hint(dress))
        attrs[count++] = nth_hint(dress - (DRESSES - HINT_KINDS));
    return count;
}

static int has_attribute(cudaGraphNode_t node, const cudaLaunchAttribute *wanted)
{
    cudaLaunchAttributeValue is;

    memset(&is, 0x5A, sizeof(is));
    if (wanted->id == cudaLaunchAttributeProgrammaticStreamSerialization || wanted->id == cudaLaunchAttributeIgnore)
        return 1;
    if (cudaGraphKernelNodeGetAttribute(node, wanted->id, &is) != cudaSuccess)
        return 0;
    switch (wanted->id) {
    case cudaLaunchAttributeCooperative: return is.cooperative == 1;
    case cudaLaunchAttributeClusterDimension: return is.clusterDim.x == 2 && is.clusterDim.y == 1 && is.clusterDim.z == 1;
    case cudaLaunchAttributeMemSyncDomain: return is.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeMemSyncDomainMap:
        return memcmp(&is.memSyncDomainMap, &wanted->val.memSyncDomainMap, sizeof(is.memSyncDomainMap)) == 0;
    default: return is.priority == wanted->val.priority;
    }
}

/* Two blocks that record the event, before their other attributes or after them. */
static cudaError_t launch_dressed(cudaStream_t stream, const cudaLaunchAttribute *event, const cudaLaunchAttribute *others, unsigned count,
                                  int event_first)
{
    static const struct kernel_args args = PDL_ZERO;
    cudaLaunchAttribute attrs[8];

    memcpy(attrs + (event_first ? 1 : 0), others, count * sizeof(*others));
    attrs[event_first ? 0 : count] = *event;
    return launch_blocks((const void *)SYMBOL(capture_calls_nothing), &args, 2, 1, stream, attrs, count + 1);
}

static cudaError_t begin_side(const struct capture *c, cudaStream_t stream, struct depends *work)
{
    cudaError_t error = record_and_await(c->event, stream, c->side);

    if (error == cudaSuccess)
        error = launch_nothing(c->side);
    return error == cudaSuccess ? read_depends(c->side, work) : error;
}

/* Another stream waits for the event, too, and comes back. */
static cudaError_t await_again(struct settings *s, cudaEvent_t event, cudaStream_t stream, const struct depends *want)
{
    struct depends is = PDL_ZERO;
    cudaError_t error = cudaStreamWaitEvent(s->third, event, 0);

    if (error == cudaSuccess)
        error = read_depends(s->third, &is);
    if (error == cudaSuccess)
        error = launch_nothing(s->third);
    s->wrong += !same_depends(&is, want);
    return error == cudaSuccess ? record_and_await(s->capture->event, s->third, stream) : error;
}

/* The side stream, which has no work or a kernel of its own by then, waits for the event: it comes after the launch by a programmatic edge, and so
 * does, in some of them, a second stream. The node has the launch's attributes, and the stream's priority, unless the launch has one of its own, as a
 * circumstance may give it. */
static cudaError_t capture_dressed(struct settings *s, unsigned i, cudaStream_t stream)
{
    int at_start = i / (SETTINGS / 4) % 2 != 0, priority = 0, greatest = 0;
    cudaEvent_t event = s->event[i / (SETTINGS / 2)];
    cudaLaunchAttribute others[6], own = of_priority(0), around = of_priority(-1), recorder = recording_at(event, at_start);
    struct depends launched = PDL_ZERO, side = PDL_ZERO, own_work = PDL_ZERO, want = PDL_ZERO;
    unsigned count, k;
    cudaError_t error = cudaStreamGetPriority(stream, &priority);

    if (error == cudaSuccess && i / 7 % 2)
        error = begin_side(s->capture, stream, &own_work);
    if (error == cudaSuccess)
        error = cudaDeviceGetStreamPriorityRange(NULL, &greatest);
    count = dress_launch(i % DRESSES, greatest, others);
    own.val.priority = i % DRESSES == 5 ? greatest : priority;
    if (error == cudaSuccess)
        error = launch_dressed(stream, &recorder, others, count, (int)(i / 2 % 2));
    if (error == cudaSuccess)
        error = read_depends(stream, &launched);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(s->capture->side, event, 0);
    if (error == cudaSuccess)
        error = read_depends(s->capture->side, &side);
    if (error != cudaSuccess)
        return error;
    want = launched;
    want.data[0] = edges_data(at_start ? 2 : 1, 0, 1);
    if (i % AGAIN_EACH == 0)
        error = await_again(s, event, stream, &want);
    want.node[1] = own_work.node[0];
    want.count += own_work.count; /* by full edges */
    if (is_hint(i % DRESSES) && others[0].id != cudaLaunchAttributeMemSyncDomainMap)
        count = 0; /* no document says what another hint is told as once it was captured */
    s->wrong += launched.count != 1 || !same_depends(&side, &want) ||
                (!has_attribute(launched.node[0], &own) && (i % DRESSES == 5 || !has_attribute(launched.node[0], &around)));
    for (k = 0; k < count; k++)
        s->wrong += !has_attribute(launched.node[0], &others[k]);
    return error;
}

/* What is captured into: a graph that the capture makes, or one that it is given: one by itself, a child graph, a body. */
enum place { PLACE_OWN, PLACE_GIVEN, PLACE_CHILD, PLACE_BODY, CAPTURE_PLACES };

static cudaError_t begin_in_place(cudaStream_t stream, enum place place, enum cudaStreamCaptureMode mode, cudaGraph_t *outer,
                                  cudaGraph_t *given)
{
    static const enum beginning in[CAPTURE_PLACES] = { BEGIN_PLAIN, BEGIN_PLAIN, BEGIN_IN_CHILD, BEGIN_IN_BODY };
    cudaError_t error = cudaSuccess;

    if (place == PLACE_OWN)
        return cudaStreamBeginCapture(stream, mode);
    error = cudaGraphCreate(outer, 0);
    if (error == cudaSuccess)
        error = graph_to_begin_in(in[place], *outer, given);
    return error == cudaSuccess ? cudaStreamBeginCaptureToGraph(stream, *given, NULL, NULL, 0, mode) : error;
}

/* "captured into graph, which will be returned via cudaStreamEndCapture"; until then it is told as what the stream captures into, by one id. */
static cudaError_t capture_setting(struct settings *s, unsigned i)
{
    cudaStream_t stream = s->stream[i % SETTING_STREAMS];
    enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)(i / SETTING_STREAMS % MODES);
    unsigned long long first = 0, second = 1;
    cudaGraph_t outer = NULL, given = NULL, graph = NULL, told = NULL;
    enum place place = (enum place)(i / SETTING_STREAMS % (has_conditions() ? CAPTURE_PLACES : PLACE_BODY));
    cudaError_t error = begin_in_place(stream, place, mode, &outer, &given), end;

    if (error != cudaSuccess) {
        (void)cudaGraphDestroy(outer);
        return error;
    }
    error = id_of(stream, &told, &first);
    if (error == cudaSuccess)
        error = capture_dressed(s, i, stream);
    if (error == cudaSuccess)
        error = launch_nothing(s->capture->side);
    if (error == cudaSuccess)
        error = record_and_await(s->capture->event, s->capture->side, stream);
    if (error == cudaSuccess)
        error = launch_nothing(stream);
    if (error == cudaSuccess)
        error = id_of(stream, NULL, &second);
    end = cudaStreamEndCapture(stream, &graph);
    error = error == cudaSuccess ? end : error;
    s->wrong += error == cudaSuccess && (first != second || told != graph || (given && graph != given));
    if (outer || graph)
        (void)cudaGraphDestroy(outer ? outer : graph);
    return error;
}

static void ask_settings(const struct capture *c)
{
    struct settings s = PDL_ZERO;
    int greatest = 0;
    unsigned i;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(NULL, &greatest);

    s.capture = c;
    s.stream[0] = c->stream;
    s.stream[1] = cudaStreamPerThread;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&s.stream[2], cudaStreamNonBlocking, greatest);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&s.third, cudaStreamNonBlocking);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&s.event[i], cudaEventDisableTiming | (i ? cudaEventBlockingSync : 0));
    for (i = 0; i < SETTINGS && error == cudaSuccess; i++) {
        error = capture_setting(&s, i);
        if (is_hint(i % DRESSES) && is_unoffered(error))
            error = cudaSuccess;
    }
    if (is_unoffered(error))
        ask_skip(c->ask, "captures of launches that record events", "such a launch is not offered here");
    else
        ask_expect(c->ask, "captures of launches that record events", error, cudaSuccess);
    ask_expect_none(c->ask, "captured launches without an attribute, an edge or a graph of theirs", s.wrong, i);
    for (i = 0; i < 2; i++)
        if (s.event[i])
            (void)cudaEventDestroy(s.event[i]);
    if (s.stream[2])
        (void)cudaStreamDestroy(s.stream[2]);
    if (s.third)
        (void)cudaStreamDestroy(s.third);
}

#endif
