/* pair.h - what a file of conformance/kernels offers the harness: pairs of kernels and how to queue one trial of each.
 *
 * A rule's case names a family (the .cu file) and a pair in it. CMake compiles the file once per tag; each image exports
 * one `struct image`. Host code of the pair only queues work: no allocation, no synchronisation.
 */
#ifndef PAIR_H_INCLUDED
#define PAIR_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "kernel_args.h"
#include "pdl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the shapes of a pair's trials are drawn (plan.c). */
enum pair_shape {
    SHAPE_WORDS,    /* 1 block to twice the SMs on either side, 256 to 4,096 words */
    SHAPE_RESOURCE, /* more primary blocks than fit, limited by shared memory that the dependent does not need */
    SHAPE_FILL,     /* the primary fits; the dependent's blocks fill every slot of the device several times */
    SHAPE_OVERFLOW  /* the primary has more blocks than the device has slots, and so has the dependent */
};

#define PAIR_TWO_BLOCKS 0x1u   /* the primary has at least two blocks */
#define PAIR_TWO_WARPS 0x2u    /* both sides have at least two warps per block */
#define PAIR_LINES 0x4u        /* the dependent reads its lines before the wait too */
#define PAIR_OVERWRITE 0x8u    /* the dependent overwrites `input`, which the primary reads */
#define PAIR_NEVER_TRIGGER 0x10u
#define PAIR_REPEATS 0x20u     /* waits or triggers are repeated */
#define PAIR_MIDDLE 0x40u      /* half of the primaries carry the attribute themselves */
#define PAIR_COPY 0x100u       /* a copy from data to input stands between the pair: the dependent reads input */
#define PAIR_CLUSTER 0x200u  /* clusters of two: both sides have an even number of blocks */
#define PAIR_HOST 0x400u     /* data lies in pinned host memory */
#define PAIR_LINE 0x1000u      /* path built: a trial comes after the last node of the one before alone, not after all of it */
#define PAIR_UPDATED 0x800u    /* path built: the executable graph is made from a decoy, then updated */
#define PAIR_RETYPED 0x2000u   /* with PAIR_UPDATED: the decoy's edges are programmatic; where the update is refused, made anew */
#define PAIR_BESIDE 0x4000u    /* uses the queue's streams and events alone and needs no room: trials may run beside others, as those of queue_pair */
#define PAIR_SIDE 0x8000u      /* with PAIR_BESIDE: each trial uses queue->side, not only the control */
#define PAIR_URGENT 0x80u      /* the dependent has the highest priority: else it queues after blocks that have not begun */

struct ask;

enum control {
    CONTROL_NONE,
    CONTROL_ATTRON,    /* the same launch with the attribute; built: a programmatic edge instead of a full one */
    CONTROL_UNORDERED, /* the same pair without any dependency */
    CONTROL_ATTROFF    /* triage only: the dependent is launched without the attribute, or after full edges */
};

struct trial_launch {          /* one trial to queue */
    struct kernel_args args;
    enum control control;
    unsigned primary_blocks, dependent_blocks, threads;   /* threads per block, both sides */
    size_t primary_shared_bytes;                          /* dynamic, per block */
    int programmatic_primary;                             /* the primary carries the attribute itself */
    int urgent_dependent;                                 /* PAIR_URGENT */
    size_t words;
};

#define NODES_MAX 12u          /* of one trial */
struct nodes {                 /* path built: the graph that is being made */
    cudaGraph_t graph;
    cudaGraphNode_t before[NODES_MAX], own[NODES_MAX]; /* the trial before this one; this one */
    unsigned befores, owns;
};

