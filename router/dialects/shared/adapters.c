/* See adapters.h. */
#include "dialects/shared/adapters.h"

#include <math.h>
#include <string.h>

static qn_err read_one(const struct qn_jref *v, struct qn_lora *out, struct qn_error *e)
{
    *out = (struct qn_lora){.scale = NAN};
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object with id or name, and scale");
    struct qn_jref id = qn_json_get(v, "id"), name = qn_json_get(v, "name");
    struct qn_jref scale = qn_json_get(v, "scale");
    qn_err err = QN_OK;
    if (qn_json_type(&name) > QN_JSON_NULL)
        err = qn_json_str(&name, &out->name, e);
    else
        err = qn_json_i64(&id, 0, INT32_MAX, &out->id, e);
    if (!err && out->name && strlen(out->name) > QN_JOB_LORA_NAME_MAX)
        err = qn_json_fail(&name, e, "has more than %d bytes", QN_JOB_LORA_NAME_MAX);
    if (!err && qn_json_type(&scale) > QN_JSON_NULL)
        err = qn_json_f64(&scale, -QN_JOB_LORA_SCALE_MAX, QN_JOB_LORA_SCALE_MAX, &out->scale, e);
    return err;
}

qn_err qn_read_adapters(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "lora"), shift = qn_json_get(root, "context_shift"),
                   cache = qn_json_get(root, "cache_prompt"), it;
    bool wanted, cached = true;
    qn_err err = qn_json_bool_opt(&cache, &cached, e);
    if (err)
        return err;
    s->no_reuse = !cached;
    if (qn_json_type(&shift) > QN_JSON_NULL) {
        if ((err = qn_json_bool(&shift, &wanted, e)))
            return err;
        s->context_shift = wanted;
    }
    if (qn_json_type(&list) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_json_fail(&list, e, "expected an array of objects with id or name, and scale");
    size_t n = qn_json_count(&list);
    if (n > QN_JOB_LORAS_MAX)
        return qn_json_fail(&list, e, "at most %d adapters are allowed, not %zu", QN_JOB_LORAS_MAX,
                            n);
    s->lora.given = true;
    s->lora.v = qn_arena_alloc(rq->arena, (n + 1) * sizeof *s->lora.v);
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it))
        err = read_one(&it, &s->lora.v[s->lora.n++], e);
    return err;
}
