/* How each family cuts text: cases worked out by hand from the families' published expressions. */
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "text/pretokenize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct qn_pretokenizer *make(const char *name)
{
    const struct qn_pretokenizer *p = NULL;
    struct qn_error e = {0};
    if (qn_pretokenizer_find(name, strlen(name), &p, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    return p;
}

static const struct {
    const char *name, *text;
    const char *pieces[12];
} cases[] = {
    {"llama-bpe", "Hello world", {"Hello", " world"}},
    {"llama-bpe", "1234567", {"123", "456", "7"}},
    {"llama-bpe", " 123", {" ", "123"}},
    {"llama-bpe", "I'll've HE'S don't", {"I", "'ll", "'ve", " HE", "'S", " don", "'t"}},
    {"llama-bpe", "a\n\n b", {"a", "\n\n", " b"}},
    {"llama-bpe", "x  \n  y", {"x", "  \n", " ", " y"}},
    {"llama-bpe", "foo(bar)", {"foo", "(bar", ")"}},
    {"llama-bpe", "!!!\n\nx", {"!!!\n\n", "x"}},
    {"llama-bpe", "tab\tx", {"tab", "\tx"}},
    {"llama-bpe", "a   ", {"a", "   "}},
    {"llama-bpe", "it's 10:30pm", {"it", "'s", " ", "10", ":", "30", "pm"}},
    {"llama-bpe", "\r\n\r\n", {"\r\n\r\n"}},
    {"llama-bpe", "\xc2\xbd \xd9\xa3\xd9\xa4", {"\xc2\xbd", " ", "\xd9\xa3\xd9\xa4"}}, /* \p{N} */
    {"qwen2", "1234", {"1", "2", "3", "4"}},
    {"qwen2", " 12", {" ", "1", "2"}},
    {"qwen2", "We'Ve a'lL", {"We", "'Ve", " a", "'lL"}},
    {"qwen2", "x  \n\n  y", {"x", "  \n\n", " ", " y"}},
    {"qwen2",
     "e\xcc\x81"
     "a",
     {"e", "\xcc\x81"
           "a"}}, /* a mark is no letter */
    {"qwen2", "\xe6\x88\x91\xe6\x83\xb3 x", {"\xe6\x88\x91\xe6\x83\xb3", " x"}},
    {"qwen35",
     "e\xcc\x81"
     "a",
     {"e\xcc\x81"
      "a"}},
    {"gpt-2", "Hello  world 123", {"Hello", " ", " world", " 123"}},
    {"gpt-2", "it's IT'S", {"it", "'s", " IT", "'", "S"}},
    {"gpt-2", "a \n", {"a", " \n"}},
    {"gpt-2", "a\nb", {"a", "\n", "b"}},
    {"smollm", "ab12 3", {"ab", "1", "2", " ", "3"}},
    {"default", "a1234!", {"a", "123", "4", "!"}},
    {"falcon", "x`1234", {"x", "`", "123", "4"}},
    {"deepseek-llm", "abc123\nx y", {"abc", "123", "\n", "x", " y"}},
    {"deepseek-llm", "a  b  ", {"a", " ", " b", "  "}},
    {"deepseek-llm", "x, y", {"x", ",", " y"}},
    {"deepseek-coder", "a+b 12", {"a", "+", "b", " ", "1", "2"}},
    {"deepseek-v3", "12345 \xe6\x97\xa5 x_y", {"123", "45", " ", "\xe6\x97\xa5", " x", "_y"}},
    {"tekken", "HelloWorld FOOBar 12", {"Hello", "World", " FOOBar", " ", "1", "2"}},
    {"gpt-4o", "don't WE'RE 1234", {"don't", " WE'RE", " ", "123", "4"}},
    {"bloom", "a, b", {"a", ",", " b"}},
    {"viking", "a12", {"a", "1", "2"}},
    {"bailingmoe", "a\n\nb", {"a", "\n\n", "b"}},
    {"seed-coder", "!!\nx", {"!!", "\n", "x"}},
};

static void cuts_as_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct qn_pretokenizer *p = make(cases[i].name);
        struct qn_text_pieces out = {0};
        const char *text = cases[i].text;
        qn_pretokenize(p, text, strlen(text), &out);
        size_t from = 0, k = 0;
        for (; k < out.n; k++) {
            const char *expected = cases[i].pieces[k];
            size_t n = out.end[k] - from;
            if (expected == NULL || strlen(expected) != n ||
                memcmp(text + from, expected, n) != 0) {
                fail_msg("%s \"%s\": piece %zu is \"%.*s\", expected \"%s\"", cases[i].name, text,
                         k, (int)n, text + from, expected ? expected : "none");
            }
            from = out.end[k];
        }
        assert_null(cases[i].pieces[k]);
        assert_int_equal(from, strlen(text));
        qn_pieces_deinit(&out);
    }
}

static void names_what_it_does_not_know(void **state)
{
    (void)state;
    const struct qn_pretokenizer *p = NULL;
    struct qn_error e = {0};
    assert_int_equal(qn_pretokenizer_find("qwen9", 5, &p, &e), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "\"qwen9\""));
    assert_int_equal(qn_pretokenizer_find("qwen2x", 5, &p, &e), QN_OK); /* by length, not by NUL */
    assert_int_equal(qn_pretokenizer_flags(p), 0);
    assert_int_equal(qn_pretokenizer_find("", 0, &p, &e), QN_EUNSUPPORTED);
    p = make("llama-bpe");
    assert_int_equal(qn_pretokenizer_flags(p), QN_PRE_WHOLE_TOKENS | QN_PRE_ADDS_BOS);
}

