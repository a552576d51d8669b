/* What hubs say, read: replies in the forms that their APIs document, and such as no hub should
 * send. Nothing here asks anybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "base/str.h"
#include "registry/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct qn_hubs hubs = {
    .hf_endpoint = "https://huggingface.co",
    .modelscope_endpoint = "https://modelscope.cn",
    .ollama_registry = "https://registry.ollama.ai",
    .hf_token = "hf_secret",
};

#define SHA40 "0123456789abcdef0123456789abcdef01234567"
#define SHA64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct qn_ref ref_of(const char *text)
{
    struct qn_ref ref;
    assert_int_equal(qn_ref_parse(text, QN_HUB_HF, &ref, NULL), QN_OK);
    return ref;
}

typedef qn_err (*read_fn)(const struct qn_hubs *, const struct qn_ref *, const struct qn_jref *,
                          struct qn_repo **, struct qn_error *);

static qn_err read_with(read_fn fn, const char *ref_text, const char *json, struct qn_repo **out,
                        struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_ref ref = ref_of(ref_text);
    assert_int_equal(qn_json_parse(json, strlen(json), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_err err = fn(&hubs, &ref, &root, out, e);
    qn_json_free(doc);
    return err;
}

static void test_hf_repo(void **state)
{
    struct qn_repo *repo;
    (void)state;
    const char *json =
        "{\"id\":\"Owner/Repo\",\"sha\":\"" SHA40 "\",\"gated\":\"manual\",\"pipeline_tag\":"
        "\"text-generation\",\"siblings\":["
        "{\"rfilename\":\"sub dir/m#1.gguf\",\"size\":5,\"blobId\":\"" SHA40
        "\",\"lfs\":{\"sha256\":\"" SHA64 "\",\"size\":123456789012,\"pointerSize\":134}},"
        "{\"rfilename\":\"README.md\",\"size\":77,\"blobId\":\"" SHA40 "\"},"
        "{\"rfilename\":\"README.md\",\"size\":78},"
        "{\"rfilename\":\"../../etc/passwd\",\"size\":1},"
        "{\"rfilename\":\"/etc/passwd\",\"size\":1},"
        "{\"rfilename\":\"huge\",\"size\":1e300}]}";
    assert_int_equal(read_with(qn_hf_read_repo, "owner/repo@v1", json, &repo, NULL), QN_OK);
    assert_string_equal(repo->id, "Owner/Repo"); /* as the hub spells it */
    assert_string_equal(repo->commit, SHA40);
    assert_string_equal(repo->revision, "v1");
    assert_string_equal(repo->token, "hf_secret");
    assert_string_equal(repo->pipeline, "text-generation");
    assert_true(repo->gated);
    assert_int_equal(repo->n, 3);
    assert_string_equal(repo->files[0].path, "README.md");
    assert_int_equal(repo->files[0].size_bytes, 77);
    assert_string_equal(repo->files[0].git_sha1, SHA40);
    assert_string_equal(repo->files[0].sha256, "");
    assert_string_equal(repo->files[0].url,
                        "https://huggingface.co/Owner/Repo/resolve/" SHA40 "/README.md");
    assert_string_equal(repo->files[1].path, "huge");
    assert_true(repo->files[1].size_bytes < 0);
    assert_string_equal(repo->files[2].sha256, SHA64);
    assert_string_equal(repo->files[2].git_sha1, ""); /* that of the pointer, not of the contents */
    assert_int_equal(repo->files[2].size_bytes, 123456789012);
    assert_string_equal(repo->files[2].url,
                        "https://huggingface.co/Owner/Repo/resolve/" SHA40 "/sub%20dir/m%231.gguf");
    assert_int_equal(qn_repo_may_fetch(repo, NULL), QN_OK);
    qn_repo_free(repo);
}

