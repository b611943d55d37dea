/* The machine's state. One device, one lock, everything reachable from `device`; model.h states the rules. */
#ifndef PDL_MODEL_MACHINE_H
#define PDL_MODEL_MACHINE_H

#include "coroutine.h"
#include "drawn.h"
#include "faults.h"
#include "model.h"
#include "model_kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_WORKERS = MODEL_MOST_SMS * MODEL_MOST_SLOTS, STORE_SLOTS = 64, LINE_BYTES = 32, LINES = 256, WHOLE_WORD = 0xff, MAX_WAITS = 64 };

/* ---- operations: what streams and graphs are made of ---- */

/* OP_AWAIT: a wait for a value; OP_POOL: the end of an allocation */
enum op_kind { OP_KERNEL, OP_COPY, OP_SET, OP_HOST, OP_RECORD, OP_JOIN, OP_AWAIT, OP_POOL };

/* When an edge lets its successor go */
enum edge_kind {
    EDGE_DONE,      /* predecessor completed and flushed: a full edge of a graph */
    EDGE_RETIRED,   /* ... and so did all that it overlapped: stream order */
    EDGE_TRIGGERED, /* all its blocks have triggered or exited */
    EDGE_STARTED,   /* all its blocks have started */
    EDGE_TURN,      /* its blocks may start: only on broken devices */
    EDGE_TOUCHED,   /* one block has triggered: only on the device program-event-first-block */
    EDGE_COVER      /* orders nothing by itself: the successor's wait and retirement need it retired */
};

struct op;
struct edge {
    struct op *to;
    struct edge *next;
    enum edge_kind kind;
    bool used, of_event; /* of_event: a stream waits for it: for the device destroyed-event-place-fires */
};

struct cover { /* an op that the wait of another one covers */
    struct op *op;
    struct cover *next;
};

struct grid { /* the kernel part of an op */
    const struct model_kernel *kernel;
    unsigned blocks, threads;
    size_t dynamic_shared;
    bool cooperative, waited; /* waited: a thread called the wait */
    unsigned cluster; /* blocks of one */
    unsigned shape[9]; /* x, y, z of the grid, of a block, and of a cluster */
    unsigned next_block, triggered, trigger_calls;
    unsigned met; /* blocks that came to its barriers, of all of them */
    unsigned counted; /* blocks that its node had before it was given more: for the device params-keep-trigger-count */
    unsigned gone, exited, low_exited; /* blocks that ended; ... without a trigger; ... of the lower half */
    uint64_t began_on[(MODEL_MOST_SMS + 63) / 64]; /* a bit for each SM: for the device late-blocks-keep-lines */
    struct block *resident; /* list by next_of_grid */
    struct store_buffer *unflushed;
    _Alignas(16) unsigned char args[]; /* as many as the kernel takes */
};

struct move { /* a copy, or a memset of rows */
    void *to;
    const void *from;
    size_t bytes, width, rows, pitch, from_pitch; /* bytes of a row; of a value; from_pitch: of a copy's source */
    size_t layers, layer, from_layer; /* of a copy: so many times those rows, if not 0, and bytes from one of them to the next */
    uint32_t value, upper; /* upper: of a value of eight bytes */
    void *staging; /* freed when done */
};

/* The call that queues an operation, where a broken device takes that one otherwise than others */
enum queued_by { BY_ANY_CALL, BY_BATCH, BY_PLAIN_CALL, BY_COOPERATIVE_CALL, BY_DRIVERS_PLAIN_CALL, BY_NAME_OF_MEMORY, BY_PEERS };

