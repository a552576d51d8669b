/* Answers of hubs. The first byte says which of the parsers reads the rest; whatever comes out is
 * safe to put on a disk and into an address. */
#include "registry/listing.h"
#include "registry/resolve.h"

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(int ok)
{
    if (!ok)
        abort();
}

static void check_repo(struct qn_repo *repo)
{
    check(qn_ref_repo_ok(repo->id) &&
          strspn(repo->commit, "0123456789abcdef") == strlen(repo->commit));
    for (size_t i = 0; i < repo->n; i++) {
        const struct qn_repo_file *f = &repo->files[i];
        check(qn_ref_path_ok(f->path) && f->size_bytes >= -1 && f->size_bytes <= QN_HUB_SIZE_MAX);
        check(!i || strcmp(repo->files[i - 1].path, f->path) < 0);
        check(strlen(f->sha256) % 64 == 0 && strlen(f->git_sha1) % 40 == 0);
        check(qn_str_starts(f->url, "https://hub/") && !strpbrk(f->url, " \"\\\r\n"));
    }
    struct qn_choice *c;
    if (qn_resolve(repo, "*", "auto", &c, NULL) == QN_OK)
        qn_choice_free(c);
    qn_repo_free(repo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct qn_hubs hubs = {.hf_endpoint = "https://hub",
                                        .modelscope_endpoint = "https://hub",
                                        .ollama_registry = "https://hub"};
    struct qn_ref ref = {.repo = "o/r", .variant = "latest"};
    struct qn_repo *repo;
    struct qn_search *s;
    struct qn_json *doc;
    if (n < 1)
        return 0;
    const char *text = (const char *)data + 1;
    if (data[0] % 5 == 0) {
        if (qn_ollama_read_manifest(&hubs, &ref, text, n - 1, &repo, NULL) == QN_OK)
            check_repo(repo);
        return 0;
    }
    if (qn_json_parse(text, n - 1, &doc, NULL))
        return 0;
    struct qn_jref root = qn_json_root(doc);
    if (data[0] % 5 == 1) {
        if (qn_hf_read_repo(&hubs, &ref, &root, &repo, NULL) == QN_OK)
            check_repo(repo);
    } else if (data[0] % 5 == 2) {
        if (qn_modelscope_read_repo(&hubs, &ref, &root, &repo, NULL) == QN_OK)
            check_repo(repo);
    } else if ((data[0] % 5 == 3 ? qn_hf_read_search : qn_modelscope_read_search)(&root, 7, &s,
                                                                                  NULL) == QN_OK) {
        check(s->n <= 7);
        for (size_t i = 0; i < s->n; i++)
            check(qn_ref_repo_ok(s->v[i].id) && s->v[i].updated);
        qn_search_free(s);
    }
    qn_json_free(doc);
    return 0;
}
