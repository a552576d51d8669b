/* See exposition.h. */
#include "telemetry/exposition.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Integers up to here are exact as double. */
#define WHOLE_MAX 9007199254740992.0

enum { NUMBER_MAX = 32, NAME_MAX_BYTES = 128 };

/* Escapes backslash and line feed everywhere, and the double quote in label values. */
static void write_escaped(struct qn_buf *out, const char *s, bool quoted)
{
    for (;; s++) {
        size_t plain = strcspn(s, quoted ? "\\\n\"" : "\\\n");
        qn_buf_add(out, s, plain);
        s += plain;
        if (!*s)
            return;
        qn_buf_str(out, *s == '\\' ? "\\\\" : *s == '\n' ? "\\n" : "\\\"");
    }
}

void qn_expose_family(struct qn_buf *out, const char *name, const char *type, const char *help)
{
    qn_buf_fmt(out, "# HELP %s ", name);
    write_escaped(out, help, false);
    qn_buf_fmt(out, "\n# TYPE %s %s\n", name, type);
}

static void write_labels(struct qn_buf *out, const struct qn_labels *labels)
{
    char before = '{';
    for (size_t i = 0; labels && i < labels->n; i++) {
        if (!labels->v[i].value || !*labels->v[i].value)
            continue;
        qn_buf_char(out, before);
        qn_buf_str(out, labels->v[i].name);
        qn_buf_str(out, "=\"");
        write_escaped(out, labels->v[i].value, true);
        qn_buf_char(out, '"');
        before = ',';
    }
    if (before == ',')
        qn_buf_char(out, '}');
}

void qn_expose(struct qn_buf *out, const char *name, const struct qn_labels *labels, double value)
{
    if (!isfinite(value))
        return;
    qn_buf_str(out, name);
    write_labels(out, labels);
    qn_buf_char(out, ' ');
    struct qn_jw w = qn_jw_to(out);
    if (fabs(value) < WHOLE_MAX && value == floor(value))
        /* most values are counts, and integers are faster to write */
        qn_jw_i64(&w, (int64_t)value);
    else
        qn_jw_f64(&w, value); /* the shortest text that parses to the same number */
    qn_buf_char(out, '\n');
}

void qn_expose_histogram(struct qn_buf *out, const char *name, const struct qn_labels *labels,
                         const struct qn_histogram *h, const struct qn_bounds *b)
{
    struct qn_labels le = labels ? *labels : (struct qn_labels){0};
    char part[NAME_MAX_BYTES], bound[NUMBER_MAX];
    uint64_t below = 0;
    le.v[le.n++] = (struct qn_label){"le", bound};
    snprintf(part, sizeof part, "%s_bucket", name);
    for (size_t i = 0; i <= b->n; i++) {
        below += h->buckets[i];
        if (i < b->n)
            snprintf(bound, sizeof bound, "%.15g", b->upper_s[i]);
        else
            strcpy(bound, "+Inf");
        qn_expose(out, part, &le, (double)below);
    }
    snprintf(part, sizeof part, "%s_sum", name);
    qn_expose(out, part, labels, h->sum_s);
    snprintf(part, sizeof part, "%s_count", name);
    qn_expose(out, part, labels, (double)h->count);
}
