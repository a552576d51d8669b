/* Lists the devices of the Vulkan loader. Graphics drivers are loaded only in this program, which
 * exits afterwards, so a faulty driver cannot harm the server. */
#ifndef QN_PROBE_VULKAN_H
#define QN_PROBE_VULKAN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_VULKAN_DEVICES_MAX = 32 };

enum qn_vulkan_type { QN_VULKAN_OTHER, QN_VULKAN_INTEGRATED, QN_VULKAN_DISCRETE, QN_VULKAN_CPU };

struct qn_vulkan_device {
    char name[256];
    char driver[512]; /* "radv Mesa 22.3.6" */
    char api[32];     /* "1.3.230" */
    char pci[16];     /* "0000:03:00.0"; "" if the driver does not give it */
    uint32_t vendor_id, device_id;
    enum qn_vulkan_type type;
    int64_t memory_bytes; /* of the device-local heaps */
};

/* Fills out [QN_VULKAN_DEVICES_MAX] and *n. QN_ENOTFOUND: this machine has no loader or no driver.
 */
qn_err qn_vulkan_devices(struct qn_vulkan_device *out, size_t *n, struct qn_error *e);

#endif
