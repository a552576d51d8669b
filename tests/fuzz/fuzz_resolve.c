/* Lists of files as a hostile hub may send them: lines of the input are paths, the first line is
 * the variant asked for. What is chosen is in the repository, no file twice, one of them to be
 * loaded. */
#include "registry/resolve.h"
#include "registry/variant.h"

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { FILES_MAX = 64 };

static void check(int ok)
{
    if (!ok)
        abort();
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct qn_repo_file *)a)->path, ((const struct qn_repo_file *)b)->path);
}

static void check_variants(const struct qn_repo *repo)
{
    struct qn_variants *v;
    size_t files = 0;
    qn_variants(repo, &v);
    for (size_t i = 0; i < v->n; i++) {
        check(*v->v[i].name && v->v[i].n > 0);
        files += v->v[i].n;
    }
    check(files + v->n_mmproj + v->n_drafts <= repo->n);
    qn_variants_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_repo_file files[FILES_MAX] = {{0}};
    struct qn_repo repo = {.id = "o/embed-rerank", .files = files};
    char *text = qn_xstrndup((const char *)data, n), *save = NULL,
         *line = strtok_r(text, "\n", &save);
    const char *variant = line ? line : "";
    while ((line = strtok_r(NULL, "\n", &save)) && repo.n < FILES_MAX)
        if (qn_ref_path_ok(line)) {
            files[repo.n].path = line;
            files[repo.n].size_bytes = (int64_t)strlen(line) - 3;
            repo.n++;
        }
    qsort(files, repo.n, sizeof *files, by_path);
    size_t unique = 0;
    for (size_t i = 0; i < repo.n; i++)
        if (!i || !qn_str_eq(files[i].path, files[unique - 1].path))
            files[unique++] = files[i];
    repo.n = unique;
    check_variants(&repo);
    struct qn_choice *c;
    struct qn_error e = {0};
    if (qn_resolve(&repo, variant, "auto", &c, &e) == QN_OK) {
        check(c->n >= 1 && c->n <= repo.n && qn_str_eq(c->files[0].role, "main"));
        for (size_t i = 0; i < c->n; i++) {
            check(c->files[i].file >= files && c->files[i].file < files + repo.n);
            for (size_t k = 0; k < i; k++)
                check(c->files[k].file != c->files[i].file);
        }
        qn_choice_free(c);
    } else {
        check(*e.message != '\0' && !c);
    }
    free(text);
    return 0;
}
