/* Which files make a model: one test for each rule, over lists of files as real repositories have
 * them. Expected values follow from the rules in resolve.h and the seed document's examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "registry/repo_index.h"
#include "registry/resolve.h"
#include "registry/variant.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
enum { FILES_MAX = 40 };

struct repo {
    struct qn_repo repo;
    struct qn_repo_file files[FILES_MAX];
};

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct qn_repo_file *)a)->path, ((const struct qn_repo_file *)b)->path);
}

/* A repository of the paths up to a NULL; file i has (i + 1) * 1000 bytes in the order given. */
static struct qn_repo *make(struct repo *r, const char *id, const char *const *paths)
{
    memset(r, 0, sizeof *r);
    for (; paths[r->repo.n]; r->repo.n++) {
        r->files[r->repo.n].path = paths[r->repo.n];
        r->files[r->repo.n].size_bytes = 1000 * (int64_t)(r->repo.n + 1);
    }
    qsort(r->files, r->repo.n, sizeof *r->files, by_path);
    r->repo.id = id;
    r->repo.files = r->files;
    return &r->repo;
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* "main a.gguf; shard b.gguf" */
static void say(const struct qn_choice *c, char out[static 4096])
{
    *out = '\0';
    for (size_t i = 0; i < c->n; i++) {
        strcat(out, i ? "; " : "");
        strcat(out, c->files[i].role);
        strcat(out, " ");
        strcat(out, c->files[i].file->path);
    }
}

static void expect(const struct qn_repo *repo, const char *variant, const char *mmproj,
                   const char *files)
{
    struct qn_choice *c;
    struct qn_error e = {0};
    char said[4096];
    if (qn_resolve(repo, variant, mmproj, &c, &e))
        fail_msg("%s: %s", variant, e.message);
    say(c, said);
    assert_string_equal(said, files);
    qn_choice_free(c);
}

static void refuse(const struct qn_repo *repo, const char *variant, qn_err code, const char *part)
{
    struct qn_choice *c;
    struct qn_error e = {0};
    assert_int_equal(qn_resolve(repo, variant, NULL, &c, &e), code);
    assert_null(c);
    if (!strstr(e.message, part))
        fail_msg("'%s' is not in: %s", part, e.message);
}

/* The same through an index, for the file with this path. */
static void expect_file(const struct qn_repo *repo, const char *path, bool projector,
                        const char *files)
{
    struct qn_repo_index *index = qn_repo_index_new(repo);
    struct qn_choice *c;
    struct qn_error e = {0};
    char said[4096];
    size_t i = 0;
    while (!qn_str_eq(repo->files[i].path, path))
        i++;
    qn_err err = qn_resolve_file(index, i, projector, &c, &e);
    if (err) {
        assert_null(c);
        assert_string_equal(e.message, files);
    } else {
        say(c, said);
        assert_string_equal(said, files);
    }
    qn_choice_free(c);
    qn_repo_index_free(index);
}

/* A usual repository of quantisations. */
static const char *const usual[] = {
    ".gitattributes",
    "README.md",
    "Qwen3-8B-BF16.gguf",
    "Qwen3-8B-IQ4_NL.gguf",
    "Qwen3-8B-Q4_0.gguf",
    "Qwen3-8B-Q4_K_M.gguf",
    "Qwen3-8B-Q8_0.gguf",
    "Qwen3-8B-UD-Q4_K_XL.gguf",
    "config.json",
    "mmproj-F16.gguf",
    "mmproj-F32.gguf",
    "mtp-Qwen3-8B.gguf",
    NULL,
};

static void test_quantisation(void **state)
{
    struct repo r;
    const struct qn_repo *repo = make(&r, "unsloth/Qwen3-8B-GGUF", usual);
    (void)state;
    expect(repo, "Q4_K_M", NULL, "main Qwen3-8B-Q4_K_M.gguf");
    expect(repo, "q4_k_m", NULL, "main Qwen3-8B-Q4_K_M.gguf");
    expect(repo, "UD-Q4_K_XL", NULL, "main Qwen3-8B-UD-Q4_K_XL.gguf");
    expect(repo, "IQ4_NL", NULL, "main Qwen3-8B-IQ4_NL.gguf");
    expect(repo, "BF16", NULL, "main Qwen3-8B-BF16.gguf");
    refuse(repo, "Q5_K_M", QN_ENOTFOUND, "Q4_K_M, UD-Q4_K_XL, Q8_0, Q4_0, BF16, IQ4_NL");
    expect(repo, "Q4_K_XL", NULL,
           "main Qwen3-8B-UD-Q4_K_XL.gguf"); /* the only ending of that kind */
    /* It is never another one, and never a companion. */
    refuse(repo, "F16", QN_ENOTFOUND, "no variant 'F16'");
    refuse(repo, "F32", QN_ENOTFOUND, "no variant 'F32'");
}

static void test_the_choice_says_what_it_costs(void **state)
{
    struct repo r;
    struct qn_choice *c;
    (void)state;
    make(&r, "o/r",
         LIST("m-Q4_0.gguf", "m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf"));
    assert_int_equal(qn_resolve(&r.repo, "q8_0", NULL, &c, NULL), QN_OK);
    assert_string_equal(c->variant, "Q8_0");
    assert_int_equal(c->size_bytes, 5000);
    qn_choice_free(c);
    r.files[1].size_bytes = -1;
    assert_int_equal(qn_resolve(&r.repo, "Q8_0", NULL, &c, NULL), QN_OK);
    assert_true(c->size_bytes < 0);
    qn_choice_free(c);
}

static void test_nothing_named(void **state)
{
    struct repo r;
    (void)state;
    /* The first in order that is no projector and no draft. */
    make(&r, "o/r",
         LIST("mmproj-a.gguf", "mtp-a.gguf", "dflash-a.gguf", "dflash.gguf", "z.gguf", "n.gguf"));
    expect(&r.repo, "", NULL, "main n.gguf");
    expect(&r.repo, NULL, NULL, "main n.gguf");
    make(&r, "o/r", LIST("a-00002-of-00002.gguf", "a-00001-of-00002.gguf"));
    expect(&r.repo, "", NULL, "main a-00001-of-00002.gguf; shard a-00002-of-00002.gguf");
    make(&r, "o/r", LIST("mmproj-a.gguf", "README.md"));
    refuse(&r.repo, "", QN_EUNSUPPORTED, "no GGUF file");
}

static void test_everything(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "ggml-org/gpt-oss-120b-GGUF",
         LIST("README.md", "gpt-oss-120b-mxfp4-00003-of-00003.gguf",
              "gpt-oss-120b-mxfp4-00001-of-00003.gguf", "gpt-oss-120b-mxfp4-00002-of-00003.gguf"));
    expect(&r.repo, "*", NULL,
           "main gpt-oss-120b-mxfp4-00001-of-00003.gguf; shard "
           "gpt-oss-120b-mxfp4-00002-of-00003.gguf; "
           "shard gpt-oss-120b-mxfp4-00003-of-00003.gguf");
    make(&r, "o/r", LIST("a.gguf", "b.gguf", "mmproj-x.gguf", "mmproj-y.gguf", "mtp-x.gguf"));
    expect(
        &r.repo, "*", NULL,
        "main a.gguf; extra b.gguf; mmproj mmproj-x.gguf; extra mmproj-y.gguf; draft mtp-x.gguf");
}

