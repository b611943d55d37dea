/* The analysis: which accesses can a thread make before it, or its block, has waited?
 *
 * Every path from the entry is followed until the thread has waited; what happens then is of no interest. On the way the
 * evaluator keeps what conditions say, so a path that contradicts itself (warp 0 here, not warp 0 there) does not count, and
 * addresses are followed back to parameters. Calls are walked as if they were inlined.
 */
#include "dataflow/dataflow.h"

#include <stdlib.h>
#include <string.h>

enum {
    STATES_PER_NODE = 24, /* more, and paths are merged: only what they share stays known */
    FEW_STATES = 6,       /* the same where 24 are too many */
    VISITS = 6000,        /* more, and fewer states are kept; with these, conditions are not kept apart */
    FIRST_VISITS = 500,   /* with fewer nothing is estimated */
    WEAKENED = 64,        /* of a merged state, how often its constraints are weakened before none is left */
    MOST_NODES = 1 << 15, /* with more, calls are no longer walked: real kernels have had no 3,000 */
    ROUNDS = 4 /* of learning which conditions to keep */
};

struct analysis now;

/* memory of one pass: given back all at once ------------------------------------------------------------------------ */

enum { CHUNK = 1 << 20 };
static struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
} *chunks, *chunk; /* the first; the one lent from */

static struct chunk *another_chunk(size_t bytes)
{
    size_t size = bytes > CHUNK ? bytes : CHUNK;
    struct chunk *new = allocate(sizeof *new + size);
    new->size = size;
    return new;
}

void *lent(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    struct chunk **next = &chunks;
    while (chunk != NULL && chunk->used + bytes > chunk->size) {
        next = &chunk->next;
        chunk = chunk->next;
        if (chunk != NULL)
            chunk->used = 0;
    }
    if (chunk == NULL)
        chunk = *next = another_chunk(bytes);
    chunk->used += bytes;
    return chunk->bytes + chunk->used - bytes;
}

static void give_back_all(void)
{
    chunk = chunks;
    if (chunk != NULL)
        chunk->used = 0;
}

/* nodes --------------------------------------------------------------------------------------------------------------- */

static struct map node_numbers;
static uint32_t sites;
static size_t entered, learnt; /* nodes on this pass; on the one that learns */

bool nodes_are_many(void)
{
    return now.node_count >= MOST_NODES;
}

context context_of_site(uint32_t site)
{
    node_id low = 0, high = (node_id)now.node_count;
    while (high - low > 1) {
        node_id middle = low + (high - low) / 2;
        if ((now.nodes[middle].first_site & ~AGAIN_SITE) <= (site & ~AGAIN_SITE))
            low = middle;
        else
            high = middle;
    }
    return now.nodes[low].context;
}

/* Calls come where they return to, and just before that. */
static uint32_t *place_of(context c, const struct section *section, uint32_t block)
{
    uint32_t depth = c == 0 ? 0 : frame_of(c)->depth;
    uint32_t *place = allocate((depth + 2) * sizeof *place);
    place[0] = depth + 1;
    place[depth + 1] = 2 * section->blocks[block].order + 1;
    for (; c != 0; c = frame_of(c)->outer)
        place[frame_of(c)->depth] = 2 * frame_of(c)->section->blocks[frame_of(c)->block].order;
    return place;
}

node_id node_at(context c, struct section *section, uint32_t block)
{
    uint32_t number;
    if (map_get(&node_numbers, place_key(c, section, block), &number))
        return number;
    find_loops(section);
    now.nodes = grown(now.nodes, &now.node_capacity, now.node_count + 1, sizeof *now.nodes);
    struct node_state *node = &now.nodes[now.node_count];
    *node = (struct node_state){.context = c, .section = section, .block = block, .first_site = sites + 1};
    if (is_called_again(c))
        node->first_site |= AGAIN_SITE;
    node->place = place_of(c, section, block);
    sites += section->blocks[block].end - section->blocks[block].start;
    map_put(&node_numbers, place_key(c, section, block), (uint32_t)now.node_count);
    return (node_id)now.node_count++;
}

