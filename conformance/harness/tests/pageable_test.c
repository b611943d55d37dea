/* pageable_test.c - memory that a call has set is compared to its last byte once the call has returned. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "pageable.cu" /* whole: what compares is static */

#include "check.h"

#define BYTES 512u

static unsigned left = BYTES;  /* a byte that a memset leaves; BYTES: none */

cudaError_t __real_cudaMemset(void *to, int value, size_t bytes);
cudaError_t __wrap_cudaMemset(void *to, int value, size_t bytes);
cudaError_t __wrap_cudaMemset(void *to, int value, size_t bytes)
{
    unsigned char before = left < BYTES ? ((unsigned char *)to)[left] : 0;
    cudaError_t error = __real_cudaMemset(to, value, bytes);

    if (left < BYTES)
        ((unsigned char *)to)[left] = before;
    return error;
}

static unsigned wrong_sets(struct pageable *p, unsigned leaves)
{
    unsigned wrong = 0;

    left = leaves;
    check(set_pinned(p, BYTES, 1, &wrong) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "a memset of pinned memory");
    left = BYTES;
    return wrong;
}

int main(void)
{
    struct ask ask = PDL_ZERO;
    struct pageable p = PDL_ZERO;

    check(open_pageable(&p, &ask) && cudaHostAlloc((void **)&p.pinned[0], BYTES, cudaHostAllocDefault) == cudaSuccess, "memory");
    check(wrong_sets(&p, BYTES) == 0, "pinned memory is set when the call returns");
    check(wrong_sets(&p, 0) == 1 && wrong_sets(&p, BYTES - 1) == 1, "its first byte and its last one, too");
    (void)cudaFreeHost(p.pinned[0]);
    close_pageable(&p);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
