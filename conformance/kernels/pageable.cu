/* pageable.cu - copies between host memory and the device and within host memory, and memsets of every byte.
 *
 * pair     rules     what is asked
 * copies   COMP-05b  a source that is written over as soon as cudaMemcpy from it has returned; a target that is looked at then. Sizes on
 *                    both sides of 64 KiB, after unfinished work, also if a kernel that overlaps it comes last and has ended
 * pinned   COMP-05d  the same with pinned memory, also in another thread; copies from host memory to host memory, pinned and pageable; and
 *                    memsets of pinned memory
 * memsets  COMP-05c  memsets of 0, 1, 127, 128, 255, -1 and of values of which a byte is but a part; many behind a slow kernel
 * values   COMP-05c  memsets of values of 1, 2 and 4 bytes by the driver's calls, launched and captured
 * set_rows COMP-05c  memsets of rows: one and several, shorter than their pitch, of more than 1 KiB; launched, captured, without a
 *                    stream, and by cuMemsetD2D8Async
 * rows     COMP-05e  copies of such rows, whose pitches are the same or differ, between memory of every kind; launched, captured and nodes;
 *                    and of several layers of rows with gaps between them (pageable_layers.h)
 * high     COMP-05e  copies and memsets of 65,535 to 70,000 rows of few bytes, launched and captured
 * calls    COMP-05e  copies by the calls that name one direction, both devices, memory that has a name, or several copies, of up to 14,001 bytes; by
 *                    cudaMemcpy2D; and of rows and layers by the driver's calls, with the row and byte where they begin
 * shifted  COMP-05e  copies of 1 to 300 bytes from and to any address, between memory of every kind; plain, asynchronous, of a row, nodes
 * large    COMP-05e  copies of more than 1 MiB between memory of every kind, and of any size by the driver's call; many behind a slow kernel; what
 *                    follows copies and memsets of more than 1 MiB, all over them
 */
#include <stdlib.h>
#include <string.h>

#include "graph_ask.h"
#include "host_room.h"

KERNEL(pageable_work) { slow_stores(&args); }
KERNEL(pageable_silent) { k_store_relaxed(&args.state->alive, 1); } /* neither waits nor stores words */

#define MOST_BYTES (1u << 20)

struct pageable {
    struct ask *ask;
    struct host_room *room;    /* of the work */
    struct kernel_args args;
    uint32_t *apart;           /* words of the work that no copy touches */
    unsigned char *host, *back, *device;
    unsigned char *pinned[2];
};

static int open_pageable(struct pageable *p, struct ask *ask)
{
    p->ask = ask;
    p->host = (unsigned char *)malloc(MOST_BYTES);
    p->back = (unsigned char *)malloc(MOST_BYTES);
    if (p->host && p->back && open_room(&p->room, &p->args) && cudaMalloc((void **)&p->device, 2 * MOST_BYTES) == cudaSuccess) {
        p->apart = p->args.data;
        return 1;
    }
    ask_skip(ask, "memory", "none was given");
    return 0;
}

static void close_pageable(struct pageable *p)
{
    (void)cudaDeviceSynchronize();
    (void)cudaFree(p->device);
    (void)cudaFreeHost(p->room);
    free(p->host);
    free(p->back);
}

static void fill(unsigned char *to, size_t bytes, unsigned salt)
{
    size_t i;

    for (i = 0; i < bytes; i++)
        to[i] = (unsigned char)(i * 7 + (i >> 8) + salt);
}

static unsigned is_filled_from(const unsigned char *from, size_t first, size_t bytes, unsigned salt)
{
    size_t i;

    for (i = first; i < bytes; i++)
        if (from[i] != (unsigned char)(i * 7 + (i >> 8) + salt))
            return 0;
    return 1;
}

static unsigned is_filled(const unsigned char *from, size_t bytes, unsigned salt) { return is_filled_from(from, 0, bytes, salt); }

/* Work that takes long, so that a copy which does not wait for its memory is left for later. In two of three trials a kernel with attribute 6 comes
 * after the work, overlaps it, and has ended long before it. */
