/* How the CPU stores weights and activations for products.
 *
 * Weights of plain types (F32, F16, BF16) stay as the file has them, in its mapped pages: reading a
 * row along its columns is as fast as any other order. Block types are packed into panels of 16
 * rows, the last one padded with zeros. A panel is a sequence of records; a record has for sixteen
 * rows side by side the scales of a few units, padded to whole lines of 64 bytes, then the codes. A
 * panel is thus read front to back, in one stream: with all scales after all codes, which makes two
 * streams, this memory's bandwidth was a fifth lower. The last record may have fewer units, but has
 * space for all scales. A panel of the types in common use is at most 6 percent larger than in the
 * file. Only the grid types (IQ1 to IQ3) and the type with five numbers in a byte (TQ1_0) are
 * larger than that: looking up a grid takes longer than reading a few more bits.
 *
 * A unit is 32 columns, eight groups of four. A vector is 64 bytes, [16 rows][4 columns]:
 *   CODES_8  8 vectors, one per group
 *   CODES_6  for each half of the groups 2 vectors as CODES_4 and one whose bits 2g, 2g + 1 are
 *            the high bits of group g
 *   CODES_5  as CODES_4, then one vector whose bit g is the fifth bit of group g
 *   CODES_4  4 vectors, group 2v in the low, group 2v + 1 in the high nibbles
 *   CODES_3  as CODES_2, then one vector whose bit g is the third bit of group g
 *   CODES_2  2 vectors, group 4v + i in bits 2i, 2i + 1
 *
 * Activations are in groups of `nc` rows ("columns" of a product), nc one of 1, 2, 4, 8, the last
 * group padded with zeros. For plain weights a group is [cols / 16][nc][16 columns] f32, the last
 * run padded with zeros; for block weights it is one cpu_act block per 32 columns.
 *
 * The wide form, for products of many rows, is a panel unpacked just before it is used. It starts
 * with the panel's header, if any, followed by the units: 8 vectors of signed bytes, [16 rows][4
 * columns], which are the values of the codes, then vectors of 16 numbers (cpu_wide_vectors()): f32
 * s of 32 columns or of 16 and 16; with minima f32 -m, or int32 m of 16 and 16 columns and f32 of
 * their factor's negative; int32 -128·(sum of the values) of 32 columns or of 16 and 16. Its
 * activations are groups as above with CPU_WIDE_ROWS for nc, modified by the set's wide.ready. */
#ifndef QN_ENGINE_CPU_PACK_H
#define QN_ENGINE_CPU_PACK_H

#include "engine/quant/quant.h"
#include "engine/tensor.h"

#include <stddef.h>
#include <stdint.h>

enum { CPU_PANEL = 16, CPU_COLUMNS_MAX = 8, CPU_LAYOUT_PANELS = 1, CPU_PLAIN_RUN = 16 };

/* To be incremented with every change of cpu_pack_panel's output, because panels are stored on
 * disk. */
enum { CPU_LAYOUTS = 1 };

/* One block of 32 columns of nc activations: x = d·q. Offsets in bytes; each item has nc entries.
 */
#define ACT_Q(nc) 0                /* int8 [nc][32] */
#define ACT_D(nc) (32 * (nc))      /* float d */
#define ACT_DS(nc) (36 * (nc))     /* float d·(sum of q) */
#define ACT_NSUM(nc) (40 * (nc))   /* int32 -(sum of q) */
#define ACT_NHALF0(nc) (44 * (nc)) /* int32 -(sum of the first 16 q) */
#define ACT_NHALF1(nc) (48 * (nc)) /* int32 -(sum of the last 16 q) */
#define ACT_BYTES(nc) (52 * (nc))

enum { CPU_PLAIN_CLASSES = 32 };

/* Columns of one class, and floats from one class to the next: one cache line more than needed, as
 * otherwise the classes would map to the same few cache sets. */
