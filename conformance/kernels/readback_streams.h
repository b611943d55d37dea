/* readback_streams.h - the pair of readback.cu with streams: their flags, priorities and attributes. */
#ifndef READBACK_STREAMS_H_INCLUDED
#define READBACK_STREAMS_H_INCLUDED

/* The node of a kernel that is captured from this stream, with an attribute or NULL; its graph is the caller's. */
static cudaError_t capture_one(cudaStream_t stream, cudaLaunchAttribute *attributes, unsigned given, cudaGraph_t *graph, cudaGraphNode_t *node)
{
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(1, stream);
    size_t count = 1;
    void *params[1];
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), end;

    if (error != cudaSuccess)
        return error;
    params[0] = &args;
    config.attrs = attributes;
    config.numAttrs = given;
    error = cudaLaunchKernelExC(&config, (const void *)SYMBOL(readback_nothing), params);
    end = cudaStreamEndCapture(stream, graph);
    error = error == cudaSuccess ? end : error;
    return error == cudaSuccess ? cudaGraphGetNodes(*graph, node, &count) : error;
}

/* "Priorities are only available on kernel nodes, and are copied from stream priority during stream capture." */
static void ask_priority_of(struct ask *ask, cudaStream_t stream, int priority, const char *given)
{
    cudaLaunchAttributeValue value;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    int is = priority + 1;
    char text[96];

    memset(&value, 0x5A, sizeof(value));
    snprintf(text, sizeof(text), "priority %d, given %s, of the stream", priority, given);
    ask_expect(ask, text, cudaStreamGetPriority(stream, &is), cudaSuccess);
    ask_expect_number(ask, text, is, priority);
    snprintf(text, sizeof(text), "priority %d, given %s, as an attribute", priority, given);
    ask_expect(ask, text, cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value), cudaSuccess);
    ask_expect_number(ask, text, value.priority, priority);
    memset(&value, 0x5A, sizeof(value));
    snprintf(text, sizeof(text), "priority %d, given %s, of a captured kernel", priority, given);
    ask_expect(ask, text, capture_one(stream, NULL, 0, &graph, &node), cudaSuccess);
    ask_expect(ask, text, cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value), cudaSuccess);
    ask_expect_number(ask, text, value.priority, priority);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

static void ask_unchanged(struct ask *ask, cudaStream_t stream, int priority, unsigned flags)
{
    int told = priority + 1;
    unsigned is = flags + 1;

    ask_expect(ask, "the priority of a stream that was given work", cudaStreamGetPriority(stream, &told), cudaSuccess);
    ask_expect_number(ask, "the priority of a stream that was given work", told, priority);
    ask_expect(ask, "the flags of a stream that was given work", cudaStreamGetFlags(stream, &is), cudaSuccess);
    ask_expect_number(ask, "the flags of a stream that was given work", (long)is, (long)flags);
}

static long domain_of(struct ask *ask, cudaStream_t stream)
{
    cudaLaunchAttributeValue value;

    memset(&value, 0x5A, sizeof(value));
    ask_expect(ask, "the domain of a stream", cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &value), cudaSuccess);
    return (long)value.memSyncDomain;
}

/* Work in a stream changes neither its priority nor its flags, while it runs and later; nor does what a launch has of its own, another
 * priority and another domain. */
static void ask_used(struct ask *ask, cudaStream_t stream, int priority, int other, unsigned flags)
{
    cudaLaunchAttribute attributes[2] = { of_priority(other), in_remote_domain() };
    struct kernel_args args = PDL_ZERO;
    cudaLaunchConfig_t config = one_block(1, stream);
    long domain = domain_of(ask, stream);
    void *params[1];
    unsigned own, i;

    params[0] = &args;
    config.attrs = attributes;
    for (own = 0; own < 2; own++) {
        config.numAttrs = own ? 2 : 0;
        ask_expect(ask, "a launch", cudaLaunchKernelExC(&config, (const void *)SYMBOL(readback_nothing), params), cudaSuccess);
        for (i = 0; i < 2; i++) {
            ask_unchanged(ask, stream, priority, flags);
            ask_expect(ask, "its end", cudaStreamSynchronize(stream), cudaSuccess);
        }
    }
    ask_expect_number(ask, "the domain of a stream after a launch in another one", domain_of(ask, stream), domain);
    ask_priority_of(ask, stream, priority, "before a launch with another one");
}

