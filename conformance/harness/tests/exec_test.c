/* exec_test.c - what an executable graph says of a change is held against what was asked for: an update that failed without an error, and
 * a node that is on or off otherwise. And which edges change in the program that it is updated to, and how often it is launched. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "programs/program_exec.c" /* whole: what compares is static */

#define STEPS 4u

static struct program program;
static struct program_room room;
static struct made made;

static cudaError_t update_gives;
static enum cudaGraphExecUpdateResult update_says;
cudaError_t __wrap_program_update_exec(const struct made *of, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info,
                                       struct dice *dice);
cudaError_t __wrap_program_update_exec(const struct made *of, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info,
                                       struct dice *dice)
{
    (void)of, (void)exec, (void)graph, (void)dice;
    info->result = update_says;
    return update_gives;
}

static unsigned spoiled, lost;  /* graphs whose nodes were changed, and nodes that were destroyed */
cudaError_t __wrap_program_spoil(struct made *of);
cudaError_t __wrap_program_spoil(struct made *of)
{
    (void)of;
    spoiled++;
    return cudaSuccess;
}

cudaError_t __wrap_program_destroy_node(const struct made *of, cudaGraphNode_t node, struct dice *dice);
cudaError_t __wrap_program_destroy_node(const struct made *of, cudaGraphNode_t node, struct dice *dice)
{
    (void)of, (void)node, (void)dice;
    lost++;
    return cudaSuccess;
}

cudaError_t __wrap_graph_make(struct made *of, enum graph_way way);
cudaError_t __wrap_graph_make(struct made *of, enum graph_way way)
{
    (void)of, (void)way;
    return cudaSuccess;
}

cudaError_t __wrap_program_instantiate(const struct made *of, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags, struct dice *dice);
cudaError_t __wrap_program_instantiate(const struct made *of, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags, struct dice *dice)
{
    (void)of, (void)exec, (void)graph, (void)flags, (void)dice;
    return cudaSuccess;
}

static cudaGraphNode_t node_of(unsigned step) { return (cudaGraphNode_t)(void *)((char *)&program + 1 + step); }

static uint64_t on;            /* one bit per step */
static uint64_t told_on, told_off; /* what is told of these steps, whatever they are */
cudaError_t __wrap_program_enable(const struct made *of, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled, struct dice *dice);
cudaError_t __wrap_program_enable(const struct made *of, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled, struct dice *dice)
{
    unsigned i;

    (void)of, (void)exec, (void)dice;
    for (i = 0; i < STEPS; i++)
        if (node == node_of(i))
            on = enabled ? on | (uint64_t)1 << i : on & ~((uint64_t)1 << i);
    return cudaSuccess;
}

cudaError_t __wrap_program_is_enabled(const struct made *of, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled,
                                      struct dice *dice);
cudaError_t __wrap_program_is_enabled(const struct made *of, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled,
                                      struct dice *dice)
{
    unsigned i;

    (void)of, (void)exec, (void)dice;
    for (i = 0; i < STEPS; i++)
        if (node == node_of(i))
            *enabled = (unsigned)(((on | told_on) & ~told_off) >> i & 1);
    return cudaSuccess;
}

/* Kernels without edges. */
static void open_program(void)
{
    unsigned i;

    memset(&program, 0, sizeof(program));
    memset(&made, 0, sizeof(made));
    program.steps = STEPS;
    made.program = &program;
    made.room = &room;
    for (i = 0; i < STEPS; i++)
        made.node[i] = node_of(i);
    on = ~(uint64_t)0;
    told_on = told_off = 0;
}

static cudaError_t updated(cudaError_t gives, enum cudaGraphExecUpdateResult says)
{
    open_program();
    update_gives = gives;
    update_says = says;
    return update_to(&made, &made, NULL);
}

