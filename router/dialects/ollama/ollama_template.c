/* See ollama_template.h. Both languages use {{ }}; in Go names begin with a dot, and statements are
 * in the same brackets as values.
 *
 * The output has no bare text: every piece is a string in an expression, so that Jinja's rules
 * about white space around blocks have no effect. Go's variables become attributes of one
 * namespace, because Jinja's variables do not outlive an iteration of a loop.
 *
 * A template without .Messages is for one exchange (.System, .Prompt, .Response). It becomes a
 * macro that is called for each exchange, and that stops at .Response in the last one, where the
 * model continues. Source: docs/template.mdx of github.com/ollama/ollama, text/template of Go. */
#include "dialects/ollama/ollama_template.h"

#include "base/json.h"
#include "base/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    DEPTH_MAX = 32,
    EXPRESSION_DEPTH_MAX = 64,
    WORD_MAX = 64,
    JINJA_MAX = 1024 * 1024,
    PIPES_MAX = 64,             /* of one value, not counting those within its brackets */
    WORK_MAX = 2 * 1024 * 1024, /* bytes written for values; a nested value counts at each level */
};

/* What a dot refers to: the template's data, or the element of a range or with. */
struct dot {
    bool root;
    int number; /* index of the element's variable */
};

enum block { IF, RANGE, WITH };

struct translator {
    const char *p, *end; /* the source */
    struct qn_buf *out;
    struct qn_error *e;
    bool turns; /* the template is for one exchange: no .Messages */
    bool cut;   /* .Response has been passed: the rest is not used in the last exchange */
    struct {
        enum block kind;
        struct dot dot; /* the dot outside of it */
    } open[DEPTH_MAX];
    size_t depth;
    struct dot dot;
    int dots;
    size_t work; /* bytes written so far, limited by WORK_MAX */
};

static qn_err unsupported(struct translator *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static qn_err unsupported(struct translator *t, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return qn_fail_param(t->e, QN_EUNSUPPORTED, "template",
                         "template: %s; quince also accepts Jinja, as in model files", text);
}

/* Counts n more bytes written for a value. */
static qn_err check_work(struct translator *t, size_t n)
{
    t->work += n;
    return t->work > WORK_MAX ? unsupported(t, "more than %d bytes of nested values", WORK_MAX)
                              : QN_OK;
}

/* ---- expressions ---- */

struct words {
    const char *p, *end; /* the rest of one action */
    int depth;
};

static void skip(struct words *w)
{
    while (w->p < w->end && isspace((unsigned char)*w->p))
        w->p++;
}

static bool at_end(struct words *w)
{
    skip(w);
    return w->p == w->end;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Reads a name of letters, digits and underscores; "" if there is none or it is too long. */
static void take_name(struct words *w, char out[static WORD_MAX])
{
    size_t n = 0;
    while (w->p + n < w->end && is_word(w->p[n]))
        n++;
    if (n >= WORD_MAX)
        n = 0;
    memcpy(out, w->p, n);
    out[n] = '\0';
    w->p += n;
}

/* Members of messages, calls and tools, and their names in Jinja's data. */
static const struct {
    const char *go, *jinja;
} members[] = {
    {"Role", "role"},
    {"Content", "content"},
    {"Thinking", "reasoning_content"},
    {"ToolCalls", "tool_calls"},
    {"ToolName", "name"},
    {"ToolCallID", "tool_call_id"},
    {"Function", "function"},
    {"Name", "name"},
    {"Arguments", "arguments"},
    {"Description", "description"},
    {"Parameters", "parameters"},
    {"Properties", "properties"},
    {"Required", "required"},
    {"Type", "type"},
    {"Enum", "enum"},
    {"ID", "id"},
    {"Index", "index"},
    {"Items", "items"},
};

/* Fields of the data that a template receives. */
static const struct {
    const char *go, *turn, *whole; /* in a macro for one exchange; in a template for all messages */
} fields[] = {
    {"System", "System", "qn.system"},
    {"Prompt", "Prompt", "''"},
    {"Response", "Response", "''"},
    {"Suffix", "''", "''"},
    {"Thinking", "''", "''"},
    {"First", "First", "true"},
    {"Messages", "messages", "messages"},
    {"Tools", "(tools or [])", "(tools or [])"},
    {"Think", "(enable_thinking is defined and enable_thinking)",
     "(enable_thinking is defined and enable_thinking)"},
    {"IsThinkSet", "(enable_thinking is defined)", "(enable_thinking is defined)"},
    {"ThinkLevel", "(reasoning_effort if reasoning_effort is defined else '')",
     "(reasoning_effort if reasoning_effort is defined else '')"},
};

static qn_err write_root_field(struct translator *t, const char *name, struct qn_buf *out)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (qn_str_eq(fields[i].go, name)) {
            qn_buf_str(out, t->turns ? fields[i].turn : fields[i].whole);
            return QN_OK;
        }
    return unsupported(t, ".%s is not known", name);
}

static qn_err write_member(struct translator *t, const char *name, struct qn_buf *out)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (qn_str_eq(members[i].go, name)) {
            qn_buf_fmt(out, "['%s']", members[i].jinja);
            return QN_OK;
        }
    return unsupported(t, ".%s is not known", name);
}

