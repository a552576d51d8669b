/* router/settings/kinds.c: the kinds of models and the limits that users write for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "contract/capabilities.h"
#include "settings/kinds.h"

#include <string.h>

static void a_model_is_of_one_kind(void **state)
{
    (void)state;
    static const struct {
        unsigned set;
        enum qn_kind kind;
        const char *name;
    } cases[] = {
        {0, QN_KIND_LLM, "llm"},
        {QN_CAN_TALK | QN_CAN_REASON, QN_KIND_LLM, "llm"},
        {QN_CAN_TALK | QN_CAN_HEAR | QN_CAN_SEE, QN_KIND_LLM, "llm"},
        {QN_CAN_EMBED, QN_KIND_EMBEDDING, "embedding"},
        {QN_CAN_RERANK, QN_KIND_RERANKING, "reranking"},
        {QN_CAN_TRANSCRIBE, QN_KIND_TRANSCRIPTION, "transcription"},
        {QN_CAN_SPEAK, QN_KIND_TTS, "tts"},
        {QN_CAN_IMAGE | QN_CAN_EDIT, QN_KIND_IMAGE, "image"},
        {QN_CAN_UPSCALE, QN_KIND_IMAGE, "image"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum qn_kind k = qn_kind_of(cases[i].set);
        assert_int_equal(k, cases[i].kind);
        assert_string_equal(qn_kind_name(k), cases[i].name);
    }
    for (int k = 0; k < QN_KIND_COUNT; k++)
        assert_int_equal(qn_kind_parse(qn_kind_name((enum qn_kind)k)), k);
    assert_int_equal(qn_kind_parse("audio"), QN_KIND_TRANSCRIPTION);
    assert_int_equal(qn_kind_parse("LLM"), QN_KIND_COUNT);
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t llm, embedding, tts;
    } cases[] = {
        {"1", 1, 1, 1},
        {"-1", -1, -1, -1},
        {"0", 0, 0, 0},
        {"llm=2", 2, 1, 1},
        {"llm=2,embedding=-1", 2, -1, 1},
        {"3,llm=64", 64, 3, 3},
        {"embeddings=4,2", 2, 4, 2},
    };
    struct qn_kind_limits l;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(qn_kind_limits_parse(cases[i].text, &l, NULL), QN_OK);
        assert_int_equal(l.of[QN_KIND_LLM], cases[i].llm);
        assert_int_equal(l.of[QN_KIND_EMBEDDING], cases[i].embedding);
        assert_int_equal(l.of[QN_KIND_TTS], cases[i].tts);
    }
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "''"},
        {"x", "'x'"},
        {"65", "'65'"},
        {"-2", "'-2'"},
        {"llm=", "''"},
        {"lm=2", "'lm'"},
        {"1,2", "more than one"},
        {"llm=1,llm=2", "llm is named twice"},
        {"audio=1,asr=1", "transcription is named twice"},
        {"llm=1,", "''"},
        {"llm=1.5", "'1.5'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_error e = {0};
        assert_int_equal(qn_kind_limits_parse(wrong[i].text, &l, &e), QN_EINVAL);
        assert_non_null(strstr(e.message, wrong[i].says));
    }
    char longer[QN_KIND_LIMITS_TEXT_MAX + 1];
    memset(longer, '1', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(qn_kind_limits_parse(longer, &l, NULL), QN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_of_one_kind),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
