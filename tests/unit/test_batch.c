/* Continuous batching over a network written down here: its sequences remember their tokens, and
 * its next token is a hash of all of them, so any wrong cache, order or mix-up shows in the text.
 */
#include "llm/batch.h"

#include "base/buf.h"
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VOCAB = 97, END = 0, CONTROL = 1, CONTEXT = 64, CHUNK = 16 };

struct fake_seq {
    int32_t reserved;
    int32_t tokens[CONTEXT];
    int32_t n;
};

struct fake_net {
    int forwards, computed; /* calls, tokens */
    int most_chunks;        /* sequences of the widest call */
    int copies;
    int seqs;
    bool ends;   /* the end token may come */
    bool broken; /* no logit is finite */
    int extra_us_per_token;
};
static struct fake_net net;

static struct qn_seq *opaque(struct fake_seq *s)
{
    return (struct qn_seq *)(void *)s;
}

static struct fake_seq *fake_of(struct qn_seq *s)
{
    return (struct fake_seq *)(void *)s;
}

static int32_t next_of(const int32_t *tokens, int32_t n)
{
    uint32_t h = 2166136261u;
    for (int32_t i = 0; i < n; i++)
        h = (h ^ (uint32_t)tokens[i]) * 16777619u;
    h ^= h >> 15;
    if (net.ends && h % 11 == 0)
        return END;
    return (int32_t)(h % (VOCAB - 2)) + 2;
}

static qn_err fake_seq_new(void *ctx, int32_t context, struct qn_seq **out, struct qn_error *e)
{
    (void)ctx;
    (void)e;
    assert_true(context <= CONTEXT);
    net.seqs++;
    *out = opaque(qn_xcalloc(1, sizeof(struct fake_seq)));
    return QN_OK;
}

static void fake_seq_free(struct qn_seq *s)
{
    net.seqs--;
    free(s);
}

static int32_t fake_truncate(struct qn_seq *s, int32_t len)
{
    assert_true(len <= fake_of(s)->n);
    fake_of(s)->n = len;
    fake_of(s)->reserved = 0;
    return len;
}

static qn_err fake_reserve(struct qn_seq *s, int32_t n, struct qn_error *e)
{
    (void)e;
    assert_true(fake_of(s)->n + n <= CONTEXT);
    fake_of(s)->reserved = n;
    return QN_OK;
}

static qn_err fake_fork(struct qn_seq *dst, const struct qn_seq *src, int32_t len,
                        struct qn_error *e)
{
    (void)e;
    const struct fake_seq *from = (const struct fake_seq *)(const void *)src;
    assert_true(len <= from->n && dst != src);
    memcpy(fake_of(dst)->tokens, from->tokens, (size_t)len * sizeof(int32_t));
    fake_of(dst)->n = len;
    net.copies++;
    return QN_OK;
}

static void fake_logits(const struct fake_seq *s, float *row)
{
    for (int i = 0; i < VOCAB; i++)
        row[i] = net.broken ? NAN : (float)(i % 5) / 10;
    if (!net.broken)
        row[next_of(s->tokens, s->n)] = 20;
}

static void fake_forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    (void)ctx;
    int total = 0;
    for (size_t i = 0; i < n; i++) {
        struct fake_seq *s = fake_of(chunks[i].seq);
        assert_true(s->n + chunks[i].n <= CONTEXT && chunks[i].n <= s->reserved);
        s->reserved = 0;
        for (size_t k = 0; k < i; k++)
            assert_true(chunks[k].seq != chunks[i].seq);
        for (int32_t t = 0; t < chunks[i].n; t++) {
            s->tokens[s->n++] = chunks[i].tokens[t];
            if (chunks[i].logits && (chunks[i].all_logits || t == chunks[i].n - 1))
                fake_logits(s, chunks[i].logits + (chunks[i].all_logits ? t * VOCAB : 0));
        }
        total += chunks[i].n;
    }
    assert_true(total > 0 && total <= CHUNK);
    net.forwards++;
    net.computed += total;
    if ((int)n > net.most_chunks)
        net.most_chunks = (int)n;
}

