"""Starts real servers for the tests: `quinced` on a free port with a data directory of its own, over
the fake backend (which misbehaves as its model file says) or the real one."""
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QUINCE_TEST_BUILD", ROOT / "build"))
PROGRAM = BUILD / "bin" / "quinced"
SANITIZED = PROGRAM.exists() and any(mark in PROGRAM.read_bytes() for mark in (b"__asan_init", b"__tsan_init"))
THREAD_SANITIZED = PROGRAM.exists() and b"__tsan_init" in PROGRAM.read_bytes()
QUICK = os.environ.get("QUINCE_TEST_QUICK") == "1"
START_TIMEOUT_S = 150
PATIENCE_S = 150  # for anything that should take far less, on a machine that stands still for a while


def gguf(metadata):
    """A GGUF file (version 3) of string metadata alone, as bytes."""
    def string(text):
        raw = text.encode()
        return struct.pack("<Q", len(raw)) + raw
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata))
    for key, value in metadata.items():
        out += string(key) + struct.pack("<I", 8) + string(value)
    return out


def is_endless(path):
    """Whether a successful reply to a GET of this path has no end."""
    return "/logs/stream" in path or path.startswith("/internal/chats/events")


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """One running quinced."""
    own_session = True  # what stops the tests' terminal does not stop it

    def __init__(self, data_dir, backend_dir, models_dir=None, args=(), env=None, launcher=(), pass_fds=()):
        """env: more of the environment; launcher: a program that is started instead and becomes quinced."""
        self.data_dir = pathlib.Path(data_dir)
        self.log_path = self.data_dir / "test-server.log"
        self.data_dir.mkdir(parents=True, exist_ok=True)
        if not (self.data_dir / "catalog.db").exists():
            self.data_dir.chmod(0o700)  # more than a server's files come into it, so the server would not
        command = [*launcher, str(PROGRAM), "--port", "0", "--data-dir", str(data_dir),
                   "--backend-dir", str(backend_dir), "--ollama-port", "off", *args]
        if models_dir:
            command += ["--builtin-dir", str(models_dir)]
        # What other programs of this machine have downloaded is none of the tests' business.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(
            ("QUINCE_", "LEMONADE_", "HF_", "HUGGINGFACE_", "XDG_", "LLAMA_", "OLLAMA_", "NOTIFY_", "WATCHDOG_",
             "LISTEN_"))}
        environment.update({"HOME": str(self.data_dir / "home"), **(env or {})})
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=environment, start_new_session=self.own_session, pass_fds=pass_fds)
        self.port = self._wait_ready()

    def _wait_ready(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        line = ""
        while time.monotonic() < deadline:
            line = self.process.stdout.readline()
            if "ready at" in line:
                return int(line.split("ready at http://")[1].split()[0].rsplit(":", 1)[1])
            if not line and self.process.poll() is not None:
                break
        raise RuntimeError(f"quinced did not start: {line!r}\n{self.logs()}")

    def logs(self):
        return self.log_path.read_text(errors="replace")

    def connect(self, timeout=PATIENCE_S):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, timeout=PATIENCE_S):
        with contextlib.closing(self.connect(timeout)) as c:
            headers = dict(headers or {})
            if body is not None and not isinstance(body, (bytes, str)):
                body = json.dumps(body)
            if body is not None:
                headers.setdefault("Content-Type", "application/json")
            c.request(method, path, body, headers)
            return Reply(c.getresponse())

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body, **kw):
        return self.request("POST", path, body, **kw)

    def chat(self, model, content="hello", **fields):
        return self.post("/v1/chat/completions",
                         {"model": model, "messages": [{"role": "user", "content": content}], **fields})

    def stream(self, model, content="hello", timeout=PATIENCE_S, **fields):
        """Begins a streamed chat; returns the connection and its response."""
        c = self.connect(timeout)
        c.request("POST", "/v1/chat/completions",
                  json.dumps({"model": model, "stream": True,
                              "messages": [{"role": "user", "content": content}], **fields}),
                  {"Content-Type": "application/json"})
        return c, c.getresponse()

    def register(self, name, path, recipe="llamacpp"):
        reply = self.post("/v1/models/register",
                          {"model_name": name, "checkpoint": str(path), "recipe": recipe})
        assert reply.status == 200, reply.body
        return name

    def children(self):
        """Pids of the running child processes of this server."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError):
                    stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    if int(stat[1]) == self.process.pid and stat[0] != "Z":
                        found.append(int(entry.name))
        return found

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def rss_kib(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def stop(self, timeout=PATIENCE_S):
        """SIGTERM and the exit status; kills what does not go."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process.stdout.close()
        self.log.close()
        return status

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


def events(response):
    """The data of each server-sent event as it arrives; JSON is parsed, "[DONE]" stays text."""
    data = []
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line.startswith("data: "):
            data.append(line[6:])
        elif line == "" and data:
            text = "\n".join(data)
            data = []
            yield text if text == "[DONE]" else json.loads(text)


