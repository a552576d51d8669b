/* lib/contract: sounds and pictures cross between the processes as they are, behind their line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "contract/backend_types.h"
#include "contract/codec.h"
#include "contract/frame.h"
#include "tests/unit/job_wire.h"

#include <math.h>
#include <string.h>

struct fixture {
    struct qn_arena *arena;
    struct qn_buf wire;
    struct qn_job job, back;
    struct qn_error e;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    f->arena = qn_arena_new(1 << 20);
    qn_buf_init(&f->wire, 1 << 20);
    qn_job_init(&f->job);
    f->job.id = "r7";
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    qn_arena_free(f->arena);
    qn_buf_deinit(&f->wire);
    test_free(f);
    return 0;
}

/* The job as the child reads it. */
static qn_err take_wire(struct fixture *f, const char *wire, size_t n)
{
    qn_arena_free(f->arena);
    return wire_job(wire, n, &f->back, &f->arena, &f->e);
}

static void a_transcription_crosses(void **state)
{
    struct fixture *f = *state;
    static const char sound[] = "RIFF\n\0{}\nWAVE";
    struct qn_attachment attached = {
        .role = QN_ATTACHMENT_AUDIO, .data = sound, .bytes = sizeof sound - 1};
    f->job.task = QN_TASK_TRANSCRIBE;
    f->job.attachments = (struct qn_attachments){&attached, 1};
    f->job.transcribe.translate = f->job.transcribe.words = true;
    f->job.transcribe.language = "de";
    f->job.transcribe.prompt = "Gestern";
    f->job.sampling.temperature = 0.2;
    assert_int_equal(qn_job_frame(&f->job, &f->wire), QN_OK);
    static const char expected[] =
        "{\"task\":\"transcribe\",\"id\":\"r7\",\"sampling\":{\"temperature\":0.2},\"chat\":{},"
        "\"complete\":{},\"transcribe\":{\"translate\":true,\"language\":\"de\",\"prompt\":"
        "\"Gestern\",\"words\":true},\"attachments\":[{\"role\":\"audio\",\"bytes\":13}],\"bytes\":"
        "13}\nRIFF\n\0{}\nWAVE";
    assert_int_equal(f->wire.len, sizeof expected - 1);
    assert_memory_equal(f->wire.data, expected, sizeof expected - 1);
    assert_int_equal(take_wire(f, f->wire.data, f->wire.len), QN_OK);
    memset(f->wire.data, '?', f->wire.len); /* nothing may point there */
    assert_true(f->back.transcribe.translate && f->back.transcribe.words);
    assert_string_equal(f->back.transcribe.language, "de");
    assert_string_equal(f->back.transcribe.prompt, "Gestern");
    assert_int_equal(f->back.attachments.n, 1);
    assert_int_equal(f->back.attachments.v[0].role, QN_ATTACHMENT_AUDIO);
    assert_int_equal(f->back.attachments.v[0].bytes, 13);
    assert_memory_equal(f->back.attachments.v[0].data, sound, 13);
}

static void a_picture_with_a_mask_crosses(void **state)
{
    struct fixture *f = *state;
    struct qn_attachment pictures[] = {
        {.role = QN_ATTACHMENT_IMAGE, .type = "image/webp", .data = "one", .bytes = 3},
        {.role = QN_ATTACHMENT_IMAGE, .data = "second", .bytes = 6},
        {.role = QN_ATTACHMENT_MASK, .data = "m", .bytes = 1}};
    f->job.task = QN_TASK_IMAGE;
    f->job.attachments = (struct qn_attachments){pictures, 3};
    f->job.image = (struct qn_image){
        .kind = QN_IMAGE_EDIT,
        .prompt = "a barn",
        .negative_prompt = "rain",
        .width = 512,
        .height = 256,
        .steps = 4,
        .cfg_scale = 1,
        .strength = 0.5,
        .flow_shift = 3,
        .sample_method = "euler_a",
        .format = "png",
    };
    f->job.sampling.n = 3;
    f->job.sampling.seed = 42;
    assert_int_equal(qn_job_frame(&f->job, &f->wire), QN_OK);
    assert_int_equal(take_wire(f, f->wire.data, f->wire.len), QN_OK);
    const struct qn_image *i = &f->back.image;
    assert_int_equal(i->kind, QN_IMAGE_EDIT);
    assert_string_equal(i->prompt, "a barn");
    assert_string_equal(i->negative_prompt, "rain");
    assert_int_equal(i->width * 1000 + i->height, 512256);
    assert_int_equal(i->steps, 4);
    assert_true(i->cfg_scale == 1 && i->strength == 0.5 && i->flow_shift == 3);
    assert_string_equal(i->sample_method, "euler_a");
    assert_string_equal(i->format, "png");
    assert_int_equal(f->back.sampling.n, 3);
    assert_int_equal(f->back.sampling.seed, 42);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(f->back.attachments.v[k].role, pictures[k].role);
        assert_int_equal(f->back.attachments.v[k].bytes, pictures[k].bytes);
        if (pictures[k].type)
            assert_string_equal(f->back.attachments.v[k].type, pictures[k].type);
        else
            assert_null(f->back.attachments.v[k].type);
        assert_memory_equal(f->back.attachments.v[k].data, pictures[k].data,
                            (size_t)pictures[k].bytes);
    }
}

