/* kept_often.h - the pair of kept.cu in which one executable graph is changed many times. */
#ifndef KEPT_OFTEN_H_INCLUDED
#define KEPT_OFTEN_H_INCLUDED

#include "kept_served.h"

#define OFTEN 20u

enum habit { HABIT_PARAMS, HABIT_UPDATE, HABIT_BOTH, HABITS };

/* Each launch does what the last change says, the twentieth as the first. */
static void ask_changed_often(struct kept *kept, unsigned single, enum habit habit)
{
    static const char *const habits[HABITS] = { "new parameters", "an update", "new parameters or an update" };
    struct ordered o = { kept, single, 0, 0, NULL, NULL, NULL };
    struct ask *ask = kept->ask;
    unsigned i;
    char text[96];

    snprintf(text, sizeof(text), "%s, often after %s", single_name(single), habits[habit]);
    ask_expect(ask, text, make_single(kept, single, 0, &o.graph, &o.node), cudaSuccess);
    ask_expect(ask, text, cudaGraphInstantiate(&o.exec, o.graph, 0), cudaSuccess);
    for (i = 0; i < OFTEN && o.exec; i++) {
        int updates = habit == HABIT_UPDATE || (habit == HABIT_BOTH && i % 2 == 0);
        ask_expect(ask, text, call_once(&o, updates ? CALL_UPDATE : CALL_PARAMS), cudaSuccess);
        expect_words(kept, o.exec, text, 1u << o.word);
    }
    (void)cudaGraphExecDestroy(o.exec);
    (void)cudaGraphDestroy(o.graph);
}

static void ask_often(struct ask *ask)
{
    struct kept kept = PDL_ZERO;
    unsigned single, habit;

    if (!open_kept(&kept, ask))
        return;
    ask_many_changed(&kept);
    for (single = 0; single < SINGLES; single++) {
        for (habit = 0; habit < HABITS && takes_changes(single); habit++)
            ask_changed_often(&kept, single, (enum habit)habit);
        if (takes_changes(single) && single != ITEM_ROWS) /* a memset, as well */
            ask_repeated(&kept, single);
    }
    ask_served(&kept, 0);
    ask_served(&kept, 1);
    close_kept(&kept);
}

#endif
