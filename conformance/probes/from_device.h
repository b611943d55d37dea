/* from_device.h - what the files of pdl-from-device share: a trial's memory, bounded holds, how a question is told. */
#ifndef FROM_DEVICE_H_INCLUDED
#define FROM_DEVICE_H_INCLUDED

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pdl.h"
#include "pdl_device.cuh"

#define BOUND_NS 100000u /* no kernel watches longer */
#define HOLD_NS 5000u
#define WORDS 256u
#define PATIENCE_S 3      /* for the end of one trial */
#define EXIT_HANG 3       /* the set-up told last never ended: ask the rest in a new process */

struct shared {              /* device memory of one trial */
    unsigned key;            /* expected in word i: key ^ i */
    unsigned alive, met;     /* the one that may be early runs; the one that holds has seen it */
    unsigned returned, value_seen;
    unsigned refused;        /* what the device's own call answered */
    unsigned token[WORDS], seen[WORDS];
};

struct counts {
    unsigned trials, overlapped, wrong, refused;
};

/* One set-up of a question. */
struct setup {
    const char *question, *rule, *wrong; /* wrong: what a wrong trial is called */
    char text[96];
};

#define TRY(call)                                                                              \
    do {                                                                                       \
        cudaError_t try_error_ = (call);                                                       \
        if (try_error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "pdl-from-device: %s: %s\n", #call, cudaGetErrorName(try_error_)); \
            return try_error_;                                                                 \
        }                                                                                      \
    } while (0)

/* ---- device ---- */

__device__ static inline unsigned long long now(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
    return ns;
}

__device__ static inline void hold(unsigned ns)
{
    unsigned long long begin = now();
    while (now() - begin < ns)
        ;
}

__device__ static inline void begin_early(struct shared *s)
{
    if (threadIdx.x == 0)
        *(volatile unsigned *)&s->alive = 1;
}

/* Until the early one runs, or the bound. One thread. */
__device__ static inline void meet(struct shared *s)
{
    unsigned long long begin = now();
    while (now() - begin < BOUND_NS)
        if (*(volatile unsigned *)&s->alive) {
            s->met = 1;
            break;
        }
}

__device__ static inline void store_late(struct shared *s)
{
    hold(HOLD_NS);
    s->token[threadIdx.x] = s->key ^ threadIdx.x;
}

__device__ static inline void read_words(struct shared *s)
{
    s->seen[threadIdx.x] = *(volatile unsigned *)&s->token[threadIdx.x];
}

/* ---- host ---- */

/* An empty trial, in stream order: a memset of the default stream would race with a stream that does not block. */
static inline cudaError_t empty(struct shared *s, unsigned trial, cudaStream_t stream)
{
    struct shared host = PDL_ZERO;

    host.key = 0xABCD0000u + trial * WORDS;
    return cudaMemcpyAsync(s, &host, sizeof(host), cudaMemcpyHostToDevice, stream);
}

/* Set-ups are counted; those before the first one to ask are passed over. */
int is_due(void);

/* refused: a call of the device's that failed, by its last code; then nothing was asked. */
static inline void tell(const struct setup *setup, const struct counts *c, int hung)
{
    printf("{\"question\": \"%s\", \"rule\": \"%s\", \"setup\": \"%s\", \"trials\": %u, \"overlapped\": %u, \"%s\": %u",
           setup->question, setup->rule, setup->text, c->trials, c->overlapped, setup->wrong, c->wrong);
    if (c->refused)
        printf(", \"refused\": \"%s\"", cudaGetErrorName((cudaError_t)c->refused));
    printf("%s}\n", hung ? ", \"hung\": true" : "");
    fflush(stdout);
}

/* Fetches the trial. One that does not end is told, and ends the process: nothing else can be asked of this context. */
static inline cudaError_t fetch(const struct setup *setup, const struct shared *s, struct shared *host, cudaStream_t stream,
                                struct counts *c)
{
    time_t begin = time(NULL);
    cudaError_t error;

    while ((error = cudaStreamQuery(stream)) == cudaErrorNotReady)
        if (time(NULL) - begin > PATIENCE_S) {
            c->trials++;
            tell(setup, c, 1);
            _Exit(EXIT_HANG);
        }
    TRY(error);
    TRY(cudaMemcpyAsync(host, s, sizeof(*host), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    c->trials++;
    c->overlapped += host->met;
    if (host->refused)
        c->refused = host->refused;
    return cudaSuccess;
}

/* Counts the trial; a word that is not the expected one makes it wrong. */
static inline cudaError_t count_words(const struct setup *setup, struct shared *s, cudaStream_t stream, struct counts *c)
{
    struct shared host;
    unsigned word, stale = 0;

    TRY(fetch(setup, s, &host, stream, c));
    for (word = 0; word < WORDS; word++)
        stale += host.seen[word] != (host.key ^ word);
    c->wrong += stale != 0;
    return cudaSuccess;
}

static inline cudaError_t launch(const void *function, unsigned threads, void **params, cudaStream_t stream,
                                 cudaLaunchAttribute *attrs, unsigned count)
{
    cudaLaunchConfig_t config = PDL_ZERO;

    config.gridDim = dim3(1);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = attrs;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, function, params);
}

static inline cudaLaunchAttribute overlapping(void)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

/* The questions of one file each; they print as they go. */
cudaError_t ask_children(struct shared *s, unsigned trials, cudaStream_t stream);
cudaError_t ask_inner(struct shared *s, unsigned trials, cudaStream_t stream);
cudaError_t ask_updates(struct shared *s, unsigned trials, cudaStream_t stream);
cudaError_t ask_graphs(struct shared *s, unsigned trials, cudaStream_t stream);

#endif
