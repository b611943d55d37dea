/* model_programs.c - planted bugs and their twins on the model, so that the detector's search is tested without a GPU
 *
 * Each kernel begins as a rewritten one does: the plan's trigger, wait and hold, then its own code. The plan is read and the
 * records are written as the injection library would; `stress` cannot tell this program from one on a GPU.
 *
 *     model_programs PROGRAM RUNS SEED [early]      prints one line per run: the words of `out`, or how a call failed
 *
 * early: dependents start as soon as they may in the plain run, too.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_kernel.h"

enum { BLOCKS = 2, THREADS = 4, WORDS = BLOCKS * THREADS, MOST_STEPS = 8, TRIGGER = 1, HOLD = 2, PROTECT = 4 };

struct buffers {
    uint32_t *in, *a, *b, *out;
};

struct plan_line {
    char name[64];
    unsigned words[4];
};
static struct plan_line plan[64];
static unsigned plan_lines;

static const unsigned *plan_of(const char *name)
{
    static const unsigned nothing[4];
    const unsigned *found = nothing;
    for (unsigned i = 0; i < plan_lines; i++) {
        if (strcmp(plan[i].name, name) == 0) {
            return plan[i].words;
        }
        found = strcmp(plan[i].name, "*") == 0 ? plan[i].words : found;
    }
    return found;
}

static void stressed(const char *name)
{
    const unsigned *words = plan_of(name);
    unsigned mix = (model_block() + 1) * 0x85EBCA6Bu ^ words[3];
    if (words[0] & TRIGGER) {
        model_trigger();
    }
    if (words[0] & PROTECT) {
        model_wait();
    }
    if (words[0] & HOLD) {
        model_pause(words[1] + (uint64_t)((mix ^ mix >> 15) * 0xC2B2AE35u) * words[2] / UINT32_MAX);
    }
}

#define KERNEL(name) static void name##_body(struct buffers p, unsigned i);                       \
    MODEL_KERNEL_OF(name, struct buffers, 32, 0, 90, 90)                                          \
    {                                                                                             \
        stressed(#name);                                                                          \
        name##_body(args, model_block() * model_threads() + model_thread());                      \
    }                                                                                             \
    static void name##_body(struct buffers p, unsigned i)
#define LOAD(from) model_load32(&p.from[i], MODEL_LD_CA)
#define STORE(to, value) model_store32(&p.to[i], (value))

KERNEL(poison) { STORE(in, i + 10); STORE(a, 1); STORE(b, 2); STORE(out, 3); }
KERNEL(produce) { model_wait(); STORE(a, LOAD(in) * 3); }
KERNEL(produce_b) { model_wait(); STORE(b, LOAD(in) * 5); }
KERNEL(unrelated) { model_wait(); STORE(b, 77); }
KERNEL(copy) { model_wait(); STORE(out, LOAD(a)); }
KERNEL(consume) { STORE(out, LOAD(a) + 1); }
KERNEL(consume_ok) { model_wait(); STORE(out, LOAD(a) + 1); }
KERNEL(late) { uint32_t x = LOAD(a); model_wait(); STORE(out, x + 2); }
KERNEL(first_site) { STORE(b, LOAD(a) + 4); }
KERNEL(first_site_ok) { model_wait(); STORE(b, LOAD(a) + 4); }
KERNEL(second_site) { STORE(out, LOAD(b) + 8); }
KERNEL(second_site_ok) { model_wait(); STORE(out, LOAD(b) + 8); }
KERNEL(overwrite) { STORE(in, 999); }
KERNEL(overwrite_ok) { model_wait(); STORE(in, 999); }

struct step {
    const char *name;
    const void *kernel;
    int overlap;
};
#define S(kernel, overlap) {#kernel, (const void *)kernel, overlap}
struct program {
    const char *name;
    struct step steps[MOST_STEPS];
};
static const struct program programs[] = {
    {"missing", {S(poison, 0), S(produce, 1), S(consume, 1)}},
    {"missing-twin", {S(poison, 0), S(produce, 1), S(consume_ok, 1)}},
    {"late", {S(poison, 0), S(produce, 1), S(late, 1)}},
    {"two-sites", {S(poison, 0), S(produce, 1), S(first_site, 1), S(second_site, 1)}},
    {"two-sites-twin", {S(poison, 0), S(produce, 1), S(first_site_ok, 1), S(second_site_ok, 1)}},
    {"two-pairs", {S(poison, 0), S(produce, 1), S(first_site, 1), S(copy, 0), S(produce_b, 1), S(second_site, 1)}},
    {"not-previous", {S(poison, 0), S(produce, 1), S(unrelated, 1), S(consume, 1)}},
    {"overwrite", {S(poison, 0), S(produce, 1), S(overwrite, 1), S(copy, 0)}},
    {"overwrite-twin", {S(poison, 0), S(produce, 1), S(overwrite_ok, 1), S(copy, 0)}},
};

static void plan_read(void)
{
    const char *path = getenv("PDL_STRESS_PLAN");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    while (file && plan_lines < 64 && fgets(line, sizeof line, file)) {
        struct plan_line *p = &plan[plan_lines];
        plan_lines += sscanf(line, "%63s %u %u %u %u", p->name, &p->words[0], &p->words[1], &p->words[2], &p->words[3]) == 5;
    }
    if (file) {
        fclose(file);
    }
}

static void records_write(const struct program *program, int runs)
{
    const char *path = getenv("PDL_STRESS_RECORDS");
    FILE *file = path ? fopen(path, "a") : NULL;
    for (const struct step *s = program->steps; file && s < program->steps + MOST_STEPS && s->name; s++) {
        int before = s + 1 < program->steps + MOST_STEPS && s[1].name && s[1].overlap;
        fprintf(file, "{\"record\":\"kernel\",\"name\":\"%s\",\"rewritten\":true}\n", s->name);
        fprintf(file, "{\"record\":\"launches\",\"name\":\"%s\",\"eager\":0,\"captured\":%d,\"built\":0,\"attribute\":%d,"
                "\"before_attribute\":%d}\n", s->name, runs, s->overlap ? runs : 0, before ? runs : 0);
    }
    if (file) {
        fclose(file);
    }
}

static cudaError_t run(const struct program *program, struct buffers buffers, uint32_t *out, cudaStream_t stream)
{
    cudaError_t e = cudaSuccess;
    void *args[] = {&buffers};
    for (const struct step *s = program->steps; e == cudaSuccess && s < program->steps + MOST_STEPS && s->name; s++) {
        cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
        cudaLaunchConfig_t config = {.gridDim = {BLOCKS, 1, 1}, .blockDim = {THREADS, 1, 1}, .stream = stream,
                                     .attrs = &attribute, .numAttrs = s->overlap ? 1 : 0};
        attribute.val.programmaticStreamSerializationAllowed = 1;
        e = cudaLaunchKernelExC(&config, s->kernel, args);
    }
    e = e == cudaSuccess ? cudaStreamSynchronize(stream) : e;
    return e == cudaSuccess ? cudaMemcpy(out, buffers.out, WORDS * sizeof *out, cudaMemcpyDeviceToHost) : e;
}

int main(int argc, char **argv)
{
    const struct program *program = NULL;
    uint32_t out[WORDS], *memory = NULL;
    cudaStream_t stream;
    for (size_t i = 0; argc >= 4 && i < sizeof programs / sizeof programs[0]; i++) {
        program = strcmp(programs[i].name, argv[1]) == 0 ? &programs[i] : program;
    }
    if (program == NULL) {
        fprintf(stderr, "usage: model_programs PROGRAM RUNS SEED [early]\n");
        return 64;
    }
    plan_read();
    /* Both devices follow the rule book: one overlaps nothing, as a GPU by luck, the other all that a trigger allows. */
    model_reset(argc > 4 || plan_of("*")[0] & TRIGGER ? "early" : "never-overlaps", strtoull(argv[3], NULL, 10));
    if (cudaMalloc((void **)&memory, 4 * WORDS * sizeof *memory) || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) {
        return 69;
    }
    struct buffers buffers = {memory, memory + WORDS, memory + 2 * WORDS, memory + 3 * WORDS};
    int runs = atoi(argv[2]);
    for (int i = 0; i < runs; i++) {
        cudaError_t e = run(program, buffers, out, stream);
        printf("%s", e == cudaSuccess ? "" : cudaGetErrorName(e));
        for (int word = 0; e == cudaSuccess && word < WORDS; word++) {
            printf("%u ", out[word]);
        }
        printf("\n");
    }
    records_write(program, runs);
    return 0;
}
