/* crowds_test.c - where a grid's threads are counted, one thread more or less shows, and so does each word that it leaves; where a graph is
 * launched twice, what its blocks found in either launch shows. */
#define PDL_MODEL 1
#define IMAGE_SUFFIX told
#define IMAGE_TAG "told"
#include "crowds.cu" /* whole: what counts is static */

#include "check.h"

static struct crowd crowd;
static uint32_t words[COUNTED_WORDS];
static int more_threads;       /* than ran */
static unsigned told_at;       /* a word that is told otherwise; COUNTED_WORDS: none */
static unsigned waits, early_at; /* so far; the wait that finds that a block found others' words, 0: none */

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);

    crowd.room->state.finished += (uint32_t)more_threads;
    if (++waits == early_at)
        crowd.room->state.early++;
    if (told_at < COUNTED_WORDS)
        words[told_at] ^= 1;
    return error;
}

/* What is wrong with a grid of 3 blocks of 5 threads. */
static unsigned wrong_of(const struct kernel_args *args, int later, int more, unsigned at)
{
    unsigned wrong = 0;

    more_threads = more;
    told_at = at;
    if (run_counted(&crowd, args, words, 3, 5, later, &wrong) != cudaSuccess)
        wrong = ~0u;
    more_threads = 0;
    told_at = COUNTED_WORDS;
    return wrong;
}

/* A graph that is launched twice, in one of whose launches a block found others' words in its shared memory. */
static unsigned early_of_two(unsigned launch)
{
    cudaError_t error;

    waits = 0;
    early_at = launch;
    prepare_trial(crowd.room, 0);
    error = launch_kept_twice(&crowd, 0, 0);
    early_at = 0;
    return error == cudaSuccess ? crowd.room->state.early : ~0u;
}

int main(void)
{
    static const unsigned places[] = { 0, 14, 15, COUNTED_MOST, COUNTED_MOST + 5, 2 * COUNTED_MOST, 2 * COUNTED_MOST + 4,
                                       3 * COUNTED_MOST + 5, COUNTED_WORDS - 1 }; /* of threads, of the greatest and the least, of nobody */
    struct ask ask = PDL_ZERO;
    struct kernel_args args;
    unsigned i, later, missed = 0;

    told_at = COUNTED_WORDS;
    if (!open_room(&crowd.room, &crowd.args) || cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    crowd.ask = &ask;
    args = crowd.args;
    if (cudaMalloc((void **)&args.data, sizeof(words)) != cudaSuccess)
        return 1;
    for (later = 0; later < 2; later++) {
        check(wrong_of(&args, (int)later, 0, COUNTED_WORDS) == 0, "nothing is wrong where the truth is told");
        check(wrong_of(&args, (int)later, 1, COUNTED_WORDS) == 1, "a thread that runs twice shows");
        check(wrong_of(&args, (int)later, -1, COUNTED_WORDS) == 1, "and one that does not run");
    }
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        missed += wrong_of(&args, (int)(i % 2), 0, places[i]) != 1;
    check(missed == 0, "each word that is another one shows");
    check(early_of_two(0) == 0 && early_of_two(1) == 1 && early_of_two(2) == 1, "what a block found in either launch of a graph counts");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
