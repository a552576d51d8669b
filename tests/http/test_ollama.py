"""Ollama's API over real sockets: the fake backend says what a model would, the starter model a little."""
import contextlib
import datetime
import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time

import pytest
from conftest import BUILD, PATIENCE_S, ROOT, SANITIZED, Reply, Server, events, fake_model, free_port, gguf, wait_until


@pytest.fixture(scope="module")
def real_server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("ollama") / "data", BUILD / "bin", ROOT / "registry")
    yield s
    assert s.stop() == 0
    log = s.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]


def lines(reply):
    return [json.loads(line) for line in reply.body.decode().splitlines()]


def post(server, path, body, **kw):
    """Without a content type, as the documents of Ollama show it."""
    return server.request("POST", path, json.dumps(body), headers={"Content-Type": "application/x-www-form-urlencoded"},
                          **kw)


def chat(server, model, **fields):
    return post(server, "/api/chat", {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields})


def test_root_and_version(server):
    reply = server.get("/")
    assert (reply.status, reply.body) == (200, b"Ollama is running")
    reply = server.request("HEAD", "/")
    assert (reply.status, reply.body) == (200, b"")
    page = server.get("/", headers={"Accept": "text/html,application/xhtml+xml"})
    assert page.headers["Content-Type"].startswith("text/html") and b"quince" in page.body
    assert server.get("/api/version").json["version"] == "0.16.1"
    assert server.get("/api/status").json["cloud"]["disabled"] is True
    assert post(server, "/api/me", {}).status == 401
    # Programs that show pages of their own may ask; web sites may not.
    assert server.get("/api/version", headers={"Origin": "vscode-webview://abc"}).status == 200
    assert server.get("/api/version", headers={"Origin": "https://evil.example"}).status == 403
    assert server.request("HEAD", "/api/version").status == 200


def test_a_streamed_chat_ends_with_one_done(house, server):
    model = house.model(server, "words", tokens=3, token_ms=20)
    reply = chat(server, model)
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    said = lines(reply)
    assert "".join(line["message"]["content"] for line in said) == "word word word "
    assert [line["done"] for line in said] == [False] * (len(said) - 1) + [True]
    last = said[-1]
    assert last["done_reason"] == "stop" and last["eval_count"] == 3 and last["prompt_eval_count"] > 0
    assert last["total_duration"] >= 60e6 and last["load_duration"] > 0
    whole = chat(server, model, stream=False)
    assert whole.headers["Content-Type"] == "application/json"
    assert whole.json["message"] == {"role": "assistant", "content": "word word word "}


def test_names_with_and_without_a_tag(house, server):
    house.model(server, "m", tokens=1)
    for name in ("user.m", "user.m:latest"):
        assert chat(server, name, stream=False).json["model"] == name
    reply = chat(server, "nobody")
    assert reply.status == 404 and reply.json["error"].startswith("model 'nobody' not found")


def test_errors_before_and_after_the_first_byte(house, server):
    model = house.model(server, "fails", fail="it broke")
    reply = chat(server, model)
    assert reply.status >= 400 and set(reply.json) == {"error"}
    dies = house.model(server, "dies", tokens=50, token_ms=5, crash_after=3)
    said = lines(chat(server, dies))
    assert "error" in said[-1] and not any(line.get("done") for line in said[:-1])
    assert post(server, "/api/chat", []).status == 400
    reply = server.request("POST", "/api/chat", "{")
    assert reply.status == 400 and "JSON" in reply.json["error"]


def test_tools_and_thinking(house, server):
    model = house.model(server, "tools", script=[
        {"ev": "reasoning", "index": 0, "text": "hm"},
        {"ev": "tool_call", "index": 0, "call": 0, "name": "get", "arguments": "{\"city\":"},
        {"ev": "tool_call", "index": 0, "call": 0, "arguments": "\"Tokyo\"}"},
        {"ev": "tool_call", "index": 0, "call": 1, "name": "now", "arguments": "{}"},
        {"ev": "done", "index": 0, "reason": "tool_calls"}])
    said = lines(chat(server, model, tools=[{"type": "function", "function": {"name": "get"}}]))
    calls = [c["function"] for line in said for c in line["message"].get("tool_calls", [])]
    assert calls == [{"index": 0, "name": "get", "arguments": {"city": "Tokyo"}},
                     {"index": 1, "name": "now", "arguments": {}}]
    assert said[0]["message"]["thinking"] == "hm"
    assert said[-1]["done_reason"] == "stop"


