/* Warp roles: a switch over the warp's number becomes a jump table, and so does a long chain of comparisons. On each way
 * the analysis has to know which warp it follows. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED void object_wait(void *b, unsigned parity)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}"
                 : : "r"(at(b)), "r"(parity) : "memory");
}

struct role_objects {
    unsigned long long loaded, scheduled, computed, stored;
};

INLINED void init_objects(role_objects *objects)
{
    if (threadIdx.x == 0) {
        object_init(&objects->loaded, 32);
        object_init(&objects->scheduled, 32);
        object_init(&objects->computed, 32);
        object_init(&objects->stored, 32);
    }
    __syncthreads();
}

/* A GEMM with six roles. The scheduler reads the next tile from memory, and nobody releases it before that. */
template <bool scheduler_waits> INLINED void six_roles(const int *tiles, const float *a, const float *b, const float *c, float *o)
{
    __shared__ role_objects objects;
    __shared__ float s[3][32];
    __shared__ int tile;
    unsigned lane = threadIdx.x % 32;
    init_objects(&objects);
    switch (threadIdx.x / 32) {
    case 0: /* loads a */
        pdl_wait();
        s[0][lane] = a[lane];
        object_arrive(&objects.loaded);
        break;
    case 1: /* scheduler */
        if (scheduler_waits) {
            pdl_wait();
        }
        tile = *(const volatile int *)(tiles + blockIdx.x);
        object_arrive(&objects.scheduled);
        break;
    case 2: /* multiplies */
        object_wait(&objects.loaded, 0);
        s[1][lane] = s[0][lane] * 2.0f;
        object_arrive(&objects.computed);
        break;
    case 3: /* loads b */
        pdl_wait();
        s[2][lane] = b[lane];
        object_arrive(&objects.loaded);
        break;
    case 4: /* stores */
        object_wait(&objects.computed, 0);
        o[lane] = s[1][lane];
        object_arrive(&objects.stored);
        break;
    case 5: /* loads c */
        object_wait(&objects.loaded, 0);
        o[lane + 32] = *(const volatile float *)(c + lane);
        break;
    default:
        object_wait(&objects.stored, 0);
        break;
    }
}

BUG(switch_roles, "partial-wait|read-before-wait|path-without-wait")(const int *tiles, const float *a, const float *b, const float *c, float *o)
{
    six_roles<false>(tiles, a, b, c, o);
}
OK(switch_roles)(const int *tiles, const float *a, const float *b, const float *c, float *o)
{
    six_roles<true>(tiles, a, b, c, o);
}

/* The same role is asked for twice: what the jump table said holds at the second question. */
template <bool all> INLINED void asked_twice(const float *a, float *o)
{
    __shared__ float s[8][32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float x = 1.0f;
    switch (warp) {
    case 0: x = sqrtf((float)lane); break;
    case 1: x = sinf((float)lane); break;
    case 2: x = cosf((float)lane); break;
    case 3: x = exp2f((float)lane); break;
    case 4: pdl_wait(); x = (float)lane * 3.0f; break;
    case 5: x = log2f((float)lane + 1.0f); break;
    case 6: x = (float)lane / 7.0f; break;
    default: x = 0.5f; break;
    }
    s[warp & 7][lane] = x;
    if (warp == (all ? 4u : 3u)) {
        o[lane] = *(const volatile float *)(a + lane) + x;
    }
}

BUG(asked_twice, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o) { asked_twice<false>(a, o); }
OK(asked_twice)(const float *a, float *o) { asked_twice<true>(a, o); }

/* A chain of comparisons, of which the assembler may make a table. */
template <bool early> INLINED void chain(const float *a, const float *w, float *o, float *p)
{
    __shared__ float s[256];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (warp == 0) {
        pdl_wait();
        s[lane] = a[lane];
        named_arrive(1, 64);
    } else if (warp == 1) {
        named_barrier(1, 64);
        o[lane] = s[lane];
    } else if (warp == 2) {
        pdl_wait();
        s[64 + lane] = a[64 + lane];
        named_arrive(2, 64);
    } else if (warp == 3) {
        named_barrier(2, 64);
        o[64 + lane] = s[64 + lane];
    } else if (warp == 4) {
        if (!early) {
            pdl_wait();
        }
        p[lane] = *(const volatile float *)(w + lane);
    } else if (warp == 5) {
        pdl_wait();
        p[lane + 32] = a[lane + 128];
    } else {
        s[128 + lane] = 0.0f;
    }
}

BUG(chain, "partial-wait|path-without-wait|read-before-wait")(const float *a, const float *w, float *o, float *p) { chain<true>(a, w, o, p); }
OK(chain)(const float *a, const float *w, float *o, float *p) { chain<false>(a, w, o, p); }

/* Several numbers share one way of the table. */
template <bool late> INLINED void shared_way(const float *a, float *o)
{
    unsigned warp = threadIdx.x / 32;
    float x = 0.0f;
    switch (warp) {
    case 0: case 3: case 6: pdl_wait(); x = 1.0f; break;
    case 1: x = sqrtf((float)threadIdx.x); break;
    case 2: x = exp2f((float)threadIdx.x); break;
    case 4: x = cosf((float)threadIdx.x); break;
    case 5: x = sinf((float)threadIdx.x); break;
    case 7: x = log2f((float)threadIdx.x); break;
    default: return;
    }
    if (late ? warp == 0 || warp == 6 : warp == 0 || warp == 7) {
        x += *(const volatile float *)(a + threadIdx.x);
        o[threadIdx.x] = x;
    }
}

BUG(shared_way, "partial-wait|path-without-wait|read-before-wait")(const float *a, float *o) { shared_way<false>(a, o); }
OK(shared_way)(const float *a, float *o) { shared_way<true>(a, o); }

/* The table is asked with a parameter: each launch has one way for all of its threads. */
template <bool all> INLINED void mode_table(const float *a, float *o, int mode)
{
    float x = (float)threadIdx.x;
    switch (mode) {
    case 0: pdl_wait(); x = sqrtf(x); break;
    case 1: pdl_wait(); x = sinf(x); break;
    case 2: if (all) { pdl_wait(); } x = cosf(x); break;
    case 3: pdl_wait(); x = exp2f(x); break;
    case 4: pdl_wait(); x = log2f(x); break;
    default: return;
    }
    o[threadIdx.x] = x + *(const volatile float *)(a + threadIdx.x);
}

BUG(mode_table, "path-without-wait|read-before-wait|partial-wait")(const float *a, float *o, int mode) { mode_table<false>(a, o, mode); }
OK(mode_table)(const float *a, float *o, int mode) { mode_table<true>(a, o, mode); }
