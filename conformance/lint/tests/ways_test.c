/* ways_test.c - what is kept of open branches (ways.c), against all that can be the case: a few conditions that know nothing of each
 * other, and where the thread's number lies. */
#include "dataflow/dataflow.h"

#include <stdio.h>
#include <string.h>

enum { ATOMS = MOST_WAYS + 1, WORLDS = 4 << ATOMS, ROUNDS = 5000 };

static unsigned failed;

static void check(bool holds, const char *what)
{
    failed += !holds;
    if (!holds)
        printf("FAILED %s\n", what);
}

static expr atoms[ATOMS], low, high, half; /* thread < 16, thread >= 48, thread < 32 */

static void begin(void)
{
    values_begin();
    ways_begin();
    for (unsigned i = 0; i < ATOMS; i++)
        atoms[i] = atom(site_result(i + 1, 0));
    expr thread = special(name_of_text("SR_TID.X"));
    low = comparison(COMPARES_LT, false, thread, number(16));
    high = comparison(COMPARES_GE, false, thread, number(48));
    half = comparison(COMPARES_LT, false, thread, number(32));
}

static bool is_so(expr formula, unsigned world)
{
    const struct node *node = node_of(formula);
    unsigned thread = 16 * (world >> ATOMS) + 8; /* one of each range */
    if (node->tag == TAG_NOT)
        return !is_so(node->kids[0], world);
    if (node->tag == TAG_AND)
        return is_so(node->kids[0], world) && is_so(node->kids[1], world);
    if (node->tag == TAG_IN)
        return node->low <= thread && thread <= node->high;
    for (unsigned i = 0; i < ATOMS; i++)
        if (formula == atoms[i])
            return world >> i & 1;
    return formula == EXPR_TRUE;
}

static bool all_so(const struct ways *ways, unsigned world)
{
    for (unsigned i = 0; i < MOST_WAYS; i++)
        if (ways->held[i] != 0 && !is_so(ways->held[i], world))
            return false;
    return true;
}

static struct ways ways_of(expr oldest, expr second, expr third, expr latest)
{
    struct ways ways = {{0}};
    const expr noted[MOST_WAYS] = {oldest, second, third, latest};
    for (unsigned i = 0; i < MOST_WAYS; i++)
        note_way(&ways, noted[i]);
    return ways;
}

static bool held_are(const struct ways *ways, expr first, expr second, expr third, expr fourth)
{
    const expr wanted[MOST_WAYS] = {first, second, third, fourth};
    return memcmp(ways->held, wanted, sizeof wanted) == 0;
}

static bool is_second(expr e) { return e == atoms[1]; }
static bool is_outer(expr e) { return e == atoms[0] || e == atoms[3]; }

/* As many as are held, from that one back. */
static bool held_from(const struct ways *ways, const expr *latest)
{
    for (unsigned i = 0; i < MOST_WAYS; i++)
        if (ways->held[i] != latest[-(int)i])
            return false;
    return true;
}

static void test_notes(void)
{
    const expr *a = atoms;
    struct ways ways = {{0}};
    for (unsigned i = 0; i < MOST_WAYS; i++)
        note_way(&ways, a[i]);
    check(held_from(&ways, &a[MOST_WAYS - 1]), "the latest stands first");
    note_way(&ways, a[0]);
    check(held_from(&ways, &a[MOST_WAYS - 1]), "what is held last is not noted again");
    note_way(&ways, EXPR_TRUE);
    note_way(&ways, 0);
    check(held_from(&ways, &a[MOST_WAYS - 1]), "what says nothing is not noted");
    note_way(&ways, a[MOST_WAYS]);
    check(held_from(&ways, &a[MOST_WAYS]), "the oldest is forgotten");
    forget_ways(&ways, is_second);
    check(ways.held[MOST_WAYS - 2] == a[2] && ways.held[MOST_WAYS - 1] == 0, "the last one is forgotten");
    forget_ways(&ways, is_outer);
    check(ways.held[MOST_WAYS - 3] == a[2] && ways.held[MOST_WAYS - 2] == 0, "those behind one that is forgotten move up");
}

