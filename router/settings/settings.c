/* The table of settings and the parsing of its layers, see settings.h. A row defines a setting's
 * flag, its environment variable (QUINCE_ and the flag in capitals), its key in config.json (the
 * flag's name) and its help text. */
#include "settings/settings_private.h"

#include "answers/profile.h"
#include "base/json.h"
#include "base/near.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "registry/ref.h"
#include "registry/store.h"
#include "settings/remote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTING_TEXT_MAX = 64 * 1024 };

enum { TEXT = QN_SETTING_TEXT, NUMBER = QN_SETTING_NUMBER, TRUTH = QN_SETTING_TRUTH };
enum {
    FILE_KEY = QN_SETTING_FILE_KEY,
    ELSEWHERE = QN_SETTING_ELSEWHERE,
    EVERYWHERE = FILE_KEY | ELSEWHERE,
    LIVE = QN_SETTING_LIVE,
    BY_HAND = QN_SETTING_BY_HAND,
    MAY_BE_EMPTY = QN_SETTING_MAY_BE_EMPTY
};

#define AT(member) offsetof(struct qn_settings, member)
static const struct qn_setting_row table[] = {
    {"host", TEXT, AT(host), "localhost", 0, 0, EVERYWHERE, "ADDRESS",
     "address to listen on; localhost means 127.0.0.1 and [::1]"},
    {"port", NUMBER, AT(port), "13305", 0, 65535, EVERYWHERE, "N",
     "port to listen on; 0 picks a free one and prints it"},
    {"insecure", TRUTH, AT(insecure), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "allow an address that other machines can reach although no key exists (anyone there may use "
     "the server)"},
    {"profile", TEXT, AT(profile), QN_PROFILE_MAIN_NAME, 0, 0, EVERYWHERE, "NAME",
     "which API's conventions the main port follows where APIs differ: " QN_PROFILE_NAMES},
    {"ollama-port", TEXT, AT(ollama_port), "auto", 0, 0, EVERYWHERE | LIVE, "PORT",
     "port for programs made for Ollama: auto (11434 if it is free and no service of Ollama is "
     "installed), off, or a number"},
    {"websocket-port", TEXT, AT(websocket_port), "auto", 0, 0, EVERYWHERE, "PORT",
     "port that /health reports for WebSockets, which all ports accept: auto (a free one), off "
     "(the main port), or a number"},
    {"listen", TEXT, AT(listen), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY, "LIST",
     "additional addresses to listen on, [ADDRESS:]PORT=PROFILE separated by commas; in "
     "config.json an array of {\"bind\", \"port\", \"profile\"}"},
    {"no-presets", TRUTH, AT(no_presets), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "refuse requests that make presets (Ollama's create and copy) with 501"},
    {"allow-hosts", TEXT, AT(allow_hosts), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE, "NAMES",
     "additional names of this server in requests (Host), separated by commas; * allows any"},
    {"allow-origins", TEXT, AT(allow_origins), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE,
     "ORIGINS",
     "origins of web pages that may use the server, https://chat.example.org, separated by commas; "
     "* allows any page"},
    {"metrics-auth", TRUTH, AT(metrics_auth), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "GET /metrics needs a key, too, if keys exist"},
    {"rate-limit", NUMBER, AT(rate_limit), "0", 0, 1000000, EVERYWHERE | LIVE, "N",
     "requests to models per minute for each client; 0: no limit"},
    {"rate-burst", NUMBER, AT(rate_burst), "10", 1, 1000000, EVERYWHERE | LIVE, "N",
     "how many of these requests may come at once"},
    {"data-dir", TEXT, AT(data_dir), "", 0, 0, ELSEWHERE, "DIR",
     "folder of all files that the server writes (default: ~/.local/share/quince)"},
    {"log-level", TEXT, AT(log_level), "info", 0, 0, EVERYWHERE | LIVE, "LEVEL",
     "critical, error, warn, info, debug or trace; trace also logs every prompt"},
    {"max-loaded-models", TEXT, AT(max_loaded_models), "1", 0, 0, EVERYWHERE | LIVE, "LIMITS",
     "models of one kind in memory at once, as N or by kind, llm=2,embedding=-1 (-1: no limit; in "
     "config.json also an object); kinds are llm, embedding, reranking, transcription, image, tts"},
    {"groups", TEXT, AT(groups), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE, "JSON",
     "which models may be in memory together, {\"NAME\": {\"members\": [...], \"swap\", "
     "\"exclusive\", \"persistent\"}} (see quince(1))"},
    {"preload", TEXT, AT(preload), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY, "MODELS",
     "models to load at start, separated by commas; in config.json also an array"},
    {"threads", NUMBER, AT(threads), "0", 0, 1024, EVERYWHERE | LIVE, "N",
     "processor threads for all models together; 0: as many as the machine has"},
    {"context", NUMBER, AT(context), "0", 0, 16 * 1024 * 1024, EVERYWHERE | LIVE, "TOKENS",
     "context in tokens for loading models; 0: the trained context, or less if memory is short"},
    {"slots", NUMBER, AT(slots), "0", 0, 256, EVERYWHERE | LIVE, "N",
     "sequences that a model's process can compute at once; 0: the process chooses"},
    {"cache-type", TEXT, AT(cache_type), "f16", 0, 0, EVERYWHERE | LIVE, "TYPE",
     "element type of the KV cache: f16, or q8_0 and q4_0 for less memory and less precision"},
    {"no-speculation", TRUTH, AT(no_speculation), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "turn off speculation by repeated text (outputs are the same either way)"},
    {"context-shift", TRUTH, AT(context_shift), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "when the context is full, drop its older half and continue instead of ending the output"},
    {"prefix-cache", TRUTH, AT(prefix_cache), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "store cached prompt prefixes on disk while a model is unloaded"},
    {"weight-cache", NUMBER, AT(weight_cache_gib), "16", 0, QN_WEIGHT_CACHE_GIB_MAX,
     EVERYWHERE | LIVE, "GIB",
     "disk space for repacked weights of models, which then load faster; 0: none"},
    {"memory-limit", NUMBER, AT(memory_limit_mb), "0", -1, INT64_C(1) << 30, EVERYWHERE | LIVE,
     "MIB",
     "memory for all models together; 0: what is free, at most nine tenths of the machine's; "
     "-1: no limit"},
    {"gpu-memory-limit", NUMBER, AT(gpu_memory_limit_mb), "0", 0, INT64_C(1) << 30,
     EVERYWHERE | LIVE, "MIB",
     "memory of graphics processors for all models together; 0: no limit"},
    {"idle", NUMBER, AT(idle_s), "0", 0, 31536000, EVERYWHERE | LIVE, "SECONDS",
     "unload a model after this time without use; 0: never"},
    {"auto-evict", TRUTH, AT(auto_evict), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "unload idle models automatically: after their evict_idle_timeout (300 s), and when memory "
     "runs short"},
    {"auto-evict-threshold-pct", TEXT, AT(auto_evict_threshold), "0.9", 0, 0, EVERYWHERE | LIVE,
     "SHARE", "share of the machine's memory in use (0 to 1) at which auto-evict unloads a model"},
    {"body-limit", NUMBER, AT(body_limit_mb), "32", 1, 1024, EVERYWHERE, "MIB",
     "largest request body that is accepted"},
    {"disk-reserve", NUMBER, AT(disk_reserve_mb), "1024", 0, INT64_C(1) << 40, EVERYWHERE | LIVE,
     "MIB", "free space that uploads leave on the disks of the data folder and TMPDIR"},
    {"upload-limit", NUMBER, AT(upload_limit_mb), "262144", 0, INT64_C(1) << 40, EVERYWHERE | LIVE,
     "MIB", "uploaded files of one client that no model uses; 0: no limit"},
    {"queue-limit", NUMBER, AT(queue_limit), "256", 1, 100000, EVERYWHERE | LIVE, "N",
     "requests that may wait for models in all; more are refused with 503"},
    {"max-concurrent", NUMBER, AT(max_concurrent), "0", 0, 65536, EVERYWHERE | LIVE, "N",
     "sequences that a model computes at once, further requests wait; 0: as many as its process "
     "can"},
    {"max-queue", NUMBER, AT(max_queue), "-1", -1, 100000, EVERYWHERE | LIVE, "N",
     "requests that may wait for one model, more are refused; -1: as many as queue-limit allows"},
    {"batch-wait", NUMBER, AT(batch_wait_s), "3", 0, 3600, EVERYWHERE | LIVE, "SECONDS",
     "how long a loaded model also serves requests that arrive while another model waits for its "
     "memory, so that models are not exchanged for every request"},
    {"request-timeout", NUMBER, AT(request_timeout_s), "0", 0, 31536000, EVERYWHERE | LIVE,
     "SECONDS", "longest time from a request's arrival to the end of its reply; 0: no limit"},
    {"drain", NUMBER, AT(drain_s), "30", 0, 3600, EVERYWHERE | LIVE, "SECONDS",
     "time that running requests get to finish when the server stops"},
    {"builtin-dir", TEXT, AT(builtin_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of the built-in list of models (default: the one installed with quince)"},
    {"models-dir", TEXT, AT(models_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of downloads from Hugging Face, shared with other programs (default: HF_HUB_CACHE, "
     "HF_HOME/hub or ~/.cache/huggingface/hub)"},
    {"extra-models-dir", TEXT, AT(extra_models_dir), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | BY_HAND,
     "DIRS",
     "additional folders whose models are listed, separated by colons; in config.json also an "
     "array"},
    {"no-discovery", TRUTH, AT(no_discovery), "false", 0, 0, EVERYWHERE, NULL,
     "do not look for models of llama.cpp, LM Studio, Ollama and Hugging Face's programs"},
    {"offline", TRUTH, AT(offline), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "contact no other machine: downloads wait, installed models work"},
    {"hf-endpoint", TEXT, AT(hf_endpoint), "", 0, 0, EVERYWHERE | BY_HAND, "URL",
     "address of Hugging Face (default: HF_ENDPOINT, or https://huggingface.co)"},
    {"modelscope-endpoint", TEXT, AT(modelscope_endpoint), "https://modelscope.cn", 0, 0,
     EVERYWHERE | BY_HAND, "URL", "address of ModelScope"},
    {"ollama-registry", TEXT, AT(ollama_registry), "https://registry.ollama.ai", 0, 0,
     EVERYWHERE | BY_HAND, "URL", "address of Ollama's registry"},
    {"default-model-source", TEXT, AT(default_model_source), "huggingface", 0, 0, EVERYWHERE, "HUB",
     "hub of names like owner/repository: huggingface or modelscope"},
    {"allow-private-hubs", TRUTH, AT(allow_private_hubs), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "allow downloads over http and from addresses in your network"},
    {"bandwidth-limit", NUMBER, AT(bandwidth_limit_kib), "0", 0, INT64_C(1) << 30,
     EVERYWHERE | LIVE, "KIB", "KiB per second for all downloads together; 0: no limit"},
    {"download-threads", NUMBER, AT(download_threads), "3", 1, 3, EVERYWHERE | LIVE, "N",
     "models that are downloaded at a time; others wait"},
    {"packs", TEXT, AT(packs), "", 0, 0, EVERYWHERE | BY_HAND, "FILE",
     "list of other projects' engines that can be installed (default: packs.json of builtin-dir)"},
    {"prefer-system", TRUTH, AT(prefer_system), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "prefer a llama-server, whisper-server or sd-server on the path to an installed one"},
    {"llamacpp-backend", TEXT, AT(llamacpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND, "ENGINE",
     "default engine of language models: auto (quince's own), llama-server, vulkan, ..."},
    {"llamacpp-args", TEXT, AT(llamacpp_args), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | BY_HAND,
     "ARGS", "additional arguments for llama-server"},
    {"whispercpp-backend", TEXT, AT(whispercpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND,
     "ENGINE", "default engine of transcription models: auto, whisper-server"},
    {"sd-cpp-backend", TEXT, AT(sdcpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND, "ENGINE",
     "default engine of image models: auto, sd-server"},
    {"no-fetch-executables", TRUTH, AT(no_fetch_executables), "false", 0, 0, EVERYWHERE | BY_HAND,
     NULL, "never download programs; installed engines and engines on the path work"},
    {"backend-dir", TEXT, AT(backend_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of the programs that run models (default: beside quinced)"},
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert((int)ROWS <= (int)QN_SETTINGS_MAX, "struct qn_settings.from has too few elements");

const struct qn_setting_row *qn_setting_row(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

/* Environment variables that begin with QUINCE_ and are not settings of the server. */
static const char *const foreign_env[] = {"QUINCE_API_KEY", "QUINCE_ADMIN_API_KEY", "QUINCE_TEST_",
                                          "QUINCE_ISA="};

void qn_setting_env_name(const struct qn_setting_row *r, char out[static QN_SETTING_ENV_MAX])
{
    size_t n = 0;
    for (const char *p = "QUINCE_"; *p; p++)
        out[n++] = *p;
    for (const char *p = r->name; *p && n < QN_SETTING_ENV_MAX - 1; p++)
        out[n++] = (char)(*p == '-' ? '_' : toupper((unsigned char)*p));
    out[n] = '\0';
}

static const struct qn_setting_row *row_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (qn_str_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

/* Returns the row whose name is most similar to a misspelt name; NULL if none is similar. */
static const struct qn_setting_row *nearest(const char *name)
{
    struct qn_near near = qn_near_begin(name);
    for (size_t i = 0; i < ROWS; i++)
        qn_near_offer(&near, table[i].name, table[i].name);
    return near.found ? row_find(near.found) : NULL;
}

qn_err qn_setting_unknown(const char *name, const char *where, struct qn_error *e)
{
    const struct qn_setting_row *near = nearest(name);
    return qn_fail_param(e, QN_EINVAL, name, "%s: '%.60s' is not a setting%s%s", where, name,
                         near ? "; did you mean " : "", near ? near->name : "");
}

/* where: the source as the user wrote it, for messages: "--port", "QUINCE_PORT", "config.json:
 * port". */
static qn_err set_text(struct qn_settings *s, const struct qn_setting_row *r,
                       enum qn_settings_layer layer, const char *where, const char *text,
                       struct qn_error *e)
{
    char *at = (char *)s + r->offset;
    s->from[r - table] = (unsigned char)layer;
    if (r->kind == TRUTH) {
        bool yes = qn_str_ieq(text, "true") || qn_str_eq(text, "1");
        if (!yes && !qn_str_ieq(text, "false") && !qn_str_eq(text, "0"))
            return qn_fail_param(e, QN_EINVAL, r->name, "%s must be true or false, not '%.80s'",
                                 where, text);
        memcpy(at, &yes, sizeof yes);
    } else if (r->kind == NUMBER) {
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
    const struct qn_setting_row *near = nearest(wanted);
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
        const struct qn_setting_row *r = NULL;
        for (size_t i = 0; i < ROWS && !r; i++) {
            qn_setting_env_name(&table[i], name);
            if (strlen(name) == (size_t)(equals - *env) && !strncmp(name, *env, strlen(name)))
                r = &table[i];
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
        const struct qn_setting_row *r = row_find(name);
        if (!r) {
            const struct qn_setting_row *near = nearest(name);
            return qn_fail(e, QN_EINVAL, "--%s is not a setting%s%s%s", name,
                           near ? "; did you mean --" : "", near ? near->name : "",
                           near ? "?" : " (see --help)");
        }
        const char *value = equals ? equals + 1 : NULL;
        if (!value && r->kind == TRUTH) {
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
    const struct qn_setting_row *r = &table[i];
    if (!(r->scope & FILE_KEY))
        return qn_fail_param(e, QN_EINVAL, r->name,
                             "%s: '%s' can only be given as a flag or in the environment", path,
                             r->name);
    struct qn_buf text, where;
    qn_buf_init(&text, SETTING_TEXT_MAX);
    qn_buf_init(&where, 8192);
    enum qn_json_type type = qn_json_type(v);
    qn_err err = QN_OK;
    static const enum qn_json_type wanted[] = {
        [TEXT] = QN_JSON_STRING, [NUMBER] = QN_JSON_NUMBER, [TRUTH] = QN_JSON_BOOL};
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
    *s = (struct qn_settings){0};
    for (size_t i = 0; i < ROWS; i++)
        if (*table[i].preset)
            set_text(s, &table[i], QN_FROM_DEFAULT, table[i].name, table[i].preset, NULL);
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
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].kind == TEXT) {
            char *text;
            memcpy(&text, (char *)s + table[i].offset, sizeof text);
            free(text);
        }
    *s = (struct qn_settings){0};
}
