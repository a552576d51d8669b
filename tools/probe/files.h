/* The small files in which Linux says what the machine is made of (proc(5), sysfs), beneath a root
 * that is "" but for tests. A file that is not there is no error: the answer is empty. */
#ifndef QN_PROBE_FILES_H
#define QN_PROBE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_PROBE_LINE_MAX = 256, QN_PROBE_TEXT_MAX = 1024 * 1024, QN_PROBE_PATH_MAX = 512 };

struct qn_probe_root {
    const char *path;
};

/* Says in path, PARTS joined as by printf, where a file lies beneath the root; false: too long. */
bool qn_probe_path(const struct qn_probe_root *root, char path[static QN_PROBE_PATH_MAX],
                   const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The first line, without white space around it; "" when there is none. */
void qn_probe_line(const struct qn_probe_root *root, char line[static QN_PROBE_LINE_MAX],
                   const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The first line as a number, decimal or 0x hexadecimal; `otherwise` when it is none. */
int64_t qn_probe_number(const struct qn_probe_root *root, int64_t otherwise, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The whole text, ended by NUL, at most QN_PROBE_TEXT_MAX bytes of it; the caller frees. NULL: it
 * cannot be read. */
char *qn_probe_text(const struct qn_probe_root *root, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* In a text of lines "key: value" or "key=value": the value of the first line with this key,
 * without quotes around it; "" when there is none. */
void qn_probe_value(const char *text, const char *key, char value[static QN_PROBE_LINE_MAX]);

#endif
