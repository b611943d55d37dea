/* Captures: begun, ended, told and changed. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

/* ---- begin, end ---- */

/* Devices on which a capture that begins in a graph does not come after this node, or does without the edge data */
static bool begin_skips(const struct stream *s, const struct node *n)
{
    const struct faults *f = &device.faults;
    return (f->begin_skips_captured && n->captured) || (f->per_thread_begin_free && stream_is_per_thread(s)) ||
           (f->begin_in_body_free && n->graph->owner != NULL);
}

static bool begin_loses_data(const struct stream *s, const struct node *n)
{
    const struct faults *f = &device.faults;
    return f->half_edge_data_lost || (f->begin_after_captured_full && n->captured) || (f->urgent_begin_full && s->priority != 0) ||
           (f->relaxed_begin_full && s->capture->mode == cudaStreamCaptureModeRelaxed);
}

static cudaError_t begin(cudaStream_t handle, cudaGraph_t into, const cudaGraphNode_t *deps, const edge_data *data,
                         size_t count, enum cudaStreamCaptureMode mode)
{
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF((unsigned)mode > cudaStreamCaptureModeRelaxed && !device.faults.capture_mode_3_taken, cudaErrorInvalidValue);
    if (device.faults.refused_legacy_capture_cuts && stream_is_legacy(s))
        stream_cuts(s);
    FAIL_IF(stream_is_legacy(s) && !device.faults.legacy_capture_accepted, cudaErrorStreamCaptureUnsupported);
    if (device.faults.second_begin_cuts && s->capture != NULL)
        capture_cuts(s);
    FAIL_IF(s->capture != NULL, cudaErrorIllegalState);
    struct capture *c = capture_new();
    FAIL_IF(c == NULL, cudaErrorMemoryAllocation);
    c->graph = into != NULL ? graph_of(into) : graph_new();
    c->owns_graph = into == NULL;
    c->origin = s;
    c->mode = mode;
    c->thread = pthread_self();
    struct lane *l = lane_of(c, s);
    for (size_t i = 0; i < count - (device.faults.capture_drops_dependency && count > 2 ? 1 : 0); i++) {
        if (device.faults.begin_skips_empty && count > 1 && node_of(deps[i])->type == cudaGraphNodeTypeEmpty)
            continue;
        size_t entry = device.faults.begin_shares_data ? 0 : i;
        bool lost = data == NULL || begin_loses_data(s, node_of(deps[i]));
        struct half_edge h = {node_of(deps[i]), lost ? full_edge : data[entry], false, false};
        if (!begin_skips(s, h.node))
            lane_depends(l, h);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    CALL(cudaStreamBeginCapture);
    return begin(stream, NULL, NULL, NULL, 0, mode);
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                                    const edge_data *data, size_t count,
                                                    enum cudaStreamCaptureMode mode)
{
    CALL(cudaStreamBeginCaptureToGraph);
    FAIL_IF(graph_of(graph) == NULL || (count != 0 && deps == NULL), cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        FAIL_IF(node_of(deps[i]) == NULL || (node_of(deps[i])->graph != graph_of(graph) && !device.faults.foreign_begin_taken &&
                                             !(device.faults.second_foreign_begin_taken && i != 0)),
                cudaErrorInvalidValue);
    return begin(stream, graph, deps, data, count, mode);
}

/* EDGE-19: a node that a forked stream ends with must lead on by a full edge, or be awaited by the origin. */
static bool is_joined(const struct capture *c, const struct node *n)
{
    if (device.faults.loose_item_accepted && n->type != cudaGraphNodeTypeKernel)
        return true;
    for (size_t i = 0; i < c->graph->arcs; i++)
        if (c->graph->arc[i].from == n && (c->graph->arc[i].rejoins ||
                                           (device.faults.early_start_join_accepted && c->graph->arc[i].data.from_port == 2) ||
                                           (device.faults.relaxed_early_join_accepted && c->mode == cudaStreamCaptureModeRelaxed) ||
                                           device.faults.early_join_accepted || edge_is_default(c->graph->arc[i].data)))
            return true;
    for (const struct lane *l = c->lanes; l != NULL; l = l->next)
        for (unsigned i = 0; l->stream == c->origin && i < l->halves; i++)
            if (l->half[i].node == n && (device.faults.early_join_accepted || edge_is_default(l->half[i].data)))
                return true;
    return false;
}

static bool all_joined(const struct capture *c)
{
    for (const struct lane *l = c->lanes; l != NULL; l = l->next)
        for (unsigned i = 0; l->stream != c->origin && i < l->halves; i++)
            if (!(device.faults.program_fork_not_counted && l->by_program) && !is_joined(c, l->half[i].node))
                return false;
    return true;
}

/* What was set in its streams stays there, on the devices that keep it. */
static void streams_keep_set(const struct capture *c)
{
    for (const struct lane *l = c->lanes; l != NULL; l = l->next) {
        bool set = (l->set || l->added) && l->halves != 0;
        l->stream->left_set |= set && device.faults.spoiled_set_stays;
        if (set && device.faults.spoiled_data_stay)
            l->stream->left_data = l->half[l->halves - 1].data;
    }
}

/* What the end of a capture changes beside it, on the devices that do so. */
static void end_spoils(const struct capture *c, bool failed)
{
    device.failed_capture = failed ? c->id : device.failed_capture;
    for (const struct lane *l = c->lanes; device.faults.spoiled_fork_forgets && failed && l != NULL; l = l->next)
        if (l->by_program)
            stream_cuts(l->stream);
    if (failed)
        streams_keep_set(c);
    if (device.faults.failed_capture_id_again && failed)
        capture_id_again();
    if (device.faults.end_resets_thread_mode && c->mode == cudaStreamCaptureModeRelaxed)
        thread_mode_reset();
    if (device.faults.failed_end_spoils_others && failed)
        capture_invalidate_all();
}

/* ... and what a capture of kernels that failed changes in its streams; its graph is still there. */
static void failure_reaches(const struct capture *c)
{
    bool kernels = false;
    for (size_t i = 0; i < c->graph->nodes; i++)
        kernels |= c->graph->node[i]->type == cudaGraphNodeTypeKernel;
    for (const struct lane *l = c->lanes; kernels && l != NULL; l = l->next) {
        l->stream->behind_failed = device.faults.failed_capture_uncovers;
        l->stream->left_unordered = device.faults.spoiled_stream_unordered ? 2 : 0;
        if (device.faults.failed_join_cuts && l->stream != c->origin)
            stream_cuts(l->stream);
    }
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *out)
{
    CALL(cudaStreamEndCapture);
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(out == NULL, cudaErrorInvalidValue);
    if (device.faults.refused_end_cuts && s->capture == NULL)
        stream_cuts(s);
    FAIL_IF(s->capture == NULL, cudaErrorIllegalState);
    struct capture *c = s->capture;
    bool elsewhere = c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self());
    FAIL_IF(elsewhere && !device.faults.other_thread_ends, cudaErrorStreamCaptureWrongThread);
    cudaError_t error = cudaSuccess;
    if (c->origin != s && !device.faults.unmatched_end_accepted)
        error = cudaErrorStreamCaptureUnmatched;
    else if (c->invalid)
        error = device.faults.spoiled_end_is_illegal_state ? cudaErrorIllegalState : cudaErrorStreamCaptureInvalidated;
    else if ((!all_joined(c) && !device.faults.unjoined_accepted) || c->lost_nodes)
        error = cudaErrorStreamCaptureUnjoined;
    if (!device.faults.failed_end_leaves_graph)
        *out = NULL;
    if (error != cudaSuccess)
        failure_reaches(c);
    bool none = device.faults.empty_capture_gives_none && c->owns_graph && c->graph->nodes == 0;
    if (error == cudaSuccess && !none)
        *out = (cudaGraph_t)(void *)(device.faults.end_gives_copy && !c->owns_graph ? graph_copy(c->graph) : c->graph);
    else if (c->owns_graph)
        graph_delete(c->graph);
    if (device.faults.other_thread_end_loses_edge && error == cudaSuccess && device.other_thread && c->graph->arcs != 0)
        graph_drop_last_arc(c->graph);
    s->leaked_attribute |= device.faults.failed_capture_leaks && error != cudaSuccess;
    end_spoils(c, error != cudaSuccess);
    capture_free(c);
    return call_result(error);
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    CALL(cudaStreamIsCapturing);
    const struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(status == NULL, cudaErrorInvalidValue);
    FAIL_IF(legacy_is_forbidden(s) && !device.faults.legacy_status_told, cudaErrorStreamCaptureImplicit);
    bool hides = device.faults.fork_is_not_spoiled && s->capture != NULL && s->capture->invalid && s->capture->origin != s;
    *status = s->capture == NULL || hides ? cudaStreamCaptureStatusNone
              : s->capture->invalid && !device.faults.invalid_capture_is_active ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

/* ---- looking at and changing the half-edges ---- */

static void answer_room(struct capture *c, unsigned n)
{
    c->answer_nodes = realloc(c->answer_nodes, (n + 1) * sizeof *c->answer_nodes);
    c->answer_data = realloc(c->answer_data, (n + 1) * sizeof *c->answer_data);
    if (c->answer_nodes == NULL || c->answer_data == NULL)
        abort();
}

cudaError_t capture_info(cudaStream_t handle, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                         cudaGraph_t *graph, const cudaGraphNode_t **deps, const edge_data **data, size_t *count)
{
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(status == NULL, cudaErrorInvalidValue);
    FAIL_IF(legacy_is_forbidden(s) && !device.faults.legacy_info_told, cudaErrorStreamCaptureImplicit);
    struct capture *c = s->capture;
    bool hides = c != NULL && (device.faults.info_tells_active || (device.faults.fork_info_tells_active && c->origin != s));
    *status = c == NULL && !device.faults.info_tells_none_active ? cudaStreamCaptureStatusNone
              : c != NULL && c->invalid && !hides ? cudaStreamCaptureStatusInvalidated
                                     : cudaStreamCaptureStatusActive;
    if (c == NULL || c->invalid)
        return cudaSuccess;
    const struct lane *l = lane_of(c, device.faults.fork_told_origins ? c->origin : s);
    answer_room(c, l->halves);
    bool lossy = false;
    for (unsigned i = 0; i < l->halves; i++) {
        c->answer_nodes[i] = (cudaGraphNode_t)(void *)l->half[i].node;
        c->answer_data[i] = i != 0 && c->origin != s && device.faults.forked_data_told_full ? full_edge : l->half[device.faults.info_shares_data ? 0 : i].data;
        lossy = (lossy && !device.faults.lossy_capture_counts_last) || !edge_is_default(l->half[i].data);
    }
    lossy &= !(device.faults.lossy_fork_succeeds && c->origin != s);
    FAIL_IF(lossy && deps != NULL && data == NULL && !device.faults.lossy_query_succeeds, cudaErrorLossyQuery);
    bool other_id = (device.faults.fork_has_other_id && c->origin != s) || (device.faults.capture_id_grows && c->graph->nodes > 2);
    bool no_graph = (device.faults.fork_graph_hidden && c->origin != s) || (device.faults.given_graph_not_told && !c->owns_graph);
    if (id != NULL)
        *id = device.faults.id_beside_graph_only && graph == NULL ? 0 : c->id + (other_id ? 1000 : 0);
    if (graph != NULL)
        *graph = no_graph ? NULL : (cudaGraph_t)(void *)c->graph;
    if (deps != NULL)
        *deps = c->answer_nodes;
    if (data != NULL)
        *data = c->answer_data;
    if (count != NULL)
        *count = device.faults.count_without_nodes_zero && deps == NULL ? 0 : l->halves;
    return cudaSuccess;
}

cudaError_t capture_update(cudaStream_t handle, cudaGraphNode_t *deps, const edge_data *data, size_t count,
                           unsigned flags)
{
    struct stream *s = stream_of(handle);
    FAIL_IF(s == NULL, cudaErrorInvalidResourceHandle);
    FAIL_IF(s->capture == NULL, cudaErrorIllegalState); /* EDGE-18 */
    FAIL_IF((flags > 1 && !device.faults.update_flags_taken) || (count != 0 && deps == NULL), cudaErrorInvalidValue);
    if (s->capture->invalid && device.faults.spoiled_capture_updated)
        return cudaSuccess;
    FAIL_IF(s->capture->invalid, cudaErrorStreamCaptureInvalidated);
    if (device.faults.update_of_other_thread_ignored && device.other_thread)
        return cudaSuccess;
    struct lane *l = lane_of(s->capture, s);
    if (device.faults.refused_set_drops_dependencies && count != 0 && flags == cudaStreamSetCaptureDependencies)
        l->halves = l->behinds = 0;
    for (size_t i = 0; i < count; i++)
        FAIL_IF(node_of(deps[i]) == NULL || (node_of(deps[i])->graph != s->capture->graph && !device.faults.foreign_update_taken &&
                                             !(device.faults.second_foreign_update_taken && i != 0)),
                cudaErrorInvalidValue);
    if (device.faults.fork_takes_no_dependency && s->capture->origin != s && flags == cudaStreamAddCaptureDependencies)
        return cudaSuccess;
    if (device.faults.added_dependency_forgets_row && flags == cudaStreamAddCaptureDependencies)
        l->behinds = 0;
    if (flags == cudaStreamSetCaptureDependencies) {
        s->capture->lost_nodes |= device.faults.removed_nodes_unjoined && l->halves != 0;
        bool by_trigger = l->halves > 1 && l->half[l->halves - 1].data.type == cudaGraphDependencyTypeProgrammatic;
        bool adds = (device.faults.set_after_add_keeps && l->added) || (device.faults.set_again_adds && l->set) ||
                    (device.faults.set_after_trigger_adds && by_trigger);
        if (!adds)
            l->halves = l->behinds = 0;
        l->set = true;
        count = device.faults.forked_set_takes_one && s->capture->origin != s && count > 1 ? 1 : count;
    }
    l->added |= flags == cudaStreamAddCaptureDependencies;
    for (size_t i = 0; i < count; i++) {
        size_t entry = device.faults.update_drops_data && flags == cudaStreamAddCaptureDependencies ? 0 : i;
        struct half_edge h = {node_of(deps[i]), data != NULL && !device.faults.half_edge_data_lost ? data[entry] : full_edge, false, false};
        for (unsigned k = 0; device.faults.added_dependency_gives_data && flags == cudaStreamAddCaptureDependencies && k < l->halves; k++)
            l->half[k].data = h.data;
        lane_depends(l, h);
    }
    return cudaSuccess;
}