struct op {
    enum op_kind kind;
    uint64_t serial;
    uint64_t features; /* HAS(...): how it was launched and made, for drawn devices */
    unsigned depth;    /* kernels in a row before it in its stream */
    unsigned row;      /* ... that each overlap the one before, which had not ended: for the device row-of-64-passed */
    struct edge *out;
    struct cover *covered;
    struct op *overlapped; /* the kernel before it, if it may overlap that: for the device middle-event-at-primary */
    unsigned blocked;    /* edges (and the submit) still to come before it may start */
    unsigned cover_open; /* covered ops not yet retired */
    bool covers_untriggered; /* for the device wait-needs-trigger */
    bool by_driver, by_other; /* by_other: queued by another host thread than the first */
    const void *original; /* the node of a graph that its node was copied from: for the device siblings-share-triggers */
    struct {               /* where its node stands: for the other devices that share triggers */
        uint64_t graph;    /* the number of the graph that its graph was copied from, perhaps over other copies */
        unsigned place;
        bool in_child;
    } node;
    int given_domain; /* of its stream: for the device given-domain-uncovers */
    bool told;           /* the host has waited for the event of its launch, or found it complete: for the devices told-launch-* */
    bool waits_freed; /* for the devices exec-end-frees-waits, allocation-frees-waits and own-event-uncovers */
    bool attributed, covers_nothing, urgent; /* how it was launched, for the devices of ATTR-04, ATTR-07, COMP-03 */
    unsigned char domain;
    bool higher_map, balanced, between; /* values of its launch's attributes: a domain behind the second one, a policy, a priority between the others */
    uint32_t given; /* the ids of its launch's attributes, a bit each: for the devices of ATTR-17 */
    size_t frames_then; /* of a graph: the largest frame when it was made executable: for the device older-graph-shares-frames */
    bool to_host, from_host, in_host, plain_copy; /* a copy out of the device; into it; one that never enters it; one by cudaMemcpy */
    bool timed; /* records an event that keeps time */
    bool lone; /* no kernel, and its stream held no work when it was queued: for the devices legacy-*-lone-* */
    bool later_round; /* in a loop, after its first round: for devices that break it there */
    bool left_out; /* of a body that was queued, and that a kernel then decided not to run */
    bool ready, turn, exited_all, started_all, triggered_any, triggered_all, done, retired;
    uint64_t done_at;
    struct grid *grid;
    struct move move; /* OP_COPY, OP_SET */
    bool of_value;    /* an OP_SET that is the write of a value */
    enum queued_by queued_by; /* for the devices batch-*, plain-call-*, cooperative-call-*, symbol-copy-* and peer-copy-* */
    struct {          /* OP_AWAIT; before: what stood there when it was queued */
        unsigned flags, polls;
        uint32_t before;
        uint64_t wanted;
        bool wide; /* all 64 bits of it */
    } await;
    struct {
        cudaHostFn_t call;
        cudaStreamCallback_t callback; /* instead, with the stream as its caller named it */
        cudaStream_t stream;
        void *data;
    } host;
    unsigned level;            /* for devices on which what a kernel sets is lost: how many graphs are around its own; */
    unsigned long long within; /* ... the handle of the innermost conditional node around it; */
    bool next_to_condition;    /* ... an edge leads from it to a conditional node */
    struct loop *loop; /* OP_JOIN: of a loop whose round ends here, of a node whose body is chosen here, or of a launch that begins */
};

/* On some broken devices a call moves no more than that. */
static inline size_t cut_at(size_t most, bool cuts, size_t bytes) { return cuts && bytes > most ? most : bytes; }

/* g: NULL for what is no kernel */
static inline bool has_long_args(const struct grid *g)
{
    return g != NULL && g->kernel->args_bytes > 1024;
}

static inline bool op_given(const struct op *op, unsigned attribute)
{
    return (op->given >> attribute & 1) != 0;
}

static inline bool op_is_hinted(const struct op *op, const struct hinted *h)
{
    return (h->window && op_given(op, cudaLaunchAttributeAccessPolicyWindow)) ||
           (h->scheduling && op_given(op, cudaLaunchAttributeClusterSchedulingPolicyPreference)) ||
           (h->map && op_given(op, cudaLaunchAttributeMemSyncDomainMap)) || (h->carve_out && op_given(op, 14)); /* older toolkits do not name it */
}

/* ---- blocks and threads ---- */

enum thread_state { THREAD_DONE, THREAD_RUNNABLE, THREAD_BARRIER, THREAD_MEETING, THREAD_WAIT, THREAD_PAUSE };

