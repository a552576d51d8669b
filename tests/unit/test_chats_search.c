/* Search in stored chats, and files of messages. */
#include "chats_world.h"

#include <fcntl.h>
#include <sys/stat.h>

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

/* The results as text: "message-text" with marked parts in brackets, separated by "|". */
static const char *search_as(const char *owner, const char *query)
{
    static char out[4096];
    qn_chats_search(chats, owner, query, 20, on_found, NULL);
    ok();
    out[0] = '\0';
    for (size_t i = 0; i < found.n_hits; i++) {
        const struct qn_chat_hit *h = &found.hits[i];
        strcat(out, i ? "|" : "");
        strcat(out, h->message ? "" : "T:");
        for (size_t k = 0; k < h->n_segments; k++) {
            strcat(out, h->segments[k].mark ? "[" : "");
            strcat(out, h->segments[k].text);
            strcat(out, h->segments[k].mark ? "]" : "");
        }
    }
    return out;
}

static const char *search(const char *query)
{
    return search_as("o", query);
}

static void words_are_found(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "Reise nach Köln");
    const char *q = say("o", chat, NULL, "Wie komme ich nach Köln?");
    say("o", chat, q, "Mit der Bahn, über Düsseldorf");
    assert_string_equal(search("koln"), "T:Reise nach [Köln]|Wie komme ich nach [Köln]?");
    assert_string_equal(search("KÖLN"), "T:Reise nach [Köln]|Wie komme ich nach [Köln]?");
    assert_string_equal(search("düssel"), "Mit der Bahn, über [Düsseldorf]");
    assert_string_equal(search("  bahn   uber "), "Mit der [Bahn], [über] Düsseldorf");
    assert_string_equal(search("uber bahn"), "Mit der [Bahn], [über] Düsseldorf");
    assert_string_equal(search("\"uber bahn\""), "");
    assert_string_equal(search("\"der bahn\""), "Mit [der Bahn], über Düsseldorf");
    assert_string_equal(search("\"der bah\""), ""); /* a phrase has whole words */
    assert_string_equal(search("bahn köln"), "");
    assert_string_equal(search("orf"), "");
    assert_string_equal(search("k"), "");
    assert_string_equal(found.n_hits ? found.hits[0].chat : "", "");
    search("komme");
    assert_string_equal(found.hits[0].message, q);
    assert_string_equal(found.hits[0].chat, chat);
    assert_string_equal(found.hits[0].title, "Reise nach Köln");
}

/* The syntax of FTS5 means nothing in a query; no query is an error. */
static void queries_are_plain_text(void **state)
{
    (void)state;
    const char *chat = add_chat("o", "t");
    say("o", chat, NULL, "say \"hello\" to title:x AND NOT (you) 1 3.5 C++ NEAR");
    static const char *const finds[] = {"\"hello\"", "say\"hello\"to", "AND",        "NOT",
                                        "title:x",   "NEAR",           "(you)",      "C++",
                                        "3.5",       "!!! hello ???",  "hello\"",    "hello*",
                                        "^say",      "{hello}",        "hel-lo hel", "-say"};
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        search(finds[i]);
        bool is_none = strcmp(finds[i], "hel-lo hel") == 0; /* two words in a row */
        if ((found.n_hits == 0) != is_none)
            fail_msg("%s: %zu results", finds[i], found.n_hits);
    }
    static const char *const none[] = {"",          "\"",    "\"\"",     "\"\"\"", "!!!",
                                       "owner : 1", "* ",    "AND OR",   "\\",     "\xEF\xB7\x90",
                                       "title : x", "text:", "NOT you ("};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(search(none[i]), "");
    for (size_t i = 5; i < sizeof none / sizeof *none; i++)
        search(none[i]); /* no error */
    char longest[1026];
    memset(longest, 'x', sizeof longest);
    longest[1025] = '\0';
    qn_chats_search(chats, "o", longest, 20, on_found, NULL);
    assert_int_equal(await(), QN_ELIMIT);
    memset(longest, '"', 1024);
    longest[1024] = '\0';
    assert_string_equal(search(longest), "");
}

/* The index follows every change. */
static void changes_are_found(void **state)
{
    (void)state;
    const bool yes = true, no = false;
    const char *chat = add_chat("o", "first");
    const char *m = say("o", chat, NULL, "apple");
    qn_chats_change_message(chats, "o", m, "pear", NULL, on_found, NULL);
    ok();
    assert_string_equal(search("apple"), "");
    assert_string_equal(search("pear"), "[pear]");
    qn_chats_change(chats, "o", chat, &(struct qn_chat_patch){.title = "second"}, on_found, NULL);
    ok();
    assert_string_equal(search("first"), "");
    assert_string_equal(search("second"), "T:[second]");
    qn_chats_change_message(chats, "o", m, NULL, &yes, on_found, NULL);
    ok();
    assert_string_equal(search("pear"), "");
    qn_chats_change_message(chats, "o", m, NULL, &no, on_found, NULL);
    ok();
    qn_chats_change(chats, "o", chat, &(struct qn_chat_patch){.deleted = &yes}, on_found, NULL);
    ok();
    assert_string_equal(search("pear"), "");
    assert_string_equal(search("second"), "");
    qn_chats_change(chats, "o", chat, &(struct qn_chat_patch){.deleted = &no}, on_found, NULL);
    ok();
    assert_string_equal(search("pear"), "[pear]");
    qn_chats_remove(chats, "o", chat, on_found, NULL);
    ok();
    assert_string_equal(search("pear"), "");
    assert_string_equal(search("second"), "");
}

