/* See sandbox.h. */
#include "unpack/sandbox.h"

#include "confine/confine.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { MEMORY_BYTES = 1 << 30, DESCRIPTORS = 64 };

static qn_err limit(int what, rlim_t most, struct qn_error *e)
{
    struct rlimit l = {most, most}, now;
    if (!getrlimit((__rlimit_resource_t)what, &now) && now.rlim_max < most)
        l.rlim_cur = l.rlim_max = now.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &l) ? qn_fail_errno(e, "set a limit") : QN_OK;
}

static qn_err set_limits(int64_t file_bytes, struct qn_error *e)
{
    qn_err err = limit(RLIMIT_CORE, 0, e);
    if (!err)
        err = limit(RLIMIT_NOFILE, DESCRIPTORS, e);
    if (!err)
        err = limit(RLIMIT_FSIZE, (rlim_t)file_bytes, e);
/* The sanitizers reserve terabytes of addresses. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (!err)
        err = limit(RLIMIT_AS, MEMORY_BYTES, e);
#endif
    return err;
}

qn_err qn_sandbox_enter(int folder, int64_t file_bytes, const char **lacking, struct qn_error *e)
{
    char path[32];
    struct qn_confine_path only = {.path = path, .may = QN_CONFINE_WRITE};
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    *lacking = "";
    /* It ends with the server, whatever ends that. */
    if (prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0))
        return qn_fail_errno(e, "prepare to unpack");
    qn_err err = set_limits(file_bytes, e);
    qn_err files = err ? err : qn_confine_files(&only, 1, e);
    qn_err calls = files == QN_OK || files == QN_EUNSUPPORTED ? qn_confine_calls(e) : files;
    if (files == QN_EUNSUPPORTED)
        *lacking = calls == QN_EUNSUPPORTED ? "files and calls" : "files";
    else if (calls == QN_EUNSUPPORTED)
        *lacking = "calls";
    return calls == QN_EUNSUPPORTED ? QN_OK : calls;
}
