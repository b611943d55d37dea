/* crowds_reductions.h - atomics of every type and width that crowds.cu asks about in crowds_reduced.h: what each is given, and what it makes of what
 * is there. In any order the outcome is the same: floating-point values are small whole numbers, of which no sum is rounded. */
#ifndef CROWDS_REDUCTIONS_H_INCLUDED
#define CROWDS_REDUCTIONS_H_INCLUDED

#define REDUCED_CELL 4u        /* words: the widest has sixteen bytes */
#define COUNT_BOUND 6u         /* RED_UP and RED_DOWN count from 0 to it */

enum reduction { RED_F32, RED_F32_SYSTEM, RED_F32_RETURNED, RED_F64, RED_F16, RED_F16X2, RED_BF16X2, RED_TWO_F32, RED_FOUR_F32, RED_FOUR_F16X2,
                 RED_ADD64, RED_ADD_SYSTEM, RED_LEAST, RED_GREATEST, RED_LEAST_UNSIGNED, RED_GREATEST_UNSIGNED, RED_LEAST64, RED_GREATEST64,
                 RED_AND, RED_OR, RED_XOR, RED_AND64, RED_OR64, RED_XOR64, RED_UP, RED_DOWN, RED_EXCHANGED64, RED_EXCHANGED128,
                 RED_COMPARED16, RED_COMPARED64, RED_COMPARED128, REDUCTIONS };

/* ---- what is there at first, and what each of so many threads gives ---- */

/* A whole number from 0 to 255, in a floating-point format of so many bits behind the point. */
WORDS_FN uint32_t float_of(uint32_t n, uint32_t mantissa, uint32_t bias)
{
    uint32_t exponent = 0;

    while (n >> exponent > 1)
        exponent++;
    return n ? (bias + exponent) << mantissa | (n << (mantissa > exponent ? mantissa - exponent : 0) & ((1u << mantissa) - 1)) : 0;
}

/* Each word of a cell holds one value of four bytes, two halves, or a part of a wider value. The same number in both halves but for one. */
WORDS_FN uint32_t reduced_float(uint32_t kind, uint32_t n, uint32_t j)
{
    switch (kind) {
    case RED_F64: return j == 1 ? float_of(n, 20, 1023) : 0;
    case RED_F16: return j == 0 ? float_of(n, 10, 15) : 0;
    case RED_BF16X2: return j == 0 ? float_of(n + 1, 7, 127) << 16 | float_of(n, 7, 127) : 0;
    case RED_F16X2: return j == 0 ? float_of(n + 1, 10, 15) << 16 | float_of(n, 10, 15) : 0;
    case RED_FOUR_F16X2: return float_of(n + 1 + j, 10, 15) << 16 | float_of(n + j, 10, 15);
    case RED_TWO_F32: return j < 2 ? float_of(n + j, 23, 127) : 0;
    case RED_FOUR_F32: return float_of(n + j, 23, 127);
    default: return j == 0 ? float_of(n, 23, 127) : 0;
    }
}

WORDS_FN uint32_t reduced_words(uint32_t kind)
{
    switch (kind) {
    case RED_FOUR_F32:
    case RED_FOUR_F16X2:
    case RED_EXCHANGED128:
    case RED_COMPARED128: return 4;
    case RED_F64:
    case RED_TWO_F32:
    case RED_ADD64:
    case RED_LEAST64:
    case RED_GREATEST64:
    case RED_AND64:
    case RED_OR64:
    case RED_XOR64:
    case RED_EXCHANGED64:
    case RED_COMPARED64: return 2;
    default: return 1;
    }
}

WORDS_FN void reduced_at_first(uint32_t kind, uint64_t key, uint32_t cell, uint32_t *words)
{
    uint32_t word = words_fresh(~key, cell), j;

    for (j = 0; j < REDUCED_CELL; j++)
        words[j] = kind <= RED_FOUR_F16X2                   ? reduced_float(kind, (word >> 8) % 8, j)
                   : kind == RED_UP || kind == RED_DOWN     ? (word >> 8) % (COUNT_BOUND + 1)
                                                            : words_fresh(~key, (cell + 1) * 64 + j);
}

