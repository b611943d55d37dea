/* A virtual device that follows the rule book of programmatic dependent launch (PDL).
 *
 * The library pdl_model offers the cuda* symbols of the runtime and, behind them, a small nondeterministic machine.
 * It is not a simulator of hardware and says nothing about any GPU. Everything PDL allows is the seed's choice;
 * everything it forbids exists only in a named broken device.
 *
 * The machine
 *   4 multiprocessors (SMs) with 4 block slots and 64 KiB of shared memory each; blocks of at most 32 threads, warps of 4.
 *   A step is one enabled move: start a block, run a thread to its next access, make a store visible, flush a
 *   grid, complete it, start an operation. The clock counts nanoseconds and only moves inside calls that wait.
 *
 * The rules it follows (ids as in rules.toml, F numbers are hardware facts that the rule book records)
 *   ATTR-03  a kernel without attribute 6 starts after everything before it in its stream has completed, flushed.
 *   ATTR-05  attribute 6 with value 0 is the same as no attribute.
 *   ATTR-02  attribute 6 lets a kernel start once the kernel before it has triggered. Whether and when: the seed.
 *            Untimed event records in between do not matter. Where the documents leave open whether the attribute takes
 *            effect, the seed decides each time: after other work that is no kernel (AMB-16), on a cooperative launch
 *            (AMB-19), after an ordinary event in capture (AMB-09), which of two attributes counts (AMB-23).
 *   TRIG-01  a kernel has triggered when every block of it has triggered or exited ...
 *   TRIG-02  ... and a block that has not started has done neither.
 *   TRIG-05  further triggers of a block change nothing.
 *   TRIG-03  an exit counts as the block's trigger (F7).
 *   WAIT-01  the wait returns when every kernel it covers has completed and flushed. It covers the programmatic
 *            predecessors and what their own waits cover, whether or not they executed one (F10, F14).
 *   WAIT-04  a wait with nothing to cover returns at once; WAIT-05: so does a second one.
 *   WAIT-10  none of this needs a trigger in the predecessor.
 *   MEM-01   after the wait no load of that SM sees an older value, however it was cached before (F9).
 *   MEM-06   in a stream, work after a kernel that never waited is still after what that kernel overlapped
 *            (F11); in a graph built by hand a full edge from such a kernel covers that kernel alone (F13);
 *            capture adds the edges that keep the stream's order (F15).
 *   EVT-01   a programmatic event fires when all blocks triggered, EVT-02: or all started; or later, up to completion.
 *   EVT-09   a launch-completion event fires when all blocks started, or later; no wait covers it (F18).
 *   EVT-07   an ordinary event fires when everything before it in its stream has completed.
 *   EDGE-05  legal edges are (0,0,default), (2,0,default), (1,0,programmatic), (2,0,programmatic), the last three
 *            from a kernel, programmatic ones also to a kernel. EDGE-11 to 13: what capture makes of attributes.
 *   EDGE-23  updating an executable graph by other edge data is refused, or they are taken over: the seed decides.
 *   EDGE-25, EDGE-26  inside child graphs and bodies of conditional nodes edges mean the same.
 *   EDGE-27a a disabled node does nothing and keeps the order. COMP-12a: launches of one executable graph never overlap.
 *   COMP-17a memory that was freed in a stream is given to that stream again, and to others once its users have ended.
 *   COMP-17b a value is written when all before it in its stream has completed; a wait for one polls until it is there.
 *   FWD-03   blocks of a dependent never start before all blocks of the kernel it overlaps have started.
 *
 * Memory
 *   A store sits in its block's store buffer until a fence, the flush after the grid's last exit, or the seed's
 *   choice makes it visible. Loads see their own block's stores. Cached loads may hit a line that their SM filled earlier;
 *   a fence drops cached lines, a wait and a block's start drop read-only lines as well. Relaxed loads, atomics and
 *   relaxed stores act on the L2 at once, as does everything the host does.
 *
 * Deadlock is found when no move is enabled. The call that was waiting gets cudaErrorLaunchTimeout, which then sticks.
 *
 * One process, any number of host threads (every call takes one lock). Handles die at model_reset. */
#ifndef PDL_MODEL_H
#define PDL_MODEL_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_SMS = 4, MODEL_SLOTS = 4, MODEL_MOST_SMS = 132, MODEL_MOST_SLOTS = 8, MODEL_MAX_THREADS = 32, MODEL_WARP = 4 };
enum { MODEL_MAX_DEVICES = 8 };
enum { MODEL_BLOCK_SHARED = 48 * 1024, MODEL_SM_SHARED = 64 * 1024, MODEL_FRAME = 4096 /* bytes of local memory of a thread */, MODEL_MAX_ATTRS = 32 };

/* Back to an empty device. variant: a name of the list below, NULL or "" for the conforming device. An unknown name
 * leaves the device unusable: every call returns cudaErrorNoDevice. */
void model_reset(const char *variant, uint64_t seed);

/* The size of the device: MODEL_SMS and MODEL_SLOTS, unless the environment variables PDL_MODEL_SMS and PDL_MODEL_SLOTS
 * say otherwise at the reset. A number out of range leaves the device unusable. */
unsigned model_sms(void);

/* The named devices; index 0 to model_variant_count() - 1. Rule: the id it violates, "" for a conforming one. */
/* Is there such a device: named here, or of the grammar of drawn.h? */
int model_variant_known(const char *name);
/* The words of that grammar, separated by spaces. */
const char *model_drawn_features(void);
const char *model_drawn_effects(void);
int model_variant_count(void);
const char *model_variant_name(int index);
int model_variant_conforming(int index);
const char *model_variant_rule(int index);
const char *model_variant_text(int index);

/* Every accepted kernel launch since the reset (captured ones too), oldest first; the last 4,096 are kept. */
struct model_launch {
    const void *func;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    cudaStream_t stream;
    unsigned num_attrs;
    cudaLaunchAttribute attrs[MODEL_MAX_ATTRS];
};
unsigned model_launch_count(void);
const struct model_launch *model_launch_at(unsigned index);

/* Times a cuda* symbol was called since the reset, the failed calls included. */
unsigned model_call_count(const char *symbol);
/* Pretend another compute capability. Below 9.0 nothing overlaps and triggers and waits do nothing. */
void model_set_cc(int major, int minor);
/* Pretend that there are several devices, each with a compute capability of its own, and that a function has another image
 * on one of them. They share one machine, so only queries and the permission to overlap differ. One device after a reset. */
void model_set_devices(int count);
void model_set_cc_of(int index, int major, int minor);
void model_set_image(const void *func, int index, int ptx_version);
/* Pretend other versions for cudaRuntimeGetVersion and cudaDriverGetVersion; 0 keeps the one in force. */
void model_set_versions(int runtime, int driver);
/* The next call of that symbol returns this error and does nothing. */
void model_fail_next(const char *symbol, cudaError_t error);
/* 1 after a deadlock, until the reset. */
int model_deadlocked(void);

/* What the machine did since the reset: a digest of all moves and loaded values, and counts. */
struct model_counts {
    uint64_t accesses, moves, clock_ns, grids, overlaps, buffered_stores, stale_hits;
};
uint64_t model_trace(void);
void model_get_counts(struct model_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
