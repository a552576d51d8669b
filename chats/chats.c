/* Opening and closing, tasks and their results, events; see chats.h and rows.h. */
#include "chats/chats.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "chats/rows.h"

#include <stdlib.h>
#include <string.h>

enum {
    TASK_BYTES_MAX = 1024 * 1024 * 1024, /* arguments and results of one task */
    CHECKED_BYTES = 64 * 1024 * 1024     /* a larger file is not checked when it is opened */
};

static const char *const role_names[QN_CHAT_ROLES] = {"user", "assistant", "system", "tool"};
static const char *const state_names[QN_CHAT_STATES] = {"done", "queued", "answering",  "stopped",
                                                        "cut",  "failed", "interrupted"};

static bool find_name(const char *const *names, size_t n, const char *name, size_t *out)
{
    for (*out = 0; *out < n; (*out)++)
        if (qn_str_eq(names[*out], name))
            return true;
    return false;
}

const char *qn_chat_role_name(enum qn_chat_role r)
{
    return r < QN_CHAT_ROLES ? role_names[r] : "user";
}

bool qn_chat_role_parse(const char *name, enum qn_chat_role *out)
{
    size_t i;
    bool found = find_name(role_names, QN_CHAT_ROLES, name, &i);
    if (found)
        *out = (enum qn_chat_role)i;
    return found;
}

const char *qn_chat_state_name(enum qn_chat_state s)
{
    return s < QN_CHAT_STATES ? state_names[s] : "done";
}

bool qn_chat_state_parse(const char *name, enum qn_chat_state *out)
{
    size_t i;
    bool found = find_name(state_names, QN_CHAT_STATES, name, &i);
    if (found)
        *out = (enum qn_chat_state)i;
    return found;
}

/* ---- opening ---- */

static const struct qn_database_kind kind = {
    .name = "the chats",
    .loss = "models are not touched, and chats can be imported from an export",
    .schema = qn_chats_schema,
    .checked_bytes = CHECKED_BYTES,
    .bytes_max = QN_CHATS_FILE_BYTES_MAX,
    .trusted_schema = true,
};

/* Runs on the database's thread, once the file is open. */
static qn_err opened(void *ctx, struct qn_database *d, struct qn_error *e)
{
    struct qn_chats *c = ctx;
    c->swept_ms = 0;
    c->cleaned = false;
    /* What is deleted for good is overwritten. Imports that had not ended are erased. */
    qn_err err =
        qn_database_exec(d,
                         "PRAGMA secure_delete = ON; UPDATE chat SET hidden = '" QN_CHATS_ERASED "'"
                         " WHERE hidden <> ''",
                         e);
    if (!err)
        err = qn_mkdirs(c->blobs, 0700, e);
    return err ? err : qn_chats_interrupt(d, e);
}

struct qn_chats *qn_chats_new(const struct qn_chats_config *config)
{
    struct qn_chats *c = qn_xcalloc(1, sizeof *c);
    char *path = qn_path_join(config->dir, "chats.db");
    c->blobs = qn_path_join(config->dir, "chat-blobs");
    c->ears = qn_xcalloc(1, sizeof *c->ears);
    *c->ears = (struct qn_chats_ears){.refs = 1, .changed = config->changed, .ctx = config->ctx};
    c->thread = qn_db_thread_lazy(&(struct qn_db_config){.path = path,
                                                         .kind = &kind,
                                                         .post = config->post,
                                                         .post_ctx = config->post_ctx,
                                                         .opened = opened,
                                                         .spare = qn_chats_sweep,
                                                         .ctx = c});
    free(path);
    return c;
}

static void ears_unref(struct qn_chats_ears *ears)
{
    if (--ears->refs == 0)
        free(ears);
}

void qn_chats_close(struct qn_chats *c)
{
    if (!c)
        return;
    qn_db_thread_close(c->thread);
    c->ears->closed = true;
    ears_unref(c->ears);
    free(c->blobs);
    free(c);
}

/* ---- tasks ---- */

/* Runs on the database's thread. */
static void run(struct qn_db_task *head, struct qn_database *d, const struct qn_error *e)
{
    struct qn_chats_task *t = (struct qn_chats_task *)head;
    if (!d) {
        t->error = *e;
        return;
    }
    t->d = d;
    qn_err err = t->writes ? qn_database_begin(d, &t->error) : QN_OK;
    if (err)
        return;
    err = t->work(t, &t->error);
    if (t->writes)
        err = qn_database_end(d, err, &t->error);
    if (err && !t->error.code)
        t->error.code = err;
}

/* Runs on the user's thread. */
static void after(struct qn_db_task *head)
{
    static const struct qn_chats_found nothing;
    struct qn_chats_task *t = (struct qn_chats_task *)head;
    bool failed = t->error.code != QN_OK;
    if (failed)
        t->found = nothing;
    t->found.e = failed ? &t->error : NULL;
    t->found.chats = t->chats_found;
    t->found.messages = t->messages;
    t->found.arena = &t->arena;
    for (size_t i = 0; i < t->n_events && !failed; i++)
        if (t->ears->changed && !t->ears->closed)
            t->ears->changed(t->ears->ctx, &t->events[i]);
    if (t->report)
        t->report(t);
    if (t->fn)
        t->fn(t->ctx, &t->found);
    ears_unref(t->ears);
    qn_arena_free(t->arena);
    free(t);
}

struct qn_chats_task *qn_chats_task_new(struct qn_chats *c, const char *owner,
                                        qn_err (*work)(struct qn_chats_task *t, struct qn_error *e),
                                        bool writes, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_xcalloc(1, sizeof *t);
    t->head = (struct qn_db_task){.run = run, .after = after};
    t->chats = c;
    t->ears = c->ears;
    t->ears->refs++;
    t->arena = qn_arena_new(TASK_BYTES_MAX);
    t->owner = qn_chats_copy(t, owner);
    t->work = work;
    t->writes = writes;
    t->fn = fn;
    t->ctx = ctx;
    return t;
}

static qn_err fail_early(struct qn_chats_task *t, struct qn_error *e)
{
    (void)t;
    return e->code;
}

void qn_chats_task_run(struct qn_chats_task *t, qn_err err)
{
    if (err) { /* results come in the order of the calls, so this one is queued, too */
        t->work = fail_early;
        t->writes = false;
    }
    qn_db_thread_queue(t->chats->thread, &t->head);
}

const char *qn_chats_copy(struct qn_chats_task *t, const char *s)
{
    return s ? qn_arena_strdup(t->arena, s) : NULL;
}

void *qn_chats_grow(struct qn_chats_task *t, void *array, size_t n, size_t size)
{
    enum { FIRST = 16 };
    if (n > 0 && (n < FIRST || (n & (n - 1)))) /* there is room up to the next power of two */
        return array;
    void *grown = qn_arena_try(t->arena, (n ? n * 2 : FIRST) * size);
    if (grown && n)
        memcpy(grown, array, n * size);
    return grown;
}

qn_err qn_chats_check(const char *name, const char *text, size_t max, struct qn_error *e)
{
    if (!text || strnlen(text, max + 1) <= max)
        return QN_OK;
    return qn_fail_param(e, QN_ELIMIT, name, "%s: at most %zu bytes are possible", name, max);
}

/* ---- events ---- */

void qn_chats_tell(struct qn_chats_task *t, const struct qn_chats_event *event)
{
    void *grown = qn_chats_grow(t, t->events, t->n_events, sizeof *t->events);
    if (!grown)
        return; /* it has filled the arena, so it fails anyway */
    t->events = grown;
    t->events[t->n_events++] = *event;
}
