/* Calls: walked as if they were inlined, unless a callee cannot be seen, does nothing of interest or calls itself. */
#include "dataflow/dataflow.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, LAST_COPY_ARGUMENT = 11, FIRST_KEPT = 16, KEPT = 2, MOST_TURNS = 2 };

/* A recursive call comes back as far along as any call of that function does, once that is known. */
struct waiting {
    node_id node, after;
    enum progress wait;
    constraints constraints;
    struct registers *registers;
};
static struct function { /* one that is called */
    struct target target;
    uint8_t returned; /* bits of enum progress: how far along its calls return */
    struct waiting *waiting;
    size_t waiting_count, waiting_capacity;
} *functions;
static size_t function_count, function_capacity;
static struct map function_numbers;
static struct frame_functions { /* by context: which functions run in it */
    uint32_t *function;
    size_t count, capacity;
} *entered;
static size_t entered_capacity;

void calls_begin(void)
{
    calls_propagate();
    map_clear(&function_numbers);
    for (size_t i = 0; i < function_count; i++)
        free(functions[i].waiting);
    function_count = 0;
}

static void forget_waiting(struct function *function)
{
    for (size_t k = 0; k < function->waiting_count; k++) {
        free(function->waiting[k].registers->words);
        free(function->waiting[k].registers);
    }
    function->waiting_count = 0;
    function->returned = 0;
}

void calls_propagate(void)
{
    for (size_t i = 0; i < function_count; i++)
        forget_waiting(&functions[i]);
    for (size_t i = 0; i < entered_capacity; i++)
        entered[i].count = 0;
}

static uint32_t function_number(struct target target)
{
    uint64_t key = (uint64_t)(target.section - image.sections) << 32 | target.block;
    uint32_t number;
    if (map_get(&function_numbers, key, &number))
        return number;
    functions = grown(functions, &function_capacity, function_count + 1, sizeof *functions);
    functions[function_count] = (struct function){.target = target};
    map_put(&function_numbers, key, (uint32_t)function_count);
    return (uint32_t)function_count++;
}

static void note_entered(context c, struct target target)
{
    uint32_t number = function_number(target);
    entered = grown(entered, &entered_capacity, c + 1u, sizeof *entered);
    struct frame_functions *here = &entered[c];
    for (size_t i = 0; i < here->count; i++)
        if (here->function[i] == number)
            return;
    here->function = grown(here->function, &here->capacity, here->count + 1, sizeof *here->function);
    here->function[here->count++] = number;
}

/* The turn in which a call of this function goes round once more: it runs in this context twice already, or in all deeper turns. With
 * several calls in a function their orders would be too many. 0: it does not. */
static context turn_again(context c, struct target target, struct section *section, uint32_t block)
{
    uint32_t number = function_number(target);
    unsigned turns = 0;
    for (context outer = c; outer != 0; outer = frame_of(outer)->outer) {
        bool runs = false;
        for (size_t i = 0; outer < entered_capacity && i < entered[outer].count; i++)
            runs = runs || entered[outer].function[i] == number;
        turns += runs;
        if (runs && (frame_of(outer)->deeper || turns == MOST_TURNS))
            return frame_of(outer)->deeper ? outer : deeper_turn(c, section, block);
    }
    return 0;
}

static struct registers *copy_of(const struct registers *registers)
{
    struct registers *copy = allocate(sizeof *copy);
    *copy = *registers;
    copy->words = allocate((registers->word_count + 1) * sizeof *copy->words);
    copy->word_capacity = registers->word_count + 1;
    if (registers->word_count)
        memcpy(copy->words, registers->words, registers->word_count * sizeof *copy->words);
    return copy;
}

static enum progress further(enum progress a, enum progress b)
{
    return a > b ? a : b;
}

static void await_return(struct target target, node_id node, node_id after, enum progress wait, constraints known, struct registers *registers)
{
    uint32_t number = function_number(target); /* may move them all */
    struct function *function = &functions[number];
    function->waiting = grown(function->waiting, &function->waiting_capacity, function->waiting_count + 1, sizeof *function->waiting);
    function->waiting[function->waiting_count++] = (struct waiting){node, after, wait, known, copy_of(registers)};
    for (unsigned p = FRESH; p < PROGRESSES; p++)
        if (function->returned >> p & 1)
            go(node, after, further(wait, (enum progress)p), known, registers);
}

