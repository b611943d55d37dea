/* readback_nodes.h - the pair of readback.cu with what nodes tell of themselves. */
#ifndef READBACK_NODES_H_INCLUDED
#define READBACK_NODES_H_INCLUDED

#include <cuda.h>

#include "driver_function.h"

#define TOLD_BYTES 262144u
#define TOLD_LONG 131077u      /* bytes of a copy: neither below 65536 nor whole words */
#define TOLD_PITCH 32u

struct told {
    struct ask *ask;
    uint32_t *words;           /* of the device: TOLD_BYTES twice */
    cudaEvent_t event[2];
    struct kernel_args args[2];
};

enum teller { TELLS_KERNEL, TELLS_SET, TELLS_ROWS, TELLS_COPY, TELLS_COPIED_ROWS, TELLS_LAYERS, TELLS_HOST, TELLS_RECORD, TELLS_WAIT, TELLERS,
              TELLS_HALVES = TELLERS };
static const char *const teller_name[TELLERS + 1] = { "a kernel", "a memset", "a memset of rows", "a copy", "a copy of rows", "a copy of layers",
                                                      "a host function", "a record", "a wait", "a memset of two bytes each" };
static const enum teller captured_tellers[] = { TELLS_KERNEL, TELLS_SET, TELLS_ROWS, TELLS_COPY, TELLS_COPIED_ROWS, TELLS_LAYERS, TELLS_HOST,
                                               TELLS_HALVES };

static void CUDART_CB told_host(void *opaque) { (void)opaque; }
static void CUDART_CB told_host_too(void *opaque) { *(uint32_t *)opaque += 1; }

/* Each is given the first parameters or the second ones. No kernel of these grids runs: their dimensions need all of their bits. */
static struct cudaKernelNodeParams told_kernel(struct told *told, unsigned which, void **values)
{
    struct cudaKernelNodeParams params = PDL_ZERO;

    values[0] = &told->args[which];
    params.func = which ? (void *)SYMBOL(readback_other) : (void *)SYMBOL(readback_nothing);
    params.gridDim.x = which ? 70001 : 2;
    params.gridDim.y = which ? 2 : 300;
    params.gridDim.z = which ? 400 : 5;
    params.blockDim.x = which ? 2 : 4;
    params.blockDim.y = which ? 5 : 2;
    params.blockDim.z = which ? 1 : 3;
    params.sharedMemBytes = which ? 6000 : 160;
    params.kernelParams = values;
    return params;
}

static struct cudaMemsetParams told_set(const struct told *told, unsigned which, int rows)
{
    struct cudaMemsetParams set = PDL_ZERO;

    set.dst = told->words + (which ? 8 : 0);
    set.value = which ? 0x2345 : rows ? 0xFEDCBA98u : 0x12;
    set.elementSize = which ? 2 : rows ? 4 : 1;
    set.width = !which ? 7 : rows ? 3 : 70000;
    set.height = rows ? 2 + which : 1;
    set.pitch = rows ? TOLD_PITCH * (1 + which) : 0;
    return set;
}

static void told_copy(const struct told *told, unsigned which, char **to, const char **from, size_t *bytes)
{
    *to = (char *)told->words + (which ? 40 : 0);
    *from = (const char *)told->words + TOLD_BYTES + (which ? 4 : 8);
    *bytes = which ? TOLD_LONG : 20;
}

/* Of rows, or of layers: whatever may differ, does. */
static struct cudaMemcpy3DParms told_layers(const struct told *told, unsigned which, enum teller teller)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.dstPtr.ptr = (char *)told->words + (which ? 12 : 4);
    copy.srcPtr.ptr = (char *)told->words + TOLD_BYTES + (which ? 8 : 20);
    copy.dstPtr.pitch = copy.dstPtr.xsize = which ? 80 : 64;
    copy.srcPtr.pitch = copy.srcPtr.xsize = which ? 48 : 32;
    copy.dstPtr.ysize = which ? 6 : 5;
    copy.srcPtr.ysize = which ? 7 : 4;
    copy.extent.width = which ? 24 : 20;
    copy.extent.height = which ? 4 : 3;
    copy.extent.depth = teller == TELLS_LAYERS ? 2 + which : 1;
    copy.kind = cudaMemcpyDeviceToDevice;
    return copy;
}

