/* The log file of a server that the command line has started (DATA_DIR/server.log). It is kept
 * below a size limit while the server writes it; one file with older lines stays beside it
 * (server.log.1). */
#ifndef QN_TELEMETRY_LOG_FILE_H
#define QN_TELEMETRY_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#define QN_LOG_FILE_LIMIT INT64_C(10000000) /* bytes */

struct qn_log_file;

/* Returns NULL if stderr is not redirected to that file; the program that started the server then
 * manages the log. */
struct qn_log_file *qn_log_file_watch(const char *path, int64_t limit);
void qn_log_file_free(struct qn_log_file *f); /* NULL allowed */

/* Accounts for a line of this many bytes that is about to be written. When the file is full, it is
 * renamed to PATH.1 and stderr is redirected to a new file, as is stdout if it referred to the same
 * file. No line is lost: a thread that writes at that moment writes to one of the two files. Any
 * thread; NULL allowed. */
void qn_log_file_add(struct qn_log_file *f, size_t bytes);

#endif
