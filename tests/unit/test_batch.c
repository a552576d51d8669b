/* Continuous batching as a client sees it: texts, ends, usage, cancelling. test_batch_pages.c has
 * what happens when pages run short, test_batch_guess.c speculation. */
#include "fake_net.h"

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
    struct client late; /* waits for its turn */
    struct qn_batch_request r = request(&late, prompt[0], 3, 1);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&late.text[0]), expected(prompt[0], 3, 1));
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
    /* Only a little in common: the long one stays. */
    int32_t other[20];
    memcpy(other, prompt, sizeof other);
    other[6] = 90;
    r = request(&c, other, 20, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
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

/* A request that wants no reuse computes its whole prompt, and later ones find nothing of it. */
static void what_is_not_to_be_reused_is_computed(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(4);
    struct client before, running, apart, after;
    int32_t prompt[40], other[40];
    fill(prompt, 40, 5);
    fill(other, 40, 77);
    struct qn_batch_request r = request(&before, prompt, 30, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    /* Neither from the tree nor from a neighbour that still runs; its choices share among
     * themselves. */
    r = request(&running, prompt, 35, 60);
    qn_batch_add(b, &r, NULL);
    for (int i = 0; i < 5; i++)
        assert_true(qn_batch_step(b));
    r = request(&apart, prompt, 40, 4);
    r.no_reuse = true;
    r.choices = 2;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(running.usage.usage.cached, 30);
    assert_int_equal(apart.usage.usage.cached, 0);
    for (int i = 0; i < 2; i++)
        assert_string_equal(qn_buf_cstr(&apart.text[i]), expected(prompt, 40, 4));
    client_deinit(&apart);
    /* And nothing is left of it, whether it has ended or still runs. */
    r = request(&apart, other, 40, 4);
    r.no_reuse = true;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    client_deinit(&apart);
    r = request(&apart, other, 38, 60);
    r.no_reuse = true;
    qn_batch_add(b, &r, NULL);
    for (int i = 0; i < 5; i++)
        assert_true(qn_batch_step(b));
    r = request(&after, other, 40, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(after.usage.usage.cached, 0);
    client_deinit(&before);
    client_deinit(&running);
    client_deinit(&apart);
    client_deinit(&after);
    batch_done(b);
}

/* Neither the tree nor a neighbour that runs, nor one that is computing the same prompt. */
static void owners_share_no_beginnings(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(4);
    struct client before, running, other, again;
    int32_t prompt[40];
    fill(prompt, 40, 5);
    struct qn_batch_request r = request(&before, prompt, 30, 4);
    r.owner = 1;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    r = request(&running, prompt, 35, 60);
    r.owner = 1;
    qn_batch_add(b, &r, NULL);
    for (int i = 0; i < 5; i++)
        assert_true(qn_batch_step(b));
    r = request(&other, prompt, 40, 4);
    r.owner = 2;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(running.usage.usage.cached, 30);
    assert_int_equal(other.usage.usage.cached, 0);
    assert_string_equal(qn_buf_cstr(&other.text[0]), expected(prompt, 40, 4));
    r = request(&again, prompt, 40, 4);
    r.owner = 2;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(again.usage.usage.cached, 39);
    client_deinit(&before);
    client_deinit(&running);
    client_deinit(&other);
    client_deinit(&again);
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

static void a_slow_reader_delays_no_other(void **state)
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

static void new_requests_and_choices_take_turns(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(1);
    struct client c, d;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, 2);
    r.choices = 3;
    qn_batch_add(b, &r, NULL);
    r = request(&d, prompt, 8, 2);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    int waited = 0;
    while (d.done == 0) {
        qn_batch_step(b);
        assert_true(++waited < 20);
    }
    assert_int_equal(c.done, 2); /* the second choice came before the new request, not the third */
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

/* Damage that can be mended costs time alone: all is computed anew, also what was kept before, and
 * what the other answers of the step have. */
static void mended_weights_lose_nothing(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(3);
    struct client before, c[2];
    int32_t prompt[2][30];
    fill(prompt[0], 30, 5);
    fill(prompt[1], 30, 70);
    struct qn_batch_request r = request(&before, prompt[0], 20, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    for (int i = 0; i < 2; i++) {
        r = request(&c[i], prompt[i], 30, 20);
        qn_batch_add(b, &r, NULL);
    }
    for (int i = 0; i < 6; i++)
        assert_true(qn_batch_step(b));
    net.broken = net.damaged = true;
    net.computed = 0;
    run_out(b);
    assert_int_equal(net.mended, 1);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(qn_buf_cstr(&c[i].text[0]), expected(prompt[i], 30, 20));
        client_deinit(&c[i]);
    }
    assert_true(net.computed > 2 * 30); /* the prompts once more */
    client_deinit(&before);
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
        cmocka_unit_test(what_is_not_to_be_reused_is_computed),
        cmocka_unit_test(owners_share_no_beginnings),
        cmocka_unit_test(a_running_neighbour_lends_its_beginning),
        cmocka_unit_test(choices_share_the_prompt),
        cmocka_unit_test(choices_have_their_own_seeds),
        cmocka_unit_test(the_context_is_the_limit),
        cmocka_unit_test(end_tokens_and_stop_strings),
        cmocka_unit_test(a_slow_reader_delays_no_other),
        cmocka_unit_test(cancelling_frees_the_slots),
        cmocka_unit_test(new_requests_and_choices_take_turns),
        cmocka_unit_test(echo_with_logprobs),
        cmocka_unit_test(prompt_only),
        cmocka_unit_test(mended_weights_lose_nothing),
        cmocka_unit_test(a_broken_model_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
