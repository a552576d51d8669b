/* The data folder: all files that a server writes. Only the user who runs the server may access it,
 * and only one server at a time may use it. */
#ifndef QN_SETTINGS_DATA_FOLDER_H
#define QN_SETTINGS_DATA_FOLDER_H

#include "base/error.h"

/* Creates the folder with mode 0700. An existing folder that other users may read or write gets
 * mode 0700 if it belongs to this user and is empty or a data folder; otherwise QN_EINVAL, so that
 * the user decides. QN_ECONFLICT: another server uses the folder; QN_EIO. *lock_fd: the lock, held
 * until the process ends; -1 after an error. Blocking: call it before the loop runs. */
qn_err qn_data_folder_take(const char *dir, int *lock_fd, struct qn_error *e);

#endif
