#include "llm/output.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qn_output_token {
    uint64_t start; /* offset of its first byte in the raw text */
    char *json;     /* its entry, owned */
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
        if (cp == 0) /* every byte-level vocabulary has it, and no text of this house can */
            cp = 0xFFFD;
        char utf8[4];
        qn_buf_add(out, utf8, qn_utf8_encode(cp, utf8));
        bytes += used;
        n -= used;
    }
}

void qn_output_init(struct qn_output *o, int64_t index, const struct qn_out *out,
                    const struct qn_strings *stops, bool logprobs)
{
    memset(o, 0, sizeof *o);
    o->index = index;
    o->out = *out;
    o->stops = *stops;
    o->logprobs = logprobs;
    qn_buf_init(&o->held, QN_OUTPUT_HELD_MAX);
    qn_buf_init(&o->shown, 4 * (size_t)QN_OUTPUT_HELD_MAX);
    qn_buf_init(&o->json, QN_OUTPUT_HELD_MAX);
}

void qn_output_deinit(struct qn_output *o)
{
    for (size_t i = 0; i < o->n_tokens; i++)
        free(o->tokens[i].json);
    free(o->tokens);
    qn_buf_deinit(&o->held);
    qn_buf_deinit(&o->shown);
    qn_buf_deinit(&o->json);
    memset(o, 0, sizeof *o);
}

/* Sends the first n held bytes, with the log-probabilities of the tokens that begin before `until`
 * (an offset in the raw text). Sends nothing when there is neither. */
static void show(struct qn_output *o, size_t n, uint64_t until)
{
    size_t reported = 0;
    while (reported < o->n_tokens && o->tokens[reported].start < until)
        reported++;
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
        free(o->tokens[i].json);
    }
    qn_buf_char(&o->json, ']');
    o->n_tokens -= reported;
    if (reported)
        memmove(o->tokens, o->tokens + reported, o->n_tokens * sizeof *o->tokens);
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.index = o->index;
    ev.text = qn_buf_cstr(&o->shown);
    ev.logprobs = o->logprobs ? qn_buf_cstr(&o->json) : NULL;
    o->out.send(o->out.ctx, &ev);
    qn_buf_drop(&o->held, n);
    o->base += n;
}

/* The stop string completed first within held, or NULL; *at is where it begins. Only matches that
 * end in the last `fresh` bytes can be new. */
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

/* Bytes at held's end that are the beginning of a stop string: the longest such run. */
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
    o->tokens[o->n_tokens++] = (struct qn_output_token){o->base + o->held.len, qn_buf_take(&json)};
}

const char *qn_output_token(struct qn_output *o, const char *bytes, size_t len,
                            const struct qn_logprob *self, const struct qn_logprob *top,
                            size_t n_top)
{
    if (o->logprobs && self)
        remember(o, self, top, n_top);
    if (len == 0)
        return NULL;
    qn_buf_add(&o->held, bytes, len);
    size_t at;
    const char *stop = find_stop(o, len, &at);
    if (stop) {
        show(o, at, o->base + at);
        qn_buf_clear(&o->held);
        for (size_t i = 0; i < o->n_tokens; i++)
            free(o->tokens[i].json);
        o->n_tokens = 0;
        return stop;
    }
    size_t ready = o->held.len - stop_prefix(o);
    size_t whole = qn_utf8_whole(o->held.data, o->held.len);
    if (whole < ready)
        ready = whole;
    if (ready > 0)
        show(o, ready, o->base + ready);
    return NULL;
}

void qn_output_finish(struct qn_output *o, enum qn_finish finish, const char *stop)
{
    show(o, qn_utf8_whole(qn_buf_cstr(&o->held), o->held.len), UINT64_MAX);
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.index = o->index;
    ev.finish = finish;
    ev.stop = stop;
    o->out.send(o->out.ctx, &ev);
}
