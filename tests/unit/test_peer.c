/* io/peer.c: whose a connection is, by real sockets and by tables as the kernel prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/auth.h"
#include "io/peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tables_opened;

/* Takes the place of the C library's, for all that is linked into this program. */
FILE *fopen(const char *path, const char *mode)
{
    (void)mode;
    tables_opened++;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? NULL : fdopen(fd, "r");
}

/* A connection from a socket of one family to a listener of another (that of the address), as the
 * listener sees it. The caller closes fds. */
static void connection(int family, const struct sockaddr *to, socklen_t n,
                       struct qn_http_ends *ends, int fds[3])
{
    struct sockaddr_storage at;
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    socklen_t len = sizeof at;
    fds[0] = socket(to->sa_family, SOCK_STREAM, 0);
    assert_int_equal(bind(fds[0], to, n), 0);
    assert_int_equal(listen(fds[0], 1), 0);
    assert_int_equal(getsockname(fds[0], (struct sockaddr *)&at, &len), 0);
    fds[1] = socket(family, SOCK_STREAM, 0);
    if (family == AF_INET6 && at.ss_family == AF_INET) {
        mapped.sin6_port = ((struct sockaddr_in *)(void *)&at)->sin_port;
        inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
        memcpy(&at, &mapped, sizeof mapped);
        len = sizeof mapped;
    }
    assert_int_equal(connect(fds[1], (struct sockaddr *)&at, len), 0);
    len = sizeof ends->peer;
    fds[2] = accept(fds[0], (struct sockaddr *)&ends->peer, &len);
    assert_true(fds[2] >= 0);
    len = sizeof ends->own;
    assert_int_equal(getsockname(fds[2], (struct sockaddr *)&ends->own, &len), 0);
}

static void real_sockets(void **state)
{
    (void)state;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const struct {
        int family;
        const struct sockaddr *to;
        socklen_t n;
        const char *table;
    } rows[] = {{AF_INET, (struct sockaddr *)&v4, sizeof v4, "/proc/self/net/tcp"},
                {AF_INET6, (struct sockaddr *)&v4, sizeof v4, "/proc/self/net/tcp6"},
                {AF_INET6, (struct sockaddr *)&v6, sizeof v6, "/proc/self/net/tcp6"}};
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    bool has_v6 = probe >= 0 && bind(probe, (struct sockaddr *)&v6, sizeof v6) == 0;
    if (probe >= 0)
        close(probe);
    for (size_t i = 0; i < (has_v6 ? 3 : 1); i++) {
        struct qn_http_ends ends = {0};
        int fds[3];
        uid_t uid = 12345;
        connection(rows[i].family, rows[i].to, rows[i].n, &ends, fds);
        assert_true(qn_peer_is_here(&ends));
        assert_true(qn_peer_look_up(rows[i].table, &ends, &uid));
        assert_int_equal(uid, geteuid());
        uid = 12345;
        assert_true(qn_peer_user(&ends, &uid));
        assert_int_equal(uid, geteuid());
        assert_int_equal(qn_peer_is(&ends), QN_PEER_OWN);
        struct qn_http_user user = {0};
        ends.user = &user;
        assert_true(qn_peer_user(&ends, &uid));
        close(fds[1]); /* its program has let go of it */
        assert_false(qn_peer_look_up(rows[i].table, &ends, &uid));
        assert_int_equal(qn_peer_is(&ends), QN_PEER_OWN); /* remembered for the connection */
        user.known = false;
        int before = tables_opened;
        assert_int_equal(qn_peer_is(&ends), QN_PEER_UNKNOWN);
        assert_false(user.known);
        close(fds[0]);
        close(fds[2]); /* no end is left */
        assert_int_equal(qn_peer_is(&ends), QN_PEER_UNKNOWN);
        assert_int_equal(tables_opened, before); /* the kernel's word is enough */
    }
    assert_int_equal(qn_peer_is(NULL), QN_PEER_OTHER);
}

static void end_of(const char *address, int port, struct sockaddr_storage *out)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof v4);
    } else {
        assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
        memcpy(out, &v6, sizeof v6);
    }
}

