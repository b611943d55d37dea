/* Expectations of the contract programs, and what the model says about the calls made. Included by one file per program. */
#ifndef PDL_HEADERS_EXPECT_H
#define PDL_HEADERS_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"
#include "model.h"
#include "symbols.h"

static int failed;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            failed = 1;                                                                                                \
        }                                                                                                              \
    } while (0)

#define EXPECT_IS(value, wanted)                                                                                       \
    do {                                                                                                               \
        const long long value_ = (long long)(value), wanted_ = (long long)(wanted);                                    \
        if (value_ != wanted_) {                                                                                       \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, #value, value_, wanted_, #wanted); \
            failed = 1;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Every cuda* call since the reset. */
static inline unsigned calls_made(void)
{
    unsigned sum = 0;
#define COUNT_SYMBOL(name) sum += model_call_count(#name);
    MODEL_SYMBOLS(COUNT_SYMBOL)
#undef COUNT_SYMBOL
    return sum;
}

/* An empty, conforming device without any switch in the environment. */
static inline void fresh_device(void)
{
    unsetenv("PDL_DISABLE");
    unsetenv("CUDA_LAUNCH_BLOCKING");
    model_reset("", 1);
    model_set_cc(9, 0);
}

/* The driver's handle of a kernel. */
static inline cudaFunction_t function_of(const void *func)
{
    cudaFunction_t function = NULL;

    EXPECT_IS(cudaGetFuncBySymbol(&function, func), cudaSuccess);
    return function;
}

static inline const struct model_launch *last_launch(void)
{
    const unsigned count = model_launch_count();

    return count != 0 ? model_launch_at(count - 1) : NULL;
}

/* The attribute of the last launch, NULL if it has none of that id. */
static inline const cudaLaunchAttributeValue *last_attribute(int id)
{
    const struct model_launch *launch = last_launch();

    for (unsigned i = 0; launch != NULL && i < launch->num_attrs; i++) {
        if ((int)launch->attrs[i].id == id) {
            return &launch->attrs[i].val;
        }
    }
    return NULL;
}

static inline unsigned attributes_of_last(void)
{
    return last_launch() != NULL ? last_launch()->num_attrs : ~0u;
}

#endif
