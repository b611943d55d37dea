/* obstacles.c - what is known of the kernels of an image, and what keeps one from being rewritten */
#include "kernel.h"

#include <stdlib.h>

static int is_control_transfer(unsigned op) /* its meaning depends on its address */
{
    return (op & 0xF0) == 0x40 || op == 0x950 || op == 0x952 || op == 0x955 || op == 0x956;
}

/* What would make registers that are borrowed for a moment, or the stack pointer, something else than expected. */
static void look_for_borrowing(struct survey *found, const unsigned char *code, uint64_t at)
{
    unsigned op = read16(code + at) & 0xFFF, target = code[at + 2], source = code[at + 3];
    int adds = (op & ANY_OPERAND) == OP_ADD || (op & ANY_OPERAND) == OP_ADD_IMMEDIATE;
    if (at && target == STACK_POINTER && !is_control_transfer(op)) {
        found->stack_writes++;
        found->frame_taken_at = at;
        found->frame_taken = adds && source == STACK_POINTER ? 0 - read32(code + at + 4) : 0;
    }
    if ((op & ANY_OPERAND & ~3u) == OP_PRODUCT) {
        int source_is_register = op >> 10 & 1;
        found->products_use_low |= target <= LAST_BORROWED || (source_is_register && source <= LAST_BORROWED);
    }
    if ((op == OP_WAIT || op == OP_TRIGGER || op == OP_EXIT) && found->first_site == 0) {
        found->first_site = at;
    }
}

struct survey look_at(const struct kernel *kernel)
{
    struct survey found = {0};
    for (uint64_t at = 0; at < kernel->size; at += INSTRUCTION) {
        unsigned op = read16(kernel->code + at) & 0xFFF;
        look_for_borrowing(&found, kernel->code, at);
        found.waits += op == OP_WAIT;
        found.triggers += op == OP_TRIGGER;
        found.exits += op == OP_EXIT;
        found.reallocates |= (op & ANY_OPERAND) == OP_SET_REGISTERS;
        if ((op & 0xF0) == 0x40 && op != OP_EXIT && op != OP_BRANCH && op != OP_BRANCH_UNIFORM) {
            int64_t target = op == OP_CALL ? relative_target(instruction_at(kernel, at), at) : -1;
            found.called |= target == 0;
            found.leaves |= ((op & ANY_OPERAND) == (OP_CALL & ANY_OPERAND) || (op & ANY_OPERAND) == (OP_CALL_ABSOLUTE & ANY_OPERAND))
                            && (target < 0 || target >= (int64_t)kernel->size);
        }
    }
    return found;
}

static const char *entry_problem(const struct kernel *kernel, const struct survey *found)
{
    unsigned first = opcode(instruction_at(kernel, 0));
    if (first != OP_EXIT && is_control_transfer(first)) {
        return "its first instruction is a branch, whose meaning depends on its place";
    }
    return found->called ? "its own code calls it as a function" : NULL;
}

static void gather_resources(const struct cubin *cubin, struct facts *facts, const struct section *section)
{
    struct attribute_record record;
    uint64_t at = 0;
    while (next_attribute(cubin, section, &at, &record)) {
        if (record.size < 8 || read32(cubin->data + record.value) >= cubin->symbol_count) {
            continue;
        }
        struct symbol symbol = cubin_symbol(cubin, read32(cubin->data + record.value));
        uint32_t value = read32(cubin->data + record.value + 4);
        if (symbol.section >= cubin->section_count || symbol.kind != SYMBOL_FUNCTION || !(symbol.other & CUDA_ENTRY)) {
            continue;
        }
        switch (record.code) {
        case ATTRIBUTE_REGISTERS: facts->registers[symbol.section] = value; break;
        case ATTRIBUTE_FRAME: facts->frames[symbol.section] = value + 1; break;
        case ATTRIBUTE_LEAST_STACK: facts->stacks[symbol.section] = 1; break;
        default: break;
        }
    }
}

static void gather_base(const struct cubin *cubin, struct facts *facts, const struct section *section)
{
    struct attribute_record record;
    uint64_t at = 0;
    while (next_attribute(cubin, section, &at, &record)) {
        if (record.code == ATTRIBUTE_PARAMETER_BANK && record.size >= 8) {
            facts->parameter_bases[section->info] = read16(cubin->data + record.value + 4);
        }
    }
}

/* A call through a relocation names its function; taking a kernel's address, for a launch from the device, is not a call. */
static void gather_calls(const struct cubin *cubin, struct facts *facts, const struct section *section)
{
    const struct section *code = &cubin->sections[section->info];
    uint64_t step = section->type == SECTION_RELA ? RELA_SIZE : REL_SIZE;
    for (uint64_t at = 0; at + step <= section->size; at += step) {
        const unsigned char *record = cubin->data + section->offset + at;
        uint64_t place = read64(record) / INSTRUCTION * INSTRUCTION;
        uint32_t symbol = read32(record + 12);
        if (symbol < cubin->symbol_count && place < code->size && code->size - place >= INSTRUCTION) {
            unsigned op = read16(cubin->data + code->offset + place) & 0xFFF;
            facts->called[symbol] |= op == OP_CALL || op == OP_CALL_ABSOLUTE;
            facts->leaves[section->info] |= op == OP_CALL || op == OP_CALL_ABSOLUTE;
        }
    }
}

