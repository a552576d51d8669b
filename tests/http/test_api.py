"""What clients see of a healthy server: shapes, statuses, streaming, parameters."""
import json

import pytest
from conftest import PATIENCE_S, QUICK, SANITIZED, events, fake_model, free_port, raw_connection, text_of, wait_until

PREFIXES = ["/api/v0", "/api/v1", "/v0", "/v1"]


def test_live_and_health(server):
    assert server.get("/live").json == {"status": "ok"}
    for path in ["/health"] + [p + "/health" for p in PREFIXES]:
        reply = server.get(path)
        assert reply.status == 200
        assert reply.json["status"] == "ok"
        assert reply.json["model_loaded"] is None
        assert reply.json["all_models_loaded"] == []
        assert reply.json["version"]
        assert reply.json["max_models"]["llm"] == 1


def test_head_options_and_unknown_paths(server):
    reply = server.request("HEAD", "/v1/health")
    assert reply.status == 200 and reply.body == b""
    assert int(reply.headers["Content-Length"]) > 0
    assert server.request("OPTIONS", "/v1/chat/completions").status == 204
    reply = server.get("/v1/nothing")
    assert reply.status == 404
    assert set(reply.json["error"]) >= {"message", "type", "param", "code"}
    reply = server.get("/v1/chat/completions")
    assert reply.status == 405
    assert "POST" in reply.headers["Allow"]
    assert server.request("DELETE", "/v1/models").status == 405


def test_models(house):
    server = house.start()
    house.model(server, "some/model")
    for prefix in PREFIXES:
        listed = server.get(prefix + "/models").json
        assert listed["object"] == "list"
        (entry,) = [m for m in listed["data"] if m["id"] == "user.some/model"]
        assert entry["object"] == "model"
        assert entry["recipe"] == "llamacpp"
        assert entry["loaded"] is False
        assert server.get(prefix + "/models/user.some/model").json["id"] == "user.some/model"
        assert server.get(prefix + "/models/user.some%2Fmodel").json["id"] == "user.some/model"
    reply = server.get("/v1/models/nobody")
    assert reply.status == 404
    assert reply.json["error"]["code"] == "model_not_found"
    assert "nobody" in reply.json["error"]["message"]


def test_chat_whole(house):
    server = house.start()
    model = house.model(server, "m", tokens=3)
    reply = server.chat(model)
    assert reply.status == 200
    body = reply.json
    assert body["object"] == "chat.completion"
    assert body["id"].startswith("chatcmpl-")
    assert body["model"] == model
    (choice,) = body["choices"]
    assert choice["message"] == {"role": "assistant", "content": "word word word ", "refusal": None}
    assert choice["finish_reason"] == "stop"
    assert choice["index"] == 0
    assert body["usage"]["prompt_tokens"] == 7
    assert body["usage"]["completion_tokens"] == 3
    assert body["usage"]["total_tokens"] == 10
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 3
    limited = server.chat(model, max_completion_tokens=2).json
    assert limited["choices"][0]["finish_reason"] == "length"
    assert limited["choices"][0]["message"]["content"] == "word word "
    loaded = server.get("/v1/health").json
    assert loaded["model_loaded"] == model
    assert loaded["all_models_loaded"][0]["model_name"] == model


def test_chat_streamed(house):
    server = house.start()
    model = house.model(server, "m", tokens=3)
    connection, response = server.stream(model, stream_options={"include_usage": True})
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/event-stream")
    chunks = list(events(response))
    assert chunks[-1] == "[DONE]"
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert len({c["id"] for c in chunks[:-1]}) == 1
    assert all(c["object"] == "chat.completion.chunk" for c in chunks[:-1])
    assert text_of(chunks) == "word word word "
    finishes = [c["choices"][0]["finish_reason"] for c in chunks[:-1] if c["choices"]]
    assert finishes[-1] == "stop" and set(finishes[:-1]) == {None}
    assert chunks[-2]["usage"]["completion_tokens"] == 3
    assert chunks[-2]["choices"] == []
    connection.close()
    connection, response = server.stream(model)
    assert not any(c.get("usage") for c in events(response) if c != "[DONE]")
    connection.close()


