/* The ways out of a block: branches, jumps, exits. */
#include "dataflow/dataflow.h"

#include <string.h>

enum { MOST_SETTLED = 3 /* 2^3 cases: MOST_CASES */, MOST_ENTRIES = 64 };

/* How blocks answer differently; only the bit that says least. 0: all answer alike. */
static uint8_t asks_for_block(expr formula)
{
    return leaf_varies(formula, VARIES_BY_BLOCK) ? VARIES_BY_BLOCK : leaf_varies(formula, VARIES_BY_RANK) ? VARIES_BY_RANK : 0;
}

/* The first atoms that are the same for all threads of a block; those that blocks answer differently come last. */
static unsigned uniform_atoms(expr formula, expr same[MOST_SETTLED])
{
    expr atoms[32], ordered[MOST_SETTLED];
    unsigned count = formula_atoms(formula, atoms, 32), chosen = 0, placed = 0;
    if (count < 2)
        return 0;
    for (unsigned i = 0; i < count && chosen < MOST_SETTLED; i++)
        if (!leaf_varies(atoms[i], VARIES_BY_THREAD))
            ordered[chosen++] = atoms[i];
    for (uint8_t by = 0; by <= VARIES_BY_RANK; by++) /* what blocks answer differently leaves waiters in others */
        for (unsigned i = 0; i < chosen; i++)
            if (asks_for_block(ordered[i]) == by)
                same[placed++] = ordered[i];
    return placed;
}

unsigned cases_of(expr formula, uint8_t varies, constraints known, struct a_case cases[MOST_CASES])
{
    expr same[MOST_SETTLED];
    unsigned count = 1, atoms;
    cases[0] = (struct a_case){known, varies};
    if (formula == 0 || node_of(formula)->tag == TAG_NUMBER || !varies || now.learning)
        return 1;
    atoms = uniform_atoms(formula, same);
    for (unsigned a = 0; a < atoms; a++) {
        struct a_case next[MOST_CASES];
        unsigned made = 0;
        uint8_t left = varies & asks_for_block(same[a]);
        for (unsigned i = 0; i < count; i++)
            for (int holds = 1; holds >= 0; holds--) {
                constraints there = assume(same[a], holds, cases[i].constraints);
                if (there == INFEASIBLE)
                    continue;
                uint8_t least = cases[i].varies < left ? cases[i].varies : left;
                next[made++] = (struct a_case){there, truth(formula, there) != IS_OPEN ? least : cases[i].varies};
            }
        memcpy(cases, next, made * sizeof *next);
        count = made;
    }
    return count;
}

/* Where there is no cluster there is one rank, and no block passes by the wait of another. */
static bool outside_cluster(enum progress wait, constraints known)
{
    expr flag = constant_word(0, image.sm < 100 ? 0x140 : 0x36C); /* 1 where the kernel runs in clusters */
    return wait == CLUSTER && truth(comparison(COMPARES_EQ, false, flag, number(1)), known) == IS_FALSE;
}

/* Of the other ways: whether one leads to a wait, and the fewest barriers ahead of it. */
static struct wait_ahead others_ahead(node_id target, const node_id *everywhere, unsigned count)
{
    struct wait_ahead best = {NO, MANY_PHASES, MANY_PHASES, 0, false, 0};
    bool some = false;
    for (unsigned i = 0; i < count; i++) {
        if (everywhere[i] == target)
            continue;
        struct wait_ahead ahead = wait_ahead_of(everywhere[i]);
        best.first = some && best.first != ahead.first ? 0 : ahead.first;
        some = true;
        if (ahead.answer != YES)
            continue;
        best.answer = YES;
        best.varies |= ahead.varies;
        best.block = ahead.block < best.block ? ahead.block : best.block;
        best.cluster = ahead.cluster < best.cluster ? ahead.cluster : best.cluster;
    }
    return best;
}

