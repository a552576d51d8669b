/* The content of `quince top`: a summary of the server's reports, and the text of one frame.
 * Pure. */
#ifndef QN_CLI_TOP_H
#define QN_CLI_TOP_H

#include "base/buf.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_TOP_MODELS_MAX = 64, QN_TOP_NAME_MAX = 200 };

/* Strings are borrowed from the reports. */
struct qn_top_model {
    const char *name, *state;
    const char *reason;  /* why it is queued for loading; "": it is not */
    double memory_bytes; /* 0: unknown */
    double progress;     /* of loading, 0 to 1 */
    double running, slots, waiting;
    double rate;    /* tokens per second since the previous sample; < 0: no previous sample */
    double stays_s; /* keep-alive time left; < 0: unlimited */
    bool pinned;
};

struct qn_top_view {
    const char *version, *url;
    double uptime_s;
    double cpu_percent, memory_gb, memory_total_gb; /* < 0: unknown; so are the next two */
    double gpu_percent, vram_gb;
    double running, waiting, completed, failed, cancelled;
    double rate; /* as for a model */
    double prompt_tokens, cached_tokens, output_tokens;
    double first_s, first_slow_s, between_s, between_slow_s; /* p50 and p99; 0: no values */
    struct qn_top_model models[QN_TOP_MODELS_MAX];
    size_t n_models, left_out;
};

/* Counters at one point of time, for computing rates at the next. Begins zeroed. */
struct qn_top_sample {
    int64_t at_ms; /* 0: no sample yet */
    double tokens;
    size_t n;
    struct {
        char name[QN_TOP_NAME_MAX + 1];
        double tokens;
    } models[QN_TOP_MODELS_MAX];
};

/* Summarises the replies of GET status, stats and system-stats, and updates the sample. Missing
 * members count as 0 or unknown. now_ms: monotonic. */
void qn_top_read(struct qn_top_view *t, const struct qn_jref *status, const struct qn_jref *stats,
                 const struct qn_jref *system, struct qn_top_sample *sample, int64_t now_ms);

/* Appends at most `height` lines of at most `width` columns, each with a line feed. *heading: index
 * of the table's heading among them, from 0. */
void qn_top_frame(const struct qn_top_view *t, size_t width, size_t height, struct qn_buf *out,
                  size_t *heading);

#endif