static void others_texts_are_not_found(void **state)
{
    (void)state;
    say("p", add_chat("p", "Their apple"), NULL, "an apple a day");
    assert_string_equal(search("apple"), "");
    say("o", add_chat("o", "mine"), NULL, "My apple");
    assert_string_equal(search("apple"), "My [apple]");
    assert_string_equal(search_as("p", "apple"), "T:Their [apple]|an [apple] a day");
    /* Owners have numbers in the index. */
    assert_string_equal(search("1"), "");
    assert_string_equal(search("2"), "");
}

static void the_newest_come_first(void **state)
{
    (void)state;
    char text[32];
    const char *chat = add_chat("o", "t");
    for (int i = 0; i < 30; i++) {
        snprintf(text, sizeof text, "number %d", i);
        say("o", chat, NULL, text);
    }
    qn_chats_search(chats, "o", "number", 3, on_found, NULL);
    ok();
    assert_int_equal(found.n_hits, 3);
    assert_string_equal(found.hits[0].segments[1].text, " 29");
    assert_string_equal(found.hits[2].segments[1].text, " 27");
}

/* ---- files ---- */

/* SHA-256 of "abc" (FIPS 180-4, B.1), and another one. */
static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char other[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static qn_err put(const char *owner, const char *id, const char *type, int64_t bytes)
{
    assert_non_null(qn_chats_blob_dir(chats));
    char *temp = qn_chats_blob_temp(chats);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    struct qn_chat_blob b = {.bytes = bytes};
    strcpy(b.id, id);
    strcpy(b.type, type);
    qn_chats_add_blob(chats, owner, temp, &b, on_blob, NULL);
    qn_err err = await();
    assert_int_equal(access(temp, F_OK), -1); /* taken, or deleted */
    free(temp);
    return err;
}

static qn_err find(const char *owner, const char *id)
{
    qn_chats_find_blob(chats, owner, id, on_blob, NULL);
    return await();
}

static bool is_there(const char *id)
{
    char *path = qn_chats_blob_path(chats, id);
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

static void files_belong_to_owners(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(put("o", abc, "image/png", 3), QN_OK);
    char *path = qn_chats_blob_path(chats, abc);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(path);
    assert_int_equal(find("o", abc), QN_OK);
    assert_string_equal(blob.type, "image/png");
    assert_int_equal(blob.bytes, 3);
    assert_int_equal(find("p", abc), QN_ENOTFOUND);
    assert_int_equal(find("o", other), QN_ENOTFOUND);
    const char *const names[] = {abc};
    const char *chat = add_chat("p", "t");
    qn_chats_add_message(
        chats, "p",
        &(struct qn_chat_message){.chat = chat, .text = "x", .blobs = names, .n_blobs = 1},
        on_found, NULL);
    assert_int_equal(await(), QN_EINVAL);
    assert_int_equal(put("p", abc, "image/jpeg", 3), QN_OK);
    assert_int_equal(find("o", abc), QN_OK);
    assert_string_equal(blob.type, "image/png");
}

static void owners_have_shares_of_files(void **state)
{
    (void)state;
    assert_int_equal(put("o", abc, "image/png", QN_CHATS_OWNER_BLOB_BYTES_MAX - 1), QN_OK);
    assert_int_equal(put("o", other, "image/png", 2), QN_ELIMIT);
    assert_false(is_there(other));
    assert_int_equal(put("o", abc, "image/png", QN_CHATS_OWNER_BLOB_BYTES_MAX - 1), QN_OK);
    assert_int_equal(put("p", other, "image/png", 2), QN_OK);
}

/* Looks until the file is gone: it is deleted in the background. */
static bool goes(const char *id)
{
    for (int i = 0; i < 300 && is_there(id); i++) {
        qn_chats_list(chats, "o", &(struct qn_chats_list){.limit = 1}, on_found, NULL);
        ok();
        usleep(10000);
    }
    return !is_there(id);
}

static void unused_files_are_removed(void **state)
{
    (void)state;
    const int64_t day = INT64_C(24) * 60 * 60 * 1000;
    const char *const names[] = {abc};
    assert_int_equal(put("o", abc, "image/png", 3), QN_OK);
    assert_int_equal(put("o", other, "image/png", 3), QN_OK);
    const char *chat = add_chat("o", "t");
    qn_chats_add_message(
        chats, "o",
        &(struct qn_chat_message){.chat = chat, .text = "x", .blobs = names, .n_blobs = 1},
        on_found, NULL);
    ok();
    close_chats();
    char path[256];
    snprintf(path, sizeof path, "%s/chat-blobs/%064d", dir, 0); /* left by a crash */
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    later_ms = day - 60000;
    open_chats();
    assert_int_equal(find("o", other), QN_OK);
    assert_true(goes(path + strlen(path) - 64));
    assert_true(is_there(other) && is_there(abc));
    close_chats();
    later_ms = day + 60000;
    open_chats();
    assert_true(goes(other));
    assert_int_equal(find("o", other), QN_ENOTFOUND);
    assert_true(is_there(abc));
    qn_chats_remove(chats, "o", chat, on_found, NULL);
    ok();
    for (int i = 0; i < 100; i++) { /* the message goes first */
        close_chats();
        open_chats();
        if (goes(abc))
            break;
    }
    assert_false(is_there(abc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_are_found, setup, remove_world),
        cmocka_unit_test_setup_teardown(queries_are_plain_text, setup, remove_world),
        cmocka_unit_test_setup_teardown(changes_are_found, setup, remove_world),
        cmocka_unit_test_setup_teardown(others_texts_are_not_found, setup, remove_world),
        cmocka_unit_test_setup_teardown(the_newest_come_first, setup, remove_world),
        cmocka_unit_test_setup_teardown(files_belong_to_owners, setup, remove_world),
        cmocka_unit_test_setup_teardown(owners_have_shares_of_files, setup, remove_world),
        cmocka_unit_test_setup_teardown(unused_files_are_removed, setup, remove_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
