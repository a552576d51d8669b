/* One request of a download and its reply. The headers are judged before the first byte of the body
 * is taken: whether the reply is the requested range, and of the same file as before. Bytes that
 * have been received are kept whatever happens afterwards. */
#include "registry/download_private.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool redirects(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static enum dl_verdict odd(struct dl_piece *p, const char *why)
{
    p->odd = why;
    return DL_ODD;
}

static enum dl_verdict wrong_size(struct dl_piece *p, int64_t says)
{
    char shown[QN_WEB_SHOWN_MAX];
    dl_end(p->dl, p->file, QN_FETCH_DAMAGED, QN_EFORMAT,
           "%s: the server has %lld bytes where %lld were promised",
           qn_web_shown(p->way.url, shown), (long long)says, (long long)p->file->pub->size_bytes);
    return DL_ENDED;
}

/* Compares the file's size given by a reply with the known size; < 0: the reply gives none. */
static enum dl_verdict judge_size(struct dl_piece *p, int64_t says)
{
    struct dl_file *f = p->file;
    if (says < 0 || f->pub->size_bytes < 0 || says == f->pub->size_bytes)
        return DL_TAKE;
    return f->insisted ? wrong_size(p, says) : DL_CHANGED;
}

/* True when the ETag (or the date used instead) differs from the recorded one. An ETag and a date
 * cannot be compared with each other. */
static bool other_etag(const struct dl_piece *p)
{
    const char *before = p->file->ranges ? qn_ranges_etag(p->file->ranges) : "";
    const char *now = p->head.etag;
    return before[0] && now[0] && !strchr(before, '"') == !strchr(now, '"') &&
           strcmp(before, now) != 0;
}

/* Uses Last-Modified as the ETag if the server sends no ETag and no checksum is expected, to detect
 * that the file has changed. */
static void date_for_etag(struct dl_piece *p)
{
    const struct qn_fetch_file *f = p->file->pub;
    bool summed = (f->sha256 && f->sha256[0]) || (f->git_sha1 && f->git_sha1[0]);
    if (!summed && !p->head.etag[0])
        memcpy(p->head.etag, p->head.modified, sizeof p->head.modified);
}

static void claim(struct dl_file *f, int64_t begin, int64_t end, bool yes)
{
    if (f->ranges && begin < end)
        for (size_t i = qn_ranges_at(f->ranges, begin); i <= qn_ranges_at(f->ranges, end - 1); i++)
            f->claimed[i] = yes;
}

static enum dl_verdict judge_range(struct dl_piece *p)
{
    struct dl_file *f = p->file;
    const struct qn_reply_head *h = &p->head;
    if (!p->ranged || !h->ranged || h->first != p->begin)
        return odd(p, "the server sends another range than it was asked for");
    if (h->total < 0 && f->pub->size_bytes < 0) {
        f->no_ranges = true;
        return odd(p, "the server does not say how long the file is");
    }
    enum dl_verdict v = judge_size(p, h->total);
    if (v != DL_TAKE)
        return v;
    if (other_etag(p))
        return DL_CHANGED;
    if (!f->ranges) {
        int64_t size = h->total >= 0 ? h->total : f->pub->size_bytes;
        if (!dl_file_lay_out(p->dl, f, size, h->etag))
            return DL_ENDED;
        if (p->end > size)
            p->end = size;
        claim(f, p->begin, p->end, true);
    }
    f->probed = true;
    return DL_TAKE;
}

/* Judges a reply that has the whole file. If a range was requested, the file has changed or the
 * server supports no ranges. */
static enum dl_verdict judge_whole(struct dl_piece *p)
{
    struct dl_file *f = p->file;
    bool changed = other_etag(p);
    enum dl_verdict v = judge_size(p, p->head.length);
    if (v == DL_ENDED)
        return v;
    changed = changed || v == DL_CHANGED;
    if (changed && ++f->anew > DL_ANEW_MAX)
        return DL_CHANGED;
    if (f->ranges && (changed || p->begin > 0 || f->pub->done_bytes > 0 || f->running > 1))
        dl_file_anew(p->dl, f, p);
    f->no_ranges = p->ranged;
    p->begin = p->end = p->pos = 0;
    int64_t size = f->pub->size_bytes >= 0 ? f->pub->size_bytes : p->head.length;
    if (size < 0)
        return dl_file_lay_out_untold(p->dl, f, &p->end) ? DL_TAKE : DL_ENDED;
    if (!f->ranges && !dl_file_lay_out(p->dl, f, size, p->head.etag))
        return DL_ENDED;
    p->end = size;
    claim(f, 0, size, true);
    return DL_TAKE;
}

