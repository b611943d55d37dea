/* part_test.c - the loop over batches: what is queued, awaited, judged and freed, and in which order. Without a device. */
#include <stdio.h>
#include <string.h>

#include "batch_kernels.h"
#include "check.h"
#include "part.h"

/* ---- what is around part.c: every call is checked against what has happened so far, and one may fail ---- */

enum { BATCHES_MAX = 64 };

static struct watched {
    const struct part *part;
    int graphed;
    uint64_t planned, launched, checked, judged, plans_only;  /* batches, counted in order */
    uint64_t group_of[2];        /* that each set of buffers holds */
    int waited, graphs, synchronized, misplaced;
    unsigned made, told, sm_pairs;
    uint64_t fails_at, calls;    /* the call that fails, counted from 1; 0: none */
    cudaGraphExec_t exec[2];
    uint64_t told_last, last_of[2]; /* batch launched from either set of buffers */
} w;
static struct device device;
static struct tally tally;
static struct word_check word_check;
static uint32_t scratch[8];

static void in_order(int holds, const char *what)
{
    if (!holds) {
        w.misplaced++;
        printf("out of order: %s (batch %u)\n", what, (unsigned)w.launched);
    }
}

static int no_memory;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    in_order(count * size >= 2 * sizeof(struct layout), "there is room for two layouts");
    return no_memory ? NULL : __real_calloc(count, size);
}

static int goes_on(struct fault *fault)
{
    if (++w.calls != w.fails_at)
        return 1;
    fault->error = cudaErrorUnknown;
    fault->call = "planted";
    return 0;
}

static unsigned which_buffers(const struct buffers *b)
{
    in_order(b == &device.buffers[0] || b == &device.buffers[1], "buffers of the device");
    return b == &device.buffers[1];
}

uint64_t part_batches(const struct part *part) { return (uint64_t)2 * part->pairs * part->replays; }
uint64_t part_group(const struct part *part, uint64_t batch) { return batch / (2 * (uint64_t)part->replays) * 2 + batch % 2; }

void batch_layout(struct layout *layout, const struct part *part, uint64_t group)
{
    in_order(part == w.part, "the part that runs");
    layout->slots = part->slots;
    layout->words = (size_t)group + 1;
}

void batch_plan(struct trial_plan *plans, const struct part *part, const struct layout *layout, uint64_t batch)
{
    unsigned i;

    in_order(layout->words == part_group(part, batch) + 1, "a batch is planned in its own group's layout");
    in_order(batch == w.planned++, "batches are planned in turn");
    in_order(w.judged + 2 > batch || w.plans_only, "plans are not overwritten before their batch was judged");
    for (i = 0; i < layout->slots; i++)
        plans[i].key = batch * 100 + i + 1;
}

int batch_graph(struct device *of, struct buffers *b, const struct part *part, const struct layout *layout, const struct queue *queue,
                cudaGraphExec_t *exec, struct fault *fault)
{
    unsigned which = which_buffers(b), i;

    (void)queue;
    (void)of;
    in_order(*exec == NULL, "the graph before it is gone");
    in_order(w.graphed, "graphs are for paths with graphs");
    in_order(layout->words == part_group(part, w.launched) + 1, "a graph has its group's layout");
    in_order(w.judged + 1 >= w.launched, "the batch before in these buffers was judged");
    for (i = 0; i < layout->slots; i++)
        in_order(b->stale_key[i] == 0, "a new group knows no old words");
    if (!goes_on(fault))
        return 0;
    *exec = w.exec[which] = (cudaGraphExec_t)(void *)&w.group_of[which];
    w.graphs++;
    w.made++;
    return 1;
}

