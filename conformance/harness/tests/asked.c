/* asked.c - linked into the model's harness by pdl-harness-watched: a digest of all its calls, with what they are given.
 *
 * PDL_ASKED=FILE  at the end, the digest and how many calls it is of
 *
 * What watched.c falsifies is called through here. */
#include <stdio.h>
#include <stdlib.h>

#include "edges.h"
#include "tampered_asked.h"
#include "tampered_slots.h"

#define __real_cudaHostAlloc watched_cudaHostAlloc
#define __real_cudaFreeHost watched_cudaFreeHost
#define __real_cudaMemcpy watched_cudaMemcpy
#define __real_cudaMemcpyAsync watched_cudaMemcpyAsync
#define __real_cudaStreamSynchronize watched_cudaStreamSynchronize
#define __real_cudaDeviceSynchronize watched_cudaDeviceSynchronize

/* What lies where an older one lay is another one: of the model's handles each is an allocation of its own. */
static void *fresh(void *memory)
{
    if (noting)
        known.number[place_among(memory)] = 0;
    return memory;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes) { return fresh(__real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return fresh(__real_calloc(count, bytes)); }

#define LEAD(name, params, args)                                     \
    cudaError_t __real_##name params;                                \
    cudaError_t __wrap_##name params;                                \
    cudaError_t __wrap_##name params                                 \
    {                                                                \
        cudaError_t error;                                           \
                                                                     \
        ASKED(name, args)                                            \
        inside++;                                                    \
        error = __real_##name args;                                  \
        inside--;                                                    \
        return error;                                                \
    }
#define TELL(name, params, args, where) LEAD(name, params, args)
#define MAKE(name, params, args) LEAD(name, params, args)
#define DO(name, params, args) LEAD(name, params, args)
#define COUNT(name, params, args) LEAD(name, params, args)
#include "tampered_calls.h"

/* Of a function of the driver its name is noted, and what the model calls in its place. */
static int lead_driver(unsigned which, WHOLE)
{
    questions += (unsigned)notes(driver[which].name);
    return driver[which].real(WHOLE_ARGS);
}

cudaError_t ENTRY_NAME(__wrap_)(ENTRY_PARAMS)
{
    cudaError_t error = ENTRY_NAME(__real_)(ENTRY_ARGS);

    if (error == cudaSuccess)
        (void)lead_through(name, function);
    return error;
}

__attribute__((constructor)) static void begin_asked(void)
{
    if (getenv("PDL_ASKED"))
        begin_noting();
}

__attribute__((destructor)) static void tell_asked(void)
{
    const char *path = getenv("PDL_ASKED");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "0x%x of %u\n", question, questions);
    fclose(file);
}
