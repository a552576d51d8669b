/* How reasoning ends within the batch: by a budget, and where a constraint is to hold behind it. */
#include "fake_net.h"

#include "llm/toolcall/calls_parse.h"

enum { OPEN = 3, CLOSE = 42, BUDGET = 6, ANSWER = 5, PROMPT = 20 };

static const struct qn_thinking numbers = {.name = "test", .open = "3.", .close = "42."};

static struct qn_syntax syntax_of(const struct qn_thinking *think)
{
    struct qn_syntax s = qn_syntax_find("", NULL, NULL);
    s.think = think;
    return s;
}

/* What the model says when its reasoning is ended for it, worked out without a batch. */
static void expect(const int32_t *prompt, int64_t budget, char *reasoning, char *text)
{
    int32_t tokens[LONGEST];
    int32_t n = PROMPT;
    memcpy(tokens, prompt, PROMPT * sizeof *tokens);
    *reasoning = *text = '\0';
    for (int i = 0; i < budget; i++) {
        tokens[n] = next_of(tokens, n);
        assert_true(tokens[n] != CLOSE); /* by itself it would reason longer */
        sprintf(reasoning + strlen(reasoning), "%d.", (int)tokens[n++]);
    }
    tokens[n++] = CLOSE;
    for (int i = 0; i < ANSWER; i++) {
        tokens[n] = next_of(tokens, n);
        assert_true(i > 0 || tokens[n] != OPEN);
        sprintf(text + strlen(text), "%d.", (int)tokens[n++]);
    }
}

static void check_budget(struct qn_batch *b, int64_t budget, int64_t choices)
{
    char reasoning[256], text[256], all[1024] = "";
    int32_t prompt[PROMPT];
    struct client c;
    fill(prompt, PROMPT, 3);
    expect(prompt, budget, reasoning, text);
    struct qn_batch_request r = request(&c, prompt, PROMPT, budget + 1 + ANSWER);
    r.syntax = syntax_of(&numbers);
    r.thinking = true;
    r.think_budget = budget;
    r.choices = choices;
    qn_tokens_push(&r.ending, CLOSE);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    for (int64_t i = 0; i < choices; i++) {
        assert_string_equal(qn_buf_cstr(&c.text[i]), text);
        strcat(all, reasoning);
    }
    if (choices == 1)
        assert_string_equal(qn_buf_cstr(&c.reasoning), reasoning);
    assert_int_equal(c.reasoning.len, strlen(all));
    assert_int_equal(c.usage.usage.output, (budget + 1 + ANSWER) * choices);
    client_deinit(&c);
}

static void a_budget_ends_reasoning(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    check_budget(b, BUDGET, 1);
    check_budget(b, 0, 1);
    check_budget(b, 1, 2);
    batch_done(b);
}

/* A client may end the reasoning at any time; of another request it changes nothing. */
static void reasoning_ends_on_request(void **state)
{
    (void)state;
    char reasoning[256], text[256];
    int32_t prompt[PROMPT];
    struct qn_batch *b = batch_new(2);
    struct client c;
    int n = 0;
    fill(prompt, PROMPT, 3);
    struct qn_batch_request r = request(&c, prompt, PROMPT, 40);
    r.syntax = syntax_of(&numbers);
    r.thinking = true;
    r.think_budget = -1;
    qn_tokens_push(&r.ending, CLOSE);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    while (c.reasoning.len == 0)
        assert_true(qn_batch_step(b));
    qn_batch_end_reasoning(b, &n);
    for (size_t said = c.reasoning.len; c.reasoning.len == said;)
        assert_true(qn_batch_step(b));
    qn_batch_end_reasoning(b, &c);
    run_out(b);
    for (const char *p = qn_buf_cstr(&c.reasoning); *p; p++)
        n += *p == '.';
    assert_in_range(n, 2, 10);
    expect(prompt, n, reasoning, text);
    assert_string_equal(qn_buf_cstr(&c.reasoning), reasoning);
    assert_memory_equal(qn_buf_cstr(&c.text[0]), text, strlen(text));
    client_deinit(&c);
    batch_done(b);
}

