/* stand_in.c - a libcuda.so.1 and a CUPTI in one, without a GPU: enough of both for the tracing library and the zoo
 *
 * A module is a text file: "image PATH" (bytes handed out as the loaded image), then one line per kernel: name, registers,
 * static shared memory, PTX version, 1 if it triggers first thing, 1 if it waits. A launch gets a start and an end by the
 * facts that the reasons are about, on the host's clock: so a test sees whether the reasons are found again, and no more.
 */
#define _GNU_SOURCE
#include "stand_in_recording.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int result;
enum { SMS = 8, SM_THREADS = 2048, SM_SLOTS = 32, SM_REGISTERS = 65536, SM_SHARED = 228 << 10, RESERVED = 1024 };
enum { ARRIVAL_NS = 2000, RELEASE_NS = 1000, BOUNDARY_NS = 600, LOADING_NS = 50000, TOO_SHORT_NS = 1500 };

struct kernel {
    char name[128];
    int registers, static_shared, ptx, triggers, waits, carveout, loaded, recording;
    struct record_room room;
    struct kernel *next;
};
struct stream { int id, capturing; struct graph *graph; struct node *tail[8]; int tails; };
struct occupancy { uint64_t start, end, completes; struct kernel *kernel; unsigned grid, block, shared, prologue, rest; };
struct node {
    int type; /* as CUgraphNodeType */
    struct kernel *kernel;
    unsigned grid, block, shared, arguments[2];
    int programmatic_event;
    struct occupancy ran;
    uint64_t id;
    struct graph *child;
};
struct edge { struct node *from, *to; unsigned char data[8]; };
struct graph { struct node *nodes[64]; int count; struct edge edges[128]; int edge_count; unsigned id; struct graph *made_from; };
struct event { unsigned flags; struct stream *stream; struct occupancy at; struct node *node; int programmatic, capturing; };

union value { int number; char bytes[64]; struct { void *event; int flags, at_start; } event; };
struct attribute { int id; char pad[4]; union value value; };
struct configuration { unsigned grid[3], block[3], shared; void *stream; struct attribute *attributes; unsigned count; };

static struct stream default_stream = {7, 0, NULL, {0}, 0};
static struct { struct stream *stream; struct occupancy last; int between, timed; } tails[64];
static int tail_count, next_stream = 13;
static uint64_t next_node = 1;
static unsigned next_graph = 1, correlation;
static int context_made;

/* ---- CUPTI --------------------------------------------------------------------------------------------------------- */

static void (*wanted)(uint8_t **, size_t *, size_t *);
static void (*done)(void *, uint32_t, uint8_t *, size_t, size_t);
static void (*resource)(void *, int, uint32_t, const void *);
static int timing;
enum { RECORD_BYTES = 208, MOST_RECORDS = 1 << 16 };
static uint8_t *records;
static size_t record_count;
struct resource_data { void *context, *handle, *descriptor; };

static uint64_t host_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static uint64_t now(void) { return host_now() + 5000000000u; } /* another clock than the host's, as on a real device */

int cuptiActivityRegisterCallbacks(void *a, void *b) { wanted = a; done = b; return 0; }
int cuptiActivityEnable(int kind) { timing |= kind == 10; return 0; }
int cuptiActivityDisable(int kind) { timing &= kind != 10; return 0; }
int cuptiGetTimestamp(uint64_t *time) { *time = now(); return 0; }
int cuptiSubscribe(void **subscriber, void *callback, void *data) { *subscriber = data; resource = callback; return 0; }
int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id) { return (void)on, (void)subscriber, (void)domain, (void)id, 0; }
int cuptiGetStreamIdEx(void *context, struct stream *stream, uint8_t own, uint32_t *id)
{
    (void)context, (void)own;
    *id = (uint32_t)(stream ? stream->id : default_stream.id);
    return 0;
}
int cuptiGetGraphNodeId(struct node *node, uint64_t *id) { *id = node->id; return 0; }
int cuptiGetGraphExecId(struct graph *exec, uint32_t *id) { *id = exec->id; return 0; }
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    *record = *record ? *record + RECORD_BYTES : buffer;
    return *record + RECORD_BYTES <= buffer + valid ? 0 : 12;
}
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *number)
{
    const char *told = getenv("STAND_IN_DROPS");
    *number = told ? (size_t)atoi(told) : 0;
    return (void)context, (void)stream, 0;
}
int cuptiActivityFlushAll(uint32_t forced)
{
    size_t at = 0;
    (void)forced;
    while (done && at < record_count) {
        uint8_t *buffer = NULL;
        size_t room = 0, most = 0, n;
        wanted(&buffer, &room, &most);
        n = room / RECORD_BYTES < record_count - at ? room / RECORD_BYTES : record_count - at;
        memcpy(buffer, records + at * RECORD_BYTES, n * RECORD_BYTES);
        at += n;
        done(NULL, 0, buffer, room, n * RECORD_BYTES);
    }
    record_count = 0;
    return 0;
}

