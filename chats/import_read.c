/* Reads the chats of a file one after the other, so that memory is needed for one at a time: the
 * text is scanned for the bounds of each, which is then parsed by itself. See import.h. */
#include "chats/import_private.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* How chats follow each other in the file. */
enum layout {
    ONE,   /* a single value */
    LIST,  /* the items of an array */
    LINES, /* lines, of which some begin a chat */
};

struct qn_chats_reader {
    const char *p, *end; /* what has not been read */
    enum layout layout;
    bool ours; /* the items are those of quince's export */
    bool first;
    size_t n; /* chats read so far */
};

static const char unknown[] =
    "the format is not known: expected an export of quince, of llama.cpp's web page (JSON or JSON "
    "lines) or of Open WebUI";

/* ---- scanning ---- */

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* The end of the string that begins at p with its quotation mark; NULL: it has none. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        if (*p == '\\')
            p++;
        else if (*p == '"')
            return p + 1;
    }
    return NULL;
}

/* The end of the value that begins at p; NULL: it has none. Only brackets and strings are looked
 * at: the parser finds all other faults. */
static const char *value_end(const char *p, const char *end)
{
    int depth = 0;
    if (p >= end)
        return NULL;
    while (p < end) {
        if (*p == '"') {
            p = string_end(p, end);
            if (!p || depth == 0)
                return p;
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        else if (depth == 0 && (*p == ',' || *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
            return p;
        if (depth < 0)
            return p;
        p++;
        if (depth == 0 && (p[-1] == '}' || p[-1] == ']'))
            return p;
    }
    return depth == 0 ? end : NULL;
}

/* The value of a member of the object at p, NULL: it has no such member, or is malformed. */
static const char *find_member(const char *p, const char *end, const char *name)
{
    size_t n = strlen(name);
    p = skip_space(p + 1, end);
    while (p < end && *p == '"') {
        const char *key = p + 1, *key_end = string_end(p, end);
        if (!key_end)
            return NULL;
        p = skip_space(key_end, end);
        if (p >= end || *p != ':')
            return NULL;
        p = skip_space(p + 1, end);
        if ((size_t)(key_end - 1 - key) == n && memcmp(key, name, n) == 0)
            return p;
        p = value_end(p, end);
        if (!p)
            return NULL;
        p = skip_space(p, end);
        if (p >= end || *p != ',')
            return NULL;
        p = skip_space(p + 1, end);
    }
    return NULL;
}

/* ---- the file ---- */

static qn_err look_at_object(struct qn_chats_reader *r, struct qn_error *e)
{
    static const char name[] = "\"quince-chats\"";
    const char *end = value_end(r->p, r->end);
    if (!end)
        return qn_fail(e, QN_EFORMAT, "the file is not valid JSON: it ends too early");
    if (skip_space(end, r->end) < r->end) {
        r->layout = LINES;
        return QN_OK;
    }
    const char *format = find_member(r->p, end, "format"), *chats = find_member(r->p, end, "chats");
    bool ours = format && (size_t)(end - format) >= sizeof name - 1 &&
                memcmp(format, name, sizeof name - 1) == 0;
    if (!ours) {
        r->layout = ONE;
        return QN_OK;
    }
    if (!chats || *chats != '[')
        return qn_fail_param(e, QN_EFORMAT, "chats", "chats: expected an array");
    r->ours = true;
    r->layout = LIST;
    r->p = chats + 1;
    return QN_OK;
}

qn_err qn_chats_reader_new(const char *text, size_t n, struct qn_chats_reader **out,
                           struct qn_error *e)
{
    struct qn_chats_reader *r = qn_xcalloc(1, sizeof *r);
    qn_err err = QN_OK;
    r->end = text + n;
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    r->p = skip_space(text, r->end);
    r->first = true;
    if (r->end - r->p >= 2 && memcmp(r->p, "PK", 2) == 0) {
        err = qn_fail(e, QN_EFORMAT,
                      "the file is a ZIP archive: unpack it, and import the files in it");
    } else if (r->p < r->end && *r->p == '[') {
        r->layout = LIST;
        r->p++;
    } else if (r->p < r->end && *r->p == '{') {
        err = look_at_object(r, e);
    } else {
        err = qn_fail(e, QN_EFORMAT, "%s", unknown);
    }
    if (err)
        free(r);
    else
        *out = r;
    return err;
}

void qn_chats_reader_free(struct qn_chats_reader *r)
{
    free(r);
}

/* ---- one chat ---- */

/* Finds out which program an object comes from. */
static qn_err read_item(struct qn_importing *im, const struct qn_jref *item, bool ours,
                        struct qn_error *e)
{
    struct qn_jref conv = qn_json_get(item, "conv"), chat = qn_json_get(item, "chat"),
                   history = qn_json_get(item, "history"), type = qn_json_get(item, "type");
    if (qn_json_type(item) != QN_JSON_OBJECT)
        return qn_fail_param(e, QN_EFORMAT, "", "%s", unknown);
    if (ours)
        return qn_import_ours(im, item, e);
    if (qn_json_type(&conv) != QN_JSON_ABSENT)
        return qn_import_llama(im, item, e);
    if (qn_json_type(&chat) == QN_JSON_OBJECT)
        return qn_import_openwebui(im, item, &chat, e);
    if (qn_json_type(&history) == QN_JSON_OBJECT)
        return qn_import_openwebui(im, NULL, item, e);
    if (qn_str_eq(qn_json_raw_str(&type), "session")) {
        qn_import_llama_conv(im, item);
        return QN_OK;
    }
    return qn_fail(e, QN_EFORMAT, "%s", unknown);
}

/* Bounds of the next item of the list; *p NULL: there is none. */
static qn_err next_item(struct qn_chats_reader *r, const char **p, const char **end,
                        struct qn_error *e)
{
    *p = NULL;
    r->p = skip_space(r->p, r->end);
    if (r->p < r->end && *r->p == ']')
        return QN_OK;
    if (!r->first) {
        if (r->p >= r->end || *r->p != ',')
            return qn_fail(e, QN_EFORMAT, "the file is not valid JSON after its %zu. chat", r->n);
        r->p = skip_space(r->p + 1, r->end);
    }
    r->first = false;
    *end = value_end(r->p, r->end);
    if (!*end)
        return qn_fail(e, QN_EFORMAT, "the file is not valid JSON: it ends in its %zu. chat",
                       r->n + 1);
    *p = r->p;
    r->p = *end;
    return QN_OK;
}

/* The message with the number of the chat in front, so that it can be found. */
static qn_err in_chat(const struct qn_chats_reader *r, qn_err err, const struct qn_error *why,
                      struct qn_error *e)
{
    if (err == QN_EINVAL) /* the file is at fault, not a member of the request */
        err = QN_EFORMAT;
    return qn_fail_param(e, err, "file", "chat %zu of the file: %s", r->n + 1, why->message);
}

static qn_err parse_item(struct qn_chats_reader *r, struct qn_importing *im, const char *p,
                         const char *end, struct qn_error *e)
{
    struct qn_error why = {0};
    struct qn_json *doc = NULL;
    qn_err err = QN_OK;
    if (end - p > QN_CHATS_IMPORT_ONE_MAX)
        err = qn_fail(&why, QN_ELIMIT, "it has more than %d bytes", QN_CHATS_IMPORT_ONE_MAX);
    if (!err && qn_json_parse(p, (size_t)(end - p), &doc, &why))
        err = QN_EFORMAT; /* also if it is nested too deeply, or has too many values */
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_item(im, &root, r->ours, &why);
    }
    qn_json_free(doc);
    return err ? in_chat(r, err, &why, e) : QN_OK;
}

/* One line of a file of lines. *begins: it begins a chat, which is not read if there is one. */
static qn_err read_line(struct qn_importing *im, const char *p, size_t n, bool *begins,
                        bool started, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = QN_OK;
    if (qn_json_parse(p, n, &doc, e))
        return QN_EFORMAT;
    struct qn_jref root = qn_json_root(doc), type = qn_json_get(&root, "type"),
                   message = qn_json_get(&root, "message");
    *begins = qn_str_eq(qn_json_raw_str(&type), "session");
    if (*begins && !started)
        qn_import_llama_conv(im, &root);
    else if (qn_str_eq(qn_json_raw_str(&type), "message") && !started)
        err = qn_fail(e, QN_EFORMAT, "%s", unknown);
    else if (qn_str_eq(qn_json_raw_str(&type), "message"))
        err = qn_import_llama_message(im, &message, e);
    else if (!*begins && !started)
        err = qn_fail(e, QN_EFORMAT, "%s", unknown);
    qn_json_free(doc);
    return err;
}

/* Reads lines up to the next one that begins a chat. *any: there was a chat. */
static qn_err read_lines(struct qn_chats_reader *r, struct qn_importing *im, bool *any,
                         struct qn_error *e)
{
    const char *begin = r->p;
    struct qn_error why = {0};
    *any = false;
    while ((r->p = skip_space(r->p, r->end)) < r->end) {
        const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p)),
                   *end = newline ? newline : r->end;
        bool begins = false;
        qn_err err = QN_OK;
        if (end - begin > QN_CHATS_IMPORT_ONE_MAX)
            err = qn_fail(&why, QN_ELIMIT, "it has more than %d bytes", QN_CHATS_IMPORT_ONE_MAX);
        if (!err)
            err = read_line(im, r->p, (size_t)(end - r->p), &begins, *any, &why);
        if (err)
            return in_chat(r, err, &why, e);
        if (begins && *any)
            return QN_OK; /* the next call reads it again */
        *any = true;
        r->p = end;
    }
    return QN_OK;
}