def test_choices_and_logprobs(house):
    server = house.start()
    model = house.model(server, "m", tokens=2)
    body = server.chat(model, n=3, logprobs=True, top_logprobs=2).json
    assert [c["index"] for c in body["choices"]] == [0, 1, 2]
    assert body["usage"]["completion_tokens"] == 6
    entry = body["choices"][0]["logprobs"]["content"][0]
    assert entry == {"token": "word ", "logprob": -0.5, "bytes": [119], "top_logprobs": []}


def test_completions(house):
    server = house.start()
    model = house.model(server, "m", tokens=2)
    body = server.post("/v1/completions", {"model": model, "prompt": "Once"}).json
    assert body["object"] == "text_completion"
    assert body["id"].startswith("cmpl-")
    assert body["choices"][0]["text"] == "word word "
    assert body["choices"][0]["finish_reason"] == "stop"
    several = server.post("/v1/completions", {"model": model, "prompt": ["a", "b"], "n": 2}).json
    assert [c["index"] for c in several["choices"]] == [0, 1, 2, 3]
    assert several["usage"]["completion_tokens"] == 8
    tokens = server.post("/v1/completions", {"model": model, "prompt": [1, 2, 3]})
    assert tokens.status == 200
    with_logprobs = server.post("/v1/completions", {"model": model, "prompt": "x", "logprobs": 1}).json
    logprobs = with_logprobs["choices"][0]["logprobs"]
    assert logprobs["tokens"] == ["word ", "word "]
    assert logprobs["token_logprobs"] == [-0.5, -0.5]
    assert logprobs["text_offset"] == [0, 5]
    connection = server.connect()
    connection.request("POST", "/v1/completions", json.dumps({"model": model, "prompt": "x", "stream": True}),
                       {"Content-Type": "application/json"})
    chunks = list(events(connection.getresponse()))
    assert "".join(c["choices"][0]["text"] for c in chunks[:-1] if c["choices"]) == "word word "
    connection.close()


BAD_CHAT = [
    ({"temperature": "hot"}, "temperature"),
    ({"temperature": -1}, "temperature"),
    ({"top_p": 1.5}, "top_p"),
    ({"top_k": 1.5}, "top_k"),
    ({"max_tokens": -5}, "max_tokens"),
    ({"max_tokens": 1e300}, "max_tokens"),
    ({"n": 0}, "n"),
    ({"n": 1000000}, "n"),
    ({"presence_penalty": 3}, "presence_penalty"),
    ({"stop": 5}, "stop"),
    ({"stop": ["a", 5]}, "stop"),
    ({"stop": [""]}, "stop"),
    ({"stream": "yes"}, "stream"),
    ({"seed": "x"}, "seed"),
    ({"logit_bias": {"x": 1}}, "logit_bias"),
    ({"logit_bias": {"5": 1000}}, "logit_bias"),
    ({"logit_bias": [1]}, "logit_bias"),
    ({"top_logprobs": 50}, "top_logprobs"),
    ({"messages": []}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": [{"content": "x"}]}, "messages"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages"),
    ({"messages": [{"role": 5, "content": "x"}]}, "messages"),
    ({"messages": ["x"]}, "messages"),
    ({"tools": {}}, "tools"),
    ({"model": 5}, "model"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory, fake_backend_dir):
    from conftest import House
    h = House(tmp_path_factory.mktemp("shared"), fake_backend_dir)
    s = h.start()
    s.model = h.model(s, "m", tokens=2)
    yield s
    assert s.stop() == 0


@pytest.mark.parametrize("fields,param", BAD_CHAT, ids=lambda v: json.dumps(v)[:40])
def test_bad_fields_are_named(shared, fields, param):
    body = {"model": shared.model, "messages": [{"role": "user", "content": "x"}], **fields}
    reply = shared.post("/v1/chat/completions", body)
    assert reply.status == 400, reply.body
    error = reply.json["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] and error["param"].startswith(param)
    assert param in error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"5", b'{"model":"m"', b'{"model":"\xff"}',
                                  b"[" * 100000, b'{"a":"\\u0000"}', b"\x00" * 100],
                         ids=range(9))
