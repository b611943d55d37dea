/* launch_test.c - what a batch finds where it begins, and what is fetched of it: poison everywhere, a closed gate in front of trials that are
 * launched one by one. On the model; no trial runs. */
#include <stdio.h>
#include <string.h>

#include "batch.h"
#include "check.h"
#include "pair.h"
#include "words.h"

static const char *const nobody[] = { NULL };
static struct case_info info = { "TEST-01.pair.widened.stream", "TEST-01", "documented", "visibility", "test", "pair", "widened",
                                 "stream", 0, 1, 0, 0, 90, 12030, { 64, 64, 64, 64 }, nobody, nobody, 0 };
static struct device device;
static struct buffers *const b = &device.buffers[0];
static struct layout layout;
static struct part part;
static struct pair pair;

static unsigned queued, open_gates; /* trials, and those that were queued behind an open gate */
static int waits;                   /* the last one waits until the device has nothing left to do: the gate lets go by itself */

/* Queues nothing. */
static cudaError_t queue_nothing(const struct queue *queue, const struct trial_launch *trial)
{
    (void)queue;
    (void)trial;
    open_gates += *device.gate_flag_host == device.gate_epoch;
    return ++queued == layout.slots && waits ? cudaDeviceSynchronize() : cudaSuccess;
}

static void open_part(unsigned flags, uint64_t batch)
{
    memset(&part, 0, sizeof(part));
    pair.flags = flags;
    pair.queue = queue_nothing;
    part.info = &info;
    part.pair = &pair;
    part.size = device.size;
    part.source = plan_source_make(7, info.name, "base");
    part.words_capacity = device.words_capacity;
    (void)part_divide(&part, 256, 0);
    batch_layout(&layout, &part, 0);
    batch_plan(b->plan_host, &part, &layout, batch);
}

/* Launches a batch of no trials and waits for it. exec: as of batch_launch. */
static int launched(cudaGraphExec_t exec)
{
    struct queue queue;
    struct fault fault;

    memset(&queue, 0, sizeof(queue));
    memset(&fault, 0, sizeof(fault));
    queue.stream = device.stream;
    queued = open_gates = 0;
    return batch_launch(&device, b, &part, &layout, &queue, exec, &fault) && batch_wait(b, &fault);
}

static void check_gate(void)
{
    uint32_t before = device.gate_epoch, i;

    for (i = 1; i <= 2; i++) {
        open_part(0, 0);
        check(launched(NULL) && queued == layout.slots, "a batch is launched trial by trial");
        check(device.gate_epoch == before + i && b->gate_epoch == device.gate_epoch, "each batch has a gate of its own");
        check(open_gates == 0 && *device.gate_flag_host == device.gate_epoch, "which is closed until all trials are queued, and opened then");
        check(!b->gate_late_now, "one that was opened in time is not late");
    }
    check(b->plan_host[BATCH_GATE].repeats == device.gate_epoch && b->plan_host[BATCH_GATE].bound_ns >= 1000000, "it waits for long");
    waits = 1;
    check(launched(NULL) && b->gate_late_now, "one that let go by itself is late");
    waits = 0;
    check(launched(device.nothing[1]) && !b->gate_late_now && queued == 0, "a graph has no gate, whatever was launched before it");
}

/* How many words of a batch are not this poison. */
static unsigned not_poison(const uint32_t *words, uint64_t kind)
{
    unsigned i, wrong = 0;

    for (i = 0; i < layout.words; i++)
        wrong += words[i] != words_poison(b->plan_host[BATCH_POISON].key, kind, i);
    return wrong;
}

/* The same of words in device memory. */
static unsigned not_poison_there(const uint32_t *words, uint64_t kind)
{
    static uint32_t got[1 << 17];

    check(layout.words <= sizeof(got) / sizeof(got[0]), "there is room for the words of a batch");
    return cudaMemcpy(got, words, layout.words * 4, cudaMemcpyDeviceToHost) == cudaSuccess ? not_poison(got, kind) : 1;
}

static void check_poison(void)
{
    static const unsigned input[] = { PAIR_OVERWRITE, PAIR_COPY };
    unsigned i, old;
    uint64_t batch = 1;

    open_part(0, batch++);
    check(launched(NULL) && not_poison(b->seen_host, WORDS_POISON_SEEN) == 0, "what is seen is poison before a trial, and all of it is fetched");
    check(not_poison_there(b->data, WORDS_POISON_DATA) == 0, "the words that trials will store to are poison before them, too");
    for (i = 0; i < 2; i++) {
        open_part(input[i], batch++);
        check(launched(NULL) && not_poison_there(b->input, WORDS_INPUT) == 0, "and what is overwritten or copied to");
        check(not_poison(b->seen_host, WORDS_POISON_SEEN) == 0 && not_poison_there(b->data, WORDS_POISON_DATA) == 0, "each batch's is its own");
    }
    open_part(PAIR_HOST, batch);
    check(launched(NULL) && not_poison_there(b->host_data, WORDS_POISON_DATA) == 0, "so is data in the host's memory");
    for (i = old = 0; i < layout.slots; i++)
        old += b->state_host[i].witnessed || b->state_host[i].early || b->state_host[i].dependent_begin_ns != UINT64_MAX;
    check(old == 0, "no trial begins with the state of an older one");
}

