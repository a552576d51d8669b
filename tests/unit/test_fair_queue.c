/* router/models/fair_queue.c. Requests are written as letters of clients, capitals and digits
 * apart: "a1" is client a's first. The expected orders are worked out by hand beside each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rand.h"
#include "models/fair_queue.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 400 };

static struct qn_fair_queue q;
static struct qn_fair_item items[MANY];
static char names[MANY][16];
static size_t n_items;
static int count[256]; /* requests of each client so far */

static int setup(void **state)
{
    (void)state;
    q = (struct qn_fair_queue){0};
    memset(count, 0, sizeof count);
    n_items = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (q.oldest)
        qn_fair_leave(&q, q.oldest);
    return 0;
}

/* One request of each letter's client, in this order; tickets are 1, 2, 3 ... */
static void come_of(const char *group, const char *clients)
{
    for (; *clients; clients++) {
        char client[2] = {*clients, '\0'};
        size_t i = n_items++;
        snprintf(names[i], sizeof names[i], "%c%d", *clients, ++count[(unsigned char)*clients]);
        qn_fair_add(&q, &items[i], i + 1, group, client);
    }
}

static void come(const char *clients)
{
    come_of("", clients);
}

static size_t index_of(const char *name)
{
    size_t i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

static void leave(const char *name)
{
    qn_fair_leave(&q, &items[index_of(name)]);
}

/* Serves `turns` requests and compares their names, with blanks between. */
static void serves(const char *wanted, int turns, uint64_t below)
{
    char got[MANY * 16] = "";
    for (int i = 0; i < turns; i++) {
        struct qn_fair_item *x = qn_fair_next(&q, below);
        if (!x)
            break;
        qn_fair_serve(&q, x);
        assert_null(x->client);
        if (*got)
            strcat(got, " ");
        strcat(got, names[x - items]);
    }
    assert_string_equal(got, wanted);
}

static void empty(void **state)
{
    (void)state;
    assert_null(qn_fair_next(&q, UINT64_MAX));
    assert_int_equal(q.n, 0);
}

static void one_client_is_served_in_its_order(void **state)
{
    (void)state;
    come("aaaa");
    serves("a1 a2 a3 a4", 9, UINT64_MAX);
    assert_null(q.groups.first);
    assert_null(q.oldest);
}

/* Three of a come first, then one of b, then two of c: the line is a b c. Round 1: a1 b1 c1;
 * round 2: a2 c2; round 3: a3. */
static void clients_take_turns(void **state)
{
    (void)state;
    come("aaabcc");
    serves("a1 b1 c1 a2 c2 a3", 9, UINT64_MAX);
}

/* a's first has been served, so the line is b a when c comes: b a c. Then b (whose only one is
 * served) leaves the line; when it comes again it stands behind c: a c b. */
static void who_comes_later_stands_behind(void **state)
{
    (void)state;
    come("aaab");
    serves("a1", 1, UINT64_MAX);
    come("c");
    serves("b1", 1, UINT64_MAX);
    come("b");
    serves("a2 c1 b2 a3", 9, UINT64_MAX);
}

/* A new client at every step: a's second still comes after those that were in line before it. */
static void new_clients_starve_no_other(void **state)
{
    (void)state;
    come("aab");
    serves("a1", 1, UINT64_MAX); /* line: b a */
    come("c");                   /* b a c */
    serves("b1", 1, UINT64_MAX); /* a c */
    come("d");                   /* a c d */
    serves("a2", 1, UINT64_MAX);
    serves("c1 d1", 9, UINT64_MAX);
}

/* Leaving changes no other client's turn: without a1 it is still a's turn, with a2; without b's
 * only one, c follows. */
static void leaving_costs_no_turn(void **state)
{
    (void)state;
    come("aabcc");
    leave("a1");
    leave("b1");
    assert_int_equal(q.n, 3);
    serves("a2 c1 c2", 9, UINT64_MAX);
}

/* Tickets: a1=1 b1=2 a2=3 b2=4 c1=5. Below 4 only the first three may go: turns a b a. What is left
 * keeps its turns: after a1 b1 the line was c a b; a2 went, so it is c b. */
static void only_small_tickets(void **state)
{
    (void)state;
    come("ababc");
    serves("a1 b1 a2", 9, 4);
    assert_int_equal(q.n, 2);
    serves("c1 b2", 9, UINT64_MAX);
}

static void the_oldest_is_known(void **state)
{
    (void)state;
    come("aab");
    assert_int_equal(q.oldest->ticket, 1);
    leave("a1");
    assert_int_equal(q.oldest->ticket, 2);
    qn_fair_serve(&q, &items[index_of("a2")]);
    assert_int_equal(q.oldest->ticket, 3);
    assert_ptr_equal(q.oldest, q.newest);
}

/* Line a b c with a: 3, b: 1, c: 2 waiting is served a1 b1 c1 a2 c2 a3, see above. */
static void how_many_are_ahead(void **state)
{
    (void)state;
    static const char *const order[] = {"a1", "b1", "c1", "a2", "c2", "a3"};
    come("aaabcc");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_int_equal(qn_fair_ahead(&q, &items[index_of(order[i])]), i);
}

/* Two requests of one key, under one name; another key's five come under three names, which give it
 * every second turn and no more. Within it the names take turns: b c d, b c. */
static void groups_take_turns_first(void **state)
{
    (void)state;
    static const char *const order[] = {"a1", "b1", "a2", "c1", "d1", "b2", "c2"};
    come_of("x", "aaa");
    leave("a3");
    come_of("y", "bbcdc");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_int_equal(qn_fair_ahead(&q, &items[index_of(order[i])]), i);
    serves("a1 b1 a2 c1 d1 b2 c2", 9, UINT64_MAX);
    assert_null(q.groups.first);
    come_of("x", "b"); /* another b: names are their groups' own */
    come_of("y", "bb");
    serves("b3 b4 b5", 9, UINT64_MAX);
}

/* a and b are of one group, c and d of another, e of a third. */
static const char *group_of(char client)
{
    return client < 'c' ? "x" : client < 'e' ? "y" : "z";
}

/* Any queue is served as `ahead` says, each client's requests in their order, and no group has two
 * turns while another waits, nor has a client while another of its group does. */
static void any_order_keeps_the_promises(void **state)
{
    for (int round = 0; round < 50; round++) {
        size_t ahead[MANY], left = 0;
        unsigned char dice[64];
        setup(state);
        qn_random_bytes(dice, sizeof dice);
        for (size_t i = 0; i < sizeof dice; i++) {
            char client[2] = {(char)('a' + dice[i] % 5), '\0'};
            come_of(group_of(*client), client);
            if (dice[i] >= 200 && qn_fair_next(&q, UINT64_MAX))
                qn_fair_serve(&q, qn_fair_next(&q, UINT64_MAX));
            else if (dice[i] >= 150)
                qn_fair_leave(&q, q.oldest);
        }
        for (size_t i = 0; i < n_items; i++)
            if (items[i].client) {
                ahead[i] = qn_fair_ahead(&q, &items[i]);
                left++;
            }
        assert_int_equal(left, q.n);
        int turns[256] = {0};
        uint64_t last[256] = {0};
        for (size_t i = 0; q.n; i++) {
            struct qn_fair_item *x = qn_fair_next(&q, UINT64_MAX);
            unsigned char c = (unsigned char)names[x - items][0];
            assert_int_equal(ahead[x - items], i);
            assert_true(x->ticket > last[c]);
            last[c] = x->ticket;
            qn_fair_serve(&q, x);
            turns[c]++;
            unsigned char g = (unsigned char)*group_of((char)c);
            turns[g]++;
            for (size_t k = 0; k < n_items; k++) {
                unsigned char other = (unsigned char)names[k][0];
                unsigned char others = (unsigned char)*group_of((char)other);
                if (items[k].client && g == others)
                    assert_true(turns[c] <= turns[other] + 1);
                else if (items[k].client)
                    assert_true(turns[g] <= turns[others] + 1);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(empty, setup, teardown),
        cmocka_unit_test_setup_teardown(one_client_is_served_in_its_order, setup, teardown),
        cmocka_unit_test_setup_teardown(clients_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(who_comes_later_stands_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(new_clients_starve_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(leaving_costs_no_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(only_small_tickets, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(how_many_are_ahead, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_take_turns_first, setup, teardown),
        cmocka_unit_test_setup_teardown(any_order_keeps_the_promises, setup, teardown),
    };
    return cmocka_run_group_tests_name("fair_queue", tests, NULL, NULL);
}
