/* How model families write calls: one row per family, taken from chat templates and model cards.
 * Families that differ only in their marks share a form. A row serves both parsing and writing:
 * `openers` tell what is parsed, `writes` is the opener with which a forced call is written.
 * calls_find.c chooses the row. */
#include "llm/toolcall/calls_harmony.h"
#include "llm/toolcall/calls_json.h"
#include "llm/toolcall/calls_literal.h"
#include "llm/toolcall/calls_named.h"
#include "llm/toolcall/calls_parse.h"
#include "llm/toolcall/calls_python.h"
#include "llm/toolcall/calls_xml.h"

/* The messages of harmony are recognised by the openers of its reasoning. */
static const struct qn_opener no_openers[] = {QN_OPENERS_END};
static const struct qn_opener harmony_written = {"", &qn_calls_harmony, NULL, 0};
static const struct qn_calling harmony = {.name = "harmony",
                                          .signs = {"<|channel|>", "<|start|>", "functions."},
                                          .openers = no_openers,
                                          .writes = &harmony_written};

static const struct qn_literal_calls gemma_calls = {.before = "call:",
                                                    .quote = "<|\"|>",
                                                    .open = '{',
                                                    .equals = ':',
                                                    .end = '}',
                                                    .close = {"<tool_call|>"}};
static const struct qn_opener gemma_openers[] = {
    {"<|tool_call>", &qn_calls_literal, &gemma_calls, 0}, QN_OPENERS_END};
static const char *const gemma_tokens[] = {"<tool_call|>", "<|\"|>", NULL};
static const struct qn_calling gemma = {.name = "gemma-4",
                                        .signs = {"<|tool_call>call:"},
                                        .token = "<|tool_call>",
                                        .openers = gemma_openers,
                                        .tokens = gemma_tokens,
                                        .writes = &gemma_openers[0]};

static const struct qn_literal_calls function_gemma_calls = {.before = "call:",
                                                             .quote = "<escape>",
                                                             .open = '{',
                                                             .equals = ':',
                                                             .end = '}',
                                                             .close = {"<end_function_call>"}};
static const struct qn_opener function_gemma_openers[] = {
    {"<start_function_call>", &qn_calls_literal, &function_gemma_calls, 0}, QN_OPENERS_END};
static const char *const function_gemma_tokens[] = {"<end_function_call>", "<escape>", NULL};
static const struct qn_calling function_gemma = {.name = "function-gemma",
                                                 .signs = {"<start_function_call>"},
                                                 .token = "<start_function_call>",
                                                 .openers = function_gemma_openers,
                                                 .tokens = function_gemma_tokens,
                                                 .writes = &function_gemma_openers[0]};

static const struct qn_named_calls kimi_calls = {.prefix = "functions.",
                                                 .separator = {"<|tool_call_argument_begin|>"},
                                                 .end = "<|tool_call_end|>",
                                                 .section_end = "<|tool_calls_section_end|>",
                                                 .counted = true,
                                                 .section = "<|tool_calls_section_begin|>"};
static const struct qn_opener kimi_openers[] = {
    {"<|tool_calls_section_begin|>", NULL, NULL, QN_OPEN_DROP | QN_OPEN_THROUGH},
    QN_OPENER_DROP("<|tool_calls_section_end|>"),
    {"<|tool_call_begin|>", &qn_calls_named, &kimi_calls, QN_OPEN_THROUGH},
    QN_OPENERS_END};
static const char *const kimi_tokens[] = {"<|tool_call_argument_begin|>", "<|tool_call_end|>",
                                          NULL};
static const struct qn_calling kimi = {.name = "kimi-k2",
                                       .signs = {"<|tool_call_argument_begin|>"},
                                       .openers = kimi_openers,
                                       .tokens = kimi_tokens,
                                       .writes = &kimi_openers[2]};

