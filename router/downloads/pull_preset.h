/* Turns the files that a hub has beside a model's weights (Ollama's registry: parameters, a system
 * message, the beginning of a conversation) into the model's preset. */
#ifndef QN_DOWNLOADS_PULL_PRESET_H
#define QN_DOWNLOADS_PULL_PRESET_H

#include "base/buf.h"
#include "catalog/downloads.h"

enum { QN_PULL_PRESET_MAX = 256 * 1024 }; /* of each file, and of the preset */

/* Appends the preset's JSON object, or nothing when no file has content for it. paths: of the files
 * on disk. Invalid files are left out, and logged. Blocking, any thread. */
void qn_pull_preset(const struct qn_download_file *files, const char *const *paths, size_t n,
                    struct qn_buf *out);

#endif