static node_id *ways_of(const struct node_state *node, uint32_t *count)
{
    const struct block *block = &node->section->blocks[node->block];
    const struct frame *frame = block->last == KIND_RETURN ? frame_of(node->context) : NULL;
    struct section *section = node->section;
    context c = node->context;
    node_id *ways = allocate((block->jump_count + 2) * sizeof *ways);
    *count = 0;
    if (frame != NULL)
        ways[(*count)++] = node_at(frame->outer, frame->section, frame->block);
    for (uint32_t i = 0; i < block->jump_count && block->last != KIND_RETURN; i++)
        ways[(*count)++] = node_at(c, section, block->jumps[i]);
    if (block->falls != NO_BLOCK)
        ways[*count] = node_at(c, section, (uint32_t)block->falls);
    return ways;
}

const node_id *ways_out(node_id node, unsigned *count)
{
    if (now.nodes[node].ways == NULL) {
        uint32_t jumps;
        node_id *ways = ways_of(&now.nodes[node], &jumps);
        now.nodes[node].ways = ways;
        now.nodes[node].jump_count = jumps;
    }
    *count = now.nodes[node].jump_count;
    return now.nodes[node].ways;
}

node_id node_after(node_id node)
{
    unsigned jumps;
    const node_id *ways = ways_out(node, &jumps);
    return ways[jumps];
}

/* where conditions are asked ------------------------------------------------------------------------------------------ */

static uint64_t *asked_at; /* by constraint key: section and index of the first place, plus 1 */
static uint8_t *asked_often, *kept; /* by constraint key: at more than one place; kept in this pass */
static uint8_t *divides;            /* by constraint key: decides at a branch whether a thread goes past a wait */
static size_t asked_capacity, often_capacity, kept_capacity, divides_capacity, kept_count, asked_often_count;
static struct map kept_constraints, dividing_constraints; /* constraints -> those of them that are kept; that divide */

void note_keys(const constraint_key *keys, unsigned count, const struct section *section, uint32_t index)
{
    uint64_t place = ((uint64_t)(section - image.sections) << 32 | index) + 1;
    for (unsigned i = 0; i < count; i++) {
        asked_at = grown(asked_at, &asked_capacity, keys[i] + 1u, sizeof *asked_at);
        asked_often = grown(asked_often, &often_capacity, asked_capacity, sizeof *asked_often);
        if (asked_at[keys[i]] == 0)
            asked_at[keys[i]] = place;
        if (asked_at[keys[i]] != place && !asked_often[keys[i]]) {
            asked_often[keys[i]] = 1;
            asked_often_count++;
        }
    }
}

void note_formula(expr formula, node_id at, uint32_t index)
{
    struct node_state *node = &now.nodes[at];
    const struct block *block = &node->section->blocks[node->block];
    constraint_key keys[64];
    if (formula == 0 || formula == EXPR_TRUE || formula == EXPR_FALSE)
        return;
    if (now.naming) {
        note_variables(formula);
        return;
    }
    if (now.partitioned) {
        note_keys(keys, constraint_keys(formula, keys, 64), node->section, index);
        return;
    }
    if (node->noted == NULL)
        node->noted = allocate((block->end - block->start) * sizeof *node->noted);
    if (node->noted[index - block->start] == formula)
        return;
    node->noted[index - block->start] = formula;
    note_keys(keys, constraint_keys(formula, keys, 64), node->section, index);
}

void note_divides(expr formula)
{
    constraint_key keys[64];
    unsigned count = formula == 0 ? 0 : constraint_keys(formula, keys, 64);
    for (unsigned i = 0; i < count; i++) {
        divides = grown(divides, &divides_capacity, keys[i] + 1u, sizeof *divides);
        if (!divides[keys[i]])
            map_clear(&dividing_constraints);
        divides[keys[i]] = 1;
    }
}

static constraints those_that_divide(constraints all)
{
    uint32_t found;
    if (all == 0 || map_get(&dividing_constraints, all, &found))
        return all == 0 ? 0 : found;
    found = constraints_kept(all, divides, divides_capacity);
    map_put(&dividing_constraints, all, found);
    return found;
}

static constraints those_kept(constraints all)
{
    uint32_t found;
    if (!now.keep_constraints || all == 0)
        return now.assumed;
    if (map_get(&kept_constraints, all, &found))
        return found;
    found = constraints_kept(all, kept, kept_count);
    map_put(&kept_constraints, all, found);
    return found;
}

/* whether a pass would only repeat the last one ---------------------------------------------------------------------------------- */

static uint32_t revisions_before[2]; /* the last pass, by follow_waited */

static void note_pass(void)
{
    revisions_before[now.follow_waited] = revisions;
    signals_clear(&now.asked[now.follow_waited]);
}

