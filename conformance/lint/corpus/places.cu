/* Kinds of memory and ways to touch it: heap, stack, constants, pointers kept in shared memory, and the PTX forms of loads and stores. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }

/* Memory of the device's heap is the thread's own; what is copied into it is not. */
template <bool above> INLINED void filled_heap(const float *a, float *o, int n)
{
    float *mine = (float *)malloc((unsigned)n * sizeof(float));
    if (mine == nullptr) {
        return;
    }
    for (int i = 0; i < n; i++) {
        mine[i] = (float)i;
    }
    if (above) { pdl_wait(); }
    for (int i = 0; i < n; i++) {
        mine[i] += read_now(a, i);
    }
    if (!above) { pdl_wait(); }
    o[global_index()] = mine[threadIdx.x % (unsigned)n];
    free(mine);
}
BUG(heap_filled, "read-before-wait")(const float *a, float *o, int n) { filled_heap<false>(a, o, n); }
OK(heap_filled)(const float *a, float *o, int n) { filled_heap<true>(a, o, n); }

/* A list on the heap: pointers to heap memory are loaded from heap memory. */
struct node { node *next; float value; };
OK(heap_list)(const float *a, float *o, int n)
{
    node *head = nullptr;
    for (int i = 0; i < n; i++) {
        node *one = new node;
        if (one == nullptr) { break; }
        one->next = head;
        one->value = (float)(i * (int)threadIdx.x);
        head = one;
    }
    float sum = 0.0f;
    while (head != nullptr) {
        node *next = head->next;
        sum += head->value;
        delete head;
        head = next;
    }
    pdl_wait();
    o[global_index()] = sum + a[threadIdx.x];
}

/* Pointers to global memory, kept in shared memory. */
template <bool above> INLINED void kept_in_shared(const float *a, const float *b, float *o, int which)
{
    __shared__ const float *kept[2];
    if (threadIdx.x == 0) {
        kept[0] = a;
        kept[1] = b;
    }
    __syncthreads();
    if (above) { pdl_wait(); }
    const float x = read_now(kept[which & 1], (int)threadIdx.x);
    if (!above) { pdl_wait(); }
    o[global_index()] = x;
}
BUG(shared_keeps_pointer, "read-before-wait")(const float *a, const float *b, float *o, int which) { kept_in_shared<false>(a, b, o, which); }
OK(shared_keeps_pointer)(const float *a, const float *b, float *o, int which) { kept_in_shared<true>(a, b, o, which); }

/* Pointers of the stack's own words: the pointer of a pointer. */
template <bool local> INLINED void pointer_of_pointer(const float *a, float *o, int n)
{
    float own[16];
    const float *chosen[2];
    for (int i = 0; i < 16; i++) { own[i] = (float)(i + n); }
    chosen[0] = own;
    chosen[1] = local ? own + 4 : a;
    const float **volatile hidden = chosen;
    const float x = hidden[n & 1][threadIdx.x % 4];
    pdl_wait();
    o[global_index()] = x;
}
BUG(stack_chooses, "read-before-wait")(const float *a, float *o, int n) { pointer_of_pointer<false>(a, o, n); }
OK(stack_chooses)(const float *a, float *o, int n) { pointer_of_pointer<true>(a, o, n); }

/* An array of the stack with a computed index. */
OK(stack_scratch)(const float *a, float *o, int n)
{
    int count[32];
    for (int i = 0; i < 32; i++) { count[i] = 0; }
    for (int i = 0; i < n; i++) { count[(i * 7 + (int)threadIdx.x) & 31]++; }
    pdl_wait();
    o[global_index()] = a[global_index()] + (float)count[n & 31];
}

/* Tables of constants, and a table of functions of the index. */
__constant__ float table[64];
__constant__ struct { int rows, columns; float scale[8]; } layout;
OK(constants_early)(const float *a, float *o, int n)
{
    float x = table[threadIdx.x % 64] * layout.scale[n & 7];
    for (int i = 0; i < layout.rows; i++) { x += table[(i * layout.columns) & 63]; }
    pdl_wait();
    o[global_index()] = x + a[global_index()];
}

