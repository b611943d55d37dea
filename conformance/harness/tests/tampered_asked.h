/* tampered_asked.h - a digest of what a case asks while nobody lies: each call, with what it is given.
 *
 * A case whose table lost a row, or that asks with another stream, port, flag or size, may compare as well as before, and what it asks is
 * another question. So each call goes into a digest, which is pinned: its name, its numbers, what the structures hold that it is given,
 * and of handles and memory which of those that were named before it is, so that no address counts. Answers are no part of it. */
#ifndef TAMPERED_ASKED_H_INCLUDED
#define TAMPERED_ASKED_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "kernel_args.h"
#include "model_kernel.h"

bool memory_contains(const void *p, size_t bytes); /* the model's: that it may be given to kernels */
bool memory_is_pinned(const void *p);

#define MOST_ENTRIES 64u
#define LEAST_ADDRESS 4096u    /* of what a caller may have; less: a field of NULL */
#define MOST_KERNELS 4096u
#define MOST_NAMED (1u << 15)  /* twice as many handles as are told apart in one case */
#define MOST_ARGS 4096u
#define ADDRESS_BITS 40        /* a word that needs more is an address */

#define NAME_OF(name) NAME_OF_(name)
#define NAME_OF_(name) #name

/* What a kernel's or a stream's attribute means: the rest of the union is nobody's. */
static size_t bytes_of_attribute(cudaLaunchAttributeID id)
{
    switch (id) {
    case cudaLaunchAttributeClusterDimension: return 3 * sizeof(unsigned);
    case cudaLaunchAttributeAccessPolicyWindow: return offsetof(struct cudaAccessPolicyWindow, missProp) + sizeof(enum cudaAccessProperty);
    default: return sizeof(int);
    }
}

static int inside;             /* a call of the model's own */
static int noting;             /* while a case is asked and nobody lies */
static unsigned question;      /* the digest */
static unsigned questions;     /* calls in it */

/* ---- the kernels, by their addresses ---- */

static const struct model_kernel *kernel_at[MOST_KERNELS], *named_kernel; /* named_kernel: by the call that is noted now */
static unsigned kernels;
void __real_model_register_kernel(const struct model_kernel *kernel);
void __wrap_model_register_kernel(const struct model_kernel *kernel);

void __wrap_model_register_kernel(const struct model_kernel *kernel)
{
    if (kernels < MOST_KERNELS)
        kernel_at[kernels++] = kernel;
    __real_model_register_kernel(kernel);
}

static const struct model_kernel *kernel_of(const void *function)
{
    unsigned i;

    for (i = 0; i < kernels && kernel_at[i]->func != function; i++)
        ;
    return i < kernels ? kernel_at[i] : NULL;
}

/* ---- what is noted ---- */

static void note_number(unsigned long long number)
{
    for (; number > 255; number >>= 8)
        question = (question ^ (unsigned)(number & 255)) * 16777619u;
    question = (question ^ (unsigned)number ^ 256u) * 16777619u;
}

/* Up to the suffix that a toolkit may give it. */
static void note_name(const char *name)
{
    size_t i, length = strlen(name);

    if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v')
        length -= 3;
    for (i = 0; i < length; i++)
        question = (question ^ (unsigned char)name[i]) * 16777619u;
    question ^= 512u;
}

static struct {
    const void *named[MOST_NAMED];
    unsigned number[MOST_NAMED], places, count;
    const unsigned char *first; /* place in the device's memory */
} known;

static void begin_noting(void)
{
    memset(&known, 0, sizeof(known));
    question = questions = 0;
    noting = 1;
}

/* Where it stands among those that were named, or would stand. */
static unsigned place_among(const void *handle)
{
    unsigned at = (unsigned)(((uintptr_t)handle >> 4) * 2654435761u) % MOST_NAMED;

    while (known.named[at] && known.named[at] != handle)
        at = (at + 1) % MOST_NAMED;
    return at;
}

/* Where its number stands. */
static unsigned *number_of(const void *handle)
{
    static unsigned none;
    unsigned at = place_among(handle);

    if (!known.named[at] && known.places == MOST_NAMED / 2)
        return &none;
    known.places += !known.named[at];
    known.named[at] = handle;
    return &known.number[at];
}

