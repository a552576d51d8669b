/* Forms: the example of RFC 2046, what real clients write, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/multipart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CD "Content-Disposition: form-data; "

static qn_err parse(const char *body, size_t n, const char *boundary, struct qn_arena *arena,
                    struct qn_multipart *m, struct qn_error *e)
{
    char *copy = malloc(n ? n : 1); /* a heap block, so that a sanitizer sees every step outside */
    memcpy(copy, body, n);
    qn_err err = qn_multipart_parse(copy, n, boundary, arena, m, e);
    for (size_t i = 0; i < m->n; i++) { /* the parts outlive this call */
        char *data = qn_arena_try(arena, m->v[i].len + 1);
        memcpy(data, m->v[i].data, m->v[i].len);
        m->v[i].data = data;
    }
    free(copy);
    return err;
}

/* name[filename;type]=data| for every part, or the error's code and message. */
static char *shown(const char *body, const char *boundary)
{
    struct qn_arena *arena = qn_arena_new(1 << 20);
    struct qn_multipart m;
    struct qn_error e = {0};
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    if (parse(body, strlen(body), boundary, arena, &m, &e))
        qn_buf_fmt(&out, "%s: %s", qn_err_name(e.code), e.message);
    for (size_t i = 0; !e.code && i < m.n; i++) {
        qn_buf_str(&out, m.v[i].name);
        if (m.v[i].filename || m.v[i].type)
            qn_buf_fmt(&out, "[%s;%s]", m.v[i].filename ? m.v[i].filename : "-",
                       m.v[i].type ? m.v[i].type : "-");
        qn_buf_char(&out, '=');
        qn_buf_add(&out, m.v[i].data, m.v[i].len);
        qn_buf_char(&out, '|');
    }
    qn_arena_free(arena);
    qn_buf_cstr(&out);
    return out.data ? qn_buf_take(&out) : strdup("");
}

static void parts_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *body, *parts;
    } cases[] = {
        /* the shape of RFC 2046's example: preamble, an implicit line's end, epilogue */
        {"This is the preamble.\r\nIt is to be ignored.\r\n--b\r\n" CD "name=a\r\n\r\n"
         "This does NOT end with a line break.\r\n--b\r\n" CD "name=b\r\n\r\n"
         "This DOES end with a line break.\r\n\r\n--b--\r\nThis is the epilogue.",
         "a=This does NOT end with a line break.|b=This DOES end with a line break.\r\n|"},
        /* as curl, browsers and the SDKs write it */
        {"--b\r\n" CD
         "name=\"file\"; filename=\"a b.wav\"\r\nContent-Type: audio/wav\r\n\r\nRIFF\r\n--b--",
         "file[a b.wav;audio/wav]=RIFF|"},
        {"--b\r\n" CD "name=\"x\"\r\n\r\n\r\n--b--\r\n", "x=|"},   /* empty data */
        {"--b\r\n" CD "name=\"x\"\r\n\r\n--b--\r\n", "x=|"},       /* no data at all */
        {"--b--\r\n", ""},                                         /* no parts */
        {"--b  \t\r\n" CD "name=\"x\"\r\n\r\n1\r\n--b--", "x=1|"}, /* blanks behind the boundary */
        {"x--b\r\n" CD "name=x\r\n\r\n1\r\n--b--", ""}, /* not at a line's beginning: preamble */
        /* one name several times stays in order */
        {"--b\r\n" CD "name=\"image[]\"\r\n\r\n1\r\n--b\r\n" CD
         "name=\"image[]\"\r\n\r\n2\r\n--b--",
         "image[]=1|image[]=2|"},
        /* header names and the disposition in any case, blanks around, other headers */
        {"--b\r\ncontent-disposition:FORM-DATA;NAME=x ; filename = f ;\r\nX-Other: 1\r\n"
         "Content-Transfer-Encoding: BINARY\r\n\r\n1\r\n--b--",
         "x[f;-]=1|"},
        /* quoted strings: escaped quotes and backslashes, paths of old browsers, and percent signs
         */
        {"--b\r\n" CD "name=\"a\\\"b\\\\c\"; filename=\"C:\\dir\\f.wav\"\r\n\r\n1\r\n--b--",
         "a\"b\\c[C:\\dir\\f.wav;-]=1|"},
        {"--b\r\n" CD "name=\"a%22b%0d%0Ac%41%2\"\r\n\r\n1\r\n--b--", "a\"b\r\nc%41%2=1|"},
        {"--b\r\n" CD "name=\"caf\xC3\xA9; x=y\"\r\n\r\n1\r\n--b--", "caf\xC3\xA9; x=y=1|"},
        {"--b\r\n" CD "name=x; filename*=UTF-8''y; other=\"z\"\r\n\r\n1\r\n--b--", NULL},
        /* what looks like a boundary and is none */
        {"--b\r\n" CD "name=x\r\n\r\n--bc\r\n--b c\r\n--b-\r\n -- b\n--b\n\r\n-b\r\n--b--",
         "x=--bc\r\n--b c\r\n--b-\r\n -- b\n--b\n\r\n-b|"},
        {"--bX\r\n--b\r\n" CD "name=x\r\n\r\n1\r\n--b--", "x=1|"},
        {"--b\r\n" CD "name=x\r\n\r\n1\r\n\r\n--b--", "x=1\r\n|"},
        {"--b\r\n" CD "name=x\r\n\r\n1\r\r\n--b--", "x=1\r|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = shown(cases[i].body, "b");
        if (cases[i].parts)
            assert_string_equal(got, cases[i].parts);
        else
            assert_string_equal(got, "x=1|");
        free(got);
    }
}

