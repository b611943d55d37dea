/* ask.c - runs a case of kind api. */
#include "ask.h"

#include "circumstances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "record_case.h"
#include "variants.h"

/* Every answer of the case that runs, in the order of the questions. */
static struct answer rows[ASK_ROWS];
static unsigned row_count;
static int keeps_rows = 1;       /* off while mutants answer */

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

static int is_kept(const char *what, const char *answer)
{
    unsigned i;

    for (i = 0; i < row_count; i++)
        if (strcmp(rows[i].what, what) == 0 && strcmp(rows[i].answer, answer) == 0)
            return 1;
    return 0;
}

/* Where half of the room is left, what was answered before needs no more of it. */
void ask_row(struct ask *ask, const char *what, const char *answer)
{
    struct answer *row = &rows[row_count];

    if (!keeps_rows || (row_count >= ASK_ROWS / 2 && is_kept(what, answer)))
        return;
    if (row_count == ASK_ROWS) {
        ask_skip(ask, what, "more answers than the record holds");
        return;
    }
    row->what = copy_of(what);
    row->answer = copy_of(answer);
    row_count += row->what && row->answer;
}

static void forget_rows(void)
{
    for (; row_count; row_count--) {
        free(rows[row_count - 1].what);
        free(rows[row_count - 1].answer);
    }
}

static void tell(struct ask *ask, const char *what, const char *got, const char *want)
{
    size_t used = strlen(ask->text);

    snprintf(ask->text + used, sizeof(ask->text) - used, "%s%s: %s%s%s", used ? "; " : "", what, got, want ? ", not " : "",
             want ? want : "");
}

/* Said at once, because what is asked next may end the process. */
void ask_accuse(struct ask *ask, const char *what, const char *got)
{
    if (ask->sign && ask->sign->accuse && !ask->accused++)
        ask->sign->accuse(ask->sign, what, got);
}

static void count_wrong(struct ask *ask, const char *what, const char *got, const char *want)
{
    if (ask->starved) {
        ask_skip(ask, what, got);
        return;
    }
    ask->wrong++;
    tell(ask, what, got, want);
    ask_accuse(ask, what, got);
}

void ask_expect_update(struct ask *ask, const char *what, cudaError_t got)
{
    if (got != cudaErrorGraphExecUpdateFailure) {
        ask_expect(ask, what, got, cudaSuccess);
        return;
    }
    ask_skip(ask, what, "the update was refused");
    ask->starved = 1;
    (void)cudaGetLastError();
}

int ask_lacks_means(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation || error == cudaErrorCallRequiresNewerDriver || error == cudaErrorInsufficientDriver;
}

void ask_expect(struct ask *ask, const char *what, cudaError_t got, cudaError_t want)
{
    if (ask_lacks_means(got) && want == cudaSuccess) {
        ask_skip(ask, what, cudaGetErrorName(got));
        ask->starved = 1;
        (void)cudaGetLastError();
        return;
    }
    ask->asked++;
    ask_row(ask, what, cudaGetErrorName(got));
    if (got != want)
        count_wrong(ask, what, cudaGetErrorName(got), cudaGetErrorName(want));
    (void)cudaGetLastError();
}

void ask_expect_number(struct ask *ask, const char *what, long got, long want)
{
    char got_text[24], want_text[24];

    ask->asked++;
    snprintf(got_text, sizeof(got_text), "%ld", got);
    ask_row(ask, what, got_text);
    if (got == want)
        return;
    snprintf(want_text, sizeof(want_text), "%ld", want);
    count_wrong(ask, what, got_text, want_text);
}

void ask_expect_none(struct ask *ask, const char *what, unsigned long long wrong, unsigned long long of)
{
    char text[48];

    ask->asked++;
    ask->kills += wrong;
    ask->tried += of;
    snprintf(text, sizeof(text), "%llu of %llu", wrong, of);
    ask_row(ask, what, text);
    if (wrong)
        count_wrong(ask, what, text, "none");
}

void ask_note(struct ask *ask, const char *what, cudaError_t got)
{
    ask->asked++;
    ask_row(ask, what, cudaGetErrorName(got));
    tell(ask, what, cudaGetErrorName(got), NULL);
    (void)cudaGetLastError();
}

