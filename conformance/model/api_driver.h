/* api_driver.h - what the files share that stand for the driver's functions. */
#ifndef MODEL_API_DRIVER_H_INCLUDED
#define MODEL_API_DRIVER_H_INCLUDED

#include "api.h"

/* What the runtime answers, without a last error, as the driver. */
#define BY_DRIVER(call)                                \
    do {                                               \
        cudaError_t before = cudaGetLastError(), said; \
        said = (call);                                 \
        (void)cudaGetLastError();                      \
        (void)call_result(before);                     \
        return (unsigned)said;                         \
    } while (0)

typedef void (*any_function)(void);
any_function driver_move(const char *name, unsigned asked); /* of api_driver_moves.c; NULL: no such function, or none so early */

#endif
