/* lib/contract/capabilities.c: what labels and files say, and what follows for a model. Labels are
 * those of Lemonade's model list, words of files those of Ollama's API, and quince's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "contract/backend_types.h"
#include "contract/capabilities.h"

#include <string.h>

enum { LLM = QN_CAN_TALK | QN_CAN_INSERT | QN_CAN_TOOLS | QN_CAN_REASON };

static void from_labels_and_files(void **state)
{
    (void)state;
    static const struct {
        unsigned offers;
        const char *labels, *found;
        bool projector;
        unsigned has, may;
    } rows[] = {
        /* Nothing is known: what its program is for, and nothing is excluded. */
        {LLM, "[]", "[]", false, QN_CAN_TALK, LLM},
        {LLM, "[\"custom\"]", "[\"completion\"]", false, QN_CAN_TALK, QN_CAN_TALK},
        {LLM, "[]", "[\"completion\",\"tools\",\"insert\",\"thinking\"]", false, LLM, LLM},
        {LLM, "[]", "[\"chat\",\"complete\",\"tools\",\"insert\",\"reasoning\"]", false, LLM, LLM},
        {LLM, "[\"chat\",\"reasoning\"]", "[\"completion\"]", false, QN_CAN_TALK | QN_CAN_REASON,
         QN_CAN_TALK | QN_CAN_REASON},
        {LLM, "[]", "[\"completion\"]", true, QN_CAN_TALK | QN_CAN_SEE, QN_CAN_TALK | QN_CAN_SEE},
        {LLM, "[]", "[\"embedding\"]", false, QN_CAN_EMBED, QN_CAN_EMBED},
        {LLM, "[]", "[\"rerank\"]", false, QN_CAN_RERANK, QN_CAN_RERANK},
        /* A decoder's file that is labelled as an embedding model does not converse. */
        {LLM, "[\"embeddings\"]", "[\"completion\",\"tools\",\"thinking\"]", false, QN_CAN_EMBED,
         QN_CAN_EMBED},
        {LLM, "[\"reranking\"]", "[\"embed\"]", false, QN_CAN_RERANK, QN_CAN_RERANK},
        {LLM, "[\"chat\",\"vision\",\"chat-transcription\"]", "[\"complete\"]", true,
         QN_CAN_TALK | QN_CAN_SEE | QN_CAN_HEAR, QN_CAN_TALK | QN_CAN_SEE | QN_CAN_HEAR},
        {QN_CAN_TRANSCRIBE, "[]", "[]", false, QN_CAN_TRANSCRIBE, QN_CAN_TRANSCRIBE},
        {QN_CAN_IMAGE | QN_CAN_EDIT, "[\"image\"]", "[]", false, QN_CAN_IMAGE,
         QN_CAN_IMAGE | QN_CAN_EDIT},
        /* Another machine's model: known by its labels alone. */
        {QN_CAPABILITIES_ALL, "[]", "[]", false, QN_CAN_TALK, QN_CAPABILITIES_ALL},
        {QN_CAPABILITIES_ALL, "[\"image\"]", "[]", false, QN_CAN_IMAGE,
         QN_CAN_IMAGE | (QN_CAPABILITIES_ALL & ~QN_CAPABILITIES_PURPOSES)},
        {0, "not JSON", "{}", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_capabilities c =
            qn_capabilities_of(&(struct qn_capability_facts){.offers = rows[i].offers,
                                                             .labels = rows[i].labels,
                                                             .found = rows[i].found,
                                                             .projector = rows[i].projector});
        if (c.has != rows[i].has || c.may != rows[i].may)
            fail_msg("row %zu: has %x, may %x", i, c.has, c.may);
    }
}

static void says(unsigned set, const char *labels, const char *names, const char *ollama,
                 const char *shown)
{
    struct qn_json *doc;
    struct qn_buf out;
    assert_int_equal(qn_json_parse(labels, strlen(labels), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_buf_init(&out, 4096);
    struct qn_jw w = qn_jw_to(&out);
    qn_capabilities_write(&w, set);
    assert_string_equal(qn_buf_cstr(&out), names);
    qn_buf_clear(&out);
    w = qn_jw_to(&out);
    qn_capabilities_write_ollama(&w, set);
    assert_string_equal(qn_buf_cstr(&out), ollama);
    qn_buf_clear(&out);
    w = qn_jw_to(&out);
    qn_capabilities_write_labels(&w, &root, set);
    assert_string_equal(qn_buf_cstr(&out), shown);
    qn_buf_deinit(&out);
    qn_json_free(doc);
}

static void names(void **state)
{
    (void)state;
    says(0, "[]", "[]", "[]", "[]");
    says(LLM, "[\"custom\"]", "[\"chat\",\"complete\",\"tools\",\"insert\",\"reasoning\"]",
         "[\"completion\",\"tools\",\"insert\",\"thinking\"]",
         "[\"custom\",\"tool-calling\",\"reasoning\"]");
    says(QN_CAN_EMBED, "[]", "[\"embed\"]", "[\"embedding\"]", "[\"embeddings\"]");
    /* No label twice, also where another one says the same. */
    says(QN_CAN_TRANSCRIBE | QN_CAN_SEE, "[\"audio\",\"vision\"]", "[\"transcribe\",\"vision\"]",
         "[\"vision\"]", "[\"audio\",\"vision\"]");
}

/* Each set that is written is read again. */
static void there_and_back(void **state)
{
    (void)state;
    for (unsigned bit = 1; bit <= QN_CAPABILITIES_ALL; bit <<= 1) {
        struct qn_json *doc;
        struct qn_buf out;
        qn_buf_init(&out, 4096);
        struct qn_jw w = qn_jw_to(&out);
        qn_capabilities_write(&w, bit);
        assert_int_equal(qn_json_parse(qn_buf_cstr(&out), out.len, &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        unsigned wanted = bit == QN_CAN_COMPLETE ? QN_CAN_TALK : bit;
        assert_int_equal(qn_capabilities_read(&root), wanted);
        qn_json_free(doc);
        qn_buf_deinit(&out);
    }
}

/* Which program runs a recipe's models depends on what they are for. */
static void recipes(void **state)
{
    (void)state;
    qn_backend_types_look("/nowhere");
    const struct qn_backend_type *llm = qn_backend_type_find("llm");
    assert_ptr_equal(qn_backend_type_of("llamacpp", 0), llm);
    assert_ptr_equal(qn_backend_type_of("llamacpp", QN_CAN_CHAT), llm);
    assert_false(qn_backend_type_reach(llm) & QN_CAN_EMBED);
    qn_backend_type_serve(llm, true);
    assert_true(qn_backend_type_reach(llm) & QN_CAN_EMBED);
    qn_backend_type_serve(llm, false);
    assert_null(qn_backend_type_of("whispercpp", 0));
    const struct qn_backend_type *asr = qn_backend_type_find("asr");
    qn_backend_type_serve(asr, true);
    assert_ptr_equal(qn_backend_type_of("whispercpp", QN_CAN_TRANSCRIBE), asr);
    assert_int_equal(qn_backend_type_reach(asr), QN_CAN_TRANSCRIBE);
    qn_backend_type_serve(asr, false);
    assert_null(qn_backend_type_of("remote", 0)); /* its models are defined, not pulled */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_labels_and_files),
        cmocka_unit_test(names),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
