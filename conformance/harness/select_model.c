/* select_model.c - `--device` of the harness that is linked with the model. */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "model_select.h"

const char *model_default_device(void) { return "model"; }
unsigned model_default_sms(void) { return model_sms(); }

int model_select(const char *device, uint64_t seed, int *ordinal, int *is_model)
{
    const char *name = strncmp(device, "model:", 6) == 0 ? device + 6 : "";

    *is_model = 1;
    *ordinal = 0;
    if (strcmp(device, "model") != 0 && !(name[0] && model_variant_known(name))) {
        fprintf(stderr, "pdl-harness-model: no device of that name: %s; --list names them\n", device);
        return 0;
    }
    model_reset(name, seed);
    return 1;
}

void model_list_devices(struct record *record)
{
    int i;
    for (i = 0; i < model_variant_count(); i++) {
        record_begin(record, "device");
        record_text(record, "name", model_variant_name(i));
        record_text(record, "rule", model_variant_rule(i));
        record_text(record, "text", model_variant_text(i));
        record_bool(record, "conforming", model_variant_conforming(i));
        record_end(record);
    }
    record_begin(record, "grammar");
    record_text(record, "features", model_drawn_features());
    record_text(record, "effects", model_drawn_effects());
    record_end(record);
}
