/* A model's entry in the server's list (GET models): the members that commands show. */
#ifndef QN_CLI_ENTRY_H
#define QN_CLI_ENTRY_H

#include "base/json.h"
#include "cli/cli.h"

struct qn_entry {
    /* borrowed; "": not in the entry */
    const char *id, *checkpoint, *recipe, *type, *quantization, *source;
    double size_bytes, parameters, context; /* 0: unknown */
    int64_t last_use_s;                     /* 0: never used */
    bool downloaded, suggested, loaded, update_available;
};

void qn_entry_read(const struct qn_jref *entry, struct qn_entry *out);

/* Appends the model's labels, separated by ", ". telling: only labels that distinguish models; most
 * models are for chat, and popularity is not a property. */
void qn_entry_labels(const struct qn_jref *entry, bool telling, struct qn_buf *out);

/* True if the name contains the filter or a label equals it, ignoring case. An empty filter matches
 * all models. */
bool qn_entry_matches(const struct qn_jref *entry, const char *filter);

/* Requests one model from the server by any of its names. QN_ENOTFOUND: unknown name. The caller
 * frees *out. */
qn_err qn_entry_fetch(const struct qn_cli *cli, const char *name, struct qn_json **out,
                      struct qn_error *e);

#endif
