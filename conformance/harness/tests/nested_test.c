/* nested_test.c - each kernel of a graph that is a child graph twice, or that is launched twice, runs twice: one run more or less shows. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "nested.cu" /* whole: what counts is static */

#include "check.h"

static struct nested n;
static struct launches l;
static int more;               /* kernels that are counted beyond those that began */

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);

    n.room->state.began += (uint32_t)more;
    return error;
}

cudaError_t __real_cudaDeviceSynchronize(void);
cudaError_t __wrap_cudaDeviceSynchronize(void);
cudaError_t __wrap_cudaDeviceSynchronize(void)
{
    cudaError_t error = __real_cudaDeviceSynchronize();

    if (l.n.room)
        l.n.room->state.began += (uint32_t)more;
    return error;
}

/* Two launches: of one executable graph in two streams, or of two executable graphs of one graph in one stream. */
static unsigned wrong_launches(cudaError_t (*launch)(struct launches *of, unsigned trial), int more_began)
{
    l.lost = l.passed = 0;
    more = more_began;
    check(launch(&l, 0) == cudaSuccess, "two launches");
    more = 0;
    return l.lost + l.passed;
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

    if (cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaStreamCreateWithFlags(&ask.side, cudaStreamNonBlocking) != cudaSuccess || open_nested(&n, &ask) != cudaSuccess)
        return 1;
    check(wrong_of(0) == 0, "each kernel of both child graphs runs once");
    check(wrong_of(-1) == 1 && wrong_of(1) == 1, "one run less or more is wrong");
    check(open_launches(&l, &ask) == cudaSuccess, "graphs that are launched twice");
    check(wrong_launches(launch_twice, 0) == 0 && wrong_launches(launch_siblings, 0) == 0, "two launches of a graph run it twice");
    check(wrong_launches(launch_twice, -1) == 1 && wrong_launches(launch_twice, 1) == 1,
          "one executable graph runs neither once nor three times");
    check(wrong_launches(launch_siblings, -1) == 1 && wrong_launches(launch_siblings, 1) == 1,
          "two executable graphs of one graph run neither once nor three times");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
