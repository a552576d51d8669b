/* Handles an answer's logits: samples the next token, sends its text and log-probabilities, detects
 * the end; also sends the prompt's log-probabilities on request. */
#include "llm/scheduler/batch_private.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

static const char too_hard[] = "the schema or grammar takes too much work or memory to follow: "
                               "make it simpler, with fewer ways "
                               "to read the same text";

static const char no_token[] =
    "the model's vocabulary has no token for what must come next by the schema or grammar: use "
    "another model, or none of its unusual characters";

void qn_gen_fail(struct qn_batch *b, struct gen *g, qn_err code, const char *message)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_ERROR);
    qn_fail(&ev.error, code, "%s", message);
    struct qn_out out = g->r.out;
    qn_gen_remove(b, g);
    out.send(out.ctx, &ev);
}

/* Writes the tokens of prompt and reply as a JSON array. last: a final token that is not in
 * a->tokens; -1: none. */
static void write_tokens(const struct answer *a, int32_t last, struct qn_buf *json)
{
    struct qn_jw w = qn_jw_to(json);
    qn_jw_arr(&w);
    for (int32_t i = 0; i < a->known; i++)
        qn_jw_i64(&w, a->tokens[i]);
    if (last >= 0)
        qn_jw_i64(&w, last);
    qn_jw_arr_end(&w);
}

/* Ends the choice, and its request if this was the last choice. last: a generated token that is not
 * in a->tokens; -1: none. */
static void finish(struct qn_batch *b, struct answer *a, enum qn_finish why, int32_t last)
{
    struct gen *g = a->gen;
    struct qn_buf tokens;
    qn_buf_init(&tokens, QN_BATCH_TOKENS_JSON_MAX);
    if (g->r.want_tokens)
        write_tokens(a, last, &tokens);
    qn_output_finish(&a->output, why, g->r.want_tokens ? qn_buf_cstr(&tokens) : NULL);
    qn_buf_deinit(&tokens);
    qn_answer_retire(b, a);
    g->reasoned += a->output.reasoned;
    qn_output_deinit(&a->output);
    a->state = ANSWER_DONE;
    if (++g->done < g->r.choices)
        return;
    int64_t now = b->m.now_us();
    int64_t first = g->first_us ? g->first_us : now;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = (int64_t)g->r.n_prompt;
    ev.usage.cached = g->cached;
    ev.usage.output = g->output;
    ev.usage.reasoning = g->reasoned;
    ev.usage.prompt_ms = (double)(first - g->start_us) / 1000.0;
    ev.usage.output_ms = (double)(now - first) / 1000.0;
    struct qn_out out = g->r.out;
    out.send(out.ctx, &ev);
    qn_gen_remove(b, g);
    qn_event_init(&ev, QN_EV_END);
    out.send(out.ctx, &ev);
}

static struct qn_logprob logprob_of(const struct qn_batch *b, int32_t id, double value)
{
    struct qn_logprob p = {.id = id, .logprob = value};
    p.bytes = b->m.token_bytes(b->m.ctx, id, &p.len);
    return p;
}

/* Computes the log-probabilities of token id and of the n likeliest tokens. row: logits before bias
 * and penalties. */
static size_t logprobs_from(struct qn_batch *b, const float *row, int32_t id, int64_t n,
                            struct qn_logprob *self, struct qn_logprob top[QN_JOB_TOP_LOGPROBS_MAX])
{
    double norm = qn_log_sum_exp(row, b->m.vocab);
    *self = logprob_of(b, id, (double)row[id] - norm);
    size_t found = n > 0 ? qn_top_logits(row, b->m.vocab, (size_t)n, b->top) : 0;
    for (size_t i = 0; i < found; i++)
        top[i] = logprob_of(b, b->top[i].id, (double)b->top[i].logit - norm);
    return found;
}

/* Appends the prompt's log-probabilities for the computed tokens [from, to). rows [to - from,
 * vocab] are their logits; row i is the distribution of the token after token from + i. */