def test_bodies_that_are_not_requests(shared, body):
    for path in ["/v1/chat/completions", "/v1/completions", "/v1/load", "/v1/models/register"]:
        reply = shared.request("POST", path, body, {"Content-Type": "application/json"})
        assert reply.status == 400, (path, reply.body)
        assert reply.json["error"]["message"]
    assert shared.get("/live").status == 200


def test_malformed_unload_unloads_nothing(shared):
    assert shared.chat(shared.model).status == 200
    for body in [b"{", b"[1]", b"nonsense"]:
        assert shared.request("POST", "/v1/unload", body, {"Content-Type": "application/json"}).status == 400
    assert shared.get("/v1/health").json["model_loaded"] == shared.model


def test_missing_and_unknown_models(shared):
    reply = shared.chat("nobody")
    assert reply.status == 404
    assert reply.json["error"]["code"] == "model_not_found"
    assert reply.json["error"]["param"] == "model"
    reply = shared.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]})
    assert reply.status == 400
    assert reply.json["error"]["param"] == "model"


def test_latest_suffix_means_nothing(shared):
    assert shared.chat(shared.model + ":latest").status == 200


def test_wrong_content_type(shared):
    """A browser must say that its body is JSON; `curl -d`, which calls it a form, need not."""
    body = json.dumps({"model": shared.model, "messages": [{"role": "user", "content": "hi"}]})
    for kind in ("application/x-www-form-urlencoded", "text/plain", None):
        headers = {"Content-Type": kind} if kind else {}
        c = shared.connect()
        c.request("POST", "/v1/chat/completions", body, headers)
        assert c.getresponse().status == 200, kind
        c.close()
        for browser in ({"Origin": "http://localhost:3000"}, {"Origin": f"http://127.0.0.1:{shared.port}"},
                        {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            c = shared.connect()
            c.request("POST", "/v1/chat/completions", body, {**headers, **browser})
            reply = c.getresponse()
            assert reply.status == 415, (kind, browser)
            assert "application/json" in json.loads(reply.read())["error"]["message"]
            c.close()


def test_too_large(house):
    server = house.start("--body-limit", "1")
    body = b'{"x":"' + b"a" * (2 * 1024 * 1024) + b'"}'
    reply = server.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    assert reply.status == 413
    assert reply.json["error"]["message"]
    with raw_connection(server) as s:
        s.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100000 + b"\r\n\r\n")
        assert b"431" in s.recv(200)
    assert server.get("/live").status == 200


@pytest.mark.release
def test_hundred_megabytes(server):
    """The refusal comes before the body: no client sends 100 MB in vain."""
    with raw_connection(server) as s:
        s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                  b"Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n")
        assert b" 413 " in s.recv(200)
    if not SANITIZED:
        assert server.rss_kib() < 300 * 1024


def test_guards_against_web_pages(server):
    reply = server.get("/v1/models", headers={"Host": "evil.example"})
    assert reply.status == 403
    reply = server.get("/v1/models", headers={"Origin": "https://evil.example"})
    assert reply.status == 403
    reply = server.get("/v1/models", headers={"Origin": "http://localhost:3000"})
    assert reply.status == 200
    assert reply.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"


