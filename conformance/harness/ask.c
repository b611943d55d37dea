/* ask.c - runs a case of kind api. */
#include "ask.h"

#include <stdio.h>
#include <string.h>

#include "record_case.h"

static void tell(struct ask *ask, const char *what, const char *got, const char *want)
{
    size_t used = strlen(ask->text);

    snprintf(ask->text + used, sizeof(ask->text) - used, "%s%s: %s%s%s", used ? "; " : "", what, got, want ? ", not " : "",
             want ? want : "");
}

void ask_expect(struct ask *ask, const char *what, cudaError_t got, cudaError_t want)
{
    ask->asked++;
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
    if (got == want)
        return;
    ask->wrong++;
    snprintf(got_text, sizeof(got_text), "%ld", got);
    snprintf(want_text, sizeof(want_text), "%ld", want);
    tell(ask, what, got_text, want_text);
}

void ask_note(struct ask *ask, const char *what, cudaError_t got)
{
    ask->asked++;
    tell(ask, what, cudaGetErrorName(got), NULL);
    (void)cudaGetLastError();
}

void ask_note_number(struct ask *ask, const char *what, long got)
{
    char text[24];

    ask->asked++;
    snprintf(text, sizeof(text), "%ld", got);
    tell(ask, what, text, NULL);
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
    pair->ask(&ask);
    *status = ask.wrong ? CASE_FAIL : info->proving && ask.asked && !ask.skipped ? CASE_PASS : CASE_INCONCLUSIVE;
    record_asked(run->record, info, *status, ask.text, ask.asked);
}
