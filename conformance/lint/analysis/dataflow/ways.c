/* Which way was taken: what holds of the open branches on the way to a node, for as long as their ways have not met again. Where they
 * meet, it tells which of two values is held: each on its own way. */
#include "dataflow/dataflow.h"

#include <string.h>

enum { PAIRS = 1 << 10 }; /* remembered */

static bool holds_in(const struct ways *ways, expr formula)
{
    for (unsigned i = 0; i < MOST_WAYS; i++)
        if (ways->held[i] == formula)
            return true;
    return false;
}

void note_way(struct ways *ways, expr formula)
{
    if (formula == 0 || formula == EXPR_TRUE || holds_in(ways, formula))
        return;
    memmove(ways->held + 1, ways->held, sizeof ways->held - sizeof *ways->held); /* the oldest is forgotten */
    ways->held[0] = formula;
}

void forget_ways(struct ways *ways, bool (*forgotten)(expr))
{
    unsigned kept = 0;
    for (unsigned i = 0; i < MOST_WAYS; i++)
        if (!forgotten(ways->held[i]))
            ways->held[kept++] = ways->held[i];
    memset(ways->held + kept, 0, (MOST_WAYS - kept) * sizeof *ways->held);
}

/* What holds on this way only. */
static struct ways own_of(const struct ways *ways, const struct ways *others)
{
    struct ways own = {{0}};
    for (unsigned i = 0, count = 0; i < MOST_WAYS; i++)
        if (!holds_in(others, ways->held[i]))
            own.held[count++] = ways->held[i];
    return own;
}

static expr all_of(const struct ways *ways)
{
    expr all = EXPR_TRUE;
    for (unsigned i = MOST_WAYS; i-- > 0;)
        all = ways->held[i] ? conjunction(all, ways->held[i]) : all;
    return all;
}

static bool excludes(const struct ways *ways, expr formula)
{
    constraints known = 0;
    if (holds_in(ways, negation(formula)))
        return true;
    for (unsigned i = 0; i < MOST_WAYS; i++)
        known = ways->held[i] ? assume(ways->held[i], true, known) : known;
    return assume(formula, true, known) == INFEASIBLE;
}

static expr find_parted(const struct ways *old, const struct ways *new)
{
    struct ways first = own_of(old, new), second = own_of(new, old);
    expr left = all_of(&first), right = all_of(&second);
    if (left == EXPR_TRUE || right == EXPR_TRUE || !formula_is_small(left) || !formula_is_small(right) || !excludes(&first, right))
        return 0;
    return first.held[1] == 0 ? left : negation(right);
}

/* One or the other: of the longer only what the shorter leaves open. */
static expr one_of(const struct ways *first, const struct ways *second)
{
    expr left = all_of(first), right = all_of(second);
    if (first->held[1] == 0)
        right = where_holds(right, negation(left));
    else
        left = where_holds(left, negation(right));
    return disjunction(left, right);
}

static struct ways find_met(const struct ways *old, const struct ways *new)
{
    struct ways own = own_of(old, new), other = own_of(new, old);
    unsigned left = 0;
    for (unsigned i = 0; i < MOST_WAYS && own.held[i] != 0; i++)
        if (!excludes(new, negation(own.held[i]))) /* it does not hold on both */
            own.held[left++] = own.held[i];
    memset(own.held + left, 0, (MOST_WAYS - left) * sizeof *own.held);
    if (left == 0)
        return *old;
    struct ways met = own_of(old, &own);
    expr both = one_of(&own, &other);
    if (formula_is_small(both))
        note_way(&met, both);
    return met;
}

/* What was found out of two ways: many states meet on the same ones. */
static struct pair {
    struct ways old, new, both;
    expr parted;
    bool met_known, parted_known;
} pairs[PAIRS];

void ways_begin(void)
{
    memset(pairs, 0, sizeof pairs);
}

static struct pair *pair_of(const struct ways *old, const struct ways *new)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < MOST_WAYS; i++) {
        hash = (hash ^ old->held[i]) * 0x9E3779B97F4A7C15u;
        hash = (hash ^ hash >> 32 ^ (uint64_t)new->held[i] << 20) * 0x9E3779B97F4A7C15u;
    }
    struct pair *pair = &pairs[hash >> 32 & (PAIRS - 1)];
    if (memcmp(&pair->old, old, sizeof *old) != 0 || memcmp(&pair->new, new, sizeof *new) != 0)
        *pair = (struct pair){.old = *old, .new = *new};
    return pair;
}

expr parted_by(const struct ways *old, const struct ways *new)
{
    struct pair *pair = pair_of(old, new);
    if (!pair->parted_known)
        pair->parted = find_parted(old, new);
    pair->parted_known = true;
    return pair->parted;
}

struct ways ways_met(const struct ways *old, const struct ways *new)
{
    if (memcmp(old, new, sizeof *old) == 0)
        return *old;
    struct pair *pair = pair_of(old, new);
    if (!pair->met_known)
        pair->both = find_met(old, new);
    pair->met_known = true;
    return pair->both;
}
