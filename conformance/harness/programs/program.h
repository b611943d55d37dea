/* program.h - small programs that can be made in many ways which must all mean the same.
 *
 * A program is a list of steps and links between them. The seed draws it (program_draw.c), program_entitle.c says what each step may read,
 * program_words.c what comes of it, and program_rows.c which rows of the covering array it holds;
 * program_steps.c makes one step a node of a graph, program_graph.c all of them, program_exec.c makes that executable,
 * program_loop.c makes it the body of a conditional node, program_launch.c launches one step into a stream, program_moves.c one that is a memset or a copy,
 * program_stream.c launches or captures all of them; program_between.c and program_beside.c make calls between launches that change nothing, and
 * program_detours.c between those that make a graph;
 * the calls that may be the driver's own stand in program_driver.h. program_read.c reads back the graph that was made, program_captured.c the
 * one that was captured; program_around.c launches work before it and after it;
 * program_judge.c runs it and compares every step's words with those that the host computed; program_room.c holds what all programs share.
 * A step reads only what the documents let it read (program_entitle()), as early as it may, and stores as late as it can: a missing
 * dependency shows as a stale word.
 */
#ifndef PROGRAM_H_INCLUDED
#define PROGRAM_H_INCLUDED

#include "../kernel_args.h"
#include "../pair.h"
#include "program_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PROGRAM_STEPS 64u
#define PROGRAM_LINKS 256u
#define PROGRAM_READS 8u
#define PROGRAM_WATCHES 4u
#define PROGRAM_LANES 3u
#define PROGRAM_WORDS 16u      /* of a step's output */
#define PROGRAM_KERNELS 6u     /* by how much they are given; of each two, a kernel of few registers and one of many */
#define PROGRAM_SEEN 2u        /* so many events of a program are looked at: what is complete once they are */

/* What a kernel step is told; it lies in device memory and is uploaded before every run. */
struct step_plan {
    uint64_t key;
    uint32_t step, flags, hold_ns, reads;
    uint32_t read[PROGRAM_READS];
    uint32_t watch[PROGRAM_WATCHES]; /* kernels, memsets and copies that must not have begun when this one ends, or before its late trigger */
    uint32_t watches, reserved;
};
#define STEP_OF_HOST 0x80000000u  /* in read: its words lie in the host's memory */
#define STEP_OF_WORDS 0x40000000u /* in watch: no kernel; its words say whether it has begun */
#define STEP_WORD_SHIFT 8u        /* in watch: which of its words */
#define STEP_NUMBER 0xFFu         /* in read and watch */
#define STEP_WAITS 0x1u
#define STEP_TRIGGERS_FIRST 0x2u
#define STEP_TRIGGERS_LATE 0x4u
#define STEP_READS_EARLY 0x10u /* what it reads after its wait it reads before, too, and forgets */
#define STEP_TRIGGERS_ALL 0x8u /* by every thread that is left, else by one of each block */
#define STEP_LAST_LEADS 0x20u  /* the thread that holds, counts and triggers for its block is the last one, not the first */
#define STEP_LEAVES_FIRST 0x40u /* threads without a part in it end at once */
#define STEP_LEAVES_LATE 0x80u /* they end after their wait */
#define STEP_SAYS_TWICE 0x100u /* it waits twice, if it waits, and triggers late, too, if it triggers first */
#define STEP_IDLE_BLOCKS 0x200u /* blocks that store no words do not wait; early they read what others do */

/* STEP_RECORD: its event lets a copy of all words go, in another stream. STEP_AWAIT: waits for a kernel of another stream. */
enum step_kind { STEP_KERNEL, STEP_SET, STEP_COPY, STEP_HOST, STEP_EMPTY, STEP_RECORD, STEP_AWAIT, STEP_KINDS };
#define NO_CARVEOUT (~0u)
enum link_kind { LINK_FULL, LINK_TRIGGER, LINK_START, LINK_LAUNCH, LINK_KINDS }; /* as an edge: 0,0,0 1,0,1 2,0,1 2,0,0 */

