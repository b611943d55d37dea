/* crossed_judged.h - what is made of the trials of crossed_graphs.cu, and what they need. */
#ifndef CROSSED_JUDGED_H_INCLUDED
#define CROSSED_JUDGED_H_INCLUDED

struct tally { unsigned soon, trials; };

struct tallies {
    struct tally kind[PART_KINDS], place[PLACES], made[MADES], executable[EXECUTABLES], street[STREETS];
    unsigned unordered;        /* graphs that did not come after the kernel before them */
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
    if (soon == PARTS || t->first[0])
        return;
    tell_trial(d, soon, t->first, sizeof(t->first));
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
    int least = 0, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    c->street[STREET_PER_THREAD] = cudaStreamPerThread;
    c->street[STREET_LEGACY] = cudaStreamLegacy;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_PLAIN], cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&c->street[STREET_BLOCKING], cudaStreamDefault);
    return error == cudaSuccess ? cudaStreamCreateWithPriority(&c->street[STREET_URGENT], cudaStreamNonBlocking, greatest) : error;
}

static cudaError_t open_crossed(struct crossed *c, struct ask *ask)
{
    static const unsigned hold_ns[HOLDS] = { 2000, 12000, 40000 };
    void *cells = NULL, *device = NULL;
    cudaError_t error = cudaHostAlloc((void **)&c->pinned, sizeof(*c->pinned), cudaHostAllocMapped);
    unsigned i;

    c->ask = ask;
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

/* "An operation may be scheduled at any time once the nodes on which it depends are complete." */
static void ask_nodes(struct ask *ask)
{
    static struct crossed c;
    static const struct crossed nothing = PDL_ZERO;
    struct tallies t = PDL_ZERO;
    unsigned soon = PARTS;
    char text[360] = "graphs that were drawn";
    cudaError_t error;

    c = nothing;
    error = open_crossed(&c, ask);
    for (; ask_goes_on(ask, c.trial, ask->trials) && error == cudaSuccess; c.trial++) {
        error = run_crossed(&c, &soon);
        if (error == cudaSuccess)
            judge_trial(&c, &t, soon);
        else if (c.drawn.parts)
            tell_trial(&c.drawn, NOWHERE, text, sizeof(text));
    }
    ask_expect_text(ask, "the first node that was too soon", t.first[0] ? t.first : "none", "none");
    ask_expect(ask, text, error, cudaSuccess);
    tell_tallies(ask, "too soon: %s", part_name, t.kind, PART_KINDS);
    tell_tallies(ask, "too soon in a graph%s", place_name, t.place, PLACES);
    tell_tallies(ask, "trials with a node too soon, %s", made_name, t.made, MADES);
    tell_tallies(ask, "trials with a node too soon, %s", executable_name, t.executable, EXECUTABLES);
    tell_tallies(ask, "trials with a node too soon in a stream: %s", street_name, t.street, STREETS);
    ask_expect_none(ask, "graphs too soon after a kernel", t.unordered, c.trial);
    close_crossed(&c);
}

#endif
