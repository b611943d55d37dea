/* last_error.cu - the last error of a host thread.
 *
 * pair   rules     what is asked
 * order  ATTR-15a  after two failures, and after a failure and calls of many kinds that succeed
 * whose  ATTR-15a  in another thread after a failure in this one, and here after a failure there
 */
#include "cleared.h"
#include "host_room.h"

KERNEL(last_error_count) { k_add(&args.state->finished, 1); }

struct calls {
    struct ask *ask;
    struct kernel_args args;
    cudaEvent_t event;
};

static cudaError_t open_calls(struct calls *calls, struct ask *ask)
{
    cudaError_t error = cleared_alloc((void **)&calls->args.state, sizeof(struct trial_state));

    calls->ask = ask;
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&calls->event, cudaEventDisableTiming);
    (void)cudaGetLastError();
    return error;
}

static void close_calls(struct calls *calls)
{
    if (calls->event)
        (void)cudaEventDestroy(calls->event);
    (void)cudaFree(calls->args.state);
}

/* Two ways to fail, which have codes of their own. */
static cudaError_t fail(const struct calls *calls, int how)
{
    return how ? cudaEventRecord(NULL, calls->ask->stream)
               : launch_one((const void *)SYMBOL(last_error_count), &calls->args, 0, calls->ask->stream, NULL, 0);
}

static const char *const success_names[] = { "a launch", "a launch with the attribute", "a memset", "a record of an event", "a wait for an event",
                                             "the end of a stream", "a query of a stream", "a copy to the host" };
#define SUCCESSES (sizeof(success_names) / sizeof(success_names[0]))

static cudaError_t succeed(const struct calls *calls, unsigned how)
{
    cudaLaunchAttribute attribute = serialization(1);
    cudaStream_t stream = calls->ask->stream;
    struct trial_state state;

    switch (how) {
    case 0: return launch_one((const void *)SYMBOL(last_error_count), &calls->args, 1, stream, NULL, 0);
    case 1: return launch_one((const void *)SYMBOL(last_error_count), &calls->args, 1, stream, &attribute, 1);
    case 2: return cudaMemsetAsync(calls->args.state, 0, sizeof(state), stream);
    case 3: return cudaEventRecord(calls->event, stream);
    case 4: return cudaStreamWaitEvent(stream, calls->event, 0);
    case 5: return cudaStreamSynchronize(stream);
    case 6: return cudaStreamQuery(stream); /* of one that has just ended */
    default: return cudaMemcpy(&state, calls->args.state, sizeof(state), cudaMemcpyDeviceToHost);
    }
}

/* "Returns the last error that has been produced by any of the runtime calls": one that succeeds produces none. */
static void ask_success(const struct calls *calls, unsigned how, int failure)
{
    cudaError_t failed = fail(calls, failure), error = succeed(calls, how);
    cudaError_t seen = cudaPeekAtLastError(), last = cudaGetLastError(), after = cudaGetLastError(); /* ask_expect() resets it */

    ask_expect_refusal(calls->ask, "a call that cannot succeed", failed);
    ask_expect(calls->ask, success_names[how], error, cudaSuccess);
    ask_expect(calls->ask, "the last error, looked at after a success", seen, failed);
    ask_expect(calls->ask, "the last error after a success", last, failed);
    ask_expect(calls->ask, "the last error after it was asked for", after, cudaSuccess);
}

static void ask_order(struct ask *ask)
{
    struct calls calls = PDL_ZERO;
    cudaError_t error = open_calls(&calls, ask), last;
    unsigned i;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        (void)fail(&calls, (int)i);
        last = fail(&calls, (int)!i);
        ask_expect(ask, "the last error of two", cudaGetLastError(), last);
    }
    for (i = 0; i < 2 * SUCCESSES && error == cudaSuccess; i++)
        ask_success(&calls, i % SUCCESSES, i >= SUCCESSES);
    close_calls(&calls);
}

/* ---- whose ---- */

struct other {
    const struct calls *calls;
    int failure;
    cudaError_t at_first, failed, last;
};

static void fail_in_thread(void *of)
{
    struct other *other = (struct other *)of;

    other->at_first = cudaPeekAtLastError();
    other->failed = fail(other->calls, other->failure);
    other->last = cudaPeekAtLastError();
}

/* "... in the same instance of the CUDA Runtime library in the host thread" */
static void ask_thread(const struct calls *calls, int failure)
{
    struct other other = { calls, !failure, cudaSuccess, cudaSuccess, cudaSuccess };
    cudaError_t failed = fail(calls, failure), last;
    struct ask *ask = calls->ask;

    if (!run_in_thread(fail_in_thread, &other)) {
        ask_skip(ask, "the last error of another thread", "no thread could be had");
        return;
    }
    last = cudaGetLastError();
    ask_expect(ask, "the last error of a thread in which no call has failed", other.at_first, cudaSuccess);
    ask_expect(ask, "the last error of another thread", other.last, other.failed);
    ask_expect(ask, "the last error of this thread", last, failed);
}

static void ask_whose(struct ask *ask)
{
    struct calls calls = PDL_ZERO;
    cudaError_t error = open_calls(&calls, ask);
    int i;

    ask_expect(ask, "memory and an event", error, cudaSuccess);
    for (i = 0; i < 2 && error == cudaSuccess; i++)
        ask_thread(&calls, i);
    close_calls(&calls);
}

static const struct pair last_error_pairs[] = {
    PAIR_ASK("order", ask_order),
    PAIR_ASK("whose", ask_whose),
};
IMAGE(last_error, last_error_pairs)
