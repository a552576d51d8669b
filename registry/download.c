/* The main loop of the download engine: see download.h. Files are taken in order. An idle
 * connection gets the first unassigned chunks of the first file that has any, so bytes arrive
 * nearly in order and the checksum is ready soon after the last one. */
#include "registry/download.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "registry/download_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

qn_err dl_end_with(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end,
                   const struct qn_error *why)
{
    if (dl->err)
        return dl->err;
    dl->err = why->code;
    if (dl->error)
        *dl->error = *why;
    if (dl->watch) {
        dl->watch->end = end;
        dl->watch->failed_file = f ? (size_t)(f - dl->files) : dl->n;
    }
    return dl->err;
}

qn_err dl_end(struct dl *dl, const struct dl_file *f, enum qn_fetch_end end, qn_err code,
              const char *fmt, ...)
{
    char text[QN_ERROR_MESSAGE_MAX];
    struct qn_error why;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    qn_fail(&why, code, "%s", text);
    return dl_end_with(dl, f, end, &why);
}

/* Chooses the next bytes of an open file that no request is fetching. */
static bool next_span(const struct dl *dl, struct dl_file *f, int64_t *begin, int64_t *end)
{
    if (!f->ranges) {
        if (f->running)
            return false;
        *begin = 0;
        *end = f->pub->size_bytes >= 0 && f->pub->size_bytes < QN_RANGES_CHUNK ? f->pub->size_bytes
                                                                               : QN_RANGES_CHUNK;
        return true;
    }
    /* Only one request until the server has shown that it supports ranges. */
    if (f->dry || (f->running && (f->no_ranges || !f->probed)))
        return false;
    size_t n = qn_ranges_count(f->ranges), i = 0, left = 0;
    for (size_t k = n; k-- > 0;)
        if (!f->claimed[k] && qn_ranges_done(f->ranges, k) < qn_ranges_length(f->ranges, k)) {
            i = k;
            left++;
        }
    f->dry = left == 0;
    if (!left)
        return false;
    /* Long requests while many chunks are left, short ones at the end, so that all connections
     * finish at about the same time. */
    size_t span = left / (2 * dl->limit);
    span = span < 1 ? 1 : span > DL_SPAN_MAX ? DL_SPAN_MAX : span;
    *begin = qn_ranges_begin(f->ranges, i) + qn_ranges_done(f->ranges, i);
    size_t last = i;
    while (last + 1 < n && last + 1 < i + span && !f->claimed[last + 1] &&
           qn_ranges_done(f->ranges, last + 1) == 0)
        last++;
    *end = qn_ranges_begin(f->ranges, last) + qn_ranges_length(f->ranges, last);
    return true;
}

static struct dl_piece *idle_piece(struct dl *dl)
{
    for (size_t i = 0; i < dl->pieces_n; i++)
        if (!dl->pieces[i].file)
            return &dl->pieces[i];
    return NULL;
}

/* Assigns work to one idle connection. False: there is no work or no idle connection. */
static bool start_one(struct dl *dl, int64_t now)
{
    struct dl_piece *p = idle_piece(dl);
    int64_t begin, end;
    if (!p || dl->running >= dl->limit || now < dl->not_before_ms)
        return false;
    for (size_t i = dl->first; i < dl->n && !dl->err; i++) {
        struct dl_file *f = &dl->files[i];
        if (f->state == DL_WAITING) {
            if (dl->open_count >= dl->open_max)
                return false;
            dl_file_open(dl, f);
            dl->opened = i + 1;
            if (dl->err)
                return false;
        }
        if (f->state != DL_OPEN || now < f->not_before_ms || !next_span(dl, f, &begin, &end))
            continue;
        dl_piece_begin(p, f, begin, end);
        return true;
    }
    return false;
}

/* Handles transfers that curl has finished. True: there was at least one. */
static bool reap(struct dl *dl)
{
    int left;
    bool any = false;
    for (CURLMsg *msg; !dl->err && (msg = qn_curl.multi_info_read(dl->multi, &left));) {
        char *p = NULL;
        CURLcode code = msg->data.result;
        if (msg->msg != CURLMSG_DONE)
            continue;
        qn_curl.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &p);
        dl_piece_finish((struct dl_piece *)(void *)p, code);
        any = true;
    }
    for (size_t i = 0; i < dl->pieces_n; i++)
        if (dl->pieces[i].file && dl->pieces[i].verdict == DL_STALE) {
            dl_piece_drop(&dl->pieces[i]);
            any = true;
        }
    return any;
}

