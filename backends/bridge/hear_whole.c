/* Parses replies that arrive as a whole: embeddings, scores, transcripts, images. See hear.h. */
#include "bridge/hear_private.h"

#include "base/str.h"
#include "contract/frame.h"
#include "digest/base64.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 1000000000 };

static qn_err bad(const struct qn_jref *at, struct qn_error *e, const char *what)
{
    char path[128];
    qn_json_path(at, path, sizeof path);
    return qn_fail(e, QN_ECHILD, "sent a reply whose %s %s", path[0] ? path : "root", what);
}

/* Reads an item's index. The order of the list is the server's, and each index must occur once. */
static qn_err take_index(const struct qn_jref *item, size_t n, bool *seen, int64_t *index,
                         struct qn_error *e)
{
    struct qn_jref v = qn_json_get(item, "index");
    if (qn_json_i64(&v, 0, (int64_t)n - 1, index, NULL) || seen[*index])
        return bad(&v, e, "is not the index of an input, or occurs twice");
    seen[*index] = true;
    return QN_OK;
}

/* Converts the numbers of one vector to dims floats at `to`. */
static qn_err take_vector(const struct qn_jref *v, size_t dims, char *to, struct qn_error *e)
{
    struct qn_jref it;
    size_t i = 0;
    if (qn_json_count(v) != dims)
        return bad(v, e, "is not as long as the first vector");
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it), i++) {
        float x = (float)qn_json_raw_f64(&it);
        if (qn_json_type(&it) != QN_JSON_NUMBER || !isfinite(x))
            return bad(&it, e, "is not a number, or is too large");
        qn_event_put_float(to, i, x);
    }
    return QN_OK;
}

/* Sends the results of the request's inputs, dims floats each, in as many events as the contract's
 * limits require. */
static void say_results(struct qn_hearing *h, enum qn_event_kind kind, const char *floats,
                        size_t dims)
{
    size_t each = 4 * dims, most = QN_EVENT_RESULTS_BYTES_MAX / each;
    most = most < QN_EVENT_RESULTS_MAX ? most : QN_EVENT_RESULTS_MAX;
    for (size_t i = 0, n; i < h->inputs; i += n) {
        struct qn_event ev;
        n = h->inputs - i < most ? h->inputs - i : most;
        qn_event_init(&ev, kind);
        ev.index = (int64_t)(h->first + i);
        ev.count = (int64_t)n;
        ev.data = floats + i * each;
        ev.bytes = (int64_t)(n * each);
        qn_hear_say(h, &ev);
    }
    h->answered = h->first + h->inputs;
}

/* Usage is summed over the job's requests. */
static void add_usage(struct qn_hearing *h, const struct qn_jref *root)
{
    int64_t before = h->usage.prompt;
    h->usage.prompt = 0;
    qn_hear_usage(h, root);
    h->usage.prompt += before;
}

static qn_err take_vectors(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "data"), it, v;
    bool seen[QN_INPUTS_BATCH_MAX] = {false};
    int64_t index;
    qn_err err = QN_OK;
    if (h->inputs > QN_INPUTS_BATCH_MAX || qn_json_count(&list) != h->inputs ||
        !qn_json_first(&list, &it))
        return bad(&list, e, "does not have one vector for each input");
    v = qn_json_get(&it, "embedding");
    size_t dims = qn_json_count(&v);
    if (qn_json_type(&v) != QN_JSON_ARRAY || dims < 1 || dims > QN_JOB_DIMENSIONS_MAX)
        return bad(&v, e, "is not a list of numbers, or is too long");
    char *floats = qn_xmalloc(h->inputs * dims * 4); /* 16 MiB at most */
    for (bool more = true; more && !err; more = qn_json_next(&it)) {
        v = qn_json_get(&it, "embedding");
        err = take_index(&it, h->inputs, seen, &index, e);
        if (!err)
            err = take_vector(&v, dims, floats + (size_t)index * dims * 4, e);
    }
    if (!err)
        say_results(h, QN_EV_VECTORS, floats, dims);
    free(floats);
    if (!err)
        add_usage(h, root);
    return err;
}

static qn_err take_scores(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "results"), it;
    bool seen[QN_INPUTS_BATCH_MAX] = {false};
    char floats[4 * QN_INPUTS_BATCH_MAX];
    int64_t index;
    qn_err err = QN_OK;
    if (h->inputs < 1 || h->inputs > QN_INPUTS_BATCH_MAX || qn_json_count(&list) != h->inputs)
        return bad(&list, e, "does not have one score for each input");
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it)) {
        struct qn_jref v = qn_json_get(&it, "relevance_score");
        float score = (float)qn_json_raw_f64(&v);
        err = take_index(&it, h->inputs, seen, &index, e);
        if (!err && (qn_json_type(&v) != QN_JSON_NUMBER || !isfinite(score)))
            err = bad(&v, e, "is not a number");
        if (!err)
            qn_event_put_float(floats, (size_t)index, score);
    }
    if (!err)
        say_results(h, QN_EV_SCORES, floats, 1);
    if (!err)
        add_usage(h, root);
    return err;
}

/* ---- Transcripts ---- */

static double number_or(const struct qn_jref *at, const char *name, double min, double max,
                        double otherwise)
{
    struct qn_jref v = qn_json_get(at, name);
    double out;
    bool there = qn_json_type(&v) == QN_JSON_NUMBER && !qn_json_f64(&v, min, max, &out, NULL);
    return there ? out : otherwise;
}

/* Writes the words, with their times, that belong to one segment. OpenAI lists words next to the
 * segments, whisper-server within each segment. */