static void test_hf_nonsense(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "{}",
        "{\"sha\":\"" SHA40 "\"}",
        "{\"sha\":\"" SHA40 "\",\"siblings\":{}}",
        "{\"sha\":\"" SHA40 "\",\"siblings\":[{}]}",
        "{\"sha\":\"" SHA40 "\",\"siblings\":[{\"rfilename\":7}]}",
        "{\"sha\":\"../../x\",\"siblings\":[]}",
        "{\"sha\":7,\"siblings\":[]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_repo *repo;
        struct qn_error e = {0};
        if (read_with(qn_hf_read_repo, "o/r", wrong[i], &repo, &e) != QN_EFORMAT)
            fail_msg("%s was taken", wrong[i]);
        assert_null(repo);
        assert_non_null(strstr(e.message, "Hugging Face"));
    }
}

/* Gated, and there is no token: it is said before a byte is fetched. */
static void test_gated(void **state)
{
    struct qn_repo repo = {.hub = QN_HUB_HF, .id = "o/r", .gated = true};
    struct qn_error e = {0};
    (void)state;
    assert_int_equal(qn_repo_may_fetch(&repo, &e), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "https://huggingface.co/o/r"));
    assert_non_null(strstr(e.message, "HF_TOKEN"));
    repo.token = "t";
    assert_int_equal(qn_repo_refused(&repo, 403, &e), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "agree"));
    assert_int_equal(qn_repo_refused(&repo, 404, &e), QN_ENOTFOUND);
    assert_int_equal(qn_repo_refused(&repo, 429, &e), QN_EBUSY);
    assert_int_equal(qn_repo_refused(&repo, 500, &e), QN_EIO);
}

static void test_modelscope_repo(void **state)
{
    struct qn_repo *repo, *again;
    (void)state;
    const char *json =
        "{\"Code\":200,\"Success\":true,\"Message\":\"success\",\"Data\":{\"Files\":["
        "{\"Name\":\"d\",\"Path\":\"d\",\"Type\":\"tree\",\"Size\":0},"
        "{\"Name\":\"m.gguf\",\"Path\":\"d/m "
        "1.gguf\",\"Type\":\"blob\",\"Size\":42,\"Sha256\":\"" SHA64
        "\"},{\"Path\":\"a/../b\",\"Type\":\"blob\"}]}}";
    assert_int_equal(read_with(qn_modelscope_read_repo, "modelscope.cn/o/r", json, &repo, NULL),
                     QN_OK);
    assert_int_equal(repo->n, 1);
    assert_string_equal(repo->revision, "master");
    assert_string_equal(repo->files[0].path, "d/m 1.gguf");
    assert_string_equal(repo->files[0].sha256, SHA64);
    assert_int_equal(repo->files[0].size_bytes, 42);
    assert_string_equal(
        repo->files[0].url,
        "https://modelscope.cn/api/v1/models/o/r/repo?Revision=master&FilePath=d%2Fm%201.gguf");
    assert_null(repo->token); /* Hugging Face's is for Hugging Face */
    assert_int_equal(strlen(repo->commit), 40);
    assert_int_equal(read_with(qn_modelscope_read_repo, "modelscope.cn/o/r", json, &again, NULL),
                     QN_OK);
    assert_string_equal(again->commit, repo->commit);
    qn_repo_free(repo);
    qn_repo_free(again);
    struct qn_error e = {0};
    assert_int_equal(
        read_with(qn_modelscope_read_repo, "modelscope.cn/o/r",
                  "{\"Code\":10010205001,\"Success\":false,\"Message\":\"record not found\"}",
                  &repo, &e),
        QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "record not found"));
    assert_int_equal(read_with(qn_modelscope_read_repo, "modelscope.cn/o/r",
                               "{\"Code\":500,\"Message\":\"x\"}", &repo, &e),
                     QN_EIO);
    /* Nothing of a hub's words moves a terminal's cursor. */
    assert_int_equal(read_with(qn_modelscope_read_repo, "modelscope.cn/o/r",
                               "{\"Code\":404,\"Message\":\"\\u001b[2Jgone\\u009b\"}", &repo, &e),
                     QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "it says:  [2Jgone"));
    assert_int_equal(read_with(qn_modelscope_read_repo, "modelscope.cn/o/r",
                               "{\"Code\":200,\"Data\":{}}", &repo, &e),
                     QN_EFORMAT);
}

