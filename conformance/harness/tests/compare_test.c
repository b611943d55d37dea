/* compare_test.c - what a run of a program left is compared with what it was to leave: one wrong word, wherever it lies, is a difference. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "programs/program_judge.c" /* whole: what compares is static */

/* A kernel, a memset, a copy, a host step, a copy to the host, a wait for another stream and a step that stores nothing. */
#define STEPS 7u
static const enum step_kind kinds[STEPS] = { STEP_KERNEL, STEP_SET, STEP_COPY, STEP_HOST, STEP_COPY, STEP_AWAIT, STEP_EMPTY };
#define TO_HOST 4u
#define NOTHING 6u
#define KEY 0x123456789ABCDEFull

static struct program program;
static struct program_staging staging;
static struct program_room room;
static struct made made;
static uint32_t words[PROGRAM_STEPS][PROGRAM_WORDS]; /* as they are to be */

static int is_on_host(unsigned step) { return kinds[step] == STEP_HOST || step == TO_HOST; }

static void open_program(void)
{
    unsigned i;

    memset(&program, 0, sizeof(program));
    memset(&made, 0, sizeof(made));
    program.steps = STEPS;
    for (i = 0; i < STEPS; i++) {
        struct step *step = &program.step[i];
        step->kind = kinds[i];
        step->grid[0] = 2;
        step->grid[1] = step->block[0] = step->rows = 1;
        step->grid[2] = 3;
        step->element = 4;
        step->bytes = step->pitch = STEP_BYTES;
        step->to_host = i == TO_HOST;
    }
    made.program = &program;
    made.room = &room;
    room.key = KEY;
    room.host_wrong = 0;
}

static int put(uint32_t *to, const void *from, size_t bytes) { return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess; }

/* How often each step ran, and how many began too early or ran without being asked for. */
static void tell_runs(uint32_t early, uint32_t unasked)
{
    uint32_t began[PROGRAM_BEGAN] = { 0 };
    unsigned i;

    began[PROGRAM_STEPS] = early;
    began[PROGRAM_STEPS + 1] = unasked;
    for (i = 0; i < STEPS; i++) {
        int runs = !(made.left_out >> i & 1);
        began[PROGRAM_STEPS + PROGRAM_EARLY + i] = runs && (kinds[i] == STEP_KERNEL || kinds[i] == STEP_AWAIT) ? 6 : 0;
        staging.host_runs[i] = runs && kinds[i] == STEP_HOST;
    }
    check(put(room.began, began, sizeof(began)), "the counts are told");
}

