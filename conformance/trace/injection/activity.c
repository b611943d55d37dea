/* activity.c - times of the device, from CUPTI's activity records; and each image that was loaded, as the driver took it
 *
 * CUPTI is found at run time, so that the library needs none of its headers. Of each record only the fields are read
 * that have stood at the same place in every version since CUDA 12.0.
 */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIND_COPY = 1, KIND_MEMSET = 2, KIND_CONCURRENT_KERNEL = 10 };
enum { DOMAIN_RESOURCE = 3, MODULE_LOADED = 6, NODE_CLONED = 20 };
enum { BUFFER_BYTES = 4 << 20, LINE_ROOM = 512 };

/* Places of the fields of CUpti_ActivityKernel8 and newer. */
enum {
    K_REGISTERS = 6, K_START = 16, K_END = 24, K_DEVICE = 40, K_CONTEXT = 44, K_STREAM = 48, K_GRID = 52, K_BLOCK = 64,
    K_STATIC = 76, K_DYNAMIC = 80, K_CORRELATION = 92, K_NAME = 104, K_SHARED_SET = 140, K_NODE = 144, K_GRAPH = 156
};
enum { COPY_START = 16, COPY_END = 24, COPY_DEVICE = 32, COPY_STREAM = 40, COPY_CORRELATION = 44 };
enum { MEMSET_START = 16, MEMSET_END = 24, MEMSET_DEVICE = 32, MEMSET_STREAM = 40, MEMSET_CORRELATION = 44 };

struct module_data { uint32_t id; size_t size; const void *cubin; };
struct graph_data { void *graph, *original_graph, *node, *original_node; int type; void *dependency, *exec; };
struct resource_data { void *context, *handle, *descriptor; };

static struct {
    int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*enable)(int);
    int (*disable)(int);
    int (*next_record)(uint8_t *, size_t, uint8_t **);
    int (*flush_all)(uint32_t);
    int (*dropped)(void *, uint32_t, size_t *);
    int (*timestamp)(uint64_t *);
    int (*stream_id)(void *, const void *, uint8_t, uint32_t *);
    int (*node_id)(const void *, uint64_t *);
    int (*exec_id)(const void *, uint32_t *);
    int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
    int (*enable_callback)(uint32_t, void *, int, uint32_t);
    int on;
} cupti;

static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t u32(const uint8_t *record, size_t at)
{
    uint32_t value;
    memcpy(&value, record + at, sizeof value);
    return value;
}

