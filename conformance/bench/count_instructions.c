/* count_instructions.c - how many instructions pdl.h puts around a launch; exact, without a GPU, on a loaded machine, too.
 *
 * usage: pdl-count-instructions [MOST]
 * A child launches in each way against a runtime that does nothing (below); its parent single-steps it and counts. Filling
 * the caller's own structures is part of each way. Prints a JSON line per way: all instructions,
 * those beyond the raw call, and the CUDA calls made. Exit 0; 1 if a launch makes more than one CUDA call, or pdl_launch
 * with overlap more than MOST instructions beyond the raw call; 64 bad arguments, 70 the count was lost, 77 cannot be
 * counted here (another processor, or tracing is not permitted).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pdl.h"

#if defined(__x86_64__) && defined(__linux__)
#define MARK() __asm__ volatile("int3" ::: "memory")
#else
#define MARK() _exit(77)
#endif
enum { WAYS_MOST = 16, STEPS_MOST = 100000 };

/* ---- a runtime that does nothing but count its calls -------------------------------------------------------------- */

#define APART __attribute__((weak)) /* else the compiler inlines it and leaves out what the call does not need */
static unsigned long calls;

APART cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    (void)config, (void)func, (void)args;
    calls++;
    return cudaSuccess;
}

APART cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t in)
{
    (void)event, (void)in;
    calls++;
    return cudaSuccess;
}

APART cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    calls++;
    return cudaSuccess;
}

APART cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    calls++;
    return cudaSuccess;
}

APART cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : attribute == cudaDevAttrComputeCapabilityMinor ? 0 : 1024;
    calls++;
    return cudaSuccess;
}

APART cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
    (void)func;
    memset(attributes, 0, sizeof(*attributes));
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxThreadsPerBlock = 1024;
    calls++;
    return cudaSuccess;
}

/* ---- the ways ----------------------------------------------------------------------------------------------------- */

static pdl_kernel kernel, older;
static cudaStream_t stream;
static int argument;
static const dim3 grid = {132, 1, 1}, block = {256, 1, 1};

static cudaError_t by_nothing(void)
{
    return cudaSuccess;
}

static cudaError_t by_raw(void)
{
    cudaLaunchAttribute attribute = {0};
    cudaLaunchConfig_t config = {0};
    void *args[] = {&argument};

    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernel.func, args);
}

static cudaError_t by_pdl(void)
{
    pdl_options options = PDL_ZERO;
    void *args[] = {&argument};

    options.overlap = PDL_OVERLAP_REQUIRED;
    return pdl_launch(&kernel, grid, block, args, 0, stream, &options);
}

static cudaError_t by_pdl_plain(void)
{
    void *args[] = {&argument};

    return pdl_launch(&kernel, grid, block, args, 0, stream, NULL);
}

static cudaError_t by_pdl_older(void)
{
    pdl_options options = PDL_ZERO;
    void *args[] = {&argument};

    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    return pdl_launch(&older, grid, block, args, 0, stream, &options);
}

static cudaError_t by_pdl_with_more(void)
{
    pdl_options options = PDL_ZERO;
    void *args[] = {&argument};

    options.overlap = PDL_OVERLAP_REQUIRED;
    options.event = (cudaEvent_t)&argument;
    options.cluster_x = 2;
    options.carveout = 25;
    return pdl_launch(&kernel, grid, block, args, 0, stream, &options);
}

static const struct { const char *name; cudaError_t (*launch)(void); } ways[] = {
    {"nothing", by_nothing}, {"cudaLaunchKernelExC", by_raw}, {"pdl_launch", by_pdl},
    {"pdl_launch without overlap", by_pdl_plain}, {"pdl_launch, overlap not possible", by_pdl_older},
    {"pdl_launch with event, cluster and carve-out", by_pdl_with_more},
};
enum { WAYS = sizeof(ways) / sizeof(*ways), NOTHING = 0, RAW = 1, OURS = 2 };

/* ---- counting ----------------------------------------------------------------------------------------------------- */

/* The child: one way between two marks. Its exit code is the number of CUDA calls that the last launch made. */
static void run_ways(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || pdl_kernel_init(&kernel, ways) != cudaSuccess)
        _exit(77);
    older = kernel;
    older.can_overlap = 0;
    older.reason = PDL_REASON_TARGET;
    raise(SIGSTOP);
    for (int i = 0; i < WAYS; i++) {
        cudaError_t (*volatile launch)(void) = ways[i].launch;
        const unsigned long before = calls;
        cudaError_t error;

        error = launch(); /* once before, so that nothing is bound by the linker between the marks */
        MARK();
        error = error == cudaSuccess ? launch() : error;
        MARK();
        if (error != cudaSuccess || calls - before != (i == NOTHING ? 0u : 2u))
            _exit(1);
    }
    _exit(0);
}

/* Single-steps the child to the next mark. Returns the number of steps, or -1 if it ended or took too many. */
static long steps_to_mark(pid_t child)
{
    siginfo_t info;
    int status;

    for (long steps = 0; steps < STEPS_MOST; steps++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
            WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETSIGINFO, child, NULL, &info) != 0)
            return -1;
        if (info.si_code == SI_KERNEL)
            return steps;
    }
    return -1;
}

static int ended(pid_t child, int status)
{
    if (!WIFEXITED(status)) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return 70;
    }
    if (WEXITSTATUS(status) == 1)
        fprintf(stderr, "pdl-count-instructions: a launch failed, or made another number of CUDA calls than one\n");
    return WEXITSTATUS(status);
}

static int count(pid_t child, long steps[WAYS])
{
    int status;

    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
        return ended(child, status);
    for (int i = 0; i < WAYS; i++) {
        ptrace(PTRACE_CONT, child, NULL, NULL); /* to the first mark at full speed */
        waitpid(child, &status, 0);
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP || (steps[i] = steps_to_mark(child)) < 0)
            return ended(child, status);
    }
    ptrace(PTRACE_CONT, child, NULL, NULL);
    waitpid(child, &status, 0);
    return ended(child, status);
}

int main(int argc, char **argv)
{
    const long most = argc > 1 ? atol(argv[1]) : STEPS_MOST;
    long steps[WAYS] = {0};
    pid_t child;
    int error;

    if (argc > 2 || most <= 0) {
        fprintf(stderr, "usage: pdl-count-instructions [MOST]\n");
        return 64;
    }
    child = fork();
    if (child == 0)
        run_ways();
    error = child > 0 ? count(child, steps) : 70;
    if (error == 77)
        fprintf(stderr, "pdl-count-instructions: instructions cannot be counted here\n");
    if (error != 0)
        return error;
    for (int i = RAW; i < WAYS; i++)
        printf("{\"way\":\"%s\",\"instructions\":%ld,\"beyond_raw\":%ld,\"cuda_calls\":1}\n", ways[i].name,
               steps[i] - steps[NOTHING], steps[i] - steps[RAW]);
    if (steps[OURS] - steps[RAW] > most)
        fprintf(stderr, "pdl-count-instructions: pdl_launch takes %ld instructions beyond the raw call, %ld are the most\n",
                steps[OURS] - steps[RAW], most);
    return steps[OURS] - steps[RAW] > most;
}