static cudaError_t begin_work_on(struct pageable *p, uint32_t *words, unsigned trial)
{
    cudaLaunchAttribute six = serialization(1);
    cudaError_t error;

    prepare_trial(p->room, trial);
    p->args.data = words;
    error = launch_one((const void *)SYMBOL(pageable_work), &p->args, ASK_WORDS / 2, cudaStreamLegacy, NULL, 0);
    if (error == cudaSuccess && trial % 3)
        error = launch_one((const void *)SYMBOL(pageable_silent), &p->args, 1, cudaStreamLegacy, &six, 1);
    return error;
}

static cudaError_t begin_work(struct pageable *p, unsigned trial) { return begin_work_on(p, p->apart, trial); }

#define WORK_BYTES (ASK_WORDS / 2 * sizeof(uint32_t))
#define NOWHERE ((size_t)-1)

/* Where among so many bytes the work stores: at their beginning or their end; nowhere among few. */
static size_t work_at(size_t bytes, unsigned trial)
{
    return bytes < 4096 ? NOWHERE : trial % 2 ? (bytes - WORK_BYTES) / sizeof(uint32_t) * sizeof(uint32_t) : 0;
}

static cudaError_t begin_work_among(struct pageable *p, unsigned char *device, size_t bytes, unsigned trial)
{
    size_t at = work_at(bytes, trial);

    return begin_work_on(p, at == NOWHERE ? p->apart : (uint32_t *)(void *)(device + at), trial);
}

/* Whether that is what was filled, and what the work has stored there since. */
static unsigned has_work(const struct pageable *p, const unsigned char *from, size_t bytes, unsigned trial)
{
    size_t at = work_at(bytes, trial);
    uint32_t word, i;

    if (at == NOWHERE)
        return is_filled(from, bytes, trial);
    for (i = 0; i < ASK_WORDS / 2; i++) {
        memcpy(&word, from + at + i * sizeof(word), sizeof(word));
        if (word != words_fresh(p->room->plan.key, i))
            return 0;
    }
    return is_filled_from(from, 0, at, trial) && is_filled_from(from, at + WORK_BYTES, bytes, trial);
}

/* Every second copy leaves it to the driver to tell which memory is where. */
static enum cudaMemcpyKind direction(enum cudaMemcpyKind kind, unsigned trial) { return trial % 2 ? cudaMemcpyDefault : kind; }

/* "The function will return once the pageable buffer has been copied to the staging memory" */
static cudaError_t copy_in(struct pageable *p, unsigned char *source, size_t bytes, unsigned trial, unsigned *wrong)
{
    cudaError_t error;

    fill(source, bytes, trial);
    error = cudaMemset(p->device, 0, bytes);
    if (error == cudaSuccess)
        error = begin_work_among(p, p->device, bytes, trial);
    if (error == cudaSuccess)
        error = cudaMemcpy(p->device, source, bytes, direction(cudaMemcpyHostToDevice, trial));
    fill(source, bytes, trial + 100);
    if (error == cudaSuccess && trial % 3 == 2) /* what stores after the copy has done so then */
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(p->back, p->device, bytes, cudaMemcpyDeviceToHost);
    *wrong += error == cudaSuccess && !is_filled(p->back, bytes, trial);
    return error;
}

