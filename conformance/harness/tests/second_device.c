/* second_device.c - the model's harness in pdl-harness-second: each name is that of the second of two devices, which is a newer one. */
#include "model.h"
#include "model_select.h"

const char *model_default_device(void) { return "second"; }
unsigned model_default_sms(void) { return model_sms(); }

int model_select(const char *device, uint64_t seed, int *ordinal, int *is_model)
{
    (void)device;
    model_reset("", seed);
    model_set_devices(2);
    model_set_cc_of(1, 10, 0);
    *is_model = 1;
    *ordinal = 1;
    return 1;
}

void model_list_devices(struct record *record) { (void)record; }