/* Guesses that reach beyond the end of the reasoning are of no use, and change nothing. */
static void guesses_respect_the_budget(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 4, .context = CONTEXT, .speculate = true}, POOL);
    net.parrot = true;
    net.step_us = 300; /* rows cost next to nothing: guessing pays */
    check_budget(b, 36, 1);
    assert_true(qn_batch_stats(b)->right > 0);
    batch_done(b);
}

/* Without a budget, or for a model whose reasoning cannot be ended, it goes on. */
static void no_budget_no_end(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(2);
    for (int i = 0; i < 2; i++) {
        int32_t prompt[PROMPT];
        struct client c;
        fill(prompt, PROMPT, 3);
        struct qn_batch_request r = request(&c, prompt, PROMPT, 10);
        r.syntax = syntax_of(&numbers);
        r.thinking = true;
        r.think_budget = i == 0 ? -1 : 3;
        if (i == 0)
            qn_tokens_push(&r.ending, CLOSE);
        assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
        run_out(b);
        assert_string_equal(qn_buf_cstr(&c.reasoning), expected(prompt, PROMPT, 10));
        client_deinit(&c);
    }
    batch_done(b);
}

/* ---- a constraint behind the reasoning ---- */

static const struct qn_thinking tags = {.name = "test", .open = "<t>", .close = "</t>"};

/* A vocabulary in which most tokens that end the reasoning go on behind it. */
static const char *words(void *ctx, int32_t id, size_t *len)
{
    (void)ctx;
    const char *text = id == 95   ? "</t>"
                       : id == 96 ? "{"
                       : id == 94 ? "}"
                       : id == 93 ? "</"
                       : id == 92 ? "t>\n{"
                       : id == 91 ? "t>"
                       : id == 90 ? "\n"
                       : id < 20  ? "a"
                                  : "</t>\n\n{x";
    *len = strlen(text);
    return text;
}

static void nothing_slips_past_a_constraint(void **state)
{
    (void)state;
    struct qn_constrain_vocab v = {.n = VOCAB,
                                   .token_bytes = words,
                                   .token_is_control = fake_control,
                                   .token_is_end = fake_end};
    struct qn_constrainer *constrainer = qn_constrainer_new(&v);
    struct qn_constrain_source source = {.grammar = "root ::= \"{}\""};
    struct qn_batch_model m = model;
    m.token_bytes = words;
    struct qn_batch_config config = {.seqs = 1, .context = CONTEXT};
    for (int seed = 0; seed < 20; seed++) {
        struct qn_batch *b;
        struct client c;
        int32_t prompt[PROMPT];
        net = (struct fake_net){.total = POOL};
        fill(prompt, PROMPT, seed);
        assert_int_equal(qn_batch_new(&m, &config, &b, NULL), QN_OK);
        struct qn_batch_request r = request(&c, prompt, PROMPT, 40);
        r.syntax = syntax_of(&tags);
        r.thinking = true;
        assert_int_equal(qn_constraint_compile(constrainer, &source, &r.constraint, NULL), QN_OK);
        assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
        run_out(b);
        assert_int_equal(c.error.code, QN_OK);
        assert_string_equal(qn_buf_cstr(&c.text[0]), "{}");
        assert_int_equal(c.finish[0], QN_FINISH_STOP);
        client_deinit(&c);
        qn_batch_free(b);
    }
    qn_constrainer_free(constrainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_ends_reasoning),
        cmocka_unit_test(reasoning_ends_on_request),
        cmocka_unit_test(guesses_respect_the_budget),
        cmocka_unit_test(no_budget_no_end),
        cmocka_unit_test(nothing_slips_past_a_constraint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
