/* See devices.h. Sources: the kernel's documentation of sysfs for PCI, of amdgpu (mem_info_*) and
 * of KFD's topology; the PCI code and ID assignment specification for classes. */
#include "probe/devices.h"

#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PCI_MAX = 1024,
    KFD_NODES_MAX = 64,
    VENDOR_AMD = 0x1002,
    VENDOR_AMD_CPU = 0x1022,
    VENDOR_NVIDIA = 0x10de,
    VENDOR_INTEL = 0x8086,
    CLASS_DISPLAY = 0x03,      /* PCI base class */
    CLASS_ACCELERATOR = 0x1200 /* PCI base class and subclass */
};

struct pci {
    char address[16]; /* "0000:03:00.0" */
    uint32_t vendor, device;
};

static const char *vendor_name(uint32_t vendor)
{
    switch (vendor) {
    case VENDOR_AMD:
    case VENDOR_AMD_CPU:
        return "amd";
    case VENDOR_NVIDIA:
        return "nvidia";
    case VENDOR_INTEL:
        return "intel";
    default:
        return "other";
    }
}

/* The family of AMD's neural processors by device number; their PCI class is only "signal
 * processing". */
static const char *amd_npu_family(uint32_t device)
{
    return device == 0x1502 ? "XDNA" : device == 0x17f0 ? "XDNA2" : NULL;
}

static int not_hidden(const struct dirent *d)
{
    return d->d_name[0] != '.' && strlen(d->d_name) < sizeof((struct pci *)0)->address;
}

static size_t list_pci(const struct qn_probe_root *root, struct pci *out)
{
    char path[QN_PROBE_PATH_MAX];
    struct dirent **names = NULL;
    size_t n = 0;
    int count = qn_probe_path(root, path, "/sys/bus/pci/devices")
                    ? scandir(path, &names, not_hidden, alphasort)
                    : -1;
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        if (n < PCI_MAX) {
            struct pci *p = &out[n++];
            snprintf(p->address, sizeof p->address, "%.15s", name);
            p->vendor = (uint32_t)qn_probe_number(root, 0, "/sys/bus/pci/devices/%s/vendor", name);
            p->device = (uint32_t)qn_probe_number(root, 0, "/sys/bus/pci/devices/%s/device", name);
        }
        free(names[i]);
    }
    free(names);
    return n;
}

static int64_t of_device(const struct qn_probe_root *root, const struct pci *p, const char *file)
{
    return qn_probe_number(root, 0, "/sys/bus/pci/devices/%s/%s", p->address, file);
}

static void driver_of(const struct qn_probe_root *root, const struct pci *p,
                      char out[static QN_PROBE_LINE_MAX])
{
    char text[QN_PROBE_LINE_MAX];
    qn_probe_line(root, text, "/sys/bus/pci/devices/%s/uevent", p->address);
    out[0] = '\0';
    if (qn_str_starts(text, "DRIVER="))
        snprintf(out, QN_PROBE_LINE_MAX, "%s", text + strlen("DRIVER="));
}

/* Finds the number after "key " in a text of lines "key number". */
static bool kfd_number(const char *text, const char *key, int64_t *out)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ' ') {
            *out = strtoll(line + n, NULL, 10);
            return true;
        }
    }
    return false;
}

/* ROCm's name for the architecture of an AMD graphics processor, "gfx1103"; "" when the kernel does
 * not give it. */
