/* The kernels for any processor: plain C with the same packed weights as the fast kernels. */
#include "engine/cpu/attend.h"
#include "engine/cpu/recurrent.h"

enum { P = CPU_PANEL };

/* The values of the codes of 32 columns: [8 groups][16 rows][4 columns]. */
static inline void unpack(enum qn_dtype t, const uint8_t *unit, int8_t w[8][64])
{
    const struct cpu_layout *l = cpu_layout(t);
    for (int g = 0; g < 8; g++)
        for (int i = 0; i < 64; i++) {
            int code = cpu_code_at(l->codes, unit, g, i);
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

/* Adds the products of 32 columns, the j-th unit of their record s; lo and hi are the products of
 * their two halves. */
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
        case SCALES_E8M0: /* 2^-128 and 2^-127 are treated as 0 */
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

/* Elements k .. k + n - 1, n at most P, of a row in the file's format. */
static inline void plain(enum qn_dtype t, float w[P], const char *row, int64_t k, int n)
{
    for (int i = 0; i < n; i++) {
        uint16_t half;
        if (t == QN_F32) {
            memcpy(&w[i], row + 4 * (k + i), 4);
            continue;
        }
        memcpy(&half, row + 2 * (k + i), 2);
        w[i] = t == QN_F16 ? qn_f16_to_f32(half) : qn_bf16_to_f32(half);
    }
}

static inline __attribute__((always_inline)) void plain_rows(enum qn_dtype t, int nc, float *y,
                                                             const void *rows, size_t row_bytes,
                                                             int n, const float *x, int64_t cols)
{
    for (int r = 0; r < n; r++) {
        float sum[CPU_COLUMNS_MAX][P] = {{0}};
        for (int64_t k = 0; k < cols; k += P) {
            int some = cols - k < P ? (int)(cols - k) : P;
            float w[P];
            plain(t, w, (const char *)rows + (size_t)r * row_bytes, k, some);
            for (int c = 0; c < nc; c++)
                for (int i = 0; i < some; i++)
                    sum[c][i] += w[i] * x[nc * k + P * c + i];
        }
        for (int c = 0; c < nc; c++) {
            y[P * c + r] = 0;
            for (int i = 0; i < P; i++)
                y[P * c + r] += sum[c][i];
        }
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

#define ROWS_KERNEL(name, t, nc)                                                                   \
    static void name##_rows_##nc(float *y, const void *rows, size_t row_bytes, int n,              \
                                 const float *x, int64_t cols)                                     \
    {                                                                                              \
        plain_rows(t, nc, y, rows, row_bytes, n, x, cols);                                         \
    }
#define ROWS_KERNELS(name, t)                                                                      \
    ROWS_KERNEL(name, t, 1) ROWS_KERNEL(name, t, 2) ROWS_KERNEL(name, t, 4) ROWS_KERNEL(name, t, 8)

ROWS_KERNELS(f32, QN_F32)
ROWS_KERNELS(f16, QN_F16)
ROWS_KERNELS(bf16, QN_BF16)
QN_BLOCK_TYPES(BLOCK_KERNELS)

static bool supported(void)
{
    return true;
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        name##_1, name##_2, name##_4, name##_8                                                     \
    }

#define PLAIN_ROW(name)                                                                            \
    {                                                                                              \
        name##_rows_1, name##_rows_2, name##_rows_4, name##_rows_8                                 \
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
    .rest = lanes_rest,
    .panel = {QN_BLOCK_TYPES(BLOCK_ROW)},
    .rows = {[QN_F32] = PLAIN_ROW(f32), [QN_F16] = PLAIN_ROW(f16), [QN_BF16] = PLAIN_ROW(bf16)},
};
