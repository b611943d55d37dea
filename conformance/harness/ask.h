/* ask.h - cases of kind api: host calls whose answers are compared; they have no trials and no bound. */
#ifndef ASK_H_INCLUDED
#define ASK_H_INCLUDED

#include "run_case.h"

#define ASK_ROWS 1024u

/* Asks, records the case and says its status. Every question counts as one trial. */
void ask_case(struct run *run, const struct case_info *info, const struct pair *pair, enum case_status *status);

#endif
