/* Numbers kept apart: a variable that a loop sets to numbers in turn, the state of a state machine, would be joined at the
 * loop's head, and code of any of its states would be possible in all of them.
 *
 * A naming pass gives each register and word at whose join a number is lost a name, a variable, and looks which of them
 * conditions depend on. A last pass follows the numbers of these one by one. It only happens where something was found, and
 * only ahead of a wait; if there are too many paths or numbers, they are joined as before.
 */
#include "dataflow/dataflow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 1 << 16, MOST_IN_ONE = 8 };

static struct variable {
    bool asked;
    uint32_t *from; /* variables that it is joined of */
    size_t from_count, from_capacity;
} *variables;
static size_t variable_count, variable_capacity;

/* the naming pass ---------------------------------------------------------------------------------------------------- */

void note_variables(expr asked)
{
    uint32_t list[MOST_IN_ONE];
    if (!now.naming)
        return;
    for (unsigned count = variables_in(asked, list, MOST_IN_ONE); count; count--)
        variables[list[count - 1]].asked = true;
}

static bool is_of_numbers(expr e)
{
    const struct node *node = node_of(e);
    if (e != 0 && node->tag == TAG_SELECT)
        return is_of_numbers(node->kids[1]) && is_of_numbers(node->kids[2]);
    return is_number_or_part(e);
}

static struct slot *slot_of(struct node_state *node, uint16_t reg, const struct memory_key *key)
{
    for (size_t i = 0; i < node->slot_count; i++)
        if (node->slots[i].reg == reg && (key == NULL || memory_compare(key, &node->slots[i].key) == 0))
            return &node->slots[i];
    return NULL;
}

static struct slot *new_slot(struct node_state *node, uint16_t reg, const struct memory_key *key)
{
    node->slots = grown(node->slots, &node->slot_capacity, node->slot_count + 1, sizeof *node->slots);
    struct slot *slot = &node->slots[node->slot_count++];
    *slot = (struct slot){.reg = reg};
    if (key != NULL)
        slot->key = *key;
    return slot;
}

static void comes_from(uint32_t variable, expr e)
{
    uint32_t list[MOST_IN_ONE];
    for (unsigned count = variables_in(e, list, MOST_IN_ONE); count; count--) {
        struct variable *to = &variables[variable];
        size_t known = 0;
        while (known < to->from_count && to->from[known] != list[count - 1])
            known++;
        if (known < to->from_count || list[count - 1] == variable)
            continue;
        to->from = grown(to->from, &to->from_capacity, to->from_count + 1, sizeof *to->from);
        to->from[to->from_count++] = list[count - 1];
    }
}

expr variable_of(node_id at, uint16_t reg, const struct memory_key *key, expr old, expr new)
{
    struct node_state *node = &now.nodes[at];
    uint32_t ignored;
    struct slot *slot = slot_of(node, reg, key);
    if (slot == NULL) {
        bool counts = is_of_numbers(old) || is_of_numbers(new);
        counts = counts || variables_in(old, &ignored, 1) || variables_in(new, &ignored, 1);
        if (old == new || !counts || variable_count >= MOST_VARIABLES)
            return 0;
        slot = new_slot(node, reg, key);
        variables = grown(variables, &variable_capacity, variable_count + 1, sizeof *variables);
        variables[variable_count].asked = false;
        variables[variable_count].from_count = 0;
        slot->variable = (uint32_t)variable_count++;
    }
    comes_from(slot->variable, old);
    comes_from(slot->variable, new);
    expr named = site_result(VARIABLE_SITE | slot->variable, 0);
    return is_predicate(reg) ? atom(named) : named;
}

/* If a variable is needed, so are those that it is joined from. */
static bool spread_asked(void)
{
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t v = 0; v < variable_count; v++) {
            any = any || variables[v].asked;
            for (size_t i = 0; i < variables[v].from_count && variables[v].asked; i++) {
                changed = changed || !variables[variables[v].from[i]].asked;
                variables[variables[v].from[i]].asked = true;
            }
        }
    }
    return any;
}

static bool is_asked(expr e)
{
    uint32_t list[MOST_IN_ONE];
    unsigned count = variables_in(e, list, MOST_IN_ONE);
    for (unsigned i = 0; i < count; i++)
        if (variables[list[i]].asked)
            return true;
    return false;
}

