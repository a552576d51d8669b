/* Lists accelerators: graphics and neural processors, from sysfs and from Vulkan, matched by their
 * PCI address. */
#ifndef QN_PROBE_DEVICES_H
#define QN_PROBE_DEVICES_H

#include "base/json.h"
#include "probe/files.h"
#include "probe/vulkan.h"

/* Writes the members "gpus" and "npus" of an open object. vulkan [n]: the devices that Vulkan
 * reports. */
void qn_probe_devices(const struct qn_probe_root *root, const struct qn_vulkan_device *vulkan,
                      size_t n, struct qn_jw *w);

#endif
