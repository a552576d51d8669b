"""What the router costs: latency it adds, requests a second, processor time per streamed token event, memory of
idle streams. Beside it nginx as a proxy before the same fake backend (it passes the backend's frames on as they
are; the router makes another API of them), and a bare server of lib/io that sends bodies back."""
import argparse
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "http"), str(ROOT / "tests" / "contract")]
import router_life  # noqa: E402

NGINX = """
{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 8192; }}
http {{
    access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; keepalive_requests 10000000;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; tcp_nodelay on;
    upstream child {{ server 127.0.0.1:{child}; keepalive 256; keepalive_requests 10000000; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://child; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_buffering off; proxy_read_timeout 600s;
        }}
    }}
}}
"""


PER_MODEL = 200  # streams that wait at one model


def cpu_s(*pids):
    """Processor time of processes and all their threads so far."""
    total = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def rss_kib(*pids):
    total = 0
    for pid in pids:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Bench:
    def __init__(self, options):
        import conftest
        self.options = options
        self.conftest = conftest
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quince-bench-"))
        self.client = str(conftest.BUILD / "tests" / "bench_router")
        backend = self.folder / "backends"
        backend.mkdir()
        (self.folder / "models.json").write_text("{}")
        os.symlink(conftest.BUILD / "tests" / "fake_backend", backend / "quince-llm")
        os.symlink(conftest.BUILD / "bin" / "quince-inspect", backend / "quince-inspect")
        conftest.Server.own_session = False
        self.server = conftest.Server(self.folder / "data", backend, self.folder,
                                      ["--queue-limit", "5000", "--log-level", "warn", "--max-loaded-models", "-1"])
        self.stack = contextlib.ExitStack()
        self.others = 0

    def another(self, *args):
        """A server of its own for one part."""
        self.others += 1
        return self.conftest.Server(self.folder / f"data-{self.others}", self.folder / "backends", self.folder,
                                    ["--log-level", "warn", *args])

    def run(self, *words):
        done = subprocess.run([self.client, *map(str, words)], stdout=subprocess.PIPE, check=True, text=True)
        return json.loads(done.stdout)

    def request_file(self, name, path, body, extra=""):
        raw = json.dumps(body) + "\n"  # a child takes whole lines
        file = self.folder / name
        file.write_text(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{extra}"
                        f"Content-Length: {len(raw)}\r\n\r\n{raw}")
        return file

    def places(self, name, stream, **behaviour):
        """Three ways to one kind of fake model: (port, request file, pids whose time counts)."""
        import child as contract
        model = self.conftest.fake_model(self.folder, **behaviour)
        self.server.register(f"user.{name}", model)
        assert self.server.post("/v1/load", {"model_name": f"user.{name}"}).status == 200
        contract.BUILD = self.folder / "link"
        if not contract.BUILD.exists():
            (contract.BUILD / "bin").mkdir(parents=True)
            os.symlink(self.conftest.BUILD / "tests" / "fake_backend", contract.BUILD / "bin" / "quince-llm")
        child = contract.Child("quince-llm", [model], quiet=True)
        self.stack.callback(child.kill)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        folder = self.folder / f"nginx-{name}"
        folder.mkdir()
        # A child's port takes connections of its own user and root alone; nginx leaves root unless it is told.
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, child=child.port, port=port, user=user))
        nginx = subprocess.Popen(["/usr/sbin/nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)],
                                 stderr=subprocess.DEVNULL)
        self.stack.callback(nginx.wait)
        self.stack.callback(nginx.terminate)
        time.sleep(0.5)
        messages = [{"role": "user", "content": "hello"}]
        chat = self.request_file(f"{name}.chat", "/v1/chat/completions",
                                 {"model": f"user.{name}", "messages": messages, "stream": stream})
        job = self.request_file(f"{name}.job", "/run", {"task": "chat", "id": "r1", "chat": {"messages": [
            {"role": "user", "parts": [{"kind": "text", "text": "hello"}]}]}},
                                f"Authorization: Bearer {child.secret}\r\n")
        return {"direct": (child.port, job, []), "nginx": (port, job, [nginx.pid, *children(nginx.pid)]),
                "quince": (self.server.port, chat, [self.server.process.pid])}

    def close(self):
        self.stack.close()
        self.server.stop()


def added_latency(bench, rows):
    """One short answer after another on one connection."""
    places = bench.places("short", False, tokens=1, slots=16)
    echo = subprocess.Popen([bench.client, "echo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(echo.stdout.readline())
    places["echo"] = (port, places["quince"][1], [echo.pid])
    for name in places:
        bench.run("latency", *places[name][:2], 200)  # warm
    for _ in range(bench.options.rounds):
        for name, (port, request, _) in places.items():
            got = bench.run("latency", port, request, bench.options.requests)
            rows.setdefault((name, "p50_us"), []).append(got["p50_us"])
            rows.setdefault((name, "p99_us"), []).append(got["p99_us"])
    for _ in range(bench.options.rounds):
        for name, (port, request, pids) in places.items():
            before = cpu_s(*pids)
            got = bench.run("rate", port, request, bench.options.requests * 4, 16)
            rows.setdefault((name, "per_s"), []).append(got["per_s"])
            if pids:
                rows.setdefault((name, "cpu_us_request"), []).append(
                    (cpu_s(*pids) - before) * 1e6 / (bench.options.requests * 4))
    echo.stdin.close()
    echo.wait()


def token_events(bench, rows):
    """Streams side by side, each at the pace of a model."""
    o = bench.options
    places = bench.places("stream", True, tokens=o.tokens, token_ms=o.token_ms, slots=64)
    mark = {"nginx": "\"ev\":\"text\"", "direct": "\"ev\":\"text\"", "quince": "word "}
    for name, (port, request, _) in places.items():
        bench.run("streams", port, request, 4, mark[name])
    for _ in range(o.rounds):
        for name, (port, request, pids) in places.items():
            before = cpu_s(*pids)
            got = bench.run("streams", port, request, o.streams, mark[name])
            assert got["events"] == o.streams * o.tokens, (name, got)
            rows.setdefault((name, "seconds"), []).append(got["seconds"])
            if pids:
                rows.setdefault((name, "cpu_us_event"), []).append((cpu_s(*pids) - before) * 1e6 / got["events"])


def idle_streams(bench, rows):
    """Streams that have begun and wait: their models are at work on others. A model takes so many at once, so
    there are several."""
    o = bench.options
    models = [bench.places(f"idle-{i}", True, tokens=1000, token_ms=3600000, prefill_ms=3600000, slots=64)
              for i in range(-(-o.idle // PER_MODEL))]
    for name in ("nginx", "quince"):
        pids = sorted({pid for places in models for pid in places[name][2]})
        before = rss_kib(*pids)
        holders = []
        for i, places in enumerate(models):
            port, request, _ = places[name]
            holders.append(subprocess.Popen(
                [bench.client, "hold", str(port), str(request), str(min(PER_MODEL, o.idle - i * PER_MODEL))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert sum(json.loads(h.stdout.readline())["held"] for h in holders) == o.idle
        time.sleep(2)
        rows.setdefault((name, "idle_kib"), []).append(rss_kib(*pids) - before)
        began = cpu_s(*pids)
        time.sleep(3)
        rows.setdefault((name, "idle_cpu_percent"), []).append((cpu_s(*pids) - began) / 3 * 100)
        for h in holders:
            h.stdin.close()
            h.wait()
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=2000, help="of each measurement of latency")
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=200, help="of each stream")
    parser.add_argument("--token-ms", type=int, default=20)
    parser.add_argument("--idle", type=int, default=700, help="idle streams; one client may hold 768 connections")
    parser.add_argument("--only", choices=["latency", "tokens", "idle", *router_life.PARTS])
    parser.add_argument("--json", help="keep every figure in this file")
    options = parser.parse_args()
    os.environ["QUINCE_TEST_BUILD"] = str(pathlib.Path(options.build).resolve())
    bench, rows, life = Bench(options), {}, {}
    try:
        for name, part in router_life.PARTS.items():
            if options.only in (None, name):
                part(bench, life)
        for name, part in {"latency": added_latency, "tokens": token_events, "idle": idle_streams}.items():
            if options.only in (None, name):
                part(bench, rows)
    finally:
        bench.close()
    if life:
        router_life.print_rows(life)
    middle = {key: statistics.median(values) for key, values in rows.items()}
    kinds = list(dict.fromkeys(kind for _, kind in middle))
    if options.json:
        pathlib.Path(options.json).write_text(
            json.dumps({f"{a} {b}": v for (a, b), v in {**rows, **life}.items()}, indent=1))
    if not rows:
        return
    ways = [w for w in ("echo", "direct", "nginx", "quince") if any(name == w for name, _ in middle)]
    print("| | " + " | ".join(ways) + " |\n|" + "---|" * (len(ways) + 1))
    for kind in kinds:
        print(f"| {kind} | " + " | ".join(
            f"{middle[w, kind]:.1f}" if (w, kind) in middle else "" for w in ways) + " |")
    if ("quince", "p50_us") in middle:
        for kind in ("p50_us", "p99_us"):
            base = middle["direct", kind]
            print(f"added {kind}: nginx {middle['nginx', kind] - base:.1f}, quince {middle['quince', kind] - base:.1f}")
    if ("quince", "cpu_us_event") in middle:
        print(f"processor time per event: {middle['quince', 'cpu_us_event'] / middle['nginx', 'cpu_us_event']:.2f} "
              "times nginx's")


main()
