/* apart.cu - streams ordered by events that another host thread made or that are destroyed at once, in captures that another one ends.
 *
 * pair    rules     what is asked
 * events  COMP-04f  a kernel that works, one that copies its words, and one that copies those: in a line, or with the second in another stream
 *                   between two events; launched and captured; by events of this thread and of another; destroyed as soon as they were
 *                   awaited, or later; relaxed captures ended by this thread and by another
 */
#include "capture_ended.h"
#include "graph_ask.h"
#include "host_room.h"

#define APART_WORDS (ASK_WORDS / 2)

KERNEL(apart_work) { slow_stores(&args); }
KERNEL(apart_copies) { follower_copies(&args, 0); }

struct apart {
    struct ask *ask;
    struct host_room *room;
    uint32_t *copies;          /* of the second kernel and of the third, in pinned memory */
    struct kernel_args work, second, third;
    cudaEvent_t event[2];
    cudaError_t made;
    unsigned stale, trials;
};

/* How a trial goes. */
struct course {
    unsigned captured, in_line, made_by_thread, destroyed, ended_by_thread;
};

static int open_apart(struct apart *a, struct ask *ask)
{
    uint32_t *device = NULL;
    size_t bytes = 2 * APART_WORDS * sizeof(uint32_t);

    a->ask = ask;
    if (!open_room(&a->room, &a->work) || cudaHostAlloc((void **)&a->copies, bytes, cudaHostAllocMapped) != cudaSuccess ||
        cudaHostGetDevicePointer((void **)&device, a->copies, 0) != cudaSuccess) {
        ask_skip(ask, "pinned host memory", "not given");
        return 0;
    }
    a->second = a->third = a->work;
    a->second.seen = a->third.data = device;
    a->third.seen = device + APART_WORDS;
    return 1;
}

static void make_events(void *opaque)
{
    struct apart *a = (struct apart *)opaque;
    unsigned i;

    a->made = cudaSuccess;
    for (i = 0; i < 2 && a->made == cudaSuccess; i++)
        a->made = cudaEventCreateWithFlags(&a->event[i], cudaEventDisableTiming);
}

static cudaError_t destroy_event(struct apart *a, unsigned i)
{
    cudaEvent_t event = a->event[i];

    a->event[i] = NULL;
    return event ? cudaEventDestroy(event) : cudaSuccess;
}

/* What comes in `to` comes after what is in `from`. "in the case of cudaEventDestroy, resources are released once the event has completed" */
static cudaError_t lead(struct apart *a, const struct course *course, unsigned i, cudaStream_t from, cudaStream_t to)
{
    cudaError_t error = record_and_await(a->event[i], from, to);
    return error == cudaSuccess && course->destroyed ? destroy_event(a, i) : error;
}

static cudaError_t queue_all(struct apart *a, const struct course *course)
{
    const void *copies = (const void *)SYMBOL(apart_copies);
    cudaStream_t stream = a->ask->stream, second = course->in_line ? stream : a->ask->side;
    cudaError_t error = launch_one((const void *)SYMBOL(apart_work), &a->work, APART_WORDS, stream, NULL, 0);

    if (error == cudaSuccess && !course->in_line)
        error = lead(a, course, 0, stream, second);
    if (error == cudaSuccess)
        error = launch_one(copies, &a->second, APART_WORDS, second, NULL, 0);
    if (error == cudaSuccess && !course->in_line)
        error = lead(a, course, 1, second, stream);
    return error == cudaSuccess ? launch_one(copies, &a->third, APART_WORDS, stream, NULL, 0) : error;
}

static cudaError_t capture_all(struct apart *a, const struct course *course)
{
    struct ending ending = { cudaStreamEndCapture, a->ask->stream, NULL, cudaSuccess };
    cudaError_t error = cudaStreamBeginCapture(ending.stream, cudaStreamCaptureModeRelaxed);

    if (error != cudaSuccess)
        return error;
    error = queue_all(a, course);
    if (!course->ended_by_thread || !run_in_thread(end_capture, &ending))
        end_capture(&ending);
    error = error == cudaSuccess ? ending.error : error;
    if (error == cudaSuccess)
        error = ask_run_once(ending.graph, ending.stream);
    if (ending.graph)
        (void)cudaGraphDestroy(ending.graph);
    return error;
}

static cudaError_t try_course(struct apart *a, const struct course *course)
{
    volatile const uint32_t *copies = a->copies;
    unsigned stale = 0;
    uint32_t i;
    cudaError_t error;

    prepare_trial(a->room, a->trials);
    a->room->plan.bound_ns = 20000;
    a->room->plan.words = APART_WORDS;
    for (i = 0; i < 2 * APART_WORDS; i++)
        a->copies[i] = 0;
    if (!course->made_by_thread || !run_in_thread(make_events, a))
        make_events(a);
    error = a->made;
    if (error == cudaSuccess)
        error = course->captured ? capture_all(a, course) : queue_all(a, course);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(a->ask->stream);
    for (i = 0; i < 2 * APART_WORDS; i++)
        stale |= copies[i] != words_fresh(a->room->plan.key, i % APART_WORDS);
    a->stale += error == cudaSuccess && stale;
    a->trials++;
    (void)destroy_event(a, 0);
    (void)destroy_event(a, 1);
    return error;
}

static void ask_events(struct ask *ask)
{
    struct apart a = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned i;

    if (!open_apart(&a, ask))
        return;
    for (i = 0; ask_goes_on(ask, i, 96) && error == cudaSuccess; i++) {
        struct course course = { i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1 };
        error = try_course(&a, &course);
    }
    ask_expect(ask, "streams ordered by events", error, cudaSuccess);
    ask_expect_none(ask, "kernels that did not come after those that their events stood for", a.stale, a.trials);
    (void)cudaDeviceSynchronize();
    (void)cudaFreeHost(a.copies);
    (void)cudaFreeHost(a.room);
}

static const struct pair apart_pairs[] = {
    PAIR_ASK("events", ask_events),
};
IMAGE(apart, apart_pairs)
