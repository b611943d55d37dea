/* tampered_test.c - each answer that a case of kind api is given, falsified: the case has to call it wrong.
 *
 * The model's broken devices lie in few ways, so that most comparisons of these cases are never in need. Here the calls stand between the
 * cases and the model. Each case is asked once with true answers. It is asked again, and at each use of a call a child process is forked for
 * each way to lie: the child tells this lie and nothing else but the truth, and says what the case made of it. How many lies were missed, and
 * how many answers all of them together made wrong, is pinned, so that a comparison that gets weaker changes a number.
 *
 * tampered_test            compares with the pins
 * tampered_test --pins     prints them as they are now
 * tampered_test --missed   prints each lie that was missed, and why; and of how many the case asked less than of true answers
 * tampered_test --asked    tells no lie, and prints the digest of what each case asks
 *
 * Behind that, how the names of the cases begin that are to be asked, as in `tampered_test --missed matrix/`. */
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

cudaError_t __real_cudaGetLastError(void);
#define cudaGetLastError __real_cudaGetLastError /* ask.c clears the error after each question, whatever it was */
#include "ask.c" /* whole: it is to keep no rows */
#undef cudaGetLastError
#include "check.h"
#include "edges.h"
#include "model.h"
#include "pair.h"
#include "plan.h"

#define MOST_USES 8u           /* of one call in one case: where there are more, a sample of them is falsified */
#define FEW_USES 4u            /* the same in cases of many calls */
#define MANY_CALLS 250u
#define LEAST_USES 1u          /* and in those of so many that they take long */
#define LONG_CALLS 5000u
#define MOST_PLACES 8u         /* of one call that are falsified besides, because it follows another call than before; none in cases that take long */
#define DRAWN_PART 8u          /* of the trials of a case that draws combinations: each lie asks them again */
#define MOST_DIGITS 10u
#define CPU_SECONDS 5u         /* of a child: a lie may send a case round and round; most take less than one, on a busy machine too */

#include "tampered_asked.h"

/* ---- the calls ---- */

#define CALL_OF(name) CALL_OF_(name)
#define CALL_OF_(name) CALL_##name

#define TELL(name, params, args, where) CALL_OF(name),
#define MAKE(name, params, args) CALL_OF(name),
#define DO(name, params, args) CALL_OF(name),
#define COUNT(name, params, args)
enum call {
#include "tampered_calls.h"
    CALL_run_in_thread, CALL_driver_function,
    CALLS
};
#undef TELL
#undef MAKE
#undef DO
#define TELL(name, params, args, where) NAME_OF(name),
#define MAKE(name, params, args) NAME_OF(name),
#define DO(name, params, args) NAME_OF(name),
static const char *const call_name[CALLS] = {
#include "tampered_calls.h"
    "run_in_thread", "a function of the driver",
};
#undef TELL
#undef MAKE
#undef DO
#undef COUNT

#include "tampered_lies.h"
#include "tampered_driver.h"

/* ---- telling them ---- */

enum mode { MODE_TRUE, MODE_TELLING, MODE_LIED }; /* counting uses; forking children; one of these */

struct outcome {               /* of one case with one lie; children write it */
    unsigned long long wrong, kills, asked;
    unsigned skipped, ended;   /* ended: it said nothing, it crashed or ran in circles */
    unsigned said;             /* a digest of which answers were wrong, and of what stands there instead */
    unsigned untold;           /* there was no such lie */
    enum call call;            /* the lie, where it was not known before */
    enum way way;
};

static enum mode mode;
static int ends_at_first;      /* of a child */
static unsigned never_done = NO_CALL; /* by a child that lies so from the first use on */
static unsigned used[ALL_CALLS], uses[ALL_CALLS]; /* so far; of the whole case */
static unsigned most_uses, most_places;
static unsigned called_last;   /* by the case */
static unsigned char came_after[ALL_CALLS][ALL_CALLS + 1]; /* this call after that one */
static unsigned places[ALL_CALLS]; /* where a call came after another one than before */
static struct outcome *outcome; /* shared with the child */

struct sums {                  /* over all lies of a case */
    unsigned lies, missed, skipped, ended;
    unsigned long long wrong, kills, asked;
    unsigned long long said;
};
static struct sums sums;
static unsigned missed_by[ALL_CALLS][WAYS], lies_by[ALL_CALLS][WAYS];
static unsigned less_by[ALL_CALLS][WAYS]; /* of those missed, after which a case asked less */
static unsigned long long asked_in_truth;
static unsigned turned[ALL_CALLS]; /* lists in another order that a case called wrong */

