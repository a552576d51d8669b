/* Bodies of POST /api/generate. */
#include "tests/fuzz/dialect_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_dialect_parse(&qn_ollama_generate, data, n);
}
