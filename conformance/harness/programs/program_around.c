/* program_around.c - what stands in the stream of a graph before it and after it. A node that nothing in its graph orders comes after all
 * work before the graph, and work after the graph comes after all of its nodes. */
#include "program.h"

#include <string.h>

#include "../words.h"
#include "try.h"

#define LAUNCHED_AHEAD 2u
#define LAUNCHED_AROUND 2u

/* What a plan is told of a step. */
static uint32_t watched(const struct program *p, unsigned step)
{
    /* A kernel says itself that it has begun; of a memset or a copy the first word that it writes does. */
    uint32_t word = (p->step[step].begin + 3) / 4 < PROGRAM_WORDS ? (p->step[step].begin + 3) / 4 : 0;

    return step | (p->step[step].kind == STEP_KERNEL ? 0 : STEP_OF_WORDS | word << STEP_WORD_SHIFT);
}

static void fill_plan(const struct made *made, unsigned i, struct step_plan *plan)
{
    const struct program_room *room = made->room;
    const struct program *p = made->program;
    unsigned w, r;

    plan->key = room->key;
    plan->step = i;
    plan->flags = room->blind ? p->step[i].flags & ~STEP_WAITS : p->step[i].flags;
    plan->hold_ns = p->step[i].hold_ns;
    plan->reads = p->step[i].reads;
    for (r = 0; r < p->step[i].reads; r++)
        plan->read[r] = p->step[i].read[r] | (program_is_on_host(&p->step[p->step[i].read[r]]) ? STEP_OF_HOST : 0);
    plan->watches = p->step[i].watches;
    for (w = 0; w < plan->watches; w++)
        plan->watch[w] = watched(p, p->step[i].watch[w]);
}

static void fill_staging(const struct made *made)
{
    struct program_room *room = made->room;
    struct program_staging *staging = room->staging;
    unsigned i, w;

    memset(staging->plan, 0, sizeof(staging->plan));
    memset(staging->host_runs, 0, sizeof(staging->host_runs));
    for (i = 0; i < made->program->steps; i++) {
        fill_plan(made, i, &staging->plan[i]);
        for (w = 0; w < PROGRAM_WORDS; w++) {
            staging->data[i][w] = staging->on_host[i][w] = program_poison(room->key, i);
            staging->given[i][w] = program_given(room->key, i, w);
        }
        staging->mark[i] = made->left_out >> i & 1 ? (uint32_t)room->key + i : 0; /* no host step has to wait for it */
    }
    staging->ahead_mark[0] = (uint32_t)room->key; /* nothing has to be awaited */
}

static void begin_run(struct made *made)
{
    made->room->key = dice_roll(&made->dice);
    made->room->host_wrong = 0;
    fill_staging(made);
}

/* Plans and words of these steps. */
static cudaError_t upload(const struct made *made, unsigned first, unsigned end, cudaStream_t stream)
{
    struct program_room *room = made->room;
    size_t plans = (end - first) * sizeof(struct step_plan), words = (end - first) * STEP_BYTES;

    TRY(cudaMemcpyAsync(room->plan + first, room->staging->plan + first, plans, cudaMemcpyHostToDevice, stream));
    TRY(cudaMemcpyAsync(room->plan + PROGRAM_STEPS + first, room->staging->plan + first, plans, cudaMemcpyHostToDevice, stream));
    if (made->loops)
        TRY(cudaMemcpyAsync(room->kept + first * PROGRAM_WORDS, room->staging->data + first, words, cudaMemcpyHostToDevice, stream));
    return cudaMemcpyAsync(room->data + first * PROGRAM_WORDS, room->staging->data + first, words, cudaMemcpyHostToDevice, stream);
}

static cudaError_t forget_began(const struct program_room *room, cudaStream_t stream)
{
    return cudaMemcpyAsync(room->began, room->staging->none, sizeof(room->staging->none), cudaMemcpyHostToDevice, stream);
}

/* The first one triggers at once and holds so long; a second one may overlap it. */
static cudaError_t upload_ahead(struct program_room *room, uint32_t hold_ns, cudaStream_t stream)
{
    unsigned i;

    memset(room->staging->ahead, 0, sizeof(room->staging->ahead));
    for (i = 0; i < LAUNCHED_AHEAD; i++) {
        room->staging->ahead[i].key = room->key;
        room->staging->ahead[i].step = i;
        room->staging->ahead[i].flags = STEP_TRIGGERS_FIRST;
        room->staging->ahead[i].hold_ns = i ? 0 : hold_ns;
    }
    return cudaMemcpyAsync(room->ahead_plan, room->staging->ahead, sizeof(room->staging->ahead), cudaMemcpyHostToDevice, stream);
}

cudaError_t program_prepare(struct made *made)
{
    begin_run(made);
    TRY(upload(made, 0, made->program->steps, made->room->stream));
    TRY(forget_began(made->room, made->room->stream));
    TRY(upload_ahead(made->room, 10 * made->room->size.hold_ns, made->room->stream));
    return cudaStreamSynchronize(made->room->stream);
}

