/* router/downloads/pulls.c with a world of its own: the "hub" knows files by single letters,
 * "REPO:abc" is a model of the files a, b and c, and what has come of each lies in an array instead
 * of on a disk. The loop, the threads and the catalog are real. */
#include "catalog_dir.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "downloads/pulls.h"
#include "io/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RETRY_MS = 10, SLICE_MS = 20 };
enum { SIZE = 1000, PIECE = 100, LETTERS = 26, WAIT_MS = 120000 };

/* ---- the world ---- */

static struct {
    _Atomic int64_t here[LETTERS];     /* bytes on the disk */
    _Atomic int64_t came[LETTERS];     /* bytes that crossed the network */
    _Atomic int64_t may_come[LETTERS]; /* until the network stands still */
    _Atomic int64_t room;              /* on the disk */
    _Atomic int resolved, finished, discarded, at_once, most_at_once;
    _Atomic bool hub_down;
    _Atomic bool whole_only;          /* files have to come in one piece */
    _Atomic int broken;               /* so many fetches find no network */
    _Atomic bool slow_discard, clash; /* clash: something was begun while files were thrown away */
    _Atomic int discarding;
} world;

static struct qn_loop *loop;
static struct qn_catalog *catalog;
static struct qn_pulls *pulls;
static bool closed;

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int letter_of(const struct qn_download_file *f)
{
    return f->path[0] - 'a';
}

static qn_err resolve(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                      struct qn_pull_plan **out, struct qn_error *e)
{
    (void)ctx;
    (void)stop;
    if (atomic_load(&world.hub_down))
        return qn_fail(e, QN_EIO, "the hub is down");
    if (world.discarding)
        world.clash = true;
    const char *letters = strchr(order->checkpoints[0].ref, ':') + 1;
    struct qn_arena *a = qn_arena_new(1 << 20);
    struct qn_pull_plan *plan = qn_arena_alloc(a, sizeof *plan);
    plan->arena = a;
    qn_pull_order_copy(order, a, &plan->order);
    plan->n = strlen(letters);
    plan->files = qn_arena_alloc(a, plan->n * sizeof *plan->files);
    for (size_t i = 0; i < plan->n; i++) {
        struct qn_download_file f = {.hub = "huggingface",
                                     .repo = "o/r",
                                     .path = qn_arena_fmt(a, "%c.gguf", letters[i]),
                                     .role = i ? "shard" : "main",
                                     .partial = qn_arena_fmt(a, "/disk/%c", letters[i]),
                                     .size_bytes = SIZE};
        qn_download_file_copy(&f, a, &plan->files[i]);
    }
    world.resolved++;
    *out = plan;
    return QN_OK;
}

static qn_err fetch(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
                    struct qn_error *e)
{
    (void)ctx;
    qn_err err = QN_OK;
    if (world.discarding)
        world.clash = true;
    if (world.broken > 0) {
        world.broken--;
        return qn_fail_param(e, QN_EIO, QN_PULL_NETWORK, "no network");
    }
    int at_once = ++world.at_once;
    if (at_once > world.most_at_once)
        world.most_at_once = at_once;
    for (size_t i = 0; i < n && !err; i++) {
        int l = letter_of(parts[i].file);
        if (world.whole_only)
            world.here[l] = 0;
        atomic_store(&parts[i].meter->before_bytes, atomic_load(&world.here[l]));
        atomic_store(&parts[i].meter->whole_only, atomic_load(&world.whole_only));
        while (!err && world.here[l] < SIZE) {
            if (atomic_load(stop))
                err = qn_fail(e, QN_ECANCELLED, "stopped");
            else if (world.room < PIECE)
                err = qn_fail_param(e, QN_EIO, QN_PULL_DISK_FULL, "the disk is full");
            else if (world.may_come[l] >= PIECE) {
                world.may_come[l] -= PIECE;
                world.room -= PIECE;
                world.came[l] += PIECE;
                world.here[l] += PIECE;
            } else {
                nap();
            }
            atomic_store(&parts[i].meter->here_bytes, world.here[l]);
        }
        if (!err) {
            snprintf(parts[i].etag, sizeof parts[i].etag, "\"%c\"", 'a' + l);
            atomic_store_explicit(&parts[i].done, true, memory_order_release);
        }
    }
    world.at_once--;
    return err;
}