/* State and SMs of the last trial are fetched like those of the first. */
static void check_fetch(void)
{
    static struct trial_state states[PLAN_MAX_SLOTS];
    static uint32_t sm[1 << 17];
    unsigned i;
    size_t block, other = 0;

    open_part(0, 9);
    memset(states, 0xA5, sizeof(states));
    for (block = 0; block < layout.blocks; block++)
        sm[block] = (uint32_t)block + 1;
    check(layout.blocks <= sizeof(sm) / sizeof(sm[0]) && cudaMemcpy(b->state, states, sizeof(states), cudaMemcpyHostToDevice) == cudaSuccess &&
          cudaMemcpy(b->sm, sm, layout.blocks * 4, cudaMemcpyHostToDevice) == cudaSuccess, "trials leave states and SMs");
    memset(b->state_host, 0, layout.slots * sizeof(states[0]));
    check(launched(device.nothing[1]), "a graph that touches neither");
    for (i = 0; i < layout.slots; i++)
        other += b->state_host[i].witnessed != 0xA5A5A5A5u;
    for (block = 0; block < layout.blocks; block++)
        other += b->sm_host[block] != block + 1;
    check(other == 0, "leaves all of them to be fetched");
    open_part(0, 10);
    check(launched(NULL) && b->state_host[layout.slots - 1].witnessed == 0, "poison takes the last trial's state, too");
}

/* ---- with what the kernels of a pair are launched ---- */

static int fails, told_programmatic, told_domain; /* fails: the first launch of a pair, so that it is the last one */
static cudaStream_t told_stream;
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    unsigned i;

    if (!fails)
        return __real_cudaLaunchKernelExC(config, function, args);
    told_programmatic = told_domain = 0;
    told_stream = config->stream;
    for (i = 0; i < config->numAttrs; i++) {
        told_programmatic |= config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                             config->attrs[i].val.programmaticStreamSerializationAllowed;
        told_domain |= config->attrs[i].id == cudaLaunchAttributeMemSyncDomain &&
                       config->attrs[i].val.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    }
    return cudaErrorLaunchFailure;
}

/* Is the first launch of a pair that is queued so programmatic, of the remote domain? */
static void check_attributes(void)
{
    struct queue queue;
    struct trial_launch trial;

    memset(&queue, 0, sizeof(queue));
    memset(&trial, 0, sizeof(trial));
    queue.stream = device.stream;
    queue.primary = queue.middle = queue.dependent = device.poison;
    queue.primary.can_overlap = queue.middle.can_overlap = queue.dependent.can_overlap = 1;
    trial.primary_blocks = trial.dependent_blocks = 1;
    trial.threads = 32;
    fails = 1;
    (void)queue_primary(&queue, &trial, 1);
    check(told_programmatic && !told_domain && told_stream == device.stream, "a primary that is to have the attribute has it");
    (void)queue_primary(&queue, &trial, 0);
    check(!told_programmatic, "and no other one");
    trial.programmatic_primary = 1;
    (void)queue_pair(&queue, &trial);
    check(told_programmatic, "that of a pair is, if its shape says so");
    trial.programmatic_primary = 0;
    (void)queue_pair(&queue, &trial);
    check(!told_programmatic, "and else is not");
    (void)queue_middle_of(&queue, &trial, 1, 1);
    check(told_programmatic, "a kernel between two others is programmatic");
    (void)queue_middle_of(&queue, &trial, 1, 0);
    check(!told_programmatic, "if it is to be");
    (void)queue_domain(&queue, &trial);
    check(told_domain && !told_programmatic, "where the domain is asked, the primary is in the remote one");
    (void)queue_dependent(&queue, &trial);
    check(told_programmatic && !told_domain, "a dependent is programmatic");
    trial.control = CONTROL_ATTROFF;
    (void)queue_dependent(&queue, &trial);
    check(!told_programmatic, "but for a control without the attribute");
    fails = 0;
}

int main(void)
{
    struct fault fault;

    memset(&fault, 0, sizeof(fault));
    check(device_open(&device, 0, 1, &fault), "the model opens");
    check_gate();
    check_poison();
    check_fetch();
    check_attributes();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
