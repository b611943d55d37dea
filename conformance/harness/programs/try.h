/* try.h - hands a failed call's error on, or takes the success of a call that had to fail for one. */
#ifndef TRY_H_INCLUDED
#define TRY_H_INCLUDED

#define TRY(call)                       \
    do {                                \
        cudaError_t error_ = (call);    \
        if (error_ != cudaSuccess)      \
            return error_;              \
    } while (0)

static inline cudaError_t refused(cudaError_t error) { return error == cudaSuccess ? cudaErrorUnknown : cudaSuccess; }

#endif
