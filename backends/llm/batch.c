#include "llm/batch.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gen { /* one request */
    struct gen *next;
    struct qn_batch_request r;
    int64_t launched, done;                  /* choices */
    int64_t cached, output;                  /* tokens, for usage */
    const char *stops[QN_JOB_STOPS_MAX + 1]; /* r.stops.v points here */
    bool prompt_known; /* some slot has computed all of the prompt: the other choices may copy it */
    int64_t start_us, first_us; /* first_us 0: no logits yet */
    int64_t progress_us;        /* when PROGRESS was sent last */
    struct qn_buf echo_json;    /* the prompt's log-probabilities so far: '[' entry ',' entry ... */
};

enum slot_state { SLOT_FREE, SLOT_PROMPT, SLOT_DECODE };

struct slot {
    enum slot_state state;
    struct qn_seq *seq;
    int32_t *tokens; /* [context]: what the cache holds, n of them */
    int32_t n;
    int64_t used; /* step number of the last use, for choosing a victim */
    /* Of the choice that occupies it: */
    struct gen *gen;
    struct qn_sampler sampler;
    struct qn_output output;
    int64_t generated;
    int32_t next; /* sampled, not computed yet */
};

struct qn_batch {
    struct qn_batch_model m;
    int32_t context;
    size_t n_slots;
    struct slot *slots;
    struct gen *gens;
    float *logits;            /* [QN_BATCH_LOGIT_ROWS + n_slots, vocab] */
    float *plain;             /* [vocab]: a row before bias and penalties touched it */
    struct qn_candidate *top; /* [QN_JOB_TOP_LOGPROBS_MAX] */
    struct qn_sampler_work work;
    int64_t step;
    size_t turn;        /* which slot's prompt is served first */
    double token_ms;    /* measured cost of one token in a step with prompts; 0: unknown */
    bool newcomer_last; /* the last slot went to a new request, not to a waiting choice */
};

qn_err qn_batch_new(const struct qn_batch_model *model, int slots, int32_t context,
                    struct qn_batch **out, struct qn_error *e)
{
    assert(slots >= 1 && slots <= QN_BATCH_SLOTS_MAX && context >= 1 && model->max_chunk >= slots);
    struct qn_batch *b = qn_xcalloc(1, sizeof *b);
    b->m = *model;
    b->context = context;
    b->n_slots = (size_t)slots;
    b->slots = qn_xcalloc(b->n_slots, sizeof *b->slots);
    size_t vocab = (size_t)model->vocab;
    b->logits =
        qn_alloc_sized((QN_BATCH_LOGIT_ROWS + b->n_slots) * vocab, sizeof *b->logits, SIZE_MAX / 2);
    b->plain = qn_alloc_sized(vocab, sizeof *b->plain, SIZE_MAX / 2);
    b->top = qn_xcalloc(QN_JOB_TOP_LOGPROBS_MAX, sizeof *b->top);
    qn_sampler_work_init(&b->work, model->vocab, (size_t)context);
    qn_err err = QN_OK;
    if (!b->logits || !b->plain)
        err = qn_fail(e, QN_ENOMEM, "no memory for the logits of %d slots", slots);
    for (size_t i = 0; i < b->n_slots && !err; i++) {
        b->slots[i].tokens = qn_alloc_sized((size_t)context, sizeof(int32_t), SIZE_MAX / 2);
        if (!b->slots[i].tokens)
            err = qn_fail(e, QN_ENOMEM, "no memory for a context of %d tokens", (int)context);
        else
            err = model->seq_new(model->ctx, context, &b->slots[i].seq, e);
    }
    if (err) {
        qn_batch_free(b);
        return err;
    }
    *out = b;
    return QN_OK;
}

static void gen_free(struct gen *g)
{
    free(g->r.prompt);
    free(g->r.echo_text);
    qn_buf_deinit(&g->echo_json);
    free(g);
}

static void slot_release(struct slot *s)
{
    qn_output_deinit(&s->output);
    s->state = SLOT_FREE;
    s->gen = NULL;
}

