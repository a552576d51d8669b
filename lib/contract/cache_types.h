/* The element types in which a language model can store its KV cache, each declared once. */
#ifndef QN_CONTRACT_CACHE_TYPES_H
#define QN_CONTRACT_CACHE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* The types of quince's own engine, as users write them: X(name, name in enum qn_dtype, bytes of 32
 * elements). The first is the default of a load. */
#define QN_CACHE_TYPES_OWN(X)                                                                      \
    X(f16, F16, 64)                                                                                \
    X(q8_0, Q8_0, 34)                                                                              \
    X(q4_0, Q4_0, 18)                                                                              \
    X(f32, F32, 128)
#define QN_CACHE_TYPES_OWN_TEXT "f16, q8_0, q4_0 or f32"

/* The further types that llama-server has: X(name, bytes of 32 elements). */
#define QN_CACHE_TYPES_LLAMA(X)                                                                    \
    X(bf16, 64)                                                                                    \
    X(q4_1, 20)                                                                                    \
    X(iq4_nl, 18)                                                                                  \
    X(q5_0, 22)                                                                                    \
    X(q5_1, 24)

/* All names, those of quince's engine first; ends with NULL. Requests may use upper or lower
 * case. */
extern const char *const qn_cache_types[];

bool qn_cache_type_own(const char *name);
/* Bytes of 32 elements; if the name is NULL or unknown, those of f16. */
int64_t qn_cache_type_bytes(const char *name);

#endif
