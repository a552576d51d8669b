"""Every example of Kolosal's API document as a test: the request as written there (host, model and file
replaced by what exists here), the reply with every member and type that the document shows."""
import json
import pathlib

import pytest

from conftest import events, fake_model, wait_until
from shapes import check

KOLOSAL = {"X-API-Profile": "kolosal"}
USAGE = {"prompt_tokens": 15, "completion_tokens": 28, "total_tokens": 43}
CHAT = {
    "id": "chatcmpl-80HTkM01z7aaaThFbuALkbTu", "object": "chat.completion", "created": 1749981228,
    "model": "my-model", "system_fingerprint": "fp_4d29efe704",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}],
    "usage": USAGE,
}
TEXT = {
    "id": "cmpl-80HTkM01z7aaaThFbuALkbTu", "object": "text_completion", "created": 1749981288, "model": "my-model",
    "choices": [{"index": 0, "text": " bright and full of possibilities.", "finish_reason": "stop"}], "usage": USAGE,
}
ENGINE = {
    "engine_id": "my-model", "status": "loaded", "model_path": "/path/to/model.gguf",
    "parameters": {"n_ctx": 4096, "n_gpu_layers": 100, "main_gpu_id": 0},
}
HEALTH = {
    "status": "healthy", "timestamp": 1749981228, "version": "1.0.0",
    "engines": {"loaded": 2, "unloaded": 1, "total": 3},
    "system": {"uptime_seconds": 3600, "memory_usage_mb": 8192, "cpu_usage_percent": 15.2},
    "engines_summary": [{"engine_id": "llama-7b", "status": "loaded"}],
}
ERROR = {"error": {"message": "x", "type": "invalid_request_error", "param": "model", "code": "x"}}


@pytest.fixture
def kolosal(house):
    server = house.start()
    server.post_as = lambda path, body: server.post(path, body, headers=KOLOSAL)
    server.get_as = lambda path: server.get(path, headers=KOLOSAL)
    return server


@pytest.fixture
def chat(kolosal, house):
    path = fake_model(house.tmp_path, tokens=3, word="word ")
    assert kolosal.post_as("/engines", {"engine_id": "my-model", "model_path": str(path)}).status == 201
    return kolosal


@pytest.mark.parametrize("body", [
    {"messages": [{"role": "user", "content": "Hello, how are you?"}], "max_tokens": 100},
    {"messages": [{"role": "system", "content": "You are a helpful assistant."},
                  {"role": "user", "content": "What is the capital of France?"},
                  {"role": "assistant", "content": "The capital of France is Paris."},
                  {"role": "user", "content": "What about Germany?"}], "temperature": 0.7, "max_tokens": 50},
    {"messages": [{"role": "user", "content": "What is machine learning?"}], "max_tokens": 150,
     "temperature": 0.7, "top_p": 1.0, "seed": None, "presence_penalty": 0.0, "frequency_penalty": 0.0,
     "stream": False},
])
def test_chat(chat, body):
    reply = chat.post_as("/v1/chat/completions", {"model": "user.my-model", **body})
    assert reply.status == 200
    check(reply.json, CHAT)
    assert reply.json["id"].startswith("chatcmpl-")
    assert reply.json["choices"][0]["message"] == {**reply.json["choices"][0]["message"], "role": "assistant",
                                                   "content": "word word word "}
    assert reply.json["usage"]["completion_tokens"] == 3


