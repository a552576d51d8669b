/* Products of many rows in AVX-512: pack.h's wide form. Included by dot_avx512.c alone, whose
 * unpacking it uses.
 *
 * Where a prompt meets a panel of block weights, the scale of every 32 columns costs a quarter of
 * the arithmetic. So the panel is first brought to one scale a row for CPU_WIDE columns, in eight
 * bits a weight, and then meets all rows of the prompt, also rounded by CPU_WIDE columns.
 * Thirty-two weight rows by eight activations use all registers and load least. */
#ifndef QN_ENGINE_CPU_WIDE_512_H
#define QN_ENGINE_CPU_WIDE_512_H

enum { WIDE_UNITS = CPU_WIDE / 32, WIDE_RUNS = 2 * WIDE_UNITS };

/* What the runs of CPU_WIDE columns are multiplied by, and what is taken off; a run is the columns
 * that share a scale. Weight = s·(code - offset) - m. */
struct wide_runs {
    __m512 s[WIDE_RUNS], m[WIDE_RUNS];
};

INLINE bool two_runs(enum qn_dtype t)
{
    const enum cpu_scales form = cpu_layout(t)->scales;
    return form == SCALES_K16 || form == SCALES_K16_MIN || form == SCALES_E4M3;
}

INLINE bool with_minima(enum qn_dtype t)
{
    return cpu_layout(t)->offset == 0;
}

/* The runs of unit j, counted within its record, whose scales begin at `scale`. */
INLINE void runs_of_unit(enum qn_dtype t, const char *scale, int j, __m512 s[2], __m512 m[2])
{
    const enum cpu_scales form = cpu_layout(t)->scales;
    const int step = cpu_scale_step(t), runs = two_runs(t) ? 2 : 1, i = step ? 0 : j;
    const bool factors = form != SCALES_E8M0 && form != SCALES_E4M3;
    const char *p = scale + step * j;
    __m512 d = factors ? factor(t, p) : _mm512_setzero_ps();
    for (int r = 0; r < runs; r++) {
        s[r] = scales_of(t, p, d, runs * i + r);
        m[r] = _mm512_setzero_ps();
        if (form == SCALES_HALF_MIN)
            m[r] = _mm512_sub_ps(_mm512_setzero_ps(), factor(t, p + 32));
        else if (form == SCALES_K32_MIN)
            m[r] = _mm512_mul_ps(factor(t, p + 32), unsigned_bytes(p + 80 + 32 * i));
        else if (form == SCALES_K16_MIN)
            m[r] = _mm512_mul_ps(factor(t, p + 32),
                                 _mm512_cvtepi32_ps(high_nibbles(p + 64 + 16 * (runs * i + r))));
    }
}

/* The largest number that a code of a type without minima stands for. */
INLINE int reach_of(enum qn_dtype t)
{
    const struct cpu_layout *l = cpu_layout(t);
    return l->offset > l->top - l->offset ? l->offset : l->top - l->offset;
}

/* The largest magnitude that any weight of a run could have. */
INLINE __m512 bound_of(enum qn_dtype t, __m512 s, __m512 m)
{
    const struct cpu_layout *l = cpu_layout(t);
    if (!with_minima(t))
        return _mm512_mul_ps(_mm512_abs_ps(s), _mm512_set1_ps((float)reach_of(t)));
    __m512 high = _mm512_fmsub_ps(s, _mm512_set1_ps(l->top), m);
    return _mm512_max_ps(_mm512_abs_ps(m), _mm512_abs_ps(high));
}

/* x·2^bits as a 16-bit number in both words of each lane. */
INLINE __m512i in_words(__m512 x, int bits)
{
    __m512i v = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps((float)(1 << bits))));
    return _mm512_or_si512(_mm512_slli_epi32(v, 16),
                           _mm512_and_si512(v, _mm512_set1_epi32(0xffff)));
}

/* How codes and ratios are placed in 16 bits: (code << shift)·(ratio·2^bits) >> 15 rounded is the
 * weight, for types with minima in 64ths. No product can leave 16 bits: a ratio times the largest
 * code is at most 127, with minima 254. */
INLINE int code_shift(enum qn_dtype t)
{
    const int top = with_minima(t) ? cpu_layout(t)->top : reach_of(t);
    return (with_minima(t) ? 15 : 8) - (32 - __builtin_clz((unsigned)top));
}

