/* A conversation with a model: the messages so far, and one more answer as it comes. */
#ifndef QN_CLI_CONVERSATION_H
#define QN_CLI_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdint.h>

struct qn_turn_stats { /* of the last answer */
    int64_t prompt_tokens, cached_tokens, output_tokens;
    double first_ms; /* until the first text */
    double total_ms;
    bool asked; /* there was one */
};

enum { QN_FINISH_TEXT_MAX = 24 };

enum qn_think { QN_THINK_AS_EVER, QN_THINK_OFF, QN_THINK_ON }; /* whether a model reasons first */

struct qn_conversation {
    const struct qn_cli *cli;
    const char *model;
    char *system; /* owned; NULL: none */
    const char
        *max_tokens; /* JSON numbers as the user wrote them, checked; NULL: the model's own */
    const char *temperature;
    enum qn_think think;
    bool hide_thoughts; /* what it reasons is not shown; it never is where stdout is no terminal */
    bool silent;        /* answers are kept in `answer` and not printed */
    struct qn_buf messages;          /* JSON objects of the turns so far, comma-separated */
    struct qn_buf answer;            /* the last one's text */
    struct qn_buf thoughts;          /* what it reasoned before */
    char finish[QN_FINISH_TEXT_MAX]; /* why it ended: "stop", "length" */
    struct qn_turn_stats stats;
};

void qn_conversation_init(struct qn_conversation *c, const struct qn_cli *cli, const char *model);
void qn_conversation_deinit(struct qn_conversation *c);
/* Forgets the turns, keeps the system message. */
void qn_conversation_clear(struct qn_conversation *c);
void qn_conversation_set_system(struct qn_conversation *c, const char *text); /* NULL or "": none */

/* Asks and prints the answer as it comes, with a newline at the end. *stop: see qn_client_wait. A
 * stopped answer stays in the conversation as far as it came (QN_ECANCELLED); when nothing came,
 * and after any other failure, the question is taken back. QN_EIO when stdout takes no more. */
qn_err qn_conversation_ask(struct qn_conversation *c, const char *prompt,
                           const volatile sig_atomic_t *stop, struct qn_error *e);

/* The last answer as an object: model, content, reasoning (if there was any), finish_reason,
 * usage. */
void qn_conversation_write(const struct qn_conversation *c, struct qn_jw *w);

#endif
