/* Shared by the files of the parser: calls.c owns the stream, calls_<form>.c read and describe one
 * way of writing calls each, calls_table.c says which family uses which.
 *
 * A form is a table of phases over a state of its own. A phase reads what it can decide on from
 * p->in at p->pos and says which phase is next. It never decides on bytes that have not come,
 * unless p->final says that none will. The same description of a family (`how`) tells a form what
 * to read and, for calls_force.h, what to write. */
#ifndef QN_LLM_TOOLCALL_CALLS_PARSE_H
#define QN_LLM_TOOLCALL_CALLS_PARSE_H

#include "grammar/json_scan.h"
#include "llm/toolcall/calls.h"

#include "base/buf.h"
#include "contract/event.h"

enum {
    QN_PARSE_NAME_MAX = 256,  /* bytes of a tool's name */
    QN_PARSE_HEAD_MAX = 1024, /* bytes of a mark's surroundings that are looked through */
    QN_PARSE_HELD_MAX = 64 * 1024 * 1024,             /* bytes held back */
    QN_PARSE_STATE_BYTES = 2 * QN_JSON_DEPTH_MAX + 64 /* of a form's state */
};

enum qn_step {
    QN_STEP_NEXT, /* the phase in p->phase goes on */
    QN_STEP_MORE, /* more bytes are needed */
    QN_STEP_DONE, /* the calls have ended: text goes on at pos */
    QN_STEP_BAD   /* it is no call: see calls.h */
};

struct qn_parse;
struct qn_opener;
struct qn_writing; /* calls_force.h */

/* Where a phase begins to read. */
enum qn_phase_at {
    QN_AT_WORD, /* at a byte that is no white space; white space before it is skipped */
    QN_AT_BYTE, /* at any byte */
    QN_AT_ANY   /* even where no byte has come: c is then -1 */
};

struct qn_phase {
    enum qn_step (*read)(struct qn_parse *p, int c); /* c: the byte at p->pos, not yet taken */
    enum qn_phase_at at;
};

struct qn_form {
    const struct qn_phase *phases; /* a call begins with the first */
    /* MAY: how the form writes calls behind the opener o. Compute and preparing threads. */
    void (*write)(const struct qn_opener *o, struct qn_writing *out);
};

enum {
    QN_OPEN_START = 1,   /* only where the answer, or more after reasoning or a call, begins */
    QN_OPEN_KEEP = 2,    /* its text is the form's */
    QN_OPEN_KNOWN = 4,   /* only for tools that there are: the mark alone says too little */
    QN_OPEN_THROUGH = 8, /* also ends reasoning */
    QN_OPEN_DROP = 16    /* it only has to go: no form follows */
};

struct qn_opener {
    const char *text; /* NULL: end of the list */
    const struct qn_form *form;
    const void *how; /* the form's own description */
    unsigned flags;
};

/* Rows of lists of openers: the last one, and marks that only have to go. */
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
    const char *signs[4];            /* the template has one of these */
    const char *open, *close;        /* open NULL: openers do it */
    const char *close_too;           /* MAY: ends it as well, and is seen again as text is */
    const char *then, *answer;       /* MAY: what follows close in any case, and before text */
    bool anywhere;                   /* open counts within text, too */
    bool words;                      /* its marks are sentences: nobody else writes them */
    const struct qn_opener *openers; /* MAY */
    const char *const *tokens;       /* MAY: further control tokens, NULL at the end */
};

struct qn_calling {
    const char *name;
    const char *signs[4]; /* the template has all of these */
    const char *lacks[3]; /* and none of these */
    const char *token;    /* MAY: or, where no template says more, the vocabulary has this token */
    const struct qn_opener *openers;
    const char *const *tokens;      /* MAY: control tokens beyond the openers, NULL at the end */
    const struct qn_opener *writes; /* how a forced call is written: an opener and its form */
};

extern const struct qn_thinking *const qn_thinkings[]; /* NULL at the end; the first that fits */
extern const struct qn_calling *const qn_callings[];   /* the last one fits always */

