/* driver_test.c - what the driver's calls are given when a program goes by them, and how often it does. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "programs/program_driver.c" /* whole: what chooses the call is static */

static const int kernels[2];
static const void *const kernel[2] = { &kernels[0], &kernels[1] };
static struct program_room room;
static struct program program;
static struct made made;
static struct dice dice;

cudaError_t __wrap_cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol);
cudaError_t __wrap_cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    *function = (cudaFunction_t)(uintptr_t)symbol;
    return cudaSuccess;
}

/* A handle is some other address. */
cudaError_t __wrap_cudaGetKernel(cudaKernel_t *handle, const void *symbol);
cudaError_t __wrap_cudaGetKernel(cudaKernel_t *handle, const void *symbol)
{
    *handle = (cudaKernel_t)((uintptr_t)symbol + 1);
    return cudaSuccess;
}

/* The runtime's calls, by which the rest goes, do nothing here. */
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t __wrap_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    return cudaSuccess;
}
cudaError_t __wrap_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)event, (void)stream, (void)flags;
    return cudaSuccess;
}
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)event, (void)stream, (void)flags;
    return cudaSuccess;
}
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)exec, (void)stream;
    return cudaSuccess;
}

/* ---- the driver's side: what it was given last ---- */

static struct {
    const char *call;
    const void *function, *stream;
    unsigned sizes[7], attributes;
    cudaLaunchAttributeID first;
    unsigned value;
} given;

static CUresult gets(const char *call, const void *function, const void *stream)
{
    given.call = call;
    given.function = function;
    given.stream = stream;
    return CUDA_ERROR_NOT_READY; /* which has to come back */
}

static void note_sizes(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared)
{
    unsigned sizes[7] = { gx, gy, gz, bx, by, bz, shared };

    memcpy(given.sizes, sizes, sizeof(sizes));
}

static CUresult CUDAAPI plain(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              CUstream stream, void **values, void **extra)
{
    note_sizes(gx, gy, gz, bx, by, bz, shared);
    return values && !extra ? gets("plain", f, stream) : CUDA_SUCCESS;
}

static CUresult CUDAAPI cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                    CUstream stream, void **values)
{
    note_sizes(gx, gy, gz, bx, by, bz, shared);
    return values ? gets("cooperative", f, stream) : CUDA_SUCCESS;
}

static CUresult CUDAAPI with_attributes(const CUlaunchConfig *c, CUfunction f, void **values, void **extra)
{
    note_sizes(c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes);
    given.attributes = c->numAttrs;
    given.first = c->numAttrs ? (cudaLaunchAttributeID)c->attrs[0].id : cudaLaunchAttributeIgnore;
    given.value = c->numAttrs ? (unsigned)c->attrs[0].value.programmaticStreamSerializationAllowed : 0;
    return values && !extra ? gets("with attributes", f, c->hStream) : CUDA_SUCCESS;
}

static CUresult CUDAAPI records(CUevent event, CUstream stream) { return gets("record", event, stream); }

static CUresult CUDAAPI awaits(CUstream stream, CUevent event, unsigned flags)
{
    return flags ? CUDA_SUCCESS : gets("await", event, stream);
}

static CUresult CUDAAPI launches(CUgraphExec exec, CUstream stream) { return gets("graph", exec, stream); }

#define STREAM ((cudaStream_t)(uintptr_t)0x5100)
#define THING(n) ((void *)(uintptr_t)(0x7000 + 8 * (n)))

static void open_driver(void)
{
    memset(&room, 0, sizeof(room));
    room.kernel = kernel;
    check(program_open_driver(&room) == cudaSuccess, "the driver's functions are asked for");
    check(room.driver.launch && room.driver.launch_cooperative && room.driver.launch_ex && room.driver.launch_graph &&
          room.driver.record && room.driver.await, "each of them is found");
#if CUDART_VERSION >= 12050
    check(room.driver.add_edges && room.driver.remove_edges, "so are those for edges");
#endif
    check(room.driver.kernel[0] == (cudaFunction_t)(uintptr_t)kernel[0] && room.driver.kernel[1] == (cudaFunction_t)(uintptr_t)kernel[1],
          "both kernels are known to it");
    room.driver.launch = (void *)(uintptr_t)plain;
    room.driver.launch_cooperative = (void *)(uintptr_t)cooperative;
    room.driver.launch_ex = (void *)(uintptr_t)with_attributes;
    room.driver.launch_graph = (void *)(uintptr_t)launches;
    room.driver.record = (void *)(uintptr_t)records;
    room.driver.await = (void *)(uintptr_t)awaits;
    memset(&made, 0, sizeof(made));
    made.room = &room;
    made.program = &program;
    made.eager = 1;
    program.streams = 1;
}

