/* Launches: what the configuration and its attributes ask for, checked as the runtime does, and queued. */
#include "api.h"

#include <string.h>

static bool cluster_fits(const struct request *r, unsigned x, unsigned y, unsigned z)
{
    if (device.faults.cluster_of_none_taken && (x == 0 || y == 0 || z == 0))
        return true;
    uint64_t blocks = (uint64_t)x * y * (device.faults.cluster_layers_uncounted && !r->cooperative ? 1 : z);
    if (x == 0 || y == 0 || z == 0 || r->grid[0] % x != 0 || blocks > most_in_cluster(r->kernel->func))
        return false;
    return device.faults.cluster_misfits_accepted || (r->grid[1] % y == 0 && r->grid[2] % z == 0);
}

/* "non-0"; on broken devices other numbers than that */
static bool is_set(int number, bool by_one, bool by_byte)
{
    return by_one ? number == 1 : by_byte ? (number & 255) != 0 : number != 0;
}

static bool is_allowed(int number)
{
    return is_set(number, device.faults.attribute_by_one_only, device.faults.attribute_by_low_byte);
}

static bool starts_at(int number)
{
    return is_set(number, device.faults.starts_by_one_only, device.faults.starts_by_low_byte);
}

/* What follows the number in its value, which does not belong to it */
static uint32_t behind_number(const cudaLaunchAttribute *a)
{
    uint32_t behind;
    memcpy(&behind, a->val.pad + sizeof(int), sizeof behind);
    return behind;
}

static bool is_captured(const struct request *r)
{
    const struct stream *s = stream_of(r->stream_handle);
    return s != NULL && s->capture != NULL;
}

static cudaError_t read_event_attribute(struct request *r, const cudaLaunchAttribute *a)
{
    cudaError_t error;
    if (a->id == cudaLaunchAttributeProgrammaticEvent) {
        r->event = a->val.programmaticEvent.event;
        r->at_block_start = starts_at(a->val.programmaticEvent.triggerAtBlockStart);
        if (device.faults.event_drops_cooperative)
            r->cooperative = false;
        error = event_usable_in_launch(r->event, a->val.programmaticEvent.flags);
        return error == cudaSuccess && device.cc < 90 ? cudaErrorNotSupported : error;
    }
#if CUDART_VERSION >= 12030
    if (device.faults.completion_event_drops_cooperative)
        r->cooperative = false;
    r->programmatic &= !(device.faults.completion_drops_captured_six && is_captured(r));
    r->launch_event = a->val.launchCompletionEvent.event;
    return event_usable_in_launch(r->launch_event, a->val.launchCompletionEvent.flags);
#else
    return cudaErrorInvalidValue;
#endif
}

