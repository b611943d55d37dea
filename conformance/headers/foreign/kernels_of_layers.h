// The kernels of the foreign code base, as functions that the model runs, and the launchers that it had before.
#pragma once
#include <cuda_runtime_api.h>

#include "model_kernel.h"

cudaError_t launch_packed(const cudaLaunchConfig_t *config, const void *kernel, void **args); // one struct per kernel on the model

namespace kernels {

template <typename T> T load(const T *place) { return static_cast<T>(model_load32(place, MODEL_LD_CA)); }
template <typename T> void store(T *place, T value) { model_store32(place, static_cast<uint32_t>(value)); }

template <typename T, int unroll> void scale(T *out, const T *in, T factor, int count)
{
    model_trigger();
    model_wait();
    for (int k = 0; k < unroll; k++) {
        const int i = static_cast<int>((model_block() * unroll + static_cast<unsigned>(k)) * model_threads() + model_thread());
        if (i < count)
            store(out + i, static_cast<T>(load(in + i) * factor));
    }
}

template <typename T> void add(T *out, const T *a, const T *b, int count)
{
    const int i = static_cast<int>(model_block() * model_threads() + model_thread());
    model_trigger();
    model_wait();
    if (i < count)
        store(out + i, static_cast<T>(load(a + i) + load(b + i)));
}

template <typename T> void increment(T *data, int count)
{
    model_trigger();
    model_wait();
    for (int i = static_cast<int>(model_thread()); i < count; i += static_cast<int>(model_threads()))
        store(data + i, static_cast<T>(load(data + i) + 1));
}

template <typename... params>
cudaError_t launch(void (*kernel)(params...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, params... args)
{
    void *list[] = {&args...};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return launch_packed(&config, reinterpret_cast<const void *>(kernel), list);
}

template <typename... params> cudaError_t launch_config(const cudaLaunchConfig_t *config, void (*kernel)(params...), params... args)
{
    void *list[] = {&args...};
    return launch_packed(config, reinterpret_cast<const void *>(kernel), list);
}

} // namespace kernels
