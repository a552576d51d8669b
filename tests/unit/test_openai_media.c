/* Replies of the endpoints of sounds and pictures, byte by byte: each form of each, ended well, and
 * by an error before and after the first byte. Shapes: OpenAI's API reference (audio, images),
 * SubRip, WebVTT, and Lemonade's document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dialects/shared/form.h"
#include "tests/unit/dialect_play.h"

#include <math.h>
#include <stdio.h>

#define PART(name, data)                                                                           \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" data "\r\n"
#define FILE(name, data)                                                                           \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"; filename=\"f\"\r\n\r\n" data "\r\n"
#define SOUND FILE("file", "fLaC") PART("model", "m")
#define PNG "\x89PNG\r\n\x1A\n"
#define END "--b--"

static struct qn_multipart files;

/* A form's body as parse reads JSON's. */
static void parse_form(struct fixture *f, const struct qn_dialect *d, const char *body)
{
    *f = (struct fixture){.arena = qn_arena_new(1 << 24)};
    f->rq = (struct qn_request){.profile = qn_profile_main(),
                                .arena = f->arena,
                                .files = &files,
                                .context = QN_UNSET,
                                .keep_alive_ms = QN_UNSET};
    assert_int_equal(qn_form_read("multipart/form-data; boundary=b", body, strlen(body), f->arena,
                                  &f->doc, &files, &f->e),
                     QN_OK);
    f->rq.doc = f->doc;
    if (d->parse(&f->rq, &f->e))
        fail_msg("%s", f->e.message);
}

static struct qn_event segment(const char *text, double start, double end)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_SEGMENT);
    ev.text = text;
    ev.segment.start_s = start;
    ev.segment.end_s = end;
    return ev;
}

static struct qn_event piece(enum qn_event_kind kind, const char *format, const char *data)
{
    struct qn_event ev;
    qn_event_init(&ev, kind);
    ev.format = format;
    ev.rate_hz = 24000;
    ev.data = data;
    ev.bytes = (int64_t)strlen(data);
    return ev;
}

static struct qn_event done(const char *language)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish = QN_FINISH_STOP;
    ev.language = language;
    return ev;
}

static struct qn_event usage(double audio_ms)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = 3;
    ev.usage.output = 4;
    ev.usage.audio_ms = audio_ms;
    return ev;
}

