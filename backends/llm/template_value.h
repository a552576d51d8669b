/* The values a chat template computes with.
 *
 * A value is small and passed by copy; strings, lists and dictionaries point into the rendering's
 * arena, the compiled template or the caller's JSON document, all of which outlive it. Lists are
 * never changed after they were built; of the dictionaries only a namespace is.
 *
 * Numbers are doubles with a tag, because the reference interpreter runs on JavaScript: an integer
 * is exact up to 2^53 and prints without a point, a float prints with one. */
#ifndef QN_LLM_TEMPLATE_VALUE_H
#define QN_LLM_TEMPLATE_VALUE_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_trun;
struct qn_tnode;
struct qn_tfunc;

enum qn_ttype {
    QN_T_ABSENT, /* the first item of an empty list: may be assigned, anything else fails */
    QN_T_UNDEFINED,
    QN_T_NULL,
    QN_T_BOOL,
    QN_T_INT,
    QN_T_FLOAT,
    QN_T_STRING,
    QN_T_LIST,
    QN_T_TUPLE,
    QN_T_DICT,
    QN_T_KWARGS, /* the keyword arguments of a call, as a built-in function sees them: its last
                    argument */
    QN_T_NAMESPACE,
    QN_T_FUNCTION,
    QN_T_TYPES
};

/* Sets of types, for tables. */
#define QN_T_BIT(type) (1u << (type))
enum {
    QN_T_LISTS = QN_T_BIT(QN_T_LIST) | QN_T_BIT(QN_T_TUPLE),
    QN_T_NUMBERS = QN_T_BIT(QN_T_INT) | QN_T_BIT(QN_T_FLOAT),
    QN_T_DICTS = QN_T_BIT(QN_T_DICT) | QN_T_BIT(QN_T_KWARGS),
    QN_T_NOTHING = QN_T_BIT(QN_T_UNDEFINED) | QN_T_BIT(QN_T_NULL),
    QN_T_ANY = QN_T_BIT(QN_T_TYPES) - 2 /* everything but QN_T_ABSENT */
};

struct qn_tval {
    enum qn_ttype type;
    size_t n; /* bytes of a string */
    union {
        bool b;
        double num;
        const char *s; /* UTF-8, not NUL-terminated */
        struct qn_tlist *list;
        struct qn_tdict *dict;
        struct qn_tfunc *fn;
    };
};

struct qn_tlist {
    struct qn_tval *items;
    size_t n, cap;
};

struct qn_tmember {
    const char *key;
    size_t n;
    struct qn_tval val;
};

struct qn_tdict {
    struct qn_tmember *members; /* in the order of insertion */
    size_t n, cap;
};

/* How a piece of the template ended. BREAK and CONTINUE travel up to the loop they belong to, FAIL
 * up to qn_template_render; the message is in the rendering's error record by then. */
enum qn_tflow { QN_T_OK, QN_T_BREAK, QN_T_CONTINUE, QN_T_FAIL };

#define QN_T_TRY(call)                                                                             \
    do {                                                                                           \
        enum qn_tflow flow_ = (call);                                                              \
        if (flow_ != QN_T_OK)                                                                      \
            return flow_;                                                                          \
    } while (0)

/* Arguments as a function or filter receives them: positional, then one QN_T_KWARGS if any were
 * named. */
struct qn_targs {
    const struct qn_tval *v;
    size_t n;
};

typedef enum qn_tflow (*qn_tcall)(struct qn_trun *run, const struct qn_tfunc *fn,
                                  const struct qn_targs *args, struct qn_tval *out);

struct qn_tfunc {
    qn_tcall call;
    struct qn_tval self;         /* what a method is bound to */
    const struct qn_tnode *node; /* the macro or call block */
    size_t scope;                /* where the call block stands: see qn_trun_rewind */
};

static inline bool qn_tval_is(const struct qn_tval *v, unsigned types)
{
    return (QN_T_BIT(v->type) & types) != 0;
}

static inline struct qn_tval qn_tval_undefined(void)
{
    return (struct qn_tval){.type = QN_T_UNDEFINED};
}

static inline struct qn_tval qn_tval_null(void)
{
    return (struct qn_tval){.type = QN_T_NULL};
}

static inline struct qn_tval qn_tval_bool(bool b)
{
    return (struct qn_tval){.type = QN_T_BOOL, .b = b};
}

static inline struct qn_tval qn_tval_int(double num)
{
    return (struct qn_tval){.type = QN_T_INT, .num = num};
}

static inline struct qn_tval qn_tval_float(double num)
{
    return (struct qn_tval){.type = QN_T_FLOAT, .num = num};
}

static inline struct qn_tval qn_tval_string(const char *s, size_t n)
{
    return (struct qn_tval){.type = QN_T_STRING, .n = n, .s = s};
}

static inline struct qn_tval qn_tval_list(struct qn_tlist *list)
{
    return (struct qn_tval){.type = QN_T_LIST, .list = list};
}

static inline struct qn_tval qn_tval_dict(enum qn_ttype type, struct qn_tdict *dict)
{
    return (struct qn_tval){.type = type, .dict = dict};
}

/* An integer when num has no fraction, else a float: how numbers enter from JSON and JavaScript. */
struct qn_tval qn_tval_number(double num);

bool qn_tval_str_eq(const struct qn_tval *v, const char *s); /* v is a string with these bytes */
const char *qn_ttype_name(enum qn_ttype type);               /* "a string", "undefined", ... */

/* What `if` sees: empty strings, lists and dictionaries, 0, NaN, null and undefined are false. */
bool qn_tval_truth(const struct qn_tval *v);
/* What JavaScript sees: as above, but lists and dictionaries are always true. */
bool qn_tval_js_truth(const struct qn_tval *v);

/* `==` of the language: JavaScript's loose equality. Lists and dictionaries are equal when they are
 * the same one; against a string or number they compare by their text. */
enum qn_tflow qn_tval_loose_eq(struct qn_trun *run, const struct qn_tval *a,
                               const struct qn_tval *b, bool *out);
/* Equality of `in`, `equalto` and `unique`: never converts. */
bool qn_tval_strict_eq(const struct qn_tval *a, const struct qn_tval *b);
/* Counts the work of comparing a value with `count` others. */
enum qn_tflow qn_tval_charge_search(struct qn_trun *run, const struct qn_tval *v, size_t count);

/* Order for sort and dictsort: *out is negative, 0 or positive; fails for values without order. */
enum qn_tflow qn_tval_compare(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                              bool case_sensitive, int *out);

/* Building; every growth is charged to the rendering's memory. */
enum qn_tflow qn_tlist_new(struct qn_trun *run, size_t cap, struct qn_tlist **out);
enum qn_tflow qn_tlist_push(struct qn_trun *run, struct qn_tlist *list, const struct qn_tval *v);
enum qn_tflow qn_tdict_new(struct qn_trun *run, size_t cap, struct qn_tdict **out);
/* Replaces the member of this name or appends it. */
enum qn_tflow qn_tdict_set(struct qn_trun *run, struct qn_tdict *dict, const char *key, size_t n,
                           const struct qn_tval *v);
/* NULL when there is none. Counts the search as work done. */
struct qn_tval *qn_tdict_find(struct qn_trun *run, const struct qn_tdict *dict, const char *key,
                              size_t n);

/* The value of a JSON document; strings stay lent by it, members keep its order. */
enum qn_tflow qn_tval_from_json(struct qn_trun *run, const struct qn_jref *r, struct qn_tval *out);

#endif