/* "For transfers from device memory to pageable host memory, the function will return only once the copy has completed." */
static cudaError_t copy_out(struct pageable *p, unsigned char *target, size_t bytes, unsigned trial, unsigned *wrong)
{
    cudaError_t error;

    fill(p->host, bytes, trial);
    memset(target, 0, bytes);
    error = cudaMemcpy(p->device, p->host, bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(p->device + MOST_BYTES, p->device, bytes, cudaMemcpyDeviceToDevice);
    if (error == cudaSuccess)
        error = begin_work_among(p, p->device + MOST_BYTES, bytes, trial);
    if (error == cudaSuccess)
        error = cudaMemcpy(target, p->device + MOST_BYTES, bytes, direction(cudaMemcpyDeviceToHost, trial));
    *wrong += error == cudaSuccess && !has_work(p, target, bytes, trial);
    return error;
}

static void ask_copies(struct ask *ask)
{
    static const size_t sizes[] = { 1, 255, 4096, 65536, 65537, 131072, MOST_BYTES };
    unsigned trial, in = 0, out = 0, count = sizeof(sizes) / sizeof(sizes[0]);
    struct pageable p = PDL_ZERO;
    cudaError_t error = cudaSuccess;

    if (!open_pageable(&p, ask)) {
        close_pageable(&p);
        return;
    }
    for (trial = 0; trial < 3 * count && error == cudaSuccess; trial++) {
        error = copy_in(&p, p.host, sizes[trial % count], trial, &in);
        if (error == cudaSuccess)
            error = copy_out(&p, p.back, sizes[trial % count], trial, &out);
    }
    ask_expect(ask, "copies between pageable memory and the device", error, cudaSuccess);
    ask_expect_none(ask, "copies from pageable memory that took what was written after the call, or came before the work", in, trial);
    ask_expect_none(ask, "copies to pageable memory that were not complete after the call", out, trial);
    close_pageable(&p);
}

/* ---- pinned ---- */

/* "For transfers from any host memory to any host memory, the function is fully synchronous with respect to the host": what is written
 * to the source then is not copied, neither at once nor when the work has ended. */
static cudaError_t copy_within(struct pageable *p, unsigned char *to, unsigned char *from, size_t bytes, unsigned trial, unsigned *wrong)
{
    unsigned at_once;
    cudaError_t error;

    fill(from, bytes, trial);
    memset(to, 0, bytes);
    error = begin_work(p, trial);
    if (error == cudaSuccess)
        error = cudaMemcpy(to, from, bytes, direction(cudaMemcpyHostToHost, trial));
    fill(from, bytes, trial + 100);
    at_once = is_filled(to, bytes, trial);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    *wrong += error == cudaSuccess && !(at_once && is_filled(to, bytes, trial));
    return error;
}

/* "asynchronous with respect to the host except when the target memory is pinned host memory" */
static cudaError_t set_pinned(struct pageable *p, size_t bytes, unsigned trial, unsigned *wrong)
{
    cudaError_t error;

    memset(p->pinned[0], (int)(trial % 100), bytes);
    error = begin_work(p, trial);
    if (error == cudaSuccess)
        error = cudaMemset(p->pinned[0], (int)(trial % 100) + 100, bytes);
    *wrong += error == cudaSuccess && (p->pinned[0][0] != trial % 100 + 100 || p->pinned[0][bytes - 1] != trial % 100 + 100);
    return error;
}

struct found { unsigned in, out, within, set; };

/* "For transfers from pinned host memory to device memory, the function is synchronous with respect to the host"; "from device to either
 * pageable or pinned host memory, the function returns only once the copy has completed". */
static cudaError_t try_pinned(struct pageable *p, size_t bytes, unsigned trial, struct found *wrong)
{
    unsigned char *to = trial % 3 == 1 ? p->back : p->pinned[1], *from = trial % 3 == 2 ? p->host : p->pinned[0];
    cudaError_t error = copy_in(p, p->pinned[0], bytes, trial, &wrong->in);

    if (error == cudaSuccess)
        error = copy_out(p, p->pinned[1], bytes, trial, &wrong->out);
    if (error == cudaSuccess)
        error = copy_within(p, to, from, bytes, trial, &wrong->within);
    return error == cudaSuccess ? set_pinned(p, bytes, trial, &wrong->set) : error;
}

struct pinned_call {
    struct pageable *pageable;
    size_t bytes;
    unsigned trial;
    struct found *wrong;
    cudaError_t error;
};

static void call_pinned(void *of)
{
    struct pinned_call *call = (struct pinned_call *)of;

    call->error = try_pinned(call->pageable, call->bytes, call->trial, call->wrong);
}

/* Every third trial in another host thread. */
static cudaError_t try_pinned_by_thread(struct pageable *p, size_t bytes, unsigned trial, struct found *wrong)
{
    struct pinned_call call = { p, bytes, trial, wrong, cudaSuccess };

    if (trial % 3 == 2 && !run_in_thread(call_pinned, &call))
        ask_skip(p->ask, "copies in another thread", "no thread could be had");
    else if (trial % 3 != 2)
        call_pinned(&call);
    return call.error;
}

static void ask_pinned(struct ask *ask)
{
    static const size_t sizes[] = { 1, 255, 4096, 65537, MOST_BYTES };
    unsigned trial = 0, count = sizeof(sizes) / sizeof(sizes[0]);
    struct pageable p = PDL_ZERO;
    struct found wrong = PDL_ZERO;
    cudaError_t error = cudaErrorMemoryAllocation;

    if (open_pageable(&p, ask))
        error = cudaMallocHost((void **)&p.pinned[0], MOST_BYTES);
    if (error == cudaSuccess)
        error = cudaMallocHost((void **)&p.pinned[1], MOST_BYTES);
    for (; ask_goes_on(ask, trial, 3 * count) && error == cudaSuccess; trial++)
        error = try_pinned_by_thread(&p, sizes[trial % count], trial, &wrong);
    ask_expect(ask, "copies and memsets of pinned memory", error, cudaSuccess);
    ask_expect_none(ask, "copies from pinned memory that took what was written after the call", wrong.in, trial);
    ask_expect_none(ask, "copies to pinned memory that were not complete after the call", wrong.out, trial);
    ask_expect_none(ask, "copies within host memory that were not complete after the call", wrong.within, trial);
    ask_expect_none(ask, "memsets of pinned memory that were not complete after the call", wrong.set, trial);
    (void)cudaDeviceSynchronize();
    (void)cudaFreeHost(p.pinned[0]);
    (void)cudaFreeHost(p.pinned[1]);
    close_pageable(&p);
}

#include "pageable_queued.h"

/* ---- memsets ---- */

static void ask_memsets(struct ask *ask)
{
    static const int values[] = { 0, 1, 127, 128, 255, -1, -2, 0x105, 0x1FE, 0x12300 };
    unsigned i, wrong = 0, count = sizeof(values) / sizeof(values[0]);
    struct pageable p = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    size_t byte;

    if (!open_pageable(&p, ask)) {
        close_pageable(&p);
        return;
    }
    for (i = 0; i < 2 * count && error == cudaSuccess; i++) {
        int value = values[i % count], differs = 0;
        memset(p.back, ~value, 4096);
        error = cudaMemcpyAsync(p.device, p.back, 4096, cudaMemcpyHostToDevice, ask->stream);
        if (error == cudaSuccess)
            error = i < count ? cudaMemsetAsync(p.device, value, 4096, ask->stream) : cudaMemset2DAsync(p.device, 64, value, 64, 64, ask->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(ask->stream);
        if (error == cudaSuccess)
            error = cudaMemcpy(p.back, p.device, 4096, cudaMemcpyDeviceToHost);
        for (byte = 0; byte < 4096 && error == cudaSuccess; byte++)
            differs |= p.back[byte] != (unsigned char)value;
        wrong += differs != 0;
    }
    ask_expect(ask, "memsets", error, cudaSuccess);
    ask_expect_none(ask, "memsets that left another byte", wrong, i);
    ask_queued(&p, 1);
    close_pageable(&p);
}

#include "pageable_values.h"
#include "pageable_huge.h"
#include "pageable_rows.h"
#include "pageable_high.h"
#include "pageable_calls.h"

static const struct pair pageable_pairs[] = {
    PAIR_ASK("copies", ask_copies),
    PAIR_ASK("pinned", ask_pinned),
    PAIR_ASK("memsets", ask_memsets),
    PAIR_ASK("values", ask_values),
    PAIR_ASK("set_rows", ask_set_rows),
    PAIR_ASK("rows", ask_rows),
    PAIR_ASK("high", ask_high),
    PAIR_ASK("calls", ask_calls),
    PAIR_ASK("shifted", ask_shifted),
    PAIR_ASK("large", ask_large),
};
IMAGE(pageable, pageable_pairs)
