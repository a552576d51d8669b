/* What the files of JSON Schema share. json_schema.c: places, references, alternatives, rules;
 * json_schema_rewrite.c: conditions and negations as alternatives; json_schema_facts.c: what
 * several schemas ask for at once; json_schema_listed.c: values of enum and const; _string.c,
 * _number.c, _object.c, _array.c: values of one type; _apart.c: whether branches of oneOf exclude
 * each other; _check.c: whether a value is valid. */
#ifndef QN_GRAMMAR_JSON_SCHEMA_PRIVATE_H
#define QN_GRAMMAR_JSON_SCHEMA_PRIVATE_H

#include "base/json.h"
#include "grammar/json_schema.h"

#include <limits.h>
#include <math.h>

enum {
    QN_SCHEMA_PARTS_MAX = 256,       /* schemas that hold for one value at once */
    QN_SCHEMA_PROPERTIES_MAX = 4096, /* of one object */
    QN_SCHEMA_COUNTED_MAX = 20000,   /* properties times numbers of them that make a difference */
    QN_SCHEMA_VALUES_MAX = 65536,    /* of one enum */
    QN_SCHEMA_ANY_DEPTH = 12,        /* levels within a value that no schema describes */
    QN_SCHEMA_UNIQUE_MAX = 8,        /* values of an enum whose items must be unique */
    QN_SCHEMA_PATTERNS_MAX = 4       /* patternProperties of one object */
};

enum schema_type { /* bits */
                   TYPE_NULL = 1,
                   TYPE_BOOL = 2,
                   TYPE_OBJECT = 4,
                   TYPE_ARRAY = 8,
                   TYPE_STRING = 16,
                   TYPE_INTEGER = 32,  /* a number without fraction */
                   TYPE_FRACTION = 64, /* any other number */
                   TYPE_ANY = 127
};

enum { /* applicators of a part that have become alternatives already */
       DONE_ANY_OF = 1,
       DONE_ONE_OF = 2,
       DONE_NOT = 4,
       DONE_IF = 8,
       DONE_DEPENDENT_FIRST = 16 /* the first of them; at most 16 more */
};

/* One of the schemas that hold for a value. */
struct part {
    const struct qn_jref *ref; /* in the arena */
    unsigned done;
};

/* All of them: a conjunction. */
struct conj {
    struct part *v;
    size_t n;
};

struct job {
    uint32_t rule;
    struct conj all;
};

struct memo {
    struct conj all;
    uint32_t rule; /* + 1; 0: free */
};

struct js {
    struct qn_grammar *g;
    struct qn_error *e;
    qn_err err;
    const struct qn_jref *root;
    struct qn_json **aux; /* schemas made here */
    size_t n_aux;
    struct job *jobs; /* rules without a body yet */
    size_t n_jobs, cap_jobs, next_job;
    struct memo *memo;
    size_t memo_mask, n_memo;
    size_t work;             /* comparisons of branches so far */
    bool bare;               /* strings stand without quotes and escapes */
    struct listed_set *sets; /* of long enums, by the list's node: [sets_mask + 1] */
    size_t n_sets, sets_mask;
    uint64_t seed; /* of their hashes: values are foreign */
    /* Parts that all schemas use; NULL: not made yet */
    const struct qn_gx *string, *number, *integer, *comma, *space, *colon, *any;
    struct qn_dfa plain_string; /* one quoted string, any; n 0: not made yet */
    struct qn_dfa matcher;      /* js_matches' last pattern; n 0: none yet */
    const char *matcher_of;
};

/* What a conjunction asks for, keyword by keyword. */
struct facts {
    unsigned types;                   /* explicit ones */
    const struct qn_jref *no_integer; /* where integers are excluded, but no other numbers */
    bool has_enum;                    /* only listed values */
    double min, max;                  /* -INFINITY, INFINITY */
    bool above, below;                /* exclusive */
    bool has_multiple;
    double multiple[8];
    size_t n_multiple;
    uint32_t min_length, max_length; /* characters; QN_REPEAT_EVER */
    uint32_t min_items, max_items, min_properties, max_properties;
    bool unique;
    bool object_words, array_words, string_words, number_words; /* keywords about such values */
};

