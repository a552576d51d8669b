/* What the commands that make a file of bytes share (say, image): their text, their output and the
 * format that the output's name asks for. */
#ifndef QN_CLI_MEDIA_H
#define QN_CLI_MEDIA_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"

/* What a command makes of a text. */
struct qn_media {
    const char *what;  /* "sound": what a terminal cannot show */
    const char *text;  /* "text", "prompt": what the text is called in messages */
    const char *label; /* of the models that can do it */
    const char *route;
    const char *endings; /* "mp3 wav ...": endings of names that are formats of the API */
    /* Writes the members of the request besides model and format, which NULL leaves to the
     * server. */
    void (*write)(const struct qn_cli_args *a, const char *text, struct qn_jw *w);
    /* Appends the bytes of the reply to *out. */
    qn_err (*read)(const struct qn_buf *reply, struct qn_buf *out, struct qn_error *e);
    const char *format_member; /* of the request: "response_format" */
};

/* The values of options that these commands have in common. */
struct qn_media_options {
    const char *model, *format, *output;
    bool replace;
};

/* Runs such a command; returns its exit status. */
int qn_media_make(struct qn_cli *cli, const struct qn_cli_args *a, const struct qn_media *m,
                  const struct qn_media_options *o);

#endif
