/* Stream capture: which nodes and edges the calls in a capturing stream become. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

static struct capture *captures;
static unsigned long long capture_ids;

struct capture *capture_new(void)
{
    struct capture *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->id = device.faults.capture_ids_repeat ? 1 : ++capture_ids;
    c->next = captures;
    captures = c;
    return c;
}

void capture_id_again(void)
{
    capture_ids--;
}

static void lane_free(struct lane *l)
{
    l->stream->capture = NULL;
    l->stream->has_captured = true;
    if (device.faults.end_resets_domain)
        memset(&l->stream->attribute[10], 0, sizeof l->stream->attribute[10]);
    free(l->half);
    free(l->behind);
    free(l);
}

void capture_free(struct capture *c)
{
    while (c->lanes != NULL) {
        struct lane *next = c->lanes->next;
        lane_free(c->lanes);
        c->lanes = next;
    }
    for (struct capture **at = &captures; *at != NULL; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    free(c->answer_nodes);
    free(c->answer_data);
    free(c);
}

void captures_reset(void)
{
    while (captures != NULL)
        capture_free(captures);
    capture_ids = 0;
    thread_mode_reset();
}

/* An event that was destroyed means nothing to the capture that recorded it, but on two devices. */
void capture_loses_event(const struct event *e)
{
    struct capture *c = e->recorded == RECORDED_IN_CAPTURE ? captures : NULL;
    while (c != NULL && c->id != e->capture_id)
        c = c->next;
    if (c == NULL)
        return;
    c->invalid |= device.faults.destroyed_event_spoils_capture;
    for (struct lane *l = c->lanes; l != NULL && device.faults.destroyed_event_unjoins; l = l->next)
        for (unsigned k = 0; k < e->captured_count; k++)
            if (l->stream != c->origin && l->halves == 1 && l->half[0].node == e->captured[k].node)
                l->halves = 0;
}

struct capture *capture_of_id(unsigned long long id)
{
    struct capture *c = captures;
    while (c != NULL && c->id != id)
        c = c->next;
    return c;
}

bool capture_is_active(void)
{
    return captures != NULL;
}

bool capture_is_of_mode(enum cudaStreamCaptureMode mode)
{
    const struct capture *c = captures;
    while (c != NULL && c->mode != mode)
        c = c->next;
    return c != NULL;
}

bool capture_is_of_others(void)
{
    const struct capture *c = captures;
    while (c != NULL && pthread_equal(c->thread, pthread_self()))
        c = c->next;
    return c != NULL;
}

bool capture_in_mode(const struct stream *s, enum cudaStreamCaptureMode mode)
{
    return s->capture != NULL && s->capture->mode == mode;
}

void capture_invalidate(struct capture *c)
{
    c->invalid = true;
}

void capture_invalidate_all(void)
{
    for (struct capture *c = captures; c != NULL; c = c->next)
        capture_invalidate(c);
}

bool capture_broken(const struct stream *s)
{
    return s->capture != NULL && s->capture->invalid;
}

struct graph *capture_graph(struct stream *s)
{
    return device.faults.captures_mix ? captures->graph : s->capture->graph;
}

/* ---- lanes ---- */

struct lane *lane_of(struct capture *c, struct stream *s)
{
    for (struct lane *l = c->lanes; l != NULL; l = l->next)
        if (l->stream == s)
            return l;
    struct lane *l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    l->stream = s;
    l->next = c->lanes;
    c->lanes = l;
    s->capture = c;
    return l;
}

void capture_cuts(struct stream *s)
{
    struct lane *l = lane_of(s->capture, s);
    l->halves = l->behinds = 0;
}

void lane_depends(struct lane *l, struct half_edge h)
{
    for (unsigned i = 0; i < l->halves; i++)
        if (l->half[i].node == h.node) {
            bool own = edge_is_default(l->half[i].data) && !l->half[i].kept_default && h.of_event;
            if (edge_is_default(h.data) || device.faults.last_dependency_counts || (device.faults.own_captured_event_frees && own)) /* the stronger order wins */
                l->half[i] = h;
            return;
        }
    if (device.faults.seventeenth_half_lost && l->halves >= 16)
        return;
    if (l->halves == l->half_room) {
        l->half_room = l->half_room != 0 ? 2 * l->half_room : 8;
        l->half = realloc(l->half, l->half_room * sizeof *l->half);
        if (l->half == NULL)
            abort();
    }
    l->half[l->halves++] = h;
}

