/* What other programs have left on the disk: a manifest of Ollama's with its layers, a manifest and
 * an address of llama.cpp's, a reference of Hugging Face's cache. The input's pieces, with NULs
 * between, are these files; the folders around them are the same each time. Whatever they say,
 * files of models exist, none is there twice, and presets are JSON. */
#include "registry/found.h"

#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOB(d) "ollama/blobs/sha256-" d d d d d d d d
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char root[64];
static struct qn_store *store;

/* The files that come from the input. */
static const char *const texts[] = {
    "ollama/manifests/registry.ollama.ai/library/m/latest",
    BLOB("000000ff"), /* parameters, or a system message */
    "llama/manifest=o=r=latest.json",
    "llama/x.gguf.json",
    "hub/models--o--r/refs/main",
};

/* Models, whose contents are not read here. */
static const char *const models[] = {
    BLOB("00112233"),
    BLOB("44556677"),
    "llama/x.gguf",
    "llama/o_r_a-Q4_0.gguf",
    "llama/o_r_a-00001-of-00002.gguf",
    "llama/o_r_a-00002-of-00002.gguf",
    "llama/o_r_mmproj.gguf",
    "hub/models--o--r/snapshots/" COMMIT "/a-Q4_0.gguf",
    "hub/models--o--r/snapshots/main/b.gguf",
};

static void put(const char *name, const char *text, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        char *slash = strrchr(path, '/');
        *slash = '\0';
        if (qn_mkdirs(path, 0700, NULL))
            abort();
        *slash = '/';
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
    if (fd < 0 || write(fd, text, n) != (ssize_t)n)
        abort();
    close(fd);
}

/* A file, and the folders above it that are empty then. */
static void take_away(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    unlink(path);
    for (char *slash = strrchr(path, '/'); slash && strlen(path) > strlen(root);
         slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

static void clean(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        take_away(texts[i]);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        take_away(models[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char hub[128], own[128];
    (void)argc;
    (void)argv;
    qn_log_set_level(QN_LOG_ERROR);
    snprintf(root, sizeof root, "/dev/shm/fuzz_found.%d", (int)getpid());
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        put(models[i], "GGUF", 4);
    snprintf(hub, sizeof hub, "%s/hub", root);
    snprintf(own, sizeof own, "%s/own", root);
    store = qn_store_new(hub, own);
    atexit(clean);
    return 0;
}

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_model(const struct qn_found *found, size_t i)
{
    const struct qn_found_model *m = &found->v[i];
    struct qn_json *doc;
    check(m->n_files >= 1 && qn_str_eq(m->roles[0], "main") && m->checkpoint && m->hub);
    for (size_t k = 0; k < m->n_files; k++)
        check(*m->files[k] == '/' && qn_file_exists(m->files[k]));
    for (size_t k = 0; k < i; k++)
        check(found->v[k].inode != m->inode);
    if (m->preset) {
        check(qn_json_parse(m->preset, strlen(m->preset), &doc, NULL) == QN_OK);
        qn_json_free(doc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char home[128], ollama[128], llama[128];
    const char *env[] = {home, ollama, llama, NULL};
    struct qn_found *found;
    struct qn_error e = {0};
    atomic_bool stop = false;
    const char *at = (const char *)data, *end = at + n;
    snprintf(home, sizeof home, "HOME=%s", root);
    snprintf(ollama, sizeof ollama, "OLLAMA_MODELS=%s/ollama", root);
    snprintf(llama, sizeof llama, "LLAMA_CACHE=%s/llama", root);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *stop_at = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        size_t len = at < end ? (size_t)((stop_at ? stop_at : end) - at) : 0;
        put(texts[i], len ? at : "", len);
        at = stop_at ? stop_at + 1 : end;
    }
    const struct qn_found_places places = {.env = env, .store = store, .programs = true};
    if (qn_found_scan(&places, &stop, &found, &e))
        abort();
    for (size_t i = 0; i < found->n; i++)
        check_model(found, i);
    qn_found_free(found);
    return 0;
}
