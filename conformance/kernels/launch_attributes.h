/* launch_attributes.h - attributes of a launch, filled in. */
#ifndef LAUNCH_ATTRIBUTES_H_INCLUDED
#define LAUNCH_ATTRIBUTES_H_INCLUDED

#include "pair.h"

static inline cudaLaunchAttribute serialization(int value)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = value;
    return attribute;
}

/* The launch records this event once all blocks have triggered. */
static inline cudaLaunchAttribute recording(cudaEvent_t event)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    return attribute;
}

static inline cudaLaunchAttribute in_clusters(unsigned blocks)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return attribute;
}

static inline cudaLaunchAttribute cooperatively(void)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return attribute;
}

static inline cudaLaunchAttribute of_priority(int priority)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = priority;
    return attribute;
}

static inline cudaLaunchAttribute in_remote_domain(void)
{
    cudaLaunchAttribute attribute = PDL_ZERO;

    attribute.id = cudaLaunchAttributeMemSyncDomain;
    attribute.val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    return attribute;
}

#endif
