/* router/models/inventory.c without a process: who is refused, with what words, and that leases may
 * be given back at any moment. The children it owns are tested by tests/http/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "models/inventory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t MIB = 1024 * 1024;

static char dir[64];
static struct qn_loop *loop;
static struct qn_catalog *catalog;
static struct qn_http_client *client;
static struct qn_inventory *inv;
static int64_t free_bytes;

struct asker {
    struct qn_lease *lease, *drop; /* drop: given back when this one hears */
    int heard;
    qn_err code;
    char message[QN_ERROR_MESSAGE_MAX];
};

static int64_t told_free(void)
{
    return free_bytes;
}

static void post(void *ctx, void (*fn)(void *), void *arg)
{
    qn_loop_post(ctx, fn, arg);
}

static void put_with(const char *name, int64_t size_bytes, const char *options, const char *details)
{
    char path[96];
    snprintf(path, sizeof path, "%s/file.gguf", dir);
    const char *files[] = {path};
    struct qn_model_row row = {
        .name = name,
        .type = "llm",
        .recipe = "llamacpp",
        .checkpoint = files[0],
        .files = files,
        .n_files = 1,
        .size_bytes = size_bytes,
        .labels = "[]",
        .details = details,
        .options = options,
    };
    qn_catalog_put(catalog, &row, NULL, NULL);
}

static void put(const char *name, int64_t size_bytes, const char *options)
{
    put_with(name, size_bytes, options, "{}");
}

static const char *backends = "/nonexistent";

static void open_inventory(int64_t memory_bytes, int64_t queue_limit)
{
    struct qn_inventory_config config = {
        .backend_dir = backends,
        .max_loaded = {{1, 1, 1, 1, 1, 1}},
        .memory_bytes = memory_bytes,
        .free_memory = told_free,
        .threads = 1,
        .queue_limit = queue_limit,
        .max_queue = -1,
    };
    assert_int_equal(qn_inventory_new(loop, catalog, client, &config, &inv, NULL), QN_OK);
}

static int setup(void **state)
{
    (void)state;
    char path[96];
    strcpy(dir, "/tmp/quince-inventory-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/catalog.db", dir);
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    assert_int_equal(qn_catalog_open(path, post, loop, &catalog, NULL), QN_OK);
    qn_http_client_new(loop, &client);
    snprintf(path, sizeof path, "%s/file.gguf", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    put("user.small", 10 * MIB, "{}");
    put("user.large", 8000 * MIB, "{}");
    put("user.deep", 10 * MIB, "{\"ctx_size\":100000}"); /* 6 GiB of keys and values */
    qn_catalog_flush(catalog);
    free_bytes = INT64_MAX / 4;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_inventory_free(inv);
    inv = NULL;
    backends = "/nonexistent";
    qn_http_client_free(client);
    qn_catalog_close(catalog);
    qn_loop_free(loop);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    return 0;
}

static void on_lease(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    a->heard++;
    a->code = e ? e->code : QN_OK;
    snprintf(a->message, sizeof a->message, "%s", e ? e->message : "");
    if (e)
        a->lease = NULL;
    if (a->drop)
        qn_lease_release(a->drop);
}

static void ask(struct asker *a, const char *name, const struct qn_load_options *options)
{
    struct qn_error e = {0};
    assert_int_equal(qn_inventory_acquire(inv, name, options, "", on_lease, a, &a->lease, &e),
                     QN_OK);
    assert_int_equal(a->heard, 0); /* never from within */
}

static void stop(void *ctx)
{
    qn_loop_stop(ctx);
}

static void run_for(int64_t ms)
{
    struct qn_timer *t = qn_timer_start(loop, ms, 0, stop, loop);
    qn_loop_run(loop);
    qn_timer_stop(t);
}

/* A busy machine may take its time. */
static void until_heard(const struct asker *a)
{
    while (!a->heard)
        run_for(5);
}

static void a_model_over_the_limit_is_refused_with_advice(void **state)
{
    (void)state;
    struct asker a = {0};
    open_inventory(4000 * MIB, 10);
    ask(&a, "user.large", NULL);
    until_heard(&a);
    assert_int_equal(a.heard, 1);
    assert_int_equal(a.code, QN_ENOMEM);
    assert_non_null(strstr(a.message, "4000 MiB"));
    assert_non_null(strstr(a.message, "smaller"));
    assert_non_null(strstr(a.message, "memory-limit"));
}

static void what_is_free_counts(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0};
    open_inventory(100000 * MIB, 10);
    free_bytes = 2000 * MIB;
    ask(&a, "user.large", NULL);
    until_heard(&a);
    assert_int_equal(a.code, QN_ENOMEM);
    assert_non_null(strstr(a.message, "2000 MiB"));
    free_bytes = -1; /* a system that does not say: the limit alone; and the program is not there */
    ask(&b, "user.large", NULL);
    until_heard(&b);
    assert_int_equal(b.heard, 1);
    assert_int_not_equal(b.code, QN_OK);
    assert_int_not_equal(b.code, QN_ENOMEM);
}

