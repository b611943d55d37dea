/* pdl-litmus: enumerates what each litmus program may do on the conforming device, or on a broken one, and prints the sets
 * of outcomes as JSON lines. With --seeds N it also runs each program N times on the seeded device, prints what was seen
 * of the set, and ends with 1 if anything was seen outside of it.
 * Usage: pdl-litmus [--device NAME] [--seeds N] [PROGRAM]... */
#include "explore.h"
#include "model.h"
#include "model_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_FN static inline
#define k_thread() model_thread()
#define k_block() model_block()
#define k_load(p) model_load32((p), MODEL_LD_CA)
#define k_load_relaxed(p) model_load32((p), MODEL_LD_RELAXED)
#define k_store(p, v) model_store32((p), (v))
#define k_store_relaxed(p, v) model_store32_relaxed((p), (v))
#define k_fence() model_fence()
#define k_trigger() model_trigger()
#define k_wait_device() model_wait()

/* Registers and program counters live on the host here: what only the observer sees must not add moves. */
static struct {
    uint32_t seen[8];
    uint8_t at[4][2];
} program_state;
#define LITMUS_SEES(args, reg, value) (program_state.seen[reg] = (value))
#define LITMUS_AT(args, block, i) (program_state.at[(args)->grid][block] = (uint8_t)((i) + 1))
#include "litmus_kernel.h"

MODEL_KERNEL_OF(litmus_kernel, struct litmus_args, 16, 0, 90, 90)
{
    litmus_walk(&args);
}

struct setting {
    const struct litmus_program *program;
    uint32_t *variable;
    struct litmus_args args[LITMUS_GRIDS];
    cudaStream_t stream[2];
    cudaEvent_t event[2];
};

static void need(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "pdl-litmus: %s: %s\n", what, cudaGetErrorName(error));
        exit(70);
    }
}
#define NEED(call) need((call), #call)

static void set_up(struct setting *s, const struct litmus_program *program)
{
    s->program = program;
    NEED(cudaHostAlloc((void **)&s->variable, LITMUS_VARIABLES * LITMUS_LINE_WORDS * 4, cudaHostAllocMapped));
    memset(s->variable, 0, LITMUS_VARIABLES * LITMUS_LINE_WORDS * 4);
    memset(&program_state, 0, sizeof program_state);
    for (int i = 0; i < 2; i++) {
        NEED(cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking));
        NEED(cudaEventCreateWithFlags(&s->event[i], cudaEventDisableTiming));
    }
    for (unsigned g = 0; g < program->grids; g++) {
        memset(&s->args[g], 0, sizeof s->args[g]);
        s->args[g].variable = s->variable;
        s->args[g].grid = g;
        memcpy(s->args[g].step, program->step[g], sizeof s->args[g].step);
    }
}

static unsigned read_flags(cudaLaunchAttribute *attribute, unsigned with, cudaEvent_t event)
{
    unsigned n = 0;
    memset(attribute, 0, 2 * sizeof *attribute);
    if (with & (WITH_ATTRIBUTE | WITH_ZERO)) {
        attribute[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[n++].val.programmaticStreamSerializationAllowed = (with & WITH_ATTRIBUTE) != 0;
    }
    if (with & (EVENT_AT_TRIGGER | EVENT_AT_START)) {
        attribute[n].id = cudaLaunchAttributeProgrammaticEvent;
        attribute[n].val.programmaticEvent.event = event;
        attribute[n++].val.programmaticEvent.triggerAtBlockStart = (with & EVENT_AT_START) != 0;
    }
    if (with & EVENT_AT_LAUNCH) {
        attribute[n].id = cudaLaunchAttributeLaunchCompletionEvent;
        attribute[n++].val.launchCompletionEvent.event = event;
    }
    return n;
}

static void launch(struct setting *s, const struct litmus_call *call)
{
    cudaLaunchAttribute attribute[2];
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim.x = s->program->blocks[call->which];
    config.blockDim.x = config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
    config.stream = s->stream[call->stream];
    config.attrs = attribute;
    config.numAttrs = read_flags(attribute, call->with, s->event[0]);
    void *args[1] = {&s->args[call->which]};
    NEED(cudaLaunchKernelExC(&config, (const void *)litmus_kernel, args));
}

/* 0: cut short by the explorer; e is NULL on the seeded device */
static int host_waits(cudaError_t error, const struct explorer *e)
{
    if (e != NULL && explorer_was_cut(e))
        return 0;
    if (error == cudaErrorLaunchTimeout) {
        program_state.seen[7] = 1; /* a deadlock is an outcome too */
        return 1;
    }
    need(error, "waiting");
    return 1;
}

static int make_calls(struct setting *s, const struct explorer *e)
{
    for (const struct litmus_call *c = s->program->call; c < s->program->call + LITMUS_CALLS && c->what != CALL_END; c++) {
        cudaStream_t stream = s->stream[c->stream];
        switch (c->what) {
        case CALL_LAUNCH: launch(s, c); break;
        case CALL_RECORD: NEED(cudaEventRecord(s->event[c->which], stream)); break;
        case CALL_AWAIT: NEED(cudaStreamWaitEvent(stream, s->event[c->which], 0)); break;
        case CALL_COPY:
            NEED(cudaMemcpyAsync(s->variable + 2 * LITMUS_LINE_WORDS, s->variable + c->which * LITMUS_LINE_WORDS, 4,
                                 cudaMemcpyDeviceToDevice, stream));
            break;
        case CALL_SYNC_EVENT:
            if (!host_waits(cudaEventSynchronize(s->event[c->which]), e))
                return 0;
            break;
        case CALL_SYNC_STREAM:
            if (!host_waits(cudaStreamSynchronize(stream), e))
                return 0;
            break;
        default: program_state.seen[c->with] = s->variable[c->which * LITMUS_LINE_WORDS]; break;
        }
    }
    return 1;
}

static cudaGraph_t build(struct setting *s)
{
    cudaGraph_t graph;
    cudaGraphNode_t node[LITMUS_GRIDS];
    NEED(cudaGraphCreate(&graph, 0));
    for (unsigned g = 0; g < s->program->grids; g++) {
        void *args[1] = {&s->args[g]};
        struct cudaKernelNodeParams params;
        memset(&params, 0, sizeof params);
        const void *func = (const void *)litmus_kernel;
        memcpy(&params.func, &func, sizeof func);
        params.gridDim.x = s->program->blocks[g];
        params.blockDim.x = params.gridDim.y = params.gridDim.z = params.blockDim.y = params.blockDim.z = 1;
        params.kernelParams = args;
        NEED(cudaGraphAddKernelNode(&node[g], graph, NULL, 0, &params));
    }
    for (const struct litmus_edge *e = s->program->edge; e < s->program->edge + LITMUS_EDGES && e->used; e++) {
        cudaGraphEdgeData data;
        memset(&data, 0, sizeof data);
        data.from_port = e->port;
        data.type = e->type;
#if CUDART_VERSION >= 13000
        NEED(cudaGraphAddDependencies(graph, &node[e->from], &node[e->to], &data, 1));
#else
        NEED(cudaGraphAddDependencies_v2(graph, &node[e->from], &node[e->to], &data, 1));
#endif
    }
    return graph;
}

static int run_once(struct setting *s, const struct explorer *e)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    if (s->program->path == PATH_STREAM) {
        if (!make_calls(s, e))
            return 0;
    } else if (s->program->path == PATH_CAPTURED) {
        NEED(cudaStreamBeginCapture(s->stream[0], cudaStreamCaptureModeGlobal));
        make_calls(s, e);
        NEED(cudaStreamEndCapture(s->stream[0], &graph));
    } else {
        graph = build(s);
    }
    if (graph != NULL) {
        NEED(cudaGraphInstantiate(&exec, graph, 0));
        NEED(cudaGraphLaunch(exec, s->stream[0]));
    }
    if (!host_waits(cudaDeviceSynchronize(), e))
        return 0;
    for (const struct litmus_call *c = s->program->call; c < s->program->call + LITMUS_CALLS; c++)
        if (c->what == CALL_COPY)
            program_state.seen[c->with] = s->variable[2 * LITMUS_LINE_WORDS];
    return 1;
}

