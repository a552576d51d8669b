/* lib/io/http_budget.c through real sockets: what requests hold is divided between their owners,
 * whom the test names in a header. */
#include "http_server_world.h"

enum { BUDGET = 1600 * 1024, BODY = 400 * 1024, NEVER_MS = 1000 * HANG_S, AT_ONCE_MS = 1 };

static char body[BODY];

/* A request that is not answered; returns its socket. */
static int hold(char who)
{
    char head[128];
    int fd = dial(), before = requests;
    snprintf(head, sizeof head,
             "POST /keep HTTP/1.1\r\nHost: x\r\nX-Owner: %c\r\nContent-Length: %d\r\n\r\n", who,
             BODY);
    say(fd, head);
    put(fd, body, BODY);
    wait_for(&requests, before + 1);
    return fd;
}

static void expect_refused(const char *head)
{
    int fd = dial();
    say(fd, head);
    hear(fd, "refused");
    CHECK(strncmp(reply, "HTTP/1.1 429", 12) == 0);
    CHECK(strstr(reply, "\r\nRetry-After: 1\r\n"));
    close(fd);
}

/* Before a byte of its body has come. */
static void expect_no_room(char who)
{
    char head[128];
    snprintf(head, sizeof head,
             "POST /echo HTTP/1.1\r\nHost: x\r\nX-Owner: %c\r\nContent-Length: %d\r\n\r\n", who,
             BODY);
    expect_refused(head);
}

static void shares_script(void)
{
    int first = hold('a'), second = hold('a');
    expect_no_room('a'); /* half of all is one owner's share */
    int third = hold('b');
    expect_no_room('a');
    int gone = gone_calls;
    close(first);
    close(second);
    close(third);
    wait_for(&gone_calls, gone + 1);
    turns(5);
    close(hold('a')); /* what has ended holds nothing */
}

static void bodies_share_the_budget(void **state)
{
    (void)state;
    qn_http_server_set_budget(server, BUDGET, NEVER_MS);
    play(shares_script);
}

static void chunks_script(void)
{
    int first = hold('a'), second = hold('a');
    char head[128], chunk[32];
    int n = snprintf(chunk, sizeof chunk, "%x\r\n", BODY);
    CHECK(n > 0);
    snprintf(head, sizeof head,
             "POST /echo HTTP/1.1\r\nHost: x\r\nX-Owner: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    int fd = dial();
    say(fd, head);
    say(fd, chunk);
    put(fd, body, BODY);
    hear(fd, "refused");
    CHECK(strncmp(reply, "HTTP/1.1 429", 12) == 0);
    close(fd);
    fd = dial(); /* small ones are always read */
    say(fd, "POST /echo HTTP/1.0\r\nX-Owner: a\r\nContent-Length: 5\r\n\r\nhello");
    hear(fd, "hello");
    close(fd);
    close(first);
    close(second);
}

static void bodies_without_a_length_count(void **state)
{
    (void)state;
    qn_http_server_set_budget(server, BUDGET, NEVER_MS);
    play(chunks_script);
}

static void unread_script(void)
{
    int fd = dial();
    say(fd, "GET /pour HTTP/1.0\r\nX-Owner: a\r\n\r\n");
    wait_for(&gone_calls, 1); /* it never reads */
    CHECK(written_blocks < 400);
    close(fd);
}

static void unread_replies_beyond_the_share_are_cut_off(void **state)
{
    (void)state;
    qn_http_server_set_budget(server, 16 * 1024, AT_ONCE_MS);
    play(unread_script);
}

static int upload(char who)
{
    char head[128];
    int fd = dial();
    snprintf(head, sizeof head,
             "POST /blob HTTP/1.1\r\nHost: x\r\nX-Owner: %c\r\nExpect: 100-continue\r\n"
             "Content-Length: 9\r\n\r\n",
             who);
    say(fd, head);
    hear(fd, "\r\n\r\n");
    return fd;
}

static void uploads_script(void)
{
    int fds[QN_HTTP_UPLOADS_MAX];
    for (int i = 0; i < QN_HTTP_UPLOADS_MAX; i++) {
        fds[i] = upload('a');
        CHECK(strncmp(reply, "HTTP/1.1 100", 12) == 0);
    }
    close(upload('a'));
    CHECK(strncmp(reply, "HTTP/1.1 429", 12) == 0);
    close(upload('b'));
    CHECK(strncmp(reply, "HTTP/1.1 100", 12) == 0);
    for (int i = 0; i < QN_HTTP_UPLOADS_MAX; i++)
        close(fds[i]);
}

static void one_owner_has_so_many_uploads_open(void **state)
{
    (void)state;
    play(uploads_script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_share_the_budget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_owner_has_so_many_uploads_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_without_a_length_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unread_replies_beyond_the_share_are_cut_off, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("http_budget", tests, NULL, NULL);
}
