/* Laid-out weights on disk: taken by the next load of the same model and by no other, never when
 * anything about them is wrong, and within their limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/crc32.h"
#include "base/log.h"
#include "base/path.h"
#include "engine/cpu/pack.h"
#include "engine/ops.h"
#include "engine/weights.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROWS = 40, COLS = 64, MATRIX = ROWS * COLS / 32 * 34, LIMIT = 1 << 20 };

static struct qn_device *dev;
static char folder[64], kept[80], model[80];

static void u32(struct qn_buf *b, uint32_t v)
{
    qn_buf_add(b, &v, 4);
}

static void u64(struct qn_buf *b, uint64_t v)
{
    qn_buf_add(b, &v, 8);
}

/* A GGUF with the Q8_0 matrices a and b; `fill` changes their codes. */
static void write_model(const char *path, int fill)
{
    struct qn_buf b;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "GGUF");
    u32(&b, 3);
    u64(&b, 2);
    u64(&b, 0);
    for (int i = 0; i < 2; i++) {
        u64(&b, 1);
        qn_buf_str(&b, i ? "b" : "a");
        u32(&b, 2);
        u64(&b, COLS);
        u64(&b, ROWS);
        u32(&b, 8);
        u64(&b, (uint64_t)i * (MATRIX + 31) / 32 * 32);
    }
    while (b.len % 32)
        qn_buf_char(&b, 0);
    for (int i = 0; i < 2 * MATRIX + 64; i++) /* scales stay finite: 0x2c.. */
        qn_buf_char(&b, (char)(0x20 + (i * 7 + fill) % 16));
    assert_int_equal(qn_file_write_atomic(path, b.data, b.len, 0600, NULL), QN_OK);
    qn_buf_deinit(&b);
}

struct loaded {
    struct qn_weights *w;
    struct qn_tensor t[2];
    int found; /* of the two matrices, taken from the kept file */
};

static struct loaded load(const char *path, int64_t limit)
{
    struct loaded l = {0};
    struct qn_error e;
    assert_int_equal(qn_weights_open(&l.w, path, &e), QN_OK);
    qn_weights_keep_in(l.w, dev, kept, limit, path);
    for (int i = 0; i < 2; i++) {
        if (qn_weights_get(l.w, dev, &l.t[i], &e, i ? "b" : "a") ||
            qn_weights_prepare(l.w, dev, &l.t[i], &e))
            fail_msg("%s", e.message);
        assert_int_not_equal(l.t[i].mem->layout, 0);
        l.found += !l.t[i].mem->owned;
    }
    return l;
}

/* Loads, writes what is new, closes; how many were found. */
static int round_of(const char *path, int64_t limit)
{
    struct loaded l = load(path, limit);
    qn_weights_keep(l.w);
    qn_weights_keep_wait(l.w);
    qn_weights_close(l.w);
    return l.found;
}

