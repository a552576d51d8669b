"""The list of requests that have ended: their facts, whose they are, and what is captured while that is on."""
import json

import pytest
from chat_kit import Chat
from conftest import ROOT, fake_model, wait_until
from test_owners import ADMIN, ENV, add_key


@pytest.fixture
def shared(house):
    """A server with an admin key and two others, and a model that says two words."""
    server = house.start(env=ENV)
    reply = server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp",
                                                "checkpoint": str(fake_model(house.tmp_path, tokens=2))}, headers=ADMIN)
    assert reply.status == 200
    return server, add_key(server, "anna"), add_key(server, "bob")


def chat(server, headers, text="hello", **more):
    body = {"model": "user.m", "messages": [{"role": "user", "content": text}], **more}
    return server.post("/v1/chat/completions", body, headers=headers)


def listed(server, headers, query=""):
    return server.get("/internal/requests" + query, headers=headers).json


def one(server, headers, request_id):
    return server.get(f"/internal/requests/{request_id}", headers=headers)


def capture(server, **how):
    return server.post("/internal/requests/capture", how, headers=ADMIN)


def test_facts(shared):
    server, anna, _ = shared
    answer = chat(server, anna)
    assert answer.status == 200
    (request,) = listed(server, anna)["requests"]
    assert request["seq"] == 1 and "req_" + request["id"] == answer.headers["X-Request-Id"]
    known = {"client": "anna", "path": "/v1/chat/completions", "task": "chat", "model": "user.m", "stream": False,
             "end": "completed", "status": 200, "error": None, "captured": False}
    assert {k: request[k] for k in known} == known
    usage = answer.json["usage"]
    assert request["prompt"] == usage["prompt_tokens"] and request["output"] == usage["completion_tokens"] == 2
    assert 0 <= request["queued_ms"] <= request["first_ms"] <= request["ms"]
    assert request["id"] in server.get("/logs", headers=anna).body.decode()  # the same id as there


def test_ends(shared):
    server, anna, _ = shared
    assert chat(server, anna, temperature=-1).status == 400
    assert chat(server, anna, stream=True).status == 200
    wrong, streamed = listed(server, anna)["requests"]
    assert (wrong["end"], wrong["status"]) == ("failed", 400) and "temperature" in wrong["error"]
    assert wrong["first_ms"] is None and wrong["queued_ms"] is None
    assert (streamed["end"], streamed["stream"], streamed["output"]) == ("completed", True, 2)


def test_a_client_that_leaves(house):
    server = house.start()
    model = house.model(server, "slow", tokens=1000, token_ms=20)
    connection, response = server.stream(model)
    response.read1(1)
    connection.close()
    response.close()
    (request,) = wait_until(lambda: listed(server, {})["requests"], what="the request has ended")
    assert (request["end"], request["status"], request["path"]) == ("cancelled", 200, "/v1/chat/completions")


def test_owners(shared):
    server, anna, bob = shared
    for who in (anna, bob, anna):
        assert chat(server, who).status == 200
    assert [r["seq"] for r in listed(server, anna)["requests"]] == [1, 3]
    assert [r["client"] for r in listed(server, bob)["requests"]] == ["bob"]
    assert [r["client"] for r in listed(server, ADMIN)["requests"]] == ["anna", "bob", "anna"]
    theirs = listed(server, bob)["requests"][0]["id"]
    assert one(server, bob, theirs).status == one(server, ADMIN, theirs).status == 200
    missing = one(server, anna, "0123456789abcdef01234567")
    hidden = one(server, anna, theirs)
    assert hidden.status == missing.status == 404
    assert hidden.json["error"]["message"].replace(theirs, "ID") == \
        missing.json["error"]["message"].replace("0123456789abcdef01234567", "ID")
    assert server.get("/internal/requests").status == 401


def test_pages_of_the_list(shared):
    server, anna, bob = shared
    for who in (anna, anna, bob, anna):
        chat(server, who)
    numbers = lambda query: [r["seq"] for r in listed(server, anna, query)["requests"]]
    assert numbers("?limit=2") == [2, 4] and numbers("?after=1") == [2, 4] and numbers("?after=4") == []
    assert numbers("?limit=0") == [] and numbers("?after=999999") == []
    assert listed(server, anna)["last_seq"] == 4
    assert listed(server, anna)["log_id"] == server.get("/logs", headers=anna).json["log_id"]
    for bad in ("after=-1", "after=x", "limit=1001", "limit=1.5", "limit="):
        assert server.get(f"/internal/requests?{bad}", headers=anna).status == 400, bad


