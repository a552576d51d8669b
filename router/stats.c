/* See stats.h. */
#include "router/stats.h"

void qn_stats_add(struct qn_stats *s, const struct qn_tally *t)
{
    s->first_ms = t->first_ms;
    s->output_ms = t->output_ms;
    s->prompt = t->prompt;
    s->cached = t->cached;
    s->output = t->output;
    s->requests++;
    s->prompt_total += t->prompt;
    s->cached_total += t->cached;
    s->output_total += t->output;
}
