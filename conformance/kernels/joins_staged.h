/* joins_staged.h - the question of joins.cu with a long copy from pageable memory, which is staged in pieces, behind work: who comes after it finds
 * the last words. */
#ifndef JOINS_STAGED_H_INCLUDED
#define JOINS_STAGED_H_INCLUDED

#define STAGED_SIZES 4u
#define STAGED_MOST ((1u << 20) + 4)

/* In turn followers and dependents read what it stored last. The source stays as it is, for such a copy may take it late. */
static cudaError_t follow_staged(struct joins *joins)
{
    static const size_t sizes[STAGED_SIZES] = { 65536, 65540, 200000, STAGED_MOST }; /* up to 64 KiB are staged at once */
    static uint32_t pageable[STAGED_MOST / sizeof(uint32_t)];
    size_t bytes = sizes[joins->round % STAGED_SIZES], last = bytes / sizeof(uint32_t) - PLACE_WORDS;
    unsigned depends = (joins->round / STAGED_SIZES + joins->round) % 2;
    struct kernel_args reads = joins->follower[0];
    cudaStream_t stream = joins->stream[0];
    cudaError_t error = joins->longer ? cudaSuccess : cudaMalloc((void **)&joins->longer, STAGED_MOST);

    prepare(joins, 1, 1);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(joins->longer + last, 0, PLACE_WORDS * sizeof(uint32_t), stream);
    store_fresh(joins->pinned, 0, pageable + last);
    reads.data = joins->longer + last;
    if (error == cudaSuccess)
        error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(joins->longer, pageable, bytes, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? read_or_depend(joins, &reads, stream, depends) : error;
}

#endif
