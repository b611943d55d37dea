/* The analysis of one kernel, shared by fixed_point.c and the files named below. */
#ifndef PDL_LINT_PATHS_H
#define PDL_LINT_PATHS_H

#include "analysis.h"

typedef uint32_t context; /* the calls on the way here; 0: none, the kernel itself */
typedef uint32_t node_id; /* a block in a context */

enum { MOST_NUMBERS = 8, MOST_SLOTS = 64 };

struct frame { /* of a context: the innermost call */
    context outer;
    struct section *section; /* in which it returns */
    uint32_t block;          /* to which */
    uint32_t depth;          /* 1: called by the kernel */
    bool deeper;             /* all turns of a recursion but the first */
    expr stack;              /* of those: the stack pointer */
};

enum event_kind {
    EVENT_WAIT,
    EVENT_BLOCK_BARRIER,   /* the thread arrives at a barrier of the whole block */
    EVENT_CLUSTER_BARRIER, /* the thread arrives at the cluster's barrier */
    EVENT_OTHER_BARRIER,   /* it waits at a named barrier or for a barrier object */
};
struct event { /* what decides whether a thread waits before it meets its siblings */
    uint8_t kind;
    uint8_t varies; /* of a wait: whether only some threads execute it */
};

struct edges { /* how a node can be left, gathered on the first pass */
    node_id *targets;
    struct event *events; /* in order */
    size_t target_count, target_capacity, event_count, event_capacity;
    uint8_t varies;
    bool known; /* the node was walked */
    bool traps; /* ends the whole grid, so it does not matter what its threads would have done */
};

struct slot { /* of a node: a register or word whose numbers are kept apart there (partitioning.c) */
    uint16_t reg; /* NO_REGISTER: the word */
    struct memory_key key;
    uint32_t variable;
    unsigned seen_count;
    expr seen[MOST_NUMBERS]; /* those kept apart; others are joined */
};

struct state { /* what is known at the entry of a node, for one progress and one set of constraints; what it is found by comes first */
    enum progress wait;
    constraints constraints;
    expr *numbers; /* of the node's slots; 0: any that is not kept apart */
    uint64_t turns;
    bool merged; /* of paths with different constraints, because there were too many states; it keeps what they share */
    bool queued;
    uint8_t weakened; /* how often its constraints became fewer */
    uint8_t split;
    constraints divided; /* of a merged state: what all of them knew of the conditions that divide waiters from others */
    struct phases phases;
    struct place passed;
    struct ways ways; /* as of struct registers */
    struct value *values; /* of the node's live registers, in that order */
    struct memory_word *words;
    size_t word_count, word_capacity;
};

struct live { /* registers that matter at the entry of a block, as runs of neighbours */
    bool made;
    uint32_t count, run_count; /* registers; runs */
    uint16_t *reg;
    struct run {
        uint16_t first, count;
    } *runs;
};

enum answer { NOT_ASKED, NO, YES };
#define SEVERAL_WAYS UINT32_MAX
struct wait_ahead { /* whether a thread surely waits from here on, and how many barriers it arrives at before that */
    uint8_t answer;
    uint8_t block, cluster; /* up to MANY_PHASES */
    uint8_t varies;         /* enum varies: which blocks have such a thread; 0: all that get here */
    bool others;            /* also named barriers or barrier objects */
    uint32_t first;         /* 1 + the node where every way from here first waits or meets others; 0: not the same for all */
};
struct node_state {
    context context;
    struct section *section;
    uint32_t block;
    uint32_t first_site; /* number of the place of its first instruction, in the order of the nodes; with AGAIN_SITE if that holds */
    const struct live *live; /* NULL: not entered on this pass */
    const uint8_t *matters;  /* enum matter of each instruction of its section */
    expr *noted;             /* of each instruction: the last condition noted there */
    node_id *ways;           /* to which it jumps, and the one that follows it, if control can fall through */
    uint32_t jump_count;
    uint32_t *place; /* in the order of visits: one number for each call, and the own */
    struct edges edges;
    bool loses_numbers; /* in a loop, at its entry, where paths with different ones meet */
    struct slot *slots;
    size_t slot_count, slot_capacity;
    struct state *states;
    size_t state_count, state_capacity;
    struct wait_ahead ahead;
    uint32_t first_way; /* 1 + the way out that threads take in the first turn of a loop with a wait; 0: not known */
    bool first_waits;   /* its guarded wait is executed in that turn */
    uint8_t varied; /* whether threads that are not safe always left it in different ways, while numbers were not kept apart */
};