static void a_speech_crosses_and_what_is_unset_stays_so(void **state)
{
    struct fixture *f = *state;
    f->job.task = QN_TASK_SPEAK;
    f->job.speak.input = "Hello";
    f->job.speak.format = "mp3";
    assert_int_equal(qn_job_frame(&f->job, &f->wire), QN_OK);
    assert_int_equal(take_wire(f, f->wire.data, f->wire.len), QN_OK);
    assert_string_equal(f->back.speak.input, "Hello");
    assert_string_equal(f->back.speak.format, "mp3");
    assert_null(f->back.speak.voice);
    assert_true(isnan(f->back.speak.speed));
    assert_int_equal(f->back.image.width, QN_UNSET);
    assert_true(isnan(f->back.image.cfg_scale));
    /* the newline may be missing where nothing follows it */
    assert_int_equal(take_wire(f, f->wire.data, f->wire.len - 1), QN_OK);
}

#define AUDIO                                                                                      \
    "{\"task\":\"transcribe\",\"id\":\"x\",\"attachments\":[{\"role\":\"audio\",\"bytes\":3}],"    \
    "\"bytes\":3}\n"
#define FILE_OF(role, n) "{\"role\":\"" role "\",\"bytes\":" n "}"
#define IMAGE "{\"task\":\"image\",\"id\":\"x\",\"image\":{\"format\":\"png\",\"kind\":"

static void broken_jobs_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *wire;
        qn_err err;
        const char *param;
    } cases[] = {
        {AUDIO "abc", QN_OK, ""},
        {AUDIO "ab", QN_EFORMAT, ""},
        {AUDIO "abcd", QN_EFORMAT, ""},
        {AUDIO, QN_EFORMAT, ""},
        {"{\"task\":\"transcribe\",\"id\":\"x\"}", QN_EINVAL, "file"},
        {"{\"task\":\"speak\",\"id\":\"x\"}", QN_EINVAL, "input"},
        {"{\"task\":\"speak\",\"id\":\"x\",\"speak\":{\"input\":\"a\",\"format\":\"wav\",\"speed\":"
         "5}}",
         QN_EINVAL, "speak.speed"},
        {"{\"task\":\"image\",\"id\":\"x\"}", QN_EINVAL, "image"},
        {IMAGE "\"paint\"}}", QN_EINVAL, "image.kind"},
        {IMAGE "\"generate\"}}", QN_EINVAL, "prompt"},
        {IMAGE "\"generate\",\"prompt\":\"a\"}}", QN_OK, ""},
        {IMAGE "\"generate\",\"prompt\":\"a\",\"width\":64}}", QN_EINVAL, "size"},
        {IMAGE "\"generate\",\"prompt\":\"a\",\"width\":5000,\"height\":64}}", QN_EINVAL,
         "image.width"},
        {IMAGE "\"generate\",\"prompt\":\"a\"},\"attachments\":[" FILE_OF("image", "1") "]}\na",
         QN_EINVAL, "image"},
        {IMAGE "\"edit\",\"prompt\":\"a\"}}", QN_EINVAL, "image"},
        {IMAGE "\"upscale\"},\"attachments\":[" FILE_OF("image", "1") "],\"bytes\":1}\na", QN_OK,
         ""},
        {IMAGE
         "\"upscale\"},\"attachments\":[" FILE_OF("image", "1") "," FILE_OF("image", "1") "]}\nab",
         QN_EINVAL, "image"},
        {IMAGE
         "\"variation\"},\"attachments\":[" FILE_OF("image", "1") "," FILE_OF("mask", "1") "]}\nab",
         QN_EINVAL, "mask"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},\"attachments\":"
         "[" FILE_OF("image", "1") "]}\na",
         QN_EINVAL, "image"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},\"attachments\":"
         "[" FILE_OF("song", "1") "]}\na",
         QN_EINVAL, "attachments[0].role"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},\"attachments\":"
         "[" FILE_OF("image", "0") "]}",
         QN_EINVAL, "attachments[0].bytes"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},\"attachments\":["
         "{\"role\":\"image\"}]}",
         QN_EINVAL, "attachments[0]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},\"attachments\":["
         "{\"role\":\"image\",\"bytes\":1,\"type\":\"a\\\"b\"}]}\na",
         QN_EINVAL, "attachments[0]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"}}\nx", QN_EFORMAT, ""},
        {"nothing", QN_EFORMAT, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->e = (struct qn_error){0};
        qn_err err = take_wire(f, cases[i].wire, strlen(cases[i].wire));
        if (err != cases[i].err || strcmp(f->e.param, cases[i].param) != 0)
            fail_msg("case %zu: %s '%s' %s", i, qn_err_name(err), f->e.param, f->e.message);
    }
}

