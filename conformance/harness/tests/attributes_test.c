/* attributes_test.c - another thread's own default stream tells its attributes: each that is told
 * otherwise is counted, whatever comes after it. */
#define PDL_MODEL 1
#define IMAGE_SUFFIX told
#define IMAGE_TAG "told"
#include "attributes.cu" /* whole: what compares is static */

#include "check.h"

static unsigned told_otherwise; /* a bit for each of its attributes */

cudaError_t __real_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    cudaError_t error = __real_cudaStreamGetAttribute(stream, id, value);
    unsigned i;

    for (i = 0; i < STREAM_ATTRIBUTES; i++)
        ((char *)value)[0] ^= (char)(stream_kinds[i].id == id && told_otherwise >> i & 1);
    return error;
}

/* How many attributes the stream is said not to keep. */
static unsigned not_kept(struct ask *ask, unsigned told)
{
    struct holder h = PDL_ZERO;
    unsigned long long kills = ask->kills;

    if (!open_holder(&h, ask, stream_kinds, STREAM_ATTRIBUTES))
        return ~0u;
    told_otherwise = told;
    ask_own_stream(&h, 0);
    (void)cudaFree(h.memory);
    return (unsigned)(ask->kills - kills);
}

int main(void)
{
    struct ask ask = PDL_ZERO;
    unsigned i, missed = 0;

    check(not_kept(&ask, 0) == 0 && ask.wrong == 0 && ask.asked, "a thread's own default stream keeps its attributes");
    for (i = 0; i < STREAM_ATTRIBUTES; i++)
        missed += not_kept(&ask, 1u << i) != 1;
    check(missed == 0, "each that is told otherwise is counted");
    check(not_kept(&ask, (1u << STREAM_ATTRIBUTES) - 1) == STREAM_ATTRIBUTES, "all that are told otherwise are counted");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
