/* See top.h. */
#include "cli/top.h"

#include "base/str.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/words.h"

#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, BAR = 18, TEXT_MAX = 1024 * 1024 };

/* ---- reading ---- */

static double number(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_f64(&v);
}

static double number_or_less(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_type(&v) == QN_JSON_NUMBER ? qn_json_raw_f64(&v) : -1;
}

static const char *text(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

static double latency(const struct qn_jref *stats, const char *what, const char *share)
{
    struct qn_jref all = qn_json_get(stats, "latency"), one = qn_json_get(&all, what);
    return number(&one, share);
}

/* Increase per second; after a restart of the server the counter began at 0. */
static double rate_of(double now, double before, int64_t ms)
{
    return ms > 0 && now >= before ? (now - before) * 1000 / (double)ms : -1;
}

static double rate_of_model(const struct qn_top_sample *before, const char *name, double tokens,
                            int64_t ms)
{
    for (size_t i = 0; i < before->n; i++)
        if (qn_str_eq(before->models[i].name, name))
            return rate_of(tokens, before->models[i].tokens, ms);
    return before->at_ms ? rate_of(tokens, 0, ms) : -1;
}

static void read_models(struct qn_top_view *t, const struct qn_jref *status)
{
    struct qn_jref list = qn_json_get(status, "all_models_loaded"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref pinned = qn_json_get(&it, "pinned");
        t->running += number(&it, "requests_running");
        t->waiting += number(&it, "requests_waiting");
        if (t->n_models == QN_TOP_MODELS_MAX) {
            t->left_out++;
            continue;
        }
        t->models[t->n_models++] = (struct qn_top_model){
            .name = text(&it, "model_name"),
            .state = text(&it, "status"),
            .reason = text(&it, "reason"),
            .memory_bytes = number(&it, "memory_bytes"),
            .progress = number(&it, "progress"),
            .running = number(&it, "requests_running"),
            .slots = number(&it, "slots"),
            .waiting = number(&it, "requests_waiting"),
            .rate = -1,
            .stays_s = number_or_less(&it, "unloads_in_seconds"),
            .pinned = qn_json_raw_bool(&pinned),
        };
    }
}

static void read_rates(struct qn_top_view *t, const struct qn_jref *stats,
                       struct qn_top_sample *sample, int64_t now_ms)
{
    struct qn_top_sample next = {.at_ms = now_ms, .tokens = number(stats, "stream_chunks_total")};
    int64_t ms = sample->at_ms ? now_ms - sample->at_ms : 0;
    struct qn_jref list = qn_json_get(stats, "models"), it;
    t->rate = rate_of(next.tokens, sample->tokens, ms);
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        const char *name = text(&it, "model_name");
        double tokens = number(&it, "stream_chunks_total");
        for (size_t i = 0; i < t->n_models; i++)
            if (qn_str_eq(t->models[i].name, name))
                t->models[i].rate = rate_of_model(sample, name, tokens, ms);
        if (next.n == QN_TOP_MODELS_MAX)
            continue;
        snprintf(next.models[next.n].name, sizeof next.models[0].name, "%s", name);
        next.models[next.n++].tokens = tokens;
    }
    *sample = next;
}

void qn_top_read(struct qn_top_view *t, const struct qn_jref *status, const struct qn_jref *stats,
                 const struct qn_jref *system, struct qn_top_sample *sample, int64_t now_ms)
{
    struct qn_jref router = qn_json_get(status, "system");
    const char *url = t->url;
    *t = (struct qn_top_view){
        .url = url,
        .version = text(status, "version"),
        .uptime_s = number(&router, "uptime_seconds"),
        .cpu_percent = number_or_less(system, "cpu_percent"),
        .memory_gb = number_or_less(system, "memory_gb"),
        .memory_total_gb = number_or_less(system, "memory_total_gb"),
        .gpu_percent = number_or_less(system, "gpu_percent"),
        .vram_gb = number_or_less(system, "vram_gb"),
        .completed = number(stats, "completed_count_total"),
        .failed = number(stats, "failed_count_total"),
        .cancelled = number(stats, "cancelled_count_total"),
        .prompt_tokens = number(stats, "prompt_tokens_total"),
        .cached_tokens = number(stats, "cache_tokens_total"),
        .output_tokens = number(stats, "output_tokens_total"),
        .first_s = latency(stats, "time_to_first_token", "p50"),
        .first_slow_s = latency(stats, "time_to_first_token", "p99"),
        .between_s = latency(stats, "inter_token", "p50"),
        .between_slow_s = latency(stats, "inter_token", "p99"),
    };
    read_models(t, status);
    read_rates(t, stats, sample, now_ms);
}

