/* See clock.h. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t qn_now_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t qn_now_ms(void)
{
    return qn_now_us() / 1000;
}

int64_t qn_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

void qn_wall_format(int64_t wall_ms, char out[static 25])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (tm.tm_year + 1900) % 10000,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(wall_ms % 1000));
    snprintf(out, 25, "%.24s", text);
}

void qn_wall_day(int64_t wall_s, char out[static 11])
{
    time_t seconds = (time_t)wall_s;
    struct tm tm;
    if (!localtime_r(&seconds, &tm) || strftime(out, 11, "%Y-%m-%d", &tm) != 10)
        strcpy(out, "-");
}
