/* capture_test.c - that captures are judged by all that they tell. A capture into a given graph makes that graph. The id and graph that are
 * told of a capture are its own, and stay the same as long as it goes on. A captured launch has its attributes to the last byte. */
#define PDL_MODEL 1
#define IMAGE_TAG "told"
#define IMAGE_SUFFIX told
#include "capture_calls.cu" /* whole: what is asked is static */

#include "capture_elsewhere.h"
#include "edges_of_capture.h"

/* What is told of one capture: the id of the first one that was asked for, or the graph of the one that was asked for before. */
enum lie { NO_LIE, ID_OF_FIRST, GRAPH_OF_BEFORE };
static enum lie lie;
static unsigned asked_for, lies_at; /* questions so far; the one that is answered so */

cudaError_t WRAPPED(edges_of_capture)(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *count)
{
    static unsigned long long first;
    static cudaGraph_t before;
    cudaError_t error = REAL(edges_of_capture)(stream, status, id, graph, nodes, data, count);
    cudaGraph_t is = graph ? *graph : NULL;

    first = asked_for++ || !id ? first : *id;
    if (asked_for == lies_at && lie == ID_OF_FIRST && id)
        *id = first;
    if (asked_for == lies_at && lie == GRAPH_OF_BEFORE && graph)
        *graph = before;
    before = is;
    return error;
}

/* How many answers about captures are wrong, if the question of this number is answered so. */
static unsigned wrong_of(const struct capture *c, void (*asks)(const struct capture *), enum lie now, unsigned at)
{
    unsigned wrong = c->ask->wrong;

    asked_for = 0;
    lie = now;
    lies_at = at;
    asks(c);
    lie = NO_LIE;
    return c->ask->wrong - wrong;
}

/* What a node tells of its attributes, the same but for one byte. */
static const cudaLaunchAttribute *tells;
static size_t spoilt;          /* which byte; beyond the value: none */
static int silent;             /* it tells nothing, and says that it did */

cudaError_t __real_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t __wrap_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
    if (!tells)
        return __real_cudaGraphKernelNodeGetAttribute(node, id, value);
    if (silent)
        return cudaSuccess;
    *value = tells->val;
    if (spoilt < sizeof(*value))
        ((unsigned char *)value)[spoilt] ^= 1;
    return cudaSuccess;
}

static void test_attributes(void)
{
    const struct {
        cudaLaunchAttribute is;
        size_t bytes;
    } rows[] = { { cooperatively(), sizeof(int) }, { in_clusters(2), 3 * sizeof(unsigned) }, { in_remote_domain(), sizeof(cudaLaunchMemSyncDomain) },
                 { of_priority(-3), sizeof(int) } };
    unsigned i, wrong = 0, missed = 0;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tells = &rows[i].is;
        spoilt = sizeof(tells->val);
        wrong += !has_attribute(NULL, tells);
        silent = 1; /* the answer before may still lie where this one is expected */
        missed += has_attribute(NULL, tells);
        silent = 0;
        for (spoilt = 0; spoilt < rows[i].bytes; spoilt++)
            missed += has_attribute(NULL, tells);
    }
    tells = NULL;
    check(wrong == 0, "a node has the attributes that it tells");
    check(missed == 0, "an attribute that is told with one byte changed, or not at all, is another one");
}

/* Whether a captured launch is found wrong, in the first stream and mode; place: as in enum place. */
static int is_wrong(const struct settings *settings, enum place place, int elsewhere)
{
    struct settings s = *settings;

    captures_elsewhere = elsewhere;
    check(capture_setting(&s, SETTING_STREAMS * place) == cudaSuccess, "a capture");
    captures_elsewhere = 0;
    return s.wrong != 0;
}

int main(void)
{
    struct ask ask = PDL_ZERO;
    struct capture c = PDL_ZERO;
    struct settings s = PDL_ZERO;
    unsigned i;

    check(cudaStreamCreateWithFlags(&ask.stream, cudaStreamNonBlocking) == cudaSuccess &&
              cudaStreamCreateWithFlags(&ask.side, cudaStreamNonBlocking) == cudaSuccess && open_capture(&c, &ask) == cudaSuccess,
          "streams and an event");
    s.capture = &c;
    for (i = 0; i < 2; i++)
        check(cudaEventCreateWithFlags(&s.event[i], cudaEventDisableTiming) == cudaSuccess, "an event of a launch");
    check(cudaStreamCreateWithFlags(&s.third, cudaStreamNonBlocking) == cudaSuccess, "a third stream");
    s.stream[0] = c.stream;
    test_attributes();
    check(!is_wrong(&s, PLACE_OWN, 0) && !is_wrong(&s, PLACE_OWN, 1), "a capture that is given no graph makes one");
    for (i = PLACE_GIVEN; i <= PLACE_CHILD; i++)
        check(!is_wrong(&s, (enum place)i, 0) && is_wrong(&s, (enum place)i, 1),
              "a capture that is given a graph makes that one, and no other");
    check(wrong_of(&c, ask_ids, NO_LIE, 0) == 0 && wrong_of(&c, ask_two_told, NO_LIE, 0) == 0,
          "captures of which the truth is told are right");
    check(wrong_of(&c, ask_ids, ID_OF_FIRST, 3) == 1 && wrong_of(&c, ask_ids, ID_OF_FIRST, 4) == 1, "no capture has the id of an earlier one");
    check(wrong_of(&c, ask_two_told, GRAPH_OF_BEFORE, 2) != 0 && wrong_of(&c, ask_two_told, GRAPH_OF_BEFORE, 3) == 1,
          "no capture has the graph of another one, at first or later");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