static void lane_remembers(struct lane *l, struct node *n)
{
    for (unsigned i = 0; i < l->behinds; i++)
        if (l->behind[i] == n)
            return;
    if (device.faults.fifth_overlapped_lost && l->behinds >= 4)
        return;
    if (device.faults.captured_row_of_128_lost && l->behinds >= 128)
        memmove(l->behind, l->behind + 1, --l->behinds * sizeof *l->behind);
    if (l->behinds == l->behind_room) {
        l->behind_room = l->behind_room != 0 ? 2 * l->behind_room : 8;
        l->behind = realloc(l->behind, l->behind_room * sizeof(struct node *));
        if (l->behind == NULL)
            abort();
    }
    l->behind[l->behinds++] = n;
}

static void lane_restarts_at(struct lane *l, struct node *n)
{
    l->halves = 0;
    l->set = false;
    struct half_edge h = {n, full_edge, false, false};
    lane_depends(l, h);
}

/* ---- nodes ---- */

/* EDGE-11 to EDGE-13, F21 to F24: the data of the edge from a half-edge to the new node */
static edge_data joined(const struct half_edge *h, const struct node *n, bool programmatic)
{
    edge_data d = h->data;
    bool kernels = h->node->type == cudaGraphNodeTypeKernel && n->type == cudaGraphNodeTypeKernel;
    if (programmatic && (device.faults.captured_attribute_full || (device.faults.other_thread_captures_full && device.other_thread) ||
                         (device.faults.body_capture_attribute_full && n->graph->owner != NULL)))
        return full_edge;
    if (programmatic && (kernels || device.faults.captured_anywhere)) {
        d.from_port = cudaGraphKernelNodePortProgrammatic;
        d.type = cudaGraphDependencyTypeProgrammatic;
    } else if (!kernels) {
        return full_edge; /* EDGE-05: programmatic only between kernels */
    }
    return d;
}

static bool is_programmatic(const struct half_edge *h)
{
    return h->data.type == cudaGraphDependencyTypeProgrammatic;
}

/* What is no kernel, after the programmatic event of one */
static bool waits_for_program(const struct lane *l, const struct node *n)
{
    return n->type != cudaGraphNodeTypeKernel && l->halves == 1 && is_programmatic(&l->half[0]);
}

/* For the device spoiled-data-stay. */
static void lane_takes_left(struct lane *l, const struct node *n)
{
    bool kernels = n->type == cudaGraphNodeTypeKernel && l->halves != 0 && l->half[0].node->type == cudaGraphNodeTypeKernel;
    if (kernels && !edge_is_default(l->stream->left_data))
        l->half[0].data = l->stream->left_data;
    l->stream->left_data = full_edge;
}

