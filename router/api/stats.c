/* GET stats: the last request's speed and the sums since the start. */
#include "router/stats.h"

#include "router/answer.h"
#include "router/api/api.h"

void qn_api_stats(struct qn_services *sv, struct qn_http *h, const char *id)
{
    const struct qn_stats *s = sv->stats;
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kf64(&w, "time_to_first_token", s->first_ms / 1000);
    qn_jw_kf64(&w, "tokens_per_second",
               s->output_ms > 0 ? (double)s->output * 1000 / s->output_ms : 0);
    qn_jw_ki64(&w, "input_tokens", s->prompt);
    qn_jw_ki64(&w, "output_tokens", s->output);
    qn_jw_ki64(&w, "prompt_tokens", s->prompt);
    qn_jw_ki64(&w, "cache_tokens", s->cached);
    qn_jw_key(&w, "decode_token_times"); /* of before; it has been empty since */
    qn_jw_arr(&w);
    qn_jw_arr_end(&w);
    qn_jw_ki64(&w, "request_count_total", s->requests);
    qn_jw_ki64(&w, "failed_count_total", s->failed);
    qn_jw_ki64(&w, "cancelled_count_total", s->cancelled);
    qn_jw_ki64(&w, "prompt_tokens_total", s->prompt_total);
    qn_jw_ki64(&w, "cache_tokens_total", s->cached_total);
    qn_jw_ki64(&w, "output_tokens_total", s->output_total);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