static void judge(struct dl_piece *p)
{
    int status = p->head.status;
    date_for_etag(p);
    if (status != 200 && status != 206)
        p->verdict = DL_SCRAP;
    else if (p->head.encoded)
        p->verdict = odd(p, "the server sends the file in an encoding that was not asked for");
    else
        p->verdict = status == 206 ? judge_range(p) : judge_whole(p);
    if (p->verdict != DL_TAKE || p->way.redirects == 0 || p->cached)
        return;
    free(p->file->final_url);
    p->file->final_url = qn_xstrdup(p->way.url);
}

bool dl_piece_flush(struct dl_piece *p)
{
    size_t n = p->held;
    p->held = 0;
    return n == 0 || dl_file_write(p->dl, p->file, p->pos - (int64_t)n, p->buffer, n);
}

static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
    struct dl_piece *p = ctx;
    (void)size;
    /* Otherwise curl would go on reading as long as bytes arrive. */
    if (p->dl->hold_until_ms && qn_now_ms() < p->dl->hold_until_ms) {
        p->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    p->window_bytes += (int64_t)n;
    if (p->verdict == DL_UNJUDGED)
        judge(p);
    if (p->verdict == DL_SCRAP)
        return (p->scrap += n) > DL_SCRAP_MAX ? 0 : n;
    if (p->verdict != DL_TAKE)
        return 0;
    int64_t wait = qn_rate_take(p->dl->web->rate, n, qn_now_us());
    if (wait && qn_now_ms() + wait > p->dl->hold_until_ms)
        p->dl->hold_until_ms = qn_now_ms() + wait;
    for (size_t used = 0; used < n;) {
        size_t take = n - used, room = DL_BUFFER - p->held;
        if (take > room)
            take = room;
        if ((int64_t)take > p->end - p->pos)
            take = (size_t)(p->end - p->pos);
        if (take == 0) {
            p->verdict = DL_ENOUGH;
            return 0;
        }
        memcpy(p->buffer + p->held, data + used, take);
        p->held += take;
        p->pos += (int64_t)take;
        used += take;
        if (p->held == DL_BUFFER && !dl_piece_flush(p)) {
            p->verdict = DL_ENDED;
            return 0;
        }
    }
    return n;
}

static size_t take_header(char *data, size_t size, size_t n, void *ctx)
{
    struct dl_piece *p = ctx;
    (void)size;
    p->window_bytes += (int64_t)n;
    qn_reply_head_line(&p->head, data, n, qn_wall_ms());
    return n;
}

/* Sends the request for the current hop of p->way. */
static void ask(struct dl_piece *p)
{
    char range[64], if_range[QN_WEB_ETAG_MAX + 16];
    const char *etag = p->file->ranges ? qn_ranges_etag(p->file->ranges) : "";
    CURL *easy = p->easy;
    p->head = (struct qn_reply_head){.retry_after_s = -1};
    p->verdict = DL_UNJUDGED;
    p->scrap = 0;
    p->paused = false;
    p->why[0] = '\0';
    p->window_ms = qn_now_ms();
    p->window_bytes = 0;
    qn_curl.easy_reset(easy);
    qn_curl.slist_free_all(p->headers);
    p->headers = NULL;
    qn_way_prepare(&p->way, easy, &p->headers);
    if (p->ranged) {
        snprintf(range, sizeof range, "%lld-%lld", (long long)p->begin, (long long)p->end - 1);
        qn_curl.easy_setopt(easy, CURLOPT_RANGE, range);
        if (qn_etag_strong(etag)) {
            snprintf(if_range, sizeof if_range, "If-Range: %s", etag);
            p->headers = qn_curl.slist_append(p->headers, if_range);
        }
    }
    qn_curl.easy_setopt(easy, CURLOPT_HTTPHEADER, p->headers);
    qn_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, p->why);
    qn_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    qn_curl.easy_setopt(easy, CURLOPT_WRITEDATA, p);
    qn_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    qn_curl.easy_setopt(easy, CURLOPT_HEADERDATA, p);
    qn_curl.easy_setopt(easy, CURLOPT_PRIVATE, p);
    /* With a rate limit, read in small pieces. */
    qn_curl.easy_setopt(easy, CURLOPT_BUFFERSIZE,
                        p->dl->web->rate && p->dl->web->rate->bytes_s ? 16 * 1024L
                                                                      : (long)DL_BUFFER);
    qn_curl.multi_add_handle(p->dl->multi, easy);
}

