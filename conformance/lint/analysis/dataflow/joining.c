/* What is known where two ways to a node meet: what holds on both. */
#include "dataflow/dataflow.h"

#include <string.h>

static inline bool equal(const struct value *a, const struct value *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline void note_lost(node_id node, expr old, expr new)
{
    if (old != new && is_number_or_part(old) && now.nodes[node].section->blocks[now.nodes[node].block].in_loop)
        now.nodes[node].loses_numbers = true;
}

/* False on one way and a formula on the other, as where "a && b" ends early: there is a choice, and where it is true the formula
 * holds. 0: it is not so. */
static expr false_or(expr choice, expr old, expr new)
{
    const struct node *node = node_of(old);
    bool made = node->tag == TAG_AND && node->kids[0] == choice;
    if (made)
        return new == EXPR_FALSE || new == node->kids[1] ? old : 0;
    expr formula = old == EXPR_FALSE ? new : old;
    if ((old != EXPR_FALSE && new != EXPR_FALSE) || is_number(formula) || !formula_is_small(formula))
        return 0;
    return conjunction(choice, formula);
}

/* What a predicate is where two ways with these formulas meet, outside loops; 0: unknown. */
static expr joined_formula(node_id at, uint16_t reg, expr old, expr new, uint8_t varies)
{
    const struct node_state *node = &now.nodes[at];
    if (old == 0 || new == 0 || node->section->blocks[node->block].in_loop)
        return 0;
    expr site = site_result(JOIN_SITE | node->first_site, reg), both = false_or(atom(site), old, new);
    if (both == 0)
        both = negation(false_or(atom(site), negation(old), negation(new)));
    if (both != 0 && varies & VARIES_BY_THREAD)
        note_varying_site(site);
    return both;
}

struct meeting { /* of two ways to a node */
    uint8_t split;           /* 0: they came on the same way; else enum varies of a difference between them */
    const struct ways *ways; /* what holds on the new one; NULL: nothing is known of it */
    expr old;                /* what holds on the old one and not on the new one; 0: not known */
    uint8_t varies;          /* of these conditions */
};

static struct meeting meeting_of(const struct state *old, const struct registers *new)
{
    struct meeting met = {.split = old->split & new->split};
    if (new->ways.held[0] == 0 || now.naming)
        return met;
    met.ways = &new->ways;
    met.old = parted_by(&old->ways, &new->ways);
    for (unsigned i = 0; i < MOST_WAYS && new->ways.held[i] != 0; i++)
        for (uint8_t by = 1; by <= VARIES_IN_ANY_WAY; by <<= 1)
            met.varies |= leaf_varies(new->ways.held[i], by) ? by : 0;
    return met;
}

/* The choice between both that the conditions make which told their ways apart; 0: they are not known. */
static expr chosen_by_way(const struct meeting *met, uint16_t reg, expr old, expr new)
{
    if (met->ways && is_chosen(old, met->ways, new))
        return old;
    return chosen_by(reg, met->old, old, new);
}

/* The choice between two values that differ. In a function that is called again a predicate is rather told by the join alone: the
 * conditions would be kept apart for each of its calls, which are too many states. */
static void choose(node_id node, uint16_t reg, expr old, expr new, const struct meeting *met, struct value *both)
{
    expr chosen = chosen_by_way(met, reg, old, new), named = 0;
    both->varies |= met->split;
    if (is_predicate(reg) && (!chosen || is_called_again(now.nodes[node].context)))
        named = joined_formula(node, reg, old, new, both->varies);
    if (chosen && !named)
        both->varies |= met->varies;
    if (chosen || is_predicate(reg))
        both->expression = named ? named : chosen;
}

/* What holds of both; true if that is less than the old. */
static bool join_value(node_id node, uint16_t reg, struct value *old, struct value new, const struct meeting *met, expr variable)
{
    struct value both = {0};
    if (new.known) {
        both = joined(*old, new);
        if (old->expression != new.expression)
            choose(node, reg, old->expression, new.expression, met, &both);
        if (variable)
            both.expression = variable;
    }
    bool less = !equal(&both, old);
    *old = both;
    return less;
}

/* Whether joining would leave the old value as it is; if false, it may all the same. */
static inline bool covers(const struct value *old, const struct value *new, uint8_t split)
{
    bool same = old->expression == new->expression;
    uint8_t varies = new->varies | (same ? 0 : split);
    if (now.naming) /* every difference gets a name */
        return equal(old, new);
    return new->known && (same || !old->expression) && (!new->provenance || new->provenance == old->provenance) && !(varies & ~old->varies);
}

static bool join_words(node_id node, struct state *old, const struct registers *new, const struct meeting *met)
{
    size_t kept_words = 0, at = 0;
    bool less = false;
    for (size_t i = 0; i < old->word_count; i++) {
        struct memory_word *word = &old->words[i];
        while (at < new->word_count && memory_compare(&new->words[at].key, &word->key) < 0)
            at++;
        if (at == new->word_count || memory_compare(&new->words[at].key, &word->key) != 0)
            continue;
        const struct value *other = &new->words[at].value;
        expr variable = now.naming ? variable_of(node, NO_REGISTER, &word->key, word->value.expression, other->expression) : 0;
        note_lost(node, word->value.expression, other->expression);
        if (!covers(&word->value, other, met->split))
            less = join_value(node, NO_REGISTER, &word->value, *other, met, variable) || less;
        old->words[kept_words++] = *word;
    }
    less = less || kept_words != old->word_count;
    old->word_count = kept_words;
    return less;
}

static bool join_run(node_id node, struct run run, struct value *old, const struct registers *new, const struct meeting *met)
{
    bool less = false;
    for (unsigned i = 0; i < run.count; i++) {
        uint16_t reg = (uint16_t)(run.first + i);
        const struct value *other = &new->file[reg];
        if (old[i].known && !equal(&old[i], other) && !covers(&old[i], other, met->split)) {
            expr variable = now.naming ? variable_of(node, reg, NULL, old[i].expression, other->expression) : 0;
            note_lost(node, old[i].expression, other->expression);
            less = join_value(node, reg, &old[i], *other, met, variable) || less;
        }
    }
    return less;
}

static bool join_phases(struct phases *old, const struct phases *new)
{
    struct phases before = *old;
    old->block_debt = new->block_debt > old->block_debt ? new->block_debt : old->block_debt;
    old->cluster_debt = new->cluster_debt > old->cluster_debt ? new->cluster_debt : old->cluster_debt;
    old->lane_waits = old->lane_waits && new->lane_waits;
    old->cluster_arrived = old->cluster_arrived || new->cluster_arrived;
    for (unsigned i = 0; i < NAMED_BARRIERS; i++)
        old->named[i] = new->named[i] < old->named[i] ? new->named[i] : old->named[i];
    return memcmp(&before, old, sizeof before) != 0;
}

bool join_state(node_id node, struct state *old, const struct registers *new)
{
    const struct live *live = now.nodes[node].live;
    const struct meeting met = meeting_of(old, new);
    const struct ways ways = ways_met(&old->ways, &new->ways);
    bool less = met.split != old->split || memcmp(&ways, &old->ways, sizeof ways) != 0;
    struct value *value = old->values;
    for (uint32_t n = 0; n < live->run_count; value += live->runs[n++].count) {
        const struct run run = live->runs[n];
        if (memcmp(value, &new->file[run.first], run.count * sizeof *value) != 0)
            less = join_run(node, run, value, new, &met) || less;
    }
    less = join_words(node, old, new, &met) || less;
    if (old->passed.section == NULL)
        old->passed = new->passed; /* tells people where to look, and decides nothing */
    less = join_phases(&old->phases, &new->phases) || less;
    old->split = met.split;
    old->ways = ways;
    return less;
}