int facts_gather(const struct cubin *cubin, struct facts *facts)
{
    facts->registers = calloc(cubin->section_count, sizeof *facts->registers);
    facts->parameter_bases = calloc(cubin->section_count, sizeof *facts->parameter_bases);
    facts->called = calloc((size_t)cubin->symbol_count + 1, 1);
    facts->leaves = calloc(cubin->section_count, 1);
    facts->taken = calloc(cubin->section_count, 1);
    facts->frames = calloc(cubin->section_count, sizeof *facts->frames);
    facts->stacks = calloc(cubin->section_count, 1);
    if (!facts->frames || !facts->stacks || !facts->registers || !facts->parameter_bases || !facts->called || !facts->leaves || !facts->taken) {
        return 0;
    }
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct section *section = &cubin->sections[i];
        int about = section->info > 0 && section->info < cubin->section_count;
        if (section->type == INFO_TYPE && section->info == 0) {
            gather_resources(cubin, facts, section);
        } else if (section->type == INFO_TYPE && about) {
            gather_base(cubin, facts, section);
        } else if ((section->type == SECTION_RELA || section->type == SECTION_REL) && about) {
            gather_calls(cubin, facts, section);
        }
    }
    return 1;
}

void facts_free(struct facts *facts)
{
    free(facts->registers);
    free(facts->parameter_bases);
    free(facts->frames);
    free(facts->stacks);
    free(facts->called);
    free(facts->leaves);
    free(facts->taken);
}

const char *home_problem(const struct cubin *cubin, const struct facts *facts, const struct symbol *symbol)
{
    if (symbol->section == 0 || symbol->section >= cubin->section_count) {
        return "its code is not in this image";
    }
    const struct section *home = &cubin->sections[symbol->section];
    if (home->size == 0 || home->size % INSTRUCTION) {
        return "its code section is empty, or its size is no multiple of an instruction";
    }
    if (symbol->value != 0 || home->address != 0 || facts->taken[symbol->section]) {
        return "it shares its code section with another kernel";
    }
    if (symbol->size > home->size) {
        return "its symbol is larger than its code section";
    }
    return facts->called[symbol->index] ? "other code calls it as a function" : NULL;
}

/* The number of registers and the layout of the constant bank, for stubs that use them. */
static const char *resource_problem(const struct kernel *kernel, const struct facts *facts, uint32_t section, unsigned had)
{
    uint32_t base = facts->parameter_bases[section];
    if (had == 0) {
        return "the image does not say how many registers it has";
    }
    if ((kernel->plan->words || kernel->plan->flags & (PLAN_HOLD | PLAN_RECORD)) && base && base != kernel->stubs->parameter_base) {
        return "its parameters lie at a place in the constant bank that this kit does not know";
    }
    return NULL;
}

const char *above_problem(const struct kernel *kernel, const struct survey *found)
{
    if (found->reallocates) {
        return "it changes its own number of registers (setmaxnreg), so none above its own are safe";
    }
    if (found->leaves) {
        return "it calls code outside its own section, which may use the registers above its own";
    }
    return registers_with_record(kernel->registers) > MOST_REGISTERS ? "it has too many registers for four more" : NULL;
}

/* What stands in the way of 64 bytes on top of the kernel's stack, and of borrowing registers 4 to 7 for a moment. */
static const char *spill_problem(const struct kernel *kernel, const struct facts *facts, uint32_t section, const struct survey *found)
{
    enum { MOST_FRAME = 1 << 20 }; /* an offset has 23 bits */
    uint32_t frame = facts->frames[section] ? facts->frames[section] - 1 : UINT32_MAX;
    struct instruction first = instruction_at(kernel, 0);
    if (frame > MOST_FRAME || !facts->stacks[section]) {
        return "the image does not say how much stack it takes";
    }
    if (opcode(first) != OP_CONSTANT || (first.low >> 16 & 0xFF) != STACK_POINTER) {
        return "it does not begin with the load of the stack pointer";
    }
    if (frame ? found->stack_writes != 1 || found->frame_taken != frame || found->first_site < found->frame_taken_at
              : found->stack_writes != 0) {
        return "it moves its stack pointer more than once, or by another amount than the image states";
    }
    return found->products_use_low ? "its asynchronous matrix products use the registers that would be borrowed" : NULL;
}

const char *code_problem(const struct kernel *kernel, const struct facts *facts, uint32_t section, unsigned had, const struct survey *found)
{
    const char *why = wants_entry(kernel->plan) ? entry_problem(kernel, found) : NULL;
    why = why ? why : resource_problem(kernel, facts, section, had);
    if (why || !(kernel->plan->flags & PLAN_RECORD)) {
        return why;
    }
    const char *above = kernel->plan->flags & PLAN_SPILL ? NULL : above_problem(kernel, found);
    const char *spill = kernel->spilled ? spill_problem(kernel, facts, section, found) : NULL;
    return spill && above ? above : spill;
}
