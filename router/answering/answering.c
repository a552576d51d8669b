/* The answers in progress: beginning, ending, watching; see answering.h and answer_private.h. */
#include "answering/answering.h"

#include "answering/answer_private.h"
#include "base/clock.h"
#include "base/str.h"
#include "chats/blobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_IDS_MAX = (QN_CHATS_ID_DIGITS + 1) * QN_CHATS_MESSAGES_MAX };

struct qn_answering *qn_answering_new(const struct qn_answering_config *config)
{
    struct qn_answering *a = qn_xcalloc(1, sizeof *a);
    a->inference = config->inference;
    a->chats = config->chats;
    a->mcp = config->mcp;
    return a;
}

static void free_answer(struct qn_answer *x)
{
    for (size_t i = 0; i < x->n_calls; i++) {
        free(x->calls[i].id);
        free(x->calls[i].name);
        qn_buf_deinit(&x->calls[i].arguments);
        qn_buf_deinit(&x->calls[i].result);
        qn_mcp_call_cancel(&x->calls[i].run);
    }
    qn_mcp_offer_free(x->offer);
    if (x->offers)
        qn_answer_tools_deinit(&x->tools);
    char *const owned[] = {x->client,     x->share,     x->model,     x->params,    x->figures,
                           x->end,        x->end_calls, x->end_stats, x->new_calls, x->kept_calls,
                           x->end_finish, x->end_error, x->reason,    x->blobs};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(x->calls);
    free(x->pieces);
    qn_timer_stop(x->commit_timer);
    qn_buf_deinit(&x->path);
    qn_buf_deinit(&x->body);
    qn_buf_deinit(&x->reasoning);
    qn_buf_deinit(&x->text);
    qn_arena_free(x->arena);
    free(x);
}

static void unlink_answer(struct qn_answer *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        x->in->answers = x->next;
    if (x->next)
        x->next->prev = x->prev;
}

static void link_answer(struct qn_answering *a, struct qn_answer *x)
{
    x->next = a->answers;
    if (x->next)
        x->next->prev = x;
    a->answers = x;
}

void qn_answer_drop(struct qn_answer *x)
{
    if (!x->stored || x->busy || x->watchers || x->telling)
        return;
    unlink_answer(x);
    free_answer(x);
}

void qn_answer_tell(struct qn_answer *x)
{
    struct qn_answer_watcher *next;
    x->telling = true;
    for (struct qn_answer_watcher *w = x->watchers; w; w = next) {
        next = w->next;
        w->more(w->ctx);
    }
    x->telling = false;
}

void qn_answering_stop(struct qn_answering *a)
{
    a->stopped = true;
    qn_timer_stop(a->look);
    a->look = NULL;
    for (struct qn_answer *x = a->answers; x; x = x->next)
        if (*x->id)
            qn_answer_end(x, QN_CHAT_INTERRUPTED, "", NULL);
}

void qn_answering_free(struct qn_answering *a)
{
    if (!a)
        return;
    while (a->answers) {
        struct qn_answer *x = a->answers;
        unlink_answer(x);
        free_answer(x);
    }
    qn_timer_stop(a->look);
    free(a);
}

size_t qn_answering_active(const struct qn_answering *a)
{
    size_t n = 0;
    for (const struct qn_answer *x = a->answers; x; x = x->next)
        n += !x->stored;
    return n;
}

/* ---- beginning ---- */

/* Looks at the answers that wait, as models report neither the progress of a load nor a change of a
 * place in a queue to those who wait. Runs only while an answer waits. */
static void look(void *ctx)
{
    struct qn_answering *a = ctx;
    bool any = false;
    for (struct qn_answer *x = a->answers, *next; x; x = next) {
        next = x->next;
        any = qn_answer_look(x) || any;
    }
    if (any)
        return;
    qn_timer_stop(a->look);
    a->look = NULL;
}

static void watch_waiting(struct qn_answering *a)
{
    if (!a->look && !a->stopped)
        a->look = qn_timer_start(a->inference->serving->loop, QN_ANSWERING_LOOK_MS,
                                 QN_ANSWERING_LOOK_MS, look, a);
}

