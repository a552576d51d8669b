/* See constrain.h. This file compiles sources to constraints and caches the results. */
#include "grammar/constrain_private.h"

#include "base/hash.h"
#include "base/str.h"
#include "grammar/gbnf.h"
#include "grammar/json_schema.h"

#include <stdlib.h>
#include <string.h>

/* A source that one thread is compiling, with the result for the threads that wait for it. */
struct qn_compiling {
    struct qn_compiling *next;
    const struct qn_buf *key; /* borrowed from the thread that compiles */
    uint64_t hash;
    uint32_t waiting; /* number of waiting threads */
    bool done;
    struct qn_constraint *made; /* holds one reference for each waiting thread; NULL: compilation
                                   failed */
    qn_err err;
    struct qn_error why;
};

struct qn_constrainer *qn_constrainer_new(const struct qn_constrain_vocab *v)
{
    struct qn_constrainer *c = qn_xcalloc(1, sizeof *c);
    c->vocab = *v;
    pthread_mutex_init(&c->trie_lock, NULL);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->compiled, NULL);
    return c;
}

const struct qn_trie *qn_constrainer_trie(struct qn_constrainer *c)
{
    pthread_mutex_lock(&c->trie_lock);
    if (!c->has_trie)
        qn_trie_init(&c->trie, &c->vocab);
    c->has_trie = true;
    pthread_mutex_unlock(&c->trie_lock);
    return &c->trie;
}

static void unlink_constraint(struct qn_constraint *k)
{
    struct qn_constrainer *c = k->owner;
    *(k->newer ? &k->newer->older : &c->newest) = k->older;
    *(k->older ? &k->older->newer : &c->oldest) = k->newer;
    k->newer = k->older = NULL;
    k->cached = false;
}

static void link_newest(struct qn_constraint *k)
{
    struct qn_constrainer *c = k->owner;
    k->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = k;
    c->newest = k;
    k->cached = true;
}

void qn_constraint_ref(struct qn_constraint *c)
{
    c->refs++;
}

/* Size of the part of a constraint that does not change after compilation. */
static size_t program_bytes(const struct qn_constraint *k)
{
    return sizeof *k + k->key.cap + qn_program_bytes(&k->program);
}

void qn_constraint_unref(struct qn_constraint *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
        return;
    c->owner->programs -= program_bytes(c);
    qn_mask_maker_deinit(&c->masks);
    qn_machine_deinit(&c->machine);
    qn_program_deinit(&c->program);
    qn_buf_deinit(&c->key);
    free(c);
}

static void evict(struct qn_constraint *k)
{
    unlink_constraint(k);
    qn_constraint_unref(k);
}

void qn_constrainer_free(struct qn_constrainer *c)
{
    if (!c)
        return;
    while (c->oldest)
        evict(c->oldest);
    if (c->has_trie)
        qn_trie_deinit(&c->trie);
    pthread_cond_destroy(&c->compiled);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->trie_lock);
    free(c);
}

static size_t constraint_bytes(const struct qn_constraint *k)
{
    return program_bytes(k) + k->machine.bytes + k->masks.bytes;
}

/* Evicts the least recently used constraints while the cache is above its limit; the newest one is
 * never evicted. */
void qn_constrainer_tidy(struct qn_constrainer *c)
{
    size_t all = 0;
    pthread_mutex_lock(&c->lock);
    for (struct qn_constraint *k = c->newest, *next; k; k = next) {
        next = k->older;
        all += constraint_bytes(k);
        if (all > QN_CONSTRAIN_CACHE_BYTES && k != c->newest)
            evict(k);
    }
    pthread_mutex_unlock(&c->lock);
}

bool qn_constrainer_has_room(struct qn_constrainer *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->oldest && c->programs > QN_CONSTRAIN_LIVE_BYTES)
        evict(c->oldest);
    pthread_mutex_unlock(&c->lock);
    return c->programs <= QN_CONSTRAIN_LIVE_BYTES;
}