/* After some lies a case uses handles of what is gone. Until the case ends, nothing else comes to lie there: else it would depend on chance
 * what it finds. Handles are small; to keep what is large as well would make each fork slow. */
enum { SMALL_BYTES = 1024 };
static void **gone;
static size_t gone_count, gone_room;
static pthread_mutex_t gone_lock = PTHREAD_MUTEX_INITIALIZER;
void __real_free(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
    if (malloc_usable_size(memory) > SMALL_BYTES) {
        __real_free(memory);
        return;
    }
    (void)pthread_mutex_lock(&gone_lock);
    if (gone_count == gone_room) {
        size_t room = 2 * gone_room + 1024;
        void **more = realloc(gone, room * sizeof(*gone));
        if (more) {
            gone = more;
            gone_room = room;
        }
    }
    if (gone_count < gone_room)
        gone[gone_count++] = memory;
    (void)pthread_mutex_unlock(&gone_lock);
}

static void free_gone(void)
{
    while (gone_count)
        __real_free(gone[--gone_count]);
    (void)malloc_trim(0); /* each fork copies what the process has */
}

static void limit_processor(void)
{
    struct rlimit limit = { CPU_SECONDS, CPU_SECONDS + 1 };

    (void)setrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = limit.rlim_max = 0;
    (void)setrlimit(RLIMIT_CORE, &limit);
}

/* Returns 1 in the child, 0 after it has ended. */
static int is_child(void)
{
    pid_t child;
    int status = 0;

    memset(outcome, 0, sizeof(*outcome));
    outcome->ended = 1;
    outcome->call = (enum call)NO_CALL; /* until it lies */
    child = fork();
    if (child < 0 || (child > 0 && waitpid(child, &status, 0) != child)) {
        printf("no child could be had\n");
        exit(1);
    }
    return child == 0;
}

static void count_lie(enum call call, enum way way)
{
    if (way == WAY_TURNED) {
        turned[call] += outcome->wrong || outcome->ended;
        return;
    }
    sums.lies++;
    sums.wrong += outcome->wrong;
    sums.kills += outcome->kills;
    sums.asked += outcome->asked;
    sums.said += outcome->said;
    sums.skipped += !outcome->wrong && outcome->skipped;
    sums.ended += outcome->ended;
    lies_by[call][way]++;
    if (!outcome->wrong && !outcome->skipped && !outcome->ended) {
        sums.missed++;
        missed_by[call][way]++;
        less_by[call][way] += outcome->asked < asked_in_truth;
    }
}

/* A child that is forked in another thread of a case ends with that thread. So the children of all lies that can be told there are forked before
 * the thread begins, and each leaves out those before its own. */
static enum { IN_MAIN_THREAD, IN_TRUE_THREAD, IN_LYING_THREAD } thread;
static unsigned lies_before;

/* Returns 1 in the child that is to lie, 0 after it has ended. */
static int is_liar(enum call call, enum way way)
{
    if (thread == IN_TRUE_THREAD || (thread == IN_LYING_THREAD && lies_before-- > 0))
        return 0;
    if (thread == IN_MAIN_THREAD && !is_child()) {
        count_lie(call, way);
        return 0;
    }
    mode = MODE_LIED;
    outcome->call = call;
    outcome->way = way;
    limit_processor();
    return 1;
}

static void fork_liars_of_thread(void)
{
    unsigned before;

    for (before = 0;; before++) {
        if (is_child()) {
            thread = IN_LYING_THREAD;
            lies_before = before;
            limit_processor();
            return;
        }
        if (outcome->untold)
            break;
        if (outcome->call == (enum call)NO_CALL) {
            printf("a child ended in the thread of a case before it had lied\n");
            exit(1);
        }
        count_lie(outcome->call, outcome->way);
    }
    thread = IN_TRUE_THREAD;
}

static int is_telling(void) { return mode == MODE_TELLING; }

/* As many as are wanted of all uses, one of each stretch; not the same one of each, for cases ask in rounds. */
static int is_sampled(unsigned use, unsigned all)
{
    unsigned stretch, first, next;

    if (all <= most_uses)
        return 1;
    stretch = use * most_uses / all;
    first = (stretch * all + most_uses - 1) / most_uses;
    next = ((stretch + 1) * all + most_uses - 1) / most_uses;
    return use == first + (stretch * 7 + 3) % (next - first);
}

/* Where it is sampled, and where it comes after another call than before: that is another place of the case, with a comparison of its own. */
static int is_wanted(enum call call)
{
    int is_new = !came_after[call][called_last] && places[call] < most_places;

    places[call] += (unsigned)is_new;
    came_after[call][called_last] = 1;
    called_last = call;
    return is_sampled(used[call], uses[call]) || is_new;
}

