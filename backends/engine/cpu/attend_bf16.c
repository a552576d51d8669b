/* Attention of many queries over one cache head, in bfloat16 with sums in f32: prompts, on
 * processors with AVX512-BF16, whose products of pairs do twice the arithmetic of f32.
 *
 * Flash attention (arXiv:2205.14135): a page of keys and one of values are laid out once for all
 * queries, as pairs along the sum: K [k_dim/2][32 keys][2], V [32/2 keys][v_dim][2], so that no sum
 * ever crosses a vector. TILE queries at a time meet the page's keys; their scores become weights
 * relative to a reference that is raised, and the sums with it, only when a score exceeds it by
 * 2^HEADROOM; then the weights meet the values. Scores are kept in units of log 2. */
#include "engine/cpu/cpu.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    KEYS = QN_KV_PAGE,
    TILE = 8,      /* queries that meet a page of keys together: 16 sums in registers */
    ROWS = 4,      /* queries that meet values together, by up to */
    COLUMNS = 4,   /* vectors of 16 columns */
    HEADROOM = 10, /* weights grow to 2^10 before the reference follows */
};

static const float log2e = 1.44269504f;

INLINE __mmask16 below(int n)
{
    return n >= 16 ? 0xffff : n <= 0 ? 0 : (__mmask16)((1u << n) - 1);
}

INLINE float half_at(const char *p)
{
    uint16_t h;
    memcpy(&h, p, 2);
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
}

/* Elements c .. c + 15 of a cached row of dim elements (c a multiple of 16), zeros after its end.
 */
INLINE __m512 load16(enum qn_dtype type, const char *row, int c, int dim)
{
    __mmask16 m = below(dim - c);
    if (type == QN_F16)
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, row + 2 * c));
    if (type == QN_BF16)
        return _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, row + 2 * c)), 16));
    if (type == QN_F32)
        return _mm512_maskz_loadu_ps(m, row + 4 * c);
    if (type == QN_Q8_0) {
        const char *block = row + c / 32 * 34;
        __m128i q = _mm_loadu_si128((const __m128i *)(block + 2 + c % 32));
        return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q)),
                             _mm512_set1_ps(half_at(block)));
    }
    const char *block = row + c / 32 * 18; /* Q4_0: low nibbles are elements 0..15, high 16..31 */
    __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(block + 2)));
    q = c % 32 ? _mm512_srli_epi32(q, 4) : _mm512_and_si512(q, _mm512_set1_epi32(15));
    q = _mm512_sub_epi32(q, _mm512_set1_epi32(8));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(q), _mm512_set1_ps(half_at(block)));
}

/* 16 rows of 16 double words become its columns. */
INLINE void transpose(__m512i r[16])
{
    __m512i t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

/* n rows of keys to k [wide/2][KEYS] pairs; rows and columns that do not exist are zeros. */
INLINE void lay_keys(enum qn_dtype type, uint32_t *k, const char *from, size_t step, int n, int dim,
                     int wide)
{
    for (int c = 0; c < wide; c += 32)
        for (int half = 0; half < KEYS; half += 16) {
            __m512i r[16];
#pragma GCC unroll 16
            for (int j = 0; j < 16; j++) {
                const char *row = from + (size_t)(half + j) * step;
                r[j] = _mm512_setzero_si512();
                if (half + j < n)
                    r[j] = (__m512i)_mm512_cvtne2ps_pbh(load16(type, row, c + 16, dim),
                                                        load16(type, row, c, dim));
            }
            transpose(r);
#pragma GCC unroll 16
            for (int j = 0; j < 16; j++)
                _mm512_store_si512(k + (c / 2 + j) * KEYS + half, r[j]);
        }
}

/* n rows of values to v [KEYS/2][wide] pairs. */
INLINE void lay_values(enum qn_dtype type, uint32_t *v, const char *from, size_t step, int n,
                       int dim, int wide)
{
    static const uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i mixed = _mm512_loadu_si512(order);
    for (int j = 0; j < KEYS; j += 2) {
        const char *row = from + (size_t)j * step;
        for (int c = 0; c < wide; c += 16) {
            __m512 even = _mm512_setzero_ps(), odd = even;
            if (j < n)
                even = load16(type, row, c, dim);
            if (j + 1 < n)
                odd = load16(type, row + step, c, dim);
            __m512i pair = (__m512i)_mm512_cvtne2ps_pbh(odd, even);
            _mm512_store_si512(v + j / 2 * wide + c, _mm512_permutexvar_epi16(mixed, pair));
        }
    }
}

#define BY_TYPE(fn, type, ...)                                                                     \
    do {                                                                                           \
        switch (type) {                                                                            \
        case QN_F16:                                                                               \
            fn(QN_F16, __VA_ARGS__);                                                               \
            break;                                                                                 \
        case QN_BF16:                                                                              \
            fn(QN_BF16, __VA_ARGS__);                                                              \
            break;                                                                                 \
        case QN_F32:                                                                               \
            fn(QN_F32, __VA_ARGS__);                                                               \
            break;                                                                                 \
        case QN_Q8_0:                                                                              \
            fn(QN_Q8_0, __VA_ARGS__);                                                              \
            break;                                                                                 \
        default:                                                                                   \
            fn(QN_Q4_0, __VA_ARGS__);                                                              \
        }                                                                                          \
    } while (0)

static __attribute__((noinline)) void keys_of_page(const struct cpu_attend *a, uint32_t *k,
                                                   const char *from, int n, int wide)
{
    BY_TYPE(lay_keys, a->k_type, k, from, a->k_row, n, a->k_dim, wide);
}

static __attribute__((noinline)) void values_of_page(const struct cpu_attend *a, uint32_t *v,
                                                     const char *from, int n, int wide)
{
    BY_TYPE(lay_values, a->v_type, v, from, a->v_row, n, a->v_dim, wide);
}

INLINE __m512 dot_pairs(__m512 sum, __m512i a, uint32_t b)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)_mm512_set1_epi32((int)b));
}

