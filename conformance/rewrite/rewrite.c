/* rewrite.c - see rewrite.h */
#include "rewrite.h"

#include "cubin.h"
#include "grow.h"
#include "stubs.h"

#include <stdlib.h>
#include <string.h>

/* The low 12 bits of an instruction, the same from sm_90 to sm_120. */
enum {
    OP_TRIGGER = 0x82D, OP_WAIT = 0x82E, OP_EXIT = 0x94D, OP_BRANCH = 0x947, OP_BRANCH_UNIFORM = 0x547, OP_CALL = 0x944,
    OP_CALL_ABSOLUTE = 0x943,
    ANY_OPERAND = 0x1FF, OP_SET_REGISTERS = 0x1C8 /* these bits are the same whatever kind the last operand is of */
};

/* A branch that is always taken, as ptxas makes it: nothing to wait for, no barrier set, stall 5. */
static const struct instruction plain_branch = {0x0000000000007947, 0x000fea0003800000};
static const uint64_t guard_bits = UINT64_C(0xF000), always = UINT64_C(0x7000), waits_bits = UINT64_C(0x3F) << 52;

/* A sleep lasts up to twice as long as asked for, so a hold is made of many short ones, up to a limit for the code size. */
enum { USUAL_SLEEP_NS = 2000, MOST_SLEEPS = 64 };

static unsigned opcode(struct instruction instruction)
{
    return instruction.low & 0xFFF;
}

static int is_control_transfer(unsigned op) /* what depends on where it stands */
{
    return (op & 0xF0) == 0x40 || op == 0x950 || op == 0x952 || op == 0x955 || op == 0x956;
}

static int64_t relative_target(struct instruction instruction, uint64_t at)
{
    uint64_t value = (instruction.low >> 16 & 0xFF) | (instruction.low >> 34) << 8 | (instruction.high & 0x3FFFF) << 38;
    int64_t words = (int64_t)(value << 8) >> 8;
    return (int64_t)at + INSTRUCTION + words * 4;
}

static struct instruction branch(uint64_t from, uint64_t to, struct instruction form)
{
    uint64_t value = (uint64_t)(((int64_t)to - (int64_t)from - INSTRUCTION) / 4);
    form.low &= ~(UINT64_C(0xFF) << 16 | ~UINT64_C(0) << 34);
    form.high &= ~UINT64_C(0x3FFFF);
    form.low |= (value & 0xFF) << 16 | (value >> 8 & 0x3FFFFFFF) << 34;
    form.high |= value >> 38 & 0x3FFFF;
    return form;
}

/* ---- one kernel ---------------------------------------------------------------------------------------------------- */

struct kernel {
    const struct cubin *cubin;
    const struct stubs *stubs;
    const struct kernel_plan *plan;
    const unsigned char *code;
    uint64_t size;
    unsigned registers; /* that the kernel and the code put at its entry use, counted as the image does */
    struct edit *edit;
};

static struct instruction instruction_at(const struct kernel *kernel, uint64_t at)
{
    struct instruction found = {read64(kernel->code + at), read64(kernel->code + at + 8)};
    return found;
}

static uint64_t here(const struct kernel *kernel)
{
    return kernel->size + kernel->edit->code_count * INSTRUCTION;
}

static uint32_t number_for(const struct kernel_plan *plan, enum hole hole, uint32_t sleep_ns)
{
    switch (hole) {
    case HOLE_LEAST: return plan->least_ns;
    case HOLE_SPAN: return plan->span_ns;
    case HOLE_SEED: return plan->seed;
    case HOLE_WORDS_LOW: return (uint32_t)plan->words;
    case HOLE_WORDS_HIGH: return (uint32_t)(plan->words >> 32);
    case HOLE_SLEEP: return sleep_ns;
    case HOLE_RECORDS_LOW: return (uint32_t)plan->room.address;
    case HOLE_RECORDS_HIGH: return (uint32_t)(plan->room.address >> 32);
    case HOLE_RECORDS_MASK: return plan->room.mask;
    case HOLE_NUMBER: return plan->room.kernel;
    case HOLE_NONE: break;
    }
    return 0;
}

