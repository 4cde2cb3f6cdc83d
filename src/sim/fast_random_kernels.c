/* SPDX-License-Identifier: Apache-2.0 */
/* fast_random_kernels.c: vector loops for uniform, Bernoulli, normal and lognormal draws.
 * layer: sim
 *
 * Each body below is plain C that gcc and clang turn into vector code, and is compiled once per instruction set. Why
 * the variants agree bit for bit: integers wrap; every floating-point operation is one IEEE +, -, * or a
 * conversion; a lane never meets another lane except in `sum`, whose order is written out; and contraction to
 * fused multiply-adds is off.
 *
 * Normals are Box-Muller: (r cos t, r sin t) with r^2 = -2 ln v. The uniform v = (k + 1/2)/2^31, k of 31 bits, is
 * exact towards 0, where the tail is made: |z| reaches sqrt(2 ln 2^32) = 6.66; towards 1 it is rounded to a float,
 * which moves the law of r by less than 2^-25. The polynomials are minimax fits (Remez), with the largest error over
 * the interval, before float rounding: -2 ln(1+x)/x         degree 8 on [sqrt(1/2)-1, sqrt(2)-1]   relative 2.6e-8
 *      sin(pi x)/x in x^2   degree 4 on [0, 1/4]                   relative 5.3e-9
 *      cos(pi x)   in x^2   degree 5 on [0, 1/4]                   absolute 2.2e-10
 *      e^x                  degree 6 on [-ln2/2, ln2/2]            relative 1.9e-9 */
#include "sim/fast_random_kernels.h"

#include <string.h>

/* gcc vectorises these loops only at -O3; a build without optimisation keeps its plain loops. Either way the results
 * are the same. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#define BODY static inline __attribute__((always_inline))

BODY uint32_t mix(uint32_t c, caucus_fast_words key) {
    c ^= key.a;
    c ^= c >> 17;
    c *= 0xed5ad4bbU;
    c ^= c >> 11;
    c += key.b;
    c *= 0xac4c1b51U;
    c ^= c >> 15;
    c *= 0x31848babU;
    c ^= c >> 14;
    return c;
}

BODY float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

BODY uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

BODY void uniform_body(caucus_fast_words key, uint32_t first, size_t count, float *restrict ret) {
    for (size_t k = 0; k < count; k++)
        ret[k] = (float)(int32_t)(mix(first + (uint32_t)k, key) >> 8) * 0x1p-24f;
}

BODY void bernoulli_body(caucus_fast_words key, uint32_t first, size_t count, const uint32_t *restrict threshold,
                         float *restrict ret) {
    for (size_t k = 0; k < count; k++)
        ret[k] = (float)(int32_t)(mix(first + (uint32_t)k, key) < threshold[k]);
}

/* -2 ln((k + 1/2)/2^31). The argument is split into 2^e * m, m in [sqrt(1/2), sqrt(2)), on its bits. */
BODY float minus_two_log(uint32_t draw) {
    uint32_t bits = as_bits((float)(int32_t)(draw >> 1) + 0.5f);
    int32_t exponent = (int32_t)(bits - 0x3f3504f3U) >> 23;
    float x = as_float(bits - ((uint32_t)exponent << 23)) - 1.0f;
    float p = -0x1.654492p-3f;
    p = p * x + 0x1.263ba6p-2f;
    p = p * x - 0x1.3238f0p-2f;
    p = p * x + 0x1.5332a4p-2f;
    p = p * x - 0x1.98b748p-2f;
    p = p * x + 0x1.000570p-1f;
    p = p * x - 0x1.555792p-1f;
    p = p * x + 0x1.fffff8p-1f;
    p = p * x - 2.0f;
    return (float)(31 - exponent) * 0x1.62e430p+0f + p * x; /* 2 ln 2 */
}

/* sqrt(x), x = 0 or above 1e-30, within 2 units in the last place: Newton steps for 1/sqrt(x) from a guess made on the
 * bits of x, the last one for the root itself. Written out because a call of sqrtf, which may set errno, keeps both
 * compilers from vectorising the loop around it. */
BODY float root(float x) {
    float y = as_float(0x5f375a86U - (as_bits(x) >> 1));
    float half = 0.5f * x;
    y = y * (1.5f - half * y * y);
    y = y * (1.5f - half * y * y);
    float r = x * y;
    return r + 0.5f * y * (x - r * r);
}

/* The angle is pi*t, t in (-1/2, 1/2) from 24 bits; a spare bit says on which side of the vertical axis it lies. */
BODY void normal_body(caucus_fast_words radius, caucus_fast_words angle, uint32_t first, size_t blocks,
                      float *restrict ret) {
    for (size_t block = 0; block < blocks; block++) {
        uint32_t pair = first + (uint32_t)block * CAUCUS_FAST_PAIRS;
        float *restrict out = ret + block * CAUCUS_FAST_BLOCK;
        for (uint32_t k = 0; k < CAUCUS_FAST_PAIRS; k++) {
            float r = root(minus_two_log(mix(pair + k, radius)));
            uint32_t draw = mix(pair + k, angle);
            float t = ((float)((int32_t)draw >> 8) + 0.5f) * 0x1p-24f;
            float q = t * t;
            float s = 0x1.3daff6p-4f;
            s = s * q - 0x1.324ccap-1f;
            s = s * q + 0x1.4668b0p+1f;
            s = s * q - 0x1.4abbc2p+2f;
            s = s * q + 0x1.921fb6p+1f;
            float c = -0x1.8fb740p-6f;
            c = c * q + 0x1.e126f2p-3f;
            c = c * q - 0x1.55d076p+0f;
            c = c * q + 0x1.03c1e4p+2f;
            c = c * q - 0x1.3bd3ccp+2f;
            c = c * q + 1.0f;
            out[k] = as_float(as_bits(r * c) ^ (draw << 31));
            out[k + CAUCUS_FAST_PAIRS] = r * (s * t);
        }
    }
}

