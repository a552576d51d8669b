"""Downloads over real sockets: POST pull and Ollama's, the jobs behind them, what sharing, pausing, leaving,
full disks and kills do to them. The hub is the tests' own; its models are tiny, and the fake backend runs them."""
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import threading
import time
import zipfile

import pytest
from conftest import Depot, Ticker, model_file, wait_until
from hub_others import OllamaRegistry
from hub_server import TOKEN
from kill_pull import kill_and_finish
from test_media import transcribe

REPO = "unsloth/Phi-4-mini-instruct-GGUF"


FILES = {"Phi-4-mini-instruct-Q4_K_M.gguf": model_file("q4"),
         "Phi-4-mini-instruct-Q8_0.gguf": model_file("q8", 6000),
         "README.md": b"# Phi"}


@pytest.fixture
def depot(house, hub):
    hub.repo(REPO, dict(FILES))
    return Depot(house, hub)


def pull(server, **fields):
    return server.post("/api/v1/pull", fields)


def phi(server, **fields):
    return pull(server, model_name="user.Phi-4-Mini-GGUF", checkpoint=f"{REPO}:Q4_K_M", recipe="llamacpp", **fields)


class Stream:
    """A streamed pull: (event, data) pairs as they come."""

    def __init__(self, server, path="/api/v1/pull", headers=None, **fields):
        self.connection = server.connect()
        self.connection.request("POST", path, json.dumps({"stream": True, **fields}),
                                {"Content-Type": "application/json", **(headers or {})})
        self.response = self.connection.getresponse()
        self.name = None

    def __iter__(self):
        for raw in self.response:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                self.name = line[7:]
            elif line.startswith("data: "):
                yield self.name, json.loads(line[6:])

    def all(self):
        found = list(self)
        self.close()
        return found

    def close(self):
        self.connection.close()


def jobs(server):
    return {j["id"]: j for j in server.get("/v1/downloads?all=true").json}


def job(server, name):
    return jobs(server).get("model:" + name)


def control(server, name, action, **more):
    return server.post("/v1/downloads/control", {"id": "model:" + name, "action": action, **more})


def listed(server):
    return {m["id"] for m in server.get("/v1/models").json["data"]}


def slow(hub, name, rate=200_000):
    return hub.fault(name, rate=rate, host="files")


def held(hub, name, after=200_000):
    """A download that comes so far and no further, until the fault's option is taken away."""
    return hub.fault(name, hold=after, host="files")


# ---- the seed's examples ----

def test_pull_of_a_listed_model(depot):
    """Seed: {"model_name"} of the built-in list."""
    depot.listed({"Qwen3-0.6B-GGUF": {"checkpoint": f"{REPO}:Q8_0", "recipe": "llamacpp", "size": 0.1,
                                      "suggested": True, "labels": ["reasoning"]}})
    server = depot.start()
    assert "Qwen3-0.6B-GGUF" not in listed(server)
    reply = pull(server, model_name="Qwen3-0.6B-GGUF")
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success" and reply.json["message"] == "Installed model: Qwen3-0.6B-GGUF"
    assert reply.json["model_name"] == "Qwen3-0.6B-GGUF" and reply.json["recipe"] == "llamacpp"
    assert reply.json["checkpoint"] == f"{REPO}:Q8_0"
    entry = server.get("/api/v1/models/Qwen3-0.6B-GGUF").json
    assert entry["downloaded"] is True and entry["checkpoint"] == f"{REPO}:Q8_0" and "reasoning" in entry["labels"]
    assert server.chat("Qwen3-0.6B-GGUF").status == 200
    assert depot.hub.sent(host="files") == 6000 and not depot.leftovers()
    # Again: the hub is asked whether there is anything new, and nothing comes.
    assert pull(server, model_name="Qwen3-0.6B-GGUF").status == 200
    assert depot.hub.sent(host="files") == 6000
    asked = len(depot.hub.log)
    assert pull(server, model_name="Qwen3-0.6B-GGUF", do_not_upgrade=True).json["status"] == "success"
    assert len(depot.hub.log) == asked


