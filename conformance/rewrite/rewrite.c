/* rewrite.c - see rewrite.h */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

static const struct stubs *stubs_for(unsigned architecture)
{
    for (unsigned i = 0; i < stubs_count; i++) {
        if (all_stubs[i].number == architecture) {
            return &all_stubs[i];
        }
    }
    return NULL;
}

/* 1 if the edit is to be applied. */
static int examine(const struct cubin *cubin, const struct stubs *stubs, const struct facts *facts, const struct symbol *symbol,
                   const struct rewriting *how, struct edit *edit, struct kernel_outcome *outcome)
{
    struct kernel_plan plan = {0};
    int wanted = how->choose(how->context, symbol->name, &plan);
    outcome->refusal = home_problem(cubin, facts, symbol);
    if (outcome->refusal) {
        outcome->refusal = wanted ? outcome->refusal : NULL;
        return 0;
    }
    const struct section *home = &cubin->sections[symbol->section];
    unsigned had = facts->registers[symbol->section] ? facts->registers[symbol->section] : home->info >> 24;
    struct kernel kernel = {cubin, stubs, &plan, cubin->data + home->offset, home->size,
                            registers_used(stubs, &plan, had), edit, 0, 0};
    struct survey found = look_at(&kernel);
    found.leaves |= facts->leaves[symbol->section];
    kernel.spilled = plan.flags & PLAN_RECORD && (plan.flags & PLAN_SPILL || above_problem(&kernel, &found));
    kernel.frame = facts->frames[symbol->section] ? facts->frames[symbol->section] - 1 : 0;
    outcome->waits = found.waits;
    outcome->triggers = found.triggers;
    outcome->exits = found.exits;
    outcome->registers_before = outcome->registers = had;
    if (!wanted || !(wants_entry(&plan) || plan.flags)) {
        return 0;
    }
    outcome->refusal = code_problem(&kernel, facts, symbol->section, had, &found);
    if (outcome->refusal) {
        return 0;
    }
    edit->section = (uint32_t)symbol->section;
    edit->symbol = symbol->index;
    edit->old_size = home->size;
    edit->old_end = home->offset + home->size;
    change(&kernel);
    outcome->registers = edit->registers > had ? edit->registers : had;
    outcome->rewritten = edit->patch_count > 0;
    outcome->spilled = kernel.spilled;
    outcome->frame = kernel.frame;
    return outcome->rewritten;
}

static size_t examine_all(const struct cubin *cubin, const struct stubs *stubs, struct facts *facts, const struct rewriting *how,
                          struct edit *edits)
{
    size_t count = 0;
    for (uint32_t i = 0; i < cubin->symbol_count; i++) {
        struct symbol symbol = cubin_symbol(cubin, i);
        if (symbol.kind != SYMBOL_FUNCTION || !(symbol.other & CUDA_ENTRY) || symbol.name[0] == 0) {
            continue;
        }
        struct kernel_outcome outcome = {.name = symbol.name};
        memset(&edits[count], 0, sizeof edits[count]);
        if (examine(cubin, stubs, facts, &symbol, how, &edits[count], &outcome)) {
            facts->taken[symbol.section] = 1;
            count++;
        } else {
            edit_free(&edits[count]);
        }
        if (how->report) {
            how->report(how->context, &outcome);
        }
    }
    return count;
}

static uint32_t count_entries(const struct cubin *cubin)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cubin->symbol_count; i++) {
        struct symbol symbol = cubin_symbol(cubin, i);
        count += symbol.kind == SYMBOL_FUNCTION && symbol.other & CUDA_ENTRY;
    }
    return count;
}

/* The new image, if it can be read as the old one could: where records of a damaged image overlap, changing one spoils another. */
static void *grow_and_check(const struct cubin *cubin, struct edit *edits, size_t count, size_t *size, const char **why)
{
    struct cubin again;
    unsigned char *out = grow(cubin, edits, count, size, why);
    if (out == NULL) {
        return NULL;
    }
    if (cubin_open(&again, out, *size) != NULL || elf_extent(out, *size) == 0) {
        *why = "some of its headers and records overlap";
        free(out);
        out = NULL;
    }
    cubin_close(&again);
    return out;
}

static enum rewrite_result rewrite_opened(const struct cubin *cubin, const struct rewriting *how, void **out, size_t *out_size,
                                          const char **why)
{
    const struct stubs *stubs = stubs_for(cubin->architecture);
    struct facts facts = {0};
    struct edit *edits = calloc((size_t)count_entries(cubin) + 1, sizeof *edits);
    enum rewrite_result result = REWRITE_IMPOSSIBLE;
    size_t count = 0;

    *why = stubs ? "there is no memory for its kernels" : "the kit has no code for its architecture";
    if (stubs && edits && facts_gather(cubin, &facts)) {
        count = examine_all(cubin, stubs, &facts, how, edits);
        *why = NULL;
        result = REWRITE_UNCHANGED;
        if (count) {
            *out = grow_and_check(cubin, edits, count, out_size, why);
            result = *out ? REWRITE_DONE : REWRITE_IMPOSSIBLE;
        }
    }
    for (size_t i = 0; i < count; i++) {
        edit_free(&edits[i]);
    }
    free(edits);
    facts_free(&facts);
    return result;
}

enum rewrite_result rewrite_cubin(const void *image, size_t size, const struct rewriting *how, void **out, size_t *out_size,
                                  const char **why)
{
    struct cubin cubin;
    enum rewrite_result result = REWRITE_IMPOSSIBLE;
    *out = NULL;
    *why = cubin_open(&cubin, image, size);
    if (*why == NULL) {
        result = rewrite_opened(&cubin, how, out, out_size, why);
    }
    cubin_close(&cubin);
    return result;
}