/* 2^x; relative error below 3e-7. */
INLINE __m512 exp2_of(__m512 x)
{
    __m512 n = _mm512_roundscale_ps(x, 0), r = _mm512_sub_ps(x, n);
    __m512 p = _mm512_set1_ps(1.33335581e-3f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(9.61812911e-3f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.55041087e-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.40226507e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.93147181e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

/* cap·tanh(x / cap), of x as it is to units of log 2. */
INLINE __m512 cap_of(__m512 x, float cap)
{
    __m512 one = _mm512_set1_ps(1), e = exp2_of(_mm512_mul_ps(x, _mm512_set1_ps(2 * log2e / cap)));
    __m512 t = _mm512_div_ps(_mm512_set1_ps(2), _mm512_add_ps(e, one));
    return _mm512_mul_ps(_mm512_set1_ps(cap * log2e), _mm512_sub_ps(one, t));
}

/* What a block of queries has so far. */
struct state {
    const struct cpu_attend *a;
    int nq, kd, vd;   /* queries filled up to whole tiles, dimensions to whole vectors */
    uint32_t *q;      /* [nq][kd/2] */
    uint32_t *k, *v;  /* the page */
    float *scores;    /* [TILE][KEYS] */
    uint32_t *p;      /* [TILE][KEYS/2] */
    float *acc;       /* [nq][vd] */
    float *top, *sum; /* [nq], and [nq][16] */
};

/* The reference of query i rises to the highest of its scores that count. */
static __attribute__((noinline)) void raise_top(const struct state *s, int i, __m512 lo, __m512 hi,
                                                uint32_t seen)
{
    float top = _mm512_mask_reduce_max_ps((__mmask16)seen, lo);
    float other = _mm512_mask_reduce_max_ps((__mmask16)(seen >> 16), hi);
    top = other > top ? other : top;
    float f = exp2f(s->top[i] - top);
    s->top[i] = top;
    __m512 by = _mm512_set1_ps(f);
    _mm512_store_ps(s->sum + 16 * i, _mm512_mul_ps(_mm512_load_ps(s->sum + 16 * i), by));
    for (int c = 0; c < s->vd; c += 16)
        _mm512_store_ps(s->acc + i * s->vd + c,
                        _mm512_mul_ps(_mm512_load_ps(s->acc + i * s->vd + c), by));
}

/* scores [TILE][KEYS] of the TILE queries at q with a page of keys; half: products of a query. */
static __attribute__((noinline)) void score(float *scores, const uint32_t *q, const uint32_t *k,
                                            int half)
{
    __m512 lo[TILE], hi[TILE];
#pragma GCC unroll 8
    for (int t = 0; t < TILE; t++)
        lo[t] = hi[t] = _mm512_setzero_ps();
    for (int c = 0; c < half; c++) {
        __m512i k0 = _mm512_load_si512(k + c * KEYS), k1 = _mm512_load_si512(k + c * KEYS + 16);
#pragma GCC unroll 8
        for (int t = 0; t < TILE; t++) {
            lo[t] = dot_pairs(lo[t], k0, q[t * half + c]);
            hi[t] = dot_pairs(hi[t], k1, q[t * half + c]);
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < TILE; t++) {
        _mm512_store_ps(scores + t * KEYS, lo[t]);
        _mm512_store_ps(scores + t * KEYS + 16, hi[t]);
    }
}

/* Scores of the TILE queries from i on become weights in s->p. seen: the keys that count, by query.
 */
INLINE void soften(const struct state *s, int i, const uint32_t *seen)
{
    const float cap = s->a->softcap;
    for (int t = 0; t < TILE; t++) {
        __mmask16 m0 = (__mmask16)seen[t], m1 = (__mmask16)(seen[t] >> 16);
        __m512 lo = _mm512_load_ps(s->scores + t * KEYS);
        __m512 hi = _mm512_load_ps(s->scores + t * KEYS + 16);
        if (cap != 0) {
            lo = cap_of(lo, cap);
            hi = cap_of(hi, cap);
        }
        __m512 limit = _mm512_set1_ps(s->top[i + t] + HEADROOM);
        if (_mm512_mask_cmp_ps_mask(m0, lo, limit, _CMP_GT_OQ) |
            _mm512_mask_cmp_ps_mask(m1, hi, limit, _CMP_GT_OQ))
            raise_top(s, i + t, lo, hi, seen[t]);
        __m512 top = _mm512_set1_ps(s->top[i + t]);
        __m512 e0 = _mm512_maskz_mov_ps(m0, exp2_of(_mm512_sub_ps(lo, top)));
        __m512 e1 = _mm512_maskz_mov_ps(m1, exp2_of(_mm512_sub_ps(hi, top)));
        float *sum = s->sum + 16 * (i + t);
        _mm512_store_ps(sum, _mm512_add_ps(_mm512_load_ps(sum), _mm512_add_ps(e0, e1)));
        _mm512_store_si512(s->p + t * KEYS / 2, (__m512i)_mm512_cvtne2ps_pbh(e1, e0));
    }
}

/* acc += p·v for ROWS queries and n vectors of columns. */
INLINE void weigh(const int n, float *acc, const uint32_t *p, const uint32_t *v, int vd)
{
    __m512 sum[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < n; c++)
            sum[r][c] = _mm512_load_ps(acc + r * vd + 16 * c);
    for (int j = 0; j < KEYS / 2; j++) {
        __m512i row[COLUMNS];
        for (int c = 0; c < n; c++)
            row[c] = _mm512_load_si512(v + j * vd + 16 * c);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
            for (int c = 0; c < n; c++)
                sum[r][c] = dot_pairs(sum[r][c], row[c], p[r * KEYS / 2 + j]);
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < n; c++)
            _mm512_store_ps(acc + r * vd + 16 * c, sum[r][c]);
}

static __attribute__((noinline)) void weigh_tile(const struct state *s, int i)
{
    for (int r = 0; r < TILE; r += ROWS) {
        float *acc = s->acc + (i + r) * s->vd;
        const uint32_t *p = s->p + r * KEYS / 2;
        int c = 0;
        for (; c + 16 * COLUMNS <= s->vd; c += 16 * COLUMNS)
            weigh(COLUMNS, acc + c, p, s->v + c, s->vd);
        for (; c < s->vd; c += 16)
            weigh(1, acc + c, p, s->v + c, s->vd);
    }
}

/* Bits of the keys k0 .. k0 + 31 that query i sees. */
INLINE uint32_t keys_seen(const struct cpu_attend *a, int i, int64_t k0)
{
    int64_t row = i / a->group < a->n ? i / a->group : a->n - 1, pos = a->first - 1 + row;
    int64_t from = cpu_first_key(a, pos) - k0, to = pos + 1 - k0;
    uint32_t upto = to >= 32 ? ~0u : to <= 0 ? 0 : (1u << to) - 1;
    uint32_t before = from >= 32 ? ~0u : from <= 0 ? 0 : (1u << from) - 1;
    return upto & ~before;
}

static void take_queries(const struct state *s)
{
    const struct cpu_attend *a = s->a;
    const __m512 scale = _mm512_set1_ps(a->softcap != 0 ? a->scale : a->scale * log2e);
    for (int i = 0; i < s->nq; i++) {
        const float *from = a->q + i / a->group * a->q_row + i % a->group * a->q_head;
        int dim = i < a->n * a->group ? a->k_dim : 0;
        for (int c = 0; c < s->kd; c += 32) {
            __m512 lo = _mm512_setzero_ps(), hi = lo;
            if (c < dim)
                lo = _mm512_maskz_loadu_ps(below(dim - c), from + c);
            if (c + 16 < dim)
                hi = _mm512_maskz_loadu_ps(below(dim - c - 16), from + c + 16);
            _mm512_store_si512(
                s->q + (i * s->kd + c) / 2,
                (__m512i)_mm512_cvtne2ps_pbh(_mm512_mul_ps(hi, scale), _mm512_mul_ps(lo, scale)));
        }
        s->top[i] = -INFINITY;
    }
    memset(s->acc, 0, sizeof *s->acc * (size_t)(s->nq * s->vd));
    memset(s->sum, 0, sizeof *s->sum * (size_t)(s->nq * 16));
}

static void give_results(const struct state *s)
{
    const struct cpu_attend *a = s->a;
    for (int i = 0; i < a->n * a->group; i++) {
        float *out = a->out + i / a->group * a->out_row + i % a->group * a->out_head;
        float sum = _mm512_reduce_add_ps(_mm512_load_ps(s->sum + 16 * i)), f = 1;
        if (a->sinks) {
            float sink = a->sinks[i % a->group] * log2e;
            float high = sink > s->top[i] ? sink : s->top[i];
            f = exp2f(s->top[i] - high);
            sum = sum * f + exp2f(sink - high);
        }
        const __m512 by = _mm512_set1_ps(f / sum);
        for (int c = 0; c < a->v_dim; c += 16)
            _mm512_mask_storeu_ps(out + c, below(a->v_dim - c),
                                  _mm512_mul_ps(_mm512_load_ps(s->acc + i * s->vd + c), by));
    }
}

/* Asks for a page's rows before their turn. */
static __attribute__((noinline)) void ask(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        _mm_prefetch(p + i, _MM_HINT_T1);
}

void cpu_attend_bf16(const struct cpu_attend *a)
{
    struct state s = {.a = a};
    float *at = a->work;
    s.nq = (a->n * a->group + TILE - 1) / TILE * TILE;
    s.kd = (a->k_dim + 31) / 32 * 32;
    s.vd = (a->v_dim + 15) / 16 * 16;
    s.acc = at;
    s.sum = at += s.nq * s.vd;
    s.q = (uint32_t *)(at += s.nq * 16);
    s.k = (uint32_t *)(at += s.nq * s.kd / 2);
    s.v = (uint32_t *)(at += s.kd / 2 * KEYS);
    s.p = (uint32_t *)(at += KEYS / 2 * s.vd);
    s.scores = at += TILE * KEYS / 2;
    s.top = at + TILE * KEYS;
    take_queries(&s);
    int64_t keys = a->first + a->n - 1;
    for (int64_t page = cpu_first_key(a, a->first - 1) / KEYS; page * KEYS < keys; page++) {
        int64_t k0 = page * KEYS;
        int nk = keys - k0 < KEYS ? (int)(keys - k0) : KEYS;
        size_t where = (size_t)a->pages[page] * a->page_bytes;
        if (k0 + KEYS < keys) {
            size_t next = (size_t)a->pages[page + 1] * a->page_bytes;
            ask(a->k + next, a->k_row * KEYS);
            ask(a->v + next, a->v_row * KEYS);
        }
        keys_of_page(a, s.k, a->k + where, nk, s.kd);
        values_of_page(a, s.v, a->v + where, nk, s.vd);
        for (int i = 0; i < s.nq; i += TILE) {
            uint32_t seen[TILE], any = 0;
            for (int t = 0; t < TILE; t++)
                any |= seen[t] = keys_seen(a, i + t, k0);
            if (!any)
                continue;
            score(s.scores, s.q + i * s.kd / 2, s.k, s.kd / 2);
            soften(&s, i, seen);
            weigh_tile(&s, i);
        }
    }
    give_results(&s);
}
