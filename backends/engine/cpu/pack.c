/* Lays rows of weights out in panels; pack.h says how. */
#include "engine/cpu/pack.h"
#include "engine/quant/quant.h"

#include <assert.h>
#include <string.h>

int cpu_code_bytes(enum qn_dtype t)
{
    switch (t) {
    case QN_Q8_0:
        return 512;
    case QN_Q4_0:
    case QN_Q4_K:
        return 256;
    case QN_Q5_K:
        return 320;
    case QN_Q6_K:
        return 384;
    default:
        return 0;
    }
}

int cpu_scale_bytes(enum qn_dtype t)
{
    switch (t) {
    case QN_Q8_0:
    case QN_Q4_0:
        return 2 * 32;
    case QN_Q4_K:
    case QN_Q5_K:
        return 64 + 8 * 32;
    case QN_Q6_K:
        return 32 + 16 * 16 + 32;
    default:
        return 0;
    }
}

int cpu_record_units(enum qn_dtype t)
{
    return qn_dtype(t)->block == 256 ? 8 : qn_dtype(t)->block == 32 ? 2 : 0;
}

size_t cpu_panel_bytes(enum qn_dtype t, int64_t cols)
{
    const struct qn_dtype_info *d = qn_dtype(t);
    if (d->block == 1)
        return ((size_t)cols * CPU_PANEL * (size_t)d->block_bytes + 63) / 64 * 64;
    int64_t units = cols / 32, records = (units + cpu_record_units(t) - 1) / cpu_record_units(t);
    return (size_t)(units * cpu_code_bytes(t) + records * cpu_scale_bytes(t));
}

/* Eight groups of four codes as words, so that a shift moves four nibbles at once. */
static void put_codes(enum qn_dtype t, unsigned char *unit, int row, const uint8_t codes[32])
{
    uint32_t g[8], v;
    unsigned char *to = unit + 4 * row;
    memcpy(g, codes, 32);
    switch (t) {
    case QN_Q8_0:
        for (int i = 0; i < 8; i++)
            memcpy(to + 64 * i, &g[i], 4);
        return;
    case QN_Q5_K:
        v = 0;
        for (int i = 0; i < 8; i++)
            v |= (g[i] >> 4 & 0x01010101) << i;
        memcpy(to + 256, &v, 4);
        /* fall through */
    case QN_Q4_0:
    case QN_Q4_K:
        for (int i = 0; i < 4; i++) {
            v = (g[2 * i] & 0x0f0f0f0f) | (g[2 * i + 1] & 0x0f0f0f0f) << 4;
            memcpy(to + 64 * i, &v, 4);
        }
        return;
    case QN_Q6_K:
        for (int half = 0; half < 2; half++, to += 192) {
            const uint32_t *h = g + 4 * half;
            uint32_t high = 0;
            for (int i = 0; i < 4; i++)
                high |= (h[i] >> 4 & 0x03030303) << 2 * i;
            for (int i = 0; i < 2; i++) {
                v = (h[2 * i] & 0x0f0f0f0f) | (h[2 * i + 1] & 0x0f0f0f0f) << 4;
                memcpy(to + 64 * i, &v, 4);
            }
            memcpy(to + 128, &high, 4);
        }
        return;
    default:
        assert(!"a block type without a layout");
    }
}

/* The scales of one block of one row; s is the panel's record of that block. */
static void put_scales(enum qn_dtype t, unsigned char *s, int row, const unsigned char *block)
{
    uint16_t d, dmin;
    switch (t) {
    case QN_Q8_0:
    case QN_Q4_0:
        d = qn_load_u16(block);
        memcpy(s + 2 * row, &d, 2);
        return;
    case QN_Q4_K:
    case QN_Q5_K: {
        uint8_t scale[8], min[8];
        qn_k_head(block, &d, &dmin, scale, min);
        memcpy(s + 2 * row, &d, 2);
        memcpy(s + 32 + 2 * row, &dmin, 2);
        for (int j = 0; j < 8; j++) {
            s[64 + 32 * j + row] = scale[j];
            s[64 + 32 * j + 16 + row] = min[j];
        }
        return;
    }
    case QN_Q6_K: {
        int8_t scale[16];
        qn_q6_k_head(block, &d, scale);
        memcpy(s + 2 * row, &d, 2);
        for (int j = 0; j < 16; j++)
            s[32 + 16 * j + row] = (unsigned char)scale[j];
        return;
    }
    default:
        assert(!"a block type without a layout");
    }
}

/* Sixteen rows become columns by way of a tile that stays in the first cache. */
#define PACK_PLAIN(name, type)                                                                     \
    static void name(unsigned char *panel, const unsigned char *rows, size_t row_bytes, int n,     \
                     int64_t cols)                                                                 \
    {                                                                                              \
        enum { TILE = 1024 / sizeof(type) };                                                       \
        type tile[CPU_PANEL][TILE] = {{0}}, column[CPU_PANEL];                                     \
        for (int64_t c0 = 0; c0 < cols; c0 += TILE) {                                              \
            int w = cols - c0 < TILE ? (int)(cols - c0) : TILE;                                    \
            for (int r = 0; r < n; r++)                                                            \
                memcpy(tile[r], rows + (size_t)r * row_bytes + (size_t)c0 * sizeof(type),          \
                       (size_t)w * sizeof(type));                                                  \
            for (int c = 0; c < w; c++) {                                                          \
                for (int r = 0; r < CPU_PANEL; r++)                                                \
                    column[r] = tile[r][c];                                                        \
                memcpy(panel + (size_t)(c0 + c) * sizeof column, column, sizeof column);           \
            }                                                                                      \
        }                                                                                          \
    }

PACK_PLAIN(pack_16, uint16_t)
PACK_PLAIN(pack_32, uint32_t)

void cpu_pack_panel(enum qn_dtype t, void *panel, const void *rows, size_t row_bytes, int n,
                    int64_t cols)
{
    const struct qn_dtype_info *d = qn_dtype(t);
    if (d->block == 1) {
        (d->block_bytes == 2 ? pack_16 : pack_32)(panel, rows, row_bytes, n, cols);
        return;
    }
    if (n < CPU_PANEL)
        memset(panel, 0, cpu_panel_bytes(t, cols));
    const int units = cpu_record_units(t), per_block = d->block / 32;
    const size_t scale_bytes = (size_t)cpu_scale_bytes(t), code_bytes = (size_t)cpu_code_bytes(t);
    for (int r = 0; r < n; r++) {
        const unsigned char *row = (const unsigned char *)rows + (size_t)r * row_bytes;
        unsigned char *record = panel;
        uint8_t c[32];
        for (int64_t u = 0; u < cols / 32;
             u += units, record += scale_bytes + (size_t)units * code_bytes)
            for (int i = 0; i < units && u + i < cols / 32; i++) {
                d->codes(c, row, u + i);
                put_codes(t, record + scale_bytes + (size_t)i * code_bytes, r, c);
                if (i % per_block == 0)
                    put_scales(t, record + 32 * i, r, row + (u + i) / per_block * d->block_bytes);
            }
    }
}