bool would_repeat(bool follow_waited, const struct signals *before, const struct signals *after)
{
    return revisions == revisions_before[follow_waited] && answered_alike(&now.asked[follow_waited], before, after);
}

bool keep_more(bool first)
{
    static size_t last;
    bool changes = first; /* what is kept of a set that was met */
    if (!first && asked_often_count == last)
        return false;
    last = asked_often_count;
    kept_count = often_capacity;
    kept = grown(kept, &kept_capacity, kept_count, sizeof *kept);
    if (kept_count)
        memcpy(kept, asked_often, kept_count);
    for (size_t i = 0; i < kept_constraints.capacity && !changes; i++)
        if (kept_constraints.keys[i] != 0)
            changes = constraints_kept((constraints)(kept_constraints.keys[i] - 1), kept, kept_count) != kept_constraints.values[i];
    if (changes)
        map_clear(&kept_constraints);
    return changes || !would_repeat(false, NULL, NULL);
}

/* the queue: first what leads to the rest --------------------------------------------------------------------------------- */

static struct queued {
    node_id node;
    uint32_t state, pushed, first; /* first: of the node's place */
} *queue;
static size_t queue_count, queue_capacity;
static uint32_t pushed;

static bool comes_before(const struct queued *a, const struct queued *b)
{
    if (a->first != b->first)
        return a->first < b->first;
    const uint32_t *first = now.nodes[a->node].place, *second = now.nodes[b->node].place;
    uint32_t most = first[0] < second[0] ? first[0] : second[0];
    for (uint32_t i = 2; i <= most; i++)
        if (first[i] != second[i])
            return first[i] < second[i];
    return first[0] != second[0] ? first[0] < second[0] : a->pushed < b->pushed;
}

static void push(node_id node, uint32_t state)
{
    queue = grown(queue, &queue_capacity, queue_count + 1, sizeof *queue);
    size_t at = queue_count++;
    struct queued one = {node, state, pushed++, now.nodes[node].place[1]};
    for (; at > 0 && comes_before(&one, &queue[(at - 1) / 2]); at = (at - 1) / 2)
        queue[at] = queue[(at - 1) / 2];
    queue[at] = one;
}

static struct queued pop(void)
{
    struct queued first = queue[0], last = queue[--queue_count];
    size_t at = 0;
    for (size_t child = 1; child < queue_count; child = 2 * at + 1) {
        if (child + 1 < queue_count && comes_before(&queue[child + 1], &queue[child]))
            child++;
        if (!comes_before(&queue[child], &last))
            break;
        queue[at] = queue[child];
        at = child;
    }
    queue[at] = last;
    return first;
}

/* entering a node ------------------------------------------------------------------------------------------------------------ */

static void fill(const struct live *live, struct state *state, const struct registers *from)
{
    state->values = lent((live->count + 1) * sizeof *state->values);
    struct value *value = state->values;
    for (uint32_t n = 0; n < live->run_count; value += live->runs[n++].count)
        memcpy(value, &from->file[live->runs[n].first], live->runs[n].count * sizeof *value);
    state->words = lent((from->word_count + 1) * sizeof *state->words);
    state->word_count = from->word_count;
    if (from->word_count)
        memcpy(state->words, from->words, from->word_count * sizeof *state->words);
    state->split = from->split;
    state->ways = from->ways;
    state->phases = from->phases;
    state->passed = from->passed;
}

static struct state *state_with(node_id at, enum progress wait, constraints known, const expr *numbers, uint64_t turns)
{
    const struct node_state *node = &now.nodes[at];
    for (size_t i = 0; i < node->state_count; i++) {
        struct state *state = &node->states[i];
        if (state->wait == wait && state->constraints == known && state->turns == turns && !state->merged &&
            same_numbers(at, state->numbers, numbers))
            return state;
    }
    return NULL;
}

/* At the head of a loop, a state whose constraints hold here as well: a count that is compared with a limit says more of the limit
 * on each turn, so all turns would be kept apart. */
static struct state *earlier_turn(node_id at, enum progress wait, constraints known, const expr *numbers, uint64_t turns)
{
    const struct node_state *node = &now.nodes[at];
    for (size_t i = 0; i < node->state_count && node->section->blocks[node->block].heads_loop; i++) {
        struct state *state = &node->states[i];
        if (state->wait == wait && state->turns == turns && !state->merged && same_numbers(at, state->numbers, numbers) &&
            constraints_common(state->constraints, known) == state->constraints)
            return state;
    }
    return NULL;
}

