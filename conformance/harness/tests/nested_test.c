/* nested_test.c - the kernels of a graph that is a child graph twice run twice each: one run more or less shows. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "nested.cu" /* whole: what counts is static */

#include "check.h"

static struct nested n;
static int more;               /* kernels than began */

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);

    n.room->state.began += (uint32_t)more;
    return error;
}

static unsigned wrong_of(int more_began)
{
    struct ask ask = *n.ask;

    ask.trials = 1;
    more = more_began;
    ask_twice_around(&ask, &n);
    more = 0;
    return ask.wrong;
}

int main(void)
{
    struct ask ask = PDL_ZERO;

    if (cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess || open_nested(&n, &ask) != cudaSuccess)
        return 1;
    check(wrong_of(0) == 0, "each kernel of both child graphs runs once");
    check(wrong_of(-1) == 1 && wrong_of(1) == 1, "one run less or more is wrong");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