/* The attribute ids are written as numbers where not every toolkit from 11.8 on names them. */
static cudaError_t read_attribute(struct request *r, const cudaLaunchAttribute *a)
{
    switch ((int)a->id) {
    case 0:
        r->ignored_entry = true;
        r->cooperative &= !device.faults.ignored_drops_cooperative;
        return cudaSuccess;
    case 8:
        if (device.faults.priority_drops_cooperative)
            r->cooperative = false;
        r->urgent = a->val.priority < 0;
        return cudaSuccess;
    case 1: /* access policy window */
        if (device.faults.window_drops_event)
            r->event = NULL;
        r->programmatic &= !device.faults.window_drops_attribute;
        if (device.faults.window_drops_completion)
            r->launch_event = NULL;
        r->cooperative &= !device.faults.window_drops_cooperative;
        if (device.faults.window_drops_clusters)
            r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
        return cudaSuccess;
    case 9: /* memory-sync domain map */
        r->cooperative &= !device.faults.map_drops_cooperative;
        r->at_block_start &= !device.faults.map_drops_starts;
        if (device.faults.map_drops_completion)
            r->launch_event = NULL;
        return cudaSuccess;
    case 5:  /* cluster scheduling */
    case 16: /* NVLink hint */ return cudaSuccess;
    case 10:
        if (device.faults.domain_drops_event)
            r->event = NULL;
        r->domain = (unsigned char)a->val.pad[0];
        return r->domain <= 1 || device.faults.domain_2_taken ? cudaSuccess : cudaErrorInvalidValue;
    case 14: { /* carve-out, percent */
        int percent;
        memcpy(&percent, a->val.pad, sizeof percent);
        bool low = percent < 0 && !device.faults.launch_carveout_low_taken, high = percent > 100 && !device.faults.launch_carveout_high_taken;
        return low || high ? cudaErrorInvalidValue : cudaSuccess;
    }
    case 2:
        if (!device.faults.cooperative_after_cluster_lost || r->cluster <= 1)
            r->cooperative = is_set(a->val.cooperative, device.faults.cooperative_by_one_only, false);
        r->cooperative &= !device.faults.cooperative_read_wide || behind_number(a) == 0;
        return cudaSuccess;
    case 4:
    case 11: {
        unsigned v[3];
        memcpy(v, a->val.pad, sizeof v);
        if (device.cc < 90)
            return cudaErrorNotSupported;
        if (!cluster_fits(r, v[0], v[1], v[2]))
            return cudaErrorInvalidClusterSize;
        r->cluster = v[0] * v[1] * v[2];
        memcpy(r->clusters, v, sizeof r->clusters);
        if (device.faults.cluster_along_x_only)
            r->cluster = r->clusters[0], r->clusters[1] = r->clusters[2] = 1;
        return cudaSuccess;
    }
    case 6:
        if (r->programmatic_given && reads_boldly())
            return cudaSuccess; /* AMB-23: the first of two counts, or the last */
        r->programmatic = is_allowed(a->val.programmaticStreamSerializationAllowed) || device.faults.value_zero_overlaps;
        r->programmatic |= device.faults.driver_later_zero_overlaps && device.by_driver && r->num_attrs > 1;
        r->programmatic |= device.faults.six_read_wide && behind_number(a) != 0;
        r->programmatic_given = true;
        if (device.faults.six_drops_event)
            r->event = NULL;
        if (device.faults.six_drops_captured_completion && is_captured(r))
            r->launch_event = NULL;
        return cudaSuccess;
    case 7:
    case 12: return read_event_attribute(r, a);
    case 13: r->updatable = a->val.pad[0] != 0; return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t request_attribute(struct request *r, const cudaLaunchAttribute *a)
{
    return read_attribute(r, a);
}

static cudaError_t check_shape(struct request *r, const struct function *f)
{
    uint64_t threads = 1, blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (r->grid[i] == 0 || r->block[i] == 0)
            return cudaErrorInvalidConfiguration;
        threads *= r->block[i];
        blocks *= r->grid[i];
        if (threads > MODEL_MAX_THREADS || blocks > 0x7fffffff || (i > 0 && r->grid[i] > 65535u - device.faults.last_row_refused))
            return cudaErrorInvalidConfiguration;
    }
    uint64_t counted = device.faults.bounds_along_x_only ? r->block[0] : threads;
    if (f->kernel->max_threads > 0 && counted > (unsigned)f->kernel->max_threads && !device.faults.bounds_ignored)
        return cudaErrorLaunchOutOfResources;
    if (r->shared_bytes > (size_t)(device.faults.shared_limit_not_enforced ? MODEL_BLOCK_SHARED : f->max_dynamic_shared))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static cudaError_t check_cooperative(const struct request *r, const struct function *f)
{
    unsigned threads = r->block[0] * r->block[1] * r->block[2];
    uint64_t blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    uint64_t most = (uint64_t)device.sms * (unsigned)blocks_per_sm(f, threads, r->shared_bytes);
    bool accepted = device.faults.crowds_accepted || (device.faults.crowded_clusters_accepted && r->cluster > 1) ||
                    (device.faults.crowd_along_yz_accepted && r->grid[1] * r->grid[2] > 1) ||
                    (device.faults.recorder_crowd_accepted && r->event != NULL) ||
                    (device.faults.captured_crowd_accepted && r->num_attrs == 1 && stream_of(r->stream_handle) != NULL &&
                     stream_of(r->stream_handle)->capture != NULL);
    if (r->cooperative && !accepted && blocks > most + device.faults.crowd_of_one_more_accepted)
        return device.faults.crowd_is_configuration ? cudaErrorInvalidConfiguration : cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

static cudaError_t fill(struct request *r, const void *func, dim3 grid, dim3 block, size_t shared, void **args)
{
    struct function *f = function_find(func);
    if (f == NULL)
        return cudaErrorInvalidDeviceFunction;
    r->kernel = f->kernel;
    unsigned g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    memcpy(r->grid, g, sizeof g);
    memcpy(r->block, b, sizeof b);
    r->shared_bytes = shared;
    r->stream_handle = NULL;
    r->ignored_entry = r->urgent = r->programmatic = r->programmatic_given = r->cooperative = r->updatable = r->at_block_start = false;
    r->event = r->launch_event = NULL;
    r->cluster = r->clusters[0] = r->clusters[1] = r->clusters[2] = 1;
    r->domain = 0;
    r->late_to = r->late_from = 0;
    r->never_waited = r->never_triggered = false;
    r->num_attrs = r->counted = 0;
    cudaError_t error = check_shape(r, f);
    if (error != cudaSuccess)
        return error;
    if (f->kernel->args_bytes != 0) {
        if (args == NULL || args[0] == NULL)
            return cudaErrorInvalidValue;
        memcpy(r->args, args[0], f->kernel->args_bytes);
        memcpy(r->first_args, args[0], f->kernel->args_bytes);
    }
    return cudaSuccess;
}

enum { PIECE_POINTER = 1 }; /* CU_LAUNCH_PARAM_BUFFER_POINTER; the other one is the piece's size */

/* The arguments in one piece of memory, instead of a list of where they are: pairs of what and its value, up to NULL. */
bool read_piece(const struct model_kernel *kernel, void **extra, unsigned char *bytes)
{
    const void *piece = NULL;
    size_t size = 0;
    for (; extra[0] != NULL; extra += 2)
        if ((uintptr_t)extra[0] == PIECE_POINTER)
            piece = extra[1];
        else
            memcpy(&size, extra[1], sizeof size);
    if (piece == NULL || size < kernel->args_bytes)
        return false;
    memcpy(bytes, piece, kernel->args_bytes);
    return true;
}

cudaError_t request_fill_node(struct request *r, const struct cudaKernelNodeParams *p)
{
    const struct function *f = function_find(p->func);
    unsigned char bytes[MODEL_ARGS_MAX];
    void *piece[1] = {bytes};
    if (p->extra != NULL && (p->kernelParams != NULL || (f != NULL && !read_piece(f->kernel, p->extra, bytes))))
        return cudaErrorInvalidValue;
    if (p->extra != NULL && f != NULL && device.faults.piece_of_node_ends_at_128 && f->kernel->args_bytes > 128)
        memset(bytes + 128, 0, f->kernel->args_bytes - 128);
    return fill(r, p->func, p->gridDim, p->blockDim, p->sharedMemBytes, p->extra != NULL ? piece : p->kernelParams);
}

/* How many attributes of a launch are read. */
static unsigned attributes_read(void)
{
    const struct faults *f = &device.faults;
    return f->ninth_attribute_lost ? 8 : f->attribute_13_lost ? 12 : f->attribute_17_lost ? 16 : MODEL_MAX_ATTRS;
}

cudaError_t request_fill(struct request *r, const cudaLaunchConfig_t *config, const void *func, void **args)
{
    if (config == NULL)
        return cudaErrorInvalidValue;
    cudaError_t error = fill(r, func, config->gridDim, config->blockDim, config->dynamicSmemBytes, args);
    if (error != cudaSuccess)
        return error;
    if (config->attrs == NULL && device.faults.no_list_taken)
        return check_cooperative(r, function_find(func));
    if (config->numAttrs > MODEL_MAX_ATTRS || (config->numAttrs != 0 && config->attrs == NULL))
        return cudaErrorInvalidValue;
    r->stream_handle = config->stream;
    r->programmatic = device.faults.reads_unread && config->numAttrs == 0 && config->attrs != NULL;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        r->attrs[r->num_attrs++] = config->attrs[i];
        if ((device.faults.entries_after_ignore_lost && r->ignored_entry) || i >= attributes_read())
            break;
        error = read_attribute(r, &config->attrs[i]);
        if (error != cudaSuccess)
            return error;
        if (device.faults.begun_event_ends_list && config->attrs[i].id == cudaLaunchAttributeLaunchCompletionEvent)
            break;
    }
    return check_cooperative(r, function_find(func));
}

void request_loses_cooperative(struct request *r)
{
    r->cooperative = false;
    for (unsigned i = 0; i < r->num_attrs; i++)
        if (r->attrs[i].id == cudaLaunchAttributeCooperative)
            r->attrs[i].val.cooperative = 0;
}

void request_copy(struct request *to, const struct request *from)
{
    memcpy(to, from, offsetof(struct request, args));
    memcpy(to->args, from->args, from->kernel->args_bytes);
    memcpy(to->first_args, from->first_args, from->kernel->args_bytes);
}

static uint64_t features_of(const struct request *r, const struct grid *g)
{
    uint64_t has = HAS(kernel);
    has |= r->programmatic ? HAS(attribute) : 0;
    has |= r->cooperative ? HAS(cooperative) : 0;
    has |= r->cluster > 1 ? HAS(cluster) : 0;
    has |= r->urgent ? HAS(urgent) : 0;
    has |= r->domain != 0 ? HAS(domain) : 0;
    has |= g->blocks > workers() ? HAS(manyblocks) : 0;
    has |= r->grid[1] > 1 ? HAS(gridy) : 0;
    has |= r->grid[2] > 1 ? HAS(gridz) : 0;
    has |= g->threads == MODEL_MAX_THREADS ? HAS(bigblock) : 0;
    has |= g->threads <= 2 * MODEL_WARP ? HAS(smallblock) : 0;
    has |= g->dynamic_shared != 0 ? HAS(shared) : 0;
    has |= g->dynamic_shared > MODEL_BLOCK_SHARED / 2 ? HAS(muchshared) : 0;
    has |= r->event != NULL ? HAS(event) : 0;
    has |= r->launch_event != NULL ? HAS(completion) : 0;
    has |= device.other_thread ? HAS(otherthread) : 0;
    has |= device.by_driver ? HAS(driver) : 0;
    has |= r->kernel->args_bytes > 1024 ? HAS(longargs) : 0;
    for (unsigned i = 0; i < r->num_attrs; i++)
        has |= r->attrs[i].id == 1 || r->attrs[i].id == 5 || r->attrs[i].id == 9 || r->attrs[i].id == 14 ? HAS(hint) : 0;
    return has;
}

/* For the devices higher-map-uncovers, balanced-uncovers and middle-priority-uncovers. */
static void see_value(struct op *op, const cudaLaunchAttribute *a)
{
    op->higher_map |= (int)a->id == 9 && (a->val.memSyncDomainMap.default_ > 1 || a->val.memSyncDomainMap.remote > 1);
    op->balanced |= (int)a->id == 5 && a->val.clusterSchedulingPolicyPreference == cudaClusterSchedulingPolicyLoadBalancing;
    op->between |= (int)a->id == 8 && a->val.priority < 0 && a->val.priority > -5;
}

struct op *request_op(const struct request *r)
{
    struct op *op = op_new(OP_KERNEL);
    op->grid = grid_new(r->kernel->args_bytes);
    op->grid->kernel = r->kernel;
    op->grid->blocks = request_blocks(r);
    op->grid->threads = r->block[0] * r->block[1] * r->block[2];
    op->grid->dynamic_shared = r->shared_bytes;
    op->grid->cooperative = r->cooperative;
    op->grid->cluster = r->cluster;
    op->grid->counted = r->counted;
    memcpy(op->grid->shape, r->grid, sizeof r->grid);
    memcpy(op->grid->shape + 3, r->block, sizeof r->block);
    if (device.faults.launch_loses_block_z && r->block[2] > 1) {
        op->grid->threads = r->block[0] * r->block[1];
    }
    if (device.faults.launch_loses_grid_z) {
        op->grid->blocks = r->grid[0] * r->grid[1];
        op->grid->shape[2] = 1;
    }
    memcpy(op->grid->shape + 6, r->clusters, sizeof r->clusters);
    op->attributed = r->programmatic;
    for (unsigned i = 0; i < r->num_attrs; i++) {
        op->given |= UINT32_C(1) << (r->attrs[i].id & 31); /* read_attribute knows none beyond 16 */
        see_value(op, &r->attrs[i]);
    }
    op->covers_nothing = device.faults.ignored_uncovers && r->ignored_entry;
    op->urgent = r->urgent;
    op->domain = r->domain;
    op->features = features_of(r, op->grid);
    request_gives_args(r, op->grid->args);
    op_shares_place(op);
    op->by_driver = device.by_driver;
    op_shares_ring(op);
    return op;
}

static bool gives(const struct request *r, int id)
{
    for (unsigned i = 0; i < r->num_attrs; i++)
        if ((int)r->attrs[i].id == id)
            return true;
    return false;
}

/* The attributes that let a kernel overlap on devices that take them for attribute 6. */
static bool other_overlaps(const struct request *r)
{
    const struct faults *f = &device.faults;
    return (f->carve_out_overlaps && gives(r, 14)) || (f->domain_map_overlaps && gives(r, 9)) || (f->scheduling_overlaps && gives(r, 5)) ||
           (f->nvlink_overlaps && gives(r, 16)) || (f->preferred_overlaps && gives(r, 11));
}

/* ... or an ignored entry whose value is not 0. */
static bool ignored_overlaps(const struct request *r)
{
    for (unsigned i = 0; device.faults.ignored_value_overlaps && i < r->num_attrs; i++)
        if (r->attrs[i].id == cudaLaunchAttributeIgnore && r->attrs[i].val.programmaticStreamSerializationAllowed != 0)
            return true;
    return false;
}

/* ATTR-02, ATTR-03, ATTR-05: may this launch overlap the kernel before it? A cooperative one may or may not (AMB-19). */
/* Whether the kernel before it in the stream is the same one, of as many blocks and with the same arguments, and has not ended */
static bool launches_again(const struct request *r, const struct stream *s)
{
    const struct op *before = s->kernel_tail;
    return before != NULL && !before->retired && before->grid->kernel == r->kernel && before->grid->blocks == request_blocks(r) &&
           memcmp(before->grid->args, r->args, r->kernel->args_bytes) == 0;
}

bool launch_may_overlap(const struct request *r, struct stream *s)
{
    if (device.faults.again_keeps_attribute && launches_again(r, s))
        return s->kernel_tail->attributed;
    bool leaked = s->leaked_attribute;
    s->leaked_attribute = device.faults.attribute_leaks && r->programmatic;
    bool third = device.faults.third_plain_overlaps && s->kernel_tail != NULL && s->kernel_tail->depth >= 1;
    third |= !r->programmatic && (other_overlaps(r) || ignored_overlaps(r));
    third |= device.faults.many_blocks_overlap && (uint64_t)r->grid[0] * r->grid[1] * r->grid[2] > 64;
    if (device.faults.plain_overlaps || leaked || third || (device.faults.recorder_overlaps && (r->event != NULL || r->launch_event != NULL)))
        return true;
    return r->programmatic && cc_of(current_device()) >= 90 && (!r->cooperative || reads_boldly());
}

static void take_leaked_clusters(struct stream *s, struct request *r)
{
    const unsigned *c = s->leaked_clusters;
    if (c[0] != 0 && r->cluster == 1 && cluster_fits(r, c[0], c[1], c[2])) {
        memcpy(r->clusters, c, sizeof r->clusters);
        r->cluster = c[0] * c[1] * c[2];
    }
    s->leaked_clusters[0] = 0;
}

/* On a broken device it is as the launch before of the function had it. */
static bool records_at_start(const struct request *r)
{
    struct function *f = function_find(r->kernel->func);
    unsigned before = f != NULL ? f->recorded : 0;
    if (f != NULL)
        f->recorded = r->at_block_start ? 2 : 1;
    return device.faults.function_keeps_point && before != 0 ? before == 2 : r->at_block_start;
}

/* Devices on which a stream keeps what a launch was given. */
static void keep_attributes(struct stream *s, const struct request *r)
{
    for (unsigned i = 0; i < r->num_attrs; i++) {
        const cudaLaunchAttribute *a = &r->attrs[i];
        if (device.faults.launch_priority_stays && a->id == cudaLaunchAttributePriority)
            s->priority = a->val.priority;
        if (device.faults.launch_domain_stays && a->id == cudaLaunchAttributeMemSyncDomain)
            s->attribute[a->id] = a->val;
    }
}

cudaError_t launch_in_stream(struct request *r)
{
    struct stream *s = stream_of(r->stream_handle);
    if (s == NULL)
        return cudaErrorInvalidResourceHandle;
    if (legacy_use_spoils(s))
        return cudaErrorStreamCaptureImplicit;
    if (s->capture != NULL) {
        cudaError_t error = capture_kernel(s, r);
        s->leaked_attribute |= device.faults.captured_attribute_leaks && r->programmatic;
        if (error == cudaSuccess)
            launch_record(r);
        return error;
    }
    if (r->updatable)
        return cudaErrorInvalidValue; /* only inside graphs */
    if (device.faults.idle_attribute_refused && r->programmatic && s->idle)
        return cudaErrorInvalidValue;
    if (device.faults.again_left_out && !r->programmatic && launches_again(r, s))
        return cudaSuccess;
    take_leaked_clusters(s, r);
    struct op *op = request_op(r);
    bool other_name = s->kernel_tail != NULL && s->named != r->stream_handle;
    bool overlaps = launch_may_overlap(r, s) || (device.faults.other_name_overlaps && other_name);
    op->covers_nothing |= device.faults.other_name_uncovers && other_name && r->programmatic;
    s->named = r->stream_handle;
    stream_append(s, op, overlaps);
    if (device.faults.launch_record_drops_waiters && r->event != NULL && event_of(r->event)->op != NULL)
        streams_drop(event_of(r->event)->op);
    if (r->event != NULL) {
        event_takes(event_of(r->event), RECORDED_PROGRAMMATIC, op, records_at_start(r));
        event_of(r->event)->in = s;
    }
    if (r->launch_event != NULL)
        event_takes(event_of(r->launch_event), RECORDED_LAUNCH, op, true);
    launch_record(r);
    op_submit(op);
    keep_attributes(s, r);
    return cudaSuccess;
}

/* NULL: the launch has none of this id. */
static const cudaLaunchAttribute *given_in(const cudaLaunchConfig_t *config, int id)
{
    for (unsigned i = 0; config->attrs != NULL && i < config->numAttrs; i++)
        if ((int)config->attrs[i].id == id)
            return &config->attrs[i];
    return NULL;
}

/* What a launch that is refused changes, on the devices that let one. */
static void refusal_acts(const cudaLaunchConfig_t *config, cudaError_t error)
{
    const cudaLaunchAttribute *records = given_in(config, cudaLaunchAttributeProgrammaticEvent);
    struct stream *s = stream_of(config->stream);
    struct event *e = records != NULL ? event_of(records->val.programmaticEvent.event) : NULL;
    bool fires = device.faults.refused_launch_fires_event ||
                 (device.faults.refused_crowd_fires_event && error == cudaErrorCooperativeLaunchTooLarge);
    if (fires && e != NULL)
        e->op = NULL;
    if (device.faults.refused_captured_launch_takes_event && s != NULL && s->capture != NULL && e != NULL)
        e->captured_count = 0;
    if (s != NULL && s->tail != NULL && moves_memory(s->tail))
        s->refused_dependent = given_in(config, cudaLaunchAttributeProgrammaticStreamSerialization) != NULL;
    const cudaLaunchAttribute *clusters = given_in(config, cudaLaunchAttributeClusterDimension);
    if (device.faults.refused_clusters_leak && s != NULL && clusters != NULL)
        memcpy(s->leaked_clusters, clusters->val.pad, sizeof s->leaked_clusters);
    if (device.faults.refused_attribute_leaks && s != NULL)
        s->leaked_attribute |= config->numAttrs != 0;
    if (device.faults.refused_launch_cuts_capture && s != NULL && s->capture != NULL)
        capture_cuts(s);
}

cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    CALL(cudaLaunchKernelExC);
    struct request r;
    cudaError_t error = request_fill(&r, config, func, args);
    if (device.faults.misfits_dropped && error == cudaErrorInvalidConfiguration)
        return cudaSuccess;
    if (error == cudaErrorNotSupported && device.faults.refused_recorder_runs) {
        r.event = r.launch_event = NULL;
        (void)launch_in_stream(&r);
    }
    if (error != cudaSuccess && config != NULL)
        refusal_acts(config, error);
    return call_result(error != cudaSuccess ? error : launch_in_stream(&r));
}

static cudaError_t launch_simply(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream,
                                 bool cooperative)
{
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = device.faults.cooperative_call_loses_shared && cooperative ? 0 : shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cooperative && !(device.faults.default_crowd_accepted && stream == NULL) ? 1 : 0;
    struct request r;
    cudaError_t error = request_fill(&r, &config, func, args);
    if (device.faults.cooperative_call_cuts_args && cooperative && error == cudaSuccess && r.kernel->args_bytes > 512)
        memset(r.args + 512, 0, r.kernel->args_bytes - 512);
    if (device.faults.plain_refusal_eats_waits && error != cudaSuccess && stream_of(stream) != NULL)
        stream_of(stream)->waits = 0;
    if (device.faults.plain_refusal_cuts_capture && error != cudaSuccess && stream_of(stream) != NULL && stream_of(stream)->capture != NULL)
        capture_cuts(stream_of(stream));
    if (device.faults.plain_refusal_forgotten && error != cudaSuccess)
        return error;
    if (device.faults.plain_call_drops_misfits && error == cudaErrorInvalidConfiguration)
        return cudaSuccess;
    device.queued_by = cooperative ? BY_COOPERATIVE_CALL : BY_PLAIN_CALL;
    error = error != cudaSuccess ? error : launch_in_stream(&r);
    device.queued_by = BY_ANY_CALL;
    return call_result(error);
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                       cudaStream_t stream)
{
    CALL(cudaLaunchKernel);
    return launch_simply(func, grid, block, args, shared, stream, false);
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                                  cudaStream_t stream)
{
    CALL(cudaLaunchCooperativeKernel);
    return launch_simply(func, grid, block, args, shared, stream, true);
}