/* Flushes buffers that have held bytes for too long, and ends connections that have stalled. */
static void look_at_pieces(struct dl *dl, int64_t now)
{
    int stall_s = dl->web->stall_s > 0 ? dl->web->stall_s : QN_WEB_STALL_S;
    for (size_t i = 0; i < dl->pieces_n && !dl->err; i++) {
        struct dl_piece *p = &dl->pieces[i];
        if (!p->file || !dl_piece_flush(p) || now - p->window_ms < stall_s * 1000LL)
            continue;
        if (p->window_bytes < (int64_t)QN_WEB_STALL_RATE * stall_s) {
            snprintf(p->why, sizeof p->why, "less than %d bytes a second came for %d s",
                     QN_WEB_STALL_RATE, stall_s);
            dl_piece_finish(p, CURLE_OPERATION_TIMEDOUT);
        } else {
            p->window_ms = now;
            p->window_bytes = 0;
        }
    }
}

static void progress(struct dl *dl, struct qn_fetch_file *files)
{
    for (size_t i = dl->first; i < dl->opened; i++)
        files[i].whole_only = dl->files[i].no_ranges || dl->files[i].untold;
    if (dl->watch && dl->watch->progress)
        dl->watch->progress(dl->watch->ctx, files, dl->n);
}

/* Checks files that wait for their checksums. True: all files are complete. */
static bool check_files(struct dl *dl)
{
    for (size_t i = dl->first; i < dl->opened && !dl->err; i++)
        if (dl->files[i].state == DL_OPEN || dl->files[i].state == DL_FULL)
            dl_file_check(dl, &dl->files[i]);
    while (dl->first < dl->n && dl->files[dl->first].state == DL_COMPLETE)
        dl->first++;
    return dl->first == dl->n;
}

/* Pauses all transfers while the rate limit is used up; this pause does not count as a stall. */
static void hold(struct dl *dl, int64_t now)
{
    int64_t ms = dl->hold_until_ms - now;
    if (ms > DL_TICK_MS)
        ms = DL_TICK_MS;
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
    for (size_t i = 0; i < dl->pieces_n; i++)
        dl->pieces[i].window_ms += ms;
}

static void resume(struct dl *dl)
{
    for (size_t i = 0; i < dl->pieces_n; i++)
        if (dl->pieces[i].file && dl->pieces[i].paused) {
            dl->pieces[i].paused = false;
            qn_curl.easy_pause(dl->pieces[i].easy, CURLPAUSE_CONT);
        }
}

static void run(struct dl *dl, struct qn_fetch_file *files)
{
    int64_t tick = qn_now_ms();
    while (!dl->err && !check_files(dl) && !dl->err) {
        int64_t now = qn_now_ms();
        if (qn_web_stopped(dl->web)) {
            dl_end(dl, NULL, QN_FETCH_STOPPED, QN_ECANCELLED,
                   "stopped: the bytes received so far are kept");
            return;
        }
        if (now - tick >= QN_FETCH_PROGRESS_MS) {
            tick = now;
            progress(dl, files);
            look_at_pieces(dl, now);
        }
        if (now < dl->hold_until_ms) {
            hold(dl, now);
            continue;
        }
        resume(dl);
        while (!dl->err && start_one(dl, now))
            ;
        int running;
        CURLMcode m = qn_curl.multi_perform(dl->multi, &running);
        if (!reap(dl) && !m && !dl->err)
            m = qn_curl.multi_poll(dl->multi, NULL, 0, DL_TICK_MS, NULL);
        if (m)
            dl_end(dl, NULL, QN_FETCH_LOCAL, QN_EINTERNAL, "libcurl: %s",
                   qn_curl.multi_strerror(m));
    }
}

static void wake(void *ctx)
{
    qn_curl.multi_wakeup(ctx);
}