/* The frame that an event makes, read back as the other process reads it. */
static qn_err cross(struct fixture *f, const struct qn_event *ev, struct qn_event *back,
                    struct qn_frame_reader *r)
{
    struct qn_frame frame;
    qn_buf_clear(&f->wire);
    assert_int_equal(qn_event_frame(ev, &f->wire), QN_OK);
    assert_int_equal(qn_frame_feed(r, f->wire.data, f->wire.len), QN_OK);
    assert_int_equal(qn_frame_next(r, &frame, &f->e), QN_OK);
    qn_err err = qn_event_take(&frame, back, f->arena, &f->e);
    qn_json_free(frame.json);
    return err;
}

static void events_cross_with_their_bytes(void **state)
{
    struct fixture *f = *state;
    struct qn_event ev, back;
    struct qn_frame_reader r;
    qn_frame_reader_init(&r, 4096);
    qn_event_init(&ev, QN_EV_AUDIO);
    ev.format = "pcm";
    ev.rate_hz = 24000;
    ev.data = "\n\0\n}";
    ev.bytes = 4;
    assert_int_equal(cross(f, &ev, &back, &r), QN_OK);
    assert_string_equal(f->wire.data,
                        "{\"ev\":\"audio\",\"format\":\"pcm\",\"rate_hz\":24000,\"bytes\":4}\n\n");
    assert_int_equal(back.kind, QN_EV_AUDIO);
    assert_string_equal(back.format, "pcm");
    assert_int_equal(back.rate_hz, 24000);
    assert_int_equal(back.bytes, 4);
    assert_memory_equal(back.data, "\n\0\n}", 4);

    qn_event_init(&ev, QN_EV_IMAGE);
    ev.index = 2;
    ev.format = "png";
    ev.data = "PNG";
    ev.bytes = 3;
    assert_int_equal(cross(f, &ev, &back, &r), QN_OK);
    assert_int_equal(back.index, 2);
    assert_memory_equal(back.data, "PNG", 3);

    qn_event_init(&ev, QN_EV_SEGMENT);
    ev.text = " Hello.";
    ev.segment.start_s = 0.5;
    ev.segment.end_s = 2;
    ev.segment.avg_logprob = -0.25;
    ev.segment.words = "[{\"word\":\" Hello.\",\"start\":0.5,\"end\":2}]";
    assert_int_equal(cross(f, &ev, &back, &r), QN_OK);
    assert_string_equal(back.text, " Hello.");
    assert_true(back.segment.start_s == 0.5 && back.segment.end_s == 2);
    assert_true(back.segment.avg_logprob == -0.25);
    assert_true(isnan(back.segment.no_speech_prob));
    assert_non_null(strstr(back.segment.words, "Hello"));
    assert_null(back.data);

    qn_event_init(&ev, QN_EV_USAGE);
    assert_int_equal(cross(f, &ev, &back, &r), QN_OK);
    assert_true(isnan(back.usage.audio_ms));
    ev.usage.audio_ms = 1500;
    assert_int_equal(cross(f, &ev, &back, &r), QN_OK);
    assert_true(back.usage.audio_ms == 1500);
    qn_frame_reader_deinit(&r);
}

static void broken_events_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const broken[] = {
        "{\"ev\":\"audio\",\"format\":\"pcm\",\"rate_hz\":24000}\n",
        "{\"ev\":\"audio\",\"format\":\"pcm\",\"bytes\":1}\nx",
        "{\"ev\":\"audio\",\"rate_hz\":24000,\"bytes\":1}\nx",
        "{\"ev\":\"image\",\"bytes\":1}\nx",
        "{\"ev\":\"image\",\"format\":\"png\",\"bytes\":0}\n",
        "{\"ev\":\"text\",\"text\":\"a\",\"bytes\":1}\nx",
        "{\"ev\":\"segment\",\"start\":0,\"end\":1}\n",
        "{\"ev\":\"segment\",\"text\":\"a\",\"start\":2,\"end\":1}\n",
        "{\"ev\":\"segment\",\"text\":\"a\",\"start\":-1,\"end\":1}\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct qn_frame_reader r;
        struct qn_frame frame;
        struct qn_event ev;
        qn_frame_reader_init(&r, 4096);
        assert_int_equal(qn_frame_feed(&r, broken[i], strlen(broken[i])), QN_OK);
        assert_int_equal(qn_frame_next(&r, &frame, &f->e), QN_OK);
        assert_int_equal(qn_event_take(&frame, &ev, f->arena, &f->e), QN_EINVAL);
        qn_json_free(frame.json);
        qn_frame_reader_deinit(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_transcription_crosses, setup, teardown),
        cmocka_unit_test_setup_teardown(a_picture_with_a_mask_crosses, setup, teardown),
        cmocka_unit_test_setup_teardown(a_speech_crosses_and_what_is_unset_stays_so, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(broken_jobs_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(events_cross_with_their_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_events_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
