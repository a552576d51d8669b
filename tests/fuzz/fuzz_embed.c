/* Bodies of POST embeddings and rerank, and of Ollama's /api/embed and /api/embeddings. */
#include "tests/fuzz/dialect_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_dialect_parse(&qn_rerank, data, n);
    fuzz_dialect_parse(&qn_ollama_embed, data, n);
    fuzz_dialect_parse(&qn_ollama_embeddings, data, n);
    return fuzz_dialect_parse(&qn_openai_embed, data, n);
}
