/* See updates.h. */
#include "downloads/updates.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>

struct finding {
    struct finding *next;
    char *name, *commit;
};

struct qn_updates {
    struct finding *newer; /* only models that have newer files */
};

struct qn_updates *qn_updates_new(void)
{
    return qn_xcalloc(1, sizeof(struct qn_updates));
}

void qn_updates_free(struct qn_updates *u)
{
    for (struct finding *f = u ? u->newer : NULL, *next; f; f = next) {
        next = f->next;
        free(f->name);
        free(f->commit);
        free(f);
    }
    free(u);
}

void qn_updates_set(struct qn_updates *u, const char *name, const char *commit, bool newer)
{
    struct finding **at = &u->newer;
    while (*at && !qn_str_eq((*at)->name, name))
        at = &(*at)->next;
    struct finding *f = *at;
    if (f) {
        *at = f->next;
        free(f->name);
        free(f->commit);
        free(f);
    }
    if (!newer)
        return;
    f = qn_xcalloc(1, sizeof *f);
    f->name = qn_xstrdup(name);
    f->commit = qn_xstrdup(commit);
    f->next = u->newer;
    u->newer = f;
}

bool qn_updates_has(const struct qn_updates *u, const struct qn_model_row *row)
{
    for (const struct finding *f = u->newer; f; f = f->next)
        if (qn_str_eq(f->name, row->name))
            return qn_str_eq(f->commit, row->commit);
    return false;
}
