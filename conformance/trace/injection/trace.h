/* trace.h - what the parts of the tracing library share
 *
 * The library is put in front of a program with LD_PRELOAD. It notes every launch and every other operation on a stream,
 * walks each graph when it is instantiated, and takes the kernels' times from CUPTI's activity records, which leave
 * kernels concurrent. It writes one file of JSON lines per process; README.md lists the records.
 */
#ifndef PDL_TRACE_H
#define PDL_TRACE_H

#include "interpose.h"
#include "launches.h"
#include "record.h"

/* What an operation on a stream is. records.c holds the words that the file uses. */
enum operation {
    OP_LAUNCH, OP_GRAPH, OP_MEMSET, OP_COPY, OP_HOST, OP_EVENT, OP_TIMED_EVENT, OP_WAIT_EVENT, OP_ALLOCATE, OP_FREE,
    OP_MEMORY_VALUE, OP_SYNCHRONIZE, OP_CAPTURE_BEGIN, OP_CAPTURE_END, OPERATIONS
};

enum launch_flag {
    ASKED_OVERLAP = 1, ASKED_COOPERATIVE = 2, ASKED_CLUSTER = 4, ASKED_EVENT = 8, ASKED_COMPLETION_EVENT = 16,
    IN_CAPTURE = 32, ASKED_UPDATABLE = 64, FIRST_OF_KERNEL = 128, NOT_SAMPLED = 256
};

struct event {
    uint64_t begin, end; /* host clock, ns */
    uint64_t detail;     /* the event that is recorded or waited for; of a graph launch the instantiation's number */
    uint32_t thread, stream, kernel;
    uint32_t grid[3], block[3], shared;
    uint32_t flags;
    int32_t carveout; /* asked for by this launch; -2: not asked */
    uint16_t operation;
    int16_t code; /* what the driver answered */
};

/* records.c */
int trace_is_on(void);
void trace_start(void); /* at the first call of the driver; later calls do nothing */
uint64_t host_now(void);
uint32_t thread_number(void);
void note_event(const struct event *event);
void write_block(const char *text, size_t bytes); /* whole lines */
const char *trace_folder(void);

/* handles.c: numbers that stand for handles in the file, written out when first seen */
uint32_t kernel_number(const void *handle, int *first);
const char *kernel_name(const void *handle); /* NULL if the driver does not say */
uint32_t stream_number(const void *stream, int per_thread);
void kernel_changed(const void *handle, int attribute); /* one of the driver's attributes was set */
void forget_kernels(void);
void forget_stream(const void *stream);
void event_created(const void *event, unsigned flags);
int event_is_timed(const void *event);

/* graphs.c */
void graph_instantiated(const void *exec, void *graph);
void graph_changed(const void *exec, void *graph);
void graph_destroyed(const void *exec);
uint32_t exec_number(const void *exec);

/* hooks.c */
extern struct hook trace_hooks[];
extern const size_t trace_hook_count;

/* Only the library of `whatif` defines these: whether a launch gets the attribute, and which graph is instantiated instead. */
#define WEAK __attribute__((weak))
WEAK int whatif_asks(uint32_t kernel, const void *function, unsigned flags);
WEAK void *whatif_graph(void *graph);
WEAK void whatif_instantiated(const void *exec, void *graph, void *instead);

/* Only the library of `trace --inside` defines this: writes what the kernels recorded. Called when the program ends. */
WEAK void inside_write(void);

/* activity.c: CUPTI, found at run time; without it there are no times of the device */
void activity_start(void);
void activity_flush(int all);
int activity_sampled(int operation); /* whether this launch is timed; with --sample not every one is */
uint64_t activity_now(void); /* CUPTI's clock, 0 without CUPTI */
int64_t activity_stream_id(void *context, const void *stream, int per_thread);
int64_t activity_node_id(const void *node);
int64_t activity_exec_id(const void *exec);

#endif
