/* The chat template interpreter on its own: what the differential tests in tests/templates cannot
 * say, which is limits, places in messages, and what stays untouched when it fails. Expected texts
 * are those of Jinja's documentation where it speaks of the case. */
#include "jinja/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { NOON_MS = 12 * 3600 * 1000 };

struct outcome {
    qn_err err;
    struct qn_error e;
    struct qn_buf out;
};

static struct outcome render_n(const char *source, size_t n, const char *vars)
{
    struct outcome o = {0};
    struct qn_json *doc = NULL;
    struct qn_template *t = NULL;
    qn_buf_init(&o.out, QN_TEMPLATE_OUTPUT_MAX);
    assert_int_equal(qn_json_parse(vars, strlen(vars), &doc, &o.e), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    o.err = qn_template_new(source, n, &t, &o.e);
    if (!o.err)
        o.err = qn_template_render(t, &root, NOON_MS, &o.out, &o.e);
    qn_template_free(t);
    qn_json_free(doc);
    return o;
}

static void renders(const char *source, const char *vars, const char *expected)
{
    struct outcome o = render_n(source, strlen(source), vars);
    if (o.err)
        fail_msg("%s: %s", source, o.e.message);
    assert_string_equal(qn_buf_cstr(&o.out), expected);
    qn_buf_deinit(&o.out);
}

static void fails(const char *source, const char *vars, qn_err err, const char *message)
{
    struct outcome o = render_n(source, strlen(source), vars);
    assert_int_equal(o.err, err);
    if (!strstr(o.e.message, message))
        fail_msg("%s: \"%s\" does not contain \"%s\"", source, o.e.message, message);
    assert_int_equal(o.out.len, 0);
    qn_buf_deinit(&o.out);
}

static void a_chat(void **state)
{
    (void)state;
    const char *source = "{% for m in messages %}\n"
                         "    {% if m.role == 'user' %}\n"
                         "[INST] {{ m.content }} [/INST]\n"
                         "    {%- else %}\n"
                         " {{ m['content'] ~ eos_token }}\n"
                         "    {% endif %}\n"
                         "{% endfor %}\n"
                         "{{ '>' if add_generation_prompt }}\n";
    renders(source,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            "{\"role\":\"assistant\",\"content\":\"b\"}],"
            "\"eos_token\":\"</s>\",\"add_generation_prompt\":true}",
            "[INST] a [/INST] b</s>\n>");
}

static void white_space(void **state)
{
    (void)state;
    renders("a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "{}", "a\n  b\nc");
    renders("a {{- ' b ' -}} c", "{}", "a b c");
    renders("a {#- x -#} b\n\n", "{}", "ab\n");
    renders("a\n  {% generation %}\nb\n{%- endgeneration -%}\n c", "{}", "a\nbc");
    renders("", "{}", "");
    renders("{% print 1, 2 %}", "{}", "12");
}

static void scopes(void **state)
{
    (void)state;
    renders("{% set a = 1 %}{% for i in [2] %}{% set a = i %}{{ a }}{% endfor %}{{ a }}", "{}",
            "21");
    renders("{% set n = namespace(a=1) %}{% for i in [2] %}{% set n.a = i %}{% endfor %}{{ n.a }}",
            "{}", "2");
    renders("{% macro m(x, y='d') %}{{ x }}{{ y }}{{ z }}{% endmacro %}{{ m(1) }}{{ m(y=2, x=3) }}",
            "{\"z\":\"!\"}", "1d!32!");
    renders("{% macro m() %}{% set a = 1 %}<{{ caller(2) }}>{% endmacro %}"
            "{% call(b) m() %}{{ a }}{{ b }}{% endcall %}{{ a }}",
            "{\"a\":0}", "<02>0");
    renders(
        "{% macro f(n) %}{{ n }}{% if n > 1 %},{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}",
        "{}", "4,3,2,1");
}

static void time_is_local(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    renders("{{ strftime_now('%d %b %B %Y-%m-%d %H:%M %%') }}", "{}",
            "01 Jan January 1970-01-01 12:00 %");
    setenv("TZ", "EST5", 1);
    tzset();
    renders("{{ strftime_now('%H') }}", "{}", "07");
    unsetenv("TZ");
    tzset();
}

static void json(void **state)
{
    (void)state;
    renders("{{ v | tojson }}", "{\"v\":{\"a\":[1,2.5,null,true,\"\\\"\\u00e9\\n\"],\"b\":{}}}",
            "{\"a\": [1, 2.5, null, true, \"\\\"\u00e9\\n\"], \"b\": {}}");
    renders("{{ v | tojson(indent=2) }}", "{\"v\":{\"a\":[1]}}", "{\n  \"a\": [\n    1\n  ]\n}");
    renders("{{ v | tojson(ensure_ascii=true) }}", "{\"v\":\"\xf0\x9f\x98\x80\"}",
            "\"\\ud83d\\ude00\"");
}

static void numbers(void **state)
{
    (void)state;
    renders("{{ 2.0 }} {{ 10 ** 21 }} {{ v }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 1 / 3 }}",
            "{\"v\":1.0}", "2.0 1000000000000000000000 1 3 3.5 3.0 0.3333333333333333");
}

static void exceptions(void **state)
{
    (void)state;
    struct outcome o = render_n("{{ raise_exception('No %s here: ' ~ 5) }}", 41, "{}");
    assert_int_equal(o.err, QN_EINVAL);
    assert_string_equal(o.e.message, "No %s here: 5");
    qn_buf_deinit(&o.out);
}

static void places_in_messages(void **state)
{
    (void)state;
    fails("ab\n  {% if x %}\n{% endif %}\n  {{ y | nope }}", "{}", QN_EFORMAT,
          "line 4: No filter named nope");
    fails("{% if %}", "{}", QN_EFORMAT, "line 1: Expected an expression");
    fails("a\n{{ 'x }}", "{}", QN_EFORMAT, "line 2: this string is never closed");
    fails("{% if a %}b", "{}", QN_EFORMAT, "`{% endif %}` is missing");
    fails("{% foo %}", "{}", QN_EFORMAT, "unknown tag 'foo'");
    fails("x{{ a + 1 }}", "{}", QN_EFORMAT, "'a' is undefined");
    fails("{{ a() }}", "{}", QN_EFORMAT, "'a' is undefined");
}

/* A person waits: what would keep the child busy for long ends at a limit. */
static void within_limits(const char *source, const char *message)
{
    struct outcome o = render_n(source, strlen(source), "{}");
    if (o.err != QN_ELIMIT || !strstr(o.e.message, message))
        fail_msg("%.100s: code %d, \"%s\", not \"%s\"", source, o.err, o.e.message, message);
    assert_int_equal(o.out.len, 0);
    qn_buf_deinit(&o.out);
}

/* As Python has them: chat templates of the wild use them. */
static void methods_of_lists_and_dicts(void **state)
{
    (void)state;
    renders("{% set n = namespace(l=[1]) %}{% set _ = n.l.append(2) %}{{ n.l.pop(0) }}{{ n.l.pop() "
            "}}{{ n.l|length }}",
            "{}", "120");
    renders("{% set l = [1, 2, 3] %}{{ l.pop(-2) }}{{ l }}", "{}", "2[1, 3]");
    renders("{% for k, v in s.items() %}{{ k }}{{ v }} {% endfor %}{{ s.items.a }}",
            "{\"s\":{\"items\":{\"a\":1}}}", "items{'a': 1} ");
    fails("{{ [].pop() }}", "{}", QN_EFORMAT, "chat template, line 1: pop from empty list");
    /* A list within itself has no end. */
    within_limits("{% set l = [] %}{% set _ = l.append(l) %}{{ l }}", "deep");
    within_limits("{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}", "deep");
}

static void limits(void **state)
{
    (void)state;
    fails("{% for i in range(10**9) %}{% endfor %}", "{}", QN_EFORMAT, "Range too big");
    within_limits("{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}",
                  "steps");
    within_limits("{% set n = namespace(a='x') %}"
                  "{% for i in range(99) %}{% set n.a = n.a ~ n.a %}{% endfor %}{{ n.a }}",
                  "bytes");
    within_limits("{% set n = namespace(a=[1]) %}"
                  "{% for i in range(99) %}{% set n.a = n.a + n.a %}{% endfor %}",
                  "");
    within_limits("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "macro calls");
    within_limits("{% macro f() %}{{ [[[[[[[[[[[[[[[[[[[[f()]]]]]]]]]]]]]]]]]]]] }}{% endmacro %}"
                  "{{ f() }}",
                  "nested");
    within_limits("{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}"
                  "{{ f() }}",
                  "macro calls");
    within_limits("{% set n = namespace() %}{% set n.a = n %}{{ n }}", "nested");
    within_limits("{% set n = namespace(a=[]) %}"
                  "{% for i in range(9999) %}{% set n.a = [n.a] %}{% endfor %}{{ n.a }}",
                  "nested");
    within_limits("{{ [1] | tojson(indent=10**12) }}", "bytes of text");
    within_limits("{{ 'a\\nb' | indent(10**15) }}", "bytes of text");
    within_limits("{% set a = 'x' | indent(10**7, true) %}{{ a | replace('', a) }}", "");
    within_limits("{% set a = 'x' | indent(3*10**6, true) %}"
                  "{% for i in range(10**5) %}{% set b = a[i * 30] %}{% endfor %}",
                  "steps");
}

static void repeated(const char *open, const char *close, size_t count, qn_err err)
{
    struct qn_buf source;
    qn_buf_init(&source, QN_TEMPLATE_SOURCE_MAX * (size_t)2);
    qn_buf_str(&source, "{{ ");
    for (size_t i = 0; i < count; i++)
        qn_buf_str(&source, open);
    qn_buf_str(&source, "1");
    for (size_t i = 0; i < count; i++)
        qn_buf_str(&source, close);
    qn_buf_str(&source, " }}");
    struct outcome o = render_n(source.data, source.len, "{}");
    if (o.err != err)
        fail_msg("%s x %zu: code %d, %s", open, count, o.err, o.e.message);
    qn_buf_deinit(&o.out);
    qn_buf_deinit(&source);
}

static void deep_sources(void **state)
{
    (void)state;
    const struct {
        const char *open, *close;
        size_t fine; /* this often is fine; 80000 times is an error */
    } rows[] = {
        {"(", ")", 190},           {"[", "]", 190},      {"-", "", 190},
        {"not ", "", 190},         {"{'a':", "}", 190},  {"1 + ", "", 900},
        {"1 if 1 else ", "", 190}, {"", "|string", 900}, {"", ".a", 900},
        {"range(", ")", 190},      {"1 and ", "", 900},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].open, "range(") != 0 && strcmp(rows[i].close, ".a") != 0)
            repeated(rows[i].open, rows[i].close, rows[i].fine, QN_OK);
        repeated(rows[i].open, rows[i].close, 80000, QN_EFORMAT);
    }
    struct qn_buf blocks;
    qn_buf_init(&blocks, QN_TEMPLATE_SOURCE_MAX);
    for (int i = 0; i < 50000; i++)
        qn_buf_str(&blocks, "{% if 1 %}");
    struct outcome o = render_n(blocks.data, blocks.len, "{}");
    assert_int_equal(o.err, QN_EFORMAT);
    qn_buf_deinit(&o.out);
    qn_buf_deinit(&blocks);
}

