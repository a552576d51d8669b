/* Streaming text: only whole characters come out, whatever the tokens cut. */
#include "base/buf.h"
#include "text/detokenize.h"

#include "gguf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* SentencePiece with every byte: id 3 + b; then some words. */
static struct qn_tokenizer *make(bool prefix)
{
    static const char *const words[] = {"\xe2\x96\x81Hi", "\xe2\x96\x81there", "\xe2\x96\x81", "!"};
    enum { WORDS = sizeof words / sizeof words[0], COUNT = 3 + 256 + WORDS };
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "llama");
    gguf_bool(&f, "tokenizer.ggml.add_space_prefix", prefix);
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, COUNT);
    gguf_text(&f, "<unk>", 5), gguf_text(&f, "<s>", 3), gguf_text(&f, "</s>", 4);
    for (int b = 0; b < 256; b++) {
        char text[8];
        gguf_text(&f, text, (size_t)snprintf(text, sizeof text, "<0x%02X>", (unsigned)b));
    }
    for (size_t i = 0; i < WORDS; i++) {
        gguf_text(&f, words[i], strlen(words[i]));
    }
    gguf_array(&f, "tokenizer.ggml.token_type", QN_GGUF_I32, COUNT);
    for (int i = 0; i < COUNT; i++) {
        int32_t kind = i == 0 ? 2 : i < 3 ? 3 : i < 3 + 256 ? 6 : 1;
        gguf_raw(&f, &kind, sizeof kind);
    }
    gguf_array(&f, "tokenizer.ggml.scores", QN_GGUF_F32, COUNT);
    for (int i = 0; i < COUNT; i++) {
        gguf_raw(&f, &(float){0}, sizeof(float));
    }
    gguf_end(&f);
    struct qn_gguf *g;
    struct qn_tokenizer *t = NULL;
    struct qn_error e = {0};
    assert_int_equal(qn_gguf_parse(f.b.data, f.b.len, &g, &e), QN_OK);
    assert_int_equal(qn_tokenizer_new(g, &t, &e), QN_OK);
    qn_gguf_close(g);
    qn_buf_deinit(&f.b);
    return t;
}

enum { HI = 3 + 256, THERE, SPACE, BANG };

static int32_t byte(unsigned b)
{
    return 3 + (int32_t)b;
}

/* Pushes one token and compares what is there so far. */
static void push(struct qn_detok *d, struct qn_buf *out, int32_t id, const char *so_far)
{
    assert_int_equal(qn_detok_push(d, id, out), QN_OK);
    assert_string_equal(qn_buf_cstr(out), so_far);
}

static void strips_the_first_space_alone(void **state)
{
    (void)state;
    struct qn_tokenizer *t = make(true);
    struct qn_detok d;
    struct qn_buf out;
    qn_buf_init(&out, 100);
    qn_detok_init(&d, t);
    push(&d, &out, HI, "Hi");
    push(&d, &out, THERE, "Hi there");
    push(&d, &out, BANG, "Hi there!");
    assert_int_equal(qn_detok_flush(&d, &out), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), "Hi there!");
    qn_buf_clear(&out);
    qn_detok_init(&d, t);
    push(&d, &out, SPACE, "");
    push(&d, &out, HI, " Hi");
    qn_tokenizer_free(t);

    t = make(false);
    qn_buf_clear(&out);
    qn_detok_init(&d, t);
    push(&d, &out, HI, " Hi");
    push(&d, &out, 2, " Hi</s>"); /* a control token gives its written form */
    push(&d, &out, 99999, " Hi</s>");
    qn_tokenizer_free(t);
    qn_buf_deinit(&out);
}

static void holds_back_what_is_not_whole(void **state)
{
    (void)state;
    struct qn_tokenizer *t = make(true);
    struct qn_detok d;
    struct qn_buf out;
    qn_buf_init(&out, 100);
    qn_detok_init(&d, t);
    push(&d, &out, byte(0xf0), ""); /* U+1F600 */
    push(&d, &out, byte(0x9f), "");
    push(&d, &out, byte(0x98), "");
    push(&d, &out, byte(0x80), "\xf0\x9f\x98\x80");
    push(&d, &out, byte(0xc3), "\xf0\x9f\x98\x80");
    push(&d, &out, byte(0xa9), "\xf0\x9f\x98\x80\xc3\xa9");
    qn_buf_clear(&out);
    push(&d, &out, byte(0xe2), "");
    push(&d, &out, byte(0x82), "");
    assert_int_equal(qn_detok_flush(&d, &out), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), "\xef\xbf\xbd"); /* one, for the whole unfinished tail */
    assert_int_equal(qn_detok_flush(&d, &out), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), "\xef\xbf\xbd");
    qn_tokenizer_free(t);
    qn_buf_deinit(&out);
}

static void replaces_what_can_be_nothing(void **state)
{
    (void)state;
    struct qn_tokenizer *t = make(true);
    struct qn_detok d;
    struct qn_buf out;
    qn_buf_init(&out, 100);
    qn_detok_init(&d, t);
    push(&d, &out, byte(0x80), "\xef\xbf\xbd"); /* no character begins so */
    push(&d, &out, byte(0xff), "\xef\xbf\xbd\xef\xbf\xbd");
    qn_buf_clear(&out);
    push(&d, &out, byte(0xe2), "");
    push(&d, &out, BANG, "\xef\xbf\xbd!"); /* begun and not continued */
    qn_buf_clear(&out);
    push(&d, &out, byte(0xc3), "");
    push(&d, &out, byte(0xc3), "\xef\xbf\xbd");
    push(&d, &out, byte(0xa9), "\xef\xbf\xbd\xc3\xa9");
    qn_tokenizer_free(t);
    qn_buf_deinit(&out);
}

static void says_when_the_buffer_is_full(void **state)
{
    (void)state;
    struct qn_tokenizer *t = make(true);
    struct qn_detok d;
    struct qn_buf out;
    qn_buf_init(&out, 4);
    qn_detok_init(&d, t);
    push(&d, &out, HI, "Hi");
    assert_int_equal(qn_detok_push(&d, THERE, &out), QN_ELIMIT);
    assert_string_equal(qn_buf_cstr(&out), "Hi");
    qn_tokenizer_free(t);
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_the_first_space_alone),
        cmocka_unit_test(holds_back_what_is_not_whole),
        cmocka_unit_test(replaces_what_can_be_nothing),
        cmocka_unit_test(says_when_the_buffer_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