static cudaError_t attach(struct stream *s, struct node *n, bool programmatic)
{
    bool beside = (device.faults.later_capture_passes_overlapped && s->capture->next != NULL) ||
                  (device.faults.older_capture_passes_overlapped && s->capture != captures);
    if (beside && !programmatic)
        lane_of(s->capture, s)->behinds = 0;
    struct lane *l = lane_of(s->capture, s);
    struct graph *g = s->capture->graph;
    bool crowded = (device.faults.captured_1026th_free && g->nodes > 1025) ||
                   (device.faults.third_capture_unordered && s->capture->next != NULL && s->capture->next->next != NULL);
    unsigned captures_before = 0;
    for (const struct capture *c = s->capture; device.faults.ninth_capture_unordered && c != NULL; c = c->next)
        captures_before++;
    crowded |= captures_before > 8;
    l->halves = crowded ? 0 : l->halves;
    n->captured = true;
    if (device.faults.set_dependencies_passed && programmatic && l->set && l->last != NULL)
        lane_restarts_at(l, l->last);
    programmatic &= !s->left_set;
    if (l->last != NULL)
        lane_takes_left(l, n);
    l->set = false;
    l->last = n;
    bool all_programmatic = l->halves != 0, events_too = programmatic && reads_boldly(); /* AMB-09 */
    l->halves = device.faults.captured_waiter_cut && waits_for_program(l, n) ? 0 : l->halves;
    for (unsigned i = 0; i < l->halves; i++) {
        l->half[i].data = joined(&l->half[i], n, programmatic && (events_too || !l->half[i].kept_default));
        all_programmatic &= is_programmatic(&l->half[i]);
    }
    for (unsigned i = 0; i < l->halves; i++) {
        cudaError_t error = graph_connect(g, l->half[i].node, n, l->half[i].data);
        if (error != cudaSuccess)
            return error;
        g->arc[g->arcs - 1].of_event = l->half[i].of_event;
        g->arc[g->arcs - 1].rejoins = l->half[i].kept_default;
    }
    bool relaxed = device.faults.relaxed_capture_loses_order && s->capture->mode == cudaStreamCaptureModeRelaxed;
    if (!all_programmatic && !relaxed && !device.faults.capture_loses_order) {
        for (unsigned i = 0; i < l->behinds; i++)
            graph_connect(g, l->behind[i], n, full_edge); /* refused if there is an edge already */
        l->behinds = 0;
    }
    for (unsigned i = 0; i < l->halves; i++)
        if (is_programmatic(&l->half[i]) && !(device.faults.joined_overlapped_lost && i > 0))
            lane_remembers(l, l->half[i].node);
    lane_restarts_at(l, n);
    return cudaSuccess;
}

/* Whether a node is captured at all; on broken devices it is not, or it comes after less than it should. */
static bool is_captured(struct stream *s, const struct node *n)
{
    const struct faults *f = &device.faults;
    struct lane *l = lane_of(s->capture, s);
    bool record = n->type == cudaGraphNodeTypeEventRecord, per_thread = s == stream_of(cudaStreamPerThread);
    bool forked = s->capture->origin != s, blocking = (s->flags & cudaStreamNonBlocking) == 0;
    if (record && ((f->relaxed_external_lost && s->capture->mode == cudaStreamCaptureModeRelaxed) || (f->per_thread_external_lost && per_thread)))
        return false;
    if (record && f->external_behind_one && l->halves > 1)
        l->halves = 1;
    if ((record && f->external_passes_overlapped) || (n->type == cudaGraphNodeTypeWaitEvent && f->external_wait_passes_overlapped))
        l->behinds = 0;
    if ((f->captured_free_passes_row && n->type == cudaGraphNodeTypeMemFree) || (f->captured_value_passes_row && n->type == NODE_OF_VALUE))
        l->behinds = 0;
    if ((f->forked_set_unordered && n->type == cudaGraphNodeTypeMemset && forked && blocking) ||
        (f->forked_copy_unordered && n->type == cudaGraphNodeTypeMemcpy && forked && blocking) ||
        (f->urgent_captured_copy_free && n->type == cudaGraphNodeTypeMemcpy && s->priority < 0) ||
        (f->forked_host_unordered && n->type == cudaGraphNodeTypeHost && forked && per_thread))
        l->halves = 0;
    bool copies = n->type == cudaGraphNodeTypeMemcpy, is_short = n->move.bytes < 16 && n->move.rows == 1 && n->move.layers <= 1;
    if (f->captured_short_set_free && n->type == cudaGraphNodeTypeMemset && is_short && n->move.width == 1)
        l->halves = 0;
    if (copies && ((f->captured_short_copy_free && is_short) || (f->captured_single_layer_free && n->move.layers == 1)))
        l->halves = 0;
    if (f->captured_long_copy_joins_one && copies && n->move.bytes > 65536 && l->halves > 1)
        l->halves = 1;
    bool moves = n->type == cudaGraphNodeTypeMemset || n->type == cudaGraphNodeTypeMemcpy;
    if ((f->per_thread_fork_unorders_moves && moves && forked && s->capture->origin == stream_of(cudaStreamPerThread)) ||
        (f->local_capture_unorders_copies && n->type == cudaGraphNodeTypeMemcpy && s->capture->mode == cudaStreamCaptureModeThreadLocal))
        l->halves = 0;
    return true;
}