static void make_key(const struct qn_constrain_source *s, struct qn_buf *key)
{
    qn_buf_char(key, s->grammar ? 'g' : 's');
    qn_buf_str(key, s->grammar ? s->grammar : "");
    for (size_t i = 0; i < s->n_rules; i++) {
        qn_buf_char(key, 0);
        qn_buf_char(key, (char)('0' + s->rules[i].kind));
        qn_buf_str(key, s->rules[i].name);
        qn_buf_char(key, 0);
        qn_buf_str(key, s->rules[i].text);
    }
}

static qn_err add_until(struct qn_grammar *g, uint32_t rule, const char *marker, struct qn_error *e)
{
    struct qn_dfa none;
    qn_err err = qn_dfa_without(g, marker, &none, e);
    if (!err)
        g->rules[rule].body = qn_gx_dfa(g, qn_grammar_dfa(g, &none));
    return err;
}

static qn_err add_rules(struct qn_grammar *g, const struct qn_constrain_source *s,
                        struct qn_error *e)
{
    for (size_t i = 0; i < s->n_rules; i++) {
        const struct qn_constrain_rule *r = &s->rules[i];
        uint32_t rule = 0;
        /* A rule that the grammar does not use is compiled too, so that errors in the rule are
         * reported to the caller. */
        while (s->grammar && rule < g->n_rules && !qn_str_eq(g->rules[rule].name, r->name))
            rule++;
        qn_budget_take(g->budget, rule);
        if (rule == g->n_rules)
            rule = qn_grammar_rule(g, r->name);
        qn_err err = qn_grammar_check(g, e);
        if (!err && g->rules[rule].body)
            err = qn_fail(e, QN_EINVAL, "the rule \"%s\" is defined a second time", r->name);
        if (!err)
            err = r->kind == QN_RULE_UNTIL  ? add_until(g, rule, r->text, e)
                  : r->kind == QN_RULE_BARE ? qn_json_schema_add_bare(g, rule, r->text, e)
                                            : qn_json_schema_add(g, rule, r->text, e);
        if (err)
            return err;
    }
    return QN_OK;
}

static qn_err compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                      struct qn_constraint_program *out, struct qn_error *e)
{
    struct qn_grammar g;
    struct qn_constraint_budget budget = qn_budget_new();
    qn_err err = QN_OK;
    qn_grammar_init(&g, &budget);
    if (s->grammar)
        err = qn_gbnf_parse(&g, s->grammar, &c->vocab, e);
    if (!err)
        err = add_rules(&g, s, e);
    if (!err)
        err = qn_grammar_fold(&g, e);
    if (!err)
        err = qn_program_make(&g, out, e);
    qn_grammar_deinit(&g);
    return err;
}

