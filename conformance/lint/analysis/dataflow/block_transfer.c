/* Through one block of one path: what is computed is followed, what touches memory or meets other threads is judged. */
#include "dataflow/dataflow.h"

#include <string.h>

struct step { /* where the path is */
    node_id node;
    struct section *section;
    context context;
    enum progress wait;
    constraints constraints;
    struct registers *registers;
    bool divides; /* what is done here only some threads do, and no branch has told them apart yet */
};
enum outcome { GOES_ON, ENDS };

static bool meets_others(uint8_t kind) /* after which others' stores are seen */
{
    return kind == KIND_BARRIER || kind == KIND_CLUSTER_BARRIER || kind == KIND_MBARRIER;
}

static bool signals_object(uint8_t kind) /* a bulk copy signals when it is complete */
{
    return kind == KIND_SIGNAL || kind == KIND_ASYNC_LOAD;
}

static bool writes_registers(uint8_t kind)
{
    return kind_accesses(kind) || kind == KIND_SIGNAL || kind == KIND_UNKNOWN;
}

static void add_event(const struct step *step, enum event_kind kind, uint8_t varies)
{
    if (!now.learning)
        return;
    struct edges *edges = &now.nodes[step->node].edges;
    edges->events = grown(edges->events, &edges->event_capacity, edges->event_count + 1, sizeof *edges->events);
    edges->events[edges->event_count++] = (struct event){(uint8_t)kind, varies};
}

/* The thread is safe from here on: followed only if it matters what it signals. */
static enum outcome waited(struct step *step)
{
    step->wait = WAITED;
    return now.follow_waited ? GOES_ON : ENDS;
}

/* Behind a conditional wait go those that waited, besides those that did not; a wait ends its block. */
static void follow_waiters(const struct step *step, expr formula)
{
    const struct node_state *node = &now.nodes[step->node];
    constraints there = assume(formula, true, step->constraints);
    if (there != INFEASIBLE && step->section->blocks[node->block].falls != NO_BLOCK)
        go(step->node, node_after(step->node), WAITED, there, step->registers);
}

static enum outcome wait_under(struct step *step, uint32_t index, struct value guard, enum truth decided)
{
    struct a_case cases[MOST_CASES];
    if (decided == IS_TRUE && guard.expression != EXPR_TRUE && now.keep_constraints && !now.follow_waited &&
        (step->registers->turns & step->section->blocks[now.nodes[step->node].block].in_turns) == 0)
        now.nodes[step->node].first_waits = true;
    if (decided == IS_TRUE || guard.expression == EXPR_TRUE) {
        add_event(step, EVENT_WAIT, VARIES_BY_THREAD);
        return waited(step);
    }
    add_event(step, EVENT_WAIT, guard.varies);
    note_divides(guard.expression);
    if (now.follow_waited && guard.expression != 0)
        follow_waiters(step, guard.expression);
    unsigned possible = 0, count = cases_of(guard.expression, guard.varies, step->constraints, cases);
    enum progress least = PROGRESSES;
    uint8_t debt = 0;
    constraints last = step->constraints, first = 0;
    for (unsigned i = 0; i < count; i++) {
        constraints there = guard.expression ? assume(guard.expression, false, cases[i].constraints) : cases[i].constraints;
        if (there == INFEASIBLE)
            continue;
        enum progress passed = passed_by(step->wait, cases[i].varies);
        uint8_t behind = cluster_debt_of(cases[i].varies, 0, step->registers->phases.cluster_arrived);
        debt = behind > debt ? behind : debt;
        least = passed < least ? passed : least;
        if (possible++ == 0)
            first = there;
    }
    if (possible == 0)
        return waited(step);
    /* of several cases the one in which no thread waits says most; what is known of it is not kept apart */
    struct phases *phases = &step->registers->phases;
    if (least != step->wait)
        phases->block_debt = 0;
    if (step->wait == FRESH || debt < phases->cluster_debt)
        phases->cluster_debt = debt;
    step->registers->passed = (struct place){step->section, index};
    step->wait = least;
    step->constraints = possible == 1 ? first : last;
    return GOES_ON;
}

