/* A model as the server describes it (GET models): the members that commands show. */
#ifndef QN_CLI_ENTRY_H
#define QN_CLI_ENTRY_H

#include "base/json.h"
#include "cli/cli.h"

struct qn_entry {
    const char *id, *checkpoint, *recipe, *type, *quantization, *source; /* lent; "": not said */
    double size_bytes, parameters, context;                              /* 0: not known */
    int64_t last_use_s;                                                  /* 0: never */
    bool downloaded, suggested, loaded, update_available;
};

void qn_entry_read(const struct qn_jref *entry, struct qn_entry *out);

/* Its labels with ", " between them; with `telling` only those that tell models apart: most are for
 * chat, and what is popular is no property. */
void qn_entry_labels(const struct qn_jref *entry, bool telling, struct qn_buf *out);

/* True when its name contains the filter or one of its labels is it; letters' case does not count.
 * An empty filter takes all. */
bool qn_entry_matches(const struct qn_jref *entry, const char *filter);

/* Asks the server for one model, by any name it has. QN_ENOTFOUND: it knows none. *out is the
 * caller's to free. */
qn_err qn_entry_fetch(const struct qn_cli *cli, const char *name, struct qn_json **out,
                      struct qn_error *e);

#endif