/* Takes the request and its slots out; the slots keep their tokens. */
static void gen_remove(struct qn_batch *b, struct gen *g)
{
    for (size_t i = 0; i < b->n_slots; i++)
        if (b->slots[i].gen == g)
            slot_release(&b->slots[i]);
    struct gen **at = &b->gens;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    gen_free(g);
}

void qn_batch_free(struct qn_batch *b)
{
    if (!b)
        return;
    while (b->gens)
        gen_remove(b, b->gens);
    for (size_t i = 0; i < b->n_slots; i++) {
        if (b->slots[i].seq)
            b->m.seq_free(b->slots[i].seq);
        free(b->slots[i].tokens);
    }
    free(b->slots);
    free(b->logits);
    free(b->plain);
    free(b->top);
    qn_sampler_work_deinit(&b->work);
    free(b);
}

/* Requests whose reader keeps up, with a choice that could start if a slot were free. */
static struct gen *waiting_choice(const struct qn_batch *b)
{
    for (struct gen *g = b->gens; g; g = g->next)
        if (g->prompt_known && g->launched < g->r.choices && !g->r.out.full(g->r.out.ctx))
            return g;
    return NULL;
}

static bool any_free(const struct qn_batch *b)
{
    for (size_t i = 0; i < b->n_slots; i++)
        if (b->slots[i].state == SLOT_FREE)
            return true;
    return false;
}

bool qn_batch_has_room(const struct qn_batch *b)
{
    /* New requests and waiting choices take turns, so that neither starves the other. */
    return any_free(b) && !(b->newcomer_last && waiting_choice(b));
}

static int32_t common_prefix(const struct slot *s, const int32_t *prompt, size_t n)
{
    int32_t i = 0;
    while (i < s->n && (size_t)i < n && s->tokens[i] == prompt[i])
        i++;
    return i;
}

/* A free slot whose cache holds as much of the prompt as can be had: its own, or a copy of
 * another's. A long cache that shares only a little (a system prompt) is kept and copied from, not
 * cut off. */
static struct slot *take_slot(struct qn_batch *b, const int32_t *prompt, size_t n)
{
    struct slot *victim = NULL, *source = NULL;
    int32_t shared = 0;
    for (size_t i = 0; i < b->n_slots; i++) {
        struct slot *s = &b->slots[i];
        if (s->state == SLOT_FREE && (!victim || s->used < victim->used))
            victim = s;
        int32_t common = common_prefix(s, prompt, n);
        bool better = common > shared;
        bool as_good_and_free = source && common == shared && common > 0 && s->state == SLOT_FREE &&
                                source->state != SLOT_FREE;
        if (better || as_good_and_free) {
            source = s;
            shared = common;
        }
    }
    assert(victim);
    if (source && source->state == SLOT_FREE && shared >= source->n / 2)
        victim = source;
    int32_t own = common_prefix(victim, prompt, n);
    if (victim == source || own >= shared) {
        victim->n = b->m.seq_truncate(victim->seq, own);
    } else if (b->m.seq_fork(victim->seq, source->seq, shared, NULL) == QN_OK) {
        memcpy(victim->tokens, source->tokens, (size_t)shared * sizeof *victim->tokens);
        victim->n = shared;
    } else {
        victim->n = 0;
    }
    return victim;
}

static bool wants_prompt_logprobs(const struct gen *g)
{
    return g->r.echo_text && g->r.logprobs >= 0;
}

/* Puts the request's next choice on a slot. */
static void launch(struct qn_batch *b, struct gen *g)
{
    /* The last token is always computed: its logits begin the answer. The first choice of a request
     * that wants the prompt's log-probabilities computes all of it. */
    size_t reusable = g->r.n_prompt - 1;
    if (g->launched == 0 && wants_prompt_logprobs(g))
        reusable = 0;
    struct slot *s = take_slot(b, g->r.prompt, reusable);
    s->state = SLOT_PROMPT;
    s->gen = g;
    s->used = ++b->step;
    s->generated = 0;
    if (g->launched == 0)
        g->cached = s->n;
    qn_sampler_init(&s->sampler, &g->r.sampling, g->launched);
    qn_output_init(&s->output, g->launched, &g->r.out, &g->r.stops, g->r.logprobs >= 0);
    g->launched++;
}