/* Returns 0 for calls that tell nothing but the truth: those that the model makes for itself, and a child's after its lie. */
static int begins(struct told *told, enum call call, int does)
{
    told->undone = mode == MODE_LIED && !inside && (unsigned)call == never_done;
    if (inside || (mode == MODE_LIED && !told->undone))
        return 0;
    told->call = call;
    told->wanted = is_wanted(call);
    if (told->size <= MOST_BYTES && (uintptr_t)told->value > LEAST_ADDRESS)
        memcpy(told->before, told->value, told->size);
    told->room = told->borrowed_node ? MOST_ENTRIES : told->count ? *told->count : 1;
    if (mode == MODE_TELLING && does && !used[call] && is_liar(call, WAY_NEVER_DONE)) {
        never_done = call;
        told->undone = 1;
    } else if (mode == MODE_TELLING && does && told->wanted) {
        told->undone = is_liar(call, WAY_UNDONE);
    }
    inside = !told->undone;
    return 1;
}

/* The runtime's own lists are copied, for they are not the caller's to write. */
static void own_lists(struct told *told)
{
    static cudaGraphNode_t node[MOST_ENTRIES];
    static cudaGraphEdgeData data[MOST_ENTRIES];
    size_t count = told->count && told->code == cudaSuccess ? *told->count : 0;

    if (!told->borrowed_node || !count || count >= MOST_ENTRIES)
        return;
    memcpy(node, *told->borrowed_node, count * sizeof(node[0]));
    *told->borrowed_node = told->node = node;
    if (told->borrowed_data) {
        memcpy(data, *told->borrowed_data, count * sizeof(data[0]));
        *told->borrowed_data = told->data = data;
    }
}

/* What is told: the truth, or in a child one lie. */
static cudaError_t truth_of(struct told *told)
{
    unsigned use = used[told->call]++, way;
    size_t entries;

    inside = 0;
    if (mode != MODE_TELLING || !told->wanted)
        return told->code;
    own_lists(told);
    entries = entries_of(told);
    for (way = WAY_CODE; way < WAYS; way++)
        if (applies(told, (enum way)way) && is_liar(told->call, (enum way)way)) {
            ends_at_first = way == WAY_CODE && told->code == cudaSuccess;
            lie(told, (enum way)way, entries ? use % entries : 0, use);
            break;
        }
    return told->code;
}

/* No thread could be had, though one ran. What is called in it is falsified as well. */
int __real_run_in_thread(void (*run)(void *of), void *of);
int __wrap_run_in_thread(void (*run)(void *of), void *of);
int __wrap_run_in_thread(void (*run)(void *of), void *of)
{
    struct told told;
    int ran;

    if (mode == MODE_TELLING && !inside)
        fork_liars_of_thread();
    ran = __real_run_in_thread(run, of);
    if (thread == IN_LYING_THREAD && mode == MODE_TELLING) {
        outcome->untold = 1;
        _exit(0);
    }
    thread = IN_MAIN_THREAD;
    if (inside || mode == MODE_LIED)
        return ran;
    questions += (unsigned)notes("run_in_thread");
    memset(&told, 0, sizeof(told));
    told.call = CALL_run_in_thread;
    told.wanted = is_wanted(CALL_run_in_thread);
    told.code = ran ? cudaSuccess : cudaErrorUnknown;
    return truth_of(&told) == cudaSuccess;
}

/* ---- the cases ---- */

struct case_pin {                   /* what all lies together made of a case */
    const char *pair;
    unsigned calls, question;  /* that it made while nobody lied, and a digest of what it asked with them */
    struct sums sums;
};

/* Why a lie is missed that the pins allow: the first row that fits counts, and an empty word fits everything. */
struct reason {
    const char *pair, *call, *way, *why; /* pair, way: or how it begins */
};

#include "tampered_pins.h"
#define PINS (sizeof(pins) / sizeof(pins[0]))
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

struct noted {                 /* by the processes of the cases, which share it */
    struct outcome outcome;
    unsigned passed, failed;
    unsigned char pin_used[PINS], reason_used[REASONS];
};
static struct noted *noted;

static struct ask *asked;

/* A number of so many digits may be part of an address, which is another one in each run. */
static unsigned digest_of(const char *text)
{
    unsigned digest = 2166136261u;

    while (*text) {
        size_t digits = strspn(text, "0123456789");
        digest = (digest ^ (unsigned char)(digits > MOST_DIGITS ? '#' : *text)) * 16777619u;
        text += digits > MOST_DIGITS ? digits : 1;
    }
    return digest;
}