/* What the nth thread gives, of those that change this cell. Who exchanges, or finds what it compares with, stores the same. */
WORDS_FN void reduced_by(uint32_t kind, uint64_t key, uint32_t cell, uint32_t nth, uint32_t *words)
{
    uint32_t at = (cell + 1) * 4096 + nth * REDUCED_CELL, word = words_fresh(key, at), j;

    for (j = 0; j < REDUCED_CELL; j++) {
        if (kind <= RED_FOUR_F16X2)
            words[j] = reduced_float(kind, 1 + (word >> 8) % 3, j);
        else if (kind >= RED_EXCHANGED64)
            words[j] = words_fresh(key, cell * REDUCED_CELL + j) ^ (kind >= RED_COMPARED16 && nth % 2 ? ~0u : 0);
        else if (kind == RED_AND || kind == RED_AND64)
            words[j] = ~(1u << (word >> (8 + 5 * j % 10)) % 32);
        else if (kind == RED_OR || kind == RED_OR64)
            words[j] = 1u << (word >> (8 + 5 * j % 10)) % 32;
        else
            words[j] = kind == RED_UP || kind == RED_DOWN ? COUNT_BOUND : words_fresh(key, at + j);
    }
}

/* Every second thread compares with what never stands there: it differs in the last bit of all. */
WORDS_FN void reduced_expects(uint32_t kind, uint64_t key, uint32_t cell, uint32_t nth, uint32_t *words)
{
    reduced_at_first(kind, key, cell, words);
    if (nth % 2)
        words[reduced_words(kind) - 1] ^= kind == RED_COMPARED16 ? 0x8000u : 0x80000000u;
}

/* ---- what it makes of them: for the host, and for the model ---- */

static uint32_t float_sum(uint32_t a, uint32_t b, uint32_t mantissa, uint32_t bias)
{
    uint32_t part[2], sum = 0, i, exponent;

    part[0] = a;
    part[1] = b;
    for (i = 0; i < 2; i++) {
        exponent = (part[i] >> mantissa) - bias;
        if (part[i] && exponent <= mantissa) /* else it is none of these numbers */
            sum += (1u << mantissa | (part[i] & ((1u << mantissa) - 1))) >> (mantissa - exponent);
    }
    return float_of(sum, mantissa, bias);
}

static uint32_t half_sums(uint32_t a, uint32_t b, uint32_t mantissa, uint32_t bias)
{
    return float_sum(a >> 16, b >> 16, mantissa, bias) << 16 | float_sum(a & 0xFFFF, b & 0xFFFF, mantissa, bias);
}

static void add_floats(uint32_t kind, uint32_t *there, const uint32_t *by)
{
    uint32_t j;

    for (j = 0; j < reduced_words(kind); j++) {
        if (kind == RED_F64)
            there[j] = j ? float_sum(there[j], by[j], 20, 1023) : 0;
        else if (kind == RED_F16)
            there[j] = (there[j] & 0xFFFF0000u) | float_sum(there[j] & 0xFFFF, by[j], 10, 15);
        else if (kind == RED_BF16X2)
            there[j] = half_sums(there[j], by[j], 7, 127);
        else if (kind == RED_F16X2 || kind == RED_FOUR_F16X2)
            there[j] = half_sums(there[j], by[j], 10, 15);
        else
            there[j] = float_sum(there[j], by[j], 23, 127);
    }
}

static int is_less(uint32_t kind, const uint32_t *a, const uint32_t *b)
{
    int64_t wide[2];

    if (kind == RED_LEAST_UNSIGNED || kind == RED_GREATEST_UNSIGNED)
        return a[0] < b[0];
    if (reduced_words(kind) == 1)
        return (int32_t)a[0] < (int32_t)b[0];
    wide[0] = (int64_t)((uint64_t)a[1] << 32 | a[0]);
    wide[1] = (int64_t)((uint64_t)b[1] << 32 | b[0]);
    return wide[0] < wide[1];
}