def test_chat_streamed(chat):
    body = {"model": "user.my-model", "messages": [{"role": "user", "content": "Tell me a story"}], "stream": True,
            "max_tokens": 200}
    c = chat.connect()
    c.request("POST", "/v1/chat/completions", json.dumps(body),
              {"Content-Type": "application/json", "Accept": "text/event-stream", **KOLOSAL})
    response = c.getresponse()
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["Connection"].lower() == "keep-alive"
    chunks = list(events(response))
    c.close()
    assert chunks[-1] == "[DONE]"
    chunk = {"choices": [{"delta": {}, "index": 0}], "created": 1, "id": "x", "model": "x",
             "object": "chat.completion.chunk", "system_fingerprint": "x"}
    spoken = [x for x in chunks[:-1] if x["choices"]]
    for part in spoken:
        check(part, chunk)
        assert "finish_reason" in part["choices"][0]
    assert spoken[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(x["choices"][0]["delta"].get("content", "") for x in spoken) == "word word word "
    assert [x["choices"][0]["finish_reason"] for x in spoken] == [None] * (len(spoken) - 1) + ["stop"]


def test_completion_of_one_prompt_and_of_several(chat):
    reply = chat.post_as("/v1/completions", {"model": "user.my-model", "max_tokens": 100,
                                             "prompt": "The future of artificial intelligence is"})
    assert reply.status == 200
    check(reply.json, TEXT)
    reply = chat.post_as("/v1/completions", {"model": "user.my-model", "max_tokens": 50,
                                             "prompt": ["The weather today is", "In breaking news,"]})
    assert reply.status == 200
    check(reply.json, TEXT)
    assert [x["index"] for x in reply.json["choices"]] == [0, 1]


def test_completion_streamed(chat):
    c = chat.connect()
    c.request("POST", "/v1/completions", json.dumps({"model": "user.my-model", "prompt": "x", "stream": True}),
              {"Content-Type": "application/json", **KOLOSAL})
    chunks = list(events(c.getresponse()))
    c.close()
    assert chunks[-1] == "[DONE]"
    spoken = [x for x in chunks[:-1] if x["choices"]]
    for part in spoken:
        check(part, {"choices": [{"index": 0, "text": "", "finish_reason": ""}], "created": 1, "id": "x",
                     "model": "x", "object": "text_completion"})
    assert [x["choices"][0]["finish_reason"] for x in spoken] == [""] * (len(spoken) - 1) + ["stop"]


def test_defaults_are_this_apis(house, kolosal):
    echo = house.model(kolosal, "echo", echo_job=True)
    chat = kolosal.post_as("/v1/chat/completions", {"model": echo, "messages": [{"role": "user", "content": "x"}]})
    job = json.loads(chat.json["choices"][0]["message"]["content"])
    assert (job["sampling"]["max_tokens"], job["sampling"]["temperature"], job["sampling"]["top_p"]) == (128, 1, 1)
    text = kolosal.post_as("/v1/completions", {"model": echo, "prompt": "x"})
    job = json.loads(text.json["choices"][0]["text"])
    assert (job["sampling"]["max_tokens"], job["sampling"]["temperature"], job["sampling"]["top_p"]) == (16, 1, 1)


def test_engines_come_and_go(house, kolosal):
    path = str(fake_model(house.tmp_path, tokens=2))
    reply = kolosal.post("/engines", {"engine_id": "llama-7b", "model_path": path, "n_ctx": 2048, "n_gpu_layers": 32})
    assert reply.status == 201
    check(reply.json, ENGINE)
    assert reply.json == {"engine_id": "llama-7b", "status": "loaded", "model_path": path,
                          "parameters": {"n_ctx": 2048, "n_gpu_layers": 32, "main_gpu_id": 0}}
    engines = kolosal.get("/engines").json
    check(engines, {"engines": [{"engine_id": "x", "status": "loaded", "model_path": "/x"}]})
    assert engines["engines"] == [{"engine_id": "llama-7b", "status": "loaded", "model_path": path}]
    assert kolosal.chat("user.llama-7b").status == 200
    status = kolosal.get("/engines/llama-7b/status")
    assert status.status == 200
    check(status.json, {**ENGINE, "memory_usage": {"model_size_mb": 3584, "context_size_mb": 128},
                        "performance": {"last_inference_tps": 42.5, "total_requests": 157}})
    assert status.json["parameters"] == {"n_ctx": 2048, "n_gpu_layers": 32, "main_gpu_id": 0}
    assert status.json["performance"]["total_requests"] == 1
    assert kolosal.post("/v1/unload", {"model_name": "user.llama-7b"}).status == 200
    assert kolosal.get("/engines").json["engines"][0]["status"] == "unloaded"
    assert kolosal.get("/engines/llama-7b/status").json["parameters"]["n_ctx"] == 2048
    reply = kolosal.request("DELETE", "/engines/llama-7b")
    assert reply.status == 200
    assert reply.json == {"engine_id": "llama-7b", "status": "removed"}
    assert kolosal.get("/engines").json == {"engines": []}
    assert kolosal.get("/engines/llama-7b/status").status == 404


def test_a_loaded_engine_can_be_removed(house, kolosal):
    path = str(fake_model(house.tmp_path))
    assert kolosal.post("/engines", {"engine_id": "a/b", "model_path": path}).status == 201
    assert kolosal.request("DELETE", "/engines/a/b").json == {"engine_id": "a/b", "status": "removed"}
    assert not kolosal.children()


@pytest.mark.parametrize("body,param", [
    ({}, "engine_id"), ({"engine_id": "x"}, "model_path"), ({"engine_id": 5, "model_path": "/x"}, "engine_id"),
    ({"engine_id": "x", "model_path": "/nonexistent/model.gguf"}, "model_path"),
    ({"engine_id": "x", "model_path": "C:\\models\\llama-7b-q4.gguf"}, "model_path"),
    ({"engine_id": "x y", "model_path": "/nonexistent"}, "engine_id"),
    ({"engine_id": "x", "model_path": "/x", "n_ctx": 127}, "n_ctx"),
    ({"engine_id": "x", "model_path": "/x", "n_gpu_layers": -1}, "n_gpu_layers"),
    ({"engine_id": "x", "model_path": "/x", "main_gpu_id": "0"}, "main_gpu_id"),
])
def test_engines_that_cannot_be(kolosal, body, param):
    reply = kolosal.post("/engines", body)
    assert reply.status == 400
    check(reply.json, ERROR)
    assert reply.json["error"]["param"] == param
    assert reply.json["error"]["type"] == "invalid_request_error"


def test_an_engine_that_does_not_load(house, kolosal):
    path = str(fake_model(house.tmp_path, load_fail="out of memory"))
    reply = kolosal.post("/engines", {"engine_id": "x", "model_path": path})
    assert reply.status == 500
    assert reply.json["error"]["type"] == "server_error"
    assert "out of memory" in reply.json["error"]["message"]


def is_model(pid):
    """A model's process, not the one that only looks at its file before."""
    try:
        return b"--name" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_client_that_leaves_while_its_engine_loads(house, kolosal):
    path = str(fake_model(house.tmp_path, load_ms=600))
    c = kolosal.connect()
    c.request("POST", "/engines", json.dumps({"engine_id": "x", "model_path": path}),
              {"Content-Type": "application/json"})
    wait_until(lambda: any(is_model(pid) for pid in kolosal.children()), what="the model's process")
    c.close()
    wait_until(lambda: [e["status"] for e in kolosal.get("/engines").json["engines"]] == ["loaded"], what="the load")


@pytest.mark.parametrize("path", ["/v1/health", "/health", "/status"])
def test_health(chat, path):
    reply = chat.get_as(path)
    assert reply.status == 200
    check(reply.json, HEALTH)
    assert reply.json["status"] == "healthy"
    assert reply.json["engines"] == {"loaded": 1, "unloaded": 0, "total": 1}
    assert reply.json["engines_summary"] == [{"engine_id": "my-model", "status": "loaded"}]


def test_health_in_other_profiles(chat):
    def health(path, profile):
        return chat.get(path, headers={"X-API-Profile": profile})
    for path in ("/api/v1/health", "/api/v0/health"):
        for profile in ("lemonade", "kolosal", "auto"):
            body = health(path, profile).json
            assert body["status"] == "ok" and "engines" not in body and len(body["all_models_loaded"]) == 1
    assert health("/v1/health", "lemonade").json["status"] == "ok"
    check(health("/v1/health", "lemonade").json, HEALTH)
    assert health("/v1/health", "auto").json["status"] == "healthy"
    body = health("/health", "auto").json
    assert body["status"] == "ok" and body["ok"] is True and body["version"]
    check(body, {"service": "x", "queue_depth": 0, "engines_loaded": 1, "timestamp": 1, "system": {},
                 "engines": [{"key": "x", "backend": "x", "attempts": [{"backend": "x", "result": "ok",
                                                                        "duration_ms": 1}]}], "aicore": {}})
    assert health("/health", "dppan").json["ok"] is True
    assert health("/v1/health", "layerscale").status == 200
    assert health("/v1/health", "layerscale").body == b""
    assert chat.post("/v1/unload", {}).status == 200
    assert health("/v1/health", "layerscale").status == 503
    assert health("/health", "auto").status == 200
    page = chat.get("/status", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status, page.headers["Location"]) == (302, "/")
    assert chat.get("/status", headers={"Accept": "application/json, text/html"}).status == 200


def test_errors_are_as_the_document_shows(kolosal):
    reply = kolosal.post_as("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]})
    assert reply.status == 400
    check(reply.json, ERROR)
    assert (reply.json["error"]["type"], reply.json["error"]["param"]) == ("invalid_request_error", "model")
    reply = kolosal.post_as("/v1/chat/completions", {"model": "non-existent-model",
                                                     "messages": [{"role": "user", "content": "x"}]})
    assert reply.status == 404
    assert (reply.json["error"]["type"], reply.json["error"]["param"]) == ("not_found_error", "model")
    reply = kolosal.get_as("/v1/chat/completions")
    assert reply.status == 405 and reply.headers["Allow"] == "POST, OPTIONS"
    assert kolosal.request("PUT", "/engines").headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    assert kolosal.get("/engines/x").status == 405
    reply = kolosal.request("DELETE", "/engines/nobody")
    assert (reply.status, reply.json["error"]["type"]) == (404, "not_found_error")


def test_an_engines_id_is_unique(kolosal, house):
    paths = [str(fake_model(house.tmp_path)) for _ in range(2)]
    assert kolosal.post("/engines", {"engine_id": "one", "model_path": paths[0]}).status == 201
    for path in paths:
        reply = kolosal.post("/engines", {"engine_id": "one", "model_path": path})
        error = reply.json["error"]
        assert (reply.status, error["param"], error["type"]) == (400, "engine_id", "invalid_request_error")
    assert kolosal.get("/engines/one/status").json["status"] == "loaded"
    # One that a server has kept and not loaded is made again as after a start of Kolosal's own.
    assert kolosal.post("/v1/unload", {"model_name": "one"}).status == 200
    assert kolosal.post("/engines", {"engine_id": "one", "model_path": paths[0]}).status == 201
    assert kolosal.request("DELETE", "/engines/one").status == 200
    assert kolosal.post("/engines", {"engine_id": "one", "model_path": paths[0]}).status == 201
