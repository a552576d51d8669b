/* Replays a stored response as a stream: its items are converted to the events of a job, which the
 * dialect writes like those of a model. Ids and texts are the same; each text is one delta, so the
 * numbers of events differ from those of the first stream. */
#include "dialects/openai/responses.h"

#include "base/str.h"

#include <string.h>

/* Members that are written from the events, not repeated from the request. */
static const char *const made[] = {
    "id",    "object", "created_at", "status", "error", "incomplete_details",
    "model", "output", "usage",
};

static bool is_made(const char *key)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (qn_str_eq(key, made[i]))
            return true;
    return false;
}

/* Copies a buffer's text into the request's arena; QN_ELIMIT if it has no room. */
static qn_err keep(struct qn_buf *b, struct qn_arena *arena, const char **out, struct qn_error *e)
{
    char *copy = b->overflow ? NULL : qn_arena_try(arena, b->len + 1);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "the response is too long to be streamed");
    memcpy(copy, qn_buf_cstr(b), b->len + 1);
    *out = copy;
    return QN_OK;
}

/* Reads the request's members, which every response object repeats. */
static qn_err read_echo(const struct qn_jref *root, struct qn_responses_ask *ask,
                        struct qn_arena *arena, struct qn_error *e)
{
    struct qn_buf object;
    struct qn_jref it;
    qn_buf_init(&object, QN_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&object);
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        if (is_made(it.key))
            continue;
        qn_jw_key(&w, it.key);
        struct qn_buf value;
        qn_buf_init(&value, QN_REPLY_MAX);
        qn_json_print(&it, &value);
        qn_jw_raw(&w, qn_buf_cstr(&value), value.len);
        qn_buf_deinit(&value);
    }
    qn_err err = keep(&object, arena, &ask->echo, e);
    qn_buf_deinit(&object);
    return err;
}

