/* measure.h: what the examples share and you need not copy: checked calls, buffers, comparison, timing, printing.
 * Licence: 0BSD
 *
 * main() describes the chain in a `measurement` and returns measure(). That runs the chain with ordinary launches, one
 * after the other, for the words to expect; runs it with overlap and compares every word; then times both, interleaved,
 * each queued while the device is busy so that the host's speed does not count, and prints the medians in one line.
 *
 * Exit code: 0 right; 1 wrong words or a failed call; 77 no GPU here that can overlap kernels.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pdl.h"

#ifndef MEASURE_STEPS
#define MEASURE_STEPS 40
#endif
#ifndef MEASURE_REPEATS
#define MEASURE_REPEATS 101
#endif
enum { MEASURE_BUFFERS = 3, MEASURE_KERNELS = 2, MEASURE_VARIANTS = 4 + 2 * MEASURE_KERNELS, MEASURE_SKIPPED = 77 };

#define CHECK(call) measure_checked((cudaError_t)(call), #call, __LINE__)

/* Ends the program if a call failed. Without a GPU that fits there is nothing to show, and that is not a failure. */
static inline void measure_checked(cudaError_t error, const char *call, int line)
{
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorNoKernelImageForDevice) {
        fputs("skipped: no GPU here that this program was built for\n", stderr);
        exit(MEASURE_SKIPPED);
    }
    if (error != cudaSuccess) {
        fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(error));
        exit(1);
    }
}

/* A chain of steps over the buffers below. Zero is right for every field that an example does not set. */
typedef struct measurement {
    const char *name; /* of the example */
    const char *per;  /* what a step is called; "kernel" if NULL */
    int words;        /* in each buffer */
    int prologue;     /* in units of the example's own */
    int kernels;      /* how many kinds of step take turns: 1 or 2 */
    int steps;        /* MEASURE_STEPS if 0 */
    int floats;       /* the buffers hold small whole numbers as floats, not unsigned integers */
    int in_graph;     /* capture the steps into a graph, and replay it */
    int no_limit;     /* the steps do not wait for each other, so there is no limit to compare with */
    int any_gpu;      /* there is something to show on GPUs that cannot overlap, too */
    const char *note; /* printed after the figures */

    /* Queues step 0, 1, 2 ... of the chain. overlap is PDL_OVERLAP_NONE or another PDL_OVERLAP_*. words and prologue
     * are those of this struct, or 0 to leave that part of the work out. */
    void (*launch)(cudaStream_t stream, int step, pdl_overlap overlap, int words, int prologue);

    /* In place of launch: makes the whole graph. */
    cudaGraph_t (*build)(int steps, pdl_overlap overlap, int words, int prologue);

    /* Another way to queue the steps, timed as well and printed under this name. */
    const char *other;
    void (*launch_other)(cudaStream_t stream, int step, pdl_overlap overlap, int words, int prologue);
} measurement;

static unsigned *buffer[MEASURE_BUFFERS]; /* device memory of the chain; filled anew before each run that is compared */

/* Part of a measurement that is timed: these steps of the chain, with or without overlap and work. */
typedef struct measure_variant {
    int from, to;
    pdl_overlap overlap;
    int words, prologue;
    int other;
} measure_variant;