/* Attributes that are not "valid for streams": whether each is refused is asked elsewhere (COMP-04g). */
static void refuse_attributes(cudaStream_t stream)
{
    static const cudaLaunchAttributeID others[] = { cudaLaunchAttributeCooperative, cudaLaunchAttributeProgrammaticStreamSerialization,
                                                    cudaLaunchAttributeClusterDimension };
    cudaLaunchAttributeValue value = PDL_ZERO;
    unsigned i;

    value.clusterDim.x = value.clusterDim.y = value.clusterDim.z = 1;
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        (void)cudaStreamSetAttribute(stream, others[i], &value);
    (void)cudaGetLastError();
}

/* A launch's own priority counts, whatever its stream has, and wherever it stands among the attributes. */
static void ask_own_priority_at(struct ask *ask, cudaStream_t stream, int priority, unsigned place)
{
    cudaLaunchAttribute attributes[3] = { serialization(1), serialization(1), serialization(1) };
    cudaLaunchAttributeValue value;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    char text[64];

    memset(&value, 0x5A, sizeof(value));
    attributes[1] = in_remote_domain();
    attributes[place] = of_priority(priority);
    snprintf(text, sizeof(text), "priority %d of a captured launch, attribute %u", priority, place);
    ask_expect(ask, text, capture_one(stream, attributes, place + 1, &graph, &node), cudaSuccess);
    ask_expect(ask, text, cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value), cudaSuccess);
    ask_expect_number(ask, text, value.priority, priority);
    if (graph)
        (void)cudaGraphDestroy(graph);
}

static void ask_own_priority(struct ask *ask, cudaStream_t stream, int priority)
{
    unsigned place;

    for (place = 0; place < 3; place++)
        ask_own_priority_at(ask, stream, priority, place);
}

/* "If the specified priority is outside the numerical range, it will automatically be clamped" */
static void ask_clamped(struct ask *ask, int least, int greatest)
{
    cudaStream_t made;

    ask_expect(ask, "a stream beyond the least priority", cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, least + 1), cudaSuccess);
    ask_priority_of(ask, made, least, "as one less");
    ask_own_priority(ask, made, greatest);
    (void)cudaStreamDestroy(made);
    ask_expect(ask, "a stream beyond the greatest priority", cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, greatest - 1), cudaSuccess);
    ask_priority_of(ask, made, greatest, "as one more");
    ask_own_priority(ask, made, least);
    (void)cudaStreamDestroy(made);
}

static void ask_priorities(struct ask *ask)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    int least = 0, greatest = 0, alone = 1, priority; /* "A NULL may be passed in for either argument if the value is not desired." */
    cudaStream_t made, changed;

    ask_expect(ask, "the range of priorities", cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
    ask_expect(ask, "the greatest priority alone", cudaDeviceGetStreamPriorityRange(NULL, &alone), cudaSuccess);
    ask_expect_number(ask, "the greatest priority alone", alone, greatest);
    alone = least + 1;
    ask_expect(ask, "the least priority alone", cudaDeviceGetStreamPriorityRange(&alone, NULL), cudaSuccess);
    ask_expect_number(ask, "the least priority alone", alone, least);
    for (priority = greatest; priority <= least; priority++) {
        value.priority = priority;
        ask_expect(ask, "a stream", cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority), cudaSuccess);
        ask_expect(ask, "another", cudaStreamCreateWithFlags(&changed, cudaStreamNonBlocking), cudaSuccess);
        ask_priority_of(ask, made, priority, "when it was made");
        ask_expect(ask, "a priority", cudaStreamSetAttribute(changed, cudaLaunchAttributePriority, &value), cudaSuccess);
        ask_priority_of(ask, changed, priority, "later");
        refuse_attributes(made);
        refuse_attributes(changed);
        ask_priority_of(ask, made, priority, "before an attribute that it refused");
        ask_priority_of(ask, changed, priority, "later, and before an attribute that it refused");
        ask_used(ask, made, priority, greatest + least - priority, cudaStreamNonBlocking);
        ask_used(ask, changed, priority, greatest + least - priority, cudaStreamNonBlocking);
        (void)cudaStreamDestroy(made);
        ask_expect(ask, "a blocking stream", cudaStreamCreateWithPriority(&made, cudaStreamDefault, priority), cudaSuccess);
        ask_priority_of(ask, made, priority, "when the blocking stream was made");
        ask_used(ask, made, priority, greatest + least - priority, cudaStreamDefault);
        (void)cudaStreamDestroy(made);
        (void)cudaStreamDestroy(changed);
    }
    ask_clamped(ask, least, greatest);
}

