/* Ollama's pull and push. A model that is here needs no pull; until there are downloads any other
 * name gets an error that says what to do. */
#include "router/api/ollama.h"

#include "base/str.h"
#include "router/answer.h"
#include "router/inventory.h"

static void answer_pulled(struct qn_http *h, const struct qn_model_row *row, bool lines)
{
    char digest[QN_OLLAMA_DIGEST_MAX];
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    if (lines) {
        qn_ollama_digest(row, digest);
        qn_buf_str(&body, "{\"status\":\"pulling manifest\"}\n");
        qn_buf_fmt(&body,
                   "{\"status\":\"pulling %.12s\",\"digest\":\"sha256:%s\",\"total\":%lld,"
                   "\"completed\":%lld}\n",
                   digest, digest, (long long)row->size_bytes, (long long)row->size_bytes);
        qn_buf_str(&body, "{\"status\":\"verifying sha256 digest\"}\n"
                          "{\"status\":\"writing manifest\"}\n{\"status\":\"success\"}\n");
        qn_http_reply(h, 200, "application/x-ndjson", body.data, body.len);
    } else {
        qn_buf_str(&body, "{\"status\":\"success\"}");
        qn_answer_json(h, 200, &body);
    }
    qn_buf_deinit(&body);
}

void qn_api_ollama_pull(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row;
    const char *name = NULL;
    bool lines = true;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "stream");
        err = qn_ollama_model_of(&root, &name, &e);
        if (!err)
            err = qn_json_bool_opt(&v, &lines, &e);
    }
    if (!err && (err = qn_inventory_find(sv->inventory, name, &snap, &row, NULL)))
        qn_fail_param(&e, QN_ENOTFOUND, "model",
                      "pull model manifest: '%.200s' is not on this machine, and this version does "
                      "not download: fetch a GGUF file and make it known with `quince import "
                      "FILE.gguf`",
                      name);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    else
        answer_pulled(h, row, lines);
    qn_snapshot_unref(snap);
    qn_json_free(doc);
}

void qn_api_ollama_push(struct qn_services *sv, struct qn_http *h, const char *id)
{
    (void)sv;
    (void)id;
    qn_answer_plain(h, 501, "not_implemented", "quince does not send models anywhere");
}