/* The state of this node in which paths are merged that are too many to be kept apart, but for what divides waiters from others; its
 * constraints become what it shares with this path, and `weaker` says whether that is less than before. NULL: there is none yet. */
static struct state *merged_state(const struct node_state *node, enum progress wait, uint64_t turns, constraints known, bool *weaker)
{
    bool many = node->state_count >= 2 * now.most_states;
    constraints divided = those_that_divide(known);
    for (size_t i = 0; i < node->state_count; i++) {
        struct state *state = &node->states[i];
        if (!state->merged || state->wait != wait || state->turns != turns || (!many && state->divided != divided))
            continue;
        constraints common = state->weakened < WEAKENED ? constraints_common(state->constraints, known) : now.assumed;
        *weaker = common != state->constraints;
        state->weakened += *weaker;
        state->constraints = common;
        return state;
    }
    return NULL;
}

void enter(node_id target, enum progress wait, constraints known, const struct registers *registers)
{
    if (now.partitioned && enter_each_choice(target, wait, known, registers))
        return;
    struct node_state *node = &now.nodes[target];
    expr *numbers = now.partitioned ? numbers_of(target, registers) : NULL;
    known = those_kept(known);
    uint64_t turns = now.keep_constraints ? registers->turns : 0;
    struct state *state = state_with(target, wait, known, numbers, turns);
    if (state == NULL)
        state = earlier_turn(target, wait, known, numbers, turns);
    bool full = state == NULL && node->state_count >= now.most_states, weaker = false;
    if (full && numbers != NULL)
        state = state_with(target, wait, known, numbers = NULL, turns);
    if (full && state == NULL && (state = merged_state(node, wait, turns, known, &weaker)) != NULL)
        now.merged = true;
    if (node->live == NULL) {
        entered++;
        node->live = live_of(node->section, node->block);
        node->matters = liveness_of(node->section, attention_to(node->section))->matters;
    }
    if (state == NULL) {
        node->states = grown(node->states, &node->state_capacity, node->state_count + 1, sizeof *node->states);
        state = &node->states[node->state_count++];
        *state = (struct state){.wait = wait, .constraints = known, .numbers = numbers, .turns = turns, .merged = full,
                                .divided = full ? those_that_divide(known) : 0};
        fill(node->live, state, registers);
    } else if (!join_state(target, state, registers) && !weaker) {
        return;
    }
    if (!state->queued) {
        state->queued = true;
        push(target, (uint32_t)(state - node->states));
    }
}

static void add_target(struct edges *edges, node_id target)
{
    for (size_t i = 0; i < edges->target_count; i++)
        if (edges->targets[i] == target)
            return;
    edges->targets = grown(edges->targets, &edges->target_capacity, edges->target_count + 1, sizeof *edges->targets);
    edges->targets[edges->target_count++] = target;
}

void go(node_id from, node_id target, enum progress wait, constraints known, struct registers *registers)
{
    if (now.learning)
        add_target(&now.nodes[from].edges, target);
    uint64_t turns = registers->turns;
    if (now.keep_constraints)
        registers->turns = turns_after(from, target, turns);
    enter(target, wait, known, registers);
    registers->turns = turns;
}

/* driving ---------------------------------------------------------------------------------------------------------------------- */

static struct registers working;

/* Whether a pass will need more than VISITS, judged by how many nodes it has entered so far: later nodes take no fewer visits than earlier ones.
 * Of 382 passes that ended in time none was estimated at more than 6,600. With an assumption there may be fewer nodes than were learnt, so
 * then nothing is estimated. */
static bool are_too_many(size_t visits)
{
    if (visits > VISITS)
        return true;
    return visits >= FIRST_VISITS && now.assumed == 0 && !now.partitioned && visits * learnt > entered * (VISITS + VISITS / 3);
}