static void broken_forms_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *complaint;
    } cases[] = {
        {"", "format: the form does not hold the boundary"},
        {"hello", "format: the form does not hold the boundary"},
        {"--b", "format: the form does not hold the boundary"},
        {"--b\n" CD "name=x\n\n1\n--b--", "format: the form does not hold the boundary"},
        {"--b\r\n" CD "name=x\r\n\r\n1", "format: the form ends without its last boundary"},
        {"--b\r\n" CD "name=x\r\n\r\n1\r\n--b", "format: the form ends without its last boundary"},
        {"--b\r\n" CD "name=x\r\n\r\n1\r\n--b-", "format: the form ends without its last boundary"},
        {"--b\r\n" CD "name=x\r\n\r\n1\r\n--b\r\n", "format: part 2 of the form is cut off"},
        {"--b\r\n" CD "name=x", "format: part 1 of the form is cut off"},
        {"--b\r\n" CD "name=x\r\n", "format: part 1 of the form is cut off"},
        {"--b\r\n\r\n1\r\n--b--", "format: part 1 of the form has no Content-Disposition"},
        {"--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--",
         "format: part 1 of the form has no Content-Disposition"},
        {"--b\r\n--b--", "format: part 1 of the form"},
        {"--b\r\n" CD "filename=x\r\n\r\n1\r\n--b--", "format: part 1 of the form has no name"},
        {"--b\r\nContent-Disposition: attachment; name=x\r\n\r\n1\r\n--b--", "is not form-data"},
        {"--b\r\nContent-Disposition: form-datax; name=x\r\n\r\n1\r\n--b--", "is not form-data"},
        {"--b\r\n" CD "name=x; name=y\r\n\r\n1\r\n--b--", "named twice"},
        {"--b\r\n" CD "name=x\r\n" CD "name=y\r\n\r\n1\r\n--b--", "two Content-Dispositions"},
        {"--b\r\n" CD "name=\"x\r\n\r\n1\r\n--b--", "its Content-Disposition is broken"},
        {"--b\r\n" CD "name=\"x\"y\r\n\r\n1\r\n--b--", "its Content-Disposition is broken"},
        {"--b\r\n" CD "name\r\n\r\n1\r\n--b--", "its Content-Disposition is broken"},
        {"--b\r\n" CD "name=\r\n\r\n1\r\n--b--", "its Content-Disposition is broken"},
        {"--b\r\n" CD "name=\"\xFF\"\r\n\r\n1\r\n--b--", "not proper UTF-8"},
        {"--b\r\n" CD "name=x\r\n folded\r\n\r\n1\r\n--b--", "a header line is broken"},
        {"--b\r\n" CD "name=x\r\nno colon\r\n\r\n1\r\n--b--", "a header line is broken"},
        {"--b\r\n" CD "name=x\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--b--",
         "unsupported: part 1 of the form has a Content-Transfer-Encoding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = shown(cases[i].body, "b");
        if (!strstr(got, cases[i].complaint))
            fail_msg("case %zu: '%s' does not say '%s'", i, got, cases[i].complaint);
        free(got);
    }
}

