#include "explore.h"
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block may start on one of two SMs: which one only matters to who shares a cache with whom. */
enum { DEEPEST = 1024, MOST_OPS = 64, PLACES = 2 };

struct explorer {
    uint32_t choice[DEEPEST], limit[DEEPEST];
    unsigned depth, given; /* choices made; of those, fixed by the search */
    bool cut;
    struct op *op[MOST_OPS];
    unsigned ops;
    const unsigned char *program;
    size_t program_bytes;
    const unsigned char *words;
    size_t stride;
    unsigned word_count;
    uint64_t *seen; /* open addressing; 0 is free */
    size_t seen_count, seen_room;
    uint64_t executions;
};

static void *checked(void *p)
{
    if (p == NULL) {
        fputs("pdl model: no memory for the explorer\n", stderr);
        abort();
    }
    return p;
}

struct explorer *explorer_new(void)
{
    struct explorer *e = checked(calloc(1, sizeof *e));
    e->seen_room = 1 << 12;
    e->seen = checked(calloc(e->seen_room, sizeof *e->seen));
    return e;
}

void explorer_delete(struct explorer *e)
{
    device.explorer = NULL;
    free(e->seen);
    free(e);
}

void explorer_begin(struct explorer *e)
{
    e->depth = 0;
    e->ops = 0;
    e->cut = false;
    e->program_bytes = 0;
    e->word_count = 0;
    e->executions++;
    device.explorer = e;
    device.burst = 0;
}

void explorer_watch(struct explorer *e, const void *program, size_t bytes, const void *words, size_t stride, unsigned count)
{
    e->program = program;
    e->program_bytes = bytes;
    e->words = words;
    e->stride = stride;
    e->word_count = count;
}

bool explorer_was_cut(const struct explorer *e)
{
    return e->cut;
}

uint64_t explorer_states(const struct explorer *e)
{
    return e->seen_count;
}

uint64_t explorer_executions(const struct explorer *e)
{
    return e->executions;
}

void explorer_note(struct explorer *e, struct op *op)
{
    if (e->ops == MOST_OPS)
        abort();
    e->op[e->ops++] = op;
}

uint32_t explorer_choose(struct explorer *e, uint32_t n)
{
    if (e->depth == DEEPEST || n == 0)
        abort();
    if (e->depth >= e->given) {
        e->choice[e->depth] = 0;
        e->limit[e->depth] = n;
    }
    return e->choice[e->depth++];
}

bool explorer_next(struct explorer *e)
{
    unsigned d = e->depth;
    while (d > 0 && e->choice[d - 1] + 1 == e->limit[d - 1])
        d--;
    if (d == 0)
        return false;
    e->choice[d - 1]++;
    e->given = d;
    return true;
}

/* ---- states ---- */

static bool insert(uint64_t *table, size_t room, uint64_t key)
{
    size_t i = key & (room - 1);
    for (; table[i] != 0; i = (i + 1) & (room - 1))
        if (table[i] == key)
            return false;
    table[i] = key;
    return true;
}

static bool is_new(struct explorer *e, uint64_t key)
{
    if (key == 0)
        key = 1;
    if (2 * e->seen_count >= e->seen_room) {
        size_t room = 2 * e->seen_room;
        uint64_t *table = checked(calloc(room, sizeof *table));
        for (size_t i = 0; i < e->seen_room; i++)
            if (e->seen[i] != 0)
                insert(table, room, e->seen[i]);
        free(e->seen);
        e->seen = table;
        e->seen_room = room;
    }
    bool fresh = insert(e->seen, e->seen_room, key);
    e->seen_count += fresh;
    return fresh;
}

static uint64_t digest_op(uint64_t d, const struct op *op)
{
    d = mix(d, (uint64_t)op->blocked << 32 | op->cover_open);
    d = mix(d, (uint64_t)op->started_all | (uint64_t)op->triggered_all << 1 | (uint64_t)op->exited_all << 2 |
                   (uint64_t)op->done << 3 | (uint64_t)op->retired << 4);
    if (op->grid == NULL)
        return d;
    const struct grid *g = op->grid;
    d = mix(d, (uint64_t)g->next_block << 32 | g->triggered << 16 | g->trigger_calls);
    return mix(d, (uint64_t)g->gone << 32 | g->exited << 16 | g->low_exited);
}

/* Which slot a block runs in is nobody's business: the sum does not depend on it. */
static uint64_t digest_blocks(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < workers(); i++) {
        const struct block *b = &device.block[i];
        if (b->op == NULL)
            continue;
        uint64_t d = mix(b->op->serial << 8 | b->index, (uint64_t)b->sm << 1 | b->triggered);
        for (unsigned t = 0; t < b->threads; t++)
            d = mix(d, (uint64_t)b->thread[t].state << 32 | b->thread[t].waits);
        sum += d;
    }
    return sum;
}

static uint64_t digest_buffers(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < device.buffer_count; i++) {
        const struct store_buffer *b = device.buffers[i];
        for (uint64_t left = b->used; left != 0; left &= left - 1) {
            const struct store *s = &b->slot[__builtin_ctzll(left)];
            sum += mix(mix(b->owner, s->word), mix(s->value, s->bytes));
        }
    }
    return sum;
}

static uint64_t digest_state(const struct explorer *e)
{
    uint64_t d = 0x243f6a8885a308d3u;
    for (unsigned i = 0; i < e->ops; i++)
        d = digest_op(d, e->op[i]);
    d = mix(d, digest_blocks());
    d = mix(d, digest_buffers());
    uint64_t sum = 0;
    for (unsigned i = 0; i < device.timed_count; i++)
        sum += mix(device.timed[i].act, device.timed[i].op != NULL ? device.timed[i].op->serial : 0);
    d = mix(d, sum);
    for (unsigned i = 0; i < e->word_count; i++)
        d = mix(d, memory_digest(e->words + i * e->stride));
    for (size_t i = 0; i < e->program_bytes; i++)
        d = mix(d, e->program[i]);
    return d;
}

/* ---- moves ---- */

static void do_move(uint32_t n)
{
    if (n < device.runnable_count) {
        thread_resume(device.runnable[n]);
        return;
    }
    n -= device.runnable_count;
    if (n < PLACES * device.placing_count) {
        struct op *op = device.placing[n / PLACES];
        if (op->grid->next_block + 1 == op->grid->blocks)
            device.placing[n / PLACES] = device.placing[--device.placing_count];
        block_start(op, n % PLACES);
        return;
    }
    n -= PLACES * device.placing_count;
    if (n < device.timed_count) {
        struct timed t = timed_take(n);
        perform(t.act, t.op, t.thread);
        return;
    }
    n -= device.timed_count;
    for (unsigned b = 0; b < device.buffer_count; b++) {
        unsigned held = (unsigned)__builtin_popcountll(device.buffers[b]->used);
        if (n < held) {
            memory_drain_one(b, n);
            return;
        }
        n -= held;
    }
    abort();
}

bool explorer_step(struct explorer *e)
{
    uint32_t moves = device.runnable_count + PLACES * device.placing_count + device.timed_count;
    for (unsigned b = 0; b < device.buffer_count; b++)
        moves += (uint32_t)__builtin_popcountll(device.buffers[b]->used);
    if (moves == 0)
        return false;
    if (e->depth >= e->given && !is_new(e, digest_state(e))) {
        e->cut = true;
        device_fails(cudaErrorUnknown);
        return false;
    }
    do_move(explorer_choose(e, moves));
    return true;
}
