/* See tally.h. */
#include "base/tally.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/rand.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct qn_tally_entry {
    struct qn_tally_entry *next;
    int64_t n;
    char name[];
};

void qn_tally_init(struct qn_tally *t)
{
    *t = (struct qn_tally){0};
    qn_random_bytes(&t->seed, sizeof t->seed);
}

void qn_tally_deinit(struct qn_tally *t)
{
    for (size_t i = 0; i < QN_TALLY_SLOTS; i++) {
        while (t->slots[i]) {
            struct qn_tally_entry *x = t->slots[i];
            t->slots[i] = x->next;
            free(x);
        }
    }
}

static size_t slot_of(const struct qn_tally *t, const char *name)
{
    return (size_t)(qn_hash_bytes(t->seed, name, strlen(name)) % QN_TALLY_SLOTS);
}

int64_t qn_tally_add(struct qn_tally *t, const char *name, int64_t n)
{
    struct qn_tally_entry **at = &t->slots[slot_of(t, name)], *x;
    while ((x = *at) && strcmp(x->name, name) != 0)
        at = &x->next;
    if (!x && n == 0)
        return 0;
    if (!x) {
        size_t bytes = strlen(name) + 1;
        x = *at = qn_xcalloc(1, sizeof *x + bytes);
        memcpy(x->name, name, bytes);
    }
    x->n += n;
    t->total += n;
    assert(x->n >= 0);
    int64_t now = x->n;
    if (now == 0) {
        *at = x->next;
        free(x);
    }
    return now;
}

int64_t qn_tally_of(const struct qn_tally *t, const char *name)
{
    for (const struct qn_tally_entry *x = t->slots[slot_of(t, name)]; x; x = x->next)
        if (strcmp(x->name, name) == 0)
            return x->n;
    return 0;
}

const char *qn_tally_most(const struct qn_tally *t, int64_t *n)
{
    const struct qn_tally_entry *most = NULL;
    for (size_t i = 0; i < QN_TALLY_SLOTS; i++)
        for (const struct qn_tally_entry *x = t->slots[i]; x; x = x->next)
            if (!most || x->n > most->n)
                most = x;
    *n = most ? most->n : 0;
    return most ? most->name : NULL;
}
