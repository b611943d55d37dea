/* Questions about the graph of all paths: does a wait lie ahead? */
#include "dataflow/dataflow.h"

/* Whether the first event that decides is a wait. */
static enum answer first_event(const struct edges *edges, bool past)
{
    for (size_t i = 0; i < edges->event_count; i++) {
        const struct event *event = &edges->events[i];
        if (!event->is_wait && !past)
            return NO;
        if (event->is_wait && event->varies)
            return YES;
    }
    return NOT_ASKED;
}

static uint8_t *answer_of(node_id node, bool past)
{
    return past ? &now.nodes[node].waits_later : &now.nodes[node].will_wait;
}

/* From the answers of the nodes behind it; ways back in a loop have none yet and are left out. */
static enum answer combined(const struct edges *edges, bool past)
{
    bool any = false, all = true, some = false;
    for (size_t i = 0; i < edges->target_count; i++) {
        node_id target = edges->targets[i];
        uint8_t answer = *answer_of(target, past);
        if (answer == NOT_ASKED || now.nodes[target].edges.traps)
            continue;
        some = true;
        any = any || answer == YES;
        all = all && answer == YES;
    }
    return some && (edges->varies ? any : all) ? YES : NO;
}

struct visit {
    node_id node;
    bool done;
};
static struct visit *visits;
static size_t visit_count, visit_capacity;
static uint8_t *open_nodes; /* by node: being asked */
static size_t open_capacity;

static void visit_later(node_id node, bool done)
{
    visits = grown(visits, &visit_capacity, visit_count + 1, sizeof *visits);
    visits[visit_count++] = (struct visit){node, done};
}

static void ask(struct visit visit, bool past)
{
    const struct edges *edges = &now.nodes[visit.node].edges;
    uint8_t *answer = answer_of(visit.node, past);
    if (*answer != NOT_ASKED)
        return;
    if (!edges->known || edges->traps) {
        *answer = NO;
        return;
    }
    enum answer early = first_event(edges, past);
    if (early != NOT_ASKED) {
        *answer = (uint8_t)early;
        return;
    }
    if (visit.done) {
        open_nodes[visit.node] = false;
        *answer = (uint8_t)combined(edges, past);
        return;
    }
    open_nodes[visit.node] = true;
    visit_later(visit.node, true);
    for (size_t i = 0; i < edges->target_count; i++)
        if (*answer_of(edges->targets[i], past) == NOT_ASKED && !open_nodes[edges->targets[i]])
            visit_later(edges->targets[i], false);
}

bool waits_before_barrier(node_id start, bool past)
{
    if (*answer_of(start, past) == NOT_ASKED) {
        open_nodes = grown(open_nodes, &open_capacity, now.node_count, sizeof *open_nodes);
        visit_later(start, false);
        while (visit_count)
            ask(visits[--visit_count], past);
    }
    return *answer_of(start, past) == YES;
}

static bool has_wait(const struct edges *edges)
{
    for (size_t i = 0; i < edges->event_count; i++)
        if (edges->events[i].is_wait)
            return true;
    return false;
}

static uint64_t block_key(const struct node_state *node)
{
    return (uint64_t)(node->section - image.sections) << 32 | node->block;
}

/* The nodes from which a wait can be reached, by walking the edges until nothing is added. */
uint8_t *reaching_nodes(void)
{
    uint8_t *reaching = allocate(now.node_count + 1);
    for (size_t n = 0; n < now.node_count; n++)
        reaching[n] = now.nodes[n].edges.known && has_wait(&now.nodes[n].edges);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t n = now.node_count; n-- > 0;) {
            const struct edges *edges = &now.nodes[n].edges;
            for (size_t i = 0; i < edges->target_count && !reaching[n]; i++)
                reaching[n] = reaching[edges->targets[i]], changed = changed || reaching[n];
        }
    }
    return reaching;
}

enum { REACHING = 1, WAITING = 2, LATER = 4 };

static bool wait_behind(const struct section *section, const struct block *block, uint32_t index)
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
        access->reaches_wait = here & LATER || (here & (WAITING | REACHING) && wait_behind(section, &section->blocks[block], access->place.index));
    }
}