/* memcpy and memset of the device. */
template <bool above> INLINED void copied_block(const float *a, float *o)
{
    float own[8];
    if (above) { pdl_wait(); }
    memcpy(own, a + 8 * global_index(), sizeof own);
    if (!above) { pdl_wait(); }
    memcpy(o + 8 * global_index(), own, sizeof own);
}
BUG(memory_copied, "read-before-wait")(const float *a, float *o) { copied_block<false>(a, o); }
OK(memory_copied)(const float *a, float *o) { copied_block<true>(a, o); }
template <bool above> INLINED void cleared_block(float *o, int n)
{
    if (above) { pdl_wait(); }
    memset(o + n * global_index(), 0, (unsigned)n * sizeof *o);
    if (!above) { pdl_wait(); }
}
BUG(memory_set, "write-before-wait")(float *o, int n) { cleared_block<false>(o, n); }
OK(memory_set)(float *o, int n) { cleared_block<true>(o, n); }

/* Forms of PTX loads. */
#define LOAD_FORM(shape, text, type, letter)                                                                           \
    template <bool above> INLINED void form_##shape(const type *a, type *o)                                            \
    {                                                                                                                  \
        __shared__ type s[32];                                                                                         \
        type x;                                                                                                        \
        if (above) { pdl_wait(); }                                                                                     \
        asm volatile(text : "=" letter(x) : "l"(a + global_index()) : "memory");                                       \
        s[threadIdx.x % 32] = x; /* asked for at the barrier, so that the load stays above it */                       \
        __syncthreads();                                                                                               \
        if (!above) { pdl_wait(); }                                                                                    \
        o[global_index()] = x + s[31 - threadIdx.x % 32];                                                              \
    }
LOAD_FORM(mmio, "ld.mmio.relaxed.sys.global.u32 %0, [%1];", unsigned, "r")
LOAD_FORM(no_allocate, "ld.global.nc.L1::no_allocate.L2::256B.u32 %0, [%1];", unsigned, "r")
LOAD_FORM(evict_last, "ld.global.L1::evict_last.u64 %0, [%1];", unsigned long long, "l")
LOAD_FORM(weak_generic, "ld.weak.u16 %0, [%1];", unsigned short, "h")
LOAD_FORM(last_use, "ld.global.lu.u32 %0, [%1];", unsigned, "r")
LOAD_FORM(uniform, "ldu.global.u32 %0, [%1];", unsigned, "r")
BUG(form_mmio, "read-before-wait")(const unsigned *a, unsigned *o) { form_mmio<false>(a, o); }
OK(form_mmio)(const unsigned *a, unsigned *o) { form_mmio<true>(a, o); }
BUG(form_no_allocate, "read-before-wait")(const unsigned *a, unsigned *o) { form_no_allocate<false>(a, o); }
OK(form_no_allocate)(const unsigned *a, unsigned *o) { form_no_allocate<true>(a, o); }
BUG(form_evict_last, "read-before-wait")(const unsigned long long *a, unsigned long long *o) { form_evict_last<false>(a, o); }
OK(form_evict_last)(const unsigned long long *a, unsigned long long *o) { form_evict_last<true>(a, o); }
BUG(form_weak_generic, "read-before-wait")(const unsigned short *a, unsigned short *o) { form_weak_generic<false>(a, o); }
OK(form_weak_generic)(const unsigned short *a, unsigned short *o) { form_weak_generic<true>(a, o); }
BUG(form_last_use, "read-before-wait")(const unsigned *a, unsigned *o) { form_last_use<false>(a, o); }
OK(form_last_use)(const unsigned *a, unsigned *o) { form_last_use<true>(a, o); }
BUG(form_uniform, "read-before-wait")(const unsigned *a, unsigned *o) { form_uniform<false>(a, o); }
OK(form_uniform)(const unsigned *a, unsigned *o) { form_uniform<true>(a, o); }

/* A predicated load, and one of which the predicate is never true before the wait. */
template <bool late> INLINED void predicated_load(const float *a, float *o, int n)
{
    float x = 0.0f;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %2, 5;\n\t@p ld.global.f32 %0, [%1];\n\t}" : "+f"(x) : "l"(a), "r"(late ? 0 : n) : "memory");
    pdl_wait();
    o[global_index()] = x;
}
BUG(form_predicated, "read-before-wait")(const float *a, float *o, int n) { predicated_load<false>(a, o, n); }
OK(form_predicated)(const float *a, float *o, int n) { predicated_load<true>(a, o, n); }