static void begin_chat(struct qn_importing *im)
{
    im->out = qn_arena_alloc(im->arena, sizeof *im->out);
    im->out->origin = "";
    im->out->chat = (struct qn_stored_chat){
        .title = "", .folder = "", .model = "", .system = "", .params = "{}"};
}

/* Limits of a chat that no format checks. */
static qn_err check_chat(struct qn_importing *im, struct qn_error *e)
{
    const struct qn_stored_chat *c = &im->out->chat;
    if (strlen(c->system) > QN_CHATS_SYSTEM_MAX)
        return qn_fail(e, QN_ELIMIT, "its system message has more than %d bytes",
                       QN_CHATS_SYSTEM_MAX);
    return QN_OK;
}

qn_err qn_chats_reader_next(struct qn_chats_reader *r, struct qn_arena *a, qn_chats_note_fn note,
                            void *ctx, struct qn_chats_imported **out, struct qn_error *e)
{
    struct qn_importing im = {.arena = a, .note = note, .note_ctx = ctx};
    struct qn_error why = {0};
    bool any = false;
    qn_err err = QN_OK;
    const char *p = NULL, *end = NULL;
    *out = NULL;
    begin_chat(&im);
    if (r->layout == LINES) {
        err = read_lines(r, &im, &any, e);
    } else if (r->layout == LIST) {
        err = next_item(r, &p, &end, e);
    } else if (r->first) {
        r->first = false;
        p = r->p;
        end = r->end;
    }
    if (!err && p)
        err = parse_item(r, &im, p, end, e);
    if (err || (!p && !any))
        return err;
    err = check_chat(&im, &why);
    if (!err)
        err = qn_import_tree(&im, &why);
    if (err)
        return in_chat(r, err, &why, e);
    r->n++;
    *out = im.out;
    return QN_OK;
}