#define BAR "\xef\xbd\x9c" /* U+FF5C */
#define GAP "\xe2\x96\x81" /* U+2581 */
#define DSML BAR "DSML" BAR
static const struct qn_xml_calls dsml_calls = {.call = "<" DSML "invoke name=\"",
                                               .name_end = "\">",
                                               .key = "<" DSML "parameter name=\"",
                                               .key_end = "\">",
                                               .string = "\" string=\"true\">",
                                               .other = "\" string=\"false\">",
                                               .value = "",
                                               .value_end = "</" DSML "parameter>",
                                               .call_end = "</" DSML "invoke>",
                                               .block_end = "</" DSML "tool_calls>"};
static const struct qn_xml_calls dsml_functions = {.call = "<" DSML "invoke name=\"",
                                                   .name_end = "\">",
                                                   .key = "<" DSML "parameter name=\"",
                                                   .key_end = "\">",
                                                   .string = "\" string=\"true\">",
                                                   .other = "\" string=\"false\">",
                                                   .value = "",
                                                   .value_end = "</" DSML "parameter>",
                                                   .call_end = "</" DSML "invoke>",
                                                   .block_end = "</" DSML "function_calls>"};
static const struct qn_opener dsml_openers[] = {
    {"<" DSML "tool_calls>", &qn_calls_xml, &dsml_calls, QN_OPEN_THROUGH},
    {"<" DSML "function_calls>", &qn_calls_xml, &dsml_functions, QN_OPEN_THROUGH},
    QN_OPENERS_END};
static const char *const dsml_tokens[] = {DSML, NULL};
static const struct qn_calling dsml = {.name = "deepseek-v3.2",
                                       .signs = {"DSML"},
                                       .openers = dsml_openers,
                                       .tokens = dsml_tokens,
                                       .writes = &dsml_openers[0]};

#define DS(words) "<" BAR words BAR ">"
/* The marks that DeepSeek V3, R1 and their successors share. */
#define DEEPSEEK_MARKS                                                                             \
    .separator = {DS("tool" GAP "sep")}, .kind = "function", .fence = true,                        \
    .end = DS("tool" GAP "call" GAP "end"), .section_end = DS("tool" GAP "calls" GAP "end"),       \
    .section = DS("tool" GAP "calls" GAP "begin")
#define DEEPSEEK_OPENERS(calls)                                                                    \
    {                                                                                              \
        {DS("tool" GAP "calls" GAP "begin"), NULL, NULL, QN_OPEN_DROP | QN_OPEN_THROUGH},          \
            QN_OPENER_DROP(DS("tool" GAP "calls" GAP "end")),                                      \
            {DS("tool" GAP "call" GAP "begin"), &qn_calls_named, &(calls), QN_OPEN_THROUGH},       \
            QN_OPENERS_END                                                                         \
    }
static const struct qn_named_calls deepseek_calls = {DEEPSEEK_MARKS, .between = ""};
static const struct qn_named_calls deepseek_r1_calls = {DEEPSEEK_MARKS, .between = "\n",
                                                        .fenced = true};
static const struct qn_opener deepseek_openers[] = DEEPSEEK_OPENERS(deepseek_calls);
static const struct qn_opener deepseek_r1_openers[] = DEEPSEEK_OPENERS(deepseek_r1_calls);
static const char *const deepseek_tokens[] = {DS("tool" GAP "sep"), DS("tool" GAP "call" GAP "end"),
                                              NULL};
static const struct qn_calling deepseek = {.name = "deepseek",
                                           .signs = {DS("tool" GAP "sep")},
                                           .token = DS("tool" GAP "sep"),
                                           .openers = deepseek_openers,
                                           .tokens = deepseek_tokens,
                                           .writes = &deepseek_openers[2]};
static const struct qn_calling deepseek_r1 = {.name = "deepseek-r1",
                                              .signs = {DS("tool" GAP "sep"), "```json"},
                                              .openers = deepseek_r1_openers,
                                              .tokens = deepseek_tokens,
                                              .writes = &deepseek_r1_openers[2]};

static const struct qn_json_calls bare_json = {.close = {NULL}};
static const struct qn_json_calls json_list = {.begin = "[", .between = ", ", .end = "]"};
static const struct qn_named_calls mistral_calls = {
    .separator = {"[ARGS]"}, .id = "[CALL_ID]", .list = &bare_json, .between = ""};
