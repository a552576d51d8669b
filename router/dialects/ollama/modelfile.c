/* See modelfile.h. A line is a keyword and its value. A value in three quotes may span lines; one
 * in single or double quotes may begin and end with spaces. */
#include "dialects/ollama/modelfile.h"

#include "base/json.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 64 };

struct reader {
    const char *p, *end;
    size_t line;
};

/* A range of the text. */
struct span {
    const char *s;
    size_t n;
};

/* The parameters read so far, in order; parameters with the same name become one member. */
struct parameter {
    struct span name;
    struct span value;
};

struct file {
    struct span from, template_text, system;
    struct qn_buf licenses, adapters, messages; /* list items separated by commas */
    struct parameter *parameters;
    size_t n_parameters;
};

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blank(struct reader *r)
{
    while (r->p < r->end && blank(*r->p))
        r->p++;
}

static struct span take_word(struct reader *r)
{
    struct span out = {r->p, 0};
    while (r->p < r->end && !blank(*r->p) && *r->p != '\n')
        r->p++;
    out.n = (size_t)(r->p - out.s);
    return out;
}

static qn_err fail_at(const struct reader *r, struct qn_error *e, const char *what)
{
    return qn_fail_param(e, QN_EINVAL, "modelfile", "modelfile: line %zu: %s", r->line, what);
}

/* Reads the rest of the line, or the quoted text that begins here. */
static qn_err take_text(struct reader *r, struct span *out, struct qn_error *e)
{
    static const char triple[] = "\"\"\"";
    skip_blank(r);
    size_t left = (size_t)(r->end - r->p);
    if (left >= 3 && memcmp(r->p, triple, 3) == 0) {
        const char *stop = memmem(r->p + 3, left - 3, triple, 3);
        if (!stop)
            return fail_at(r, e, "a text in three quotes that does not end");
        *out = (struct span){r->p + 3, (size_t)(stop - r->p - 3)};
        for (const char *c = r->p; c < stop; c++)
            r->line += *c == '\n';
        r->p = stop + 3;
        skip_blank(r);
        if (r->p < r->end && *r->p != '\n')
            return fail_at(r, e, "something follows a text in three quotes");
        return QN_OK;
    }
    const char *stop = memchr(r->p, '\n', left);
    if (!stop)
        stop = r->end;
    *out = (struct span){r->p, (size_t)(stop - r->p)};
    r->p = stop;
    while (out->n && blank(out->s[out->n - 1]))
        out->n--;
    if (out->n >= 2 && out->s[0] == '"' && out->s[out->n - 1] == '"')
        *out = (struct span){out->s + 1, out->n - 2};
    return QN_OK;
}

static bool is(struct span s, const char *word)
{
    return s.n == strlen(word) && strncasecmp(s.s, word, s.n) == 0;
}

static bool same(struct span a, struct span b)
{
    return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

static struct qn_jw item(struct qn_buf *list)
{
    struct qn_jw w = qn_jw_to(list);
    w.comma = list->len > 0;
    return w;
}

static qn_err read_parameter(struct reader *r, struct file *f, struct qn_error *e)
{
    struct parameter p;
    skip_blank(r);
    p.name = take_word(r);
    qn_err err = take_text(r, &p.value, e);
    if (err)
        return err;
    if (!p.name.n || p.name.n > NAME_MAX_BYTES || !p.value.n)
        return fail_at(r, e, "PARAMETER needs a name and a value");
    if (f->n_parameters == QN_MODELFILE_PARAMETERS_MAX)
        return fail_at(r, e, "too many parameters");
    f->parameters = qn_xrealloc(f->parameters, (f->n_parameters + 1) * sizeof *f->parameters);
    f->parameters[f->n_parameters++] = p;
    return QN_OK;
}

static qn_err read_message(struct reader *r, struct file *f, struct qn_error *e)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    struct span text;
    skip_blank(r);
    struct span role = take_word(r);
    size_t i = 0;
    while (i < sizeof roles / sizeof *roles && !is(role, roles[i]))
        i++;
    if (i == sizeof roles / sizeof *roles)
        return fail_at(r, e, "MESSAGE needs a role (system, user or assistant) and a text");
    qn_err err = take_text(r, &text, e);
    if (err)
        return err;
    struct qn_jw w = item(&f->messages);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "role", roles[i]);
    qn_jw_key(&w, "content");
    qn_jw_strn(&w, text.s, text.n);
    qn_jw_obj_end(&w);
    return QN_OK;
}