static struct cudaHostNodeParams told_call(struct told *told, unsigned which)
{
    struct cudaHostNodeParams host = PDL_ZERO;

    host.fn = which ? told_host_too : told_host;
    host.userData = &told->args[which];
    return host;
}

static cudaError_t add_teller(struct told *told, enum teller teller, cudaGraph_t graph, cudaGraphNode_t *node)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams set = told_set(told, 0, teller == TELLS_ROWS);
    struct cudaMemcpy3DParms layers = told_layers(told, 0, teller);
    struct cudaHostNodeParams host = told_call(told, 0);
    const char *from;
    void *values[1];
    size_t bytes;
    char *to;

    switch (teller) {
    case TELLS_KERNEL: kernel = told_kernel(told, 0, values); return cudaGraphAddKernelNode(node, graph, NULL, 0, &kernel);
    case TELLS_SET:
    case TELLS_ROWS: return cudaGraphAddMemsetNode(node, graph, NULL, 0, &set);
    case TELLS_COPY:
        told_copy(told, 0, &to, &from, &bytes);
        return cudaGraphAddMemcpyNode1D(node, graph, NULL, 0, to, from, bytes, cudaMemcpyDeviceToDevice);
    case TELLS_COPIED_ROWS:
    case TELLS_LAYERS: return cudaGraphAddMemcpyNode(node, graph, NULL, 0, &layers);
    case TELLS_HOST: return cudaGraphAddHostNode(node, graph, NULL, 0, &host);
    case TELLS_RECORD: return cudaGraphAddEventRecordNode(node, graph, NULL, 0, told->event[0]);
    default: return cudaGraphAddEventWaitNode(node, graph, NULL, 0, told->event[0]);
    }
}

/* The second parameters. */
static cudaError_t change_teller(struct told *told, enum teller teller, cudaGraphNode_t node)
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams set = told_set(told, 1, teller == TELLS_ROWS);
    struct cudaMemcpy3DParms layers = told_layers(told, 1, teller);
    struct cudaHostNodeParams host = told_call(told, 1);
    const char *from;
    void *values[1];
    size_t bytes;
    char *to;

    switch (teller) {
    case TELLS_KERNEL: kernel = told_kernel(told, 1, values); return cudaGraphKernelNodeSetParams(node, &kernel);
    case TELLS_SET:
    case TELLS_ROWS: return cudaGraphMemsetNodeSetParams(node, &set);
    case TELLS_COPY:
        told_copy(told, 1, &to, &from, &bytes);
        return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, cudaMemcpyDeviceToDevice);
    case TELLS_COPIED_ROWS:
    case TELLS_LAYERS: return cudaGraphMemcpyNodeSetParams(node, &layers);
    case TELLS_HOST: return cudaGraphHostNodeSetParams(node, &host);
    case TELLS_RECORD: return cudaGraphEventRecordNodeSetEvent(node, told->event[1]);
    default: return cudaGraphEventWaitNodeSetEvent(node, told->event[1]);
    }
}

/* ---- what is told ---- */

static void expect_axes(struct ask *ask, const char *text, dim3 is, dim3 want)
{
    ask_expect_number(ask, text, (long)is.x, (long)want.x);
    ask_expect_number(ask, text, (long)is.y, (long)want.y);
    ask_expect_number(ask, text, (long)is.z, (long)want.z);
}

/* By the name that the host has for it, or by the device's. */
static int is_function(const void *is, const void *want)
{
    cudaFunction_t device = NULL;
    int same = is == want || (cudaGetFuncBySymbol(&device, want) == cudaSuccess && (const void *)device == is);

    (void)cudaGetLastError();
    return same;
}

/* What a call leaves as it was shows: no answer looks like that. */
#define UNTOLD 0x5A