/* ---- writing ---- */

struct frame {
    struct qn_buf *out;
    size_t width, lines, height;
};

/* Adds one line, cut at the terminal's width. */
static void put(struct frame *f, const char *line)
{
    size_t columns = 0;
    if (f->lines == f->height)
        return;
    for (size_t n = strlen(line), at = 0; at < n;) {
        struct qn_glyph g = qn_print_glyph(line + at, n - at);
        columns += g.columns;
        if (columns > f->width)
            break;
        if (g.shown)
            qn_buf_add(f->out, line + at, g.bytes);
        else
            qn_buf_char(f->out, '?');
        at += g.bytes;
    }
    qn_buf_char(f->out, '\n');
    f->lines++;
}

static void write_bar(double share, char out[static BAR + 3])
{
    int full = (int)((share < 0 ? 0 : share > 1 ? 1 : share) * BAR + 0.5);
    out[0] = '[';
    memset(out + 1, '|', (size_t)full);
    memset(out + 1 + full, ' ', (size_t)(BAR - full));
    strcpy(out + 1 + BAR, "]");
}

/* "0.21 s", "28 ms"; "-" if nothing was measured. */
static void write_seconds(double s, char out[static 16])
{
    if (s <= 0)
        strcpy(out, "-");
    else if (s < 0.9995)
        snprintf(out, 16, s < 0.00995 ? "%.1f ms" : "%.0f ms", s * 1000);
    else
        snprintf(out, 16, s < 9.995 ? "%.2f s" : "%.0f s", s < 1e9 ? s : 1e9);
}

static void write_rate(double rate, char out[static 16])
{
    if (rate < 0)
        strcpy(out, "-");
    else
        snprintf(out, 16, rate < 99.95 ? "%.1f" : "%.0f", rate < 1e9 ? rate : 1e9);
}

static void write_count(double count, char out[static 16])
{
    if (count > 0)
        qn_human_count(count, out);
    else
        strcpy(out, "0");
}

static void put_title(struct frame *f, const struct qn_top_view *t)
{
    char line[LINE_MAX_BYTES], left[LINE_MAX_BYTES - 32], up[24];
    qn_words_duration(t->uptime_s, up);
    snprintf(left, sizeof left, "quince %.40s at %.200s", t->version, t->url);
    int pad = (int)f->width - (int)strlen(left) - (int)strlen(up) - 3;
    snprintf(line, sizeof line, "%s%*sup %s", left, pad > 2 ? pad : 2, "", up);
    put(f, line);
}

static void put_machine(struct frame *f, const struct qn_top_view *t)
{
    char line[LINE_MAX_BYTES], cpu[BAR + 3], memory[BAR + 3];
    double total = t->memory_total_gb > 0 ? t->memory_total_gb : t->memory_gb;
    write_bar(t->cpu_percent / 100, cpu);
    write_bar(total > 0 ? t->memory_gb / total : 0, memory);
    snprintf(line, sizeof line, "Processor %s %3.0f %%  Memory %s %.1f of %.1f GB", cpu,
             t->cpu_percent, memory, t->memory_gb, total);
    put(f, line);
    if (t->gpu_percent < 0)
        return;
    write_bar(t->gpu_percent / 100, cpu);
    snprintf(line, sizeof line, "Graphics  %s %3.0f %%  its memory: %.1f GB", cpu, t->gpu_percent,
             t->vram_gb);
    put(f, line);
}

static void put_requests(struct frame *f, const struct qn_top_view *t)
{
    char line[LINE_MAX_BYTES], rate[16], out[16], in[16], cached[16];
    char first[16], first_slow[16], between[16], between_slow[16];
    snprintf(line, sizeof line,
             "Requests  %.0f running, %.0f waiting; %.0f completed, %.0f failed, %.0f cancelled",
             t->running, t->waiting, t->completed, t->failed, t->cancelled);
    put(f, line);
    write_rate(t->rate, rate);
    write_count(t->output_tokens, out);
    write_count(t->prompt_tokens, in);
    write_count(t->cached_tokens, cached);
    snprintf(line, sizeof line, "Tokens    %s a second; %s out, %s in, %s of them cached", rate,
             out, in, cached);
    put(f, line);
    write_seconds(t->first_s, first);
    write_seconds(t->first_slow_s, first_slow);
    write_seconds(t->between_s, between);
    write_seconds(t->between_slow_s, between_slow);
    snprintf(line, sizeof line,
             "Latency   first token %s (99 %%: %s), between tokens %s (99 %%: %s)", first,
             first_slow, between, between_slow);
    put(f, line);
}

