/* Stored chats in a folder of their own, for tests: results are delivered to the test's thread, in
 * which each call waits for its result. */
#ifndef QN_TESTS_CHATS_WORLD_H
#define QN_TESTS_CHATS_WORLD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "chats/blobs.h"
#include "chats/chats.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static struct qn_chats *chats;

/* Calls posted to the test's thread. */
struct posted {
    struct posted *next;
    void (*fn)(void *);
    void *arg;
};
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct posted *first, **last;
} box = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &box.first};

static inline void post(void *ctx, void (*fn)(void *), void *arg)
{
    (void)ctx;
    struct posted *p = qn_xcalloc(1, sizeof *p);
    *p = (struct posted){NULL, fn, arg};
    pthread_mutex_lock(&box.mutex);
    *box.last = p;
    box.last = &p->next;
    pthread_cond_signal(&box.cond);
    pthread_mutex_unlock(&box.mutex);
}

/* Runs one posted call; waits for it if `wait`. */
static inline bool deliver(bool wait)
{
    pthread_mutex_lock(&box.mutex);
    while (wait && !box.first)
        pthread_cond_wait(&box.cond, &box.mutex);
    struct posted *p = box.first;
    if (p) {
        box.first = p->next;
        if (!box.first)
            box.last = &box.first;
    }
    pthread_mutex_unlock(&box.mutex);
    if (!p)
        return false;
    p->fn(p->arg);
    free(p);
    return true;
}

/* The last result, kept until the next one, and its error. */
static struct qn_chats_found found;
static struct qn_arena *kept;
static struct qn_error error;
static struct qn_chat_blob blob;
static bool arrived;

static inline void on_found(void *ctx, const struct qn_chats_found *f)
{
    (void)ctx;
    qn_arena_free(kept);
    found = *f;
    kept = *f->arena;
    *f->arena = NULL;
    error = f->e ? *f->e : (struct qn_error){0};
    arrived = true;
}

static inline void on_blob(void *ctx, const struct qn_chat_blob *b, const struct qn_error *e)
{
    (void)ctx;
    if (b)
        blob = *b;
    error = e ? *e : (struct qn_error){0};
    arrived = true;
}

static inline qn_err await(void)
{
    while (!arrived)
        deliver(true);
    arrived = false;
    return error.code;
}

/* Events since the last look, "chat:TITLE message:ID ...". */
static struct qn_buf told;

static inline void on_changed(void *ctx, const struct qn_chats_event *e)
{
    static const char *const names[] = {"chat",  "chat-gone", "message", "message-gone",
                                        "state", "presets",   "all",     "mcp"};
    (void)ctx;
    qn_buf_fmt(&told, "%s%s:%s", told.len ? " " : "", e->owner, names[e->change]);
    if (e->change == QN_CHATS_CHAT)
        qn_buf_fmt(&told, "(%s)", e->chat->title);
    if (e->change == QN_CHATS_STATE)
        qn_buf_fmt(&told, "(%s)", qn_chat_state_name(e->state));
}

static inline void open_chats(void)
{
    chats =
        qn_chats_new(&(struct qn_chats_config){.dir = dir, .post = post, .changed = on_changed});
}

static inline void close_chats(void)
{
    qn_chats_close(chats);
    chats = NULL;
    while (deliver(false))
        ;
}

static inline int make_world(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-chats-XXXXXX");
    assert_non_null(mkdtemp(dir));
    qn_buf_init(&told, 1024 * 1024);
    open_chats();
    return 0;
}

static inline int remove_world(void **state)
{
    char command[128];
    (void)state;
    close_chats();
    qn_arena_free(kept);
    kept = NULL;
    found = (struct qn_chats_found){0};
    qn_buf_deinit(&told);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

/* ---- calls that must succeed; ids are valid until the test ends ---- */

static char ids[64][QN_CHATS_ID_DIGITS + 1];
static size_t n_ids;

static inline const char *note_id(const char *id)
{
    n_ids = (n_ids + 1) % 64;
    strcpy(ids[n_ids], id);
    return ids[n_ids];
}

static inline void ok(void)
{
    if (await())
        fail_msg("%s", error.message);
}

static inline const char *add_chat(const char *owner, const char *title)
{
    qn_chats_add(chats, owner, &(struct qn_chat_patch){.title = title}, on_found, NULL);
    ok();
    return note_id(found.chats[0].id);
}

static inline const char *say(const char *owner, const char *chat, const char *parent,
                              const char *text)
{
    qn_chats_add_message(chats, owner,
                         &(struct qn_chat_message){.chat = chat, .parent = parent, .text = text},
                         on_found, NULL);
    ok();
    return note_id(found.messages[0].id);
}

static inline const char *begin(const char *owner, const char *parent)
{
    qn_chats_begin_answer(chats, owner, parent, "m", "{}", on_found, NULL);
    ok();
    return note_id(found.messages[found.n_messages - 1].id);
}

static inline qn_err append(const char *message, bool reasoning, const char *text)
{
    struct qn_chat_piece p = {reasoning, text, strlen(text)};
    qn_chats_append(chats, message, &p, 1, on_found, NULL);
    return await();
}

static inline const struct qn_chat_message *read_message(const char *owner, const char *id)
{
    qn_chats_read_message(chats, owner, id, on_found, NULL);
    return await() ? NULL : &found.messages[0];
}

#endif
