/* pageable_queued.h - many memsets, or copies, stand behind a slow kernel: each has a value, or a source, of its own. */
#ifndef PAGEABLE_QUEUED_H_INCLUDED
#define PAGEABLE_QUEUED_H_INCLUDED

#define QUEUED_ITEMS 1100u
#define QUEUED_BYTES 64u

static int queued_value(unsigned nth) { return (int)(nth * 37 + 1) & 255; }

/* Every third one by rows. */
static cudaError_t next_set(struct pageable *p, unsigned nth)
{
    unsigned char *to = p->device + nth * QUEUED_BYTES;

    if (nth % 3 == 2)
        return cudaMemset2DAsync(to, QUEUED_BYTES / 4, queued_value(nth), QUEUED_BYTES / 4, 4, p->ask->stream);
    return cudaMemsetAsync(to, queued_value(nth), QUEUED_BYTES, p->ask->stream);
}

/* From pageable memory, also by rows, and within the device. The sources stay as they are until all has ended. */
static cudaError_t next_copy(struct pageable *p, unsigned nth)
{
    unsigned char *to = p->device + nth * QUEUED_BYTES, *from = p->host + nth * QUEUED_BYTES;
    size_t row = QUEUED_BYTES / 4;

    switch (nth % 3) {
    case 0:
        return cudaMemcpyAsync(to, from, QUEUED_BYTES, cudaMemcpyHostToDevice, p->ask->stream);
    case 1:
        return cudaMemcpyAsync(to, to + MOST_BYTES, QUEUED_BYTES, cudaMemcpyDeviceToDevice, p->ask->stream);
    default:
        return cudaMemcpy2DAsync(to, row, from, row, row, 4, cudaMemcpyHostToDevice, p->ask->stream);
    }
}

/* The sources of copies lie in the host's memory and, the same bytes, in the device's. */
static cudaError_t prepare_queued(struct pageable *p)
{
    unsigned nth;

    for (nth = 0; nth < QUEUED_ITEMS; nth++)
        fill(p->host + nth * QUEUED_BYTES, QUEUED_BYTES, nth * 5 + 1);
    prepare_trial(p->room, 0);
    p->room->plan.hold_ns = QUEUED_HOLD_NS;
    return cudaMemcpy(p->device + MOST_BYTES, p->host, QUEUED_ITEMS * QUEUED_BYTES, cudaMemcpyHostToDevice);
}

static unsigned is_queued_one(const unsigned char *found, unsigned nth, int sets)
{
    unsigned i, same = 1;

    if (!sets)
        return is_filled(found, QUEUED_BYTES, nth * 5 + 1);
    for (i = 0; i < QUEUED_BYTES; i++)
        same &= found[i] == queued_value(nth);
    return same;
}

static void ask_queued(struct pageable *p, int sets)
{
    unsigned nth, wrong = 0;
    cudaError_t error = prepare_queued(p);

    if (error == cudaSuccess)
        error = launch_one((const void *)SYMBOL(pageable_work), &p->args, ASK_WORDS / 2, p->ask->stream, NULL, 0);
    for (nth = 0; nth < QUEUED_ITEMS && error == cudaSuccess; nth++)
        error = sets ? next_set(p, nth) : next_copy(p, nth);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(p->ask->stream);
    if (error == cudaSuccess)
        error = cudaMemcpy(p->back, p->device, QUEUED_ITEMS * QUEUED_BYTES, cudaMemcpyDeviceToHost);
    for (nth = 0; nth < QUEUED_ITEMS && error == cudaSuccess; nth++)
        wrong += !is_queued_one(p->back + nth * QUEUED_BYTES, nth, sets);
    ask_expect(p->ask, sets ? "memsets after a slow kernel" : "copies after a slow kernel", error, cudaSuccess);
    ask_expect_none(p->ask, sets ? "of many memsets those with another value" : "of many copies those with other bytes", wrong, QUEUED_ITEMS);
}

static void ask_queued_copies(struct ask *ask)
{
    struct pageable p = PDL_ZERO;

    if (open_pageable(&p, ask))
        ask_queued(&p, 0);
    close_pageable(&p);
}

#endif