def test_register_and_install(depot):
    """Seed: {"model_name", "checkpoint", "recipe"}."""
    server = depot.start()
    reply = phi(server)
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success" and reply.json["message"] == "Installed model: user.Phi-4-Mini-GGUF"
    entry = server.get("/v1/models/user.Phi-4-Mini-GGUF").json
    assert entry["checkpoint"] == f"{REPO}:Q4_K_M" and entry["recipe"] == "llamacpp" and entry["downloaded"]
    assert "custom" in entry["labels"]
    sha = hashlib.sha256(FILES["Phi-4-mini-instruct-Q4_K_M.gguf"]).hexdigest()
    assert (depot.blobs(REPO) / sha).read_bytes() == FILES["Phi-4-mini-instruct-Q4_K_M.gguf"]


def test_streamed_pull(depot):
    """Seed: progress events of each file, then complete; and every member of today's events."""
    depot.hub.repo("owner/split", {f"m-Q4_0-0000{i}-of-00002.gguf": model_file(f"s{i}", 100_000) for i in (1, 2)})
    slow(depot.hub, ".gguf", 400_000)
    server = depot.start()
    stream = Stream(server, model_name="user.split", checkpoint="owner/split:Q4_0", recipe="llamacpp")
    assert stream.response.status == 200
    assert stream.response.headers["Content-Type"].startswith("text/event-stream")
    said = stream.all()
    assert [name for name, _ in said][-1] == "complete" and {name for name, _ in said[:-1]} == {"progress"}
    for _, data in said[:-1]:
        assert {"file", "file_index", "total_files", "bytes_downloaded", "bytes_total", "percent",
                "total_download_size", "bytes_previously_downloaded", "completed_files_bytes",
                "bytes_per_second", "seconds_left"} <= set(data)
        assert data["total_files"] == 2 and data["total_download_size"] == 200_000
        assert data["bytes_total"] == 100_000 and data["percent"] == 100 * data["bytes_downloaded"] // 100_000
    whole = [d for _, d in said[:-1] if d["percent"] == 100]
    assert [(d["file"], d["file_index"]) for d in whole] == [("m-Q4_0-00001-of-00002.gguf", 1),
                                                             ("m-Q4_0-00002-of-00002.gguf", 2)]
    last = said[-1][1]
    assert (last["file_index"], last["total_files"], last["percent"]) == (2, 2, 100)
    assert last["status"] == "success" and last["model_name"] == "user.split"


def test_errors_of_pull(depot):
    server = depot.start()
    reply = pull(server, model_name="Nobody-Knows-GGUF")
    assert reply.status == 400 and reply.json["status"] == "error"
    assert reply.json["error"]["code"] == "unknown_model" and "Nobody-Knows" in reply.json["message"]
    for body, status, word in (
            ({}, 400, "model_name"),
            ({"model_name": 5}, 400, "model_name"),
            ({"model_name": "Phi", "checkpoint": REPO}, 400, "user."),
            ({"model_name": "user./../x", "checkpoint": REPO}, 400, "name"),
            ({"model_name": "user.x", "checkpoint": REPO, "recipe": "flm"}, 400, "flm"),
            ({"model_name": "user.x", "checkpoint": REPO, "recipe": "nonsense"}, 400, "nonsense"),
            ({"model_name": "user.x", "checkpoint": REPO, "labels": "vision"}, 400, "labels"),
            ({"model_name": "user.x", "checkpoint": REPO, "source": "nowhere"}, 400, "nowhere"),
            ({"model_name": "user.x", "checkpoint": "no such form"}, 400, ""),
            ({"model_name": "user.x", "checkpoints": {"vae": REPO}}, 400, "main"),
            ({"model_name": "user.x", "checkpoint": "owner/nothing:Q4_0"}, 404, "owner/nothing"),
            ({"model_name": "user.x", "checkpoint": f"{REPO}:Q2_K"}, 404, "Q4_K_M")):
        for stream in (False, True):
            reply = pull(server, stream=stream, **body)
            assert reply.status == status, (body, reply.status, reply.body)
            assert reply.json["status"] == "error" and word in reply.json["message"], (body, reply.body)
    reply = server.post("/v1/pull", "{")
    assert reply.status == 400
    assert not depot.leftovers() and "user.x" not in listed(server)


