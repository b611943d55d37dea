/* launch_attributes.h - attributes of a launch, filled in. */
#ifndef LAUNCH_ATTRIBUTES_H_INCLUDED
#define LAUNCH_ATTRIBUTES_H_INCLUDED

#include <string.h>

#include "pair.h"

/* Of its value those bytes count that the id's member has: the others are as they come in programs that fill in no more. */
static inline cudaLaunchAttribute unset_attribute(cudaLaunchAttributeID id)
{
    cudaLaunchAttribute attribute;

    memset(&attribute, 0xA5, sizeof(attribute));
    attribute.id = id;
    return attribute;
}

static inline cudaLaunchAttribute serialization(int value)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeProgrammaticStreamSerialization);

    attribute.val.programmaticStreamSerializationAllowed = value;
    return attribute;
}

/* The launch records this event once all blocks have triggered. */
static inline cudaLaunchAttribute recording(cudaEvent_t event)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeProgrammaticEvent);

    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.flags = attribute.val.programmaticEvent.triggerAtBlockStart = 0;
    return attribute;
}

/* The same once all blocks have triggered, or, at their starts, have begun. */
static inline cudaLaunchAttribute recording_at(cudaEvent_t event, int at_starts)
{
    cudaLaunchAttribute attribute = recording(event);

    attribute.val.programmaticEvent.triggerAtBlockStart = at_starts;
    return attribute;
}

/* The launch records this event once all blocks have begun. */
static inline cudaLaunchAttribute recording_begin(cudaEvent_t event)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeLaunchCompletionEvent);

    attribute.val.launchCompletionEvent.event = event;
    attribute.val.launchCompletionEvent.flags = 0;
    return attribute;
}

static inline cudaLaunchAttribute in_clusters(unsigned blocks)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeClusterDimension);

    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return attribute;
}

static inline cudaLaunchAttribute cooperatively(void)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeCooperative);

    attribute.val.cooperative = 1;
    return attribute;
}

static inline cudaLaunchAttribute of_priority(int priority)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributePriority);

    attribute.val.priority = priority;
    return attribute;
}

static inline cudaLaunchAttribute in_remote_domain(void)
{
    cudaLaunchAttribute attribute = unset_attribute(cudaLaunchAttributeMemSyncDomain);

    attribute.val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    return attribute;
}

/* An attribute that says how, and never when: a carve-out of 0 %, a map of memory-sync domains, a scheduling policy of clusters, a window of
 * no bytes, NVLink-centric scheduling, preferred clusters of one block. Devices may refuse it. */
static inline cudaLaunchAttribute hint_of(cudaLaunchAttributeID id)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = id;
    if (id == cudaLaunchAttributeMemSyncDomainMap)
        attribute.val.memSyncDomainMap.default_ = 1;
    else if (id == cudaLaunchAttributeClusterSchedulingPolicyPreference)
        attribute.val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
    else if (id == cudaLaunchAttributeAccessPolicyWindow)
        attribute.val.accessPolicyWindow.hitProp = attribute.val.accessPolicyWindow.missProp = cudaAccessPropertyNormal;
#if CUDART_VERSION >= 12080
    else if (id == cudaLaunchAttributePreferredClusterDimension)
        attribute.val.preferredClusterDim.x = attribute.val.preferredClusterDim.y = attribute.val.preferredClusterDim.z = 1;
#endif
#if CUDART_VERSION >= 13000
    else if (id == cudaLaunchAttributeNvlinkUtilCentricScheduling)
        attribute.val.nvlinkUtilCentricScheduling = 1;
#endif
    return attribute;
}

#define HINT_KINDS 4u

static inline cudaLaunchAttribute nth_hint(unsigned n)
{
    switch (n) {
    case 0: return hint_of(cudaLaunchAttributeAccessPolicyWindow);
    case 1: return hint_of(cudaLaunchAttributeClusterSchedulingPolicyPreference);
    case 2: return hint_of(cudaLaunchAttributeMemSyncDomainMap);
    default: return hint_of((cudaLaunchAttributeID)14); /* the carve-out, which older toolkits do not name */
    }
}

/* All shared memory, so that no fewer blocks fit. */
static inline cudaLaunchAttribute whole_carveout(void)
{
    cudaLaunchAttribute attribute = nth_hint(HINT_KINDS - 1);
    const int percent = 100;

    memcpy(&attribute.val, &percent, sizeof(percent));
    return attribute;
}

/* The answers of a device that does not offer such a launch. */
static inline int is_unoffered(cudaError_t error) { return error == cudaErrorNotSupported || error == cudaErrorInvalidValue; }

#endif