/* Reads ".A.B" after a value. *structure: Go writes this value as JSON. */
static qn_err take_members(struct translator *t, struct words *w, struct qn_buf *out,
                           bool *structure)
{
    char name[WORD_MAX];
    qn_err err = QN_OK;
    while (!err && w->p + 1 < w->end && *w->p == '.' && is_word(w->p[1])) {
        w->p++;
        take_name(w, name);
        *structure = qn_str_eq(name, "Arguments") || qn_str_eq(name, "Function") ||
                     qn_str_eq(name, "Parameters") || qn_str_eq(name, "Properties");
        err = write_member(t, name, out);
    }
    return err;
}

static qn_err take_dot(struct translator *t, struct words *w, struct dot dot, struct qn_buf *out,
                       bool *structure)
{
    char name[WORD_MAX];
    if (!dot.root) {
        qn_buf_fmt(out, "d%d", dot.number);
        *structure = true;
        if (w->p < w->end && *w->p == '.' && (w->p + 1 == w->end || !is_word(w->p[1])))
            w->p++; /* the element itself */
        return take_members(t, w, out, structure);
    }
    if (w->p + 1 >= w->end || *w->p != '.' || !is_word(w->p[1]))
        return unsupported(t, "the whole data cannot be written as one value");
    w->p++;
    take_name(w, name);
    *structure = qn_str_eq(name, "Tools");
    qn_err err = write_root_field(t, name, out);
    return err ? err : take_members(t, w, out, structure);
}

static void write_string(struct qn_buf *out, const char *s, size_t n)
{
    qn_buf_char(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' || s[i] == '\'')
            qn_buf_char(out, '\\');
        if (s[i] == '\n')
            qn_buf_str(out, "\\n");
        else if (s[i] == '\r')
            qn_buf_str(out, "\\r");
        else if (s[i] == '\t')
            qn_buf_str(out, "\\t");
        else
            qn_buf_char(out, s[i]);
    }
    qn_buf_char(out, '\'');
}

