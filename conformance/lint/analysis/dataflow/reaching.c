/* Questions about the graph of all paths: does a wait lie ahead? */
#include <stdlib.h>

#include "dataflow/dataflow.h"

enum { OF_BLOCKS = VARIES_BY_RANK | VARIES_BY_BLOCK };

static uint8_t more_phases(uint8_t a, uint8_t b)
{
    return a + b < MANY_PHASES ? (uint8_t)(a + b) : MANY_PHASES;
}

/* The barriers of this node up to its first wait; the answer is YES if there is one. In a loop their number is unknown. */
static struct wait_ahead events_of(const struct node_state *node)
{
    uint8_t step = node->section->blocks[node->block].in_loop ? MANY_PHASES : 1;
    struct wait_ahead found = {0};
    for (size_t i = 0; i < node->edges.event_count; i++) {
        const struct event *event = &node->edges.events[i];
        if (event->kind == EVENT_BLOCK_BARRIER)
            found.block = more_phases(found.block, step);
        else if (event->kind == EVENT_OTHER_BARRIER)
            found.others = true;
        else if (event->kind == EVENT_CLUSTER_BARRIER)
            found.cluster = more_phases(found.cluster, step);
        else if (event->varies || node->first_waits) {
            found.answer = YES;
            found.varies = node->first_waits ? 0 : event->varies & OF_BLOCKS;
            return found;
        }
    }
    return found;
}

