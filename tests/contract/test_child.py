"""The contract between router and child, driven by hand over fd 3 and fd 4: the same script for the
real backend and for the fake one, so that the fake cannot drift."""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fake_llama
from child import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QUINCE_TEST_BUILD", ROOT / "build"))
SECRET = "5e" * 32
LONG = 100000  # words: no answer of these ends in a test's time, and in any context
ENDLESS = {"max_tokens": LONG, "ignore_eos": True, "context_shift": 1}


def fake_file(folder, **options):
    def string(text):
        return struct.pack("<Q", len(text)) + text.encode()
    path = folder / "fake.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + string("general.architecture") +
                     struct.pack("<I", 8) + string("llama") + string("fake.options") +
                     struct.pack("<I", 8) + string(json.dumps(options)))
    return path


class Child:
    """A backend's process with the router played by the test."""

    def __init__(self, program, model):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.control, theirs = socket.socketpair()
        keep = [listener.fileno(), theirs.fileno()]
        # dup2 in the child: 3 and 4 may be taken by Python itself, so go through high numbers.
        code = ("import fcntl,os,sys; a2,b2=(fcntl.fcntl(int(x),fcntl.F_DUPFD,100) for x in sys.argv[1:3]);"
                "os.dup2(a2,3); os.dup2(b2,4);"
                "os.closerange(5,256); os.execv(sys.argv[3],[sys.argv[3],'--name','under-test'])")
        self.process = subprocess.Popen([sys.executable, "-c", code, *map(str, keep), str(program)],
                                        pass_fds=keep, stderr=subprocess.PIPE)
        listener.close()
        theirs.close()
        self.control.settimeout(PATIENCE)
        self.lines = self.control.makefile("r")
        self.send({"msg": "load", "secret": SECRET, "name": "under-test", "files": [str(model)],
                   "threads": 1, "context": 0, "options": {}})

    def send(self, message):
        self.control.sendall((json.dumps(message) + "\n").encode())

    def receive(self, kind):
        for line in self.lines:
            message = json.loads(line)
            if message["msg"] == kind:
                return message
            assert message["msg"] in ("loading", "pong"), message
        raise AssertionError(f"control line ended before {kind}")

    def run(self, job, secret=SECRET, timeout=PATIENCE, tail=b""):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.request("POST", "/run", json.dumps(job).encode() + b"\n" + tail,
                           {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"})
        return connection, connection.getresponse()

    def events(self, job):
        connection, response = self.run(job)
        assert response.status == 200, response.read()
        frames = [json.loads(line) for line in response.read().splitlines()]
        connection.close()
        return frames

    def close(self):
        self.control.close()
        self.lines.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


BACKENDS = {
    "fake": (BUILD / "tests" / "fake_backend", None),
    "llm": (BUILD / "bin" / "quince-llm", ROOT / "registry" / "starter" / "quince-starter.gguf"),
    "bridge": (BUILD / "bin" / "quince-bridge", None),
}


def remote_file(folder, *servers, **fields):
    """The definition of a model that these servers compute."""
    path = folder / "remote.json"
    path.write_text(json.dumps({"quince_remote": 1, "upstreams": [{"url": s.url} for s in servers], **fields}))
    return path


@pytest.fixture(params=list(BACKENDS))
def child(request, tmp_path):
    program, model = BACKENDS[request.param]
    with contextlib.ExitStack() as stack:
        if request.param == "bridge":
            model = remote_file(tmp_path, stack.enter_context(fake_llama.serving(tokens=LONG, token_ms=5)))
        c = Child(program, model or fake_file(tmp_path, tokens=LONG, token_ms=5))
        yield c
        c.close()


def job(**fields):
    return {"task": "chat", "id": "t1", "sampling": {"max_tokens": 5, "ignore_eos": True},
            "chat": {"messages": [{"role": "user", "parts": [{"kind": "text", "text": "hello"}]}]}, **fields}


def test_ready_says_what_it_has(child):
    ready = child.receive("ready")
    assert ready["context"] > 0 and ready["slots"] >= 1 and ready["memory_bytes"] > 0


def test_events_come_in_order(child):
    child.receive("ready")
    frames = child.events(job())
    kinds = [f["ev"] for f in frames if f["ev"] != "progress"]
    assert kinds[-3:] == ["done", "usage", "end"]
    assert set(kinds[:-3]) <= {"text"}
    usage = frames[-2]
    assert usage["output"] == 5 and usage["prompt"] > 0 and 0 <= usage["cached"] <= usage["prompt"]
    assert frames[-3]["reason"] == "length"


def test_choices_each_end(child):
    child.receive("ready")
    frames = child.events(job(sampling={"max_tokens": 3, "n": 2, "temperature": 0, "ignore_eos": True}))
    assert sorted(f.get("index", 0) for f in frames if f["ev"] == "done") == [0, 1]
    assert [f["ev"] for f in frames][-2:] == ["usage", "end"]


def test_secret_is_needed(child):
    child.receive("ready")
    for secret in ["", "0" * 64, SECRET[:-1], SECRET + "0"]:
        connection, response = child.run(job(), secret)
        assert response.status == 401
        connection.close()


def test_bad_jobs_are_answered(child):
    child.receive("ready")
    for bad in [{}, {"task": "dance", "id": "x"}, {"task": "chat", "id": "x"}, [], "text",
                {"task": "chat", "id": "x", "chat": {"messages": {}}}]:
        connection, response = child.run(bad)
        body = response.read()
        if response.status == 200:
            last = json.loads(body.splitlines()[-1])
            assert last["ev"] == "error" and last["error"]["message"]
        else:
            assert 400 <= response.status < 500
        connection.close()
    assert child.events(job())[-1]["ev"] == "end"


def test_files_of_a_job_must_be_there(child):
    """They follow its line, as many bytes as it says."""
    child.receive("ready")
    sound = {"task": "transcribe", "id": "x", "attachments": [{"role": "audio", "bytes": 3}], "bytes": 3}
    for tail in [b"", b"ab", b"abcd"]:
        connection, response = child.run(sound, tail=tail)
        assert response.status == 400
        assert json.loads(response.read())["error"]["message"]
        connection.close()
    assert child.events(job())[-1]["ev"] == "end"


# ---- Inputs that follow their job ----

def batch(inputs):
    """A frame of inputs: texts, and lists of token ids."""
    raw = b""
    for x in inputs:
        data = x.encode() if isinstance(x, str) else struct.pack(f"<{len(x)}i", *x)
        raw += struct.pack("<I", len(data) | (0 if isinstance(x, str) else 1 << 31)) + data
    return b'{"inputs":%d,"bytes":%d}\n' % (len(inputs), len(raw)) + raw


def frames_with_bytes(body):
    """Frames and their raw bytes."""
    while body:
        line, _, body = body.partition(b"\n")
        frame = json.loads(line)
        yield frame, body[:frame.get("bytes", 0)]
        body = body[frame.get("bytes", 0):]


def of_inputs(task, count, **fields):
    return {"task": task, "id": "t2", "embed": {"count": count, **fields}}


def answer(child, task, inputs, tail):
    connection, response = child.run(of_inputs(task, len(inputs), **({"query": "q"} if task == "rerank" else {})), tail=tail)
    assert response.status == 200, response.read()
    frames = list(frames_with_bytes(response.read()))
    connection.close()
    return frames


@pytest.mark.parametrize("task,kind", [("embed", "vectors"), ("rerank", "scores")])
def test_results_come_in_the_order_of_the_inputs(child, task, kind, request):
    child.receive("ready")
    inputs = ["x" * (i % 9 + 1) for i in range(200)]
    frames = answer(child, task, inputs, b"".join(batch(inputs[i:i + 50]) for i in range(0, 200, 50)))
    if request.node.callspec.params["child"] == "llm":  # it makes neither, and says so
        assert [f["ev"] for f, _ in frames] == ["error"] and frames[0][0]["error"]["message"]
        return
    assert [f["ev"] for f, _ in frames][-3:] == ["done", "usage", "end"]
    assert {f["ev"] for f, _ in frames[:-3]} == {kind}
    told, results = 0, []
    for frame, raw in frames[:-3]:
        assert frame.get("index", 0) == told and 1 <= frame["count"] <= 64 and len(raw) == frame["bytes"] <= 256 * 1024
        told += frame["count"]
        each = len(raw) // frame["count"]
        results += [raw[i:i + each] for i in range(0, len(raw), each)]
    assert told == 200 and len({len(r) for r in results}) == 1
    assert task == "embed" or len(results[0]) == 4
    for i in range(200 - 9):  # what is alike is measured alike, and what is not is not
        assert results[i] == results[i + 9] and results[i] != results[i + 1]


def test_broken_inputs_are_answered(child):
    child.receive("ready")
    cases = [b"", batch(["a"]), batch(["a", "b", "c"]), b'{"inputs":2}\n', b'{"songs":1}\n', batch(["a", "b"])[:-1],
             batch(["a"]) + batch(["b"])[:-4] + b"\xff" * 4]
    for tail in cases:
        connection, response = child.run(of_inputs("embed", 2), tail=tail)
        last = list(frames_with_bytes(response.read()))[-1][0]
        assert last["ev"] == "error" and last["error"]["message"], tail
        connection.close()
    assert child.events(job())[-1]["ev"] == "end"


def test_more_inputs_than_are_taken_wait_in_the_socket(tmp_path):
    """A child that computes slowly does not read on, and one whose client leaves forgets the job at once."""
    child = Child(BACKENDS["fake"][0], fake_file(tmp_path, dimensions=8, token_ms=60_000))
    child.receive("ready")
    frame = batch(["x" * 8000] * 30)
    with socket.create_connection(("127.0.0.1", child.port), timeout=0.5) as s:
        s.sendall(f"POST /run HTTP/1.1\r\nHost: child\r\nAuthorization: Bearer {SECRET}\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n".encode())
        line = json.dumps(of_inputs("embed", 900_000)).encode() + b"\n"
        sent = 0
        s.sendall(b"%x\r\n%s\r\n" % (len(line), line))
        with pytest.raises(TimeoutError):
            while sent < 64 << 20:
                s.sendall(b"%x\r\n%s\r\n" % (len(frame), frame))
                sent += len(frame)
        status = pathlib.Path(f"/proc/{child.process.pid}/status").read_text()
        assert int(status.split("VmHWM:")[1].split()[0]) < 64 * 1024
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # as the router cancels

    def jobs():
        child.send({"msg": "ping", "seq": 1})
        return child.receive("pong")["jobs"]
    deadline = time.monotonic() + PATIENCE
    while jobs():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.close()


def test_ping_is_answered_while_working(child):
    child.receive("ready")
    connection, response = child.run(job(sampling=ENDLESS))
    child.send({"msg": "ping", "seq": 5})
    pong = child.receive("pong")
    assert pong["seq"] == 5 and pong["jobs"] == 1
    response.close()
    connection.close()


def test_a_request_to_end_the_reasoning_breaks_nothing(child):
    """Of a job that runs and does not reason, and of one that there is not."""
    child.receive("ready")
    connection, response = child.run(job(sampling={"max_tokens": 60, "ignore_eos": True}))
    response.readline()
    for name in ("t1", "nobody"):
        child.send({"msg": "end_reasoning", "job": name})
    child.send({"msg": "ping", "seq": 5})
    assert child.receive("pong")["seq"] == 5
    frames = [json.loads(line) for line in response.read().splitlines()]
    assert frames[-1]["ev"] == "end" and frames[-2]["output"] == 60
    connection.close()


def test_closing_the_connection_cancels(child):
    child.receive("ready")
    connection, response = child.run(job(sampling=ENDLESS))
    response.readline()
    response.close()
    connection.close()

    def jobs():
        child.send({"msg": "ping", "seq": 1})
        return child.receive("pong")["jobs"]
    deadline = time.monotonic() + PATIENCE
    while jobs():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_stop_finishes_what_runs(child):
    child.receive("ready")
    connection, response = child.run(job(sampling={"max_tokens": 60, "ignore_eos": True}))
    response.readline()
    child.send({"msg": "stop", "grace_ms": 3600000})
    frames = [json.loads(line) for line in response.read().splitlines()]
    assert frames[-1]["ev"] == "end"
    connection.close()
    assert child.process.wait(PATIENCE) == 0


def test_end_of_the_control_line_ends_the_child(child):
    child.receive("ready")
    child.lines.close()
    child.control.close()
    child.process.wait(PATIENCE)


@pytest.mark.parametrize("backend", list(BACKENDS))
def test_a_file_that_is_no_model(backend, tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\xff" * 64)
    child = Child(BACKENDS[backend][0], path)
    failed = child.receive("failed")
    assert failed["error"]["message"] and failed["error"]["code"] in ("format", "limit")
    child.close()
