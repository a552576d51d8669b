/* Files with chats: what is read from each format, storing it at once or not at all, export. */
#include "chats_world.h"

#include "base/json.h"
#include "base/str.h"
#include "chats/export.h"
#include "chats/import.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct qn_arena *arena;
static struct qn_chats_reader *reader;
static struct qn_error why;
static char notes[4096];

static int setup(void **state)
{
    arena = qn_arena_new(QN_CHATS_IMPORT_ARENA);
    notes[0] = '\0';
    return make_world(state);
}

static int teardown(void **state)
{
    qn_chats_reader_free(reader);
    reader = NULL;
    qn_arena_free(arena);
    return remove_world(state);
}

static void note(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s|", text);
}

static qn_err open_text(const char *text)
{
    qn_chats_reader_free(reader);
    reader = NULL;
    why = (struct qn_error){0};
    return qn_chats_reader_new(text, strlen(text), &reader, &why);
}

/* The next chat, which must be readable; NULL at the end. */
static const struct qn_chats_imported *next(void)
{
    struct qn_chats_imported *c;
    if (qn_chats_reader_next(reader, arena, note, NULL, &c, &why))
        fail_msg("%s", why.message);
    return c;
}

static const struct qn_chats_imported *only(const char *text)
{
    if (open_text(text))
        fail_msg("%s", why.message);
    const struct qn_chats_imported *c = next();
    assert_non_null(c);
    assert_null(next());
    return c;
}

/* "TEXT<PARENT'S TEXT ..." in the order in which they are stored. */
static const char *shape(const struct qn_chats_imported *c)
{
    static char out[1024];
    out[0] = '\0';
    for (size_t i = 0; i < c->n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s<%s", i ? " " : "",
                 c->messages[i].m.text,
                 c->messages[i].parent == QN_CHATS_IMPORT_NONE
                     ? ""
                     : c->messages[c->messages[i].parent].m.text);
    return out;
}

static const char *head(const struct qn_chats_imported *c)
{
    return c->head == QN_CHATS_IMPORT_NONE ? "" : c->messages[c->head].m.text;
}

#define OURS(messages) "{\"format\":\"quince-chats\",\"chats\":[{\"messages\":[" messages "]}]}"
#define M(id, parent, text)                                                                        \
    "{\"id\":\"" id "\",\"parent\":" parent ",\"role\":\"user\",\"text\":\"" text "\"}"

static void messages_are_ordered(void **state)
{
    (void)state;
    /* Children stand before their parents, and brothers keep their order. */
    const struct qn_chats_imported *c =
        only(OURS(M("d", "\"b\"", "D") "," M("b", "\"a\"", "B") "," M("c", "\"a\"", "C") "," M(
            "a", "null", "A") "," M("e", "\"nowhere\"", "E")));
    assert_string_equal(shape(c), "A< B<A D<B C<A E<");
    assert_string_equal(head(c), "E"); /* the last one, if the file does not say */
    c = only(OURS(M("a", "\"b\"", "A") "," M("b", "\"a\"", "B") "," M("s", "\"s\"", "S") "," M(
        "x", "null", "X")));
    assert_string_equal(shape(c), "X<");
    assert_non_null(strstr(notes, "3 messages are below each other"));
    c = only(OURS("{\"role\":\"user\",\"text\":\"1\"},{\"role\":\"tool\",\"text\":\"2\"}"));
    assert_string_equal(shape(c), "1< 2<");
    c = only("{\"chats\":[{\"head\":\"a\",\"messages\":[" M("a", "null", "A") "," M(
        "b", "\"a\"", "B") "]}],\"x\":[{}],\"format\":\"quince-chats\"}");
    assert_string_equal(head(c), "A");
}

static void what_a_root_carries_is_left_out(void **state)
{
    (void)state;
    const struct qn_chats_imported *c =
        only("{\"conv\":{\"id\":\"1\",\"name\":\"n\",\"currNode\":\"r\"},\"messages\":["
             "{\"id\":\"r\",\"type\":\"root\",\"parent\":null},"
             "{\"id\":\"s\",\"role\":\"system\",\"content\":\"S\",\"parent\":\"r\"},"
             "{\"id\":\"a\",\"role\":\"user\",\"content\":\"A\",\"parent\":\"s\"},"
             "{\"id\":\"t\",\"role\":\"system\",\"content\":\"T\",\"parent\":\"a\"}]}");
    assert_string_equal(shape(c), "A< T<A");
    assert_string_equal(c->chat.system, "S");
    assert_string_equal(c->chat.title, "n");
    assert_string_equal(c->origin, "llama.cpp:1");
    assert_int_equal(c->head, QN_CHATS_IMPORT_NONE); /* the root was shown */
}