def test_load_and_unload(house):
    server = house.start()
    model = house.model(server, "m")
    reply = server.post("/v1/load", {"model_name": model})
    assert reply.status == 200 and reply.json["status"] == "success"
    (pid,) = server.children()
    assert server.post("/v1/load", {"model_name": model}).status == 200
    assert server.children() == [pid]
    reply = server.post("/v1/load", {"model_name": model, "ctx_size": 77})
    assert reply.status == 200
    assert server.get("/v1/health").json["all_models_loaded"][0]["max_context_window"] == 77
    assert server.post("/v1/unload", {"model_name": "nobody"}).status == 404
    assert server.post("/v1/unload", {"model_name": model}).json["status"] == "success"
    assert server.children() == []
    assert server.post("/v1/unload", {"model_name": model}).status == 404
    assert server.post("/v1/unload", {}).status == 200


def context_of(server):
    return server.get("/v1/health").json["all_models_loaded"][0]["max_context_window"]


def test_how_long_a_context_holds(house):
    """What a load asked for outlives an eviction, not an unload; a load that asks for nothing takes
    the model as it runs."""
    server = house.start()
    model, other = house.model(server, "m", tokens=1), house.model(server, "other", tokens=1)
    assert server.post("/v1/load", {"model_name": model, "ctx_size": 77}).status == 200
    assert server.post("/v1/load", {"model_name": model}).status == 200
    assert context_of(server) == 77
    assert server.chat(other).status == 200
    assert server.chat(model).status == 200
    assert context_of(server) == 77
    assert server.post("/v1/unload", {"model_name": model}).status == 200
    assert server.post("/v1/load", {"model_name": model}).status == 200
    assert context_of(server) == 1000
    assert server.post("/v1/load", {"model_name": model, "ctx_size": 88, "save_options": True}).status == 200
    assert server.post("/v1/unload", {"model_name": model}).status == 200
    assert server.chat(model).status == 200
    assert context_of(server) == 88


def test_a_failed_model_is_tried_again_when_another_must_leave_first(house):
    server = house.start()
    model = house.model(server, "m", load_fail="the file is damaged")
    path = next(house.tmp_path.glob("*.gguf"))
    assert server.chat(model).status == 500
    other = house.model(server, "other", tokens=1)
    assert server.chat(other).status == 200
    path.write_bytes(next(p for p in house.tmp_path.glob("*.gguf") if p != path).read_bytes())  # mended
    reply = server.chat(model)
    assert reply.status == 200, reply.body


def test_a_model_that_does_not_fit(house):
    server = house.start("--memory-limit", "500")
    model = house.model(server, "m", tokens=1)
    reply = server.post("/v1/load", {"model_name": model, "ctx_size": 100000})
    assert reply.status == 503
    assert "500 MiB" in reply.json["error"]["message"] and "smaller" in reply.json["error"]["message"]
    assert server.chat(model).status == 200  # what that load asked for ended with it
    assert server.post("/v1/load", {"model_name": model, "ctx_size": 100}).status == 200


@pytest.mark.release
def test_a_body_of_a_million_values_is_refused_at_once(house):
    server = house.start()
    model = house.model(server, "m", tokens=1)
    body = '{"model":"%s","prompt":[%s]}' % (model, ",".join(["1"] * 3_000_000))
    reply = server.post("/v1/completions", body)
    assert reply.status == 400 and "values" in reply.json["error"]["message"]
    if not SANITIZED:  # sanitizers keep what is freed
        assert server.rss_kib() < 200 * 1024


