/* Round trip through real chat templates (QUINCE_TEST_DATA/templates): what a template writes for
 * an assistant's calls is what the model was taught to write, so it has to be read as the same
 * calls. The answer is what a conversation with the assistant's message has beyond the one without.
 */
#include "jinja/template.h"
#include "llm/toolcall/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TOOLS                                                                                      \
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"description\":\"Weather\","  \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\","           \
    "\"description\":\"a "                                                                         \
    "city\"},\"days\":{\"type\":\"integer\",\"description\":\"n\"},\"where\":{"                    \
    "\"type\":\"object\",\"description\":\"w\"},\"tags\":{\"type\":\"array\",\"description\":"     \
    "\"t\","                                                                                       \
    "\"items\":{\"type\":\"string\"}}},\"required\":[\"city\"]}}},{\"type\":\"function\","         \
    "\"function\":{\"name\":\"now\",\"description\":\"The "                                        \
    "time\",\"parameters\":{\"type\":\"object\","                                                  \
    "\"properties\":{\"zone\":{\"type\":\"string\",\"description\":\"z\"}},\"required\":[]}}}]"

/* Arguments with what breaks careless readers: quotes, braces, tags, line breaks, other alphabets.
 */
#define CITY "Z\\u00fc\\\"rich\\\" {a: [b]} </c>\\n\\\\ \\u6771\\u4eac"
static const char first[] =
    "{\"city\":\"" CITY "\",\"days\":3,\"tags\":[\"x\",\"y z\"],\"where\":{\"a\":"
    "[1,2.5,true],\"b\":{\"c\":\"d\"}}}";
static const char second[] = "{\"zone\":\"UTC\"}";

enum {
    TEXT = 1,  /* the template puts arguments into a text: it gets them as text */
    ONE = 2,   /* it knows one call in a message */
    EMPTY = 4, /* it wants content null beside calls */
    NONE = 8   /* it writes no calls at all */
};

struct round {
    const char *file;
    const char *calls, *thinking;
    int flags;
};

static const struct round rounds[] = {
    {"Apertus-8B-Instruct", "apertus", "apertus", EMPTY},
    {"Bielik-11B-v3.0-Instruct", "hermes", "think", 0},
    {"Cohere2MoE", "command-r7b", "cohere", 0},
    {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "command-r7b", "cohere", 0},
    {"GLM-4.7-Flash", "glm-4.5", "think", 0},
    {"GigaChat3-10B-A1.8B", "gigachat", "none", ONE},
    {"HuggingFaceTB-SmolLM3-3B", "generic", "think", NONE},
    {"Kimi-K2-Thinking", "kimi-k2", "think", 0},
    {"LFM2.5-Instruct", "lfm2", "think", NONE},
    {"MiroThinker", "mcp", "think", NONE}, /* it assigns to members of what is no namespace */
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3-coder", "think", 0},
    {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "hermes", "none", 0},
    {"Qwen-Qwen2.5-7B-Instruct", "hermes", "none", 0},
    {"Qwen-Qwen3-0.6B", "hermes", "think", 0},
    {"Qwen3-Coder", "qwen3-coder", "none", 0},
    {"Qwen3.5-4B", "qwen3-coder", "think", 0},
    {"Reka-Edge", "hermes", "think", 0},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-r1", "think", TEXT | EMPTY},
    {"deepseek-ai-DeepSeek-V3.1", "deepseek", "think", 0},
    {"deepseek-ai-DeepSeek-V4", "deepseek-v3.2", "think", 0},
    {"google-gemma-2-2b-it", "generic", "none", NONE},
    {"google-gemma-4-31B-it", "gemma-4", "gemma", 0},
    {"llama-cpp-deepseek-r1", "deepseek-r1", "think", EMPTY},
    {"meetkai-functionary-medium-v3.1", "functionary-3.1", "none", 0},
    {"meta-llama-Llama-3.1-8B-Instruct", "llama-3", "none", ONE},
    {"meta-llama-Llama-3.2-3B-Instruct", "llama-3", "none", ONE},
    {"meta-llama-Llama-3.3-70B-Instruct", "llama-3", "none", ONE},
    {"mistralai-Ministral-3-14B-Reasoning-2512", "mistral", "mistral", 0},
    {"moonshotai-Kimi-K2", "kimi-k2", "none", 0},
    {"openai-gpt-oss-120b", "harmony", "harmony", ONE},
    {"stepfun-ai-Step-3.5-Flash", "qwen3-coder", "think", 0},
    {"unsloth-mistral-Devstral-Small-2507", "mistral", "none", 0},
};

static char *read_template(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/templates/%s.jinja", getenv("QUINCE_TEST_DATA"), name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot read %s", path);
    char *text = calloc(1, QN_TEMPLATE_SOURCE_MAX);
    assert_true(fread(text, 1, QN_TEMPLATE_SOURCE_MAX - 1, f) > 0);
    fclose(f);
    return text;
}

static void render(const struct qn_template *t, const char *name, const char *messages,
                   struct qn_buf *out)
{
    struct qn_buf vars;
    struct qn_json *doc;
    struct qn_error e = {0};
    qn_buf_init(&vars, 1 << 20);
    qn_buf_init(out, 1 << 20);
    qn_buf_fmt(&vars, "{\"messages\":%s,\"tools\":" TOOLS ",\"bos_token\":\"\",\"eos_token\":\"\"}",
               messages);
    assert_int_equal(qn_json_parse(vars.data, vars.len, &doc, &e), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    if (qn_template_render(t, &root, 0, out, &e))
        fail_msg("%s: %s", name, e.message);
    qn_json_free(doc);
    qn_buf_deinit(&vars);
}

/* The call's arguments as the template gets them. */
static void add_call(struct qn_jw *w, const char *id, const char *name, const char *arguments,
                     bool as_text)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", id);
    qn_jw_kstr(w, "type", "function");
    qn_jw_key(w, "function");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", name);
    qn_jw_key(w, "arguments");
    if (as_text)
        qn_jw_str(w, arguments);
    else
        qn_jw_raw(w, arguments, strlen(arguments));
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
}