static void note_prompt_logprobs(struct qn_batch *b, struct gen *g, int32_t from, int32_t to,
                                 const float *rows)
{
    struct qn_logprob self, top[QN_JOB_TOP_LOGPROBS_MAX];
    struct qn_buf *json = &g->echo_json;
    if (from == 0) {
        qn_buf_char(json, '[');
        if (g->r.echo_skip == 0) {
            struct qn_jw w = qn_jw_to(json);
            self = logprob_of(b, g->r.prompt[0], NAN);
            qn_logprob_write(&w, &self, NULL, 0);
        }
    }
    for (int32_t i = from; i < to; i++) {
        size_t about = (size_t)i + 1;
        if (about >= g->r.n_prompt || about < g->r.echo_skip)
            continue;
        if (json->len > 1)
            qn_buf_char(json, ',');
        size_t n = logprobs_from(b, rows + (size_t)(i - from) * (size_t)b->m.vocab,
                                 g->r.prompt[about], g->r.logprobs, &self, top);
        struct qn_jw w = qn_jw_to(json);
        qn_logprob_write(&w, &self, top, n);
    }
    if ((size_t)to == g->r.n_prompt)
        qn_buf_char(json, ']');
}

static void send_echo(struct answer *a)
{
    struct gen *g = a->gen;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.index = a->index;
    ev.text = g->r.echo_text;
    ev.logprobs = qn_wants_prompt_logprobs(g) ? qn_buf_cstr(&g->echo_json) : NULL;
    g->r.out.send(g->r.out.ctx, &ev);
}

static void send_progress(struct qn_batch *b, struct answer *a)
{
    struct gen *g = a->gen;
    int64_t now = b->m.now_us();
    if (g->prompt_known || now - g->progress_us < QN_BATCH_PROGRESS_MS * 1000)
        return;
    g->progress_us = now;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_PROGRESS);
    ev.done = a->computed;
    ev.reused = g->cached;
    ev.total = (int64_t)g->r.n_prompt;
    g->r.out.send(g->r.out.ctx, &ev);
}

/* Whether the token adds bytes to the output. Control tokens do only if they are marks that the
 * output's parser needs. */
static bool speaks(const struct qn_batch *b, const struct answer *a, int32_t id)
{
    if (b->m.token_is_end(b->m.ctx, id))
        return false;
    return !b->m.token_is_control(b->m.ctx, id) ||
           (a->output.parse && b->m.token_is_mark && b->m.token_is_mark(b->m.ctx, id));
}

/* Masks the tokens that the request's constraint forbids. Returns false if the request has failed.
 */
static bool constrain(struct qn_batch *b, struct answer *a, float *row)
{
    struct qn_constraint *c = a->gen->r.constraint;
    struct qn_parse *parse = a->output.parse;
    if (!c)
        return true;
    if (!a->constraint.constraint && (!parse || qn_parse_in_text(parse)))
        qn_constraint_begin(&a->constraint, c);
    if (qn_constraint_mask(&a->constraint, row, b->m.vocab))
        return true;
    if (a->constraint.too_hard) {
        qn_gen_fail(b, a->gen, QN_ELIMIT, too_hard);
        return false;
    }
    qn_gen_fail(b, a->gen, QN_EUNSUPPORTED, no_token);
    return false;
}

/* Whether the thinking budget is used up and the reasoning does not end within a UTF-8 character.
 */
static bool reasoned_enough(struct answer *a)
{
    const struct gen *g = a->gen;
    struct qn_output *o = &a->output;
    return g->r.think_budget >= 0 && g->r.ending.n && o->parse &&
           o->reasoned >= g->r.think_budget && qn_parse_in_reasoning(o->parse) &&
           qn_utf8_whole(qn_buf_cstr(&o->held), o->held.len) == o->held.len;
}

