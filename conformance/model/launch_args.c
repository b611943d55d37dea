/* What arrives of the arguments of a launch. */
#include "api.h"

#include <string.h>

/* What arrives of long arguments on the devices that cut them. */
static void cut_args(const struct request *r, unsigned char *args)
{
    size_t bytes = r->kernel->args_bytes;
    size_t most = device.faults.args_end_at_64 ? 64 : device.faults.args_end_at_100 ? 100 : device.faults.args_end_at_200 ? 200 : 1024;
    if ((device.faults.cooperative_args_end_at_256 && r->cooperative) || (device.faults.cluster_args_end_at_256 && r->cluster > 1) ||
        (device.faults.recorder_args_end_at_256 && r->event != NULL))
        most = 256;
    if (device.faults.urgent_args_end_at_64 && r->urgent)
        most = 64;
    if ((most < 1024 || device.faults.args_end_at_1024) && bytes > most)
        memset(args + most, 0, bytes - most);
    if (device.faults.args_end_at_4096 && bytes > 4096)
        memset(args + 4096, 0, bytes - 4096);
}

/* On a device where launches with attribute 6 get their arguments' far part as the launch before had it. */
static void mix_args(const struct request *r, unsigned char *args)
{
    static unsigned char before[MODEL_ARGS_MAX];
    size_t bytes = r->kernel->args_bytes;
    if (!device.faults.dependent_args_of_before || bytes <= 4096)
        return;
    if (r->programmatic)
        memcpy(args + 4096, before + 4096, bytes - 4096);
    memcpy(before, r->args, bytes);
}

/* On a device that compares the arguments of a launch with those of the launch before. */
static void repeat_args(const struct request *r, unsigned char *args)
{
    static unsigned char before[MODEL_ARGS_MAX];
    static const struct model_kernel *kernel;
    const size_t bytes = r->kernel->args_bytes, compared = 256;
    if (!device.faults.args_compared_to_256)
        return;
    if (kernel == r->kernel && bytes > compared && memcmp(before, r->args, compared) == 0)
        memcpy(args, before, bytes);
    else
        memcpy(before, r->args, bytes);
    kernel = r->kernel;
}

void request_gives_args(const struct request *r, unsigned char *args)
{
    const size_t bytes = r->kernel->args_bytes;
    memcpy(args, r->args, bytes);
    if (device.faults.other_thread_args_end_at_64 && device.other_thread && bytes > 64)
        memset(args + 64, 0, bytes - 64);
    cut_args(r, args);
    mix_args(r, args);
    repeat_args(r, args);
}