struct step {
    enum step_kind kind;
    unsigned grid[3], block[3], cluster[3], shared_bytes; /* block: in threads; cluster: in blocks */
    unsigned kernel, more;     /* which of PROGRAM_KERNELS; how many words it is given beside the arguments of all */
    unsigned carveout;         /* of a launch in a stream: NO_CARVEOUT, or what it prefers, in percent of shared memory */
    unsigned event;            /* which programmatic event such a launch records, for nobody or for other steps: a value of AXIS_EVENT */
    int cooperative, urgent, domain, attribute; /* attribute: of the launch in a stream */
    uint32_t flags, hold_ns;
    unsigned reads, read[PROGRAM_READS];
    unsigned watches, watch[PROGRAM_WATCHES];
    unsigned element;          /* of a memset: bytes at a time */
    unsigned begin, bytes, rows, pitch; /* of a memset or a copy: the bytes of its words that it writes, row by row; a copy has one */
    unsigned source;           /* of a copy: where it begins to read */
    int to_host;               /* of a copy: its words are the host's */
    int uneven;                /* its bytes differ, where it has more than one at a time */
    unsigned row;              /* of the covering array that its launch was drawn from */
    unsigned lane;             /* of a program for streams */
    uint64_t before;           /* one bit per step: complete when this one begins */
    uint64_t after[PROGRAM_LANES]; /* by lane: complete once an event is that was recorded there right after the launch of this step */
};

struct link {
    unsigned from, to;
    enum link_kind kind;
};

struct program {
    unsigned steps, links;
    int streams;               /* a program for streams: its links are the events between the lanes */
    unsigned first;            /* not 0: the steps from this one on come before all others */
    int legacy;                /* its first lane is the legacy default stream, the others wait for it and it for them */
    struct step step[PROGRAM_STEPS];
    struct link link[PROGRAM_LINKS];
};

struct dice { uint64_t state; };
uint64_t dice_roll(struct dice *dice);
unsigned dice_below(struct dice *dice, unsigned n);

/* What programs may ask of the device. */
struct program_size {
    unsigned threads, blocks, many_blocks, most_blocks, shared_bytes, hold_ns, clusters;
    int bodies, other_bodies, moves; /* there are conditional nodes; they may have several; a child graph may be the graph itself and no clone */
    unsigned more[PROGRAM_KERNELS]; /* words that each kernel takes beside the arguments of all */
    int batches;               /* one call may queue several copies */
    int carveouts;             /* a launch in a stream may prefer one */
    int cooperative_bodies;    /* cooperative kernels may stand in bodies */
    int programmatic;          /* no flavours: where no step waits, it is programmatic edges that go wrong */
};