/* The how-manieth of all that were named. */
static void note_handle(const void *handle)
{
    unsigned *number;

    if ((uintptr_t)handle < LEAST_ADDRESS) {
        note_number((uintptr_t)handle); /* no handle, or one of the streams that have a number */
        return;
    }
    number = number_of(handle);
    if (!*number)
        *number = ++known.count;
    note_number(*number);
}

/* Where in the device's memory, counted from the first place that was named there; of the host's memory nothing. */
static void note_place(const void *memory)
{
    if (!memory_contains(memory, 1)) {
        note_number(memory != NULL);
        return;
    }
    if (!known.first)
        known.first = (const unsigned char *)memory;
    note_number((unsigned long long)((const unsigned char *)memory - known.first));
}

/* ---- what the host hands the device: by a copy, or in memory that both see ---- */

static const void *handed;     /* the last memory that the call names; of a copy its source */
static size_t handed_bytes;
static int hands_over;         /* the call that is noted now is a plain copy */

static void note_bytes(const void *memory, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)memory;

    for (; bytes > 0; bytes--)
        question = (question ^ *byte++) * 16777619u;
}

static void note_content(unsigned kind)
{
    if (hands_over && kind == cudaMemcpyHostToDevice)
        note_bytes(handed, handed_bytes);
}

static void note_memory(const void *memory)
{
    const struct model_kernel *kernel = kernel_of(memory);

    handed = memory;
    if (!kernel) {
        note_place(memory);
        return;
    }
    named_kernel = kernel;
    note_name(kernel->name);
}

static void note_args(void **args)
{
    size_t i, bytes = named_kernel ? named_kernel->args_bytes : 0;
    struct kernel_args head;

    if (!bytes || bytes > MOST_ARGS || (uintptr_t)args < LEAST_ADDRESS)
        return;
    if (bytes >= sizeof(head)) { /* then they begin with those of all kernels */
        memcpy(&head, args[0], sizeof(head));
        if (memory_is_pinned(head.plan) && memory_contains(head.plan, sizeof(*head.plan)))
            note_bytes(head.plan, sizeof(*head.plan));
    }
    for (i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)args[0] + i, sizeof(word));
        if (i + sizeof(word) == bytes && !memory_contains((const void *)(uintptr_t)word, 1))
            word = (uint32_t)word; /* a structure may end with four bytes that are nobody's */
        if (word >> ADDRESS_BITS)
            note_place((const void *)(uintptr_t)word);
        else
            note_number(word);
    }
}

static void note_dim3(dim3 size) { note_number(size.x), note_number(size.y), note_number(size.z); }
static void note_nothing(const void *any) { (void)any; }
static void note_stream(cudaStream_t handle) { note_handle(handle); }
static void note_event(cudaEvent_t handle) { note_handle(handle); }
static void note_graph(cudaGraph_t handle) { note_handle(handle); }
static void note_node(cudaGraphNode_t handle) { note_handle(handle); }
static void note_exec(cudaGraphExec_t handle) { note_handle(handle); }

/* ---- lists, whose length is a later argument; attributes, whose kind is an earlier one ---- */

static struct {
    const cudaGraphNode_t *node[2];
    const cudaGraphEdgeData *data;
} listed;
static unsigned last_number;

static void note_nodes(const cudaGraphNode_t *nodes)
{
    if (listed.node[0])
        listed.node[1] = nodes;
    else
        listed.node[0] = nodes;
}

static void note_edges(const cudaGraphEdgeData *data) { listed.data = data; }

static void note_edge(const cudaGraphEdgeData *edge) { note_number(edge->from_port), note_number(edge->to_port), note_number(edge->type); }

static void note_size(size_t size)
{
    size_t i, side, count = size < MOST_ENTRIES ? size : MOST_ENTRIES;

    handed_bytes = size;
    note_number(size);
    for (side = 0; side < 2; side++)
        for (i = 0; listed.node[side] && i < count; i++)
            note_node(listed.node[side][i]);
    note_number(listed.data != NULL);
    for (i = 0; listed.data && i < count; i++)
        note_edge(&listed.data[i]);
    memset(&listed, 0, sizeof(listed));
}

