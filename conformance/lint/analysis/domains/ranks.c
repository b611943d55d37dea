/* ranks.c - a block's place in its cluster, computed from its number.
 *
 * Each cluster has all the places, but perhaps none of the numbers that a condition asks for. So they are told apart. */
#include "domains/transfer.h"
#include "domains/values_private.h"

#include <string.h>

/* SR_CTAID.X, .Y or .Z. */
static bool is_block_number(expr e, unsigned *axis)
{
    const struct node *node = node_of(e);
    const char *text = node->tag == TAG_SPECIAL ? text_of(node->a) : "";

    if (strncmp(text, "SR_CTAID.", 9) != 0 || text[9] < 'X' || text[9] > 'Z')
        return false;
    *axis = (unsigned)(text[9] - 'X');
    return true;
}

static expr place_along(unsigned axis)
{
    static const char *const places[] = { "SR_CLUSTERCTAID.X", "SR_CLUSTERCTAID.Y", "SR_CLUSTERCTAID.Z" };

    return special(name_of_text(places[axis]));
}

/* Number and place have the same low bits if the cluster's size is a multiple of what these count to. */
expr in_cluster(expr block, expr mask)
{
    unsigned axis;
    uint32_t n, size;

    if (!is_block_number(block, &axis) || !is_number_of(mask, &n) || n & (n + 1))
        return block;
    size = cluster_size(axis);
    return size != 0 && n < size && size % (n + 1) == 0 ? place_along(axis) : block;
}

uint8_t varies_as(expr e, uint8_t varies)
{
    return varies & VARIES_BY_BLOCK && e && leaf_varies(e, VARIES_BY_RANK) && !leaf_varies(e, VARIES_BY_BLOCK)
               ? (uint8_t)((varies & ~VARIES_BY_BLOCK) | VARIES_BY_RANK)
               : varies;
}

/* %cluster_ctaid: number - (integer)((float)number * reciprocal of the size) * size, both from constants of the driver --------- */

enum { STEP_FLOAT = 1, STEP_PRODUCT, STEP_CLUSTER }; /* of OPERATION_CLUSTER */

static bool is_step(expr e, uint32_t step)
{
    return is_operation(e, OPERATION_CLUSTER) && node_of(e)->kids[1] == numbered(step);
}

static expr step_of(expr number_of_block, uint32_t step)
{
    return operation(OPERATION_CLUSTER, 2, (expr[]){number_of_block, numbered(step)});
}

bool step_to_cluster(struct registers *regs, const struct instruction *instruction, struct result *result)
{
    const struct decoded *d = instruction->decoded;
    const char *text = text_of(d->opcode->text);
    struct value a, b;
    expr found = 0;
    unsigned axis;

    if (d->count < 2)
        return false;
    a = operand_value(regs, &d->operands[1], 0);
    b = operand_value(regs, &d->operands[d->count - 1], 0);
    if (strstr(text, "I2FP.F32.U32") && b.expression && is_block_number(b.expression, &axis))
        found = step_of(b.expression, STEP_FLOAT);
    else if (strstr(text, "FMUL") && is_step(a.expression, STEP_FLOAT) && b.expression && is_word_of_driver(b.expression))
        found = step_of(node_of(a.expression)->kids[0], STEP_PRODUCT);
    else if (strstr(text, "FMUL") && is_step(b.expression, STEP_FLOAT) && a.expression && is_word_of_driver(a.expression))
        found = step_of(node_of(b.expression)->kids[0], STEP_PRODUCT);
    else if (strstr(text, "F2I.U32.TRUNC") && is_step(b.expression, STEP_PRODUCT))
        found = step_of(node_of(b.expression)->kids[0], STEP_CLUSTER);
    if (found)
        put(result, target(d), value_of(found, 0, a.varies | b.varies));
    return found != 0;
}

enum { HAS_SIZE = 1, HAS_CLUSTER = 2, HAS_MINUS = 4, HAS_OTHER = 8 };

static unsigned factors_of(expr product, expr number_of_block)
{
    const struct node *node = node_of(product);

    if (is_operation(product, OPERATION_MULTIPLY))
        return factors_of(node->kids[0], number_of_block) | factors_of(node->kids[1], number_of_block);
    if (product == numbered(UINT32_MAX))
        return HAS_MINUS;
    if (is_word_of_driver(product))
        return HAS_SIZE;
    return product == step_of(number_of_block, STEP_CLUSTER) ? HAS_CLUSTER : HAS_OTHER;
}

expr place_in_cluster(expr sum)
{
    expr terms[MOST_SIZE + 1];
    uint32_t constant;
    unsigned axis;

    if (!sum || sum_terms(sum, terms, &constant) != 2 || constant)
        return sum;
    for (unsigned i = 0; i < 2; i++)
        if (is_block_number(terms[i], &axis) && factors_of(terms[1 - i], terms[i]) == (HAS_SIZE | HAS_CLUSTER | HAS_MINUS))
            return place_along(axis);
    return sum;
}