qn_err qn_batch_add(struct qn_batch *b, const struct qn_batch_request *r, struct qn_error *e)
{
    assert(r->n_prompt >= 1 && r->choices >= 1 && r->stops.n <= QN_JOB_STOPS_MAX + 1);
    if (r->n_prompt > (size_t)b->context)
        return qn_fail(
            e, QN_ECONTEXT,
            "the prompt has %zu tokens, but the model was loaded with a context of %d tokens: "
            "shorten the prompt, or load the model with a larger context",
            r->n_prompt, (int)b->context);
    if (!qn_batch_has_room(b))
        return qn_fail(e, QN_EBUSY, "all %zu slots are taken", b->n_slots);
    struct gen *g = qn_xcalloc(1, sizeof *g);
    g->r = *r;
    g->r.stops = (struct qn_strings){g->stops, 0};
    for (size_t i = 0; i < r->stops.n; i++)
        if (r->stops.v[i][0])
            g->stops[g->r.stops.n++] = r->stops.v[i];
    g->start_us = g->progress_us = qn_now_us();
    qn_buf_init(&g->echo_json, QN_BATCH_ECHO_MAX);
    struct gen **at = &b->gens;
    while (*at)
        at = &(*at)->next;
    *at = g;
    launch(b, g);
    b->newcomer_last = true;
    return QN_OK;
}

void qn_batch_cancel(struct qn_batch *b, const void *key)
{
    for (struct gen *g = b->gens; g; g = g->next) {
        if (g->r.key == key) {
            gen_remove(b, g);
            return;
        }
    }
}

static void gen_fail(struct qn_batch *b, struct gen *g, qn_err code, const char *message)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_ERROR);
    qn_fail(&ev.error, code, "%s", message);
    struct qn_out out = g->r.out;
    gen_remove(b, g);
    out.send(out.ctx, &ev);
}

/* Ends the slot's choice, and its request when that was the last. */
static void finish(struct qn_batch *b, struct slot *s, enum qn_finish why, const char *stop)
{
    struct gen *g = s->gen;
    qn_output_finish(&s->output, why, stop);
    slot_release(s);
    if (++g->done < g->r.choices)
        return;
    int64_t now = qn_now_us();
    int64_t first = g->first_us ? g->first_us : now;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = (int64_t)g->r.n_prompt;
    ev.usage.cached = g->cached;
    ev.usage.output = g->output;
    ev.usage.prompt_ms = (double)(first - g->start_us) / 1000.0;
    ev.usage.output_ms = (double)(now - first) / 1000.0;
    struct qn_out out = g->r.out;
    out.send(out.ctx, &ev);
    gen_remove(b, g);
    qn_event_init(&ev, QN_EV_END);
    out.send(out.ctx, &ev);
}

static struct qn_logprob logprob_of(const struct qn_batch *b, int32_t id, double value)
{
    struct qn_logprob p = {.id = id, .logprob = value};
    p.bytes = b->m.token_bytes(b->m.ctx, id, &p.len);
    return p;
}

/* The token's own log-probability and its n likeliest rivals', from an untouched row. */
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

/* Prompt tokens [from, to) have been computed; rows [to - from, vocab] are their logits. Row i
 * speaks of the token after it. */
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

static void send_echo(struct slot *s)
{
    struct gen *g = s->gen;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.index = s->output.index;
    ev.text = g->r.echo_text;
    ev.logprobs = wants_prompt_logprobs(g) ? qn_buf_cstr(&g->echo_json) : NULL;
    g->r.out.send(g->r.out.ctx, &ev);
}

static void send_progress(struct slot *s)
{
    struct gen *g = s->gen;
    int64_t now = qn_now_us();
    if (now - g->progress_us < QN_BATCH_PROGRESS_MS * 1000)
        return;
    g->progress_us = now;
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_PROGRESS);
    ev.done = s->n;
    ev.total = (int64_t)g->r.n_prompt;
    g->r.out.send(g->r.out.ctx, &ev);
}