static void note_unsigned(unsigned number)
{
    last_number = number;
    note_number(number);
    note_content(number);
}

static void note_int(int number) { note_number((unsigned)number); }
static void note_long(unsigned long long number) { note_number(number); }

static void note_attribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    unsigned words[16], i;

    if ((uintptr_t)value < LEAST_ADDRESS)
        return;
    switch (id) {
    case cudaLaunchAttributeProgrammaticEvent:
        note_event(value->programmaticEvent.event), note_int(value->programmaticEvent.flags), note_int(value->programmaticEvent.triggerAtBlockStart);
        return;
    case cudaLaunchAttributeLaunchCompletionEvent:
        note_event(value->launchCompletionEvent.event), note_int(value->launchCompletionEvent.flags);
        return;
    case cudaLaunchAttributeAccessPolicyWindow:
        note_place(value->accessPolicyWindow.base_ptr), note_number(value->accessPolicyWindow.num_bytes);
        note_number(value->accessPolicyWindow.hitProp), note_number(value->accessPolicyWindow.missProp);
        return;
    default: break;
    }
    memcpy(words, value, bytes_of_attribute(id));
    for (i = 0; i < bytes_of_attribute(id) / sizeof(unsigned); i++)
        note_number(words[i]);
}

static void note_value(const cudaLaunchAttributeValue *value) { note_attribute((cudaLaunchAttributeID)last_number, value); }

/* ---- structures ---- */

#define IF_GIVEN(pointer) if ((uintptr_t)(pointer) >= LEAST_ADDRESS)

static void note_config(const cudaLaunchConfig_t *config)
{
    unsigned i;

    IF_GIVEN(config) {
        note_dim3(config->gridDim), note_dim3(config->blockDim), note_number(config->dynamicSmemBytes), note_stream(config->stream);
        note_number(config->numAttrs);
        for (i = 0; config->attrs && i < config->numAttrs && i < MOST_ENTRIES; i++)
            note_number(config->attrs[i].id), note_attribute(config->attrs[i].id, &config->attrs[i].val);
    }
}

static void note_launch(const void *function, dim3 grid, dim3 block, unsigned shared, void **args)
{
    note_memory(function), note_dim3(grid), note_dim3(block), note_number(shared), note_args(args);
}

static void note_kernel(const struct cudaKernelNodeParams *p)
{
    IF_GIVEN(p)
        note_launch(p->func, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams);
}

static void note_set(const void *to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height)
{
    note_place(to), note_number(pitch), note_number(value), note_number(element), note_number(width), note_number(height);
}

static void note_memset(const struct cudaMemsetParams *p)
{
    IF_GIVEN(p)
        note_set(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height);
}

static void note_function(cudaHostFn_t function) { note_handle((const void *)(uintptr_t)function); }
static void note_callback(cudaStreamCallback_t function) { note_handle((const void *)(uintptr_t)function); }

static void note_pitched(const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    note_place(p->ptr), note_number(p->pitch), note_number(p->xsize), note_number(p->ysize);
    note_number(at->x), note_number(at->y), note_number(at->z);
}

static void note_copy(const struct cudaMemcpy3DParms *p)
{
    IF_GIVEN(p) {
        note_pitched(&p->srcPtr, &p->srcPos), note_pitched(&p->dstPtr, &p->dstPos), note_number(p->kind);
        note_number(p->srcArray || p->dstArray);
        note_number(p->extent.width), note_number(p->extent.height), note_number(p->extent.depth);
    }
}

static void note_host(const struct cudaHostNodeParams *p)
{
    IF_GIVEN(p)
        note_function(p->fn), note_place(p->userData);
}

static void note_allocation(const struct cudaMemAllocNodeParams *p)
{
    IF_GIVEN(p)
        note_number(p->bytesize);
}

