/* model_select.h - which device `--device` means: the one thing that differs between the two harness executables. */
#ifndef MODEL_SELECT_H_INCLUDED
#define MODEL_SELECT_H_INCLUDED

#include <stdint.h>

#include "record.h"

const char *model_default_device(void);
unsigned model_default_sms(void);
/* cuda[:N] or model[:NAME]. Returns 1, or 0 after saying what is wrong on stderr. */
int model_select(const char *device, uint64_t seed, int *ordinal, int *is_model);
/* One record per device of the model: name, rule it violates, conforming. */
void model_list_devices(struct record *record);

#endif
