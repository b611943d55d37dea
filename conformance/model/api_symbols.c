/* Memory of the device that has a name, and copies to it and from it by that name. */
#include "api.h"

static struct model_words *named; /* those that are allocated */

void named_words_reset(void)
{
    for (struct model_words *next; named != NULL; named = next) {
        next = named->next;
        named->p = NULL;
    }
}

/* The bytes of the words that have a name and lie there; 0: none do. */
size_t named_words_at(const void *p)
{
    for (const struct model_words *w = named; w != NULL; w = w->next)
        if (w->p != NULL && (const char *)p >= (const char *)w->p && (const char *)p < (const char *)w->p + w->bytes)
            return w->bytes;
    return 0;
}

static struct model_words *words_of(const void *symbol)
{
    struct model_words *w = (struct model_words *)(uintptr_t)symbol;
    if (w == NULL || w->magic != MODEL_WORDS_MAGIC)
        return NULL;
    if (w->p == NULL) {
        w->p = memory_allocate(w->bytes, false);
        w->next = named;
        named = w;
        memory_marks(MARK_NAMED, w->p, w->bytes);
    }
    return w->p != NULL ? w : NULL;
}

/* Where so many bytes from there on lie; NULL: nowhere. */
static void *place_of(const void *symbol, size_t bytes, size_t offset)
{
    struct model_words *w = words_of(symbol);
    return w != NULL && offset <= w->bytes && bytes <= w->bytes - offset ? (char *)w->p + offset : NULL;
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **out, const void *symbol)
{
    CALL(cudaGetSymbolAddress);
    struct model_words *w = words_of(symbol);
    FAIL_IF(w == NULL, cudaErrorInvalidSymbol);
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    *out = w->p;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *out, const void *symbol)
{
    CALL(cudaGetSymbolSize);
    struct model_words *w = words_of(symbol);
    FAIL_IF(w == NULL, cudaErrorInvalidSymbol);
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    *out = w->bytes;
    return cudaSuccess;
}

/* On a broken device such a copy does not wait for what its stream holds. */
static cudaError_t copied_by_name(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct stream *s = stream_of(stream);
    bytes = cut_at(1024, device.faults.long_symbol_copy_cut, bytes);
    if (device.faults.symbol_copy_early && s != NULL && s->capture == NULL)
        stream_cuts(s);
    device.queued_by = BY_NAME_OF_MEMORY;
    cudaError_t error = memory_copied(to, from, bytes, kind, s);
    device.queued_by = BY_ANY_CALL;
    return error;
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    CALL(cudaMemcpyToSymbolAsync);
    void *to = place_of(symbol, bytes, device.faults.symbol_offset_lost ? 0 : offset);
    FAIL_IF(to == NULL, words_of(symbol) == NULL ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    FAIL_IF(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
    return copied_by_name(to, from, bytes, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                                cudaStream_t stream)
{
    CALL(cudaMemcpyFromSymbolAsync);
    const void *from = place_of(symbol, bytes, device.faults.symbol_offset_lost ? 0 : offset);
    FAIL_IF(from == NULL, words_of(symbol) == NULL ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    FAIL_IF(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
    return copied_by_name(to, from, bytes, kind, stream);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                                     const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    CALL(cudaGraphAddMemcpyNodeToSymbol);
    void *to = place_of(symbol, bytes, device.faults.node_symbol_offset_lost ? 0 : offset);
    FAIL_IF(to == NULL, words_of(symbol) == NULL ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    return copy_node_added(out, graph, deps, count, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                                       void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    CALL(cudaGraphAddMemcpyNodeFromSymbol);
    const void *from = place_of(symbol, bytes, device.faults.node_symbol_offset_lost ? 0 : offset);
    FAIL_IF(from == NULL, words_of(symbol) == NULL ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    return copy_node_added(out, graph, deps, count, to, from, bytes, kind);
}