static void expect_kernel(struct told *told, const char *what, cudaGraphNode_t node, unsigned which)
{
    struct ask *ask = told->ask;
    struct cudaKernelNodeParams is, want;
    void *values[1];
    char text[96];

    memset((void *)&is, UNTOLD, sizeof(is));
    want = told_kernel(told, which, values);
    ask_expect(ask, what, cudaGraphKernelNodeGetParams(node, &is), cudaSuccess);
    snprintf(text, sizeof(text), "the function of %s", what);
    ask_expect_number(ask, text, is_function(is.func, want.func), 1);
    snprintf(text, sizeof(text), "the grid of %s", what);
    expect_axes(ask, text, is.gridDim, want.gridDim);
    snprintf(text, sizeof(text), "the block of %s", what);
    expect_axes(ask, text, is.blockDim, want.blockDim);
    snprintf(text, sizeof(text), "the dynamic shared memory of %s", what);
    ask_expect_number(ask, text, (long)is.sharedMemBytes, (long)want.sharedMemBytes);
    snprintf(text, sizeof(text), "the argument of %s", what);
    ask_expect_number(ask, text, is.kernelParams && is.kernelParams[0] && memcmp(is.kernelParams[0], values[0], sizeof(struct kernel_args)) == 0, 1);
    snprintf(text, sizeof(text), "other arguments of %s", what); /* beside these they would be refused, if somebody gave them back */
    ask_expect_number(ask, text, is.extra == NULL, 1);
}

static void expect_no_arrays(struct told *told, const char *what, const struct cudaMemcpy3DParms *is)
{
    char text[128];

    snprintf(text, sizeof(text), "the arrays of %s, which has none", what);
    ask_expect_number(told->ask, text, is->srcArray == NULL && is->dstArray == NULL, 1);
}

static void expect_set(struct told *told, const char *what, cudaGraphNode_t node, unsigned which, int rows)
{
    struct ask *ask = told->ask;
    struct cudaMemsetParams is, want = told_set(told, which, rows);
    char text[96];

    memset(&is, UNTOLD, sizeof(is));
    ask_expect(ask, what, cudaGraphMemsetNodeGetParams(node, &is), cudaSuccess);
    snprintf(text, sizeof(text), "where %s goes", what);
    ask_expect_number(ask, text, is.dst == want.dst, 1);
    snprintf(text, sizeof(text), "the value of %s", what);
    ask_expect_number(ask, text, (long)is.value, (long)want.value);
    snprintf(text, sizeof(text), "the elements of %s", what);
    ask_expect_number(ask, text, (long)is.elementSize, (long)want.elementSize);
    ask_expect_number(ask, text, (long)is.width, (long)want.width);
    snprintf(text, sizeof(text), "the rows of %s", what);
    ask_expect_number(ask, text, (long)is.height, (long)want.height);
    if (rows) /* "Unused if height is 1" */
        ask_expect_number(ask, text, (long)is.pitch, (long)want.pitch);
}

static void expect_copy(struct told *told, const char *what, cudaGraphNode_t node, unsigned which)
{
    struct ask *ask = told->ask;
    struct cudaMemcpy3DParms is;
    const char *from;
    char *to, text[96];
    size_t bytes;

    memset(&is, UNTOLD, sizeof(is));
    told_copy(told, which, &to, &from, &bytes);
    ask_expect(ask, what, cudaGraphMemcpyNodeGetParams(node, &is), cudaSuccess);
    snprintf(text, sizeof(text), "where %s goes", what);
    ask_expect_number(ask, text, (char *)is.dstPtr.ptr + is.dstPos.x == to, 1);
    snprintf(text, sizeof(text), "where %s comes from", what);
    ask_expect_number(ask, text, (const char *)is.srcPtr.ptr + is.srcPos.x == from, 1);
    snprintf(text, sizeof(text), "the bytes of %s", what);
    ask_expect_number(ask, text, (long)is.extent.width, (long)bytes);
    ask_expect_number(ask, text, is.extent.height <= 1 && is.extent.depth <= 1, 1);
    expect_no_arrays(told, what, &is);
}

static const char *first_byte(const struct cudaPitchedPtr *at, const struct cudaPos *pos)
{
    return (const char *)at->ptr + (pos->z * at->ysize + pos->y) * at->pitch + pos->x;
}

