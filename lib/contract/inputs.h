/* The inputs of EMBED and RERANK as they are sent to a child: frames after the job's frame, each
 * with a batch of inputs.
 *
 *    {"inputs":2,"bytes":17}\n
 *    05 00 00 00 "hello" 04 00 00 80 07 00 00 00
 *
 * For each input, the raw bytes have its length in bytes (32 bits, little-endian), then the text
 * (UTF-8, no zero byte) or, if the highest bit of the length is set, token ids of 32 bits,
 * little-endian. A batch ends before the input that would make its raw bytes more than
 * QN_INPUTS_BATCH_BYTES; an input longer than that is sent in a batch of its own. */
#ifndef QN_CONTRACT_INPUTS_H
#define QN_CONTRACT_INPUTS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/frame.h"
#include "contract/job.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_INPUTS_BATCH_MAX = 64, /* inputs of a batch */
    QN_INPUTS_BATCH_BYTES = 256 * 1024,
    QN_INPUT_HEAD = 4, /* bytes of an input's length */
    QN_INPUTS_FRAME_MAX = QN_JOB_PROMPT_BYTES_MAX + QN_INPUTS_BATCH_BYTES
};

/* One input as a backend reads it: a text or token ids. */
struct qn_input {
    const char *text; /* NULL: the input is tokens; ends with a NUL that len does not count */
    size_t len;
    const int32_t *tokens; /* NULL: the input is a text; each id is >= 0 */
    size_t n_tokens;       /* at least 1 */
};

struct qn_input_batch {
    struct qn_input_batch *next; /* for a list that the holder of the batch keeps */
    size_t first;                /* index of v[0] among the job's inputs, from 0 */
    size_t n;
    size_t bytes; /* memory of the batch */
    struct qn_input v[];
};

/* A position in a job's inputs. The cursor must keep its address from begin to the last pack. */
struct qn_input_cursor {
    struct qn_jref list, at;
    bool more;
};

/* Begins at the first input of a job that a dialect made. The JSON document of m->inputs must
 * outlive the cursor. Pure. */
void qn_inputs_begin(const struct qn_embed *m, struct qn_input_cursor *c);

/* Appends the frame of the next batch, or nothing if all inputs have been packed. The inputs must
 * have the form that qn_embed.inputs requires, each of at most QN_JOB_PROMPT_BYTES_MAX bytes. */
void qn_inputs_pack(struct qn_input_cursor *c, struct qn_buf *out);

/* Decodes a frame of inputs. *out has copies of all its bytes and is freed with free(). first:
 * index of the frame's first input in the job. Errors: QN_EINVAL, QN_ELIMIT. Any thread. */
qn_err qn_inputs_take(const struct qn_frame *f, size_t first, struct qn_input_batch **out,
                      struct qn_error *e);

#endif
