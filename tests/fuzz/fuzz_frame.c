/* Frames from a hostile peer: the first byte says in which pieces the rest arrives. */
#include "contract/frame.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t piece = (size_t)data[0] % 64 + 1;
    struct qn_frame_reader r;
    qn_frame_reader_init(&r, 4096);
    qn_err err = QN_EBUSY;
    for (size_t at = 1; at < size && err == QN_EBUSY; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (qn_frame_feed(&r, data + at, n))
            break;
        struct qn_frame frame;
        struct qn_error e;
        while ((err = qn_frame_next(&r, &frame, &e)) == QN_OK) {
            /* Every byte that is lent must be readable. */
            volatile uint8_t sum = 0;
            for (size_t i = 0; i < frame.bytes_len; i++)
                sum = (uint8_t)(sum + (uint8_t)frame.bytes[i]);
            qn_json_free(frame.json);
        }
    }
    qn_frame_reader_deinit(&r);
    return 0;
}
