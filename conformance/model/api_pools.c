/* Memory that is allocated and freed in the order of streams. */
#include "api.h"

#include <stdlib.h>

struct pooled {
    void *p;
    size_t bytes;
    struct memory_pool *of;
    struct stream *freed_in;   /* NULL: in use */
    const struct stream *made_in; /* that allocated it: for the device freed-returns-to-owner */
    struct op *freed_by, *last_kernel; /* NULL once it has passed; the kernel before it: for the device freed-given-at-trigger */
    struct pooled *next;
};
static struct pooled *pool; /* what was freed last comes first */

void pools_reset(void)
{
    while (pool != NULL) {
        struct pooled *next = pool->next;
        free(pool);
        pool = next;
    }
}

void pools_forget_retired(void)
{
    for (struct pooled *m = pool; m != NULL; m = m->next) {
        if (m->freed_by != NULL && m->freed_by->retired)
            m->freed_by = NULL;
        if (m->last_kernel != NULL && m->last_kernel->retired)
            m->last_kernel = NULL;
    }
}

static struct pooled **pooled_at(const void *p)
{
    struct pooled **at = &pool;
    while (*at != NULL && (*at)->p != p)
        at = &(*at)->next;
    return at;
}

void pool_forgets(const void *p)
{
    struct pooled **at = pooled_at(p), *gone = *at;
    if (gone == NULL)
        return;
    *at = gone->next;
    free(gone);
}

/* The stream comes after the end of its last user. */
static bool may_be_given(const struct pooled *m, const struct stream *s)
{
    const struct faults *f = &device.faults;
    if (m->freed_by == NULL || m->freed_by->retired || m->freed_in == s)
        return true;
    if ((f->freed_in_ended_stream_given && m->freed_in->magic != STREAM_MAGIC) || (f->large_freed_given && m->bytes > 65536) ||
        (f->freed_per_thread_given && stream_is_per_thread(m->freed_in)))
        return true;
    if ((f->made_pool_gives_at_once && memory_pool_is_made(m->of)) || (f->switched_reuse_gives_at_once && memory_pool_lacks_reuse(m->of)))
        return true;
    for (unsigned i = 0; f->freed_given_behind_trigger && i < s->waits; i++)
        if (s->wait[i].op == m->last_kernel && s->wait[i].kind == EDGE_TRIGGERED)
            return true;
    for (unsigned i = 0; f->freed_given_behind_start && i < s->waits; i++)
        if (s->wait[i].op == m->last_kernel && s->wait[i].kind == EDGE_STARTED)
            return true;
    for (unsigned i = 0; f->freed_given_behind_newer_event && i < s->waits; i++)
        if (s->wait[i].op->kind == OP_RECORD && s->wait[i].op->serial > m->freed_by->serial)
            return true;
    for (unsigned i = 0; f->freed_given_behind_older_event && i < s->waits; i++)
        if (s->wait[i].op->serial < m->freed_by->serial)
            return true;
    return f->freed_given_at_once || (f->freed_returns_to_owner && m->made_in == s) || (f->small_freed_given && m->bytes < 64) ||
           (f->renewed_stream_owns_freed && m->freed_in == s->renews) || (f->freed_given_to_legacy && stream_is_legacy(s)) || (f->freed_given_to_waiting && s->waits != 0) ||
           (f->freed_given_at_trigger && m->last_kernel != NULL && m->last_kernel->triggered_all);
}

void pool_gives_live(const struct memory_pool *of)
{
    for (struct pooled *m = pool; m != NULL; m = m->next)
        if (m->of == of && m->freed_in == NULL)
            m->freed_in = stream_legacy();
}

void pools_end_frees(const struct memory_pool *of)
{
    for (struct pooled *m = pool; m != NULL; m = m->next)
        if ((of == NULL || m->of == of) && m->freed_in != NULL)
            m->freed_by = NULL;
}

/* Whether this pool has it to give; on a broken device also if it was one's that is gone. */
static bool is_of(const struct pooled *m, const struct memory_pool *of)
{
    return m->of == of || (device.faults.gone_pool_gives && memory_pool_is_gone(m->of));
}

