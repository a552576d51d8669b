/* See commands.h. docs/quince.1 describes the commands in more detail. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/near.h"
#include "base/str.h"

#include <ctype.h>

static const struct qn_cli_option pull_options[] = {
    {"--variant", "NAME", "which of several: a quantization, file or folder", NULL},
    {"--name", "NAME", "the name it gets: user.NAME", NULL},
    {"--alias", "NAME", "a further name for it", NULL},
    {"--recipe", "RECIPE", "what runs it: llamacpp, whispercpp, sd-cpp, ...", NULL},
    {"--label", "LABEL", "vision, embeddings, ...; may be repeated", NULL},
    {"--checkpoint", "TYPE", "one of its parts, main first; may be repeated", "CHECKPOINT"},
    {"--source", "HUB", "huggingface (default) or modelscope", NULL},
    {"--yes", NULL, "do not ask: take what is recommended", NULL},
    {"--quiet", NULL, "print the model's name in the end and nothing else", NULL},
    {0},
};
static const struct qn_cli_option downloads_options[] = {
    {"--once", NULL, "print them once also on a terminal", NULL},
    {0},
};
static const struct qn_cli_option export_options[] = {
    {"--output", "FILE", "where to (default: standard output)", NULL},
    {"--yes", NULL, "replace a file that exists", NULL},
    {0},
};
static const struct qn_cli_option cleanup_options[] = {
    {"--dry-run", NULL, "only tell what would go", NULL},
    {"--yes", NULL, "do not ask", NULL},
    {0},
};
static const struct qn_cli_option backends_options[] = {
    {"--all", NULL, "also those that cannot be used here, and why", NULL},
    {"--force", NULL, "install: also where it is there, or seems not to fit", NULL},
    {0},
};
static const struct qn_cli_option keys_options[] = {
    {"--admin", NULL, "a key that may also change models and the server", NULL},
    {0},
};
static const struct qn_cli_option import_options[] = {
    {"--name", "NAME", "the name it gets: user.NAME (default: the file's)", NULL},
    {0},
};
static const struct qn_cli_option stop_options[] = {
    {"--now", NULL, "do not let running answers finish", NULL},
    {0},
};
static const struct qn_cli_option top_options[] = {
    {"--interval", "S", "seconds between two looks, 0.2 to 60 (default 1)", NULL},
    {0},
};
static const struct qn_cli_option list_options[] = {
    {"--all", NULL, "also those that can be downloaded", NULL},
    {"--downloaded", NULL, "only those that are here (as without options)", NULL},
    {0},
};
static const struct qn_cli_option search_options[] = {
    {"--limit", "N", "how many at most, 1 to 50 (default 20)", NULL},
    {"--source", "HUB", "huggingface (default) or modelscope", NULL},
    {"--any", NULL, "also repositories without GGUF files", NULL},
    {0},
};
static const struct qn_cli_option remote_options[] = {
    {"--model", "NAME", "what the servers call it (default: their only one)", NULL},
    {"--key-env", "VAR", "variable of the server's environment that holds the key", NULL},
    {"--key-file", "FILE", "file that holds the key; - reads it from a pipe", NULL},
    {"--flavour", "NAME", "auto, openai, llamacpp or vllm", NULL},
    {"--ctx-size", "N", "tokens of context it has there", NULL},
    {"--ca-file", "FILE", "certificates to trust instead of the system's", NULL},
    {"--label", "LABEL", "vision, embeddings, ...; may be repeated", NULL},
    {0},
};
static const struct qn_cli_option delete_options[] = {
    {"--yes", NULL, "do not ask", NULL},
    {0},
};
static const struct qn_cli_option run_options[] = {
    {"--system", "TEXT", "a system message to begin with", NULL},
    {"--max-tokens", "N", "longest answer, in tokens", NULL},
    {"--temperature", "T", "randomness; 0 always takes the likeliest token", NULL},
    {"--think", NULL, "reason before the answer, with models that can", NULL},
    {"--no-think", NULL, "answer at once, with models that can", NULL},
    {"--hide-thinking", NULL, "do not show what the model reasons", NULL},
    {0},
};
static const struct qn_cli_option logs_options[] = {
    {"--follow", NULL, "go on printing until Ctrl-C", NULL},
    {"-f", NULL, "the same", NULL},
    {"--lines", "N", "how many lines to begin with (default 100)", NULL},
    {"--level", "LEVEL", "least severe: critical, error, warn, info, debug, trace", NULL},
    {0},
};
static const struct qn_cli_option load_options[] = {
    {"--ctx-size", "N", "tokens of context each conversation gets", NULL},
    {"--keep-alive", "TIME", "how long it stays without use: 10m, 2h, -1 for ever", NULL},
    {"--pinned", NULL, "it keeps its place until it is unloaded", NULL},
    {"--save-options", NULL, "load it with these options from now on", NULL},
    {"--llamacpp", "ENGINE", "quince (default) or one of quince backends", NULL},
    {"--llamacpp-args", "ARGS", "more arguments for llama-server", NULL},
    {"--whispercpp", "ENGINE", "of models that transcribe: one of quince backends", NULL},
    {"--whispercpp-args", "ARGS", "more arguments for whisper-server", NULL},
    {"--sdcpp", "ENGINE", "of models that make pictures: one of quince backends", NULL},
    {"--sdcpp-args", "ARGS", "more arguments for sd-server", NULL},
    {"--steps", "N", "steps of each picture", NULL},
    {"--cfg-scale", "X", "how much a picture's description counts", NULL},
    {"--width", "N", "of pictures, in pixels", NULL},
    {"--height", "N", "of pictures, in pixels", NULL},
    {0},
};

static const struct qn_cli_command table[] = {
    {"serve", "[--host H] [--port N] serve [OPTIONS OF quinced]",
     "start the server in the foreground",
     "--host and --port before `serve`, and QUINCE_HOST, are handed on; what follows\n"
     "goes to quinced as it is: see `quinced --help`. Ctrl-C stops the server.",
     NULL, 0, 0, true, qn_cmd_serve},
    {"stop", "stop [MODEL] [--now]", "stop the server, or unload one model",
     "Without MODEL: the server at --host and --port, or the one that quince started.\n"
     "Running answers are finished first. With MODEL: frees its memory, as unload\n"
     "does; the server stays.",
     stop_options, 0, 1, false, qn_cmd_stop},
    {"status", "status", "is the server running, and what is loaded?", NULL, NULL, 0, 0, false,
     qn_cmd_status},
    {"ps", "ps", "the models in memory and their processes", NULL, NULL, 0, 0, false, qn_cmd_ps},
    {"stats", "stats", "how fast the last answer was, and all together", NULL, NULL, 0, 0, false,
     qn_cmd_stats},
    {"top", "top [--interval S]", "a live view of the server and its models",
     "q or Ctrl-C leaves. Printed once where it does not go to a terminal.", top_options, 0, 0,
     false, qn_cmd_top},
    {"list", "list [FILTER] [--all]", "the models that are here",
     "With FILTER, those whose name contains it or that have it as a label (vision,\n"
     "embeddings, ...). With --all, also those of the server's list that can be\n"
     "downloaded.",
     list_options, 0, 1, false, qn_cmd_list},
    {"show", "show MODEL", "everything about one model", NULL, NULL, 1, 1, false, qn_cmd_show},
    {"search", "search WORD...", "find models on Hugging Face",
     "`quince pull OWNER/REPO` downloads what was found.", search_options, 1, QN_CLI_WORDS_MAX,
     false, qn_cmd_search},
    {"pull", "pull MODEL [OPTIONS]", "download a model",
     "MODEL is a name of `quince list --all`; OWNER/REPO[:VARIANT] of Hugging Face\n"
     "(also hf.co/...); llama3.2:1b as Ollama calls it; a URL; or a file of this\n"
     "machine, which stays where it is. Where there are several variants and none is\n"
     "named, a person is asked, and a script gets the recommended one. With --json,\n"
     "each event is a line. With --checkpoint, MODEL is the name it gets.\n"
     "Ctrl-C asks whether the server shall go on; a download that was broken off goes\n"
     "on where it stopped.",
     pull_options, 1, 1, false, qn_cmd_pull},
    {"downloads", "downloads [pause|resume|cancel|remove MODEL...]", "what is being downloaded",
     "On a terminal, until all has come or Ctrl-C.", downloads_options, 0, QN_CLI_WORDS_MAX, false,
     qn_cmd_downloads},
    {"delete", "delete MODEL... [--yes]", "remove models from this machine",
     "Asks first. Frees the files that no other model uses; files that other programs\n"
     "or you put there yourself stay.",
     delete_options, 1, QN_CLI_WORDS_MAX, false, qn_cmd_delete},
    {"import", "import FILE [--name user.NAME]", "make a local model file known, without a copy",
     "FILE is a GGUF file, which stays where it is; quince never moves or deletes it.\n"
     "Or a JSON definition (- reads it from a pipe), as `quince export` writes it.",
     import_options, 1, 1, false, qn_cmd_import},
    {"remote", "remote add NAME [WEIGHT*]URL... | list", "models that servers elsewhere compute",
     "URL is the base address of any OpenAI-compatible server (vLLM, SGLang,\n"
     "llama-server, another quince): https://host/v1. Several share the work by their\n"
     "weights, and stand in for each other. Keys are kept in a file that only you can\n"
     "read, or stay in the server's environment. `quince delete` removes one.",
     remote_options, 1, QN_CLI_WORDS_MAX, false, qn_cmd_remote},
    {"export", "export MODEL [--output FILE]", "a model's definition as JSON, for `quince import`",
     NULL, export_options, 1, 1, false, qn_cmd_export},
    {"alias", "alias add NAME MODEL | remove NAME | list", "further names of models", NULL, NULL, 1,
     3, false, qn_cmd_alias},
    {"cleanup", "cleanup [--dry-run] [--yes]", "delete what downloads left behind",
     "Partial files that no download wants and files that no model uses; asks first.",
     cleanup_options, 0, 0, false, qn_cmd_cleanup},
    {"backends", "backends [install|uninstall RECIPE:BACKEND] [OPTIONS]",
     "the engines that run models",
     "quince's own, and those of other projects: `quince backends install\n"
     "llamacpp:vulkan` fetches llama.cpp's server from its release, checks it and\n"
     "unpacks it. A llama-server on the path needs no installing. An update is an\n"
     "install; uninstall first unloads the models that use it.",
     backends_options, 0, 2, false, qn_cmd_backends},
    {"config", "config [NAME | set NAME=VALUE... | reset NAME...]",
     "the settings of the running server",
     "`set` keeps them in config.json; those that can take effect at once do. `reset`\n"
     "takes them out of it. `quinced --help` tells what each means. While no server\n"
     "runs, config.json itself is shown and changed, with the same checks.",
     NULL, 0, QN_CLI_WORDS_MAX, false, qn_cmd_config},
    {"keys", "keys [list | add NAME [--admin] | remove NAME]", "who may use the server",
     "`add` makes a key and prints it, once. Without any key every program of this\n"
     "machine may use the server; with one, all need a key, and the server may listen\n"
     "on addresses that other machines reach. The name is only for you.",
     keys_options, 0, 2, false, qn_cmd_keys},
    {"load", "load MODEL [OPTIONS]", "load a model into memory", NULL, load_options, 1, 1, false,
     qn_cmd_load},
    {"unload", "unload [MODEL]", "free a model's memory; without a name, every model's",
     "Files stay where they are.", NULL, 0, 1, false, qn_cmd_unload},
    {"pin", "pin MODEL...", "keep models in memory once they are loaded",
     "No other model takes a pinned one's place, it stays without use, and it starts\n"
     "again after a crash. `quince unload` still unloads it.",
     NULL, 1, QN_CLI_WORDS_MAX, false, qn_cmd_pin},
    {"unpin", "unpin MODEL...", "let models leave memory again", NULL, NULL, 1, QN_CLI_WORDS_MAX,
     false, qn_cmd_unpin},
    {"run", "run MODEL [PROMPT]", "chat with a model in the terminal",
     "With PROMPT, or with text piped in, prints one answer and ends; with both, the\n"
     "piped text follows PROMPT after an empty line.\n"
     "In the chat: /help /clear /system /think /model /load /list /ps /stats /exit;\n"
     "Ctrl-C stops an answer, Ctrl-D leaves. A line that ends in \\ goes on in the\n"
     "next; \"\"\" begins and ends a text of many lines. When the model's context is\n"
     "full, the oldest turns are forgotten.",
     run_options, 1, 2, false, qn_cmd_run},
    {"chat", "chat [PROMPT]", "the same with the model used last",
     "Before any was used: with the suggested one.", run_options, 0, 1, false, qn_cmd_chat},
    {"logs", "logs [--follow] [--lines N] [--level LEVEL] [MODEL]", "the server's log",
     "With a model, only what its process wrote and what the server did with it.\n"
     "Following survives a restart of the server: it goes on where it was.",
     logs_options, 0, 1, false, qn_cmd_logs},
    {"completion", "completion bash|zsh", "a script that completes commands in a shell",
     "For bash, in ~/.bashrc:  eval \"$(quince completion bash)\"\n"
     "For zsh, in ~/.zshrc behind compinit:  eval \"$(quince completion zsh)\"",
     NULL, 1, QN_CLI_WORDS_MAX, false, qn_cmd_completion},
    {"version", "version", "this program's version", NULL, NULL, 0, 0, false, qn_cmd_version},
    {"help", "help [COMMAND]", "this text, or more about one command", NULL, NULL, 0, 1, false,
     qn_cmd_help},
};
enum { COMMANDS = sizeof table / sizeof *table };

/* Names that other programs use for a command. */
static const struct {
    const char *synonym, *name;
} synonyms[] = {{"ls", "list"}, {"rm", "delete"}};
enum { SYNONYMS = sizeof synonyms / sizeof *synonyms };

