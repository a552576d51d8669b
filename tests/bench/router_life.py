"""What running the house costs, beside answering: starting, memory at rest, exchanging one model for another, and what
others notice while a model loads or waits to load. The parts of router.py that need no other server."""
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import threading
import time

LOAD_MS = 3000  # how long the model takes that loads beside others


def status_kib(pid, name):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p))]


def start_up(bench, rows):
    """From the start of the process to its first answer; the first start makes the catalog."""
    import conftest
    for round_ in range(max(bench.options.rounds, 10)):
        folder = bench.folder / f"start-{round_}"
        for kind in ("first", "again"):
            port = conftest.free_port()
            command = [str(conftest.BUILD / "bin" / "quinced"), "--port", str(port), "--data-dir", str(folder),
                       "--ollama-port", "off", "--no-discovery", "--log-level", "warn"]
            environment = {k: v for k, v in os.environ.items() if not k.startswith("QUINCE_")}
            environment["HOME"] = str(folder / "home")
            began = time.perf_counter()
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
            while True:
                with contextlib.suppress(OSError):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                    connection.request("GET", "/live")
                    assert connection.getresponse().read() == b'{"status":"ok"}'
                    break
                time.sleep(0.0005)
            rows.setdefault(("start", f"{kind} start to /live, ms"), []).append((time.perf_counter() - began) * 1e3)
            connection.close()
            if kind == "again":
                time.sleep(1)  # what it looks at in the background
                rows.setdefault(("start", "memory at rest, RSS MiB"), []).append(
                    status_kib(process.pid, "VmRSS") / 1024)
            process.terminate()
            process.wait()


def after_work(bench, rows):
    """Memory after answers, loads and unloads, with nothing loaded."""
    server = bench.server
    name = server.register("user.rest", bench.conftest.fake_model(bench.folder, tokens=100))
    for _ in range(50):
        assert server.chat(name).status == 200
    server.post("/v1/unload", None)
    time.sleep(1)
    rows.setdefault(("start", "memory after 50 answers, nothing loaded, RSS MiB"), []).append(
        status_kib(server.process.pid, "VmRSS") / 1024)


def swap(bench, rows):
    """A request for B while A is loaded and only one may be: what passes beyond the time in which B's process
    starts and loads, as the server itself reports it."""
    limited = bench.another("--max-loaded-models", "1")
    names = [limited.register(f"user.swap{n}", bench.conftest.fake_model(bench.folder, tokens=1)) for n in range(2)]
    assert limited.chat(names[1]).status == 200
    for n in range(20):
        name = names[n % 2]
        began = time.perf_counter()
        assert limited.chat(name).status == 200
        whole = (time.perf_counter() - began) * 1e3
        loaded, = [m for m in limited.get("/v1/health").json["all_models_loaded"] if m["model_name"] == name]
        rows.setdefault(("swap", "a request that exchanges the model, ms"), []).append(whole)
        rows.setdefault(("swap", "of it beyond the model's own start, ms"), []).append(whole - loaded["load_ms"])
    limited.stop()


class Asking(threading.Thread):
    """Asks for a page over and over on one connection."""

    def __init__(self, server, path, pause_s=0.002, method="GET", body=None):
        super().__init__(daemon=True)
        self.server, self.path, self.pause_s, self.over, self.took = server, path, pause_s, False, []
        self.method, self.body = method, body

    def run(self):
        connection = self.server.connect(30)
        while not self.over:
            began = time.perf_counter()
            connection.request(self.method, self.path, self.body, {"Content-Type": "application/json"})
            connection.getresponse().read()
            self.took.append((time.perf_counter() - began) * 1e3)
            time.sleep(self.pause_s)
        connection.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()


def load_beside(bench, rows):
    """Short answers of A, before and while B loads and writes a log of 20,000 lines; /health meanwhile."""
    server, make = bench.server, bench.conftest.fake_model
    a = server.register("user.beside", make(bench.folder, tokens=1))
    assert server.post("/v1/load", {"model_name": a}).status == 200
    request = bench.request_file("beside", "/v1/chat/completions",
                                 {"model": a, "messages": [{"role": "user", "content": "hello"}]})
    for round_ in range(bench.options.rounds):
        b = server.register(f"user.loading{round_}", make(bench.folder, load_ms=LOAD_MS, flood_log=20000))
        calm = bench.run("latency", server.port, request, bench.options.requests)
        loading = threading.Thread(target=server.post, args=("/v1/load", {"model_name": b}))
        loading.start()
        while not any(m["model_name"] == b for m in server.get("/v1/health").json["all_models_loaded"]):
            time.sleep(0.001)
        busy = bench.run("latency", server.port, request, bench.options.requests)
        with Asking(server, "/v1/health") as health:
            loading.join()
        rows.setdefault(("load", "A's answers, p99, ms"), []).append(calm["p99_us"] / 1e3)
        rows.setdefault(("load", "the same while B loads, p99, ms"), []).append(busy["p99_us"] / 1e3)
        rows.setdefault(("load", "/v1/health while B loads, p99, ms"), []).append(percentile(health.took, 0.99))
        server.post("/v1/unload", {"model_name": b})


def wait_beside(bench, rows):
    """One long answer holds the only place, a second model waits for it: the control plane meanwhile."""
    limited = bench.another("--max-loaded-models", "1")
    make = bench.conftest.fake_model
    a = limited.register("user.long", make(bench.folder, tokens=100000, token_ms=5))
    b = limited.register("user.waits", make(bench.folder, tokens=1))
    connection, response = limited.stream(a)
    response.readline()
    waiting = threading.Thread(target=limited.chat, args=(b,))
    waiting.start()
    time.sleep(0.2)
    shown = {m["model_name"]: m["status"] for m in limited.get("/v1/health").json["all_models_loaded"]}
    assert shown.get(b) == "queued", shown
    unload = json.dumps({"model_name": b + "-not-there"})
    for path, method, body in (("/v1/health", "GET", None), ("/v1/models", "GET", None), ("/v1/unload", "POST", unload)):
        with Asking(limited, path, method=method, body=body) as asking:
            time.sleep(2)
        rows.setdefault(("wait", f"{path} while a model waits for another's end, p99, ms"), []).append(
            percentile(asking.took, 0.99))
    response.close()
    connection.close()
    waiting.join()
    limited.stop()


PARTS = {"start": start_up, "rest": after_work, "swap": swap, "load": load_beside, "wait": wait_beside}


def print_rows(rows):
    print("| | median | worst |\n|---|---|---|")
    for (_, kind), values in rows.items():
        print(f"| {kind} | {statistics.median(values):.2f} | {max(values):.2f} |")