static void expect_layers(struct told *told, const char *what, cudaGraphNode_t node, unsigned which, enum teller teller)
{
    struct ask *ask = told->ask;
    struct cudaMemcpy3DParms is, want = told_layers(told, which, teller);
    char text[128];

    memset(&is, UNTOLD, sizeof(is));
    ask_expect(ask, what, cudaGraphMemcpyNodeGetParams(node, &is), cudaSuccess);
    snprintf(text, sizeof(text), "where %s goes, and comes from", what);
    ask_expect_number(ask, text, first_byte(&is.dstPtr, &is.dstPos) == (const char *)want.dstPtr.ptr, 1);
    ask_expect_number(ask, text, first_byte(&is.srcPtr, &is.srcPos) == (const char *)want.srcPtr.ptr, 1);
    snprintf(text, sizeof(text), "the bytes of a row, rows and layers of %s", what);
    ask_expect_number(ask, text, (long)is.extent.width, (long)want.extent.width);
    ask_expect_number(ask, text, (long)is.extent.height, (long)want.extent.height);
    ask_expect_number(ask, text, (long)(is.extent.depth ? is.extent.depth : 1), (long)want.extent.depth);
    snprintf(text, sizeof(text), "the pitches of %s", what);
    ask_expect_number(ask, text, (long)is.dstPtr.pitch, (long)want.dstPtr.pitch);
    ask_expect_number(ask, text, (long)is.srcPtr.pitch, (long)want.srcPtr.pitch);
    if (teller != TELLS_LAYERS) /* one layer has no distance to the next one */
        return;
    snprintf(text, sizeof(text), "the rows from layer to layer of %s", what);
    ask_expect_number(ask, text, (long)is.dstPtr.ysize, (long)want.dstPtr.ysize);
    ask_expect_number(ask, text, (long)is.srcPtr.ysize, (long)want.srcPtr.ysize);
    expect_no_arrays(told, what, &is);
}

static void expect_call(struct told *told, const char *what, cudaGraphNode_t node, unsigned which)
{
    struct cudaHostNodeParams is, want = told_call(told, which);

    memset(&is, UNTOLD, sizeof(is));
    ask_expect(told->ask, what, cudaGraphHostNodeGetParams(node, &is), cudaSuccess);
    ask_expect_number(told->ask, what, is.fn == want.fn, 1);
    ask_expect_number(told->ask, what, is.userData == want.userData, 1);
}

static const enum cudaGraphNodeType teller_type[TELLERS] = { cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemset,
                                                             cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy,
                                                             cudaGraphNodeTypeHost, cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent };

static void expect_told(struct told *told, const char *whose, enum teller teller, cudaGraphNode_t node, unsigned which)
{
    enum cudaGraphNodeType type = cudaGraphNodeTypeCount;
    cudaEvent_t event = NULL;
    cudaError_t error;
    char what[64];

    snprintf(what, sizeof(what), "%s %s", teller_name[teller], whose);
    ask_expect(told->ask, what, cudaGraphNodeGetType(node, &type), cudaSuccess);
    ask_expect_number(told->ask, what, (long)type, (long)teller_type[teller]);
    switch (teller) {
    case TELLS_KERNEL: expect_kernel(told, what, node, which); return;
    case TELLS_SET:
    case TELLS_ROWS: expect_set(told, what, node, which, teller == TELLS_ROWS); return;
    case TELLS_COPY: expect_copy(told, what, node, which); return;
    case TELLS_COPIED_ROWS:
    case TELLS_LAYERS: expect_layers(told, what, node, which, teller); return;
    case TELLS_HOST: expect_call(told, what, node, which); return;
    default: break;
    }
    error = teller == TELLS_RECORD ? cudaGraphEventRecordNodeGetEvent(node, &event) : cudaGraphEventWaitNodeGetEvent(node, &event);
    ask_expect(told->ask, what, error, cudaSuccess);
    ask_expect_number(told->ask, what, event == told->event[which], 1);
}

