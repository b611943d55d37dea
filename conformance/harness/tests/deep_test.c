/* deep_test.c - what is asked beside the drawn programs is compared to its last byte: one that the host is told otherwise shows. So does an
 * answer about a stream that captures, or about its event, which has none. */
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "check.h"
#include "pair.h"
#include "programs/program.h"

/* ---- a byte that is told otherwise, in each copy to the host of so many bytes ---- */

static size_t told_bytes, told_at;

cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = __real_cudaMemcpy(to, from, bytes, kind);

    if (bytes == told_bytes && kind == cudaMemcpyDeviceToHost)
        ((unsigned char *)to)[told_at] ^= 1;
    return error;
}

static struct ask asked;

/* The pair of this name of the programs, with as few of them as can be; bytes: 0 tells the truth. */
static void put(const char *name, size_t bytes, size_t at)
{
    const struct image *image = case_image("programs", "base");
    unsigned i;

    memset(&asked, 0, sizeof(asked));
    (void)cudaStreamCreateWithFlags(&asked.stream, cudaStreamNonBlocking);
    (void)cudaStreamCreateWithFlags(&asked.side, cudaStreamNonBlocking);
    asked.seed = 1;
    told_bytes = bytes;
    told_at = at;
    for (i = 0; i < image->count; i++)
        if (strcmp(image->pairs[i].name, name) == 0)
            image->pairs[i].ask(&asked);
    told_bytes = 0;
    (void)cudaStreamDestroy(asked.stream);
    (void)cudaStreamDestroy(asked.side);
}

static int says(const char *what) { return strstr(asked.text, what) != NULL; }

static void test_sizes(void)
{
    static const char wrong[] = "memsets and copies of graphs that take other bytes";
    size_t bytes = (size_t)1 << 20 | 4; /* the longest, and one more that nothing may touch */

    put("graphs", 0, 0);
    check(asked.asked && !asked.wrong, "memsets and copies are right where the truth is told");
    put("graphs", bytes, 0);
    check(says(wrong), "their first byte is looked at");
    put("graphs", bytes, bytes - 1);
    check(says(wrong), "and the one behind their last");
}

/* Of four kernels in turn, and of a kernel and what moves its words. */
static void test_rows(void)
{
    put("streams", 0, 0);
    check(asked.asked && !asked.wrong, "long rows are right where the truth is told");
    put("streams", 4 * STEP_BYTES, 4 * STEP_BYTES - 1);
    check(says("chains of launches that end with other words"), "the last word of a chain of launches is looked at");
    put("streams", 5 * STEP_BYTES, 5 * STEP_BYTES - 1);
    check(says("rows of copies and memsets that end with other words"), "and that of a row of copies, which nothing writes again");
}

/* ---- questions about a stream that captures, and about its event: they spoil the capture, and a lie says that all is well ---- */

static struct program_room room;
static int lies;
static unsigned lied;

static cudaError_t answer(cudaError_t error, int captures)
{
    lied += lies && captures;
    return lies && captures ? cudaSuccess : error;
}

static int captures(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

#define ASKED(name, type, is_captured)                                \
    cudaError_t __real_##name(type of);                               \
    cudaError_t __wrap_##name(type of);                               \
    cudaError_t __wrap_##name(type of)                                \
    {                                                                 \
        int captured = is_captured;                                   \
                                                                      \
        return answer(__real_##name(of), captured);                   \
    }
ASKED(cudaStreamQuery, cudaStream_t, captures(of))
ASKED(cudaStreamSynchronize, cudaStream_t, captures(of))
ASKED(cudaEventQuery, cudaEvent_t, of == room.captured)
ASKED(cudaEventSynchronize, cudaEvent_t, of == room.captured)

void programs_few_base(struct kernel_args args);

/* Calls that change nothing, as the dice have them, where some of them are answered that must not be. */
static void test_questions(void)
{
    static const void *kernels[PROGRAM_KERNELS];
    struct made made = PDL_ZERO;
    unsigned seed, i, missed = 0, wrong = 0, all = 0;

    for (i = 0; i < PROGRAM_KERNELS; i++)
        kernels[i] = (const void *)programs_few_base;
    room.kernel = kernels;
    check(cudaStreamCreateWithFlags(&room.stream, cudaStreamNonBlocking) == cudaSuccess, "there is a stream");
    check(program_open_room(&room) == cudaSuccess, "there is room");
    made.room = &room;
    for (seed = 0; seed < 400; seed++) {
        struct dice dice = { seed / 2 };
        cudaError_t error;
        lies = seed % 2;
        lied = 0;
        error = program_change_nothing(&made, room.stream, &dice);
        wrong += !lied && error != cudaSuccess;
        missed += lied && error == cudaSuccess;
        all += lied != 0;
    }
    lies = 0;
    check(wrong == 0, "calls that change nothing succeed");
    check(all > 10 && missed == 0, "an answer about what is captured is an error");
    program_close_room(&room);
}

int main(void)
{
    test_questions();
    test_sizes();
    test_rows();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
