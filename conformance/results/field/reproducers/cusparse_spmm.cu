/* cusparse_spmm.cu - does cuSPARSE's product with a sparse matrix see what the kernel before it writes?
 *
 *     nvcc -std=c++17 -arch=sm_90 -o cusparse_spmm cusparse_spmm.cu -lcusparse && ./cusparse_spmm
 *
 * The kernel before it triggers first, works for 0 or 200 us, and then writes the dense matrix, the values of the sparse one, and the
 * factor alpha, which lies in device memory. A product is wrong if it is further than 1 in 1000 from the one of the same inputs when
 * the stream was drained in between. The twin has a memset between the two, which rules overlap out. A few rows are long, because
 * some algorithms have kernels of their own for those. Exit code: 0 every product is right; 1 one was wrong; 69 it could not run.
 */
#include <cuda_runtime.h>
#include <cusparse.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define TRY(call)                                                                                               \
    do {                                                                                                        \
        int error_ = (int)(call);                                                                               \
        if (error_ != 0) {                                                                                      \
            std::fprintf(stderr, "cusparse_spmm: %s: %d (%s)\n", #call, error_, cudaGetErrorName(cudaGetLastError())); \
            std::exit(69);                                                                                      \
        }                                                                                                       \
    } while (0)

enum { RUNS = 20, ROWS = 4096, SHORT_ROW = 16, LONG_ROW = 2048, EVERY = 512, THREADS = 256, LATE_NS = 200000, MOST_COLUMNS = 64 };
enum between { NOTHING, MEMSET, DRAINED };

/* Any kernel that triggers early and writes later: a trigger publishes nothing, so this is a right program. */
__global__ void write_inputs(float *dense, int dense_count, float *values, int values_count, float *alpha, float scale, unsigned late_ns)
{
    unsigned long long begin, now;
    int first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;

    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < late_ns);
    for (int i = first; i < dense_count; i += step)
        dense[i] = scale * (1 + i % 7);
    for (int i = first; i < values_count; i += step)
        values[i] = scale * (1 + i % 5);
    if (first == 0)
        *alpha = scale;
}

template <typename T> static T *allocated(size_t count)
{
    void *words;

    TRY(cudaMalloc(&words, count * sizeof(T)));
    TRY(cudaMemset(words, 0, count * sizeof(T)));
    return static_cast<T *>(words);
}

struct product {
    cusparseHandle_t handle;
    cudaStream_t stream;
    cusparseSpMatDescr_t sparse;
    cusparseDnMatDescr_t dense, result;
    float *values, *in, *out, *factors; /* factors: alpha, beta, one more */
    int count, columns;
    cusparseSpMMAlg_t algorithm;
    void *buffer;
};

