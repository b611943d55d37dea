#include "kernels.h"

#include "model_kernel.h"

static void rest(int times)
{
    for (int i = 0; i < times; i++) {
        model_pause(10);
    }
}

MODEL_KERNEL_OF(plain_kernel, struct number, 32, 0, 90, 90)
{
    rest(args.value);
}

MODEL_KERNEL_OF(erased_kernel, struct number, 32, 0, 80, 90)
{
    rest(args.value);
}

MODEL_KERNEL_OF(static_kernel, struct number, 32, 4096, 90, 90)
{
    (void)args;
}

MODEL_KERNEL_OF(greedy_kernel, struct number, 255, 0, 90, 90)
{
    (void)args;
}

void narrow_kernel(struct number args)
{
    (void)args;
}

static void narrow_entry(const void *bytes)
{
    narrow_kernel(*(const struct number *)bytes);
}

__attribute__((constructor)) static void narrow_register(void)
{
    static struct model_kernel record;

    record.name = "narrow_kernel";
    record.func = (const void *)narrow_kernel;
    record.registers = 32;
    record.ptx_version = 90;
    record.binary_version = 90;
    record.max_threads = 16;
    record.args_bytes = sizeof(struct number);
    record.entry = narrow_entry;
    model_register_kernel(&record);
}