static const struct qn_opener mistral_openers[] = {
    {"[TOOL_CALLS]", &qn_calls_named, &mistral_calls, 0}, QN_OPENERS_END};
static const char *const mistral_tokens[] = {"[ARGS]", "[CALL_ID]", NULL};
static const struct qn_calling mistral = {.name = "mistral",
                                          .signs = {"[TOOL_CALLS]", "[ARGS]"},
                                          .token = "[ARGS]",
                                          .openers = mistral_openers,
                                          .tokens = mistral_tokens,
                                          .writes = &mistral_openers[0]};
static const struct qn_opener mistral_list_written = {"[TOOL_CALLS]", &qn_calls_json, &json_list,
                                                      0};
static const struct qn_calling mistral_list = {.name = "mistral-list",
                                               .signs = {"[TOOL_CALLS]"},
                                               .token = "[TOOL_CALLS]",
                                               .openers = mistral_openers,
                                               .tokens = mistral_tokens,
                                               .writes = &mistral_list_written};

static const struct qn_json_calls cohere_calls = {.close = {"<|END_ACTION|>"},
                                                  .begin = "[\n    ",
                                                  .before =
                                                      "{\"tool_call_id\": \"0\", \"tool_name\": \"",
                                                  .after = "\", \"parameters\": ",
                                                  .end = "\n]"};
static const struct qn_opener cohere_openers[] = {
    {"<|START_ACTION|>", &qn_calls_json, &cohere_calls, QN_OPEN_THROUGH}, QN_OPENERS_END};
static const char *const cohere_tokens[] = {"<|END_ACTION|>", NULL};
static const struct qn_calling cohere = {.name = "command-r7b",
                                         .signs = {"<|START_ACTION|>"},
                                         .openers = cohere_openers,
                                         .tokens = cohere_tokens,
                                         .writes = &cohere_openers[0]};
static const struct qn_json_calls action_calls = {.begin = " ```json\n[\n",
                                                  .before = "    {\"tool_name\": \"",
                                                  .after = "\", \"parameters\": ",
                                                  .between = ",\n",
                                                  .end = "\n]\n```"};
static const struct qn_opener action_openers[] = {{"Action:", &qn_calls_json, &action_calls, 0},
                                                  QN_OPENERS_END};
static const struct qn_calling command_r = {.name = "command-r",
                                            .signs = {"Action:", "tool_name"},
                                            .openers = action_openers,
                                            .writes = &action_openers[0]};

static const struct qn_json_calls apertus_calls = {.close = {"<|tools_suffix|>"},
                                                   .name_is_key = true,
                                                   .begin = "[",
                                                   .before = "{\"",
                                                   .after = "\": ",
                                                   .between = ", ",
                                                   .end = "]"};
static const struct qn_opener apertus_openers[] = {
    {"<|tools_prefix|>", &qn_calls_json, &apertus_calls, QN_OPEN_THROUGH}, QN_OPENERS_END};
static const char *const apertus_tokens[] = {"<|tools_suffix|>", NULL};
static const struct qn_calling apertus = {.name = "apertus",
                                          .signs = {"<|tools_prefix|>"},
                                          .openers = apertus_openers,
                                          .tokens = apertus_tokens,
                                          .writes = &apertus_openers[0]};

static const struct qn_json_calls bar_calls = {
    .close = {"<|/tool_call|>"}, .begin = "[", .between = ", ", .end = "]", .unclosed = true};
static const struct qn_json_calls tag_json = {
    .close = {"</tool_call>"}, .begin = "\n", .end = "\n", .blocks = true};
static const struct qn_opener bar_openers[] = {{"<|tool_call|>", &qn_calls_json, &bar_calls, 0},
                                               {"<tool_call>", &qn_calls_json, &tag_json, 0},
                                               QN_OPENERS_END};
static const char *const bar_tokens[] = {"<|/tool_call|>", NULL};
static const struct qn_calling granite = {.name = "granite",
                                          .signs = {"<|tool_call|>"},
                                          .token = "<|tool_call|>",
                                          .openers = bar_openers,
                                          .tokens = bar_tokens,
                                          .writes = &bar_openers[0]};