/* All words as they are to be, but for this one; step STEPS: all. */
static void tell_words(unsigned step, unsigned word)
{
    static uint32_t there[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i;

    program_expect(&program, KEY, made.left_out, words);
    words[step][word] ^= step < STEPS ? 0x80000000u : 0;
    for (i = 0; i < STEPS; i++) {
        memset(there[i], 0x5A, sizeof(there[i]));
        memset(staging.on_host[i], 0x5A, sizeof(staging.on_host[i]));
        memcpy(is_on_host(i) ? staging.on_host[i] : there[i], words[i], sizeof(words[i]));
    }
    check(put(room.data, there, sizeof(there)) && put(room.seen, there, sizeof(there)) && put(program_seen(&room, COPY_BEHIND), there, sizeof(there)),
          "the words are told");
    tell_runs(0, 0);
}

static unsigned run_differs(void)
{
    struct difference found = { 0 };

    compare_words(&made, &found);
    return found.count;
}

static void test_words(void)
{
    unsigned i, w, missed = 0;
    char name[32];

    open_program();
    tell_words(STEPS, 0);
    check(run_differs() == 0, "a run that left what it was to leave does not differ");
    for (i = 0; i < NOTHING; i++)
        for (w = 0; w < PROGRAM_WORDS; w++) {
            struct difference found = { 0 };
            tell_words(i, w);
            compare_words(&made, &found);
            snprintf(name, sizeof(name), "step %u has a wrong word", i);
            missed += found.count != 1 || strcmp(found.text, name) != 0;
        }
    check(missed == 0, "one wrong word of any step is a difference, and its step is named");
    tell_words(NOTHING, 3);
    check(run_differs() == 0, "what stores nothing has no words");
    for (i = 0; i < NOTHING; i++) {
        made.left_out = (uint64_t)1 << i;
        tell_words(STEPS, 0);
        check(run_differs() == 0, "what was left out leaves its words as they were, and does not run");
        made.left_out = 0;
        tell_runs(0, 0);
        check(run_differs() != 0, "if it was not, its words are missing");
    }
}

static void test_order(void)
{
    open_program();
    tell_words(STEPS, 0);
    room.host_wrong = 1;
    check(run_differs() == 1, "a host step that ran too early is a difference");
    room.host_wrong = 0;
    tell_runs(1, 0);
    check(run_differs() == 1, "so is a kernel that began too early");
    tell_runs(0, 1);
    check(run_differs() == 1, "and a body that was not to run");
    tell_runs(0, 0);
    check(run_differs() == 0, "and nothing else");
}

/* Differences in the copy of all words that was made when these steps had to be complete; behind: in the one that was made after the graph. */
static unsigned copy_differs(uint64_t complete, enum behind behind)
{
    struct difference found = { 0 };

    program.step[2].after[1] = complete;
    made.observed = 1;
    made.observed_after[0] = 2;
    made.observed_lane[0] = 1;
    made.behind = behind;
    if (behind != BEHIND_NOTHING)
        compare_behind(&made, &found);
    else
        compare_observed(&made, &found);
    return found.count;
}

static void test_copies(void)
{
    const uint64_t all = ((uint64_t)1 << STEPS) - 1;
    unsigned i, w, missed = 0;

    open_program();
    tell_words(STEPS, 0);
    check(copy_differs(all, 0) == 0 && copy_differs(0, 1) == 0, "a copy of all words does not differ");
    for (i = 0; i < NOTHING; i++)
        for (w = 0; w < PROGRAM_WORDS; w++) {
            unsigned seen = !is_on_host(i); /* the host's words are in no copy */
            tell_words(i, w);
            missed += copy_differs((uint64_t)1 << i, BEHIND_NOTHING) != seen || copy_differs(all, BEHIND_NOTHING) != seen;
            missed += copy_differs(0, BEHIND_COPY) != seen || copy_differs(0, BEHIND_EVENT) != seen;
            missed += copy_differs(all & ~((uint64_t)1 << i), BEHIND_NOTHING) != 0;
        }
    check(missed == 0, "one wrong word of a step that had to be complete is a difference, one of another step is none");
}

/* An event that is recorded after a step stands for that step, and for all before it in its lane. */
static void test_behind(void)
{
    struct dice dice = { 1 };

    memset(&program, 0, sizeof(program));
    program.steps = 2;
    program.streams = 1;
    program_entitle(&program, &dice);
    check(program.step[0].after[0] == 1 && program.step[1].after[0] == 3, "an event that is recorded after a step stands for the step");
    check(program.step[1].after[1] == 0, "an event in another lane does not stand for it");
    program.legacy = 1;
    program_entitle(&program, &dice);
    check(program.step[1].after[1] == 3, "but it does where the step runs in the legacy stream, for which the other lanes wait");
}

/* What another stream sees after the event of a step is all that stands before that step. */
static void test_seen(void)
{
    struct difference found = { 0 };
    unsigned i;

    open_program();
    program.step[NOTHING].kind = STEP_RECORD;
    for (i = 0; i < NOTHING; i++) {
        if (is_on_host(i))
            continue;
        tell_words(i, 0);
        program.step[NOTHING].before = ~((uint64_t)1 << i);
        compare_seen(&made, 0, &found);
        check(found.count == 0, "a step that need not be complete at an event is not missed there");
        program.step[NOTHING].before = (uint64_t)1 << i;
        compare_seen(&made, (uint64_t)1 << NOTHING, &found);
        check(found.count == 0, "nor is any, if a decoy records the event");
        compare_seen(&made, 0, &found);
        check(found.count == 1 && strstr(found.text, "after the event of step 6"), "one that has to be complete is, and the event is named");
        memset(&found, 0, sizeof(found));
    }
}

/* ---- launched step by step ---- */

cudaError_t __wrap_program_prepare(struct made *of);
cudaError_t __wrap_program_prepare(struct made *of)
{
    (void)of;
    return cudaSuccess;
}

cudaError_t __wrap_stream_make(struct made *of, enum stream_way way);
cudaError_t __wrap_stream_make(struct made *of, enum stream_way way)
{
    (void)way;
    of->observed = 1; /* after step 2 */
    of->observed_after[0] = 2;
    program.step[2].after[0] = 1;
    return cudaSuccess;
}

static int captured_right;
int __wrap_program_captured_right(const struct made *of, enum stream_way way);
int __wrap_program_captured_right(const struct made *of, enum stream_way way)
{
    (void)of;
    check(way == WAY_CAPTURED, "it is told how it was captured");
    return captured_right;
}

/* No graph is run here. */
cudaError_t __wrap_exec_make(struct made *of, enum exec_way way, cudaGraphExec_t *exec);
cudaError_t __wrap_exec_make(struct made *of, enum exec_way way, cudaGraphExec_t *exec)
{
    (void)of, (void)way, (void)exec;
    return cudaErrorNotSupported;
}

static unsigned stream_differs(unsigned make, cudaError_t wanted)
{
    struct difference found = { 0 };
    struct way way = { 1, make, EXEC_PLAIN };

    check(try_stream(&made, &way, &found) == wanted, "it is tried");
    return found.count;
}

static void test_stream(void)
{
    open_program();
    tell_words(STEPS, 0);
    check(stream_differs(WAY_PLAIN_STREAM, cudaSuccess) == 0, "what was launched right does not differ");
    tell_words(0, 5);
    check(stream_differs(WAY_PLAIN_STREAM, cudaSuccess) == 2, "a wrong word differs, and so does what was seen of it before the end");
    tell_words(STEPS, 0);
    check(put(program_seen(&room, 0), words[1], sizeof(words[1])) && stream_differs(WAY_PLAIN_STREAM, cudaSuccess) == 1, "that alone does, too");
    captured_right = 0;
    check(stream_differs(WAY_CAPTURED, cudaSuccess) == 1, "a capture with another edge differs");
    captured_right = 1;
    check(stream_differs(WAY_CAPTURED, cudaErrorNotSupported) == 0, "one with the right ones is run");
    captured_right = 0;
    room.blind = 1;
    check(stream_differs(WAY_CAPTURED, cudaErrorNotSupported) == 0, "so is each one where words alone are to tell");
    room.blind = 0;
}

static unsigned decoys_differ(uint64_t decoys)
{
    struct difference found = { 0 };

    compare_decoys(&room, &program, decoys, &found);
    return found.count;
}

static void test_decoys(void)
{
    uint32_t there[PROGRAM_STEPS][PROGRAM_WORDS];
    unsigned i, w, host, missed = 0;

    open_program();
    memset(staging.data, 0x33, sizeof(staging.data));
    for (i = 0; i < STEPS; i++)
        for (w = 0; w < PROGRAM_WORDS; w++)
            for (host = 0; host < 2; host++) {
                memcpy(there, staging.data, sizeof(there));
                memcpy(staging.on_host, staging.data, sizeof(staging.on_host));
                (host ? staging.on_host : there)[i][w] ^= 1;
                check(put(room.data, there, sizeof(there)), "the words are told");
                missed += decoys_differ((uint64_t)1 << i) != 1 || decoys_differ(~((uint64_t)1 << i)) != 0;
            }
    check(missed == 0, "a word that a decoy changed is a difference, on the device and on the host");
}

static int tells_of_earlier(const struct program_room *of)
{
    struct difference found = { 0 };

    compare_earlier(of, &program, &found);
    return found.count != 0;
}

static void test_earlier_unread(void)
{
    struct program_room unread = room;

    open_program();
    unread.seen = NULL;
    check(tells_of_earlier(&unread), "what the copy found cannot be read");
    unread.seen = room.seen;
    unread.data = NULL;
    check(tells_of_earlier(&unread), "the words cannot be read");
    (void)cudaGetLastError();
}

static void test_earlier(void)
{
    uint32_t there[PROGRAM_STEPS][PROGRAM_WORDS] = { { 0 } };
    struct difference found = { 0 };
    unsigned i;

    open_program();
    check(put(program_decoy_words(&room), there, sizeof(there)) && put(program_seen(&room, COPY_OF_DECOY), there, sizeof(there)),
          "the words are told");
    compare_earlier(&room, &program, &found);
    check(found.count == 0, "an earlier launch that had ended does not differ");
    for (i = 0; i < STEPS; i++) {
        memset(&found, 0, sizeof(found));
        there[i][PROGRAM_WORDS - 1] = 1;
        check(put(program_seen(&room, COPY_OF_DECOY), there, sizeof(there)), "the words are told");
        compare_earlier(&room, &program, &found);
        check(found.count == 1, "one that had not does, by any of its words");
        there[i][PROGRAM_WORDS - 1] = 0;
    }
}

/* The kernel stands between two other steps; in a graph, or in a stream, where it is launched, not captured. */
enum { BEFORE, BETWEEN, AFTER };

/* Launched just as the row says. */
static struct step step_as(unsigned row)
{
    static const unsigned clusters[] = { 1, 2, 4, 8 };
    static const uint32_t triggers[] = { 0, STEP_TRIGGERS_FIRST, STEP_TRIGGERS_LATE };
    const unsigned char *says = kit_axis_rows[row];
    struct step step = { .kind = STEP_KERNEL, .row = row, .cluster = { clusters[says[AXIS_CLUSTER]], 1, 1 } };

    step.grid[0] = says[AXIS_GRID] == GRID_ONE ? step.cluster[0] : 16;
    step.grid[1] = step.grid[2] = 1;
    step.attribute = says[AXIS_ATTRIBUTE] == ATTRIBUTE_ON;
    step.kernel = says[AXIS_ARGUMENTS] * 2u + says[AXIS_REGISTERS];
    step.carveout = says[AXIS_CARVEOUT] == CARVEOUT_OPEN ? NO_CARVEOUT : says[AXIS_CARVEOUT] == CARVEOUT_CACHE ? 0 : 100;
    step.event = says[AXIS_EVENT];
    step.cooperative = says[AXIS_COOPERATIVE] == COOPERATIVE_YES;
    step.urgent = says[AXIS_PRIORITY] == PRIORITY_HIGH;
    step.domain = says[AXIS_DOMAIN] == DOMAIN_REMOTE;
    step.shared_bytes = says[AXIS_SHARED] == SHARED_NONE ? 0 : 1024;
    step.flags = triggers[says[AXIS_TRIGGER]] | (says[AXIS_WAIT] == WAIT_YES ? STEP_WAITS : 0u) | STEP_TRIGGERS_ALL;
    return step;
}

static int is_of_graph(unsigned row)
{
    return kit_axis_rows[row][AXIS_BEFORE] >= BEFORE_EMPTY || kit_axis_rows[row][AXIS_AFTER] >= AFTER_EMPTY;
}

static struct step neighbour_as(unsigned row, unsigned axis)
{
    static const enum step_kind of_value[] = { STEP_KERNEL, STEP_SET, STEP_COPY, STEP_COPY, STEP_HOST, STEP_EMPTY, STEP_RECORD, STEP_AWAIT };
    struct step step = { .kind = of_value[kit_axis_rows[row][axis]], .to_host = kit_axis_rows[row][axis] == BEFORE_TOHOST };

    if (step.kind == STEP_KERNEL)
        step.row = (row + 1) % KIT_AXIS_ROWS; /* which it is not launched as */
    return step;
}

/* The kernel of this row between the steps of its row. */
static void stand_as(const struct step *step)
{
    memset(&program, 0, sizeof(program));
    program.streams = !is_of_graph(step->row);
    program.steps = 3;
    program.step[BEFORE] = neighbour_as(step->row, AXIS_BEFORE);
    program.step[BETWEEN] = *step;
    program.step[AFTER] = neighbour_as(step->row, AXIS_AFTER);
    if (program.streams)
        return;
    program.links = 2;
    program.link[0].from = BEFORE;
    program.link[0].to = program.link[1].from = BETWEEN;
    program.link[1].to = AFTER;
}

static int stands_and_counts(unsigned row, int eager)
{
    struct counts counts = { 0 };
    unsigned i, rows = 0;

    program_count_rows(counts.row, &program, eager);
    for (i = 0; i < KIT_AXIS_ROWS; i++)
        rows += counts.row[i];
    return rows == 1 && counts.row[row];
}

static int row_counts(const struct step *step)
{
    stand_as(step);
    return stands_and_counts(step->row, program.streams);
}

enum { OF_LAUNCHES = 11, CHANGES = 14 };

/* A launch with one thing other than its row says. */
static struct step changed_step(unsigned row, unsigned change)
{
    struct step step = step_as(row);

    switch (change) {
    case 0: step.kind = STEP_SET; break;
    case 1: step.cluster[1] = 2; step.grid[1] = 2; break;
    case 2: step.cooperative = !step.cooperative; break;
    case 3: step.urgent = !step.urgent; break;
    case 4: step.domain = !step.domain; break;
    case 5: step.shared_bytes = step.shared_bytes ? 0 : 1024; break;
    case 6: step.flags ^= STEP_WAITS; break;
    case 7: step.flags ^= STEP_TRIGGERS_FIRST; break;
    case 8: step.flags ^= STEP_TRIGGERS_LATE; break;
    case 9: step.kernel ^= 1; break;
    case 10: step.kernel = (step.kernel + 2) % PROGRAM_KERNELS; break;
    case 11: step.event = (step.event + 1) % 4; break;
    case 12: step.carveout = step.carveout == 0 ? NO_CARVEOUT : 0; break;
    default: step.attribute = !step.attribute; break;
    }
    return step;
}

/* Rows of the covering array count only if a kernel was launched as they say: drawing may have changed it for what a program is for. */
static void test_rows(void)
{
    unsigned row, change, missed = 0, wrong = 0, ones = 0;

    open_program();
    for (row = 0; row < KIT_AXIS_ROWS; row++) {
        struct step step = step_as(row);
        missed += !row_counts(&step);
        for (change = 0; change < CHANGES; change++) {
            step = changed_step(row, change);
            wrong += (change >= OF_LAUNCHES && is_of_graph(row)) != row_counts(&step); /* which a node does not have */
        }
        step = step_as(row);
        step.grid[2] = 2;
        ones += kit_axis_rows[row][AXIS_GRID] == GRID_ONE && row_counts(&step);
    }
    check(missed == 0, "a kernel that is launched as a row says counts as that row");
    check(wrong == 0, "what has anything other than its row says does not");
    check(ones == 0, "a grid of one is one");
}

/* What a launch in a stream alone has counts only there, and what capture leaves out only where nothing is captured. */
static void test_rows_of_launches(void)
{
    unsigned row, in_graphs = 0, captured = 0, of_streams = 0, of_launches = 0;

    for (row = 0; row < KIT_AXIS_ROWS; row++) {
        const unsigned char *says = kit_axis_rows[row];
        int launched = says[AXIS_EVENT] != EVENT_NONE || says[AXIS_CARVEOUT] != CARVEOUT_OPEN;
        struct step step = step_as(row);
        if (is_of_graph(row))
            continue;
        of_launches += launched;
        of_streams += launched || says[AXIS_ATTRIBUTE] == ATTRIBUTE_ON;
        stand_as(&step);
        captured += !stands_and_counts(row, 0);
        program.streams = 0;
        program.links = 2;
        program.link[0].to = program.link[1].from = BETWEEN;
        program.link[1].to = AFTER;
        in_graphs += !stands_and_counts(row, 0);
    }
    check(of_launches && captured == of_launches, "an event and a carve-out are had by launches that are not captured");
    check(of_streams > of_launches && in_graphs == of_streams, "the attribute is had by launches in a stream");
}

/* The events of links count as well. */
static void test_rows_with_links(void)
{
    unsigned row, wrong = 0;

    for (row = 0; row < KIT_AXIS_ROWS; row++) {
        struct step step = step_as(row);
        if (is_of_graph(row))
            continue;
        step.event = EVENT_NONE;
        stand_as(&step);
        program.links = 1;
        program.link[0].from = BETWEEN;
        program.link[0].to = AFTER;
        program.link[0].kind = LINK_TRIGGER;
        wrong += stands_and_counts(row, 1) != (kit_axis_rows[row][AXIS_EVENT] == EVENT_TRIGGER);
        program.link[0].kind = LINK_START;
        wrong += stands_and_counts(row, 1) != (kit_axis_rows[row][AXIS_EVENT] == EVENT_START);
        program.link[0].kind = LINK_FULL;
        wrong += stands_and_counts(row, 1); /* it records an event of any kind */
    }
    check(wrong == 0, "a launch records the event that a later step awaits");
}

/* A kernel between others than its row says is not launched as its row says. */
static void test_neighbours(void)
{
    unsigned row, side, wrong = 0;

    for (row = 0; row < KIT_AXIS_ROWS; row++)
        for (side = BEFORE; side <= AFTER; side += AFTER - BEFORE) {
            struct step step = step_as(row);
            stand_as(&step);
            program.step[side].kind = program.step[side].kind == STEP_SET ? STEP_HOST : STEP_SET;
            wrong += stands_and_counts(row, program.streams);
            stand_as(&step);
            program.step[side].kind = STEP_COPY;
            program.step[side].to_host = kit_axis_rows[row][side == BEFORE ? AXIS_BEFORE : AXIS_AFTER] != BEFORE_TOHOST;
            wrong += kit_axis_rows[row][side == BEFORE ? AXIS_BEFORE : AXIS_AFTER] != BEFORE_COPY && stands_and_counts(row, program.streams);
            stand_as(&step);
            program.step[side].lane = 1;
            wrong += program.streams && stands_and_counts(row, 1);
            stand_as(&step);
            if (!program.streams)
                program.links = 1, program.link[0] = program.link[side == BEFORE];
            wrong += !program.streams && stands_and_counts(row, 0);
        }
    check(wrong == 0, "what stands before a kernel and after it counts, in its own stream and linked to it");
}

static char row_told[512];
void __wrap_ask_row(struct ask *ask, const char *what, const char *answer);
void __wrap_ask_row(struct ask *ask, const char *what, const char *answer)
{
    (void)ask;
    check(strcmp(what, "rows of the covering array that ran") == 0, "the report finds its rows by this name");
    snprintf(row_told, sizeof(row_told), "%s", answer);
}

/* Which rows are said to have run, if all did but these two. */
static int rows_are(unsigned first, unsigned second, const char *want)
{
    struct counts counts;
    struct ask ask;

    memset(&counts, 0, sizeof(counts));
    memset(&ask, 0, sizeof(ask));
    memset(counts.row, 1, sizeof(counts.row));
    counts.row[first] = counts.row[second] = 0;
    program_tell_rows(&ask, counts.row);
    return strcmp(row_told, want) == 0;
}

static void test_told_rows(void)
{
    struct counts counts = PDL_ZERO;
    struct ask ask;
    char want[32];
    unsigned i, wrong = 0;

    memset(&ask, 0, sizeof(ask));
    for (i = 1; i < KIT_AXIS_ROWS; i++) {
        snprintf(want, sizeof(want), "all but 0 %u", i);
        wrong += !rows_are(0, i, want);
        snprintf(want, sizeof(want), "all but %u", i);
        wrong += !rows_are(i, i, want);
    }
    check(wrong == 0 && rows_are(0, 0, "all but 0"), "a row that did not run is named, whichever it is");
    program_tell_rows(&ask, counts.row);
    snprintf(want, sizeof(want), " %u", KIT_AXIS_ROWS - 1);
    check(strncmp(row_told, "all but 0 1 2", 13) == 0 && strcmp(row_told + strlen(row_told) - strlen(want), want) == 0, "all of them, if none ran");
    memset(counts.row, 1, sizeof(counts.row));
    program_tell_rows(&ask, counts.row);
    snprintf(want, sizeof(want), "all of %u", KIT_AXIS_ROWS);
    check(strcmp(row_told, want) == 0, "none, if all did");
}

int main(void)
{
    room.staging = &staging;
    check(cudaMalloc((void **)&room.began, PROGRAM_BEGAN * sizeof(uint32_t)) == cudaSuccess &&
          cudaMalloc((void **)&room.data, 2 * sizeof(words)) == cudaSuccess &&
          cudaMalloc((void **)&room.seen, PROGRAM_COPIES * sizeof(words)) == cudaSuccess, "there is memory");
    test_words();
    test_order();
    test_copies();
    test_behind();
    test_seen();
    test_stream();
    test_decoys();
    test_earlier();
    test_earlier_unread();
    test_rows();
    test_rows_of_launches();
    test_rows_with_links();
    test_neighbours();
    test_told_rows();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