/* None of them is a flag. */
static void give_attributes(struct ask *ask, cudaStream_t stream)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    cudaStream_t other;

    ask_expect(ask, "a priority of its own", cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value), cudaSuccess);
    value.syncPolicy = cudaSyncPolicyYield;
    ask_expect(ask, "a policy of its own", cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value), cudaSuccess);
    ask_expect(ask, "another stream", cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    ask_expect(ask, "the attributes of another stream", cudaStreamCopyAttributes(stream, other), cudaSuccess);
    (void)cudaStreamDestroy(other);
}

/* "cudaStreamCreate: creates a new asynchronous stream", which blocks as one of flags 0 does; neither captures nor attributes change that. */
static void ask_default(struct ask *ask)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    unsigned i, is;
    int priority;

    ask_expect(ask, "a stream by cudaStreamCreate", (cudaStreamCreate)(&stream), cudaSuccess);
    for (i = 0; i < 3; i++) { /* before and after a capture, and with attributes; drivers of release 580 do not tell flags in one */
        is = 99;
        priority = 99;
        if (i == 1) {
            ask_expect(ask, "a capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
            ask_expect(ask, "its end", cudaStreamEndCapture(stream, &graph), cudaSuccess);
        }
        if (i == 2)
            give_attributes(ask, stream);
        ask_expect(ask, "the flags of a stream by cudaStreamCreate", cudaStreamGetFlags(stream, &is), cudaSuccess);
        ask_expect_number(ask, "the flags of a stream by cudaStreamCreate", (long)is, (long)cudaStreamDefault);
        ask_expect(ask, "the priority of a stream by cudaStreamCreate", cudaStreamGetPriority(stream, &priority), cudaSuccess);
        ask_expect_number(ask, "the priority of a stream by cudaStreamCreate", priority, 0);
    }
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaStreamDestroy(stream);
}

static const int policies[] = { cudaSyncPolicySpin, cudaSyncPolicyYield, cudaSyncPolicyBlockingSync, cudaSyncPolicyAuto };
static const int domains[] = { cudaLaunchMemSyncDomainRemote, cudaLaunchMemSyncDomainDefault };

static void ask_attribute(struct ask *ask, cudaStream_t stream, cudaLaunchAttributeID id, const char *what, int number)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    int domain = id == cudaLaunchAttributeMemSyncDomain;
    char text[64];

    if (domain)
        value.memSyncDomain = (cudaLaunchMemSyncDomain)number;
    else
        value.syncPolicy = (enum cudaSynchronizationPolicy)number;
    snprintf(text, sizeof(text), "%s %d of a stream", what, number);
    ask_expect(ask, text, cudaStreamSetAttribute(stream, id, &value), cudaSuccess);
    memset(&value, 0x5A, sizeof(value));
    ask_expect(ask, text, cudaStreamGetAttribute(stream, id, &value), cudaSuccess);
    ask_expect_number(ask, text, domain ? (long)value.memSyncDomain : (long)value.syncPolicy, number);
}