def test_an_error_after_the_first_bytes_is_an_event(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 400_000)})
    slow(depot.hub, "m-Q4_0.gguf", 200_000)
    server = depot.start()
    stream = Stream(server, model_name="user.large", checkpoint="owner/large:Q4_0")
    it = iter(stream)
    assert next(it)[0] == "progress"
    control(server, "user.large", "cancel")
    name, data = list(it)[-1]
    assert name == "error" and "cancelled" in data["error"] and data["code"] == "cancelled"


def test_labels_projector_and_checkpoints(depot):
    depot.hub.repo("owner/see", {"see-Q4_0.gguf": model_file("see"), "mmproj-F16.gguf": model_file("eye"),
                                 "mmproj-F32.gguf": model_file("eye2")})
    server = depot.start()
    assert pull(server, model_name="user.see", checkpoint="owner/see:Q4_0", mmproj="mmproj-F32.gguf", vision=True,
                reasoning=True, labels=["coding", "vision"]).status == 200
    entry = server.get("/v1/models/user.see").json
    assert set(entry["labels"]) == {"custom", "coding", "vision", "reasoning"}
    files = {f["role"]: f["name"] for f in server.get("/v1/models/user.see/files").json["files"]}
    assert files["main"].endswith("see-Q4_0.gguf") and files["mmproj"].endswith("mmproj-F32.gguf")
    reply = pull(server, model_name="user.see2", checkpoints={"mmproj": "owner/see:mmproj-F16.gguf",
                                                              "main": "owner/see:Q4_0"})
    assert reply.status == 200 and reply.json["recipe"] == "llamacpp"  # found out from the files
    files = {f["role"]: f["name"] for f in server.get("/v1/models/user.see2/files").json["files"]}
    assert files["mmproj"].endswith("mmproj-F16.gguf")
    assert "vision" in server.get("/v1/models/user.see2").json["labels"]
    assert depot.hub.sent("see-Q4_0.gguf") + len(depot.hub.requests(host="files")) < 100 * 4096


def test_a_local_import_makes_no_request(depot):
    server = depot.start()
    assert phi(server).status == 200
    server.stop()
    asked = len(depot.hub.log)
    server = depot.start("--offline")
    reply = pull(server, model_name="user.again", checkpoint=f"{REPO}:Q4_K_M", local_import=True)
    assert reply.status == 200, reply.body
    assert "user.again" in listed(server)
    # Offline, everything is so; what is not here is refused.
    assert pull(server, model_name="user.third", checkpoint=f"{REPO}:Q4_K_M").status == 200
    reply = pull(server, model_name="user.x", checkpoint=f"{REPO}:Q8_0")
    assert reply.status == 400 and reply.json["error"]["code"] == "lemond_offline", reply.body
    assert pull(server, model_name="user.Phi-4-Mini-GGUF").status == 200
    assert len(depot.hub.log) == asked


def test_offline_is_not_why_no_engine_runs_a_model(depot):
    depot.listed({"talker": {"checkpoint": "owner/talker:x.q4nx", "recipe": "flm", "size": 0.1, "labels": [],
                             "suggested": True}})
    for flags in ((), ("--offline",)):
        server = depot.start(*flags)
        for fields in ({"model_name": "talker"},
                       {"model_name": "user.t", "checkpoint": "owner/talker:x.q4nx", "recipe": "flm"}):
            reply = pull(server, **fields)
            assert (reply.status, reply.json["error"]["code"]) == (400, "unsupported"), (flags, reply.body)
            assert "cannot be run here" in reply.json["error"]["message"]
        server.stop()


def test_offline_a_pull_fails_at_once(depot):
    """A download of the last run waits until the server is online again; who asks for it now is told."""
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    fields = {"model_name": "user.m", "checkpoint": "owner/large:Q4_0"}
    stream = Stream(server, **fields)
    next(iter(stream))
    stream.close()
    server.stop()
    server = depot.start("--offline")
    reply = server.post("/api/v1/pull", fields)
    assert reply.status == 400 and reply.json["error"]["code"] == "lemond_offline", reply.body
    assert control(server, "user.m", "pause").json["status"] == "paused"
    assert server.post("/api/v1/pull", fields).status == 400
    server.stop()
    depot.hub.heal()
    server = depot.start()
    assert server.post("/api/v1/pull", fields).status == 200