def test_low_descriptor_limit_is_raised(house):
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("the system's own limit is low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        server = house.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1024), hard))
    held = [server.connect() for _ in range(400)]
    for c in held:
        c.connect()
    assert server.get("/live").status == 200
    for c in held:
        c.close()


def test_least_recently_used_goes(house):
    server = house.start("--max-loaded-models", "2")
    names = [house.model(server, n) for n in "abc"]
    for name in (names[0], names[1], names[0]):
        assert server.chat(name).status == 200
    assert server.chat(names[2]).status == 200
    loaded = {m["model_name"] for m in server.get("/v1/health").json["all_models_loaded"]}
    assert loaded == {names[0], names[2]}


def test_an_open_server_opens_files_of_its_folders_only(house):
    folders = [house.tmp_path / name for name in ("hub", "one", "two")]
    for folder in folders:
        folder.mkdir()
    server = house.start("--listen", f"0.0.0.0:{free_port()}=lemonade", "--insecure", "--models-dir", str(folders[0]),
                         "--extra-models-dir", f"{folders[1]}:{folders[2]}")
    outside = fake_model(house.tmp_path)
    (folders[2] / "link.gguf").symlink_to(outside)
    asks = {"/v1/models/register": lambda path: {"model_name": "user.x", "checkpoint": path},
            "/engines": lambda path: {"engine_id": "x", "model_path": path},
            "/v1/load": lambda path: {"model_name": "user.m", "lora": [{"path": path}]}}
    roles = {"/v1/models/register": lambda path: {"model_name": "user.y", "checkpoints": {"main": path}},
             "/v1/pull": lambda path: {"model_name": "user.z", "checkpoint": path}}
    server.register("user.m", fake_model(folders[0]))
    for path, body in [*asks.items(), *roles.items()]:
        for file in (outside, folders[2] / "link.gguf", folders[1] / ".." / outside.name, "/nowhere", "/etc/passwd",
                     folders[0]):
            reply = server.post(path, body(str(file)))
            assert reply.status == 403 and b"path_not_allowed" in reply.body, (path, file, reply.body)
    for folder in folders:
        inside = fake_model(folder)
        for path, body in asks.items():
            assert server.post(path, body(str(inside))).status in (200, 201), path
        assert server.request("DELETE", "/engines/x").status == 200


def test_adapters_of_saved_options_obey_the_same_rule(house):
    folder = house.tmp_path / "hub"
    folder.mkdir()
    server = house.start("--listen", f"0.0.0.0:{free_port()}=lemonade", "--insecure", "--models-dir", str(folder))
    model = str(fake_model(folder))
    server.register("user.m", model)
    lora = {"lora": [{"path": "/etc/passwd"}]}
    asks = [("/internal/recipe_options.json", {"user.m": lora}),
            ("/internal/recipe_options.json", {"user.nobody": {}, "user.m": lora}),
            ("/v1/pull", {"model_name": "user.z", "checkpoint": model, "recipe_options": lora}),
            ("/v1/models/register", {"model_name": "user.x", "checkpoint": model, "recipe_options": lora}),
            ("/v1/models/register", {"model_name": "user.y", "checkpoint": "a/b:Q4_0", "recipe_options": lora})]
    for path, body in asks:
        reply = server.post(path, body)
        assert reply.status == 403 and b"path_not_allowed" in reply.body, (path, body, reply.body)
    assert server.get("/v1/models/user.m/options").json["saved"] == {}
    lora["lora"][0]["path"] = model
    assert server.post(*asks[0]).status == 200
    assert server.get("/v1/models/user.m/options").json["saved"] == lora


def test_options_of_wrong_types_are_not_taken_over(house):
    server = house.start()
    name = house.model(server, "good")
    for options in ({"slots": "many"}, {"lora": "/a.gguf"}, {"ctx_size": 2**30}, {"ctx_size": "long"}, []):
        reply = server.post("/internal/recipe_options.json", {name: options})
        assert reply.status == 400, (options, reply.body)
    assert server.get("/internal/recipe_options.json").json == {}


def test_names_of_a_hundred_megabytes(house):
    """Management takes small requests alone, also where the setting lets others in."""
    server = house.start("--body-limit", "256")
    long = "x" * 70_000_000
    path = str(fake_model(house.tmp_path))
    reply = server.request("DELETE", "/internal/aliases", {"alias": long})
    assert reply.status == 413, reply.body[:200]
    reply = server.post("/v1/models/register", {"model_name": "user.x", "checkpoint": path, "mmproj": "/" + long})
    assert reply.status == 413, reply.body[:200]
    assert server.get("/live").status == 200


def test_no_name_is_too_long_to_be_refused(server):
    long = "x" * 3_000_000
    for path, body in [("/v1/pull", {"model_name": "user." + long, "checkpoint": "a/b"}),
                       ("/v1/pull", {"model_name": "user.x", "checkpoint": "a/b", "recipe": long}),
                       ("/v1/pull", {"model_name": "user.x", "checkpoint": "a/" + long}),
                       ("/v1/pull", {"model_name": long}),
                       ("/v1/models/register", {"model_name": "user." + long, "checkpoint": "a/b"}),
                       ("/v1/models/register", {"model_name": "user.x", "checkpoint": "/" + long}),
                       ("/v1/models/register", {"model_name": "user.x", "checkpoint": "/x", "recipe": long}),
                       ("/api/pull", {"model": long}), ("/api/show", {"model": long}), ("/v1/delete", {"model_name": long}),
                       ("/v1/load", {"model_name": long}), ("/internal/aliases", {"alias": long, "model": long}),
                       ("/api/create", {"model": long, "from": long}), ("/engines", {"engine_id": long, "model_path": "/x"}),
                       ("/v1/chat/completions", {"model": long, "messages": [{"role": "user", "content": "x"}]})]:
        reply = server.post(path, body)
        assert 400 <= reply.status < 500, (path, reply.status, reply.body[:200])
    assert server.get("/live").status == 200


def test_register_checks_the_file(house):
    server = house.start()
    good = house.model(server, "good")
    path = next(house.tmp_path.glob("*.gguf"))
    again = {"model_name": good, "checkpoint": str(path), "recipe": "llamacpp"}
    assert server.post("/v1/models/register", again).status == 200
    other = house.tmp_path / "other.gguf"
    other.write_bytes(path.read_bytes())
    reply = server.post("/v1/models/register", {**again, "checkpoint": str(other)})
    assert reply.status == 409
    bad = house.tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + b"\xff" * 100)
    for name, file, status in [("user.x", bad, 400), ("user.x", "/nonexistent.gguf", 404),
                               ("user.x", house.tmp_path, 400), ("user.x", "relative.gguf", 400),
                               ("builtin", path, 400), ("user.", path, 400),
                               ("user.a//b", path, 400), ("user.a/../b", path, 400),
                               ("user.a/./b", path, 400)]:
        reply = server.post("/v1/models/register",
                            {"model_name": name, "checkpoint": str(file), "recipe": "llamacpp"})
        assert reply.status == status, (name, file, reply.body)
        assert reply.json["error"]["message"]


