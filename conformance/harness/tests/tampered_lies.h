/* tampered_lies.h - the ways to lie that tampered_test.c has: of which calls each can be told, and how. */
#ifndef TAMPERED_LIES_H_INCLUDED
#define TAMPERED_LIES_H_INCLUDED

#include "tampered_asked.h"

#define MOST_BYTES 256u
#define FIELDS_AT_ONCE 4       /* of what is told in many words: at the next use the next ones */

enum way {
    WAY_NEVER_DONE, WAY_UNDONE, WAY_CODE, WAY_OTHER_CODE, WAY_LESS, WAY_MORE, WAY_AFTER, WAY_TO_AFTER, WAY_BEYOND, WAY_TO_BEYOND, WAY_DATA_BEYOND,
    WAY_TWICE, WAY_NODE, WAY_NO_NODE, WAY_TO, WAY_NO_TO, WAY_FROM_PORT, WAY_TO_PORT, WAY_TYPE, WAY_RESERVED, WAY_NUMBER, WAY_SMALLER, WAY_STALE,
    WAY_NEXT_BYTE, WAY_FIELD, WAY_LAST_FIELD = WAY_FIELD + FIELDS_AT_ONCE - 1, WAY_STATUS, WAY_CAPTURED, WAY_TIME, WAY_GRAPH, WAY_WORDS,
    WAY_ABSENT, WAY_TURNED, WAYS /* turned: no lie, for no order of a list is promised; it has to be accepted */
};
static const char *const way_name[WAYS] = {
    "undone, always", "undone", "code", "other code", "less", "more", "after", "after, to", "beyond", "beyond, to", "beyond, data", "twice", "node",
    "no node", "to", "no to", "from_port", "to_port", "type", "reserved", "number", "number, smaller", "stale", "next byte", "field", "field, second",
    "field, third", "field, fourth", "status", "captured", "time", "graph", "words",
    "absent", "turned"
};

/* What a call tells: its code and, where it tells more, pointers to that. */
struct told {
    enum call call;
    cudaError_t code;
    int undone, wanted;        /* wanted: it is falsified at this use */
    size_t *count, room;       /* room: that the caller has */
    cudaGraphNode_t *node, *to;
    cudaGraphEdgeData *data;
    const cudaGraphNode_t **borrowed_node; /* lists that stay the runtime's */
    const cudaGraphEdgeData **borrowed_data;
    void *value;
    size_t size;
    unsigned char before[MOST_BYTES]; /* what stood there */
    enum cudaStreamCaptureStatus *status;
    cudaGraph_t *captured;     /* while that is active */
    unsigned *words;
    float *ms;
    cudaGraph_t *graph;
};

static cudaError_t truth_of(struct told *told);
static int begins(struct told *told, enum call call, int does);
static unsigned counted;       /* calls that tell nothing here */

