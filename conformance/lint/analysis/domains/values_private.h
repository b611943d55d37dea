/* What values.c, sums.c, provenance.c, bits.c, conditions.c, constraints.c and ranges.c share; no other file includes it. */
#ifndef PDL_LINT_VALUES_PRIVATE_H
#define PDL_LINT_VALUES_PRIVATE_H

#include "analysis.h"

/* Things kept once each, found by their hash and numbered from 1. Whoever owns one keeps the things themselves. */
struct index {
    uint32_t *slots, *hashes; /* slots: numbers; hashes: by number */
    size_t capacity, hash_capacity;
    uint32_t count;
};
void index_begin(struct index *);
uint32_t index_add(struct index *, uint32_t hash); /* its number */

/* The next thing with this hash, or 0. Begin with *at = hash; add 1 to it before asking again. */
static inline uint32_t index_next(const struct index *index, uint32_t hash, size_t *at)
{
    uint32_t n;

    for (; (n = index->slots[*at & (index->capacity - 1)]) != 0; ++*at)
        if (index->hashes[n] == hash)
            return n;
    return 0;
}

static inline uint32_t mixed(uint32_t hash, uint32_t word)
{
    uint64_t product = (hash ^ word) * 0x9E3779B97F4A7C15u;

    return (uint32_t)(product >> 32) + (uint32_t)product;
}

/* Arrays of one kind of element, kept once each; 0 is the empty one. They stay where they are until lists_begin. */
struct list {
    const void *elements;
    uint32_t count;
};
struct lists {
    size_t element_bytes; /* a multiple of 4, no padding inside */
    struct index index;
    struct list *lists; /* by number */
    size_t capacity;
    char **chunks;
    size_t chunk_capacity, chunk, used; /* the chunk that is being filled, and its bytes that are taken */
};
void lists_begin(struct lists *);
uint32_t list_kept(struct lists *, const void *elements, uint32_t count);
uint32_t list_union(struct lists *, uint32_t, uint32_t); /* of sorted arrays of uint32_t */
static inline struct list list_of(const struct lists *lists, uint32_t n)
{
    return n ? lists->lists[n] : (struct list){ NULL, 0 };
}

/* What is found somewhere in an expression or formula. */
enum leaf {
    LEAF_VARIES_BY_THREAD = VARIES_BY_THREAD, /* a special register that does */
    LEAF_VARIES_BY_BLOCK = VARIES_BY_BLOCK,
    LEAF_VARIES_BY_RANK = VARIES_BY_RANK,
    LEAF_SITE = 8,
    LEAF_SPECIAL = 16, /* any special register */
    LEAF_SYMBOL = 32,
    LEAF_AGAIN = 64, /* of LEAF_SITE: with AGAIN_SITE */
};
uint8_t leaves_in(expr);
expr in_cluster(expr block, expr mask); /* of a block's number & mask: the rank, where that has the same bits; else the number */

/* Parts of a node, also those that are not kids: the base of TAG_IN and the site of TAG_ATOM. */
static inline unsigned parts_of(const struct node *node, expr parts[MOST_KIDS + 1])
{
    unsigned count = 0, i;

    if (node->tag == TAG_IN || node->tag == TAG_ATOM)
        parts[count++] = node->a;
    for (i = 0; i < node->kid_count; i++)
        parts[count++] = node->kids[i];
    return count;
}

expr operation_of_two(uint32_t op, expr left, expr right);

expr bits_shared(expr, expr); /* what is known of both, numbers or parts; 0: nothing */

/* Whether it is this operation, of an expression and a number. */
bool is_by_number(expr, uint32_t op, expr *of, uint32_t *by);

enum { NO_LIMIT = -1 };
int32_t kept_limit(expr);                  /* natural_limit, or NO_LIMIT */
int32_t find_limit(const struct node *);   /* the same of a node whose parts are kept */
uint8_t special_leaves(name);              /* enum leaf, of a special register */
bool range_known(expr base, constraints, struct range *); /* what constraints or nature allow, if that is not any number */

void sums_begin(void);
void provenance_begin(void);
void conditions_begin(void);
void constraints_begin(void);

#endif
