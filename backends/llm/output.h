/* From tokens to the events of one choice: text, reasoning and calls of tools (calls.h finds them),
 * whole UTF-8 characters, stop strings, log-probabilities.
 *
 * Text that may still turn out to be the beginning of a stop string, or half a character, is held
 * back; a stop string is never shown, not even a part of it. Bytes that can never become UTF-8 show
 * as U+FFFD. Of several stop strings the one completed first ends the text (of two completed by the
 * same byte the longer), so the text does not depend on how it was cut into tokens. Stop strings
 * are looked for in text only, not in reasoning or calls, nor across them. Compute thread only. */
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
    struct qn_parse *parse;         /* NULL: all is text */
    bool reasoning;                 /* what is held is */
    bool called;                    /* it has called a tool */
    const char *stop;               /* the stop string that ended it */
    struct qn_buf held;             /* bytes not shown yet */
    struct qn_buf shown;            /* scratch: the event's text */
    struct qn_buf json;             /* scratch: the event's logprobs */
    uint64_t raw;                   /* bytes that came */
    int64_t reasoned;               /* tokens that were reasoning or its marks */
    uint64_t base;                  /* offset of held in them */
    struct qn_output_token *tokens; /* in order, not reported yet */
    size_t n_tokens, cap_tokens;
};

/* parse: how to find reasoning and calls; NULL, or where it can find none: all is text. */
void qn_output_init(struct qn_output *o, int64_t index, const struct qn_out *out,
                    const struct qn_strings *stops, bool logprobs,
                    const struct qn_parse_config *parse);
void qn_output_deinit(struct qn_output *o);

/* One more token with the bytes it adds to what is said (none for control tokens that are no
 * marks). self and top are for the log-probabilities and may be NULL when none were asked for.
 * True: a stop string, or the one call that was allowed, has ended it: call qn_output_finish. */
bool qn_output_token(struct qn_output *o, const char *bytes, size_t len,
                     const struct qn_logprob *self, const struct qn_logprob *top, size_t n_top);

/* Shows what is held, but for half a character, and sends DONE. finish: why no token follows; a
 * STOP after calls is said to be for them. tokens: see event.h, or NULL. */
void qn_output_finish(struct qn_output *o, enum qn_finish finish, const char *tokens);

#endif
