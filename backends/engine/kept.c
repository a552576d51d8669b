/* See kept.h. Reads, writes and removes the cache files of packed weights. */
#include "engine/kept_private.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    BEHIND = 4,       /* pieces that are being written to the disk while further ones follow */
    DISK_SHARE = 20,  /* a twentieth of the disk stays free, and ... */
    FILES_MAX = 4096, /* limit of files in the folder that are considered */
    TABLE_BYTES_MAX = 16 << 20
};
static const int64_t disk_free_least = INT64_C(2) << 30; /* ... at least this many bytes */

static const char ending[] = ".laid", unfinished[] = ".laid.new";

/* ---- reading ---- */

/* Maps the file if it belongs to the user and no other user can write it. */
static qn_err map_file(struct qn_kept_weights *k, struct qn_error *e)
{
    struct stat st;
    int fd = open(k->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? qn_fail(e, QN_ENOTFOUND, "none yet") : qn_fail_errno(e, "open");
    qn_err err = QN_OK;
    if (fstat(fd, &st) != 0)
        err = qn_fail_errno(e, "stat");
    else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        err = qn_fail(e, QN_EFORMAT, "not a file that only its user can write");
    else if (st.st_size <= 0)
        err = qn_fail(e, QN_EFORMAT, "empty");
    void *p = MAP_FAILED;
    if (!err) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            err = qn_fail_errno(e, "map");
    }
    if (!err) {
        k->map = p;
        k->map_bytes = (size_t)st.st_size;
        k->dev = st.st_dev;
        k->ino = st.st_ino;
        madvise(p, k->map_bytes, MADV_HUGEPAGE); /* a hint; failure is harmless */
        err = qn_laidout_parse(p, k->map_bytes, k->key, &k->have, e);
        if (!err)
            futimens(fd, (const struct timespec[]){{0, UTIME_NOW}, {0, UTIME_NOW}}); /* used now */
    }
    close(fd);
    return err;
}

static void unmap_file(struct qn_kept_weights *k)
{
    qn_laidout_deinit(&k->have);
    if (k->map)
        munmap(k->map, k->map_bytes);
    k->map = NULL;
}

static char *file_name(const struct qn_kept_weights *k, uint64_t name, const char *end)
{
    struct qn_buf b;
    qn_buf_init(&b, strlen(k->folder) + 64);
    qn_buf_fmt(&b, "%s/%016" PRIx64 "%s", k->folder, name, end);
    return qn_buf_take(&b);
}

struct qn_kept_weights *qn_kept_new(const char *folder, int64_t limit_bytes, const char *path,
                                    uint64_t identity)
{
    struct qn_kept_weights *k = qn_xcalloc(1, sizeof *k);
    struct qn_error e = {0};
    const uint64_t name = qn_hash_bytes(1, path, strlen(path));
    k->folder = qn_xstrdup(folder);
    k->file = file_name(k, name, ending);
    k->new_file = file_name(k, name, unfinished);
    k->limit = limit_bytes;
    k->key = identity;
    qn_err err = map_file(k, &e);
    if (err)
        unmap_file(k);
    if (err && err != QN_ENOTFOUND)
        qn_warn("engine", "laid_out=\"%s\" not used: %s", k->file, e.message);
    return k;
}

const void *qn_kept_find(struct qn_kept_weights *k, struct qn_laidout_matrix *which)
{
    const struct qn_laidout_matrix *m = qn_laidout_find(&k->have, which);
    if (!m)
        return NULL;
    which->bytes = m->bytes;
    which->crc = m->crc;
    return (const char *)k->map + m->at;
}

/* ---- writing ---- */

void qn_kept_add(struct qn_kept_weights *k, const struct qn_laidout_matrix *which, const void *data,
                 bool found)
{
    if (k->n == k->cap) {
        k->cap = k->cap ? 2 * k->cap : 256;
        k->matrix = qn_xrealloc(k->matrix, k->cap * sizeof *k->matrix);
        k->data = qn_xrealloc(k->data, k->cap * sizeof *k->data);
        k->state = qn_xrealloc(k->state, k->cap * sizeof *k->state);
    }
    k->matrix[k->n] = *which;
    k->state[k->n] = found ? QN_KEPT_FOUND : QN_KEPT_MADE;
    k->data[k->n++] = data;
    k->missing |= !found;
}

struct other {
    char name[64];
    int64_t bytes, used_s;
};