static void transcriptions(void **state)
{
    (void)state;
    static const char blank_logprobs[] =
        "[{\"id\":1,\"token\":\"Hi\",\"bytes\":[72,105],\"logprob\":-0.5,\"top\":[]}]";
    static const struct {
        const char *fields, *reply;
    } cases[] = {
        {"", "{\"text\":\"Hi\\nyou <&> --> x.\",\"usage\":{\"type\":\"duration\",\"seconds\":3}}"},
        {PART("include[]", "logprobs"),
         "{\"text\":\"Hi\\nyou <&> --> "
         "x.\",\"logprobs\":[{\"token\":\"Hi\",\"logprob\":-0.5,\"bytes\":[72,105]}],"
         "\"usage\":{\"type\":\"duration\",\"seconds\":3}}"},
        {PART("response_format", "text"), "Hi\nyou <&> --> x.\n"},
        {PART("response_format", "srt"), "1\n00:00:00,000 --> 00:00:01,235\nHi "
                                         "you\n\n2\n00:00:01,235 --> 27:46:40,000\n<&> -> x.\n\n"},
        {PART("response_format", "vtt"),
         "WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nHi you\n\n"
         "00:00:01.235 --> 27:46:40.000\n&lt;&amp;&gt; --&gt; x.\n\n"},
        {PART("response_format", "verbose_json") PART("temperature", "0.5")
             PART("timestamp_granularities[]", "word"),
         "{\"task\":\"transcribe\",\"language\":\"french\",\"duration\":2.5,\"text\":\"Hi\\nyou "
         "<&> --> x.\","
         "\"words\":[{\"word\":\"Hi\"},{\"word\":\"x\"}],\"usage\":{\"type\":\"duration\","
         "\"seconds\":3}}"},
        {PART("response_format", "verbose_json") PART("temperature", "0.5"),
         "{\"task\":\"transcribe\",\"language\":\"french\",\"duration\":2.5,\"text\":\"Hi\\nyou "
         "<&> --> x.\","
         "\"segments\":[{\"id\":0,\"seek\":0,\"start\":0,\"end\":1.2346,\"text\":\" "
         "Hi\\nyou\",\"tokens\":[5,6],"
         "\"temperature\":0.25,\"avg_logprob\":-1,\"compression_ratio\":1.5,\"no_speech_prob\":0."
         "125},"
         "{\"id\":1,\"seek\":123,\"start\":1.2346,\"end\":100000,\"text\":\" <&> --> x. "
         "\",\"tokens\":[],"
         "\"temperature\":0.5}],\"usage\":{\"type\":\"duration\",\"seconds\":3}}"},
        {PART("stream", "true"),
         "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Hi\\nyou\"}\n\n"
         "data: {\"type\":\"transcript.text.delta\",\"delta\":\" <&> --> x.\"}\n\n"
         "data: {\"type\":\"transcript.text.done\",\"text\":\"Hi\\nyou <&> --> x.\","
         "\"usage\":{\"type\":\"duration\",\"seconds\":3}}\n\ndata: [DONE]\n\n"},
    };
    struct qn_event events[] = {segment(" Hi\nyou", 0, 1.2346),
                                segment(" <&> --> x. ", 1.2346, 100000), done("fr"), usage(2500)};
    events[0].segment.temperature = 0.25;
    events[0].segment.avg_logprob = -1;
    events[0].segment.compression_ratio = 1.5;
    events[0].segment.no_speech_prob = 0.125;
    events[0].tokens = "[5,6]";
    events[0].segment.words = "[{\"word\":\"Hi\"}]";
    events[1].segment.words = "[{\"word\":\"x\"}]";
    events[0].logprobs = blank_logprobs;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        char body[1024];
        snprintf(body, sizeof body, SOUND "%s" END, cases[i].fields);
        parse_form(&f, &qn_openai_transcribe, body);
        char *got = play(&f, &qn_openai_transcribe, events, 4);
        assert_string_equal(got, cases[i].reply);
        free(got);
        drop(&f);
    }
}

static void silence_and_unknown_facts(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_event nothing[] = {done(NULL), usage(NAN)};
    parse_form(&f, &qn_openai_transcribe, SOUND END);
    char *got = play(&f, &qn_openai_transcribe, nothing, 2);
    assert_string_equal(got, "{\"text\":\"\"}");
    free(got);
    drop(&f);
    parse_form(&f, &qn_openai_transcribe,
               SOUND PART("language", "Welsh") PART("response_format", "verbose_json") END);
    got = play(&f, &qn_openai_transcribe, nothing, 2);
    assert_string_equal(got,
                        "{\"task\":\"transcribe\",\"language\":\"welsh\",\"duration\":0,\"text\":"
                        "\"\",\"segments\":[]}");
    free(got);
    drop(&f);
    parse_form(&f, &qn_openai_translate, SOUND PART("response_format", "verbose_json") END);
    struct qn_event some[] = {segment("  ", 0, 1), segment(" x", 1, 2), segment(" ", 2, 3),
                              done("de")};
    got = play(&f, &qn_openai_translate, some, 1);
    free(got);
    got = play(&f, &qn_openai_translate, some + 3, 1);
    assert_string_equal(got,
                        "{\"task\":\"translate\",\"language\":\"english\",\"duration\":0,\"text\":"
                        "\"\",\"segments\":[]}");
    free(got);
    drop(&f);
    parse_form(&f, &qn_openai_transcribe, SOUND PART("stream", "1") END);
    got = play(&f, &qn_openai_transcribe, some, 4);
    assert_string_equal(got, "data: {\"type\":\"transcript.text.delta\",\"delta\":\"x\"}\n\n"
                             "data: {\"type\":\"transcript.text.done\",\"text\":\"x\"}\n\n"
                             "data: [DONE]\n\n");
    free(got);
    drop(&f);
}

