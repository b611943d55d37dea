/* batch_kernels.h - the host addresses of the kernels in batch.cu. */
#ifndef BATCH_KERNELS_H_INCLUDED
#define BATCH_KERNELS_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

extern const void *const batch_poison_kernel, *const batch_gate_kernel, *const batch_spacer_kernel, *const batch_hang_kernel,
    *const batch_tick_kernel;

#ifdef __cplusplus
}
#endif

#endif
