/* scripts.h - what capture.cu captures: launches of every kind, and the scripts made of them.
 *
 * P is the first kernel, D the second, M one between them.
 */
#ifndef SCRIPTS_H_INCLUDED
#define SCRIPTS_H_INCLUDED

#include "graph_ask.h"
#include "kernel.h"
#include "launch_attributes.h"

KERNEL(capture_p) { (void)args; }
KERNEL(capture_m) { (void)args; }
KERNEL(capture_d) { (void)args; }

struct studio {                  /* what a script captures with */
    cudaStream_t stream, side;
    cudaEvent_t fork, join, released;
    uint32_t *words;
};

#define P ((const void *)SYMBOL(capture_p))
#define M ((const void *)SYMBOL(capture_m))
#define D ((const void *)SYMBOL(capture_d))

static int open_studio(struct ask *ask, struct studio *s)
{
    s->stream = ask->stream;
    s->side = ask->side;
    if (cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming) == cudaSuccess &&
        cudaEventCreateWithFlags(&s->join, cudaEventDisableTiming) == cudaSuccess &&
        cudaEventCreateWithFlags(&s->released, cudaEventDisableTiming) == cudaSuccess &&
        cudaMalloc((void **)&s->words, 64) == cudaSuccess)
        return 1;
    ask_skip(ask, "events and memory", "none were given");
    return 0;
}

static void close_studio(struct studio *s)
{
    (void)cudaEventDestroy(s->fork);
    (void)cudaEventDestroy(s->join);
    (void)cudaEventDestroy(s->released);
    (void)cudaFree(s->words);
}

/* ---- launching ---- */

static cudaError_t launch_with(const void *function, cudaStream_t stream, cudaLaunchAttribute *attrs, unsigned count)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(function == P ? 1 : function == M ? 2 : 3, stream); /* letter() tells them by the threads */
    void *params[1];

    params[0] = &args;
    config.attrs = attrs;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, function, params);
}

static cudaError_t launch_plain(const void *function, cudaStream_t stream) { return launch_with(function, stream, NULL, 0); }

static cudaError_t launch_attr(const void *function, cudaStream_t stream, int value)
{
    cudaLaunchAttribute attribute = serialization(value);

    return launch_with(function, stream, &attribute, 1);
}

static cudaError_t launch_event(const void *function, cudaStream_t stream, cudaEvent_t event, int at_start, int flags)
{
    cudaLaunchAttribute attribute = recording_at(event, at_start);

    attribute.val.programmaticEvent.flags = flags;
    return launch_with(function, stream, &attribute, 1);
}

static cudaError_t launch_completion(const void *function, cudaStream_t stream, cudaEvent_t event, int flags)
{
    cudaLaunchAttribute attribute = recording_begin(event);

    attribute.val.launchCompletionEvent.flags = flags;
    return launch_with(function, stream, &attribute, 1);
}

#define TRY(call)                  \
    do {                           \
        cudaError_t e_ = (call);   \
        if (e_ != cudaSuccess)     \
            return e_;             \
    } while (0)

static cudaError_t join(const struct studio *s)
{
    TRY(cudaEventRecord(s->join, s->side));
    return cudaStreamWaitEvent(s->stream, s->join, 0);
}

/* ---- the scripts: each is captured from the stream s->stream, and leaves every other stream joined ---- */

static cudaError_t plain(const struct studio *s) { TRY(launch_plain(P, s->stream)); return launch_plain(D, s->stream); }
static cudaError_t attribute_one(const struct studio *s) { TRY(launch_plain(P, s->stream)); return launch_attr(D, s->stream, 1); }
static cudaError_t attribute_zero(const struct studio *s) { TRY(launch_plain(P, s->stream)); return launch_attr(D, s->stream, 0); }

/* "to non-0": whatever number that is */
#define OTHER_NUMBER 3
#define HIGH_NUMBER 256          /* its lowest byte is 0 */
static cudaError_t attribute_other(const struct studio *s) { TRY(launch_plain(P, s->stream)); return launch_attr(D, s->stream, OTHER_NUMBER); }
static cudaError_t attribute_high(const struct studio *s) { TRY(launch_plain(P, s->stream)); return launch_attr(D, s->stream, HIGH_NUMBER); }

static cudaError_t attribute_both(const struct studio *s)
{
    TRY(launch_attr(P, s->stream, 1));
    return launch_attr(D, s->stream, 1);
}

