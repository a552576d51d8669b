/* See rate_limit.h. Buckets are in one array; the chains of a hash table and the list by last use
 * link them by index. The hash is seeded, since clients choose their names. */
#include "http/rate_limit.h"

#include "access/client_id.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/rand.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * QN_RATE_CLIENTS_MAX, NONE = -1, MS_PER_MINUTE = 60000 };

struct bucket {
    char client[QN_RATE_NAME_MAX + 1];
    double tokens;
    int64_t at_ms; /* time of the token count */
    int next;      /* in its chain */
    int newer, older;
};

struct qn_rate_limit {
    double per_ms;
    double burst;
    uint64_t seed;
    struct bucket *v; /* allocated for the first bucket: most servers have no limit */
    int n, newest, oldest;
    int slots[SLOTS];
};

struct qn_rate_limit *qn_rate_limit_new(void)
{
    struct qn_rate_limit *r = qn_xcalloc(1, sizeof *r);
    qn_random_bytes(&r->seed, sizeof r->seed);
    r->burst = 1;
    r->newest = r->oldest = NONE;
    for (int i = 0; i < SLOTS; i++)
        r->slots[i] = NONE;
    return r;
}

void qn_rate_limit_free(struct qn_rate_limit *r)
{
    if (!r)
        return;
    free(r->v);
    free(r);
}

void qn_rate_limit_set(struct qn_rate_limit *r, int64_t per_minute, int64_t burst)
{
    r->per_ms = (double)per_minute / MS_PER_MINUTE;
    r->burst = burst < 1 ? 1 : (double)burst;
}

size_t qn_rate_limit_clients(const struct qn_rate_limit *r)
{
    return (size_t)r->n;
}

static int slot_of(const struct qn_rate_limit *r, const char *client)
{
    return (int)(qn_hash_bytes(r->seed, client, strlen(client)) % SLOTS);
}

static void unlink_use(struct qn_rate_limit *r, int i)
{
    struct bucket *b = &r->v[i];
    *(b->newer == NONE ? &r->newest : &r->v[b->newer].older) = b->older;
    *(b->older == NONE ? &r->oldest : &r->v[b->older].newer) = b->newer;
}

static void link_newest(struct qn_rate_limit *r, int i)
{
    r->v[i].newer = NONE;
    r->v[i].older = r->newest;
    if (r->newest != NONE)
        r->v[r->newest].newer = i;
    else
        r->oldest = i;
    r->newest = i;
}

static void unchain(struct qn_rate_limit *r, int i)
{
    int *p = &r->slots[slot_of(r, r->v[i].client)];
    while (*p != i)
        p = &r->v[*p].next;
    *p = r->v[i].next;
}

/* Makes a full bucket for a client that has none. */
static int make(struct qn_rate_limit *r, const char *client, int64_t now_ms)
{
    int i = r->n;
    if (!r->v)
        r->v = qn_xcalloc(QN_RATE_CLIENTS_MAX, sizeof *r->v);
    if (i < QN_RATE_CLIENTS_MAX) {
        r->n++;
    } else {
        i = r->oldest;
        unlink_use(r, i);
        unchain(r, i);
    }
    struct bucket *b = &r->v[i];
    *b = (struct bucket){.tokens = r->burst, .at_ms = now_ms};
    memcpy(b->client, client, strnlen(client, QN_RATE_NAME_MAX));
    int *slot = &r->slots[slot_of(r, b->client)];
    b->next = *slot;
    *slot = i;
    link_newest(r, i);
    return i;
}

int64_t qn_rate_limit_take(struct qn_rate_limit *r, const char *client, int64_t now_ms)
{
    char name[QN_RATE_NAME_MAX + 1] = "";
    if (r->per_ms <= 0)
        return 0;
    memcpy(name, client, strnlen(client, QN_RATE_NAME_MAX));
    int i = r->slots[slot_of(r, name)];
    while (i != NONE && !qn_str_eq(r->v[i].client, name))
        i = r->v[i].next;
    if (i == NONE) {
        i = make(r, name, now_ms);
    } else {
        unlink_use(r, i);
        link_newest(r, i);
    }
    struct bucket *b = &r->v[i];
    if (now_ms > b->at_ms)
        b->tokens += (double)(now_ms - b->at_ms) * r->per_ms;
    if (b->tokens > r->burst)
        b->tokens = r->burst;
    b->at_ms = now_ms;
    if (b->tokens >= 1) {
        b->tokens -= 1;
        return 0;
    }
    double wait_s = (1 - b->tokens) / r->per_ms / 1000;
    int64_t whole = (int64_t)wait_s;
    return (double)whole < wait_s ? whole + 1 : whole < 1 ? 1 : whole;
}

void qn_rate_limit_client(struct qn_http *h, char out[static QN_RATE_NAME_MAX + 1])
{
    const char *proven = qn_client_proven(h);
    snprintf(out, QN_RATE_NAME_MAX + 1, "%s", *proven ? proven : qn_client_id(h));
}
