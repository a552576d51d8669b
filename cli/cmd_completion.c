/* completion: scripts by which a shell completes arguments of `quince`. The scripts call this
 * program (`quince completion words -- WORDS`), so they need no update when commands change. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/complete.h"
#include "cli/print.h"

#include <stdio.h>

enum { ASK_TIMEOUT_S = 2 };

/* Bash splits words at ':', so the part of a word before ':' is removed from the candidates. */
static const char bash[] =
    "_quince() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} IFS=$'\\n' word\n"
    "    local -a words\n"
    "    IFS=' ' read -r -a words <<<\"$line\"\n"
    "    [[ $line == *' ' ]] && words+=('')\n"
    "    word=${words[${#words[@]}-1]}\n"
    "    COMPREPLY=($(quince completion words -- \"${words[@]:1}\" 2>/dev/null))\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"${word%\"${word##*:}\"}\"}\")\n"
    "}\n"
    "complete -o default -F _quince quince\n";

static const char zsh[] =
    "#compdef quince\n"
    "_quince() {\n"
    "    local -a found\n"
    "    found=(${(f)\"$(quince completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    if (( ${#found} )); then compadd -a found; else _files; fi\n"
    "}\n"
    "compdef _quince quince\n";

/* Prints names that begin with prefix; none if no server runs. */
static void print_models(const struct qn_cli *cli, const char *prefix, bool all)
{
    struct qn_json *doc = NULL;
    const char *path = all ? "/api/v1/models?show_all=true" : "/api/v1/models";
    if (qn_client_call(cli, path, NULL, ASK_TIMEOUT_S, NULL, &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc), data = qn_json_get(&root, "data"), it;
    for (bool more = qn_json_first(&data, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id"), here = qn_json_get(&it, "downloaded");
        if (qn_str_starts(qn_json_raw_str(&id), prefix) && (all || qn_json_raw_bool(&here)))
            qn_print_line(qn_json_raw_str(&id));
    }
    qn_json_free(doc);
}

static int print_words(const struct qn_cli *cli, const char *const *words, int n)
{
    struct qn_buf out;
    qn_buf_init(&out, SIZE_MAX - 1);
    enum qn_complete_names names = qn_complete(words, n, &out);
    fputs(qn_buf_cstr(&out), stdout);
    qn_buf_deinit(&out);
    if (names != QN_COMPLETE_NOTHING)
        print_models(cli, words[n - 1], names == QN_COMPLETE_LIST);
    return QN_EXIT_OK;
}

int qn_cmd_completion(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const char *what = a->words[0];
    if (qn_str_eq(what, "words") && a->n_words > 1)
        return print_words(cli, a->words + 1, a->n_words - 1);
    if (a->n_words > 1 || (!qn_str_eq(what, "bash") && !qn_str_eq(what, "zsh")))
        return qn_cli_misused(cli, "completion needs one of: bash, zsh");
    fputs(qn_str_eq(what, "bash") ? bash : zsh, stdout);
    return QN_EXIT_OK;
}