void ask_note_number(struct ask *ask, const char *what, long got)
{
    char text[24];

    ask->asked++;
    snprintf(text, sizeof(text), "%ld", got);
    ask_row(ask, what, text);
    tell(ask, what, text, NULL);
}

void ask_expect_refusal(struct ask *ask, const char *what, cudaError_t got)
{
    ask->asked++;
    ask_row(ask, what, cudaGetErrorName(got));
    if (got == cudaSuccess)
        count_wrong(ask, what, "accepted", "refused");
    (void)cudaGetLastError();
}

void ask_expect_text(struct ask *ask, const char *what, const char *got, const char *want)
{
    ask->asked++;
    ask_row(ask, what, got);
    if (strcmp(got, want) != 0)
        count_wrong(ask, what, got, want);
}

void ask_unsupported(struct ask *ask, const char *why) { ask->lacks = why; }

void ask_skip(struct ask *ask, const char *what, const char *why)
{
    ask->skipped++;
    tell(ask, what, why, NULL);
}

void ask_says(const struct ask *ask, const char *what, unsigned long long done, unsigned long long planned)
{
    if (ask->sign && ask->sign->tell)
        ask->sign->tell(ask->sign, what, done, planned);
}

int ask_goes_on(struct ask *ask, unsigned long long done, unsigned long long planned)
{
    double now = run_now_s();

    if (now - ask->told_s >= (ask->sign ? ask->sign->every_s : SIGN_EVERY_S)) {
        ask_says(ask, "trials", done, planned);
        ask->told_s = now;
    }
    return done < planned;
}

/* Work is endless once it has taken this long, and this many times as long as the longest so far: others may use the device. */
#define ENDLESS_S 2.0
#define ENDLESS_TIMES 100.0

cudaError_t ask_await(struct ask *ask, cudaStream_t stream)
{
    double begin = run_now_s(), most = ask->usual_s * ENDLESS_TIMES > ENDLESS_S ? ask->usual_s * ENDLESS_TIMES : ENDLESS_S, took;
    cudaError_t error;

    do {
        error = cudaStreamQuery(stream);
        took = run_now_s() - begin;
    } while (error == cudaErrorNotReady && (ask->usual_s <= 0 || took <= most));
    if (error == cudaErrorNotReady) {
        ask->endless = 1;
        return cudaErrorLaunchTimeout;
    }
    ask->usual_s = took > ask->usual_s ? took : ask->usual_s;
    return error;
}

struct sign_context {
    struct record *record;
    const char *case_name;
};

static void tell_sign(const struct ask_sign *sign, const char *what, unsigned long long done, unsigned long long planned)
{
    const struct sign_context *context = sign->context;

    record_begin(context->record, "progress");
    record_text(context->record, "case", context->case_name);
    record_text(context->record, "part", what);
    record_count(context->record, "done", done);
    record_count(context->record, "planned", planned);
    record_end(context->record);
}

/* On the model, whatever the time is. */
static void tell_some_signs(const struct ask_sign *sign, const char *what, unsigned long long done, unsigned long long planned)
{
    if (done != 0 && done % SIGN_EVERY_TRIALS == 0)
        tell_sign(sign, what, done, planned);
}

static void tell_accusation(const struct ask_sign *sign, const char *what, const char *got)
{
    const struct sign_context *context = sign->context;

    record_begin(context->record, "wrong");
    record_text(context->record, "case", context->case_name);
    record_text(context->record, "what", what);
    record_text(context->record, "answer", got);
    record_end(context->record);
}

struct put {
    const struct pair *pair;
    struct ask *ask;
};

static void ask_pair(void *of)
{
    const struct put *put = of;

    put->pair->ask(put->ask);
}

