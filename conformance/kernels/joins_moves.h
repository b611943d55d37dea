/* joins_moves.h - the pairs of joins.cu with copies and memsets of few bytes at any address, of single layers, boxes, rows and columns: they come
 * after the work before them, move these bytes and no others, and the follower finds them. */
#ifndef JOINS_MOVES_H_INCLUDED
#define JOINS_MOVES_H_INCLUDED

#define AREA_BYTES (ALL_WORDS * 4u) /* as bytes in a row, or as layers of rows */
#define AREA_PITCH 32u
#define AREA_ROWS 6u
#define AREA_LAYER (AREA_PITCH * AREA_ROWS)
#define AREA_LAYERS 4u
#define AREA_GAP 0x5A          /* of what a copy leaves alone */

enum area { AREA_DEVICE, AREA_PINNED, AREA_PAGEABLE };
enum mover { MOVER_COPY, MOVER_SET, MOVER_BOX, MOVER_ROWS, MOVER_SET_ROWS };

struct position {              /* in a row, of a row, of a layer */
    size_t x, y, z;
};

struct moving {
    enum mover mover;
    enum area from, to;
    struct position source, target, extent;
    unsigned round;            /* trials of this way so far */
    int captured;
};

struct areas {                 /* the first of two is copied from, the second one to */
    struct joins *joins;
    uint32_t *device;          /* both */
    unsigned char pageable[2][AREA_BYTES], words[AREA_BYTES], expected[AREA_BYTES];
};

KERNEL(joins_area_work)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t i;

    k_trigger();
    if (k_thread() == 0)
        k_delay(args.state, plan.bound_ns);
    k_barrier();
    for (i = k_thread(); i < ALL_WORDS; i += k_threads())
        k_store(args.data + i, words_fresh(plan.key, i));
}

static size_t offset_in_area(struct position p) { return p.z * AREA_LAYER + p.y * AREA_PITCH + p.x; }
static int is_set(const struct moving *m) { return m->mover == MOVER_SET || m->mover == MOVER_SET_ROWS; }
static int set_value(const struct moving *m) { return 1 + (int)(m->round * 7 % 250); }

static unsigned char *area_of_host(struct areas *a, enum area area, unsigned target)
{
    uint32_t *pinned = target ? a->joins->pinned->seen[1] : a->joins->pinned->words;

    return area == AREA_PAGEABLE ? a->pageable[target] : (unsigned char *)(area == AREA_PINNED ? pinned : a->device + target * ALL_WORDS);
}

static uint32_t *area_of_device(struct areas *a, enum area area, unsigned target)
{
    uint32_t *pinned = target ? a->joins->follower[1].seen : a->joins->follower[0].data;

    return area == AREA_PINNED ? pinned : a->device + target * ALL_WORDS;
}

/* Where the work stores: what is copied; or where the bytes go to, if they are set or come from memory that it does not reach. */
static unsigned work_is_in_target(const struct moving *m) { return is_set(m) || m->from == AREA_PAGEABLE; }

static cudaError_t fill_area(struct areas *a, enum area area, unsigned target)
{
    unsigned char *bytes = area_of_host(a, area, target);

    if (area == AREA_DEVICE)
        return cudaMemsetAsync(bytes, AREA_GAP, AREA_BYTES, a->joins->stream[0]);
    memset(bytes, AREA_GAP, AREA_BYTES);
    if (area == AREA_PAGEABLE && !target)
        memcpy(bytes, a->words, AREA_BYTES);
    return cudaSuccess;
}

/* What is in the target once all has ended. */
static void expect_move(struct areas *a, const struct moving *m)
{
    size_t z, y, there;
    uint32_t i;

    for (i = 0; i < ALL_WORDS; i++) {
        uint32_t word = words_fresh(a->joins->pinned->plan[0].key, i);
        memcpy(a->words + 4 * i, &word, 4);
    }
    memset(a->expected, AREA_GAP, AREA_BYTES);
    if (work_is_in_target(m))
        memcpy(a->expected, a->words, AREA_BYTES);
    for (z = 0; z < m->extent.z; z++)
        for (y = 0; y < m->extent.y; y++) {
            there = z * AREA_LAYER + y * AREA_PITCH;
            if (is_set(m))
                memset(a->expected + offset_in_area(m->target) + there, set_value(m), m->extent.x);
            else
                memcpy(a->expected + offset_in_area(m->target) + there, a->words + offset_in_area(m->source) + there, m->extent.x);
        }
}

/* Every second copy leaves it to the driver to tell which memory is where. */
static enum cudaMemcpyKind kind_of_move(const struct moving *m)
{
    if (m->round % 2)
        return cudaMemcpyDefault;
    if (m->from == AREA_DEVICE)
        return m->to == AREA_DEVICE ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    return m->to == AREA_DEVICE ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

static struct cudaPos pos_of(struct position p)
{
    struct cudaPos pos = PDL_ZERO;

