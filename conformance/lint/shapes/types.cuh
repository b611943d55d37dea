/* types.cuh - the fresh pointer to everything that a pointer can point to, read and written behind a wait of one warp.
 *
 * The second half of shapes.cu, where SAFE and PLAIN are explained. Each COPY(name, type, bits) is such a pair; its SAFE kernel
 * has restrict on both pointers, so that there is something to spoil.
 */
#define COPY(name, type, bits)                                                             \
    SAFE(name, bits, bits, 0)(type const *__restrict__ a, type *__restrict__ o)            \
    {                                                                                      \
        one_warp_waits();                                                                  \
        pdl_fresh(o)[me()] = pdl_fresh(a)[me()];                                           \
    }                                                                                      \
    PLAIN(name)(type const *a, type *o)                                                    \
    {                                                                                      \
        one_warp_waits();                                                                  \
        o[me()] = a[me()];                                                                 \
    }

/* numbers and vectors; a half is two bytes in a class, as CUDA's own is */
struct alignas(2) half_number {
    unsigned short word;
};
enum colour : unsigned char { red, green };
COPY(int8, signed char, 8)
COPY(enumeration, colour, 8)
COPY(int16, short, 16)
COPY(half, half_number, 16)
COPY(int32, int, 32)
COPY(int64, long long, 64)
COPY(single, float, 32)
COPY(twice, double, 64)
COPY(single2, float2, 64)
COPY(single4, float4, 128)
COPY(twice2, double2, 128)
COPY(address, float *, 64)
COPY(volatile_int, volatile int, 32)
COPY(volatile_double, volatile double, 64)

/* structs of 1 to 32 bytes, aligned as their members are */
template <typename member, int count> struct members {
    member at[count];
};
template <int count> using bytes = members<unsigned char, count>;
template <int count> using words = members<int, count>;
COPY(bytes_1, bytes<1>, 8)
COPY(bytes_2, bytes<2>, 16)
COPY(bytes_3, bytes<3>, 24)
COPY(bytes_4, bytes<4>, 32)
COPY(bytes_5, bytes<5>, 40)
COPY(bytes_7, bytes<7>, 56)
COPY(bytes_8, bytes<8>, 64)
COPY(bytes_12, bytes<12>, 96)
COPY(bytes_16, bytes<16>, 128)
COPY(bytes_17, bytes<17>, 136)
COPY(bytes_31, bytes<31>, 248)
COPY(bytes_32, bytes<32>, 256)
COPY(words_3, words<3>, 96)
COPY(words_8, words<8>, 256)

/* structs that ask for more alignment than their members */
template <int bytes> struct alignas(bytes) aligned {
    unsigned char at[bytes];
};
COPY(aligned_2, aligned<2>, 16)
COPY(aligned_4, aligned<4>, 32)
COPY(aligned_8, aligned<8>, 64)
COPY(aligned_16, aligned<16>, 128)
COPY(aligned_32, aligned<32>, 256)
struct alignas(32) single8 {
    float x[8];
};
struct alignas(32) twice4 {
    double x, y, z, w;
};
COPY(single8, single8, 256)
COPY(twice4, twice4, 256)

/* vectors that are computed with, not just copied */
template <typename vector> INLINED vector doubled(vector v)
{
    v.x *= 2;
    v.y *= 2;
    v.z *= 2;
    v.w *= 2;
    return v;
}
#define DOUBLE(name, type, bits)                                                           \
    SAFE(name, bits, bits, 0)(type const *__restrict__ a, type *__restrict__ o)            \
    {                                                                                      \
        one_warp_waits();                                                                  \
        pdl_fresh(o)[me()] = doubled(pdl_fresh(a)[me()]);                                  \
    }                                                                                      \
    PLAIN(name)(type const *a, type *o)                                                    \
    {                                                                                      \
        one_warp_waits();                                                                  \
        o[me()] = doubled(a[me()]);                                                        \
    }
DOUBLE(doubled_single4, float4, 128)
DOUBLE(doubled_twice4, twice4, 256)