def test_nothing_is_captured_by_default(shared):
    server, anna, _ = shared
    chat(server, anna, "my secret")
    found = one(server, ADMIN, listed(server, ADMIN)["requests"][0]["id"])
    assert "body" not in found.json and b"my secret" not in found.body
    assert listed(server, anna)["capture"]["on"] is False


def test_capture(shared):
    server, anna, bob = shared
    assert server.post("/internal/requests/capture", {"on": True}, headers=anna).status == 403
    state = capture(server, on=True, minutes=3, bytes=300_000)
    assert state.status == 200 and state.json["on"] and state.json["bytes"] == 300_000
    assert 0 < state.json["left_ms"] <= 180_000
    assert listed(server, bob)["capture"]["on"]  # all clients are told
    answer = chat(server, {**anna, "X-Mark": "in a header"}, "my question", user="u", api_key="sk-not-shown")
    request = listed(server, anna)["requests"][-1]
    assert request["captured"]
    for who in (anna, ADMIN):
        found = one(server, who, request["id"])
        assert found.headers["Cache-Control"] == "no-store"
        body, reply = found.json["body"], found.json["reply"]
        assert json.loads(body["text"])["messages"][0]["content"] == "my question" and not body["cut"]
        assert json.loads(body["text"])["api_key"] == "*" * len("sk-not-shown")
        assert json.loads(reply["text"]) == answer.json and reply["bytes"] == len(answer.body)
        for hidden in ("sk-not-shown", anna["Authorization"][7:], "in a header"):
            assert hidden not in found.body.decode()
    assert one(server, bob, request["id"]).status == 404
    assert capture(server, on=False).json == {"on": False, "bytes": 300_000, "used": 0, "left_ms": 0, "stays_ms": 0}
    assert "body" not in one(server, ADMIN, request["id"]).json


def test_streams_and_errors_are_captured(shared):
    server, anna, _ = shared
    capture(server, on=True)
    streamed = chat(server, anna, stream=True)
    failed = chat(server, anna, temperature=-1)
    first, second = listed(server, anna)["requests"]
    assert one(server, anna, first["id"]).json["reply"]["text"] == streamed.body.decode()
    assert one(server, anna, second["id"]).json["reply"]["text"] == failed.body.decode()


def test_long_bodies_are_cut(shared):
    server, anna, _ = shared
    capture(server, on=True)
    assert chat(server, anna, "ä" * 300_000).status in (200, 400)
    body = one(server, anna, listed(server, anna)["requests"][0]["id"]).json["body"]
    assert body["cut"] and body["bytes"] > 600_000 and 0 < len(body["text"].encode()) <= 256 * 1024


@pytest.mark.parametrize("wrong", [{}, {"on": "yes"}, {"on": True, "minutes": 0}, {"on": True, "minutes": 1441},
                                   {"on": True, "bytes": 1000}, {"on": True, "bytes": 1 << 40}, {"on": True, "seconds": 5}])
def test_wrong_switches(house, wrong):
    server = house.start()
    assert server.post("/internal/requests/capture", wrong).status == 400
    assert not listed(server, {})["capture"]["on"]


def test_forms_are_not_captured(house):
    server = house.start()
    assert server.post("/internal/requests/capture", {"on": True}).status == 200
    form = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nnone\r\n--x--\r\n'
    reply = server.post("/v1/audio/transcriptions", form, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert reply.status >= 400
    found = one(server, {}, listed(server, {})["requests"][0]["id"]).json
    assert found["body"] == {"text": None, "bytes": len(form), "cut": True}
    assert json.loads(found["reply"]["text"]) == reply.json


def test_the_documented_limits():
    text = (ROOT / "docs" / "apis.md").read_text()
    header = (ROOT / "router" / "telemetry" / "requests.h").read_text()
    assert "QN_REQUESTS_KEPT = 1000" in header and "(1000 are kept" in text
    assert "QN_REQUESTS_MINUTES_MAX = 24 * 60" in header and "(1 to 1440, by default 15)" in text


def test_answers_of_stored_chats_are_listed_and_never_captured(house):
    server = house.start()
    assert server.post("/internal/requests/capture", {"on": True}).status == 200
    chat = Chat(server)
    answer = chat.answer(chat.say("only for me"), house.model(server, "five", tokens=5))
    assert chat.finished(answer)["state"] == "done"
    (request,) = wait_until(lambda: listed(server, {})["requests"], what="the answer is in the list")
    assert (request["path"], request["task"], request["output"], request["captured"]) == ("", "chat", 5, False)
    assert b"only for me" not in one(server, {}, request["id"]).body
    assert listed(server, {})["capture"]["used"] == 0
