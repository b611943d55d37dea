/* constraints.c - what is known on one path: which intervals an expression lies in, and which atoms are true. */
#include "domains/values_private.h"

enum {
    MOST_CONSTRAINTS = 1024,    /* of one path; no more are learnt */
    MOST_INTERVALS = 4096 /* of one expression; likewise */
};
enum domain { DOMAIN_NUMBER, DOMAIN_ATOM, DOMAINS }; /* intervals are of numbers without a sign */

struct interval {
    int64_t low, high;
};
struct constraint {
    constraint_key key;
    uint32_t value; /* a list of intervals, or whether the atom is true */
};

static struct lists constraint_lists = { .element_bytes = sizeof(struct constraint) }; /* sorted by key */
static struct lists interval_lists = { .element_bytes = sizeof(struct interval) };
static struct lists key_lists = { .element_bytes = sizeof(constraint_key) };
static struct map truths, assumptions, formula_keys, expression_keys;

void constraints_begin(void)
{
    lists_begin(&constraint_lists);
    lists_begin(&interval_lists);
    lists_begin(&key_lists);
    map_clear(&truths);
    map_clear(&assumptions);
    map_clear(&formula_keys);
    map_clear(&expression_keys);
}

static constraint_key key_of(expr e, enum domain domain) { return e * DOMAINS + (uint32_t)domain; }

/* Constraints ---------------------------------------------------------------------------------------------------------- */

