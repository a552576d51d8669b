/* See limits.h. */
#include "mcp/limits.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

bool qn_limits_set(const struct qn_limits *l)
{
    const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } limits[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_NOFILE, (rlim_t)l->descriptors},
        {RLIMIT_FSIZE, (rlim_t)l->file_bytes},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        {RLIMIT_DATA, (rlim_t)l->memory_bytes},
#endif
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now, set = {limits[i].most, limits[i].most};
        if (!getrlimit(limits[i].what, &now) && now.rlim_max < set.rlim_max)
            set.rlim_cur = set.rlim_max = now.rlim_max;
        if (setrlimit(limits[i].what, &set))
            return false;
    }
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "500", 3);
        (void)written; /* optional: an error is ignored */
        close(fd);
    }
    return true;
}
