"""Engines of others come and go: POST install, install/dry-run, uninstall, and what system-info says of them. The
release server is the tests' own (releases.py)."""
import hashlib
import json
import os
import tarfile
import threading
import time

import pytest
from conftest import House, wait_until
from releases import PROGRAM, Releases, archive, engine, install
from shapes import check
from test_pull import Stream
from test_system import LAPTOP, machine, probe, probe_says

NAME = "llamacpp:llama-server"
BUFFER = 256 * 1024  # what is written, and noted, at once
PLACE = "llamacpp/llama-server/b1"
WHOLE = sorted([f"{PLACE}/quince-pack.json", *(f"{PLACE}/llama-b1/{f}" for f in (
    "LICENSE", "libllama.so", "libllama.so.0", "libllama.so.0.0.1", "llama-server"))])


@pytest.fixture
def releases(house, hub):
    return Releases(house, hub)


@pytest.fixture
def laptop(tmp_path, fake_backend_dir, hub):
    """Releases for a server on a machine whose graphics processor has a Vulkan driver."""
    says = probe(machine(tmp_path / "laptop", LAPTOP))
    for gpu in says["gpus"]:
        gpu["vulkan"] = {"driver": "radv", "api": "1.3.0"}
    backends = tmp_path / "backends"
    backends.mkdir()
    os.symlink(fake_backend_dir / "quince-unpack", backends / "quince-unpack")
    house = House(tmp_path, probe_says(backends, fake_backend_dir, json.dumps(says)))
    yield Releases(house, hub)
    for server in house.servers:
        assert server.stop() == 0


# What the document shows of one engine, and of the reply of install and uninstall.
BACKEND = {"devices": [], "state": "installed", "message": "", "action": ""}
DONE = {"status": "success", "recipe": "llamacpp", "backend": "vulkan"}


SYSTEM = {
    "OS Version": "x", "Processor": "x", "Physical Memory": "32.0 GB", "OEM System": "x", "BIOS Version": "1.0.0",
    "CPU Max Clock": "5100 MHz", "recipes": {},
    "devices": {
        "cpu": {"name": "x", "cores": 12, "threads": 24, "available": True, "family": "x86_64"},
        "amd_igpu": {"name": "x", "vram_gb": 0.5, "available": True, "family": "gfx1150"},
        "amd_dgpu": [], "amd_npu": {"name": "x", "available": True, "family": "XDNA2"}}}
# What it shows of each recipe; its Windows Power Setting and power_mode are Windows' own.
RECIPES = {"llamacpp": ["vulkan", "rocm", "metal", "cpu"], "whispercpp": ["default"], "sd-cpp": ["default"],
           "flm": ["default"], "ryzenai-llm": ["default"]}


def test_the_examples_of_the_document(laptop):
    laptop.offer("llamacpp:vulkan", "b7869", needs="vulkan")
    server = laptop.start()
    info = server.get("/api/v1/system-info").json
    check(info, SYSTEM)
    for recipe, backends in RECIPES.items():
        assert set(backends) <= set(info["recipes"][recipe]["backends"]), recipe
    assert info["recipes"]["llamacpp"]["default_backend"] == "cpu"
    assert info["cloud"] == {"providers": []}
    for recipe in info["recipes"].values():
        for backend in recipe["backends"].values():
            check(backend, BACKEND)
            assert backend["state"] in ("unsupported", "installable", "update_required", "installed")
            assert (backend["state"] == "installed") == (backend["message"] == "")
        best = recipe.get("default_backend")
        assert (best is None) == all(b["state"] == "unsupported" for b in recipe["backends"].values())
        assert best is None or recipe["backends"][best]["state"] != "unsupported"
    assert info["recipes"]["llamacpp"]["backends"]["metal"] == {**BACKEND, "state": "unsupported",
                                                                "message": "Requires macOS"}
    assert info["no_fetch_executables"] is False
    assert {"flm", "ryzenai-llm"} <= set(info["unavailable_recipes"])
    before = engine(server, "llamacpp:vulkan")
    assert before["state"] == "installable" and before["devices"] == ["amd_igpu"] and "version" not in before
    assert before["message"] == "Backend is supported but not installed."
    assert before["action"] == "quince backends install llamacpp:vulkan"
    reply = server.post("/api/v1/install", {"recipe": "llamacpp", "backend": "vulkan", "stream": False})
    assert reply.status == 200, reply.body
    check(reply.json, DONE)
    assert reply.json["status"] == "success" and reply.json["version"] == "b7869"
    after = engine(server, "llamacpp:vulkan")
    assert (after["state"], after["message"], after["action"], after["version"]) == ("installed", "", "", "b7869")
    assert after["devices"] == ["amd_igpu"] and after["source"] == "release"
    reply = server.post("/api/v1/uninstall", {"recipe": "llamacpp", "backend": "vulkan"})
    assert reply.status == 200, reply.body
    check(reply.json, DONE)
    assert engine(server, "llamacpp:vulkan") == before
    assert laptop.installed() == []
    reply = server.post("/api/v1/uninstall", {"recipe": "llamacpp", "backend": "vulkan"})
    assert reply.status == 404 and reply.json["status"] == "error"
    assert "not installed" in reply.json["error"]["message"]


