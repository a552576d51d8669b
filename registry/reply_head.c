/* See reply_head.h. Malformed lines are ignored. */
#include "registry/reply_head.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Parses decimal digits, at least one and without a sign; false when there is none or the number is
 * too big. */
static bool digits(const char **s, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)**s))
        return false;
    for (; isdigit((unsigned char)**s); (*s)++) {
        int d = **s - '0';
        if (v > (INT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

static bool number(const char *s, int64_t *out)
{
    return digits(&s, out) && *s == '\0';
}

/* "bytes 0-99/1234", "bytes 0-99/ *" or "bytes * /1234" (without the space). */
static void content_range(struct qn_reply_head *h, const char *s)
{
    int64_t first = -1, last = -1, total = -1;
    if (strncasecmp(s, "bytes", 5) != 0 || (s[5] != ' ' && s[5] != '='))
        return;
    s += 6;
    while (*s == ' ')
        s++;
    if (*s == '*')
        s++;
    else if (!digits(&s, &first) || *s++ != '-' || !digits(&s, &last) || last < first)
        return;
    if (*s++ != '/')
        return;
    if (strcmp(s, "*") != 0 && !number(s, &total))
        return;
    if ((first < 0 && total < 0) || (total >= 0 && last >= total))
        return;
    h->ranged = true;
    h->first = first;
    h->last = last;
    h->total = total;
}

/* Parses the three date formats of HTTP into Unix time; false for anything else. */
static bool http_date(const char *s, int64_t *unix_s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t = {0};
    char month[4] = "";
    int year = 0;
    if (sscanf(s, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &t.tm_mday, month, &year,
               &t.tm_hour, &t.tm_min, &t.tm_sec) != 6 &&
        sscanf(s, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d", month, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec, &year) != 6) {
        if (sscanf(s, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT", &t.tm_mday, month, &year,
                   &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
            return false;
        year += year < 70 ? 2000 : 1900;
    }
    const char *found = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!found || (found - months) % 3 || year < 1970 || year > 9999 || t.tm_mday < 1 ||
        t.tm_mday > 31 || t.tm_hour < 0 || t.tm_hour > 23 || t.tm_min < 0 || t.tm_min > 59 ||
        t.tm_sec < 0 || t.tm_sec > 60)
        return false;
    t.tm_mon = (int)(found - months) / 3;
    t.tm_year = year - 1900;
    *unix_s = timegm(&t);
    return true;
}

static int retry_after(const char *s, int64_t wall_ms)
{
    int64_t v;
    if (!number(s, &v)) {
        if (!http_date(s, &v))
            return -1;
        v -= wall_ms / 1000;
    }
    if (v < 0)
        v = 0;
    return v > QN_WEB_RETRY_AFTER_MAX_S ? QN_WEB_RETRY_AFTER_MAX_S + 1 : (int)v;
}

bool qn_etag_strong(const char *etag)
{
    return etag[0] == '"';
}

/* True for an optional "W/" and visible characters in quotes: a value that can be sent back in
 * If-Range unchanged. */
static bool etag_formed(const char *s)
{
    if (s[0] == 'W' && s[1] == '/')
        s += 2;
    if (*s++ != '"')
        return false;
    while (*s && *s != '"' && (unsigned char)*s > 0x20 && *s != 0x7f)
        s++;
    return s[0] == '"' && s[1] == '\0';
}

static void status_line(struct qn_reply_head *h, const char *s)
{
    const char *space = strchr(s, ' ');
    int64_t v = 0;
    *h = (struct qn_reply_head){
        .length = -1, .first = -1, .last = -1, .total = -1, .retry_after_s = -1};
    if (space && digits(&(const char *){space + 1}, &v) && v >= 100 && v <= 999)
        h->status = (int)v;
}

void qn_reply_head_line(struct qn_reply_head *h, const char *line, size_t n, int64_t wall_ms)
{
    char text[QN_WEB_URL_MAX + 64];
    while (n && (line[n - 1] == '\r' || line[n - 1] == '\n' || line[n - 1] == ' ' ||
                 line[n - 1] == '\t'))
        n--;
    if (!n || n >= sizeof text || memchr(line, '\0', n))
        return;
    memcpy(text, line, n);
    text[n] = '\0';
    if (strncmp(text, "HTTP/", 5) == 0) {
        status_line(h, text);
        return;
    }
    char *value = strchr(text, ':');
    if (!value || !h->status)
        return;
    *value++ = '\0';
    value += strspn(value, " \t");
    size_t len = strlen(value);
    int64_t v;
    if (strcasecmp(text, "content-length") == 0) {
        if (number(value, &v))
            h->length = v;
    } else if (strcasecmp(text, "content-range") == 0) {
        content_range(h, value);
    } else if (strcasecmp(text, "retry-after") == 0) {
        h->retry_after_s = retry_after(value, wall_ms);
    } else if (strcasecmp(text, "content-encoding") == 0) {
        h->encoded = strcasecmp(value, "identity") != 0;
    } else if (strcasecmp(text, "etag") == 0) {
        if (len < sizeof h->etag && etag_formed(value))
            memcpy(h->etag, value, len + 1);
    } else if (strcasecmp(text, "last-modified") == 0) {
        if (len < sizeof h->modified && !strchr(value, '"'))
            memcpy(h->modified, value, len + 1);
    } else if (strcasecmp(text, "location") == 0) {
        if (len < sizeof h->location)
            memcpy(h->location, value, len + 1);
    }
}
