/* The store: what it writes has the public layout of Hugging Face's cache, names that step out are
 * refused, and what is taken out of it is exactly what nothing else needs and quince fetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/download.h"
#include "registry/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define LATER "89abcdef0123456789abcdef0123456789abcdef"
#define SUM "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define FOLDER "models--owner--some-repo"

static char dir[64];
static struct qn_store *store;

static int setup(void **state)
{
    (void)state;
    char cache[96], own[96];
    strcpy(dir, "/tmp/qn-store-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(cache, sizeof cache, "%s/hub", dir);
    snprintf(own, sizeof own, "%s/own", dir);
    store = qn_store_new(cache, own);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    qn_store_free(store);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static const char *in_cache(const char *below)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/hub/" FOLDER "%s%s", dir, *below ? "/" : "", below);
    return path;
}

static bool there(const char *below)
{
    struct stat st;
    return lstat(in_cache(below), &st) == 0;
}

static struct qn_store_spot spot(const char *commit, const char *path, const char *blob)
{
    struct qn_store_spot s = {.hub = QN_HUB_HF};
    strcpy(s.repo, "owner/some-repo");
    strcpy(s.commit, commit);
    strcpy(s.path, path);
    strcpy(s.blob, blob);
    return s;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* As a download would: bytes into the partial, then publish. */
static char *keep(const struct qn_store_spot *s, const char *text)
{
    char *partial, *path;
    struct qn_error e = {0};
    assert_int_equal(qn_store_partial(store, s, &partial, &e), QN_OK);
    write_file(partial, text);
    free(partial);
    if (qn_store_publish(store, s, NULL, &path, &e))
        fail_msg("%s", e.message);
    return path;
}

static void link_is(const char *below, const char *expected)
{
    char text[256];
    ssize_t n = readlink(in_cache(below), text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    assert_string_equal(text, expected);
}

static void file_is(const char *below, const char *expected)
{
    struct qn_buf text;
    qn_buf_init(&text, 4096);
    assert_int_equal(qn_file_read(in_cache(below), &text, NULL), QN_OK);
    assert_string_equal(qn_buf_cstr(&text), expected);
    qn_buf_deinit(&text);
}

static void the_cache_is_where_hugging_face_has_it(void **state)
{
    (void)state;
    static const struct {
        const char *env[4], *expected;
    } cases[] = {
        {{"HOME=/h", NULL}, "/h/.cache/huggingface/hub"},
        {{"HOME=/h", "XDG_CACHE_HOME=/x", NULL}, "/x/huggingface/hub"},
        {{"XDG_CACHE_HOME=/x", "HF_HOME=/f", "HOME=/h", NULL}, "/f/hub"},
        {{"HF_HOME=/f", "HF_HUB_CACHE=/c", NULL}, "/c"},
        {{"HF_HOME=/f", "HUGGINGFACE_HUB_CACHE=/d", NULL}, "/d"},
        {{"HF_HOME=~/f", "HOME=/h", NULL}, "/h/f/hub"},
        {{"HF_HOME=", "HOME=/h", NULL}, "/h/.cache/huggingface/hub"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = qn_store_hf_cache(cases[i].env);
        assert_string_equal(path, cases[i].expected);
        free(path);
    }
}

static void what_is_published_has_the_public_layout(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "sub/a.gguf", SUM);
    char *partial, *path, *found;
    int64_t size;
    assert_int_equal(qn_store_find(store, &s, &found, NULL, NULL), QN_ENOTFOUND);
    assert_false(qn_store_has_blob(store, &s, &size));
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    assert_string_equal(partial, in_cache("blobs/" SUM ".quince.incomplete"));
    free(partial);
    assert_true(there("snapshots"));
    assert_int_equal(qn_store_publish(store, &s, NULL, &path, NULL), QN_ENOTFOUND); /* no bytes */
    path = keep(&s, "hello");
    assert_string_equal(path, in_cache("snapshots/" COMMIT "/sub/a.gguf"));
    link_is("snapshots/" COMMIT "/sub/a.gguf", "../../../blobs/" SUM);
    file_is("snapshots/" COMMIT "/sub/a.gguf", "hello");
    file_is("blobs/" SUM, "hello");
    assert_false(there("blobs/" SUM ".quince.incomplete"));
    assert_int_equal(qn_store_find(store, &s, &found, &size, NULL), QN_OK);
    assert_string_equal(found, path);
    assert_int_equal(size, 5);
    free(found);
    assert_true(qn_store_fetched(store, path));
    assert_int_equal(qn_store_set_ref(store, QN_HUB_HF, s.repo, "main", COMMIT, NULL), QN_OK);
    assert_int_equal(qn_store_set_ref(store, QN_HUB_HF, s.repo, "refs/pr/1", COMMIT, NULL), QN_OK);
    file_is("refs/main", COMMIT);
    file_is("refs/refs/pr/1", COMMIT);
    free(path);
    /* The next revision has the same bytes: nothing is fetched, both lead to one blob. */
    s = spot(LATER, "a.gguf", SUM);
    assert_true(qn_store_has_blob(store, &s, &size));
    assert_int_equal(qn_store_publish(store, &s, NULL, NULL, NULL), QN_OK);
    link_is("snapshots/" LATER "/a.gguf", "../../blobs/" SUM);
    /* A sum that was not known before. */
    s = spot(LATER, "b.gguf", "");
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "other");
    assert_int_equal(qn_store_publish(store, &s, OTHER, NULL, NULL), QN_OK);
    link_is("snapshots/" LATER "/b.gguf", "../../blobs/" OTHER);
    assert_int_equal(access(partial, F_OK), -1);
    free(partial);
}

