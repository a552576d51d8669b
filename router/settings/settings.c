/* The layers of settings (defaults, environment, config.json, flags, a request) and their order,
 * see settings.h. The table of settings is in settings_table.c. */
#include "settings/settings_private.h"

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/ref.h"
#include "registry/store.h"
#include "settings/remote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTING_TEXT_MAX = 64 * 1024 };

/* Environment variables that begin with QUINCE_ and are not settings of the server. */
static const char *const foreign_env[] = {"QUINCE_API_KEY", "QUINCE_ADMIN_API_KEY", "QUINCE_TEST_",
                                          "QUINCE_ISA="};

/* where: the source as the user wrote it, for messages: "--port", "QUINCE_PORT", "config.json:
 * port". */
static qn_err set_text(struct qn_settings *s, const struct qn_setting_row *r,
                       enum qn_settings_layer layer, const char *where, const char *text,
                       struct qn_error *e)
{
    char *at = (char *)s + r->offset;
    s->from[r - qn_setting_row(0)] = (unsigned char)layer;
    if (r->kind == QN_SETTING_TRUTH) {
        bool yes = qn_str_ieq(text, "true") || qn_str_eq(text, "1");
        if (!yes && !qn_str_ieq(text, "false") && !qn_str_eq(text, "0"))
            return qn_fail_param(e, QN_EINVAL, r->name, "%s must be true or false, not '%.80s'",
                                 where, text);
        memcpy(at, &yes, sizeof yes);
    } else if (r->kind == QN_SETTING_NUMBER) {
        int64_t v;
        if (!qn_parse_i64(text, &v) || v < r->min || v > r->max)
            return qn_fail_param(e, QN_EINVAL, r->name,
                                 "%s must be a whole number from %lld to %lld, not '%.80s'", where,
                                 (long long)r->min, (long long)r->max, text);
        memcpy(at, &v, sizeof v);
    } else {
        qn_err err = qn_setting_check(r, where, text, e);
        if (err)
            return err;
        char *copy = qn_xstrdup(text), *old;
        memcpy(&old, at, sizeof old);
        free(old);
        memcpy(at, &copy, sizeof copy);
    }
    return QN_OK;
}

/* Refuses a variable that is no setting, as it is probably misspelt. A variable that a stored
 * definition of a remote model names as its key_env is accepted, so that the server starts; new
 * definitions cannot use such names. data_dir NULL: not known yet, nothing is refused. */
static qn_err unknown_variable(const char *data_dir, const char *text, size_t n, struct qn_error *e)
{
    char wanted[32] = "", name[QN_SETTING_ENV_MAX];
    size_t k = 0;
    char *whole = qn_xstrndup(text, n);
    bool forgiven = !data_dir || qn_remote_names_variable(data_dir, whole);
    free(whole);
    if (forgiven)
        return QN_OK;
    for (const char *p = text + strlen("QUINCE_"); p < text + n && k < 31; p++)
        wanted[k++] = (char)(*p == '_' ? '-' : tolower((unsigned char)*p));
    wanted[k] = '\0';
    const struct qn_setting_row *near = qn_setting_nearest(wanted);
    if (near)
        qn_setting_env_name(near, name);
    return qn_fail(e, QN_EINVAL, "the environment's %.*s is not a setting%s%s%s", (int)n, text,
                   near ? "; did you mean " : "", near ? name : "",
                   near ? "?" : " (quinced --help lists them)");
}