def test_offline_while_it_runs(depot):
    """A setting that takes effect at once: downloads wait, clients are told, and no hub gets a request."""
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    slow(depot.hub, "m-Q4_0.gguf", 100_000)
    server = depot.start()
    fields = {"model_name": "user.m", "checkpoint": "owner/large:Q4_0"}
    stream = Stream(server, **fields)
    next(iter(stream))
    reply = server.post("/internal/set", {"offline": True, "download_threads": 1})
    assert reply.status == 200 and reply.json["restart_required"] == [], reply.body
    kind, last = list(stream)[-1]
    assert kind == "error" and "offline" in json.dumps(last), (kind, last)
    wait_until(lambda: job(server, "user.m")["phase"] == "waiting", what="the end of the transfer")
    asked = len(depot.hub.log)
    reply = server.post("/api/v1/pull", fields)
    assert reply.status == 400 and reply.json["error"]["code"] == "lemond_offline", reply.body
    assert server.get("/v1/registry/search?query=phi").json["error"]["code"] == "lemond_offline"
    assert len(depot.hub.log) == asked
    depot.hub.heal()
    assert server.post("/internal/set", {"offline": False}).status == 200
    assert server.post("/api/v1/pull", fields).status == 200


def test_gated_repositories(depot):
    depot.hub.repo("owner/gated", {"g-Q4_0.gguf": model_file("g")}, gated=True)
    server = depot.start()
    reply = pull(server, model_name="user.g", checkpoint="owner/gated:Q4_0")
    assert reply.status in (400, 403, 404) and "HF_TOKEN" in reply.json["message"], reply.body
    server.stop()
    token = depot.data / "home" / ".cache" / "huggingface" / "token"
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text(TOKEN)
    server = depot.start()
    assert pull(server, model_name="user.g", checkpoint="owner/gated:Q4_0").status == 200
    for r in depot.hub.requests(host="files"):
        assert "Authorization" not in r.headers


# ---- Ollama's ----

def lines(reply):
    return [json.loads(line) for line in reply.body.decode().splitlines()]


def test_ollama_pull(depot):
    data = FILES["Phi-4-mini-instruct-Q8_0.gguf"]
    server = depot.start()
    name = f"hf.co/{REPO}:Q8_0"
    reply = server.post("/api/pull", {"model": name})
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/x-ndjson", reply.body
    said = lines(reply)
    sha = hashlib.sha256(data).hexdigest()
    assert said[0] == {"status": "pulling manifest"}
    assert {"status": f"pulling {sha[:12]}", "digest": f"sha256:{sha}", "total": 6000, "completed": 6000} in said
    assert [s["status"] for s in said[-3:]] == ["verifying sha256 digest", "writing manifest", "success"]
    assert any(m["name"] == name for m in server.get("/api/tags").json["models"])
    assert server.post("/api/chat", {"model": name, "stream": False,
                                     "messages": [{"role": "user", "content": "hi"}]}).status == 200
    assert server.post("/api/pull", {"name": name, "stream": False}).json == {"status": "success"}
    reply = server.post("/api/pull", {"model": "hf.co/owner/nothing"})
    assert reply.status == 404 and "owner/nothing" in reply.json["error"]
    assert server.post("/api/pull", {}).status == 400


def test_what_ollama_sends_beside_the_weights(depot):
    """Parameters, a system message and the beginning of a conversation are the model's; nonsense is left out."""
    ollama = OllamaRegistry(depot.hub)
    ollama.model("library/tiny", "1b", model=model_file("tiny"), system=b"Be brief.",
                 params=b'{"temperature": 0.25, "stop": ["END"]}')
    ollama.model("library/odd", "1b", model=model_file("odd"), system=b"Be odd.", params=b'{"temperature": "hot"}')
    server = depot.start("--ollama-registry", depot.hub.url)
    for name in ("tiny:1b", "odd:1b"):
        reply = server.post("/api/pull", {"model": name, "stream": False})
        assert reply.status == 200, reply.body
        assert server.chat(name).status == 200
    show = server.post("/api/show", {"model": "tiny:1b"}).json
    assert show["system"] == "Be brief." and "0.25" in show["parameters"] and "END" in show["parameters"]
    show = server.post("/api/show", {"model": "odd:1b"}).json
    assert show["system"] == "Be odd." and "hot" not in show.get("parameters", "")