static cudaError_t through_record(const struct studio *s)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaEventRecord(s->fork, s->stream));
    return launch_attr(D, s->stream, 1);
}

/* P records the event with its launch; D in the side stream waits for it. */
static cudaError_t behind_event(const struct studio *s, int kind, int attribute)
{
    TRY(kind == 2 ? launch_completion(P, s->stream, s->released, 0) : launch_event(P, s->stream, s->released, kind, 0));
    TRY(cudaStreamWaitEvent(s->side, s->released, 0));
    TRY(attribute ? launch_attr(D, s->side, 1) : launch_plain(D, s->side));
    return join(s);
}

static cudaError_t at_trigger(const struct studio *s) { return behind_event(s, 0, 0); }
static cudaError_t at_start(const struct studio *s) { return behind_event(s, 1, 0); }
static cudaError_t at_start_other(const struct studio *s) { return behind_event(s, OTHER_NUMBER, 0); }
static cudaError_t at_start_high(const struct studio *s) { return behind_event(s, HIGH_NUMBER, 0); }
static cudaError_t at_completion(const struct studio *s) { return behind_event(s, 2, 0); }
static cudaError_t at_trigger_attr(const struct studio *s) { return behind_event(s, 0, 1); }
static cudaError_t at_start_attr(const struct studio *s) { return behind_event(s, 1, 1); }
static cudaError_t at_completion_attr(const struct studio *s) { return behind_event(s, 2, 1); }

static cudaError_t fork_into(const struct studio *s, cudaStream_t stream)
{
    TRY(cudaEventRecord(s->fork, s->stream));
    return cudaStreamWaitEvent(stream, s->fork, 0);
}

/* P, in the stream of origin or in the side stream that has joined, records the event with its launch; D comes after it in another one that
 * has joined, or that of origin. */
static cudaError_t between(const struct studio *s, cudaStream_t first, cudaStream_t second, int at_start)
{
    TRY(launch_event(P, first, s->released, at_start, 0));
    TRY(cudaStreamWaitEvent(second, s->released, 0));
    return launch_plain(D, second);
}

static cudaError_t of_fork(const struct studio *s, int starts)
{
    TRY(fork_into(s, s->side));
    TRY(between(s, s->side, s->stream, starts));
    return join(s);
}

static cudaError_t into_fork(const struct studio *s, int starts)
{
    TRY(fork_into(s, s->side));
    TRY(between(s, s->stream, s->side, starts));
    return join(s);
}

/* The side stream and the per-thread one. */
static cudaError_t join_both(const struct studio *s)
{
    TRY(join(s));
    TRY(cudaEventRecord(s->fork, cudaStreamPerThread));
    return cudaStreamWaitEvent(s->stream, s->fork, 0);
}

static cudaError_t across_forks(const struct studio *s, int starts)
{
    TRY(fork_into(s, s->side));
    TRY(fork_into(s, cudaStreamPerThread));
    TRY(between(s, s->side, cudaStreamPerThread, starts));
    return join_both(s);
}

static cudaError_t of_fork_at_trigger(const struct studio *s) { return of_fork(s, 0); }
static cudaError_t of_fork_at_start(const struct studio *s) { return of_fork(s, 1); }
static cudaError_t into_fork_at_trigger(const struct studio *s) { return into_fork(s, 0); }
static cudaError_t into_fork_at_start(const struct studio *s) { return into_fork(s, 1); }
static cudaError_t across_forks_at_trigger(const struct studio *s) { return across_forks(s, 0); }
static cudaError_t across_forks_at_start(const struct studio *s) { return across_forks(s, 1); }

/* D waits for an ordinary event of a stream that has only waited for P's programmatic one. */
static cudaError_t relayed(const struct studio *s, int at_start)
{
    TRY(launch_event(P, s->stream, s->released, at_start, 0));
    TRY(cudaStreamWaitEvent(s->side, s->released, 0));
    TRY(cudaEventRecord(s->fork, s->side));
    TRY(cudaStreamWaitEvent(cudaStreamPerThread, s->fork, 0));
    TRY(launch_plain(D, cudaStreamPerThread));
    return join_both(s);
}

static cudaError_t relayed_at_trigger(const struct studio *s) { return relayed(s, 0); }
static cudaError_t relayed_at_start(const struct studio *s) { return relayed(s, 1); }

/* The stream that waits for P's event comes after M as well: after M in that stream, or after the event that M's launch or a call records in a
 * third one, which it waits for first or last. */