def test_only_models_that_reason_are_asked_to(house, server):
    plain, thinker = fake_model(house.tmp_path, echo_job=True), house.tmp_path / "thinker.gguf"
    thinker.write_bytes(gguf({"general.architecture": "llama", "fake.options": json.dumps({"echo_job": True}),
                              "tokenizer.chat_template": "{{ messages[0].content }}<think>"}))
    server.register("user.plain", plain)
    server.register("user.thinker", thinker)
    for think in (True, "high"):
        reply = chat(server, "user.plain", think=think)
        assert (reply.status, reply.json["error"]) == (400, '"user.plain" does not support thinking')
        reply = post(server, "/api/generate", {"model": "user.plain", "prompt": "x", "think": think})
        assert reply.status == 400
        assert job_of(chat(server, "user.thinker", think=think, stream=False))["chat"]["think"] == 1
    assert chat(server, "user.plain", think=False).status == 200
    # Other dialects ask for effort where there may be none.
    assert server.chat("user.plain", reasoning_effort="high").status == 200
    # A preset with a template of its own may reason.
    post(server, "/api/create", {"model": "own", "from": "user.plain", "template": "{{ .Prompt }}"})
    assert chat(server, "own", think=True).status == 200


def test_loading_and_unloading(house, server):
    model = house.model(server, "m", load_ms=100)
    assert post(server, "/api/generate", {"model": model}).json["done_reason"] == "load"
    assert len(server.children()) == 1
    assert post(server, "/api/chat", {"model": model, "keep_alive": 0, "stream": False}).json["done_reason"] == "unload"
    wait_until(lambda: not server.children(), what="the unload")
    # Nothing is loaded only to be unloaded.
    assert post(server, "/api/chat", {"model": model, "messages": [], "keep_alive": 0}).json["done_reason"] == "unload"
    assert not server.children()


def test_an_unload_lets_others_finish(house, server):
    model = house.model(server, "m", load_ms=300, tokens=30, token_ms=40)
    unload = {"model": model, "keep_alive": 0, "stream": False}
    waiting = threading.Thread(target=lambda: replies.append(chat(server, model, stream=False)))
    replies = []
    waiting.start()
    wait_until(server.children, what="the load")
    assert post(server, "/api/chat", unload).json["done_reason"] == "unload"
    waiting.join()
    assert replies[0].status == 200, replies[0].body
    wait_until(lambda: not server.children(), what="the unload")
    model = house.model(server, "endless", tokens=10**6, token_ms=5)
    unload["model"] = model
    with contextlib.closing(server.stream(model)[0]) as first:
        (pid,) = server.children()
        assert post(server, "/api/generate", {**unload, "prompt": ""}).json["done_reason"] == "unload"
        connection, second = server.stream(model)
        assert next(events(second))["choices"] and server.children() == [pid]
        connection.close()
        first.close()
    wait_until(lambda: not server.children(), what="the unload")


def send_blob(server, path):
    digest = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    server.request("POST", f"/api/blobs/{digest}", path.read_bytes(), headers={})
    return digest


def said_by(server, model):
    reply = chat(server, model, stream=False)
    assert reply.status == 200, reply.body
    return reply.json["message"]["content"]


def test_a_replaced_model_is_not_asked_any_more(house, server):
    digests = [send_blob(server, fake_model(house.tmp_path, word=word, tokens=1)) for word in ("one", "two")]
    make = {"model": "mine", "stream": False}
    assert post(server, "/api/create", {**make, "files": {"x": digests[0]}}).status == 200
    over = threading.Event()

    def ask():
        while not over.is_set():
            chat(server, "mine", stream=False)
    askers = [threading.Thread(target=ask) for _ in range(3)]
    for t in askers:
        t.start()
    try:
        for i in range(1, 7):
            digest = send_blob(server, house.tmp_path / f"fake-{i % 2}.gguf")
            assert post(server, "/api/create", {**make, "files": {"x": digest}}).status == 200
            assert said_by(server, "mine") == ("one", "two")[i % 2]
            # The other file is no model's any more.
            assert [f.name for f in (server.data_dir / "blobs").iterdir()] == [digest.replace(":", "-")]
    finally:
        over.set()
        for t in askers:
            t.join()


def test_a_file_that_is_replaced_is_loaded_again(house, server):
    def digest():
        (tag,) = server.get("/api/tags").json["models"]
        return None if "digest_pending" in tag else tag["digest"]
    path = fake_model(house.tmp_path, word="one", tokens=1)
    server.register("user.m", path)
    old = wait_until(digest, what="the sum")
    assert said_by(server, "user.m") == "one"
    fake_model(house.tmp_path, word="two!", tokens=1).rename(path)
    server.register("user.m", path)
    wait_until(lambda: digest() != old, what="the new sum")
    assert said_by(server, "user.m") == "two!"


def test_a_long_load_shows_signs_of_life_that_parsers_skip(house, server):
    go = house.tmp_path / "go"
    model = house.model(server, "slow", load_ms=1500, load_until=str(go), tokens=1)
    with contextlib.closing(server.connect()) as c:
        c.request("POST", "/api/chat", json.dumps({"model": model, "messages": [{"role": "user", "content": "x"}]}),
                  {"Content-Type": "application/json"})
        response = c.getresponse()
        assert response.read(1) == b" "
        go.touch()
        said = [json.loads(line) for line in response.read().splitlines()]
        assert said[-1]["done"] and said[-1]["load_duration"] >= 1.4e9


