/* Converts input items of the Responses API to a conversation. An assistant's turn is several items
 * (reasoning, message, calls) here and one message in a chat template. */
#include "dialects/openai/responses.h"

#include "base/str.h"
#include "dialects/shared/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char qn_responses_reasoning_mark[] = "quince:";

enum {
    ID_MAX = 64,
    REFERENCES_MAX = 256,
    OLD_ID_DIGITS = 24 /* in ids of responses stored by earlier versions */
};

/* A stored response, parsed. */
struct opened {
    struct qn_jref sent, root, said; /* items of its input; its body; the output of the body */
};

/* An item of a stored response, by the id that is written in it. */
struct named {
    const char *id;
    size_t place; /* of several items with one id, the first is used */
    struct qn_jref item;
};

/* The conversation that is being built. */
struct turn {
    struct qn_talk talk;
    const struct qn_request *rq;
    const struct opened *kept; /* rq->n_kept stored responses */
    /* Ids of their items, sorted; NULL until the first reference is looked up. */
    struct named *names;
    size_t n_names;
    bool system;       /* the open message is a system message */
    bool assistant;    /* the open message is an assistant's */
    bool acted;        /* and has text or a call */
    size_t references; /* number of references so far */
    bool by_reference; /* the item that is being added was referred to */
};

static void begin_message(struct turn *t, enum qn_role role)
{
    qn_talk_message(&t->talk, role);
    t->system = role == QN_ROLE_SYSTEM;
    t->assistant = role == QN_ROLE_ASSISTANT;
    t->acted = false;
}

/* Makes the open message an assistant's; fresh: one without text and calls. */
static void assistant(struct turn *t, bool fresh)
{
    if (!t->assistant || (fresh && t->acted))
        begin_message(t, QN_ROLE_ASSISTANT);
}

static qn_err add_image(struct turn *t, const struct qn_jref *part, struct qn_error *e)
{
    struct qn_jref url = qn_json_get(part, "image_url"), file = qn_json_get(part, "file_id");
    if (qn_json_type(&url) <= QN_JSON_NULL && qn_json_type(&file) > QN_JSON_NULL)
        return qn_json_fail(&file, e,
                            "this server stores no files: give the image as image_url, a data URL");
    struct qn_jref inner = qn_json_get(&url, "url");
    return qn_openai_image(qn_json_type(&url) == QN_JSON_OBJECT ? &inner : &url, &t->talk, e);
}

