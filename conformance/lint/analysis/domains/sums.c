/* sums.c - sums, which have one form, and what one of several values is: of places, or of numbers. */
#include "domains/values_private.h"

#include <string.h>

enum { MOST_PLACES = 6, ANSWERS = 1 << 12 };

/* Sums that were asked for lately. */
static struct answer {
    expr left, right, sum;
} answers[ANSWERS];

void sums_begin(void) { memset(answers, 0, sizeof(answers)); }

unsigned sum_terms(expr e, expr terms[MOST_SIZE + 1], uint32_t *constant)
{
    expr found[MOST_SIZE + 1];
    const struct node *node;
    unsigned count = 0, i;
    uint32_t n, total = 0;

    while (count < MOST_SIZE) {
        node = node_of(e);
        if (node->tag != TAG_OPERATION || node->a != OPERATION_ADD || node->kid_count != 2)
            break;
        if (is_number_of(node->kids[1], &n))
            total += n;
        else
            found[count++] = node->kids[1];
        e = node->kids[0];
    }
    if (is_number_of(e, &n))
        total += n;
    else if (e)
        found[count++] = e;
    for (i = 0; i < count; i++)
        terms[i] = found[count - 1 - i];
    *constant = total;
    return count;
}

/* Into a sorted array, once. */
static unsigned inserted(expr *sorted, unsigned count, expr e, bool again)
{
    unsigned at = count, i;

    while (at > 0 && sorted[at - 1] > e)
        at--;
    if (!again && at > 0 && sorted[at - 1] == e)
        return count;
    for (i = count; i > at; i--)
        sorted[i] = sorted[i - 1];
    sorted[at] = e;
    return count + 1;
}

static expr places(const expr *sorted, unsigned count)
{
    struct node node = { .tag = TAG_ANY, .size = 1, .kid_count = (uint8_t)count };

    memcpy(node.kids, sorted, count * sizeof(expr));
    return interned(&node);
}

static expr add_to_each(const struct node *many, expr one)
{
    expr moved[MOST_KIDS + 1], sum;
    unsigned count = 0, i;

    if (node_of(one)->tag == TAG_ANY)
        return 0;
    for (i = 0; i < many->kid_count; i++) {
        sum = add(many->kids[i], one);
        if (sum == 0)
            return 0;
        count = inserted(moved, count, sum, false);
    }
    return places(moved, count);
}

static bool is_negative_of(expr e, expr other)
{
    uint32_t by;
    expr inner;

    return is_by_number(e, OPERATION_MULTIPLY, &inner, &by) && by == UINT32_MAX && inner == other;
}

/* x + -x is 0: takes the term out of the list that this one cancels. */
static bool cancelled(expr *terms, unsigned *count, expr term)
{
    unsigned i;

    for (i = 0; i < *count; i++)
        if (is_negative_of(terms[i], term) || is_negative_of(term, terms[i])) {
            memmove(terms + i, terms + i + 1, (*count - i - 1) * sizeof(*terms));
            --*count;
            return true;
        }
    return false;
}

static expr summed(expr left, expr right)
{
    expr terms[2 * MOST_SIZE + 2], theirs[MOST_SIZE + 1], total;
    uint32_t here, there;
    unsigned count, their_count, i;

    if (node_of(left)->tag == TAG_ANY)
        return add_to_each(node_of(left), right);
    if (node_of(right)->tag == TAG_ANY)
        return add_to_each(node_of(right), left);
    count = sum_terms(left, terms, &here);
    their_count = sum_terms(right, theirs, &there);
    for (i = 0; i < their_count; i++)
        if (!cancelled(terms, &count, theirs[i]))
            count = inserted(terms, count, theirs[i], true);
    if (count == 0)
        return number(here + there);
    total = terms[0];
    for (i = 1; i < count && total; i++)
        total = operation_of_two(OPERATION_ADD, total, terms[i]);
    return here + there && total ? operation_of_two(OPERATION_ADD, total, number(here + there)) : total;
}

expr add(expr left, expr right)
{
    struct answer *answer;
    uint32_t here, there;

    if (left == 0 || right == 0)
        return 0;
    if (left == EXPR_ZERO)
        return right;
    if (right == EXPR_ZERO)
        return left;
    if (is_number_of(left, &here) && is_number_of(right, &there))
        return number(here + there);
    answer = &answers[mixed(left, right * 5) % ANSWERS];
    if (answer->left != left || answer->right != right) {
        expr sum = summed(left, right); /* may overwrite *answer, so that is filled afterwards */
        *answer = (struct answer){ left, right, sum };
    }
    return answer->sum;
}

/* One of several ------------------------------------------------------------------------------------------------ */

static bool is_stack_pointer(expr e)
{
    const struct node *node = node_of(e);

    return node->tag == TAG_CONSTANT && node->a == 0 && (node->b == 0x28 || node->b == 0x37C); /* before sm_100, from it on */
}

/* Whether all places but the null pointer lie at different distances from one address, one on the stack. */
static bool share_a_stack_pointer(const expr *list, unsigned count)
{
    expr terms[MOST_SIZE + 1], first[MOST_SIZE + 1];
    unsigned term_count, first_count = 0, i;
    uint32_t distance;
    bool any = false;

    for (i = 0; i < count; i++) {
        if (list[i] == EXPR_ZERO)
            continue;
        term_count = sum_terms(list[i], terms, &distance);
        if (!any) {
            memcpy(first, terms, sizeof(first[0]) * term_count);
            first_count = term_count;
        } else if (term_count != first_count || memcmp(first, terms, sizeof(first[0]) * term_count) != 0) {
            return false;
        }
        any = true;
    }
    for (i = 0; i < first_count; i++)
        if (is_stack_pointer(first[i]))
            return true;
    return false;
}

static unsigned flattened(expr *sorted, unsigned count, expr e)
{
    const struct node *node = node_of(e);
    unsigned i;

    if (node->tag != TAG_ANY)
        return inserted(sorted, count, e, false);
    for (i = 0; i < node->kid_count; i++)
        count = inserted(sorted, count, node->kids[i], false);
    return count;
}

static expr any_of(expr left, expr right)
{
    expr flat[2 * MOST_KIDS];
    unsigned count;

    if (left == 0 || right == 0 || (is_number(left) && is_number(right)) || node_of(left)->tag == TAG_SITE ||
        node_of(right)->tag == TAG_SITE)
        return 0;
    if ((is_number_or_part(left) || is_one_of_numbers(left)) && (is_number_or_part(right) || is_one_of_numbers(right)))
        return bits_shared(left, right);
    count = flattened(flat, flattened(flat, 0, left), right);
    return count <= MOST_PLACES && share_a_stack_pointer(flat, count) ? places(flat, count) : 0;
}

/* One of a few numbers, not always the same; 0 if there are too many, or something else can be in it. */
expr one_number_of(expr left, expr right)
{
    expr flat[2 * MOST_KIDS];
    unsigned count, i;

    if (left == 0 || right == 0 || left == right)
        return left == right ? left : 0;
    count = flattened(flat, flattened(flat, 0, left), right);
    for (i = 0; i < count; i++)
        if (!is_number(flat[i]))
            return 0;
    return count <= MOST_PLACES ? places(flat, count) : 0;
}

struct value joined(struct value left, struct value right)
{
    left.expression = left.expression == right.expression ? left.expression : any_of(left.expression, right.expression);
    left.provenance = provenance_union(left.provenance, right.provenance);
    left.varies |= right.varies;
    return left;
}