static void a_blob_of_another_program_stays_as_it_is(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *partial, *path;
    struct stat before, after;
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "hello");
    write_file(in_cache("blobs/" SUM), "hello"); /* huggingface_hub was faster */
    assert_int_equal(stat(in_cache("blobs/" SUM), &before), 0);
    assert_int_equal(qn_store_publish(store, &s, NULL, &path, NULL), QN_OK);
    assert_int_equal(stat(in_cache("blobs/" SUM), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(access(partial, F_OK), -1);
    assert_false(qn_store_fetched(store, path));
    struct qn_store_freed freed = {0};
    assert_int_equal(qn_store_remove(store, (const char *[]){path}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.files, 0);
    assert_int_equal(freed.kept, 1);
    file_is("snapshots/" COMMIT "/a.gguf", "hello");
    free(partial);
    free(path);
}

static void names_that_step_out_are_refused(void **state)
{
    (void)state;
    static const char *const repos[] = {"",     "x",      "a/b/c",  "../b",  "a/..",
                                        "a/.b", "a--b/c", "a/b--c", "a b/c", "-a/b"};
    static const char *const paths[] = {"",    "/etc/x", "../x", "a/../x", "a//b",
                                        "./x", "a/",     "a\\b", "a\nb",   "\xff.gguf"};
    static const char *const commits[] = {"", "..", ".a", "a/b", "a b", "-x"};
    static const char *const sums[] = {"abc", "../" SUM, SUM "a", "A" COMMIT};
    char *path;
    struct qn_store_spot s;
    for (size_t i = 0; i < sizeof repos / sizeof *repos; i++) {
        s = spot(COMMIT, "a", SUM);
        strcpy(s.repo, repos[i]);
        assert_int_equal(qn_store_partial(store, &s, &path, NULL), QN_EINVAL);
        assert_int_equal(qn_store_set_ref(store, QN_HUB_HF, repos[i], "main", COMMIT, NULL),
                         QN_EINVAL);
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        s = spot(COMMIT, paths[i], SUM);
        assert_int_equal(qn_store_publish(store, &s, NULL, &path, NULL), QN_EINVAL);
        assert_int_equal(qn_store_find(store, &s, &path, NULL, NULL), QN_EINVAL);
        assert_int_equal(
            qn_store_set_ref(store, QN_HUB_HF, "owner/some-repo", paths[i], COMMIT, NULL),
            QN_EINVAL);
    }
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        s = spot(commits[i], "a", SUM);
        assert_int_equal(qn_store_partial(store, &s, &path, NULL), QN_EINVAL);
    }
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        s = spot(COMMIT, "a", "");
        assert_int_equal(qn_store_publish(store, &s, sums[i], &path, NULL), QN_EINVAL);
    }
    assert_false(there(""));
}

