/* limits_crowds.h - the part of the pair shapes of limits.cu with cooperative grids of one block more than fit: by the call for them, also in the
 * default stream, beside an event or other attributes, by another number than 1, and captured. */
#ifndef LIMITS_CROWDS_H_INCLUDED
#define LIMITS_CROWDS_H_INCLUDED

enum crowding { CROWD_CALL, CROWD_CALL_IN_DEFAULT, CROWD_RECORDS, CROWD_CAPTURED, CROWD_NUMBER_2, CROWD_IGNORED, CROWD_MAPPED, CROWD_WINDOWED,
                CROWD_SCHEDULED, CROWD_CARVED, CROWDINGS };
static const char *const crowding_text[CROWDINGS] = { "by cudaLaunchCooperativeKernel", "by cudaLaunchCooperativeKernel in stream 0",
                                                      "that records an event", "that is captured",
                                                      "by the number 2", "with an attribute that is ignored after its own",
                                                      "with a map of memory-sync domains after its own attribute",
                                                      "with a window after its own attribute",
                                                      "with a scheduling policy after its own attribute",
                                                      "with a carve-out after its own attribute" };

/* Of the three calls, which one refuses a captured grid that does not fit is not promised. */
static cudaError_t end_crowd(cudaStream_t stream, cudaError_t error)
{
    cudaGraph_t graph = NULL;
    cudaError_t end = cudaStreamEndCapture(stream, &graph);

    error = error == cudaSuccess ? end : error;
    if (error == cudaSuccess)
        error = ask_run_once(graph, stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static unsigned dress_crowd(enum crowding crowding, cudaEvent_t event, cudaLaunchAttribute *attrs)
{
    attrs[0] = cooperatively();
    memset(&attrs[1], 0, sizeof(attrs[1]));
    switch (crowding) {
    case CROWD_RECORDS: attrs[1] = recording(event); return 2;
    case CROWD_IGNORED: return 2;
    case CROWD_MAPPED: attrs[1] = hint_of(cudaLaunchAttributeMemSyncDomainMap); return 2;
    case CROWD_WINDOWED: attrs[1] = hint_of(cudaLaunchAttributeAccessPolicyWindow); return 2;
    case CROWD_SCHEDULED: attrs[1] = hint_of(cudaLaunchAttributeClusterSchedulingPolicyPreference); return 2;
    case CROWD_CARVED: attrs[1] = whole_carveout(); return 2;
    case CROWD_NUMBER_2: attrs[0].val.cooperative = 2; return 1; /* "Nonzero indicates a cooperative kernel" */
    default: return 1;
    }
}

static cudaError_t launch_crowd(const struct limits *limits, enum crowding crowding, unsigned blocks, cudaEvent_t event)
{
    cudaStream_t stream = crowding == CROWD_CALL_IN_DEFAULT ? NULL : limits->stream;
    cudaLaunchAttribute attrs[2];
    unsigned count = dress_crowd(crowding, event, attrs);
    struct kernel_args args = limits->args;
    void *params[1];
    dim3 grid, block;
    cudaError_t error;

    params[0] = &args;
    grid.x = blocks;
    block.x = 32;
    grid.y = grid.z = block.y = block.z = 1;
    if (crowding == CROWD_CALL || crowding == CROWD_CALL_IN_DEFAULT)
        return cudaLaunchCooperativeKernel((const void *)SYMBOL(limits_count), grid, block, params, 0, stream);
    if (crowding == CROWD_CAPTURED && cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
        return cudaErrorUnknown;
    error = launch_blocks((const void *)SYMBOL(limits_count), &args, blocks, 32, stream, attrs, count);
    return crowding == CROWD_CAPTURED ? end_crowd(stream, error) : error;
}

static void ask_crowd(struct ask *ask, const struct limits *limits, enum crowding crowding, cudaEvent_t event)
{
    unsigned ran_before = 0, ran_after = 0, fit = (unsigned)limits->together;
    cudaError_t error;
    int counted = count_threads(limits, &ran_before);
    char text[128];

    error = launch_crowd(limits, crowding, fit, event);
    if ((crowding == CROWD_RECORDS || crowding >= CROWD_MAPPED) && is_unoffered(error)) {
        ask_skip(ask, crowding_text[crowding], "such a cooperative launch is not offered here");
        (void)cudaGetLastError();
        return;
    }
    snprintf(text, sizeof(text), "a cooperative grid of as many blocks as fit %s", crowding_text[crowding]);
    ask_expect(ask, text, error, cudaSuccess);
    snprintf(text, sizeof(text), "a cooperative grid of one block more than fit %s", crowding_text[crowding]);
    error = launch_crowd(limits, crowding, fit + 1, event);
    if (crowding == CROWD_CAPTURED)
        ask_expect_refusal(ask, text, error);
    else
        ask_expect(ask, text, error, cudaErrorCooperativeLaunchTooLarge);
    (void)cudaGetLastError();
    ask_expect(ask, "the end of the device's work", cudaDeviceSynchronize(), cudaSuccess);
    snprintf(text, sizeof(text), "threads of grids that fit and do not %s", crowding_text[crowding]);
    counted = counted && count_threads(limits, &ran_after);
    ask_expect_number(ask, text, counted ? (long)(ran_after - ran_before) : -1, (long)fit * 32);
}

static void ask_crowds(struct ask *ask, const struct limits *limits)
{
    cudaEvent_t event = NULL;
    unsigned crowding;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

    ask_expect(ask, "an event", error, cudaSuccess);
    for (crowding = 0; crowding < CROWDINGS && error == cudaSuccess; crowding++)
        ask_crowd(ask, limits, (enum crowding)crowding, event);
    if (event)
        (void)cudaEventDestroy(event);
}

#endif