/* Converts a part's log-probabilities to the form of events. */
static qn_err read_logprobs(const struct qn_jref *list, struct qn_arena *arena, const char **out,
                            struct qn_error *e)
{
    struct qn_buf text;
    struct qn_jref it, member;
    if (qn_json_count(list) == 0)
        return QN_OK;
    qn_buf_init(&text, QN_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_arr(&w);
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        qn_jw_obj(&w);
        for (bool some = qn_json_first(&it, &member); some; some = qn_json_next(&member)) {
            struct qn_buf value;
            qn_buf_init(&value, QN_REPLY_MAX);
            qn_json_print(&member, &value);
            qn_jw_key(&w, qn_str_eq(member.key, "top_logprobs") ? "top" : member.key);
            qn_jw_raw(&w, qn_buf_cstr(&value), value.len);
            qn_buf_deinit(&value);
        }
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_err err = keep(&text, arena, out, e);
    qn_buf_deinit(&text);
    return err;
}

static const char *text_of(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

/* Returns the single part of a message or a reasoning item; false if there is none. */
static bool first_part(const struct qn_jref *item, const char *list, struct qn_jref *parts,
                       struct qn_jref *part)
{
    *parts = qn_json_get(item, list);
    return qn_json_first(parts, part);
}

/* Derives options of the request (summary, encrypted content) from the complete output. */
static void read_habits(const struct qn_jref *output, struct qn_responses_ask *ask)
{
    struct qn_jref it;
    for (bool more = qn_json_first(output, &it); more; more = qn_json_next(&it)) {
        struct qn_jref parts = qn_json_get(&it, "summary"),
                       own = qn_json_get(&it, "encrypted_content");
        ask->summary = ask->summary || qn_json_count(&parts) > 0;
        ask->encrypted = ask->encrypted || qn_json_type(&own) == QN_JSON_STRING;
    }
}

/* Converts an item to the event that it was made of. */
static qn_err read_item(const struct qn_jref *item, int64_t *calls, struct qn_arena *arena,
                        struct qn_event *ev, struct qn_error *e)
{
    const char *type = text_of(item, "type");
    struct qn_jref parts, part;
    if (qn_str_eq(type, "function_call")) {
        qn_event_init(ev, QN_EV_TOOL_CALL);
        ev->call = (*calls)++;
        ev->call_id = text_of(item, "call_id");
        ev->name = text_of(item, "name");
        ev->arguments = text_of(item, "arguments");
        return QN_OK;
    }
    bool reasoning = qn_str_eq(type, "reasoning");
    qn_event_init(ev, reasoning ? QN_EV_REASONING : QN_EV_TEXT);
    ev->text = "";
    if (!first_part(item, "content", &parts, &part) &&
        !(reasoning && first_part(item, "summary", &parts, &part)))
        return QN_OK;
    ev->text = text_of(&part, "text");
    struct qn_jref logprobs = qn_json_get(&part, "logprobs");
    return read_logprobs(&logprobs, arena, &ev->logprobs, e);
}

static int64_t number_of(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    int64_t n = 0; /* an absent number counts as 0 */
    (void)qn_json_i64(&v, 0, INT64_C(1) << 53, &n, NULL);
    return n;
}

static void read_usage(const struct qn_jref *root, struct qn_event *ev)
{
    struct qn_jref usage = qn_json_get(root, "usage");
    struct qn_jref in = qn_json_get(&usage, "input_tokens_details");
    struct qn_jref out = qn_json_get(&usage, "output_tokens_details");
    qn_event_init(ev, QN_EV_USAGE);
    ev->usage.prompt = number_of(&usage, "input_tokens");
    ev->usage.cached = number_of(&in, "cached_tokens");
    ev->usage.output = number_of(&usage, "output_tokens");
    ev->usage.reasoning = number_of(&out, "reasoning_tokens");
}

/* Writes the items one by one, then the end. */
static qn_err play(struct qn_reply *r, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref output = qn_json_get(root, "output"), it;
    struct qn_event ev;
    int64_t calls = 0;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&output, &it); more && !err; more = qn_json_next(&it)) {
        err = read_item(&it, &calls, r->arena, &ev, e);
        if (!err)
            err = qn_responses.event(r, 0, &ev, e);
    }
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish =
        qn_str_eq(text_of(root, "status"), "incomplete") ? QN_FINISH_LENGTH : QN_FINISH_STOP;
    if (!err)
        err = qn_responses.event(r, 0, &ev, e);
    read_usage(root, &ev);
    return err ? err : qn_responses.event(r, 0, &ev, e);
}

/* Drops the events that the client has; each ends with an empty line and contains none. */
static void skip_events(struct qn_buf *out, int64_t n)
{
    size_t at = 0;
    for (; n > 0 && at < out->len; n--) {
        const char *end = strstr(out->data + at, "\n\n");
        at = end ? (size_t)(end - out->data) + 2 : out->len;
    }
    qn_buf_drop(out, at);
}

qn_err qn_responses_replay(const char *body, int64_t after, struct qn_arena *arena,
                           struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_responses_ask ask = {.openai = {.logprobs = true}, .input = "[]", .previous = ""};
    qn_err err = qn_json_parse(body, strlen(body), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), output = qn_json_get(&root, "output");
    const char *id = text_of(&root, "id");
    const char *digits = qn_str_starts(id, "resp_") ? id + strlen("resp_") : id;
    struct qn_request rq = {.doc = doc,
                            .arena = arena,
                            .profile = qn_profile_main(),
                            .model = text_of(&root, "model"),
                            .stream = true,
                            .own = &ask};
    struct qn_reply reply = {
        .rq = &rq,
        .arena = arena,
        .out = out,
        .id = digits,
        .answer_id = digits,
        .created_s = number_of(&root, "created_at"),
    };
    read_habits(&output, &ask);
    err = read_echo(&root, &ask, arena, e);
    if (!err) {
        qn_responses.begin(&reply);
        err = play(&reply, &root, e);
        if (!err)
            qn_responses.end(&reply);
        qn_responses.free(reply.own);
    }
    if (!err && out->overflow)
        err = qn_fail(e, QN_ELIMIT, "the response is too long to be streamed");
    if (!err)
        skip_events(out, after + 1);
    qn_json_free(doc);
    return err;
}
