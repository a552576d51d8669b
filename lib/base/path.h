/* Files by path: reading whole files with a limit, atomic writing, folders, standard paths. */
#ifndef QN_BASE_PATH_H
#define QN_BASE_PATH_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the whole regular file to out, up to the limit of out. QN_ENOTFOUND, QN_ELIMIT, QN_EIO.
 */
qn_err qn_file_read(const char *path, struct qn_buf *out, struct qn_error *e);
/* The same from the descriptor's current position; path is used in messages. */
qn_err qn_fd_read(int fd, const char *path, struct qn_buf *out, struct qn_error *e);

/* Writes a temporary file beside path, syncs it and renames it over path; mode as for open(2). */
qn_err qn_file_write_atomic(const char *path, const void *data, size_t n, unsigned mode,
                            struct qn_error *e);
/* The same with a given temporary path, which no other writer may use: a leftover of a killed
 * process is overwritten by the next call. */
qn_err qn_file_write_alone(const char *path, const char *temp, const void *data, size_t n,
                           unsigned mode, struct qn_error *e);

qn_err qn_mkdirs(const char *path, unsigned mode, struct qn_error *e); /* like mkdir -p */
bool qn_file_exists(const char *path);

/* malloc'ed results; the caller frees. */
char *qn_path_join(const char *dir, const char *name);
char *qn_path_absolute(const char *path, struct qn_error *e); /* realpath(3) */
/* The user's home folder: HOME if it is an absolute path, else the folder in the passwd database,
 * which is then put into the environment, so that libraries and child processes use it too. NULL:
 * there is none. Lent. The first call must be made before threads are started. */
const char *qn_path_home(void);
char *
qn_path_data_dir(void); /* $XDG_DATA_HOME/quince or ~/.local/share/quince; NULL: no home folder */
char *qn_path_self_dir(void);               /* the folder of the running program */
const char *qn_path_base(const char *path); /* lent: the text after the last '/' */

#endif