static void add_model(struct qn_table *table, const struct qn_top_model *m)
{
    char state[32], memory[16] = "", busy[48], waiting[24], rate[16], stays[24];
    if (m->progress > 0 && m->progress < 1)
        snprintf(state, sizeof state, "%.20s %d%%", m->state, (int)(m->progress * 100));
    else
        snprintf(state, sizeof state, "%.31s", m->state);
    if (m->memory_bytes > 0)
        qn_human_bytes(m->memory_bytes, memory);
    snprintf(busy, sizeof busy, m->slots > 0 ? "%.0f/%.0f" : "%.0f", m->running, m->slots);
    snprintf(waiting, sizeof waiting, "%.0f", m->waiting < 1e9 ? m->waiting : 1e9);
    write_rate(m->rate, rate);
    if (m->pinned)
        strcpy(stays, "pinned");
    else if (m->stays_s < 0)
        strcpy(stays, "forever");
    else
        qn_words_duration(m->stays_s, stays);
    const char *cells[] = {m->name, state, memory, busy, waiting, rate, stays};
    qn_table_row(table, cells);
}

/* Adds a sentence on as many lines as needed, broken between words. */
static void put_words(struct frame *f, char *s)
{
    while (*s) {
        size_t columns = 0, at = 0, space = 0;
        for (size_t n = strlen(s); at < n;) {
            struct qn_glyph g = qn_print_glyph(s + at, n - at);
            columns += g.columns;
            if (columns > f->width)
                break;
            at += g.bytes;
            if (s[at] == ' ')
                space = at;
        }
        size_t end = s[at] && space ? space : at;
        char last = s[end];
        s[end] = '\0';
        put(f, s);
        s[end] = last;
        s += end ? end : strlen(s); /* the terminal is too narrow for a single letter */
        s += *s == ' ';
    }
}

static void put_reasons(struct frame *f, const struct qn_top_view *t)
{
    for (size_t i = 0; i < t->n_models; i++) {
        struct qn_buf line;
        if (!*t->models[i].reason)
            continue;
        qn_buf_init(&line, TEXT_MAX);
        qn_buf_fmt(&line, "%s: %s", t->models[i].name, t->models[i].reason);
        put_words(f, qn_buf_cstr(&line));
        qn_buf_deinit(&line);
    }
}

static void put_models(struct frame *f, const struct qn_top_view *t)
{
    static const char *const titles[] = {"Model", "State",  "Memory", "Busy",
                                         "Queue", "Tok./s", "Stays"};
    struct qn_table *table = qn_table_new(sizeof titles / sizeof *titles, titles);
    struct qn_buf text_of_table;
    size_t room = f->height - f->lines, shown = t->n_models, left_out = t->left_out;
    if (room < 1 + shown + (left_out > 0)) { /* the last line says how many are not shown */
        size_t fits = room > 2 ? room - 2 : 0;
        left_out += shown - fits;
        shown = fits;
    }
    for (size_t i = 0; i < shown; i++)
        add_model(table, &t->models[i]);
    qn_buf_init(&text_of_table, TEXT_MAX);
    qn_table_write(table, f->width, &text_of_table);
    qn_table_free(table);
    for (char *line = qn_buf_cstr(&text_of_table), *end; (end = strchr(line, '\n'));
         line = end + 1) {
        *end = '\0';
        put(f, line);
    }
    qn_buf_deinit(&text_of_table);
    if (left_out) {
        char line[64];
        snprintf(line, sizeof line, "... and %zu more", left_out);
        put(f, line);
    }
    put_reasons(f, t);
}

void qn_top_frame(const struct qn_top_view *t, size_t width, size_t height, struct qn_buf *out,
                  size_t *heading)
{
    struct frame f = {.out = out, .width = width, .height = height};
    put_title(&f, t);
    put_machine(&f, t);
    put_requests(&f, t);
    put(&f, "");
    *heading = f.lines;
    if (t->n_models)
        put_models(&f, t);
    else
        put(&f, "No model is loaded; models are loaded at their first use");
}
