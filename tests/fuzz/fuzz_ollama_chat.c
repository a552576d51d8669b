/* Bodies of POST /api/chat. */
#include "tests/fuzz/dialect_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_dialect_parse(&qn_ollama_chat, data, n);
}
