/* Which unit has started the server, from its environment and control groups. Forms of
 * /proc/PID/cgroup as in cgroups(7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "telemetry/service_unit.h"

#include <string.h>

static void units(void **state)
{
    (void)state;
    static const char of_a_user[] =
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/quinced.service\n";
    static const struct {
        const char *started, *cgroups, *name;
        bool there, user;
    } cases[] = {
        {"SYSTEMD_EXEC_PID=42", of_a_user, "quinced.service", true, true},
        {"SYSTEMD_EXEC_PID=41", of_a_user, "", false, false}, /* of the program that started it */
        {"OTHER=42", of_a_user, "", false, false},
        {"SYSTEMD_EXEC_PID=42x", of_a_user, "", false, false},
        {"SYSTEMD_EXEC_PID=42", "0::/system.slice/quinced.service", "quinced.service", true, false},
        {"SYSTEMD_EXEC_PID=42",
         "12:cpu:/x.service\n1:name=systemd:/system.slice/quinced.service/inner\n",
         "quinced.service", true, false},
        {"SYSTEMD_EXEC_PID=42", "0::/\n", "", true, false},
        {"SYSTEMD_EXEC_PID=42", "", "", true, false},
        {"SYSTEMD_EXEC_PID=42", "nonsense\n\n::\n0::", "", true, false},
        {"SYSTEMD_EXEC_PID=42", "0::/user.slice/user@1000.service/init.scope", "", true, true},
        {"SYSTEMD_EXEC_PID=42", "0::/.service", "", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const env[] = {cases[i].started, NULL};
        struct qn_service_unit u;
        qn_service_unit_read(env, cases[i].cgroups, 42, &u);
        assert_int_equal(u.there, cases[i].there);
        assert_int_equal(u.user, cases[i].user);
        assert_string_equal(u.name, cases[i].name);
    }
}

static void a_name_too_long_is_not_known(void **state)
{
    (void)state;
    char text[512] = "0::/system.slice/";
    memset(text + strlen(text), 'x', 300);
    strcat(text, ".service\n");
    const char *const env[] = {"SYSTEMD_EXEC_PID=42", NULL};
    struct qn_service_unit u;
    qn_service_unit_read(env, text, 42, &u);
    assert_true(u.there);
    assert_string_equal(u.name, "");
}

static void commands(void **state)
{
    (void)state;
    static const struct {
        struct qn_service_unit unit;
        bool socket;
        const char *command;
    } cases[] = {
        {{true, true, "quinced.service"}, false, "systemctl --user stop quinced.service"},
        {{true, false, "a.b.service"}, true, "sudo systemctl stop a.b.service a.b.socket"},
        {{true, false, ""}, true, "sudo systemctl stop quinced.service quinced.socket"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_buf out;
        qn_buf_init(&out, 1024);
        qn_service_unit_stop_command(&cases[i].unit, cases[i].socket, &out);
        assert_string_equal(qn_buf_cstr(&out), cases[i].command);
        qn_buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),
        cmocka_unit_test(commands),
        cmocka_unit_test(a_name_too_long_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
