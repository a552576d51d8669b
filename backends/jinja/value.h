/* The values that a chat template works with: the Python types that jinja2 can reach.
 *
 * A value is small and copied; the data that it points to belongs to the rendering's arena, the
 * compiled template or the caller's JSON document, all of which outlive the value. */
#ifndef QN_JINJA_VALUE_H
#define QN_JINJA_VALUE_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct qn_trun;
struct qn_tnode;
struct qn_tframe;

enum qn_ttype {
    QN_T_MISSING, /* a variable without a value, or an omitted argument */
    QN_T_UNDEFINED,
    QN_T_NONE,
    QN_T_BOOL,
    QN_T_INT,
    QN_T_BIG, /* an integer of more than 64 bits */
    QN_T_FLOAT,
    QN_T_STRING,
    QN_T_LIST,
    QN_T_TUPLE,
    QN_T_DICT,
    QN_T_VIEW, /* the result of a dictionary's keys(), values() or items() */
    QN_T_RANGE,
    QN_T_ITER, /* a generator; can be iterated once */
    QN_T_NAMESPACE,
    QN_T_LOOP,
    QN_T_MACRO,
    QN_T_FUNCTION, /* built-in functions, classes and bound methods */
    QN_T_CYCLER,
    QN_T_JOINER,
    QN_T_TYPES
};

/* Sets of types, for tables. */
#define QN_T_BIT(type) (1u << (type))
enum {
    QN_T_LISTS = QN_T_BIT(QN_T_LIST) | QN_T_BIT(QN_T_TUPLE),
    QN_T_INTEGERS = QN_T_BIT(QN_T_BOOL) | QN_T_BIT(QN_T_INT) | QN_T_BIT(QN_T_BIG),
    QN_T_NUMBERS = QN_T_INTEGERS | QN_T_BIT(QN_T_FLOAT)
};

/* `kind` of a value: the subtype of a string, tuple, view or undefined value. */
enum {
    QN_T_PLAIN,
    QN_T_MARKUP, /* a string that is already HTML */
    QN_T_GROUP,  /* a tuple made by groupby; has .grouper and .list */
    QN_T_KEYS,
    QN_T_VALUES,
    QN_T_ITEMS,
    QN_T_NO_NAME,      /* undefined: s is the variable's name */
    QN_T_NO_ATTRIBUTE, /* undefined: s is the attribute's name, `of` is the object's type */
    QN_T_NO_ELEMENT,   /* undefined: s shows the key, `of` is the object's type */
    QN_T_HINT,         /* undefined: s is the message */
    QN_T_UNSAFE        /* undefined: the sandbox hides attribute s */
};

struct qn_tval {
    uint8_t type; /* enum qn_ttype */
    uint8_t kind;
    uint8_t of; /* enum qn_ttype */
    size_t n;   /* length of s in bytes */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s; /* UTF-8, not NUL-terminated */
        const struct qn_tbig *big;
        struct qn_tlist *list;
        struct qn_tdict *dict; /* also for views and namespaces */
        struct qn_trange *range;
        struct qn_titer *iter;
        struct qn_tloop *loop;
        struct qn_tmacro *macro;
        struct qn_tfunc *fn;
        struct qn_tcycler *cycler;
        struct qn_tjoiner *joiner;
    };
};

struct qn_tlist {
    struct qn_tval *items;
    size_t n, cap;
};

struct qn_tmember {
    struct qn_tval key, val;
    uint64_t hash;
};

struct qn_tdict {
    struct qn_tmember *members; /* in the order of insertion */
    size_t n, cap;
    uint32_t *index; /* hash table with open addressing: member number + 1; NULL while there are few
                        members */
    size_t index_n;  /* a power of two */
};

struct qn_trange {
    int64_t start, stop, step;
    size_t n;
};

struct qn_tcycler {
    struct qn_tlist *items;
    size_t at;
};

struct qn_tjoiner {
    struct qn_tval sep;
    bool used;
};

/* How the execution of a node ended. BREAK and CONTINUE are passed up to the loop that they belong
 * to, FAIL to qn_template_render, with the message already in the rendering's error record. */
enum qn_tflow { QN_T_OK, QN_T_BREAK, QN_T_CONTINUE, QN_T_FAIL };

#define QN_T_TRY(call)                                                                             \
    do {                                                                                           \
        enum qn_tflow flow_ = (call);                                                              \
        if (flow_ != QN_T_OK)                                                                      \
            return flow_;                                                                          \
    } while (0)

/* Arguments of a call: positional and named ones (named: keys are strings; NULL: none). */
struct qn_targs {
    struct qn_tval *v;
    size_t n;
    struct qn_tdict *named;
};

