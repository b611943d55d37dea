/* try.h - hands a failed call's error on. */
#ifndef TRY_H_INCLUDED
#define TRY_H_INCLUDED

#define TRY(call)                       \
    do {                                \
        cudaError_t error_ = (call);    \
        if (error_ != cudaSuccess)      \
            return error_;              \
    } while (0)

#endif
