/* Helpers of Q5_0 and Q5_1: the codes of 32 weights, four bytes whose bit j is the fifth bit of
 * weight j, and 16 bytes of which byte j holds the low bits of weight j in its low and of weight j
 * + 16 in its high half. */
#include "engine/quant/quant.h"

void qn_five_bits(uint8_t out[32], const unsigned char high[4], const unsigned char low[16])
{
    for (int j = 0; j < 16; j++) {
        out[j] = low[j] & 15;
        out[j + 16] = low[j] >> 4;
    }
    for (int k = 0; k < 4; k++)
        qn_put_signed_point(out + 8 * k, out + 8 * k, high[k], 4);
}

void qn_put_five_bits(unsigned char high[4], unsigned char low[16], int j, int code)
{
    low[j % 16] |= (unsigned char)((code & 15) << (j < 16 ? 0 : 4));
    high[j / 8] |= (unsigned char)(code >> 4 << j % 8);
}