/* A model's process that never says that it is ready. */
static void be_a_backend(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/quince-llm", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#!/bin/sh\nexec sleep 1000\n", f);
    assert_int_equal(fchmod(fileno(f), 0755), 0);
    fclose(f);
    backends = dir;
}

static const char *state_of(const char *name)
{
    struct qn_loaded all[4];
    size_t n = qn_inventory_loaded(inv, all, 4);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return all[i].state;
    return "none";
}

static void until(const char *name, const char *state)
{
    while (strcmp(state_of(name), state) != 0)
        run_for(5);
}

/* What a loading model has taken already is missing from what is free, and it is unknown how much
 * that is: the answer comes when it has settled. */
static void what_a_loading_model_has_taken_refuses_no_load(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0}, c = {0};
    struct qn_error e = {0};
    be_a_backend();
    open_inventory(20000 * MIB, 10);
    qn_catalog_flush(catalog);
    free_bytes = 10000 * MIB;
    ask(&a, "user.large", NULL);
    until("user.large", "loading");
    free_bytes = 4000 * MIB; /* half of it is there */
    put("user.other", 8000 * MIB, "{}");
    put("user.huge", 30000 * MIB, "{}");
    qn_catalog_flush(catalog);
    ask(&b, "user.other", NULL);
    ask(&c, "user.huge", NULL);
    until_heard(&c);
    assert_int_equal(c.heard, 1); /* larger than the limit: nothing would help */
    assert_int_equal(c.code, QN_ENOMEM);
    assert_int_equal(b.heard, 0);
    assert_string_equal(state_of("user.other"), "queued");
    assert_int_equal(qn_inventory_unload(inv, "user.large", NULL, NULL, &e), QN_OK);
    free_bytes = 10000 * MIB;
    until("user.other", "loading");
    assert_int_equal(b.heard, 0);
    qn_lease_release(b.lease);
    assert_int_equal(a.code, QN_ECANCELLED);
}

/* A model's process that is ready with any context but 5000, for which it says that it fails.
 * then_hangs: after that every process loads for ever. */
static void be_a_backend_that_refuses(bool then_hangs)
{
    char path[96];
    snprintf(path, sizeof path, "%s/quince-llm", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "#!/bin/sh\n"
        "read -r load <&4\n"
        "if [ -e \"$0.hangs\" ]; then exec sleep 1000; fi\n"
        "case \"$load\" in *'\"context\":5000,'*)\n"
        "  echo '{\"msg\":\"failed\",\"error\":{\"code\":\"format\",\"message\":\"so deep it is "
        "broken\"}}' >&4\n"
        "  %s; exit 1\n"
        "esac\n"
        "echo '{\"msg\":\"ready\",\"context\":300,\"memory_bytes\":1048576,\"slots\":1}' >&4\n"
        "while read -r line <&4; do\n"
        "  case \"$line\" in *'\"stop\"'*) exit 0; esac\n"
        "done\n",
        then_hangs ? "touch \"$0.hangs\"" : "true");
    assert_int_equal(fchmod(fileno(f), 0755), 0);
    fclose(f);
    backends = dir;
}

static struct qn_loaded loaded(const char *name)
{
    struct qn_loaded all[4];
    size_t n = qn_inventory_loaded(inv, all, 4);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return all[i];
    fail_msg("%s is not loaded", name);
    return all[0];
}

