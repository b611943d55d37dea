/* kernel_args.h - what a kernel of the kit is given: one struct by value, and one plan and one state per trial.
 *
 * A graph is captured once and replayed: its nodes keep their kernel_args, while the plans after `plan` are uploaded
 * anew before every replay. So everything that changes from trial to trial stands in struct trial_plan.
 */
#ifndef KERNEL_ARGS_H_INCLUDED
#define KERNEL_ARGS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* trial_plan.flags */
#define PLAN_WITNESS 0x01u        /* the primary waits, bounded, for the dependent's flag before it stores */
#define PLAN_TRIGGER_ALL 0x02u    /* every thread triggers; else thread 0 of each block */
#define PLAN_TRIGGER_NEVER 0x04u  /* no block triggers */
#define PLAN_TRIGGER_LATE 0x08u   /* the trigger comes after the stores */
#define PLAN_OTHERS_LEAVE 0x10u   /* start rules: blocks that do not withhold leave without staying */
#define PLAN_WITHHOLD_EXIT 0x20u  /* start rules: the withholding block exits instead of triggering */
#define PLAN_FENCE 0x40u          /* triage: an extra fence after the wait */
#define PLAN_READ_ONLY 0x80u      /* lines are read before the wait by the read-only path, else by the cached one */
#define PLAN_STAGGER 0x100u       /* each block holds a different part of hold_ns */
#define PLAN_MIDDLE 0x200u        /* the primary itself carries the attribute */

/* trial_plan.broken_wait: how the software wait of the `brokenwait` image fails */
enum broken_wait {
    BROKEN_NONE,
    BROKEN_EARLY,        /* returns x_ns before the primary's last stores begin */
    BROKEN_AT_TRIGGER,   /* returns at once */
    BROKEN_BEFORE_FLUSH, /* returns when the last block has set its exit flag; nothing is flushed */
    BROKEN_ALL_BUT_ONE,  /* does not cover one block */
    BROKEN_STALE_LINES   /* covers every store, but leaves stale lines in the first-level cache */
};

struct trial_plan {
    uint64_t key;          /* of words_fresh() */
    uint32_t words;        /* multiple of 4 */
    uint32_t flags;        /* PLAN_* */
    uint32_t hold_ns;      /* visibility: hold after the witness; start: D, how long the start must stay away */
    uint32_t bound_ns;     /* longest wait for the witness */
    uint32_t reads_early;  /* latewait: the first words that are read before the wait */
    uint32_t withhold;     /* index of the block that withholds its trigger */
    uint32_t repeats;      /* WAIT-05: waits per thread; TRIG-05: triggers per thread */
    uint32_t rotate;       /* reader block b takes the words of block b + rotate */
    uint32_t skip;         /* triage: leading blocks of the dependent that only wait, so that others read */
    uint32_t broken_wait;  /* enum broken_wait */
    uint32_t x_ns;         /* BROKEN_EARLY */
    uint32_t residents;    /* primary blocks that have begun before the spacer lets the unordered dependent go */
    uint32_t offset;       /* first word of the trial within its batch */
    uint32_t reserved;     /* 0 */
    uint64_t batch_key;    /* of words_poison() */
    uint64_t reserved2;    /* 0; keeps the size a multiple of 16 */
};

/* Reset by the poison kernel before every trial (zeros, minima to all ones), written by the pair, read by the host. */
struct trial_state {
    uint32_t alive;             /* a block of the dependent runs */
    uint32_t witnessed;         /* primary blocks that saw `alive` before they stored */
    uint32_t early;             /* start rules: primary blocks that saw `alive` while it had to stay away */
    uint32_t began;             /* primary blocks that began */
    uint32_t finished;          /* dependent blocks that finished */
    uint32_t done;              /* brokenwait image: primary blocks after their last store */
    uint32_t cut_short;         /* bounded spins that ended by their iteration count instead of the clock */
    uint32_t left;              /* start rules: blocks that are about to leave their places; order.cu: the kernel in the middle ran */
    uint64_t target_ns;         /* brokenwait image: when the primary's last stores begin */
    uint64_t primary_store_ns;  /* maximum over blocks, taken before the first store of each */
    uint64_t held_ns;           /* minimum over the blocks that held; this and the following are the minima */
    uint64_t primary_begin_ns;
    uint64_t dependent_begin_ns;
    uint64_t dependent_waited_ns; /* taken after the wait */
};
#define STATE_MINIMA (offsetof(struct trial_state, held_ns) / 4) /* first 32-bit word that resets to all ones */

struct kernel_args {
    const struct trial_plan *plan;
    struct trial_state *state;
    uint32_t *data;          /* written by the primary */
    uint32_t *seen;          /* what the dependent read in data, word by word */
    uint32_t *input;         /* overwrite pair: read by the primary, overwritten by the dependent */
    uint32_t *primary_sm;    /* one per block of the primary */
    uint32_t *dependent_sm;  /* one per block of the dependent */
};

#endif
