"""The forms of errors by path, methods and CORS, as clients see them."""
import socket

import pytest
from conftest import PATIENCE_S


def form(json):
    """Which family a body is of."""
    if json.get("type") == "error":
        assert set(json) == {"type", "error", "request_id"} and set(json["error"]) == {"type", "message"}
        return "anthropic"
    if isinstance(json["error"], str):
        assert set(json) == {"error"}
        return "text"
    error = json["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    assert isinstance(error["message"], str) and isinstance(error["type"], str)
    if "status" in json:
        assert json["status"] == "error" and json["message"] == error["message"]
        return "status"
    if isinstance(error["code"], int):
        return "number"
    return "engines" if error["type"] in ("not_found_error", "server_error") else "error"


NOT_FOUND = [
    ("/v1/messages/nothing", "anthropic"), ("/api/v0/messages/x", "anthropic"),
    ("/nodes/x/y/z", "text"), ("/admin/x", "text"), ("/metrics/x/y", "text"), ("/sessions/a/b", "text"),
    ("/api/nothing", "text"), ("/v1/sessions/a/b/c", "number"), ("/v1/documents/a/b", "number"),
    ("/v1/tenants/a/b", "number"), ("/v1/aicore/x", "number"), ("/health/x", "number"),
    ("/engines/", "engines"), ("/nowhere", "error"), ("/v1/nowhere", "error"), ("/api/v1/nowhere", "error"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory, fake_backend_dir):
    from conftest import House
    house = House(tmp_path_factory.mktemp("errors"), fake_backend_dir)
    server = house.start()
    yield server
    assert server.stop() == 0


@pytest.mark.parametrize("path,family", NOT_FOUND)
def test_unknown_paths_answer_in_their_family(shared, path, family):
    reply = shared.get(path)
    assert reply.status == 404
    assert form(reply.json) == family
    if family == "number":
        assert reply.json["error"]["code"] == 404
    if family == "error":
        assert reply.json["error"]["path"] == path
        assert reply.json["error"]["type"] == "not_found"


@pytest.mark.parametrize("path,body,family", [
    ("/v1/pull", None, "status"), ("/v1/load", {}, "status"), ("/v1/unload", {"model_name": "nobody"}, "status"),
    ("/v1/models/register", {}, "status"), ("/v1/chat/completions", {}, "error"),
])
def test_refused_requests_answer_in_their_family(shared, path, body, family):
    reply = shared.post(path, body) if body is not None else shared.get(path)
    assert reply.status in (400, 404, 405)
    assert form(reply.json) == family


@pytest.mark.parametrize("profile,family", [
    ("lemonade", "error"), ("ollama", "error"), ("auto", "error"), ("layerscale", "number"), ("dppan", "text"),
    ("kolosal", "engines"), ("localllm", "number"),
])
def test_profiles_change_the_form(shared, profile, family):
    reply = shared.post("/v1/chat/completions", {"model": "nobody", "messages": [{"role": "user", "content": "x"}]},
                        headers={"X-API-Profile": profile})
    assert reply.status == (422 if profile == "dppan" else 404)
    assert reply.headers["X-API-Profile"] == profile
    assert form(reply.json) == family


def test_an_unknown_profile_is_the_listeners(shared):
    assert shared.get("/live", headers={"X-API-Profile": "nobody"}).headers["X-API-Profile"] == "lemonade"


def test_requests_that_name_no_model_or_any(house):
    """Kolosal's and Lemonade's clients must name one; others get the one used last, LayerScale's whatever they say."""
    server = house.start()
    house.model(server, "b", tokens=1)
    model = house.model(server, "a", tokens=1)

    def chat(profile, **fields):
        return server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], **fields},
                           headers={"X-API-Profile": profile})
    for profile in ("lemonade", "kolosal", "auto", "layerscale"):
        assert chat(profile).status == 400, profile  # nothing is loaded, and nothing ships with this server
    assert server.chat(model).status == 200
    for profile in ("lemonade", "kolosal"):
        assert (chat(profile).status, chat(profile).json["error"]["param"]) == (400, "model")
    assert (chat("dppan").status, list(chat("dppan").json)) == (400, ["error"])
    for profile in ("auto", "localllm", "layerscale", "ollama"):
        assert (chat(profile).status, chat(profile).json["model"]) == (200, model), profile
    for profile in ("auto", "localllm", "ollama"):
        assert chat(profile, model="meta-llama/Llama-4").status == 404, profile
    assert chat("dppan", model="meta-llama/Llama-4").status == 422
    assert chat("layerscale", model="meta-llama/Llama-4").json["model"] == model
    assert chat("layerscale", model="user.b").json["model"] == "user.b"
    reply = server.post("/v1/messages", {"max_tokens": 5, "messages": [{"role": "user", "content": "2 + 2?"}]},
                        headers={"X-API-Profile": "layerscale"})
    assert (reply.status, reply.json["model"]) == (200, "user.b")