/* Takes over what the database has of the answer, and the conversation. */
static void take(struct qn_answer *x, const struct qn_chats_found *found)
{
    const struct qn_stored_chat *chat = &found->chats[0];
    const struct qn_chat_message *self = &found->messages[found->n_messages - 1];
    snprintf(x->id, sizeof x->id, "%s", self->id);
    snprintf(x->chat, sizeof x->chat, "%s", self->chat);
    for (size_t i = 0; i < found->n_messages; i++)
        qn_buf_fmt(&x->path, "%s ", found->messages[i].id);
    if (x->more) {
        qn_buf_str(&x->reasoning, self->reasoning);
        qn_buf_str(&x->text, self->text);
        while (x->repeat < x->text.len &&
               strchr(" \t\r\n", x->text.data[x->text.len - x->repeat - 1]))
            x->repeat++;
    }
    x->kept_reasoning = x->reasoning.len;
    x->kept_text = x->text.len;
    x->blobs = qn_chats_blob_path(x->in->chats, "");
    x->ask = (struct qn_answer_ask){.path = found->messages,
                                    .n = found->n_messages,
                                    .more = x->more && x->reasoning.len + x->text.len > 0,
                                    .system = chat->system,
                                    .blobs = x->blobs,
                                    .model = x->model,
                                    .defaults = chat->params,
                                    .params = x->params};
    x->arena = *found->arena;
    *found->arena = NULL;
    x->view = (struct qn_answer_view){.state = QN_CHAT_QUEUED, .state_changes = 1, .reason = ""};
    qn_answer_show(x);
}

static void begun(void *ctx, const struct qn_chats_found *found)
{
    struct qn_answer *x = ctx;
    bool runs = !found->e && !x->in->stopped;
    if (runs)
        take(x, found);
    if (x->begun_fn)
        x->begun_fn(x->begun_ctx, found);
    if (runs) {
        qn_answer_run(x);
        watch_waiting(x->in);
    } else { /* one that begins while the server ends is found at its next start */
        unlink_answer(x);
        free_answer(x);
    }
}

static size_t count_of(const struct qn_answering *a, const char *owner)
{
    size_t n = 0;
    for (const struct qn_answer *x = a->answers; x; x = x->next)
        n += !x->stored && (!owner || qn_str_eq(x->caller.owner, owner));
    return n;
}

bool qn_answering_any(const struct qn_answering *a, const char *owner)
{
    return count_of(a, owner) > 0;
}

static qn_err check_limits(const struct qn_answering *a, const char *owner, struct qn_error *e)
{
    size_t all = count_of(a, NULL), own = count_of(a, owner);
    if (a->stopped || a->inference->serving->stopping)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (own >= QN_ANSWERING_OWNER_MAX)
        return qn_fail_param(e, QN_EBUSY, QN_ANSWERING_TOO_MANY,
                             "%d answers are in progress already: stop one, or wait for one",
                             QN_ANSWERING_OWNER_MAX);
    if (all >= QN_ANSWERING_MAX)
        return qn_fail_param(e, QN_EBUSY, QN_ANSWERING_TOO_MANY,
                             "the server is writing %d answers already: try again later",
                             QN_ANSWERING_MAX);
    return QN_OK;
}

static struct qn_answer *new_answer(struct qn_answering *a, const struct qn_answer_wish *wish)
{
    struct qn_answer *x = qn_xcalloc(1, sizeof *x);
    x->in = a;
    x->caller = wish->caller;
    x->client = qn_xstrdup(wish->client);
    x->share = qn_xstrdup(wish->share);
    x->model = qn_xstrdup(wish->model);
    x->params = qn_xstrdup(wish->params);
    x->profile = wish->profile;
    x->more = wish->more;
    x->round = 1;
    x->began_ms = qn_now_ms();
    qn_buf_init(&x->path, PATH_IDS_MAX);
    qn_buf_init(&x->body, QN_ANSWER_BODY_MAX);
    qn_buf_init(&x->reasoning, QN_CHATS_TEXT_MAX);
    qn_buf_init(&x->text, QN_CHATS_TEXT_MAX);
    link_answer(a, x);
    return x;
}