def test_transcriptions_install_their_model(depot):
    """Seed: the model of audio/transcriptions is downloaded at its first use."""
    depot.hub.repo("ggerganov/whisper.cpp", {"ggml-tiny.bin": model_file("tiny")})
    depot.listed({"Whisper-Tiny": {"checkpoint": "ggerganov/whisper.cpp:ggml-tiny.bin", "recipe": "whispercpp",
                                   "size": 0.1, "labels": ["transcription"]}})
    server = depot.start()
    reply = transcribe(server, "Whisper-Tiny")
    assert reply.status == 200 and "text" in reply.json, reply.body
    assert "Whisper-Tiny" in listed(server)


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in files.items():
            z.writestr(name, data)
    return out.getvalue()


def test_archives(depot):
    """From an address and from a repository: taken apart, loaded, deleted with all that came in it."""
    files = {"model/see-Q4_0.gguf": model_file("see"), "model/mmproj-F16.gguf": model_file("eye"), "README.md": b"#"}
    depot.hub.files["see.zip"] = packed(files)
    depot.hub.repo("owner/packed", {"see.zip": packed({**files, "more.txt": b"more"}), "x-Q4_0.gguf": model_file("x")})
    server = depot.start()
    for name, checkpoint in (("user.a", depot.hub.plain("see.zip")), ("user.b", "owner/packed:see.zip")):
        reply = pull(server, model_name=name, checkpoint=checkpoint, recipe="llamacpp")
        assert reply.status == 200, reply.body
        assert server.chat(name).status == 200
        roles = {f["role"]: f for f in server.get(f"/v1/models/{name}/files?include_paths=true").json["files"]}
        assert roles["main"]["path"].endswith("model/see-Q4_0.gguf") and roles["mmproj"]["path"].endswith("mmproj-F16.gguf")
        assert pathlib.Path(roles["main"]["path"]).read_bytes() == files["model/see-Q4_0.gguf"]
        assert not list(depot.data.rglob("see.zip")) and not depot.leftovers()
    asked = len(depot.hub.log)
    assert pull(server, model_name="user.a").status == 200 and len(depot.hub.log) == asked
    for name in ("user.a", "user.b"):
        reply = server.post("/v1/delete", {"model_name": name})
        assert reply.status == 200 and reply.json["files_removed"] >= 3, reply.body
    assert not list(depot.data.rglob("see-Q4_0.gguf"))


def test_archives_that_are_refused(depot):
    for name, data, word in (("none.zip", packed({"a.txt": b"a"}), "no model"), ("broken.zip", b"PK no", ""),
                             ("evil.zip", packed({"../../evil.gguf": model_file("evil")}), "")):
        depot.hub.files[name] = data
    server = depot.start()
    for name, word in (("none.zip", "no model"), ("broken.zip", ""), ("evil.zip", "")):
        reply = pull(server, model_name="user.x", checkpoint=depot.hub.plain(name), recipe="llamacpp")
        assert reply.status >= 400 and word in reply.json["message"], (name, reply.body)
        assert "user.x" not in listed(server)
    assert not list(depot.house.tmp_path.rglob("*evil.gguf"))


# ---- one transfer for all ----

def test_clients_share_one_transfer(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 300_000)})
    slow(depot.hub, "m-Q4_0.gguf", 300_000)
    server = depot.start()
    replies = []

    def ask(name):
        replies.append(pull(server, model_name=name, checkpoint="owner/large:Q4_0").status)

    threads = [threading.Thread(target=ask, args=(f"user.{n}",)) for n in ("one", "one", "one", "two", "three")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert replies == [200] * 5
    assert depot.hub.sent(host="files") == 300_000
    assert {"user.one", "user.two", "user.three"} <= listed(server)


def test_another_source_for_a_name_that_is_coming(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 400_000)})
    held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    stream = Stream(server, model_name="user.m", checkpoint="owner/large:Q4_0")
    next(iter(stream))
    reply = pull(server, model_name="user.m", checkpoint=f"{REPO}:Q4_K_M")
    assert reply.status == 409 and "owner/large" in reply.json["message"]
    stream.close()


# ---- clients that leave ----

def test_a_download_goes_on_without_its_client(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 300_000)})
    slow(depot.hub, "m-Q4_0.gguf", 300_000)
    server = depot.start()
    stream = Stream(server, model_name="user.m", checkpoint="owner/large:Q4_0")
    next(iter(stream))
    stream.close()
    wait_until(lambda: "user.m" in listed(server), what="the model")
    assert depot.hub.sent(host="files") == 300_000


