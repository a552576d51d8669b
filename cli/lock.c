/* See lock.h. */
#include "cli/lock.h"

#include "base/buf.h"
#include "base/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MAX = 256 };

/* Returns the process that holds the file's record lock; 0: none. The query takes no lock, because
 * a server that starts at this moment must not find its folder in use. */
static pid_t holder_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    pid_t pid =
        fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
    if (fd >= 0)
        close(fd);
    return pid;
}

bool qn_lock_read(const char *data_dir, struct qn_lock *out)
{
    char *path = qn_path_join(data_dir, "quinced.lock");
    struct qn_buf text;
    int port = 0;
    pid_t pid = holder_of(path);
    qn_buf_init(&text, FILE_MAX);
    bool there = pid > 1 && qn_file_read(path, &text, NULL) == QN_OK &&
                 sscanf(qn_buf_cstr(&text), "port %5d", &port) == 1 && port > 0 && port <= 65535;
    if (there)
        *out = (struct qn_lock){.pid = pid, .port = port};
    qn_buf_deinit(&text);
    free(path);
    return there;
}