static inline int64_t cpu_plain_columns(int64_t cols)
{
    return (cols + CPU_PLAIN_CLASSES - 1) / CPU_PLAIN_CLASSES;
}

static inline int64_t cpu_plain_step(int64_t cols)
{
    return (cpu_plain_columns(cols) + 1) * CPU_PANEL;
}

enum { CPU_WIDE_ROWS = 16, CPU_WIDE_CODES = 512, CPU_WIDE_UNIT_MAX = CPU_WIDE_CODES + 7 * 64 };

enum cpu_codes { CODES_NONE, CODES_2, CODES_3, CODES_4, CODES_5, CODES_6, CODES_8 };

/* The scales of a record. Weight = unit·s·(code - offset), or with a minimum unit·(s·code - m). In
 * the first four formats a record has the scales of its first unit, then those of its second, and
 * so on; in the other formats its eight units share some scales. */
enum cpu_scales {
    SCALES_HALF,     /* 2 units: s f16[16] */
    SCALES_HALF_MIN, /* 1 unit: s f16[16], -m f16[16] */
    SCALES_E8M0,     /* 4 units: e u8[16], s = 2^(e - 128) */
    /* 2 units: 2 × u8[16], of 16 columns each: half of a float of 4 + 3 bits, times a factor of the
     * whole panel: f32[16] before the first record */
    SCALES_E4M3,
    SCALES_WIDE,    /* 8 units: s f16[16] */
    SCALES_K32,     /* 8 units: d f16[16], 8 × i8[16]: s = d·i8 of 32 columns */
    SCALES_K16,     /* 8 units: d f16[16], 16 × i8[16], of 16 columns each */
    SCALES_K32_MIN, /* 8 units: d, dmin f16[16], 8 × {u8[16], u8[16]}: s = d·u8, m = dmin·u8 */
    SCALES_K16_MIN  /* 8 units: d, dmin f16[16], 16 × u8[16]: s = d·low, m = dmin·high nibble */
};

/* How one block type is packed. `offset` is a power of two, or 0 for types with a minimum; with
 * `levels`, a code is replaced by levels[code] + offset before the multiplication. */
struct cpu_layout {
    uint8_t codes, scales;
    uint8_t offset;
    uint8_t top; /* the largest factor: code, or level + offset */
    const int8_t *levels;
    float unit;
};

/* Inline with a constant table, so that a kernel for one type contains no code for other types. */
static inline const struct cpu_layout *cpu_layout(enum qn_dtype t)
{
    static const struct cpu_layout table[QN_DTYPE_COUNT] = {
        [QN_Q8_0] = {CODES_8, SCALES_HALF, 128, 255, NULL, 1},
        [QN_Q4_0] = {CODES_4, SCALES_HALF, 8, 15, NULL, 1},
        [QN_Q4_1] = {CODES_4, SCALES_HALF_MIN, 0, 15, NULL, 1},
        [QN_Q5_0] = {CODES_5, SCALES_HALF, 16, 31, NULL, 1},
        [QN_Q5_1] = {CODES_5, SCALES_HALF_MIN, 0, 31, NULL, 1},
        [QN_Q2_K] = {CODES_2, SCALES_K16_MIN, 0, 3, NULL, 1},
        [QN_Q3_K] = {CODES_3, SCALES_K16, 4, 7, NULL, 1},
        [QN_Q4_K] = {CODES_4, SCALES_K32_MIN, 0, 15, NULL, 1},
        [QN_Q5_K] = {CODES_5, SCALES_K32_MIN, 0, 31, NULL, 1},
        [QN_Q6_K] = {CODES_6, SCALES_K16, 32, 63, NULL, 1},
        [QN_IQ4_NL] = {CODES_4, SCALES_HALF, 128, 241, qn_iq4_levels, 1},
        [QN_IQ4_XS] = {CODES_4, SCALES_K32, 128, 241, qn_iq4_levels, 1},
        [QN_IQ3_XXS] = {CODES_4, SCALES_K32, 64, 126, qn_iq3_xxs_levels, 0.25f},
        [QN_IQ3_S] = {CODES_4, SCALES_K32, 16, 31, qn_iq3_s_levels, 1},
        [QN_IQ2_XXS] = {CODES_3, SCALES_K32, 64, 107, qn_iq2_levels, 0.125f},
        [QN_IQ2_XS] = {CODES_3, SCALES_K16, 64, 107, qn_iq2_levels, 0.125f},
        [QN_IQ2_S] = {CODES_3, SCALES_K16, 64, 107, qn_iq2_levels, 0.125f},
        [QN_IQ1_S] = {CODES_2, SCALES_K32_MIN, 0, 3, NULL, 0.125f},
        [QN_IQ1_M] = {CODES_3, SCALES_K16, 16, 25, qn_iq1_m_levels, 0.125f},
        [QN_TQ1_0] = {CODES_2, SCALES_WIDE, 1, 3, NULL, 1},
        [QN_TQ2_0] = {CODES_2, SCALES_WIDE, 1, 3, NULL, 1},
        [QN_MXFP4] = {CODES_4, SCALES_E8M0, 16, 28, qn_fp4_levels, 1},
        [QN_NVFP4] = {CODES_4, SCALES_E4M3, 16, 28, qn_fp4_levels, 1},
    };
    return &table[t];
}

