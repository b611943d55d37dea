// One thread asks what a kernel can do, another reads the answer without having met the first one anywhere else: the thread sanitizer
// sees a race if the table of answers does not order them by itself. With one device the reader calls nothing that takes a lock.
#include "pdl.h"

#include <pthread.h>
#include <sched.h>

#include "expect.h"

namespace {

int asked;             // relaxed: it says that the first thread is done, and orders nothing
cudaStream_t stream;

cudaError_t launch(void (*kernel)(number), cudaStream_t where)
{
    return pdl::launch(kernel, 1, 1, 0, where, pdl::overlap, {0});
}

void *ask(void *)
{
    EXPECT_IS(launch(static_kernel, nullptr), cudaSuccess);
    __atomic_store_n(&asked, 1, __ATOMIC_RELAXED);
    return nullptr;
}

void *read(void *)
{
    while (__atomic_load_n(&asked, __ATOMIC_RELAXED) == 0) {
        sched_yield();
    }
    EXPECT_IS(launch(static_kernel, stream), cudaSuccess);
    return nullptr;
}

} // namespace

int main()
{
    pthread_t first, second;

    fresh_device();
    EXPECT_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_IS(launch(plain_kernel, nullptr), cudaSuccess); // the number of devices is known from here on
    EXPECT_IS(pthread_create(&second, nullptr, read, nullptr), 0);
    EXPECT_IS(pthread_create(&first, nullptr, ask, nullptr), 0);
    EXPECT_IS(pthread_join(first, nullptr), 0);
    EXPECT_IS(pthread_join(second, nullptr), 0);
    EXPECT_IS(model_launch_count(), 3);
    EXPECT_IS(model_call_count("cudaFuncGetAttributes"), 2);
    return failed;
}
