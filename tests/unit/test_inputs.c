/* Inputs of EMBED and RERANK on their way to a child, and its results on their way back: what
 * crosses, in which batches, and what is refused from a broken peer. The bytes of frames were
 * written by hand: 1.0f, -2.0f and 0.5f are 00 00 80 3F, 00 00 00 C0 and 00 00 00 3F. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contract/codec.h"
#include "contract/inputs.h"
#include "tests/unit/job_wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB(count) "{\"task\":\"embed\",\"id\":\"1\",\"embed\":{\"count\":" #count "}}\n"
/* A literal with zero bytes and its length. */
#define BYTES(s) s, sizeof(s) - 1

static void text_is(const struct qn_input *in, const char *text)
{
    assert_null(in->tokens);
    assert_int_equal(in->len, strlen(text));
    assert_string_equal(in->text, text);
}

/* The body of a whole job, as router and child make and read it. */
static void the_wire_is_as_described(void **state)
{
    (void)state;
    static const char wire[] = JOB(4) "{\"inputs\":3,\"bytes\":25}\n"
                                      "\x05\0\0\0hello"
                                      "\x08\0\0\x80\x07\0\0\0\xFF\xFF\xFF\x7F"
                                      "\0\0\0\0"
                                      "{\"inputs\":1,\"bytes\":6}\n"
                                      "\x02\0\0\0\xC3\xA4";
    for (size_t piece = 1; piece < sizeof wire; piece++) {
        struct qn_job_body body;
        struct qn_error e = {0};
        qn_job_body_init(&body);
        for (size_t at = 0; at < sizeof wire - 1; at += piece) {
            size_t left = sizeof wire - 1 - at;
            assert_int_equal(qn_job_body_add(&body, wire + at, left < piece ? left : piece, &e),
                             QN_OK);
        }
        assert_true(qn_job_body_is_ready(&body));
        assert_int_equal(qn_job_body_end(&body, &e), QN_OK);
        assert_int_equal(body.job.task, QN_TASK_EMBED);
        struct qn_input_batch *batch = qn_job_body_take_inputs(&body);
        assert_int_equal(batch->first, 0);
        assert_int_equal(batch->n, 3);
        text_is(&batch->v[0], "hello");
        assert_null(batch->v[1].text);
        assert_int_equal(batch->v[1].n_tokens, 2);
        assert_int_equal(batch->v[1].tokens[0], 7);
        assert_int_equal(batch->v[1].tokens[1], INT32_MAX);
        text_is(&batch->v[2], "");
        free(batch);
        batch = qn_job_body_take_inputs(&body);
        assert_int_equal(batch->first, 3);
        text_is(&batch->v[0], "\xC3\xA4");
        free(batch);
        assert_null(qn_job_body_take_inputs(&body));
        qn_job_body_deinit(&body);
    }
}

static void broken_bodies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *wire;
        size_t n;
        qn_err err;
    } cases[] = {
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":5}\n\x01\0\0\0a"), QN_OK},
        {BYTES(JOB(1)), QN_EINVAL},                                                /* none came */
        {BYTES(JOB(2) "{\"inputs\":1,\"bytes\":5}\n\x01\0\0\0a"), QN_EINVAL},      /* too few */
        {BYTES(JOB(1) "{\"inputs\":2,\"bytes\":8}\n\0\0\0\0\0\0\0\0"), QN_EINVAL}, /* too many */
        {BYTES(JOB(1) "{\"inputs\":0,\"bytes\":0}\n"), QN_EINVAL},
        {BYTES(JOB(1) "{\"inputs\":65,\"bytes\":0}\n"), QN_EINVAL},
        {BYTES(JOB(1) "{\"inputs\":\"1\",\"bytes\":4}\n\0\0\0\0"), QN_EINVAL},
        {BYTES(JOB(1) "{\"inputs\":1}\n"), QN_ELIMIT},                           /* no bytes */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":5}\n\x02\0\0\0a"), QN_EINVAL},    /* too long */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":6}\n\x01\0\0\0ab"), QN_EINVAL},   /* too short */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":3}\n\0\0\0"), QN_EINVAL},         /* no length */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":5}\n\x01\0\0\0\xFF"), QN_EINVAL}, /* no UTF-8 */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":5}\n\x01\0\0\0\0"), QN_EINVAL},   /* a zero byte */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":4}\n\0\0\0\x80"), QN_EINVAL},     /* no token */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":7}\n\x03\0\0\x80\x01\0\0"), QN_EINVAL},
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":8}\n\x04\0\0\x80\0\0\0\x80"), QN_EINVAL}, /* < 0 */
        {BYTES(JOB(1) "{\"inputs\":1,\"bytes\":5}\n\x01\0\0"), QN_EFORMAT}, /* cut off */
        {BYTES(JOB(1) "{\"songs\":1}\n"), QN_EFORMAT},
        {BYTES(JOB(1) "nonsense\n"), QN_EFORMAT},
        {BYTES(JOB(0)), QN_EINVAL},
        {BYTES(JOB(1000001)), QN_EINVAL},
        {BYTES("{\"task\":\"complete\",\"id\":\"1\",\"complete\":{\"prompt\":\"a\"}}\n"
               "{\"inputs\":1,\"bytes\":4}\n\0\0\0\0"),
         QN_EINVAL},
        {BYTES("{\"task\":\"complete\",\"id\":\"1\",\"complete\":{\"prompt\":\"a\"},"
               "\"embed\":{\"count\":1}}\n"),
         QN_EINVAL},
        {BYTES(""), QN_EFORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_job_body body;
        struct qn_error e = {0};
        qn_err err = wire_read(cases[i].wire, cases[i].n, &body, &e);
        if (err != cases[i].err || (err && !e.message[0]))
            fail_msg("case %zu: %s %s", i, qn_err_name(err), e.message);
        qn_job_body_deinit(&body);
    }
}

