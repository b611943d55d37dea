/* values.c - expressions, each kept once, and what can be computed with them. */
#include "domains/values_private.h"

#include <string.h>

enum {
    CHUNK_BITS = 10,
    CHUNK_NODES = 1 << CHUNK_BITS,
    MOST_NODES = 1 << 24, /* beyond, nothing can be said of what has parts */
    MOST_DEPTH = 200,     /* likewise; so whoever walks an expression may recurse */
    MOST_STEPS = 200      /* parts looked at for variables */
};

struct kept_node {
    struct node node;
    int32_t limit;
    uint32_t checked; /* when it was last found to hold no varying site */
    uint8_t depth, leaves;
    bool varying; /* a site that varies is in it */
};

static struct kept_node **chunks; /* nodes stay where they are */
static size_t chunk_capacity;
static struct index nodes;
static uint32_t varying_sites;
uint32_t revisions;

static struct kept_node *kept(expr e) { return &chunks[e >> CHUNK_BITS][e & (CHUNK_NODES - 1)]; }
const struct node *node_of(expr e) { return &kept(e)->node; }
uint8_t leaves_in(expr e) { return kept(e)->leaves; }
int32_t kept_limit(expr e) { return e ? kept(e)->limit : NO_LIMIT; }

/* Keeping nodes -------------------------------------------------------------------------------------------------- */

static uint32_t hash_of(const struct node *node)
{
    uint32_t hash = mixed(mixed(node->tag + 1u + node->kid_count * 256u, node->a) + 1, node->b);
    unsigned i;

    if (node->tag == TAG_IN)
        hash = mixed(mixed(mixed(hash, (uint32_t)node->low), (uint32_t)node->high) + 1,
                     (uint32_t)(node->low >> 32) ^ (uint32_t)(node->high >> 32) * 3);
    for (i = 0; i < node->kid_count; i++)
        hash = mixed(hash, node->kids[i]) + 1;
    return hash;
}

static bool are_alike(const struct node *left, const struct node *right)
{
    return left->tag == right->tag && left->kid_count == right->kid_count && left->a == right->a && left->b == right->b &&
           left->low == right->low && left->high == right->high &&
           memcmp(left->kids, right->kids, left->kid_count * sizeof(expr)) == 0;
}

static uint8_t own_leaves(const struct node *node)
{
    switch (node->tag) {
    case TAG_SPECIAL: return special_leaves(node->a) | LEAF_SPECIAL;
    case TAG_SITE: return LEAF_SITE | ((node->a & (AGAIN_SITE | VARIABLE_SITE)) == AGAIN_SITE ? LEAF_AGAIN : 0);
    case TAG_SYMBOL: return LEAF_SYMBOL;
    default: return 0;
    }
}

static struct kept_node *room_for(expr e)
{
    size_t chunk = e >> CHUNK_BITS;

    if (chunk >= chunk_capacity)
        chunks = grown(chunks, &chunk_capacity, chunk * 2 + 16, sizeof(*chunks));
    if (!chunks[chunk])
        chunks[chunk] = allocate(CHUNK_NODES * sizeof(**chunks));
    return kept(e);
}

static void keep(struct kept_node *to, const struct node *node)
{
    memset(to, 0, sizeof(*to));
    to->node.tag = node->tag;
    to->node.size = node->size;
    to->node.kid_count = node->kid_count;
    to->node.a = node->a;
    to->node.b = node->b;
    to->node.low = node->low;
    to->node.high = node->high;
    memcpy(to->node.kids, node->kids, node->kid_count * sizeof(expr));
}

expr interned(const struct node *node)
{
    expr parts[MOST_KIDS + 1], n;
    unsigned count, i, depth = 1;
    uint8_t leaves;
    uint32_t hash;
    size_t at;

    if (node->kid_count > MOST_KIDS)
        return 0;
    hash = hash_of(node);
    for (at = hash; (n = index_next(&nodes, hash, &at)) != 0; at++)
        if (are_alike(node_of(n), node))
            return n;
    leaves = own_leaves(node);
    count = parts_of(node, parts);
    for (i = 0; i < count; i++) {
        const struct kept_node *inner = kept(parts[i]);
        leaves |= inner->leaves;
        if (depth <= inner->depth)
            depth = inner->depth + 1u;
    }
    if (depth > MOST_DEPTH || (count && nodes.count >= MOST_NODES))
        return 0;
    n = index_add(&nodes, hash);
    keep(room_for(n), node);
    kept(n)->depth = (uint8_t)depth;
    kept(n)->leaves = leaves;
    kept(n)->limit = find_limit(node);
    return n;
}

