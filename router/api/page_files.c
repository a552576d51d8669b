/* See page_files.h. The table itself is written by the build. */
#include "api/page_files.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

void qn_page_set_apart(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)qn_page_bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)qn_page_bytes + qn_page_bytes_count) / page * page;
    /* The first advice makes these pages a mapping of their own, beyond which no fault in data
     * beside them maps anything; the second drops those that are mapped already. If one fails, the
     * server only uses more memory. */
    if (begin < end && madvise((void *)begin, end - begin, MADV_RANDOM) == 0)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

const struct qn_page_file *qn_page_find(const char *path, bool at_root)
{
    for (size_t i = 0; i < qn_page_file_count; i++)
        if (qn_page_files[i].at_root == at_root && qn_str_eq(qn_page_files[i].path, path))
            return &qn_page_files[i];
    return NULL;
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

/* Parses "1", "0.25" up to the next comma, in thousandths. A malformed weight counts as 0, so that
 * the coding is not used. */
static int parse_weight(const char *p)
{
    if (*p != '0' && *p != '1')
        return 0;
    int whole = *p++ - '0', rest = 0, digits = 0;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && digits < 3; p++, digits++)
            rest = rest * 10 + (*p - '0');
    for (; digits < 3; digits++)
        rest *= 10;
    p = skip_blanks(p);
    return (*p && *p != ',') || whole * 1000 + rest > 1000 ? 0 : whole * 1000 + rest;
}

/* The weight that the field gives a coding, in thousandths; -1: it does not name it. */
static int weight_of(const char *field, const char *coding)
{
    size_t len = strlen(coding);
    for (const char *p = field; *p; p += *p == ',') {
        p = skip_blanks(p);
        size_t n = strcspn(p, ",; \t");
        const char *after = skip_blanks(p + n);
        bool named = n == len && strncasecmp(p, coding, n) == 0;
        p = after + strcspn(after, ",");
        if (!named)
            continue;
        if (*after != ';')
            return 1000;
        after = skip_blanks(after + 1);
        return strncasecmp(after, "q=", 2) == 0 ? parse_weight(after + 2) : 0;
    }
    return -1;
}

bool qn_page_prefers_gzip(const char *field)
{
    if (!field)
        return false;
    int any = weight_of(field, "*"), gzip = weight_of(field, "gzip"),
        plain = weight_of(field, "identity");
    if (gzip < 0)
        gzip = weight_of(field, "x-gzip"); /* the same coding: RFC 9110, 8.4.1.3 */
    if (gzip < 0)
        gzip = any;
    return gzip > 0 && gzip >= plain;
}

void qn_page_tag(bool gzip, char out[static QN_PAGE_TAG_MAX + 1])
{
    snprintf(out, QN_PAGE_TAG_MAX + 1, "\"%s%s\"", qn_page_build, gzip ? "-gzip" : "");
}

bool qn_page_has_tag(const char *field, const char *tag)
{
    size_t len = strlen(tag);
    for (const char *p = field ? field : ""; *p; p += *p == ',') {
        p = skip_blanks(p);
        if (*p == '*')
            return true;
        p += qn_str_starts(p, "W/") ? 2 : 0;
        const char *end = *p == '"' ? strchr(p + 1, '"') : NULL;
        if (!end)
            return false;
        if ((size_t)(end + 1 - p) == len && memcmp(p, tag, len) == 0)
            return true;
        p = skip_blanks(end + 1);
        if (*p && *p != ',')
            return false;
    }
    return false;
}
