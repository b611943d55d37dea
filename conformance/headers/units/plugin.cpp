// A library with one kernel and a launcher of its own, as reload.cpp loads and unloads it; PTX says what it is compiled for.
#include "pdl.h"

#include "model_kernel.h"

extern "C" __attribute__((visibility("default"))) void plugin_kernel(int steps);
extern "C" __attribute__((visibility("default"))) cudaError_t plugin_launch(void);
extern "C" __attribute__((visibility("default"))) cudaError_t plugin_launch_other(void (*kernel)(int));
extern "C" __attribute__((visibility("default"))) void plugin_register(model_kernel *record);

extern "C" void plugin_kernel(int) {}

static void entry(const void *) {}

// The record belongs to the program: it outlives the library, whose address the program forgets when it unloads it.
extern "C" void plugin_register(model_kernel *record)
{
    record->name = "plugin_kernel";
    record->func = reinterpret_cast<const void *>(plugin_kernel);
    record->registers = 32;
    record->ptx_version = PTX;
    record->binary_version = 90;
    record->args_bytes = sizeof(int);
    record->entry = entry;
}

extern "C" cudaError_t plugin_launch(void)
{
    return pdl::launch(plugin_kernel, 1, 1, 0, nullptr, pdl::overlap, 1);
}

// A generic launcher of the library: the kernel comes from elsewhere.
extern "C" cudaError_t plugin_launch_other(void (*kernel)(int))
{
    return pdl::launch(kernel, 1, 1, 0, nullptr, pdl::overlap, 1);
}
