// Runs the foreign code base on three devices of the model, before the port and after it: the same results, and with
// FOREIGN_PORTED overlap exactly where it is sound.
#include <cuda_runtime_api.h>

#include <map>
#include <utility>

#include "model.h"
#include "model_kernel.h"

cudaError_t launch_packed(const cudaLaunchConfig_t *config, const void *kernel, void **args);
#define cudaLaunchKernelExC launch_packed
#include "layers.h"
#undef cudaLaunchKernelExC
#include "expect.h"

namespace {

using pack_function = void (*)(void **args, unsigned char *packed);
std::map<const void *, pack_function> packers;

// A kernel with several parameters: the model takes one struct, so they are packed, 8 bytes each.
template <auto kernel> struct registered;
template <class... P, void (*kernel)(P...)> struct registered<kernel> {
    template <size_t... I> static void unpack(const unsigned char *packed, std::index_sequence<I...>)
    {
        kernel(*reinterpret_cast<const P *>(packed + 8 * I)...);
    }
    static void entry(const void *packed)
    {
        unpack(static_cast<const unsigned char *>(packed), std::index_sequence_for<P...>());
    }
    static void pack(void **args, unsigned char *packed)
    {
        const size_t sizes[] = {sizeof(P)...};
        for (size_t i = 0; i < sizeof...(P); i++)
            memcpy(packed + 8 * i, args[i], sizes[i]);
    }
    explicit registered(const char *name)
    {
        static model_kernel record;
        record = {name, reinterpret_cast<const void *>(kernel), 32, 0, 90, 90, 0, 8 * sizeof...(P), entry};
        model_register_kernel(&record);
        packers[reinterpret_cast<const void *>(kernel)] = pack;
    }
};

registered<kernels::scale<int, 4>> scale_int("scale<int, 4>");
registered<kernels::scale<unsigned, 2>> scale_unsigned("scale<unsigned, 2>");
registered<kernels::add<int>> add_int("add<int>");
registered<kernels::increment<int>> increment_int("increment<int>");

enum { COUNT = 40, DEVICES = 3 };

void run_on(int device, int out[COUNT])
{
    engine::context at = {device, nullptr};
    int *data[3];

    engine::check(cudaSetDevice(device));
    engine::check(cudaStreamCreateWithFlags(&at.stream, cudaStreamNonBlocking));
    for (int *&part : data)
        engine::check(cudaMalloc(reinterpret_cast<void **>(&part), COUNT * sizeof(int)));
    for (int i = 0; i < COUNT; i++)
        out[i] = i;
    engine::check(cudaMemcpy(data[0], out, COUNT * sizeof(int), cudaMemcpyHostToDevice));
    engine::scale_layer<int, 4>(3).run(at, data[1], data[0], COUNT);
    engine::run_elementwise(at, kernels::add<int>, COUNT, data[2], static_cast<const int *>(data[0]), static_cast<const int *>(data[1]));
    engine::run_urgent(at, data[2], COUNT);
    engine::check(cudaMemcpyAsync(out, data[2], COUNT * sizeof(int), cudaMemcpyDeviceToHost, at.stream));
    engine::check(cudaStreamSynchronize(at.stream));
}

void expect_results(const int out[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        EXPECT_IS(out[i], 4 * i + 1);
}

// Three launches per device; the last has an attribute of its own.
void expect_attributes()
{
#ifdef FOREIGN_PORTED
    const unsigned overlap[DEVICES] = {1, 0, 1};
#else
    const unsigned overlap[DEVICES] = {0, 0, 0};
#endif
    EXPECT_IS(model_launch_count(), 3 * DEVICES);
    for (unsigned i = 0; i < model_launch_count(); i++)
        EXPECT_IS(model_launch_at(i)->num_attrs, overlap[i / 3] + (i % 3 == 2));
}

} // namespace

cudaError_t launch_packed(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    alignas(8) unsigned char packed[MODEL_ARGS_MAX] = {};
    void *one[] = {packed};
    packers.at(kernel)(args, packed);
    return cudaLaunchKernelExC(config, kernel, one);
}

int main()
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        model_reset("", seed);
        model_set_devices(DEVICES);
        model_set_cc_of(1, 8, 0);
        for (int device = 0; device < DEVICES; device++) {
            int out[COUNT];
            run_on(device, out);
            expect_results(out);
        }
        expect_attributes();
    }
    return failed;
}
