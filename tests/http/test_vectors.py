"""Embeddings and reranking with many inputs: what arrives, what the router needs for it, children that break the
contract, clients that leave or do not read. The models are remote ones whose process is the fake backend
(tests/fake_backend.c), which gets its options by the definition's "model"."""
import array
import base64
import contextlib
import http.client
import json
import shutil
import socket
import threading
import time

import pytest
from conftest import BUILD, PATIENCE_S, SANITIZED, House, keeping, wait_until

MANY, DIMENSIONS = 10_000, 1024
MEMORY_KIB = 8 * 1024  # what the router may need on top of the request itself and what is on its way to the client


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fakes")
    for name in ("quince-llm", "quince-bridge"):
        shutil.copy(BUILD / "tests" / "fake_backend", folder / name)
    shutil.copy(BUILD / "bin" / "quince-inspect", folder)
    with keeping(House(tmp_path_factory.mktemp("vectors"), folder)) as h:
        yield h


@pytest.fixture(scope="module")
def server(far):
    return far.start()


def model(server, name, **options):
    reply = server.post("/v1/models/register", {"model_name": f"user.{name}", "recipe": "remote",
                                                "model": json.dumps(options), "base_url": "http://127.0.0.1:9/v1"})
    assert reply.status == 200, reply.body
    return f"user.{name}"


def value(text, k):
    """Number k of the fake backend's vector for a text, or for a list of token ids."""
    h = 2166136261
    for byte in text.encode() if isinstance(text, str) else b"".join(t.to_bytes(4, "little") for t in text):
        h = (h ^ byte) * 16777619 % 2**32
    h = (h + k * 0x9E3779B9) % 2**32
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    h ^= h >> 16
    return array.array("f", [(h - 2**32 if h >= 2**31 else h) / 2**31])[0]


def bits(numbers):
    return array.array("f", numbers).tobytes()


def embed(server, name, inputs, **fields):
    return server.post("/v1/embeddings", {"model": name, "input": inputs, **fields})


@pytest.fixture(scope="module")
def small(server):
    return model(server, "small", dimensions=4)


@pytest.mark.parametrize("n", [1, 2, 64, 65, 1000])
def test_every_input_has_its_vector_in_its_place(server, small, n):
    """64 inputs are told whole, more as they come: the reply is the same."""
    inputs = [[i, 2**31 - 1] if i % 5 == 3 else f"text {i} ä" * (i % 7 + 1) for i in range(n)]
    floats, packed = (embed(server, small, inputs, encoding_format=f).json for f in ("float", "base64"))
    assert [d["index"] for d in floats["data"]] == list(range(n))
    assert ("Content-Length" in embed(server, small, inputs).headers) == (n <= 64)
    for i, text in enumerate(inputs):
        expected = bits(value(text, k) for k in range(4))
        assert bits(floats["data"][i]["embedding"]) == expected
        assert base64.b64decode(packed["data"][i]["embedding"]) == expected
    assert floats["model"] == small and floats["usage"] == {"prompt_tokens": 7, "total_tokens": 7}
    if n > 3:
        return
    assert server.post("/api/embed", {"model": small, "input": inputs}).json["embeddings"] == [
        d["embedding"] for d in floats["data"]]


def test_ollama(server, small):
    texts = [f"text {i}" for i in range(100)]
    reply = server.post("/api/embed", {"model": small, "input": texts})
    assert reply.status == 200, reply.body
    for text, vector in zip(texts, reply.json["embeddings"], strict=True):
        assert bits(vector) == bits(value(text, k) for k in range(4))
    assert reply.json["model"] == small and reply.json["prompt_eval_count"] == 7 and reply.json["total_duration"] >= 0
    assert bits(server.post("/api/embed", {"model": small, "input": "a"}).json["embeddings"][0]) == bits(
        value("a", k) for k in range(4))
    assert bits(server.post("/api/embeddings", {"model": small, "prompt": "a"}).json["embedding"]) == bits(
        value("a", k) for k in range(4))
    assert server.post("/api/embed", {"model": small, "input": []}).json["embeddings"] == []
    assert server.post("/api/embeddings", {"model": small, "prompt": ""}).json == {"embedding": []}
    assert server.post("/api/embed", {"model": "user.nobody", "input": texts}).status == 404


def test_reranking_many(server, small):
    texts = [f"document {i}" for i in range(5000)]
    scores = [value(text, 0) for text in texts]
    reply = server.post("/v1/rerank", {"model": small, "query": "q", "documents": texts})
    assert reply.status == 200, reply.body[:300]
    assert [r["index"] for r in reply.json["results"]] == list(range(5000))
    assert bits(r["relevance_score"] for r in reply.json["results"]) == bits(scores)
    best = sorted(range(5000), key=lambda i: (-scores[i], i))[:10]
    reply = server.post("/v1/rerank", {"model": small, "query": "q", "documents": texts, "top_n": 10,
                                       "return_documents": True}).json["results"]
    assert [r["index"] for r in reply] == sorted(best)
    assert [r["document"]["text"] for r in reply] == [texts[i] for i in sorted(best)]


