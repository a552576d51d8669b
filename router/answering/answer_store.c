/* An answer's way into the database: text in batches, then the end with its figures; see
 * answer_private.h. */
#include "answering/answer_private.h"

#include "answers/answer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "dialects/page/page.h"

#include <stdlib.h>
#include <string.h>

enum { STATS_MAX = 4096, ERROR_MAX = 16 * 1024 };

static void commit(struct qn_answer *x);

void qn_answer_show(struct qn_answer *x)
{
    x->view.reasoning = qn_buf_cstr(&x->reasoning);
    x->view.text = qn_buf_cstr(&x->text);
    x->view.n_reasoning = x->kept_reasoning;
    x->view.n_text = x->kept_text;
}

static void commit_due(void *ctx)
{
    struct qn_answer *x = ctx;
    qn_timer_stop(x->commit_timer);
    x->commit_timer = NULL;
    commit(x);
}

/* Appends what has come, now or when the last append is long enough ago. */
static void schedule(struct qn_answer *x)
{
    if (x->committing || x->ended || x->commit_timer || !x->n_pieces)
        return;
    int64_t wait = x->commit_ms ? x->commit_ms + QN_ANSWERING_COMMIT_MS - qn_now_ms() : 0;
    if (wait <= 0)
        commit(x);
    else
        x->commit_timer = qn_timer_start(x->in->inference->serving->loop, wait, 0, commit_due, x);
}

/* The pieces for the database. *out is the caller's to free. */
static size_t pieces_of(struct qn_answer *x, struct qn_chat_piece **out)
{
    *out = qn_xcalloc(x->n_pieces + 1, sizeof **out);
    for (size_t i = 0; i < x->n_pieces; i++) {
        const struct qn_answer_piece *p = &x->pieces[i];
        struct qn_buf *of = p->reasoning ? &x->reasoning : &x->text;
        (*out)[i] = (struct qn_chat_piece){p->reasoning, qn_buf_cstr(of) + p->at, p->n};
    }
    return x->n_pieces;
}

static void send_end(struct qn_answer *x);

/* Bytes that the database does not have. */
static size_t ahead(const struct qn_answer *x)
{
    return x->reasoning.len + x->text.len - x->kept_reasoning - x->kept_text;
}

static void committed(void *ctx, const struct qn_chats_found *found)
{
    struct qn_answer *x = ctx;
    x->committing = false;
    if (found->e) {
        x->lost = true;
        qn_answer_fail(x, found->e);
    } else {
        x->kept_reasoning = x->sent_reasoning;
        x->kept_text = x->sent_text;
        x->view.state_changes += x->view.state != QN_CHAT_ANSWERING;
        x->view.state = QN_CHAT_ANSWERING;
        if (!x->calling)
            x->view.stage = QN_ANSWER_COMPUTING;
        qn_answer_show(x);
        qn_answer_tell(x);
    }
    if (x->ended && !x->end_sent)
        send_end(x);
    if (x->ended)
        return;
    if (x->paused && ahead(x) < QN_ANSWERING_AHEAD_MAX / 2) {
        x->paused = false;
        if (x->run)
            qn_infer_resume(x->run);
    }
    schedule(x);
}

static void commit(struct qn_answer *x)
{
    struct qn_chat_piece *pieces;
    size_t n = pieces_of(x, &pieces);
    x->committing = true;
    x->commit_ms = qn_now_ms();
    x->sent_reasoning = x->reasoning.len;
    x->sent_text = x->text.len;
    x->n_pieces = 0;
    qn_chats_append(x->in->chats, x->id, pieces, n, committed, x);
    free(pieces);
}

static void add_piece(struct qn_answer *x, bool reasoning, size_t at, size_t n)
{
    struct qn_answer_piece *last = x->n_pieces ? &x->pieces[x->n_pieces - 1] : NULL;
    if (last && last->reasoning == reasoning) {
        last->n += n;
        return;
    }
    if (x->n_pieces == x->cap_pieces) {
        x->cap_pieces = x->cap_pieces ? 2 * x->cap_pieces : 4;
        x->pieces = qn_xrealloc(x->pieces, x->cap_pieces * sizeof *x->pieces);
    }
    x->pieces[x->n_pieces++] = (struct qn_answer_piece){reasoning, at, n};
}

static void end_too_long(void *ctx)
{
    qn_answer_end(ctx, QN_CHAT_CUT, "length", NULL);
}

/* Uses a timer, since a run must not be ended while it writes. */
static void cut(struct qn_answer *x)
{
    x->too_long = true;
    qn_timer_stop(x->commit_timer);
    x->commit_timer = qn_timer_start(x->in->inference->serving->loop, 0, 0, end_too_long, x);
}

bool qn_answer_add(struct qn_answer *x, bool reasoning, const char *text, size_t n)
{
    struct qn_buf *to = reasoning ? &x->reasoning : &x->text;
    if (x->ended || x->too_long)
        return true;
    if (qn_buf_add(to, text, n)) {
        cut(x);
        return true;
    }
    qn_answer_show(x); /* the bytes may have moved */
    add_piece(x, reasoning, to->len - n, n);
    schedule(x);
    x->paused = ahead(x) >= QN_ANSWERING_AHEAD_MAX;
    return x->paused;
}

/* ---- the end ---- */

static double number(const struct qn_jref *object, const char *name)
{
    struct qn_jref v = qn_json_get(object, name);
    return qn_json_raw_f64(&v);
}

/* The figures of the run, and the times that were measured here. A run that was ended early has
 * reported none: then only what is known of the prompt. */
