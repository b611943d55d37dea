/* select_cuda.c - `--device` of the harness that is linked with the CUDA runtime. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_select.h"

const char *model_default_device(void) { return "cuda"; }
unsigned model_default_sms(void) { return 132; }

int model_select(const char *device, uint64_t seed, int *ordinal, int *is_model)
{
    char *end = NULL;
    (void)seed;
    *is_model = 0;
    *ordinal = 0;
    if (strcmp(device, "cuda") == 0)
        return 1;
    if (strncmp(device, "cuda:", 5) == 0) {
        *ordinal = (int)strtol(device + 5, &end, 10);
        if (end != device + 5 && !*end && *ordinal >= 0)
            return 1;
    }
    fprintf(stderr, "pdl-harness: --device takes cuda or cuda:N here, not %s; pdl-harness-model runs the model\n", device);
    return 0;
}

void model_list_devices(struct record *record) { (void)record; }