/* A piece of stubs.c under a guard (bits 12 to 15 of an instruction; only code without branches has a guard other than "always"). */
static void add_stub(const struct kernel *kernel, unsigned kind, uint64_t guard, uint32_t sleep_ns)
{
    const struct stub *stub = kernel->stubs->kinds[kind];
    for (unsigned i = 0; i < stub->count; i++) {
        struct instruction next = stub->code[i];
        for (unsigned k = 0; k < stub->hole_count; k++) {
            if (stub->holes[k].index == i) {
                next.low = (next.low & UINT32_MAX) | (uint64_t)number_for(kernel->plan, stub->holes[k].number, sleep_ns) << 32;
            }
        }
        if (guard != always) {
            next.low = (next.low & ~guard_bits) | guard;
        }
        edit_append(kernel->edit, next);
    }
    if (stub->registers > kernel->edit->registers) {
        kernel->edit->registers = stub->registers;
    }
}

/* A hold in the middle of a kernel, where no register is known to be free: sleeping needs none. */
static void add_sleep(const struct kernel *kernel, uint64_t guard)
{
    uint64_t left = (uint64_t)kernel->plan->least_ns + kernel->plan->span_ns;
    uint64_t longest = left / MOST_SLEEPS > USUAL_SLEEP_NS ? left / MOST_SLEEPS + 1 : USUAL_SLEEP_NS;
    while (left) {
        uint32_t part = (uint32_t)(left < longest ? left : longest);
        add_stub(kernel, STUB_SLEEP, guard, part);
        left -= part;
    }
}

/* ---- records of times ---------------------------------------------------------------------------------------------- */

/* Two pairs of registers above the kernel's own hold the record's address and a time. The hardware keeps two registers of a
 * kernel's count for itself, and the image states the count with those. */
enum { RECORD_REGISTERS = 4, KEPT_BY_HARDWARE = 2, MOST_REGISTERS = 255 };

static unsigned address_register(unsigned had)
{
    return (had + 1) / 2 * 2;
}

static unsigned registers_with_record(unsigned had)
{
    return address_register(had) + RECORD_REGISTERS + KEPT_BY_HARDWARE;
}

static uint64_t with_field(uint64_t word, unsigned bit, unsigned width, uint64_t value)
{
    uint64_t mask = ((UINT64_C(1) << width) - 1) << bit;
    return (word & ~mask) | (value << bit & mask);
}

/* The record's first half, and its address into the registers that keep it: the stub ends in two moves and a wait. */
static void add_record(const struct kernel *kernel)
{
    add_stub(kernel, STUB_RECORD, always, 0);
    struct instruction *moves = kernel->edit->code + kernel->edit->code_count - 3;
    if (kernel->edit->out_of_memory) {
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        moves[half].low = with_field(moves[half].low, 16, 8, address_register(kernel->registers) + half);
    }
    kernel->edit->registers = registers_with_record(kernel->registers);
}

/* The time now, into this field of the record: a clock read, a store and a wait until the store has read its registers. */
static void add_stamp(const struct kernel *kernel, uint64_t guard, size_t field)
{
    unsigned address = address_register(kernel->registers), time = address + 2;
    add_stub(kernel, STUB_STAMP, guard, 0);
    struct instruction *stamp = kernel->edit->code + kernel->edit->code_count - 3;
    if (kernel->edit->out_of_memory) {
        return;
    }
    stamp[0].low = with_field(stamp[0].low, 16, 8, time);
    stamp[1].low = with_field(stamp[1].low, 24, 8, address);
    stamp[1].low = with_field(stamp[1].low, 32, 8, time);
    stamp[1].low = with_field(stamp[1].low, 40, 24, field);
}

static void add_stamp_before(const struct kernel *kernel, unsigned op, uint64_t guard)
{
    switch (op) {
    case OP_WAIT: add_stamp(kernel, guard, offsetof(struct warp_record, wait_begun)); break;
    case OP_TRIGGER: add_stamp(kernel, guard, offsetof(struct warp_record, trigger)); break;
    case OP_EXIT: add_stamp(kernel, guard, offsetof(struct warp_record, exit)); break;
    default: break;
    }
}

/* ---- entry and sites ----------------------------------------------------------------------------------------------- */

