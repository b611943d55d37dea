/* Random graphs, clean or with planted defects, as plain data; and pdl_graph_check's rule written out as sets of nodes, the
 * slow and plain way. Included by one file. */
#ifndef PDL_HEADERS_RANDOM_GRAPH_H
#define PDL_HEADERS_RANDOM_GRAPH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 256, MOST_EDGES = 2048, MOST_PLANTED = 16, SET_WORDS = MOST_NODES / 64 };
enum what { A_KERNEL, A_COPY, AN_EMPTY };
/* CLEAN: whoever may start early waits. PLANTED: that, and defects. WILD: anything that is legal. */
enum style { CLEAN, PLANTED, WILD, STYLES };

struct random_graph {
    unsigned nodes, edges, planted;
    struct {
        enum what what;
        unsigned waits;
    } node[MOST_NODES];
    struct {
        unsigned from, to, kind;
    } edge[MOST_EDGES];
    struct planted {
        unsigned kind, from, to;
        int is_hint;
    } plant[MOST_PLANTED];
    uint64_t random;
};

/* ---- making them ---- */

static unsigned draw(struct random_graph *g, unsigned n)
{
    g->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t x = g->random;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ (x >> 31)) % n);
}

static unsigned add_node(struct random_graph *g, enum what what, unsigned waits)
{
    g->node[g->nodes].what = what;
    g->node[g->nodes].waits = what == A_KERNEL ? waits : (unsigned)PDL_WAITS_NO;
    return g->nodes++;
}

static void add_edge(struct random_graph *g, unsigned from, unsigned to, unsigned kind)
{
    for (unsigned i = 0; i < g->edges; i++) {
        if (g->edge[i].from == from && g->edge[i].to == to) {
            return;
        }
    }
    g->edge[g->edges].from = from;
    g->edge[g->edges].to = to;
    g->edge[g->edges++].kind = kind;
}

static unsigned kind_for(struct random_graph *g, unsigned from, unsigned to, enum style style)
{
    const int from_kernel = g->node[from].what == A_KERNEL, to_kernel = g->node[to].what == A_KERNEL;
    const unsigned chosen = draw(g, style == WILD ? 4 : 3);

    if (!from_kernel || (style != WILD && g->node[to].waits != PDL_WAITS_YES)) {
        return PDL_EDGE_FULL;
    }
    return !to_kernel && chosen != PDL_EDGE_LAUNCH_COMPLETION ? (unsigned)PDL_EDGE_FULL : chosen;
}

static void note_planted(struct random_graph *g, unsigned kind, unsigned from, unsigned to, int is_hint)
{
    const struct planted p = {kind, from, to, is_hint};

    g->plant[g->planted++] = p;
}

/* A kernel whose successor will get a planted defect. */
static unsigned some_kernel(struct random_graph *g, unsigned below)
{
    unsigned i = draw(g, below);

    while (g->node[i].what != A_KERNEL) {
        i = (i + 1) % below;
    }
    return i;
}

/* One defect behind a random kernel, in new nodes; where a kernel's own wait is unknown, it is a hint. */
static void plant(struct random_graph *g, unsigned below)
{
    const unsigned primary = some_kernel(g, below), what = draw(g, 3), hint = draw(g, 2);
    const unsigned kind = draw(g, 2) != 0 ? PDL_EDGE_PROGRAMMATIC : PDL_EDGE_BLOCK_START;
    const unsigned waits = hint ? PDL_WAITS_UNKNOWN : PDL_WAITS_NO;
    unsigned first, second;

    if (what == 0) {
        first = add_node(g, A_KERNEL, PDL_WAITS_YES);
        add_edge(g, primary, first, PDL_EDGE_LAUNCH_COMPLETION);
        note_planted(g, PDL_FINDING_LAUNCH_COMPLETION, primary, first, 0);
        return;
    }
    first = add_node(g, A_KERNEL, waits);
    add_edge(g, primary, first, kind);
    note_planted(g, PDL_FINDING_NO_WAIT, primary, first, (int)hint);
    if (what == 2) {
        second = add_node(g, draw(g, 2) != 0 ? A_KERNEL : A_COPY, draw(g, 2) != 0 ? PDL_WAITS_YES : PDL_WAITS_NO);
        add_edge(g, first, second, PDL_EDGE_FULL);
        note_planted(g, PDL_FINDING_FULL_EDGE, first, second, (int)hint);
    }
}