/* A hostile program (or an archive unpacked into the cache) put links there. */
static void links_are_never_followed_out(void **state)
{
    (void)state;
    char outside[96], text[128], *path;
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    snprintf(outside, sizeof outside, "%s/outside", dir);
    assert_int_equal(mkdir(outside, 0755), 0);
    snprintf(text, sizeof text, "%s/secret", outside);
    write_file(text, "secret");
    free(keep(&s, "hello"));
    assert_int_equal(symlink(text, in_cache("snapshots/" COMMIT "/b.gguf")), 0);
    s = spot(COMMIT, "b.gguf", "");
    assert_int_equal(qn_store_find(store, &s, &path, NULL, NULL), QN_ENOTFOUND);
    assert_int_equal(symlink(outside, in_cache("snapshots/" LATER)), 0);
    s = spot(LATER, "c.gguf", SUM);
    assert_int_equal(qn_store_publish(store, &s, NULL, &path, NULL), QN_EIO);
    struct qn_repo *repo;
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "", 0, &repo, NULL), QN_OK);
    assert_int_equal(repo->n, 1);
    assert_string_equal(repo->files[0].path, "a.gguf");
    qn_arena_free(repo->arena);
    struct qn_store_freed freed = {0};
    char *link = qn_xstrdup(in_cache("snapshots/" COMMIT "/b.gguf"));
    assert_int_equal(qn_store_remove(store, (const char *[]){link, text}, 2, &freed, NULL), QN_OK);
    assert_int_equal(freed.kept, 2);
    assert_int_equal(access(text, F_OK), 0);
    free(link);
}

static bool count_repo(void *ctx, const char *repo)
{
    assert_string_equal(repo, "owner/some-repo");
    (*(int *)ctx)++;
    return true;
}

static void the_cache_is_read_without_asking_anybody(void **state)
{
    (void)state;
    struct qn_repo *repo;
    struct qn_error e = {0};
    int n = 0;
    assert_int_equal(qn_store_each(store, QN_HUB_HF, count_repo, &n, &e), QN_OK);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, "owner/some-repo", "", 0, &repo, &e),
                     QN_ENOTFOUND);
    struct qn_store_spot s = spot(COMMIT, "sub/a.gguf", SUM);
    free(keep(&s, "hello"));
    s = spot(COMMIT, "readme", COMMIT); /* a small file is named by git's sum */
    free(keep(&s, "x"));
    s = spot(LATER, "a.gguf", OTHER);
    free(keep(&s, "later"));
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, in_cache("snapshots/" COMMIT), old, 0), 0);
    qn_store_set_ref(store, QN_HUB_HF, s.repo, "main", COMMIT, NULL);
    unlink(in_cache("blobs/" OTHER)); /* a dangling link is no file */
    assert_int_equal(qn_store_each(store, QN_HUB_HF, count_repo, &n, &e), QN_OK);
    assert_int_equal(n, 1);

    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "", 0, &repo, &e), QN_OK);
    assert_string_equal(repo->commit, COMMIT);
    assert_string_equal(repo->revision, "main");
    assert_int_equal(repo->n, 2);
    assert_string_equal(repo->files[0].path, "readme");
    assert_string_equal(repo->files[0].git_sha1, COMMIT);
    assert_string_equal(repo->files[0].sha256, "");
    assert_string_equal(repo->files[1].path, "sub/a.gguf");
    assert_string_equal(repo->files[1].sha256, SUM);
    assert_string_equal(repo->files[1].url, in_cache("snapshots/" COMMIT "/sub/a.gguf"));
    assert_int_equal(repo->files[1].size_bytes, 5);
    qn_arena_free(repo->arena);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "", 1, &repo, &e), QN_OK);
    assert_string_equal(repo->commit, LATER);
    assert_int_equal(repo->n, 0);
    qn_arena_free(repo->arena);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "", 2, &repo, &e), QN_ENOTFOUND);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "main", 1, &repo, &e), QN_ENOTFOUND);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, LATER, 0, &repo, &e), QN_OK);
    qn_arena_free(repo->arena);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, s.repo, "../x", 0, &repo, &e), QN_EINVAL);
}

