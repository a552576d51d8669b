/* router/dialects/ollama/ollama_template.c: templates in Go's language, translated, rendered by our
 * own Jinja, against what Ollama's documents say they show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dialects/ollama/ollama_template.h"
#include "jinja/template.h"

#include <string.h>

#define MESSAGE(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}"

static void shows(const char *text, const char *vars, const char *wanted)
{
    struct qn_buf jinja, out;
    struct qn_error e = {0};
    struct qn_template *t = NULL;
    struct qn_json *doc;
    qn_buf_init(&jinja, 1024 * 1024);
    qn_buf_init(&out, 1024 * 1024);
    if (qn_ollama_template(text, &jinja, &e) ||
        qn_template_new(qn_buf_cstr(&jinja), jinja.len, &t, &e))
        fail_msg("%s: %s: %s", text, e.message, qn_buf_cstr(&jinja));
    assert_int_equal(qn_json_parse(vars, strlen(vars), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    if (qn_template_render(t, &root, 0, &out, &e))
        fail_msg("%s: %s: %s", text, e.message, qn_buf_cstr(&jinja));
    assert_string_equal(qn_buf_cstr(&out), wanted);
    qn_template_free(t);
    qn_json_free(doc);
    qn_buf_deinit(&jinja);
    qn_buf_deinit(&out);
}

/* The example of docs/template.mdx for one exchange, as old model files have it. */
static const char chatml[] =
    "{{- if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}"
    "{{- if .Prompt }}<|im_start|>user\n{{ .Prompt }}<|im_end|>\n{{ end }}"
    "<|im_start|>assistant\n{{ .Response }}<|im_end|>\n";

static void one_exchange(void **state)
{
    (void)state;
    shows(chatml, "{\"messages\":[" MESSAGE("user", "hi") "]}",
          "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    shows(chatml,
          "{\"messages\":[" MESSAGE("system", "s") "," MESSAGE("user", "a") "," MESSAGE(
              "assistant", "b") "," MESSAGE("user", "c") "]}",
          "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>"
          "assistant\nb<|im_end|>\n"
          "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n");
    shows("[INST] {{ .System }} {{ .Prompt }} [/INST]", "{\"messages\":[" MESSAGE("user", "x") "]}",
          "[INST]  x [/INST]");
}

/* The same document's example with messages. */
static void messages(void **state)
{
    (void)state;
    shows("{{- range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>\n\n{{ .Content "
          "}}<|eot_id|>\n"
          "{{- end }}<|start_header_id|>assistant<|end_header_id|>\n\n",
          "{\"messages\":[" MESSAGE("system", "s") "," MESSAGE("user", "it's \\\\n") "]}",
          "<|start_header_id|>system<|end_header_id|>\n\ns<|eot_id|><|start_header_id|>user<|end_"
          "header_id|>\n\n"
          "it's \\n<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
    static const char tools[] =
        "{{- if or .System .Tools }}<sys>{{ .System }}{{ if .Tools }}{{ range .Tools }}{{ . }}{{ "
        "end }}{{ end }}</sys>"
        "{{- end }}\n"
        "{{- range $i, $_ := .Messages }}\n"
        "{{- $last := eq (len (slice $.Messages $i)) 1 -}}\n"
        "{{- if eq .Role \"user\" }}[u]{{ .Content }}\n"
        "{{- else if and (eq .Role \"assistant\") .ToolCalls }}[c]"
        "{{ range .ToolCalls }}{\"name\": \"{{ .Function.Name }}\", \"arguments\": {{ "
        ".Function.Arguments }}}{{ end }}\n"
        "{{- else if eq .Role \"tool\" \"function\" }}[t]{{ .Content }}{{ end }}\n"
        "{{- if and (ne .Role \"assistant\") $last }}[a]{{ end }}\n"
        "{{- end }}";
    shows(tools,
          "{\"tools\":[{\"type\":\"function\"}],\"messages\":[" MESSAGE(
              "user", "w?") ",{\"role\":\"assistant\","
                            "\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\","
                            "\"arguments\":{\"a\":1}}}]}," MESSAGE("tool", "9") "]}",
          "<sys>{\"type\": \"function\"}</sys>[u]w?[c]{\"name\": \"f\", \"arguments\": {\"a\": "
          "1}}[t]9[a]");
    shows("{{ $n := 0 }}{{ range .Messages }}{{ if not .Content }}-{{ else }}{{ $n = 1 }}{{ end "
          "}}{{ end }}{{ $n }}",
          "{\"messages\":[" MESSAGE("user", "") "," MESSAGE("user", "x") "]}", "-1");
    shows("{{ with .Messages }}{{ index . 0 | json }}{{ end }}{{/* a remark */}}",
          "{\"messages\":[" MESSAGE("user", "x") "]}", "{\"role\": \"user\", \"content\": \"x\"}");
}

static void jinja_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {"{% for m in messages %}{{ m.content }}{% endfor %}",
                                        "{{ messages[0] }}", "plain text", ""};
    for (size_t i = 0; i < 4; i++) {
        struct qn_buf out;
        qn_buf_init(&out, 4096);
        assert_int_equal(qn_ollama_template(texts[i], &out, NULL), QN_OK);
        assert_string_equal(qn_buf_cstr(&out), texts[i]);
        qn_buf_deinit(&out);
    }
}

