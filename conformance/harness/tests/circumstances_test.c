/* circumstances_test.c - that each circumstance is what it says: the calls that stand around the asker's own, in their order; that the asker is
 * told what its own call gave; that all is given back; and which cases are asked in which circumstances.
 */
#include <pthread.h>

#include "check.h"
#include "circumstances_asker.h"
#include "other_thread.h"

/* ---- what suits ---- */

static struct case_info info = { .family = "kept", .pair = "copies" };

static int suits(const char *family, const char *pair, enum circumstance circumstance, unsigned calls)
{
    info.family = family;
    info.pair = pair;
    return circumstance_suits(&info, circumstance, calls);
}

/* In which circumstances a case is asked that makes every call but those with conditions, a bit each. */
static unsigned suiting(const char *family, const char *pair)
{
    unsigned found = 0, i;

    for (i = 0; i < CIRCUMSTANCES; i++)
        found |= suits(family, pair, (enum circumstance)i, ~(unsigned)CALLED_CONDITION) ? 1u << i : 0;
    return found;
}

#define BIT(circumstance) (1u << (circumstance))
#define EACH (BIT(CIRCUMSTANCES) - 1 - BIT(ALONE))

static const struct {
    const char *family, *pair;
    unsigned suiting;
} suited[] = {
    { "joins", "streams", EACH }, { "apart", "waits", 0 }, { "crowds", "large", 0 }, { "programs", "drawn", 0 },
    { "capture_calls", "told", EACH & ~BIT(GIVEN) }, { "capture", "early_join", EACH & ~BIT(JOINED) }, { "capture", "told", EACH },
    { "event_answers", "told", EACH & ~BIT(AGED) }, { "event_answers", "busy", EACH }, { "early_join", "capture", EACH },
    { "kept", "declined", EACH & ~BIT(AGED) & ~BIT(LAYERED) }, { "kept", "copies", EACH & ~BIT(LAYERED) },
    { "last_error", "order", EACH & ~BIT(ASKED) & ~BIT(AGED) }, { "nested", "launches", EACH & ~BIT(LAYERED) }, { "nested", "told", EACH },
    { "given", "sets", EACH & ~BIT(DRESSED) }, { "limits", "blocks", EACH & ~BIT(DRESSED) }, { "cooperative", "at_once", EACH & ~BIT(DRESSED) },
    { "readback", "nodes", EACH & ~BIT(LAYERED) }, { "readback", "edges", EACH }, { "crowds_more", "large", EACH }, { "crowd", "large", EACH },
};

static const struct {
    unsigned call, changed;
} changing[] = {
    { 0, 0 },
    { CALLED_GRAPH, BIT(EARLY) | BIT(IN_CLONE) },
    { CALLED_EXEC, BIT(SECOND) | BIT(CLONED) | BIT(UPDATED) | BIT(REFUSED_UPDATE) },
    { CALLED_CAPTURE, BIT(GIVEN) | BIT(BESIDE) | BIT(JOINED) },
    { CALLED_COPY, BIT(LAYERED) },
    { CALLED_WAIT, BIT(ASKED) },
    { CALLED_MAKE, BIT(AGED) },
    { CALLED_LAUNCH, BIT(DRESSED) },
    { CALLED_CONDITION, 0 },
    { CALLED_CONDITION | CALLED_GRAPH, BIT(EARLY) },
};

