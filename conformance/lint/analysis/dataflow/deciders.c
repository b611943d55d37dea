/* Parameters that decide whether the kernel waits at all: what would be found if they said that it does?
 *
 * A branch decides if one of its ways leads to a wait wherever it goes on, the other does not, and nothing but parameters is
 * asked. The paths are then followed once more, on the assumption that each such branch takes the way with the wait. What is no
 * longer found depends on these parameters alone, and so on how the host launches the kernel.
 *
 * If one condition decides, the paths are followed a third time, on the opposite assumption: together these two are all there is,
 * each knows more than both at once, and what neither finds is no finding.
 */
#include "dataflow/dataflow.h"

#include <string.h>

static bool *waits_surely; /* by node: whichever way is taken from its start, there is a wait */
static size_t waits_capacity;
static struct {
    unsigned count; /* of what was assumed */
    constraints opposite; /* of the first */
    bool inside; /* a guarded wait was among it */
} assumptions;

static bool ends_in_wait(const struct edges *edges)
{
    return edges->target_count == 0 && edges->event_count && edges->events[edges->event_count - 1].kind == EVENT_WAIT;
}

/* From what the nodes that follow it have, until nothing changes: a loop waits if all ways out of it do. */
static void find_sure_waits(void)
{
    waits_surely = grown(waits_surely, &waits_capacity, now.node_count, sizeof *waits_surely);
    for (size_t n = 0; n < now.node_count; n++)
        waits_surely[n] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t n = now.node_count; n-- > 0;) {
            const struct edges *edges = &now.nodes[n].edges;
            if (!waits_surely[n] || !edges->known || edges->traps || ends_in_wait(edges))
                continue;
            bool surely = edges->target_count > 0;
            for (size_t i = 0; i < edges->target_count; i++)
                surely = surely && waits_surely[edges->targets[i]];
            waits_surely[n] = surely;
            changed = changed || !surely;
        }
    }
}

static void add_offset(uint32_t offset)
{
    struct deciders *deciders = &now.found->deciders;
    for (size_t i = 0; i < deciders->count; i++)
        if (deciders->offset[i] == offset)
            return;
    deciders->offset = grown(deciders->offset, &deciders->capacity, deciders->count + 1, sizeof *deciders->offset);
    deciders->offset[deciders->count++] = offset;
}

static bool is_parameter(const struct node *node)
{
    uint32_t base = now.kernel->parameter_base;
    return node->tag == TAG_CONSTANT && node->a == 0 && node->b >= base && node->b - base < now.kernel->parameter_bytes;
}

/* The offset of a byte that is shifted out of a word, else that of the word. */
static bool shifted_parameter(const struct node *node, bool add)
{
    uint32_t bits;
    const struct node *word = node_of(node->kids[0]);
    if (node->tag != TAG_OPERATION || node->a != OPERATION_SHIFT_RIGHT || !is_parameter(word) || !is_number_of(node->kids[1], &bits))
        return false;
    if (add)
        add_offset(word->b - now.kernel->parameter_base + (bits & 31) / 8);
    return true;
}

/* Whether nothing but parameters is asked; `add`: their offsets are added to the findings. */
static bool of_parameters(expr e, bool add)
{
    const struct node *node = node_of(e);
    switch (node->tag) {
    case TAG_NUMBER: return true;
    case TAG_CONSTANT:
        if (add && is_parameter(node))
            add_offset(node->b - now.kernel->parameter_base);
        return is_parameter(node);
    case TAG_IN:
    case TAG_ATOM: return of_parameters(node->a, add);
    case TAG_SPECIAL:
    case TAG_SYMBOL:
    case TAG_SITE:
    case TAG_PART:
    case TAG_ANY: return false;
    default: break;
    }
    if (node->kid_count == 2 && shifted_parameter(node, add))
        return true;
    for (unsigned i = 0; i < node->kid_count; i++)
        if (!of_parameters(node->kids[i], add))
            return false;
    return true;
}

static constraints assumed_too(expr formula, bool holds, constraints known, const struct section *section, uint32_t index)
{
    constraint_key keys[64];
    if (formula == 0 || node_of(formula)->tag == TAG_NUMBER || !of_parameters(formula, false))
        return known;
    constraints more = assume(formula, holds, known);
    if (more == INFEASIBLE || more == known)
        return known;
    unsigned count = constraint_keys(formula, keys, 64);
    note_keys(keys, count, section, index);
    note_keys(keys, count, section, index + 1); /* asked at two places: kept */
    of_parameters(formula, true);
    if (assumptions.count++ == 0)
        assumptions.opposite = assume(formula, !holds, known);
    if (known == 0)
        now.found->deciders.place = (struct place){image.sections + (section - image.sections), index};
    return more;
}

/* Waits in this node that have a guard. On the assumption they have none. */
static constraints assumed_inside(struct node_state *node, constraints known)
{
    const struct block *block = &node->section->blocks[node->block];
    constraints before = known;
    for (uint32_t i = block->start; i < block->end; i++)
        if (node->section->code[i].kind == KIND_WAIT && node->section->code[i].guarded)
            known = assumed_too(node->noted[i - block->start], true, known, node->section, i);
    assumptions.inside = assumptions.inside || known != before;
    for (size_t i = 0; i < node->edges.event_count && known != before; i++)
        if (node->edges.events[i].kind == EVENT_WAIT)
            node->edges.events[i].varies |= VARIES_BY_THREAD;
    return known;
}

