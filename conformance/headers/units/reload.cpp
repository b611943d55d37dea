// Loads a library, launches its kernel by its own launcher and by one of the program, unloads it, and does the same with the
// second library, whose kernel is compiled for less and comes to lie at the same address. usage: reload LIBRARY LIBRARY
#include "pdl.h"

#include <dlfcn.h>
#include <stdio.h>

#include "model.h"
#include "model_kernel.h"

// A kernel of the program, which lies below every library: launched by a library's launcher.
static void own_kernel(int) {}

static void own_entry(const void *) {}

static void register_own_kernel()
{
    static model_kernel record;

    record.name = "own_kernel";
    record.func = reinterpret_cast<const void *>(own_kernel);
    record.registers = 32;
    record.ptx_version = record.binary_version = 90;
    record.args_bytes = sizeof(int);
    record.entry = own_entry;
    model_register_kernel(&record);
}

// A generic launcher of the program: the kernel comes from elsewhere.
static cudaError_t launch(void (*kernel)(int))
{
    return pdl::launch(kernel, 1, 1, 0, nullptr, pdl::overlap, 1);
}

static unsigned attributes_of_last()
{
    return model_launch_at(model_launch_count() - 1)->num_attrs;
}

static const void *run(const char *path, unsigned wanted)
{
    static model_kernel record;
    static bool registered;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

    if (library == nullptr) {
        fprintf(stderr, "%s\n", dlerror());
        return nullptr;
    }
    const auto fill = reinterpret_cast<void (*)(model_kernel *)>(dlsym(library, "plugin_register"));
    const auto kernel = reinterpret_cast<void (*)(int)>(dlsym(library, "plugin_kernel"));
    const auto other = reinterpret_cast<cudaError_t (*)(void (*)(int))>(dlsym(library, "plugin_launch_other"));
    const auto own = reinterpret_cast<cudaError_t (*)(void)>(dlsym(library, "plugin_launch"));
    bool wrong = false;

    fill(&record);
    if (!registered) {
        model_register_kernel(&record);
    }
    registered = true;
    for (int i = 0; i < 3; i++) {
        const unsigned asked = model_call_count("cudaFuncGetAttributes");

        wrong |= launch(kernel) != cudaSuccess || attributes_of_last() != wanted;
        wrong |= model_call_count("cudaFuncGetAttributes") != asked + 1; // a function of another library: asked each time
        wrong |= own() != cudaSuccess || attributes_of_last() != wanted;
        wrong |= model_call_count("cudaFuncGetAttributes") != asked + 1 + (i == 0); // one of its own: once
        wrong |= other(own_kernel) != cudaSuccess || attributes_of_last() != 1;
        wrong |= model_call_count("cudaFuncGetAttributes") != asked + 2 + (i == 0); // one of the program, from the library: each time
    }
    dlclose(library);
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr) {
        fprintf(stderr, "the library cannot be unloaded\n");
        return nullptr;
    }
    return wrong ? nullptr : reinterpret_cast<const void *>(kernel);
}

int main(int argc, char **argv)
{
    unsigned same = 0;

    if (argc != 3) {
        return 64;
    }
    register_own_kernel();
    for (int round = 0; round < 20; round++) { /* where a library is mapped is not ours to say */
        const void *first = run(argv[1], 1), *second = run(argv[2], 0);

        if (first == nullptr || second == nullptr) {
            return 1;
        }
        same += first == second;
    }
    printf("the same address in %u of 20 rounds\n", same);
    return same == 0 ? 77 : 0;
}
