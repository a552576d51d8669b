#include "llm/output.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qn_output_token {
    uint64_t start; /* offset of its first byte in all bytes received */
    char *json;     /* its log-probability entry, owned */
};

static void write_one(struct qn_jw *w, const struct qn_logprob *t)
{
    qn_jw_ki64(w, "id", t->id);
    struct qn_buf text;
    qn_buf_init(&text, QN_OUTPUT_HELD_MAX);
    qn_output_clean(&text, t->bytes, t->len);
    qn_jw_key(w, "token");
    qn_jw_strn(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    qn_jw_key(w, "bytes");
    qn_jw_arr(w);
    for (size_t i = 0; i < t->len; i++)
        qn_jw_i64(w, (unsigned char)t->bytes[i]);
    qn_jw_arr_end(w);
    qn_jw_key(w, "logprob");
    if (isnan(t->logprob))
        qn_jw_null(w);
    else
        qn_jw_f64(w, t->logprob);
}

void qn_logprob_write(struct qn_jw *w, const struct qn_logprob *token, const struct qn_logprob *top,
                      size_t n)
{
    qn_jw_obj(w);
    write_one(w, token);
    qn_jw_key(w, "top");
    qn_jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        qn_jw_obj(w);
        write_one(w, &top[i]);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

void qn_output_clean(struct qn_buf *out, const char *bytes, size_t n)
{
    while (n > 0) {
        uint32_t cp;
        size_t used = qn_utf8_decode(bytes, n, &cp);
        /* every byte-level vocabulary has a token for byte 0, but the project's strings cannot
         * contain it */
        if (cp == 0)
            cp = 0xFFFD;
        char utf8[4];
        qn_buf_add(out, utf8, qn_utf8_encode(cp, utf8));
        bytes += used;
        n -= used;
    }
}

static void say(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at);
static void call(void *ctx, int64_t number, const char *id, const char *name,
                 const char *arguments);

void qn_output_init(struct qn_output *o, int64_t index, const struct qn_out *out,
                    const struct qn_strings *stops, bool logprobs,
                    const struct qn_parse_config *parse)
{
    memset(o, 0, sizeof *o);
    o->index = index;
    o->out = *out;
    o->stops = *stops;
    o->logprobs = logprobs;
    if (parse && qn_parse_needed(parse))
        o->parse = qn_parse_new(parse, &(struct qn_parse_sink){o, say, call});
    qn_buf_init(&o->held, QN_OUTPUT_HELD_MAX);
    qn_buf_init(&o->shown, 4 * (size_t)QN_OUTPUT_HELD_MAX);
    qn_buf_init(&o->json, QN_OUTPUT_HELD_MAX);
}

/* Drops the first n pending tokens. */
static void forget_tokens(struct qn_output *o, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(o->tokens[i].json);
    o->n_tokens -= n;
    if (n)
        memmove(o->tokens, o->tokens + n, o->n_tokens * sizeof *o->tokens);
}

void qn_output_deinit(struct qn_output *o)
{
    forget_tokens(o, o->n_tokens);
    free(o->tokens);
    qn_parse_free(o->parse);
    qn_buf_deinit(&o->held);
    qn_buf_deinit(&o->shown);
    qn_buf_deinit(&o->json);
    memset(o, 0, sizeof *o);
}

static size_t tokens_before(const struct qn_output *o, uint64_t until)
{
    size_t n = 0;
    while (n < o->n_tokens && o->tokens[n].start < until)
        n++;
    return n;
}

/* Sends the first n held bytes, with the log-probabilities of the tokens that begin before the
 * offset `until` (in all bytes received). Sends nothing if there are neither bytes nor tokens. */
static void show(struct qn_output *o, size_t n, uint64_t until)
{
    size_t reported = tokens_before(o, until);
    qn_buf_clear(&o->shown);
    qn_output_clean(&o->shown, qn_buf_cstr(&o->held), n);
    if (n == 0 && reported == 0)
        return;
    qn_buf_clear(&o->json);
    qn_buf_char(&o->json, '[');
    for (size_t i = 0; i < reported; i++) {
        if (i)
            qn_buf_char(&o->json, ',');
        qn_buf_str(&o->json, o->tokens[i].json);
    }
    qn_buf_char(&o->json, ']');
    forget_tokens(o, reported);
    struct qn_event ev;
    qn_event_init(&ev, o->reasoning ? QN_EV_REASONING : QN_EV_TEXT);
    ev.index = o->index;
    ev.text = qn_buf_cstr(&o->shown);
    ev.logprobs = o->logprobs ? qn_buf_cstr(&o->json) : NULL;
    o->out.send(o->out.ctx, &ev);
    qn_buf_drop(&o->held, n);
    o->base += n;
}

/* Sends the held bytes as they are; called when other output follows them. */
static void show_held(struct qn_output *o)
{
    if (o->held.len)
        show(o, qn_utf8_whole(o->held.data, o->held.len), o->base + o->held.len);
    o->base += o->held.len;
    qn_buf_clear(&o->held);
}

/* Returns the stop string that is completed first in held, or NULL; *at is its offset. Only matches
 * that end within the last `fresh` bytes are searched. */
static const char *find_stop(const struct qn_output *o, size_t fresh, size_t *at)
{
    const char *text = o->held.data;
    for (size_t end = o->held.len - fresh + 1; end <= o->held.len; end++) {
        const char *best = NULL;
        size_t best_len = 0;
        for (size_t i = 0; i < o->stops.n; i++) {
            size_t len = strlen(o->stops.v[i]);
            if (len > best_len && len <= end && memcmp(text + end - len, o->stops.v[i], len) == 0) {
                best = o->stops.v[i];
                best_len = len;
            }
        }
        if (best) {
            *at = end - best_len;
            return best;
        }
    }
    return NULL;
}

/* Returns the length of the longest suffix of held that is a proper prefix of a stop string. */
static size_t stop_prefix(const struct qn_output *o)
{
    size_t longest = 0;
    for (size_t i = 0; i < o->stops.n; i++) {
        size_t len = strlen(o->stops.v[i]) - 1;
        if (len > o->held.len)
            len = o->held.len;
        for (; len > longest; len--)
            if (memcmp(o->held.data + o->held.len - len, o->stops.v[i], len) == 0)
                longest = len;
    }
    return longest;
}

static void remember(struct qn_output *o, const struct qn_logprob *self,
                     const struct qn_logprob *top, size_t n_top)
{
    if (o->n_tokens == o->cap_tokens) {
        o->cap_tokens = o->cap_tokens ? 2 * o->cap_tokens : 8;
        o->tokens = qn_xrealloc(o->tokens, o->cap_tokens * sizeof *o->tokens);
    }
    struct qn_buf json;
    qn_buf_init(&json, QN_OUTPUT_HELD_MAX);
    struct qn_jw w = qn_jw_to(&json);
    qn_logprob_write(&w, self, top, n_top);
    o->tokens[o->n_tokens++] = (struct qn_output_token){o->raw, qn_buf_take(&json)};
}

/* Parser callback: takes n bytes of text or reasoning from offset `at` and sends what cannot be
 * part of a stop string. */
static void say(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at)
{
    struct qn_output *o = ctx;
    if (o->stop)
        return;
    if (o->reasoning != reasoning || at != o->base + o->held.len) {
        show_held(o);
        forget_tokens(o, tokens_before(o, at)); /* tokens that contained only marks and calls */
        o->base = at;
        o->reasoning = reasoning;
    }
    qn_buf_add(&o->held, bytes, n);
    size_t stop_at, ready = o->held.len;
    if (!reasoning) {
        o->stop = find_stop(o, n, &stop_at);
        if (o->stop) {
            show(o, stop_at, o->base + stop_at);
            qn_buf_clear(&o->held);
            forget_tokens(o, o->n_tokens);
            return;
        }
        ready -= stop_prefix(o);
    }
    size_t whole = qn_utf8_whole(o->held.data, o->held.len);
    if (whole < ready)
        ready = whole;
    if (ready > 0)
        show(o, ready, o->base + ready);
}

static void call(void *ctx, int64_t number, const char *id, const char *name, const char *arguments)
{
    struct qn_output *o = ctx;
    if (o->stop)
        return;
    show_held(o);
    o->called = true;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TOOL_CALL);
    ev.index = o->index;
    ev.call = number;
    ev.call_id = id;
    ev.name = name;
    ev.arguments = arguments;
    o->out.send(o->out.ctx, &ev);
}

bool qn_output_token(struct qn_output *o, const char *bytes, size_t len,
                     const struct qn_logprob *self, const struct qn_logprob *top, size_t n_top)
{
    if (o->logprobs && self)
        remember(o, self, top, n_top);
    if (len == 0)
        return false;
    uint64_t at = o->raw;
    o->raw += len;
    if (!o->parse) {
        say(o, false, bytes, len, at);
    } else {
        bool before = qn_parse_in_reasoning(o->parse);
        qn_parse_feed(o->parse, bytes, len);
        o->reasoned += before || qn_parse_in_reasoning(o->parse);
    }
    return o->stop || (o->parse && qn_parse_over(o->parse));
}

void qn_output_finish(struct qn_output *o, enum qn_finish finish, const char *tokens)
{
    if (o->parse) {
        if (finish == QN_FINISH_LENGTH)
            qn_parse_cut(o->parse);
        else
            qn_parse_end(o->parse);
        show_held(o);
    } else {
        show(o, qn_utf8_whole(qn_buf_cstr(&o->held), o->held.len), UINT64_MAX);
    }
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.index = o->index;
    if (o->stop)
        finish = QN_FINISH_STOP; /* the last bytes may have completed a stop string */
    /* A client must not run a call with incomplete arguments, so such calls are not reported here.
     */
    bool called = o->called && !(o->parse && qn_parse_broke(o->parse));
    ev.finish = called && finish == QN_FINISH_STOP ? QN_FINISH_TOOLS : finish;
    ev.stop = o->stop;
    ev.tokens = tokens;
    o->out.send(o->out.ctx, &ev);
}
