/* From the bytes that a model says to text, reasoning and calls of tools.
 *
 * Every family of models marks its calls and its reasoning in its own way; a syntax is found by
 * what a model's chat template says (calls_table.c has a row for each). The bytes come in pieces of
 * any size and are passed on as early as is safe: only what may still become a mark is held back,
 * and the white space beside marks, which belongs to them. What looks like a call but breaks the
 * syntax before its arguments have begun is text: nothing is lost. A call that breaks off within
 * its arguments stays as it is, and text goes on behind it. How the bytes were cut never changes
 * what comes out. Compute thread only. */
#ifndef QN_LLM_TOOLCALL_CALLS_H
#define QN_LLM_TOOLCALL_CALLS_H

#include "base/buf.h"
#include "grammar/calls_tools.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_thinking; /* how a family marks its reasoning: a row of calls_table.c */
struct qn_calling;  /* how it calls tools */

struct qn_syntax {
    const struct qn_thinking *think; /* NULL: it does not reason */
    const struct qn_calling *call;   /* never NULL: JSON in common forms where nothing is known */
};

/* source: the chat template. has_token (MAY be NULL) says whether the vocabulary has a token of
 * exactly that text. */
struct qn_syntax qn_syntax_find(const char *source,
                                bool (*has_token)(const void *ctx, const char *text),
                                const void *ctx);
const char *qn_syntax_calls(const struct qn_syntax *s);    /* the row's name, for the log */
const char *qn_syntax_thinking(const struct qn_syntax *s); /* "none" */

/* Whether text, a control token's written form, is a mark that the parser has to see. */
bool qn_syntax_marks(const struct qn_syntax *s, const char *text);

/* Whether a prompt that ends so has begun the model's reasoning. */
bool qn_syntax_begun(const struct qn_syntax *s, const char *prompt, size_t n);

/* The marks around reasoning, for who wants to write them; either MAY be NULL. False: it has none,
 * or they are no plain pair. */
bool qn_syntax_tags(const struct qn_syntax *s, const char **open, const char **close);

/* Appends what a model says to end its reasoning and go on to its answer. free: nothing else will
 * see to it that an answer follows. False: it does not reason. */
bool qn_syntax_ending(const struct qn_syntax *s, bool free, struct qn_buf *out);

struct qn_parse_config {
    struct qn_syntax syntax;
    const struct qn_tools *tools; /* lent; NULL: calls are text */
    bool thinking;                /* the prompt has begun its reasoning */
    bool reasoning_in_text;
    bool single_call; /* it is over after one call */
};

/* True when reading with this configuration can find anything but text. */
bool qn_parse_needed(const struct qn_parse_config *c);

struct qn_parse_sink {
    void *ctx;
    /* n bytes of text or reasoning, which stood at offset `at` of all that came. Not always whole
     * characters. */
    void (*text)(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at);
    /* The next piece of call number `call`: name (and id, or NULL) with the first piece only;
     * arguments are whole characters. */
    void (*call)(void *ctx, int64_t call, const char *id, const char *name, const char *arguments);
};

struct qn_parse;
struct qn_parse *qn_parse_new(const struct qn_parse_config *c, const struct qn_parse_sink *sink);
void qn_parse_free(struct qn_parse *p); /* NULL allowed */

/* More bytes. */
void qn_parse_feed(struct qn_parse *p, const char *bytes, size_t n);
/* Nothing follows: what was held back is what it was. */
void qn_parse_end(struct qn_parse *p);

int64_t qn_parse_calls(const struct qn_parse *p); /* calls so far */
bool qn_parse_over(const struct qn_parse *p);     /* single_call, and it has been made */
/* The next byte would be the answer's text or begin a call: no reasoning, no call, no half mark. */
bool qn_parse_in_text(const struct qn_parse *p);
/* How many of the last of these bytes, if they came next, would be text behind the mark that ends
 * the reasoning, and behind the white space that goes with the mark. */
size_t qn_parse_behind_mark(const struct qn_parse *p, const char *bytes, size_t n);
bool qn_parse_in_reasoning(
    const struct qn_parse *p); /* the last byte was of reasoning or its mark */

#endif