static void visit(struct queued next)
{
    struct node_state *node = &now.nodes[next.node];
    struct state *state = &node->states[next.state];
    state->queued = false;
    memset(working.file, 0, sizeof working.file);
    const struct value *value = state->values;
    for (uint32_t n = 0; n < node->live->run_count; value += node->live->runs[n++].count)
        memcpy(&working.file[node->live->runs[n].first], value, node->live->runs[n].count * sizeof *value);
    working.words = grown(working.words, &working.word_capacity, state->word_count, sizeof *working.words);
    working.word_count = state->word_count;
    if (state->word_count)
        memcpy(working.words, state->words, state->word_count * sizeof *working.words);
    working.split = state->split;
    working.ways = state->ways;
    working.phases = state->phases;
    working.passed = state->passed;
    working.turns = state->turns;
    walk(next.node, state->wait, state->constraints, &working);
}

bool propagate(void)
{
    if (!now.follow_waited)
        found_begin();
    note_pass();
    for (size_t n = 0; n < now.node_count; n++) {
        now.nodes[n].state_count = 0;
        now.nodes[n].live = NULL;
        if (!now.naming && !now.partitioned)
            now.nodes[n].varied = VARIES_IN_ANY_WAY;
    }
    give_back_all();
    calls_propagate();
    queue_count = 0;
    pushed = 0;
    memset(&working.file, 0, sizeof working.file);
    working.word_count = 0;
    working.split = 0;
    working.ways = (struct ways){{0}};
    working.phases = (struct phases){0};
    working.turns = 0;
    working.passed = (struct place){0};
    now.merged = false;
    entered = 0;
    enter(node_at(0, now.section, 0), FRESH, now.assumed, &working);
    for (size_t visits = 1; queue_count; visits++) {
        struct queued next = pop();
        if (now.keep_constraints && are_too_many(visits))
            return false;
        if (now.partitioned && now.found->state_count >= now.enough)
            return false;
        visit(next);
    }
    if (now.learning)
        learnt = entered;
    return true;
}

bool propagate_with_few_states(void)
{
    if (!now.keep_constraints || now.most_states == FEW_STATES)
        return false;
    now.most_states = FEW_STATES;
    return propagate();
}

bool propagate_or_merge(void)
{
    if (propagate() || propagate_with_few_states())
        return false;
    now.keep_constraints = false;
    propagate();
    return true;
}

/* A kernel full of calls has so many nodes that those of several do not fit into memory together. */
static void forget_nodes(void)
{
    for (size_t n = 0; n < now.node_count; n++) {
        struct node_state *node = &now.nodes[n];
        free(node->noted);
        free(node->ways);
        free(node->place);
        free(node->edges.targets);
        free(node->edges.events);
        free(node->states);
        *node = (struct node_state){0};
    }
}

static void begin(const struct kernel *kernel, struct findings *found)
{
    forget_nodes();
    struct node_state *nodes = now.nodes;
    size_t capacity = now.node_capacity;
    struct signals signals = now.signals, gathered = now.gathered, asked[2] = {now.asked[0], now.asked[1]};
    now = (struct analysis){.kernel = kernel, .section = section_named(kernel->name), .nodes = nodes, .node_capacity = capacity,
                            .learning = true, .most_states = STATES_PER_NODE, .signals = signals, .gathered = gathered, .asked = {asked[0], asked[1]},
                            .found = found};
    map_clear(&node_numbers);
    contexts_begin();
    map_clear(&kept_constraints);
    map_clear(&dividing_constraints);
    if (divides_capacity)
        memset(divides, 0, divides_capacity);
    sites = 0;
    if (asked_capacity)
        memset(asked_at, 0, asked_capacity * sizeof *asked_at);
    if (often_capacity)
        memset(asked_often, 0, often_capacity);
    asked_often_count = 0;
    values_begin();
    evaluator_begin(kernel);
    loops_begin();
    ways_begin();
    calls_begin();
}

void analyse(const struct kernel *kernel, struct findings *found)
{
    *found = (struct findings){0};
    begin(kernel, found);
    if (now.section == NULL || now.section->block_count == 0)
        return;
    bool imprecise = false;
    propagate(); /* first pass: branches, conditions, what is stored to local memory */
    now.learning = false;
    now.keep_constraints = true;
    for (int round = 0; round < ROUNDS && !imprecise && keep_more(round == 0); round++)
        imprecise = propagate_or_merge(); /* conditions kept apart let more conditions be told */
    if (!imprecise && ask_again_after_first_turns())
        imprecise = propagate_or_merge();
    if (now.asked_signals)
        imprecise = judge_signals() || imprecise;
    found->imprecise = imprecise || now.merged;
    if (!imprecise && found->access_count)
        partition_states();
    mark_reaching();
    judge_deciders();
}