/* Reads a content or an output: a string or an array of parts. */
static qn_err add_content(struct turn *t, const struct qn_jref *content, struct qn_error *e)
{
    static const char *const texts[] = {"input_text", "output_text", "text", "summary_text",
                                        "reasoning_text"};
    if (qn_json_type(content) == QN_JSON_STRING) {
        qn_talk_text(&t->talk, qn_json_raw_str(content));
        return QN_OK;
    }
    if (qn_json_type(content) != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of parts");
    if (qn_json_count(content) > QN_OPENAI_PARTS_MAX)
        return qn_json_fail(content, e, "at most %d parts are allowed", QN_OPENAI_PARTS_MAX);
    if (qn_json_count(content) == 0)
        qn_talk_text(&t->talk, "");
    qn_err err = QN_OK;
    struct qn_jref part;
    for (bool more = qn_json_first(content, &part); more && !err; more = qn_json_next(&part)) {
        struct qn_jref type = qn_json_get(&part, "type"), v;
        const char *name, *text;
        if (qn_json_type(&part) != QN_JSON_OBJECT)
            return qn_json_fail(&part, e, "expected an object");
        if ((err = qn_json_str(&type, &name, e)))
            return err;
        const char *member = qn_str_eq(name, "refusal") ? "refusal" : NULL;
        for (size_t i = 0; i < sizeof texts / sizeof *texts && !member; i++)
            member = qn_str_eq(name, texts[i]) ? "text" : NULL;
        if (qn_str_eq(name, "input_image")) {
            err = add_image(t, &part, e);
        } else if (!member) {
            err = qn_json_fail(&type, e,
                               "parts of type '%.40s' are not supported: input_text, output_text, "
                               "refusal and input_image are",
                               name);
        } else {
            v = qn_json_get(&part, member);
            err = qn_json_str(&v, &text, e);
            if (!err)
                qn_talk_text(&t->talk, text);
        }
    }
    return err;
}

static qn_err add_message(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref role = qn_json_get(item, "role"), content = qn_json_get(item, "content");
    const char *name;
    qn_err err = qn_json_str(&role, &name, e);
    if (err)
        return err;
    if (qn_str_eq(name, "assistant")) {
        assistant(t, true);
        t->acted = true;
    } else if (qn_str_eq(name, "system") || qn_str_eq(name, "developer")) {
        /* Adjacent system messages become one, as many templates use only the first. */
        if (!t->system)
            begin_message(t, QN_ROLE_SYSTEM);
    } else if (qn_str_eq(name, "user")) {
        begin_message(t, QN_ROLE_USER);
    } else {
        return qn_json_fail(
            &role, e, "'%.40s' is not a role: expected user, assistant, system or developer", name);
    }
    return add_content(t, &content, e);
}

static qn_err add_call(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref id = qn_json_get(item, "call_id"), name = qn_json_get(item, "name");
    struct qn_jref arguments = qn_json_get(item, "arguments");
    const char *id_text, *name_text, *text;
    qn_err err = qn_json_str(&id, &id_text, e);
    if (!err)
        err = qn_json_str(&name, &name_text, e);
    if (!err)
        err = qn_json_str(&arguments, &text, e);
    if (err)
        return err;
    assistant(t, false);
    t->acted = true;
    qn_talk_call(&t->talk, id_text, name_text, &arguments);
    return QN_OK;
}

static qn_err add_output(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref id = qn_json_get(item, "call_id"), output = qn_json_get(item, "output");
    const char *text;
    qn_err err = qn_json_str(&id, &text, e);
    if (err)
        return err;
    begin_message(t, QN_ROLE_TOOL);
    qn_talk_answers(&t->talk, text);
    return add_content(t, &output, e);
}

/* Adds the texts of a reasoning item's parts; *any is set if there is one. */
static qn_err add_thoughts(struct turn *t, const struct qn_jref *parts, bool *any,
                           struct qn_error *e)
{
    struct qn_jref part;
    if (qn_json_type(parts) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(parts) != QN_JSON_ARRAY)
        return qn_json_fail(parts, e, "expected an array of parts");
    if (qn_json_count(parts) > QN_OPENAI_PARTS_MAX)
        return qn_json_fail(parts, e, "at most %d parts are allowed", QN_OPENAI_PARTS_MAX);
    qn_err err = QN_OK;
    for (bool more = qn_json_first(parts, &part); more && !err; more = qn_json_next(&part)) {
        struct qn_jref v = qn_json_get(&part, "text");
        const char *text;
        err = qn_json_str(&v, &text, e);
        if (err)
            break;
        if (*any)
            qn_talk_reasoning(&t->talk, "\n");
        else
            assistant(t, true);
        *any = true;
        qn_talk_reasoning(&t->talk, text);
    }
    return err;
}

static qn_err add_reasoning(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref content = qn_json_get(item, "content"), summary = qn_json_get(item, "summary");
    struct qn_jref sealed = qn_json_get(item, "encrypted_content");
    const char *text = NULL;
    bool any = false;
    qn_err err = add_thoughts(t, &content, &any, e);
    if (!err)
        err = qn_json_str_opt(&sealed, &text, e);
    /* Reasoning that another server has encrypted cannot be read. */
    if (!err && !any && text && qn_str_starts(text, qn_responses_reasoning_mark)) {
        assistant(t, true);
        any = true;
        qn_talk_reasoning(&t->talk, text + strlen(qn_responses_reasoning_mark));
    }
    return err || any ? err : add_thoughts(t, &summary, &any, e);
}

static qn_err add_item(struct turn *t, const struct qn_jref *item, struct qn_error *e);

/* "msg_" DIGITS "i" i. */
static void input_id(const char *answer_id, size_t i, char out[ID_MAX])
{
    const char *digits = strchr(answer_id, '_');
    snprintf(out, ID_MAX, "msg_%.*si%02zx", QN_ANSWER_ID_DIGITS, digits ? digits + 1 : answer_id,
             i);
}

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : x->place < y->place ? -1 : 1;
}

/* Counts the items that have an id and, if names is not NULL, records them. */
static size_t name_items(const struct qn_jref *list, size_t n, struct named *names)
{
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id");
        if (qn_json_type(&id) != QN_JSON_STRING)
            continue;
        if (names)
            names[n] = (struct named){.id = qn_json_raw_str(&id), .place = n, .item = it};
        n++;
    }
    return n;
}

static void name_all(struct turn *t)
{
    size_t n = 0;
    for (size_t k = 0; k < t->rq->n_kept; k++)
        n = name_items(&t->kept[k].sent, name_items(&t->kept[k].said, n, NULL), NULL);
    t->names = qn_xcalloc(n + 1, sizeof *t->names);
    t->n_names = n;
    n = 0;
    for (size_t k = 0; k < t->rq->n_kept; k++)
        n = name_items(&t->kept[k].sent, name_items(&t->kept[k].said, n, t->names), t->names);
    qsort(t->names, n, sizeof *t->names, compare_names);
}

