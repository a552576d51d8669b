/* pull: downloads a model. */
#include "cli/cli.h"
#include "cli/import.h"
#include "cli/pull.h"

enum {
    OPTION_VARIANT,
    OPTION_NAME,
    OPTION_ALIAS,
    OPTION_RECIPE,
    OPTION_LABEL,
    OPTION_CHECKPOINT,
    OPTION_SOURCE,
    OPTION_YES,
    OPTION_QUIET
};

int qn_cmd_pull(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_wish w = {
        .word = a->words[0],
        .name = a->values[OPTION_NAME],
        .recipe = a->values[OPTION_RECIPE],
        .source = a->values[OPTION_SOURCE],
        .variant = a->values[OPTION_VARIANT],
        .alias = a->values[OPTION_ALIAS],
        .yes = a->values[OPTION_YES] != NULL,
        .quiet = a->values[OPTION_QUIET] != NULL,
    };
    for (int i = 0; i < a->n_given; i++) {
        const struct qn_cli_given *g = &a->given[i];
        if (g->option == OPTION_LABEL) {
            if (w.n_labels == QN_WISH_LABELS_MAX)
                return qn_cli_misused(cli, "more than %d labels", QN_WISH_LABELS_MAX);
            w.labels[w.n_labels++] = g->value;
        } else if (g->option == OPTION_CHECKPOINT) {
            if (w.n_checkpoints == QN_WISH_CHECKPOINTS_MAX)
                return qn_cli_misused(cli, "more than %d checkpoints", QN_WISH_CHECKPOINTS_MAX);
            w.checkpoints[w.n_checkpoints].type = g->value;
            w.checkpoints[w.n_checkpoints++].checkpoint = g->second;
        }
    }
    if (w.n_checkpoints && w.variant)
        return qn_cli_misused(cli, "--variant and --checkpoint exclude each other: a variant is "
                                   "part of its checkpoint (owner/repo:VARIANT)");
    if (w.n_checkpoints == 0 && qn_wish_is_path(w.word))
        return qn_import_file(cli, w.word, w.name, w.quiet);
    return qn_pull(cli, &w, NULL);
}