typedef enum qn_tflow (*qn_tcall)(struct qn_trun *run, const struct qn_tval *self,
                                  const struct qn_targs *args, struct qn_tval *out);

struct qn_tfunc {
    const char *name;
    qn_tcall call;
    struct qn_tval self; /* the object that a method is bound to; QN_T_MISSING: a plain function */
    bool is_class;
};

static inline bool qn_tval_is(const struct qn_tval *v, unsigned types)
{
    return (QN_T_BIT(v->type) & types) != 0;
}

static inline struct qn_tval qn_tval_of(enum qn_ttype type)
{
    return (struct qn_tval){.type = (uint8_t)type};
}

static inline struct qn_tval qn_tval_none(void)
{
    return qn_tval_of(QN_T_NONE);
}

static inline struct qn_tval qn_tval_bool(bool b)
{
    return (struct qn_tval){.type = QN_T_BOOL, .b = b};
}

static inline struct qn_tval qn_tval_int(int64_t i)
{
    return (struct qn_tval){.type = QN_T_INT, .i = i};
}

static inline struct qn_tval qn_tval_size(size_t n)
{
    return qn_tval_int((int64_t)n);
}

static inline struct qn_tval qn_tval_float(double f)
{
    return (struct qn_tval){.type = QN_T_FLOAT, .f = f};
}

static inline struct qn_tval qn_tval_string(const char *s, size_t n)
{
    return (struct qn_tval){.type = QN_T_STRING, .n = n, .s = s};
}

static inline struct qn_tval qn_tval_cstr(const char *s)
{
    return qn_tval_string(s, strlen(s));
}

static inline struct qn_tval qn_tval_list(struct qn_tlist *list)
{
    return (struct qn_tval){.type = QN_T_LIST, .list = list};
}

static inline struct qn_tval qn_tval_tuple(struct qn_tlist *list)
{
    return (struct qn_tval){.type = QN_T_TUPLE, .list = list};
}

static inline struct qn_tval qn_tval_dict(struct qn_tdict *dict)
{
    return (struct qn_tval){.type = QN_T_DICT, .dict = dict};
}

/* Makes an undefined value; kind is QN_T_NO_NAME or one of the kinds after it. */
static inline struct qn_tval qn_tval_undefined(int kind, const char *s, size_t n)
{
    return (struct qn_tval){.type = QN_T_UNDEFINED, .kind = (uint8_t)kind, .n = n, .s = s};
}

static inline struct qn_tval qn_tval_hint(const char *message)
{
    return qn_tval_undefined(QN_T_HINT, message, strlen(message));
}

/* whether v is a string with these bytes */
bool qn_tval_str_eq(const struct qn_tval *v, const char *s);
const char *qn_tval_class(const struct qn_tval *v); /* the Python name of v's class */

/* The truth value, as `if` evaluates it. */
enum qn_tflow qn_tval_truth(struct qn_trun *run, const struct qn_tval *v, bool *out);
/* len(); fails for values that have no length. */
enum qn_tflow qn_tval_len(struct qn_trun *run, const struct qn_tval *v, size_t *out);
bool qn_tval_has_len(const struct qn_tval *v);

/* Construction; each allocation is charged to the rendering's memory limit. */
enum qn_tflow qn_tlist_new(struct qn_trun *run, size_t cap, struct qn_tlist **out);
enum qn_tflow qn_tlist_push(struct qn_trun *run, struct qn_tlist *list, const struct qn_tval *v);
/* Makes a tuple of two values. */
enum qn_tflow qn_tval_pair(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                           struct qn_tval *out);
enum qn_tflow qn_tdict_new(struct qn_trun *run, size_t cap, struct qn_tdict **out);
/* Replaces the value of this key or appends it; fails for a key that cannot be hashed. */
enum qn_tflow qn_tdict_set(struct qn_trun *run, struct qn_tdict *dict, const struct qn_tval *key,
                           const struct qn_tval *v);
/* *out is NULL when there is no such key. */
enum qn_tflow qn_tdict_find(struct qn_trun *run, const struct qn_tdict *dict,
                            const struct qn_tval *key, struct qn_tval **out);
struct qn_tval *qn_tdict_get(struct qn_trun *run, const struct qn_tdict *dict, const char *key);
enum qn_tflow qn_tdict_copy(struct qn_trun *run, const struct qn_tdict *from,
                            struct qn_tdict **out);

/* Removes a key, if it is present. */
enum qn_tflow qn_tdict_remove(struct qn_trun *run, struct qn_tdict *dict,
                              const struct qn_tval *key);

/* Converts a value of a JSON document. Strings point into the document, members keep their order,
 * and a number without a fraction is an integer. */
enum qn_tflow qn_tval_from_json(struct qn_trun *run, const struct qn_jref *r, struct qn_tval *out);

#endif
