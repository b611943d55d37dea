/* handles.c - numbers for kernels, streams and events. What the driver knows of each is asked once, in a mode that captures allow */
#define _GNU_SOURCE
#include "trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 4096, NAME_ROOM = 1 << 15 };
enum { STATIC_SHARED = 1, REGISTERS = 4, PTX_VERSION = 5, BINARY_VERSION = 6, MOST_DYNAMIC = 8, PREFERRED_CARVEOUT = 9 };
struct entry {
    const void *handle, *context;
    uint64_t value;
    int valid, tag;
    int changed; /* of a kernel: it was launched before, and an attribute of it was set since */
    struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *kernels[TABLE], *streams[TABLE], *events[TABLE];
static uint32_t kernel_count, stream_count;

static struct entry **bucket(struct entry **table, const void *handle)
{
    return &table[(((uintptr_t)handle >> 4) ^ ((uintptr_t)handle >> 16)) % TABLE];
}

static struct entry *find(struct entry **table, const void *handle, const void *context, int tag)
{
    struct entry *entry = *bucket(table, handle);
    while (entry && !(entry->handle == handle && entry->context == context && entry->tag == tag && entry->valid)) {
        entry = entry->next;
    }
    return entry;
}

static struct entry *add(struct entry **table, const void *handle, const void *context, int tag, uint64_t value)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct entry){handle, context, value, 1, tag, 0, *bucket(table, handle)};
        __atomic_store_n(bucket(table, handle), entry, __ATOMIC_RELEASE);
    }
    return entry;
}

static void *current_context(void)
{
    static result (*get)(void **);
    void *context = NULL;
    if (!get) {
        get = (result(*)(void **))driver_symbol("cuCtxGetCurrent");
    }
    return get && get(&context) == 0 ? context : NULL;
}

static int current_device(void)
{
    result (*get)(int *) = (result(*)(int *))driver_symbol("cuCtxGetDevice");
    int device = 0;
    return get && get(&device) == 0 ? device : 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

static int attribute_of(const void *handle, int attribute, int *known)
{
    result (*of_function)(int *, int, const void *) = (result(*)(int *, int, const void *))driver_symbol("cuFuncGetAttribute");
    result (*of_kernel)(int *, int, const void *, int) =
        (result(*)(int *, int, const void *, int))driver_symbol("cuKernelGetAttribute");
    int value = 0;
    *known = (of_function && of_function(&value, attribute, handle) == 0)
             || (of_kernel && of_kernel(&value, attribute, handle, current_device()) == 0);
    return value;
}

const char *kernel_name(const void *handle)
{
    static const char *const asked[] = {"cuFuncGetName", "cuKernelGetName"};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        result (*get)(const char **, const void *) = (result(*)(const char **, const void *))driver_symbol(asked[i]);
        const char *name = NULL;
        if (get && get(&name, handle) == 0 && name) {
            return name;
        }
    }
    return NULL;
}

static void write_kernel(uint32_t number, const void *handle)
{
    static const struct { int id; const char *name; } asked[] = {
        {STATIC_SHARED, "static_shared"}, {REGISTERS, "registers"}, {PTX_VERSION, "ptx_version"},
        {BINARY_VERSION, "binary_version"}, {MOST_DYNAMIC, "most_dynamic_shared"}, {PREFERRED_CARVEOUT, "carveout"}};
    const char *name = kernel_name(handle);
    char *text = malloc(NAME_ROOM), more[512];
    size_t used = 0;
    more[0] = 0;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        int known, value = attribute_of(handle, asked[i].id, &known);
        if (known) {
            used += (size_t)snprintf(more + used, sizeof more - used, ",\"%s\":%d", asked[i].name, value);
        }
    }
    if (text) {
        json_text(text, NAME_ROOM, name ? name : "");
        record("{\"kernel\":%u,\"name\":%s,\"device\":%d%s}", number, text, current_device(), more);
    }
    free(text);
}

static int was_launched(const void *handle)
{
    int found = 0;
    for (const struct entry *entry = *bucket(kernels, handle); entry; entry = entry->next) {
        found |= entry->handle == handle && entry->changed;
    }
    return found;
}

/* What was written of the kernel no longer holds: at its next launch it gets another number. Of all that can be set only the
 * carve-out matters here; some programs set others before every launch. A handle of another kind than the one that is
 * launched cannot be told apart, so every kernel is asked again then. */
