/* part.c - the loop over batches: two are in flight, one running while the other is judged. */
#include "part.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch_kernels.h"
#include "pdl.h"

/* Both sides get the same carve-out, so that no SM has to be idle between them (F29b). */
static int prepare(pdl_kernel *kernel, const void *function, size_t shared_bytes, struct fault *fault)
{
    if (shared_bytes > 48 * 1024 - 1024)
        FAULT_TRY(fault, cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    FAULT_TRY(fault, cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          shared_bytes ? cudaSharedmemCarveoutMaxShared : 0));
    FAULT_TRY(fault, pdl_kernel_init(kernel, function));
    return 1;
}

int part_queue(struct queue *queue, struct device *device, const struct pair *pair, const struct pair *base_pair, int raw,
               struct fault *fault)
{
    size_t shared_bytes = pair->shape == SHAPE_RESOURCE ? device->size.shared_per_block : 0;

    memset(queue, 0, sizeof(*queue));
    queue->stream = device->stream;
    queue->side = device->side;
    queue->fork = device->fork;
    queue->join = device->join;
    queue->timed = device->timed;
    queue->old = device->old;
    memcpy(queue->nothing, device->nothing, sizeof(queue->nothing));
    queue->raw = raw;
    queue->high_priority = device->high_priority;
    if (pair->middle && !prepare(&queue->middle, pair->middle, shared_bytes, fault))
        return 0;
    return prepare(&queue->spacer, batch_spacer_kernel, shared_bytes, fault) &&
           prepare(&queue->primary, (raw ? base_pair : pair)->primary, shared_bytes, fault) &&
           prepare(&queue->dependent, pair->dependent, shared_bytes, fault);
}

/* Remember whose words lie where, so that the oracle can tell a stale word from a foreign one. */
static void remember(struct buffers *b, const struct layout *layout)
{
    unsigned i;
    for (i = 0; i < layout->slots; i++)
        b->stale_key[i] = b->plan_host[i].key;
}

struct flight {                  /* the two groups that are being replayed in turn */
    struct layout *layout;       /* [2] */
    cudaGraphExec_t exec[2];
};

/* After a line of nodes (F13) a primary may outlast the end of its graph, for as long as it is held: its arguments live in the
 * executable graph, so that has to last longer. */
static int destroy_graph(const struct part *part, cudaGraphExec_t *exec, struct fault *fault)
{
    struct timespec outlast = { 0, 1000000 };

    if (!*exec)
        return 1;
    if (part->pair->flags & PAIR_LINE) {
        FAULT_TRY(fault, cudaDeviceSynchronize());
        (void)nanosleep(&outlast, NULL);
    }
    FAULT_TRY(fault, cudaGraphExecDestroy(*exec));
    *exec = NULL;
    return 1;
}

static int open_group(struct part *part, struct device *device, const struct queue *queue, int graphed, struct flight *flight,
                      unsigned which, uint64_t batch, struct fault *fault)
{
    struct buffers *b = &device->buffers[which];

    batch_layout(&flight->layout[which], part, part_group(part, batch));
    memset(b->stale_key, 0, sizeof(b->stale_key));
    if (!destroy_graph(part, &flight->exec[which], fault))
        return 0;
    return !graphed || batch_graph(device, b, part, &flight->layout[which], queue, &flight->exec[which], fault);
}

/* Wait for a batch and judge it. */
static int finish(struct part *part, struct device *device, struct flight *flight, struct tally *tally, uint64_t batch,
                  struct fault *fault)
{
    unsigned which = (unsigned)(batch % 2);
    struct buffers *b = &device->buffers[which];

    if (!batch_wait(b, fault))
        return 0;
    check_words(device->word_check, device->crew, part, &flight->layout[which], b);
    tally_batch(tally, part, &flight->layout[which], b, batch, batch / 2 % 4 == 0, device->word_check->slot);
    remember(b, &flight->layout[which]);
    return 1;
}

static int run_batches(struct part *part, struct device *device, const struct queue *queue, int graphed, struct flight *flight,
                       struct tally *tally, const struct progress *progress, struct fault *fault)
{
    uint64_t batches = part_batches(part), batch;

    for (batch = 0; batch < batches; batch++) {
        unsigned which = (unsigned)(batch % 2);
        if (batch / 2 % part->replays == 0 && !open_group(part, device, queue, graphed, flight, which, batch, fault))
            return 0;
        batch_plan(device->buffers[which].plan_host, part, &flight->layout[which], batch);
        if (!batch_launch(device, &device->buffers[which], part, &flight->layout[which], queue, flight->exec[which], fault))
            return 0;
        if (batch && !finish(part, device, flight, tally, batch - 1, fault))
            return 0;
        if (progress)
            progress->tell(progress->context, batch * part->slots, batches * part->slots);
    }
    return finish(part, device, flight, tally, batches - 1, fault);
}

int part_run(struct part *part, struct device *device, const struct queue *queue, int graphed, struct tally *tally,
             const struct progress *progress, struct fault *fault)
{
    struct flight flight = PDL_ZERO;
    int done;

    flight.layout = calloc(2, sizeof(*flight.layout));
    if (!flight.layout) {
        fault->error = cudaErrorMemoryAllocation;
        fault->call = "calloc of two layouts";
        return 0;
    }
    done = run_batches(part, device, queue, graphed, &flight, tally, progress, fault);
    done = done && destroy_graph(part, &flight.exec[0], fault) && destroy_graph(part, &flight.exec[1], fault);
    free(flight.layout);
    return done;
}

void part_plan(const struct part *part, struct tally *tally, uint32_t *want)
{
    static struct trial_plan plans[BATCH_PLANS];
    static struct layout layout;
    uint64_t batches = part_batches(part), batch;

    for (batch = 0; batch < batches; batch++) {
        batch_layout(&layout, part, part_group(part, batch));
        batch_plan(plans, part, &layout, batch);
        tally_plans(tally, part, &layout, plans, want);
    }
}