static void what_is_not_understood(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ .Nothing }}",          "{{ if .System }}",
        "{{ end }}{{ .System }}",  "{{ .System",
        "{{ printf .System }}",    "{{ define \"x\" }}{{ .System }}{{ end }}",
        "{{ eq .System }}",        "{{ (.System }}",
        "{{ .System \"a }}",       "{{ . }}",
        "{{ .System .Prompt }}",   "{{ else }}{{ .System }}",
        "{{ .System | .Prompt }}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct qn_buf out;
        struct qn_error e = {0};
        qn_buf_init(&out, 1024 * 1024);
        if (qn_ollama_template(texts[i], &out, &e) != QN_EUNSUPPORTED)
            fail_msg("%s: %s", texts[i], qn_buf_cstr(&out));
        assert_string_equal(e.param, "template");
        qn_buf_deinit(&out);
    }
}

/* A megabyte of brackets that never close: looked at once, not once for each. */
static void many_brackets(void **state)
{
    struct qn_buf text, out;
    (void)state;
    qn_buf_init(&text, 2 * 1024 * 1024);
    qn_buf_init(&out, 2 * 1024 * 1024);
    while (text.len < 1024 * 1024)
        qn_buf_str(&text, "{{ x ");
    assert_int_equal(qn_ollama_template(qn_buf_cstr(&text), &out, NULL), QN_OK);
    assert_string_equal(qn_buf_cstr(&out), qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    qn_buf_deinit(&out);
}

/* eq says its first value once for each of the others: seven of them in each other are more than
 * a megabyte, and nothing comes out cut off. */
static void what_grows_too_much(void **state)
{
    struct qn_buf text, out;
    struct qn_error e = {0};
    (void)state;
    qn_buf_init(&text, 4096);
    qn_buf_init(&out, 16 * 1024 * 1024);
    qn_buf_str(&text, "{{ .System }}{{ ");
    for (int i = 0; i < 7; i++)
        qn_buf_str(&text, "eq (");
    qn_buf_str(&text, "1");
    for (int i = 0; i < 7; i++)
        qn_buf_str(&text, ") 1 1 1 1 1 1 1 1 1 1 1 1 1");
    qn_buf_str(&text, " }}");
    assert_int_equal(qn_ollama_template(qn_buf_cstr(&text), &out, &e), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "1048576 bytes"));
    qn_buf_deinit(&text);
    qn_buf_deinit(&out);
}

/* What would take long to translate is refused by name. */
static void work_is_limited(void **state)
{
    struct qn_buf text, jinja;
    struct qn_error e = {0};
    (void)state;
    for (int which = 0; which < 4; which++) {
        static const char *const says[] = {NULL, "more than 64 pipes", "more than 64 pipes",
                                           "2097152 bytes of nested values"};
        qn_buf_init(&text, 4 << 20);
        qn_buf_init(&jinja, 8 << 20);
        if (which < 3) {
            qn_buf_str(&text, "{{ .Prompt");
            for (int i = 0; i < (int[]){64, 65, 28000}[which]; i++)
                qn_buf_str(&text, " | json");
            qn_buf_str(&text, " }}");
        } else {
            qn_buf_str(&text, "{{ .Prompt }}{{ \"");
            for (int i = 0; i < 300000; i++)
                qn_buf_char(&text, 'x');
            qn_buf_str(&text, "\"");
            for (int i = 0; i < 60; i++)
                qn_buf_str(&text, " | json");
            qn_buf_str(&text, " }}");
        }
        qn_err err = qn_ollama_template(qn_buf_cstr(&text), &jinja, &e);
        assert_int_equal(err, says[which] ? QN_EUNSUPPORTED : QN_OK);
        if (says[which] && !strstr(e.message, says[which]))
            fail_msg("%s", e.message);
        qn_buf_deinit(&text);
        qn_buf_deinit(&jinja);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_exchange),    cmocka_unit_test(messages),
        cmocka_unit_test(jinja_stays),     cmocka_unit_test(what_is_not_understood),
        cmocka_unit_test(many_brackets),   cmocka_unit_test(what_grows_too_much),
        cmocka_unit_test(work_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