/* A node keeps the numbers of whatever held, at its entry, something that comes from a variable that is needed. */
static bool choose_slots(struct node_state *node, bool wanted)
{
    node->slot_count = 0;
    for (size_t s = 0; s < node->state_count && wanted; s++) {
        const struct state *state = &node->states[s];
        for (uint32_t i = 0; i < node->live->count && node->slot_count < MOST_SLOTS; i++)
            if (is_asked(state->values[i].expression) && slot_of(node, node->live->reg[i], NULL) == NULL)
                new_slot(node, node->live->reg[i], NULL);
        for (size_t i = 0; i < state->word_count && node->slot_count < MOST_SLOTS; i++)
            if (is_asked(state->words[i].value.expression) && slot_of(node, NO_REGISTER, &state->words[i].key) == NULL)
                new_slot(node, NO_REGISTER, &state->words[i].key);
    }
    return node->slot_count != 0;
}

static bool find_slots(void)
{
    uint8_t *reaching = reaching_nodes();
    bool any = false;
    for (size_t n = 0; n < now.node_count; n++)
        any = (reaching[n] && now.nodes[n].loses_numbers) || any;
    if (any) {
        variable_count = 0;
        now.naming = true;
        now.keep_constraints = false;
        evaluator_follow(FOLLOWS_VARIABLES);
        propagate();
        evaluator_follow(0);
        now.naming = false;
        now.keep_constraints = true;
        any = spread_asked();
    }
    bool found = false;
    for (size_t n = 0; n < now.node_count; n++) {
        struct node_state *node = &now.nodes[n];
        if (choose_slots(node, any && reaching[n]))
            found = found || node->section->blocks[node->block].in_loop;
    }
    free(reaching);
    return found;
}

/* the last pass ------------------------------------------------------------------------------------------------------- */

static struct value *held_in(const struct slot *slot, const struct registers *registers)
{
    if (slot->reg != NO_REGISTER)
        return (struct value *)&registers->file[slot->reg];
    return stored_word(registers, &slot->key);
}

static bool is_choice(expr e)
{
    const struct node *node = node_of(e);
    return e != 0 && ((node->tag == TAG_ANY && is_one_of_numbers(e)) || (node->tag == TAG_SELECT && is_of_numbers(e)));
}

bool enter_each_choice(node_id target, enum progress wait, constraints known, const struct registers *registers)
{
    for (size_t i = 0; i < now.nodes[target].slot_count; i++) {
        struct value *held = held_in(&now.nodes[target].slots[i], registers);
        if (held == NULL || !is_choice(held->expression))
            continue;
        expr whole = held->expression; /* put back below */
        struct node node = *node_of(whole);
        for (unsigned kid = node.tag == TAG_SELECT; kid < node.kid_count; kid++) {
            constraints there = node.tag == TAG_SELECT ? assume(node.kids[0], kid == 1, known) : known;
            held->expression = node.kids[kid];
            if (there != INFEASIBLE)
                enter(target, wait, there, registers);
        }
        held->expression = whole;
        return true;
    }
    return false;
}

static bool is_kept_number(struct slot *slot, expr n)
{
    for (unsigned i = 0; i < slot->seen_count; i++)
        if (slot->seen[i] == n)
            return true;
    if (slot->seen_count == MOST_NUMBERS)
        return false;
    slot->seen[slot->seen_count++] = n;
    return true;
}

expr *numbers_of(node_id at, const struct registers *registers)
{
    struct node_state *node = &now.nodes[at];
    expr found[MOST_SLOTS], *kept = NULL;
    bool any = false;
    for (size_t i = 0; i < node->slot_count; i++) {
        const struct value *held = held_in(&node->slots[i], registers);
        expr e = held != NULL ? held->expression : 0;
        bool keeps = is_number_or_part(e) && is_kept_number(&node->slots[i], e);
        found[i] = keeps ? e : 0;
        any = any || keeps;
    }
    if (any) {
        kept = lent(node->slot_count * sizeof *kept);
        memcpy(kept, found, node->slot_count * sizeof *kept);
    }
    return kept;
}

bool same_numbers(node_id at, const expr *left, const expr *right)
{
    if (left == NULL || right == NULL)
        return left == right;
    return memcmp(left, right, now.nodes[at].slot_count * sizeof *left) == 0;
}

/* Both the pass before and this one find all that can happen, so the better of them counts. */
void partition_states(void)
{
    struct findings before = *now.found;
    *now.found = (struct findings){0};
    bool done = find_slots();
    now.partitioned = true;
    now.enough = before.state_count;
    evaluator_follow(KEEPS_CHOICES);
    for (bool more = done; done && more; more = keep_more(false))
        done = propagate();
    now.partitioned = false;
    evaluator_follow(0);
    if (!done || (now.asked_signals && !now.heard) || now.found->access_count > before.access_count)
        *now.found = before;
}
