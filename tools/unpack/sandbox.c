/* See sandbox.h. */
#include "unpack/sandbox.h"

#include "confine/helper.h"

#include <stdio.h>

enum { MEMORY_BYTES = 1 << 30, DESCRIPTORS = 64 };

qn_err qn_sandbox_enter(int folder, int64_t file_bytes, const char **lacking, struct qn_error *e)
{
    char path[32];
    struct qn_confine_path only = {.path = path, .may = QN_CONFINE_WRITE};
    const struct qn_confine_limits limits = {.address_bytes = MEMORY_BYTES,
                                             .memory_bytes = MEMORY_BYTES,
                                             .file_bytes = file_bytes,
                                             .descriptors = DESCRIPTORS};
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    return qn_confine_helper(&only, 1, &limits, lacking, e);
}
