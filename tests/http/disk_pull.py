"""A download onto a disk of 8 MiB, in a name space of its own: run by test_pull.py under `unshare -rm`. One clear
error when the disk is full; it goes on where it is when there is room again."""
import pathlib
import subprocess
import sys
import time

from conftest import Depot, House, model_file, wait_until
from hub_server import Hub

MIB = 1 << 20


def main():
    folder, backends = pathlib.Path(sys.argv[1]), sys.argv[2]
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(disk)], check=True)
    hub = Hub()
    house = House(folder, backends)
    depot = Depot(house, hub)
    depot.cache = disk / "hub"
    server = depot.start("--models-dir", str(depot.cache))
    try:
        too_large(server, hub, depot)
        fills_up(server, hub, depot, disk)
    finally:
        server.stop()
        hub.close()
    log = server.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]
    print("passed")


def job(server, name):
    return {j["model_name"]: j for j in server.get("/v1/downloads?all=true").json}.get(name)


def too_large(server, hub, depot):
    """Said before anything is fetched."""
    hub.repo("owner/large", {"large-Q4_0.gguf": model_file("large", 12 * MIB)})
    reply = server.post("/v1/pull", {"model_name": "user.large", "checkpoint": "owner/large:Q4_0"})
    assert reply.status == 507, (reply.status, reply.body)
    assert reply.json["error"]["code"] == "disk_full" and "disk is full" in reply.json["message"], reply.body
    assert hub.sent(host="files") == 0
    state = job(server, "user.large")
    assert (state["status"], state["code"]) == ("error", "disk_full") and "disk is full" in state["error"]
    server.post("/v1/downloads/control", {"id": "model:user.large", "action": "remove"})


def fills_up(server, hub, depot, disk):
    size = 5 * MIB
    data = model_file("fits", size)
    hub.repo("owner/fits", {"fits-Q4_0.gguf": data})
    fault = hub.fault("fits-Q4_0.gguf", hold=2 * MIB, host="files")
    server.post("/v1/pull", {"model_name": "user.fits", "checkpoint": "owner/fits:Q4_0", "stream": True,
                             "subscribe": False})
    wait_until(lambda: job(server, "user.fits")["cumulative_bytes_downloaded"] > MIB, what="the first MiB")
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 65536)
        except OSError:
            pass
    del fault.options["hold"]
    wait_until(lambda: job(server, "user.fits")["status"] == "error", what="the full disk")
    state = job(server, "user.fits")
    assert state["code"] == "disk_full" and state["error"].count("disk is full") == 1, state
    here = state["cumulative_bytes_downloaded"]
    assert MIB <= here < size, state
    time.sleep(0.5)
    assert job(server, "user.fits")["status"] == "error"  # it is not tried again and again
    filler.unlink()
    server.post("/v1/downloads/control", {"id": "model:user.fits", "action": "resume"})
    wait_until(lambda: job(server, "user.fits")["status"] == "completed", what="the rest")
    blob, = (depot.cache / "models--owner--fits" / "blobs").iterdir()
    assert blob.read_bytes() == data
    assert hub.sent("", host="files") <= size + 8 * 256 * 1024, hub.sent(host="files")


if __name__ == "__main__":
    main()