struct finishing {
    void (*done)(void *arg, const struct qn_error *e);
    void *arg;
};

static void say_finished(void *ctx)
{
    struct finishing f = *(struct finishing *)ctx;
    free(ctx);
    f.done(f.arg, NULL);
}

static void finish(void *ctx, const struct qn_pull_order *order,
                   const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                   void (*done)(void *arg, const struct qn_error *e), void *arg)
{
    (void)ctx;
    (void)stop;
    assert_true(*order->model != '\0');
    for (size_t i = 0; i < n; i++)
        assert_int_equal(world.here[letter_of(&files[i])], SIZE);
    world.finished++;
    /* Its files would go while its row comes. */
    assert_false(qn_pulls_forget_model(pulls, order->model));
    struct finishing *f = malloc(sizeof *f);
    *f = (struct finishing){done, arg};
    qn_loop_post(loop, say_finished, f);
}

static int64_t have(void *ctx, const struct qn_download_file *file)
{
    (void)ctx;
    return world.here[letter_of(file)];
}

static void discard(void *ctx, const struct qn_download_file *files, size_t n,
                    const struct qn_snapshot *models)
{
    (void)ctx;
    assert_int_equal(qn_snapshot_count(models), 0);
    world.discarding++;
    for (int i = 0; world.slow_discard && i < 50; i++)
        nap();
    world.discarding--;
    for (size_t i = 0; i < n; i++)
        world.here[letter_of(&files[i])] = 0;
    world.discarded++;
}

/* ---- the server ---- */

static void post(void *ctx, void (*fn)(void *), void *arg)
{
    qn_loop_post(ctx, fn, arg);
}

static bool always(void)
{
    return true;
}

static void run_until(bool (*condition)(void));

static void start(int threads, bool offline)
{
    struct qn_error e = {0};
    closed = false;
    assert_int_equal(qn_loop_new(&loop, &e), QN_OK);
    if (qn_catalog_open(path, post, loop, &catalog, &e))
        fail_msg("%s", e.message);
    pulls = qn_pulls_new(&(struct qn_pulls_config){.loop = loop,
                                                   .catalog = catalog,
                                                   .closed = &closed,
                                                   .steps = {.resolve = resolve,
                                                             .fetch = fetch,
                                                             .finish = finish,
                                                             .have = have,
                                                             .discard = discard},
                                                   .threads = threads,
                                                   .offline = offline,
                                                   .retry_ms = RETRY_MS,
                                                   .slice_ms = SLICE_MS});
    qn_catalog_flush(catalog);
    run_until(always); /* the jobs of the last run are taken up */
}

static void stop(void)
{
    qn_pulls_stop(pulls);
    closed = true;
    qn_catalog_close(catalog);
    qn_loop_free(loop);
    qn_pulls_free(pulls);
}

/* So many bytes of a may come from now on, and of each other file. */
static void let_come(int64_t of_a, int64_t of_others)
{
    for (int l = 1; l < LETTERS; l++)
        world.may_come[l] = of_others;
    world.may_come[0] = of_a;
}

static int setup(void **state)
{
    memset(&world, 0, sizeof world);
    world.room = INT64_MAX / 2;
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    return make_dir(state);
}

/* ---- running the loop until something is true ---- */

static bool (*until)(void);
static int64_t until_ms;

static void check(void *ctx)
{
    (void)ctx;
    if (until() || qn_now_ms() > until_ms)
        qn_loop_stop(loop);
}