/* The process with the context of 300 comes back with the stay that a request had given it, and the
 * second request for 5000 leaves it alone. */
static void what_ran_before_a_failed_load_comes_back(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0}, c = {0}, d = {0};
    struct qn_load_options little = {.context = 300}, much = {.context = 5000};
    be_a_backend_that_refuses(false);
    open_inventory(-1, 1);
    ask(&a, "user.small", &little);
    until_heard(&a);
    assert_int_equal(a.code, QN_OK);
    qn_lease_keep(a.lease, 3600 * 1000);
    qn_lease_release(a.lease);
    run_for(5);
    pid_t first = loaded("user.small").status.pid;
    ask(&b, "user.small", &much);
    until_heard(&b);
    assert_int_equal(b.code, QN_EFORMAT);
    assert_string_equal(b.message, "so deep it is broken");
    until("user.small", "ready");
    run_for(5);
    pid_t back = loaded("user.small").status.pid;
    assert_int_not_equal(back, first);
    assert_int_equal(loaded("user.small").status.context, 300);
    assert_in_range(loaded("user.small").stays_ms, 3000 * 1000, 3600 * 1000);
    assert_int_equal(loaded("user.small").waiting + loaded("user.small").holders, 0);
    ask(&c, "user.small", &much);
    until_heard(&c);
    assert_int_equal(c.code, QN_EFORMAT);
    assert_ptr_equal(strstr(c.message, "so deep it is broken"), c.message);
    assert_non_null(strstr(c.message, "`quince load user.small` tries"));
    assert_int_equal(loaded("user.small").status.pid, back);
    much.anew = true;
    ask(&d, "user.small", &much);
    until_heard(&d);
    assert_int_equal(d.code, QN_EFORMAT);
    until("user.small", "ready");
    assert_int_not_equal(loaded("user.small").status.pid, back);
}

static void an_inventory_may_end_while_a_model_comes_back(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0};
    struct qn_load_options little = {.context = 300}, much = {.context = 5000};
    be_a_backend_that_refuses(true);
    open_inventory(-1, 1);
    ask(&a, "user.small", &little);
    until_heard(&a);
    qn_lease_release(a.lease);
    ask(&b, "user.small", &much);
    until_heard(&b);
    until("user.small", "loading");
}

static qn_err check_files(const char *options, struct qn_error *e)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(options, strlen(options), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref lora = qn_json_get(&root, "lora"), it;
    struct qn_buf file;
    const char *draft;
    qn_buf_init(&file, 256);
    *e = (struct qn_error){0};
    qn_err err = qn_inventory_draft(inv, &root, &draft, &file, e);
    if (!err && draft)
        err = qn_inventory_check_file(draft, qn_buf_cstr(&file), e);
    bool more = qn_json_type(&lora) == QN_JSON_ARRAY && qn_json_first(&lora, &it);
    for (; more && !err; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        err = qn_inventory_check_file(NULL, qn_json_raw_str(&path), e);
    }
    qn_buf_deinit(&file);
    qn_json_free(doc);
    return err;
}

