/* See cache_types.h. */
#include "contract/cache_types.h"

#include "base/str.h"

#include <stddef.h>

static const struct {
    const char *name;
    int64_t bytes; /* of 32 elements */
    bool own;
} types[] = {
#define OWN(name, dtype, bytes) {#name, bytes, true},
#define LLAMA(name, bytes) {#name, bytes, false},
    /* clang-format off */
    QN_CACHE_TYPES_OWN(OWN)
    QN_CACHE_TYPES_LLAMA(LLAMA)
    /* clang-format on */
};
enum { TYPES = sizeof types / sizeof *types };

#define NAME(name, ...) #name,
const char *const qn_cache_types[] = {QN_CACHE_TYPES_OWN(NAME) QN_CACHE_TYPES_LLAMA(NAME) NULL};

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < TYPES && !(name && qn_str_ieq(types[i].name, name)))
        i++;
    return i;
}

bool qn_cache_type_own(const char *name)
{
    const size_t i = find(name);
    return i < TYPES && types[i].own;
}

int64_t qn_cache_type_bytes(const char *name)
{
    const size_t i = find(name);
    return types[i < TYPES ? i : 0].bytes;
}