static void ask_domain_map(struct ask *ask, cudaStream_t stream, unsigned char plain, unsigned char remote)
{
    cudaLaunchAttributeValue value = PDL_ZERO;
    char text[64];

    value.memSyncDomainMap.default_ = plain;
    value.memSyncDomainMap.remote = remote;
    snprintf(text, sizeof(text), "domains %u and %u of a stream", plain, remote);
    ask_expect(ask, text, cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomainMap, &value), cudaSuccess);
    memset(&value, 0x5A, sizeof(value));
    ask_expect(ask, text, cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomainMap, &value), cudaSuccess);
    ask_expect_number(ask, text, value.memSyncDomainMap.default_ * 256l + value.memSyncDomainMap.remote, plain * 256l + remote);
}

/* Only the domains that the device has may be named. */
static void ask_domain_maps(struct ask *ask, cudaStream_t stream)
{
    int device, domains = 0;

    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&domains, cudaDevAttrMemSyncDomainCount, device) != cudaSuccess) {
        ask_skip(ask, "the number of domains", "it cannot be read");
        return;
    }
    ask_domain_map(ask, stream, 0, 0);
    if (domains < 2)
        return;
    ask_domain_map(ask, stream, 1, 0);
    ask_domain_map(ask, stream, 0, 1);
}

#define TOGETHER 4u

static int same_value(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *a, const cudaLaunchAttributeValue *b)
{
    switch (id) {
    case cudaLaunchAttributePriority: return a->priority == b->priority;
    case cudaLaunchAttributeSynchronizationPolicy: return a->syncPolicy == b->syncPolicy;
    case cudaLaunchAttributeMemSyncDomain: return a->memSyncDomain == b->memSyncDomain;
    default: return a->memSyncDomainMap.default_ == b->memSyncDomainMap.default_ && a->memSyncDomainMap.remote == b->memSyncDomainMap.remote;
    }
}

static const cudaLaunchAttributeID ids[TOGETHER] = { cudaLaunchAttributePriority, cudaLaunchAttributeSynchronizationPolicy,
                                                     cudaLaunchAttributeMemSyncDomain, cudaLaunchAttributeMemSyncDomainMap };

static cudaError_t read_all(cudaStream_t stream, cudaLaunchAttributeValue *told)
{
    cudaError_t error = cudaSuccess;
    unsigned i;

    memset(told, 0x5A, TOGETHER * sizeof(*told));
    for (i = 0; i < TOGETHER && error == cudaSuccess; i++)
        error = cudaStreamGetAttribute(stream, ids[i], &told[i]);
    return error;
}

/* Gives a stream an attribute, and destroys it. */
static cudaError_t give_and_destroy(unsigned which, const cudaLaunchAttributeValue *value)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (error != cudaSuccess)
        return error;
    error = cudaStreamSetAttribute(stream, ids[which], value);
    (void)cudaStreamDestroy(stream);
    return error;
}

/* A new stream is as one that was made before it, whatever attributes a stream had that was destroyed in between. */
static void ask_fresh_streams(struct ask *ask)
{
    cudaLaunchAttributeValue value = PDL_ZERO, first[TOGETHER], told[TOGETHER];
    cudaStream_t before = NULL, fresh;
    unsigned i, j, differ = 0;
    int least, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = read_all(before, first);
    for (i = 0; i < 2 * (TOGETHER - 1) && error == cudaSuccess; i++) { /* two values of each but the domains: a device may have but one */
        switch (i % (TOGETHER - 1)) {
        case 0: value.priority = i ? least : greatest; break;
        case 1: value.syncPolicy = i == 1 ? cudaSyncPolicyYield : cudaSyncPolicyBlockingSync; break;
        default: value.memSyncDomain = i == 2 ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault; break;
        }
        error = give_and_destroy(i % (TOGETHER - 1), &value);
        if (error == cudaSuccess)
            error = cudaStreamCreateWithFlags(&fresh, cudaStreamNonBlocking);
        if (error != cudaSuccess)
            break;
        error = read_all(fresh, told);
        for (j = 0; j < TOGETHER && error == cudaSuccess; j++)
            differ += !same_value(ids[j], &told[j], &first[j]);
        (void)cudaStreamDestroy(fresh);
    }
    if (before)
        (void)cudaStreamDestroy(before);
    ask_expect(ask, "a stream after one that had attributes", error, cudaSuccess);
    ask_expect_none(ask, "attributes of a new stream that one before it had", differ, i * TOGETHER);
}