/* An instruction that is replaced by a branch: the plan's code before it, the instruction, the code after it, and a branch back. */
static void add_displaced(const struct kernel *kernel, uint64_t at)
{
    struct instruction displaced = instruction_at(kernel, at);
    unsigned op = opcode(displaced);
    uint32_t flags = kernel->plan->flags;
    uint64_t guard = displaced.low & guard_bits;
    if (op == OP_EXIT && flags & PLAN_HOLD_BEFORE_EXIT) {
        add_sleep(kernel, guard);
    }
    if (flags & PLAN_RECORD) {
        add_stamp_before(kernel, op, guard);
    }
    edit_move(kernel->edit, at, here(kernel));
    edit_append(kernel->edit, displaced);
    if (flags & PLAN_RECORD && op == OP_WAIT) {
        add_stamp(kernel, guard, offsetof(struct warp_record, wait_ended));
    }
    if ((op == OP_WAIT && flags & PLAN_HOLD_AFTER_WAIT) || (op == OP_TRIGGER && flags & PLAN_HOLD_AFTER_TRIGGER)) {
        add_sleep(kernel, guard);
    }
    edit_append(kernel->edit, branch(here(kernel), at + INSTRUCTION, plain_branch)); /* an exit may depend on predicates */
}

static void branch_away(const struct kernel *kernel, uint64_t at, uint64_t to)
{
    struct instruction away = branch(at, to, plain_branch);
    away.high |= instruction_at(kernel, at).high & waits_bits;
    edit_patch(kernel->edit, at, away);
}

static void place_entry(const struct kernel *kernel)
{
    uint32_t flags = kernel->plan->flags;
    uint64_t start = here(kernel);
    if (flags & PLAN_RECORD) {
        add_record(kernel);
    }
    if (kernel->plan->words) {
        add_stub(kernel, STUB_LIVE, always, 0);
    } else {
        if (flags & PLAN_TRIGGER) {
            add_stub(kernel, STUB_TRIGGER, always, 0);
        }
        if (flags & PLAN_WAIT) {
            add_stub(kernel, STUB_WAIT, always, 0);
        }
        if (flags & PLAN_HOLD) {
            add_stub(kernel, STUB_HOLD, always, 0);
        }
    }
    add_displaced(kernel, 0);
    branch_away(kernel, 0, start);
}

static int wants_site(const struct kernel_plan *plan, unsigned op)
{
    return (plan->flags & PLAN_RECORD && (op == OP_WAIT || op == OP_TRIGGER || op == OP_EXIT)) || (op == OP_WAIT && plan->flags & PLAN_HOLD_AFTER_WAIT) || (op == OP_TRIGGER && plan->flags & PLAN_HOLD_AFTER_TRIGGER)
        || (op == OP_EXIT && plan->flags & PLAN_HOLD_BEFORE_EXIT);
}

static int wants_entry(const struct kernel_plan *plan)
{
    return plan->words || plan->flags & (PLAN_TRIGGER | PLAN_HOLD | PLAN_WAIT | PLAN_EMPTY | PLAN_RECORD);
}

/* A loop back to the first instruction must not run the stub again: it goes to the displaced copy. */
static void keep_loops_out(const struct kernel *kernel)
{
    uint64_t copy = kernel->edit->moved[0].to;
    for (uint64_t at = INSTRUCTION; at < kernel->size; at += INSTRUCTION) {
        struct instruction found = instruction_at(kernel, at);
        if ((opcode(found) == OP_BRANCH || opcode(found) == OP_BRANCH_UNIFORM) && relative_target(found, at) == 0) {
            edit_patch(kernel->edit, at, branch(at, copy, found));
        }
    }
}

static void change(const struct kernel *kernel)
{
    int entry = wants_entry(kernel->plan);
    if (entry) {
        place_entry(kernel);
        if (kernel->edit->moved_count) {
            keep_loops_out(kernel);
        }
    }
    for (uint64_t at = entry ? INSTRUCTION : 0; at < kernel->size; at += INSTRUCTION) {
        if (wants_site(kernel->plan, opcode(instruction_at(kernel, at)))) {
            branch_away(kernel, at, here(kernel));
            add_displaced(kernel, at);
        }
    }
}

/* ---- what stands in the way ---------------------------------------------------------------------------------------- */

/* What one pass over the code finds. */
struct survey {
    unsigned waits, triggers, exits;
    int called;       /* something in the same section calls the entry */
    int reallocates;  /* it changes its own number of registers */
    int leaves;       /* it calls code of another section, or code that is known only at run time */
};

