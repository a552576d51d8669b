"""How fast a file arrives over the loopback from nginx: plain `curl -o`, curl followed by sha256sum, and
quince's engine, which sums and syncs as it goes. In turn, so that all see the same machine; medians.
Then the router pulls the same file, and is asked for /live all the while."""
import argparse
import json
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "http")]

NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; sendfile on;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""

import conftest  # noqa: E402


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def timed(command, **more):
    """Seconds it took, and processor seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def router_pulls(build, url, size, place):
    """The router's rate, and how long /live took meanwhile, in milliseconds: p50, p99, the longest. And before."""
    (place / "backends").mkdir()
    os.symlink((build / "tests" / "fake_backend").absolute(), place / "backends" / "quince-llm")
    os.symlink((build / "bin" / "quince-inspect").absolute(), place / "backends" / "quince-inspect")
    (place / "models").mkdir()
    (place / "models" / "models.json").write_text("{}")
    conftest.Server.own_session = False
    server = conftest.Server(place / "data", place / "backends", place / "models",
                             ["--allow-private-hubs", "--no-discovery", "--log-level", "warn"])
    try:
        connection = server.connect(60)

        def live(seconds=None, thread=None):
            took, until = [], time.monotonic() + (seconds or 600)
            while time.monotonic() < until and (thread is None or thread.is_alive()):
                began = time.monotonic()
                connection.request("GET", "/live")
                connection.getresponse().read()
                took.append((time.monotonic() - began) * 1000)
                time.sleep(0.001)
            took.sort()
            return {"p50": took[len(took) // 2], "p99": took[len(took) * 99 // 100], "most": took[-1], "n": len(took)}

        before, replies, seconds = live(2), [], []

        def pull():
            began = time.monotonic()
            replies.append(server.post("/api/v1/pull", {"model_name": "user.Big", "checkpoint": url, "recipe": "llamacpp"}))
            seconds.append(time.monotonic() - began)

        thread = threading.Thread(target=pull)
        thread.start()
        meanwhile = live(thread=thread)
        thread.join()
        assert replies[0].status == 200, replies[0].body
        return {"mb_s": size / seconds[0] / 1e6, "live_before": before, "live_meanwhile": meanwhile}
    finally:
        server.stop()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--mib", default=2048, type=int)
    p.add_argument("--reps", default=3, type=int)
    p.add_argument("--source", default="/dev/shm", help="folder for the file that nginx serves")
    p.add_argument("--to", action="append", help="folder to download to; default: /dev/shm and the temporary folder")
    p.add_argument("--connections", action="append", type=int, help="default: 1 and 8")
    p.add_argument("--only", help="ways whose names contain this, and curl")
    p.add_argument("--no-router", action="store_true", help="the engine alone")
    p.add_argument("--json", type=argparse.FileType("w"))
    o = p.parse_args()
    probe = conftest.BUILD / "tests" / "fetch_probe"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quince-bench-", dir=o.source))
    places = [pathlib.Path(tempfile.mkdtemp(prefix="quince-bench-", dir=d)) for d in o.to or ["/dev/shm", tempfile.gettempdir()]]
    server, rows = None, []
    try:
        (folder / "www").mkdir()
        os.chmod(folder, 0o755)
        block = os.urandom(1 << 20)
        with open(folder / "www" / "file.gguf", "wb") as f:
            f.write(conftest.model_file("big", 1 << 20))
            for i in range(1, o.mib):
                f.write(i.to_bytes(8, "little") + block[8:])
        sha256 = subprocess.run(["sha256sum", folder / "www" / "file.gguf"], capture_output=True, text=True).stdout[:64]
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        server = subprocess.Popen(["/usr/sbin/nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
        url = f"http://127.0.0.1:{port}/file.gguf"
        for _ in range(100):
            if subprocess.run(["curl", "-sfI", url], capture_output=True).returncode == 0:
                break
            time.sleep(0.05)

        def quince(place, connections):
            plan = {"allow_private": True, "connections": connections,
                    "files": [{"url": url, "partial": str(place / "q"), "size": o.mib << 20, "sha256": sha256}]}
            wall, cpu, out = timed([probe], input=json.dumps(plan))
            assert json.loads(out)["end"] == "done", out
            return wall, cpu

        ways = {"curl": lambda place: timed(["curl", "-sf", "-o", place / "c", url])[:2],
                "curl, sync": lambda place: timed(["sh", "-c", f"curl -sf -o {place}/c {url} && sync {place}/c"])[:2],
                "curl, sha256sum": lambda place: timed(["sh", "-c", f"curl -sf -o {place}/c {url} && sha256sum {place}/c"])[:2]}
        for n in o.connections or [1, 8]:
            ways[f"quince, {n} connection{'s' * (n > 1)}"] = lambda place, n=n: quince(place, n)
        if o.only:
            ways = {k: v for k, v in ways.items() if k == "curl" or o.only in k}
        print(f"{o.mib} MiB; MB/s, of curl's rate in the same run, processor seconds (without nginx's)")
        for place in places:
            found = {name: [] for name in ways}
            for turn in range(o.reps + 1):
                names = list(ways)
                for name in names[turn % len(names):] + names[:turn % len(names)]:
                    for old in place.iterdir():
                        old.unlink()
                    once = ways[name](place)
                    if turn:  # the first turn warms up: memory that is new to a virtual machine is slow
                        found[name].append(once)
            base = statistics.median(w for w, _ in found["curl"])
            for name, runs in found.items():
                wall, cpu = statistics.median(w for w, _ in runs), statistics.median(c for _, c in runs)
                row = {"to": str(place.parent), "way": name, "mb_s": (o.mib << 20) / wall / 1e6,
                       "of_curl": base / wall, "cpu_s": cpu}
                rows.append(row)
                row["runs_s"] = [round(w, 3) for w, _ in runs]
                print(f"{row['to']:10} {name:24} {row['mb_s']:8.0f} {row['of_curl'] * 100:5.0f} % {cpu:6.2f}  {row['runs_s']}", flush=True)
            for old in place.iterdir():
                old.unlink()
            if not o.no_router:
                row = {"to": str(place.parent), "way": "router", **router_pulls(conftest.BUILD, url, o.mib << 20, place)}
                row["of_curl"] = row["mb_s"] * base * 1e6 / (o.mib << 20)
                rows.append(row)
                print(f"{row['to']:10} {'the router':24} {row['mb_s']:8.0f} {row['of_curl'] * 100:5.0f} %")
                for when in ("before", "meanwhile"):
                    t = row[f"live_{when}"]
                    print(f"{'':10} /live {when}: p50 {t['p50']:.2f} ms, p99 {t['p99']:.2f} ms, "
                          f"longest {t['most']:.1f} ms of {t['n']}", flush=True)
        if o.json:
            json.dump(rows, o.json, indent=1)
    finally:
        if server:
            server.terminate()
            server.wait()
        for d in [folder, *places]:
            shutil.rmtree(d, ignore_errors=True)


if __name__ == "__main__":
    main()
