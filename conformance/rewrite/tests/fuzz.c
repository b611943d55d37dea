/* fuzz.c - gives the rewriter thousands of damaged images; built with the compiler's sanitizers, which end it at the first fault
 *
 *   fuzz SEED COUNT FILE...     each file is an image or fat binary; prints how many came out changed
 *
 * With -DLIBFUZZER libFuzzer chooses the images instead (`python3 conformance dev fuzz-rewriter`).
 */
#include "cubin.h"
#include "rewrite_fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int choose(void *context, const char *kernel, struct kernel_plan *plan)
{
    (void)context;
    plan->flags = (uint32_t)(strlen(kernel) * 2654435761u) & PLAN_KNOWN;
    plan->least_ns = 5000;
    plan->words = plan->flags & 1 ? 0x123456789ABC : 0;
    return 1;
}

static void report(void *context, const struct kernel_outcome *outcome)
{
    *(size_t *)context += strlen(outcome->name); /* touches the name */
}

/* Rewrites what lies in a block of exactly this size, so that reading one byte too far is seen. */
static int rewrite(const unsigned char *data, size_t size, unsigned architecture)
{
    size_t touched = 0, out_size = 0;
    struct fatbin_rewriting how = {{choose, report, &touched}, architecture, NULL};
    void *out = NULL;
    const char *why = NULL;
    size_t extent = fatbin_extent(data, size, NULL);
    enum rewrite_result result = extent ? rewrite_fatbin(data, extent, &how, &out, &out_size, &why)
                                        : rewrite_cubin(data, size, &how.how, &out, &out_size, &why);
    if ((result == REWRITE_DONE) != (out != NULL) || (result == REWRITE_IMPOSSIBLE) != (why != NULL)) {
        abort();
    }
    if (out && !extent) { /* what came out must be an image that can be read again */
        struct cubin again;
        if (cubin_open(&again, out, out_size) != NULL || elf_extent(out, out_size) == 0) {
            abort();
        }
        cubin_close(&again);
    }
    free(out);
    return result == REWRITE_DONE;
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size) {
        rewrite(data, size, size % 2 ? 90 : 0);
    }
    return 0;
}
#else
static uint64_t state;

static uint64_t next(uint64_t below)
{
    state ^= state << 13; /* xorshift64 */
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : 0;
}

/* Where headers and tables are, damage is worth more than in the code. */
static size_t place(size_t size)
{
    size_t edge = size < 512 ? size : 512;
    switch (next(3)) {
    case 0: return next(edge);
    case 1: return size - 1 - next(size / 4 + 1);
    default: return next(size);
    }
}

static size_t damage(unsigned char *data, size_t size)
{
    static const uint64_t odd[] = {0, 1, 15, 16, 63, 64, 127, 255, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, UINT64_MAX,
                                   UINT64_MAX - 63};
    for (uint64_t i = 0, times = 1 + next(6); i < times; i++) {
        size_t at = place(size), width = (size_t)1 << next(4);
        uint64_t value = next(2) ? odd[next(sizeof odd / sizeof odd[0])] : next(size + 64);
        if (next(4) == 0) {
            data[at] ^= (unsigned char)(1u << next(8));
        } else if (at + width <= size) {
            memcpy(data + at, &value, width);
        }
    }
    return next(8) ? size : 1 + next(size);
}

static int one(const unsigned char *good, size_t size)
{
    unsigned char *data = malloc(size), *exact;
    memcpy(data, good, size);
    size_t left = damage(data, size);
    exact = malloc(left);
    memcpy(exact, data, left);
    free(data);
    int changed = rewrite(exact, left, next(2) ? 90 : 0);
    free(exact);
    return changed;
}

int main(int count, char **words)
{
    unsigned long changed = 0, times = strtoul(words[2], NULL, 10);
    state = strtoull(words[1], NULL, 16) | 1;
    for (int i = 3; i < count; i++) {
        FILE *file = fopen(words[i], "rb");
        static unsigned char good[1 << 22];
        size_t size = file ? fread(good, 1, sizeof good, file) : 0;
        if (file) {
            fclose(file);
        }
        if (size) {
            changed += (unsigned long)rewrite(good, size, 90); /* as it is */
        }
        for (unsigned long k = 0; size && k < times; k++) {
            changed += (unsigned long)one(good, size);
        }
    }
    printf("%lu\n", changed);
    return 0;
}
#endif