static void lines_make_chats(void **state)
{
    (void)state;
    assert_int_equal(open_text("{\"type\":\"session\",\"id\":\"1\",\"name\":\"one\"}\n"
                               "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":"
                               "\"a\"}}\r\n\r\n{\"type\":\"comment\"}\n"
                               "{\"type\":\"session\",\"id\":\"2\",\"name\":\"two\"}\n"
                               "{\"type\":\"session\",\"id\":\"3\",\"name\":\"three\"}\n"
                               "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":"
                               "\"b\"}}"),
                     QN_OK);
    static const char *const titles[] = {"one", "two", "three"}, *const shapes[] = {"a<", "", "b<"};
    for (size_t i = 0; i < 3; i++) {
        const struct qn_chats_imported *c = next();
        assert_non_null(c);
        assert_string_equal(c->chat.title, titles[i]);
        assert_string_equal(shape(c), shapes[i]);
    }
    assert_null(next());
    assert_null(next());
}

#define WEB(content)                                                                               \
    "[{\"chat\":{\"history\":{\"messages\":{\"a\":{\"role\":\"assistant\",\"content\":\"" content  \
    "\"}}}}}]"

static void reasoning_is_taken_out_of_the_text(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {WEB("plain"), "plain", ""},
        {WEB("<details type=\\\"reasoning\\\" done=\\\"true\\\" duration=\\\"1\\\">\\n"
             "<summary>Thought</summary>\\n> one\\n> two\\n</details>\\n\\ntext"),
         "text", "one\ntwo"},
        {WEB("<details type=\\\"reasoning\\\">&gt; a &amp;lt; b</details>t"), "t", "a &lt; b"},
        {WEB("<details type=\\\"reasoning\\\">one</details><details type=\\\"reasoning\\\">two"
             "</details>t"),
         "t", "one\ntwo"},
        {WEB("<details type=\\\"reasoning\\\">never closed"),
         "<details type=\"reasoning\">never closed", ""},
        {WEB("<details type=\\\"tool_calls\\\">x</details>t"),
         "<details type=\"tool_calls\">x</details>t", ""},
        {WEB("text <details type=\\\"reasoning\\\">x</details>"),
         "text <details type=\"reasoning\">x</details>", ""},
        {WEB("<details type=\\\"reasoning\\\"</details>"), "<details type=\"reasoning\"</details>",
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct qn_chats_imported *c = only(cases[i][0]);
        assert_int_equal(c->n, 1);
        assert_string_equal(c->messages[0].m.text, cases[i][1]);
        assert_string_equal(c->messages[0].m.reasoning, cases[i][2]);
    }
}

/* Errors say which chat is at fault, and what formats there are. */
static void faults_are_named(void **state)
{
    (void)state;
    static const char *const no_format[] = {"", " ", "x", "1", "\"a\"", "{", "{\"a\":", "PK\3\4"};
    for (size_t i = 0; i < sizeof no_format / sizeof *no_format; i++) {
        assert_int_equal(open_text(no_format[i]), QN_EFORMAT);
        assert_true(*why.message);
    }
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "the format is not known"},
        {"[{}]", "the format is not known"},
        {"[[]]", "the format is not known"},
        {"[1]", "the format is not known"},
        {"[{\"conv\":1}]", "chat 1 of the file: conv"},
        {"[{\"conv\":{},\"messages\":[{\"role\":\"x\"}]}]", "messages[0].role"},
        {"[{\"conv\":{},\"messages\":[]},{]", "chat 2 of the file"},
        {"[{\"conv\":{},\"messages\":[]} x]", "after its 1. chat"},
        {"[{\"conv\":{},\"messages\":[]},", "ends in its 2. chat"},
        {"{\"a\":1} x", "chat 1 of the file: text after"},
        {"{\"a\":1}\n{\"a\":1}", "chat 1 of the file: the format is not known"},
        {"{\"type\":\"session\"}\n{\"type\":\"message\"}", "chat 1 of the file"},
        {"{\"format\":\"quince-chats\",\"chats\":[{\"messages\":{}}]}", "messages: expected"},
        {"[{\"chat\":{\"history\":{\"messages\":[]}}}]", "history.messages: expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_chats_imported *c = NULL;
        qn_err err = open_text(cases[i].text);
        while (!err && !(err = qn_chats_reader_next(reader, arena, note, NULL, &c, &why)) && c)
            ;
        assert_int_equal(err, QN_EFORMAT);
        if (!strstr(why.message, cases[i].says))
            fail_msg("%s: %s", cases[i].text, why.message);
    }
    assert_int_equal(open_text("{\"format\":\"quince-chats\",\"chats\":{}}"), QN_EFORMAT);
    assert_int_equal(open_text("{\"format\":\"quince-chats\"}"), QN_EFORMAT);
}

