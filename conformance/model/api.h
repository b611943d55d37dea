/* Inside of the API layer: what every cuda* entry does first, and the objects behind the handles. */
#ifndef PDL_MODEL_API_H
#define PDL_MODEL_API_H

#include "machine.h"
#include "symbols.h"

/* ---- entering a call: takes the lock, counts, applies planted failures and the sticky error ---- */

struct call {
    cudaError_t error;
};
struct call call_begin(enum symbol symbol, bool despite_sticky);
void call_end(struct call *call);
cudaError_t call_result(cudaError_t error); /* remembers a failure as the last error */

#define CALL(name)                                                                                                   \
    __attribute__((cleanup(call_end))) struct call call_ = call_begin(SYMBOL_##name, false);                         \
    if (call_.error != cudaSuccess)                                                                                  \
        return call_result(call_.error)
/* queries about the device and the functions answer even after a sticky error */
#define CALL_QUERY(name)                                                                                             \
    __attribute__((cleanup(call_end))) struct call call_ = call_begin(SYMBOL_##name, true);                          \
    if (call_.error != cudaSuccess)                                                                                  \
        return call_result(call_.error)
#define FAIL_IF(condition, error)                                                                                    \
    do {                                                                                                             \
        if (condition)                                                                                               \
            return call_result(error);                                                                               \
    } while (0)

/* ---- functions ---- */

struct function {
    const struct model_kernel *kernel;
    int max_dynamic_shared, carveout;
    bool wide_clusters; /* of more than eight blocks are allowed */
    int ptx_on[MODEL_MAX_DEVICES]; /* 0: as the kernel says */
    unsigned recorded; /* when its last launch with an event records it: 1: at its trigger; 2: at block starts; 0: there was none */
    bool has_waited, has_triggered; /* ever: for the devices new-function-* */
};
bool function_exists(const struct function *f);
int current_device(void); /* of this thread */
int cc_of(int index);
int function_ptx(const struct function *f); /* on the current device */
struct function *function_find(const void *func);
unsigned most_in_cluster(const void *func);
void functions_reset(void);
void devices_reset(void);
int blocks_per_sm(const struct function *f, unsigned threads, size_t dynamic_shared);

/* ---- what a launch asks for, attributes read and checked ---- */

struct stream;

struct request {
    const struct model_kernel *kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    cudaStream_t stream_handle;
    bool programmatic, programmatic_given, cooperative, updatable, ignored_entry, urgent;
    unsigned cluster, clusters[3]; /* blocks of one; along x, y and z */
    unsigned char domain;
    cudaEvent_t event;
    bool at_block_start;
    cudaEvent_t launch_event;
    void *told[1]; /* where they are, for who asks */
    unsigned late_to, late_from; /* ids of attributes, a bit each, that its node was given once edges led to it, or from it: for the devices late-* */
    unsigned counted; /* blocks that it had before it was given more: for the device params-keep-trigger-count */
    bool never_waited, never_triggered; /* nor did its function before: for the devices new-function-* */
    unsigned num_attrs;
    cudaLaunchAttribute attrs[MODEL_MAX_ATTRS];
    /* Last, so that a copy leaves out the bytes that the kernel does not take */
    _Alignas(16) unsigned char args[MODEL_ARGS_MAX];
    _Alignas(16) unsigned char first_args[MODEL_ARGS_MAX]; /* as the node was made: for the device argument-of-first-told */
};
void request_copy(struct request *to, const struct request *from);
static inline unsigned request_blocks(const struct request *r) { return r->grid[0] * r->grid[1] * r->grid[2]; }
cudaError_t request_fill(struct request *r, const cudaLaunchConfig_t *config, const void *func, void **args);
cudaError_t request_fill_node(struct request *r, const struct cudaKernelNodeParams *p);
bool read_piece(const struct model_kernel *kernel, void **extra, unsigned char *bytes);
void request_keeps_function(struct request *r, const struct model_kernel *before); /* on devices that go by the function before */
void request_loses_cooperative(struct request *r); /* on devices that forget it */
cudaError_t request_attribute(struct request *r, const cudaLaunchAttribute *a);
struct op *request_op(const struct request *r);
void request_gives_args(const struct request *r, unsigned char *args); /* as the grid finds them */
bool launch_may_overlap(const struct request *r, struct stream *s);
cudaError_t launch_in_stream(struct request *r);
void launches_reset(void);
void launch_record(const struct request *r);

/* ---- streams and events ---- */

struct pending_wait { /* an event that the next work in the stream waits for */
    struct op *op;
    enum edge_kind kind;
    bool covered, completion; /* completion: of a launch */
    const struct event *event; /* that was waited for: for the device later-wait-replaces; NULL: several */
};

enum { STREAM_MAGIC = 0x53545231 };
enum { MODEL_BODIES = 40, VALUES_OF_NODE = 12 };

enum { STREAM_ATTRIBUTES = 11 };

struct capture;
struct stream {
    uint32_t magic;
    unsigned flags;
    int priority;
    cudaLaunchAttributeValue attribute[STREAM_ATTRIBUTES]; /* as they were set, by their ids */
    struct op *tail;        /* everything in the stream retires no later than this */
    struct op *kernel_tail; /* what attribute 6 may overlap; NULL if the last work was something else */
    struct op *previous_kernel; /* the same, whatever has come since (AMB-16); NULL after a graph with kernels */
    struct op *last_kernel; /* or the end of a graph; for the device event-at-launch */
    struct pending_wait wait[MAX_WAITS];
    unsigned waits, told_to_wait; /* told_to_wait: so often since its last work, for devices that lose the later ones */
    cudaGraphEdgeData left_data; /* of dependencies that were set in a capture that failed, for the device spoiled-data-stay */
    bool left_set;       /* there were such; for the device spoiled-set-stays */
    unsigned left_unordered; /* so much work is to come, and one, since a capture that failed: for the device spoiled-stream-unordered */
    bool behind_failed; /* a capture of kernels that failed, for the device failed-capture-uncovers */
    unsigned leaked_clusters[3]; /* for the device refused-clusters-leak */
    bool refused_dependent; /* a launch with attribute 6 behind a copy or memset: for the device refused-dependent-hides-copy */
    bool leaked_attribute; /* for the devices attribute-leaks and refused-attribute-leaks */
    uint64_t behind_graph_of; /* the number of the graph whose executable graph was launched last */
    bool behind_host_graph; /* ... or of one host function */
    bool behind_graph, behind_empty, behind_nested, behind_hollow; /* its last work is a graph; one without
                                                              * nodes; of one child graph or body; one of which no node runs */
    unsigned polls; /* so often it was asked for since its last work, which had not ended: for the device stream-poll-256-succeeds */
    bool deaf; /* waits for nothing more until its next operation; for the device many-waits-lose-one */
    unsigned items; /* since the last kernel; for the device two-items-hide-primary */
    bool moved_nothing; /* since its last work; for the device empty-move-hides-primary */
    bool given; /* an attribute, since its last work; for the device set-attribute-uncovers */
    cudaStream_t named; /* as its last kernel was launched: for the devices other-name-* */
    bool has_captured, beside_capture; /* ...; made while another one captured, on a device that does not let it block then */
    bool idle; /* nothing was queued since it was synchronized; for the device idle-attribute-refused */
    bool tail_awaited; /* its last work waited for an event; for the device legacy-passes-awaiting */
    struct op *last_end, *owed; /* the last node that the graph before ends in, if there are several; that graph: for the device
                                   two-ended-graph-covers-last */
    unsigned place; /* how many there were once it was made: for the devices seventeenth-* */
    struct op *last_moved; /* the last copy or memset: for the devices again-not-set and again-not-copied */
    uint64_t made_at; /* the serial of the last operation then; for the device new-stream-passes-legacy */
    unsigned long long id; /* of those that were created */
    const struct stream *renews; /* the one that was destroyed last before it was made, whose work went on: for the devices renewed-stream-* */
    bool renewed; /* it is gone, and another one was made then: for the device renewed-stream-leaves-legacy */
    bool first; /* of all that were made: for the device legacy-frees-one */
    bool by_other; /* made by another host thread than the first: for the devices *-stream-made-elsewhere-* */
    bool late; /* made while 60 others existed: for the device sixtieth-stream-unordered */
    const struct event *met; /* the event that it was told to wait for last; in this version: for the device record-versions-wrap */
    uint8_t met_version;
    struct capture *capture;
    struct stream *next;
};

enum recorded { RECORDED_NEVER, RECORDED_ORDINARY, RECORDED_PROGRAMMATIC, RECORDED_LAUNCH, RECORDED_IN_CAPTURE };
struct event {
    uint32_t magic;
    unsigned flags;
    enum recorded recorded;
    struct op *op;           /* NULL once it is known to have fired */
    enum edge_kind device_at; /* when device work after it may go */
    enum edge_kind host_at;
    uint64_t fired_at, serial; /* serial: of the operation that it was recorded by */
    uint64_t first_time;     /* when it was first asked for: for the device first-time-stays */
    bool polled;             /* was asked for since it was recorded, and had not fired: for the device second-poll-succeeds */
    struct capture *capture; /* RECORDED_IN_CAPTURE: what was captured so far */
    uint64_t capture_id;
    struct half_edge *captured;
    unsigned captured_count;
    struct stream *captured_in; /* for the devices record-before-* */
    unsigned captured_waits;    /* so many streams wait for it: for the device second-waiter-of-start-full */
    struct stream *in, *waiter[16]; /* where it was recorded last; who waits for it, for the device fifth-waiter-unordered */
    bool moved; /* recorded in several streams: for the device moved-event-not-awaited */
    unsigned waiters, awaited; /* awaited: so often by streams, since it was recorded: for the device awaited-sync-early */
    bool by_node, by_captured, was_fired, behind_graph; /* by_captured: by a node that was captured */
    bool asked_fresh;        /* was asked for before it was recorded: for the device asked-fresh-record-lost */
    bool at_start;           /* of a launch, at block starts: for the device first-start-told */
    bool by_other;           /* made by another host thread than the first: for the device event-of-other-thread-passed */
    bool late;               /* made while 1,000 others existed: for the device thousandth-event-lost */
    uint64_t launched_at;
    struct op *place;        /* what the destroyed event stood for whose place it has: for the device destroyed-event-place-fires */
    struct op *fires_with;   /* what the destroyed event stood for whose place it has: for the device destroyed-event-fires-next */
    struct op *earlier;      /* what another stream had recorded it for before, if that was to come: for the device earlier-record-told */
    bool moved_early;        /* there was such */
    unsigned rerecorded;     /* so often while it had not fired: for the device ninth-completion-record-lost */
    unsigned polls;          /* so often it was asked for since it was recorded, and had not fired: for the device poll-256-succeeds */
    unsigned followers;      /* since it was recorded: for the device waiter-33-passes */
    uint8_t version, told_version; /* of its records; the last one of which the host was told: for the devices *-versions-wrap */
    bool was_told;
    struct event *next;
};

struct stream *stream_of(cudaStream_t handle); /* NULL: not a stream */
struct event *event_of(cudaEvent_t handle);
bool item_uncovered(const struct stream *s);
void event_moves_to_trigger(const struct op *record, struct op *kernel); /* for the device record-between-at-trigger */
void streams_reset(void);
void streams_forget_retired(void);
bool stream_is_legacy(const struct stream *s);
bool stream_is_between(const struct stream *s); /* its priority is neither the highest nor none */
bool stream_given(const struct stream *s, int id); /* an attribute of this id, by a call */
bool stream_is_per_thread(const struct stream *s);
struct stream *stream_legacy(void);
struct stream *stream_per_thread_of_other(void); /* the one of the first host thread, or of any other one if that calls */
struct stream *stream_new(unsigned flags, int priority); /* NULL: no memory */
void stream_leaves(struct stream *s); /* it is destroyed; its work goes on */
bool moves_memory(const struct op *op);
/* Orders op after all that the stream holds and makes it the stream's last. */
void stream_append(struct stream *s, struct op *op, bool programmatic);
unsigned pairs_beside(const struct stream *s); /* streams.c: other streams whose last kernel may overlap the one before it */
void order_behind_tail(struct stream *s, struct op *op, bool programmatic);
void order_behind_waits(struct stream *s, struct op *op); /* stream_waits.c */
bool passes_graph(const struct stream *s, const struct op *op); /* on devices where it does */
bool passes_first_thread(const struct stream *s, const struct op *op);
void stream_awaits(struct stream *s, struct pending_wait wait);
void stream_closes(struct stream *s);
void stream_cuts(struct stream *s); /* forgets its work, for devices that do */
struct stream *stream_at_place(unsigned place); /* of the streams that there are; NULL: none */
unsigned streams_alive(void); /* created and not destroyed */
/* until all is over that is in other streams than the per-thread default streams, or than those of other threads */
cudaError_t streams_run_but_per_thread(bool of_others);
void stream_drops(struct stream *s, const struct op *op); /* it waits for that no more */
void streams_drop(const struct op *op); /* no stream waits for it any more */
void op_waiters_follow(struct op *op, struct op *other); /* ops.c: those that were queued, too */
void streams_follow(const struct op *op, struct op *other); /* those that wait for the one wait for the other instead */
void events_reset(void);
void events_forget_retired(void);
cudaError_t event_usable_in_launch(cudaEvent_t handle, int flags);
void event_takes(struct event *e, enum recorded how, struct op *op, bool at_block_start);
bool event_fired_for_host(struct event *e);
cudaError_t stream_move(struct stream *s, struct op *op, bool wait);
cudaError_t stream_may_queue(struct stream *s); /* no stream, or one that is captured in vain, takes nothing */
struct graph;
struct value;
/* As the driver writes a value and waits for one. */
cudaError_t stream_write_value(cudaStream_t stream, uint32_t *to, uint64_t value, bool wide);
cudaError_t stream_await_value(cudaStream_t stream, uint32_t *at, uint64_t value, unsigned flags, bool wide);
struct op *value_op(const struct value *v);
struct memory_pool;
void pools_reset(void);
void named_words_reset(void); /* api_symbols.c */
void settings_reset(void); /* api_settings.c */
void pools_forget_retired(void);
void pool_forgets(const void *p); /* it is freed by cudaFree */
/* As if their work had ended, for the devices *-ends-frees; NULL: of all pools. */
void pools_end_frees(const struct memory_pool *of);
void pool_gives_live(const struct memory_pool *of); /* for the device trim-gives-live */
void pools_pass_told(void); /* the frees behind kernels of whose launch the host was told, for the device told-launch-ends-frees */
/* Memory that a graph left: others may have it at once, as if s had freed it. */
void pool_takes_left(void *p, size_t bytes, struct stream *s);
void graph_memories_reset(void);

/* api_memory_pools.c: pools as handles */
void memory_pools_reset(void);
struct graph;
/* user_objects.c */
void objects_follow(struct graph *copy, const struct graph *g); /* the copy refers to them, too */
void objects_lose(struct graph *g);                             /* it does not any more */
void objects_wait(struct graph *g, const struct op *running);   /* ... once that has ended; NULL: at once */
void objects_forget_retired(void);
void objects_reset(bool begins); /* before and after the graphs go */
struct memory_pool *memory_pool_of(cudaMemPool_t handle); /* NULL: none, or one that is gone */
struct memory_pool *memory_pool_now(void); /* the device's */
bool memory_pool_is_made(const struct memory_pool *pool); /* by a call */
bool memory_pool_is_gone(const struct memory_pool *pool);
bool memory_pool_lacks_reuse(const struct memory_pool *pool); /* one of its three ways to give memory again is switched off */
bool graph_has_memory(const struct graph *g); /* it allocates or frees: then it loses no node or edge, has no clone, and one executable graph */
cudaError_t capture_memory(struct stream *s, void **p, size_t bytes);
cudaError_t capture_end_of_memory(struct stream *s, const void *p);
bool graph_memory_launched(const struct graph *g, unsigned long long flags); /* false: it is refused, and nothing has changed */
bool graph_memory_freed(const void *p, size_t *bytes); /* it was held since a launch */
bool takes_overlap(void); /* the seed decides whether a permitted overlap is taken */
enum edge_kind trigger_for(const struct op *op); /* what a programmatic dependency of op waits for */
bool reads_boldly(void); /* ... and how a question is answered that the documents leave open */
bool legacy_is_forbidden(const struct stream *s); /* while another stream is captured */
bool legacy_use_spoils(const struct stream *s);   /* the same; whatever is captured is invalid then */

/* ---- graphs and capture ---- */

typedef cudaGraphEdgeData edge_data;
static const edge_data full_edge;

struct half_edge { /* a node that the next captured node will depend on, and how */
    struct node *node;
    edge_data data;
    bool kept_default; /* came through an ordinary event: attribute 6 leaves it alone */
    bool of_event;     /* came through a programmatic event */
};

struct arc {
    struct node *from, *to;
    edge_data data;
    bool of_event; /* made by capture from a programmatic event: for the device program-event-first-block */
    bool first;    /* into its node: for the device one-edge-is-enough */
    bool later;    /* than an executable graph that has both nodes: for the device later-edge-not-made */
    bool rejoins;  /* made by capture after an ordinary event, whatever kind the edge became */
    unsigned nth, into;  /* how many edges left its first node and entered its second before it was made */
    bool lost_cover; /* by a change while one of its nodes was disabled: for the devices *-while-out-* */
    bool lost_order; /* in a clone: for the device clone-beyond-1024-lets-go */
};

#define NODE_OF_VALUE ((enum cudaGraphNodeType)12) /* CU_GRAPH_NODE_TYPE_BATCH_MEM_OP */

struct node {
    uint32_t magic;
    enum cudaGraphNodeType type;
    struct graph *graph;
    struct request *kernel; /* cudaGraphNodeTypeKernel */
    struct move move;
    struct cudaHostNodeParams host;
    cudaEvent_t event, old_event; /* of a node that records one or waits for one; the one before, for the device record-node-records-both */
    struct graph *child[MODEL_BODIES]; /* a child graph; or the bodies of a conditional node */
    cudaGraph_t *body; /* of a conditional node: the same, for the caller to read */
    unsigned children;
    enum body_choice { BODY_ALWAYS, BODY_IF, BODY_LOOP, BODY_SWITCH } choice; /* which of them a launch runs */
    unsigned long long handle; /* of its condition */
    unsigned condition;       /* its value at launch */
    bool undecided;           /* ... it has none: a kernel before it sets one */
    bool was_idle;            /* ... and set none, when it was decided last: for the devices idle-round-* */
    bool disabled;            /* in an executable graph */
    bool given_while_out;     /* ... and since then an update or parameters: for the devices disabled-takes-one-* and disabled-move-takes-one-update */
    int told_disabled;        /* so often more than told enabled: for the devices disabling-is-counted and enabling-is-counted */
    struct value {            /* of a node that writes it or waits for it */
        uint32_t *at;
        uint64_t value;
        unsigned flags;
        bool wide, awaited;
    } value, more[VALUES_OF_NODE - 1]; /* more: of the node of a batch, in their order */
    unsigned values_more;
    struct graph_memory *memory; /* of a node that allocates it; or frees it */
    bool frees;
    const struct node *original; /* the node that it was copied from */
    struct op *op, *last;     /* while a launch is being put together: where it begins and ends */
    unsigned index, incoming, outgoing; /* place in its graph; edges that end and begin here */
    bool captured, reenabled, late; /* late: added to the graph of a child graph node */
    bool given;     /* in an executable graph, parameters of its own by a call for this node */
    uint64_t child_of; /* the number of the graph that this child graph was copied from */
    uint64_t given_last; /* a digest of the parameters that a call for this node gave: for the device same-params-ignored */
    unsigned renewed; /* how often it was given parameters in an executable graph: for the device second-params-ignored */
};

struct graph {
    uint32_t magic;
    uint64_t number; /* in the order of making; no two graphs share one */
    struct node **node;
    size_t nodes, node_room;
    struct arc *arc;
    size_t arcs, arc_room;
    bool refused;
    bool made_elsewhere; /* by another host thread */
    bool lost_node;    /* one was destroyed; for the device late-nodes-edgeless */
    bool cloned, made; /* has a clone, an executable graph; for devices on which it cannot be changed then */
    size_t made_of;    /* so many nodes it had when an executable graph was made of it */
    size_t lost_at;      /* where it stood: for the device clone-takes-lost-data */
    struct arc lost_arc; /* the last one that was removed; for the device readded-edge-keeps-data */
    struct node *heir_of; /* what the last node that was destroyed came after; for the device new-node-takes-lost-edge */
    struct request *lost_kernel; /* of the last kernel node that was destroyed: for the device new-node-takes-lost-attributes */
    unsigned clones;   /* so many were made of it */
    size_t roots_of;   /* so many edges it had when its roots were told; for the device roots-remembered */
    unsigned copies; /* in a row, from the graph that was no copy to this one */
    uint64_t copied_from, first; /* first: the graph that was no copy */
    bool moved;                  /* into its parent, or a copy of such a one */
    struct node *owner; /* of a child graph or a body */
    struct condition {  /* handles made for conditional nodes of this graph */
        unsigned long long handle;
        unsigned value;
        bool undecided;
        struct condition *next;
    } *conditions;
    struct object_reference *objects; /* that it refers to */
    struct graph *next, *previous;
};

/* Changes of single nodes of an executable graph. */
enum change { CHANGE_PARAMS, CHANGE_GENERAL, CHANGE_DISABLES, CHANGE_SET, CHANGE_COPY, CHANGE_HOST, CHANGE_CHILD, CHANGES };

struct graph_exec {
    uint32_t magic;
    struct graph *copy;
    uint64_t features; /* for drawn devices */
    unsigned long long flags; /* that it was made with */
    struct op *leaf; /* the one kernel that its last launch ends in: for the device elsewhere-launch-at-trigger */
    struct op *running; /* the end of its last launch; NULL once it is known to have passed */
    struct op *first; /* ... of the first launch that was under way then: for the device objects-wait-for-first */
    bool made_elsewhere, source_gone; /* by another host thread; its graph was destroyed */
    size_t frames_then; /* the largest frame when it was made: for the device older-graph-shares-frames */
    bool event_given; /* to a node of it: for the device given-event-lets-go */
    unsigned launches, updates; /* so far */
    unsigned updates_taken; /* for the device update-33-uncovers */
    bool refused;       /* an update, for the device refused-update-sticks */
    unsigned in_flight; /* launches since none was under way */
    unsigned changed[CHANGES]; /* nodes since its last launch, by each call: for the devices *-beyond-* */
    struct op *upload_behind; /* which its last upload waits for, and what was uploaded: for the devices pending-upload-* */
    struct graph *as_uploaded;
    const struct stream *upload_in;
    bool launched_past_upload;
    struct stream *in;
    const struct stream *uploaded_in; /* as it was made; for the device uploaded-elsewhere-half */
    uint64_t made_from; /* the number of the graph; its address may belong to another graph by now */
    uint64_t updated_from; /* likewise; for the device update-from-same-ignored */
    uint64_t taken_from, taken; /* the graph that it was made of or updated from last, and what that did: for the device unchanged-update-ignored */
    struct graph_exec *next;
};

struct graph *graph_of(cudaGraph_t handle);
struct node *node_of(cudaGraphNode_t handle);
struct graph *graph_new(void);
void graph_delete(struct graph *g);
struct graph *graph_copy(const struct graph *g);
cudaError_t copy_node_added(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, void *to, const void *from,
                            size_t bytes, enum cudaMemcpyKind kind); /* as cudaGraphAddMemcpyNode1D */
cudaError_t memory_copied(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct stream *s); /* as cudaMemcpyAsync */
void graph_loses_values(struct graph *g); /* but the first one of each batch: for the device copied-batch-does-one */
void graphs_reset(void);
bool exec_under_way(const struct graph_exec *e); /* one of its nodes has begun, and one has not */
void bodies_take(const struct graph *of, const struct graph *from); /* ... those in bodies */
void rest_takes(const struct graph *of, const struct graph *from); /* the nodes that have not begun do what those of another graph do */
void execs_turn(const struct node *from, const struct node *to); /* for the device turned-edge-reaches-execs */
void graphs_lose_arc(const struct node *from, const struct node *to); /* for the device removal-reaches-children */
void graphs_follow_attribute(const struct node *original, const cudaLaunchAttribute *a);
void original_follows(const struct node *n); /* the kernel node that it was copied from */
void graphs_follow(const struct node *original); /* for the devices source-changes-copies and source-items-change-copies */
void execs_reset(void);
void execs_free(uint64_t source); /* lets its executable graphs overlap themselves, for the device that does so */
void node_takes_back(const struct node *n); /* the memset that the node was copied from, if there still is one */
void execs_lose_source(const struct graph *source); /* which is destroyed */
void execs_leave(const struct stream *s);
const struct graph_exec *exec_newest(const struct graph_exec *e); /* of its graph: for the device flags-told-of-newest */
bool exec_made(const struct graph *g);
struct node *execs_oldest(const struct node *n); /* of the nodes that were made of the same one: for the device sibling-tells-enabled */
void execs_disable(const struct node *n);     /* for the device disabling-reaches-siblings */
void execs_set(const struct node *n);         /* for the device memset-params-to-siblings */
void execs_rest_set(const struct node *n);    /* for the device sibling-params-reach-rest */
void execs_gain(const struct node *n);
void execs_shift(const struct node *n);
void execs_lose_arc(const struct graph *source); /* for the device source-edges-cut-copies */
void execs_forget_retired(void);
struct node *node_new(struct graph *g, enum cudaGraphNodeType type);
void node_drop_last(struct graph *g); /* the newest one, which has no edges yet */
void node_owns(struct node *n, struct graph *child);
const struct graph *node_body(const struct node *n); /* what a launch runs of its children; NULL: nothing */
const struct graph *node_body_by(const struct node *n, unsigned value);

/* executable.c: what a launch of an executable graph queues */
struct queued { /* of the graph that is being queued: how it was made and launched */
    uint64_t features;
    unsigned long long flags;
    unsigned launches; /* of its executable graph, this one too */
    unsigned rounds;   /* that the loop around these nodes has ended */
    unsigned outer;    /* ... and the loop around that one: for the device third-outer-round-uncovers */
    bool after_idle;   /* in a body that did not run in the round before: for the devices idle-round-* */
    bool in_legacy, chosen; /* chosen: what a kernel has decided to run */
    bool by_driver; /* for the device driver-loop-once */
    bool half; /* on the device uploaded-elsewhere-half */
    bool event_given;
    bool updated_often; /* for the device update-33-uncovers */
    size_t frames_then; /* the largest frame when it was made executable: for the device older-graph-shares-frames */
    bool elsewhere; /* its launch before was in another stream: for the device elsewhere-loop-runs-once */
};
extern struct queued queued;
void queue_between(const struct graph *g, struct op *start, struct op *end);

/* arcs.c: what an edge orders in a launch */
void arc_orders(const struct arc *a);
bool in_nested_child(const struct node *n);

/* loops.c: bodies that run again, or that a kernel chooses */
unsigned long long condition_new(unsigned long long shares); /* a handle; not 0: it has the value of that one */
void condition_set(unsigned long long handle, unsigned value);
unsigned condition_now(unsigned long long handle);
void op_knows_conditions(struct op *op, const struct node *n);
struct loop *loop_new(const struct node *n, struct op *last); /* last: of a node that is still to be decided */
void launch_sets_conditions(const struct graph *g, struct op *start); /* to their default values, once start is done */
/* body: queued by the default value, after this serial number */
void loop_guesses(const struct node *n, const struct graph *body, uint64_t first);
bool has_loop(const struct graph *g);
void exec_ends_loops(const struct graph_exec *e);
void conditions_stay(const struct graph_exec *e, bool stay); /* for the devices *-left-condition */
cudaError_t edge_check(const struct node *from, const struct node *to, edge_data data);
cudaError_t graph_connect(struct graph *g, struct node *from, struct node *to, edge_data data);
void graph_drop_arc(struct graph *g, size_t index);
void graph_drop_last_arc(struct graph *g); /* if it has one, for devices that lose it */
void edges_become_full(struct graph *g);     /* for devices that lose their data */
void graph_starts_in_parts(struct graph *g, bool captured_only); /* its cooperative kernels, on devices that forget what they are */
bool edge_is_default(edge_data data);
unsigned graph_level(const struct graph *g); /* how many graphs it lies in, as a child graph or a body */
bool graph_is_inside(const struct graph *g, enum cudaGraphNodeType type); /* of the graph of a node of this type */
void graph_clone_ends(const struct graph *clone); /* for the device clone-end-takes-edge */
bool node_is_fixed(const struct node *n);         /* for the devices that ignore new parameters of some nodes */
bool graph_has_cycle(const struct graph *g);
bool graph_has_condition(const struct graph *g); /* a conditional node, at any depth */
bool bodies_hold_the_allowed(const struct graph *g, bool in_body);
struct op *node_op(const struct node *n);
cudaError_t graph_queue(struct graph_exec *exec, struct stream *s);
cudaError_t graph_instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags);
cudaError_t graph_upload(cudaGraphExec_t handle, cudaStream_t stream);
void objects_wait_for(struct graph *g, const struct graph_exec *e); /* its user objects, until launches of it have ended */
void graph_memory_ends(const struct graph *g); /* for the devices *-end-frees-memory */
struct graph_exec *exec_of(cudaGraphExec_t handle);
struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t handle, enum cudaGraphNodeType type); /* NULL: has none */
bool set_sound(const struct cudaMemsetParams *p);
void set_fill(struct node *n, const struct cudaMemsetParams *p);
struct cudaKernelNodeParams kernel_params_of(const struct cudaGraphNodeParams *p);
struct cudaMemsetParams set_params_of(const struct cudaGraphNodeParams *p);
struct node *node_of_type(cudaGraphNode_t handle, enum cudaGraphNodeType type); /* NULL: it is none */
/* Whether the parameters that a kernel node is given are those that it had, and on devices that do not compare all of them seem to be. Clusters are no
 * parameters. */
