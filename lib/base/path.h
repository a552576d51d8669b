/* Files by name: whole-file reading with a limit, atomic writing, directories, well-known places.
 */
#ifndef QN_BASE_PATH_H
#define QN_BASE_PATH_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the whole regular file to out (whose limit holds). QN_ENOTFOUND, QN_ELIMIT, QN_EIO. */
qn_err qn_file_read(const char *path, struct qn_buf *out, struct qn_error *e);
/* The same from where the descriptor stands; path is for messages. */
qn_err qn_fd_read(int fd, const char *path, struct qn_buf *out, struct qn_error *e);

/* Writes a temporary file beside path, syncs it and renames it over path; mode as for open(2). */
qn_err qn_file_write_atomic(const char *path, const void *data, size_t n, unsigned mode,
                            struct qn_error *e);
/* The same by way of temp, which no other writer uses: what a kill leaves of it is written over the
 * next time. */
qn_err qn_file_write_alone(const char *path, const char *temp, const void *data, size_t n,
                           unsigned mode, struct qn_error *e);

qn_err qn_mkdirs(const char *path, unsigned mode, struct qn_error *e); /* like mkdir -p */
bool qn_file_exists(const char *path);

/* malloc'ed results; the caller frees. */
char *qn_path_join(const char *dir, const char *name);
char *qn_path_absolute(const char *path, struct qn_error *e); /* realpath(3) */
/* The user's home folder: HOME where that is an absolute path, else what passwd says, which is then
 * put into the environment, so that all agree. NULL: there is none. Lent. Call it first before
 * there are threads. */
const char *qn_path_home(void);
char *
qn_path_data_dir(void); /* $XDG_DATA_HOME/quince or ~/.local/share/quince; NULL: no home folder */
char *qn_path_self_dir(void);               /* the folder of the running program */
const char *qn_path_base(const char *path); /* lent: after the last '/' */

#endif