def test_methods(shared):
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
        for prefix in ("/api/v0", "/api/v1", "/v0", "/v1"):
            reply = shared.request(method, f"{prefix}/chat/completions")
            assert reply.status == 405
            assert reply.headers["Allow"] == "POST, OPTIONS"
            if method != "HEAD":
                assert reply.json["error"]["message"] == "Method Not Allowed. Use POST for this endpoint"
    reply = shared.post("/v1/models", {})
    assert reply.status == 405 and reply.headers["Allow"] == "GET, HEAD, OPTIONS"
    assert reply.json["error"]["message"] == "Method Not Allowed. Use GET for this endpoint"
    reply = shared.request("HEAD", "/v1/models")
    assert reply.status == 200 and reply.body == b""
    assert shared.request("HEAD", "/v1/nothing").status == 404


def test_a_browser_may_ask(shared):
    ask = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
           "Access-Control-Request-Private-Network": "true",
           "Access-Control-Request-Headers": "anthropic-version, anthropic-beta, x-api-key, content-type, "
                                             "anthropic-dangerous-direct-browser-access, x-stainless-timeout"}
    reply = shared.request("OPTIONS", "/v1/chat/completions", headers=ask)
    assert reply.status == 204 and reply.body == b""
    assert reply.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
    assert reply.headers["Access-Control-Allow-Methods"] == "POST, OPTIONS"
    assert reply.headers["Access-Control-Allow-Private-Network"] == "true"
    allowed = {name.strip().lower() for name in reply.headers["Access-Control-Allow-Headers"].split(",")}
    assert {name.strip() for name in ask["Access-Control-Request-Headers"].split(",")} <= allowed
    assert shared.request("OPTIONS", "/v1/anything", headers=ask).status == 204
    assert shared.request("OPTIONS", "/live", headers={"Origin": "http://evil.example"}).status == 403
    reply = shared.get("/v1/models", headers={"Origin": "http://127.0.0.1:5173"})
    assert reply.headers["Access-Control-Allow-Origin"] == "http://127.0.0.1:5173"
    assert "request-id" in reply.headers["Access-Control-Expose-Headers"].lower()


def refused(server, raw):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as c:
        c.sendall(raw)
        import http.client
        import json
        response = http.client.HTTPResponse(c)
        response.begin()
        return response.status, json.loads(response.read())


def test_what_the_server_itself_refuses_has_the_family_too(shared):
    big = b"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    status, body = refused(shared, b"POST /v1/messages HTTP/1.1\r\n" + big)
    assert (status, form(body), body["error"]["type"]) == (413, "anthropic", "request_too_large")
    status, body = refused(shared, b"POST /api/chat HTTP/1.1\r\n" + big)
    assert (status, form(body)) == (413, "text")
    status, body = refused(shared, b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40000 + b"\r\n\r\n")
    assert (status, form(body), body["error"]["code"]) == (431, "number", 431)
    status, body = refused(shared, b"nonsense\r\n\r\n")
    assert (status, form(body)) == (400, "error")


def test_request_ids(shared):
    reply = shared.post("/v1/chat/completions", {})
    assert reply.headers["X-Request-Id"].startswith("req_")


def test_what_the_server_itself_refuses_has_the_form_of_its_listeners_profile(house):
    """LayerScale's and LocalLLM's pages: the code of every error is its status."""
    server = house.start("--profile", "localllm")
    status, body = refused(server, b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                                   b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n")
    assert (status, form(body), body["error"]["code"]) == (413, "number", 413)
    status, body = refused(server, b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"
                                   b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n")
    assert (status, form(body)) == (413, "anthropic")


@pytest.mark.parametrize("profile,crashed,code", [
    ("lemonade", 502, "model_process_failed"), ("localllm", 500, 500), ("kolosal", 500, "inference_error")])
def test_a_model_that_dies_has_the_profiles_status(house, profile, crashed, code):
    server = house.start()
    model = house.model(server, "dies", crash_after=0)
    reply = server.post("/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": "x"}]},
                        headers={"X-API-Profile": profile})
    assert (reply.status, reply.json["error"]["code"]) == (crashed, code)


@pytest.mark.parametrize("profile,owner", [
    ("lemonade", "lemonade"), ("layerscale", "layerscale"), ("dppan", "dppan"), ("localllm", "local")])
def test_whose_models_are(house, server, profile, owner):
    """Each API's page shows an owner of its own."""
    model = house.model(server, "mine")
    for path in ("/v1/models", f"/v1/models/{model}"):
        reply = server.get(path, headers={"X-API-Profile": profile}).json
        assert [m["owned_by"] for m in reply.get("data", [reply]) if m["id"] == model] == [owner]


def test_a_model_that_is_not_found_in_lemonades_words(house):
    """GET models/{id} of Lemonade's document; whatever else is asked of such a model says model_not_found."""
    server = house.start()
    for prefix in ("/api/v1", "/v1"):
        reply = server.get(prefix + "/models/nix")
        error = reply.json["error"]
        assert (reply.status, error["type"], error["code"]) == (404, "not_found", "model_not_found")
        assert error["message"].startswith("Model nix has not been found")
        assert "quince list" in error["message"]
    assert server.chat("nix").json["error"]["type"] == "model_not_found"