static void deletion_frees_what_nothing_else_uses(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "sub/a.gguf", SUM);
    char *a = keep(&s, "hello");
    s = spot(LATER, "a.gguf", SUM);
    char *again;
    assert_int_equal(qn_store_publish(store, &s, NULL, &again, NULL), QN_OK);
    s = spot(COMMIT, "b.gguf", OTHER);
    char *b = keep(&s, "b");
    qn_store_set_ref(store, QN_HUB_HF, s.repo, "main", LATER, NULL);
    qn_store_set_ref(store, QN_HUB_HF, s.repo, "refs/pr/1", COMMIT, NULL);

    struct qn_store_freed freed = {0};
    assert_int_equal(qn_store_remove(store, (const char *[]){a}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.files, 0); /* the later revision has the same bytes */
    assert_int_equal(freed.kept, 1);
    assert_false(there("snapshots/" COMMIT "/sub"));
    file_is("snapshots/" LATER "/a.gguf", "hello");
    file_is("snapshots/" COMMIT "/b.gguf", "b");

    freed = (struct qn_store_freed){0};
    assert_int_equal(qn_store_remove(store, (const char *[]){again, a}, 2, &freed, NULL), QN_OK);
    assert_int_equal(freed.files, 1);
    assert_int_equal(freed.size_bytes, 5);
    assert_int_equal(freed.kept, 0);
    assert_false(there("blobs/" SUM));
    assert_false(there(".quince/" SUM));
    assert_false(there("snapshots/" LATER));
    assert_false(there("refs/main"));
    assert_true(there("refs/refs/pr/1"));

    freed = (struct qn_store_freed){0};
    assert_int_equal(qn_store_remove(store, (const char *[]){b}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.size_bytes, 1);
    assert_false(there(""));
    free(a);
    free(again);
    free(b);
}

static void a_blob_stays_where_not_every_snapshot_can_be_looked_at(void **state)
{
    (void)state;
    /* As huggingface_hub links a file that lies deeper than this store makes them. */
    char deep[256], text[256], *up = text;
    struct qn_store_freed freed = {0};
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *a = keep(&s, "hello");
    int n = snprintf(deep, sizeof deep, "snapshots/" LATER);
    for (int i = 0; i < 20; i++) {
        n += snprintf(deep + n, sizeof deep - (size_t)n, "/d");
        up = stpcpy(up, "../");
    }
    assert_int_equal(qn_mkdirs(in_cache(deep), 0755, NULL), QN_OK);
    snprintf(deep + n, sizeof deep - (size_t)n, "/a.gguf");
    strcpy(up, "../../blobs/" SUM);
    assert_int_equal(symlink(text, in_cache(deep)), 0);
    file_is(deep, "hello");
    assert_int_equal(qn_store_remove(store, (const char *[]){a}, 1, &freed, NULL), QN_OK);
    file_is(deep, "hello");
    assert_int_equal(freed.files, 0);
    assert_int_equal(freed.kept, 1);
    free(a);
}

static void what_others_fetched_again_is_theirs(void **state)
{
    (void)state;
    struct qn_store_freed freed = {0};
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    struct timespec later[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    char *a = keep(&s, "hello");
    assert_true(qn_store_fetched(store, a));
    /* Another program's clean-up takes the blob, and its user fetches it again. */
    assert_int_equal(unlink(in_cache("blobs/" SUM)), 0);
    usleep(20000);
    write_file(in_cache("blobs/" SUM), "hello");
    assert_int_equal(utimensat(AT_FDCWD, in_cache("blobs/" SUM), later, 0), 0);
    assert_false(qn_store_fetched(store, a));
    assert_int_equal(qn_store_remove(store, (const char *[]){a}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.kept, 1);
    file_is("blobs/" SUM, "hello");
    free(a);
}

static void a_whole_blob_is_not_replaced_by_a_partial(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *partial, *path;
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, ""); /* a download that never got a byte */
    write_file(in_cache("blobs/" SUM), "hello");
    assert_int_equal(qn_store_publish(store, &s, NULL, &path, NULL), QN_OK);
    file_is("blobs/" SUM, "hello");
    file_is("snapshots/" COMMIT "/a.gguf", "hello");
    assert_false(qn_store_fetched(store, path));
    assert_false(there("blobs/" SUM ".quince.incomplete"));
    free(partial);
    free(path);
}

/* What happens between the opening of a partial and its lock. */
static char moved_from[512], moved_to[512];

int flock(int fd, int operation)
{
    if (*moved_from) {
        assert_int_equal(rename(moved_from, moved_to), 0);
        *moved_from = '\0';
    }
    return (int)syscall(SYS_flock, fd, operation);
}

static void a_file_that_was_finished_meanwhile_is_not_begun_anew(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *partial;
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "hello");
    snprintf(moved_to, sizeof moved_to, "%s", in_cache("blobs/" SUM));
    snprintf(moved_from, sizeof moved_from, "%s", partial);
    struct qn_web web = {.allow_private = true, .retries = -1};
    struct qn_fetch_file file = {.url = "http://127.0.0.1:1/a", .partial = partial};
    assert_int_equal(qn_fetch_run(&web, &file, 1, NULL, NULL), QN_EBUSY);
    file_is("blobs/" SUM, "hello");
    free(partial);
}

static void what_another_server_fetches_is_not_discarded(void **state)
{
    (void)state;
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *partial;
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "hel");
    int fd = open(partial, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    qn_fetch_discard(partial);
    assert_true(qn_file_exists(partial));
    close(fd);
    qn_fetch_discard(partial);
    assert_false(qn_file_exists(partial));
    free(partial);
}

struct waste {
    int n[4];
    int64_t size_bytes;
    char last[512];
};

static void count_waste(void *ctx, enum qn_store_waste what, const char *path, int64_t size_bytes)
{
    struct waste *w = ctx;
    w->n[what]++;
    if (what != QN_WASTE_PARTIAL)
        w->size_bytes += size_bytes;
    snprintf(w->last, sizeof w->last, "%s", path);
}

static bool wants_the_other(void *ctx, const char *partial)
{
    (void)ctx;
    return strstr(partial, OTHER) != NULL;
}

static void a_clean_up_takes_what_was_left_behind(void **state)
{
    (void)state;
    struct waste w = {.size_bytes = 0};
    struct qn_store_cleaner c = {
        .ctx = &w, .dry = true, .wanted = wants_the_other, .found = count_waste};
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK); /* no folder yet */
    struct qn_store_spot s = spot(COMMIT, "a.gguf", SUM);
    char *partial, name[600];
    free(keep(&s, "hello"));
    s = spot(COMMIT, "b.gguf", "");
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "b");                              /* no job */
    snprintf(name, sizeof name, "%s.ranges.new", partial); /* a kill left it */
    write_file(name, "r");
    snprintf(name, sizeof name, "%s.ranges", partial);
    write_file(name, "r");
    free(partial);
    s = spot(COMMIT, "c.gguf", OTHER);
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    write_file(partial, "c"); /* has a job */
    write_file(in_cache("blobs/" OTHER ".incomplete"), "theirs");
    write_file(in_cache("blobs/" COMMIT), "theirs"); /* not linked, but not ours */
    unlink(in_cache("snapshots/" COMMIT "/a.gguf"));

    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(w.n[QN_WASTE_PARTIAL], 3);
    assert_int_equal(w.n[QN_WASTE_BLOB], 1);
    assert_int_equal(w.n[QN_WASTE_FOLDER], 1);
    assert_int_equal(w.size_bytes, 5);
    assert_true(there("blobs/" SUM)); /* it was only asked */
    assert_true(there("snapshots/" COMMIT));
    c.dry = false;
    c.grace_s = QN_STORE_GRACE_S;
    w = (struct waste){.size_bytes = 0};
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(w.n[0] + w.n[1] + w.n[2], 0); /* all of it is too young */
    c.grace_s = 0;
    name[strlen(name) - strlen(".ranges")] = '\0';
    int fd = open(name, O_RDONLY); /* another server is fetching it */
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    w = (struct waste){.size_bytes = 0};
    c.dry = true;
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(w.n[QN_WASTE_PARTIAL], 0);
    close(fd);
    c.dry = false;
    w = (struct waste){.size_bytes = 0};
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(w.n[QN_WASTE_PARTIAL], 3);
    assert_false(there("blobs/" SUM));
    assert_false(there(".quince/" SUM));
    assert_false(there("snapshots/" COMMIT));
    assert_true(there("blobs/" OTHER ".quince.incomplete"));
    assert_true(there("blobs/" OTHER ".incomplete"));
    assert_true(there("blobs/" COMMIT));
    free(partial);
}

