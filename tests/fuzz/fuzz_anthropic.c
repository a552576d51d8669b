/* Bodies of POST messages and messages/count_tokens. */
#include "tests/fuzz/dialect_parse.h"

#include "base/log.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    qn_log_set_level(QN_LOG_ERROR);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_dialect_parse(&qn_anthropic_count, data, n);
    return fuzz_dialect_parse(&qn_anthropic, data, n);
}