static char *stats_json(const struct qn_answer *x)
{
    static const char *const counts[] = {"prompt", "cached", "output", "reasoning"};
    struct qn_json *doc = NULL;
    struct qn_buf out;
    qn_buf_init(&out, STATS_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    if (x->figures && !qn_json_parse(x->figures, strlen(x->figures), &doc, NULL)) {
        struct qn_jref root = qn_json_root(doc);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            qn_jw_ki64(&w, counts[i], (int64_t)number(&root, counts[i]));
        double ms = number(&root, "output_ms");
        qn_jw_kf64(&w, "prompt_ms", number(&root, "prompt_ms"));
        qn_jw_kf64(&w, "output_ms", ms);
        qn_jw_kf64(&w, "tokens_s", ms > 0 ? number(&root, "output") * 1000 / ms : 0);
        qn_json_free(doc);
    } else if (x->view.total > 0) {
        qn_jw_ki64(&w, "prompt", x->view.total);
        qn_jw_ki64(&w, "cached", x->view.cached);
    }
    if (x->first_ms)
        qn_jw_ki64(&w, "first_ms", x->first_ms - x->began_ms);
    int64_t thought = x->thought_ms + (x->thinks ? qn_now_ms() - x->thinks_since_ms : 0);
    if (thought > 0)
        qn_jw_ki64(&w, "reasoning_ms", thought);
    if (x->context > 0)
        qn_jw_ki64(&w, "context", x->context);
    qn_jw_obj_end(&w);
    return qn_buf_take(&out);
}

static char *error_json(const struct qn_error *e)
{
    struct qn_buf out;
    qn_buf_init(&out, ERROR_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_page_error_write(&(struct qn_problem){.error = e}, &w);
    return qn_buf_take(&out);
}

/* Takes over the state and the finish that were stored: the database may have changed them because
 * there was no room for the next answer. */
static void take_end(struct qn_answer *x, const struct qn_chat_message *m)
{
    x->end_state = m->state;
    free(x->end_finish);
    x->end_finish = qn_xstrdup(m->finish);
}

static void stored(void *ctx, const struct qn_chats_found *found)
{
    struct qn_answer *x = ctx;
    x->stored = true;
    if (found->e) {
        qn_warn("answering", "end=not_stored error=%s message=\"%s\"", qn_err_name(found->e->code),
                found->e->message);
        free(x->end_error);
        x->end_error = error_json(found->e);
        x->end_state = QN_CHAT_FAILED;
    } else if (!x->lost) {
        x->kept_reasoning = x->reasoning.len;
        x->kept_text = x->text.len;
    }
    if (!found->e && x->goes_on && found->n_chats)
        qn_answer_next(x, found);
    else if (!found->e && found->n_messages)
        take_end(x, &found->messages[0]);
    x->view.state = x->end_state;
    x->view.calls = x->end_calls;
    x->view.calls_changes++;
    x->view.stats = x->end_stats;
    x->view.finish = x->end_finish;
    x->view.error = x->end_error;
    qn_answer_show(x);
    qn_answer_tell(x);
    qn_answer_drop(x);
}

static void send_end(struct qn_answer *x)
{
    struct qn_chat_piece *pieces = NULL;
    /* after a failed append, further text would follow a gap */
    size_t n = x->lost ? 0 : pieces_of(x, &pieces);
    bool goes_on = x->goes_on && x->end_state == QN_CHAT_DONE && !x->in->stopped &&
                   !x->in->inference->serving->stopping;
    x->end_sent = true;
    qn_chats_finish(x->in->chats, x->id,
                    &(struct qn_chat_end){.state = x->end_state,
                                          .finish = x->end_finish,
                                          .stats = x->end_stats,
                                          .error = x->end_error,
                                          .calls = x->n_calls ? x->end_calls : NULL,
                                          .next_model = goes_on ? x->model : NULL,
                                          .next_params = goes_on ? x->params : NULL,
                                          .pieces = pieces,
                                          .n_pieces = n},
                    stored, x);
    free(pieces);
}

static void drop_offer(struct qn_answer *x)
{
    for (size_t i = 0; i < x->n_calls; i++)
        x->calls[i].tool = NULL;
    x->view.tools = NULL;
    qn_mcp_offer_free(x->offer);
    x->offer = NULL;
}

void qn_answer_end(struct qn_answer *x, enum qn_chat_state state, const char *finish,
                   const char *error)
{
    if (x->ended)
        return;
    x->ended = true;
    qn_timer_stop(x->commit_timer);
    x->commit_timer = NULL;
    if (x->run)
        qn_infer_cancel(x->run, qn_chat_state_name(state));
    x->run = NULL;
    qn_answer_calls_stop(x);
    x->end_state = state;
    x->end_finish = qn_xstrdup(finish);
    x->end_error = error ? qn_xstrdup(error) : NULL;
    x->end_stats = stats_json(x);
    x->end_calls = qn_answer_calls_json(x);
    if (!x->busy) /* a worker may still read the offer; then free_answer frees it */
        drop_offer(x);
    if (!x->end_calls) {
        struct qn_error e;
        qn_fail(&e, QN_ELIMIT, "the model's tool calls are longer than %d bytes",
                QN_ANSWERING_CALLS_MAX);
        free(x->end_error);
        x->end_error = error_json(&e);
        x->end_state = QN_CHAT_FAILED;
    }
    /* When the server stops, no callback comes in time for another call. */
    if (!x->committing || x->in->stopped)
        send_end(x);
}

void qn_answer_fail(struct qn_answer *x, const struct qn_error *e)
{
    char *error = error_json(e);
    qn_answer_end(x, QN_CHAT_FAILED, "", error);
    free(error);
}
