/* rewriter.c - the rewriter and its readers of fat binaries and of ELF, with any bytes */
#include "cubin.h"
#include "rewrite_fatbin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern unsigned long useful;
unsigned long useful; /* by_mutation.c prints it */

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t touched = 0, out_size = 0;
    struct fatbin_rewriting how = {{choose, report, &touched}, size % 2 ? 90 : 0, NULL};
    void *out = NULL;
    const char *why = NULL;
    if (size == 0) {
        return 0;
    }
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
    useful += out != NULL;
    free(out);
    return 0;
}
