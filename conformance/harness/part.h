/* part.h - runs one part of a case: its base, a mutant, a broken wait or a triage variation. */
#ifndef PART_H_INCLUDED
#define PART_H_INCLUDED

#include "batch.h"
#include "tally.h"

struct progress {                /* called between batches */
    void (*tell)(void *context, uint64_t done, uint64_t planned);
    void *context;
};

/* Which kernels, and how they are launched. base: the image the primary comes from if image erased the wait. */
int part_queue(struct queue *queue, struct device *device, const struct pair *pair, const struct pair *base_pair, int raw,
               struct fault *fault);
/* Runs all batches and tallies them. Returns 0 with *fault filled if the device failed. */
int part_run(struct part *part, struct device *device, const struct queue *queue, int graphed, struct tally *tally,
             const struct progress *progress, struct fault *fault);
/* Only plans: what part_run would plan and expect. */
void part_plan(const struct part *part, struct tally *tally, uint32_t *want);

#endif