/* The slot's logits are there: choose the next token, say it, and see whether that was the end. */
static void advance(struct qn_batch *b, struct slot *s, float *row)
{
    struct gen *g = s->gen;
    bool logprobs = g->r.logprobs >= 0;
    if (logprobs)
        memcpy(b->plain, row, (size_t)b->m.vocab * sizeof *row);
    int32_t id = qn_sampler_pick(&s->sampler, &b->work, row, s->tokens, (size_t)s->n);
    if (id < 0) {
        gen_fail(b, g, QN_EINTERNAL,
                 "the model computed no finite number for the next token: its file may be damaged");
        return;
    }
    s->generated++;
    g->output++;
    if (!g->r.ignore_eos && b->m.token_is_end(b->m.ctx, id)) {
        finish(b, s, QN_FINISH_STOP, NULL);
        return;
    }
    struct qn_logprob self, top[QN_JOB_TOP_LOGPROBS_MAX];
    size_t n_top = logprobs ? logprobs_from(b, b->plain, id, g->r.logprobs, &self, top) : 0;
    size_t len = 0;
    const char *bytes = "";
    if (!b->m.token_is_control(b->m.ctx, id) && !b->m.token_is_end(b->m.ctx, id))
        bytes = b->m.token_bytes(b->m.ctx, id, &len);
    const char *stop = qn_output_token(&s->output, bytes, len, logprobs ? &self : NULL, top, n_top);
    if (stop) {
        finish(b, s, QN_FINISH_STOP, stop);
    } else if (s->generated == g->r.max_tokens || s->n == b->context) {
        finish(b, s, QN_FINISH_LENGTH, NULL);
    } else {
        s->next = id;
        s->state = SLOT_DECODE;
    }
}

/* A piece of a step: chunk i of the forward pass belongs to this slot. */
struct piece {
    struct slot *slot;
    int32_t n;
};

static bool active(const struct slot *s, enum slot_state state)
{
    return s->state == state && !s->gen->r.out.full(s->gen->r.out.ctx);
}

/* How many prompt tokens this step may carry beside `taken` tokens of running answers. */
static int prompt_budget(const struct qn_batch *b, int taken)
{
    int least = taken > 0 ? QN_BATCH_CHUNK_MIN : QN_BATCH_CHUNK_ALONE;
    int budget = QN_BATCH_CHUNK_FIRST;
    if (b->token_ms > 0) {
        double fits = QN_BATCH_STEP_MS / b->token_ms;
        budget = fits > b->m.max_chunk ? b->m.max_chunk : (int)fits;
    }
    if (budget < least)
        budget = least;
    if (budget > b->m.max_chunk - taken)
        budget = b->m.max_chunk - taken;
    return budget;
}

struct plan {
    struct qn_chunk chunks[QN_BATCH_SLOTS_MAX];
    struct piece pieces[QN_BATCH_SLOTS_MAX];
    size_t n;
    int tokens;
    bool prompts;
    size_t rows;    /* of b->logits in use */
    bool rows_lent; /* a prompt takes the rows for all its tokens */
};

static void plan_decodes(struct qn_batch *b, struct plan *p)
{
    for (size_t i = 0; i < b->n_slots; i++) {
        struct slot *s = &b->slots[i];
        if (!active(s, SLOT_DECODE))
            continue;
        p->pieces[p->n] = (struct piece){s, 1};
        p->chunks[p->n++] = (struct qn_chunk){.seq = s->seq,
                                              .tokens = &s->next,
                                              .n = 1,
                                              .logits = b->logits + p->rows++ * (size_t)b->m.vocab};
        p->tokens++;
    }
}

