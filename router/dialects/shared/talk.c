/* See talk.h. */
#include "dialects/shared/talk.h"

#include "contract/job.h"

#include <string.h>

qn_err qn_talk_check(const struct qn_jref *messages, struct qn_error *e)
{
    size_t n = qn_json_count(messages);
    return n > QN_TALK_MESSAGES_MAX
               ? qn_json_fail(messages, e, "at most %d messages are allowed, not %zu",
                              QN_TALK_MESSAGES_MAX, n)
               : QN_OK;
}

void qn_talk_init(struct qn_talk *t)
{
    *t = (struct qn_talk){0};
    qn_buf_init(&t->out, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&t->text, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&t->parts, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&t->calls, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&t->reasoning, QN_JOB_PROMPT_BYTES_MAX);
    t->w = qn_jw_to(&t->out);
    qn_jw_arr(&t->w);
}

void qn_talk_deinit(struct qn_talk *t)
{
    qn_buf_deinit(&t->out);
    qn_buf_deinit(&t->text);
    qn_buf_deinit(&t->parts);
    qn_buf_deinit(&t->calls);
    qn_buf_deinit(&t->reasoning);
}

/* The text collected so far becomes a part of its own: a picture follows, or the end. */
static void part_of_text(struct qn_talk *t)
{
    if (!t->text.len)
        return;
    struct qn_jw w = qn_jw_to(&t->parts);
    w.comma = t->parts.len > 0;
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "text");
    qn_jw_kstr(&w, "text", qn_buf_cstr(&t->text));
    qn_jw_obj_end(&w);
    qn_buf_clear(&t->text);
    t->texts = 0;
}

static void close_message(struct qn_talk *t)
{
    if (!t->open)
        return;
    t->open = false;
    if (t->images) {
        part_of_text(t);
        qn_jw_kitems(&t->w, "content", &t->parts);
    } else {
        qn_jw_kstr(&t->w, "content", t->content ? qn_buf_cstr(&t->text) : NULL);
    }
    if (t->reasoning.len)
        qn_jw_kstr(&t->w, "reasoning_content", qn_buf_cstr(&t->reasoning));
    if (t->n_calls)
        qn_jw_kitems(&t->w, "tool_calls", &t->calls);
    qn_jw_obj_end(&t->w);
    /* A piece that was cut off would otherwise pass for a shorter text. */
    t->out.overflow |=
        t->text.overflow | t->parts.overflow | t->calls.overflow | t->reasoning.overflow;
    qn_buf_clear(&t->text);
    qn_buf_clear(&t->parts);
    qn_buf_clear(&t->calls);
    qn_buf_clear(&t->reasoning);
    t->texts = t->images = t->n_calls = 0;
    t->content = false;
}

void qn_talk_message(struct qn_talk *t, const char *role)
{
    close_message(t);
    t->open = true;
    t->n++;
    qn_jw_obj(&t->w);
    qn_jw_kstr(&t->w, "role", role);
}

void qn_talk_text(struct qn_talk *t, const char *text)
{
    if (t->texts++)
        qn_buf_char(&t->text, '\n');
    qn_buf_str(&t->text, text);
    t->content = true;
}

void qn_talk_image(struct qn_talk *t, const char *url)
{
    part_of_text(t);
    struct qn_jw w = qn_jw_to(&t->parts);
    w.comma = t->parts.len > 0;
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "image_url");
    qn_jw_key(&w, "image_url");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "url", url);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    t->images++;
    t->content = true;
}

void qn_talk_reasoning(struct qn_talk *t, const char *text)
{
    qn_buf_str(&t->reasoning, text);
}

static void write_arguments(const struct qn_jref *arguments, struct qn_jw *w)
{
    const char *text = qn_json_raw_str(arguments);
    struct qn_json *doc = NULL;
    struct qn_buf out;
    qn_buf_init(&out, QN_JOB_PROMPT_BYTES_MAX);
    qn_jw_key(w, "arguments");
    if (qn_json_type(arguments) == QN_JSON_OBJECT) {
        qn_json_print(arguments, &out);
    } else if (qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc);
        if (qn_json_type(&root) == QN_JSON_OBJECT)
            qn_json_print(&root, &out);
    }
    if (out.len)
        qn_jw_raw(w, out.data, out.len);
    else
        qn_jw_str(w, text);
    qn_buf_deinit(&out);
    qn_json_free(doc);
}

void qn_talk_call(struct qn_talk *t, const char *id, const char *name,
                  const struct qn_jref *arguments)
{
    struct qn_jw w = qn_jw_to(&t->calls);
    w.comma = t->n_calls > 0;
    qn_jw_obj(&w);
    if (id)
        qn_jw_kstr(&w, "id", id);
    qn_jw_kstr(&w, "type", "function");
    qn_jw_key(&w, "function");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "name", name);
    write_arguments(arguments, &w);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    t->n_calls++;
}

void qn_talk_member(struct qn_talk *t, const char *key, const char *value)
{
    qn_jw_kstr(&t->w, key, value);
}

qn_err qn_talk_end(struct qn_talk *t, struct qn_arena *arena, const char *what, const char **out,
                   struct qn_error *e)
{
    close_message(t);
    qn_jw_arr_end(&t->w);
    if (t->n == 0)
        return qn_fail_param(e, QN_EINVAL, what, "%s: at least one message is needed", what);
    if (t->n > QN_TALK_MESSAGES_MAX)
        return qn_fail_param(e, QN_EINVAL, what, "%s: at most %d messages are allowed, not %zu",
                             what, QN_TALK_MESSAGES_MAX, t->n);
    *out = qn_arena_take(arena, &t->out);
    if (!*out)
        return qn_fail_param(e, QN_EINVAL, what, "%s: too long: at most %d bytes", what,
                             QN_JOB_PROMPT_BYTES_MAX);
    return QN_OK;
}