INLINE int ratio_bits(enum qn_dtype t)
{
    return (with_minima(t) ? 21 : 15) - code_shift(t);
}

/* Two columns' codes, as words, in the new scale. */
INLINE __m512i rescale(enum qn_dtype t, __m512i code, __m512i ratio, __m512i minimum)
{
    const int offset = cpu_layout(t)->offset;
    if (with_minima(t)) {
        __m512i v = _mm512_mulhrs_epi16(_mm512_slli_epi16(code, code_shift(t)), ratio);
        return _mm512_mulhrs_epi16(_mm512_sub_epi16(v, minimum), _mm512_set1_epi16(512));
    }
    code = _mm512_sub_epi16(code, _mm512_set1_epi16((short)offset));
    return _mm512_mulhrs_epi16(_mm512_slli_epi16(code, code_shift(t)), ratio);
}

/* CPU_WIDE columns, which are the units at `unit`, to out. */
INLINE void unpack_wide(enum qn_dtype t, char *out, const char *const unit[WIDE_UNITS],
                        const struct wide_runs *runs)
{
    const int per_unit = two_runs(t) ? 2 : 1;
    const __m512i low = _mm512_set1_epi16(0xff), ones = _mm512_set1_epi8(1);
    const __m512i levels = levels_of(t);
    __m512 top = _mm512_setzero_ps();
    for (int r = 0; r < WIDE_UNITS * per_unit; r++)
        top = _mm512_max_ps(top, bound_of(t, runs->s[r], runs->m[r]));
    /* a little less than 127, so that rounding stays within it; all zero where nothing is */
    __m512 scale = _mm512_mul_ps(top, _mm512_set1_ps(1 / 126.5f));
    __mmask16 some = _mm512_cmp_ps_mask(top, _mm512_set1_ps(1e-30f), _CMP_GT_OQ);
    __m512 inverse = _mm512_maskz_div_ps(some, _mm512_set1_ps(1), scale);
    __m512i sum[4]; /* several, so that no addition waits for the one before */
    for (int i = 0; i < 4; i++)
        sum[i] = _mm512_setzero_si512();
    for (int u = 0; u < WIDE_UNITS; u++) {
        __m512i w[8], ratio = sum[0], minimum = sum[0];
        unpack(t, unit[u], levels, w);
#pragma GCC unroll 8
        for (int g = 0; g < 8; g++) {
            if (g % (8 / per_unit) == 0) {
                int r = u * per_unit + g * per_unit / 8;
                ratio = in_words(_mm512_mul_ps(runs->s[r], inverse), ratio_bits(t));
                if (with_minima(t))
                    minimum = in_words(_mm512_mul_ps(runs->m[r], inverse), 6);
            }
            __m512i even = rescale(t, _mm512_and_si512(w[g], low), ratio, minimum);
            __m512i odd = rescale(t, _mm512_srli_epi16(w[g], 8), ratio, minimum);
            __m512i both = _mm512_ternarylogic_epi32(_mm512_slli_epi16(odd, 8), even, low, 0xF8);
            _mm512_storeu_si512(out + 64 * (8 * u + g), both);
            sum[g % 4] = _mm512_dpbusd_epi32(sum[g % 4], ones, both);
        }
    }
    __m512i all =
        _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3]));
    _mm512_storeu_ps((float *)(out + 16 * CPU_WIDE), scale);
    _mm512_storeu_si512(out + 16 * CPU_WIDE + 64,
                        _mm512_slli_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), all), 7));
}

INLINE void wide_panel(enum qn_dtype t, void *out, const void *panel, int64_t cols)
{
    const int units = cpu_record_units(t), runs = two_runs(t) ? 2 : 1;
    const char *record = panel;
    char *to = out;
    int64_t inside = 0; /* units of this record already taken */
    for (int64_t c = 0; c < cols; c += CPU_WIDE, to += CPU_WIDE_PANEL) {
        const char *unit[WIDE_UNITS];
        struct wide_runs all;
        for (int u = 0; u < WIDE_UNITS; u++, inside++) {
            if (inside == units) {
                record += cpu_scale_bytes(t) + units * cpu_code_bytes(t);
                inside = 0;
            }
            unit[u] = record + cpu_scale_bytes(t) + inside * cpu_code_bytes(t);
            ask(unit[u] + AHEAD, cpu_code_bytes(t));
            runs_of_unit(t, record, (int)inside, all.s + runs * u, all.m + runs * u);
        }
        unpack_wide(t, to, unit, &all);
    }
}

