/* The log file of a server that the command line has started (DATA_DIR/server.log): kept below a
 * limit while the server writes it, with one file of older lines beside it (server.log.1). */
#ifndef QN_TELEMETRY_LOG_FILE_H
#define QN_TELEMETRY_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#define QN_LOG_FILE_LIMIT INT64_C(10000000) /* bytes */

struct qn_log_file;

/* NULL: stderr does not go to that file, and whoever has opened it looks after it. */
struct qn_log_file *qn_log_file_watch(const char *path, int64_t limit);
void qn_log_file_free(struct qn_log_file *f); /* NULL allowed */

/* A line of so many bytes is about to be written. When the file is full, it becomes PATH.1 and
 * stderr goes to a new one; stdout, too, where it went to the same file. No line is lost: a thread
 * that writes meanwhile writes to one of the two. Any thread; NULL allowed. */
void qn_log_file_add(struct qn_log_file *f, size_t bytes);

#endif
