/* zoo.c - small programs in which two kernels do not overlap, each for one reason, and the same without that reason
 *
 * usage: zoo NAME broken|fixed KERNELS.cubin OLD.cubin
 *
 * It calls the driver through dlopen and declares what it needs, so that it compiles without a toolkit and runs on the
 * stand-in driver of the tests as on a GPU.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 20, LONG_NS = 30000, ROOM_NS = 150000, GATE_NS = 300000, PROLOGUE_NS = 5000, SMS = 16, THREADS_PER_SM = 39, SHARED_OPTIN = 97 };
enum { COOPERATIVE = 2, SERIALIZATION = 6, PROGRAMMATIC_EVENT = 7, CARVEOUT = 9, MOST_DYNAMIC = 8 };
enum { OVERLAP = 1, AS_COOPERATIVE = 2, WITH_EVENT = 4 };

union value { int number; char bytes[64]; struct { void *event; int flags, at_start; } event; };
struct attribute { int id; char pad[4]; union value value; };
struct configuration { unsigned grid[3], block[3], shared; void *stream; struct attribute *attributes; unsigned count; };
struct shape { unsigned grid, block, shared; };

static void *driver;
static void *module, *old_module, *stream, *other, *event, *untimed;
static uint64_t memory;
static int fixed, sms;

static void *symbol(const char *name)
{
    void *found = dlsym(driver, name);
    if (!found) {
        fprintf(stderr, "zoo: the driver has no %s\n", name);
        exit(69);
    }
    return found;
}
#define CALL(name, types, ...)                                                                                            \
    do {                                                                                                                  \
        int code_ = ((int(*) types)symbol(#name))(__VA_ARGS__);                                                           \
        if (code_ != 0) {                                                                                                 \
            fprintf(stderr, "zoo: %s answered %d\n", #name, code_);                                                       \
            exit(1);                                                                                                      \
        }                                                                                                                 \
    } while (0)

static void *kernel_of(void *from, const char *name)
{
    void *function;
    CALL(cuModuleGetFunction, (void **, void *, const char *), &function, from, name);
    return function;
}
static void *kernel(const char *name) { return kernel_of(module, name); }

static void launch(void *function, struct shape shape, void *on, unsigned how, unsigned before, unsigned after)
{
    struct attribute attributes[3];
    void *arguments[] = {&before, &after};
    struct configuration c = {{shape.grid, 1, 1}, {shape.block, 1, 1}, shape.shared, on, attributes, 0};
    memset(attributes, 0, sizeof attributes);
    if (how & OVERLAP) {
        attributes[c.count].id = SERIALIZATION;
        attributes[c.count++].value.number = 1;
    }
    if (how & AS_COOPERATIVE) {
        attributes[c.count].id = COOPERATIVE;
        attributes[c.count++].value.number = 1;
    }
    if (how & WITH_EVENT) {
        attributes[c.count].id = PROGRAMMATIC_EVENT;
        attributes[c.count++].value.event.event = untimed;
    }
    CALL(cuLaunchKernelEx, (const struct configuration *, void *, void **, void **), &c, function, arguments, NULL);
}

static const struct shape small = {4, 128, 0};

static void gate(void) { launch(kernel("gate"), (struct shape){1, 32, 0}, stream, 0, GATE_NS, 0); }
static void synchronise(void) { CALL(cuStreamSynchronize, (void *), stream); }
static void attribute_of(void *function, int id, int value) { CALL(cuFuncSetAttribute, (void *, int, int), function, id, value); }
static int device_attribute(int id)
{
    int value = 0;
    CALL(cuDeviceGetAttribute, (int *, int, int), &value, id, 0);
    return value;
}

/* The pair that every program has: queued after a gate, so that the host's speed does not count. */
static void pair(const char *a, struct shape first, const char *b, struct shape second, unsigned how)
{
    gate();
    launch(kernel(a), first, stream, 0, LONG_NS, 0);
    launch(kernel(b), second, stream, how, PROLOGUE_NS, 1000);
    synchronise();
}

static void not_asked(void) { pair("first", small, "second", small, fixed ? OVERLAP : 0); }