static void test_what_suits(void)
{
    unsigned i, circumstance, j;

    for (i = 0; i < sizeof(suited) / sizeof(suited[0]); i++)
        check(suiting(suited[i].family, suited[i].pair) == suited[i].suiting, suited[i].pair);
    for (i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
        for (circumstance = 0; circumstance < CIRCUMSTANCES; circumstance++)
            check(suits("joins", "streams", (enum circumstance)circumstance, changing[i].call) ==
                      (circumstance == IN_THREAD || (changing[i].changed & BIT(circumstance)) != 0),
                  "a circumstance suits what makes a call that it changes, and another thread everything");
    for (i = 0; i < CIRCUMSTANCES; i++)
        for (j = 0; j < CIRCUMSTANCES; j++)
            check(circumstance_name[i][0] && (i == j) == !strcmp(circumstance_name[i], circumstance_name[j]), "each has a name of its own");
}

static unsigned long long trials(const char *family, enum circumstance circumstance, unsigned long long alone)
{
    info.family = family;
    return circumstances_trials(&info, circumstance, alone);
}

static void test_trials(void)
{
    check(trials("joins", SECOND, 400) == 100, "a quarter of the trials");
    check(trials("handed", SECOND, 1600) == 100 && trials("crossed_graphs", AGED, 1600) == 100, "of drawn ones a sixteenth");
    check(trials("joins", ALONE, 400) == 400 && trials("handed", ALONE, 1600) == 1600, "all of them alone");
    check(trials("joins", SECOND, 127) == 32 && trials("joins", SECOND, 128) == 32 && trials("joins", SECOND, 132) == 33, "no fewer than 32");
    check(trials("joins", SECOND, 31) == 31 && trials("joins", SECOND, 32) == 32 && trials("joins", SECOND, 33) == 32, "or than there are");
    check(trials("handed", SECOND, 7) == 7 && trials("joins", SECOND, 0) == 0, "and never more");
}

/* ---- the asker's own calls ---- */

static void test_alone(void)
{
    unsigned i, kinds = 0;

    for (i = 0; i < ASKED_CALLS; i++) {
        begin(ALONE);
        last_error = cudaErrorInvalidPtx;
        (void)asked[i].call();
        check(called(asked[i].calls), "alone a call is the one that it is");
        check(last_error == (asked[i].call == finish_it ? cudaErrorIllegalState : cudaErrorInvalidPtx), "and leaves the last error");
        captures_of[1] = 0;
        last_error = cudaErrorInvalidPtx;
        check(circumstances_end() == asked[i].kind && called("") && last_error == cudaErrorInvalidPtx, "its kind is told, and nothing called");
    }
    begin(ALONE);
    for (i = 0; i < ASKED_CALLS; i++) {
        (void)asked[i].call();
        kinds |= asked[i].kind;
    }
    check(circumstances_end() == kinds, "of several calls each kind is told");
    begin(SECOND);
    (void)create();
    check(circumstances_end() == CALLED_GRAPH, "as well in a circumstance");
    begin(ALONE);
    check(circumstances_end() == 0, "and forgotten at the next begin");
}

/* A capture whose end failed is over as well. */
static void is_over(unsigned of)
{
    unsigned began_in = captures_of[of], i;

    for (i = 0; i < OBJECTS; i++)
        captures_of[i] = captures_of[i] == began_in ? 0 : captures_of[i];
}

static void test_failure(enum circumstance circumstance, cudaError_t (*call)(void), const char *fails)
{
    begin(circumstance);
    if (call == finish_it)
        (void)begin_capture();
    fail_in(fails, circumstance == BESIDE && call == begin_capture ? 2 : 1, call == finish_it ? 1 : ~0u);
    check(call() == cudaErrorUnknown && last_error == cudaErrorUnknown, "a call that fails is told to have failed");
    failing = NULL;
    is_over(1);
    end();
    check(is_left(circumstance == GIVEN && call == finish_it ? 2 : 1, 0, 2, 1), "and leaves nothing behind, but a given graph");
}

/* What the asker is told of a call that fails is what that one gave, the last error too. */
static void test_failures(void)
{
    unsigned circumstance, i;

    for (circumstance = 0; circumstance < CIRCUMSTANCES; circumstance++)
        for (i = 0; i < ASKED_CALLS; i++)
            test_failure((enum circumstance)circumstance, asked[i].call, asked[i].fails);
}

/* Nothing of what stands around is seen when it fails: of the call that is named that one fails. */
static const struct {
    enum circumstance circumstance;
    cudaError_t (*call)(void);
    const char *fails;
    unsigned which;
} lacking[] = {
    { SECOND, exec, "exec", 1 }, { SECOND, exec, "exec", 2 }, { CLONED, exec, "clone", 1 }, { UPDATED, exec, "update", 1 },
    { REFUSED_UPDATE, exec, "update", 1 }, { REFUSED_UPDATE, exec, "create", 1 }, { REFUSED_UPDATE, exec, "empty", 1 },
    { REFUSED_UPDATE, exec, "empty", 2 }, { EARLY, create, "empty", 1 }, { EARLY, create, "empty", 2 }, { EARLY, create, "exec", 1 },
    { IN_CLONE, create, "clone", 1 }, { IN_CLONE, create, "clone", 2 }, { GIVEN, begin_capture, "exec", 1 },
    { GIVEN, begin_capture, "clone", 1 }, { BESIDE, begin_capture, "stream", 1 }, { JOINED, begin_capture, "stream", 1 },
    { JOINED, begin_capture, "event", 1 }, { AGED, create_event, "stream", 1 }, { AGED, create_event, "record", 1 },
    { AGED, create_event, "wait", 1 }, { AGED, create_stream, "event", 1 }, { AGED, create_stream, "stream", 2 },
    { AGED, create_stream, "record", 1 },
};

static void test_lacks(void)
{
    unsigned i;

    for (i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
        begin(lacking[i].circumstance);
        fail_in(lacking[i].fails, lacking[i].which, 1);
        check(lacking[i].call() == cudaSuccess && failing_calls >= lacking[i].which, lacking[i].fails);
        check(last_error == cudaSuccess, "no error is seen");
        check(lacking[i].circumstance != EARLY || count_alive(NODE) == 0, "nor a node");
        failing = NULL;
        if (lacking[i].call == begin_capture)
            check(finish(stream) == cudaSuccess, "a capture ends that lacked what stands around it");
        end();
        check(is_left(1, 0, 2, 1), "what lacks something leaves nothing behind");
    }
}

/* ---- graphs ---- */

static const struct {
    enum circumstance circumstance;
    cudaError_t (*call)(void);
    const char *calls, *ends;
} around_graphs[] = {
    { SECOND, exec, "exec x1 g1 0; exec x2 g1 2; ", "end; gone x1; " },
    { CLONED, exec, "clone g2 g1; exec x1 g1 2; ", "end; gone g2; " },
    { UPDATED, exec, "exec x1 g1 2; update x1 g1; ", "end; " },
    { REFUSED_UPDATE, exec, "exec x1 g1 2; create g2 0; empty g2 after 0 n0: n1; empty g2 after 0 n0: n2; update x1 g2; gone g2; ", "end; " },
    { EARLY, exec, "exec x1 g1 2; ", "end; " },
    { EARLY, create,
      "create g2 3; mode 2; empty g2 after 0 n0: n1; empty g2 after 1 n1: n2; exec x1 g2 0; gone x1; gone n1; gone n2; mode 0; ", "end; " },
    { IN_CLONE, create, "create g2 3; clone g3 g2; clone g4 g3; ", "end; gone g2; gone g4; " },
    { CLONED, create, "create g2 3; ", "end; " },
};

static void test_graphs(void)
{
    cudaGraphExec_t executable;
    cudaGraph_t own;
    unsigned i;

    for (i = 0; i < sizeof(around_graphs) / sizeof(around_graphs[0]); i++) {
        begin(around_graphs[i].circumstance);
        check(around_graphs[i].call() == cudaSuccess && called(around_graphs[i].calls), circumstance_name[around_graphs[i].circumstance]);
        check(last_error == cudaSuccess, "nothing is left in the last error");
        end();
        check(called(around_graphs[i].ends) && is_left(1, 0, 2, 1), "what stood around is given back when all has ended");
        check(around_graphs[i].call() == cudaSuccess && strchr(calls_made, ';')[2] == '\0', "then a call is alone again");
    }
    begin(IN_CLONE);
    check(around_graph_create(&own, 0) == cudaSuccess && number_of(GRAPH, own) == 3, "the asker has the clone");
    begin(SECOND);
    check(around_instantiate(&executable, graph, 2) == cudaSuccess && number_of(EXEC, executable) == 2, "the asker has the second one");
    begin(SECOND);
    fail_in("exec", 2, 1);
    check(around_instantiate(&executable, graph, 2) == cudaSuccess, "of some graphs there is one at a time");
    check(called("exec x1 g1 0; exec fails; gone x1; exec x2 g1 2; "), "then the first one goes");
    fail_in("exec", 1, 1);
    check(exec() == cudaSuccess && called("exec fails; exec x3 g1 2; "), "others cannot be had with other flags");
}

/* What succeeds leaves the asker an error that was there before. */
static void test_errors_before(void)
{
    static const enum circumstance quiet[] = { SECOND, CLONED, UPDATED, IN_CLONE };
    unsigned i;

    for (i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
        begin(quiet[i]);
        last_error = cudaErrorInvalidPtx;
        check(create() == cudaSuccess && exec() == cudaSuccess && last_error == cudaErrorInvalidPtx, "the last error is left");
    }
    begin(EARLY);
    (void)begin_capture();
    check(create() == cudaSuccess && misused == 0, "what stands around makes no call that a capture forbids");
}

static cudaError_t capture(void)
{
    cudaError_t error = begin_capture();

    return error == cudaSuccess ? finish(stream) : error;
}

/* However many a question makes, nothing is lost. */
static void test_many(void)
{
    static const struct {
        enum circumstance circumstance;
        cudaError_t (*call)(void);
        unsigned execs, graphs;
    } many[] = { { SECOND, exec, KEPT, 1 }, { CLONED, exec, 0, KEPT + 1 }, { IN_CLONE, create, 0, KEPT + 1 }, { GIVEN, capture, KEPT, KEPT + 1 } };
    unsigned i, j;

    for (i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        begin(many[i].circumstance);
        for (j = 0; j < KEPT + 3; j++)
            (void)many[i].call();
        check(count_alive(EXEC) == many[i].execs && count_alive(GRAPH) == many[i].graphs, "as many as there is room for are kept");
        end();
        check(is_left(1, 0, 2, 1), "and given back with those for which there is none");
    }
}

#include "circumstances_captured.h"

/* ---- copies ---- */

static const struct {
    cudaError_t (*call)(size_t bytes);
    size_t bytes;
    const char *calls;
} layered[] = {
    { copy, 48, "layers s1: 0x1000>0x2000 12x2x2 12,2>12,2 1; " }, { copy, 4, "layers s1: 0x1000>0x2000 1x2x2 1,2>1,2 1; " },
    { copy, 2, "copy s1: 0x1000>0x2000 2 1; " }, { copy, 6, "copy s1: 0x1000>0x2000 6 1; " }, { copy, 0, "copy s1: 0x1000>0x2000 0 1; " },
    { set, 48, "set s1: 0x2000 5 24x2 24; " }, { set, 6, "set s1: 0x2000 5 6; " }, { set, 0, "set s1: 0x2000 5 0; " },
    { add_copy, 48, "layers g1 after 1 n9: 0x1000>0x2000 12x2x2 12,2>12,2 4; " },
    { add_copy, 6, "copy g1 after 1 n9: 0x1000>0x2000 6 4; " }, { add_copy, 0, "copy g1 after 1 n9: 0x1000>0x2000 0 4; " },
};

static void test_layers(void)
{
    cudaGraphNode_t node;
    unsigned i;

    for (i = 0; i < sizeof(layered) / sizeof(layered[0]); i++) {
        begin(LAYERED);
        check(layered[i].call(layered[i].bytes) == cudaSuccess && called(layered[i].calls), "copies have layers, memsets rows, if they can");
        check(circumstances_end() == CALLED_COPY && is_left(1, 0, 2, 1), "and are told");
    }
    begin(LAYERED);
    check(add_set(6, 1) == cudaSuccess && called("set g1 after 1 n9: 0x2000 5 of 2 3x2 6; "), "a node of an even width has two rows");
    check(add_set(3, 1) == cudaSuccess && called("set g1 after 1 n9: 0x2000 5 of 2 3x1 100; "), "one of an odd width has not");
    check(add_set(6, 3) == cudaSuccess && called("set g1 after 1 n9: 0x2000 5 of 2 6x3 100; "), "nor one that has rows");
    check(add_set(0, 1) == cudaSuccess && called("set g1 after 1 n9: 0x2000 5 of 2 0x1 100; "), "nor one of nothing");
    check(around_add_memset_node(&node, graph, NULL, 0, NULL) == cudaErrorInvalidValue, "what has no parameters is refused as ever");
    begin(SECOND);
    check(copy(48) == cudaSuccess && called("copy s1: 0x1000>0x2000 48 1; "), "in other circumstances they are what they are");
}

/* ---- launches ---- */

/* So many attributes, of which the last one has this id; those before it are of attribute 6. */
static cudaError_t launch(size_t shared_bytes, unsigned count, cudaLaunchAttributeID last)
{
    static cudaLaunchAttribute attrs[20];
    cudaLaunchConfig_t config = { 0 };
    unsigned i;

    for (i = 0; i < 20; i++) {
        attrs[i].id = i + 1 == count ? last : cudaLaunchAttributeProgrammaticStreamSerialization;
        attrs[i].val.priority = 1;
    }
    config.stream = stream;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = attrs;
    config.numAttrs = count;
    return around_launch(&config, (void *)0x3000, NULL);
}

static cudaError_t add_kernel(unsigned shared_bytes)
{
    struct cudaKernelNodeParams params = { 0 };
    cudaGraphNode_t node, after = handle_of(NODE, 9);

    params.func = (void *)0x3000;
    params.sharedMemBytes = shared_bytes;
    return around_add_kernel_node(&node, graph, &after, 1, &params);
}

static void test_dressed(void)
{
    cudaGraphNode_t node;

    begin(DRESSED);
    check(launch(0, 0, 0) == cudaSuccess && called("launch 0x3000 s1 1024; "), "a kernel has shared memory");
    check(launch(64, 1, 6) == cudaSuccess && called("launch 0x3000 s1 64 6:1 8:-1; "), "or its own, and beside attributes a priority");
    check(launch(0, 2, 8) == cudaSuccess && called("launch 0x3000 s1 1024 6:1 8:1; "), "or its own");
    check(launch(0, 15, 6) == cudaSuccess && strstr(calls_made, " 8:-1; ") != NULL, "as long as there is room");
    forget_calls();
    check(launch(0, 16, 6) == cudaSuccess && strstr(calls_made, " 8:-1; ") == NULL, "and no longer");
    forget_calls();
    check(add_kernel(0) == cudaSuccess && called("kernel g1 after 1 n9: 0x3000 1024; "), "a node has shared memory");
    check(add_kernel(64) == cudaSuccess && called("kernel g1 after 1 n9: 0x3000 64; "), "or its own");
    check(around_launch(NULL, NULL, NULL) == cudaErrorInvalidValue, "a launch of nothing is refused as ever");
    check(around_add_kernel_node(&node, graph, NULL, 0, NULL) == cudaErrorInvalidValue, "and a node of nothing");
    fail_in("launch", 1, 1);
    check(launch(0, 1, 6) == cudaErrorUnknown, "an error is told");
    check(circumstances_end() == CALLED_LAUNCH, "and launches are");
    begin(LAYERED);
    check(launch(0, 1, 6) == cudaSuccess && called("launch 0x3000 s1 0 6:1; "), "in other circumstances launches are what they are");
    check(add_kernel(0) == cudaSuccess && called("kernel g1 after 1 n9: 0x3000 0; "), "and nodes");
}

/* ---- waits, streams and events ---- */

#define QUESTIONS "flags s1; priority s1; attribute 8 s1; callback s1 1; rows s1 +1 1 1 2x2 0; query e1; query s1; "

static void test_questions(void)
{
    begin(ASKED);
    thread_mode = cudaStreamCaptureModeThreadLocal;
    check(await() == cudaSuccess && called("wait s1 e1 1; mode 2; " QUESTIONS "mode 1; "), "after a wait there are questions and refusals");
    check(last_error == cudaSuccess && thread_mode == cudaStreamCaptureModeThreadLocal, "which leave no error");
    (void)cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
    forget_calls();
    check(await() == cudaSuccess && called("wait s1 e1 1; mode 2; " QUESTIONS "mode 1; ") && misused == 0, "while another stream captures, too");
    check(around_wait_event(side, event, 0) == cudaSuccess && called("wait s2 e1 0; mode 2; mode 1; "), "but not of one that captures");
    check(around_wait_event(cudaStreamLegacy, event, 0) == cudaSuccess && called("wait s4001 e1 0; mode 2; mode 1; ") && last_error == cudaSuccess,
          "nor of the legacy stream then");
    fail_in("wait", 1, 1);
    check(await() == cudaErrorUnknown && called("wait fails; ") && last_error == cudaErrorUnknown, "nor after a wait that was refused");
    begin(AGED);
    check(await() == cudaSuccess && called("wait s1 e1 1; "), "nor in another circumstance");
}

static void test_aged(void)
{
    begin(AGED);
    thread_mode = cudaStreamCaptureModeThreadLocal;
    check(create_event() == cudaSuccess, "a new event");
    check(called("event e2 2; mode 2; stream s3 1; record e2 s3; wait s3 e2 0; end s3; mode 1; "), "has been recorded and awaited");
    check(create_stream() == cudaSuccess, "a new stream");
    check(called("stream s4 1; event e3 2; mode 2; record e3 s4; wait s3 e3 0; end s3; mode 1; gone e3; "), "has recorded an event");
    check(last_error == cudaSuccess, "nothing is left in the last error");
    thread_mode = cudaStreamCaptureModeGlobal;
    end();
    check(called("end; gone s3; ") && is_left(1, 0, 2, 1), "all is given back");
    begin(ASKED);
    check(create_event() == cudaSuccess && called("event e2 2; "), "in another circumstance an event is new");
    check(create_stream() == cudaSuccess && called("stream s3 1; "), "and a stream");
}

static void test_plainly_made(void)
{
    cudaStream_t new_stream;
    cudaEvent_t new_event;

    begin(ASKED);
    check(around_stream_create(&new_stream, cudaStreamDefault) == cudaSuccess && called("plain stream s3 0; "), "a stream is made without flags");
    check(around_event_create(&new_event, cudaEventDefault) == cudaSuccess && called("event e2 0; "), "what comes next, by the call with flags");
    check(create_stream() == cudaSuccess && called("stream s4 1; "), "flags are given on");
    check(around_event_create(&new_event, cudaEventDefault) == cudaSuccess && called("plain event e3 0; "), "an event is made without them, too");
    check(around_stream_create(&new_stream, cudaStreamDefault) == cudaSuccess && called("stream s5 0; "), "and what comes next, with them");
}

/* ---- another thread ---- */

struct seen {
    unsigned runs;
    int device;
    pthread_t thread;
};

static void look(void *of)
{
    struct seen *seen = of;

    seen->runs++;
    seen->thread = pthread_self();
    (void)cudaGetDevice(&seen->device);
}

static int no_thread;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *of);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *of);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *of)
{
    return no_thread ? 11 : __real_pthread_create(thread, how, run, of);
}