def test_generate_continues_from_its_context(real_server):
    body = {"model": "quince-starter", "prompt": "hello", "stream": False, "options": {"temperature": 0}}
    first = post(real_server, "/api/generate", body).json
    tokens = first["prompt_eval_count"] + first["eval_count"]
    assert first["response"] and tokens - len(first["context"]) in (0, 1)  # the end token may be left out
    second = post(real_server, "/api/generate", {**body, "context": first["context"], "prompt": "thanks"}).json
    assert second["prompt_eval_count"] > len(first["context"])
    assert second["context"][:len(first["context"])] == first["context"]
    raw = post(real_server, "/api/generate", {**body, "raw": True}).json
    assert raw["response"] and "context" not in raw
    own = post(real_server, "/api/generate", {**body, "template": "{{ messages[0].content }}"}).json
    assert own["prompt_eval_count"] < first["prompt_eval_count"]
    go = post(real_server, "/api/generate", {**body, "template": "{{ .Prompt }}"}).json
    assert go["prompt_eval_count"] == own["prompt_eval_count"]
    for template, word in (("{% if %}", "template"), ("{{ .Nothing }}", "Jinja")):
        reply = post(real_server, "/api/generate", {**body, "template": template})
        assert reply.status == 400 and word in reply.json["error"]
    reply = post(real_server, "/api/generate", {**body, "suffix": "x"})
    assert reply.status == 400 and "middle" in reply.json["error"]
    reply = post(real_server, "/api/generate", {**body, "images": ["iVBORw0KGgo="]})
    assert reply.status == 400 and "text only" in reply.json["error"]
    reply = post(real_server, "/api/generate", {**body, "context": [99999999]})
    assert reply.status == 400 and "context[0]" in reply.json["error"]


def test_show_tells_what_the_file_says(real_server):
    shown = post(real_server, "/api/show", {"model": "QUINCE-starter:latest"}).json
    assert shown["details"]["family"] == shown["model_info"]["general.architecture"] == "llama"
    assert shown["details"]["quantization_level"] == "Q8_0" and shown["details"]["parameter_size"] == "5.90M"
    assert shown["model_info"]["general.parameter_count"] == 5901568
    assert shown["model_info"]["tokenizer.ggml.tokens"] is None
    assert shown["model_info"]["llama.attention.layer_norm_rms_epsilon"] == 1e-5
    assert "im_start" in shown["template"] and shown["license"] == "apache-2.0"
    assert shown["capabilities"] == ["completion"]
    assert post(real_server, "/api/show", {"name": "quince-starter"}).status == 200
    assert post(real_server, "/api/show", {}).json == {"error": "model is required"}
    assert post(real_server, "/api/show", {"model": "x"}).status == 404


