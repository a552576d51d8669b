/* The states of recurrent layers: one block of memory for all layers of a sequence, and copies
 * (snapshots) of it at earlier lengths, shared by reference count between forked sequences. */
#include "nets/decoder/state.h"

#include "base/buf.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/seq.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Row length when whole states are copied, so that threads share the work. */
enum { COPY_FLOATS = 4096, COPY_BYTES = 4 * COPY_FLOATS };

static const size_t state_bytes_max = (size_t)4 << 30;

/* ---- layout ---- */

static size_t floats_of(const int64_t *shape, int n)
{
    size_t floats = 1;
    for (int i = 0; i < n; i++)
        floats *= (size_t)shape[i];
    return floats;
}

qn_err qn_state_lay_out(struct qn_decoder_layer *layers, int32_t n, size_t *bytes,
                        struct qn_error *e)
{
    size_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        struct qn_layer_state *s = &layers[i].state;
        s->at[QN_STATE_INPUTS] = at;
        at += qn_scratch_need(QN_F32, (int64_t)floats_of(s->inputs, 2));
        s->at[QN_STATE_MATRICES] = at;
        at += qn_scratch_need(QN_F32, (int64_t)floats_of(s->matrices, 3));
        if (at > state_bytes_max)
            return qn_fail(e, QN_ELIMIT,
                           "the recurrent layers of this model keep more than %zu MiB of each "
                           "sequence, which is the most this version takes",
                           state_bytes_max >> 20);
    }
    *bytes = (at + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;
    return QN_OK;
}

static struct qn_tensor part_of(const struct qn_decoder_layer *layer, enum qn_state_part part,
                                struct qn_mem *mem)
{
    const struct qn_layer_state *s = &layer->state;
    if (part == QN_STATE_INPUTS)
        return qn_tensor_make(QN_F32, 2, s->inputs, mem, s->at[part]);
    return qn_tensor_make(QN_F32, 3, s->matrices, mem, s->at[part]);
}

static void copy_whole(struct qn_net *net, struct qn_mem *to, struct qn_mem *from)
{
    const int64_t rows = (int64_t)(net->state_bytes / COPY_BYTES);
    struct qn_tensor dst = qn_tensor_make(QN_F32, QN_SHAPE(rows, COPY_FLOATS), to, 0);
    struct qn_tensor src = qn_tensor_make(QN_F32, QN_SHAPE(rows, COPY_FLOATS), from, 0);
    qn_copy(net->dev, &dst, &src);
}

/* ---- the state of one sequence ---- */

qn_err qn_state_init(struct qn_state *s, struct qn_net *net, struct qn_error *e)
{
    memset(s, 0, sizeof *s);
    return net->state_bytes ? qn_mem_new(net->dev, net->state_bytes, &s->now, e) : QN_OK;
}

static void let_go(struct qn_state_copy *c)
{
    if (--c->users > 0)
        return;
    qn_mem_free(c->mem);
    free(c);
}

static void remove_kept(struct qn_state *s, int32_t i)
{
    let_go(s->kept[i]);
    s->n_kept--;
    memmove(s->kept + i, s->kept + i + 1, (size_t)(s->n_kept - i) * sizeof *s->kept);
}

static void forget_beyond(struct qn_state *s, int32_t len)
{
    while (s->n_kept > 0 && s->kept[s->n_kept - 1]->len > len)
        remove_kept(s, s->n_kept - 1);
}

void qn_state_deinit(struct qn_state *s)
{
    forget_beyond(s, -1);
    qn_mem_free(s->now);
    memset(s, 0, sizeof *s);
}

/* Removes one copy: that for which the distance between its two neighbours, divided by its own
 * distance from `end`, is smallest. Old copies are therefore further apart than recent ones. */
static void thin_out(struct qn_state *s, int32_t end)
{
    int32_t least = 0;
    double smallest = 0;
    for (int32_t i = 0; i < s->n_kept; i++) {
        int32_t before = i ? s->kept[i - 1]->len : 0;
        int32_t after = i + 1 < s->n_kept ? s->kept[i + 1]->len : end;
        double gap = (double)(after - before) / (double)(end - s->kept[i]->len);
        if (i == 0 || gap < smallest) {
            smallest = gap;
            least = i;
        }
    }
    remove_kept(s, least);
}