static void source_limit(void **state)
{
    (void)state;
    size_t n = QN_TEMPLATE_SOURCE_MAX;
    char *source = malloc(n + 1);
    memset(source, ' ', n + 1);
    struct outcome o = render_n(source, n, "{}");
    assert_int_equal(o.err, QN_OK);
    assert_int_equal(o.out.len, n);
    qn_buf_deinit(&o.out);
    o = render_n(source, n + 1, "{}");
    assert_int_equal(o.err, QN_ELIMIT);
    qn_buf_deinit(&o.out);
    free(source);
}

static void output_of_the_caller(void **state)
{
    (void)state;
    struct qn_error e = {0};
    struct qn_template *t = NULL;
    struct qn_json *doc = NULL;
    struct qn_buf out;
    qn_buf_init(&out, 8);
    qn_buf_str(&out, "abc");
    assert_int_equal(qn_template_new("{{ v }}", 7, &t, &e), QN_OK);
    assert_int_equal(qn_json_parse("{\"v\":\"123456\"}", 14, &doc, &e), QN_OK);
    struct qn_jref root = qn_json_root(doc), number = qn_json_get(&root, "v");
    assert_int_equal(qn_template_render(t, &root, 0, &out, &e), QN_ELIMIT);
    assert_string_equal(qn_buf_cstr(&out), "abc");
    qn_json_free(doc);
    assert_int_equal(qn_json_parse("{\"v\":\"12345\"}", 13, &doc, &e), QN_OK);
    root = qn_json_root(doc);
    number = qn_json_get(&root, "v");
    qn_buf_clear(&out);
    assert_int_equal(qn_template_render(t, &root, 0, &out, &e), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), "12345");
    assert_int_equal(qn_template_render(t, &number, 0, &out, &e), QN_EINVAL);
    qn_json_free(doc);
    qn_template_free(t);
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chat),
        cmocka_unit_test(white_space),
        cmocka_unit_test(scopes),
        cmocka_unit_test(methods_of_lists_and_dicts),
        cmocka_unit_test(time_is_local),
        cmocka_unit_test(json),
        cmocka_unit_test(numbers),
        cmocka_unit_test(exceptions),
        cmocka_unit_test(places_in_messages),
        cmocka_unit_test(limits),
        cmocka_unit_test(deep_sources),
        cmocka_unit_test(source_limit),
        cmocka_unit_test(output_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