/* Whether the tokens satisfy the constraint; true if no constraint applies yet. */
static bool may_say(const struct answer *a, const struct qn_tokens *t)
{
    struct qn_constraint_state s = {0};
    bool may = true;
    if (!a->constraint.constraint)
        return true;
    qn_constraint_copy(&s, &a->constraint);
    for (size_t i = 0; i < t->n && may; i++)
        may = qn_constraint_accept(&s, t->v[i]);
    qn_constraint_end(&s);
    return may;
}

/* Returns the next token to inject; -1: the token is to be sampled. */
static int32_t forced(struct answer *a)
{
    if (a->forced_at == a->forced.n && reasoned_enough(a) && may_say(a, &a->gen->r.ending)) {
        a->forced.n = a->forced_at = 0;
        for (size_t i = 0; i < a->gen->r.ending.n; i++)
            qn_tokens_push(&a->forced, a->gen->r.ending.v[i]);
    }
    return a->forced_at < a->forced.n ? a->forced.v[a->forced_at++] : -1;
}

/* Returns the longest token whose bytes are a prefix of bytes [n], and its length; -1 if there is
 * none. */
static int32_t token_at(const struct qn_batch *b, const char *bytes, size_t n, size_t *len)
{
    int32_t best = -1;
    *len = 0;
    for (int32_t id = 0; id < b->m.vocab; id++) {
        size_t k;
        const char *text = b->m.token_bytes(b->m.ctx, id, &k);
        if (k > *len && k <= n && !b->m.token_is_control(b->m.ctx, id) && !memcmp(text, bytes, k)) {
            best = id;
            *len = k;
        }
    }
    return best;
}

/* The constraint applies from the end of the reasoning on. If the bytes of token id continue after
 * the closing mark, that text would escape the constraint, so the mark alone is injected. Returns
 * the first token of the mark, or id if it does not continue; -1 if no tokens spell the mark. */
static int32_t without_text(struct qn_batch *b, struct answer *a, int32_t id)
{
    size_t n, k;
    const char *bytes = b->m.token_bytes(b->m.ctx, id, &n);
    size_t behind = a->gen->r.constraint && !a->constraint.constraint && a->output.parse
                        ? qn_parse_behind_mark(a->output.parse, bytes, n)
                        : 0;
    if (!behind)
        return id;
    a->forced.n = a->forced_at = 0;
    for (n -= behind; n > 0; bytes += k, n -= k) {
        int32_t part = token_at(b, bytes, n, &k);
        if (part < 0)
            return -1;
        qn_tokens_push(&a->forced, part);
    }
    return a->forced.v[a->forced_at++];
}

/* Samples a token; -1: the request has failed, or its answer has to be recomputed. */
static int32_t choose(struct qn_batch *b, struct answer *a, float *row)
{
    if (!constrain(b, a, row))
        return -1;
    int32_t id = qn_sampler_pick(&a->sampler, &b->work, row, a->tokens, (size_t)a->known);
    /* An answer whose echo has been sent cannot be restarted. */
    if (id < 0 && !a->gen->r.echo_text && qn_batch_mend(b, true))
        return -1;
    if (id < 0) {
        qn_gen_fail(
            b, a->gen, QN_EINTERNAL,
            "the model computed no finite number for the next token: its file may be damaged");
        return -1;
    }
    id = without_text(b, a, id);
    if (id < 0)
        qn_gen_fail(b, a->gen, QN_EUNSUPPORTED, no_token);
    return id;
}

/* Takes the logits after the last known token: chooses the next token, sends its text, and checks
 * for the end. Returns true if generation continues with this token. */
