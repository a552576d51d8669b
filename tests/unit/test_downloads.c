/* catalog/downloads.c: what is written of a download is read again after a restart, in the order in
 * which downloads began; marks change what they name and nothing else. */
#include "catalog_dir.h"

#include "base/buf.h"
#include "catalog/downloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct qn_download_file two[] = {
    {.hub = "huggingface",
     .repo = "o/r",
     .revision = "main",
     .commit = "c0",
     .path = "a-00001-of-00002.gguf",
     .role = "main",
     .url = "http://h/a1",
     .partial = "/m/1.incomplete",
     .etag = "\"e1\"",
     .sha256 = "aa",
     .git_sha1 = "",
     .size_bytes = INT64_C(5000000000),
     .done = false},
    {.hub = "huggingface",
     .repo = "o/r",
     .revision = "main",
     .commit = "c0",
     .path = "a-00002-of-00002.gguf",
     .role = "shard",
     .url = "http://h/a2",
     .partial = "/m/2.incomplete",
     .etag = "",
     .sha256 = "",
     .git_sha1 = "bb",
     .size_bytes = -1,
     .done = true},
};

static struct qn_download_row row(const char *id, int64_t created_s)
{
    return (struct qn_download_row){.id = id,
                                    .model = id + strlen("model:"),
                                    .wish = "{\"a\":1}",
                                    .state = "downloading",
                                    .error = "",
                                    .error_name = "",
                                    .priority = 3,
                                    .created_s = created_s,
                                    .changed_s = created_s,
                                    .files = two,
                                    .n_files = 2};
}

static void note(void *ctx, const struct qn_download_row *rows, size_t n, const struct qn_error *e)
{
    struct qn_buf *out = ctx;
    if (e)
        qn_buf_fmt(out, "error %d", e->code);
    for (size_t i = 0; i < n; i++) {
        const struct qn_download_row *r = &rows[i];
        qn_buf_fmt(out, "%s|%s|%s|%s|%s|%s|%lld|%lld|%lld\n", r->id, r->model, r->wish, r->state,
                   r->error, r->error_name, (long long)r->priority, (long long)r->created_s,
                   (long long)r->changed_s);
        for (size_t k = 0; k < r->n_files; k++) {
            const struct qn_download_file *f = &r->files[k];
            qn_buf_fmt(out, " %s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%lld|%d\n", f->hub, f->repo,
                       f->revision, f->commit, f->path, f->role, f->url, f->partial, f->etag,
                       f->sha256, f->git_sha1, (long long)f->size_bytes, f->done);
        }
    }
}

static void expect(struct qn_catalog *c, const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    qn_catalog_find_downloads(c, note, &out);
    qn_catalog_flush(c);
    assert_string_equal(qn_buf_cstr(&out), expected);
    qn_buf_deinit(&out);
}

static void note_error(void *ctx, const struct qn_error *e)
{
    *(qn_err *)ctx = e ? e->code : QN_OK;
}

#define FILES                                                                                      \
    " huggingface|o/r|main|c0|a-00001-of-00002.gguf|main|http://h/a1|/m/1.incomplete|\"e1\"|aa||"  \
    "5000000000|0\n"                                                                               \
    " huggingface|o/r|main|c0|a-00002-of-00002.gguf|shard|http://h/a2|/m/2.incomplete|||bb|-1|1\n"

static void rows_outlive_the_program(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    struct qn_download_row later = row("model:later", 20), first = row("model:first", 10);
    qn_err code = QN_EINTERNAL;
    later.n_files = 0;
    qn_catalog_put_download(c, &later, NULL, NULL);
    qn_catalog_put_download(c, &first, note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_OK);
    qn_catalog_close(c);

    c = open_catalog();
    expect(c, "model:first|first|{\"a\":1}|downloading|||3|10|10\n" FILES
              "model:later|later|{\"a\":1}|downloading|||3|20|20\n");
    /* Once more with other files: the old ones are gone. */
    first.n_files = 1;
    qn_catalog_put_download(c, &first, NULL, NULL);
    qn_catalog_remove_download(c, "model:later", note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_OK);
    expect(c, "model:first|first|{\"a\":1}|downloading|||3|10|10\n"
              " huggingface|o/r|main|c0|a-00001-of-00002.gguf|main|http://h/a1|/m/1.incomplete|"
              "\"e1\"|aa||5000000000|0\n");
    qn_catalog_remove_download(c, "model:first", NULL, NULL);
    expect(c, "");
    qn_catalog_close(c);
}

static void marks_change_what_they_name(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    struct qn_download_row r = row("model:a", 1);
    qn_err code = QN_OK;
    qn_catalog_put_download(c, &r, NULL, NULL);
    struct qn_download_row mark = {.id = "model:a",
                                   .model = "not written",
                                   .wish = "not written",
                                   .state = "error",
                                   .error = "the disk is full",
                                   .error_name = "io",
                                   .priority = -2,
                                   .changed_s = 9};
    qn_catalog_mark_download(c, &mark, NULL, NULL);
    expect(c, "model:a|a|{\"a\":1}|error|the disk is full|io|-2|1|9\n" FILES);
    struct qn_download_file file = two[0];
    file.etag = "\"e2\"";
    file.size_bytes = 7;
    file.done = true;
    file.path = "not written";
    qn_catalog_mark_download_file(c, "model:a", 0, &file, note_error, &code);
    expect(c, "model:a|a|{\"a\":1}|error|the disk is full|io|-2|1|9\n"
              " huggingface|o/r|main|c0|a-00001-of-00002.gguf|main|http://h/a1|/m/1.incomplete|"
              "\"e2\"|aa||7|1\n"
              " huggingface|o/r|main|c0|a-00002-of-00002.gguf|shard|http://h/a2|/m/2.incomplete|||"
              "bb|-1|1\n");
    assert_int_equal(code, QN_OK);
    qn_catalog_mark_download_file(c, "model:a", 2, &file, note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_ENOTFOUND);
    mark.id = "model:b";
    qn_catalog_mark_download(c, &mark, note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_ENOTFOUND);
    qn_catalog_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_outlive_the_program, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(marks_change_what_they_name, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
