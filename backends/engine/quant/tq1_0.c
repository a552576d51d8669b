/* TQ1_0, ternary: 256 weights: 48 bytes of five codes 0, 1, 2 each, 4 bytes of four, then half
 * float d: x = d·(code - 1). The first 32 bytes hold weights 0 .. 159, byte k those at k + 32n; the
 * next 16 hold 160 .. 239, byte k those at 160 + k + 16n; the last four hold 240 .. 255, at 240 + k
 * + 4n. A byte is the fraction 0.c0 c1 c2 c3 c4 in base three, in units of 1/256, rounded up: code
 * n is the whole part of (byte·3^n mod 256)·3 / 256. */
#include "engine/quant/quant.h"

enum { BLOCK = 256, BYTES = 54, FACTOR = 52 };

static const uint8_t power[5] = {1, 3, 9, 27, 81};

/* The byte that holds weight j, and its position n within the byte. */
static int byte_of(int j, int *n)
{
    if (j < 160) {
        *n = j / 32;
        return j % 32;
    }
    if (j < 240) {
        *n = (j - 160) / 16;
        return 32 + j % 16;
    }
    *n = (j - 240) / 4;
    return 48 + j % 4;
}

static int code_of(const unsigned char *b, int j)
{
    int n, byte = b[byte_of(j, &n)];
    return (byte * power[n] & 255) * 3 >> 8;
}

void qn_tq1_0_dequant(float *out, const void *in, int64_t n)
{
    const unsigned char *b = in;
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        float d = qn_load_f16(b + FACTOR);
        for (int j = 0; j < BLOCK; j++)
            out[i + j] = d * (float)(code_of(b, j) - 1);
    }
}

void qn_tq1_0_quant(void *out, const float *in, int64_t n)
{
    unsigned char *b = out;
    uint8_t code[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK, b += BYTES) {
        int sum[FACTOR] = {0};
        qn_store_u16(b + FACTOR, qn_ternary_fit(in + i, code));
        for (int j = 0, place; j < BLOCK; j++) {
            int byte = byte_of(j, &place);
            sum[byte] += code[j] * power[4 - place];
        }
        for (int k = 0; k < FACTOR; k++)
            b[k] = (unsigned char)((sum[k] * 256 + 242) / 243);
    }
}

void qn_tq1_0_codes(uint8_t out[32], const void *row, int64_t group)
{
    const unsigned char *b = (const unsigned char *)row + group / 8 * BYTES;
    for (int j = 0; j < 32; j++)
        out[j] = (uint8_t)code_of(b, (int)(group % 8) * 32 + j);
}

void qn_tq1_0_scales(struct qn_block_scales *out, const void *block)
{
    out->d = qn_load_u16((const unsigned char *)block + FACTOR);
}