/* Finds an input item without an id of its own by the id derived from its index. */
static bool find_unnamed(const struct turn *t, const char *id, struct qn_jref *item)
{
    const char *mark = strchr(id, 'i');
    char own[ID_MAX];
    if (!mark || strlen(id) >= ID_MAX)
        return false;
    /* An id with other characters after the number is rejected by the comparison below. */
    size_t place = strtoul(mark + 1, NULL, 16);
    for (size_t k = 0; k < t->rq->n_kept; k++) {
        input_id(t->rq->kept[k].id, place, own);
        if (!qn_str_eq(own, id))
            continue;
        bool there = qn_json_first(&t->kept[k].sent, item);
        while (there && place-- > 0)
            there = qn_json_next(item);
        return there;
    }
    return false;
}

/* Finds the item among those of the stored responses. */
static bool find_item(struct turn *t, const char *id, struct qn_jref *item)
{
    if (!t->names)
        name_all(t);
    size_t low = 0, high = t->n_names;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(t->names[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->n_names || !qn_str_eq(t->names[low].id, id))
        return find_unnamed(t, id, item);
    *item = t->names[low].item;
    return true;
}

static qn_err add_reference(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(item, "id"), other;
    const char *id;
    qn_err err = qn_json_str(&v, &id, e);
    if (err)
        return err;
    if (++t->references > REFERENCES_MAX)
        return qn_json_fail(item, e, "at most %d references are allowed", REFERENCES_MAX);
    if (t->by_reference || !find_item(t, id, &other))
        return qn_json_fail(&v, e, "there is no item '%.80s', or it has been deleted", id);
    t->by_reference = true;
    err = add_item(t, &other, e);
    t->by_reference = false;
    return err;
}

static const struct {
    const char *type;
    qn_err (*add)(struct turn *t, const struct qn_jref *item, struct qn_error *e);
} kinds[] = {
    {"message", add_message},
    {"function_call", add_call},
    {"function_call_output", add_output},
    {"reasoning", add_reasoning},
    {"item_reference", add_reference},
};

static qn_err add_item(struct turn *t, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref type = qn_json_get(item, "type"), role = qn_json_get(item, "role");
    const char *name = qn_json_type(&role) > QN_JSON_NULL ? "message" : NULL;
    if (qn_json_type(item) != QN_JSON_OBJECT)
        return qn_json_fail(item, e, "expected an object");
    qn_err err = qn_json_str_opt(&type, &name, e);
    if (!err && !name) {
        struct qn_jref id = qn_json_get(item, "id");
        if (qn_json_type(&id) == QN_JSON_STRING) /* the type of a reference may be missing */
            return add_reference(t, item, e);
        err = qn_json_str(&type, &name, e);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !err; i++)
        if (qn_str_eq(name, kinds[i].type))
            return kinds[i].add(t, item, e);
    return err ? err
               : qn_json_fail(&type, e,
                              "items of type '%.40s' are not available here: message, "
                              "function_call, function_call_output, reasoning and item_reference "
                              "are",
                              name);
}

static qn_err add_items(struct turn *t, const struct qn_jref *list, struct qn_error *e)
{
    struct qn_jref item;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(list, &item); more && !err; more = qn_json_next(&item))
        err = add_item(t, &item, e);
    return err;
}

static void open_kept(const struct qn_request *rq, struct opened *kept)
{
    for (size_t i = 0; i < rq->n_kept; i++) {
        kept[i].sent = qn_json_root(rq->kept[i].input_doc);
        kept[i].root = qn_json_root(rq->kept[i].body_doc);
        kept[i].said = qn_json_get(&kept[i].root, "output");
    }
}

/* References are replaced by their items, because the response that they point to may be
 * deleted. */
static void print_items(struct turn *t, const struct qn_jref *list, struct qn_buf *out)
{
    struct qn_jref item, other;
    qn_buf_char(out, '[');
    for (bool more = qn_json_first(list, &item); more; more = qn_json_next(&item)) {
        struct qn_jref type = qn_json_get(&item, "type"), role = qn_json_get(&item, "role");
        struct qn_jref id = qn_json_get(&item, "id");
        bool typed = qn_json_type(&type) > QN_JSON_NULL || qn_json_type(&role) > QN_JSON_NULL;
        bool refers = !typed || qn_str_eq(qn_json_raw_str(&type), "item_reference");
        if (item.index)
            qn_buf_char(out, ',');
        if (refers && find_item(t, qn_json_raw_str(&id), &other))
            qn_json_print(&other, out);
        else
            qn_json_print(&item, out);
    }
    qn_buf_char(out, ']');
}

