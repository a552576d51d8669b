/* See offer.h. */
#include "cli/offer.h"

#include "cli/ask.h"
#include "cli/entry.h"
#include "cli/pull.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

enum { QUESTION_MAX = 512 };

/* Whether the model is in the server's list but not installed, or is a reference to a hub. */
static bool is_missing(const struct qn_cli *cli, const char *model, double *size_bytes)
{
    struct qn_json *doc = NULL;
    bool missing = false;
    qn_err err = qn_entry_fetch(cli, model, &doc, NULL);
    *size_bytes = 0;
    if (!err) {
        struct qn_jref root = qn_json_root(doc), here = qn_json_get(&root, "downloaded");
        struct qn_entry m;
        qn_entry_read(&root, &m);
        missing = qn_json_type(&here) == QN_JSON_BOOL && !m.downloaded;
        *size_bytes = m.size_bytes;
    } else if (err == QN_ENOTFOUND) {
        missing = strchr(model, '/') != NULL;
    }
    qn_json_free(doc);
    return missing;
}

qn_err qn_offer(struct qn_cli *cli, const char *model, char **name)
{
    const struct qn_wish wish = {.word = model};
    char question[QUESTION_MAX], bytes[16], size[32] = "";
    double size_bytes;
    *name = NULL;
    if (!qn_ask_possible(cli) || qn_wish_is_path(model) || !is_missing(cli, model, &size_bytes))
        return QN_OK;
    if (size_bytes > 0) {
        qn_human_bytes(size_bytes, bytes);
        snprintf(size, sizeof size, " (%s)", bytes);
    }
    snprintf(question, sizeof question, "%.400s is not installed. Download it%s?", model, size);
    if (!qn_ask_yes(question))
        return QN_ECANCELLED;
    return qn_pull(cli, &wish, name) == QN_EXIT_OK ? QN_OK : QN_ECANCELLED;
}
