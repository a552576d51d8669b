/* The folder with all that a server writes: its user's alone, and one server's at a time. */
#ifndef QN_SETTINGS_DATA_FOLDER_H
#define QN_SETTINGS_DATA_FOLDER_H

#include "base/error.h"

/* Makes the folder with mode 0700, or closes one that others may read or write: where it is the
 * user's own, and empty or a data folder already. QN_EINVAL: it is not, so its owner decides;
 * QN_ECONFLICT: another server uses it; QN_EIO. *lock_fd: the lock, which goes with the process; -1
 * after an error. Blocking: before the loop runs. */
qn_err qn_data_folder_take(const char *dir, int *lock_fd, struct qn_error *e);

#endif
