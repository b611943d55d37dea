/* Kernels for the contract programs; on the model a kernel is a C function with one argument. */
#ifndef PDL_HEADERS_KERNELS_H
#define PDL_HEADERS_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

struct number {
    int value; /* how many steps the first two take */
};

void plain_kernel(struct number args);  /* compiled for compute_90 */
void erased_kernel(struct number args); /* compute_80 turned into machine code for sm_90 */
void static_kernel(struct number args); /* 4 KiB of static shared memory */
void narrow_kernel(struct number args); /* at most 16 threads per block */
void greedy_kernel(struct number args); /* 255 registers */

#ifdef __cplusplus
}
#endif
#endif
