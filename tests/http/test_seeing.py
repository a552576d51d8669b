"""What runs, the places of a model, tokens of a text, and one model behind a path of its own."""
import json
import time

import pytest

from conftest import BUILD, QUICK, ROOT, Server, wait_until


@pytest.fixture
def starter(tmp_path):
    s = Server(tmp_path / "data", BUILD / "bin", ROOT / "registry")
    yield s
    assert s.stop() == 0


def test_running(house):
    server = house.start()
    model = house.model(server, "m", tokens=1)
    assert server.get("/running").json == {"running": []}
    slow = house.model(server, "slow", recipe="whispercpp", never_ready=True)
    assert server.chat(model, keep_alive="10m").status == 200
    connection = server.connect()
    connection.request("POST", "/v1/load", json.dumps({"model_name": slow}), {"Content-Type": "application/json"})
    wait_until(lambda: len(server.get("/running").json["running"]) == 2, what="both")
    found = {m["model"]: m for m in server.get("/running").json["running"]}
    assert found[model]["state"] == "ready" and found[slow]["state"] == "starting"
    assert 300 < found[model]["ttl"] <= 600  # of the server's own five minutes
    used = {m["model_name"]: m["last_use"] for m in server.get("/api/v1/health").json["all_models_loaded"]}
    assert abs(used[model] - time.time()) < 3600  # Unix time, as documented
    assert found[model]["proxy"].startswith("http://127.0.0.1:") and found[model]["pid"] > 0
    connection.close()


def test_slots(house):
    server = house.start()
    reply = server.get("/v1/slots")
    assert reply.status == 400 and "No model is loaded" in reply.json["error"]["message"]
    model = house.model(server, "m", tokens=10**7, token_ms=1, slots=3, context=512)
    connection, response = server.stream(model)
    while b"word" not in response.readline():
        pass
    for path in ("/v1/slots/0", "/v1/slots/0?action=frobnicate", "/v1/slots/x?action=save", "/slots/0?action=save"):
        assert server.request("POST", path).status == 400, path
    assert "quince's own" in server.request("POST", "/slots/0?action=save").json["error"]["message"]
    slots = server.get("/slots").json
    assert [s["id"] for s in slots] == [0, 1, 2] and {s["n_ctx"] for s in slots} == {512}
    assert [s["is_processing"] for s in slots] == [True, False, False]
    response.close()
    connection.close()


def test_one_model_behind_a_path(house):
    server = house.start()
    a, b = (house.model(server, name, tokens=2, word=name + " ") for name in "ab")
    ask = {"model": b, "messages": [{"role": "user", "content": "hello"}]}
    reply = server.post(f"/upstream/{a}/v1/chat/completions", ask)
    assert reply.json["choices"][0]["message"]["content"] == "a a "
    assert reply.json["model"] == a
    streamed = server.post(f"/upstream/{a}/v1/chat/completions", {**ask, "stream": True})
    assert b'"a "' in streamed.body and streamed.body.rstrip().endswith(b"[DONE]")
    ollama = server.request("POST", f"/upstream/{a}/api/chat", json.dumps({**ask, "stream": False}), {})
    assert ollama.json["message"]["content"] == "a a "
    claude = server.post(f"/upstream/{a}/v1/messages", {**ask, "max_tokens": "many"})
    assert claude.status == 400 and claude.json["type"] == "error"  # the inner path's form of an error
    assert server.get(f"/upstream/{a}/health").json == {"status": "ok"}
    assert len(server.get(f"/upstream/{a}/slots").json) == 4
    assert [m["id"] for m in server.get(f"/upstream/{a}/v1/models").json["data"]] == [a]
    # what is not of the model itself is not there, least of all what needs more rights
    for method, path in (("POST", "/internal/shutdown"), ("POST", "/v1/unload"), ("GET", "/nothing")):
        assert server.request(method, f"/upstream/{a}{path}").status == 404
    assert server.get("/live").status == 200
    missing = server.get("/upstream/nobody/health")
    assert missing.status == 404 and "nobody" in missing.json["error"]["message"]
    broken = house.model(server, "broken", load_fail="no such thing")
    assert server.get(f"/upstream/{broken}/health").status == 500


@pytest.mark.release
@pytest.mark.skipif(QUICK, reason="the real engine, under a sanitizer too slow")
def test_tokens_of_a_text(starter):
    assert starter.post("/v1/tokenize", {"content": "hello"}).status == 400  # nothing is loaded
    named = starter.post("/v1/tokenize", {"content": "Hello, world", "model": "quince-starter"})
    tokens = named.json["tokens"]
    assert named.status == 200 and len(tokens) > 1 and all(isinstance(t, int) for t in tokens)
    assert starter.post("/tokenize", {"content": "Hello, world"}).json["tokens"] == tokens  # the last used
    back = starter.post("/v1/completions", {"model": "quince-starter", "prompt": tokens, "echo": True,
                                            "max_tokens": 0})
    assert back.json["choices"][0]["text"] == "Hello, world"
    # parts put together are the whole, where the text is cut at a token
    assert starter.post("/tokenize", {"content": ""}).json["tokens"] == []
    special = starter.post("/tokenize", {"content": "Hello, world", "add_special": True}).json["tokens"]
    assert special[-len(tokens):] == tokens and len(special) - len(tokens) in (0, 1)
    for bad in ({}, {"content": 5}, {"content": "x", "add_special": "yes"}):
        assert starter.post("/v1/tokenize", bad).status == 400
