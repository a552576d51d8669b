/* SHA-256's blocks with the SHA instructions of x86 (Intel's "SHA Extensions", 2013). The state is
 * kept as the instructions want it: one vector of a, b, e, f and one of c, d, g, h. */
#include "base/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

__attribute__((target("sha,sse4.1,ssse3"))) static void blocks(uint32_t state[static 8],
                                                               const unsigned char *p, size_t n)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; n; n--, p += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            /* Four rounds; w[i % 4] are the schedule's words 4i to 4i + 3. */
            __m128i wk =
                _mm_add_epi32(w[i % 4], _mm_loadu_si128((const __m128i *)(qn_sha256_k + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            if (i < 12) { /* their successors, 16 words on */
                __m128i *a = &w[i % 4], b = w[(i + 1) % 4], c = w[(i + 2) % 4], d = w[(i + 3) % 4];
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*a, b), _mm_alignr_epi8(d, c, 4));
                *a = _mm_sha256msg2_epu32(sum, d);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

qn_sha256_blocks qn_sha256_blocks_x86(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
        return NULL;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1u << 29)) /* SHA */
        return NULL;
    return blocks;
}
#else
qn_sha256_blocks qn_sha256_blocks_x86(void)
{
    return NULL;
}
#endif