static void a_name_with_a_nul_is_refused(void **state)
{
    (void)state;
    static const char body[] = "--b\r\n" CD "name=\"a\0b\"\r\n\r\n1\r\n--b--";
    struct qn_arena *arena = qn_arena_new(1 << 16);
    struct qn_multipart m;
    struct qn_error e = {0};
    assert_int_equal(parse(body, sizeof body - 1, "b", arena, &m, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, "UTF-8"));
    qn_arena_free(arena);
}

/* Says so many parts, of so many headers, with so long a name. */
static qn_err sized(int parts, int heads, int name, int filename)
{
    struct qn_arena *arena = qn_arena_new(1 << 20);
    struct qn_multipart m;
    struct qn_error e = {0};
    struct qn_buf b;
    qn_buf_init(&b, 1 << 20);
    for (int i = 0; i < parts; i++) {
        qn_buf_fmt(&b, "--b\r\n" CD "name=\"%0*d\"; filename=\"%0*d\"\r\n", name, 0, filename, 0);
        for (int k = 1; k < heads; k++)
            qn_buf_str(&b, "X: y\r\n");
        qn_buf_str(&b, "\r\n1\r\n");
    }
    qn_buf_str(&b, "--b--\r\n");
    qn_err err = parse(b.data, b.len, "b", arena, &m, &e);
    if (!err)
        assert_int_equal(m.n, parts);
    qn_buf_deinit(&b);
    qn_arena_free(arena);
    return err;
}

static void limits_hold(void **state)
{
    (void)state;
    assert_int_equal(sized(QN_MULTIPART_PARTS_MAX, 1, 1, 1), QN_OK);
    assert_int_equal(sized(QN_MULTIPART_PARTS_MAX + 1, 1, 1, 1), QN_ELIMIT);
    assert_int_equal(sized(1, QN_MULTIPART_HEADS_MAX, 1, 1), QN_OK);
    assert_int_equal(sized(1, QN_MULTIPART_HEADS_MAX + 1, 1, 1), QN_ELIMIT);
    assert_int_equal(sized(1, 1, QN_MULTIPART_NAME_MAX, QN_MULTIPART_FILENAME_MAX), QN_OK);
    assert_int_equal(sized(1, 1, QN_MULTIPART_NAME_MAX + 1, 1), QN_ELIMIT);
    assert_int_equal(sized(1, 1, 1, QN_MULTIPART_FILENAME_MAX + 1), QN_ELIMIT);
    assert_int_equal(sized(1, 1, 1, QN_MULTIPART_HEAD_BYTES_MAX), QN_ELIMIT);
    /* An arena that has no room left. */
    struct qn_arena *arena = qn_arena_new(16);
    struct qn_multipart m;
    struct qn_error e = {0};
    static const char body[] = "--b\r\n" CD "name=\"a\"\r\n\r\n1\r\n--b--";
    assert_int_equal(qn_multipart_parse(body, sizeof body - 1, "b", arena, &m, &e), QN_ELIMIT);
    qn_arena_free(arena);
}

