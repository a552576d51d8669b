/* See constrain.h. Sources become constraints here, and what was compiled is kept. */
#include "llm/constrain.h"

#include "base/str.h"
#include "llm/constrain_mask.h"
#include "llm/gbnf.h"
#include "llm/json_schema.h"

#include <stdlib.h>
#include <string.h>

struct qn_constraint {
    struct qn_constrainer *owner;
    struct qn_constraint *newer, *older; /* in the cache */
    bool cached;
    uint32_t refs;     /* the cache's included */
    struct qn_buf key; /* the source */
    struct qn_program program;
    struct qn_machine machine;
    struct qn_mask_maker masks;
};

struct qn_constrainer {
    struct qn_constrain_vocab vocab;
    struct qn_trie trie;
    bool has_trie;
    struct qn_constraint *newest, *oldest;
    size_t programs; /* bytes of all that live, those that only a request holds included */
};

struct qn_constrainer *qn_constrainer_new(const struct qn_constrain_vocab *v)
{
    struct qn_constrainer *c = qn_xcalloc(1, sizeof *c);
    c->vocab = *v;
    return c;
}

static void need_trie(struct qn_constrainer *c)
{
    if (!c->has_trie)
        qn_trie_init(&c->trie, &c->vocab);
    c->has_trie = true;
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

/* What of a constraint stays as it was compiled. */
static size_t program_bytes(const struct qn_constraint *k)
{
    return sizeof *k + k->key.cap + qn_program_bytes(&k->program);
}

void qn_constraint_unref(struct qn_constraint *c)
{
    if (!c || --c->refs > 0)
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
    free(c);
}

static size_t constraint_bytes(const struct qn_constraint *k)
{
    return program_bytes(k) + k->machine.bytes + k->masks.bytes;
}

/* What was used longest ago goes when all together is too much; the newest stays. */
static void keep_bounds(struct qn_constrainer *c)
{
    size_t all = 0;
    for (struct qn_constraint *k = c->newest, *next; k; k = next) {
        next = k->older;
        all += constraint_bytes(k);
        if (all > QN_CONSTRAIN_CACHE_BYTES && k != c->newest)
            evict(k);
    }
}

bool qn_constrainer_has_room(struct qn_constrainer *c)
{
    while (c->oldest && c->programs > QN_CONSTRAIN_LIVE_BYTES)
        evict(c->oldest);
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

/* Any text in which `marker` does not occur. */
static qn_err add_until(struct qn_grammar *g, uint32_t rule, const char *marker, struct qn_error *e)
{
    const struct qn_gx *all = qn_gx_repeat(g, qn_gx_set_not(g, NULL, 0), 0, QN_REPEAT_EVER);
    const struct qn_gx *with[3] = {all, qn_gx_text(g, marker), all};
    struct qn_dfa any, some, none;
    qn_err err = qn_gx_compile(all, QN_GX_UTF8, g->budget, &any, e);
    if (err)
        return err;
    err = qn_gx_compile(qn_gx_seq(g, with, 3), QN_GX_UTF8, g->budget, &some, e);
    if (!err) {
        err = qn_dfa_subtract(&any, &some, g->budget, &none, e);
        qn_dfa_deinit(&some);
    }
    qn_dfa_deinit(&any);
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
        /* A rule that the grammar does not use is compiled too: its errors are the caller's. */
        while (s->grammar && rule < g->n_rules && !qn_str_eq(g->rules[rule].name, r->name))
            rule++;
        qn_budget_take(g->budget, rule);
        if (rule == g->n_rules)
            rule = qn_grammar_rule(g, r->name);
        qn_err err = qn_grammar_check(g, e);
        if (!err && g->rules[rule].body)
            err = qn_fail(e, QN_EINVAL, "the rule \"%s\" is defined a second time", r->name);
        if (!err)
            err = r->kind == QN_RULE_UNTIL ? add_until(g, rule, r->text, e)
                                           : qn_json_schema_add(g, rule, r->text, e);
        if (err)
            return err;
    }
    return QN_OK;
}

static qn_err compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                      struct qn_program *out, struct qn_error *e)
{
    struct qn_grammar g;
    struct qn_budget budget = qn_budget_new();
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

qn_err qn_constraint_compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                             struct qn_constraint **out, struct qn_error *e)
{
    struct qn_error why = {0};
    const char *param = s->param ? s->param : s->grammar ? "grammar" : "schema";
    struct qn_buf key;
    qn_buf_init(&key, QN_CONSTRAIN_BYTES_MAX);
    make_key(s, &key);
    if (key.overflow) {
        qn_buf_deinit(&key);
        return qn_fail_param(e, QN_ELIMIT, param, "%s: more than %d bytes", param,
                             QN_CONSTRAIN_BYTES_MAX);
    }
    for (struct qn_constraint *k = c->newest; k; k = k->older) {
        if (k->key.len != key.len || memcmp(k->key.data, key.data, key.len) != 0)
            continue;
        qn_buf_deinit(&key);
        unlink_constraint(k);
        link_newest(k);
        keep_bounds(c);
        k->refs++;
        *out = k;
        return QN_OK;
    }
    need_trie(c);
    struct qn_program program;
    qn_err err = compile(c, s, &program, &why);
    if (err) {
        qn_buf_deinit(&key);
        /* To whoever sent it, text that is no JSON is a bad value like any other. */
        return qn_fail_param(e, err == QN_EFORMAT ? QN_EINVAL : err, param, "%s: %s", param,
                             why.message);
    }
    struct qn_constraint *k = qn_xcalloc(1, sizeof *k);
    k->owner = c;
    k->refs = 2;
    k->key = key;
    k->program = program;
    c->programs += program_bytes(k);
    qn_machine_init(&k->machine, &k->program);
    qn_mask_maker_init(&k->masks, &c->trie, &k->machine);
    if (!k->machine.start) {
        k->refs = 1;
        qn_constraint_unref(k);
        return qn_fail_param(e, QN_ELIMIT, param, "%s: too many rules before the first character",
                             param);
    }
    link_newest(k);
    keep_bounds(c);
    *out = k;
    return QN_OK;
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

/* The control token that text begins with: bytes of its written form, 0: none. */
static size_t control_at(const struct qn_trie *t, const char *text)
{
    size_t found = 0, depth = 1;
    uint32_t i = 0, end = t->n;
    while (i < end && t->v[i].byte != QN_CONTROL_BYTE)
        i = t->v[i].skip;
    if (i == end)
        return 0;
    for (end = t->v[i++].skip; i < end && *text;) {
        if (t->v[i].byte != (uint8_t)*text) {
            i = t->v[i].skip;
            continue;
        }
        if (t->v[i].token >= 0)
            found = depth;
        text++;
        depth++;
        end = t->v[i++].skip;
    }
    return found;
}

void qn_constrain_quote(struct qn_constrainer *c, const char *text, struct qn_buf *grammar)
{
    bool open = false;
    need_trie(c);
    while (*text) {
        size_t n = control_at(&c->trie, text);
        if ((n > 0) == open)
            qn_buf_str(grammar, "\"");
        open = n == 0;
        if (n > 0) {
            for (int32_t id = 0; id < c->vocab.n; id++) {
                size_t len;
                const char *bytes = c->vocab.token_bytes(c->vocab.ctx, id, &len);
                if (len == n && memcmp(bytes, text, n) == 0 &&
                    c->vocab.token_is_control(c->vocab.ctx, id)) {
                    qn_buf_fmt(grammar, " <[%d]> ", (int)id);
                    break;
                }
            }
            text += n;
            continue;
        }
        char ch = *text++;
        if (ch == '"' || ch == '\\')
            qn_buf_fmt(grammar, "\\%c", ch);
        else if ((unsigned char)ch < 0x20)
            qn_buf_fmt(grammar, "\\x%02x", (unsigned)ch);
        else
            qn_buf_char(grammar, ch);
    }
    if (open)
        qn_buf_str(grammar, "\"");
}

static void hold(struct qn_constraint_state *s, struct qn_constraint_node *n)
{
    n->refs++;
    if (s->node)
        s->node->refs--;
    s->node = n;
}

void qn_constraint_begin(struct qn_constraint_state *s, struct qn_constraint *c)
{
    qn_constraint_end(s);
    c->refs++;
    s->constraint = c;
    hold(s, c->machine.start);
}

void qn_constraint_end(struct qn_constraint_state *s)
{
    if (s->node)
        s->node->refs--;
    qn_constraint_unref(s->constraint);
    *s = (struct qn_constraint_state){0};
}

void qn_constraint_copy(struct qn_constraint_state *to, const struct qn_constraint_state *from)
{
    *to = *from;
    if (to->node)
        to->node->refs++;
    if (to->constraint)
        to->constraint->refs++;
}

bool qn_constraint_mask(struct qn_constraint_state *s, float *logits, int32_t vocab)
{
    struct qn_constraint *c = s->constraint;
    if (!c)
        return true;
    const struct qn_trie *t = &c->owner->trie;
    qn_machine_tidy(&c->machine);
    const struct qn_mask *m = qn_mask_of(&c->masks, s->node);
    s->too_hard = !m;
    if (!m)
        return false;
    qn_mask_apply(m, t, s->node->accept, logits, vocab);
    return m->count > 0 || (s->node->accept && s->node->n > 0 && t->n_end > 0);
}

/* Where the bytes lead; NULL: nowhere. */
static struct qn_constraint_node *walk(struct qn_constraint *c, struct qn_constraint_node *at,
                                       const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && at; i++)
        at = qn_machine_step(&c->machine, at, (uint8_t)bytes[i]);
    return at;
}

