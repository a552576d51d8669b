/* See pull_owners.h. */
#include "downloads/pull_owners.h"

#include "base/buf.h"

#include <string.h>

/* The next name of the list, of *n bytes; NULL: none. *at moves behind it. */
static const char *next(const char **at, size_t *n)
{
    const char *name = *at + strspn(*at, " ");
    *n = strcspn(name, " ");
    *at = name + *n;
    return *n ? name : NULL;
}

static bool is(const char *name, size_t n, const char *owner)
{
    return strlen(owner) == n && !memcmp(name, owner, n);
}

size_t qn_pull_owners_count(const char *list)
{
    size_t count = 0, n;
    while (next(&list, &n))
        count++;
    return count;
}

bool qn_pull_owners_have(const char *list, const char *owner)
{
    size_t n;
    for (const char *name; (name = next(&list, &n));)
        if (is(name, n, owner))
            return true;
    return false;
}

static void append(struct qn_buf *to, const char *name, size_t n)
{
    if (to->len)
        qn_buf_char(to, ' ');
    qn_buf_add(to, name, n);
}

static char *taken(struct qn_buf *text)
{
    char *out = qn_xstrdup(qn_buf_cstr(text));
    qn_buf_deinit(text);
    return out;
}

char *qn_pull_owners_with(const char *list, const char *owner)
{
    struct qn_buf text;
    qn_buf_init(&text, SIZE_MAX / 2);
    qn_buf_str(&text, list);
    if (*owner && !qn_pull_owners_have(list, owner) &&
        qn_pull_owners_count(list) < QN_PULL_OWNERS_MAX)
        append(&text, owner, strlen(owner));
    return taken(&text);
}

char *qn_pull_owners_without(const char *list, const char *owner)
{
    struct qn_buf text;
    size_t n;
    qn_buf_init(&text, SIZE_MAX / 2);
    for (const char *name; (name = next(&list, &n));)
        if (!is(name, n, owner))
            append(&text, name, n);
    return taken(&text);
}
