/* from_device.cu - what the device itself launches or updates: relocatable device code, so it is a separate program.
 *
 *     pdl-from-device [TRIALS [FIRST]]
 *
 * Prints one JSON line per set-up, from set-up number FIRST on. Exit 0 done; 3 the set-up after the last line never ended: go
 * on after it in a new process; 69 no such device; 70 a CUDA call failed.
 *
 * children, inner    COMP-10, WAIT-12  from_device_child.cu
 * update             TRIG-12           from_device_update.cu
 * edge, member, behind, root  COMP-11  from_device_graph.cu
 *
 * overlapped: trials in which the kernel that may be early ran while the other was held; the others show nothing. Every spin
 * is bounded.
 */
#include "from_device.h"

#define EXIT_SETUP 69
#define EXIT_FAILED 70

static unsigned first_setup, setups;

int is_due(void)
{
    int due = setups++ >= first_setup;

    if (due)
        fprintf(stderr, "pdl-from-device: set-up %u begun\n", setups - 1);
    return due;
}

static cudaError_t ask_all(struct shared *s, unsigned trials, cudaStream_t stream)
{
    TRY(ask_children(s, trials, stream));
    TRY(ask_inner(s, trials, stream));
    TRY(ask_updates(s, trials, stream));
    return ask_graphs(s, trials, stream);
}

int main(int argc, char **argv)
{
    unsigned trials = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200;
    cudaStream_t stream;
    struct shared *s;

    first_setup = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc((void **)&s, sizeof(*s)) != cudaSuccess) {
        fprintf(stderr, "pdl-from-device: there is no CUDA device that can be used\n");
        return EXIT_SETUP;
    }
    return ask_all(s, trials, stream) == cudaSuccess ? 0 : EXIT_FAILED;
}