/* The state after choosing one way of a branch that other threads may leave in another way. */
static enum progress towards(node_id target, const node_id *everywhere, unsigned count, enum progress wait, uint8_t varies,
                             struct phases *phases)
{
    if (!varies || wait == WAITED || wait == SIBLING || wait == SIGNALLED || now.learning)
        return wait;
    struct wait_ahead others = others_ahead(target, everywhere, count), own = wait_ahead_of(target);
    bool later = own.answer != YES || own.block > others.block || own.cluster > others.cluster || own.others;
    if (own.first != 0 && own.first == others.first) /* all meet again before anything that tells them apart */
        return wait;
    bool passes_by = others.answer == YES && others.block == 0 && later;
    if (!passes_by && (wait == CLUSTER || others.answer != YES || !later))
        return wait;
    varies |= others.varies;
    bool in_another_block = (varies & (VARIES_BY_RANK | VARIES_BY_BLOCK)) != 0;
    struct phases old = *phases;
    phases->block_debt = in_another_block ? MANY_PHASES : others.block;
    phases->cluster_debt = cluster_debt_of(varies, others.cluster, phases->cluster_arrived);
    if (wait != FRESH) { /* those that it passed by before count as well */
        phases->block_debt = old.block_debt < phases->block_debt ? old.block_debt : phases->block_debt;
        phases->cluster_debt = old.cluster_debt < phases->cluster_debt ? old.cluster_debt : phases->cluster_debt;
    }
    if (in_another_block && wait == FRESH && own.answer == YES && phases->cluster_debt == MANY_PHASES)
        return FRESH;
    if ((passes_by && own.answer != YES) || in_another_block)
        return passed_by(wait, varies);
    return AHEAD; /* also where this thread waits itself, later than others do */
}

/* Whether this way leads past a wait to which another one leads. */
static bool goes_past_wait(node_id target, const node_id *everywhere, unsigned count, enum progress wait)
{
    if (now.learning || wait == WAITED)
        return false;
    return others_ahead(target, everywhere, count).answer == YES && wait_ahead_of(target).answer != YES;
}

/* In the first turn of a loop with a wait, a branch may have one way only. */
static void note_first_turn(node_id node, node_id target, uint64_t turns)
{
    struct node_state *here = &now.nodes[node];
    uint64_t loops = here->section->blocks[here->block].in_turns;
    if (now.learning || now.follow_waited || !now.keep_constraints || loops == 0 || (turns & loops) != 0)
        return;
    if (here->first_way == 0)
        here->first_way = target + 1;
    else if (here->first_way != target + 1)
        here->first_way = SEVERAL_WAYS;
}

static struct place last_place(node_id node)
{
    struct section *section = now.nodes[node].section;
    return (struct place){section, section->blocks[now.nodes[node].block].end - 1};
}

enum { SHORT_WAY = 16 /* blocks */ };

/* Where all threads go that leave here and stay in the kernel, into functions and back as well. */
static bool only_target(const struct edges *edges, node_id *target)
{
    unsigned found = 0;
    for (size_t i = 0; i < edges->target_count && edges->known; i++)
        if (!now.nodes[edges->targets[i]].edges.traps) {
            *target = edges->targets[i];
            found++;
        }
    return found == 1;
}

/* Whether the first thing on this way is a wait for a barrier object. */
static bool waits_for_object(node_id node)
{
    for (int steps = 0; steps < SHORT_WAY; steps++) {
        const struct section *section = now.nodes[node].section;
        const struct block *block = &section->blocks[now.nodes[node].block];
        for (uint32_t i = block->start; i < block->end; i++) {
            uint8_t kind = section->code[i].kind;
            if (kind == KIND_MBARRIER && !section->code[i].guarded)
                return true;
            if (kind == KIND_WARP_BARRIER || kind == KIND_BARRIER || kind_accesses(kind))
                return false;
        }
        if (!only_target(&now.nodes[node].edges, &node))
            return false;
    }
    return false;
}

/* On this way a lane passes by while another one of its warp waits for a barrier object. */
static bool a_lane_waits(const node_id *ways, unsigned count, unsigned chosen, expr formula)
{
    for (unsigned i = 0; i < count && formula; i++)
        if (i != chosen && !now.learning && waits_for_object(ways[i]))
            return varies_by_lane(formula);
    return false;
}

static void note_varies(node_id node, uint8_t varies)
{
    if (now.learning)
        now.nodes[node].edges.varies |= varies;
}

/* What is decided on this path may be so because other threads come here with another value. Numbers kept apart decide more, and
 * may differ from one turn of a loop to the next instead: of these only what counted before they were. */
static uint8_t varies_elsewhere(node_id node, enum progress wait, uint8_t varies, bool decided)
{
    struct node_state *here = &now.nodes[node];
    if (now.learning || !here->edges.known)
        return 0;
    if (now.partitioned)
        return decided ? here->varied : 0;
    if (decided)
        varies |= here->edges.varies;
    if (wait != WAITED && wait != SIBLING && wait != SIGNALLED)
        here->varied &= varies;
    return varies;
}

