/* Preloaded into quinced by tests/http/test_named_files.py: a disk that may stop responding to
 * realpath, stat and access. Paths below QUINCE_TEST_DISK/disk are on it. Such a path is appended
 * to QUINCE_TEST_DISK/looks, as a line, each time it is looked at; while QUINCE_TEST_DISK/hangs
 * exists, the look does not return. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PAUSE_NS = 5000000 };

static void look(const char *path)
{
    const char *folder = getenv("QUINCE_TEST_DISK");
    size_t n = folder ? strlen(folder) : 0;
    char file[PATH_SIZE];
    if (!folder || strncmp(path, folder, n) != 0 || strncmp(path + n, "/disk/", 6) != 0)
        return;
    snprintf(file, sizeof file, "%s/looks", folder);
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dprintf(fd, "%s\n", path) < 0)
        abort();
    close(fd);
    snprintf(file, sizeof file, "%s/hangs", folder);
    while (faccessat(AT_FDCWD, file, F_OK, 0) == 0)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    static char *(*next)(const char *restrict, char *restrict);
    look(path);
    if (!next) /* on x86-64 there is an older version, too, which dlsym may find */
        *(void **)&next = dlvsym(RTLD_NEXT, "realpath", "GLIBC_2.3");
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "realpath");
    return next(path, resolved);
}

int stat(const char *restrict path, struct stat *restrict st)
{
    look(path);
    return fstatat(AT_FDCWD, path, st, 0);
}

int access(const char *path, int mode)
{
    look(path);
    return faccessat(AT_FDCWD, path, mode, 0);
}
