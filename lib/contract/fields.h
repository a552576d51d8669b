/* Encodes structs as JSON objects and decodes them by tables: one row per field has its name on the
 * wire, its type, its range and its offset in the struct. Private to the contract; the tables are
 * in codec.c, message_codec.c and control.c. */
#ifndef QN_CONTRACT_FIELDS_H
#define QN_CONTRACT_FIELDS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

#include <stddef.h>

enum qn_field_type {
    QN_F_STR,    /* const char *; NULL: unset; max: length in bytes */
    QN_F_I64,    /* int64_t; QN_UNSET: unset */
    QN_F_F64,    /* double; NAN: unset */
    QN_F_HEX64,  /* uint64_t as 16 hexadecimal digits; 0: unset */
    QN_F_BOOL,   /* bool; false is not written */
    QN_F_ARRAY,  /* const char *: the JSON text of an array */
    QN_F_OBJECT, /* const char *: the JSON text of an object */
    QN_F_STRS,   /* struct qn_strings; max: number of items */
    QN_F_I64S,   /* struct qn_i64s; max: number of items */
    QN_F_BIASES, /* struct qn_biases as [[token, bias], ...]; max: number of items */
    QN_F_LIST, /* {struct T *v; size_t n;}: objects that the table `items` describes; max: number of
                  items */
    QN_F_LORAS, /* struct qn_loras as [[id or name, scale or null], ...]; max: number of items */
    QN_F_ENUM,  /* int-sized enum; written as enum_name(value), index 0 is never sent */
    QN_F_ERROR  /* struct qn_error as {"code","param","message"} */
};

struct qn_field {
    const char *name;
    enum qn_field_type type;
    size_t offset;
    double min, max; /* numbers: inclusive range; strings and lists: max is the length */
    const char *(*enum_name)(int value); /* ENUM */
    int enum_count;
    const struct qn_field_items *items; /* LIST */
};

/* The field table of a list's items, and the size of the struct of one item. */
struct qn_field_items {
    const struct qn_field *fields;
    size_t n, size;
};

/* Writes the fields that are set as members of the object that the writer has open. */
void qn_fields_write(const struct qn_field *table, size_t n, const void *base, struct qn_jw *w);

/* Reads the members that are present; fields of absent members keep their value. Strings are copied
 * into arena. */
qn_err qn_fields_read(const struct qn_field *table, size_t n, const struct qn_jref *object,
                      void *base, struct qn_arena *arena, struct qn_error *e);

/* Reads one field; if v is absent or null, the field keeps its value. */
qn_err qn_field_read(const struct qn_field *f, const struct qn_jref *v, void *base,
                     struct qn_arena *arena, struct qn_error *e);

#endif