static void put(uint8_t *record, size_t at, const void *value, size_t bytes) { memcpy(record + at, value, bytes); }

static void recorded(const struct occupancy *ran, int stream, unsigned graph, uint64_t node)
{
    uint32_t kind = 10, one = 1, set = 32768, id = (uint32_t)stream;
    uint16_t registers = (uint16_t)ran->kernel->registers;
    const char *name = ran->kernel->name;
    if (ran->kernel->recording) {
        const struct kernel *k = ran->kernel;
        const struct times times = {ran->start, k->waits ? ran->start + ran->prologue : 0, k->waits ? ran->end - ran->rest : 0,
                                    k->triggers ? ran->start + 100 : 0, ran->end};
        record_blocks(&k->room, ran->grid, ran->block, &times);
    }
    if (!timing || record_count == MOST_RECORDS) {
        return;
    }
    records = records ? records : calloc(MOST_RECORDS, RECORD_BYTES);
    uint8_t *r = records + RECORD_BYTES * record_count++;
    memset(r, 0, RECORD_BYTES);
    put(r, 0, &kind, 4), put(r, 6, &registers, 2), put(r, 16, &ran->start, 8), put(r, 24, &ran->completes, 8), put(r, 48, &id, 4);
    put(r, 52, &ran->grid, 4), put(r, 56, &one, 4), put(r, 60, &one, 4);
    put(r, 64, &ran->block, 4), put(r, 68, &one, 4), put(r, 72, &one, 4);
    put(r, 76, &ran->kernel->static_shared, 4), put(r, 80, &ran->shared, 4), put(r, 92, &correlation, 4);
    put(r, 104, &name, sizeof name), put(r, 140, &set, 4), put(r, 144, &node, 8), put(r, 156, &graph, 4);
}

/* ---- the device ---------------------------------------------------------------------------------------------------- */

