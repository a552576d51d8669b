/* The number types that a language model can keep its keys and values in, each declared once. */
#ifndef QN_CONTRACT_CACHE_TYPES_H
#define QN_CONTRACT_CACHE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* Those of quince's own engine, as people write them: X(name, name in enum qn_dtype, bytes of 32
 * numbers). The first is the one that is used when a load does not say. */
#define QN_CACHE_TYPES_OWN(X)                                                                      \
    X(f16, F16, 64)                                                                                \
    X(q8_0, Q8_0, 34)                                                                              \
    X(q4_0, Q4_0, 18)                                                                              \
    X(f32, F32, 128)
#define QN_CACHE_TYPES_OWN_TEXT "f16, q8_0, q4_0 or f32"

/* Those that llama-server knows besides: X(name, bytes of 32 numbers). */
#define QN_CACHE_TYPES_LLAMA(X)                                                                    \
    X(bf16, 64)                                                                                    \
    X(q4_1, 20)                                                                                    \
    X(iq4_nl, 18)                                                                                  \
    X(q5_0, 22)                                                                                    \
    X(q5_1, 24)

/* All names, own ones first; ends with NULL. Upper and lower case are the same in requests. */
extern const char *const qn_cache_types[];

bool qn_cache_type_own(const char *name);
/* Bytes of 32 numbers; those of f16 where the name is NULL or unknown. */
int64_t qn_cache_type_bytes(const char *name);

#endif