static void note_params(const struct cudaGraphNodeParams *p)
{
    IF_GIVEN(p) {
        note_number(p->type);
        switch (p->type) {
        case cudaGraphNodeTypeKernel:
            note_launch(p->kernel.func, p->kernel.gridDim, p->kernel.blockDim, p->kernel.sharedMemBytes, p->kernel.kernelParams);
            break;
        case cudaGraphNodeTypeMemset:
            note_set(p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height);
            break;
        case cudaGraphNodeTypeMemcpy: note_copy(&p->memcpy.copyParams); break;
        case cudaGraphNodeTypeGraph: note_graph(p->graph.graph); break;
        case cudaGraphNodeTypeEventRecord: note_event(p->eventRecord.event); break;
        case cudaGraphNodeTypeWaitEvent: note_event(p->eventWait.event); break;
        case cudaGraphNodeTypeHost: note_function(p->host.fn), note_place(p->host.userData); break;
        case cudaGraphNodeTypeConditional: note_number(p->conditional.type), note_number(p->conditional.size); break;
        default: break;
        }
    }
}

static void note_more(const cudaGraphInstantiateParams *p)
{
    IF_GIVEN(p)
        note_number(p->flags), note_stream(p->uploadStream);
}

/* ---- a call with all that it is given ---- */

#define NOTE(a)                                                                                                                       \
    _Generic((a), unsigned: note_unsigned, int: note_int, size_t: note_size, unsigned long long: note_long, dim3: note_dim3,          \
        cudaStream_t: note_stream, cudaEvent_t: note_event, cudaGraph_t: note_graph, cudaGraphNode_t: note_node,                      \
        cudaGraphExec_t: note_exec, cudaHostFn_t: note_function, cudaStreamCallback_t: note_callback,                                         \
        void *: note_memory, const void *: note_memory, void **: note_args,                                                           \
        const cudaGraphNode_t *: note_nodes, const cudaGraphEdgeData *: note_edges, const cudaLaunchAttributeValue *: note_value,     \
        const cudaLaunchConfig_t *: note_config, const struct cudaKernelNodeParams *: note_kernel,                                    \
        const struct cudaMemsetParams *: note_memset, const struct cudaMemcpy3DParms *: note_copy,                                    \
        const struct cudaHostNodeParams *: note_host, struct cudaMemAllocNodeParams *: note_allocation,                               \
        struct cudaGraphNodeParams *: note_params, cudaGraphInstantiateParams *: note_more, default: note_nothing)(a)
/* Does this with each of the arguments. */
#define EACH_0(do_it)
#define EACH_1(do_it, a) do_it(a);
#define EACH_2(do_it, a, ...) do_it(a); EACH_1(do_it, __VA_ARGS__)
#define EACH_3(do_it, a, ...) do_it(a); EACH_2(do_it, __VA_ARGS__)
#define EACH_4(do_it, a, ...) do_it(a); EACH_3(do_it, __VA_ARGS__)
#define EACH_5(do_it, a, ...) do_it(a); EACH_4(do_it, __VA_ARGS__)
#define EACH_6(do_it, a, ...) do_it(a); EACH_5(do_it, __VA_ARGS__)
#define EACH_7(do_it, a, ...) do_it(a); EACH_6(do_it, __VA_ARGS__)
#define EACH_8(do_it, a, ...) do_it(a); EACH_7(do_it, __VA_ARGS__)
#define EACH_9(do_it, a, ...) do_it(a); EACH_8(do_it, __VA_ARGS__)
#define TENTH(a, b, c, d, e, f, g, h, i, j, chosen, ...) chosen
#define EACH(do_it, ...)                                                                                                         \
    TENTH(0, ##__VA_ARGS__, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, EACH_0)(do_it, ##__VA_ARGS__)
#define NOTE_EACH(...) EACH(NOTE, ##__VA_ARGS__)

static int notes(const char *name)
{
    if (!noting || inside)
        return 0;
    memset(&listed, 0, sizeof(listed));
    named_kernel = NULL;
    hands_over = strcmp(name, "cudaMemcpy") == 0 || strcmp(name, "cudaMemcpyAsync") == 0;
    note_name(name);
    return 1;
}

#define ASKED(name, args)                                            \
    if (notes(NAME_OF(name))) {                                      \
        NOTE_EACH args                                               \
        questions++;                                                 \
    }

#endif