static const struct qn_opener functools_openers[] = {{"functools", &qn_calls_json, &json_list, 0},
                                                     QN_OPENERS_END};
static const struct qn_calling phi = {.name = "phi-4",
                                      .signs = {"functools"},
                                      .openers = functools_openers,
                                      .writes = &functools_openers[0]};

static const struct qn_xml_calls seed_calls = {.call = "<function=",
                                               .name_end = ">",
                                               .key = "<parameter=",
                                               .key_end = ">",
                                               .value = "",
                                               .value_end = "</parameter>",
                                               .call_end = "</function>",
                                               .block_end = "</seed:tool_call>",
                                               .lines = true,
                                               .blocks = true};
static const struct qn_opener seed_openers[] = {{"<seed:tool_call>", &qn_calls_xml, &seed_calls, 0},
                                                QN_OPENERS_END};
static const struct qn_calling seed = {.name = "seed-oss",
                                       .signs = {"<seed:tool_call>"},
                                       .openers = seed_openers,
                                       .writes = &seed_openers[0]};

static const struct qn_xml_calls minimax_calls = {.call = "<invoke name=\"",
                                                  .name_end = "\">",
                                                  .key = "<parameter name=\"",
                                                  .key_end = "\">",
                                                  .value = "",
                                                  .value_end = "</parameter>",
                                                  .call_end = "</invoke>",
                                                  .block_end = "</minimax:tool_call>",
                                                  .lines = true};
static const struct qn_opener minimax_openers[] = {
    {"<minimax:tool_call>", &qn_calls_xml, &minimax_calls, QN_OPEN_THROUGH}, QN_OPENERS_END};
static const char *const minimax_tokens[] = {"</minimax:tool_call>", NULL};
static const struct qn_calling minimax = {.name = "minimax-m2",
                                          .signs = {"minimax:tool_call"},
                                          .openers = minimax_openers,
                                          .tokens = minimax_tokens,
                                          .writes = &minimax_openers[0]};

static const struct qn_xml_calls qwen_calls = {.call = "<function=",
                                               .name_end = ">",
                                               .key = "<parameter=",
                                               .key_end = ">",
                                               .value = "",
                                               .value_end = "</parameter>",
                                               .call_end = "</function>",
                                               .block_end = "</tool_call>",
                                               .lines = true,
                                               .blocks = true};
static const struct qn_opener qwen_openers[] = {
    {"<tool_call>", &qn_calls_xml, &qwen_calls, 0},
    /* the model sometimes omits the outer tag */
    {"<function=", &qn_calls_xml, &qwen_calls, QN_OPEN_KEEP},
    QN_OPENERS_END};
static const struct qn_calling qwen_coder = {.name = "qwen3-coder",
                                             .signs = {"<function=", "<parameter="},
                                             .openers = qwen_openers,
                                             .writes = &qwen_openers[0]};

static const struct qn_xml_calls glm_calls = {.call = "",
                                              .key = "<arg_key>",
                                              .key_end = "</arg_key>",
                                              .value = "<arg_value>",
                                              .value_end = "</arg_value>",
                                              .block_end = "</tool_call>",
                                              .blocks = true};
static const struct qn_opener glm_openers[] = {
    {"<tool_call>", &qn_calls_xml, &glm_calls, QN_OPEN_THROUGH}, QN_OPENERS_END};
static const char *const glm_tokens[] = {"</tool_call>", "<arg_key>",    "</arg_key>",
                                         "<arg_value>",  "</arg_value>", NULL};
static const struct qn_calling glm = {.name = "glm-4.5",
                                      .signs = {"<arg_key>"},
                                      .openers = glm_openers,
                                      .tokens = glm_tokens,
                                      .writes = &glm_openers[0]};

static const struct qn_literal_calls method_calls = {
    .before = "", .open = '(', .equals = '=', .end = ')', .method = ".call"};
static const struct qn_python_calls python_tag = {.json = &bare_json, .method = &method_calls};
static const struct qn_named_calls function_calls = {
    .separator = {">"}, .end = "</function>", .between = ""};