/* Whether its words lie in the host's memory. */
#define program_is_on_host(step) ((step)->kind == STEP_HOST || ((step)->kind == STEP_COPY && (step)->to_host))
unsigned program_product(const unsigned n[3]);
/* A kernel's launch, as a row of the covering array says; all else is zero. */
void program_draw_launch(struct step *step, struct dice *dice, const struct program_size *size, unsigned number);
void program_draw_graph(struct program *program, struct dice *dice, const struct program_size *size, unsigned number);
void program_draw_stream(struct program *program, struct dice *dice, const struct program_size *size, unsigned number);
/* Fills what each step reads, and which later steps it watches, from the links and the order of the lanes. */
void program_entitle(struct program *program, struct dice *dice);
/* Each adds one, if there is room; a watch only of a step whose begin a kernel can see. */
void program_add_read(struct step *step, unsigned from);
void program_add_watch(struct program *program, unsigned from, unsigned to);
int program_is_linked(const struct program *program, unsigned from, unsigned to);
int program_is_root(const struct program *program, unsigned step); /* no link leads to it */
unsigned program_next_in_lane(const struct program *program, unsigned step); /* PROGRAM_STEPS: there is none */
int program_leads_on_early(const struct program *program, unsigned step); /* the next step of its lane may overlap this one */
/* The words of every step after a run with this key; what was left out leaves its words as they were. */
void program_expect(const struct program *program, uint64_t key, uint64_t left_out, uint32_t words[PROGRAM_STEPS][PROGRAM_WORDS]);
/* The words of one step, from those of the steps that it reads. */
void program_expect_step(const struct program *program, unsigned step, uint64_t key, uint32_t words[PROGRAM_STEPS][PROGRAM_WORDS]);
uint32_t program_set_value(const struct program *program, unsigned step); /* of a memset, as many bytes as it sets at a time */
#define STEP_BYTES (PROGRAM_WORDS * sizeof(uint32_t))
/* What is in a step's words before the run. */
#define program_poison(key, step) ((uint32_t)((key) >> 32) ^ 0xDEADu ^ (uint32_t)(step))
/* What a kernel step makes of its launch, number after number: x, y and z of the grid, of a block and of a cluster, dynamic shared
 * memory, which of the kernels it is, and two words of its arguments. */
#define PROGRAM_SHAPE 9u
#define program_fold(word, number) ((uint32_t)(word) * 0x85EBCA77u + (uint32_t)(number))
/* What every kernel is given, and the words that those take besides that are given more: each is known by its place. A launch takes at most
 * 32,764 bytes. */
#define PROGRAM_MOST_ARGS ((32760u - (uint32_t)sizeof(struct kernel_args)) / 4)
struct program_args {
    struct kernel_args head;
    uint32_t more[PROGRAM_MOST_ARGS];
};
#define program_argument(at) ((uint32_t)(at) * 0x9E3779B1u ^ 0x5A5A5A5Au)
/* Which of them a step looks at, beside the last one. */
#define program_argument_seen(key, step, count) (((uint32_t)(key) + (step) * 977u) % (count))
/* The program without this step or this link. */
void program_without_step(struct program *program, unsigned step);
void program_without_link(struct program *program, unsigned link);
cudaGraphEdgeData program_edge(enum link_kind kind);
/* "K0 Kw1 S2; 0>1:1,0,1 1>2:0,0,0" */
void program_text(const struct program *program, char *text, size_t room);
#define AROUND_ROOM 768u
#define AHEAD_WORDS 64u

/* ---- making and running ---- */

struct program_room;           /* memory of the steps; one per question */
struct made {                  /* a program made in one way */
    const struct program *program;
    struct program_room *room;
    struct dice dice;
    cudaGraph_t graph, inner;  /* what is instantiated; the graph that the steps lie in */
    cudaGraphNode_t node[PROGRAM_STEPS], extra; /* extra: an empty node of no step, in a graph that is to be cloned */
    unsigned way;
    uint64_t decoys;           /* one bit per step: launched otherwise and on other memory, or, of the host, does nothing */
    uint64_t left_out;         /* one bit per step: disabled in the executable graph */
    uint64_t gone;             /* one bit per step: its node was destroyed in the graph that the executable one was made from */
    struct dice began;         /* as it was before a capture, or before the nodes: with it the same calls are made again */
    int bare;                  /* decoys carry neither priority nor domain */
    int late;                  /* the executable graph is launched as its decoy first, then as itself, in turn */
    struct made *decoy;        /* what the executable graph was made from, if not from this graph */
    int loops;                 /* the body that the steps are is that of a loop (program_loop.c) */
    uint64_t loop;             /* its handle */
    uint64_t wraps, bodies;    /* one bit per step: put into a child graph of its own; if so, into a body instead */
    int eager;                 /* launched, not captured */
    unsigned observed, observed_after[PROGRAM_SEEN], observed_lane[PROGRAM_SEEN]; /* where another stream looked at the words */
    cudaEvent_t begun;         /* the launch records it as its blocks begin; no program relies on it */
    cudaEvent_t nobodys;       /* a launch may record it: no wait for its last record is still to be called */
    int beside;                /* a stream without any part in it captures */
    int detours;               /* calls stand between those that make the graph, which leave it as it is */
    enum behind { BEHIND_NOTHING, BEHIND_KERNEL, BEHIND_COPY, BEHIND_EVENT } behind;
    cudaGraphExec_t former;    /* what was launched before another executable graph took its place */
    unsigned changed;          /* the launch that the executable graph has been changed for already, while it ran */
    unsigned behind_step, before_step; /* from the one on, steps are launched after the graph; from the other on, before it */
    int declined;              /* this way cannot make this program, by its own rules: no answer of the device */
    int refused;               /* the device declined it, as it may */
};