static void combine_bits(uint32_t kind, uint32_t *there, const uint32_t *by)
{
    uint32_t j;

    for (j = 0; j < reduced_words(kind); j++)
        there[j] = kind == RED_AND || kind == RED_AND64 ? there[j] & by[j] : kind == RED_OR || kind == RED_OR64 ? there[j] | by[j] : there[j] ^ by[j];
}

static void combine_sum(uint32_t kind, uint32_t *there, const uint32_t *by)
{
    uint64_t sum = (uint64_t)there[0] + by[0];

    there[0] = (uint32_t)sum;
    if (kind == RED_ADD64)
        there[1] += by[1] + (uint32_t)(sum >> 32);
}

/* expected: of those that compare. */
static void combine(unsigned kind, uint32_t *there, const uint32_t *by, const uint32_t *expected)
{
    uint32_t words = reduced_words(kind);

    if (kind <= RED_FOUR_F16X2)
        add_floats(kind, there, by);
    else if (kind <= RED_ADD_SYSTEM)
        combine_sum(kind, there, by);
    else if (kind <= RED_GREATEST64) {
        int greatest = kind == RED_GREATEST || kind == RED_GREATEST_UNSIGNED || kind == RED_GREATEST64;
        if (greatest ? is_less(kind, there, by) : is_less(kind, by, there))
            memcpy(there, by, words * sizeof(*there));
    } else if (kind <= RED_XOR64)
        combine_bits(kind, there, by);
    else if (kind == RED_UP)
        there[0] = there[0] >= by[0] ? 0 : there[0] + 1;
    else if (kind == RED_DOWN)
        there[0] = there[0] == 0 || there[0] > by[0] ? by[0] : there[0] - 1;
    else if (kind == RED_COMPARED16)
        there[0] = (there[0] & 0xFFFF0000u) | ((there[0] ^ expected[0]) & 0xFFFF ? there[0] & 0xFFFF : by[0] & 0xFFFF);
    else if (kind < RED_COMPARED16 || memcmp(there, expected, words * sizeof(*there)) == 0)
        memcpy(there, by, words * sizeof(*there));
}

/* ---- by the device ---- */

#ifdef PDL_MODEL
DEVICE_FN unsigned traits_of(uint32_t kind)
{
    if (kind <= RED_FOUR_F16X2)
        return MODEL_REDUCES_FLOATS | (kind >= RED_TWO_F32 ? MODEL_REDUCES_SEVERAL : 0) | (kind == RED_F16X2 ? MODEL_REDUCES_HALVES : 0);
    return kind == RED_ADD64 ? MODEL_REDUCES_SUM
         : kind == RED_LEAST || kind == RED_GREATEST ? MODEL_REDUCES_SIGNED
         : kind == RED_UP ? MODEL_REDUCES_COUNT
         : kind == RED_COMPARED64 || kind == RED_COMPARED128 ? MODEL_REDUCES_COMPARED : 0;
}

DEVICE_FN void k_reduce(uint32_t kind, uint32_t *p, const uint32_t *by, const uint32_t *expected)
{
    model_reduce(kind, p, by, expected, reduced_words(kind) * sizeof(uint32_t), traits_of(kind), combine);
}
#else
#define RED32(op) asm volatile("red.relaxed.gpu.global." op " [%0], %1;" :: "l"(p), "r"(by[0]) : "memory"); break
#define RED64(op) asm volatile("red.relaxed.gpu.global." op " [%0], %1;" :: "l"(p), "l"(two) : "memory"); break

