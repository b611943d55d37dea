/* joins_test.c - what joins.cu asks in turn is asked of every stream, mode and policy that its trials name. And what the host finds or is
 * told is judged whole: the words of copies, memsets and followers, values and the words beside them, allocations, callbacks, how often
 * launches ran, the graph of a capture that a stream joins, and executable graphs. */
#define PDL_MODEL 1
#define IMAGE_SUFFIX told
#define IMAGE_TAG "told"
#include "joins.cu" /* whole: what is asked is static */

#include "check.h"
#include "edges_of_capture.h"

#define TURNS 64u              /* as many as a smoke run has, or more */
#define MOST 64u

static struct joins joins;
static unsigned modes, policies;
static cudaStream_t worked_in[MOST];
static unsigned streams;       /* different ones among those */

cudaError_t __real_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if (stream == cudaStreamLegacy)
        modes |= 1u << mode;
    return __real_cudaStreamBeginCapture(stream, mode);
}

cudaError_t __real_cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    if (id == cudaLaunchAttributeSynchronizationPolicy)
        policies |= 1u << value->syncPolicy;
    return __real_cudaStreamSetAttribute(stream, id, value);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    unsigned i;

    for (i = 0; i < streams && worked_in[i] != config->stream; i++)
        ;
    if (function == (const void *)SYMBOL(joins_work) && i == streams && streams < MOST)
        worked_in[streams++] = config->stream;
    return __real_cudaLaunchKernelExC(config, function, args);
}

/* Copies that wait leave their last word wrong. */
static unsigned spoils;

cudaError_t __real_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    cudaError_t error = __real_cudaMemcpy2D(to, to_pitch, from, pitch, width, height, kind);

    joins.pinned->seen[0][PLACE_WORDS - 1] ^= spoils;
    return error;
}

cudaError_t __real_cudaMemcpy3D(const struct cudaMemcpy3DParms *copy);
cudaError_t __wrap_cudaMemcpy3D(const struct cudaMemcpy3DParms *copy);
cudaError_t __wrap_cudaMemcpy3D(const struct cudaMemcpy3DParms *copy)
{
    cudaError_t error = __real_cudaMemcpy3D(copy);

    joins.pinned->seen[0][PLACE_WORDS - 1] ^= spoils;
    return error;
}

/* What the host finds once it has waited for the device, or for a stream. */
static enum { SEEN_RIGHT, LAST_BYTE_WRONG, WORK_LEFT, LAST_BLOCK_WRONG, WORD_BEFORE_WRONG, WORD_AFTER_WRONG } sees;

static void spoil_words(void)
{
    if (sees == LAST_BLOCK_WRONG)
        joins.pinned->seen[0][ROW_BLOCKS * PLACE_WORDS - 1] = 0;
    if (sees == WORD_BEFORE_WRONG || sees == WORD_AFTER_WRONG)
        joins.pinned->words[sees == WORD_BEFORE_WRONG ? VALUE_WORD - 1 : VALUE_WORD + 1] ^= 1;
}

cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = __real_cudaStreamSynchronize(stream);

    spoil_words();
    return error;
}

static struct pinned *latest;  /* of the case that got its memory last */
static int more_flights;       /* launches that are counted there beyond those that ran */

cudaError_t __real_cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t __wrap_cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t __wrap_cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    cudaError_t error = __real_cudaHostAlloc(memory, bytes, flags);

    latest = bytes == sizeof(*latest) ? (struct pinned *)*memory : latest;
    return error;
}

cudaError_t __real_cudaDeviceSynchronize(void);
cudaError_t __wrap_cudaDeviceSynchronize(void);
cudaError_t __wrap_cudaDeviceSynchronize(void)
{
    cudaError_t error = __real_cudaDeviceSynchronize();

    if (sees == LAST_BYTE_WRONG)
        ((unsigned char *)joins.pinned->seen[0])[AREA_BYTES - 1] ^= 1;
    if (sees == WORK_LEFT)
        joins.pinned->state.left = 1;
    if (more_flights)
        latest->state.finished += (uint32_t)more_flights;
    spoil_words();
    return error;
}

/* What is told of a graph that was made executable: all, or without the node or the result, which stay as the caller had them. */
static enum { TELLS_ALL, NODE_LEFT, RESULT_LEFT } tells;

cudaError_t __real_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params);
cudaError_t __wrap_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params);
cudaError_t __wrap_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    cudaGraphInstantiateParams before = *params;
    cudaError_t error = __real_cudaGraphInstantiateWithParams(exec, graph, params);

    params->errNode_out = tells == NODE_LEFT ? before.errNode_out : params->errNode_out;
    params->result_out = tells == RESULT_LEFT ? before.result_out : params->result_out;
    return error;
}

