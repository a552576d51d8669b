/* Answers of every family, cut anywhere: the same comes out however they were cut, text is what
 * stood there, arguments are JSON or its beginning, and where nothing was a mark nothing is lost.
 */
#include "llm/toolcall/calls_parse.h"

#include "../unit/calls_run.h"

#include <stdlib.h>

static const char tools_json[] = "[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                                 "\"parameters\":{\"properties\":{\"a\":{\"type\":"
                                 "\"string\"},\"b\":{\"type\":\"integer\"},\"c\":{\"type\":"
                                 "\"object\"},\"d\":{}}}}},{\"type\":\"function\","
                                 "\"function\":{\"name\":\"python\",\"parameters\":{\"properties\":"
                                 "{\"code\":{\"type\":\"string\"}}}}}]";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
    const char *input;
    size_t n;
    uint64_t next; /* text comes in order */
    size_t text, calls;
    struct qn_json_scan scan;
    bool done;
};

static void check_text(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at)
{
    struct check *c = ctx;
    (void)reasoning;
    if (at < c->next || at + n > c->n || memcmp(c->input + at, bytes, n) != 0)
        abort();
    c->next = at + n;
    c->text += n;
}

static void check_call(void *ctx, int64_t call, const char *id, const char *name,
                       const char *arguments)
{
    struct check *c = ctx;
    (void)id;
    if (name) {
        if ((size_t)call != c->calls++ || !name[0])
            abort();
        c->scan = (struct qn_json_scan){0};
        c->done = false;
    }
    for (const char *s = arguments; *s; s++) {
        enum qn_json_step step = c->done ? QN_SCAN_BAD : qn_json_scan(&c->scan, *s, NULL);
        if (step == QN_SCAN_BAD || step == QN_SCAN_BEFORE)
            abort();
        c->done = step == QN_SCAN_DONE;
    }
}

/* Whether all that is no call has to come out as text: nothing else is ever a mark. */
static bool keeps_all(const struct qn_parse_config *c)
{
    for (const struct qn_opener *o = c->syntax.call->openers; o->text; o++)
        if (o->flags & QN_OPEN_DROP)
            return false;
    return !c->syntax.think && !c->thinking;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qn_tools *tools;
    static size_t callings, thinkings;
    if (!tools) {
        if (qn_tools_new(tools_json, &tools, NULL))
            abort();
        while (qn_callings[callings])
            callings++;
        while (qn_thinkings[thinkings])
            thinkings++;
    }
    if (size < 6)
        return 0;
    struct qn_parse_config c = {.syntax.call = qn_callings[data[0] % callings],
                                .syntax.think = qn_thinkings[data[1] % (thinkings + 1)],
                                .tools = data[2] & 1 ? tools : NULL,
                                .reasoning_in_text = data[2] & 4,
                                .single_call = data[2] & 8};
    c.thinking = (data[2] & 2) && c.syntax.think;
    uint32_t random = (uint32_t)data[3] << 16 | (uint32_t)data[4] << 8 | data[5] | 1u << 24;
    const char *text = (const char *)data + 6;
    size_t n = size - 6;

    struct calls_seen whole = calls_run(&c, text, n, n, n), cut = {0};
    qn_buf_init(&cut.log, 64 * 1024 * 1024);
    struct check check = {.input = text, .n = n};
    struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&cut, calls_text, calls_call});
    struct qn_parse *q = qn_parse_new(&c, &(struct qn_parse_sink){&check, check_text, check_call});
    for (size_t at = 0; at < n;) {
        random = random * 1664525u + 1013904223u;
        size_t piece = 1 + (random >> 28);
        piece = piece < n - at ? piece : n - at;
        qn_parse_feed(p, text + at, piece);
        qn_parse_feed(q, text + at, piece);
        at += piece;
    }
    qn_parse_end(p);
    qn_parse_end(q);
    calls_close(&cut, 0);
    if (strcmp(qn_buf_cstr(&cut.log), qn_buf_cstr(&whole.log)) != 0 || cut.wrong || whole.wrong)
        abort();
    if (keeps_all(&c) && check.calls == 0 && check.text != n)
        abort();
    qn_parse_free(p);
    qn_parse_free(q);
    qn_buf_deinit(&cut.log);
    qn_buf_deinit(&whole.log);
    return 0;
}