/* Forms of atomics and reductions. */
template <bool above> INLINED void wide_compare(unsigned long long *w)
{
    unsigned long long low, high;
    if (above) { pdl_wait(); }
    asm volatile("{\n\t.reg .b128 c, v, r;\n\tmov.b128 c, {%3, %3};\n\tmov.b128 v, {%4, %4};\n\tatom.global.cas.b128 r, [%2], c, v;\n\tmov.b128 {%0, %1}, r;\n\t}"
                 : "=l"(low), "=l"(high) : "l"(w), "l"(0ull), "l"(1ull) : "memory");
    if (!above) { pdl_wait(); }
    w[2 + threadIdx.x] = low + high;
}
BUG(form_wide_compare, "atomic-before-wait")(unsigned long long *w) { wide_compare<false>(w); }
OK(form_wide_compare)(unsigned long long *w) { wide_compare<true>(w); }
template <bool above> INLINED void vector_reduction(float *o, float x)
{
    if (above) { pdl_wait(); }
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" : : "l"(o + 4 * threadIdx.x), "f"(x) : "memory");
    if (!above) { pdl_wait(); }
}
BUG(form_vector_reduction, "atomic-before-wait")(float *o, float x) { vector_reduction<false>(o, x); }
OK(form_vector_reduction)(float *o, float x) { vector_reduction<true>(o, x); }

/* Atomics on shared memory and arithmetic across the warp are never findings. */
OK(form_shared_only)(const float *a, float *o, int n)
{
    __shared__ unsigned s[64];
    s[threadIdx.x % 64] = threadIdx.x;
    __syncthreads();
    const unsigned sum = __reduce_add_sync(~0u, threadIdx.x + (unsigned)n);
    atomicMax(&s[threadIdx.x % 7], sum);
    atomicCAS(&s[9], 3u, sum);
    const unsigned same = __match_any_sync(~0u, sum & 3u);
    pdl_wait();
    o[global_index()] = a[global_index()] + (float)(s[threadIdx.x % 64] + same);
}

/* Asynchronous stores and copies inside the cluster touch shared memory only. */
OK(form_store_to_cluster)(const float *a, float *o)
{
    __shared__ alignas(16) unsigned s[64];
    __shared__ unsigned long long object;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(at(&object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4;" : : "r"(at(&object)) : "memory");
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" : : "r"(at(s)), "r"(5u), "r"(at(&object)) : "memory");
    }
    pdl_wait();
    __syncthreads();
    o[global_index()] = a[global_index()] + (float)s[0];
}

/* A pointer that is chosen between shared and global memory by a value of the thread. */
template <bool above> INLINED void chosen_window(const float *a, float *o)
{
    __shared__ float s[64];
    s[threadIdx.x % 64] = 1.0f;
    __syncthreads();
    const float *p = threadIdx.x < 32 ? s : a;
    asm volatile("" : "+l"(p));
    if (above) { pdl_wait(); }
    float x;
    asm volatile("ld.f32 %0, [%1];" : "=f"(x) : "l"(p + threadIdx.x) : "memory");
    if (!above) { pdl_wait(); }
    o[global_index()] = x;
}
BUG(window_chosen, "read-before-wait")(const float *a, float *o) { chosen_window<false>(a, o); }
OK(window_chosen)(const float *a, float *o) { chosen_window<true>(a, o); }

/* Cache control of a pointer is no access: applypriority, isspacep, address arithmetic, a fence. */
OK(address_only)(const float *a, float *o, int n)
{
    int global = 0;
    const float *p = a + n * (int)threadIdx.x;
    asm volatile("{\n\t.reg .pred p;\n\tisspacep.global p, %1;\n\tselp.s32 %0, 1, 0, p;\n\t}" : "=r"(global) : "l"(p));
    __threadfence();
    pdl_wait();
    o[global_index()] = global ? *p : 0.0f;
}
