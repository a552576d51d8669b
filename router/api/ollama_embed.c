/* POST /api/embed and /api/embeddings, read in full. No kind of model that this version runs makes
 * vectors, and that is what the answer says. */
#include "api/ollama.h"

#include "answers/answer.h"
#include "base/str.h"
#include "contract/job.h"
#include "dialects/ollama/ollama.h"
#include "dialects/shared/keep_alive.h"
#include "models/inventory.h"

#include <string.h>

enum { INPUTS_MAX = 2048, DIMENSIONS_MAX = 65536 };

/* What both have: model, keep_alive, options. */
static qn_err read_common(struct qn_http *h, const struct qn_jref *root, const char **name,
                          struct qn_error *e)
{
    struct qn_job job;
    int64_t ms, context;
    struct qn_jref v = qn_json_get(root, "keep_alive"), options = qn_json_get(root, "options");
    qn_job_init(&job);
    qn_err err = qn_ollama_model_of(root, name, e);
    if (!err)
        err = qn_keep_alive_read(&v, &ms, e);
    return err ? err : qn_ollama_options(&options, qn_http_arena(h), &job.sampling, &context, e);
}

static qn_err read_text(const struct qn_jref *v, struct qn_error *e)
{
    const char *text;
    qn_err err = qn_json_str(v, &text, e);
    if (!err && strlen(text) > QN_JOB_PROMPT_BYTES_MAX)
        err = qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    return err;
}

/* "input": a text or several. */
static qn_err read_inputs(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "input"), it;
    bool truncate;
    int64_t dimensions;
    if (qn_json_type(&v) != QN_JSON_ARRAY && qn_json_type(&v) != QN_JSON_STRING)
        return qn_json_fail(&v, e, "expected a text or an array of texts");
    if (qn_json_count(&v) > INPUTS_MAX)
        return qn_json_fail(&v, e, "at most %d texts are allowed", INPUTS_MAX);
    qn_err err = qn_json_type(&v) == QN_JSON_STRING ? read_text(&v, e) : QN_OK;
    for (bool more = qn_json_first(&v, &it); more && !err; more = qn_json_next(&it))
        err = read_text(&it, e);
    v = qn_json_get(root, "truncate");
    if (!err)
        err = qn_json_bool_opt(&v, &truncate, e);
    v = qn_json_get(root, "dimensions");
    return err ? err : qn_json_i64_opt(&v, 0, DIMENSIONS_MAX, &dimensions, e);
}

static qn_err read_prompt(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "prompt");
    return read_text(&v, e);
}

static void answer(const struct qn_ollama_api *api, struct qn_http *h, const struct qn_jref *root,
                   const struct qn_error *why,
                   qn_err (*read)(const struct qn_jref *root, struct qn_error *e))
{
    struct qn_error e = *why;
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row;
    const char *name = NULL;
    qn_err err = root ? read_common(h, root, &name, &e) : e.code;
    if (!err)
        err = read(root, &e);
    if (!err)
        err = qn_inventory_find(api->models->inventory, name, &snap, &row, &e);
    if (!err)
        qn_fail_param(&e, QN_EUNSUPPORTED, "model",
                      "model '%s' cannot make embeddings: it is of type %s, and this version runs "
                      "no model that can",
                      row->name, row->type);
    qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    qn_snapshot_unref(snap);
}

static void answer_inputs(const void *api, struct qn_http *h, const struct qn_jref *root,
                          const struct qn_error *e)
{
    answer(api, h, root, e, read_inputs);
}

static void answer_prompt(const void *api, struct qn_http *h, const struct qn_jref *root,
                          const struct qn_error *e)
{
    answer(api, h, root, e, read_prompt);
}

void qn_api_ollama_embed(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    qn_api_large_body(api->serving, h, answer_inputs, api);
}

void qn_api_ollama_embeddings(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    qn_api_large_body(api->serving, h, answer_prompt, api);
}
