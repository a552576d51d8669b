/* See last_uses.h. A list is fast enough: it has as many entries as models were used. */
#include "catalog/last_uses.h"

#include "base/buf.h"
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

struct use {
    struct use *next;
    char *name;
    int64_t when_s;
};

struct qn_last_uses {
    pthread_mutex_t mutex;
    struct use *first;
};

struct qn_last_uses *qn_last_uses_new(void)
{
    struct qn_last_uses *u = qn_xcalloc(1, sizeof *u);
    pthread_mutex_init(&u->mutex, NULL);
    return u;
}

/* Returns the address of the pointer to the entry with this name; if there is none, of the NULL at
 * the end of the list. The mutex must be held. */
static struct use **link_to(struct qn_last_uses *u, const char *name)
{
    struct use **at = &u->first;
    while (*at && !qn_str_eq((*at)->name, name))
        at = &(*at)->next;
    return at;
}

static void drop(struct use **at)
{
    struct use *gone = *at;
    *at = gone->next;
    free(gone->name);
    free(gone);
}

void qn_last_uses_free(struct qn_last_uses *u)
{
    if (!u)
        return;
    while (u->first)
        drop(&u->first);
    pthread_mutex_destroy(&u->mutex);
    free(u);
}

void qn_last_uses_note(struct qn_last_uses *u, const char *name, int64_t when_s)
{
    pthread_mutex_lock(&u->mutex);
    struct use **at = link_to(u, name);
    if (!*at) {
        *at = qn_xcalloc(1, sizeof **at);
        (*at)->name = qn_xstrdup(name);
    }
    if ((*at)->when_s < when_s)
        (*at)->when_s = when_s;
    pthread_mutex_unlock(&u->mutex);
}

void qn_last_uses_forget(struct qn_last_uses *u, const char *name)
{
    pthread_mutex_lock(&u->mutex);
    struct use **at = link_to(u, name);
    if (*at)
        drop(at);
    pthread_mutex_unlock(&u->mutex);
}

int64_t qn_last_uses_find(struct qn_last_uses *u, const char *name)
{
    pthread_mutex_lock(&u->mutex);
    const struct use *found = *link_to(u, name);
    int64_t when_s = found ? found->when_s : 0;
    pthread_mutex_unlock(&u->mutex);
    return when_s;
}
