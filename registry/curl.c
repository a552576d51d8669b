/* See curl.h. */
#include "registry/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The soname of libcurl since 7.16 (2006). */
static const char library[] = "libcurl.so.4";

struct qn_curl qn_curl;

static struct qn_error failure; /* written once, by load */

static void load(void)
{
#define SYMBOL(name) {"curl_" #name, offsetof(struct qn_curl, name)},
    static const struct {
        const char *name;
        size_t at;
    } symbols[] = {QN_CURL_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        qn_fail(&failure, QN_EUNSUPPORTED, "nothing can be fetched without libcurl: %s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *f = dlsym(handle, symbols[i].name);
        if (!f) {
            qn_fail(&failure, QN_EUNSUPPORTED, "%s is too old: it has no %s", library,
                    symbols[i].name);
            return;
        }
        memcpy((char *)&qn_curl + symbols[i].at, &f, sizeof f);
    }
    if (qn_curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        qn_fail(&failure, QN_EIO, "libcurl could not start");
}

qn_err qn_curl_load(struct qn_error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure.code ? qn_fail(e, failure.code, "%s", failure.message) : QN_OK;
}
