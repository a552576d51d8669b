"""OpenAI's endpoints over real sockets: what profiles change in them, what survives a restart, and the
model that ships behind them."""
import json

import pytest
from conftest import BUILD, ROOT, Server, events

HELLO = [{"role": "user", "content": "hello"}]


def ask(server, path, body, profile=None):
    return server.post(path, body, headers={"X-API-Profile": profile} if profile else None)


def job_of(reply):
    return json.loads(reply.json["choices"][0].get("text") or reply.json["choices"][0]["message"]["content"])


# API.md, C8, and DPPAN's document ("model: required"): a request that names no model, or an unknown one.
@pytest.mark.parametrize("profile,missing,unknown", [
    ("lemonade", 400, 404), ("kolosal", 400, 404), ("ollama", 200, 404), ("auto", 200, 404),
    ("localllm", 200, 404), ("dppan", 400, 422), ("layerscale", 200, 200)])
def test_no_model_and_unknown_models(house, server, profile, missing, unknown):
    house.model(server, "other", tokens=1)
    house.model(server, "used", tokens=1)
    nothing_loaded = ask(server, "/v1/chat/completions", {"messages": HELLO}, profile)
    assert nothing_loaded.status == 400
    assert server.chat("user.used").status == 200
    for body, status in (({"messages": HELLO}, missing), ({"model": "nobody", "messages": HELLO}, unknown)):
        reply = ask(server, "/v1/chat/completions", body, profile)
        assert reply.status == status, reply.body
        if status == 200:
            assert reply.json["model"] == "user.used"


# API.md, C6.
@pytest.mark.parametrize("profile,path,expected", [
    ("lemonade", "chat/completions", {}),
    ("ollama", "chat/completions", {}),
    ("layerscale", "chat/completions", {"max_tokens": 256, "temperature": 0.7, "top_p": 1}),
    ("dppan", "chat/completions", {"max_tokens": 512, "temperature": 0.8, "top_p": 0.95}),
    ("kolosal", "chat/completions", {"max_tokens": 128, "temperature": 1, "top_p": 1}),
    ("kolosal", "completions", {"max_tokens": 16, "temperature": 1, "top_p": 1}),
    ("localllm", "chat/completions", {"temperature": 0.8, "top_k": 40, "max_with_prompt": True}),
    ("lemonade", "completions", {"max_with_prompt": True})])
def test_what_a_silent_request_gets(house, server, profile, path, expected):
    model = house.model(server, "echo", echo_job=True)
    reply = ask(server, f"/v1/{path}", {"model": model, "messages": HELLO, "prompt": "x"}, profile)
    assert reply.status == 200, reply.body
    assert job_of(reply)["sampling"] == expected


def test_kolosals_streams(house, server):
    model = house.model(server, "quick", tokens=2)
    for path, body in (("chat/completions", {"messages": HELLO}), ("completions", {"prompt": "x"})):
        c = server.connect()
        c.request("POST", f"/v1/{path}", json.dumps({"model": model, "stream": True, **body}),
                  {"Content-Type": "application/json", "X-API-Profile": "kolosal"})
        *chunks, last, end = events(c.getresponse())
        assert end == "[DONE]"
        assert last["choices"][0]["finish_reason"] == "stop"
        assert last["usage"]["total_tokens"] == 9
        unfinished = "" if path == "completions" else None
        assert {chunk["choices"][0]["finish_reason"] for chunk in chunks} == {unfinished}
        c.close()


def test_an_answer_outlives_the_server(house):
    server = house.start()
    model = house.model(server, "echo", echo_job=True)
    first = server.post("/v1/responses", {"model": model, "input": "remember me"}).json
    assert server.stop() == 0
    again = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(again)
    assert again.get(f"/v1/responses/{first['id']}").json == first
    reply = again.post("/v1/responses", {"model": model, "input": "?", "previous_response_id": first["id"]}).json
    job = json.loads(reply["output"][0]["content"][0]["text"])
    assert [m["role"] for m in job["chat"]["messages"]] == ["user", "assistant", "user"]
    assert job["chat"]["messages"][0]["parts"] == [{"kind": "text", "text": "remember me"}]


def test_a_client_that_leaves_before_its_conversation_is_found(house, server):
    model = house.model(server, "quick", tokens=2)
    first = server.post("/v1/responses", {"model": model, "input": "x"}).json
    for _ in range(50):
        c = server.connect()
        c.request("POST", "/v1/responses", json.dumps({"model": model, "input": "y", "previous_response_id": first["id"]}),
                  {"Content-Type": "application/json"})
        c.close()
    reply = server.post("/v1/responses", {"model": model, "input": "y", "previous_response_id": first["id"]})
    assert reply.status == 200


