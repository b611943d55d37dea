/* other_thread.c - calls that another thread of the host makes. */
#include "other_thread.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

struct other_thread {
    void (*run)(void *of);
    void *of;
    int device;
    cudaError_t set;
};

static void *other_thread_runs(void *opaque)
{
    struct other_thread *other = opaque;

    other->set = cudaSetDevice(other->device); /* each host thread has a device of its own */
    if (other->set == cudaSuccess)
        other->run(other->of);
    return NULL;
}

int run_in_thread(void (*run)(void *of), void *of)
{
    struct other_thread other = { run, of, 0, cudaSuccess };
    pthread_t thread;

    return cudaGetDevice(&other.device) == cudaSuccess && !pthread_create(&thread, NULL, other_thread_runs, &other) &&
           !pthread_join(thread, NULL) && other.set == cudaSuccess;
}