/* The condition of the branch at the end of this node, if only one of its ways leads surely to a wait; 0: there is none. */
static expr condition_at_end(node_id id, const node_id **ways, bool *jumps_to_wait)
{
    const struct node_state *node = &now.nodes[id];
    const struct block *block = &node->section->blocks[node->block];
    unsigned jumps;
    if (!node->edges.known || node->noted == NULL || block->last != KIND_BRANCH || block->falls == NO_BLOCK)
        return 0;
    *ways = ways_out(id, &jumps);
    node = &now.nodes[id]; /* ways_out may have moved it */
    if (jumps != 1 || waits_surely[(*ways)[0]] == waits_surely[(*ways)[1]])
        return 0;
    *jumps_to_wait = waits_surely[(*ways)[0]];
    return node->noted[block->end - 1 - block->start];
}

static constraints assumed_at_end(node_id id, constraints known)
{
    const node_id *ways = NULL;
    bool jumps_to_wait = false;
    expr formula = condition_at_end(id, &ways, &jumps_to_wait);
    const struct node_state *node = &now.nodes[id];
    return assumed_too(formula, jumps_to_wait, known, node->section, node->section->blocks[node->block].end - 1);
}

/* Decided, a branch has one way; what an earlier assumption decided has both again. */
static void leave_one_way(size_t count, constraints known)
{
    for (size_t n = 0; n < count; n++) {
        const node_id *ways = NULL;
        bool jumps_to_wait = false;
        expr formula = condition_at_end((node_id)n, &ways, &jumps_to_wait);
        struct edges *edges = &now.nodes[n].edges;
        enum truth jumps = formula ? truth(formula, known) : IS_OPEN;
        if (jumps == IS_OPEN && (formula == 0 || edges->target_count != 1))
            continue;
        edges->targets = grown(edges->targets, &edges->target_capacity, 2, sizeof *edges->targets);
        edges->targets[0] = ways[jumps == IS_FALSE];
        edges->targets[1] = ways[1];
        edges->target_count = jumps == IS_OPEN ? 2 : 1;
    }
    for (size_t n = 0; n < now.node_count; n++)
        now.nodes[n].ahead.answer = NOT_ASKED;
    revisions++;
}

static constraints gather_assumption(size_t count)
{
    constraints assumption = 0;
    memset(&assumptions, 0, sizeof assumptions);
    find_sure_waits();
    for (size_t n = 0; n < count; n++)
        if (now.nodes[n].edges.known && now.nodes[n].noted != NULL)
            assumption = assumed_at_end((node_id)n, assumed_inside(&now.nodes[n], assumption));
    return assumption;
}

static uint64_t key_of_access(const struct access *access)
{
    return ((uint64_t)(access->place.section - image.sections) << 32 | access->place.index) + 1;
}

/* What is found on an assumption. */
static void judge_assuming(size_t count, constraints assumption, struct findings *there)
{
    struct findings *found = now.found;
    now.assumed = assumption;
    leave_one_way(count, assumption);
    keep_more(true);
    now.asked_signals = now.heard = false;
    now.found = there;
    propagate_or_merge();
    if (now.asked_signals)
        judge_signals();
    now.found = found;
}

static void states_of(const struct findings *found, struct map *states)
{
    for (size_t i = 0; i < found->access_count; i++)
        map_put(states, key_of_access(&found->accesses[i]), found->accesses[i].states);
}

/* Each access learns how it would be found on the assumption, and how on either. */
static void compare_with(const struct findings *decided, const struct findings *opposite)
{
    struct map states = {0}, others = {0};
    size_t kept = 0;
    states_of(decided, &states);
    if (opposite != NULL)
        states_of(opposite, &others);
    for (size_t i = 0; i < now.found->access_count; i++) {
        struct access access = now.found->accesses[i];
        uint32_t there = 0, elsewhere = 0;
        map_get(&states, key_of_access(&access), &there);
        map_get(&others, key_of_access(&access), &elsewhere);
        access.decided_states = (uint8_t)there;
        if (opposite != NULL)
            access.states = (uint8_t)(there | elsewhere);
        if (access.states != 0)
            now.found->accesses[kept++] = access;
    }
    now.found->access_count = kept;
}

void judge_deciders(void)
{
    struct findings decided = {0}, opposite = {0};
    size_t count = now.node_count; /* as many as find_sure_waits saw */
    if (now.found->access_count == 0)
        return;
    constraints assumption = gather_assumption(count);
    if (assumption == 0)
        return;
    bool both = assumptions.count == 1 && !assumptions.inside && assumptions.opposite != INFEASIBLE;
    judge_assuming(count, assumption, &decided);
    if (both)
        judge_assuming(count, assumptions.opposite, &opposite);
    compare_with(&decided, both ? &opposite : NULL);
}