/* an alignment that somebody promised before the wait has to be promised again behind it */
SAFE(promised, 128, 128, 0)(const float *__restrict__ a, float *__restrict__ o)
{
    one_warp_waits();
    const float *from = (const float *)__builtin_assume_aligned(pdl_fresh(a) + 4 * me(), 16);
    float *to = (float *)__builtin_assume_aligned(pdl_fresh(o) + 4 * me(), 16);
    const float x = from[0], y = from[1], z = from[2], w = from[3];
    to[0] = x, to[1] = y, to[2] = z, to[3] = w;
}
PLAIN(promised)(const float *a, float *o)
{
    one_warp_waits();
    const float *from = (const float *)__builtin_assume_aligned(a + 4 * me(), 16);
    float *to = (float *)__builtin_assume_aligned(o + 4 * me(), 16);
    const float x = from[0], y = from[1], z = from[2], w = from[3];
    to[0] = x, to[1] = y, to[2] = z, to[3] = w;
}

/* a pointer to rows, a pointer without a type, a table of pointers */
SAFE(rows, 128, 32, 0)(const float (*__restrict__ a)[4], float *__restrict__ o)
{
    one_warp_waits();
    const float (*row)[4] = pdl_fresh(a) + me();
    pdl_fresh(o)[me()] = (*row)[0] + (*row)[1] + (*row)[2] + (*row)[3];
}
PLAIN(rows)(const float (*a)[4], float *o)
{
    one_warp_waits();
    const float (*row)[4] = a + me();
    o[me()] = (*row)[0] + (*row)[1] + (*row)[2] + (*row)[3];
}
SAFE(untyped, 32, 32, 0)(const void *__restrict__ a, void *__restrict__ o)
{
    one_warp_waits();
    static_cast<float *>(pdl_fresh(o))[me()] = static_cast<const float *>(pdl_fresh(a))[me()];
}
PLAIN(untyped)(const void *a, void *o)
{
    one_warp_waits();
    static_cast<float *>(o)[me()] = static_cast<const float *>(a)[me()];
}
SAFE(table_of_pointers, 96, 32, 0)(const float *const *__restrict__ a, float *__restrict__ o)
{
    one_warp_waits();
    const float *const *table = pdl_fresh(a);
    pdl_fresh(o)[me()] = pdl_fresh(table[0])[me()];
}
PLAIN(table_of_pointers)(const float *const *a, float *o)
{
    one_warp_waits();
    o[me()] = a[0][me()];
}

/* pointers in a parameter that is read where it lies; an array of the device; a type that only the kernel knows */
SAFE(in_place, 32, 32, 0)(const __grid_constant__ restricted p)
{
    one_warp_waits();
    pdl_fresh(p.o)[me()] = pdl_fresh(p.a)[me()];
}
PLAIN(in_place)(const float *a, float *o)
{
    one_warp_waits();
    o[me()] = a[me()];
}
__device__ float of_the_device[1024];
SAFE(variable, 32, 32, 0)(float *__restrict__ o)
{
    one_warp_waits();
    pdl_fresh(o)[me()] = pdl_fresh(of_the_device)[me()];
}
PLAIN(variable)(float *o)
{
    one_warp_waits();
    o[me()] = of_the_device[me()];
}
SAFE(local_type, 64, 64, 0)(const void *__restrict__ a, void *__restrict__ o)
{
    struct alignas(8) here {
        int first, second;
    };
    one_warp_waits();
    pdl_fresh(static_cast<here *>(o))[me()] = pdl_fresh(static_cast<const here *>(a))[me()];
}
PLAIN(local_type)(const void *a, void *o)
{
    struct alignas(8) here {
        int first, second;
    };
    one_warp_waits();
    static_cast<here *>(o)[me()] = static_cast<const here *>(a)[me()];
}
SAFE(atomic, 0, 32, 0)(int *__restrict__ o)
{
    one_warp_waits();
    atomicAdd(pdl_fresh(o) + me(), 1);
}
PLAIN(atomic)(int *o)
{
    one_warp_waits();
    atomicAdd(o + me(), 1);
}
