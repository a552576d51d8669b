/* See vulkan.h. Source: the Vulkan specification, chapters 4 and 5; VK_EXT_pci_bus_info. */
#include "probe/vulkan.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENSIONS_MAX = 4096 };

struct api {
    PFN_vkCreateInstance create;
    PFN_vkDestroyInstance destroy;
    PFN_vkEnumeratePhysicalDevices devices;
    PFN_vkGetPhysicalDeviceProperties2 properties;
    PFN_vkGetPhysicalDeviceMemoryProperties memory;
    PFN_vkEnumerateDeviceExtensionProperties extensions;
};

static qn_err make_instance(PFN_vkGetInstanceProcAddr get, struct api *api, VkInstance *out,
                            struct qn_error *e)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .pApplicationName = "quince-probe",
                                   .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &app};
    api->create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkResult r = api->create ? api->create(&info, NULL, out) : VK_ERROR_INITIALIZATION_FAILED;
    if (r != VK_SUCCESS)
        return qn_fail(e, QN_ENOTFOUND, "Vulkan has no driver here (result %d)", (int)r);
    api->destroy = (PFN_vkDestroyInstance)get(*out, "vkDestroyInstance");
    api->devices = (PFN_vkEnumeratePhysicalDevices)get(*out, "vkEnumeratePhysicalDevices");
    api->properties =
        (PFN_vkGetPhysicalDeviceProperties2)get(*out, "vkGetPhysicalDeviceProperties2");
    api->memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)get(*out, "vkGetPhysicalDeviceMemoryProperties");
    api->extensions =
        (PFN_vkEnumerateDeviceExtensionProperties)get(*out, "vkEnumerateDeviceExtensionProperties");
    if (!api->destroy || !api->devices || !api->properties || !api->memory || !api->extensions)
        return qn_fail(e, QN_EUNSUPPORTED, "the Vulkan loader is older than version 1.1");
    return QN_OK;
}

static bool knows_pci(const struct api *api, VkPhysicalDevice device)
{
    uint32_t n = 0;
    bool found = false;
    if (api->extensions(device, NULL, &n, NULL) != VK_SUCCESS || n == 0 || n > EXTENSIONS_MAX)
        return false;
    VkExtensionProperties *list = calloc(n, sizeof *list);
    if (list && api->extensions(device, NULL, &n, list) >= VK_SUCCESS)
        for (uint32_t i = 0; i < n; i++)
            found |= strcmp(list[i].extensionName, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME) == 0;
    free(list);
    return found;
}

static enum qn_vulkan_type type_of(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return QN_VULKAN_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return QN_VULKAN_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return QN_VULKAN_CPU;
    default:
        return QN_VULKAN_OTHER;
    }
}

static void describe(const struct api *api, VkPhysicalDevice device, struct qn_vulkan_device *out)
{
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &driver};
    VkPhysicalDeviceMemoryProperties memory = {0};
    const VkPhysicalDeviceProperties *p = &all.properties;
    bool placed = knows_pci(api, device);
    if (placed)
        driver.pNext = &pci;
    api->properties(device, &all);
    api->memory(device, &memory);
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof p->deviceName, p->deviceName);
    snprintf(out->driver, sizeof out->driver, "%.*s%s%.*s", VK_MAX_DRIVER_NAME_SIZE,
             driver.driverName, *driver.driverName && *driver.driverInfo ? " " : "",
             VK_MAX_DRIVER_INFO_SIZE, driver.driverInfo);
    snprintf(out->api, sizeof out->api, "%u.%u.%u", VK_API_VERSION_MAJOR(p->apiVersion),
             VK_API_VERSION_MINOR(p->apiVersion), VK_API_VERSION_PATCH(p->apiVersion));
    if (placed)
        snprintf(out->pci, sizeof out->pci, "%04x:%02x:%02x.%x", pci.pciDomain & 0xffff,
                 pci.pciBus & 0xff, pci.pciDevice & 0xff, pci.pciFunction & 0xf);
    out->vendor_id = p->vendorID;
    out->device_id = p->deviceID;
    out->type = type_of(p->deviceType);
    for (uint32_t i = 0; i < memory.memoryHeapCount && i < VK_MAX_MEMORY_HEAPS; i++)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            out->memory_bytes += (int64_t)memory.memoryHeaps[i].size;
}

qn_err qn_vulkan_devices(struct qn_vulkan_device *out, size_t *n, struct qn_error *e)
{
    struct api api = {0};
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice found[QN_VULKAN_DEVICES_MAX];
    uint32_t count = QN_VULKAN_DEVICES_MAX;
    *n = 0;
    /* Never closed: some drivers leave threads running. */
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get =
        loader ? (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr") : NULL;
    if (!get)
        return qn_fail(e, QN_ENOTFOUND,
                       "there is no Vulkan loader: install libvulkan1 and the driver of the "
                       "graphics processor");
    qn_err err = make_instance(get, &api, &instance, e);
    if (!err) {
        VkResult r = api.devices(instance, &count, found);
        if (r < VK_SUCCESS)
            err = qn_fail(e, QN_ENOTFOUND, "Vulkan names no devices (result %d)", (int)r);
    }
    for (uint32_t i = 0; !err && i < count; i++) {
        out[*n] = (struct qn_vulkan_device){0};
        describe(&api, found[i], &out[(*n)++]);
    }
    if (instance && api.destroy)
        api.destroy(instance, NULL);
    return err;
}
