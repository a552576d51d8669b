/* io/http_server.c through real sockets: requests, their bodies, what is refused. */
#include "http_server_world.h"

static void keep_alive_script(void)
{
    int fd = dial();
    for (int i = 0; i < 3; i++) {
        say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        hear(fd, "hello");
        CHECK(strstr(reply, "HTTP/1.1 200 OK\r\n"));
        CHECK(strstr(reply, "X-Method: POST\r\n"));
        CHECK(strstr(reply, "Content-Length: 5\r\n"));
    }
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    say(fd, "GET /say%20it?q=a+b%26c&none HTTP/1.1\r\nHost: x\r\nX-Thing: seen\r\n\r\n");
    hear(fd, "|");
    CHECK(strstr(reply, "\r\n\r\na b&c|seen|?"));
    say(fd, "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strstr(reply, "HTTP/1.1 404 "));
    close(fd);
}

static void keep_alive(void **state)
{
    (void)state;
    play_out(keep_alive_script);
}

static void pipelining_script(void)
{
    int fd = dial();
    say(fd,
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
        "GET /late HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthree");
    hear(fd, NULL);
    const char *one = strstr(reply, "one"), *two = strstr(reply, "late"),
               *three = strstr(reply, "three");
    CHECK(one && two && three && one < two && two < three);
    close(fd);
}

static void pipelining(void **state)
{
    (void)state;
    play(pipelining_script);
}

static void head_script(void)
{
    int fd = dial();
    say(fd, "HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strstr(reply, "Content-Length: 2\r\n"));
    CHECK(strcmp(strstr(reply, "\r\n\r\n"), "\r\n\r\n") == 0);
    close(fd);
    fd = dial();
    say(fd, "HEAD /pour HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strcmp(strstr(reply, "\r\n\r\n"), "\r\n\r\n") == 0);
    close(fd);
    wait_for(&gone_calls, 1); /* a stream without a reader: its producer is told */
}

static void head_gets_no_body(void **state)
{
    (void)state;
    play(head_script);
}

static void chunked_script(void)
{
    int fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            "4\r\nwiki\r\n5;ext=1\r\npedia\r\n0\r\n\r\n");
    hear(fd, "wikipedia");
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    hear(fd, "\r\n\r\n");
    CHECK(strncmp(reply, "HTTP/1.1 100 ", 13) == 0);
    say(fd, "body");
    hear(fd, "\r\n\r\nbody");
    close(fd);
}

static void chunked_bodies_and_100_continue(void **state)
{
    (void)state;
    play(chunked_script);
}

static void big_body_script(void)
{
    static char head[128];
    size_t n = BODY_MAX;
    char *body = malloc(n);
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++) {
        body[i] = (char)(i * 31 % 251);
        sum += (unsigned char)body[i];
    }
    int fd = dial();
    snprintf(head, sizeof head, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", n);
    say(fd, head);
    put(fd, body, n);
    snprintf(head, sizeof head, "\r\n\r\n%zu %lu", n, sum);
    hear(fd, head);
    close(fd);
    free(body);
}

static void a_big_body_is_spooled_whole(void **state)
{
    (void)state;
    play(big_body_script);
}

/* A body that no handler wants reaches neither memory nor disk; the connection goes on. */
static void unwanted_script(void)
{
    char *body = calloc(1, BODY_MAX);
    int fd = dial(), before = stores;
    for (int i = 0; i < 2; i++) {
        char head[96];
        snprintf(head, sizeof head,
                 "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BODY_MAX);
        say(fd, head);
        put(fd, body, BODY_MAX);
        hear(fd, "thrown=1 0");
        CHECK(strncmp(reply, "HTTP/1.1 401 ", 13) == 0);
    }
    CHECK(stores == before);
    say(fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    hear(fd, "thrown=0 0");
    close(fd);
    /* Not without end. */
    fd = dial();
    say(fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < BODY_MAX / 0x4000 + 16; i++) {
        say(fd, "4000\r\n");
        put(fd, block, sizeof block);
        say(fd, "\r\n");
    }
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    CHECK(stores == before);
    close(fd);
    free(body);
}

static void an_unwanted_body_is_thrown_away(void **state)
{
    (void)state;
    play(unwanted_script);
}

static void refused(const char *text, int status)
{
    char line[64];
    int fd = dial();
    say(fd, text);
    hear(fd, NULL);
    snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
    if (strncmp(reply, line, strlen(line)) != 0)
        fprintf(stderr, "for %.60s: %.200s\n", text, reply);
    CHECK(strncmp(reply, line, strlen(line)) == 0);
    snprintf(line, sizeof line, "{\"refused\":%d,", status);
    CHECK(strstr(reply, line));
    CHECK(strstr(reply, "Connection: close\r\n"));
    close(fd);
}

/* The same as the second head of its connection, with the request that it may hide. */
static void refused_later(const char *fields)
{
    char text[512];
    int fd = dial();
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    snprintf(text, sizeof text,
             "POST /echo HTTP/1.1\r\n%s\r\n0\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\n\r\n", fields);
    say(fd, text);
    hear(fd, NULL);
    if (strncmp(reply, "HTTP/1.1 400 ", 13) != 0 || strstr(reply + 1, "HTTP/1.1 "))
        fprintf(stderr, "for %.60s: %.300s\n", fields, reply);
    CHECK(strncmp(reply, "HTTP/1.1 400 ", 13) == 0 && !strstr(reply + 1, "HTTP/1.1 "));
    CHECK(strstr(reply, "{\"refused\":400,\"method\":\"POST\",\"path\":\"/echo\"}"));
    close(fd);
}

static void later_heads_script(void)
{
    refused_later("Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nContent-Length: 5\r\nContent-Length: 50\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nContent-Length : 5\r\n");
    refused_later("Host: x\r\nTransfer-Encoding : chunked\r\n");
    refused_later("Host: x\r\nX-Bell: \a\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nHost: y\r\nContent-Length: 5\r\n");
}

static void later_heads_are_as_strict_as_first_ones(void **state)
{
    (void)state;
    play_out(later_heads_script);
}

static void refusals_script(void)
{
    refused("nonsense\r\n\r\n", 400);
    refused("GET  / HTTP/1.1\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nbroken header\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nName : x\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            400);
    refused(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400);
    refused("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("PRI * HTTP/2.0\r\n\r\n", 505);
    /* By its length alone, before a byte of it has been sent. */
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n", 413);
    CHECK(strstr(reply, "\"method\":\"POST\",\"path\":\"/echo\""));
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000000000\r\n\r\n", 413);

    char *big = malloc(40 * 1024);
    int n = snprintf(big, 40 * 1024, "GET /echo HTTP/1.1\r\nHost: x\r\nX-Big: ");
    memset(big + n, 'a', 40 * 1024 - (size_t)n);
    memcpy(big + 40 * 1024 - 5, "\r\n\r\n", 5);
    refused(big, 431);
    int second = dial(); /* also as the second head of a connection */
    say(second, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(second, "late");
    say(second, big);
    hear(second, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 431 ", 13) == 0);
    close(second);
    memcpy(big + 18 * 1024, "\r\n\r\n", 5); /* and in our words where the daemon has room for it */
    second = dial();
    say(second, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(second, "late");
    say(second, big);
    hear(second, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 431 ", 13) == 0);
    CHECK(strstr(reply, "{\"refused\":431,"));
    close(second);
    free(big);

    /* A chunked body has no length to go by: refused at the first byte too many, and the rest of
     * it, which the client goes on sending, does not destroy the answer. */
    int fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 600; i++) {
        say(fd, "4000\r\n");
        put(fd, block, sizeof block);
        say(fd, "\r\n");
    }
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    close(fd);

    /* The same with a length and a client that sends everything before it listens. */
    fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9830400\r\n\r\n");
    for (int i = 0; i < 600; i++)
        put(fd, block, sizeof block);
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    close(fd);
}

static void bad_requests_are_refused_in_our_words(void **state)
{
    (void)state;
    play_out(refusals_script);
}

/* As many as there may be connections are refused, and do not close. */
static int refused_fds[QN_HTTP_CONNECTIONS_MAX];

static void lingering_script(void)
{
    int n = (int)(sizeof refused_fds / sizeof *refused_fds);
    for (int i = 0; i < n; i++) {
        refused_fds[i] = dial();
        say(refused_fds[i], "nonsense\r\n\r\n");
        hear(refused_fds[i], NULL);
        CHECK(strncmp(reply, "HTTP/1.1 400 ", 13) == 0);
    }
    int fd = dial();
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    close(fd);
    for (int i = 0; i < n; i++)
        close(refused_fds[i]);
}

/* Lets this process have both ends of as many connections as there may be. */
static void want_descriptors(void)
{
    struct rlimit limit;
    const rlim_t wanted = 2 * QN_HTTP_CONNECTIONS_MAX + 200; /* both ends are in this process */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < wanted)
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit))
        skip();
}

static void refused_clients_take_no_place(void **state)
{
    (void)state;
    want_descriptors();
    play(lingering_script);
}

/* As many as there may be are kept for later, but for two: one is being answered, of another half
 * a body is there. */
static int kept_fds[QN_HTTP_CONNECTIONS_MAX];

static void resting_script(void)
{
    enum { ANSWERED, SENDING, RESTING, N = QN_HTTP_CONNECTIONS_MAX, MORE = 7 };
    for (int i = 0; i < N; i++) {
        kept_fds[i] = dial();
        say(kept_fds[i], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        hear(kept_fds[i], "hello");
    }
    int asked = requests;
    say(kept_fds[ANSWERED], "GET /keep HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for(&requests, asked + 1);
    say(kept_fds[SENDING], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
    for (int i = 0; i < MORE; i++) {
        int fd = dial();
        say(fd, "GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        hear(fd, "late");
        CHECK(strncmp(reply, "HTTP/1.1 200 ", 13) == 0);
        close(fd);
    }
    char byte;
    int left = 0;
    for (int i = 0; i < N; i++)
        left += recv(kept_fds[i], &byte, 1, MSG_DONTWAIT) == 0;
    CHECK(left >= 1 && left <= MORE); /* who comes behind another's end has its place */
    CHECK(recv(kept_fds[RESTING], &byte, 1, MSG_DONTWAIT) == 0);
    say(kept_fds[SENDING], "llo");
    hear(kept_fds[SENDING], "hello");
    CHECK(strstr(reply, "HTTP/1.1 200 "));
    for (int i = 0; i < N; i++)
        close(kept_fds[i]);
}

static void who_asks_takes_the_place_of_who_rests(void **state)
{
    (void)state;
    want_descriptors();
    play(resting_script);
}

static void post_blob(int fd, size_t n, size_t sent)
{
    char head[128];
    char *body = malloc(sent + 1);
    for (size_t i = 0; i < sent; i++)
        body[i] = (char)(i * 31 % 251);
    snprintf(head, sizeof head, "POST /blob HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", n);
    say(fd, head);
    put(fd, body, sent);
    free(body);
}

static void post_zeros(int fd, size_t n)
{
    char *zeros = calloc(1, n);
    put(fd, zeros, n);
    free(zeros);
}

static void check_kept(size_t n)
{
    FILE *f = fopen(blob_path, "rb");
    size_t i = 0;
    CHECK(f);
    for (int c; (c = fgetc(f)) != EOF; i++)
        CHECK((char)c == (char)(i * 31 % 251));
    fclose(f);
    CHECK(i == n);
    CHECK(unlink(blob_path) == 0);
}

static void blob_script(void)
{
    static const size_t sizes[] = {0, 5, 1024 * 1024, 3 * BODY_MAX + 1};
    int fd = dial();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        post_blob(fd, sizes[i], sizes[i]);
        hear(fd, "\r\n\r\n");
        CHECK(strstr(reply, "HTTP/1.1 201 "));
        check_kept(sizes[i]);
    }
    close(fd);
}

static void *slow_blob(void *arg)
{
    int fd = dial();
    post_blob(fd, BODY_MAX, BODY_MAX);
    hear(fd, "\r\n\r\n");
    CHECK(strstr(reply, "HTTP/1.1 201 "));
    close(fd);
    return arg;
}

static void slow_disk_script(void)
{
    pthread_t t;
    stores_hang = true;
    stores = 0;
    CHECK(pthread_create(&t, NULL, slow_blob, NULL) == 0);
    wait_for(&stores, 1);
    turns(1); /* the others do not wait for the disk */
    stores_hang = false;
    pthread_join(t, NULL);
    check_kept(BODY_MAX);
    CHECK(stores_on_loop == 0);
}

static void bodies_that_are_kept_are_stored_by_workers(void **state)
{
    (void)state;
    disk_left = 1024 * 1024;
    play(blob_script);
    play(slow_disk_script);
}

/* A kept body may have a limit of its own. */
static void limited_blob_script(void)
{
    int fd = dial();
    post_blob(fd, 100000, 100000);
    hear(fd, "\r\n\r\n");
    CHECK(strstr(reply, "HTTP/1.1 201 "));
    check_kept(100000);
    close(fd);
    fd = dial();
    post_blob(fd, 100001, 0);
    hear(fd, NULL);
    CHECK(strstr(reply, "HTTP/1.1 413 "));
    close(fd);
    fd = dial();
    say(fd, "POST /blob HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n186a1\r\n");
    post_zeros(fd, 100001);
    hear(fd, NULL);
    CHECK(strstr(reply, "HTTP/1.1 413 "));
    close(fd);
}

static void a_kept_body_has_its_limit(void **state)
{
    (void)state;
    blob_max = 100000;
    play(limited_blob_script);
}

static void full_disk_script(void)
{
    int fd = dial();
    post_blob(fd, BODY_MAX, BODY_MAX);
    hear(fd, "}");
    CHECK(strstr(reply, "HTTP/1.1 507 "));
    close(fd);
    CHECK(access(blob_path, F_OK) != 0);
    fd = dial(); /* leaves while a worker has its body */
    slow_store_ms = 100;
    stores = 0;
    post_blob(fd, BODY_MAX, 2 * 1024 * 1024);
    wait_for(&stores, 1);
    close(fd);
    fd = dial(); /* and this one is there when the server goes */
    post_blob(fd, BODY_MAX, 2 * 1024 * 1024);
    wait_for(&stores, 2);
}

static void a_kept_body_leaves_the_reserve_of_its_disk(void **state)
{
    (void)state;
    blob_reserve = 4096 * 1024 - 512 * 1024; /* of the 4 MiB that fstatvfs says are left */
    play(full_disk_script);
}

static void temporary_script(void)
{
    char head[96];
    char *body = calloc(1, BODY_MAX);
    for (int k = 0; k < 2; k++) {
        int n = k ? BODY_MAX / 2 : BODY_MAX, fd = dial();
        snprintf(head, sizeof head, "POST /sum HTTP/1.0\r\nContent-Length: %d\r\n\r\n", n);
        say(fd, head);
        put(fd, body, (size_t)n);
        hear(fd, "\r\n\r\n");
        CHECK(strncmp(reply, k ? "HTTP/1.1 200 " : "HTTP/1.1 507 ", 13) == 0);
        close(fd);
    }
    free(body);
}

/* Of the 4 MiB that are left: as much as of disks of models, but no more than a tenth of all, since
 * the file system of temporary files may be a small one. */
static void a_temporary_body_leaves_the_reserve_of_its_disk(void **state)
{
    (void)state;
    blob_reserve = 1024 * 1024;
    disk_blocks = 1024 * 100;
    play(temporary_script);
    blob_reserve = 1024 * 1024 * 1024;
    disk_blocks = 1024;
    play(temporary_script);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(keep_alive),
        T(an_unwanted_body_is_thrown_away),
        T(pipelining),
        T(head_gets_no_body),
        T(chunked_bodies_and_100_continue),
        T(a_big_body_is_spooled_whole),
        T(a_kept_body_has_its_limit),
        T(bodies_that_are_kept_are_stored_by_workers),
        T(a_kept_body_leaves_the_reserve_of_its_disk),
        T(a_temporary_body_leaves_the_reserve_of_its_disk),
        T(bad_requests_are_refused_in_our_words),
        T(later_heads_are_as_strict_as_first_ones),
        T(refused_clients_take_no_place),
        T(who_asks_takes_the_place_of_who_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
