/* readback_flags.h - the pair of readback.cu with the flags that executable graphs were made with. */
#ifndef READBACK_FLAGS_H_INCLUDED
#define READBACK_FLAGS_H_INCLUDED

#define FLAGGED 4u
static const unsigned long long exec_flags[FLAGGED] = { 0, cudaGraphInstantiateFlagAutoFreeOnLaunch, cudaGraphInstantiateFlagUseNodePriority,
                                                        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUseNodePriority };

/* By the runtime's call, and by the driver's, if it has one. */
static cudaError_t tell_flags(cudaGraphExec_t exec, unsigned long long *flags, int by_driver)
{
    typedef CUresult(CUDAAPI *flags_fn)(CUgraphExec, cuuint64_t *);
    void *function = by_driver ? driver_function_if_any("cuGraphExecGetFlags", 12000) : NULL;
    cuuint64_t told = ~0ull;
    cudaError_t error;

    if (!function)
        return cudaGraphExecGetFlags(exec, flags);
    error = (cudaError_t)((flags_fn)function)(exec, &told);
    *flags = told;
    return error;
}

/* Driver 580.159.04 does not tell the flag for node priorities, although it was passed: that flag is not compared. */
static void expect_flags(struct ask *ask, const char *when, cudaGraphExec_t exec, unsigned which)
{
    unsigned long long is, priority = cudaGraphInstantiateFlagUseNodePriority;
    char text[96];
    int by_driver;

    snprintf(text, sizeof(text), "the flags of an executable graph made with %llu, %s", exec_flags[which], when);
    for (by_driver = 0; by_driver < 2; by_driver++) {
        is = ~0ull;
        ask_expect(ask, text, tell_flags(exec, &is, by_driver), cudaSuccess);
        ask_expect_number(ask, text, (long)(is & ~priority), (long)(exec_flags[which] & ~priority));
    }
}

/* "Returns the flags that were passed to instantiation": by any of the calls, beside others of the same graph, after uploads, launches and
 * updates. */
enum maker { BY_INSTANTIATE, WITH_FLAGS, WITH_PARAMS };

static cudaError_t make_flagged(cudaGraphExec_t *exec, cudaGraph_t graph, enum maker maker, unsigned long long flags)
{
    cudaGraphInstantiateParams params = PDL_ZERO;

    params.flags = flags;
    switch (maker) {
    case BY_INSTANTIATE: return cudaGraphInstantiate(exec, graph, flags);
    case WITH_FLAGS: return cudaGraphInstantiateWithFlags(exec, graph, flags);
    default: return cudaGraphInstantiateWithParams(exec, graph, &params);
    }
}

static void ask_flags_by(struct ask *ask, enum maker maker)
{
    struct kernel_args args = PDL_ZERO;
    cudaGraphExecUpdateResultInfo info = PDL_ZERO;
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec[FLAGGED] = { NULL, NULL, NULL, NULL };
    cudaGraphNode_t node;
    unsigned i, k;

    ask_expect(ask, "a graph", cudaGraphCreate(&graph, 0), cudaSuccess);
    ask_expect(ask, "its kernel", ask_add_kernel(&node, graph, (const void *)SYMBOL(readback_nothing), &args, 1), cudaSuccess);
    ask_expect(ask, "a clone", cudaGraphClone(&other, graph), cudaSuccess);
    for (i = 0; i < FLAGGED; i++)
        ask_expect(ask, "an executable graph", make_flagged(&exec[i], graph, maker, exec_flags[i]), cudaSuccess);
    for (i = 0; i < FLAGGED; i++)
        expect_flags(ask, "beside others", exec[i], i);
    for (i = 0; i < FLAGGED; i++) {
        ask_expect(ask, "an upload", cudaGraphUpload(exec[i], ask->stream), cudaSuccess);
        expect_flags(ask, "uploaded", exec[i], i);
        for (k = 0; k < 3; k++) {
            ask_expect(ask, "a launch", cudaGraphLaunch(exec[i], ask->stream), cudaSuccess);
            ask_expect(ask, "its end", cudaStreamSynchronize(ask->stream), cudaSuccess);
            expect_flags(ask, "launched", exec[i], i);
        }
        ask_expect_update(ask, "an update", cudaGraphExecUpdate(exec[i], other, &info));
        expect_flags(ask, "updated", exec[i], i);
        (void)cudaGraphExecDestroy(exec[i]);
    }
    (void)cudaGraphDestroy(graph);
    (void)cudaGraphDestroy(other);
}

static void ask_flags(struct ask *ask)
{
    ask_flags_by(ask, BY_INSTANTIATE);
    ask_flags_by(ask, WITH_FLAGS);
    ask_flags_by(ask, WITH_PARAMS);
}

#endif