static int blocking(void)
{
    const char *text = getenv("CUDA_LAUNCH_BLOCKING");
    return text && strcmp(text, "1") == 0;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Blocks of the primary on one multiprocessor, and whether a block of the dependent fits beside them. */
static int has_room(const struct occupancy *a, const struct kernel *b, unsigned block, unsigned shared)
{
    unsigned warps = (a->block + 31) / 32 * 32, shared_a = (unsigned)a->kernel->static_shared + a->shared + RESERVED;
    unsigned fit = least(SM_SLOTS, least(SM_THREADS / warps, SM_SHARED / shared_a)), there = least(a->grid / SMS, fit);
    return there < SM_SLOTS && (SM_THREADS - there * warps) >= block && SM_SHARED - there * shared_a >= shared + (unsigned)b->static_shared + RESERVED;
}

static int splits_differ(const struct kernel *a, const struct kernel *b, unsigned grid)
{
    return a->carveout < 0 && a->static_shared == 0 && b->static_shared >= 4096 && grid >= SMS;
}

static struct occupancy ran(const struct occupancy *before, int asked, struct kernel *kernel, unsigned grid, unsigned block,
                            unsigned shared, const unsigned *arguments, uint64_t arrival, int held)
{
    struct occupancy out = {0, 0, 0, kernel, grid, block, shared, arguments[0], arguments[1]};
    uint64_t own = arguments[0] + arguments[1];
    int overlaps = asked && !held && before->kernel && before->kernel->ptx >= 90 && before->kernel->triggers
                   && before->completes - before->start > TOO_SHORT_NS && has_room(before, kernel, block, shared)
                   && !splits_differ(before->kernel, kernel, before->grid);
    out.start = arrival;
    if (before->kernel) {
        uint64_t free = overlaps ? before->start + RELEASE_NS : before->completes + BOUNDARY_NS + (held ? 2000 : 0);
        out.start = free > arrival ? free : arrival;
    }
    out.end = out.start + own;
    if (overlaps && kernel->waits && out.start + arguments[0] < before->completes) {
        out.end = before->completes + arguments[1];
    }
    out.completes = out.end + 500;
    return out;
}

static int tail_of(struct stream *stream)
{
    for (int i = 0; i < tail_count; i++) {
        if (tails[i].stream == stream) {
            return i;
        }
    }
    tails[tail_count].stream = stream;
    return tail_count++;
}

static struct stream *stream_of(void *stream) { return stream ? stream : &default_stream; }

/* ---- the driver ---------------------------------------------------------------------------------------------------- */

enum { DEINITIALIZED = 4, CONTEXT_IS_DESTROYED = 709 };
static int ended_with; /* what a copy answers after the process or the primary context has ended */
static void *current_context = &context_made, *context_below;

static void deinitialise(void) { ended_with = DEINITIALIZED; }
result cuInit(unsigned flags)
{
    static int called;
    return (void)flags, called++ ? 0 : atexit(deinitialise);
}
result cuDevicePrimaryCtxRetain(void **context, int device) { *context = &context_made; return device != 0; }
result cuDevicePrimaryCtxReset_v2(int device) { return ended_with = CONTEXT_IS_DESTROYED, device != 0; }
result cuCtxSetCurrent(void *context) { context_made = context != NULL; return 0; }
result cuCtxGetCurrent(void **context) { *context = current_context; return 0; }
result cuCtxPushCurrent_v2(void *context) { context_below = current_context; current_context = context; return 0; }
result cuCtxPopCurrent_v2(void **context) { *context = current_context; current_context = context_below; return 0; }
result cuCtxGetDevice(int *device) { *device = 0; return 0; }
result cuDeviceGetName(char *name, int room, int device) { return (void)device, snprintf(name, (size_t)room, "stand-in"), 0; }
result cuDeviceGetAttribute(int *value, int id, int device)
{
    static const int known[][2] = {{16, SMS}, {39, SM_THREADS}, {82, SM_REGISTERS}, {81, SM_SHARED}, {97, 227 << 10}, {106, SM_SLOTS},
                                   {10, 32}, {111, RESERVED}, {75, 9}, {76, 0}};
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i][0] == id) {
            *value = known[i][1];
            return 0;
        }
    }
    return 1;
}
result cuThreadExchangeStreamCaptureMode(int *mode) { return (void)mode, 0; }
result cuDeviceGetCount(int *count) { *count = 1; return 0; }
result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *on)
{
    return (void)on, memset((void *)(uintptr_t)to, value, bytes), 0;
}
result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    if (!ended_with && current_context == &context_made) {
        memcpy(to, (void *)(uintptr_t)from, bytes);
    }
    return ended_with ? ended_with : current_context != &context_made;
}
result cuStreamDestroy_v2(void *stream) { return free(stream), 0; }
result cuCtxSynchronize(void) { return 0; }
result cuMemAlloc_v2(uint64_t *pointer, size_t bytes) { *pointer = (uint64_t)(uintptr_t)malloc(bytes); return 0; }
result cuStreamCreate(void **stream, unsigned flags)
{
    struct stream *made = calloc(1, sizeof *made);
    (void)flags;
    made->id = next_stream++;
    *stream = made;
    return 0;
}

static void hand_out_image(const char *path)
{
    struct { uint32_t id; size_t size; const void *cubin; } module = {1, 0, NULL};
    struct resource_data data = {NULL, NULL, &module};
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 20];
    if (file && resource) {
        module.size = fread(bytes, 1, sizeof bytes, file);
        module.cubin = bytes;
        resource(NULL, 3, 6, &data);
    }
    if (file) {
        fclose(file);
    }
}