void note_return(context c, enum progress wait)
{
    if (c >= entered_capacity)
        return;
    for (size_t i = 0; i < entered[c].count; i++) {
        struct function *function = &functions[entered[c].function[i]];
        if (function->returned >> wait & 1)
            continue;
        function->returned |= (uint8_t)(1u << wait);
        for (size_t k = 0; k < function->waiting_count; k++) {
            const struct waiting *one = &function->waiting[k];
            go(one->node, one->after, further(one->wait, wait), one->constraints, one->registers);
        }
    }
}

static context called_again; /* whose results are forgotten; 0: those of this place only */
static uint32_t called_at;

static bool is_result_of_call(uint32_t site)
{
    if (called_again == 0)
        return site == called_at;
    context c = context_of_site(site);
    while (c != 0 && c != called_again)
        c = frame_of(c)->outer;
    return c != 0;
}

static bool speaks_of_call(expr e)
{
    return mentions_again(e, is_result_of_call);
}

/* A call in a loop: each turn has other results by the same names. Whatever is known by them is of the last turn. */
static constraints forget_last_call(context inner, uint32_t site, constraints known, struct registers *registers)
{
    size_t kept = 0;
    called_again = inner;
    called_at = site;
    for (unsigned r = 0; r < REGISTERS; r++)
        if (speaks_of_call(registers->file[r].expression))
            registers->file[r].expression = 0;
    for (size_t i = 0; i < registers->word_count; i++) {
        struct memory_word word = registers->words[i];
        if (speaks_of_call(word.key.base))
            continue;
        if (speaks_of_call(word.value.expression))
            word.value.expression = 0;
        registers->words[kept++] = word;
    }
    registers->word_count = kept;
    forget_ways(&registers->ways, speaks_of_call);
    return constraints_without(known, speaks_of_call);
}

/* What a callee that is not walked leaves: results that may differ as its arguments did. If it cannot be seen, it may have changed the
 * registers of arguments and results. The others keep their values: the compiler lets a caller read only those that the callee keeps. */
static void after_skipped_call(struct registers *registers, const uint16_t *written, size_t count, uint32_t site, bool spares_memory)
{
    uint8_t varies = 0;
    if (written == NULL) {
        for (unsigned r = 0; r < REGISTERS; r++)
            if (r != STACK_POINTER && r != KEPT && !(r >= FIRST_KEPT && r < FIRST_P))
                registers->file[r] = (struct value){0};
        registers->word_count = spares_memory ? registers->word_count : 0;
        registers->split = 0;
        return;
    }
    for (unsigned r = FIRST_ARGUMENT; r <= LAST_ARGUMENT; r++)
        varies |= registers->file[r].varies;
    for (size_t i = 0; i < count; i++)
        registers->file[written[i]] = fresh(written[i], site, 0, varies);
}

static bool no_global(origin r)
{
    return origin_kind(r) == ORIGIN_WINDOW || (origin_kind(r) == ORIGIN_SYMBOL && is_copy_call(origin_number(r)));
}

/* Where the driver's functions for bulk copies take their operands: the source, or the tensor's map, in two registers, and the
 * barrier object that they signal. The destination is in shared memory. */
enum { COPY_SOURCE = 6, COPY_OBJECT = 10, TENSOR_OBJECT = 14 };

/* Bulk copies to shared memory are calls of the driver on sm_120, of which nothing but the name tells what they are. 0: one of
 * several, so any argument may be the source, and any object is signalled. */
