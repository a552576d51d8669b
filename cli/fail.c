/* How failures are reported, see cli.h. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/print.h"

#include <stdarg.h>
#include <stdio.h>

static void tell(const struct qn_cli *cli, const struct qn_error *e)
{
    if (!cli->json) {
        fflush(stdout);
        fputs("quince: ", stderr);
        qn_print_safe(stderr, e->message);
        fputc('\n', stderr);
        return;
    }
    struct qn_buf b;
    qn_buf_init(&b, 64 * 1024);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_key(&w, "error");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "message", e->message);
    qn_jw_kstr(&w, "code", qn_err_name(e->code));
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cli_failed(const struct qn_cli *cli, const struct qn_error *e)
{
    tell(cli, e);
    return QN_EXIT_FAILED;
}

int qn_cli_misused(const struct qn_cli *cli, const char *fmt, ...)
{
    char text[QN_ERROR_MESSAGE_MAX];
    struct qn_error e;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    qn_fail(&e, QN_EINVAL, "%s", text);
    tell(cli, &e);
    return QN_EXIT_USAGE;
}
