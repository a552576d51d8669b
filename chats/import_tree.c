/* Drafts of messages become a tree; values common to all formats. See import_private.h. */
#include "chats/import_private.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NOTE_MAX = 300, NOWHERE = -1 };

void qn_import_note(struct qn_importing *im, const char *fmt, ...)
{
    char text[NOTE_MAX];
    va_list ap;
    if (!im->note)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text[qn_utf8_whole(text, strlen(text))] = '\0';
    im->note(im->note_ctx, text);
}

/* ---- values ---- */

const char *qn_import_text(struct qn_importing *im, const struct qn_jref *r)
{
    return qn_arena_strdup(im->arena, qn_json_raw_str(r));
}

const char *qn_import_name(struct qn_importing *im, const struct qn_jref *r)
{
    const char *text = qn_json_raw_str(r);
    return qn_arena_strndup(im->arena, text, qn_utf8_whole(text, strnlen(text, QN_CHATS_NAME_MAX)));
}

const char *qn_import_id(struct qn_importing *im, const struct qn_jref *r)
{
    if (qn_json_type(r) == QN_JSON_STRING && *qn_json_raw_str(r))
        return qn_import_name(im, r);
    if (qn_json_type(r) == QN_JSON_NUMBER)
        return qn_arena_fmt(im->arena, "%.17g", qn_json_raw_f64(r));
    return NULL;
}