/* The number and the threads of a barrier that stand in one register, as threads << 16 | number & 15. */
static void unpack(expr both, expr found[2])
{
    uint32_t n;
    const struct node *node = both ? node_of(both) : NULL;
    found[0] = found[1] = 0;
    if (is_number_of(both, &n)) {
        found[0] = number(n & 15);
        found[1] = number(n >> 16);
    } else if (node != NULL && node->tag == TAG_OPERATION && node->a == OPERATION_LOGIC + 248 && is_number_of(node->kids[0], &n) &&
               node->kids[1] == number(15)) {
        found[0] = node->kids[2];
        found[1] = number(n >> 16);
    }
}

/* The number that the barrier can have (false: any), and whether all threads of the block take part. */
static bool barrier_of(const struct step *step, const struct instruction *instruction, uint32_t index, struct range *range, bool *whole)
{
    const struct operand *operands[2];
    expr found[2] = {0, 0};
    unsigned count = 0;
    constraint_key keys[16];
    for (unsigned i = 0; i < 2 && i < instruction->decoded->count; i++)
        if (instruction->decoded->operands[i].kind != OPERAND_PREDICATE)
            operands[count++] = &instruction->decoded->operands[i];
    for (unsigned i = 0; i < count; i++)
        found[i] = operand_value(step->registers, operands[i], 0).expression;
    if (count == 2 && operands[0]->text == operands[1]->text && found[0] != 0) /* number and threads in one register */
        unpack(found[0], found);
    *whole = true;
    if (count == 0) {
        *range = (struct range){0, 0};
        return true;
    }
    if (found[0])
        note_keys(keys, leaf_keys(found[0], keys, 16), step->section, index);
    uint32_t threads, most = now.kernel->max_threads;
    if (count == 2)
        *whole = is_number_of(found[1], &threads) && most > 0 && most <= threads;
    return barrier_range(found[0], step->constraints, range);
}

/* The end of a cluster barrier: it helps if the siblings waited before they arrived at it. */
static enum outcome cluster_barrier(struct step *step)
{
    struct phases *phases = &step->registers->phases;
    phases->cluster_arrived = false;
    if (step->wait == FRESH || step->wait == WAITED)
        return GOES_ON;
    if (phases->cluster_debt == 0)
        return waited(step);
    phases->cluster_debt -= phases->cluster_debt < MANY_PHASES;
    return GOES_ON;
}

/* A barrier of the whole block: siblings that wait after it will have waited at the next one. */
static void pass_block_barrier(struct step *step)
{
    struct phases *phases = &step->registers->phases;
    add_event(step, EVENT_BLOCK_BARRIER, 0);
    step->registers->split &= (uint8_t)~VARIES_BY_THREAD;
    if (step->wait != AHEAD || phases->block_debt == MANY_PHASES)
        return;
    phases->block_debt -= phases->block_debt > 0;
    if (phases->block_debt == 0)
        step->wait = SIBLING;
}

/* Behind a barrier of the warp all of its lanes are released that one of them was. */
static void pass_warp_barrier(struct step *step)
{
    if (step->registers->phases.lane_waits && (step->wait == SIBLING || step->wait == AHEAD) && object_helps(0, false))
        step->wait = SIGNALLED;
    step->registers->phases.lane_waits = false;
}

/* A warp barrier of debug code: WARPSYNC.COLLECTIVE with nothing to do up to its ENDCOLLECTIVE. Others shuffle or vote there. */
static bool is_collective_barrier(const struct section *section, uint32_t index)
{
    const char *text = "NOP";
    if (section->code[index].kind != KIND_COLLECTIVE)
        return false;
    while (strcmp(text, "NOP") == 0 && ++index < section->count)
        text = text_of(section->code[index].decoded->opcode->text);
    return strcmp(text, "ENDCOLLECTIVE") == 0;
}

/* How often this thread has used the barrier, at least; this is one time more. */
static uint8_t count_use(struct step *step, const struct range *numbers)
{
    if (numbers == NULL || numbers->low != numbers->high)
        return step->wait == WAITED ? 0 : MANY_PHASES; /* whichever it is, it helps */
    uint8_t *uses = &step->registers->phases.named[numbers->low], before = *uses;
    *uses += before < MANY_PHASES;
    return before;
}