static void speech(void **state)
{
    (void)state;
    static const struct {
        const char *members, *format, *reply;
    } cases[] = {
        {"", "mp3", "onetwo"},
        {",\"stream_format\":\"audio\"", "pcm", "onetwo"},
        {",\"stream\":true,\"response_format\":\"opus\"", "opus", "onetwo"},
        {",\"stream_format\":\"sse\"", "mp3",
         "data: {\"type\":\"speech.audio.delta\",\"audio\":\"b25l\"}\n\n"
         "data: {\"type\":\"speech.audio.delta\",\"audio\":\"dHdv\"}\n\n"
         "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4,"
         "\"total_tokens\":7}}\n\ndata: [DONE]\n\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        char body[256];
        struct qn_event events[] = {piece(QN_EV_AUDIO, cases[i].format, "one"),
                                    piece(QN_EV_AUDIO, cases[i].format, "two"), done(NULL),
                                    usage(1)};
        snprintf(body, sizeof body, "{\"model\":\"m\",\"input\":\"x\"%s}", cases[i].members);
        assert_int_equal(parse(&f, &qn_openai_speech, body), QN_OK);
        char *got = play(&f, &qn_openai_speech, events, 4);
        assert_string_equal(got, cases[i].reply);
        free(got);
        drop(&f);
    }
}

static void pictures(void **state)
{
    (void)state;
    static const struct {
        const char *members, *reply;
    } cases[] = {
        {"", "{\"created\":1700000000,\"data\":[{\"b64_json\":\"b25l\"},{\"b64_json\":\"dHdv\"}],"
             "\"output_format\":\"png\"}"},
        {",\"size\":\"64x32\",\"response_format\":\"url\"",
         "{\"created\":1700000000,\"data\":[{\"url\":\"data:image/png;base64,b25l\"},"
         "{\"url\":\"data:image/png;base64,dHdv\"}],\"output_format\":\"png\",\"size\":\"64x32\"}"},
        {",\"stream\":true", /* in the order in which they come */
         "event: image_generation.completed\ndata: "
         "{\"type\":\"image_generation.completed\",\"created_at\":"
         "1700000000,\"output_format\":\"png\",\"b64_json\":\"dHdv\"}\n\n"
         "event: image_generation.completed\ndata: "
         "{\"type\":\"image_generation.completed\",\"created_at\":"
         "1700000000,\"output_format\":\"png\",\"b64_json\":\"b25l\"}\n\n"},
    };
    struct qn_event events[] = {piece(QN_EV_IMAGE, "png", "two"), piece(QN_EV_IMAGE, "png", "one"),
                                done(NULL), done(NULL), usage(NAN)};
    events[0].index = events[3].index = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        char body[256];
        snprintf(body, sizeof body, "{\"model\":\"m\",\"prompt\":\"x\",\"n\":2%s}",
                 cases[i].members);
        assert_int_equal(parse(&f, &qn_openai_generate, body), QN_OK);
        char *got = play(&f, &qn_openai_generate, events, 5);
        assert_string_equal(got, cases[i].reply);
        free(got);
        drop(&f);
    }
    struct fixture f;
    parse_form(&f, &qn_openai_edit,
               FILE("image", PNG) PART("model", "m") PART("prompt", "x") PART("stream", "true")
                   END);
    char *got = play(&f, &qn_openai_edit, events + 1, 1);
    assert_string_equal(
        got, "event: image_edit.completed\ndata: {\"type\":\"image_edit.completed\","
             "\"created_at\":1700000000,\"output_format\":\"png\",\"b64_json\":\"b25l\"}\n\n");
    free(got);
    drop(&f);
}

/* What the model's process must not do. */
static void broken_replies(void **state)
{
    (void)state;
    struct qn_event twice = piece(QN_EV_IMAGE, "png", "x"), third = twice, other = twice;
    third.index = 2;
    other.format = "webp";
    struct {
        const struct qn_dialect *d;
        const char *body;
        struct qn_event events[2];
    } cases[] = {
        {&qn_openai_generate, "{\"model\":\"m\",\"prompt\":\"x\"}", {twice, twice}},
        {&qn_openai_generate, "{\"model\":\"m\",\"prompt\":\"x\"}", {twice, third}},
        {&qn_openai_generate, "{\"model\":\"m\",\"prompt\":\"x\",\"n\":2}", {twice, other}},
        {&qn_openai_generate, "{\"model\":\"m\",\"prompt\":\"x\"}", {usage(NAN), done(NULL)}},
        {&qn_openai_speech, "{\"model\":\"m\",\"input\":\"x\"}", {usage(NAN), done(NULL)}},
        {&qn_openai_speech,
         "{\"model\":\"m\",\"input\":\"x\"}",
         {piece(QN_EV_AUDIO, "mp3", "x"), piece(QN_EV_AUDIO, "wav", "x")}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct qn_buf out;
        assert_int_equal(parse(&f, cases[i].d, cases[i].body), QN_OK);
        qn_buf_init(&out, 1 << 16);
        struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out};
        cases[i].d->begin(&r);
        assert_int_equal(cases[i].d->event(&r, 0, &cases[i].events[0], &f.e), QN_OK);
        assert_int_equal(cases[i].d->event(&r, 0, &cases[i].events[1], &f.e), QN_ECHILD);
        cases[i].d->free(r.own);
        qn_buf_deinit(&out);
        drop(&f);
    }
}

