/* See files.h. */
#include "probe/files.h"

#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool join(const struct qn_probe_root *root, char path[static QN_PROBE_PATH_MAX],
                 const char *fmt, va_list args)
{
    int n = snprintf(path, QN_PROBE_PATH_MAX, "%s", root->path);
    if (n < 0 || n >= QN_PROBE_PATH_MAX)
        return false;
    int m = vsnprintf(path + n, QN_PROBE_PATH_MAX - (size_t)n, fmt, args);
    return m >= 0 && n + m < QN_PROBE_PATH_MAX;
}

bool qn_probe_path(const struct qn_probe_root *root, char path[static QN_PROBE_PATH_MAX],
                   const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bool ok = join(root, path, fmt, args);
    va_end(args);
    return ok;
}

/* Copies text[0..n) without surrounding white space and quotes. */
static void copy_bare(char out[static QN_PROBE_LINE_MAX], const char *text, size_t n)
{
    while (n && isspace((unsigned char)text[0]))
        text++, n--;
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    if (n >= 2 && text[0] == '"' && text[n - 1] == '"')
        text++, n -= 2;
    if (n >= QN_PROBE_LINE_MAX)
        n = QN_PROBE_LINE_MAX - 1;
    memcpy(out, text, n);
    out[n] = '\0';
}

static void first_line(const char *path, char line[static QN_PROBE_LINE_MAX])
{
    char text[QN_PROBE_LINE_MAX];
    FILE *f = fopen(path, "re");
    line[0] = '\0';
    if (f && fgets(text, sizeof text, f))
        copy_bare(line, text, strlen(text));
    if (f)
        fclose(f);
}

void qn_probe_line(const struct qn_probe_root *root, char line[static QN_PROBE_LINE_MAX],
                   const char *fmt, ...)
{
    char path[QN_PROBE_PATH_MAX];
    va_list args;
    va_start(args, fmt);
    line[0] = '\0';
    if (join(root, path, fmt, args))
        first_line(path, line);
    va_end(args);
}

int64_t qn_probe_number(const struct qn_probe_root *root, int64_t otherwise, const char *fmt, ...)
{
    char path[QN_PROBE_PATH_MAX], line[QN_PROBE_LINE_MAX] = "";
    va_list args;
    va_start(args, fmt);
    if (join(root, path, fmt, args))
        first_line(path, line);
    va_end(args);
    char *end;
    long long n = strtoll(line, &end, 0);
    return *line && !*end ? n : otherwise;
}

char *qn_probe_text(const struct qn_probe_root *root, const char *fmt, ...)
{
    char path[QN_PROBE_PATH_MAX];
    va_list args;
    va_start(args, fmt);
    bool ok = join(root, path, fmt, args);
    va_end(args);
    FILE *f = ok ? fopen(path, "re") : NULL;
    if (!f)
        return NULL;
    /* Files in /proc do not report their size. */
    char *text = malloc(QN_PROBE_TEXT_MAX + 1);
    size_t n = text ? fread(text, 1, QN_PROBE_TEXT_MAX, f) : 0;
    if (text)
        text[n] = '\0';
    fclose(f);
    return text;
}

void qn_probe_value(const char *text, const char *key, char value[static QN_PROBE_LINE_MAX])
{
    size_t n = strlen(key);
    value[0] = '\0';
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) != 0)
            continue;
        size_t len = strcspn(line, "\n");
        const char *at = line + n;
        while (at < line + len && (*at == ' ' || *at == '\t'))
            at++;
        if (at == line + len || (*at != ':' && *at != '='))
            continue;
        copy_bare(value, at + 1, (size_t)(line + len - at - 1));
        return;
    }
}