enum used { USED_NAMED = 1, USED_ACQUIRE = 2, USED_RELEASE = 4, USED_FRAME = 8, USED_WIDE = 16, USED_COMPARE = 32, USED_CONSTANT = 64,
            USED_LARGE_FRAME = 128 };

struct thread {
    struct coroutine *coroutine;
    struct block *block;
    enum thread_state state;
    unsigned index, place; /* in the block; in device.runnable */
    unsigned waits, triggers;
    unsigned fences, acquires;
    unsigned used; /* enum used, a bit each: for the devices whose waits return after one of these */
    unsigned named; /* the barrier at which it stands; 0: the one of all threads */
    unsigned barriers, meets; /* of its grid: to which it came; how many blocks have to have come before it goes on */
    uint64_t resting_since; /* clock of the first of a row of pauses; 0: did something else */
};

struct block {
    struct op *op; /* NULL: free slot */
    unsigned index, sm, threads, live, at_barrier;
    unsigned at_named[16]; /* threads that have come to each of these barriers */
    unsigned ended_named[16]; /* how often each of them has let go: for the device ninth-named-barrier-lets-go */
    bool triggered, late; /* late: what its wait covers had ended: for the device late-blocks-keep-lines */
    size_t shared_bytes;
    struct store_buffer *stores;
    struct block *next_of_grid;
    unsigned char *shared, *own; /* memory of the place; of the block: the same, except on broken devices */
    unsigned char *local, *frames; /* local memory of the threads, likewise */
    struct thread thread[MODEL_MAX_THREADS];
};

/* ---- memory ---- */

struct store { /* one aligned 64-bit word, some bytes of which are pending, a bit each */
    uint32_t word;
    unsigned char bytes, thread;
    bool wide; /* stored by one access of eight bytes or more */
    uint32_t epoch, named; /* the block's barriers before it: of all threads, and of some */
    uint64_t value;
};

struct store_buffer {
    uint64_t used; /* one bit per slot */
    uint64_t owner; /* serial of the op, index of the block */
    unsigned sm, place;
    uint32_t epoch, named;
    struct store_buffer *next;
    struct store slot[STORE_SLOTS];
};

struct line {
    uint32_t tag, generation;
    uint64_t by; /* the block that brought it in, as a store buffer's owner */
    uint64_t data[LINE_BYTES / 8];
};

struct sm {
    unsigned free_slots;
    size_t free_shared;
    uint32_t cached_generation, read_only_generation;
    uint32_t fenced; /* the generation that the last fence or acquire ended: for devices on which some loads still find it */
    struct line cached[LINES], read_only[LINES];
};

/* ---- pending moves with a time ---- */

enum act { ACT_START, ACT_FLUSH, ACT_WAKE };
struct timed {
    uint64_t at, order;
    enum act act;
    struct op *op;
    struct thread *thread;
};

/* A source of choices. The explorer replaces the seed's by an enumeration. */
struct explorer;

struct device {
    bool usable;
    const struct variant *variant;
    struct drawn drawn;
    bool other_thread; /* the call comes from another host thread than the first */
    bool unfired_destroyed; /* some event was destroyed before it fired: for the device fresh-event-not-ready */
    uint64_t failed_capture; /* the id of the last one: for the devices record-after-spoiled-lost and recaptured-program-event-lost */
    uint64_t edge_features; /* of the edge that is being made */
    struct faults faults;
    uint64_t random[2];
    struct explorer *explorer; /* NULL: seeded */