void values_begin(void)
{
    index_begin(&nodes);
    room_for(0);
    sums_begin();
    varying_sites = 1;
    provenance_begin();
    conditions_begin();
    constraints_begin();
    number(0);
    number(1);
}

/* Making them ---------------------------------------------------------------------------------------------------- */

static expr leaf(enum tag tag, uint32_t a, uint32_t b)
{
    struct node node = { .tag = (uint8_t)tag, .size = 1, .a = a, .b = b };

    return interned(&node);
}

expr number(uint32_t n) { return leaf(TAG_NUMBER, n, 0); }
expr special(name text) { return leaf(TAG_SPECIAL, text, 0); }
expr constant_word(uint32_t bank, uint32_t offset) { return leaf(TAG_CONSTANT, bank, offset); }
expr symbol_half(name symbol, unsigned half) { return leaf(TAG_SYMBOL, symbol, half); }
expr site_result(uint32_t site, unsigned reg) { return leaf(TAG_SITE, site, reg); }
expr part(uint32_t mask, uint32_t bits) { return leaf(TAG_PART, mask, bits); }

bool is_vague(expr e)
{
    const struct node *node = node_of(e);

    if (node->tag == TAG_SELECT)
        return is_vague(node->kids[1]) || is_vague(node->kids[2]);
    return node->tag == TAG_ANY || node->tag == TAG_PART;
}

expr operation(uint32_t op, unsigned count, const expr *parts)
{
    struct node node = { .tag = TAG_OPERATION, .a = op };
    unsigned size = 1, i;

    if (count > MOST_KIDS)
        return 0;
    for (i = 0; i < count; i++) {
        const struct node *inner = node_of(parts[i]);
        if (parts[i] == 0 || is_vague(parts[i]))
            return 0;
        size += inner->tag == TAG_OPERATION ? inner->size : 1u;
        node.kids[i] = parts[i];
    }
    if (size > MOST_SIZE)
        return 0;
    node.size = (uint8_t)size;
    node.kid_count = (uint8_t)count;
    return interned(&node);
}

expr operation_of_two(uint32_t op, expr left, expr right) { return operation(op, 2, (expr[]){ left, right }); }

static uint32_t table_operation(void)
{
    static name word;

    if (!word)
        word = name_of_text("word of a table");
    return OPERATION_NAMED + word;
}

/* A number in the index is moved to the place. */
expr table_word(expr index, uint32_t place)
{
    uint32_t added;
    expr rest;

    if (index && is_by_number(index, OPERATION_ADD, &rest, &added))
        return table_word(rest, place + added);
    return operation(table_operation(), 2, (expr[]){ index, number(place) });
}

bool is_table_word(expr e, expr *index, uint32_t *place)
{
    const struct node *node = e ? node_of(e) : NULL;

    if (!node || node->tag != TAG_OPERATION || node->a != table_operation() || node->kid_count != 2)
        return false;
    *index = node->kids[0];
    return is_number_of(node->kids[1], place);
}

expr reciprocal(uint32_t n)
{
    struct node node = { .tag = TAG_OPERATION, .size = 1, .kid_count = 1, .a = OPERATION_RECIPROCAL };

    node.kids[0] = number(n);
    return interned(&node);
}

expr select_of(expr formula, expr if_true, expr if_false)
{
    struct node node = { .tag = TAG_SELECT, .size = 1, .kid_count = 3, .kids = { formula, if_true, if_false } };

    return formula && if_true && if_false ? interned(&node) : 0;
}

bool is_number(expr e) { return node_of(e)->tag == TAG_NUMBER; }

bool is_number_or_part(expr e) { return e != 0 && (node_of(e)->tag == TAG_NUMBER || node_of(e)->tag == TAG_PART); }

bool is_one_of_numbers(expr e)
{
    const struct node *node = node_of(e);
    bool all = node->tag == TAG_ANY;
    unsigned i;

    for (i = 0; i < node->kid_count; i++)
        all = all && is_number(node->kids[i]);
    return all || node->tag == TAG_NUMBER;
}

bool is_number_of(expr e, uint32_t *n)
{
    const struct node *node = node_of(e);

    if (node->tag != TAG_NUMBER)
        return false;
    *n = node->a;
    return true;
}