bool requests_seem_same(const struct request *is, const struct request *was);
uint64_t graph_does(const struct graph *g); /* a digest of what its nodes do */
uint64_t node_does(const struct node *n, uint64_t digest); /* ... and of one, after that of others */
bool graph_may_become(const struct graph *a, const struct graph *b); /* a: of an executable graph. They differ in parameters only */
void keep_element(struct move *move, size_t element); /* as many elements as there are, of that size */
void trigger_at_starts(struct graph *g);
void kinds_in_part(struct graph *g, const struct graph *other); /* for the devices refused-*-gives-kinds */
bool copied_in_part(const struct arc *a);
bool change_is_lost(struct graph_exec *e, enum change change); /* counts it; on devices that have no room for so many before a launch */
void arcs_lose(struct graph *g, const struct node *n); /* those of n if it is disabled, or NULL of any that is */
void arcs_keep_lost(struct graph *copy, const struct graph *old); /* an update of the old one */
void upload_waits(struct graph_exec *e, const struct stream *s);
void upload_ends(struct graph_exec *e, const struct stream *launched); /* if it has; NULL: no launch asks */
void kinds_reach(struct graph *other, const struct graph *g);
void graph_takes_kinds(uint64_t number, const struct graph *from); /* the graph of this number */
void execs_take_kinds(const struct graph_exec *e); /* those of the same graph */
void execs_take_child_kinds(const struct graph_exec *e, const struct node *n); /* of this child graph */
cudaError_t event_changes(struct node *n, cudaEvent_t event); /* n: may be NULL, which is an error */
struct node *event_node(struct graph *g, enum cudaGraphNodeType type, cudaEvent_t event); /* NULL: not there, or no event */
bool add_arguments_sound(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count); /* of a call that adds a node */
/* Adds the incoming edges of the newest node; a refused one takes the node away again. */
cudaError_t node_finish(cudaGraphNode_t *out, struct node *n, const cudaGraphNode_t *deps, const edge_data *data, size_t count);
cudaError_t kernel_replace(struct request *r, const struct cudaKernelNodeParams *p);

