/* Copies that one call queues. */
#include "api.h"

#if CUDART_VERSION >= 12080
/* Whether each copy has attributes. */
static bool attributes_sound(const size_t *first, size_t number, size_t count)
{
    bool sound = number != 0 && first[0] == 0;
    for (size_t i = 1; i < number && sound; i++)
        sound = first[i] > first[i - 1] && first[i] < count;
    return sound;
}

struct batch {
    size_t first, count; /* copies */
    void *const *to;
    const void *const *from;
    const size_t *bytes;
    const struct cudaMemcpy3DBatchOp *layers;
    bool unordered, passed; /* by what is before it in the stream, and after it */
    const struct cudaMemcpyAttributes *attributes;
    const size_t *starts; /* of the copies, the one from which on each of the attributes counts */
    size_t number;
};

static unsigned order_of(const struct batch *b, size_t i)
{
    size_t which = 0;
    if (device.faults.batch_takes_first_order)
        i = 0;
    if (b->layers != NULL)
        return b->layers[i].srcAccessOrder;
    while (which + 1 < b->number && b->starts[which + 1] <= i)
        which++;
    return b->attributes[which].srcAccessOrder;
}

static cudaError_t copy_piece(const struct batch *b, size_t i, cudaStream_t stream)
{
    size_t bytes = b->bytes[device.faults.batch_copies_first_size ? 0 : i];
    return cudaMemcpyAsync(b->to[i], b->from[i], cut_at(4096, device.faults.batch_copy_cut, bytes), cudaMemcpyDefault, stream);
}

/* One after the other, which is one of the orders that they may have. */
static cudaError_t copy_all(const struct batch *b, cudaError_t (*copy)(const struct batch *, size_t, cudaStream_t), cudaStream_t stream)
{
    struct stream *s = stream_of(stream);
    cudaError_t error = cudaSuccess;
    if (b->unordered && s != NULL)
        stream_cuts(s);
    struct op *before = s != NULL ? s->tail : NULL;
    for (size_t i = b->first; i < b->count && error == cudaSuccess; i++) {
        device.source_during_call = order_of(b, i) == cudaMemcpySrcAccessOrderDuringApiCall;
        error = copy(b, i, stream);
    }
    device.source_during_call = false;
    if (b->passed && s != NULL)
        s->tail = before;
    return error;
}

#if CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                           struct cudaMemcpyAttributes *attributes, size_t *first, size_t number, cudaStream_t stream)
#else
cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void **to, void **from, size_t *bytes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *first,
                                           size_t number, size_t *failed, cudaStream_t stream)
#endif
{
    CALL(cudaMemcpyBatchAsync);
#if CUDART_VERSION < 13000
    (void)failed;
#endif
    FAIL_IF(to == NULL || from == NULL || bytes == NULL || count == 0 || attributes == NULL || first == NULL, cudaErrorInvalidValue);
    FAIL_IF(!attributes_sound(first, number, count) && !device.faults.batch_attributes_unread, cudaErrorInvalidValue);
    const struct faults *f = &device.faults;
    struct batch b = {f->batch_loses_first_copy, f->batch_of_copies_ends_at_8 && count > 8 ? 8 : count, to, (const void *const *)from, bytes, NULL,
                      f->batch_of_copies_unordered, f->batch_of_copies_passed, attributes, first, number};
    return copy_all(&b, copy_piece, stream);
}

/* ---- of layers ---- */

static struct cudaPitchedPtr operand(const struct cudaMemcpy3DOperand *o, const struct cudaExtent *extent)
{
    size_t row = o->op.ptr.rowLength, height = o->op.ptr.layerHeight;
    if (device.faults.layers_batch_ignores_pitch)
        row = height = 0;
    return (struct cudaPitchedPtr){o->op.ptr.ptr, row != 0 ? row : extent->width, extent->width, height != 0 ? height : extent->height};
}

static cudaError_t copy_layers(const struct batch *b, size_t i, cudaStream_t stream)
{
    const struct cudaMemcpy3DBatchOp *c = &b->layers[i];
    struct cudaMemcpy3DParms p = {.srcPtr = operand(&c->src, &c->extent), .dstPtr = operand(&c->dst, &c->extent), .extent = c->extent,
                                  .kind = cudaMemcpyDefault};
    if (device.faults.layers_batch_copies_a_layer)
        p.extent.depth = 1;
    return cudaMemcpy3DAsync(&p, stream);
}

static bool layers_sound(const struct cudaMemcpy3DBatchOp *c)
{
    bool ordered = c->srcAccessOrder > cudaMemcpySrcAccessOrderInvalid && c->srcAccessOrder <= cudaMemcpySrcAccessOrderAny;
    return (ordered || device.faults.layers_batch_unordered_taken) && c->extent.width != 0 && c->extent.height != 0 && c->extent.depth != 0;
}

#if CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags, cudaStream_t stream)
#else
cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *copies, size_t *failed, unsigned long long flags,
                                             cudaStream_t stream)
#endif
{
    const struct faults *f = &device.faults;
    CALL(cudaMemcpy3DBatchAsync);
#if CUDART_VERSION < 13000
    (void)failed;
#endif
    FAIL_IF(count == 0 || copies == NULL || flags != 0, cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        FAIL_IF(!layers_sound(&copies[i]), cudaErrorInvalidValue);
    struct batch b = {f->layers_batch_loses_first, count, NULL, NULL, NULL, copies, f->layers_batch_unordered, f->layers_batch_passed,
                      NULL, NULL, 0};
    return copy_all(&b, copy_layers, stream);
}
#endif