static void test_exact_files(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "ggerganov/whisper.cpp", LIST("ggml-tiny.bin", "ggml-base.bin", "coreml/x.zip"));
    expect(&r.repo, "ggml-tiny.bin", NULL, "main ggml-tiny.bin");
    refuse(&r.repo, "ggml-huge.bin", QN_ENOTFOUND, "ggml-base.bin, ggml-tiny.bin");
    refuse(&r.repo, "GGML-tiny.bin", QN_ENOTFOUND, "no file");
    make(&r, "o/r", LIST("split_files/vae/ae.safetensors", "a/m.gguf", "b/m.gguf", "b/n.gguf"));
    expect(&r.repo, "split_files/vae/ae.safetensors", NULL, "main split_files/vae/ae.safetensors");
    expect(&r.repo, "n.gguf", NULL, "main b/n.gguf"); /* the only one of that name */
    refuse(&r.repo, "m.gguf", QN_EINVAL, "more than one");
    /* A companion may be asked for as itself. */
    make(&r, "o/r", LIST("a.gguf", "mtp-a.gguf", "mmproj-F16.gguf"));
    expect(&r.repo, "mtp-a.gguf", NULL, "main mtp-a.gguf");
    expect(&r.repo, "mmproj-F16.gguf", NULL, "main mmproj-F16.gguf");
}