static uint8_t smaller(uint8_t a, uint8_t b) { return a < b ? a : b; }
static uint8_t larger(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* From the answers of the nodes that follow it; back edges of a loop have none yet and are left out. NOT_ASKED: there are only such.
 * Whether it meets others on the way is asked of each way, also of a turn of the loop that may not be taken. */
static struct wait_ahead combined(const struct edges *edges, uint32_t first_way)
{
    struct wait_ahead best = {NO, MANY_PHASES, MANY_PHASES, 0, false, 0}, worst = {.answer = YES};
    uint32_t first = 0;
    uint8_t common = VARIES_IN_ANY_WAY;
    bool some = false, back = false, others = false;
    for (size_t i = 0; i < edges->target_count; i++) {
        const struct node_state *target = &now.nodes[edges->targets[i]];
        struct wait_ahead ahead = target->ahead;
        if (first_way != 0 && first_way != SEVERAL_WAYS && first_way != edges->targets[i] + 1)
            continue;
        others = others || (ahead.others && ahead.answer != NO && !target->edges.traps);
        back = back || (ahead.answer == NOT_ASKED && !target->edges.traps);
        if (ahead.answer == NOT_ASKED || target->edges.traps)
            continue;
        first = some && first != ahead.first ? 0 : ahead.first;
        some = true;
        if (ahead.answer == NO) {
            worst.answer = NO;
            continue;
        }
        best = (struct wait_ahead){YES, smaller(best.block, ahead.block), smaller(best.cluster, ahead.cluster), 0, false, 0};
        common &= ahead.varies;
        worst.varies |= ahead.varies;
        worst.block = larger(worst.block, ahead.block);
        worst.cluster = larger(worst.cluster, ahead.cluster);
    }
    if (!some)
        return (struct wait_ahead){.answer = back ? NOT_ASKED : NO, .others = others};
    best.others = worst.others = others;
    best.first = worst.first = first;
    best.varies = edges->varies == VARIES_BY_THREAD ? common : worst.varies | (worst.answer == NO ? edges->varies & OF_BLOCKS : 0);
    return edges->varies ? best : worst;
}

struct visit {
    node_id node;
    bool done;
};
static struct visit *visits;
static size_t visit_count, visit_capacity;
static uint8_t *open_nodes; /* by node: being asked, or put off */
static size_t open_capacity;
static node_id *put_off;
static size_t put_off_count, put_off_capacity;

static void visit_later(node_id node, bool done)
{
    visits = grown(visits, &visit_capacity, visit_count + 1, sizeof *visits);
    visits[visit_count++] = (struct visit){node, done};
}

static void ask(struct visit visit)
{
    struct node_state *node = &now.nodes[visit.node];
    const struct edges *edges = &node->edges;
    if (node->ahead.answer != NOT_ASKED || (open_nodes[visit.node] && !visit.done))
        return;
    if (!edges->known || edges->traps) {
        node->ahead.answer = NO;
        return;
    }
    struct wait_ahead here = events_of(node);
    here.first = edges->event_count ? visit.node + 1 : 0;
    if (here.answer == YES) {
        node->ahead = here;
        return;
    }
    if (visit.done) {
        struct wait_ahead ahead = combined(edges, edges->varies ? 0 : node->first_way);
        if (ahead.answer == NOT_ASKED) { /* it leads back to a loop's head, and has the answer of that: asked again when needed */
            put_off = grown(put_off, &put_off_capacity, put_off_count + 1, sizeof *put_off);
            put_off[put_off_count++] = visit.node;
            node->ahead.others = here.others || ahead.others;
            return;
        }
        open_nodes[visit.node] = false;
        node->ahead = (struct wait_ahead){ahead.answer, more_phases(here.block, ahead.block), more_phases(here.cluster, ahead.cluster),
                                           ahead.varies, here.others || ahead.others, here.first ? here.first : ahead.first};
        return;
    }
    open_nodes[visit.node] = true;
    visit_later(visit.node, true);
    for (size_t i = 0; i < edges->target_count; i++)
        if (now.nodes[edges->targets[i]].ahead.answer == NOT_ASKED && !open_nodes[edges->targets[i]])
            visit_later(edges->targets[i], false);
}

/* What is known of first turns changes what lies ahead. False: nothing is known of any. */
bool ask_again_after_first_turns(void)
{
    bool any = false;
    for (size_t n = 0; n < now.node_count; n++) {
        struct node_state *node = &now.nodes[n];
        any = any || node->first_waits || (node->first_way != 0 && node->first_way != SEVERAL_WAYS);
    }
    for (size_t n = 0; n < now.node_count && any; n++) {
        now.nodes[n].ahead.answer = NOT_ASKED;
        now.nodes[n].ahead.others = false;
    }
    if (any)
        wait_ahead_of(0); /* from the entry: a way back to a loop's head starts a later turn, and does not count */
    for (size_t n = 0; n < now.node_count && any; n++)
        if (now.nodes[n].ahead.answer == NOT_ASKED && now.nodes[n].edges.known)
            now.nodes[n].ahead.answer = NO;
    revisions += any;
    return any;
}

struct wait_ahead wait_ahead_of(node_id start)
{
    if (now.nodes[start].ahead.answer == NOT_ASKED) {
        open_nodes = grown(open_nodes, &open_capacity, now.node_count, sizeof *open_nodes);
        visit_later(start, false);
        while (visit_count)
            ask(visits[--visit_count]);
        while (put_off_count)
            open_nodes[put_off[--put_off_count]] = false;
        if (now.nodes[start].ahead.answer == NOT_ASKED) /* a loop without a way out */
            now.nodes[start].ahead.answer = NO;
    }
    return now.nodes[start].ahead;
}

static bool has_wait(const struct edges *edges)
{
    for (size_t i = 0; i < edges->event_count; i++)
        if (edges->events[i].kind == EVENT_WAIT)
            return true;
    return false;
}

static uint64_t block_key(const struct node_state *node)
{
    return (uint64_t)(node->section - image.sections) << 32 | node->block;
}

struct arrivals { /* the edges turned round: node n is entered from from[first[n]] up to from[first[n + 1] - 1] */
    size_t *first;
    node_id *from;
};

static struct arrivals arrivals_at_nodes(void)
{
    struct arrivals into = {.first = allocate((now.node_count + 2) * sizeof(size_t))};
    for (size_t n = 0; n < now.node_count; n++)
        for (size_t i = 0; i < now.nodes[n].edges.target_count; i++)
            into.first[now.nodes[n].edges.targets[i] + 2]++;
    for (size_t n = 2; n <= now.node_count; n++)
        into.first[n + 1] += into.first[n];
    into.from = allocate(into.first[now.node_count + 1] * sizeof(node_id));
    for (size_t n = 0; n < now.node_count; n++) /* moves first[t + 1] from the start of t's edges to their end */
        for (size_t i = 0; i < now.nodes[n].edges.target_count; i++)
            into.from[into.first[now.nodes[n].edges.targets[i] + 1]++] = (node_id)n;
    return into;
}

/* The nodes from which a wait can be reached, by walking the edges backwards from those that have one. */
uint8_t *reaching_nodes(void)
{
    uint8_t *reaching = allocate(now.node_count + 1);
    node_id *open = allocate(now.node_count * sizeof *open);
    size_t open_count = 0;
    struct arrivals into = arrivals_at_nodes();
    for (size_t n = 0; n < now.node_count; n++)
        if (now.nodes[n].edges.known && has_wait(&now.nodes[n].edges))
            reaching[n] = true, open[open_count++] = (node_id)n;
    while (open_count) {
        node_id n = open[--open_count];
        for (size_t i = into.first[n]; i < into.first[n + 1]; i++)
            if (!reaching[into.from[i]])
                reaching[into.from[i]] = true, open[open_count++] = into.from[i];
    }
    free(into.first);
    free(into.from);
    free(open);
    return reaching;
}

enum { REACHING = 1, WAITING = 2, LATER = 4 };

static bool wait_after(const struct section *section, const struct block *block, uint32_t index)
{
    for (; index < block->end; index++)
        if (section->code[index].kind == KIND_WAIT)
            return true;
    return false;
}

void mark_reaching(void)
{
    uint8_t *reaching = reaching_nodes();
    struct map blocks = {0};
    for (size_t n = 0; n < now.node_count; n++) {
        const struct node_state *node = &now.nodes[n];
        if (!node->edges.known)
            continue;
        uint32_t old = 0;
        map_get(&blocks, block_key(node) + 1, &old);
        old |= (reaching[n] ? REACHING : 0u) | (has_wait(&node->edges) ? WAITING : 0u);
        for (size_t i = 0; i < node->edges.target_count; i++)
            old |= reaching[node->edges.targets[i]] ? LATER : 0u;
        map_put(&blocks, block_key(node) + 1, old);
    }
    for (size_t i = 0; i < now.found->access_count; i++) {
        struct access *access = &now.found->accesses[i];
        struct section *section = access->place.section;
        uint32_t block = section->block_of[access->place.index], here = 0;
        map_get(&blocks, ((uint64_t)(section - image.sections) << 32 | block) + 1, &here);
        access->reaches_wait = here & LATER || (here & (WAITING | REACHING) && wait_after(section, &section->blocks[block], access->place.index));
    }
}
