"""quince-probe on machines written down as files, and what system-info and system-stats make of it.

The files are as Linux shows them: proc(5), sysfs of PCI, amdgpu and KFD."""
import json
import os
import subprocess

import pytest

from conftest import BUILD, House, Ticker


def machine(root, files):
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def pci(address, vendor, device, kind, driver="", **more):
    base = f"/sys/bus/pci/devices/{address}/"
    files = {"vendor": f"{vendor:#06x}\n", "device": f"{device:#06x}\n", "class": f"{kind:#08x}\n",
             "uevent": (f"DRIVER={driver}\n" if driver else "") + f"PCI_SLOT_NAME={address}\n"}
    files.update({name: f"{value}\n" for name, value in more.items()})
    return {base + name: text for name, text in files.items()}


def processors(n, cores, name, flags):
    """n processors of one package on so many cores."""
    return "".join(f"processor\t: {i}\nmodel name\t: {name}\nphysical id\t: 0\ncore id\t\t: {i % cores}\n"
                   f"flags\t\t: {flags}\n\n" for i in range(n))


def probe(root):
    done = subprocess.run([BUILD / "bin" / "quince-probe", "--no-vulkan", "--root", root],
                          capture_output=True, text=True, timeout=30, check=True)
    return json.loads(done.stdout)


LAPTOP = {
    "/etc/os-release": 'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
    "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "/proc/cpuinfo": processors(16, 8, "AMD Ryzen 7 7840U w/ Radeon 780M Graphics",
                                "fpu avx avx2 fma f16c avx512f avx512_vnni avx512_bf16 notavx512fp16"),
    "/proc/meminfo": "MemTotal:       32768000 kB\nMemFree:        1000 kB\n",
    "/sys/class/dmi/id/sys_vendor": "Framework\n",
    "/sys/class/dmi/id/product_name": "Laptop 13 (AMD Ryzen 7040Series)\n",
    "/sys/class/dmi/id/bios_version": "03.05\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "5132000\n",
    "/sys/firmware/acpi/platform_profile": "balanced\n",
    "/usr/share/misc/pci.ids": "# names\n1001  Other\n\t15bf  Not this\n1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
                               "\t15bf  Phoenix1\n\t\t1002 15bf  a subsystem\n10de  NVIDIA Corporation\n",
    "/sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 16\nlocation_id 0\n",
    "/sys/class/kfd/kfd/topology/nodes/1/properties":
        "simd_count 24\nlocation_id 49408\ndomain 0\ngfx_target_version 110003\n",
    **pci("0000:c1:00.0", 0x1002, 0x15bf, 0x030000, "amdgpu",
          mem_info_vram_total=512 * 2**20, mem_info_gtt_total=14 * 2**30),
    **pci("0000:c2:00.1", 0x1022, 0x1502, 0x118000, "amdxdna"),
    **pci("0000:00:01.0", 0x1022, 0x14ea, 0x060000),
}


def test_a_laptop(tmp_path):
    d = probe(machine(tmp_path, LAPTOP))
    assert d["os"] == "Debian GNU/Linux 12 (bookworm)" and d["kernel"] == "6.1.0-18-amd64"
    assert d["cpu"]["name"] == "AMD Ryzen 7 7840U w/ Radeon 780M Graphics"
    assert (d["cpu"]["cores"], d["cpu"]["threads"], d["cpu"]["max_mhz"]) == (8, 16, 5132)
    assert d["cpu"]["features"] == ["avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16"]
    assert d["memory_bytes"] == 32768000 * 1024
    assert d["board"] == {"vendor": "Framework", "product": "Laptop 13 (AMD Ryzen 7040Series)", "bios": "03.05"}
    assert d["power"] == "balanced"
    # 49408 is 0xc100: bus c1, device 0, function 0.
    assert d["gpus"] == [{"name": "Phoenix1", "vendor": "amd", "pci": "0000:c1:00.0", "driver": "amdgpu",
                          "family": "gfx1103", "integrated": True, "software": False,
                          "vram_bytes": 512 * 2**20, "vulkan": None}]
    assert d["npus"] == [{"name": "amd 1022:1502", "vendor": "amd", "pci": "0000:c2:00.1", "driver": "amdxdna",
                          "family": "XDNA"}]