static void run_until(bool (*condition)(void))
{
    until = condition;
    until_ms = qn_now_ms() + WAIT_MS;
    struct qn_timer *t = qn_timer_start(loop, 0, 2, check, NULL);
    qn_loop_run(loop);
    qn_timer_stop(t);
    assert_true(condition());
}

/* ---- clients ---- */

struct client {
    struct qn_pull_client *c;
    int progress, kept, ended;
    int end_turn; /* among all that ended */
    qn_err code;
    char message[QN_ERROR_MESSAGE_MAX], status[32];
    int64_t here;
};
static struct client one, two;

static void on_progress(void *ctx, const struct qn_pull_view *v)
{
    struct client *c = ctx;
    c->here = v->here_bytes;
    c->progress++;
}

static void on_kept(void *ctx, const struct qn_pull_view *v)
{
    (void)v;
    ((struct client *)ctx)->kept++;
}

static void on_end(void *ctx, const struct qn_pull_view *v, const struct qn_error *e)
{
    struct client *c = ctx;
    static int turns;
    c->ended++;
    c->end_turn = ++turns;
    c->code = e ? e->code : QN_OK;
    snprintf(c->message, sizeof c->message, "%s", e ? e->message : "");
    snprintf(c->status, sizeof c->status, "%s", v->status);
}

static const struct qn_pull_events events = {
    .progress = on_progress, .kept = on_kept, .end = on_end};

static const char *owner; /* of what is asked for; NULL: the server itself */

static qn_err ask_with(struct client *c, const char *model, const char *ref, int64_t priority,
                       bool until_gone, struct qn_error *e)
{
    struct qn_pull_order order = {.model = model,
                                  .recipe = "llamacpp",
                                  .source = "",
                                  .mmproj = "",
                                  .labels = "[]",
                                  .extras = "{}",
                                  .options = "{}",
                                  .checkpoints = {{"main", ref}},
                                  .n = 1};
    memset(c, 0, sizeof *c);
    return qn_pulls_ask(
        pulls,
        &(struct qn_pull_wish){
            .order = &order, .owner = owner, .priority = priority, .until_gone = until_gone},
        &events, c, &c->c, e);
}

static void ask(struct client *c, const char *model, const char *ref)
{
    struct qn_error e = {0};
    if (ask_with(c, model, ref, QN_UNSET_PRIORITY, false, &e))
        fail_msg("%s", e.message);
    assert_int_equal(c->ended, 0);
}

static char seen[256]; /* the jobs, "m:paused:300 n:completed:2000" */

static void note(void *ctx, const struct qn_pull_view *v)
{
    (void)ctx;
    size_t n = strlen(seen);
    snprintf(seen + n, sizeof seen - n, "%s%s:%s:%lld", n ? " " : "", v->model, v->status,
             (long long)v->here_bytes);
}

static const char *jobs(void)
{
    seen[0] = '\0';
    qn_pulls_each(pulls, note, NULL);
    return seen;
}

static void control(const char *id, enum qn_pull_control what)
{
    struct qn_error e = {0};
    if (qn_pulls_control(pulls, id, what, &e))
        fail_msg("%s", e.message);
}

/* ---- conditions ---- */

static bool one_ended(void)
{
    return one.ended;
}

static bool two_ended(void)
{
    return two.ended;
}

static bool two_sees_it(void)
{
    return two.here > 0;
}

static bool both_ended(void)
{
    return one.ended && two.ended;
}

static bool stands_still(void)
{
    return one.progress > 1 && one.here % SIZE == 300 && one.here == world.here[0] + world.here[1];
}

static bool b_comes(void)
{
    return world.came['b' - 'a'] >= PIECE;
}

static bool discarded_once(void)
{
    return world.discarded > 0;
}

/* ---- tests ---- */

