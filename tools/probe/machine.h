/* Describes the machine without its accelerators: system, processor, memory, board. */
#ifndef QN_PROBE_MACHINE_H
#define QN_PROBE_MACHINE_H

#include "base/json.h"
#include "probe/files.h"

/* Writes the members "os", "kernel", "cpu", "memory_bytes", "board", "power" of an open object. */
void qn_probe_machine(const struct qn_probe_root *root, struct qn_jw *w);

#endif
