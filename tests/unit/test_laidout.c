/* The table of a file of laid-out weights: what was written is read, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "formats/laidout.h"

#include <string.h>

enum { HEAD = 32, KEY = 9 };

static struct qn_laidout_matrix matrix[3];

/* Head, table and bytes of three matrices: 5,000, 1 and 64 bytes. */
static void make(struct qn_buf *file)
{
    qn_buf_init(file, 1 << 20);
    memset(matrix, 0, sizeof matrix);
    for (int i = 0; i < 3; i++) {
        matrix[i].source = 100 * (uint64_t)i;
        matrix[i].ndim = 2;
        matrix[i].shape[0] = 4;
        matrix[i].bytes = (uint64_t[]){5000, 1, 64}[i];
    }
    uint64_t size = qn_laidout_place(matrix, 3);
    matrix[1].crc = 77;
    qn_laidout_begin(matrix, 3, KEY, file);
    assert_int_equal(file->len, 4096); /* the table fits one unit of alignment */
    assert_int_equal(matrix[0].at, 4096);
    assert_int_equal(matrix[1].at, 3 * 4096);
    assert_int_equal(matrix[2].at, 4 * 4096);
    assert_int_equal(size, 5 * 4096);
    while (file->len < size)
        qn_buf_char(file, 'x');
}

static void what_was_written_is_found(void **state)
{
    (void)state;
    struct qn_buf file;
    struct qn_laidout l;
    struct qn_error e;
    make(&file);
    assert_int_equal(qn_laidout_parse(file.data, file.len, KEY, &l, &e), QN_OK);
    static const int order[] = {0, 1, 2, 1, 0, 2, 2};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct qn_laidout_matrix like = matrix[order[i]];
        like.at = like.bytes = 0;
        const struct qn_laidout_matrix *m = qn_laidout_find(&l, &like);
        assert_non_null(m);
        assert_memory_equal(m, &matrix[order[i]], sizeof *m);
        like.shape[0]++;
        assert_null(qn_laidout_find(&l, &like));
    }
    qn_laidout_deinit(&l);
    qn_buf_deinit(&file);
}

static void another_key_is_no_damage(void **state)
{
    (void)state;
    struct qn_buf file;
    struct qn_laidout l;
    struct qn_error e;
    make(&file);
    assert_int_equal(qn_laidout_parse(file.data, file.len, KEY + 1, &l, &e), QN_ENOTFOUND);
    qn_buf_deinit(&file);
}

/* Any changed byte of head or table, and any missing one of the file. */
static void damage_is_noticed(void **state)
{
    (void)state;
    struct qn_buf file;
    struct qn_laidout l;
    struct qn_error e;
    make(&file);
    for (size_t i = 0; i < HEAD + sizeof matrix; i++) {
        file.data[i] ^= 4;
        assert_int_not_equal(qn_laidout_parse(file.data, file.len, KEY, &l, &e), QN_OK);
        file.data[i] ^= 4;
    }
    for (size_t n = 0; n < file.len; n += 37)
        assert_int_equal(qn_laidout_parse(file.data, n, KEY, &l, &e), QN_EFORMAT);
    qn_buf_deinit(&file);
}

/* A table whose checksum and size hold, for sums of sizes run over: 4096 + (2^64 - 4096) is 0, and
 * the next matrix would begin there. */
static void places_stay_within_the_file(void **state)
{
    (void)state;
    struct qn_buf file;
    struct qn_laidout l;
    struct qn_error e;
    make(&file);
    qn_buf_clear(&file);
    matrix[0].bytes = -(uint64_t)4096;
    matrix[1].bytes = 8192;
    assert_int_equal(qn_laidout_place(matrix, 2), 8192);
    qn_laidout_begin(matrix, 2, KEY, &file);
    while (file.len < 8192)
        qn_buf_char(&file, 'x');
    assert_int_equal(qn_laidout_parse(file.data, file.len, KEY, &l, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, "outside"));
    qn_buf_deinit(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_found),
        cmocka_unit_test(another_key_is_no_damage),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(places_stay_within_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
