/* Packs rows of block weights into panels, and unpacks single rows; pack.h defines the format. */
#include "engine/cpu/pack.h"

#include <assert.h>
#include <string.h>

size_t cpu_panel_bytes(enum qn_dtype t, int64_t cols)
{
    const struct qn_dtype_info *d = qn_dtype(t);
    if (d->block == 1)
        return (size_t)cols * CPU_PANEL * (size_t)d->block_bytes;
    int64_t units = cols / 32, records = (units + cpu_record_units(t) - 1) / cpu_record_units(t);
    return (size_t)(cpu_head_bytes(t) + units * cpu_code_bytes(t) + records * cpu_scale_bytes(t));
}

/* One row's words of four 2-bit codes in a unit: g are its eight groups. */
static void put_two_bits(unsigned char *to, const uint32_t g[8])
{
    for (int v = 0; v < 2; v++) {
        uint32_t word = 0;
        for (int i = 0; i < 4; i++)
            word |= (g[4 * v + i] & 0x03030303) << 2 * i;
        memcpy(to + 64 * v, &word, 4);
    }
}

static void put_nibbles(unsigned char *to, const uint32_t *g, int vectors)
{
    for (int v = 0; v < vectors; v++) {
        uint32_t word = (g[2 * v] & 0x0f0f0f0f) | (g[2 * v + 1] & 0x0f0f0f0f) << 4;
        memcpy(to + 64 * v, &word, 4);
    }
}

/* Adds one more bit of every group: bit `bit` of its codes. */
static void put_bits(unsigned char *to, const uint32_t g[8], int bit)
{
    uint32_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (g[i] >> bit & 0x01010101) << i;
    memcpy(to, &word, 4);
}

/* The codes as words of four (one group each), so that one shift moves four codes. */
static void put_codes(enum cpu_codes form, unsigned char *unit, int row, const uint8_t codes[32])
{
    uint32_t g[8];
    unsigned char *to = unit + 4 * row;
    memcpy(g, codes, 32);
    switch (form) {
    case CODES_8:
        for (int i = 0; i < 8; i++)
            memcpy(to + 64 * i, &g[i], 4);
        return;
    case CODES_5:
        put_bits(to + 256, g, 4);
        /* fall through */
    case CODES_4:
        put_nibbles(to, g, 4);
        return;
    case CODES_3:
        put_bits(to + 128, g, 2);
        /* fall through */
    case CODES_2:
        put_two_bits(to, g);
        return;
    case CODES_6:
        for (int half = 0; half < 2; half++, to += 192) {
            const uint32_t *h = g + 4 * half;
            uint32_t high = 0;
            for (int i = 0; i < 4; i++)
                high |= (h[i] >> 4 & 0x03030303) << 2 * i;
            put_nibbles(to, h, 2);
            memcpy(to + 128, &high, 4);
        }
        return;
    case CODES_NONE:
        assert(!"a block type without a layout");
    }
}

/* Writes one row's scales at s: those of the unit that is the i-th of its block, or those of all
 * units of the block. */
static void put_scales(enum cpu_scales form, unsigned char *s, int row,
                       const struct qn_block_scales *b, int i)
{
    unsigned char *bytes = s + row;
    switch (form) {
    case SCALES_E8M0:
        bytes[0] = b->scale[i];
        return;
    case SCALES_E4M3:
        bytes[0] = b->scale[2 * i];
        bytes[16] = b->scale[2 * i + 1];
        return;
    case SCALES_K32:
    case SCALES_K16:
        for (int j = 0; j < (form == SCALES_K32 ? 8 : 16); j++)
            bytes[32 + 16 * j] = b->scale[j];
        break;
    case SCALES_K32_MIN:
        for (int j = 0; j < 8; j++) {
            bytes[64 + 32 * j] = b->scale[j];
            bytes[80 + 32 * j] = b->min[j];
        }
        break;
    case SCALES_K16_MIN:
        for (int j = 0; j < 16; j++)
            bytes[64 + 16 * j] = (unsigned char)(b->scale[j] | b->min[j] << 4);
        break;
    case SCALES_HALF:
    case SCALES_HALF_MIN:
    case SCALES_WIDE:
        break;
    }
    memcpy(s + 2 * row, &b->d, 2);
    if (form == SCALES_HALF_MIN || form == SCALES_K32_MIN || form == SCALES_K16_MIN)
        memcpy(s + 32 + 2 * row, &b->dmin, 2);
}

