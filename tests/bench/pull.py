"""A large model pulled through the server: its rate, from the request to the model in the list, beside `curl -o`
of the same file from the same nginx in the same run, and how long GET /live takes meanwhile."""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "http"), str(ROOT / "tests" / "bench")]
from conftest import BUILD, Depot, House, Server, model_file  # noqa: E402
from download import NGINX, free_port  # noqa: E402
from hub_server import Hub  # noqa: E402

COMMIT = "c" * 40
ASKER = """
import http.client, json, sys, time
port, times, end = int(sys.argv[1]), [], sys.stdin
import select
c = http.client.HTTPConnection("127.0.0.1", port)
while not select.select([end], [], [], 0)[0]:
    began = time.perf_counter()
    c.request("GET", "/live"); c.getresponse().read()
    times.append(time.perf_counter() - began)
    time.sleep(0.002)
print(json.dumps(times))
"""


def main():
    Server.own_session = False  # what stops the benchmark stops its server
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--mib", default=2048, type=int)
    p.add_argument("--reps", default=3, type=int)
    p.add_argument("--folder", default="/dev/shm", help="where everything lies")
    o = p.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quince-bench-", dir=o.folder))
    os.chmod(folder, 0o755)
    house, hub, nginx = None, Hub(), None
    try:
        www, backends = folder / "www", folder / "backends"
        www.mkdir()
        backends.mkdir()
        shutil.copy(BUILD / "tests" / "fake_backend", backends / "quince-llm")
        block, sum_, head = os.urandom(1 << 20), hashlib.sha256(), model_file("large", 0)
        with open(www / "m-Q4_0.gguf", "wb") as f:
            for i in range(o.mib):
                piece = (head if i == 0 else i.to_bytes(8, "little"))
                piece += block[len(piece):]
                sum_.update(piece)
                f.write(piece)
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        nginx = subprocess.Popen(["/usr/sbin/nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
        url = f"http://127.0.0.1:{port}/m-Q4_0.gguf"
        entry = {"rfilename": "m-Q4_0.gguf", "size": o.mib << 20,
                 "lfs": {"sha256": sum_.hexdigest(), "size": o.mib << 20}}

        def answer(h, at):
            if at.path.startswith("/api/models/"):
                h.reply_json({"id": "owner/large", "sha": COMMIT, "gated": False, "siblings": [entry]})
            elif "/resolve/" in at.path:
                h.reply(302, b"", {"Location": url})
            else:
                return False
            return True

        hub.routes.append(answer)
        house = House(folder, backends)
        depot = Depot(house, hub)
        curl, quince, live = [], [], []
        for turn in range(o.reps + 1):
            began = time.monotonic()
            subprocess.run(["curl", "-sf", "-o", folder / "c", url], check=True)
            took = time.monotonic() - began
            (folder / "c").unlink()
            shutil.rmtree(depot.data, ignore_errors=True)
            server = depot.start()
            asker = subprocess.Popen([sys.executable, "-c", ASKER, str(server.port)], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
            began = time.monotonic()
            reply = server.request("POST", "/v1/pull", {"model_name": "user.large", "checkpoint": "owner/large:Q4_0"},
                                   timeout=600)
            pulled = time.monotonic() - began
            assert reply.status == 200, reply.body
            times = json.loads(asker.communicate("\n")[0])
            server.stop()
            if turn:  # the first turn warms up
                curl.append(took)
                quince.append(pulled)
                live += times
        a, b = statistics.median(curl), statistics.median(quince)
        live.sort()
        print(f"{o.mib} MiB: curl {(o.mib << 20) / a / 1e6:.0f} MB/s, pull {(o.mib << 20) / b / 1e6:.0f} MB/s "
              f"({100 * a / b:.0f} %); /live meanwhile: {len(live)} answers, p50 {live[len(live) // 2] * 1e3:.2f} ms, "
              f"p99 {live[len(live) * 99 // 100] * 1e3:.2f} ms, slowest {live[-1] * 1e3:.2f} ms")
    finally:
        for server in house.servers if house else ():
            server.kill()
        if nginx:
            nginx.terminate()
            nginx.wait()
        hub.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
