/* Answers in progress: pieces, ends, continuing, what a killed process leaves. */
#include "chats_world.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static const char *chat, *question;

static int setup(void **state)
{
    int failed = make_world(state);
    chat = add_chat("o", "t");
    question = say("o", chat, NULL, "Why?");
    return failed;
}

static void check_state(const char *message, const char *text, const char *reasoning,
                        enum qn_chat_state s)
{
    const struct qn_chat_message *m = read_message("o", message);
    assert_non_null(m);
    assert_string_equal(m->text, text);
    assert_string_equal(m->reasoning, reasoning);
    assert_string_equal(qn_chat_state_name(m->state), qn_chat_state_name(s));
}

static void an_answer_grows(void **state)
{
    (void)state;
    const char *a = begin("o", question);
    assert_int_equal(found.n_messages, 2);
    assert_string_equal(found.messages[0].text, "Why?");
    assert_string_equal(found.messages[1].parent, question);
    assert_string_equal(found.chats[0].head, a);
    assert_true(found.chats[0].answering);
    check_state(a, "", "", QN_CHAT_QUEUED);
    assert_int_equal(append(a, true, "Hm. "), QN_OK);
    const struct qn_chat_piece pieces[] = {{true, "So", 2}, {false, "Bec", 3}, {false, "ause", 4}};
    qn_chats_append(chats, a, pieces, 3, on_found, NULL);
    ok();
    check_state(a, "Because", "Hm. So", QN_CHAT_ANSWERING);
    qn_chats_change_message(chats, "o", a, "mine", NULL, on_found, NULL);
    assert_int_equal(await(), QN_ECONFLICT);
    qn_chats_begin_answer(chats, "o", a, "m", "{}", on_found, NULL);
    assert_int_equal(await(), QN_ECONFLICT);
    const struct qn_chat_piece last = {false, " of that.", 9};
    qn_chats_finish(chats, a,
                    &(struct qn_chat_end){.state = QN_CHAT_CUT,
                                          .finish = "length",
                                          .stats = "{\"output\":3}",
                                          .pieces = &last,
                                          .n_pieces = 1},
                    on_found, NULL);
    ok();
    assert_string_equal(found.messages[0].text, "Because of that.");
    check_state(a, "Because of that.", "Hm. So", QN_CHAT_CUT);
    assert_string_equal(found.messages[0].finish, "length");
    assert_string_equal(found.messages[0].stats, "{\"output\":3}");
    assert_null(found.messages[0].error);
    assert_int_equal(append(a, false, "more"), QN_ENOTFOUND);
    qn_chats_finish(chats, a, &(struct qn_chat_end){.state = QN_CHAT_DONE}, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_read(chats, "o", chat, on_found, NULL);
    ok();
    assert_false(found.chats[0].answering);
}

static void an_answer_is_continued(void **state)
{
    (void)state;
    const char *a = begin("o", question);
    assert_int_equal(append(a, false, "Grü"), QN_OK);
    qn_chats_finish(chats, a,
                    &(struct qn_chat_end){.state = QN_CHAT_FAILED, .error = "{\"message\":\"x\"}"},
                    on_found, NULL);
    ok();
    qn_chats_continue_answer(chats, "o", question, "m", "{}", on_found, NULL);
    assert_int_equal(await(), QN_ECONFLICT); /* it is the user's */
    qn_chats_continue_answer(chats, "o", a, "n", "{\"seed\":1}", on_found, NULL);
    ok();
    assert_int_equal(found.n_messages, 2);
    assert_string_equal(found.messages[1].id, a);
    assert_string_equal(found.messages[1].text, "Grü");
    assert_string_equal(found.messages[1].model, "n");
    assert_null(found.messages[1].error);
    assert_int_equal(append(a, false, "ße"), QN_OK);
    check_state(a, "Grüße", "", QN_CHAT_ANSWERING);
    qn_chats_finish(chats, a, &(struct qn_chat_end){.state = QN_CHAT_STOPPED}, on_found, NULL);
    ok();
    check_state(a, "Grüße", "", QN_CHAT_STOPPED);
    qn_chats_search(chats, "o", "grusse grüße", 10, on_found, NULL);
    ok();
    assert_int_equal(found.n_hits, 0); /* no such word: ß is a letter of its own */
    qn_chats_search(chats, "o", "GRUß", 10, on_found, NULL);
    ok();
    assert_int_equal(found.n_hits, 1);
}

/* The path to an answer has the branch that it belongs to, and no other. */
static void the_path_is_one_branch(void **state)
{
    (void)state;
    const char *a1 = say("o", chat, question, "one"), *a2 = say("o", chat, question, "two");
    const char *q2 = say("o", chat, a2, "And?");
    say("o", chat, a1, "Not this");
    begin("o", q2);
    assert_int_equal(found.n_messages, 4);
    static const char *const texts[] = {"Why?", "two", "And?", ""};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(found.messages[i].text, texts[i]);
}

static void an_answer_is_limited(void **state)
{
    (void)state;
    enum { PIECE = 1024 * 1024 };
    char *text = calloc(1, PIECE + 1);
    memset(text, 'x', PIECE);
    const char *a = begin("o", question);
    for (int i = 0; i < QN_CHATS_TEXT_MAX / PIECE; i++)
        assert_int_equal(append(a, false, text), QN_OK);
    assert_int_equal(append(a, false, "y"), QN_ELIMIT);
    assert_int_equal(append(a, true, "y"), QN_OK);
    const struct qn_chat_piece more = {false, "y", 1};
    qn_chats_finish(chats, a,
                    &(struct qn_chat_end){.state = QN_CHAT_CUT, .pieces = &more, .n_pieces = 1},
                    on_found, NULL);
    assert_int_equal(await(), QN_ELIMIT);
    qn_chats_finish(chats, a, &(struct qn_chat_end){.state = QN_CHAT_CUT}, on_found, NULL);
    ok();
    assert_int_equal(strlen(found.messages[0].text), QN_CHATS_TEXT_MAX);
    free(text);
}

static void set_calls(const char *message, const char *calls)
{
    qn_chats_set_calls(chats, message, calls, on_found, NULL);
    ok();
}

/* The calls of an unfinished answer are stored. When it is finished, the next answer begins in the
 * same transaction. */
static void answer_with_calls_is_continued(void **state)
{
    (void)state;
    static const char done[] = "[{\"id\":\"c\",\"state\":\"done\",\"result\":\"r\"}]";
    const char *a = begin("o", question);
    set_calls(a, "[{\"id\":\"c\",\"state\":\"asking\"}]");
    check_state(a, "", "", QN_CHAT_ANSWERING);
    assert_string_equal(found.messages[0].calls, "[{\"id\":\"c\",\"state\":\"asking\"}]");
    qn_chats_read(chats, "o", chat, on_found, NULL);
    ok();
    assert_true(found.chats[0].asking);
    qn_buf_clear(&told);
    set_calls(a, "[{\"id\":\"c\",\"state\":\"asking\"}, {\"id\":\"d\"}]");
    assert_string_equal(qn_buf_cstr(&told), "");
    set_calls(a, "[{\"id\":\"c\",\"state\":\"running\"}]");
    assert_string_equal(qn_buf_cstr(&told), "o:chat(t)");
    qn_chats_read(chats, "o", chat, on_found, NULL);
    ok();
    assert_false(found.chats[0].asking);
    read_message("o", a);
    assert_null(found.messages[0].next);
    qn_chats_finish(chats, a,
                    &(struct qn_chat_end){.state = QN_CHAT_DONE,
                                          .finish = "tool_calls",
                                          .calls = done,
                                          .next_model = "m2",
                                          .next_params = "{\"seed\":1}"},
                    on_found, NULL);
    ok();
    assert_int_equal(found.n_messages, 3); /* the path that ends with the next answer */
    assert_string_equal(found.messages[1].calls, done);
    const struct qn_chat_message *m = &found.messages[2];
    assert_int_equal(m->state, QN_CHAT_QUEUED);
    assert_string_equal(m->parent, a);
    assert_string_equal(m->model, "m2");
    assert_string_equal(m->params, "{\"seed\":1}");
    assert_string_equal(found.chats[0].head, m->id);
    const char *next = note_id(m->id);
    m = read_message("o", a);
    assert_string_equal(m->next, next);
    assert_int_equal(m->state, QN_CHAT_DONE);
    set_calls(next, "[]");
    qn_chats_set_calls(chats, a, "[]", on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND); /* the answer is already finished */
}

/* A restart interrupts the answer: its calls that asked or ran are stopped. Strings in their
 * arguments that look like a state are not changed. */
static void restart_stops_unfinished_calls(void **state)
{
    (void)state;
    const char *a = begin("o", question);
    set_calls(a, "[{\"arguments\":\"{\\\"state\\\":\\\"asking\\\"}\",\"state\":\"asking\"},"
                 "{\"state\":\"running\"},{\"state\":\"done\",\"result\":\"r\"}]");
    close_chats();
    open_chats();
    check_state(a, "", "", QN_CHAT_INTERRUPTED);
    assert_string_equal(found.messages[0].calls,
                        "[{\"arguments\":\"{\\\"state\\\":\\\"asking\\\"}\",\"state\":\"stopped\"},"
                        "{\"state\":\"stopped\"},{\"state\":\"done\",\"result\":\"r\"}]");
}

static void a_deleted_chat_ends_its_answers(void **state)
{
    (void)state;
    const char *a = begin("o", question);
    assert_int_equal(append(a, false, "x"), QN_OK);
    qn_chats_remove(chats, "o", chat, on_found, NULL);
    ok();
    assert_int_equal(append(a, false, "y"), QN_ENOTFOUND);
}

/* Finishes an answer and asks for a next one. Returns the number of messages in the result: 3 (the
 * path to the next answer) if it has begun, otherwise 1. */
static size_t go_on(const char *message)
{
    qn_chats_finish(
        chats, message,
        &(struct qn_chat_end){
            .state = QN_CHAT_DONE, .finish = "tool_calls", .next_model = "m", .next_params = "{}"},
        on_found, NULL);
    ok();
    return found.n_messages;
}

/* An answer in a deleted chat, or below a deleted message, is not continued. */
static void deleted_answers_are_not_continued(void **state)
{
    (void)state;
    const bool yes = true;
    const char *a = begin("o", question), *b = begin("o", question);
    qn_chats_change_message(chats, "o", question, NULL, &yes, on_found, NULL);
    ok();
    assert_int_equal(go_on(a), 1);
    const char *other = add_chat("o", "u");
    const char *c = begin("o", say("o", other, NULL, "And?"));
    qn_chats_change(chats, "o", other, &(struct qn_chat_patch){.deleted = &yes}, on_found, NULL);
    ok();
    assert_int_equal(go_on(c), 1);
    assert_int_equal(go_on(b), 1);
}

/* The deletion of many chats is reported by one event, except that chats with unfinished answers
 * get their own. */
static void bulk_deletion_reports_chats_with_answers(void **state)
{
    (void)state;
    enum { N = 20 };
    const bool yes = true;
    const char *all[N] = {chat};
    begin("o", question);
    for (int i = 1; i < N; i++)
        all[i] = add_chat("o", "quiet");
    qn_buf_clear(&told);
    qn_chats_change_all(chats, "o", all, N, &(struct qn_chat_patch){.deleted = &yes}, on_found,
                        NULL);
    ok();
    assert_string_equal(qn_buf_cstr(&told), "o:chat(t) o:all");
}

/* Closes the database, executes the SQL, and opens it again. */
static void edit(const char *sql)
{
    char path[80];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/chats.db", dir);
    close_chats();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    open_chats();
}

/* If the chat has no room for the next answer, calls and results are kept, and the finish of the
 * message is QN_CHATS_FULL. */
static void no_next_answer_without_room(void **state)
{
    (void)state;
    static const char done[] = "[{\"id\":\"c\",\"state\":\"done\",\"result\":\"r\"}]";
    char sql[100];
    int64_t one = (int64_t)strlen("m{}[][]{}"), calls = (int64_t)sizeof done - 1 - 2;
    for (int64_t left = one - 1; left <= one; left++) {
        snprintf(sql, sizeof sql, "UPDATE chat SET bytes = %lld",
                 (long long)(QN_CHATS_CHAT_BYTES_MAX - one - calls - left));
        edit(sql);
        const char *a = begin("o", question);
        qn_chats_finish(chats, a,
                        &(struct qn_chat_end){.state = QN_CHAT_DONE,
                                              .finish = "tool_calls",
                                              .calls = done,
                                              .next_model = "m",
                                              .next_params = "{}"},
                        on_found, NULL);
        ok();
        assert_int_equal(found.n_messages, left < one ? 1 : 3);
        const struct qn_chat_message *m = read_message("o", a);
        assert_string_equal(m->calls, done);
        assert_string_equal(m->finish, left < one ? QN_CHATS_FULL : "tool_calls");
        assert_int_equal(m->state, left < one ? QN_CHAT_CUT : QN_CHAT_DONE);
    }
}

/* What a callback has reported is there after kill -9, as interrupted answers. */
static void killing_loses_nothing_reported(void **state)
{
    (void)state;
    int pipes[2];
    char id[QN_CHATS_ID_DIGITS + 1], byte;
    assert_int_equal(pipe(pipes), 0);
    close_chats();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_chats();
        const char *a = begin("o", question);
        append(a, true, "Hm.");
        append(a, false, "Be");
        append(a, false, "cause");
        if (write(pipes[1], a, sizeof id) != sizeof id)
            _exit(1);
        for (;;)
            append(a, false, ".");
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], id, sizeof id), sizeof id);
    usleep(20000);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(read(pipes[0], &byte, 1), 0);
    close(pipes[0]);
    open_chats();
    const struct qn_chat_message *m = read_message("o", id);
    assert_non_null(m);
    assert_int_equal(m->state, QN_CHAT_INTERRUPTED);
    assert_string_equal(m->reasoning, "Hm.");
    assert_int_equal(strncmp(m->text, "Because", 7), 0);
    assert_int_equal(strspn(m->text + 7, "."), strlen(m->text + 7));
    qn_chats_search(chats, "o", "because", 10, on_found, NULL);
    ok();
    assert_int_equal(found.n_hits, 1);
    /* It goes on where it ended. */
    qn_chats_continue_answer(chats, "o", id, "m", "{}", on_found, NULL);
    ok();
    assert_int_equal(append(id, false, " Yes"), QN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_grows, setup, remove_world),
        cmocka_unit_test_setup_teardown(an_answer_is_continued, setup, remove_world),
        cmocka_unit_test_setup_teardown(the_path_is_one_branch, setup, remove_world),
        cmocka_unit_test_setup_teardown(an_answer_is_limited, setup, remove_world),
        cmocka_unit_test_setup_teardown(answer_with_calls_is_continued, setup, remove_world),
        cmocka_unit_test_setup_teardown(restart_stops_unfinished_calls, setup, remove_world),
        cmocka_unit_test_setup_teardown(a_deleted_chat_ends_its_answers, setup, remove_world),
        cmocka_unit_test_setup_teardown(deleted_answers_are_not_continued, setup, remove_world),
        cmocka_unit_test_setup_teardown(bulk_deletion_reports_chats_with_answers, setup,
                                        remove_world),
        cmocka_unit_test_setup_teardown(no_next_answer_without_room, setup, remove_world),
        cmocka_unit_test_setup_teardown(killing_loses_nothing_reported, setup, remove_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
