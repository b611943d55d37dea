/* One prepared kernel, 64 threads: each launches into its own stream, with its own options; the kernel stays as it was. Run
 * under the thread sanitizer, too. */
#include "pdl.h"

#include <pthread.h>
#include <string.h>

#include "expect.h"

enum { THREADS = 64, LAUNCHES = 20 };

static pdl_kernel kernel;
static pthread_barrier_t begin; /* all launch at once */

struct worker {
    pthread_t thread;
    cudaStream_t stream;
    unsigned overlap, wrong;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct number number = {0};
    void *args[] = {&number};
    const dim3 one = {1, 1, 1};
    pdl_options options = PDL_ZERO;

    options.overlap = worker->overlap;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < LAUNCHES; i++) {
        if (pdl_launch(&kernel, one, one, args, 0, worker->stream, &options) != cudaSuccess) {
            worker->wrong++;
        }
    }
    return NULL;
}

int main(void)
{
    struct worker workers[THREADS];
    unsigned launches[THREADS] = {0};
    pdl_kernel before;

    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    memcpy(&before, &kernel, sizeof before);
    EXPECT_IS(pthread_barrier_init(&begin, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].overlap = (unsigned)i % 3;
        workers[i].wrong = 0;
        EXPECT_IS(cudaStreamCreateWithFlags(&workers[i].stream, cudaStreamNonBlocking), cudaSuccess);
        EXPECT_IS(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT_IS(pthread_join(workers[i].thread, NULL), 0);
        EXPECT_IS(workers[i].wrong, 0);
    }
    EXPECT(memcmp(&before, &kernel, sizeof before) == 0);
    EXPECT_IS(model_launch_count(), THREADS * LAUNCHES);
    for (unsigned i = 0; i < model_launch_count(); i++) {
        const struct model_launch *launch = model_launch_at(i);

        for (int j = 0; j < THREADS; j++) {
            if (launch->stream == workers[j].stream) {
                launches[j]++;
                EXPECT_IS(launch->num_attrs, workers[j].overlap != 0);
            }
        }
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT_IS(launches[i], LAUNCHES);
    }
    return failed;
}
