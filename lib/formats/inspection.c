/* See inspection.h. */
#include "formats/inspection.h"

#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- writing ---- */

void qn_inspection_json(const struct qn_inspection *in, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "architecture", in->architecture);
    if (in->title[0])
        qn_jw_kstr(&w, "title", in->title);
    qn_jw_kstr(&w, "quantization", in->quantization);
    qn_jw_ki64(&w, "parameters", in->parameters);
    qn_jw_ki64(&w, "context_length", in->context_length);
    qn_jw_ki64(&w, "kv_token_bytes", in->kv_token_bytes);
    qn_jw_kbool(&w, "chat_template", in->chat_template);
    qn_jw_obj_end(&w);
}

void qn_inspection_write(const struct qn_inspection *in, struct qn_buf *facts, const char *lacking,
                         const struct qn_error *e, struct qn_buf *out)
{
    struct qn_buf details;
    qn_buf_init(&details, QN_INSPECTION_MAX - QN_FACTS_MAX);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    if (*lacking)
        qn_jw_kstr(&w, "lacking", lacking);
    if (e->code) {
        qn_jw_kstr(&w, "code", qn_err_name(e->code));
        qn_jw_kstr(&w, "error", e->message);
    } else {
        qn_inspection_json(in, &details);
        qn_jw_key(&w, "details");
        qn_jw_raw(&w, qn_buf_cstr(&details), details.len);
        qn_jw_ki64(&w, "size_bytes", in->size_bytes);
        if (facts->len) {
            qn_jw_key(&w, "facts");
            qn_jw_raw(&w, facts->data, facts->len);
        }
    }
    qn_jw_obj_end(&w);
    qn_buf_deinit(&details);
}

/* ---- reading ---- */

/* False for control characters, which must not get into messages and log lines. */
static bool is_plain(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 127)
            return false;
    return true;
}

static qn_err read_text(const struct qn_jref *object, const char *key, char *out, size_t size,
                        struct qn_error *e)
{
    const char *s = "";
    struct qn_jref v = qn_json_get(object, key);
    qn_err err = qn_json_str_opt(&v, &s, e);
    if (!err && (strlen(s) >= size || !is_plain(s)))
        err = qn_json_fail(&v, e, "too long, or with control characters");
    if (!err)
        memcpy(out, s, strlen(s) + 1);
    return err;
}

static qn_err read_number(const struct qn_jref *object, const char *key, int64_t *out,
                          struct qn_error *e)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_i64(&v, 0, QN_INSPECTION_NUMBER_MAX, out, e);
}

static qn_err read_details(const struct qn_jref *root, struct qn_inspection *out,
                           struct qn_error *e)
{
    struct qn_jref d = qn_json_get(root, "details"), v = qn_json_get(&d, "chat_template");
    qn_err err = read_text(&d, "architecture", out->architecture, sizeof out->architecture, e);
    if (!err && !*out->architecture)
        err = qn_json_fail(&d, e, "no architecture");
    if (!err)
        err = read_text(&d, "title", out->title, sizeof out->title, e);
    if (!err)
        err = read_text(&d, "quantization", out->quantization, sizeof out->quantization, e);
    if (!err)
        err = read_number(&d, "parameters", &out->parameters, e);
    if (!err)
        err = read_number(&d, "context_length", &out->context_length, e);
    if (!err)
        err = read_number(&d, "kv_token_bytes", &out->kv_token_bytes, e);
    if (!err)
        err = qn_json_bool(&v, &out->chat_template, e);
    return err ? err : read_number(root, "size_bytes", &out->size_bytes, e);
}

/* most: limit of the text in the model's file, in bytes; each byte may have become a U+FFFD, which
 * has three. */
static qn_err check_length(const struct qn_jref *text, size_t most, struct qn_error *e)
{
    return strlen(qn_json_raw_str(text)) <= 3 * most
               ? QN_OK
               : qn_json_fail(text, e, "more than %zu bytes", 3 * most);
}

/* Checks one entry of a file's metadata: a string, a number, a boolean, or null in place of a list.
 */
static qn_err check_entry(const struct qn_jref *v, struct qn_error *e)
{
    enum qn_json_type type = qn_json_type(v);
    if (!*v->key || strlen(v->key) > QN_FACTS_KEY_MAX)
        return qn_json_fail(v, e, "a key of %zu bytes", strlen(v->key));
    if (type == QN_JSON_ARRAY || type == QN_JSON_OBJECT)
        return qn_json_fail(v, e, "neither a string nor a number");
    return check_length(v, QN_FACTS_TEXT_MAX, e);
}

static qn_err check_info(const struct qn_jref *info, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    if (qn_json_type(info) != QN_JSON_OBJECT || qn_json_count(info) > QN_FACTS_ENTRIES_MAX)
        return qn_json_fail(info, e, "not an object of at most %d entries", QN_FACTS_ENTRIES_MAX);
    for (bool more = qn_json_first(info, &it); more && !err; more = qn_json_next(&it))
        err = check_entry(&it, e);
    return err;
}