# ---- Memory ----

class Peak:
    """The most that a process occupied while the block ran, in KiB, above what it had before."""

    def __init__(self, pid):
        self.status, self.clear = f"/proc/{pid}/status", f"/proc/{pid}/clear_refs"

    def read(self, key):
        return next(int(line.split()[1]) for line in open(self.status) if line.startswith(key))

    def __enter__(self):
        with open(self.clear, "w") as f:
            f.write("5")  # VmHWM starts anew
        self.before = self.read("VmRSS:")
        return self

    def __exit__(self, *_):
        self.grown = self.read("VmHWM:") - self.before


def drain(server, path, body, take=1 << 20, wait_s=0.0):
    """The whole reply without keeping it: status, bytes, beginning, end."""
    with contextlib.closing(server.connect()) as c:
        c.request("POST", path, body, {"Content-Type": "application/json"})
        response = c.getresponse()
        n, begin, end = 0, b"", b""
        while piece := response.read(take):
            begin = begin or piece[:100]
            end = (end + piece)[-200:]
            n += len(piece)
            time.sleep(wait_s)
        return response.status, n, begin, end


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="sanitizers have memory of their own, and keep what is freed")
@pytest.mark.parametrize("form", ["float", "base64"])
def test_ten_thousand_vectors_need_little_memory(far, form):
    """40 MiB of floats, more than 100 MiB of JSON: neither the router nor the model's process holds them."""
    server = far.start()
    name = model(server, "wide", dimensions=DIMENSIONS)
    texts = [f"text {i}" for i in range(MANY)]
    body = json.dumps({"model": name, "input": texts, "encoding_format": form}).encode()
    assert embed(server, name, "warm").status == 200
    # What reading such a body costs is counted before: it is the same in a request that is refused.
    refused = json.dumps({"model": name, "input": texts + [5]}).encode()
    for _ in range(2):
        assert server.post("/v1/embeddings", refused).status == 400
    (child,) = server.children()
    with Peak(server.process.pid) as router, Peak(child) as process:
        status, n, begin, end = drain(server, "/v1/embeddings", body)
    assert status == 200 and begin.startswith(b'{"object":"list","data":[{"object":"embedding","index":0,')
    assert end.endswith(b'"model":"%s","usage":{"prompt_tokens":7,"total_tokens":7}}' % name.encode())
    assert n > MANY * DIMENSIONS * (5 if form == "base64" else 9)
    print(f"{form}: {n >> 20} MiB of reply, router +{router.grown} KiB, child +{process.grown} KiB")
    assert router.grown < MEMORY_KIB and process.grown < MEMORY_KIB
    server.stop()


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="sanitizers have memory of their own, and keep what is freed")
def test_a_client_that_reads_slowly_holds_the_child_back(far):
    server = far.start()
    name = model(server, "slow", dimensions=DIMENSIONS)
    texts = [f"text {i}" for i in range(MANY)]
    body = json.dumps({"model": name, "input": texts}).encode()
    refused = json.dumps({"model": name, "input": texts + [5]}).encode()
    assert embed(server, name, "warm").status == 200 and server.post("/v1/embeddings", refused).status == 400
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
        s.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(body) + body)
        (child,) = server.children()
        with Peak(server.process.pid) as router, Peak(child) as process:
            assert s.recv(1000).startswith(b"HTTP/1.1 200 ")
            busy = cpu(child)
            while (now := cpu(child)) != busy:  # until the child stands still
                busy = now
                time.sleep(0.3)
            for _ in range(10):
                assert server.get("/live").status == 200
        assert router.grown < MEMORY_KIB and process.grown < MEMORY_KIB
    assert embed(server, name, ["a", "b"]).status == 200
    server.stop()


