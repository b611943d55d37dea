/* pageable_layers.h - copies of several layers of rows between memory of every kind, with gaps between rows and between layers. Pageable
 * memory may be the source or the target, too: a driver may gather its rows before it copies them. */
#ifndef PAGEABLE_LAYERS_H_INCLUDED
#define PAGEABLE_LAYERS_H_INCLUDED

#define LAYER_TRIALS 4u        /* between two kinds of memory */

struct layers {
    struct rows of;            /* one layer */
    size_t layers, from_high, high; /* how many; and the rows from one to the next, in the source and in the target */
};
/* Gaps between rows, between layers, between both or nowhere, in the source, in the target or in both; layers of one row; more than
 * 64 KiB. */
static const struct layers all_layers[] = {
    { { 16, 3, 32, 32 }, 2, 3, 3 }, { { 7, 2, 10, 9 }, 3, 2, 5 },      { { 100, 4, 100, 128 }, 3, 6, 4 },
    { { 64, 1, 64, 80 }, 5, 3, 1 }, { { 250, 3, 256, 250 }, 2, 3, 3 }, { { 4100, 5, 4201, 4160 }, 4, 7, 6 },
    { { 33, 2, 33, 33 }, 4, 2, 2 }
};
#define ALL_LAYERS (sizeof(all_layers) / sizeof(all_layers[0]))

/* As many rows as the source or the target has in all, gaps counted. */
static struct rows rows_of_layers(const struct layers *l)
{
    struct rows all = l->of;

    all.rows = l->layers * (l->from_high > l->high ? l->from_high : l->high);
    return all;
}

static cudaError_t copy_layers(const struct places *p, const struct layers *l, enum place from, enum place to, int waits)
{
    struct cudaMemcpy3DParms copy = PDL_ZERO;

    copy.srcPtr.ptr = source_of(p, from);
    copy.dstPtr.ptr = target_of(p, to);
    copy.srcPtr.pitch = l->of.from_pitch;
    copy.dstPtr.pitch = l->of.pitch;
    copy.srcPtr.xsize = copy.dstPtr.xsize = copy.extent.width = l->of.bytes;
    copy.srcPtr.ysize = l->from_high;
    copy.dstPtr.ysize = l->high;
    copy.extent.height = l->of.rows;
    copy.extent.depth = l->layers;
    copy.kind = kind_between(from, to, p->trials);
    return waits ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, p->ask->stream);
}

/* The byte of the target that lies so far from its begin. */
static unsigned char byte_in_layers(const struct layers *l, size_t i, unsigned salt)
{
    size_t layer = i / (l->of.pitch * l->high), row = i / l->of.pitch % l->high, at = i % l->of.pitch;
    size_t source = (layer * l->from_high + row) * l->of.from_pitch + at;

    if (layer >= l->layers || row >= l->of.rows || at >= l->of.bytes)
        return GAP_BYTE;
    return (unsigned char)(source * 7 + (source >> 8) + salt);
}

static cudaError_t look_at_layers(struct places *p, const struct layers *l, enum place to, unsigned salt)
{
    size_t target = l->layers * l->high * l->of.pitch, i;
    unsigned differs = 0;
    cudaError_t error = cudaStreamSynchronize(p->ask->stream);

    if (error == cudaSuccess)
        error = cudaMemcpy(p->seen, target_of(p, to), target, cudaMemcpyDefault);
    for (i = 0; i < target && error == cudaSuccess; i++)
        differs |= p->seen[i] != byte_in_layers(l, i, salt);
    p->wrong += error == cudaSuccess && differs;
    p->trials++;
    return error;
}

/* By the call that waits in every third trial. */
static void ask_layers(struct places *p)
{
    cudaError_t error = cudaSuccess;
    unsigned trial;

    p->wrong = p->trials = 0;
    for (trial = 0; trial < LAYER_TRIALS * PLACES * PLACES && error == cudaSuccess; trial++) {
        unsigned between = trial % (PLACES * PLACES), salt = p->trials;
        enum place from = (enum place)(between % PLACES), to = (enum place)(between / PLACES);
        const struct layers *l = &all_layers[(between + trial / (PLACES * PLACES) * 2) % ALL_LAYERS];
        struct rows all = rows_of_layers(l);

        move_places(p);
        error = fill_places(p, &all, from, to, salt);
        if (error == cudaSuccess)
            error = copy_layers(p, l, from, to, (between + trial / (PLACES * PLACES)) % 3 == 2);
        if (error == cudaSuccess)
            error = look_at_layers(p, l, to, salt);
    }
    ask_expect(p->ask, "copies of layers", error, cudaSuccess);
    ask_expect_none(p->ask, "copies of layers that left other bytes", p->wrong, p->trials);
}

#endif
