/* say: turns a text into a sound file. */
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/media.h"

enum {
    OPTION_MODEL,
    OPTION_VOICE,
    OPTION_SPEED,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_O,
    OPTION_YES
};

static void write_speech(const struct qn_cli_args *a, const char *text, struct qn_jw *w)
{
    double speed;
    qn_jw_kstr(w, "input", text);
    if (a->values[OPTION_VOICE])
        qn_jw_kstr(w, "voice", a->values[OPTION_VOICE]);
    if (a->values[OPTION_SPEED] && qn_parse_f64(a->values[OPTION_SPEED], &speed))
        qn_jw_kf64(w, "speed", speed);
}

static qn_err read_speech(const struct qn_buf *reply, struct qn_buf *out, struct qn_error *e)
{
    return qn_buf_add(out, reply->data, reply->len)
               ? qn_fail(e, QN_ELIMIT, "the sound is too large")
               : QN_OK;
}

int qn_cmd_say(struct qn_cli *cli, const struct qn_cli_args *a)
{
    static const struct qn_media speech = {
        .what = "sound",
        .text = "text",
        .label = "tts",
        .route = "/api/v1/audio/speech",
        .endings = "mp3 opus aac flac wav pcm",
        .write = write_speech,
        .read = read_speech,
        .format_member = "response_format",
    };
    double speed;
    if (a->values[OPTION_SPEED] && !qn_parse_f64(a->values[OPTION_SPEED], &speed))
        return qn_cli_misused(cli, "--speed needs a number");
    const struct qn_media_options options = {
        .model = a->values[OPTION_MODEL],
        .format = a->values[OPTION_FORMAT],
        .output = a->values[OPTION_OUTPUT] ? a->values[OPTION_OUTPUT] : a->values[OPTION_O],
        .replace = a->values[OPTION_YES] != NULL,
    };
    return qn_media_make(cli, a, &speech, &options);
}
