/* Presets: system messages and parameters that an owner has given a name, to be chosen for chats. A
 * chat copies them, so that changing or deleting a preset changes no chat. */
#ifndef QN_CHATS_PRESETS_H
#define QN_CHATS_PRESETS_H

#include "chats/chats.h"

enum {
    QN_CHATS_PRESETS_MAX = 200,              /* of one owner */
    QN_CHATS_PRESET_PARAMS_MAX = 256 * 1024, /* bytes of its parameters as JSON */
};

struct qn_chat_preset {
    const char *id,
        *name;          /* name: not empty, at most QN_CHATS_NAME_MAX bytes, unique of an owner */
    const char *system; /* at most QN_CHATS_SYSTEM_MAX bytes */
    const char *params; /* JSON object */
    int64_t updated_ms;
};

/* All presets of the owner, by name. */
void qn_chats_presets(struct qn_chats *c, const char *owner, qn_chats_fn fn, void *ctx);

/* Stores name, system and params (NULL: "" and {}); replaces the preset of this name, which keeps
 * its id. The result has the preset. QN_EINVAL: the name is empty. */
void qn_chats_put_preset(struct qn_chats *c, const char *owner, const struct qn_chat_preset *p,
                         qn_chats_fn fn, void *ctx);

/* Deletes a preset for good. QN_ENOTFOUND. */
void qn_chats_remove_preset(struct qn_chats *c, const char *owner, const char *id, qn_chats_fn fn,
                            void *ctx);

#endif