int batch_launch(struct device *of, struct buffers *b, const struct part *part, const struct layout *layout, const struct queue *queue,
                 cudaGraphExec_t exec, struct fault *fault)
{
    unsigned which = which_buffers(b);

    (void)of;
    (void)queue;
    in_order(which == w.launched % 2, "batches take turns with the buffers");
    in_order(w.planned == w.launched + 1, "what is launched was planned just before");
    in_order(layout->words == part_group(part, w.launched) + 1, "in its group's layout");
    in_order(exec == (w.graphed ? w.exec[which] : NULL), "with its own graph, or with none");
    if (w.launched >= 2 && b->stale_key[0]) /* a group goes on: the words of the batch before the last lie here */
        in_order(b->stale_key[3] == (w.launched - 2) * 100 + 4, "the words that lie there are remembered");
    else
        in_order(w.launched / 2 % part->replays == 0, "only a new group knows none");
    in_order(w.launched - w.judged < 2, "two batches are in flight, no more");
    w.last_of[which] = w.launched++;
    return goes_on(fault);
}

int batch_wait(struct buffers *b, struct fault *fault)
{
    in_order(which_buffers(b) == w.judged % 2 && w.judged < w.launched, "the oldest batch in flight is awaited");
    w.waited = 1;
    return goes_on(fault);
}

void check_words(struct word_check *check, struct crew *crew, const struct part *part, const struct layout *layout, const struct buffers *b)
{
    in_order(check == device.word_check && crew == device.crew && part == w.part, "words are checked by the device's own crew");
    in_order(w.waited && w.checked == w.judged, "once, after their batch was awaited");
    in_order(which_buffers(b) == w.judged % 2 && layout->words == part_group(part, w.judged) + 1, "in their own buffers and layout");
    w.checked++;
}

void tally_batch(struct tally *of, const struct part *part, const struct layout *layout, const struct buffers *b, uint64_t batch, int sm_pairs,
                 const struct checked *words)
{
    in_order(of == &tally && words == device.word_check->slot && w.checked == w.judged + 1, "counted in the tally, by the words that were checked");
    in_order(w.waited && batch == w.judged, "a batch is judged once, after it was awaited");
    in_order(which_buffers(b) == batch % 2 && layout->words == part_group(part, batch) + 1, "in its own buffers and layout");
    in_order(sm_pairs == (batch % 8 < 2), "one pair of batches in four says which SMs took part");
    w.sm_pairs += sm_pairs != 0;
    w.waited = 0;
    w.judged++;
}

void tally_plans(struct tally *of, const struct part *part, const struct layout *layout, const struct trial_plan *plans, uint32_t *want)
{
    in_order(of == &tally && want == scratch && layout->words == part_group(part, w.plans_only - 1) + 1, "plans are counted in their layout");
    in_order(plans[0].key == (w.plans_only - 1) * 100 + 1, "one batch after the other");
    w.plans_only++;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    struct fault fault;

    in_order(exec == w.exec[0] || exec == w.exec[1], "what is freed was made");
    in_order(w.judged > w.last_of[exec == w.exec[1]], "no graph in flight is freed");
    w.graphs--;
    return goes_on(&fault) ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t cudaDeviceSynchronize(void)
{
    w.synchronized++;
    return cudaSuccess;
}

static void told(void *context, uint64_t done, uint64_t planned)
{
    in_order(context == &w && planned == part_batches(w.part) * w.part->slots, "progress tells how much is planned");
    in_order(done == (w.launched - 1) * w.part->slots && (w.told == 0 || done > w.told_last), "and how far it is");
    w.told_last = done;
    w.told++;
}

/* ---- kernels are prepared ---- */

static const int kernels[6];
const void *const batch_spacer_kernel = &kernels[4], *const batch_poison_kernel, *const batch_gate_kernel, *const batch_hang_kernel,
    *const batch_tick_kernel;
static int dynamic_of[6], carveout_of[6], refused_attribute;

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    int kernel = (int)((const int *)function - kernels);

    if (refused_attribute == (int)attribute)
        return cudaErrorInvalidValue;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        dynamic_of[kernel] = value;
    else
        carveout_of[kernel] = value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    memset(attributes, 0, sizeof(*attributes));
    attributes->numRegs = (int)((const int *)function - kernels) + 1;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *ordinal) { return *ordinal = 0, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    (void)attribute;
    (void)ordinal;
    return *value = 9, cudaSuccess;
}
cudaError_t cudaPeekAtLastError(void) { return cudaErrorUnknown; } /* so that nobody counts parameters */
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
    (void)function;
    (void)index;
    *offset = *size = 0;
    return cudaErrorInvalidValue;
}

