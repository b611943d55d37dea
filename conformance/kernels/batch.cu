/* batch.cu - kernels around the trials: poison before each batch, the gate that holds a stream, the unordered spacer,
 * and the planted hang. */
#include "kernel.h"
#include "batch_kernels.h"

/* Poison is a kernel, never a memset (F25). plan[0] stands for the whole batch: `words` of data, `residents` states. */
KERNEL(batch_poison)
{
    struct trial_plan plan = k_plan(&args);
    uint32_t stride = k_threads() * k_blocks();
    uint32_t first = k_block() * k_threads() + k_thread();
    uint32_t i, field;

    for (i = first * 4; i < plan.words; i += stride * 4) {
        uint32_t data[4], seen[4], input[4];
        for (field = 0; field < 4; field++) {
            data[field] = words_poison(plan.key, WORDS_POISON_DATA, i + field);
            seen[field] = words_poison(plan.key, WORDS_POISON_SEEN, i + field);
            input[field] = words_poison(plan.key, WORDS_INPUT, i + field);
        }
        k_store4(args.data + i, data);
        k_store4(args.seen + i, seen);
        if (args.input)
            k_store4(args.input + i, input);
    }
    for (i = first; i < plan.residents; i += stride) {
        uint32_t *state = (uint32_t *)(args.state + i);
        for (field = 0; field < sizeof(struct trial_state) / 4; field++)
            k_store(state + field, field < STATE_MINIMA ? 0 : 0xFFFFFFFFu);
    }
}

/* Holds the stream until the host has queued the batch, which it says by writing plan->repeats or more to input[0], in host
 * memory. Bounded by plan->bound_ns: a gate that lets go by itself says so in data[0]. */
KERNEL(batch_gate)
{
    struct trial_plan plan = k_plan(&args);
    uint64_t begin = k_now();
    uint32_t spins = 0;

    while (k_load_system(args.input) < plan.repeats && k_now() - begin < plan.bound_ns && ++spins < K_SPIN_LIMIT)
        k_pause();
    if (k_load_system(args.input) < plan.repeats)
        k_store(args.data, plan.repeats);
}

/* Ends when the primary's resident blocks have begun; the unordered dependent comes after it. */
KERNEL(batch_spacer)
{
    struct trial_plan plan = k_plan(&args);
    (void)k_poll(args.state, &args.state->began, plan.residents, plan.bound_ns);
}

/* How finely the clock ticks: the least step between two readings, ~0 if there was none. */
KERNEL(batch_tick)
{
    uint64_t last = k_now(), least = ~(uint64_t)0;
    uint32_t i;

    for (i = 0; i < 8192; i++) {
        uint64_t now = k_now();
        if (now != last && now - last < least)
            least = now - last;
        last = now;
    }
    k_store64_relaxed(&args.state->target_ns, least);
}

/* The planted hang: keeps the device for plan->repeats seconds, then ends. The clock alone bounds it. */
KERNEL(batch_hang)
{
    struct trial_plan plan = k_plan(&args);
    uint64_t begin = k_now();

    while (k_now() - begin < plan.repeats * (uint64_t)1000000000)
        k_pause();
}

const void *const batch_poison_kernel = (const void *)SYMBOL(batch_poison);
const void *const batch_gate_kernel = (const void *)SYMBOL(batch_gate);
const void *const batch_spacer_kernel = (const void *)SYMBOL(batch_spacer);
const void *const batch_tick_kernel = (const void *)SYMBOL(batch_tick);
const void *const batch_hang_kernel = (const void *)SYMBOL(batch_hang);
