/* One file of a download on the disk: opening, locking, allocating, writing, checksum and
 * completion. Invariant: a byte is recorded in the ranges only after it has been written. */
#include "registry/download_private.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

char *dl_ranges_path(const char *partial)
{
    struct qn_buf b;
    qn_buf_init(&b, PATH_MAX + 16);
    qn_buf_fmt(&b, "%s.ranges", partial);
    return qn_buf_take(&b);
}

static bool end_errno(struct dl *dl, struct dl_file *f, const char *what)
{
    struct qn_error why;
    qn_fail_errno(&why, "%s %s", what, f->pub->partial);
    dl_end_with(dl, f, QN_FETCH_LOCAL, &why);
    return false;
}

/* The file system of a path: its device number and free bytes. */
static bool disk_of(const char *path, dev_t *dev, int64_t *free_bytes)
{
    const char *slash = strrchr(path, '/');
    char *dir =
        slash ? qn_xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : qn_xstrdup(".");
    struct stat st;
    struct statvfs vfs;
    bool ok = stat(dir, &st) == 0 && statvfs(dir, &vfs) == 0;
    free(dir);
    if (ok) {
        *dev = st.st_dev;
        *free_bytes = (int64_t)vfs.f_bavail * (int64_t)vfs.f_frsize;
    }
    return ok;
}

/* Bytes that a file still needs on its disk. */
static int64_t missing(const struct dl_file *f)
{
    struct stat st;
    int64_t have = stat(f->pub->partial, &st) == 0 ? (int64_t)st.st_blocks * 512 : 0;
    if (f->state == DL_FULL || f->state == DL_COMPLETE || f->pub->size_bytes <= have)
        return 0;
    return f->pub->size_bytes - have;
}

/* The bytes that all unfinished files on f's disk still need, and the disk's free bytes. */
static bool need_beside(struct dl *dl, const struct dl_file *f, int64_t *need, int64_t *room)
{
    dev_t here, there;
    int64_t other;
    *need = 0;
    if (!disk_of(f->pub->partial, &here, room))
        return false;
    for (size_t i = 0; i < dl->n; i++)
        if (missing(&dl->files[i]) && disk_of(dl->files[i].pub->partial, &there, &other) &&
            here == there)
            *need += missing(&dl->files[i]);
    return true;
}

static void end_full(struct dl *dl, const struct dl_file *f, int64_t need, int64_t room)
{
    if (dl->watch) {
        dl->watch->need_bytes = need;
        dl->watch->free_bytes = room;
    }
    dl_end(dl, f, QN_FETCH_DISK_FULL, QN_EIO,
           "the disk is full: %.1f MB more are needed beside %.300s and %.1f MB are free: make "
           "room, and the download resumes",
           (double)need / 1e6, f->pub->partial, (double)room / 1e6);
}

/* Ends the call after a write error, described by `why`; if the disk has too little space left,
 * reports that instead. */
static void end_local(struct dl *dl, const struct dl_file *f, const struct qn_error *why)
{
    int64_t need, room;
    if (need_beside(dl, f, &need, &room) && room < DL_DISK_LOW)
        end_full(dl, f, need, room);
    else
        dl_end_with(dl, f, QN_FETCH_LOCAL, why);
}

bool dl_disk_fits(struct dl *dl)
{
    dev_t seen = 0, dev;
    int64_t need, room;
    bool any = false;
    for (size_t i = dl->first; i < dl->n; i++) {
        /* Usually all files go to one disk: consecutive files on the same disk are checked
         * together. */
        if (!missing(&dl->files[i]) || !disk_of(dl->files[i].pub->partial, &dev, &room) ||
            (any && dev == seen))
            continue;
        any = true;
        seen = dev;
        if (need_beside(dl, &dl->files[i], &need, &room) && need > room) {
            end_full(dl, &dl->files[i], need, room);
            return false;
        }
    }
    return true;
}

static enum qn_verify_kind kind_of(const struct dl_file *f)
{
    bool sha256 = f->pub->sha256 && f->pub->sha256[0];
    return !sha256 && f->pub->git_sha1 && f->pub->git_sha1[0] ? QN_VERIFY_GIT_SHA1
                                                              : QN_VERIFY_SHA256;
}

/* Starts the checksum, including the bytes already present. */
static bool begin_sum(struct dl *dl, struct dl_file *f)
{
    struct qn_error why;
    if (qn_verify_begin(dl->verify, f->fd, f->pub->size_bytes, kind_of(f), &f->sum, &why)) {
        dl_end_with(dl, f, QN_FETCH_LOCAL, &why);
        return false;
    }
    f->synced = 0;
    return true;
}

static void adopt(struct dl *dl, struct dl_file *f, struct qn_ranges *r)
{
    f->ranges = r;
    f->claimed = qn_xcalloc(qn_ranges_count(r) + 1, sizeof *f->claimed);
    f->pub->size_bytes = qn_ranges_size(r);
    f->pub->done_bytes = qn_ranges_total(r);
    if (f->best < f->pub->done_bytes)
        f->best = f->pub->done_bytes;
    snprintf(f->pub->etag, sizeof f->pub->etag, "%s", qn_ranges_etag(r));
    if (begin_sum(dl, f))
        dl_file_full(dl, f);
}

