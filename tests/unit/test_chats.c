/* Stored chats: lists, trees of messages, deletion and undo, owners, limits, events, damaged
 * files. */
#include "chats_world.h"

#include <sys/stat.h>

/* The clock of the database, which a test may move; the database has a thread of its own. */
static _Atomic int64_t later_ms;
int64_t __real_qn_wall_ms(void);
int64_t __wrap_qn_wall_ms(void);
int64_t __wrap_qn_wall_ms(void)
{
    return __real_qn_wall_ms() + later_ms;
}

static int setup(void **state)
{
    later_ms = 0;
    return make_world(state);
}

/* The titles of a page, "a b c". */
static const char *titles(const char *owner, const struct qn_chats_list *wish)
{
    static char out[1024];
    qn_chats_list(chats, owner, wish, on_found, NULL);
    ok();
    out[0] = '\0';
    for (size_t i = 0; i < found.n_chats; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "",
                 found.chats[i].title);
    return out;
}

static const char *page(const char *folder, bool deleted)
{
    return titles("o", &(struct qn_chats_list){.folder = folder, .deleted = deleted, .limit = 10});
}

static void change(const char *chat, const struct qn_chat_patch *p)
{
    qn_chats_change(chats, "o", chat, p, on_found, NULL);
    ok();
}

static const bool yes = true, no = false;

static void lists_are_ordered(void **state)
{
    (void)state;
    assert_string_equal(page(NULL, false), "");
    const char *a = add_chat("o", "a");
    later_ms += 10;
    const char *b = add_chat("o", "b");
    later_ms += 10;
    const char *c = add_chat("o", "c");
    assert_string_equal(page(NULL, false), "c b a");
    /* What is said last comes first; a new title does not count as a change. */
    later_ms += 10;
    say("o", a, NULL, "x");
    change(b, &(struct qn_chat_patch){.title = "b2", .folder = "Work"});
    assert_string_equal(page(NULL, false), "a c b2");
    change(c, &(struct qn_chat_patch){.pinned = &yes, .folder = "Home"});
    assert_string_equal(page(NULL, false), "c a b2");
    assert_true(found.chats[0].pinned && !found.chats[1].pinned);
    assert_int_equal(found.n_folders, 2);
    assert_string_equal(found.folders[0].name, "Home");
    assert_int_equal(found.folders[1].n, 1);
    assert_string_equal(page("Work", false), "b2");
    assert_string_equal(page("work", false), "");
    change(b, &(struct qn_chat_patch){.deleted = &yes});
    assert_string_equal(page(NULL, false), "c a");
    assert_int_equal(found.n_folders, 1);
    assert_string_equal(page(NULL, true), "b2");
    assert_true(found.chats[0].deleted_ms > 0);
    change(b, &(struct qn_chat_patch){.deleted = &no});
    assert_string_equal(page("Work", false), "b2");
}

static void pages_follow_each_other(void **state)
{
    (void)state;
    char seen[64] = "", title[16], next[128] = "";
    for (int i = 0; i < 7; i++) {
        snprintf(title, sizeof title, "%d", i);
        add_chat("o", title); /* many in one millisecond: the id decides */
    }
    qn_chats_list(chats, "o", &(struct qn_chats_list){.limit = 10}, on_found, NULL);
    ok();
    char all[64] = "";
    for (size_t i = 0; i < found.n_chats; i++)
        strcat(all, found.chats[i].title);
    assert_int_equal(strlen(all), 7);
    for (int pages = 0; pages < 4; pages++) {
        qn_chats_list(chats, "o",
                      &(struct qn_chats_list){.limit = 2, .before = *next ? next : NULL}, on_found,
                      NULL);
        ok();
        for (size_t i = 0; i < found.n_chats; i++)
            strcat(seen, found.chats[i].title);
        assert_true((found.next != NULL) == (pages < 3));
        snprintf(next, sizeof next, "%s", found.next ? found.next : "");
    }
    assert_string_equal(seen, all);
    static const char *const wrong[] = {"", "1", "x.1.y", "1.x.y", "..", "1.2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        qn_chats_list(chats, "o", &(struct qn_chats_list){.limit = 2, .before = wrong[i]}, on_found,
                      NULL);
        assert_int_equal(await(), QN_EINVAL);
    }
}

