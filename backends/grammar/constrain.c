/* See constrain.h. This file follows sequences through a constraint, token by token. */
#include "grammar/constrain_private.h"

#include <string.h>

/* Length in bytes of the written form of a control token at the start of text; 0 when text does not
 * start with one. */
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
    const struct qn_trie *trie = qn_constrainer_trie(c);
    while (*text) {
        size_t n = control_at(trie, text);
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
    qn_constrainer_tidy(c->owner);
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

/* The node after these bytes; NULL when the constraint does not allow them. */
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