static void test_shards(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "o/r",
         LIST("Q8_0/m-Q8_0-00001-of-00002.gguf", "Q8_0/m-Q8_0-00002-of-00002.gguf",
              "m-Q4_K_M.gguf"));
    const char *both =
        "main Q8_0/m-Q8_0-00001-of-00002.gguf; shard Q8_0/m-Q8_0-00002-of-00002.gguf";
    expect(&r.repo, "Q8_0", NULL, both);
    /* Any file of the series brings the others; the first is loaded. */
    expect(&r.repo, "Q8_0/m-Q8_0-00001-of-00002.gguf", NULL, both);
    expect(&r.repo, "m-Q8_0-00002-of-00002.gguf", NULL, both);
    make(&r, "o/r", LIST("m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"));
    refuse(&r.repo, "Q8_0", QN_ENOTFOUND, "part 2 of 3");
    /* Two series of one stem are two models. */
    make(&r, "o/r",
         LIST("m-00001-of-00001.gguf", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"));
    expect(&r.repo, "m-00002-of-00002.gguf", NULL,
           "main m-00001-of-00002.gguf; shard m-00002-of-00002.gguf");
}

static void test_endings(void **state)
{
    struct repo r;
    (void)state;
    /* Two variants share a quantisation: their names are their files', and the ending decides. */
    make(&r, "o/r", LIST("M-Q4_K_M.gguf", "M-Q4_K_M-imatrix.gguf"));
    expect(&r.repo, "Q4_K_M", NULL, "main M-Q4_K_M.gguf");
    expect(&r.repo, "m-q4_k_m-IMATRIX", NULL, "main M-Q4_K_M-imatrix.gguf");
    make(&r, "o/r", LIST("a-Q4_0.gguf", "b-Q4_0.gguf"));
    refuse(&r.repo, "Q4_0", QN_EINVAL, "a-Q4_0.gguf, b-Q4_0.gguf");
    expect(&r.repo, "b-Q4_0", NULL, "main b-Q4_0.gguf");
    make(&r, "o/r",
         LIST("model-tiny-00001-of-00002.gguf", "model-tiny-00002-of-00002.gguf",
              "model-large.gguf"));
    expect(&r.repo, "tiny", NULL,
           "main model-tiny-00001-of-00002.gguf; shard model-tiny-00002-of-00002.gguf");
}

static void test_folders(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "o/r",
         LIST("big/a.gguf", "big/b.gguf", "model-small/c.gguf", "other_small/d.gguf",
              "model_tiny/e.gguf"));
    expect(&r.repo, "BIG", NULL, "main big/a.gguf; shard big/b.gguf");
    expect(&r.repo, "tiny", NULL, "main model_tiny/e.gguf");
    refuse(&r.repo, "small", QN_EINVAL, "model-small/c.gguf, other_small/d.gguf");
    refuse(&r.repo, "ig", QN_ENOTFOUND, "no variant");
    /* A folder's name before a longer one that ends so. */
    make(&r, "o/r", LIST("V/a.gguf", "x-V/b.gguf"));
    expect(&r.repo, "v", NULL, "main V/a.gguf");
    /* Folders hold quantisations: "Coder-Q4_K_M/". */
    make(&r, "o/r",
         LIST("Coder-Q4_K_M/c-00001-of-00002.gguf", "Coder-Q4_K_M/c-00002-of-00002.gguf",
              "Coder-Q8_0/c.gguf"));
    expect(&r.repo, "Q4_K_M", NULL,
           "main Coder-Q4_K_M/c-00001-of-00002.gguf; shard Coder-Q4_K_M/c-00002-of-00002.gguf");
}

