/* See breaker.h. State and event select an entry of one table. */
#include "bridge/breaker.h"

typedef enum qn_breaker_state (*action)(struct qn_breaker *b, int64_t now_ms);

static enum qn_breaker_state stay(struct qn_breaker *b, int64_t now_ms)
{
    (void)now_ms;
    return b->state;
}

static enum qn_breaker_state close_it(struct qn_breaker *b, int64_t now_ms)
{
    (void)now_ms;
    b->failures = 0;
    b->pause_ms = 0;
    return QN_BREAKER_CLOSED;
}

static enum qn_breaker_state open_it(struct qn_breaker *b, int64_t now_ms)
{
    int64_t pause = b->pause_ms > 0 ? 2 * b->pause_ms : QN_BREAKER_PAUSE_MS;
    b->pause_ms = pause < QN_BREAKER_PAUSE_MAX_MS ? pause : QN_BREAKER_PAUSE_MAX_MS;
    b->due_ms = now_ms + b->pause_ms;
    return QN_BREAKER_OPEN;
}

static enum qn_breaker_state count(struct qn_breaker *b, int64_t now_ms)
{
    return ++b->failures < QN_BREAKER_FAILURES ? QN_BREAKER_CLOSED : open_it(b, now_ms);
}

static enum qn_breaker_state probe(struct qn_breaker *b, int64_t now_ms)
{
    (void)b;
    (void)now_ms;
    return QN_BREAKER_HALF_OPEN;
}

/* A request that was sent before the breaker opened may still succeed, which closes the breaker
 * like a successful probe. If such a request fails, the breaker does not change. */
static const action table[QN_BREAKER_STATES][QN_BREAKER_EVENTS] = {
    [QN_BREAKER_CLOSED] = {close_it, count, stay},
    [QN_BREAKER_OPEN] = {close_it, stay, probe},
    [QN_BREAKER_HALF_OPEN] = {close_it, open_it, stay},
};

void qn_breaker_step(struct qn_breaker *b, enum qn_breaker_event ev, int64_t now_ms)
{
    b->state = table[b->state][ev](b, now_ms);
}

bool qn_breaker_due(const struct qn_breaker *b, int64_t now_ms)
{
    return b->state == QN_BREAKER_OPEN && now_ms >= b->due_ms;
}

const char *qn_breaker_state_name(enum qn_breaker_state s)
{
    static const char *const names[QN_BREAKER_STATES] = {"closed", "open", "half-open"};
    return names[s];
}