/* From now on every process of be_a_backend_that_refuses loads for ever. */
static void processes_hang(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/quince-llm.hangs", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void admit(struct asker *a, const char *name, struct qn_admission *admission)
{
    struct qn_error e = {0};
    *admission = (struct qn_admission){.client = "c", .owner = "o", .slots = 1, .max_queue = -1};
    assert_int_equal(qn_inventory_admit(inv, name, NULL, admission, on_lease, a, &a->lease, &e),
                     QN_OK);
}

/* A load that was asked for itself goes on without its client; a restart after a crash belongs to
 * the requests that wait for it, and is cancelled when they have gone. */
static void an_order_ends_with_its_load(void **state)
{
    (void)state;
    enum { CANCELLED_MS = 12 * 1000 }; /* before the process is killed for its silence */
    struct asker order = {0}, busy = {0}, waiting = {0};
    struct qn_admission first, second;
    be_a_backend_that_refuses(false);
    open_inventory(-1, 10);
    ask(&order, "user.small", NULL);
    until_heard(&order);
    assert_int_equal(order.code, QN_OK);
    qn_lease_release(order.lease);
    admit(&busy, "user.small", &first);
    until_heard(&busy);
    admit(&waiting, "user.small", &second); /* the model has one slot */
    run_for(5);
    processes_hang();
    assert_int_equal(kill(loaded("user.small").status.pid, SIGKILL), 0);
    until("user.small", "loading");
    assert_int_equal(waiting.heard, 0);
    qn_lease_release(busy.lease);
    qn_lease_release(waiting.lease);
    for (int64_t end = qn_now_ms() + CANCELLED_MS; qn_now_ms() < end;) {
        run_for(5);
        if (strcmp(state_of("user.small"), "loading") != 0)
            return;
    }
    fail_msg("the load goes on without requests");
}

static void files_that_options_name_must_be_there(void **state)
{
    (void)state;
    struct qn_error e;
    char options[256], path[96];
    open_inventory(-1, 10);
    assert_int_equal(check_files("{\"slots\":2,\"draft_model\":\"\",\"lora\":null}", &e), QN_OK);
    snprintf(path, sizeof path, "%s/file.gguf", dir);
    snprintf(options, sizeof options,
             "{\"draft_model\":\"user.small\",\"lora\":[{\"path\":\"%s\"}]}", path);
    assert_int_equal(check_files(options, &e), QN_OK);
    snprintf(options, sizeof options, "{\"lora\":[{\"path\":\"%s\"},{\"path\":\"%s/no\"}]}", path,
             path);
    assert_int_equal(check_files(options, &e), QN_EINVAL);
    assert_string_equal(e.param, "lora");
    assert_non_null(strstr(e.message, "file.gguf/no"));
    assert_int_equal(check_files("{\"draft_model\":\"user.none\"}", &e), QN_EINVAL);
    assert_string_equal(e.param, "draft_model");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(check_files("{\"draft_model\":\"user.small\"}", &e), QN_EINVAL);
    assert_non_null(strstr(e.message, path));
}

static void a_saved_context_counts(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0};
    open_inventory(4000 * MIB, 10);
    ask(&a, "user.deep", NULL);
    until_heard(&a);
    assert_int_equal(a.code, QN_ENOMEM);
    struct qn_load_options less = {.context = 100}; /* what a load says beats what was saved */
    ask(&b, "user.deep", &less);
    until_heard(&b);
    assert_int_equal(b.heard, 1);
    assert_int_not_equal(b.code, QN_ENOMEM);
}

static void what_a_refused_load_asks_for_ends_with_it(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0}, c = {0};
    struct qn_load_options much = {.context = 100000}, draft = {.context = QN_UNSET};
    struct qn_error e = {0};
    open_inventory(4000 * MIB, 10);
    ask(&a, "user.small", &much);
    until_heard(&a);
    assert_int_equal(a.code, QN_ENOMEM);
    draft.options = "{\"draft_model\":\"nobody\"}";
    assert_int_equal(
        qn_inventory_acquire(inv, "user.small", &draft, "", on_lease, &b, &b.lease, &e), QN_EINVAL);
    assert_string_equal(e.param, "draft_model");
    ask(&c, "user.small", NULL);
    until_heard(&c);
    assert_int_not_equal(c.code, QN_ENOMEM); /* there is no program to start, no more */
    assert_non_null(strstr(c.message, "quince-llm"));
}

static void each_load_fails_for_itself(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0}, c = {0};
    struct qn_load_options much = {.context = 100000}, little = {.context = 100};
    be_a_backend();
    open_inventory(4000 * MIB, 10);
    ask(&a, "user.small", &little);
    ask(&b, "user.small", NULL);
    ask(&c, "user.small", &much); /* the newest counts */
    until_heard(&c);
    assert_int_equal(c.code, QN_ENOMEM);
    until("user.small", "loading");
    assert_int_equal(a.heard, 0);
    assert_int_equal(b.heard, 0);
    qn_lease_release(a.lease);
    qn_lease_release(b.lease);
}