enum beside { BESIDE_OWN, BESIDE_ORDINARY, BESIDE_LATER, BESIDE_LAUNCH, BESIDE_LAUNCH_LATER };

static cudaError_t after_both(const struct studio *s, enum beside how, int at_start)
{
    int by_launch = how == BESIDE_LAUNCH || how == BESIDE_LAUNCH_LATER, later = how == BESIDE_LATER || how == BESIDE_LAUNCH_LATER;
    cudaStream_t other = how == BESIDE_OWN ? s->side : cudaStreamPerThread;

    TRY(fork_into(s, s->side));
    TRY(fork_into(s, cudaStreamPerThread));
    TRY(by_launch ? launch_event(M, other, s->join, 0, 0) : launch_plain(M, other));
    if (!by_launch)
        TRY(cudaEventRecord(s->join, other));
    TRY(launch_event(P, s->stream, s->released, at_start, 0));
    if (!later)
        TRY(cudaStreamWaitEvent(s->side, s->join, 0));
    TRY(cudaStreamWaitEvent(s->side, s->released, 0));
    if (later)
        TRY(cudaStreamWaitEvent(s->side, s->join, 0));
    TRY(launch_plain(D, s->side));
    return join_both(s);
}

static cudaError_t beside_own_at_trigger(const struct studio *s) { return after_both(s, BESIDE_OWN, 0); }
static cudaError_t beside_own_at_start(const struct studio *s) { return after_both(s, BESIDE_OWN, 1); }
static cudaError_t beside_event_at_trigger(const struct studio *s) { return after_both(s, BESIDE_ORDINARY, 0); }
static cudaError_t beside_event_at_start(const struct studio *s) { return after_both(s, BESIDE_ORDINARY, 1); }
static cudaError_t before_event_at_trigger(const struct studio *s) { return after_both(s, BESIDE_LATER, 0); }
static cudaError_t before_event_at_start(const struct studio *s) { return after_both(s, BESIDE_LATER, 1); }
static cudaError_t beside_launch_at_trigger(const struct studio *s) { return after_both(s, BESIDE_LAUNCH, 0); }
static cudaError_t beside_launch_at_start(const struct studio *s) { return after_both(s, BESIDE_LAUNCH, 1); }
static cudaError_t before_launch_at_start(const struct studio *s) { return after_both(s, BESIDE_LAUNCH_LATER, 1); }

static cudaError_t ordinary_event(const struct studio *s, int attribute)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaEventRecord(s->released, s->stream));
    TRY(cudaStreamWaitEvent(s->side, s->released, 0));
    TRY(attribute ? launch_attr(D, s->side, 1) : launch_plain(D, s->side));
    return join(s);
}

static cudaError_t full_event(const struct studio *s) { return ordinary_event(s, 0); }
static cudaError_t full_event_attr(const struct studio *s) { return ordinary_event(s, 1); }

/* M in the side stream stands beside P; D, after both, has the attribute or not. */
static cudaError_t joined(const struct studio *s, int attribute)
{
    TRY(cudaEventRecord(s->fork, s->stream));
    TRY(cudaStreamWaitEvent(s->side, s->fork, 0));
    TRY(launch_plain(M, s->side));
    TRY(launch_plain(P, s->stream));
    TRY(join(s));
    return attribute ? launch_attr(D, s->stream, 1) : launch_plain(D, s->stream);
}

static cudaError_t join_plain(const struct studio *s) { return joined(s, 0); }
static cudaError_t join_attr(const struct studio *s) { return joined(s, 1); }

/* P leads to M in its stream and to D in the other one, each with the attribute. */
static cudaError_t fork_attr(const struct studio *s)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaEventRecord(s->fork, s->stream));
    TRY(cudaStreamWaitEvent(s->side, s->fork, 0));
    TRY(launch_attr(M, s->stream, 1));
    TRY(launch_attr(D, s->side, 1));
    return join(s);
}

static cudaError_t middle(const struct studio *s, int attribute)
{
    TRY(launch_plain(P, s->stream));
    TRY(launch_attr(M, s->stream, 1));
    return attribute ? launch_attr(D, s->stream, 1) : launch_plain(D, s->stream);
}

static cudaError_t middle_plain(const struct studio *s) { return middle(s, 0); }
static cudaError_t middle_attr(const struct studio *s) { return middle(s, 1); }

