/* See pull_preset.h. */
#include "downloads/pull_preset.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/job.h"
#include "dialects/ollama/ollama.h"
#include "dialects/openai/openai.h"

/* Validates parameters: an invalid value in a preset would make every request fail. */
static qn_err check_parameters(const struct qn_jref *v, struct qn_error *e)
{
    struct qn_arena *a = qn_arena_new(QN_PULL_PRESET_MAX);
    struct qn_job job;
    int64_t context;
    qn_job_init(&job);
    qn_err err = qn_ollama_options(v, a, &job.sampling, &context, e);
    qn_arena_free(a);
    return err;
}

static qn_err check_messages(const struct qn_jref *v, struct qn_error *e)
{
    struct qn_arena *a = qn_arena_new((size_t)8 * QN_PULL_PRESET_MAX); /* structs and texts */
    struct qn_job job;
    qn_job_init(&job);
    qn_err err = qn_openai_messages(v, a, &job, e);
    qn_arena_free(a);
    return err;
}

/* Roles of files, and the preset's member that each becomes. */
static const struct {
    const char *role, *member;
    qn_err (*check)(const struct qn_jref *v, struct qn_error *e); /* NULL: plain text */
} parts[] = {{"system", "system", NULL},
             {"params", "parameters", check_parameters},
             {"messages", "messages", check_messages}};
enum { PARTS = sizeof parts / sizeof *parts };

static qn_err add_json(struct qn_jw *w, const char *member, const struct qn_buf *text,
                       qn_err (*check)(const struct qn_jref *v, struct qn_error *e),
                       struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(text->data, text->len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    if (!(err = check(&root, e))) {
        qn_jw_key(w, member);
        qn_jw_raw(w, text->data, text->len);
    }
    qn_json_free(doc);
    return err;
}

static qn_err add(struct qn_jw *w, size_t part, const char *path, struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_PULL_PRESET_MAX);
    qn_err err = qn_file_read(path, &text, e);
    if (!err && parts[part].check) {
        err = add_json(w, parts[part].member, &text, parts[part].check, e);
    } else if (!err) {
        qn_jw_key(w, parts[part].member);
        qn_jw_strn(w, text.len ? text.data : "", text.len);
    }
    qn_buf_deinit(&text);
    return err;
}

void qn_pull_preset(const struct qn_download_file *files, const char *const *paths, size_t n,
                    struct qn_buf *out)
{
    struct qn_buf text;
    size_t added = 0;
    qn_buf_init(&text, QN_PULL_PRESET_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    for (size_t part = 0; part < PARTS; part++)
        for (size_t i = 0; i < n; i++) {
            struct qn_error e = {0};
            if (!qn_str_eq(files[i].role, parts[part].role))
                continue;
            if (add(&w, part, paths[i], &e))
                qn_warn("pulls", "file=%s left_out=%s message=\"%s\"", paths[i], parts[part].role,
                        e.message);
            else
                added++;
            break;
        }
    qn_jw_obj_end(&w);
    if (added && !text.overflow)
        qn_buf_add(out, text.data, text.len);
    qn_buf_deinit(&text);
}