static bool uses_sum(void *ctx, const char *folder)
{
    (void)ctx;
    return strstr(folder, SUM) != NULL;
}

static void a_clean_up_looks_into_unpacked_archives(void **state)
{
    (void)state;
    struct waste w = {.size_bytes = 0};
    struct qn_store_cleaner c = {.ctx = &w, .dry = true, .used = uses_sum, .found = count_waste};
    char *used, *left, command[512], file[300];
    assert_int_equal(qn_store_unpacked(store, SUM, &used, NULL), QN_OK);
    assert_int_equal(qn_store_unpacked(store, OTHER, &left, NULL), QN_OK);
    snprintf(command, sizeof command, "mkdir -p %s/a %s/a/b %s/../not-a-sum", used, left, left);
    assert_int_equal(system(command), 0);
    snprintf(file, sizeof file, "%s/a/b/m.gguf", left);
    write_file(file, "hello");
    snprintf(file, sizeof file, "%s/n.txt", left);
    write_file(file, "you");
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(w.n[QN_WASTE_UNPACKED], 1);
    assert_int_equal(w.size_bytes, 8);
    assert_int_equal(access(file, F_OK), 0); /* it was only asked */
    c.dry = false;
    c.grace_s = QN_STORE_GRACE_S; /* it may be about to become a model */
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(access(file, F_OK), 0);
    c.grace_s = 0;
    assert_int_equal(qn_store_clean(store, &c, NULL), QN_OK);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(used, F_OK), 0);
    snprintf(file, sizeof file, "%s/../not-a-sum", used);
    assert_int_equal(access(file, F_OK), 0);
    free(used);
    free(left);
}