cudaError_t capture_node(struct stream *s, struct node *n)
{
    if (!capture_broken(s) && !is_captured(s, n))
        return cudaSuccess;
    return capture_broken(s) ? cudaErrorStreamCaptureInvalidated : attach(s, n, false);
}

void event_holds(struct event *e, struct stream *s, const struct half_edge *half, unsigned halves)
{
    free(e->captured);
    e->captured = calloc(halves + 1, sizeof *e->captured);
    if (e->captured == NULL)
        abort();
    if (halves != 0)
        memcpy(e->captured, half, halves * sizeof *half);
    e->captured_count = halves;
    e->recorded = RECORDED_IN_CAPTURE;
    e->op = NULL;
    e->captured_in = s;
    e->captured_waits = 0;
    e->capture = s->capture;
    e->capture_id = s->capture->id;
}

/* Devices on which the programmatic event of a captured launch becomes a full edge, or one at block starts one at the trigger */
static bool event_becomes_full(const struct stream *s, const struct node *n, const struct event *e)
{
    const struct faults *f = &device.faults;
    return f->captured_event_full || (f->forked_event_full && s->capture->origin != s) || (f->urgent_event_full && s->priority != 0) ||
           (f->sleeping_event_full && (e->flags & cudaEventBlockingSync) != 0) || (f->cooperative_event_full && n->kernel->cooperative) ||
           (f->per_thread_event_full && stream_is_per_thread(s));
}

static bool starts_at_trigger(const struct stream *s, const struct node *n)
{
    const struct faults *f = &device.faults;
    return f->captured_start_at_trigger || (f->forked_start_at_trigger && s->capture->origin != s) ||
           (f->relaxed_start_at_trigger && s->capture->mode == cudaStreamCaptureModeRelaxed) ||
           (f->clustered_start_at_trigger && n->kernel->cluster > 1);
}

static void kernel_event(struct stream *s, struct node *n, cudaEvent_t handle, unsigned char port, unsigned char type)
{
    struct half_edge h = {n, full_edge, false, false};
    if (event_becomes_full(s, n, event_of(handle)))
        port = type = 0;
    if (starts_at_trigger(s, n) && type == cudaGraphDependencyTypeProgrammatic)
        port = cudaGraphKernelNodePortProgrammatic;
    h.data.from_port = port;
    h.data.type = type;
    h.of_event = type == cudaGraphDependencyTypeProgrammatic;
    bool of_failed = event_of(handle)->recorded == RECORDED_IN_CAPTURE && event_of(handle)->capture_id == device.failed_capture;
    event_holds(event_of(handle), s, &h, device.faults.recaptured_program_event_lost && of_failed ? 0 : 1);
}

/* Devices on which a captured kernel does not have its stream's priority */
static bool priority_is_lost(const struct stream *s, const struct request *r)
{
    const struct faults *f = &device.faults;
    return f->priority_not_captured || (f->given_graph_loses_priority && !s->capture->owns_graph) ||
           (f->joined_capture_loses_priority && s->capture->origin != s) || (f->cooperative_loses_priority && r->cooperative) ||
           (f->crowded_list_loses_priority && r->num_attrs > 3) ||
           (f->relaxed_loses_priority && s->capture->mode == cudaStreamCaptureModeRelaxed);
}

/* "Priorities are only available on kernel nodes, and are copied from stream priority during stream capture"; one of the launch's own stays. */
static void copy_priority(const struct stream *s, struct request *r)
{
    cudaLaunchAttribute priority;
    for (unsigned i = 0; i < r->num_attrs; i++)
        if (r->attrs[i].id == cudaLaunchAttributePriority && !(device.faults.later_own_priority_lost && i != 0)) {
            if (device.faults.own_priority_not_captured)
                r->attrs[i].val.priority = s->priority;
            return;
        }
    if (r->num_attrs == MODEL_MAX_ATTRS || priority_is_lost(s, r))
        return;
    memset(&priority, 0, sizeof priority);
    priority.id = cudaLaunchAttributePriority;
    priority.val.priority = s->priority;
    request_attribute(r, &priority);
    r->attrs[r->num_attrs++] = priority;
}