#define WRAP(name, params, args, where, does)                        \
    cudaError_t __real_##name params;                                \
    cudaError_t __wrap_##name params;                                \
    cudaError_t __wrap_##name params                                 \
    {                                                                \
        struct told told;                                            \
                                                                     \
        ASKED(name, args)                                            \
        memset(&told, 0, sizeof(told));                              \
        (void)(where);                                               \
        if (!begins(&told, CALL_##name, does))                       \
            return __real_##name args;                               \
        told.code = told.undone ? cudaSuccess : __real_##name args;  \
        return truth_of(&told);                                      \
    }
#define COUNT(name, params, args)                                    \
    cudaError_t __real_##name params;                                \
    cudaError_t __wrap_##name params;                                \
    cudaError_t __wrap_##name params                                 \
    {                                                                \
        ASKED(name, args)                                            \
        counted++;                                                   \
        return __real_##name args;                                   \
    }
#define TELL(name, params, args, where) WRAP(name, params, args, where, 0)
#define MAKE(name, params, args) WRAP(name, params, args, 0, 0)
#define DO(name, params, args) WRAP(name, params, args, 0, 1)
#include "tampered_calls.h"

/* A node and a graph that no case has made. */
static cudaGraph_t strange_graph(void)
{
    cudaGraph_t graph = NULL;

    (void)__real_cudaGraphCreate(&graph, 0);
    return graph;
}

static cudaGraphNode_t strange_node(void)
{
    cudaGraphNode_t node = NULL;

    (void)__real_cudaGraphAddEmptyNode(&node, strange_graph(), NULL, 0);
    return node;
}

static size_t entries_of(const struct told *told)
{
    size_t count = told->count ? *told->count : told->node ? 1 : 0;

    return count < told->room ? count : told->room;
}

static int is_query(enum call call) { return call == CALL_cudaEventQuery || call == CALL_cudaStreamQuery; }

static int has_more_room;      /* the case's arrays have: it asks whether more is written than it said there is room for */

static int is_whole_list(const struct told *told) { return told->count && told->node && !told->borrowed_node && entries_of(told); }

/* Why it refuses. */
static int says_why(enum call call) { return call == CALL_cudaGraphExecUpdate || call == CALL_cudaGraphInstantiateWithParams; }

/* Whether the case had set what stood there: no address that happened to lie on the stack, for each run has others. */
static int was_set(const struct told *told)
{
    size_t i;

    for (i = 0; i + sizeof(uint32_t) <= told->size; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, told->before + i, sizeof(word));
        if (word > UINT16_MAX && ~word > UINT16_MAX && word != (word & 255) * 0x01010101u)
            return 0;
    }
    return memcmp(told->value, told->before, told->size) != 0;
}

/* Whether this lie can be told here. */
static int applies(const struct told *told, enum way way)
{
    size_t entries = entries_of(told);
    int told_more = told->code == cudaSuccess || says_why(told->call);
    size_t fields = told->value ? told->size / sizeof(unsigned) : 0;

    if (way == WAY_CODE)
        return 1;
    if (way == WAY_OTHER_CODE)
        return told->code != cudaSuccess || is_query(told->call);
    if (way == WAY_GRAPH)
        return told->graph != NULL;
    if (!told_more)
        return 0;
    if (says_why(told->call) && told->code == cudaSuccess && told->node &&
        (way == WAY_NODE || way == WAY_NO_NODE || way == WAY_TO || way == WAY_NO_TO))
        return 0; /* nothing is named then */
    switch (way) {
    case WAY_LESS: return told->count && *told->count;
    case WAY_MORE: return told->count && (!told->node || entries < told->room);
    case WAY_AFTER:
    case WAY_TO_AFTER: return is_whole_list(told) && (way == WAY_AFTER || told->to) && entries < told->room;
    case WAY_BEYOND: return has_more_room && is_whole_list(told);
    case WAY_TO_BEYOND: return has_more_room && is_whole_list(told) && told->to;
    case WAY_DATA_BEYOND: return has_more_room && is_whole_list(told) && told->data;
    case WAY_TWICE: return told->node && entries > 1;
    case WAY_TURNED: return told->node && entries > 1 && *told->count == entries;
    case WAY_NODE:
    case WAY_NO_NODE: return told->node && entries;
    case WAY_TO:
    case WAY_NO_TO: return told->to && entries;
    case WAY_FROM_PORT:
    case WAY_TO_PORT:
    case WAY_TYPE:
    case WAY_RESERVED: return told->data && entries;
    case WAY_STALE: return told->value && told->size <= MOST_BYTES && was_set(told);
    case WAY_NUMBER:
    case WAY_SMALLER: return told->value != NULL;
    case WAY_STATUS: return told->status != NULL;
    case WAY_CAPTURED: return told->captured && told->status && *told->status == cudaStreamCaptureStatusActive;
    case WAY_NEXT_BYTE: return told->value && told->size > sizeof(long);
    case WAY_TIME: return told->ms != NULL;
    case WAY_WORDS: return told->words && told->size >= sizeof(told->words[0]);
    default: return way >= WAY_FIELD && way <= WAY_LAST_FIELD && (size_t)(way - WAY_FIELD) + 1 < fields;
    }
}

static void copy_entry(struct told *told, size_t to, size_t from)
{
    if (!told->node || to == from)
        return;
    told->node[to] = told->node[from];
    if (told->to)
        told->to[to] = told->to[from];
    if (told->data)
        told->data[to] = told->data[from];
}

/* The list from its end to its beginning. */
static void turn(struct told *told)
{
    size_t i, count = entries_of(told);
    cudaGraphNode_t node;
    cudaGraphEdgeData data;

    for (i = 0; i < count / 2; i++) {
        size_t other = count - 1 - i;
        node = told->node[i], told->node[i] = told->node[other], told->node[other] = node;
        if (told->to)
            node = told->to[i], told->to[i] = told->to[other], told->to[other] = node;
        if (told->data)
            data = told->data[i], told->data[i] = told->data[other], told->data[other] = data;
    }
}

static void add_to_words(struct told *told)
{
    size_t i;

    for (i = 0; i < told->size / sizeof(told->words[0]); i++)
        told->words[i]++;
}

/* One of those behind the first. */
static unsigned *field_of(struct told *told, enum way way, unsigned use)
{
    size_t fields = told->size / sizeof(unsigned);

    return (unsigned *)told->value + 1 + (use * FIELDS_AT_ONCE + (unsigned)(way - WAY_FIELD)) % (fields - 1);
}

static void lie(struct told *told, enum way way, size_t at, unsigned use)
{
    switch (way) {
    case WAY_CODE: told->code = told->code == cudaSuccess ? cudaErrorUnknown : cudaSuccess; break;
    case WAY_OTHER_CODE: told->code = told->code == cudaSuccess ? cudaErrorNotReady : cudaErrorUnknown; break;
    case WAY_LESS: --*told->count; break;
    case WAY_MORE: copy_entry(told, (*told->count)++, 0); break;
    case WAY_AFTER: told->node[entries_of(told)] = told->node[0]; break;
    case WAY_TO_AFTER: told->to[entries_of(told)] = told->to[0]; break;
    case WAY_BEYOND: told->node[told->room] = NULL; break;
    case WAY_TO_BEYOND: told->to[told->room] = NULL; break;
    case WAY_DATA_BEYOND: told->data[told->room] = told->data[0]; break;
    case WAY_TWICE: copy_entry(told, at, (at + 1) % entries_of(told)); break;
    case WAY_TURNED: turn(told); break;
    case WAY_NODE: told->node[at] = strange_node(); break;
    case WAY_NO_NODE: told->node[at] = NULL; break;
    case WAY_TO: told->to[at] = strange_node(); break;
    case WAY_NO_TO: told->to[at] = NULL; break;
    case WAY_FROM_PORT: told->data[at].from_port ^= 3; break;
    case WAY_TO_PORT: told->data[at].to_port ^= 1; break;
    case WAY_TYPE: told->data[at].type ^= 1; break;
    case WAY_RESERVED: told->data[at].reserved[0] ^= 1; break;
    case WAY_NUMBER: ++*(unsigned *)told->value; break;
    case WAY_SMALLER: --*(unsigned *)told->value; break;
    case WAY_STATUS: *told->status = (enum cudaStreamCaptureStatus)((*told->status + 1) % 3); break;
    case WAY_CAPTURED: *told->captured = strange_graph(); break;
    case WAY_STALE: memcpy(told->value, told->before, told->size); break;
    case WAY_NEXT_BYTE: ((unsigned char *)told->value)[1] ^= 1; break;
    case WAY_TIME: *told->ms /= 2; break;
    case WAY_GRAPH: *told->graph = *told->graph ? NULL : strange_graph(); break;
    case WAY_WORDS: add_to_words(told); break;
    default: ++*field_of(told, way, use); break;
    }
}

#endif
