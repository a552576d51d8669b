/* truncate and wordwrap. */
#ifndef QN_JINJA_WORDS_H
#define QN_JINJA_WORDS_H

#include "jinja/value.h"

/* v: the arguments length, killwords, end and leeway of the filter. */
enum qn_tflow qn_twords_truncate(struct qn_trun *run, const struct qn_tval *text,
                                 const struct qn_tval v[4], struct qn_tval *out);
/* v: the arguments width, break_long_words, wrapstring and break_on_hyphens of the filter. */
enum qn_tflow qn_twords_wrap(struct qn_trun *run, const struct qn_tval *text,
                             const struct qn_tval v[4], struct qn_tval *out);

#endif