static void test_ollama_manifest(void **state)
{
    struct qn_repo *repo;
    struct qn_ref ref = ref_of("qwen3:0.6b");
    (void)state;
    const char *text =
        "{\"schemaVersion\":2,\"config\":{\"digest\":\"sha256:" SHA64
        "\",\"size\":490},\"layers\":["
        "{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" SHA64
        "\",\"size\":522653767},"
        "{\"mediaType\":\"application/vnd.ollama.image.template\",\"digest\":\"sha256:" SHA64
        "\",\"size\":1723},"
        "{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"sha256:" SHA64
        "\",\"size\":1},"
        "{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"sha256:" SHA64
        "\",\"size\":2},"
        "{\"mediaType\":\"application/vnd.ollama.image.tensor\",\"digest\":\"x\"}]}";
    assert_int_equal(qn_ollama_read_manifest(&hubs, &ref, text, strlen(text), &repo, NULL), QN_OK);
    assert_int_equal(repo->n, 4);
    assert_int_equal(strlen(repo->commit), 64);
    assert_string_equal(repo->id, "library/qwen3");
    assert_string_equal(repo->files[0].path, "license");
    assert_string_equal(repo->files[1].path, "license-2");
    assert_string_equal(repo->files[2].path, "model.gguf");
    assert_string_equal(repo->files[2].role, "main");
    assert_int_equal(repo->files[2].size_bytes, 522653767);
    assert_string_equal(repo->files[2].url,
                        "https://registry.ollama.ai/v2/library/qwen3/blobs/sha256:" SHA64);
    assert_string_equal(repo->files[3].role, "template");
    assert_null(repo->token);
    qn_repo_free(repo);

    static const char climbing[] =
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\","
        "\"digest\":\"sha256:../../x\"}]}";
    static const char *const wrong[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"layers\":7}",
        climbing,
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\"}]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_error e = {0};
        if (qn_ollama_read_manifest(&hubs, &ref, wrong[i], strlen(wrong[i]), &repo, &e) !=
            QN_EFORMAT)
            fail_msg("%s was taken", wrong[i]);
    }
}

static void test_searches(void **state)
{
    struct qn_json *doc;
    struct qn_search *s;
    (void)state;
    const char *hf = "[{\"id\":\"unsloth/"
                     "Qwen3-8B-GGUF\",\"likes\":10,\"downloads\":1000,\"tags\":[\"x\",\"gguf\"],"
                     "\"createdAt\":\"2025-04-28T10:00:00.000Z\",\"gated\":false},"
                     "{\"id\":\"no-owner\"},{\"id\":\"../x\"},{\"likes\":3},"
                     "{\"id\":\"o/"
                     "r\",\"gated\":\"auto\",\"downloads\":\"many\",\"lastModified\":\"2025\\u001b["
                     "31m\"},{\"id\":\"o/third\"}]";
    assert_int_equal(qn_json_parse(hf, strlen(hf), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    assert_int_equal(qn_hf_read_search(&root, 2, &s, NULL), QN_OK);
    assert_int_equal(s->n, 2);
    assert_string_equal(s->v[0].id, "unsloth/Qwen3-8B-GGUF");
    assert_int_equal(s->v[0].downloads, 1000);
    assert_int_equal(s->v[0].likes, 10);
    assert_true(s->v[0].gguf && !s->v[0].gated);
    assert_string_equal(s->v[0].updated, "2025-04-28T10:00:00.000Z");
    assert_true(s->v[1].gated && !s->v[1].gguf);
    assert_string_equal(s->v[1].updated, "");
    qn_search_free(s);
    qn_json_free(doc);

    const char *ms =
        "{\"success\":true,\"data\":{\"models\":[{\"id\":\"Qwen/"
        "Qwen3-8B-GGUF\",\"downloads\":5,\"likes\":1},"
        "{\"Path\":\"Qwen\",\"Name\":\"Other\",\"Downloads\":7,\"Stars\":2}],\"total_count\":77}}";
    assert_int_equal(qn_json_parse(ms, strlen(ms), &doc, NULL), QN_OK);
    root = qn_json_root(doc);
    assert_int_equal(qn_modelscope_read_search(&root, 10, &s, NULL), QN_OK);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->total, 77);
    assert_string_equal(s->v[0].id, "Qwen/Qwen3-8B-GGUF");
    assert_true(s->v[0].gguf);
    assert_string_equal(s->v[1].id, "Qwen/Other");
    assert_int_equal(s->v[1].likes, 2);
    qn_search_free(s);
    qn_json_free(doc);
}

/* Addresses need no hub's answer; a name that says it is a part brings the others. */
static void test_urls(void **state)
{
    struct qn_repo *repo;
    struct qn_web web = {0};
    (void)state;
    struct qn_ref ref = ref_of("https://example.com/a%20b/m%20x.gguf?sig=1");
    assert_int_equal(qn_hub_repo(&hubs, &web, &ref, &repo, NULL), QN_OK);
    assert_int_equal(repo->n, 1);
    assert_string_equal(repo->files[0].path, "m x.gguf");
    assert_string_equal(repo->files[0].url, "https://example.com/a%20b/m%20x.gguf?sig=1");
    assert_true(repo->files[0].size_bytes < 0);
    qn_repo_free(repo);
    ref = ref_of("https://example.com/m-00002-of-00003.gguf?x=1");
    assert_int_equal(qn_hub_repo(&hubs, &web, &ref, &repo, NULL), QN_OK);
    assert_int_equal(repo->n, 3);
    assert_string_equal(repo->files[0].path, "m-00001-of-00003.gguf");
    assert_string_equal(repo->files[2].url, "https://example.com/m-00003-of-00003.gguf?x=1");
    qn_repo_free(repo);
    static const char *const nameless[] = {
        "https://example.com",        "https://example.com/",      "https://example.com/..",
        "https://example.com/%2e%2e", "https://example.com/a%2fb", "https://example.com/a%00b"};
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++) {
        ref = ref_of(nameless[i]);
        assert_int_equal(qn_hub_repo(&hubs, &web, &ref, &repo, NULL), QN_OK);
        assert_string_equal(repo->files[0].path, "model");
        qn_repo_free(repo);
    }
}