static void other_hubs_have_folders_of_their_own(void **state)
{
    (void)state;
    struct qn_repo_file file = {.path = "m.gguf", .url = "https://example.org/x/M%20odel.gguf?a=b"};
    struct qn_repo repo = {.hub = QN_HUB_URL, .id = "M odel.gguf", .files = &file, .n = 1};
    struct qn_store_spot s;
    char *partial, *path, expected[256];
    assert_int_equal(qn_store_spot(&repo, &file, &s, NULL), QN_OK);
    assert_int_equal(strlen(s.commit), 64);
    assert_true(qn_str_starts(s.repo, "M_odel.gguf/"));
    assert_int_equal(qn_store_partial(store, &s, &partial, NULL), QN_OK);
    snprintf(expected, sizeof expected, "%s/own/url/models--M_odel.gguf--", dir);
    assert_true(qn_str_starts(partial, expected));
    write_file(partial, "u");
    assert_int_equal(qn_store_publish(store, &s, SUM, &path, NULL), QN_OK);
    assert_true(qn_store_fetched(store, path));
    free(partial);
    free(path);
    repo = (struct qn_repo){
        .hub = QN_HUB_MODELSCOPE, .id = "a--b/c", .files = &file, .n = 1, .commit = COMMIT};
    assert_int_equal(qn_store_spot(&repo, &file, &s, NULL), QN_OK);
    repo.hub = QN_HUB_HF;
    assert_int_equal(qn_store_spot(&repo, &file, &s, NULL), QN_EINVAL);
}