def test_register_a_model_of_a_hub(house):
    """It is known, though not here: lists with show_all have it, and pull needs its name alone."""
    server = house.start()

    def register(name="user.x", **fields):
        return server.post("/v1/models/register", {"model_name": name, "recipe": "llamacpp", **fields})
    reply = register(checkpoint="o/r:Q4_0", labels=["vision"], size=2.5)
    assert reply.status == 200, reply.body
    model = reply.json["model"]
    assert (model["id"], model["checkpoint"], model["downloaded"]) == ("user.x", "o/r:Q4_0", False)
    assert "vision" in model["labels"] and model["size"] == 2.5
    assert "user.x" not in [m["id"] for m in server.get("/v1/models").json["data"]]
    assert "user.x" in [m["id"] for m in server.get("/v1/models?show_all=true").json["data"]]
    assert server.chat("user.x").status == 404
    # Another definition takes its place while nothing of it is here; a model that is here keeps its name.
    parts = {"main": "o/r:a.safetensors", "vae": "o/v:b.safetensors"}
    reply = register(checkpoints=parts)
    assert reply.status == 200 and reply.json["model"]["checkpoints"] == parts
    house.model(server, "here")
    assert register("user.here", checkpoint="o/r").status == 409
    for fields in ({"checkpoint": "o/r:Q4_0", "labels": "x"}, {"checkpoints": {"vae": "o/v"}}, {"checkpoints": {}},
                   {"checkpoint": "o/r", "recipe": "nonsense"}, {"checkpoint": "o/r", "size": -1}, {}):
        assert register(**fields).status == 400, fields
    assert register("builtin.x", checkpoint="o/r").status == 400


