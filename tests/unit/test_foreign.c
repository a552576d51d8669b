/* Files in folders of other users: which links are followed, and what counts as a description. Here
 * the links of one user are those of another one, since the trusted user is a parameter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "registry/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRANGER = 12345 };

static char dir[64];
static struct qn_foreign place;

/* root's links are always trusted, so root gives them away. */
static void give_away(const char *path)
{
    if (geteuid() == 0)
        assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
}

static const char *at(const char *rel)
{
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, rel);
    return path;
}

static void put(const char *rel, const char *text)
{
    assert_int_equal(qn_file_write_atomic(at(rel), text, strlen(text), 0644, NULL), QN_OK);
}

static void link_to(const char *text, const char *rel)
{
    assert_int_equal(symlink(text, at(rel)), 0);
    give_away(at(rel));
}

static void enter(uid_t user)
{
    qn_foreign_close_place(&place);
    assert_int_equal(qn_foreign_open_place(&place, at("place"), user, NULL), QN_OK);
}

/* To the place every link is another user's. */
static void enter_as_other(void)
{
    enter(geteuid() ? geteuid() + 1 : 0);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-foreign-XXXXXX");
    if (!mkdtemp(dir) || qn_mkdirs(at("place/below"), 0755, NULL) ||
        qn_mkdirs(at("private"), 0755, NULL))
        return -1;
    put("private/secret", "secret");
    put("place/below/text", "text");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    qn_foreign_close_place(&place);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static qn_err read_it(const char *rel, const char *says)
{
    struct qn_buf text;
    qn_buf_init(&text, 100);
    qn_err err = qn_foreign_read(&place, at(rel), &text, NULL);
    if (!err)
        assert_string_equal(qn_buf_cstr(&text), says);
    qn_buf_deinit(&text);
    return err;
}

static bool opens(const char *rel)
{
    struct stat st;
    return qn_foreign_stat(&place, at(rel), &st, NULL) == QN_OK;
}

static void links_of_others_that_lead_out_are_not_followed(void **state)
{
    (void)state;
    link_to("../private/secret", "place/relative");
    link_to(at("private/secret"), "place/absolute");
    link_to("../private", "place/folder");
    link_to("relative", "place/twice");
    enter_as_other();
    assert_false(opens("place/relative"));
    assert_int_equal(errno, EXDEV);
    assert_false(opens("place/absolute"));
    assert_false(opens("place/folder/secret"));
    assert_false(opens("place/twice"));
    assert_false(opens("place/../private/secret"));
    assert_false(opens("private/secret"));
    assert_int_equal(qn_foreign_open(&place, at("place/folder"), O_RDONLY | O_DIRECTORY), -1);
    assert_int_equal(read_it("place/folder/secret", ""), QN_EINVAL);
}

static void links_within_the_place_are_followed_of_any_owner(void **state)
{
    (void)state;
    link_to("below/text", "place/link");
    link_to("../below", "place/below/round");
    enter_as_other();
    assert_true(opens("place/link"));
    assert_true(opens("place/below/round/text"));
    assert_int_equal(read_it("place/below/round/text", "text"), QN_OK);
}

static void own_links_lead_wherever_they_lead(void **state)
{
    (void)state;
    char loop[] = "place/loop";
    assert_int_equal(symlink("../private/secret", at("place/relative")), 0);
    assert_int_equal(symlink(at("private"), at("place/folder")), 0);
    assert_int_equal(symlink("../../place/folder/secret", at("place/below/chain")), 0);
    assert_int_equal(symlink("../place/loop", at(loop)), 0);
    enter(geteuid());
    assert_true(opens("place/relative"));
    assert_true(opens("place/folder/secret"));
    assert_true(opens("place/below/chain"));
    assert_int_equal(read_it("place/folder/secret", "secret"), QN_OK);
    assert_false(opens(loop));
}

static void one_foreign_link_on_the_way_is_enough(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root makes links of two users */
    assert_int_equal(symlink("../middle", at("place/own")), 0);
    link_to("private", "middle");
    enter(0);
    assert_false(opens("place/own/secret"));
}

static void a_description_is_no_link(void **state)
{
    (void)state;
    assert_int_equal(symlink("below/text", at("place/own")), 0);
    enter(geteuid());
    assert_int_equal(read_it("place/below/text", "text"), QN_OK);
    assert_int_equal(read_it("place/own", ""), QN_EINVAL);
    assert_int_equal(mkfifo(at("place/pipe"), 0600), 0);
    assert_int_equal(read_it("place/pipe", ""), QN_EINVAL); /* and waits for no writer */
    assert_int_equal(read_it("place/below", ""), QN_EINVAL);
    assert_int_equal(read_it("place/none", ""), QN_ENOTFOUND);
}

static void a_description_is_its_folders_owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root gives files away */
    give_away(at("place"));
    give_away(at("place/below"));
    assert_int_equal(link(at("private/secret"), at("place/below/hard")), 0);
    put("place/below/own", "own");
    put("place/below/theirs", "theirs");
    put("place/below/third", "third");
    give_away(at("place/below/theirs"));
    assert_int_equal(chown(at("place/below/third"), STRANGER + 1, STRANGER), 0);
    enter(0);
    assert_int_equal(read_it("place/below/hard", ""), QN_EINVAL);
    assert_int_equal(read_it("place/below/own", "own"), QN_OK);
    assert_int_equal(read_it("place/below/theirs", "theirs"), QN_OK);
    assert_int_equal(read_it("place/below/third", ""), QN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_of_others_that_lead_out_are_not_followed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(links_within_the_place_are_followed_of_any_owner, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(own_links_lead_wherever_they_lead, setup, teardown),
        cmocka_unit_test_setup_teardown(one_foreign_link_on_the_way_is_enough, setup, teardown),
        cmocka_unit_test_setup_teardown(a_description_is_no_link, setup, teardown),
        cmocka_unit_test_setup_teardown(a_description_is_its_folders_owners, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