BODY void clamp_body(const float *restrict normal, size_t count, const float *restrict mean,
                     const float *restrict deviation, float *restrict ret) {
    for (size_t k = 0; k < count; k++) {
        float value = mean[k] + deviation[k] * normal[k];
        value = value > 0.0f ? value : 0.0f;
        ret[k] = value < 1.0f ? value : 1.0f;
    }
}

/* e^x = 2^n e^r, n the whole number nearest x/ln 2 (found by adding 1.5*2^23, which pushes the fraction out of the
 * significand), r = x - n ln 2 with ln 2 in two parts so that n*upper part is exact. */
BODY void exponential_body(const float *restrict normal, size_t count, const float *restrict mean,
                           const float *restrict deviation, float *restrict ret) {
    for (size_t k = 0; k < count; k++) {
        float x = mean[k] + deviation[k] * normal[k];
        float shifted = x * 0x1.715476p+0f + 0x1.8p+23f;
        float n = shifted - 0x1.8p+23f;
        float r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
        float p = 0x1.6ab972p-10f;
        p = p * r + 0x1.126d1ap-7f;
        p = p * r + 0x1.55589ap-5f;
        p = p * r + 0x1.55540ap-3f;
        p = p * r + 0x1.fffffap-2f;
        p = p * r + 1.0f;
        p = p * r + 1.0f;
        ret[k] = as_float(as_bits(p) + (as_bits(shifted) << 23));
    }
}

BODY void complement_body(float weight, size_t count, float *restrict value) {
    for (size_t k = 0; k < count; k++) {
        float left = 1.0f - weight * value[k];
        value[k] = left > 0.0f ? left : 0.0f;
    }
}

BODY double sum_body(const float *restrict value, size_t count) {
    double lane[16] = {0};
    size_t k = 0;
    for (; k + 16 <= count; k += 16)
        for (size_t j = 0; j < 16; j++)
            lane[j] += (double)value[k + j];
    for (size_t j = 0; k + j < count; j++)
        lane[j] += (double)value[k + j];
    for (size_t width = 8; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++)
            lane[j] += lane[j + width];
    return lane[0];
}

/* One variant: the bodies under a target attribute, and the table that names them. */
#define VARIANT(suffix, text, target)                                                                                  \
    target static void uniform_##suffix(caucus_fast_words key, uint32_t first, size_t count, float *restrict ret) {    \
        uniform_body(key, first, count, ret);                                                                          \
    }                                                                                                                  \
    target static void bernoulli_##suffix(caucus_fast_words key, uint32_t first, size_t count,                         \
                                          const uint32_t *restrict threshold, float *restrict ret) {                   \
        bernoulli_body(key, first, count, threshold, ret);                                                             \
    }                                                                                                                  \
    target static void normal_##suffix(caucus_fast_words radius, caucus_fast_words angle, uint32_t first,              \
                                       size_t blocks, float *restrict ret) {                                           \
        normal_body(radius, angle, first, blocks, ret);                                                                \
    }                                                                                                                  \
    target static void clamp_##suffix(const float *restrict normal, size_t count, const float *restrict mean,          \
                                      const float *restrict deviation, float *restrict ret) {                          \
        clamp_body(normal, count, mean, deviation, ret);                                                               \
    }                                                                                                                  \
    target static void exponential_##suffix(const float *restrict normal, size_t count, const float *restrict mean,    \
                                            const float *restrict deviation, float *restrict ret) {                    \
        exponential_body(normal, count, mean, deviation, ret);                                                         \
    }                                                                                                                  \
    target static void complement_##suffix(float weight, size_t count, float *restrict value) {                        \
        complement_body(weight, count, value);                                                                         \
    }                                                                                                                  \
    target static double sum_##suffix(const float *restrict value, size_t count) {                                     \
        return sum_body(value, count);                                                                                 \
    }                                                                                                                  \
    static const caucus_fast_kernels variant_##suffix = {                                                              \
        text,           uniform_##suffix,     bernoulli_##suffix,  normal_##suffix,                                    \
        clamp_##suffix, exponential_##suffix, complement_##suffix, sum_##suffix};

VARIANT(portable, "portable", )

#if defined(__x86_64__) && defined(__GNUC__)
VARIANT(avx2, "avx2", __attribute__((target("avx2"))))
VARIANT(avx512, "avx512", __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2"))))
#endif

const caucus_fast_kernels *caucus_fast_variant(size_t index) {
    if (index == 0)
        return &variant_portable;
#if defined(__x86_64__) && defined(__GNUC__)
    if (index == 1 && __builtin_cpu_supports("avx2"))
        return &variant_avx2;
    if (index == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &variant_avx512;
#endif
    return NULL;
}

const char *caucus_fast_variant_name(const caucus_fast_kernels *kernels) {
    return kernels->name;
}
