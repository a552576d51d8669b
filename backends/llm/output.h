/* Turns tokens into the events of one choice: text, reasoning and tool calls (parsed by calls.h),
 * in whole UTF-8 characters, with stop strings and log-probabilities.
 *
 * Text that may be the beginning of a stop string, and an incomplete character, are held back; no
 * part of a stop string is ever sent. Bytes that cannot become UTF-8 are sent as U+FFFD. Of several
 * stop strings the one completed first ends the text (of two completed by the same byte the
 * longer), so the text does not depend on how it was divided into tokens. Stop strings are searched
 * only in text, not in reasoning or calls, nor across them. Compute thread only. */
#ifndef QN_LLM_OUTPUT_H
#define QN_LLM_OUTPUT_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/event.h"
#include "llm/toolcall/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_OUTPUT_HELD_MAX = 64 * 1024 * 1024
}; /* bytes of held text, and of pending log-probabilities */

/* Receives the events of one job. */
struct qn_out {
    void *ctx;
    void (*send)(void *ctx, const struct qn_event *ev); /* MUST. Never blocks. */
    bool (*full)(void *ctx); /* MUST. The client reads too slowly: skip the job. */
};

struct qn_logprob {
    int32_t id;
    const char *bytes; /* the token's text, borrowed */
    size_t len;
    double logprob; /* NAN: unknown (a prompt's first token) */
};

/* Appends one object of event.h's "logprobs" array: the token itself, then n alternatives. */
void qn_logprob_write(struct qn_jw *w, const struct qn_logprob *token, const struct qn_logprob *top,
                      size_t n);

/* Appends bytes as valid UTF-8: malformed sequences and byte 0 become U+FFFD. */
void qn_output_clean(struct qn_buf *out, const char *bytes, size_t n);

struct qn_output_token; /* a token whose log-probability is pending until its text is sent */

struct qn_output {
    int64_t index; /* the choice */
    struct qn_out out;
    struct qn_strings stops; /* borrowed, none empty */
    bool logprobs;
    struct qn_parse *parse;         /* NULL: all output is text */
    bool reasoning;                 /* the held bytes are reasoning */
    bool called;                    /* a tool has been called */
    const char *stop;               /* the stop string that ended the text */
    struct qn_buf held;             /* bytes that have not been sent yet */
    struct qn_buf shown;            /* scratch: the event's text */
    struct qn_buf json;             /* scratch: the event's logprobs */
    uint64_t raw;                   /* number of bytes received */
    int64_t reasoned;               /* tokens that were reasoning or its marks */
    uint64_t base;                  /* offset of held in the bytes received */
    struct qn_output_token *tokens; /* tokens in order, not reported yet */
    size_t n_tokens, cap_tokens;
};

/* parse: how to find reasoning and calls; NULL or a configuration that finds none: all is text. */
void qn_output_init(struct qn_output *o, int64_t index, const struct qn_out *out,
                    const struct qn_strings *stops, bool logprobs,
                    const struct qn_parse_config *parse);
void qn_output_deinit(struct qn_output *o);

/* Adds one token with the bytes that it adds to the output (none for control tokens that are not
 * marks). self and top are for the log-probabilities and may be NULL if none were requested.
 * Returns true if a stop string, or the single allowed call, has ended the choice: call
 * qn_output_finish. */
bool qn_output_token(struct qn_output *o, const char *bytes, size_t len,
                     const struct qn_logprob *self, const struct qn_logprob *top, size_t n_top);

/* Sends what is held, except an incomplete character, and then DONE. finish: why no token follows;
 * STOP after calls is reported as finishing with calls. tokens: see event.h, or NULL. */
void qn_output_finish(struct qn_output *o, enum qn_finish finish, const char *tokens);

#endif
