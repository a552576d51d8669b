/* See error.h. Contains the list of codes and names. */
#include "base/error.h"

#include "base/address.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[QN_ERR_COUNT] = {
    [QN_OK] = "ok",
    [QN_EINVAL] = "invalid",
    [QN_EFORMAT] = "format",
    [QN_EUNSUPPORTED] = "unsupported",
    [QN_ENOTFOUND] = "not_found",
    [QN_ECONFLICT] = "conflict",
    [QN_ELIMIT] = "limit",
    [QN_ECONTEXT] = "context",
    [QN_ENOMEM] = "out_of_memory",
    [QN_EIO] = "io",
    [QN_EBUSY] = "busy",
    [QN_ETIMEOUT] = "timeout",
    [QN_ECHILD] = "child",
    [QN_ECANCELLED] = "cancelled",
    [QN_EINTERNAL] = "internal",
};

/* Copies s into out[n], replacing malformed bytes and never splitting a character. */
static void copy_text(char *out, size_t n, const char *s)
{
    size_t len = strlen(s);
    size_t used = 0;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t step = qn_utf8_decode(s + i, len - i, &cp);
        char enc[4];
        size_t w = qn_utf8_encode(cp, enc);
        if (used + w + 1 > n)
            break;
        memcpy(out + used, enc, w);
        used += w;
        i += step;
    }
    out[used] = '\0';
}

static qn_err fill(struct qn_error *e, qn_err code, const char *param, const char *fmt, va_list ap)
{
    if (!e)
        return code;
    /* Formatted into a separate buffer, because an argument may be the message in e. */
    char text[QN_ERROR_MESSAGE_MAX * 2];
    char name[QN_ERROR_PARAM_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    qn_addresses_strip(text);
    copy_text(name, sizeof name, param);
    e->code = code;
    memcpy(e->param, name, sizeof name);
    copy_text(e->message, sizeof e->message, text);
    return code;
}

qn_err qn_fail(struct qn_error *e, qn_err code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(e, code, "", fmt, ap);
    va_end(ap);
    return code;
}

qn_err qn_fail_param(struct qn_error *e, qn_err code, const char *param, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(e, code, param, fmt, ap);
    va_end(ap);
    return code;
}

qn_err qn_fail_errno(struct qn_error *e, const char *fmt, ...)
{
    int err = errno;
    qn_err code = err == ENOENT ? QN_ENOTFOUND : err == ENOMEM ? QN_ENOMEM : QN_EIO;
    if (!e)
        return code;
    char text[QN_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char reason[128];
    return qn_fail(e, code, "%s: %s", text, strerror_r(err, reason, sizeof reason));
}

const char *qn_err_name(qn_err code)
{
    return (unsigned)code < QN_ERR_COUNT ? names[code] : names[QN_EINTERNAL];
}

qn_err qn_err_parse(const char *name)
{
    for (unsigned i = 0; i < QN_ERR_COUNT; i++)
        if (qn_str_eq(names[i], name))
            return (qn_err)i;
    return QN_EINTERNAL;
}
