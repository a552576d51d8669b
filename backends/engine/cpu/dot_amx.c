/* Products of many rows in tiles (AMX), eight times the byte products of a vector's instruction.
 *
 * The wide form of a panel (pack.h) stands as it is: sixteen vectors of [16 rows][4 columns], or of
 * [16 rows][2 columns] in BF16, are the right-hand tile of one multiplication. So the weights are
 * brought to the wide form by AVX-512's code, and only activations are laid out otherwise: 32 rows
 * by 64 bytes, two left-hand tiles. Two by two tiles of sums use all eight: each tile that is
 * loaded is multiplied twice.
 *
 * Sums of bytes are taken to f32 every CPU_WIDE columns, as scales change there; sums of BF16 stay
 * in their tiles to the end. The tests compile this file a second time, with the instructions
 * stated in C, for machines without them. */
#include "engine/cpu/ahead.h"
#include "engine/cpu/amx.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    TILE_ROWS = 16,
    TILE_BYTES = 1024,                /* 16 rows of 64 */
    PAIR_BYTES = 2 * TILE_BYTES,      /* of 32 rows of activations, 64 bytes of each */
    HALVES = CPU_WIDE / 64,           /* tiles of bytes along CPU_WIDE columns */
    SUMS = CPU_TILES_ROWS * CPU_PANEL /* of one panel */
};

/* All eight tiles have 16 rows of 64 bytes: palette 1. */
void cpu_tiles_begin(void)
{
    static const struct {
        uint8_t palette, start_row, none[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config __attribute__((aligned(64))) = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };
    _tile_loadconfig(&config);
}

/* Without tiles in use a thread's registers are saved faster, and the core may clock higher. */
void cpu_tiles_end(void)
{
    _tile_release();
}

INLINE void clear_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* The tiles of sums to two panels' y, rows `row` bytes apart; lower halves only where rows are. */
INLINE void store_sums(void *first, void *second, int64_t row, bool lower)
{
    _tile_stored(0, first, row);
    _tile_stored(1, second, row);
    if (lower) {
        _tile_stored(2, (char *)first + TILE_ROWS * row, row);
        _tile_stored(3, (char *)second + TILE_ROWS * row, row);
    }
}

/* ---- eight bits ---- */

/* Rows of activations that tiles take in: 16 or all. */
static int rows_taken(int n)
{
    return n > TILE_ROWS ? CPU_TILES_ROWS : TILE_ROWS;
}

/* As wide_round() of AVX-512 rounds, so that results are the same. */
void cpu_tiles_round(void *group, const float *const *x, int n, int64_t cols)
{
    char *out = group;
    for (int64_t k = 0; k < cols; k += CPU_WIDE, out += CPU_TILES_GROUP)
        for (int c = 0; c < rows_taken(n); c++) {
            __m512 v[CPU_WIDE / 16], high = _mm512_setzero_ps();
            for (int i = 0; i < CPU_WIDE / 16; i++) {
                v[i] = c < n && k + 16 * i < cols ? _mm512_loadu_ps(x[c] + k + 16 * i)
                                                  : _mm512_setzero_ps();
                high = _mm512_max_ps(high, _mm512_abs_ps(v[i]));
            }
            const float top = _mm512_reduce_max_ps(high), d = top / 127;
            const __m512 inverse = _mm512_set1_ps(top > 1e-30f ? 127 / top : 0);
            for (int i = 0; i < CPU_WIDE / 16; i++) {
                char *to = out + i / 4 * PAIR_BYTES + 64 * c + i % 4 * 16;
                __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(v[i], inverse));
                _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(q));
            }
            memcpy(out + HALVES * PAIR_BYTES + 4 * c, &d, 4);
        }
}

