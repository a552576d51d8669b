/* Durations and times as people say them. Sizes and counts are in table.h. */
#ifndef QN_CLI_WORDS_H
#define QN_CLI_WORDS_H

#include <stdint.h>

/* "45 s", "2 min 05 s", "3 h 07 min", "4 d 2 h"; "-" for less than nothing. */
void qn_words_duration(double seconds, char out[static 24]);

/* "just now", "5 min ago", "3 h ago", "2 days ago"; the day itself ("2026-11-21") when that was
 * more than 30 days ago; "never" for 0. Both are seconds since 1970. */
void qn_words_age(int64_t then_s, int64_t now_s, char out[static 25]);

#endif
