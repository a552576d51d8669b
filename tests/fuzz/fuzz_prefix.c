/* Any bytes as a file of kept beginnings of prompts: refused with a message, or read into the tree,
 * whose sequences can be forked and computed on. The first byte says whether sums and key are made
 * to hold, which no fuzzer would find. */
#include "tests/fuzz/tiny_model.h"

#include "base/crc32.h"
#include "llm/lm.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/prefix_file.h"
#include "nets/decoder/kv.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CONTEXT = 80,
    POOL = 256,
    KEY = 7,
    HEAD = 28
}; /* magic 8, version 4, page 4, key 8, sum 4 */

static struct qn_lm lm;
static struct qn_batch_model model;
static size_t seq_head, seq_page; /* bytes of a stored sequence: of its head, of each page */

static bool count(void *ctx, const void *data, size_t n)
{
    (void)data;
    *(size_t *)ctx += n;
    return true;
}

/* Bytes of a stored sequence of n tokens. */
static size_t stored(int32_t n)
{
    int32_t ids[CONTEXT] = {0};
    struct qn_seq *s;
    size_t bytes = 0;
    if (qn_seq_new(lm.net, CONTEXT, &s, NULL) || qn_seq_reserve(s, n, NULL))
        abort();
    struct qn_chunk c = {.seq = s, .tokens = ids, .n = n};
    qn_net_forward(lm.net, &c, 1);
    if (qn_seq_save(s, 0, count, &bytes, NULL))
        abort();
    qn_seq_free(s);
    return bytes;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct qn_device *dev;
    size_t size;
    (void)argc;
    (void)argv;
    if (qn_device_cpu_new(1, &dev, NULL) != QN_OK)
        abort();
    const void *file = build(&size);
    lm.net = load(dev, file, size, &lm.weights, CONTEXT, POOL);
    model = qn_lm_model(&lm, CONTEXT);
    size_t one = stored(1);
    seq_page = stored(QN_KV_PAGE + 1) - one;
    seq_head = one - seq_page;
    return 0;
}

/* Sets what identifies the file, and the sum of each sequence that is as long as it should be. */
static void mend(unsigned char *file, size_t n)
{
    const uint32_t start[4] = {2, QN_KV_PAGE, KEY, 0};
    if (n < HEAD)
        return;
    memcpy(file, "QNPREFIX", 8);
    memcpy(file + 8, start, sizeof start);
    uint32_t crc = qn_crc32(0, file, HEAD - sizeof crc);
    memcpy(file + HEAD - sizeof crc, &crc, sizeof crc);
    for (size_t at = HEAD; n - at >= 2 * sizeof(int32_t);) {
        int32_t head[2];
        memcpy(head, file + at, sizeof head);
        if (head[0] <= 0 || head[0] > CONTEXT || head[1] < 0 || head[1] >= head[0])
            return;
        int32_t pages = (head[0] + QN_KV_PAGE - 1) / QN_KV_PAGE - head[1] / QN_KV_PAGE;
        size_t bytes = sizeof head + sizeof(uint64_t) + (size_t)head[0] * sizeof *head + seq_head +
                       (size_t)pages * seq_page;
        if (bytes + sizeof crc > n - at)
            return;
        crc = qn_crc32(0, file + at, bytes);
        memcpy(file + at + bytes, &crc, sizeof crc);
        at += bytes + sizeof crc;
    }
}

static bool go_on(void *ctx, const struct qn_prefix_space *in, const int32_t *tokens, int32_t n,
                  struct qn_seq *seq)
{
    const int32_t next = 3;
    struct qn_seq *s;
    (void)ctx;
    if (in->mix || n < 1 || n > CONTEXT || qn_seq_len(seq) != n)
        abort();
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] < 0 || tokens[i] >= VOCAB)
            abort();
    if (qn_seq_new(lm.net, CONTEXT + 1, &s, NULL))
        abort();
    if (qn_seq_fork(s, seq, n, NULL) == QN_OK && qn_seq_reserve(s, 1, NULL) == QN_OK) {
        struct qn_chunk c = {.seq = s, .tokens = &next, .n = 1};
        qn_net_forward(lm.net, &c, 1);
    }
    qn_seq_free(s);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct qn_error e = {0};
    int64_t tokens = 0;
    if (size < 1)
        return 0;
    if (!path[0])
        snprintf(path, sizeof path, "/dev/shm/fuzz_prefix.%d", (int)getpid());
    size_t n = size - 1;
    unsigned char *file = malloc(size);
    memcpy(file, data + 1, n);
    if (data[0] & 1)
        mend(file, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, file, n) != (ssize_t)n)
        abort();
    close(fd);
    free(file);
    struct qn_prefix *p = qn_prefix_new(&model, 0);
    if (qn_prefix_restore(p, &model, CONTEXT, KEY, path, &tokens, &e) != QN_OK && !e.message[0])
        abort();
    qn_prefix_each(p, go_on, NULL);
    qn_prefix_free(p);
    int64_t free_pages, total;
    qn_net_kv_pages(lm.net, &free_pages, &total);
    if (free_pages != total) /* whatever happened, all pages are back */
        abort();
    unlink(path);
    return 0;
}