static cudaError_t behind_memset(const struct studio *s)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaMemsetAsync(s->words, 0, 16, s->stream));
    return launch_attr(D, s->stream, 1);
}

static cudaError_t behind_copy(const struct studio *s)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaMemcpyAsync(s->words + 8, s->words, 16, cudaMemcpyDeviceToDevice, s->stream));
    return launch_attr(D, s->stream, 1);
}

static cudaError_t behind_host(const struct studio *s)
{
    TRY(launch_plain(P, s->stream));
    TRY(cudaLaunchHostFunc(s->stream, ask_host_nothing, NULL));
    return launch_attr(D, s->stream, 1);
}

/* D has the attribute after a kernel of its own stream and a memset of the other one. */
static cudaError_t kernel_and_memset(const struct studio *s)
{
    TRY(cudaEventRecord(s->fork, s->stream));
    TRY(cudaStreamWaitEvent(s->side, s->fork, 0));
    TRY(cudaMemsetAsync(s->words, 0, 16, s->side));
    TRY(launch_plain(P, s->stream));
    TRY(join(s));
    return launch_attr(D, s->stream, 1);
}

/* The same after kernels of three streams. */
static cudaError_t three_kernels(const struct studio *s)
{
    TRY(cudaEventRecord(s->fork, s->stream));
    TRY(cudaStreamWaitEvent(s->side, s->fork, 0));
    TRY(cudaStreamWaitEvent(cudaStreamPerThread, s->fork, 0));
    TRY(launch_plain(M, s->side));
    TRY(launch_plain(M, cudaStreamPerThread));
    TRY(launch_plain(P, s->stream));
    TRY(join(s));
    TRY(cudaEventRecord(s->released, cudaStreamPerThread));
    TRY(cudaStreamWaitEvent(s->stream, s->released, 0));
    return launch_attr(D, s->stream, 1);
}

static cudaError_t event_to(const struct studio *s, enum node_kind kind)
{
    TRY(launch_event(P, s->stream, s->released, 0, 0));
    TRY(cudaStreamWaitEvent(s->side, s->released, 0));
    switch (kind) {
    case NODE_MEMSET: TRY(cudaMemsetAsync(s->words, 0, 16, s->side)); break;
    case NODE_MEMCPY: TRY(cudaMemcpyAsync(s->words + 8, s->words, 16, cudaMemcpyDeviceToDevice, s->side)); break;
    case NODE_HOST: TRY(cudaLaunchHostFunc(s->side, ask_host_nothing, NULL)); break;
    default: break;
    }
    return join(s);
}

static cudaError_t event_to_memset(const struct studio *s) { return event_to(s, NODE_MEMSET); }
static cudaError_t event_to_copy(const struct studio *s) { return event_to(s, NODE_MEMCPY); }
static cudaError_t event_to_host(const struct studio *s) { return event_to(s, NODE_HOST); }
static cudaError_t event_to_event(const struct studio *s) { return event_to(s, NODE_RECORD); }

/* What a driver may refuse: no document says whether what is no kernel may wait for a programmatic event, or whether a launch-completion event
 * can be captured (AMB-10). */
enum script_taken { TAKEN_ALWAYS, TAKEN_PERHAPS, TAKEN_PERHAPS_WITH_AN_EDGE /* where it is taken, what waits comes after the launch */ };

struct script {
    const char *what;
    cudaError_t (*run)(const struct studio *s);
    const char *want;            /* the edges, as the documents say; NULL: nobody says */
    enum script_taken taken;
};