/* A real cubin: its entry functions, of which those trigger and wait that hold such an instruction. */
result cuModuleLoadData(void **module, const unsigned char *elf)
{
    uint64_t table, offset, size;
    uint16_t count;
    struct kernel *list = NULL;
    if (memcmp(elf, "\177ELF", 4) != 0) {
        return 200;
    }
    memcpy(&table, elf + 40, 8), memcpy(&count, elf + 60, 2);
    for (unsigned i = 0; i < count; i++) { /* the table of symbols names its table of strings */
        const unsigned char *section = elf + table + 64 * i, *names;
        uint32_t kind, link;
        memcpy(&kind, section + 4, 4), memcpy(&link, section + 40, 4);
        memcpy(&offset, section + 24, 8), memcpy(&size, section + 32, 8);
        if (kind != 2) {
            continue;
        }
        uint64_t strings;
        memcpy(&strings, elf + table + 64 * link + 24, 8);
        names = elf + strings;
        for (uint64_t at = offset; at + 24 <= offset + size; at += 24) {
            const unsigned char *symbol = elf + at, *text;
            uint32_t name;
            uint16_t index;
            uint64_t from, bytes;
            memcpy(&name, symbol, 4), memcpy(&index, symbol + 6, 2);
            if ((symbol[4] & 15) != 2 || !(symbol[5] & 0x10)) {
                continue;
            }
            struct kernel *k = calloc(1, sizeof *k);
            memcpy(&from, elf + table + 64u * index + 24, 8), memcpy(&bytes, elf + table + 64u * index + 32, 8);
            text = elf + from;
            snprintf(k->name, sizeof k->name, "%s", (const char *)names + name);
            k->registers = 16, k->ptx = 90, k->carveout = -1, k->next = list;
            for (uint64_t w = 0; w + 16 <= bytes; w += 16) {
                unsigned opcode = text[w] | (text[w + 1] & 15u) << 8;
                k->triggers |= opcode == 0x82d;
                k->waits |= opcode == 0x82e;
            }
            k->recording = recording_in(text, bytes, &k->room);
            list = k;
        }
    }
    *module = list;
    int waiting = 0;
    for (const struct kernel *k = list; k; k = k->next) {
        waiting += k->waits;
    }
    printf("loaded an image with %d waiting kernels\n", waiting);
    return list ? 0 : 200;
}