enum qn_parse_state { QN_IN_TEXT, QN_IN_REASONING, QN_IN_CALLS };

enum { QN_PARSE_OPENERS_MAX = 24 };

struct qn_parse {
    struct qn_parse_config c;
    struct qn_parse_sink sink;
    const struct qn_opener *openers[QN_PARSE_OPENERS_MAX];
    size_t n_openers;
    bool text_first[256], think_first[256]; /* bytes that a mark begins with */

    struct qn_buf in; /* bytes that are not done with */
    uint64_t base;    /* offset of in.data[0] in all that came */
    size_t sent, pos; /* of in: passed on; read */
    size_t mark;      /* of in: what is text if the form breaks, or SIZE_MAX */
    size_t opened;    /* of in: where the opener stood */
    bool final;       /* nothing follows */
    bool over;
    bool fresh;      /* nothing but white space since the beginning, reasoning or a call */
    bool skip_space; /* white space that comes next belongs to a mark */
    enum qn_parse_state state;
    enum qn_parse_state after; /* the form: where to go when it is done */

    /* The form's. Cleared when one begins. */
    const struct qn_opener *opener;
    const struct qn_form *form; /* the opener's, until it hands over */
    const void *how;
    int phase; /* of form->phases */
    bool any;  /* a call has ended */
    _Alignas(max_align_t) unsigned char form_state[QN_PARSE_STATE_BYTES];
    struct qn_json_scan scan; /* of the JSON value being read */
    struct qn_buf name, id;   /* of the call being read */
    struct qn_buf key, value; /* what the form has read and not passed on */

    /* The call that is being made. */
    struct qn_buf args;  /* not sent yet */
    struct qn_buf clean; /* scratch */
    bool committed;      /* its arguments have begun: it has been sent */
    bool half;           /* something of a call has been read that is not sent */
    int64_t calls;
};

/* ---- What forms are made of ---- */

enum qn_word { QN_WORD_NO, QN_WORD_YES, QN_WORD_MORE };
/* Takes the word if it stands at pos. MORE: it may still come. */
enum qn_word qn_parse_word(struct qn_parse *p, const char *word);
enum qn_word qn_parse_peek(const struct qn_parse *p, size_t from, const char *word);
/* JSON's white space. */
bool qn_parse_is_space(int c);
/* Skips white space; the next byte, or -1 when it has not come. */
int qn_parse_next(struct qn_parse *p);
int qn_parse_byte(const struct qn_parse *p); /* the byte at pos, or -1 */

/* The form's state as a struct of its own, all zero at first. */
#define QN_PARSE_STATE(p, type)                                                                    \
    ((void)sizeof(char[sizeof(type) <= QN_PARSE_STATE_BYTES ? 1 : -1]),                            \
     (type *)(void *)(p)->form_state)

/* The phase is next. */
enum qn_step qn_parse_go(struct qn_parse *p, int phase);
/* The phase is next, n bytes on. */
enum qn_step qn_parse_skip(struct qn_parse *p, size_t n, int phase);
/* What a word that has to be there means: the phase is next behind it. */
enum qn_step qn_parse_expect(struct qn_parse *p, const char *word, int phase);
/* Another form reads on from pos, in its first phase. */
enum qn_step qn_parse_hand_over(struct qn_parse *p, const struct qn_form *form, const void *how);

/* The name and id buffers say whom to call: false when that cannot be a tool. */
bool qn_parse_callable(const struct qn_parse *p);
/* Bytes of the arguments, which the first time sends the call. */
void qn_parse_arguments(struct qn_parse *p, const char *bytes, size_t n);
/* An object of JSON at pos becomes the arguments. scan is zero at first. */
enum qn_step qn_parse_object(struct qn_parse *p);
/* The call is complete; without arguments they are {}. */
void qn_parse_called(struct qn_parse *p);

/* The text in a JSON string (with its quotes) replaces out; false when it is none. */
bool qn_parse_unquote(const struct qn_buf *json, struct qn_buf *out);
/* Appends the n bytes of s as a JSON string. */
void qn_parse_quote(struct qn_buf *out, const char *s, size_t n);

#endif