static const struct script attribute_scripts[] = {
    { "no attribute", plain, "P>D 0,0,0", TAKEN_ALWAYS },
    { "attribute", attribute_one, "P>D 1,0,1", TAKEN_ALWAYS },
    { "attribute 0", attribute_zero, "P>D 0,0,0", TAKEN_ALWAYS },
    { "attribute 3", attribute_other, "P>D 1,0,1", TAKEN_ALWAYS },
    { "attribute 256", attribute_high, "P>D 1,0,1", TAKEN_ALWAYS },
    { "attribute on both", attribute_both, "P>D 1,0,1", TAKEN_ALWAYS },
};
static const struct script event_scripts[] = {
    { "programmatic event at triggers", at_trigger, "P>D 1,0,1", TAKEN_ALWAYS },
    { "the same of a stream that joined, in that of origin", of_fork_at_trigger, "P>D 1,0,1", TAKEN_ALWAYS },
    { "the same in a stream that joined before", into_fork_at_trigger, "P>D 1,0,1", TAKEN_ALWAYS },
    { "the same from a stream that joined to another one", across_forks_at_trigger, "P>D 1,0,1", TAKEN_ALWAYS },
    { "the same through an ordinary event of the stream that waits", relayed_at_trigger, "P>D 1,0,1", TAKEN_ALWAYS },
    { "the same after a kernel of the stream that waits", beside_own_at_trigger, "M>D 0,0,0; P>D 1,0,1", TAKEN_ALWAYS },
    { "the same after an ordinary event", beside_event_at_trigger, "M>D 0,0,0; P>D 1,0,1", TAKEN_ALWAYS },
    { "the same before an ordinary event", before_event_at_trigger, "M>D 0,0,0; P>D 1,0,1", TAKEN_ALWAYS },
    { "the same after another one", beside_launch_at_trigger, "M>D 1,0,1; P>D 1,0,1", TAKEN_ALWAYS },
};
static const struct script start_scripts[] = {
    { "programmatic event at block starts", at_start, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same by 3", at_start_other, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same by 256", at_start_high, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same of a stream that joined, in that of origin", of_fork_at_start, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same in a stream that joined before", into_fork_at_start, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same from a stream that joined to another one", across_forks_at_start, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same through an ordinary event of the stream that waits", relayed_at_start, "P>D 2,0,1", TAKEN_ALWAYS },
    { "the same after a kernel of the stream that waits", beside_own_at_start, "M>D 0,0,0; P>D 2,0,1", TAKEN_ALWAYS },
    { "the same after an ordinary event", beside_event_at_start, "M>D 0,0,0; P>D 2,0,1", TAKEN_ALWAYS },
    { "the same before an ordinary event", before_event_at_start, "M>D 0,0,0; P>D 2,0,1", TAKEN_ALWAYS },
    { "the same after an event at triggers", beside_launch_at_start, "M>D 1,0,1; P>D 2,0,1", TAKEN_ALWAYS },
    { "the same before an event at triggers", before_launch_at_start, "M>D 1,0,1; P>D 2,0,1", TAKEN_ALWAYS },
};
static const struct script table_scripts[] = {
    { "attribute after an event record", through_record, NULL, TAKEN_ALWAYS },
    { "launch-completion event", at_completion, NULL, TAKEN_PERHAPS },
    { "ordinary event", full_event, NULL, TAKEN_ALWAYS },
    { "event at triggers, D with the attribute", at_trigger_attr, NULL, TAKEN_ALWAYS },
    { "event at block starts, D with the attribute", at_start_attr, NULL, TAKEN_ALWAYS },
    { "launch-completion event, D with the attribute", at_completion_attr, NULL, TAKEN_PERHAPS },
    { "ordinary event, D with the attribute", full_event_attr, NULL, TAKEN_ALWAYS },
    { "join of P and M", join_plain, NULL, TAKEN_ALWAYS },
    { "join of P and M, D with the attribute", join_attr, NULL, TAKEN_ALWAYS },
    { "fork from P, both with the attribute", fork_attr, NULL, TAKEN_ALWAYS },
    { "P, M with the attribute, D plain", middle_plain, NULL, TAKEN_ALWAYS },
    { "P, M and D with the attribute", middle_attr, NULL, TAKEN_ALWAYS },
};
static const struct script no_kernel_scripts[] = {
    { "memset before the attribute", behind_memset, NULL, TAKEN_ALWAYS },
    { "copy before the attribute", behind_copy, NULL, TAKEN_ALWAYS },
    { "host function before the attribute", behind_host, NULL, TAKEN_ALWAYS },
    { "kernel and memset before the attribute", kernel_and_memset, NULL, TAKEN_ALWAYS },
    { "kernels of three streams before the attribute", three_kernels, NULL, TAKEN_ALWAYS },
};
static const struct script waiter_scripts[] = {
    { "memset after a programmatic event", event_to_memset, NULL, TAKEN_PERHAPS_WITH_AN_EDGE },
    { "copy after a programmatic event", event_to_copy, NULL, TAKEN_PERHAPS_WITH_AN_EDGE },
    { "host function after a programmatic event", event_to_host, NULL, TAKEN_PERHAPS_WITH_AN_EDGE },
    { "event record after a programmatic event", event_to_event, NULL, TAKEN_PERHAPS },
};

#endif