static enum outcome barrier(struct step *step, const struct instruction *instruction, uint32_t index)
{
    struct range range;
    bool whole, known = barrier_of(step, instruction, index, &range, &whole);
    const struct range *numbers = known ? &range : NULL;
    enum progress before = step->wait;
    uint8_t uses = count_use(step, numbers);
    bool due = whole && before == AHEAD && step->registers->phases.block_debt == 0;
    if (before == WAITED) {
        signal_barrier(&now.gathered, numbers, uses);
        return GOES_ON;
    }
    if (whole)
        pass_block_barrier(step);
    else if (instruction->kind != KIND_BARRIER_ARRIVE)
        add_event(step, EVENT_OTHER_BARRIER, 0);
    if (due && instruction->kind != KIND_BARRIER_ARRIVE)
        return waited(step);
    bool may_help = before == SIBLING || before == SIGNALLED || (!whole && (before == AHEAD || (before == FRESH && step->divides)));
    if (instruction->kind == KIND_BARRIER_ARRIVE || !may_help)
        return GOES_ON;
    return whole || barrier_helps(numbers, uses) ? waited(step) : GOES_ON;
}

static enum outcome either_barrier(struct step *step, const struct instruction *instruction, uint32_t index)
{
    return instruction->kind == KIND_CLUSTER_BARRIER ? cluster_barrier(step) : barrier(step, instruction, index);
}

/* A barrier under a guard that is open: a thread that does not execute it is not released. */
static enum outcome barrier_under(struct step *step, const struct instruction *instruction, uint32_t index, struct value by)
{
    struct step met = *step;
    expr guard = by.expression;
    constraints without = guard ? assume(guard, false, step->constraints) : step->constraints;
    if (guard)
        met.constraints = assume(guard, true, step->constraints);
    met.divides = by.varies & VARIES_BY_THREAD;
    struct phases before = step->registers->phases;
    enum outcome outcome = met.constraints == INFEASIBLE ? ENDS : either_barrier(&met, instruction, index);
    if (outcome == GOES_ON && met.wait == step->wait && memcmp(&before, &step->registers->phases, sizeof before) == 0)
        return GOES_ON;
    if (outcome == GOES_ON && step->section->blocks[now.nodes[step->node].block].falls != NO_BLOCK)
        go(step->node, node_after(step->node), met.wait, met.constraints, step->registers);
    step->registers->phases = before;
    step->constraints = without;
    return without == INFEASIBLE ? ENDS : GOES_ON;
}

/* What the constraints of this path leave of a choice between two values; the value itself, if they leave both. */
static expr settled(expr e, constraints known)
{
    while (e != 0 && node_of(e)->tag == TAG_SELECT) {
        enum truth holds = truth(node_of(e)->kids[0], known);
        if (holds == IS_OPEN)
            break;
        e = node_of(e)->kids[holds == IS_TRUE ? 1 : 2];
    }
    return e;
}

/* A producer's first wait for an empty stage asks for the phase before the first, and no thread has signalled yet. */
static bool passes_at_once(const struct step *step, const struct instruction *instruction)
{
    const struct decoded *decoded = instruction->decoded;
    uint32_t phase;
    if (decoded->count == 0)
        return false;
    expr asked = operand_value(step->registers, &decoded->operands[decoded->count - 1], 0).expression;
    return is_number_of(settled(asked, step->constraints), &phase) && phase != 0;
}

/* Whether what is signalled may be an object of another block of the cluster. Of SYNCS only the .RED forms reach one. */
static bool signals_other_block(const struct instruction *instruction, expr address)
{
    const char *text = text_of(instruction->decoded->opcode->text);
    if (strstr(text, ".MULTICAST") != NULL || strstr(text, ".2CTA") != NULL)
        return true;
    if (strncmp(text, "UTCBAR", 6) == 0 || strncmp(text, "ARRIVES", 7) == 0)
        return false;
    return strstr(text, strncmp(text, "SYNCS", 5) == 0 ? ".RED" : "") != NULL && !is_in_own_block(address);
}

/* A thread signals a barrier object in shared memory. */
static void signal_of(const struct step *step, const struct instruction *instruction)
{
    expr address = object_address(step->registers, instruction);
    if (step->wait == WAITED || step->wait == SIGNALLED)
        signal_object(&now.gathered, address, signals_other_block(instruction, address));
}

/* The predicate that says how a wait for an object has ended; NO_REGISTER if it is not read. */
static uint16_t object_answer(const struct instruction *instruction)
{
    const struct decoded *decoded = instruction->decoded;
    for (unsigned i = 0; i < decoded->destination_count; i++)
        if (is_predicate(decoded->destinations[i]))
            return decoded->destinations[i];
    return NO_REGISTER;
}

