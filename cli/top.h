/* What `quince top` shows: the server's reports boiled down, and the text of one frame. Pure. */
#ifndef QN_CLI_TOP_H
#define QN_CLI_TOP_H

#include "base/buf.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_TOP_MODELS_MAX = 64, QN_TOP_NAME_MAX = 200 };

/* Strings are lent by the reports. */
struct qn_top_model {
    const char *name, *state;
    const char *reason;  /* why it waits to be loaded; "": it does not */
    double memory_bytes; /* 0: not known yet */
    double progress;     /* of loading, 0 to 1 */
    double running, slots, waiting;
    double rate;    /* tokens a second, since the last look; < 0: there was none */
    double stays_s; /* < 0: for ever */
    bool pinned;
};

struct qn_top_view {
    const char *version, *url;
    double uptime_s;
    double cpu_percent, memory_gb, memory_total_gb; /* < 0: unknown, as of the next two */
    double gpu_percent, vram_gb;
    double running, waiting, completed, failed, cancelled;
    double rate; /* as of a model */
    double prompt_tokens, cached_tokens, output_tokens;
    double first_s, first_slow_s, between_s, between_slow_s; /* p50, p99; 0: nothing yet */
    struct qn_top_model models[QN_TOP_MODELS_MAX];
    size_t n_models, left_out;
};

/* What was counted at a look, for the rates of the next one. Begins zeroed. */
struct qn_top_sample {
    int64_t at_ms; /* 0: there was none */
    double tokens;
    size_t n;
    struct {
        char name[QN_TOP_NAME_MAX + 1];
        double tokens;
    } models[QN_TOP_MODELS_MAX];
};

/* Boils the answers of GET status, stats and system-stats down, and renews the sample. What is
 * missing in them counts as 0 or unknown. now_ms: monotonic. */
void qn_top_read(struct qn_top_view *t, const struct qn_jref *status, const struct qn_jref *stats,
                 const struct qn_jref *system, struct qn_top_sample *sample, int64_t now_ms);

/* Appends at most `height` lines of at most `width` columns, each ended by a line feed. *heading:
 * which of them is the heading of the table, counted from 0. */
void qn_top_frame(const struct qn_top_view *t, size_t width, size_t height, struct qn_buf *out,
                  size_t *heading);

#endif