    uint64_t clock, tick;      /* 1/1024 ns; cost of one access */
    int burst;                 /* accesses left before the thread gives way */
    unsigned lazy, hit, drain; /* of 256: store is buffered, cached line is believed, buffer drains at a step */
    struct model_counts counts;
    uint64_t trace, serial, order;
    /* the serial at the last call of this kind: for the devices told-function-uncovers and such */
    uint64_t other_thread_at, told_function_at, told_memory_at, made_graph_at, pinned_memory_at, changed_graph_at, told_properties_at,
        printed_graph_at, told_pool_at, registered_at, other_launch_at;
    uint64_t host_waited; /* the serial of the last work that the host waited for: for the devices host-wait-ends-* */
    bool by_driver, in_piece; /* the driver is called to launch; and is given the arguments in one piece */
    bool graph_by_driver;     /* ... to launch a graph */
    enum queued_by queued_by; /* what is queued now */
    struct changed { /* who changed such words last, for two devices: a block (lost-compare-succeeds), a grid (reduction-behind-other-grid-lost) */
        const void *at;
        uint64_t by;
    } compared[64], reduced[64];
    const void *added_at;     /* the last addition; and the grid's serial: for the device add-behind-other-grid-lost */
    uint64_t added_by;
    bool source_during_call;  /* the copy that is queued reads its source before its call returns */

    unsigned sms, slots; /* slots for blocks on each SM */
    struct thread *current;
    struct thread *runnable[MOST_WORKERS * MODEL_MAX_THREADS];
    unsigned runnable_count;
    struct block block[MOST_WORKERS];
    struct sm sm[MODEL_MOST_SMS];

    struct op **placing; /* ready grids with blocks still to start */
    unsigned placing_count, placing_room;
    bool place_pending;
    uint64_t place_at;

    struct timed *timed;
    unsigned timed_count, timed_room;

    struct store_buffer **buffers; /* all that hold something or belong to a resident block */
    unsigned buffer_count, buffer_room;
    struct store_buffer *spare_buffers;

    uint64_t live_ops; /* submitted and not retired */
    cudaError_t sticky;
    bool deadlocked;
    int cc, runtime_version, driver_version;
    size_t largest_frame; /* bytes of local memory that a thread has had: for the device growing-frames-lost */
};

extern struct device device;

static inline unsigned workers(void)
{
    return device.sms * device.slots;
}

/* choices.c */
void choices_seed(uint64_t seed); /* choices.h has the choices */

/* drawn.c: does this effect of a drawn device act between these two? */
bool drawn_acts(enum effect effect, const struct op *op, const struct op *pred);

/* variants.c */
const struct variant *variant_find(const char *name);
const struct variant *variant_at(int index);

/* memory.c: the arena and the accesses */
void memory_reset(void);
void *memory_allocate(size_t bytes, bool pinned);
bool memory_free(void *p);
bool memory_contains(const void *p, size_t bytes);
bool memory_is_pinned(const void *p);
void memory_block_begins(struct block *block);
void memory_block_exits(struct block *block);
void memory_flush(struct op *op);
void memory_wait_returns(struct block *block);
void *memory_at_l2(void *p, size_t bytes, bool overtaken);
void memory_access_point(void);
void memory_drain(struct store_buffer *b, unsigned slot);
void memory_drop_lines(struct sm *sm, bool read_only_too);
void memory_drain_some(void);
void memory_drain_one(unsigned buffer, unsigned nth);
uint64_t memory_digest(const void *p);
/* Memory of these kinds: the last piece of each, for the devices managed-stores-lost, wait-keeps-named-lines and such. */
enum mark { MARK_MANAGED, MARK_COMBINED, MARK_NAMED, MARK_POOLED, MARK_OF_GRAPH, MARKS };
void memory_marks(enum mark mark, const void *p, size_t bytes); /* marks.c */
void memory_unmarks(uint32_t from); /* what begins there is freed */
void memory_unmark_all(void);
uint32_t memory_word(const void *p); /* memory.c */
bool memory_is_marked(enum mark mark, uint32_t word);
size_t memory_total(void);
void staging_ends(char *bytes); /* api_memory.c: frees what a copy has taken */
void op_shares_place(struct op *op); /* places.c */
/* places.c, for the device node-images-in-a-ring; of: the node that it was made of; launches: of its executable graph, so far */
void op_shares_image(struct op *op, const void *of, unsigned launches);
void op_shares_ring(struct op *op); /* places.c, for the devices *arguments-in-a-ring* */
size_t memory_in_use(void);