static int went_by(const char *call) { return given.call && strcmp(given.call, call) == 0; }

/* ---- how often ---- */

static unsigned times_of(const struct made *of, struct dice *with)
{
    unsigned i, times = 0;

    for (i = 0; i < 4000; i++)
        times += program_goes_by_driver(of, with) != 0;
    return times;
}

static void test_choice(void)
{
    struct made other = made;
    unsigned times = times_of(&made, &dice);

    check(times > 800 && times < 1200, "a quarter goes by the driver");
    check(times_of(&made, NULL) == 0, "nothing does that draws nothing");
    other.way = WAY_OTHER_THREAD;
    check(times_of(&other, &dice) == 0, "nothing does in a thread that has only begun");
    program.streams = 0; /* then the number is a way to make a graph */
    check(times_of(&other, &dice) != 0, "graphs do");
    program.streams = 1;
}

/* ---- what it is given ---- */

static unsigned launch(const void *function, cudaLaunchAttribute *attrs, unsigned count, const char *call)
{
    cudaLaunchConfig_t config;
    void *values[1] = { NULL };
    unsigned want[7] = { 2, 3, 4, 5, 6, 7, 8 }, i, times = 0, handles = 0;

    memset(&config, 0, sizeof(config));
    config.gridDim.x = 2, config.gridDim.y = 3, config.gridDim.z = 4;
    config.blockDim.x = 5, config.blockDim.y = 6, config.blockDim.z = 7;
    config.dynamicSmemBytes = 8;
    config.stream = STREAM;
    config.attrs = attrs;
    config.numAttrs = count;
    for (i = 0; i < 64; i++) {
        memset(&given, 0, sizeof(given));
        if (program_launch_by_driver(&made, function, &config, values, &dice) != (cudaError_t)CUDA_ERROR_NOT_READY ||
            given.stream != STREAM || memcmp(given.sizes, want, sizeof(want)) != 0)
            return 0;
        if (given.function != function && given.function != (const char *)function + 1)
            return 0;
        handles += given.function != function;
        times += went_by(call);
    }
    check(handles > 10 && handles < 54, "which is given the kernel's function, or its handle");
    return times;
}

static void test_launches(void)
{
    cudaLaunchAttribute attrs[2];
    unsigned plainly = launch(kernel[0], NULL, 0, "plain"), cooperatively;

    memset(attrs, 0, sizeof(attrs));
    attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[0].val.programmaticStreamSerializationAllowed = 1;
    attrs[1].id = cudaLaunchAttributeCooperative;
    attrs[1].val.cooperative = 1;
    check(plainly > 20 && plainly < 64, "without attributes by cuLaunchKernel, or by cuLaunchKernelEx");
    check(launch(kernel[1], attrs, 1, "with attributes") == 64 && given.attributes == 1, "attribute 6 by cuLaunchKernelEx");
    check(given.first == cudaLaunchAttributeProgrammaticStreamSerialization && given.value == 1, "which is given it");
    check(launch(kernel[1], attrs, 2, "with attributes") == 64 && given.attributes == 2, "two attributes, too");
    cooperatively = launch(kernel[0], attrs + 1, 1, "cooperative");
    check(cooperatively > 10 && cooperatively < 64, "a cooperative kernel by its own call, or by cuLaunchKernelEx");
}

/* Repeats the call until it goes by the driver. */
#define BY_DRIVER(call)                                                                      \
    do {                                                                                     \
        unsigned tries = 0;                                                                  \
        memset(&given, 0, sizeof(given));                                                    \
        while ((call) != (cudaError_t)CUDA_ERROR_NOT_READY && ++tries < 1000)                \
            ;                                                                                \
    } while (0)


static void test_others(void)
{
    BY_DRIVER(program_record(&made, (cudaEvent_t)THING(3), STREAM, &dice));
    check(went_by("record") && given.function == THING(3) && given.stream == STREAM, "a record");
    BY_DRIVER(program_await(&made, STREAM, (cudaEvent_t)THING(4), &dice));
    check(went_by("await") && given.function == THING(4) && given.stream == STREAM, "a wait");
    BY_DRIVER(program_launch_exec(&made, (cudaGraphExec_t)THING(6), STREAM, &dice));
    check(went_by("graph") && given.function == THING(6) && given.stream == STREAM, "a graph");
}

int main(void)
{
    open_driver();
    test_choice();
    test_launches();
    test_others();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
