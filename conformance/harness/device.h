/* device.h - the device under test as the harness holds it: sizes, streams, events and the buffers of two batches. */
#ifndef DEVICE_H_INCLUDED
#define DEVICE_H_INCLUDED

#include "pair.h"
#include "plan.h"

#define BATCH_PLANS (PLAN_MAX_SLOTS + 2) /* one per slot, then poison's and the gate's */
#define BATCH_POISON PLAN_MAX_SLOTS
#define BATCH_GATE (PLAN_MAX_SLOTS + 1)

struct buffers {                 /* of one batch; two batches are in flight */
    struct trial_plan *plan_host, *plan;
    struct trial_state *state_host, *state;
    uint32_t *data, *seen, *seen_host, *input;
    uint32_t *host_data;         /* pinned host memory as the device sees it; of PAIR_HOST */
    uint32_t *sm, *sm_host;      /* primary's blocks then dependent's, slot by slot */
    cudaEvent_t done;
    uint32_t gate_epoch;         /* of the gate before this batch; 0: none, it is a graph */
    uint32_t *gate_late_host, *gate_late; /* the epoch of the last gate that let go by itself */
    int gate_late_now;           /* this batch's did: its launches may have come too late to overlap */
    uint64_t stale_key[PLAN_MAX_SLOTS]; /* of the batch before, if it lay at the same places; else 0 */
};

#define DEVICE_LANES 4u
struct lane {                    /* where trials run beside those of other lanes */
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
};

struct crew;
struct word_check;

struct device {
    int is_model, ordinal, cc, driver_version, runtime_version, toolkit_version;
    char name[256];
    char uuid_hash[20];
    struct device_size size;
    cudaStream_t stream, side;
    struct lane lane[DEVICE_LANES];
    unsigned lanes;                         /* the model has none */
    int high_priority;
    cudaEvent_t fork, join, timed, old;     /* old: recorded once, at the start */
    cudaGraphExec_t nothing[2];             /* graphs of no node, and of one empty node */
    pdl_kernel poison, gate;
    struct buffers buffers[2];
    size_t words_capacity, blocks_capacity; /* per batch */
    uint32_t *gate_flag_host, *gate_flag;   /* host memory that the gate reads */
    uint32_t gate_epoch;
    struct crew *crew;           /* threads of the host that launch and judge */
    struct word_check *word_check;
};

/* What went wrong, if anything: the call and its error. Never printed here. */
struct fault {
    cudaError_t error;
    const char *call;
};
#define FAULT_TRY(fault, call_)                        \
    do {                                               \
        cudaError_t fault_error_ = (call_);            \
        if (fault_error_ != cudaSuccess) {             \
            (fault)->error = fault_error_;             \
            (fault)->call = #call_;                    \
            return 0;                                  \
        }                                              \
    } while (0)

/* Each returns 1, or 0 with *fault filled. */
int device_open(struct device *device, int ordinal, int is_model, struct fault *fault); /* gives the GPU no work */
int device_measure(struct device *device, struct fault *fault); /* what has to be measured before the first trial */
int device_describe(struct device *device, int ordinal, struct fault *fault); /* sizes and names only: no context needed */
void device_close(struct device *device);

#endif