/* Rows by the form of proc_pid_net_tcp(5), of a machine whose words end with the high byte: port
 * 40000 is 9C40, 8080 is 1F90. Lines: a listener, the server's own end (user 7), the client's end
 * (user 1000), a client that has closed (TIME_WAIT and no inode), one whose program is gone. */
static const char table[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 11 "
    "1 0000000000000000 100 0 0 10 0\n"
    "   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     7        0 12 "
    "1 0000000000000000 20 4 30 10 -1\n"
    "   2: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 13 "
    "1 0000000000000000 20 4 30 10 -1\n"
    "   3: 0100007F:9C41 0100007F:1F90 06 00000000:00000000 03:00000B2F 00000000     0        0 0 "
    "3 "
    "0000000000000000\n"
    "   4: 0100007F:9C42 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 0 "
    "1 "
    "0000000000000000 20 4 30 10 -1\n"
    "   5: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000100007F:1F90 01 "
    "00000000:00000000 00:00000000 00000000  1001        0 15 1 0000000000000000 20 4 30 10 -1\n"
    "   6: 00000000000000000000000001000000:9C44 00000000000000000000000001000000:1F90 01 "
    "00000000:00000000 00:00000000 00000000  1002        0 16 1 0000000000000000 20 4 30 10 -1\n";

static void tables(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        int port, uid; /* -1: unknown */
    } rows[] = {{"127.0.0.1", 40000, 1000}, {"127.0.0.1", 40001, -1}, {"127.0.0.1", 40002, -1},
                {"127.0.0.1", 40003, 1001}, {"::1", 40004, 1002},     {"127.0.0.1", 40004, -1},
                {"::1", 40000, -1},         {"127.0.0.2", 40000, -1}};
    char path[] = "/tmp/quince-peer-XXXXXX";
    const uint16_t order = 1;
    if (*(const unsigned char *)&order != 1)
        skip(); /* the table above is of the other kind */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, table, sizeof table - 1), sizeof table - 1);
    close(fd);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_http_ends ends = {0};
        uid_t uid = 0;
        end_of(rows[i].address, rows[i].port, &ends.peer);
        end_of(rows[i].address, 8080, &ends.own);
        assert_int_equal(qn_peer_look_up(path, &ends, &uid), rows[i].uid >= 0);
        if (rows[i].uid >= 0)
            assert_int_equal(uid, rows[i].uid);
    }
    unlink(path);
    struct qn_http_ends ends = {0};
    uid_t uid;
    end_of("127.0.0.1", 40000, &ends.peer);
    end_of("127.0.0.1", 8080, &ends.own);
    assert_false(qn_peer_look_up(path, &ends, &uid));
}

/* A connection that the kernel does not know is refused, and the message says what helps. */
static void an_unknown_user(void **state)
{
    (void)state;
    struct qn_keys *keys = qn_keys_new();
    const struct qn_auth a = {.keys = keys, .host = "localhost"};
    struct qn_http_ends ends = {0};
    end_of("127.0.0.1", 1, &ends.peer);
    end_of("127.0.0.1", 2, &ends.own);
    struct qn_visit v = {.host = "localhost", .ends = &ends};
    const struct qn_key_row *key;
    assert_int_equal(qn_auth_enter(&a, &v, QN_ADMIN, &key), QN_NO_USER);
    assert_int_equal(qn_verdict_status(QN_NO_USER), 403);
    assert_string_equal(qn_verdict_type(QN_NO_USER), "admin_key_required");
    assert_non_null(strstr(qn_verdict_text(QN_NO_USER), "QUINCE_ADMIN_API_KEY"));
    assert_int_equal(qn_auth_enter(&a, &v, QN_KEY, &key), QN_MAY);
    v.relayed = true;
    assert_int_equal(qn_auth_enter(&a, &v, QN_ADMIN, &key), QN_NO_ADMIN);
    v.relayed = false;
    v.origin = "http://localhost:1";
    assert_int_equal(qn_auth_enter(&a, &v, QN_ADMIN, &key), QN_NO_ADMIN);
    qn_keys_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_sockets),
        cmocka_unit_test(tables),
        cmocka_unit_test(an_unknown_user),
    };
    return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
