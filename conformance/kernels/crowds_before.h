/* crowds_before.h - what the threads of crowds_shapes.h do before they wait, beside storing and triggering: they meet in a barrier with a
 * number, acquire, release, make atomics of other widths, or read constant memory, each on words of its own. None of it is anything to the
 * wait. Some threads that wait or trigger twice do so much more often. */
#ifndef CROWDS_BEFORE_H_INCLUDED
#define CROWDS_BEFORE_H_INCLUDED

#include "crowds_reductions.h"

#define BEFORE_AT ((MARKS_SUM + 4) / 4 * 4) /* behind the marks */
#define BEFORE_EACH 2u         /* words of a thread */
#define BEFORE_NUMBER 1u       /* of the barrier */
#define REPEATS_MANY 40u

#ifdef PDL_MODEL
#define k_name_sync(id, threads) model_named_barrier((id), (threads), 1)
#define k_name_arrive(id, threads) model_named_barrier((id), (threads), 0)
#define k_name_sync_all(id) model_named_barrier((id), k_threads(), 1)
#else
#define k_name_sync(id, threads) asm volatile("barrier.sync %0, %1;" :: "r"(id), "r"(threads) : "memory")
#define k_name_arrive(id, threads) asm volatile("barrier.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory")
#define k_name_sync_all(id) asm volatile("barrier.sync %0;" :: "r"(id) : "memory")
#endif

enum shaped_before { BEFORE_NOTHING, BEFORE_NAMED, BEFORE_ACQUIRED, BEFORE_RELEASED, BEFORE_ADDED, BEFORE_COMPARED, BEFORE_CONSTANT,
                     SHAPED_BEFORES };

CONSTANT_WORDS(crowds_constants, 8); /* whatever they hold */

/* All threads of a block. */
DEVICE_FN void shaped_before(const struct shaped_args *args)
{
    uint32_t thread = args->place * SHAPED_MOST + CROWD_BLOCK * k_threads() + k_thread();
    uint32_t *own = args->marks + BEFORE_AT + BEFORE_EACH * thread;
    uint32_t one[REDUCED_CELL] = { 1, 0, 0, 0 };

    switch (args->before) {
    case BEFORE_NAMED: k_name_sync_all(BEFORE_NUMBER); break;
    case BEFORE_ACQUIRED: (void)k_load_acquire(own); break;
    case BEFORE_RELEASED:
        if (thread % 2)
            k_add_release(own, 1);
        else
            k_store_release(own, 1);
        break;
    case BEFORE_ADDED: k_reduce(RED_ADD64, own, one, one); break;
    case BEFORE_COMPARED: (void)k_compare(own, 0, 1); break;
    case BEFORE_CONSTANT: (void)k_load_constant(crowds_constants, thread % 8); break;
    default: break;
    }
}

#endif
