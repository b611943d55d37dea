// pdl::launch from 64 host threads on several devices, each with another answer; run under the thread sanitizer. Built for
// four devices, and for two.
#include "pdl.h"

#include <pthread.h>

#include "expect.h"

namespace {

#ifndef DEVICES
#define DEVICES 4
#endif
enum { THREADS = 64, ROUNDS = 20 };

struct worker {
    pthread_t thread;
    int device;
    unsigned wrong;
    cudaStream_t stream;
};

pthread_barrier_t begin;

// All begin at once, so that many ask first; then each goes round the devices.
void *work(void *argument)
{
    worker *w = static_cast<worker *>(argument);

    pthread_barrier_wait(&begin);
    for (int i = 0; i < ROUNDS; i++) {
        w->wrong += cudaSetDevice((w->device + i) % DEVICES) != cudaSuccess;
        w->wrong += pdl::launch(plain_kernel, static_cast<unsigned>((w->device + i) % DEVICES + 1), 1, 0, w->stream, pdl::overlap,
                                {0}) != cudaSuccess;
        w->wrong += pdl::launch(erased_kernel, 9, 1, 0, w->stream, pdl::overlap, {0}) != cudaSuccess;
    }
    return nullptr;
}

void set_up()
{
    fresh_device();
    model_set_devices(DEVICES);
    model_set_cc_of(1, 8, 6);
    if (DEVICES > 2) {
        model_set_image(reinterpret_cast<const void *>(plain_kernel), 2, 80);
        model_set_cc_of(3, 12, 0);
    }
}

// The answer of each device, told by the grid: 1 and 4 blocks overlap, 2 (compute capability 8.6) and 3 (code for 80) do not.
void check_launches()
{
    EXPECT_IS(model_launch_count(), 2 * THREADS * ROUNDS);
    for (unsigned i = 0; i < model_launch_count(); i++) {
        const model_launch *launch = model_launch_at(i);
        const bool overlaps = launch->grid[0] == 1 || launch->grid[0] == 4;

        EXPECT_IS(launch->num_attrs, overlaps ? 1 : 0);
    }
}

void works_from_many_threads()
{
    static worker workers[THREADS];

    EXPECT_IS(pthread_barrier_init(&begin, nullptr, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].device = i % DEVICES;
        EXPECT_IS(cudaStreamCreateWithFlags(&workers[i].stream, cudaStreamNonBlocking), cudaSuccess);
        EXPECT_IS(pthread_create(&workers[i].thread, nullptr, work, &workers[i]), 0);
    }
    for (worker &w : workers) {
        EXPECT_IS(pthread_join(w.thread, nullptr), 0);
        EXPECT_IS(w.wrong, 0);
    }
    check_launches();
    EXPECT(model_call_count("cudaFuncGetAttributes") <= 2 * DEVICES * THREADS); // never again once it is known
}

// What is known of one device says nothing of another; each is asked once.
void asks_each_device_once()
{
    const unsigned before = model_call_count("cudaFuncGetAttributes");

    for (int round = 0; round < 3; round++) {
        for (int device = 0; device < DEVICES; device++) {
            EXPECT_IS(cudaSetDevice(device), cudaSuccess);
            EXPECT_IS(pdl::launch(narrow_kernel, 1, 1, 0, nullptr, pdl::overlap, {0}), cudaSuccess);
            EXPECT_IS(attributes_of_last(), device == 1 ? 0 : 1);
        }
    }
    EXPECT_IS(model_call_count("cudaFuncGetAttributes") - before, DEVICES);
}

} // namespace

int main()
{
    set_up();
    asks_each_device_once();
    set_up();
    works_from_many_threads();
    return failed;
}