/* Allocations of memory that nobody uses. One of them may be given the memory of the one before. */
static int lends;
static unsigned lent_so_far, shared_at; /* allocations; the one that shares, 0: none */

cudaError_t __real_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
    static char room[4 * APART * 6 * 4096];
    static char *last;
    static size_t used;

    if (!lends)
        return __real_cudaMallocAsync(memory, bytes, stream);
    if (++lent_so_far == 1)
        used = 0;
    *memory = lent_so_far == shared_at ? last : room + used;
    last = (char *)*memory;
    used += bytes;
    return cudaSuccess;
}

cudaError_t __real_cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t __wrap_cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t __wrap_cudaFreeAsync(void *memory, cudaStream_t stream) { return lends ? cudaSuccess : __real_cudaFreeAsync(memory, stream); }

static unsigned asked_for, lies_at; /* questions about captures; the one that is answered with another graph, 0: none */

cudaError_t WRAPPED(edges_of_capture)(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count)
{
    cudaError_t error = REAL(edges_of_capture)(stream, status, id, graph, nodes, data, count);

    if (++asked_for == lies_at && graph)
        *graph = (cudaGraph_t)(void *)&asked_for;
    return error;
}

static int worked(cudaStream_t stream)
{
    unsigned i;

    for (i = 0; i < streams && worked_in[i] != stream; i++)
        ;
    return i < streams;
}

/* This question in all of its turns, of so many that are asked by turns. Are all answers right? */
static int ask_turns(cudaError_t (*make)(struct joins *), unsigned count)
{
    cudaError_t error = cudaSuccess;
    int right = 1;

    modes = policies = streams = 0;
    for (joins.round = 0; joins.round < TURNS && error == cudaSuccess; joins.round++) {
        joins.trial = joins.round * count;
        error = make(&joins);
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        right &= !is_stale(&joins);
    }
    return error == cudaSuccess && right;
}

/* Two turns of copies that wait, of rows and of layers: how many are told to be wrong? */
static unsigned wrong_copies(unsigned how)
{
    unsigned wrong = 0;

    spoils = how;
    for (joins.round = 0; joins.round < 2; joins.round++) {
        joins.trial = joins.round;
        wrong += waiting_copies(&joins) == cudaSuccess && is_stale(&joins);
    }
    spoils = 0;
    return wrong;
}

/* Words that a memset left, but for one. */
static int set_is_wrong(unsigned at)
{
    unsigned i;

    for (i = 0; i < PLACE_WORDS; i++)
        joins.pinned->words[i] = SET_BYTE * 0x1010101u ^ (i == at);
    return look_at_set(&joins, cudaSuccess) == cudaSuccess && joins.pinned->host_is_stale;
}

/* A short copy in the device, to the end of its area or not. */
static unsigned wrong_moves(void)
{
    static struct areas areas;
    struct moving m = PDL_ZERO;
    unsigned wrong = 0;

    areas.joins = &joins;
    m.mover = MOVER_COPY;
    m.from = m.to = AREA_DEVICE;
    m.extent.y = m.extent.z = 1;
    shape_short(&m);
    check(cudaMalloc((void **)&areas.device, 2 * AREA_BYTES) == cudaSuccess && try_move(&areas, &m, &wrong) == cudaSuccess, "a short copy");
    (void)cudaFree(areas.device);
    return wrong;
}

/* A row of large kernels, whose last one may have found work left. */
static int row_is_stale(void)
{
    joins.trial = joins.round = 0;
    return row_of_large(&joins) == cudaSuccess && is_stale(&joins);
}

/* A captured kernel that a large grid follows. */
static int lanes_are_stale(void)
{
    joins.round = 1;
    joins.trial = LANE_WAYS;
    return lanes_bare(&joins) == cudaSuccess && is_stale(&joins);
}

/* How many answers about a stream that waits for a captured launch's event are wrong, if this question is answered with another graph. */
static unsigned wrong_told(unsigned at)
{
    unsigned wrong = joins.ask->wrong;

    joins.trial = joins.round = asked_for = 0;
    lies_at = at;
    check(captured_events(&joins, 1) == cudaSuccess, "a captured launch with an event");
    lies_at = 0;
    return joins.ask->wrong - wrong;
}

/* One trial of four launches of one executable graph, if so many more are counted. */
static unsigned wrong_flights(int more)
{
    struct ask ask = *joins.ask;

    ask.trials = 1;
    ask.wrong = 0;
    more_flights = more;
    ask_flights(&ask);
    more_flights = 0;
    return ask.wrong;
}

/* Whether it is found that the allocation of this number shares the memory of the one before. */
static int memory_is_shared(unsigned at)
{
    joins.trial = joins.round = lent_so_far = 0;
    shared_at = at;
    lends = 1;
    check(allocate_apart(&joins) == cudaSuccess && lent_so_far == 3 * APART, "allocations in turn");
    lends = 0;
    return joins.pinned->host_is_stale != 0;
}

