/* See commands.h. docs/quince.1 describes the commands in more detail. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/near.h"
#include "base/str.h"

#include <ctype.h>

static const struct qn_cli_option pull_options[] = {
    {"--variant", "NAME", "the variant: a quantization, file or folder", NULL},
    {"--name", "NAME", "name of the model: user.NAME", NULL},
    {"--alias", "NAME", "an alias for it", NULL},
    {"--recipe", "RECIPE", "its recipe: llamacpp, whispercpp, sd-cpp, ...", NULL},
    {"--label", "LABEL", "vision, embeddings, ...; may be repeated", NULL},
    {"--checkpoint", "TYPE", "one of its parts, main first; may be repeated", "CHECKPOINT"},
    {"--source", "HUB", "huggingface (default) or modelscope", NULL},
    {"--yes", NULL, "do not ask, use the recommended variant", NULL},
    {"--quiet", NULL, "print only the model's name at the end", NULL},
    {0},
};
static const struct qn_cli_option downloads_options[] = {
    {"--once", NULL, "print them once, even on a terminal", NULL},
    {0},
};
static const struct qn_cli_option export_options[] = {
    {"--output", "FILE", "output file (default: standard output)", NULL},
    {"--yes", NULL, "replace an existing file", NULL},
    {0},
};
static const struct qn_cli_option cleanup_options[] = {
    {"--dry-run", NULL, "only list what would be deleted", NULL},
    {"--yes", NULL, "do not ask", NULL},
    {0},
};
static const struct qn_cli_option backends_options[] = {
    {"--all", NULL, "also unusable engines, with the reason", NULL},
    {"--force", NULL, "install: even if installed or seemingly unsuitable", NULL},
    {0},
};
static const struct qn_cli_option keys_options[] = {
    {"--admin", NULL, "a key with admin rights", NULL},
    {"--mine", NULL, "your chats, presets and tools so far become the key's", NULL},
    {0},
};
static const struct qn_cli_option import_options[] = {
    {"--name", "NAME", "name of the model: user.NAME (default: the file's)", NULL},
    {0},
};
static const struct qn_cli_option stop_options[] = {
    {"--now", NULL, "do not let running requests finish", NULL},
    {0},
};
static const struct qn_cli_option open_options[] = {
    {"--print", NULL, "only print its address", NULL},
    {0},
};
static const struct qn_cli_option top_options[] = {
    {"--interval", "S", "seconds between updates, 0.2 to 60 (default 1)", NULL},
    {0},
};
static const struct qn_cli_option list_options[] = {
    {"--all", NULL, "also models that can be downloaded", NULL},
    {"--downloaded", NULL, "only installed models (the default)", NULL},
    {0},
};
static const struct qn_cli_option search_options[] = {
    {"--limit", "N", "number of results, 1 to 50 (default 20)", NULL},
    {"--source", "HUB", "huggingface (default) or modelscope", NULL},
    {"--any", NULL, "also repositories without GGUF files", NULL},
    {0},
};
static const struct qn_cli_option remote_options[] = {
    {"--model", "NAME", "its name on the servers (default: their only model)", NULL},
    {"--key-env", "VAR", "environment variable of the server with the key", NULL},
    {"--key-file", "FILE", "file with the key; - reads standard input", NULL},
    {"--flavour", "NAME", "auto, openai, llamacpp or vllm", NULL},
    {"--ctx-size", "N", "size of its context in tokens", NULL},
    {"--ca-file", "FILE", "certificates to trust instead of the system's", NULL},
    {"--label", "LABEL", "vision, embeddings, ...; may be repeated", NULL},
    {0},
};
static const struct qn_cli_option delete_options[] = {
    {"--yes", NULL, "do not ask", NULL},
    {0},
};
static const struct qn_cli_option run_options[] = {
    {"--system", "TEXT", "system message", NULL},
    {"--max-tokens", "N", "limit of the reply, in tokens", NULL},
    {"--temperature", "T", "randomness; 0 always takes the most likely token", NULL},
    {"--think", NULL, "turn reasoning on, for models that support it", NULL},
    {"--no-think", NULL, "turn reasoning off, for models that support it", NULL},
    {"--hide-thinking", NULL, "do not show the reasoning", NULL},
    {0},
};
static const struct qn_cli_option logs_options[] = {
    {"--follow", NULL, "follow the log until Ctrl-C", NULL},
    {"-f", NULL, "the same", NULL},
    {"--lines", "N", "number of earlier lines (default 100)", NULL},
    {"--level", "LEVEL", "least severe: critical, error, warn, info, debug, trace", NULL},
    {0},
};
static const struct qn_cli_option load_options[] = {
    {"--ctx-size", "N", "size of the context in tokens", NULL},
    {"--keep-alive", "TIME", "time in memory without use: 10m, 2h, -1: no limit", NULL},
    {"--pinned", NULL, "do not evict it (see quince pin)", NULL},
    {"--save-options", NULL, "save these options for later loads", NULL},
    {"--llamacpp", "ENGINE", "quince (default) or one of quince backends", NULL},
    {"--llamacpp-args", "ARGS", "additional arguments for llama-server", NULL},
    {"--whispercpp", "ENGINE", "engine for transcription: one of quince backends", NULL},
    {"--whispercpp-args", "ARGS", "additional arguments for whisper-server", NULL},
    {"--sdcpp", "ENGINE", "engine for images: one of quince backends", NULL},
    {"--sdcpp-args", "ARGS", "additional arguments for sd-server", NULL},
    {"--steps", "N", "denoising steps of images", NULL},
    {"--cfg-scale", "X", "guidance scale of images", NULL},
    {"--width", "N", "width of images in pixels", NULL},
    {"--height", "N", "height of images in pixels", NULL},
    {0},
};
static const struct qn_cli_option embed_options[] = {
    {"--model", "MODEL", "the model (default: the one for this used last)", NULL},
    {"--format", "FORMAT", "json (default), base64 or f32: raw little-endian floats", NULL},
    {"--output", "FILE", "output file (default: standard output)", NULL},
    {"-o", "FILE", "the same", NULL},
    {"--yes", NULL, "replace an existing file", NULL},
    {0},
};
static const struct qn_cli_option rerank_options[] = {
    {"--model", "MODEL", "the model (default: the one for this used last)", NULL},
    {"--file", "FILE", "documents: the lines of this file that are not empty", NULL},
    {"--top", "N", "print only the N most relevant ones", NULL},
    {0},
};
static const struct qn_cli_option transcribe_options[] = {
    {"--model", "MODEL", "the model (default: the one for this used last)", NULL},
    {"--language", "LANGUAGE", "what is spoken: de, German, ... (default: detected)", NULL},
    {"--format", "FORMAT", "text (default), srt, vtt or json, with times", NULL},
    {"--translate", NULL, "translate into English", NULL},
    {"--output", "FILE", "output file (default: standard output)", NULL},
    {"-o", "FILE", "the same", NULL},
    {"--yes", NULL, "replace an existing file", NULL},
    {0},
};
static const struct qn_cli_option say_options[] = {
    {"--model", "MODEL", "the model (default: the one for this used last)", NULL},
    {"--voice", "NAME", "one of the model's voices", NULL},
    {"--speed", "X", "0.25 to 4 (default 1)", NULL},
    {"--format", "FORMAT", "mp3, opus, aac, flac, wav or pcm (default: by FILE)", NULL},
    {"--output", "FILE", "output file (default: standard output)", NULL},
    {"-o", "FILE", "the same", NULL},
    {"--yes", NULL, "replace an existing file", NULL},
    {0},
};
static const struct qn_cli_option image_options[] = {
    {"--model", "MODEL", "the model (default: the one for this used last)", NULL},
    {"--size", "WxH", "in pixels: 512x512, ... (default: the model's)", NULL},
    {"--steps", "N", "denoising steps", NULL},
    {"--cfg-scale", "X", "guidance scale: how closely it follows the prompt", NULL},
    {"--seed", "N", "for the same picture again", NULL},
    {"--negative", "TEXT", "what the picture must not show", NULL},
    {"--output", "FILE", "output file (default: standard output)", NULL},
    {"-o", "FILE", "the same", NULL},
    {"--yes", NULL, "replace an existing file", NULL},
    {0},
};

static const struct qn_cli_command table[] = {
    {"serve", "[--host H] [--port N] serve [OPTIONS OF quinced]",
     "start the server in the foreground",
     "--host and --port before `serve`, and QUINCE_HOST, are passed on; arguments\n"
     "after it are passed to quinced unchanged: see `quinced --help`. Ctrl-C stops it.",
     NULL, 0, 0, true, qn_cmd_serve},
    {"stop", "stop [MODEL] [--now]", "stop the server, or unload one model",
     "Without MODEL: the server at --host and --port, or the one that quince started.\n"
     "Running requests finish first. With MODEL: frees its memory, as unload does;\n"
     "the server keeps running.",
     stop_options, 0, 1, false, qn_cmd_stop},
    {"open", "open [--print]", "open the server's page in the browser",
     "Starts the server if none runs on this machine. Without a desktop, prints the\n"
     "address.",
     open_options, 0, 0, false, qn_cmd_open},
    {"status", "status", "show whether the server runs and what is loaded", NULL, NULL, 0, 0, false,
     qn_cmd_status},
    {"ps", "ps", "list the models in memory and their processes", NULL, NULL, 0, 0, false,
     qn_cmd_ps},
    {"stats", "stats", "show the last request's speed, and totals", NULL, NULL, 0, 0, false,
     qn_cmd_stats},
    {"top", "top [--interval S]", "show a live view of the server and its models",
     "q or Ctrl-C ends it. Printed once if the output is not a terminal.", top_options, 0, 0, false,
     qn_cmd_top},
    {"list", "list [FILTER] [--all]", "list the installed models",
     "With FILTER, models whose name contains it or that have it as a label (vision,\n"
     "embeddings, ...). With --all, also models of the server's list that can be\n"
     "downloaded.",
     list_options, 0, 1, false, qn_cmd_list},
    {"show", "show MODEL", "show all information about one model", NULL, NULL, 1, 1, false,
     qn_cmd_show},
    {"search", "search WORD...", "search models on Hugging Face",
     "`quince pull OWNER/REPO` downloads a result.", search_options, 1, QN_CLI_WORDS_MAX, false,
     qn_cmd_search},
    {"pull", "pull MODEL [OPTIONS]", "download a model",
     "MODEL is a name of `quince list --all`; OWNER/REPO[:VARIANT] of Hugging Face\n"
     "(also hf.co/...); llama3.2:1b as in Ollama; a URL; or a file of this machine,\n"
     "which is not copied. If there are several variants and none is named, the user\n"
     "is asked, and a script gets the recommended one. With --json, each event is a\n"
     "line. With --checkpoint, MODEL is the name of the new model. After Ctrl-C the\n"
     "command asks whether the server shall continue; an interrupted download resumes\n"
     "where it stopped.",
     pull_options, 1, 1, false, qn_cmd_pull},
    {"downloads", "downloads [pause|resume|cancel|remove MODEL...]", "list and control downloads",
     "On a terminal, until all are complete or Ctrl-C.", downloads_options, 0, QN_CLI_WORDS_MAX,
     false, qn_cmd_downloads},
    {"delete", "delete MODEL... [--yes]", "remove models from this machine",
     "Asks first. Deletes the files that quince downloaded and no other model uses;\n"
     "files of other programs and your own files stay.",
     delete_options, 1, QN_CLI_WORDS_MAX, false, qn_cmd_delete},
    {"import", "import FILE [--name user.NAME]", "register a local model file without copying it",
     "FILE is a GGUF file, which stays where it is; quince never moves or deletes it.\n"
     "Or a JSON definition of `quince export` (- reads standard input).",
     import_options, 1, 1, false, qn_cmd_import},
    {"remote", "remote add NAME [WEIGHT*]URL... | list", "models that other servers compute",
     "URL is the base address of any OpenAI-compatible server (vLLM, SGLang,\n"
     "llama-server, another quince): https://host/v1. Several share the requests by\n"
     "their weights; if one fails, the others are used. Keys are stored in a file that\n"
     "only you can read, or in the server's environment. `quince delete` removes the\n"
     "model.",
     remote_options, 1, QN_CLI_WORDS_MAX, false, qn_cmd_remote},
    {"export", "export MODEL [--output FILE]", "write a model's definition as JSON", NULL,
     export_options, 1, 1, false, qn_cmd_export},
    {"alias", "alias add NAME MODEL | remove NAME | list", "additional names of models", NULL, NULL,
     1, 3, false, qn_cmd_alias},
    {"cleanup", "cleanup [--dry-run] [--yes]", "delete leftovers of downloads",
     "Partial files that no download needs and files that no model uses; asks first.",
     cleanup_options, 0, 0, false, qn_cmd_cleanup},
    {"backends", "backends [install|uninstall RECIPE:BACKEND] [OPTIONS]",
     "list, install and remove engines",
     "quince's own, and those of other projects: `quince backends install\n"
     "llamacpp:vulkan` downloads llama.cpp's server from its release, checks it and\n"
     "unpacks it. A llama-server on the path need not be installed. Installing again\n"
     "updates an engine; uninstall first unloads the models that use it.",
     backends_options, 0, 2, false, qn_cmd_backends},
    {"config", "config [NAME | set NAME=VALUE... | reset NAME...]",
     "show and change the server's settings",
     "`set` writes them to config.json; those that can take effect at once do. `reset`\n"
     "removes them from it. `quinced --help` explains each. While no server runs,\n"
     "config.json itself is shown and changed, with the same checks.",
     NULL, 0, QN_CLI_WORDS_MAX, false, qn_cmd_config},
    {"keys", "keys [list | add NAME [--admin] [--mine] | remove NAME]",
     "keys for access to the server",
     "`add` creates a key and prints it, once. Without any key all programs of this\n"
     "machine may use the server; with one, all need a key, and the server may listen\n"
     "on addresses that other machines can reach. The name is only for you. Each key\n"
     "has chats of its own: make yours with --mine.",
     keys_options, 0, 2, false, qn_cmd_keys},
    {"load", "load MODEL [OPTIONS]", "load a model into memory", NULL, load_options, 1, 1, false,
     qn_cmd_load},
    {"unload", "unload [MODEL]", "unload a model; without a name, all models",
     "Files stay where they are.", NULL, 0, 1, false, qn_cmd_unload},
    {"pin", "pin MODEL...", "keep models in memory once they are loaded",
     "A pinned model is not evicted for other models or for lack of use, and is\n"
     "restarted after a crash. `quince unload` still unloads it.",
     NULL, 1, QN_CLI_WORDS_MAX, false, qn_cmd_pin},
    {"unpin", "unpin MODEL...", "allow models to be evicted again", NULL, NULL, 1, QN_CLI_WORDS_MAX,
     false, qn_cmd_unpin},
    {"run", "run MODEL [PROMPT]", "chat with a model in the terminal",
     "With PROMPT, or with text piped in, prints one reply and exits; with both, the\n"
     "piped text follows PROMPT after an empty line.\n"
     "In the chat: /help /clear /system /think /model /load /list /ps /stats /exit;\n"
     "Ctrl-C stops a reply, Ctrl-D ends the chat. A line that ends in \\ continues in\n"
     "the next; \"\"\" begins and ends a text of several lines. When the model's context\n"
     "is full, the oldest turns are dropped.",
     run_options, 1, 2, false, qn_cmd_run},
    {"chat", "chat [PROMPT]", "like run, with the model used last",
     "If no model was used yet: the suggested one.", run_options, 0, 1, false, qn_cmd_chat},
    {"embed", "embed [TEXT...] [OPTIONS]", "compute the vectors of texts",
     "Each argument is a text or, without arguments, each line of standard input. Each\n"
     "vector is a line: a JSON array, or with --format base64 its floats in base64.",
     embed_options, 0, QN_CLI_WORDS_MAX, false, qn_cmd_embed},
    {"rerank", "rerank QUERY [DOCUMENT...] [OPTIONS]", "sort documents by relevance to a query",
     "Documents are arguments or, without --file, the lines of standard input. Prints\n"
     "a score, a tab and the document on each line, the most relevant one first.",
     rerank_options, 1, QN_CLI_WORDS_MAX, false, qn_cmd_rerank},
    {"transcribe", "transcribe FILE [OPTIONS]", "turn speech in a sound file into text",
     "FILE is a sound file; - reads standard input.", transcribe_options, 1, 1, false,
     qn_cmd_transcribe},
    {"say", "say [TEXT] [OPTIONS]", "turn text into speech",
     "Without TEXT, reads standard input. The sound goes to FILE, or to standard\n"
     "output if that is a pipe or a file.",
     say_options, 0, 1, false, qn_cmd_say},
    {"image", "image [PROMPT] [OPTIONS]", "generate a picture",
     "Without PROMPT, reads standard input. The picture goes to FILE (.png, .jpg or\n"
     ".webp), or to standard output if that is a pipe or a file.",
     image_options, 0, 1, false, qn_cmd_image},
    {"logs", "logs [--follow] [--lines N] [--level LEVEL] [MODEL]", "print the server's log",
     "With a model, only the lines of its process and the server's lines about it.\n"
     "Following continues across a restart of the server, without repeating lines.",
     logs_options, 0, 1, false, qn_cmd_logs},
    {"completion", "completion bash|zsh", "print a script for completion in a shell",
     "For bash, in ~/.bashrc:  eval \"$(quince completion bash)\"\n"
     "For zsh, in ~/.zshrc after compinit:  eval \"$(quince completion zsh)\"",
     NULL, 1, QN_CLI_WORDS_MAX, false, qn_cmd_completion},
    {"version", "version", "print this program's version", NULL, NULL, 0, 0, false, qn_cmd_version},
    {"help", "help [COMMAND]", "list the commands, or explain one", NULL, NULL, 0, 1, false,
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
    fputs("quince: run and manage local AI models\n\nusage: quince [OPTIONS] COMMAND\n\n", out);
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
            "  --json                 machine-readable output, including errors\n"
            "  --help, --version\n\n"
            "`quince help COMMAND` explains a command. First chat: quince run quince-starter\n",
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
