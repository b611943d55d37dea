/* pageable_high.h - the pair of pageable.cu with copies and memsets of more rows than two bytes count. */
#ifndef PAGEABLE_HIGH_H_INCLUDED
#define PAGEABLE_HIGH_H_INCLUDED

#define HIGH_PITCH 8u
#define HIGH_ROWS 70001u       /* of a layer; the last row is nobody's */
#define HIGH_LAYERS 2u
#define HIGH_LAYER ((size_t)HIGH_PITCH * HIGH_ROWS)
#define HIGH_BYTES (HIGH_LAYERS * HIGH_LAYER)
#define HIGH_SET 0x3C

struct high {
    struct ask *ask;
    unsigned char *from, *to;  /* of the device */
    unsigned char *bytes, *seen; /* of the host: what is copied, and what is there in the end */
    unsigned wrong, trials;
};

static const struct high_shape {
    size_t bytes, rows, layers;
} high_shapes[] = { { 1, 65535, 1 }, { 5, 65536, 1 }, { 1, 70000, 1 }, { 5, 65537, 1 }, { 5, 66000, 2 } };
#define HIGH_SHAPES (sizeof(high_shapes) / sizeof(high_shapes[0]))

static cudaError_t open_high(struct high *h)
{
    size_t i;
    cudaError_t error = cudaMalloc((void **)&h->from, HIGH_BYTES);

    h->bytes = (unsigned char *)malloc(HIGH_BYTES);
    h->seen = (unsigned char *)malloc(HIGH_BYTES);
    if (!h->bytes || !h->seen)
        return cudaErrorMemoryAllocation;
    for (i = 0; i < HIGH_BYTES; i++)
        h->bytes[i] = (unsigned char)(i / HIGH_PITCH % 251 + i % HIGH_PITCH);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&h->to, HIGH_BYTES);
    if (error == cudaSuccess)
        error = cudaMemcpy(h->from, h->bytes, HIGH_BYTES, cudaMemcpyHostToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error; /* the stream does not wait for that copy */
}

/* A memset of rows, a copy of rows, or one of layers. */
static cudaError_t move_high(const struct high *h, const struct high_shape *shape, int sets)
{
    struct cudaMemcpy3DParms box = PDL_ZERO;

    if (sets)
        return cudaMemset2DAsync(h->to, HIGH_PITCH, HIGH_SET, shape->bytes, shape->rows, h->ask->stream);
    if (shape->layers == 1)
        return cudaMemcpy2DAsync(h->to, HIGH_PITCH, h->from, HIGH_PITCH, shape->bytes, shape->rows, cudaMemcpyDeviceToDevice, h->ask->stream);
    box.srcPtr.ptr = h->from;
    box.srcPtr.pitch = box.srcPtr.xsize = HIGH_PITCH;
    box.srcPtr.ysize = HIGH_ROWS;
    box.dstPtr = box.srcPtr;
    box.dstPtr.ptr = h->to;
    box.extent.width = shape->bytes;
    box.extent.height = shape->rows;
    box.extent.depth = shape->layers;
    box.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3DAsync(&box, h->ask->stream);
}

static unsigned high_is_wrong(const struct high *h, const struct high_shape *shape, int sets)
{
    unsigned char row[HIGH_PITCH];
    size_t layer, y, at = 0;

    for (layer = 0; layer < HIGH_LAYERS; layer++)
        for (y = 0; y < HIGH_ROWS; y++, at += HIGH_PITCH) {
            memset(row, GAP_BYTE, sizeof(row));
            if (layer < shape->layers && y < shape->rows && sets)
                memset(row, HIGH_SET, shape->bytes);
            else if (layer < shape->layers && y < shape->rows)
                memcpy(row, h->bytes + at, shape->bytes);
            if (memcmp(h->seen + at, row, sizeof(row)) != 0)
                return 1;
        }
    return 0;
}

static cudaError_t try_high(struct high *h, const struct high_shape *shape, int sets, int captured)
{
    cudaStream_t stream = h->ask->stream;
    cudaError_t error = cudaMemsetAsync(h->to, GAP_BYTE, HIGH_BYTES, stream);

    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = move_high(h, shape, sets);
        error = captured ? ask_run_capture(stream, error) : error;
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(h->seen, h->to, HIGH_BYTES, cudaMemcpyDeviceToHost);
    h->trials++;
    h->wrong += error == cudaSuccess && high_is_wrong(h, shape, sets);
    return error;
}

static void ask_high(struct ask *ask)
{
    struct high h = PDL_ZERO;
    cudaError_t error;
    unsigned i, sets;

    h.ask = ask;
    error = open_high(&h);
    for (i = 0; i < HIGH_SHAPES; i++)
        for (sets = 0; sets < 2 && error == cudaSuccess; sets++)
            if (high_shapes[i].layers == 1 || !sets)
                error = try_high(&h, &high_shapes[i], (int)sets, (int)((i + sets) % 2));
    ask_expect(ask, "copies and memsets of 65,535 rows and more", error, cudaSuccess);
    ask_expect_none(ask, "copies and memsets of 65,535 rows and more that left other bytes", h.wrong, h.trials);
    free(h.bytes);
    free(h.seen);
    (void)cudaFree(h.from);
    (void)cudaFree(h.to);
}

#endif