/* ---- storing ---- */

static const char import[] = "0123456789abcdef0123456789abcdef";

static const char file[] =
    "{\"format\":\"quince-chats\",\"chats\":[{\"id\":\"x\",\"title\":\"imported\",\"head\":\"1\","
    "\"updated\":5,\"messages\":[{\"id\":\"1\",\"role\":\"user\",\"text\":\"apple\"},"
    "{\"id\":\"2\",\"parent\":\"1\",\"role\":\"assistant\",\"text\":\"pear\"}]}]}";

static qn_err store(const char *owner, const char *text)
{
    const struct qn_chats_imported *c = only(text);
    const struct qn_chats_ready ready = {.chat = c};
    qn_chats_import_add(chats, owner, import, &ready, 1, on_found, NULL);
    return await();
}

static void end_import(const char *owner, bool keep)
{
    qn_chats_import_end(chats, owner, import, keep, on_found, NULL);
    ok();
}

static size_t listed(const char *owner)
{
    qn_chats_list(chats, owner, &(struct qn_chats_list){.limit = 10}, on_found, NULL);
    ok();
    return found.n_chats;
}

static size_t hits(const char *query)
{
    qn_chats_search(chats, "o", query, 10, on_found, NULL);
    ok();
    return found.n_hits;
}

static void an_import_appears_at_its_end(void **state)
{
    (void)state;
    assert_int_equal(store("o", file), QN_OK);
    assert_int_equal(found.changed, 2);
    assert_int_equal(listed("o"), 0);
    assert_int_equal(hits("apple") + hits("imported"), 0);
    qn_chats_read_next(chats, "o", NULL, on_found, NULL);
    ok();
    assert_int_equal(found.n_chats, 0);
    end_import("p", true); /* another owner's */
    assert_int_equal(listed("o"), 0);
    qn_buf_clear(&told);
    end_import("o", true);
    assert_string_equal(qn_buf_cstr(&told), "o:all");
    assert_int_equal(listed("o"), 1);
    assert_string_equal(found.chats[0].title, "imported");
    assert_int_equal(found.chats[0].updated_ms, 5);
    assert_int_equal(hits("apple"), 1);
    qn_chats_read(chats, "o", found.hits[0].chat, on_found, NULL);
    ok();
    assert_int_equal(found.n_messages, 2);
    assert_string_equal(found.messages[1].parent, found.messages[0].id);
    assert_string_equal(found.chats[0].head, found.messages[0].id);
    /* Again: it is here, unless it was deleted. */
    const char *id = note_id(found.chats[0].id);
    assert_int_equal(store("o", file), QN_OK);
    assert_int_equal(found.n_chats, 1);
    assert_string_equal(found.chats[0].title, "imported");
    assert_int_equal(store("p", file), QN_OK);
    assert_int_equal(found.n_chats, 0);
    qn_chats_remove(chats, "o", id, on_found, NULL);
    ok();
    assert_int_equal(store("o", file), QN_OK);
    assert_int_equal(found.n_chats, 0);
}

static void a_failed_import_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(store("o", file), QN_OK);
    end_import("o", false);
    assert_int_equal(listed("o"), 0);
    assert_int_equal(hits("apple"), 0);
    end_import("o", true); /* too late */
    assert_int_equal(listed("o"), 0);
    /* A process that is killed before the end leaves nothing either. */
    close_chats();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_chats();
        _exit(store("o", file) ? 1 : 0); /* without closing */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    open_chats();
    end_import("o", true);
    assert_int_equal(listed("o"), 0);
}

/* ---- export ---- */

/* Exports all chats of the owner, in pieces. */
static void export_all(const char *owner, bool markdown, struct qn_buf *out)
{
    struct qn_chats_export *x = qn_chats_export_new(qn_chats_blob_dir(chats), markdown);
    char place[32] = "";
    size_t pieces = 0;
    qn_chats_export_begin(x, out);
    for (;;) {
        qn_chats_read_next(chats, owner, *place ? place : NULL, on_found, NULL);
        ok();
        if (!found.n_chats)
            break;
        snprintf(place, sizeof place, "%s", found.next);
        qn_chats_export_chat(x, &found.chats[0], found.messages, found.n_messages);
        for (bool more = true; more; pieces++) {
            struct qn_buf piece;
            qn_buf_init(&piece, 64 * 1024 * 1024);
            more = qn_chats_export_piece(x, &piece);
            assert_false(piece.overflow);
            qn_buf_add(out, piece.data, piece.len);
            qn_buf_deinit(&piece);
        }
    }
    qn_chats_export_end(x, out);
    qn_chats_export_free(x);
}

