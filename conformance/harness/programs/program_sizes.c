/* program_sizes.c - memsets and copies of graphs, built, captured and in a child graph, of sizes from one byte up: to the last byte and no
 * further. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "try.h"

#define MOST_BYTES ((size_t)1 << 20 | 3u)
#define VALUE 0x5Au

#define BEFORE 0x33u           /* what the copy's memory holds before */

/* One item of device memory: a memset of one row, or of all but the first of several, or the first layer of them, then a copy of what it left. */
struct item {
    unsigned char *set, *copy; /* in device memory, MOST_BYTES and one more */
    size_t bytes, begin;       /* of a row; begin: where both start */
    size_t rows, layers, pitch, copy_pitch; /* rows: of all layers */
};

static size_t rows_of_layer(const struct item *item) { return item->rows / item->layers; }
static size_t skipped(const struct item *item) { return item->rows == 1 ? 0 : item->layers > 1 ? rows_of_layer(item) : 1; }

static struct cudaMemcpy3DParms rows_copy(const struct item *item)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.kind = cudaMemcpyDeviceToDevice;
    copy.srcPtr.ptr = item->set;
    copy.srcPtr.pitch = copy.srcPtr.xsize = item->pitch;
    copy.dstPtr.ptr = item->copy;
    copy.dstPtr.pitch = copy.dstPtr.xsize = item->copy_pitch;
    copy.srcPtr.ysize = copy.dstPtr.ysize = rows_of_layer(item);
    copy.srcPos.x = copy.dstPos.x = item->begin;
    copy.srcPos.y = copy.dstPos.y = item->layers == 1;
    copy.srcPos.z = copy.dstPos.z = item->layers > 1;
    copy.extent.width = item->bytes;
    copy.extent.height = rows_of_layer(item) - (item->layers == 1);
    copy.extent.depth = item->layers - (item->layers > 1);
    return copy;
}

static cudaError_t build(const struct item *item, cudaGraph_t graph)
{
    struct cudaMemsetParams set = PDL_ZERO;
    struct cudaMemcpy3DParms copy = rows_copy(item);
    cudaGraphNode_t first, second;

    set.dst = item->set + item->begin + skipped(item) * item->pitch;
    set.value = VALUE;
    set.elementSize = 1;
    set.width = item->bytes;
    set.height = item->rows - skipped(item);
    set.pitch = item->pitch;
    TRY(cudaGraphAddMemsetNode(&first, graph, NULL, 0, &set));
    if (item->rows > 1)
        return cudaGraphAddMemcpyNode(&second, graph, &first, 1, &copy);
    return cudaGraphAddMemcpyNode1D(&second, graph, &first, 1, item->copy + item->begin, item->set + item->begin, item->bytes,
                                    cudaMemcpyDeviceToDevice);
}

static cudaError_t capture_copy(const struct item *item, cudaStream_t stream)
{
    struct cudaMemcpy3DParms layers = rows_copy(item);

    if (item->rows == 1)
        return cudaMemcpyAsync(item->copy + item->begin, item->set + item->begin, item->bytes, cudaMemcpyDeviceToDevice, stream);
    if (item->layers > 1)
        return cudaMemcpy3DAsync(&layers, stream);
    return cudaMemcpy2DAsync(item->copy + item->begin + item->copy_pitch, item->copy_pitch, item->set + item->begin + item->pitch, item->pitch,
                             item->bytes, item->rows - 1, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t capture(const struct item *item, cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraph_t out = NULL;
    cudaError_t error, end;

    TRY(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal));
    error = item->rows == 1 ? cudaMemsetAsync(item->set + item->begin, VALUE, item->bytes, stream)
                            : cudaMemset2DAsync(item->set + item->begin + skipped(item) * item->pitch, item->pitch, VALUE, item->bytes,
                                                item->rows - skipped(item), stream);
    if (error == cudaSuccess)
        error = capture_copy(item, stream);
    end = cudaStreamEndCapture(stream, &out);
    return error == cudaSuccess ? end : error;
}

static cudaError_t launch(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    cudaError_t error;

    TRY(cudaGraphInstantiate(&exec, graph, 0));
    error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    (void)cudaGraphExecDestroy(exec);
    return error;
}

/* As the only node of the graph. */
static cudaError_t build_inside(const struct item *item, cudaGraph_t graph)
{
    cudaGraph_t child;
    cudaGraphNode_t node;
    cudaError_t error;

    TRY(cudaGraphCreate(&child, 0));
    error = build(item, child);
    if (error == cudaSuccess)
        error = cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child);
    (void)cudaGraphDestroy(child);
    return error;
}