def text_of(chunks):
    return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks
                   if c != "[DONE]" and c.get("choices"))


def wait_until(condition, timeout=PATIENCE_S, what="condition"):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what} did not become true in {timeout} s")


def pid_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def free_port():
    """A port for a program that is started later: none of those that the system hands out by itself meanwhile."""
    while True:
        port = random.SystemRandom().randrange(16000, 32000)
        with contextlib.closing(socket.socket()) as s, contextlib.suppress(OSError):
            s.bind(("", port))
            return port


def fake_model(folder, **options):
    """A model file for the fake backend; options say how it behaves (tests/fake_backend.c)."""
    n = len(list(folder.glob("*.gguf")))
    path = folder / f"fake-{n}.gguf"
    path.write_bytes(gguf({"general.architecture": "llama", "general.name": f"fake {n}",
                           "fake.options": json.dumps(options)}))
    return path


@pytest.fixture(scope="session")
def fake_backend_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backends")
    for kind in ("llm", "asr", "tts", "image"):
        shutil.copy(BUILD / "tests" / "fake_backend", folder / f"quince-{kind}")
    for program in ("quince-unpack", "quince-bridge", "quince-inspect", "quince-mcp"):
        shutil.copy(BUILD / "bin" / program, folder)
    return folder


class House:
    """A server over the fake backend, and models that behave as asked."""

    def __init__(self, tmp_path, backend_dir):
        self.tmp_path, self.backend_dir = tmp_path, backend_dir
        self.models_dir = tmp_path / "models"
        self.models_dir.mkdir()
        (self.models_dir / "models.json").write_text("{}")
        self.servers = []

    def start(self, *args, **how):
        server = Server(self.tmp_path / f"data-{len(self.servers)}", self.backend_dir, self.models_dir, args, **how)
        self.servers.append(server)
        return server

    def model(self, server, name, recipe="llamacpp", **options):
        return server.register(f"user.{name}", fake_model(self.tmp_path, **options), recipe)


@contextlib.contextmanager
def keeping(h):
    """Stops a house's servers in the end and looks into their logs."""
    yield h
    problems = []
    for server in h.servers:
        if server.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if server.stop() != 0:
                    problems.append(f"quinced ended with status {server.process.returncode}")
        log = server.logs()
        for word in ("AddressSanitizer", "ThreadSanitizer", "runtime error:", "LeakSanitizer"):
            if word in log:
                at = log.index(word)
                problems.append(log[max(0, at - 500):at + 4000])
    assert not problems, "\n".join(problems)


@pytest.fixture
def house(tmp_path, fake_backend_dir):
    with keeping(House(tmp_path, fake_backend_dir)) as h:
        yield h


@pytest.fixture
def home(house, tmp_path):
    """A user's home for a server that the CLI starts itself."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.json").write_text(json.dumps(
        {"builtin-dir": str(house.models_dir), "backend-dir": str(house.backend_dir)}))
    return tmp_path


@pytest.fixture
def hub():
    """A hub of models that misbehaves on request: hub_server.py."""
    from hub_server import Hub
    h = Hub()
    yield h
    h.close()


@pytest.fixture
def server(house):
    return house.start()


def model_file(name, size=4096):
    """A GGUF file that the fake backend takes, padded with bytes that differ everywhere."""
    head = gguf({"general.architecture": "llama", "general.name": name, "fake.options": "{}"})
    return head + random.Random(name).randbytes(max(0, size - len(head)))


class Depot:
    """Starts servers over one data folder and one hub."""

    def __init__(self, house, hub):
        self.house, self.hub = house, hub
        self.data = house.tmp_path / "data"
        self.cache = self.data / "home" / ".cache" / "huggingface" / "hub"

    def start(self, *args):
        server = Server(self.data, self.house.backend_dir, self.house.models_dir,
                        ("--hf-endpoint", self.hub.url, "--allow-private-hubs", "--no-discovery", *args))
        self.house.servers.append(server)
        return server

    def listed(self, entries):
        (self.house.models_dir / "models.json").write_text(json.dumps(entries))

    def blobs(self, repo):
        return self.cache / ("models--" + repo.replace("/", "--")) / "blobs"

    def leftovers(self):
        return [p for p in self.cache.rglob("*incomplete*")]


class Ticker(threading.Thread):
    """Asks /live over and over and remembers how long the slowest answer took."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.slowest, self.count, self.stopping = server, 0.0, 0, False

    def run(self):
        connection = self.server.connect()
        while not self.stopping:
            begun = time.monotonic()
            connection.request("GET", "/live")
            connection.getresponse().read()
            self.slowest = max(self.slowest, time.monotonic() - begun)
            self.count += 1
            time.sleep(0.005)
        connection.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.join()


def raw_connection(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
