/* `quince-probe` prints a description of this machine as one JSON object and exits. It is a
 * separate process because detection loads drivers of graphics processors, which the router must
 * never do.
 *
 *   quince-probe [--root DIR] [--no-vulkan]
 *
 * --root reads /proc, /sys and /etc below DIR, for tests. "vulkan_error" says why Vulkan found no
 * device, if it found none. */
#include "base/buf.h"
#include "probe/devices.h"
#include "probe/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1024 * 1024 };

int main(int argc, char **argv)
{
    static struct qn_vulkan_device vulkan[QN_VULKAN_DEVICES_MAX];
    struct qn_probe_root root = {""};
    struct qn_error e = {0};
    size_t n = 0;
    bool ask_vulkan = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-vulkan") == 0) {
            ask_vulkan = false;
        } else if (strcmp(argv[i], "--root") == 0 && i + 1 < argc) {
            root.path = argv[++i];
        } else {
            fprintf(stderr, "usage: quince-probe [--root DIR] [--no-vulkan]\n");
            return 2;
        }
    }
    if (ask_vulkan)
        qn_vulkan_devices(vulkan, &n, &e);
    struct qn_buf out;
    qn_buf_init(&out, OUTPUT_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_probe_machine(&root, &w);
    qn_probe_devices(&root, vulkan, n, &w);
    qn_jw_kstr(&w, "vulkan_error", e.message);
    qn_jw_obj_end(&w);
    bool ok = !out.overflow && puts(qn_buf_cstr(&out)) >= 0 && fflush(stdout) == 0;
    qn_buf_deinit(&out);
    _exit(ok ? 0 : 1); /* skips exit handlers of drivers, some of which hang */
}
