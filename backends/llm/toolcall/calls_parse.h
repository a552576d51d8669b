/* Shared by the files of the parser: calls.c implements the stream, each calls_<form>.c parses and
 * writes one form of calls, and calls_table.c tells which family uses which form.
 *
 * A form is a table of phases over a state of its own. A phase reads from p->in at p->pos as much
 * as it can decide on and returns which phase is next. It never assumes anything about bytes that
 * have not arrived, unless p->final is set. The description of a family (`how`) tells a form both
 * what to parse and, for calls_force.h, what to write. */
#ifndef QN_LLM_TOOLCALL_CALLS_PARSE_H
#define QN_LLM_TOOLCALL_CALLS_PARSE_H

#include "grammar/json_scan.h"
#include "llm/toolcall/calls.h"

#include "base/buf.h"
#include "contract/event.h"

enum {
    QN_PARSE_NAME_MAX = 256,                          /* length of a tool's name in bytes */
    QN_PARSE_HEAD_MAX = 1024,                         /* bytes around a mark that are searched */
    QN_PARSE_HELD_MAX = 64 * 1024 * 1024,             /* bytes held back */
    QN_PARSE_STATE_BYTES = 2 * QN_JSON_DEPTH_MAX + 64 /* size of a form's state */
};

enum qn_step {
    QN_STEP_NEXT, /* continue with the phase in p->phase */
    QN_STEP_MORE, /* more bytes are needed */
    QN_STEP_DONE, /* the calls have ended; text continues at pos */
    QN_STEP_BAD   /* the bytes are not a call: see calls.h */
};

struct qn_parse;
struct qn_opener;
struct qn_writing; /* calls_force.h */

/* Where a phase starts reading. */
enum qn_phase_at {
    QN_AT_WORD, /* at the next byte that is not white space */
    QN_AT_BYTE, /* at any byte */
    QN_AT_ANY   /* also when no byte is available; c is then -1 */
};

struct qn_phase {
    enum qn_step (*read)(struct qn_parse *p, int c); /* c: the byte at p->pos, which has not been
                                                        consumed */
    enum qn_phase_at at;
};

struct qn_form {
    const struct qn_phase *phases; /* the first phase begins a call */
    /* MAY: describes how the form writes calls after the opener o. Compute and preparing
     * threads. */
    void (*write)(const struct qn_opener *o, struct qn_writing *out);
};

enum {
    QN_OPEN_START = 1,   /* only at the start of the reply, or of the text after reasoning or a
                            call */
    QN_OPEN_KEEP = 2,    /* the opener's text is part of the form's syntax and is not consumed */
    QN_OPEN_KNOWN = 4,   /* only for calls of existing tools, because the mark also occurs in
                            text */
    QN_OPEN_THROUGH = 8, /* also ends reasoning */
    QN_OPEN_DROP = 16    /* the mark is dropped from the output; no form follows */
};

struct qn_opener {
    const char *text; /* NULL: end of the list */
    const struct qn_form *form;
    const void *how; /* the form's description of the family */
    unsigned flags;
};

/* Rows for lists of openers: the end of the list, and marks that are only dropped. */
#define QN_OPENERS_END                                                                             \
    {                                                                                              \
        NULL, NULL, NULL, 0                                                                        \
    }
#define QN_OPENER_DROP(text)                                                                       \
    {                                                                                              \
        text, NULL, NULL, QN_OPEN_DROP                                                             \
    }
#define QN_OPENER_DROP_FIRST(text)                                                                 \
    {                                                                                              \
        text, NULL, NULL, QN_OPEN_DROP | QN_OPEN_START                                             \
    }

struct qn_thinking {
    const char *name;
    const char *signs[4];            /* the template contains one of these */
    const char *open, *close;        /* open NULL: `openers` begin the reasoning */
    const char *close_too;           /* optional: a second mark that ends the reasoning; it is not
                                        consumed and is parsed again as text */
    const char *then, *answer;       /* optional: text that always follows close, and text before
                                        the reply */
    bool anywhere;                   /* open is recognised within text too */
    bool words;                      /* the marks are sentences, which only the model itself
                                        writes */
    const struct qn_opener *openers; /* optional */
    const char *const *tokens;       /* optional: further control tokens, terminated by NULL */
};

struct qn_calling {
    const char *name;
    const char *signs[4]; /* the template contains all of these */
    const char *lacks[3]; /* the template contains none of these */
    const char *token;    /* optional: identifies the family by a token of the vocabulary when the
                             template fits no family */
    const struct qn_opener *openers;
    const char *const *tokens;      /* optional: control tokens in addition to the openers,
                                       terminated by NULL */
    const struct qn_opener *writes; /* the opener and its form with which a forced call is
                                       written */
};

