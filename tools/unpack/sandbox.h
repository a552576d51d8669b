/* The sandbox of quince-unpack, entered before untrusted bytes are read. */
#ifndef QN_UNPACK_SANDBOX_H
#define QN_UNPACK_SANDBOX_H

#include "base/error.h"

#include <stdint.h>

/* Enters the sandbox, which cannot be left again. Afterwards the process writes no core dumps; its
 * memory, descriptors and file sizes are limited; it can open no file outside the folder, run no
 * program, open no socket, and neither create nor touch another process. folder: a descriptor.
 * Restrictions that this kernel does not support are skipped and listed in *lacking ("", "files",
 * "calls", "files and calls"). QN_EIO. */
qn_err qn_sandbox_enter(int folder, int64_t file_bytes, const char **lacking, struct qn_error *e);

#endif