static bool same_key(const struct qn_buf *a, uint64_t a_hash, const struct qn_buf *b,
                     uint64_t b_hash)
{
    return a_hash == b_hash && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* The cached constraint of this source, which becomes the most recently used; NULL when there is
 * none. Call with the lock held. */
static struct qn_constraint *find_kept(struct qn_constrainer *c, const struct qn_buf *key,
                                       uint64_t hash)
{
    struct qn_constraint *k = c->newest;
    while (k && !same_key(&k->key, k->hash, key, hash))
        k = k->older;
    if (!k)
        return NULL;
    unlink_constraint(k);
    link_newest(k);
    k->refs++;
    return k;
}

/* Waits for another thread that compiles the same source. Returns false when there is none. Call
 * with the lock held. */
static bool await_other(struct qn_constrainer *c, const struct qn_buf *key, uint64_t hash,
                        struct qn_constraint **out, qn_err *err, struct qn_error *why)
{
    struct qn_compiling *p = c->compiling;
    while (p && !same_key(p->key, p->hash, key, hash))
        p = p->next;
    if (!p)
        return false;
    p->waiting++;
    while (!p->done)
        pthread_cond_wait(&c->compiled, &c->lock);
    *out = p->made;
    *err = p->err;
    *why = p->why;
    if (--p->waiting == 0)
        free(p);
    return true;
}

static struct qn_compiling *announce(struct qn_constrainer *c, const struct qn_buf *key,
                                     uint64_t hash)
{
    struct qn_compiling *p = qn_xcalloc(1, sizeof *p);
    *p = (struct qn_compiling){.next = c->compiling, .key = key, .hash = hash};
    c->compiling = p;
    return p;
}

/* Passes the result to the waiting threads and stores the constraint in the cache. */
static void conclude(struct qn_constrainer *c, struct qn_compiling *p, struct qn_constraint *made,
                     qn_err err, const struct qn_error *why)
{
    pthread_mutex_lock(&c->lock);
    struct qn_compiling **at = &c->compiling;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->done = true;
    p->made = made;
    p->err = err;
    p->why = *why;
    if (made) {
        made->refs += 1 + p->waiting;
        link_newest(made);
    }
    if (p->waiting == 0)
        free(p);
    pthread_cond_broadcast(&c->compiled);
    pthread_mutex_unlock(&c->lock);
}

/* The caller receives the only reference. NULL when the program allows no first state. */
static struct qn_constraint *constraint_new(struct qn_constrainer *c,
                                            struct qn_constraint_program *program,
                                            const struct qn_buf *key, uint64_t hash)
{
    struct qn_constraint *k = qn_xcalloc(1, sizeof *k);
    k->owner = c;
    k->refs = 1;
    k->hash = hash;
    qn_buf_init(&k->key, key->len + 1);
    qn_buf_add(&k->key, key->data, key->len);
    k->program = *program;
    c->programs += program_bytes(k);
    qn_machine_init(&k->machine, &k->program);
    qn_mask_maker_init(&k->masks, &c->trie, &k->machine);
    if (k->machine.start)
        return k;
    qn_constraint_unref(k);
    return NULL;
}

/* Returns the constraint of this key: from the cache, from another thread that is compiling it, or
 * newly compiled. */
static qn_err obtain(struct qn_constrainer *c, const struct qn_constrain_source *s,
                     const struct qn_buf *key, struct qn_constraint **out, struct qn_error *why)
{
    uint64_t hash = qn_hash_bytes(17, key->data, key->len);
    struct qn_compiling *own = NULL;
    qn_err err = QN_OK;
    pthread_mutex_lock(&c->lock);
    *out = find_kept(c, key, hash);
    if (!*out && !await_other(c, key, hash, out, &err, why))
        own = announce(c, key, hash);
    pthread_mutex_unlock(&c->lock);
    if (!own)
        return err;
    struct qn_constraint_program program;
    qn_constrainer_trie(c);
    err = compile(c, s, &program, why);
    *out = err ? NULL : constraint_new(c, &program, key, hash);
    if (!err && !*out)
        err = qn_fail(why, QN_ELIMIT, "too many rules before the first character");
    conclude(c, own, *out, err, why);
    return err;
}

qn_err qn_constraint_compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                             struct qn_constraint **out, struct qn_error *e)
{
    struct qn_error why = {0};
    const char *param = s->param ? s->param : s->grammar ? "grammar" : "schema";
    struct qn_buf key;
    qn_buf_init(&key, QN_CONSTRAIN_BYTES_MAX);
    make_key(s, &key);
    *out = NULL;
    if (key.overflow) {
        qn_buf_deinit(&key);
        return qn_fail_param(e, QN_ELIMIT, param, "%s: more than %d bytes", param,
                             QN_CONSTRAIN_BYTES_MAX);
    }
    qn_err err = obtain(c, s, &key, out, &why);
    qn_buf_deinit(&key);
    /* Text that is not JSON is an invalid parameter of the client's request. */
    return err ? qn_fail_param(e, err == QN_EFORMAT ? QN_EINVAL : err, param, "%s: %s", param,
                               why.message)
               : QN_OK;
}

qn_err qn_constraint_of_job(struct qn_constrainer *c, const struct qn_constrain *job,
                            struct qn_constraint **out, struct qn_error *e)
{
    *out = NULL;
    if (job->grammar)
        return qn_constraint_compile(c, &(struct qn_constrain_source){.grammar = job->grammar}, out,
                                     e);
    if (!job->schema)
        return QN_OK;
    const struct qn_constrain_rule rule = {"root", QN_RULE_SCHEMA, job->schema};
    return qn_constraint_compile(c, &(struct qn_constrain_source){.rules = &rule, .n_rules = 1},
                                 out, e);
}