/* Whether the last node of a capture's stream is none of a kernel. */
static bool is_behind_item(const struct lane *l)
{
    return l->halves == 1 && l->half[0].node->type != cudaGraphNodeTypeKernel;
}

/* On broken devices: what a launch does not come after, and, once it is a node, what it hides from those after it. */
static void lane_forgets(struct stream *s, const struct request *r, bool is_node)
{
    const struct faults *f = &device.faults;
    struct lane *l = lane_of(s->capture, s);
    bool large = r->grid[0] > 32, has_long_args = r->kernel->args_bytes > 1024;
    if (!is_node && f->captured_large_passes_items && large && is_behind_item(l))
        l->halves = 0;
    bool passes = f->captured_large_passes_row && large && !r->programmatic;
    bool hides = has_long_args && (f->captured_long_args_hide_row || (f->captured_large_hides_row && large));
    if (is_node ? hides : passes)
        l->behinds = 0;
}

cudaError_t capture_kernel(struct stream *s, struct request *r)
{
    if (capture_broken(s))
        return device.faults.spoiled_takes_recorder && r->event != NULL ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
    struct node *n = node_new(s->capture->graph, cudaGraphNodeTypeKernel);
    n->kernel = malloc(sizeof *n->kernel);
    if (n->kernel == NULL)
        abort();
    request_copy(n->kernel, r);
    for (unsigned i = 0; i < r->num_attrs; i++)
        if ((device.faults.domain_not_captured && r->attrs[i].id == cudaLaunchAttributeMemSyncDomain) ||
            (device.faults.map_not_captured && r->attrs[i].id == cudaLaunchAttributeMemSyncDomainMap))
            memset(&n->kernel->attrs[i].val, 0, sizeof n->kernel->attrs[i].val);
    if (device.faults.captured_args_end_at_64 && r->kernel->args_bytes > 64)
        memset(n->kernel->args + 64, 0, r->kernel->args_bytes - 64);
    if (device.faults.capture_loses_cooperative)
        request_loses_cooperative(n->kernel);
    bool forked = s->capture->origin != s;
    if (device.faults.forked_cooperative_is_plain && forked)
        n->kernel->cooperative = false;
    if (device.faults.forked_args_end_at_64 && forked && r->kernel->args_bytes > 64)
        memset(n->kernel->args + 64, 0, r->kernel->args_bytes - 64);
    if (device.faults.given_graph_cuts_arguments && !s->capture->owns_graph && r->kernel->args_bytes > 64)
        memset(n->kernel->args + 64, 0, r->kernel->args_bytes - 64);
    if (device.faults.large_capture_cut && r->grid[0] > 64 && r->cluster == 1)
        n->kernel->grid[0] = 64;
    if (device.faults.large_capture_joins_one && r->grid[0] > 64 && lane_of(s->capture, s)->halves > 1)
        lane_of(s->capture, s)->halves = 1;
    if (device.faults.captured_layers_by_8_bits)
        n->kernel->grid[2] &= 0xff;
    if (s->priority != 0)
        copy_priority(s, n->kernel);
    lane_forgets(s, r, false);
    cudaError_t error = attach(s, n, launch_may_overlap(r, s));
    if (error != cudaSuccess)
        return error;
    lane_forgets(s, r, true);
    if (r->event != NULL)
        kernel_event(s, n, r->event, r->at_block_start || (device.faults.captured_second_event_at_start && r->launch_event != NULL) ? 2 : 1,
                     cudaGraphDependencyTypeProgrammatic);
    if (r->launch_event != NULL && !(device.faults.captured_second_event_lost && r->event != NULL))
        kernel_event(s, n, r->launch_event, 2, cudaGraphDependencyTypeDefault);
    return cudaSuccess;
}
