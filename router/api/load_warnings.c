/* See load_warnings.h. */
#include "api/load_warnings.h"

#include "base/buf.h"
#include "base/str.h"
#include "contract/server_args.h"
#include "models/engine_choice.h"
#include "models/load_options.h"

#include <string.h>

enum { HEADER_MAX = 4096 };

static void add(struct qn_load_warnings *w, const char *text)
{
    if (w->n < QN_LOAD_WARNINGS_MAX)
        w->v[w->n++] = text;
}

void qn_load_warn_of_idle(struct qn_load_warnings *w, const struct qn_jref *body,
                          struct qn_arena *arena)
{
    struct qn_jref it;
    for (bool more = qn_json_first(body, &it); more; more = qn_json_next(&it)) {
        const char *why = qn_json_type(&it) == QN_JSON_NULL ? NULL : qn_load_option_idle(it.key);
        if (why)
            add(w, qn_arena_fmt(arena, "%s %s", it.key, why));
    }
}

/* The text that the options, a JSON object, have under the name; "" where they have none. */
static const char *said(const char *options, const char *name, struct qn_arena *arena)
{
    struct qn_json *doc;
    if (qn_json_parse(options, strlen(options), &doc, NULL))
        return "";
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, name);
    const char *text = qn_arena_strdup(arena, qn_json_raw_str(&v));
    qn_json_free(doc);
    return text;
}

void qn_load_warn_of_engine(struct qn_load_warnings *w, const struct qn_loaded *loaded,
                            struct qn_arena *arena)
{
    const struct qn_server_kind *kind = qn_server_kind_of_type(loaded->type);
    if (!kind || *loaded->engine || qn_str_eq(loaded->device, "remote"))
        return;
    const char *build = said(loaded->options, kind->backend_option, arena);
    if (qn_engine_is_build(build))
        add(w, qn_arena_fmt(arena,
                            "%s '%s' has no effect: that engine is not installed, so quince's own "
                            "engine computes the model on the processor (CPU); `quince backends "
                            "install %s:%s` installs it, if this machine can run it",
                            kind->backend_option, build, kind->recipe, build));
    if (*said(loaded->options, kind->args_option, arena))
        add(w, qn_arena_fmt(arena,
                            "%s has no effect: quince's own engine computes the model, and the "
                            "arguments are for %s; %s '%s' makes that compute it",
                            kind->args_option, kind->program, kind->backend_option, kind->program));
}

void qn_load_warnings_write(const struct qn_load_warnings *w, struct qn_http *h,
                            struct qn_jw *reply)
{
    struct qn_buf all;
    if (!w->n)
        return;
    qn_buf_init(&all, HEADER_MAX);
    qn_jw_key(reply, "warnings");
    qn_jw_arr(reply);
    for (size_t i = 0; i < w->n; i++) {
        qn_jw_str(reply, w->v[i]);
        qn_buf_fmt(&all, "%s%s", i ? "; " : "", w->v[i]);
    }
    qn_jw_arr_end(reply);
    if (!all.overflow) {
        qn_http_set_header(h, "X-Quince-Warning", qn_buf_cstr(&all));
        qn_http_set_header(h, "X-Lemonade-Warning", qn_buf_cstr(&all));
    }
    qn_buf_deinit(&all);
}