/* Of a panel's records: units in one; bytes of its scales; bytes from one unit's scales to the
 * next's (0 if the scales belong to all units); bytes of one unit's codes, 0 for plain types. */
static inline int cpu_record_units(enum qn_dtype t)
{
    static const uint8_t units[] = {2, 1, 4, 2, 8, 8, 8, 8, 8};
    return units[cpu_layout(t)->scales];
}

static inline int cpu_scale_bytes(enum qn_dtype t)
{
    static const uint16_t bytes[] = {64, 64, 64, 64, 64, 192, 320, 320, 320};
    return bytes[cpu_layout(t)->scales];
}

static inline int cpu_scale_step(enum qn_dtype t)
{
    static const uint8_t step[] = {32, 64, 16, 32, 0, 0, 0, 0, 0};
    return step[cpu_layout(t)->scales];
}

/* Bytes before the first record. */
static inline int cpu_head_bytes(enum qn_dtype t)
{
    return cpu_layout(t)->scales == SCALES_E4M3 ? 64 : 0;
}

static inline int cpu_code_bytes(enum qn_dtype t)
{
    static const uint8_t vectors[] = {0, 2, 3, 4, 5, 6, 8};
    return 64 * vectors[cpu_layout(t)->codes];
}

/* Vectors of 16 numbers in one unit of the wide form, and bytes of such a unit. */
static inline int cpu_wide_vectors(enum qn_dtype t)
{
    static const uint8_t vectors[] = {2, 3, 2, 4, 2, 2, 4, 3, 7};
    return vectors[cpu_layout(t)->scales];
}

static inline int cpu_wide_unit(enum qn_dtype t)
{
    return CPU_WIDE_CODES + 64 * cpu_wide_vectors(t);
}

/* The code of group g, byte i of its vector, in the unit's codes. */
static inline int cpu_code_at(enum cpu_codes form, const uint8_t *unit, int g, int i)
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

/* Bytes of 16 rows; of a plain type in the file's format. */
size_t cpu_panel_bytes(enum qn_dtype t, int64_t cols);

/* Packs one panel of a block type from n (1 to 16) rows in the file's format, row_bytes apart. */
void cpu_pack_panel(enum qn_dtype t, void *panel, const void *rows, size_t row_bytes, int n,
                    int64_t cols);

/* out [cols] = row number `row` (0 to 15) of a panel of a block type. */
void cpu_unpack_row(enum qn_dtype t, float *out, const void *panel, int row, int64_t cols);

/* Multiplies the values of a panel that has just been packed, of a type with SCALES_E4M3, by
 * factor. */
void cpu_panel_set_factor(void *panel, float factor);

#endif