static void test_updates(void)
{
    check(updated(cudaSuccess, cudaGraphExecUpdateSuccess) == cudaSuccess && !made.declined, "an update that succeeds");
    check(updated(cudaSuccess, cudaGraphExecUpdateError) != cudaSuccess && !made.declined, "one that says success and tells of an error");
    check(updated(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdateErrorTopologyChanged) != cudaSuccess && made.declined && made.refused,
          "one that is refused accuses nobody");
    check(updated(cudaErrorInvalidValue, cudaGraphExecUpdateSuccess) == cudaErrorInvalidValue && !made.declined,
          "one that fails otherwise does");
}

/* The first and the third are to be left out. */
static unsigned launches(enum exec_way way, unsigned steps, struct made *decoy, int late)
{
    open_program();
    program.steps = steps;
    made.decoy = decoy;
    made.late = late;
    return exec_launches(&made, way);
}

/* A fault may come with a later launch, or with the way back. */
static void test_launches(void)
{
    static const enum exec_way changed[] = { EXEC_UPDATED, EXEC_BY_NODE };
    struct made decoy = PDL_ZERO;
    unsigned i, time;

    for (i = 0; i < 2; i++) {
        check(launches(changed[i], STEPS, NULL, 0) == 1, "what has nothing to be changed to is launched once");
        check(launches(changed[i], STEPS, &decoy, 0) == 2, "what is changed is launched before and after");
        check(launches(changed[i], STEPS, &decoy, 1) == 4, "what goes from the decoy to itself does so twice");
        check(launches(changed[i], 5, &decoy, 0) == OFTEN && launches(changed[i], 11, &decoy, 1) == OFTEN, "some are launched often");
    }
    check(launches(EXEC_REENABLED, STEPS, NULL, 0) == 2 && launches(EXEC_REENABLED, 5, NULL, 0) == OFTEN, "nodes are left out and come back");
    check(launches(EXEC_AGAIN, STEPS, NULL, 0) == OFTEN && launches(EXEC_AGAIN, 5, NULL, 0) == OFTEN && launches(EXEC_AGAIN, 6, NULL, 0) == 3,
          "what is launched again is so three times or often");
    check(launches(EXEC_PLAIN, STEPS, NULL, 0) == 1 && launches(EXEC_SECOND, STEPS, NULL, 0) == 1, "and all others once");
    made.late = 1;
    for (time = 0; time < 4; time++)
        check(exec_is_decoy(&made, time) == (time == 0 || time == 2), "the first launch and the third are the decoy's");
}

static cudaError_t left_out(uint64_t also_on, uint64_t also_off)
{
    open_program();
    told_on = also_on;
    told_off = also_off;
    return leave_out(&made, NULL, 5);
}

static void test_left_out(void)
{
    unsigned i;

    check(left_out(0, 0) == cudaSuccess && made.left_out == 5 && (on & 15) == 10, "the steps that are to be left out are off, and no others");
    for (i = 0; i < STEPS; i++) {
        check(left_out((uint64_t)1 << i, 0) == (5 >> i & 1 ? cudaErrorUnknown : cudaSuccess), "a node that is off and told to be on");
        check(left_out(0, (uint64_t)1 << i) == (5 >> i & 1 ? cudaSuccess : cudaErrorUnknown), "a node that is on and told to be off");
    }
}

/* Of graphs that were captured, too; but not where all edges come in one call. */
static void test_stays_out(void)
{
    open_program();
    program.streams = 1;
    made.way = WAY_CAPTURED;
    check(leave_out(&made, NULL, 5) == cudaSuccess && made.left_out == 5, "captured steps are left out");
    program.step[2].attribute = 1;
    check(leave_out(&made, NULL, 7) == cudaSuccess && made.left_out == 1, "but none with the attribute, and none that leads on to it");
    open_program();
    made.way = WAY_ONE_CALL;
    check(leave_out(&made, NULL, 5) == cudaSuccess && made.left_out == 0, "nor any where all edges come in one call");
}