/* Those that need an architecture of its own, or are given sixteen bytes. */
DEVICE_FN void reduces_wide(uint32_t kind, uint32_t *p, const uint32_t *by, const uint32_t *expected)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint64_t low = (uint64_t)by[1] << 32 | by[0], high = (uint64_t)by[3] << 32 | by[2];
    uint64_t expected_low = (uint64_t)expected[1] << 32 | expected[0], expected_high = (uint64_t)expected[3] << 32 | expected[2];

    switch (kind) {
    case RED_BF16X2: RED32("add.noftz.bf16x2");
    case RED_TWO_F32:
        asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};"
                     :: "l"(p), "f"(__uint_as_float(by[0])), "f"(__uint_as_float(by[1])) : "memory");
        break;
    case RED_FOUR_F32:
        asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                     :: "l"(p), "f"(__uint_as_float(by[0])), "f"(__uint_as_float(by[1])), "f"(__uint_as_float(by[2])), "f"(__uint_as_float(by[3]))
                     : "memory");
        break;
    case RED_FOUR_F16X2:
        asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                     :: "l"(p), "r"(by[0]), "r"(by[1]), "r"(by[2]), "r"(by[3]) : "memory");
        break;
    case RED_EXCHANGED128:
        asm volatile("{ .reg .b128 a, b; mov.b128 b, {%1, %2}; atom.relaxed.gpu.global.exch.b128 a, [%0], b; }"
                     :: "l"(p), "l"(low), "l"(high) : "memory");
        break;
    default:
        asm volatile("{ .reg .b128 a, b, c; mov.b128 b, {%1, %2}; mov.b128 c, {%3, %4}; atom.relaxed.gpu.global.cas.b128 a, [%0], c, b; }"
                     :: "l"(p), "l"(low), "l"(high), "l"(expected_low), "l"(expected_high) : "memory");
    }
#endif
}

DEVICE_FN void k_reduce(uint32_t kind, uint32_t *p, const uint32_t *by, const uint32_t *expected)
{
    uint64_t two = (uint64_t)by[1] << 32 | by[0], expects = (uint64_t)expected[1] << 32 | expected[0];

    switch (kind) {
    case RED_F32: asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(p), "f"(__uint_as_float(by[0])) : "memory"); break;
    case RED_F32_SYSTEM: asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" :: "l"(p), "f"(__uint_as_float(by[0])) : "memory"); break;
    case RED_F32_RETURNED:
        asm volatile("{ .reg .f32 old; atom.relaxed.gpu.global.add.f32 old, [%0], %1; }" :: "l"(p), "f"(__uint_as_float(by[0])) : "memory");
        break;
    case RED_F64: asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" :: "l"(p), "d"(__longlong_as_double((long long)two)) : "memory"); break;
    case RED_F16: asm volatile("red.relaxed.gpu.global.add.noftz.f16 [%0], %1;" :: "l"(p), "h"((uint16_t)by[0]) : "memory"); break;
    case RED_F16X2: RED32("add.noftz.f16x2");
    case RED_ADD64: RED64("add.u64");
    case RED_ADD_SYSTEM: asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" :: "l"(p), "r"(by[0]) : "memory"); break;
    case RED_LEAST: RED32("min.s32");
    case RED_GREATEST: RED32("max.s32");
    case RED_LEAST_UNSIGNED: RED32("min.u32");
    case RED_GREATEST_UNSIGNED: RED32("max.u32");
    case RED_LEAST64: RED64("min.s64");
    case RED_GREATEST64: RED64("max.s64");
    case RED_AND: RED32("and.b32");
    case RED_OR: RED32("or.b32");
    case RED_XOR: RED32("xor.b32");
    case RED_AND64: RED64("and.b64");
    case RED_OR64: RED64("or.b64");
    case RED_XOR64: RED64("xor.b64");
    case RED_UP: RED32("inc.u32");
    case RED_DOWN: RED32("dec.u32");
    case RED_EXCHANGED64: asm volatile("{ .reg .b64 old; atom.relaxed.gpu.global.exch.b64 old, [%0], %1; }" :: "l"(p), "l"(two) : "memory"); break;
    case RED_COMPARED16:
        asm volatile("{ .reg .b16 old; atom.relaxed.gpu.global.cas.b16 old, [%0], %1, %2; }"
                     :: "l"(p), "h"((uint16_t)expected[0]), "h"((uint16_t)by[0]) : "memory");
        break;
    case RED_COMPARED64:
        asm volatile("{ .reg .b64 old; atom.relaxed.gpu.global.cas.b64 old, [%0], %1, %2; }" :: "l"(p), "l"(expects), "l"(two) : "memory");
        break;
    default: reduces_wide(kind, p, by, expected);
    }
}
#endif

#endif