static qn_err check_capabilities(const struct qn_jref *list, struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(list) != QN_JSON_ARRAY || qn_json_count(list) > QN_FACTS_CAPABILITIES_MAX)
        return qn_json_fail(list, e, "not a list of at most %d words", QN_FACTS_CAPABILITIES_MAX);
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        const char *word = qn_json_raw_str(&it);
        size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
        if (!n || word[n] || n > QN_FACTS_CAPABILITY_LEN)
            return qn_json_fail(&it, e, "no word");
    }
    return QN_OK;
}

static qn_err check_template(const struct qn_jref *v, struct qn_error *e)
{
    const char *s;
    qn_err err = qn_json_str(v, &s, e);
    return err ? err : check_length(v, QN_FACTS_TEMPLATE_MAX, e);
}

static qn_err check_license(const struct qn_jref *v, struct qn_error *e)
{
    const char *s;
    qn_err err = qn_json_str(v, &s, e);
    return err ? err : check_length(v, QN_FACTS_LICENSE_MAX, e);
}

/* The known members of facts; others are dropped. */
static const struct {
    const char *key;
    qn_err (*check)(const struct qn_jref *v, struct qn_error *e);
} members[] = {
    {"info", check_info},
    {"template", check_template},
    {"license", check_license},
    {"capabilities", check_capabilities},
};

static qn_err read_facts(const struct qn_jref *facts, struct qn_buf *out, struct qn_error *e)
{
    struct qn_jw w = qn_jw_to(out);
    if (qn_json_type(facts) == QN_JSON_ABSENT)
        return QN_OK;
    if (qn_json_type(facts) != QN_JSON_OBJECT)
        return qn_json_fail(facts, e, "no object");
    qn_jw_obj(&w);
    for (size_t i = 0; i < COUNT(members); i++) {
        struct qn_jref v = qn_json_get(facts, members[i].key);
        if (qn_json_type(&v) == QN_JSON_ABSENT)
            continue;
        qn_err err = members[i].check(&v, e);
        if (err)
            return err;
        qn_jw_key(&w, members[i].key);
        qn_jw_value(&w, &v);
    }
    qn_jw_obj_end(&w);
    return out->overflow || out->len > QN_FACTS_MAX
               ? qn_json_fail(facts, e, "more than %d bytes", QN_FACTS_MAX)
               : QN_OK;
}

/* The error that the report contains; QN_OK: none. */
static qn_err told(const struct qn_jref *root, struct qn_error *e)
{
    static const qn_err may_tell[] = {QN_EFORMAT, QN_EUNSUPPORTED, QN_ENOTFOUND, QN_ELIMIT,
                                      QN_EINVAL,  QN_ENOMEM,       QN_EIO};
    struct qn_jref code = qn_json_get(root, "code"), text = qn_json_get(root, "error");
    if (qn_json_type(&code) == QN_JSON_ABSENT)
        return QN_OK;
    for (size_t i = 0; i < COUNT(may_tell); i++)
        if (qn_str_eq(qn_json_raw_str(&code), qn_err_name(may_tell[i])) &&
            *qn_json_raw_str(&text) && is_plain(qn_json_raw_str(&text)))
            return qn_fail(e, may_tell[i], "%s", qn_json_raw_str(&text));
    return qn_fail(e, QN_ECHILD, "an unknown error");
}

static qn_err read_root(const struct qn_jref *root, struct qn_inspection *out, struct qn_buf *facts,
                        char *lacking, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "facts");
    qn_err err = read_text(root, "lacking", lacking, QN_INSPECTION_LACKING_MAX + 1, e);
    if (err)
        return QN_ECHILD;
    err = told(root, e);
    if (err)
        return err;
    return read_details(root, out, e) || read_facts(&v, facts, e) ? QN_ECHILD : QN_OK;
}

qn_err qn_inspection_read(const char *text, size_t n, struct qn_inspection *out,
                          struct qn_buf *facts, char lacking[static QN_INSPECTION_LACKING_MAX + 1],
                          struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_error why = {0};
    *out = (struct qn_inspection){0};
    *lacking = '\0';
    qn_err err = QN_ECHILD;
    if (n <= QN_INSPECTION_MAX && !qn_json_parse(text, n, &doc, &why)) {
        struct qn_jref root = qn_json_root(doc);
        err = read_root(&root, out, facts, lacking, &why);
        qn_json_free(doc);
    }
    if (!err)
        return QN_OK;
    *out = (struct qn_inspection){0};
    qn_buf_clear(facts);
    return err == QN_ECHILD
               ? qn_fail(e, err, "quince-inspect sent an invalid report: %s", why.message)
               : qn_fail(e, err, "%s", why.message);
}