/* ---- tests ---- */

static struct pair pair;
static struct trial_plan plans[2][BATCH_PLANS];

static int run_parts(unsigned pairs, unsigned replays, int graphed, unsigned flags, uint64_t fails_at, struct part *part, struct fault *fault)
{
    static struct queue queue;
    struct progress progress = { told, &w };
    unsigned i;

    memset(&w, 0, sizeof(w));
    memset(part, 0, sizeof(*part));
    memset(&device, 0, sizeof(device));
    memset(fault, 0, sizeof(*fault));
    device.crew = (struct crew *)(void *)scratch;
    device.word_check = &word_check;
    for (i = 0; i < 2; i++) {
        device.buffers[i].plan_host = plans[i];
        device.buffers[i].stale_key[3] = 9; /* of whatever ran before */
    }
    pair.flags = flags;
    part->pair = &pair;
    part->slots = 4;
    part->pairs = pairs;
    part->replays = replays;
    w.part = part;
    w.graphed = graphed;
    w.fails_at = fails_at;
    return part_run(part, &device, &queue, graphed, &tally, fails_at % 2 ? NULL : &progress, fault);
}

static void test_order(void)
{
    struct part part;
    struct fault fault;
    unsigned pairs, replays;
    int graphed, wrong = 0, incomplete = 0, left = 0;

    for (pairs = 1; pairs <= 3; pairs++)
        for (replays = 1; replays <= 5; replays++)
            for (graphed = 0; graphed < 2; graphed++) {
                int done = run_parts(pairs, replays, graphed, 0, 0, &part, &fault);
                uint64_t batches = part_batches(&part);
                wrong += w.misplaced;
                incomplete += !done || w.judged != batches || w.launched != batches || w.told != batches;
                incomplete += w.made != (graphed ? 2 * pairs : 0) || w.synchronized;
                left += w.graphs;
            }
    check(wrong == 0, "every batch is planned, launched, awaited and judged in turn");
    check(incomplete == 0, "all of them, and each group has its own graph");
    check(left == 0, "no graph is left behind");
    (void)run_parts(1, 16, 0, 0, 0, &part, &fault);
    check(w.sm_pairs == 8, "one pair of batches in four says which SMs took part");
    (void)run_parts(2, 3, 1, PAIR_LINE, 0, &part, &fault);
    check(w.synchronized == 4 && w.graphs == 0, "a line of nodes is awaited before its graph is freed");
    memset(&w, 0, sizeof(w));
    w.part = &part;
    w.plans_only = 1;
    part_plan(&part, &tally, scratch);
    check(w.plans_only == part_batches(&part) + 1 && w.misplaced == 0, "planning alone plans the same batches");
}

/* Whatever call fails, the part says so and judges nothing that did not finish. */
static void test_faults(void)
{
    struct part part;
    struct fault fault;
    uint64_t at, calls;
    unsigned ignored = 0, untold = 0, wrong = 0;
    int graphed;

    for (graphed = 0; graphed < 2; graphed++) {
        (void)run_parts(2, 3, graphed, 0, 0, &part, &fault);
        calls = w.calls;
        for (at = 1; at <= calls; at++) {
            ignored += run_parts(2, 3, graphed, 0, at, &part, &fault) != 0;
            untold += fault.error != cudaErrorUnknown || !fault.call;
            wrong += w.misplaced != 0 || w.calls != at;
        }
    }
    check(ignored == 0, "a call that fails fails the part");
    check(untold == 0, "and is told");
    check(wrong == 0, "and nothing is done after it");
    no_memory = 1;
    check(!run_parts(1, 1, 1, 0, 0, &part, &fault) && fault.error == cudaErrorMemoryAllocation && strstr(fault.call, "layouts") && w.calls == 0,
          "a lack of memory is a fault like any other");
    no_memory = 0;
}

