/* program_launch.c - launches one step into a stream: a kernel with its attributes in any order, or what is no kernel. */
#include "program.h"

#include <string.h>

#include "axes.h"
#include "try.h"

/* ---- kernels ---- */

void program_add_event(cudaLaunchAttribute *attrs, unsigned *count, cudaEvent_t event, int at_block_start)
{
    cudaLaunchAttributeValue *value = program_add_attribute(attrs, count, cudaLaunchAttributeProgrammaticEvent);

    value->programmaticEvent.event = event;
    value->programmaticEvent.triggerAtBlockStart = at_block_start;
}

static unsigned list_attributes(const struct made *made, unsigned index, cudaEvent_t event, enum link_kind event_kind, int in_stream,
                                cudaLaunchAttribute *attrs)
{
    unsigned n = program_list_attributes(made, index, attrs);

    if (in_stream && made->program->step[index].attribute)
        program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticStreamSerialization)->programmaticStreamSerializationAllowed = 1;
    if (event)
        program_add_event(attrs, &n, event, event_kind == LINK_START);
    return n;
}

static size_t bytes_of_value(const cudaLaunchAttribute *attr)
{
    switch (attr->id) {
    case cudaLaunchAttributeIgnore: return 0;
    case cudaLaunchAttributeClusterDimension: return sizeof(attr->val.clusterDim);
    case cudaLaunchAttributeProgrammaticEvent: return sizeof(attr->val.programmaticEvent);
    case cudaLaunchAttributeLaunchCompletionEvent: return sizeof(attr->val.launchCompletionEvent);
    case cudaLaunchAttributeMemSyncDomainMap: return sizeof(attr->val.memSyncDomainMap);
    case cudaLaunchAttributeAccessPolicyWindow: return sizeof(attr->val.accessPolicyWindow);
    default: return sizeof(int);
    }
}

/* What of an attribute does not count is as the caller's memory was: most callers fill in no more than id and value. */
static void soil(cudaLaunchAttribute *attrs, unsigned n, int byte)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        size_t counts = bytes_of_value(&attrs[i]);
        memset(attrs[i].pad, byte, sizeof(attrs[i].pad));
        memset(attrs[i].val.pad + counts, byte, sizeof(attrs[i].val.pad) - counts);
    }
}

static unsigned shuffle(cudaLaunchAttribute *attrs, unsigned n, struct dice *dice)
{
    unsigned i;

    if (dice_below(dice, 2))
        program_add_attribute(attrs, &n, cudaLaunchAttributeIgnore);
    if (dice_below(dice, 2))
        soil(attrs, n, (int)dice_below(dice, 256));
    for (i = n; i > 1; i--) {
        unsigned k = dice_below(dice, i);
        cudaLaunchAttribute swap = attrs[i - 1];
        attrs[i - 1] = attrs[k];
        attrs[k] = swap;
    }
    return n;
}

/* Of an eager launch: an event that no step relies on, and a preferred carve-out. What else it was given it keeps. */
static void add_others(const struct made *made, const struct step *step, int records, cudaLaunchAttribute *attrs, unsigned *n)
{
    cudaEvent_t begun = made->begun ? made->begun : step->event == EVENT_LAUNCH ? made->nobodys : NULL;

    if (begun)
        program_add_attribute(attrs, n, cudaLaunchAttributeLaunchCompletionEvent)->launchCompletionEvent.event = begun;
    else if (!records && step->event != EVENT_NONE)
        program_add_event(attrs, n, made->nobodys, step->event == EVENT_START);
#if CUDART_VERSION >= 12050
    if (step->carveout != NO_CARVEOUT)
        program_add_attribute(attrs, n, cudaLaunchAttributePreferredSharedMemoryCarveout)->sharedMemCarveout = step->carveout;
#endif
}