static qn_err read_line(struct reader *r, struct file *f, struct qn_error *e)
{
    struct span text, word = take_word(r);
    qn_err err;
    if (is(word, "PARAMETER"))
        return read_parameter(r, f, e);
    if (is(word, "MESSAGE"))
        return read_message(r, f, e);
    if ((err = take_text(r, &text, e)))
        return err;
    if (is(word, "FROM")) {
        f->from = text;
    } else if (is(word, "TEMPLATE")) {
        f->template_text = text;
    } else if (is(word, "SYSTEM")) {
        f->system = text;
    } else if (is(word, "LICENSE")) {
        struct qn_jw w = item(&f->licenses);
        qn_jw_strn(&w, text.s, text.n);
    } else if (is(word, "ADAPTER")) {
        struct qn_jw w = item(&f->adapters);
        qn_jw_strn(&w, text.s, text.n);
    } else if (!is(word, "RENDERER") && !is(word, "PARSER") && !is(word, "REQUIRES")) {
        return fail_at(r, e,
                       "expected FROM, PARAMETER, TEMPLATE, SYSTEM, MESSAGE, LICENSE or ADAPTER");
    }
    return QN_OK;
}

/* Writes numbers and booleans as such, other values as text. */
static void write_value(struct qn_jw *w, struct span v)
{
    char text[64];
    double number;
    if (v.n < sizeof text) {
        memcpy(text, v.s, v.n);
        text[v.n] = '\0';
        if (qn_parse_f64(text, &number)) {
            qn_jw_f64(w, number);
            return;
        }
        if (qn_str_eq(text, "true") || qn_str_eq(text, "false")) {
            qn_jw_bool(w, *text == 't');
            return;
        }
    }
    qn_jw_strn(w, v.s, v.n);
}

/* Stop strings are a list and never numbers; of other names the last value is used. */
static void write_parameters(const struct file *f, struct qn_jw *w)
{
    qn_jw_key(w, "parameters");
    qn_jw_obj(w);
    for (size_t i = 0; i < f->n_parameters; i++) {
        const struct parameter *p = &f->parameters[i];
        bool stop = is(p->name, "stop"), other = false;
        for (size_t k = stop ? 0 : i + 1; k < (stop ? i : f->n_parameters) && !other; k++)
            other = same(f->parameters[k].name, p->name);
        if (other)
            continue;
        char name[NAME_MAX_BYTES + 1];
        memcpy(name, p->name.s, p->name.n);
        name[p->name.n] = '\0';
        qn_jw_key(w, stop ? "stop" : name);
        if (!stop) {
            write_value(w, p->value);
            continue;
        }
        qn_jw_arr(w);
        for (size_t k = i; k < f->n_parameters; k++)
            if (is(f->parameters[k].name, "stop"))
                qn_jw_strn(w, f->parameters[k].value.s, f->parameters[k].value.n);
        qn_jw_arr_end(w);
    }
    qn_jw_obj_end(w);
}

static void write_file(struct file *f, struct qn_buf *out)
{
    struct {
        const char *key;
        const struct span *text;
    } texts[] = {{"from", &f->from}, {"template", &f->template_text}, {"system", &f->system}};
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text->s) {
            qn_jw_key(&w, texts[i].key);
            qn_jw_strn(&w, texts[i].text->s, texts[i].text->n);
        }
    if (f->licenses.len)
        qn_jw_kitems(&w, "license", &f->licenses);
    if (f->adapters.len)
        qn_jw_kitems(&w, "adapters", &f->adapters);
    if (f->messages.len)
        qn_jw_kitems(&w, "messages", &f->messages);
    if (f->n_parameters)
        write_parameters(f, &w);
    qn_jw_obj_end(&w);
}

qn_err qn_modelfile_read(const char *text, size_t n, struct qn_buf *out, struct qn_error *e)
{
    struct reader r = {text, text + n, 1};
    struct file f = {.n_parameters = 0};
    qn_err err = QN_OK;
    qn_buf_init(&f.licenses, QN_MODELFILE_MAX);
    qn_buf_init(&f.adapters, QN_MODELFILE_MAX);
    qn_buf_init(&f.messages, QN_MODELFILE_MAX);
    while (r.p < r.end && !err) {
        skip_blank(&r);
        if (r.p < r.end && *r.p == '#')
            while (r.p < r.end && *r.p != '\n')
                r.p++;
        else if (r.p < r.end && *r.p != '\n')
            err = read_line(&r, &f, e);
        if (r.p < r.end && *r.p == '\n') {
            r.p++;
            r.line++;
        }
    }
    if (!err)
        write_file(&f, out);
    if (!err &&
        (out->overflow || f.licenses.overflow || f.adapters.overflow || f.messages.overflow))
        err = qn_fail_param(e, QN_EINVAL, "modelfile", "modelfile: too long");
    qn_buf_deinit(&f.licenses);
    qn_buf_deinit(&f.adapters);
    qn_buf_deinit(&f.messages);
    free(f.parameters);
    return err;
}