static void test_queue(void)
{
    static struct pair of, base;
    struct queue queue;
    struct fault fault;
    int things[8];
    unsigned i;

    memset(&device, 0, sizeof(device));
    memset(carveout_of, 0xFF, sizeof(carveout_of));
    device.stream = (cudaStream_t)(void *)&things[0];
    device.side = (cudaStream_t)(void *)&things[1];
    device.fork = (cudaEvent_t)(void *)&things[2];
    device.join = (cudaEvent_t)(void *)&things[3];
    device.timed = (cudaEvent_t)(void *)&things[4];
    device.old = (cudaEvent_t)(void *)&things[5];
    for (i = 0; i < 2; i++)
        device.nothing[i] = (cudaGraphExec_t)(void *)&things[6 + i];
    device.high_priority = -5;
    device.size.shared_per_block = 49152;
    of.primary = &kernels[0];
    of.dependent = &kernels[1];
    base.primary = &kernels[2];
    base.dependent = &kernels[3];
    memset(&queue, 0xFF, sizeof(queue));
    check(part_queue(&queue, &device, &of, &base, 0, &fault), "a queue of a pair");
    check(queue.stream == device.stream && queue.side == device.side && queue.fork == device.fork && queue.join == device.join &&
              queue.timed == device.timed && queue.old == device.old && queue.high_priority == -5 && queue.raw == 0 && queue.nodes == NULL,
          "has the device's streams and events");
    check(queue.nothing[0] == device.nothing[0] && queue.nothing[1] == device.nothing[1], "and both graphs that do nothing");
    check(queue.primary.func == of.primary && queue.dependent.func == of.dependent && queue.spacer.func == batch_spacer_kernel &&
              queue.middle.func == NULL, "and the pair's kernels");
    check(dynamic_of[0] == 0 && carveout_of[0] == 0 && carveout_of[1] == 0 && carveout_of[4] == 0, "no shared memory is asked for, by none of them");
    check(part_queue(&queue, &device, &of, &base, 1, &fault) && queue.primary.func == base.primary && queue.dependent.func == of.dependent &&
              queue.raw == 1, "raw: the primary of the base, the dependent of the image");
    of.middle = &kernels[3];
    of.shape = SHAPE_RESOURCE;
    check(part_queue(&queue, &device, &of, &base, 0, &fault) && queue.middle.func == of.middle, "a kernel in the middle");
    check(dynamic_of[0] == 49152 && dynamic_of[1] == 49152 && dynamic_of[3] == 49152 && dynamic_of[4] == 49152, "resources: all opt in to the most");
    check(carveout_of[0] == cudaSharedmemCarveoutMaxShared && carveout_of[1] == cudaSharedmemCarveoutMaxShared, "with one carve-out");
    memset(dynamic_of, 0, sizeof(dynamic_of));
    device.size.shared_per_block = 48 * 1024 - 1024;
    check(part_queue(&queue, &device, &of, &base, 0, &fault) && dynamic_of[0] == 0, "what every kernel may have needs no opt-in");
    device.size.shared_per_block++;
    check(part_queue(&queue, &device, &of, &base, 0, &fault) && dynamic_of[0] == 48 * 1024 - 1023, "a byte more does");
    refused_attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    check(!part_queue(&queue, &device, &of, &base, 0, &fault) && fault.error == cudaErrorInvalidValue, "a refused opt-in is a fault");
    refused_attribute = cudaFuncAttributePreferredSharedMemoryCarveout;
    of.middle = NULL;
    check(!part_queue(&queue, &device, &of, &base, 0, &fault) && fault.error == cudaErrorInvalidValue, "so is a refused carve-out");
}

int main(void)
{
    test_order();
    test_faults();
    test_queue();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
