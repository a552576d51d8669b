/* See adapters.h. */
#include "llm/adapters.h"

#include "base/buf.h"
#include "base/str.h"
#include "engine/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading the load option ---- */

static qn_err read_one(const struct qn_jref *v, struct qn_adapter_option *out, struct qn_error *e)
{
    struct qn_jref path = qn_json_get(v, "path"), name = qn_json_get(v, "name");
    struct qn_jref scale = qn_json_get(v, "scale");
    *out = (struct qn_adapter_option){.scale = 1};
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object with path, name and scale");
    qn_err err = qn_json_str(&path, &out->path, e);
    if (!err)
        err = qn_json_str_opt(&name, &out->name, e);
    if (!err && out->name && (!*out->name || strlen(out->name) > QN_JOB_LORA_NAME_MAX))
        err = qn_json_fail(&name, e, "a name has 1 to %d bytes", QN_JOB_LORA_NAME_MAX);
    if (!err && qn_json_type(&scale) > QN_JSON_NULL)
        err = qn_json_f64(&scale, -QN_JOB_LORA_SCALE_MAX, QN_JOB_LORA_SCALE_MAX, &out->scale, e);
    return err;
}

qn_err qn_adapter_options_read(const struct qn_jref *list, struct qn_adapter_options *out,
                               struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    out->n = 0;
    if (qn_json_type(list) != QN_JSON_ARRAY)
        return qn_json_fail(list, e, "expected an array of objects with path, name and scale");
    if (qn_json_count(list) > QN_ADAPTERS_MAX)
        return qn_json_fail(list, e, "a model takes at most %d adapters, not %zu", QN_ADAPTERS_MAX,
                            qn_json_count(list));
    for (bool more = qn_json_first(list, &it); more && !err; more = qn_json_next(&it))
        err = read_one(&it, &out->v[out->n++], e);
    return err;
}

/* ---- loading ---- */

/* The file's name without folder and extension. */
static char *stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = qn_xstrdup(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
    if (strlen(name) > QN_JOB_LORA_NAME_MAX)
        name[qn_utf8_whole(name, QN_JOB_LORA_NAME_MAX)] = '\0';
    return name;
}

static int32_t find(const struct qn_adapters *a, const char *name)
{
    int32_t i = 0;
    while (i < a->n && !qn_str_eq(a->v[i].name, name))
        i++;
    return i < a->n ? i : -1;
}

static qn_err load_one(struct qn_adapters *a, struct qn_net *net, const struct qn_adapter_option *o,
                       struct qn_error *e)
{
    struct qn_weights *w;
    struct qn_error why = {0};
    int32_t index;
    char *name = o->name ? qn_xstrdup(o->name) : stem(o->path);
    qn_err err = QN_OK;
    if (find(a, name) >= 0)
        err = qn_fail_param(e, QN_EINVAL, "lora",
                            "two adapters are named '%s': give each a name of its own", name);
    if (!err && ((err = qn_weights_open(&w, o->path, &why)) ||
                 (err = qn_net_adapter_add(net, w, &index, &why))))
        err = qn_fail_param(e, err == QN_ENOMEM ? err : QN_EINVAL, "lora",
                            "the adapter %.300s cannot be used: %s", o->path, why.message);
    if (err) {
        free(name);
        return err;
    }
    a->v[index].name = name;
    a->v[index].scale = (float)o->scale;
    a->n = index + 1;
    return QN_OK;
}

qn_err qn_adapters_load(struct qn_adapters *a, struct qn_net *net,
                        const struct qn_adapter_options *options, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0; i < options->n && !err; i++)
        err = load_one(a, net, &options->v[i], e);
    return err;
}

void qn_adapters_deinit(struct qn_adapters *a)
{
    for (int32_t i = 0; i < a->n; i++)
        free(a->v[i].name);
    a->n = 0;
}

/* ---- choosing ---- */

static qn_err unknown(const struct qn_adapters *a, const struct qn_lora *l, const char *param,
                      struct qn_error *e)
{
    char which[QN_JOB_LORA_NAME_MAX + 32], names[QN_ERROR_MESSAGE_MAX / 2] = "";
    if (l->name)
        snprintf(which, sizeof which, "named '%s'", l->name);
    else
        snprintf(which, sizeof which, "with id %lld", (long long)l->id);
    if (a->n == 0)
        return qn_fail_param(e, QN_EINVAL, param,
                             "there is no adapter %s: the model was loaded without any (option "
                             "\"lora\" of its load)",
                             which);
    for (int32_t i = 0; i < a->n; i++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%d %s", i ? ", " : "", i, a->v[i].name);
    }
    return qn_fail_param(e, QN_EINVAL, param, "there is no adapter %s: the model has %s", which,
                         names);
}

qn_err qn_adapters_mix(const struct qn_adapters *a, const struct qn_loras *asked,
                       struct qn_mix *out, struct qn_error *e)
{
    float scale[QN_ADAPTERS_MAX] = {0};
    bool named[QN_ADAPTERS_MAX] = {false};
    for (int32_t i = 0; i < a->n && !asked->given; i++)
        scale[i] = a->v[i].scale;
    for (size_t i = 0; i < asked->n; i++) {
        const struct qn_lora *l = &asked->v[i];
        char param[32];
        int32_t index = l->name                      ? find(a, l->name)
                        : l->id >= 0 && l->id < a->n ? (int32_t)l->id
                                                     : -1;
        snprintf(param, sizeof param, "lora[%zu]", i);
        if (index < 0)
            return unknown(a, l, param, e);
        if (named[index])
            return qn_fail_param(e, QN_EINVAL, param, "adapter %d (%s) is named twice", (int)index,
                                 a->v[index].name);
        named[index] = true;
        scale[index] = isnan(l->scale) ? a->v[index].scale : (float)l->scale;
    }
    *out = (struct qn_mix){0};
    for (int32_t i = 0; i < a->n; i++)
        if (scale[i] != 0)
            out->part[out->n++] = (struct qn_mix_part){.adapter = i, .scale = scale[i]};
    return QN_OK;
}
