/* last_error_test.c - an error code has a name and a text of its own: none, an empty one or another one's is wrong. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "last_error.cu" /* whole: what is asked is static */

#include "check.h"

static int renamed, reworded;  /* whether one code has `told` for its name, or for its text */
static const char *told;

const char *__real_cudaGetErrorName(cudaError_t error);
const char *__wrap_cudaGetErrorName(cudaError_t error);
const char *__wrap_cudaGetErrorName(cudaError_t error)
{
    return renamed && error == cudaErrorInvalidValue ? told : __real_cudaGetErrorName(error);
}

const char *__real_cudaGetErrorString(cudaError_t error);
const char *__wrap_cudaGetErrorString(cudaError_t error);
const char *__wrap_cudaGetErrorString(cudaError_t error)
{
    return reworded && error == cudaErrorInvalidValue ? told : __real_cudaGetErrorString(error);
}

static unsigned wrong_names(void)
{
    struct ask ask = PDL_ZERO;

    ask_names(&ask);
    return ask.wrong;
}

int main(void)
{
    const char *const texts[] = { NULL, "", "unrecognized error code", __real_cudaGetErrorString(cudaSuccess) };
    unsigned i, names = 0, words = 0;

    check(wrong_names() == 0, "each code has its name, and a text of its own");
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        told = texts[i];
        renamed = 1;
        names += wrong_names() != 1;
        renamed = 0;
        reworded = 1;
        words += wrong_names() != 1;
        reworded = 0;
    }
    check(names == 0, "no name, an empty one or another one is wrong");
    check(words == 0, "no text, an empty one or another code's is wrong");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
