/* Runs qn_fetch_run (or, for {"ask": {...}}, qn_web_ask) on a plan in JSON from standard input and
 * prints what came of it in JSON: the tests' way into registry/download.c. SIGTERM sets the stop
 * flag. With "complete" each partial is renamed to its name without ".partial". */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "registry/download.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 4096 };

static atomic_bool stop;
static struct qn_fetch_file files[FILES_MAX];
static size_t files_n;
static int64_t last_progress_ms, shortest_ms = INT64_MAX;
static int progress_calls;
static bool verbose;

static void on_signal(int sig)
{
    (void)sig;
    atomic_store(&stop, true);
}

static void on_progress(void *ctx, const struct qn_fetch_file *all, size_t n)
{
    int64_t now = qn_now_ms(), sum = 0;
    (void)ctx;
    if (progress_calls++ && now - last_progress_ms < shortest_ms)
        shortest_ms = now - last_progress_ms;
    last_progress_ms = now;
    for (size_t i = 0; i < n; i++)
        sum += all[i].done_bytes;
    if (verbose)
        fprintf(stderr, "progress %" PRId64 "\n", sum);
}

static qn_err on_complete(void *ctx, size_t i, struct qn_error *e)
{
    (void)ctx;
    char to[4096];
    const char *from = files[i].partial, *end = strstr(from, ".partial");
    snprintf(to, sizeof to, "%.*s", (int)(end ? end - from : (long)strlen(from)), from);
    return end && rename(from, to) ? qn_fail_errno(e, "rename %s", from) : QN_OK;
}

static const char *text(const struct qn_jref *o, const char *key)
{
    struct qn_jref v = qn_json_get(o, key);
    return qn_json_type(&v) == QN_JSON_STRING ? qn_json_raw_str(&v) : NULL;
}

static int64_t integer(const struct qn_jref *o, const char *key, int64_t otherwise)
{
    struct qn_jref v = qn_json_get(o, key);
    return qn_json_type(&v) == QN_JSON_NUMBER ? (int64_t)qn_json_raw_f64(&v) : otherwise;
}

static bool truth(const struct qn_jref *o, const char *key)
{
    struct qn_jref v = qn_json_get(o, key);
    return qn_json_raw_bool(&v);
}

static void say(struct qn_buf *out)
{
    puts(qn_buf_cstr(out));
    fflush(stdout);
}

static int run_ask(const struct qn_web *web, const struct qn_jref *plan)
{
    struct qn_jref o = qn_json_get(plan, "ask");
    struct qn_web_ask ask = {.url = text(&o, "url"),
                             .method = text(&o, "method"),
                             .token = text(&o, "token"),
                             .accept = text(&o, "accept"),
                             .body = text(&o, "body"),
                             .limit = (size_t)integer(&o, "limit", 0),
                             .stay = truth(&o, "stay")};
    struct qn_web_reply reply;
    struct qn_error e = {0};
    struct qn_buf out;
    qn_err err = qn_web_ask(web, &ask, &reply, &e);
    qn_buf_init(&out, 1 << 26);
    struct qn_jw w = qn_jw_to(&out);
    char *etag = qn_web_header(&reply, "ETAG"), *location = qn_web_header(&reply, "location");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "error", err ? qn_err_name(err) : NULL);
    qn_jw_kstr(&w, "message", e.message);
    qn_jw_ki64(&w, "status", reply.status);
    qn_jw_kstr(&w, "url", reply.url);
    qn_jw_kstr(&w, "body", qn_buf_cstr(&reply.body));
    qn_jw_kstr(&w, "etag", etag);
    qn_jw_kstr(&w, "location", location);
    qn_jw_obj_end(&w);
    say(&out);
    free(etag);
    free(location);
    qn_buf_deinit(&out);
    qn_web_reply_deinit(&reply);
    return 0;
}

