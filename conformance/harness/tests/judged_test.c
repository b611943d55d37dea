/* judged_test.c - what some kernels' files make of what they find: each word, call, part, size and attribute counts,
 * whatever comes after it. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX given_told
#include "given.cu" /* whole, as the others: what is looked at is static */
#undef IMAGE_SUFFIX
#define IMAGE_SUFFIX enabled_told
#include "enabled.cu"
#undef IMAGE_SUFFIX
#define IMAGE_SUFFIX per_thread_told
#include "per_thread.cu"

#include "check.h"

/* Host functions that were called so often, the others so often, in this order. */
static int hosts_are_wrong(unsigned calls, unsigned others, unsigned first, int in_line)
{
    struct hosts h = PDL_ZERO;
    unsigned i;

    for (i = 0; i < HOSTS; i++) {
        h.call[i].calls = 1;
        h.call[i].order = i;
    }
    h.call[0].calls = calls;
    h.call[0].order = first;
    h.other[0].calls = others;
    look_at_hosts(&h, in_line);
    return h.wrong != 0;
}

static void test_hosts(void)
{
    check(!hosts_are_wrong(1, 0, 0, 1) && !hosts_are_wrong(1, 0, 9, 0), "host functions that were called once, in their order or in any");
    check(hosts_are_wrong(0, 0, 0, 0) && hosts_are_wrong(2, 0, 0, 0), "never or twice is wrong");
    check(hosts_are_wrong(1, 1, 0, 0), "and so is a call of one that was replaced");
    check(hosts_are_wrong(1, 0, 9, 1), "or in another order");
}

/* A launch with all nodes enabled, one part of whose words is all zeros, or has one word of another kind. */
static int launch_is_wrong(unsigned enabled, enum part part, int all)
{
    static struct host_room room;
    static uint32_t words[PARTS][PART];
    struct left_out l = PDL_ZERO;
    unsigned p, i;

    l.room = &room;
    room.plan.key = 7;
    for (p = 0; p < PARTS; p++)
        for (i = 0; i < PART; i++)
            words[p][i] = p == PART_SET || p == PART_SEEN_SET ? SET_WORD : words_fresh(room.plan.key, i);
    for (i = 0; i < (all ? PART : 1u) && part < PARTS; i++)
        words[part][i] = all ? 0 : ~words[part][i];
    judge_launch(&l, enabled, words);
    return l.stale || l.misrun;
}

static void test_launches(void)
{
    const unsigned all = (1u << MIDDLES) - 1;
    unsigned part, missed = 0;

    check(!launch_is_wrong(all, PARTS, 0), "a launch whose nodes all ran");
    for (part = PART_KERNEL; part <= PART_COPY; part++)
        missed += !launch_is_wrong(all, (enum part)part, 0) || !launch_is_wrong(all, (enum part)part, 1);
    check(missed == 0, "one that did not run is told, and one that ran in part");
    check(launch_is_wrong(0, PARTS, 0), "and one that ran all the same");
    check(launch_is_wrong(all, PART_SEEN, 0), "so is what was seen after them");
    check(launch_is_wrong(all, PART_SEEN_SET, 0) && launch_is_wrong(all, PART_SEEN_SET, 1), "and what was seen of the memset");
}

/* Which number of a kernel node is told otherwise: one of six sizes, its shared memory, or one of its attributes' numbers. */
enum told { TOLD_SHARED = 6, TOLD_CLUSTER, TOLD_DOMAIN = TOLD_CLUSTER + 3, TOLD_PRIORITY, TOLD_RIGHT };
static unsigned told_otherwise = TOLD_RIGHT;

cudaError_t __real_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t __wrap_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    cudaError_t error = __real_cudaGraphKernelNodeGetParams(node, params);
    unsigned *const size[] = { &params->gridDim.x, &params->gridDim.y, &params->gridDim.z, &params->blockDim.x, &params->blockDim.y,
                               &params->blockDim.z, &params->sharedMemBytes };

    if (told_otherwise <= TOLD_SHARED)
        ++*size[told_otherwise];
    return error;
}

cudaError_t __real_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    cudaError_t error = __real_cudaGraphKernelNodeGetAttribute(node, id, value);

    if (id == cudaLaunchAttributeClusterDimension) {
        value->clusterDim.x += told_otherwise == TOLD_CLUSTER;
        value->clusterDim.y += told_otherwise == TOLD_CLUSTER + 1;
        value->clusterDim.z += told_otherwise == TOLD_CLUSTER + 2;
    }
    if (id == cudaLaunchAttributeMemSyncDomain && told_otherwise == TOLD_DOMAIN)
        value->memSyncDomain = cudaLaunchMemSyncDomainDefault;
    if (id == cudaLaunchAttributePriority)
        value->priority += told_otherwise == TOLD_PRIORITY;
    return error;
}

/* How many answers about a node that was refused something are wrong. */
static unsigned wrong_of_node(struct given *g, cudaGraphNode_t node, unsigned told)
{
    unsigned wrong = g->ask->wrong;

    told_otherwise = told;
    expect_params(g, node, 1);
    expect_attributes(g, node, 1, 0);
    told_otherwise = TOLD_RIGHT;
    return g->ask->wrong - wrong;
}

static void test_refused(void)
{
    struct ask ask = PDL_ZERO;
    struct given g = PDL_ZERO;
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    unsigned told, missed = 0;

    g.clusters = 1;
    if (!open_given(&g, &ask) || graph_of(&g, &shape_subject, 1, 0, 0, &graph, &node) != cudaSuccess || give_attributes(node, 1, 0) != cudaSuccess) {
        check(0, "a kernel node is made");
        return;
    }
    check(wrong_of_node(&g, node, TOLD_RIGHT) == 0, "a node that was refused something is as it was");
    for (told = 0; told < TOLD_RIGHT; told++)
        missed += wrong_of_node(&g, node, told) != 1;
    check(missed == 0, "each number of a node that is told otherwise is wrong");
    (void)cudaGraphDestroy(graph);
    (void)cudaFreeHost(g.room);
}

/* Words that a memset left, but for one. */
static unsigned set_is_stale(unsigned at)
{
    static struct host_room room;
    struct named n = PDL_ZERO;
    unsigned i;

    n.room = &room;
    for (i = 0; i < ASK_WORDS / 2; i++)
        room.data[i] = 0x5A5A5A5Au ^ (i == at);
    return named_is_stale(&n, NAMED_SET);
}

static int is_same_shape(unsigned x, unsigned y, unsigned z)
{
    dim3 is, want;

    is.x = x;
    is.y = y;
    is.z = z;
    want.x = 2;
    want.y = 3;
    want.z = 4;
    return is_shape(is, want);
}

/* A device may give more shared memory than it was asked for, but not any amount. */
static void test_shared(void)
{
    check(!shared_differs(512, 512) && shared_differs(511, 512) && shared_differs(513, 512), "whole steps of shared memory are told as they are");
    check(!shared_differs(1000, 1000) && !shared_differs(1256, 1000), "others may be up to one step more");
    check(shared_differs(999, 1000) && shared_differs(1257, 1000), "but no less, and no more than that");
}

int main(void)
{
    test_hosts();
    test_shared();
    test_launches();
    test_refused();
    check(!set_is_stale(ASK_WORDS) && set_is_stale(0) && set_is_stale(ASK_WORDS / 2 - 1), "a memset's words are compared from the first to the last");
    check(is_same_shape(2, 3, 4), "a shape is that of the launch");
    check(!is_same_shape(1, 3, 4) && !is_same_shape(2, 1, 4) && !is_same_shape(2, 3, 1),
          "a shape that differs along one axis is another one");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