void kernel_changed(const void *handle, int attribute)
{
    if (attribute != PREFERRED_CARVEOUT) {
        return;
    }
    pthread_mutex_lock(&lock);
    struct entry *known = find(kernels, handle, NULL, 0);
    for (size_t i = 0; i < TABLE; i++) {
        for (struct entry *entry = kernels[i]; entry; entry = entry->next) {
            if (entry->valid && (entry == known || known == NULL)) {
                entry->valid = 0;
                entry->changed = 1;
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

uint32_t kernel_number(const void *handle, int *first)
{
    const struct entry *entry = find(kernels, handle, NULL, 0);
    *first = 0;
    if (entry) {
        return (uint32_t)entry->value;
    }
    pthread_mutex_lock(&lock);
    entry = find(kernels, handle, NULL, 0);
    uint32_t number = entry ? (uint32_t)entry->value : kernel_count;
    if (!entry) {
        result (*mode)(int *) = (result(*)(int *))driver_symbol("cuThreadExchangeStreamCaptureMode");
        int relaxed = 2, changed = mode && mode(&relaxed) == 0; /* asking may load code, which a capture forbids */
        *first = !was_launched(handle);
        kernel_count++;
        write_kernel(number, handle);
        add(kernels, handle, NULL, 0, number);
        if (changed) {
            mode(&relaxed);
        }
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void forget_kernels(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TABLE; i++) {
        for (struct entry *entry = kernels[i]; entry; entry = entry->next) {
            entry->valid = entry->changed = 0;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ---- devices ------------------------------------------------------------------------------------------------------- */

/* What a multiprocessor has room for, once per device. */
static void write_device(int device)
{
    enum { MOST_DEVICES = 256 };
    static const struct { int id; const char *name; } asked[] = {
        {16, "sms"}, {75, "cc_major"}, {76, "cc_minor"}, {106, "block_slots"}, {39, "threads"}, {82, "registers"},
        {81, "shared"}, {10, "warp"}, {111, "reserved_shared"}};
    static unsigned char written[MOST_DEVICES];
    result (*attribute)(int *, int, int) = (result(*)(int *, int, int))driver_symbol("cuDeviceGetAttribute");
    result (*name)(char *, int, int) = (result(*)(char *, int, int))driver_symbol("cuDeviceGetName");
    char text[256] = "", quoted[1600], more[512];
    size_t used = 0;
    if (!attribute || device < 0 || device >= MOST_DEVICES || written[device]) {
        return;
    }
    written[device] = 1;
    more[0] = 0;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        int value = 0;
        if (attribute(&value, asked[i].id, device) == 0) {
            used += (size_t)snprintf(more + used, sizeof more - used, ",\"%s\":%d", asked[i].name, value);
        }
    }
    if (name) {
        name(text, sizeof text - 1, device);
    }
    json_text(quoted, sizeof quoted, text);
    record("{\"device\":%d,\"name\":%s%s}", device, quoted, more);
}

/* ---- streams ------------------------------------------------------------------------------------------------------- */

uint32_t stream_number(const void *stream, int per_thread)
{
    enum { ORDINARY, PER_THREAD };
    void *context = current_context();
    uintptr_t handle = (uintptr_t)stream;
    int own = (handle == 0 && per_thread) || handle == 2; /* CU_STREAM_PER_THREAD */
    int tag = own ? (int)thread_number() : ORDINARY;
    const void *key = handle <= 2 ? (const void *)(uintptr_t)(own ? 2 : 1) : stream;
    const struct entry *entry = find(streams, key, context, tag);
    if (entry) {
        return (uint32_t)entry->value;
    }
    pthread_mutex_lock(&lock);
    uint32_t number = stream_count++;
    write_device(current_device());
    record("{\"stream\":%u,\"device\":%d,\"context\":\"%p\",\"id\":%lld,\"kind\":\"%s\"}", number, current_device(), context,
               (long long)activity_stream_id(context, stream, per_thread), own ? "per-thread" : handle <= 1 ? "default" : "created");
    add(streams, key, context, tag, number);
    pthread_mutex_unlock(&lock);
    return number;
}

void forget_stream(const void *stream)
{
    pthread_mutex_lock(&lock);
    for (struct entry *entry = *bucket(streams, stream); entry; entry = entry->next) {
        entry->valid &= entry->handle != stream;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

void event_created(const void *event, unsigned flags)
{
    enum { DISABLE_TIMING = 2 };
    pthread_mutex_lock(&lock);
    struct entry *entry = find(events, event, NULL, 0);
    if (entry) {
        entry->value = !(flags & DISABLE_TIMING);
    } else {
        add(events, event, NULL, 0, !(flags & DISABLE_TIMING));
    }
    pthread_mutex_unlock(&lock);
}

int event_is_timed(const void *event)
{
    const struct entry *entry = find(events, event, NULL, 0);
    return entry && entry->value;
}