/* The first constraint with this key or a larger one. */
static uint32_t place_of(struct list list, constraint_key key)
{
    const struct constraint *all = list.elements;
    uint32_t low = 0, high = list.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find(constraints known, constraint_key key, uint32_t *value)
{
    struct list list = list_of(&constraint_lists, known);
    uint32_t at = place_of(list, key);
    const struct constraint *all = list.elements;

    if (at == list.count || all[at].key != key)
        return false;
    *value = all[at].value;
    return true;
}

static struct constraint *scratch_constraints(size_t wanted)
{
    static struct constraint *scratch;
    static size_t capacity;

    if (wanted > capacity)
        scratch = grown(scratch, &capacity, wanted * 2 + 64, sizeof(*scratch));
    return scratch;
}

static constraints with_constraint(constraints known, constraint_key key, uint32_t value)
{
    struct list list = list_of(&constraint_lists, known);
    const struct constraint *old = list.elements;
    struct constraint *all = scratch_constraints((size_t)list.count + 1);
    uint32_t at = place_of(list, key), count = 0, i;

    for (i = 0; i < at; i++)
        all[count++] = old[i];
    all[count++] = (struct constraint){ key, value };
    for (i += at < list.count && old[at].key == key; i < list.count; i++)
        all[count++] = old[i];
    return count > MOST_CONSTRAINTS ? known : list_kept(&constraint_lists, all, count);
}

static uint32_t keys_of_formula(expr formula);

/* Two conditions that are not both true say something where each of them is asked. */
static bool parts_are_kept(constraint_key of, const uint8_t *kept, size_t count)
{
    expr formula = of / DOMAINS;
    struct list list;
    uint32_t i;

    if (of % DOMAINS != DOMAIN_ATOM || node_of(formula)->tag != TAG_AND)
        return false;
    list = list_of(&key_lists, keys_of_formula(formula));
    for (i = 0; i < list.count; i++) {
        constraint_key key = ((const constraint_key *)list.elements)[i];
        bool combines = key % DOMAINS == DOMAIN_ATOM && node_of(key / DOMAINS)->tag == TAG_AND;

        if (!combines && (key >= count || !kept[key]))
            return false;
    }
    return true;
}

constraints constraints_kept(constraints known, const uint8_t *kept, size_t count)
{
    struct list list = list_of(&constraint_lists, known == INFEASIBLE ? 0 : known);
    const struct constraint *old = list.elements;
    struct constraint *all = scratch_constraints(list.count);
    uint32_t left = 0, i;

    for (i = 0; i < list.count; i++)
        if ((old[i].key < count && kept[old[i].key]) || parts_are_kept(old[i].key, kept, count))
            all[left++] = old[i];
    return left == list.count ? known : list_kept(&constraint_lists, all, left);
}

constraints constraints_without(constraints known, bool (*drop)(expr))
{
    struct list list = list_of(&constraint_lists, known == INFEASIBLE ? 0 : known);
    const struct constraint *old = list.elements;
    struct constraint *all = scratch_constraints(list.count);
    uint32_t left = 0, i;

    for (i = 0; i < list.count; i++)
        if (!drop(old[i].key / DOMAINS))
            all[left++] = old[i];
    return left == list.count ? known : list_kept(&constraint_lists, all, left);
}

/* Sorted by where they begin; neighbours become one. */
static uint32_t united_intervals(uint32_t left, uint32_t right)
{
    static struct interval *merged;
    static size_t capacity;
    struct list a = list_of(&interval_lists, left), b = list_of(&interval_lists, right);
    const struct interval *first = a.elements, *second = b.elements;
    uint32_t count = 0, i = 0, k = 0;

    merged = grown(merged, &capacity, (size_t)a.count + b.count + 1, sizeof(*merged));
    while (i < a.count || k < b.count) {
        struct interval next = k == b.count || (i < a.count && first[i].low <= second[k].low) ? first[i++] : second[k++];

        if (count && next.low <= merged[count - 1].high + 1)
            merged[count - 1].high = next.high > merged[count - 1].high ? next.high : merged[count - 1].high;
        else
            merged[count++] = next;
    }
    return list_kept(&interval_lists, merged, count);
}

constraints constraints_common(constraints left, constraints right)
{
    struct list a = list_of(&constraint_lists, left), b = list_of(&constraint_lists, right);
    const struct constraint *first = a.elements, *second = b.elements;
    struct constraint *all;
    uint32_t count = 0, i = 0, k = 0;

    if (left == right)
        return left;
    all = scratch_constraints(a.count);
    while (i < a.count && k < b.count) {
        if (first[i].key != second[k].key) {
            if (first[i].key < second[k].key)
                i++;
            else
                k++;
            continue;
        }
        if (first[i].value == second[k].value)
            all[count++] = first[i];
        else if (first[i].key % DOMAINS != DOMAIN_ATOM)
            all[count++] = (struct constraint){ first[i].key, united_intervals(first[i].value, second[k].value) };
        i++;
        k++;
    }
    return list_kept(&constraint_lists, all, count);
}

/* Intervals ------------------------------------------------------------------------------------------------------ */

/* x of x & (2^m - 1), which is x itself where x is known to be small. */
static bool is_masked(expr base, expr *source, uint32_t *mask)
{
    return is_by_number(base, OPERATION_AND, source, mask) && ((*mask + 1) & *mask) == 0;
}

static bool all_within(struct list list, int64_t low, int64_t high)
{
    const struct interval *all = list.elements;
    uint32_t i;

    for (i = 0; i < list.count; i++)
        if (all[i].low < low || all[i].high > high)
            return false;
    return true;
}

static struct list intervals_of(expr base, constraints known);

/* The larger of x and a number: x of it, and the number. */
static bool is_at_least(expr base, expr *source, uint32_t *least, bool *is_signed)
{
    *is_signed = is_by_number(base, OPERATION_MAX_SIGNED, source, least) && *least <= INT32_MAX;
    return *is_signed || is_by_number(base, OPERATION_MAX_UNSIGNED, source, least);
}

/* Of the larger of x and a number; of numbers with a sign, negative ones become that number. */
static struct interval at_least(struct list list, int64_t least, bool is_signed)
{
    const struct interval *all = list.elements;
    struct interval found = { UINT32_MAX, 0 };
    uint32_t i;

    for (i = 0; i < list.count; i++) {
        bool negative = is_signed && all[i].high > INT32_MAX;
        int64_t low = all[i].low > least && !negative ? all[i].low : least;
        int64_t high = is_signed && all[i].low > INT32_MAX ? least : negative ? INT32_MAX : all[i].high > least ? all[i].high : least;

        found.low = low < found.low ? low : found.low;
        found.high = high > found.high ? high : found.high;
    }
    return found;
}

/* The intervals that this base is known to lie in, at least one. The list may be that of the last call. */
static struct list intervals_of(expr base, constraints known)
{
    static struct interval natural;
    uint32_t list, number;
    struct list inner;
    bool is_signed;
    expr source;

    if (find(known, key_of(base, DOMAIN_NUMBER), &list))
        return list_of(&interval_lists, list);
    if (is_masked(base, &source, &number)) {
        inner = intervals_of(source, known);
        if (all_within(inner, 0, number))
            return inner;
    }
    if (is_at_least(base, &source, &number, &is_signed))
        natural = at_least(intervals_of(source, known), number, is_signed);
    else
        natural = (struct interval){ 0, kept_limit(base) != NO_LIMIT ? kept_limit(base) : (int64_t)UINT32_MAX };
    return (struct list){ &natural, 1 };
}

bool range_known(expr base, constraints known, struct range *range)
{
    struct list list = intervals_of(base, known == INFEASIBLE ? 0 : known);
    const struct interval *all = list.elements;
    int64_t low = all[0].low, high = all[0].high;
    uint32_t i;

    for (i = 1; i < list.count; i++) {
        low = all[i].low < low ? all[i].low : low;
        high = all[i].high > high ? all[i].high : high;
    }
    range->low = (uint32_t)low;
    range->high = (uint32_t)high;
    return low != 0 || high != UINT32_MAX;
}

/* The numbers for which a formula TAG_IN holds, or does not: as numbers without a sign, sorted. */
struct numbers {
    struct interval part[2];
    unsigned count;
};

static void add_part(struct numbers *numbers, int64_t low, int64_t high)
{
    if (low <= high)
        numbers->part[numbers->count++] = (struct interval){ low, high };
}

static struct numbers numbers_within(const struct node *in, bool holds)
{
    const int64_t wrap = (int64_t)UINT32_MAX + 1;
    int64_t low = in->low < 0 ? in->low + wrap : in->low, high = in->high < 0 ? in->high + wrap : in->high;
    bool across = low > high; /* a signed interval with numbers of both signs */
    struct numbers found = { .count = 0 };

    if (holds != across) {
        add_part(&found, across ? high + 1 : low, across ? low - 1 : high);
    } else {
        add_part(&found, 0, across ? high : low - 1);
        add_part(&found, across ? low : high + 1, UINT32_MAX);
    }
    return found;
}

static enum truth truth_within(const struct node *in, constraints known)
{
    struct numbers wanted = numbers_within(in, true);
    struct list list = intervals_of(in->a, known);
    const struct interval *all = list.elements;
    bool any = false, whole = true;
    uint32_t i;

    for (i = 0; i < list.count; i++) {
        bool inside = false;
        for (unsigned k = 0; k < wanted.count; k++) {
            any |= all[i].low <= wanted.part[k].high && wanted.part[k].low <= all[i].high;
            inside |= wanted.part[k].low <= all[i].low && all[i].high <= wanted.part[k].high;
        }
        whole &= inside;
    }
    return !any ? IS_FALSE : whole ? IS_TRUE : IS_OPEN;
}

static constraints assume_within(const struct node *in, bool holds, constraints known)
{
    static struct interval *kept;
    static size_t capacity;
    struct numbers wanted = numbers_within(in, holds);
    struct list list = intervals_of(in->a, known);
    const struct interval *all = list.elements;
    uint32_t count = 0, i;

    kept = grown(kept, &capacity, (size_t)list.count * 2 + 2, sizeof(*kept));
    for (i = 0; i < list.count; i++) {
        for (unsigned k = 0; k < wanted.count; k++) {
            int64_t low = all[i].low > wanted.part[k].low ? all[i].low : wanted.part[k].low;
            int64_t high = all[i].high < wanted.part[k].high ? all[i].high : wanted.part[k].high;
            if (low <= high)
                kept[count++] = (struct interval){ low, high };
        }
    }
    if (count == 0)
        return INFEASIBLE;
    if (count > MOST_INTERVALS)
        return known;
    return with_constraint(known, key_of(in->a, DOMAIN_NUMBER), list_kept(&interval_lists, kept, count));
}

/* Truth ---------------------------------------------------------------------------------------------------------- */

static uint64_t pair_of(uint32_t formula, constraints known) { return (uint64_t)formula << 32 | known; }

static enum truth opposite(enum truth inner) { return inner == IS_OPEN ? IS_OPEN : inner == IS_TRUE ? IS_FALSE : IS_TRUE; }

static enum truth truth_of_both(const struct node *node, constraints known)
{
    enum truth left = truth(node->kids[0], known), right;

    if (left == IS_FALSE)
        return IS_FALSE;
    right = truth(node->kids[1], known);
    if (right == IS_FALSE)
        return IS_FALSE;
    return left == IS_OPEN || right == IS_OPEN ? IS_OPEN : IS_TRUE;
}

enum truth truth(expr formula, constraints known)
{
    const struct node *node = node_of(formula);
    uint32_t found;

    if (known == INFEASIBLE)
        return IS_OPEN;
    switch (node->tag) {
    case TAG_NUMBER: return node->a ? IS_TRUE : IS_FALSE;
    case TAG_ATOM:
    case TAG_RELATION: return !find(known, key_of(formula, DOMAIN_ATOM), &found) ? IS_OPEN : found ? IS_TRUE : IS_FALSE;
    case TAG_IN: return truth_within(node, known);
    case TAG_NOT: return opposite(truth(node->kids[0], known));
    case TAG_AND: break;
    default: return IS_OPEN;
    }
    if (find(known, key_of(formula, DOMAIN_ATOM), &found)) /* not both, whichever it is */
        return IS_FALSE;
    if (!map_get(&truths, pair_of(formula, known), &found)) {
        found = truth_of_both(node, known);
        map_put(&truths, pair_of(formula, known), found);
    }
    return (enum truth)found;
}

static constraints assume_of_both(expr formula, const struct node *node, bool holds, constraints known)
{
    unsigned i;

    if (holds) {
        known = assume(node->kids[0], holds, known);
        return known == INFEASIBLE ? INFEASIBLE : assume(node->kids[1], holds, known);
    }
    for (i = 0; i < 2; i++) {
        if (truth(node->kids[i], known) == IS_TRUE)
            return assume(node->kids[1 - i], holds, known);
    }
    return with_constraint(known, key_of(formula, DOMAIN_ATOM), false);
}

/* Of two conditions that are not both true, one has been found to be: then the other is false. */
static constraints settled(constraints known)
{
    uint32_t i, k;

    for (i = 0; known != INFEASIBLE && i < list_of(&constraint_lists, known).count; i++) {
        constraint_key key = ((const struct constraint *)list_of(&constraint_lists, known).elements)[i].key;
        const struct node *node = node_of(key / DOMAINS);

        if (key % DOMAINS != DOMAIN_ATOM || node->tag != TAG_AND)
            continue;
        for (k = 0; k < 2; k++)
            if (truth(node->kids[k], known) == IS_TRUE && truth(node->kids[1 - k], known) != IS_FALSE)
                return assume(node->kids[1 - k], false, known);
    }
    return known;
}

/* Of a formula that the constraints leave open. */
static constraints assume_open(expr formula, const struct node *node, bool holds, constraints known)
{
    switch (node->tag) {
    case TAG_ATOM:
    case TAG_RELATION: return with_constraint(known, key_of(formula, DOMAIN_ATOM), holds);
    case TAG_IN: return assume_within(node, holds, known);
    case TAG_AND: return assume_of_both(formula, node, holds, known);
    default: return known;
    }
}

constraints assume(expr formula, bool holds, constraints known)
{
    const struct node *node = node_of(formula);
    enum truth decided = truth(formula, known);
    uint64_t key = pair_of(formula * 2 + holds, known);
    uint32_t found;

    if (known == INFEASIBLE)
        return INFEASIBLE;
    if (decided != IS_OPEN)
        return (decided == IS_TRUE) == holds ? known : INFEASIBLE;
    if (node->tag == TAG_NOT)
        return assume(node->kids[0], !holds, known);
    if (!map_get(&assumptions, key, &found)) {
        found = settled(assume_open(formula, node, holds, known));
        map_put(&assumptions, key, found);
    }
    return found;
}

/* What constraints are kept under -------------------------------------------------------------------------------------- */

/* Of an expression with a mask or a smallest number also those of the expression without. */
static uint32_t keys_within(expr base)
{
    constraint_key own = key_of(base, DOMAIN_NUMBER);
    uint32_t keys = list_kept(&key_lists, &own, 1), number;
    bool is_signed;
    expr source;

    if (is_masked(base, &source, &number) || is_at_least(base, &source, &number, &is_signed))
        keys = list_union(&key_lists, keys_within(source), keys);
    return keys;
}

static uint32_t find_keys(expr formula)
{
    const struct node *node = node_of(formula);
    constraint_key key = key_of(formula, DOMAIN_ATOM);

    switch (node->tag) {
    case TAG_ATOM:
    case TAG_RELATION: return list_kept(&key_lists, &key, 1);
    case TAG_IN: return keys_within(node->a);
    case TAG_NOT: return keys_of_formula(node->kids[0]);
    case TAG_AND:
        return list_union(&key_lists, list_kept(&key_lists, &key, 1),
                          list_union(&key_lists, keys_of_formula(node->kids[0]), keys_of_formula(node->kids[1])));
    default: return 0;
    }
}

static uint32_t keys_of_formula(expr formula)
{
    uint32_t found;

    if (!map_get(&formula_keys, formula, &found)) {
        found = find_keys(formula);
        map_put(&formula_keys, formula, found);
    }
    return found;
}

static unsigned handed_out(uint32_t keys, constraint_key *to, unsigned most)
{
    struct list list = list_of(&key_lists, keys);
    unsigned count = list.count < most ? list.count : most, i;

    for (i = 0; i < count; i++)
        to[i] = ((const constraint_key *)list.elements)[i];
    return count;
}

unsigned constraint_keys(expr formula, constraint_key *keys, unsigned most) { return handed_out(keys_of_formula(formula), keys, most); }

static uint32_t keys_of_leaves(expr e)
{
    expr parts[MOST_KIDS + 1];
    constraint_key key = key_of(e, DOMAIN_NUMBER);
    unsigned count, i;
    uint32_t keys = 0;

    if (!(leaves_in(e) & LEAF_SPECIAL))
        return 0;
    if (node_of(e)->tag == TAG_SPECIAL)
        return list_kept(&key_lists, &key, 1);
    if (map_get(&expression_keys, e, &keys))
        return keys;
    count = parts_of(node_of(e), parts);
    for (i = 0; i < count; i++)
        keys = list_union(&key_lists, keys, keys_of_leaves(parts[i]));
    map_put(&expression_keys, e, keys);
    return keys;
}

unsigned leaf_keys(expr e, constraint_key *keys, unsigned most) { return handed_out(keys_of_leaves(e), keys, most); }

unsigned formula_atoms(expr formula, expr *atoms, unsigned most)
{
    const struct node *node = node_of(formula);
    unsigned count = 0, i;

    if (most == 0)
        return 0;
    switch (node->tag) {
    case TAG_IN:
    case TAG_ATOM:
    case TAG_RELATION: atoms[count++] = formula; break;
    case TAG_NOT:
    case TAG_AND:
        for (i = 0; i < node->kid_count; i++)
            count += formula_atoms(node->kids[i], atoms + count, most - count);
        break;
    default: break;
    }
    return count;
}
