/* Python's formatting: `"%s" % x`, str.format() and format specifications. */
#ifndef QN_JINJA_FORMAT_H
#define QN_JINJA_FORMAT_H

#include "jinja/value.h"

/* format % args: args is a tuple of items, a dictionary of members, or a single value. */
enum qn_tflow qn_tformat_percent(struct qn_trun *run, const struct qn_tval *format,
                                 const struct qn_tval *args, struct qn_tval *out);
/* str.format(); member access follows the sandbox's rules. */
enum qn_tflow qn_tformat_str(struct qn_trun *run, const struct qn_tval *format,
                             const struct qn_targs *args, struct qn_tval *out);

/* A format specification such as "*>+#010,.2f". */
struct qn_tspec {
    const char *fill;
    size_t fill_n;
    char align, sign, grouping, type; /* '\0': not given */
    bool alternate, zero, upper;
    int64_t width, precision; /* negative: not given */
};

/* Appends format(v, spec) to the output. */
enum qn_tflow qn_tformat_value(struct qn_trun *run, const struct qn_tval *v, const char *spec,
                               size_t n);
/* Formats a number by a specification whose type is one of "bcdoxXneEfFgG%" or '\0'. */
enum qn_tflow qn_tformat_number(struct qn_trun *run, const struct qn_tval *v,
                                const struct qn_tspec *spec);
enum qn_tflow qn_tformat_text(struct qn_trun *run, const char *s, size_t n,
                              const struct qn_tspec *spec);

enum { QN_TFORMAT_PRECISION_MAX = 4000 };

#endif