def test_a_client_that_takes_its_download_along(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 400_000)})
    held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    fields = {"model_name": "user.m", "checkpoint": "owner/large:Q4_0", "cancel_on_disconnect": True}
    first, second = Stream(server, **fields), Stream(server, **fields)
    next(iter(first))
    next(iter(second))
    first.close()
    for _ in range(20):  # it looks at everything at each
        assert server.get("/live").status == 200
    assert job(server, "user.m")["status"] == "downloading"
    second.close()
    wait_until(lambda: job(server, "user.m")["status"] == "cancelled", what="the cancellation")
    wait_until(lambda: not depot.leftovers(), what="the partial's removal")


def test_a_job_without_a_watcher(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 200_000)})
    slow(depot.hub, "m-Q4_0.gguf", 200_000)
    server = depot.start()
    reply = pull(server, model_name="user.m", checkpoint="owner/large:Q4_0", stream=True, subscribe=False)
    assert reply.status == 200
    assert reply.json["id"] == "model:user.m" and reply.json["type"] == "model"
    assert reply.json["status"] == "downloading" and reply.json["complete"] is False
    wait_until(lambda: job(server, "user.m")["status"] == "completed", what="the job")
    done = job(server, "user.m")
    assert done["percent"] == 100 and done["complete"] and not done["running"]
    assert done["cumulative_bytes_downloaded"] == done["total_download_size"] == 200_000


# ---- control ----

def test_pause_restart_resume(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    fault = held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    stream = Stream(server, model_name="user.m", checkpoint="owner/large:Q4_0")
    for _, data in stream:
        if data["bytes_downloaded"] > 100_000:
            break
    assert control(server, "user.m", "pause").json["status"] == "paused"
    assert list(stream)[-1][0] == "error"
    wait_until(lambda: not job(server, "user.m")["running"], what="the pause")
    at = job(server, "user.m")["cumulative_bytes_downloaded"]
    assert 100_000 < at < 600_000
    assert server.stop() == 0
    server = depot.start()
    time.sleep(0.5)
    paused = job(server, "user.m")
    assert paused["status"] == "paused" and paused["cumulative_bytes_downloaded"] >= at - 1
    del fault.options["hold"]
    assert control(server, "user.m", "resume").json["status"] == "downloading"
    wait_until(lambda: "user.m" in listed(server), what="the model")
    blob = next(depot.blobs("owner/large").iterdir())
    assert blob.read_bytes() == model_file("large", 600_000)
    # One buffer a connection may have come twice.
    assert depot.hub.sent(host="files") <= 600_000 + 8 * 128 * 1024


def test_cancel_and_remove(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    for action in ("cancel", "remove"):
        stream = Stream(server, model_name="user.m", checkpoint="owner/large:Q4_0")
        wait_until(depot.leftovers, what="a partial")
        assert control(server, "user.m", action).status == 200
        assert list(stream)[-1][0] == "error"
        wait_until(lambda: not depot.leftovers(), what="the partial's removal")
    assert job(server, "user.m") is None
    assert control(server, "user.m", "remove").json == {"status": "ok", "missing": True}
    assert control(server, "user.m", "pause").status == 404
    assert control(server, "user.m", "dance").status == 400
    assert server.post("/v1/downloads/control", {"id": "x"}).status == 400
    assert server.post("/v1/downloads/control", {"action": "pause"}).status == 400


def test_threads_and_priorities(depot):
    for n in range(3):
        depot.hub.repo(f"owner/m{n}", {f"m{n}-Q4_0.gguf": model_file(f"m{n}", 300_000)})
    fault = held(depot.hub, ".gguf", 100_000)
    server = depot.start("--download-threads", "1")

    def begin(n, **more):
        pull(server, model_name=f"user.m{n}", checkpoint=f"owner/m{n}:Q4_0", stream=True, subscribe=False, **more)

    begin(0)
    wait_until(lambda: job(server, "user.m0")["phase"] == "fetching", what="the first")
    begin(1)
    wait_until(lambda: job(server, "user.m1")["phase"] == "waiting", what="the second")
    begin(2, priority=5)
    wait_until(lambda: job(server, "user.m2")["phase"] == "fetching", what="the third, before the others")
    assert job(server, "user.m0")["phase"] == "waiting" and job(server, "user.m0")["status"] == "downloading"
    control(server, "user.m1", "priority", priority=9)
    wait_until(lambda: job(server, "user.m1")["phase"] == "fetching", what="the second, now first")
    del fault.options["hold"]
    wait_until(lambda: {"user.m0", "user.m1", "user.m2"} <= listed(server), what="all")


def test_the_bandwidth_limit(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 400_000)})
    server = depot.start("--bandwidth-limit", "200")
    begun = time.monotonic()
    assert pull(server, model_name="user.m", checkpoint="owner/large:Q4_0").status == 200
    assert time.monotonic() - begun > 1.0


