/* Reads the small files in which Linux describes the machine (proc(5), sysfs), below a root folder
 * that is "" except in tests. A missing file is no error: the result is empty. */
#ifndef QN_PROBE_FILES_H
#define QN_PROBE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_PROBE_LINE_MAX = 256, QN_PROBE_TEXT_MAX = 1024 * 1024, QN_PROBE_PATH_MAX = 512 };

struct qn_probe_root {
    const char *path;
};

/* Writes the path of a file below the root; fmt and its arguments as for printf. False: too long.
 */
bool qn_probe_path(const struct qn_probe_root *root, char path[static QN_PROBE_PATH_MAX],
                   const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Reads the first line, without surrounding white space; "" when there is none. */
void qn_probe_line(const struct qn_probe_root *root, char line[static QN_PROBE_LINE_MAX],
                   const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Reads the first line as a decimal or 0x hexadecimal number; `otherwise` when it is not a number.
 */
int64_t qn_probe_number(const struct qn_probe_root *root, int64_t otherwise, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the whole text, at most QN_PROBE_TEXT_MAX bytes, NUL-terminated; the caller frees. NULL: it
 * cannot be read. */
char *qn_probe_text(const struct qn_probe_root *root, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Finds the first line "key: value" or "key=value" with this key in a text and copies its value
 * without surrounding quotes; "" when there is no such line. */
void qn_probe_value(const char *text, const char *key, char value[static QN_PROBE_LINE_MAX]);

#endif