static void messages_make_a_tree(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "t");
    const char *q = say("o", chat, NULL, "question");
    const char *a = say("o", chat, q, "one"), *b = say("o", chat, q, "two");
    const char *other = add_chat("o", "u");
    qn_chats_read(chats, "o", chat, on_found, NULL);
    ok();
    assert_int_equal(found.n_messages, 3);
    assert_int_equal(found.chats[0].messages, 3);
    assert_string_equal(found.chats[0].head, b);
    assert_string_equal(found.chats[0].params, "{}");
    assert_null(found.messages[0].parent);
    assert_string_equal(found.messages[1].parent, q);
    assert_string_equal(found.messages[1].text, "one");
    assert_string_equal(found.messages[2].chat, chat);
    change(chat, &(struct qn_chat_patch){.head = a});
    assert_string_equal(found.chats[0].head, a);
    qn_chats_change(chats, "o", other, &(struct qn_chat_patch){.head = a}, on_found, NULL);
    assert_int_equal(await(), QN_EINVAL);
    qn_chats_add_message(chats, "o",
                         &(struct qn_chat_message){.chat = other, .parent = a, .text = "x"},
                         on_found, NULL);
    assert_int_equal(await(), QN_EINVAL);
    assert_string_equal(error.param, "parent");
    qn_chats_change_message(chats, "o", a, "Eins", NULL, on_found, NULL);
    ok();
    assert_string_equal(found.messages[0].text, "Eins");
}

static size_t shown(const char *chat)
{
    qn_chats_read(chats, "o", chat, on_found, NULL);
    ok();
    assert_int_equal(found.chats[0].messages, found.n_messages);
    return found.n_messages;
}

static qn_err set_deleted(const char *message, bool deleted)
{
    later_ms += 10;
    qn_chats_change_message(chats, "o", message, NULL, &deleted, on_found, NULL);
    return await();
}

static void a_branch_is_deleted_and_restored(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "t");
    const char *q = say("o", chat, NULL, "q"), *a = say("o", chat, q, "a");
    const char *b = say("o", chat, a, "b"), *c = say("o", chat, b, "c");
    say("o", chat, q, "another");
    change(chat, &(struct qn_chat_patch){.head = c});
    assert_int_equal(set_deleted(c, true), QN_OK);
    assert_int_equal(shown(chat), 4);
    assert_string_equal(found.chats[0].head, b);
    assert_int_equal(set_deleted(a, true), QN_OK);
    assert_int_equal(shown(chat), 2);
    assert_string_equal(found.chats[0].head, q);
    /* c was deleted before: it cannot come back before a, and not with a. */
    assert_int_equal(set_deleted(c, false), QN_ECONFLICT);
    assert_int_equal(set_deleted(b, false), QN_ECONFLICT);
    assert_int_equal(set_deleted(a, false), QN_OK);
    assert_int_equal(shown(chat), 4);
    assert_int_equal(set_deleted(c, false), QN_OK);
    assert_int_equal(shown(chat), 5);
    assert_int_equal(set_deleted(q, true), QN_OK);
    assert_int_equal(shown(chat), 0);
    assert_null(found.chats[0].head);
}

