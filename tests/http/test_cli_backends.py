"""`quince backends`: what it shows in 80 columns, what it asks the server for, and how an installation comes."""
import json
import signal

import pytest
from cli_kit import CTRL_C, Cli, Stub, Terminal, event
from conftest import wait_until
from releases import Releases

INFO, INSTALL, UNINSTALL = "GET /api/v1/system-info", "POST /api/v1/install", "POST /api/v1/uninstall"
LOAD = "POST /api/v1/load"


def backend(state, message="", action="", **more):
    return {"devices": [], "state": state, "message": message, "action": action, **more}


RECIPES = {
    "llamacpp": {"default_backend": "cpu", "backends": {
        "cpu": backend("installed", version="1.2.3", source="quince"),
        "vulkan": backend("update_required", "Version b1 is installed, b2 is wanted: an update is required",
                          "quince backends install llamacpp:vulkan", version="b1", source="release"),
        "metal": backend("unsupported", "Requires macOS"),
        "llama-server": backend("installed", version="", source="system")}},
    "sd-cpp": {"default_backend": "sd-server", "backends": {
        "sd-server": backend("installable", "Backend is supported but not installed.",
                             "quince backends install sd-cpp:sd-server"),
        "a-name-that-is-much-longer-than-any-screen-would-want-it-to-be-for-a-backend": backend("installable", "x")}},
    "kokoro": {"backends": {"metal": backend("unsupported", "Requires macOS")}},
    "flm": {"backends": {"default": backend("unsupported", "Needs an AMD NPU " * 8)}}}


@pytest.fixture
def stub():
    stubs = []

    def make(routes):
        stubs.append(Stub(routes))
        return stubs[-1]
    yield make
    for s in stubs:
        s.close()


def test_the_list(tmp_path, stub):
    cli = Cli(tmp_path, stub({INFO: {"recipes": RECIPES}}).port)
    done = cli("backends")
    assert done.returncode == 0 and done.err == ""
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["Backend", "State", "From", "Version"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:6]}
    assert rows["llamacpp:cpu"] == ["installed", "quince", "1.2.3"]
    assert rows["llamacpp:vulkan"] == ["update", "release", "b1"]
    assert rows["llamacpp:llama-server"] == ["installed", "system"]
    assert rows["sd-cpp:sd-server"] == ["installable"]
    assert "metal" not in done.out and "flm" not in done.out
    assert "llamacpp:vulkan:\n  Version b1 is installed, b2 is wanted: an update is required\n" in done.out
    assert done.out.endswith("quince backends install RECIPE:BACKEND\n3 more cannot be used on this machine; reasons: "
                             "quince backends --all\n")
    done = cli("backends", "--all")
    assert "llamacpp:metal, kokoro:metal:\n  Requires macOS\n" in done.out and "flm:default" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert json.loads(cli("backends", "--json").out) == RECIPES
    terminal = Terminal(cli, "backends", "--all")
    assert terminal.status() == 0
    assert "Requires macOS" in "\n".join(terminal.shown())