/* data_dir: as for unknown_variable. */
static qn_err read_env(struct qn_settings *s, const char *const *env, const char *data_dir,
                       struct qn_error *e)
{
    for (; env && *env; env++) {
        if (!qn_str_starts(*env, "QUINCE_"))
            continue;
        bool foreign = false;
        for (size_t i = 0; i < sizeof foreign_env / sizeof *foreign_env; i++)
            foreign = foreign || qn_str_starts(*env, foreign_env[i]);
        const char *equals = strchr(*env, '=');
        if (foreign || !equals)
            continue;
        char name[QN_SETTING_ENV_MAX];
        const struct qn_setting_row *r;
        for (size_t i = 0; (r = qn_setting_row(i)); i++) {
            qn_setting_env_name(r, name);
            if (strlen(name) == (size_t)(equals - *env) && !strncmp(name, *env, strlen(name)))
                break;
        }
        if (!r) {
            qn_err err = unknown_variable(data_dir, *env, (size_t)(equals - *env), e);
            if (err)
                return err;
            continue;
        }
        qn_err err = set_text(s, r, QN_FROM_ENV, name, equals + 1, e);
        if (err)
            return err;
    }
    return QN_OK;
}

static qn_err read_flags(struct qn_settings *s, size_t n, const char *const *args,
                         struct qn_error *e)
{
    for (size_t i = 0; i < n; i++) {
        const char *word = args[i];
        if (!qn_str_starts(word, "--"))
            return qn_fail(e, QN_EINVAL,
                           "'%.80s' is not understood: quinced takes --NAME VALUE (see --help)",
                           word);
        const char *equals = strchr(word, '=');
        char name[64];
        size_t len = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
        if (len >= sizeof name)
            len = sizeof name - 1;
        memcpy(name, word + 2, len);
        name[len] = '\0';
        const struct qn_setting_row *r = qn_setting_named(name);
        if (!r) {
            const struct qn_setting_row *near = qn_setting_nearest(name);
            return qn_fail(e, QN_EINVAL, "--%s is not a setting%s%s%s", name,
                           near ? "; did you mean --" : "", near ? near->name : "",
                           near ? "?" : " (see --help)");
        }
        const char *value = equals ? equals + 1 : NULL;
        if (!value && r->kind == QN_SETTING_TRUTH) {
            value = "true";
        } else if (!value) {
            if (i + 1 == n)
                return qn_fail_param(e, QN_EINVAL, r->name, "--%s needs a value: %s", r->name,
                                     r->help);
            value = args[++i];
        }
        char where[72] = "--";
        memcpy(where + 2, r->name, strlen(r->name) + 1);
        qn_err err = set_text(s, r, QN_FROM_FLAG, where, value, e);
        if (err)
            return err;
    }
    return QN_OK;
}

/* path: the source of the member, for messages. */
static qn_err read_member(struct qn_settings *s, enum qn_settings_layer layer, const char *path,
                          const struct qn_jref *v, struct qn_error *e)
{
    size_t i;
    if (!qn_setting_find(v->key, &i))
        return qn_setting_unknown(v->key, path, e);
    const struct qn_setting_row *r = qn_setting_row(i);
    if (!(r->scope & QN_SETTING_FILE_KEY))
        return qn_fail_param(e, QN_EINVAL, r->name,
                             "%s: '%s' can only be given as a flag or in the environment", path,
                             r->name);
    struct qn_buf text, where;
    qn_buf_init(&text, SETTING_TEXT_MAX);
    qn_buf_init(&where, 8192);
    enum qn_json_type type = qn_json_type(v);
    qn_err err = QN_OK;
    static const enum qn_json_type wanted[] = {[QN_SETTING_TEXT] = QN_JSON_STRING,
                                               [QN_SETTING_NUMBER] = QN_JSON_NUMBER,
                                               [QN_SETTING_TRUTH] = QN_JSON_BOOL};
    bool own_form = false;
    if (type == QN_JSON_STRING)
        qn_buf_str(&text, qn_json_raw_str(v));
    else
        err = qn_setting_read(r, v, &text, &own_form, e);
    bool as_text = layer == QN_FROM_REQUEST && type >= QN_JSON_BOOL && type <= QN_JSON_STRING;
    if (!err && ((type != wanted[r->kind] && !as_text && !own_form) || text.overflow))
        err = qn_fail_param(e, QN_EINVAL, r->name, "%s: %s must be %s", path, r->name,
                            qn_json_type_name(wanted[r->kind]));
    qn_buf_fmt(&where, "%s: %s", path, r->name);
    if (!err)
        err = set_text(s, r, layer, qn_buf_cstr(&where), qn_buf_cstr(&text), e);
    qn_buf_deinit(&text);
    qn_buf_deinit(&where);
    return err;
}

