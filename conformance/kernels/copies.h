/* copies.h - what kernels need that copy in bulk or by a tensor map: a place in shared memory with a barrier in it. GPU only. */
#ifndef COPIES_H_INCLUDED
#define COPIES_H_INCLUDED

#ifndef PDL_MODEL
#include "kernel.h"

DEVICE_FN uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

DEVICE_FN void opens_room(uint64_t *barrier)
{
    if (k_thread() == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* for the barrier and the room, not for global memory */
    k_barrier();
}

/* Returns 0 if the copy did not come within the bound: then nobody may go on to use the room. */
DEVICE_FN uint32_t copy_arrives(struct trial_state *state, uint64_t *barrier, uint32_t phase)
{
    uint32_t done = 0, spins = 0;

    while (!done) {
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done) : "r"(shared_address(barrier)), "r"(phase) : "memory");
        if (++spins > K_SPIN_LIMIT) {
            k_add(&state->cut_short, 1);
            return 0;
        }
    }
    return 1;
}

/* The other side of such a pair takes as much static shared memory, or the SMs would have to change their split between the two
 * (F29b); the compiler would drop a room that nobody uses. */
DEVICE_FN void takes_room(uint64_t *barrier)
{
    if (k_thread() == 0)
        *(volatile uint64_t *)barrier = 0;
}

DEVICE_FN void keeps_room(const struct kernel_args *args, uint64_t *barrier)
{
    if (k_thread() == 0 && *(volatile uint64_t *)barrier)
        k_add(&args->state->left, 1);
}
#endif
#endif