static void gfx_family(const struct qn_probe_root *root, const struct pci *p, char out[static 32])
{
    unsigned domain, bus, dev, fn;
    out[0] = '\0';
    if (sscanf(p->address, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4)
        return;
    int64_t place = (int64_t)(bus << 8 | dev << 3 | fn);
    for (int i = 0; i < KFD_NODES_MAX && !*out; i++) {
        int64_t at, in = 0, version;
        char *text = qn_probe_text(root, "/sys/class/kfd/kfd/topology/nodes/%d/properties", i);
        if (text && kfd_number(text, "location_id", &at) && at == place &&
            (!kfd_number(text, "domain", &in) || in == (int64_t)domain) &&
            kfd_number(text, "gfx_target_version", &version) && version > 0)
            snprintf(out, 32, "gfx%d%x%x", (int)(version / 10000 % 1000),
                     (unsigned)(version / 100 % 100), (unsigned)(version % 100));
        free(text);
    }
}

/* The device's name in the distribution's list of PCI ids; "" if it has none. */
static void listed_name(const struct qn_probe_root *root, const struct pci *p,
                        char out[static QN_PROBE_LINE_MAX])
{
    char path[QN_PROBE_PATH_MAX], vendor[8], device[8], *line = NULL;
    size_t size = 0;
    bool inside = false;
    out[0] = '\0';
    snprintf(vendor, sizeof vendor, "%04x ", p->vendor & 0xffff);
    snprintf(device, sizeof device, "\t%04x ", p->device & 0xffff);
    FILE *f = qn_probe_path(root, path, "/usr/share/misc/pci.ids") ? fopen(path, "re") : NULL;
    while (f && !*out && getline(&line, &size, f) > 0) {
        if (line[0] != '\t' && line[0] != '#') {
            if (inside)
                break;
            inside = qn_str_starts(line, vendor);
        } else if (inside && qn_str_starts(line, device)) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, QN_PROBE_LINE_MAX, "%.200s", line + strlen(device) + 1);
        }
    }
    free(line);
    if (f)
        fclose(f);
}

static void name_of(const struct qn_probe_root *root, const struct pci *p,
                    const struct qn_vulkan_device *v, char out[static QN_PROBE_LINE_MAX])
{
    out[0] = '\0';
    if (v) {
        snprintf(out, QN_PROBE_LINE_MAX, "%.250s", v->name);
    } else if (p->vendor == VENDOR_NVIDIA) {
        char *text = qn_probe_text(root, "/proc/driver/nvidia/gpus/%s/information", p->address);
        qn_probe_value(text, "Model", out);
        free(text);
    }
    if (!*out)
        listed_name(root, p, out);
    if (!*out)
        snprintf(out, QN_PROBE_LINE_MAX, "%s %04x:%04x", vendor_name(p->vendor), p->vendor & 0xffff,
                 p->device & 0xffff);
}

/* Vulkan tells whether a graphics processor is integrated. Without Vulkan, an Intel one is
 * integrated if it is on PCI bus 0, and an AMD one if its own memory is small compared with its
 * share of the machine's memory, which is how firmware configures it. */
static bool integrated(const struct qn_probe_root *root, const struct pci *p,
                       const struct qn_vulkan_device *v)
{
    if (v)
        return v->type == QN_VULKAN_INTEGRATED;
    if (p->vendor == VENDOR_INTEL)
        return qn_str_starts(p->address, "0000:00:");
    int64_t own = of_device(root, p, "mem_info_vram_total");
    return p->vendor == VENDOR_AMD && own > 0 &&
           own <= of_device(root, p, "mem_info_gtt_total") / 2 && own <= INT64_C(4) << 30;
}

/* Writes the members that all devices have; the object stays open. */
static void write_common(struct qn_jw *w, const char *name, const char *vendor, const char *place,
                         const char *driver, const char *family)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", name);
    qn_jw_kstr(w, "vendor", vendor);
    qn_jw_kstr(w, "pci", place);
    qn_jw_kstr(w, "driver", driver);
    qn_jw_kstr(w, "family", family);
}

