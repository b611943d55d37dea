/* batch.h - many trials at once: laid out, planned, queued on one of the three paths, and judged while the next batch runs.
 *
 * captured  the trials of a group are captured once into a graph; plans are uploaded before each of its replays
 * built     the same, and the graph is built by hand, node by node with its edges
 * stream    the trials are launched one by one after a bounded gate kernel, so that the GPU never waits for the next launch
 *
 * On a GPU most captured and streamed trials are dealt to four lanes that run side by side: batch_queue_trials() says which.
 */
#ifndef BATCH_H_INCLUDED
#define BATCH_H_INCLUDED

#include "device.h"
#include "oracle.h"
#include "plan.h"

struct slot {
    struct slot_shape shape;
    size_t first_word;           /* in data, seen, input */
    size_t first_block;          /* in sm */
};

/* One of the variations of a case's trials: what differs from the plan as drawn. */
struct variation {
    uint32_t broken_wait, x_ns;  /* brokenwait image */
    uint32_t set_flags;          /* PLAN_* to add */
    uint32_t skip;               /* leading blocks of the dependent that only wait */
    enum control control;        /* of every slot, if not CONTROL_NONE */
};

struct pin {                     /* one trial of a part, to be repeated: where its shape and its plan were drawn */
    uint64_t group, trial;
    unsigned slot;
};

struct part {                    /* trials of one image of one case */
    const struct case_info *info;
    const struct pair *pair;
    struct plan_source source;
    struct device_size size;
    struct variation variation;
    enum control interleave;     /* control of every PLAN_CONTROL_EVERY-th slot, or CONTROL_NONE */
    unsigned slots;              /* trials per batch */
    unsigned pairs, replays;     /* groups come in pairs, each replayed so often: batches = 2 * pairs * replays */
    size_t words_capacity;       /* per batch */
    int pinned;                  /* every trial is the one of pin, with words of its own */
    struct pin pin;
};

struct layout {
    struct slot slot[PLAN_MAX_SLOTS];
    unsigned slots, group;
    size_t words, blocks;
};

/* Sets slots, pairs and replays so that at least `trials` trials that are no controls run. Returns their number.
 * graphed: replayed as a graph, captured or built. */
uint64_t part_divide(struct part *part, uint64_t trials, int graphed);
/* Makes every trial of a divided part a repetition of this one, at least `repeats` of them; 0 if the part has no such trial. */
int part_pin(struct part *part, uint64_t batch, unsigned slot, uint64_t repeats, int graphed);
uint64_t part_batches(const struct part *part);
uint64_t part_group(const struct part *part, uint64_t batch);

/* Shapes and places of a group's trials. */
void batch_layout(struct layout *layout, const struct part *part, uint64_t group);
/* Plans of a batch; plans[BATCH_POISON] is the poison kernel's. */
void batch_plan(struct trial_plan *plans, const struct part *part, const struct layout *layout, uint64_t batch);

/* Queue the trials themselves (after their plans): poison, then pair by pair. captured: they become a graph's nodes. */
int batch_queue_trials(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                       const struct queue *queue, int captured, struct fault *fault);
/* The executable graph of a group: built by hand if queue->nodes is there, else captured. */
int batch_graph(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                const struct queue *queue, cudaGraphExec_t *exec, struct fault *fault);
/* Everything of one batch; exec is NULL on the stream path. */
int batch_launch(struct device *device, struct buffers *b, const struct part *part, const struct layout *layout,
                 const struct queue *queue, cudaGraphExec_t exec, struct fault *fault);
int batch_wait(struct buffers *b, struct fault *fault);
/* Self-test of the watchdog: a kernel that keeps the device busy for so long. */
int batch_hang(struct device *device, uint32_t seconds, struct fault *fault);

#endif