def progress(done, total):
    return event("progress", file="a.tar.gz", file_index=1, total_files=1, bytes_downloaded=done, bytes_total=total,
                 total_download_size=total, percent=done * 100 // total, bytes_per_second=1000000)


def test_what_is_asked(tmp_path, stub):
    done_event = event("complete", status="success", recipe="llamacpp", backend="vulkan", version="b2", percent=100)
    server = stub({INSTALL: progress(500000, 1000000) + done_event,
                   UNINSTALL: {"status": "success", "recipe": "llamacpp", "backend": "vulkan"}})
    cli = Cli(tmp_path, server.port)
    done = cli("backends", "install", "llamacpp:vulkan")
    assert (done.returncode, done.out) == (0, "Installed llamacpp:vulkan b2\n")
    assert done.err.startswith("50 %  500 kB of 1.0 MB")
    assert cli("backends", "install", "llamacpp:vulkan", "--force").returncode == 0
    asked = {"recipe": "llamacpp", "backend": "vulkan", "stream": True}
    assert server.bodies(INSTALL) == [asked, {**asked, "force": True}]
    lines = [json.loads(line) for line in cli("backends", "install", "llamacpp:vulkan", "--json").out.splitlines()]
    assert [line["event"] for line in lines] == ["progress", "complete"]
    done = cli("backends", "uninstall", "llamacpp:vulkan")
    assert (done.returncode, done.out) == (0, "Removed llamacpp:vulkan\n")
    assert server.bodies(UNINSTALL) == [{"recipe": "llamacpp", "backend": "vulkan"}]


def test_failures(tmp_path, stub):
    server = stub({INSTALL: event("error", error="no", message="its sum is wrong"),
                   UNINSTALL: (404, {"status": "error", "error": {"message": "it is not installed"}})})
    cli = Cli(tmp_path, server.port)
    for word, why in (("install", "its sum is wrong"), ("uninstall", "it is not installed")):
        done = cli("backends", word, "llamacpp:vulkan")
        assert (done.returncode, done.out) == (1, "") and why in done.err
        assert why in json.loads(cli("backends", word, "llamacpp:vulkan", "--json").out.splitlines()[-1])["error"]["message"]
    for words in (("install",), ("install", "vulkan"), ("install", ":x"), ("install", "x:"), ("remove", "a:b"),
                  ("install", "a:b", "c:d")):
        assert cli("backends", *words).returncode == 2, words
    server.routes[INSTALL] = progress(1, 10)
    done = cli("backends", "install", "llamacpp:vulkan")
    assert done.returncode == 1 and "closed the connection" in done.err


def test_a_real_one(house, hub, tmp_path):
    """On a terminal, with Ctrl-C in between: the server goes on."""
    releases = Releases(house, hub)
    file = releases.offer("llamacpp:llama-server", "b1", size=400_000)
    slow = hub.fault(file, rate=20_000)
    server = releases.start()
    cli = Cli(tmp_path, server.port)
    terminal = Terminal(cli, "backends", "install", "llamacpp:llama-server")
    terminal.wait_for("%")
    terminal.type(CTRL_C)
    assert terminal.status() == -signal.SIGINT
    assert "The server continues to install llamacpp:llama-server" in terminal.screen
    slow.options["rate"] = 10_000_000
    row = wait_until(lambda: [line for line in cli("backends").out.splitlines()
                              if line.startswith("llamacpp:llama-server ") and " installed " in line])
    assert row[0].split() == ["llamacpp:llama-server", "installed", "release", "b1"]
    done = cli("backends", "uninstall", "llamacpp:llama-server")
    assert (done.returncode, done.out) == (0, "Removed llamacpp:llama-server\n")
    assert releases.installed() == []
    done = cli("backends", "install", "llamacpp:nothing")
    assert done.returncode == 1 and "has no backend 'nothing'" in done.err


def test_load_says_what_models_of_sounds_and_pictures_are_loaded_with(tmp_path, stub):
    server = stub({LOAD: {"status": "success", "model_name": "m"}, "GET /api/v1/models/m": {"id": "m"}})
    cli = Cli(tmp_path, server.port)
    assert cli("load", "m", "--steps", "8", "--cfg-scale", "1.5", "--width", "512", "--height", "768",
               "--sdcpp", "vulkan", "--sdcpp-args", "--vae-tiling").returncode == 0
    assert cli("load", "m", "--whispercpp", "cpu", "--whispercpp-args", "--threads 2").returncode == 0
    assert server.bodies(LOAD) == [
        {"model_name": "m", "steps": 8, "cfg_scale": 1.5, "width": 512, "height": 768, "sd-cpp_backend": "vulkan",
         "sdcpp_args": "--vae-tiling"},
        {"model_name": "m", "whispercpp_backend": "cpu", "whispercpp_args": "--threads 2"}]
    for option in ("--steps", "--cfg-scale", "--width", "--height"):
        done = cli("load", "m", option, "many")
        assert done.returncode == 2 and option in done.err
    assert len(server.bodies(LOAD)) == 2
