/* image: generates a picture from a prompt. */
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/media.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_MODEL,
    OPTION_SIZE,
    OPTION_STEPS,
    OPTION_CFG_SCALE,
    OPTION_SEED,
    OPTION_NEGATIVE,
    OPTION_OUTPUT,
    OPTION_O,
    OPTION_YES
};

/* Options that are numbers of the request; `whole`: integers. */
static const struct {
    int option;
    const char *flag, *member;
    bool whole;
} numbers[] = {
    {OPTION_STEPS, "--steps", "steps", true},
    {OPTION_CFG_SCALE, "--cfg-scale", "cfg_scale", false},
    {OPTION_SEED, "--seed", "seed", true},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Returns the first option that must be a number and is not, or NULL. */
static const char *no_number(const struct qn_cli_args *a)
{
    double real;
    int64_t whole;
    for (size_t i = 0; i < NUMBERS; i++) {
        const char *given = a->values[numbers[i].option];
        if (given && !(numbers[i].whole ? qn_parse_i64(given, &whole) : qn_parse_f64(given, &real)))
            return numbers[i].flag;
    }
    return NULL;
}

static void write_picture(const struct qn_cli_args *a, const char *text, struct qn_jw *w)
{
    double real;
    int64_t whole;
    qn_jw_kstr(w, "prompt", text);
    qn_jw_kstr(w, "response_format", "b64_json");
    if (a->values[OPTION_SIZE])
        qn_jw_kstr(w, "size", a->values[OPTION_SIZE]);
    if (a->values[OPTION_NEGATIVE])
        qn_jw_kstr(w, "negative_prompt", a->values[OPTION_NEGATIVE]);
    for (size_t i = 0; i < NUMBERS; i++) {
        const char *given = a->values[numbers[i].option];
        if (given && numbers[i].whole && qn_parse_i64(given, &whole))
            qn_jw_ki64(w, numbers[i].member, whole);
        else if (given && !numbers[i].whole && qn_parse_f64(given, &real))
            qn_jw_kf64(w, numbers[i].member, real);
    }
}

static qn_err read_picture(const struct qn_buf *reply, struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_jref first = {0};
    qn_err err = qn_json_parse(reply->data, reply->len, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), data = qn_json_get(&root, "data");
    const char *base64 = "";
    if (qn_json_first(&data, &first)) {
        struct qn_jref v = qn_json_get(&first, "b64_json");
        base64 = qn_json_raw_str(&v);
    }
    size_t n = strlen(base64), len = 0;
    char *bytes = qn_xmalloc(n / 4 * 3 + 3);
    if (!n || !qn_base64_decode(base64, n, bytes, &len))
        err = qn_fail(e, QN_EFORMAT, "the server's reply has no picture");
    else if (qn_buf_add(out, bytes, len))
        err = qn_fail(e, QN_ELIMIT, "the picture is too large");
    free(bytes);
    qn_json_free(doc);
    return err;
}

int qn_cmd_image(struct qn_cli *cli, const struct qn_cli_args *a)
{
    static const struct qn_media picture = {
        .what = "a picture",
        .text = "prompt",
        .label = "image",
        .route = "/api/v1/images/generations",
        .endings = "png jpeg webp",
        .write = write_picture,
        .read = read_picture,
        .format_member = "output_format",
    };
    const char *flag = no_number(a);
    if (flag)
        return qn_cli_misused(cli, "%s needs a number", flag);
    const char *path = a->values[OPTION_OUTPUT] ? a->values[OPTION_OUTPUT] : a->values[OPTION_O];
    const struct qn_media_options options = {
        .model = a->values[OPTION_MODEL],
        .format = path && (qn_str_ends(path, ".jpg") || qn_str_ends(path, ".JPG")) ? "jpeg" : NULL,
        .output = path,
        .replace = a->values[OPTION_YES] != NULL,
    };
    return qn_media_make(cli, a, &picture, &options);
}