static void take_way(node_id node, const node_id *ways, unsigned count, unsigned chosen, enum progress wait, struct a_case how,
                     bool returns, struct registers *registers)
{
    if (how.constraints == INFEASIBLE || outside_cluster(wait, how.constraints))
        return;
    struct phases before = registers->phases;
    struct place passed = registers->passed;
    note_first_turn(node, ways[chosen], registers->turns);
    enum progress there = towards(ways[chosen], ways, count, wait, how.varies, &registers->phases);
    if (goes_past_wait(ways[chosen], ways, count, wait))
        registers->passed = last_place(node);
    if (returns)
        note_return(now.nodes[node].context, there);
    if (!returns || !frame_of(now.nodes[node].context)->deeper) /* others wait for such a turn to return, each at its place */
        go(node, ways[chosen], there, how.constraints, registers);
    registers->phases = before;
    registers->passed = passed;
}

static void branch(node_id node, const struct block *block, struct value asked, enum progress wait, constraints known, struct registers *registers)
{
    const struct instruction *last = &now.nodes[node].section->code[block->end - 1];
    struct a_case cases[MOST_CASES];
    unsigned jumps, count;
    expr formula = asked.expression;
    uint8_t varies = asked.varies;
    if (is_divergent_jump(last) || last->decoded->opcode->parts & PART_ANY)
        formula = 0;
    note_varies(node, varies);
    varies |= varies_elsewhere(node, wait, varies, formula != 0 && node_of(formula)->tag == TAG_NUMBER);
    registers->split |= varies;
    const node_id *ways = ways_out(node, &jumps);
    count = jumps + (block->falls != NO_BLOCK);
    unsigned possible = cases_of(formula, varies, known, cases);
    bool before = registers->phases.lane_waits, notes_way = formula && !now.naming && truth(formula, known) == IS_OPEN;
    struct ways ways_before = registers->ways;
    for (unsigned way = 0; way < count; way++)
        if (goes_past_wait(ways[way], ways, count, wait))
            note_divides(formula);
    for (unsigned i = 0; i < possible; i++)
        for (unsigned way = 0; way < count; way++) {
            struct a_case how = cases[i];
            how.constraints = formula ? assume(formula, way < jumps, how.constraints) : how.constraints;
            registers->phases.lane_waits = before || a_lane_waits(ways, count, way, formula);
            if (notes_way)
                note_way(&registers->ways, way < jumps ? formula : negation(formula));
            take_way(node, ways, count, way, wait, how, block->last == KIND_RETURN && way < jumps, registers);
            registers->phases.lane_waits = before;
            registers->ways = ways_before;
        }
}

/* Which of the ways of an indexed branch leads to this offset in the section; `count` if none does. */
static unsigned way_to(const struct section *section, const struct block *block, uint32_t target, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (section->code[section->blocks[block->jumps[i]].start].offset == target)
            return i;
    return count;
}

/* Where an indexed branch goes if its register holds this word; `count` if that is unknown. */
static unsigned way_of_word(const struct section *section, const struct block *block, uint32_t word, unsigned count)
{
    uint32_t target;
    return indexed_target(&section->code[block->end - 1], word, &target) ? way_to(section, block, target, count) : count;
}

static unsigned known_way(const struct section *section, const struct block *block, expr held, unsigned count)
{
    uint32_t n;
    return held && is_number_of(held, &n) ? way_of_word(section, block, n, count) : count;
}

struct entry { /* of a jump table */
    unsigned way;
    expr formula; /* what the index is if this entry is taken; 0: nothing can be said */
};

/* The entries of the table that the jump's register was loaded from, up to the first word that leads to none of the ways. Each
 * way keeps the condition that leads there. 0: it is not known to come from a table. */
static unsigned entries_of(node_id node, const struct block *block, expr held, unsigned count, struct entry entries[MOST_ENTRIES])
{
    struct section *section = now.nodes[node].section;
    expr index;
    uint32_t place, word;
    unsigned found = 0;
    if (!is_table_word(held, &index, &place))
        return 0;
    for (; found < MOST_ENTRIES && map_get(&now.kernel->words, place + 4 * found, &word); found++) {
        unsigned way = way_of_word(section, block, word, count);
        if (way == count)
            break;
        entries[found] = (struct entry){way, equals_number(index, 4 * found)};
        note_formula(entries[found].formula, node, block->end - 1);
    }
    return found;
}

static void jump_by_table(node_id node, const node_id *ways, unsigned count, const struct entry *entries, unsigned entry_count,
                          enum progress wait, uint8_t varies, constraints known, struct registers *registers)
{
    struct phases before = registers->phases;
    for (unsigned i = 0; i < entry_count; i++) {
        node_id target = ways[entries[i].way];
        constraints there = entries[i].formula ? assume(entries[i].formula, true, known) : known;
        if (there == INFEASIBLE)
            continue;
        struct place passed = registers->passed;
        if (goes_past_wait(target, ways, count, wait)) {
            registers->passed = last_place(node);
            note_divides(entries[i].formula);
        }
        go(node, target, towards(target, ways, count, wait, varies, &registers->phases), there, registers);
        registers->phases = before;
        registers->passed = passed;
    }
}

