/* The device side of the model: what a kernel thread may do. Kernels are host C functions here; every access is a call
 * and a scheduling point. Valid only inside a kernel that the model runs. Addresses must come from the model's
 * cudaMalloc or cudaHostAlloc and be aligned to the access. */
#ifndef PDL_MODEL_KERNEL_H
#define PDL_MODEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_ARGS_MAX = 32764 };

struct model_kernel {
    const char *name;
    const void *func; /* the address that a launch names */
    int registers;
    size_t static_shared_bytes;
    int ptx_version, binary_version; /* 10 * major + minor */
    int max_threads;                 /* 0: as many as the device takes */
    size_t args_bytes;               /* of the one argument, at most MODEL_ARGS_MAX; 0: the kernel takes none */
    void (*entry)(const void *args); /* calls the kernel with a copy of *args */
};

/* Called from constructors; the record must live as long as the program. */
void model_register_kernel(const struct model_kernel *kernel);

/* void NAME(TYPE args) as a kernel: record, entry and registration. Follow it with the body. */
#define MODEL_KERNEL_OF(NAME, TYPE, REGISTERS, STATIC_SHARED, PTX, BINARY)                                           \
    void NAME(TYPE args);                                                                                            \
    static void NAME##_entry(const void *bytes)                                                                      \
    {                                                                                                                \
        TYPE args;                                                                                                   \
        memcpy(&args, bytes, sizeof args);                                                                           \
        NAME(args);                                                                                                  \
    }                                                                                                                \
    static struct model_kernel NAME##_record;                                                                        \
    __attribute__((constructor)) static void NAME##_register(void)                                                   \
    {                                                                                                                \
        struct model_kernel record = {#NAME, (const void *)NAME, (REGISTERS), (STATIC_SHARED), (PTX), (BINARY), 0,   \
                                      sizeof(TYPE), NAME##_entry};                                                   \
        NAME##_record = record;                                                                                      \
        model_register_kernel(&NAME##_record);                                                                       \
    }                                                                                                                \
    void NAME(TYPE args)

/* The same for the kit's kernels, whose one argument is a struct kernel_args. A unit compiled with IMAGE_ERASED stands for
 * an image made below compute_90: its triggers and waits do nothing. */
#ifdef IMAGE_ERASED
#define MODEL_KERNEL_PTX 80
#else
#define MODEL_KERNEL_PTX 90
#endif
#define MODEL_KERNEL(NAME) MODEL_KERNEL_NAMED(NAME)
#define MODEL_KERNEL_NAMED(NAME) MODEL_KERNEL_OF(NAME, struct kernel_args, 32, 0, MODEL_KERNEL_PTX, 90)
#define MODEL_KERNEL_OF_TYPE(NAME, TYPE) MODEL_KERNEL_OF(NAME, TYPE, 32, 0, MODEL_KERNEL_PTX, 90)

/* Memory of the device that has a name: allocated when a call first names it. */
struct model_words {
    uint32_t magic;
    size_t bytes;
    void *p;
    struct model_words *next; /* of those that are allocated */
};
#define MODEL_WORDS_MAGIC 0x5E3B01u

/* The nth word of such memory, by the path for constants. */
uint32_t model_load_constant(const struct model_words *words, unsigned index);

/* What stays the same while a thread runs, so that a kernel that asks again in each turn of a loop need not call. */
#if defined(__GNUC__)
#define MODEL_OF_THREAD __attribute__((const))
#else
#define MODEL_OF_THREAD
#endif
/* Numbers of threads and blocks count through x, y and z. */
MODEL_OF_THREAD unsigned model_thread(void);
MODEL_OF_THREAD unsigned model_block(void);
MODEL_OF_THREAD unsigned model_threads(void);
MODEL_OF_THREAD unsigned model_blocks(void);
MODEL_OF_THREAD unsigned model_shape(unsigned index); /* x, y, z of the grid, of a block in threads, and of a cluster in blocks: 0 to 8 */
MODEL_OF_THREAD unsigned model_dynamic_shared(void);  /* bytes that the launch asked for */
MODEL_OF_THREAD unsigned model_sm(void);
uint64_t model_now(void); /* ns */

/* How a load is cached */
#define MODEL_LD_CA 0      /* may hit a line that the SM filled earlier */
#define MODEL_LD_CG 1      /* L2 */
#define MODEL_LD_NC 2      /* read-only path: blind even to the thread's own stores */
#define MODEL_LD_RELAXED 3 /* L2, after the block's own stores to that word */

uint32_t model_load8(const void *p, int cache);
uint32_t model_load16(const void *p, int cache);
uint32_t model_load32(const void *p, int cache);
uint32_t model_load32_acquire(const void *p);
uint64_t model_load64(const void *p, int cache);
void model_load128(const void *p, uint32_t out[4], int cache); /* as two 64-bit loads */
void model_store8(void *p, uint32_t value);
void model_store16(void *p, uint32_t value);
void model_store32(void *p, uint32_t value);
void model_store64(void *p, uint64_t value);
void model_store128(void *p, const uint32_t value[4]); /* as two 64-bit stores */
void model_store32_relaxed(void *p, uint32_t value);
void model_store64_relaxed(void *p, uint64_t value);
void model_store32_release(void *p, uint32_t value);
uint32_t model_atomic_add32(void *p, uint32_t value);
void model_atomic_add32_release(void *p, uint32_t value);
uint32_t model_atomic_cas32(void *p, uint32_t compare, uint32_t value);
uint32_t model_atomic_exch32(void *p, uint32_t value);
uint64_t model_atomic_min64(void *p, uint64_t value);
uint64_t model_atomic_max64(void *p, uint64_t value);

/* An atomic of up to sixteen bytes, of a kind that the caller knows: `makes` changes what is there. What broken devices have to know of it: */
#define MODEL_REDUCES_FLOATS 1u
#define MODEL_REDUCES_HALVES 2u
#define MODEL_REDUCES_SEVERAL 4u
#define MODEL_REDUCES_SUM 8u      /* of eight bytes */
#define MODEL_REDUCES_SIGNED 16u  /* the least or the greatest, of four bytes */
#define MODEL_REDUCES_COUNT 32u
#define MODEL_REDUCES_COMPARED 64u /* of more than four bytes */
typedef void (*model_reduction)(unsigned kind, uint32_t *there, const uint32_t *by, const uint32_t *expected);
void model_reduce(unsigned kind, void *p, const uint32_t *by, const uint32_t *expected, unsigned bytes, unsigned traits, model_reduction makes);

void model_fence(void);            /* gpu scope, release and acquire */
void model_grid_barrier(void);     /* all threads of a grid that was launched cooperatively */
void model_barrier(void);          /* all threads of the block that have not exited */
/* So many threads of the block, by one of 15 barriers from 1 on; waits: 0, the thread only counts */
void model_named_barrier(unsigned id, unsigned threads, int waits);
void *model_shared(size_t offset); /* the block's dynamic shared memory: plain host memory, ordered by barriers */
void *model_local(size_t bytes); /* the thread's local memory: the same piece in each call, and as it was left */
void model_trigger(void); /* this and the wait do nothing in a kernel compiled below compute_90 */
void model_wait(void);
void model_set_condition(unsigned long long handle, unsigned value); /* of a conditional node */
void model_pause(uint64_t ns); /* the thread rests until the clock has advanced */

#ifdef __cplusplus
}
#endif
#endif
