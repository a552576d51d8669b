/* Parses the bytes that a model generates into text, reasoning and tool calls.
 *
 * Every model family marks its calls and its reasoning differently; the syntax is chosen by the
 * model's chat template (calls_table.c and calls_thinking.c have a row for each). The bytes arrive
 * in pieces of any size and are passed on as early as is safe: only bytes that may be the beginning
 * of a mark are held back, and the white space next to marks, which belongs to the marks. Bytes
 * that look like a call but violate the syntax before the arguments have begun are passed on as
 * text, so nothing is lost. A call that violates the syntax within its arguments is left as far as
 * it was sent, and text continues after it. The result does not depend on how the bytes were
 * divided into pieces. Compute thread only. */
#ifndef QN_LLM_TOOLCALL_CALLS_H
#define QN_LLM_TOOLCALL_CALLS_H

#include "base/buf.h"
#include "grammar/calls_tools.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_thinking; /* how a family marks its reasoning: a row of calls_thinking.c */
struct qn_calling;  /* how a family writes tool calls: a row of calls_table.c */

struct qn_syntax {
    const struct qn_thinking *think; /* NULL: the model does not reason */
    const struct qn_calling *call;   /* never NULL; for an unknown syntax, JSON in common forms */
};

/* Finds the syntax for a chat template (`source`). has_token (MAY be NULL) tells whether the
 * vocabulary has a token of exactly that text. */
struct qn_syntax qn_syntax_find(const char *source,
                                bool (*has_token)(const void *ctx, const char *text),
                                const void *ctx);
const char *qn_syntax_calls(const struct qn_syntax *s); /* the row's name, for the log */
/* likewise; "none" if the model does not reason */
const char *qn_syntax_thinking(const struct qn_syntax *s);

/* Whether text, a control token's written form, is a mark that the parser must receive. */
bool qn_syntax_marks(const struct qn_syntax *s, const char *text);

/* Whether the end of the prompt begins the model's reasoning. */
bool qn_syntax_begun(const struct qn_syntax *s, const char *prompt, size_t n);

/* The marks before and after reasoning, for callers that write them; open and close MAY be NULL.
 * Returns false if the model does not reason or its marks are not a plain pair. */
bool qn_syntax_tags(const struct qn_syntax *s, const char **open, const char **close);

/* Appends the text with which the model would end its reasoning and begin its reply. free: the
 * reply is not constrained, so the text that the family writes before a reply is appended as well.
 * Returns false if the model does not reason. */
bool qn_syntax_ending(const struct qn_syntax *s, bool free, struct qn_buf *out);

struct qn_parse_config {
    struct qn_syntax syntax;
    const struct qn_tools *tools; /* borrowed; NULL: calls are passed on as text */
    bool thinking;                /* the prompt has begun the model's reasoning */
    bool reasoning_in_text;
    bool single_call; /* parsing ends after one call */
};

/* Whether parsing with this configuration can yield anything other than text. */
bool qn_parse_needed(const struct qn_parse_config *c);

struct qn_parse_sink {
    void *ctx;
    /* n bytes of text or reasoning that were at offset `at` of all bytes fed. They may end within a
     * UTF-8 character. */
    void (*text)(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at);
    /* The next piece of call number `call`. name (and id, which may be NULL) are set for the first
     * piece only; arguments consist of whole characters. */
    void (*call)(void *ctx, int64_t call, const char *id, const char *name, const char *arguments);
};

struct qn_parse;
struct qn_parse *qn_parse_new(const struct qn_parse_config *c, const struct qn_parse_sink *sink);
void qn_parse_free(struct qn_parse *p); /* NULL allowed */

/* Parses further bytes. */
void qn_parse_feed(struct qn_parse *p, const char *bytes, size_t n);
/* Ends the input; bytes that were held back are passed on as what they are without a
 * continuation. */
void qn_parse_end(struct qn_parse *p);
/* Ends the input because a limit was reached: a call that has begun with an unmistakable mark and
 * has not reached its arguments is left out instead of being passed on as text. */
void qn_parse_cut(struct qn_parse *p);

int64_t qn_parse_calls(const struct qn_parse *p); /* number of calls so far */
/* Whether a call has broken off within its arguments, which are then not complete JSON. Call it at
 * the end of the input. */
bool qn_parse_broke(const struct qn_parse *p);
bool qn_parse_over(const struct qn_parse *p); /* single_call is set and the call is complete */
/* Whether the next byte would be text of the reply or begin a call: the input is not within
 * reasoning, a call or a partial mark. */
bool qn_parse_in_text(const struct qn_parse *p);
/* How many of the last of these bytes, if they were fed next, would be text after the mark that
 * ends the reasoning and after the white space that belongs to the mark. */
size_t qn_parse_behind_mark(const struct qn_parse *p, const char *bytes, size_t n);
bool qn_parse_in_reasoning(
    const struct qn_parse *p); /* the last byte belonged to reasoning or to its mark */

#endif