const struct qn_cli_command *qn_commands_find(const char *name)
{
    for (size_t i = 0; i < SYNONYMS; i++)
        if (qn_str_eq(synonyms[i].synonym, name))
            name = synonyms[i].name;
    for (size_t i = 0; i < COMMANDS; i++)
        if (qn_str_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

const struct qn_cli_command *qn_commands_at(size_t i)
{
    return i < COMMANDS ? &table[i] : NULL;
}

int qn_commands_unknown(const struct qn_cli *cli, const char *name)
{
    struct qn_near near = qn_near_begin(name);
    for (size_t i = 0; i < COMMANDS; i++)
        qn_near_offer(&near, table[i].name, table[i].name);
    return qn_cli_misused(cli, "there is no command '%.100s'%s%s%s (`quince help` lists them)",
                          name, near.found ? "; did you mean '" : "", near.found ? near.found : "",
                          near.found ? "'?" : "");
}

void qn_commands_print(FILE *out)
{
    fputs("quince: talk to local AI models\n\nusage: quince [OPTIONS] COMMAND\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-22s %s\n", table[i].name, table[i].summary);
    fputs("\n  ls is list, rm is delete.\n", out);
    fprintf(out,
            "\noptions for every command:\n"
            "  --host HOST            the server's host, HOST:PORT or URL (QUINCE_HOST;\n"
            "                         default localhost)\n"
            "  --port PORT            the server's port (QUINCE_PORT; default %d)\n"
            "  --api-key KEY          sent to the server (QUINCE_API_KEY; for settings and\n"
            "                         keys QUINCE_ADMIN_API_KEY)\n"
            "  --json                 machine-readable output, errors too\n"
            "  --help, --version\n\n"
            "`quince help COMMAND` says more. First chat: quince run quince-starter\n",
            QN_CLI_PORT);
}

void qn_commands_print_one(const struct qn_cli_command *c, FILE *out)
{
    fprintf(out, "usage: quince %s\n\n%c%s%s\n", c->usage, toupper((unsigned char)c->summary[0]),
            c->summary + 1, qn_str_ends(c->summary, "?") ? "" : ".");
    if (c->details)
        fprintf(out, "%s\n", c->details);
    for (const struct qn_cli_option *o = c->options; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "", o->second ? " " : "", o->second ? o->second : "");
        fprintf(out, "%s  %-22s %s\n", o == c->options ? "\n" : "", left, o->help);
    }
}

static void write_command(struct qn_jw *w, const struct qn_cli_command *c)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", c->name);
    qn_jw_kstr(w, "usage", c->usage);
    qn_jw_kstr(w, "summary", c->summary);
    qn_jw_key(w, "options");
    qn_jw_arr(w);
    for (const struct qn_cli_option *o = c->options; o && o->name; o++)
        qn_jw_str(w, o->name);
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void print_json(const struct qn_cli_command *only)
{
    struct qn_buf b;
    qn_buf_init(&b, 64 * 1024);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_arr(&w);
    for (size_t i = 0; i < COMMANDS; i++)
        if (!only || only == &table[i])
            write_command(&w, &table[i]);
    qn_jw_arr_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cmd_help(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const struct qn_cli_command *c = a->n_words ? qn_commands_find(a->words[0]) : NULL;
    if (a->n_words && !c)
        return qn_commands_unknown(cli, a->words[0]);
    if (cli->json)
        print_json(c);
    else if (c)
        qn_commands_print_one(c, stdout);
    else
        qn_commands_print(stdout);
    return QN_EXIT_OK;
}
