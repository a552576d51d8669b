/* POST models/register: a GGUF file that lies on this disk becomes a model. */
#include "router/api/api.h"

#include "base/buf.h"
#include "router/answer.h"
#include "router/intake.h"
#include "router/may_open.h"
#include "router/survey.h"

#include <stdlib.h>

/* The intake cannot be called off, so this outlives a client that leaves. */
struct asker {
    struct qn_services *sv;
    struct qn_http *http; /* NULL: gone */
    char *name;
};

static void gone(void *ctx)
{
    ((struct asker *)ctx)->http = NULL;
}

static void answer(struct asker *a)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(a->sv->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, a->name);
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "message", "Model registered");
    qn_jw_kstr(&w, "model_name", a->name);
    qn_jw_kstr(&w, "canonical_model_name", a->name);
    if (row) {
        qn_jw_key(&w, "model");
        qn_api_model_write(&w, a->sv, row);
    }
    qn_jw_obj_end(&w);
    qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->sv->closed)
        qn_survey_again(a->sv->survey);
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (e)
            qn_answer_error(a->http, e);
        else
            answer(a);
    }
    free(a->name);
    free(a);
}

void qn_api_register(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *name = NULL, *checkpoint = NULL, *recipe = "llamacpp";
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "model_name");
        err = qn_json_str(&v, &name, &e);
        v = qn_json_get(&root, "checkpoint");
        if (!err)
            err = qn_json_str(&v, &checkpoint, &e);
        v = qn_json_get(&root, "recipe");
        if (!err)
            err = qn_json_str_opt(&v, &recipe, &e);
    }
    if (!err && sv->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (err) {
        qn_answer_error(h, &e);
    } else if (qn_may_open(sv, h, checkpoint)) {
        struct asker *a = qn_xcalloc(1, sizeof *a);
        a->sv = sv;
        a->http = h;
        a->name = qn_xstrdup(name);
        qn_http_on_gone(h, gone, a);
        qn_intake_file(sv->loop, sv->catalog, &sv->closed, name, checkpoint, recipe, done, a);
    }
    qn_json_free(doc);
}