/* 64 columns. a, b: tiles of two panels; x: of the activations. */
INLINE void bytes_onto(const char *a, const char *b, const char *x, bool lower)
{
    _tile_loadd(4, x, 64);
    _tile_loadd(6, a, 64);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(7, b, 64);
    _tile_dpbssd(1, 4, 7);
    if (lower) {
        _tile_loadd(5, x + TILE_BYTES, 64);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
}

/* y = or += the sums of CPU_WIDE columns of one panel by their scales. */
INLINE void scale_onto(const struct cpu_tile *t, float *y, const int32_t *sum, const char *panel,
                       const char *x, bool first)
{
    const __m512 s = _mm512_loadu_ps((const float *)(panel + CPU_PANEL * CPU_WIDE));
    const char *d = x + HALVES * PAIR_BYTES;
    for (int c = 0; c < t->n; c++, y += t->y_row, sum += CPU_PANEL) {
        float by;
        memcpy(&by, d + 4 * c, 4);
        const __m512 v = _mm512_cvtepi32_ps(_mm512_load_si512(sum));
        const __m512 old = first ? _mm512_setzero_ps() : _mm512_loadu_ps(y);
        _mm512_storeu_ps(y, _mm512_fmadd_ps(v, _mm512_mul_ps(s, _mm512_set1_ps(by)), old));
    }
}

void cpu_tiles_tile(const struct cpu_tile *t)
{
    int32_t sum[2][SUMS] __attribute__((aligned(64)));
    const char *a = t->first, *b = t->second, *x = t->group;
    const bool lower = t->n > TILE_ROWS;
    struct ahead ahead = ahead_of(t->ask, t->ask_end, t->cols / CPU_WIDE);
    for (int64_t k = 0;; k += CPU_WIDE) {
        if (k < t->cols) {
            clear_sums();
            for (int h = 0; h < HALVES; h++)
                bytes_onto(a + h * TILE_BYTES, b + h * TILE_BYTES, x + h * PAIR_BYTES, lower);
            ask_ahead(&ahead);
        }
        if (k > 0) { /* what was multiplied before, while these tiles are */
            const char *d = x - CPU_TILES_GROUP;
            scale_onto(t, t->y, sum[0], a - CPU_WIDE_PANEL, d, k == CPU_WIDE);
            scale_onto(t, t->y + t->y_panel, sum[1], b - CPU_WIDE_PANEL, d, k == CPU_WIDE);
        }
        if (k == t->cols)
            return;
        store_sums(sum[0], sum[1], 64, lower);
        a += CPU_WIDE_PANEL;
        b += CPU_WIDE_PANEL;
        x += CPU_TILES_GROUP;
    }
}

/* ---- BF16 ---- */

void cpu_tiles_pairs_round(void *group, const float *const *x, int n, int64_t cols)
{
    char *out = group;
    for (int64_t k = 0; k < cpu_wide_cols(cols); k += 32, out += PAIR_BYTES)
        for (int c = 0; c < rows_taken(n); c++) {
            __m512i pairs = _mm512_setzero_si512();
            if (c < n && k < cols)
                pairs = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x[c] + k + 16),
                                                     _mm512_loadu_ps(x[c] + k));
            _mm512_storeu_si512(out + 64 * c, pairs);
        }
}

void cpu_tiles_pairs_tile(const struct cpu_tile *t)
{
    const char *a = t->first, *b = t->second, *x = t->group;
    const bool lower = t->n > TILE_ROWS;
    struct ahead ahead = ahead_of(t->ask, t->ask_end, t->cols / 32);
    clear_sums();
    for (int64_t k = 0; k < t->cols; k += 32, a += TILE_BYTES, b += TILE_BYTES, x += PAIR_BYTES) {
        ask_ahead(&ahead);
        _tile_loadd(4, x, 64);
        _tile_loadd(6, a, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b, 64);
        _tile_dpbf16ps(1, 4, 7);
        if (lower) {
            _tile_loadd(5, x + TILE_BYTES, 64);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    if (t->n % TILE_ROWS == 0) {
        store_sums(t->y, t->y + t->y_panel, t->y_row * 4, lower);
        return;
    }
    float sum[2][SUMS] __attribute__((aligned(64))); /* whole tiles do not fit y */
    store_sums(sum[0], sum[1], 64, lower);
    for (int p = 0; p < 2; p++)
        for (int c = 0; c < t->n; c++)
            memcpy(t->y + p * t->y_panel + c * t->y_row, sum[p] + c * CPU_PANEL,
                   CPU_PANEL * sizeof(float));
}