enum graph_way {
    WAY_ONE_BY_ONE, WAY_ANY_ORDER, WAY_NEW_NODES, WAY_BY_KIND, WAY_BEGUN, WAY_UPDATED_CAPTURE, WAY_CLONE, WAY_CHILD, WAY_BODY,
    WAY_DECIDED, WAY_CORRECTED, WAY_PRUNED, WAY_WRAPPED, WAY_BODIES, WAY_ONE_CALL, GRAPH_WAYS
};
extern const char *const graph_way_name[GRAPH_WAYS];
enum exec_way {
    EXEC_PLAIN, EXEC_SECOND, EXEC_UPDATED, EXEC_BY_NODE, EXEC_REENABLED, EXEC_UPLOADED, EXEC_AGAIN, EXEC_ORPHAN, EXEC_WAYS
};
extern const char *const exec_way_name[EXEC_WAYS];
enum stream_way {
    WAY_PLAIN_STREAM, WAY_BLOCKING_STREAM, WAY_PER_THREAD, WAY_LEGACY, WAY_URGENT_STREAM, WAY_OTHER_THREAD, WAY_CAPTURED,
    WAY_CAPTURED_TO_GRAPH, WAY_CAPTURED_CLONE, WAY_CAPTURED_CHILD, STREAM_WAYS
};
extern const char *const stream_way_name[STREAM_WAYS];

/* Makes the graph; with made->declined set, nothing was made and nothing is wrong. */
cudaError_t program_declines(struct made *made);
cudaError_t graph_make(struct made *made, enum graph_way way);
void graph_unmake(struct made *made);
cudaError_t exec_make(struct made *made, enum exec_way way, cudaGraphExec_t *exec);
/* Another one of the graph that the executable one was made from. */
cudaError_t exec_make_sibling(struct made *made, cudaGraphExec_t *exec);
/* While it runs another one is made of its graph, now and then, and is launched from then on. */
cudaError_t exec_replace(struct made *made, enum exec_way way, cudaGraphExec_t *exec);
/* How often it is launched; before every launch but the first it is changed. */
unsigned exec_launches(const struct made *made, enum exec_way way);
cudaError_t exec_change(struct made *made, enum exec_way way, cudaGraphExec_t exec, unsigned time);
int exec_is_decoy(const struct made *made, unsigned time);
int exec_may_run_twice(const struct made *made, unsigned time);
/* A clone of a captured graph, or a child graph, has other nodes than those that the capture told. */
int program_knows_nodes(const struct made *made);
/* The graph's nodes get other parameters, and it gets other edges. */
cudaError_t program_spoil(struct made *made);
/* A conditional node whose body runs; without `body`, one of whose bodies none runs. */
cudaError_t program_add_condition(struct made *made, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, cudaGraphNode_t *node, cudaGraph_t *body);
/* The first one makes a graph of one conditional node, whose body gets the steps. If that is a loop, the second one, called once they are there,
 * lets it run twice; each round finds the same words. */