static void others_see_nothing(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "mine");
    const char *m = say("o", chat, NULL, "secret words");
    const char *their = add_chat("p", "theirs");
    assert_string_equal(titles("p", &(struct qn_chats_list){.limit = 10}), "theirs");
    assert_string_equal(titles("nobody", &(struct qn_chats_list){.limit = 10}), "");
    qn_chats_read(chats, "p", chat, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_change(chats, "p", chat, &(struct qn_chat_patch){.title = "x"}, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_remove(chats, "p", chat, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_read_message(chats, "p", m, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_change_message(chats, "p", m, "x", &yes, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_begin_answer(chats, "p", m, "m", "{}", on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_add_message(chats, "p", &(struct qn_chat_message){.chat = chat, .text = "x"}, on_found,
                         NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_add_message(chats, "p",
                         &(struct qn_chat_message){.chat = their, .parent = m, .text = "x"},
                         on_found, NULL);
    assert_int_equal(await(), QN_EINVAL);
    qn_chats_change(chats, "p", their, &(struct qn_chat_patch){.head = m}, on_found, NULL);
    assert_int_equal(await(), QN_EINVAL);
    const char *const both[] = {their, chat};
    qn_chats_change_all(chats, "p", both, 2, &(struct qn_chat_patch){.deleted = &yes}, on_found,
                        NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    qn_chats_search(chats, "p", "secret", 10, on_found, NULL);
    ok();
    assert_int_equal(found.n_hits, 0);
    /* Nothing of this has changed anything, not even the chat that the caller owns. */
    assert_int_equal(shown(chat), 1);
    assert_string_equal(found.messages[0].text, "secret words");
    assert_string_equal(titles("p", &(struct qn_chats_list){.limit = 10}), "theirs");
}

static void deletion_is_final_after_a_month(void **state)
{
    (void)state;
    const char *gone = add_chat("o", "gone"), *old = add_chat("o", "old"),
               *kept_chat = add_chat("o", "kept");
    const char *q = say("o", kept_chat, NULL, "q"), *a = say("o", kept_chat, q, "answer");
    say("o", old, NULL, "x");
    qn_chats_remove(chats, "o", gone, on_found, NULL);
    ok();
    change(old, &(struct qn_chat_patch){.deleted = &yes});
    assert_int_equal(set_deleted(a, true), QN_OK);
    close_chats();
    open_chats();
    assert_string_equal(page(NULL, true), "old");
    later_ms = INT64_C(31) * 24 * 60 * 60 * 1000;
    close_chats();
    open_chats(); /* what is old is looked for soon after opening */
    for (int i = 0; i < 200 && strcmp(page(NULL, true), "") != 0; i++)
        usleep(10000);
    assert_string_equal(page(NULL, true), "");
    qn_chats_read(chats, "o", old, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    for (int i = 0; i < 200 && read_message("o", a); i++)
        usleep(10000);
    assert_null(read_message("o", a));
    assert_int_equal(shown(kept_chat), 1);
}

static void limits_are_kept(void **state)
{
    (void)state;
    char *text = malloc(QN_CHATS_TEXT_MAX + 2);
    memset(text, 'x', QN_CHATS_TEXT_MAX + 1);
    text[QN_CHATS_TEXT_MAX + 1] = '\0';
    const char *chat = add_chat("o", "t");
    qn_chats_add_message(chats, "o", &(struct qn_chat_message){.chat = chat, .text = text},
                         on_found, NULL);
    assert_int_equal(await(), QN_ELIMIT);
    assert_string_equal(error.param, "text");
    text[QN_CHATS_TEXT_MAX] = '\0';
    qn_err err = QN_OK;
    int n = 0;
    for (; n < 20 && !err; n++) { /* a chat has room for 16 messages of this length */
        qn_chats_add_message(chats, "o", &(struct qn_chat_message){.chat = chat, .text = text},
                             on_found, NULL);
        err = await();
    }
    assert_int_equal(err, QN_ELIMIT);
    assert_int_equal(n, 16);
    text[QN_CHATS_NAME_MAX + 1] = '\0';
    qn_chats_change(chats, "o", chat, &(struct qn_chat_patch){.title = text}, on_found, NULL);
    assert_int_equal(await(), QN_ELIMIT);
    free(text);
}

static void changes_are_told(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "t");
    assert_string_equal(qn_buf_cstr(&told), "o:chat(t)");
    qn_buf_clear(&told);
    const char *q = say("o", chat, NULL, "q");
    assert_string_equal(qn_buf_cstr(&told), "o:message o:chat(t)");
    qn_buf_clear(&told);
    const char *a = begin("o", q);
    assert_int_equal(append(a, false, "x"), QN_OK);
    assert_int_equal(append(a, false, "y"), QN_OK);
    qn_chats_finish(chats, a, &(struct qn_chat_end){.state = QN_CHAT_DONE}, on_found, NULL);
    ok();
    assert_string_equal(qn_buf_cstr(&told), "o:message o:chat(t) o:state(answering) o:message "
                                            "o:chat(t)");
    qn_buf_clear(&told);
    assert_int_equal(set_deleted(q, true), QN_OK);
    assert_string_equal(qn_buf_cstr(&told), "o:chat(t) o:message-gone");
    qn_buf_clear(&told);
    qn_chats_change(chats, "o", "none", &(struct qn_chat_patch){.title = "x"}, on_found, NULL);
    assert_int_equal(await(), QN_ENOTFOUND);
    assert_string_equal(qn_buf_cstr(&told), "");
    qn_chats_remove(chats, "o", chat, on_found, NULL);
    ok();
    assert_string_equal(qn_buf_cstr(&told), "o:chat-gone");
}

static void write_file(const char *name, const char *bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(bytes, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The name of the file, and what to do, are in the message; the file stays as it is. */
static void damage_is_reported(void **state)
{
    (void)state;
    close_chats();
    char text[4096], path[128];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    write_file("chats.db", text);
    open_chats();
    for (int i = 0; i < 2; i++) {
        qn_chats_list(chats, "o", &(struct qn_chats_list){.limit = 1}, on_found, NULL);
        assert_int_equal(await(), QN_EFORMAT);
        assert_non_null(strstr(error.message, "chats.db is damaged"));
        assert_non_null(strstr(error.message, "move it aside"));
    }
    struct stat st;
    snprintf(path, sizeof path, "%s/chats.db", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, sizeof text - 1);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void nothing_is_opened_before_use(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/chats.db", dir);
    assert_int_equal(access(path, F_OK), -1);
    assert_string_equal(page(NULL, false), "");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_opened_before_use, setup, remove_world),
        cmocka_unit_test_setup_teardown(lists_are_ordered, setup, remove_world),
        cmocka_unit_test_setup_teardown(pages_follow_each_other, setup, remove_world),
        cmocka_unit_test_setup_teardown(messages_make_a_tree, setup, remove_world),
        cmocka_unit_test_setup_teardown(a_branch_is_deleted_and_restored, setup, remove_world),
        cmocka_unit_test_setup_teardown(others_see_nothing, setup, remove_world),
        cmocka_unit_test_setup_teardown(deletion_is_final_after_a_month, setup, remove_world),
        cmocka_unit_test_setup_teardown(limits_are_kept, setup, remove_world),
        cmocka_unit_test_setup_teardown(changes_are_told, setup, remove_world),
        cmocka_unit_test_setup_teardown(damage_is_reported, setup, remove_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
