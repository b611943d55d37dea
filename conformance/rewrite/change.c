/* change.c - what a plan puts into one kernel: at its entry, and at its waits, triggers and exits */
#include "kernel.h"

#include <stddef.h>

/* A branch that is always taken, as ptxas makes it: nothing to wait for, no barrier set, stall 5. */
static const struct instruction plain_branch = {0x0000000000007947, 0x000fea0003800000};
static const uint64_t guard_bits = UINT64_C(0xF000), always = UINT64_C(0x7000), waits_bits = UINT64_C(0x3F) << 52;

/* A sleep lasts up to twice as long as asked for, so a hold is made of many short ones, up to a limit for the code size. */
enum { USUAL_SLEEP_NS = 2000, MOST_SLEEPS = 64 };

unsigned opcode(struct instruction instruction)
{
    return instruction.low & 0xFFF;
}

int64_t relative_target(struct instruction instruction, uint64_t at)
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

struct instruction instruction_at(const struct kernel *kernel, uint64_t at)
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

/* Appends a piece of stubs.c under a guard, which is bits 12 to 15 of an instruction. Code with branches is always appended
 * unguarded. */
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

/* A hold inside a kernel, where no register is known to be free. Sleeping needs none. */
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
enum { RECORD_REGISTERS = 4, KEPT_BY_HARDWARE = 2 };

static unsigned address_register(unsigned had)
{
    return (had + 1) / 2 * 2;
}

unsigned registers_with_record(unsigned had)
{
    return address_register(had) + RECORD_REGISTERS + KEPT_BY_HARDWARE;
}

unsigned registers_used(const struct stubs *stubs, const struct kernel_plan *plan, unsigned had)
{
    const int at_entry[] = {STUB_LIVE, STUB_HOLD, STUB_RECORD};
    const int placed[] = {plan->words != 0, !plan->words && plan->flags & PLAN_HOLD, (plan->flags & PLAN_RECORD) != 0};
    unsigned used = had;
    for (unsigned i = 0; i < sizeof at_entry / sizeof at_entry[0]; i++) {
        unsigned own = placed[i] ? stubs->kinds[at_entry[i]]->registers : 0;
        used = own > used ? own : used;
    }
    return used;
}

static uint64_t with_field(uint64_t word, unsigned bit, unsigned width, uint64_t value)
{
    uint64_t mask = ((UINT64_C(1) << width) - 1) << bit;
    return (word & ~mask) | (value << bit & mask);
}

/* The record's first half, and its address into the registers that keep it: the stub ends in two moves and a wait. Or to the top
 * of the stack, which the kernel's own then begins below. */
static void add_record(const struct kernel *kernel)
{
    add_stub(kernel, STUB_RECORD, always, 0);
    struct instruction *moves = kernel->edit->code + kernel->edit->code_count - 3;
    if (kernel->edit->out_of_memory) {
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        unsigned keeps = kernel->spilled ? FIRST_BORROWED : address_register(kernel->registers);
        moves[half].low = with_field(moves[half].low, 16, 8, keeps + half);
    }
    if (kernel->spilled) {
        add_stub(kernel, STUB_KEEP, always, 0);
        kernel->edit->stack = STACK_ROOM;
    } else {
        kernel->edit->registers = registers_with_record(kernel->registers);
    }
}

/* The time now, by registers that are borrowed; the offsets on the stack begin behind the kernel's own frame. */
static void add_spilled_stamp(const struct kernel *kernel, uint64_t guard, unsigned kind, size_t field)
{
    enum { STORE_LOCAL = 0x387, LOAD_LOCAL = 0x983, STORE = 0x386 };
    size_t from = kernel->edit->code_count;
    add_stub(kernel, kind, guard, 0);
    for (size_t i = from; i < kernel->edit->code_count && !kernel->edit->out_of_memory; i++) {
        struct instruction *added = &kernel->edit->code[i];
        unsigned op = opcode(*added);
        if (op == STORE_LOCAL || op == LOAD_LOCAL) {
            added->low += (uint64_t)kernel->frame << 40;
        } else if (op == STORE) {
            added->low = with_field(added->low, 40, 24, field);
        }
    }
}

/* The time now, into this field of the record: a clock read, a store and a wait until the store has read its registers. */
static void add_stamp(const struct kernel *kernel, uint64_t guard, size_t field)
{
    if (kernel->spilled) {
        add_spilled_stamp(kernel, guard, field == offsetof(struct warp_record, exit) ? STUB_LEAVING : STUB_SPILLED, field);
        return;
    }
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

/* Whether the time is noted at the kernel's own instructions of this kind. */
static int records_at(const struct kernel_plan *plan, unsigned op)
{
    switch (plan->flags & PLAN_RECORD ? op : 0) {
    case OP_WAIT: return !(plan->flags & PLAN_NO_WAIT_TIMES);
    case OP_TRIGGER: return !(plan->flags & PLAN_NO_TRIGGER_TIMES);
    case OP_EXIT: return !(plan->flags & PLAN_NO_EXIT_TIMES);
    default: return 0;
    }
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
    if (records_at(kernel->plan, op)) {
        add_stamp_before(kernel, op, guard);
    }
    edit_move(kernel->edit, at, here(kernel));
    edit_append(kernel->edit, displaced);
    if (at == 0 && kernel->spilled) {
        add_stub(kernel, STUB_FRAME, always, 0);
    }
    if (op == OP_WAIT && records_at(kernel->plan, op)) {
        add_stamp(kernel, guard, offsetof(struct warp_record, wait_ended));
    }
    if ((op == OP_WAIT && flags & PLAN_HOLD_AFTER_WAIT) || (op == OP_TRIGGER && flags & PLAN_HOLD_AFTER_TRIGGER)) {
        add_sleep(kernel, guard);
    }
    edit_append(kernel->edit, branch(here(kernel), at + INSTRUCTION, plain_branch)); /* a guarded exit may not be taken */
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
        if (flags & PLAN_TRIGGER_AFTER_WAIT) {
            add_stub(kernel, STUB_TRIGGER, always, 0);
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
    switch (op) {
    case OP_WAIT: return records_at(plan, op) || plan->flags & PLAN_HOLD_AFTER_WAIT;
    case OP_TRIGGER: return records_at(plan, op) || plan->flags & PLAN_HOLD_AFTER_TRIGGER;
    case OP_EXIT: return records_at(plan, op) || plan->flags & PLAN_HOLD_BEFORE_EXIT;
    default: return 0;
    }
}

int wants_entry(const struct kernel_plan *plan)
{
    const uint32_t at_entry = PLAN_TRIGGER | PLAN_HOLD | PLAN_WAIT | PLAN_EMPTY | PLAN_RECORD | PLAN_TRIGGER_AFTER_WAIT;
    return plan->words || plan->flags & at_entry;
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

void change(const struct kernel *kernel)
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
