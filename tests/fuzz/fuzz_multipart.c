/* A hostile form: the Content-Type header up to the first NUL, then the body. Parts must lie in the
 * body, in order and without overlap, and what was parsed must parse to the same when it is written
 * again. */
#include "base/buf.h"
#include "formats/multipart.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct qn_multipart *m, const char *boundary, struct qn_buf *out)
{
    for (size_t i = 0; i < m->n; i++) {
        qn_buf_fmt(out, "--%s\r\nContent-Disposition: form-data; name=\"", boundary);
        for (const char *p = m->v[i].name; *p; p++) {
            if (*p == '"' || *p == '\r' || *p == '\n')
                qn_buf_fmt(out, "%%%02X", (unsigned)*p);
            else if (*p == '\\')
                qn_buf_str(out, "\\\\");
            else
                qn_buf_char(out, *p);
        }
        qn_buf_str(out, "\"\r\n\r\n");
        qn_buf_add(out, m->v[i].data, m->v[i].len);
        qn_buf_str(out, "\r\n");
    }
    qn_buf_fmt(out, "--%s--\r\n", boundary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = memchr(data, 0, size);
    char boundary[QN_MULTIPART_BOUNDARY_MAX + 1];
    struct qn_error e;
    if (!nul || qn_multipart_boundary((const char *)data, boundary, &e))
        return 0;
    size_t n = size - (size_t)(nul + 1 - data);
    char *body = malloc(n ? n : 1);
    memcpy(body, nul + 1, n);
    struct qn_arena *arena = qn_arena_new(16 << 20);
    struct qn_multipart m, again;
    if (qn_multipart_parse(body, n, boundary, arena, &m, &e) == QN_OK) {
        const char *at = body;
        struct qn_buf out;
        for (size_t i = 0; i < m.n; i++) {
            if (m.v[i].data < at || m.v[i].len > (size_t)(body + n - m.v[i].data))
                abort();
            at = m.v[i].data + m.v[i].len;
        }
        qn_buf_init(&out, 64 << 20);
        write_again(&m, boundary, &out);
        /* A name may have been %0D as it is now, or hold "%22" that was escaped twice: those
         * differ. */
        if (qn_multipart_parse(out.data, out.len, boundary, arena, &again, &e) == QN_OK) {
            if (again.n != m.n)
                abort();
            for (size_t i = 0; i < m.n; i++)
                if (again.v[i].len != m.v[i].len ||
                    memcmp(again.v[i].data, m.v[i].data, m.v[i].len) != 0)
                    abort();
        } else if (e.code == QN_EFORMAT) {
            abort();
        }
        qn_buf_deinit(&out);
    }
    qn_arena_free(arena);
    free(body);
    return 0;
}
