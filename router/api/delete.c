/* POST delete, and POST internal/cleanup-cache for leftovers of models. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "downloads/pulls.h"
#include "library/custody.h"

#include <stdlib.h>

/* Neither operation can be cancelled, so this outlives a client that disconnects. */
struct asker {
    struct qn_waiting client;
    char **wanted; /* partial files that downloads need, so they stay */
    size_t n_wanted;
    bool dry; /* only what a deletion would free is wanted */
};

static struct asker *asker_new(struct qn_http *h)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    qn_waiting_begin(&a->client, h);
    return a;
}

static void write_deleted(struct qn_http *h, const struct qn_custody_result *r, bool dry)
{
    struct qn_buf body, message;
    qn_buf_init(&message, QN_API_REPLY_MAX);
    qn_buf_fmt(&message, dry ? "Model %s can be deleted" : "Deleted model: %s", r->model);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "message", qn_buf_cstr(&message));
    qn_jw_kstr(&w, "model_name", r->model);
    qn_jw_ki64(&w, "freed_bytes", r->freed.size_bytes);
    qn_jw_ki64(&w, "files_removed", (int64_t)r->freed.files);
    qn_jw_ki64(&w, "files_kept", (int64_t)r->freed.kept);
    if (r->note)
        qn_jw_kstr(&w, "note", r->note);
    if (dry)
        qn_jw_kbool(&w, "dry_run", true);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_buf_deinit(&message);
}

static void deleted(void *ctx, const struct qn_custody_result *result, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, e))
        write_deleted(a->client.http, result, a->dry);
    free(a);
}

/* Reads "model_name", or "model" as newer clients call it. */
static qn_err read_name(const struct qn_jref *root, const char **name, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "model_name");
    if (qn_json_type(&v) == QN_JSON_ABSENT) {
        struct qn_jref other = qn_json_get(root, "model");
        if (qn_json_type(&other) != QN_JSON_ABSENT)
            return qn_json_str(&other, name, e);
    }
    return qn_json_str(&v, name, e);
}

void qn_api_delete(const struct qn_disk_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *name = NULL;
    bool dry = false;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "dry_run");
        err = read_name(&root, &name, &e);
        if (!err)
            err = qn_json_bool_opt(&v, &dry, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err) {
        struct asker *a = asker_new(h);
        a->dry = dry;
        err = dry ? qn_custody_preview(api->custody, name, deleted, a, &e)
                  : qn_custody_delete(api->custody, name, deleted, a, &e);
        if (err) {
            qn_waiting_never_mind(&a->client);
            free(a);
        }
    }
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    qn_json_free(doc);
}

static void cleaned(void *ctx, struct qn_buf *report, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, e))
        qn_answer_json(a->client.http, 200, report);
    for (size_t i = 0; i < a->n_wanted; i++)
        free(a->wanted[i]);
    free(a->wanted);
    free(a);
}

void qn_api_cleanup(const struct qn_disk_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    bool dry = false;
    (void)id;
    qn_err err = qn_api_body(h, true, &doc, &e);
    if (!err && doc) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "dry_run");
        err = qn_json_bool_opt(&v, &dry, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (err) {
        qn_answer_error(h, &e);
    } else {
        struct asker *a = asker_new(h);
        a->n_wanted = qn_pulls_partials(api->custody->pulls, &a->wanted);
        qn_custody_clean(api->custody, dry, a->wanted, a->n_wanted, cleaned, a);
    }
    qn_json_free(doc);
}