/* All attributes of a stream, each in turn as the last one: none changes another one, nor does one that is refused. */
static void ask_together(struct ask *ask)
{
    cudaLaunchAttributeValue value[TOGETHER] = PDL_ZERO, told;
    unsigned last, i, changed = 0;
    cudaStream_t stream = NULL;
    int least, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    value[0].priority = greatest;
    value[1].syncPolicy = cudaSyncPolicyBlockingSync;
    value[2].memSyncDomain = cudaLaunchMemSyncDomainRemote;
    for (last = 0; last < TOGETHER && error == cudaSuccess; last++) { /* both domains stay the first one: a device may have but one */
        error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        for (i = 0; i < TOGETHER && error == cudaSuccess; i++)
            error = cudaStreamSetAttribute(stream, ids[(last + 1 + i) % TOGETHER], &value[(last + 1 + i) % TOGETHER]);
        if (error == cudaSuccess)
            refuse_attributes(stream);
        for (i = 0; i < TOGETHER && error == cudaSuccess; i++) {
            error = cudaStreamGetAttribute(stream, ids[i], &told);
            changed += error == cudaSuccess && !same_value(ids[i], &told, &value[i]);
        }
        if (stream)
            (void)cudaStreamDestroy(stream);
        stream = NULL;
    }
    ask_expect(ask, "several attributes of a stream", error, cudaSuccess);
    ask_expect_none(ask, "attributes that another one has changed", changed, TOGETHER * TOGETHER);
}

#define ID_STREAMS 8u

/* "The Id is unique for the life of the program": also when its stream is gone. */
static void ask_ids(struct ask *ask)
{
    unsigned long long ids[1 + ID_STREAMS] = { 0 }, again = 0;
    cudaStream_t streams[1 + ID_STREAMS] = { NULL };
    cudaError_t error = cudaSuccess;
    unsigned i, j, same = 0, changed = 0, asked = 0;

    for (i = 0; i <= ID_STREAMS && error == cudaSuccess; i++) {
        error = cudaStreamCreateWithFlags(&streams[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault);
        if (error == cudaSuccess)
            error = cudaStreamGetId(streams[i], &ids[i]);
        if (error == cudaSuccess)
            error = cudaStreamGetId(streams[i], &again);
        changed += again != ids[i];
        for (j = 0; j < i; j++, asked++)
            same += ids[j] == ids[i];
        if (i == 0 && error == cudaSuccess) {
            error = cudaStreamDestroy(streams[0]);
            streams[0] = NULL;
        }
    }
    ask_expect(ask, "the ids of streams", error, cudaSuccess);
    ask_expect_none(ask, "ids that were other ones when they were asked for again", changed, i);
    ask_expect_none(ask, "two streams with one id, of which one may be gone", same, asked);
    for (i = 0; i <= ID_STREAMS; i++)
        if (streams[i])
            (void)cudaStreamDestroy(streams[i]);
}

static void ask_streams(struct ask *ask)
{
    cudaStream_t stream;
    unsigned i;

    ask_fresh_streams(ask);
    ask_ids(ask);
    ask_priorities(ask);
    ask_default(ask);
    ask_together(ask);
    ask_expect(ask, "a stream", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        ask_attribute(ask, stream, cudaLaunchAttributeSynchronizationPolicy, "policy", policies[i]);
    for (i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
        ask_attribute(ask, stream, cudaLaunchAttributeMemSyncDomain, "domain", domains[i]);
    ask_domain_maps(ask, stream);
    (void)cudaStreamDestroy(stream);
}

#endif