static const char *fake_bytes(void *ctx, int32_t id, size_t *len)
{
    static char text[VOCAB][8];
    (void)ctx;
    assert_true(id >= 0 && id < VOCAB);
    *len = (size_t)sprintf(text[id], "%d.", (int)id);
    return text[id];
}

static bool fake_control(void *ctx, int32_t id)
{
    (void)ctx;
    return id == CONTROL;
}

static bool fake_end(void *ctx, int32_t id)
{
    (void)ctx;
    return id == END;
}

static const struct qn_batch_model model = {
    NULL,      VOCAB,        CHUNK,        fake_seq_new, fake_seq_free, fake_truncate,
    fake_fork, fake_reserve, fake_forward, fake_bytes,   fake_control,  fake_end,
};

/* What one request's client sees. */
struct client {
    struct qn_buf text[QN_JOB_CHOICES_MAX];
    struct qn_buf logprobs;
    int done, progress, ended, usages;
    enum qn_finish finish[QN_JOB_CHOICES_MAX];
    struct qn_event usage;
    struct qn_error error;
    bool full;
};

static void client_send(void *ctx, const struct qn_event *ev)
{
    struct client *c = ctx;
    assert_int_equal(c->ended, 0); /* nothing follows the end */
    switch (ev->kind) {
    case QN_EV_TEXT:
        qn_buf_str(&c->text[ev->index], ev->text);
        if (ev->logprobs)
            qn_buf_str(&c->logprobs, ev->logprobs);
        break;
    case QN_EV_DONE:
        c->finish[ev->index] = ev->finish;
        c->done++;
        break;
    case QN_EV_USAGE:
        c->usage = *ev;
        c->usages++;
        break;
    case QN_EV_PROGRESS:
        c->progress++;
        break;
    case QN_EV_ERROR:
        c->error = ev->error;
        c->ended++;
        break;
    default:
        assert_int_equal(ev->kind, QN_EV_END);
        c->ended++;
    }
}

static bool client_full(void *ctx)
{
    return ((struct client *)ctx)->full;
}

static void client_init(struct client *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < QN_JOB_CHOICES_MAX; i++)
        qn_buf_init(&c->text[i], 1 << 20);
    qn_buf_init(&c->logprobs, 1 << 20);
}

static void client_deinit(struct client *c)
{
    for (int i = 0; i < QN_JOB_CHOICES_MAX; i++)
        qn_buf_deinit(&c->text[i]);
    qn_buf_deinit(&c->logprobs);
}

static struct qn_batch_request request(struct client *c, const int32_t *prompt, size_t n,
                                       int64_t max_tokens)
{
    client_init(c);
    struct qn_batch_request r = {.key = c,
                                 .out = {c, client_send, client_full},
                                 .n_prompt = n,
                                 .choices = 1,
                                 .max_tokens = max_tokens,
                                 .logprobs = -1};
    r.prompt = qn_xmalloc(n * sizeof *prompt);
    memcpy(r.prompt, prompt, n * sizeof *prompt);
    r.sampling = (struct qn_sampler_params){
        .temperature = 0, .top_p = 1, .repeat_penalty = 1, .repeat_last_n = -1};
    return r;
}

/* The greedy text after this prompt, worked out without a batch. */
static const char *expected(const int32_t *prompt, size_t n, int count)
{
    static char text[1024];
    int32_t tokens[CONTEXT + 1];
    memcpy(tokens, prompt, n * sizeof *prompt);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        tokens[n] = next_of(tokens, (int32_t)n);
        if (tokens[n] == END)
            break;
        sprintf(text + strlen(text), "%d.", (int)tokens[n++]);
    }
    return text;
}

static void fill(int32_t *prompt, size_t n, int32_t salt)
{
    for (size_t i = 0; i < n; i++)
        prompt[i] = 2 + ((int32_t)i * 7 + salt) % (VOCAB - 2);
}

static struct qn_batch *batch_new(int slots)
{
    memset(&net, 0, sizeof net);
    struct qn_batch *b;
    struct qn_error e;
    assert_int_equal(qn_batch_new(&model, slots, CONTEXT, &b, &e), QN_OK);
    return b;
}

static void batch_done(struct qn_batch *b)
{
    qn_batch_free(b);
    assert_int_equal(net.seqs, 0);
}