def test_responses_have_every_prefix_and_method(house, server):
    model = house.model(server, "quick", tokens=2)
    for prefix in ("/v1", "/v0", "/api/v1", "/api/v0"):
        reply = server.post(f"{prefix}/responses", {"model": model, "input": "x"})
        assert reply.status == 200
        path = f"{prefix}/responses/{reply.json['id']}"
        assert server.get(path).status == 200
        assert server.request("HEAD", path).status == 200
        assert server.get(f"{path}/input_items").json["data"][0]["content"] == [{"type": "input_text", "text": "x"}]
        assert server.post(f"{path}/cancel", {}).status == 400
        assert server.get(f"{path}?stream=true").headers["Content-Type"] == "text/event-stream"
        assert server.get(f"{path}?stream=true&starting_after=first").status == 400
        assert server.get(f"{path}/input_items?limit=0").status == 400
        assert server.get(f"{path}/input_items?order=up").status == 400
        assert server.request("PUT", path).status == 405
        deleted = server.request("DELETE", path)
        assert deleted.json == {"id": reply.json["id"], "object": "response", "deleted": True}
        assert server.get(path).status == 404


@pytest.mark.parametrize("path,body", [
    ("embeddings", {"input": "x"}), ("rerank", {"query": "q", "documents": ["a"]}),
    ("reranking", {"query": "q", "documents": ["a"]}), ("reranker", {"query": "q", "documents": ["a"]})])
def test_a_language_model_makes_no_vectors(house, server, path, body):
    model = house.model(server, "quick")
    reply = server.post(f"/v1/{path}", {"model": model, **body})
    assert reply.status == 400
    assert reply.json["error"]["param"] == "model"
    assert "it is of type llm" in reply.json["error"]["message"]
    assert server.post(f"/v1/{path}", {"model": "nobody", **body}).status == 404
    assert server.post(f"/v1/{path}", {"model": model}).status == 400
    assert server.get(f"/v1/{path}").status == 405


@pytest.fixture(scope="module")
def starter(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("starter") / "data", BUILD / "bin", ROOT / "registry")
    yield s
    assert s.stop() == 0
    log = s.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]


MODEL = "quince-starter"


# API.md, C7: where max_tokens counts the prompt too, it does so only when it is more than the prompt.
@pytest.mark.parametrize("profile,path,with_prompt", [
    ("lemonade", "completions", True), ("localllm", "completions", True), ("localllm", "chat/completions", True),
    ("lemonade", "chat/completions", False), ("ollama", "completions", False), ("auto", "completions", False)])
def test_what_max_tokens_counts(starter, profile, path, with_prompt):
    body = {"model": MODEL, "prompt": "Once upon a time there was a small house", "messages": HELLO, "ignore_eos": True}
    prompt = ask(starter, f"/v1/{path}", {**body, "max_tokens": 1}, profile).json["usage"]["prompt_tokens"]
    usage = ask(starter, f"/v1/{path}", {**body, "max_tokens": prompt + 3}, profile).json["usage"]
    assert usage["completion_tokens"] == (3 if with_prompt else prompt + 3)
    usage = ask(starter, f"/v1/{path}", {**body, "max_tokens": prompt}, profile).json["usage"]
    assert usage["completion_tokens"] == prompt


def test_the_starter_in_the_responses_api(starter):
    question = {"model": MODEL, "input": "Which port does quince listen on?", "temperature": 0, "max_output_tokens": 60}
    first = starter.post("/v1/responses", question).json
    assert first["status"] == "completed", first
    text = first["output"][0]["content"][0]["text"]
    assert "13305" in text
    usage = first["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    chat = starter.post("/v1/chat/completions", {
        "model": MODEL, "temperature": 0, "max_tokens": 60,
        "messages": [{"role": "user", "content": question["input"]}]}).json
    assert chat["choices"][0]["message"]["content"] == text
    assert chat["usage"]["prompt_tokens"] == usage["input_tokens"]
    second = starter.post("/v1/responses", {**question, "input": "Thank you", "previous_response_id": first["id"]}).json
    assert second["usage"]["input_tokens"] > usage["input_tokens"]
    c = starter.connect()
    c.request("POST", "/v1/responses", json.dumps({**question, "stream": True}), {"Content-Type": "application/json"})
    told = list(events(c.getresponse()))
    assert "".join(e["delta"] for e in told if e["type"] == "response.output_text.delta") == text
    assert [e["sequence_number"] for e in told] == list(range(len(told)))
    c.close()


def test_pictures_need_a_model_that_sees(starter):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    reply = starter.post("/v1/chat/completions", {"model": MODEL, "messages": [{"role": "user", "content": [picture]}]})
    assert reply.status == 400
    assert reply.json["error"]["param"].startswith("messages[0].content")