/* tests/unit/pretokenize_cases.txt: see the script that makes it. */
static void cuts_as_the_expressions_say(void **state)
{
    (void)state;
    struct qn_buf file;
    struct qn_error e = {0};
    qn_buf_init(&file, 1 << 20);
    if (qn_file_read("tests/unit/pretokenize_cases.txt", &file, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    struct qn_json *doc = NULL;
    const char *text = NULL;
    int count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(qn_buf_cstr(&file), "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '"') {
            qn_json_free(doc);
            assert_int_equal(qn_json_parse(line, strlen(line), &doc, &e), QN_OK);
            struct qn_jref root = qn_json_root(doc);
            text = qn_json_raw_str(&root);
            continue;
        }
        size_t name_n = strcspn(line, " ");
        const struct qn_pretokenizer *p = NULL;
        struct qn_text_pieces out = {0};
        assert_non_null(text);
        assert_int_equal(qn_pretokenizer_find(line, name_n, &p, &e), QN_OK);
        qn_pretokenize(p, text, strlen(text), &out);
        char *at = line + name_n;
        size_t end = 0;
        for (size_t k = 0; k < out.n; k++) {
            end += strtoul(at, &at, 10);
            if (out.end[k] != end) {
                fail_msg("%.*s, %s: piece %zu ends at %u, expected %zu", (int)name_n, line, text, k,
                         out.end[k], end);
            }
        }
        assert_int_equal(*at, '\0');
        assert_int_equal(end, strlen(text));
        qn_pieces_deinit(&out);
        count++;
    }
    assert_true(count > 1000);
    qn_json_free(doc);
    qn_buf_deinit(&file);
}

static const char *const families[] = {
    "default",        "gpt-2",       "llama3",   "jais-2",     "minicpm5",   "qwen2",
    "qwen35",         "ufakzeka",    "laguna",   "seed-coder", "exaone-moe", "deepseek-llm",
    "deepseek-coder", "deepseek-v3", "spark2_5", "afmoe",      "smollm",     "falcon",
    "chameleon",      "tekken",      "gpt-4o",   "tiny_aya",   "kimi-k2",    "youtu",
    "superbpe",       "bloom",       "viking",   "gemma4",     "whitespace"};

/* Pieces are never empty, end on characters, and together are the text. */
static void check_cover(const struct qn_pretokenizer *p, const char *text, size_t len)
{
    struct qn_text_pieces out = {0};
    qn_pretokenize(p, text, len, &out);
    size_t from = 0;
    for (size_t k = 0; k < out.n; k++) {
        assert_true(out.end[k] > from && out.end[k] <= len);
        assert_true(out.end[k] == len || ((unsigned char)text[out.end[k]] & 0xc0) != 0x80);
        from = out.end[k];
    }
    assert_int_equal(from, len);
    qn_pieces_deinit(&out);
}

static void pieces_cover_any_text(void **state)
{
    (void)state;
    static const uint32_t likely[] = {' ',    ' ',    '\n',    '\r', '\t', 'a',    'Z',
                                      '1',    '\'',   's',     '.',  0xe9, 0x301,  0x4e00,
                                      0x3042, 0xac00, 0x1f600, 0xa0, 0x85, 0x2028, 0};
    static const char nothing[4] = "";
    struct qn_rng rng;
    qn_rng_init(&rng, 7);
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        const struct qn_pretokenizer *p = make(families[f]);
        check_cover(p, nothing, 0);
        for (int round = 0; round < 300; round++) {
            char text[256];
            size_t n = 0, chars = qn_rng_u64(&rng) % 60;
            while (chars-- > 0) {
                uint64_t r = qn_rng_u64(&rng);
                uint32_t cp = r % 4 != 0 ? likely[(r >> 8) % (sizeof likely / sizeof likely[0])]
                                         : (uint32_t)(r >> 8) % 0x110000;
                n += qn_utf8_encode(cp >= 0xd800 && cp < 0xe000 ? 'x' : cp, text + n);
            }
            check_cover(p, text, n);
        }
    }
}

/* Long runs of one kind of character must not cost more than their length: if one did, this would
 * take hours. */
static void long_runs_are_cheap(void **state)
{
    (void)state;
    static const char *const runs[] = {" ",
                                       "a",
                                       "A",
                                       "1",
                                       "'",
                                       "\n",
                                       "\xe4\xb8\x80",
                                       " \n",
                                       "a ",
                                       "\xcc\x81",
                                       "A\xe4\xb8\x80",
                                       "<s",
                                       "IMGIMG",
                                       "\xe2\x80\x83",
                                       "=/"};
    enum { N = 50000 };
    char *text = malloc(3 * N + 2);
    for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
        size_t unit = strlen(runs[r]), n = 0;
        while (n + unit <= N) {
            memcpy(text + n, runs[r], unit);
            n += unit;
        }
        text[n++] = 'x';
        for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
            const struct qn_pretokenizer *p = make(families[f]);
            check_cover(p, text, n);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_as_published),
        cmocka_unit_test(cuts_as_the_expressions_say),
        cmocka_unit_test(names_what_it_does_not_know),
        cmocka_unit_test(pieces_cover_any_text),
        cmocka_unit_test(long_runs_are_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
