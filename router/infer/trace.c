/* See trace.h. */
#include "infer/trace.h"

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"

#include <string.h>

/* Bytes of text in one line: the rest of the line has to fit in QN_LOGS_LINE_MAX, too. */
enum { PIECE_BYTES = 1536 };

struct trace {
    const char *id;
    size_t job, left; /* bytes that may still be logged */
};

/* what: the kind of the text, such as the role of its message. A text of NULL or "" is skipped. */
static void tell(struct trace *t, const char *what, const char *text)
{
    size_t len = text ? strlen(text) : 0;
    while (len > 0 && t->left > 0) {
        size_t n = len < PIECE_BYTES ? len : qn_utf8_whole(text, PIECE_BYTES);
        if (n > t->left)
            n = qn_utf8_whole(text, t->left);
        if (n == 0) { /* not even one complete character */
            t->left = 0;
            return;
        }
        qn_trace("infer", "id=%s job=%zu %s=\"%.*s\"", t->id, t->job, what, (int)n, text);
        text += n;
        len -= n;
        t->left -= n;
    }
}

static void tell_message(struct trace *t, const struct qn_message *m)
{
    for (size_t i = 0; i < m->parts.n; i++) {
        const struct qn_message_part *p = &m->parts.v[i];
        if (p->kind == QN_PART_CALL) {
            tell(t, "call", p->name);
            tell(t, "arguments", p->arguments);
        } else {
            tell(t, p->kind == QN_PART_REASONING ? "reasoning" : qn_role_name(m->role), p->text);
        }
    }
}

static void tell_tokens(const struct trace *t, const struct qn_i64s *tokens)
{
    if (tokens->n)
        qn_trace("infer", "id=%s job=%zu prompt_tokens=%zu", t->id, t->job, tokens->n);
}

/* An input of an EMBED or RERANK: a string, an object with one, or an array of token ids. */
static void tell_input(struct trace *t, const struct qn_jref *v)
{
    struct qn_jref text = qn_json_get(v, "text");
    if (qn_json_type(v) == QN_JSON_ARRAY)
        qn_trace("infer", "id=%s job=%zu input_tokens=%zu", t->id, t->job, qn_json_count(v));
    else
        tell(t, "input", qn_json_raw_str(qn_json_type(v) == QN_JSON_OBJECT ? &text : v));
}

static void tell_inputs(struct trace *t, const struct qn_embed *m)
{
    struct qn_jref it;
    if (m->count <= 0)
        return;
    if (m->one) {
        tell_input(t, &m->inputs);
        return;
    }
    for (bool more = qn_json_first(&m->inputs, &it); more && t->left; more = qn_json_next(&it))
        tell_input(t, &it);
}

static void tell_job(struct trace *t, const struct qn_job *job)
{
    for (size_t i = 0; i < job->chat.messages.n; i++)
        tell_message(t, &job->chat.messages.v[i]);
    tell(t, "tools", job->chat.tools);
    tell_tokens(t, &job->chat.before);
    tell(t, "prompt", job->complete.prompt);
    tell(t, "suffix", job->complete.suffix);
    tell_tokens(t, &job->complete.prompt_tokens);
    tell(t, "query", job->embed.query);
    tell_inputs(t, &job->embed);
    tell(t, "prompt", job->transcribe.prompt);
    tell(t, "input", job->speak.input);
    tell(t, "instructions", job->speak.instructions);
    tell(t, "prompt", job->image.prompt);
    tell(t, "negative_prompt", job->image.negative_prompt);
    for (size_t i = 0; i < job->attachments.n; i++)
        qn_trace("infer", "id=%s job=%zu attachment=%s bytes=%lld", t->id, t->job,
                 qn_attachment_role_name(job->attachments.v[i].role),
                 (long long)job->attachments.v[i].bytes);
}

void qn_trace_prompts(const char *id, const struct qn_job *jobs, size_t n)
{
    struct trace t = {.id = id, .left = QN_TRACE_BYTES_MAX};
    for (t.job = 0; t.job < n; t.job++)
        tell_job(&t, &jobs[t.job]);
    if (t.left == 0)
        qn_trace("infer", "id=%s cut=1 bytes=%d: no more of this request is logged", id,
                 QN_TRACE_BYTES_MAX);
}