static void test_parted(void)
{
    const expr *a = atoms;
    struct ways old = ways_of(0, 0, a[0], a[1]), new = ways_of(0, 0, a[0], negation(a[1]));
    check(parted_by(&old, &new) == a[1], "the last branch parts two ways that began alike");
    check(parted_by(&new, &old) == negation(a[1]), "and the other way round");
    new = ways_of(0, 0, 0, a[2]);
    check(parted_by(&old, &new) == 0, "conditions that can hold at once part nothing");
    new = ways_of(0, 0, 0, a[0]);
    check(parted_by(&old, &new) == 0, "what leads on parts nothing from what leads there");
    check(parted_by(&new, &old) == 0, "nor the other way round");
    old = ways_of(0, 0, 0, low), new = ways_of(0, 0, 0, high);
    check(parted_by(&old, &new) == low, "numbers that exclude each other part two ways");
    old = ways_of(0, 0, a[1], a[0]), new = ways_of(0, 0, 0, negation(a[1]));
    check(parted_by(&old, &new) == a[1], "of two ways the shorter one tells them apart");
    old = ways_of(a[3], half, a[2], a[1]), new = ways_of(0, 0, 0, high);
    check(parted_by(&old, &new) == negation(high), "also where the last but one of its conditions excludes it");
    old = ways_of(a[0], a[1], a[2], negation(high)), new = ways_of(negation(low), a[3], a[4], negation(half));
    check(parted_by(&old, &new) == 0, "numbers that can still be the same do not");
    old = ways_of(low, a[0], a[1], a[2]), new = ways_of(0, 0, 0, high);
    check(parted_by(&old, &new) == negation(high), "the oldest of its conditions counts as well");
    check(parted_by(&new, &old) == high, "also where it is the longer one that excludes");
    old = ways_of(0, 0, 0, 0), new = ways_of(0, 0, low, high);
    check(parted_by(&old, &new) == 0 && parted_by(&new, &old) == 0, "a way that says nothing is parted from none");
    old = ways_of(0, 0, low, high), new = ways_of(0, 0, 0, a[0]);
    check(parted_by(&old, &new) == negation(a[0]), "a way that nobody takes is parted from all");
}

static void test_met(void)
{
    const expr *a = atoms;
    struct ways old = ways_of(0, 0, a[0], a[1]), new = ways_of(0, 0, a[0], negation(a[1])), met = ways_met(&old, &new);
    check(held_are(&met, a[0], 0, 0, 0), "where both ways of a branch meet, only what was known ahead of it is left");
    new = ways_of(0, 0, a[0], a[2]), met = ways_met(&old, &new);
    check(held_are(&met, disjunction(a[1], a[2]), a[0], 0, 0), "one or the other holds");
    new = ways_of(0, a[0], a[2], a[1]), met = ways_met(&old, &new);
    check(memcmp(&met, &old, sizeof met) == 0, "all that the old one holds stays where the new one holds more");
    old = ways_of(0, 0, half, a[0]), new = ways_of(0, 0, low, a[0]), met = ways_met(&old, &new);
    check(memcmp(&met, &old, sizeof met) == 0, "also what follows from what the new one holds");
    old = ways_of(0, 0, 0, a[1]), new = ways_of(0, 0, a[0], negation(a[1])), met = ways_met(&old, &new);
    check(held_are(&met, disjunction(a[1], a[0]), 0, 0, 0), "of the longer way what the shorter leaves open");
    old = ways_of(0, 0, a[0], negation(a[1])), new = ways_of(0, 0, 0, a[1]), met = ways_met(&old, &new);
    check(held_are(&met, disjunction(a[0], a[1]), 0, 0, 0), "whichever is the longer one");
    old = ways_of(a[4], a[0], a[1], a[2]), new = ways_of(a[0], a[1], a[2], a[3]), met = ways_met(&old, &new);
    check(held_are(&met, disjunction(a[4], a[3]), a[2], a[1], a[0]), "what the oldest of four says is met as well");
    old = ways_of(half, a[0], a[1], a[2]), new = ways_of(a[0], a[1], a[2], low), met = ways_met(&old, &new);
    check(memcmp(&met, &old, sizeof met) == 0, "and follows from the latest of four");
    old = ways_of(0, 0, half, a[1]), new = ways_of(0, 0, low, a[2]), met = ways_met(&old, &new);
    check(held_are(&met, disjunction(a[1], conjunction(low, a[2])), half, 0, 0), "what follows stays apart from what does not");
    old = ways_of(a[0], a[1], a[2], a[3]), new = ways_of(0, 0, 0, a[4]), met = ways_met(&old, &new);
    check(met.held[0] != 0 && met.held[1] == 0, "none of four stays as it is that the new one does not know");
}