static void test_projectors(void **state)
{
    struct repo r;
    const struct qn_repo *repo = make(&r, "unsloth/Qwen3-8B-GGUF", usual);
    struct qn_choice *c;
    (void)state;
    expect(repo, "Q4_0", "mmproj-F32.gguf", "main Qwen3-8B-Q4_0.gguf; mmproj mmproj-F32.gguf");
    expect(repo, "Q4_0", "auto", "main Qwen3-8B-Q4_0.gguf; mmproj mmproj-F16.gguf");
    expect(repo, "Q4_0", "", "main Qwen3-8B-Q4_0.gguf");
    assert_int_equal(qn_resolve(repo, "Q4_0", "mmproj-Q8_0.gguf", &c, NULL), QN_ENOTFOUND);
    make(&r, "o/r", LIST("a.gguf"));
    expect(&r.repo, "", "auto", "main a.gguf");
    make(&r, "o/r", LIST("x/a.gguf", "x/mmproj-BF16.gguf", "mmproj-F16.gguf"));
    expect(&r.repo, "", "auto", "main x/a.gguf; mmproj x/mmproj-BF16.gguf");
}

/* A model whose one big file is not GGUF is taken whole: voices and settings lie beside it. */
static void test_whole_repositories(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "mikkoph/kokoro-onnx",
         LIST(".gitattributes", "README.md", "kokoro-v1.0.onnx", "voices-v1.0.bin", "config.json"));
    expect(&r.repo, "", NULL, "main kokoro-v1.0.onnx; extra config.json; extra voices-v1.0.bin");
    make(&r, "Qwen/Qwen3-8B",
         LIST("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"));
    refuse(&r.repo, "", QN_EUNSUPPORTED, "quince search");
}

/* Hubs that say what each file is (Ollama's). */
static void test_roles(void **state)
{
    struct repo r;
    (void)state;
    make(&r, "library/x", LIST("license", "model.gguf", "params", "template"));
    for (size_t i = 0; i < 4; i++)
        r.files[i].role = i == 1 ? "main" : r.files[i].path;
    expect(&r.repo, "latest", "auto",
           "main model.gguf; license license; params params; template template");
    r.files[1].role = "system";
    refuse(&r.repo, "latest", QN_EUNSUPPORTED, "no GGUF");
}