cudaError_t program_open_body(struct made *made);
cudaError_t program_close_loop(const struct made *made);
/* A kernel that gives a condition this value. */
cudaError_t program_add_chooser(const struct made *made, cudaGraph_t graph, uint64_t handle, unsigned value, cudaGraphNode_t *node);
/* What is wrong with a program that was made in one way. */
struct difference {
    unsigned count;
    cudaError_t error;         /* of a call that failed, if that came first */
    char text[128]; /* of the first */
    char around[AROUND_ROOM]; /* the kernels that were launched before the graph and after it then */
};
/* One difference more. format: as of printf. */
void program_differs(struct difference *found, const char *format, ...);
/* Edges and attributes that differ from the program's. */
void graph_compare(const struct made *made, struct difference *found);
/* Launches eagerly, or captures into made->graph. */
cudaError_t stream_make(struct made *made, enum stream_way way);
/* Whichever it is: no call here is one that another mode would forbid. */
enum cudaStreamCaptureMode program_capture_mode(struct dice *dice);
int stream_way_captures(enum stream_way way);
/* The node that a capturing stream has added for this step: what the stream depends on now, and no step before it was. */
cudaError_t program_captured_node(struct made *made, unsigned step, cudaStream_t stream);
/* Now and then a call in the capture of this stream that changes nothing of what comes next in it; steps from this one on are still to come.
 * waits: the stream may wait for events since its last launch. */
cudaError_t program_capture_nothing(struct made *made, unsigned step, int waits, cudaStream_t stream);
/* Whether the captured graph has the edges that attributes and programmatic events become (PDL-EDGE-11 to PDL-EDGE-13). */
int program_captured_right(const struct made *made, enum stream_way way);
/* Whether the clone has the edges of its graph, each with its data. */
int program_has_same_edges(cudaGraph_t graph, cudaGraph_t clone);

/* One step added to a graph with these dependencies. general: by cudaGraphAddNode. */
cudaError_t program_add_step(struct made *made, cudaGraph_t graph, unsigned step, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t count, int general, cudaGraphNode_t *node);
cudaError_t program_launch_step(const struct made *made, unsigned step, cudaStream_t stream, cudaEvent_t event, enum link_kind event_kind,
                                struct dice *dice);
/* The word that the host gives to a copy. */
#define program_given(key, step, w) words_fresh(~(key), (step) * PROGRAM_WORDS + (w))
enum cudaMemcpyKind program_copy_kind(const struct program *program, unsigned step);
/* Draws a key and fills the memory that a run begins with. */
cudaError_t program_prepare(struct made *made);
/* The same in this stream, after a kernel that triggers and holds, and without waiting for it. */
cudaError_t program_prepare_behind(struct made *made, cudaStream_t stream);
/* After program_prepare(): a kernel that triggers and holds, so that what comes after it is queued while the stream has work. */
cudaError_t program_hold(const struct made *made, cudaStream_t stream);
/* Before a graph, and in another stream: the same executable graph as its decoy, after a kernel that holds. After the graph: a copy of what the
 * decoy has stored, which has to be all of it. */
cudaError_t program_launch_earlier(const struct made *made, cudaGraphExec_t exec);
cudaError_t program_see_earlier(const struct made *made, cudaStream_t stream);
uint32_t *program_decoy_words(const struct program_room *room);
/* Around a graph: one or two kernels right before it, which its kernels read, one or two after it that read what it has left (added to
 * `program`, a copy of the made one's), or after it copies of all words. attributes: the kernels may have attribute 6. */
void program_add_around(struct made *made, struct program *program, int copies_only, int attributes);
/* "; after the graph 3 kernel" */
void program_text_around(const struct made *made, char *text, size_t room);
cudaError_t program_launch_before(const struct made *made, cudaStream_t stream, struct dice *dice);
cudaError_t program_launch_behind(const struct made *made, cudaStream_t stream, struct dice *dice);
#define program_is_around(made, step) ((made)->behind_step && (step) >= (made)->behind_step)
/* The words as the copy after the graph saw them; NULL: there was none. */
const uint32_t *program_seen_behind(const struct made *made);
/* Around the launch of a graph: what its steps wait for is queued before it, what waits for them after it. Decoys are left out. */
cudaError_t program_before_launch(const struct made *made, uint64_t decoys);
cudaError_t program_behind_launch(const struct made *made, uint64_t decoys);
/* Copies of all words that other streams make: one after each of the first events that are looked at, one after the graph, and one of what
 * the decoy stored. */
