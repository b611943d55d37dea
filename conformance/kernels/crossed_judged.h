/* crossed_judged.h - what is made of the trials of crossed_graphs.cu, and what they need. */
#ifndef CROSSED_JUDGED_H_INCLUDED
#define CROSSED_JUDGED_H_INCLUDED

/* ---- what the cells have to hold ---- */

struct expected {              /* what each byte has to be, and which part has it so; PARTS + 1: none, or the kernel before the graph */
    uint32_t cells[ALL_CELLS][CELL];
    unsigned char owner[ALL_CELLS][CELL_BYTES];
};

/* What a part does to the cells; rows leave the end of each as it is. */
static void act(const struct drawn *d, unsigned part, struct expected *want)
{
    const struct part *is = &d->part[part];
    unsigned char(*bytes)[CELL_BYTES] = (unsigned char(*)[CELL_BYTES])want->cells;
    unsigned i, value = value_of(is), to = is->cell + (carries(is->kind) ? 1 : 0);

    for (i = 0; i < CELL_BYTES; i++) {
        if ((is_rows(is->kind) && i % ROW_PITCH >= ROW_BYTES) || (!is_set(is->kind) && !carries(is->kind)))
            continue;
        bytes[to][i] = is_set(is->kind) ? (unsigned char)(is->kind == PART_SET_HALVES && i % 2 ? value >> 8 : value) : bytes[is->cell][i];
        want->owner[to][i] = (unsigned char)part;
    }
}

static void hand_over(struct expected *want, unsigned to, unsigned from, unsigned owner)
{
    memcpy(want->cells[to], want->cells[from], CELL_BYTES);
    memset(want->owner[to], (int)owner, CELL_BYTES);
}

static void fill_cells(struct crossed *c, uint32_t (*cells)[CELL])
{
    unsigned cell, i;

    for (cell = 0; cell < ALL_CELLS; cell++)
        for (i = 0; i < CELL; i++) {
            uint32_t word = words_fresh(c->key, cell * CELL + i);
            cells[cell][i] = cell == 0 || cell == SIDE ? word : ~word;
        }
}

static void expect_cells(struct crossed *c, struct expected *want)
{
    const struct drawn *d = &c->drawn;
    unsigned i;

    fill_cells(c, want->cells);
    memset(want->owner, PARTS + 1, sizeof(want->owner));
    if (d->ahead != AHEAD_INSIDE)
        hand_over(want, 1, 0, PARTS + 1);
    for (i = 0; i < d->parts; i++)
        act(d, i, want);
    if (d->reader != NOWHERE) {
        hand_over(want, SIDE + 1, SIDE, d->beside != NOWHERE ? d->beside : d->wait);
        hand_over(want, SIDE + 2, SIDE, d->beside != NOWHERE ? d->beside : d->wait);
    }
    if (d->record != NOWHERE)
        hand_over(want, RECORD, d->part[d->record].cell, d->record);
}

/* The first part that was too soon, PARTS: none was; PARTS + 1: the graph, after the kernel before it. */
static cudaError_t find_too_soon(struct crossed *c, unsigned *part)
{
    static uint32_t got[ALL_CELLS][CELL];
    static struct expected want;
    unsigned cell, i;
    cudaError_t error = cudaMemcpy(got, c->cells[0], sizeof(got), cudaMemcpyDeviceToHost);

    expect_cells(c, &want);
    *part = PARTS;
    for (cell = 0; cell < ALL_CELLS; cell++) {
        const void *words = cell < CELLS && c->drawn.pinned[cell] ? c->pinned->cells[0][cell] : got[cell];
        for (i = 0; i < CELL_BYTES && *part == PARTS; i++)
            if (((const unsigned char *)words)[i] != ((const unsigned char *)want.cells[cell])[i])
                *part = want.owner[cell][i];
    }
    return error;
}

/* ---- what is counted ---- */

struct tally { unsigned soon, trials; };

struct tallies {
    struct tally kind[PART_KINDS], place[PLACES], made[MADES], executable[EXECUTABLES], street[STREETS];
    unsigned unordered;        /* graphs that did not come after the kernel before them */
    unsigned wrong;            /* trials with any node too soon */
    char first[360];           /* what went wrong first */
};

