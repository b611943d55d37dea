/* apart.cu - streams ordered by events that another host thread made or that are destroyed at once, in captures that another one ends.
 *
 * pair    rules     what is asked
 * events  COMP-04f  a kernel that works, one that copies its words, and one that copies those: in a line, or with the second in another stream
 *                   between two events; launched and captured; by events of this thread and of another; destroyed as soon as they were
 *                   awaited, or later; relaxed captures ended by this thread and by another; what is launched also with the
 *                   second one launched by another thread, both in their own per-thread streams, and by events that one thread records and
 *                   another destroys
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

/* What another host thread does where two streams are ordered by events and nothing is captured: it launches the second kernel, and both
 * threads use their own per-thread streams; or it records the first event, which this thread destroys, and destroys the second one, which
 * this thread records. */
enum there { THERE_NOTHING, THERE_SECOND, THERE_EVENTS, THERES };
#define THERE_HOLD_NS 80000u   /* longer than a thread takes to begin */

/* How a trial goes. */
struct course {
    unsigned captured, in_line, made_by_thread, destroyed, ended_by_thread;
    enum there there;
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

struct errand {                /* what a thread is to do with an event, or with both */
    struct apart *a;
    const struct course *course;
    unsigned i;
    cudaStream_t stream;
    void (*run)(void *of);
    cudaError_t error;
};

/* By another thread, or by this one if it is none of that one's errands or none can be had. */
static cudaError_t run_errand(struct errand errand, int there)
{
    if (!there || !run_in_thread(errand.run, &errand))
        errand.run(&errand);
    return errand.error;
}

static void record_now(void *of)
{
    struct errand *e = (struct errand *)of;

    e->error = cudaEventRecord(e->a->event[e->i], e->stream);
}

static void destroy_now(void *of)
{
    struct errand *e = (struct errand *)of;

    e->error = destroy_event(e->a, e->i);
}

static cudaError_t record_event(struct apart *a, const struct course *course, unsigned i, cudaStream_t stream)
{
    struct errand errand = { a, course, i, stream, record_now, cudaSuccess };

    return run_errand(errand, course->there == THERE_EVENTS && i == 0);
}

/* "in the case of cudaEventDestroy, resources are released once the event has completed" */
static cudaError_t await_event(struct apart *a, const struct course *course, unsigned i, cudaStream_t stream)
{
    struct errand errand = { a, course, i, stream, destroy_now, cudaSuccess };
    cudaError_t error = cudaStreamWaitEvent(stream, a->event[i], 0);

    return error == cudaSuccess && course->destroyed ? run_errand(errand, course->there == THERE_EVENTS && i == 1) : error;
}

/* The second kernel comes after the first event, and the second event after it. */
static void queue_second(void *of)
{
    struct errand *e = (struct errand *)of;

    e->error = e->course->in_line ? cudaSuccess : await_event(e->a, e->course, 0, e->stream);
    if (e->error == cudaSuccess)
        e->error = launch_one((const void *)SYMBOL(apart_copies), &e->a->second, APART_WORDS, e->stream, NULL, 0);
    if (e->error == cudaSuccess && !e->course->in_line)
        e->error = record_event(e->a, e->course, 1, e->stream);
}

static cudaStream_t first_stream(const struct apart *a, const struct course *course)
{
    return course->there == THERE_SECOND ? cudaStreamPerThread : a->ask->stream;
}

static cudaError_t queue_all(struct apart *a, const struct course *course)
{
    cudaStream_t stream = first_stream(a, course), side = course->there == THERE_SECOND ? cudaStreamPerThread : a->ask->side;
    struct errand second = { a, course, 0, course->in_line ? stream : side, queue_second, cudaSuccess };
    cudaError_t error = launch_one((const void *)SYMBOL(apart_work), &a->work, APART_WORDS, stream, NULL, 0);

    if (error == cudaSuccess && !course->in_line)
        error = record_event(a, course, 0, stream);
    if (error == cudaSuccess)
        error = run_errand(second, course->there == THERE_SECOND);
    if (error == cudaSuccess && !course->in_line)
        error = await_event(a, course, 1, stream);
    return error == cudaSuccess ? launch_one((const void *)SYMBOL(apart_copies), &a->third, APART_WORDS, stream, NULL, 0) : error;
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
    if (course->there != THERE_NOTHING)
        a->room->plan.hold_ns = THERE_HOLD_NS;
    for (i = 0; i < 2 * APART_WORDS; i++)
        a->copies[i] = 0;
    if (!course->made_by_thread || !run_in_thread(make_events, a))
        make_events(a);
    error = a->made;
    if (error == cudaSuccess)
        error = course->captured ? capture_all(a, course) : queue_all(a, course);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(first_stream(a, course));
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
    for (i = 0; ask_goes_on(ask, i, 32 * THERES) && error == cudaSuccess; i++) {
        struct course course = { i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1, (enum there)(i >> 5) };
        if (course.captured || course.in_line)
            course.there = THERE_NOTHING;
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