/* What a call that failed was to make is not there, and what is made of it later is nobody's word: the first wrong answer is enough. */
static void end_at_first(const struct ask_sign *sign, const char *what, const char *got)
{
    (void)sign, (void)what, (void)got;
    if (mode != MODE_LIED || !ends_at_first)
        return;
    outcome->wrong = 1;
    outcome->said = digest_of(asked->text);
    outcome->ended = 0;
    _exit(0);
}

static int draws(const struct case_info *info)
{
    return strcmp(info->family, "handed") == 0 || strcmp(info->family, "crossed_graphs") == 0;
}

/* After some lies a case uses what nobody wrote: it finds zeros, not what happened to lie on the stack. */
static void clear_stack(void)
{
    volatile char below[1 << 16];
    size_t i;

    for (i = 0; i < sizeof(below); i++)
        below[i] = 0;
}

/* Asks once, and ends there in a child that has lied. */
static void put_case(const struct case_info *info, enum mode now)
{
    static const struct ask_sign sign = { NULL, end_at_first, NULL, 0.0 };
    struct ask ask;

    model_reset("", 1);
    memset(&ask, 0, sizeof(ask));
    memset(used, 0, sizeof(used));
    memset(came_after, 0, sizeof(came_after));
    memset(places, 0, sizeof(places));
    called_last = NO_CALL;
    counted = 0;
    check(__real_cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) == cudaSuccess &&
              __real_cudaStreamCreateWithFlags(&ask.side, cudaStreamNonBlocking) == cudaSuccess,
          "two streams");
    ask.sign = &sign;
    asked = &ask;
    ask.trials = run_trials(info, PROFILE_SMOKE, 1) / (draws(info) ? DRAWN_PART : 1);
    ask.seed = plan_draw(plan_source_make(1, info->name, "base"), 0, 0);
    mode = now;
    clear_stack();
    if (now == MODE_TRUE)
        begin_noting();
    run_find_pair(info, "base")->ask(&ask);
    noting = 0;
    outcome->wrong = ask.wrong;
    outcome->kills = ask.kills;
    outcome->asked = ask.asked;
    outcome->skipped = ask.skipped;
    outcome->said = digest_of(ask.text);
    outcome->ended = 0;
    if (mode == MODE_LIED)
        _exit(0);
    mode = MODE_TRUE;
}

static int is_call(unsigned call, const char *name)
{
    size_t length = strlen(name);
    const char *is = name_of_call(call);

    return strncmp(is, name, length) == 0 && (is[length] == '\0' || strncmp(is + length, "_v", 2) == 0);
}

/* "after" is "after, to", too. */
static int is_way(unsigned way, const char *name)
{
    size_t length = strlen(name);

    return !length || (strncmp(way_name[way], name, length) == 0 && (way_name[way][length] == '\0' || way_name[way][length] == ','));
}

static const char *reason_of(const char *name, unsigned call, unsigned way)
{
    size_t i;

    for (i = 0; i < REASONS; i++) {
        const struct reason *r = &reasons[i];
        if (strncmp(name, r->pair, strlen(r->pair)) != 0 || (r->call[0] && !is_call(call, r->call)) || !is_way(way, r->way))
            continue;
        noted->reason_used[i] = 1;
        return r->why;
    }
    return NULL;
}

static void explain_missed(const char *name, int told)
{
    unsigned call, way;

    for (call = 0; call < CALLS + driver_calls; call++)
        for (way = 0; way < WAYS; way++) {
            const char *why;
            if (!missed_by[call][way])
                continue;
            why = reason_of(name, call, way);
            if (told || !why)
                printf("%s, %s, %s: %u of %u, %u ask less: %s\n", name, name_of_call(call), way_name[way], missed_by[call][way],
                       lies_by[call][way], less_by[call][way], why ? why : "missed, and no row of reasons says why");
            check(why != NULL, "lies that are missed are explained");
        }
}

static void accept_turned(const char *name)
{
    unsigned call;

    for (call = 0; call < ALL_CALLS; call++)
        if (turned[call])
            printf("%s calls %u lists of %s wrong that are in another order, which may be\n", name, turned[call], name_of_call(call));
    for (call = 0; call < ALL_CALLS && !turned[call]; call++)
        ;
    check(call == ALL_CALLS, "lists may be in another order");
}

static void compare_pin(const char *name, const struct case_pin *now)
{
    size_t i;

    for (i = 0; i < PINS && strcmp(pins[i].pair, name) != 0; i++)
        ;
    if (i < PINS)
        noted->pin_used[i] = 1;
    if (i == PINS || pins[i].calls != now->calls || pins[i].question != now->question || memcmp(&pins[i].sums, &now->sums, sizeof(now->sums)) != 0) {
        printf("%s notices other lies than its pins say: a comparison of its host code is weaker, or stronger, than it was\n", name);
        check(0, name);
    } else {
        check(1, name);
    }
}

