/* What a process that reads hostile bytes gives up before it does. */
#ifndef QN_UNPACK_SANDBOX_H
#define QN_UNPACK_SANDBOX_H

#include "base/error.h"

#include <stdint.h>

/* No core dumps, limits on memory, descriptors and file sizes; of files nothing can be opened
 * outside of the folder, and no program run, no socket opened, no other process made or touched.
 * folder: a descriptor. What this kernel cannot do is left out, and said in *lacking ("", "files",
 * "calls", "files and calls"); the rest holds without it. QN_EIO. One way only. */
qn_err qn_sandbox_enter(int folder, int64_t file_bytes, const char **lacking, struct qn_error *e);

#endif
