/* The inputs of EMBED and RERANK on their way to a child: frames behind the job's, each a batch.
 *
 *   {"inputs":2,"bytes":17}\n
 *   05 00 00 00 "hello" 04 00 00 80 07 00 00 00
 *
 * The raw bytes have of each input its length in bytes (32 bits, least significant byte first),
 * then the text (UTF-8, no zero byte) or, where the length's highest bit is set, token ids of 32
 * bits in the same order of bytes. A batch is closed before the input that would make its raw bytes
 * more than QN_INPUTS_BATCH_BYTES, so a longer input crosses alone. */
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

/* One input as a backend reads it: a text, or token ids. */
struct qn_input {
    const char *text; /* NULL: tokens; ends with a NUL that len leaves out */
    size_t len;
    const int32_t *tokens; /* NULL: a text; each >= 0 */
    size_t n_tokens;       /* at least 1 */
};

struct qn_input_batch {
    struct qn_input_batch *next; /* the holder's */
    size_t first;                /* the number of v[0] among the job's inputs, from 0 */
    size_t n;
    size_t bytes; /* of memory */
    struct qn_input v[];
};

/* A place in a job's inputs. It must stay where it is in memory between begin and the last pack. */
struct qn_input_cursor {
    struct qn_jref list, at;
    bool more;
};

/* Of a job as its dialect made it; what m->inputs belongs to must outlive the cursor. Pure. */
void qn_inputs_begin(const struct qn_embed *m, struct qn_input_cursor *c);

/* Appends the frame of the next batch, or nothing when all inputs have been packed. The inputs must
 * be what qn_embed.inputs says, each of at most QN_JOB_PROMPT_BYTES_MAX bytes. */
void qn_inputs_pack(struct qn_input_cursor *c, struct qn_buf *out);

/* Reads a frame of inputs from the other process; *out, freed with free(), has copies of all its
 * bytes. first: the number of its first input. QN_EINVAL, QN_ELIMIT. Any thread. */
qn_err qn_inputs_take(const struct qn_frame *f, size_t first, struct qn_input_batch **out,
                      struct qn_error *e);

#endif
