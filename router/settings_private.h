/* The table of settings, for the files that read it: settings.c and settings_view.c. */
#ifndef QN_ROUTER_SETTINGS_PRIVATE_H
#define QN_ROUTER_SETTINGS_PRIVATE_H

#include "router/settings.h"

enum qn_setting_kind { QN_SETTING_TEXT, QN_SETTING_NUMBER, QN_SETTING_TRUTH };

/* Where a setting may be given, and when.
 * LIVE: takes effect while the server runs (apply_settings in main.c hands it on); others wait for
 * the next start. BY_HAND: never by a request: it says what is executed, which folders are read,
 * whom secrets are sent to or which guards are off. */
enum {
    QN_SETTING_FILE_KEY = 1,
    QN_SETTING_ELSEWHERE = 2,
    QN_SETTING_LIVE = 4,
    QN_SETTING_BY_HAND = 8,
    QN_SETTING_MAY_BE_EMPTY = 16,
    QN_SETTING_NUMBER_TOO = 32 /* TEXT that is shown as a number where it is one */
};

struct qn_setting_row {
    const char *name;
    int kind;           /* enum qn_setting_kind */
    size_t offset;      /* in struct qn_settings */
    const char *preset; /* as it would be typed; "" for text means: worked out at start */
    int64_t min, max;   /* NUMBER */
    int scope;
    const char *value; /* what --help shows for the value */
    const char *help;
};

const struct qn_setting_row *qn_setting_row(size_t i); /* NULL: behind the last */

#endif
