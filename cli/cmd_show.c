/* show: all information about one model. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/entry.h"
#include "cli/print.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 30, TEXT_MAX = 64 * 1024, LABEL_COLUMNS = 14 };

/* Prints one line; nothing if the value is empty. */
static void line(const char *label, const char *value)
{
    if (!value[0])
        return;
    printf("%-*s", LABEL_COLUMNS, label);
    qn_print_line(value);
}

static void line_bytes(const char *label, double bytes)
{
    char text[16];
    qn_human_bytes(bytes, text);
    if (bytes > 0)
        line(label, text);
}

static void line_number(const char *label, double n, const char *unit)
{
    char text[64];
    snprintf(text, sizeof text, "%.0f%s", n, unit);
    if (n > 0)
        line(label, text);
}

/* Prints what the file's header has: architecture, title, abilities of the chat template. */
static void print_details(const struct qn_jref *entry)
{
    struct qn_jref details = qn_json_get(entry, "details");
    struct qn_jref title = qn_json_get(&details, "title"),
                   arch = qn_json_get(&details, "architecture");
    struct qn_jref memory = qn_json_get(entry, "memory_bytes");
    line("Title", qn_json_raw_str(&title));
    line("Architecture", qn_json_raw_str(&arch));
    line_bytes("Memory", qn_json_raw_f64(&memory));
}

static void print_options(const struct qn_jref *entry)
{
    struct qn_jref options = qn_json_get(entry, "recipe_options");
    struct qn_buf text;
    if (qn_json_count(&options) == 0)
        return;
    qn_buf_init(&text, TEXT_MAX);
    qn_json_print(&options, &text);
    line("Options", qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

/* Returns the length of the folder's part of the first file's path, with the slash. */
static size_t folder_of(const struct qn_jref *files)
{
    struct qn_jref first = {0};
    if (!qn_json_first(files, &first))
        return 0;
    struct qn_jref path = qn_json_get(&first, "path");
    const char *text = qn_json_raw_str(&path), *slash = strrchr(text, '/');
    return slash ? (size_t)(slash - text) + 1 : 0;
}

/* Prints the folder once, as table cells would be cut, and the files by their names. */
static void print_files(const struct qn_jref *files)
{
    static const char *const titles[] = {"File", "Role", "Size", "Here"};
    if (qn_json_count(files) == 0)
        return;
    struct qn_jref first = {0}, folder;
    size_t n = folder_of(files);
    qn_json_first(files, &first);
    folder = qn_json_get(&first, "path");
    char *prefix = qn_xstrndup(qn_json_raw_str(&folder), n);
    line("Folder", prefix);
    struct qn_table *t = qn_table_new(4, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(files, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), path = qn_json_get(&it, "path");
        struct qn_jref role = qn_json_get(&it, "role"), size = qn_json_get(&it, "size_bytes");
        struct qn_jref exists = qn_json_get(&it, "exists");
        const char *where = qn_json_raw_str(&path);
        char bytes[16];
        qn_human_bytes(qn_json_raw_f64(&size), bytes);
        bool inside = n && qn_str_starts(where, prefix);
        const char *cells[] = {!where[0] ? qn_json_raw_str(&name)
                               : inside  ? where + n
                                         : where,
                               qn_json_raw_str(&role), bytes,
                               qn_json_raw_bool(&exists) ? "yes" : "no"};
        qn_table_row(t, cells);
    }
    putchar('\n');
    qn_table_print(t);
    qn_table_free(t);
    free(prefix);
}

static void print_model(const struct qn_jref *entry, const struct qn_jref *files)
{
    struct qn_entry m;
    struct qn_buf labels;
    char params[16], used[25];
    qn_entry_read(entry, &m);
    qn_buf_init(&labels, TEXT_MAX);
    qn_entry_labels(entry, false, &labels);
    qn_human_count(m.parameters, params);
    qn_words_age(m.last_use_s, qn_wall_ms() / 1000, used);
    line("Model", m.id);
    print_details(entry);
    line("Parameters", m.parameters > 0 ? params : "");
    line("Quantization", m.quantization);
    line_number("Context", m.context, " tokens");
    line_bytes("Size", m.size_bytes);
    line("Type", m.type);
    line("Labels", qn_buf_cstr(&labels));
    line("Recipe", m.recipe);
    line("Checkpoint", m.checkpoint);
    line("Source", m.source);
    print_options(entry);
    line("Downloaded", m.downloaded ? "yes" : "no");
    if (m.update_available)
        line("Update", "there is a newer one: quince pull downloads it");
    if (m.downloaded) {
        line("Loaded", m.loaded ? "yes" : "no");
        line("Last used", used);
    }
    struct qn_jref warning = qn_json_get(entry, "template_warning");
    if (*qn_json_raw_str(&warning)) {
        printf("%-*s", LABEL_COLUMNS, "Warning");
        qn_print_wrapped(qn_json_raw_str(&warning), LABEL_COLUMNS, QN_SCREEN_WIDTH);
    }
    struct qn_jref why = qn_json_get(entry, "unsupported");
    line("Unsupported", qn_json_raw_str(&why));
    print_files(files);
    if (!m.downloaded && !qn_json_raw_str(&why)[0]) {
        fputs("\n"
              "Download it: quince pull ",
              stdout);
        qn_print_line(m.id);
    }
    qn_buf_deinit(&labels);
}

/* Prints the server's entry with its files as an additional member. */
static void print_json(const struct qn_jref *entry, const struct qn_jref *files)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    qn_json_print(entry, &b);
    if (b.len > 2 && b.data[b.len - 1] == '}') {
        b.len--;
        qn_buf_str(&b, ",\"files\":");
        if (qn_json_type(files) == QN_JSON_ARRAY)
            qn_json_print(files, &b);
        else
            qn_buf_str(&b, "[]");
        qn_buf_char(&b, '}');
    }
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

/* A model that is not installed has no files, which is not an error. */
static qn_err fetch_files(const struct qn_cli *cli, const char *id, struct qn_json **out,
                          struct qn_error *e)
{
    struct qn_buf path;
    qn_buf_init(&path, TEXT_MAX);
    qn_buf_str(&path, "/api/v1/models/");
    qn_client_escape(&path, id, true);
    qn_buf_str(&path, "/files?include_paths=true");
    qn_err err = qn_client_call(cli, qn_buf_cstr(&path), NULL, CALL_TIMEOUT_S, NULL, out, e);
    qn_buf_deinit(&path);
    return err == QN_ENOTFOUND ? QN_OK : err;
}

int qn_cmd_show(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *doc = NULL, *more = NULL;
    struct qn_error e;
    qn_err err = qn_entry_fetch(cli, a->words[0], &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), id = qn_json_get(&root, "id");
        err = fetch_files(cli, qn_json_raw_str(&id), &more, &e);
    }
    if (!err) {
        struct qn_jref root = qn_json_root(doc), list = {0};
        if (more) {
            struct qn_jref all = qn_json_root(more);
            list = qn_json_get(&all, "files");
        }
        if (cli->json)
            print_json(&root, &list);
        else
            print_model(&root, &list);
    }
    qn_json_free(more);
    qn_json_free(doc);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