/* A thread waits for a barrier object: it is released where its guard holds and the answer is true. Elsewhere no thread releases
 * it, so these two ways are followed one by one. */
static void wait_for_object(struct step *step, const struct instruction *instruction, struct value guard, uint32_t site)
{
    struct registers *registers = step->registers;
    uint16_t answer = object_answer(instruction);
    add_event(step, EVENT_OTHER_BARRIER, 0);
    bool in_other_block = step->wait == CLUSTER;
    bool may_help = (step->wait == SIBLING || step->wait == AHEAD || in_other_block) && !passes_at_once(step, instruction);
    bool helps = may_help && object_helps(object_address(registers, instruction), in_other_block) && answer != NO_REGISTER;
    constraints there = guard.expression ? assume(guard.expression, true, step->constraints) : step->constraints;
    struct value before = answer != NO_REGISTER ? registers->file[answer] : (struct value){0};
    execute(registers, instruction, MATTERS, site);
    if (!helps || there == INFEASIBLE)
        return;
    uint8_t varies = registers->file[answer].varies;
    registers->file[answer] = (struct value){.expression = EXPR_TRUE, .varies = varies, .known = 1};
    if (step->section->blocks[now.nodes[step->node].block].falls != NO_BLOCK)
        go(step->node, node_after(step->node), SIGNALLED, there, registers);
    expr skipped = guard.expression && before.expression ? conjunction(negation(guard.expression), before.expression) : 0;
    registers->file[answer].expression = guard.expression == EXPR_TRUE ? EXPR_FALSE : skipped;
}

/* Copies between memories have two addresses; the global one, or that of the tensor map, may be the second. */
static bool global_is_second(const struct opcode *opcode)
{
    const char *text = text_of(opcode->text);
    return strncmp(text, "LDGSTS", 6) == 0 || strncmp(text, "UBLKCP.S", 8) == 0 || strncmp(text, "UTMA", 4) == 0;
}

/* Where the address points; that of a tensor copy is its map's, often a parameter. */
static provenance provenance_of_access(const struct registers *registers, const struct decoded *decoded, uint8_t which)
{
    const struct address *address = &decoded->operands[which].address;
    uint8_t varies;
    provenance from = address_provenance(registers, address, &varies);
    if (strncmp(text_of(decoded->opcode->text), "UTMA", 4) != 0 || address->count == 0 || address->reg[0] >= REGISTERS)
        return from;
    struct value low = registers->file[address->reg[0]];
    low.provenance = from;
    return tensor_map_provenance(&low);
}

/* A texture or surface is named by a register: a uniform one, or one of those with coordinates. */
static provenance provenance_of_texture(const struct registers *registers, const struct decoded *decoded)
{
    provenance uniform = 0, all = 0;
    for (unsigned i = 0; i < decoded->count; i++) {
        const struct operand *operand = &decoded->operands[i];
        if (operand->kind != OPERAND_REGISTER || operand->zero)
            continue;
        provenance from = operand_value(registers, operand, 0).provenance;
        all = provenance_union(all, from);
        if (operand->reg >= FIRST_UR && operand->reg < FIRST_P)
            uniform = provenance_union(uniform, from);
    }
    return uniform ? uniform : all;
}

static bool is_texture(const struct instruction *instruction)
{
    return instruction->kind == KIND_TEXTURE || strncmp(text_of(instruction->decoded->opcode->text), "SU", 2) == 0;
}

static void access_memory(const struct step *step, const struct instruction *instruction, uint32_t index)
{
    const struct decoded *decoded = instruction->decoded;
    uint8_t which = decoded->memory;
    provenance from = 0;
    if (decoded->second_memory < decoded->count && global_is_second(decoded->opcode))
        which = decoded->second_memory;
    if (is_texture(instruction))
        from = provenance_of_texture(step->registers, decoded);
    else if (which < decoded->count)
        from = provenance_of_access(step->registers, decoded, which);
    bool own = provenance_only_windows(from) && (kind_is_generic(instruction->kind) || provenance_has_heap(from));
    if (!own)
        add_access(step->section, index, instruction->kind, step->wait, from, step->context,
                   step->registers->passed);
}