static void print_pin(const char *name, const struct case_pin *now)
{
    const struct sums *is = &now->sums;

    printf("    { \"%s\", %u, 0x%x, { %u, %u, %u, %u, %llu, %llu, %llu, 0x%llx } },\n", name, now->calls, now->question, is->lies, is->missed, is->skipped,
           is->ended, is->wrong, is->kills, is->asked, is->said);
}

static void test_case(const struct case_info *info, const char *wish, const char *names)
{
    struct case_pin now = { NULL, 0, 0, { 0 } };
    char name[64];
    unsigned i;

    snprintf(name, sizeof(name), "%s/%s", info->family, info->pair);
    if (strncmp(name, names, strlen(names)) != 0)
        return;
    has_more_room = strcmp(name, "readback/lists") == 0;
    put_case(info, MODE_TRUE);
    if (CUDART_VERSION < 12040 && outcome->skipped)
        return; /* its nodes came with toolkit 12.4 */
    check(outcome->wrong == 0 && outcome->skipped == 0, name);
    if (strcmp(wish, "--asked") == 0) {
        printf("%s: 0x%x of %u\n", name, question, questions);
        return;
    }
    asked_in_truth = outcome->asked;
    memcpy(uses, used, sizeof(uses));
    for (i = 0; i < ALL_CALLS; i++)
        now.calls += uses[i];
    most_uses = now.calls < MANY_CALLS ? MOST_USES : now.calls < LONG_CALLS ? FEW_USES : LEAST_USES;
    most_places = now.calls < LONG_CALLS ? MOST_PLACES : 0;
    now.calls += counted;
    now.question = question;
    memset(&sums, 0, sizeof(sums));
    memset(missed_by, 0, sizeof(missed_by));
    memset(lies_by, 0, sizeof(lies_by));
    memset(less_by, 0, sizeof(less_by));
    memset(turned, 0, sizeof(turned));
    free_gone();
    put_case(info, MODE_TELLING);
    free_gone();
    now.sums = sums;
    if (strcmp(wish, "--pins") == 0)
        print_pin(name, &now);
    else
        compare_pin(name, &now);
    explain_missed(name, strcmp(wish, "--missed") == 0);
    accept_turned(name);
}

/* In a process of its own: what one case leaves in memory would make each fork of the next ones slow. */
static void test_apart(const struct case_info *info, const char *wish, const char *names)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        passed = failed = 0;
        test_case(info, wish, names);
        noted->passed += passed;
        noted->failed += failed;
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        check(0, info->name);
}

/* Those that only note what they are told judge nothing. The programs have tests of their own; four threads call in any order. */
static int is_judging(const struct case_info *info)
{
    return strcmp(info->kind, "api") == 0 && info->proving && !info->gpu_only && strcmp(info->family, "programs") != 0 &&
           strcmp(info->pair, "crew") != 0;
}

/* Each row of the two tables says something. */
static void test_tables(void)
{
    size_t i;

    for (i = 0; i < PINS; i++)
        check(noted->pin_used[i] || CUDART_VERSION < 12040, pins[i].pair);
    for (i = 0; i < REASONS; i++) {
        if (!noted->reason_used[i])
            printf("no lie is missed for this reason: %s, %s, %s, %s\n", reasons[i].pair, reasons[i].call, reasons[i].way, reasons[i].why);
        check(noted->reason_used[i], "each reason explains a lie");
    }
}

int main(int count, char **arguments)
{
    int wishes = count > 1 && arguments[1][0] == '-';
    const char *wish = wishes ? arguments[1] : "", *names = count > 1 + wishes ? arguments[1 + wishes] : "";
    unsigned i;

    noted = mmap(NULL, sizeof(*noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (noted == MAP_FAILED) {
        printf("no memory to share with children\n");
        return 1;
    }
    outcome = &noted->outcome;
    keeps_rows = 0;
    (void)unsetenv("PDL_MODEL_SMS");
    setvbuf(stdout, NULL, _IONBF, 0); /* children have nothing to flush */
    for (i = 0; i < case_count; i++)
        if (is_judging(&case_table[i]))
            test_apart(&case_table[i], wish, names);
    passed = noted->passed;
    failed += noted->failed;
    if (strcmp(wish, "--pins") == 0 || strcmp(wish, "--asked") == 0)
        return 0;
    if (!names[0])
        test_tables();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
