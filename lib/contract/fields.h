/* Structs as JSON objects by table: one row per field says its name on the wire, its type, its
 * range and where it lies. Private to the contract: codec.c and control.c hold the tables. */
#ifndef QN_CONTRACT_FIELDS_H
#define QN_CONTRACT_FIELDS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

#include <stddef.h>

enum qn_field_type {
    QN_F_STR,    /* const char *; NULL: unset; max: most bytes */
    QN_F_I64,    /* int64_t; QN_UNSET: unset */
    QN_F_F64,    /* double; NAN: unset */
    QN_F_HEX64,  /* uint64_t as 16 hexadecimal digits; 0: unset */
    QN_F_BOOL,   /* bool; false is left out when writing */
    QN_F_ARRAY,  /* const char *: a JSON array as text */
    QN_F_OBJECT, /* const char *: a JSON object as text */
    QN_F_STRS,   /* struct qn_strings; max: most items */
    QN_F_I64S,   /* struct qn_i64s; max: most items */
    QN_F_BIASES, /* struct qn_biases as [[token, bias], ...]; max: most items */
    QN_F_LIST,   /* {struct T *v; size_t n;}: objects of the table `items`; max: most items */
    QN_F_LORAS,  /* struct qn_loras as [[id or name, scale or null], ...]; max: most items */
    QN_F_ENUM,   /* int-sized enum; names in `names`, index 0 is never sent */
    QN_F_ERROR   /* struct qn_error as {"code","param","message"} */
};

struct qn_field {
    const char *name;
    enum qn_field_type type;
    size_t offset;
    double min, max; /* numbers: inclusive range; strings and lists: max length */
    const char *(*enum_name)(int value); /* ENUM */
    int enum_count;
    const struct qn_field_items *items; /* LIST */
};

/* The table of a list's items, and the size of the struct that one becomes. */
struct qn_field_items {
    const struct qn_field *fields;
    size_t n, size;
};

/* Writes the fields that are set as members; the writer stands inside an object. */
void qn_fields_write(const struct qn_field *table, size_t n, const void *base, struct qn_jw *w);

/* Reads the members that are there; others keep their value. Strings are copied into arena. */
qn_err qn_fields_read(const struct qn_field *table, size_t n, const struct qn_jref *object,
                      void *base, struct qn_arena *arena, struct qn_error *e);

/* One field; v may be absent or null (nothing happens). */
qn_err qn_field_read(const struct qn_field *f, const struct qn_jref *v, void *base,
                     struct qn_arena *arena, struct qn_error *e);

#endif
