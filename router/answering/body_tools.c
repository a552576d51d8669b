/* See body_tools.h. */
#include "answering/body_tools.h"

#include "base/str.h"
#include "chats/chats.h"
#include "mcp_servers/offer.h"

#include <string.h>

enum { NAMES_MAX = 1024 * 1024 };

bool qn_answer_may_have_mcp(const char *params)
{
    return strstr(params, "\"mcp\"") != NULL;
}

static bool is_id(const char *text)
{
    return strlen(text) == QN_CHATS_ID_DIGITS &&
           strspn(text, "0123456789abcdef") == QN_CHATS_ID_DIGITS;
}

qn_err qn_answer_mcp_check(const struct qn_jref *params, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(params, "mcp"), it;
    if (qn_json_type(&list) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_json_fail(&list, e, "expected an array of ids of MCP servers");
    if (qn_json_count(&list) > QN_MCP_OFFER_SERVERS_MAX)
        return qn_json_fail(&list, e, "at most %d servers are possible", QN_MCP_OFFER_SERVERS_MAX);
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
        if (!is_id(qn_json_raw_str(&it)))
            return qn_json_fail(&it, e, "expected the id of an MCP server");
    return QN_OK;
}

/* Returns the member of `own`, or if it is absent, that of `defaults`. */
static struct qn_jref either(const struct qn_jref *own, const struct qn_jref *defaults,
                             const char *name)
{
    struct qn_jref v = qn_json_get(own, name);
    return qn_json_type(&v) == QN_JSON_ABSENT ? qn_json_get(defaults, name) : v;
}

void qn_answer_tools_read(const char *own, const char *defaults, struct qn_answer_tools *out)
{
    struct qn_json *a = NULL, *b = NULL;
    struct qn_jref none = {0}, it;
    qn_buf_init(&out->servers, NAMES_MAX);
    qn_buf_init(&out->names, NAMES_MAX);
    (void)qn_json_parse(own, strlen(own), &a, NULL); /* after an error `a` is NULL: no members */
    (void)qn_json_parse(defaults, strlen(defaults), &b, NULL);
    struct qn_jref first = a ? qn_json_root(a) : none, second = b ? qn_json_root(b) : none,
                   mcp = either(&first, &second, "mcp"), tools = either(&first, &second, "tools");
    for (bool more = qn_json_first(&mcp, &it); more; more = qn_json_next(&it))
        if (is_id(qn_json_raw_str(&it)))
            qn_buf_fmt(&out->servers, "%s ", qn_json_raw_str(&it));
    for (bool more = qn_json_first(&tools, &it); more; more = qn_json_next(&it)) {
        struct qn_jref function = qn_json_get(&it, "function"),
                       name = qn_json_get(&function, "name");
        qn_buf_fmt(&out->names, "%s\n", qn_json_raw_str(&name));
    }
    qn_json_free(a);
    qn_json_free(b);
}

void qn_answer_tools_deinit(struct qn_answer_tools *t)
{
    qn_buf_deinit(&t->servers);
    qn_buf_deinit(&t->names);
}

bool qn_answer_tools_has(struct qn_answer_tools *t, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = qn_buf_cstr(&t->names); *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == n && !memcmp(at, name, n))
            return true;
    return false;
}

void qn_answer_tools_write(struct qn_jw *w, const struct qn_jref *own,
                           const struct qn_jref *defaults, const char *more)
{
    struct qn_jref tools = either(own, defaults, "tools"), it;
    qn_jw_key(w, "tools");
    qn_jw_arr(w);
    for (bool any = qn_json_first(&tools, &it); any; any = qn_json_next(&it))
        qn_jw_value(w, &it);
    if (*more)
        qn_jw_raw(w, more, strlen(more));
    qn_jw_arr_end(w);
}
