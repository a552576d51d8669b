/* Writes metrics in Prometheus' text format, version 0.0.4: families with their HELP and TYPE
 * lines, samples with escaped labels, histograms with cumulative buckets. Pure; the only error is
 * the buffer's overflow flag. Source: prometheus.io/docs/instrumenting/exposition_formats. */
#ifndef QN_TELEMETRY_EXPOSITION_H
#define QN_TELEMETRY_EXPOSITION_H

#include "base/buf.h"
#include "telemetry/histogram.h"

#define QN_EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum { QN_EXPOSITION_LABELS_MAX = 6 };

struct qn_label {
    const char *name, *value; /* a label whose value is NULL or "" is omitted */
};

struct qn_labels {
    size_t n;
    struct qn_label v[QN_EXPOSITION_LABELS_MAX];
};

/* Begins a family: called once for each name, before its samples. The samples of a family must
 * follow without samples of another one in between. type: "counter", "gauge", "histogram". */
void qn_expose_family(struct qn_buf *out, const char *name, const char *type, const char *help);

/* Writes one sample. labels MAY be NULL. A value that is not finite is omitted. */
void qn_expose(struct qn_buf *out, const char *name, const struct qn_labels *labels, double value);

/* Writes a histogram's samples: _bucket for every bound and +Inf, _sum, _count. labels MAY be NULL;
 * otherwise there must be room in it for one more label. */
void qn_expose_histogram(struct qn_buf *out, const char *name, const struct qn_labels *labels,
                         const struct qn_histogram *h, const struct qn_bounds *b);

#endif