void dl_file_full(struct dl *dl, struct dl_file *f)
{
    int64_t front = qn_ranges_front(f->ranges);
    qn_verify_front(dl->verify, f->sum, front);
    if (front == f->pub->size_bytes && f->running == 0)
        f->state = DL_FULL;
}

void dl_file_open(struct dl *dl, struct dl_file *f)
{
    struct qn_ranges *r = NULL;
    struct qn_error why;
    struct stat st, there;
    f->state = DL_OPEN;
    dl->open_count++;
    f->ranges_path = dl_ranges_path(f->pub->partial);
    f->fd = open(f->pub->partial, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (f->fd < 0 || fstat(f->fd, &st)) {
        end_errno(dl, f, "open");
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        dl_end(dl, f, QN_FETCH_LOCAL, QN_ECONFLICT, "%s is not a regular file", f->pub->partial);
        return;
    }
    /* The previous holder of the lock may have finished the file and moved it; then the path is
     * another file or none. */
    if (flock(f->fd, LOCK_EX | LOCK_NB) || fstat(f->fd, &st) || lstat(f->pub->partial, &there) ||
        there.st_dev != st.st_dev || there.st_ino != st.st_ino) {
        dl_end(dl, f, QN_FETCH_LOCAL, QN_EBUSY, "%s is being downloaded by another program",
               f->pub->partial);
        return;
    }
    qn_err err = qn_ranges_open(f->ranges_path, &r, &why);
    if (!err && (st.st_size != qn_ranges_size(r) ||
                 (f->insisted && qn_ranges_size(r) != f->pub->size_bytes))) {
        qn_ranges_close(r);
        r = NULL;
        err = qn_fail(&why, QN_EFORMAT, "%s: its size is not what it was", f->pub->partial);
    }
    if (err == QN_EFORMAT)
        qn_warn("download", "the bytes received so far cannot be verified, starting again: %s",
                why.message);
    if (!err)
        adopt(dl, f, r);
    else if (err == QN_EIO)
        dl_end_with(dl, f, QN_FETCH_LOCAL, &why);
    else if (f->insisted && f->pub->size_bytes == 0)
        dl_file_lay_out(dl, f, 0, "");
    else
        f->pub->done_bytes = 0;
}

static bool cut(struct dl *dl, struct dl_file *f, int64_t size)
{
    /* Truncated to 0 first, so that old contents are gone and the file has no allocated blocks. */
    if (ftruncate(f->fd, 0) || ftruncate(f->fd, (off_t)size))
        return end_errno(dl, f, "change the size of");
    return true;
}

bool dl_file_lay_out(struct dl *dl, struct dl_file *f, int64_t size, const char *etag)
{
    bool learned = f->pub->size_bytes < 0;
    struct qn_ranges *r;
    struct qn_error why;
    if (size > QN_FETCH_SIZE_MAX) {
        dl_end(dl, f, QN_FETCH_DAMAGED, QN_ELIMIT, "%s: %lld bytes are more than can be downloaded",
               f->pub->partial, (long long)size);
        return false;
    }
    f->pub->size_bytes = size;
    if (!cut(dl, f, size) || (learned && !dl_disk_fits(dl)))
        return false;
    if (qn_ranges_create(f->ranges_path, size, etag, &r, &why)) {
        end_local(dl, f, &why);
        return false;
    }
    adopt(dl, f, r);
    return !dl->err;
}

bool dl_file_lay_out_untold(struct dl *dl, struct dl_file *f, int64_t *limit)
{
    dev_t dev;
    int64_t room = 0;
    if (!cut(dl, f, 0) || !disk_of(f->pub->partial, &dev, &room))
        return !dl->err && end_errno(dl, f, "find the free space beside");
    f->untold = true;
    room -= room / 20; /* a body of unknown length must not fill the disk */
    *limit = room < DL_UNTOLD_MAX ? room : DL_UNTOLD_MAX;
    return true;
}

void dl_file_untold_end(struct dl *dl, struct dl_file *f, int64_t size)
{
    f->pub->size_bytes = size;
    if (!begin_sum(dl, f))
        return;
    qn_verify_front(dl->verify, f->sum, size);
    f->state = DL_FULL;
}

/* Resets the file to open and empty. */
static void forget(struct dl *dl, struct dl_file *f)
{
    qn_verify_end(dl->verify, f->sum);
    qn_ranges_close(f->ranges);
    free(f->claimed);
    f->sum = NULL;
    f->ranges = NULL;
    f->claimed = NULL;
}

void dl_file_anew(struct dl *dl, struct dl_file *f, const struct dl_piece *keep)
{
    for (size_t i = 0; i < dl->pieces_n; i++) {
        struct dl_piece *p = &dl->pieces[i];
        if (p->file == f && p != keep) {
            p->verdict = DL_STALE;
            p->held = 0;
            p->begin = p->end = p->pos = 0;
        }
    }
    forget(dl, f);
    (void)unlink(f->ranges_path); /* a leftover matches no partial and is rejected */
    free(f->final_url);
    f->final_url = NULL;
    f->probed = f->no_ranges = f->untold = f->dry = false;
    f->state = DL_OPEN;
    f->pub->done_bytes = 0;
    f->pub->etag[0] = '\0';
    if (!f->insisted)
        f->pub->size_bytes = -1;
}

bool dl_file_write(struct dl *dl, struct dl_file *f, int64_t at, const unsigned char *data,
                   size_t n)
{
    struct qn_error why;
    size_t wrote = 0;
    int failed = 0;
    while (wrote < n && !failed) {
        ssize_t got = pwrite(f->fd, data + wrote, n - wrote, (off_t)at + (off_t)wrote);
        if (got > 0)
            wrote += (size_t)got;
        else if (got == 0 || errno != EINTR)
            failed = got == 0 ? EIO : errno;
    }
    f->pub->done_bytes += (int64_t)wrote;
    if (f->pub->done_bytes > f->best) {
        f->gained += f->pub->done_bytes - f->best;
        f->best = f->pub->done_bytes;
    }
    if (f->ranges && wrote && qn_ranges_add(f->ranges, at, (int64_t)wrote, &why)) {
        end_local(dl, f, &why);
        return false;
    }
    if (f->ranges)
        qn_verify_front(dl->verify, f->sum, qn_ranges_front(f->ranges));
    if (failed == ENOSPC || failed == EDQUOT) {
        int64_t need = 0, room = 0;
        need_beside(dl, f, &need, &room);
        if (need < (int64_t)(n - wrote))
            need = (int64_t)(n - wrote);
        end_full(dl, f, need, room);
    } else if (failed) {
        errno = failed;
        end_errno(dl, f, "write");
    }
    return !failed;
}

/* The expected checksum, or "". */
static const char *expected(const struct dl_file *f)
{
    const char *s = kind_of(f) == QN_VERIFY_SHA256 ? f->pub->sha256 : f->pub->git_sha1;
    return s ? s : "";
}

static void handed_over(struct dl *dl, struct dl_file *f, const char *sum)
{
    struct qn_error why = {0};
    snprintf(f->pub->sum, sizeof f->pub->sum, "%s", sum);
    if (dl->watch && dl->watch->complete) {
        if (dl->watch->complete(dl->watch->ctx, (size_t)(f - dl->files), &why)) {
            dl_end_with(dl, f, QN_FETCH_LOCAL, &why);
            return;
        }
        (void)unlink(f->ranges_path); /* a leftover matches no partial and is rejected */
    }
    dl_file_close(dl, f);
    f->state = DL_COMPLETE;
    f->pub->complete = true;
}

void dl_file_check(struct dl *dl, struct dl_file *f)
{
    char sum[QN_VERIFY_HEX_MAX + 1], shown[QN_WEB_SHOWN_MAX];
    struct qn_error why;
    int64_t synced;
    qn_err err;
    if (!f->sum)
        return;
    bool done = qn_verify_poll(dl->verify, f->sum, &synced, sum, &err, &why);
    if (done && err) {
        end_local(dl, f, &why);
        return;
    }
    if (f->ranges && synced > f->synced) {
        f->synced = synced;
        if (qn_ranges_synced(f->ranges, synced, &why))
            end_local(dl, f, &why);
    }
    if (!done || f->state != DL_FULL || dl->err)
        return;
    if (!expected(f)[0] || qn_str_ieq(sum, expected(f))) {
        handed_over(dl, f, sum);
        return;
    }
    qn_web_shown(f->pub->url, shown);
    qn_warn("download", "url=%s sum=%s expected=%s again=%d", shown, sum, expected(f),
            !f->second_time);
    bool again = !f->second_time;
    f->second_time = true;
    dl_file_anew(dl, f, NULL);
    if (!again) {
        dl_end(dl, f, QN_FETCH_DAMAGED, QN_EFORMAT,
               "%s: its checksum is %s and should be %s, twice: the file at the hub is damaged, or "
               "something on the way changes it",
               shown, sum, expected(f));
        (void)unlink(f->pub->partial);
    }
}

void dl_file_close(struct dl *dl, struct dl_file *f)
{
    if (f->state == DL_WAITING || f->state == DL_COMPLETE)
        return;
    forget(dl, f);
    /* Unlocked at once, because the thread that syncs may keep the file open for longer. */
    if (f->fd >= 0) {
        flock(f->fd, LOCK_UN);
        close(f->fd);
    }
    f->fd = -1;
    free(f->ranges_path);
    free(f->final_url);
    f->ranges_path = f->final_url = NULL;
    dl->open_count--;
}