enum program_copy { COPY_BEHIND = PROGRAM_SEEN, COPY_OF_DECOY, PROGRAM_COPIES };
#define program_seen(room, copy) ((room)->seen + (copy) * PROGRAM_STEPS * PROGRAM_WORDS)
/* The copy after the event of step `record`; NULL: no stream looked. */
uint32_t *program_seen_by(const struct made *made, uint64_t decoys, unsigned record);
/* A host call that changes nothing of what the stream does next. An error: a call failed that must not, or succeeded that must fail. */
cudaError_t program_change_nothing(const struct made *made, cudaStream_t stream, struct dice *dice);
/* Now and then a call, or a few, that leave the graph, or the executable graph, as it is. Errors: as of program_change_nothing(). */
cudaError_t program_detour(struct made *made);
cudaError_t program_detour_of_exec(struct made *made, cudaGraphExec_t exec);
/* One of those of program_beside.c. */
cudaError_t program_call_beside(const struct made *made, cudaStream_t stream, struct dice *dice);
/* Two small kernels whose words nobody reads; the second one may overlap the first. */
cudaError_t program_launch_elsewhere(const struct made *made, cudaStream_t stream);
/* An event is made, recorded in a stream without work, if none captures, and destroyed. */
cudaError_t program_pass_event(const struct made *made);
/* "The id is unique over the lifetime of the process." */
int program_is_new_capture(struct program_room *room, cudaStream_t stream, cudaGraph_t into);
cudaError_t program_begin_other_capture(const struct made *made);
cudaError_t program_end_other_capture(const struct made *made);
/* After a small kernel that records the event as its blocks begin or trigger: all that is in the stream before it is complete then. */
cudaError_t program_record_by_launch(const struct made *made, cudaStream_t stream, cudaEvent_t event);
cudaError_t program_launch_host(const struct made *made, unsigned step, cudaStream_t stream, struct dice *dice);
void program_step_args(const struct made *made, unsigned step, struct kernel_args *args);
/* Whether this step works on other memory in this graph. */
int program_is_decoy(const struct made *made, unsigned step);
/* Gives a node of a graph, or of an executable one, the parameters of this step. general: by a call for nodes of every kind. */
cudaError_t program_set_node(const struct made *made, cudaGraphNode_t node, unsigned step, int general, struct dice *dice);
cudaError_t program_set_exec_node(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned step, int general, struct dice *dice);
/* Whether no edge to or from this step is programmatic. */
int program_has_full_edges(const struct program *program, unsigned step);
/* Whether this step lies in a child graph or a body of its own, where it means the same as long as all its edges are full. */
int program_is_wrapped(const struct made *made, unsigned step);
/* A graph of this step alone. */
cudaError_t program_make_child(const struct made *made, unsigned step, cudaGraph_t *child, struct dice *dice);
uint32_t *program_words_of(const struct made *made, unsigned step);
/* What a node of this step is given, by its kind; an empty node is given nothing. */
struct step_params {
    union {
        struct cudaKernelNodeParams kernel; /* its one argument lies below, or in the room, if it is long */
        struct cudaMemsetParams set;
        struct cudaHostNodeParams host;
        struct { char *to, *from; size_t bytes; } copy;
        cudaEvent_t event;
    } as;
    struct kernel_args args;
    void *values[1];
};
void program_fill_kernel(const struct made *made, unsigned step, struct step_params *params);
void program_fill_step(const struct made *made, unsigned step, struct step_params *params);
/* The same for the calls that take nodes of every kind; `params` keeps the arguments. */
void program_fill_general(const struct made *made, unsigned step, struct step_params *params, struct cudaGraphNodeParams *general);
/* A memset or a copy in a stream. dice: it is not captured by the caller. */
cudaError_t program_launch_set(const struct made *made, unsigned step, const struct step_params *params, cudaStream_t stream, struct dice *dice);
cudaError_t program_launch_copy(const struct made *made, unsigned step, const struct step_params *params, cudaStream_t stream, struct dice *dice);
/* Whether a copy's decoy copies as much as the copy itself: of the general call the documents promise no other size. */
#define program_keeps_size(step) ((step) % 2 == 0)
/* The attributes of a kernel step, whichever way it is launched; returns how many. */
#define PROGRAM_ATTRIBUTES 4u
#define LAUNCH_ATTRIBUTES (PROGRAM_ATTRIBUTES + 6u) /* of a launch in a stream, at most */
unsigned program_list_attributes(const struct made *made, unsigned step, cudaLaunchAttribute *attrs);
cudaLaunchAttributeValue *program_add_attribute(cudaLaunchAttribute *attrs, unsigned *count, cudaLaunchAttributeID id);
void program_add_event(cudaLaunchAttribute *attrs, unsigned *count, cudaEvent_t event, int at_block_start);
/* Whether the node of a step is of its kind, and has them, and the launch or the event that it was given. */
int program_keeps_node(const struct made *made, unsigned step);