const char *qn_import_json(struct qn_importing *im, const struct qn_jref *r, enum qn_json_type type,
                           const char *empty)
{
    struct qn_buf text;
    const char *out = empty;
    if (qn_json_type(r) != type)
        return empty;
    qn_buf_init(&text, QN_CHATS_JSON_MAX);
    if (qn_json_print(r, &text))
        qn_import_note(im, "a member '%s' of more than %d bytes was left out", r->key ? r->key : "",
                       QN_CHATS_JSON_MAX);
    else
        out = qn_arena_strdup(im->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return out;
}

int64_t qn_import_time(const struct qn_jref *r, double factor)
{
    const double latest = 253402300799999.0; /* the end of the year 9999 */
    double ms = qn_json_type(r) == QN_JSON_NUMBER ? qn_json_raw_f64(r) * factor : 0;
    return ms >= 1 && ms <= latest ? (int64_t)ms : qn_wall_ms();
}

qn_err qn_import_check(const struct qn_message_draft *d, struct qn_error *e)
{
    const struct qn_chat_message *m = &d->message.m;
    if (strlen(m->text) <= QN_CHATS_TEXT_MAX && strlen(m->reasoning) <= QN_CHATS_TEXT_MAX)
        return QN_OK;
    return qn_fail(e, QN_ELIMIT, "a message has more than %d bytes of text", QN_CHATS_TEXT_MAX);
}

/* ---- drafts ---- */

struct qn_message_draft *qn_import_draft(struct qn_importing *im)
{
    enum { FIRST = 32 };
    if (im->n == QN_CHATS_MESSAGES_MAX)
        return NULL;
    if (im->n == im->room) {
        size_t room = im->room ? im->room * 2 : FIRST;
        struct qn_message_draft *grown = qn_arena_alloc(im->arena, room * sizeof *grown);
        if (im->n)
            memcpy(grown, im->drafts, im->n * sizeof *grown);
        im->drafts = grown;
        im->room = room;
    }
    struct qn_message_draft *d = &im->drafts[im->n++];
    *d = (struct qn_message_draft){.message = {.parent = QN_CHATS_IMPORT_NONE,
                                               .m = {.text = "",
                                                     .reasoning = "",
                                                     .parts = "[]",
                                                     .calls = "[]",
                                                     .model = "",
                                                     .params = "{}",
                                                     .stats = "{}",
                                                     .finish = "",
                                                     .state = QN_CHAT_DONE}}};
    return d;
}

void qn_import_part(struct qn_importing *im, struct qn_message_draft *d,
                    const struct qn_chats_imported_part *part)
{
    struct qn_chats_imported_message *m = &d->message;
    if (m->n_parts == QN_CHATS_PARTS_MAX) {
        qn_import_note(im, "files beyond %d of one message were left out", QN_CHATS_PARTS_MAX);
        return;
    }
    if (!m->parts)
        m->parts = qn_arena_alloc(im->arena, QN_CHATS_PARTS_MAX * sizeof *m->parts);
    m->parts[m->n_parts++] = *part;
}

void qn_import_url(struct qn_importing *im, struct qn_message_draft *d, const char *kind,
                   const char *name, const char *url)
{
    const char *comma = strchr(url, ','), *end = strpbrk(url, ";,");
    if (strncasecmp(url, "data:", 5) != 0 || !comma || comma - url < 7 ||
        strncasecmp(comma - 7, ";base64", 7) != 0) {
        qn_import_note(im, "the file '%.80s' is not part of the export: it was left out",
                       *name ? name : url);
        return;
    }
    const struct qn_chats_imported_part part = {
        .kind = kind,
        .name = name,
        .type = qn_arena_strndup(im->arena, url + 5, (size_t)(end - url - 5)),
        .data = comma + 1,
        .n = strlen(comma + 1)};
    qn_import_part(im, d, &part);
}

/* ---- the tree ---- */

struct entry {
    const char *id;
    size_t at;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

/* The drafts' ids, sorted. */
struct ids {
    struct entry *entries;
    size_t n;
};

static struct ids sort_ids(struct qn_importing *im)
{
    struct ids ids = {.entries = qn_arena_alloc(im->arena, (im->n + 1) * sizeof *ids.entries)};
    for (size_t i = 0; i < im->n; i++)
        if (im->drafts[i].id)
            ids.entries[ids.n++] = (struct entry){im->drafts[i].id, i};
    qsort(ids.entries, ids.n, sizeof *ids.entries, compare);
    return ids;
}

/* The number of the draft with this id; NOWHERE: there is none. */
static ptrdiff_t find(const struct ids *ids, const char *id)
{
    const struct entry key = {id, 0};
    const struct entry *at =
        id ? bsearch(&key, ids->entries, ids->n, sizeof *ids->entries, compare) : NULL;
    return at ? (ptrdiff_t)at->at : NOWHERE;
}

/* Children of each draft as linked lists, in the order of the file; the last list has the roots. */
struct links {
    ptrdiff_t *first, *last, *next;
};

static struct links link_children(struct qn_importing *im, const struct ids *ids)
{
    const size_t bytes = (im->n + 1) * sizeof(ptrdiff_t);
    struct links l = {qn_arena_alloc(im->arena, bytes), qn_arena_alloc(im->arena, bytes),
                      qn_arena_alloc(im->arena, bytes)};
    for (size_t i = 0; i <= im->n; i++)
        l.first[i] = l.last[i] = l.next[i] = NOWHERE;
    for (size_t i = 0; i < im->n; i++) {
        ptrdiff_t parent = find(ids, im->drafts[i].parent);
        size_t list = parent == NOWHERE ? im->n : (size_t)parent;
        if (l.last[list] == NOWHERE)
            l.first[list] = (ptrdiff_t)i;
        else
            l.next[l.last[list]] = (ptrdiff_t)i;
        l.last[list] = (ptrdiff_t)i;
    }
    return l;
}

/* Visits the drafts from the roots on. A circle is not reached, so its messages are left out. */
qn_err qn_import_tree(struct qn_importing *im, struct qn_error *e)
{
    struct qn_chats_imported *out = im->out;
    struct ids ids = sort_ids(im);
    struct links links = link_children(im, &ids);
    ptrdiff_t *todo = qn_arena_alloc(im->arena, (im->n + 1) * sizeof *todo);
    size_t *place = qn_arena_alloc(im->arena, (im->n + 1) * sizeof *place);
    ptrdiff_t head = find(&ids, im->head);
    size_t n_todo = 0, visited = 0;
    out->messages = qn_arena_alloc(im->arena, (im->n + 1) * sizeof *out->messages);
    out->head = QN_CHATS_IMPORT_NONE;
    place[im->n] = QN_CHATS_IMPORT_NONE;
    if (links.first[im->n] != NOWHERE)
        todo[n_todo++] = links.first[im->n];
    while (n_todo) {
        size_t at = (size_t)todo[--n_todo];
        const struct qn_message_draft *d = &im->drafts[at];
        ptrdiff_t parent = find(&ids, d->parent);
        size_t above = place[parent == NOWHERE ? im->n : (size_t)parent];
        qn_err err = qn_import_check(d, e);
        if (err)
            return err;
        visited++;
        place[at] = above;
        if (!d->left_out) {
            out->messages[out->n] = d->message;
            out->messages[out->n].parent = above;
            place[at] = out->n++;
        }
        if ((ptrdiff_t)at == head || (!im->head && place[at] != QN_CHATS_IMPORT_NONE))
            out->head = place[at];
        /* A later brother waits while the branch is visited. */
        if (links.next[at] != NOWHERE)
            todo[n_todo++] = links.next[at];
        if (links.first[at] != NOWHERE)
            todo[n_todo++] = links.first[at];
    }
    if (visited < im->n)
        qn_import_note(im, "'%.80s': %zu messages are below each other: they were left out",
                       out->chat.title, im->n - visited);
    return QN_OK;
}
