/* See words.h. */
#include "cli/words.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, DAYS_SAID = 30 };

void qn_words_duration(double seconds, char out[static 24])
{
    if (!(seconds >= 0)) {
        strcpy(out, "-");
        return;
    }
    if (seconds > 999.0 * DAY) {
        strcpy(out, "> 999 d");
        return;
    }
    long s = (long)(seconds + 0.5);
    if (s < MINUTE)
        snprintf(out, 24, "%ld s", s);
    else if (s < HOUR)
        snprintf(out, 24, "%ld min %02ld s", s / MINUTE, s % MINUTE);
    else if (s < DAY)
        snprintf(out, 24, "%ld h %02ld min", s / HOUR, s % HOUR / MINUTE);
    else
        snprintf(out, 24, "%ld d %ld h", s / DAY, s % DAY / HOUR);
}

void qn_words_age(int64_t then_s, int64_t now_s, char out[static 25])
{
    int64_t age = now_s > then_s ? now_s - then_s : 0;
    if (then_s <= 0) {
        strcpy(out, "never");
    } else if (age < MINUTE) {
        strcpy(out, "just now");
    } else if (age < HOUR) {
        snprintf(out, 25, "%lld min ago", (long long)age / MINUTE);
    } else if (age < DAY) {
        snprintf(out, 25, "%lld h ago", (long long)age / HOUR);
    } else if (age < DAYS_SAID * DAY) {
        snprintf(out, 25, "%lld day%s ago", (long long)age / DAY, age < 2 * DAY ? "" : "s");
    } else {
        qn_wall_day(then_s, out);
    }
}
