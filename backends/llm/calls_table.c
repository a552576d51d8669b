/* How the families of models mark their reasoning and their calls: a row each, and how a row is
 * found. What a family writes is read off its chat template and its model card; those who differ in
 * nothing but their marks share a form. */
#include "llm/calls_json.h"
#include "llm/calls_named.h"
#include "llm/calls_parse.h"

#include <string.h>

/* ---- Reasoning ---- */

static const struct qn_opener answer_tags[] = {
    {"<response>", NULL, NULL, QN_OPEN_DROP | QN_OPEN_START},
    {"</response>", NULL, NULL, QN_OPEN_DROP},
    {NULL, NULL, NULL, 0}};
static const struct qn_thinking granite_tags = {.name = "granite",
                                                .signs = {"<think></think> tags and write your "
                                                          "response between <response>"},
                                                .open = "<think>",
                                                .close = "</think>",
                                                .openers = answer_tags};
static const struct qn_thinking granite_words = {.name = "granite-3.2",
                                                 .signs = {"Here is my thought process:"},
                                                 .open = "Here is my thought process:",
                                                 .close = "Here is my response:"};
static const struct qn_opener hunyuan_answer[] = {
    {"<answer>", NULL, NULL, QN_OPEN_DROP | QN_OPEN_START},
    {"</answer>", NULL, NULL, QN_OPEN_DROP},
    {NULL, NULL, NULL, 0}};
static const struct qn_thinking hunyuan = {.name = "hunyuan",
                                           .signs = {"<answer>"},
                                           .open = "<think>",
                                           .close = "</think>",
                                           .openers = hunyuan_answer};
static const struct qn_thinking mistral_think = {.name = "mistral",
                                                 .signs = {"[THINK]"},
                                                 .open = "[THINK]",
                                                 .close = "[/THINK]",
                                                 .anywhere = true};
static const struct qn_thinking seed_think = {
    .name = "seed", .signs = {"<seed:think>"}, .open = "<seed:think>", .close = "</seed:think>"};
static const struct qn_opener cohere_answer[] = {{"<|START_RESPONSE|>", NULL, NULL, QN_OPEN_DROP},
                                                 {"<|END_RESPONSE|>", NULL, NULL, QN_OPEN_DROP},
                                                 {"<|START_TEXT|>", NULL, NULL, QN_OPEN_DROP},
                                                 {"<|END_TEXT|>", NULL, NULL, QN_OPEN_DROP},
                                                 {NULL, NULL, NULL, 0}};
static const struct qn_thinking cohere_think = {.name = "cohere",
                                                .signs = {"<|START_THINKING|>"},
                                                .open = "<|START_THINKING|>",
                                                .close = "<|END_THINKING|>",
                                                .anywhere = true,
                                                .openers = cohere_answer};
static const struct qn_thinking apertus_think = {.name = "apertus",
                                                 .signs = {"<|inner_prefix|>"},
                                                 .open = "<|inner_prefix|>",
                                                 .close = "<|inner_suffix|>",
                                                 .anywhere = true};
static const struct qn_thinking gemma_think = {.name = "gemma",
                                               .signs = {"<|channel>thought"},
                                               .open = "<|channel>thought\n",
                                               .close = "<channel|>",
                                               .anywhere = true};
static const struct qn_thinking kimi_think = {.name = "kimi-1.5",
                                              .signs = {"\xe2\x97\x81think\xe2\x96\xb7"},
                                              .open = "\xe2\x97\x81think\xe2\x96\xb7",
                                              .close = "\xe2\x97\x81/think\xe2\x96\xb7"};
static const struct qn_thinking thought_tags = {.name = "thought",
                                                .signs = {"<thought>", "</thought>"},
                                                .open = "<thought>",
                                                .close = "</thought>"};
static const struct qn_thinking think_tags = {
    .name = "think", .signs = {"<think>", "</think>"}, .open = "<think>", .close = "</think>"};