static uint64_t u64(const uint8_t *record, size_t at)
{
    uint64_t value;
    memcpy(&value, record + at, sizeof value);
    return value;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------- */

static void buffer_wanted(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

/* Names are long and few: each is written once. CUPTI keeps one copy per name, so its address names it. */
static uint32_t name_number(const char *name)
{
    enum { TABLE = 4096 };
    static struct named { const char *name; char *copy; uint32_t number; struct named *next; } *table[TABLE];
    static uint32_t count;
    struct named **slot = &table[((uintptr_t)name >> 3) % TABLE], *found;
    for (found = *slot; found && !(found->name == name && strcmp(found->copy, name) == 0); found = found->next) {
    }
    if (!found && (found = calloc(1, sizeof *found)) != NULL) {
        size_t room = 6 * strlen(name) + 16;
        char *text = malloc(room);
        *found = (struct named){name, strdup(name), count++, *slot};
        *slot = found;
        if (text) {
            json_text(text, room, name);
            char *line = malloc(room + 64);
            if (line) {
                int n = snprintf(line, room + 64, "{\"name\":%u,\"text\":%s}\n", found->number, text);
                write_block(line, (size_t)n);
            }
            free(line);
        }
        free(text);
    }
    return found ? found->number : 0;
}

static size_t format_kernel(char *out, const uint8_t *r)
{
    const char *name;
    memcpy(&name, r + K_NAME, sizeof name);
    uint16_t registers;
    memcpy(&registers, r + K_REGISTERS, sizeof registers);
    return (size_t)snprintf(out, LINE_ROOM, "[\"K\",%llu,%llu,%u,%u,%u,%u,%llu,%u,[%u,%u,%u],[%u,%u,%u],%u,%u,%u,%u]\n",
                            (unsigned long long)u64(r, K_START), (unsigned long long)u64(r, K_END), u32(r, K_DEVICE),
                            u32(r, K_STREAM), u32(r, K_CORRELATION), u32(r, K_GRAPH), (unsigned long long)u64(r, K_NODE),
                            name ? name_number(name) : 0, u32(r, K_GRID), u32(r, K_GRID + 4), u32(r, K_GRID + 8), u32(r, K_BLOCK),
                            u32(r, K_BLOCK + 4), u32(r, K_BLOCK + 8), u32(r, K_STATIC), u32(r, K_DYNAMIC), registers,
                            u32(r, K_SHARED_SET));
}

static size_t format_record(char *out, const uint8_t *r)
{
    switch (u32(r, 0)) {
    case KIND_CONCURRENT_KERNEL:
        return format_kernel(out, r);
    case KIND_COPY:
    case KIND_MEMSET: {
        int copy = u32(r, 0) == KIND_COPY;
        return (size_t)snprintf(out, LINE_ROOM, "[\"%s\",%llu,%llu,%u,%u,%u]\n", copy ? "C" : "M",
                                (unsigned long long)u64(r, COPY_START), (unsigned long long)u64(r, COPY_END), u32(r, COPY_DEVICE),
                                u32(r, COPY_STREAM), u32(r, COPY_CORRELATION));
    }
    default:
        return 0;
    }
}

static void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    enum { ROOM = 1 << 18 };
    char *text = malloc(ROOM);
    uint8_t *activity = NULL;
    size_t used = 0, lost = 0;
    (void)size;
    pthread_mutex_lock(&name_lock);
    while (text && cupti.next_record(buffer, valid, &activity) == 0) {
        used += format_record(text + used, activity);
        if (used + LINE_ROOM > ROOM) {
            write_block(text, used);
            used = 0;
        }
    }
    if (text && used) {
        write_block(text, used);
    }
    pthread_mutex_unlock(&name_lock);
    if (cupti.dropped && cupti.dropped(context, stream, &lost) == 0 && lost) {
        record("{\"dropped\":%llu}", (unsigned long long)lost);
    }
    free(text);
    free(buffer);
}

/* ---- images and graph nodes ---------------------------------------------------------------------------------------- */

static uint64_t digest(const uint8_t *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u, word;
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        memcpy(&word, data + i, 8);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    for (; i < size; i++) {
        hash = (hash ^ data[i]) * 0x100000001b3u;
    }
    return hash;
}

static void image_loaded(const struct module_data *module)
{
    char path[4096];
    if (!module || !module->cubin || !module->size || !trace_folder()) {
        return;
    }
    uint64_t hash = digest(module->cubin, module->size);
    snprintf(path, sizeof path, "%s/image-%016llx.cubin", trace_folder(), (unsigned long long)hash);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        const char *data = module->cubin;
        size_t left = module->size;
        ssize_t n = 1;
        while (left && (n = write(file, data, left)) > 0) {
            data += n;
            left -= (size_t)n;
        }
        close(file);
    }
    record("{\"image\":\"%016llx\",\"bytes\":%zu}", (unsigned long long)hash, module->size);
}

static void resource_callback(void *unused, int domain, uint32_t id, const void *data)
{
    const struct resource_data *resource = data;
    (void)unused;
    if (domain != DOMAIN_RESOURCE || !resource || !resource->descriptor) {
        return;
    }
    if (id == MODULE_LOADED) {
        image_loaded(resource->descriptor);
    } else if (id == NODE_CLONED) {
        const struct graph_data *graph = resource->descriptor;
        int64_t from = activity_node_id(graph->original_node), to = activity_node_id(graph->node);
        if (from >= 0 && to >= 0) {
            record("[\"clone\",%lld,%lld]", (long long)from, (long long)to);
        }
    }
}

/* ---- beginning and end --------------------------------------------------------------------------------------------- */

static void *open_cupti(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *chosen = getenv("PDL_TRACE_CUPTI");
    void *handle = chosen && *chosen ? dlopen(chosen, RTLD_NOW) : NULL;
    for (size_t i = 0; !handle && !chosen && i < sizeof names / sizeof names[0]; i++) {
        handle = dlopen(names[i], RTLD_NOW);
    }
    return handle;
}