struct made {
    struct qn_buf names, arguments[2];
};

static void make_text(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at)
{
    (void)ctx, (void)reasoning, (void)bytes, (void)n, (void)at;
}

static void make_call(void *ctx, int64_t call, const char *id, const char *name,
                      const char *arguments)
{
    struct made *m = ctx;
    (void)id;
    if (name)
        qn_buf_fmt(&m->names, "%s ", name);
    assert_in_range(call, 0, 1);
    qn_buf_str(&m->arguments[call], arguments);
}

/* Equal as JSON: printed again with the members' order as it came. */
static bool same_json(const char *a, const char *b)
{
    struct qn_json *docs[2];
    struct qn_buf out[2];
    if (qn_json_parse(a, strlen(a), &docs[0], NULL))
        return false;
    assert_int_equal(qn_json_parse(b, strlen(b), &docs[1], NULL), QN_OK);
    for (int i = 0; i < 2; i++) {
        struct qn_jref root = qn_json_root(docs[i]);
        qn_buf_init(&out[i], 1 << 20);
        qn_json_print(&root, &out[i]);
    }
    bool same = strcmp(qn_buf_cstr(&out[0]), qn_buf_cstr(&out[1])) == 0;
    for (int i = 0; i < 2; i++) {
        qn_buf_deinit(&out[i]);
        qn_json_free(docs[i]);
    }
    return same;
}

static bool run_round(const struct round *r, const struct qn_tools *tools)
{
    static const char user[] = "{\"role\":\"user\",\"content\":\"Hi\"}";
    char *source = read_template(r->file);
    struct qn_template *t;
    struct qn_error e = {0};
    if (qn_template_new(source, strlen(source), &t, &e))
        fail_msg("%s: %s", r->file, e.message);
    struct qn_parse_config c = {.syntax = qn_syntax_find(source, NULL, NULL), .tools = tools};
    bool good = !strcmp(qn_syntax_calls(&c.syntax), r->calls) &&
                !strcmp(qn_syntax_thinking(&c.syntax), r->thinking);
    if (!good)
        print_error("%s was taken for %s, %s\n", r->file, qn_syntax_calls(&c.syntax),
                    qn_syntax_thinking(&c.syntax));
    if ((r->flags & NONE) || !good)
        goto out;
    struct qn_buf messages, before, whole;
    qn_buf_init(&messages, 1 << 20);
    qn_buf_fmt(&messages, "[%s]", user);
    render(t, r->file, messages.data, &before);
    qn_buf_clear(&messages);
    qn_buf_fmt(
        &messages,
        "[%s,{\"role\":\"assistant\",\"content\":%s,\"reasoning_content\":\"\",\"tool_calls\":[",
        user, r->flags & EMPTY ? "null" : "\"\"");
    struct qn_jw w = qn_jw_to(&messages);
    add_call(&w, "abcdef123", "get_weather", first, r->flags & TEXT);
    if (!(r->flags & ONE))
        add_call(&w, "abcdef124", "now", second, r->flags & TEXT);
    qn_buf_str(&messages, "]}]");
    render(t, r->file, messages.data, &whole);
    size_t from = 0;
    while (from < before.len && from < whole.len && before.data[from] == whole.data[from])
        from++;
    /* The answer begins somewhere behind that: from its first mark on it has to be understood. */
    struct made m = {0};
    qn_buf_init(&m.names, 1 << 10);
    qn_buf_init(&m.arguments[0], 1 << 16);
    qn_buf_init(&m.arguments[1], 1 << 16);
    const char *header[] = {"<|start_header_id|>assistant<|end_header_id|>\n\n",
                            "<|im_start|>assistant\n", "<|im_start|>assistant"};
    const char *answer = whole.data + from;
    for (size_t i = 0; i < 3; i++)
        if (strstr(answer, header[i])) {
            answer = strstr(answer, header[i]) + strlen(header[i]);
            break;
        }
    struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&m, make_text, make_call});
    qn_parse_feed(p, answer, strlen(answer));
    qn_parse_end(p);
    qn_parse_free(p);
    good = !strcmp(qn_buf_cstr(&m.names), (r->flags & ONE) ? "get_weather " : "get_weather now ") &&
           same_json(qn_buf_cstr(&m.arguments[0]), first) &&
           ((r->flags & ONE) || same_json(qn_buf_cstr(&m.arguments[1]), second));
    if (!good)
        print_error("%s: %s\n  became %s: %s, %s\n", r->file, answer, qn_buf_cstr(&m.names),
                    qn_buf_cstr(&m.arguments[0]), qn_buf_cstr(&m.arguments[1]));
    qn_buf_deinit(&m.names);
    qn_buf_deinit(&m.arguments[0]);
    qn_buf_deinit(&m.arguments[1]);
    qn_buf_deinit(&messages);
    qn_buf_deinit(&before);
    qn_buf_deinit(&whole);
out:
    qn_template_free(t);
    free(source);
    return good;
}

static void templates_speak_our_syntaxes(void **state)
{
    (void)state;
    if (!getenv("QUINCE_TEST_DATA"))
        skip();
    struct qn_tools *tools;
    int wrong = 0;
    assert_int_equal(qn_tools_new(TOOLS, &tools, NULL), QN_OK);
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
        wrong += !run_round(&rounds[i], tools);
    qn_tools_free(tools);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_speak_our_syntaxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