static void run_out(struct qn_batch *b)
{
    while (qn_batch_step(b))
        ;
}

static void one_request(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    int32_t prompt[40];
    fill(prompt, 40, 3);
    struct client c;
    struct qn_batch_request r = request(&c, prompt, 40, 10);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(prompt, 40, 10));
    assert_int_equal(c.finish[0], QN_FINISH_LENGTH);
    assert_int_equal(c.ended, 1);
    assert_int_equal(c.usages, 1);
    assert_int_equal(c.usage.usage.prompt, 40);
    assert_int_equal(c.usage.usage.cached, 0);
    assert_int_equal(c.usage.usage.output, 10);
    assert_int_equal(net.computed, 40 + 9); /* the last token is never computed */
    client_deinit(&c);
    batch_done(b);
}

static void several_share_their_steps(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(4);
    struct client c[4];
    int32_t prompt[4][20];
    for (int i = 0; i < 4; i++) {
        fill(prompt[i], 20, 11 * i);
        struct qn_batch_request r = request(&c[i], prompt[i], (size_t)(5 + 5 * i), 12);
        assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    }
    struct client late;
    struct qn_batch_request r = request(&late, prompt[0], 3, 1);
    assert_false(qn_batch_has_room(b));
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_EBUSY);
    free(r.prompt);
    run_out(b);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(qn_buf_cstr(&c[i].text[0]),
                            expected(prompt[i], (size_t)(5 + 5 * i), 12));
        client_deinit(&c[i]);
    }
    assert_int_equal(net.most_chunks, 4);
    client_deinit(&late);
    batch_done(b);
}

static void the_same_beginning_is_not_computed_twice(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    struct client c;
    int32_t prompt[48];
    fill(prompt, 48, 5);
    struct qn_batch_request r = request(&c, prompt, 30, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    client_deinit(&c);
    /* Longer: the turn before is there. */
    net.computed = 0;
    r = request(&c, prompt, 40, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.cached, 30);
    assert_int_equal(net.computed, 10 + 3);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(prompt, 40, 4));
    client_deinit(&c);
    /* The same: the last token is computed again for its logits. */
    net.computed = 0;
    r = request(&c, prompt, 40, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.cached, 39);
    assert_int_equal(net.computed, 1 + 3);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(prompt, 40, 4));
    client_deinit(&c);
    /* Only a little in common: copied to the other slot, and the long one stays. */
    int32_t other[20];
    memcpy(other, prompt, sizeof other);
    other[6] = 90;
    net.copies = 0;
    r = request(&c, other, 20, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(net.copies, 1);
    assert_int_equal(c.usage.usage.cached, 6);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(other, 20, 4));
    client_deinit(&c);
    r = request(&c, prompt, 40, 1);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.cached, 39);
    client_deinit(&c);
    batch_done(b);
}

static void a_running_neighbour_lends_its_beginning(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    struct client one, two;
    int32_t prompt[24];
    fill(prompt, 24, 9);
    struct qn_batch_request r = request(&one, prompt, 20, 30);
    qn_batch_add(b, &r, NULL);
    for (int i = 0; i < 5; i++)
        assert_true(qn_batch_step(b));
    r = request(&two, prompt, 24, 5);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(two.usage.usage.cached, 20);
    assert_string_equal(qn_buf_cstr(&one.text[0]), expected(prompt, 20, 30));
    assert_string_equal(qn_buf_cstr(&two.text[0]), expected(prompt, 24, 5));
    client_deinit(&one);
    client_deinit(&two);
    batch_done(b);
}

static void choices_share_the_prompt(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(3);
    struct client c;
    int32_t prompt[20];
    fill(prompt, 20, 1);
    struct qn_batch_request r = request(&c, prompt, 20, 6);
    r.choices = 5;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.done, 5);
    assert_int_equal(c.usages, 1);
    for (int i = 0; i < 5; i++)
        assert_string_equal(qn_buf_cstr(&c.text[i]), expected(prompt, 20, 6));
    assert_int_equal(c.usage.usage.output, 30);
    assert_int_equal(net.computed,
                     20 + 4 + 5 * 5); /* 19 tokens of the prompt are copied, not computed */
    client_deinit(&c);
    batch_done(b);
}

