/* Products of many rows in AMX tiles.
 *
 * A unit of a panel in wide form (pack.h) is used as it is: eight vectors of [16 rows][4 columns]
 * are the right-hand tile of one multiplication, sixteen rows of activations the left-hand one. If
 * a scale belongs to 16 columns, the tile has four vectors. The sums of a tile are integers, and so
 * exact; they are scaled like in AVX-512's block_panel(), by the same operations in the same order,
 * so the results are bit-identical. The scaled sums of one panel stay in sixteen registers: loading
 * and storing them would take longer than the products.
 *
 * The tests compile this file a second time, with the AMX instructions emulated in C, for machines
 * without them. */
#include "engine/cpu/ahead.h"
#include "engine/cpu/amx.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    R = CPU_WIDE_ROWS,
    ACT_UNIT = ACT_BYTES(R), /* bytes of 32 columns of activations */
    SUMS = R * CPU_PANEL     /* number of sums in one tile */
};

INLINE bool halves_apart(enum qn_dtype t)
{
    const enum cpu_scales form = cpu_layout(t)->scales;
    return form == SCALES_K16 || form == SCALES_K16_MIN || form == SCALES_E4M3;
}

/* Configures tiles 0 and 1 for sums, 4 and 5 for activations, 6 and 7 for weights: palette 1. */
void cpu_tiles_begin(enum qn_dtype type)
{
    struct config {
        uint8_t palette, start_row, none[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    };
    static const struct config of_32 __attribute__((aligned(64))) = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 32, 32, 64, 64},
        .rows = {R, R, R, R, R, R, 8, 8},
    };
    static const struct config of_16 __attribute__((aligned(64))) = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 16, 16, 64, 64},
        .rows = {R, R, R, R, R, R, 4, 4},
    };
    _tile_loadconfig(halves_apart(type) ? &of_16 : &of_32);
}

/* Releases the tiles: without tiles in use a context switch is faster, and the core may clock
 * higher. */
void cpu_tiles_end(void)
{
    _tile_release();
}

/* sum [2][R][16] = two products: of two units, or of the halves of one unit. */
INLINE void multiply_two(int32_t *sum, const char *x0, const char *w0, const char *x1,
                         const char *w1)
{
    _tile_zero(0);
    _tile_loadd(4, x0, 32);
    _tile_loadd(6, w0, 64);
    _tile_dpbssd(0, 4, 6);
    _tile_zero(1);
    _tile_loadd(5, x1, 32);
    _tile_loadd(7, w1, 64);
    _tile_dpbssd(1, 5, 7);
    _tile_stored(0, sum, 64);
    _tile_stored(1, sum + SUMS, 64);
}

INLINE __m512 floats_at(const int32_t *sum)
{
    return _mm512_cvtepi32_ps(_mm512_load_si512(sum));
}

INLINE __m512 vector_at(const char *p)
{
    return _mm512_loadu_ps((const float *)(const void *)p);
}

INLINE __m512 all_f32(const char *p)
{
    return _mm512_set1_ps(*(const float *)(const void *)p);
}

INLINE __m512i all_i32(const char *p)
{
    return _mm512_set1_epi32(*(const int32_t *)(const void *)p);
}

/* A unit with one scale per row, and a minimum if `minimum`. */
INLINE void scale_whole(bool minimum, __m512 total[R], const int32_t *sum, const char *scales,
                        const char *act)
{
    const __m512 s = vector_at(scales), m = minimum ? vector_at(scales + 64) : s;
#pragma GCC unroll 16
    for (int c = 0; c < R; c++) {
        total[c] = _mm512_fmadd_ps(floats_at(sum + 16 * c),
                                   _mm512_mul_ps(s, all_f32(act + ACT_D(R) + 4 * c)), total[c]);
        if (minimum)
            total[c] = _mm512_fmadd_ps(m, all_f32(act + ACT_DS(R) + 4 * c), total[c]);
    }
}

/* A unit with a scale for each half, and minima if `minimum`. */
INLINE void scale_halves(bool minimum, __m512 total[R], const int32_t *sum, const char *scales,
                         const char *act)
{
    const __m512 s0 = vector_at(scales), s1 = vector_at(scales + 64);
    const __m512 m = minimum ? vector_at(scales + 256) : s0;
    const __m512i m0 = minimum ? _mm512_loadu_si512(scales + 128) : _mm512_setzero_si512();
    const __m512i m1 = minimum ? _mm512_loadu_si512(scales + 192) : m0;
#pragma GCC unroll 16
    for (int c = 0; c < R; c++) {
        __m512 part = _mm512_mul_ps(floats_at(sum + 16 * c), s0);
        part = _mm512_fmadd_ps(floats_at(sum + SUMS + 16 * c), s1, part);
        if (minimum) {
            __m512i both = _mm512_madd_epi16(m0, all_i32(act + ACT_NHALF0(R) + 4 * c));
            both =
                _mm512_add_epi32(both, _mm512_madd_epi16(m1, all_i32(act + ACT_NHALF1(R) + 4 * c)));
            part = _mm512_fmadd_ps(_mm512_cvtepi32_ps(both), m, part);
        }
        total[c] = _mm512_fmadd_ps(part, all_f32(act + ACT_D(R) + 4 * c), total[c]);
    }
}

/* A unit of Q8_0 times 16-bit activations: products of the group, and of its rounding residuals at
 * `act`. */