extern const struct qn_thinking *const qn_thinkings[]; /* terminated by NULL; the first row that
                                                          fits is used */
extern const struct qn_calling *const qn_callings[];   /* terminated by NULL; the last row always
                                                          fits */

enum qn_parse_state { QN_IN_TEXT, QN_IN_REASONING, QN_IN_CALLS };

enum { QN_PARSE_OPENERS_MAX = 24 };

struct qn_parse {
    struct qn_parse_config c;
    struct qn_parse_sink sink;
    const struct qn_opener *openers[QN_PARSE_OPENERS_MAX];
    size_t n_openers;
    bool text_first[256], think_first[256]; /* first bytes of the marks */

    struct qn_buf in; /* bytes that are still needed */
    uint64_t base;    /* offset of in.data[0] in all bytes fed */
    size_t sent, pos; /* offsets in `in`: passed on up to sent, read up to pos */
    size_t mark;      /* offset in `in` from which the bytes are text if the form fails, or
                         SIZE_MAX */
    size_t opened;    /* offset in `in` of the opener */
    bool final;       /* no further bytes will arrive */
    bool broke;       /* a call has broken off within its arguments */
    bool over;
    bool fresh;      /* only white space since the start, the end of reasoning or the end of a
                        call */
    bool skip_space; /* white space at the current position belongs to a mark */
    enum qn_parse_state state;
    enum qn_parse_state after; /* the state to enter when the form is done */

    /* State of the current form; reset when a form begins. */
    const struct qn_opener *opener;
    const struct qn_form *form; /* the opener's form, or the form that took over from it */
    const void *how;
    int phase; /* index in form->phases */
    bool any;  /* at least one call is complete */
    _Alignas(max_align_t) unsigned char form_state[QN_PARSE_STATE_BYTES];
    struct qn_json_scan scan; /* scanner of the current JSON value */
    struct qn_buf name, id;   /* name and id of the current call */
    struct qn_buf key, value; /* bytes that the form has read and not passed on */

    /* The current call. */
    struct qn_buf args;  /* arguments that have not been sent */
    struct qn_buf clean; /* scratch */
    bool committed;      /* the arguments have begun, so the call has been sent */
    bool half;           /* a part of a call has been read that has not been sent */
    int64_t calls;
};

/* ---- Functions for the forms ---- */

enum qn_word { QN_WORD_NO, QN_WORD_YES, QN_WORD_MORE };
/* Consumes the word if it is at pos. MORE: more bytes are needed to decide. */
enum qn_word qn_parse_word(struct qn_parse *p, const char *word);
enum qn_word qn_parse_peek(const struct qn_parse *p, size_t from, const char *word);
/* White space as defined by JSON. */
bool qn_parse_is_space(int c);
/* Skips white space; returns the next byte, or -1 when none has arrived. */
int qn_parse_next(struct qn_parse *p);
int qn_parse_byte(const struct qn_parse *p); /* the byte at pos, or -1 */

/* The form's state as its own struct; all zero when the form begins. */
#define QN_PARSE_STATE(p, type)                                                                    \
    ((void)sizeof(char[sizeof(type) <= QN_PARSE_STATE_BYTES ? 1 : -1]),                            \
     (type *)(void *)(p)->form_state)

/* Continues with the phase. */
enum qn_step qn_parse_go(struct qn_parse *p, int phase);
/* Consumes n bytes and continues with the phase. */
enum qn_step qn_parse_skip(struct qn_parse *p, size_t n, int phase);
/* Consumes a word that must be at pos and continues with the phase. */
enum qn_step qn_parse_expect(struct qn_parse *p, const char *word, int phase);
/* Another form continues at pos in its first phase. */
enum qn_step qn_parse_hand_over(struct qn_parse *p, const struct qn_form *form, const void *how);

/* Whether the name and id buffers identify a tool that can be called. */
bool qn_parse_callable(const struct qn_parse *p);
/* Appends bytes of the arguments. The first call of this function sends the tool call's name. */
void qn_parse_arguments(struct qn_parse *p, const char *bytes, size_t n);
/* Parses a JSON object at pos as the arguments. p->scan must be zero at the start. */
enum qn_step qn_parse_object(struct qn_parse *p);
/* Completes the call; if there were no arguments they are {}. */
void qn_parse_called(struct qn_parse *p);

/* Replaces out by the text of a JSON string (given with its quotes); false when json is not a
 * string. */
bool qn_parse_unquote(const struct qn_buf *json, struct qn_buf *out);
/* Appends the n bytes of s as a JSON string. */
void qn_parse_quote(struct qn_buf *out, const char *s, size_t n);

#endif
