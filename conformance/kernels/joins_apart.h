/* joins_apart.h - the pair of joins.cu with many pieces of memory at once that are allocated and freed in the order of streams: no two
 * of them share any. */
#ifndef JOINS_APART_H_INCLUDED
#define JOINS_APART_H_INCLUDED

#define APART 12u              /* allocations at once, in most trials */
#define MANY_APART 80u

struct apart {
    char *memory[MANY_APART];
    size_t bytes[MANY_APART];
};

static int lie_apart(const struct apart *a, unsigned i)
{
    unsigned k;

    for (k = 0; k < MANY_APART; k++)
        if (k != i && a->memory[k] && a->memory[i] < a->memory[k] + a->bytes[k] && a->memory[k] < a->memory[i] + a->bytes[i])
            return 0;
    return 1;
}

/* "cannot release OS allocations that back outstanding asynchronous allocations" */
static cudaError_t trim_devices_pool(void)
{
    cudaMemPool_t pool;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetDefaultMemPool(&pool, device);
    return error == cudaSuccess ? cudaMemPoolTrimTo(pool, 0) : error;
}

/* No two allocations share memory, whoever had what they are made of before. Each is freed, and another one of some other size takes its
 * place. In one round of four the pool is trimmed once while it has as many as it can. */
static cudaError_t allocate_apart(struct joins *joins)
{
    static const unsigned unit[3] = { 4096, 256, 1001 }; /* bytes: pages, what devices align to, and neither */
    struct apart a = PDL_ZERO;
    cudaError_t error = cudaSuccess;
    unsigned turn = joins->trial / POOL_WAYS, apart = turn % 4 == 1 ? MANY_APART : APART, i, place;

    prepare(joins, 1, 0);
    for (i = 0; i < 4 * apart && error == cudaSuccess; i++) {
        cudaStream_t stream = joins->stream[i % 2];
        place = i % apart;
        if (a.memory[place])
            error = cudaFreeAsync(a.memory[place], stream);
        a.memory[place] = NULL;
        if (i % 5 == 0 && error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        a.bytes[place] = (1 + (turn + i / apart + place) % 6) * unit[i % 3];
        if (error == cudaSuccess && i < 3 * apart)
            error = cudaMallocAsync((void **)&a.memory[place], a.bytes[place], stream);
        if (error == cudaSuccess && a.memory[place])
            joins->pinned->host_is_stale |= !lie_apart(&a, place);
        if (error == cudaSuccess && turn % 4 == 2 && i + 1 == 2 * apart)
            error = trim_devices_pool();
    }
    return error;
}

#endif