static const struct qn_opener function_openers[] = {
    {"<function=", &qn_calls_named, &function_calls, 0},
    {"<|python_tag|>", &qn_calls_python, &python_tag, 0},
    QN_OPENERS_END};
static const struct qn_calling functionary = {.name = "functionary-3.1",
                                              .signs = {"<function", "</function>"},
                                              .openers = function_openers,
                                              .lacks = {"<tool_call>", "<parameter="},
                                              .writes = &function_openers[0]};
static const struct qn_named_calls recipient_calls = {
    .separator = {"\n"}, .text = "all", .between = ">>>"};
static const struct qn_opener recipient_openers[] = {
    {">>>", &qn_calls_named, &recipient_calls, 0},
    {"", &qn_calls_named, &recipient_calls, QN_OPEN_KNOWN | QN_OPEN_START},
    QN_OPENERS_END};
static const struct qn_calling functionary_v3 = {.name = "functionary-3.2",
                                                 .signs = {">>>"},
                                                 .openers = recipient_openers,
                                                 .writes = &recipient_openers[1]};

static const struct qn_json_calls lfm_json = {.close = {"<|tool_call_end|>"}};
static const struct qn_literal_calls lfm_calls = {.before = "",
                                                  .open = '(',
                                                  .equals = '=',
                                                  .end = ')',
                                                  .list = true,
                                                  .close = {"<|tool_call_end|>"},
                                                  .json = &lfm_json};
static const struct qn_opener lfm_openers[] = {
    {"<|tool_call_start|>", &qn_calls_literal, &lfm_calls, 0},
    /* Earlier calls are written like this in the prompt if the template has no syntax for them. */
    {"<tool_call>", &qn_calls_json, &tag_json, QN_OPEN_KNOWN},
    QN_OPENERS_END};
static const char *const lfm_tokens[] = {"<|tool_call_end|>", NULL};
static const struct qn_calling lfm = {.name = "lfm2",
                                      .signs = {"List of tools: ["},
                                      .token = "<|tool_call_start|>",
                                      .openers = lfm_openers,
                                      .tokens = lfm_tokens,
                                      .writes = &lfm_openers[0]};
static const struct qn_calling lfm_token = {.name = "lfm2",
                                            .signs = {"<|tool_call_start|>"},
                                            .openers = lfm_openers,
                                            .tokens = lfm_tokens,
                                            .writes = &lfm_openers[0]};

static const struct qn_json_calls giga_calls = {.lead = "<|message_sep|>\n\n", .begin = "\n"};
static const struct qn_opener giga_openers[] = {
    {"function call<|role_sep|>", &qn_calls_json, &giga_calls, 0},
    QN_OPENER_DROP("<|message_sep|>"),
    QN_OPENERS_END};
static const char *const giga_tokens[] = {"<|role_sep|>", NULL};
static const struct qn_calling giga = {.name = "gigachat",
                                       .signs = {"<|role_sep|>", "function call"},
                                       .openers = giga_openers,
                                       .tokens = giga_tokens,
                                       .writes = &giga_openers[0]};

static const struct qn_named_calls mcp_calls = {.lead = "<tool_name>",
                                                .separator = {"</tool_name>\n<arguments>"},
                                                .end = "</arguments>",
                                                .section_end = "</use_mcp_tool>"};
static const struct qn_opener mcp_openers[] = {{"<use_mcp_tool>", &qn_calls_named, &mcp_calls, 0},
                                               {"<tool_call>", &qn_calls_json, &tag_json, 0},
                                               QN_OPENERS_END};
static const struct qn_calling mcp = {
    .name = "mcp", .signs = {"<use_mcp_tool>"}, .openers = mcp_openers, .writes = &mcp_openers[1]};

static const struct qn_json_calls lines_calls = {
    .close = {"</tool_calls>"}, .begin = "[", .between = ", ", .end = "]"};
static const struct qn_named_calls hunyuan_calls = {.separator = {"\n"},
                                                    .fence = true,
                                                    .end = "</tool_call>",
                                                    .section_end = "</tool_calls>",
                                                    .list = &tag_json};
