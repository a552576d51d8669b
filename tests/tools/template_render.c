/* Renders chat templates for the differential tests. One JSON object per line on stdin:
 *   {"template": "source"} or {"file": "path"}, and {"vars": {...}}, optional "wall_ms"
 * and one per line on stdout: {"text": "..."} or {"error": "...", "code": "format|invalid|limit"}.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "jinja/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 64 * 1024 * 1024 };

static qn_err read_source(const struct qn_jref *request, struct qn_buf *source, struct qn_error *e)
{
    struct qn_jref text = qn_json_get(request, "template"), file = qn_json_get(request, "file");
    const char *path;
    char block[4096];
    if (qn_json_type(&text) == QN_JSON_STRING)
        return qn_buf_str(source, qn_json_raw_str(&text));
    qn_err err = qn_json_str(&file, &path, e);
    FILE *f = err ? NULL : fopen(path, "rb");
    if (!f)
        return err ? err : qn_fail_errno(e, "open %s", path);
    for (size_t n; (n = fread(block, 1, sizeof(block), f)) > 0;)
        qn_buf_add(source, block, n);
    fclose(f);
    return QN_OK;
}

static qn_err render(const struct qn_jref *request, struct qn_buf *out, struct qn_error *e)
{
    struct qn_buf source;
    struct qn_template *t = NULL;
    struct qn_jref vars = qn_json_get(request, "vars"), wall = qn_json_get(request, "wall_ms");
    int64_t wall_ms = qn_wall_ms();
    qn_buf_init(&source, QN_TEMPLATE_SOURCE_MAX + (size_t)1);
    qn_err err = read_source(request, &source, e);
    if (!err)
        err = qn_json_i64_opt(&wall, 0, INT64_MAX / 2, &wall_ms, e);
    if (!err)
        err = qn_template_new(qn_buf_cstr(&source), source.len, &t, e);
    if (!err)
        err = qn_template_render(t, &vars, wall_ms, out, e);
    qn_template_free(t);
    qn_buf_deinit(&source);
    return err;
}

static void answer(const char *line, size_t n)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    struct qn_buf text, reply;
    qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
    qn_buf_init(&reply, (size_t)QN_TEMPLATE_OUTPUT_MAX * 8);
    qn_err err = qn_json_parse(line, n, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = render(&root, &text, &e);
    }
    struct qn_jw w = qn_jw_to(&reply);
    qn_jw_obj(&w);
    if (err) {
        qn_jw_kstr(&w, "error", e.message);
        qn_jw_kstr(&w, "code", qn_err_name(err));
    } else {
        qn_jw_key(&w, "text");
        qn_jw_strn(&w, qn_buf_cstr(&text), text.len);
    }
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&reply));
    qn_json_free(doc);
    qn_buf_deinit(&text);
    qn_buf_deinit(&reply);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0 && n < LINE_MAX_BYTES) {
        answer(line, (size_t)n);
        fflush(stdout);
    }
    free(line);
    return 0;
}