/* A decoy's launch works on other memory, so that the program's own may come beside it; where it does so with all its steps. */
static void test_twice(void)
{
    static struct made decoy;

    open_program();
    made.decoy = &decoy;
    made.late = 1;
    decoy.decoys = 15;
    check(exec_may_run_twice(&made, 0) && exec_may_run_twice(&made, 2), "the launch of a decoy and the next one may be in flight at once");
    check(!exec_may_run_twice(&made, 1) && !exec_may_run_twice(&made, 3), "but not the program's own and the next one");
    decoy.decoys = 7;
    check(!exec_may_run_twice(&made, 0), "nor one of which a step is no decoy");
    decoy.decoys = 15;
    made.late = 0;
    check(!exec_may_run_twice(&made, 0), "nor where no launch is the decoy's");
}

/* Now and then a decoy is updated to the program between their launches, but never one with other edges. */
static void test_late(void)
{
    unsigned seed, late = 0, retyped_late = 0;
    cudaGraphExec_t exec = NULL;

    update_gives = cudaSuccess;
    update_says = cudaGraphExecUpdateSuccess;
    for (seed = 0; seed < 64; seed++) {
        open_program();
        made.dice.state = seed;
        check(update_whole(&made, &exec) == cudaSuccess, "an executable graph is updated");
        late += made.late != 0;
        retyped_late += made.late && made.decoy->program != &program;
    }
    check(late > 8 && late < 56 && retyped_late == 0, "now and then between two launches, where the edges are the same");
}

/* What was instantiated is on its own: its graph is changed, loses a node, and is destroyed. */
static void test_orphan(void)
{
    int streams;

    for (streams = 0; streams < 2; streams++) {
        open_program();
        spoiled = lost = 0;
        program.streams = streams;
        check(cudaGraphCreate(&made.graph, 0) == cudaSuccess, "there is a graph");
        made.inner = made.graph;
        check(orphan(&made) == cudaSuccess && !made.graph && !made.inner, "the source of an executable graph is destroyed");
        check(spoiled == !streams && lost == !streams, "and changed before, if it was built");
    }
}

/* Steps 0, 1 and 3 record events; step 0 is a decoy. */
static void test_seen(void)
{
    static uint32_t words[PROGRAM_COPIES * PROGRAM_STEPS * PROGRAM_WORDS];

    open_program();
    room.seen = words;
    program.step[0].kind = program.step[1].kind = program.step[3].kind = STEP_RECORD;
    check(program_seen_by(&made, 1, 1) == program_seen(&room, 0) && program_seen_by(&made, 1, 3) == program_seen(&room, 1),
          "another stream looks after the first events");
    check(!program_seen_by(&made, 1, 0) && !program_seen_by(&made, 1, 2), "not after a decoy's, nor after what records none");
    check(program_seen_by(&made, 0, 1) == program_seen(&room, 1) && !program_seen_by(&made, 0, 3), "and after no more than there is room for");
    room.seen = NULL;
}

/* Into step 3 lead three kernels and a memset, into step 4 two kernels; the memset's edge stays as it is, and so do edges out of the steps. */
static void test_turned(void)
{
    static const struct link drawn[] = { { 0, 3, LINK_TRIGGER }, { 1, 3, LINK_FULL }, { 0, 4, LINK_START }, { 5, 3, LINK_FULL },
                                         { 2, 3, LINK_LAUNCH }, { 2, 4, LINK_FULL }, { 0, 5, LINK_FULL } };
    static const enum link_kind turned[] = { LINK_LAUNCH, LINK_FULL, LINK_FULL, LINK_FULL, LINK_TRIGGER, LINK_START, LINK_FULL };
    unsigned l, right = 0;

    open_program();
    program.steps = 6;
    program.step[5].kind = STEP_SET;
    program.links = sizeof(drawn) / sizeof(drawn[0]);
    memcpy(program.link, drawn, sizeof(drawn));
    turn_kinds(&program);
    for (l = 0; l < program.links; l++)
        right += program.link[l].kind == turned[l] && program.link[l].from == drawn[l].from && program.link[l].to == drawn[l].to;
    check(right == program.links, "edges between kernels into one step change their kinds, and no others do");
}

int main(void)
{
    test_updates();
    test_launches();
    test_turned();
    test_left_out();
    test_stays_out();
    test_twice();
    test_seen();
    test_late();
    test_orphan();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