#define ERROR_BODY                                                                                 \
    "{\"error\":{\"message\":\"it "                                                                \
    "fell\",\"type\":\"server_error\",\"param\":null,\"code\":\"internal_error\"}}"

static void errors_before_and_after_the_first_byte(void **state)
{
    (void)state;
    struct qn_error e = {0};
    struct qn_problem p = {.error = &e};
    struct fixture f;
    struct qn_event heard = segment(" Hi", 0, 1), sound = piece(QN_EV_AUDIO, "mp3", "one"),
                    picture = piece(QN_EV_IMAGE, "png", "one");
    qn_fail(&e, QN_EINTERNAL, "it fell");
    struct {
        const struct qn_dialect *d;
        const char *form, *json; /* one of them */
        const struct qn_event *event;
        const char *told; /* before the error */
    } cases[] = {
        {&qn_openai_transcribe, SOUND PART("stream", "true") END, NULL, &heard,
         "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Hi\"}\n\n"},
        {&qn_openai_speech, NULL, "{\"model\":\"m\",\"input\":\"x\",\"stream_format\":\"sse\"}",
         &sound, "data: {\"type\":\"speech.audio.delta\",\"audio\":\"b25l\"}\n\n"},
        {&qn_openai_generate, NULL, "{\"model\":\"m\",\"prompt\":\"x\",\"stream\":true}", &picture,
         "event: image_generation.completed\ndata: "
         "{\"type\":\"image_generation.completed\",\"created_at\":"
         "1700000000,\"output_format\":\"png\",\"b64_json\":\"b25l\"}\n\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[1024];
        if (cases[i].form)
            parse_form(&f, cases[i].d, cases[i].form);
        else
            assert_int_equal(parse(&f, cases[i].d, cases[i].json), QN_OK);
        char *got = play_failure(&f, cases[i].d, cases[i].event, 0, &p);
        assert_string_equal(got, ERROR_BODY);
        free(got);
        got = play_failure(&f, cases[i].d, cases[i].event, 1, &p);
        snprintf(expected, sizeof expected, "%sdata: " ERROR_BODY "\n\n", cases[i].told);
        assert_string_equal(got, expected);
        free(got);
        drop(&f);
    }
}

/* Half a sound has no words for what went wrong: the connection is broken off. */
static void a_broken_sound_is_cut(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_buf out;
    struct qn_error e = {0};
    struct qn_problem p = {.error = &e};
    qn_fail(&e, QN_EINTERNAL, "it fell");
    qn_buf_init(&out, 1 << 16);
    assert_int_equal(
        parse(&f, &qn_openai_speech, "{\"model\":\"m\",\"input\":\"x\",\"stream\":true}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out};
    struct qn_event pcm = piece(QN_EV_AUDIO, "pcm", "one");
    qn_openai_speech.begin(&r);
    qn_openai_speech.ping(&r);
    assert_int_equal(out.len, 0);
    assert_int_equal(qn_openai_speech.event(&r, 0, &pcm, &e), QN_OK);
    assert_string_equal(r.type, "audio/l16;rate=24000;endianness=little-endian");
    r.started = true;
    qn_buf_clear(&out);
    (qn_openai_speech.fail)(&r, &p);
    assert_int_equal(out.len, 0);
    assert_true(r.cut);
    qn_openai_speech.free(r.own);
    qn_buf_deinit(&out);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transcriptions),
        cmocka_unit_test(silence_and_unknown_facts),
        cmocka_unit_test(speech),
        cmocka_unit_test(pictures),
        cmocka_unit_test(broken_replies),
        cmocka_unit_test(errors_before_and_after_the_first_byte),
        cmocka_unit_test(a_broken_sound_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