def test_digests_are_sums_of_the_files(real_server):
    def tag():
        found = {m["name"]: m for m in real_server.get("/api/tags").json["models"]}["quince-starter:latest"]
        assert re.fullmatch("[0-9a-f]{64}", found["digest"])
        return found if "digest_pending" not in found else None
    found = wait_until(tag, what="the digest")
    path = ROOT / "registry/starter/quince-starter.gguf"
    assert found["digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["size"] == path.stat().st_size
    modified = datetime.datetime.fromisoformat(found["modified_at"].replace("Z", "+00:00")).timestamp()
    assert modified == int(path.stat().st_mtime)


def expires_at(server):
    (model,) = server.get("/api/ps").json["models"]
    return datetime.datetime.fromisoformat(model["expires_at"].replace("Z", "+00:00")).timestamp()


@contextlib.contextmanager
def stays(server, seconds):
    """What is asked for in here has the model stay so long from then on."""
    begun = time.time()
    yield
    at = expires_at(server)
    assert begun + seconds - 0.01 <= at <= time.time() + seconds + 0.01


def test_models_leave_when_their_time_is_over(house):
    server = house.start("--idle", "1000")
    model = house.model(server, "m", tokens=1)
    with stays(server, 1000):
        chat(server, model)
    with stays(server, 900):
        chat(server, model, keep_alive="15m")
    (shown,) = server.get("/api/ps").json["models"]
    assert shown["name"] == "user.m:latest" and shown["size_vram"] == 0 and shown["context_length"] == 1000
    begun = time.monotonic()
    chat(server, model, keep_alive="2s")
    wait_until(lambda: not server.get("/api/ps").json["models"], what="the end of its stay")
    assert time.monotonic() - begun > 1.9
    for_ever = time.time() + 10 * 365 * 24 * 3600
    chat(server, model, keep_alive=-1)
    assert expires_at(server) > for_ever
    chat(server, model)  # what was asked for holds until it is unloaded
    assert expires_at(server) > for_ever
    chat(server, model, keep_alive=0)
    wait_until(lambda: not server.children(), what="the unload")
    with stays(server, 1000):
        chat(server, model)
    # The same member in other dialects, and where models are loaded.
    with stays(server, 600.5):
        server.chat(model, keep_alive=600.5)
    with stays(server, 180):
        server.post("/v1/load", {"model_name": model, "keep_alive": "3m"})


def test_no_model_leaves_while_it_answers(house, server):
    model = house.model(server, "m", tokens=30, token_ms=50)
    said = lines(chat(server, model, keep_alive="100ms"))
    assert said[-1]["eval_count"] == 30
    wait_until(lambda: not server.children(), what="the unload")


def said(message):
    """The text of a message on its way to the child, which has no other part."""
    (part,) = message["parts"]
    assert part["kind"] == "text"
    return part["text"]


def job_of(reply):
    return json.loads(reply.json["message"]["content"])


def test_presets_are_models_everywhere(house, server):
    base = house.model(server, "base", echo_job=True)
    reply = post(server, "/api/create", {
        "model": "mario", "from": base, "system": "You are Mario.", "license": ["MIT", "more"],
        "parameters": {"temperature": 0.25, "stop": ["END"], "num_ctx": 512, "num_predict": 9},
        "messages": [{"role": "user", "content": "hey"}, {"role": "assistant", "content": "Mamma mia!"}]})
    assert [line["status"] for line in lines(reply)][-1] == "success"
    job = job_of(chat(server, "mario:latest", stream=False))
    assert [(m["role"], said(m)) for m in job["chat"]["messages"]] == [
        ("system", "You are Mario."), ("user", "hey"), ("assistant", "Mamma mia!"), ("user", "hi")]
    assert job["sampling"]["temperature"] == 0.25 and job["sampling"]["max_tokens"] == 9
    assert job["sampling"]["stop"] == ["END"]
    # The request's own words win.
    job = job_of(post(server, "/api/chat", {
        "model": "mario", "stream": False, "options": {"temperature": 1, "stop": ["X"]},
        "messages": [{"role": "system", "content": "Be Luigi."}, {"role": "user", "content": "hi"}]}))
    assert [said(m) for m in job["chat"]["messages"]] == ["Be Luigi.", "hey", "Mamma mia!", "hi"]
    assert job["sampling"]["temperature"] == 1 and job["sampling"]["stop"] == ["X"]
    # Other dialects, and every list.
    job = json.loads(server.chat("mario").json["choices"][0]["message"]["content"])
    assert said(job["chat"]["messages"][0]) == "You are Mario."
    assert "mario" in [m["id"] for m in server.get("/v1/models").json["data"]]
    assert "mario:latest" in [m["name"] for m in server.get("/api/tags").json["models"]]
    shown = post(server, "/api/show", {"model": "mario"}).json
    assert shown["system"] == "You are Mario." and shown["license"] == "MIT\nmore"
    assert shown["details"]["parent_model"] == base
    assert shown["parameters"].split() == ["temperature", "0.25", "stop", '"END"', "num_ctx", "512", "num_predict", "9"]
    assert 'PARAMETER stop "END"' in shown["modelfile"] and "MESSAGE assistant" in shown["modelfile"]
    assert {m["id"]: m["loaded"] for m in server.get("/v1/models").json["data"]} == {"mario": True, base: True}
    # One process computes for both, with the context that the preset wants.
    assert len(server.children()) == 1
    assert [m["context_length"] for m in server.get("/api/ps").json["models"]] == [512]


def test_presets_of_presets_and_deleting(house, server):
    base = house.model(server, "base", echo_job=True)
    post(server, "/api/create", {"model": "one", "from": base, "system": "one", "parameters": {"top_k": 7, "seed": 1}})
    made = post(server, "/api/create", {"model": "two", "from": "one", "parameters": {"seed": 2}, "stream": False})
    assert made.json == {"status": "success"}
    job = job_of(chat(server, "two", stream=False))
    assert job["sampling"]["top_k"] == 7 and job["sampling"]["seed"] == 2
    assert said(job["chat"]["messages"][0]) == "one"
    for model in ("one", base):
        reply = server.request("DELETE", "/api/delete", {"model": model})
        assert (reply.status, reply.body) == (200, b"")
    assert [m["name"] for m in server.get("/api/tags").json["models"]] == ["two:latest"]
    assert job_of(chat(server, "two", stream=False))["sampling"]["top_k"] == 7
    assert server.request("DELETE", "/api/delete", {"model": "one"}).status == 404


def test_registering_again_keeps_what_was_made_of_a_model(house, server):
    base = house.model(server, "base", echo_job=True)
    post(server, "/api/create", {"model": "user.base", "from": base, "system": "stay", "stream": False})
    server.register(base, server.get(f"/v1/models/{base}").json["checkpoint"])
    assert said(job_of(chat(server, base, stream=False))["chat"]["messages"][0]) == "stay"


def test_a_repeated_deletion_takes_no_other_model(house, server):
    base = house.model(server, "base", echo_job=True)
    assert base == "user.base"
    post(server, "/api/copy", {"source": base, "destination": "base"})
    assert server.request("DELETE", "/api/delete", {"model": "base"}).status == 200
    assert server.request("DELETE", "/api/delete", {"model": "base"}).status == 404
    assert server.request("DELETE", "/engines/base").status == 200  # an engine's id is its name without "user."
    assert server.request("DELETE", "/engines/BASE").status == 404


def test_modelfiles(house, server):
    base = house.model(server, "base", echo_job=True)
    text = f'# mine\nFROM {base}\nparameter temperature 0.5\nPARAMETER stop "<|a|>"\nPARAMETER stop b\n' \
           'SYSTEM """Line one\nline two"""\nMESSAGE user Is it?\nMESSAGE assistant yes\n'
    assert lines(post(server, "/api/create", {"name": "old", "modelfile": text}))[-1] == {"status": "success"}
    job = job_of(chat(server, "old", stream=False))
    assert job["sampling"]["temperature"] == 0.5 and job["sampling"]["stop"] == ["<|a|>", "b"]
    assert [said(m) for m in job["chat"]["messages"]] == ["Line one\nline two", "Is it?", "yes", "hi"]
    reply = post(server, "/api/create", {"model": "x", "modelfile": "FROM a\nDANCE now"})
    assert reply.status == 400 and "line 2" in reply.json["error"]


def test_copies(house, server):
    base = house.model(server, "base", tokens=1)
    reply = post(server, "/api/copy", {"source": base, "destination": "backup"})
    assert (reply.status, reply.body) == (200, b"")
    server.request("DELETE", "/api/delete", {"model": base})
    assert chat(server, "backup", stream=False).json["message"]["content"] == "word "
    assert post(server, "/api/copy", {"source": "nobody", "destination": "x"}).status == 404
    assert post(server, "/api/copy", {"source": "backup", "destination": "../x"}).status == 400


def test_what_cannot_be_made(house, server):
    base = house.model(server, "base")
    for body, status in [({"from": base}, 400), ({"model": "x"}, 400), ({"model": "x", "from": "nobody"}, 404),
                         ({"model": "a b", "from": base}, 400), ({"model": "x", "from": base, "quantize": "q4_0"}, 400),
                         ({"model": "x", "from": base, "adapters": {"a": "b"}}, 400),
                         ({"model": "x", "from": base, "parameters": {"temperature": "hot"}}, 400),
                         ({"model": "x", "from": base, "messages": [{"role": "king"}]}, 400),
                         ({"model": "x", "from": base, "template": "{{ .Nothing }}"}, 400),
                         ({"model": "x", "files": {"a": "sha256:12"}}, 400),
                         ({"model": "x", "files": {"a": "sha256:" + "0" * 64}}, 404)]:
        reply = post(server, "/api/create", body)
        assert reply.status == status and isinstance(reply.json["error"], str), (body, reply.status, reply.body)
    strict = house.start("--no-presets")
    for path in ("create", "copy", "push"):
        assert post(strict, f"/api/{path}", {"model": "x"}).status == 501
    assert strict.request("HEAD", "/api/blobs/sha256:" + "0" * 64).status == 501


def test_built_in_models_stay(real_server):
    assert real_server.request("DELETE", "/api/delete", {"model": "quince-starter"}).status == 400
    reply = post(real_server, "/api/create", {"model": "quince-starter", "from": "quince-starter"})
    assert reply.status == 409
    # A preset over the real thing.
    post(real_server, "/api/create", {"model": "short", "from": "quince-starter", "parameters": {"num_predict": 2}})
    said = chat(real_server, "short", stream=False).json
    assert said["eval_count"] == 2 and said["done_reason"] == "length"
    real_server.request("DELETE", "/api/delete", {"model": "short"})


def test_blobs(house, server):
    data = fake_model(house.tmp_path, tokens=2).read_bytes() + b"\0" * 3_000_000
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    assert server.request("HEAD", f"/api/blobs/{digest}").status == 404
    assert server.request("HEAD", "/api/blobs/sha256:xyz").status == 400
    reply = server.request("POST", f"/api/blobs/{digest}", data, headers={})
    assert (reply.status, reply.body) == (201, b"")
    assert server.request("HEAD", f"/api/blobs/{digest}").status == 200
    assert server.request("POST", f"/api/blobs/{digest}", data, headers={}).status == 200
    wrong = server.request("POST", "/api/blobs/sha256:" + "0" * 64, data, headers={})
    assert wrong.status == 400 and "mismatch" in wrong.json["error"]
    folder = server.data_dir / "blobs"
    assert [f.name for f in folder.iterdir()] == [digest.replace(":", "-")]
    made = post(server, "/api/create", {"model": "mine", "files": {"x.gguf": digest}, "system": "s"})
    assert lines(made)[-1] == {"status": "success"}, made.body
    assert chat(server, "mine", stream=False).json["eval_count"] == 2
    (tag,) = server.get("/api/tags").json["models"]
    assert tag["size"] == len(data) and "digest_pending" not in tag
    server.request("DELETE", "/api/delete", {"model": "mine"})
    wait_until(lambda: not list(folder.iterdir()), what="the blob's end")
    # What is no model is no model.
    junk = b"junk" * 10
    digest = "sha256:" + hashlib.sha256(junk).hexdigest()
    assert server.request("POST", f"/api/blobs/{digest}", junk, headers={}).status == 201
    assert post(server, "/api/create", {"model": "x", "files": {"x": digest}}).status == 400


def test_blobs_that_no_model_has_go_after_a_day(house, server):
    data = {name: fake_model(house.tmp_path, tokens=i).read_bytes() for i, name in enumerate(("used", "old", "asked", "young"))}
    digests = {name: "sha256:" + hashlib.sha256(d).hexdigest() for name, d in data.items()}
    for name, d in data.items():
        assert server.request("POST", f"/api/blobs/{digests[name]}", d, headers={}).status == 201
    made = post(server, "/api/create", {"model": "mine", "files": {"x.gguf": digests["used"]}})
    assert lines(made)[-1] == {"status": "success"}, made.body
    folder = server.data_dir / "blobs"
    day_ago = time.time() - 25 * 3600
    for name in ("used", "old", "asked"):
        os.utime(folder / digests[name].replace(":", "-"), (day_ago, day_ago))
    used = (folder / digests["used"].replace(":", "-")).stat()
    for name in ("used", "asked"):
        assert server.request("HEAD", f"/api/blobs/{digests[name]}").status == 200
    # What is known of a model's file depends on its times: asking for it does not change them.
    assert (folder / digests["used"].replace(":", "-")).stat().st_ctime_ns == used.st_ctime_ns
    assert server.stop() == 0
    again = type(server)(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(again)
    left = {digests[name].replace(":", "-") for name in ("used", "asked", "young")}
    wait_until(lambda: {f.name for f in folder.iterdir()} == left, what="the end of a blob that no model has")
    assert chat(again, "mine", stream=False).status == 200
    assert again.request("HEAD", f"/api/blobs/{digests['old']}").status == 404
    assert again.request("POST", f"/api/blobs/{digests['old']}", data["old"], headers={}).status == 201


@pytest.mark.parametrize("remove", ["/api/delete", "/engines/mine"])
def test_blobs_go_with_their_model_behind_a_link(house, remove):
    (house.tmp_path / "real").mkdir()
    (house.tmp_path / "data-0").symlink_to(house.tmp_path / "real")
    server = house.start()
    digest = send_blob(server, fake_model(house.tmp_path))
    assert post(server, "/api/create", {"model": "mine", "files": {"x": digest}}).status == 200
    assert server.request("DELETE", remove, {"model": "mine"}).status == 200
    wait_until(lambda: not list((server.data_dir / "blobs").iterdir()), what="the blob's end")


def test_blobs_that_are_not_taken(house):
    digest = "sha256:" + "0" * 64
    full = house.start("--disk-reserve", str(1 << 40))  # more than any disk has
    for n in (10, 3_000_000):
        reply = full.request("POST", f"/api/blobs/{digest}", b"x" * n, headers={})
        assert reply.status == 507 and "disk-reserve" in reply.json["error"], reply.body
    assert not list((full.data_dir / "blobs").iterdir())
    strict = house.start("--no-presets", "--body-limit", "1")
    assert strict.request("POST", f"/api/blobs/{digest}", b"x", headers={}).status == 501
    assert strict.request("POST", f"/api/blobs/{digest}", b"x" * 3_000_000, headers={}).status == 413
    assert not (strict.data_dir / "blobs").exists()


def upload(server, data, chunked=False):
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    with contextlib.closing(server.connect()) as c:
        c.request("POST", f"/api/blobs/{digest}", iter([data]) if chunked else data)
        return Reply(c.getresponse())


def test_an_owners_uploads_have_an_end(house):
    """Files that were sent and of which no model is made take no more than upload-limit of the disk."""
    server = house.start("--upload-limit", "8")
    mib = 1 << 20
    model = fake_model(house.tmp_path, tokens=2).read_bytes()
    model += b"\0" * (5 * mib - len(model))
    assert upload(server, model).status == 201
    for chunked in (False, True):
        reply = upload(server, b"x" * 4 * mib, chunked)
        assert reply.status == 507 and "upload-limit" in reply.json["error"], reply.body
    assert upload(server, b"y" * mib, True).status == 201
    wrong = server.request("POST", "/api/blobs/sha256:" + "0" * 64, b"z" * 2 * mib, headers={})
    assert wrong.status == 400  # and it does not count
    # A model's file counts no more, nor one that has gone.
    digest = "sha256:" + hashlib.sha256(model).hexdigest()
    made = post(server, "/api/create", {"model": "mine", "files": {"x.gguf": digest}})
    assert lines(made)[-1] == {"status": "success"}, made.body
    assert upload(server, b"x" * 4 * mib).status == 201
    assert upload(server, b"z" * 4 * mib).status == 507
    for f in (server.data_dir / "blobs").iterdir():
        if f.stat().st_size == 4 * mib:
            f.unlink()
    assert upload(server, b"z" * 4 * mib).status == 201


def test_uploads_on_their_way_count(house):
    server = house.start("--upload-limit", "8")
    head = b"POST /api/blobs/sha256:%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n"
    with contextlib.ExitStack() as open_ones:
        said = []
        for i in range(3):
            s = open_ones.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            s.sendall(head % (b"%064x" % i, 3 << 20))
            said.append(s.recv(4096)[:12])
    assert said == [b"HTTP/1.1 100", b"HTTP/1.1 100", b"HTTP/1.1 507"]


def test_an_owners_uploads_are_so_many(house):
    server = house.start("--upload-limit", "0")
    for i in range(500):
        assert upload(server, b"%d" % i).status == 201
    assert upload(server, b"more").status == 507


def test_what_a_crash_left_of_blobs_goes(house):
    folder = house.tmp_path / "data-0" / "blobs"
    folder.mkdir(parents=True)
    kept = folder / ("sha256-" + "0" * 64)
    for f in (kept, folder / "unchecked-0123456789abcdef", folder / "quince-aB3xYz"):
        f.write_bytes(b"x")
    house.start()
    assert list(folder.iterdir()) == [kept]


@pytest.mark.release
def test_large_blobs_need_no_memory(house):
    server = house.start("--body-limit", "1")
    data = b"GGUF" + b"\0" * (64 * 1024 * 1024)
    before = server.rss_kib()
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    assert server.request("POST", f"/api/blobs/{digest}", data, headers={}).status == 201
    if not SANITIZED:  # sanitizers keep what is freed
        assert server.rss_kib() - before < 16 * 1024
    assert server.request("POST", "/api/chat", b"x" * (2 * 1024 * 1024)).status == 413
    foreign = {"Origin": "http://evil.example"}
    assert server.request("POST", "/api/blobs/sha256:" + "1" * 64, data, headers=foreign).status == 413


def test_pull_and_push(house, server):
    model = house.model(server, "m")
    states = lines(post(server, "/api/pull", {"model": model}))
    assert states[0] == {"status": "pulling manifest"} and states[-1] == {"status": "success"}
    assert post(server, "/api/pull", {"name": model, "stream": False}).json == {"status": "success"}
    offline = house.start("--offline")
    reply = post(offline, "/api/pull", {"model": "llama3.2"})
    assert reply.status == 400 and "not on this machine" in reply.json["error"]
    assert post(server, "/api/push", {"model": model}).status == 501


def test_embeddings_are_read_and_refused(house, server):
    model = house.model(server, "m")
    for path, body, param in [("embed", {"model": model, "input": ["a", "b"]}, "cannot make embeddings"),
                              ("embeddings", {"model": model, "prompt": "a"}, "cannot make embeddings"),
                              ("embed", {"model": model}, "input"), ("embed", {"model": model, "input": [1]}, "input[0]"),
                              ("embed", {"model": model, "input": "a", "truncate": 1}, "truncate"),
                              ("embed", {"model": model, "input": "a", "dimensions": -1}, "dimensions"),
                              ("embed", {"model": model, "input": "a", "keep_alive": "x"}, "keep_alive"),
                              ("embed", {"input": "a"}, "model is required"), ("embeddings", {"model": model}, "prompt")]:
        reply = post(server, f"/api/{path}", body)
        assert reply.status == 400 and param in reply.json["error"], reply.body
    assert post(server, "/api/embed", {"model": "nobody", "input": "a"}).status == 404


def ask(port, path, headers=None):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as c:
        c.request("GET", path, headers=headers or {})
        return Reply(c.getresponse())


def test_listeners_and_profiles(house):
    ollama, auto = free_port(), free_port()
    server = house.start("--listen", f"{auto}=auto, 127.0.0.1:0=dppan", "--ollama-port", str(ollama))
    assert server.get("/live").headers["X-API-Profile"] == "lemonade"
    assert ask(ollama, "/live").headers["X-API-Profile"] == "ollama"
    assert ask(auto, "/live").headers["X-API-Profile"] == "auto"
    assert ask(ollama, "/live", {"X-API-Profile": "kolosal"}).headers["X-API-Profile"] == "kolosal"
    assert ask(ollama, "/live", {"X-API-Profile": "nonsense"}).headers["X-API-Profile"] == "ollama"
    assert ask(ollama, "/").body == b"Ollama is running"
    # OpenAI's routes are there, too.
    house.model(server, "m", tokens=1)
    assert ask(ollama, "/v1/models").json["data"][0]["id"] == "user.m"
    # Another server does without a port that is taken unless it was given explicitly.
    refused = subprocess.run([str(BUILD / "bin/quinced"), "--port", "0", "--data-dir", str(house.tmp_path / "other"),
                              "--ollama-port", str(ollama)], capture_output=True, text=True)
    assert refused.returncode != 0 and f"port {ollama}" in refused.stderr
    main = house.start("--profile", "layerscale")
    assert main.get("/live").headers["X-API-Profile"] == "layerscale"


def ollama_state(server):
    return server.get("/status").json["server"]["ollama"]


def test_the_port_can_be_given_back_at_once(house, tmp_path):
    from cli_kit import Cli
    server, port = house.start(), free_port()
    cli = Cli(tmp_path, server.port)
    assert ollama_state(server) == {"port": None, "message": None}
    assert server.post("/api/v1/params", {"ollama_port": port}).json["restart_required"] == []
    assert ask(port, "/").body == b"Ollama is running" and ollama_state(server) == {"port": port, "message": None}
    assert re.search(rf"^Ollama's port +{port}$", cli("status").out, re.M)
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    kept.request("GET", "/live")
    kept.getresponse().read()
    assert server.post("/api/v1/params", {"ollama_port": "off"}).status == 200
    with socket.create_server(("127.0.0.1", port)):  # as Ollama does when it starts
        assert ollama_state(server) == {"port": None, "message": None}
        assert server.post("/api/v1/params", {"ollama_port": port}).status == 200
        state = ollama_state(server)
        assert state["port"] is None and f"port {port} is not served" in state["message"]
        assert state["message"] in cli("status").out
    kept.close()
    assert server.post("/api/v1/params", {"ollama_port": "off"}).status == 200
    assert server.post("/api/v1/params", {"ollama_port": port}).status == 200
    assert ask(port, "/").status == 200
    for wrong in ("maybe", 70000, -1):
        reply = server.post("/api/v1/params", {"ollama_port": wrong})
        assert reply.status == 400 and "ollama" in reply.json["error"]["message"]
    assert ask(port, "/").status == 200


def test_a_service_of_ollama_keeps_its_port(house):
    units = house.tmp_path / "data-0" / "home" / ".config" / "systemd" / "user"
    units.mkdir(parents=True)
    (units / "ollama.service").write_text("[Service]\n")
    server = house.start("--ollama-port", "auto")
    state = ollama_state(server)
    assert state["port"] is None and "is left to Ollama" in state["message"]
    assert str(units / "ollama.service") in state["message"] and "ollama-port=11434" in state["message"]
    # It is installed while the port is served: the report says so.
    assert server.post("/api/v1/params", {"ollama_port": 11434}).status == 200
    if ollama_state(server)["port"] is None:
        pytest.skip("another program of this machine has the port")
    assert "`quince config set ollama-port=off` gives it back" in ollama_state(server)["message"]
    (units / "ollama.service").unlink()
    assert ollama_state(server) == {"port": 11434, "message": None}


def test_listeners_in_the_file(house):
    port = free_port()
    folder = house.tmp_path / "data-0"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"listen": [{"bind": "127.0.0.1", "port": port, "profile": "localllm"}]}))
    house.start()
    assert ask(port, "/live").headers["X-API-Profile"] == "localllm"