static bool advance(struct qn_batch *b, struct answer *a, float *row)
{
    struct gen *g = a->gen;
    bool logprobs = g->r.logprobs >= 0;
    if (logprobs)
        memcpy(b->plain, row, (size_t)b->m.vocab * sizeof *row);
    int32_t id = forced(a);
    if (id < 0 && (id = choose(b, a, row)) < 0)
        return false;
    a->generated++;
    g->output++;
    if (!g->r.ignore_eos && b->m.token_is_end(b->m.ctx, id)) {
        finish(b, a, QN_FINISH_STOP, -1);
        return false;
    }
    /* Checked before the text is sent, so that no text which violates the constraint reaches the
     * client. */
    if (!qn_constraint_accept(&a->constraint, id)) {
        qn_gen_fail(b, g, QN_ELIMIT, too_hard);
        return false;
    }
    struct qn_logprob self, top[QN_JOB_TOP_LOGPROBS_MAX];
    size_t n_top = logprobs ? logprobs_from(b, b->plain, id, g->r.logprobs, &self, top) : 0;
    size_t len = 0;
    const char *bytes = "";
    if (speaks(b, a, id))
        bytes = b->m.token_bytes(b->m.ctx, id, &len);
    if (qn_output_token(&a->output, bytes, len, logprobs ? &self : NULL, top, n_top)) {
        finish(b, a, QN_FINISH_STOP, id);
        return false;
    }
    if (qn_constraint_done(&a->constraint)) {
        finish(b, a, QN_FINISH_STOP, id);
        return false;
    }
    bool full = a->known == b->config.context;
    if (a->generated == g->r.max_tokens ||
        (full && !(g->r.context_shift && qn_answer_shift(b, a)))) {
        finish(b, a, QN_FINISH_LENGTH, id);
        return false;
    }
    a->tokens[a->known++] = id;
    return true;
}

/* Verifies speculated tokens. rows [1 + guessed, vocab]: logits after the last known token and
 * after each guess. A token is sampled from each row in order; the first one that differs from the
 * guess makes the remaining rows useless. */
static void settle_generated(struct qn_batch *b, struct answer *a, float *rows, int32_t guessed)
{
    struct qn_spec_luck *luck = a->by_draft ? &a->drafts : &a->repeats;
    int32_t guess[QN_SPEC_MAX], right = 0;
    memcpy(guess, a->tokens + a->known, (size_t)guessed * sizeof *guess);
    b->stats.guessed += guessed;
    for (int32_t i = 0;; i++) {
        a->computed = a->known;
        if (!advance(b, a, rows + (size_t)i * (size_t)b->m.vocab))
            return;
        if (i == guessed || a->tokens[a->known - 1] != guess[i])
            break;
        right++;
        b->stats.right++;
    }
    qn_spec_pass(&a->repeats, right + 1);
    qn_spec_pass(&a->drafts, right + 1);
    qn_spec_note(luck, guessed, right);
    if (right < guessed)
        a->computed = b->m.seq_truncate(a->seq, a->computed);
}

void qn_piece_settle(struct qn_batch *b, const struct qn_chunk *c, const struct piece *piece)
{
    struct answer *a = piece->answer;
    struct gen *g = a->gen;
    float *last = c->logits;
    if (qn_answer_wants_rows(a)) {
        note_prompt_logprobs(b, g, a->computed, a->computed + piece->n, c->logits);
        last += (size_t)(piece->n - 1) * (size_t)b->m.vocab;
        if (g->echo_json.overflow) {
            qn_gen_fail(
                b, g, QN_ELIMIT,
                "the prompt's log-probabilities are too many to send: ask for fewer alternatives");
            return;
        }
    }
    a->computed += piece->n - piece->guessed;
    if (a->computed < a->known) {
        qn_answer_mark(b, a);
        send_progress(b, a);
        return;
    }
    if (a->generated == 0) {
        g->prompt_known = true;
        if (!g->first_us)
            g->first_us = b->m.now_us();
        if (g->r.echo_text)
            send_echo(a);
        if (g->r.max_tokens == 0) {
            finish(b, a, QN_FINISH_LENGTH, -1);
            return;
        }
    }
    settle_generated(b, a, last, piece->guessed);
}
