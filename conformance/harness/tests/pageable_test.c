/* pageable_test.c - memory that a call has set is compared to its last byte once the call has returned. So is a copy within the host, and
 * again once all work has ended. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "pageable.cu" /* whole: what compares is static */

#include "check.h"

#define BYTES 512u

static unsigned left = BYTES;  /* the byte that a memset leaves as it was; BYTES: none */

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

/* When a copy is made: at the call; when the host waits, of what the source held at the call or holds then; or at both times. */
static enum { IN_TIME, LATE, LATE_AS_THEN, TWICE } comes;
static unsigned char *late_to, as_it_was[BYTES];
static const unsigned char *late_from;

cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (comes != IN_TIME && bytes == BYTES) {
        late_to = (unsigned char *)to;
        late_from = (const unsigned char *)from;
        memcpy(as_it_was, from, BYTES);
    }
    return comes == IN_TIME || comes == TWICE ? __real_cudaMemcpy(to, from, bytes, kind) : cudaSuccess;
}

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);

    if (late_to)
        memcpy(late_to, comes == LATE ? as_it_was : late_from, BYTES);
    late_to = NULL;
    return error;
}

static unsigned wrong_copies(struct pageable *p, unsigned how)
{
    unsigned wrong = 0;

    comes = how;
    check(copy_within(p, p->back, p->host, BYTES, 0, &wrong) == cudaSuccess, "a copy within the host");
    comes = IN_TIME;
    return wrong;
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
    check(wrong_sets(&p, 0) == 1 && wrong_sets(&p, BYTES - 1) == 1, "a first or last byte of pinned memory that is not set is wrong");
    check(wrong_copies(&p, IN_TIME) == 0, "a copy within the host is complete when the call returns");
    check(wrong_copies(&p, LATE) == 1 && wrong_copies(&p, LATE_AS_THEN) == 1 && wrong_copies(&p, TWICE) == 1,
          "a copy within the host that comes later, or again, is wrong");
    (void)cudaFreeHost(p.pinned[0]);
    close_pageable(&p);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
