/* flash_mla.cu - does FlashMLA's dense decoding on Hopper see the queries that the kernel before it writes?
 *
 *     nvcc -std=c++20 -arch=sm_90a --expt-relaxed-constexpr -I MLA/csrc -I MLA/csrc/kerutils/include -I MLA/csrc/cutlass/include \
 *         -o flash_mla flash_mla.cu MLA/csrc/sm90/decode/dense/instantiations/bf16.cu \
 *         MLA/csrc/smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.cu MLA/csrc/smxx/decode/combine/combine.cu
 *     ./flash_mla
 *
 * MLA is a checkout of deepseek-ai/FlashMLA with its submodules, of 2026-01-16 or later. The library's own host functions are called
 * as its api/dense_decode.h calls them for the second layer of a model: the plan is there already, decoding and combination follow.
 * The kernel before them triggers first, works for 0 or 20 us, and then writes the queries. A run is wrong if its output is not, bit
 * by bit, the one of the same queries when the stream was drained in between. The twin has a memset between the two, which rules
 * overlap out. Exit code: 0 every output is right; 1 one was wrong; 69 the program could not run.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "params.h"
#include "sm90/decode/dense/splitkv_mla.h"
#include "smxx/decode/combine/combine.h"
#include "smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.h"

#define TRY(call)                                                                           \
    do {                                                                                    \
        cudaError_t error_ = (call);                                                        \
        if (error_ != cudaSuccess) {                                                        \
            std::fprintf(stderr, "flash_mla: %s: %s\n", #call, cudaGetErrorName(error_));   \
            std::exit(69);                                                                  \
        }                                                                                   \
    } while (0)

enum { RUNS = 50, BATCH = 8, HEADS = 128, DIM = 576, DIM_V = 512, PAGE = 64, PAGES = 16, THREADS = 256, LATE_NS = 20000 };
enum { QUERIES = BATCH * HEADS * DIM, OUTPUTS = BATCH * HEADS * DIM_V, CACHED = BATCH * PAGES * PAGE * DIM };

/* Any kernel that triggers early and writes later: a trigger publishes nothing, so this is a right program. */
__global__ void write_queries(__nv_bfloat16 *to, const __nv_bfloat16 *from, unsigned late_ns)
{
    unsigned long long begin, now;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < late_ns);
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < QUERIES; i += gridDim.x * THREADS)
        to[i] = from[i];
}

template <typename T> static T *allocated(size_t count)
{
    void *words;

    TRY(cudaMalloc(&words, count * sizeof(T)));
    TRY(cudaMemset(words, 0, count * sizeof(T)));
    return static_cast<T *>(words);
}

/* Numbers of about unit size, another set for each seed. */
static void fill(__nv_bfloat16 *to, size_t count, unsigned seed)
{
    std::vector<__nv_bfloat16> values(count);
    unsigned state = 2 * seed + 1;

    for (auto &value : values) {
        state = state * 1664525u + 1013904223u;
        value = __float2bfloat16(static_cast<float>(state >> 8) / (1 << 23) - 1.0f);
    }
    TRY(cudaMemcpy(to, values.data(), count * sizeof *to, cudaMemcpyHostToDevice));
}

struct layer {
    DenseAttnDecodeParams decode = {};
    CombineParams combine = {};
    __nv_bfloat16 *queries, *fresh[2], *outputs;
    char *byte;
};