static void what_was_unpacked_goes_as_it_is(void **state)
{
    (void)state;
    char *folder, command[256], file[256];
    struct qn_store_freed freed = {0};
    assert_int_equal(qn_store_unpacked(store, "../x", &folder, NULL), QN_EINVAL);
    assert_int_equal(qn_store_unpacked(store, SUM, &folder, NULL), QN_OK);
    snprintf(command, sizeof command, "mkdir -p %s/a/b %s/c", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(file, sizeof file, "%s/a/b/m.gguf", folder);
    write_file(file, "hello");
    assert_int_equal(qn_store_remove(store, (const char *[]){file}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.files, 1);
    assert_int_equal(freed.size_bytes, 5);
    snprintf(file, sizeof file, "%s/a", folder);
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(access(folder, F_OK), 0); /* c is empty, but not this repository's */
    snprintf(file, sizeof file, "%s/../../hub/x", folder);
    assert_int_equal(qn_store_remove(store, (const char *[]){file}, 1, &freed, NULL), QN_OK);
    assert_int_equal(freed.kept, 1);
    free(folder);
}

/* Renames elsewhere on the machine: the kernel then cannot tell whether ".." stayed below a folder.
 */
struct renaming {
    atomic_bool stop;
    char one[96], other[96];
};

static void *rename_all_the_time(void *arg)
{
    struct renaming *r = arg;
    while (!atomic_load(&r->stop))
        if (rename(r->one, r->other) || rename(r->other, r->one))
            break;
    return NULL;
}

static void renames_elsewhere_hide_nothing(void **state)
{
    (void)state;
    enum { THREADS = 2, ROUNDS = 20000 };
    struct renaming r[THREADS];
    pthread_t threads[THREADS];
    struct qn_store_spot s = spot(COMMIT, "sub/a.gguf", SUM);
    size_t missed = 0;
    free(keep(&s, "bytes"));
    for (size_t i = 0; i < THREADS; i++) {
        atomic_init(&r[i].stop, false);
        snprintf(r[i].one, sizeof r[i].one, "%s/one-%zu", dir, i);
        snprintf(r[i].other, sizeof r[i].other, "%s/other-%zu", dir, i);
        assert_int_equal(mkdir(r[i].one, 0700), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, rename_all_the_time, &r[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        char *path = NULL;
        int64_t size = 0;
        if (qn_store_find(store, &s, &path, &size, NULL) || size != 5)
            missed++;
        free(path);
    }
    for (size_t i = 0; i < THREADS; i++) {
        atomic_store(&r[i].stop, true);
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_cache_is_where_hugging_face_has_it),
        CASE(what_is_published_has_the_public_layout),
        CASE(a_blob_of_another_program_stays_as_it_is),
        CASE(names_that_step_out_are_refused),
        CASE(links_are_never_followed_out),
        CASE(the_cache_is_read_without_asking_anybody),
        CASE(deletion_frees_what_nothing_else_uses),
        CASE(a_blob_stays_where_not_every_snapshot_can_be_looked_at),
        CASE(what_others_fetched_again_is_theirs),
        CASE(what_another_server_fetches_is_not_discarded),
        CASE(a_whole_blob_is_not_replaced_by_a_partial),
        CASE(a_file_that_was_finished_meanwhile_is_not_begun_anew),
        CASE(a_clean_up_takes_what_was_left_behind),
        CASE(a_clean_up_looks_into_unpacked_archives),
        CASE(what_was_unpacked_goes_as_it_is),
        CASE(renames_elsewhere_hide_nothing),
        CASE(other_hubs_have_folders_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
