/* See pack_note.h. */
#include "registry/pack_note.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

qn_err qn_pack_note_write(const char *folder, const struct qn_pack *pack, const char *program,
                          const char *sha256, int64_t size_bytes, struct qn_error *e)
{
    struct qn_buf text;
    char *path = qn_path_join(folder, QN_PACK_NOTE);
    qn_buf_init(&text, QN_PACK_NOTE_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "recipe", pack->recipe);
    qn_jw_kstr(&w, "backend", pack->backend);
    qn_jw_kstr(&w, "version", pack->version);
    qn_jw_kstr(&w, "program", program);
    qn_jw_kstr(&w, "url", pack->url);
    qn_jw_kstr(&w, "sha256", sha256);
    qn_jw_ki64(&w, "size_bytes", size_bytes);
    qn_jw_ki64(&w, "installed_at", (int64_t)time(NULL));
    qn_jw_obj_end(&w);
    qn_err err = text.overflow ? qn_fail(e, QN_ELIMIT, "%s would be too long", path)
                               : qn_file_write_atomic(path, text.data, text.len, 0644, e);
    qn_buf_deinit(&text);
    free(path);
    return err;
}

/* True when no part of the path leads out of the folder. */
static bool stays_below(const char *path)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (!n || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

qn_err qn_pack_note_read(const char *folder, struct qn_pack_note *out, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_json *doc = NULL;
    char *path = qn_path_join(folder, QN_PACK_NOTE);
    qn_buf_init(&text, QN_PACK_NOTE_MAX);
    *out = (struct qn_pack_note){{0}};
    qn_err err = qn_file_read(path, &text, e);
    if (!err && qn_json_parse(qn_buf_cstr(&text), text.len, &doc, NULL))
        err = qn_fail(e, QN_EFORMAT, "%s is damaged", path);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "program");
        const char *program = qn_json_raw_str(&v);
        if (!stays_below(program) || strlen(program) > QN_PACK_PROGRAM_MAX)
            err = qn_fail(e, QN_EFORMAT, "%s does not name a program below its folder", path);
        else
            memcpy(out->program, program, strlen(program) + 1);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    free(path);
    return err;
}