struct queue {                 /* where to queue it, and with what */
    cudaStream_t stream;
    cudaStream_t side;         /* of the unordered dependent */
    cudaEvent_t fork, join;    /* without timing */
    pdl_kernel primary, dependent, spacer;
    pdl_kernel middle;         /* of pairs that have one */
    int raw;                   /* launch the dependent by the raw call: pdl.h would refuse this image */
    cudaEvent_t timed, old;    /* with timing; recorded long ago, without */
    cudaGraphExec_t nothing[2]; /* graphs of no node, and of one empty node */
    int high_priority;         /* the device's highest, in cudaStreamCreateWithPriority's counting */
    struct nodes *nodes;       /* path built; else NULL */
};

struct pair {
    const char *name;
    enum pair_shape shape;
    unsigned flags;            /* PAIR_* */
    const void *primary, *dependent;
    const char *primary_name, *dependent_name;
    cudaError_t (*queue)(const struct queue *queue, const struct trial_launch *trial);
    const void *middle;        /* a kernel between the two, or NULL */
    void (*ask)(struct ask *ask); /* kind api: makes calls and compares their answers; such a pair has no kernels */
    const struct wrap *wrap;   /* path built: a graph around the trials, or NULL */
};

/* A graph around the one that the trials are built into, and what is made of it in the end. */
struct wrap {
    cudaError_t (*open)(cudaGraph_t *outer, cudaGraph_t *inner);
    cudaError_t (*close)(cudaGraph_t *outer, cudaGraph_t inner, unsigned group); /* group: of the trials in it */
};

/* What is said while a case asks; each may be NULL. */
struct ask_sign {
    /* Between questions, what is being done: the last sign before a crash. */
    void (*tell)(const struct ask_sign *sign, const char *what, unsigned long long done, unsigned long long planned);
    /* The first wrong answer: it stands, however the process ends. */
    void (*accuse)(const struct ask_sign *sign, const char *what, const char *got);
    const void *context;
    double every_s;            /* how often a loop says how far it is */
};

/* What the cases of kind api ask, and what they were told. */
struct ask {
    cudaStream_t stream, side;
    unsigned asked, wrong, skipped;
    const char *lacks;         /* what the device, by its own word, does not have: there is nothing to ask */
    int starved;               /* a call lacked its means: what was to be made by it is missing, and answers after that accuse nobody */
    char text[512];            /* what was wrong; of a measured rule, everything that was told */
    unsigned long long trials; /* how much to ask where the number is free: the case's trials in this profile */
    uint64_t seed;             /* what is drawn is drawn from it */
    const struct ask_sign *sign; /* where to say what is being done, or NULL */
    double told_s;             /* when ask_goes_on() last said so */
    unsigned accused;          /* wrong answers so far, of which the first one was said at once */
    unsigned long long kills, tried; /* wrong trials, of how many: what a mutant of the case is judged by */
    double usual_s;            /* the longest that ask_await() waited for what ended */
    int endless;               /* what it launched never ends: every call that waits for the device would wait for ever */
};
/* An error that says nothing of the device: others have its memory, or the driver is older than the toolkit. */
int ask_lacks_means(cudaError_t error);
/* Compares one answer with what the documents say; where means are lacking, the question could not be put. */
void ask_expect(struct ask *ask, const char *what, cudaError_t got, cudaError_t want);
void ask_expect_number(struct ask *ask, const char *what, long got, long want);
/* "The API may add further restrictions in future releases": an update that was not performed accuses nobody. */
void ask_expect_update(struct ask *ask, const char *what, cudaError_t got);
#define ASK_WRONG_ENOUGH 48u   /* wrong trials: more of them say no more of a device, and a mutant died long ago */
/* None of `of` trials may be wrong; a mutant of the case dies by these counts. */
void ask_expect_none(struct ask *ask, const char *what, unsigned long long wrong, unsigned long long of);
/* Notes an answer that no document promises. */
void ask_note(struct ask *ask, const char *what, cudaError_t got);
void ask_note_number(struct ask *ask, const char *what, long got);
void ask_says(const struct ask *ask, const char *what, unsigned long long done, unsigned long long planned);
/* For a loop over trials: says now and then how far it is, so that a slow case is not taken for one that hangs. 1 while a trial is due. */
int ask_goes_on(struct ask *ask, unsigned long long done, unsigned long long planned);
/* Waits for the stream: the first time for as long as it takes. Later, work that takes far longer than what ended before counts as endless,
 * and the answer is cudaErrorLaunchTimeout: then the question has to return without another call that waits. */
