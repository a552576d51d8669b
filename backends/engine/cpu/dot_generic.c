/* The kernels of any processor: plain C over the same panels as the fast ones. */
#include "engine/cpu/attend.h"
#include "engine/cpu/recurrent.h"

enum { P = CPU_PANEL };

/* The codes of 32 columns: [8 groups][16 rows][4 columns]. */
static inline void unpack(enum qn_dtype t, const uint8_t *unit, uint8_t codes[8][64])
{
    if (t == QN_Q8_0) {
        memcpy(codes, unit, 512);
    } else if (t == QN_Q6_K) {
        for (int half = 0; half < 2; half++, unit += 192)
            for (int g = 0; g < 4; g++)
                for (int i = 0; i < 64; i++)
                    codes[4 * half + g][i] =
                        (uint8_t)((unit[64 * (g / 2) + i] >> 4 * (g & 1) & 15) |
                                  (unit[128 + i] >> 2 * g & 3) << 4);
    } else {
        for (int g = 0; g < 8; g++)
            for (int i = 0; i < 64; i++)
                codes[g][i] = (uint8_t)(unit[64 * (g / 2) + i] >> 4 * (g & 1) & 15);
        if (t == QN_Q5_K)
            for (int g = 0; g < 8; g++)
                for (int i = 0; i < 64; i++)
                    codes[g][i] = (uint8_t)(codes[g][i] | (unit[256 + i] >> g & 1) << 4);
    }
}

/* sum[row] += codes · q over the 16 columns of four groups. */
static inline void dot16(int32_t sum[P], uint8_t codes[4][64], const int8_t *q)
{
    for (int g = 0; g < 4; g++)
        for (int r = 0; r < P; r++)
            for (int i = 0; i < 4; i++)
                sum[r] += codes[g][4 * r + i] * q[4 * g + i];
}

static inline float get_f32(const char *p)
{
    float f;
    memcpy(&f, p, 4);
    return f;
}

static inline int32_t get_i32(const char *p)
{
    int32_t i;
    memcpy(&i, p, 4);
    return i;
}

static inline float half_at(const uint8_t *p, int row)
{
    uint16_t h;
    memcpy(&h, p + 2 * row, 2);
    return qn_f16_to_f32(h);
}

/* What 32 columns bring: lo and hi are the products of their two halves, s the block's scales. */
static inline void scale_add(enum qn_dtype t, float *y, const uint8_t *s, int j,
                             const int32_t lo[P], const int32_t hi[P], const char *act, int nc,
                             int c)
{
    float d = get_f32(act + ACT_D(nc) + 4 * c), ds = get_f32(act + ACT_DS(nc) + 4 * c);
    int32_t n0 = get_i32(act + ACT_NHALF0(nc) + 4 * c), n1 = get_i32(act + ACT_NHALF1(nc) + 4 * c);
    for (int r = 0; r < P; r++) {
        float w = half_at(s, r);
        switch (t) {
        case QN_Q8_0:
            y[r] += w * d * (float)(lo[r] + hi[r] + 128 * (n0 + n1));
            break;
        case QN_Q4_0:
            y[r] += w * d * (float)(lo[r] + hi[r] + 8 * (n0 + n1));
            break;
        case QN_Q6_K: {
            int8_t s0 = (int8_t)s[32 + 32 * j + r], s1 = (int8_t)s[32 + 32 * j + 16 + r];
            y[r] += w * d *
                    ((float)s0 * (float)(lo[r] + 32 * n0) + (float)s1 * (float)(hi[r] + 32 * n1));
            break;
        }
        default: /* Q4_K and Q5_K */
            y[r] += w * (float)s[64 + 32 * j + r] * d * (float)(lo[r] + hi[r]) -
                    half_at(s + 32, r) * (float)s[64 + 32 * j + 16 + r] * ds;
        }
    }
}

