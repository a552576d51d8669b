/* See members.h. */
#include "answers/members.h"

static qn_err check(const struct qn_jref *v, size_t most, struct qn_error *e)
{
    struct qn_jref it;
    size_t n = 0;
    bool object = qn_json_type(v) == QN_JSON_OBJECT;
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        if (object && ++n > most)
            return qn_json_fail(v, e, "has more than %zu members", most);
        qn_err err = check(&it, QN_OBJECT_MEMBERS_MAX, e);
        if (err)
            return err;
    }
    return QN_OK;
}

qn_err qn_members_check(const struct qn_jref *root, struct qn_error *e)
{
    size_t n = 0;
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more && n <= QN_REQUEST_MEMBERS_MAX;
         more = qn_json_next(&it))
        n++;
    if (n > QN_REQUEST_MEMBERS_MAX)
        return qn_fail(e, QN_EINVAL, "the request has more than %d members",
                       QN_REQUEST_MEMBERS_MAX);
    return check(root, QN_REQUEST_MEMBERS_MAX, e);
}
