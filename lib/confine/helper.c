/* See helper.h. */
#include "confine/helper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static qn_err limit(int what, int64_t most, struct qn_error *e)
{
    struct rlimit l = {(rlim_t)most, (rlim_t)most}, now;
    if (!getrlimit((__rlimit_resource_t)what, &now) && now.rlim_max < l.rlim_max)
        l.rlim_cur = l.rlim_max = now.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &l) ? qn_fail_errno(e, "set a limit") : QN_OK;
}

static qn_err set_limits(const struct qn_confine_limits *l, struct qn_error *e)
{
    qn_err err = limit(RLIMIT_CORE, 0, e);
    if (!err)
        err = limit(RLIMIT_NOFILE, l->descriptors, e);
    if (!err)
        err = limit(RLIMIT_FSIZE, l->file_bytes, e);
    if (!err && l->cpu_s)
        err = limit(RLIMIT_CPU, l->cpu_s, e);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (!err)
        err = limit(RLIMIT_AS, l->address_bytes, e);
    if (!err)
        err = limit(RLIMIT_DATA, l->memory_bytes, e);
#endif
    return err;
}

qn_err qn_confine_helper(const struct qn_confine_path *paths, size_t n,
                         const struct qn_confine_limits *limits, const char **lacking,
                         struct qn_error *e)
{
    *lacking = "";
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
        return qn_fail_errno(e, "set the signal for the server's end");
    qn_err err = set_limits(limits, e);
    qn_err files = err ? err : qn_confine_files(paths, n, e);
    qn_err calls = files == QN_OK || files == QN_EUNSUPPORTED ? qn_confine_calls(e) : files;
    if (files == QN_EUNSUPPORTED)
        *lacking = calls == QN_EUNSUPPORTED ? "files and calls" : "files";
    else if (calls == QN_EUNSUPPORTED)
        *lacking = "calls";
    if (calls && calls != QN_EUNSUPPORTED)
        return calls;
    if (e) /* an unsupported restriction is reported in *lacking, not as an error */
        *e = (struct qn_error){0};
    return QN_OK;
}