result cuModuleLoad(void **module, const char *path)
{
    char line[4096], image[4000];
    struct kernel *list = NULL;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        struct kernel k = {.carveout = -1};
        if (sscanf(line, "image %3999s", image) == 1) {
            hand_out_image(image);
        } else if (sscanf(line, "%127s %d %d %d %d %d", k.name, &k.registers, &k.static_shared, &k.ptx, &k.triggers, &k.waits) == 6) {
            k.next = list;
            list = malloc(sizeof k);
            *list = k;
        }
    }
    if (!list && file) {
        static unsigned char bytes[1 << 20];
        rewind(file);
        if (fread(bytes, 1, sizeof bytes, file) > 64) {
            fclose(file);
            return cuModuleLoadData(module, bytes);
        }
    }
    if (file) {
        fclose(file);
    }
    *module = list;
    return list ? 0 : 301;
}
result cuModuleGetFunction(void **function, void *module, const char *name)
{
    struct kernel *k = module;
    while (k && strcmp(k->name, name) != 0) {
        k = k->next;
    }
    *function = k;
    return k ? 0 : 500;
}
result cuFuncGetName(const char **name, struct kernel *k) { *name = k->name; return 0; }
result cuFuncGetAttribute(int *value, int id, struct kernel *k)
{
    *value = id == 1 ? k->static_shared : id == 4 ? k->registers : id == 5 ? k->ptx : id == 6 ? 90 : id == 9 ? k->carveout : 0;
    return 0;
}
result cuFuncSetAttribute(struct kernel *k, int id, int value)
{
    k->carveout = id == 9 ? value : k->carveout;
    return 0;
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

static struct event *spare; /* the last one that was destroyed: the next one gets its handle */

result cuEventCreate(void **event, unsigned flags)
{
    struct event *made = spare ? spare : calloc(1, sizeof *made);
    *made = (struct event){.flags = flags};
    spare = NULL;
    *event = made;
    return 0;
}
result cuEventDestroy_v2(struct event *event) { return spare = event, 0; }
result cuEventRecord(struct event *event, void *on)
{
    struct stream *stream = stream_of(on);
    int t = tail_of(stream);
    *event = (struct event){event->flags, stream, tails[t].last, stream->capturing && stream->tails ? stream->tail[0] : NULL, 0, stream->capturing};
    tails[t].between |= !stream->capturing && !(event->flags & 2);
    return 0;
}
result cuStreamWaitEvent(void *on, struct event *event, unsigned flags)
{
    struct stream *stream = stream_of(on);
    (void)flags;
    if (event->capturing && event->node) {
        tail_of(stream);
        stream->tails = stream->graph == event->stream->graph ? stream->tails : 0;
        stream->capturing = 1;
        stream->graph = event->stream->graph;
        stream->tail[stream->tails++] = event->node;
    } else if (event->at.kernel) {
        int t = tail_of(stream);
        if (event->at.completes > tails[t].last.completes) {
            tails[t].last = event->at;
        }
        tails[t].between = 1;
    }
    return 0;
}

static result passes(void *on, int type)
{
    struct stream *stream = stream_of(on);
    int t = tail_of(stream);
    if (stream->capturing) {
        return 900;
    }
    tails[t].between = type;
    return 0;
}
result cuMemsetD32Async(uint64_t at, unsigned value, size_t n, void *on) { return (void)at, (void)value, (void)n, passes(on, 1); }
result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *on) { return (void)to, (void)from, (void)n, passes(on, 1); }
result cuLaunchHostFunc(void *on, void (*call)(void *), void *data) { return call(data), passes(on, 1); }
result cuStreamSynchronize(void *on)
{
    uint64_t until = tails[tail_of(stream_of(on))].last.completes;
    struct timespec pause = {0, 20000};
    while (now() < until) {
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static void link_nodes(struct graph *graph, struct node *from, struct node *to, int programmatic)
{
    struct edge edge = {from, to, {0}};
    edge.data[0] = edge.data[2] = programmatic ? 1 : 0;
    graph->edges[graph->edge_count++] = edge;
}

static result captured(struct stream *stream, struct kernel *kernel, const struct configuration *c, const unsigned *arguments, int asked, struct event *event)
{
    struct node *node = calloc(1, sizeof *node);
    *node = (struct node){0, kernel, c->grid[0], c->block[0], c->shared, {arguments[0], arguments[1]}, event != NULL, {0}, next_node++};
    stream->graph->nodes[stream->graph->count++] = node;
    for (int i = 0; i < stream->tails; i++) { /* the attribute is about the stream's own last kernel */
        link_nodes(stream->graph, stream->tail[i], node, (asked && i == 0) || stream->tail[i]->programmatic_event);
    }
    stream->tails = 1;
    stream->tail[0] = node;
    if (event) {
        *event = (struct event){event->flags, stream, {0}, node, 1, 1};
    }
    return 0;
}

result cuLaunchKernelEx(const struct configuration *c, struct kernel *kernel, void **arguments, void **extra)
{
    struct stream *stream = stream_of(c->stream);
    unsigned values[2] = {*(unsigned *)arguments[0], *(unsigned *)arguments[1]};
    int asked = 0, cooperative = 0, t = tail_of(stream);
    struct event *event = NULL;
    (void)extra;
    for (unsigned i = 0; i < c->count; i++) {
        asked |= c->attributes[i].id == 6 && c->attributes[i].value.number;
        cooperative |= c->attributes[i].id == 2 && c->attributes[i].value.number;
        event = c->attributes[i].id == 7 ? c->attributes[i].value.event.event : event;
    }
    if (stream->capturing) {
        return captured(stream, kernel, c, values, asked, event);
    }
    correlation++;
    if (!kernel->loaded) { /* loading waits for what runs */
        kernel->loaded = 1;
        cuStreamSynchronize(c->stream);
        tails[t].between = 1;
    }
    tails[t].last = ran(&tails[t].last, asked && !cooperative && !blocking(), kernel, c->grid[0], c->block[0], c->shared, values,
                        now() + ARRIVAL_NS, tails[t].between);
    tails[t].between = 0;
    recorded(&tails[t].last, stream->id, 0, 0);
    if (event) {
        *event = (struct event){event->flags, stream, tails[t].last, NULL, 1, 0};
    }
    return blocking() ? cuStreamSynchronize(c->stream) : 0;
}

/* ---- graphs -------------------------------------------------------------------------------------------------------- */

result cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                      void *on, void **arguments, void **extra)
{
    const struct configuration c = {{gx, gy, gz}, {bx, by, bz}, shared, on, NULL, 0};
    return cuLaunchKernelEx(&c, kernel, arguments, extra);
}
result cuLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned shared, void *on, void **arguments)
{
    const struct configuration c = {{gx, gy, gz}, {bx, by, bz}, shared, on, NULL, 0};
    return cuLaunchKernelEx(&c, kernel, arguments, NULL);
}
result cuStreamIsCapturing(struct stream *stream, int *status) { *status = stream && stream->capturing; return 0; }
result cuStreamBeginCapture_v2(struct stream *stream, int mode)
{
    (void)mode;
    stream->capturing = 1;
    stream->tails = 0;
    stream->graph = calloc(1, sizeof *stream->graph);
    return 0;
}
result cuStreamEndCapture(struct stream *stream, void **graph)
{
    *graph = stream->graph;
    stream->capturing = 0;
    for (int i = 0; i < tail_count; i++) { /* and every stream that an event had brought in */
        tails[i].stream->capturing &= tails[i].stream->graph != stream->graph;
    }
    return 0;
}
result cuGraphGetNodes(struct graph *graph, void **nodes, size_t *count)
{
    for (int i = 0; nodes && i < graph->count; i++) {
        nodes[i] = graph->nodes[i];
    }
    *count = (size_t)graph->count;
    return 0;
}
result cuGraphNodeGetType(struct node *node, int *type) { *type = node->type; return 0; }
result cuGraphGetEdges_v2(struct graph *graph, void **from, void **to, unsigned char (*data)[8], size_t *count)
{
    for (int i = 0; from && i < graph->edge_count; i++) {
        from[i] = graph->edges[i].from;
        to[i] = graph->edges[i].to;
        memcpy(data[i], graph->edges[i].data, 8);
    }
    *count = (size_t)graph->edge_count;
    return 0;
}
struct parameters { void *function; unsigned grid[3], block[3], shared; void **arguments, **extra; void *kernel, *context; };
result cuGraphKernelNodeGetParams_v2(struct node *node, struct parameters *p)
{
    *p = (struct parameters){node->kernel, {node->grid, 1, 1}, {node->block, 1, 1}, node->shared, NULL, NULL, NULL, NULL};
    return 0;
}
result cuGraphKernelNodeGetAttribute(struct node *node, int id, void *value) { return (void)node, (void)id, (void)value, 1; }
result cuGraphInstantiateWithFlags(void **exec, struct graph *graph, uint64_t flags)
{
    struct graph *made = malloc(sizeof *made);
    (void)flags;
    *made = *graph;
    made->id = next_graph++;
    made->made_from = graph;
    for (int i = 0; i < made->count; i++) { /* the instantiation's nodes are clones with identities of their own */
        struct node *clone = malloc(sizeof *clone);
        *clone = *graph->nodes[i];
        clone->id = (uint64_t)made->id << 32 | (unsigned)i;
        struct { void *graph, *original_graph; struct node *node, *original; int type; void *dependency, *exec; } data =
            {made, graph, clone, graph->nodes[i], 0, NULL, made};
        struct resource_data to = {NULL, NULL, &data};
        if (resource) {
            resource(NULL, 3, 20, &to);
        }
        made->nodes[i] = clone;
        for (int e = 0; e < made->edge_count; e++) {
            made->edges[e].from = made->edges[e].from == graph->nodes[i] ? clone : made->edges[e].from;
            made->edges[e].to = made->edges[e].to == graph->nodes[i] ? clone : made->edges[e].to;
        }
    }
    *exec = made;
    return 0;
}
/* ---- graphs built by hand, cloned and changed ---------------------------------------------------------------------- */