/* A formula of so many nodes that it is too large, of which nothing is known. */
static expr large_formula(uint32_t site)
{
    expr all = EXPR_TRUE;
    for (unsigned i = 0; i < 30; i++)
        all = conjunction(all, atom(site_result(site + i, 0)));
    return all;
}

static void test_large_ones(void)
{
    expr large = large_formula(100);
    struct ways old = ways_of(0, 0, 0, large), new = ways_of(0, 0, 0, negation(large)), other = ways_of(0, 0, 0, atoms[0]);
    check(!formula_is_small(large) && parted_by(&old, &new) == 0, "a large condition parts nothing");
    struct ways first = ways_of(0, 0, 0, negation(atom(site_result(100, 0))));
    check(parted_by(&old, &first) == 0 && parted_by(&first, &old) == 0, "whichever is the large one");
    struct ways met = ways_met(&other, &old);
    check(held_are(&met, 0, 0, 0, 0), "and is not kept where ways meet");
}

/* random ways against all worlds --------------------------------------------------------------------------------------- */

static uint32_t drawn(uint32_t below)
{
    static uint64_t state = 20251123;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static expr drawn_condition(void)
{
    const expr basic[] = {atoms[0], atoms[1], atoms[2], atoms[3], atoms[4], low, high, half};
    expr formula = basic[drawn(8)], other = basic[drawn(8)];
    formula = drawn(2) ? formula : negation(formula);
    if (drawn(4) == 0)
        formula = drawn(2) ? conjunction(formula, negation(other)) : disjunction(formula, other);
    return formula == EXPR_FALSE ? EXPR_TRUE : formula;
}

/* As on the way through an analysis: what is noted can be the case. */
static void draw_branches(struct ways *ways, unsigned most)
{
    for (unsigned count = drawn(most + 1); count; count--) {
        expr formula = drawn_condition();
        for (unsigned world = 0; world < WORLDS; world++)
            if (all_so(ways, world) && is_so(formula, world)) {
                note_way(ways, formula);
                break;
            }
    }
}

static void test_random_ways(void)
{
    unsigned parted = 0, kept = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct ways old = {{0}};
        draw_branches(&old, 3);
        struct ways new = old;
        draw_branches(&old, MOST_WAYS);
        draw_branches(&new, MOST_WAYS);
        expr by = parted_by(&old, &new);
        struct ways met = ways_met(&old, &new);
        bool right = true;
        for (unsigned world = 0; world < WORLDS && right; world++) {
            bool on_old = all_so(&old, world), on_new = all_so(&new, world);
            right = (!on_old && !on_new) || all_so(&met, world);
            right = right && (by == 0 || ((!on_old || is_so(by, world)) && (!on_new || !is_so(by, world))));
        }
        check(right, "what is said of two ways is so in each world");
        parted += by != 0;
        kept += met.held[0] != 0;
    }
    check(parted > ROUNDS / 10 && kept > ROUNDS / 10, "something is said of many");
}

/* choices that the ways make --------------------------------------------------------------------------------------------- */

static bool is_value(expr e, expr wanted, unsigned world)
{
    const struct node *node = node_of(e);
    if (node->tag == TAG_SELECT)
        return is_value(node->kids[is_so(node->kids[0], world) ? 1 : 2], wanted, world);
    return e == wanted;
}

