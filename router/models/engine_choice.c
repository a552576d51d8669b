/* See engine_choice.h. */
#include "models/engine_choice.h"

#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/cache_types.h"
#include "models/model_capabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS_MAX = 64 * 1024, ARENA_MAX = 1024 * 1024 };

/* The option's values besides the name of a pack's backend. */
enum word { OWN, SERVER, BUILD, OTHER };

static enum word read_word(const char *backend)
{
    static const struct {
        const char *name;
        enum word word;
    } words[] = {
        {"", OWN},          {"auto", OWN},     {"quince", OWN}, {"cpu", OWN},     {"default", OWN},
        {"system", SERVER}, {"vulkan", BUILD}, {"rocm", BUILD}, {"metal", BUILD}, {"npu", BUILD},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (qn_str_eq(words[i].name, backend))
            return words[i].word;
    return OTHER;
}

bool qn_engine_is_build(const char *backend)
{
    return read_word(backend) == BUILD;
}

/* True when quince's own program for the type is installed and serves the model's purpose. */
static bool own_can_run(const struct qn_backend_type *type, unsigned has)
{
    return !qn_backend_type_missing(type) && has & type->offers & QN_CAPABILITIES_PURPOSES;
}

qn_err qn_engine_choose(const struct qn_packs *packs, const struct qn_backend_type *type,
                        const struct qn_model_row *row, const char *backend,
                        struct qn_engine_choice *out, struct qn_error *e)
{
    const struct qn_server_kind *kind = qn_server_kind_of_type(type->type);
    enum word word = read_word(backend ? backend : "");
    bool own = own_can_run(type, qn_model_capabilities(row).has);
    struct qn_error why = {0};
    *out = (struct qn_engine_choice){0};
    if (!kind || (word == OWN && own))
        return QN_OK;
    const char *pack = word == OWN || word == SERVER ? kind->program : backend;
    if (qn_packs_program(packs, kind->recipe, pack, &out->program, &why) == QN_OK) {
        out->server = kind;
        snprintf(out->engine, sizeof out->engine, "%s:%s", kind->recipe, pack);
        return QN_OK;
    }
    /* No server can be installed for this type: quince's own engine reports what it cannot do. */
    if (word == OWN && !qn_backend_type_missing(type))
        return QN_OK;
    if (word == BUILD && own) {
        qn_warn("engine", "model=%s %s=%s: not installed, quince's own engine computes instead",
                row->name, kind->backend_option, backend);
        return QN_OK;
    }
    return qn_fail_param(e, why.code, kind->backend_option, "%s", why.message);
}

void qn_engine_choice_deinit(struct qn_engine_choice *c)
{
    if (c->server)
        qn_pack_program_deinit(&c->program);
    *c = (struct qn_engine_choice){0};
}

/* Options of quince's own engine that no server has. */
static bool is_own_option(const char *name)
{
    static const char *const names[] = {"prefix_cache", "weight_cache", "rope_scaling",
                                        "speculate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (qn_str_eq(names[i], name))
            return true;
    return false;
}

static void copy_options(const struct qn_jref *root, struct qn_jw *w)
{
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        if (is_own_option(it.key))
            continue;
        qn_jw_key(w, it.key);
        qn_jw_value(w, &it);
    }
}

static const char *file_of_role(const struct qn_model_row *row, const char *role)
{
    for (size_t i = 0; i < row->n_files; i++)
        if (qn_str_eq(row->roles[i], role))
            return row->files[i];
    return NULL;
}

static void write_server(const struct qn_engine_choice *c, const struct qn_model_row *row,
                         const char *args, struct qn_jw *w)
{
    static const char *const files[] = {"mmproj", "vae"};
    unsigned has = qn_model_capabilities(row).has;
    qn_jw_kstr(w, "server", c->server->program);
    qn_jw_kstr(w, "program", c->program.path);
    qn_jw_kstr(w, "folder", c->program.folder);
    if (*args)
        qn_jw_kstr(w, c->server->args_option, args);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (file_of_role(row, files[i]))
            qn_jw_kstr(w, files[i], file_of_role(row, files[i]));
    if (has & QN_CAN_EMBED)
        qn_jw_kbool(w, "embedding", true);
    if (has & QN_CAN_RERANK)
        qn_jw_kbool(w, "reranking", true);
}

/* Other projects' servers support more types of the KV cache than quince's own engine. */
static qn_err check_own(struct qn_buf *options, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(qn_buf_cstr(options), options->len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "cache_type");
    if (qn_json_type(&v) == QN_JSON_STRING && !qn_cache_type_own(qn_json_raw_str(&v)))
        err = qn_json_fail(&v, e, "quince's own engine knows f16, q8_0, q4_0 and f32");
    qn_json_free(doc);
    return err;
}

qn_err qn_engine_options(const struct qn_engine_choice *c, const struct qn_model_row *row,
                         const char *args, struct qn_buf *options, struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_strings words;
    if (!c->server)
        return check_own(options, e);
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    qn_err err = qn_server_args_read(c->server, args, arena, &words, e);
    qn_arena_free(arena);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(options), options->len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    struct qn_jw w = qn_jw_to(options);
    qn_buf_clear(options);
    qn_jw_obj(&w);
    copy_options(&root, &w);
    write_server(c, row, args, &w);
    qn_jw_obj_end(&w);
    qn_json_free(doc);
    return options->overflow
               ? qn_fail(e, QN_ELIMIT, "the options have more than %zu bytes", options->limit)
               : QN_OK;
}

unsigned qn_engine_offers(const struct qn_packs *packs, const struct qn_backend_type *type,
                          const struct qn_model_row *row, const char *backend)
{
    struct qn_engine_choice c;
    if (qn_engine_choose(packs, type, row, backend, &c, NULL))
        return 0;
    unsigned offers = c.server ? c.server->offers : type->offers;
    qn_engine_choice_deinit(&c);
    return offers;
}

void qn_engines_look(const struct qn_packs *packs, const char *backend_dir)
{
    char *bridge = qn_path_join(backend_dir, "quince-bridge");
    bool here = access(bridge, X_OK) == 0;
    for (size_t i = 0; i < qn_server_kinds(); i++) {
        const struct qn_server_kind *kind = qn_server_kind_at(i);
        struct qn_pack_program program;
        bool found = here && !qn_packs_program(packs, kind->recipe, kind->program, &program, NULL);
        if (found)
            qn_pack_program_deinit(&program);
        qn_backend_type_serve(qn_backend_type_find(kind->type), found);
    }
    free(bridge);
}