result cuGraphCreate(void **graph, unsigned flags) { return (void)flags, (*graph = calloc(1, sizeof(struct graph))) == NULL; }
result cuGraphAddKernelNode_v2(struct node **out, struct graph *graph, struct node *const *before, size_t n, const struct parameters *p)
{
    struct node *node = calloc(1, sizeof *node);
    unsigned **arguments = (unsigned **)p->arguments;
    *node = (struct node){0, p->function, p->grid[0], p->block[0], p->shared, {*arguments[0], *arguments[1]}, 0, {0}, next_node++};
    graph->nodes[graph->count++] = node;
    for (size_t i = 0; i < n; i++) {
        link_nodes(graph, before[i], node, 0);
    }
    *out = node;
    return 0;
}
result cuGraphAddChildGraphNode(struct node **out, struct graph *graph, struct node *const *before, size_t n, struct graph *child)
{
    struct node *node = calloc(1, sizeof *node);
    *node = (struct node){.type = 4, .id = next_node++, .child = child};
    graph->nodes[graph->count++] = node;
    for (size_t i = 0; i < n; i++) {
        link_nodes(graph, before[i], node, 0);
    }
    *out = node;
    return 0;
}
result cuGraphChildGraphNodeGetGraph(const struct node *node, struct graph **child) { return (*child = node->child) == NULL; }
result cuGraphExecUpdate_v2(struct graph *exec, const struct graph *graph, void *info) { return (void)exec, (void)graph, info == NULL; }
result cuGraphClone(void **out, const struct graph *graph)
{
    struct graph *clone = malloc(sizeof *clone);
    *clone = *graph;
    clone->made_from = (struct graph *)graph;
    for (int i = 0; i < clone->count; i++) {
        struct node *node = malloc(sizeof *node);
        *node = *graph->nodes[i];
        node->id = next_node++;
        for (int e = 0; e < clone->edge_count; e++) {
            clone->edges[e].from = clone->edges[e].from == graph->nodes[i] ? node : clone->edges[e].from;
            clone->edges[e].to = clone->edges[e].to == graph->nodes[i] ? node : clone->edges[e].to;
        }
        clone->nodes[i] = node;
    }
    *out = clone;
    return 0;
}
result cuGraphNodeFindInClone(struct node **out, const struct node *node, const struct graph *clone)
{
    for (int i = 0; i < clone->count && clone->made_from; i++) {
        if (clone->made_from->nodes[i] == node) {
            *out = clone->nodes[i];
            return 0;
        }
    }
    return 1;
}
result cuGraphRemoveDependencies_v2(struct graph *graph, struct node **from, struct node **to, const void *data, size_t n)
{
    for (int e = 0; n == 1 && e < graph->edge_count; e++) {
        if (graph->edges[e].from == *from && graph->edges[e].to == *to && memcmp(graph->edges[e].data, data, 8) == 0) {
            graph->edges[e] = graph->edges[--graph->edge_count];
            return 0;
        }
    }
    return 1;
}
result cuGraphAddDependencies_v2(struct graph *graph, struct node **from, struct node **to, const void *data, size_t n)
{
    struct edge edge = {*from, *to, {0}};
    memcpy(edge.data, data, 8);
    graph->edges[graph->edge_count++] = edge;
    return n != 1;
}
/* Only a node of the graph that was instantiated names one of the instantiation. */
result cuGraphExecKernelNodeSetParams_v2(struct graph *exec, const struct node *node, const struct parameters *p)
{
    for (int i = 0; i < exec->count; i++) {
        if (exec->made_from->nodes[i] == node) {
            exec->nodes[i]->arguments[0] = *((unsigned **)p->arguments)[0];
            return 0;
        }
    }
    return 1;
}
result cuGraphExecDestroy(struct graph *exec) { return (void)exec, 0; }
result cuGraphLaunch(struct graph *exec, void *on)
{
    struct stream *stream = stream_of(on);
    int t = tail_of(stream);
    uint64_t arrival = now() + ARRIVAL_NS;
    correlation++;
    for (int i = 0; i < exec->count; i++) { /* nodes stand in the order in which they were captured; child graphs do not run */
        struct node *node = exec->nodes[i];
        struct occupancy before = {0};
        int into = 0, programmatic = 0;
        for (int e = 0; e < exec->edge_count; e++) {
            if (exec->edges[e].to == node) {
                into++;
                programmatic |= exec->edges[e].data[2];
                before = exec->edges[e].from->ran.completes > before.completes ? exec->edges[e].from->ran : before;
            }
        }
        before = into ? before : tails[t].last;
        if (node->child) {
            continue;
        }
        node->ran = ran(&before, programmatic && into == 1, node->kernel, node->grid, node->block, node->shared, node->arguments,
                        arrival, into == 0);
        recorded(&node->ran, stream->id, exec->id, node->id);
    }
    for (int i = 0; i < exec->count; i++) {
        if (exec->nodes[i]->ran.completes > tails[t].last.completes) {
            tails[t].last = exec->nodes[i]->ran;
        }
    }
    return 0;
}