static void test_choices_of_numbers(void)
{
    const expr one = number(1), two = number(2), three = number(3);
    expr whole = select_of(atoms[0], one, two), inner = select_of(atoms[1], whole, three);
    struct ways yes = ways_of(0, 0, 0, atoms[0]), no = ways_of(0, 0, 0, negation(atoms[0])), other = ways_of(0, 0, 0, atoms[2]);
    check(is_chosen(whole, &yes, one) && !is_chosen(whole, &yes, two), "where it holds, the first is chosen");
    check(is_chosen(whole, &no, two) && !is_chosen(whole, &no, one), "where it does not, the second");
    check(!is_chosen(whole, &other, one) && !is_chosen(whole, &other, two), "elsewhere neither is known to be");
    check(!is_chosen(0, &yes, one) && !is_chosen(whole, &yes, 0), "of what nothing is known nothing is said");
    yes = ways_of(0, 0, atoms[0], atoms[1]);
    check(is_chosen(inner, &yes, one) && !is_chosen(inner, &yes, three), "a choice within a choice");
    yes = ways_of(atoms[0], atoms[1], atoms[2], atoms[3]);
    check(is_chosen(inner, &yes, one), "by the oldest of four conditions");
    yes = ways_of(0, 0, 0, atoms[1]);
    check(!is_chosen(inner, &yes, one) && !is_chosen(inner, &yes, two) && is_chosen(inner, &yes, whole), "of which the inner one is open");
}

static void test_choices_of_extremes(void)
{
    expr thread = special(name_of_text("SR_TID.X")), smaller = chosen_by(0, low, thread, number(16));
    struct ways below = ways_of(atoms[0], atoms[1], atoms[2], low), above = ways_of(0, 0, 0, high), of_four = ways_of(low, atoms[0], atoms[1], atoms[2]);
    check(smaller != 0 && smaller != thread && is_chosen(smaller, &below, thread), "the smaller of two is the one that is below");
    check(is_chosen(smaller, &of_four, thread), "also by the oldest of four conditions");
    check(!is_chosen(smaller, &above, thread), "and not the one that is above");
}

static void test_choices_of_conditions(void)
{
    expr both = conjunction(atoms[0], atoms[1]), either = disjunction(atoms[0], atoms[1]);
    struct ways yes = ways_of(0, 0, 0, atoms[0]), no = ways_of(0, 0, 0, negation(atoms[0]));
    check(is_chosen(both, &yes, atoms[1]) && !is_chosen(both, &yes, EXPR_FALSE) && !is_chosen(both, &yes, atoms[2]), "what is left of both");
    check(is_chosen(both, &no, EXPR_FALSE) && !is_chosen(both, &no, atoms[1]), "both do not hold where one does not");
    check(is_chosen(either, &no, atoms[1]) && is_chosen(either, &yes, EXPR_TRUE) && !is_chosen(either, &no, EXPR_TRUE), "of either");
    expr large = large_formula(200);
    check(chosen_by(FIRST_P, atoms[0], large, negation(large)) == 0, "a choice that is too large is not made");
    check(chosen_by(FIRST_P, atoms[0], atoms[1], EXPR_FALSE) == both, "a small one is");
    check(chosen_by(FIRST_P, 0, atoms[1], EXPR_FALSE) == 0 && chosen_by(0, atoms[0], 0, number(1)) == 0, "and none of what is not known");
}

static void test_random_choices(void)
{
    unsigned said = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct ways ways = {{0}};
        draw_branches(&ways, MOST_WAYS);
        expr first = drawn_condition(), second = drawn_condition(), wanted = drawn(4) ? first : second;
        expr by = ways.held[0] && drawn(2) ? ways.held[0] : drawn_condition(), whole = chosen_by(FIRST_P, by, first, second);
        expr picked = number(drawn(2)), of_numbers = select_of(by, number(0), number(1));
        bool is = whole && is_chosen(whole, &ways, wanted), is_number = of_numbers && is_chosen(of_numbers, &ways, picked), right = true;
        for (unsigned world = 0; world < WORLDS && right; world++) {
            right = !whole || is_so(whole, world) == is_so(is_so(by, world) ? first : second, world);
            right = right && (!is || !all_so(&ways, world) || is_so(whole, world) == is_so(wanted, world));
            right = right && (!is_number || !all_so(&ways, world) || is_value(of_numbers, picked, world));
        }
        check(right, "what is said of a choice is so in each world");
        said += is + is_number;
    }
    check(said > ROUNDS / 10, "something is said of many choices");
}

int main(void)
{
    begin();
    test_notes();
    test_parted();
    test_met();
    test_large_ones();
    test_random_ways();
    test_choices_of_numbers();
    test_choices_of_extremes();
    test_choices_of_conditions();
    test_random_choices();
    return failed != 0;
}