static qn_err take_string(struct translator *t, struct words *w, struct qn_buf *out)
{
    char quote = *w->p++;
    struct qn_buf text;
    qn_buf_init(&text, JINJA_MAX);
    bool ended = false;
    while (w->p < w->end && !ended) {
        char c = *w->p++;
        if (c == quote) {
            ended = true;
        } else if (c == '\\' && quote == '"' && w->p < w->end) {
            char next = *w->p++;
            qn_buf_char(&text, next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next);
        } else {
            qn_buf_char(&text, c);
        }
    }
    write_string(out, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    return ended ? QN_OK : unsupported(t, "a text that does not end");
}

static qn_err take_pipeline(struct translator *t, struct words *w, struct qn_buf *out,
                            bool *structure);

static qn_err take_operand(struct translator *t, struct words *w, struct qn_buf *out,
                           bool *structure)
{
    char name[WORD_MAX];
    skip(w);
    *structure = false;
    if (w->p == w->end)
        return unsupported(t, "a value is missing");
    if (*w->p == '(') {
        if (++w->depth > EXPRESSION_DEPTH_MAX)
            return unsupported(t, "too many brackets");
        w->p++;
        qn_buf_char(out, '(');
        qn_err err = take_pipeline(t, w, out, structure);
        skip(w);
        if (!err && (w->p == w->end || *w->p != ')'))
            err = unsupported(t, "a bracket is missing");
        if (err)
            return err;
        w->p++;
        w->depth--;
        qn_buf_char(out, ')');
        return take_members(t, w, out, structure);
    }
    if (*w->p == '"' || *w->p == '`')
        return take_string(t, w, out);
    if (*w->p == '.')
        return take_dot(t, w, t->dot, out, structure);
    if (*w->p == '$') {
        w->p++;
        take_name(w, name);
        if (!*name)
            return take_dot(t, w, (struct dot){.root = true}, out, structure);
        qn_buf_fmt(out, "qn.v_%s", name);
        return take_members(t, w, out, structure);
    }
    if (isdigit((unsigned char)*w->p) || *w->p == '-') {
        qn_buf_char(out, *w->p++);
        while (w->p < w->end && (isdigit((unsigned char)*w->p) || *w->p == '.'))
            qn_buf_char(out, *w->p++);
        return QN_OK;
    }
    take_name(w, name);
    if (qn_str_eq(name, "true") || qn_str_eq(name, "false")) {
        qn_buf_str(out, name);
        return QN_OK;
    }
    if (qn_str_eq(name, "nil")) {
        qn_buf_str(out, "none");
        return QN_OK;
    }
    if (qn_str_eq(name, "currentDate")) {
        qn_buf_str(out, "strftime_now('%Y-%m-%d')");
        return QN_OK;
    }
    return unsupported(t, "'%s' is not known", name);
}

/* Functions by their form in Jinja. */
enum form { INFIX, CHAIN, PREFIX, FILTER, INDEX, SLICE };
static const struct {
    const char *go, *jinja;
    enum form form;
    size_t least, most;
} functions[] = {
    {"eq", "==", CHAIN, 2, 16},       {"ne", "!=", INFIX, 2, 2},
    {"lt", "<", INFIX, 2, 2},         {"le", "<=", INFIX, 2, 2},
    {"gt", ">", INFIX, 2, 2},         {"ge", ">=", INFIX, 2, 2},
    {"and", " and ", INFIX, 1, 16},   {"or", " or ", INFIX, 1, 16},
    {"not", "not ", PREFIX, 1, 1},    {"len", "length", FILTER, 1, 1},
    {"json", "tojson", FILTER, 1, 1}, {"toJson", "tojson", FILTER, 1, 1},
    {"index", "", INDEX, 2, 2},       {"slice", "", SLICE, 2, 3},
};
enum { ARGUMENTS_MAX = 16 };

static qn_err write_call(struct translator *t, size_t f, const struct qn_buf *args, size_t n,
                         struct qn_buf *out)
{
    if (n < functions[f].least || n > functions[f].most)
        return unsupported(t, "%s with %zu values", functions[f].go, n);
    const char *a = args[0].data;
    const char *op = functions[f].jinja;
    qn_buf_char(out, '(');
    switch (functions[f].form) {
    case INFIX:
        qn_buf_str(out, a);
        for (size_t i = 1; i < n; i++)
            qn_buf_fmt(out, "%s%s", op, args[i].data);
        break;
    case CHAIN: /* true if the first value equals one of the others */
        for (size_t i = 1; i < n; i++)
            qn_buf_fmt(out, "%s%s%s%s", i > 1 ? " or " : "", a, op, args[i].data);
        break;
    case PREFIX:
        qn_buf_fmt(out, "%s%s", op, a);
        break;
    case FILTER:
        qn_buf_fmt(out, "%s|%s", a, op);
        break;
    case INDEX:
        qn_buf_fmt(out, "%s[%s]", a, args[1].data);
        break;
    case SLICE:
        qn_buf_fmt(out, "%s[%s:%s]", a, args[1].data, n > 2 ? args[2].data : "");
        break;
    }
    qn_buf_char(out, ')');
    return QN_OK;
}

static bool ends_command(struct words *w)
{
    return at_end(w) || *w->p == ')' || *w->p == '|';
}

/* Reads one command: an operand, or a function and its arguments; piped is its last argument, or
 * NULL. */
static qn_err take_command(struct translator *t, struct words *w, const struct qn_buf *piped,
                           struct qn_buf *out, bool *structure)
{
    struct words ahead = *w;
    char name[WORD_MAX];
    skip(&ahead);
    take_name(&ahead, name);
    size_t f = 0, n = 0;
    while (f < sizeof functions / sizeof *functions && !qn_str_eq(functions[f].go, name))
        f++;
    if (f == sizeof functions / sizeof *functions) {
        if (piped)
            return unsupported(t, "'%s' cannot take a value from a pipe", name);
        return take_operand(t, w, out, structure);
    }
    w->p = ahead.p;
    *structure = false;
    struct qn_buf args[ARGUMENTS_MAX];
    qn_err err = QN_OK;
    while (!err && !ends_command(w)) {
        bool ignored;
        if (n == ARGUMENTS_MAX - 1) {
            err = unsupported(t, "too many values");
            break;
        }
        qn_buf_init(&args[n], JINJA_MAX);
        err = take_operand(t, w, &args[n], &ignored);
        if (!err)
            err = check_work(t, args[n].len);
        if (!err && args[n].overflow)
            err = unsupported(t, "a value of more than %d bytes", JINJA_MAX);
        qn_buf_cstr(&args[n++]);
    }
    if (!err && piped) {
        qn_buf_init(&args[n], JINJA_MAX);
        qn_buf_str(&args[n++], piped->data);
    }
    if (!err)
        err = n ? write_call(t, f, args, n, out) : unsupported(t, "%s without values", name);
    while (n)
        qn_buf_deinit(&args[--n]);
    return err;
}

static qn_err take_pipeline(struct translator *t, struct words *w, struct qn_buf *out,
                            bool *structure)
{
    struct qn_buf value, next;
    int pipes = 0;
    qn_buf_init(&value, JINJA_MAX);
    qn_err err = take_command(t, w, NULL, &value, structure);
    while (!err && !at_end(w) && *w->p == '|') {
        if (++pipes > PIPES_MAX) {
            err = unsupported(t, "a value with more than %d pipes", PIPES_MAX);
            break;
        }
        w->p++;
        qn_buf_init(&next, JINJA_MAX);
        qn_buf_cstr(&value);
        err = take_command(t, w, &value, &next, structure);
        qn_buf_deinit(&value);
        value = next;
        if (!err)
            err = check_work(t, value.len);
    }
    if (!err)
        err = check_work(t, value.len);
    if (!err && value.overflow)
        err = unsupported(t, "a value of more than %d bytes", JINJA_MAX);
    qn_buf_add(out, qn_buf_cstr(&value), value.len);
    qn_buf_deinit(&value);
    return err;
}

/* ---- statements ---- */

static void put_text(struct translator *t, const char *s, size_t n)
{
    if (!n)
        return;
    qn_buf_str(t->out, t->cut ? "{% if not last %}{{ " : "{{ ");
    write_string(t->out, s, n);
    qn_buf_str(t->out, t->cut ? " }}{% endif %}" : " }}");
}

static bool starts(struct words *w, const char *word)
{
    size_t n = strlen(word);
    skip(w);
    if ((size_t)(w->end - w->p) < n || memcmp(w->p, word, n) != 0 ||
        (w->p + n < w->end && is_word(w->p[n])))
        return false;
    w->p += n;
    return true;
}

static qn_err whole_pipeline(struct translator *t, struct words *w, struct qn_buf *out,
                             bool *structure)
{
    qn_err err = take_pipeline(t, w, out, structure);
    return err || at_end(w)
               ? err
               : unsupported(t, "'%.*s' is not understood", (int)(w->end - w->p), w->p);
}

static qn_err push(struct translator *t, enum block kind)
{
    if (t->depth == DEPTH_MAX)
        return unsupported(t, "more than %d nested blocks", DEPTH_MAX);
    t->open[t->depth].kind = kind;
    t->open[t->depth++].dot = t->dot;
    return QN_OK;
}

static qn_err begin_if(struct translator *t, struct words *w, const char *word)
{
    bool ignored;
    qn_buf_fmt(t->out, "{%% %s ", word);
    qn_err err = whole_pipeline(t, w, t->out, &ignored);
    qn_buf_str(t->out, " %}");
    return err;
}

static qn_err begin_with(struct translator *t, struct words *w)
{
    bool ignored;
    struct qn_buf value;
    qn_err err = push(t, WITH);
    qn_buf_init(&value, JINJA_MAX);
    if (!err)
        err = whole_pipeline(t, w, &value, &ignored);
    if (!err) {
        t->dot = (struct dot){.number = ++t->dots};
        qn_buf_fmt(t->out, "{%% set d%d = %s %%}{%% if d%d %%}", t->dot.number, qn_buf_cstr(&value),
                   t->dot.number);
    }
    qn_buf_deinit(&value);
    return err;
}

/* "range X", "range $e := X", "range $i, $e := X". */
static qn_err begin_range(struct translator *t, struct words *w)
{
    char names[2][WORD_MAX] = {"", ""};
    size_t n = 0;
    bool ignored;
    struct words ahead = *w;
    skip(&ahead);
    while (n < 2 && ahead.p < ahead.end && *ahead.p == '$') {
        ahead.p++;
        take_name(&ahead, names[n++]);
        skip(&ahead);
        if (ahead.p < ahead.end && *ahead.p == ',')
            ahead.p++;
        skip(&ahead);
    }
    bool named = n > 0 && ahead.end - ahead.p > 1 && ahead.p[0] == ':' && ahead.p[1] == '=';
    if (named)
        w->p = ahead.p + 2;
    qn_err err = push(t, RANGE);
    struct qn_buf value;
    qn_buf_init(&value, JINJA_MAX);
    if (!err)
        err = whole_pipeline(t, w, &value, &ignored);
    if (!err) {
        t->dot = (struct dot){.number = ++t->dots};
        int d = t->dot.number;
        qn_buf_fmt(t->out, "{%% for d%d in (%s or []) %%}", d, qn_buf_cstr(&value));
        if (named && n == 2)
            qn_buf_fmt(t->out, "{%% set qn.v_%s = loop.index0 %%}{%% set qn.v_%s = d%d %%}",
                       names[0], names[1], d);
        else if (named)
            qn_buf_fmt(t->out, "{%% set qn.v_%s = d%d %%}", names[0], d);
    }
    qn_buf_deinit(&value);
    return err;
}

static qn_err end_block(struct translator *t)
{
    if (!t->depth)
        return unsupported(t, "an end without a beginning");
    t->depth--;
    t->dot = t->open[t->depth].dot;
    qn_buf_str(t->out, t->open[t->depth].kind == RANGE ? "{% endfor %}" : "{% endif %}");
    return QN_OK;
}

static qn_err begin_else(struct translator *t, struct words *w)
{
    if (!t->depth)
        return unsupported(t, "an else without an if");
    if (starts(w, "if"))
        return t->open[t->depth - 1].kind == IF ? begin_if(t, w, "elif")
                                                : unsupported(t, "else if of another block");
    t->dot = t->open[t->depth - 1].dot;
    qn_buf_str(t->out, "{% else %}");
    return QN_OK;
}

/* Reads "$x := value" and "$x = value". False: it is neither. */
static bool set_variable(struct translator *t, struct words *w, qn_err *err)
{
    struct words ahead = *w;
    char name[WORD_MAX];
    bool ignored;
    skip(&ahead);
    if (ahead.p == ahead.end || *ahead.p++ != '$')
        return false;
    take_name(&ahead, name);
    skip(&ahead);
    if (ahead.p < ahead.end && *ahead.p == ':')
        ahead.p++;
    if (!*name || ahead.p == ahead.end || *ahead.p++ != '=')
        return false;
    qn_buf_fmt(t->out, "{%% set qn.v_%s = ", name);
    *err = whole_pipeline(t, &ahead, t->out, &ignored);
    qn_buf_str(t->out, " %}");
    return true;
}

static bool mentions(const char *s, size_t n, const char *field)
{
    size_t len = strlen(field);
    for (const char *at = memmem(s, n, field, len); at;
         at = memmem(at + 1, n - (size_t)(at + 1 - s), field, len))
        if (at + len == s + n || !is_word(at[len]))
            return true;
    return false;
}

static qn_err show(struct translator *t, struct words *w)
{
    struct qn_buf value;
    bool structure, response = mentions(w->p, (size_t)(w->end - w->p), ".Response");
    qn_buf_init(&value, JINJA_MAX);
    qn_err err = whole_pipeline(t, w, &value, &structure);
    qn_buf_str(t->out, t->cut ? "{% if not last %}" : "");
    qn_buf_fmt(t->out, "{{ %s%s }}", qn_buf_cstr(&value), structure ? "|tojson" : "");
    qn_buf_str(t->out, t->cut ? "{% endif %}" : "");
    qn_buf_deinit(&value);
    t->cut = t->cut || (t->turns && response);
    return err;
}

static qn_err action(struct translator *t, const char *s, size_t n)
{
    static const char *const others[] = {"define", "template", "block"};
    struct words w = {s, s + n, 0};
    qn_err err = QN_OK;
    if (at_end(&w) || *w.p == '/')
        return QN_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (starts(&w, others[i]))
            return unsupported(t, "'%s' is not supported", others[i]);
    if (starts(&w, "if")) {
        err = push(t, IF);
        return err ? err : begin_if(t, &w, "if");
    }
    if (starts(&w, "range"))
        return begin_range(t, &w);
    if (starts(&w, "with"))
        return begin_with(t, &w);
    if (starts(&w, "else"))
        return begin_else(t, &w);
    if (starts(&w, "end"))
        return end_block(t);
    if (starts(&w, "break") || starts(&w, "continue")) {
        qn_buf_fmt(t->out, "{%% %.*s %%}", (int)(w.p - s), s);
        return QN_OK;
    }
    return set_variable(t, &w, &err) ? err : show(t, &w);
}

static qn_err translate(struct translator *t)
{
    bool trim = false; /* the previous action removes white space after it */
    qn_err err = QN_OK;
    while (t->p < t->end && !err && !t->out->overflow) {
        const char *open = memmem(t->p, (size_t)(t->end - t->p), "{{", 2);
        const char *text = t->p, *text_end = open ? open : t->end;
        bool eats = open && open + 3 < t->end && open[2] == '-' && isspace((unsigned char)open[3]);
        while (trim && text < text_end && isspace((unsigned char)*text))
            text++;
        while (eats && text_end > text && isspace((unsigned char)text_end[-1]))
            text_end--;
        put_text(t, text, (size_t)(text_end - text));
        if (!open)
            return QN_OK;
        const char *close = memmem(open, (size_t)(t->end - open), "}}", 2);
        if (!close)
            return unsupported(t, "brackets that do not close");
        const char *s = open + (eats ? 3 : 2), *e = close;
        trim = e - s > 1 && e[-1] == '-' && isspace((unsigned char)e[-2]);
        if (trim)
            e--;
        t->p = close + 2;
        err = action(t, s, (size_t)(e - s));
    }
    if (!err && t->depth && !t->out->overflow)
        err = unsupported(t, "a block without an end");
    return err;
}

static const char turns_end[] =
    "{% endmacro %}"
    "{% set q = namespace(s='', p='', first=true) %}"
    "{% for m in messages %}"
    "{% if m['role'] == 'assistant' %}"
    "{{ qn_turn(q.s, q.p, m['content'] or '', q.first, false) }}"
    "{% set q.s = '' %}{% set q.p = '' %}{% set q.first = false %}"
    "{% else %}"
    "{% if q.p %}{{ qn_turn(q.s, q.p, '', q.first, false) }}"
    "{% set q.s = '' %}{% set q.p = '' %}{% set q.first = false %}{% endif %}"
    "{% if m['role'] == 'system' %}{% set q.s = m['content'] %}"
    "{% else %}{% set q.p = m['content'] %}{% endif %}"
    "{% endif %}"
    "{% endfor %}"
    "{% if q.s or q.p %}{{ qn_turn(q.s, q.p, '', q.first, true) }}{% endif %}";

static const char whole_begin[] =
    "{% set qn = namespace(system='') %}"
    "{% for m in messages %}{% if m['role'] == 'system' %}"
    "{% set qn.system = qn.system + ('\\n\\n' if qn.system else '') + m['content'] %}"
    "{% endif %}{% endfor %}";

/* Returns the first two consecutive c, NULL: none. strstr is not used, because the address
 * sanitizer's version scans the whole text at each call. */
static const char *find_two(const char *s, char c)
{
    for (s = strchr(s, c); s && s[1] != c; s = strchr(s + 1, c))
        ;
    return s;
}

/* Reads each byte only a few times, independent of the number of brackets, because texts may be
 * large and this runs on the loop's thread. */
static bool is_go(const char *text)
{
    static const char *const words[] = {".",    "$",     "if ",    "range ",  "with ",     "end",
                                        "else", "json ", "block ", "define ", "template ", "/*"};
    if (strstr(text, "{%"))
        return false;
    const char *close = find_two(text, '}'); /* the first one after p, NULL: none */
    const char *searched = text;             /* the text before this has been searched */
    for (const char *p = find_two(text, '{'); p; p = find_two(p, '{')) {
        p += 2;
        p += *p == '-';
        p += strspn(p, " \t\r\n");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (qn_str_starts(p, words[i]))
                return true;
        if (close && close < p)
            close = find_two(p, '}');
        for (const char *at = p > searched ? p : searched; close && at + 2 < close; at++)
            if ((*at == ' ' || *at == '(') && at[1] == '.' && isupper((unsigned char)at[2]))
                return true; /* a field anywhere after a function's name */
        searched = close;
    }
    return false;
}

qn_err qn_ollama_template(const char *text, struct qn_buf *out, struct qn_error *e)
{
    qn_err err = QN_OK;
    if (is_go(text)) {
        struct translator t = {.p = text,
                               .end = text + strlen(text),
                               .out = out,
                               .e = e,
                               .turns = !mentions(text, strlen(text), ".Messages"),
                               .dot = {.root = true}};
        if (t.turns)
            qn_buf_str(out, "{% macro qn_turn(System, Prompt, Response, First, last) %}"
                            "{% set qn = namespace() %}");
        else
            qn_buf_str(out, whole_begin);
        err = translate(&t);
        if (!err && t.turns)
            qn_buf_str(out, turns_end);
    } else {
        qn_buf_str(out, text);
    }
    if (!err && out->overflow)
        err = qn_fail_param(e, QN_EINVAL, "template", "template: too long");
    return err;
}