static void write_words(const struct qn_jref *list, double start, double end, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    struct qn_jref it;
    qn_jw_arr(&w);
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        double from = number_or(&it, "start", 0, SECONDS_MAX, -1);
        double to = number_or(&it, "end", 0, SECONDS_MAX, from);
        struct qn_jref word = qn_json_get(&it, "word");
        if (from < start || from >= end)
            continue;
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "word", qn_json_raw_str(&word));
        qn_jw_kf64(&w, "start", from);
        qn_jw_kf64(&w, "end", to);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
}

static void say_segment(struct qn_hearing *h, const struct qn_jref *root, const struct qn_jref *seg)
{
    struct qn_jref text = qn_json_get(seg, "text"), words = qn_json_get(seg, "words");
    struct qn_buf list;
    struct qn_event ev;
    if (qn_json_type(&words) != QN_JSON_ARRAY)
        words = qn_json_get(root, "words");
    qn_event_init(&ev, QN_EV_SEGMENT);
    ev.text = qn_json_raw_str(&text);
    ev.segment.start_s = number_or(seg, "start", 0, SECONDS_MAX, h->audio_s);
    ev.segment.end_s = number_or(seg, "end", ev.segment.start_s, SECONDS_MAX, ev.segment.start_s);
    ev.segment.temperature = number_or(seg, "temperature", 0, 100, NAN);
    ev.segment.avg_logprob = number_or(seg, "avg_logprob", -1e300, 0, NAN);
    ev.segment.compression_ratio = number_or(seg, "compression_ratio", 0, 1e300, NAN);
    ev.segment.no_speech_prob = number_or(seg, "no_speech_prob", 0, 1, NAN);
    if (ev.segment.end_s > h->audio_s)
        h->audio_s = ev.segment.end_s;
    qn_buf_init(&list, QN_SSE_EVENT_MAX);
    if (h->job->transcribe.words && qn_json_count(&words)) {
        write_words(&words, ev.segment.start_s, ev.segment.end_s, &list);
        ev.segment.words = list.overflow ? NULL : qn_buf_cstr(&list);
    }
    qn_hear_say(h, &ev);
    qn_buf_deinit(&list);
}

static qn_err take_transcript(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "segments"), text = qn_json_get(root, "text"),
                   language = qn_json_get(root, "language"), it;
    if (qn_json_type(&list) != QN_JSON_ARRAY && qn_json_type(&text) != QN_JSON_STRING)
        return bad(root, e, "has neither segments nor a text");
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
        say_segment(h, root, &it);
    double length = number_or(root, "duration", 0, SECONDS_MAX, h->audio_s);
    if (!qn_json_count(&list) && *qn_json_raw_str(&text)) { /* a server that reports no times */
        struct qn_event ev;
        qn_event_init(&ev, QN_EV_SEGMENT);
        ev.text = qn_json_raw_str(&text);
        ev.segment.start_s = 0;
        ev.segment.end_s = length;
        qn_hear_say(h, &ev);
    }
    h->audio_s = length > h->audio_s ? length : h->audio_s;
    if (strlen(qn_json_raw_str(&language)) <= QN_JOB_LANGUAGE_MAX)
        snprintf(h->language, sizeof h->language, "%s", qn_json_raw_str(&language));
    qn_hear_usage(h, root);
    return QN_OK;
}

/* ---- Images ---- */

static const char *picture_format(const char *data, size_t n)
{
    if (n > 8 && !memcmp(data, "\x89PNG", 4))
        return "png";
    if (n > 12 && !memcmp(data, "RIFF", 4) && !memcmp(data + 8, "WEBP", 4))
        return "webp";
    return n > 3 && !memcmp(data, "\xff\xd8\xff", 3) ? "jpeg" : NULL;
}

static qn_err say_picture(struct qn_hearing *h, int64_t index, const struct qn_jref *b64,
                          struct qn_error *e)
{
    const char *text = qn_json_raw_str(b64);
    size_t n = strlen(text), len = 0;
    char *bytes = qn_alloc_sized(n / 4 * 3 + 3, 1, QN_FRAME_BYTES_MAX);
    struct qn_event ev;
    const char *format =
        bytes && qn_base64_decode(text, n, bytes, &len) ? picture_format(bytes, len) : NULL;
    if (!format) {
        free(bytes);
        return bad(b64, e, "is not an image: PNG, JPEG and WebP in base64 are supported");
    }
    qn_event_init(&ev, QN_EV_IMAGE);
    ev.index = index;
    ev.format = format;
    ev.data = bytes;
    ev.bytes = (int64_t)len;
    qn_hear_say(h, &ev);
    free(bytes);
    qn_event_init(&ev, QN_EV_DONE);
    ev.index = index;
    ev.finish = QN_FINISH_STOP;
    qn_hear_say(h, &ev);
    return QN_OK;
}

static qn_err take_pictures(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "data"), it;
    qn_err err = QN_OK;
    if ((int64_t)qn_json_count(&list) != qn_hear_choices(h))
        return bad(&list, e, "does not have as many images as were requested");
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it)) {
        struct qn_jref b64 = qn_json_get(&it, "b64_json");
        err = say_picture(h, (int64_t)it.index, &b64, e);
    }
    return err;
}

qn_err qn_hear_whole(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e)
{
    if (qn_json_type(root) != QN_JSON_OBJECT)
        return bad(root, e, "is not an object");
    switch (h->job->task) {
    case QN_TASK_EMBED:
        return take_vectors(h, root, e);
    case QN_TASK_RERANK:
        return take_scores(h, root, e);
    case QN_TASK_TRANSCRIBE:
        return take_transcript(h, root, e);
    case QN_TASK_IMAGE:
        return take_pictures(h, root, e);
    default:
        return bad(root, e, "does not fit the request");
    }
}
