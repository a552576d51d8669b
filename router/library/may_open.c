/* See may_open.h. */
#include "library/may_open.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "io/peer.h"
#include "models/inventory.h"
#include "registry/ref.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lies_in(const char *real, const char *folder)
{
    char *dir = realpath(folder, NULL);
    size_t n = dir ? strlen(dir) : 0;
    bool inside = dir && !strncmp(real, dir, n) && real[n] == '/';
    free(dir);
    return inside;
}

/* folders: separated by colons, or NULL. */
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

static bool bits_allow(const struct stat *st, uid_t uid, mode_t owner, mode_t other)
{
    return (st->st_mode & (st->st_uid == uid ? owner : other)) != 0;
}

bool qn_readable_by(const char *path, uid_t uid)
{
    struct stat st;
    char *real = realpath(path, NULL); /* resolves symbolic links */
    bool may = real && stat(real, &st) == 0 && bits_allow(&st, uid, S_IRUSR, S_IROTH);
    while (may && real[1]) {
        char *slash = strrchr(real, '/');
        slash[slash == real] = '\0';
        may = stat(real, &st) == 0 && bits_allow(&st, uid, S_IXUSR, S_IXOTH);
    }
    free(real);
    return may;
}

/* A file that another user of this machine could not read is treated as missing. */
static bool may_read(struct qn_http *h, const char *path)
{
    struct qn_http_ends ends;
    struct qn_error e = {0};
    uid_t uid;
    if (!qn_http_ends(h, &ends) || !qn_peer_user(&ends, &uid) || uid == 0 || uid == geteuid() ||
        qn_readable_by(path, uid))
        return true;
    qn_fail_param(&e, QN_ENOTFOUND, "checkpoint", QN_NOT_READABLE, path);
    qn_answer_error(h, &e);
    return false;
}

bool qn_may_open(const struct qn_open_rule *rule, struct qn_http *h, const char *path)
{
    struct qn_caller caller;
    qn_auth_caller(rule->auth, h, &caller);
    if (!rule->open_to_others && caller.admin)
        return may_read(h, path);
    char *real = realpath(path, NULL);
    bool may = real && (lies_in(real, rule->builtin_dir) || lies_in(real, rule->models_dir) ||
                        lies_in_one(real, rule->extra_models_dir));
    free(real);
    if (!may)
        qn_answer_plain(
            h, 403, "path_not_allowed",
            "without admin rights, and where other machines can reach the server, it opens "
            "files of its models' folders only (the settings models-dir and "
            "extra-models-dir)");
    return may;
}

bool qn_may_open_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options)
{
    struct qn_jref list = qn_json_get(options, "lora"), it;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return true;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        if (qn_json_type(&path) == QN_JSON_STRING && !qn_may_open(rule, h, qn_json_raw_str(&path)))
            return false;
    }
    return true;
}

bool qn_may_save_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options)
{
    struct qn_error e = {0};
    if (!qn_may_open_options(rule, h, options))
        return false;
    if (!qn_inventory_check_files(rule->inventory, options, &e))
        return true;
    qn_answer_error(h, &e);
    return false;
}

/* Whether the file exists; if not, sends the error response, which contains the path. To be called
 * only for a file that the client may open. */
static bool is_there(struct qn_http *h, const char *path)
{
    struct qn_error e = {0};
    if (access(path, F_OK) == 0)
        return true;
    qn_fail_param(&e, QN_ENOTFOUND, "checkpoint", QN_NOT_READABLE, path);
    qn_answer_error(h, &e);
    return false;
}

bool qn_may_open_order(const struct qn_open_rule *rule, struct qn_http *h,
                       const struct qn_pull_order *order)
{
    for (size_t i = 0; i < order->n; i++) {
        struct qn_ref ref;
        if (qn_ref_parse(order->checkpoints[i].ref, QN_HUB_HF, &ref, NULL) == QN_OK &&
            ref.hub == QN_HUB_LOCAL && !(qn_may_open(rule, h, ref.url) && is_there(h, ref.url)))
            return false;
    }
    struct qn_json *doc;
    if (!*order->options ||
        qn_json_parse(order->options, strlen(order->options), &doc, NULL) != QN_OK)
        return true;
    struct qn_jref options = qn_json_root(doc);
    bool may = qn_may_save_options(rule, h, &options);
    qn_json_free(doc);
    return may;
}
