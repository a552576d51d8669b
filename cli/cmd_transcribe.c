/* transcribe: the text of what is said in a sound file. */
#include "base/buf.h"
#include "base/str.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/note.h"
#include "cli/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    OPTION_MODEL,
    OPTION_LANGUAGE,
    OPTION_FORMAT,
    OPTION_TRANSLATE,
    OPTION_OUTPUT,
    OPTION_O,
    OPTION_YES
};

/* Formats of the command and of the API; its own "json" has no times. */
static const struct {
    const char *name, *api;
} formats[] = {{"text", "text"}, {"srt", "srt"}, {"vtt", "vtt"}, {"json", "verbose_json"}};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *api_format(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (qn_str_eq(formats[i].name, name))
            return formats[i].api;
    return NULL;
}

static qn_err transcribe(struct qn_cli *cli, const struct qn_cli_args *a, const char *format,
                         const char *model, struct qn_buf *reply, struct qn_error *e)
{
    const char *path =
        a->values[OPTION_TRANSLATE] ? "/api/v1/audio/translations" : "/api/v1/audio/transcriptions";
    const struct qn_client_field fields[] = {
        {"model", model, NULL},
        {"response_format", format, NULL},
        {"file", NULL, a->words[0]},
        {"language", a->values[OPTION_LANGUAGE], NULL}, /* the last one, as it may be missing */
    };
    size_t n = sizeof fields / sizeof *fields - !a->values[OPTION_LANGUAGE];
    struct qn_note note;
    const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
    qn_note_begin(&note, cli, model);
    qn_err err = qn_client_upload(cli, path, fields, n, &wait, reply, e);
    qn_note_end(&note);
    if (!err && reply->len && reply->data[reply->len - 1] != '\n')
        qn_buf_char(reply, '\n');
    return err;
}

int qn_cmd_transcribe(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const char *path = a->values[OPTION_OUTPUT] ? a->values[OPTION_OUTPUT] : a->values[OPTION_O];
    const char *name = a->values[OPTION_FORMAT];
    const char *format = api_format(name ? name : cli->json ? "json" : "text");
    bool standard = qn_str_eq(a->words[0], "-");
    if (!format)
        return qn_cli_misused(cli, "--format needs one of text, srt, vtt, json");
    if (standard && isatty(STDIN_FILENO))
        return qn_cli_misused(cli, "a terminal cannot send sound: name a file, or pipe one in");
    struct qn_error e = {0};
    struct qn_outfile out;
    struct qn_buf reply;
    char *model = NULL;
    qn_buf_init(&reply, QN_CLIENT_REPLY_MAX);
    qn_err err = qn_outfile_init(&out, cli, path, a->values[OPTION_YES] != NULL, NULL, &e);
    if (!err && !standard && access(a->words[0], R_OK) != 0)
        err = qn_fail_errno(&e, "open %.400s", a->words[0]);
    if (!err)
        err = qn_choice_ready(cli, a->values[OPTION_MODEL], "transcription", &model, &e);
    if (!err)
        err = transcribe(cli, a, format, model, &reply, &e);
    if (!err)
        err = qn_outfile_text(&out, qn_buf_cstr(&reply), reply.len, &e);
    if (!err)
        err = qn_outfile_end(&out, &e);
    qn_buf_deinit(&reply);
    free(model);
    return qn_outfile_status(cli, err, &e);
}