static void no_more_context_is_planned_than_the_model_was_trained_for(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0};
    struct qn_load_options much = {.context = 100000};
    struct qn_load_options stretched = {.context = 100000,
                                        .options = "{\"rope_scaling\":\"linear:200\"}"};
    open_inventory(4000 * MIB, 10);
    put_with("user.trained", 10 * MIB, "{}", "{\"context_length\":512}");
    qn_catalog_flush(catalog);
    ask(&a, "user.trained", &much);
    until_heard(&a);
    assert_int_not_equal(a.code, QN_ENOMEM);
    ask(&b, "user.trained", &stretched); /* 102400 tokens of 64 KiB: 6.2 GiB */
    until_heard(&b);
    assert_int_equal(b.code, QN_ENOMEM);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    (void)state;
    open_inventory(-1, 10);
    for (int i = 0; i < 3; i++) { /* each asking is a new try */
        struct asker a = {0};
        ask(&a, "user.small", NULL);
        until_heard(&a);
        assert_int_equal(a.heard, 1);
        assert_non_null(strstr(a.message, "quince-llm"));
    }
}

static void leases_may_be_given_back_while_others_hear(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0}, c = {0};
    open_inventory(4000 * MIB, 10);
    ask(&a, "user.large", NULL);
    ask(&b, "user.large", NULL);
    ask(&c, "user.large", NULL);
    a.drop = b.lease;
    until_heard(&a);
    assert_int_equal(a.heard, 1);
    assert_int_equal(b.heard, 0);
    assert_int_equal(c.heard, 1);
}

/* However many models are waited for. */
static void everybody_hears(void **state)
{
    (void)state;
    enum { MODELS = 150 };
    static struct asker a[MODELS];
    char name[32];
    memset(a, 0, sizeof a);
    for (int i = 0; i < MODELS; i++) {
        snprintf(name, sizeof name, "user.large-%d", i);
        put(name, 8000 * MIB, "{}");
    }
    qn_catalog_flush(catalog);
    open_inventory(4000 * MIB, MODELS);
    for (int i = 0; i < MODELS; i++) {
        snprintf(name, sizeof name, "user.large-%d", i);
        ask(&a[i], name, NULL);
    }
    for (int i = 0; i < MODELS; i++)
        until_heard(&a[i]);
    run_for(50);
    for (int i = 0; i < MODELS; i++)
        assert_int_equal(a[i].heard, 1);
}

static void the_queue_has_an_end(void **state)
{
    (void)state;
    struct asker a = {0}, b = {0};
    struct qn_error e = {0};
    open_inventory(4000 * MIB, 1);
    ask(&a, "user.large", NULL);
    assert_int_equal(qn_inventory_acquire(inv, "user.small", NULL, "", on_lease, &b, &b.lease, &e),
                     QN_EBUSY);
    qn_lease_release(a.lease);
    ask(&b, "user.large", NULL);
    until_heard(&b);
    assert_int_equal(a.heard, 0);
    assert_int_equal(b.heard, 1);
}

static void names(void **state)
{
    (void)state;
    struct asker a = {0};
    struct qn_error e = {0};
    open_inventory(4000 * MIB, 10);
    assert_int_equal(qn_inventory_acquire(inv, "nobody", NULL, "", on_lease, &a, &a.lease, &e),
                     QN_ENOTFOUND);
    assert_string_equal(e.param, "model");
    assert_int_equal(qn_inventory_unload(inv, "user.small", NULL, NULL, &e), QN_ENOTFOUND);
    ask(&a, "user.large:latest", NULL);
    until_heard(&a);
    assert_int_equal(a.code, QN_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_over_the_limit_is_refused_with_advice, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_free_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_loading_model_has_taken_refuses_no_load, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_ran_before_a_failed_load_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(an_inventory_may_end_while_a_model_comes_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_order_ends_with_its_load, setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_options_name_must_be_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_saved_context_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_program_that_is_not_there_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_refused_load_asks_for_ends_with_it, setup, teardown),
        cmocka_unit_test_setup_teardown(each_load_fails_for_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_context_is_planned_than_the_model_was_trained_for,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(leases_may_be_given_back_while_others_hear, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(everybody_hears, setup, teardown),
        cmocka_unit_test_setup_teardown(the_queue_has_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(names, setup, teardown),
    };
    return cmocka_run_group_tests_name("inventory", tests, NULL, NULL);
}
