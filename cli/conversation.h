/* A conversation with a model: the messages so far, and one more answer streamed to the terminal.
 */
#ifndef QN_CLI_CONVERSATION_H
#define QN_CLI_CONVERSATION_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/cli.h"

#include <stdint.h>

struct qn_turn_stats { /* of the last answer */
    int64_t prompt_tokens, cached_tokens, output_tokens;
    double first_ms; /* until the first text */
    double total_ms;
};

struct qn_conversation {
    const struct qn_cli *cli;
    const char *model;
    char *system; /* owned; NULL: none */
    const char
        *max_tokens; /* JSON numbers as the user wrote them, checked; NULL: the model's default */
    const char *temperature;
    struct qn_buf messages; /* JSON objects of the turns so far, comma-separated */
    struct qn_turn_stats stats;
};

void qn_conversation_init(struct qn_conversation *c, const struct qn_cli *cli, const char *model);
void qn_conversation_deinit(struct qn_conversation *c);
void qn_conversation_clear(
    struct qn_conversation *c); /* forgets the turns, keeps the system message */
void qn_conversation_set_system(struct qn_conversation *c, const char *text); /* NULL or "": none */

/* Asks and prints the answer as it comes, with a newline at the end. *stop: see qn_client_stream. A
 * stopped answer stays in the conversation as far as it came (QN_ECANCELLED); after any other
 * failure the question is taken back. */
qn_err qn_conversation_ask(struct qn_conversation *c, const char *prompt, const volatile int *stop,
                           struct qn_error *e);

#endif