static void jump(node_id node, const struct block *block, uint8_t varies, enum progress wait, constraints known, struct registers *registers)
{
    struct section *section = now.nodes[node].section;
    const struct instruction *last = &section->code[block->end - 1];
    struct entry entries[MOST_ENTRIES];
    unsigned count, entry_count = 0;
    const node_id *ways = ways_out(node, &count);
    if (block->last == KIND_INDEXED_BRANCH) {
        const struct operand *through = transfer_register(last);
        struct value held = through ? operand_value(registers, through, 0) : (struct value){0};
        unsigned known_one = count;
        varies |= held.varies;
        note_varies(node, varies);
        note_variables(held.expression);
        if (!now.learning && now.nodes[node].edges.known)
            known_one = known_way(section, block, held.expression, count);
        entry_count = entries_of(node, block, held.expression, count, entries);
        if (known_one < count) {
            entries[0] = (struct entry){known_one, 0};
            entry_count = 1;
        }
        varies |= varies_elsewhere(node, wait, varies, known_one < count);
        if (block->unresolved && !now.follow_waited)
            add_unresolved(section, block->end - 1, "an indexed branch whose targets are not listed", 0);
    }
    for (unsigned i = 0; entry_count == 0 && i < count; i++)
        jump_by_table(node, ways, count, &(struct entry){i, 0}, 1, wait, varies, known, registers);
    jump_by_table(node, ways, count, entries, entry_count, wait, varies, known, registers);
}

/* What is asked: the guard and the predicate operand. Formula 0: unknown. */
static struct value asked_of(node_id node, uint32_t index, const struct registers *registers, bool *guarded)
{
    const struct instruction *last = &now.nodes[node].section->code[index];
    struct value asked = {.expression = EXPR_TRUE, .known = 1};
    uint16_t reg;
    bool negated, always;
    if (last->guarded)
        asked = predicate_value(registers, last->guard, last->guard_negated);
    *guarded = last->guarded;
    if (!extra_predicate(last, &reg, &negated, &always))
        return asked;
    *guarded = true;
    struct value second = predicate_value(registers, always ? NO_REGISTER : reg, negated);
    asked.varies |= second.varies;
    asked.expression = asked.expression && second.expression ? conjunction(asked.expression, second.expression) : 0;
    note_formula(asked.expression, node, index);
    return asked;
}

/* Whether all threads of a block can end here: those that do not, wait otherwise. */
static bool all_may_end(node_id node, struct value asked, constraints known)
{
    const struct section *section = now.nodes[node].section;
    struct a_case cases[MOST_CASES];
    if (section->blocks[now.nodes[node].block].falls == NO_BLOCK || wait_ahead_of(node_after(node)).answer != YES)
        return true;
    unsigned count = cases_of(asked.expression, asked.varies, known, cases);
    for (unsigned i = 0; i < count; i++)
        if (!cases[i].varies && (!asked.expression || assume(asked.expression, true, cases[i].constraints) != INFEASIBLE))
            return true;
    return false;
}

void leave(node_id node, enum progress wait, constraints known, struct registers *registers)
{
    struct section *section = now.nodes[node].section;
    const struct block *block = &section->blocks[now.nodes[node].block];
    bool guarded, stays = block->last == KIND_RECONVERGE || block->last == KIND_COLLECTIVE;
    struct value asked = asked_of(node, block->end - 1, registers, &guarded);
    if (block->last == KIND_BRANCH || block->last == KIND_RETURN) {
        branch(node, block, asked, wait, known, registers);
        return;
    }
    constraints taken = asked.expression ? assume(asked.expression, true, known) : known;
    constraints passed = asked.expression ? assume(asked.expression, false, known) : known;
    note_varies(node, asked.varies);
    if (now.learning)
        now.nodes[node].edges.traps = block->last == KIND_TRAP && block->falls == NO_BLOCK;
    if (block->falls != NO_BLOCK && ((guarded && passed != INFEASIBLE) || stays)) /* first, because a call changes registers */
        go(node, node_after(node), wait, passed != INFEASIBLE ? passed : known, registers);
    if (taken == INFEASIBLE)
        return;
    if (block->last == KIND_EXIT && !now.follow_waited) {
        add_place(FOUND_EXIT, section, block->end - 1);
        if (wait == FRESH && !now.learning && all_may_end(node, asked, known))
            add_place(FOUND_END, section, block->end - 1);
    } else if (block->last == KIND_CALL) {
        call(node, wait, taken, registers);
    } else if (block->last == KIND_INDEXED_BRANCH || stays) {
        jump(node, block, asked.varies, wait, taken, registers);
    }
}
