/* Reading the JSON object that management requests carry. */
#include "router/api/api.h"

qn_err qn_api_body(struct qn_http *h, bool empty, struct qn_json **doc, struct qn_error *e)
{
    size_t n;
    const char *body = qn_http_body(h, &n);
    struct qn_error why = {0};
    *doc = NULL;
    if (!n)
        return empty ? QN_OK
                     : qn_fail(e, QN_EFORMAT, "the request body is empty: a JSON object is needed");
    qn_err err = qn_json_parse(body, n, doc, &why);
    if (err)
        return qn_fail(e, QN_EFORMAT, "the request body is not valid JSON: %s", why.message);
    struct qn_jref root = qn_json_root(*doc);
    if (qn_json_type(&root) == QN_JSON_OBJECT)
        return QN_OK;
    qn_json_free(*doc);
    *doc = NULL;
    return qn_fail(e, QN_EFORMAT, "the request body must be a JSON object");
}