def test_objects_have_limits_that_are_named(house, server):
    base = house.model(server, "base")
    turn = {"model": base, "stream": False, "messages": [{"role": "user", "content": "hi"}]}
    def many(n):
        return {f"x{i}": i for i in range(n)}
    for path, body, words in [
            ("/api/chat", {**turn, "options": many(257)}, "options: has more than 256 members"),
            ("/api/create", {"model": "wide", "from": base, "parameters": many(257)}, "parameters: has more than 256 members"),
            ("/api/chat", {**turn, **many(1024)}, "the request has more than 1024 members"),
            ("/v1/chat/completions", {**turn, **many(1024)}, "the request has more than 1024 members"),
            ("/v1/chat/completions", {**turn, "metadata": many(8193)}, "metadata: has more than 8192 members"),
            ("/api/create", {"model": "piped", "from": base, "template": "{{ .Prompt" + " | json" * 28000 + " }}"},
             "more than 64 pipes")]:
        reply = server.post(path, body)
        assert reply.status == 400 and words in reply.body.decode(), (path, reply.status, reply.body)
    assert server.post("/api/chat", {**turn, "options": many(256), **many(1000)}).status == 200
    assert server.post("/api/create", {"model": "half", "from": base, "parameters": many(200)}).status == 200
    reply = server.post("/api/create", {"model": "more", "from": "half", "parameters": {f"y{i}": i for i in range(57)}})
    assert reply.status == 400 and b"including those of the model" in reply.body
