/* The sandbox of quince-unpack, entered before untrusted bytes are read. */
#ifndef QN_UNPACK_SANDBOX_H
#define QN_UNPACK_SANDBOX_H

#include "base/error.h"

#include <stdint.h>

/* Afterwards: no core dumps; limits on memory, descriptors and file sizes; no file outside the
 * folder can be opened, no program run, no socket opened, no other process created or touched.
 * Cannot be undone. folder: a descriptor. Restrictions that this kernel does not support are
 * skipped and listed in *lacking ("", "files", "calls", "files and calls"). QN_EIO. */
qn_err qn_sandbox_enter(int folder, int64_t file_bytes, const char **lacking, struct qn_error *e);

#endif