static void graph_make(struct random_graph *g, uint64_t seed, enum style style, unsigned nodes)
{
    const unsigned dense = 1 + (unsigned)(seed % 4), extra = style == PLANTED ? 8 : 0;
    unsigned below;

    memset(g, 0, sizeof *g);
    g->random = seed * 0xd1342543de82ef95u;
    add_node(g, A_KERNEL, draw(g, 3));
    below = nodes > extra + 1 ? nodes - extra : 1;
    while (g->nodes < below) {
        const unsigned what = draw(g, 8), waits = draw(g, 4);
        const unsigned i = add_node(g, what < 6 ? A_KERNEL : what == 6 ? A_COPY : AN_EMPTY,
                                    style == WILD ? waits % 3 : waits != 0 ? PDL_WAITS_YES : PDL_WAITS_NO);

        for (unsigned e = draw(g, dense + 1) + (draw(g, 8) != 0); e != 0; e--) {
            const unsigned near = draw(g, i < 8 ? i : 8), from = draw(g, 4) != 0 ? i - 1 - near : draw(g, i);

            add_edge(g, from, i, kind_for(g, from, i, style));
        }
    }
    for (unsigned n = 1 + draw(g, 4); style == PLANTED && n != 0; n--) {
        plant(g, below);
    }
}

static inline void graph_print(const struct random_graph *g)
{
    for (unsigned i = 0; i < g->nodes; i++) {
        printf("  node %u: %s, %s\n", i, g->node[i].what == A_KERNEL ? "kernel" : g->node[i].what == A_COPY ? "copy" : "empty",
               g->node[i].waits == PDL_WAITS_YES ? "waits" : g->node[i].waits == PDL_WAITS_NO ? "no wait" : "unknown");
    }
    for (unsigned i = 0; i < g->edges; i++) {
        printf("  edge %u to %u: kind %u\n", g->edge[i].from, g->edge[i].to, g->edge[i].kind);
    }
}

/* ---- sets of nodes ---- */

struct node_set {
    uint64_t word[SET_WORDS];
};

static void set_add(struct node_set *s, unsigned i)
{
    if (s != NULL) {
        s->word[i / 64] |= UINT64_C(1) << (i % 64);
    }
}

static int set_has(const struct node_set *s, unsigned i)
{
    return (int)(s->word[i / 64] >> (i % 64) & 1);
}

static void set_join(struct node_set *s, const struct node_set *other)
{
    for (unsigned i = 0; i < SET_WORDS; i++) {
        s->word[i] |= other->word[i];
    }
}

static void set_keep(struct node_set *s, const struct node_set *other)
{
    for (unsigned i = 0; i < SET_WORDS; i++) {
        s->word[i] &= other->word[i];
    }
}

static int set_meets(const struct node_set *s, const struct node_set *other)
{
    uint64_t common = 0;

    for (unsigned i = 0; i < SET_WORDS; i++) {
        common |= s->word[i] & other->word[i];
    }
    return common != 0;
}

static int set_is_empty(const struct node_set *s)
{
    return !set_meets(s, s);
}

static int set_equal(const struct node_set *s, const struct node_set *other)
{
    return memcmp(s, other, sizeof *s) == 0;
}

/* ---- the rule ---- */

struct sets {
    struct node_set before[MOST_NODES];    /* nodes from which a path leads here */
    struct node_set started[MOST_NODES];   /* those that have completed when this one starts */
    struct node_set completed[MOST_NODES]; /* ... when it has completed, with itself */
    struct node_set covered[MOST_NODES];   /* ... when a wait for it returns, with itself */
    struct node_set missed[MOST_NODES];    /* before, and not surely completed where this one looks */
};

/* Nodes come in an order in which edges lead onwards. */
static void sets_compute(struct sets *s, const struct random_graph *g, int unknown_waits)
{
    memset(s, 0, sizeof *s);
    for (unsigned n = 0; n < g->nodes; n++) {
        const unsigned waits = g->node[n].waits;
        struct node_set waited = {{0}}, seen;

        for (unsigned i = 0; i < g->edges; i++) {
            const unsigned from = g->edge[i].from, kind = g->edge[i].kind;

            if (g->edge[i].to != n) {
                continue;
            }
            set_join(&s->before[n], &s->before[from]);
            set_add(&s->before[n], from);
            set_join(&s->started[n], kind == PDL_EDGE_FULL ? &s->completed[from] : &s->started[from]);
            if (kind == PDL_EDGE_PROGRAMMATIC || kind == PDL_EDGE_BLOCK_START) {
                set_join(&waited, &s->covered[from]);
            }
        }
        seen = s->started[n];
        set_join(&seen, waits == PDL_WAITS_YES || (waits == PDL_WAITS_UNKNOWN && unknown_waits) ? &waited : &seen);
        s->completed[n] = seen;
        s->covered[n] = s->started[n];
        set_join(&s->covered[n], &waited);
        set_add(&s->completed[n], n);
        set_add(&s->covered[n], n);
        for (unsigned i = 0; i < SET_WORDS; i++) {
            s->missed[n].word[i] = s->before[n].word[i] & ~seen.word[i];
        }
    }
}

#endif