static void one_model(void **state)
{
    (void)state;
    start(3, false);
    ask(&one, "m", "o/r:ab");
    run_until(one_ended);
    assert_int_equal(one.code, QN_OK);
    assert_string_equal(one.status, "completed");
    assert_true(one.kept <= 1); /* it may be over before the catalog has it */
    assert_string_equal(jobs(), "m:completed:2000");
    assert_int_equal(world.finished, 1);
    /* Again: the hub is asked, but nothing has to come. */
    ask(&one, "m", "o/r:ab");
    run_until(one_ended);
    assert_int_equal(one.code, QN_OK);
    assert_int_equal(world.resolved, 2);
    assert_int_equal(world.came[0] + world.came[1], 2 * SIZE);
    stop();
}

static void two_clients_share_a_job(void **state)
{
    (void)state;
    struct qn_error e = {0};
    start(3, false);
    ask(&one, "m", "o/r:ab");
    ask(&two, "m", "o/r:ab");
    struct client other;
    assert_int_equal(ask_with(&other, "m", "o/r:cd", 0, false, &e), QN_ECONFLICT);
    assert_non_null(strstr(e.message, "o/r:ab"));
    run_until(both_ended);
    assert_int_equal(two.code, QN_OK);
    assert_int_equal(world.resolved, 1);
    assert_int_equal(world.came[0], SIZE);
    /* It is over now: the name may come from elsewhere. */
    ask(&one, "m", "o/r:cd");
    run_until(one_ended);
    assert_string_equal(jobs(), "m:completed:2000");
    stop();
}

