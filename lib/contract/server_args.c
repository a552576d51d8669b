/* See server_args.h. Source of the names of arguments: --help of each program. */
#include "contract/server_args.h"

#include "base/str.h"

#include <string.h>

static const char *const llama_reserved[] = {
    "-m",
    "--model",
    "-mu",
    "--model-url",
    "-dr",
    "--docker-repo",
    "-hf",
    "-hfr",
    "--hf-repo",
    "-hff",
    "--hf-file",
    "-hft",
    "--hf-token",
    "-hfd",
    "-hfrd",
    "--hf-repo-draft",
    "-hfv",
    "-hfrv",
    "--hf-repo-v",
    "-hffv",
    "--hf-file-v",
    "--host",
    "--port",
    "--reuse-port",
    "--api-key",
    "--api-key-file",
    "--ssl-key-file",
    "--ssl-cert-file",
    "--path",
    "--api-prefix",
    "--log-file",
    "-c",
    "--ctx-size",
    "-ngl",
    "--gpu-layers",
    "--n-gpu-layers",
    "--jinja",
    "--no-jinja",
    "-mm",
    "--mmproj",
    "-mmu",
    "--mmproj-url",
    "--embedding",
    "--embeddings",
    "--rerank",
    "--reranking",
    "--rpc",
    "--slot-save-path",
    "-ag",
    "--agent",
    "--mcp-servers-config",
    "--mcp-servers-json",
    "--tools-runtime",
    "--ui-mcp-proxy",
    "--webui-mcp-proxy",
    "--spec-draft-hf",
    "--video-ffmpeg-dir",
    "--log-prompts-dir",
    "--media-path",
    "--models-dir",
    "--models-preset",
    "--tools",
    "-h",
    "--help",
    "--version",
    NULL,
};
static const char *const whisper_reserved[] = {
    "-m",        "--model", "--host", "--port", "--public", "--request-path", "--inference-path",
    "--tmp-dir", "-h",      "--help", NULL,
};
static const char *const sd_reserved[] = {
    "-m",
    "--model",
    "--diffusion-model",
    "-l",
    "--listen-ip",
    "--listen-port",
    "--serve-html-path",
    "--vae",
    "-h",
    "--help",
    NULL,
};

static const struct qn_server_kind kinds[] = {
    {
        .program = "llama-server",
        .type = "llm",
        .recipe = "llamacpp",
        .offers = QN_CAN_TALK | QN_CAN_EMBED | QN_CAN_RERANK | QN_CAN_INSERT | QN_CAN_TOOLS |
                  QN_CAN_REASON | QN_CAN_SEE | QN_CAN_HEAR,
        .backend_option = "llamacpp_backend",
        .args_option = "llamacpp_args",
        .reserved = llama_reserved,
    },
    {
        .program = "whisper-server",
        .type = "asr",
        .recipe = "whispercpp",
        .offers = QN_CAN_TRANSCRIBE,
        .backend_option = "whispercpp_backend",
        .args_option = "whispercpp_args",
        .reserved = whisper_reserved,
    },
    {
        .program = "sd-server",
        .type = "image",
        .recipe = "sd-cpp",
        .offers = QN_CAN_IMAGE | QN_CAN_EDIT,
        .backend_option = "sd-cpp_backend",
        .args_option = "sdcpp_args",
        .reserved = sd_reserved,
    },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

size_t qn_server_kinds(void)
{
    return KINDS;
}

const struct qn_server_kind *qn_server_kind_at(size_t i)
{
    return &kinds[i];
}

const struct qn_server_kind *qn_server_kind_of_type(const char *type)
{
    for (size_t i = 0; i < KINDS; i++)
        if (qn_str_eq(kinds[i].type, type))
            return &kinds[i];
    return NULL;
}

const struct qn_server_kind *qn_server_kind_of_program(const char *program)
{
    for (size_t i = 0; i < KINDS; i++)
        if (qn_str_eq(kinds[i].program, program))
            return &kinds[i];
    return NULL;
}

/* Copies the next word of the line to out; false at the end of the line. *open: a closing quote is
 * missing. */
static bool next_word(const char **at, char *out, bool *open)
{
    const char *s = *at + strspn(*at, " \t\r\n");
    char quote = 0;
    bool any = *s != '\0';
    for (; *s && (quote || !strchr(" \t\r\n", *s)); s++) {
        if (quote && *s == quote)
            quote = 0;
        else if (!quote && (*s == '"' || *s == '\''))
            quote = *s;
        else if (*s == '\\' && quote != '\'' && s[1])
            *out++ = *++s;
        else
            *out++ = *s;
    }
    *out = '\0';
    *open = quote != 0;
    *at = s;
    return any;
}

/* Whether word is this argument; llama-server accepts _ in place of - in names of arguments. */
static bool names(const char *word, const char *argument)
{
    for (; *argument; word++, argument++)
        if ((*word == '_' ? '-' : *word) != *argument)
            return false;
    return *word == '\0' || *word == '=';
}

static bool is_reserved(const struct qn_server_kind *kind, const char *word)
{
    for (const char *const *r = kind->reserved; *r; r++)
        if (names(word, *r))
            return true;
    return false;
}

qn_err qn_server_args_read(const struct qn_server_kind *kind, const char *line,
                           struct qn_arena *arena, struct qn_strings *out, struct qn_error *e)
{
    char word[QN_SERVER_ARGS_BYTES_MAX + 1];
    bool open;
    *out = (struct qn_strings){0};
    if (strlen(line) > QN_SERVER_ARGS_BYTES_MAX)
        return qn_fail_param(e, QN_EINVAL, kind->args_option, "more than %d bytes of arguments",
                             QN_SERVER_ARGS_BYTES_MAX);
    out->v = qn_arena_alloc(arena, QN_SERVER_ARGS_MAX * sizeof *out->v);
    while (next_word(&line, word, &open)) {
        if (open)
            return qn_fail_param(e, QN_EINVAL, kind->args_option, "a quotation mark has no end");
        if (is_reserved(kind, word))
            return qn_fail_param(e, QN_EINVAL, kind->args_option,
                                 "%.80s cannot be given, because quince sets it itself", word);
        if (out->n == QN_SERVER_ARGS_MAX)
            return qn_fail_param(e, QN_EINVAL, kind->args_option, "more than %d arguments",
                                 QN_SERVER_ARGS_MAX);
        out->v[out->n++] = qn_arena_strdup(arena, word);
    }
    return QN_OK;
}
