/* pdl_device.cuh, for an example that runs on the model: the same names, as calls into the model. ON_MODEL_NO_WAIT takes
 * the wait away, to show that its absence is noticed. */
#ifndef PDL_DEVICE_CUH
#define PDL_DEVICE_CUH

#include "model_kernel.h"

static inline void pdl_trigger()
{
    model_trigger();
}

static inline void pdl_wait()
{
#ifndef ON_MODEL_NO_WAIT
    model_wait();
#endif
}

/* One 32-bit word of the model's memory. */
template <class T> struct on_model_word {
    T *place;
    operator T() const { return (T)model_load32(place, MODEL_LD_CA); }
    void operator=(T value) const { model_store32((void *)place, (uint32_t)value); }
};

/* A pointer whose accesses the model sees; a plain pointer made of it reads what is visible just then. */
template <class T> struct on_model_pointer {
    T *place;
    template <class I> on_model_word<T> operator[](I i) const { return {place + i}; }
    template <class I> on_model_pointer operator+(I i) const { return {place + i}; }
    operator T *() const { return place; }
};

template <class T> static inline on_model_pointer<T> pdl_fresh(T *place)
{
    static_assert(sizeof(T) == 4, "the examples' words have 32 bits");
    return {place};
}

/* The block is one warp here. */
static inline unsigned __reduce_add_sync(unsigned, unsigned value)
{
    unsigned *all = (unsigned *)model_shared(0), sum = 0;

    all[model_thread()] = value;
    model_barrier();
    for (unsigned i = 0; i < model_threads(); i++)
        sum += all[i];
    model_barrier();
    return sum;
}

#endif