static void choices_have_their_own_seeds(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(3);
    struct client many, single;
    int32_t prompt[10];
    fill(prompt, 10, 1);
    struct qn_batch_request r = request(&many, prompt, 10, 8);
    r.choices = 3;
    r.sampling.temperature = 40; /* nearly uniform */
    r.sampling.seed = 100;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_not_equal(qn_buf_cstr(&many.text[0]), qn_buf_cstr(&many.text[1]));
    r = request(&single, prompt, 10, 8);
    r.sampling.temperature = 40;
    r.sampling.seed = 102;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&single.text[0]), qn_buf_cstr(&many.text[2]));
    client_deinit(&many);
    client_deinit(&single);
    batch_done(b);
}

static void the_context_is_the_limit(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(1);
    struct client c;
    int32_t prompt[CONTEXT + 1];
    fill(prompt, CONTEXT + 1, 2);
    struct qn_error e = {0};
    struct qn_batch_request r = request(&c, prompt, CONTEXT + 1, 4);
    assert_int_equal(qn_batch_add(b, &r, &e), QN_ECONTEXT);
    assert_non_null(strstr(e.message, "65 tokens"));
    assert_non_null(strstr(e.message, "64 tokens"));
    free(r.prompt);
    client_deinit(&c);
    /* Exactly full: one more token can be said. */
    r = request(&c, prompt, CONTEXT, -1);
    assert_int_equal(qn_batch_add(b, &r, &e), QN_OK);
    run_out(b);
    assert_int_equal(c.usage.usage.output, 1);
    assert_int_equal(c.finish[0], QN_FINISH_LENGTH);
    client_deinit(&c);
    r = request(&c, prompt, 60, -1);
    assert_int_equal(qn_batch_add(b, &r, &e), QN_OK);
    run_out(b);
    assert_int_equal(c.usage.usage.output, 5);
    assert_int_equal(c.finish[0], QN_FINISH_LENGTH);
    client_deinit(&c);
    batch_done(b);
}

static void end_tokens_and_stop_strings(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(1);
    net.ends = true;
    struct client c;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, 50);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(prompt, 8, 50));
    assert_int_equal(c.finish[0], QN_FINISH_STOP);
    client_deinit(&c);
    r = request(&c, prompt, 8, 30);
    r.ignore_eos = true;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.output, 30);
    client_deinit(&c);
    net.ends = false;
    char text[1024];
    strcpy(text, expected(prompt, 8, 10));
    char stop[9] = {0};
    memcpy(stop, text + 9, 4);
    const char *stops[] = {"", stop};
    r = request(&c, prompt, 8, 10);
    r.stops = (struct qn_strings){stops, 2};
    qn_batch_add(b, &r, NULL);
    run_out(b);
    *strstr(text, stop) = 0;
    assert_string_equal(qn_buf_cstr(&c.text[0]), text);
    assert_int_equal(c.finish[0], QN_FINISH_STOP);
    client_deinit(&c);
    batch_done(b);
}

static void a_slow_reader_delays_nobody(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    struct client slow, quick;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&slow, prompt, 8, 10);
    qn_batch_add(b, &r, NULL);
    qn_batch_step(b);
    slow.full = true;
    r = request(&quick, prompt, 7, 10);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(quick.ended, 1);
    assert_int_equal(slow.ended, 0);
    assert_false(qn_batch_step(b)); /* nothing to do */
    slow.full = false;
    run_out(b);
    assert_string_equal(qn_buf_cstr(&slow.text[0]), expected(prompt, 8, 10));
    client_deinit(&slow);
    client_deinit(&quick);
    batch_done(b);
}

static void cancelling_frees_the_slots(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    struct client c, d;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, -1);
    r.choices = 4;
    qn_batch_add(b, &r, NULL);
    qn_batch_step(b);
    qn_batch_step(b);
    qn_batch_step(b);
    int before = c.done;
    qn_batch_cancel(b, &c);
    qn_batch_cancel(b, &d); /* unknown: nothing happens */
    assert_false(qn_batch_step(b));
    assert_int_equal(c.done, before);
    r = request(&d, prompt, 8, 3);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&d.text[0]), expected(prompt, 8, 3));
    client_deinit(&c);
    client_deinit(&d);
    batch_done(b);
}