cudaError_t ask_await(struct ask *ask, cudaStream_t stream);
/* What will be counted as wrong later, said before anything else is tried. */
void ask_accuse(struct ask *ask, const char *what, const char *got);
/* No code is promised, only that the call does not succeed. */
void ask_expect_refusal(struct ask *ask, const char *what, cudaError_t got);
void ask_expect_text(struct ask *ask, const char *what, const char *got, const char *want);
/* A row of a table in the case's record, such as what each edge became; compares nothing. */
void ask_row(struct ask *ask, const char *what, const char *answer);
/* What the case is about is optional, and this device or driver says that it does not have it: the case is not supported. */
void ask_unsupported(struct ask *ask, const char *why);
/* A question that this run could not put: the case cannot pass. */
void ask_skip(struct ask *ask, const char *what, const char *why);

struct image {
    const char *family, *tag;
    const struct pair *pairs;
    unsigned count;
};

/* harness/queue.c: the steps that queueing functions are made of. */
cudaError_t queue_primary(const struct queue *queue, const struct trial_launch *trial, int programmatic);
/* Programmatic: with the attribute, value 1. */
cudaError_t queue_dependent(const struct queue *queue, const struct trial_launch *trial);
/* As queue_dependent, with the attribute's value given, by the raw call. */
cudaError_t queue_dependent_raw(const struct queue *queue, const struct trial_launch *trial, int value);
/* Primary and dependent; without any dependency if the control says so. */
cudaError_t queue_pair(const struct queue *queue, const struct trial_launch *trial);
/* The same, the primary in the remote memory-sync domain. */
cudaError_t queue_domain(const struct queue *queue, const struct trial_launch *trial);
/* Launched plainly. */
cudaError_t queue_dependent_plain(const struct queue *queue, const struct trial_launch *trial);
/* The middle kernel, of one block, with the attribute. */
cudaError_t queue_middle(const struct queue *queue, const struct trial_launch *trial);
/* The same of so many blocks; programmatic: with the attribute. */
cudaError_t queue_middle_of(const struct queue *queue, const struct trial_launch *trial, unsigned blocks, int programmatic);
/* With options of the pair's own. */
cudaError_t queue_primary_with(const struct queue *queue, const struct trial_launch *trial, const pdl_options *options);
cudaError_t queue_dependent_with(const struct queue *queue, const struct trial_launch *trial, cudaStream_t stream,
                                 const pdl_options *options);
/* By the raw call, with these attributes and no others. */
cudaError_t queue_dependent_attrs(const struct queue *queue, const struct trial_launch *trial, cudaLaunchAttribute *attrs,
                                  unsigned count);
/* From here on what is queued in `to` comes after what is in `from`. */
cudaError_t record_and_await(cudaEvent_t event, cudaStream_t from, cudaStream_t to);
/* Both streams come after what is queued in the first; the way back. */
cudaError_t queue_enter_side(const struct queue *queue);
cudaError_t queue_leave_side(const struct queue *queue);
/* Holds the side stream until the primary's blocks have begun. */
cudaError_t queue_spacer(const struct queue *queue, const struct trial_launch *trial);
/* Primary and dependent in two streams that fork before them and join after them. */
cudaError_t queue_unordered(const struct queue *queue, const struct trial_launch *trial);
/* The dependent in the side stream, after an event: recorded after the primary, or with its launch if programmatic. */
cudaError_t queue_behind_event(const struct queue *queue, const struct trial_launch *trial, int programmatic);
/* All of the SM's memory as shared memory, which a launch can ask for: kernels with static shared memory need the same split on both
 * sides (F29b). 0 where toolkit or driver have no such attribute. */
