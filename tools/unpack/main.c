/* The program quince-unpack unpacks one archive and exits. The server starts it (registry/unpack.c)
 * with the archive as descriptor 3, the folder as descriptor 4 and the pipe for its report (one
 * line of JSON) as descriptor 5. Its arguments are the limits, and "links" if links are allowed. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "unpack/extract.h"
#include "unpack/sandbox.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ARCHIVE = 3, FOLDER = 4, REPORT = 5, REPORT_MAX = 16 * 1024 };

static void report(const struct qn_unpack_result *r, const char *lacking, const struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, REPORT_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "files", r->files);
    qn_jw_ki64(&w, "size_bytes", r->size_bytes);
    if (*lacking)
        qn_jw_kstr(&w, "lacking", lacking);
    if (e->code) {
        qn_jw_kstr(&w, "code", qn_err_name(e->code));
        qn_jw_kstr(&w, "error", e->message);
    }
    qn_jw_obj_end(&w);
    ssize_t n = write(REPORT, text.data, text.len); /* a closed pipe is no error */
    (void)n;
    qn_buf_deinit(&text);
}

#ifdef __SANITIZE_ADDRESS__
/* The leak check at exit needs calls that the sandbox forbids. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
    struct qn_unpack_limits limits;
    struct qn_unpack_result result = {0};
    struct qn_error e = {0};
    const char *lacking = "";
    if (argc < 4 || argc > 5 || (argc == 5 && !qn_str_eq(argv[4], "links")) ||
        !qn_parse_i64(argv[1], &limits.files) || !qn_parse_i64(argv[2], &limits.size_bytes) ||
        !qn_parse_i64(argv[3], &limits.ratio) || limits.files < 1 || limits.size_bytes < 1 ||
        limits.ratio < 1) {
        fputs("quince-unpack is started by quinced\n", stderr);
        return 2;
    }
    limits.links = argc == 5;
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit makes write(2) fail instead */
    /* Names in archives are decoded as UTF-8, independent of the user's locale. */
    setlocale(LC_CTYPE, "C.UTF-8");
    qn_err err = qn_sandbox_enter(FOLDER, limits.size_bytes, &lacking, &e);
    if (!err)
        err = qn_unpack_extract(ARCHIVE, FOLDER, &limits, &result, &e);
    report(&result, lacking, &e);
    return err ? 1 : 0;
}