void thread_mode_reset(void); /* api_streams.c: the mode of captures that the thread began with */
void captures_reset(void);
cudaError_t capture_kernel(struct stream *s, struct request *r);
cudaError_t capture_node(struct stream *s, struct node *n);
struct graph *capture_graph(struct stream *s);
cudaError_t capture_record(struct stream *s, struct event *e);
cudaError_t capture_wait(struct stream *s, struct event *e);
bool capture_is_active(void);
bool capture_in_mode(const struct stream *s, enum cudaStreamCaptureMode mode); /* whether this stream captures in it */
bool capture_is_of_others(void); /* another thread began it */
bool capture_is_of_mode(enum cudaStreamCaptureMode mode); /* one of those that go on */
void capture_loses_event(const struct event *e); /* it is destroyed */
void capture_invalidate(struct capture *c);
void capture_invalidate_all(void);
bool capture_broken(const struct stream *s);
void capture_cuts(struct stream *s); /* what it captures next depends on nothing, for devices that cut */

/* A child graph or a conditional node from the parameters of cudaGraphAddNode; NULL: they are not sound. */
struct node *nested_node(struct graph *g, struct cudaGraphNodeParams *params);

/* one spelling for the graph functions whose signature toolkit 13 changed; api_graph_names.c has the public ones */
/* Values of `width` bytes, as the driver sets them. */
cudaError_t stream_set(void *to, uint32_t value, size_t width, size_t bytes, cudaStream_t stream);
struct node *copy_node(struct graph *g, struct move move);
bool rows_sound(const struct cudaMemcpy3DParms *p);
struct move copy_of(const struct cudaMemcpy3DParms *p);
cudaError_t graph_add_node(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, const edge_data *data,
                           size_t count, struct cudaGraphNodeParams *params);
cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                   const edge_data *data, size_t count);
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                      const edge_data *data, size_t count);
cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, edge_data *data,
                            size_t *count);
cudaError_t graph_node_arcs(cudaGraphNode_t node, bool outgoing, cudaGraphNode_t *nodes, edge_data *data,
                            size_t *count);
cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                         cudaGraph_t *graph, const cudaGraphNode_t **deps, const edge_data **data, size_t *count);
cudaError_t capture_update(cudaStream_t stream, cudaGraphNode_t *deps, const edge_data *data, size_t count,
                           unsigned flags);

#endif