/* Outcomes are numbered by their registers, the first one lowest; one more bit says that the device hung. */
static unsigned outcome_of(const struct litmus_program *p)
{
    unsigned o = 0;
    for (unsigned r = 0; r < p->registers; r++)
        o |= (program_state.seen[r] & 1) << r;
    return program_state.seen[7] ? 1u << p->registers : o;
}

static void print_set(const char *label, const struct litmus_program *p, uint32_t set)
{
    const char *between = "";
    printf(",\"%s\":[", label);
    for (unsigned o = 0; o < 1u << (p->registers + 1); o++) {
        if (!(set >> o & 1))
            continue;
        printf("%s\"", between);
        if (o & 1u << p->registers)
            printf("hang");
        else
            for (unsigned r = 0; r < p->registers; r++)
                putchar(o >> r & 1 ? '1' : '0');
        putchar('"');
        between = ",";
    }
    putchar(']');
}

static uint32_t enumerate(const struct litmus_program *p, const char *name, uint64_t *states)
{
    uint32_t reached = 0;
    struct explorer *e = explorer_new();
    do {
        struct setting s;
        model_reset(name, 1);
        explorer_begin(e);
        set_up(&s, p);
        explorer_watch(e, &program_state, sizeof program_state, s.variable, LITMUS_LINE_WORDS * 4, LITMUS_VARIABLES);
        if (run_once(&s, e))
            reached |= 1u << outcome_of(p);
    } while (explorer_next(e));
    *states = explorer_states(e);
    explorer_delete(e);
    return reached;
}

static uint32_t run_seeds(const struct litmus_program *p, const char *name, unsigned seeds)
{
    uint32_t seen = 0;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct setting s;
        model_reset(name, seed);
        set_up(&s, p);
        run_once(&s, NULL);
        seen |= 1u << outcome_of(p);
    }
    return seen;
}

static int report(const struct litmus_program *p, const char *name, unsigned seeds)
{
    static const char *const path[] = {"stream", "captured", "built"};
    uint64_t states;
    uint32_t allowed = enumerate(p, name, &states), seen = run_seeds(p, name, seeds);
    printf("{\"program\":\"%s\",\"source\":\"%s\",\"path\":\"%s\",\"device\":\"%s\",\"registers\":%u", p->name,
           p->source, path[p->path], name, p->registers);
    print_set("allowed", p, allowed);
    if (seeds != 0)
        print_set("seen", p, seen);
    printf(",\"states\":%llu}\n", (unsigned long long)states);
    return (seen & ~allowed) != 0;
}

int main(int argc, char **argv)
{
    const char *name = "";
    unsigned seeds = 0;
    int first = 1, outside = 0;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
        if (strcmp(argv[first], "--device") == 0)
            name = argv[first + 1];
        else if (strcmp(argv[first], "--seeds") == 0)
            seeds = (unsigned)strtoul(argv[first + 1], NULL, 10);
        else
            return 64;
    }
    for (int i = 0; i < LITMUS_PROGRAMS; i++) {
        int wanted = first == argc;
        for (int a = first; a < argc; a++)
            wanted |= strcmp(argv[a], litmus_programs[i].name) == 0;
        if (wanted)
            outside |= report(&litmus_programs[i], name, seeds);
    }
    return outside;
}