static void copy_call(const struct node_state *node, uint32_t index, enum progress wait, const struct registers *registers, name callee)
{
    const struct value *file = registers->file;
    provenance from = 0;
    bool tensor = callee && strstr(text_of(callee), "_tensor_") != NULL;
    expr object = callee ? file[tensor ? TENSOR_OBJECT : COPY_OBJECT].expression : 0;
    bool to_many = callee && strstr(text_of(callee), "multicast") != NULL;
    if (wait == WAITED || wait == SIGNALLED)
        signal_object(&now.gathered, object, to_many || !is_in_own_block(object));
    if (now.follow_waited)
        return;
    if (callee && !tensor)
        from = provenance_union(file[COPY_SOURCE].provenance, file[COPY_SOURCE + 1].provenance);
    else if (callee)
        from = tensor_map_provenance(&file[COPY_SOURCE]);
    for (unsigned r = FIRST_ARGUMENT; r <= LAST_COPY_ARGUMENT && !callee; r++)
        from = provenance_union(from, tensor_map_provenance(&file[r]));
    add_access(node->section, index, KIND_ASYNC_LOAD, wait, provenance_without(from, no_global), node->context,
               registers->passed);
}

/* The call that was looked at last: its result is new memory; it is the driver's, and stores nothing of the user's. */
static bool allocates, is_systems;
static const struct target unseen_code[1]; /* code that touches no global memory, or that cannot be seen */

static int by_text(const void *a, const void *b)
{
    return strcmp(text_of(*(const name *)a), text_of(*(const name *)b));
}

/* Where the functions of these names are, if all that the register holds are names; 0 if one of them is not in this file. */
static size_t named_targets(struct section *caller, name *names, size_t count, const struct target **targets)
{
    static struct target *found;
    static size_t capacity;
    found = grown(found, &capacity, count, sizeof *found);
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++)
        if ((found[i] = resolve(caller, names[i])).section == NULL)
            return 0;
    *targets = found;
    return count;
}

static size_t called_through(const struct node_state *node, uint32_t index, enum progress wait, const struct registers *registers,
                             const struct target **targets)
{
    static name *names;
    static size_t capacity;
    const struct operand *through = transfer_register(&node->section->code[index]);
    const origin *list;
    unsigned total = through ? provenance_list(operand_value(registers, through, 0).provenance, &list) : 0;
    size_t count = 0, copies = 0, systems = 0;
    names = grown(names, &capacity, total + 1u, sizeof *names);
    for (unsigned i = 0; i < total; i++)
        if (origin_kind(list[i]) == ORIGIN_SYMBOL && !(list[i] & ORIGIN_VIA)) {
            names[count] = origin_number(list[i]);
            copies += is_copy_call(names[count]);
            systems += is_system_call(names[count]);
            count++;
        }
    *targets = unseen_code;
    if (count && copies == count) {
        copy_call(node, index, wait, registers, count == 1 ? names[0] : 0);
        return 1;
    }
    if (count && count == total) {
        allocates = count == 1 && is_allocation(names[0]);
        is_systems = systems == count;
        if (is_systems)
            return 1;
        size_t resolved = named_targets(node->section, names, count, targets);
        if (resolved)
            return resolved;
    }
    size_t possible = indirect_targets(node->section, targets);
    if (possible == 0) {
        *targets = unseen_code;
        if (!now.follow_waited)
            add_unresolved(node->section, index, "a function pointer of unknown value", 0);
    }
    return possible ? possible : 1;
}

/* Where a call may go. */
static size_t call_targets(const struct node_state *node, const struct block *block, enum progress wait, const struct registers *registers,
                           const struct target **targets)
{
    static struct target direct;
    uint32_t index = block->end - 1;
    if (block->callee == 0)
        return called_through(node, index, wait, registers, targets);
    *targets = unseen_code;
    allocates = is_allocation(block->callee);
    is_systems = is_system_call(block->callee);
    if (is_systems)
        return 1;
    if (is_copy_call(block->callee)) {
        copy_call(node, index, wait, registers, block->callee);
        return 1;
    }
    direct = resolve(node->section, block->callee);
    if (direct.section == NULL && !now.follow_waited)
        add_unresolved(node->section, index, NULL, block->callee);
    *targets = &direct;
    return 1;
}

static void enter_callee(node_id node, struct target target, node_id after, bool returns, enum progress wait, constraints known,
                         struct registers *registers)
{
    const struct node_state *here = &now.nodes[node];
    context inner = here->context;
    if (returns)
        inner = context_in(here->context, now.nodes[after].section, now.nodes[after].block);
    if (returns && here->section->blocks[here->block].in_loop)
        known = forget_last_call(inner, 0, known, registers);
    note_entered(inner, target);
    go(node, node_at(inner, target.section, target.block), wait, known, registers);
}

