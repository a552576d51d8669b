/* The browser page: its files, from the program itself. They contain nothing of this server, so
 * they need no key; the page asks the APIs for everything, with the key that its user types. */
#include "answers/answer.h"
#include "api/api.h"
#include "api/page_files.h"
#include "base/str.h"

#include <string.h>

/* Names of files below /ui/BUILD/ change with their contents, so they never expire. */
static const char forever[] = "public, max-age=31536000, immutable";
static const char ask_again[] = "no-cache";

/* The page may load from this server alone, run no script but its files and its import map, and
 * make no markup from text except through its two policies of trusted types. */
static const char policy[] =
    "default-src 'none'; script-src 'self' 'sha256-%s'; style-src 'self'; "
    "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types quince dompurify";

static void set_headers(struct qn_http *h, const char *cache, const char *vary)
{
    qn_http_set_header(h, "Cache-Control", cache);
    qn_http_set_header(h, "Vary", vary);
    qn_http_set_header(h, "Content-Security-Policy",
                       qn_arena_fmt(qn_http_arena(h), policy, qn_page_map_hash));
    qn_http_set_header(h, "X-Content-Type-Options", "nosniff");
    qn_http_set_header(h, "Referrer-Policy", "no-referrer");
    qn_http_set_header(h, "Cross-Origin-Opener-Policy", "same-origin");
    qn_http_set_header(h, "Cross-Origin-Resource-Policy", "same-origin");
}

static void send_file(struct qn_http *h, const struct qn_page_file *f, const char *cache,
                      const char *vary)
{
    char tag[QN_PAGE_TAG_MAX + 1];
    bool gzip = f->gzip_size > 0 && qn_page_prefers_gzip(qn_http_header(h, "Accept-Encoding"));
    qn_page_tag(gzip, tag);
    set_headers(h, cache, vary);
    qn_http_set_header(h, "ETag", tag);
    if (qn_page_has_tag(qn_http_header(h, "If-None-Match"), tag)) {
        qn_http_reply(h, 304, NULL, "", 0);
        return;
    }
    if (gzip)
        qn_http_set_header(h, "Content-Encoding", "gzip");
    qn_http_reply(h, 200, f->type, qn_page_bytes + (gzip ? f->gzip_at : f->at),
                  gzip ? f->gzip_size : f->size);
}

static void send_root(struct qn_http *h, const char *name, const char *vary)
{
    const struct qn_page_file *f = qn_page_find(name, true);
    if (f)
        send_file(h, f, ask_again, vary);
    else
        qn_answer_plain(h, 404, "not_found", "The requested endpoint does not exist");
}

void qn_api_page(struct qn_http *h, const char *id)
{
    (void)id; /* the page itself reads its address */
    send_root(h, "index.html", "Accept, Accept-Encoding");
}

void qn_api_page_root_file(struct qn_http *h, const char *id)
{
    (void)id;
    send_root(h, qn_http_path(h) + 1, "Accept-Encoding");
}

void qn_api_page_file(struct qn_http *h, const char *id)
{
    bool current =
        strncmp(id, qn_page_build, QN_PAGE_BUILD_DIGITS) == 0 && id[QN_PAGE_BUILD_DIGITS] == '/';
    const struct qn_page_file *f =
        current ? qn_page_find(id + QN_PAGE_BUILD_DIGITS + 1, false) : NULL;
    if (f) {
        send_file(h, f, forever, "Accept-Encoding");
        return;
    }
    set_headers(h, "no-store", "Accept-Encoding");
    qn_answer_plain(h, 404, "not_found",
                    current ? "The page has no such file"
                            : "This file is of another version of the page: reload the page");
}
