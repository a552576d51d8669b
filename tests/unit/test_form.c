/* Forms as dialects read them: text fields as an object of texts, files beside it; and languages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/str.h"
#include "dialects/shared/form.h"
#include "dialects/shared/languages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PART(name, data)                                                                           \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" data "\r\n"
#define FILE(name, data)                                                                           \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"; filename=\"f\"\r\n\r\n" data "\r\n"
#define END "--b--"

struct fixture {
    struct qn_arena *arena;
    struct qn_json *doc;
    struct qn_multipart files;
    struct qn_request rq;
    struct qn_error e;
};

static qn_err read_n(struct fixture *f, const char *body, size_t n)
{
    *f = (struct fixture){.arena = qn_arena_new(1 << 24)};
    f->rq = (struct qn_request){.profile = qn_profile_main(),
                                .arena = f->arena,
                                .files = &f->files,
                                .context = QN_UNSET,
                                .keep_alive_ms = QN_UNSET};
    qn_err err = qn_form_read("multipart/form-data; boundary=b", body, n, f->arena, &f->doc,
                              &f->files, &f->e);
    f->rq.doc = f->doc;
    return err;
}

static void drop(struct fixture *f)
{
    qn_json_free(f->doc);
    qn_arena_free(f->arena);
}

static void fields_become_members(void **state)
{
    (void)state;
    static const struct {
        const char *body, *json; /* json NULL: refused, and the field is named */
    } cases[] = {
        {END, "{}"},
        {PART("model", "m") PART("n", "2") END, "{\"model\":\"m\",\"n\":\"2\"}"},
        {PART("prompt", "a \"b\"\r\nc") END, "{\"prompt\":\"a \\\"b\\\"\\r\\nc\"}"},
        {PART("x", "") PART("y", "1") END, "{\"y\":\"1\"}"},
        {PART("g[]", "word") PART("n", "1") PART("g[]", "segment") END,
         "{\"g\":[\"word\",\"segment\"],\"n\":\"1\"}"},
        {PART("g[0]", "a") PART("g[1]", "b") END, "{\"g\":[\"a\",\"b\"]}"},
        {PART("[]", "a") PART("b[x]", "c") PART("]", "d") END,
         "{\"[]\":\"a\",\"b[x]\":\"c\",\"]\":\"d\"}"},
        {FILE("file", "RIFF") PART("file2", "x") END, "{\"file2\":\"x\"}"},
        {PART("n", "1") PART("n", "2") END, NULL},
        {PART("n[]", "1") PART("n", "2") END, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        qn_err err = read_n(&f, cases[i].body, strlen(cases[i].body));
        assert_int_equal(err, cases[i].json ? QN_OK : QN_EINVAL);
        if (cases[i].json) {
            struct qn_buf out;
            struct qn_jref root = qn_json_root(f.doc);
            qn_buf_init(&out, 4096);
            qn_json_print(&root, &out);
            assert_string_equal(out.data, cases[i].json);
            qn_buf_deinit(&out);
        } else {
            assert_string_equal(f.e.param, "n");
        }
        drop(&f);
    }
}

static void files_are_found_in_their_order(void **state)
{
    (void)state;
    static const char body[] = FILE("image[]", "1") PART("image", "text\0binary") FILE("mask", "m")
        FILE("image[1]", "3") PART("image[2]", "\x89PNG") FILE("images", "no") END;
    struct fixture f;
    const struct qn_part *found[8];
    assert_int_equal(read_n(&f, body, sizeof body - 1), QN_OK);
    assert_int_equal(qn_form_files(&f.rq, "image", found, 8), 4);
    assert_memory_equal(found[0]->data, "1", 1);
    assert_int_equal(found[1]->len, 11);
    assert_memory_equal(found[2]->data, "3", 1);
    assert_memory_equal(found[3]->data, "\x89PNG", 4);
    assert_int_equal(qn_form_files(&f.rq, "image", found, 1), 4);
    assert_int_equal(qn_form_files(&f.rq, "mask", found, 8), 1);
    assert_int_equal(qn_form_files(&f.rq, "file", found, 8), 0);
    f.rq.files = NULL; /* a request whose body is JSON */
    assert_int_equal(qn_form_files(&f.rq, "image", found, 8), 0);
    drop(&f);
}

static void values_are_read_from_texts(void **state)
{
    (void)state;
    static const char body[] = PART("i", "-12") PART("f", "0.5") PART("t", "True") PART("o", "0")
        PART("bad", "1x") PART("text", "h\xC3\xA9h") END;
    struct fixture f;
    int64_t i = 7;
    double d = 7;
    bool b = false;
    const char *text = NULL;
    assert_int_equal(read_n(&f, body, sizeof body - 1), QN_OK);
    struct qn_jref root = qn_json_root(f.doc), v = qn_json_get(&root, "i");
    assert_int_equal(qn_form_i64(&f.rq, &v, -20, 20, &i, &f.e), QN_OK);
    assert_int_equal(i, -12);
    assert_int_equal(qn_form_i64(&f.rq, &v, 0, 20, &i, &f.e), QN_EINVAL);
    assert_string_equal(f.e.message, "i: expected a whole number from 0 to 20");
    v = qn_json_get(&root, "f");
    assert_int_equal(qn_form_f64(&f.rq, &v, 0, 1, &d, &f.e), QN_OK);
    assert_true(d == 0.5);
    assert_int_equal(qn_form_i64(&f.rq, &v, 0, 1, &i, &f.e), QN_EINVAL);
    v = qn_json_get(&root, "t");
    assert_int_equal(qn_form_bool(&f.rq, &v, &b, &f.e), QN_OK);
    assert_true(b);
    v = qn_json_get(&root, "o");
    assert_int_equal(qn_form_bool(&f.rq, &v, &b, &f.e), QN_OK);
    assert_false(b);
    v = qn_json_get(&root, "bad");
    assert_int_equal(qn_form_i64(&f.rq, &v, 0, 10, &i, &f.e), QN_EINVAL);
    assert_int_equal(qn_form_f64(&f.rq, &v, 0, 10, &d, &f.e), QN_EINVAL);
    assert_int_equal(qn_form_bool(&f.rq, &v, &b, &f.e), QN_EINVAL);
    v = qn_json_get(&root, "nothing");
    assert_int_equal(qn_form_i64(&f.rq, &v, 0, 10, &i, &f.e), QN_OK);
    assert_int_equal(i, -12);
    v = qn_json_get(&root, "text");
    assert_int_equal(qn_form_text(&v, 3, &text, &f.e), QN_OK); /* characters, not bytes */
    assert_string_equal(text, "h\xC3\xA9h");
    assert_int_equal(qn_form_text(&v, 2, &text, &f.e), QN_EINVAL);
    /* A JSON body's numbers are no texts. */
    f.rq.files = NULL;
    v = qn_json_get(&root, "i");
    assert_int_equal(qn_form_i64(&f.rq, &v, -20, 20, &i, &f.e), QN_EINVAL);
    drop(&f);
}