/* Device memory with fixed words that no kernel writes, such as weights. */
static inline unsigned *measure_constants(size_t count, int floats)
{
    unsigned *device = NULL, *host = (unsigned *)malloc(count * sizeof(unsigned));
    size_t i;

    CHECK(host != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
    for (i = 0; i < count; i++) {
        const unsigned mixed = (unsigned)i * 2654435761u;
        const float number = (float)(mixed >> 30) - 1.0f; /* -1, 0, 1 or 2: sums of these are exact */

        host[i] = mixed >> 20;
        if (floats) {
            memcpy(&host[i], &number, sizeof(number));
        }
    }
    CHECK(cudaMalloc((void **)&device, count * sizeof(unsigned)));
    CHECK(cudaMemcpy(device, host, count * sizeof(unsigned), cudaMemcpyDefault));
    free(host);
    return device;
}

/* The words that the buffers hold before a chain runs. */
static inline unsigned measure_initial(const measurement *m, int which, int i)
{
    const float number = (float)((i + which) % 5);
    unsigned word = (unsigned)i + 7919u * (unsigned)which;

    if (m->floats) {
        memcpy(&word, &number, sizeof(word));
    }
    return word;
}

static inline void measure_fill(const measurement *m, unsigned *host)
{
    int which, i;

    for (which = 0; which < MEASURE_BUFFERS; which++) {
        for (i = 0; i < m->words; i++) {
            host[i] = measure_initial(m, which, i);
        }
        CHECK(cudaMemcpy(buffer[which], host, (size_t)m->words * sizeof(unsigned), cudaMemcpyDefault));
    }
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static inline cudaGraphExec_t measure_graph(const measurement *m, cudaStream_t stream, const measure_variant *v)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    int i;

    if (m->build != NULL) {
        graph = m->build(v->to - v->from, v->overlap, v->words, v->prologue);
    } else {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (i = v->from; i < v->to; i++) {
            m->launch(stream, i, v->overlap, v->words, v->prologue);
        }
        CHECK(cudaStreamEndCapture(stream, &graph));
    }
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* The chain with ordinary launches, each ended before the next begins. */
static inline void measure_run_serially(const measurement *m, cudaStream_t stream, cudaGraphExec_t plain)
{
    int i;

    if (m->launch == NULL) {
        CHECK(cudaGraphLaunch(plain, stream));
    }
    for (i = 0; m->launch != NULL && i < m->steps; i++) {
        m->launch(stream, i, PDL_OVERLAP_NONE, m->words, m->prologue);
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize(stream));
}

/* How many words differ between the chain with overlap and the same chain, run serially. */
static inline int measure_wrong_words(const measurement *m, cudaStream_t stream, const cudaGraphExec_t *exec)
{
    const size_t bytes = (size_t)m->words * sizeof(unsigned);
    unsigned *expected = (unsigned *)malloc(MEASURE_BUFFERS * bytes), *host = (unsigned *)malloc(bytes);
    int which, i, wrong = 0, changed = 0;

    CHECK(expected != NULL && host != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
    measure_fill(m, host);
    measure_run_serially(m, stream, exec[0]);
    for (which = 0; which < MEASURE_BUFFERS; which++) {
        CHECK(cudaMemcpy(expected + which * m->words, buffer[which], bytes, cudaMemcpyDefault));
    }
    measure_fill(m, host);
    if (m->in_graph) {
        CHECK(cudaGraphLaunch(exec[1], stream));
    }
    for (i = 0; !m->in_graph && i < m->steps; i++) {
        m->launch(stream, i, m->any_gpu ? PDL_OVERLAP_IF_POSSIBLE : PDL_OVERLAP_REQUIRED, m->words, m->prologue);
    }
    CHECK(cudaStreamSynchronize(stream));
    for (which = 0; which < MEASURE_BUFFERS; which++) {
        CHECK(cudaMemcpy(host, buffer[which], bytes, cudaMemcpyDefault));
        for (i = 0; i < m->words; i++) {
            wrong += host[i] != expected[which * m->words + i];
            changed += host[i] != measure_initial(m, which, i);
        }
    }
    free(expected);
    free(host);
    return changed != 0 ? wrong : m->words; /* a chain that changes nothing shows nothing */
}

/* ---- timing ---------------------------------------------------------------------------------------------------- */

#ifdef __CUDACC__
__global__ static void measure_hold(void)
{
    for (long long until = clock64() + 400000; clock64() < until;) {
    }
}
#else
static inline void CUDART_CB measure_hold(void *nothing)
{
    const clock_t until = clock() + CLOCKS_PER_SEC / 4000;

    (void)nothing;
    while (clock() < until) {
    }
}
#endif

/* Keeps the device busy while the host queues what is timed. */
static inline void measure_keep_busy(cudaStream_t stream)
{
#ifdef __CUDACC__
    measure_hold<<<1, 1, 0, stream>>>();
    CHECK(cudaGetLastError());
#else
    CHECK(cudaLaunchHostFunc(stream, measure_hold, NULL));
#endif
}

static inline float measure_time_us(const measurement *m, cudaStream_t stream, const cudaEvent_t *events,
                                    const measure_variant *v, const cudaGraphExec_t *exec, int which)
{
    float ms = 0;
    int i;

    if (m->in_graph) {
        CHECK(cudaGraphLaunch(exec[0], stream));
    } else {
        measure_keep_busy(stream);
    }
    CHECK(cudaEventRecord(events[0], stream));
    if (m->in_graph) {
        CHECK(cudaGraphLaunch(exec[which], stream));
    }
    for (i = v->from; !m->in_graph && i < v->to; i++) {
        (v->other ? m->launch_other : m->launch)(stream, i, v->overlap, v->words, v->prologue);
    }
    CHECK(cudaEventRecord(events[1], stream));
    CHECK(cudaEventSynchronize(events[1]));
    CHECK(cudaEventElapsedTime(&ms, events[0], events[1]));
    return 1000 * ms;
}

static inline int measure_compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* What is timed: the chain plain and with overlap, its empty steps, each step's main part alone and an empty one. */
static inline int measure_variants(const measurement *m, measure_variant *v)
{
    const measure_variant chains[] = {{0, m->steps, PDL_OVERLAP_NONE, m->words, m->prologue, 0},
                                      {0, m->steps, PDL_OVERLAP_IF_POSSIBLE, m->words, m->prologue, 0},
                                      {0, m->steps, PDL_OVERLAP_IF_POSSIBLE, 0, 0, 0}};
    int count, i;

    memcpy(v, chains, sizeof(chains));
    count = m->no_limit ? 2 : 3;
    for (i = 0; !m->no_limit && i < m->kernels; i++) {
        const measure_variant main_part = {i, i + 1, PDL_OVERLAP_NONE, m->words, 0, 0};
        const measure_variant empty = {i, i + 1, PDL_OVERLAP_NONE, 0, 0, 0};

        v[count++] = main_part;
        v[count++] = empty;
    }
    if (m->launch_other != NULL) {
        const measure_variant other = {0, m->steps, PDL_OVERLAP_IF_POSSIBLE, m->words, m->prologue, 1};

        v[count++] = other;
    }
    return count;
}

static inline void measure_print(const measurement *m, const float *us, int count, int wrong)
{
    const float plain = us[0] / (float)m->steps, pdl = us[1] / (float)m->steps;
    float main_parts = 0;
    int i;

    printf("%s: plain %.2f us, PDL %.2f us per %s, gain %.2fx", m->name, plain, pdl, m->per, plain / pdl);
    for (i = 0; !m->no_limit && i < m->kernels; i++) {
        main_parts += (us[3 + 2 * i] - us[4 + 2 * i]) / (float)m->kernels;
    }
    if (!m->no_limit) {
        printf(", %.0f %% of the limit", 100 * (us[2] / (float)m->steps + main_parts) / pdl);
    }
    printf(", %d words wrong", wrong);
    if (m->launch_other != NULL) {
        printf(" (%s %.2f us)", m->other, us[count - 1] / (float)m->steps);
    } else if (m->note != NULL) {
        printf(" (%s)", m->note);
    }
    printf("\n");
}

/* Allocates the buffers. Call it before measure() where the chain needs their addresses earlier. */
static inline void measure_buffers(int words)
{
    int which;

    for (which = 0; which < MEASURE_BUFFERS && buffer[which] == NULL; which++) {
        CHECK(cudaMalloc((void **)&buffer[which], (size_t)words * sizeof(unsigned)));
    }
}

/* Checks, times and prints; returns the exit code of the program. */
static inline int measure(const measurement *described)
{
    static float samples[MEASURE_VARIANTS][MEASURE_REPEATS];
    float us[MEASURE_VARIANTS];
    cudaGraphExec_t exec[MEASURE_VARIANTS];
    measure_variant v[MEASURE_VARIANTS];
    measurement m = *described;
    cudaStream_t stream;
    cudaEvent_t events[2];
    int i, count, wrong, major = 0, device;

    m.per = m.per != NULL ? m.per : "kernel";
    m.kernels = m.kernels != 0 ? m.kernels : 1;
    m.steps = m.steps != 0 ? m.steps : MEASURE_STEPS;
    m.in_graph = m.in_graph || m.build != NULL;
    memset(exec, 0, sizeof(exec));
    memset(us, 0, sizeof(us));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 9 && !m.any_gpu) {
        fputs("skipped: no GPU here that can overlap kernels\n", stderr);
        return MEASURE_SKIPPED;
    }
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&events[0]));
    CHECK(cudaEventCreate(&events[1]));
    measure_buffers(m.words);
    count = measure_variants(&m, v);
    for (i = 0; m.in_graph && i < count; i++) {
        exec[i] = measure_graph(&m, stream, &v[i]);
    }
    wrong = measure_wrong_words(&m, stream, exec);
    for (i = 0; i < count * MEASURE_REPEATS; i++) {
        samples[i % count][i / count] = measure_time_us(&m, stream, events, &v[i % count], exec, i % count);
    }
    for (i = 0; i < count; i++) {
        qsort(samples[i], MEASURE_REPEATS, sizeof(float), measure_compare);
        us[i] = samples[i][MEASURE_REPEATS / 2];
    }
    measure_print(&m, us, count, wrong);
    return wrong != 0;
}

#endif
