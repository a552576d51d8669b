/* See may_open.h. */
#include "router/may_open.h"

#include "registry/ref.h"
#include "router/answer.h"

#include <stdlib.h>
#include <string.h>

static bool lies_in(const char *real, const char *folder)
{
    char *dir = realpath(folder, NULL);
    size_t n = dir ? strlen(dir) : 0;
    bool inside = dir && !strncmp(real, dir, n) && real[n] == '/';
    free(dir);
    return inside;
}

/* folders: with : between, or NULL. */
static bool lies_in_one(const char *real, const char *folders)
{
    bool inside = false;
    for (const char *at = folders; at && *at && !inside;) {
        size_t n = strcspn(at, ":");
        char *folder = strndup(at, n);
        inside = folder && *folder && lies_in(real, folder);
        free(folder);
        at += n + (at[n] == ':');
    }
    return inside;
}

bool qn_may_open(const struct qn_services *sv, struct qn_http *h, const char *path)
{
    if (!sv->open_to_others)
        return true;
    char *real = realpath(path, NULL);
    bool may = real && (lies_in(real, sv->builtin_dir) || lies_in(real, sv->models_dir) ||
                        lies_in_one(real, sv->extra_models_dir));
    free(real);
    if (!may)
        qn_answer_plain(h, 403, "path_not_allowed",
                        "other machines can reach this server: it opens files of its models' "
                        "folders only (the settings models-dir and extra-models-dir)");
    return may;
}

bool qn_may_open_options(const struct qn_services *sv, struct qn_http *h,
                         const struct qn_jref *options)
{
    struct qn_jref list = qn_json_get(options, "lora"), it;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return true;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        if (qn_json_type(&path) == QN_JSON_STRING && !qn_may_open(sv, h, qn_json_raw_str(&path)))
            return false;
    }
    return true;
}

bool qn_may_open_order(const struct qn_services *sv, struct qn_http *h,
                       const struct qn_pull_order *order)
{
    for (size_t i = 0; i < order->n; i++) {
        struct qn_ref ref;
        if (qn_ref_parse(order->checkpoints[i].ref, QN_HUB_HF, &ref, NULL) == QN_OK &&
            ref.hub == QN_HUB_LOCAL && !qn_may_open(sv, h, ref.url))
            return false;
    }
    struct qn_json *doc;
    if (!*order->options ||
        qn_json_parse(order->options, strlen(order->options), &doc, NULL) != QN_OK)
        return true;
    struct qn_jref options = qn_json_root(doc);
    bool may = qn_may_open_options(sv, h, &options);
    qn_json_free(doc);
    return may;
}