static void test_offline(void **state)
{
    struct qn_repo *repo;
    struct qn_search *s;
    const atomic_bool offline = true;
    struct qn_web web = {.offline = &offline};
    struct qn_ref ref = ref_of("o/r");
    (void)state;
    assert_int_equal(qn_hub_repo(&hubs, &web, &ref, &repo, NULL), QN_EUNSUPPORTED);
    assert_int_equal(qn_hub_search(&hubs, &web, QN_HUB_HF, "x", 1, false, &s, NULL),
                     QN_EUNSUPPORTED);
    ref = ref_of("https://example.com/x.gguf");
    assert_int_equal(qn_hub_repo(&hubs, &web, &ref, &repo, NULL), QN_EUNSUPPORTED);
}

static void test_token(void **state)
{
    char dir[] = "/tmp/quince-token-XXXXXX", home[64], path[128], file[96];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(home, sizeof home, "HF_HOME=%s", dir);
    snprintf(file, sizeof file, "%s/token", dir);
    snprintf(path, sizeof path, "HF_TOKEN_PATH=%s", file);
    assert_null(qn_hub_token((const char *const[]){home, NULL}));
    assert_int_equal(qn_file_write_atomic(file, "hf_file\n", 8, 0600, NULL), QN_OK);
    char *token = qn_hub_token((const char *const[]){"HF_TOKEN= hf_env \n", home, NULL});
    assert_string_equal(token, "hf_env");
    free(token);
    token = qn_hub_token((const char *const[]){"HF_TOKEN=", home, NULL});
    assert_string_equal(token, "hf_file");
    free(token);
    token = qn_hub_token((const char *const[]){path, NULL});
    assert_string_equal(token, "hf_file");
    free(token);
    assert_null(qn_hub_token((const char *const[]){NULL}));
    remove(file);
    remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hf_repo),
        cmocka_unit_test(test_hf_nonsense),
        cmocka_unit_test(test_gated),
        cmocka_unit_test(test_modelscope_repo),
        cmocka_unit_test(test_ollama_manifest),
        cmocka_unit_test(test_searches),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_offline),
        cmocka_unit_test(test_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
