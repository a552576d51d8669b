/* See gguf_name.h. */
#include "formats/gguf_name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { TAIL = sizeof "-00001-of-00001.gguf" - 1 };

bool qn_gguf_part_path(const char *path, size_t i, size_t n, char *out, size_t size)
{
    size_t len = strlen(path);
    char count[32];
    snprintf(count, sizeof count, "-of-%05zu.gguf", n);
    if (len < TAIL || path[len - TAIL] != '-' || strcmp(path + len - strlen(count), count) != 0)
        return false;
    int wrote = snprintf(out, size, "%.*s-%05zu%s", (int)(len - TAIL), path, i + 1, count);
    return wrote > 0 && (size_t)wrote < size;
}

size_t qn_gguf_parts_of(const char *path)
{
    const char *of = strstr(path, "-of-");
    for (const char *next = of; next; next = strstr(next + 1, "-of-"))
        of = next;
    char again[PATH_MAX];
    unsigned n = 0;
    if (!of || sscanf(of, "-of-%5u.gguf", &n) != 1 || n < 1 || n > QN_GGUF_PARTS_MAX ||
        !qn_gguf_part_path(path, 0, n, again, sizeof again) || strcmp(again, path) != 0)
        return 1;
    return n;
}