void qn_answer_next(struct qn_answer *x, const struct qn_chats_found *found)
{
    if (x->in->stopped)
        /* The next start of the server finds the new answer unfinished, and ends it as
         * INTERRUPTED. */
        return;
    struct qn_answer *next = new_answer(x->in, &(struct qn_answer_wish){.caller = x->caller,
                                                                        .client = x->client,
                                                                        .share = x->share,
                                                                        .profile = x->profile,
                                                                        .model = x->model,
                                                                        .params = x->params});
    next->round = x->round + 1;
    begun(next, found);
    memcpy(x->next_id, next->id, sizeof x->next_id);
    x->view.next = x->next_id;
}

qn_err qn_answering_begin(struct qn_answering *a, const struct qn_answer_wish *wish, qn_chats_fn fn,
                          void *ctx, struct qn_error *e)
{
    qn_err err = check_limits(a, wish->caller.owner, e);
    if (err)
        return err;
    struct qn_answer *x = new_answer(a, wish);
    x->begun_fn = fn;
    x->begun_ctx = ctx;
    if (x->more)
        qn_chats_continue_answer(a->chats, x->caller.owner, wish->message, x->model, x->params,
                                 begun, x);
    else
        qn_chats_begin_answer(a->chats, x->caller.owner, wish->message, x->model, x->params, begun,
                              x);
    return QN_OK;
}

/* ---- ending ---- */

/* An answer that the database has as unfinished. */
static struct qn_answer *find(const struct qn_answering *a, const char *owner, const char *message)
{
    for (struct qn_answer *x = a->answers; x; x = x->next)
        if (!x->stored && *x->id && qn_str_eq(x->id, message) && qn_str_eq(x->caller.owner, owner))
            return x;
    return NULL;
}

bool qn_answering_end(struct qn_answering *a, const char *owner, const char *message)
{
    struct qn_answer *x = find(a, owner, message);
    if (x)
        qn_answer_end(x, QN_CHAT_STOPPED, "", NULL);
    return x != NULL;
}

qn_err qn_answering_end_reasoning(struct qn_answering *a, const char *owner, const char *message,
                                  struct qn_error *e)
{
    struct qn_answer *x = find(a, owner, message);
    if (!x)
        return qn_fail_param(e, QN_ENOTFOUND, "id", "no answer with this id is in progress");
    if (!x->run || !qn_infer_end_reasoning(x->run))
        return qn_fail_param(e, QN_ECONFLICT, "reasoning",
                             "the reasoning cannot be ended: the model has not begun, or its "
                             "engine cannot do this; the whole answer can be stopped");
    return QN_OK;
}

void qn_answering_drain(struct qn_answering *a)
{
    for (struct qn_answer *x = a->answers; x; x = x->next)
        if (qn_answer_asks(x))
            qn_answer_end(x, QN_CHAT_INTERRUPTED, "", NULL);
}

static bool is_gone(struct qn_answer *x, const struct qn_chats_event *event)
{
    if (!*x->id || !qn_str_eq(x->chat, event->chat_id))
        return false;
    if (event->change == QN_CHATS_MESSAGE_GONE)
        return strstr(qn_buf_cstr(&x->path), event->message_id) != NULL;
    return event->change == QN_CHATS_CHAT_GONE ||
           (event->change == QN_CHATS_CHAT && event->chat && event->chat->deleted_ms);
}

void qn_answering_changed(struct qn_answering *a, const struct qn_chats_event *event)
{
    for (struct qn_answer *x = a->answers; x; x = x->next)
        if (is_gone(x, event))
            qn_answer_end(x, QN_CHAT_STOPPED, "", NULL);
}

/* ---- watching ---- */

bool qn_answering_watch(struct qn_answering *a, const char *owner, const char *message,
                        struct qn_answer_watcher *w)
{
    struct qn_answer *x = find(a, owner, message);
    if (!x)
        return false;
    w->answer = x;
    w->prev = NULL;
    w->next = x->watchers;
    if (w->next)
        w->next->prev = w;
    x->watchers = w;
    return true;
}

const struct qn_answer_view *qn_answering_view(const struct qn_answer_watcher *w)
{
    return &w->answer->view;
}

void qn_answering_unwatch(struct qn_answer_watcher *w)
{
    struct qn_answer *x = w->answer;
    if (!x)
        return;
    if (w->prev)
        w->prev->next = w->next;
    else
        x->watchers = w->next;
    if (w->next)
        w->next->prev = w->prev;
    w->answer = NULL;
    qn_answer_drop(x);
}