static struct survey look_at(const struct kernel *kernel)
{
    struct survey found = {0};
    for (uint64_t at = 0; at < kernel->size; at += INSTRUCTION) {
        unsigned op = read16(kernel->code + at) & 0xFFF;
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

/* Facts about all kernels of an image, gathered in one pass each. */
struct facts {
    uint32_t *registers;       /* by code section: what .nv.info says of the kernel's symbol; 0: nothing */
    uint32_t *parameter_bases; /* by code section; 0: not stated */
    unsigned char *called;     /* by symbol: some code calls it through a relocation */
    unsigned char *leaves;     /* by code section: it calls something through a relocation */
    unsigned char *taken;      /* by code section: a kernel's entry has been found there */
};

static void gather_registers(const struct cubin *cubin, struct facts *facts, const struct section *section)
{
    struct attribute_record record;
    uint64_t at = 0;
    while (next_attribute(cubin, section, &at, &record)) {
        if (record.code != ATTRIBUTE_REGISTERS || record.size < 8 || read32(cubin->data + record.value) >= cubin->symbol_count) {
            continue;
        }
        struct symbol symbol = cubin_symbol(cubin, read32(cubin->data + record.value));
        if (symbol.section < cubin->section_count && symbol.kind == SYMBOL_FUNCTION && symbol.other & CUDA_ENTRY) {
            facts->registers[symbol.section] = read32(cubin->data + record.value + 4);
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

static int gather(const struct cubin *cubin, struct facts *facts)
{
    facts->registers = calloc(cubin->section_count, sizeof *facts->registers);
    facts->parameter_bases = calloc(cubin->section_count, sizeof *facts->parameter_bases);
    facts->called = calloc((size_t)cubin->symbol_count + 1, 1);
    facts->leaves = calloc(cubin->section_count, 1);
    facts->taken = calloc(cubin->section_count, 1);
    if (!facts->registers || !facts->parameter_bases || !facts->called || !facts->leaves || !facts->taken) {
        return 0;
    }
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct section *section = &cubin->sections[i];
        int about = section->info > 0 && section->info < cubin->section_count;
        if (section->type == INFO_TYPE && section->info == 0) {
            gather_registers(cubin, facts, section);
        } else if (section->type == INFO_TYPE && about) {
            gather_base(cubin, facts, section);
        } else if ((section->type == SECTION_RELA || section->type == SECTION_REL) && about) {
            gather_calls(cubin, facts, section);
        }
    }
    return 1;
}

static void forget(struct facts *facts)
{
    free(facts->registers);
    free(facts->parameter_bases);
    free(facts->called);
    free(facts->leaves);
    free(facts->taken);
}

static const char *home_problem(const struct cubin *cubin, const struct facts *facts, const struct symbol *symbol)
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

static unsigned registers_used(const struct stubs *stubs, const struct kernel_plan *plan, unsigned had)
{
    unsigned entry = plan->words ? stubs->kinds[STUB_LIVE]->registers
                                 : plan->flags & PLAN_HOLD ? stubs->kinds[STUB_HOLD]->registers : 0;
    return had > entry ? had : entry;
}

/* What stands in the way of registers above the kernel's own. */
static const char *record_problem(const struct kernel *kernel, const struct survey *found)
{
    if (!(kernel->plan->flags & PLAN_RECORD)) {
        return NULL;
    }
    if (found->reallocates) {
        return "it changes its own number of registers (setmaxnreg), so none above its own are safe";
    }
    if (found->leaves) {
        return "it calls code outside its own section, which may use the registers above its own";
    }
    return registers_with_record(kernel->registers) > MOST_REGISTERS ? "it has too many registers for four more" : NULL;
}

/* ---- the image ----------------------------------------------------------------------------------------------------- */

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
                            registers_used(stubs, &plan, had), edit};
    struct survey found = look_at(&kernel);
    found.leaves |= facts->leaves[symbol->section];
    outcome->waits = found.waits;
    outcome->triggers = found.triggers;
    outcome->exits = found.exits;
    outcome->registers_before = outcome->registers = had;
    if (!wanted || !(wants_entry(&plan) || plan.flags)) {
        return 0;
    }
    outcome->refusal = wants_entry(&plan) ? entry_problem(&kernel, &found) : NULL;
    outcome->refusal = outcome->refusal ? outcome->refusal : resource_problem(&kernel, facts, symbol->section, had);
    outcome->refusal = outcome->refusal ? outcome->refusal : record_problem(&kernel, &found);
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
    if (stubs && edits && gather(cubin, &facts)) {
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
    forget(&facts);
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