void cpu_panel_set_factor(void *panel, float factor)
{
    float head[CPU_PANEL];
    for (int r = 0; r < CPU_PANEL; r++)
        head[r] = factor;
    memcpy(panel, head, sizeof head);
}

void cpu_pack_panel(enum qn_dtype t, void *panel, const void *rows, size_t row_bytes, int n,
                    int64_t cols)
{
    const struct qn_dtype_info *d = qn_dtype(t);
    if (n < CPU_PANEL)
        memset(panel, 0, cpu_panel_bytes(t, cols));
    const struct cpu_layout *l = cpu_layout(t);
    if (cpu_head_bytes(t))
        cpu_panel_set_factor(panel, 1);
    const int units = cpu_record_units(t), per_block = d->block / 32, step = cpu_scale_step(t);
    for (int r = 0; r < n; r++) {
        const unsigned char *row = (const unsigned char *)rows + (size_t)r * row_bytes;
        unsigned char *codes = (unsigned char *)panel + cpu_head_bytes(t), *scales = codes;
        struct qn_block_scales s;
        uint8_t c[32];
        for (int64_t u = 0; u < cols / 32; u++, codes += cpu_code_bytes(t)) {
            int in_block = (int)(u % per_block), in_record = (int)(u % units);
            if (in_record == 0) {
                scales = codes;
                codes += cpu_scale_bytes(t);
            }
            if (in_block == 0)
                d->scales(&s, row + u / per_block * d->block_bytes);
            if (step || in_record == 0)
                put_scales(l->scales, scales + step * in_record, r, &s, in_block);
            d->codes(c, row, u);
            put_codes(l->codes, codes, r, c);
        }
    }
}

/* The factor of the codes of one half of a unit, and the term that is added. */
struct line {
    float s, m;
};

static float half_at(const unsigned char *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return qn_f16_to_f32(h);
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Of unit j of a record whose scales are at s (in formats with scales per unit: at the unit's own
 * scales), for columns 16·half .. + 15. */
static struct line line_of(enum qn_dtype t, const unsigned char *s, int row, int j, int half)
{
    const float unit = cpu_layout(t)->unit, d = half_at(s + 2 * row);
    const unsigned char *b = s + row;
    switch (cpu_layout(t)->scales) {
    case SCALES_HALF_MIN:
        return (struct line){d, half_at(s + 32 + 2 * row)};
    case SCALES_E8M0:
        return (struct line){float_of((b[0] ? b[0] - 1u : 0) << 23), 0};
    case SCALES_E4M3:
        return (struct line){0x1p119f * float_of((uint32_t)b[16 * half] << 20), 0};
    case SCALES_K32:
        return (struct line){unit * d * (float)(int8_t)b[32 + 16 * j], 0};
    case SCALES_K16:
        return (struct line){unit * d * (float)(int8_t)b[32 + 32 * j + 16 * half], 0};
    case SCALES_K32_MIN:
        b += 64 + 32 * j;
        return (struct line){unit * d * (float)b[0],
                             -unit * half_at(s + 32 + 2 * row) * (float)b[16]};
    case SCALES_K16_MIN:
        b += 64 + 32 * j + 16 * half;
        return (struct line){d * (float)(b[0] & 15),
                             -half_at(s + 32 + 2 * row) * (float)(b[0] >> 4)};
    default: /* SCALES_HALF, SCALES_WIDE */
        return (struct line){d, 0};
    }
}

void cpu_unpack_row(enum qn_dtype t, float *out, const void *panel, int row, int64_t cols)
{
    const struct cpu_layout *l = cpu_layout(t);
    const int units = cpu_record_units(t), step = cpu_scale_step(t);
    const unsigned char *codes = (const unsigned char *)panel + cpu_head_bytes(t), *scales = codes;
    float factor = 1;
    if (cpu_head_bytes(t))
        memcpy(&factor, (const float *)panel + row, sizeof factor);
    for (int64_t u = 0; u < cols / 32; u++, codes += cpu_code_bytes(t)) {
        const int j = (int)(u % units);
        if (j == 0) {
            scales = codes;
            codes += cpu_scale_bytes(t);
        }
        struct line of[2];
        for (int half = 0; half < 2; half++)
            of[half] = line_of(t, scales + step * j, row, step ? 0 : j, half);
        for (int i = 0; i < 32; i++) {
            const struct line x = of[i / 16];
            const int code = cpu_code_at(l->codes, codes, i / 4, 4 * row + i % 4);
            const int w = l->levels ? l->levels[code] : code - l->offset;
            out[32 * u + i] = factor * (x.s * (float)w + x.m);
        }
    }
}