unsigned queue_full_carveout(void);
/* Primary, a copy from data to input, dependent; or the copy in the side stream, after nothing but the primary's start. */
cudaError_t queue_copy(const struct queue *queue, const struct trial_launch *trial);
/* harness/nodes.c: the same for path built, by pdl_graph_add_kernel(). Of an edge, from and kind are given; without edges a
 * node comes after all of the trial before, and every node of a trial is awaited by the next one's. */
cudaError_t node_primary(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node);
cudaError_t node_middle(const struct queue *queue, const struct trial_launch *trial, unsigned blocks,
                        const pdl_graph_edge *edges, unsigned count, cudaGraphNode_t *node);
cudaError_t node_dependent(const struct queue *queue, const struct trial_launch *trial, const pdl_graph_edge *edges,
                           unsigned count, cudaGraphNode_t *node);
/* Primary, one edge of this kind (PDL_EDGE_*), dependent. */
cudaError_t node_pair(const struct queue *queue, const struct trial_launch *trial, unsigned kind);
/* Primary and dependent without an edge between them. */
cudaError_t node_unordered(const struct queue *queue, const struct trial_launch *trial);
struct node {                  /* what to add */
    const pdl_kernel *kernel;
    struct kernel_args args;
    unsigned blocks, threads;
    size_t shared_bytes;
    int urgent;                /* the highest priority */
};
cudaError_t nodes_add(const struct queue *queue, struct node *what, const pdl_graph_edge *edges, unsigned count,
                      cudaGraphNode_t *node);
/* Middle and dependent without any edge: the caller adds them. */
cudaError_t node_middle_alone(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node);
cudaError_t node_dependent_alone(const struct queue *queue, const struct trial_launch *trial, cudaGraphNode_t *node);
/* What was added since the last call becomes what the next trial comes after; line: the last node only. */
void nodes_next(struct nodes *nodes, int line);

/* A row of a file's table of pairs, and the table's export under the image's name. */
#define PAIR(name, shape, flags, primary, dependent, queue)                                                      \
    { name, shape, flags, (const void *)SYMBOL(primary), (const void *)SYMBOL(dependent), #primary, #dependent, \
      queue, NULL, NULL, NULL }
/* The same with a kernel in the middle. */
#define PAIR_OF_THREE(name, shape, flags, primary, middle, dependent, queue)                                      \
    { name, shape, flags, (const void *)SYMBOL(primary), (const void *)SYMBOL(dependent), #primary, #dependent, \
      queue, (const void *)SYMBOL(middle), NULL, NULL }
/* One whose trials lie in a graph inside another one. */
#define PAIR_WRAPPED(name, shape, flags, primary, dependent, queue, wrap)                                          \
    { name, shape, flags, (const void *)SYMBOL(primary), (const void *)SYMBOL(dependent), #primary, #dependent, \
      queue, NULL, NULL, wrap }
/* One that only asks. */
#define PAIR_ASK(name, ask) { name, SHAPE_WORDS, 0, NULL, NULL, NULL, NULL, NULL, NULL, ask, NULL }
#define IMAGE(family, pairs)                                                        \
    PAIR_EXTERN_C_BEGIN                                                             \
    extern const struct image SYMBOL(image_##family);                               \
    const struct image SYMBOL(image_##family) = { #family, IMAGE_TAG, pairs,        \
                                                  sizeof(pairs) / sizeof(pairs[0]) }; \
    PAIR_EXTERN_C_END

#ifdef __cplusplus
#define PAIR_EXTERN_C_BEGIN extern "C" {
#define PAIR_EXTERN_C_END }
}
#else
#define PAIR_EXTERN_C_BEGIN
#define PAIR_EXTERN_C_END
#endif

#endif