/* Of this program alone; getrusage counts what ran before exec. */
static int64_t peak_kib(void)
{
    char line[256];
    long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static void print_result(qn_err err, const struct qn_error *e, const struct qn_fetch_watch *watch,
                         int64_t ms)
{
    static const char *const ends[] = {"done",    "stopped",   "network", "refused",
                                       "damaged", "disk_full", "local"};
    struct qn_buf out;
    qn_buf_init(&out, 1 << 26);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "error", err ? qn_err_name(err) : NULL);
    qn_jw_kstr(&w, "message", err ? e->message : NULL);
    qn_jw_kstr(&w, "end", ends[watch->end]);
    qn_jw_ki64(&w, "http_status", watch->http_status);
    qn_jw_ki64(&w, "failed_file", (int64_t)watch->failed_file);
    qn_jw_ki64(&w, "need_bytes", watch->need_bytes);
    qn_jw_ki64(&w, "free_bytes", watch->free_bytes);
    qn_jw_ki64(&w, "ms", ms);
    qn_jw_ki64(&w, "peak_kib", peak_kib());
    qn_jw_ki64(&w, "progress_calls", progress_calls);
    qn_jw_ki64(&w, "progress_gap_ms", progress_calls > 2 ? shortest_ms : -1);
    qn_jw_key(&w, "files");
    qn_jw_arr(&w);
    for (size_t i = 0; i < files_n; i++) {
        qn_jw_obj(&w);
        qn_jw_kbool(&w, "complete", files[i].complete);
        qn_jw_kbool(&w, "whole_only", files[i].whole_only);
        qn_jw_ki64(&w, "done_bytes", files[i].done_bytes);
        qn_jw_ki64(&w, "size_bytes", files[i].size_bytes);
        qn_jw_kstr(&w, "sum", files[i].sum);
        qn_jw_kstr(&w, "etag", files[i].etag);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    say(&out);
    qn_buf_deinit(&out);
}

static int run_fetch(const struct qn_web *web, const struct qn_jref *plan)
{
    struct qn_jref list = qn_json_get(plan, "files"), it;
    struct qn_fetch_watch watch = {.progress = on_progress,
                                   .complete = truth(plan, "complete") ? on_complete : NULL};
    struct qn_error e = {0};
    for (bool more = qn_json_first(&list, &it); more && files_n < FILES_MAX;
         more = qn_json_next(&it))
        files[files_n++] = (struct qn_fetch_file){.url = text(&it, "url"),
                                                  .partial = text(&it, "partial"),
                                                  .size_bytes = integer(&it, "size", -1),
                                                  .sha256 = text(&it, "sha256"),
                                                  .git_sha1 = text(&it, "git_sha1"),
                                                  .token = text(&it, "token")};
    int64_t begun = qn_now_ms();
    qn_err err = qn_fetch_run(web, files, files_n, &watch, &e);
    print_result(err, &e, &watch, qn_now_ms() - begun);
    return 0;
}

int main(void)
{
    struct qn_buf in;
    struct qn_json *doc;
    struct qn_error e;
    char chunk[4096];
    qn_buf_init(&in, 1 << 24);
    for (ssize_t n; (n = read(0, chunk, sizeof chunk)) > 0;)
        qn_buf_add(&in, chunk, (size_t)n);
    if (qn_json_parse(qn_buf_cstr(&in), in.len, &doc, &e)) {
        fprintf(stderr, "%s\n", e.message);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGXFSZ, SIG_IGN);
    struct qn_jref plan = qn_json_root(doc), endpoints = qn_json_get(&plan, "endpoints"), it;
    struct qn_rate rate = {.bytes_s = integer(&plan, "rate", 0)};
    static const atomic_bool always = true;
    struct qn_web web = {.offline = truth(&plan, "offline") ? &always : NULL,
                         .allow_private = truth(&plan, "allow_private"),
                         .ca_file = text(&plan, "ca_file"),
                         .rate = &rate,
                         .stop = &stop,
                         .connections = (unsigned)integer(&plan, "connections", 0),
                         .retries = (int)integer(&plan, "retries", 0),
                         .pause_ms = (int)integer(&plan, "pause_ms", 0),
                         .stall_s = (int)integer(&plan, "stall_s", 0)};
    size_t n = 0;
    for (bool more = qn_json_first(&endpoints, &it); more && n < QN_WEB_ENDPOINTS_MAX;
         more = qn_json_next(&it))
        web.endpoints[n++] = qn_json_raw_str(&it);
    verbose = truth(&plan, "verbose");
    struct qn_jref ask = qn_json_get(&plan, "ask");
    int status =
        qn_json_type(&ask) == QN_JSON_OBJECT ? run_ask(&web, &plan) : run_fetch(&web, &plan);
    qn_json_free(doc);
    qn_buf_deinit(&in);
    return status;
}
