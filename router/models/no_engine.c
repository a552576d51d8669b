/* See no_engine.h. */
#include "models/no_engine.h"

#include "base/json.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "contract/server_args.h"
#include "formats/architectures.h"
#include "models/model_capabilities.h"

#include <stddef.h>
#include <string.h>

#define INSTALL_LLAMA                                                                              \
    "and no engine for it is installed: `quince backends install llamacpp:llama-server` fetches "  \
    "one"

/* The first matching row is used; purposes 0: any. */
static const struct {
    const char *recipe;
    unsigned purposes;
    const char *reason;
} reasons[] = {
    {"llamacpp", QN_CAN_EMBED, "for embeddings, " INSTALL_LLAMA},
    {"llamacpp", QN_CAN_RERANK, "for ranking texts, " INSTALL_LLAMA},
    {"whispercpp", 0,
     "for transcribing speech, and no engine for it is installed: `quince backends "
     "install whispercpp:whisper-server` fetches one"},
    {"sd-cpp", 0,
     "for making pictures, and no engine for it is installed: `quince backends install "
     "sd-cpp:sd-server` fetches one, where this machine can run it"},
    {"kokoro", 0,
     "for reading text aloud, and this version of quince has no engine for it: `quince "
     "remote add NAME URL` uses a server elsewhere that has one"},
};

const char *qn_no_engine(const char *recipe, unsigned has)
{
    const char *never = qn_recipe_unsupported(recipe);
    unsigned purposes = has & QN_CAPABILITIES_PURPOSES;
    const struct qn_backend_type *type = qn_backend_type_of(recipe, purposes);
    if (never || (type && (!purposes || qn_backend_type_reach(type) & purposes)))
        return never;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (qn_str_eq(reasons[i].recipe, recipe) &&
            (!reasons[i].purposes || reasons[i].purposes & purposes))
            return reasons[i].reason;
    return "of a kind that this version of quince has no engine for: `quince list --all` shows the "
           "models that run here";
}

/* True when the options name another project's engine for the recipe, and it is not installed. */
static bool lacks_server(const char *recipe, const char *options)
{
    const struct qn_backend_type *type = qn_backend_type_of(recipe, 0);
    const struct qn_server_kind *server = type ? qn_server_kind_of_type(type->type) : NULL;
    struct qn_json *doc;
    if (!server || qn_backend_type_served(type) ||
        qn_json_parse(options, strlen(options), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, server->backend_option);
    bool lacks = qn_str_eq(qn_json_raw_str(&v), server->program);
    qn_json_free(doc);
    return lacks;
}

#define OTHER_ARCHITECTURE                                                                         \
    "of an architecture or a quantisation that quince's own engine does not "                      \
    "compute, " INSTALL_LLAMA

const char *qn_no_engine_for_architecture(const char *recipe, const char *architecture)
{
    const struct qn_backend_type *type = qn_backend_type_of(recipe, 0);
    bool own = !type || !qn_str_eq(type->type, "llm") || qn_architecture_known(architecture);
    return own || qn_backend_type_served(type) ? NULL : OTHER_ARCHITECTURE;
}

const char *qn_no_engine_for_listed(const struct qn_registry_entry *entry)
{
    const char *why = qn_no_engine(entry->recipe, qn_listed_capabilities(entry).has);
    if (!why && lacks_server(entry->recipe, entry->options))
        why = OTHER_ARCHITECTURE;
    return why;
}

const char *qn_no_engine_for_row(const struct qn_model_row *row)
{
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    if (type && type->defined)
        return NULL;
    return qn_no_engine(row->recipe, qn_model_capabilities(row).has);
}