/* json_schema.c */
/* Of a schema that stays until js_end, which frees what was made and returns the error. */
void js_begin(struct js *js, struct qn_grammar *g, const struct qn_jref *root, struct qn_error *e);
/* Makes the rules that were asked for. */
void js_finish(struct js *js);
qn_err js_end(struct js *js);
/* Records the failure (the first one counts) at ref: "path: text". Returns false. */
bool js_fail(struct js *js, const struct qn_jref *ref, qn_err code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Takes steps from the budget; false after a failure, such as that there were too few. */
bool js_take(struct js *js, uint64_t steps);
/* A copy of the reference in the arena, and one to a member or item; NULL when there is none. */
const struct qn_jref *js_keep(struct js *js, const struct qn_jref *ref);
const struct qn_jref *js_get(struct js *js, const struct qn_jref *ref, const char *key);
const struct qn_jref *js_item(struct js *js, const struct qn_jref *ref, size_t index);
/* A schema of our own, NULL when it is too much. */
const struct qn_jref *js_aux(struct js *js, const char *json, size_t n);
/* $ref's target; NULL after js_fail. */
const struct qn_jref *js_resolve(struct js *js, const struct qn_jref *schema, const char *ref);
void conj_add(struct js *js, struct conj *c, const struct qn_jref *ref, unsigned done);
struct conj conj_copy(struct js *js, const struct conj *c);
/* A copy in which more is done of one part. */
struct conj conj_copy_done(struct js *js, const struct conj *c, size_t part, unsigned done);
/* With what $ref and allOf bring; false when one of them is "false", or after js_fail. */
bool js_flatten(struct js *js, const struct conj *in, struct conj *out);
/* The rule for all these schemas at once. */
const struct qn_gx *js_rule(struct js *js, const struct conj *c);
const struct qn_gx *js_any(struct js *js); /* any value */
const struct qn_gx *js_dfa(struct js *js, struct qn_dfa *d, qn_err err, const struct qn_jref *ref,
                           const struct qn_error *why);

/* json_schema_rewrite.c: the alternatives that a part's not, if, dependent... stand for are added
 * to out; false when it has none of these left. */
bool js_rewrite(struct js *js, const struct conj *c, struct conj **out, size_t *n);

/* json_schema_facts.c */
/* The types that "type" of this schema names; all of them when it is not there. */
bool js_type_word(struct js *js, const struct qn_jref *s, unsigned *types);
bool js_facts(struct js *js, const struct conj *c, struct facts *out);
/* Types that values are made of, where the schema leaves them open: those its keywords are about.
 */
unsigned js_types_made(const struct facts *f);

/* json_schema_listed.c */
/* The values of enum or const that satisfy everything, in a list that the caller frees; NULL after
 * a failure. */
bool js_listed(struct js *js, const struct conj *c, const struct qn_jref ***values, size_t *n);
/* Whether the list, an array, has an item that equals the value. */
bool js_in_list(struct js *js, const struct qn_jref *list, const struct qn_jref *value);
bool js_equal(struct js *js, const struct qn_jref *a, const struct qn_jref *b);
/* The texts of these values, one of which must come. */
const struct qn_gx *js_texts(struct js *js, const struct qn_jref *const *values, size_t n);
void js_sets_free(struct js *js);

/* json_schema_string.c */
const struct qn_gx *js_string(struct js *js, const struct conj *c, const struct facts *f);
/* Quoted texts that satisfy the conjunction. formats: whether "format" counts. */
qn_err js_string_dfa(struct js *js, const struct conj *c, const struct facts *f, bool formats,
                     struct qn_dfa *out, struct qn_error *e);
/* How the characters of strings are written. */
enum qn_gx_encoding js_encoding(const struct js *js);
/* A quote, what the automaton accepts, a quote. Takes *inner. */
qn_err js_quote_dfa(struct js *js, struct qn_dfa *inner, struct qn_dfa *out, struct qn_error *e);
/* One string, quoted, as it is written here. */
void js_quote(const char *s, struct qn_buf *out);
bool js_known_format(const char *name, const char **pattern);

/* json_schema_number.c */
const struct qn_gx *js_number(struct js *js, const struct conj *c, const struct facts *f,
                              bool integer);

/* json_schema_object.c, json_schema_array.c */
const struct qn_gx *js_object(struct js *js, const struct conj *c, const struct facts *f);
const struct qn_gx *js_array(struct js *js, const struct conj *c, const struct facts *f);
/* What holds for the property's value: the schemas of all parts that speak of it. */
bool js_property(struct js *js, const struct conj *c, const char *name, struct conj *out);
bool js_required(struct js *js, const struct conj *c, const char *name);
/* Properties that are not named may be made. */
bool js_makes_more(struct js *js, const struct conj *c);
/* Every name that the parts list or require, once. *names belongs to the caller (free()), the texts
 * to the schema; NULL after a failure. */
bool js_names(struct js *js, const struct conj *c, const char ***names, size_t *n);
bool js_matches(struct js *js, const struct qn_jref *at, const char *pattern, const char *text);
/* What holds for the item at this place; SIZE_MAX: for all behind the listed ones. */
bool js_item_parts(struct js *js, const struct conj *c, size_t index, struct conj *out);

/* json_schema_apart.c: no value made for a is valid by b; where that needs a property to be there
 * or not, the schema that says so is added to a. */
bool js_apart(struct js *js, struct conj *a, const struct conj *b);

/* json_schema_check.c */
enum verdict { VALID, INVALID, UNKNOWN };
enum verdict js_check(struct js *js, const struct qn_jref *schema, const struct qn_jref *value,
                      int depth);

#endif