/* The files of the folder; the last one's path in out. */
static int files(char out[200])
{
    int n = 0;
    DIR *d = opendir(kept);
    for (struct dirent *x; d && (x = readdir(d));)
        if (x->d_name[0] != '.') {
            snprintf(out, 200, "%s/%.100s", kept, x->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

static void clear(void)
{
    char path[200];
    while (files(path) > 0)
        assert_int_equal(unlink(path), 0);
}

static void the_next_load_takes_them(void **state)
{
    struct stat st;
    char path[200];
    float x[COLS], y[2][ROWS];
    (void)state;
    clear();
    for (int i = 0; i < COLS; i++)
        x[i] = (float)(i % 7 - 3);
    for (int round = 0; round < 2; round++) {
        struct loaded l = load(model, LIMIT);
        assert_int_equal(l.found, 2 * round);
        struct qn_mem *mem = qn_mem_borrow(dev, x, sizeof x),
                      *out = qn_mem_borrow(dev, y, sizeof y);
        struct qn_tensor xt = qn_tensor_make(QN_F32, 2, (int64_t[]){1, COLS}, mem, 0);
        struct qn_tensor yt =
            qn_tensor_make(QN_F32, 2, (int64_t[]){1, ROWS}, out, (size_t)round * sizeof y[0]);
        qn_matmul(dev, &yt, &xt, &l.t[1]);
        qn_mem_free(mem);
        qn_mem_free(out);
        qn_weights_keep(l.w);
        qn_weights_keep_wait(l.w);
        qn_weights_close(l.w);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(files(path), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* The same bytes or others, written over in place under the old date. */
static void a_changed_model_is_another(void **state)
{
    struct stat st;
    char path[200];
    (void)state;
    clear();
    round_of(model, LIMIT);
    assert_int_equal(round_of(model, LIMIT), 2);
    assert_int_equal(stat(model, &st), 0);
    int fd = open(model, O_RDWR);
    assert_int_equal(pwrite(fd, "x", 1, st.st_size - 1), 1);
    assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
    close(fd);
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(round_of(model, LIMIT), 2); /* written anew */
    assert_int_equal(files(path), 1);
    write_model(model, 1);
    assert_int_equal(round_of(model, LIMIT), 0);
}

static void damage_is_not_used(void **state)
{
    char path[200], byte;
    (void)state;
    clear();
    round_of(model, LIMIT);
    files(path);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, 60), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 60), 1);
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(round_of(model, LIMIT), 2); /* mended */
    close(fd);
    files(path);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(chmod(path, 0666), 0); /* anybody could have written it */
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(model, path), 0);
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(round_of(model, LIMIT), 2); /* in the link's place */
}

/* x times the matrix i of the load. */
static void product(const struct loaded *l, int i, float y[ROWS])
{
    float x[COLS];
    for (int c = 0; c < COLS; c++)
        x[c] = (float)(c % 7 - 3);
    struct qn_mem *mem = qn_mem_borrow(dev, x, sizeof x),
                  *out = qn_mem_borrow(dev, y, ROWS * sizeof *y);
    struct qn_tensor xt = qn_tensor_make(QN_F32, 2, (int64_t[]){1, COLS}, mem, 0);
    struct qn_tensor yt = qn_tensor_make(QN_F32, 2, (int64_t[]){1, ROWS}, out, 0);
    qn_matmul(dev, &yt, &xt, &l->t[i]);
    qn_mem_free(mem);
    qn_mem_free(out);
}

/* n bytes of the file become 0xff (of a scale: no number) or, where they were, something else. */
static void spoil(const char *path, long at, int n)
{
    unsigned char bytes[4096];
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, bytes, (size_t)n, at), n);
    for (int i = 0; i < n; i++)
        bytes[i] = bytes[i] == 0xff ? 0x7e : 0xff;
    assert_int_equal(pwrite(fd, bytes, (size_t)n, at), n);
    close(fd);
}

/* Bytes flipped in either matrix, at its beginning and end, scales among them: the check finds it,
 * what is loaded is right again, and so is the file. */
static void damaged_weights_are_laid_out_anew(void **state)
{
    static const struct {
        long at; /* the matrices begin at 4096 and 8192 */
        int n;
        bool late; /* after the check in the background */
    } spots[] = {{4096, 1, false},
                 {4096 + MATRIX - 1, 1, false},
                 {8192 + 100, 3, false},
                 {4096, MATRIX, false},
                 {8192, MATRIX, true}};
    float right[2][ROWS], y[ROWS];
    char path[200];
    (void)state;
    clear();
    struct loaded l = load(model, LIMIT);
    for (int i = 0; i < 2; i++)
        product(&l, i, right[i]);
    qn_weights_keep(l.w);
    qn_weights_keep_wait(l.w);
    assert_false(qn_weights_mend(l.w, true));
    qn_weights_close(l.w);
    assert_int_equal(files(path), 1);
    for (size_t s = 0; s < sizeof spots / sizeof *spots; s++) {
        if (!spots[s].late)
            spoil(path, spots[s].at, spots[s].n);
        l = load(model, LIMIT);
        assert_int_equal(l.found, 2);
        assert_false(qn_weights_mend(l.w, false)); /* not known yet */
        qn_weights_keep(l.w);
        qn_weights_keep_wait(l.w);
        if (spots[s].late) {
            assert_false(qn_weights_mend(l.w, false));
            spoil(path, spots[s].at, spots[s].n);
            product(&l, 1, y);
            assert_memory_not_equal(y, right[1], sizeof y);
        } else {
            assert_int_equal(files(path), 0); /* no other process takes it */
        }
        assert_true(qn_weights_mend(l.w, spots[s].late));
        for (int i = 0; i < 2; i++) {
            product(&l, i, y);
            assert_memory_equal(y, right[i], sizeof y);
        }
        assert_false(qn_weights_mend(l.w, true));
        qn_weights_keep_wait(l.w);
        qn_weights_close(l.w);
        assert_int_equal(files(path), 1);
        l = load(model, LIMIT);
        assert_int_equal(l.found, 2);
        qn_weights_keep(l.w);
        qn_weights_keep_wait(l.w);
        assert_false(qn_weights_mend(l.w, true));
        qn_weights_close(l.w);
    }
}

static char unfinished[210], finished[200]; /* renamed when a writer asks for its lock */

/* In the system's place: between opening and locking, another process ends its write. */
int flock(int fd, int operation)
{
    if (unfinished[0])
        assert_int_equal(rename(unfinished, finished), 0);
    unfinished[0] = 0;
    return (int)syscall(SYS_flock, fd, operation);
}

