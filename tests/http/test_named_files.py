"""Files that clients name: however many a request names and however slow their disk is, the server goes on."""
import os
import signal
import threading

import pytest
from conftest import BUILD, PATIENCE_S, fake_model, free_port, wait_until

LIVE_S = 20
LOOKS_MAX = 16 * 10  # of a load, its process included, for the adapters that a model may have


class Disk:
    """The folder `disk`, whose files the server waits for while the file `hangs` exists."""

    def __init__(self, folder):
        self.folder = folder / "disk"
        self.folder.mkdir()
        self.hangs, self.record = folder / "hangs", folder / "looks"
        options = os.environ.get("ASAN_OPTIONS", "")
        self.env = {"LD_PRELOAD": str(BUILD / "tests" / "hanging_disk.so"), "QUINCE_TEST_DISK": str(folder),
                    "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0"}

    def looks(self, path):
        """How often the server has looked at this path."""
        return self.record.read_text().splitlines().count(str(path)) if self.record.exists() else 0


@pytest.fixture
def disk(house):
    disk = Disk(house.tmp_path)
    yield disk
    disk.hangs.unlink(missing_ok=True)  # before the house stops its servers


def an_open_server(house, disk, recipe="llamacpp"):
    """May open files of the disk and of the folder of its model only."""
    folder = house.tmp_path / "models of an open server"
    folder.mkdir()
    server = house.start("--listen", f"0.0.0.0:{free_port()}=lemonade", "--insecure", "--models-dir", str(folder),
                         "--extra-models-dir", str(disk.folder), env=disk.env)
    server.register("user.m", fake_model(folder), recipe)
    return server


class Ask(threading.Thread):
    """A request that waits for the disk."""

    def __init__(self, server, path, body):
        super().__init__(daemon=True)
        self.server, self.path, self.body, self.reply = server, path, body, None
        self.start()

    def run(self):
        self.reply = self.server.post(self.path, self.body)


def asks(path):
    """Each request that may name a file: its address, its body, and the status when a server on loopback has no such
    file; 403 where it may not open it."""
    options = {"lora": [{"path": path}]}
    return [("/v1/load", {"model_name": "user.m", **options}, 400),
            ("/v1/load", {"model_name": "user.m", "save_options": True, **options}, 400),
            ("/engines", {"engine_id": "x", "model_path": path}, 400),
            ("/v1/models/register", {"model_name": "user.x", "checkpoint": path}, 404),
            ("/v1/models/register", {"model_name": "user.x", "checkpoint": "a/b:Q4_0", "recipe_options": options}, 400),
            ("/v1/models/register", {"model_name": "user.x", "checkpoints": {"main": path}}, 404),
            ("/v1/pull", {"model_name": "user.x", "checkpoint": path}, 404),
            ("/v1/models/user.m/options", options, 400),
            ("/v1/models/user.m/options", {"dry_run": True, **options}, 400),
            ("/internal/recipe_options.json", {"user.nobody": {}, "user.m": options}, 400)]


def check_that_the_server_goes_on(server, disk, file, requests):
    for path, body, status in requests:
        looks = disk.looks(file)
        disk.hangs.touch()
        ask = Ask(server, path, body)
        wait_until(lambda: disk.looks(file) > looks, what=f"a look at the file of {path} {body}")
        assert server.get("/live", timeout=LIVE_S).status == 200, (path, body)
        assert ask.is_alive()
        disk.hangs.unlink()
        ask.join(PATIENCE_S)
        assert ask.reply.status == status, (path, body, ask.reply.body)


def test_an_open_server_goes_on_while_a_file_cannot_be_found(house, disk):
    server = an_open_server(house, disk)
    path = str(disk.folder / "absent.gguf")
    remote = {"model_name": "user.r", "recipe": "remote", "base_url": "http://127.0.0.1:9/v1", "model": "m",
              "ca_file": path}
    requests = [*asks(path), ("/v1/models/register", remote, 403)]
    check_that_the_server_goes_on(server, disk, path, [(address, body, 403) for address, body, _ in requests])
    assert server.get("/v1/models/user.m/options").json["saved"] == {}
    assert [m["id"] for m in server.get("/v1/models").json["data"]] == ["user.m"]


def test_a_server_on_loopback_goes_on_while_a_file_cannot_be_found(house, disk):
    server = house.start(env=disk.env)
    house.model(server, "m")
    path = str(disk.folder / "absent.gguf")
    check_that_the_server_goes_on(server, disk, path, asks(path))
    assert server.get("/v1/models/user.m/options").json["saved"] == {}


def test_a_request_goes_on_once_its_file_is_found(house, disk):
    server = an_open_server(house, disk)
    adapter = fake_model(disk.folder)
    lora = {"lora": [{"path": str(adapter)}]}
    check_that_the_server_goes_on(server, disk, adapter, [("/v1/models/user.m/options", lora, 200),
                                                          ("/v1/load", {"model_name": "user.m", **lora}, 200)])
    assert server.get("/v1/models/user.m/options").json["saved"] == lora


def test_clients_that_no_longer_wait_and_a_server_that_stops(house, disk):
    server = an_open_server(house, disk)
    file = disk.folder / "absent.gguf"
    path, body, _ = asks(str(file))[0]
    looks = disk.looks(file)
    disk.hangs.touch()
    for _ in range(20):
        with pytest.raises(TimeoutError):
            server.post(path, body, timeout=0.05)
    waiting = [Ask(server, path, body) for _ in range(3)]
    wait_until(lambda: disk.looks(file) > looks, what="a look")
    # More such requests were sent than there are workers, but only two of them occupy one.
    assert server.get("/v1/models/user.m/files", timeout=LIVE_S).status == 200
    disk.hangs.unlink()
    for ask in waiting:
        ask.join(PATIENCE_S)
        assert ask.reply.status == 403
    disk.hangs.touch()
    looks = disk.looks(file)
    with pytest.raises(TimeoutError):
        server.post(path, body, timeout=0.5)
    assert disk.looks(file) > looks
    server.process.send_signal(signal.SIGTERM)
    disk.hangs.unlink()
    assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("recipe", ["llamacpp", "whispercpp"])
def test_no_file_is_looked_at_when_a_load_names_too_many(house, disk, recipe):
    server = an_open_server(house, disk, recipe=recipe)
    adapter = disk.folder / "adapter"
    adapter.touch()
    body = {"model_name": "user.m", "lora": [{"path": str(adapter)}] * 2000}
    reply = server.post("/v1/load", body)
    assert reply.status == 400, reply.body
    assert reply.json["error"]["param"] == "lora"
    assert "a model takes at most 16 adapters, not 2000" in reply.json["error"]["message"]
    assert disk.looks(adapter) == 0
    body["lora"] = body["lora"][:16]
    server.post("/v1/load", body)
    assert 16 <= disk.looks(adapter) <= LOOKS_MAX


def test_a_path_that_is_too_long_is_no_file(house, disk):
    server = an_open_server(house, disk)
    file = str(disk.folder) + "/." * 3000 + "/m.gguf"
    path, body, _ = asks(file)[0]
    reply = server.post(path, body)
    assert reply.status == 403 and b"path_not_allowed" in reply.body
    assert disk.looks(file) == 0