/* Writes the further members of graphics processors and ends the object. v MAY be NULL. */
static void write_graphics(struct qn_jw *w, bool built_in, int64_t vram_bytes,
                           const struct qn_vulkan_device *v)
{
    qn_jw_kbool(w, "integrated", built_in);
    qn_jw_kbool(w, "software", v && v->type == QN_VULKAN_CPU);
    qn_jw_ki64(w, "vram_bytes", vram_bytes);
    qn_jw_key(w, "vulkan");
    if (v) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "api", v->api);
        qn_jw_kstr(w, "driver", v->driver);
        qn_jw_ki64(w, "memory_bytes", v->memory_bytes);
        qn_jw_obj_end(w);
    } else {
        qn_jw_null(w);
    }
    qn_jw_obj_end(w);
}

static void write_gpu(const struct qn_probe_root *root, struct qn_jw *w, const struct pci *p,
                      const struct qn_vulkan_device *v)
{
    char name[QN_PROBE_LINE_MAX], driver[QN_PROBE_LINE_MAX], family[32];
    int64_t own = of_device(root, p, "mem_info_vram_total");
    name_of(root, p, v, name);
    driver_of(root, p, driver);
    gfx_family(root, p, family);
    write_common(w, name, vendor_name(p->vendor), p->address, driver, family);
    write_graphics(w, integrated(root, p, v), own ? own : v ? v->memory_bytes : 0, v);
}

/* Writes a device that only Vulkan reports: a driver that computes on the processor, or a device
 * without a PCI address. */
static void write_vulkan_alone(struct qn_jw *w, const struct qn_vulkan_device *v)
{
    bool software = v->type == QN_VULKAN_CPU;
    write_common(w, v->name, software ? "other" : vendor_name(v->vendor_id), v->pci, "", "");
    write_graphics(w, v->type == QN_VULKAN_INTEGRATED, software ? 0 : v->memory_bytes, v);
}

static void write_npu(const struct qn_probe_root *root, struct qn_jw *w, const struct pci *p,
                      const char *family)
{
    char name[QN_PROBE_LINE_MAX], driver[QN_PROBE_LINE_MAX];
    name_of(root, p, NULL, name);
    driver_of(root, p, driver);
    write_common(w, name, vendor_name(p->vendor), p->address, driver, family);
    qn_jw_obj_end(w);
}

static const struct qn_vulkan_device *
match(const struct pci *p, const struct qn_vulkan_device *vulkan, bool *used, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!used[i] && vulkan[i].type != QN_VULKAN_CPU &&
            (*vulkan[i].pci
                 ? qn_str_eq(vulkan[i].pci, p->address)
                 : vulkan[i].vendor_id == p->vendor && vulkan[i].device_id == p->device)) {
            used[i] = true;
            return &vulkan[i];
        }
    return NULL;
}

void qn_probe_devices(const struct qn_probe_root *root, const struct qn_vulkan_device *vulkan,
                      size_t n, struct qn_jw *w)
{
    static struct pci pci[PCI_MAX];
    bool used[QN_VULKAN_DEVICES_MAX] = {false};
    size_t count = list_pci(root, pci);
    qn_jw_key(w, "gpus");
    qn_jw_arr(w);
    for (size_t i = 0; i < count; i++)
        if (of_device(root, &pci[i], "class") >> 16 == CLASS_DISPLAY)
            write_gpu(root, w, &pci[i], match(&pci[i], vulkan, used, n));
    for (size_t i = 0; i < n; i++)
        if (!used[i])
            write_vulkan_alone(w, &vulkan[i]);
    qn_jw_arr_end(w);
    qn_jw_key(w, "npus");
    qn_jw_arr(w);
    for (size_t i = 0; i < count; i++) {
        const struct pci *p = &pci[i];
        const char *amd = p->vendor == VENDOR_AMD_CPU ? amd_npu_family(p->device) : NULL;
        if (amd)
            write_npu(root, w, p, amd);
        else if (p->vendor == VENDOR_INTEL && of_device(root, p, "class") >> 8 == CLASS_ACCELERATOR)
            write_npu(root, w, p, "");
    }
    qn_jw_arr_end(w);
}
