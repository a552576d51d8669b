/* The kernels of any processor: plain C over the same panels as the fast ones. */
#include "engine/cpu/attend.h"
#include "engine/cpu/recurrent.h"

enum { P = CPU_PANEL };

/* The code of group g, byte i of its vector. */
static inline int code_at(enum cpu_codes form, const uint8_t *unit, int g, int i)
{
    switch (form) {
    case CODES_8:
        return unit[64 * g + i];
    case CODES_6:
        unit += 192 * (g / 4);
        return (unit[64 * (g % 4 / 2) + i] >> 4 * (g & 1) & 15) | (unit[128 + i] >> 2 * (g % 4) & 3)
                                                                      << 4;
    case CODES_5:
        return (unit[64 * (g / 2) + i] >> 4 * (g & 1) & 15) | (unit[256 + i] >> g & 1) << 4;
    case CODES_4:
        return unit[64 * (g / 2) + i] >> 4 * (g & 1) & 15;
    case CODES_3:
        return (unit[64 * (g / 4) + i] >> 2 * (g % 4) & 3) | (unit[128 + i] >> g & 1) << 2;
    default:
        return unit[64 * (g / 4) + i] >> 2 * (g % 4) & 3;
    }
}

/* What the codes of 32 columns stand for: [8 groups][16 rows][4 columns]. */
static inline void unpack(enum qn_dtype t, const uint8_t *unit, int8_t w[8][64])
{
    const struct cpu_layout *l = cpu_layout(t);
    for (int g = 0; g < 8; g++)
        for (int i = 0; i < 64; i++) {
            int code = code_at(l->codes, unit, g, i);
            w[g][i] = l->levels ? l->levels[code] : (int8_t)(code - l->offset);
        }
}

/* sum[row] += w · q over the 16 columns of four groups. */
static inline void dot16(int32_t sum[P], int8_t w[4][64], const int8_t *q)
{
    for (int g = 0; g < 4; g++)
        for (int r = 0; r < P; r++)
            for (int i = 0; i < 4; i++)
                sum[r] += w[g][4 * r + i] * q[4 * g + i];
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

static inline float bits_f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* What 32 columns, the j-th of their record s, bring: lo and hi are the products of their two
 * halves. */
static inline void scale_add(enum qn_dtype t, float *y, const uint8_t *s, int j,
                             const int32_t lo[P], const int32_t hi[P], const char *act, int nc,
                             int c)
{
    const float unit = cpu_layout(t)->unit;
    float d = get_f32(act + ACT_D(nc) + 4 * c), ds = get_f32(act + ACT_DS(nc) + 4 * c);
    float n0 = (float)get_i32(act + ACT_NHALF0(nc) + 4 * c) * d;
    float n1 = (float)get_i32(act + ACT_NHALF1(nc) + 4 * c) * d;
    for (int r = 0; r < P; r++) {
        float l = (float)lo[r] * d, h = (float)hi[r] * d, both = (float)(lo[r] + hi[r]) * d;
        const uint8_t *b = s + r;
        switch (cpu_layout(t)->scales) {
        case SCALES_HALF:
        case SCALES_WIDE:
            y[r] += half_at(s, r) * both;
            break;
        case SCALES_HALF_MIN:
            y[r] += half_at(s, r) * both + half_at(s + 32, r) * ds;
            break;
        case SCALES_E8M0: /* 2^-128 and 2^-127 count as nothing */
            y[r] += bits_f32((b[0] ? b[0] - 1u : 0) << 23) * both;
            break;
        case SCALES_E4M3:
            y[r] += 0x1p119f *
                    (bits_f32((uint32_t)b[0] << 20) * l + bits_f32((uint32_t)b[16] << 20) * h);
            break;
        case SCALES_K32:
            y[r] += unit * half_at(s, r) * (float)(int8_t)b[32 + 16 * j] * both;
            break;
        case SCALES_K16:
            b += 32 + 32 * j;
            y[r] += unit * half_at(s, r) * ((float)(int8_t)b[0] * l + (float)(int8_t)b[16] * h);
            break;
        case SCALES_K32_MIN:
            b += 64 + 32 * j;
            y[r] += unit *
                    (half_at(s, r) * (float)b[0] * both - half_at(s + 32, r) * (float)b[16] * ds);
            break;
        default: /* SCALES_K16_MIN */
            b += 64 + 32 * j;
            y[r] += half_at(s, r) * ((float)(b[0] & 15) * l + (float)(b[16] & 15) * h) +
                    half_at(s + 32, r) * ((float)(b[0] >> 4) * n0 + (float)(b[16] >> 4) * n1);
        }
    }
}

static inline __attribute__((always_inline)) void
block_panel(enum qn_dtype t, int nc, float *y, const void *panel, const void *acts, int64_t cols)
{
    const int units = cpu_record_units(t), step = cpu_scale_step(t);
    const uint8_t *unit = (const uint8_t *)panel + cpu_head_bytes(t);
    const char *act = acts;
    memset(y, 0, sizeof *y * P * (size_t)nc);
    for (int64_t u = 0; u < cols / 32; u += units) {
        const uint8_t *scales = unit;
        unit += cpu_scale_bytes(t);
        for (int i = 0; i < units && u + i < cols / 32; i++) {
            int8_t w[8][64];
            unpack(t, unit, w);
            for (int c = 0; c < nc; c++) {
                const int8_t *q = (const int8_t *)act + ACT_Q(nc) + 32 * c;
                int32_t lo[P] = {0}, hi[P] = {0};
                dot16(lo, w, q);
                dot16(hi, w + 4, q + 16);
                scale_add(t, y + P * c, scales + step * i, i, lo, hi, act, nc, c);
            }
            unit += cpu_code_bytes(t);
            act += ACT_BYTES(nc);
        }
    }
    if (cpu_head_bytes(t))
        for (int i = 0; i < P * nc; i++)
            y[i] *= get_f32((const char *)panel + 4 * (i % P));
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

#define KERNEL(name, fn, t, nc)                                                                    \
    static void name##_##nc(float *y, const void *panel, const void *acts, int64_t cols)           \
    {                                                                                              \
        fn(t, nc, y, panel, acts, cols);                                                           \
    }
#define KERNELS(name, fn, t)                                                                       \
    KERNEL(name, fn, t, 1) KERNEL(name, fn, t, 2) KERNEL(name, fn, t, 4) KERNEL(name, fn, t, 8)
#define BLOCK_KERNELS(c, name, number, elements, bytes) KERNELS(c, block_panel, QN_##name)

KERNELS(f32, plain_panel, QN_F32)
KERNELS(f16, plain_panel, QN_F16)
KERNELS(bf16, plain_panel, QN_BF16)
QN_BLOCK_TYPES(BLOCK_KERNELS)

static bool supported(void)
{
    return true;
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        name##_1, name##_2, name##_4, name##_8                                                     \
    }

#define BLOCK_ROW(c, name, number, elements, bytes) [QN_##name] = ROW(c),

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
    .keep = keep_row,
    .attend = attend,
    .attend_part = attend_part,
    .attend_join = attend_join,
    .conv = lanes_conv,
    .delta = lanes_delta,
    .scan = lanes_scan,
    .round = lanes_round,
    .interleave = lanes_interleave,
    .panel = {[QN_F32] = ROW(f32),
              [QN_F16] = ROW(f16),
              [QN_BF16] = ROW(bf16),
              QN_BLOCK_TYPES(BLOCK_ROW)},
};