    pos.x = p.x;
    pos.y = p.y;
    pos.z = p.z;
    return pos;
}

static cudaError_t move_box(const struct moving *m, unsigned char *to, unsigned char *from, cudaStream_t stream)
{
    struct cudaMemcpy3DParms box = PDL_ZERO;

    box.srcPtr.ptr = from;
    box.srcPtr.pitch = box.srcPtr.xsize = AREA_PITCH;
    box.srcPtr.ysize = AREA_ROWS;
    box.dstPtr = box.srcPtr;
    box.dstPtr.ptr = to;
    box.srcPos = pos_of(m->source);
    box.dstPos = pos_of(m->target);
    box.extent.width = m->extent.x;
    box.extent.height = m->extent.y;
    box.extent.depth = m->extent.z;
    box.kind = kind_of_move(m);
    return cudaMemcpy3DAsync(&box, stream);
}

static cudaError_t move_bytes(struct areas *a, const struct moving *m, cudaStream_t stream)
{
    unsigned char *to = area_of_host(a, m->to, 1), *from = area_of_host(a, m->from, 0);
    size_t bytes = m->extent.x, rows = m->extent.y;

    if (m->mover == MOVER_BOX)
        return move_box(m, to, from, stream);
    to += offset_in_area(m->target);
    from += offset_in_area(m->source);
    switch (m->mover) {
    case MOVER_COPY: return cudaMemcpyAsync(to, from, bytes, kind_of_move(m), stream);
    case MOVER_SET: return cudaMemsetAsync(to, set_value(m), bytes, stream);
    case MOVER_SET_ROWS: return cudaMemset2DAsync(to, AREA_PITCH, set_value(m), bytes, rows, stream);
    default: return cudaMemcpy2DAsync(to, AREA_PITCH, from, AREA_PITCH, bytes, rows, kind_of_move(m), stream);
    }
}

/* The work, every other time a silent kernel that overlaps it, the copy or memset, and a follower, if it reaches that memory. */
static cudaError_t queue_move(struct areas *a, const struct moving *m)
{
    struct kernel_args work = a->joins->work[0], follower = a->joins->follower[0];
    cudaStream_t stream = a->joins->stream[0];
    cudaError_t error;

    work.data = work_is_in_target(m) ? area_of_device(a, m->to, 1) : area_of_device(a, m->from, 0);
    error = launch_one((const void *)SYMBOL(joins_area_work), &work, PLACE_WORDS, stream, NULL, 0);
    if (error == cudaSuccess && m->round / 2 % 2)
        error = silent(a->joins, stream);
    if (error == cudaSuccess)
        error = move_bytes(a, m, stream);
    if (m->to == AREA_PAGEABLE || error != cudaSuccess)
        return error;
    follower.data = area_of_device(a, m->to, 1);
    return launch_one((const void *)SYMBOL(joins_follower), &follower, PLACE_WORDS, FOLLOWS_IN(a->joins, stream), NULL, 0);
}

static cudaError_t try_move(struct areas *a, const struct moving *m, unsigned *wrong)
{
    const void *found = m->to == AREA_PAGEABLE ? (const void *)a->pageable[1] : (const void *)a->joins->pinned->seen[0];
    cudaStream_t stream = a->joins->stream[0];
    cudaError_t error;

    prepare(a->joins, PLACES, 0);
    expect_move(a, m);
    error = fill_area(a, m->from, 0);
    if (error == cudaSuccess)
        error = fill_area(a, m->to, 1);
    if (error == cudaSuccess && m->captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = queue_move(a, m);
        error = m->captured ? ask_run_capture(stream, error) : error;
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    *wrong += error == cudaSuccess && memcmp(found, a->expected, AREA_BYTES) != 0;
    return error;
}

/* What a way moves in a trial of it. */
struct move_way {
    const char *name;
    enum mover mover;
    enum area from, to;
    void (*shape)(struct moving *m);
};

static void ask_moves(struct ask *ask, const struct move_way *ways, unsigned count)
{
    static struct areas areas;
    struct joins joins = PDL_ZERO;
    unsigned wrong[JOINS_MAX] = { 0 }, trials[JOINS_MAX] = { 0 }, i = 0;
    cudaError_t error = open_joins(&joins, ask, cudaStreamNonBlocking);

    areas.joins = &joins;
    areas.device = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&areas.device, 2 * AREA_BYTES);
    for (; ask_goes_on(ask, joins.trial, ask->trials) && error == cudaSuccess; joins.trial++) {
        struct moving m = PDL_ZERO;
        i = joins.trial % count;
        m.mover = ways[i].mover;
        m.from = ways[i].from;
        m.to = ways[i].to;
        m.round = trials[i]++;
        m.captured = m.round % 3 == 2 && m.from != AREA_PAGEABLE && m.to != AREA_PAGEABLE;
        m.extent.y = m.extent.z = 1;
        ways[i].shape(&m);
        error = try_move(&areas, &m, &wrong[i]);
    }
    ask_expect(ask, error == cudaSuccess ? "work, copies and memsets" : ways[i].name, error, cudaSuccess);
    for (i = 0; i < count; i++)
        ask_expect_none(ask, ways[i].name, wrong[i], trials[i]);
    if (areas.device)
        (void)cudaFree(areas.device);
    close_joins(&joins);
}

/* ---- few bytes ---- */

/* Up to 300 bytes, every other time up to 15, from and to any address. */
static void shape_short(struct moving *m)
{
    m->extent.x = 1 + m->round * 37 % (m->round % 2 ? 15 : 300);
    m->source.x = (m->round * 5 + 3) % 64;
    m->target.x = (m->round * 11 + 1) % 64;
}

static void ask_short_moves(struct ask *ask)
{
    static const struct move_way ways[] = {
        { "wrong after a short copy in the device", MOVER_COPY, AREA_DEVICE, AREA_DEVICE, shape_short },
        { "wrong after a short copy from pinned memory", MOVER_COPY, AREA_PINNED, AREA_DEVICE, shape_short },
        { "wrong after a short copy to pinned memory", MOVER_COPY, AREA_DEVICE, AREA_PINNED, shape_short },
        { "wrong after a short copy in pinned memory", MOVER_COPY, AREA_PINNED, AREA_PINNED, shape_short },
        { "wrong after a short copy to pageable memory", MOVER_COPY, AREA_DEVICE, AREA_PAGEABLE, shape_short },
        { "wrong after a short copy from pageable memory", MOVER_COPY, AREA_PAGEABLE, AREA_DEVICE, shape_short },
        { "wrong after a short memset of the device's memory", MOVER_SET, AREA_DEVICE, AREA_DEVICE, shape_short },
        { "wrong after a short memset of pinned memory", MOVER_SET, AREA_PINNED, AREA_PINNED, shape_short },
    };

    ask_moves(ask, ways, sizeof(ways) / sizeof(ways[0]));
}

/* ---- layers, boxes, rows, columns ---- */

/* Each of the four ways that the layers, columns or rows may lie apart. */
static void shape_memory(struct moving *m)
{
    m->from = m->round % 2 ? AREA_PINNED : AREA_DEVICE;
    m->to = m->round / 2 % 2 ? AREA_PINNED : AREA_DEVICE;
}

/* One layer, of which every other time a part is left out, to another one. */
static void shape_layer(struct moving *m)
{
    shape_memory(m);
    m->extent.x = m->round / 2 % 2 ? AREA_PITCH : AREA_PITCH - 8;
    m->extent.y = m->round / 3 % 2 ? AREA_ROWS : AREA_ROWS - 2;
    m->source.z = (m->round + 1) % AREA_LAYERS;
    m->target.z = (m->round / 2 + 3) % AREA_LAYERS;
}

static void shape_box(struct moving *m)
{
    shape_memory(m);
    m->extent.x = 1 + m->round * 5 % 20;
    m->extent.y = 1 + m->round % 3;
    m->extent.z = 1 + m->round % 2;
    m->source.x = 1 + m->round % 12;
    m->target.x = 1 + m->round * 7 % 12;
    m->source.y = 1 + m->round / 2 % 3;
    m->target.y = 1 + m->round / 3 % 3;
    m->source.z = 1 + m->round / 2 % 2;
    m->target.z = m->round / 4 % 3;
}

/* As high as the layers are. */
static void shape_high_box(struct moving *m)
{
    shape_box(m);
    m->extent.y = AREA_ROWS;
    m->source.y = m->target.y = 0;
}

/* One row, or one byte of each of several rows. */
static void shape_row(struct moving *m)
{
    int column = (int)(m->round / 2 % 2);

    shape_memory(m);
    m->extent.x = column ? 1 : 1 + m->round * 7 % AREA_PITCH;
    m->extent.y = column ? 2 + m->round % 16 : 1;
    m->source.x = column ? m->round % AREA_PITCH : 0;
    m->source.y = m->round % 6;
    m->target.x = column ? m->round * 3 % AREA_PITCH : 0;
    m->target.y = m->round / 2 % 6;
}

static void ask_boxes(struct ask *ask)
{
    static const struct move_way ways[] = {
        { "wrong after a copy of one layer", MOVER_BOX, AREA_DEVICE, AREA_DEVICE, shape_layer },
        { "wrong after a copy of a box", MOVER_BOX, AREA_DEVICE, AREA_DEVICE, shape_box },
        { "wrong after a copy of a box of full height", MOVER_BOX, AREA_DEVICE, AREA_DEVICE, shape_high_box },
        { "wrong after a copy of one row or one column", MOVER_ROWS, AREA_DEVICE, AREA_DEVICE, shape_row },
        { "wrong after a memset of one row or one column", MOVER_SET_ROWS, AREA_DEVICE, AREA_DEVICE, shape_row },
    };

    ask_moves(ask, ways, sizeof(ways) / sizeof(ways[0]));
}

#endif