def test_cards(tmp_path):
    files = {
        **pci("0000:01:00.0", 0x10de, 0x2684, 0x030000, "nvidia"),
        "/proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 100\n",
        **pci("0000:03:00.0", 0x1002, 0x740f, 0x038000, "amdgpu",
              mem_info_vram_total=64 * 2**30, mem_info_gtt_total=32 * 2**30),
        "/sys/class/kfd/kfd/topology/nodes/1/properties": "location_id 768\ndomain 0\ngfx_target_version 90010\n",
        **pci("0000:00:02.0", 0x8086, 0x46a6, 0x030000, "i915"),
        **pci("0000:00:0b.0", 0x8086, 0x7d1d, 0x120000, "intel_vpu"),
        **pci("0000:00:03.0", 0x1af4, 0x1041, 0x020000, "virtio-pci"),
    }
    d = probe(machine(tmp_path, files))
    named = {g["pci"]: g for g in d["gpus"]}
    assert sorted(named) == ["0000:00:02.0", "0000:01:00.0", "0000:03:00.0"]
    assert named["0000:01:00.0"]["name"] == "NVIDIA GeForce RTX 4090" and not named["0000:01:00.0"]["integrated"]
    assert named["0000:03:00.0"]["name"] == "amd 1002:740f" and named["0000:03:00.0"]["family"] == "gfx90a"
    assert not named["0000:03:00.0"]["integrated"]
    assert named["0000:00:02.0"]["vendor"] == "intel" and named["0000:00:02.0"]["integrated"]
    assert [(n["vendor"], n["driver"]) for n in d["npus"]] == [("intel", "intel_vpu")]


def test_a_machine_that_says_nothing(tmp_path):
    d = probe(tmp_path)
    assert d["os"] == "Linux" and d["memory_bytes"] == 0
    assert d["cpu"]["name"] == os.uname().machine and d["cpu"]["features"] == []
    assert d["gpus"] == [] and d["npus"] == []


def test_odd_files(tmp_path):
    """Lines without an end, numbers that are none, names that are too long, bytes that are no text."""
    d = probe(machine(tmp_path, {
        "/proc/cpuinfo": "processor",
        "/proc/meminfo": "MemTotal: many kB",
        "/etc/os-release": "PRETTY_NAME=\"" + "x" * 5000,
        "/sys/class/dmi/id/sys_vendor": "\x01\udcff\t\n".encode("utf-8", "surrogateescape").decode("latin-1"),
        **pci("0000:01:00.0", 0x1002, 0x1, 0x030000, "y" * 400, mem_info_vram_total="no"),
        "/sys/bus/pci/devices/a name that no device has/class": "0x030000\n",
        "/sys/class/kfd/kfd/topology/nodes/0/properties": "location_id 256\ngfx_target_version -5",
    }))
    assert len(d["os"]) < 256 and d["memory_bytes"] == 0
    assert [g["pci"] for g in d["gpus"]] == ["0000:01:00.0"] and d["gpus"][0]["vram_bytes"] == 0


def probe_says(folder, fake_backend_dir, text, status=0):
    """A folder of backends whose quince-probe prints this."""
    for name in ("quince-llm", "quince-inspect"):
        os.symlink(fake_backend_dir / name, folder / name)
    script = folder / "quince-probe"
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def house_with(tmp_path, fake_backend_dir):
    houses = []

    def make(text, status=0):
        backends = tmp_path / "backends"
        backends.mkdir()
        houses.append(House(tmp_path, probe_says(backends, fake_backend_dir, text, status)))
        return houses[-1].start()
    yield make
    for h in houses:
        for s in h.servers:
            assert s.stop() == 0


