/* See choice.h. */
#include "cli/choice.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/offer.h"

#include <stdlib.h>

enum { CALL_TIMEOUT_S = 30 };

/* Whether the entry of a model has the label, or, for NULL, is for chat. */
static bool is_for(const struct qn_jref *entry, const char *label)
{
    struct qn_jref type = qn_json_get(entry, "type"), labels = qn_json_get(entry, "labels"), it;
    if (!label)
        return qn_json_type(&type) != QN_JSON_STRING || qn_str_eq(qn_json_raw_str(&type), "llm");
    for (bool more = qn_json_first(&labels, &it); more; more = qn_json_next(&it))
        if (qn_str_eq(qn_json_raw_str(&it), label))
            return true;
    return false;
}

static qn_err none(const char *label, struct qn_error *e)
{
    if (!label)
        return qn_fail(e, QN_ENOTFOUND,
                       "no model is installed yet: `quince list --all` shows some, quince pull "
                       "NAME downloads one");
    return qn_fail(e, QN_ENOTFOUND,
                   "no model with the label %s is installed: `quince list --all %s` shows some, "
                   "quince pull NAME downloads one",
                   label, label);
}

static qn_err find_default(const struct qn_cli *cli, const char *label, char **out,
                           struct qn_error *e)
{
    struct qn_json *doc = NULL;
    *out = NULL;
    qn_err err = qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, NULL, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref data = qn_json_get(&root, "data"), it;
    double best = -1;
    for (bool more = qn_json_first(&data, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id"), used = qn_json_get(&it, "last_use");
        struct qn_jref suggested = qn_json_get(&it, "suggested");
        double rank = qn_json_raw_f64(&used) * 2 + qn_json_raw_bool(&suggested);
        if (rank > best && is_for(&it, label)) {
            best = rank;
            free(*out);
            *out = qn_xstrdup(qn_json_raw_str(&id));
        }
    }
    qn_json_free(doc);
    return *out ? QN_OK : none(label, e);
}

qn_err qn_choice_ready(struct qn_cli *cli, const char *named, const char *label, char **out,
                       struct qn_error *e)
{
    *out = NULL;
    qn_err err = qn_launch_server(cli, e);
    if (err)
        return err;
    if (!named)
        return find_default(cli, label, out, e);
    if ((err = qn_offer(cli, named, out)))
        return qn_fail(e, err, "%.400s is not installed", named);
    if (!*out)
        *out = qn_xstrdup(named);
    return QN_OK;
}