void dl_piece_begin(struct dl_piece *p, struct dl_file *f, int64_t begin, int64_t end)
{
    struct qn_error why;
    p->file = f;
    p->begin = p->pos = begin;
    p->end = end;
    p->held = 0;
    /* A small file of which nothing is present is requested as a whole, which every server
     * supports. */
    p->ranged = !f->no_ranges && !(begin == 0 && end == f->pub->size_bytes);
    p->cached = f->final_url != NULL;
    if (!p->buffer)
        p->buffer = qn_xmalloc(DL_BUFFER);
    f->running++;
    p->dl->running++;
    claim(f, begin, end, true);
    qn_err err = qn_way_begin(&p->way, p->dl->web, f->pub->url, f->pub->token, &why);
    if (!err && p->cached)
        err = qn_way_redirect(&p->way, f->final_url, &why);
    if (err) {
        dl_end_with(p->dl, f, QN_FETCH_REFUSED, &why);
        dl_piece_drop(p);
        return;
    }
    ask(p);
}

/* Makes the piece idle again; the bytes it has not fetched can be assigned to other pieces. */
static void release(struct dl_piece *p)
{
    claim(p->file, p->begin, p->end, false);
    struct dl_file *f = p->file;
    f->dry = false;
    f->running--;
    p->dl->running--;
    p->file = NULL;
    qn_way_deinit(&p->way);
    if (!p->dl->err && f->ranges && f->state == DL_OPEN)
        dl_file_full(p->dl, f);
}

void dl_piece_drop(struct dl_piece *p)
{
    qn_curl.multi_remove_handle(p->dl->multi, p->easy);
    dl_piece_flush(p);
    release(p);
}

/* Handles a failure that a retry may overcome. */
static void fail(struct dl_piece *p, const char *why)
{
    struct dl *dl = p->dl;
    struct dl_file *f = p->file;
    char shown[QN_WEB_SHOWN_MAX], text[512];
    int64_t now = qn_now_ms();
    qn_web_shown(p->way.url, shown);
    snprintf(text, sizeof text, "%s", why);
    if (f->gained >= DL_GAIN)
        f->failures = 0;
    f->gained = 0;
    /* Several connections that break at the same time count as one failure. */
    if (now >= f->not_before_ms) {
        f->failures++;
        f->not_before_ms = now + qn_web_pause_ms(dl->web, f->failures);
    }
    if (p->head.retry_after_s > QN_WEB_RETRY_AFTER_MAX_S) {
        dl_end(dl, f, QN_FETCH_NETWORK, QN_EBUSY,
               "%s: the server asks to wait for longer than %d s", shown, QN_WEB_RETRY_AFTER_MAX_S);
    } else if (f->failures > qn_web_retries(dl->web)) {
        dl_end(dl, f, QN_FETCH_NETWORK, p->head.status == 429 ? QN_EBUSY : QN_EIO,
               "%s: %s; given up after %d tries without progress: the bytes received so far are "
               "kept, and the download can be resumed",
               shown, text, f->failures);
    } else {
        int64_t wait = f->not_before_ms - now;
        if (p->head.retry_after_s >= 0) {
            if (p->head.retry_after_s * 1000LL > wait)
                wait = p->head.retry_after_s * 1000LL;
            /* The server is overloaded: use half the connections from here on. */
            if (now >= dl->not_before_ms)
                dl->limit = (dl->limit + 1) / 2;
            if (dl->not_before_ms < now + wait)
                dl->not_before_ms = now + wait;
        }
        qn_info("download", "url=%s at=%lld retry_ms=%lld try=%d why=%s", shown, (long long)p->pos,
                (long long)wait, f->failures + 1, text);
    }
}

static void refuse(struct dl_piece *p)
{
    char shown[QN_WEB_SHOWN_MAX];
    int status = p->head.status;
    bool gated = status == 401 || status == 403;
    if (p->dl->watch && !p->dl->err)
        p->dl->watch->http_status = status;
    dl_end(p->dl, p->file, QN_FETCH_REFUSED,
           status == 404 || status == 410 ? QN_ENOTFOUND : QN_EINVAL,
           "%s: the server answers with status %d%s", qn_web_shown(p->way.url, shown), status,
           gated ? ": it may need a token (HF_TOKEN), and its licence accepted on the hub's page"
                 : "");
}