def test_what_is_installed_is_whole(releases):
    releases.offer(NAME, "b1")
    server = releases.start()
    assert install(server, NAME).status == 200
    assert releases.installed() == WHOLE
    place = releases.data / "engines" / PLACE
    program = place / "llama-b1" / "llama-server"
    assert program.read_bytes() == PROGRAM and os.access(program, os.X_OK)
    for name in ("libllama.so", "libllama.so.0", "libllama.so.0.0.1"):
        library = place / "llama-b1" / name
        assert library.read_bytes() == b"library of b1" and not library.is_symlink()
    note = json.loads((place / "quince-pack.json").read_text())
    assert note["version"] == "b1" and note["program"] == "llama-b1/llama-server"
    # It is there: nothing is asked for again, unless force says so.
    asked = len(releases.hub.log)
    assert install(server, NAME).status == 200
    assert len(releases.hub.log) == asked
    program.write_bytes(b"spoilt")
    assert install(server, NAME, force=True).status == 200
    assert program.read_bytes() == PROGRAM and releases.installed() == WHOLE


def test_events(releases):
    file = releases.offer(NAME, "b1", size=300_000)
    releases.hub.fault(file, rate=400_000)
    server = releases.start()
    stream = Stream(server, "/v1/install", recipe="llamacpp", backend="llama-server")
    assert stream.response.getheader("Content-Type") == "text/event-stream"
    events = stream.all()
    progress = [data for name, data in events if name == "progress"]
    size = len(releases.hub.files[file])
    assert len(progress) >= 2 and progress[-1]["percent"] == 100
    for p in progress:
        check(p, {"file": file, "file_index": 1, "total_files": 1, "bytes_downloaded": 1, "bytes_total": 1,
                  "percent": 1, "total_download_size": 1, "bytes_previously_downloaded": 0})
        assert p["file"] == file and p["bytes_total"] in (0, size)
    done = [p["bytes_downloaded"] for p in progress]
    assert done == sorted(done) and done[-1] == size
    name, last = events[-1]
    assert name == "complete" and last["percent"] == 100 and last["version"] == "b1"
    check(last, {"status": "success", "recipe": "llamacpp", "backend": "llama-server"})
    # What is there already says so at once.
    assert [n for n, _ in Stream(server, "/v1/install", recipe="llamacpp", backend="llama-server").all()] == ["complete"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_sum(releases, stream):
    file = releases.offer(NAME, "b1", digest="a" * 64)
    server = releases.start()
    if stream:
        # It fails within the first second, so that the error has a status of its own.
        reply = install(server, NAME, stream=True)
    else:
        reply = install(server, NAME)
    text = reply.body.decode()
    assert reply.status == 500 or "event: error" in text, text
    assert "SHA-256" in text or "sum" in text
    assert releases.installed() == [] and engine(server, NAME)["state"] == "installable"
    assert releases.hub.requests(file)
    wait_until(lambda: "installed=0" in server.logs(), what="the news of it")


def test_the_publisher_tells_the_sum(releases):
    file = releases.offer(NAME, "b1", digest="publisher")
    server = releases.start()
    assert install(server, NAME).status == 200
    assert releases.installed() == WHOLE
    note = json.loads((releases.data / "engines" / PLACE / "quince-pack.json").read_text())
    assert note["sha256"] == hashlib.sha256(releases.hub.files[file]).hexdigest()


def test_nothing_unverified(releases):
    """No sum in the table, and a publisher who tells none, another one, or does not answer."""
    size = len(archive("b1"))
    file = releases.offer(NAME, "b1", digest="publisher")
    releases.offer("llamacpp:silent", "b1", digest="unknown")
    server = releases.start()
    for assets, word in [([], "no file"), ([{"name": file, "size": size}], "SHA-256"),
                         ([{"name": file, "digest": None}], "SHA-256"),
                         ([{"name": file, "digest": "md5:" + "0" * 32}], "SHA-256"),
                         ([{"name": file, "digest": "sha256:" + "0" * 63}], "SHA-256"),
                         ([{"name": file, "digest": "sha256:" + "0" * 64}], "sum")]:
        releases.tell(file, assets)
        reply = install(server, NAME)
        assert reply.status == 500 and word in reply.json["error"]["message"], reply.body
    releases.hub.files[f"{file}.json"] = b"<html>"
    assert install(server, NAME).status == 500
    for status, got, word in [(404, 500, "no such release"), (403, 503, "limits the rate"), (401, 500, "401")]:
        releases.hub.fault(f"{file}.json", status=status, times=1)
        reply = install(server, NAME)
        assert reply.status == got and word in reply.json["error"]["message"], reply.body
    before = len(releases.hub.log)
    reply = install(server, "llamacpp:silent")
    assert reply.status == 500 and "SHA-256" in reply.json["error"]["message"]
    assert len(releases.hub.log) == before  # it is not even fetched
    assert releases.installed() == []


def test_a_cut_connection_goes_on(releases):
    file = releases.offer(NAME, "b1", size=500_000)
    releases.hub.fault(file, cut=100_000, times=1)
    server = releases.start()
    assert install(server, NAME).status == 200
    size = len(releases.hub.files[file])
    assert size <= releases.hub.sent(file) < size + 200_000


def hostile():
    whole = archive("b1")
    up, out = {"type": tarfile.SYMTYPE, "linkname": "../../../evil"}, {"type": tarfile.SYMTYPE, "linkname": "/bin/sh"}
    return {
        "truncated": whole[:len(whole) // 2],
        "no archive": b"<html>not found</html>" * 100,
        "empty": b"",
        "a name that steps out": archive("b1", more=[("../../../evil", {}, b"x")]),
        "a link that steps out": archive("b1", more=[("libevil.so", up, b"")]),
        "a program that is a link": archive("b1", program="other", more=[("llama-server", out, b"")]),
        "no program": archive("b1", program="llama-cli"),
        "a folder of the program's name": archive("b1", program="x", more=[("llama-server", {"type": tarfile.DIRTYPE}, b"")]),
        "a device": archive("b1", more=[("null", {"type": tarfile.CHRTYPE}, b"")]),
    }


def test_hostile_archives(releases):
    for i, (what, data) in enumerate(hostile().items()):
        releases.offer(f"llamacpp:evil{i}", "b1", data)
    server = releases.start()
    for i, what in enumerate(hostile()):
        reply = install(server, f"llamacpp:evil{i}")
        assert reply.status == 500, (what, reply.body)
        assert reply.json["error"]["message"], what
        assert releases.installed() == [], what
        assert not list(releases.house.tmp_path.rglob("evil")), what
    assert server.get("/live").status == 200


def test_an_update(releases):
    releases.offer(NAME, "b1")
    server = releases.start()
    assert install(server, NAME).status == 200
    server.stop()
    releases.offer(NAME, "b2")
    server = releases.start()
    state = engine(server, NAME)
    assert state["state"] == "update_required" and state["version"] == "b1"
    assert "b2" in state["message"] and state["action"] == f"quince backends install {NAME}"
    plan = install(server, NAME, "install/dry-run").json
    assert plan["would_install"] is True and plan["installed_version"] == "b1" and plan["version"] == "b2"
    assert releases.installed() == WHOLE  # a dry run does nothing
    # An update that fails leaves what is there.
    fault = releases.hub.fault("b2.tar.gz", data=b"something else" * 20)
    assert install(server, NAME).status == 500
    assert releases.installed() == WHOLE and engine(server, NAME)["version"] == "b1"
    fault.times = 0
    assert install(server, NAME).status == 200
    assert {p.split("/")[2] for p in releases.installed()} == {"b2"}
    assert engine(server, NAME)["state"] == "installed" and engine(server, NAME)["version"] == "b2"
    assert install(server, NAME, "install/dry-run").json["would_install"] is False


@pytest.mark.parametrize("moment", ["fetching", "digest"])
def test_killed(releases, moment):
    """What a kill -9 leaves does not count as installed, and the bytes that came are not fetched again."""
    file = releases.offer(NAME, "b1", size=1_000_000, digest="publisher")
    size = len(releases.hub.files[file])
    releases.hub.fault(file, hold=600_000) if moment == "fetching" else releases.hub.fault(f"{file}.json", hang=600)
    server = releases.start()
    stream = threading.Thread(target=lambda: pytest.raises(Exception, install, server, NAME), daemon=True)
    stream.start()
    second = slice(BUFFER, BUFFER + 1000)  # when this is written, what comes before it has been noted

    def half():
        return any(p.read_bytes()[second] == releases.hub.files[file][second]
                   for p in (releases.data / "engines").rglob("*") if p.is_file())
    wait_until(half if moment == "fetching" else lambda: releases.hub.requests(".json"))
    server.kill()
    stream.join()
    releases.hub.heal()
    assert not [p for p in releases.installed() if not p.startswith(".")]
    server = releases.start()
    assert engine(server, NAME)["state"] == "installable"
    assert install(server, NAME).status == 200
    assert engine(server, NAME)["state"] == "installed"
    assert not [p for p in releases.installed() if p.startswith(".")]
    assert releases.hub.sent(file) <= size + 600_000 - BUFFER


def test_leftovers_are_swept(releases):
    releases.offer(NAME, "b1")
    work = releases.data / "engines" / ".work"
    for name in ("0123456789abcdef", ".0123456789abcdef.unpacking"):
        (work / name / "llama").mkdir(parents=True)
        (work / name / "llama" / "llama-server").write_text("half")
    # A folder with the right name and no note was never finished.
    (releases.data / "engines" / PLACE / "llama-b1").mkdir(parents=True)
    program = releases.data / "engines" / PLACE / "llama-b1" / "llama-server"
    program.write_text("half")
    program.chmod(0o755)
    time.sleep(1.1)  # what is as young as the server may be its own: the times have whole seconds
    server = releases.start()
    wait_until(lambda: not list(work.iterdir()), what="the sweep")
    assert engine(server, NAME)["state"] == "installable"
    assert install(server, NAME).status == 200
    assert program.read_bytes() == PROGRAM


def test_two_clients_one_installation(releases):
    file = releases.offer(NAME, "b1", size=300_000)
    held = releases.hub.fault(file, hold=100_000)
    server = releases.start()
    replies = []
    clients = [threading.Thread(target=lambda: replies.append(install(server, NAME).status)) for _ in range(3)]
    for c in clients:
        c.start()
    wait_until(lambda: releases.hub.requests(file))
    busy = install(server, NAME, "uninstall")
    assert busy.status == 404  # it is not installed yet
    del held.options["hold"]
    for c in clients:
        c.join()
    assert replies == [200] * 3
    assert releases.hub.sent(file) == len(releases.hub.files[file])


def test_it_goes_on_when_its_client_leaves(releases):
    file = releases.offer(NAME, "b1", size=300_000)
    held = releases.hub.fault(file, hold=100_000)
    server = releases.start()
    stream = Stream(server, "/v1/install", recipe="llamacpp", backend="llama-server")
    stream.close()
    del held.options["hold"]
    wait_until(lambda: engine(server, NAME)["state"] == "installed")


def test_stopping_ends_it(releases):
    file = releases.offer(NAME, "b1", size=300_000)
    releases.hub.fault(file, rate=1000)
    server = releases.start()
    stream = Stream(server, "/v1/install", recipe="llamacpp", backend="llama-server")
    wait_until(lambda: releases.hub.requests(file))
    assert server.stop() == 0
    stream.close()


def test_machines_that_cannot(releases):
    """Hardware filtering, and force that goes past it."""
    releases.offer("llamacpp:vulkan", "b1", needs="vulkan")
    releases.offer("llamacpp:future", "b1")
    next(iter(releases.rows["llamacpp:future"]["machines"].values()))["glibc"] = "9.99"
    releases.offer("llamacpp:elsewhere", "b1")
    releases.rows["llamacpp:elsewhere"]["machines"] = {"z80": {"url": "https://example.invalid/x"}}
    server = releases.start()
    for name, word in [("llamacpp:vulkan", "Vulkan"), ("llamacpp:future", "glibc 9.99")]:
        state = engine(server, name)
        assert state["state"] == "unsupported" and word in state["message"] and state["devices"] == []
        reply = install(server, name)
        assert reply.status == 400 and word in reply.json["error"]["message"] and "force" in reply.json["error"]["message"]
        assert install(server, name, force=True).status == 200
        assert engine(server, name)["state"] == "installed"
    state = engine(server, "llamacpp:elsewhere")
    assert state["state"] == "unsupported" and "processor" in state["message"]
    assert install(server, "llamacpp:elsewhere", force=True).status == 400
    for name in ("llamacpp:metal", "flm:default", "ryzenai-llm:default"):
        assert install(server, name, force=True).status == 400


def test_wrong_requests(releases):
    releases.offer(NAME, "b1")
    server = releases.start()
    for path in ("install", "uninstall", "install/dry-run"):
        for body in ({}, {"recipe": "llamacpp"}, {"backend": "vulkan"}, {"recipe": "", "backend": ""},
                     {"recipe": 1, "backend": "x"}):
            reply = server.post(f"/api/v1/{path}", body)
            assert reply.status == 400 and reply.json["status"] == "error" and reply.json["error"]["message"], path
        reply = install(server, "llamacpp:nothing", path)
        assert reply.status == 404 and "llama-server" in reply.json["error"]["message"]
        reply = install(server, "nothing:cpu", path)
        assert reply.status == 404 and "whispercpp" in reply.json["error"]["message"]
        assert server.get(f"/api/v1/{path}").status == 405
    # quince's own engine is there and stays.
    assert install(server, "llamacpp:cpu").status == 200
    assert install(server, "llamacpp:cpu", force=True).status == 200
    reply = install(server, "llamacpp:cpu", "uninstall")
    assert reply.status == 400 and "own engine" in reply.json["error"]["message"]


@pytest.mark.parametrize("flag, status, word", [("--offline", 400, "offline"),
                                                ("--no-fetch-executables", 400, "no-fetch-executables")])
def test_settings_that_forbid_it(releases, flag, status, word):
    releases.offer(NAME, "b1")
    server = releases.start(flag)
    reply = install(server, NAME)
    assert reply.status == status and word in reply.json["error"]["message"]
    if flag == "--offline":
        assert reply.json["error"]["code"] == "lemond_offline"
    else:
        assert server.get("/v1/system-info").json["no_fetch_executables"] is True
        assert word in engine(server, NAME)["message"]
    plan = install(server, NAME, "install/dry-run").json
    assert plan["would_install"] is False and word in plan["message"]
    assert not releases.hub.log


def test_a_program_of_the_path(releases, tmp_path):
    releases.offer(NAME, "b1")
    folder = tmp_path / "path"
    folder.mkdir()
    program = folder / "llama-server"
    program.write_bytes(PROGRAM)
    program.chmod(0o755)
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    server = releases.start(env=path)
    state = engine(server, NAME)
    assert state["state"] == "installed" and state["source"] == "system" and "version" not in state
    assert install(server, NAME).status == 200 and not releases.hub.log
    reply = install(server, NAME, "uninstall")
    assert reply.status == 404 and "this system" in reply.json["error"]["message"]
    assert install(server, NAME, force=True).status == 200
    assert engine(server, NAME)["source"] == "release"
    server.stop()
    server = releases.start("--prefer-system", env=path)
    assert engine(server, NAME)["source"] == "system"
    assert install(server, NAME, "uninstall").status == 200
    assert engine(server, NAME)["source"] == "system"


def test_a_default_that_means_another(releases):
    """Until quince has an engine of its own for a recipe, its default is another project's."""
    (releases.house.tmp_path / "few").mkdir()
    releases.house.backend_dir, full = releases.house.tmp_path / "few", releases.house.backend_dir
    for name in ("quince-llm", "quince-unpack", "quince-inspect"):
        os.symlink(full / name, releases.house.backend_dir / name)
    releases.offer("whispercpp:whisper-server", "v1", program="whisper-server")
    server = releases.start()
    assert engine(server, "whispercpp:default")["action"] == "quince backends install whispercpp:default"
    reply = install(server, "whispercpp:default")
    assert reply.status == 200 and reply.json["backend"] == "default"
    for name in ("whispercpp:default", "whispercpp:whisper-server"):
        assert engine(server, name)["state"] == "installed"
    assert install(server, "whispercpp:default", "uninstall").status == 200
    assert engine(server, "whispercpp:whisper-server")["state"] == "installable"


def test_a_list_that_cannot_be_read(releases):
    releases.offer(NAME, "../b1")
    server = releases.start()
    assert "packs=unusable" in server.logs()
    assert engine(server, NAME) is None and engine(server, "llamacpp:cpu")["state"] == "installed"
    assert install(server, NAME).status == 404
