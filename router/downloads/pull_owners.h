/* The owners of a download: all that asked for it, as a string of owners' names (access/owner.h)
 * separated by spaces, which the catalog keeps. Pure. */
#ifndef QN_DOWNLOADS_PULL_OWNERS_H
#define QN_DOWNLOADS_PULL_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_PULL_OWNERS_MAX = 64 }; /* further clients watch a download without owning it */

size_t qn_pull_owners_count(const char *list);
bool qn_pull_owners_have(const char *list, const char *owner);

/* A new list, malloc'ed: with the owner added, if missing; with the owner removed. */
char *qn_pull_owners_with(const char *list, const char *owner);
char *qn_pull_owners_without(const char *list, const char *owner);

#endif
