/* What the system says about itself under /proc. */
#ifndef QN_ROUTER_SYSINFO_H
#define QN_ROUTER_SYSINFO_H

#include <stdint.h>

/* Bytes that programs can still have without the machine beginning to swap (MemAvailable of
 * proc(5)); -1 when the system does not say. Takes microseconds. Any thread. */
int64_t qn_free_memory(void);

#endif