struct signals { /* what threads signal that have waited, or were released by such; also: what was asked for */
    bool any_barrier;
    /* By the smallest and the largest number it can have: 0, not signalled; else 1 + how often the signaller had used the
     * barrier before. */
    uint8_t barrier[NAMED_BARRIERS][NAMED_BARRIERS];
    struct objects {
        expr *all; /* addresses of barrier objects, sorted; 0: any */
        size_t count, capacity;
    } objects[2]; /* [1]: that may lie in another block of the cluster; asked for: by threads whose block has no waiter */
};
void signals_clear(struct signals *);
void signal_barrier(struct signals *, const struct range *range, uint8_t uses); /* NULL: any; uses: before this one */
void signal_object(struct signals *, expr address, bool in_other_block);
/* Whether a thread that waited signals this barrier, as far as that is heard; notes that it was asked. */
bool barrier_helps(const struct range *range, uint8_t uses); /* NULL: any; uses: of this thread, before this one */
bool object_helps(expr address, bool from_other_block);
/* Whether all that was asked for has the same answer with these signals and those; NULL: nothing is heard, so all help. */
bool answered_alike(const struct signals *asked, const struct signals *, const struct signals *);
/* Gathers what threads signal that waited, then what those signal that they release, until nothing is added; then judges with
 * it. True if conditions could not be kept apart. */
bool judge_signals(void);
/* The barrier numbers that the expression can mean on a path with these constraints; false: any. */
bool barrier_range(expr, constraints, struct range *);

struct analysis {
    const struct kernel *kernel;
    struct section *section; /* the kernel's own */
    struct node_state *nodes;
    size_t node_count, node_capacity;
    bool learning, keep_constraints, follow_waited, asked_signals, heard; /* heard: `signals` is known */
    bool naming, partitioned; /* passes of partitioning.c */
    bool merged;              /* on this pass paths were merged although their constraints differ */
    size_t most_states;       /* of one node, with constraints kept apart */
    size_t enough;      /* a pass with numbers kept apart that finds as many states gains nothing */
    struct signals signals, gathered;
    struct signals asked[2]; /* by follow_waited: on the last such pass */
    struct findings *found;
    constraints assumed; /* of every path: from deciders.c; else 0 */
};
extern struct analysis now;

/* fixed_point.c */
bool propagate(void);               /* follows all paths to a fixed point; false: too many to keep conditions apart */
bool propagate_with_few_states(void); /* the same with fewer states of each node; false also where that was done already */
bool propagate_or_merge(void); /* the same, in any case; true if conditions are no longer kept apart */
/* Whether a pass would only repeat the last such one, everything else being equal, with these signals in place of those. */
bool would_repeat(bool follow_waited, const struct signals *before, const struct signals *after);
node_id node_at(context, struct section *, uint32_t block);
context context_of_site(uint32_t site); /* of the node in which this place is */
bool nodes_are_many(void); /* so many that calls are no longer walked */
const node_id *ways_out(node_id, unsigned *jumps); /* to which it jumps; the last one, not counted, is node_after(node) */
node_id node_after(node_id);                      /* of one through which control can fall */
/* Leaves a node for another. */
void go(node_id from, node_id target, enum progress, constraints, struct registers *);
/* Conditions that are asked at more than one place are kept from now on; false if these are no others than before. */
bool keep_more(bool first);
void note_formula(expr formula, node_id, uint32_t index); /* is asked here */
void note_divides(expr formula); /* decides whether a thread goes past a wait: kept apart where other conditions no longer are */
void note_keys(const constraint_key *keys, unsigned count, const struct section *, uint32_t index);

/* contexts.c */
void contexts_begin(void); /* of one kernel */
context context_in(context outer, struct section *section, uint32_t block);
struct frame *frame_of(context); /* NULL of 0 */
bool is_called_again(context); /* one of the calls stands in a loop, or is a deeper turn of a recursion */
context context_with(context, const struct section *, uint32_t block); /* the innermost call that returns there; 0: none */
context deeper_turn(context, struct section *, uint32_t block); /* of a call that returns there; an outer one, if it has not returned */
uint64_t place_key(context, const struct section *, uint32_t block); /* another one for each place */

