/* A thread that owns a database: tasks are queued for it, and report on the user's thread. Tasks
 * run in the order in which they were queued. */
#ifndef QN_DATABASE_DB_THREAD_H
#define QN_DATABASE_DB_THREAD_H

#include "base/error.h"
#include "database/database.h"

#include <stdbool.h>

/* The head of a task, allocated by its user, who puts what it needs behind it. */
struct qn_db_task {
    struct qn_db_task *next; /* of the thread */
    /* MUST be set. The work, on the database's thread. d NULL: the database could not be opened,
     * and *e says why; this may be on the caller's thread. */
    void (*run)(struct qn_db_task *t, struct qn_database *d, const struct qn_error *e);
    /* MUST be set. On the user's thread; frees the task. */
    void (*after)(struct qn_db_task *t);
    bool unheard; /* after may be called on the database's thread: there is nothing to report */
    bool patient; /* may wait until delay_s have passed or another task is queued */
};

struct qn_db_config {
    const char *path; /* copied */
    const struct qn_database_kind *kind;
    void (*post)(void *post_ctx, void (*fn)(void *),
                 void *arg); /* MUST: runs fn on the user's thread */
    void *post_ctx;
    /* MAY. On the database's thread, when the file has been opened. Its error is like one of
     * opening. */
    qn_err (*opened)(void *ctx, struct qn_database *d, struct qn_error *e);
    /* MAY. On the database's thread, after some tasks have run and before any of their `after`. */
    void (*batch_ended)(void *ctx, struct qn_database *d);
    /* MAY. On the database's thread, when no task is waiting: a short piece of work that can be
     * done at any time. Called again after each batch of tasks, and as long as it returns true. */
    bool (*spare)(void *ctx, struct qn_database *d);
    void *ctx;
    int delay_s; /* for patient tasks */
};

struct qn_db_thread;

/* Opens the file and starts the thread. Blocking. Errors: as qn_database_open. */
qn_err qn_db_thread_open(const struct qn_db_config *config, struct qn_db_thread **out,
                         struct qn_error *e);
/* Opens the file, and starts the thread, when the first task needs it. A file that cannot be opened
 * is tried again QN_DB_RETRY_MS later; until then all tasks get the error. */
enum { QN_DB_RETRY_MS = 5000 };
struct qn_db_thread *qn_db_thread_lazy(const struct qn_db_config *config);

/* Runs the tasks queued so far and joins the thread; each `after` has been posted when it returns.
 * NULL allowed. */
void qn_db_thread_close(struct qn_db_thread *t);

/* User's thread; if the file was opened by qn_db_thread_open, any thread. */
void qn_db_thread_queue(struct qn_db_thread *t, struct qn_db_task *task);

/* Waits until all tasks queued so far have run, patient ones as well. Blocking. */
void qn_db_thread_flush(struct qn_db_thread *t);

#endif
