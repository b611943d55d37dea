/* rewrite.h - puts code into the kernels of an image without moving any of theirs
 *
 * The code is appended to the kernel's section. The first instruction becomes a branch to it; the new code ends with that instruction
 * and a branch back. A wait, trigger or exit inside the kernel is treated in the same way. Every other instruction, jump
 * table, attribute and debug record keeps its place, so the rewriter need not understand them.
 */
#ifndef PDL_REWRITE_H
#define PDL_REWRITE_H

#include <stddef.h>
#include <stdint.h>

/* What stands at a kernel's entry, in this order, and at its own waits, triggers and exits. */
enum {
    PLAN_TRIGGER = 1,
    PLAN_HOLD = 2,
    PLAN_WAIT = 4,
    PLAN_HOLD_AFTER_WAIT = 8,
    PLAN_HOLD_BEFORE_EXIT = 16,
    PLAN_HOLD_AFTER_TRIGGER = 32,
    PLAN_EMPTY = 64, /* a branch to the new code and back, and nothing else */
    PLAN_RECORD = 128, /* times of each warp: at entry, before and after each wait, before each trigger and exit */
    PLAN_TRIGGER_AFTER_WAIT = 256, /* at entry, after the wait that PLAN_WAIT puts there */
    PLAN_NO_WAIT_TIMES = 512, /* what PLAN_RECORD leaves out: to find the place that a program does not stand */
    PLAN_NO_TRIGGER_TIMES = 1024,
    PLAN_NO_EXIT_TIMES = 2048,
    PLAN_SPILL = 4096, /* for PLAN_RECORD: no registers above the kernel's own, because they would cost occupancy */
    PLAN_KNOWN = 8191
};

/* What PLAN_RECORD writes, in the device's memory: one per warp, in the order in which warps start. Ahead of the first one stands the
 * number of warps that have started, in as many bytes as a record has. */
struct warp_record {
    uint64_t start, grid;              /* nanoseconds of the device's clock; the launch's number on the device */
    uint32_t block, kernel, blocks;    /* the block's number; record_room.kernel, and from bit 12 on how long (ns) the code
                                          that records held up the warp's start; how many blocks the launch has */
    uint32_t place;                    /* multiprocessor; from bit 16 on the block's warps, from bit 24 on this warp */
    uint64_t wait_begun, wait_ended, trigger, exit; /* of the last time that each was reached; 0: never */
};
struct record_room {
    uint64_t address;  /* of the first warp_record on the device */
    uint32_t mask;     /* the number of records, a power of two, minus 1 */
    uint32_t kernel;   /* stands in the records of this kernel; below 4,096 */
};

struct kernel_plan {
    uint32_t flags;
    uint32_t least_ns, span_ns; /* a block's hold lies in [least, least + span], by its number and the seed */
    uint32_t seed;
    uint64_t words; /* if not 0: a device address from which the kernel reads flags, least, span and seed at each launch */
    struct record_room room; /* for PLAN_RECORD */
};

struct kernel_outcome {
    const char *name;
    const char *refusal; /* NULL: it was rewritten, or the plan leaves it alone */
    int rewritten;
    unsigned waits, triggers, exits; /* in the code as it was */
    unsigned registers_before;       /* 0 if it is not known */
    unsigned registers;              /* what it has now */
    int spilled;                     /* it records without registers above its own */
    unsigned frame;                  /* bytes of the stack that it takes itself, if the image says so */
};

struct rewriting {
    /* Fills in the plan of a kernel; 0 to leave the kernel alone. */
    int (*choose)(void *context, const char *kernel, struct kernel_plan *plan);
    /* Called once for each kernel of the image; may be NULL. The name lives as long as the image. */
    void (*report)(void *context, const struct kernel_outcome *outcome);
    void *context;
};

enum rewrite_result { REWRITE_UNCHANGED, REWRITE_DONE, REWRITE_IMPOSSIBLE };

/* On REWRITE_DONE *out is a new image (free it). On REWRITE_IMPOSSIBLE *why says what is wrong with the image as a whole. */
enum rewrite_result rewrite_cubin(const void *image, size_t size, const struct rewriting *how, void **out, size_t *out_size,
                                  const char **why);

#endif
