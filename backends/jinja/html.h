/* HTML: entities, tags, links. */
#ifndef QN_JINJA_HTML_H
#define QN_JINJA_HTML_H

#include "jinja/value.h"

/* Removes tags and comments, resolves entities, and replaces each run of white space by one
 * space. */
enum qn_tflow qn_thtml_striptags(struct qn_trun *run, const struct qn_tval *text,
                                 struct qn_tval *out);
enum qn_tflow qn_thtml_unescape(struct qn_trun *run, const struct qn_tval *text,
                                struct qn_tval *out);

/* Turns URLs and e-mail addresses in a text into links. limit: how many characters of an address
 * are shown; negative: all. */
struct qn_thtml_links {
    int64_t limit;
    struct qn_tval rel, target; /* attributes of the link; empty: omitted */
    struct qn_tlist *schemes;   /* additional URL schemes to recognise; NULL: none */
};
enum qn_tflow qn_thtml_urlize(struct qn_trun *run, const struct qn_tval *text,
                              const struct qn_thtml_links *how, struct qn_tval *out);

#endif