static int longest_ago_first(const void *a, const void *b)
{
    const struct other *x = a, *y = b;
    return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* Whether the open file is still the one with this name. A lock is meaningful only if so: the
 * process that held it before may have renamed the file, which is then in use under its final name.
 */
static bool has_name(int fd, int folder, const char *name)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

/* Removes the file of an interrupted write; a process that is still writing holds the file's lock.
 */
static void remove_unfinished(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, folder, name))
        unlinkat(folder, name, 0);
    close(fd);
}

/* Lists the other models' files, *n of them. The caller frees the array. */
static struct other *list_others(const struct qn_kept_weights *k, DIR *dir, size_t *n)
{
    struct other *v = qn_xcalloc(FILES_MAX, sizeof *v);
    const int folder = dirfd(dir);
    *n = 0;
    for (struct dirent *d; (d = readdir(dir)) && *n < FILES_MAX;) {
        struct stat st;
        if (qn_str_ends(d->d_name, unfinished))
            remove_unfinished(folder, d->d_name);
        if (!qn_str_ends(d->d_name, ending) || strlen(d->d_name) >= sizeof v->name ||
            qn_str_eq(d->d_name, qn_path_base(k->file)) ||
            fstatat(folder, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        strcpy(v[*n].name, d->d_name);
        v[*n].bytes = st.st_size;
        v[(*n)++].used_s = st.st_mtim.tv_sec;
    }
    return v;
}

/* Removes the least recently used files until `bytes` more fit the limit. */
static qn_err make_room(struct qn_kept_weights *k, int64_t bytes, struct qn_error *e)
{
    if (bytes > k->limit)
        return qn_fail(e, QN_ELIMIT, "%" PRId64 " MiB exceed the cache's limit of %" PRId64 " MiB",
                       bytes >> 20, k->limit >> 20);
    DIR *dir = opendir(k->folder);
    if (!dir)
        return qn_fail_errno(e, "open %s", k->folder);
    size_t n;
    struct other *v = list_others(k, dir, &n);
    int64_t all = bytes;
    for (size_t i = 0; i < n; i++)
        all += v[i].bytes;
    qsort(v, n, sizeof *v, longest_ago_first);
    for (size_t i = 0; i < n && all > k->limit; i++) {
        if (unlinkat(dirfd(dir), v[i].name, 0) != 0)
            continue;
        all -= v[i].bytes;
        qn_info("engine", "laid_out=\"%s/%s\" removed: least recently used", k->folder, v[i].name);
    }
    free(v);
    closedir(dir);
    return all <= k->limit ? QN_OK
                           : qn_fail(e, QN_ELIMIT, "files of %s cannot be removed", k->folder);
}

static qn_err check_disk(const struct qn_kept_weights *k, int64_t bytes, struct qn_error *e)
{
    struct statvfs fs;
    if (statvfs(k->folder, &fs) != 0)
        return qn_fail_errno(e, "%s", k->folder);
    const double block = (double)fs.f_frsize, left = (double)fs.f_bavail * block - (double)bytes;
    if (left < (double)disk_free_least || left < (double)fs.f_blocks * block / DISK_SHARE)
        return qn_fail(e, QN_ELIMIT, "too little free disk space");
    return QN_OK;
}

/* Writes n bytes. crc: updated with the bytes written. */
static qn_err put(const struct qn_kept_weights *k, int fd, const void *data, size_t n, uint64_t at,
                  uint32_t *crc, struct qn_error *e)
{
    for (const char *p = data; n > 0;) {
        if (atomic_load(&k->stop))
            return qn_fail(e, QN_ECANCELLED, "stopped");
        ssize_t done = pwrite(fd, p, n < QN_KEPT_PIECE ? n : QN_KEPT_PIECE, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return qn_fail_errno(e, "write");
        /* Small pieces, so that the final sync is short and other programs' disk access is not
         * delayed. */
        sync_file_range(fd, (off_t)at, done, SYNC_FILE_RANGE_WRITE);
        if (at >= (uint64_t)BEHIND * QN_KEPT_PIECE)
            sync_file_range(fd, (off_t)(at - (uint64_t)BEHIND * QN_KEPT_PIECE), done,
                            SYNC_FILE_RANGE_WAIT_BEFORE);
        *crc = qn_crc32c(*crc, p, (size_t)done);
        p += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return QN_OK;
}

/* Writes a matrix at its offset; a matrix that was loaded from the old file is verified at the same
 * time. */
static qn_err put_matrix(struct qn_kept_weights *k, int fd, uint32_t i, struct qn_error *e)
{
    struct qn_laidout_matrix *m = &k->matrix[i];
    uint32_t crc = 0;
    qn_err err = put(k, fd, k->data[i], (size_t)m->bytes, m->at, &crc, e);
    if (!err && k->state[i] == QN_KEPT_FOUND && crc != m->crc) {
        qn_kept_blame(k, i);
        return qn_fail(e, QN_EFORMAT, "a matrix from the old file is damaged");
    }
    m->crc = crc;
    return err;
}

/* Writes everything into the locked file fd. The header is written last, after the rest is on the
 * disk: an incomplete file has no header and is never used. */
static qn_err write_all(struct qn_kept_weights *k, int fd, struct qn_error *e)
{
    struct qn_buf begin;
    qn_buf_init(&begin, TABLE_BYTES_MAX);
    const uint64_t size = qn_laidout_place(k->matrix, k->n);
    uint32_t crc = 0;
    qn_err err = make_room(k, (int64_t)size, e);
    if (!err)
        err = check_disk(k, (int64_t)size, e);
    if (!err && ftruncate(fd, 0) != 0)
        err = qn_fail_errno(e, "empty");
    if (!err && fallocate(fd, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP)
        err = qn_fail_errno(e, "reserve %" PRIu64 " MiB", size >> 20);
    if (!err && ftruncate(fd, (off_t)size) != 0)
        err = qn_fail_errno(e, "size");
    for (uint32_t i = 0; i < k->n && !err; i++)
        err = put_matrix(k, fd, i, e);
    if (!err && fdatasync(fd) != 0)
        err = qn_fail_errno(e, "sync");
    if (!err) {
        qn_laidout_begin(k->matrix, k->n, k->key, &begin);
        err = put(k, fd, begin.data, begin.len, 0, &crc, e);
    }
    qn_buf_deinit(&begin);
    if (!err && fsync(fd) != 0)
        err = qn_fail_errno(e, "sync");
    if (!err && !has_name(fd, AT_FDCWD, k->new_file))
        err = qn_fail(e, QN_EBUSY, "another process replaced it");
    if (!err && rename(k->new_file, k->file) != 0)
        err = qn_fail_errno(e, "rename");
    if (!err)
        qn_info("engine", "laid_out=\"%s\" mib=%" PRIu64 " written", k->file, size >> 20);
    return err;
}

static qn_err write_file(struct qn_kept_weights *k, struct qn_error *e)
{
    qn_err err = qn_mkdirs(k->folder, 0700, e);
    if (err)
        return err;
    int fd = open(k->new_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return qn_fail_errno(e, "create");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !has_name(fd, AT_FDCWD, k->new_file)) {
        close(fd);
        return qn_fail(e, QN_EBUSY, "another process writes it");
    }
    err = write_all(k, fd, e);
    if (err && has_name(fd, AT_FDCWD, k->new_file))
        unlink(k->new_file);
    close(fd);
    return err;
}

static void write_new(struct qn_kept_weights *k)
{
    struct qn_error e = {0};
    int64_t start = qn_now_us();
    qn_err err = write_file(k, &e);
    if (err == QN_EBUSY || err == QN_ECANCELLED)
        qn_debug("engine", "laid_out=\"%s\" not written: %s", k->file, e.message);
    else if (err)
        qn_warn("engine", "laid_out=\"%s\" not written: %s", k->file, e.message);
    else
        qn_debug("engine", "laid_out ms=%" PRId64, (qn_now_us() - start) / 1000);
}

static void *work_in_background(void *arg)
{
    struct qn_kept_weights *k = arg;
    setpriority(PRIO_PROCESS, (id_t)gettid(), 19); /* lowest priority for this thread */
    if (k->missing)
        write_new(k);
    qn_kept_examine(k);
    return NULL;
}

void qn_kept_write(struct qn_kept_weights *k)
{
    if (k->running || k->n == 0 || k->n > QN_LAIDOUT_MATRICES_MAX)
        return;
    sigset_t all, old;
    sigfillset(&all); /* signals are handled by the program's own threads */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&k->thread, NULL, work_in_background, k);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    k->running = rc == 0;
    if (rc)
        qn_warn("engine", "laid_out=\"%s\" not written: %s", k->file, strerror(rc));
}

void qn_kept_wait(struct qn_kept_weights *k)
{
    if (k->running)
        pthread_join(k->thread, NULL);
    k->running = false;
}

void qn_kept_free(struct qn_kept_weights *k)
{
    if (!k)
        return;
    atomic_store(&k->stop, true);
    qn_kept_wait(k);
    unmap_file(k);
    free(k->matrix);
    free(k->data);
    free(k->state);
    free(k->folder);
    free(k->file);
    free(k->new_file);
    free(k);
}