/* ---- before the graph ---- */

static void fill_args(const struct program_room *room, unsigned nth, uint32_t *words, struct kernel_args *args)
{
    args->plan = (const struct trial_plan *)(const void *)(room->ahead_plan + nth);
    args->data = args->input = words;
    args->primary_sm = words + LAUNCHED_AHEAD * PROGRAM_WORDS;
    args->dependent_sm = args->primary_sm + LAUNCHED_AHEAD;
    args->state = room->state;
    args->seen = words + AHEAD_WORDS - LAUNCHED_AHEAD;
}

/* The second of them overlaps what stands before it, unless it records an event. */
static cudaError_t launch_small(const struct program_room *room, unsigned nth, struct kernel_args *args, cudaStream_t stream, cudaEvent_t event)
{
    cudaLaunchAttribute attr;
    cudaLaunchConfig_t config = PDL_ZERO;
    void *values[1];
    unsigned n = 0;

    values[0] = args;
    config.gridDim.x = config.gridDim.y = config.gridDim.z = 1;
    config.blockDim.x = config.blockDim.y = config.blockDim.z = 1;
    config.stream = stream;
    if (event)
        program_add_event(&attr, &n, event, (room->key & 1) != 0);
    else if (nth)
        program_add_attribute(&attr, &n, cudaLaunchAttributeProgrammaticStreamSerialization)->programmaticStreamSerializationAllowed = 1;
    config.attrs = n ? &attr : NULL;
    config.numAttrs = n;
    return cudaLaunchKernelExC(&config, room->kernel[0], values);
}

static cudaError_t launch_ahead(const struct program_room *room, unsigned nth, cudaStream_t stream, cudaEvent_t event)
{
    const struct program_staging *device = (const struct program_staging *)(const void *)room->mapped;
    struct kernel_args args = PDL_ZERO;

    fill_args(room, nth, room->ahead, &args);
    args.seen = (uint32_t *)(uintptr_t)device->ahead_mark;
    return launch_small(room, nth, &args, stream, event);
}

cudaError_t program_launch_elsewhere(const struct made *made, cudaStream_t stream)
{
    const struct program_room *room = made->room;
    struct kernel_args args = PDL_ZERO;

    fill_args(room, 1, room->ahead + AHEAD_WORDS, &args);
    TRY(launch_small(room, 1, &args, stream, NULL));
    return launch_small(room, 1, &args, stream, NULL);
}

/* With the attribute a kernel after the graph may begin before what is queued here. */
static int begins_early(const struct made *made)
{
    unsigned i;

    for (i = made->behind_step; i < made->before_step; i++)
        if (made->program->step[i].attribute)
            return 1;
    return 0;
}

cudaError_t program_prepare_behind(struct made *made, cudaStream_t stream)
{
    struct program_room *room = made->room;
    unsigned i, launches = 1 + dice_below(&made->dice, LAUNCHED_AHEAD);
    int early = begins_early(made);

    begin_run(made);
    if (early) {
        TRY(upload(made, made->behind_step, made->before_step, stream));
        TRY(forget_began(room, stream));
        TRY(cudaStreamSynchronize(stream));
    }
    room->staging->ahead_mark[0] = 0;
    TRY(upload_ahead(room, 3 * room->size.hold_ns, stream));
    for (i = 0; i < launches; i++)
        TRY(launch_ahead(room, i, stream, NULL));
    TRY(upload(made, 0, early ? made->behind_step : made->before_step, stream));
    if (made->before_step < made->program->steps)
        TRY(upload(made, made->before_step, made->program->steps, stream));
    if (!early)
        TRY(forget_began(room, stream));
    TRY(cudaEventRecord(room->prepared, stream));
    return cudaStreamWaitEvent(room->side, room->prepared, 0);
}

cudaError_t program_hold(const struct made *made, cudaStream_t stream) { return launch_ahead(made->room, 0, stream, NULL); }

cudaError_t program_record_by_launch(const struct made *made, cudaStream_t stream, cudaEvent_t event)
{
    return launch_ahead(made->room, 1, stream, event);
}

/* ---- an earlier launch of the graph ---- */

uint32_t *program_decoy_words(const struct program_room *room) { return room->data + PROGRAM_STEPS * PROGRAM_WORDS; }

cudaError_t program_launch_earlier(const struct made *made, cudaGraphExec_t exec)
{
    const struct program_room *room = made->room;

    TRY(cudaStreamWaitEvent(room->apart, room->prepared, 0));
    TRY(launch_ahead(room, 0, room->apart, NULL));
    return cudaGraphLaunch(exec, room->apart);
}

cudaError_t program_see_earlier(const struct made *made, cudaStream_t stream)
{
    return cudaMemcpyAsync(program_seen(made->room, COPY_OF_DECOY), program_decoy_words(made->room), made->program->steps * STEP_BYTES,
                           cudaMemcpyDeviceToDevice, stream);
}

