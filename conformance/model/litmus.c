/* pdl-litmus: enumerates what each litmus program may do on the conforming device, or on a broken one, and prints the sets
 * of outcomes as JSON lines. Usage: pdl-litmus [--device NAME] [PROGRAM]... */
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

/* 0: cut short by the explorer */
static int host_waits(cudaError_t error, const struct explorer *e)
{
    if (explorer_was_cut(e))
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

static void print_outcomes(const struct litmus_program *p, const unsigned char *reached, const char *name,
                           const struct explorer *e)
{
    static const char *const path[] = {"stream", "captured", "built"};
    const char *between = "";
    printf("{\"program\":\"%s\",\"source\":\"%s\",\"path\":\"%s\",\"device\":\"%s\",\"registers\":%u,\"outcomes\":[", p->name,
           p->source, path[p->path], name, p->registers);
    for (unsigned o = 0; o < 1u << (p->registers + 1); o++) {
        if (!reached[o])
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
    printf("],\"states\":%llu,\"executions\":%llu}\n", (unsigned long long)explorer_states(e),
           (unsigned long long)explorer_executions(e));
}

static void enumerate(const struct litmus_program *p, const char *name)
{
    unsigned char reached[64] = {0};
    struct explorer *e = explorer_new();
    do {
        struct setting s;
        model_reset(name, 1);
        explorer_begin(e);
        set_up(&s, p);
        explorer_watch(e, &program_state, sizeof program_state, s.variable, LITMUS_LINE_WORDS * 4, LITMUS_VARIABLES);
        if (!run_once(&s, e))
            continue;
        unsigned o = 0;
        for (unsigned r = 0; r < p->registers; r++)
            o |= (program_state.seen[r] & 1) << r;
        reached[program_state.seen[7] ? 1u << p->registers : o] = 1;
    } while (explorer_next(e));
    print_outcomes(p, reached, name, e);
    explorer_delete(e);
}

int main(int argc, char **argv)
{
    const char *name = "";
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--device") == 0) {
        name = argv[2];
        first = 3;
    }
    for (int i = 0; i < LITMUS_PROGRAMS; i++) {
        int wanted = first == argc;
        for (int a = first; a < argc; a++)
            wanted |= strcmp(argv[a], litmus_programs[i].name) == 0;
        if (wanted)
            enumerate(&litmus_programs[i], name);
    }
    return 0;
}