static qn_err read_object(struct qn_settings *s, enum qn_settings_layer layer, const char *path,
                          const struct qn_jref *root, struct qn_error *e)
{
    qn_err err = QN_OK;
    struct qn_jref it;
    if (qn_json_type(root) != QN_JSON_OBJECT)
        return qn_fail(e, QN_EINVAL, "%s must hold a JSON object", path);
    for (bool more = qn_json_first(root, &it); more && !err; more = qn_json_next(&it))
        if (layer != QN_FROM_REQUEST || qn_json_type(&it) != QN_JSON_NULL)
            err = read_member(s, layer, path, &it, e);
    return err;
}

static qn_err read_text(struct qn_settings *s, enum qn_settings_layer layer, const char *path,
                        const char *text, size_t n, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_error why = {0};
    qn_err err = qn_json_parse(text, n, &doc, &why);
    if (err)
        return qn_fail(e, err, "%s: %s", path, why.message);
    struct qn_jref root = qn_json_root(doc);
    err = read_object(s, layer, path, &root, e);
    qn_json_free(doc);
    return err;
}

qn_err qn_settings_take(struct qn_settings *s, const struct qn_jref *object, struct qn_error *e)
{
    return read_object(s, QN_FROM_REQUEST, "the request", object, e);
}

/* given: the text to use in place of the file's; NULL: the file is read. */
static qn_err read_file(struct qn_settings *s, const char *given, struct qn_error *e)
{
    char *path = qn_path_join(s->data_dir, "config.json");
    struct qn_buf text;
    qn_buf_init(&text, QN_CONFIG_FILE_MAX);
    qn_err err = QN_OK;
    if (given) {
        err = read_text(s, QN_FROM_FILE, path, given, strlen(given), e);
    } else if (qn_file_exists(path)) {
        err = qn_file_read(path, &text, e);
        if (!err)
            err = read_text(s, QN_FROM_FILE, path, qn_buf_cstr(&text), text.len, e);
    }
    qn_buf_deinit(&text);
    free(path);
    return err;
}

/* The folder of models.json: ../share/quince/models next to an installed program, else the folder
 * in the source tree that contains the build folder. */
static char *default_builtin_dir(void)
{
    static const char *const places[] = {"../share/quince/models", "../../registry",
                                         "../../../registry"};
    char *self = qn_path_self_dir(), *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        char *dir = qn_path_join(self, places[i]), *list = qn_path_join(dir, "models.json");
        if (qn_file_exists(list))
            found = qn_path_absolute(dir, NULL);
        free(list);
        free(dir);
    }
    free(self);
    return found ? found : qn_xstrdup("/usr/share/quince/models");
}

static void make_absolute(char **path)
{
    char *here = **path == '/' ? NULL : getcwd(NULL, 0);
    if (!here)
        return;
    char *whole = qn_path_join(here, *path);
    free(*path);
    free(here);
    *path = whole;
}

/* Uses the variable that Hugging Face's own programs use. */
static char *default_hf_endpoint(const char *const *env)
{
    static const char name[] = "HF_ENDPOINT=";
    for (; env && *env; env++)
        if (qn_str_starts(*env, name) && (*env)[sizeof name - 1])
            return qn_xstrdup(*env + sizeof name - 1);
    return qn_xstrdup("https://huggingface.co");
}

/* Removes trailing slashes, because paths are appended to endpoints. */
static void cut_slashes(char *url)
{
    size_t n = strlen(url);
    while (n && url[n - 1] == '/')
        url[--n] = '\0';
}