/* ---- kernels before the graph and after it ---- */

static int has_words(const struct step *step) { return step->kind != STEP_EMPTY && step->kind != STEP_RECORD; }

static struct step *draw_around(struct made *made, struct program *program, unsigned i, int attribute)
{
    struct step *step = &program->step[i];

    program_draw_launch(step, &made->dice, &made->room->size, dice_below(&made->dice, 1u << 16));
    step->kind = STEP_KERNEL;
    step->cooperative = 0;
    step->attribute = attribute;
    return step;
}

/* Of two the first one holds longer, and the second one may overlap it: the graph begins after both. All of its kernels may read them. */
static void draw_before(struct made *made, struct program *program, unsigned i, int attribute)
{
    int first = i == made->before_step;
    struct step *step = draw_around(made, program, i, attribute && !first);
    unsigned k;

    if (first)
        step->hold_ns *= 2;
    else if (!step->attribute || (step->flags & STEP_WAITS))
        program_add_read(step, made->before_step);
    for (k = 0; k < made->behind_step; k++) {
        if (program->step[k].kind == STEP_KERNEL)
            program_add_read(&program->step[k], i);
        if (program->step[k].kind == STEP_KERNEL && program_is_root(program, k))
            program_add_watch(program, i, k);
    }
}

/* With the attribute it may begin before the graph has ended, so it has few blocks of little shared memory: they wait, and leave room for those
 * that they wait for. It reads if it waits; the first one always does, so that the second one's wait covers the graph, too. Without the attribute
 * none of the graph's kernels is still running when it begins. */
static void draw_behind(struct made *made, struct program *program, unsigned i, int attribute)
{
    int first = i == made->behind_step;
    struct step *step = draw_around(made, program, i, attribute);
    unsigned from = first ? dice_below(&made->dice, program->steps) : made->behind_step, k;

    if (attribute && first)
        step->flags |= STEP_WAITS;
    if (attribute) {
        memcpy(step->grid, step->cluster, sizeof(step->grid));
        step->shared_bytes = step->shared_bytes ? 1024 : 0;
    }
    for (k = 0; k < program->steps && (!attribute || (step->flags & STEP_WAITS)); k++, from = (from + 1) % program->steps)
        if (has_words(&program->step[from]) && (from < i || from >= made->before_step))
            program_add_read(step, from);
    for (k = 0; k < i && !attribute; k++)
        program_add_watch(program, k, i);
}

void program_add_around(struct made *made, struct program *program, int copies_only, int attributes)
{
    int kernels = !copies_only && !made->room->alone && program->steps + 2 * LAUNCHED_AROUND <= PROGRAM_STEPS;
    unsigned behind = kernels && dice_below(&made->dice, 2) ? 1 + dice_below(&made->dice, LAUNCHED_AROUND) : 0;
    unsigned before = kernels && dice_below(&made->dice, 2) ? 1 + dice_below(&made->dice, LAUNCHED_AROUND) : 0, i;

    made->behind = behind ? BEHIND_KERNEL : dice_below(&made->dice, 2) ? BEHIND_COPY : BEHIND_EVENT;
    made->behind_step = program->steps;
    made->before_step = program->steps + behind;
    program->steps += behind + before;
    program->first = before ? made->before_step : 0;
    attributes = attributes && !made->room->blind;
    for (i = made->before_step; i < program->steps; i++)
        draw_before(made, program, i, attributes && dice_below(&made->dice, 2));
    for (i = made->behind_step; i < made->before_step; i++)
        draw_behind(made, program, i, attributes && dice_below(&made->dice, 2));
}

static cudaError_t launch_steps(const struct made *made, unsigned first, unsigned end, cudaStream_t stream, struct dice *dice)
{
    unsigned i;

    for (i = first; i < end; i++)
        TRY(program_launch_step(made, i, stream, NULL, LINK_FULL, dice));
    return cudaSuccess;
}

cudaError_t program_launch_before(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    return launch_steps(made, made->before_step, made->program->steps, stream, dice);
}

cudaError_t program_launch_behind(const struct made *made, cudaStream_t stream, struct dice *dice)
{
    struct program_room *room = made->room;
    cudaStream_t in = stream;

    if (made->behind == BEHIND_KERNEL)
        return launch_steps(made, made->behind_step, made->before_step, stream, dice);
    if (made->behind == BEHIND_EVENT) {
        in = room->relay;
        TRY(cudaEventRecord(room->prepared, stream));
        TRY(cudaStreamWaitEvent(in, room->prepared, 0));
    }
    TRY(cudaMemcpyAsync(program_seen(room, COPY_BEHIND), room->data, made->program->steps * STEP_BYTES, cudaMemcpyDeviceToDevice, in));
    return in == stream ? cudaSuccess : cudaStreamSynchronize(in);
}

const uint32_t *program_seen_behind(const struct made *made)
{
    return made->behind == BEHIND_COPY || made->behind == BEHIND_EVENT ? program_seen(made->room, COPY_BEHIND) : NULL;
}