/* Whether an executable graph has a node that was left out of it and taken back, as kernels, memsets and copies can be. */
static void expect_enabled(struct told *told, const char *whose, enum teller teller, cudaGraph_t graph, cudaGraphNode_t node)
{
    cudaGraphExec_t exec = NULL;
    cudaError_t error;
    unsigned i, is, told_so = 0;
    char what[96];

    if (teller == TELLS_HOST || teller == TELLS_RECORD || teller == TELLS_WAIT)
        return;
    snprintf(what, sizeof(what), "whether there is %s %s", teller_name[teller], whose);
    error = cudaGraphInstantiate(&exec, graph, 0);
    for (i = 0; i < 3 && error == cudaSuccess; i++) {
        is = 7;
        if (i)
            error = cudaGraphNodeSetEnabled(exec, node, i - 1);
        if (error == cudaSuccess)
            error = cudaGraphNodeGetEnabled(exec, node, &is);
        told_so = told_so * 10 + is;
    }
    ask_expect(told->ask, what, error, cudaSuccess);
    ask_expect_number(told->ask, what, (long)told_so, 101); /* there, left out, taken back */
    if (exec)
        (void)cudaGraphExecDestroy(exec);
}

/* A clone keeps what its original was given before; it is changed by itself. */
static void ask_teller(struct told *told, enum teller teller)
{
    struct ask *ask = told->ask;
    const char *what = teller_name[teller];
    cudaGraph_t graph = NULL, clone = NULL, later = NULL;
    cudaGraphNode_t node = NULL, cloned = NULL, late = NULL;

    ask_expect(ask, what, cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, what, add_teller(told, teller, graph, &node), cudaSuccess);
    expect_told(told, "as it was made", teller, node, 0);
    ask_expect(ask, "a clone", cudaGraphClone(&clone, graph), cudaSuccess);
    ask_expect(ask, "its node", cudaGraphNodeFindInClone(&cloned, node, clone), cudaSuccess);
    expect_told(told, "of a clone", teller, cloned, 0);
    ask_expect(ask, what, change_teller(told, teller, node), cudaSuccess);
    expect_told(told, "that was changed", teller, node, 1);
    expect_told(told, "of a clone whose original was changed", teller, cloned, 0);
    ask_expect(ask, "a later clone", cudaGraphClone(&later, graph), cudaSuccess);
    ask_expect(ask, "its node", cudaGraphNodeFindInClone(&late, node, later), cudaSuccess);
    expect_told(told, "of a later clone", teller, late, 1);
    ask_expect(ask, what, change_teller(told, teller, cloned), cudaSuccess);
    expect_told(told, "of a clone that was changed", teller, cloned, 1);
    expect_enabled(told, "that was changed", teller, graph, node);
    expect_told(told, "whose graph was made executable", teller, node, 1);
    expect_enabled(told, "of a clone", teller, clone, cloned);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(clone);
    (void)cudaGraphDestroy(later);
}

/* ---- captured ---- */

#define SET_BYTES 24u          /* of each captured memset, or of a row of it */
#define SET_ROWS 3u
#define SET_VALUE 0x41
#define SET_HALF 0x2345

static cudaError_t set_halves(struct told *told, cudaStream_t stream)
{
    typedef CUresult(CUDAAPI *set_16)(CUdeviceptr, unsigned short, size_t, CUstream);
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)told->words;
    void *function;
    cudaError_t error = driver_function("cuMemsetD16Async", 3020, &function);

    return error == cudaSuccess ? (cudaError_t)((set_16)function)(at, SET_HALF, SET_BYTES / 2, stream) : error;
}