static const struct qn_opener lines_openers[] = {
    {"<tool_calls>", &qn_calls_json, &lines_calls, 0},
    {"<tool_calls>\n<tool_call>", &qn_calls_named, &hunyuan_calls, 0},
    {"<tool_call>", &qn_calls_named, &hunyuan_calls, 0},
    QN_OPENER_DROP("</tool_calls>"),
    QN_OPENERS_END};
static const struct qn_calling lines = {.name = "tool-calls",
                                        .signs = {"<tool_calls>"},
                                        .openers = lines_openers,
                                        .writes = &lines_openers[0]};

static const struct qn_opener hermes_openers[] = {{"<tool_call>", &qn_calls_json, &tag_json, 0},
                                                  QN_OPENERS_END};
static const struct qn_calling hermes = {.name = "hermes",
                                         .signs = {"<tool_call>"},
                                         .token = "<tool_call>",
                                         .openers = hermes_openers,
                                         .writes = &hermes_openers[0]};

static const struct qn_literal_calls list_calls = {.before = "",
                                                   .open = '(',
                                                   .equals = '=',
                                                   .end = ')',
                                                   .list = true,
                                                   .close = {"<|python_end|>"}};
static const struct qn_opener llama4_openers[] = {
    {"<|python_start|>", &qn_calls_literal, &list_calls, QN_OPEN_KNOWN},
    {"[", &qn_calls_literal, &list_calls, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    {"{", &qn_calls_json, &bare_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    QN_OPENERS_END};
static const char *const llama4_tokens[] = {"<|python_end|>", NULL};
static const struct qn_calling llama4 = {.name = "llama-4",
                                         .signs = {"<|python_start|>"},
                                         .openers = llama4_openers,
                                         .tokens = llama4_tokens,
                                         .writes = &llama4_openers[1]};

static const struct qn_json_calls llama3_calls = {.after = "\", \"parameters\": "};
static const struct qn_opener llama3_openers[] = {
    {"<|python_tag|>", &qn_calls_python, &python_tag, 0},
    {"<function=", &qn_calls_named, &function_calls, QN_OPEN_KNOWN},
    {"{", &qn_calls_json, &llama3_calls, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    QN_OPENERS_END};
static const struct qn_calling llama3 = {.name = "llama-3",
                                         .signs = {"ipython"},
                                         .token = "<|python_tag|>",
                                         .openers = llama3_openers,
                                         .writes = &llama3_openers[2]};

/* For models that were trained on no syntax. The prompt asks for this one, but the model may use
 * any other common form; calls are told from text by the names of existing tools. */
static const struct qn_json_calls plain_json = {
    .close = {"</tool_call>", "</function_call>"}, .begin = "\n", .end = "\n", .blocks = true};
static const struct qn_literal_calls code_calls = {
    .before = "", .open = '(', .equals = '=', .end = ')', .list = true, .close = {"```"}};
static const struct qn_opener generic_openers[] = {
    {"<tool_call>", &qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"<function_call>", &qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"[TOOL_CALLS]", &qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```tool_call", &qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```tool_code", &qn_calls_literal, &code_calls, QN_OPEN_KNOWN},
    {"```json", &qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START},
    {"{", &qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    {"[", &qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    QN_OPENERS_END};
static const struct qn_calling generic = {
    .name = "generic", .openers = generic_openers, .writes = &generic_openers[0]};

const struct qn_calling *const qn_callings[] = {&harmony,
                                                &gemma,
                                                &function_gemma,
                                                &kimi,
                                                &dsml,
                                                &deepseek_r1,
                                                &deepseek,
                                                &mistral,
                                                &mistral_list,
                                                &cohere,
                                                &command_r,
                                                &apertus,
                                                &granite,
                                                &phi,
                                                &seed,
                                                &minimax,
                                                &glm,
                                                &lfm_token,
                                                &lfm,
                                                &giga,
                                                &mcp,
                                                &lines,
                                                &qwen_coder,
                                                &hermes,
                                                &functionary,
                                                &functionary_v3,
                                                &llama4,
                                                &llama3,
                                                &generic,
                                                NULL};
