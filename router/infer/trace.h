/* Logs the texts of requests at the level `trace`. */
#ifndef QN_INFER_TRACE_H
#define QN_INFER_TRACE_H

#include "contract/job.h"

#include <stddef.h>

enum { QN_TRACE_BYTES_MAX = 256 * 1024 }; /* logged of one request */

/* Logs the texts of these jobs as lines of the request `id`: messages with their role, prompts,
 * inputs. A long text takes several lines; for a file its number of bytes is logged. Any thread. */
void qn_trace_prompts(const char *id, const struct qn_job *jobs, size_t n);

#endif