/* What the kernel is given that ends each round of a loop, or decides about a body. */
#define PROGRAM_ROUNDS 2u
struct program_round {
    uint64_t handle;
    uint32_t *rounds;          /* so many there were; NULL: the value decides */
    uint32_t value;
};

struct program_host_step {
    struct program_room *room;
    int decoy;                 /* writes no words */
    unsigned step, reads, read[PROGRAM_READS];
};
#define PROGRAM_OTHER_EVENTS 9u
/* In device memory, by step: the key once it has begun; then PROGRAM_EARLY; then by step how many of its blocks ran. Then the same of the
 * decoy. */
#define PROGRAM_EARLY 4u       /* steps that began too early; bodies that ran and must not; rounds of a loop; one unused */
#define PROGRAM_BEGAN (2u * PROGRAM_STEPS + PROGRAM_EARLY)
struct program_staging {       /* pinned, mapped */
    struct step_plan plan[PROGRAM_STEPS];
    uint32_t data[PROGRAM_STEPS][PROGRAM_WORDS];
    uint32_t on_host[PROGRAM_STEPS][PROGRAM_WORDS]; /* of steps whose words are the host's */
    uint32_t decoy_on_host[PROGRAM_STEPS][PROGRAM_WORDS];
    uint32_t mark[PROGRAM_STEPS];
    uint32_t none[PROGRAM_BEGAN]; /* zeros */
    struct step_plan ahead[2];
    uint32_t ahead_mark[2];    /* the key, and the key plus one, once what was launched ahead is complete */
    uint32_t given[PROGRAM_STEPS][PROGRAM_WORDS]; /* what copies from the host read */
    uint32_t host_runs[PROGRAM_STEPS]; /* how often each host step ran */
};
/* Events without timing: what a stream passes on to another, the end of a lane, where a lane moves to a new stream, and what is observed. */
enum program_spare { SPARE_RELAYED, SPARE_LAST, SPARE_MOVED, SPARE_OBSERVED, SPARE_EVENTS = SPARE_OBSERVED + PROGRAM_SEEN };
struct program_driver {        /* the driver's functions, NULL where it has none; the kernels as it knows them */
    cudaFunction_t kernel[PROGRAM_KERNELS];
    cudaKernel_t handle[PROGRAM_KERNELS]; /* of the same kernels, which belong to no context */
    void *launch, *launch_cooperative, *launch_ex, *launch_graph, *record, *await, *add_edges, *remove_edges;
    void *move[DRIVER_MOVES], *graph_call[DRIVER_GRAPH_CALLS], *older_call[DRIVER_OLDER_CALLS];
    void *node_call[DRIVER_NODE_CALLS][STEP_KINDS + 1]; /* the last one: for nodes of every kind */
    void *context;             /* in which its nodes work */
};
struct program_room {
    const void *const *kernel; /* PROGRAM_KERNELS */
    const void *goes_on;       /* a kernel that lets a loop go on, or NULL */
    cudaStream_t stream, side, blocking, urgent, relay;
    cudaEvent_t event[PROGRAM_LINKS];
    cudaEvent_t spare_event[SPARE_EVENTS];
    cudaEvent_t node_event[2 * PROGRAM_STEPS]; /* of the steps that record or await one; the program's, then the decoy's */
    unsigned domains;          /* so many memory-sync domains there are; 0: a launch takes no hints */
    int high_priority, blind;  /* blind: no step waits; such programs have to go wrong */
    int alone;                 /* no kernels are launched around graphs */
    int destroys, uploads;     /* every executable graph is destroyed while it runs; is uploaded between two launches */
    struct program_size size;
    struct program_driver driver;
    struct program_args args;  /* of the launch that is being made, if its kernel takes more than the head */
    uint64_t key;
    struct program_staging *staging;
    char *mapped;              /* staging as the device sees it */
    struct step_plan *plan;    /* in device memory: plans and data, then the decoy's */
    uint32_t *place[2];        /* where the words of programs lie by turns: data, then seen and kept */
    void *pooled;              /* the memory of the second one; NULL: there is none */
    uint32_t *data;
    uint32_t *kept;            /* the words as a run finds them, for loops */
    uint32_t *seen;            /* the words as each of the first steps that record saw them */
    uint32_t *began;           /* PROGRAM_BEGAN, twice */
    struct step_plan *ahead_plan; /* what is launched ahead of a graph, and its words, in device memory */
    uint32_t *ahead;           /* AHEAD_WORDS, then as many of what is launched elsewhere */
    cudaEvent_t prepared, never, passed, captured; /* never: recorded; passed: long ago; captured: in captures alone */
    cudaEvent_t other_event[PROGRAM_OTHER_EVENTS]; /* with timing, for hosts that sleep, for other processes */
    unsigned long long last_capture; /* its id */
    cudaStream_t apart, observer; /* for captures beside others, and for what waits for observed events */
    struct trial_state *state;
    struct program_host_step host[2 * PROGRAM_STEPS]; /* the program's, then the decoy's */
    unsigned host_wrong;       /* host steps that saw an unfinished kernel */
};

/* The questions: every way of `count` programs; the kernel comes from kernels/programs.cu. */
enum program_subject {
    PROGRAM_GRAPHS,
    PROGRAM_TOGETHER,          /* all edges of a graph come in one call */
    PROGRAM_STREAMS,
    PROGRAM_UPLOADED,          /* every executable graph is, before its launch */
    PROGRAM_DESTROYED          /* every executable graph is one of several and destroyed while it runs */
};
struct program_ask {
    const void *kernel[PROGRAM_KERNELS];
    unsigned more[PROGRAM_KERNELS];
    const void *goes_on;
    enum program_subject subject;
    int blind;
};
cudaError_t program_open_room(struct program_room *room); /* room: zeros, but for the kernels and the streams that it is given */
void program_close_room(struct program_room *room);
/* From now on the words lie where those of program `number` do. */
void program_use_place(struct program_room *room, unsigned number);
void program_ask(struct ask *ask, const struct program_ask *how);
/* Memsets and copies alone, of sizes that the steps of programs do not have. */
void program_ask_sizes(struct ask *ask);
/* Launches in a row, more than programs have. */
void program_ask_depth(struct ask *ask, struct program_room *room);

#ifdef __cplusplus
}
#endif

#endif