static void put(struct run *run, const struct case_info *info, const struct pair *pair, enum circumstance circumstance, struct ask *ask)
{
    struct put put;
    struct sign_context context;
    struct ask_sign sign;

    context.record = run->record;
    context.case_name = info->name;
    sign.tell = run->record->timeless ? tell_some_signs : tell_sign;
    sign.every_s = run->record->timeless ? 0 : SIGN_EVERY_S;
    sign.accuse = keeps_rows || circumstance != ALONE ? tell_accusation : NULL; /* a mutant's wrong answers accuse nobody */
    sign.context = &context;
    memset(ask, 0, sizeof(*ask));
    ask->sign = &sign;
    ask->stream = run->device->stream;
    ask->side = run->device->side;
    ask->trials = circumstances_trials(info, circumstance, run_trials(info, run->profile, run->device->is_model));
    ask->seed = plan_draw(plan_source_make(run->seed, info->name, "base"), 0, 0);
    put.pair = pair;
    put.ask = ask;
    circumstances_run(ask_pair, &put);
    run->endless |= ask->endless;
    ask->sign = NULL;
}

/* How many: on a GPU the first one that the seed draws, but for a full run. */
#define CIRCUMSTANCES_ON_GPU 1u

/* The same questions in circumstances that suit. What is wrong in one of them is wrong with the case. */
static void put_in_circumstances(struct run *run, const struct case_info *info, const struct pair *pair, unsigned calls, struct ask *told)
{
    unsigned kinds = CIRCUMSTANCES - 1, first = (unsigned)(told->seed % kinds), puts = 0, i;
    unsigned most = run->device->is_model || run->profile == PROFILE_FULL ? kinds : CIRCUMSTANCES_ON_GPU;

    for (i = 0; i < kinds && puts < most && !told->wrong; i++) {
        enum circumstance circumstance = (enum circumstance)(1 + (first + 3 * i) % kinds);
        struct ask ask;

        if (!circumstance_suits(info, circumstance, calls))
            continue;
        puts++;
        circumstances_begin(circumstance);
        put(run, info, pair, circumstance, &ask);
        if (!ask.endless) /* else it would wait for ever */
            (void)circumstances_end();
        if (ask.wrong || ask.starved)
            tell(told, circumstance_name[circumstance], ask.text, NULL);
        told->wrong += ask.wrong;
        told->skipped += ask.starved != 0; /* what was wrong after that accused nobody */
    }
}

/* The same questions put to each of the case's mutants: its answers have to be wrong. Returns how many survived. After one whose work never
 * ends no other can be asked. */
static unsigned put_to_mutants(struct run *run, const struct case_info *info, struct ask *after)
{
    struct variant variants[VARIANTS_MAX];
    const char *survivor = NULL;
    unsigned count = variants_of_case(variants, info, run->profile), survived = 0, i;

    for (i = 0; i < count && !run->endless; i++) {
        struct variant_result result = PDL_ZERO;
        struct ask ask;

        put(run, info, run_find_pair(info, variants[i].image), ALONE, &ask);
        result.applicable = 1;
        result.kills = ask.kills;
        result.trials = ask.tried;
        result.status = judge_variant(ask.kills, 1, variants[i].may_be_equivalent);
        record_variant(run->record, info, &variants[i], &result);
        if (result.status != VARIANT_SURVIVED)
            continue;
        survived++;
        survivor = variants[i].name;
    }
    if (survived)
        tell(after, "mutant-survived", survivor, NULL);
    if (i < count)
        ask_skip(after, variants[i].name, "not asked, for the work of the mutant before it never ends");
    return survived;
}

void ask_case(struct run *run, const struct case_info *info, const struct pair *pair, enum case_status *status)
{
    struct ask ask, after;
    unsigned survived = 0, calls;

    circumstances_begin(ALONE);
    put(run, info, pair, ALONE, &ask);
    calls = circumstances_end();
    if (ask.lacks && !ask.asked) {
        *status = CASE_NOT_SUPPORTED;
        record_unrun(run->record, info, *status, ask.lacks);
        return;
    }
    if (info->proving && !ask.wrong && !ask.skipped) {
        keeps_rows = 0;
        put_in_circumstances(run, info, pair, calls, &ask);
        keeps_rows = 1;
    }
    after = ask;
    if (info->proving && info->mutants[0] && !ask.wrong && !ask.skipped) {
        keeps_rows = 0;
        survived = put_to_mutants(run, info, &after);
        keeps_rows = 1;
    }
    *status = judge_answers(info->proving, after.asked, after.wrong, after.skipped, survived);
    record_asked(run->record, info, *status, after.text, ask.asked, rows, row_count);
    forget_rows();
}