/* Of the arguments of a deeper call only numbers are known, and where pointers point: each turn has others, by the same names. The
 * stack pointer stands for that of each turn, none of whose words is known yet. */
static void forget_turn(struct registers *registers, expr stack)
{
    for (unsigned r = 0; r < REGISTERS; r++)
        if (is_predicate(r) || !is_one_of_numbers(registers->file[r].expression))
            registers->file[r].expression = 0;
    registers->file[STACK_POINTER].expression = stack;
    registers->word_count = 0;
    registers->ways = (struct ways){{0}};
}

/* All deeper turns of a recursion are one context, which is entered again by each: only there may be what ends it. */
static void enter_deeper_turn(node_id node, struct target target, context turn, enum progress wait, struct registers *registers)
{
    struct frame *frame = frame_of(turn);
    if (!frame->stack)
        frame->stack = registers->file[STACK_POINTER].expression;
    forget_turn(registers, frame->stack);
    note_entered(turn, target);
    go(node, node_at(turn, target.section, target.block), wait, now.assumed, registers);
}

/* Whether a callee that is not walked, or what it calls, could have been blamed or could have waited. */
static bool matters(const struct section *callee)
{
    static struct map known; /* by name */
    uint32_t holds = 0;
    if (!map_get(&known, callee->name, &holds)) {
        uint32_t kinds = closure_kinds(callee->name);
        for (uint8_t kind = 0; kind < KINDS; kind++)
            holds |= kinds >> kind & 1 && (kind_accesses(kind) || kind == KIND_WAIT || kind == KIND_UNKNOWN);
        map_put(&known, callee->name, holds);
    }
    return holds;
}

void call(node_id node, enum progress wait, constraints known, struct registers *registers)
{
    struct section *section = now.nodes[node].section;
    const struct block *block = &section->blocks[now.nodes[node].block];
    context c = now.nodes[node].context;
    bool returns = block->falls != NO_BLOCK;
    node_id after = returns ? node_after(node) : 0;
    uint32_t site = (now.nodes[node].first_site | (block->in_loop ? AGAIN_SITE : 0)) + (block->end - 1 - block->start);
    bool returned_to = returns && context_with(c, section, (uint32_t)block->falls) != 0;
    bool deep = (c != 0 && frame_of(c)->depth >= MOST_DEPTH) || nodes_are_many();
    const struct target *targets;
    allocates = is_systems = false;
    size_t count = call_targets(&now.nodes[node], block, wait, registers, &targets);
    for (size_t i = 0; i < count; i++) {
        struct target target = targets[i];
        size_t written_count = 0;
        const uint16_t *written = target.section ? written_if_harmless(target, &written_count) : NULL;
        context again = returns && target.section && !written ? turn_again(c, target, section, (uint32_t)block->falls) : 0;
        bool recursive = returned_to || again != 0;
        if (target.section != NULL && written == NULL && !recursive && !deep) {
            enter_callee(node, target, after, returns, wait, known, registers);
            continue;
        }
        bool turns = target.section != NULL && written == NULL && recursive && !deep;
        if (turns) {
            struct registers *deeper = copy_of(registers);
            context turn = again ? again : deeper_turn(c, section, (uint32_t)block->falls);
            enter_deeper_turn(node, target, turn, wait, deeper);
            free(deeper->words);
            free(deeper);
        } else if (target.section != NULL && written == NULL && !now.follow_waited && matters(target.section))
            add_unresolved(section, block->end - 1, "a function so deep in calls that it was not followed there", 0);
        if (block->in_loop)
            known = forget_last_call(0, site, known, registers);
        after_skipped_call(registers, written, written_count, site, is_systems);
        for (unsigned r = FIRST_ARGUMENT; allocates && r < FIRST_ARGUMENT + 2; r++)
            registers->file[r] = fresh(r, site, provenance_of(origin_of(ORIGIN_WINDOW, WINDOW_HEAP)), VARIES_BY_THREAD);
        if (recursive && target.section != NULL)
            await_return(target, node, after, wait, known, registers);
        else if (returns)
            go(node, after, wait, known, registers);
    }
}
