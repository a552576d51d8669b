/* See media.h. */
#include "cli/media.h"

#include "base/str.h"
#include "cli/choice.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/note.h"
#include "cli/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_MAX = 4 * QN_INPUT_TEXT_MAX, ENDING_MAX = 8 };

/* The word of `list` that the file's name ends in, after a dot; NULL: none. */
static const char *ending_of(const char *path, const char *list, char out[static ENDING_MAX])
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (const char *p = list; dot && *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        snprintf(out, ENDING_MAX, "%.*s", (int)n, p);
        if (qn_str_ieq(out, dot + 1))
            return out;
        p += n;
    }
    return NULL;
}

static qn_err request(struct qn_cli *cli, const struct qn_cli_args *a, const struct qn_media *m,
                      const char *model, const char *format, const char *text, struct qn_buf *out,
                      struct qn_error *e)
{
    struct qn_buf body, reply;
    struct qn_note note;
    const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
    qn_buf_init(&body, REQUEST_MAX);
    qn_buf_init(&reply, QN_CLIENT_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", model);
    if (format)
        qn_jw_kstr(&w, m->format_member, format);
    m->write(a, text, &w);
    qn_jw_obj_end(&w);
    qn_note_begin(&note, cli, model);
    qn_err err = qn_client_fetch(cli, m->route, qn_buf_cstr(&body), &wait, &reply, e);
    qn_note_end(&note);
    if (!err)
        err = m->read(&reply, out, e);
    qn_buf_deinit(&body);
    qn_buf_deinit(&reply);
    return err;
}

static void print_json(const struct qn_outfile *out)
{
    struct qn_buf b;
    qn_buf_init(&b, QN_INPUT_TEXT_MAX);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "output", out->path);
    qn_jw_ki64(&w, "bytes", (int64_t)out->bytes);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_media_make(struct qn_cli *cli, const struct qn_cli_args *a, const struct qn_media *m,
                  const struct qn_media_options *o)
{
    if (!a->n_words && !qn_input_is_piped())
        return qn_cli_misused(cli, "the %s is missing: give it as an argument, or pipe it in",
                              m->text);
    struct qn_error e = {0};
    struct qn_outfile out;
    struct qn_buf text, bytes;
    char *model = NULL, ending[ENDING_MAX];
    const char *format = o->format ? o->format : ending_of(o->output, m->endings, ending);
    qn_buf_init(&text, QN_INPUT_TEXT_MAX);
    qn_buf_init(&bytes, QN_CLIENT_REPLY_MAX);
    qn_err err = qn_outfile_init(&out, cli, o->output, o->replace, m->what, &e);
    if (!err)
        err = qn_input_text(a->n_words ? a->words[0] : NULL, m->text, &text, &e);
    if (!err)
        err = qn_choice_ready(cli, o->model, m->label, &model, &e);
    if (!err)
        err = request(cli, a, m, model, format, qn_buf_cstr(&text), &bytes, &e);
    if (!err)
        err = qn_outfile_write(&out, bytes.data, bytes.len, &e);
    if (!err)
        err = qn_outfile_end(&out, &e);
    if (!err && cli->json && out.path)
        print_json(&out);
    qn_buf_deinit(&text);
    qn_buf_deinit(&bytes);
    free(model);
    return qn_outfile_status(cli, err, &e);
}