static void what_is_not_a_form_is_refused(void **state)
{
    (void)state;
    struct fixture f = {.arena = qn_arena_new(1 << 24)};
    struct qn_buf b;
    static const char *const types[] = {NULL, "application/json", "multipart/form-data",
                                        "multipart/form-data; boundary=b"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(qn_form_read(types[i], "x", 1, f.arena, &f.doc, &f.files, &f.e),
                         QN_EINVAL);
        assert_non_null(strstr(f.e.message, "The request must be multipart/form-data"));
    }
    qn_buf_init(&b, 4 * QN_FORM_TEXT_MAX);
    qn_buf_str(&b, "--b\r\nContent-Disposition: form-data; name=x\r\n\r\n");
    while (b.len < QN_FORM_TEXT_MAX + 64)
        qn_buf_str(&b, "0123456789abcdef");
    qn_buf_str(&b, "\r\n" END);
    assert_int_equal(qn_form_read(types[3], b.data, b.len, f.arena, &f.doc, &f.files, &f.e),
                     QN_EINVAL);
    assert_non_null(strstr(f.e.message, "more than 1048576 bytes"));
    qn_buf_deinit(&b);
    qn_arena_free(f.arena);
}

static void a_form_says_how_long_the_model_stays(void **state)
{
    (void)state;
    static const char body[] = PART("model", "m") PART("keep_alive", "5m") END;
    struct fixture f;
    struct qn_job *job;
    assert_int_equal(read_n(&f, body, sizeof body - 1), QN_OK);
    assert_int_equal(qn_form_job(&f.rq, QN_TASK_IMAGE, &job, &f.e), QN_OK);
    assert_string_equal(f.rq.model, "m");
    assert_int_equal(f.rq.keep_alive_ms, 300000);
    assert_int_equal(job->task, QN_TASK_IMAGE);
    drop(&f);
}

static void languages_by_code_and_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *code;
    } cases[] = {
        {"en", "en"},   {"EN", "en"},        {"de-AT", "de"},      {"pt_BR", "pt"},
        {"haw", "haw"}, {"German", "de"},    {"cantonese", "yue"}, {"xx", "xx"},
        {"", NULL},     {"e", NULL},         {"e1", NULL},         {"klingon", NULL},
        {"-de", NULL},  {"d\xC3\xA9", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[8];
        const char *code = qn_language_code(cases[i].text, out, sizeof out);
        assert_string_equal(code ? code : "none", cases[i].code ? cases[i].code : "none");
    }
    assert_string_equal(qn_language_name("de"), "german");
    assert_string_equal(qn_language_name("xx"), "xx");
}

enum { PARTS = 256, PART_BYTES = 100 * 1024 };

/* Files without a file's name are known by their bytes, which are looked at once, however many
 * fields of their name stand beside them. */
static void parts_are_looked_at_once(void **state)
{
    (void)state;
    struct qn_buf body;
    struct fixture f;
    char *bytes = qn_xmalloc(PART_BYTES);
    memset(bytes, 'x', PART_BYTES);
    qn_buf_init(&body, (size_t)PARTS * (PART_BYTES + 200));
    for (int i = 0; i < PARTS; i++) {
        bool file = i < PARTS / 2;
        qn_buf_str(&body, "--b\r\nContent-Disposition: form-data; name=\"a[]\"\r\n\r\n");
        qn_buf_add(&body, bytes, file ? PART_BYTES - 1 : 1);
        qn_buf_str(&body, file ? "\xff\r\n" : "\r\n");
    }
    qn_buf_str(&body, END);
    clock_t begun = clock();
    assert_false(qn_utf8_valid(body.data, body.len - sizeof END)); /* at the first part's end */
    for (int i = 0; i < PARTS / 2; i++)
        assert_true(qn_utf8_valid(bytes, PART_BYTES));
    clock_t looked = clock();
    assert_int_equal(read_n(&f, body.data, body.len), QN_OK);
    assert_true(clock() - looked < 20 * (looked - begun));
    assert_int_equal(f.files.n, PARTS / 2);
    drop(&f);
    qn_buf_deinit(&body);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_become_members),
        cmocka_unit_test(parts_are_looked_at_once),
        cmocka_unit_test(files_are_found_in_their_order),
        cmocka_unit_test(values_are_read_from_texts),
        cmocka_unit_test(what_is_not_a_form_is_refused),
        cmocka_unit_test(a_form_says_how_long_the_model_stays),
        cmocka_unit_test(languages_by_code_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
