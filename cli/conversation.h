/* A conversation with a model: its messages so far, and the reply that is being received. */
#ifndef QN_CLI_CONVERSATION_H
#define QN_CLI_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdint.h>

struct qn_turn_stats { /* figures of the last reply */
    int64_t prompt_tokens, cached_tokens, output_tokens;
    double first_ms; /* time until the first text */
    double total_ms;
    bool asked; /* a question was asked */
};

enum { QN_FINISH_TEXT_MAX = 24 };

/* whether the model reasons before the reply */
enum qn_think { QN_THINK_AS_EVER, QN_THINK_OFF, QN_THINK_ON };

struct qn_conversation {
    const struct qn_cli *cli;
    const char *model;
    char *system; /* owned; NULL: none */
    const char
        /* JSON numbers as the user wrote them, already checked; NULL: the model's default */
        *max_tokens;
    const char *temperature;
    enum qn_think think;
    /* Reasoning is not shown; if stdout is not a terminal, it never is. */
    bool hide_thoughts;
    bool silent;                     /* replies are stored in `answer` and not printed */
    struct qn_buf messages;          /* the turns so far as JSON objects, separated by commas */
    struct qn_buf answer;            /* text of the last reply */
    struct qn_buf thoughts;          /* its reasoning */
    char finish[QN_FINISH_TEXT_MAX]; /* finish reason of the last reply: "stop", "length" */
    struct qn_turn_stats stats;
};

void qn_conversation_init(struct qn_conversation *c, const struct qn_cli *cli, const char *model);
void qn_conversation_deinit(struct qn_conversation *c);
/* Drops all turns, keeps the system message. */
void qn_conversation_clear(struct qn_conversation *c);
/* NULL or "": no system message */
void qn_conversation_set_system(struct qn_conversation *c, const char *text);

/* Sends the prompt and prints the reply as it arrives, with a newline at its end. *stop: see
 * qn_client_wait. A reply that was stopped stays in the conversation as far as it was received
 * (QN_ECANCELLED). If no text was received, and after any other error, the question is removed.
 * QN_EIO if stdout does not accept output. */
qn_err qn_conversation_ask(struct qn_conversation *c, const char *prompt,
                           const volatile sig_atomic_t *stop, struct qn_error *e);

/* Writes the last reply as an object: model, content, reasoning (if any), finish_reason, usage. */
void qn_conversation_write(const struct qn_conversation *c, struct qn_jw *w);

#endif