static void add_long(struct qn_buf *json, char c, size_t n)
{
    qn_buf_str(json, ",\"");
    for (size_t i = 0; i < n; i++)
        qn_buf_char(json, c);
    qn_buf_char(json, '"');
}

/* 64 inputs, or as many as 256 KiB hold with their lengths; a longer one is alone. */
static void batches_have_limits(void **state)
{
    (void)state;
    enum { FITS = QN_INPUTS_BATCH_BYTES / 2 - QN_INPUT_HEAD };
    struct qn_buf json, wire;
    struct qn_json *doc;
    struct qn_embed m = {0};
    struct qn_input_cursor at;
    qn_buf_init(&json, 4 << 20);
    qn_buf_init(&wire, 4 << 20);
    qn_buf_str(&json, "[\"0\"");
    for (int i = 1; i < 66; i++)
        qn_buf_fmt(&json, ",\"%d\"", i);
    add_long(&json, 'a', QN_INPUTS_BATCH_BYTES - 15); /* does not fit behind two small ones */
    add_long(&json, 'b', 15 - 2 * QN_INPUT_HEAD);     /* fits to the byte */
    add_long(&json, 'c', FITS);
    add_long(&json, 'd', FITS + 1); /* a byte too many */
    add_long(&json, 'e', 2 * QN_INPUTS_BATCH_BYTES);
    qn_buf_str(&json, ",{\"text\":\"z\"},[1,2]]");
    assert_int_equal(qn_json_parse(json.data, json.len, &doc, NULL), QN_OK);
    m.inputs = qn_json_root(doc);
    size_t first = 0, batches = 0;
    qn_inputs_begin(&m, &at);
    for (qn_inputs_pack(&at, &wire); wire.len; qn_inputs_pack(&at, &wire)) {
        struct qn_frame_reader r;
        struct qn_frame f;
        struct qn_input_batch *b;
        struct qn_error e = {0};
        qn_frame_reader_init(&r, 4096);
        assert_int_equal(qn_frame_feed(&r, wire.data, wire.len), QN_OK);
        assert_int_equal(qn_frame_next(&r, &f, &e), QN_OK);
        assert_int_equal(qn_inputs_take(&f, first, &b, &e), QN_OK);
        static const char *const begins[] = {"0", "64", "aa", "cc", "dd", "ee", "z"};
        assert_true(batches < sizeof begins / sizeof *begins);
        assert_int_equal(strncmp(b->v[0].text, begins[batches], strlen(begins[batches])), 0);
        first += b->n;
        batches++;
        free(b);
        qn_json_free(f.json);
        qn_frame_reader_deinit(&r);
        qn_buf_clear(&wire);
    }
    assert_int_equal(batches, 7);
    assert_int_equal(first, 73);
    qn_json_free(doc);
    qn_buf_deinit(&json);
    qn_buf_deinit(&wire);
}

/* ---- Results ---- */

static qn_err take_event(const char *wire, size_t n, struct qn_event *ev, struct qn_error *e)
{
    struct qn_frame_reader r;
    struct qn_frame f;
    struct qn_arena *arena = qn_arena_new(1 << 20);
    qn_frame_reader_init(&r, 4096);
    assert_int_equal(qn_frame_feed(&r, wire, n), QN_OK);
    qn_err err = qn_frame_next(&r, &f, e);
    if (!err) {
        err = qn_event_take(&f, ev, arena, e);
        qn_json_free(f.json);
    }
    qn_frame_reader_deinit(&r);
    qn_arena_free(arena);
    return err;
}