def test_catalog_outlives_the_server(house):
    server = house.start()
    model = house.model(server, "kept", tokens=1)
    assert server.chat(model).status == 200
    assert server.stop() == 0
    again = house.start()
    again.stop()
    from conftest import Server
    third = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(third)
    assert model in [m["id"] for m in third.get("/v1/models").json["data"]]
    assert third.chat(model).status == 200


def test_two_servers_do_not_share_a_data_directory(house):
    server = house.start()
    from conftest import Server
    with pytest.raises(RuntimeError, match="data-dir"):
        Server(server.data_dir, house.backend_dir, house.models_dir)
    assert server.get("/live").status == 200


def test_failed_load_says_why(house):
    server = house.start()
    model = house.model(server, "m", load_fail="tensor blk.0 is missing")
    reply = server.chat(model)
    assert reply.status in (400, 422, 500)
    assert "tensor blk.0 is missing" in reply.json["error"]["message"]

    def refused():
        connection, response = server.stream(model)
        connection.close()
        return response.status in (400, 422, 500)
    wait_until(refused, what="a failure within a second, before a sign of life")


def test_job_error_keeps_its_status(house):
    server = house.start()
    model = house.model(server, "m", fail="the template says no")
    reply = server.chat(model)
    assert reply.status == 400 and "the template says no" in reply.json["error"]["message"]

    def refused():
        reply = server.chat(model, stream=True)
        return reply.status == 400 and "the template says no" in reply.json["error"]["message"]
    wait_until(refused, what="a failure within a second, before a sign of life")


def test_logs_and_stats(house):
    server = house.start()
    model = house.model(server, "m", tokens=3)
    assert server.chat(model, content="secret-words").status == 200
    logs = server.get("/v1/logs?lines=1000").json
    assert any("state=ready" in e["line"] for e in logs["entries"])
    seqs = [e["seq"] for e in logs["entries"]]
    assert seqs == sorted(seqs)
    assert not any("secret-words" in e["line"] for e in logs["entries"])
    later = server.get(f"/v1/logs?after={logs['last_seq']}").json
    assert all(e["seq"] > logs["last_seq"] for e in later["entries"])
    stats = server.get("/v1/stats").json
    assert stats["output_tokens"] == 3 and stats["prompt_tokens"] == 7
    assert stats["cache_tokens"] == 3 and stats["input_tokens"] == 4  # what was computed
    assert len(stats["decode_token_times"]) == 2 and min(stats["decode_token_times"]) >= 0
    assert stats["request_count_total"] == stats["completed_count_total"] == 1
    assert stats["latency"]["inter_token"]["count"] == 2 and stats["latency"]["request"]["p99"] > 0
    assert [(m["model_name"], m["output_tokens_total"]) for m in stats["models"]] == [(model, 3)]


def test_keep_alive_and_pipelining(server):
    with raw_connection(server) as s:
        s.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
        got = b""
        while got.count(b'{"status":"ok"}') < 3:
            piece = s.recv(4096)
            assert piece
            got += piece


def test_drain_finishes_answers(house):
    server = house.start()
    model = house.model(server, "m", tokens=10, token_ms=100)
    connection, response = server.stream(model)
    stream = events(response)
    next(stream)
    server.process.terminate()
    chunks = list(stream)
    assert chunks[-1] == "[DONE]"
    assert text_of(chunks).count("word") >= 8
    assert server.process.wait(PATIENCE_S) == 0
    connection.close()


def test_queue_of_jobs_is_served_in_turn(house):
    """More requests than slots: the others wait and are answered."""
    server = house.start()
    model = house.model(server, "m", tokens=3, token_ms=20, slots=2)
    import threading
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(server.chat(model).status)) for _ in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert replies == [200] * 10
    wait_until(lambda: not server.get("/v1/health").json["all_models_loaded"][0]["is_busy"], what="idle")