/* Whether a value that a stream writes for the host is found wrong, or a word beside it. */
static int value_is_wrong(void)
{
    joins.trial = joins.round = 0;
    return value_for_host(&joins) == cudaSuccess && joins.pinned->host_is_stale;
}

/* Whether what is told of a graph that is made executable is found wrong. */
static int instance_is_wrong(unsigned told)
{
    struct lent lent = PDL_ZERO;
    cudaGraphExec_t exec = NULL;

    tells = told;
    prepare(&joins, 1, 0);
    check(make_lent(&joins, 0, &lent) == cudaSuccess && instantiate_with(&joins, &lent, 0, joins.stream[0], &exec) == cudaSuccess, "an instance");
    tells = TELLS_ALL;
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(lent.graph);
    return joins.pinned->host_is_stale != 0;
}

/* How many wrong things a callback finds that is called for this stream with this status, once the work's words are there. */
static unsigned call_is_wrong(cudaStream_t stream, cudaError_t status)
{
    struct called called = { &joins, joins.stream[0], 1, 0, 0 };

    prepare(&joins, 1, 0);
    call_back(stream, status, &called);
    return called.wrong;
}

static unsigned own_streams(void)
{
    unsigned i, found = 0;

    for (i = 0; i < PLACES; i++)
        found += (unsigned)worked(joins.stream[i]);
    return found;
}

static unsigned missed_sharing(void)
{
    unsigned at, missed = 0;

    for (at = 2; at <= 3 * APART; at++)
        missed += !memory_is_shared(at);
    return missed;
}

int main(void)
{
    static const unsigned all_policies = 1u << cudaSyncPolicySpin | 1u << cudaSyncPolicyYield | 1u << cudaSyncPolicyBlockingSync;
    struct ask ask = PDL_ZERO;

    if (cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) != cudaSuccess ||
        open_joins(&joins, &ask, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    check(ask_turns(refused_legacy_capture, REFUSED_JOINS) && modes == 7, "the legacy stream is captured in each of the three modes");
    check(ask_turns(end_by_policy, 8) && policies == all_policies, "a stream that is waited for has each policy");
    check(ask_turns(end_stream, 1) && own_streams() == PLACES, "the device is waited for with work in each stream");
    check(wrong_moves() == 0 && !row_is_stale() && !lanes_are_stale(), "copies and rows are right where the host finds them so");
    sees = LAST_BYTE_WRONG;
    check(wrong_moves() == 1, "what a copy left is compared to the area's last byte");
    sees = WORK_LEFT;
    check(row_is_stale(), "work that a row left behind is looked for");
    sees = LAST_BLOCK_WRONG;
    check(row_is_stale() && lanes_are_stale(), "what the last block of a large follower saw counts, also where it was captured");
    sees = SEEN_RIGHT;
    check(!instance_is_wrong(TELLS_ALL), "an executable graph of which all is told is right");
    check(instance_is_wrong(NODE_LEFT) && instance_is_wrong(RESULT_LEFT),
          "a node that is named without an error is wrong, and so is an executable graph without a result");
    check(!call_is_wrong(joins.stream[0], cudaSuccess), "a callback is called for its stream without an error");
    check(call_is_wrong(joins.stream[1], cudaSuccess) && call_is_wrong(joins.stream[0], cudaErrorUnknown),
          "a callback for another stream or with an error is wrong");
    check(wrong_told(0) == 0 && wrong_told(2) == 1, "a stream that joins a capture is told its graph, and another one is wrong");
    check(wrong_flights(0) == 0 && wrong_flights(-1) == 1 && wrong_flights(1) == 1, "four launches run four times");
    check(!memory_is_shared(0) && missed_sharing() == 0, "memory that two allocations share is told, whatever comes after it");
    check(!value_is_wrong(), "a value is right if the words beside it are what they were");
    sees = WORD_BEFORE_WRONG;
    check(value_is_wrong(), "the word before the value counts");
    sees = WORD_AFTER_WRONG;
    check(value_is_wrong(), "the word after the value counts");
    sees = SEEN_RIGHT;
    close_joins(&joins);
    memset(&joins, 0, sizeof(joins));
    if (open_joins(&joins, &ask, cudaStreamDefault) != cudaSuccess)
        return 1;
    check(ask_turns(join_host, 1) && own_streams() == PLACES && worked(cudaStreamPerThread), "a host function follows each stream");
    check(wrong_copies(0) == 0 && wrong_copies(1) == 2, "copies that wait are compared to their last word");
    check(set_is_wrong(0) && set_is_wrong(PLACE_WORDS - 1) && !set_is_wrong(PLACE_WORDS), "and what a memset left, from its first word");
    close_joins(&joins);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