static void results_cross_as_floats(void **state)
{
    (void)state;
    static const char wire[] = "{\"ev\":\"vectors\",\"index\":5,\"count\":2,\"bytes\":16}\n"
                               "\0\0\x80\x3F\0\0\0\xC0\0\0\0\x3F\x01\0\0\0";
    static const float values[] = {1.0f, -2.0f, 0.5f, 1e-45f};
    char floats[16];
    struct qn_event ev;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    for (size_t i = 0; i < 4; i++)
        qn_event_put_float(floats, i, values[i]);
    qn_event_init(&ev, QN_EV_VECTORS);
    ev.index = 5;
    ev.count = 2;
    ev.data = floats;
    ev.bytes = sizeof floats;
    assert_int_equal(qn_event_frame(&ev, &out), QN_OK);
    assert_int_equal(out.len, sizeof wire - 1);
    assert_memory_equal(out.data, wire, sizeof wire - 1);
    for (size_t i = 0; i < 4; i++)
        assert_true(qn_event_float(wire + sizeof wire - 17, i) == values[i]);
    qn_buf_deinit(&out);
}

#define VECTORS(members) "{\"ev\":\"vectors\"," members "}\n"
#define SCORES(members) "{\"ev\":\"scores\"," members "}\n"

static void broken_results_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *wire;
        size_t n;
        qn_err err;
    } cases[] = {
        {BYTES(VECTORS("\"index\":0,\"count\":1,\"bytes\":4") "...."), QN_OK},
        {BYTES(VECTORS("\"index\":999999,\"count\":1,\"bytes\":8") "........"), QN_OK},
        {BYTES(SCORES("\"index\":3,\"count\":2,\"bytes\":8") "........"), QN_OK},
        {BYTES(VECTORS("\"index\":0,\"count\":1,\"bytes\":4") "\0\0\xC0\x7F"), QN_EINVAL}, /* NaN */
        {BYTES(VECTORS("\"index\":0,\"count\":1,\"bytes\":4") "\0\0\x80\xFF"),
         QN_EINVAL}, /* -Inf */
        {BYTES(SCORES("\"index\":0,\"count\":2,\"bytes\":8") "....\0\0\x80\x7F"), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":1,\"bytes\":5") "....."), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":2,\"bytes\":12") "............"), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":3,\"bytes\":8") "........"), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":1")), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"bytes\":4") "...."), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":0,\"bytes\":4") "...."), QN_EINVAL},
        {BYTES(VECTORS("\"index\":0,\"count\":65,\"bytes\":4") "...."), QN_EINVAL},
        {BYTES(VECTORS("\"index\":1000000,\"count\":1,\"bytes\":4") "...."), QN_EINVAL},
        {BYTES(VECTORS("\"index\":999999,\"count\":2,\"bytes\":8") "........"), QN_EINVAL},
        {BYTES(SCORES("\"index\":0,\"count\":1,\"bytes\":8") "........"), QN_EINVAL},
        {BYTES(SCORES("\"index\":-1,\"count\":1,\"bytes\":4") "...."), QN_EINVAL},
        {BYTES(SCORES("\"index\":0,\"count\":1,\"score\":1")), QN_EINVAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_event ev;
        struct qn_error e = {0};
        qn_err err = take_event(cases[i].wire, cases[i].n, &ev, &e);
        if (err != cases[i].err)
            fail_msg("case %zu: %s %s", i, qn_err_name(err), e.message);
    }
}

/* More numbers than one vector may have: the limit is an error before a buffer. */
static void results_have_a_limit(void **state)
{
    (void)state;
    static char wire[300 * 1024];
    struct qn_event ev;
    struct qn_error e = {0};
    for (int more = 0; more < 2; more++) {
        int bytes = 4 * (65536 + more);
        int n = snprintf(wire, sizeof wire,
                         "{\"ev\":\"vectors\",\"index\":0,\"count\":1,\"bytes\":%d}\n", bytes);
        memset(wire + n, 0, (size_t)bytes);
        assert_int_equal(take_event(wire, (size_t)(n + bytes), &ev, &e), more ? QN_EINVAL : QN_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wire_is_as_described),   cmocka_unit_test(broken_bodies_are_refused),
        cmocka_unit_test(batches_have_limits),        cmocka_unit_test(results_cross_as_floats),
        cmocka_unit_test(broken_results_are_refused), cmocka_unit_test(results_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