/* SHA-256 of a million "a" (FIPS 180-4, B.3). */
static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void an_export_can_be_imported(void **state)
{
    (void)state;
    enum { BYTES = 1000000 };
    struct qn_buf out;
    struct qn_chat_blob b = {.bytes = BYTES};
    char *temp = (qn_chats_blob_dir(chats), qn_chats_blob_temp(chats)), *bytes = malloc(BYTES);
    int fd = open(temp, O_WRONLY | O_CREAT, 0600);
    memset(bytes, 'a', BYTES);
    assert_int_equal(write(fd, bytes, BYTES), BYTES);
    close(fd);
    strcpy(b.id, million);
    strcpy(b.type, "image/png");
    qn_chats_add_blob(chats, "o", temp, &b, on_blob, NULL);
    ok();
    free(temp);
    free(bytes);
    const char *const blobs[] = {million};
    const char *one = add_chat("o", "\"eins\"");
    add_chat("o", "");
    char parts[256];
    snprintf(parts, sizeof parts,
             "[{\"kind\":\"image\",\"blob\":\"%s\",\"name\":\"p\"},{\"kind\":\"file\",\"blob\":"
             "\"%064d\"}]",
             million, 0);
    qn_chats_add_message(
        chats, "o",
        &(struct qn_chat_message){
            .chat = one, .text = "Grüße\n\\", .parts = parts, .blobs = blobs, .n_blobs = 1},
        on_found, NULL);
    ok();
    say("o", one, note_id(found.messages[0].id), "x");
    qn_buf_init(&out, 64 * 1024 * 1024);
    export_all("o", false, &out);
    struct qn_json *doc;
    if (qn_json_parse(out.data, out.len, &doc, &why))
        fail_msg("%s", why.message);
    qn_json_free(doc);
    assert_int_equal(qn_chats_reader_new(out.data, out.len, &reader, &why), QN_OK);
    const struct qn_chats_imported *c = next();
    assert_string_equal(c->chat.title, "\"eins\"");
    assert_string_equal(c->origin, one);
    assert_string_equal(shape(c), "Grüße\n\\< x<Grüße\n\\");
    assert_int_equal(c->messages[0].n_parts, 2);
    assert_int_equal(c->messages[0].parts[0].n, (BYTES + 2) / 3 * 4);
    assert_int_equal(strspn(c->messages[0].parts[0].data, "YWFh"),
                     (BYTES + 2) / 3 * 4 - 3); /* it ends in YQ== */
    assert_string_equal(c->messages[0].parts[0].type, "");
    assert_non_null(c->messages[0].parts[1].blob); /* its contents were not there */
    c = next();
    assert_string_equal(c->chat.title, "");
    assert_null(next());
    qn_buf_deinit(&out);
}

static void markdown_has_the_branch_that_was_shown(void **state)
{
    (void)state;
    struct qn_buf out;
    const char *chat = add_chat("o", "Title"), *q = say("o", chat, NULL, "Q");
    say("o", chat, q, "not this");
    const char *a = begin("o", q);
    assert_int_equal(append(a, true, "Hm\n\nso"), QN_OK);
    assert_int_equal(append(a, false, "A"), QN_OK);
    qn_chats_finish(chats, a, &(struct qn_chat_end){.state = QN_CHAT_DONE}, on_found, NULL);
    ok();
    qn_buf_init(&out, 1024 * 1024);
    export_all("o", true, &out);
    const char *text = qn_buf_cstr(&out);
    assert_int_equal(strncmp(text, "# Title\n\n*20", 12), 0);
    assert_non_null(
        strstr(text, "*\n\n## User\n\nQ\n\n## Assistant (m)\n\n> Hm\n> \n> so\n\nA\n\n"));
    assert_null(strstr(text, "not this"));
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_are_ordered, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_root_carries_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_make_chats, setup, teardown),
        cmocka_unit_test_setup_teardown(reasoning_is_taken_out_of_the_text, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(an_import_appears_at_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_import_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(an_export_can_be_imported, setup, teardown),
        cmocka_unit_test_setup_teardown(markdown_has_the_branch_that_was_shown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