static void make_sparse(product &p)
{
    std::vector<int> starts(1, 0), columns;
    int *on_device[2];

    for (int row = 0; row < ROWS; row++) {
        int length = row % EVERY ? SHORT_ROW : LONG_ROW;
        for (int i = 0; i < length; i++)
            columns.push_back((row * 37 % (ROWS / length) + i * (ROWS / length)) % ROWS);
        starts.push_back((int)columns.size());
    }
    p.count = (int)columns.size();
    on_device[0] = allocated<int>(starts.size()), on_device[1] = allocated<int>(columns.size()), p.values = allocated<float>(p.count);
    TRY(cudaMemcpy(on_device[0], starts.data(), starts.size() * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(on_device[1], columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cusparseCreateCsr(&p.sparse, ROWS, ROWS, p.count, on_device[0], on_device[1], p.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
}

/* False if cuSPARSE has no such algorithm for this layout. */
static bool prepare(product &p, cusparseSpMMAlg_t algorithm, int columns, cusparseOrder_t order)
{
    size_t bytes = 0;
    int leading = order == CUSPARSE_ORDER_COL ? ROWS : columns;

    p.algorithm = algorithm, p.columns = columns;
    TRY(cusparseCreateDnMat(&p.dense, ROWS, columns, leading, p.in, CUDA_R_32F, order));
    TRY(cusparseCreateDnMat(&p.result, ROWS, columns, leading, p.out, CUDA_R_32F, order));
    if (cusparseSpMM_bufferSize(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, p.factors, p.sparse,
                                p.dense, p.factors + 1, p.result, CUDA_R_32F, algorithm, &bytes) != CUSPARSE_STATUS_SUCCESS)
        return false;
    p.buffer = allocated<char>(bytes + 1);
    TRY(cusparseSpMM_preprocess(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, p.factors, p.sparse,
                                p.dense, p.factors + 1, p.result, CUDA_R_32F, algorithm, p.buffer));
    return true;
}

static std::vector<float> multiplied(product &p, float scale, unsigned late_ns, between what)
{
    std::vector<float> result((size_t)ROWS * p.columns);

    write_inputs<<<8, THREADS, 0, p.stream>>>(p.in, ROWS * p.columns, p.values, p.count, p.factors, scale, late_ns);
    TRY(cudaGetLastError());
    if (what == MEMSET)
        TRY(cudaMemsetAsync(p.factors + 2, 0, sizeof(float), p.stream));
    if (what == DRAINED)
        TRY(cudaStreamSynchronize(p.stream));
    TRY(cusparseSpMM(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, p.factors, p.sparse, p.dense,
                     p.factors + 1, p.result, CUDA_R_32F, p.algorithm, p.buffer));
    TRY(cudaStreamSynchronize(p.stream));
    TRY(cudaMemcpy(result.data(), p.out, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return result;
}

static bool differs(const std::vector<float> &a, const std::vector<float> &b)
{
    for (size_t i = 0; i < a.size(); i++)
        if (!(std::fabs(a[i] - b[i]) <= 1e-3f * std::fabs(b[i])))
            return true;
    return false;
}

/* How many of RUNS products are wrong; the inputs of the run before are still there when one comes too early. */
static int wrong_of(product &p, const std::vector<float> *expected, unsigned late_ns, between what)
{
    int wrong = 0;

    for (int run = 0; run < RUNS; run++)
        wrong += differs(multiplied(p, 1.0f + (float)(run % 2), late_ns, what), expected[run % 2]);
    return wrong;
}

int main()
{
    static const struct { cusparseSpMMAlg_t number; const char *name; } algorithms[] = {
        { CUSPARSE_SPMM_CSR_ALG1, "CSR_ALG1" }, { CUSPARSE_SPMM_CSR_ALG2, "CSR_ALG2" }, { CUSPARSE_SPMM_CSR_ALG3, "CSR_ALG3" } };
    static const int widths[] = { 8, MOST_COLUMNS };
    static const cusparseOrder_t orders[] = { CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW };
    product p = {};
    int all = 0;

    TRY(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
    TRY(cusparseCreate(&p.handle));
    TRY(cusparseSetStream(p.handle, p.stream));
    TRY(cusparseSetPointerMode(p.handle, CUSPARSE_POINTER_MODE_DEVICE));
    p.in = allocated<float>(ROWS * MOST_COLUMNS), p.out = allocated<float>(ROWS * MOST_COLUMNS), p.factors = allocated<float>(3);
    make_sparse(p);
    for (const auto &algorithm : algorithms)
        for (int width : widths)
            for (cusparseOrder_t order : orders) {
                if (!prepare(p, algorithm.number, width, order))
                    continue;
                const std::vector<float> expected[] = { multiplied(p, 1, 0, DRAINED), multiplied(p, 2, 0, DRAINED) };
                int natural = wrong_of(p, expected, 0, NOTHING), window = wrong_of(p, expected, LATE_NS, NOTHING);
                int twin = wrong_of(p, expected, LATE_NS, MEMSET);

                std::printf("%s, %d columns by %s: natural %d, window of 200 us %d, twin without overlap %d of %d wrong\n", algorithm.name,
                            width, order == CUSPARSE_ORDER_COL ? "column" : "row", natural, window, twin, (int)RUNS);
                all += natural + window + twin;
            }
    return all != 0;
}
