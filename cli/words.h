/* Formats durations and times for users. Sizes and counts are in table.h. */
#ifndef QN_CLI_WORDS_H
#define QN_CLI_WORDS_H

#include <stdint.h>

/* Writes "45 s", "2 min 05 s", "3 h 07 min", "4 d 2 h"; "-" for a negative duration. */
void qn_words_duration(double seconds, char out[static 24]);

/* Writes "just now", "5 min ago", "3 h ago", "2 days ago"; the date ("2026-11-21") if it is more
 * than 30 days ago; "never" for 0. Both arguments are seconds since 1970. */
void qn_words_age(int64_t then_s, int64_t now_s, char out[static 25]);

#endif