INLINE void scale_both(__m512 total[R], const int32_t *sum, const char *scales, const char *act)
{
    const __m512 s = vector_at(scales);
#pragma GCC unroll 16
    for (int c = 0; c < R; c++) {
        __m512i both = _mm512_slli_epi32(_mm512_load_si512(sum + 16 * c), 8);
        both = _mm512_add_epi32(both, _mm512_load_si512(sum + SUMS + 16 * c));
        total[c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(both),
                                   _mm512_mul_ps(s, all_f32(act + ACT_D(R) + 4 * c)), total[c]);
    }
}

/* total = one panel in wide form times a group, all columns; rest: only for Q8_0, else NULL. The
 * products of one step are scaled while those of the next step are computed. */
INLINE void panel_times_group(bool halves, bool minimum, __m512 total[R], const char *w, int unit,
                              const char *x, const char *rest, int64_t units, struct ahead *ahead)
{
    int32_t sum[2][2 * SUMS] __attribute__((aligned(64)));
    const int64_t step = halves || rest ? 1 : 2;
#pragma GCC unroll 16
    for (int c = 0; c < R; c++)
        total[c] = _mm512_setzero_ps();
    for (int64_t u = 0, side = 0; u < units + step; u += step, side = !side) {
        if (u < units) {
            const char *a = x + u * ACT_UNIT, *b = w + u * unit;
            const bool last = u + 1 == units; /* the second product is then not used */
            if (rest)
                multiply_two(sum[side], a, b, rest + u * ACT_UNIT, b);
            else if (halves)
                multiply_two(sum[side], a, b, a + 16, b + CPU_WIDE_CODES / 2);
            else
                multiply_two(sum[side], a, b, last ? a : a + ACT_UNIT, last ? b : b + unit);
            ask_ahead(ahead);
        }
        if (u == 0)
            continue;
        const char *act = x + (u - step) * ACT_UNIT;
        const char *scales = w + (u - step) * unit + CPU_WIDE_CODES;
        if (rest) {
            scale_both(total, sum[!side], scales, rest + (u - step) * ACT_UNIT);
            continue;
        }
        if (halves) {
            scale_halves(minimum, total, sum[!side], scales, act);
            continue;
        }
        scale_whole(minimum, total, sum[!side], scales, act);
        if (u - 1 < units)
            scale_whole(minimum, total, sum[!side] + SUMS, scales + unit, act + ACT_UNIT);
    }
}

/* Writes the results of one panel of t to y, or adds them if `onto`. */
INLINE void tile_panel(bool both, bool halves, bool minimum, const struct cpu_tile *t, float *y,
                       const char *panel, const char *group, bool onto, struct ahead *ahead)
{
    const int head = cpu_head_bytes(t->type);
    __m512 total[R];
    panel_times_group(halves, minimum, total, panel + head, cpu_wide_unit(t->type), group,
                      both ? t->rest : NULL, t->cols / 32, ahead);
#pragma GCC unroll 16
    for (int c = 0; c < R; c++) {
        if (c == t->n)
            return;
        __m512 v = head ? _mm512_mul_ps(total[c], vector_at(panel)) : total[c];
        /* prevents contraction to an FMA: the product is rounded before the addition, as in the
         * other kernels */
        __asm__("" : "+v"(v));
        if (onto)
            v = _mm512_add_ps(_mm512_loadu_ps(y), v);
        _mm512_storeu_ps(y, v);
        y += t->y_row;
    }
}

#define TILE_PANEL(name, both, halves, minimum)                                                    \
    static __attribute__((noinline)) void name(const struct cpu_tile *t, float *y,                 \
                                               const char *panel, const char *group, bool onto,    \
                                               struct ahead *ahead)                                \
    {                                                                                              \
        tile_panel(both, halves, minimum, t, y, panel, group, onto, ahead);                        \
    }
TILE_PANEL(tile_whole, false, false, false)
TILE_PANEL(tile_whole_minima, false, false, true)
TILE_PANEL(tile_halves, false, true, false)
TILE_PANEL(tile_halves_minima, false, true, true)
TILE_PANEL(tile_both, true, false, false)

void cpu_tiles_tile(const struct cpu_tile *t)
{
    const enum cpu_scales form = cpu_layout(t->type)->scales;
    const int panels = t->first == t->second ? 1 : 2;
    const bool both = t->rest && t->type == QN_Q8_0;
    const int turns = t->rest && !both ? 2 : 1;
    const int64_t steps = panels * (t->cols / 32) * turns;
    const bool two = !halves_apart(t->type) && !both; /* two units per step */
    struct ahead ahead = ahead_of(t->ask, t->ask_end, steps / (two ? 2 : 1) + 1);
    for (int p = 0; p < panels; p++)
        for (int onto = 0; onto < turns; onto++) {
            const char *panel = p ? t->second : t->first, *group = onto ? t->rest : t->group;
            float *y = t->y + p * t->y_panel;
            if (both)
                tile_both(t, y, panel, group, false, &ahead);
            else if (form == SCALES_K16_MIN)
                tile_halves_minima(t, y, panel, group, onto, &ahead);
            else if (halves_apart(t->type))
                tile_halves(t, y, panel, group, onto, &ahead);
            else if (form == SCALES_HALF_MIN || form == SCALES_K32_MIN)
                tile_whole_minima(t, y, panel, group, onto, &ahead);
            else
                tile_whole(t, y, panel, group, onto, &ahead);
        }
}
