/* Detects whether an Ollama service is installed on this machine, which will need its port. */
#ifndef QN_HTTP_OLLAMA_SERVICE_H
#define QN_HTTP_OLLAMA_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_OLLAMA_UNIT_PATH_MAX = 1024 };

/* Searches for a systemd unit of the machine or of this user, with a few system calls. env:
 * NAME=VALUE strings ending in NULL. Writes the unit's path to out. */
bool qn_ollama_service_find(const char *const *env, char out[static QN_OLLAMA_UNIT_PATH_MAX]);

#endif