# ---- a server that ends ----

def test_a_stopped_server_goes_on_at_its_next_start(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    fault = held(depot.hub, "m-Q4_0.gguf")
    server = depot.start()
    stream = Stream(server, model_name="user.m", checkpoint="owner/large:Q4_0")
    for _, data in stream:
        if data["bytes_downloaded"] > 100_000:
            break
    assert server.stop() == 0  # what it waited for would never come
    name, data = list(stream)[-1]
    assert name == "error" and "stopping" in data["error"]
    del fault.options["hold"]
    server = depot.start()
    wait_until(lambda: "user.m" in listed(server), what="the model")
    assert depot.hub.sent(host="files") <= 600_000 + 8 * 128 * 1024


def test_kills(depot):
    """The short form of tests/soak/soak_pull.py."""
    kill_and_finish(depot, kills=5, seed=1)


def test_a_full_disk(tmp_path, fake_backend_dir):
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode:
        pytest.skip("this system does not permit mounting a small disk")
    script = pathlib.Path(__file__).with_name("disk_pull.py")
    run = subprocess.run(["unshare", "-rm", sys.executable, str(script), str(tmp_path), str(fake_backend_dir)],
                         capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and "passed" in run.stdout, run.stdout + run.stderr


# ---- loading what is not here ----

def test_load_installs_first(depot):
    depot.listed({"Phi-GGUF": {"checkpoint": f"{REPO}:Q4_K_M", "recipe": "llamacpp", "size": 0.1, "labels": []}})
    server = depot.start()
    reply = server.post("/api/v1/load", {"model_name": "Phi-GGUF"})
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success" and reply.json["model_name"] == "Phi-GGUF"
    assert "Phi-GGUF" in listed(server)
    assert server.post("/api/v1/load", {"model_name": "Nobody"}).status == 404
    server.stop()


def test_load_offline_does_not(depot):
    depot.listed({"Phi-GGUF": {"checkpoint": f"{REPO}:Q4_K_M", "recipe": "llamacpp", "size": 0.1, "labels": []}})
    server = depot.start("--offline")
    reply = server.post("/api/v1/load", {"model_name": "Phi-GGUF"})
    assert reply.status == 404, reply.body
    assert not depot.hub.log


def test_deleting_ends_the_download(depot):
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    server = depot.start()
    assert pull(server, model_name="user.m", checkpoint="owner/large:Q4_0").status == 200
    depot.hub.repos["owner/large"].add({"m-Q4_0.gguf": model_file("newer", 600_000)}, commit="c" * 40)
    held(depot.hub, "m-Q4_0.gguf")
    pull(server, model_name="user.m", stream=True, subscribe=False)
    wait_until(lambda: job(server, "user.m")["phase"] == "fetching", what="the new version")
    assert server.post("/v1/delete", {"model_name": "user.m"}).status == 200
    wait_until(lambda: job(server, "user.m") is None, what="the job's end")
    wait_until(lambda: not depot.leftovers(), what="the partial's removal")
    assert "user.m" not in listed(server)


# ---- updates ----

def test_an_update_frees_what_the_old_version_had(depot):
    """And leaves what another model has of it, and what has not changed."""
    names = ["m-Q4_0.gguf", "mmproj-F16.gguf"]
    old = {names[0]: model_file("old", 50_000), names[1]: model_file("projector", 9_000)}
    new = {**old, names[0]: model_file("new", 60_000)}
    depot.hub.repo("owner/m", old)
    server = depot.start()
    wish = {"checkpoint": "owner/m:Q4_0", "mmproj": names[1]}
    for name in ("user.a", "user.b"):
        assert pull(server, model_name=name, **wish).status == 200

    def blobs():
        return sorted(f.read_bytes() for f in depot.blobs("owner/m").iterdir())

    assert server.chat("user.a").status == 200
    depot.hub.repos["owner/m"].add(new, commit="c" * 40)
    assert pull(server, model_name="user.a", **wish).status == 200
    assert blobs() == sorted([*old.values(), new[names[0]]]), "the other model still has the old version"
    assert pull(server, model_name="user.b", **wish).status == 200
    wait_until(lambda: blobs() == sorted(new.values()), what="the old version's end")
    snapshots = depot.blobs("owner/m").parent / "snapshots"
    assert [s.name for s in snapshots.iterdir()] == ["c" * 40]
    for name in ("user.a", "user.b"):
        assert server.chat(name).status == 200
    server.stop()


def test_deleting_what_is_only_coming(depot):
    """The first download of a model is cancelled by deleting the model, also where it is paused or has failed."""
    depot.hub.fault("Q4_K_M.gguf", hang=3600)
    server = depot.start()
    for state in ("downloading", "paused"):
        stream = Stream(server, model_name="user.Phi-4-Mini-GGUF", checkpoint=f"{REPO}:Q4_K_M", recipe="llamacpp")
        wait_until(lambda: depot.hub.requests("Q4_K_M.gguf"))
        if state == "paused":
            assert control(server, "user.Phi-4-Mini-GGUF", "pause").status == 200
        reply = server.post("/api/v1/delete", {"model_name": "user.Phi-4-Mini-GGUF"})
        assert reply.status == 200, reply.body
        assert reply.json["status"] == "success" and "cancelled" in reply.json["note"]
        wait_until(lambda: not jobs(server))
        stream.close()
        wait_until(lambda: not depot.leftovers())
        assert server.post("/api/v1/delete", {"model_name": "user.Phi-4-Mini-GGUF"}).status in (404, 422)
    depot.hub.heal()
    assert phi(server).status == 200


@pytest.mark.parametrize("options, where", [({"slots": "many"}, "slots"), ({"ctx_size": "long"}, "ctx_size"),
                                            ({"ctx_size": -2}, "ctx_size"), ({"speculate": 1}, "speculate")])
def test_options_of_the_wrong_type(depot, options, where):
    server = depot.start()
    reply = phi(server, recipe_options=options)
    assert reply.status == 400 and where in reply.json["error"]["message"], reply.body
    path = depot.house.tmp_path / "own.gguf"
    path.write_bytes(model_file("own"))
    reply = server.post("/v1/models/register", {"model_name": "user.own", "checkpoint": str(path), "recipe": "llamacpp",
                                                "recipe_options": options})
    assert reply.status == 400 and where in reply.json["error"]["message"], reply.body
    assert not depot.hub.requests(".gguf")
    # What quince does not know is another program's.
    assert phi(server, recipe_options={"llamacpp_backend": "vulkan", "ctx_size": -1, "unknown": {}}).status == 200


def test_a_download_is_ended_by_its_owner_or_an_admin(depot):
    server = depot.start()

    def key(name, headers, **more):
        made = server.post("/internal/keys", {"name": name, **more}, headers=headers)
        return {"Authorization": "Bearer " + made.json["key"]}
    boss = key("boss", {}, admin=True)
    anna, bob = key("anna", boss), key("bob", boss)
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    held(depot.hub, "m-Q4_0.gguf")
    asked = server.post("/v1/pull", {"model_name": "user.large", "checkpoint": "owner/large", "subscribe": False},
                        headers=anna)
    assert asked.status == 200, asked.body

    def control(action, headers):
        return server.post("/v1/downloads/control", {"id": "model:user.large", "action": action, "priority": -1},
                           headers=headers)
    assert [j["model_name"] for j in server.get("/v1/downloads", headers=bob).json] == ["user.large"]
    for action in ("pause", "cancel", "remove", "priority"):
        assert control(action, bob).status == 403, action
    assert control("pause", anna).status == 200
    server.stop()
    server = depot.start()  # it is still hers
    assert control("resume", bob).status == 403
    assert control("priority", anna).status == 200
    assert control("cancel", boss).status == 200
