/* Reads and writes JSON. Values are read through references that know their path, so every error
 * message has it: "messages[3].role: expected a string". Writing appends directly to a buffer.
 *
 * Limits: QN_JSON_DEPTH_MAX nesting levels; QN_JSON_VALUES_MAX values, since each costs much more
 * memory and time than the two bytes that can encode it. Text must be valid UTF-8; \u0000, which a
 * C string cannot contain, is read as U+FFFD, the replacement character. Numbers are doubles:
 * integers are exact up to 2^53. Documents are immutable after parsing and may be read from several
 * threads. */
#ifndef QN_BASE_JSON_H
#define QN_BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_JSON_DEPTH_MAX = 128, QN_JSON_VALUES_MAX = 1024 * 1024 };

struct qn_json; /* a parsed document */

enum qn_json_type {
    QN_JSON_ABSENT, /* no such member */
    QN_JSON_NULL,
    QN_JSON_BOOL,
    QN_JSON_NUMBER,
    QN_JSON_STRING,
    QN_JSON_ARRAY,
    QN_JSON_OBJECT
};

/* A reference to a value in a document, with the path to it. Lives on the stack; `up` must outlive
 * it. A reference to a missing value is valid and has type QN_JSON_ABSENT. */
struct qn_jref {
    const void *node;         /* NULL: absent */
    const struct qn_jref *up; /* NULL: the root */
    const char *key;          /* member name, or NULL for an array item */
    size_t index;             /* item number when key is NULL */
};

/* Parses n bytes. Bytes other than white space after the document are an error; of duplicate keys
 * the last one wins. QN_EFORMAT with the byte offset in the message. */
qn_err qn_json_parse(const char *text, size_t n, struct qn_json **out, struct qn_error *e);
void qn_json_free(struct qn_json *doc); /* NULL allowed */

struct qn_jref qn_json_root(const struct qn_json *doc);
struct qn_jref qn_json_get(const struct qn_jref *object,
                           const char *key); /* absent if not an object */
enum qn_json_type qn_json_type(const struct qn_jref *r);
const char *qn_json_type_name(enum qn_json_type t); /* "a string", "an object", ... */
size_t qn_json_count(const struct qn_jref *r);      /* items or members; 0 for anything else */

/* Iteration over an array's items or an object's members, in document order:
 *   struct qn_jref it;
 *   for (bool more = qn_json_first(&arr, &it); more; more = qn_json_next(&it)) ... */
bool qn_json_first(const struct qn_jref *container, struct qn_jref *it);
bool qn_json_next(struct qn_jref *it);

/* Typed reading. The plain form requires the value; the _opt form leaves *out as it was when the
 * value is absent or null. A wrong type or range is QN_EINVAL with param set to the path. Strings
 * are lent by the document. */
qn_err qn_json_str(const struct qn_jref *r, const char **out, struct qn_error *e);
qn_err qn_json_str_opt(const struct qn_jref *r, const char **out, struct qn_error *e);
qn_err qn_json_f64(const struct qn_jref *r, double min, double max, double *out,
                   struct qn_error *e);
qn_err qn_json_f64_opt(const struct qn_jref *r, double min, double max, double *out,
                       struct qn_error *e);
qn_err qn_json_i64(const struct qn_jref *r, int64_t min, int64_t max, int64_t *out,
                   struct qn_error *e);
qn_err qn_json_i64_opt(const struct qn_jref *r, int64_t min, int64_t max, int64_t *out,
                       struct qn_error *e);
qn_err qn_json_bool(const struct qn_jref *r, bool *out, struct qn_error *e);
qn_err qn_json_bool_opt(const struct qn_jref *r, bool *out, struct qn_error *e);

/* Unchecked reading for code that handles values of any type: the string, number or boolean, or
 * else "", 0, false. */
const char *qn_json_raw_str(const struct qn_jref *r);
double qn_json_raw_f64(const struct qn_jref *r);
bool qn_json_raw_bool(const struct qn_jref *r);

/* Writes the path of r, e.g. "messages[3].role"; "" for the root. Truncated to n - 1 bytes. */
void qn_json_path(const struct qn_jref *r, char *out, size_t n);

/* QN_EINVAL with param = path and message "path: text". */
qn_err qn_json_fail(const struct qn_jref *r, struct qn_error *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the value as compact JSON. */
qn_err qn_json_print(const struct qn_jref *r, struct qn_buf *out);

/* Writing. The writer inserts commas and colons; in objects, keys and values alternate. Bytes of a
 * string that are not UTF-8 become U+FFFD; a number that is not finite becomes null. Errors are
 * reported by the buffer's overflow flag. Depth is asserted against QN_JSON_DEPTH_MAX * 2. */
struct qn_jw {
    struct qn_buf *out;
    int depth;
    bool comma; /* the next value or key needs a comma before it */
};
struct qn_jw qn_jw_to(struct qn_buf *out);
void qn_jw_obj(struct qn_jw *w);
void qn_jw_obj_end(struct qn_jw *w);
void qn_jw_arr(struct qn_jw *w);
void qn_jw_arr_end(struct qn_jw *w);
void qn_jw_key(struct qn_jw *w, const char *key);
void qn_jw_str(struct qn_jw *w, const char *s); /* NULL writes null */
void qn_jw_strn(struct qn_jw *w, const char *s, size_t n);
void qn_jw_i64(struct qn_jw *w, int64_t v);
void qn_jw_f64(struct qn_jw *w, double v); /* shortest form that parses to the same number */
/* Writes at most nine digits that parse to the same float, also when parsed as a double; fewer
 * digits if they suffice. Several times as fast as printf, for vectors of many numbers. */
void qn_jw_f32(struct qn_jw *w, float v);
void qn_jw_bool(struct qn_jw *w, bool v);
void qn_jw_null(struct qn_jw *w);
void qn_jw_raw(struct qn_jw *w, const char *json, size_t n); /* a complete JSON value, trusted */
void qn_jw_value(struct qn_jw *w, const struct qn_jref *v);  /* a parsed value */
/* Adds the members of an object, given as JSON text, to the open object; nothing if the text is not
 * an object. */
void qn_jw_members(struct qn_jw *w, const char *json);
/* Key and value in one call. */
void qn_jw_kstr(struct qn_jw *w, const char *key, const char *s);
/* The source of a model: a string, or an object of strings as (checked) JSON text. URLs are
 * stripped of possible secrets (base/address.h). */
void qn_jw_ksource(struct qn_jw *w, const char *key, const char *s);
void qn_jw_ksources(struct qn_jw *w, const char *key, const char *json);
void qn_jw_ki64(struct qn_jw *w, const char *key, int64_t v);
void qn_jw_kf64(struct qn_jw *w, const char *key, double v);
void qn_jw_kbool(struct qn_jw *w, const char *key, bool v);
void qn_jw_knull(struct qn_jw *w, const char *key);
void qn_jw_kitems(struct qn_jw *w, const char *key,
                  struct qn_buf *items); /* items: trusted text, separated by commas */

#endif