def test_system_info(house_with, tmp_path):
    laptop = machine(tmp_path / "laptop", {**LAPTOP, **pci("0000:01:00.0", 0x10de, 0x2684, 0x030000, "nvidia")})
    server = house_with(json.dumps(probe(laptop)))
    reply = server.get("/api/v1/system-info")
    assert reply.status == 200
    info = reply.json
    assert info["OS Version"] == "Debian GNU/Linux 12 (bookworm) (Linux 6.1.0-18-amd64)"
    assert info["Processor"] == "AMD Ryzen 7 7840U w/ Radeon 780M Graphics"
    assert info["Physical Memory"] == "31.2 GB"  # 32768000 kB
    assert info["OEM System"] == "Framework Laptop 13 (AMD Ryzen 7040Series)"
    assert info["BIOS Version"] == "03.05" and info["CPU Max Clock"] == "5132 MHz"
    devices = info["devices"]
    assert (devices["cpu"]["cores"], devices["cpu"]["threads"], devices["cpu"]["available"]) == (8, 16, True)
    assert devices["cpu"]["family"] == os.uname().machine
    assert devices["amd_igpu"]["name"] == "Phoenix1" and devices["amd_igpu"]["family"] == "gfx1103"
    assert devices["amd_igpu"]["vram_gb"] == 0.5 and devices["amd_igpu"]["available"] is True
    assert devices["amd_dgpu"] == [] and len(devices["nvidia_dgpu"]) == 1
    assert devices["amd_npu"]["family"] == "XDNA" and devices["amd_npu"]["available"] is True
    assert "intel_igpu" not in devices
    cpu = info["recipes"]["llamacpp"]["backends"]["cpu"]
    assert info["recipes"]["llamacpp"]["default_backend"] == "cpu"
    assert cpu["state"] == "installed" and cpu["message"] == "" and cpu["devices"] == ["cpu"] and cpu["version"]
    for recipe in ("flm", "ryzenai-llm"):
        for backend in info["recipes"][recipe]["backends"].values():
            assert backend["state"] == "unsupported" and "NPU" in backend["message"]
    whisper = info["recipes"]["whispercpp"]["backends"]["default"]
    assert whisper["state"] == "unsupported" and "no engine for it" in whisper["message"]
    assert "default_backend" not in info["recipes"]["whispercpp"]
    assert info["model_storage"]["total_bytes"] >= info["model_storage"]["free_bytes"] > 0
    memory = info["model_memory"]
    assert memory["limit_bytes"] > 0 and memory["free_bytes"] > 0 and memory["used_bytes"] == 0


@pytest.mark.parametrize("text, status", [("{}", 1), ("not JSON", 0), ("[]", 0), ("", 0)])
def test_a_probe_that_fails(house_with, text, status):
    """The rest of the answer is there, and it says what is wrong."""
    server = house_with(text, status)
    for _ in range(2):
        info = server.get("/api/v1/system-info").json
        assert "quince-probe" in info["message"]
        assert info["devices"] == {} and "llamacpp" in info["recipes"]
    assert "probe failed" in server.logs()


def test_no_probe(server):
    assert "quince-probe" in server.get("/v1/system-info").json["message"]


def test_a_slow_probe_delays_no_request(tmp_path, fake_backend_dir):
    backends = tmp_path / "backends"
    backends.mkdir()
    probe_says(backends, fake_backend_dir, "{}")
    (backends / "quince-probe").write_text("#!/bin/sh\nsleep 1\necho '{}'\n")
    house = House(tmp_path, backends)
    server = house.start()
    with Ticker(server) as ticker:
        assert server.get("/v1/system-info").json["devices"]["cpu"]["cores"] == 0
    assert ticker.count > 20
    connection = server.connect()
    connection.request("GET", "/v1/system-info")
    connection.close()  # gone before the answer
    assert server.stop() == 0


def test_system_stats(server):
    for _ in range(2):
        stats = server.get("/api/v1/system-stats").json
        assert set(stats) == {"cpu_percent", "memory_gb", "memory_total_gb", "gpu_percent", "vram_gb", "npu_percent",
                              "cpu_power_w", "gpu_power_w"}
        assert 0 <= stats["cpu_percent"] <= 100
        assert 0 < stats["memory_gb"] * 1e9 < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    assert server.request("HEAD", "/api/v1/system-stats").status == 200