enum made_by { ITEM_BUILT, ITEM_CAPTURED, ITEM_INSIDE, ITEM_WAYS };

static cudaError_t run(const struct item *item, cudaStream_t stream, enum made_by made)
{
    cudaGraph_t graph;
    cudaError_t error;

    TRY(cudaMemsetAsync(item->set, 0, MOST_BYTES + 1, stream));
    TRY(cudaMemsetAsync(item->copy, BEFORE, MOST_BYTES + 1, stream));
    TRY(cudaGraphCreate(&graph, 0));
    error = made == ITEM_CAPTURED ? capture(item, graph, stream) : made == ITEM_INSIDE ? build_inside(item, graph) : build(item, graph);
    if (error == cudaSuccess)
        error = launch(graph, stream);
    (void)cudaGraphDestroy(graph);
    return error;
}

/* Whether the rows from this one on were written, and what lies around them was not. */
static int is_right(const struct item *item, const unsigned char *memory, size_t pitch, size_t first, unsigned before, unsigned char *host)
{
    size_t all = (item->rows - 1) * pitch + item->bytes, i;

    if (cudaMemcpy(host, memory, MOST_BYTES + 1, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 0;
    for (i = 0; i <= MOST_BYTES; i++) {
        size_t at = i - item->begin; /* before it: a large number */
        int is_set = i >= item->begin && at < all && at % pitch < item->bytes && at / pitch >= first;
        if (host[i] != (is_set ? VALUE : before))
            return 0;
    }
    return 1;
}

static int is_wrong(const struct item *item, cudaStream_t stream, enum made_by made, unsigned char *host)
{
    return run(item, stream, made) != cudaSuccess || !is_right(item, item->set, item->pitch, skipped(item), 0, host) ||
           !is_right(item, item->copy, item->copy_pitch, skipped(item), BEFORE, host);
}

void program_ask_sizes(struct ask *ask)
{
    static const size_t sizes[][3] = { /* bytes of a row, rows of all layers, layers */
        { 1, 1, 1 }, { 2, 1, 1 }, { 3, 1, 1 }, { 5, 1, 1 }, { 127, 1, 1 }, { 129, 1, 1 }, { 4093, 1, 1 }, { 4099, 1, 1 }, { 65537, 1, 1 },
        { MOST_BYTES - 1, 1, 1 }, { 3, 9, 1 }, { 1, 255, 1 }, { 7, 4099, 1 }, { 257, 1000, 1 },
        { 3, 9, 3 }, { 2, 1800, 600 } };
    struct item item = { NULL, NULL, 0, 0, 1, 1, 0, 0 };
    unsigned char *host = (unsigned char *)malloc(MOST_BYTES + 1);
    unsigned i, wrong = 0, made = 0;
    cudaError_t error = host ? cudaMalloc((void **)&item.set, MOST_BYTES + 1) : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = cudaMalloc((void **)&item.copy, MOST_BYTES + 1);
    ask_expect(ask, "memory for memsets and copies", error, cudaSuccess);
    for (i = 0; error == cudaSuccess && i < ITEM_WAYS * sizeof(sizes) / sizeof(sizes[0]); i++, made++) {
        item.bytes = sizes[i / ITEM_WAYS][0];
        item.rows = sizes[i / ITEM_WAYS][1];
        item.layers = sizes[i / ITEM_WAYS][2];
        item.pitch = item.bytes + (item.rows > 1 ? 5 : 0);
        item.copy_pitch = item.pitch + (item.rows > 1 ? 4 : 0);
        item.begin = i / ITEM_WAYS % 2;
        wrong += (unsigned)is_wrong(&item, ask->stream, (enum made_by)(i % ITEM_WAYS), host);
    }
    ask_expect_none(ask, "memsets and copies of graphs that take other bytes", wrong, made);
    (void)cudaFree(item.set);
    (void)cudaFree(item.copy);
    free(host);
}
