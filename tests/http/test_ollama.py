"""Ollama's API over real sockets: the fake backend says what a model would, the starter model a little."""
import contextlib
import json
import time

from conftest import wait_until


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
    assert server.get("/api/version").json["version"] == "0.16.1"
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


def test_loading_and_unloading(house, server):
    model = house.model(server, "m", load_ms=100)
    assert post(server, "/api/generate", {"model": model}).json["done_reason"] == "load"
    assert len(server.children()) == 1
    assert post(server, "/api/chat", {"model": model, "keep_alive": 0, "stream": False}).json["done_reason"] == "unload"
    wait_until(lambda: not server.children(), what="the unload")
    # Nothing is loaded only to be unloaded.
    assert post(server, "/api/chat", {"model": model, "messages": [], "keep_alive": 0}).json["done_reason"] == "unload"
    assert not server.children()


def test_a_long_load_shows_signs_of_life_that_parsers_skip(house, server):
    model = house.model(server, "slow", load_ms=2500, tokens=1)
    with contextlib.closing(server.connect()) as c:
        begun = time.monotonic()
        c.request("POST", "/api/chat", json.dumps({"model": model, "messages": [{"role": "user", "content": "x"}]}),
                  {"Content-Type": "application/json"})
        response = c.getresponse()
        first = response.read(1)
        assert first == b" " and time.monotonic() - begun < 2
        said = [json.loads(line) for line in response.read().splitlines()]
        assert said[-1]["done"] and said[-1]["load_duration"] >= 2.4e9
