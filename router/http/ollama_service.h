/* Is a service of Ollama installed on this machine, which will want its port? */
#ifndef QN_HTTP_OLLAMA_SERVICE_H
#define QN_HTTP_OLLAMA_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_OLLAMA_UNIT_PATH_MAX = 1024 };

/* Looks for a unit of systemd, of the machine or of this user, with a few system calls. env:
 * NAME=VALUE words ending in NULL. The unit's path goes into out. */
bool qn_ollama_service_find(const char *const *env, char out[static QN_OLLAMA_UNIT_PATH_MAX]);

#endif
