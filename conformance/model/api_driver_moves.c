/* The driver's functions that copy and set in one direction, of one width or one shape, call the host, or wait. */
#include "api_driver.h"

#include <string.h>

static cudaError_t move_in(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

static unsigned copy_to_device(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    bytes = cut_at(4096, device.faults.driver_to_device_cut, bytes);
    if (device.faults.driver_to_device_elsewhere)
        stream = cudaStreamPerThread;
    BY_DRIVER(move_in(to, from, bytes, cudaMemcpyHostToDevice, stream));
}

static unsigned copy_to_host(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    bytes = cut_at(4096, device.faults.driver_to_host_cut, bytes);
    if (device.faults.driver_to_host_early && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    BY_DRIVER(move_in(to, from, bytes, cudaMemcpyDeviceToHost, stream));
}

static unsigned copy_in_device(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    bytes = cut_at(4096, device.faults.driver_in_device_cut, bytes);
    if (device.faults.driver_in_device_half)
        bytes /= 2;
    BY_DRIVER(move_in(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

/* As the driver lays it out: one end of a copy of rows. */
struct rows_end {
    size_t x, y;
    unsigned type;
    void *host;
    uint64_t device;
    void *array;
    size_t pitch;
};
struct rows_copy {
    struct rows_end from, to;
    size_t width, height;
};
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2 }; /* CU_MEMORYTYPE_* */

static void *place_of(unsigned type, void *host, uint64_t of_device)
{
    return type == MEMORY_HOST ? host : (void *)(uintptr_t)of_device;
}

/* Where the rows begin. */
static char *rows_at(const struct rows_end *e, bool loses_offset)
{
    return (char *)place_of(e->type, e->host, e->device) + (loses_offset ? 0 : e->y * e->pitch + e->x);
}

static unsigned copy_rows(const struct rows_copy *c, cudaStream_t stream)
{
    const struct faults *f = &device.faults;
    struct stream *s = stream_of(stream);
    if (f->captured_driver_rows_free && s != NULL && s->capture != NULL)
        capture_cuts(s);
    size_t rows = f->driver_rows_last_lost && c->height > 1 ? c->height - 1 : c->height;
    size_t pitch = f->driver_rows_packed ? c->width : c->to.pitch, from_pitch = f->driver_source_rows_packed ? c->width : c->from.pitch;
    BY_DRIVER(cudaMemcpy2DAsync(rows_at(&c->to, f->driver_rows_offset_lost), pitch, rows_at(&c->from, f->driver_source_rows_offset_lost), from_pitch,
                                c->width, rows, cudaMemcpyDefault, stream));
}

static struct cudaPitchedPtr layers_at(const struct layers_end *e)
{
    return (struct cudaPitchedPtr){place_of(e->type, e->host, e->device), e->pitch, e->pitch, e->height};
}

struct cudaMemcpy3DParms layers_of(const struct layers_copy *c)
{
    struct cudaMemcpy3DParms p;
    memset(&p, 0, sizeof p);
    p.srcPtr = layers_at(&c->from);
    p.dstPtr = layers_at(&c->to);
    p.srcPos.x = c->from.x, p.srcPos.y = c->from.y, p.srcPos.z = c->from.z;
    p.dstPos.x = c->to.x, p.dstPos.y = c->to.y, p.dstPos.z = c->to.z;
    p.extent.width = c->width, p.extent.height = c->height, p.extent.depth = c->depth;
    p.kind = c->from.type == MEMORY_HOST ? (c->to.type == MEMORY_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
             : c->to.type == MEMORY_HOST ? cudaMemcpyDeviceToHost
             : c->to.type == MEMORY_DEVICE ? cudaMemcpyDeviceToDevice : cudaMemcpyDefault;
    return p;
}

static unsigned copy_layers(const struct layers_copy *c, cudaStream_t stream)
{
    struct cudaMemcpy3DParms p = layers_of(c);
    if (device.faults.driver_source_layers_packed)
        p.srcPtr.ysize = c->height;
    if (device.faults.driver_layers_packed)
        p.dstPtr.ysize = c->height;
    if (device.faults.driver_source_layer_lost)
        p.srcPos.z = 0;
    if (device.faults.driver_layers_offset_lost)
        p.dstPos.x = p.dstPos.y = 0;
    if (device.faults.driver_layers_forget_events && stream_of(stream) != NULL)
        stream_of(stream)->waits = 0;
    if (device.faults.driver_layers_early && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    BY_DRIVER(cudaMemcpy3DAsync(&p, stream));
}

static unsigned set_rows(void *to, size_t pitch, uint32_t value, size_t width, size_t bytes, size_t rows, cudaStream_t stream)
{
    for (size_t row = 0; row < rows; row++) {
        cudaError_t error = stream_set((char *)to + row * pitch, value, width, bytes, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

static unsigned set_rows_of_bytes(void *to, size_t pitch, unsigned char value, size_t bytes, size_t rows, cudaStream_t stream)
{
    BY_DRIVER(set_rows(to, device.faults.driver_set_rows_packed ? bytes : pitch, value, 1, bytes, rows, stream));
}

static unsigned set_rows_of_halves(void *to, size_t pitch, unsigned short value, size_t halves, size_t rows, cudaStream_t stream)
{
    struct stream *s = stream_of(stream);
    struct op *tail = s != NULL ? s->tail : NULL;
    cudaError_t error = set_rows(to, pitch, value, 2, 2 * halves, device.faults.driver_sets_one_row_of_halves ? 1 : rows, stream);
    if (device.faults.driver_rows_of_halves_passed && s != NULL)
        s->tail = tail;
    BY_DRIVER(error);
}

static unsigned set_rows_of_words(void *to, size_t pitch, unsigned value, size_t words, size_t rows, cudaStream_t stream)
{
    if (device.faults.driver_sets_rows_early && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    BY_DRIVER(set_rows(to, pitch, value, 4, 4 * words, rows, stream));
}

static unsigned call_host(cudaStream_t stream, cudaHostFn_t call, void *data)
{
    if (device.faults.driver_calls_host_early && stream_of(stream) != NULL)
        stream_cuts(stream_of(stream));
    BY_DRIVER(cudaLaunchHostFunc(stream, call, data));
}

static unsigned wait_for_stream(cudaStream_t stream)
{
    BY_DRIVER(device.faults.driver_waits_for_no_stream ? cudaSuccess : cudaStreamSynchronize(stream));
}

static unsigned ask_stream(cudaStream_t stream)
{
    BY_DRIVER(device.faults.driver_streams_are_over ? cudaSuccess : cudaStreamQuery(stream));
}

static unsigned wait_for_event(cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_waits_for_no_event ? cudaSuccess : cudaEventSynchronize(event));
}

static unsigned ask_event(cudaEvent_t event)
{
    BY_DRIVER(device.faults.driver_events_are_over ? cudaSuccess : cudaEventQuery(event));
}

static const struct driver_function moves[] = {
    { "cuMemcpyHtoDAsync", 3020, (any_function)copy_to_device },
    { "cuMemcpyDtoHAsync", 3020, (any_function)copy_to_host },
    { "cuMemcpyDtoDAsync", 3020, (any_function)copy_in_device },
    { "cuMemcpy2DAsync", 3020, (any_function)copy_rows },
    { "cuMemcpy3DAsync", 3020, (any_function)copy_layers },
    { "cuMemsetD2D8Async", 3020, (any_function)set_rows_of_bytes },
    { "cuMemsetD2D16Async", 3020, (any_function)set_rows_of_halves },
    { "cuMemsetD2D32Async", 3020, (any_function)set_rows_of_words },
    { "cuLaunchHostFunc", 10000, (any_function)call_host },
    { "cuStreamSynchronize", 2000, (any_function)wait_for_stream },
    { "cuStreamQuery", 2000, (any_function)ask_stream },
    { "cuEventSynchronize", 2000, (any_function)wait_for_event },
    { "cuEventQuery", 2000, (any_function)ask_event },
};

any_function driver_move(const char *name, unsigned asked)
{
    return driver_named(moves, sizeof moves / sizeof moves[0], name, asked);
}
