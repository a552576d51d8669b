/* For the files that read imports: drafts of messages, in any order, and the formats. */
#ifndef QN_CHATS_IMPORT_PRIVATE_H
#define QN_CHATS_IMPORT_PRIVATE_H

#include "base/json.h"
#include "chats/import.h"

/* A message as it stands in the file. */
struct qn_message_draft {
    const char *id, *parent; /* NULL: none */
    bool left_out;           /* its children become children of its parent */
    struct qn_chats_imported_message message;
};

/* One chat that is being read. */
struct qn_importing {
    struct qn_arena *arena;
    qn_chats_note_fn note;
    void *note_ctx;
    struct qn_chats_imported *out;
    struct qn_message_draft *drafts;
    size_t n, room;
    const char *head; /* id of the message that was shown last; NULL: the last one */
};

/* ---- import_tree.c ---- */

/* A new draft with all texts empty and the JSON members valid. NULL: there are too many. */
struct qn_message_draft *qn_import_draft(struct qn_importing *im);
/* Copies the drafts to im->out, parents before their children. */
qn_err qn_import_tree(struct qn_importing *im, struct qn_error *e);

/* Something that was left out. */
void qn_import_note(struct qn_importing *im, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy in the arena; "" unless the value is a string. */
const char *qn_import_text(struct qn_importing *im, const struct qn_jref *r);
/* The same, cut to QN_CHATS_NAME_MAX bytes. */
const char *qn_import_name(struct qn_importing *im, const struct qn_jref *r);
/* An id: NULL unless the value is a string or a number. */
const char *qn_import_id(struct qn_importing *im, const struct qn_jref *r);
/* A value as JSON text of at most QN_CHATS_JSON_MAX bytes; `empty` if it has another type or is too
 * long, which is noted. */
const char *qn_import_json(struct qn_importing *im, const struct qn_jref *r, enum qn_json_type type,
                           const char *empty);
/* A time in milliseconds: the number times `factor`; now, if it is absent or makes no sense. */
int64_t qn_import_time(const struct qn_jref *r, double factor);
/* QN_ELIMIT if a text is longer than QN_CHATS_TEXT_MAX. */
qn_err qn_import_check(const struct qn_message_draft *d, struct qn_error *e);

/* Adds a file to the draft. data: base64, or a data URL; plain: the contents. */
void qn_import_part(struct qn_importing *im, struct qn_message_draft *d,
                    const struct qn_chats_imported_part *part);
/* The same for "data:TYPE;base64,DATA"; another URL is left out. */
void qn_import_url(struct qn_importing *im, struct qn_message_draft *d, const char *kind,
                   const char *name, const char *url);

/* ---- the formats: each reads one chat into im ---- */

qn_err qn_import_ours(struct qn_importing *im, const struct qn_jref *chat, struct qn_error *e);
/* import_llama.c: {"conv","messages"}; or one record after the other. */
qn_err qn_import_llama(struct qn_importing *im, const struct qn_jref *item, struct qn_error *e);
void qn_import_llama_conv(struct qn_importing *im, const struct qn_jref *conv);
qn_err qn_import_llama_message(struct qn_importing *im, const struct qn_jref *message,
                               struct qn_error *e);
/* import_openwebui.c; item: the object around `chat`, or NULL. */
qn_err qn_import_openwebui(struct qn_importing *im, const struct qn_jref *item,
                           const struct qn_jref *chat, struct qn_error *e);

#endif
