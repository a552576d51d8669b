/* embed: the vectors of texts, one a line, or as raw numbers. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/note.h"
#include "cli/outfile.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

/* Texts of one request, so that any number of lines needs little memory. */
enum { BATCH_TEXTS = 256, BATCH_BYTES = 1024 * 1024, REQUEST_MAX = 16 * 1024 * 1024 };

enum { OPTION_MODEL, OPTION_FORMAT, OPTION_OUTPUT, OPTION_O, OPTION_YES };

enum format { JSON, BASE64, F32, FORMATS };
static const char *const format_names[FORMATS] = {"json", "base64", "f32"};

struct embedding {
    struct qn_cli *cli;
    char *model;
    enum format format;
    struct qn_outfile out;
    struct qn_buf body; /* the request that is being collected */
    struct qn_jw w;
    size_t n, bytes; /* texts in it, and their length */
};

static qn_err write_vector(struct embedding *m, const struct qn_jref *vector, struct qn_error *e)
{
    bool text = qn_json_type(vector) == QN_JSON_STRING;
    if (text != (m->format != JSON))
        return qn_fail(e, QN_EFORMAT, "the server's reply has no vector of the wanted format");
    struct qn_buf line;
    qn_buf_init(&line, QN_CLIENT_REPLY_MAX);
    qn_err err = QN_OK;
    if (m->format == F32) {
        const char *base64 = qn_json_raw_str(vector);
        size_t n = strlen(base64), len = 0;
        char *bytes = qn_xmalloc(n / 4 * 3 + 3);
        if (!qn_base64_decode(base64, n, bytes, &len))
            err = qn_fail(e, QN_EFORMAT, "the server's reply has a vector that is not base64");
        else
            err = qn_outfile_write(&m->out, bytes, len, e);
        free(bytes);
    } else {
        if (text)
            qn_buf_str(&line, qn_json_raw_str(vector));
        else
            qn_json_print(vector, &line);
        qn_buf_char(&line, '\n');
        err = qn_outfile_text(&m->out, line.data, line.len, e);
    }
    qn_buf_deinit(&line);
    return err;
}

/* Writes the vectors of a reply, which must be those of the n texts, in their order. */
static qn_err write_reply(struct embedding *m, const struct qn_json *doc, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(doc), data = qn_json_get(&root, "data"), it;
    qn_err err = QN_OK;
    size_t i = 0;
    if (qn_json_count(&data) != m->n)
        return qn_fail(e, QN_EFORMAT, "the server's reply has %zu vectors for %zu texts",
                       qn_json_count(&data), m->n);
    for (bool more = qn_json_first(&data, &it); more && !err; more = qn_json_next(&it), i++) {
        struct qn_jref index = qn_json_get(&it, "index"), vector = qn_json_get(&it, "embedding");
        if (qn_json_raw_f64(&index) != (double)i)
            return qn_fail(e, QN_EFORMAT, "the server's reply has vectors in another order");
        err = write_vector(m, &vector, e);
    }
    return err;
}

static void begin_batch(struct embedding *m)
{
    qn_buf_clear(&m->body);
    m->n = m->bytes = 0;
    m->w = qn_jw_to(&m->body);
    qn_jw_obj(&m->w);
    qn_jw_kstr(&m->w, "model", m->model);
    qn_jw_kstr(&m->w, "encoding_format", m->format == JSON ? "float" : "base64");
    qn_jw_key(&m->w, "input");
    qn_jw_arr(&m->w);
}

static qn_err send_batch(struct embedding *m, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_note note;
    const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
    if (!m->n)
        return QN_OK;
    qn_jw_arr_end(&m->w);
    qn_jw_obj_end(&m->w);
    qn_note_begin(&note, m->cli, m->model);
    qn_err err =
        qn_client_call(m->cli, "/api/v1/embeddings", qn_buf_cstr(&m->body), 0, &wait, &doc, e);
    qn_note_end(&note);
    if (!err)
        err = write_reply(m, doc, e);
    qn_json_free(doc);
    begin_batch(m);
    return err;
}

static qn_err add(struct embedding *m, const char *text, struct qn_error *e)
{
    qn_jw_str(&m->w, text);
    m->n++;
    m->bytes += strlen(text);
    if (m->body.overflow)
        return qn_fail(e, QN_ELIMIT, "a text is too long");
    return m->n == BATCH_TEXTS || m->bytes >= BATCH_BYTES ? send_batch(m, e) : QN_OK;
}

static qn_err add_words(struct embedding *m, const struct qn_cli_args *a, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (int i = 0; i < a->n_words && !err; i++) {
        if (!*a->words[i] || !qn_utf8_valid(a->words[i], strlen(a->words[i])))
            return qn_fail(e, QN_EINVAL, "text %d is %s", i + 1,
                           *a->words[i] ? "not UTF-8" : "empty, and has no vector");
        err = add(m, a->words[i], e);
    }
    return err;
}

static qn_err add_lines(struct embedding *m, struct qn_error *e)
{
    struct qn_input_lines in;
    const char *line = NULL;
    qn_err err = qn_input_open(&in, NULL, e);
    if (err)
        return err;
    while (!(err = qn_input_next(&in, &line, e)) && line) {
        if (!*line)
            err = qn_fail(e, QN_EINVAL, "line %zu is empty, and has no vector", in.n);
        if (err || (err = add(m, line, e)))
            break;
    }
    qn_input_close(&in);
    return err;
}

static bool parse_format(const char *name, enum format *out)
{
    *out = JSON;
    while (name && *out < FORMATS && !qn_str_eq(name, format_names[*out]))
        ++*out;
    return *out < FORMATS;
}

int qn_cmd_embed(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct embedding m = {.cli = cli};
    struct qn_error e = {0};
    const char *path = a->values[OPTION_OUTPUT] ? a->values[OPTION_OUTPUT] : a->values[OPTION_O];
    if (!parse_format(a->values[OPTION_FORMAT], &m.format))
        return qn_cli_misused(cli, "--format needs one of json, base64, f32");
    if (!a->n_words && !qn_input_is_piped())
        return qn_cli_misused(cli, "there are no texts: give them as arguments, or pipe in one "
                                   "a line");
    qn_buf_init(&m.body, REQUEST_MAX);
    qn_err err = qn_outfile_init(&m.out, cli, path, a->values[OPTION_YES] != NULL,
                                 m.format == F32 ? "raw numbers" : NULL, &e);
    if (!err)
        err = qn_choice_ready(cli, a->values[OPTION_MODEL], "embeddings", &m.model, &e);
    if (!err) {
        begin_batch(&m);
        err = a->n_words ? add_words(&m, a, &e) : add_lines(&m, &e);
    }
    if (!err)
        err = send_batch(&m, &e);
    struct qn_error closing;
    if (qn_outfile_end(&m.out, err ? &closing : &e) && !err)
        err = e.code;
    qn_buf_deinit(&m.body);
    free(m.model);
    return qn_outfile_status(cli, err, &e);
}