static cudaError_t queue_teller(struct told *told, enum teller teller, cudaStream_t stream)
{
    cudaLaunchConfig_t config = PDL_ZERO;
    struct cudaMemcpy3DParms layers = told_layers(told, 1, teller);
    struct cudaKernelNodeParams kernel;
    const char *from;
    void *values[1];
    size_t bytes;
    char *to;

    told_copy(told, 1, &to, &from, &bytes);
    switch (teller) {
    case TELLS_KERNEL:
        kernel = told_kernel(told, 1, values);
        config.gridDim = kernel.gridDim;
        config.blockDim = kernel.blockDim;
        config.dynamicSmemBytes = kernel.sharedMemBytes;
        config.stream = stream;
        return cudaLaunchKernelExC(&config, kernel.func, values);
    case TELLS_SET: return cudaMemsetAsync(told->words, SET_VALUE, SET_BYTES, stream);
    case TELLS_ROWS: return cudaMemset2DAsync(told->words, TOLD_PITCH, SET_VALUE, SET_BYTES, SET_ROWS, stream);
    case TELLS_HALVES: return set_halves(told, stream);
    case TELLS_COPY: return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    case TELLS_COPIED_ROWS:
        return cudaMemcpy2DAsync(layers.dstPtr.ptr, layers.dstPtr.pitch, layers.srcPtr.ptr, layers.srcPtr.pitch, layers.extent.width,
                                 layers.extent.height, cudaMemcpyDeviceToDevice, stream);
    case TELLS_LAYERS: return cudaMemcpy3DAsync(&layers, stream);
    default: return cudaLaunchHostFunc(stream, told_host_too, &told->args[1]);
    }
}

/* By whatever elements it sets them that hold the value. */
static void expect_captured_set(struct told *told, enum teller teller, cudaGraphNode_t node)
{
    struct ask *ask = told->ask;
    struct cudaMemsetParams is = PDL_ZERO;
    unsigned halves = teller == TELLS_HALVES, rows = teller == TELLS_ROWS, i;
    long value = halves ? SET_HALF : SET_VALUE << 8 | SET_VALUE;

    ask_expect(ask, "a captured memset", cudaGraphMemsetNodeGetParams(node, &is), cudaSuccess);
    ask_expect_number(ask, "where a captured memset goes", is.dst == told->words, 1);
    for (i = 0; i < is.elementSize && i < 4; i++)
        ask_expect_number(ask, "the value of a captured memset", (long)(is.value >> 8 * i & 255), value >> 8 * (i % 2) & 255);
    ask_expect_number(ask, "elements of a captured memset that are shorter than its value", is.elementSize < 1 + halves, 0);
    ask_expect_number(ask, "the bytes of a captured memset", (long)(is.width * is.elementSize * (rows ? 1 : is.height)), (long)SET_BYTES);
    if (rows)
        ask_expect_number(ask, "the rows of a captured memset", (long)is.height, (long)SET_ROWS);
    if (rows)
        ask_expect_number(ask, "the pitch of a captured memset", (long)is.pitch, TOLD_PITCH);
}

static void ask_captured_teller(struct told *told, enum teller teller)
{
    struct ask *ask = told->ask;
    cudaStream_t stream = ask->stream;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    size_t one = 1;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error == cudaSuccess)
        error = queue_teller(told, teller, stream);
    end = cudaStreamEndCapture(stream, &graph);
    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = cudaGraphGetNodes(graph, &node, &one);
    ask_expect(ask, teller_name[teller], error, cudaSuccess);
    if (error == cudaSuccess && (teller == TELLS_SET || teller == TELLS_ROWS || teller == TELLS_HALVES))
        expect_captured_set(told, teller, node);
    else if (error == cudaSuccess)
        expect_told(told, "that was captured", teller, node, 1);
    if (error == cudaSuccess)
        expect_enabled(told, "that was captured", teller, graph, node);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

/* ---- child graphs ---- */

/* "Gets a handle to the embedded graph in a child graph node. This call does not clone the graph." The graph of another child node that was made of
 * the same one, and that of a clone, are others. */
