/* libcurl, loaded at run time when the first URL is parsed. Loading brings in thirty libraries and
 * 3 MB of memory, which a server that fetches nothing saves. Its functions are members of one
 * table: `qn_curl.easy_init` is curl_easy_init. */
#ifndef QN_REGISTRY_CURL_H
#define QN_REGISTRY_CURL_H

#include "base/error.h"

#include <curl/curl.h>

#define QN_CURL_FUNCTIONS(F)                                                                       \
    F(easy_cleanup)                                                                                \
    F(easy_getinfo)                                                                                \
    F(easy_init)                                                                                   \
    F(easy_pause)                                                                                  \
    F(easy_reset)                                                                                  \
    F(easy_setopt)                                                                                 \
    F(easy_strerror)                                                                               \
    F(free)                                                                                        \
    F(global_init)                                                                                 \
    F(multi_add_handle)                                                                            \
    F(multi_cleanup)                                                                               \
    F(multi_info_read)                                                                             \
    F(multi_init)                                                                                  \
    F(multi_perform)                                                                               \
    F(multi_poll)                                                                                  \
    F(multi_remove_handle)                                                                         \
    F(multi_setopt)                                                                                \
    F(multi_strerror)                                                                              \
    F(multi_wakeup)                                                                                \
    F(slist_append)                                                                                \
    F(slist_free_all)                                                                              \
    F(url)                                                                                         \
    F(url_cleanup)                                                                                 \
    F(url_get)                                                                                     \
    F(url_set)

#define QN_CURL_MEMBER(name) __typeof__(curl_##name) *name;
struct qn_curl {
    QN_CURL_FUNCTIONS(QN_CURL_MEMBER)
};
#undef QN_CURL_MEMBER

/* Filled by a successful qn_curl_load and never changed afterwards. */
extern struct qn_curl qn_curl;

/* Loads and initialises libcurl; later calls only return the result of the first. Must be called
 * before any other use. Any thread. QN_EUNSUPPORTED: libcurl is not installed on this machine. */
qn_err qn_curl_load(struct qn_error *e);

#endif