static void test_quantisations(void **state)
{
    static const struct {
        const char *name, *expected;
    } cases[] = {
        {"Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"},
        {"Qwen3-8B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"},
        {"gemma-3-270m-it-UD-IQ2_M.gguf", "UD-IQ2_M"},
        {"x.q8_0.gguf", "Q8_0"},
        {"x-Q2_K.gguf", "Q2_K"},
        {"x-Q3_K_S.gguf", "Q3_K_S"},
        {"x-Q6_K_L.gguf", "Q6_K_L"},
        {"x-UD-Q8_K_XL.gguf", "UD-Q8_K_XL"},
        {"x-IQ3_XXS.gguf", "IQ3_XXS"},
        {"x-IQ4_NL.gguf", "IQ4_NL"},
        {"x-IQ4_KS.gguf", "IQ4_KS"},
        {"x-TQ1_0.gguf", "TQ1_0"},
        {"gpt-oss-20b-mxfp4.gguf", "MXFP4"},
        {"Qwen3-Coder-Next-MXFP4_MOE.gguf", "MXFP4_MOE"},
        {"x-bf16.gguf", "BF16"},
        {"x-F16.gguf", "F16"},
        {"Q4_0", "Q4_0"},
        {"BF16/x-00001-of-00002.gguf", "BF16"},
        {"Bonsai-8B-Q1_0.gguf", "Q1_0"},
        {"x-IQ4_XS-Q8nextn.gguf", "IQ4_XS"},
        {"Qwen3-8B.gguf", NULL},
        {"model.gguf", NULL},
        {"x-Q4K.gguf", NULL},
        {"QQ4_0.gguf", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[32];
        bool found = qn_quantization_of(cases[i].name, out);
        if (found != (cases[i].expected != NULL))
            fail_msg("%s: %s", cases[i].name, found ? out : "none");
        if (found)
            assert_string_equal(out, cases[i].expected);
    }
}

/* The seed document's example. */
static void test_variants(void **state)
{
    struct repo r;
    struct qn_variants *v;
    (void)state;
    make(&r, "unsloth/Qwen3-8B-GGUF",
         LIST("README.md", "Qwen3-8B-Q4_K_M.gguf", "Q8_0/Qwen3-8B-Q8_0-00001-of-00002.gguf",
              "Q8_0/Qwen3-8B-Q8_0-00002-of-00002.gguf", "mmproj-model-f16.gguf", "mtp-x.gguf"));
    qn_variants(&r.repo, &v);
    assert_string_equal(v->recipe, "llamacpp");
    assert_string_equal(v->kind, "gguf");
    assert_string_equal(v->suggested_name, "Qwen3-8B-GGUF");
    assert_int_equal(v->n_labels, 1);
    assert_string_equal(v->labels[0], "vision");
    assert_int_equal(v->n_mmproj, 1);
    assert_string_equal(v->mmproj[0]->path, "mmproj-model-f16.gguf");
    assert_int_equal(v->n_drafts, 1);
    assert_int_equal(v->n, 2);
    assert_string_equal(v->v[0].name, "Q4_K_M");
    assert_false(v->v[0].sharded);
    assert_int_equal(v->v[0].size_bytes, 2000);
    assert_string_equal(v->v[1].name, "Q8_0");
    assert_true(v->v[1].sharded);
    assert_int_equal(v->v[1].n, 2);
    assert_string_equal(v->v[1].files[0]->path, "Q8_0/Qwen3-8B-Q8_0-00001-of-00002.gguf");
    assert_int_equal(v->v[1].size_bytes, 3000 + 4000);
    qn_variants_free(v);
}

static void names_of(const struct qn_variants *v, char out[static 1024])
{
    *out = '\0';
    for (size_t i = 0; i < v->n; i++) {
        strcat(out, i ? " " : "");
        strcat(out, v->v[i].name);
    }
}

static void expect_names(const char *const *paths, const char *names)
{
    struct repo r;
    struct qn_variants *v;
    char said[1024];
    qn_variants(make(&r, "o/r", paths), &v);
    names_of(v, said);
    assert_string_equal(said, names);
    qn_variants_free(v);
}

static void test_variants_order_and_names(void **state)
{
    (void)state;
    expect_names(usual, "Q4_K_M UD-Q4_K_XL Q8_0 Q4_0 BF16 IQ4_NL");
    /* The same quantisation twice: files' names, still ranked by it. */
    expect_names(LIST("A-Q8_0.gguf", "M-Q4_K_M.gguf", "M-Q4_K_M-imatrix.gguf"),
                 "M-Q4_K_M M-Q4_K_M-imatrix Q8_0");
    /* No quantisation anywhere. */
    expect_names(LIST("model.gguf", "README.md"), "model");
    expect_names(LIST("model-00001-of-00002.gguf", "model-00002-of-00002.gguf"), "model");
    /* One without beside others is not offered. */
    expect_names(LIST("imatrix.gguf", "m-Q4_0.gguf"), "Q4_0");
    /* A folder of different quantisations is no series. */
    expect_names(LIST("gguf/m-Q4_0.gguf", "gguf/m-Q8_0.gguf", "gguf/m-Q2_K-00001-of-00002.gguf",
                      "gguf/m-Q2_K-00002-of-00002.gguf"),
                 "Q8_0 Q4_0 Q2_K");
    expect_names(LIST("weights/a.gguf", "weights/b.gguf"), "weights");
    expect_names(LIST("README.md"), "");
}

static void test_other_kinds(void **state)
{
    struct repo r;
    struct qn_variants *v;
    (void)state;
    qn_variants(make(&r, "ggerganov/whisper.cpp",
                     LIST("ggml-tiny.bin", "ggml-base-encoder.bin", "x.mlmodelc.zip")),
                &v);
    assert_string_equal(v->recipe, "whispercpp");
    assert_int_equal(v->n, 1);
    assert_string_equal(v->v[0].name, "ggml-tiny.bin");
    qn_variants_free(v);
    qn_variants(make(&r, "amd/x-onnx", LIST("model.onnx", "genai_config.json")), &v);
    assert_string_equal(v->recipe, "ryzenai-llm");
    assert_string_equal(v->kind, "onnx-ryzenai");
    qn_variants_free(v);
    make(&r, "stabilityai/sd-turbo", LIST("sd_turbo.safetensors", "unet/x.safetensors"));
    r.repo.pipeline = "text-to-image";
    qn_variants(&r.repo, &v);
    assert_string_equal(v->recipe, "sd-cpp");
    assert_int_equal(v->n, 1);
    assert_string_equal(v->labels[0], "image");
    qn_variants_free(v);
    qn_variants(make(&r, "Qwen/Qwen3-Embedding-0.6B-GGUF", LIST("a-Q8_0.gguf")), &v);
    assert_string_equal(v->labels[0], "embeddings");
    qn_variants_free(v);
    qn_variants(make(&r, "pqnet/bge-reranker-v2-m3-Q8_0-GGUF", LIST("a-q8_0.gguf")), &v);
    assert_string_equal(v->labels[0], "reranking");
    qn_variants_free(v);
}

/* Series that differ in their count, their separator or the case of their endings alone, parts in
 * folders, and stems of which one begins with the other. */
static void a_file_of_an_index_brings_its_own_parts_and_projector(void **state)
{
    (void)state;
    struct repo r;
    struct qn_repo *repo =
        make(&r, "o/r",
             LIST("m-00001-of-00002.gguf", "m-00002-of-00002.GGUF", "m-00001-of-00003.gguf",
                  "m-00002-of-00003.gguf", "m-00003-of-00003.gguf", "m-x-00001-of-00001.gguf",
                  "m.00001-of-00002.gguf", "lost-00001-of-00002.gguf", "b/m-00001-of-00002.gguf",
                  "b/m-00002-OF-00002.gguf", "b/mmproj-F32.gguf", "b/mmproj-BF16.gguf",
                  "c/mmproj-F16.gguf", "c/mmproj-a.gguf", "single.gguf"));
    expect_file(repo, "m-00001-of-00002.gguf", false,
                "main m-00001-of-00002.gguf; shard m-00002-of-00002.GGUF");
    expect_file(repo, "m-00001-of-00003.gguf", true,
                "main m-00001-of-00003.gguf; shard m-00002-of-00003.gguf; shard "
                "m-00003-of-00003.gguf; mmproj c/mmproj-F16.gguf");
    expect_file(repo, "m-x-00001-of-00001.gguf", false, "main m-x-00001-of-00001.gguf");
    expect_file(repo, "b/m-00001-of-00002.gguf", true,
                "main b/m-00001-of-00002.gguf; shard b/m-00002-OF-00002.gguf; mmproj "
                "b/mmproj-BF16.gguf");
    expect_file(repo, "lost-00001-of-00002.gguf", false,
                "part 2 of 2 of lost-00001-of-00002.gguf is missing in o/r: its owner has to "
                "upload it");
    expect_file(repo, "single.gguf", true, "main single.gguf; mmproj c/mmproj-F16.gguf");
    for (size_t i = 0; i < repo->n; i++) { /* the same as by name */
        if (qn_file_kind_of(repo->files[i].path) != QN_FILE_GGUF)
            continue;
        struct qn_choice *c = NULL;
        char said[4096];
        if (qn_resolve(repo, repo->files[i].path, "auto", &c, NULL) == QN_OK) {
            say(c, said);
            expect_file(repo, repo->files[i].path, true, said);
        }
        qn_choice_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantisation),
        cmocka_unit_test(test_the_choice_says_what_it_costs),
        cmocka_unit_test(test_nothing_named),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_exact_files),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_projectors),
        cmocka_unit_test(test_whole_repositories),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_quantisations),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_variants_order_and_names),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(a_file_of_an_index_brings_its_own_parts_and_projector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
