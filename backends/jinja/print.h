/* Converts values to text: str(), repr() and JSON. The `put` functions append to the rendering's
 * output. */
#ifndef QN_JINJA_PRINT_H
#define QN_JINJA_PRINT_H

#include "jinja/value.h"

enum { QN_TFLOAT_MAX = 32 }; /* length of the longest float, including the terminating NUL */

enum qn_tflow qn_tval_put_str(struct qn_trun *run, const struct qn_tval *v);
enum qn_tflow qn_tval_put_repr(struct qn_trun *run, const struct qn_tval *v);
/* The same, as string values. qn_tval_soft_str keeps a string marked as markup. */
enum qn_tflow qn_tval_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_soft_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_repr(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
/* Escapes HTML's special characters unless v is already markup; the result is markup. */
enum qn_tflow qn_tval_escape(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_put_escaped(struct qn_trun *run, const char *s, size_t n);

/* Writes the shortest decimal that parses to the same value, as Python does; returns its length. */
size_t qn_tfloat_text(double f, char out[static QN_TFLOAT_MAX]);

/* Options of tojson. */
struct qn_tjson {
    bool ensure_ascii, sort_keys, indented;
    struct qn_tval indent;    /* the text of one level of indentation */
    struct qn_tval item, key; /* separators */
};
enum qn_tflow qn_tval_put_json(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tjson *how);

/* pprint.pformat(). */
enum qn_tflow qn_tval_put_pretty(struct qn_trun *run, const struct qn_tval *v);

#endif