const struct qn_thinking *const qn_thinkings[] = {
    &mistral_think, &seed_think, &cohere_think, &apertus_think, &gemma_think, &granite_tags,
    &granite_words, &hunyuan,    &kimi_think,   &thought_tags,  &think_tags,  NULL};

/* ---- Calls ---- */

#define END_OF_OPENERS                                                                             \
    {                                                                                              \
        NULL, NULL, NULL, 0                                                                        \
    }

static const struct qn_json_calls tag_json = {.close = {"</tool_call>"}};
static const struct qn_opener hermes_openers[] = {{"<tool_call>", qn_calls_json, &tag_json, 0},
                                                  END_OF_OPENERS};
static const struct qn_calling hermes = {
    .name = "hermes", .signs = {"<tool_call>"}, .token = "<tool_call>", .openers = hermes_openers};

/* Whoever was not taught a syntax was asked for this one, and may fall back on any habit; names of
 * tools that there are tell calls from text. */
static const struct qn_json_calls plain_json = {.close = {"</tool_call>", "</function_call>"}};
static const struct qn_opener generic_openers[] = {
    {"<tool_call>", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"<function_call>", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"[TOOL_CALLS]", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```tool_call", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```json", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START},
    {"{", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    {"[", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    END_OF_OPENERS};
static const struct qn_calling generic = {.name = "generic", .openers = generic_openers};

const struct qn_calling *const qn_callings[] = {&hermes, &generic, NULL};

/* ---- Finding a row ---- */

static bool has_any(const char *source, const char *const signs[4])
{
    for (size_t i = 0; i < 4 && signs[i]; i++)
        if (strstr(source, signs[i]))
            return true;
    return false;
}

static bool fits(const struct qn_calling *row, const char *source)
{
    for (size_t i = 0; i < 4 && row->signs[i]; i++)
        if (!strstr(source, row->signs[i]))
            return false;
    for (size_t i = 0; i < 3 && row->lacks[i]; i++)
        if (strstr(source, row->lacks[i]))
            return false;
    return row->signs[0] != NULL;
}

struct qn_syntax qn_syntax_find(const char *source,
                                bool (*has_token)(const void *ctx, const char *text),
                                const void *ctx)
{
    struct qn_syntax s = {NULL, NULL};
    for (size_t i = 0; qn_thinkings[i] && !s.think; i++)
        if (has_any(source, qn_thinkings[i]->signs))
            s.think = qn_thinkings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (fits(qn_callings[i], source))
            s.call = qn_callings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (!qn_callings[i + 1] ||
            (has_token && qn_callings[i]->token && has_token(ctx, qn_callings[i]->token)))
            s.call = qn_callings[i];
    return s;
}

const char *qn_syntax_calls(const struct qn_syntax *s)
{
    return s->call->name;
}

const char *qn_syntax_thinking(const struct qn_syntax *s)
{
    return s->think ? s->think->name : "none";
}

static bool marks(const struct qn_opener *openers, const char *const *tokens, const char *text)
{
    for (; openers && openers->text; openers++)
        if (strstr(openers->text, text))
            return true;
    for (; tokens && *tokens; tokens++)
        if (strcmp(*tokens, text) == 0)
            return true;
    return false;
}

bool qn_syntax_marks(const struct qn_syntax *s, const char *text)
{
    if (!text[0])
        return false;
    if (marks(s->call->openers, s->call->tokens, text))
        return true;
    const struct qn_thinking *t = s->think;
    return t && ((t->open && strstr(t->open, text)) || strstr(t->close, text) ||
                 marks(t->openers, t->tokens, text));
}

bool qn_syntax_begun(const struct qn_syntax *s, const char *prompt, size_t n)
{
    const char *open = s->think ? s->think->open : NULL;
    size_t len = open ? strlen(open) : 0;
    while (n > 0 && strchr(" \t\r\n", prompt[n - 1]))
        n--;
    while (len > 0 && strchr(" \t\r\n", open[len - 1]))
        len--;
    return len > 0 && n >= len && memcmp(prompt + n - len, open, len) == 0;
}
