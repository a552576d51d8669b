/* The sandbox of quince-unpack, each try in a process of its own: what lies in the folder can be
 * made, nothing else can be opened, and a system call that it does not need ends the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unpack/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 4096, LACKING = 99 };

static char dir[64];

/* Runs act(folder) inside; its answer is the process's status. */
static int inside(int (*act)(int folder))
{
    pid_t pid = fork();
    if (pid == 0) {
        int folder = open(dir, O_RDONLY | O_DIRECTORY);
        const char *lacking;
        struct qn_error e = {0};
        signal(SIGXFSZ, SIG_IGN);
        if (qn_sandbox_enter(folder, FILE_BYTES, &lacking, &e))
            _exit(98);
        _exit(*lacking ? LACKING : act(folder));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int make_file(int folder)
{
    if (mkdirat(folder, "sub", 0755))
        return 1;
    int fd = openat(folder, "sub/x", O_WRONLY | O_CREAT | O_EXCL, 0644);
    return fd < 0 || write(fd, "hello", 5) != 5;
}

static int open_outside(int folder)
{
    (void)folder;
    return open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES &&
                   open("/tmp/quince-sandbox-escape", O_WRONLY | O_CREAT, 0644) < 0 &&
                   errno == EACCES
               ? 0
               : 1;
}

static int climb(int folder)
{
    return openat(folder, "../quince-sandbox-escape", O_WRONLY | O_CREAT, 0644) < 0 &&
                   errno == EACCES
               ? 0
               : 1;
}

static int write_much(int folder)
{
    char block[FILE_BYTES + 1] = {0};
    int fd = openat(folder, "big", O_WRONLY | O_CREAT, 0644);
    return write(fd, block, sizeof block) == FILE_BYTES && write(fd, block, 1) < 0 && errno == EFBIG
               ? 0
               : 1;
}

static int open_socket(int folder)
{
    (void)folder;
    return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

static int run_program(int folder)
{
    (void)folder;
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static int make_link(int folder)
{
    return symlinkat("/etc", folder, "link") == -1 && errno == EACCES ? 0 : 1;
}

static void only_the_folder_is_left(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-sandbox-XXXXXX");
    assert_non_null(mkdtemp(dir));
    static int (*const fine[])(int) = {make_file, open_outside, climb, make_link, write_much};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        int status = inside(fine[i]);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == LACKING) {
            print_message("this kernel has no landlock\n");
            skip();
        }
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    static int (*const killed[])(int) = {open_socket, run_program};
    for (size_t i = 0; i < sizeof killed / sizeof *killed; i++) {
        int status = inside(killed[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSYS);
    }
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_folder_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
