/* Time: a monotonic clock for durations, the wall clock for display. */
#ifndef QN_BASE_CLOCK_H
#define QN_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t qn_now_ms(void);  /* monotonic, from an arbitrary start */
int64_t qn_now_us(void);  /* monotonic */
int64_t qn_wall_ms(void); /* since 1970-01-01 UTC */

/* "2026-01-31T12:00:00.123Z" into out (at least 25 bytes). */
void qn_wall_format(int64_t wall_ms, char out[static 25]);

/* "2026-01-31", the day in this machine's time zone (tzset(3)), into out; "-" when it cannot be
 * determined. */
void qn_wall_day(int64_t wall_s, char out[static 11]);

#endif