/* Finishes a reply whose body is not the file's contents. */
static void finish_status(struct dl_piece *p)
{
    struct dl_file *f = p->file;
    char text[64];
    int status = p->head.status;
    if (status == 416) {
        if (f->pub->size_bytes <= 0 && p->begin == 0 && p->head.total == 0) {
            dl_file_lay_out(p->dl, f, 0, p->head.etag);
            return;
        }
        /* The file has become shorter, or the server supports no ranges for it. */
        if (++f->anew > DL_ANEW_MAX) {
            refuse(p);
            return;
        }
        bool begun = f->pub->done_bytes > 0;
        dl_file_anew(p->dl, f, p);
        f->no_ranges = !begun;
        fail(p, "the server does not have the range that was asked for (416)");
    } else if (qn_web_passing(status)) {
        snprintf(text, sizeof text, "the server answers with status %d", status);
        fail(p, text);
    } else if (p->cached && status >= 400) {
        /* Addresses behind redirects expire: start at the first address again. */
        free(f->final_url);
        f->final_url = NULL;
    } else {
        refuse(p);
    }
}

/* Finishes a reply whose body was taken, complete or not. */
static void finish_body(struct dl_piece *p, CURLcode code)
{
    struct dl_file *f = p->file;
    char shown[QN_WEB_SHOWN_MAX];
    if (p->verdict == DL_ENOUGH) {
        /* For a range, all wanted bytes have arrived; for a whole file, there are more than
         * promised. */
        if (p->head.status == 200)
            dl_end(p->dl, f, QN_FETCH_DAMAGED, QN_ELIMIT,
                   "%s: the server sends more than the %lld bytes that %s",
                   qn_web_shown(p->way.url, shown), (long long)p->end,
                   f->untold ? "there may be" : "were promised");
    } else if (code == CURLE_OK && f->untold) {
        dl_file_untold_end(p->dl, f, p->pos);
    } else if (code != CURLE_OK) {
        if (f->untold)
            dl_file_anew(p->dl, f, p);
        fail(p, p->why[0] ? p->why : qn_curl.easy_strerror(code));
    } else if (p->pos < p->end && !(p->head.status == 206 && p->head.last + 1 == p->pos)) {
        fail(p, "the reply ended early");
    }
}

void dl_piece_finish(struct dl_piece *p, CURLcode code)
{
    struct dl *dl = p->dl;
    struct dl_file *f = p->file;
    struct qn_error why;
    qn_curl.multi_remove_handle(dl->multi, p->easy);
    if (p->verdict == DL_UNJUDGED && p->head.status && code == CURLE_OK)
        judge(p); /* a reply without a body */
    dl_piece_flush(p);
    if (!dl->err && p->verdict == DL_SCRAP && redirects(p->head.status)) {
        if (!qn_way_redirect(&p->way, p->head.location, &why)) {
            p->begin = p->pos;
            ask(p);
            return;
        }
        dl_end_with(dl, f, QN_FETCH_REFUSED, &why);
    }
    if (!dl->err) {
        switch (p->verdict) {
        case DL_TAKE:
        case DL_ENOUGH:
            finish_body(p, code);
            break;
        case DL_SCRAP:
            finish_status(p);
            break;
        case DL_CHANGED:
            if (p->head.status == 206 && ++f->anew <= DL_ANEW_MAX) {
                dl_file_anew(dl, f, p);
                break;
            }
            dl_end(dl, f, QN_FETCH_DAMAGED, QN_EFORMAT,
                   "%.300s: the file at the server keeps changing while it is fetched", p->way.url);
            break;
        case DL_ODD:
            fail(p, p->odd);
            break;
        case DL_UNJUDGED:
            if (qn_way_hopeless(&p->way, code)) {
                qn_way_fail(&p->way, code, p->why, &why);
                dl_end_with(dl, f, QN_FETCH_REFUSED, &why);
            } else {
                fail(p, p->why[0] ? p->why : qn_curl.easy_strerror(code));
            }
            break;
        case DL_STALE:
        case DL_ENDED:
            break;
        }
    }
    release(p);
}
