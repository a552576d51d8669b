/* The table of settings (settings_table.c), for the files that use it: settings.c, settings_forms.c
 * and settings_view.c. */
#ifndef QN_SETTINGS_SETTINGS_PRIVATE_H
#define QN_SETTINGS_SETTINGS_PRIVATE_H

#include "base/buf.h"
#include "base/json.h"
#include "settings/settings.h"

enum qn_setting_kind { QN_SETTING_TEXT, QN_SETTING_NUMBER, QN_SETTING_TRUTH };

/* Where a setting may be given, and when it takes effect. LIVE: takes effect while the server runs
 * (apply_settings in program.c); other settings wait for the next start. BY_HAND: not changeable by
 * a request, because the setting decides which programs are executed, which folders are read, to
 * which servers secrets are sent or which access checks are off. */
enum {
    QN_SETTING_FILE_KEY = 1,
    QN_SETTING_ELSEWHERE = 2,
    QN_SETTING_LIVE = 4,
    QN_SETTING_BY_HAND = 8,
    QN_SETTING_MAY_BE_EMPTY = 16
};

struct qn_setting_row {
    const char *name;
    int kind;           /* enum qn_setting_kind */
    size_t offset;      /* in struct qn_settings */
    const char *preset; /* as a user would write it; "" for a text: determined at the start */
    int64_t min, max;   /* NUMBER */
    int scope;
    const char *value; /* placeholder for the value in --help */
    const char *help;
};

const struct qn_setting_row *qn_setting_row(size_t i); /* NULL: past the last */
/* The row of exactly this name; NULL: none. */
const struct qn_setting_row *qn_setting_named(const char *name);
/* The row whose name is most similar to a misspelt one; NULL: none is similar. */
const struct qn_setting_row *qn_setting_nearest(const char *name);

/* Writes the name of the setting's environment variable: QUINCE_DATA_DIR for data-dir. */
enum { QN_SETTING_ENV_MAX = 48 };
void qn_setting_env_name(const struct qn_setting_row *r, char out[static QN_SETTING_ENV_MAX]);

/* The following functions are in settings_forms.c and apply to settings that are texts. */
/* Checks the text. where: the source as the user wrote it, for messages. QN_EINVAL. */
qn_err qn_setting_check(const struct qn_setting_row *r, const char *where, const char *text,
                        struct qn_error *e);
/* Appends the text for a JSON value. *own_form: the value has the structured form of this
 * setting. */
qn_err qn_setting_read(const struct qn_setting_row *r, const struct qn_jref *v, struct qn_buf *text,
                       bool *own_form, struct qn_error *e);
void qn_setting_write(const struct qn_setting_row *r, const char *text, struct qn_jw *w);

#endif