/* What says how such a launch runs, and never when: a map of memory-sync domains, a scheduling policy of clusters, a window of memory. */
static void add_hint(const struct made *made, cudaLaunchAttribute *attrs, unsigned *n, struct dice *dice)
{
    static const cudaLaunchAttributeID ids[] = { cudaLaunchAttributeMemSyncDomainMap, cudaLaunchAttributeClusterSchedulingPolicyPreference,
                                                 cudaLaunchAttributeAccessPolicyWindow };
    static const enum cudaClusterSchedulingPolicy policies[] = { cudaClusterSchedulingPolicySpread, cudaClusterSchedulingPolicyLoadBalancing };
    cudaLaunchAttributeID id = ids[dice_below(dice, 3)];
    cudaLaunchAttributeValue *value = program_add_attribute(attrs, n, id);

    if (id == cudaLaunchAttributeMemSyncDomainMap) {
        value->memSyncDomainMap.default_ = (unsigned char)dice_below(dice, made->room->domains);
        value->memSyncDomainMap.remote = (unsigned char)dice_below(dice, made->room->domains);
    } else if (id == cudaLaunchAttributeClusterSchedulingPolicyPreference) {
        value->clusterSchedulingPolicyPreference = policies[dice_below(dice, 2)];
    } else {
        value->accessPolicyWindow.base_ptr = made->room->data;
        value->accessPolicyWindow.num_bytes = dice_below(dice, 3) * STEP_BYTES;
        value->accessPolicyWindow.hitRatio = 0.5f;
        value->accessPolicyWindow.hitProp = dice_below(dice, 2) ? cudaAccessPropertyStreaming : cudaAccessPropertyNormal;
        value->accessPolicyWindow.missProp = cudaAccessPropertyNormal;
    }
}

static cudaError_t launch_kernel(const struct made *made, unsigned index, cudaStream_t stream, cudaEvent_t event, enum link_kind event_kind,
                                 struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    cudaLaunchAttribute attrs[LAUNCH_ATTRIBUTES];
    cudaLaunchConfig_t config = PDL_ZERO;
    struct step_params params = PDL_ZERO;
    const struct cudaKernelNodeParams *kernel = &params.as.kernel;
    unsigned n = list_attributes(made, index, event, event_kind, made->program->streams || program_is_around(made, index), attrs);
    int by_driver;

    program_fill_kernel(made, index, &params);
    config.gridDim = kernel->gridDim;
    config.blockDim = kernel->blockDim;
    config.dynamicSmemBytes = kernel->sharedMemBytes;
    config.stream = stream;
    by_driver = program_goes_by_driver(made, dice);
    if (dice && made->eager && made->nobodys)
        add_others(made, step, event != NULL, attrs, &n);
    if (dice && made->eager && made->room->domains && dice_below(dice, 4) == 0)
        add_hint(made, attrs, &n, dice);
    if (n == 0 && dice && !by_driver && dice_below(dice, 2))
        return cudaLaunchKernel(kernel->func, config.gridDim, config.blockDim, params.values, config.dynamicSmemBytes, stream);
    if (n == 1 && step->cooperative && dice && !by_driver && dice_below(dice, 2))
        return cudaLaunchCooperativeKernel(kernel->func, config.gridDim, config.blockDim, params.values, config.dynamicSmemBytes, stream);
    if (dice) {
        if (made->program->streams && !step->attribute && dice_below(dice, 4) == 0)
            program_add_attribute(attrs, &n, cudaLaunchAttributeProgrammaticStreamSerialization); /* value 0: the same as none */
        n = shuffle(attrs, n, dice);
    }
    config.attrs = n ? attrs : NULL;
    config.numAttrs = n;
    if (by_driver)
        return program_launch_by_driver(made, kernel->func, &config, params.values, dice);
    return cudaLaunchKernelExC(&config, kernel->func, params.values);
}

cudaError_t program_launch_step(const struct made *made, unsigned index, cudaStream_t stream, cudaEvent_t event, enum link_kind event_kind,
                                struct dice *dice)
{
    const struct step *step = &made->program->step[index];
    struct step_params params;

    if (step->kind == STEP_KERNEL || step->kind == STEP_AWAIT)
        return launch_kernel(made, index, stream, event, event_kind, dice);
    program_fill_step(made, index, &params);
    switch (step->kind) {
    case STEP_SET: return program_launch_set(made, index, &params, stream, dice);
    case STEP_COPY: return program_launch_copy(made, index, &params, stream, dice);
    case STEP_HOST: return program_launch_host(made, index, stream, dice);
    default: return cudaErrorNotSupported;
    }
}