static inline __attribute__((always_inline)) void
block_panel(enum qn_dtype t, int nc, float *y, const void *panel, const void *acts, int64_t cols)
{
    const int units = cpu_record_units(t), per_unit = units == 2 ? 32 : 0; /* bytes of scales */
    const uint8_t *record = panel;
    const char *act = acts;
    memset(y, 0, sizeof *y * P * (size_t)nc);
    for (int64_t u = 0; u < cols / 32; u += units) {
        const uint8_t *unit = record + cpu_scale_bytes(t);
        for (int i = 0; i < units && u + i < cols / 32; i++) {
            uint8_t codes[8][64];
            unpack(t, unit, codes);
            for (int c = 0; c < nc; c++) {
                const int8_t *q = (const int8_t *)act + ACT_Q(nc) + 32 * c;
                int32_t lo[P] = {0}, hi[P] = {0};
                dot16(lo, codes, q);
                dot16(hi, codes + 4, q + 16);
                scale_add(t, y + P * c, record + per_unit * i, i, lo, hi, act, nc, c);
            }
            unit += cpu_code_bytes(t);
            act += ACT_BYTES(nc);
        }
        record = unit;
    }
}

static inline __attribute__((always_inline)) void
plain_panel(enum qn_dtype t, int nc, float *y, const void *panel, const void *acts, int64_t cols)
{
    const float *x = acts;
    memset(y, 0, sizeof *y * P * (size_t)nc);
    for (int64_t k = 0; k < cols; k++, x += nc) {
        float w[P];
        for (int r = 0; r < P; r++)
            w[r] = t == QN_F32   ? ((const float *)panel)[k * P + r]
                   : t == QN_F16 ? qn_f16_to_f32(((const uint16_t *)panel)[k * P + r])
                                 : qn_bf16_to_f32(((const uint16_t *)panel)[k * P + r]);
        for (int c = 0; c < nc; c++)
            for (int r = 0; r < P; r++)
                y[P * c + r] += w[r] * x[c];
    }
}

#define BLOCK(name, t, nc)                                                                         \
    static void name##_##nc(float *y, const void *panel, const void *acts, int64_t cols)           \
    {                                                                                              \
        block_panel(t, nc, y, panel, acts, cols);                                                  \
    }
#define BLOCKS(name, t)                                                                            \
    BLOCK(name, t, 1)                                                                              \
    BLOCK(name, t, 2)                                                                              \
    BLOCK(name, t, 4)                                                                              \
    BLOCK(name, t, 8)
#define PLAIN(name, t, nc)                                                                         \
    static void name##_##nc(float *y, const void *panel, const void *acts, int64_t cols)           \
    {                                                                                              \
        plain_panel(t, nc, y, panel, acts, cols);                                                  \
    }
#define PLAINS(name, t) PLAIN(name, t, 1) PLAIN(name, t, 2) PLAIN(name, t, 4) PLAIN(name, t, 8)

PLAINS(f32, QN_F32)
PLAINS(f16, QN_F16)
PLAINS(bf16, QN_BF16)
BLOCKS(q8_0, QN_Q8_0)
BLOCKS(q4_0, QN_Q4_0)
BLOCKS(q4_k, QN_Q4_K)
BLOCKS(q5_k, QN_Q5_K)
BLOCKS(q6_k, QN_Q6_K)

static bool supported(void)
{
    return true;
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        name##_1, name##_2, name##_4, name##_8                                                     \
    }

const struct cpu_kernels cpu_kernels_generic = {
    .name = "generic",
    .supported = supported,
    .rms_norm = lanes_rms_norm,
    .silu_mul = lanes_silu_mul,
    .mul = lanes_mul,
    .sigmoid_mul = lanes_sigmoid_mul,
    .softmax = lanes_softmax,
    .add = lanes_add,
    .dot = lanes_dot,
    .narrow = lanes_narrow,
    .widen = lanes_widen,
    .attend = attend,
    .conv = lanes_conv,
    .delta = lanes_delta,
    .scan = lanes_scan,
    .round = lanes_round,
    .interleave = lanes_interleave,
    .panel = {[QN_F32] = ROW(f32),
              [QN_F16] = ROW(f16),
              [QN_BF16] = ROW(bf16),
              [QN_Q8_0] = ROW(q8_0),
              [QN_Q4_0] = ROW(q4_0),
              [QN_Q4_K] = ROW(q4_k),
              [QN_Q5_K] = ROW(q5_k),
              [QN_Q6_K] = ROW(q6_k)},
};