static void two_models_share_a_file(void **state)
{
    (void)state;
    start(3, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:a");
    run_until(stands_still);
    ask(&two, "n", "o/r:ab"); /* fetches b meanwhile */
    let_come(0, INT64_MAX / 2);
    run_until(b_comes);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(both_ended);
    assert_int_equal(one.code, QN_OK);
    assert_int_equal(two.code, QN_OK);
    assert_int_equal(world.came[0], SIZE);
    assert_int_equal(world.came[1], SIZE);
    assert_string_equal(jobs(), "m:completed:1000 n:completed:2000");
    stop();
}

/* Who fetches a shared file gives up: the other goes on with what is there. */
static void the_other_goes_on(void **state)
{
    (void)state;
    start(3, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:a");
    run_until(stands_still);
    ask(&two, "n", "o/r:a");
    run_until(two_sees_it);
    control("model:m", QN_PULL_DO_CANCEL);
    run_until(one_ended);
    assert_int_equal(one.code, QN_ECANCELLED);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(two_ended);
    assert_int_equal(two.code, QN_OK);
    assert_int_equal(world.came[0], SIZE);
    stop();
}

static void pause_restart_resume(void **state)
{
    (void)state;
    start(3, false);
    let_come(SIZE, 300);
    ask(&one, "m", "o/r:ab");
    run_until(stands_still);
    control("model:m", QN_PULL_DO_PAUSE);
    run_until(one_ended);
    assert_int_equal(one.code, QN_ECANCELLED);
    assert_string_equal(one.status, "paused");
    assert_string_equal(jobs(), "m:paused:1300");
    stop();
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    start(3, false);
    ask(&two, "x", "o/r:c");
    run_until(two_ended);
    assert_string_equal(jobs(), "m:paused:1300 x:completed:1000"); /* it was left alone */
    ask(&one, "m", "o/r:ab");
    run_until(one_ended);
    assert_int_equal(one.code, QN_OK);
    assert_int_equal(world.came[0] + world.came[1], 2 * SIZE);
    assert_int_equal(world.resolved, 2); /* m's files were known */
    stop();
}

static int turns;
static bool a_while_later(void)
{
    return ++turns > 50;
}

static bool m_is_completed(void)
{
    return strncmp(jobs(), "m:completed", 11) == 0;
}

static bool m_and_x_are_completed(void)
{
    return strcmp(jobs(), "m:completed:2000 x:completed:1000") == 0;
}

static void what_ran_goes_on_by_itself(void **state)
{
    (void)state;
    start(3, false);
    let_come(SIZE, 300);
    ask(&one, "m", "o/r:ab");
    run_until(stands_still);
    stop(); /* the client is told that the server stops */
    assert_int_equal(one.ended, 1);
    assert_int_equal(one.code, QN_EBUSY);
    start(3, true); /* offline: it waits */
    ask(&two, "x", "o/r:c");
    run_until(a_while_later);
    assert_string_equal(jobs(), "m:downloading:1300 x:downloading:0");
    stop();
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    start(3, false);
    run_until(m_and_x_are_completed);
    assert_int_equal(world.came[0] + world.came[1], 2 * SIZE);
    stop();
    start(3, false);
    run_until(m_and_x_are_completed);
    assert_int_equal(world.finished, 2); /* m and x, once each */
    stop();
}

static bool m_stands(void)
{
    return world.here[0] == 300 && world.at_once == 0;
}

static bool a_is_here(void)
{
    return world.here[0] == 300;
}

/* While it runs: what is under way waits with what it has, and goes on. */
static void offline_for_a_while(void **state)
{
    (void)state;
    start(3, false);
    let_come(300, 0);
    ask(&one, "m", "o/r:a");
    run_until(a_is_here);
    qn_pulls_set(pulls, 3, true);
    run_until(one_ended);
    assert_int_equal(one.code, QN_ENOTFOUND);
    assert_non_null(strstr(one.message, "offline"));
    run_until(m_stands);
    struct qn_error e = {0};
    assert_int_equal(ask_with(&one, "m", "o/r:a", QN_UNSET_PRIORITY, false, &e), QN_ENOTFOUND);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    turns = 0;
    run_until(a_while_later);
    assert_string_equal(jobs(), "m:downloading:300");
    qn_pulls_set(pulls, 3, false);
    run_until(m_is_completed);
    assert_int_equal(world.came[0], SIZE);
    stop();
}

static bool all_three_come(void)
{
    return world.at_once == 3;
}

static bool one_comes(void)
{
    return world.at_once == 1;
}

static bool three_are_completed(void)
{
    return world.finished == 3;
}

static void fewer_threads_and_more(void **state)
{
    (void)state;
    struct client three;
    start(3, false);
    let_come(0, 0);
    ask(&one, "m", "o/r:a");
    ask(&two, "n", "o/r:b");
    ask(&three, "x", "o/r:c");
    run_until(all_three_come);
    qn_pulls_set(pulls, 1, false);
    run_until(one_comes);
    turns = 0;
    run_until(a_while_later);
    assert_int_equal(world.at_once, 1);
    qn_pulls_set(pulls, 3, false);
    run_until(all_three_come);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(three_are_completed);
    run_until(always);
    assert_int_equal(one.ended + two.ended + three.ended, 3);
    stop();
}

static void cancelled_and_removed(void **state)
{
    (void)state;
    struct qn_error e = {0};
    start(3, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:ab");
    run_until(stands_still);
    control("model:m", QN_PULL_DO_CANCEL);
    run_until(one_ended);
    run_until(discarded_once);
    assert_int_equal(world.here[0], 0);
    assert_string_equal(jobs(), "m:cancelled:0");
    control("model:m", QN_PULL_DO_PAUSE); /* it is over */
    assert_string_equal(jobs(), "m:cancelled:0");
    assert_int_equal(qn_pulls_control(pulls, "model:x", QN_PULL_DO_PAUSE, &e), QN_ENOTFOUND);
    control("model:m", QN_PULL_DO_REMOVE);
    assert_string_equal(jobs(), "");
    /* Removing what runs cancels it first. */
    let_come(300, 300);
    ask(&one, "m", "o/r:ab");
    run_until(stands_still);
    control("model:m", QN_PULL_DO_REMOVE);
    run_until(one_ended);
    assert_int_equal(one.code, QN_ECANCELLED);
    assert_string_equal(jobs(), "");
    stop();
    start(3, false);
    assert_string_equal(jobs(), "");
    stop();
}

static void a_full_disk_and_room_again(void **state)
{
    (void)state;
    start(3, false);
    world.room = 1250;
    ask(&one, "m", "o/r:ab");
    run_until(one_ended);
    assert_string_equal(one.message, "the disk is full");
    assert_string_equal(one.status, "error");
    assert_string_equal(jobs(), "m:error:1200");
    stop();
    start(3, false); /* such an error is not tried again by itself */
    world.room = INT64_MAX / 2;
    ask(&one, "x", "o/r:c");
    run_until(one_ended);
    assert_string_equal(jobs(), "m:error:1200 x:completed:1000");
    control("model:m", QN_PULL_DO_RESUME);
    run_until(m_is_completed);
    assert_int_equal(world.came[0] + world.came[1], 2 * SIZE);
    stop();
}

/* What a network failed is tried again without anybody's asking. */
static void a_network_that_fails(void **state)
{
    (void)state;
    struct qn_error e = {0};
    start(3, false);
    world.broken = 3;
    int64_t begun_ms = qn_now_ms();
    ask(&one, "m", "o/r:ab");
    run_until(one_ended); /* who asked is told */
    assert_int_equal(one.code, QN_EIO);
    assert_string_equal(jobs(), "m:error:0");
    run_until(m_is_completed);
    assert_true(qn_now_ms() - begun_ms >= (1 + 2 + 4) * RETRY_MS); /* pauses double */
    assert_int_equal(world.resolved, 1);
    /* Not where only a client that has gone wanted it, and not what was removed meanwhile. */
    world.broken = 1;
    assert_int_equal(ask_with(&one, "x", "o/r:c", QN_UNSET_PRIORITY, true, &e), QN_OK);
    run_until(one_ended);
    world.broken = 1;
    ask(&one, "y", "o/r:d");
    run_until(one_ended);
    control("model:y", QN_PULL_DO_REMOVE);
    turns = 0;
    run_until(a_while_later);
    assert_string_equal(jobs(), "m:completed:2000 x:error:0");
    stop();
}

/* A cancelled download that is asked for again at once does not meet its own clearing away. */
static void cancelled_and_asked_again(void **state)
{
    (void)state;
    start(3, false);
    world.slow_discard = true;
    let_come(300, 300);
    ask(&one, "m", "o/r:ab");
    run_until(stands_still);
    control("model:m", QN_PULL_DO_CANCEL);
    run_until(one_ended);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    ask(&two, "m", "o/r:ab");
    run_until(m_is_completed);
    assert_false(world.clash);
    assert_int_equal(world.here[0] + world.here[1], 2 * SIZE);
    stop();
}

static void a_hub_that_is_down(void **state)
{
    (void)state;
    start(3, false);
    world.hub_down = true;
    ask(&one, "m", "o/r:ab");
    run_until(one_ended);
    assert_int_equal(one.code, QN_EIO);
    assert_string_equal(one.message, "the hub is down");
    world.hub_down = false;
    control("model:m", QN_PULL_DO_RESUME);
    run_until(m_is_completed);
    stop();
}

static void priorities(void **state)
{
    (void)state;
    struct qn_error e = {0};
    start(1, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:a");
    run_until(stands_still);
    assert_int_equal(ask_with(&two, "n", "o/r:b", 5, false, &e), QN_OK);
    run_until(b_comes); /* m gives way */
    assert_int_equal(world.here[0], 300);
    assert_int_equal(qn_pulls_set_priority(pulls, "model:m", 9, &e), QN_OK);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(both_ended);
    assert_int_equal(world.came[0] + world.came[1], 2 * SIZE);
    assert_int_equal(world.most_at_once, 1);
    stop();
}

static void clients_that_leave(void **state)
{
    (void)state;
    struct qn_error e = {0};
    start(3, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:a"); /* goes on without its client */
    run_until(stands_still);
    qn_pull_leave(one.c);
    assert_int_equal(ask_with(&two, "m", "o/r:a", QN_UNSET_PRIORITY, true, &e), QN_OK);
    qn_pull_leave(two.c);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(m_is_completed);
    /* Only wanted while its clients are there. */
    assert_int_equal(ask_with(&one, "m2", "o/r:b", QN_UNSET_PRIORITY, true, &e), QN_OK);
    assert_int_equal(ask_with(&two, "m2", "o/r:b", QN_UNSET_PRIORITY, true, &e), QN_OK);
    let_come(0, 0);
    qn_pull_leave(one.c);
    assert_string_equal(jobs(), "m:completed:1000 m2:downloading:0");
    qn_pull_leave(two.c);
    run_until(discarded_once);
    assert_string_equal(jobs(), "m:completed:1000 m2:cancelled:0");
    stop();
}

static void partials_in_use(void **state)
{
    (void)state;
    char **list;
    start(3, false);
    let_come(300, 300);
    ask(&one, "m", "o/r:ba");
    run_until(b_comes);
    size_t n = qn_pulls_partials(pulls, &list);
    assert_int_equal(n, 2);
    assert_string_equal(list[0], "/disk/a");
    assert_string_equal(list[1], "/disk/b");
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
    assert_true(qn_pulls_forget_model(pulls, "m"));
    assert_true(qn_pulls_forget_model(pulls, "nobody"));
    run_until(one_ended);
    assert_int_equal(qn_pulls_partials(pulls, &list), 0);
    stop();
}

/* ---- owners ---- */

static struct client many[QN_DOWNLOADS_MAX + 1];
static size_t n_many;

static bool all_ended(void)
{
    for (size_t i = 0; i < n_many; i++)
        if (!many[i].ended)
            return false;
    return true;
}

/* One more of this owner; false: it is refused. */
static bool one_more(const char *whose, const char *ref)
{
    char model[32];
    struct qn_error e = {0};
    owner = whose;
    snprintf(model, sizeof model, "m%zu", n_many);
    qn_err err = ask_with(&many[n_many], model, ref, QN_UNSET_PRIORITY, false, &e);
    owner = NULL;
    n_many += err == QN_OK;
    return err == QN_OK;
}

static size_t n_seen;

static void count_one(void *ctx, const struct qn_pull_view *v)
{
    (void)ctx;
    (void)v;
    n_seen++;
}

static size_t listed(void)
{
    n_seen = 0;
    qn_pulls_each(pulls, count_one, NULL);
    return n_seen;
}

/* Downloads that fail stay in the list, since they may be gone on with: of one owner so many. */
static void one_owner_cannot_fill_the_list(void **state)
{
    (void)state;
    n_many = 0;
    start(1, false);
    world.hub_down = true;
    for (int i = 0; i < 2 * QN_PULL_OWNER_MAX; i++) {
        assert_true(one_more("greedy", "o/r:a"));
        run_until(all_ended);
    }
    assert_int_equal(listed(), QN_PULL_OWNER_MAX);
    assert_true(one_more("other", "o/r:a"));
    run_until(all_ended);
    stop();
}

/* Those that are not over keep their places, and their owner gets no more. */
static void work_is_not_dropped(void **state)
{
    (void)state;
    n_many = 0;
    start(1, true); /* all wait */
    for (int i = 0; i < QN_PULL_OWNER_MAX; i++)
        assert_true(one_more("greedy", "o/r:a"));
    assert_false(one_more("greedy", "o/r:a"));
    assert_true(one_more("other", "o/r:a"));
    assert_int_equal(listed(), QN_PULL_OWNER_MAX + 1);
    stop();
}

static void owners_take_turns(void **state)
{
    (void)state;
    static const char *refs[] = {"o/r:a", "o/r:b", "o/r:c", "o/r:d", "o/r:e"};
    n_many = 0;
    start(1, false);
    for (int i = 0; i < 5; i++) /* the fifth is the other's */
        assert_true(one_more(i < 4 ? "greedy" : "other", refs[i]));
    for (int i = 0; i < LETTERS; i++)
        world.may_come[i] = INT64_MAX / 2;
    run_until(all_ended);
    int earlier = 0;
    for (int i = 0; i < 4; i++)
        earlier += many[i].end_turn < many[4].end_turn;
    assert_in_range(earlier, 0, 2); /* the one that had begun, and one more turn at most */
    stop();
}

static bool a_piece_of_a(void)
{
    return world.here[0] == PIECE;
}

/* One owner's file stands still and has the only thread. */
static void begin_a_long_one(void)
{
    n_many = 0;
    start(1, false);
    let_come(PIECE, INT64_MAX / 2);
    assert_true(one_more("greedy", "o/r:a"));
    run_until(a_piece_of_a);
    assert_true(one_more("other", "o/r:b"));
}

static bool the_other_has_it(void)
{
    return many[1].ended == 1;
}

/* A long download and a single thread: the other's small file comes meanwhile, and the long one
 * goes on with what it had. */
static void a_long_download_pauses_for_others(void **state)
{
    (void)state;
    begin_a_long_one();
    run_until(the_other_has_it);
    assert_int_equal(many[0].ended, 0);
    assert_int_equal(world.here[0], PIECE);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(all_ended);
    assert_int_equal(many[0].code, QN_OK);
    assert_int_equal(world.came[0], SIZE);
    stop();
}

/* Unless it would have to begin again each time. */
static void what_cannot_go_on_is_not_paused(void **state)
{
    (void)state;
    world.whole_only = true;
    begin_a_long_one();
    turns = 0;
    run_until(a_while_later);
    assert_int_equal(many[1].ended, 0);
    let_come(INT64_MAX / 2, INT64_MAX / 2);
    run_until(all_ended);
    assert_int_equal(world.came[0], SIZE);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_model, setup, remove_dir),
        cmocka_unit_test_setup_teardown(two_clients_share_a_job, setup, remove_dir),
        cmocka_unit_test_setup_teardown(two_models_share_a_file, setup, remove_dir),
        cmocka_unit_test_setup_teardown(the_other_goes_on, setup, remove_dir),
        cmocka_unit_test_setup_teardown(pause_restart_resume, setup, remove_dir),
        cmocka_unit_test_setup_teardown(what_ran_goes_on_by_itself, setup, remove_dir),
        cmocka_unit_test_setup_teardown(offline_for_a_while, setup, remove_dir),
        cmocka_unit_test_setup_teardown(fewer_threads_and_more, setup, remove_dir),
        cmocka_unit_test_setup_teardown(cancelled_and_removed, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_full_disk_and_room_again, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_network_that_fails, setup, remove_dir),
        cmocka_unit_test_setup_teardown(cancelled_and_asked_again, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_hub_that_is_down, setup, remove_dir),
        cmocka_unit_test_setup_teardown(priorities, setup, remove_dir),
        cmocka_unit_test_setup_teardown(clients_that_leave, setup, remove_dir),
        cmocka_unit_test_setup_teardown(partials_in_use, setup, remove_dir),
        cmocka_unit_test_setup_teardown(one_owner_cannot_fill_the_list, setup, remove_dir),
        cmocka_unit_test_setup_teardown(work_is_not_dropped, setup, remove_dir),
        cmocka_unit_test_setup_teardown(owners_take_turns, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_long_download_pauses_for_others, setup, remove_dir),
        cmocka_unit_test_setup_teardown(what_cannot_go_on_is_not_paused, setup, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