/* A notable instruction inside a block. */
static enum outcome happen(struct step *step, const struct instruction *instruction, uint32_t index, struct value guard, enum truth decided)
{
    uint8_t kind = instruction->kind;
    if (kind == KIND_WAIT)
        return wait_under(step, index, guard, decided);
    if (meets_others(kind))
        forget_shared(step->registers);
    if (kind == KIND_WARP_BARRIER) {
        pass_warp_barrier(step);
        return GOES_ON;
    }
    if (kind == KIND_CLUSTER_ARRIVE) {
        add_event(step, EVENT_CLUSTER_BARRIER, 0);
        step->registers->phases.cluster_arrived = true;
        return GOES_ON;
    }
    if (kind == KIND_BARRIER_ARRIVE || ((kind == KIND_BARRIER || kind == KIND_CLUSTER_BARRIER) && decided == IS_TRUE))
        return either_barrier(step, instruction, index);
    if (kind == KIND_BARRIER || kind == KIND_CLUSTER_BARRIER)
        return barrier_under(step, instruction, index, guard);
    if (signals_object(kind))
        signal_of(step, instruction);
    if (now.follow_waited) /* nothing but signals is gathered */
        return GOES_ON;
    if (kind_accesses(kind))
        access_memory(step, instruction, index);
    else if (kind == KIND_TRIGGER && step->wait != WAITED)
        add_place(FOUND_TRIGGER, step->section, index);
    else if (kind == KIND_PREFETCH)
        add_place(FOUND_PREFETCH, step->section, index);
    else if (kind == KIND_UNKNOWN)
        add_place(FOUND_UNKNOWN, step->section, index);
    return GOES_ON;
}

/* One instruction that is not plain; ENDS if the path needs no more attention in this block. */
static enum outcome take(struct step *step, const struct block *block, uint32_t index, uint32_t site)
{
    const struct instruction *instruction = &step->section->code[index];
    struct value guard = {.expression = EXPR_TRUE, .known = 1};
    if (instruction->guarded)
        guard = predicate_value(step->registers, instruction->guard, instruction->guard_negated);
    note_formula(guard.expression, step->node, index);
    enum truth decided = guard.expression ? truth(guard.expression, step->constraints) : IS_OPEN;
    bool last = index == block->end - 1;
    /* a branch that is decided on this path may divide a block all the same */
    bool divides = last && (block->last == KIND_BRANCH || block->last == KIND_RETURN) && guard.expression != EXPR_FALSE;
    if (decided == IS_FALSE && !divides)
        return GOES_ON;
    if (last && block->last != KIND_PLAIN) {
        if (is_collective_barrier(step->section, index))
            pass_warp_barrier(step);
        leave(step->node, step->wait, step->constraints, step->registers);
        return ENDS;
    }
    if (happen(step, instruction, index, guard, decided) == ENDS)
        return ENDS;
    if (instruction->kind == KIND_MBARRIER)
        wait_for_object(step, instruction, guard, site);
    else if (writes_registers(instruction->kind))
        execute(step->registers, instruction, now.nodes[step->node].matters[index], site);
    return GOES_ON;
}

static void begin_edges(node_id node)
{
    struct edges *edges = &now.nodes[node].edges;
    if (!now.learning)
        return;
    edges->known = true;
    edges->event_count = 0;
}

void walk(node_id node, enum progress wait, constraints known, struct registers *registers)
{
    struct section *section = now.nodes[node].section;
    const struct block *block = &section->blocks[now.nodes[node].block];
    const uint8_t *matters = now.nodes[node].matters;
    struct step step = {node, section, now.nodes[node].context, wait, known, registers, false};
    uint32_t first_site = now.nodes[node].first_site;
    begin_edges(node);
    for (uint32_t index = block->start; index < block->end; index++) {
        uint32_t site = block->in_loop ? 0 : first_site + (index - block->start);
        uint8_t kind = section->code[index].kind;
        if (kind != KIND_PLAIN && (matters[index] || !now.follow_waited)) {
            if (take(&step, block, index, site) == ENDS)
                return;
        } else if (matters[index]) {
            execute(registers, &section->code[index], matters[index], site);
        }
    }
    if (block->falls != NO_BLOCK)
        go(node, node_after(node), step.wait, step.constraints, registers);
}