static bool begin(struct dl *dl)
{
    struct qn_error why;
    if (qn_curl_load(&why)) {
        dl_end_with(dl, NULL, QN_FETCH_LOCAL, &why);
        return false;
    }
    dl->multi = qn_curl.multi_init();
    if (!dl->multi) {
        dl_end(dl, NULL, QN_FETCH_LOCAL, QN_ENOMEM, "libcurl has no memory");
        return false;
    }
    /* No multiplexing: requests on one HTTP/2 connection would share its flow-control window and
     * its packet losses. */
    qn_curl.multi_setopt(dl->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    qn_curl.multi_setopt(dl->multi, CURLMOPT_MAXCONNECTS, (long)dl->limit + 2);
    if (qn_verify_new(wake, dl->multi, QN_FETCH_SYNC_S * 1000, &dl->verify, &why)) {
        dl_end_with(dl, NULL, QN_FETCH_LOCAL, &why);
        return false;
    }
    dl->pieces = qn_xcalloc(dl->limit, sizeof *dl->pieces);
    for (; dl->pieces_n < dl->limit; dl->pieces_n++) {
        struct dl_piece *p = &dl->pieces[dl->pieces_n];
        p->dl = dl;
        if (!(p->easy = qn_curl.easy_init())) {
            dl_end(dl, NULL, QN_FETCH_LOCAL, QN_ENOMEM, "libcurl has no memory");
            return false;
        }
    }
    return dl_disk_fits(dl);
}

static void finish(struct dl *dl)
{
    for (size_t i = 0; i < dl->pieces_n; i++) {
        struct dl_piece *p = &dl->pieces[i];
        if (p->file)
            dl_piece_drop(p);
        qn_curl.easy_cleanup(p->easy);
        qn_curl.slist_free_all(p->headers);
        free(p->buffer);
    }
    for (size_t i = 0; i < dl->opened; i++)
        dl_file_close(dl, &dl->files[i]);
    qn_verify_free(dl->verify);
    if (dl->multi)
        qn_curl.multi_cleanup(dl->multi);
    free(dl->pieces);
}

static size_t connections(const struct qn_web *web)
{
    size_t n = web->connections ? web->connections : QN_FETCH_CONNECTIONS;
    return n > QN_FETCH_CONNECTIONS_MAX ? QN_FETCH_CONNECTIONS_MAX : n;
}

/* The number of files that may be open at a time. Each has two descriptors, one for itself and one
 * for its ranges, and other downloads and connections of the process need descriptors too. */
static int open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / DL_OPEN_SHARE >= DL_OPEN_MAX)
        return DL_OPEN_MAX;
    return limit.rlim_cur < DL_OPEN_SHARE ? 1 : (int)(limit.rlim_cur / DL_OPEN_SHARE);
}

qn_err qn_fetch_run(const struct qn_web *web, struct qn_fetch_file *files, size_t n,
                    struct qn_fetch_watch *watch, struct qn_error *e)
{
    struct dl dl = {.web = web,
                    .watch = watch,
                    .n = n,
                    .error = e,
                    .limit = connections(web),
                    .open_max = open_files()};
    if (watch) {
        watch->end = QN_FETCH_DONE;
        watch->failed_file = n;
        watch->http_status = 0;
        watch->need_bytes = watch->free_bytes = 0;
    }
    if (n > QN_FETCH_FILES_MAX)
        return dl_end(&dl, NULL, QN_FETCH_LOCAL, QN_ELIMIT,
                      "%zu files are too many for one download", n);
    dl.files = qn_xcalloc(n ? n : 1, sizeof *dl.files);
    for (size_t i = 0; i < n; i++) {
        dl.files[i] =
            (struct dl_file){.pub = &files[i], .fd = -1, .insisted = files[i].size_bytes >= 0};
        files[i].done_bytes = qn_fetch_have(files[i].partial, files[i].size_bytes);
        files[i].complete = files[i].whole_only = false;
        files[i].sum[0] = files[i].etag[0] = '\0';
    }
    if (begin(&dl))
        run(&dl, files);
    finish(&dl);
    progress(&dl, files);
    free(dl.files);
    return dl.err;
}

int64_t qn_fetch_have(const char *partial, int64_t size_bytes)
{
    struct qn_ranges *r;
    struct stat st;
    char *path = dl_ranges_path(partial);
    int64_t have = 0;
    if (lstat(partial, &st) == 0 && !qn_ranges_open(path, &r, NULL)) {
        int64_t size = qn_ranges_size(r);
        if (st.st_size == size && (size_bytes < 0 || size_bytes == size))
            have = qn_ranges_total(r);
        qn_ranges_close(r);
    }
    free(path);
    return have;
}

void qn_fetch_forget(const char *partial)
{
    char *path = dl_ranges_path(partial);
    struct qn_buf temp;
    qn_buf_init(&temp, PATH_MAX);
    qn_buf_fmt(&temp, "%s" QN_RANGES_TEMP, path);
    /* A missing file is no error; a leftover matches no partial and would be rejected. */
    (void)unlink(path);
    (void)unlink(qn_buf_cstr(&temp));
    qn_buf_deinit(&temp);
    free(path);
}

void qn_fetch_discard(const char *partial)
{
    int fd = open(partial, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    if (locked)
        return;
    (void)unlink(partial); /* if this fails, the next clean-up finds the file */
    qn_fetch_forget(partial);
}
