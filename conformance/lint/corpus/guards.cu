/* Barrier objects and cluster barriers: waits under a guard, waits by one thread, split barriers, objects in arrays and in structs. */
#include "corpus.h"

INLINED unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINED float read_now(const float *p, int i) { return ((const volatile float *)p)[i]; }
INLINED void object_init(void *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at(b)), "r"(n) : "memory"); }
INLINED void object_arrive(void *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at(b)) : "memory"); }
INLINED bool object_try(void *b, unsigned parity)
{
    int done;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.s32 %0, 1, 0, p;\n\t}"
                 : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
    return done != 0;
}
INLINED void object_wait(void *b, unsigned parity) { while (!object_try(b, parity)) { } }
INLINED unsigned long long object_token(void *b)
{
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at(b)) : "memory");
    return token;
}
INLINED void object_wait_token(void *b, unsigned long long token)
{
    asm volatile("{\n\t.reg .pred p;\nAGAIN_%=:\n\tmbarrier.try_wait.shared.b64 p, [%0], %1;\n\t@!p bra AGAIN_%=;\n\t}" : : "r"(at(b)), "l"(token) : "memory");
}
INLINED void cluster_arrive(void) { asm volatile("barrier.cluster.arrive;" : : : "memory"); }
INLINED void cluster_arrive_release(void) { asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory"); }
INLINED void cluster_wait(void) { asm volatile("barrier.cluster.wait;" : : : "memory"); }
INLINED void cluster_wait_acquire(void) { asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory"); }

/* Warp 0 waits and arrives; the consumers try first, and block only if the answer was no. */
template <bool blocks> INLINED void tries_first(const float *a, float *o)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        const bool ready = object_try(&full, 0);
        if (blocks) {
            if (!ready) { object_wait(&full, 0); }
            o[threadIdx.x] = read_now(a, (int)threadIdx.x);
        } else {
            if (!ready) { o[threadIdx.x] = read_now(a, (int)threadIdx.x); }
        }
    }
}
BUG(guard_tries_first, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { tries_first<false>(a, o); }
OK(guard_tries_first)(const float *a, float *o) { tries_first<true>(a, o); }

/* A bounded number of tries. */
template <bool gives_up> INLINED void bounded_tries(const float *a, float *o, int tries)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        bool ready = false;
        for (int i = 0; i < tries && !ready; i++) { ready = object_try(&full, 0); }
        if (gives_up && !ready) { return; }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(guard_bounded, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o, int tries) { bounded_tries<false>(a, o, tries); }
OK(guard_bounded)(const float *a, float *o, int tries) { bounded_tries<true>(a, o, tries); }

/* A token of an arrival ahead of the wait, or after it. */
template <bool after> INLINED void with_token(const float *a, float *o)
{
    __shared__ unsigned long long meeting;
    if (threadIdx.x == 0) { object_init(&meeting, blockDim.x); }
    __syncthreads();
    if (after && threadIdx.x < 32) { pdl_wait(); }
    const unsigned long long token = object_token(&meeting);
    if (!after && threadIdx.x < 32) { pdl_wait(); }
    object_wait_token(&meeting, token);
    o[global_index()] = read_now(a, global_index());
}
BUG(guard_token, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { with_token<false>(a, o); }
OK(guard_token)(const float *a, float *o) { with_token<true>(a, o); }

/* Two objects: the waiter signals the first, the readers wait for the second. */
template <bool same> INLINED void two_objects(const float *a, float *o)
{
    struct stage { unsigned long long full, empty; };
    __shared__ stage st;
    if (threadIdx.x == 0) { object_init(&st.full, 32); object_init(&st.empty, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&st.full);
    } else if (threadIdx.x < 64) {
        object_wait(same ? &st.full : &st.empty, 0);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    } else {
        object_arrive(&st.empty);
    }
}
BUG(guard_other_object, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { two_objects<false>(a, o); }
OK(guard_other_object)(const float *a, float *o) { two_objects<true>(a, o); }

/* One lane of each consumer warp waits for the object; a warp barrier or a shuffle hands it on. */
template <bool meets> INLINED void lane_of_consumers(const float *a, float *o)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&full);
    } else {
        if (meets ? true : threadIdx.x % 32 == 5) { object_wait(&full, 0); }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(guard_one_lane, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { lane_of_consumers<false>(a, o); }
OK(guard_one_lane)(const float *a, float *o) { lane_of_consumers<true>(a, o); }

/* The block's cluster barrier, split over different warps' code. */
template <bool above> INLINED void split_over_roles(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        if (above) { pdl_wait(); }
        cluster_arrive();
        cluster_wait();
        if (!above) { pdl_wait(); }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    } else {
        cluster_arrive();
        const float x = (float)clock();
        cluster_wait();
        o[threadIdx.x] = read_now(a, (int)threadIdx.x) + x;
    }
}
BUG(guard_cluster_roles, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { split_over_roles<false>(a, o); }
OK(guard_cluster_roles)(const float *a, float *o) { split_over_roles<true>(a, o); }

/* Reads between arriving and waiting. */
template <bool after> INLINED void between_halves(const float *a, float *o)
{
    if (threadIdx.x == 0) { pdl_wait(); }
    cluster_arrive_release();
    float x = 0.0f;
    if (!after) { x = read_now(a, global_index()); }
    cluster_wait_acquire();
    if (after) { x = read_now(a, global_index()); }
    o[global_index()] = x;
}
BUG(guard_between_halves, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { between_halves<false>(a, o); }
OK(guard_between_halves)(const float *a, float *o) { between_halves<true>(a, o); }

/* Two cluster barriers: the wait between the arrival of the first and that of the second. */
template <bool second> INLINED void two_rounds(const float *a, float *o)
{
    cluster_arrive_release();
    if (threadIdx.x < 32) { pdl_wait(); }
    cluster_wait_acquire();
    float x = 0.0f;
    if (!second) { x = read_now(a, global_index()); }
    cluster_arrive_release();
    cluster_wait_acquire();
    if (second) { x = read_now(a, global_index()); }
    o[global_index()] = x;
}
BUG(guard_two_rounds, "partial-wait|read-before-wait|path-without-wait")(const float *a, float *o) { two_rounds<false>(a, o); }
OK(guard_two_rounds)(const float *a, float *o) { two_rounds<true>(a, o); }

/* The consumers wait for an object of an array, at a place that is fixed. */
template <int told, int asked> INLINED void fixed_places(const float *a, float *o)
{
    __shared__ unsigned long long objects[4];
    if (threadIdx.x < 4) { object_init(&objects[threadIdx.x], 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        pdl_wait();
        object_arrive(&objects[told]);
    } else if (threadIdx.x < 64) {
        object_arrive(&objects[3]);
    } else {
        object_wait(&objects[asked], 0);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(guard_fixed_places, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { fixed_places<1, 3>(a, o); }
OK(guard_fixed_places)(const float *a, float *o) { fixed_places<1, 1>(a, o); }

/* Relay through objects: the waiter tells warp 1, which tells warp 2; or warp 1 tells it before it was told. */
template <bool in_order> INLINED void object_relay(const float *a, float *o)
{
    __shared__ unsigned long long first, second;
    if (threadIdx.x == 0) { object_init(&first, 32); object_init(&second, 32); }
    __syncthreads();
    const int warp = (int)threadIdx.x / 32;
    if (warp == 0) {
        pdl_wait();
        object_arrive(&first);
    } else if (warp == 1) {
        if (in_order) { object_wait(&first, 0); }
        object_arrive(&second);
        if (!in_order) { object_wait(&first, 0); }
    } else {
        object_wait(&second, 0);
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(guard_relay, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o) { object_relay<false>(a, o); }
OK(guard_relay)(const float *a, float *o) { object_relay<true>(a, o); }

/* A wait for the object only if a parameter says that there is a producer, and then the producer waits too. */
template <bool right> INLINED void by_parameter(const float *a, float *o, int producer)
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { object_init(&full, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (producer) { pdl_wait(); object_arrive(&full); }
    } else if (right ? producer != 0 : threadIdx.x < 64) {
        if (producer) { object_wait(&full, 0); }
        o[threadIdx.x] = read_now(a, (int)threadIdx.x);
    }
}
BUG(guard_by_parameter, "partial-wait|read-before-wait|write-before-wait|path-without-wait")(const float *a, float *o, int producer) { by_parameter<false>(a, o, producer); }
OK(guard_by_parameter)(const float *a, float *o, int producer) { by_parameter<true>(a, o, producer); }