static int find_functions(void *handle)
{
    const struct { const char *name; void **place; int needed; } functions[] = {
        {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks, 1},
        {"cuptiActivityEnable", (void **)&cupti.enable, 1},
        {"cuptiActivityDisable", (void **)&cupti.disable, 1},
        {"cuptiActivityGetNextRecord", (void **)&cupti.next_record, 1},
        {"cuptiActivityFlushAll", (void **)&cupti.flush_all, 1},
        {"cuptiGetTimestamp", (void **)&cupti.timestamp, 1},
        {"cuptiActivityGetNumDroppedRecords", (void **)&cupti.dropped, 0},
        {"cuptiGetStreamIdEx", (void **)&cupti.stream_id, 0},
        {"cuptiGetGraphNodeId", (void **)&cupti.node_id, 0},
        {"cuptiGetGraphExecId", (void **)&cupti.exec_id, 0},
        {"cuptiSubscribe", (void **)&cupti.subscribe, 0},
        {"cuptiEnableCallback", (void **)&cupti.enable_callback, 0}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        *functions[i].place = dlsym(handle, functions[i].name);
        if (functions[i].needed && !*functions[i].place) {
            record("{\"note\":\"%s is missing from CUPTI\"}", functions[i].name);
            return 0;
        }
    }
    return 1;
}

static void subscribe(void)
{
    void *subscriber = NULL;
    int code = cupti.subscribe && cupti.enable_callback ? cupti.subscribe(&subscriber, resource_callback, NULL) : -1;
    if (code != 0) {
        record("{\"subscribe\":%d}", code);
        return;
    }
    cupti.enable_callback(1, subscriber, DOMAIN_RESOURCE, MODULE_LOADED);
    cupti.enable_callback(1, subscriber, DOMAIN_RESOURCE, NODE_CLONED);
}

void activity_start(void)
{
    const char *wanted = getenv("PDL_TRACE_TIMES");
    if (wanted && strcmp(wanted, "0") == 0) {
        record("{\"times\":\"off\"}");
        return;
    }
    void *handle = open_cupti();
    if (!handle) {
        record("{\"times\":\"no CUPTI\"}");
        return;
    }
    if (!find_functions(handle)) {
        return;
    }
    subscribe();
    int code = cupti.register_callbacks(buffer_wanted, buffer_done);
    code = code ? code : cupti.enable(KIND_CONCURRENT_KERNEL);
    cupti.on = code == 0;
    if (cupti.on) {
        cupti.enable(KIND_COPY);
        cupti.enable(KIND_MEMSET);
    }
    record("{\"times\":\"%s\",\"code\":%d}", cupti.on ? "CUPTI" : "refused", code);
}

/* One of N launches of graphs is timed, and one of N stretches of plain launches between synchronisations: whole steps, so
 * that the pairs in them are as they would be. Nothing is switched while a launch is under way in another thread. */
int activity_sampled(int operation)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned every, units;
    static int on = 1, begins = 1;
    if (!cupti.on) {
        return 1;
    }
    pthread_mutex_lock(&lock);
    if (!every) {
        const char *text = getenv("PDL_TRACE_SAMPLE");
        every = text && atoi(text) > 1 ? (unsigned)atoi(text) : 1;
    }
    if (operation == OP_SYNCHRONIZE) {
        begins = 1;
    } else if (every > 1 && (operation == OP_GRAPH || begins)) {
        int wanted = units++ % every == 0;
        begins = operation == OP_GRAPH;
        if (wanted != on) {
            on = wanted;
            (on ? cupti.enable : cupti.disable)(KIND_CONCURRENT_KERNEL);
        }
    }
    int answer = on;
    pthread_mutex_unlock(&lock);
    return answer;
}

void activity_flush(int all)
{
    if (cupti.on) {
        cupti.flush_all(all ? 1 : 0);
    }
}

uint64_t activity_now(void)
{
    uint64_t now = 0;
    return cupti.on && cupti.timestamp(&now) == 0 ? now : 0;
}

int64_t activity_stream_id(void *context, const void *stream, int per_thread)
{
    uint32_t id = 0;
    return cupti.on && cupti.stream_id && cupti.stream_id(context, stream, per_thread != 0, &id) == 0 ? (int64_t)id : -1;
}

int64_t activity_node_id(const void *node)
{
    uint64_t id = 0;
    return cupti.on && cupti.node_id && cupti.node_id(node, &id) == 0 ? (int64_t)id : -1;
}

int64_t activity_exec_id(const void *exec)
{
    uint32_t id = 0;
    return cupti.on && cupti.exec_id && cupti.exec_id(exec, &id) == 0 ? (int64_t)id : -1;
}