static void asked(void) { pair("first", small, "second", small, OVERLAP); }

static void host_bound(void)
{
    gate();
    launch(kernel("first"), small, stream, 0, LONG_NS, 0);
    if (!fixed) {
        usleep(GATE_NS / 1000 + LONG_NS / 1000 + 500);
    }
    launch(kernel("second"), small, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void no_device_half(void)
{
    gate();
    launch(kernel_of(fixed ? module : old_module, "first"), small, stream, 0, LONG_NS, 0);
    launch(kernel("second"), small, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void carve_out(void)
{
    if (fixed) {
        attribute_of(kernel("first"), CARVEOUT, 100);
        attribute_of(kernel("second_shared"), CARVEOUT, 100);
    }
    pair("first", (struct shape){4u * (unsigned)sms, 128, 0}, "second_shared", small, OVERLAP);
}

/* The primary's blocks begin one after the other and end one after the other, and the dependent begins when the first of them
 * leaves. So they run for long beside the time that it takes to begin them all. */
static void pair_in_room(struct shape first, struct shape second)
{
    attribute_of(kernel("first"), CARVEOUT, 100);
    attribute_of(kernel("second"), CARVEOUT, 100);
    gate();
    launch(kernel("first"), first, stream, 0, ROOM_NS, 0);
    launch(kernel("second"), second, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void threads(void)
{
    const unsigned most = (unsigned)device_attribute(THREADS_PER_SM) / 1024;
    pair_in_room((struct shape){(fixed ? 1 : most) * (unsigned)sms, 1024, 0}, small);
}

static void block_slots(void)
{
    const unsigned slots = (unsigned)device_attribute(106);
    pair_in_room((struct shape){(fixed ? slots / 2 : slots) * (unsigned)sms, 32, 0}, small);
}

static void shared_memory(void)
{
    const unsigned most = (unsigned)device_attribute(SHARED_OPTIN), bytes = fixed ? most / 4 : most;
    attribute_of(kernel("first"), MOST_DYNAMIC, (int)bytes);
    attribute_of(kernel("second"), MOST_DYNAMIC, (int)bytes);
    pair_in_room((struct shape){(unsigned)sms, 128, bytes}, (struct shape){4, 128, bytes});
}

static void never_triggers(void) { pair(fixed ? "first" : "first_silent", small, "second", small, OVERLAP); }
static void waits_first(void) { pair("first", small, fixed ? "second" : "second_waits_first", small, OVERLAP); }

static void between(void (*what)(void))
{
    gate();
    launch(kernel("first"), small, stream, 0, LONG_NS, 0);
    if (!fixed) {
        what();
    }
    launch(kernel("second"), small, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void a_memset(void) { CALL(cuMemsetD32Async, (uint64_t, unsigned, size_t, void *), memory, 0, 64, stream); }
static void a_copy(void) { CALL(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *), memory, memory + 4096, 256, stream); }
static void nothing(void *unused) { (void)unused; }
static void a_host_function(void) { CALL(cuLaunchHostFunc, (void *, void (*)(void *), void *), stream, nothing, NULL); }
static void a_record(void) { CALL(cuEventRecord, (void *, void *), event, stream); }
static void memset_between(void) { between(a_memset); }
static void copy_between(void) { between(a_copy); }
static void host_between(void) { between(a_host_function); }
static void timed_event(void) { between(a_record); }

/* Once per process, so this one is not repeated; the gate is long enough for the code to load. */
static void first_launch(void)
{
    if (fixed) {
        launch(kernel("second_unloaded"), small, stream, 0, 0, 0);
        synchronise();
    }
    gate();
    launch(kernel("first"), small, stream, 0, LONG_NS, 0);
    launch(kernel("second_unloaded"), small, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void cooperative(void) { pair("first", small, "second", small, OVERLAP | (fixed ? 0 : AS_COOPERATIVE)); }

static void too_short(void)
{
    gate();
    launch(kernel("first"), small, stream, 0, fixed ? LONG_NS : 0, 0);
    launch(kernel("second"), small, stream, OVERLAP, PROLOGUE_NS, 1000);
    synchronise();
}

static void begin_capture(void) { CALL(cuStreamBeginCapture_v2, (void *, int), stream, 0); }
static void end_capture(void)
{
    void *graph, *exec;
    CALL(cuStreamEndCapture, (void *, void **), stream, &graph);
    CALL(cuGraphInstantiateWithFlags, (void **, void *, uint64_t), &exec, graph, 0);
    for (int i = 0; i < REPEATS; i++) {
        CALL(cuGraphLaunch, (void *, void *), exec, stream);
        synchronise();
    }
    CALL(cuGraphExecDestroy, (void *), exec);
}

static void full_edge(void)
{
    begin_capture();
    gate();
    launch(kernel("first"), small, stream, 0, LONG_NS, 0);
    launch(kernel("second"), small, stream, fixed ? OVERLAP : 0, PROLOGUE_NS, 1000);
    end_capture();
}

static void event_across_streams(void)
{
    if (fixed) {
        begin_capture();
    }
    gate();
    launch(kernel("first"), small, stream, WITH_EVENT, LONG_NS, 0);
    CALL(cuStreamWaitEvent, (void *, void *, unsigned), other, untimed, 0);
    launch(kernel("second"), small, other, 0, PROLOGUE_NS, 1000);
    CALL(cuEventRecord, (void *, void *), event, other);
    CALL(cuStreamWaitEvent, (void *, void *, unsigned), stream, event, 0);
    if (fixed) {
        end_capture();
    } else {
        synchronise();
    }
}

static const struct { const char *name; void (*run)(void); int repeats; } programs[] = {
    {"not-asked", not_asked, REPEATS}, {"host-bound", host_bound, REPEATS}, {"no-device-half", no_device_half, REPEATS},
    {"carve-out", carve_out, REPEATS}, {"threads", threads, REPEATS}, {"block-slots", block_slots, REPEATS},
    {"shared-memory", shared_memory, REPEATS}, {"never-triggers", never_triggers, REPEATS}, {"waits-first", waits_first, REPEATS},
    {"memset", memset_between, REPEATS}, {"copy", copy_between, REPEATS}, {"host-function", host_between, REPEATS},
    {"timed-event", timed_event, REPEATS}, {"first-launch", first_launch, 1}, {"cooperative", cooperative, REPEATS},
    {"too-short", too_short, REPEATS}, {"full-edge", full_edge, 1},
    {"event-across-streams", event_across_streams, REPEATS}, {"launch-blocking", asked, REPEATS}};

static void set_up(const char *kernels, const char *old)
{
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "zoo: libcuda.so.1 is not there\n");
        exit(69);
    }
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuCtxSetCurrent, (void *), context);
    CALL(cuModuleLoad, (void **, const char *), &module, kernels);
    CALL(cuModuleLoad, (void **, const char *), &old_module, old);
    CALL(cuStreamCreate, (void **, unsigned), &stream, 1);
    CALL(cuStreamCreate, (void **, unsigned), &other, 1);
    CALL(cuEventCreate, (void **, unsigned), &event, 0);
    CALL(cuEventCreate, (void **, unsigned), &untimed, 2);
    CALL(cuMemAlloc_v2, (uint64_t *, size_t), &memory, 1 << 16);
    sms = device_attribute(SMS);
}

/* Every kernel but the one of first-launch is loaded before anything is looked at. */
static void load_all(void)
{
    static const char *const names[] = {"first", "first_silent", "gate", "second", "second_waits_first", "second_shared"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        launch(kernel(names[i]), (struct shape){1, 32, 0}, stream, 0, 0, 0);
    }
    launch(kernel_of(old_module, "second"), (struct shape){1, 32, 0}, stream, 0, 0, 0);
    synchronise();
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: zoo NAME broken|fixed KERNELS.cubin OLD.cubin\n");
        return 64;
    }
    fixed = strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(programs[i].name, argv[1]) == 0) {
            set_up(argv[3], argv[4]);
            load_all();
            for (int n = 0; n < programs[i].repeats; n++) {
                programs[i].run();
            }
            return 0;
        }
    }
    fprintf(stderr, "zoo: there is no program %s\n", argv[1]);
    return 64;
}
