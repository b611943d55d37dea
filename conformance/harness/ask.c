/* ask.c - runs a case of kind api. */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_case.h"

/* Every answer of the case that runs, in the order of the questions. */
static struct answer rows[ASK_ROWS];
static unsigned row_count;

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

void ask_row(struct ask *ask, const char *what, const char *answer)
{
    struct answer *row = &rows[row_count];

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

void ask_expect(struct ask *ask, const char *what, cudaError_t got, cudaError_t want)
{
    ask->asked++;
    ask_row(ask, what, cudaGetErrorName(got));
    if (got != want) {
        ask->wrong++;
        tell(ask, what, cudaGetErrorName(got), cudaGetErrorName(want));
    }
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
    ask->wrong++;
    snprintf(want_text, sizeof(want_text), "%ld", want);
    tell(ask, what, got_text, want_text);
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
    if (got == cudaSuccess) {
        ask->wrong++;
        tell(ask, what, "accepted", "refused");
    }
    (void)cudaGetLastError();
}

void ask_expect_text(struct ask *ask, const char *what, const char *got, const char *want)
{
    ask->asked++;
    ask_row(ask, what, got);
    if (strcmp(got, want) != 0) {
        ask->wrong++;
        tell(ask, what, got, want);
    }
}

void ask_skip(struct ask *ask, const char *what, const char *why)
{
    ask->skipped++;
    tell(ask, what, why, NULL);
}

void ask_case(struct run *run, const struct case_info *info, const struct pair *pair, enum case_status *status)
{
    struct ask ask;

    memset(&ask, 0, sizeof(ask));
    ask.stream = run->device->stream;
    ask.side = run->device->side;
    ask.trials = run_trials(info, run->profile, run->device->is_model);
    pair->ask(&ask);
    *status = ask.wrong ? CASE_FAIL : info->proving && ask.asked && !ask.skipped ? CASE_PASS : CASE_INCONCLUSIVE;
    record_asked(run->record, info, *status, ask.text, ask.asked, rows, row_count);
    forget_rows();
}