qn_err qn_state_reserve(struct qn_net *net, struct qn_state *s, int32_t len, int32_t n,
                        struct qn_error *e)
{
    if (!s->now)
        return QN_OK;
    int32_t last = (int32_t)(((int64_t)len + n) / QN_STATE_STEP) * QN_STATE_STEP;
    int32_t first = last - (QN_STATE_KEPT - 1) * QN_STATE_STEP, have = len;
    if (s->n_kept > 0 && s->kept[s->n_kept - 1]->len > len)
        have = s->kept[s->n_kept - 1]->len;
    if (first <= have)
        first = (have / QN_STATE_STEP + 1) * QN_STATE_STEP;
    for (int32_t at = first; at <= last; at += QN_STATE_STEP) {
        struct qn_mem *mem;
        if (s->n_kept == QN_STATE_KEPT)
            thin_out(s, at);
        qn_err err = qn_mem_new(net->dev, net->state_bytes, &mem, e);
        if (err != QN_OK)
            return err;
        struct qn_state_copy *c = qn_xcalloc(1, sizeof *c);
        *c = (struct qn_state_copy){.users = 1, .len = at, .mem = mem};
        s->kept[s->n_kept++] = c;
    }
    return QN_OK;
}

/* The last completed copy at a length of at most `to`, for a sequence of `len` tokens. */
static const struct qn_state_copy *copy_before(const struct qn_state *s, int32_t len, int32_t to)
{
    int32_t limit = to < len ? to : len;
    for (int32_t i = s->n_kept - 1; i >= 0; i--)
        if (s->kept[i]->len <= limit)
            return s->kept[i];
    return NULL;
}

int32_t qn_state_reach(const struct qn_state *s, int32_t len, int32_t to)
{
    if (!s->now || to == len)
        return to;
    const struct qn_state_copy *c = copy_before(s, len, to);
    return c ? c->len : 0;
}

/* Sets the state of an empty sequence: all zeros, from memory that was never written. */
static void begin(struct qn_net *net, struct qn_state *s)
{
    copy_whole(net, s->now, net->state_zero);
}

void qn_state_cut(struct qn_net *net, struct qn_state *s, int32_t len, int32_t to)
{
    if (!s->now)
        return;
    if (to == 0 && len > 0)
        begin(net, s);
    else if (to < len)
        copy_whole(net, s->now, copy_before(s, len, to)->mem);
    forget_beyond(s, to);
}

void qn_state_share(struct qn_net *net, struct qn_state *dst, const struct qn_state *src,
                    int32_t len, int32_t to)
{
    if (!src->now || to == 0)
        return;
    assert(dst->n_kept == 0);
    copy_whole(net, dst->now, to == len ? src->now : copy_before(src, len, to)->mem);
    for (int32_t i = 0; i < src->n_kept && src->kept[i]->len <= to; i++) {
        dst->kept[dst->n_kept++] = src->kept[i];
        src->kept[i]->users++;
    }
}

/* ---- states during a batch ---- */

/* The number of copies at lengths in (past, past + n], and the index of the first one in *first. */
static int32_t wanted(const struct qn_state *s, int32_t past, int32_t n, int32_t *first)
{
    int32_t i = 0, count = 0;
    while (i < s->n_kept && s->kept[i]->len <= past)
        i++;
    *first = i;
    while (i + count < s->n_kept && s->kept[i + count]->len <= past + n)
        count++;
    return count;
}

/* After a round: where the piece of a chunk ended at the length of a reserved copy, stores the
 * current state in that copy. */
static void keep(struct qn_net *net, const struct qn_step_rows *b, const struct qn_state_pass *p)
{
    for (int32_t c = 0; c < b->spans; c++) {
        const struct qn_span *whole = &net->spans[0][c];
        struct qn_state *s = &net->seqs[c]->state;
        int32_t first;
        if (p->round - 1 >= wanted(s, whole->past, whole->n, &first))
            continue;
        struct qn_tensor to = part_of(p->layer, p->part, s->kept[first + p->round - 1]->mem);
        struct qn_tensor from = part_of(p->layer, p->part, s->now);
        qn_copy(net->dev, &to, &from);
    }
}

bool qn_state_next(struct qn_net *net, const struct qn_step_rows *b, struct qn_state_pass *p)
{
    struct qn_span *spans = net->state_spans;
    struct qn_tensor *states = net->states;
    if (p->round > 0)
        keep(net, b, p);
    p->n = 0;
    for (int32_t c = 0; c < b->spans; c++) {
        const struct qn_span *whole = &net->spans[0][c];
        const struct qn_state *s = &net->seqs[c]->state;
        int32_t first, count = wanted(s, whole->past, whole->n, &first), end = whole->n;
        if (p->round > count)
            continue;
        int32_t from = p->round ? s->kept[first + p->round - 1]->len - whole->past : 0;
        if (p->round < count)
            end = s->kept[first + p->round]->len - whole->past;
        if (from == end)
            continue;
        spans[p->n] = (struct qn_span){.row = whole->row + from, .n = end - from};
        states[p->n++] = part_of(p->layer, p->part, s->now);
    }
    p->round++;
    p->spans = spans;
    p->states = states;
    return p->n > 0;
}
