/* Loads that failed lately are refused at once: neither the model's own running process nor other
 * models are stopped for a load that is known to fail. See load_refusals.h and inventory_private.h.
 *
 * The key of a load is a checksum of all options that its process is started with, and of the path,
 * size, modification time, device and inode of each file. So other options, a replaced model file
 * or a repaired adapter make a different load, which is tried. */
#include "models/inventory_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Options, and one line for each file. */
enum { KEY_TEXT_MAX = 1024 * 1024 };

static void add_stamp(void *ctx, const char *path)
{
    struct qn_buf *text = ctx;
    struct stat s;
    if (stat(path, &s))
        qn_buf_fmt(text, "%s missing\n", path);
    else
        qn_buf_fmt(text, "%s %lld %lld.%09ld %llu %llu\n", path, (long long)s.st_size,
                   (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, (unsigned long long)s.st_dev,
                   (unsigned long long)s.st_ino);
}

void qn_model_slot_load_key(const struct qn_model_row *row, struct qn_model_slot_want *w,
                            char out[static QN_SHA256_HEX + 1])
{
    struct qn_buf text;
    struct qn_sha256 sum;
    qn_buf_init(&text, KEY_TEXT_MAX);
    qn_buf_fmt(&text, "%s %s %d %lld %s\n", row->type, w->engine, w->bridged, (long long)w->context,
               qn_buf_cstr(&w->options));
    for (size_t i = 0; i < row->n_files; i++)
        add_stamp(&text, row->files[i]);
    qn_model_slot_want_each_file(w, add_stamp, &text);
    qn_sha256_init(&sum);
    qn_sha256_add(&sum, text.data, text.len);
    qn_sha256_hex(&sum, out);
    if (text.overflow)
        out[0] = '\0';
    qn_buf_deinit(&text);
}

void qn_model_slot_remember_failure(struct qn_model_slot *p)
{
    struct qn_child_status s = qn_child_status(p->process.child);
    bool ran = s.crash_report && (s.crash_report->exit_code >= 0 || s.crash_report->signal > 0);
    if (s.state != QN_INST_FAILED || !*p->load.load_key || !ran)
        return;
    struct qn_error why;
    if (qn_model_slot_may_fit_alone(p)) {
        p->load.load_key[0] = '\0';
        return;
    }
    qn_model_slot_load_error(p, &why);
    qn_load_refusals_add(&p->load.refusals, p->load.load_key, &why, qn_now_ms());
    p->load.load_key[0] = '\0';
    qn_info("inventory", "model=%s load_refused_for_s=%d message=\"%s\"", p->id.name,
            QN_LOAD_REFUSAL_MS / 1000, why.message);
}

/* The reason, and what tries the load again. A reason that is too long for both is cut. */
static void tell(const struct qn_model_slot *p, const struct qn_error *found, struct qn_error *why)
{
    char advice[QN_MODEL_NAME_MAX + 160];
    int n = snprintf(advice, sizeof advice,
                     " (this is how it failed lately, and it is not tried again for %d minutes: "
                     "`quince load %s` tries at once)",
                     QN_LOAD_REFUSAL_MS / 60000, p->id.name);
    size_t len = strlen(found->message), room = sizeof why->message - 1 - (size_t)n;
    if (len > room)
        len = qn_utf8_whole(found->message, room);
    *why = *found;
    snprintf(why->message, sizeof why->message, "%.*s%s", (int)len, found->message, advice);
}

/* True when a waiting request asks for the next start in spite of an earlier failure. */
static bool is_asked_anew(const struct qn_model_slot *p)
{
    const struct qn_model_slot_load *asked = qn_model_slot_asked(p);
    for (struct qn_fair_item *i = p->queue.waiting.oldest; i; i = i->newer)
        if (qn_lease_of(i)->anew && qn_lease_of(i)->load == asked)
            return true;
    return false;
}

bool qn_model_slot_refused_lately(struct qn_model_slot *p, struct qn_error *why)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_model_slot_want w;
    char key[QN_SHA256_HEX + 1];
    const struct qn_error *found = NULL;
    if (!p->load.refusals.n || is_asked_anew(p) ||
        qn_inventory_find(p->inv, p->id.name, &snap, &row, NULL))
        return false;
    if (qn_model_slot_want(p, row, qn_model_slot_next_load(p), &w, NULL) == QN_OK) {
        qn_model_slot_load_key(row, &w, key);
        found = qn_load_refusals_find(&p->load.refusals, key, qn_now_ms());
    }
    if (found)
        tell(p, found, why);
    qn_model_slot_want_deinit(&w);
    qn_snapshot_unref(snap);
    return found != NULL;
}