/* Makes the array of a request's items to be stored, also if the input is a single text. */
static qn_err keep_input(struct turn *t, const struct qn_jref *input, struct qn_request *rq,
                         struct qn_responses_ask *ask, struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    if (qn_json_type(input) == QN_JSON_STRING) {
        struct qn_jw w = qn_jw_to(&text);
        qn_jw_arr(&w);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "type", "message");
        qn_jw_kstr(&w, "role", "user");
        qn_jw_key(&w, "content");
        qn_jw_arr(&w);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "type", "input_text");
        qn_jw_kstr(&w, "text", qn_json_raw_str(input));
        qn_jw_obj_end(&w);
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
        qn_jw_arr_end(&w);
    } else if (qn_json_type(input) == QN_JSON_ARRAY) {
        print_items(t, input, &text);
    } else {
        qn_buf_str(&text, "[]");
    }
    qn_err err = qn_openai_keep(rq, &text, input, &ask->input, e);
    qn_buf_deinit(&text);
    return err;
}

static qn_err converse(struct turn *t, const struct qn_jref *input, const char *instructions,
                       struct qn_error *e)
{
    qn_err err = QN_OK;
    if (instructions && *instructions) {
        begin_message(t, QN_ROLE_SYSTEM);
        qn_talk_text(&t->talk, instructions);
    }
    for (size_t i = 0; i < t->rq->n_chain && !err; i++) {
        err = add_items(t, &t->kept[i].sent, e);
        if (!err)
            err = add_items(t, &t->kept[i].said, e);
    }
    if (!err && qn_json_type(input) == QN_JSON_STRING) {
        begin_message(t, QN_ROLE_USER);
        qn_talk_text(&t->talk, qn_json_raw_str(input));
    } else if (!err) {
        err = add_items(t, input, e);
    }
    return err ? err : qn_talk_end(&t->talk, "input", e);
}

qn_err qn_responses_input(const struct qn_jref *input, const char *instructions,
                          struct qn_request *rq, struct qn_job *job, struct qn_responses_ask *ask,
                          struct qn_error *e)
{
    if (qn_json_type(input) > QN_JSON_NULL && qn_json_type(input) != QN_JSON_STRING &&
        qn_json_type(input) != QN_JSON_ARRAY)
        return qn_json_fail(input, e, "expected a string or an array of items");
    struct opened *kept = qn_arena_alloc(rq->arena, (rq->n_kept + 1) * sizeof *kept);
    struct turn t = {.rq = rq, .kept = kept};
    qn_talk_init(&t.talk, job, rq->arena);
    open_kept(rq, kept);
    qn_err err = converse(&t, input, instructions, e);
    if (!err)
        err = keep_input(&t, input, rq, ask, e);
    qn_talk_deinit(&t.talk);
    free(t.names);
    return err;
}

const char *qn_responses_owner(const char *item_id, struct qn_arena *arena)
{
    const char *digits = strchr(item_id, '_');
    size_t n = digits ? strspn(digits + 1, "0123456789abcdef") : 0;
    if (n < OLD_ID_DIGITS)
        return NULL;
    return qn_arena_fmt(arena, "resp_%.*s",
                        n < QN_ANSWER_ID_DIGITS ? OLD_ID_DIGITS : QN_ANSWER_ID_DIGITS, digits + 1);
}

const char *qn_responses_item_id(const struct qn_jref *item, const char *answer_id, size_t i,
                                 struct qn_arena *arena)
{
    struct qn_jref id = qn_json_get(item, "id");
    char own[ID_MAX];
    input_id(answer_id, i, own);
    return qn_arena_strdup(arena, qn_json_type(&id) == QN_JSON_STRING ? qn_json_raw_str(&id) : own);
}

void qn_responses_item_write(const struct qn_jref *item, const char *id, struct qn_jw *w)
{
    struct qn_jref type = qn_json_get(item, "type"), it;
    struct qn_buf value;
    qn_buf_init(&value, QN_JOB_PROMPT_BYTES_MAX);
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", id);
    if (qn_json_type(&type) != QN_JSON_STRING)
        qn_jw_kstr(w, "type", "message");
    for (bool more = qn_json_first(item, &it); more; more = qn_json_next(&it)) {
        bool text = qn_str_eq(it.key, "content") && qn_json_type(&it) == QN_JSON_STRING;
        if (qn_str_eq(it.key, "id"))
            continue;
        qn_jw_key(w, it.key);
        if (text) { /* written as the message that the text stands for */
            struct qn_jref role = qn_json_get(item, "role");
            bool own = qn_str_eq(qn_json_raw_str(&role), "assistant");
            qn_jw_arr(w);
            qn_jw_obj(w);
            qn_jw_kstr(w, "type", own ? "output_text" : "input_text");
            qn_jw_kstr(w, "text", qn_json_raw_str(&it));
            qn_jw_obj_end(w);
            qn_jw_arr_end(w);
            continue;
        }
        qn_buf_clear(&value);
        qn_json_print(&it, &value);
        qn_jw_raw(w, qn_buf_cstr(&value), value.len);
    }
    qn_jw_obj_end(w);
    qn_buf_deinit(&value);
}
