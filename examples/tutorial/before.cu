// before.cu: three dependent kernels, launched with <<<>>>. The tutorial turns it into after.cu. Licence: 0BSD
#include "measure.h"

enum { WORDS = 1 << 19, BLOCKS = 128, THREADS = 256, TAPS = 1000, ROWS = 4096 };

static unsigned *table; // written once, before the first launch

__global__ void embed(unsigned *hidden, const unsigned *tokens, const unsigned *rows, int words)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        hidden[i] = rows[tokens[i] % ROWS];
    }
}

__global__ void rotate(unsigned *rotated, const unsigned *hidden, int words, int taps)
{
    unsigned w = 1;

    for (int k = 0; k < taps; k++) {
        w = w * 1664525u + 1013904223u;
    }
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        rotated[i] = 3 * hidden[i] + w;
    }
}

__global__ void add(unsigned *tokens, const unsigned *rotated, int words)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        tokens[i] = tokens[i] + rotated[i];
    }
}

static void launch(cudaStream_t stream, int, pdl_overlap, int words, int taps)
{
    unsigned *tokens = buffer[0], *hidden = buffer[1], *rotated = buffer[2];

    embed<<<BLOCKS, THREADS, 0, stream>>>(hidden, tokens, table, words);
    rotate<<<BLOCKS, THREADS, 0, stream>>>(rotated, hidden, words, taps);
    add<<<BLOCKS, THREADS, 0, stream>>>(tokens, rotated, words);
    CHECK(cudaGetLastError());
}

int main(void)
{
    measurement m = PDL_ZERO;

    table = measure_constants(ROWS, 0);
    m.name = "before";
    m.per = "round";
    m.launch = launch;
    m.words = WORDS;
    m.prologue = TAPS;
    return measure(&m);
}
