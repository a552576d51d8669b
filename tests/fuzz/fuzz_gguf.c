/* Any bytes as a GGUF file: parse, then read everything that an accessor can reach. */
#include "formats/gguf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static volatile unsigned char sink;

static void touch(const void *p, size_t n)
{
    if (n > 0) {
        sink = ((const unsigned char *)p)[0];
        sink = ((const unsigned char *)p)[n - 1];
    }
}

static void read_entry(const struct qn_gguf *g, const char *key)
{
    struct qn_error e;
    struct qn_gguf_str s;
    int64_t i;
    double d;
    bool yes;
    enum qn_gguf_type item;
    size_t count;
    (void)qn_gguf_kv_type(g, key);
    (void)qn_gguf_i64(g, key, -1000, 1000, &i, &e);
    (void)qn_gguf_f64(g, key, &d, &e);
    (void)qn_gguf_bool(g, key, &yes, &e);
    if (qn_gguf_str(g, key, &s, &e) == QN_OK) {
        touch(s.s, s.n);
    }
    if (qn_gguf_array(g, key, &item, &count, &e) != QN_OK) {
        return;
    }
    for (size_t k = 0; item == QN_GGUF_STRING && k < count; k++) {
        s = qn_gguf_array_str(g, key, k);
        touch(s.s, s.n);
    }
    if (item != QN_GGUF_STRING) {
        touch(qn_gguf_array_raw(g, key), count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_gguf *g;
    struct qn_error e;
    if (qn_gguf_parse(data, n, &g, &e) != QN_OK) {
        return 0;
    }
    for (size_t i = 0; i < qn_gguf_kv_count(g); i++) {
        struct qn_gguf_str key = qn_gguf_kv_key(g, i);
        char *name = malloc(key.n + 1);
        memcpy(name, key.s, key.n);
        name[key.n] = '\0';
        if (strlen(name) == key.n) {
            read_entry(g, name);
        }
        free(name);
    }
    for (size_t i = 0; i < qn_gguf_tensor_count(g); i++) {
        const struct qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        touch(t->data, (size_t)t->max_bytes);
    }
    qn_gguf_close(g);
    return 0;
}
