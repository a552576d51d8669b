/* What the publisher of a release answers about its files: a sum that comes out is one. */
#include "registry/pack_install.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char sum[65];
    int64_t size_bytes;
    if (qn_pack_digest((const char *)data, n, "a", sum, &size_bytes, NULL) == QN_OK &&
        (strlen(sum) != 64 || strspn(sum, "0123456789abcdef") != 64 || size_bytes < -1 ||
         size_bytes == 0))
        abort();
    return 0;
}