/* ops.c: life of an operation */
void ops_reset(void);
struct op *op_new(enum op_kind kind);
struct grid *grid_new(size_t args_bytes);
void op_after(struct op *op, struct op *pred, enum edge_kind kind);
void op_covers(struct op *op, struct op *pred);
bool op_reached(const struct op *op, enum edge_kind kind);
void op_submit(struct op *op);
void op_starts(struct op *op);
void op_flushes(struct op *op);
bool loop_goes_on(struct op *op); /* loops.c; false: op is done */
void loops_reset(void);
void condition_set_by(const struct op *op, unsigned long long handle, unsigned value); /* op: the kernel that sets it */
void op_block_started(struct op *op);
void op_block_triggered(struct op *op);
void op_block_exited(struct op *op);
void op_counts_as_triggered(struct op *op);
void ops_reclaim(void);

/* moves.c */
void move_memory(struct op *op);
void moves_reset(void);
void moves_end(void); /* what the device long-copy-ends-with-last-part has left of them; the host has waited */

/* values.c */
void values_reset(void);
bool value_is_there(const struct op *op);
void value_was_awaited(const struct op *op);
void note_moved(const struct op *op); /* these are for broken devices */
bool second_waits(const struct op *op);
void stores_arrive(void);
void stores_arrived(const struct op *op);
void value_arrives(struct op *op);

/* constants.c */
void constants_reset(void);
void constants_block_begins(const struct block *block);
size_t named_words_at(const void *p); /* api_symbols.c */
void constants_moved(const struct op *op); /* a copy or memset, of any memory */

/* atomics.c: for the device float-reductions-uncovered */
void reductions_reset(void);
void reductions_arrive(void);

/* What the host waited for, by its serial. */
static inline void host_waited(uint64_t serial)
{
    device.host_waited = serial > device.host_waited ? serial : device.host_waited;
}

/* waits.c */
bool all_threads_wait(const struct op *op); /* of the kernel: for the device poll-passes-waiting */
bool wait_may_return(const struct thread *thread);
bool before_open_wait(const struct thread *thread); /* the thread has not waited, and what a wait covers has not ended */

/* lines.c: for the broken devices */
bool others_were_there(struct block *block); /* whether a block of its grid was on its SM before */
bool others_stand_there(const struct block *block); /* a block of another kernel is on its SM */
void fence_and_keep(bool lines); /* fences.c: model_fence(); or one that leaves lines cached */
/* Devices on which loads of some widths find what was cached before. */
bool finds_dropped_line(const struct sm *sm, uint32_t word, unsigned bytes, uint64_t *found);
void drop_lines_of(struct sm *sm, uint64_t owner, bool of_grid); /* those that the block brought in, or all blocks of its grid */
void lines_stay(struct sm *sm); /* of some memory, at a wait */
const uint64_t *line_held(const void *p); /* as the cache of the thread's SM has the word; NULL: it has not, or the block has stored it */
void line_stays(const void *p); /* that an atomic has just dropped */

/* fences.c: for the broken devices */
bool is_far(uint32_t word);
bool store_is_lost(uint32_t word); /* that was left in a store buffer when its grid ended */

/* blocks.c: starting, running and ending blocks */
void blocks_reset(void);
bool block_fits(const struct op *op, unsigned sm);
void block_start(struct op *op, unsigned sm);
void thread_resume(struct thread *thread);
void thread_makes_runnable(struct thread *thread);
void thread_stalls(struct thread *thread, uint64_t delay);
void waiters_recheck(void);
/* from_waits: waits of running kernels return; else running kernels count as triggered. For the devices allocation-frees-waits and free-triggers. */
void blocks_let_go(bool from_waits);

/* scheduler.c: which move comes next, and until when */
struct timed timed_take(unsigned index);
void post(enum act act, struct op *op, struct thread *thread, uint64_t delay);
void scheduler_reset(void);
bool machine_step(void); /* false: no move is enabled */
void perform(enum act act, struct op *op, struct thread *thread);
cudaError_t run_until_retired(struct op *op);
cudaError_t run_until_done(const struct op *op); /* what it overlapped may go on: only for a broken device */
cudaError_t run_until_idle(void);
cudaError_t run_a_little(void);
void device_fails(cudaError_t error);
void thread_yields(void);

#endif