/* As api/dense_decode.h fills them for one query per sequence and one head of keys. */
static layer layer_of(cudaStream_t stream)
{
    layer it;
    int processors, parts;
    std::vector<int> table(BATCH * PAGES), lengths(BATCH, PAGE * PAGES);
    DenseAttnDecodeParams &p = it.decode;

    TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    parts = processors / (HEADS / 64);
    for (int i = 0; i < BATCH * PAGES; i++)
        table[i] = i;
    it.queries = allocated<__nv_bfloat16>(QUERIES), it.outputs = allocated<__nv_bfloat16>(OUTPUTS), it.byte = allocated<char>(1);
    for (unsigned set = 0; set < 2; set++)
        fill(it.fresh[set] = allocated<__nv_bfloat16>(QUERIES), QUERIES, set);
    p.b = BATCH, p.s_q = 1, p.q_seq_per_hk = HEADS, p.d = DIM, p.d_v = DIM_V, p.h_q = HEADS, p.h_k = 1;
    p.num_blocks = BATCH * PAGES, p.q_head_per_hk = HEADS, p.is_causal = false, p.page_block_size = PAGE;
    p.scale_softmax = 1.0f / std::sqrt(static_cast<float>(DIM)), p.scale_softmax_log2 = p.scale_softmax * 1.44269504f;
    p.q_ptr = it.queries, p.o_ptr = it.outputs, p.softmax_lse_ptr = allocated<float>(BATCH * HEADS);
    fill(static_cast<__nv_bfloat16 *>(p.k_ptr = allocated<__nv_bfloat16>(CACHED)), CACHED, 7);
    p.q_batch_stride = HEADS * DIM, p.q_row_stride = DIM, p.q_head_stride = DIM;
    p.k_batch_stride = PAGE * DIM, p.k_row_stride = DIM, p.k_head_stride = DIM;
    p.o_batch_stride = HEADS * DIM_V, p.o_row_stride = DIM_V, p.o_head_stride = HEADS * DIM_V;
    p.block_table = allocated<int>(table.size()), p.block_table_batch_stride = PAGES, p.seqlens_k_ptr = allocated<int>(BATCH);
    TRY(cudaMemcpy(p.block_table, table.data(), table.size() * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(p.seqlens_k_ptr, lengths.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice));
    p.tile_scheduler_metadata_ptr = allocated<DecodingSchedMeta>(parts), p.num_sm_parts = parts;
    p.num_splits_ptr = allocated<int>(BATCH + 1), p.total_num_splits = BATCH + parts, p.stream = stream;
    p.softmax_lseaccum_ptr = allocated<float>((BATCH + parts) * HEADS), p.oaccum_ptr = allocated<float>((BATCH + parts) * HEADS * DIM_V);
    it.combine = { BATCH, 1, HEADS, DIM_V, p.softmax_lse_ptr, p.o_ptr, HEADS, HEADS, HEADS * DIM_V, HEADS * DIM_V, DIM_V,
                   p.softmax_lseaccum_ptr, p.oaccum_ptr, HEADS, HEADS, HEADS * DIM_V, HEADS * DIM_V, DIM_V,
                   p.tile_scheduler_metadata_ptr, p.num_splits_ptr, parts, nullptr, stream };
    GetDecodeSchedMetaParams plan = { BATCH, 1, 64, 5, -1, -1, nullptr, nullptr, p.seqlens_k_ptr, p.tile_scheduler_metadata_ptr,
                                      p.num_splits_ptr, parts, stream };
    smxx::decode::run_get_decoding_sched_meta_kernel(plan);
    TRY(cudaStreamSynchronize(stream));
    return it;
}

enum between { NOTHING, MEMSET, DRAINED };

static std::vector<unsigned short> decoded(layer &it, int set, unsigned late_ns, between what)
{
    std::vector<unsigned short> outputs(OUTPUTS);
    cudaStream_t stream = it.decode.stream;

    write_queries<<<8, THREADS, 0, stream>>>(it.queries, it.fresh[set], late_ns);
    TRY(cudaGetLastError());
    if (what == MEMSET)
        TRY(cudaMemsetAsync(it.byte, 0, 1, stream));
    if (what == DRAINED)
        TRY(cudaStreamSynchronize(stream));
    sm90::run_flash_splitkv_mla_kernel<cutlass::bfloat16_t>(it.decode);
    smxx::decode::run_flash_mla_combine_kernel<cutlass::bfloat16_t>(it.combine);
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(outputs.data(), it.outputs, OUTPUTS * sizeof outputs[0], cudaMemcpyDeviceToHost));
    return outputs;
}

int main()
{
    static const struct { const char *name; unsigned late_ns; between what; } ways[] = {
        { "natural", 0, NOTHING }, { "window of 20 us", LATE_NS, NOTHING }, { "twin without overlap", LATE_NS, MEMSET } };
    cudaStream_t stream;
    int all = 0;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    layer it = layer_of(stream);
    const std::vector<unsigned short> expected[] = { decoded(it, 0, 0, DRAINED), decoded(it, 1, 0, DRAINED) };
    if (expected[0] == expected[1])
        return std::fprintf(stderr, "flash_mla: the outputs do not depend on the queries\n"), 69;
    for (const auto &way : ways) {
        int wrong = 0;

        for (int run = 0; run < RUNS; run++) /* the other set of queries lies there from the run before */
            wrong += decoded(it, run % 2, way.late_ns, way.what) != expected[run % 2];
        std::printf("%s: %d of %d outputs wrong\n", way.name, wrong, static_cast<int>(RUNS));
        all += wrong;
    }
    return all != 0;
}