/* Cut off anywhere before its last boundary is complete, a form is an error. */
static void every_beginning_is_refused(void **state)
{
    (void)state;
    static const char body[] =
        "--bound\r\n" CD "name=\"file\"; filename=\"f\"\r\nContent-Type: a/b\r\n\r\n"
        "\0\r\n--boun\r\n\r\n--bound\r\n" CD "name=\"n\"\r\n\r\n1\r\n--bound--";
    struct qn_multipart m;
    struct qn_error e;
    for (size_t n = 0; n < sizeof body - 1; n++) {
        struct qn_arena *arena = qn_arena_new(1 << 16);
        assert_int_equal(parse(body, n, "bound", arena, &m, &e), QN_EFORMAT);
        qn_arena_free(arena);
    }
    struct qn_arena *arena = qn_arena_new(1 << 16);
    assert_int_equal(parse(body, sizeof body - 1, "bound", arena, &m, &e), QN_OK);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.v[0].len, 11);
    assert_memory_equal(m.v[0].data, "\0\r\n--boun\r\n", 11);
    qn_arena_free(arena);
}

static void boundaries_are_found_in_the_header(void **state)
{
    (void)state;
    static const struct {
        const char *type, *boundary;
    } cases[] = {
        {"multipart/form-data; boundary=abc", "abc"},
        {"Multipart/Form-Data;BOUNDARY=\"a b:c\"; charset=utf-8", "a b:c"},
        {"multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
         "----WebKitFormBoundary7MA4YWxkTrZu0gW"},
        {"multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"},
        {"multipart/form-data; "
         "boundary=1234567890123456789012345678901234567890123456789012345678901234567890",
         "1234567890123456789012345678901234567890123456789012345678901234567890"},
        {"multipart/form-data; "
         "boundary=12345678901234567890123456789012345678901234567890123456789012345678901",
         NULL},
        {"multipart/form-data", NULL},
        {"multipart/form-data; boundary=", NULL},
        {"multipart/form-data; boundary=\"\"", NULL},
        {"multipart/form-data; boundary=\"abc \"", NULL},
        {"multipart/form-data; boundary=\"a\\\"b\"", NULL},
        {"multipart/form-data; boundary=\"abc", NULL},
        {"multipart/form-data boundary=abc", "abc"},
        {"multipart/form-data; boundary=a b", NULL},
        {"multipart/form-datax; boundary=abc", NULL},
        {"multipart/mixed; boundary=abc", NULL},
        {"application/json", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[QN_MULTIPART_BOUNDARY_MAX + 1] = "";
        struct qn_error e;
        qn_err err = qn_multipart_boundary(cases[i].type, out, &e);
        if (err != (cases[i].boundary ? QN_OK : QN_EFORMAT))
            fail_msg("'%s' gives %s", cases[i].type ? cases[i].type : "nothing", qn_err_name(err));
        assert_string_equal(out, cases[i].boundary ? cases[i].boundary : "");
    }
}

/* A body made of near-boundaries must not cost more than its length. */
static void near_boundaries_cost_no_more(void **state)
{
    (void)state;
    struct qn_arena *arena = qn_arena_new(1 << 16);
    struct qn_multipart m;
    struct qn_error e;
    struct qn_buf b;
    qn_buf_init(&b, 32 << 20);
    qn_buf_str(&b, "--b\r\n" CD "name=x\r\n\r\n");
    while (b.len < (16 << 20))
        qn_buf_str(&b, "\r\n--b    \t  x");
    size_t n = b.len - strlen("--b\r\n" CD "name=x\r\n\r\n");
    qn_buf_str(&b, "\r\n--b--");
    assert_int_equal(qn_multipart_parse(b.data, b.len, "b", arena, &m, &e), QN_OK);
    assert_int_equal(m.v[0].len, n);
    qn_buf_deinit(&b);
    qn_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_out),
        cmocka_unit_test(broken_forms_are_refused),
        cmocka_unit_test(a_name_with_a_nul_is_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(every_beginning_is_refused),
        cmocka_unit_test(boundaries_are_found_in_the_header),
        cmocka_unit_test(near_boundaries_cost_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
