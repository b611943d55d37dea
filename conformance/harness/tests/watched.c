/* watched.c - linked into the model's harness by pdl-harness-watched: which words of the host's a case looks at.
 *
 * PDL_WATCHED=FILE         at the end, the bytes of each place that the device wrote for the host, one in a line
 * PDL_FALSIFY=PLACE:BYTE:ADD before the host looks at this place, so much is added to the word at that byte of it; -1: to every word
 * PDL_ASKED=FILE           at the end, a digest of all calls with what they are given (asked.c)
 * PDL_BROKEN_WAITS=1       the broken waits are run, though the model has broken devices instead
 * PDL_COUNT_FAILS=CODE     there may be a device, and it cannot be used: it is neither counted nor set; 0: there is none, and none is counted
 * PDL_NO_DRIVER=1          the driver's version is that of none
 * PDL_WAIT_FAILS=CODE      whoever waits for the device is told this error
 *
 * A place is an allocation of pinned memory, or whatever a copy to the host writes: one for all of them, so that it does not matter
 * which functions a compiler inlines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "device.h"

#define PLACES 256u

struct place {
    int is_target;               /* of copies; else an allocation */
    unsigned char *memory;
    size_t bytes, most;
    int copied;                  /* and not yet looked at */
};

static struct place place[PLACES];
static unsigned places;

cudaError_t __real_cudaGetDeviceCount(int *count);
cudaError_t __wrap_cudaGetDeviceCount(int *count);
cudaError_t __real_cudaDriverGetVersion(int *version);
cudaError_t __wrap_cudaDriverGetVersion(int *version);
cudaError_t __real_cudaSetDevice(int device);
int __wrap_circumstance_suits(const void *info, int circumstance, unsigned calls);
cudaError_t __wrap_cudaSetDevice(int device);
cudaError_t __real_cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t watched_cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t __real_cudaFreeHost(void *memory);
cudaError_t watched_cudaFreeHost(void *memory);
cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t watched_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __real_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t watched_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t watched_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __real_cudaDeviceSynchronize(void);
cudaError_t watched_cudaDeviceSynchronize(void);

/* What is no whole word any more ends with bytes. */
static void add_to(unsigned char *at, size_t room, long add)
{
    uint32_t word;

    if (room < sizeof(word)) {
        *at = (unsigned char)(*at + add);
        return;
    }
    memcpy(&word, at, sizeof(word));
    word += (uint32_t)add;
    memcpy(at, &word, sizeof(word));
}

static void falsify(unsigned which)
{
    static unsigned chosen = PLACES;
    static long byte, add;
    const char *text = getenv("PDL_FALSIFY");
    size_t i, end = place[which].bytes;

    if (text && chosen == PLACES && sscanf(text, "%u:%ld:%ld", &chosen, &byte, &add) != 3)
        abort();
    if (!text || which != chosen)
        return;
    if (byte >= 0)
        end = (size_t)byte < end ? (size_t)byte + 1 : 0;
    for (i = byte < 0 ? 0 : (size_t)byte; i < end; i += 4)
        add_to(place[which].memory + i, place[which].bytes - i, add);
}

static unsigned place_of(int is_target, void *memory, size_t bytes)
{
    unsigned i;

    for (i = 0; i < places && !(is_target && place[i].is_target); i++)
        ;
    if (i == PLACES)
        abort();
    places += i == places;
    place[i].is_target = is_target;
    place[i].memory = (unsigned char *)memory;
    place[i].bytes = bytes;
    place[i].most = bytes > place[i].most ? bytes : place[i].most;
    return i;
}

/* The host waited, and looks now. */
static cudaError_t waited(cudaError_t error)
{
    unsigned i;

    for (i = 0; i < places; i++) {
        if (!place[i].is_target || place[i].copied)
            falsify(i);
        place[i].copied = 0;
    }
    return error;
}

static cudaError_t count_fails(void)
{
    const char *code = getenv("PDL_COUNT_FAILS");

    return code ? (cudaError_t)atoi(code) : cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceCount(int *count)
{
    cudaError_t error = count_fails();

    if (error == cudaSuccess && !getenv("PDL_COUNT_FAILS"))
        return __real_cudaGetDeviceCount(count);
    *count = 0;
    return error;
}

cudaError_t __wrap_cudaDriverGetVersion(int *version)
{
    if (!getenv("PDL_NO_DRIVER"))
        return __real_cudaDriverGetVersion(version);
    *version = 0;
    return cudaSuccess;
}

int __real_variants_applicable(const void *variant, const void *device, const char **why);
int __wrap_variants_applicable(const void *variant, const void *device, const char **why);
int __wrap_variants_applicable(const void *variant, const void *device, const char **why)
{
    return getenv("PDL_BROKEN_WAITS") ? 1 : __real_variants_applicable(variant, device, why);
}

/* What is watched is asked once. */
int __wrap_circumstance_suits(const void *info, int circumstance, unsigned calls)
{
    (void)info, (void)circumstance, (void)calls;
    return 0;
}

cudaError_t __wrap_cudaSetDevice(int device)
{
    cudaError_t error = count_fails();

    if (error == cudaSuccess)
        return getenv("PDL_COUNT_FAILS") ? cudaErrorInvalidDevice : __real_cudaSetDevice(device);
    return error;
}

cudaError_t watched_cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    cudaError_t error = __real_cudaHostAlloc(memory, bytes, flags);

    if (error == cudaSuccess)
        (void)place_of(0, *memory, bytes);
    return error;
}

cudaError_t watched_cudaFreeHost(void *memory)
{
    unsigned i;

    for (i = 0; i < places; i++)
        if (!place[i].is_target && place[i].memory == (unsigned char *)memory)
            place[i].bytes = 0;
    return __real_cudaFreeHost(memory);
}

cudaError_t watched_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = __real_cudaMemcpy(to, from, bytes, kind);

    if (error == cudaSuccess && kind == cudaMemcpyDeviceToHost)
        falsify(place_of(1, to, bytes));
    return error;
}

cudaError_t watched_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (kind == cudaMemcpyDeviceToHost)
        place[place_of(1, to, bytes)].copied = 1;
    return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t watched_cudaStreamSynchronize(cudaStream_t stream) { return waited(__real_cudaStreamSynchronize(stream)); }
cudaError_t watched_cudaDeviceSynchronize(void)
{
    const char *code = getenv("PDL_WAIT_FAILS");
    cudaError_t error = waited(__real_cudaDeviceSynchronize());

    return code ? (cudaError_t)atoi(code) : error;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("PDL_WATCHED");
    FILE *file = path ? fopen(path, "w") : NULL;
    unsigned i;

    if (!file)
        return;
    for (i = 0; i < places; i++)
        fprintf(file, "%zu\n", place[i].most);
    fclose(file);
}

int __real_device_measure(struct device *device, struct fault *fault);
int __wrap_device_measure(struct device *device, struct fault *fault);
int __wrap_device_measure(struct device *device, struct fault *fault)
{
    const char *code = getenv("PDL_CLOCK_FAILS");

    if (!code)
        return __real_device_measure(device, fault);
    fault->error = (cudaError_t)atoi(code);
    fault->call = "the clock";
    return 0;
}