static void plan_prompts(struct qn_batch *b, struct plan *p)
{
    int waiting = 0;
    for (size_t i = 0; i < b->n_slots; i++)
        waiting += active(&b->slots[i], SLOT_PROMPT);
    int budget = prompt_budget(b, p->tokens);
    b->turn++;
    for (size_t i = 0; i < b->n_slots && waiting > 0 && budget > 0; i++) {
        struct slot *s = &b->slots[(b->turn + i) % b->n_slots];
        if (!active(s, SLOT_PROMPT))
            continue;
        struct gen *g = s->gen;
        int share = (budget + waiting - 1) / waiting;
        waiting--;
        int32_t left = (int32_t)g->r.n_prompt - s->n;
        int32_t n = left < share ? left : share;
        bool all = wants_prompt_logprobs(g) && !g->prompt_known;
        if (all && p->rows_lent)
            continue;
        if (all && n > QN_BATCH_LOGIT_ROWS)
            n = QN_BATCH_LOGIT_ROWS;
        struct qn_chunk c = {
            .seq = s->seq, .tokens = g->r.prompt + s->n, .n = n, .all_logits = all};
        if (all || n == left) {
            c.logits = b->logits + p->rows * (size_t)b->m.vocab;
            p->rows += all ? (size_t)n : 1;
        }
        p->rows_lent |= all;
        p->pieces[p->n] = (struct piece){s, n};
        p->chunks[p->n++] = c;
        p->tokens += n;
        p->prompts = true;
        budget -= n;
    }
}

/* The piece has been computed. */
static void settle(struct qn_batch *b, const struct qn_chunk *c, const struct piece *piece)
{
    struct slot *s = piece->slot;
    memcpy(s->tokens + s->n, c->tokens, (size_t)piece->n * sizeof *s->tokens);
    s->n += piece->n;
    s->used = b->step;
    if (s->state == SLOT_DECODE) {
        advance(b, s, c->logits);
        return;
    }
    struct gen *g = s->gen;
    float *last = c->logits;
    if (c->all_logits) {
        note_prompt_logprobs(b, g, s->n - piece->n, s->n, c->logits);
        last += (size_t)(piece->n - 1) * (size_t)b->m.vocab;
        if (g->echo_json.overflow) {
            gen_fail(
                b, g, QN_ELIMIT,
                "the prompt's log-probabilities are too many to send: ask for fewer alternatives");
            return;
        }
    }
    if ((size_t)s->n < g->r.n_prompt) {
        send_progress(s);
        return;
    }
    g->prompt_known = true;
    if (!g->first_us)
        g->first_us = qn_now_us();
    if (g->r.echo_text)
        send_echo(s);
    if (g->r.max_tokens == 0)
        finish(b, s, QN_FINISH_LENGTH, NULL);
    else
        advance(b, s, last);
}

bool qn_batch_step(struct qn_batch *b)
{
    struct gen *waiting;
    while (any_free(b) && (waiting = waiting_choice(b))) {
        launch(b, waiting);
        b->newcomer_last = false;
    }
    struct plan p = {.n = 0};
    plan_decodes(b, &p);
    plan_prompts(b, &p);
    if (p.n == 0)
        return false;
    b->step++;
    int64_t start = qn_now_us();
    for (size_t i = 0; i < p.n; i++) {
        /* The model's cache has pages for every slot's whole context: this cannot fail. */
        qn_err err = b->m.seq_reserve(p.chunks[i].seq, p.chunks[i].n, NULL);
        assert(err == QN_OK);
        (void)err;
    }
    b->m.forward(b->m.ctx, p.chunks, p.n);
    if (p.prompts) {
        /* Half old, half new: the cost per token grows with the context and shrinks with the piece,
         * so this settles where a step takes QN_BATCH_STEP_MS. */
        double cost = (double)(qn_now_us() - start) / 1000.0 / p.tokens;
        if (cost < 1e-6)
            cost = 1e-6;
        b->token_ms = b->token_ms > 0 ? (b->token_ms + cost) / 2 : cost;
    }
    /* A failure may end a request with several slots: their later pieces then have no owner. */
    for (size_t i = 0; i < p.n; i++)
        if (p.pieces[i].slot->state != SLOT_FREE)
            settle(b, &p.chunks[i], &p.pieces[i]);
    return true;
}