/* x = d·q by CPU_WIDE columns; q + 128 is kept, for the instruction wants one side unsigned. */
static void wide_round(void *group, const float *const *x, int n, int64_t cols)
{
    char *out = group;
    for (int64_t k = 0; k < cols; k += CPU_WIDE, out += CPU_WIDE_GROUP)
        for (int c = 0; c < CPU_COLUMNS_MAX; c++) {
            const __m128i flip = _mm_set1_epi8((char)0x80);
            __m512 v[CPU_WIDE / 16], high = _mm512_setzero_ps();
            for (int i = 0; i < CPU_WIDE / 16; i++) {
                v[i] = c < n ? _mm512_loadu_ps(x[c] + k + 16 * i) : _mm512_setzero_ps();
                high = _mm512_max_ps(high, _mm512_abs_ps(v[i]));
            }
            float top = _mm512_reduce_max_ps(high), d = top / 127;
            __m512 inverse = _mm512_set1_ps(top > 1e-30f ? 127 / top : 0);
            for (int i = 0; i < CPU_WIDE / 16; i++) {
                __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(v[i], inverse));
                __m128i q = _mm_xor_si128(_mm512_cvtepi32_epi8(code), flip);
                int32_t four[4];
                _mm_storeu_si128((__m128i *)four, q);
                for (int g = 0; g < 4; g++)
                    memcpy(out + 32 * (4 * i + g) + 4 * c, &four[g], 4);
            }
            memcpy(out + 8 * CPU_WIDE + 4 * c, &d, 4);
        }
}

/* acc += u·s, four unsigned bytes by four signed ones in each lane. Spelt out, for gcc 12 copies
 * accumulators from register to register that it should add to where they are. */
INLINE void dot_onto(__m512i *acc, __m512i u, __m512i s)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*acc) : "v"(u), "v"(s));
}

/* y [2][8][16] = two panels in wide form times eight rows. */
static void wide_tile(float *y, const void *first, const void *second, const void *group,
                      int64_t cols)
{
    const char *a = first, *b = second, *x = group;
    __m512 sum[2][8];
    for (int c = 0; c < 8; c++)
        sum[0][c] = sum[1][c] = _mm512_setzero_ps();
    for (int64_t k = 0; k < cols;
         k += CPU_WIDE, a += CPU_WIDE_PANEL, b += CPU_WIDE_PANEL, x += CPU_WIDE_GROUP) {
        const __m512i p0 = load(a + 16 * CPU_WIDE + 64), q0 = load(b + 16 * CPU_WIDE + 64);
        __m512i p[8], q[8];
        for (int c = 0; c < 8; c++) {
            p[c] = p0;
            q[c] = q0;
        }
        for (int g0 = 0; g0 < CPU_WIDE / 4; g0 += 8)
#pragma GCC unroll 8
            for (int g = g0; g < g0 + 8; g++) {
                __m512i v = load(a + 64 * g), w = load(b + 64 * g);
#pragma GCC unroll 8
                for (int c = 0; c < 8; c++) {
                    __m512i act = all_i32(x + 32 * g + 4 * c);
                    dot_onto(&p[c], act, v);
                    dot_onto(&q[c], act, w);
                }
            }
        const __m512 s = _mm512_loadu_ps((const float *)(a + 16 * CPU_WIDE));
        const __m512 t = _mm512_loadu_ps((const float *)(b + 16 * CPU_WIDE));
#pragma GCC unroll 8
        for (int c = 0; c < 8; c++) {
            __m512 d = all_f32(x + 8 * CPU_WIDE + 4 * c);
            sum[0][c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(p[c]), _mm512_mul_ps(s, d), sum[0][c]);
            sum[1][c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(q[c]), _mm512_mul_ps(t, d), sum[1][c]);
        }
    }
    for (int c = 0; c < 8; c++) {
        _mm512_storeu_ps(y + P * c, sum[0][c]);
        _mm512_storeu_ps(y + P * (8 + c), sum[1][c]);
    }
}

#endif
