/* Which way was taken: what holds of the open branches on the way to a node, for as long as their ways have not met again. Where they
 * meet, it tells which of two values is held: each on its own way. */
#include "dataflow/dataflow.h"

#include <string.h>

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

expr parted_by(const struct ways *old, const struct ways *new)
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

struct ways ways_met(const struct ways *old, const struct ways *new)
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
