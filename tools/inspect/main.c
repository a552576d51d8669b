/* The program quince-inspect reads the metadata of a model's files, writes a report and exits. The
 * server starts it (registry/inspect.c) with the files as descriptors 3 and up, in the order of the
 * model's parts, the pipe for the report (formats/inspection.h) as the next descriptor, and the
 * number of files as argument. It does not get the files' names. */
#include "base/buf.h"
#include "base/str.h"
#include "confine/helper.h"
#include "formats/gguf_split.h"
#include "inspect/facts.h"
#include "inspect/header.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST = 3,
    SPARE = 8,                /* descriptors used temporarily while the sandbox is set up */
    MEMORY_BYTES = 512 << 20, /* private memory, without the mapped files */
    SECONDS = 20              /* of CPU time */
};

/* Reads the files; called after the sandbox has been entered. After a failure *e has the reason. */
static qn_err inspect(size_t n, struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e)
{
    struct qn_gguf *parts[QN_GGUF_PARTS_MAX];
    int fds[QN_GGUF_PARTS_MAX];
    size_t n_parts;
    for (size_t i = 0; i < n; i++)
        fds[i] = FIRST + (int)i;
    qn_err err = qn_gguf_open_fds(fds, n, parts, &n_parts, e);
    if (err)
        return err;
    err = qn_inspect_header(parts, n_parts, out, e);
    if (!err)
        err = qn_inspect_facts(parts[0], out, facts, e);
    for (size_t i = 0; i < n_parts; i++)
        qn_gguf_close(parts[i]);
    return err;
}

static qn_err enter_sandbox(size_t n, const char **lacking, struct qn_error *e)
{
    struct qn_confine_limits limits = {.address_bytes = MEMORY_BYTES,
                                       .memory_bytes = MEMORY_BYTES,
                                       .descriptors = FIRST + (int)n + SPARE,
                                       .cpu_s = SECONDS};
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        int64_t size = fstat(FIRST + (int)i, &st) ? 0 : st.st_size;
        if (__builtin_add_overflow(limits.address_bytes, size, &limits.address_bytes))
            return qn_fail(e, QN_ELIMIT, "the files are larger than any model");
    }
    return qn_confine_helper(NULL, 0, &limits, lacking, e);
}

/* Writes the text to the pipe. False: the reader has closed it. */
static bool say(int fd, const struct qn_buf *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

#ifdef __SANITIZE_ADDRESS__
/* The leak check at exit needs calls that the sandbox forbids. SIGBUS, caused by a file that
 * becomes shorter, must end the program as in other builds. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigbus=0";
}
#endif

int main(int argc, char **argv)
{
    int64_t n;
    struct qn_inspection in = {0};
    struct qn_error e = {0};
    struct qn_buf facts, answer;
    const char *lacking = "";
    if (argc != 2 || !qn_parse_i64(argv[1], &n) || n < 1 || n > QN_GGUF_PARTS_MAX) {
        fputs("quince-inspect is started by quinced\n", stderr);
        return 2;
    }
    qn_buf_init(&facts, QN_FACTS_MAX);
    qn_buf_init(&answer, QN_INSPECTION_MAX);
    if (!enter_sandbox((size_t)n, &lacking, &e))
        inspect((size_t)n, &in, &facts, &e);
    qn_inspection_write(&in, &facts, lacking, &e, &answer);
    bool said = !answer.overflow && say(FIRST + (int)n, &answer);
    qn_buf_deinit(&facts);
    qn_buf_deinit(&answer);
    return said ? 0 : 1;
}
