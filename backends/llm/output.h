/* From tokens to the text of one choice: whole UTF-8 characters, stop strings, log-probabilities.
 *
 * Text that may still turn out to be the beginning of a stop string, or half a character, is held
 * back; a stop string is never shown, not even a part of it. Bytes that can never become UTF-8 show
 * as U+FFFD. Of several stop strings the one completed first ends the text (of two completed by the
 * same byte the longer), so the text does not depend on how it was cut into tokens.
 * Compute thread only. */
#ifndef QN_LLM_OUTPUT_H
#define QN_LLM_OUTPUT_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_OUTPUT_HELD_MAX = 64 * 1024 * 1024
}; /* bytes of held text, of pending log-probabilities */

/* Where one job's events go. */
struct qn_out {
    void *ctx;
    void (*send)(void *ctx, const struct qn_event *ev); /* MUST. Never blocks. */
    bool (*full)(void *ctx); /* MUST. The reader is slow: leave the job out. */
};

struct qn_logprob {
    int32_t id;
    const char *bytes; /* the token's written form, lent */
    size_t len;
    double logprob; /* NAN: unknown (a prompt's first token) */
};

/* Appends one object of event.h's "logprobs" array: the token itself, then n alternatives. */
void qn_logprob_write(struct qn_jw *w, const struct qn_logprob *token, const struct qn_logprob *top,
                      size_t n);

/* Appends bytes as valid UTF-8: what is malformed, and byte 0, becomes U+FFFD. */
void qn_output_clean(struct qn_buf *out, const char *bytes, size_t n);

struct qn_output_token; /* a token whose log-probability waits for its text */

struct qn_output {
    int64_t index; /* the choice */
    struct qn_out out;
    struct qn_strings stops; /* lent, none empty */
    bool logprobs;
    struct qn_buf held;             /* bytes not shown yet */
    struct qn_buf shown;            /* scratch: the event's text */
    struct qn_buf json;             /* scratch: the event's logprobs */
    uint64_t base;                  /* bytes of the raw text before held */
    struct qn_output_token *tokens; /* in order, not reported yet */
    size_t n_tokens, cap_tokens;
};

void qn_output_init(struct qn_output *o, int64_t index, const struct qn_out *out,
                    const struct qn_strings *stops, bool logprobs);
void qn_output_deinit(struct qn_output *o);

/* One more token with the bytes it adds to the text (none for control tokens). self and top are for
 * the log-probabilities and may be NULL when none were asked for. Returns the stop string that the
 * text now ends with, which ended it (call qn_output_finish), or NULL. */
const char *qn_output_token(struct qn_output *o, const char *bytes, size_t len,
                            const struct qn_logprob *self, const struct qn_logprob *top,
                            size_t n_top);

/* Shows what is held, but for half a character, and sends DONE. stop: as qn_output_token said. */
void qn_output_finish(struct qn_output *o, enum qn_finish finish, const char *stop);

#endif