void qn_settings_presets(struct qn_settings *s)
{
    const struct qn_setting_row *r;
    *s = (struct qn_settings){0};
    for (size_t i = 0; (r = qn_setting_row(i)); i++)
        if (*r->preset)
            set_text(s, r, QN_FROM_DEFAULT, r->name, r->preset, NULL);
}

qn_err qn_settings_read(struct qn_settings *s, size_t n_args, const char *const *args,
                        const char *const *env, enum qn_settings_wish *wish, struct qn_error *e)
{
    *wish = QN_WISH_RUN;
    for (size_t i = 0; i < n_args; i++) {
        if (qn_str_eq(args[i], "--help") || qn_str_eq(args[i], "-h"))
            *wish = QN_WISH_HELP;
        else if (qn_str_eq(args[i], "--version"))
            *wish = QN_WISH_VERSION;
    }
    if (*wish == QN_WISH_RUN)
        return qn_settings_read_again(
            s, &(struct qn_settings_layers){.n_args = n_args, .args = args, .env = env}, e);
    qn_settings_presets(s);
    return QN_OK;
}

qn_err qn_settings_read_again(struct qn_settings *s, const struct qn_settings_layers *layers,
                              struct qn_error *e)
{
    size_t n_args = layers->n_args;
    const char *const *args = layers->args;
    const char *const *env = layers->env;
    const char *request = layers->request;
    qn_settings_presets(s);
    /* The environment is read twice: config.json is in the data folder, which the environment or a
     * flag may name, and the environment must then overwrite what config.json sets. */
    qn_err err = read_env(s, env, NULL, e);
    if (!err)
        err = read_flags(s, n_args, args, e);
    if (err)
        return err;
    if (!s->data_dir)
        s->data_dir = qn_path_data_dir();
    if (!s->data_dir)
        return qn_fail_param(
            e, QN_EINVAL, "data-dir",
            "there is no home folder to keep data in: give one with --data-dir DIR");
    /* a copy, as reading the variables again replaces s->data_dir temporarily */
    char *data_dir = qn_xstrdup(s->data_dir);
    err = read_file(s, layers->file, e);
    if (!err)
        err = read_env(s, env, data_dir, e);
    free(data_dir);
    if (!err)
        err = read_flags(s, n_args, args, e);
    if (!err && request)
        err = read_text(s, QN_FROM_REQUEST, "the request", request, strlen(request), e);
    if (err)
        return err;
    if (!s->models_dir)
        s->models_dir = qn_store_hf_cache(env);
    make_absolute(&s->models_dir); /* the catalog stores paths below it */
    if (!s->hf_endpoint)
        s->hf_endpoint = default_hf_endpoint(env);
    if (qn_hub_kind_parse(s->default_model_source) != QN_HUB_HF &&
        qn_hub_kind_parse(s->default_model_source) != QN_HUB_MODELSCOPE)
        return qn_fail_param(e, QN_EINVAL, "default-model-source",
                             "default-model-source: '%.40s' is not a hub: huggingface and "
                             "modelscope are",
                             s->default_model_source);
    char **urls[] = {&s->hf_endpoint, &s->modelscope_endpoint, &s->ollama_registry};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        cut_slashes(*urls[i]);
    if (!s->builtin_dir)
        s->builtin_dir = default_builtin_dir();
    if (!s->backend_dir)
        s->backend_dir = qn_path_self_dir();
    if (!s->packs)
        s->packs = qn_path_join(s->builtin_dir, "packs.json");
    return QN_OK;
}

void qn_settings_deinit(struct qn_settings *s)
{
    const struct qn_setting_row *r;
    for (size_t i = 0; (r = qn_setting_row(i)); i++)
        if (r->kind == QN_SETTING_TEXT) {
            char *text;
            memcpy(&text, (char *)s + r->offset, sizeof text);
            free(text);
        }
    *s = (struct qn_settings){0};
}
