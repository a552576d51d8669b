/* What a hub sends beside a model's weights (Ollama's do: parameters, a system message, the
 * beginning of a conversation) as the model's preset. */
#ifndef QN_DOWNLOADS_PULL_PRESET_H
#define QN_DOWNLOADS_PULL_PRESET_H

#include "base/buf.h"
#include "catalog/downloads.h"

enum { QN_PULL_PRESET_MAX = 256 * 1024 }; /* of each file, and of the preset */

/* Appends the preset's JSON object, or nothing when no file says anything. paths: where each file
 * is. What cannot be understood is left out, and logged. Blocking, any thread. */
void qn_pull_preset(const struct qn_download_file *files, const char *const *paths, size_t n,
                    struct qn_buf *out);

#endif