/* The oldest piece, if there are 64 or more and it is large enough */
static struct pooled *first_of_many(size_t bytes)
{
    unsigned others = 0;
    for (struct pooled *m = pool; m != NULL; m = m->next)
        if (++others >= 64 && m->next == NULL && m->bytes >= bytes)
            return m;
    return NULL;
}

static struct pooled *pooled_new(struct memory_pool *of, size_t bytes)
{
    struct pooled *first = device.faults.allocation_65_shares ? first_of_many(bytes) : NULL, *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    bool ends = device.faults.pooled_end_at_page && bytes > 4096 && bytes < 8192;
    bool halved = device.faults.large_pooled_halved && bytes > 1024;
    m->p = first != NULL ? first->p : memory_allocate(ends ? 4096 : halved ? bytes / 2 : bytes, false);
    if (m->p == NULL) {
        free(m);
        return NULL;
    }
    m->bytes = bytes;
    m->of = of;
    m->next = pool;
    return pool = m;
}

static bool fits(const struct pooled *m, size_t bytes)
{
    return m->bytes == bytes || (device.faults.freed_given_for_more && m->bytes < bytes && m->bytes + 256 >= bytes);
}

/* Queues nothing: whoever had the memory before has ended, or stands before this in the stream. */
static cudaError_t allocate_from(struct memory_pool *of, void **out, size_t bytes, struct stream *s)
{
    struct pooled *m = pool;
    cudaError_t error = stream_may_queue(s);
    FAIL_IF(error != cudaSuccess, error);
    FAIL_IF(out == NULL || bytes == 0, cudaErrorInvalidValue);
    if (s->capture != NULL)
        return call_result(capture_memory(s, out, bytes));
    if (device.faults.allocation_eats_waits || (device.faults.pool_beside_capture_eats_waits && capture_is_active()))
        s->waits = 0;
    while (m != NULL && (m->freed_in == NULL || !is_of(m, of) || !fits(m, bytes) || (!may_be_given(m, s) && m->of == of)))
        m = m->next;
    if (m == NULL)
        m = pooled_new(of, bytes);
    FAIL_IF(m == NULL, cudaErrorMemoryAllocation);
    m->of = of;
    m->freed_in = NULL;
    m->made_in = s;
    m->freed_by = m->last_kernel = NULL;
    *out = m->p;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    CALL(cudaMallocAsync);
    return allocate_from(memory_pool_now(), out, bytes, stream_of(stream));
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t from, cudaStream_t stream)
{
    CALL(cudaMallocFromPoolAsync);
    FAIL_IF(memory_pool_of(from) == NULL, cudaErrorInvalidValue);
    return allocate_from(memory_pool_of(from), out, bytes, stream_of(stream));
}

void pool_takes_left(void *p, size_t bytes, struct stream *s)
{
    struct pooled *m = *pooled_at(p) == NULL ? calloc(1, sizeof *m) : NULL;
    if (m == NULL)
        return;
    m->p = p;
    m->bytes = bytes;
    m->of = memory_pool_now();
    m->freed_in = s;
    m->next = pool;
    pool = m;
}

cudaError_t CUDARTAPI cudaFreeAsync(void *p, cudaStream_t stream)
{
    CALL(cudaFreeAsync);
    struct stream *s = stream_of(stream);
    struct pooled **at = pooled_at(p), *m = *at;
    size_t bytes;
    cudaError_t error = stream_may_queue(s);
    FAIL_IF(error != cudaSuccess, error);
    if (s->capture != NULL)
        return call_result(capture_end_of_memory(s, p));
    if (graph_memory_freed(p, &bytes)) {
        if (device.faults.left_memory_given_at_once)
            pool_takes_left(p, bytes, s);
        return stream_move(s, op_new(OP_POOL), false);
    }
    FAIL_IF(m == NULL || m->freed_in != NULL, cudaErrorInvalidValue);
    m->last_kernel = s->kernel_tail;
    struct op *op = op_new(OP_POOL);
    (void)stream_move(s, op, false);
    m->freed_in = s;
    m->freed_by = op;
    *at = m->next;
    m->next = pool;
    pool = m;
    return cudaSuccess;
}
