/* Unpacks what it is told, for tests/archives/test_unpack.py: unpack_probe HELPER [program], then
 * for each line "ARCHIVE<tab>DEST" of its input one line of JSON. */
#include "base/buf.h"
#include "base/json.h"
#include "registry/unpack.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 20000 };

int main(int argc, char **argv)
{
    static char line[LINE];
    atomic_bool stop;
    atomic_init(&stop, false);
    if (argc < 2 || argc > 3)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        char *tab = strchr(line, '\t');
        struct qn_error e = {0};
        struct qn_unpacked got;
        struct qn_buf text;
        if (!tab)
            return 2;
        line[strcspn(line, "\n")] = '\0';
        *tab = '\0';
        qn_err err = qn_unpack(argv[1], argc == 3 ? QN_UNPACK_PROGRAM : QN_UNPACK_MODEL, line,
                               tab + 1, &stop, &got, &e);
        qn_buf_init(&text, 64 * 1024);
        struct qn_jw w = qn_jw_to(&text);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "code", err ? qn_err_name(err) : "ok");
        qn_jw_kstr(&w, "message", e.message);
        qn_jw_ki64(&w, "files", got.files);
        qn_jw_ki64(&w, "size_bytes", got.size_bytes);
        qn_jw_obj_end(&w);
        puts(qn_buf_cstr(&text));
        fflush(stdout);
        qn_buf_deinit(&text);
    }
    return 0;
}
