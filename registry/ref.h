/* Parses the text by which a user names a model that is not on this machine yet. Pure: no network,
 * no disk. Names of the built-in list and of Ollama's library are looked up before (registry.h).
 *
 *   owner/repo   owner/repo:VARIANT   owner/repo@REVISION   owner/repo:VARIANT@REVISION
 *   hf.co/owner/repo[:VARIANT]        huggingface.co/...
 *   https://huggingface.co/owner/repo[/tree/REVISION]
 *   https://huggingface.co/owner/repo/(blob|resolve)/REVISION/FILE
 *   modelscope.cn/[models/]owner/repo[:VARIANT], and the same as https:// pages and files
 *   llama3.2   qwen3:8b   library/x:TAG   ollama.com/[library/]x[:TAG]   registry.ollama.ai/...
 *   http://..., https://...                                 any other address: one file or archive
 *   /a/b.gguf   ./b   ../b   ~/b   b.gguf   file:///a/b     a file or folder of this machine
 *
 * VARIANT is a quantisation, a file's path, a folder or "*" (see resolve.h). */
#ifndef QN_REGISTRY_REF_H
#define QN_REGISTRY_REF_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

enum qn_hub_kind {
    QN_HUB_HF,
    QN_HUB_MODELSCOPE,
    QN_HUB_OLLAMA,
    QN_HUB_URL,   /* one file or archive at an address */
    QN_HUB_LOCAL, /* a path on this machine */
    QN_HUB_COUNT
};

enum {
    QN_REF_REPO_MAX = 255,
    QN_REF_VARIANT_MAX = 255,
    QN_REF_REVISION_MAX = 127,
    QN_REF_URL_MAX = 2047
};

struct qn_ref {
    enum qn_hub_kind hub;
    char repo[QN_REF_REPO_MAX + 1]; /* "owner/name"; Ollama: "library/qwen3"; else "" */
    char variant[QN_REF_VARIANT_MAX +
                 1]; /* as typed; Ollama: the tag, "latest" if none; may be "" */
    char revision[QN_REF_REVISION_MAX + 1]; /* branch, tag or commit; "": the default branch */
    char url[QN_REF_URL_MAX + 1]; /* URL: the address; LOCAL: the path as typed; else "" */
};

/* plain: the hub that "owner/repo" without a host refers to, QN_HUB_HF or QN_HUB_MODELSCOPE. A
 * relative path is kept relative: only the caller knows the folder that it is relative to.
 * QN_EINVAL or QN_EUNSUPPORTED with what to type instead. Any thread. */
qn_err qn_ref_parse(const char *text, enum qn_hub_kind plain, struct qn_ref *out,
                    struct qn_error *e);

/* Appends the shortest text that means the same to qn_ref_parse with QN_HUB_HF as the plain hub:
 * the form in which the catalog stores a model's checkpoint. */
void qn_ref_print(const struct qn_ref *ref, struct qn_buf *out);

/* "huggingface", "modelscope", "ollama", "url", "local". qn_hub_kind_parse is the inverse; it also
 * accepts "hf", and returns QN_HUB_COUNT for unknown names. */
const char *qn_hub_kind_name(enum qn_hub_kind kind);
enum qn_hub_kind qn_hub_kind_parse(const char *name);

/* True for "owner/name" as hubs allow it: two parts of letters, digits and . _ -, neither beginning
 * with a dot or a dash. */
bool qn_ref_repo_ok(const char *repo);

/* True for a path inside a repository that is safe to append to a folder: relative, no empty part,
 * no "." or "..", no backslash, no control characters, valid UTF-8. */
bool qn_ref_path_ok(const char *path);

#endif
