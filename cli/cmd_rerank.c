/* rerank: documents sorted by their relevance to a query. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/note.h"
#include "cli/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_MAX = 64 * 1024 * 1024 };

enum { OPTION_MODEL, OPTION_FILE, OPTION_TOP };

struct result {
    double score;
    struct qn_jref entry;
    const char *document; /* borrowed from the reply */
    size_t index;
};

/* Writes the documents: the words after the query, or the lines of a file that are not empty. */
static qn_err write_documents(struct qn_jw *w, const struct qn_cli_args *a, size_t *n,
                              struct qn_error *e)
{
    struct qn_input_lines in;
    const char *line;
    qn_err err = QN_OK;
    *n = 0;
    for (int i = 1; i < a->n_words; i++, ++*n) {
        if (!qn_utf8_valid(a->words[i], strlen(a->words[i])))
            return qn_fail(e, QN_EINVAL, "document %d is not UTF-8 text", i);
        qn_jw_str(w, a->words[i]);
    }
    if (*n)
        return QN_OK;
    if ((err = qn_input_open(&in, a->values[OPTION_FILE], e)))
        return err;
    while (!(err = qn_input_next(&in, &line, e)) && line) {
        if (*line) {
            qn_jw_str(w, line);
            ++*n;
        }
    }
    qn_input_close(&in);
    return err || *n ? err : qn_fail(e, QN_EINVAL, "there are no documents");
}

static qn_err write_request(const struct qn_cli_args *a, const char *model, struct qn_buf *body,
                            struct qn_error *e)
{
    struct qn_jw w = qn_jw_to(body);
    size_t n;
    int64_t top;
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", model);
    qn_jw_kstr(&w, "query", a->words[0]);
    if (a->values[OPTION_TOP] && qn_parse_i64(a->values[OPTION_TOP], &top))
        qn_jw_ki64(&w, "top_n", top);
    qn_jw_kbool(&w, "return_documents", true);
    qn_jw_key(&w, "documents");
    qn_jw_arr(&w);
    qn_err err = write_documents(&w, a, &n, e);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    if (!err && body->overflow)
        return qn_fail(e, QN_ELIMIT, "the documents are larger than %d bytes", REQUEST_MAX);
    return err;
}

/* More relevant ones first; of equals the earlier document. */
static int compare(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct result *sorted(const struct qn_jref *list, size_t *n)
{
    struct qn_jref it;
    struct result *all = qn_xcalloc(qn_json_count(list) + 1, sizeof *all);
    *n = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref score = qn_json_get(&it, "relevance_score");
        struct qn_jref document = qn_json_get(&it, "document"),
                       text = qn_json_get(&document, "text");
        all[*n] = (struct result){qn_json_raw_f64(&score), it, qn_json_raw_str(&text), *n};
        ++*n;
    }
    qsort(all, *n, sizeof *all, compare);
    return all;
}

static void print_json(const struct qn_jref *root, const struct result *all, size_t n)
{
    struct qn_jref model = qn_json_get(root, "model");
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", qn_json_raw_str(&model));
    qn_jw_key(&w, "results");
    qn_jw_arr(&w);
    for (size_t i = 0; i < n; i++) {
        struct qn_buf entry;
        qn_buf_init(&entry, QN_CLIENT_REPLY_MAX);
        qn_json_print(&all[i].entry, &entry);
        qn_jw_raw(&w, qn_buf_cstr(&entry), entry.len);
        qn_buf_deinit(&entry);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

static qn_err print_reply(const struct qn_cli *cli, const struct qn_json *doc, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "results");
    struct qn_outfile out;
    size_t n;
    struct result *all = sorted(&list, &n);
    qn_err err = qn_outfile_init(&out, cli, NULL, false, NULL, e);
    if (cli->json)
        print_json(&root, all, n);
    for (size_t i = 0; i < n && !cli->json && !err; i++) {
        printf("%.4f\t", all[i].score);
        err = qn_outfile_text(&out, all[i].document, strlen(all[i].document), e);
        putchar('\n');
    }
    free(all);
    return err ? err : qn_outfile_end(&out, e);
}

int qn_cmd_rerank(struct qn_cli *cli, const struct qn_cli_args *a)
{
    int64_t top;
    const char *file = a->values[OPTION_FILE];
    if (a->values[OPTION_TOP] && (!qn_parse_i64(a->values[OPTION_TOP], &top) || top < 1))
        return qn_cli_misused(cli, "--top needs a number from 1");
    if (file && a->n_words > 1)
        return qn_cli_misused(cli, "documents are arguments or lines of --file, not both");
    if (!file && a->n_words == 1 && !qn_input_is_piped())
        return qn_cli_misused(cli, "there are no documents: give them as arguments, in --file "
                                   "FILE, or pipe in one a line");
    if (!qn_utf8_valid(a->words[0], strlen(a->words[0])))
        return qn_cli_misused(cli, "the query is not UTF-8 text");
    struct qn_error e = {0};
    struct qn_json *doc = NULL;
    struct qn_buf body;
    char *model = NULL;
    qn_buf_init(&body, REQUEST_MAX);
    qn_err err = qn_choice_ready(cli, a->values[OPTION_MODEL], "reranking", &model, &e);
    if (!err)
        err = write_request(a, model, &body, &e);
    if (!err) {
        struct qn_note note;
        const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
        qn_note_begin(&note, cli, model);
        err = qn_client_call(cli, "/api/v1/rerank", qn_buf_cstr(&body), 0, &wait, &doc, &e);
        qn_note_end(&note);
    }
    if (!err)
        err = print_reply(cli, doc, &e);
    qn_json_free(doc);
    qn_buf_deinit(&body);
    free(model);
    return qn_outfile_status(cli, err, &e);
}