/* It has run once, here or elsewhere, on the third device. */
static int has_run(const struct seen *seen, int here)
{
    return seen->runs == 1 && seen->device == 3 && !pthread_equal(seen->thread, pthread_self()) == !here;
}

static void test_thread(void)
{
    struct seen seen = { 0 }, other[3] = { { 0 } };
    unsigned i;

    begin(IN_THREAD);
    device = 3;
    circumstances_run(look, &seen);
    check(has_run(&seen, 0), "another thread asks, on the same device");
    for (i = 0; i < 3; i++) {
        fail_in(i == 0 ? "set device" : "get device", 1, i != 2);
        no_thread = i == 2;
        check(!run_in_thread(look, &other[i]) && other[i].runs == 0, "without a thread, or its device, none is said to have asked");
        failing_calls = 0;
        circumstances_run(look, &other[i]);
        check(other[i].runs == 1 && pthread_equal(other[i].thread, pthread_self()), "but this one asks, once");
    }
    no_thread = 0;
    end();
    memset(&seen, 0, sizeof(seen));
    begin(SECOND);
    circumstances_run(look, &seen);
    check(has_run(&seen, 1), "in another circumstance this thread asks");
}

int main(void)
{
    test_what_suits();
    test_trials();
    test_alone();
    test_failures();
    test_lacks();
    test_graphs();
    test_errors_before();
    test_many();
    test_given();
    test_beside();
    test_refused_ends(cudaErrorStreamCaptureWrongThread);
    test_refused_ends(cudaErrorInvalidValue);
    test_spoiled_other();
    test_joined();
    test_not_joined();
    test_layers();
    test_dressed();
    test_questions();
    test_aged();
    test_plainly_made();
    test_thread();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