static struct qn_constraint_node *walk_token(struct qn_constraint_state *s, int32_t id)
{
    struct qn_constraint *c = s->constraint;
    const struct qn_constrain_vocab *v = &c->owner->vocab;
    static const char control = (char)QN_CONTROL_BYTE;
    struct qn_constraint_node *at = s->node;
    if (id < 0 || id >= v->n)
        return NULL;
    if (v->token_is_end(v->ctx, id))
        return at->accept ? at : NULL;
    size_t n;
    const char *bytes = v->token_bytes(v->ctx, id, &n);
    if (n == 0)
        return NULL;
    qn_machine_tidy(&c->machine);
    if (v->token_is_control(v->ctx, id))
        at = walk(c, at, &control, 1);
    return at ? walk(c, at, bytes, n) : NULL;
}

bool qn_constraint_allows(struct qn_constraint_state *s, int32_t id)
{
    return !s->constraint || walk_token(s, id);
}

bool qn_constraint_accept(struct qn_constraint_state *s, int32_t id)
{
    if (!s->constraint)
        return true;
    struct qn_constraint_node *to = walk_token(s, id);
    if (to)
        hold(s, to);
    return to;
}

bool qn_constraint_accept_bytes(struct qn_constraint_state *s, const char *bytes, size_t n)
{
    if (!s->constraint)
        return true;
    qn_machine_tidy(&s->constraint->machine);
    struct qn_constraint_node *to = walk(s->constraint, s->node, bytes, n);
    if (to)
        hold(s, to);
    return to;
}

bool qn_constraint_complete(const struct qn_constraint_state *s)
{
    return !s->constraint || s->node->accept;
}

bool qn_constraint_done(const struct qn_constraint_state *s)
{
    return s->constraint && s->node->n == 0;
}
