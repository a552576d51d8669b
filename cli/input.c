/* See input.h. */
#include "cli/input.h"

#include "base/str.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool qn_input_is_piped(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Appends all of standard input. */
static qn_err read_all(struct qn_buf *out, struct qn_error *e)
{
    char chunk[16384];
    size_t n, before = out->len;
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
        if (memchr(chunk, '\0', n))
            return qn_fail(e, QN_EINVAL, "the input piped in is not text: it has a NUL byte");
        if (before && out->len == before)
            qn_buf_str(out, "\n\n");
        if (qn_buf_add(out, chunk, n))
            return qn_fail(e, QN_ELIMIT, "the text piped in is larger than %zu bytes", out->limit);
    }
    if (ferror(stdin))
        return qn_fail_errno(e, "reading the text piped in");
    while (out->len > before && out->data[out->len - 1] == '\n')
        out->data[--out->len] = '\0';
    return QN_OK;
}

qn_err qn_input_text(const char *word, const char *what, struct qn_buf *out, struct qn_error *e)
{
    if (word && qn_buf_str(out, word))
        return qn_fail(e, QN_ELIMIT, "the %s is larger than %zu bytes", what, out->limit);
    qn_err err = !word || qn_input_is_piped() ? read_all(out, e) : QN_OK;
    if (!err && out->len == 0)
        return qn_fail(e, QN_EINVAL, "the %s is empty", what);
    if (!err && !qn_utf8_valid(qn_buf_cstr(out), out->len))
        return qn_fail(e, QN_EINVAL, "the %s is not UTF-8 text", what);
    return err;
}

qn_err qn_input_open(struct qn_input_lines *in, const char *path, struct qn_error *e)
{
    bool standard = !path || qn_str_eq(path, "-");
    *in = (struct qn_input_lines){.name = standard ? "standard input" : path};
    in->file = standard ? stdin : fopen(path, "r");
    if (!in->file)
        return qn_fail_errno(e, "open %.400s", path);
    qn_buf_init(&in->line, QN_INPUT_LINE_MAX);
    return QN_OK;
}

qn_err qn_input_next(struct qn_input_lines *in, const char **line, struct qn_error *e)
{
    int c;
    *line = NULL;
    qn_buf_clear(&in->line);
    while ((c = getc(in->file)) != EOF && c != '\n')
        if (c == '\0' || qn_buf_char(&in->line, (char)c))
            return c ? qn_fail(e, QN_ELIMIT, "line %zu of %.400s has more than %d bytes", in->n + 1,
                               in->name, QN_INPUT_LINE_MAX)
                     : qn_fail(e, QN_EINVAL, "%.400s is not text: line %zu has a NUL byte",
                               in->name, in->n + 1);
    if (ferror(in->file))
        return qn_fail_errno(e, "read %.400s", in->name);
    if (c == EOF && in->line.len == 0)
        return QN_OK;
    in->n++;
    if (in->line.len && in->line.data[in->line.len - 1] == '\r')
        in->line.data[--in->line.len] = '\0';
    if (!qn_utf8_valid(qn_buf_cstr(&in->line), in->line.len))
        return qn_fail(e, QN_EINVAL, "line %zu of %.400s is not UTF-8 text", in->n, in->name);
    *line = qn_buf_cstr(&in->line);
    return QN_OK;
}

void qn_input_close(struct qn_input_lines *in)
{
    if (in->file && in->file != stdin)
        fclose(in->file);
    qn_buf_deinit(&in->line);
}