static void ask_child(struct told *told, enum teller teller)
{
    struct ask *ask = told->ask;
    cudaGraph_t source = NULL, graph = NULL, clone = NULL, inner = NULL, again = NULL, twin = NULL, other = NULL;
    cudaGraphNode_t node = NULL, child[2] = { NULL, NULL }, cloned = NULL;
    size_t nodes = 0, one = 1;

    ask_expect(ask, "a graph", cudaGraphCreate(&source, 0), cudaSuccess);
    ask_expect(ask, "its node", add_teller(told, teller, source, &node), cudaSuccess);
    ask_expect(ask, "a graph around it", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a child graph", cudaGraphAddChildGraphNode(&child[0], graph, NULL, 0, source), cudaSuccess);
    ask_expect(ask, "another one", cudaGraphAddChildGraphNode(&child[1], graph, NULL, 0, source), cudaSuccess);
    ask_expect(ask, "a clone", cudaGraphClone(&clone, graph), cudaSuccess);
    ask_expect(ask, "the child graph of the clone", cudaGraphNodeFindInClone(&cloned, child[1], clone), cudaSuccess);
    ask_expect(ask, "its graph", cudaGraphChildGraphNodeGetGraph(child[1], &inner), cudaSuccess);
    ask_expect(ask, "its graph once more", cudaGraphChildGraphNodeGetGraph(child[1], &again), cudaSuccess);
    ask_expect(ask, "the graph of the first one", cudaGraphChildGraphNodeGetGraph(child[0], &twin), cudaSuccess);
    ask_expect(ask, "the graph of the clone's", cudaGraphChildGraphNodeGetGraph(cloned, &other), cudaSuccess);
    ask_expect_number(ask, "it is the same graph each time", inner == again, 1);
    ask_expect_number(ask, "it is not the one that it was made of, nor another child's", inner != source && inner != twin, 1);
    ask_expect_number(ask, "that of the clone is another one", other != inner && other != source && other != twin, 1);
    ask_expect(ask, "its nodes", cudaGraphGetNodes(other, NULL, &nodes), cudaSuccess);
    ask_expect_number(ask, "its nodes", (long)nodes, 1);
    ask_expect(ask, "its node", cudaGraphGetNodes(inner, &node, &one), cudaSuccess);
    expect_told(told, "in a child graph", teller, node, 0);
    ask_expect(ask, "other parameters", change_teller(told, teller, node), cudaSuccess);
    expect_told(told, "that was changed in a child graph", teller, node, 1);
    ask_expect(ask, "the node of the clone", cudaGraphGetNodes(other, &node, &one), cudaSuccess);
    expect_told(told, "in the child graph of a clone", teller, node, 0);
    ask_expect(ask, "the node of the first child graph", cudaGraphGetNodes(twin, &node, &one), cudaSuccess);
    expect_told(told, "in another child graph", teller, node, 0);
    (void)cudaGraphDestroy(source);
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(clone);
}

#if CUDART_VERSION >= 12040
static void ask_in_body(struct told *told, enum teller teller)
{
    struct ask *ask = told->ask;
    cudaGraph_t graph = NULL, body = NULL;
    cudaGraphNode_t node = NULL;

    ask_expect(ask, "a graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "a body", ask_add_if(&node, graph, graph, 1, &body), cudaSuccess);
    ask_expect(ask, "its node", add_teller(told, teller, body, &node), cudaSuccess);
    expect_told(told, "in a body", teller, node, 0);
    ask_expect(ask, "other parameters", change_teller(told, teller, node), cudaSuccess);
    expect_told(told, "that was changed in a body", teller, node, 1);
    (void)cudaGraphDestroy(graph);
}
#endif

static void ask_nodes(struct ask *ask)
{
    struct told told = PDL_ZERO;
    unsigned i;
    cudaError_t error = cudaMalloc((void **)&told.words, 2 * TOLD_BYTES);

    told.ask = ask;
    for (i = 0; i < 2 && error == cudaSuccess; i++) {
        told.args[i].data = told.words + i;
        error = cudaEventCreateWithFlags(&told.event[i], cudaEventDisableTiming);
    }
    ask_expect(ask, "memory and events", error, cudaSuccess);
    for (i = 0; i < TELLERS && error == cudaSuccess; i++) {
        ask_teller(&told, (enum teller)i);
        ask_child(&told, (enum teller)i);
#if CUDART_VERSION >= 12040
        if (i < TELLS_HOST && has_conditions())
            ask_in_body(&told, (enum teller)i);
#endif
    }
    for (i = 0; i < sizeof(captured_tellers) / sizeof(captured_tellers[0]) && error == cudaSuccess; i++)
        ask_captured_teller(&told, captured_tellers[i]);
    for (i = 0; i < 2; i++)
        if (told.event[i])
            (void)cudaEventDestroy(told.event[i]);
    (void)cudaFree(told.words);
}

#endif