static void newcomers_and_choices_take_turns(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(1);
    struct client c, d;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, 2);
    r.choices = 3;
    qn_batch_add(b, &r, NULL);
    int waited = 0;
    while (!qn_batch_has_room(b)) {
        qn_batch_step(b);
        assert_true(++waited < 20);
    }
    assert_int_equal(c.done, 2); /* the second choice came before the newcomer */
    r = request(&d, prompt, 8, 2);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    assert_int_equal(c.done, 3);
    assert_int_equal(d.done, 1);
    client_deinit(&c);
    client_deinit(&d);
    batch_done(b);
}

static void echo_with_logprobs(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    struct client c;
    int32_t prompt[40];
    fill(prompt, 40, 8);
    for (int skip = 0; skip < 2; skip++) {
        struct qn_batch_request r = request(&c, prompt, 40, 2);
        r.choices = 2;
        r.logprobs = 1;
        r.echo_text = qn_xstrdup("PROMPT:");
        r.echo_skip = (size_t)skip;
        qn_batch_add(b, &r, NULL);
        run_out(b);
        char text[1024] = "PROMPT:";
        strcat(text, expected(prompt, 40, 2));
        assert_string_equal(qn_buf_cstr(&c.text[0]), text);
        assert_string_equal(qn_buf_cstr(&c.text[1]), text);
        assert_int_equal(c.usage.usage.cached, 0);
        /* The first event of choice 0 has the prompt's entries: one per token but the skipped. */
        struct qn_json *doc;
        char *end = strstr(qn_buf_cstr(&c.logprobs), "]}]") + 3;
        assert_int_equal(
            qn_json_parse(c.logprobs.data, (size_t)(end - c.logprobs.data), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc), it;
        assert_int_equal(qn_json_count(&root), 40 - skip);
        int at = skip;
        for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it), at++) {
            struct qn_jref id = qn_json_get(&it, "id"), lp = qn_json_get(&it, "logprob");
            assert_int_equal((int)qn_json_raw_f64(&id), prompt[at]);
            assert_int_equal(qn_json_type(&lp), at == 0 ? QN_JSON_NULL : QN_JSON_NUMBER);
            if (at > 0) {
                /* By hand: one logit is 20, the others (i % 5) / 10. */
                int32_t likely = next_of(prompt, at);
                double sum = exp(20);
                for (int i = 0; i < VOCAB; i++)
                    sum += i == likely ? 0 : exp((i % 5) / 10.0);
                double want = (prompt[at] == likely ? 20 : (prompt[at] % 5) / 10.0) - log(sum);
                assert_true(fabs(qn_json_raw_f64(&lp) - want) < 1e-4);
            }
        }
        qn_json_free(doc);
        client_deinit(&c);
    }
    batch_done(b);
}

static void prompt_only(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(1);
    struct client c;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, 0);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&c.text[0]), "");
    assert_int_equal(c.finish[0], QN_FINISH_LENGTH);
    assert_int_equal(c.usage.usage.output, 0);
    assert_int_equal(c.ended, 1);
    client_deinit(&c);
    batch_done(b);
}

static void a_broken_model_says_so(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(3);
    net.broken = true;
    struct client c;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, 5);
    r.choices = 2;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.error.code, QN_EINTERNAL);
    assert_int_equal(c.ended, 1);
    client_deinit(&c);
    batch_done(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request),
        cmocka_unit_test(several_share_their_steps),
        cmocka_unit_test(the_same_beginning_is_not_computed_twice),
        cmocka_unit_test(a_running_neighbour_lends_its_beginning),
        cmocka_unit_test(choices_share_the_prompt),
        cmocka_unit_test(choices_have_their_own_seeds),
        cmocka_unit_test(the_context_is_the_limit),
        cmocka_unit_test(end_tokens_and_stop_strings),
        cmocka_unit_test(a_slow_reader_delays_nobody),
        cmocka_unit_test(cancelling_frees_the_slots),
        cmocka_unit_test(newcomers_and_choices_take_turns),
        cmocka_unit_test(echo_with_logprobs),
        cmocka_unit_test(prompt_only),
        cmocka_unit_test(a_broken_model_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
