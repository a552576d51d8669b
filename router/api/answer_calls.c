/* POST /internal/messages/{id}/calls: the user allows or denies a tool call of an answer in
 * progress. */
#include "answering/answering.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "base/str.h"

static qn_err read_decision(const struct qn_jref *root, const char **call,
                            enum qn_answering_decision *out, struct qn_error *e)
{
    static const char *const known[] = {"call", "allow", NULL};
    static const char *const words[] = {[QN_ALLOW_ONCE] = "once",
                                        [QN_ALLOW_ALWAYS] = "always",
                                        [QN_ALLOW_NO] = "no",
                                        [QN_ALLOW_NEVER] = "never"};
    const char *word = NULL;
    struct qn_jref c = qn_json_get(root, "call"), allow = qn_json_get(root, "allow");
    qn_err err = qn_api_members_known(root, known, e);
    if (!err)
        err = qn_json_str(&c, call, e);
    if (!err)
        err = qn_json_str(&allow, &word, e);
    for (size_t i = 0; i < sizeof words / sizeof *words && !err; i++)
        if (qn_str_eq(words[i], word)) {
            *out = (enum qn_answering_decision)i;
            return QN_OK;
        }
    return err ? err : qn_json_fail(&allow, e, "expected once, always, no or never");
}

void qn_api_answer_calls(const struct qn_answering_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    struct qn_json *doc = NULL;
    struct qn_caller caller;
    enum qn_answering_decision decision = QN_ALLOW_NO;
    const char *call = NULL;
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_err err = qn_api_chat_id_check(id, "message", &e);
    if (!err)
        err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_decision(&root, &call, &decision, &e);
    }
    if (!err)
        err = qn_answering_allow(api->answering, caller.owner, id, call, decision, &e);
    if (err)
        qn_answer_error(h, &e);
    else
        qn_http_reply(h, 202, "application/json", "{}", 2);
    qn_json_free(doc);
}