static void count_in(struct tally *tally, int soon)
{
    tally->trials++;
    tally->soon += soon != 0;
}

static void judge_trial(struct crossed *c, struct tallies *t, unsigned soon)
{
    const struct drawn *d = &c->drawn;
    unsigned i;

    for (i = 0; i < d->parts; i++) {
        count_in(&t->kind[d->part[i].kind], i == soon);
        count_in(&t->place[place_of(d, i)], i == soon);
    }
    count_in(&t->made[d->made], soon != PARTS);
    count_in(&t->executable[d->executable], soon != PARTS);
    count_in(&t->street[d->street], soon != PARTS);
    t->unordered += soon > PARTS;
    t->wrong += soon != PARTS;
    if (soon == PARTS || t->first[0])
        return;
    tell_trial(d, c->trial, soon, t->first, sizeof(t->first));
    ask_accuse(c->ask, "too soon", t->first);
}

static void tell_tallies(struct ask *ask, const char *what, const char *const *name, const struct tally *tally, unsigned count)
{
    char text[96];
    unsigned i;

    for (i = 0; i < count; i++) {
        snprintf(text, sizeof(text), what, name[i]);
        ask_expect_none(ask, text, tally[i].soon, tally[i].trials);
    }
}

/* ---- what they need ---- */

static cudaError_t open_events(struct crossed *c)
{
    static const unsigned flags[EVENT_KINDS] = { cudaEventDisableTiming, cudaEventDefault, cudaEventBlockingSync };
    cudaError_t error = cudaSuccess;
    unsigned i;

    for (i = 0; i < EVENTS * EVENT_KINDS && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&c->event[i / EVENTS][i % EVENTS], flags[i / EVENTS]);
    return error;
}

static cudaError_t open_streets(struct crossed *c)
{
    int least = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &c->greatest);

    c->street[STREET_PER_THREAD] = cudaStreamPerThread;
    c->street[STREET_LEGACY] = cudaStreamLegacy;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_PLAIN], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_BLOCKING], cudaStreamDefault);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&c->street[STREET_URGENT], cudaStreamNonBlocking, c->greatest) : error;
}

static cudaError_t open_crossed(struct crossed *c, struct ask *ask)
{
    static const unsigned hold_ns[HOLDS] = { 2000, 12000, 40000 };
    void *cells = NULL, *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)&c->pinned, sizeof(*c->pinned), cudaHostAllocMapped);
    unsigned i;

    c->ask = ask;
    c->mps = is_shared();
    if (error != cudaSuccess)
        return error;
    memset(c->pinned, 0, sizeof(*c->pinned));
    for (i = 0; i < 2 * HOLDS; i++) {
        c->pinned->plan[i / HOLDS][i % HOLDS].hold_ns = hold_ns[i % HOLDS];
        c->pinned->plan[i / HOLDS][i % HOLDS].words = i < HOLDS ? CELL : MANY;
    }
    error = cudaHostGetDevicePointer(&device, c->pinned, 0);
    c->seen_by_device = (char *)device;
    if (error == cudaSuccess)
        error = cudaMalloc(&cells, 2 * sizeof(*c->cells));
    c->cells = (uint32_t(*)[ALL_CELLS][CELL])cells;
    if (error == cudaSuccess)
        error = open_events(c);
    return error == cudaSuccess ? open_streets(c) : error;
}

static void close_crossed(struct crossed *c)
{
    unsigned i;

    (void)cudaDeviceSynchronize();
    for (i = 0; i < EVENTS * EVENT_KINDS; i++)
        (void)cudaEventDestroy(c->event[i / EVENTS][i % EVENTS]);
    for (i = 0; i < STREET_PER_THREAD; i++)
        if (c->street[i])
            (void)cudaStreamDestroy(c->street[i]);
    (void)cudaFree(c->cells);
    (void)cudaFreeHost(c->pinned);
    (void)cudaGetLastError();
}

#endif