bool is_by_number(expr e, uint32_t op, expr *of, uint32_t *by)
{
    const struct node *node = node_of(e);

    if (node->tag != TAG_OPERATION || node->a != op || node->kid_count < 2 || !is_number_of(node->kids[1], by))
        return false;
    *of = node->kids[0];
    return true;
}

/* What is in them --------------------------------------------------------------------------------------------------- */

static unsigned listed(uint32_t *list, unsigned count, uint32_t one, unsigned most)
{
    unsigned i;

    for (i = 0; i < count; i++)
        if (list[i] == one)
            return count;
    if (count < most)
        list[count++] = one;
    return count;
}

static unsigned list_variables(expr e, uint32_t *list, unsigned count, unsigned most, unsigned *steps)
{
    const struct node *node = node_of(e);
    expr parts[MOST_KIDS + 1];
    unsigned parts_left;

    if (e == 0 || !(leaves_in(e) & LEAF_SITE) || *steps == 0)
        return count;
    --*steps;
    if (node->tag == TAG_SITE && node->a & VARIABLE_SITE)
        return listed(list, count, node->a & ~VARIABLE_SITE, most);
    for (parts_left = parts_of(node, parts); parts_left; parts_left--)
        count = list_variables(parts[parts_left - 1], list, count, most, steps);
    return count;
}

unsigned variables_in(expr e, uint32_t *list, unsigned most)
{
    unsigned steps = MOST_STEPS;

    return list_variables(e, list, 0, most, &steps);
}

static bool finds_site(expr e, bool (*is_it)(uint32_t site), unsigned *steps)
{
    const struct node *node = node_of(e);
    expr parts[MOST_KIDS + 1];
    bool found = false;

    if (e == 0 || !(leaves_in(e) & LEAF_AGAIN))
        return false;
    if (*steps == 0)
        return true;
    --*steps;
    if (node->tag == TAG_SITE)
        return is_it(node->a & ~(JOIN_SITE | CHOICE_SITE));
    for (unsigned left = parts_of(node, parts); left && !found; left--)
        found = finds_site(parts[left - 1], is_it, steps);
    return found;
}

bool mentions_again(expr e, bool (*is_it)(uint32_t site))
{
    unsigned steps = MOST_STEPS;

    return finds_site(e, is_it, &steps);
}

/* Products ------------------------------------------------------------------------------------------------------ */

expr multiply(expr left, expr right)
{
    uint32_t here, there;
    bool left_known, right_known;

    if (left == EXPR_ZERO || right == EXPR_ZERO)
        return EXPR_ZERO;
    if (left == 0 || right == 0)
        return 0;
    left_known = is_number_of(left, &here);
    right_known = is_number_of(right, &there);
    if (left_known && right_known)
        return number(here * there);
    if (left == EXPR_ONE)
        return right;
    if (right == EXPR_ONE)
        return left;
    if (left_known || (!right_known && right < left))
        return operation_of_two(OPERATION_MULTIPLY, right, left);
    return operation_of_two(OPERATION_MULTIPLY, left, right);
}

uint32_t reciprocal_in(expr e)
{
    const struct node *node = node_of(e);
    uint32_t n = 0;
    unsigned i;

    if (node->tag != TAG_OPERATION)
        return 0;
    if (node->a == OPERATION_RECIPROCAL)
        return node->kid_count && is_number_of(node->kids[0], &n) ? n : 0;
    for (i = 0; i < node->kid_count && n == 0; i++)
        n = reciprocal_in(node->kids[i]);
    return n;
}

/* Threads -------------------------------------------------------------------------------------------------------- */

static bool holds_varying_site(expr e)
{
    struct kept_node *here = kept(e);
    expr parts[MOST_KIDS + 1];
    unsigned count, i;

    if (here->varying || !(here->leaves & LEAF_SITE) || here->checked == varying_sites)
        return here->varying;
    here->checked = varying_sites;
    count = parts_of(&here->node, parts);
    for (i = 0; i < count && !here->varying; i++)
        here->varying = holds_varying_site(parts[i]);
    return here->varying;
}

/* What sites hold counts as the same for all blocks. */
bool leaf_varies(expr e, uint8_t by)
{
    return (leaves_in(e) & by & VARIES_IN_ANY_WAY) || (by & VARIES_BY_THREAD && holds_varying_site(e));
}

void note_varying_site(expr e)
{
    if (e && !kept(e)->varying) {
        kept(e)->varying = true;
        varying_sites++;
        revisions += kept(e)->checked != 0;
    }
}