/* loops.c: the first turn of a loop with a wait is kept apart from the later ones */
void loops_begin(void); /* of one kernel: their bits are its own */
void find_loops(struct section *);
uint64_t turns_after(node_id from, node_id target, uint64_t turns);

/* live_registers.c */
const struct live *live_of(struct section *, uint32_t block); /* on this pass */

/* findings.c */
void found_begin(void); /* of one pass: forgets what an earlier one found */
/* `passed`: where the path went past the wait; no section: it did not. */
void add_access(const struct section *, uint32_t index, uint8_t kind, enum progress, provenance, context, struct place passed);
void add_place(enum found_place, const struct section *, uint32_t index);
void add_unresolved(const struct section *, uint32_t index, const char *why, name callee);

/* What waiters signal comes after the wait, and callees in other sections begin anywhere. */
static inline enum attention attention_to(const struct section *section)
{
    return section != now.section ? ALL_OF_IT : now.follow_waited ? ITS_SIGNALS : UNTIL_A_WAIT;
}

void *lent(size_t bytes); /* until the next pass */
void enter(node_id target, enum progress, constraints, const struct registers *);

/* ways.c: what holds of the open branches on the way to a node; `old` and `new` meet there */
void ways_begin(void); /* of one kernel */
void note_way(struct ways *, expr formula);
void forget_ways(struct ways *, bool (*forgotten)(expr));
expr parted_by(const struct ways *old, const struct ways *new); /* what holds on the old way and not on the new one; 0: not known */
struct ways ways_met(const struct ways *old, const struct ways *new); /* what holds on both */

/* joining.c: what holds of a state and of this path; true if that is less than the state held. */
bool join_state(node_id, struct state *, const struct registers *);

/* partitioning.c */
void partition_states(void);
void note_variables(expr asked);
/* On the naming pass: the expression of what is joined at a node if one of these is a number or comes from a variable, else 0. */
expr variable_of(node_id, uint16_t reg, const struct memory_key *, expr old, expr new);
/* Enters the node once for each number that this register or word can have; false if there is no choice. */
bool enter_each_choice(node_id target, enum progress, constraints, const struct registers *);
/* The numbers of the node's slots; NULL if there are none, or all of them are joined. */
expr *numbers_of(node_id, const struct registers *);
bool same_numbers(node_id, const expr *left, const expr *right);

/* block_transfer.c */
void walk(node_id, enum progress, constraints, struct registers *);
static inline enum progress passed_by(enum progress wait, uint8_t varies)
{
    if (wait == WAITED || wait == SIBLING || wait == SIGNALLED || !varies)
        return wait;
    if (varies & (VARIES_BY_RANK | VARIES_BY_BLOCK)) /* a block all of whose threads pass by has no waiter of its own */
        return wait == FRESH ? CLUSTER : wait;
    return SIBLING;
}
/* The cluster barriers up to the one that releases it, if others arrive at so many before they wait. None does where whole clusters
 * pass by. */
static inline uint8_t cluster_debt_of(uint8_t varies, uint8_t ahead, bool arrived)
{
    return !varies || varies & VARIES_BY_BLOCK || ahead + arrived > MANY_PHASES ? MANY_PHASES : (uint8_t)(ahead + arrived);
}

/* branches.c */
void leave(node_id, enum progress, constraints, struct registers *);
enum { MOST_CASES = 8 };
struct a_case {
    constraints constraints;
    uint8_t varies;
};
/* What is the same for the whole block is settled first; only the rest divides its threads. */
unsigned cases_of(expr formula, uint8_t varies, constraints, struct a_case cases[MOST_CASES]);

/* calls.c */
void calls_begin(void);     /* of one kernel */
void calls_propagate(void); /* of one pass */
/* May change the registers. */
void call(node_id, enum progress, constraints, struct registers *);
void note_return(context, enum progress);

/* reaching.c */
/* Whether some thread that gets here surely waits before it ends. At a branch that threads leave in different ways one way
 * suffices, else each has to lead to a wait. */
struct wait_ahead wait_ahead_of(node_id);
bool ask_again_after_first_turns(void);
uint8_t *reaching_nodes(void); /* by node: whether a wait can be reached from it */
void mark_reaching(void); /* which of the accesses found can be followed by a wait of the same thread */

/* deciders.c */
void judge_deciders(void); /* what of the accesses found depends on parameters that decide whether there is a wait */

#endif
