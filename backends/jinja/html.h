/* HTML: entities, tags, links. */
#ifndef QN_JINJA_HTML_H
#define QN_JINJA_HTML_H

#include "jinja/value.h"

/* Text without tags and comments, entities resolved, white space made single blanks. */
enum qn_tflow qn_thtml_striptags(struct qn_trun *run, const struct qn_tval *text,
                                 struct qn_tval *out);
enum qn_tflow qn_thtml_unescape(struct qn_trun *run, const struct qn_tval *text,
                                struct qn_tval *out);

/* Addresses in a text made links. limit: characters shown of an address, negative: all. */
struct qn_thtml_links {
    int64_t limit;
    struct qn_tval rel, target; /* attributes, empty: none */
    struct qn_tlist *schemes;   /* more beginnings of addresses, NULL: none */
};
enum qn_tflow qn_thtml_urlize(struct qn_trun *run, const struct qn_tval *text,
                              const struct qn_thtml_links *how, struct qn_tval *out);

#endif
