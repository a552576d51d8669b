/* What requests ask of a model, for the log at the level `trace`. */
#ifndef QN_INFER_TRACE_H
#define QN_INFER_TRACE_H

#include "contract/job.h"

#include <stddef.h>

enum { QN_TRACE_BYTES_MAX = 256 * 1024 }; /* of one request that are logged */

/* Logs the texts of these jobs as lines of the request `id`: messages with their role, prompts,
 * inputs. A long text takes several lines; of a file its number of bytes is told. Any thread. */
void qn_trace_prompts(const char *id, const struct qn_job *jobs, size_t n);

#endif
