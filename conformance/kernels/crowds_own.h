/* crowds_own.h - what is a block's or a thread's own in the grids of crowds_shapes.h: dynamic shared memory and, in some kernels, static
 * shared memory and local memory. It is as it was left when the grid has triggered, waited and stored. */
#ifndef CROWDS_OWN_H_INCLUDED
#define CROWDS_OWN_H_INCLUDED

#define FIXED_WORDS 512u       /* of static shared memory */
#define FIXED_FRAME 24u        /* of local memory; crowds_frames.h has more of it */

#ifdef PDL_MODEL
#define FRAME(name, words) volatile uint32_t *name = (volatile uint32_t *)model_local((words) * sizeof(uint32_t))
#define KERNEL_WITH_FIXED(name, type) KERNEL_NAMED_WITH_FIXED(SYMBOL(name), type)
#define KERNEL_NAMED_WITH_FIXED(name, type) MODEL_KERNEL_OF(name, type, 32, FIXED_WORDS * sizeof(uint32_t), MODEL_KERNEL_PTX, 90)
#define FIXED_MEMORY volatile uint32_t *fixed = NULL; FRAME(frame, FIXED_FRAME)
#else
#define FRAME(name, words) volatile uint32_t name[words]
#define KERNEL_WITH_FIXED(name, type) KERNEL_OF(name, type)
#define FIXED_MEMORY __shared__ volatile uint32_t fixed[FIXED_WORDS]; FRAME(frame, FIXED_FRAME)
#endif

/* Fills the first and the last words of the block's shared memory; how many of them are others' now. */
DEVICE_FN uint32_t shaped_keeps(const struct shaped_args *args, uint64_t key, uint32_t again)
{
    volatile uint32_t *own = k_shared();
    uint32_t words = k_dynamic_shared() / 4, i, at, wrong = 0;

    for (i = k_thread(); i < 16 && words; i += k_threads()) {
        at = i < 8 ? i : words - 1 - i;
        if (again)
            wrong += own[at] != words_fresh(key + args->place + CROWD_BLOCK, at);
        else
            own[at] = words_fresh(key + args->place + CROWD_BLOCK, at);
    }
    return wrong;
}

/* The same of static shared memory, if there is any, and of the thread's local memory. */
DEVICE_FN void fixed_keeps(const struct shaped_args *args, volatile uint32_t *fixed, volatile uint32_t *frame, uint32_t again)
{
    uint32_t block = CROWD_BLOCK, thread = block * k_threads() + k_thread(), wrong = 0, i, at;

    for (i = k_thread(); i < FIXED_WORDS && fixed; i += k_threads()) {
        if (again)
            wrong += fixed[i] != block + i;
        else
            fixed[i] = block + i;
    }
    for (i = 0; i < FIXED_FRAME; i++) {
        at = (thread + i) % FIXED_FRAME; /* the compiler does not know where that is */
        if (again)
            wrong += frame[at] != thread + i;
        else
            frame[at] = thread + i;
    }
    if (wrong)
        k_add(&args->state[args->place].done, 1);
}

#endif
