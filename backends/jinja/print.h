/* Values as text: str(), repr() and JSON. All append to the rendering's output. */
#ifndef QN_JINJA_PRINT_H
#define QN_JINJA_PRINT_H

#include "jinja/value.h"

enum { QN_TFLOAT_MAX = 32 }; /* longest float written, with its NUL */

enum qn_tflow qn_tval_put_str(struct qn_trun *run, const struct qn_tval *v);
enum qn_tflow qn_tval_put_repr(struct qn_trun *run, const struct qn_tval *v);
/* As strings: soft keeps the markup of a string. */
enum qn_tflow qn_tval_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_soft_str(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_repr(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
/* HTML's special characters escaped, unless v is markup already; the result is markup. */
enum qn_tflow qn_tval_escape(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tval_put_escaped(struct qn_trun *run, const char *s, size_t n);

/* The shortest decimal that reads back equal, as Python writes it; returns its length. */
size_t qn_tfloat_text(double f, char out[static QN_TFLOAT_MAX]);

/* tojson's settings. */
struct qn_tjson {
    bool ensure_ascii, sort_keys, indented;
    struct qn_tval indent;    /* what one level is indented by */
    struct qn_tval item, key; /* separators */
};
enum qn_tflow qn_tval_put_json(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tjson *how);

/* pprint.pformat(). */
enum qn_tflow qn_tval_put_pretty(struct qn_trun *run, const struct qn_tval *v);

#endif