def cpu(pid):
    """Clock ticks that a process has computed."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="a hundred thousand inputs take long")
def test_a_hundred_thousand_inputs(server, small):
    n = 100_000
    body = json.dumps({"model": small, "input": [f"{i}" for i in range(n)], "encoding_format": "base64"}).encode()
    reply = server.post("/v1/embeddings", body)
    data = reply.json["data"]
    assert len(data) == n and all(d["index"] == i for i, d in enumerate(data))
    for i in (0, 63, 64, 50_000, n - 1):
        assert base64.b64decode(data[i]["embedding"]) == bits(value(f"{i}", k) for k in range(4))


def test_a_long_text_among_short_ones(server, small):
    texts = ["a", "x" * 600_000, "b", "ä" * 150_000, "c"]
    reply = embed(server, small, texts)
    assert reply.status == 200, reply.body[:300]
    assert [bits(d["embedding"]) for d in reply.json["data"]] == [bits(value(t, k) for k in range(4)) for t in texts]


def test_too_many_inputs(server, small):
    reply = embed(server, small, [""] * 10)
    assert reply.status == 400 and "input[0]" in reply.json["error"]["message"]
    reply = server.post("/v1/embeddings", b'{"model":"%s","input":["a"%s]}' % (small.encode(), b',"a"' * 1_000_000))
    assert reply.status == 400 and "at most 1000000 inputs" in reply.json["error"]["message"], reply.body[:300]


# ---- Children that break the contract ----

NO_EVENTS = ["nan", "inf", "bytes"]  # what the router cannot even read: the process is replaced, which takes seconds
OUT_OF_TURN = ["dimension", "twice", "skip", "beyond", "kind", "missing"]


def faulty(server, fault):
    return model(server, f"broken-{fault}", fault=fault, fault_after=10, results=10)


@pytest.mark.parametrize("fault", NO_EVENTS + OUT_OF_TURN)
def test_broken_results_have_a_status(server, fault):
    name = faulty(server, fault)
    texts = [f"{i}" for i in range(60)]
    asks = [("/v1/embeddings", {"input": texts}), ("/api/embed", {"input": texts}),
            ("/v1/rerank", {"query": "q", "documents": texts * 3})]
    for path, body in asks[:1] if fault in NO_EVENTS else asks:
        if fault == "dimension" and path == "/v1/rerank":
            continue  # a score has none: that is "bytes"
        reply = server.post(path, {"model": name, **body})
        assert reply.status == 502 and reply.json["error"], (path, reply.status, reply.body[:300])
    server.post("/v1/delete", {"model_name": name})


@pytest.mark.parametrize("fault", ["nan", *OUT_OF_TURN])
def test_broken_results_break_off_a_reply_that_has_begun(server, fault):
    """It would be taken for a whole one otherwise."""
    name = faulty(server, fault)
    with contextlib.closing(server.connect()) as c:
        c.request("POST", "/v1/embeddings", json.dumps({"model": name, "input": [f"{i}" for i in range(200)]}),
                  {"Content-Type": "application/json"})
        response = c.getresponse()
        if response.status == 200:
            with pytest.raises((OSError, http.client.HTTPException)):
                response.read()
        else:  # nothing of the reply had been sent when the fault came
            assert response.status == 502 and json.loads(response.read())["error"]
    server.post("/v1/delete", {"model_name": name})
    assert server.get("/live").status == 200


def test_a_child_that_dies_before_the_first_vector_is_forgiven(server, far):
    """The second attempt sends the inputs again, from the first; of what the first one said nothing is left."""
    mark = far.tmp_path / "dead"
    name = model(server, "dies", fault="die", fault_after=20, results=20, crash_when=str(mark))
    mark.touch()
    texts = [f"{i}" for i in range(60)]
    result = []
    t = threading.Thread(target=lambda: result.append(embed(server, name, texts)))
    t.start()
    wait_until(lambda: "retry=1" in server.logs(), what="the first death")
    mark.unlink()
    t.join()
    assert result[0].status == 200, result[0].body[:300]
    assert [bits(d["embedding"]) for d in result[0].json["data"]] == [bits(value(x, k) for k in range(4)) for x in texts]


# ---- Clients that leave ----

def cancelled(server, name):
    """What the model's process says of jobs that were taken from it."""
    return [line for line in server.logs().splitlines() if name in line and "cancelled id=" in line]


def test_a_client_that_leaves_in_the_middle_frees_everything(server):
    name = model(server, "left", dimensions=DIMENSIONS, token_ms=100)
    assert embed(server, name, "warm").status == 200
    texts = ["x" * 8000] * 3000  # far more than sockets take: the child has not read most of it
    body = json.dumps({"model": name, "input": texts}).encode()
    descriptors = server.descriptors()
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
        s.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert s.recv(1000).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: cancelled(server, name), what="the job's end in the child")
    line = cancelled(server, name)[0]
    assert int(line.split("said=")[1].split()[0]) < 2000  # it did not go on to the end
    wait_until(lambda: server.descriptors() <= descriptors, what="the sockets' end")
    assert embed(server, name, ["a"]).status == 200


def test_inputs_of_others_do_not_wait(server, small):
    """While one request of many inputs is computed slowly, another of the same model is answered."""
    name = model(server, "shared", token_ms=50, slots=4)
    done = []
    t = threading.Thread(target=lambda: done.append(embed(server, name, [f"{i}" for i in range(2000)])))
    t.start()
    wait_until(lambda: server.get("/v1/health").json["all_models_loaded"], what="the model")
    for _ in range(3):
        assert embed(server, name, ["a"]).status == 200
    t.join()
    assert done[0].status == 200 and len(done[0].json["data"]) == 2000