static void a_file_in_use_is_not_written(void **state)
{
    char text[8] = {0};
    (void)state;
    clear();
    round_of(model, LIMIT);
    assert_int_equal(files(finished), 1);
    assert_int_equal(unlink(finished), 0);
    snprintf(unfinished, sizeof unfinished, "%s.new", finished);
    assert_int_equal(qn_file_write_atomic(unfinished, "live", 4, 0600, NULL), QN_OK);
    assert_int_equal(round_of(model, LIMIT), 0);
    assert_int_equal(unfinished[0], 0);
    int fd = open(finished, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 4);
    assert_string_equal(text, "live");
    close(fd);
}

static void what_was_used_longest_ago_goes(void **state)
{
    char second[90], third[90], path[200];
    struct stat st;
    (void)state;
    clear();
    snprintf(second, sizeof second, "%s.2", model);
    snprintf(third, sizeof third, "%s.3", model);
    write_model(second, 2);
    write_model(third, 3);
    round_of(model, LIMIT);
    files(path);
    assert_int_equal(stat(path, &st), 0);
    const struct timespec old[] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    round_of(second, LIMIT);
    assert_int_equal(files(path), 2);
    round_of(third, 2 * st.st_size); /* the first goes */
    assert_int_equal(files(path), 2);
    assert_int_equal(round_of(second, LIMIT), 2);
    assert_int_equal(round_of(third, LIMIT), 2);
    assert_int_equal(round_of(model, st.st_size - 1), 0); /* never more than the limit */
    assert_int_equal(files(path), 2);
    assert_int_equal(round_of(model, st.st_size), 0); /* room for it alone */
    assert_int_equal(files(path), 1);
    assert_int_equal(round_of(model, LIMIT), 2);
}

/* A write that never ended leaves a file without a lock. */
static void leftovers_go(void **state)
{
    char path[200], left[120];
    (void)state;
    clear();
    snprintf(left, sizeof left, "%s/0123456789abcdef.laid.new", kept);
    assert_int_equal(qn_file_write_atomic(left, "x", 1, 0600, NULL), QN_OK);
    round_of(model, LIMIT);
    assert_int_equal(files(path), 1);
    assert_string_not_equal(path, left);
}

/* Panels outlive the program that wrote them: if this fails, what cpu_pack_panel writes has
 * changed. Raise CPU_LAYOUTS (cpu/pack.h), then set the number to what is printed. */
static void a_changed_layout_has_another_number(void **state)
{
    enum { WIDTH = 512 };
    static unsigned char file[CPU_PANEL * WIDTH * 4], panel[CPU_PANEL * WIDTH * 4];
    uint32_t sum = 0;
    (void)state;
    for (size_t i = 0; i < sizeof file; i++)
        file[i] = (unsigned char)(i * 37 + i / 251);
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        if (qn_dtype(t)->block == 1)
            continue;
        cpu_pack_panel(t, panel, file, qn_dtype_bytes(qn_dtype(t), WIDTH), CPU_PANEL, WIDTH);
        sum = qn_crc32(sum, panel, cpu_panel_bytes(t, WIDTH));
    }
    if (CPU_LAYOUTS != 1 || sum != 0x044df996)
        fail_msg("layouts %d: 0x%08x", CPU_LAYOUTS, sum);
}

static void quiet(void *ctx, enum qn_log_level level, const char *tag, const char *line)
{
    (void)ctx, (void)level, (void)tag, (void)line;
}

static int setup(void **state)
{
    struct qn_error e;
    (void)state;
    qn_log_set_sink(quiet, NULL);
    strcpy(folder, "/tmp/quince-kept-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(kept, sizeof kept, "%s/weights", folder);
    snprintf(model, sizeof model, "%s/model.gguf", folder);
    write_model(model, 0);
    return qn_device_cpu_new(2, &dev, &e) != QN_OK;
}

static int teardown(void **state)
{
    char path[100];
    (void)state;
    clear();
    rmdir(kept);
    unlink(model);
    for (int i = 2; i <= 3; i++) {
        snprintf(path, sizeof path, "%s.%d", model, i);
        unlink(path);
    }
    qn_device_free(dev);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_load_takes_them),
        cmocka_unit_test(a_changed_model_is_another),
        cmocka_unit_test(damage_is_not_used),
        cmocka_unit_test(damaged_weights_are_laid_out_anew),
        cmocka_unit_test(a_file_in_use_is_not_written),
        cmocka_unit_test(what_was_used_longest_ago_goes),
        cmocka_unit_test(leftovers_go),
        cmocka_unit_test(a_changed_layout_has_another_number),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
